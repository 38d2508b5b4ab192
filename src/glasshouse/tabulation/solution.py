"""What every file that meets the published tables has in common: who is certain, what is possible, and how far.

1. the combinations that are left, and the rows (`cells`);
2. bounds by the rows alone (`bounds`), and what stays open in independent parts (`parts`);
3. files and proofs for each part (`search`), and how many files fit (`counts`).

Each question has its own answer: *proved*, or *limit* where the time was over; then what is told is what is not ruled
out. No combination is ever called certain, impossible or bounded because no file was found.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import cached_property
from math import factorial
from typing import Any, Literal

import numpy as np
import pyarrow as pa

from glasshouse.arrays import Flags, Integers
from glasshouse.checkpoint import Checkpoint
from glasshouse.progress import OnProgress, Progress
from glasshouse.solvers import SolverBudget
from glasshouse.study.tables import Value
from glasshouse.tabulation.bounds import Bounds, Contradiction, Step, first_bounds, narrow
from glasshouse.tabulation.cases import CaseProof
from glasshouse.tabulation.cells import CellSystem, system_of
from glasshouse.tabulation.counts import ClassMean, PartCounts, counts_of, settled_weight
from glasshouse.tabulation.parts import OpenPart, parts_of
from glasshouse.tabulation.search import QUESTIONS, PartSearch
from glasshouse.tabulation.statements import PEOPLE, PublishedSet

Status = Literal["proved", "limit"]
Key = tuple[Value, ...]
"""What is known of a person."""
_LEAST_SHARE = 0.2
"""So many seconds each part has at least."""
_PROVING = 0.25
"""The part of the time that proofs by cases may take."""
_PARTS = 0
"""The phase of a checkpoint in which parts are kept."""


@dataclass(frozen=True, eq=False)
class CellBounds:
    """How many people have each combination, in every file that meets the tables."""

    published: PublishedSet
    """What was published."""
    system: CellSystem
    """The combinations and rows."""
    status: Literal["proved", "limit", "infeasible"]
    """Whether all bounds are proved; infeasible: no file meets the tables."""
    certain: Status
    """Whether it is proved who is certain."""
    possible: Status
    """Whether it is proved what somebody can have."""
    least: Integers
    """Per combination the least that is not ruled out."""
    most: Integers
    """Per combination the greatest that is not ruled out."""
    class_least: Integers
    """The same of each class."""
    class_most: Integers
    """The same of each class."""
    steps: tuple[Step, ...] = ()
    """How bounds are proved."""
    files: tuple[dict[int, int], ...] = ()
    """Files of counts that meet everything, by class."""
    trusted: frozenset[tuple[int, bool]] = frozenset()
    """Classes whose least (False) or greatest (True) has no certificate."""
    tables: int | None = None
    """How many tables of counts fit; None: not counted."""
    ordered_files: int | None = None
    """How many files of people that can be told apart fit; None: not counted, or the number of people is not known."""
    means: dict[int, ClassMean] = field(default_factory=dict)
    """Per class how many people it has on average, where that was counted."""

    @property
    def certain_persons(self) -> int:
        """How many people have a combination that is certain."""
        return int(self.least.sum())

    @cached_property
    def present(self) -> Integers:
        """The combinations that somebody can have."""
        return np.flatnonzero(self.most > 0)

    def files_by_values(self) -> Iterator[dict[tuple[Value, ...], int]]:
        """Yield the files as counts by combination: of combinations that no row tells apart, all are the first."""
        first = np.unique(self.system.class_of, return_index=True)[1]
        for file in self.files:
            yield {
                tuple(self.system.values(int(first[number]))): count
                for number, count in file.items()
            }

    def certain_cells(self) -> Iterator[tuple[list[Value], int, int]]:
        """Yield the combinations that somebody has for certain, with the least and the greatest number."""
        for cell in np.flatnonzero(self.least > 0).tolist():
            yield self.system.values(cell), int(self.least[cell]), int(self.most[cell])

    def to_dict(self) -> dict[str, Any]:
        """Return everything as plain values."""
        content: dict[str, Any] = {
            "status": self.status,
            "questions": {
                "certain": self.certain,
                "possible": self.possible,
                "bounds": "proved" if self.status == "infeasible" else self.status,
                "count": "limit" if self.tables is None else "proved",
            },
            "possible": len(self.present),
            "certain_persons": self.certain_persons,
            "attributes": list(self.system.domains),
            "cells": [
                [self.system.values(cell), int(self.least[cell]), int(self.most[cell])]
                for cell in self.present.tolist()
            ],
        }
        if self.status == "infeasible":
            content |= {"possible": 0, "certain_persons": 0, "cells": []}
        if self.tables is not None:
            content["tables"] = self.tables
        if self.ordered_files is not None:
            content["files"] = self.ordered_files
        return content

    def to_frame(self) -> pa.Table:
        """Return the bounds of every combination that somebody can have as a table."""
        cells = self.present
        columns: dict[str, Any] = {}
        for place, (name, values) in enumerate(self.system.domains.items()):
            chosen = [values[code] for code in self.system.cells[cells, place].tolist()]
            columns[name] = pa.array([str(value) for value in chosen], pa.string())
        return pa.table({**columns, "min": self.least[cells], "max": self.most[cells]})

    def mean(self, cell: int, prior: Literal["files", "tables"]) -> Fraction | None:
        """Return how many people have a combination on average over all files that fit; None: not counted."""
        number = int(self.system.class_of[cell])
        if number not in self.means:
            return None
        mean = self.means[number]
        whole = mean.by_files if prior == "files" else mean.by_tables
        return whole / int(self.system.sizes[number])


def cell_bounds(
    published: PublishedSet,
    *,
    seconds: float = 60.0,
    memory: int = 2 << 30,
    counting: bool = True,
    certifying: bool = False,
    questions: Sequence[str] = QUESTIONS,
    rare: int = 0,
    files: Sequence[Mapping[tuple[Value, ...], int]] = (),
    kept: Checkpoint | None = None,
    on_progress: OnProgress | None = None,
) -> CellBounds:
    """Find between what the number of people with each combination lies, in every file that meets the tables.

    Args:
        published: What was published.
        seconds: CPU seconds; then what is proved is told, and what is open.
        memory: The bytes that combinations and rows may take.
        counting: Whether the files that fit are counted, where that is possible.
        certifying: Whether what the solver alone has proved is also proved by cases, as far as a part of the time goes.
        questions: What is asked, in the order of `QUESTIONS`, or ``certain`` and ``rare``; none: only whether any file
            meets the tables.
        rare: Up to how many people a combination is rare, where that is asked.
        files: Files of people that may meet the tables, as counts by combination: those that do need not be looked for.
        kept: Where the parts that an interrupted run has finished are, and where each is kept; it is open.
        on_progress: Told how many classes are settled.

    Raises:
        BudgetError: The combinations do not fit the memory.
        StudyError: Nothing says how many people there can be.
    """
    budget = SolverBudget(seconds, memory)
    system = system_of(published, memory=memory)
    try:
        bounds = first_bounds(system)
        narrow(bounds)
    except Contradiction as contradiction:
        return _contradicted(published, system, contradiction.steps)
    parts = parts_of(bounds)
    for counts in counts_of_files(system, files):
        for part in parts:
            part.take(counts[part.classes])
    trusted: set[tuple[int, bool]] = set()
    whole = sum(part.size for part in parts)
    done = 0
    finished = [] if kept is None else kept.tables(_PARTS)
    for number, part in enumerate(parts):
        if on_progress is not None:
            on_progress(Progress("solving", done, whole))
        if number < len(finished):
            bounds.steps += _restored(finished[number], part)
            trusted |= {(int(part.classes[place]), up) for place, up in part.without_proof()}
            done += part.size
            continue
        known_steps = len(bounds.steps)
        if budget.left <= 0 and questions:
            continue  # what the rows alone tell stands
        is_last = number == len(parts) - 1
        share = budget.left if is_last else max(_LEAST_SHARE, budget.left / (len(parts) - number))
        search = PartSearch(
            part, bounds.steps, SolverBudget(share, memory), rare=rare, system=system
        )
        try:
            search.run(questions)
        except Contradiction:
            closing = _closing(part, seconds * _PROVING, memory) if certifying else []
            return _contradicted(published, system, [*bounds.steps, *closing])
        if certifying:
            search.certify(min(search.budget.left, share * _PROVING))
        trusted |= {(int(part.classes[place]), up) for place, up in part.without_proof()}
        done += part.size
        if kept is not None:
            kept.save_table(_PARTS, _finished(part, bounds.steps[known_steps:]))
    for part in parts:
        bounds.least[part.classes], bounds.most[part.classes] = part.least, part.most
    settled = {question: all(part.settled(question) for part in parts) for question in QUESTIONS}
    solution = _solution(published, bounds, settled)
    solution = replace(solution, files=tuple(_files(bounds, parts)), trusted=frozenset(trusted))
    if counting:
        counted = [counts_of(part, budget) for part in parts]
        return _counted(solution, parts, counted)
    return solution


_ENDS = ("least", "most", "proved_least", "proved_most")


def _finished(part: OpenPart, steps: Sequence[Step]) -> pa.Table:
    """Return what is known of a part that is finished, as a checkpoint keeps it."""
    content = {
        "ends": {name: getattr(part, name).tolist() for name in _ENDS},
        "files": [file.tolist() for file in part.files],
        "steps": list(steps),
    }
    return pa.table({"part": [json.dumps(content)]})


def _restored(table: pa.Table, part: OpenPart) -> list[Step]:
    """Give a part what was known of it when it was finished; return its steps."""
    content = json.loads(table.column("part")[0].as_py())
    for file in content["files"]:
        part.take(np.array(file, np.int64))
    for name in _ENDS:
        setattr(part, name, np.array(content["ends"][name], np.int64))
    return list(content["steps"])


def constant_sums(
    solution: CellBounds, sums: Integers, budget: SolverBudget
) -> tuple[list[bool | None], CellBounds]:
    """Tell of sums of classes whether each is the same in every file, many by one question.

    Args:
        solution: What is known, with at least one file.
        sums: Per sum and class, how often it is taken.
        budget: What it may take.

    Returns:
        For each sum whether it is; None: that is not decided in time. And the solution with the files that show it.
    """
    bounds = Bounds(solution.system, solution.class_least.copy(), solution.class_most.copy())
    narrow(bounds)
    parts = parts_of(bounds)
    verdicts: list[bool | None] = [True] * len(sums)
    further = list(solution.files)
    whole = np.where(bounds.least == bounds.most, bounds.least, 0)
    whole[list(solution.files[0])] = list(solution.files[0].values())
    for number, part in enumerate(parts):
        concerned = np.flatnonzero(sums[:, part.classes].any(axis=1))
        concerned = concerned[[verdicts[place] is not False for place in concerned.tolist()]]
        if not len(concerned):
            continue
        part.watch(sums[np.ix_(concerned, part.classes)])
        for file in solution.files:
            part.take(np.array([file.get(place, 0) for place in part.classes.tolist()]))
        seen = len(part.files)
        share = budget.left / (len(parts) - number)
        answers = PartSearch(
            part, [], SolverBudget(share, budget.memory), system=solution.system
        ).constant()
        for place, answer in zip(concerned.tolist(), answers, strict=True):
            verdicts[place] = answer if answer is False or verdicts[place] is True else None
        for counts_of_part in part.files[seen:]:
            counts = whole.copy()
            counts[part.classes] = counts_of_part
            further.append({at: int(counts[at]) for at in np.flatnonzero(counts).tolist()})
    return verdicts, replace(solution, files=tuple(further))


def counts_of_files(
    system: CellSystem, files: Sequence[Mapping[tuple[Value, ...], int]]
) -> Iterator[Integers]:
    """Yield per file how many people are in each class; a file with a combination that is ruled out is passed over."""
    if not files:
        return
    places = {tuple(system.values(cell)): cell for cell in range(len(system.cells))}
    for file in files:
        if file.keys() <= places.keys():
            cells = [places[values] for values in file]
            counts = np.zeros(len(system.sizes), np.int64)
            np.add.at(counts, system.class_of[cells], list(file.values()))
            yield counts


def _closing(part: OpenPart, seconds: float, memory: int) -> list[Step]:
    """Return steps that prove by cases that no file meets the rows of a part; none: they were not found in time."""
    cases = CaseProof(part, SolverBudget(seconds, memory))
    return cases.refutation(part.proved_least.copy(), part.proved_most.copy()) or []


def _contradicted(published: PublishedSet, system: CellSystem, steps: list[Step]) -> CellBounds:
    nothing = np.zeros(len(system.cells), np.int64)
    of_classes = np.zeros(len(system.sizes), np.int64)
    return CellBounds(
        published,
        system,
        "infeasible",
        "proved",
        "proved",
        nothing,
        nothing,
        of_classes,
        of_classes,
        tuple(steps),
    )


def _solution(published: PublishedSet, bounds: Bounds, settled: dict[str, bool]) -> CellBounds:
    system = bounds.system
    single: Flags = system.sizes[system.class_of] == 1
    status: dict[bool, Status] = {True: "proved", False: "limit"}
    return CellBounds(
        published,
        system,
        status[settled["bounds"]],
        status[settled["certain"]],
        status[settled["possible"]],
        np.where(single, bounds.least[system.class_of], 0),
        bounds.most[system.class_of],
        bounds.least,
        bounds.most,
        tuple(bounds.steps),
    )


def _files(bounds: Bounds, parts: list[OpenPart]) -> Iterator[dict[int, int]]:
    """Yield files of counts of all classes: one of each part at a time, the first of the others."""
    if not all(part.files for part in parts):
        return
    counts = np.where(bounds.least == bounds.most, bounds.least, 0)
    for part in parts:
        counts[part.classes] = part.files[0]
    for number in range(max((len(part.files) for part in parts), default=1)):
        for part in parts:
            counts[part.classes] = part.files[min(number, len(part.files) - 1)]
        yield {place: int(counts[place]) for place in np.flatnonzero(counts).tolist()}


def _counted(
    solution: CellBounds, parts: list[OpenPart], counted: list[PartCounts | None]
) -> CellBounds:
    """Return a solution with how many files fit, where every part was counted."""
    counts = [count for count in counted if count is not None]
    if len(counts) < len(parts):
        return solution
    system = solution.system
    opened = np.zeros(len(system.sizes), np.bool_)
    for part in parts:
        opened[part.classes] = True
    settled = solution.class_least[~opened]
    tables, weight = settled_weight(settled, system.sizes[~opened])
    means = {
        int(place): ClassMean(Fraction(int(count)), Fraction(int(count)))
        for place, count in zip(np.flatnonzero(~opened), settled, strict=True)
    }
    for part, count in zip(parts, counts, strict=True):
        tables, weight = tables * count.tables, weight * count.weight
        means |= dict(zip(part.classes.tolist(), count.means, strict=True))
    files = None
    for row in solution.published.rows:
        if row.table == PEOPLE and row.low == row.high and row.low is not None:
            files = int(weight * factorial(row.low))
    return replace(solution, tables=tables, ordered_files=files, means=means)


def known_groups(
    solution: CellBounds, secret: str, known: Sequence[str]
) -> dict[Key, dict[Value, list[int]]]:
    """Return the combinations that somebody can have, by what is known and by the secret."""
    names = list(solution.system.domains)
    groups: dict[Key, dict[Value, list[int]]] = {}
    for cell in solution.present.tolist():
        values = dict(zip(names, solution.system.values(cell), strict=True))
        of_key = groups.setdefault(tuple(values[name] for name in known), {})
        of_key.setdefault(values[secret], []).append(cell)
    return groups


def certain_at_most(
    solution: CellBounds, groups: Mapping[Key, Mapping[Value, Sequence[int]]]
) -> int:
    """Return of how many people at most a secret is certain to somebody who knows the rest of them."""
    people = sum(
        int(solution.most[list(cells)].sum())
        for of_key in groups.values()
        if len(of_key) == 1
        for cells in of_key.values()
    )
    rows = solution.published.rows
    whole = (row.high for row in rows if row.table == PEOPLE and row.high is not None)
    return min((people, *whole))
