"""From one file of people to the next: two people exchange some of their values, and every table still holds.

Where counts are rounded or hidden, one file leads to thousands of others so, each far cheaper than a corner of the
linear programme. What each class can be is seen on the way; that it can be no less, or more, is never told by it.
"""

from __future__ import annotations

from collections.abc import Callable
from math import prod

import numpy as np

from glasshouse.arrays import Flags, Integers
from glasshouse.tabulation.cells import CellSystem
from glasshouse.tabulation.parts import OpenPart

_TOGETHER = 256
"""So many exchanges are tried at once."""
_NEAREST = 4
"""So many people nearest to a class that is looked for try to get into it."""
PATIENCE = 20
"""After so many times without anything new the walk is given up."""
_STUCK = 10
"""And after so many without any exchange at all, as where exact tables cross many attributes, for good."""
_LARGEST = 40_000_000
"""A part with more rows times classes is not walked through."""


class Exchanges:
    """The exchanges between people of a part."""

    def __init__(self, part: OpenPart, system: CellSystem) -> None:
        sizes = [len(values) for values in system.domains.values()]
        self.part = part
        self._digits = np.array([prod(sizes[place + 1 :]) for place in range(len(sizes))], np.int64)
        self._keys = system.cells.astype(np.int64) @ self._digits  # in their order already
        place_of = np.full(len(system.sizes), -1, np.int64)
        place_of[part.classes] = np.arange(part.size)
        self._places = place_of[system.class_of]
        first = np.unique(system.class_of, return_index=True)[1]
        self._codes = system.cells[first[part.classes]].astype(np.int64)
        self._bits = 1 << np.arange(self._codes.shape[1])
        self._columns = np.zeros((part.size, len(part.rows.low)), np.int64)
        self._columns[part.rows.classes, part.rows.row_of] = part.rows.coefficients
        self._random = np.random.default_rng(0)
        self._tried = self._moved = 0

    @classmethod
    def of(cls, part: OpenPart, system: CellSystem) -> Exchanges | None:
        """Return the exchanges of a part; None: it is too large, or medians leave a choice."""
        is_large = part.size * len(part.rows.low) > _LARGEST or system.combinations >= 1 << 62
        return None if is_large or part.choices else cls(part, system)

    def walk(
        self,
        targets: Callable[[], tuple[Integers, Integers]],
        is_over: Callable[[], bool],
        patience: int = PATIENCE,
    ) -> None:
        """Go from the last file to others, and keep those in which something goes further than in any before.

        Args:
            targets: Returns the classes whose greatest, and whose least, are looked for.
            is_over: Tells whether the time is over.
            patience: After so many times without anything new it is given up.
        """
        part = self.part
        counts = part.files[-1].copy()
        sums, totals = part.rows.sums(counts), part.sums @ counts
        in_vain = 0
        while in_vain < patience and not is_over():
            if self._tried >= _STUCK and not self._moved:
                return
            self._tried += 1
            high, low = targets()
            if not len(high) and not len(low):
                return
            before = self._reached(high, low)
            giving = np.flatnonzero(counts > part.least)
            wanted = low[counts[low] > part.least[low]]
            if not len(giving):
                return
            focus = int(self._random.choice(wanted)) if len(wanted) else -1
            if self._tried % 2 and len(high) and focus < 0 and not len(part.sums):
                pairs, which = self._towards(high[counts[high] >= part.highest[high]], giving)
            else:
                pairs, which = self._at_random(giving, focus)
            self._exchange(counts, sums, totals, pairs, which, focus)
            in_vain = in_vain + 1 if self._reached(high, low) == before else 0

    def _reached(self, high: Integers, low: Integers) -> tuple[int, int]:
        """Return how far was seen to go what is looked for: the sums that are looked at, where there are any."""
        part = self.part
        if len(part.sums):
            return int(part.sum_highest.sum()), int(part.sum_lowest.sum())
        return int(part.highest[high].sum()), int(part.lowest[low].sum())

    def _at_random(self, giving: Integers, focus: int) -> tuple[Integers, Flags]:
        """Return anybody with anybody, half of them somebody who is to leave a class, and any attributes."""
        first = self._random.choice(giving, _TOGETHER)
        if focus >= 0:
            first[: _TOGETHER // 2] = focus
        second = self._random.choice(giving, _TOGETHER)
        drawn = self._random.random((_TOGETHER, self._codes.shape[1]))
        return np.stack([first, second]), drawn < self._random.random()

    def _towards(self, wanted: Integers, giving: Integers) -> tuple[Integers, Flags]:
        """Return people near to classes that are looked for, whoever has what each of them lacks, and what that is."""
        aims = self._random.choice(wanted, _TOGETHER // _NEAREST) if len(wanted) else wanted
        differs = self._codes[aims][:, None] != self._codes[giving]
        distance = differs.sum(axis=2) + 2 * self._random.random(differs.shape[:2])
        near = np.argsort(distance, axis=1)[:, :_NEAREST]
        lacking = differs @ self._bits
        lacks = np.take_along_axis(lacking, near, axis=1)
        fits = (lacking[:, None] & lacks[:, :, None]) == 0
        chosen = (fits / (1 + distance[:, None])).argmax(axis=2)
        found = fits.any(axis=2)
        pairs = np.stack([giving[near[found]], giving[chosen[found]]])
        return pairs, (lacks[found][:, None] & self._bits) > 0

    def _exchange(
        self,
        counts: Integers,
        sums: Integers,
        totals: Integers,
        pairs: Integers,
        which: Flags,
        focus: int,
    ) -> None:
        """Carry out what exchanges between pairs can be carried out, one after the other.

        Args:
            counts: The file, which is changed; so are the next two with it.
            sums: Its sums in the rows that hold.
            totals: Its sums of classes that are looked at besides.
            pairs: Who exchange.
            which: What they exchange, per pair and attribute.
            focus: The class that nobody is to get into; -1: none.
        """
        part, columns = self.part, self._columns
        first, second = self._codes[pairs[0]], self._codes[pairs[1]]
        after = np.stack(
            [
                self._place(np.where(which, second, first)),
                self._place(np.where(which, first, second)),
            ]
        )
        is_real = (after >= 0).all(axis=0) & (after[0] != pairs[0]) & (after[0] != pairs[1])
        is_real &= (after != focus).all(axis=0)
        chosen = np.flatnonzero(is_real)
        changes = columns[after[:, chosen]].sum(axis=0) - columns[pairs[:, chosen]].sum(axis=0)
        holds = self._holds(sums + changes)
        for place, change in zip(chosen[holds].tolist(), changes[holds], strict=True):
            step = np.zeros(part.size, np.int64)
            np.add.at(step, after[:, place], 1)
            np.add.at(step, pairs[:, place], -1)
            moved = np.flatnonzero(step)
            there = counts[moved] + step[moved]
            if (there < part.least[moved]).any() or (there > part.most[moved]).any():
                continue
            if not self._holds(sums + change):
                continue
            self._moved += 1
            counts[moved] = there
            sums += change
            totals += part.sums[:, moved] @ step[moved]
            is_further = (there < part.lowest[moved]) | (there > part.highest[moved])
            goes_further = (totals < part.sum_lowest) | (totals > part.sum_highest)
            if is_further.any() or goes_further.any():
                part.take(counts)

    def _holds(self, sums: Integers) -> Flags:
        rows = self.part.rows
        return np.asarray(((sums >= rows.low) & (sums <= rows.high)).all(axis=-1))

    def _place(self, codes: Integers) -> Integers:
        """Return the class of each combination; -1: it is ruled out, or its count is settled."""
        keys = codes @ self._digits
        found = np.minimum(np.searchsorted(self._keys, keys), len(self._keys) - 1)
        places: Integers = np.where(self._keys[found] == keys, self._places[found], -1)
        return places
