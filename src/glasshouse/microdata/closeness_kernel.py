"""The compiled walk over all subsets of the quasi-identifiers, for guesses that need only be close.

Records are numbered by rising value, and every class of every subset is in order (`class_kernel`). For each record,
`reaches` holds the last one that some guess can be close to together with it: whether values fit one window is then a
comparison of two numbers. Where all values of a class fit one window, a guess is close for everybody, whatever else is
known; and classes of two or three records are settled in closed form.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from glasshouse.arrays import Codes, Flags, Integer, Integers
from glasshouse.compiled import compiled, lean_inlined
from glasshouse.microdata.class_kernel import (
    Classes,
    CodesByAttribute,
    Rows,
    agreement,
    attributes_of_part,
    enter_class,
    next_part,
    places_of_sets,
    room_for_classes,
    spread_over_sets,
    step_down,
)

CLOSE, CERTAIN, OFF = range(3)
"""The rows of what the loops return: records with a close guess, with a certain one, and Σ|value − median|."""

MOST_NEAR = 1 << 13
"""So many records at most are laid side by side, to be divided within the nearest memory."""


class _Records(NamedTuple):
    """Records by rising value."""

    codes: CodesByAttribute
    """Per attribute, the code of each."""
    reaches: Codes
    """Per record, the last one that a guess can be close to together with it."""
    values: Integers
    """Per record, its value."""


@lean_inlined
def _most(rows: Rows, reaches: Codes) -> int:
    """Return how many of the records of a class, in order, one guess can be close to."""
    first = 0  # of the longest window so far, moved along: it never gets shorter
    for last in range(len(rows)):
        first += reaches[rows[first]] < rows[last]
    return len(rows) - first


@lean_inlined
def _off(rows: Rows, values: Integers) -> Integer:
    """Return Σ|value − median| over the records of a class, in order."""
    off, half = 0, len(rows) // 2
    for place in range(half):
        off -= values[rows[place]]
    for place in range(len(rows) - half, len(rows)):
        off += values[rows[place]]
    return off


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
def by_subset(
    codes: NDArray[np.uint16 | np.uint32],
    cardinalities: Integers,
    reaches: Codes,
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
    near = _Records(
        np.empty((attributes, MOST_NEAR), codes.dtype),
        np.empty(MOST_NEAR, reaches.dtype),
        np.empty(MOST_NEAR, values.dtype),
    )
    _walk_classes(
        _Records(codes, reaches, values),
        cardinalities,
        near,
        room_for_classes(records, cardinalities),
        np.zeros(attributes + 1, np.bool_),
        ones,
        sums,
    )
    outcome: Integers = spread_over_sets(sums, ones)
    return outcome


@lean_inlined
def _walk_classes(
    whole: _Records, cardinalities: Integers, near: _Records, classes: Classes, settled: Flags,
    ones: Integers, sums: Integers,
) -> None:  # fmt: skip
    """Go over all classes; `near` holds one of few records, from the level on where that is what is divided."""
    attributes = len(cardinalities)
    level, near_from, is_new = 0, attributes + 1, True
    while level >= 0:
        if level < near_from:
            near_from = attributes + 1
            records = whole
        else:
            records = near
        if is_new:
            enter_class(records.codes, classes, level)
            _add_class(records, classes, level, settled, ones, sums)
        start, stop = next_part(records.codes, cardinalities, classes, level)
        is_new = stop - start > 3
        if start == stop:
            level -= 1
        elif is_new:
            step_down(classes, level, start, stop)
            settled[level + 1] = settled[level]
            level += 1
            if near_from > attributes and stop - start <= MOST_NEAR:
                near_from = level
                _bring_near(records, near, classes, level)
        else:
            _settle_few(records, classes, level, start, stop, not settled[level], ones, sums)


@lean_inlined
def _add_class(
    records: _Records, classes: Classes, level: Integer, settled: Flags, ones: Integers,
    sums: Integers,
) -> None:  # fmt: skip
    """Add up a class: where all of it fits one window, for all sets that extend its own."""
    mask, free, rest = classes.masks[level], classes.frees[level], classes.rests[level]
    some = classes.rows[level, classes.begins[level] : classes.ends[level]]
    first, last = some[0], some[-1]
    here = sums[ones[mask] + 2 * ones[free]]
    if not settled[level]:
        if records.reaches[first] >= last:
            settled[level] = True
            _add_close(sums[ones[mask] + 2 * ones[free | rest]], len(some))
        else:
            here[CLOSE] += _most(some, records.reaches)
    here[OFF] += _off(some, records.values)
    if records.values[first] == records.values[last]:
        classes.rests[level] = 0


@lean_inlined
def _add_close(cell: Integers, size: Integer) -> None:
    """Add records that one guess is close to for certain."""
    cell[CLOSE] += size
    cell[CERTAIN] += size


@lean_inlined
def _bring_near(records: _Records, near: _Records, classes: Classes, level: Integer) -> None:
    """Lay the records of a class side by side, numbered from 0 on."""
    some = classes.rows[level, classes.begins[level] : classes.ends[level]]
    last = 0
    for place in range(len(some)):
        while last + 1 < len(some) and some[last + 1] <= records.reaches[some[place]]:
            last += 1
        near.reaches[place] = last
        near.values[place] = records.values[some[place]]
    for attribute in range(len(records.codes)):
        if (classes.rests[level] >> attribute) & 1:
            for place in range(len(some)):
                near.codes[attribute, place] = records.codes[attribute, some[place]]
    for place in range(len(some)):
        some[place] = place


@lean_inlined
def _settle_few(
    records: _Records, classes: Classes, level: Integer, start: Integer, stop: Integer,
    is_open: Any, ones: Integers, sums: Integers,
) -> None:  # fmt: skip
    """Add up a part of one, two or three records for its set and all that extend it."""
    mask, free, rest = attributes_of_part(classes, level)
    cells = sums[ones[mask] + 2 * ones[free] :]
    few = classes.rows[level + 1, start:stop]
    if is_open:
        _add_close(cells[2 * ones[rest]], len(few))
    if len(few) == 2:
        _settle_two(records, few, rest, is_open, ones, cells)
    elif len(few) == 3 and records.values[few[0]] != records.values[few[2]]:
        _settle_three(records, few, rest, is_open, ones, cells)


@lean_inlined
def _settle_two(
    records: _Records, few: Rows, rest: Integer, is_open: Any, ones: Integers,
    cells: Integers,
) -> None:  # fmt: skip
    """Take away what two records lose in the sets in which they agree."""
    low, high = few[0], few[1]
    gap = records.values[high] - records.values[low]
    if gap > 0:
        alike = cells[2 * ones[agreement(records.codes, low, high, rest)]]
        alike[OFF] += gap
        if is_open and records.reaches[low] < high:
            _lose_two(alike)


@lean_inlined
def _settle_three(
    records: _Records, few: Rows, rest: Integer, is_open: Any, ones: Integers,
    cells: Integers,
) -> None:  # fmt: skip
    """Take away what three records lose in the sets in which two, or all of them, agree."""
    low, middle, high = few[0], few[1], few[2]
    values, reaches = records.values, records.reaches
    lower = agreement(records.codes, low, middle, rest)
    upper = agreement(records.codes, middle, high, rest)
    outer = cells[2 * ones[agreement(records.codes, low, high, rest)]]
    together = cells[2 * ones[lower & upper]]
    first_two, last_two = cells[2 * ones[lower]], cells[2 * ones[upper]]
    if is_open and reaches[low] < high:
        near_below, near_above = reaches[low] >= middle, reaches[middle] >= high
        lost = 1
        if not near_below:
            _lose_two(first_two)
            lost += 1
        if not near_above:
            _lose_two(last_two)
            lost += 1
        _lose_two(outer)
        # the three together lose what the best two leave, and all certainty
        together[CLOSE] += lost - (1 if near_below or near_above else 2)
        together[CERTAIN] += 2 * lost - 3
    first_two[OFF] += values[middle] - values[low]
    last_two[OFF] += values[high] - values[middle]
    outer[OFF] += values[high] - values[low]
    together[OFF] -= values[high] - values[low]


@lean_inlined
def _lose_two(cell: Integers) -> None:
    """Take away what two records lose that no guess is close to both of."""
    cell[CLOSE] -= 1
    cell[CERTAIN] -= 2
