"""Noise as a channel: as what a count, or a value, is published by chance.

Some of these noises have no bound. What lies beyond the ends of a channel of `geometric` raises and lowers every belief
as its end does, so that both are one observation and the channel is exact; beyond those of `discrete_gaussian` lies
less than a double can tell. What is done to a noisy number afterwards is `clamped`, and tells no more than it did.

A person changes a count by one: `membership` says what a noisy count tells of whether she is in it, to somebody who
knows how many others are, or how likely each number of them is. `histogram` says what all cells of a table tell of
hers, `composition` what several tables do that share nothing but her.

References:
    Ghosh, Roughgarden, Sundararajan (2009), Universally utility-maximizing privacy mechanisms, STOC.
    Canonne, Kamath, Steinke (2020), The discrete Gaussian for differential privacy, NeurIPS.
    Kairouz, Liu, Steinke (2021), The distributed discrete Gaussian mechanism for federated learning, ICML.
    Fraser, Wooton (2005), A proposed method for confidentialising tabular output to protect against differencing,
        UNECE.
    Warner (1965), Randomized response, JASA; Gouweleeuw et al. (1998), Post randomisation, Journal of Official
        Statistics; Dalenius, Reiss (1982), Data-swapping, Journal of Statistical Planning and Inference.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping, Sequence
from fractions import Fraction
from functools import reduce
from math import ceil, erfc, log, sqrt
from typing import Any, Literal, cast

import numpy as np

from glasshouse.errors import BudgetError, StudyError
from glasshouse.qif.arithmetic import Array, Number, common, number
from glasshouse.qif.channel import Channel
from glasshouse.qif.hyper import Hyper
from glasshouse.qif.labels import position
from glasshouse.qif.prior import Prior

OUT, IN = "out", "in"
"""Whether somebody is in a count."""
MOST_CELLS = 12
"""A table of more cells is not looked at as a whole: every one of them doubles what can be observed."""
_MOST_REDUCED = 500
"""So many observations are compared two by two, where they are not exact."""
_REACH = 10
"""A discrete Gaussian is told up to so many standard deviations: beyond lies less than 10⁻²⁰."""
_SMOOTH = 3
"""From this σ on, a sum of discrete Gaussians is one, but for some e^(−π²σ²), which no double tells (Kairouz 2021)."""


def geometric(inputs: Iterable[int], ratio: Number) -> Channel:
    """Return the channel of two-sided geometric noise on counts: Laplace noise on whole numbers.

    P(z) = (1 − a) / (1 + a) · a^|z|, where the ratio a is e^−ε. The least and the greatest count stand for all that is
    published below and above, too.

    Args:
        inputs: The counts that can be true.
        ratio: How much less likely each further step is, above 0 and below 1; exact as a Fraction.

    >>> print(*geometric([4, 5], Fraction(1, 2)).matrix[0])
    2/3 1/3
    """
    if not 0 < ratio < 1:
        raise StudyError(
            "the ratio of geometric noise lies above 0 and below 1, so that ε is above 0"
        )
    counts = _counts(inputs)
    low, high = min(counts), max(counts)
    if low == high:
        return Channel([[Fraction(1)]], counts, [low])
    rows = []
    for count in counts:
        row = [(1 - ratio) / (1 + ratio) * ratio ** abs(y - count) for y in range(low, high + 1)]
        row[0] = ratio ** (count - low) / (1 + ratio)
        row[-1] = ratio ** (high - count) / (1 + ratio)
        rows.append(row)
    return Channel(rows, counts, range(low, high + 1))


def discrete_gaussian(inputs: Iterable[int], sigma: float, *, tables: int = 1) -> Channel:
    """Return the channel of discrete Gaussian noise on counts, P(z) ∝ exp(−z² / 2σ²), in doubles.

    Where several tables show the same person with such noise each, all that they tell of her is told by the sum of her
    counts; that is then what is observed.

    Args:
        inputs: The counts that can be true.
        sigma: The σ; without clamping the noise is ρ-zCDP for ρ = 1 / 2σ².
        tables: How many tables there are, with noise drawn apart.

    >>> bool(discrete_gaussian([0, 1], 2)[0, 0] > discrete_gaussian([0, 1], 2)[1, 0])
    True
    """
    _refuse_sigma(sigma)
    counts = _counts(inputs)
    if sigma < _SMOOTH:
        law = reduce(np.convolve, [_gaussian_law(sigma)] * tables)
    else:
        law = _gaussian_law(sigma * sqrt(tables))
    reach = len(law) // 2
    low, high = tables * min(counts) - reach, tables * max(counts) + reach
    matrix = np.zeros((len(counts), high - low + 1))
    for row, count in zip(matrix, counts, strict=True):
        start = tables * count - reach - low
        row[start : start + len(law)] = law
    return Channel(matrix / matrix.sum(axis=1, keepdims=True), counts, range(low, high + 1))


def _gaussian_law(sigma: float) -> Array:
    """Return the chances of a discrete Gaussian, as far as doubles tell them."""
    reach = ceil(_REACH * sigma) + _REACH
    weights = np.exp(-np.square(np.arange(-reach, reach + 1) / sigma) / 2)
    return np.asarray(weights / weights.sum())


def gaussian(inputs: Iterable[int], sigma: float, *, prior: Prior | None = None) -> Channel:
    """Return what somebody makes of counts with (continuous) Gaussian noise: her best guess, in doubles.

    A number that is not whole cannot be listed, but guesses can: the channel shows the count of which the noisy number
    is most credible under the prior. The Bayes vulnerability under that prior is that of the noise itself, and under
    any other at most that. Several tables are one with σ / √tables.

    Args:
        inputs: The counts that can be true.
        sigma: The σ.
        prior: What she believes before; by default each count is as likely.

    >>> round(gaussian([0, 1], 1)[0, 0], 4)
    0.6915
    """
    _refuse_sigma(sigma)
    counts = sorted(_counts(inputs))
    before = Prior.uniform(counts) if prior is None else prior
    # ln π[x] − (y − x)² / 2σ² is, but for y² / 2σ², a line in y: guesses are the upper envelope of lines.
    lines = [
        (count, log(before[count]) - count**2 / (2 * sigma**2)) for count in counts if before[count]
    ]
    best: list[tuple[int, float, float]] = []
    for slope, height in lines:
        start = -np.inf
        while best:
            other, other_height, since = best[-1]
            start = (other_height - height) * sigma**2 / (slope - other)
            if start > since:
                break
            best.pop()
            start = -np.inf
        best.append((slope, height, start))
    starts = [since for _, _, since in best]
    rows = [
        [
            (erfc((first - count) / sigma / sqrt(2)) - erfc((last - count) / sigma / sqrt(2))) / 2
            for first, last in zip(starts, [*starts[1:], np.inf], strict=True)
        ]
        for count in counts
    ]
    return Channel(rows, counts, [guess for guess, _, _ in best])


def perturbation_table(
    inputs: Iterable[int], chances: Mapping[int, Mapping[int, Number]]
) -> Channel:
    """Return the channel of a perturbation table, by which the cell key method changes counts.

    Args:
        inputs: The counts that can be true.
        chances: Per true count, from 0 on, the chance of every count that it is published as. A count beyond the last
            moves as the last does.

    Raises:
        StudyError: A count has no row, or a row is no distribution; the message says which.

    >>> table = {0: {0: Fraction(1)}, 1: {0: Fraction(1, 2), 2: Fraction(1, 2)}}
    >>> print(perturbation_table([0, 1, 7], table)[7, 8])
    1/2
    """
    counts = _counts(inputs)
    last = max(chances, default=-1)
    if set(chances) != set(range(last + 1)) or last < 0 or min(counts) < 0:
        raise StudyError("a perturbation table has a row for every count from 0 on")
    moved = {
        count: {y + count - min(count, last): p for y, p in chances[min(count, last)].items()}
        for count in counts
    }
    outputs = sorted({y for row in moved.values() for y, chance in row.items() if chance})
    rows = [[row.get(y, Fraction(0)) for y in outputs] for row in moved.values()]
    return Channel(rows, counts, outputs)


def randomised_response(inputs: Iterable[Hashable], truth: Number) -> Channel:
    """Return the channel that tells the truth with a chance, and otherwise each other value, all as likely.

    Any other matrix of PRAM is a `Channel` as it is.

    >>> print(*randomised_response("abc", Fraction(3, 5)).matrix[0])
    3/5 1/5 1/5
    """
    if not 0 <= truth <= 1:
        raise StudyError(
            "the chance of the truth lies between 0 and 1, not at {truth}", truth=truth
        )
    return Channel.mistaken(inputs, truth)


def rounding(
    inputs: Iterable[int], base: int, how: Literal["nearest", "random", "down"] = "random"
) -> Channel:
    """Return the channel that rounds counts to multiples of a base; at random: up as often as leaves the mean.

    >>> print(rounding([1, 3], 3)[1, 3], rounding([1, 3], 3, "nearest").outputs)
    1/3 (0, 3)
    """
    if base < 2:
        raise StudyError("counts are rounded to multiples of 2 or more, not of {base}", base=base)
    counts = _counts(inputs)
    if how == "random":
        up = {count: Fraction(count % base, base) for count in counts}
    else:
        half = {"nearest": (base + 1) // 2, "down": base}[how]
        up = {count: Fraction(count % base >= half) for count in counts}
    below = {count: count - count % base for count in counts}
    ends = {below[count] for count in counts if up[count] < 1}
    outputs = sorted(ends | {below[count] + base for count in counts if up[count]})
    rows = [
        [
            (1 - up[count]) * (y == below[count]) + up[count] * (y == below[count] + base)
            for y in outputs
        ]
        for count in counts
    ]
    return Channel(rows, counts, outputs)


def swapping(inputs: Mapping[Any, int], swapped: Number) -> Channel:
    """Return the channel of swapping within a group: with a chance a record gets the value of another of its group.

    Args:
        inputs: How many records of the group have each value.
        swapped: The chance that a record is swapped; all others are then as likely to be the one.

    >>> print(swapping({"north": 3, "south": 1}, Fraction(1, 2))["south", "south"])
    1/2
    """
    records = sum(inputs.values())
    if records < 2 or not 0 <= swapped <= 1:
        raise StudyError(
            "swapping needs a group of two records or more, and a chance between 0 and 1"
        )
    rows = [
        [
            (1 - swapped) * (x == y) + swapped * Fraction(count - (x == y), records - 1)
            for y, count in inputs.items()
        ]
        for x in inputs
    ]
    return Channel(rows, inputs, inputs)


def clamped(noise: Channel, least: int | None = 0, most: int | None = None) -> Channel:
    """Return a channel on numbers whose observations below `least` or above `most` are shown as these.

    That is post-processing: it reveals no more than before, and may reveal less.

    >>> clamped(geometric(range(3), Fraction(1, 2)), 1).outputs
    (1, 2)
    """

    def kept(shown: int) -> int:
        shown = shown if least is None else max(shown, least)
        return shown if most is None else min(shown, most)

    return noise.cascade(Channel.deterministic(kept, inputs=noise.outputs))


def membership(noise: Channel, others: int | Prior) -> Channel:
    """Return what a noisy count tells of whether somebody is in it.

    Args:
        noise: The noise on counts.
        others: How many others are in it, for somebody who knows all of them: the worst case. Or how likely each number
            is to her, which is an assumption about her.

    >>> channel = membership(geometric(range(5), Fraction(1, 2)), 3)
    >>> print(channel["in", 4])
    2/3
    """
    law = Prior.dirac(others, labels=[others]) if isinstance(others, int) else others
    rows = []
    for step in (0, 1):
        places = [
            position(cast(int, count) + step, labels=noise.inputs, what="counts of the noise")
            for count in law.labels
        ]
        weights, matrix = common(law.probabilities, noise.matrix[places])
        rows.append(weights @ matrix)
    shown = np.flatnonzero(rows[0] + rows[1] > 0)
    matrix = np.vstack(rows)[:, shown]
    return Channel(matrix, (OUT, IN), [noise.outputs[place] for place in shown])


def histogram(cells: Sequence[Hashable], noise: Channel) -> Channel:
    """Return what all cells of a table tell of the one somebody is in, where the others are known.

    Args:
        cells: The cells of which she is in one.
        noise: What each tells of whether she is in it: see `membership`.

    >>> cells = histogram("ab", membership(geometric([0, 1], Fraction(1, 2)), 0))
    >>> print(sum(cells.matrix.max(axis=0)) / 2)
    2/3
    """
    if len(cells) > MOST_CELLS:
        raise BudgetError(
            "a table of {cells} cells is too large to be looked at as a whole; {most} is the most",
            cells=len(cells),
            most=MOST_CELLS,
        )
    bits = noise.reduced()
    return composition(
        Channel(
            [
                bits.matrix[position(IN if cell == hers else OUT, labels=bits.inputs, what="rows")]
                for hers in cells
            ],
            cells,
            bits.outputs,
        )
        for cell in cells
    )


def composition(channels: Iterable[Channel]) -> Channel:
    """Return what several channels tell together of the same secret, where their noises are drawn apart.

    Observations that lead to the same beliefs are one, unless they are many and in doubles.

    >>> one = membership(geometric([0, 1], Fraction(1, 2)), 0)
    >>> len(composition([one] * 100).outputs)
    101
    """
    return reduce(_joined, channels)


def _joined(first: Channel, second: Channel) -> Channel:
    both = first.parallel(second)
    return both.reduced() if both.exact or len(both.outputs) <= _MOST_REDUCED else both


def belief_range(prior: Prior, channel: Channel, secret: Hashable) -> tuple[Number, Number]:
    """Return the least and the greatest that a secret can be believed with after an observation.

    >>> one = membership(geometric([0, 1], Fraction(1, 2)), 0)
    >>> print(*belief_range(Prior([Fraction(9, 10), Fraction(1, 10)], [OUT, IN]), one, IN))
    1/19 2/11
    """
    beliefs: Array = Hyper.of(prior, channel).inners[
        position(secret, labels=channel.inputs, what="secrets")
    ]
    return number(beliefs.min()), number(beliefs.max())


def _counts(inputs: Iterable[int]) -> tuple[int, ...]:
    counts = tuple(inputs)
    if not counts:
        raise StudyError("noise needs counts that it is added to; there are none")
    return counts


def _refuse_sigma(sigma: float) -> None:
    if not sigma > 0:
        raise StudyError("the σ of Gaussian noise is above 0, not {sigma}", sigma=sigma)
