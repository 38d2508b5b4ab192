"""The table that every attack works on: integer codes, dictionaries and roles."""

from __future__ import annotations

import json
import mmap
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from enum import StrEnum
from os import PathLike
from pathlib import Path
from types import MappingProxyType
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.ipc
from numpy.typing import NDArray

from glasshouse.arrays import Flags, Integers
from glasshouse.atomic import new_file
from glasshouse.errors import DataError, StudyError
from glasshouse.language import marked, quoted, translated, unknown_name
from glasshouse.sources import MISSING, Source
from glasshouse.table.codes import (
    Codes,
    blocks,
    let_go,
    let_go_file,
    mapping,
    on_disk,
    smallest_unsigned,
    texts_at_once,
    texts_on_disk,
)

_METADATA = b"glasshouse.table"
_FORMAT = 2


class Role(StrEnum):
    """What a column is to the adversary."""

    IDENTIFIER = marked("identifier")
    """Names a person; removed or replaced before the release."""
    QUASI_IDENTIFIER = marked("quasi-identifier")
    """She can know it of a person from elsewhere."""
    SENSITIVE = marked("sensitive")
    """She wants to infer it."""
    WEIGHT = marked("weight")
    """How many people of the population a record stands for: a survey weight."""
    PRIOR_WEIGHT = marked("prior weight")
    """How likely each record is to be the target's before she learns anything."""
    PART = marked("part of a fact")
    """She knows it only together with the other columns of a fact."""
    IGNORED = marked("ignored")
    """Plays no part."""


@dataclass(frozen=True)
class EncodedColumn:
    """One attribute of all records."""

    name: str
    """Its name in the file."""
    codes: Codes
    """Per record, the position of its value in ``values``; in the smallest unsigned integers."""
    values: pa.LargeStringArray
    """The distinct values, as text; the empty one stands for missing."""
    files: tuple[mmap.mmap, ...] = ()
    """The files that the values are looked up in; none: they are in memory."""

    @property
    def cardinality(self) -> int:
        """The number of distinct values."""
        return len(self.values)

    @property
    def tally(self) -> Integers:
        """Per value, how many records have it."""
        tally = np.zeros(self.cardinality, np.int64)
        for _, codes in blocks(self.codes):
            tally += np.bincount(codes, minlength=self.cardinality)
        return tally

    def texts(self) -> Iterator[pa.LargeStringArray]:
        """Yield the distinct values: at once, or in blocks where they are on disk, which take the memory of one."""
        number = self.cardinality
        if self.files:
            number = texts_at_once(number, sum(map(len, self.files)))
        for begin in range(0, self.cardinality, number):
            yield self.values.slice(begin, number)
            for file in self.files:
                let_go_file(file)

    def with_values(self, values: Iterable[str]) -> EncodedColumn:
        """Return the column with other texts for its values; those that become equal are one value."""
        encoded = pa.array(list(values), pa.large_string()).dictionary_encode()
        new_code = np.asarray(encoded.indices).astype(smallest_unsigned(len(encoded.dictionary)))
        if mapping(self.codes) is not None:
            recoded = (new_code[codes] for _, codes in blocks(self.codes))
            return EncodedColumn(
                self.name, on_disk(recoded, new_code.dtype.type), encoded.dictionary
            )
        codes = new_code[self.codes]
        codes.flags.writeable = False
        return EncodedColumn(self.name, codes, encoded.dictionary)


@dataclass(frozen=True)
class ColumnView:
    """How a column is seen, where that is not as it is written."""

    column: str
    """Its name."""
    word: str
    """What was asked for: ``date``, ``derive``, ``bands`` or ``group``."""
    rule: str
    """How, as it was asked for."""
    cuts: tuple[str, ...] = ()
    """Where bands begin, of quantiles."""
    negative: bool = False
    """Whether years are below 0 somewhere, as a date is after the one that they are counted to."""
    in_doubt: bool = False
    """Whether what was taken for decimals may be thousands: all numbers are below 1000, and some have three."""


