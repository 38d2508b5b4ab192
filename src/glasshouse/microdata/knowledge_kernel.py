"""The compiled loops for knowledge that is not exact: one class of what is known exactly, and all subsets at once.

What is known inexactly of a record is a *window* around its number, every number in it as likely, or a value that may
be *mistaken*: right with some weight, each other one of a domain with another. Records come by rising value, and
partitions are stable, so that every class of every subset is in order. Of a class, over all that the adversary may
hold, are added up: her best guess at the secret, what is certain, and what is nearly sure; in units, of which every
record has the same number. The walk over the subsets settles in closed form what it can, as that for close guesses
does:

- a class in which everything is certain is so with whatever else is known;
- two or three records count with each other exactly in the sets in which they agree;
- attributes that all records of a class agree in divide it no further.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from glasshouse.arrays import Integer, Integers
from glasshouse.compiled import called, compiled, inlined
from glasshouse.microdata.class_kernel import places_of_sets, spread_over_sets

Rows = NDArray[np.int32]
"""Places of records."""
Column = Any
"""An array of integers, of which one is taken at a time."""
GUESS, CERTAIN, NEARLY = range(3)
"""The rows of what the loops return: of the best guess, of what is certain, and of what is nearly sure."""
SURE, OF = 19, 20
"""She is nearly sure of what has a chance of 19 in 20: 95%."""
_LAST = np.int64(1) << 62


@called
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


@called
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


@called
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


@called
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


@inlined
def _pair(
    low: Integer, high: Integer, width: Integer, right: Integer, wrong: Integer, domain: Integer
) -> tuple[Integer, Integer, Integer]:
    """Return what two records with such values and different secrets lose together: of each of the three sums."""
    if domain == 0:
        overlap = max(0, width - (high - low))
        return overlap, 2 * overlap, 2 * overlap
    unit = right + (domain - 1) * wrong
    if low == high:
        return unit, 2 * unit, 2 * unit
    certain = 2 * unit if wrong > 0 else 0
    nearly = 2 * (unit - right - wrong) if OF * right >= SURE * (right + wrong) else 2 * unit
    return domain * wrong, certain, nearly


@inlined
def _agreement(codes: Any, first: Integer, second: Integer, remaining: Integer) -> Integer:
    """Return those of some attributes in which two records agree."""
    alike = 0
    for attribute in range(codes.shape[1]):
        if (remaining >> attribute) & 1 and codes[first, attribute] == codes[second, attribute]:
            alike |= 1 << attribute
    return alike


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
def by_subset(  # noqa: C901
    codes: NDArray[np.uint16 | np.uint32],
    cardinalities: Integers,
    values: Integers,
    secrets: NDArray[np.int32],
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
    ones = places_of_sets(attributes)
    sums = np.zeros((3**attributes, 6), np.int64)
    rows = np.empty((attributes + 1, records), np.int32)
    rows[0] = np.arange(records)
    weights = np.ones(records if domain > 0 else 1, np.int64)
    tally = np.zeros(secrets.max() + 1, np.int64)
    here = np.zeros(secrets.max() + 1, np.int64)
    having = np.zeros(records + 2, np.int64)
    lists = np.zeros(6, np.int64)
    widest = cardinalities.max() + 1 if attributes > 0 else 1
    counts, met = np.zeros(widest, np.int32), np.empty(widest, np.int32)
    begins, ends = np.zeros(attributes + 1, np.int64), np.zeros(attributes + 1, np.int64)
    parts = np.zeros(attributes + 1, np.int64)
    column_of = np.zeros(attributes + 1, np.int64)
    masks, frees = np.zeros(attributes + 1, np.int64), np.zeros(attributes + 1, np.int64)
    rests = np.zeros(attributes + 1, np.int64)
    secret_open = np.ones(attributes + 1, np.bool_)
    naming_open = np.ones(attributes + 1, np.bool_)
    naming_open[0] = naming
    rests[0] = (1 << attributes) - 1
    ends[0], level, is_new = records, 0, True
    while level >= 0:
        begin, end, mask = begins[level], ends[level], masks[level]
        if is_new:
            is_new = False
            some, first = rows[level], rows[level][begin]
            for attribute in range(attributes):
                if (rests[level] >> attribute) & 1:
                    code, place = codes[first, attribute], begin + 1
                    while place < end and codes[some[place], attribute] == code:
                        place += 1
                    if place == end:
                        rests[level] ^= 1 << attribute
                        frees[level] |= 1 << attribute
            free, rest, everything = frees[level], rests[level], (end - begin) * unit
            now = sums[ones[mask] + 2 * ones[free]]
            later = sums[ones[mask] + 2 * ones[free | rest]]
            lists[:] = 0
            if secret_open[level]:
                if domain == 0:
                    _slid(some, begin, end, values, secrets, tally, having, width, lists[:3])
                else:
                    _mistaken(
                        *(some, begin, end, values, secrets, weights, tally, here),
                        *(right, wrong, domain, lists[:3]),
                    )
                secret_open[level] = lists[CERTAIN] < everything
                chosen = now if secret_open[level] else later
                for kind in range(3):
                    chosen[kind] += lists[kind]
            if naming_open[level]:
                if domain == 0:
                    _named_by_window(some, begin, end, values, width, lists[3:])
                else:
                    _named_by_mistakes(some, begin, end, values, right, wrong, domain, lists[3:])
                naming_open[level] = lists[3 + CERTAIN] < everything
                chosen = now if naming_open[level] else later
                for kind in range(3, 6):
                    chosen[kind] += lists[kind]
            if not secret_open[level] and not naming_open[level]:
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
        of_secret, of_naming = secret_open[level], naming_open[level]
        if stop - start > 3:
            level += 1
            begins[level], ends[level], masks[level] = start, stop, below
            frees[level], rests[level] = free, rest
            secret_open[level], naming_open[level] = of_secret, of_naming
            is_new = True
            continue
        origin = ones[below] + 2 * ones[free]
        later = sums[origin + 2 * ones[rest]]
        for kind in range(3):
            later[kind] += of_secret * (stop - start) * unit
            later[3 + kind] += of_naming * (stop - start) * unit
        together = rest
        lists[:] = 0
        for one in range(start, stop):
            for other in range(one + 1, stop):
                low, high = divided[one], divided[other]
                losses = _pair(values[low], values[high], width, right, wrong, domain)
                if losses[CERTAIN] == 0:
                    together &= _agreement(codes, low, high, rest)
                    continue
                alike = _agreement(codes, low, high, rest)
                together &= alike
                both = sums[origin + 2 * ones[alike]]
                differ = of_secret and secrets[low] != secrets[high]
                for kind in range(3):
                    if differ:
                        both[kind] -= losses[kind]
                        lists[kind] += losses[kind]
                    if of_naming:
                        both[3 + kind] -= losses[kind]
                        lists[3 + kind] += losses[kind]
        if stop - start < 3:
            continue
        # what three have together beyond what their pairs take away
        every = sums[origin + 2 * ones[together]]
        if lists[CERTAIN] > 0:
            if domain == 0:
                _slid(divided, start, stop, values, secrets, tally, having, width, lists[:3])
            else:
                _mistaken(
                    *(divided, start, stop, values, secrets, weights, tally, here),
                    *(right, wrong, domain, lists[:3]),
                )
            for kind in range(3):
                every[kind] += lists[kind] - 3 * unit
        if lists[3 + CERTAIN] > 0:
            if domain == 0:
                _named_by_window(divided, start, stop, values, width, lists[3:])
            else:
                _named_by_mistakes(divided, start, stop, values, right, wrong, domain, lists[3:])
            for kind in range(3, 6):
                every[kind] += lists[kind] - 3 * unit
    outcome: Integers = spread_over_sets(sums, ones)
    return outcome


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
