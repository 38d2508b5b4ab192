"""What the rows leave open, in independent parts: classes that share no row tell nothing of each other."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

import numpy as np

from glasshouse.arrays import Flags, Integers
from glasshouse.errors import InternalError
from glasshouse.tabulation.bounds import Bounds, is_open
from glasshouse.tabulation.cells import NO_LIMIT, WindowRow

_KEPT = 4_000
"""So many files of a part are kept; all of them count."""


@dataclass(eq=False)
class SystemRows:
    """Rows of one part, on its open classes alone."""

    numbers: tuple[tuple[int, int], ...]
    """Per row, the number of the row that sets its least, and of that which sets its greatest."""
    row_of: Integers
    """Per entry its row."""
    classes: Integers
    """Per entry its place in the part."""
    coefficients: Integers
    """Per entry its coefficient."""
    low: Integers
    """Per row the least."""
    high: Integers
    """Per row the greatest."""
    begins: Integers
    """Where the entries of each row begin, and where the last ends."""

    def each(self) -> Iterator[tuple[int, int, tuple[Integers, Integers]]]:
        """Yield the least, the greatest, and the classes with their coefficients."""
        for row, (low, high) in enumerate(zip(self.low.tolist(), self.high.tolist(), strict=True)):
            span = slice(self.begins[row], self.begins[row + 1])
            yield low, high, (self.classes[span], self.coefficients[span])

    def sums(self, counts: Integers) -> Integers:
        """Return what every row sums up to."""
        products = self.coefficients * counts[self.classes]
        sums = np.zeros(len(self.low), np.int64)
        np.add.at(sums, self.row_of, products)
        return sums

    def meet(self, counts: Integers) -> bool:
        """Tell whether counts meet every row."""
        sums = self.sums(counts)
        return bool(((sums >= self.low) & (sums <= self.high)).all())

    def combined(self, multipliers: Integers, size: int) -> tuple[Integers, int]:
        """Return the sum of the rows so multiplied: its coefficients, and the most that it can be."""
        whole = multipliers.copy()
        whole[(whole > 0) & (self.high >= NO_LIMIT)] = 0
        whole[(whole < 0) & (self.low <= -NO_LIMIT)] = 0
        total = np.zeros(size, np.int64)
        np.add.at(total, self.classes, whole[self.row_of] * self.coefficients)
        ends = np.where(whole > 0, self.high, np.where(whole < 0, self.low, 0))
        return total, int((whole * ends).sum())

    def sum_step(self, multipliers: Integers) -> list[object]:
        """Return a sum of rows as a step of a proof."""
        terms = []
        for (low, high), multiplier in zip(self.numbers, multipliers.tolist(), strict=True):
            if multiplier:
                terms.append([high if multiplier > 0 else low, multiplier])
        divisor = int(np.gcd.reduce([abs(term[1]) for term in terms])) if terms else 1
        return ["sum", [[number, multiplier // divisor] for number, multiplier in terms]]


@dataclass(eq=False)
class OpenPart:
    """Open classes that hang together."""

    classes: Integers
    """Their numbers in the system."""
    sizes: Integers
    """Per class how many combinations are in it."""
    rows: SystemRows
    """The rows that hold for certain."""
    choices: dict[int, list[tuple[int, SystemRows]]]
    """Per choice that concerns it the alternatives that are left, each with its number."""
    least: Integers
    """Per class the least that is not ruled out."""
    most: Integers
    """Per class the greatest that is not ruled out."""
    lowest: Integers = field(init=False)
    """Per class the least of any file that was seen."""
    highest: Integers = field(init=False)
    """Per class the greatest of any file that was seen."""
    files: list[Integers] = field(default_factory=list)
    """Files of counts that meet every row."""
    sums: Integers = field(init=False)
    """Sums of classes that are looked at besides: per sum and class how often it is taken."""

    def __post_init__(self) -> None:
        self.lowest = np.full(self.size, NO_LIMIT, np.int64)
        self.highest = np.full(self.size, -1, np.int64)
        self.watch(np.zeros((0, self.size), np.int64))
        self._first_least, self._first_most = self.least.copy(), self.most.copy()
        self.proved_least: Integers = self.least.copy()
        """Per class the least that has a certificate."""
        self.proved_most: Integers = self.most.copy()
        """Per class the greatest that has one."""

    @property
    def size(self) -> int:
        """How many classes it has."""
        return len(self.classes)

    def watch(self, sums: Integers) -> None:
        """Look at sums of classes, too: a file in which one is more, or less, than in all others is kept."""
        self.sums = sums
        totals = np.array([sums @ file for file in self.files], np.int64)
        totals = totals.reshape(len(self.files), len(sums))
        self.sum_lowest: Integers = totals.min(axis=0, initial=NO_LIMIT)
        self.sum_highest: Integers = totals.max(axis=0, initial=-1)

    def take(self, counts: Integers) -> bool:
        """Take note of a file of counts, if it meets every row; tell whether it does."""
        if (counts < self._first_least).any() or (counts > self._first_most).any():
            return False
        if not self.rows.meet(counts):
            return False
        for alternatives in self.choices.values():
            if not any(rows.meet(counts) for _, rows in alternatives):
                return False
        if (counts < self.least).any() or (counts > self.most).any():
            raise InternalError("a file of counts goes beyond what was proved")
        totals = self.sums @ counts
        is_new = bool((counts < self.lowest).any() or (counts > self.highest).any())
        is_new |= bool((totals < self.sum_lowest).any() or (totals > self.sum_highest).any())
        self.lowest = np.minimum(self.lowest, counts)
        self.highest = np.maximum(self.highest, counts)
        self.sum_lowest = np.minimum(self.sum_lowest, totals)
        self.sum_highest = np.maximum(self.sum_highest, totals)
        if is_new and len(self.files) < _KEPT:
            self.files.append(counts.copy())
        return True

    def without_proof(self) -> list[tuple[int, bool]]:
        """Return the classes whose least (False) or greatest (True) has no certificate."""
        ends = [(place, False) for place in np.flatnonzero(self.proved_least < self.least).tolist()]
        return ends + [
            (place, True) for place in np.flatnonzero(self.proved_most > self.most).tolist()
        ]

    def open_low(self) -> Flags:
        """Tell of each class whether its least is open."""
        flags: Flags = self.lowest > self.least
        return flags

    def open_high(self) -> Flags:
        """Tell of each class whether its greatest is open."""
        flags: Flags = self.highest < self.most
        return flags

    def settled(self, question: str) -> bool:
        """Tell whether a question is answered: who is certain, what is possible, or all bounds."""
        if not self.files:
            return False
        if question == "certain":
            return not (self.open_low() & (self.sizes == 1)).any()
        if question == "possible":
            return not (self.open_high() & (self.highest == 0)).any()
        return not (self.open_low() & (self.sizes == 1)).any() and not self.open_high().any()


def parts_of(bounds: Bounds) -> list[OpenPart]:
    """Return the independent parts of what is open, the smallest first."""
    system = bounds.system
    opened = np.flatnonzero(is_open(bounds))
    place = np.full(len(bounds.least), -1, np.int64)
    place[opened] = np.arange(len(opened))
    live = [number for number in bounds.active if _tells(system.rows[number], bounds)]
    choices = bounds.open_choices
    parent = np.arange(len(opened))

    def root(item: int) -> int:
        while parent[item] != item:
            parent[item] = parent[parent[item]]
            item = int(parent[item])
        return item

    def join(members: Integers) -> None:
        if len(members):
            first = root(int(members[0]))
            for member in members[1:].tolist():
                parent[root(member)] = first

    def inside(numbers: Sequence[int]) -> Integers:
        classes = [system.rows[number].classes for number in numbers]
        places = place[np.concatenate([np.zeros(0, np.int64), *classes])]
        return np.unique(places[places >= 0])

    for number in live:
        join(inside([number]))
    of_choice = {
        choice: inside([number for numbers in alternatives for number in numbers])
        for choice, alternatives in choices.items()
    }
    for members in of_choice.values():
        join(members)
    groups: dict[int, list[int]] = {}
    for item in range(len(opened)):
        groups.setdefault(root(item), []).append(item)
    rows_of: dict[int, list[int]] = {}
    for number in live:
        rows_of.setdefault(root(int(inside([number])[0])), []).append(number)
    choices_of: dict[int, list[int]] = {}
    for choice, concerned in of_choice.items():
        if len(concerned):
            choices_of.setdefault(root(int(concerned[0])), []).append(choice)
    parts = []
    local = np.full(len(bounds.least), -1, np.int64)
    for first, items in groups.items():
        classes = opened[items]
        local[classes] = np.arange(len(classes))
        chosen = {
            choice: [
                (_case(system.rows[case[0]]), _rows(case, local, bounds))
                for case in choices[choice]
            ]
            for choice in choices_of.get(first, ())
        }
        parts.append(
            OpenPart(
                classes,
                system.sizes[classes],
                _rows(rows_of.get(first, ()), local, bounds),
                chosen,
                bounds.least[classes],
                bounds.most[classes],
            )
        )
        local[classes] = -1
    return sorted(parts, key=lambda part: part.size)


def _case(row: WindowRow) -> int:
    return -1 if row.case is None else row.case[1]


def _tells(row: WindowRow, bounds: Bounds) -> bool:
    """Tell whether a row is about open classes, and says more than their bounds do."""
    least, most = bounds.least[row.classes], bounds.most[row.classes]
    if not (least < most).any():
        return False
    ends = np.where(row.coefficients > 0, least, most), np.where(row.coefficients > 0, most, least)
    return bool((row.coefficients * ends[0]).sum() < row.low) or bool(
        (row.coefficients * ends[1]).sum() > row.high
    )


def _rows(numbers: Sequence[int], local: Integers, bounds: Bounds) -> SystemRows:
    """Return rows on the classes of a part: what is settled is subtracted, and equal rows are one."""
    alike: dict[bytes, int] = {}
    merged: list[tuple[Integers, Integers, list[int], list[int]]] = []
    for number in numbers:
        row = bounds.system.rows[number]
        places = local[row.classes]
        here = places >= 0
        fixed = int((row.coefficients[~here] * bounds.least[row.classes[~here]]).sum())
        low = row.low if row.low <= -NO_LIMIT else row.low - fixed
        high = row.high if row.high >= NO_LIMIT else row.high - fixed
        key = places[here].tobytes() + row.coefficients[here].tobytes()
        if key in alike:
            *_, window, names = merged[alike[key]]
            if low > window[0]:
                window[0], names[0] = low, number
            if high < window[1]:
                window[1], names[1] = high, number
            continue
        alike[key] = len(merged)
        merged.append((places[here], row.coefficients[here], [low, high], [number, number]))
    lengths = [len(places) for places, *_ in merged]
    nothing = np.zeros(0, np.int64)
    return SystemRows(
        tuple((names[0], names[1]) for *_, names in merged),
        np.repeat(np.arange(len(merged)), lengths),
        np.concatenate([nothing, *(places for places, *_ in merged)]),
        np.concatenate([nothing, *(coefficients for _, coefficients, *_ in merged)]),
        np.array([window[0] for *_, window, _ in merged], np.int64),
        np.array([window[1] for *_, window, _ in merged], np.int64),
        np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64),
    )
