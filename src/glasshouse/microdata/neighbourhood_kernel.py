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


@inlined
def _agree(keys: Keys, row: int, other: int, visible: Keys, first: int, second: int) -> bool:
    """Tell whether two rows of two patterns are alike on what both tell."""
    difference = np.uint64(0)
    for word in range(keys.shape[1]):
        told = visible[first, word] & visible[second, word]
        difference |= (keys[row, word] ^ keys[other, word]) & told
    return not difference


@called
def _pair_up(agreeing: NDArray[np.bool_], mates: Integers, via: Integers, queue: Integers) -> bool:
    """Tell whether the members of two groups can be paired so that each pair agrees; by augmenting paths."""
    members = agreeing.shape[0]
    owners, own = mates[0], mates[1]
    owners[:], own[:] = -1, -1
    for start in range(members):
        via[:] = -1
        queue[0], begin, end, found = start, 0, 1, -1
        while begin < end and found < 0:
            member = queue[begin]
            begin += 1
            for other in range(members):
                if not agreeing[member, other] or via[other] >= 0:
                    continue
                via[other] = member
                if owners[other] < 0:
                    found = other
                    break
                queue[end] = owners[other]
                end += 1
        if found < 0:
            return False
        while True:
            member = via[found]
            before = own[member]
            owners[found], own[member] = member, found
            if member == start:
                break
            found = before
    return True


@compiled
def agreeing_groups(
    keys: Keys,
    starts: Integers,
    visible: Keys,
    groups: Integers,
    counts: Integers,
    is_whole: NDArray[np.bool_],
    anchors: Integers,
    anchored: Integers,
    firsts: Integers,
    holding: Integers,
    most_visits: int,
    alike: Integers,
) -> int:
    """Count, for every kind of group, the groups whose members can be paired with its own so that each pair agrees.

    A member of a group is paired with one that agrees with it, so that only groups that hold such a one are looked at.

    Args:
        keys: What the rows say, pattern by pattern.
        starts: Where the rows of each pattern begin; one more entry closes the last.
        visible: Per pattern, the bits of what it tells.
        groups: Per kind, the rows of its members.
        counts: Per kind, how many groups are of it.
        is_whole: Per kind, whether its members tell all that any row does, so that two such kinds differ.
        anchors: Per row, where in `anchored` the kinds begin that are looked up by it; one more entry closes the last.
        anchored: The kinds by the row that they are looked up by, one of their members.
        firsts: Per row, where in `holding` the kinds begin that hold it; one more entry closes the last.
        holding: The kinds by the rows that they hold, each once.
        most_visits: When more groups are to be looked at than this, it is given up.
        alike: Takes, per kind, the number of groups, its own included.

    Returns:
        How many groups were looked at; -1 if it was given up.
    """
    rows, patterns, members = keys.shape[0], starts.size - 1, groups.shape[1]
    owners = np.empty(4 * rows + 2 * patterns, np.int64)
    totals = np.empty(4 * rows + 2 * patterns, np.int64)
    heads = np.empty(4 * rows + 2 * patterns, np.int64)
    following, near = np.empty(rows, np.int64), np.empty(rows, np.int64)
    begins, rooms = np.empty(patterns, np.int64), np.empty(patterns, np.int64)
    pattern_of, weights = np.empty(rows, np.int64), np.ones(rows, np.int64)
    for pattern in range(patterns):
        pattern_of[starts[pattern] : starts[pattern + 1]] = pattern
    looked_at = np.full(counts.size, -1, np.int64)
    fits = np.empty((members, members), np.bool_)
    mates, via = np.empty((2, members), np.int64), np.empty(members, np.int64)
    queue = np.empty(members + 1, np.int64)
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
            if anchors[row] == anchors[row + 1]:
                continue
            near[0], found = row, 1
            for other in range(patterns):
                if not rooms[other]:
                    continue
                slot = _slot(
                    keys, row, visible, pattern, other, owners, begins[other], rooms[other]
                )
                one = heads[slot] if owners[slot] >= 0 else -1
                while one >= 0:
                    near[found] = one
                    found += 1
                    one = following[one]
            for entry in range(anchors[row], anchors[row + 1]):
                kind = anchored[entry]
                alike[kind] = counts[kind]
                looked_at[kind] = kind
                for one in range(found):
                    for place in range(firsts[near[one]], firsts[near[one] + 1]):
                        other_kind = holding[place]
                        visits += 1
                        if looked_at[other_kind] == kind:
                            continue
                        looked_at[other_kind] = kind
                        if is_whole[kind] and is_whole[other_kind]:
                            continue
                        possible = True
                        for first in range(members):
                            mine, some = groups[kind, first], False
                            for second in range(members):
                                theirs = groups[other_kind, second]
                                fits[first, second] = _agree(
                                    keys,
                                    mine,
                                    theirs,
                                    visible,
                                    pattern_of[mine],
                                    pattern_of[theirs],
                                )
                                some |= fits[first, second]
                            if not some:
                                possible = False
                                break
                        if possible and _pair_up(fits, mates, via, queue):
                            alike[kind] += counts[other_kind]
                if visits > most_visits:
                    return -1
    return visits
