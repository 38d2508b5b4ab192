"""Columns that were released at random: what a value with noise lets somebody learn of a person.

A value is released by a known channel, each record for itself: randomised response, PRAM, or a matrix; or it is swapped
with another record of its group, which has a channel of its own (`glasshouse.qif.swapping`). Two adversaries are told
apart:

- one knows which record is a person's, and suspects a value: what she sees is the row of the channel. Between the value
  that she suspects and any other, the pair of values that the channel tells apart best is what is told (`worst`), so
  that it holds whatever she thinks of the others;
- one knows the quasi-identifiers, and guesses the value by what their classes show (`noisy_classes`). How frequent true
  values are is what the study says, or else the likeliest by what was released (`glasshouse.qif.estimate_prior`); of
  swapped values it is how often the group has them, which swapping does not change.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction
from os import PathLike
from typing import Any

import numpy as np

from glasshouse.arrays import Integers
from glasshouse.errors import BudgetError, DataError, StudyError
from glasshouse.language import quoted
from glasshouse.microdata.knowledge import read_kernel
from glasshouse.microdata.noisy_classes import Learned, NoisyGroup, learned, probability
from glasshouse.qif import Channel, Number, Prior, estimate_prior, randomised_response, swapping
from glasshouse.qif.suspicion import PRIORS, Suspicion, suspicion_of
from glasshouse.study.column_noise import ColumnChances
from glasshouse.table import EncodedColumn, EncodedTable
from glasshouse.table.partition import partition

MOST_CHANCES = 250_000
"""A channel has at most so many chances,"""
_CHANGE = 1e-9


@dataclass(frozen=True)
class ColumnNoise:
    """What a column lets somebody learn that was released at random."""

    column: str
    """The column."""
    law: str
    """How it was, as the study writes it."""
    values: int
    """How many values can be true."""
    worst: Suspicion
    """What becomes of a suspicion of one value by what the record shows, of the two values told apart best."""
    prior: Fraction
    """How often the likeliest value is right, which nothing need be known for."""
    learned: Learned
    """How often somebody is right who knows the quasi-identifiers and the noise, and for how many she is certain."""
    is_estimated: bool
    """Whether the frequencies of the true values are estimated by what was released."""

    def to_dict(self) -> dict[str, Any]:
        """Return it as plain values."""
        return {
            "column": self.column,
            "noise": self.law,
            "values": self.values,
            **self.worst.to_dict(),
            "guess": {
                "prior": float(self.prior),
                **self.learned.to_dict(),
                "estimated": self.is_estimated,
            },
        }


def column_noise(
    table: EncodedTable,
    name: str,
    chances: ColumnChances,
    *,
    prior: Mapping[str, Number] | None = None,
) -> ColumnNoise:
    """Tell what a column that was released at random lets somebody learn.

    Args:
        table: The release, with quasi-identifiers.
        name: The column.
        chances: By which chances it was released.
        prior: How frequent the true values are; by default the likeliest by what was released.

    Raises:
        DataError: A released value cannot come out of the channel, or its file makes no sense.
        BudgetError: The column has too many values.

    >>> import pyarrow as pa
    >>> from glasshouse.study.column_noise import parse_noise
    >>> from glasshouse.table import read
    >>> people = read(pa.table({"age": [20, 30], "ill": ["no", "yes"]}), quasi_identifiers=["age"], sensitive=["ill"])
    >>> found = column_noise(people, "ill", parse_noise("ill", "response:3/4"), prior={"no": 0.5, "yes": 0.5})
    >>> print(found.learned.guessed, found.worst.beliefs[Fraction(1, 100)][1])
    3/4 1/34
    """
    if chances.law == "swap":
        return _swapped(table, name, chances)
    column = table.column(name)
    known = table.known_values(name)
    values = [
        value for value, is_known in zip(column.values.to_pylist(), known, strict=True) if is_known
    ]
    channel = _channel(column, values, chances)
    place = {value: number for number, value in enumerate(channel.outputs)}
    lacking = [value for value in values if value not in place]
    if lacking:
        raise DataError(
            "column {column}: {value} cannot come out of its noise; is it the one that was used?",
            column=quoted([name]),
            value=quoted(lacking[:1]),
        )
    some = np.flatnonzero(known[column.codes])
    shown = np.array([place.get(value, -1) for value in column.values.to_pylist()])[
        column.codes[some]
    ]
    frequencies = np.bincount(shown, minlength=len(channel.outputs))
    before = _prior(channel, frequencies, prior)
    everybody = NoisyGroup(np.arange(len(some)), shown, channel, before)
    return ColumnNoise(
        column=name,
        law=chances.written,
        values=len(channel.inputs),
        worst=_worst(channel),
        prior=probability(before.probabilities.max()),
        learned=learned(table, some, [everybody]),
        is_estimated=prior is None,
    )


def _swapped(table: EncodedTable, name: str, chances: ColumnChances) -> ColumnNoise:
    """Tell what swapped values let somebody learn: in each group by its channel, and of the group where it is worst.

    Where all of a group have one value, swapping hides nothing: whoever is in it has that value.
    """
    column = table.column(name)
    some = np.flatnonzero(table.known_values(name)[column.codes])
    if not len(some):
        raise DataError("column {column}: every value is missing", column=quoted([name]))
    codes = np.asarray(column.codes[some], np.int64)
    group_of = np.asarray(partition(table, chances.within).numbers[some], np.int64)
    groups = list(_groups(column, codes, group_of, chances.chance or Fraction(0)))
    tallies = np.bincount(codes)
    return ColumnNoise(
        column=name,
        law=chances.written,
        values=int(np.count_nonzero(tallies)),
        worst=max(
            (_worst(group.channel) for group in groups), key=lambda suspicion: suspicion.order
        ),
        prior=Fraction(int(tallies.max()), len(some)),
        learned=learned(table, some, groups),
        is_estimated=False,
    )


def _groups(
    column: EncodedColumn, codes: Integers, group_of: Integers, swapped: Fraction
) -> Iterator[NoisyGroup]:
    """Yield the groups that values were swapped within; the channel of one with one value shows that."""
    values, chances_counted = column.values.to_pylist(), 0
    order = np.argsort(group_of, kind="stable")
    for members in np.split(order, np.flatnonzero(np.diff(group_of[order])) + 1):
        kept, shown, counts = np.unique(codes[members], return_inverse=True, return_counts=True)
        chances_counted += len(kept) ** 2
        if chances_counted > MOST_CHANCES:
            raise BudgetError(
                "column {column}: too many different values were swapped; group its values first",
                column=quoted([column.name]),
            )
        tally = {values[code]: int(count) for code, count in zip(kept, counts, strict=True)}
        prior = Prior([Fraction(count, len(members)) for count in tally.values()], list(tally))
        is_hidden = len(tally) > 1
        channel = swapping(tally, swapped) if is_hidden else Channel.identity(list(tally))
        yield NoisyGroup(members, shown, channel, prior)


def _channel(column: EncodedColumn, values: list[str], chances: ColumnChances) -> Channel:
    """Return the channel from true to released values."""
    if chances.law == "matrix":
        return _matrix(chances.path or "")
    if len(values) ** 2 > MOST_CHANCES:
        raise BudgetError(
            "column {column}: {values} values released as {outputs} are too many for a matrix; group its values first",
            column=quoted([column.name]),
            values=str(len(values)),
            outputs=str(len(values)),
        )
    if len(values) < 2:
        raise StudyError(
            "column {column}: has fewer than two values, so that no noise is to be seen in it",
            column=quoted([column.name]),
        )
    chance = chances.chance or Fraction(0)
    if chances.law == "response":
        return randomised_response(values, chance)
    tally = np.bincount(column.codes, minlength=column.cardinality)
    shares = dict(zip(column.values.to_pylist(), tally.tolist(), strict=True))
    whole = sum(shares[value] for value in values)
    rows = [
        [chance * (x == y) + (1 - chance) * Fraction(shares[y], whole) for y in values]
        for x in values
    ]
    return Channel(rows, values, values)


def _matrix(path: str | PathLike[str]) -> Channel:
    """Return the channel of a file: true values in the first column, released ones in the first line."""
    rows = read_kernel(path)
    outputs = list(dict.fromkeys(shown for row in rows.values() for shown in row))
    if len(rows) * len(outputs) > MOST_CHANCES or len(rows) < 2:
        raise DataError(
            "{file}: a matrix of noise has from two values on, and at most {most} chances",
            file=str(path),
            most=MOST_CHANCES,
        )
    return Channel(
        [[row.get(shown, Fraction(0)) for shown in outputs] for row in rows.values()], rows, outputs
    )


def _prior(channel: Channel, frequencies: Integers, given: Mapping[str, Number] | None) -> Prior:
    """Return how frequent the true values are: as is said, or the likeliest by what was released."""
    if given is not None:
        written = {value: Fraction(str(given.get(str(value), 0))) for value in channel.inputs}
        total = sum(written.values(), Fraction(0))
        if total <= 0:
            raise StudyError("a prior gives some value of the matrix a chance; none of it does")
        believed = Prior([chance / total for chance in written.values()], channel.inputs)
        expected = believed.probabilities.astype(np.float64) @ channel.matrix.astype(np.float64)
        unexpected = np.flatnonzero((expected == 0) & (frequencies > 0))
        if len(unexpected):
            raise DataError(
                "{value} was released, which has no chance by the prior and the noise",
                value=quoted([str(channel.outputs[int(unexpected[0])])]),
            )
        return believed
    observed = Prior(
        [Fraction(int(count), int(frequencies.sum())) for count in frequencies], channel.outputs
    )
    return estimate_prior(channel, observed, max_change=_CHANGE).prior


def _worst(channel: Channel) -> Suspicion:
    """Return what becomes of a suspicion between the two values that the channel tells apart best.

    Where only one value can be true, it shows.
    """
    if len(channel.inputs) == 1:
        return suspicion_of(Channel.identity(["other", "suspected"]))
    matrix = channel.matrix.astype(np.float64)
    odds = float((1 - PRIORS[0]) / PRIORS[0])
    best: tuple[tuple[float, ...], int, int] | None = None
    for suspected, row in enumerate(matrix):
        with np.errstate(divide="ignore", invalid="ignore"):
            ratios = np.where(row > 0, row / matrix, 0.0)
        convinced = np.where(ratios > odds, row, 0.0).sum(axis=1)
        right = np.maximum(row, matrix).sum(axis=1)
        keys = list(
            zip(convinced.tolist(), ratios.max(axis=1).tolist(), right.tolist(), strict=True)
        )
        for other, key in enumerate(keys):
            if other != suspected and (best is None or key > best[0]):
                best = key, suspected, other
    _, suspected, other = best or ((), 0, 1)
    return suspicion_of(
        Channel(channel.matrix[[other, suspected]], ["other", "suspected"], channel.outputs)
    )
