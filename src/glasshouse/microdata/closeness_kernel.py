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

from typing import Any

import numpy as np
from numpy.typing import NDArray

from glasshouse.arrays import Integer, Integers
from glasshouse.compiled import called, compiled, inlined

CLOSE, CERTAIN, OFF = range(3)
"""The rows of what the loops return: records with a close guess, with a certain one, and Σ|value − median|."""

MOST_NEAR = 1 << 13
"""So many records at most are laid side by side, to be divided within the nearest memory."""


@called
def places_of_sets(attributes: int) -> Integers:
    """Return, per set of attributes, the number whose digits to the base of three are 1 for those that are in it."""
    ones = np.zeros(1 << attributes, np.int64)
    for subset in range(1, 1 << attributes):
        for attribute in range(attributes):
            ones[subset] += ((subset >> attribute) & 1) * 3**attribute
    return ones


@called
def spread_over_sets(sums: Integers, ones: Integers) -> Integers:
    """Return sums by set, of those that stand at pairs of a set and free attributes, which are changed.

    Args:
        sums: Per pair, as a number with the digit 2 for what is free, its sums.
        ones: The places of the sets (`places_of_sets`).
    """
    kinds = sums.shape[1]
    step = 1
    while step < len(sums):
        for place in range(len(sums)):
            if place // step % 3 == 2:
                for kind in range(kinds):
                    sums[place - step, kind] += sums[place, kind]
                    sums[place - 2 * step, kind] += sums[place, kind]
        step *= 3
    outcome = np.empty((kinds, len(ones)), np.int64)
    for subset in range(len(ones)):
        for kind in range(kinds):
            outcome[kind, subset] = sums[ones[subset], kind]
    return outcome


@inlined
def _most(rows: NDArray[np.int32], reaches: NDArray[np.int32]) -> int:
    """Return how many of the records of a class, in order, one guess can be close to."""
    first = 0  # of the longest window so far, moved along: it never gets shorter
    for last in range(len(rows)):
        first += reaches[rows[first]] < rows[last]
    return len(rows) - first


@inlined
def _off(rows: NDArray[np.int32], values: Integers) -> Integer:
    """Return Σ|value − median| over the records of a class, in order."""
    off, half = 0, len(rows) // 2
    for place in range(half):
        off -= values[rows[place]]
    for place in range(len(rows) - half, len(rows)):
        off += values[rows[place]]
    return off


@inlined
def _agreement(codes: Any, first: Integer, second: Integer, remaining: Integer) -> Integer:
    """Return those of some attributes in which two records agree."""
    alike = 0
    for attribute in range(len(codes)):
        if (remaining >> attribute) & 1 and codes[attribute, first] == codes[attribute, second]:
            alike |= 1 << attribute
    return alike


@compiled
def by_class(
    rows: NDArray[np.int32], starts: Integers, reaches: NDArray[np.int32], values: Integers
) -> Integers:
    """Return the three sums over classes, whose records come one class after another, each in order."""
    sums = np.zeros(3, np.int64)
    for place in range(len(starts) - 1):
        begin, end = starts[place], starts[place + 1]
        most = _most(rows[begin:end], reaches)
        sums[CLOSE] += most
        if most == end - begin:
            sums[CERTAIN] += most
        sums[OFF] += _off(rows[begin:end], values)
    return sums


