"""Proofs by cases: what no single sum of rows rules out, each half of the possibilities may.

A class has at most so many people, or more. Each case is narrowed by the rows; then a linear programme looks for how
little the rows must be bent for anything to fit. If they must be, its dual values are whole multipliers of rows whose
sum says so, checked in whole numbers; else a class that came out broken is split in two further cases. What is left is
a tree with multipliers at its leaves, which `glasshouse.tabulation.verifier` checks.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from glasshouse.arrays import Integers
from glasshouse.solvers import SolverBudget
from glasshouse.tabulation.bounds import Contradiction, RowEntries, Step, narrow_by
from glasshouse.tabulation.parts import OpenPart
from glasshouse.tabulation.relaxation import Relaxation, fractional

_MOST_CASES = 300
"""A claim that needs more cases is left without a certificate."""


@dataclass(eq=False)
class CaseProof:
    """Looks for proofs by cases about a part."""

    part: OpenPart
    """The part; how medians came about is left open."""
    budget: SolverBudget
    """What it may take."""
    _cases: int = field(default=0, init=False)

    def __post_init__(self) -> None:
        rows = self.part.rows
        self._entries = RowEntries(
            np.arange(len(rows.low)),
            rows.row_of,
            rows.begins[:-1],
            rows.classes,
            rows.coefficients,
            rows.low,
            rows.high,
        )
        self._programme = Relaxation(rows, self.part.least, self.part.most, bending=True)

    def prove(self, place: int, *, up: bool) -> Step | None:
        """Return a proof that a class is at most, or at least, what the part says; None: none was found in time.

        Only what has a proof itself is used for it.
        """
        part = self.part
        least, most = part.proved_least.copy(), part.proved_most.copy()
        end = int(part.most[place] if up else part.least[place] - 1)
        if up:
            least[place] = end + 1
        else:
            most[place] = end
        steps = self.refutation(least, most)
        if steps is None:
            return None
        return ["cases", int(part.classes[place]), end, *(([], steps) if up else (steps, []))]

    def refutation(self, least: Integers, most: Integers) -> list[Step] | None:
        """Return steps which show that no file lies between bounds; None: none were found in time."""
        self._cases = 0
        return self._refuted(least, most)

    def _refuted(self, least: Integers, most: Integers) -> list[Step] | None:
        self._cases += 1
        if self._cases > _MOST_CASES or self.budget.left <= 0:
            return None
        narrowed: list[Step] = []
        try:
            narrow_by(self._entries, least, most, narrowed)
        except Contradiction as contradiction:
            return self._of_system(contradiction.steps)
        steps = self._of_system(narrowed)
        programme, part = self._programme, self.part
        for place, ends in enumerate(zip(least.tolist(), most.tolist(), strict=True)):
            programme.bound(place, *ends)
        if not programme.solve(self.budget.left):
            return None
        multipliers = -programme.multipliers
        total, ceiling = part.rows.combined(multipliers, part.size)
        if int(np.where(total > 0, total * least, total * most).sum()) > ceiling:
            return [*steps, part.rows.sum_step(multipliers)]
        corner = programme.corner
        broken = fractional(corner)
        if not len(broken):
            return None
        place = int(broken[np.argmin(np.abs(corner[broken] % 1 - 0.5))])
        end = int(np.floor(corner[place]))
        halves = []
        for up in (False, True):
            low, high = least.copy(), most.copy()
            if up:
                low[place] = end + 1
            else:
                high[place] = end
            half = self._refuted(low, high)
            if half is None:
                return None
            halves.append(half)
        return [*steps, ["cases", int(part.classes[place]), end, *halves]]

    def _of_system(self, steps: list[Step]) -> list[Step]:
        """Return steps with the numbers that rows have in the system."""
        numbers = self.part.rows.numbers
        return [
            [kind, [[numbers[row][sign > 0], sign] for row, sign in terms]] for kind, terms in steps
        ]
