"""The distinct combinations of the quasi-identifiers, with weights: all that a recoding has to look at.

Recoding treats records alike on the quasi-identifiers alike, so ten million records cost little more than their
distinct combinations. How often each sensitive value occurs in a combination is kept beside it, in compressed rows.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType

import numpy as np
from numba import njit
from numpy.typing import NDArray

from glasshouse.arrays import Flags, Integers, Words
from glasshouse.errors import StudyError
from glasshouse.language import text
from glasshouse.mitigation.hierarchies import CodedHierarchy
from glasshouse.table import Column, EncodedTable
from glasshouse.table.dictionary import Codes
from glasshouse.table.partition import Partition, refined

_DIRECT_SLOTS = 1 << 14
"""Up to so many possible keys, or two per class, a plain array finds the class; beyond, a hash."""

_DENSE_COUNTS = 1 << 12
"""Up to so many cells, or as many as there are counts, a plain table adds up counts by class and value."""
_KEYS = 1 << 63
"""A key is less than this, so that 64 bits hold it."""


@dataclass(frozen=True)
class Counts:
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
class Tuples:
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
    secrets: Mapping[str, Counts]
    """Per sensitive attribute, how often each of its values occurs in each combination."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "secrets", MappingProxyType(dict(self.secrets)))

    @property
    def distinct(self) -> int:
        """The number of distinct combinations."""
        return len(self.weights)

    def as_classes(self) -> Classes:
        """Return the combinations as classes of their own, before any of them is generalised."""
        return Classes(np.arange(self.distinct, dtype=np.uint32), self.weights, self.secrets)


@dataclass(frozen=True)
class Classes:
    """The combinations in classes: alike once their values are replaced by labels."""

    first: NDArray[np.uint32]
    """Per class, the first of its combinations, which stands for all of them; ascending."""
    sizes: Integers
    """Per class, how many records it holds."""
    secrets: Mapping[str, Counts]
    """Per sensitive attribute, how often each of its values occurs in each class."""

    def __len__(self) -> int:
        return len(self.sizes)


@dataclass(frozen=True)
class Labels:
    """The labels of all quasi-identifiers at all levels of their hierarchies, in one array."""

    flat: NDArray[np.uint32]
    """Attribute by attribute and level by level, the label of each code."""
    starts: Integers
    """Per attribute (row) and level (column), where the labels of its codes begin."""
    counts: Integers
    """Per attribute and level, how many labels there are."""

    @classmethod
    def of(cls, hierarchies: Sequence[CodedHierarchy]) -> Labels:
        """Return the labels of some hierarchies."""
        highest = max(each.height for each in hierarchies)
        starts = np.zeros((len(hierarchies), highest), np.int64)
        counts = np.ones((len(hierarchies), highest), np.int64)
        parts, end = [], 0
        for own, each in enumerate(hierarchies):
            for level, codes in enumerate(each.codes):
                starts[own, level], counts[own, level] = end, len(each.labels[level])
                parts.append(codes)
                end += len(codes)
        return cls(np.concatenate(parts), starts, counts)

    def groups(self, levels: Sequence[int], classes: int) -> list[list[int]]:
        """Return the attributes that tell something at their levels, as many together as a 64-bit key holds.

        A key holds the number of one of the classes too, so that group can follow group.
        """
        room = _KEYS // max(1, classes)
        groups: list[list[int]] = [[]]
        radix = 1
        for own, level in enumerate(levels):
            count = int(self.counts[own, level])
            if count == 1:
                continue
            if radix * count > room:
                groups.append([])
                radix = 1
            groups[-1].append(own)
            radix *= count
        return groups


