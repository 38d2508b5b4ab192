"""From the batch means of several chains to beliefs with their errors, R-hat and effective sample sizes.

*Error.* Batch means of all chains, about the overall mean, give its variance; so do the means of whole chains. The
greater is taken: if chains disagree, no length of theirs hides it. A belief is a share of sums; batches are turned into
shares before they are compared, so that errors are those of the belief itself.

*R-hat* and *ESS* are those of the averaged quantity (the attacker's sums, p_L(s, r) for reading (5), f(s | r, π) for
(6)): half-chain means from the batches, the variance of single draws from the sums of squares.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from glasshouse.groups.beliefs import Beliefs, normalised
from glasshouse.groups.chains import Floats, Integers, RunningMeans

_CELLS = 1 << 20
"""Cells that are worked on at a time."""
_ROUNDING = 1e-18
"""A variance below this share of the mean square is rounding: the cell does not vary."""


@dataclass(frozen=True)
class Summary:
    """The mean of a family of cells, and the belief that follows from it."""

    mean: Floats
    """The averaged quantity (victims × sensitive values)."""
    beliefs: Beliefs
    """Its share in the sum of its row, with errors."""


@dataclass(frozen=True)
class Family:
    """The same cells in several chains."""

    chains: Sequence[RunningMeans]
    """The means of each chain."""
    shape: tuple[int, int]
    """Victims and sensitive values."""
    support: Integers | None = None
    """Which cells there are, ascending; None: all. The others are 0."""

    def summary(self) -> Summary:
        """Return means, beliefs and what they are worth; the chains have complete batches, an even number of them."""
        mean, errors, rhat, ess = (np.empty(self.shape) for _ in range(4))
        for first, last in self._parts():
            part = slice(first, last)
            mean[part], errors[part], rhat[part], ess[part] = self._summarise(first, last)
        return Summary(mean, Beliefs(normalised(mean), errors, rhat, ess))

    def sections(self) -> Iterator[Floats]:
        """Yield the mean of each half chain: independent but for what is left of a chain at its middle."""
        for own in self.chains:
            half = own.full // 2
            for rows in (slice(0, half), slice(half, own.full)):
                deviation = own.batches[rows].mean(axis=0, dtype=np.float64)
                yield self._dense(own.reference + deviation, 0, self.shape[0])

    def batch(self, chain: int, number: int) -> Floats:
        """Return the mean of one batch of a chain."""
        own = self.chains[chain]
        return self._dense(own.reference + own.batches[number].astype(np.float64), 0, self.shape[0])

    def whole(self) -> Floats:
        """Return the mean of all draws of all chains."""
        total: Floats = np.zeros(self.shape)
        for section in self.sections():
            total += section
        mean: Floats = total / (2 * len(self.chains))
        return mean

    def largest_error(self) -> float:
        """Return the largest Monte-Carlo error of any belief."""
        worst = 0.0
        for first, last in self._parts():
            errors = self._summarise(first, last)[1]
            if np.isfinite(errors).any():
                worst = max(worst, float(np.nanmax(errors)))
        return worst

    def _parts(self) -> Iterator[tuple[int, int]]:
        step = max(1, _CELLS // self.shape[1])
        for first in range(0, self.shape[0], step):
            yield first, min(first + step, self.shape[0])

    def _range(self, first: int, last: int) -> slice:
        ends = np.array([first, last]) * self.shape[1]
        if self.support is not None:
            ends = np.searchsorted(self.support, ends)
        return slice(int(ends[0]), int(ends[1]))

    def _dense(self, cells: Floats, first: int, last: int) -> Floats:
        if self.support is None:
            return cells.reshape(last - first, self.shape[1])
        dense = np.zeros((last - first) * self.shape[1])
        own = self.support[self._range(first, last)]
        dense[own - first * self.shape[1]] = cells
        return dense.reshape(last - first, self.shape[1])

    def _summarise(self, first: int, last: int) -> tuple[Floats, Floats, Floats, Floats]:
        cells = self._range(first, last)
        own = [each.batches[: each.full, cells] for each in self.chains]
        reference = [each.reference[cells].astype(np.float64) for each in self.chains]
        chain_means = [
            base + part.mean(axis=0, dtype=np.float64)
            for base, part in zip(reference, own, strict=True)
        ]
        mean = np.mean(chain_means, axis=0)
        beliefs = normalised(self._dense(mean, first, last))
        of_batches, of_shares = np.zeros(len(mean)), np.zeros(beliefs.shape)
        for base, part in zip(reference, own, strict=True):
            for batch in part:
                of_batches += (base + batch - mean) ** 2
                of_shares += (normalised(self._dense(base + batch, first, last)) - beliefs) ** 2
        batches = sum(len(part) for part in own)
        error = of_batches / (batches * (batches - 1))
        share_error = of_shares / (batches * (batches - 1))
        many = len(self.chains)
        if many > 1:
            scale = many * (many - 1)
            error = np.maximum(error, sum((x - mean) ** 2 for x in chain_means) / scale)
            of_chains = [normalised(self._dense(x, first, last)) - beliefs for x in chain_means]
            share_error = np.maximum(share_error, sum(x**2 for x in of_chains) / scale)
        rhat, ess = self._worth(cells, reference, own, mean, error)
        return (
            self._dense(mean, first, last),
            np.sqrt(share_error),
            self._filled(rhat, 1.0, first, last),
            self._filled(ess, float(many * self.chains[0].draws), first, last),
        )

    def _filled(self, cells: Floats, otherwise: float, first: int, last: int) -> Floats:
        """Return a dense array; cells that cannot occur are as cells that do not vary."""
        if self.support is None:
            return self._dense(cells, first, last)
        return self._dense(cells - otherwise, first, last) + otherwise

    def _worth(
        self,
        cells: slice,
        reference: list[Floats],
        own: list[NDArray[np.float32]],
        mean: Floats,
        error: Floats,
    ) -> tuple[Floats, Floats]:
        within = np.zeros(len(mean))
        halves = []
        for each, base, part in zip(self.chains, reference, own, strict=True):
            half = each.full // 2
            early, late = (x.mean(axis=0, dtype=np.float64) for x in (part[:half], part[half:]))
            whole = (early + late) / 2
            within += each.squares[cells] / each.draws - whole**2 - ((early - late) / 2) ** 2
            halves += [base + early, base + late]
        draws = self.chains[0].draws // 2
        within = np.maximum(within / len(self.chains), 0.0) * draws / max(draws - 1, 1)
        between = np.var(halves, axis=0, ddof=1)
        constant = within <= _ROUNDING * mean**2
        alike = between <= _ROUNDING * mean**2 + 1e-14 * mean**2
        pooled = (draws - 1) / draws * within + between
        still: Floats = np.where(alike, 1.0, np.inf)
        rhat = np.sqrt(np.divide(pooled, within, out=still, where=~constant))
        total = float(2 * draws * len(self.chains))
        many = np.where(constant & alike, total, 1.0)
        ess = np.divide(pooled, error, out=many, where=(error > 0) & ~(constant & alike))
        return rhat, np.minimum(ess, total * np.log10(max(total, 10.0)))
