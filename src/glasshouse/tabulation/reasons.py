"""Which tables it is because of: an irreducible set of them, of which none can be left out.

It is found by leaving one table out after the other: what still follows without it does not need it. Where that is not
decided in time, the table is kept, and the set is not called irreducible. A set of tables is read anew from the study,
since the size of a group, which a median needs, may stand in another table.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from typing import Any

from glasshouse.errors import BudgetError, StudyError
from glasshouse.solvers import SolverBudget
from glasshouse.study.tables import TablesStudy
from glasshouse.tabulation.solution import CellBounds, Status, cell_bounds
from glasshouse.tabulation.statements import published


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
        solution = _of_some(study, tables, budget, budget.left / 2, questions=())
        if solution is None:
            return None
        if solution.status == "infeasible":
            return True
        return False if solution.files else None

    return irreducible_set(names, contradict)


def _of_some(
    study: TablesStudy,
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
        return cell_bounds(
            published(study.model_copy(update={"tables": some})),
            seconds=seconds,
            memory=budget.memory,
            counting=False,
            questions=questions,
        )
    except (BudgetError, StudyError):  # they may not say how many people there are
        return None
