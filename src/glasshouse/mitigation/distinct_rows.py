"""The distinct combinations of the quasi-identifiers, with weights: all that a recoding has to look at.

Recoding treats records alike on the quasi-identifiers alike, so ten million records cost little more than their
distinct combinations (`distinct_rows`). How often each sensitive value occurs in a combination is kept beside it, in
compressed rows (`ValueCounts`). Generalising makes combinations alike and so puts them into classes (`RowClasses`):
the labels of a class are packed into one key of 64 bits, or several in turn, and classes with equal keys are `merged`;
`merged_counts` adds up their sensitive values, where a criterion asks for them. The labels come from hierarchies in
terms of the table's codes (`CodedHierarchy`), all levels of all attributes in one array (`LevelLabels`).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from types import MappingProxyType
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from glasshouse.arrays import Flags, Integer, Integers, Words
from glasshouse.compiled import called, compiled, pasted
from glasshouse.errors import DataError, StudyError
from glasshouse.language import printable, quoted
from glasshouse.microdata.survey_weights import SurveyWeights
from glasshouse.table import EncodedColumn, EncodedTable
from glasshouse.table.partition import Partition, refined

PEOPLE = ""
"""Under this name, which no attribute has, the people of a population are counted beside sensitive values."""
_DENSE_COUNTS = 1 << 12
"""Up to so many cells, or as many as there are counts, a plain table adds up counts by class and value."""
_KEYS = 1 << 63
"""A key is less than this, so that 64 bits hold it."""


@dataclass(frozen=True)
class ValueCounts:
    """How often each value of one sensitive attribute occurs in each of some groups of records."""

    starts: Integers
    """Per group, where its values begin; one more entry closes the last."""
    values: NDArray[np.uint32]
    """Group by group, the codes of the values that occur in it, ascending."""
    counts: Integers
    """How many records of the group have that value."""
    reference: Integers
    """Per value, how many of all records have it."""


@dataclass(frozen=True)
class DistinctRows:
    """The distinct combinations of quasi-identifiers, in order of first appearance."""

    names: tuple[str, ...]
    """The quasi-identifiers, each a column."""
    codes: NDArray[np.uint32]
    """Per combination (row) and quasi-identifier (column), the code of the value in the table's column."""
    weights: Integers
    """Per combination, how many records have it."""
    records: int
    """The number of records."""
    number: NDArray[np.uint32]
    """Per record of the table, its combination."""
    secrets: Mapping[str, ValueCounts]
    """Per sensitive attribute, how often each of its values occurs in each combination."""
    mass: Integers | None = None
    """Per combination, the sum of the survey weights of its records; None: there are none."""

    _tallies: dict[int, Integers] = field(
        default_factory=dict, init=False, repr=False, compare=False
    )

    def __post_init__(self) -> None:
        object.__setattr__(self, "secrets", MappingProxyType(dict(self.secrets)))

    def tally(self, attribute: int, cardinality: int) -> Integers:
        """Return how many records have each code of an attribute of so many values; it is counted once."""
        if attribute not in self._tallies:
            codes = self.codes[:, attribute]
            self._tallies[attribute] = records_per_code(codes, self.weights, cardinality)
        return self._tallies[attribute]

    @property
    def distinct(self) -> int:
        """The number of distinct combinations."""
        return len(self.weights)

    @property
    def told_apart(self) -> Integers:
        """The numbers of records of those combinations that records have; people of a population may have others."""
        return self.weights[self.weights > 0]

    def as_classes(self) -> RowClasses:
        """Return the combinations as classes of their own, before any of them is generalised."""
        return RowClasses(np.arange(self.distinct, dtype=np.uint32), self.weights, self.secrets)


@dataclass(frozen=True)
class RowClasses:
    """The combinations in classes: alike once their values are replaced by labels."""

    first: NDArray[np.uint32]
    """Per class, the first of its combinations, which stands for all of them; ascending."""
    sizes: Integers
    """Per class, how many records it holds."""
    secrets: Mapping[str, ValueCounts]
    """Per sensitive attribute, how often each of its values occurs in each class."""

    def __len__(self) -> int:
        return len(self.sizes)


