"""The instance as the solver sees it: kinds of equal packages, and linear windows over whole numbers.

Packages with the same measures are of one *kind*; an allocation says how many of each kind go into each bin, and stands
for as many allocations of packages as there are ways to tell them apart. A window that widens with the number of
packages in the bin, low − h c ≤ S ≤ high + h c, is two linear ones for c ≥ 1:

    Σ (w + h) ≥ low      and      Σ (w − h) ≤ high

An empty bin has the slack of one package; where that makes a difference (*spared* bins), it is decided apart.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import gcd

import numpy as np
from numpy.typing import NDArray

from glasshouse.totals.instance import Instance, Integers


@dataclass(frozen=True, eq=False)
class System:
    """Kinds of packages to be divided among bins, with linear windows."""

    weights: Integers
    """Per kind and row (a linear form of the measures), its weight."""
    copies: Integers
    """Per kind, how many packages of it there are."""
    low: Integers
    """Per bin and row, the least sum."""
    high: Integers
    """Per bin and row, the greatest sum."""
    spared: NDArray[np.bool_]
    """Per bin, whether it may be empty although its windows do not hold 0."""
    most: Integers
    """Per kind and bin, how many packages of the kind can be in the bin."""

    @property
    def kinds(self) -> int:
        """The number of kinds."""
        return len(self.copies)

    @property
    def bins(self) -> int:
        """The number of bins."""
        return len(self.low)

    @property
    def rows(self) -> int:
        """The number of linear forms."""
        return int(self.weights.shape[1])


@dataclass(frozen=True, eq=False)
class Part:
    """Kinds and bins of a system that have nothing to do with the others, less what is settled."""

    system: System
    """What is open in it; nothing is settled."""
    kinds: NDArray[np.int64]
    """Which kinds of the whole system."""
    bins: NDArray[np.int64]
    """Which bins of the whole system."""
    settled: Integers
    """Per kind and bin of the part, how many packages are settled there and are no longer in the system."""


def system_of(instance: Instance) -> tuple[System, NDArray[np.int64]]:
    """Return the system of an instance, and the kind of each package."""
    kinds, kind_of, copies = np.unique(
        instance.packages, axis=0, return_inverse=True, return_counts=True
    )
    weights, low, high = _rows(instance, kinds)
    low, high = _within_the_whole(weights, copies, low, high, spared := _spared(instance))
    system = System(
        weights=np.ascontiguousarray(weights),
        copies=copies.astype(np.int64),
        low=np.ascontiguousarray(low),
        high=np.ascontiguousarray(high),
        spared=spared,
        most=np.repeat(copies.astype(np.int64)[:, None], len(low), axis=1),
    )
    return system, kind_of.reshape(-1).astype(np.int64)


def parts_of(system: System, least: Integers, most: Integers) -> list[Part] | None:
    """Divide what is still open into parts that share neither kinds nor bins; None: a settled bin is not met."""
    base = least.T @ system.weights
    open_pairs = most > least
    for bin_ in np.flatnonzero(~open_pairs.any(axis=0)):
        inside = (base[bin_] >= system.low[bin_]) & (base[bin_] <= system.high[bin_])
        if not (inside.all() or (system.spared[bin_] and not least[:, bin_].any())):
            return None
    parts = []
    for kinds, bins in _components(open_pairs):
        pairs = np.ix_(kinds, bins)
        parts.append(
            Part(
                system=System(
                    weights=np.ascontiguousarray(system.weights[kinds]),
                    copies=system.copies[kinds] - least[kinds].sum(axis=1),
                    low=system.low[bins] - base[bins],
                    high=system.high[bins] - base[bins],
                    spared=system.spared[bins] & ~least[:, bins].any(axis=0),
                    most=np.ascontiguousarray((most - least)[pairs]),
                ),
                kinds=kinds,
                bins=bins,
                settled=least[pairs],
            )
        )
    return parts


def _rows(instance: Instance, kinds: Integers) -> tuple[Integers, Integers, Integers]:
    """Return the weights of the kinds and the windows of the bins, row by row; equal rows are met together."""
    rows: dict[bytes, tuple[Integers, Integers, Integers]] = {}
    count = len(instance.packages)
    for column in range(instance.packages.shape[1]):
        weight, slack = kinds[:, column], int(instance.halfwidth[column])
        low, high = instance.low[:, column], instance.high[:, column]
        # The end that a row leaves open is bounded by the other row: the slack is at most that of all packages.
        spread = 2 * slack * count
        for each, least, most in (
            [(weight + slack, low, high + spread), (weight - slack, low - spread, high)]
            if slack
            else [(weight, low, high)]
        ):
            step = gcd(*each.tolist()) or 1
            each, least, most = each // step, -(-least // step), most // step
            key = each.tobytes()
            if key in rows:
                least, most = np.maximum(least, rows[key][1]), np.minimum(most, rows[key][2])
            rows[key] = each, least, most
    table = list(zip(*rows.values(), strict=True))
    weights, low, high = (np.stack(each, axis=1).astype(np.int64) for each in table)
    return weights, low, high


def _spared(instance: Instance) -> NDArray[np.bool_]:
    slack = instance.halfwidth
    empty = ((instance.low - slack <= 0) & (instance.high + slack >= 0)).all(axis=1)
    inside = ((instance.low <= 0) & (instance.high >= 0)).all(axis=1)
    return np.asarray(empty & ~inside)


def _within_the_whole(
    weights: Integers,
    copies: NDArray[np.integer],
    low: Integers,
    high: Integers,
    spared: NDArray[np.bool_],
) -> tuple[Integers, Integers]:
    """Narrow the windows: what one bin holds is what the others leave of the whole."""
    whole = copies.astype(np.int64) @ weights
    least = np.where(spared[:, None], np.minimum(low, 0), low)
    most = np.where(spared[:, None], np.maximum(high, 0), high)
    return (
        np.maximum(low, whole - (most.sum(axis=0) - most)),
        np.minimum(high, whole - (least.sum(axis=0) - least)),
    )


def _components(pairs: NDArray[np.bool_]) -> list[tuple[NDArray[np.int64], NDArray[np.int64]]]:
    """Return the connected components of kinds and bins, in the order of their first kind."""
    todo = pairs.any(axis=1)
    found = []
    while todo.any():
        kinds: NDArray[np.bool_] = np.zeros(len(pairs), bool)
        kinds[np.argmax(todo)] = True
        while True:
            bins = np.asarray(pairs[kinds].any(axis=0))
            more = np.asarray(pairs[:, bins].any(axis=1))
            if (more == kinds).all():
                break
            kinds = more
        todo &= ~kinds
        found.append((np.flatnonzero(kinds), np.flatnonzero(bins)))
    return found
