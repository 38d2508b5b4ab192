"""Whether an output may follow what went out before: who becomes certain by it that was not, and because of what.

Both are asked of the same combinations, those of all attributes of all outputs: what the earlier outputs tell, and what
they tell together with the new one. Certainty only grows, so that what was proved before still holds, and a file of
people that met the earlier outputs and meets the new one, too, shows at once what stays open. Only what is proved
passes: what is not decided in time is told as a limit, and never as publishable.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np
import pyarrow as pa

from glasshouse.arrays import Flags, Integers
from glasshouse.errors import BudgetError, StudyError
from glasshouse.progress import OnProgress
from glasshouse.solvers import SolverBudget
from glasshouse.study.tables import Value
from glasshouse.tabulation.cells import CellSystem, system_of
from glasshouse.tabulation.outputs import PublishedOutput, joined, labels_of
from glasshouse.tabulation.reasons import TableSet, contradicting_tables
from glasshouse.tabulation.search import RARE
from glasshouse.tabulation.solution import (
    CellBounds,
    cell_bounds,
    constant_sums,
    counts_of_files,
)
from glasshouse.tabulation.statements import CodesWhere, PublishedRow, PublishedSet, published

NO_TABLES = TableSet((), "proved")
"""Nothing is needed besides."""
Ruling = Literal["publishable", "discloses", "limit", "contradiction"]
Combination = tuple[Value, ...]
_AFTER, _CELLS, _WHY = 0.6, 0.5, 0.5
"""The parts of what is left of the time that all outputs together, single cells and the reasons may take."""


@dataclass(frozen=True)
class NewCertainty:
    """A rare combination that becomes certain, or a small count that becomes known: for the publisher alone."""

    where: Mapping[str, Any]
    """The combination."""
    least: int
    """So many have it at least."""
    most: int
    """And at most."""

    def to_dict(self) -> dict[str, Any]:
        """Return it as plain values."""
        return {"values": dict(self.where), "least": self.least, "most": self.most}


@dataclass(frozen=True, eq=False)
class Succession:
    """Whether an output may follow those that went out before."""

    output: str
    """What the new output is called."""
    bounds: CellBounds | None
    """What all outputs tell together; None: no file of people meets them."""
    rare: int
    """Up to how many people a combination is rare."""
    before: int = 0
    """How many people have a combination that was certain before."""
    after: int = 0
    """How many have one that is certain with the new output."""
    new_rare: int = 0
    """How many of those that become certain have a rare combination."""
    small_cells: int = 0
    """How many counts of one to `rare` people it shows that were not known."""
    recovered_cells: int = 0
    """How many suppressed or rounded counts, of any output, become known exactly."""
    undecided: bool = False
    """Whether something was not proved in time."""
    because: TableSet = NO_TABLES
    """The earlier tables without which nobody with a rare combination would become certain."""
    reasons: tuple[NewCertainty, ...] = ()
    """What becomes certain: for the publisher alone."""
    contradiction: TableSet | None = None
    """Tables that contradict each other."""

    @property
    def verdict(self) -> Ruling:
        """What follows: only what is proved is publishable."""
        if self.contradiction is not None:
            return "contradiction"
        if self.new_rare or self.small_cells or self.recovered_cells:
            return "discloses"
        return "limit" if self.undecided else "publishable"

    @property
    def new_certain(self) -> int:
        """How many people have a combination that becomes certain."""
        return self.after - self.before

    @property
    def records(self) -> int:
        """How many people the outputs are of, in the first file that fits."""
        files = () if self.bounds is None else self.bounds.files
        return sum(files[0].values()) if files else 0

    def to_dict(self) -> dict[str, Any]:
        """Return what tells of nobody as plain values: numbers of people and names of tables, and no combination."""
        content: dict[str, Any] = {
            "verdict": self.verdict,
            "output": self.output,
            "new_certain_persons": self.new_certain,
            "new_rare_persons": self.new_rare,
            "before": self.before,
            "after": self.after,
            "small_cells": self.small_cells,
            "recovered_cells": self.recovered_cells,
            "rare": self.rare,
            "proved": not self.undecided,
            "because": list(self.because.tables),
            "irreducible": self.because.irreducible,
        }
        if self.contradiction is not None:
            content["contradiction"] = self.contradiction.to_dict()
        return content

    def to_frame(self) -> pa.Table:
        """Return the same as a table of one row, without the names of tables."""
        plain = {
            name: value
            for name, value in self.to_dict().items()
            if not isinstance(value, list | dict)
        }
        return pa.Table.from_pylist([plain])

    def for_publisher(self) -> dict[str, Any]:
        """Return everything as plain values: it tells what becomes certain, and is the disclosure itself."""
        return {**self.to_dict(), "reasons": [one.to_dict() for one in self.reasons]}


def succession_of(
    earlier: Sequence[PublishedOutput],
    output: PublishedOutput,
    *,
    rare: int,
    proof: Mapping[str, Any] | None = None,
    seconds: float = 60.0,
    memory: int = 2 << 30,
    explaining: bool = True,
    on_progress: OnProgress | None = None,
) -> Succession:
    """Tell whether an output may follow those that went out before.

    Args:
        earlier: What went out before, withdrawn or not.
        output: What is to follow.
        rare: Up to how many people a combination is rare.
        proof: The proof of what the earlier outputs tell, as `proof_of` gives it: its files of people need not be
            looked for again. One of anything else is not used.
        seconds: CPU seconds; then what is not proved is told as a limit.
        memory: The bytes that combinations and rows may take.
        explaining: Whether it is also asked because of which earlier tables somebody becomes certain.
        on_progress: Told how far it is.

    Raises:
        BudgetError: The combinations do not fit the memory.
        StudyError: Nothing says how many people there can be, or the outputs say different numbers.
    """
    budget = SolverBudget(seconds, memory)
    outputs = [*earlier, output]
    labels = labels_of(outputs)
    new = [label for label, owner in labels.items() if owner == output.name]
    study = joined(outputs)
    everything = published(study)
    past = None
    if earlier:
        past = published(joined(outputs, tables=[label for label in labels if label not in new]))
    evidence = None if past is None or proof is None else _evidence(proof, past)
    files = () if evidence is None else evidence.files
    bounds = cell_bounds(
        everything,
        seconds=budget.left * _AFTER,
        memory=memory,
        counting=False,
        certifying=True,
        questions=("certain", RARE),
        rare=rare,
        files=files,
        on_progress=on_progress,
    )
    if bounds.status == "infeasible":
        tables = contradicting_tables(study, seconds=budget.left, memory=memory)
        return Succession(output.name, None, rare, contradiction=tables)
    before = _Past(past, evidence, rare, budget)
    least_before, most_before = before.ends(bounds)
    comparison = _Comparison(bounds, least_before, most_before, rare)
    bounds = _with_files(comparison.narrowed(), files)
    pool = _Pool(bounds, SolverBudget(budget.left * _CELLS, memory))
    small, recovered = _Cells(everything, pool).new_ones(new, before, rare)
    answer = Succession(
        output.name,
        pool.bounds,
        rare,
        before=int(least_before.sum()),
        after=int(comparison.least.sum()),
        new_rare=int(comparison.new_rare.sum()),
        small_cells=len(small),
        recovered_cells=len(recovered),
        undecided=comparison.is_open or pool.is_open,
        reasons=(*comparison.reasons(), *small, *recovered),
    )
    if not explaining or not answer.reasons:
        return answer
    because = _because(
        outputs, new, comparison, recovered, SolverBudget(budget.left * _WHY, memory)
    )
    return replace(answer, because=because)


def _with_files(bounds: CellBounds, files: Sequence[Mapping[Combination, int]]) -> CellBounds:
    """Return bounds with the files of people that meet everything, also those that show no further end."""
    further = []
    for people in counts_of_files(bounds.system, files):
        file = {place: int(people[place]) for place in np.flatnonzero(people).tolist()}
        if file not in bounds.files and _is_met(bounds.system, people):
            further.append(file)
    return replace(bounds, files=(*bounds.files, *further))


def _is_met(system: CellSystem, people: Integers) -> bool:
    """Tell whether so many people in each class meet every row, and of each choice some alternative."""
    broken = {
        row.case
        for row in system.rows
        if not row.low <= int((row.coefficients * people[row.classes]).sum()) <= row.high
    }
    return None not in broken and all(
        any((choice, case) not in broken for case in range(count))
        for choice, (_, count) in enumerate(system.choices)
    )


@dataclass(frozen=True)
class _Evidence:
    """What a proof tells of the earlier outputs: who is certain, and files of people that meet them all."""

    bounds: Mapping[Combination, tuple[int, int]]
    """Between what the combinations lie that somebody has for certain."""
    files: Sequence[Mapping[Combination, int]]
    """The files."""


def _evidence(proof: Mapping[str, Any], past: PublishedSet) -> _Evidence | None:
    """Return what a proof tells; None: it is of something else."""
    if proof.get("published") != past.to_dict() or proof.get("contradiction") is not None:
        return None
    system = system_of(past)
    first = np.unique(system.class_of, return_index=True)[1].tolist()
    values = [tuple(system.values(cell)) for cell in first]
    bounds = {
        values[number]: (least, most)
        for number, (least, most, *_) in enumerate(proof["claims"])
        if least > 0 and system.sizes[number] == 1
    }
    files = [
        {values[int(number)]: count for number, count in file.items()} for file in proof["files"]
    ]
    return _Evidence(bounds, files)


@dataclass(eq=False)
class _Past:
    """What the earlier outputs tell, as far as it is asked for."""

    published: PublishedSet | None
    evidence: _Evidence | None
    rare: int
    budget: SolverBudget
    _solution: CellBounds | None = None

    def ends(self, after: CellBounds) -> tuple[Integers, Integers]:
        """Return the least and the greatest that was proved before, of each combination that is left."""
        cells = len(after.least)
        least, most = np.zeros(cells, np.int64), after.most.copy()
        if self.published is None:
            return least, most
        certain = self._certain()
        for cell in range(cells):
            ends = certain.get(tuple(after.system.values(cell)))
            if ends is not None:
                least[cell], most[cell] = ends
        return least, most

    def _certain(self) -> Mapping[Combination, tuple[int, int]]:
        if self.evidence is not None:
            return self.evidence.bounds
        solution = self.solution
        if solution is None:
            return {}
        return {tuple(values): (low, high) for values, low, high in solution.certain_cells()}

    def known(self, asked: Sequence[Asked]) -> list[int | None]:
        """Return how many people conditions hold of, where that was certain before; None: it was not."""
        if not asked or self.solution is None:
            return [None] * len(asked)
        return _Pool(
            self.solution, SolverBudget(self.budget.left * _CELLS, self.budget.memory)
        ).known(asked)

    @property
    def solution(self) -> CellBounds | None:
        """What they tell, found out once; None: they do not say how many people there are, or there is no time."""
        if self._solution is None and self.published is not None and self.budget.left > 0:
            try:
                self._solution = cell_bounds(
                    self.published,
                    seconds=self.budget.left * _CELLS,
                    memory=self.budget.memory,
                    counting=False,
                    questions=("certain", RARE) if self.evidence is None else (),
                    rare=self.rare,
                    files=() if self.evidence is None else self.evidence.files,
                )
            except (BudgetError, StudyError):
                return None
        return self._solution


class _Comparison:
    """Who is certain after, beside who was before; only what is proved counts as not certain."""

    def __init__(
        self, bounds: CellBounds, least_before: Integers, most_before: Integers, rare: int
    ) -> None:
        self.bounds = bounds
        self.least: Integers = np.maximum(bounds.least, least_before)
        most = np.minimum(bounds.most, most_before)
        was_rare = np.where(most_before <= rare, least_before, 0)
        is_rare = np.where(most <= rare, self.least, 0)
        self.most: Integers = most
        self.new_rare: Integers = np.maximum(is_rare - was_rare, 0)
        seen = np.zeros(len(bounds.class_least), np.int64)
        for file in bounds.files:
            places = list(file)
            seen[places] = np.maximum(seen[places], list(file.values()))
        is_common: Flags = seen[bounds.system.class_of] > rare
        self.open_widths: Flags = (self.least > 0) & (most > rare) & ~is_common
        """The combinations that are certain, and of which it is open whether they are rare."""

    @property
    def is_open(self) -> bool:
        """Whether it is not proved who is certain, or who of these has a rare combination."""
        return self.bounds.certain != "proved" or bool(self.open_widths.any())

    def narrowed(self) -> CellBounds:
        """Return the bounds with what was proved before, which still holds."""
        class_of = self.bounds.system.class_of
        single = np.flatnonzero(self.bounds.system.sizes[class_of] == 1)
        least, most = self.bounds.class_least.copy(), self.bounds.class_most.copy()
        least[class_of[single]], most[class_of[single]] = self.least[single], self.most[single]
        return replace(
            self.bounds, least=self.least, most=self.most, class_least=least, class_most=most
        )

    def reasons(self) -> Iterator[NewCertainty]:
        """Yield the rare combinations that become certain."""
        names = list(self.bounds.system.domains)
        for cell in np.flatnonzero(self.new_rare > 0).tolist():
            values = self.bounds.system.values(cell)
            least, most = int(self.least[cell]), int(self.most[cell])
            yield NewCertainty(dict(zip(names, values, strict=True)), least, most)


# -- single counts ---------------------------------------------------------------------------------------------------


@dataclass(eq=False)
class _Cells:
    """Which counts of the outputs are known exactly."""

    published: PublishedSet
    pool: _Pool

    def new_ones(
        self, new: Sequence[str], before: _Past, rare: int
    ) -> tuple[list[NewCertainty], list[NewCertainty]]:
        """Return the small counts that new tables show, and the masked ones of any table that become known."""
        rows: list[PublishedRow] = []
        for row in self.published.rows:
            is_shown = row.low == row.high
            is_small = row.is_hidden or ((row.low or 0) <= rare and row.high != 0)
            if row.is_count and is_small and (row.table in new or not is_shown):
                rows.append(row)
        masked = [row for row in rows if row.low != row.high]
        counts = dict(zip(map(id, masked), self.pool.known(_asked(masked, rare)), strict=True))
        found = []
        for row in rows:
            count = counts.get(id(row), row.high)
            if count is not None and (row.is_hidden or 1 <= count <= rare):
                found.append((row, count))
        known_before = before.known(_asked([row for row, _ in found], rare))
        small: list[NewCertainty] = []
        recovered: list[NewCertainty] = []
        for (row, count), earlier in zip(found, known_before, strict=True):
            if earlier is None:
                values = {
                    name: [self.published.domains[name][code] for code in codes]
                    for name, codes in row.terms[0].where.items()
                }
                found_in = small if row.low == row.high else recovered
                found_in.append(NewCertainty(values, count, count))
        return small, recovered


Asked = tuple[CodesWhere, int | None]
"""Of whom it is asked how many they are, and up to how many that matters; None: whatever they are."""


def _asked(rows: Sequence[PublishedRow], rare: int) -> list[Asked]:
    return [(row.terms[0].where, None if row.is_hidden else rare) for row in rows]


@dataclass(eq=False)
class _Pool:
    """Files of people that meet everything published: two that differ show that a count is not known."""

    bounds: CellBounds
    """With the files; those that are looked for are added."""
    budget: SolverBudget
    is_open: bool = False
    """Whether something was not decided in time."""

    def known(self, asked: Sequence[Asked]) -> list[int | None]:
        """Return how many people each condition holds of, where that is certain, and few; None: it is not.

        What is not decided in time is not known, and said.
        """
        counts: list[int | None] = [None] * len(asked)
        files = self._counts_by_file()
        sums: list[Integers] = []
        constant: dict[int, list[int]] = {}
        for place, (where, few) in enumerate(asked):
            forms = self._forms(where)
            if forms is None:
                continue
            inside, partly = forms
            totals = files @ inside
            if not len(totals):
                self.is_open = True
                continue
            count = int(totals[0])
            if (totals != count).any() or (files @ partly).any():
                continue
            if few is None or 1 <= count <= few:
                counts[place] = count
                constant[place] = [len(sums), *([len(sums) + 1] if partly.any() else [])]
                sums += [inside, partly][: len(constant[place])]
        if not sums:
            return counts
        verdicts, self.bounds = constant_sums(self.bounds, np.array(sums), self.budget)
        for place, numbers in constant.items():
            answers = [verdicts[number] for number in numbers]
            if not all(answers):
                counts[place] = None
                self.is_open = self.is_open or False not in answers
        return counts

    def _counts_by_file(self) -> Integers:
        files = np.zeros((len(self.bounds.files), len(self.bounds.class_least)), np.int64)
        for number, file in enumerate(self.bounds.files):
            files[number, list(file)] = list(file.values())
        return files

    def _forms(self, where: CodesWhere) -> tuple[Integers, Integers] | None:
        """Return the classes that a condition holds of, and those that it holds of in part; None: it tells nothing.

        Nothing tells apart the combinations of a class: what holds in part is known only if nobody is in it.
        """
        system = self.bounds.system
        flags = np.ones(len(system.cells), np.bool_)
        for name, codes in where.items():
            if name not in system.domains:
                return None
            flags &= np.isin(system.cells[:, list(system.domains).index(name)], codes)
        inside = np.bincount(system.class_of[flags], minlength=len(system.sizes))
        whole = inside == system.sizes
        partly = (inside > 0) & ~whole & (self.bounds.class_most > 0)
        return whole.astype(np.int64), partly.astype(np.int64)


# -- because of what -------------------------------------------------------------------------------------------------


def _because(
    outputs: Sequence[PublishedOutput],
    new: Sequence[str],
    comparison: _Comparison,
    recovered: Sequence[NewCertainty],
    budget: SolverBudget,
) -> TableSet:
    """Return earlier tables from which, with the new ones, follows all that becomes certain."""
    labels = labels_of(outputs)
    earlier = tuple(label for label in labels if label not in new)
    targets = [
        tuple(comparison.bounds.system.values(cell))
        for cell in np.flatnonzero(comparison.new_rare > 0).tolist()
    ]

    def follows(tables: tuple[str, ...]) -> bool | None:
        if budget.left <= 0:
            return None
        some = published(joined(outputs, tables=[*tables, *new]))
        try:
            solution = cell_bounds(
                some,
                seconds=budget.left / 2,
                memory=budget.memory,
                counting=False,
                questions=("certain",),
            )
            pool = _Pool(solution, SolverBudget(budget.left / 2, budget.memory))
            exact = pool.known([(_codes(some, one.where), None) for one in recovered])
        except (BudgetError, StudyError):  # they may not say how many people there are
            return None
        certain = {tuple(values) for values, _, _ in solution.certain_cells()}
        if all(target in certain for target in targets) and None not in exact:
            return True
        is_decided = solution.certain == "proved" and not pool.is_open
        return False if is_decided else None

    return needed(earlier, follows)


def _codes(published: PublishedSet, where: Mapping[str, Any]) -> CodesWhere:
    return {
        name: tuple(published.domains[name].index(value) for value in values)
        for name, values in where.items()
    }


def needed(tables: Sequence[str], follows: Callable[[tuple[str, ...]], bool | None]) -> TableSet:
    """Return an irreducible set of tables that something follows from, by halves: few are needed of many.

    Args:
        tables: Tables that it follows from.
        follows: Tells whether it follows from some of them; None: that is not decided.

    >>> needed("ABCDEFGH", lambda some: {"B", "G"} <= set(some))
    TableSet(tables=('B', 'G'), irreducible='proved')
    """
    is_decided = True

    def holds(some: tuple[str, ...]) -> bool:
        nonlocal is_decided
        verdict = follows(tuple(table for table in tables if table in some))
        is_decided = is_decided and verdict is not None
        return bool(verdict)

    def least(given: tuple[str, ...], rest: tuple[str, ...], *, has_grown: bool) -> tuple[str, ...]:
        """Return what of the rest is needed beside what is given."""
        if has_grown and holds(given):
            return ()
        if len(rest) <= 1:
            return rest
        half = len(rest) // 2
        first, second = rest[:half], rest[half:]
        of_second = least((*given, *first), second, has_grown=True)
        of_first = least((*given, *of_second), first, has_grown=bool(of_second))
        return (*of_first, *of_second)

    chosen = least((), tuple(tables), has_grown=True)
    ordered = tuple(table for table in tables if table in chosen)
    return TableSet(ordered, "proved" if is_decided else "limit")
