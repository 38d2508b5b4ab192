"""The classes of a table: records alike on a set of attributes.

Codes are packed into one mixed-radix key per record, as many attributes as 64 bits hold; keys become dense
class numbers, which then take the place of the attributes packed so far, so that any number of attributes
fits. Records are finally laid out class by class with a counting sort.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from glasshouse.arrays import Integers, Words
from glasshouse.compiled import compiled
from glasshouse.table.codes import (
    BLOCK_RECORDS,
    CodePieces,
    Codes,
    let_go,
    mapping,
    smallest_unsigned,
)
from glasshouse.table.dictionary import DiskDictionary
from glasshouse.table.encoded import EncodedColumn, EncodedTable

_DIRECT_SLOTS = 1 << 22
"""Up to so many possible keys a plain array finds the class; beyond, or beyond four per record, a hash."""


@dataclass(frozen=True)
class Partition:
    """The records of a table in classes."""

    numbers: NDArray[np.uint32]
    """Per record, the number of its class; classes are numbered by first appearance."""
    sizes: Integers
    """Per class, how many records it holds."""

    @property
    def records(self) -> int:
        """The number of records."""
        return len(self.numbers)

    @property
    def classes(self) -> int:
        """The number of classes."""
        return len(self.sizes)

    @property
    def uniques(self) -> int:
        """The number of records that are alone in their class."""
        return int(np.count_nonzero(self.sizes == 1))

    @cached_property
    def starts(self) -> Integers:
        """Per class, where its records begin in ``order``; one more entry closes the last."""
        return np.concatenate([np.zeros(1, np.int64), np.cumsum(self.sizes)])

    @cached_property
    def order(self) -> NDArray[np.uint32]:
        """The records class by class, within a class in the order of the table."""
        order: NDArray[np.uint32] = _class_order(self.numbers, self.starts[:-1].copy())
        return order


def partition(table: EncodedTable, names: Sequence[str]) -> Partition:
    """Return the classes of records that are alike on the named attributes; a fact stands for its columns.

    Without any name all records are alike: what the adversary knows before she learns anything.
    """
    return refined([column for name in names for column in table.columns_of(name)], table.records)


def refined(
    columns: Sequence[EncodedColumn], records: int, within: Partition | None = None
) -> Partition:
    """Return the classes of records alike on some columns; ``within``: that are also in one class of another."""
    if within is None:
        key, radix = np.zeros(records, np.uint64), 1
    else:
        key, radix = within.numbers.astype(np.uint64), within.classes
    for column in columns:
        if radix * column.cardinality >= 1 << 64:
            numbers, sizes = _classes(key, radix)
            key, radix = numbers.astype(np.uint64), len(sizes)
        key = _packed(key, column.codes, column.cardinality)
        radix *= column.cardinality
    return Partition(*_classes(key, radix))


def with_facts_joined(table: EncodedTable, names: Sequence[str]) -> EncodedTable:
    """Return the table with one column in the place of each fact of several: its joint value, without its text."""
    joined = {}
    for name in names:
        columns = table.columns_of(name)
        if [column.name for column in columns] == [name]:
            continue
        codes, classes = _numbered(columns, table.records)
        joined[name] = EncodedColumn(name, codes, pa.nulls(classes, pa.large_string()))
    if not joined:
        return table
    return replace(table, columns={**table.columns, **joined}, facts={})


def numbered(table: EncodedTable, names: Sequence[str]) -> tuple[Codes, int]:
    """Return a number per record for what it has of some attributes, on disk where they are, and how many there are.

    Of one attribute it is the code; of several, numbers are given by first appearance.
    """
    columns = [column for name in names for column in table.columns_of(name)]
    if len(columns) == 1:
        return columns[0].codes, columns[0].cardinality
    return _numbered(columns, table.records)


def _numbered(columns: Sequence[EncodedColumn], records: int) -> tuple[Codes, int]:
    if any(mapping(column.codes) is not None for column in columns):
        return _numbered_on_disk(columns, records)
    alike = refined(columns, records)
    return alike.numbers.astype(smallest_unsigned(alike.classes), copy=False), alike.classes


def _numbered_on_disk(columns: Sequence[EncodedColumn], records: int) -> tuple[Codes, int]:
    """Return the classes of records alike on some columns, numbered by first appearance, on disk; and how many."""
    alike, numbers = DiskDictionary(codes_only=True), CodePieces()
    for begin in range(0, records, BLOCK_RECORDS):
        some = [column.codes[begin : begin + BLOCK_RECORDS] for column in columns]
        written = np.concatenate(
            [codes.view(np.uint8).reshape(len(codes), -1) for codes in some], axis=1
        )
        ends = np.arange(len(written) + 1) * written.shape[1]
        alike.append(
            pa.LargeStringArray.from_buffers(
                len(written), pa.py_buffer(ends), pa.py_buffer(written.ravel())
            )
        )
        for column in columns:
            let_go(column.codes)
    for codes in alike.encoded():
        numbers.append(codes.astype(smallest_unsigned(len(alike)), copy=False))
        numbers.spill()
    return numbers.joined(len(alike)), len(alike)


def _classes(key: Words, radix: int) -> tuple[NDArray[np.uint32], Integers]:
    if radix <= max(_DIRECT_SLOTS, 4 * len(key)) and radix < 1 << 31:
        numbers, sizes = _number_directly(key, radix)
    else:
        numbers, sizes = _number_by_hash(key)
    return numbers, sizes


@compiled
def _packed(key: Words, codes: Codes, cardinality: int) -> Words:
    factor = np.uint64(cardinality)
    for i in range(key.size):
        key[i] = key[i] * factor + np.uint64(codes[i])
    return key


@compiled
def _number_directly(key: Words, radix: int) -> tuple[NDArray[np.uint32], Integers]:
    numbered = np.zeros(radix, np.uint32)
    numbers = np.empty(key.size, np.uint32)
    sizes = np.zeros(min(key.size, radix), np.int64)
    classes = 0
    for i in range(key.size):
        number = numbered[key[i]]
        if number == 0:
            classes += 1
            number = np.uint32(classes)
            numbered[key[i]] = number
        numbers[i] = number - np.uint32(1)
        sizes[number - np.uint32(1)] += 1
    return numbers, sizes[:classes].copy()


@compiled
def _number_by_hash(key: Words) -> tuple[NDArray[np.uint32], Integers]:
    slots = 2
    while slots < 2 * key.size:
        slots *= 2
    shift = np.uint64(64)
    width = slots
    while width > 1:
        width //= 2
        shift -= np.uint64(1)
    mask = np.uint64(slots - 1)
    # A slot holds the number of its key plus 1; 0: it is free. At most half of the slots are ever used.
    numbered = np.zeros(slots, np.uint32)
    keys = np.empty(key.size, np.uint64)
    numbers = np.empty(key.size, np.uint32)
    sizes = np.zeros(key.size, np.int64)
    classes = 0
    for i in range(key.size):
        mixed = (key[i] ^ (key[i] >> np.uint64(32))) * np.uint64(0x9E3779B97F4A7C15)
        slot = mixed >> shift
        while numbered[slot] != 0 and keys[numbered[slot] - 1] != key[i]:
            slot = (slot + np.uint64(1)) & mask
        number = numbered[slot]
        if number == 0:
            classes += 1
            number = np.uint32(classes)
            numbered[slot] = number
            keys[number - 1] = key[i]
        numbers[i] = number - np.uint32(1)
        sizes[number - np.uint32(1)] += 1
    return numbers, sizes[:classes].copy()


@compiled
def _class_order(numbers: NDArray[np.uint32], next_place: Integers) -> NDArray[np.uint32]:
    order = np.empty(numbers.size, np.uint32)
    for i in range(numbers.size):
        place = next_place[numbers[i]]
        order[place] = i
        next_place[numbers[i]] = place + 1
    return order
