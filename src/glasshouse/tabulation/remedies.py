"""The smallest change after which an output may follow what went out before, each tried as it would be published.

Counts are hidden, a table is coarsened by one attribute, rounded, or withheld. What a change costs is how many counts
it takes away or blurs; the cheapest comes first, and only one that was computed anew and passes is ever advised.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Literal

import pyarrow as pa

from glasshouse.errors import BudgetError, StudyError
from glasshouse.solvers import SolverBudget
from glasshouse.study.tables import CountRounding, PublishedTable
from glasshouse.tabulation.outputs import PublishedOutput
from glasshouse.tabulation.succession import NewCertainty, Succession

Change = Literal["hide", "coarsen", "round", "withhold"]
_BASES = (5, 10, 20)
"""To what counts are rounded."""
_SINGLE = 8
"""So many counts are hidden one by one at most."""
_SHARE = 0.5
"""The part of what is left of the time that one change may take."""


@dataclass(frozen=True)
class Remedy:
    """A change of an output after which it passes."""

    change: Change
    """What is done."""
    table: str
    """To which table; empty: to all of the output."""
    cells: int
    """How many counts it takes away or blurs."""
    attribute: str | None = None
    """Without which attribute a table is published, where it is coarsened."""
    base: int | None = None
    """To multiples of what, where it is rounded."""
    hidden: tuple[Mapping[str, Any], ...] = ()
    """Which counts are hidden: for the publisher alone."""

    def to_dict(self) -> dict[str, Any]:
        """Return it as plain values, without which counts are hidden."""
        content = {"change": self.change, "table": self.table, "cells": self.cells}
        more = {"attribute": self.attribute, "base": self.base}
        return content | {name: value for name, value in more.items() if value is not None}

    def to_frame(self) -> pa.Table:
        """Return it as a table of one row."""
        return pa.Table.from_pylist([self.to_dict()])


def remedy_of(
    output: PublishedOutput,
    answer: Succession,
    follows: Callable[[PublishedOutput, float], Succession],
    *,
    seconds: float,
) -> Remedy:
    """Return the cheapest of the changes tried after which an output passes; at worst, that it is withheld.

    Args:
        output: The output that does not pass.
        answer: Why it does not.
        follows: Tells whether a changed output may follow, in so many CPU seconds.
        seconds: CPU seconds for all of them; nothing passes that was not computed.
    """
    budget = SolverBudget(seconds, 0)
    tried = sorted(_changes(output, answer), key=lambda change: change[0].cells)
    for remedy, changed in tried:
        if budget.left <= 0:
            break
        if changed is None:
            return remedy
        try:
            if follows(changed, budget.left * _SHARE).verdict == "publishable":
                return remedy
        except (BudgetError, StudyError):  # it is no output that can be checked
            continue
    return Remedy("withhold", "", _cells_of(output))


_Changed = tuple[Remedy, PublishedOutput | None]


def _changes(output: PublishedOutput, answer: Succession) -> Iterator[_Changed]:
    """Yield changes of an output, each with what is then published; None: nothing is."""
    for place, table in enumerate(output.plan.tables):
        yield from _hidden(output, place, answer)
        for name in table.by if table.rows is not None and len(table.by) > 1 else ():
            coarse = _without(table, name)
            if coarse is not None:
                lost = len(table.rows or ()) - len(coarse.rows or ())
                remedy = Remedy("coarsen", str(table.id), lost, attribute=name)
                yield remedy, _with_table(output, place, coarse)
        for base in _BASES:
            rounded = _rounded(table, base)
            if rounded is not None:
                remedy = Remedy("round", str(table.id), _table_cells(table), base=base)
                yield remedy, _with_table(output, place, rounded)
        if len(output.plan.tables) > 1:
            remedy = Remedy("withhold", str(table.id), _table_cells(table))
            yield remedy, _with_table(output, place, None)
    yield Remedy("withhold", "", _cells_of(output)), None


def _cells_of(output: PublishedOutput) -> int:
    return sum(map(_table_cells, output.plan.tables))


def _table_cells(table: PublishedTable) -> int:
    return len(table.rows or ()) + len(table.statistics)


def _with_table(
    output: PublishedOutput, place: int, table: PublishedTable | None
) -> PublishedOutput:
    tables = list(output.plan.tables)
    tables[place : place + 1] = [] if table is None else [table]
    plan = output.plan.model_copy(update={"tables": tuple(tables)})
    return PublishedOutput(output.name, plan)


# -- hide ------------------------------------------------------------------------------------------------------------


def _hidden(output: PublishedOutput, place: int, answer: Succession) -> Iterator[_Changed]:
    """Yield an output without one of the counts that make somebody certain, and without all of them.

    Of a hidden count is said no more than that it is at most all of the table: whoever hears less knows less.
    """
    table = output.plan.tables[place]
    rows, statistics = list(table.rows or ()), list(table.statistics)
    wheres: list[Mapping[str, Any]] = [dict(zip(table.by, row[:-1], strict=True)) for row in rows]
    wheres += [statistic.where for statistic in statistics]
    concerned = [
        number
        for number, where in enumerate(wheres)
        if any(_may_be_in(one, where) for one in answer.reasons)
    ]
    choices = [[number] for number in concerned[:_SINGLE]]
    choices += [concerned] if 1 < len(concerned) < len(wheres) else []
    counts: list[Any] = [row[-1] for row in rows] + [one.count for one in statistics]
    most = sum(table.window(count)[1] for count in counts if count is not None)
    for chosen in choices:
        entries: dict[str, Any] = {
            "statistics": tuple(
                one.model_copy(update={"count": (0, most)}) if number in chosen else one
                for number, one in enumerate(statistics, start=len(rows))
            )
        }
        if table.rows is not None:
            entries["rows"] = tuple(
                (*row[:-1], (0, most)) if number in chosen else row
                for number, row in enumerate(rows)
            )
        changed = table.model_copy(update=entries)
        values = tuple(wheres[number] for number in chosen)
        remedy = Remedy("hide", str(table.id), len(chosen), hidden=values)
        yield remedy, _with_table(output, place, changed)


def _may_be_in(reason: NewCertainty, where: Mapping[str, Any]) -> bool:
    """Tell whether people of whom something becomes certain may be among those of a count."""
    for name, condition in where.items():
        if name not in reason.where:
            continue
        values = reason.where[name]
        certain = values if isinstance(values, list) else [values]
        if hasattr(condition, "holds"):
            if not any(condition.holds(value) for value in certain):
                return False
        else:
            among = condition if isinstance(condition, tuple) else (condition,)
            if not any(value in among for value in certain):
                return False
    return True


# -- coarsen and round -----------------------------------------------------------------------------------------------


def _without(table: PublishedTable, name: str) -> PublishedTable | None:
    """Return a table summed over one of its attributes; None: it has counts that are not exact."""
    if table.statistics or table.rounding is not None or table.within is not None:
        return None
    place = table.by.index(name)
    sums: dict[tuple[Any, ...], int] = {}
    for row in table.rows or ():
        if not isinstance(row[-1], int):
            return None
        key = (*row[:place], *row[place + 1 : -1])
        sums[key] = sums.get(key, 0) + row[-1]
    by = tuple(one for one in table.by if one != name)
    return table.model_copy(
        update={"by": by, "rows": tuple((*key, count) for key, count in sums.items())}
    )


def _rounded(table: PublishedTable, base: int) -> PublishedTable | None:
    """Return a table with its counts rounded to the nearest multiple; None: they are not all exact counts."""
    counts = [row[-1] for row in table.rows or ()] + [one.count for one in table.statistics]
    exact = [count for count in counts if isinstance(count, int)]
    if table.rounding is not None or table.within is not None or len(exact) < len(counts):
        return None
    figures = ("sum", "mean", "median", "percent")
    if any(getattr(one, figure) is not None for one in table.statistics for figure in figures):
        return None
    rows = tuple((*row[:-1], _nearest(row[-1], base)) for row in table.rows or ())
    statistics = tuple(
        one.model_copy(update={"count": _nearest(one.count, base)}) for one in table.statistics
    )
    rounding = CountRounding(base=base, how="nearest")
    entries = {"rounding": rounding, "statistics": statistics}
    return table.model_copy(update=entries if table.rows is None else entries | {"rows": rows})


def _nearest(count: Any, base: int) -> int:
    return (int(count) + base // 2) // base * base
