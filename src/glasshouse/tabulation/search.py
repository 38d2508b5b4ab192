"""How far each class of a part goes: files that show it, and proofs that no file goes further.

Every question has the same two sides. A *file* of counts that meets all rows shows that a class can be so many; it
comes from a corner of the linear programme, from diving at one, or from CP-SAT, and is checked in whole numbers. That
no file goes further is proved by a sum of rows; or, where that does not do, by CP-SAT alone: then there is no
certificate, which is said.

Asked in this order: who is certain, what is possible, how far everything goes.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from glasshouse.arrays import Integers
from glasshouse.solvers import SolverBudget, stop_at_cpu_limit
from glasshouse.tabulation.bounds import Contradiction, Step
from glasshouse.tabulation.cells import NO_LIMIT
from glasshouse.tabulation.parts import OpenPart, SystemRows
from glasshouse.tabulation.relaxation import Relaxation, fractional

QUESTIONS = ("certain", "possible", "bounds")
"""What is asked of a part, in this order."""
_DEEPEST_DIVE = 24
"""After so many classes set to whole numbers a dive is given up."""
_SMALL, _FEW, _IN_VAIN = 60, 8, 3
"""In a part of more classes many are aimed at together, unless few are open; so often in vain at most."""
_QUICK = 3.0
"""Seconds of the first tries with CP-SAT, where medians leave a choice."""
_SHARES = {"certain": 0.4, "possible": 0.5}
"""The part of what is left of the time that each question may take; the last one may take all."""


@dataclass(eq=False)
class PartSearch:
    """Looks for what each class of a part can be."""

    part: OpenPart
    """The part."""
    steps: list[Step]
    """The proof so far, which is added to."""
    budget: SolverBudget
    """What it may take."""
    trusted: set[tuple[int, bool]] = field(default_factory=set)
    """Classes of the system whose least (False) or greatest (True) CP-SAT alone has proved."""
    solves: int = 0
    """How often CP-SAT was asked."""
    _programme: Relaxation | None = None
    _random: np.random.Generator = field(default_factory=lambda: np.random.default_rng(0))

    def run(self, questions: Sequence[str] = QUESTIONS) -> None:
        """Settle what can be settled in time.

        Args:
            questions: What is asked, in the order of `QUESTIONS`; none: only whether there is any file.

        Raises:
            Contradiction: No file meets the rows.
        """
        if not self._first_file():
            return
        if self.part.choices and questions:
            for _ in range(2):
                if (
                    self._settled("bounds")
                    or self._ask("bounds", min(_QUICK, self.budget.left), inside=True) is not True
                ):
                    break
        for question in questions:
            share = 1.0 if question == questions[-1] else _SHARES[question]
            end = self.budget.left * (1 - share)
            self._by_many(question, end)
            self._by_corners(question, end)
            inside = question == "possible"
            while not self._settled(question) and self.budget.left > end + 0.02:
                found = self._ask(question, self.budget.left - end, inside=inside)
                if found is None:
                    break
                inside = question == "possible" or (question == "bounds" and found is False)

    def _settled(self, question: str) -> bool:
        return self.part.settled(question)

    # -- files -------------------------------------------------------------------------------------------------------

    def _first_file(self) -> bool:
        """Look for any file; tell whether there is one."""
        if self.part.files:
            return True
        if self.part.rows.meet(self.part.least) and self.part.take(self.part.least.copy()):
            return True
        if not self.part.choices and self.part.size > _SMALL:
            self._dive_at_random()
        if self.part.files:
            return True
        return self._ask("file", self.budget.left, inside=False) is True

    def _dive_at_random(self) -> bool:
        programme = self.programme
        targets = np.flatnonzero(self.part.open_high())
        if not len(targets):
            return False
        programme.aim(targets, self._random.random(len(targets)), up=True)
        return self._dive(programme)

    @property
    def programme(self) -> Relaxation:
        """The linear programme of the part."""
        if self._programme is None:
            self._programme = Relaxation(self.part.rows, self.part.least, self.part.most)
        return self._programme

    def _dive(self, programme: Relaxation) -> bool:
        """Set one class after the other to a whole number until the corner is a file; tell whether it became one."""
        part = self.part
        fixed: list[int] = []
        try:
            if not programme.solve(self.budget.left):
                return False
            for _ in range(_DEEPEST_DIVE):
                corner = programme.corner
                broken = fractional(corner)
                if not len(broken):
                    return part.take(np.rint(corner).astype(np.int64))
                if self.budget.left <= 0:
                    return False
                near = np.abs(corner[broken] - np.rint(corner[broken]))
                nearest = broken[np.argsort(near, kind="stable")[: 1 + len(broken) // 6]].tolist()
                for place in nearest:
                    value = int(np.rint(corner[place]))
                    programme.bound(place, value, value)
                fixed += nearest
                if programme.solve(self.budget.left):
                    continue
                for place in nearest[1:]:
                    programme.bound(place, int(part.least[place]), int(part.most[place]))
                value = int(np.rint(corner[nearest[0]]))
                other = value + (1 if corner[nearest[0]] > value else -1)
                if not programme.solve(self.budget.left):
                    programme.bound(nearest[0], other, other)
                    if not programme.solve(self.budget.left):
                        return False
            return False
        finally:
            for place in fixed:
                programme.bound(place, int(part.least[place]), int(part.most[place]))

    # -- bounds ------------------------------------------------------------------------------------------------------

    def _targets(self, question: str) -> tuple[Integers, Integers]:
        """Return the classes whose greatest, and whose least, a question is about and open."""
        part, nothing = self.part, np.zeros(0, np.int64)
        low = np.flatnonzero(part.open_low() & (part.sizes == 1))
        high = np.flatnonzero(part.open_high())
        if question == "certain":
            return nothing, low
        if question == "possible":
            return high[part.highest[high] == 0], nothing
        return (high, low) if question == "bounds" else (nothing, nothing)

    def _by_many(self, question: str, end: float) -> None:
        """Look for files that settle many classes at once: as many emptied, or filled, as a dive reaches."""
        in_vain = 0
        while self.part.size > _SMALL and in_vain < _IN_VAIN and self.budget.left > end:
            high, low = self._targets(question)
            targets, up = (low, False) if len(low) else (high, True)
            if len(targets) < _FEW:
                return
            self.programme.aim(targets, 0.5 + self._random.random(len(targets)), up=up)
            self._dive(self.programme)
            high, low = self._targets(question)
            in_vain += len(low if not up else high) == len(targets)

    def _by_corners(self, question: str, end: float) -> None:
        """Ask the linear programme about every class that is open, until the time of the question is over."""
        tried: set[tuple[int, bool]] = set()
        while self.budget.left > end:
            high, low = self._targets(question)
            rest = [(place, True) for place in high.tolist()] + [
                (place, False) for place in low.tolist()
            ]
            rest = [target for target in rest if target not in tried]
            if not rest:
                return
            for place, up in rest:
                tried.add((place, up))
                if self.budget.left <= end:
                    return
                if self._is_open(place, up=up):
                    self._by_corner(place, up=up)

    def _is_open(self, place: int, *, up: bool) -> bool:
        part = self.part
        if up:
            return bool(part.highest[place] < part.most[place])
        return bool(part.lowest[place] > part.least[place])

    def _by_corner(self, place: int, *, up: bool) -> None:
        """Bound a class by the dual values, and look at the corner, or below it, for a file that reaches the bound."""
        part, programme = self.part, self.programme
        programme.aim(np.array([place]), np.ones(1), up=up)
        if not programme.solve(self.budget.left):
            return
        corner = programme.corner
        is_file = not len(fractional(corner)) and part.take(np.rint(corner).astype(np.int64))
        self._bound_by(programme.multipliers if up else -programme.multipliers, place, up=up)
        if is_file or not self._is_open(place, up=up):
            return
        goal = int(part.most[place] if up else part.least[place])
        with programme.bounded(place, goal, goal, (int(part.least[place]), int(part.most[place]))):
            others = np.flatnonzero(part.open_high())
            programme.aim(others, self._random.random(len(others)), up=True)
            self._dive(programme)

    def _bound_by(self, multipliers: Integers, place: int, *, up: bool) -> None:
        """Narrow a class by a sum of rows, in whole numbers, and write it down if it does."""
        part = self.part
        total, ceiling = part.rows.combined(multipliers, part.size)
        bound = bound_of(total, ceiling, part.least, part.most, place)
        if bound is None:
            return
        if up and total[place] > 0 and bound < part.most[place]:
            part.most[place] = bound
        elif not up and total[place] < 0 and bound > part.least[place]:
            part.least[place] = bound
        else:
            return
        self.steps.append(part.rows.sum_step(multipliers))
        self.programme.bound(place, int(part.least[place]), int(part.most[place]))

    # -- CP-SAT ------------------------------------------------------------------------------------------------------

    def _ask(self, question: str, seconds: float, *, inside: bool) -> bool | None:
        """Ask CP-SAT for a file in which an open class goes further; None: it did not decide.

        Args:
            question: What is asked.
            seconds: How long it may take.
            inside: Whether to ask for more than what was seen; else for what is not ruled out.
        """
        part = self.part
        high, low = self._targets(question)
        model, unknowns = self.model()
        literals = []
        for places, up in ((high, True), (low, False)):
            for place in places.tolist():
                literal = model.new_bool_var("")
                if up:
                    goal = part.highest[place] + 1 if inside else part.most[place]
                    model.add(unknowns[place] >= int(goal)).only_enforce_if(literal)
                else:
                    goal = part.lowest[place] - 1 if inside else part.least[place]
                    model.add(unknowns[place] <= int(goal)).only_enforce_if(literal)
                literals.append(literal)
        if literals:
            model.add_bool_or(literals)
        answer = self._solved(model, unknowns, seconds)
        if answer is None:
            return None
        if answer is False:
            self._refuted(question, high, low, inside=inside)
            return False
        if len(literals) > 8:
            for unknown, value in zip(unknowns, answer.tolist(), strict=True):
                model.add_hint(unknown, value)
            model.maximize(sum(literals))
            self._solved(
                model, unknowns, min(self.budget.left, 0.3 if len(literals) < 100 else 1.0)
            )
        return True

    def _refuted(self, question: str, high: Integers, low: Integers, *, inside: bool) -> None:
        part = self.part
        if question == "file":
            raise Contradiction([])
        if inside:
            part.most[high], part.least[low] = part.highest[high], part.lowest[low]
        else:
            part.most[high] -= 1
            part.least[low] += 1
        self.trusted |= {(int(part.classes[place]), True) for place in high}
        self.trusted |= {(int(part.classes[place]), False) for place in low}
        if self._programme is not None:
            for place in (*high.tolist(), *low.tolist()):
                self._programme.bound(place, int(part.least[place]), int(part.most[place]))

    def _solved(self, model: Any, unknowns: Sequence[Any], seconds: float) -> Any:
        """Return a file, False if there is none, or None if that was not decided in time."""
        from ortools.sat.python import cp_model

        if seconds <= 0.01 or self.budget.left <= 0:
            return None
        solver = cp_model.CpSolver()
        solver.parameters.num_workers = 1
        solver.parameters.random_seed = 1
        solver.parameters.catch_sigint_signal = False
        solver.parameters.max_memory_in_mb = max(64, self.budget.memory >> 20)
        self.solves += 1
        with stop_at_cpu_limit(solver, seconds):
            status = solver.solve(model)
        if status == cp_model.INFEASIBLE:
            return False
        if status not in (cp_model.OPTIMAL, cp_model.FEASIBLE):
            return None
        counts = np.array([solver.value(unknown) for unknown in unknowns], np.int64)
        return counts if self.part.take(counts) else None

    def model(self) -> tuple[Any, list[Any]]:
        """Return the part as a model of CP-SAT, and its unknowns."""
        from ortools.sat.python import cp_model

        part = self.part
        model = cp_model.CpModel()
        bounds = zip(part.least.tolist(), part.most.tolist(), strict=True)
        unknowns = [model.new_int_var(low, high, "") for low, high in bounds]
        _add_rows(model, unknowns, part.rows, None)
        for alternatives in part.choices.values():
            literals = [model.new_bool_var("") for _ in alternatives]
            model.add_exactly_one(literals)
            for literal, (_, rows) in zip(literals, alternatives, strict=True):
                _add_rows(model, unknowns, rows, literal)
        return model, unknowns


def _add_rows(model: Any, unknowns: Sequence[Any], rows: SystemRows, literal: Any) -> None:
    from ortools.sat.python import cp_model

    for low, high, (classes, coefficients) in rows.each():
        chosen = [unknowns[place] for place in classes.tolist()]
        total = cp_model.LinearExpr.weighted_sum(chosen, coefficients.tolist())
        window = model.add_linear_constraint(total, max(low, -NO_LIMIT), min(high, NO_LIMIT))
        if literal is not None:
            window.only_enforce_if(literal)


def bound_of(
    total: Integers, ceiling: int, least: Integers, most: Integers, place: int
) -> int | None:
    """Return how far a class can go if a sum of rows is at most something; None: that tells nothing of it."""
    if not total[place]:
        return None
    smallest = np.where(total > 0, total * least, total * most)
    rest = ceiling - int(smallest.sum()) + int(smallest[place])
    coefficient = int(total[place])
    return rest // coefficient if coefficient > 0 else -(rest // -coefficient)