@dataclass(frozen=True)
class Labels:
    """What columns and their values stand for. The code stays the value: labels are for those who read of it."""

    columns: Mapping[str, str] = field(default_factory=dict)
    """The labels of columns."""
    values: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    """The labels of values, by column."""
    measures: Mapping[str, str] = field(default_factory=dict)
    """Whether columns are nominal, ordinal or of a scale, where the file says it."""
    missing: Mapping[str, Sequence[Sequence[str]]] = field(default_factory=dict)
    """From which to which value columns are declared missing, whether or not a record has one."""

    @classmethod
    def of(cls, source: Source) -> Labels:
        """Return what a file says of its columns and values."""
        return cls(source.column_labels, source.labels, source.measures, source.missing_ranges)

    def __or__(self, other: Labels) -> Labels:
        return Labels(
            {**self.columns, **other.columns},
            {**self.values, **other.values},
            {**self.measures, **other.measures},
            {**self.missing, **other.missing},
        )


@dataclass(frozen=True)
class Declared:
    """What a file says of a column, beside its name and values."""

    label: str = ""
    """What it stands for."""
    values: Mapping[str, str] = field(default_factory=dict)
    """What its values stand for."""
    missing: frozenset[str] = frozenset()
    """Values that stand for missing."""
    is_category: bool = False
    """Whether its values are codes of categories, whatever numbers they are: it is nominal, or most have labels."""


NOTHING_DECLARED = Declared()
"""What most files say."""


