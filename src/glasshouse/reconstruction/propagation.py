"""How many packages of each kind can be in each bin: bounds, and lists of subsets, to a fixed point.

Bounds alone rule out a package that is larger than what a bin has left. Where the subsets of a bin can be listed, a
kind that is in none of them is ruled out, and one that is in all of them is settled; that shortens the lists of the
other bins, and so on until nothing changes. Every step keeps every valid allocation.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace

import numpy as np

from glasshouse.arrays import Flags, Integers, Words
from glasshouse.compiled import compiled
from glasshouse.reconstruction.subsets import Layout, layout_of, subsets
from glasshouse.reconstruction.system import Budget, ListEffort, Meter, System, SystemPart

_CALL = 6_000
"""What a look at a bin costs before it looks at anything, in units of work."""
_CELL = 2
"""What a pair of a kind and a bin costs in each round of the bounds, for each row and for the numbers themselves."""


@dataclass(eq=False)
class Domains:
    """What is known about a system so far: the numbers of packages that are left for each kind and bin."""

    system: System
    """The kinds and the bins."""
    layout: Layout
    """How subsets are coded."""
    least: Integers
    """Per kind and bin, the least number of packages in any valid allocation."""
    most: Integers
    """Per kind and bin, the greatest number that is not ruled out."""
    lists: list[Words | None]
    """Per bin, all subsets that it can hold; None: it has too many, and is open."""
    hopeless: dict[int, tuple[bytes, float]] = field(default_factory=dict)
    """Per bin whose list was given up, the bounds at that time, and how long the halves would have become."""
    possible: bool = True
    """Whether a valid allocation is not ruled out."""
    looked: int = 0
    """How many units of work the bounds took that are not counted yet."""

    @property
    def open_bins(self) -> list[int]:
        """The bins whose subsets are not listed."""
        return [bin_ for bin_, codes in enumerate(self.lists) if codes is None]


def domains_of(system: System) -> Domains:
    """Return what the bounds alone say."""
    known = Domains(
        system=system,
        layout=layout_of(system.copies),
        least=np.zeros_like(system.most),
        most=system.most.copy(),
        lists=[None] * system.bins,
    )
    _tighten(known)
    return known


def propagate(known: Domains, effort: ListEffort, budget: Budget, meter: Meter) -> None:
    """List the subsets of every bin as far as the effort goes, and draw all conclusions."""
    seen: dict[int, bytes] = {}
    changed = True
    budget.spend(counted_bounds(known))
    while changed and known.possible:
        changed = False
        for bin_ in np.argsort((known.most > known.least).sum(axis=0), kind="stable").tolist():
            if seen.get(bin_) == _bounds(known, bin_):
                continue
            budget.check()
            if _listed(known, bin_, effort, meter):
                changed = True
            # What follows for this very bin from the others is for its next turn.
            seen[bin_] = _bounds(known, bin_)
            possible = known.possible and _tighten(known)
            budget.spend(_CALL + counted_bounds(known))
            if not possible:
                return


def counted_bounds(known: Domains) -> int:
    """Return the units of work that bounds took since this was last asked."""
    looked, known.looked = known.looked, 0
    return looked


def narrowed(known: Domains, part: SystemPart) -> Domains:
    """Return what is known about a part: the lists of the whole, less what is settled."""
    layout = layout_of(part.system.copies)
    lists: list[Words | None] = []
    for bin_, settled in zip(part.bins.tolist(), part.settled.T, strict=True):
        codes = known.lists[bin_]
        if codes is not None:
            codes = layout.codes(known.layout.counts(codes, part.kinds) - settled)
        lists.append(codes)
    least, most = np.zeros_like(part.settled), part.system.most.copy()
    return Domains(part.system, layout, least, most, lists)


def supposing(known: Domains, kind: int, bin_: int) -> Domains:
    """Return what follows from the bounds if a package of the kind is in the bin."""
    least = known.least.copy()
    least[kind, bin_] = max(1, int(least[kind, bin_]))
    supposed = replace(
        known, least=least, most=known.most.copy(), lists=list(known.lists), hopeless={}, looked=0
    )
    _tighten(supposed)
    return supposed


def _bounds(known: Domains, bin_: int) -> bytes:
    return known.least[:, bin_].tobytes() + known.most[:, bin_].tobytes()


def _listed(known: Domains, bin_: int, effort: ListEffort, meter: Meter) -> bool:
    """List or shorten the subsets of a bin, and take over what they have in common; False: it stays open."""
    layout, least, most = known.layout, known.least[:, bin_], known.most[:, bin_]
    codes = known.lists[bin_]
    if codes is None:
        if meter.empty:
            return False
        state = _bounds(known, bin_)
        before, needed = known.hopeless.get(bin_, (b"", 0.0))
        if before == state and needed > effort.longest_half:
            return False
        codes, work, length = subsets(known.system, layout, bin_, least, most, effort)
        meter.spend(work)
        known.hopeless[bin_] = state, length
        if codes is None:
            return False
    else:
        meter.spend(codes.size)
        bounded = np.flatnonzero((least > 0) | (most < known.system.copies))
        codes = layout.within(codes, bounded, least, most)
    known.lists[bin_] = codes
    if not len(codes):
        known.possible = False
        return True
    low, high = layout.extremes(codes)
    known.least[:, bin_] = np.maximum(least, low)
    known.most[:, bin_] = np.minimum(most, high)
    return True


def _tighten(known: Domains) -> bool:
    """Draw the conclusions from the bounds; tell whether an allocation is still possible."""
    system = known.system
    known.possible, rounds = _bounded(
        system.weights,
        system.copies,
        system.low,
        system.high,
        system.spared,
        known.least,
        known.most,
    )
    known.looked += _CELL * rounds * known.most.size * (system.rows + 1)
    return known.possible


@compiled
def _bounded(
    weights: Integers,
    copies: Integers,
    low: Integers,
    high: Integers,
    spared: Flags,
    least: Integers,
    most: Integers,
) -> tuple[bool, int]:
    """Tighten the bounds, in place, until nothing changes; tell whether an allocation is left, and the rounds."""
    kinds, bins, rows = copies.size, low.shape[0], low.shape[1]
    changed, rounds = True, 0
    # Bounds only ever tighten, and every valid allocation stays within them (docs/totals.md, "How it is solved", 2).
    while changed:
        changed = False
        rounds += 1
        # Kinds: all packages of a kind are somewhere, so that one bin has at least what the others cannot take.
        for kind in range(kinds):
            sure, possible = least[kind].sum(), most[kind].sum()
            if sure > copies[kind] or possible < copies[kind]:
                return False, rounds
            for bin_ in range(bins):
                limit = copies[kind] - (sure - least[kind, bin_])
                if most[kind, bin_] > limit:
                    possible -= most[kind, bin_] - limit
                    most[kind, bin_] = limit
                    changed = True
                need = copies[kind] - (possible - most[kind, bin_])
                if least[kind, bin_] < need:
                    sure += need - least[kind, bin_]
                    least[kind, bin_] = need
                    changed = True
                if least[kind, bin_] > most[kind, bin_]:
                    return False, rounds
        # Bins: with the least and the most of all other kinds, each sum must still be able to meet its window.
        for bin_ in range(bins):
            filled = least[:, bin_].sum() > 0
            for row in range(rows):
                floor, ceiling = np.int64(0), np.int64(0)
                for kind in range(kinds):
                    weight = weights[kind, row]
                    if weight > 0:
                        floor += weight * least[kind, bin_]
                        ceiling += weight * most[kind, bin_]
                    else:
                        floor += weight * most[kind, bin_]
                        ceiling += weight * least[kind, bin_]
                above, below = high[bin_, row] - floor, ceiling - low[bin_, row]
                if spared[bin_] and not filled:
                    # It may be empty: only what would fill it is held against its windows.
                    below = np.int64(2**62)
                    if above < 0:
                        above = np.int64(-1)
                elif above < 0 or below < 0:
                    return False, rounds
                for kind in range(kinds):
                    weight = abs(weights[kind, row])
                    room = most[kind, bin_] - least[kind, bin_]
                    if weight == 0 or room == 0:
                        continue
                    rising = weights[kind, row] > 0
                    more = above // weight if rising else below // weight
                    fewer = below // weight if rising else above // weight
                    more, fewer = max(more, 0), max(fewer, 0)
                    if more < room:
                        most[kind, bin_] = least[kind, bin_] + more
                        changed = True
                        room = more
                    if fewer < room and not (spared[bin_] and not filled):
                        least[kind, bin_] = most[kind, bin_] - fewer
                        changed = True
    return True, rounds
