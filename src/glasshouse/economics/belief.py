"""What she believes about the size of the group before she has access: binomial (Xia et al. 2015, equation 6).

The register is a random sample of n people; a person is like the target with the share p that such people have in the
population, so that the group has k people with probability B(k; n, p). The probabilities are found by walking from the
most likely size down and up, each from its neighbour, until they no longer count, and dividing by their sum: no
logarithm of a factorial, whose rounding would spoil nine digits where n is in the millions.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numba import njit

from glasshouse.arrays import Floats, Integers

_NEGLIGIBLE = 1e-25
"""A probability so much smaller than the greatest is left out, and all beyond."""


@dataclass(frozen=True)
class Beliefs:
    """Distributions of the size of a group, one per share, as far as the sizes matter."""

    people: int
    """The number of people in the register, n."""
    shares: Floats
    """Per belief, the share of the population that is like the target, p."""
    below: int
    """Only the probabilities of sizes below this one are kept."""
    first: Integers
    """Per belief, the least size that is kept."""
    starts: Integers
    """Per belief, where its probabilities begin in ``chances``; one more entry closes the last."""
    chances: Floats
    """The probabilities of successive sizes, belief after belief."""

    @classmethod
    def of(cls, people: int, shares: Floats, *, below: int) -> Beliefs:
        """Return the beliefs about a register of so many people, for sizes below a limit."""
        shares = np.ascontiguousarray(shares, np.float64)
        first, lengths, sums = _windows(people, shares, below)
        starts = np.concatenate([np.zeros(1, np.int64), np.cumsum(lengths)])
        chances = np.empty(int(starts[-1]))
        _fill(people, shares, first, starts, sums, chances)
        return cls(people, shares, below, first, starts, chances)

    def expect(self, by_size: Floats) -> Floats:
        """Return, per belief, the expectation of something that is given by size, from 0 on, and 0 beyond.

        >>> Beliefs.of(2, np.array([0.5]), below=3).expect(np.array([0.0, 0.0, 8.0])).tolist()
        [2.0]
        """
        expected: Floats = _expect(self.first, self.starts, self.chances, by_size[: self.below])
        return expected


@njit(cache=True, nogil=True)  # type: ignore[untyped-decorator]
def _mode(people: int, share: float) -> int:
    return min(max(int((people + 1) * share), 0), people)


@njit(cache=True, nogil=True)  # type: ignore[untyped-decorator]
def _windows(people: int, shares: Floats, below: int) -> tuple[Integers, Integers, Floats]:
    """Return, per belief, the least size that counts, how many from there below the limit, and the sum over all.

    Probabilities are relative to that of the most likely size.
    """
    first = np.zeros(shares.size, np.int64)
    lengths = np.zeros(shares.size, np.int64)
    sums = np.ones(shares.size)
    for i in range(shares.size):
        share = shares[i]
        mode = _mode(people, share)
        if share <= 0 or share >= 1:
            first[i] = mode
            lengths[i] = 1 if mode < below else 0
            continue
        odds = share / (1 - share)
        total = 1.0
        term = 1.0
        low = mode
        while low > 0 and term > _NEGLIGIBLE:
            term *= low / ((people - low + 1) * odds)
            low -= 1
            total += term
        first[i] = low
        if low >= below:
            continue
        term = 1.0
        high = mode
        while high < people and term > _NEGLIGIBLE:
            term *= (people - high) * odds / (high + 1)
            high += 1
            total += term
        lengths[i] = min(high + 1, below) - low
        sums[i] = total
    return first, lengths, sums


@njit(cache=True, nogil=True)  # type: ignore[untyped-decorator]
def _fill(
    people: int,
    shares: Floats,
    first: Integers,
    starts: Integers,
    sums: Floats,
    chances: Floats,
) -> None:
    """Walk once more, and keep the probabilities."""
    for i in range(shares.size):
        length = starts[i + 1] - starts[i]
        if length == 0:
            continue
        own = chances[starts[i] : starts[i + 1]]
        mode = _mode(people, shares[i])
        if shares[i] <= 0 or shares[i] >= 1:
            own[0] = 1.0
            continue
        odds = shares[i] / (1 - shares[i])
        term = 1 / sums[i]
        for k in range(mode, first[i] - 1, -1):
            if k - first[i] < length:
                own[k - first[i]] = term
            term *= k / ((people - k + 1) * odds)
        term = 1 / sums[i]
        for k in range(mode + 1, first[i] + length):
            term *= (people - k + 1) * odds / k
            own[k - first[i]] = term


@njit(cache=True, nogil=True)  # type: ignore[untyped-decorator]
def _expect(first: Integers, starts: Integers, chances: Floats, by_size: Floats) -> Floats:
    expected = np.zeros(first.size)
    for i in range(first.size):
        total = 0.0
        for place in range(starts[i], starts[i + 1]):
            k = first[i] + place - starts[i]
            if k < by_size.size:
                total += chances[place] * by_size[k]
        expected[i] = total
    return expected
