"""The few random draws that the generators share; every one takes its generator as an argument."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from glasshouse.arrays import Codes, Flags, Floats

Rates = npt.NDArray[np.float32]
"""A column of rates; single precision is ample for a probability and halves the memory."""
Means = npt.NDArray[np.floating[Any]] | float
"""One mean for all rates, or one for each."""


def place_of(positions: Codes, sizes: Codes) -> Codes:
    """Return the place of each position in a list that has the records of all places one after the other.

    >>> place_of(np.int32([0, 1, 2]), np.int32([2, 1])).tolist()
    [0, 0, 1]
    """
    ends = np.cumsum(sizes, dtype=np.int32)
    return np.searchsorted(ends, positions, side="right").astype(np.int32)


def flags(chance: npt.ArrayLike, size: int, rng: np.random.Generator) -> Flags:
    """Draw yes with the given chance, one for all or one for each."""
    return rng.random(size, dtype=np.float32) < np.asarray(chance, np.float32)


def categories(shares: Sequence[float] | Rates, size: int, rng: np.random.Generator) -> Codes:
    """Draw positions in `shares` with probabilities proportional to them.

    >>> categories([0, 1, 0], 3, np.random.default_rng(0)).tolist()
    [1, 1, 1]
    """
    bounds = np.cumsum(shares, dtype=np.float64)
    drawn = np.searchsorted(bounds / bounds[-1], rng.random(size), side="right")
    return drawn.astype(np.int32)


def below(limit: Codes, rng: np.random.Generator) -> Codes:
    """Draw whole numbers from zero up to, and without, each limit."""
    return (rng.random(len(limit)) * limit).astype(np.int32)


def gamma_rates(mean: Means, shape: float, size: int, rng: np.random.Generator) -> Rates:
    """Draw rates around the mean; the smaller the shape, the more of them are nearly zero."""
    rates = mean * rng.gamma(shape, 1 / shape, size)
    return np.minimum(rates, 0.95).astype(np.float32)


def beta_rates(mean: Means, concentration: float, size: int, rng: np.random.Generator) -> Rates:
    """Draw rates around the mean; a concentration below one pushes them towards 0 and 1."""
    mean = np.clip(mean, 1e-4, 1 - 1e-4)
    return rng.beta(mean * concentration, (1 - mean) * concentration, size).astype(np.float32)


def power_ranks(exponent: Rates, limit: Codes, rng: np.random.Generator) -> Codes:
    """Draw ranks from zero up to, and without, each limit, by a power law with each exponent.

    The rank is the whole part of a Pareto variable cut at the limit: by inversion, without tables.

    >>> power_ranks(np.float32([2, 2]), np.int32([1, 1]), np.random.default_rng(0)).tolist()
    [0, 0]
    """
    power = 1 - exponent
    power = np.where(np.abs(power) < 1e-3, np.float32(1e-3), power)
    span = (limit + 1) ** power - 1
    drawn = (1 + span * rng.random(len(limit), dtype=np.float32)) ** (1 / power)
    ranks: Codes = np.minimum(drawn.astype(np.int32), limit) - 1
    return ranks


def whole_sizes(weights: Floats, *, total: int) -> Codes:
    """Round sizes proportional to `weights` to whole numbers of at least one that sum to `total`.

    What rounding leaves over or lacks is made up one by one, from the largest on.

    >>> whole_sizes(np.array([1.0, 10.0, 100.0]), total=50).tolist()
    [1, 5, 44]
    """
    sizes: Codes = np.maximum(1, np.rint(weights * (total / weights.sum()))).astype(np.int32)
    largest = np.argsort(-sizes, kind="stable")
    while excess := int(sizes.sum(dtype=np.int64)) - total:
        adjustable = largest[sizes[largest] > 1] if excess > 0 else largest
        sizes[adjustable[: abs(excess)]] -= np.sign(excess)
    return sizes
