"""The loops over classes and their sensitive values that criteria are decided by.

Integers in, integers out; what doubles leave open is told apart, for the caller to decide.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from glasshouse.arrays import Flags, Integers, Words
from glasshouse.compiled import called, compiled, write

_ENTROPY_GUARD = 1e-12
_ROUNDING = 4e-16
_FEW = 32


@compiled
def distinct_values(starts: Integers, counts: Integers) -> Integers:
    """Return per class how many values it has."""
    distinct = np.zeros(starts.size - 1, np.int64)
    for number in range(distinct.size):
        for i in range(starts[number], starts[number + 1]):
            distinct[number] += counts[i] > 0
    return distinct


@compiled
def most_and_tail(starts: Integers, counts: Integers, begin: int) -> tuple[Integers, Integers]:
    """Return per class the greatest count, and the sum of all counts from the ``begin``-th greatest on."""
    most = np.zeros(starts.size - 1, np.int64)
    tail = np.zeros(starts.size - 1, np.int64)
    rising, order = _room_to_sort(starts)
    for number in range(most.size):
        entries = starts[number + 1] - starts[number]
        write(rising, counts[starts[number] : starts[number + 1]])
        if begin > 1:
            _sort(rising, order, entries)
        for i in range(entries):
            most[number] = max(most[number], rising[i])
            if i <= entries - begin:
                tail[number] += rising[i]
    return most, tail


@called
def _room_to_sort(starts: Integers) -> tuple[Integers, Integers]:
    """Return room for the numbers of any class, and for their order."""
    largest = 0
    for number in range(starts.size - 1):
        largest = max(largest, starts[number + 1] - starts[number])
    return np.empty(largest, np.int64), np.empty(largest, np.int64)


@called
def _sort(numbers: Integers, order: Integers, count: int) -> None:
    """Sort the first numbers in their place, and say where each was."""
    if count > _FEW:
        write(order, np.argsort(numbers[:count]))
        write(numbers, numbers[order[:count]])
        return
    for i in range(count):
        number, place = numbers[i], i
        while place > 0 and numbers[place - 1] > number:
            numbers[place] = numbers[place - 1]
            order[place] = order[place - 1]
            place -= 1
        numbers[place] = number
        order[place] = i


@compiled
def entropy_holds(
    starts: Integers, counts: Integers, sizes: Integers, least: float, least_values: int
) -> tuple[Flags, Flags]:
    """Tell of each class whether n ln n − Σ c ln c ≥ n ln l, and whether that is too close for doubles.

    Values that are equally frequent are enough if there are ``least_values`` of them, ⌈l⌉.
    """
    holds = np.zeros(sizes.size, np.bool_)
    undecided = np.zeros(sizes.size, np.bool_)
    for number in range(sizes.size):
        spent = 0.0
        entries, fewest, most = 0, sizes[number], 0
        for i in range(starts[number], starts[number + 1]):
            if counts[i] > 0:
                entries += 1
                fewest = min(fewest, counts[i])
                most = max(most, counts[i])
                spent += counts[i] * np.log(float(counts[i]))
        # Equal counts are decided by their number.
        if fewest == most:
            holds[number] = entries >= least_values
            continue
        # Others by doubles, unless the two sides are nearer than rounding can tell.
        size = float(sizes[number])
        greatest, needed = size * np.log(size), size * np.log(least)
        surplus = greatest - spent - needed
        guard = (_ENTROPY_GUARD + _ROUNDING * entries) * (greatest + needed)
        holds[number] = surplus > guard
        undecided[number] = abs(surplus) <= guard
    return holds, undecided


@compiled
def add_equal_distance(
    distance: NDArray[Any],
    one: Any,
    starts: Integers,
    counts: Integers,
    sizes: Integers,
    values: NDArray[np.uint32],
    reference: Integers,
) -> None:
    """Add Σ |c N − R n| to each class; the values that it lacks make up n times their records together."""
    records = one * reference.sum()
    for number in range(sizes.size):
        size = one * sizes[number]
        lacking = records
        for i in range(starts[number], starts[number + 1]):
            expected = one * reference[values[i]]
            lacking -= expected
            distance[number] += abs(counts[i] * records - expected * size)
        distance[number] += lacking * size


@compiled
def add_ordered_distance(
    distance: NDArray[Any],
    one: Any,
    starts: Integers,
    counts: Integers,
    sizes: Integers,
    ranks: Integers,
    at_or_below: Integers,
) -> None:
    """Add Σ_i |C_i N − R_i n| to each class, with C_i and R_i the records up to rank i.

    From one value of the class to its next C_i stays while R_i grows: the terms change sign once at most, where a
    search finds it, and running sums of R_i give both sides. So the work is that of the values in the class, not of
    all values.
    """
    domain = at_or_below.size
    records = one * at_or_below[domain - 1]
    summed = np.zeros(domain + 1, np.int64)
    for value in range(domain):
        summed[value + 1] = summed[value] + at_or_below[value]
    rising, order = _room_to_sort(starts)
    for number in range(sizes.size):
        size = one * sizes[number]
        begin, entries = starts[number], starts[number + 1] - starts[number]
        write(rising, ranks[begin : begin + entries])
        _sort(rising, order, entries)
        reached = records * 0
        low = 0
        # From one rank of the class to its next, C_i N stays what was ``reached``.
        for i in range(entries + 1):
            high = rising[i] if i < entries else domain - 1
            # Find where R_i n passes it: terms before are positive, terms from there on negative.
            split, beyond = low, high
            while split < beyond:
                middle = (split + beyond) // 2
                if at_or_below[middle] * size > reached:
                    beyond = middle
                else:
                    split = middle + 1
            # Add both sides by the running sums of R_i.
            distance[number] += (split - low) * reached - (summed[split] - summed[low]) * size
            distance[number] += (summed[high] - summed[split]) * size - (high - split) * reached
            if i < entries:
                reached += counts[begin + order[i]] * records
            low = high


@compiled
def add_hierarchical_distance(
    distance: NDArray[Any],
    one: Any,
    starts: Integers,
    counts: Integers,
    sizes: Integers,
    values: NDArray[np.uint32],
    parents: Integers,
    reference: Integers,
    top: int,
) -> None:
    """Add Σ level · min(positive, negative extras) to each class, with extras c N − R n.

    Only labels above values of the class are visited: below any other all extras are negative. Of a label that is
    visited, the labels below that are not lack n times their records together.
    """
    records = one * reference[-1]
    held = np.zeros(parents.size, np.int64)
    visited_below = np.zeros(parents.size, np.int64)
    surplus = np.zeros(parents.size, distance.dtype)
    deficit = np.zeros(parents.size, distance.dtype)
    labels = np.empty(parents.size, np.int64)
    for number in range(sizes.size):
        size = one * sizes[number]
        # Visit the values that occur: of each label visited, ``held`` has the records of the class under it.
        visited = 0
        for i in range(starts[number], starts[number + 1]):
            if counts[i] > 0:
                labels[visited] = values[i]
                held[values[i]] = counts[i]
                visited += 1
        for level in range(1, top + 1):
            # Visit the labels right above those visited last, and hand on to each the extras below it.
            above = 0
            for i in range(visited):
                label = labels[i]
                parent = parents[label]
                if held[parent] == 0:
                    labels[above] = parent
                    above += 1
                held[parent] += held[label]
                visited_below[parent] += reference[label]
                extra = held[label] * records - reference[label] * size
                surplus[parent] += max(extra, records * 0)
                deficit[parent] += max(-extra, records * 0)
                held[label] = 0
            visited = above
            # Move what is too much under a label to what lacks there; the rest moves at a level above.
            for i in range(visited):
                label = labels[i]
                lacking = (reference[label] - visited_below[label]) * size
                distance[number] += level * min(surplus[label], deficit[label] + lacking)
                surplus[label] = 0
                deficit[label] = 0
                visited_below[label] = 0
        for i in range(visited):
            held[labels[i]] = 0


@compiled
def products_at_most(
    sums: Words, denominator: np.uint64, wholes: Words, numerator: np.uint64
) -> Flags:
    """Tell where sum · denominator ≤ whole · numerator."""
    within = np.empty(sums.size, np.bool_)
    for i in range(sums.size):
        high, low = _product(sums[i], denominator)
        high_limit, low_limit = _product(wholes[i], numerator)
        within[i] = high < high_limit or (high == high_limit and low <= low_limit)
    return within


@called
def _product(a: np.uint64, b: np.uint64) -> tuple[np.uint64, np.uint64]:
    """Return the upper and the lower 64 bits of a product of unsigned integers of 64 bits."""
    half, mask = np.uint64(32), np.uint64(0xFFFFFFFF)
    a_high, a_low, b_high, b_low = a >> half, a & mask, b >> half, b & mask
    low = a_low * b_low
    middle = a_high * b_low + (low >> half)
    other = a_low * b_high + (middle & mask)
    high = a_high * b_high + (middle >> half) + (other >> half)
    return high, (other << half) | (low & mask)
