"""The unknowns and what binds them: how many people have each combination of values, and the rows of windows.

The combinations are grown attribute by attribute; what a published zero or an impossibility rules out is never grown
further. Combinations that no row tells apart are one *class*: only how many people are in the class matters to any row.
Everything is a window on a linear form of whole numbers, low ≤ Σ a·x ≤ high; a mean is two such forms whatever the size
of its group, a median of a group of even or unknown size is a choice between conjunctions of them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import prod

import numpy as np

from glasshouse.arrays import Codes, Flags, Integers
from glasshouse.errors import BudgetError
from glasshouse.study.tables import Value
from glasshouse.tabulation.statements import CodesWhere, PublishedRow, PublishedSet

NO_LIMIT = 1 << 60
"""What stands for no limit in a window."""
BYTES_PER_CELL = 400
"""What a combination takes, with the rows that it is in."""
_LARGEST_MASK = 20_000_000
"""Combinations of fewer attributes are ruled out at once where there are at most so many."""


@dataclass(frozen=True, eq=False)
class WindowRow:
    """A window on a linear form: low ≤ Σ a·x ≤ high."""

    classes: Integers
    """The classes in it."""
    coefficients: Integers
    """The coefficient of each."""
    low: int
    """The least."""
    high: int
    """The greatest."""
    table: str
    """The table that says so."""
    case: tuple[int, int] | None = None
    """Of which choice it belongs to which alternative; None: it always holds."""

    @property
    def is_window(self) -> bool:
        """Whether it has a limit: without one it is there for its sum alone."""
        return self.low > -NO_LIMIT or self.high < NO_LIMIT


@dataclass(frozen=True, eq=False)
class CellSystem:
    """Classes of combinations, and the rows that bind them."""

    domains: Mapping[str, tuple[Value, ...]]
    """By attribute, all its values."""
    cells: Codes
    """Per combination that is left, the place of each of its values, in lexicographic order."""
    class_of: Integers
    """Per combination its class; classes are in the order of their first combination."""
    sizes: Integers
    """Per class how many combinations are in it."""
    rows: tuple[WindowRow, ...]
    """All rows, those of alternatives among them, in the order of the statements."""
    choices: tuple[tuple[str, int], ...]
    """Per choice the table that it is of, and how many alternatives it has."""

    def values(self, cell: int) -> list[Value]:
        """Return the values of a combination."""
        return [
            values[code]
            for values, code in zip(self.domains.values(), self.cells[cell].tolist(), strict=True)
        ]

    @property
    def combinations(self) -> int:
        """How many combinations there are before any is ruled out."""
        return prod(map(len, self.domains.values()))


def system_of(published: PublishedSet, *, memory: int = 2 << 30) -> CellSystem:
    """Return the combinations that are left, their classes, and the rows.

    Raises:
        BudgetError: They do not fit the memory.
        StudyError: A median has too many ways to come about.
    """
    cells = _grown(published, memory)
    order = np.lexsort(cells.T[::-1]) if cells.shape[1] else np.arange(len(cells))
    cells = cells[order]
    forms = [_form(row, published, cells) for row in published.rows]
    class_of, first = _classes(len(cells), forms)
    rows = []
    for statement, (inside, coefficients) in zip(published.rows, forms, strict=True):
        stands = first[class_of[inside]] == inside
        low = -NO_LIMIT if statement.low is None else statement.low
        high = NO_LIMIT if statement.high is None else statement.high
        classes = class_of[inside[stands]]
        rows.append(
            WindowRow(classes, coefficients[stands], low, high, statement.table, statement.case)
        )
    cases: dict[int, tuple[str, int]] = {}
    for row in rows:
        if row.case is not None:
            choice, alternative = row.case
            most = cases.get(choice, ("", 0))[1]
            cases[choice] = row.table, max(most, alternative + 1)
    sizes = np.bincount(class_of, minlength=len(first)).astype(np.int64)
    choices = tuple(cases[number] for number in sorted(cases))
    return CellSystem(published.domains, cells, class_of, sizes, tuple(rows), choices)


# -- the combinations ------------------------------------------------------------------------------------------------


def _grown(published: PublishedSet, memory: int) -> Codes:
    """Return the combinations that no zero and no impossibility rules out, attribute by attribute."""
    names = list(published.domains)
    sizes = {name: len(values) for name, values in published.domains.items()}
    groups = _ruled_out(published, sizes)
    grown: list[str] = []
    cells = np.zeros((1, 0), np.int32)
    while len(grown) < len(names):
        name = _next_attribute(names, grown, sizes, groups)
        grown.append(name)
        if len(cells) * sizes[name] * BYTES_PER_CELL > memory:
            raise BudgetError(
                "the tables leave {count} combinations or more, which do not fit into {memory} MiB; give more memory, "
                "or publish attributes with many values in bands",
                count=len(cells) * sizes[name],
                memory=memory >> 20,
            )
        repeated = np.repeat(cells, sizes[name], axis=0)
        added = np.tile(np.arange(sizes[name], dtype=np.int32), len(cells))
        cells = np.column_stack([repeated, added])
        for attributes in [key for key in groups if set(key) <= set(grown)]:
            columns = [cells[:, grown.index(attribute)] for attribute in attributes]
            group = groups.pop(attributes)
            cells = cells[~_is_ruled_out(group, columns)] if columns else cells[:0]
    return cells[:, [grown.index(name) for name in names]]


_Group = Flags | list[dict[int, Flags]]


def _ruled_out(published: PublishedSet, sizes: Mapping[str, int]) -> dict[tuple[str, ...], _Group]:
    """Return by the attributes concerned which combinations of them nobody has."""
    zeros = [*published.impossible, *(row.terms[0].where for row in published.rows if row.is_zero)]
    groups: dict[tuple[str, ...], list[CodesWhere]] = {}
    for where in zeros:
        groups.setdefault(tuple(sorted(where)), []).append(where)
    masks: dict[tuple[str, ...], _Group] = {}
    for attributes, conditions in groups.items():
        shape = [sizes[name] for name in attributes]
        if prod(shape) <= _LARGEST_MASK:
            mask = np.zeros(shape, np.bool_)
            for where in conditions:
                mask[np.ix_(*(where[name] for name in attributes))] = True
            masks[attributes] = mask
        else:
            masks[attributes] = [
                {
                    place: np.isin(np.arange(sizes[name]), where[name])
                    for place, name in enumerate(attributes)
                }
                for where in conditions
            ]
    return masks


def _is_ruled_out(group: _Group, columns: Sequence[Codes]) -> Flags:
    if isinstance(group, list):
        flags = np.zeros(len(columns[0]), np.bool_)
        for condition in group:
            flags |= np.logical_and.reduce(
                [mask[columns[place]] for place, mask in condition.items()]
            )
        return flags
    ruled_out: Flags = group[tuple(columns)]
    return ruled_out


def _next_attribute(
    names: Sequence[str],
    grown: Sequence[str],
    sizes: Mapping[str, int],
    groups: Mapping[tuple[str, ...], _Group],
) -> str:
    """Return the attribute after which fewest combinations are left, as far as that can be foreseen."""

    def growth(name: str) -> float:
        left = float(sizes[name])
        for attributes, group in groups.items():
            if isinstance(group, np.ndarray) and set(attributes) <= {*grown, name}:
                left *= 1 - group.mean()
        return left

    return min((name for name in names if name not in grown), key=growth)


def _classes(cells: int, forms: Sequence[tuple[Integers, Integers]]) -> tuple[Integers, Integers]:
    """Return the class of each combination: those that no row tells apart; and the first combination of each."""
    inside = np.concatenate([np.zeros(0, np.int64), *(form for form, _ in forms)])
    entries = np.column_stack(
        [
            np.repeat(np.arange(len(forms)), [len(form) for form, _ in forms]),
            np.concatenate([np.zeros(0, np.int64), *(coefficients for _, coefficients in forms)]),
        ]
    )
    order = np.argsort(inside, kind="stable")
    entries = np.ascontiguousarray(entries[order])
    ends = np.cumsum(np.bincount(inside, minlength=cells)).tolist()
    numbers: dict[bytes, int] = {}
    class_of, first = np.zeros(cells, np.int64), list[int]()
    begin = 0
    for cell, end in enumerate(ends):
        column = entries[begin:end].tobytes()
        if column not in numbers:
            numbers[column] = len(first)
            first.append(cell)
        class_of[cell] = numbers[column]
        begin = end
    return class_of, np.array(first, np.int64)


# -- the rows --------------------------------------------------------------------------------------------------------


def _form(row: PublishedRow, published: PublishedSet, cells: Codes) -> tuple[Integers, Integers]:
    """Return the combinations in a row, and the coefficient of each."""
    columns = {name: place for place, name in enumerate(published.domains)}
    total = np.zeros(len(cells), np.int64)
    for term in row.terms:
        flags = np.ones(len(cells), np.bool_)
        for name, codes in term.where.items():
            column = cells[:, columns[name]]
            if len(codes) == 1:
                flags &= column == codes[0]
                continue
            values = np.zeros(len(published.domains[name]), np.bool_)
            values[list(codes)] = True
            flags &= values[column]
        if term.of is None:
            total[flags] += term.factor
        else:
            numbers = [
                int(Fraction(str(value)) * term.factor) for value in published.domains[term.of]
            ]
            total[flags] += np.array(numbers, np.int64)[cells[flags, columns[term.of]]]
    inside = np.flatnonzero(total)
    return inside, total[inside]