@dataclass(frozen=True)
class CodedHierarchy:
    """A hierarchy in terms of the codes of a table's column.

    Label codes are numbered per level by first appearance among the column's values, so that those of level 0 are the
    column's own; labels that no value of the column has are left out.
    """

    column: str
    """The attribute."""
    domain: int
    """The number of values in the attribute's domain, D."""
    codes: tuple[NDArray[np.uint32], ...]
    """Per level: for each code of the table's column, the code of its label at that level."""
    labels: tuple[tuple[str, ...], ...]
    """Per level: the text of each label code."""
    sizes: tuple[Integers, ...]
    """Per level and label code: how many rows of the hierarchy carry the label; its share is size / D."""
    parents: tuple[NDArray[np.uint32], ...]
    """Per level but the last: for each label code, the code of its label one level up."""

    @property
    def height(self) -> int:
        """The number of levels."""
        return len(self.codes)

    def only(self, level: int) -> CodedHierarchy:
        """Return the hierarchy with one of its levels alone."""
        return replace(
            self,
            codes=(self.codes[level],),
            labels=(self.labels[level],),
            sizes=(self.sizes[level],),
            parents=(),
        )

    def records_per_label(self, level: int, counts: Integers) -> Integers:
        """Return how many records have each label of a level, from how many have each value."""
        return records_per_code(self.codes[level], counts, len(self.labels[level]))


@dataclass(frozen=True)
class LevelLabels:
    """The labels of all quasi-identifiers at all levels of their hierarchies, in one array."""

    flat: NDArray[np.uint32]
    """Attribute by attribute and level by level, the label of each code."""
    starts: Integers
    """Per attribute (row) and level (column), where the labels of its codes begin."""
    counts: Integers
    """Per attribute and level, how many labels there are."""

    @classmethod
    def of(cls, hierarchies: Sequence[CodedHierarchy]) -> LevelLabels:
        """Return the labels of some hierarchies."""
        highest = max(hierarchy.height for hierarchy in hierarchies)
        starts = np.zeros((len(hierarchies), highest), np.int64)
        counts = np.ones((len(hierarchies), highest), np.int64)
        flat, end = [], 0
        for attribute, hierarchy in enumerate(hierarchies):
            for level, codes in enumerate(hierarchy.codes):
                starts[attribute, level] = end
                counts[attribute, level] = len(hierarchy.labels[level])
                flat.append(codes)
                end += len(codes)
        return cls(np.concatenate(flat), starts, counts)

    def groups(self, levels: Sequence[int], classes: int) -> list[list[int]]:
        """Return the attributes that tell something at their levels, as many together as a 64-bit key holds.

        A key holds the number of one of the classes too, so that group can follow group.
        """
        room = _KEYS // max(1, classes)
        groups: list[list[int]] = [[]]
        radix = 1
        for attribute, level in enumerate(levels):
            count = int(self.counts[attribute, level])
            if count == 1:
                continue
            if radix * count > room:
                groups.append([])
                radix = 1
            groups[-1].append(attribute)
            radix *= count
        return groups


def distinct_rows(
    table: EncodedTable, quasi_identifiers: Sequence[str], sensitive: Sequence[str] = ()
) -> DistinctRows:
    """Return the distinct combinations of the quasi-identifiers, with weights and counts of sensitive values.

    Args:
        table: The records.
        quasi_identifiers: What is recoded; a fact stands for its columns.
        sensitive: The attributes whose values are counted within each combination.

    Raises:
        DataError: A column is not in the table.
        StudyError: There is no quasi-identifier, or a column is given twice or in both roles.

    >>> import pyarrow as pa
    >>> from glasshouse.table import read
    >>> people = read(pa.table({"age": [20, 30, 30], "sex": ["f", "m", "m"], "ill": ["a", "b", "c"]}))
    >>> rows = distinct_rows(people, ["age", "sex"], ["ill"])
    >>> rows.codes.tolist(), rows.weights.tolist(), rows.number.tolist()
    ([[0, 0], [1, 1]], [1, 2], [0, 1, 1])
    >>> rows.secrets["ill"].starts.tolist(), rows.secrets["ill"].values.tolist()
    ([0, 1, 3], [0, 1, 2])
    """
    columns = [column for name in quasi_identifiers for column in table.columns_of(name)]
    names = tuple(column.name for column in columns)
    if not names:
        raise StudyError("a recoding needs at least one quasi-identifier; name one")
    table.with_roles(quasi_identifiers=names, sensitive=sensitive, facts={})
    classes = refined(columns, table.records)
    first = first_of_each(classes)
    codes = np.empty((classes.classes, len(columns)), np.uint32)
    for target, column in zip(codes.T, columns, strict=True):
        target[:] = column.codes[first]
    return DistinctRows(
        names=names,
        codes=codes,
        weights=classes.sizes,
        records=table.records,
        number=classes.numbers,
        secrets={name: value_counts(classes, table.column(name)) for name in sensitive},
    )


