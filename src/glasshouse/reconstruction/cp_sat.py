"""What is neither seen nor ruled out, asked from CP-SAT: show it, or prove that there is no such allocation.

Each solve asks for a valid allocation with at least one pair that is still open, and for as many of them as it can find
at little cost; each allocation is checked in integers. When there is none, all open pairs are ruled out at once. One
thread and one seed: the answers are the same in every run.

A search ends when its deterministic time is over, which CP-SAT counts by what it does and not by a clock, or at a
signal (`glasshouse.solvers`).
"""

from __future__ import annotations

from typing import Any

import numpy as np
from ortools.sat.python import cp_model

from glasshouse.arrays import Flags, Integers
from glasshouse.progress import resident_bytes
from glasshouse.reconstruction.propagation import Domains
from glasshouse.reconstruction.system import UNITS_PER_SECOND, Budget, Witnesses
from glasshouse.solvers import OutOfTime, stop_at_cpu_limit

_LONGEST_TABLE = 3_000
"""Subsets of a bin are given one by one if there are at most so many."""
_SECONDS_PER_TERM = 1e-5
"""What a term of the model costs, to write it and to simplify it; a model that would take too long is not begun."""
_SECONDS_PER_UNIT = 2.5
"""How many seconds one unit of CP-SAT's deterministic time takes, about."""
_PATIENCE, _LEAST_PATIENCE = 20.0, 60.0
"""How much longer than foreseen a search may take, and so many CPU seconds at least, before it is taken for stuck."""
_QUICK = 2.0
"""How long, in CP-SAT's deterministic time, it looks for more open pairs at once."""


def settle(
    known: Domains, witnesses: Witnesses, budget: Budget, *, most_time: float | None = None
) -> None:
    """Decide every open pair of a part; those that are ruled out are taken from `known.most`.

    Args:
        known: The part.
        witnesses: What was seen of it.
        budget: What is left of the time.
        most_time: Give up after a solve in vain of so much deterministic time; None: go on until the time is over.

    Raises:
        OutOfTime: The time is over; what was found until then is kept.
    """
    quick = True
    while True:
        undecided = (known.most > 0) & ~witnesses.seen
        if not undecided.any() and witnesses.allocations:
            return
        limit = most_time if most_time is not None else _QUICK if quick else None
        allocations, proved = _ask(known, undecided & bool(witnesses.allocations), budget, limit)
        for allocation in allocations:
            witnesses.add(allocation)
        if proved:
            known.most[undecided] = 0
            known.possible = bool(witnesses.allocations)
            return
        if most_time is not None and not allocations:
            return
        quick = bool(allocations)


def _ask(
    known: Domains, undecided: Flags, budget: Budget, limit: float | None
) -> tuple[list[Integers], bool]:
    """Return allocations with some undecided pair, if there is any; and whether it is proved that there are none."""
    writing = _SECONDS_PER_TERM * _terms(known)
    if writing > budget.left:
        raise OutOfTime
    budget.spend(int(writing * UNITS_PER_SECOND))
    model = cp_model.CpModel()
    variables = _variables(model, known)
    for bin_, codes in enumerate(known.lists):
        if codes is not None and len(codes) <= _LONGEST_TABLE:
            _add_table(model, known, variables, bin_)
        else:
            _add_windows(model, known, variables, bin_)
    literals = []
    for kind, bin_ in np.argwhere(undecided).tolist():
        literal = variables[kind, bin_]
        if known.most[kind, bin_] > 1:
            literal = model.new_bool_var("")
            model.add(variables[kind, bin_] >= 1).only_enforce_if(literal)
        literals.append(literal)
    if literals:
        model.add_bool_or(literals)
    if limit is not None and len(literals) > 1:
        model.maximize(sum(literals))
    solver = cp_model.CpSolver()
    solver.parameters.num_workers = 1
    solver.parameters.catch_sigint_signal = False  # whoever presses Ctrl-C means the whole run
    solver.parameters.random_seed = 0
    # CP-SAT looks at what the whole process takes.
    solver.parameters.max_memory_in_mb = max(64, (resident_bytes() + budget.memory) >> 20)
    longest = max(budget.left, 0.0) / _SECONDS_PER_UNIT
    solver.parameters.max_deterministic_time = longest if limit is None else min(limit, longest)
    if budget.left <= 0.01:
        raise OutOfTime
    collector = _Collector(variables, known.most.shape)
    with stop_at_cpu_limit(solver, max(_PATIENCE * budget.left, _LEAST_PATIENCE)):
        status = solver.solve(model, collector)
    budget.spend(int(solver.deterministic_time * _SECONDS_PER_UNIT * UNITS_PER_SECOND))
    if collector.interrupted:
        raise KeyboardInterrupt
    if status == cp_model.INFEASIBLE:
        return [], True
    if not collector.allocations and limit is None:
        raise OutOfTime
    return collector.allocations, False


