"""The compiled loops of neighbourhoods: which records agree where a missing value agrees with every other.

Rows are distinct: what records say, with which of it missing. They stand pattern by pattern, a pattern being the
attributes that are missing. Two rows of one pattern agree only if they are the same; rows of two patterns agree if they
are alike on what both tell. So for every pair of patterns the rows of the smaller one are put into a table by what both
tell, and those of the larger one are looked up in it, which is cheap as the table is small.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from glasshouse.arrays import Integer, Integers
from glasshouse.compiled import called, compiled, inlined

Keys = NDArray[np.uint64]
"""What rows say, packed into 64-bit words: a row each."""


@inlined
def _slot(
    keys: Keys,
    row: int,
    visible: Keys,
    first: int,
    second: int,
    owners: Integers,
    begin: int,
    room: int,
) -> Integer:
    """Return the slot of a table whose owner is like a row on what two patterns tell, or the free one for it."""
    mixed = np.uint64(0)
    for word in range(keys.shape[1]):
        seen = keys[row, word] & visible[first, word] & visible[second, word]
        mixed = (mixed ^ seen) * np.uint64(0x9E3779B97F4A7C15)
        mixed ^= mixed >> np.uint64(29)
    place = np.int64(mixed & np.uint64(room - 1))
    while True:
        owner = owners[begin + place]
        if owner < 0:
            return begin + place
        alike = True
        for word in range(keys.shape[1]):
            difference = keys[row, word] ^ keys[owner, word]
            if difference & visible[first, word] & visible[second, word]:
                alike = False
        if alike:
            return begin + place
        place = (place + 1) & (room - 1)


@called
def _tabled(
    keys: Keys,
    weights: Integers,
    starts: Integers,
    visible: Keys,
    pattern: int,
    other: int,
    begin: int,
    owners: Integers,
    totals: Integers,
    heads: Integers,
    following: Integers,
) -> int:
    """Put the rows of another pattern into a table, by what both tell, and return how many slots it takes.

    Where this pattern has fewer rows, its own make the slots, and those of the other that are like none are left out.
    """
    here, there = starts[pattern + 1] - starts[pattern], starts[other + 1] - starts[other]
    room = 2
    while room < 2 * min(here, there):
        room *= 2
    for place in range(begin, begin + room):
        owners[place], totals[place] = -1, 0
    for place in range(begin, begin + room if heads.size else begin):
        heads[place] = -1
    if here <= there:
        for row in range(starts[pattern], starts[pattern + 1]):
            slot = _slot(keys, row, visible, pattern, other, owners, begin, room)
            if owners[slot] < 0:
                owners[slot] = row
    for row in range(starts[other], starts[other + 1]):
        slot = _slot(keys, row, visible, pattern, other, owners, begin, room)
        if owners[slot] < 0:
            if here <= there:
                continue
            owners[slot] = row
        totals[slot] += weights[row]
        if heads.size:
            following[row] = heads[slot]
            heads[slot] = row
    return room


@called
def _most_frequent(
    row: int,
    slots: Integers,
    heads: Integers,
    following: Integers,
    first: Integers,
    values: Integers,
    counts: Integers,
    tally: Integers,
    present: Integers,
) -> tuple[int, int]:
    """Return how many records of the rows that agree with one have the most frequent value; and how many rows agree."""
    seen, best, visits = 0, 0, 0
    for entry in range(first[row], first[row + 1]):
        tally[values[entry]] = counts[entry]
        present[seen] = values[entry]
        seen += 1
        best = max(best, counts[entry])
    for slot in slots:
        near = heads[slot] if slot >= 0 else -1
        while near >= 0:
            visits += 1
            for entry in range(first[near], first[near + 1]):
                value = values[entry]
                if tally[value] == 0:
                    present[seen] = value
                    seen += 1
                tally[value] += counts[entry]
                best = max(best, tally[value])
            near = following[near]
    for place in range(seen):
        tally[present[place]] = 0
    return best, visits


@compiled
def agreeing(
    keys: Keys,
    weights: Integers,
    starts: Integers,
    visible: Keys,
    firsts: Integers,
    values: Integers,
    counts: Integers,
    cardinality: int,
    most_visits: int,
    sizes: Integers,
    most: Integers,
) -> int:
    """Add up, for every row, the weights of the rows that agree with it; and how many have the most frequent value.

    Args:
        keys: What the rows say, pattern by pattern.
        weights: What each row weighs: how many records it stands for.
        starts: Where the rows of each pattern begin; one more entry closes the last.
        visible: Per pattern, the bits of what it tells.
        firsts: Per secret and row, where its entries begin; one more closes the last. Without secrets, no row.
        values: Per entry, a value of the secret that records of the row have.
        counts: Per entry, how many records of the row have it.
        cardinality: The most values that a secret has.
        most_visits: When more rows are to be visited for the secrets than this, it is given up.
        sizes: Takes the weight of the rows that agree with each, itself included.
        most: Takes, per secret and row, how many records of the rows that agree with it have the most frequent value.

    Returns:
        How many rows were visited for the secrets; -1 if it was given up.
    """
    rows, patterns, secrets = keys.shape[0], starts.size - 1, firsts.shape[0]
    owners = np.empty(4 * rows + 2 * patterns, np.int64)
    totals = np.empty(4 * rows + 2 * patterns, np.int64)
    heads = np.empty(4 * rows + 2 * patterns if secrets else 0, np.int64)
    following = np.empty(rows if secrets else 0, np.int64)
    begins, rooms = np.empty(patterns, np.int64), np.empty(patterns, np.int64)
    slots = np.empty(patterns, np.int64)
    tally, present = np.zeros(cardinality, np.int64), np.empty(cardinality, np.int64)
    visits = 0
    for pattern in range(patterns):
        free = 0
        for other in range(patterns):
            begins[other], rooms[other] = free, 0
            if other != pattern:
                rooms[other] = _tabled(
                    keys, weights, starts, visible, pattern, other, free, owners, totals, heads, following
                )  # fmt: skip
            free += rooms[other]
        for row in range(starts[pattern], starts[pattern + 1]):
            size = weights[row]
            for other in range(patterns):
                slots[other] = -1
                if rooms[other]:
                    slot = _slot(
                        keys, row, visible, pattern, other, owners, begins[other], rooms[other]
                    )
                    if owners[slot] >= 0:
                        size += totals[slot]
                        slots[other] = slot
            sizes[row] = size
            for secret in range(secrets):
                most[secret, row], visited = _most_frequent(
                    row, slots, heads, following, firsts[secret], values, counts, tally, present
                )
                visits += visited
            if visits > most_visits:
                return -1
    return visits
