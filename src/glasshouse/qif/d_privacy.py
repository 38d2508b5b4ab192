"""d-privacy: how alike a channel makes secrets look, whatever the adversary's prior.

A channel is d-private for a distance d between secrets when C[x, y] ≤ e^d(x, x')·C[x', y] for all
secrets x, x' and observations y. With d = ε times the Hamming distance between databases this is
ε-differential privacy; with d = ε·[x ≠ x'], ε-local differential privacy (Chatzikokolakis, Andrés,
Bordenabe, Palamidessi 2013, Broadening the scope of differential privacy using metrics).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from typing import Any, TypeAlias

import numpy as np

from glasshouse.errors import StudyError
from glasshouse.qif.arithmetic import TOLERANCE, Array
from glasshouse.qif.channel import Channel
from glasshouse.qif.labels import Labels
from glasshouse.qif.prior import Prior

Distance: TypeAlias = Callable[[Any, Any], float]
"""A distance between two secrets, given by their labels; it need not be symmetric."""


def smallest_epsilon(channel: Channel, *, distance: Distance) -> float:
    """Return the least ε for which the channel is ε·d-private; infinite if there is none.

    >>> response = Channel([[0.75, 0.25], [0.25, 0.75]])
    >>> epsilon = smallest_epsilon(response, distance=lambda x, other: abs(x - other))
    >>> round(math.exp(epsilon), 9)
    3.0
    """
    logarithms = row_distances(channel)
    ratios = (
        _ratio(apart, allowed) for apart, allowed in _pairs(logarithms, channel.inputs, distance)
    )
    return max(ratios, default=0.0)


def smallest_epsilon_of(prior: Prior, *, distance: Distance) -> float:
    """Return the least ε with π[x] ≤ e^(ε·d(x, x'))·π[x'] for all x, x': how steep the prior is."""
    logarithms = _log_distances(prior.probabilities[:, np.newaxis])
    ratios = (
        _ratio(apart, allowed) for apart, allowed in _pairs(logarithms, prior.labels, distance)
    )
    return max(ratios, default=0.0)


def is_private(channel: Channel, *, distance: Distance) -> bool:
    """Tell whether the channel is d-private for the distance, within the tolerance of floats."""
    logarithms = row_distances(channel)
    return all(
        apart <= allowed + TOLERANCE
        for apart, allowed in _pairs(logarithms, channel.inputs, distance)
    )


def row_distances(channel: Channel) -> Array:
    """Return max_y |ln C[x, y] − ln C[x', y]| for each pair of secrets x, x'.

    It is the least distance for which the channel is d-private. It is infinite for two secrets of
    which an observation excludes only one.
    """
    return _log_distances(channel.matrix)


def _log_distances(rows: Array) -> Array:
    with np.errstate(divide="ignore"):
        logarithms = np.log(rows.astype(np.float64))
    return np.vstack([_farthest_entries(row, logarithms) for row in logarithms])


def _farthest_entries(row: Array, rows: Array) -> Array:
    differences = np.zeros_like(rows)
    # Where both are impossible the difference is 0, which inf − inf would not give.
    np.subtract(rows, row, out=differences, where=rows != row)
    return np.asarray(abs(differences).max(axis=1))


def _pairs(logarithms: Array, labels: Labels, distance: Distance) -> Iterator[tuple[float, float]]:
    """Yield, for each ordered pair of different secrets, how far apart they are and may be."""
    for i, secret in enumerate(labels):
        for j, other in enumerate(labels):
            if i == j:
                continue
            allowed = float(distance(secret, other))
            if not allowed >= 0:
                raise StudyError(f"the distance of {secret!r} and {other!r} is {allowed}, not ≥ 0")
            yield float(logarithms[i, j]), allowed


def _ratio(apart: float, allowed: float) -> float:
    if apart == 0 or allowed == math.inf:
        return 0.0
    return apart / allowed if allowed > 0 else math.inf
