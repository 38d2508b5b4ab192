"""Merges groups that fail with those where it costs least."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray

from glasshouse.arrays import Flags, Floats, Integers
from glasshouse.mitigation.local.checks import (
    MET,
    NO_GAIN,
    Checks,
    clear,
    count,
    new_tally,
    unmet,
)
from glasshouse.mitigation.local.forest import Forest, joint_cost, widen


class Given(NamedTuple):
    """What the compiled search looks at and does not change: labels, criteria, and units of alike records."""

    forest: Forest
    """The labels of all attributes."""
    checks: Checks
    """The criteria."""
    leaves: NDArray[np.int32]
    """Per unit (row) and attribute, its value."""
    secrets: NDArray[np.uint32]
    """Per unit (row) and sensitive attribute, its value."""
    weights: Integers
    """Per unit, its records."""
    starts: Integers
    """Per group, where its units begin; one more entry closes the last."""


@njit(cache=True, nogil=True)  # type: ignore[untyped-decorator]
def merge(given: Given, regions: NDArray[np.int32], failing: Flags, limit: float) -> Integers:
    """Merge each failing group with that which costs least, the cheapest merger first, until none fails.

    A merger that costs the limit or more is not done. A group that has changed is judged by the checks only.

    Returns:
        Per group, the group that it is in now.
    """
    forest, checks, starts = given.forest, given.checks, given.starts
    number = failing.size
    sizes, costs = np.zeros(number, np.int64), np.zeros(number)
    alive, version = np.ones(number, np.bool_), np.zeros(number, np.int64)
    into, last = np.arange(number), np.arange(number)
    follower = np.full(number, -1, np.int64)
    delta = np.full(number, np.inf)
    partner, seen = np.full(number, -1, np.int64), np.zeros(number, np.int64)
    for g in range(number):
        sizes[g] = given.weights[starts[g] : starts[g + 1]].sum()
        costs[g] = joint_cost(forest, regions[g], regions[g], np.inf)
    for g in range(number):
        if failing[g]:
            delta[g], partner[g] = _cheapest(forest, regions, sizes, costs, alive, g, limit)
    tally = new_tally(checks)
    while True:
        g = int(np.argmin(delta))
        if delta[g] == np.inf:
            break
        other = partner[g]
        if not alive[other] or version[other] != seen[g]:
            expected = delta[g]
            delta[g], other = _cheapest(forest, regions, sizes, costs, alive, g, limit)
            partner[g], seen[g] = other, version[other]
            if delta[g] > expected + NO_GAIN:
                continue
        costs[g] = widen(forest, regions[g], regions[other])
        sizes[g] += sizes[other]
        alive[other], delta[other] = False, np.inf
        version[g] += 1
        into[other] = g
        follower[last[g]] = other
        last[g] = last[other]
        clear(checks, tally)
        member = g if checks.kinds.size else -1
        while member >= 0:
            for unit in range(starts[member], starts[member + 1]):
                count(checks, tally, given.secrets[unit], given.weights[unit])
            member = follower[member]
        delta[g] = np.inf
        if unmet(checks, tally, sizes[g]) != MET:
            delta[g], other = _cheapest(forest, regions, sizes, costs, alive, g, limit)
            partner[g], seen[g] = other, version[other]
    for g in range(number):
        while into[into[g]] != into[g]:
            into[g] = into[into[g]]
    return into


@njit(cache=True, nogil=True)  # type: ignore[untyped-decorator]
def _cheapest(
    forest: Forest,
    regions: NDArray[np.int32],
    sizes: Integers,
    costs: Floats,
    alive: Flags,
    g: int,
    limit: float,
) -> tuple[float, int]:
    """Return what it costs to merge a group with that where it costs least, and which that is.

    If none costs less than the limit, the cost is infinite.
    """
    best, partner = limit, -1
    for other in range(alive.size):
        if other != g and alive[other]:
            together = sizes[g] + sizes[other]
            before = sizes[g] * costs[g] + sizes[other] * costs[other]
            most = (best + before) / together
            cost = joint_cost(forest, regions[g], regions[other], most)
            if cost < most:
                best, partner = together * cost - before, other
    return (best if partner >= 0 else np.inf), partner