@compiled
def by_subset(  # noqa: C901
    codes: NDArray[np.uint16 | np.uint32],
    cardinalities: Integers,
    reaches: NDArray[np.int32],
    values: Integers,
) -> Integers:
    """Return the three sums of every subset of the attributes: bit i of a subset is row i of `codes`.

    Args:
        codes: Per attribute, the code of each record, by rising value.
        cardinalities: The number of codes of each column.
        reaches: Per record, the last one that a guess can be close to together with it.
        values: Per record, its value.
    """
    attributes, records = codes.shape
    ones = places_of_sets(attributes)
    sums = np.zeros((3**attributes, 3), np.int64)
    rows = np.empty((attributes + 1, records), np.uint32)  # no index is looked at for its sign
    rows[0] = np.arange(records)
    most_codes = cardinalities.max() + 1
    counts = np.zeros(most_codes, np.uint32)
    met = np.empty(most_codes, np.uint32)
    cuts = np.empty((attributes + 1, most_codes), np.int32)
    begins, ends = np.zeros(attributes + 1, np.int64), np.zeros(attributes + 1, np.int64)
    parts, numbers = np.zeros(attributes + 1, np.int64), np.zeros(attributes + 1, np.int64)
    column_of = np.zeros(attributes + 1, np.int64)
    masks, frees = np.zeros(attributes + 1, np.int64), np.zeros(attributes + 1, np.int64)
    rests = np.zeros(attributes + 1, np.int64)
    settled = np.zeros(attributes + 1, np.bool_)
    rests[0] = (1 << attributes) - 1
    ends[0], level, is_new = records, 0, True
    # a class of few records, numbered from 0 on, and the level from which on it is what is divided
    near_codes = np.empty((attributes, MOST_NEAR), codes.dtype)
    near_reaches = np.empty(MOST_NEAR, reaches.dtype)
    near_values = np.empty(MOST_NEAR, values.dtype)
    near_from = attributes + 1
    all_codes, all_reaches, all_values = codes, reaches, values
    while level >= 0:
        if level < near_from:
            near_from = attributes + 1
            codes, reaches, values = all_codes, all_reaches, all_values
        else:
            codes, reaches, values = near_codes, near_reaches, near_values
        begin, end, mask = begins[level], ends[level], masks[level]
        if is_new:
            is_new = False
            some = rows[level, begin:end]
            first = some[0]
            for attribute in range(attributes):
                if (rests[level] >> attribute) & 1:
                    code, place = codes[attribute, first], 1
                    while place < len(some) and codes[attribute, some[place]] == code:
                        place += 1
                    if place == len(some):
                        rests[level] ^= 1 << attribute
                        frees[level] |= 1 << attribute
            free, rest = frees[level], rests[level]
            here = sums[ones[mask] + 2 * ones[free]]
            if not settled[level]:
                if reaches[first] >= some[-1]:
                    settled[level] = True
                    later = sums[ones[mask] + 2 * ones[free | rest]]
                    later[CLOSE] += end - begin
                    later[CERTAIN] += end - begin
                else:
                    here[CLOSE] += _most(some, reaches)
            here[OFF] += _off(some, values)
            if values[first] == values[some[-1]]:
                rests[level] = 0
            column_of[level], parts[level], numbers[level] = -1, 0, 0
        if parts[level] >= numbers[level]:
            column_of[level] += 1
            while column_of[level] < attributes and not (rests[level] >> column_of[level]) & 1:
                column_of[level] += 1
            if column_of[level] >= attributes:
                level -= 1
                continue
            column, some, divided = column_of[level], rows[level, begin:end], rows[level + 1]
            code_of = codes[column]
            # the codes that occur: of few they are met one by one, of many all are looked at
            number, start, few = 0, begin, end - begin < cardinalities[column]
            if few:
                for place in range(len(some)):
                    code = code_of[some[place]]
                    if counts[code] == 0:
                        met[number] = code
                        number += 1
                    counts[code] += 1
            else:
                for place in range(len(some)):
                    counts[code_of[some[place]]] += 1
                for code in range(cardinalities[column]):
                    met[number] = code
                    number += counts[code] > 0
            for place in range(number):
                size = counts[met[place]]
                counts[met[place]] = start
                start += size
            for place in range(len(some)):
                code = code_of[some[place]]
                divided[counts[code]] = some[place]
                counts[code] += 1
            for place in range(number):
                cuts[level, place] = counts[met[place]]
                counts[met[place]] = 0
            parts[level], numbers[level] = 0, number
        column, divided, part = column_of[level], rows[level + 1], parts[level]
        start, stop = begin, np.int64(cuts[level, part])
        if part > 0:
            start = np.int64(cuts[level, part - 1])
        parts[level] += 1
        below, free = mask | (1 << column), frees[level]
        rest = rests[level] & ~((1 << (column + 1)) - 1)
        is_open = not settled[level]
        if stop - start > 3:
            level += 1
            if near_from > attributes and stop - start <= MOST_NEAR:
                near_from, last = level, start
                for place in range(start, stop):
                    row = divided[place]
                    while last + 1 < stop and divided[last + 1] <= reaches[row]:
                        last += 1
                    near_reaches[place - start] = last - start
                    near_values[place - start] = values[row]
                for attribute in range(attributes):
                    if (rest >> attribute) & 1:
                        for place in range(start, stop):
                            near_codes[attribute, place - start] = codes[attribute, divided[place]]
                for place in range(start, stop):
                    divided[place] = place - start
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
    outcome: Integers = spread_over_sets(sums, ones)
    return outcome
