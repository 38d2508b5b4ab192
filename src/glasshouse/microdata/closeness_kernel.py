"""The compiled walk over all subsets of the quasi-identifiers, for guesses that need only be close.

Records are numbered by rising value, and partitions are stable, so that every class of every subset is in order. For
each record, `reaches` holds the last one that some guess can be close to together with it: whether values fit one
window is then a comparison of two numbers. A class of the subset T is looked at once; what comes of it with T and with
the sets that extend T by later attributes is settled in closed form where it can be:

- where all its values fit one window, a guess is close for everybody, whatever else is known;
- two or three records count with each other exactly in the sets in which they agree.

Both are sums over sets S with T ⊆ S ⊆ U for a set U that adds later attributes to T. They are added up at U, by the
last attribute of T, and spread over these sets at the end, all at once (`spread_down`).
"""

from __future__ import annotations

import numpy as np
from numba import njit
from numpy.typing import NDArray

from glasshouse.arrays import Integers

CLOSE, CERTAIN, OFF = range(3)
"""The rows of what the loops return: records with a close guess, with a certain one, and Σ|value − median|."""

_inlined = njit(nogil=True, forceinline=True, no_cpython_wrapper=True, no_cfunc_wrapper=True)


@_inlined
def _most(rows, begin, end, reaches):  # type: ignore[no-untyped-def]
    """Return how many of the records of a class, in order, one guess can be close to."""
    most, first = 0, begin
    for last in range(begin, end):
        while reaches[rows[first]] < rows[last]:
            first += 1
        most = max(most, last - first + 1)
    return most


