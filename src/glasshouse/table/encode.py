"""From a source to an encoded table, a batch at a time."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from decimal import Decimal
from itertools import chain, islice
from os import PathLike
from pathlib import Path

import numpy as np
import pyarrow as pa

from glasshouse.errors import DataError, StudyError
from glasshouse.progress import OnProgress
from glasshouse.sources import (
    MISSING,
    Source,
    display_name,
    open_source,
    refuse_dialect,
)
from glasshouse.sources.source import check_columns
from glasshouse.study import ColumnType, Dialect
from glasshouse.table.encoded import (
    Codes,
    EncodedColumn,
    EncodedTable,
    Labels,
    Role,
    assign_roles,
    is_saved_table,
    load_table,
    smallest_unsigned,
)

INTEGER = re.compile(r"[+-]?[0-9]+")
NUMBER = re.compile(r"[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]{1,3})?")


def read(
    data: object,
    *,
    quasi_identifiers: Sequence[str] = (),
    sensitive: Sequence[str] = (),
    id: str | None = None,  # noqa: A002 - the word of the contract
    weight: str | None = None,
    facts: Mapping[str, Sequence[str]] | None = None,
    also: Sequence[str] = (),
    dialect: Dialect | None = None,
    types: Mapping[str, ColumnType | str] | None = None,
    missing: Mapping[str, Sequence[str]] | None = None,
    name: str | None = None,
    on_progress: OnProgress | None = None,
) -> EncodedTable:
    """Read a file or a frame into an encoded table.

    Args:
        data: A path to a file of any kind that ``docs/files.md`` names, to a folder of them or with wildcards, or to a
            saved table; or a frame of pandas, Polars, Arrow, or a DuckDB relation.
        quasi_identifiers: The columns that an adversary can know of a person.
        sensitive: The columns that she wants to infer.
        id: The column that names a person.
        weight: The column that says how much each record counts.
        facts: What she knows together or not at all, by name: the columns of each, such as those of a birth date.
        also: Further columns to read, without a role.
        dialect: How the file is written down, as far as that does not stand in it; by default a header, and a
            separator and an encoding that are detected.
        types: Columns to be understood as ``integer`` or ``number`` before equal values are told apart;
            all others are text.
        missing: Values that stand for missing, by column, such as ``{"race": ["9", "?"]}``.
        name: What results call the table; by default the file's name.
        on_progress: Called now and then with how much is read.

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
        weight=weight,
        facts=together,
    )
    kinds = {column: _column_type(column, kind) for column, kind in (types or {}).items()}
    codes = {column: frozenset(values) for column, values in (missing or {}).items()}
    understanding = _Understanding(kinds, codes, dialect or Dialect())
    if isinstance(data, str | PathLike) and is_saved_table(Path(data)):
        refuse_dialect(dialect, display_name(Path(data)))
        table = _retrieved(Path(data), understanding, name=name)
        if not roles:
            return table
        return table.with_roles(
            quasi_identifiers=quasi_identifiers,
            sensitive=sensitive,
            identifier=id,
            weight=weight,
            facts=together,
        )
    source = open_source(data, dialect=dialect, name=name)
    for fact, columns in together.items():
        if fact in source.columns and fact not in columns:
            raise StudyError(
                'fact "{fact}" has the name of a column of {source} that is no part of it; rename the fact',
                fact=fact,
                source=source.name,
            )
    rest = also if roles else source.columns
    roles |= {column: Role.IGNORED for column in rest if column not in roles}
    named = [name for name in roles if name not in together or name in together[name]]
    check_columns(source, [*named, *kinds, *codes])
    read_columns = [column for column in source.columns if column in named]
    table = _encoded(source, read_columns, understanding, on_progress=on_progress)
    return replace(table, roles=roles, facts=together)


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
    for column in (*understanding.types, *understanding.missing):
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
    *,
    on_progress: OnProgress | None,
) -> EncodedTable:
    batches = source.batches(names, on_progress=on_progress)
    start = list(islice(batches, 2))
    if sum(batch.num_rows for batch in start) == 0:
        raise DataError("{name}: has no records", name=source.name)
    with ThreadPoolExecutor() as threads:  # each column has its own dictionary
        columns = (
            _streamed(names, chain(start, batches), threads)
            if len(start) > 1
            else threads.map(_at_once, names, start[0].columns)
        )
        missing_codes: dict[str, frozenset[str]] = {}
        understood = {}
        for column in columns:
            codes = source.missing_codes(column.name, column.values)
            missing_codes |= {column.name: codes} if codes else {}
            understood[column.name] = understanding.of(
                column, where=source.name, missing_codes=codes
            )
    records = len(next(iter(understood.values())).codes)
    roles = dict.fromkeys(names, Role.IGNORED)
    return EncodedTable(
        source.name,
        records,
        understood,
        roles,
        assumed_encoding=source.assumed_encoding,
        missing_codes=missing_codes,
        labels=Labels(source.column_labels, source.labels),
    )