def distinct_tuples(
    table: EncodedTable, quasi_identifiers: Sequence[str], sensitive: Sequence[str] = ()
) -> Tuples:
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
    >>> tuples = distinct_tuples(people, ["age", "sex"], ["ill"])
    >>> tuples.codes.tolist(), tuples.weights.tolist(), tuples.number.tolist()
    ([[0, 0], [1, 1]], [1, 2], [0, 1, 1])
    >>> tuples.secrets["ill"].starts.tolist(), tuples.secrets["ill"].values.tolist()
    ([0, 1, 3], [0, 1, 2])
    """
    columns = [column for name in quasi_identifiers for column in table.columns_of(name)]
    names = tuple(column.name for column in columns)
    if not names:
        raise StudyError(text("a recoding needs at least one quasi-identifier; name one"))
    table.with_roles(quasi_identifiers=names, sensitive=sensitive, facts={})
    classes = refined(columns, table.records)
    first = _first_records(classes.numbers, classes.classes)
    codes = np.empty((classes.classes, len(columns)), np.uint32)
    for own, column in zip(codes.T, columns, strict=True):
        own[:] = column.codes[first]
    return Tuples(
        names=names,
        codes=codes,
        weights=classes.sizes,
        records=table.records,
        number=classes.numbers,
        secrets={name: _counted(classes, table.column(name)) for name in sensitive},
    )


def merged(
    tuples: Tuples, classes: Classes, labels: Labels, levels: Sequence[int]
) -> tuple[NDArray[np.uint32], Classes]:
    """Merge classes whose combinations have the same labels; their secrets are left to `merged_counts`.

    Args:
        tuples: The combinations.
        classes: What is merged: no two combinations of one class may have different labels.
        labels: The labels of each quasi-identifier.
        levels: The level of each quasi-identifier.

    Returns:
        Per class given, the class that it is in now; and these, in order of their first combination. They do not
        depend on which classes were given, so that a node of a lattice can be reached from any node below it.
    """
    numbers = np.zeros(len(classes), np.uint32)
    count = 1
    for group in labels.groups(levels, len(classes)):
        factors = np.cumprod(
            [1, *(labels.counts[own, levels[own]] for own in group)], dtype=np.uint64
        )
        key = _keys(
            numbers,
            factors,
            tuples.codes,
            classes.first,
            np.array(group, np.int64),
            labels.starts[group, [levels[own] for own in group]],
            labels.flat,
        )
        radix = count * int(factors[-1])
        if radix <= max(_DIRECT_SLOTS, 2 * len(classes)):
            numbers, count = _number_directly(key, radix)
        else:
            numbers, count = _number_by_hash(key)
    first, sizes = _summed(numbers, count, classes.first, classes.sizes)
    return numbers, Classes(first, sizes, {})


def label_counts(
    tuples: Tuples, classes: Classes, chosen: Flags, labels: Labels, levels: Sequence[int]
) -> list[Integers]:
    """Return, per quasi-identifier, how many records of the chosen classes have each label."""
    attributes = np.arange(len(levels))
    lengths = labels.counts[attributes, levels]
    ends = np.cumsum(lengths)
    counts = np.zeros(ends[-1], np.int64)
    starts = labels.starts[attributes, levels]
    _count_labels(
        tuples.codes,
        classes.first,
        classes.sizes,
        chosen,
        starts,
        labels.flat,
        ends - lengths,
        counts,
    )
    return np.split(counts, ends[:-1])


def merged_counts(numbers: NDArray[np.uint32], classes: int, counts: Counts) -> Counts:
    """Return the counts of merged classes: ``numbers`` says into which of the ``classes`` each one went."""
    cardinality = len(counts.reference)
    if classes * cardinality <= max(len(counts.values), _DENSE_COUNTS):
        table = _counts_by_class(
            numbers, counts.starts, counts.values, counts.counts, (classes, cardinality)
        )
        present = table > 0
        values = np.broadcast_to(np.arange(cardinality, dtype=np.uint32), table.shape)[present]
        starts = np.concatenate([np.zeros(1, np.int64), np.cumsum(present.sum(axis=1))])
        return Counts(starts, values, table[present], counts.reference)
    rows = _merge_counts(numbers, classes, counts.starts, counts.values, counts.counts, cardinality)
    return Counts(rows[0], rows[1], rows[2], counts.reference)


def _counted(classes: Partition, column: Column) -> Counts:
    order, starts = classes.order, classes.starts
    present = _count_present(order, starts, column.codes, column.cardinality)
    own_starts = np.concatenate([np.zeros(1, np.int64), np.cumsum(present)])
    values = np.empty(own_starts[-1], np.uint32)
    counts = np.empty(own_starts[-1], np.int64)
    _fill(order, starts, column.codes, column.cardinality, own_starts, values, counts)
    reference = np.bincount(column.codes, minlength=column.cardinality).astype(np.int64)
    return Counts(own_starts, values, counts, reference)


@njit(cache=True, nogil=True)  # type: ignore[untyped-decorator]
def _first_records(numbers: NDArray[np.uint32], classes: int) -> NDArray[np.uint32]:
    """Return the first record of each class; classes are numbered by first appearance."""
    first = np.empty(classes, np.uint32)
    found = 0
    for i in range(numbers.size):
        if numbers[i] == found:
            first[found] = i
            found += 1
    return first


@njit(cache=True, nogil=True)  # type: ignore[untyped-decorator]
def _count_present(
    order: NDArray[np.uint32], starts: Integers, codes: Codes, cardinality: int
) -> Integers:
    """Return, per class, how many values occur in it."""
    present = np.zeros(starts.size - 1, np.int64)
    last = np.full(cardinality, -1, np.int64)
    for number in range(starts.size - 1):
        for i in range(starts[number], starts[number + 1]):
            code = codes[order[i]]
            if last[code] != number:
                last[code] = number
                present[number] += 1
    return present


@njit(cache=True, nogil=True)  # type: ignore[untyped-decorator]
def _fill(
    order: NDArray[np.uint32],
    starts: Integers,
    codes: Codes,
    cardinality: int,
    own_starts: Integers,
    values: NDArray[np.uint32],
    counts: Integers,
) -> None:
    """Write the values of each class, ascending, and how often they occur."""
    sums = np.zeros(cardinality, np.int64)
    for number in range(starts.size - 1):
        begin = own_starts[number]
        end = begin
        for i in range(starts[number], starts[number + 1]):
            code = codes[order[i]]
            if sums[code] == 0:
                values[end] = code
                end += 1
            sums[code] += 1
        values[begin:end].sort()
        for place in range(begin, end):
            counts[place] = sums[values[place]]
            sums[values[place]] = 0


@njit(cache=True, nogil=True)  # type: ignore[untyped-decorator]
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


@njit(cache=True, nogil=True)  # type: ignore[untyped-decorator]
def _number_directly(keys: Words, radix: int) -> tuple[NDArray[np.uint32], np.uint32]:
    """Number keys by first appearance, each key being a place in an array; return also how many there are."""
    found = np.zeros(radix, np.uint32)
    numbers = np.empty(keys.size, np.uint32)
    count = np.uint32(0)
    for i in range(keys.size):
        if found[keys[i]] == 0:
            count += np.uint32(1)
            found[keys[i]] = count
        numbers[i] = found[keys[i]] - np.uint32(1)
    return numbers, count


@njit(cache=True, nogil=True)  # type: ignore[untyped-decorator]
def _number_by_hash(keys: Words) -> tuple[NDArray[np.uint32], np.uint32]:
    """Number keys by first appearance, by open addressing in a table that grows; return also how many there are."""
    slots = 1 << 12
    mask = np.uint64(slots - 1)
    found = np.zeros(slots, np.uint32)
    distinct = np.empty(slots // 2, np.uint64)
    numbers = np.empty(keys.size, np.uint32)
    count = np.uint32(0)
    for i in range(keys.size):
        slot = _hashed(keys[i]) & mask
        while found[slot] != 0 and distinct[found[slot] - np.uint32(1)] != keys[i]:
            slot = (slot + np.uint64(1)) & mask
        if found[slot] == 0:
            distinct[count] = keys[i]
            count += np.uint32(1)
            found[slot] = count
            if count == distinct.size:
                slots *= 4
                mask = np.uint64(slots - 1)
                distinct = np.concatenate((distinct, np.empty(3 * distinct.size, np.uint64)))
                found = _slots_of(distinct, count, slots)
            numbers[i] = count - np.uint32(1)
        else:
            numbers[i] = found[slot] - np.uint32(1)
    return numbers, count


@njit(inline="always")  # type: ignore[untyped-decorator]
def _hashed(key: np.uint64) -> np.uint64:
    mixed = (key ^ (key >> np.uint64(32))) * np.uint64(0x9E3779B97F4A7C15)
    return mixed ^ (mixed >> np.uint64(32))


@njit(cache=True, nogil=True)  # type: ignore[untyped-decorator]
def _slots_of(distinct: Words, count: int, slots: int) -> NDArray[np.uint32]:
    """Return a table of slots with the first so many keys in it."""
    mask = np.uint64(slots - 1)
    found = np.zeros(slots, np.uint32)
    for number in range(count):
        slot = _hashed(distinct[number]) & mask
        while found[slot] != 0:
            slot = (slot + np.uint64(1)) & mask
        found[slot] = number + 1
    return found


@njit(cache=True, nogil=True)  # type: ignore[untyped-decorator]
def _summed(
    numbers: NDArray[np.uint32], count: int, first: NDArray[np.uint32], sizes: Integers
) -> tuple[NDArray[np.uint32], Integers]:
    """Return the first combination and the size of each merged class."""
    own_first = np.empty(count, np.uint32)
    own_sizes = np.zeros(count, np.int64)
    seen = 0
    for i in range(numbers.size):
        if numbers[i] == seen:
            own_first[seen] = first[i]
            seen += 1
        own_sizes[numbers[i]] += sizes[i]
    return own_first, own_sizes


@njit(cache=True, nogil=True)  # type: ignore[untyped-decorator]
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
            for own in range(starts.size):
                counts[places[own] + flat[starts[own] + codes[first[i], own]]] += sizes[i]


@njit(cache=True, nogil=True)  # type: ignore[untyped-decorator]
def _counts_by_class(
    numbers: NDArray[np.uint32],
    starts: Integers,
    values: NDArray[np.uint32],
    counts: Integers,
    shape: tuple[int, int],
) -> Integers:
    """Add up counts in a table of class by value."""
    table = np.zeros(shape, np.int64)
    for i in range(numbers.size):
        for place in range(starts[i], starts[i + 1]):
            table[numbers[i], values[place]] += counts[place]
    return table


@njit(cache=True, nogil=True)  # type: ignore[untyped-decorator]
def _merge_counts(
    numbers: NDArray[np.uint32],
    classes: int,
    starts: Integers,
    values: NDArray[np.uint32],
    counts: Integers,
    cardinality: int,
) -> tuple[Integers, NDArray[np.uint32], Integers]:
    """Add up counts class by class, in compressed rows."""
    begins = np.zeros(classes + 1, np.int64)
    for i in range(numbers.size):
        begins[numbers[i] + 1] += 1
    begins = np.cumsum(begins)
    order = np.empty(numbers.size, np.uint32)
    place = begins.copy()
    for i in range(numbers.size):
        order[place[numbers[i]]] = i
        place[numbers[i]] += 1
    own_starts = np.zeros(classes + 1, np.int64)
    own_values = np.empty(values.size, np.uint32)
    own_counts = np.empty(values.size, np.int64)
    sums = np.zeros(cardinality, np.int64)
    end = 0
    for number in range(classes):
        begin = end
        for i in range(begins[number], begins[number + 1]):
            for j in range(starts[order[i]], starts[order[i] + 1]):
                value = values[j]
                if sums[value] == 0:
                    own_values[end] = value
                    end += 1
                sums[value] += counts[j]
        own_values[begin:end].sort()
        for j in range(begin, end):
            own_counts[j] = sums[own_values[j]]
            sums[own_values[j]] = 0
        own_starts[number + 1] = end
    return own_starts, own_values[:end].copy(), own_counts[:end].copy()
