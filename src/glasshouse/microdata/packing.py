"""Records as packed words: every attribute in as few bits as its values need.

A record is one 64-bit word, or several where its attributes need more; no attribute stands across two words.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray

from glasshouse.table import Column
from glasshouse.table.dictionary import Codes

Words = NDArray[np.uint64]
Counts = NDArray[np.int32]

WORD_BITS = 64


class Fields(NamedTuple):
    """Where some attributes stand in a record."""

    word: NDArray[np.int64]
    """Per attribute, the word that holds it."""
    shift: Words
    """How far up it stands in that word."""
    mask: Words
    """Its ones, when shifted down."""
    field: Words
    """Its ones, where they stand."""
    size: NDArray[np.int64]
    """How many values it can take."""

    def after(self, first: int) -> Fields:
        """Return the attributes from one on."""
        return Fields(
            self.word[first:],
            self.shift[first:],
            self.mask[first:],
            self.field[first:],
            self.size[first:],
        )

    def bits(self, words: int) -> Words:
        """Return, per word, the bits of all these attributes."""
        bits = np.zeros(words, np.uint64)
        np.bitwise_or.at(bits, self.word, self.field)
        return bits


class Packing(NamedTuple):
    """How records are packed."""

    words: int
    """The number of words per record."""
    attributes: Fields
    """The quasi-identifiers, in the order of refinement."""
    secrets: Fields
    """The sensitive attributes."""


def plan_packing(attributes: Sequence[Column], secrets: Sequence[Column]) -> Packing:
    """Find a place for every attribute, in the first word that has room for it."""
    used: list[int] = []
    places = [_place(column, used) for column in (*secrets, *attributes)]
    return Packing(
        words=max(1, len(used)),
        attributes=_fields(attributes, places[len(secrets) :]),
        secrets=_fields(secrets, places[: len(secrets)]),
    )


def packed(
    packing: Packing, attributes: Sequence[Column], secrets: Sequence[Column], begin: int, end: int
) -> Words:
    """Return the records of a table from one on and up to another as packed words."""
    records = np.zeros((end - begin) * packing.words, np.uint64)
    for fields, columns in ((packing.attributes, attributes), (packing.secrets, secrets)):
        for word, shift, column in zip(fields.word, fields.shift, columns, strict=True):
            _pack(records, packing.words, word, shift, column.codes[begin:end])
    return records


@njit(cache=True, nogil=True)  # type: ignore[untyped-decorator]
def values_of(records: Words, words: int, word: int, shift: np.uint64, mask: np.uint64) -> Any:
    """Return the value of one attribute in every record."""
    values = np.empty(records.size // words, np.uint32)
    for i in range(values.size):
        values[i] = (records[i * words + word] >> shift) & mask
    return values


@njit(cache=True, nogil=True)  # type: ignore[untyped-decorator]
def lay_out(
    records: Words, counts: Counts, merged: bool, words: int, values: Codes,
    places: NDArray[np.int64], laid: Words, laid_counts: Counts,
) -> None:  # fmt: skip
    """Put records where their value of an attribute belongs; those whose place is negative are left out.

    Args:
        records: Some records.
        counts: How many equal records each stands for.
        merged: Whether there are counts; else each stands for one.
        words: The number of words per record.
        values: The value of the attribute in each.
        places: Per value, where its next record goes; moved on.
        laid: Where the records go.
        laid_counts: Where the counts go.
    """
    for i in range(values.size):
        place = places[values[i]]
        if place < 0:
            continue
        places[values[i]] = place + 1
        for w in range(words):
            laid[place * words + w] = records[i * words + w]
        laid_counts[place] = counts[i] if merged else np.int32(1)


@njit(cache=True, nogil=True)  # type: ignore[untyped-decorator]
def close_up(
    records: Words, counts: Counts, words: int, starts: NDArray[np.int64], ends: NDArray[np.int64]
) -> int:
    """Move the records of all parts together, in their order; return how many there are."""
    at = 0
    for part in range(starts.size):
        for i in range(starts[part], ends[part]):
            for w in range(words):
                records[at * words + w] = records[i * words + w]
            counts[at] = counts[i]
            at += 1
    return at


def _place(column: Column, used: list[int]) -> tuple[int, int]:
    bits = _bits(column)
    for word, taken in enumerate(used):
        if taken + bits <= WORD_BITS:
            used[word] += bits
            return word, taken
    used.append(bits)
    return len(used) - 1, 0


def _bits(column: Column) -> int:
    return max(1, (column.cardinality - 1).bit_length())


def _fields(columns: Sequence[Column], places: Sequence[tuple[int, int]]) -> Fields:
    masks = [(1 << _bits(column)) - 1 for column in columns]
    shifted = [mask << shift for mask, (_, shift) in zip(masks, places, strict=True)]
    return Fields(
        word=np.array([word for word, _ in places], np.int64),
        shift=np.array([shift for _, shift in places], np.uint64),
        mask=np.array(masks, np.uint64),
        field=np.array(shifted, np.uint64),
        size=np.array([column.cardinality for column in columns], np.int64),
    )


@njit(cache=True, nogil=True)  # type: ignore[untyped-decorator]
def _pack(records: Words, words: int, word: int, shift: np.uint64, codes: Codes) -> None:
    for i in range(codes.size):
        records[i * words + word] |= np.uint64(codes[i]) << shift