def _terms(known: Domains) -> int:
    """Return how many terms a model of a part has: windows of open bins, and subsets of the others one by one."""
    terms = int(np.count_nonzero(known.most)) * (known.system.rows + 2)
    tables = (codes for codes in known.lists if codes is not None and len(codes) <= _LONGEST_TABLE)
    return terms + sum(len(codes) for codes in tables)


class _Collector(cp_model.CpSolverSolutionCallback):
    """Keeps every allocation that CP-SAT comes across."""

    def __init__(self, variables: dict[tuple[int, int], Any], shape: tuple[int, ...]) -> None:
        super().__init__()
        self._variables = variables
        self._shape = shape
        self.allocations: list[Integers] = []
        self.interrupted = False

    def on_solution_callback(self) -> None:
        try:
            allocation = np.zeros(self._shape, np.int64)
            for pair, variable in self._variables.items():
                allocation[pair] = self.value(variable)
            self.allocations.append(allocation)
        except KeyboardInterrupt:  # must not pass through CP-SAT
            self.interrupted = True
            self.stop_search()


def _variables(model: cp_model.CpModel, known: Domains) -> dict[tuple[int, int], Any]:
    """Add a number of packages for each kind and bin that is not ruled out."""
    variables = {}
    for kind, bin_ in np.argwhere(known.most > 0).tolist():
        most = int(known.most[kind, bin_])
        variables[kind, bin_] = (
            model.new_bool_var("") if most == 1 else model.new_int_var(0, most, "")
        )
    for kind, copies in enumerate(known.system.copies.tolist()):
        numbers = [variables[kind, bin_] for bin_ in np.flatnonzero(known.most[kind]).tolist()]
        if copies == 1:
            model.add_exactly_one(numbers)
        else:
            model.add(sum(numbers) == copies)
    return variables


def _add_windows(
    model: cp_model.CpModel, known: Domains, variables: dict[tuple[int, int], Any], bin_: int
) -> None:
    system = known.system
    kinds = np.flatnonzero(known.most[:, bin_]).tolist()
    filled = None
    if system.spared[bin_]:
        filled = model.new_bool_var("")
        for kind in kinds:
            model.add(variables[kind, bin_] == 0).only_enforce_if(~filled)
        model.add(sum(variables[kind, bin_] for kind in kinds) >= 1).only_enforce_if(filled)
    for row in range(system.rows):
        total = sum(int(system.weights[kind, row]) * variables[kind, bin_] for kind in kinds)
        window = model.add_linear_constraint(
            total, int(system.low[bin_, row]), int(system.high[bin_, row])
        )
        if filled is not None:
            window.only_enforce_if(filled)


def _add_table(
    model: cp_model.CpModel, known: Domains, variables: dict[tuple[int, int], Any], bin_: int
) -> None:
    """Let the bin hold exactly one of its subsets."""
    codes = known.lists[bin_]
    assert codes is not None  # noqa: S101 - for the type checker
    counts = known.layout.counts(codes)
    counts = counts[(counts <= known.most[:, bin_]).all(axis=1)]
    chosen = [model.new_bool_var("") for _ in range(len(counts))]
    model.add_exactly_one(chosen)
    for kind in np.flatnonzero(known.most[:, bin_]).tolist():
        holding = np.flatnonzero(counts[:, kind]).tolist()
        total = sum(int(counts[row, kind]) * chosen[row] for row in holding)
        model.add(total == variables[kind, bin_])
