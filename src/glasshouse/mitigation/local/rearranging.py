"""Takes near groups apart and puts them together anew, where that loses no more."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray

from glasshouse.arrays import Floats, Integers, Words
from glasshouse.mitigation.local.checks import (
    MET,
    NO_GAIN,
    TOO_SMALL,
    Tally,
    clear,
    count,
    helps,
    new_tally,
    unmet,
)
from glasshouse.mitigation.local.forest import Forest, joint_cost, widen
from glasshouse.mitigation.local.merging import Given

_TRIES = 16
"""How often a group is rearranged per pass, until something changes."""
_NEIGHBOURS = 16
"""A group is rearranged together with some of its so many nearest."""
_POOLED = 8
"""Together with at most so many."""
_ROOM = 640
"""So many units a pool holds at most."""


class _Block(NamedTuple):
    """Groups that are rearranged: lists of units."""

    heads: Integers
    """Per group, its first unit; −1: it has none."""
    nexts: Integers
    """Per unit, the next of its group; −1 after the last."""
    sizes: Integers
    """Per group, its records."""
    costs: Floats
    """Per group, what each of its records loses."""
    regions: NDArray[np.int32]
    """Per group (row) and attribute, the label that it is released by."""
    used: Integers
    """One number: how many groups there are, empty ones included."""


class _Pool(NamedTuple):
    """Units of groups that were taken apart, to be put together as clusters."""

    units: Integers
    """The units."""
    clusters: Integers
    """Per place in the pool, the cluster of that unit."""
    loose: Integers
    """Places of units that are in no cluster yet."""
    regions: NDArray[np.int32]
    """Per cluster (row) and attribute, its label."""
    sizes: Integers
    """Per cluster, its records."""
    costs: Floats
    """Per cluster, what each of its records loses."""
    tally: Tally
    """Room to count sensitive values."""
    random: Words
    """The state of chance."""


@njit(cache=True, nogil=True)  # type: ignore[untyped-decorator]
def rearrange(given: Given, seed: int, work: float) -> tuple[Integers, float]:
    """Take groups apart with some of the nearest and put them together anew, where that loses no more.

    Args:
        given: The labels, criteria and units.
        seed: Where chance begins.
        work: When the squares of the units in all pools add up to more, the rest is left as it is.

    Returns:
        Per unit the number of its group, and how much work was done.
    """
    block, pool = _new_block(given), _new_pool(given, seed)
    near = np.empty(_NEIGHBOURS, np.int64)
    chosen = np.empty(_POOLED + 1, np.int64)
    done = 0.0
    for _ in range(given.starts.size - 1):
        chosen[0] = _below(pool.random, block.used[0])
        if block.sizes[chosen[0]] == 0 or block.costs[chosen[0]] == 0.0 or done > work:
            continue
        known = _nearest(given.forest, block, chosen[0], near)
        for _ in range(_TRIES):
            taken, units = _take_apart(block, near[:known], chosen, pool)
            done += float(units) * units
            lost = 0.0
            for i in range(taken):
                lost += block.sizes[chosen[i]] * block.costs[chosen[i]]
            clusters = _put_together(given, pool, units, lost)
            if clusters > 0 and _write_back(block, pool, units, clusters, chosen[:taken]):
                break
    numbers = np.empty(given.weights.size, np.int64)
    for group in range(block.used[0]):
        unit = block.heads[group]
        while unit >= 0:
            numbers[unit] = group
            unit = block.nexts[unit]
    return numbers, done


@njit(cache=True, nogil=True)  # type: ignore[untyped-decorator]
def _new_block(given: Given) -> _Block:
    groups = given.starts.size - 1
    room = 2 * groups + _ROOM
    block = _Block(
        np.full(room, -1, np.int64),
        np.empty(given.weights.size, np.int64),
        np.zeros(room, np.int64),
        np.zeros(room),
        np.zeros((room, given.leaves.shape[1]), np.int32),
        np.array([groups]),
    )
    for group in range(groups):
        block.regions[group] = given.leaves[given.starts[group]]
        for unit in range(given.starts[group], given.starts[group + 1]):
            block.costs[group] = widen(given.forest, block.regions[group], given.leaves[unit])
            block.sizes[group] += given.weights[unit]
            block.nexts[unit], block.heads[group] = block.heads[group], unit
    return block


@njit(cache=True, nogil=True)  # type: ignore[untyped-decorator]
def _new_pool(given: Given, seed: int) -> _Pool:
    return _Pool(
        np.empty(_ROOM, np.int64),
        np.empty(_ROOM, np.int64),
        np.empty(_ROOM, np.int64),
        np.empty((_ROOM, given.leaves.shape[1]), np.int32),
        np.empty(_ROOM, np.int64),
        np.empty(_ROOM),
        new_tally(given.checks),
        np.array([seed], np.uint64),
    )


@njit(cache=True, nogil=True)  # type: ignore[untyped-decorator]
def _nearest(forest: Forest, block: _Block, own: int, near: Integers) -> int:
    """Write down the groups that lose least together with a group, the nearest first; return how many they are."""
    distances = np.empty(near.size)
    known = 0
    for group in range(block.used[0]):
        limit = distances[known - 1] if known == near.size else np.inf
        distance = joint_cost(forest, block.regions[own], block.regions[group], limit)
        if group != own and block.sizes[group] > 0 and distance < limit:
            place = min(known, near.size - 1)
            while place > 0 and distances[place - 1] > distance:
                distances[place], near[place] = distances[place - 1], near[place - 1]
                place -= 1
            distances[place], near[place] = distance, group
            known = min(known + 1, near.size)
    return known


@njit(cache=True, nogil=True)  # type: ignore[untyped-decorator]
def _take_apart(block: _Block, near: Integers, chosen: Integers, pool: _Pool) -> tuple[int, int]:
    """Put the first chosen group and some of the nearest, rather near ones than far, into a pool.

    Returns:
        How many groups and units are in it. Those that find no room are left out; it is empty if the first does.
    """
    taken, units = 0, 0
    for _ in range(2 + _below(pool.random, chosen.size - 1)):
        group = chosen[0]
        if taken > 0 and near.size > 0:
            group = near[int(near.size * _chance(pool.random) ** 2)]
        fresh = taken == 0
        for i in range(taken):
            fresh = chosen[i] != group
            if not fresh:
                break
        end, unit = units, block.heads[group]
        while fresh and unit >= 0 and end < _ROOM:
            pool.units[end] = unit
            end += 1
            unit = block.nexts[unit]
        if fresh and unit < 0:
            chosen[taken] = group
            taken, units = taken + 1, end
        elif taken == 0:
            break
    return taken, units


@njit(cache=True, nogil=True)  # type: ignore[untyped-decorator]
def _put_together(given: Given, pool: _Pool, units: int, limit: float) -> int:
    """Form clusters of the units of a pool that meet the criteria and lose no more than a limit.

    A cluster grows around a random unit by that which costs least, until it meets the criteria. Units that are left
    over join the cluster where they cost least.

    Returns:
        How many clusters there are; 0: such ones were not found.
    """
    loose, clusters = units, 0
    for i in range(units):
        pool.loose[i] = i
    while loose > 0:
        loose, failed = _grow(given, pool, clusters, loose)
        if failed == MET:
            clusters += 1
        elif clusters > 0:
            for i in range(units):
                if pool.clusters[i] == clusters:
                    _add(given, pool, _best_cluster(given, pool, clusters, i), i)
    lost = 0.0
    for cluster in range(clusters):
        lost += pool.sizes[cluster] * pool.costs[cluster]
        if given.checks.kinds.size and not _is_met(given, pool, units, cluster):
            return 0
    return clusters if lost <= limit + NO_GAIN else 0


@njit(cache=True, nogil=True)  # type: ignore[untyped-decorator]
def _grow(given: Given, pool: _Pool, cluster: int, loose: int) -> tuple[int, int]:
    """Grow a cluster of loose units; return how many stay loose, and which criterion is not met."""
    place = _below(pool.random, loose)
    pool.sizes[cluster] = 0
    pool.regions[cluster] = given.leaves[pool.units[pool.loose[place]]]
    clear(given.checks, pool.tally)
    failed = TOO_SMALL
    while place >= 0:
        i = pool.loose[place]
        loose -= 1
        pool.loose[place] = pool.loose[loose]
        _add(given, pool, cluster, i)
        unit = pool.units[i]
        count(given.checks, pool.tally, given.secrets[unit], given.weights[unit])
        failed = unmet(given.checks, pool.tally, pool.sizes[cluster])
        place = -1
        if failed != MET and loose > 0:
            place = _best_to_add(given, pool, cluster, loose, failed)
    return loose, failed


@njit(cache=True, nogil=True)  # type: ignore[untyped-decorator]
def _best_to_add(given: Given, pool: _Pool, cluster: int, loose: int, failed: int) -> int:
    """Return the place of the loose unit that costs least in a cluster, of those that help if any; ties at random."""
    size = pool.sizes[cluster]
    before = size * pool.costs[cluster]
    best, chosen, ties, helped = np.inf, 0, 0, False
    for place in range(loose):
        unit = pool.units[pool.loose[place]]
        useful = failed >= 0 and helps(given.checks, pool.tally, failed, given.secrets[unit], size)
        if useful and not helped:
            best, helped = np.inf, True
        if useful or not helped:
            together = size + given.weights[unit]
            most = (best + NO_GAIN + before) / together
            cost = joint_cost(given.forest, pool.regions[cluster], given.leaves[unit], most)
            delta = together * cost - before
            if delta < best - NO_GAIN:
                best, chosen, ties = delta, place, 1
            elif delta <= best + NO_GAIN:
                ties += 1
                if _below(pool.random, ties) == 0:
                    chosen = place
    return chosen


@njit(cache=True, nogil=True)  # type: ignore[untyped-decorator]
def _add(given: Given, pool: _Pool, cluster: int, i: int) -> None:
    """Add the unit at a place of the pool to a cluster."""
    unit = pool.units[i]
    pool.costs[cluster] = widen(given.forest, pool.regions[cluster], given.leaves[unit])
    pool.sizes[cluster] += given.weights[unit]
    pool.clusters[i] = cluster


@njit(cache=True, nogil=True)  # type: ignore[untyped-decorator]
def _best_cluster(given: Given, pool: _Pool, clusters: int, i: int) -> int:
    """Return the cluster where a unit costs least."""
    best, target, unit = np.inf, 0, pool.units[i]
    for cluster in range(clusters):
        before = pool.sizes[cluster] * pool.costs[cluster]
        together = pool.sizes[cluster] + given.weights[unit]
        most = (best + before) / together
        cost = joint_cost(given.forest, pool.regions[cluster], given.leaves[unit], most)
        if cost < most:
            best, target = together * cost - before, cluster
    return target


@njit(cache=True, nogil=True)  # type: ignore[untyped-decorator]
def _is_met(given: Given, pool: _Pool, units: int, cluster: int) -> bool:
    """Tell whether a cluster meets the criteria."""
    clear(given.checks, pool.tally)
    for i in range(units):
        if pool.clusters[i] == cluster:
            unit = pool.units[i]
            count(given.checks, pool.tally, given.secrets[unit], given.weights[unit])
    return bool(unmet(given.checks, pool.tally, pool.sizes[cluster]) == MET)


@njit(cache=True, nogil=True)  # type: ignore[untyped-decorator]
def _write_back(block: _Block, pool: _Pool, units: int, clusters: int, chosen: Integers) -> bool:
    """Replace the chosen groups by the clusters of a pool, if there is room; groups may become empty."""
    if block.used[0] + clusters > block.heads.size:
        return False
    slots = np.empty(max(clusters, chosen.size), np.int64)
    for i in range(slots.size):
        if i < chosen.size:
            slots[i] = chosen[i]
        else:
            slots[i] = block.used[0]
            block.used[0] += 1
        block.heads[slots[i]], block.sizes[slots[i]] = -1, 0
    for cluster in range(clusters):
        block.sizes[slots[cluster]] = pool.sizes[cluster]
        block.costs[slots[cluster]] = pool.costs[cluster]
        block.regions[slots[cluster]] = pool.regions[cluster]
    for i in range(units):
        slot, unit = slots[pool.clusters[i]], pool.units[i]
        block.nexts[unit], block.heads[slot] = block.heads[slot], unit
    return True


@njit(inline="always")  # type: ignore[untyped-decorator]
def _random(state: Words) -> Any:
    """Return 64 random bits (SplitMix64; Steele, Lea and Flood 2014)."""
    state[0] += np.uint64(0x9E3779B97F4A7C15)
    bits = state[0]
    bits = (bits ^ (bits >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    bits = (bits ^ (bits >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return bits ^ (bits >> np.uint64(31))


@njit(inline="always")  # type: ignore[untyped-decorator]
def _below(state: Words, end: int) -> Any:
    """Return a random number from 0 to below an end, which is far below 2⁶⁴."""
    return np.int64(_random(state) % np.uint64(end))


@njit(inline="always")  # type: ignore[untyped-decorator]
def _chance(state: Words) -> Any:
    """Return a random number from 0 to below 1."""
    return np.float64(_random(state) >> np.uint64(11)) * 2.0**-53
