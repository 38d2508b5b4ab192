"""What an adversary can do bin by bin, city by city, and whom she names with certainty.

A record counts for the bin of her guess: where the entity that is most likely behind it is registered. If that entity
has branches, it counts for each of their bins by the part of the chance that it gives; if several entities are as
likely, for the bins of all of them, as often as a guess among them is there. The parts of a record add up to 1, and so
those of all bins to the figures of the step. Records that no total was joined with count for no bin.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from glasshouse.arrays import Integers
from glasshouse.study.totals import TotalsStudy
from glasshouse.totals.attempts import Floats
from glasshouse.totals.finding import Found
from glasshouse.totals.naming import Registered
from glasshouse.totals.publications import Published
from glasshouse.totals.standing import (
    JOINED,
    NOTHING,
    WEIGHTED,
    Standing,
    open_before,
    source_of,
    sources_of,
)
from glasshouse.totals.titles import Key, Titles, titles_of


@dataclass(frozen=True)
class BinExposed:
    """What the adversary can do in one bin, at one step."""

    step: str
    """The step; what `glasshouse.totals.exposure.Phase` calls `name`."""
    bin: str | None
    """The bin; None: records that no total was joined with."""
    entities: int | None
    """How many entities are registered there; None: it is no place."""
    records: float
    """For how many records her guess is there; a part of a record counts as such."""
    value: float
    """What they are worth."""
    prior_chance: float
    """The chance to name the entity behind one of them by the register alone."""
    chance: float
    """Her mean chance."""
    factor: float
    """By how much it grew: the posterior against the prior."""
    prior_value_at_risk: float
    """Σ prior chance · value."""
    value_at_risk: float
    """Σ chance · value."""
    linked: int
    """Records that are there for certain."""
    linked_value: float
    """What they are worth."""
    exposed: int
    """Records whose entity is certain."""
    exposed_value: float
    """What they are worth."""

    def to_dict(self) -> dict[str, Any]:
        """Return the figures in plain values."""
        return dict(vars(self))


@dataclass(eq=False)
class _Bins:
    """All bins of all phases and what is summed up for them; the first stands for none of them."""

    places: list[Integers]
    """Per phase and bin, its number."""
    left_out: int
    """The number of the bin of records left out."""
    names: list[str | None]
    """Per bin, its name."""
    entities: list[int | None]
    """Per bin, how many entities are registered there."""
    sums: Floats = field(default_factory=lambda: np.zeros((8, 0)))
    """Per figure and bin: records, value, chance, value at risk, linked, their value, exposed, their value."""


def exposed_by_bin(
    found: Sequence[Found],
    steps: Sequence[tuple[str, Standing]],
    values: NDArray[np.float64],
    register: int,
    rule: str,
) -> tuple[BinExposed, ...]:
    """Return per step after the first and per bin what the adversary can do, most value at risk first.

    Args:
        found: The phases.
        steps: What is known of every record before, and after each step.
        values: What every record is worth.
        register: The number of entities in the register.
        rule: How she guesses, "uniform" or "bayes".
    """
    rows: list[BinExposed] = []
    titles = titles_of(found)
    for name, standing in steps[1:]:
        bins = _bins_of(found, titles)
        _add_up(bins, found, standing, values, rule)
        rows += sorted(
            _figures(bins, name, register), key=lambda row: (-row.value_at_risk, row.bin or "")
        )
    return tuple(rows)


def bins_table(rows: Sequence[BinExposed]) -> pa.Table:
    """Return the figures of bins as a table."""
    kinds = {"step": pa.string(), "bin": pa.string()}
    kinds |= dict.fromkeys(("entities", "linked", "exposed"), pa.int64())
    names = list(BinExposed.__dataclass_fields__)
    return pa.table(
        {
            name: pa.array([getattr(row, name) for row in rows], kinds.get(name, pa.float64()))
            for name in names
        }
    )


def entities_table(
    standing: Standing,
    values: NDArray[np.float64],
    published: Published,
    study: TotalsStudy,
) -> pa.Table:
    """Return the entities that are certain to be behind some record, with how many and what they are worth."""
    rows = np.flatnonzero(standing.certain)
    own, inverse = np.unique(standing.named[rows], return_inverse=True)
    inverse = inverse.reshape(-1)
    column = None if study.entities is None else study.entities.entity
    names = (
        [f"row {row + 1}" for row in published.row[own].tolist()]
        if column is None
        else published.column(column).values.take(pa.array(own)).to_pylist()
    )
    table = pa.table(
        {
            "entity": pa.array(names, pa.string()),
            "records": pa.array(np.bincount(inverse, minlength=len(own))),
            "value": pa.array(np.bincount(inverse, values[rows], minlength=len(own)), pa.float64()),
        }
    )
    return table.sort_by([("value", "descending"), ("entity", "ascending")])


def _bins_of(found: Sequence[Found], titles: Titles) -> _Bins:
    number: dict[Key, int] = {}
    bins = _Bins([], 0, [None], [None])
    for each, keys, names in zip(found, titles.keys, titles.names, strict=True):
        counts = None if each.register is None else each.register.counts.tolist()
        for place, (key, name) in enumerate(zip(keys, names, strict=True)):
            if key not in number:
                number[key] = len(bins.names)
                bins.names.append(name)
                bins.entities.append(None if counts is None else counts[place])
        bins.places.append(np.array([number[key] for key in keys], np.int64))
    bins.left_out = len(bins.names)
    bins.names.append(titles.left_out)
    bins.entities.append(None)
    bins.sums = np.zeros((8, len(bins.names)))
    return bins


def _add_up(
    bins: _Bins, found: Sequence[Found], standing: Standing, values: Floats, rule: str
) -> None:
    sources, chances = standing.sources(rule), standing.chances(rule)
    flags = np.stack([standing.linked, standing.certain], axis=1)

    def add(rows: Integers, places: Integers, guesses: Floats) -> None:
        """Add records whose guesses are shared out among some bins."""
        value, chance = values[rows], chances[rows]
        own = np.stack([np.ones(len(rows)), value, chance, chance * value])
        np.add.at(bins.sums[:4].T, places, (own @ guesses).T)
        where = places[guesses.argmax(axis=1)]
        for number, flag in enumerate(flags[rows].T):
            np.add.at(bins.sums[4 + 2 * number], where[flag], 1)
            np.add.at(bins.sums[5 + 2 * number], where[flag], value[flag])

    rest = np.flatnonzero(sources == NOTHING)
    add(rest, np.zeros(1, np.int64), np.ones((len(rest), 1)))
    for rows, number, place in _of_single(found, sources):
        own = bins.places[number][place]
        value, chance = values[rows], chances[rows]
        for row, amount in enumerate((np.ones(len(rows)), value, chance, chance * value)):
            np.add.at(bins.sums[row], own, amount)
        for row, flag in enumerate(flags[rows].T):
            np.add.at(bins.sums[4 + 2 * row], own[flag], 1)
            np.add.at(bins.sums[5 + 2 * row], own[flag], value[flag])
    for code, number, part in _of_several(found, sources):
        each = found[number]
        assert each.register is not None  # noqa: S101 - without a register there are no sources
        record = each.instances.groups.record[each.instances.packages_of(part)]
        mine = sources[record] == code
        guesses = np.broadcast_to(
            _guesses(each, each.register, part, source_of(code)[2]),
            (len(record), _width(each, part)),
        )
        places = bins.places[number][each.instances.groups.bin[each.instances.bins_of(part)]]
        if each.instances.left_out[part]:
            places = np.append(places, bins.left_out)
        add(record[mine], places, guesses[mine])


def _guesses(found: Found, register: Registered, part: int, kind: int) -> Floats:
    """Return per record and bin of a part which part of the guess is there."""
    bins = found.instances.groups.bin[found.instances.bins_of(part)]
    left_out = bool(found.instances.left_out[part])
    if kind == JOINED:
        return register.uniform_guesses(open_before(found, part)[0], bins, left_out=left_out)
    attempt = found.attempts[part]
    assert attempt.feasible is not None  # noqa: S101 - it is a source
    if kind == WEIGHTED and attempt.shares is not None:
        return register.bayes_guesses(attempt.feasible, attempt.shares, bins, left_out=left_out)
    return register.uniform_guesses(attempt.feasible, bins, left_out=left_out)


def _width(found: Found, part: int) -> int:
    return len(found.instances.bins_of(part)) + int(found.instances.left_out[part])


def _of_single(
    found: Sequence[Found], sources: Integers
) -> Iterator[tuple[Integers, int, Integers]]:
    """Yield per phase the records whose chance rests on a part with one bin, its number, and the bin of each."""
    phase, part = sources_of(sources)
    for number, each in enumerate(found):
        instances = each.instances
        rows = np.flatnonzero(phase == number)
        rows = rows[instances.single[part[rows]]]
        if len(rows):
            first = instances.bin[instances.bin_start[part[rows]]]
            yield rows, number, instances.groups.bin[first]


def _of_several(found: Sequence[Found], sources: Integers) -> Iterator[tuple[int, int, int]]:
    """Yield the other sources: the code, the phase and the part."""
    for code in np.unique(sources[sources != NOTHING]).tolist():
        number, part, _ = source_of(code)
        if not found[number].instances.single[part]:
            yield code, number, part


def _figures(bins: _Bins, step: str, register: int) -> Iterator[BinExposed]:
    for place in np.flatnonzero(bins.sums[0] > 0).tolist():
        records, value, chance, at_risk, linked, linked_value, exposed, exposed_value = (
            float(each) for each in bins.sums[:, place]
        )
        yield BinExposed(
            step=step,
            bin=bins.names[place],
            entities=bins.entities[place],
            records=records,
            value=value,
            prior_chance=1 / register,
            chance=chance / records,
            factor=chance / records * register,
            prior_value_at_risk=value / register,
            value_at_risk=at_risk,
            linked=int(linked),
            linked_value=linked_value,
            exposed=int(exposed),
            exposed_value=exposed_value,
        )