@dataclass(frozen=True)
class EncodedTable:
    """A table as codes: what the records hold, and what each column is to the adversary."""

    name: str
    """What results call it: the file's name."""
    records: int
    """The number of records."""
    columns: Mapping[str, EncodedColumn]
    """The columns by name, in the order of the file."""
    roles: Mapping[str, Role]
    """The role of every column, and of every fact."""
    facts: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """What the adversary learns together, by name: the columns that each fact stands for."""
    collection: tuple[str, ...] = ()
    """The names of the datasets that it was joined from, the focal one first; empty: it is one dataset."""
    positions: Integers | None = None
    """Per record, its position in the dataset that was read; None: no record was left out."""
    assumptions: tuple[str, ...] = ()
    """What was concluded of how the file is written, in phrases."""
    missing_codes: Mapping[str, frozenset[str]] = field(default_factory=dict)
    """By column, values that stand for missing, as the empty one does: those that the file itself calls so."""
    missing_is_a_value: bool = False
    """Whether a missing secret is a value like any other, instead of one that nobody learns."""
    labels: Labels = Labels()
    """What its columns and values stand for, where the file says it."""
    views: tuple[ColumnView, ...] = ()
    """How columns are seen, where that is not as the file has them."""
    unread: EncodedTable | None = field(default=None, compare=False, repr=False)
    """The first records of the columns of its source that it lacks; None: it is not known which they are."""
    lacking: tuple[str, ...] = field(default=(), compare=False, repr=False)
    """The columns of its source that it lacks, as far as that is known."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "columns", MappingProxyType(dict(self.columns)))
        object.__setattr__(self, "roles", MappingProxyType(dict(self.roles)))
        object.__setattr__(self, "facts", MappingProxyType(dict(self.facts)))
        object.__setattr__(self, "missing_codes", MappingProxyType(dict(self.missing_codes)))

    @property
    def datasets(self) -> tuple[str, ...]:
        """The names of the datasets that it holds."""
        return self.collection or (self.name,)

    @property
    def quasi_identifiers(self) -> tuple[str, ...]:
        """The names of the quasi-identifiers, columns or facts, in the order in which they were given."""
        return self._with_role(Role.QUASI_IDENTIFIER)

    @property
    def sensitive(self) -> tuple[str, ...]:
        """The names of the sensitive attributes, in the order in which they were given."""
        return self._with_role(Role.SENSITIVE)

    @property
    def identifier(self) -> str | None:
        """The name of the column that names a person, if any."""
        return next(iter(self._with_role(Role.IDENTIFIER)), None)

    @property
    def prior_weight(self) -> str | None:
        """The name of the column of record weights that shape her prior, if any."""
        return next(iter(self._with_role(Role.PRIOR_WEIGHT)), None)

    def __repr__(self) -> str:
        return f"<EncodedTable {self.name}: {self.records} records × {len(self.columns)} columns>"

    def to_arrow(self) -> pa.Table:
        """Return the records as an Arrow table of texts, in their order; what is missing is empty there, and null here.

        >>> column = EncodedColumn("a", np.array([0, 1, 0], np.uint8), pa.array(["x", ""], pa.large_string()))
        >>> EncodedTable("t", 3, {"a": column}, {}).to_arrow().to_pydict()
        {'a': ['x', None, 'x']}
        """
        arrays = {}
        for name, column in self.columns.items():
            values = pc.if_else(pc.equal(column.values, MISSING), None, column.values)
            arrays[name] = values.take(pa.array(np.asarray(column.codes)))
        return pa.table(arrays)

    def to_pandas(self) -> Any:
        """Return the records as a frame of pandas, which must be installed."""
        return self.to_arrow().to_pandas()

    def column(self, name: str) -> EncodedColumn:
        """Return a column by its name.

        Raises:
            DataError: There is no such column; the near ones are named.
        """
        if name not in self.columns:
            raise DataError(unknown_name("column", name, self.name, self.columns))
        return self.columns[name]

    def declared(self, name: str) -> Declared:
        """Return what the file says of a column; not of its values, where they are seen otherwise than written."""
        label, missing = (
            self.labels.columns.get(name, ""),
            self.missing_codes.get(name, frozenset()),
        )
        if any(view.column == name for view in self.views):
            return Declared(label, missing=missing)
        values, column = self.labels.values.get(name, {}), self.column(name)
        is_category = self.labels.measures.get(name) == "nominal"
        if values and not is_category:
            meant = column.cardinality - len({MISSING, *missing})
            if 2 * len(values) > meant:
                texts = set(column.values.to_pylist()) - {MISSING, *missing}
                is_category = 2 * len(texts & set(values)) > len(texts)
        return Declared(label, dict(values), missing, is_category)

    def columns_of(self, name: str) -> tuple[EncodedColumn, ...]:
        """Return the columns that a quasi-identifier stands for: those of a fact, or the one of that name."""
        return tuple(self.column(part) for part in self.facts.get(name, (name,)))

    def missing(self, names: Iterable[str]) -> Flags:
        """Return, per record, whether the value of one of some columns is missing."""
        marks = np.zeros(self.records, np.bool_)
        for name in names:
            column = self.column(name)
            is_code = self._missing_values(name)
            for begin, some in blocks(column.codes) if is_code.any() else ():
                marks[begin : begin + len(some)] |= is_code[some]
        return marks

    def known_values(self, secret: str) -> Flags:
        """Return, per value of a column, whether an adversary who knows it has learned something."""
        is_missing = self._missing_values(secret)
        return np.ones_like(is_missing) if self.missing_is_a_value else ~is_missing

    def _missing_values(self, name: str) -> Flags:
        codes = pa.array([MISSING, *self.missing_codes.get(name, ())], pa.large_string())
        return np.concatenate(
            [np.asarray(pc.is_in(texts, value_set=codes)) for texts in self.column(name).texts()]
        )

    def with_known(self, secret: Sequence[str]) -> EncodedTable:
        """Return the table of the records of which a secret is known, since what is missing is not learned.

        A secret of several columns is known where none of them is missing. Where missing is a value like any other, and
        where there is no secret, that is every record.

        Raises:
            DataError: It is missing in every record.
        """
        unknown = self.missing(() if self.missing_is_a_value else secret)
        if not unknown.any():
            return self
        if unknown.all():
            raise DataError(
                "{table}: {secret} is missing in all {records} records, so that there is nothing to infer; leave it "
                "out of the secrets, or say `missing_is_a_value` to count missing as one of its values",
                table=self.name,
                secret=quoted(secret),
                records=self.records,
            )
        return self.of_records(~unknown)

    def alike_known(self, secrets: Iterable[tuple[str, ...]]) -> list[list[tuple[str, ...]]]:
        """Return the secrets in groups that are known of the same records, in the order of their first ones."""
        groups: dict[bytes, list[tuple[str, ...]]] = {}
        for secret in secrets:
            unknown = self.missing(() if self.missing_is_a_value else secret)
            groups.setdefault(np.packbits(unknown).tobytes(), []).append(secret)
        return list(groups.values())

    def with_roles(
        self,
        *,
        quasi_identifiers: Sequence[str] = (),
        sensitive: Sequence[str] = (),
        identifier: str | None = None,
        prior_weight: str | None = None,
        facts: Mapping[str, Sequence[str]] | None = None,
    ) -> EncodedTable:
        """Return the same table with these roles; every other column is ignored.

        Args:
            quasi_identifiers: Columns, or facts, that an adversary can know of a person.
            sensitive: The columns that she wants to infer.
            identifier: The column that names a person.
            prior_weight: The column of record weights that shape her prior.
            facts: What she learns together, by name; each is a quasi-identifier too. By default the table's own.
        """
        known = {
            name: tuple(columns)
            for name, columns in (self.facts if facts is None else facts).items()
            if facts is not None or name in quasi_identifiers
        }
        roles = assign_roles(
            quasi_identifiers=quasi_identifiers,
            sensitive=sensitive,
            identifier=identifier,
            prior_weight=prior_weight,
            facts=known,
        )
        for name in roles:
            if name not in known:
                self.column(name)
        rest = {name: Role.IGNORED for name in self.columns if name not in roles}
        return replace(self, roles=roles | rest, facts=known)

    def of_records(
        self,
        records: NDArray[np.integer[Any] | np.bool_],
        *,
        spare: NDArray[np.uint32] | None = None,
    ) -> EncodedTable:
        """Return the table of some of its records: by position, or by a mark for each.

        Its dictionaries hold the values of these records only, in order of first appearance: it is the table that
        reading them from a file of their own would give.

        Args:
            records: Which records.
            spare: From `spare_codes`, where many parts are taken of a table with large dictionaries.
        """
        chosen = np.flatnonzero(records) if records.dtype == np.bool_ else records.astype(np.int64)
        spare = self.spare_codes() if spare is None else spare
        columns = {
            name: _with_own_values(column, chosen, spare) for name, column in self.columns.items()
        }
        positions = chosen if self.positions is None else self.positions[chosen]
        return replace(self, records=len(chosen), columns=columns, positions=positions)

    def spare_codes(self) -> NDArray[np.uint32]:
        """Return room for a new code of every value of any column, for `of_records`."""
        widest = max((column.cardinality for column in self.columns.values()), default=0)
        return np.zeros(widest, np.uint32)

    def save(self, path: str | PathLike[str]) -> None:
        """Write the table to an Arrow file that `load_table` reads back without parsing anything.

        The file holds the data itself: keep it where the data may be kept. It appears complete or not
        at all.
        """
        header = {
            "format": _FORMAT,
            "name": self.name,
            "roles": [[name, role.value] for name, role in self.roles.items()],
            "facts": [[name, *columns] for name, columns in self.facts.items()],
            "collection": list(self.collection),
            "missing": {name: sorted(codes) for name, codes in self.missing_codes.items()},
        }
        if self.lacking:
            header["lacking"] = list(self.lacking)
        if self.views:
            header["views"] = [asdict(view) for view in self.views]
        if self.labels != Labels():
            header["labels"] = asdict(self.labels)
        arrays = [
            pa.DictionaryArray.from_arrays(pa.array(column.codes), column.values)
            for column in self.columns.values()
        ]
        batch = pa.record_batch(arrays, names=list(self.columns))
        schema = batch.schema.with_metadata({_METADATA: json.dumps(header).encode()})
        with (
            new_file(Path(path), private=True) as draft,
            pa.OSFile(str(draft), "wb") as file,
            pa.ipc.new_file(file, schema) as writer,
        ):
            writer.write_batch(batch.replace_schema_metadata(schema.metadata))

    def _with_role(self, role: Role) -> tuple[str, ...]:
        return tuple(name for name, assigned in self.roles.items() if assigned is role)


def assign_roles(
    *,
    quasi_identifiers: Iterable[str] = (),
    sensitive: Iterable[str] = (),
    identifier: str | None = None,
    prior_weight: str | None = None,
    facts: Mapping[str, Sequence[str]] | None = None,
) -> dict[str, Role]:
    """Return the role of each named column and fact.

    Raises:
        StudyError: A column is given two roles, or one role twice.
    """
    facts = facts or {}
    for names in (quasi_identifiers, sensitive):
        if isinstance(names, str):
            raise StudyError('give a list of columns, such as ["{name}"], not one text', name=names)
    roles: dict[str, Role] = {}
    known = list(quasi_identifiers)
    columns = [column for fact in facts.values() for column in fact]
    named = [
        *((name, Role.QUASI_IDENTIFIER) for name in known),
        *((name, Role.QUASI_IDENTIFIER) for name in facts if name not in known),
        *((name, Role.PART) for name in columns if name not in facts),
        *((name, Role.SENSITIVE) for name in sensitive),
        *((name, Role.IDENTIFIER) for name in (identifier,) if name is not None),
        *((name, Role.PRIOR_WEIGHT) for name in (prior_weight,) if name is not None),
    ]
    for name, role in named:
        if name in roles:
            raise _two_roles(name, roles[name], role)
        roles[name] = role
    return roles


def _two_roles(name: str, first: Role, second: Role) -> StudyError:
    if first is second:
        return StudyError(
            'column "{name}" is given twice as {role}; give it one role, once',
            name=name,
            role=translated(first),
        )
    return StudyError(
        'column "{name}" is both {first} and {second}; give it one role, once',
        name=name,
        first=translated(first),
        second=translated(second),
    )


def is_saved_table(path: Path) -> bool:
    """Tell whether a path is that of a file that `EncodedTable.save` wrote."""
    try:
        if not path.is_file():
            return False
        return _METADATA in (_opened(path).schema.metadata or {})
    except (pa.ArrowException, OSError, ValueError):
        return False


def load_table(path: Path) -> EncodedTable:
    """Read a table that was saved; its codes stay on disk until they are used.

    Raises:
        DataError: The file is damaged or of another version.
    """
    try:
        with path.open("rb") as opened:
            file = mmap.mmap(opened.fileno(), 0, access=mmap.ACCESS_READ)
        batch = pa.ipc.open_file(pa.py_buffer(file)).get_batch(0)
        batch.validate()
        for array in batch.columns:
            array.validate(full=True)
            let_go(np.frombuffer(file, np.uint8))
        header = json.loads(batch.schema.metadata[_METADATA])
        roles = {name: Role(role) for name, role in header["roles"]}
        facts = {name: tuple(columns) for name, *columns in header["facts"]}
        collection = tuple(map(str, header["collection"]))
        missing = {name: frozenset(codes) for name, codes in header.get("missing", {}).items()}
        views = tuple(
            ColumnView(**entry | {"cuts": tuple(entry["cuts"])})
            for entry in header.get("views", [])
        )
        labels = Labels(**header.get("labels", {}))
        lacking = tuple(map(str, header.get("lacking", [])))
        written, own_name = header["format"], str(header["name"])
    except (pa.ArrowException, OSError, ValueError, KeyError, TypeError) as error:
        raise DataError(
            "{file}: is a damaged table ({reason}); encode the data again",
            file=path.name,
            reason=str(error).splitlines()[0],
        ) from None
    if written != _FORMAT:
        raise DataError(
            "{file}: was saved by another version; encode the data again", file=path.name
        )
    columns = {
        name: EncodedColumn(name, _mapped(array.indices, file), array.dictionary)
        for name, array in zip(batch.schema.names, batch.columns, strict=True)
    }
    return EncodedTable(
        own_name,
        batch.num_rows,
        columns,
        roles,
        facts,
        collection,
        missing_codes=missing,
        labels=labels,
        views=views,
        lacking=lacking,
    )


def _opened(path: Path) -> pa.ipc.RecordBatchFileReader:
    return pa.ipc.open_file(pa.memory_map(str(path)))


def _mapped(indices: pa.Array, file: mmap.mmap) -> Codes:
    """Return codes of a saved table as they stand in its file."""
    codes = np.asarray(indices)
    start = np.frombuffer(file, np.uint8).ctypes.data
    return np.frombuffer(file, codes.dtype, len(codes), codes.ctypes.data - start)


def _with_own_values(
    column: EncodedColumn, records: Integers, new_code: NDArray[np.uint32]
) -> EncodedColumn:
    """Return a column of some records, with a dictionary of the values that they have."""
    from glasshouse.table.dictionary import renumber

    codes = np.empty(len(records), np.uint32)
    used = renumber(column.codes, records, new_code, codes)
    let_go(column.codes)
    kind = smallest_unsigned(len(used))
    smallest = codes.astype(kind, copy=False)
    if mapping(column.codes) is not None:
        smallest = on_disk([smallest], kind)
    smallest.flags.writeable = False
    if column.files:
        number = texts_at_once(column.cardinality, sum(map(len, column.files)))
        taken = (
            column.values.take(pa.array(used[begin : begin + number]))
            for begin in range(0, len(used), number)
        )
        return EncodedColumn(column.name, smallest, *texts_on_disk(taken))
    return EncodedColumn(column.name, smallest, column.values.take(pa.array(used)))
