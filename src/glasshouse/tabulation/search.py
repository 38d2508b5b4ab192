"""How far each class of a part goes: files that show it, and proofs that no file goes further.

Every question has the same two sides. A *file* of counts that meets all rows shows that a class can be so many; it
comes from a corner of the linear programme, from diving at one, or from CP-SAT, and is checked in whole numbers. That
no file goes further is proved by a sum of rows; or, where that does not do, by CP-SAT, and then by cases (`cases`), as
far as the time goes: what is left has no certificate, which is said.

Asked in this order: who is certain, what is possible, how far everything goes. Besides, whether what is certain is
rare, and whether sums of classes are the same in every file: many of them by one question.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import cached_property, partial
from typing import Any

import numpy as np

from glasshouse.arrays import Integers
from glasshouse.solvers import SolverBudget, stop_at_cpu_limit
from glasshouse.tabulation.bounds import Contradiction, Step
from glasshouse.tabulation.cases import CaseProof
from glasshouse.tabulation.cells import NO_LIMIT, CellSystem
from glasshouse.tabulation.exchanges import PATIENCE, Exchanges
from glasshouse.tabulation.parts import OpenPart, SystemRows
from glasshouse.tabulation.relaxation import SCALE, Relaxation, fractional

QUESTIONS = ("certain", "possible", "bounds")
"""What is asked of a part, in this order."""
RARE = "rare"
"""What may be asked instead of the last two: how far what is certain goes, as long as that may be rare."""
_DEEPEST_DIVE = 24
"""After so many classes set to whole numbers a dive is given up."""
_SMALL, _FEW, _IN_VAIN = 60, 20, 3
"""In a part of more classes people exchange values and many are aimed at together, unless few are open; so often in
vain at most."""
_AFTER_A_DIVE = 8
"""After so many times without anything new people stop exchanging values in a file that a dive led to."""
_QUICK = 3.0
"""Seconds of the first tries with CP-SAT, where medians leave a choice."""
_SHARES = {"certain": 0.4, "possible": 0.9}
_MOST_OF_IT = 0.9
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
    solves: int = 0
    """How often CP-SAT was asked."""
    rare: int = 0
    """Up to how many people a combination is rare."""
    system: CellSystem | None = None
    """The combinations that its classes are of: people exchange their values then, which leads to further files."""
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
            share = _MOST_OF_IT if questions[-1] == RARE != question else share
            end = self.budget.left * (1 - share)
            self._walk(question, end, PATIENCE)
            self._by_many(question, end)
            self._by_corners(question, end)
            inside = question == "possible"
            while not self._settled(question) and self.budget.left > end + 0.02:
                found = self._ask(question, self.budget.left - end, inside=inside)
                if found is None:
                    break
                inside = question == "possible" or (question == "bounds" and found is False)

    def _walk(self, question: str, end: float, patience: int) -> None:
        if self.exchanges is not None:
            targets, is_over = partial(self._targets, question), partial(self._is_over, end)
            self.exchanges.walk(targets, is_over, patience)

    def _is_over(self, end: float) -> bool:
        return self.budget.left <= end

    def _settled(self, question: str) -> bool:
        return bool(self.part.files) and not any(map(len, self._targets(question)))

    @cached_property
    def exchanges(self) -> Exchanges | None:
        """The exchanges between people; None: in a small part everything is found as soon without them."""
        if self.system is None or self.part.size <= _SMALL:
            return None
        return Exchanges.of(self.part, self.system)

    # -- files -------------------------------------------------------------------------------------------------------

    def _first_file(self) -> bool:
        """Look for any file; tell whether there is one."""
        if self.part.files:
            return True
        if self.part.rows.meet(self.part.least) and self.part.take(self.part.least.copy()):
            return True
        if not self.part.choices and self.part.size > _SMALL and self._dive_at_random():
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
        if question == RARE:
            may_be_rare = (part.least[high] > 0) & (part.highest[high] <= self.rare)
            return high[may_be_rare & (part.sizes[high] == 1)], nothing
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
            if self._dive(self.programme):
                self._walk(question, end, _AFTER_A_DIVE)
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
        proved = bound_of(total, ceiling, part.proved_least, part.proved_most, place)
        if up:
            part.proved_most[place] = min(int(part.proved_most[place]), proved or 0)
        else:
            part.proved_least[place] = max(int(part.proved_least[place]), proved or 0)
        self.programme.bound(place, int(part.least[place]), int(part.most[place]))

    # -- certificates ------------------------------------------------------------------------------------------------

    def certify(self, seconds: float) -> None:
        """Look for proofs by cases of what CP-SAT alone has proved."""
        budget = SolverBudget(seconds, self.budget.memory)
        left = self.part.without_proof()
        if not left or seconds <= 0:
            return
        cases = CaseProof(self.part, budget)
        before = len(left) + 1
        while left and len(left) < before and budget.left > 0:
            before = len(left)
            for place, up in left:
                step = cases.prove(place, up=up)
                if step is not None:
                    self.steps.append(step)
                    ends = self.part.most if up else self.part.least
                    proved = self.part.proved_most if up else self.part.proved_least
                    proved[place] = ends[place]
            left = self.part.without_proof()

    # -- sums --------------------------------------------------------------------------------------------------------

    def constant(self) -> list[bool | None]:
        """Tell of the sums of the part whether each is the same in every file; None: that is not decided in time."""
        part = self.part
        if not self._first_file():
            return [None] * len(part.sums)
        ends = [(place, up) for place in range(len(part.sums)) for up in (True, False)]
        refuted: set[tuple[int, bool]] = set()

        def left() -> list[tuple[int, bool]]:
            same = part.sum_lowest == part.sum_highest
            return [end for end in ends if same[end[0]] and end not in refuted]

        if self.exchanges is not None:
            opened = np.arange(part.size), np.arange(0)
            self.exchanges.walk(
                lambda: opened if left() else (opened[1],) * 2, partial(self._is_over, 0)
            )
        if not part.choices:
            self._vary(left)
        for end in left():
            if self.budget.left <= 0:
                break
            if end in left() and self._is_end(*end):
                refuted.add(end)
        while (open_ends := left()) and self.budget.left > 0:
            answer = self._beyond(open_ends)
            if answer is None:
                break
            if answer is False:
                refuted |= set(open_ends)
        undecided = {place for place, _ in left()}
        return [
            bool(low == high) if place not in undecided else None
            for place, (low, high) in enumerate(
                zip(part.sum_lowest.tolist(), part.sum_highest.tolist(), strict=True)
            )
        ]

    def _vary(self, left: Callable[[], list[tuple[int, bool]]]) -> None:
        """Look for files in which many sums are more, or less, than in those that were seen."""
        in_vain = 0
        while (before := left()) and in_vain < _IN_VAIN and self.budget.left > 0:
            weights = np.zeros(self.part.size)
            for place, up in before:
                weights += (self._random.random() if up else 0) * self.part.sums[place]
            targets = np.flatnonzero(weights)
            self.programme.aim(targets, weights[targets], up=bool(self._random.integers(2)))
            self._dive(self.programme)
            in_vain += len(left()) == len(before)

    def _is_end(self, place: int, up: bool) -> bool:
        """Tell whether a sum of rows proves, in whole numbers, that no file goes further than those that were seen."""
        part, programme = self.part, self.programme
        taken = part.sums[place]
        members = np.flatnonzero(taken)
        programme.aim(members, taken[members].astype(np.float64), up=up)
        if not programme.solve(self.budget.left):
            return False
        corner = programme.corner
        if not len(fractional(corner)):
            part.take(np.rint(corner).astype(np.int64))
        sign = 1 if up else -1
        total, ceiling = part.rows.combined(sign * programme.multipliers, part.size)
        rest = SCALE * sign * taken - total
        ceiling += int(np.where(rest > 0, rest * part.most, rest * part.least).sum())
        seen = int(part.sum_highest[place] if up else -part.sum_lowest[place])
        return ceiling // SCALE <= seen

    def _beyond(self, ends: Sequence[tuple[int, bool]]) -> bool | None:
        """Ask CP-SAT for a file in which one of several sums goes further; None: it did not decide."""
        from ortools.sat.python import cp_model

        part = self.part
        model, unknowns = self.model()
        literals = []
        for place, up in ends:
            members = np.flatnonzero(part.sums[place])
            chosen = [unknowns[member] for member in members.tolist()]
            total = cp_model.LinearExpr.weighted_sum(chosen, part.sums[place][members].tolist())
            literal = model.new_bool_var("")
            further = (
                total >= int(part.sum_highest[place]) + 1
                if up
                else total <= int(part.sum_lowest[place]) - 1
            )
            model.add(further).only_enforce_if(literal)
            literals.append(literal)
        return self._any_of(model, unknowns, literals, self.budget.left)

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
        answer = self._any_of(model, unknowns, literals, seconds)
        if answer is False:
            self._refuted(question, high, low, inside=inside)
        return answer

    def _any_of(
        self, model: Any, unknowns: Sequence[Any], literals: Sequence[Any], seconds: float
    ) -> bool | None:
        """Ask for a file in which something is so, and then for one in which much is; None: it did not decide."""
        if literals:
            model.add_bool_or(literals)
        answer = self._solved(model, unknowns, seconds)
        if answer is None or answer is False:
            return answer
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
        if self.part.choices:  # to probe how each median came about takes longer than to search
            solver.parameters.cp_model_probing_level = 0
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
