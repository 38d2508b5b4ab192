"""The compiled loops for knowledge that is not exact: one class of what is known exactly, and all subsets at once.

What is known inexactly of a record is a *window* around its number, every number in it as likely, or a value that may
be *mistaken*: right with some weight, each other one of a domain with another. Records come by rising value, and
partitions are stable, so that every class of every subset is in order. Of a class, over all that the adversary may
hold, are added up: her best guess at the secret, what is certain, and what is nearly sure; in units, of which every
record has the same number.

The walk over the subsets (`class_kernel`) settles in closed form what it can: a class in which everything is certain is
so with whatever else is known, and two or three records count with each other exactly in the sets in which they agree.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from glasshouse.arrays import Codes, Flags, Integer, Integers
from glasshouse.compiled import compiled, lean_called, lean_inlined
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

Column = Any
"""An array of integers, of which one is taken at a time."""
GUESS, CERTAIN, NEARLY = range(3)
"""The rows of what the loops return: of the best guess, of what is certain, and of what is nearly sure."""
SURE, OF = 19, 20
"""She is nearly sure of what has a chance of 19 in 20: 95%."""
_LAST = np.int64(1) << 62


class _Records(NamedTuple):
    """Records by rising value."""

    codes: CodesByAttribute
    """Per attribute, the code of each."""
    values: Integers
    """Per record, what is known inexactly."""
    secrets: Codes
    """Per record, its secret."""
    weights: Integers
    """Per record, what it weighs; not used where values are known by windows."""


class _Way(NamedTuple):
    """How values are known."""

    width: int
    """How many numbers a window has; not used where a value may be mistaken."""
    right: int
    """The weight of the right value."""
    wrong: int
    """That of each other one."""
    domain: int
    """How many values there are; 0: they are known by windows."""
    unit: int
    """How many units every record has."""


class _Tallies(NamedTuple):
    """What is counted of one class; zeros in between."""

    counts: Integers
    """Per secret, its records, or their weight."""
    here: Integers
    """Per secret, the weight of those with one value."""
    having: Integers
    """Per count, how many secrets have it."""


class _Cells(NamedTuple):
    """Where sums are added up: three of the secret and three of naming, per pair of a set and free attributes."""

    sums: Integers
    """Per pair, the sums."""
    ones: Integers
    """The places of the sets (`places_of_sets`)."""
    of_class: Integers
    """Those of one class, while they are added up."""
    is_open: Flags
    """Per level, whether something of the secret, and of naming, is not certain yet."""


@lean_called
def _slid(
    rows: Rows,
    begin: Integer,
    end: Integer,
    values: Column,
    secrets: Column,
    counts: Column,
    having: Column,
    width: Integer,
    sums: Integers,
) -> None:
    """Add up a class whose values are known by windows: the runs of centres between which nothing comes or goes.

    `counts` (per secret) and `having` (per count, of how many secrets) hold zeros before and after.
    """
    low, high, top, kinds = begin, begin, 0, 0
    # the first that the record's own window reaches, by its last place
    centre = values[rows[begin]]
    while low < end:
        while high < end and values[rows[high]] <= centre:
            secret = secrets[rows[high]]
            before = counts[secret]
            having[before] -= 1
            having[before + 1] += 1
            counts[secret] = before + 1
            if before == 0:
                kinds += 1
            top = max(top, before + 1)
            high += 1
        while low < high and values[rows[low]] + width <= centre:
            secret = secrets[rows[low]]
            before = counts[secret]
            having[before] -= 1
            having[before - 1] += 1
            counts[secret] = before - 1
            if before == 1:
                kinds -= 1
            if before == top and having[top] == 0:
                top -= 1
            low += 1
        if low == end:
            break
        following = values[rows[high]] if high < end else _LAST
        if low < high:
            following = min(following, values[rows[low]] + width)
            run, held = following - centre, high - low
            sums[GUESS] += top * run
            if kinds == 1:
                sums[CERTAIN] += held * run
            if OF * top >= SURE * held:
                sums[NEARLY] += held * run
        centre = following
    having[0] = 0


@lean_called
def _named_by_window(
    rows: Rows, begin: Integer, end: Integer, values: Column, width: Integer, sums: Column
) -> None:
    """Add up who is named in a class whose values are known by windows: nearly sure is certain here."""
    below = width
    for place in range(begin, end):
        above = width
        if place + 1 < end:
            above = min(width, values[rows[place + 1]] - values[rows[place]])
        sums[GUESS] += above
        alone = max(0, below + above - width)
        sums[CERTAIN] += alone
        sums[NEARLY] += alone
        below = above


@lean_called
def _mistaken(
    rows: Rows,
    begin: Integer,
    end: Integer,
    values: Column,
    secrets: Column,
    weights: Column,
    counts: Column,
    here: Column,
    right: Integer,
    wrong: Integer,
    domain: Integer,
    sums: Integers,
) -> None:
    """Add up a class whose values may be mistaken; `counts` and `here`, per secret, hold zeros before and after."""
    total, top, kinds = 0, 0, 0
    for place in range(begin, end):
        secret, weight = secrets[rows[place]], weights[rows[place]]
        kinds += counts[secret] == 0
        counts[secret] += weight
        total += weight
        top = max(top, counts[secret])
    present, start = 0, begin
    while start < end:
        value, stop, held, kinds_here = values[rows[start]], start, 0, 0
        while stop < end and values[rows[stop]] == value:
            secret, weight = secrets[rows[stop]], weights[rows[stop]]
            kinds_here += here[secret] == 0
            here[secret] += weight
            held += weight
            stop += 1
        best = wrong * top
        for place in range(start, stop):
            secret = secrets[rows[place]]
            best = max(best, wrong * counts[secret] + (right - wrong) * here[secret])
        for place in range(start, stop):
            here[secrets[rows[place]]] = 0
        seen = wrong * total + (right - wrong) * held
        sums[GUESS] += best
        if kinds == 1 or (wrong == 0 and kinds_here == 1):
            sums[CERTAIN] += seen
        if OF * best >= SURE * seen:
            sums[NEARLY] += seen
        present += 1
        start = stop
    absent = (domain - present) * wrong
    sums[GUESS] += absent * top
    if kinds == 1:
        sums[CERTAIN] += absent * total
    if OF * top >= SURE * total:
        sums[NEARLY] += absent * total
    for place in range(begin, end):
        counts[secrets[rows[place]]] = 0


@lean_called
def _named_by_mistakes(
    rows: Rows,
    begin: Integer,
    end: Integer,
    values: Integers,
    right: Integer,
    wrong: Integer,
    domain: Integer,
    sums: Integers,
) -> None:
    """Add up who is named in a class whose values may be mistaken, every record weighing one."""
    total, present, start = end - begin, 0, begin
    while start < end:
        value, stop = values[rows[start]], start + 1
        while stop < end and values[rows[stop]] == value:
            stop += 1
        seen = wrong * total + (right - wrong) * (stop - start)
        sums[GUESS] += right
        if total == 1 or (wrong == 0 and stop - start == 1):
            sums[CERTAIN] += seen
        if OF * right >= SURE * seen:
            sums[NEARLY] += seen
        present += 1
        start = stop
    absent = (domain - present) * wrong
    sums[GUESS] += absent
    if total == 1:
        sums[CERTAIN] += absent
        sums[NEARLY] += absent


@lean_inlined
def _pair(low: Integer, high: Integer, way: _Way) -> tuple[Integer, Integer, Integer]:
    """Return what two records with such values and different secrets lose together: of each of the three sums."""
    if way.domain == 0:
        overlap = max(0, way.width - (high - low))
        return overlap, 2 * overlap, 2 * overlap
    if low == high:
        return way.unit, 2 * way.unit, 2 * way.unit
    certain = 2 * way.unit if way.wrong > 0 else 0
    both = way.right + way.wrong
    nearly = 2 * (way.unit - both) if OF * way.right >= SURE * both else 2 * way.unit
    return way.domain * way.wrong, certain, nearly


@compiled
def by_window(
    rows: NDArray[np.int32],
    starts: Integers,
    values: Integers,
    secrets: NDArray[np.int32],
    width: int,
) -> Integers:
    """Return the three sums over classes, whose records come one class after another, each by rising value."""
    sums = np.zeros(3, np.int64)
    counts = np.zeros(secrets.max() + 1, np.int64)
    having = np.zeros(len(rows) + 2, np.int64)
    for place in range(len(starts) - 1):
        _slid(rows, starts[place], starts[place + 1], values, secrets, counts, having, width, sums)
    return sums


@compiled
def by_mistake(
    rows: NDArray[np.int32],
    starts: Integers,
    values: Integers,
    secrets: NDArray[np.int32],
    weights: Integers,
    times: Integers,
    right: int,
    wrong: int,
    domain: int,
) -> Integers:
    """Return the three sums over classes, of which each counts so many times; its records come by value."""
    sums, of_class = np.zeros(3, np.int64), np.zeros(3, np.int64)
    counts = np.zeros(secrets.max() + 1, np.int64)
    here = np.zeros(secrets.max() + 1, np.int64)
    for place in range(len(starts) - 1):
        begin, end = starts[place], starts[place + 1]
        of_class[:] = 0
        _mistaken(
            *(rows, begin, end, values, secrets, weights, counts, here, right, wrong, domain),
            of_class,
        )
        sums += of_class * times[place]
    return sums


@compiled
def by_subset(
    codes: NDArray[np.uint16 | np.uint32],
    cardinalities: Integers,
    values: Integers,
    secrets: Codes,
    width: int,
    right: int,
    wrong: int,
    domain: int,
    naming: bool,
) -> Integers:
    """Return the sums of every subset of the attributes that are known exactly, beside the one that is not.

    Args:
        codes: Per record, by rising value, its code in each column: bit i of a subset is column i.
        cardinalities: The number of codes of each column.
        values: Per record, what is known inexactly.
        secrets: Per record, its secret.
        width: How many numbers a window has; not used where a value may be mistaken.
        right: The weight of the right value.
        wrong: That of each other one.
        domain: How many values there are; 0: they are known by windows.
        naming: Whether the sums of naming the record are wanted, too; else they are zeros.

    Returns:
        Three sums of the secret and three of naming, by subset.
    """
    records, attributes = codes.shape
    unit = width if domain == 0 else right + (domain - 1) * wrong
    kinds = secrets.max() + 1
    is_open = np.ones((attributes + 1, 2), np.bool_)
    is_open[0, 1] = naming
    cells = _Cells(
        np.zeros((3**attributes, 6), np.int64),
        places_of_sets(attributes),
        np.zeros(6, np.int64),
        is_open,
    )
    _walk_classes(
        _Records(codes.T, values, secrets, np.ones(records if domain > 0 else 1, np.int64)),
        cardinalities,
        _Way(width, right, wrong, domain, unit),
        _Tallies(
            np.zeros(kinds, np.int64), np.zeros(kinds, np.int64), np.zeros(records + 2, np.int64)
        ),
        room_for_classes(records, cardinalities),
        cells,
    )
    outcome: Integers = spread_over_sets(cells.sums, cells.ones)
    return outcome


@lean_inlined
def _walk_classes(
    records: _Records, cardinalities: Integers, way: _Way, tallies: _Tallies, classes: Classes,
    cells: _Cells,
) -> None:  # fmt: skip
    """Go over all classes, and add each up."""
    level, is_new = 0, True
    while level >= 0:
        if is_new:
            enter_class(records.codes, classes, level)
            _add_class(records, way, tallies, classes, level, cells)
        start, stop = next_part(records.codes, cardinalities, classes, level)
        is_new = stop - start > 3
        if start == stop:
            level -= 1
        elif is_new:
            step_down(classes, level, start, stop)
            for aim in range(2):
                cells.is_open[level + 1, aim] = cells.is_open[level, aim]
            level += 1
        else:
            _settle_few(records, way, tallies, classes, level, start, stop, cells)


@lean_inlined
def _add_up(
    rows: Rows, begin: Integer, end: Integer, records: _Records, way: _Way, tallies: _Tallies,
    of_secret: Any, of_naming: Any, sums: Integers,
) -> None:  # fmt: skip
    """Add up what a class gives away of the secret, of naming, or of both."""
    values, secrets = records.values, records.secrets
    if of_secret and way.domain == 0:
        _slid(
            *(rows, begin, end, values, secrets, tallies.counts, tallies.having, way.width),
            sums[:3],
        )
    elif of_secret:
        _mistaken(
            *(rows, begin, end, values, secrets, records.weights, tallies.counts, tallies.here),
            *(way.right, way.wrong, way.domain, sums[:3]),
        )
    if of_naming and way.domain == 0:
        _named_by_window(rows, begin, end, values, way.width, sums[3:])
    elif of_naming:
        _named_by_mistakes(rows, begin, end, values, way.right, way.wrong, way.domain, sums[3:])


@lean_inlined
def _add_class(
    records: _Records, way: _Way, tallies: _Tallies, classes: Classes, level: Integer, cells: _Cells
) -> None:
    """Add up a class: what is certain in it, for all sets that extend its own."""
    mask, free, rest = classes.masks[level], classes.frees[level], classes.rests[level]
    begin, end, is_open = classes.begins[level], classes.ends[level], cells.is_open[level]
    now = cells.ones[mask] + 2 * cells.ones[free]
    later = cells.ones[mask] + 2 * cells.ones[free | rest]
    sums = cells.of_class
    sums[:] = 0
    _add_up(
        *(classes.rows[level], begin, end, records, way, tallies, is_open[0], is_open[1], sums),
    )
    for aim in range(2):
        if is_open[aim]:
            is_open[aim] = sums[3 * aim + CERTAIN] < (end - begin) * way.unit
            cell = cells.sums[now if is_open[aim] else later]
            for kind in range(3 * aim, 3 * aim + 3):
                cell[kind] += sums[kind]
    if not is_open[0] and not is_open[1]:
        classes.rests[level] = 0


@lean_inlined
def _settle_few(
    records: _Records, way: _Way, tallies: _Tallies, classes: Classes, level: Integer,
    start: Integer, stop: Integer, cells: _Cells,
) -> None:  # fmt: skip
    """Add up a part of one, two or three records for its set and all that extend it."""
    mask, free, rest = attributes_of_part(classes, level)
    of_secret, of_naming = cells.is_open[level, 0], cells.is_open[level, 1]
    origin = cells.ones[mask] + 2 * cells.ones[free]
    later = cells.sums[origin + 2 * cells.ones[rest]]
    for kind in range(3):
        later[kind] += of_secret * (stop - start) * way.unit
        later[3 + kind] += of_naming * (stop - start) * way.unit
    if stop - start == 1:
        return
    divided, lost = classes.rows[level + 1], cells.of_class
    together = _lose_pairs(
        records, way, divided[start:stop], rest, of_secret, of_naming, origin, cells
    )
    if stop - start < 3:
        return
    # what three have together beyond what their pairs take away
    of_secret, of_naming = lost[CERTAIN] > 0, lost[3 + CERTAIN] > 0
    _add_up(divided, start, stop, records, way, tallies, of_secret, of_naming, lost)
    every = cells.sums[origin + 2 * cells.ones[together]]
    for kind in range(3):
        every[kind] += of_secret * (lost[kind] - 3 * way.unit)
        every[3 + kind] += of_naming * (lost[3 + kind] - 3 * way.unit)


@lean_inlined
def _lose_pairs(
    records: _Records, way: _Way, few: Rows, rest: Integer, of_secret: Any, of_naming: Any,
    origin: Integer, cells: _Cells,
) -> Integer:  # fmt: skip
    """Take away what pairs of few records lose in the sets in which they agree; return where all of them do.

    What all pairs lose together is left in the sums of one class.
    """
    together, lost = rest, cells.of_class
    lost[:] = 0
    for one in range(len(few)):
        for other in range(one + 1, len(few)):
            low, high = few[one], few[other]
            alike = agreement(records.codes, low, high, rest)
            together &= alike
            losses = _pair(records.values[low], records.values[high], way)
            if losses[CERTAIN] == 0:
                continue
            both = cells.sums[origin + 2 * cells.ones[alike]]
            differ = of_secret and records.secrets[low] != records.secrets[high]
            for kind in range(3):
                if differ:
                    both[kind] -= losses[kind]
                    lost[kind] += losses[kind]
                if of_naming:
                    both[3 + kind] -= losses[kind]
                    lost[3 + kind] += losses[kind]
    return together


@compiled
def spread(
    rows: NDArray[np.int32], starts: Integers, values: Integers, domain: int
) -> tuple[NDArray[np.int32], Integers, Integers, Integers]:
    """Return classes once for every value that the adversary may hold and a record has, and once for all others.

    Args:
        rows: The records of one class after another.
        starts: Where each begins.
        values: Per record, the value that may be mistaken.
        domain: How many values there are.

    Returns:
        Per entry, the place of its record in `rows`; where each class of entries begins; the value that is held there,
        -1 for all that no record of the class has; and how many values that are.
    """
    size, number = 0, 0
    seen = np.full(values.max() + 1, -1, np.int64)
    for place in range(len(starts) - 1):
        present = 0
        for entry in range(starts[place], starts[place + 1]):
            if seen[values[rows[entry]]] != place:
                seen[values[rows[entry]]] = place
                present += 1
        copies = present + (domain > present)
        size += copies * (starts[place + 1] - starts[place])
        number += copies
    entries, begins = np.empty(size, np.int32), np.empty(number + 1, np.int64)
    held, times = np.empty(number, np.int64), np.empty(number, np.int64)
    seen[:] = -1
    size, number = 0, 0
    for place in range(len(starts) - 1):
        present = 0
        for entry in range(starts[place], starts[place + 1] + 1):
            if entry < starts[place + 1]:
                value = values[rows[entry]]
                if seen[value] == place:
                    continue
                seen[value] = place
                present += 1
                held[number], times[number] = value, 1
            else:
                if domain == present:
                    continue
                held[number], times[number] = -1, domain - present
            begins[number] = size
            number += 1
            for other in range(starts[place], starts[place + 1]):
                entries[size] = other
                size += 1
    begins[number] = size
    return entries, begins, held, times
