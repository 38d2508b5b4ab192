"""Gain functions: what the adversary wants, and what she can do."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations, product
from math import comb
from typing import Any

import numpy as np

from glasshouse.errors import StudyError
from glasshouse.qif.arithmetic import (
    Array,
    ByValue,
    Matrix,
    Number,
    as_array,
    common,
    number,
    to_float,
)
from glasshouse.qif.channel import Channel
from glasshouse.qif.labels import Labels, as_labels, position, require_same

MAX_GUESSES = 100_000
"""Above this number of guesses a gain function is refused: its matrix would be too large."""


@dataclass(frozen=True, init=False, eq=False)
class GainFunction(ByValue):
    """A gain function g(w, x): what the guess, or action, w is worth when the secret is x.

    Gains may be negative (Alvim et al. 2020, chapter 3). The same class holds the losses of
    `LRisk`, where less is better for the adversary.

    >>> bet = GainFunction([[10, -1], [-1, 1]], guesses=["ill", "well"], secrets=["ill", "well"])
    >>> print(bet["ill", "well"])
    -1
    """

    matrix: Array
    """One row per guess, one column per secret."""

    guesses: Labels
    """What the adversary may do."""

    secrets: Labels
    """The values of the secret."""

    def __init__(
        self,
        matrix: Matrix,
        guesses: Iterable[Hashable] | None = None,
        secrets: Iterable[Hashable] | None = None,
    ) -> None:
        values = as_array(matrix, dimensions=2, what="a gain function")
        rows, columns = values.shape
        object.__setattr__(self, "matrix", values)
        object.__setattr__(self, "guesses", as_labels(guesses, count=rows, what="guesses"))
        object.__setattr__(self, "secrets", as_labels(secrets, count=columns, what="secrets"))

    @classmethod
    def bayes(cls, secrets: Iterable[Hashable]) -> GainFunction:
        """Return the gain of guessing the secret in one try: 1 when right, else 0."""
        identity = Channel.identity(secrets)
        return cls(identity.matrix, identity.inputs, identity.inputs)

    @classmethod
    def worth(cls, worths: Mapping[Any, Number]) -> GainFunction:
        """Return the gain of guessing the secret in one try, where secrets differ in worth.

        >>> print(GainFunction.worth({"ill": 10, "well": 1})["ill", "ill"])
        10
        """
        diagonal = np.full((len(worths), len(worths)), Fraction(0), dtype=object)
        np.fill_diagonal(diagonal, list(worths.values()))
        return cls(diagonal, worths, worths)

    @classmethod
    def tries(cls, secrets: Iterable[Hashable], *, k: int) -> GainFunction:
        """Return the gain of k tries: guesses are the sets of k secrets, 1 if the secret is in it.

        Raises:
            StudyError: If there are more than MAX_GUESSES sets; the measure `Tries` needs none.
        """
        values = tuple(secrets)
        if not 1 <= k <= len(values):
            raise StudyError(f"k must be between 1 and the {len(values)} secrets; it is {k}")
        _refuse_many(comb(len(values), k), "sets of secrets; use the measure Tries(k)")
        return cls.from_callable(
            lambda guess, secret: int(secret in guess),
            guesses=combinations(values, k),
            secrets=values,
        )

    @classmethod
    def close(
        cls, secrets: Iterable[int | Fraction], *, within: int | Fraction, share: bool = False
    ) -> GainFunction:
        """Return the gain of a guess at a number that need only be close: 1 if it is, else 0.

        Of all numbers only those are guesses that are as far above a secret as may be: no other is close to more.

        Args:
            secrets: The numbers.
            within: By how much a guess may be off.
            share: Whether that is a share of the true number, below 1.

        >>> income = GainFunction.close([1000, 1222, 1223], within=Fraction(1, 10), share=True)
        >>> [int(gain) for gain in income.matrix[0]]
        [1, 1, 0]
        """
        if within < 0 or (share and within >= 1):
            raise StudyError(f"a tolerance is not negative, and a share below 1; it is {within}")
        values = tuple(map(Fraction, secrets))
        room = {value: Fraction(within) * (abs(value) if share else 1) for value in values}
        return cls.from_callable(
            lambda guess, secret: int(abs(guess - secret) <= room[secret]),
            guesses=dict.fromkeys(value + room[value] for value in values),
            secrets=values,
        )

    @classmethod
    def from_callable(
        cls,
        function: Callable[[Any, Any], Number],
        *,
        guesses: Iterable[Hashable],
        secrets: Iterable[Hashable],
    ) -> GainFunction:
        """Return the gain function g(w, x) = function(w, x)."""
        actions, values = tuple(guesses), tuple(secrets)
        return cls([[function(w, x) for x in values] for w in actions], actions, values)

    @property
    def exact(self) -> bool:
        """Whether the gains are Fractions."""
        return self.matrix.dtype == object

    def __getitem__(self, cell: tuple[Hashable, Hashable]) -> Number:
        guess, secret = cell
        row = position(guess, labels=self.guesses, what="guesses")
        return number(self.matrix[row, position(secret, labels=self.secrets, what="secrets")])

    def to_float(self) -> GainFunction:
        """Return the same gains in floating arithmetic."""
        return GainFunction(to_float(self.matrix), self.guesses, self.secrets)

    def abstaining(self) -> GainFunction:
        """Return the gain function with one more guess, "abstain", that gains nothing.

        It makes the vulnerability non-negative: an adversary who would lose stays away.
        """
        zeros = np.zeros_like(self.matrix[:1])
        return GainFunction(
            np.vstack([self.matrix, zeros]), [*self.guesses, "abstain"], self.secrets
        )

    def scaled(self, factor: Number) -> GainFunction:
        """Return the gains times a non-negative factor: V becomes factor·V."""
        if factor < 0:
            raise StudyError(f"a negative factor, {factor}, would turn gains into losses")
        values, by = common(
            self.matrix, as_array([factor], dimensions=1, what="the factor of a gain function")
        )
        return GainFunction(values * by, self.guesses, self.secrets)

    def plus(self, other: GainFunction) -> GainFunction:
        """Return the gain of playing both games at once: V of the sum is the sum of the V.

        Guesses are pairs.
        """
        require_same(self.secrets, other.secrets, what="the secrets of two gain functions")
        _refuse_many(len(self.guesses) * len(other.guesses), "pairs of guesses")
        first, second = common(self.matrix, other.matrix)
        sums = first[:, np.newaxis, :] + second[np.newaxis, :, :]
        pairs = list(product(self.guesses, other.guesses))
        return GainFunction(sums.reshape(len(pairs), -1), pairs, self.secrets)

    def through(self, channel: Channel) -> GainFunction:
        """Return the gain whose prior vulnerability is this one's posterior one under the channel.

        Guesses are strategies, tuples with one guess per observation:
        g'(s, x) = Σ_y C[x, y]·g(s(y), x), so that V_g'(π) = V_g[π ▷ C] for every π.
        """
        require_same(self.secrets, channel.inputs, what="the gain function and the channel")
        _refuse_many(len(self.guesses) ** len(channel.outputs), "strategies")
        gains, matrix = common(self.matrix, channel.matrix)
        totals = np.zeros_like(gains[:1])
        for column in matrix.T:
            step = gains * column
            totals = (totals[:, np.newaxis, :] + step).reshape(-1, gains.shape[1])
        strategies = product(self.guesses, repeat=len(channel.outputs))
        return GainFunction(totals, strategies, self.secrets)


def _refuse_many(guesses: int, of_what: str) -> None:
    if guesses > MAX_GUESSES:
        raise StudyError(f"there are {guesses:,} guesses, more than {MAX_GUESSES:,}: {of_what}")