def beside_weights(rows: DistinctRows, weights: SurveyWeights) -> DistinctRows:
    """Return combinations with the sum of the weights of each, also as people whom its records stand for."""
    mass = weights.added(rows.number, rows.distinct)
    people = ValueCounts(
        starts=np.arange(rows.distinct + 1),
        values=np.zeros(rows.distinct, np.uint32),
        counts=mass,
        reference=mass.sum(keepdims=True),
    )
    return replace(rows, mass=mass, secrets={**rows.secrets, PEOPLE: people})


def beside_population(
    table: EncodedTable, population: EncodedTable, names: Sequence[str]
) -> EncodedTable:
    """Return some columns of a table and, after its records, of a population; codes of the table stay as they are.

    Raises:
        DataError: The population lacks a column.
    """
    columns = {}
    for name in names:
        column, people = table.column(name), population.column(name)
        places = {value: code for code, value in enumerate(column.values.to_pylist())}
        there = np.array(
            [places.setdefault(value, len(places)) for value in people.values.to_pylist()],
            np.uint32,
        )
        codes = np.concatenate([column.codes.astype(np.uint32), there[people.codes]])
        columns[name] = EncodedColumn(name, codes, pa.array(places, pa.large_string()))
    return EncodedTable(population.name, table.records + population.records, columns, {})


def rows_in_population(
    rows: DistinctRows, both: EncodedTable, *, table: EncodedTable
) -> DistinctRows:
    """Return combinations with how many people of a population have each; those that no record has come last.

    Args:
        rows: The combinations of a table.
        both: The columns of the table and of the population, as `beside_population` returns them.
        table: The table.

    Raises:
        DataError: The population lacks somebody of the table.
    """
    classes = refined([both.column(name) for name in rows.names], both.records)
    first = first_of_each(classes)
    weights = np.zeros(classes.classes, np.int64)
    weights[: rows.distinct] = rows.weights
    people = classes.sizes - weights
    if lacking := int(np.maximum(weights - people, 0).sum()):
        raise DataError(
            "{population} lacks {lacking} of the {records} people of {table}, by {columns}; a population holds "
            "everybody, with values written alike",
            population=printable(both.name),
            lacking=str(lacking),
            records=str(table.records),
            table=printable(table.name),
            columns=quoted(rows.names),
        )
    none = np.zeros(classes.classes - rows.distinct, np.int64)
    secrets = {
        name: replace(counts, starts=np.concatenate([counts.starts, none + counts.starts[-1]]))
        for name, counts in rows.secrets.items()
    }
    secrets[PEOPLE] = ValueCounts(
        starts=np.arange(classes.classes + 1),
        values=np.zeros(classes.classes, np.uint32),
        counts=people,
        reference=people.sum(keepdims=True),
    )
    codes = np.stack([both.column(name).codes[first] for name in rows.names], axis=1)
    return replace(rows, codes=codes, weights=weights, secrets=secrets)


def merged(
    rows: DistinctRows, classes: RowClasses, labels: LevelLabels, levels: Sequence[int]
) -> tuple[NDArray[np.uint32], RowClasses]:
    """Merge classes whose combinations have the same labels; their secrets are left to `merged_counts`.

    Args:
        rows: The combinations.
        classes: What is merged: no two combinations of one class may have different labels.
        labels: The labels of each quasi-identifier.
        levels: The level of each quasi-identifier.

    Returns:
        Per class given, the class that it is in now; and these, in order of their first combination. They do not
        depend on which classes were given, so that a node of a lattice can be reached from any node below it.
    """
    numbers = np.zeros(len(classes), np.uint32)
    count: Integer = 1
    for group in labels.groups(levels, len(classes)):
        heights = [levels[attribute] for attribute in group]
        factors = np.cumprod([1, *labels.counts[group, heights]], dtype=np.uint64)
        starts = labels.starts[group, heights]
        columns = np.array(group, np.int64)
        keys = _keys(numbers, factors, rows.codes, classes.first, columns, starts, labels.flat)
        numbers, count = _numbered(keys)
    first, sizes = _summed(numbers, count, classes.first, classes.sizes)
    return numbers, RowClasses(first, sizes, {})


def label_counts(
    rows: DistinctRows,
    classes: RowClasses,
    chosen: Flags,
    labels: LevelLabels,
    levels: Sequence[int],
) -> list[Integers]:
    """Return, per quasi-identifier, how many records of the chosen classes have each label."""
    attributes = np.arange(len(levels))
    lengths = labels.counts[attributes, levels]
    ends = np.cumsum(lengths)
    counts = np.zeros(ends[-1], np.int64)
    starts = labels.starts[attributes, levels]
    _count_labels(
        rows.codes,
        classes.first,
        classes.sizes,
        chosen,
        starts,
        labels.flat,
        ends - lengths,
        counts,
    )
    return np.split(counts, ends[:-1])


