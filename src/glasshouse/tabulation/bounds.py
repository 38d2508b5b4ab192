"""Between what each class lies, as far as rows alone tell: bounds in whole numbers, narrowed to a fixed point.

A row narrows a class by what the others of the row must take at least, or can take at most. Which row narrowed
something is written down in its order: it is the first part of every proof.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from glasshouse.arrays import Flags, Integers
from glasshouse.errors import StudyError
from glasshouse.tabulation.cells import NO_LIMIT, CellSystem, WindowRow

Step = list[Any]
"""One step of a proof, as `glasshouse.tabulation.verifier` reads it."""


class Contradiction(Exception):  # noqa: N818 - never leaves the solver
    """Nothing meets the rows; the steps show it."""

    def __init__(self, steps: list[Step]) -> None:
        super().__init__()
        self.steps = steps


@dataclass(eq=False)
class RowEntries:
    """Rows as one list of entries, so that all of them are looked at together."""

    numbers: Integers
    """The number of each row."""
    row_of: Integers
    """Per entry, its row."""
    begins: Integers
    """Where the entries of each row begin."""
    classes: Integers
    """Per entry, its class."""
    coefficients: Integers
    """Per entry, its coefficient."""
    low: Integers
    """Per row, the least."""
    high: Integers
    """Per row, the greatest."""


def entries_of(rows: Sequence[WindowRow], numbers: Sequence[int]) -> RowEntries:
    """Return rows with at least one class as one list of entries."""
    chosen = [number for number in numbers if len(rows[number].classes)]
    lengths = [len(rows[number].classes) for number in chosen]
    nothing = np.zeros(0, np.int64)
    return RowEntries(
        np.array(chosen, np.int64),
        np.repeat(np.arange(len(chosen)), lengths),
        np.concatenate([[0], np.cumsum(lengths)[:-1]]).astype(np.int64)[: len(chosen)],
        np.concatenate([nothing, *(rows[number].classes for number in chosen)]),
        np.concatenate([nothing, *(rows[number].coefficients for number in chosen)]),
        np.array([rows[number].low for number in chosen], np.int64),
        np.array([rows[number].high for number in chosen], np.int64),
    )


@dataclass(eq=False)
class Bounds:
    """Between what each class lies, and why."""

    system: CellSystem
    """The classes and rows."""
    least: Integers
    """Per class the least."""
    most: Integers
    """Per class the greatest."""
    steps: list[Step] = field(default_factory=list)
    """How that is proved."""
    struck: dict[int, set[int]] = field(default_factory=dict)
    """Per choice the alternatives that cannot hold."""

    @property
    def active(self) -> list[int]:
        """The numbers of the rows with a limit that hold: without a case, or of the only alternative that is left."""
        settled = {
            choice: min(set(range(count)) - self.struck.get(choice, set()))
            for choice, (_, count) in enumerate(self.system.choices)
            if len(self.struck.get(choice, set())) == count - 1
        }
        return [
            number
            for number, row in enumerate(self.system.rows)
            if (row.case is None or settled.get(row.case[0]) == row.case[1]) and row.is_window
        ]

    @property
    def open_choices(self) -> dict[int, list[list[int]]]:
        """The choices with several alternatives left, each as the numbers of its rows."""
        left: dict[int, list[list[int]]] = {}
        for choice, (_, count) in enumerate(self.system.choices):
            alive = sorted(set(range(count)) - self.struck.get(choice, set()))
            if len(alive) > 1:
                left[choice] = [
                    [n for n, row in enumerate(self.system.rows) if row.case == (choice, case)]
                    for case in alive
                ]
        return left


def first_bounds(system: CellSystem) -> Bounds:
    """Return what single rows without negative coefficients tell: a class is at most what its row is.

    Raises:
        StudyError: A class is in no such row, so that nothing bounds how many people there are.
        Contradiction: A row can never hold.
    """
    classes = len(system.sizes)
    least, most = np.zeros(classes, np.int64), np.full(classes, NO_LIMIT, np.int64)
    bounds = Bounds(system, least, most)
    for number, row in enumerate(system.rows):
        if row.case is not None:
            continue
        if not len(row.classes) and not row.low <= 0 <= row.high:
            raise Contradiction([["sum", [[number, -1 if row.low > 0 else 1]]]])
        if len(row.classes) and row.high < NO_LIMIT and (row.coefficients > 0).all():
            if row.high < 0:
                raise Contradiction([["sum", [[number, 1]]]])
            ends = row.high // row.coefficients
            if (ends < most[row.classes]).any():
                most[row.classes] = np.minimum(most[row.classes], ends)
                bounds.steps.append(["sum", [[number, 1]]])
    if (most >= NO_LIMIT).any():
        cell = int(np.flatnonzero(system.class_of == np.flatnonzero(most >= NO_LIMIT)[0])[0])
        raise StudyError(
            "nothing says how many people can have {values}; say how many people there are, as people = 1000",
            values=system.values(cell),
        )
    return bounds


def narrow(bounds: Bounds) -> None:
    """Narrow the bounds until no row, and no alternative of a choice, tells more.

    Raises:
        Contradiction: Nothing meets the rows.
    """
    while True:
        entries = entries_of(bounds.system.rows, bounds.active)
        narrow_by(entries, bounds.least, bounds.most, bounds.steps)
        before = sum(map(len, bounds.struck.values()))
        for choice, alternatives in bounds.open_choices.items():
            _strike(bounds, choice, alternatives)
        if sum(map(len, bounds.struck.values())) == before:
            return


def _strike(bounds: Bounds, choice: int, alternatives: Sequence[Sequence[int]]) -> None:
    """Strike the alternatives of a choice that cannot hold."""
    rows, active = bounds.system.rows, bounds.active
    refuted = 0
    for numbers in alternatives:
        case = rows[numbers[0]].case
        assert case is not None  # noqa: S101 - only such rows are in alternatives
        steps: list[Step] = []
        try:
            for number in numbers:
                if not len(rows[number].classes) and not rows[number].low <= 0 <= rows[number].high:
                    raise Contradiction([["sum", [[number, -1 if rows[number].low > 0 else 1]]]])
            least, most = bounds.least.copy(), bounds.most.copy()
            narrow_by(entries_of(rows, numbers), least, most, steps)
            if (least > bounds.least).any() or (most < bounds.most).any():
                narrow_by(entries_of(rows, [*active, *numbers]), least, most, steps)
        except Contradiction as contradiction:
            refuted += 1
            bounds.steps.append(["strike", choice, case[1], contradiction.steps])
            bounds.struck.setdefault(choice, set()).add(case[1])
    if refuted == len(alternatives):
        raise Contradiction(bounds.steps)


def narrow_by(entries: RowEntries, least: Integers, most: Integers, steps: list[Step]) -> None:
    """Narrow bounds by rows to a fixed point, and write down which rows did.

    Raises:
        Contradiction: A row cannot hold; the steps show it.
    """
    if not len(entries.numbers):
        return
    coefficients, row_of, classes = entries.coefficients, entries.row_of, entries.classes
    positive = coefficients > 0
    size = np.abs(coefficients)
    while True:
        low, high = least[classes], most[classes]
        smallest = np.where(positive, coefficients * low, coefficients * high)
        largest = np.where(positive, coefficients * high, coefficients * low)
        at_least = np.add.reduceat(smallest, entries.begins)
        at_most = np.add.reduceat(largest, entries.begins)
        broken = np.flatnonzero((at_least > entries.high) | (at_most < entries.low))
        if len(broken):
            row = broken[0]
            sign = 1 if at_least[row] > entries.high[row] else -1
            raise Contradiction([*steps, ["sum", [[int(entries.numbers[row]), sign]]]])
        above = (entries.high - at_least)[row_of] // size
        below = (at_most - entries.low)[row_of] // size
        ends = np.minimum(high, low + np.where(positive, above, below))
        starts = np.maximum(low, high - np.where(positive, below, above))
        down, up = ends < high, starts > low
        if not (down.any() or up.any()):
            return
        np.minimum.at(most, classes, ends)
        np.maximum.at(least, classes, starts)
        for sign, entry in ((1, np.where(positive, down, up)), (-1, np.where(positive, up, down))):
            numbers = entries.numbers[np.unique(row_of[entry])].tolist()
            steps += [["sum", [[number, sign]]] for number in numbers]
        if (least > most).any():
            raise Contradiction(steps)


def is_open(bounds: Bounds) -> Flags:
    """Tell of each class whether it can still be several numbers."""
    return bounds.most > bounds.least
