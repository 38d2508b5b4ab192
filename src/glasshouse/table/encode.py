"""From a source to an encoded table, a batch at a time."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from decimal import Decimal
from itertools import chain, islice
from os import PathLike
from pathlib import Path
from typing import Any

import pyarrow as pa

from glasshouse.errors import DataError, StudyError
from glasshouse.progress import OnProgress, give_back_memory
from glasshouse.sources import (
    MISSING,
    Source,
    display_name,
    open_source,
    refuse_dialect,
)
from glasshouse.sources.entry import UNNAMED
from glasshouse.sources.source import FIRST_BYTES, FIRST_RECORDS, check_columns
from glasshouse.study import ColumnType, Dataset, Dialect, validated
from glasshouse.table.codes import (
    CodePieces,
    Codes,
    smallest_unsigned,
    texts_at_once,
    texts_on_disk,
)
from glasshouse.table.encoded import (
    ColumnView,
    EncodedColumn,
    EncodedTable,
    Labels,
    Role,
    assign_roles,
    is_saved_table,
    load_table,
)
from glasshouse.table.views import NO_DATE, NO_NUMBER, as_viewed, misfit, with_derived
from glasshouse.views import DateForm, Derivation, derivation

INTEGER = re.compile(r"[+-]?[0-9]+")
NUMBER = re.compile(r"[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]{1,3})?")

CODES_SHARE = 16
"""Codes that take more than such a part of the memory are written to disk while a file is read."""
VALUES_SHARE = 8
"""Of columns whose distinct values take more than such a part of the memory, the largest go to disk."""
FEW_BYTES = 1 << 25
"""So much text is encoded at once; more, as it comes."""
SMALL_BYTES = 1 << 19
"""Less text than this is encoded before a thread has begun."""

CANONICAL = re.compile(r"0|-?[1-9][0-9]*|-?(0|[1-9][0-9]*)\.[0-9]*[1-9]")
"""A number as it is written after it was read."""


def read(
    data: object,
    *,
    quasi_identifiers: Sequence[str] = (),
    sensitive: Sequence[str] = (),
    id: str | None = None,  # noqa: A002 - the word of the contract
    prior_weight: str | None = None,
    facts: Mapping[str, Sequence[str]] | None = None,
    also: Sequence[str] = (),
    dialect: Dialect | None = None,
    types: Mapping[str, ColumnType | str] | None = None,
    missing: Mapping[str, Sequence[str]] | None = None,
    date: Mapping[str, str] | None = None,
    derive: Mapping[str, str] | None = None,
    bands: Mapping[str, str | Sequence[object]] | None = None,
    group: Mapping[str, str] | None = None,
    name: str | None = None,
    memory: int | None = None,
    on_progress: OnProgress | None = None,
    looks_at_rest: bool = False,
) -> EncodedTable:
    """Read a file or a frame into an encoded table.

    Args:
        data: A path to a file of any kind that ``docs/files.md`` names, to a folder of them or with wildcards, or to a
            saved table; or a frame of pandas, Polars, Arrow, or a DuckDB relation.
        quasi_identifiers: The columns that an adversary can know of a person.
        sensitive: The columns that she wants to infer.
        id: The column that names a person.
        prior_weight: The column of record weights that shape her prior.
        facts: What she knows together or not at all, by name: the columns of each, such as those of a birth date.
        also: Further columns to read, without a role.
        dialect: How the file is written down, as far as that does not stand in it; by default a header, and a
            separator and an encoding that are detected.
        types: Columns to be understood as ``integer`` or ``number`` before equal values are told apart;
            all others are text.
        missing: Values that stand for missing, by column, such as ``{"race": ["9", "?"]}``.
        date: Columns of dates, and how they are written, such as ``{"birth": "dd/mm/yyyy"}``.
        derive: New columns that are made of dates, such as ``{"age": "years(birth, 2020-12-31)"}``.
        bands: Columns of numbers in bands: ``{"income": [0, 1000, 5000]}`` or ``{"income": "quantiles:5"}``.
        group: Columns of codes by their first characters, such as ``{"icd": "prefix:3"}``.
        name: What results call the table; by default the file's name.
        memory: How many bytes the process may take; codes beyond a small part of it are kept on disk.
        on_progress: Called now and then with how much is read.
        looks_at_rest: Whether the first records of the columns that are not read are kept, too, so that it can be told
            what was not looked at.

    Returns:
        The table. If any role is given, only the columns with a role are read; else all, as ignored.

    Raises:
        DataError: The data is malformed, or a column is not in it.
        StudyError: A column is given two roles.

    >>> import pyarrow as pa
    >>> table = read(pa.table({"zip": ["01310", "1310", None]}), quasi_identifiers=["zip"])
    >>> table.records, table.column("zip").values.to_pylist()
    (3, ['01310', '1310', ''])
    """
    together = {fact: tuple(columns) for fact, columns in (facts or {}).items()}
    roles = assign_roles(
        quasi_identifiers=quasi_identifiers,
        sensitive=sensitive,
        identifier=id,
        prior_weight=prior_weight,
        facts=together,
    )
    views = _Views.of(date=date, derive=derive, bands=bands, group=group)
    kinds = {column: _column_type(column, kind) for column, kind in (types or {}).items()}
    codes = {column: frozenset(values) for column, values in (missing or {}).items()}
    numbers = dict.fromkeys(views.bands, ColumnType.NUMBER)
    understanding = _Understanding(numbers | kinds, codes, views, dialect or Dialect())
    if isinstance(data, str | PathLike) and is_saved_table(Path(data)):
        refuse_dialect(dialect, display_name(Path(data)))
        table = views.applied(_retrieved(Path(data), understanding, name=name), kinds)
        if not roles:
            return table
        return table.with_roles(
            quasi_identifiers=quasi_identifiers,
            sensitive=sensitive,
            identifier=id,
            prior_weight=prior_weight,
            facts=together,
        )
    source = open_source(data, dialect=dialect, name=name)
    for fact, columns in together.items():
        if fact in source.columns and fact not in columns:
            raise StudyError(
                'fact "{fact}" has the name of a column of {source} that is not part of it; rename the fact',
                fact=fact,
                source=source.name,
            )
    rest = also if roles else (*source.columns, *views.derive)
    roles |= {column: Role.IGNORED for column in rest if column not in roles}
    named = [name for name in roles if name not in together or name in together[name]]
    views.check(source.columns, where=source.name)
    check_columns(
        source,
        [name for name in (*named, *kinds, *codes, *views.columns) if name not in views.derive],
    )
    read_columns = [
        column
        for column in source.columns
        if column in named or column in views.columns_behind(named)
    ]
    table = _encoded(source, read_columns, understanding, memory, on_progress=on_progress)
    table = views.applied(table, kinds, among=named)
    rest = [column for column in source.columns if column not in table.columns]
    unread = None if rest and not looks_at_rest else _first_of(source, rest, understanding)
    return replace(table, roles=roles, facts=together, unread=unread, lacking=tuple(rest))


def _first_of(
    source: Source, columns: Sequence[str], understanding: _Understanding
) -> EncodedTable:
    """Return the first records of some columns of a source."""
    if not columns:
        return EncodedTable(source.name, 0, {}, {})
    first = source.first(FIRST_RECORDS, FIRST_BYTES).select(columns)
    codes = {name: list(understanding.missing.get(name, ())) for name in columns}
    return read(first, name=source.name, missing=codes)


def available_columns(data: object, *, dialect: Dialect | None = None) -> tuple[str, ...]:
    """Return the names of the columns that a file or a frame holds, without reading it."""
    if isinstance(data, str | PathLike) and is_saved_table(Path(data)):
        return tuple(load_table(Path(data)).columns)
    return open_source(data, dialect=dialect).columns


def _column_type(column: str, kind: ColumnType | str) -> ColumnType:
    try:
        return ColumnType(kind)
    except ValueError:
        raise StudyError(
            'type "{kind}" of column "{column}" is unknown; the types are {known}',
            kind=str(kind),
            column=column,
            known=", ".join(ColumnType),
        ) from None


def _retrieved(path: Path, understanding: _Understanding, *, name: str | None) -> EncodedTable:
    table = load_table(path)
    views = understanding.views
    views.check(tuple(table.columns), where=table.name)
    for column in (*understanding.types, *understanding.missing, *views.columns):
        if column not in views.derive:
            table.column(column)
    columns = {
        column.name: understanding.of(
            column,
            where=table.name,
            missing_codes=table.missing_codes.get(column.name, frozenset()),
        )
        for column in table.columns.values()
    }
    return replace(table, name=name or table.name, columns=columns)


def _encoded(
    source: Source,
    names: Sequence[str],
    understanding: _Understanding,
    memory: int | None,
    *,
    on_progress: OnProgress | None,
) -> EncodedTable:
    if memory is not None:
        give_back_memory()  # of the first look
    batches = source.coded_batches(names, on_progress=on_progress)
    start, is_all = _begun(batches, FEW_BYTES if memory is None else 0)
    if sum(batch.num_rows for batch in start) == 0:
        raise DataError("{name}: has no records", name=source.name)
    with ThreadPoolExecutor() as threads:  # each column has its own dictionary
        is_small = sum(batch.nbytes for batch in start) < SMALL_BYTES
        columns = (
            (map if is_small else threads.map)(
                _at_once, names, zip(*(batch.columns for batch in start), strict=True)
            )
            if is_all
            else _streamed(names, chain(start, batches), threads, memory)
        )
        missing_codes: dict[str, frozenset[str]] = {}
        understood = {}
        for column in columns:
            codes = source.missing_codes(column.name, column.values)
            missing_codes |= {column.name: codes} if codes else {}
            understood[column.name] = understanding.of(
                column, where=source.name, missing_codes=codes
            )
    if memory is not None:
        give_back_memory()
    records = len(next(iter(understood.values())).codes)
    roles = dict.fromkeys(names, Role.IGNORED)
    if understanding.dialect.strict and source.assumed_encoding:
        raise DataError(
            "{name}: `strict` assumes nothing, and its letters would be taken for {encoding}; say `encoding`",
            name=source.name,
            encoding=source.assumed_encoding,
        )
    return EncodedTable(
        source.name,
        records,
        understood,
        roles,
        assumptions=source.assumptions,
        missing_codes=missing_codes,
        labels=Labels.of(source),
    )


def _begun(batches: Iterator[pa.RecordBatch], most: int) -> tuple[list[pa.RecordBatch], bool]:
    """Return the first batches, and whether they are all, and one or of no more bytes than this."""
    start: list[pa.RecordBatch] = []
    for batch in batches:
        start.append(batch)
        if len(start) > 1 and sum(each.nbytes for each in start) > most:
            return start, False
    return start, True


def _at_once(name: str, texts: Sequence[pa.Array]) -> EncodedColumn:
    """Return a column of which all is there, with codes in order of first appearance."""
    encoded = pa.concat_arrays([piece.cast(pa.string()) for piece in texts]).dictionary_encode()
    values = encoded.dictionary.cast(pa.large_string())
    codes = encoded.indices.to_numpy(zero_copy_only=False).astype(smallest_unsigned(len(values)))
    codes.flags.writeable = False
    return EncodedColumn(name, codes, values)


def _streamed(
    names: Sequence[str],
    batches: Iterable[pa.RecordBatch],
    threads: ThreadPoolExecutor,
    memory: int | None,
) -> Iterator[EncodedColumn]:
    """Yield the columns of batches that come one by one, each with a dictionary that grows."""
    from glasshouse.table.dictionary import Dictionary, DiskDictionary

    dictionaries = {name: Dictionary() for name in names}
    on_disk: dict[str, DiskDictionary] = {}
    in_memory: dict[str, int] = {}
    """Of columns on disk, in how many blocks are the values that were known before: their codes stay."""
    pieces = {name: CodePieces() for name in names}
    pending = 0

    def encode(name: str, texts: pa.Array) -> Codes | None:
        if name in dictionaries:
            return dictionaries[name].encode(texts)
        on_disk[name].append(texts.cast(pa.string()))
        return None

    for batch in batches:
        for name, codes in zip(names, threads.map(encode, names, batch.columns), strict=True):
            if codes is not None:
                pieces[name].append(codes)
                pending += codes.nbytes
        if memory is not None and pending > memory // CODES_SHARE:
            for of_column in pieces.values():
                of_column.spill()
            pending = 0
        sizes = {name: dictionary.nbytes for name, dictionary in dictionaries.items()}
        if memory is not None and sum(sizes.values()) > memory // VALUES_SHARE:
            largest = max(sizes, key=sizes.__getitem__)
            on_disk[largest] = DiskDictionary()
            known, size = dictionaries.pop(largest).values(), sizes.pop(largest)
            blocks = range(0, len(known), texts_at_once(len(known), size))
            for begin in blocks:
                on_disk[largest].append(known.slice(begin, blocks.step))
            in_memory[largest] = len(blocks)
            del known
            give_back_memory()
    for name in names:
        if name in dictionaries:
            codes = pieces.pop(name).joined(len(dictionaries[name]))
            yield EncodedColumn(name, codes, dictionaries.pop(name).values())
            continue
        of_column, further = pieces.pop(name), on_disk.pop(name)
        for codes in islice(further.encoded(), in_memory[name], None):
            of_column.append(codes)
            of_column.spill()
        yield EncodedColumn(name, of_column.joined(len(further)), *texts_on_disk(further.values()))


@dataclass(frozen=True)
class _Views:
    """How columns are to be seen, where that is not as the file has them."""

    forms: Mapping[str, DateForm]
    derive: Mapping[str, tuple[str, Derivation]]
    bands: Mapping[str, str]
    group: Mapping[str, str]

    @classmethod
    def of(cls, **words: Mapping[str, Any] | None) -> _Views:
        """Return what was asked for.

        Raises:
            StudyError: It makes no sense.
        """
        content = {word: dict(rules or {}) for word, rules in words.items()}
        dataset = validated(Dataset, {"path": UNNAMED, **content}, "read")
        forms = dataset.date_forms
        derivations = {
            name: (rule, derivation(rule, forms)) for name, rule in dataset.derive.items()
        }
        return cls(forms, derivations, dataset.bands, dataset.group)

    @property
    def columns(self) -> tuple[str, ...]:
        """All columns that are spoken of, new ones too."""
        behind = self.columns_behind(self.derive)
        return (*self.forms, *behind, *self.bands, *self.group)

    def columns_behind(self, names: Iterable[str]) -> list[str]:
        """Return the columns that those of some names which are new are made of."""
        derived = [self.derive[name][1] for name in names if name in self.derive]
        return [column for derivation in derived for column in derivation.columns]

    def check(self, columns: Sequence[str], *, where: str) -> None:
        """Make sure that no new column has the name of one of the file."""
        for name in self.derive:
            if name in columns:
                raise StudyError(
                    '`derive` {name}: {table} has a column "{name}" already; choose another name',
                    name=name,
                    table=where,
                )

    def applied(
        self,
        table: EncodedTable,
        types: Mapping[str, ColumnType],
        *,
        among: Sequence[str] | None = None,
    ) -> EncodedTable:
        """Return a table whose dates are read with new columns, bands and groups; of all columns, or among some."""
        names = [*table.columns, *self.derive] if among is None else among
        dates = [
            ColumnView(column, "date", form.written)
            for column, form in self.forms.items()
            if column in table.columns
        ]
        derived = {name: rule for name, rule in self.derive.items() if name in names}
        if not (dates or derived or self.bands or self.group):
            return table
        table = replace(table, views=(*table.views, *dates))
        table = with_derived(table, derived)
        columns = {name: column for name, column in table.columns.items() if name in names}
        return as_viewed(
            replace(table, columns=columns),
            bands={name: rule for name, rule in self.bands.items() if name in columns},
            group={name: rule for name, rule in self.group.items() if name in columns},
            types=types,
        )


@dataclass(frozen=True)
class _Understanding:
    """What the texts of a file mean."""

    types: Mapping[str, ColumnType]
    missing: Mapping[str, frozenset[str]]
    views: _Views
    dialect: Dialect

    def of(
        self, column: EncodedColumn, *, where: str, missing_codes: frozenset[str] = frozenset()
    ) -> EncodedColumn:
        """Return a column in which values that mean the same are one; codes that the file calls missing stay.

        Raises:
            DataError: A value is no number, or no date, where these are asked for.
        """
        name = column.name
        kind = self.types.get(name, ColumnType.TEXT)
        form = self.views.forms.get(name)
        codes = self.missing.get(name, frozenset())
        as_it_is = kind is ColumnType.TEXT and form is None
        if as_it_is and not codes and not self.dialect.strip:
            return column

        plain_signs = self.dialect.decimal == "." and self.dialect.thousands is None

        def meaning(written: str) -> str:
            if codes and (written in codes or written.strip() in codes):
                return MISSING
            if written in missing_codes:
                return written
            if kind is ColumnType.TEXT and form is None:
                return written.strip() if self.dialect.strip else written
            if form is not None:
                return form.iso(written) if written.strip() else MISSING
            number = written if plain_signs else self._plain(written)
            return _number(number) if kind is ColumnType.NUMBER else _integer(number)

        meanings, wrong = [], []
        texts = column.values.to_pylist()
        for code, written in enumerate(texts):
            try:
                meanings.append(meaning(written))
            except ValueError:
                wrong.append(code)
        if wrong:
            if form is None:
                raise misfit(column, wrong, NO_NUMBER, where=where)
            raise misfit(column, wrong, NO_DATE, where=where, form=form.written)
        return column if meanings == texts else column.with_values(meanings)

    def _plain(self, written: str) -> str:
        """Return a number as a program writes it."""
        if self.dialect.thousands is not None:
            written = written.replace(self.dialect.thousands, "")
        return (
            written if self.dialect.decimal == "." else written.replace(self.dialect.decimal, ".")
        )


def _integer(written: str) -> str:
    if written.strip() and not INTEGER.fullmatch(written.strip()):
        raise ValueError(written)
    return str(int(written)) if written.strip() else MISSING


def _number(written: str) -> str:
    if CANONICAL.fullmatch(written):
        return written
    if not written.strip():
        return MISSING
    if not NUMBER.fullmatch(written.strip()):
        raise ValueError(written)
    plain = f"{Decimal(written.strip()):f}"  # exact: all digits, no exponent
    plain = plain.rstrip("0").rstrip(".") if "." in plain else plain
    sign, digits = ("-", plain[1:]) if plain.startswith("-") else ("", plain.lstrip("+"))
    digits = digits.lstrip("0") or "0"
    digits = f"0{digits}" if digits.startswith(".") else digits
    return digits if digits == "0" else sign + digits
