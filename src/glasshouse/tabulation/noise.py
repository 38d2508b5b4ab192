"""What noisy counts let somebody learn of one person: whether she is in a count.

The adversary knows everybody else in it, which is the worst case: who knows less learns less. A count is then a channel
on one bit (`glasshouse.qif.membership`), and all the counts that show a person are one channel, their noises being
drawn apart. Where the law of the noise is rational, so is every figure. Who knows that she is in the tables, and
wonders in which cell, learns from both cells: the one that she is in, and the one that she is not.

Noise without a bound on what one count says, as a Gaussian has none, can make anybody certain once in a great while:
what is told of beliefs then leaves out what happens less than once in a million times, and says so.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from math import prod
from operator import attrgetter
from typing import Any

import pyarrow as pa

from glasshouse import qif
from glasshouse.qif import Channel
from glasshouse.qif.suspicion import Suspicion, suspicion_of
from glasshouse.study.tables import CountNoise, PublishedTable, TablesStudy

MOST_OBSERVED = 20_000
"""Noises that show more different things together are looked at one by one only."""


@dataclass(frozen=True)
class NoisyCount(Suspicion):
    """What noise lets somebody learn of whether a person is in a count, or in several."""

    others: int | None
    """How many others are in it; None: it is the same for any number, or for any that is large."""

    def to_dict(self) -> dict[str, Any]:
        """Return it as plain values."""
        return {"others": self.others, **super().to_dict()}


@dataclass(frozen=True)
class NoisyTable:
    """What the noise of one table lets somebody learn."""

    table: str
    """The table."""
    noise: CountNoise
    """Its noise."""
    counts: int
    """How many of its counts one person is in: of a table with totals she is in these, too."""
    apart: int
    """How many of these tell two cells apart: all but totals of everybody; 0: it has one cell."""
    by_others: tuple[NoisyCount, ...]
    """What one count tells, by how many others are in it, as far as that makes a difference."""

    @property
    def worst(self) -> NoisyCount:
        """What the count tells that tells most."""
        return max(self.by_others, key=attrgetter("order"))


@dataclass(frozen=True)
class NoiseExposure:
    """What the noise of published tables lets somebody learn."""

    tables: tuple[NoisyTable, ...]
    """The tables that have noise."""
    together: NoisyCount | None
    """What all their counts of one person tell together, each where it tells most; None: they are too many to tell."""
    between_cells: NoisyCount | None
    """What they tell of in which of two cells of each she is, to who knows that she is in one of them; None: no table
    has two cells, or they are too many to tell."""

    @property
    def member(self) -> NoisyCount:
        """What all tell together; where that is not known, what the table tells that tells most."""
        return self.together or max((table.worst for table in self.tables), key=attrgetter("order"))

    @property
    def worst(self) -> NoisyCount:
        """What tells most: of whether she is in the counts, or of which are hers."""
        return max(filter(None, (self.member, self.between_cells)), key=attrgetter("order"))

    @property
    def is_whole(self) -> bool:
        """Whether nothing is left out as it is too much to tell."""
        several = any(table.apart for table in self.tables)
        return self.together is not None and (self.between_cells is not None or not several)

    @property
    def counts(self) -> int:
        """How many noisy counts one person is in."""
        return sum(table.counts for table in self.tables)

    def to_dict(self) -> dict[str, Any]:
        """Return it as plain values."""
        return {
            "assumption": "others known",
            "tables": [
                {
                    "table": table.table,
                    "noise": table.noise.model_dump(
                        mode="json", exclude_none=True, exclude={"rows"}
                    ),
                    "counts": table.counts,
                    "by_others": [one.to_dict() for one in table.by_others],
                }
                for table in self.tables
            ],
            "together": None if self.together is None else self.together.to_dict(),
            "between_cells": None if self.between_cells is None else self.between_cells.to_dict(),
        }

    def to_frame(self) -> pa.Table:
        """Return a row for every table and number of others, then what all counts tell together, and of two cells."""
        rows = [
            {"table": table.table} | one.to_row()
            for table in self.tables
            for one in table.by_others
        ]
        for name, one in (("together", self.together), ("between_cells", self.between_cells)):
            rows += [] if one is None else [{"table": name} | one.to_row()]
        return pa.Table.from_pylist(rows)


def noise_exposure(study: TablesStudy) -> NoiseExposure | None:
    """Tell what the noise of tables lets somebody learn of one person; None: they have none.

    Args:
        study: The tables, with the rows of their files and of their perturbation tables.
    """
    tables = tuple(
        NoisyTable(
            str(table.id),
            table.noise,
            *_counts_of_a_person(table, study),
            tuple(
                _told(_channel(table.noise, others), others, table.noise)
                for others in _others(table, table.noise, study)
            ),
        )
        for table in study.tables
        if table.noise is not None
    )
    if not tables:
        return None
    between = _together(tables, between_cells=True) if any(one.apart for one in tables) else None
    return NoiseExposure(tables, _together(tables), between)


def noise_channel(noise: CountNoise, others: int | None, tables: int = 1) -> Channel:
    """Return what one noisy count, or several with Gaussian noise, tell of whether somebody is in them.

    Args:
        noise: The noise.
        others: How many others are in it; None: many, so that clamping does nothing.
        tables: How many counts of Gaussian noise are told by their sum; clamping is then left out, on the safe side.

    >>> print(noise_channel(CountNoise(law="geometric", ratio="1/2"), None)["in", 1])
    2/3
    """
    if noise.law == "rounding":
        count = others or 0
        return qif.membership(qif.rounding(range(count, count + 2), noise.base or 2), count)
    if noise.law == "table":
        last = max(noise.chances)
        count = last if others is None else others
        return qif.membership(qif.perturbation_table(range(count, count + 2), noise.chances), count)
    count = others or 0
    counts = range(count, count + 2)
    if noise.law == "gaussian":
        whole = qif.discrete_gaussian(counts, noise.deviation, tables=tables)
    else:
        high = max(count, noise.least or 0) + 1
        whole = qif.geometric(range(count, high + 1), noise.step)
    if noise.least is not None and others is not None and tables == 1:
        whole = qif.clamped(whole, noise.least)
    return qif.membership(whole, count)


_channel = lru_cache(maxsize=256)(noise_channel)


def _others(table: PublishedTable, noise: CountNoise, study: TablesStudy) -> list[int | None]:
    """Return the numbers of others that can make a difference: those that what is published leaves possible."""
    if (
        noise.law == "rounding"
    ):  # a count is rounded by what it is above a multiple, however large it is
        return [*range(noise.base or 2)]
    if noise.law != "table":
        return [None] if noise.least is None else [0, None]
    last = max(noise.chances)
    possible: set[int] = set()
    for low, high in {table.window(count) for count in _published_counts(table, study)}:
        possible |= {min(others, last) for others in range(max(0, low - 1), high + 1)}
    few = [others for others in sorted(possible) if others < last]
    return [*few, None] if last in possible or not few else [*few]


def _published_counts(table: PublishedTable, study: TablesStudy) -> Iterator[int]:
    """Yield the counts that a table shows; of combinations that it leaves out, 0."""
    shown = [row[-1] for row in table.rows or ()] + [one.count for one in table.statistics]
    yield from (count for count in shown if isinstance(count, int))
    combinations = prod(len(study.attributes[name].domain) for name in table.by)
    if table.complete and table.rows and len(table.rows) < combinations:
        yield 0


def _counts_of_a_person(table: PublishedTable, study: TablesStudy) -> tuple[int, int]:
    """Return how many counts of a table one person is in at most, and how many of them tell two cells apart.

    She is in a cell, and in a total of every kind; where groups may overlap, in each of them.
    """
    kinds: dict[tuple[str, ...], int] = {}
    for one in table.statistics:
        if one.count is not None:
            kind = tuple(sorted(one.where))
            is_cell = kind and all(
                isinstance(value, int | float | str) for value in one.where.values()
            )
            kinds[kind] = max(1, kinds.get(kind, 0) + (not is_cell))
    counts = bool(table.rows) + sum(kinds.values())
    cells = prod(len(study.attributes[name].domain) for name in table.by)
    several = cells > 1 if table.rows else counts > kinds.get((), 0)
    return counts, counts - kinds.get((), 0) if several else 0


def _told(channel: Channel, others: int | None, *noises: CountNoise) -> NoisyCount:
    leaves_out = any(noise.law == "gaussian" for noise in noises)
    return NoisyCount(**vars(suspicion_of(channel, leaves_out=leaves_out)), others=others)


def _together(tables: Sequence[NoisyTable], *, between_cells: bool = False) -> NoisyCount | None:
    """Return what all counts of one person tell together, each of a table where it tells most.

    Args:
        tables: The tables.
        between_cells: Whether it is known that she is in them: then also those tell that she would be in otherwise.
    """
    parts: list[Channel] = []
    summed: dict[CountNoise, int] = {}
    for table in tables:
        if table.noise.law == "gaussian":
            times = 2 * table.apart if between_cells else table.counts
            summed[table.noise] = summed.get(table.noise, 0) + times
        elif not between_cells:
            parts += [_channel(table.noise, table.worst.others)] * table.counts
        else:
            otherwise = [_turned(_channel(table.noise, one.others)) for one in table.by_others]
            most = max(otherwise, key=lambda part: _told(part, None).order)
            parts += [_channel(table.noise, table.worst.others), most] * table.apart
    parts += [_channel(noise, None, counts) for noise, counts in summed.items() if counts]
    whole = parts[0]
    for part in parts[1:]:
        if len(whole.outputs) * len(part.outputs) > MOST_OBSERVED:
            return None
        whole = qif.composition([whole, part])
    others = {table.worst.others for table in tables}
    return _told(
        whole, others.pop() if len(others) == 1 else None, *(table.noise for table in tables)
    )


def _turned(channel: Channel) -> Channel:
    """Return what a count tells of a person who is in it if she is not in another."""
    return Channel(channel.matrix[::-1], channel.inputs, channel.outputs)