def _at_once(name: str, texts: pa.StringArray | pa.LargeStringArray) -> EncodedColumn:
    """Return a column of which all is there, with codes in order of first appearance."""
    encoded = texts.dictionary_encode()
    values = encoded.dictionary.cast(pa.large_string())
    codes = encoded.indices.to_numpy(zero_copy_only=False).astype(smallest_unsigned(len(values)))
    codes.flags.writeable = False
    return EncodedColumn(name, codes, values)


def _streamed(
    names: Sequence[str], batches: Iterable[pa.RecordBatch], threads: ThreadPoolExecutor
) -> Iterator[EncodedColumn]:
    """Yield the columns of batches that come one by one, each with a dictionary that grows."""
    from glasshouse.table.dictionary import Dictionary

    dictionaries = {name: Dictionary() for name in names}
    pieces: dict[str, list[Codes]] = {name: [] for name in names}
    for batch in batches:
        encoders = [dictionaries[name].encode for name in names]
        encoded = threads.map(lambda encode, texts: encode(texts), encoders, batch.columns)
        for name, codes in zip(names, encoded, strict=True):
            pieces[name].append(codes)
    for name in names:
        codes = _joined(pieces.pop(name), len(dictionaries[name]))
        yield EncodedColumn(name, codes, dictionaries.pop(name).values())


def _joined(pieces: list[Codes], cardinality: int) -> Codes:
    """Put the batches of one column together, letting go of each as it is copied."""
    codes = np.empty(sum(map(len, pieces)), smallest_unsigned(cardinality))
    end = len(codes)
    while pieces:
        piece = pieces.pop()
        codes[end - len(piece) : end] = piece
        end -= len(piece)
    codes.flags.writeable = False
    return codes


@dataclass(frozen=True)
class _Understanding:
    """What the texts of a file mean."""

    types: Mapping[str, ColumnType]
    missing: Mapping[str, frozenset[str]]
    dialect: Dialect

    def of(
        self, column: EncodedColumn, *, where: str, missing_codes: frozenset[str] = frozenset()
    ) -> EncodedColumn:
        """Return a column in which values that mean the same are one; codes that the file calls missing stay.

        Raises:
            DataError: A value is no number where numbers are asked for.
        """
        kind = self.types.get(column.name, ColumnType.TEXT)
        codes = self.missing.get(column.name, frozenset())
        if kind is ColumnType.TEXT and not codes and not self.dialect.strip:
            return column

        def meaning(written: str) -> str:
            if written in codes or written.strip() in codes:
                return MISSING
            if written in missing_codes:
                return written
            if kind is ColumnType.INTEGER:
                return _integer(self._plain(written))
            if kind is ColumnType.NUMBER:
                return _number(self._plain(written))
            return written.strip() if self.dialect.strip else written

        return _merged(column, meaning, where)

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


def _merged(column: EncodedColumn, understood: Callable[[str], str], where: str) -> EncodedColumn:
    """Return the column with values that mean the same made one; a ValueError says that one means nothing."""
    meant: dict[str, int] = {}
    new_code = np.empty(column.cardinality, np.uint32)
    for code, written in enumerate(column.values.to_pylist()):
        try:
            value = understood(written)
        except ValueError:
            first = int(np.argmax(column.codes == code)) + 1
            raise DataError(
                '{table}, record {record}: "{value}" in column "{column}" is not a number of the type asked for; '
                "correct it, or read the column as text",
                table=where,
                record=str(first),
                value=written,
                column=column.name,
            ) from None
        new_code[code] = meant.setdefault(value, len(meant))
    codes = new_code.astype(smallest_unsigned(len(meant)))[column.codes]
    codes.flags.writeable = False
    return EncodedColumn(column.name, codes, pa.array(list(meant), pa.large_string()))
