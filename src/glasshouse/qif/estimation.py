"""Estimating the prior from what was observed: the iterative Bayesian update."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from glasshouse.errors import SolverError, StudyError
from glasshouse.qif.channel import Channel
from glasshouse.qif.labels import require_same
from glasshouse.qif.prior import Prior


@dataclass(frozen=True)
class PriorEstimate:
    """A prior under which the observed frequencies are most likely."""

    prior: Prior
    """The estimate."""

    iterations: int
    """How many updates were made."""


def estimate_prior(
    channel: Channel,
    observed: Prior,
    *,
    start: Prior | None = None,
    max_change: float = 1e-6,
    max_iterations: int = 1_000_000,
) -> PriorEstimate:
    """Return the prior that best explains the frequencies of the observations.

    The iterative Bayesian update π[x] ← Σ_y observed[y]·π[x]·C[x, y] / Σ_x' π[x']·C[x', y] is the
    expectation–maximisation algorithm: the likelihood of the observations never falls, and its
    limit is a maximum-likelihood estimate (Agrawal, Aggarwal 2001; ElSalamouny, Palamidessi 2020).
    It works in floats.

    Args:
        channel: How secrets lead to observations.
        observed: The frequencies of the observations.
        start: The first guess; uniform when not given. A secret that it excludes stays excluded.
        max_change: Stop when an update changes the prior by at most this, as Σ_x |change|.
        max_iterations: When to give up.

    Raises:
        StudyError: If something was observed that is impossible under `start`.
        SolverError: If the prior still changes more than that after `max_iterations`.

    >>> flip = Channel([[0.75, 0.25], [0.25, 0.75]])
    >>> round(estimate_prior(flip, Prior([0.5, 0.5]), start=Prior([0.9, 0.1])).prior[0], 4)
    0.5
    """
    require_same(channel.outputs, observed.labels, what="the channel and the observations")
    first = Prior.uniform(channel.inputs) if start is None else start
    require_same(first.labels, channel.inputs, what="the start and the channel")
    matrix = channel.matrix.astype(np.float64)
    frequencies = observed.probabilities.astype(np.float64)
    current = first.probabilities.astype(np.float64)
    if np.any((current @ matrix == 0) & (frequencies > 0)):
        raise StudyError("something was observed that the channel and the start make impossible")
    for iteration in range(1, max_iterations + 1):
        expected = current @ matrix
        weights = np.divide(frequencies, expected, out=np.zeros_like(expected), where=expected > 0)
        updated = current * (matrix @ weights)
        change = float(abs(updated - current).sum())
        current = updated / updated.sum()
        if change <= max_change:
            return PriorEstimate(Prior(current, channel.inputs), iteration)
    raise SolverError(f"the estimate still changes by {change} after {max_iterations:,} updates")
