"""The compiled walk over all subsets of the quasi-identifiers, for guesses that need only be close.

Records are numbered by rising value, and partitions are stable, so that every class of every subset is in order. For
each record, `reaches` holds the last one that some guess can be close to together with it: whether values fit one
window is then a comparison of two numbers. A class of the subset T is looked at once; what comes of it with T and with
the sets that extend T by later attributes is settled in closed form where it can be:

- where all its values fit one window, a guess is close for everybody, whatever else is known;
- two or three records count with each other exactly in the sets in which they agree;
- attributes that all records of the class agree in divide it no further: it is the same class with them and without.

All of these are sums over the sets S with T ⊆ S ⊆ T ∪ F for a set F of *free* attributes. They are added up at the pair
(T, F), a number with a digit for each attribute (0 without, 1 with, 2 free), and spread over these sets at the end.
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
def _agreement(codes, first, second, remaining):  # type: ignore[no-untyped-def]
    """Return those of some attributes in which two records agree."""
    alike = 0
    for attribute in range(codes.shape[1]):
        if (remaining >> attribute) & 1 and codes[first, attribute] == codes[second, attribute]:
            alike |= 1 << attribute
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
    codes: NDArray[np.uint16 | np.uint32],
    cardinalities: Integers,
    reaches: NDArray[np.int32],
    values: Integers,
) -> Integers:
    """Return the three sums of every subset of the attributes: bit i of a subset is column i of `codes`.

    Args:
        codes: Per record, by rising value, its code in each column.
        cardinalities: The number of codes of each column.
        reaches: Per record, the last one that a guess can be close to together with it.
        values: Per record, its value.
    """
    records, attributes = codes.shape
    ones = np.zeros(1 << attributes, np.int64)
    for subset in range(1, 1 << attributes):
        for attribute in range(attributes):
            ones[subset] += ((subset >> attribute) & 1) * 3**attribute
    sums = np.zeros((3**attributes, 3), np.int64)
    rows = np.empty((attributes + 1, records), np.int32)
    rows[0] = np.arange(records)
    counts = np.zeros(cardinalities.max() + 1, np.int32)
    met = np.empty(cardinalities.max() + 1, np.int32)
    begins, ends = np.zeros(attributes + 1, np.int64), np.zeros(attributes + 1, np.int64)
    parts = np.zeros(attributes + 1, np.int64)
    column_of = np.zeros(attributes + 1, np.int64)
    masks, frees = np.zeros(attributes + 1, np.int64), np.zeros(attributes + 1, np.int64)
    rests = np.zeros(attributes + 1, np.int64)
    settled = np.zeros(attributes + 1, np.bool_)
    rests[0] = (1 << attributes) - 1
    ends[0], level, is_new = records, 0, True
    while level >= 0:
        begin, end, mask = begins[level], ends[level], masks[level]
        if is_new:
            is_new = False
            some = rows[level]
            first = some[begin]
            for attribute in range(attributes):
                if (rests[level] >> attribute) & 1:
                    code, place = codes[first, attribute], begin + 1
                    while place < end and codes[some[place], attribute] == code:
                        place += 1
                    if place == end:
                        rests[level] ^= 1 << attribute
                        frees[level] |= 1 << attribute
            free, rest = frees[level], rests[level]
            here = sums[ones[mask] + 2 * ones[free]]
            if not settled[level]:
                if reaches[first] >= some[end - 1]:
                    settled[level] = True
                    later = sums[ones[mask] + 2 * ones[free | rest]]
                    later[CLOSE] += end - begin
                    later[CERTAIN] += end - begin
                else:
                    here[CLOSE] += _most(some, begin, end, reaches)
            here[OFF] += _off(some, begin, end, values)
            if values[first] == values[some[end - 1]]:
                rests[level] = 0
            column_of[level], parts[level] = -1, end
        if parts[level] >= end:
            column_of[level] += 1
            while column_of[level] < attributes and not (rests[level] >> column_of[level]) & 1:
                column_of[level] += 1
            if column_of[level] >= attributes:
                level -= 1
                continue
            column, some, divided = column_of[level], rows[level], rows[level + 1]
            number = 0
            for place in range(begin, end):
                code = codes[some[place], column]
                if counts[code] == 0:
                    met[number] = code
                    number += 1
                counts[code] += 1
            start = begin
            for place in range(number):
                size = counts[met[place]]
                counts[met[place]] = start
                start += size
            for place in range(begin, end):
                code = codes[some[place], column]
                divided[counts[code]] = some[place]
                counts[code] += 1
            for place in range(number):
                counts[met[place]] = 0
            parts[level] = begin
        column, divided = column_of[level], rows[level + 1]
        start = parts[level]
        code, stop = codes[divided[start], column], start + 1
        while stop < end and codes[divided[stop], column] == code:
            stop += 1
        parts[level] = stop
        below, free = mask | (1 << column), frees[level]
        rest = rests[level] & ~((1 << (column + 1)) - 1)
        is_open = not settled[level]
        if stop - start > 3:
            level += 1
            begins[level], ends[level], masks[level] = start, stop, below
            frees[level], rests[level], settled[level] = free, rest, not is_open
            is_new = True
            continue
        origin = ones[below] + 2 * ones[free]
        if is_open:
            later = sums[origin + 2 * ones[rest]]
            later[CLOSE] += stop - start
            later[CERTAIN] += stop - start
        if stop - start == 2:
            low, high = divided[start], divided[start + 1]
            gap = values[high] - values[low]
            if gap > 0:
                alike = sums[origin + 2 * ones[_agreement(codes, low, high, rest)]]
                alike[OFF] += gap
                if is_open and reaches[low] < high:
                    alike[CLOSE] -= 1
                    alike[CERTAIN] -= 2
        elif stop - start == 3:
            low, middle, high = divided[start], divided[start + 1], divided[start + 2]
            if values[low] == values[high]:
                continue
            lower = _agreement(codes, low, middle, rest)
            upper = _agreement(codes, middle, high, rest)
            outer = sums[origin + 2 * ones[_agreement(codes, low, high, rest)]]
            together = sums[origin + 2 * ones[lower & upper]]
            first_two, last_two = sums[origin + 2 * ones[lower]], sums[origin + 2 * ones[upper]]
            if is_open and reaches[low] < high:
                near_below, near_above = reaches[low] >= middle, reaches[middle] >= high
                lost = 1
                if not near_below:
                    first_two[CLOSE] -= 1
                    first_two[CERTAIN] -= 2
                    lost += 1
                if not near_above:
                    last_two[CLOSE] -= 1
                    last_two[CERTAIN] -= 2
                    lost += 1
                outer[CLOSE] -= 1
                outer[CERTAIN] -= 2
                # the three together lose what the best two leave, and all certainty
                together[CLOSE] += lost - (1 if near_below or near_above else 2)
                together[CERTAIN] += 2 * lost - 3
            first_two[OFF] += values[middle] - values[low]
            last_two[OFF] += values[high] - values[middle]
            outer[OFF] += values[high] - values[low]
            together[OFF] -= values[high] - values[low]
    step = 1
    for _ in range(attributes):
        for place in range(len(sums)):
            if place // step % 3 == 2:
                for kind in range(3):
                    sums[place - step, kind] += sums[place, kind]
                    sums[place - 2 * step, kind] += sums[place, kind]
        step *= 3
    outcome = np.empty((3, 1 << attributes), np.int64)
    for subset in range(1 << attributes):
        for kind in range(3):
            outcome[kind, subset] = sums[ones[subset], kind]
    return outcome
