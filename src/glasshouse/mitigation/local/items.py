"""Records that need not be told apart, and groups of them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from glasshouse.arrays import Flags, Integers
from glasshouse.errors import StudyError
from glasshouse.language import text
from glasshouse.mitigation.criteria import Criterion, TableCriterion, for_table
from glasshouse.mitigation.distinct_rows import code_column
from glasshouse.table import Column, EncodedTable
from glasshouse.table.partition import refined

Criteria = tuple[Criterion | TableCriterion, ...]


def question(
    table: EncodedTable,
    quasi_identifiers: Sequence[str] | None,
    criteria: Sequence[Criterion | TableCriterion],
) -> tuple[tuple[str, ...], Criteria]:
    """Return the columns to be recoded, and the criteria ready to judge.

    Raises:
        DataError: A column is not in the table.
        StudyError: The question is not well posed.
    """
    given = table.quasi_identifiers if quasi_identifiers is None else quasi_identifiers
    if isinstance(given, str):
        raise StudyError(
            text('give a list of columns, such as ["{given}"], not one text', given=given)
        )
    names = tuple(column.name for name in given for column in table.columns_of(name))
    if not names:
        raise StudyError(text("a recoding needs at least one quasi-identifier; name one"))
    if not criteria or isinstance(criteria, Criterion | TableCriterion):
        raise StudyError(
            text("a recoding needs a list of criteria to meet, such as [KAnonymity(5)]")
        )
    ready = for_table(criteria, table)
    table.with_roles(quasi_identifiers=names, sensitive=sensitive_of(ready), facts={})
    return names, ready


def sensitive_of(criteria: Criteria) -> tuple[str, ...]:
    """Return the sensitive attributes that criteria look at."""
    return tuple(dict.fromkeys(each.sensitive for each in criteria if each.sensitive is not None))


@dataclass(frozen=True)
class Items:
    """The distinct combinations of quasi-identifiers and sensitive values among the records that are kept."""

    names: tuple[str, ...]
    """The quasi-identifiers."""
    codes: NDArray[np.uint32]
    """Per item (row) and quasi-identifier, the code of its value."""
    sensitive: tuple[str, ...]
    """The sensitive attributes that the criteria look at."""
    secrets: NDArray[np.uint32]
    """Per item (row) and sensitive attribute, the code of its value."""
    references: tuple[Integers, ...]
    """Per sensitive attribute, how many of all records have each value."""
    kept: Integers
    """The records that are kept."""
    numbers: Integers
    """Per record that is kept, its item."""
    weights: Integers
    """Per item, its records."""
    records: int
    """The number of all records."""

    @classmethod
    def of(
        cls,
        table: EncodedTable,
        names: tuple[str, ...],
        criteria: Criteria,
        suppressed: Flags | None = None,
    ) -> Items:
        """Return the items of a table without the records that are suppressed."""
        sensitive = sensitive_of(criteria)
        gone = np.zeros(table.records, np.bool_) if suppressed is None else suppressed
        kept = np.flatnonzero(~gone)
        columns = [table.column(name) for name in (*names, *sensitive)]
        own = [Column(each.name, each.codes[kept], each.values) for each in columns]
        classes = refined(own, len(kept))
        first = classes.order[classes.starts[:-1]]
        codes = np.stack([each.codes[first].astype(np.uint32) for each in own], axis=1)
        return cls(
            names=names,
            codes=np.ascontiguousarray(codes[:, : len(names)]),
            sensitive=sensitive,
            secrets=np.ascontiguousarray(codes[:, len(names) :]),
            references=tuple(
                np.bincount(each.codes, minlength=each.cardinality).astype(np.int64)
                for each in columns[len(names) :]
            ),
            kept=kept,
            numbers=classes.numbers.astype(np.int64),
            weights=classes.sizes,
            records=table.records,
        )

    @property
    def suppressed(self) -> int:
        """How many records are not kept."""
        return self.records - len(self.kept)

    def by_combination(self) -> Groups:
        """Return the items grouped by quasi-identifiers."""
        return Groups.of(alike(self.codes), np.arange(len(self.codes)), self.weights)

    def together(self) -> Groups:
        """Return all items in one group."""
        numbers = np.arange(len(self.codes))
        return Groups.of(np.zeros_like(numbers), numbers, self.weights)


@dataclass(frozen=True)
class Groups:
    """Items in groups. A piece is some records of one item in one group."""

    starts: Integers
    """Per group, where its pieces begin; one more entry closes the last."""
    items: Integers
    """Per piece, its item; ascending in each group."""
    counts: Integers
    """Per piece, its records."""

    def __len__(self) -> int:
        return len(self.starts) - 1

    @classmethod
    def of(cls, numbers: Integers, items: Integers, counts: Integers) -> Groups:
        """Group records of items by numbers; records of one item in one group become one piece."""
        order = np.lexsort((items, numbers))
        numbers, items = numbers[order], items[order]
        other = np.flatnonzero(np.diff(numbers, prepend=-1))
        fresh = np.diff(items, prepend=-1) != 0
        fresh[other] = True
        pieces = np.flatnonzero(fresh)
        starts = np.append(np.searchsorted(pieces, other), len(pieces))
        return cls(starts, items[pieces], np.add.reduceat(counts[order], pieces))

    @cached_property
    def numbers(self) -> Integers:
        """Per piece, its group."""
        return np.repeat(np.arange(len(self)), np.diff(self.starts))

    @cached_property
    def sizes(self) -> Integers:
        """Per group, its records."""
        return np.add.reduceat(self.counts, self.starts[:-1])

    def merged(self, into: Integers) -> Groups:
        """Return the groups merged: each into that of a number."""
        return Groups.of(into[self.numbers], self.items, self.counts)

    def taken(self, chosen: Integers) -> tuple[Integers, Integers, Integers]:
        """Return the starts, items and counts of some groups."""
        starts, places = stretches(self.starts[chosen], np.diff(self.starts)[chosen])
        return starts, self.items[places], self.counts[places]


def stretches(begins: Integers, lengths: Integers) -> tuple[Integers, Integers]:
    """Return where each of some stretches begins if they stand one after the other, and the places in them."""
    starts = np.concatenate([np.zeros(1, np.int64), np.cumsum(lengths)])
    return starts, np.arange(starts[-1]) + np.repeat(begins - starts[:-1], lengths)


def alike(rows: NDArray[np.integer[Any]]) -> Integers:
    """Return, per row, a number that equal rows share."""
    columns = [code_column(codes) for codes in rows.T]
    return refined(columns, len(rows)).numbers.astype(np.int64)
