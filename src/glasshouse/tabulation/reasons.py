"""Which tables it is because of: an irreducible set of them, of which none can be left out.

It is found by leaving one table out after the other: what still follows without it does not need it. Where that is not
decided in time, the table is kept, and the set is not called irreducible. A set of tables is read anew from the study,
since the size of a group, which a median needs, may stand in another table.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any

import numpy as np
import pyarrow as pa

from glasshouse.arrays import Integers
from glasshouse.errors import BudgetError, StudyError
from glasshouse.solvers import OutOfTime, SolverBudget
from glasshouse.study.tables import TablesStudy, Value
from glasshouse.tabulation.geography import AreaBounds, Nesting, nesting_in, solved
from glasshouse.tabulation.search import QUESTIONS
from glasshouse.tabulation.solution import (
    CellBounds,
    Status,
    cell_bounds,
    certain_at_most,
    known_groups,
)


@dataclass(frozen=True)
class TableSet:
    """Tables that something follows from."""

    tables: tuple[str, ...]
    """Their names, in the order of the study."""
    irreducible: Status
    """Whether it is proved that it does not follow without any one of them."""

    def to_dict(self) -> dict[str, Any]:
        """Return it as plain values."""
        return {"tables": list(self.tables), "irreducible": self.irreducible}

    def to_frame(self) -> pa.Table:
        """Return the names of the tables as a table."""
        return pa.table({"table": pa.array(self.tables, pa.string())})


def irreducible_set(
    tables: Sequence[str], follows: Callable[[tuple[str, ...]], bool | None]
) -> TableSet:
    """Return tables that something follows from, without those that it does not need.

    Args:
        tables: Tables that it follows from.
        follows: Tells whether it follows from some of them; None: that is not decided.

    >>> irreducible_set(["A", "B", "C"], lambda some: {"A", "C"} <= set(some))
    TableSet(tables=('A', 'C'), irreducible='proved')
    """
    kept = tuple(tables)
    irreducible: Status = "proved"
    for table in tables:
        rest = tuple(name for name in kept if name != table)
        verdict = follows(rest)
        if verdict:
            kept = rest
        elif verdict is None:
            irreducible = "limit"
    return TableSet(kept, irreducible)


def contradicting_tables(study: TablesStudy, *, seconds: float, memory: int) -> TableSet:
    """Return an irreducible set of tables that contradict each other; empty: what is known besides does so already.

    Args:
        study: A study whose tables hold their rows, and contradict each other.
        seconds: CPU seconds; a table that is not decided on by then is kept.
        memory: The bytes that combinations and rows may take.
    """
    names = tuple(str(table.id) for table in study.tables)
    budget = SolverBudget(seconds, memory)

    def contradict(tables: tuple[str, ...]) -> bool | None:
        solution = _of_some(study, None, tables, budget, budget.left / 2, questions=())
        if solution is None:
            return None
        if solution.status == "infeasible":
            return True
        return False if solution.files else None

    return irreducible_set(names, contradict)


def contradicting_areas(bounds: AreaBounds, *, seconds: float, memory: int) -> TableSet:
    """Return an irreducible set of tables that contradict each other in the areas where that was found.

    Args:
        bounds: What was found: no file of people meets the tables of these areas.
        seconds: CPU seconds; a table that is not decided on by then is kept.
        memory: The bytes that combinations and rows may take.
    """
    whole, [found] = bounds.whole, bounds.solved
    budget = SolverBudget(seconds, memory)

    def contradict(names: tuple[str, ...]) -> bool | None:
        if budget.left <= 0:
            return None
        some = whole.only(names)
        several = [areas for areas in some.of_several if areas in found.several]
        try:
            solution = cell_bounds(
                some.together(found.areas, several),
                seconds=budget.left / 2,
                memory=memory,
                counting=False,
                questions=(),
            )
        except (BudgetError, StudyError):  # they may not say how many people there are
            return None
        return solution.status == "infeasible" or (False if solution.files else None)

    return irreducible_set([str(table.id) for table in whole.study.tables], contradict)


# -- why somebody is certain -----------------------------------------------------------------------------------------


@dataclass(frozen=True)
class CertainReason:
    """Because of which tables it is certain that somebody has a rare combination: it is told to the publisher alone."""

    values: tuple[Value, ...]
    """The combination."""
    least: int
    """So many have it at least."""
    most: int
    """And at most."""
    because: TableSet
    """The tables from which it follows that somebody has it."""


@dataclass(frozen=True)
class TableWeight:
    """What one table adds to the others."""

    table: str
    """Its name."""
    people: int | None
    """How many people are no longer certain without it, at most where that is not proved; None: not found out."""
    rare_left: int | None
    """How many with a rare combination are certain without it, at least; None: not found out."""
    cells: int
    """Of how many groups of people it tells: what withholding it costs."""
    certain: Status
    """Whether it is proved how many people are no longer certain."""
    frees: bool
    """Whether it is proved that without it nobody with a rare combination is certain."""
    secrets: Mapping[str, int] = field(default_factory=dict)
    """Of how many people at most each secret is certain without it; one that is missing was not found out."""

    def to_dict(self) -> dict[str, Any]:
        """Return it as plain values."""
        return {
            "table": self.table,
            "no_longer_certain": self.people,
            "rare_certain_persons": self.rare_left,
            "cells": self.cells,
            "status": self.certain,
        }


@dataclass(frozen=True)
class TablesAudit:
    """Which tables make people certain, and which one to withhold."""

    attributes: tuple[str, ...]
    """What is told of a person."""
    weights: tuple[TableWeight, ...]
    """The tables, those first without which most people are no longer certain."""
    reasons: tuple[CertainReason, ...]
    """Why each rare combination is certain: for the publisher alone."""

    @property
    def to_withhold(self) -> tuple[TableWeight, ...]:
        """The tables without any one of which nobody with a rare combination is certain, the cheapest first."""
        return tuple(sorted((one for one in self.weights if one.frees), key=lambda one: one.cells))

    @property
    def none_frees(self) -> bool:
        """Whether somebody with a rare combination stays certain, whichever single table is withheld."""
        return all(one.rare_left for one in self.weights)

    def to_dict(self) -> dict[str, Any]:
        """Return what tells of tables alone as plain values, and no reason."""
        return {
            "ranking": [one.to_dict() for one in self.weights],
            "withhold": [one.table for one in self.to_withhold],
        }

    def to_frame(self) -> pa.Table:
        """Return what leaving each table out changes as a table."""
        return pa.Table.from_pylist([one.to_dict() for one in self.weights])

    def for_publisher(self) -> dict[str, Any]:
        """Return everything as plain values: it tells who is certain, and is the disclosure itself."""
        reasons = [
            {
                "values": dict(zip(self.attributes, one.values, strict=True)),
                "least": one.least,
                "most": one.most,
                **one.because.to_dict(),
            }
            for one in self.reasons
        ]
        return {**self.to_dict(), "reasons": reasons}


def tables_audit(
    study: TablesStudy,
    bounds: CellBounds,
    *,
    rare: int,
    secrets: Mapping[str, Sequence[str]] = MappingProxyType({}),
    seconds: float,
    memory: int,
) -> TablesAudit:
    """Find out because of which tables people are certain, and what leaving one of them out changes.

    Args:
        study: A study whose tables hold their rows.
        bounds: What all of them tell together.
        rare: Up to how many people a combination is rare.
        secrets: What somebody wants to learn, each with what she knows of a person.
        seconds: CPU seconds; what is not decided by then is said.
        memory: The bytes that combinations and rows may take.
    """
    names = tuple(str(table.id) for table in study.tables)
    subsets = _Subsets(study, nesting_in(bounds), SolverBudget(seconds, memory))
    weights = []
    for place, name in enumerate(names):
        share = subsets.budget.left / 2 / (len(names) - place)
        rest = tuple(table for table in names if table != name)
        without = subsets.take(rest, share, questions=QUESTIONS)
        cells = _cells(study, bounds, name)
        weights.append(_weight(name, cells, bounds, without, rare, secrets))
    weights.sort(key=lambda one: -1 if one.people is None else one.people, reverse=True)
    reasons = []
    for cell in np.flatnonzero((bounds.least > 0) & (bounds.most <= rare)).tolist():
        because = subsets.because(names, bounds.system.cells[cell])
        least, most = int(bounds.least[cell]), int(bounds.most[cell])
        reasons.append(CertainReason(tuple(bounds.system.values(cell)), least, most, because))
    return TablesAudit(tuple(bounds.system.domains), tuple(weights), tuple(reasons))


def _cells(study: TablesStudy, bounds: CellBounds, table: str) -> int:
    """Return of how many groups of people a table tells; of areas, how many counts and figures it has."""
    if isinstance(bounds, AreaBounds):
        [of_table] = (one for one in study.tables if one.id == table)
        return len(of_table.rows or ()) + len(of_table.statistics)
    rows = (row for row in bounds.published.rows if row.table == table)
    return len({tuple(sorted(row.terms[0].where.items())) for row in rows})


def _weight(
    table: str,
    cells: int,
    bounds: CellBounds,
    without: CellBounds | None,
    rare: int,
    secrets: Mapping[str, Sequence[str]],
) -> TableWeight:
    if without is None:
        return TableWeight(table, None, None, cells, "limit", frees=False)
    left = without.certain_persons
    rare_left = int(without.least[without.most <= rare].sum())
    is_proved = bounds.certain == without.certain == "proved"
    nobody = without.certain == "proved" and left == 0
    return TableWeight(
        table,
        max(0, bounds.certain_persons - left),
        rare_left,
        cells,
        "proved" if is_proved else "limit",
        frees=nobody or (without.status == "proved" and rare_left == 0),
        secrets={
            secret: certain_at_most(without, known_groups(without, secret, known))
            for secret, known in secrets.items()
            if without.possible == "proved"
        },
    )


@dataclass(eq=False)
class _Subsets:
    """What sets of the tables of a study tell, each asked once."""

    study: TablesStudy
    nesting: Nesting | None
    budget: SolverBudget
    solutions: dict[tuple[str, ...], CellBounds | None] = field(default_factory=dict)

    def take(
        self, tables: tuple[str, ...], seconds: float, questions: Sequence[str]
    ) -> CellBounds | None:
        if tables not in self.solutions:
            solution = _of_some(self.study, self.nesting, tables, self.budget, seconds, questions)
            self.solutions[tables] = solution
        return self.solutions[tables]

    def because(self, names: tuple[str, ...], codes: Integers) -> TableSet:
        """Return an irreducible set of tables from which it follows that somebody has a combination."""
        if self.budget.left <= 0:
            return TableSet(names, "limit")

        def follows(tables: tuple[str, ...]) -> bool | None:
            solution = self.take(tables, self.budget.left / 4, questions=("certain",))
            return None if solution is None else _is_certain(solution, codes)

        needed = tuple(
            name
            for name in names
            if follows(tuple(table for table in names if table != name)) is False
        )
        if follows(needed):
            return TableSet(needed, "proved")
        return irreducible_set(names, follows)


def _is_certain(solution: CellBounds, codes: Integers) -> bool | None:
    """Tell whether somebody has a combination for certain; None: that is not proved."""
    system = solution.system
    [cell] = np.flatnonzero((system.cells == codes).all(axis=1)).tolist()
    if solution.least[cell] > 0:
        return True
    number = int(system.class_of[cell])
    is_shown = any(number not in file for file in solution.files)
    return False if is_shown or solution.certain == "proved" else None


def _of_some(
    study: TablesStudy,
    nesting: Nesting | None,
    tables: Collection[str],
    budget: SolverBudget,
    seconds: float,
    questions: Sequence[str],
) -> CellBounds | None:
    """Return what some tables of a study tell; None: there is no time, or that is not said by these alone."""
    if budget.left <= 0:
        return None
    some = tuple(table for table in study.tables if table.id in tables)
    try:
        return solved(
            study.model_copy(update={"tables": some}),
            nesting,
            seconds=seconds,
            memory=budget.memory,
            questions=questions,
        )
    except (BudgetError, OutOfTime, StudyError):  # they may not say how many people there are
        return None