@_inlined
def _off(rows, begin, end, values):  # type: ignore[no-untyped-def]
    """Return Σ|value − median| over the records of a class, in order."""
    off = 0
    for place in range((end - begin) // 2):
        off += values[rows[end - 1 - place]] - values[rows[begin + place]]
    return off


@_inlined
def _agreement(codes, first, second, attribute):  # type: ignore[no-untyped-def]
    """Return the set of attributes from one on in which two records agree."""
    alike = 0
    for later in range(attribute, codes.shape[1]):
        if codes[first, later] == codes[second, later]:
            alike |= 1 << later
    return alike


@njit(cache=True, nogil=True)  # type: ignore[untyped-decorator]
def by_class(
    rows: NDArray[np.int32], starts: Integers, reaches: NDArray[np.int32], values: Integers
) -> Integers:
    """Return the three sums over classes, whose records come one class after another, each in order."""
    sums = np.zeros(3, np.int64)
    for place in range(len(starts) - 1):
        begin, end = starts[place], starts[place + 1]
        most = _most(rows, begin, end, reaches)
        sums[CLOSE] += most
        if most == end - begin:
            sums[CERTAIN] += most
        sums[OFF] += _off(rows, begin, end, values)
    return sums


@njit(cache=True, nogil=True)  # type: ignore[untyped-decorator]
def by_subset(
    codes: NDArray[np.uint32],
    cardinalities: Integers,
    reaches: NDArray[np.int32],
    values: Integers,
    largest: int,
) -> Integers:
    """Return the three sums of every subset of at most so many attributes: bit i of a subset is column i of `codes`.

    Args:
        codes: Per record, by rising value, its code in each column.
        cardinalities: The number of codes of each column.
        reaches: Per record, the last one that a guess can be close to together with it.
        values: Per record, its value.
        largest: How many attributes she knows at most.
    """
    records, attributes = codes.shape
    whole = (1 << attributes) - 1
    alone = np.zeros((3, 1 << attributes), np.int64)
    shared = np.zeros((attributes + 1, 3, 1 << attributes), np.int64)
    rows = np.empty((largest + 1, records), np.int32)
    rows[0] = np.arange(records)
    counts = np.zeros(cardinalities.max() + 1, np.int32)
    values_met = np.empty(cardinalities.max() + 1, np.int32)
    begins, ends = np.zeros(largest + 1, np.int64), np.zeros(largest + 1, np.int64)
    parts = np.zeros(largest + 1, np.int64)
    attribute = np.zeros(largest + 1, np.int64)
    firsts = np.zeros(largest + 1, np.int64)
    masks = np.zeros(largest + 1, np.int64)
    settled = np.zeros(largest + 1, np.bool_)
    ends[0], level, is_new = records, 0, True
    while level >= 0:
        begin, end, mask = begins[level], ends[level], masks[level]
        if is_new:
            is_new = False
            some, first = rows[level], firsts[level]
            later = mask | (whole & ~((1 << first) - 1))
            if not settled[level] and reaches[some[begin]] >= some[end - 1]:
                settled[level] = True
                shared[first, CLOSE, later] += end - begin
                shared[first, CERTAIN, later] += end - begin
            if not settled[level]:
                alone[CLOSE, mask] += _most(some, begin, end, reaches)
            alone[OFF, mask] += _off(some, begin, end, values)
            is_same = values[some[begin]] == values[some[end - 1]]
            is_last = level == largest
            attribute[level] = attributes if is_same or is_last else first
            parts[level] = -1
        column = attribute[level]
        if column >= attributes:
            level -= 1
            continue
        some, divided = rows[level], rows[level + 1]
        if parts[level] < 0:
            number = 0
            for place in range(begin, end):
                code = codes[some[place], column]
                if counts[code] == 0:
                    values_met[number] = code
                    number += 1
                counts[code] += 1
            start = begin
            for place in range(number):
                code = values_met[place]
                size = counts[code]
                counts[code] = start
                start += size
            for place in range(begin, end):
                row = some[place]
                code = codes[row, column]
                divided[counts[code]] = row
                counts[code] += 1
            for place in range(number):
                counts[values_met[place]] = 0
            parts[level] = begin
        if parts[level] >= end:
            attribute[level] += 1
            parts[level] = -1
            continue
        start = parts[level]
        code, stop = codes[divided[start], column], start + 1
        while stop < end and codes[divided[stop], column] == code:
            stop += 1
        parts[level] = stop
        new_mask, new_first = mask | (1 << column), column + 1
        later = new_mask | (whole & ~((1 << new_first) - 1))
        here = shared[new_first]
        is_open = not settled[level]
        if stop - start == 1:
            if is_open:
                here[CLOSE, later] += 1
                here[CERTAIN, later] += 1
        elif stop - start == 2:
            low, high = divided[start], divided[start + 1]
            gap = values[high] - values[low]
            alike = later if gap == 0 else new_mask | _agreement(codes, low, high, new_first)
            if is_open:
                here[CLOSE, later] += 2
                here[CERTAIN, later] += 2
                if reaches[low] < high:
                    here[CLOSE, alike] -= 1
                    here[CERTAIN, alike] -= 2
            here[OFF, alike] += gap
        elif stop - start == 3:
            low, middle, high = divided[start], divided[start + 1], divided[start + 2]
            below = new_mask | _agreement(codes, low, middle, new_first)
            above = new_mask | _agreement(codes, middle, high, new_first)
            around = new_mask | _agreement(codes, low, high, new_first)
            together = below & above
            if is_open:
                here[CLOSE, later] += 3
                here[CERTAIN, later] += 3
                if reaches[low] < high:
                    near_below, near_above = reaches[low] >= middle, reaches[middle] >= high
                    lost = 1
                    if not near_below:
                        here[CLOSE, below] -= 1
                        here[CERTAIN, below] -= 2
                        lost += 1
                    if not near_above:
                        here[CLOSE, above] -= 1
                        here[CERTAIN, above] -= 2
                        lost += 1
                    here[CLOSE, around] -= 1
                    here[CERTAIN, around] -= 2
                    # the three together lose what the best two leave, and all certainty
                    here[CLOSE, together] += lost - (1 if near_below or near_above else 2)
                    here[CERTAIN, together] += 2 * lost - 3
            here[OFF, below] += values[middle] - values[low]
            here[OFF, above] += values[high] - values[middle]
            here[OFF, around] += values[high] - values[low]
            here[OFF, together] -= values[high] - values[low]
        else:
            level += 1
            begins[level], ends[level], masks[level] = start, stop, new_mask
            firsts[level], settled[level] = new_first, not is_open
            is_new = True
    sums = np.zeros((3, 1 << attributes), np.int64)
    for first in range(attributes + 1):
        sums += shared[first]
        if first < attributes:
            spread_down(sums, first)
    return sums + alone


@njit(cache=True, nogil=True)  # type: ignore[untyped-decorator]
def spread_down(sums: Integers, attribute: int) -> None:
    """Add what is counted at each set with an attribute to the set without it."""
    bit = 1 << attribute
    for subset in range(sums.shape[1]):
        if subset & bit == 0:
            for row in range(sums.shape[0]):
                sums[row, subset] += sums[row, subset | bit]
