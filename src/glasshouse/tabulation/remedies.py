"""The smallest changes after which tables may go out, alone or after others, each tried as it would be published.

Counts are hidden, alone or with others that they would follow from, a table is coarsened by one attribute, rounded, or
withheld; where no single table is to blame, each is changed as if it went out alone. What a change costs is how many
counts it takes away or blurs; the cheapest comes first, and only one that was computed anew and passes is ever advised.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from typing import Any, Literal

import numpy as np
import pyarrow as pa

from glasshouse.errors import BudgetError, StudyError
from glasshouse.solvers import OutOfTime, SolverBudget
from glasshouse.study.tables import CountRounding, PublishedTable, TablesStudy
from glasshouse.tabulation.geography import Nesting, nesting_in, solved
from glasshouse.tabulation.outputs import PublishedOutput
from glasshouse.tabulation.search import RARE
from glasshouse.tabulation.solution import CellBounds
from glasshouse.tabulation.succession import Succession

Change = Literal["hide", "coarsen", "round", "withhold", "several"]
_BASES = (5, 10, 20)
"""To what counts are rounded."""
_SINGLE = 8
"""So many counts are hidden one by one at most."""
_BLOCKS, _MOST_CROSSED = 3, 4
"""So many blocks of counts are hidden around one at most, in a table that crosses no more attributes."""
_MOST_LOOKED_AT = 5_000_000
"""Where more counts times combinations had to be looked at, as of thousands of areas, nothing is advised."""
_SHARE = 0.5
"""The part of what is left of the time that one change may take."""


@dataclass(frozen=True)
class Remedy:
    """A change of an output after which it passes."""

    change: Change
    """What is done."""
    table: str
    """To which table; empty: to all."""
    cells: int
    """How many counts it takes away or blurs."""
    attribute: str | None = None
    """Without which attribute a table is published, where it is coarsened."""
    base: int | None = None
    """To multiples of what, where it is rounded."""
    hidden: tuple[Mapping[str, Any], ...] = ()
    """Which counts are hidden: for the publisher alone."""
    parts: tuple[Remedy, ...] = ()
    """What is done to single tables, where it is several changes together."""

    def for_publisher(self) -> dict[str, Any]:
        """Return it with which counts are hidden, as plain values: that is for the publisher alone."""
        hidden = [
            {
                name: value if isinstance(value, str | int | float) else str(value)
                for name, value in one.items()
            }
            for one in self.hidden
        ]
        return self.to_dict() | ({"hidden": hidden} if hidden else {})

    def to_dict(self) -> dict[str, Any]:
        """Return it as plain values, without which counts are hidden."""
        content = {"change": self.change, "table": self.table, "cells": self.cells}
        more = {
            "attribute": self.attribute,
            "base": self.base,
            "parts": [part.to_dict() for part in self.parts] or None,
        }
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
    trial = _Trial(follows, SolverBudget(seconds, 0))
    tables = output.plan.tables
    failing = [
        place
        for place, table in enumerate(tables)
        if len(tables) == 1 or not trial.passes(_of_tables(output, [table]))
    ]
    withheld = Remedy("withhold", "", _cells_of(output))
    if len(failing) > 1:  # changing one leaves what becomes certain by the others
        return _together(output, failing, trial) or withheld
    for remedy, changed in _by_cost(
        change
        for place in failing or range(len(tables))
        for change in _changes(output, place, _reasons(answer))
    ):
        if trial.passes(changed):
            return remedy
    return withheld


@dataclass(frozen=True)
class _Trial:
    """Changed outputs are tried, as long as there is time."""

    follows: Callable[[PublishedOutput, float], Succession]
    budget: SolverBudget

    def answer(self, output: PublishedOutput) -> Succession | None:
        """Return whether an output may follow; None: there is no time, or it is none that can be checked."""
        if self.budget.left <= 0:
            return None
        try:
            return self.follows(output, self.budget.left * _SHARE)
        except (BudgetError, StudyError):
            return None

    def passes(self, output: PublishedOutput) -> bool:
        """Tell whether it is proved that an output may follow."""
        answer = self.answer(output)
        return answer is not None and answer.verdict == "publishable"


def _together(output: PublishedOutput, failing: Sequence[int], trial: _Trial) -> Remedy | None:
    """Return the cheapest change of each table that does not pass alone; None: with all of them it does not pass.

    What is enough for each table alone may leave the other to give away what it hides: then each is changed more.
    """
    least = 0
    while trial.budget.left > 0:
        parts: list[Remedy] = []
        kept = list(output.plan.tables)
        for place in reversed(failing):
            alone = _of_tables(output, [output.plan.tables[place]])
            remedy, changed = _cheapest(alone, least, trial)
            kept[place : place + 1] = changed
            parts.insert(0, remedy)
        if kept and trial.passes(_of_tables(output, kept)):
            hidden = tuple(where for part in parts for where in part.hidden)
            cells = sum(part.cells for part in parts)
            return Remedy("several", "", cells, hidden=hidden, parts=tuple(parts))
        if all(part.change == "withhold" for part in parts):
            return None
        least = min(part.cells for part in parts if part.change != "withhold")
    return None


def _cheapest(
    alone: PublishedOutput, least: int, trial: _Trial
) -> tuple[Remedy, tuple[PublishedTable, ...]]:
    """Return the cheapest change of more than so many counts after which a table passes alone, and what it is then."""
    table = alone.plan.tables[0]
    answer = trial.answer(alone)
    for one, changed in _by_cost(_changes(alone, 0, _reasons(answer)) if answer else ()):
        if one.cells > least and trial.passes(changed):
            return one, changed.plan.tables
    return Remedy("withhold", str(table.id), _table_cells(table)), ()


_Changed = tuple[Remedy, PublishedOutput]
Reasons = Sequence[Mapping[str, Any]]
"""Of whom something becomes certain: values by attribute."""


def _reasons(answer: Succession) -> Reasons:
    return [one.where for one in answer.reasons]


def _by_cost(changes: Iterable[_Changed]) -> list[_Changed]:
    return sorted(changes, key=lambda change: change[0].cells)


def _changes(output: PublishedOutput, place: int, reasons: Reasons) -> Iterator[_Changed]:
    """Yield changes of a table of an output, each with what is then published."""
    table = output.plan.tables[place]
    yield from _hidden(output, place, reasons)
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


def tables_advice(
    study: TablesStudy, bounds: CellBounds, *, rare: int, seconds: float, memory: int
) -> tuple[Remedy, ...]:
    """Return of each kind of change the cheapest after which nobody with a rare combination is certain, as is proved.

    Tried are counts hidden, a table coarsened, and counts rounded, of one table and of all; to withhold one is told by
    `glasshouse.tabulation.reasons`.

    Args:
        study: A study whose tables hold their rows.
        bounds: What they tell as they are.
        rare: Up to how many people a combination is rare.
        seconds: CPU seconds for all of it; nothing is advised that was not computed.
        memory: The bytes that combinations and rows may take.
    """
    budget = SolverBudget(seconds, memory)
    names, nesting = list(bounds.system.domains), nesting_in(bounds)
    few = np.flatnonzero((bounds.least > 0) & (bounds.most <= rare)).tolist()
    output = PublishedOutput("", study)
    if budget.left <= 0 or len(few) * _cells_of(output) > _MOST_LOOKED_AT:
        return ()
    reasons = [dict(zip(names, bounds.system.values(cell), strict=True)) for cell in few]
    if nesting is not None:
        for reason in reasons:
            reason.update(nesting.around(reason))
    tried = [
        *(one for place in range(len(study.tables)) for one in _changes(output, place, reasons)),
        *_changes_of_all(output, reasons),
    ]
    kinds: tuple[Change, ...] = ("hide", "coarsen", "round")
    found = []
    for number, kind in enumerate(kinds):
        of_kind = sorted(
            (one for one in tried if one[0].change == kind), key=lambda one: one[0].cells
        )
        share = SolverBudget(budget.left / (len(kinds) - number), memory)
        for remedy, changed in of_kind:
            if share.left <= 0:
                break
            if _frees(changed.plan, nesting, rare, share):
                found.append(remedy)
                break
    return tuple(sorted(found, key=lambda one: one.cells))


def _frees(study: TablesStudy, nesting: Nesting | None, rare: int, budget: SolverBudget) -> bool:
    """Tell whether it is proved that nobody with a rare combination is certain."""
    try:
        solution = solved(
            study,
            nesting,
            seconds=budget.left * _SHARE,
            memory=budget.memory,
            questions=("certain", RARE),
            rare=rare,
        )
    except (BudgetError, OutOfTime, StudyError):  # it may not say how many people there are
        return False
    certain = solution.least > 0
    return solution.certain == "proved" and not (certain & (solution.most <= rare)).any()


def _changes_of_all(output: PublishedOutput, reasons: Reasons) -> Iterator[_Changed]:
    """Yield an output without all counts that make somebody certain, and with all counts rounded."""
    if len(output.plan.tables) < 2:
        return
    hidden, values, cells = output, list[Mapping[str, Any]](), 0
    for place in range(len(output.plan.tables)):
        changes = list(_hidden(output, place, reasons))
        if changes:
            remedy, changed = max(changes, key=lambda change: change[0].cells)
            hidden = _with_table(hidden, place, changed.plan.tables[place])
            values, cells = [*values, *remedy.hidden], cells + remedy.cells
    if cells:
        yield Remedy("hide", "", cells, hidden=tuple(values)), hidden
    for base in _BASES:
        rounded = [_rounded(table, base) for table in output.plan.tables]
        whole = tuple(table for table in rounded if table is not None)
        if len(whole) == len(rounded):
            plan = output.plan.model_copy(update={"tables": whole})
            yield (
                Remedy("round", "", _cells_of(output), base=base),
                PublishedOutput(output.name, plan),
            )


def _cells_of(output: PublishedOutput) -> int:
    return sum(map(_table_cells, output.plan.tables))


def _table_cells(table: PublishedTable) -> int:
    return len(table.rows or ()) + len(table.statistics)


def _with_table(
    output: PublishedOutput, place: int, table: PublishedTable | None
) -> PublishedOutput:
    tables = list(output.plan.tables)
    tables[place : place + 1] = [] if table is None else [table]
    return _of_tables(output, tables)


def _of_tables(output: PublishedOutput, tables: Sequence[PublishedTable]) -> PublishedOutput:
    plan = output.plan.model_copy(update={"tables": tuple(tables)})
    return PublishedOutput(output.name, plan)


# -- hide ------------------------------------------------------------------------------------------------------------


def _hidden(output: PublishedOutput, place: int, reasons: Reasons) -> Iterator[_Changed]:
    """Yield an output without one of the counts that make somebody certain, without all, and without those around.

    Of a hidden count is said no more than that it is at most all of the table: whoever hears less knows less.
    """
    table = output.plan.tables[place]
    rows, statistics = list(table.rows or ()), list(table.statistics)
    wheres: list[Mapping[str, Any]] = [dict(zip(table.by, row[:-1], strict=True)) for row in rows]
    wheres += [statistic.where for statistic in statistics]
    counts: list[Any] = [row[-1] for row in rows] + [one.count for one in statistics]
    concerned = [
        number
        for number, where in enumerate(wheres)
        if any(_may_be_in(one, where) for one in reasons)
    ]
    others = [number for number in range(len(wheres)) if number not in concerned]
    shown = [number for number in concerned if isinstance(counts[number], int)]
    single = [number for number in concerned + others if isinstance(counts[number], int)]
    choices = [[number] for number in single[:_SINGLE]]
    choices += [shown] if 1 < len(shown) < len(wheres) else []
    choices += _blocks(table, concerned)
    most = sum(table.window(count)[1] for count in counts if count is not None)
    for chosen in _once(choices):
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


def _blocks(table: PublishedTable, concerned: Sequence[int]) -> Iterator[list[int]]:
    """Yield the counts to hide around each of some rows, so that sums over an attribute do not give it away.

    These are the corners of a block: every way to take each value from the row, or from another one that differs from
    it in all; last the cheapest of all rows together. What is hidden already need not be hidden again.
    """
    numbers = {tuple(row[:-1]): number for number, row in enumerate(table.rows or ())}
    keys = list(numbers)
    if not keys or len(table.by) > _MOST_CROSSED:
        return
    every: set[int] = set()
    for number in [one for one in concerned if one < len(keys)][:_SINGLE]:
        key = keys[number]
        blocks = []
        for other in keys:
            if any(one == value for one, value in zip(key, other, strict=True)):
                continue
            corners = [numbers.get(corner) for corner in product(*zip(key, other, strict=True))]
            rows = [(table.rows or ())[corner] for corner in corners if corner is not None]
            hidden = [numbers[row[:-1]] for row in rows if isinstance(row[-1], int)]
            cost = sum(int(row[-1]) for row in rows if isinstance(row[-1], int))
            if hidden:
                blocks.append((len(hidden), cost, hidden))
        blocks.sort()
        yield from (sorted(hidden) for _, _, hidden in blocks[:_BLOCKS])
        every |= set(blocks[0][2]) if blocks else set()
    if every:
        yield sorted(every)


def _once(choices: Iterable[list[int]]) -> list[tuple[int, ...]]:
    return list(dict.fromkeys(map(tuple, choices)))


def _may_be_in(reason: Mapping[str, Any], where: Mapping[str, Any]) -> bool:
    """Tell whether people of whom something becomes certain may be among those of a count."""
    for name, condition in where.items():
        if name not in reason:
            continue
        values = reason[name]
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
    """Return a table summed over one of its attributes; None: it has counts that are not exact, or lacks some."""
    if table.statistics or table.rounding is not None or table.within is not None:
        return None
    if not table.complete or table.noise is not None:
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
    """Return a table with its counts rounded to the nearest multiple; None: they are not all exact, or suppressed."""
    counts = [row[-1] for row in table.rows or ()] + [one.count for one in table.statistics]
    exact = [count for count in counts if isinstance(count, int)]
    is_changed = table.rounding is not None or table.within is not None or table.noise is not None
    if is_changed or not exact or len(exact) < len(counts):
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


def _nearest(count: Any, base: int) -> Any:
    """Return the multiple nearest to a count; the mark of a suppressed one stays."""
    return (count + base // 2) // base * base if isinstance(count, int) else count
