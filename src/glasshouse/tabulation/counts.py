"""How many files fit, in both ways of counting, and how probable each count is then.

*By tables*, every table of counts is as likely as any other; *by files*, every person is drawn alone, so that a table x
weighs n! / Π x_c!. The two differ, and are never mixed. Counted class by class: what is known of the rows that have
begun and not ended is the state, and states with equal sums are one. A class of m combinations with k people stands for
C(k + m − 1, m − 1) tables and weighs m^k / k!.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import comb, factorial

import numpy as np

from glasshouse.arrays import Integers
from glasshouse.solvers import SolverBudget
from glasshouse.tabulation.parts import OpenPart

MOST_STATES = 300_000
"""More states are not kept; then nothing is counted."""
MOST_LISTED = 20_000
"""Where medians leave a choice, files are listed one by one: at most so many."""
_LOOK = 4_096
"""After so many states the clock is looked at."""


@dataclass(frozen=True)
class ClassMean:
    """How many people a class has on average over all files that fit."""

    by_tables: Fraction
    """Where every table is as likely."""
    by_files: Fraction
    """Where every person is drawn alone."""


@dataclass(frozen=True)
class PartCounts:
    """How many files of a part fit."""

    tables: int
    """The number of tables of counts."""
    weight: Fraction
    """The sum of Π m^k / k! over them."""
    means: tuple[ClassMean, ...]
    """Per class its mean."""


Weights = tuple[int, Fraction]


class _Frontier:
    """The order of the classes of a part, and what of the rows is between."""

    def __init__(self, part: OpenPart) -> None:
        size = part.size
        rows = len(part.rows.low)
        self.part = part
        self.entries: list[list[tuple[int, int]]] = [[] for _ in range(size)]
        for row, place, coefficient in zip(
            part.rows.row_of.tolist(),
            part.rows.classes.tolist(),
            part.rows.coefficients.tolist(),
            strict=True,
        ):
            self.entries[place].append((row, coefficient))
        self.order = self._ordered(rows)
        self.last = {
            row: step for step, place in enumerate(self.order) for row, _ in self.entries[place]
        }
        # what the classes after a step can still add to a row, at least and at most
        self.least = [[0] * rows for _ in range(size + 1)]
        self.most = [[0] * rows for _ in range(size + 1)]
        low, high = part.least.tolist(), part.most.tolist()
        for step in range(size - 1, -1, -1):
            place = self.order[step]
            self.least[step], self.most[step] = self.least[step + 1][:], self.most[step + 1][:]
            for row, coefficient in self.entries[place]:
                ends = sorted((coefficient * low[place], coefficient * high[place]))
                self.least[step][row] += ends[0]
                self.most[step][row] += ends[1]

    def _ordered(self, rows: int) -> list[int]:
        """Return the classes so that few rows have begun and not ended at a time; first those that are settled."""
        part = self.part
        is_open = part.least < part.most
        left = np.bincount(part.rows.row_of[is_open[part.rows.classes]], minlength=rows).tolist()
        begun: set[int] = set()
        todo, order = set(np.flatnonzero(is_open).tolist()), np.flatnonzero(~is_open).tolist()
        while todo:

            def cost(place: int) -> tuple[int, int, int]:
                concerned = [row for row, _ in self.entries[place]]
                opens = sum(row not in begun for row in concerned)
                ends = sum(left[row] == 1 for row in concerned)
                return opens - ends, min((left[row] for row in concerned), default=0), place

            place = min(todo, key=cost)
            todo.discard(place)
            order.append(place)
            for row, _ in self.entries[place]:
                begun.add(row)
                left[row] -= 1
        return list(order)


def counts_of(part: OpenPart, budget: SolverBudget) -> PartCounts | None:
    """Count the files of a part; None: there are too many states, or too little time."""
    if part.size > 2_000:
        return None
    frontier = _Frontier(part)
    forward = _forward(frontier, budget)
    if forward is None:
        return None
    layers, steps = forward
    tables, weight = layers[-1].get((), (0, Fraction(0)))
    if not tables:
        return None
    if part.choices:
        return _listed(frontier, steps) if tables <= MOST_LISTED else None
    return PartCounts(tables, weight, _backward(frontier, layers, steps, (tables, weight)))


Layer = dict[tuple[int, ...], Weights]
Transitions = list[tuple[tuple[int, ...], int, tuple[int, ...]]]


def _ways(members: int, most: int) -> list[Weights]:
    return [
        (comb(k + members - 1, members - 1), Fraction(members**k, factorial(k)))
        for k in range(most + 1)
    ]


def _forward(
    frontier: _Frontier, budget: SolverBudget
) -> tuple[list[Layer], list[Transitions]] | None:
    part = frontier.part
    low, high = part.rows.low.tolist(), part.rows.high.tolist()
    least, most = part.least.tolist(), part.most.tolist()
    layers: list[Layer] = [{(): (1, Fraction(1))}]
    steps: list[Transitions] = []
    active: list[int] = []
    kept = 0
    for step, place in enumerate(frontier.order):
        entries = dict(frontier.entries[place])
        rows = sorted({*active, *entries})
        following = [row for row in rows if frontier.last[row] > step]
        position = {row: number for number, row in enumerate(active)}
        below, above = frontier.least[step + 1], frontier.most[step + 1]
        ways = _ways(int(part.sizes[place]), most[place])
        layer: Layer = {}
        transitions: Transitions = []
        for number, (state, (tables, weight)) in enumerate(layers[-1].items()):
            if number % _LOOK == 0 and budget.left <= 0:
                return None
            sums = {row: state[position[row]] if row in position else 0 for row in rows}
            for k in range(least[place], most[place] + 1):
                now = {row: total + entries.get(row, 0) * k for row, total in sums.items()}
                if any(
                    total + below[row] > high[row] or total + above[row] < low[row]
                    for row, total in now.items()
                ):
                    continue
                key = tuple(now[row] for row in following)
                before = layer.get(key, (0, Fraction(0)))
                layer[key] = before[0] + tables * ways[k][0], before[1] + weight * ways[k][1]
                transitions.append((state, k, key))
        kept += len(transitions)
        if kept > MOST_STATES:
            return None
        layers.append(layer)
        steps.append(transitions)
        active = following
    return layers, steps


def _backward(
    frontier: _Frontier, layers: Sequence[Layer], steps: Sequence[Transitions], whole: Weights
) -> tuple[ClassMean, ...]:
    part = frontier.part
    means: dict[int, ClassMean] = {}
    after: Layer = {(): (1, Fraction(1))}
    for step in range(part.size - 1, -1, -1):
        place = frontier.order[step]
        ways = _ways(int(part.sizes[place]), int(part.most[place]))
        before: Layer = {}
        by_tables, by_files = 0, Fraction(0)
        for state, k, following in steps[step]:
            if following not in after:
                continue
            tables, weight = after[following]
            tables, weight = tables * ways[k][0], weight * ways[k][1]
            sums = before.get(state, (0, Fraction(0)))
            before[state] = sums[0] + tables, sums[1] + weight
            by_tables += k * layers[step][state][0] * tables
            by_files += k * layers[step][state][1] * weight
        means[place] = ClassMean(Fraction(by_tables, whole[0]), by_files / whole[1])
        after = before
    return tuple(means[place] for place in range(part.size))


def _listed(frontier: _Frontier, steps: Sequence[Transitions]) -> PartCounts | None:
    """Count the files of which every median comes about in one of its ways, one by one."""
    part = frontier.part
    before: list[dict[tuple[int, ...], list[tuple[tuple[int, ...], int]]]] = []
    for transitions in steps:
        ways_to: dict[tuple[int, ...], list[tuple[tuple[int, ...], int]]] = {}
        for state, k, following in transitions:
            ways_to.setdefault(following, []).append((state, k))
        before.append(ways_to)
    counts = np.zeros(part.size, np.int64)
    tables, weight = 0, Fraction(0)
    sums_by_tables, sums_by_files = [0] * part.size, [Fraction(0)] * part.size

    def follow(step: int, state: tuple[int, ...]) -> None:
        nonlocal tables, weight
        while step >= 0:
            options = before[step].get(state, [])
            if len(options) != 1:
                break
            state, counts[frontier.order[step]] = options[0]
            step -= 1
        if step >= 0:
            for earlier, k in before[step].get(state, []):
                counts[frontier.order[step]] = k
                follow(step - 1, earlier)
            return
        if all(any(rows.meet(counts) for _, rows in cases) for cases in part.choices.values()):
            file_tables, file_weight = settled_weight(counts, part.sizes)
            tables, weight = tables + file_tables, weight + file_weight
            for place in np.flatnonzero(counts).tolist():
                sums_by_tables[place] += int(counts[place]) * file_tables
                sums_by_files[place] += int(counts[place]) * file_weight

    follow(part.size - 1, ())
    if not tables:
        return None
    pairs = zip(sums_by_tables, sums_by_files, strict=True)
    means = tuple(ClassMean(Fraction(first, tables), second / weight) for first, second in pairs)
    return PartCounts(tables, weight, means)


def settled_weight(counts: Integers, sizes: Integers) -> Weights:
    """Return the tables and the weight of classes whose counts are settled."""
    tables, weight = 1, Fraction(1)
    for count, size in zip(counts.tolist(), sizes.tolist(), strict=True):
        if count:
            tables *= comb(count + size - 1, size - 1)
            weight *= Fraction(size**count, factorial(count))
    return tables, weight