def merged_counts(numbers: NDArray[np.uint32], classes: int, counts: ValueCounts) -> ValueCounts:
    """Return the counts of merged classes: ``numbers`` says into which of the ``classes`` each one went."""
    cardinality = len(counts.reference)
    arguments = numbers, classes, counts.starts, counts.values, counts.counts, cardinality
    if classes * cardinality > max(len(counts.values), _DENSE_COUNTS):
        starts, values, added = _merge_counts(*arguments)
        return ValueCounts(starts, values, added, counts.reference)
    table = _counts_by_class(*arguments)
    present = table > 0
    values = np.broadcast_to(np.arange(cardinality, dtype=np.uint32), table.shape)[present]
    starts = np.concatenate([np.zeros(1, np.int64), np.cumsum(present.sum(axis=1))])
    return ValueCounts(starts, values, table[present], counts.reference)


def value_counts(classes: Partition, column: EncodedColumn) -> ValueCounts:
    """Return how often each value of a column occurs in each class of the same records."""
    cells = refined([column], classes.records, within=classes)
    first = first_of_each(cells)
    numbers, values = classes.numbers[first], column.codes[first].astype(np.uint32)
    order = np.argsort(numbers.astype(np.uint64) * np.uint64(column.cardinality) + values)
    return ValueCounts(
        starts=np.searchsorted(numbers[order], np.arange(classes.classes + 1)),
        values=values[order],
        counts=cells.sizes[order],
        reference=records_per_value(column),
    )


def records_per_code(codes: NDArray[Any], weights: Integers, cardinality: int) -> Integers:
    """Return the sum of the weights of each code; doubles count exactly up to 2⁵³."""
    return np.bincount(codes, weights, minlength=cardinality).astype(np.int64)


def records_per_value(column: EncodedColumn) -> Integers:
    """Return how many records have each value of a column."""
    return np.bincount(column.codes, minlength=column.cardinality).astype(np.int64)


def part_of(column: EncodedColumn, records: Integers) -> EncodedColumn:
    """Return a column of some records, with the same codes."""
    return EncodedColumn(column.name, column.codes[records], column.values)


def code_column(codes: NDArray[np.integer[Any]]) -> EncodedColumn:
    """Return codes as a column whose values have no texts."""
    values = pa.nulls(int(codes.max()) + 1, pa.large_string())
    return EncodedColumn("", codes.astype(np.uint32), values)


def first_of_each(classes: Partition) -> NDArray[np.uint32]:
    """Return the first record of each class."""
    first: NDArray[np.uint32] = _first_of_each(classes.numbers, classes.classes)
    return first


@compiled
def _first_of_each(numbers: NDArray[np.uint32], classes: int) -> NDArray[np.uint32]:
    """Find where each number appears first; they are numbered by first appearance."""
    first = np.empty(classes, np.uint32)
    seen = 0
    for i in range(numbers.size):
        if numbers[i] == seen:
            first[seen] = i
            seen += 1
    return first


@compiled
def _keys(
    numbers: NDArray[np.uint32],
    factors: Words,
    codes: NDArray[np.uint32],
    first: NDArray[np.uint32],
    columns: Integers,
    starts: Integers,
    flat: NDArray[np.uint32],
) -> Words:
    """Return a mixed-radix key of the labels of some columns and of a number before them."""
    keys = np.empty(first.size, np.uint64)
    for i in range(first.size):
        key = np.uint64(numbers[i]) * factors[columns.size]
        for j in range(columns.size):
            key += np.uint64(flat[starts[j] + codes[first[i], columns[j]]]) * factors[j]
        keys[i] = key
    return keys


@compiled
def _numbered(keys: Words) -> tuple[NDArray[np.uint32], np.uint32]:
    """Number keys by first appearance, by open addressing in a table that grows; return also how many there are."""
    slots = 1 << 12
    mask = np.uint64(slots - 1)
    numbered = np.zeros(slots, np.uint32)
    distinct = np.empty(slots // 2, np.uint64)
    numbers = np.empty(keys.size, np.uint32)
    count = np.uint32(0)
    # A slot holds the number of its key plus 1; 0: it is free. At most half of the slots are used.
    for i in range(keys.size):
        slot = _hashed(keys[i]) & mask
        while numbered[slot] != 0 and distinct[numbered[slot] - np.uint32(1)] != keys[i]:
            slot = (slot + np.uint64(1)) & mask
        if numbered[slot] == 0:
            distinct[count] = keys[i]
            count += np.uint32(1)
            numbered[slot] = count
            if count == distinct.size:
                slots *= 4
                mask = np.uint64(slots - 1)
                distinct = np.concatenate((distinct, np.empty(3 * distinct.size, np.uint64)))
                numbered = _slots_of(distinct, count, slots)
            numbers[i] = count - np.uint32(1)
        else:
            numbers[i] = numbered[slot] - np.uint32(1)
    return numbers, count


@pasted
def _hashed(key: np.uint64) -> np.uint64:
    mixed = (key ^ (key >> np.uint64(32))) * np.uint64(0x9E3779B97F4A7C15)
    return mixed ^ (mixed >> np.uint64(32))


@called
def _slots_of(distinct: Words, count: Integer, slots: int) -> NDArray[np.uint32]:
    """Return a table of slots with the first so many keys in it."""
    mask = np.uint64(slots - 1)
    numbered = np.zeros(slots, np.uint32)
    for number in range(count):
        slot = _hashed(distinct[number]) & mask
        while numbered[slot] != 0:
            slot = (slot + np.uint64(1)) & mask
        numbered[slot] = number + 1
    return numbered


@compiled
def _summed(
    numbers: NDArray[np.uint32], count: int, first: NDArray[np.uint32], sizes: Integers
) -> tuple[NDArray[np.uint32], Integers]:
    """Return the first combination and the size of each merged class."""
    new_first = np.empty(count, np.uint32)
    new_sizes = np.zeros(count, np.int64)
    seen = 0
    for i in range(numbers.size):
        if numbers[i] == seen:
            new_first[seen] = first[i]
            seen += 1
        new_sizes[numbers[i]] += sizes[i]
    return new_first, new_sizes


@compiled
def _count_labels(
    codes: NDArray[np.uint32],
    first: NDArray[np.uint32],
    sizes: Integers,
    chosen: Flags,
    starts: Integers,
    flat: NDArray[np.uint32],
    places: Integers,
    counts: Integers,
) -> None:
    """Add the sizes of the chosen classes to the counts of their labels, those of an attribute at its place."""
    for i in range(first.size):
        if chosen[i]:
            for attribute in range(starts.size):
                counts[
                    places[attribute] + flat[starts[attribute] + codes[first[i], attribute]]
                ] += sizes[i]


@compiled
def _counts_by_class(
    numbers: NDArray[np.uint32],
    classes: int,
    starts: Integers,
    values: NDArray[np.uint32],
    counts: Integers,
    cardinality: int,
) -> Integers:
    """Add up counts in a table of class by value."""
    table = np.zeros((classes, cardinality), np.int64)
    for i in range(numbers.size):
        for place in range(starts[i], starts[i + 1]):
            table[numbers[i], values[place]] += counts[place]
    return table


@compiled
def _merge_counts(
    numbers: NDArray[np.uint32],
    classes: int,
    starts: Integers,
    values: NDArray[np.uint32],
    counts: Integers,
    cardinality: int,
) -> tuple[Integers, NDArray[np.uint32], Integers]:
    """Add up counts class by class, in compressed rows."""
    # Lay the classes out by the one that each goes into.
    begins = np.zeros(classes + 1, np.int64)
    for i in range(numbers.size):
        begins[numbers[i] + 1] += 1
    begins = np.cumsum(begins)
    order = np.empty(numbers.size, np.uint32)
    place = begins.copy()
    for i in range(numbers.size):
        order[place[numbers[i]]] = i
        place[numbers[i]] += 1
    # Add up their values, those of one class at a time.
    new_starts = np.zeros(classes + 1, np.int64)
    new_values = np.empty(values.size, np.uint32)
    new_counts = np.empty(values.size, np.int64)
    sums = np.zeros(cardinality, np.int64)
    end = 0
    for number in range(classes):
        begin = end
        for i in range(begins[number], begins[number + 1]):
            for j in range(starts[order[i]], starts[order[i] + 1]):
                value = values[j]
                if sums[value] == 0:
                    new_values[end] = value
                    end += 1
                sums[value] += counts[j]
        new_values[begin:end].sort()
        for j in range(begin, end):
            new_counts[j] = sums[new_values[j]]
            sums[new_values[j]] = 0
        new_starts[number + 1] = end
    return new_starts, new_values[:end].copy(), new_counts[:end].copy()
