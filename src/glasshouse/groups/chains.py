"""What every chain needs: a random stream of its own, and the means of its draws in a fixed amount of memory.

*Random numbers.* Each chain has its own stream, xoshiro256++ (Blackman and Vigna 2021), started from
``numpy.random.SeedSequence(seed).spawn``. A chain's draws depend on the seed and on its number, never on how many
threads there are; four words are its whole state, so that a run can be continued where it was left.

*Means.* A reported number is a mean over draws, and its error has to come from the draws too; to keep them all would
take victims × sensitive values × draws. `Means` keeps, per chain and cell, at most a fixed number of batch means: when
they are all taken, neighbours are merged and batches become twice as long (Geyer 1992 on batch means; Flyvbjerg and
Petersen 1989 on merging). Beside them the sum of squares gives the variance of single draws. That is enough for the
mean, its Monte-Carlo error, split R-hat and the effective number of draws of every cell.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numba import njit
from numpy.typing import NDArray

from glasshouse.errors import InternalError

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]
Words = NDArray[np.uint64]
Arrays = dict[str, NDArray[Any]]
"""A state that can be stored and continued: arrays by name."""


def random_streams(seed: int, chains: int) -> list[Words]:
    """Return one random state per chain: the same for the same seed, whatever the number of chains.

    >>> first, second = random_streams(7, 2)
    >>> (first == random_streams(7, 4)[0]).all(), (first == second).any()
    (np.True_, np.False_)
    """
    children = np.random.SeedSequence(seed).spawn(chains)
    return [np.asarray(child.generate_state(4, np.uint64), np.uint64) for child in children]


@njit(cache=True, nogil=True, inline="always")  # type: ignore[untyped-decorator]
def _rotated(word: np.uint64, by: int) -> np.uint64:
    return (word << np.uint64(by)) | (word >> np.uint64(64 - by))


@njit(cache=True, nogil=True)  # type: ignore[untyped-decorator]
def uniform(stream: Words) -> float:
    """Return a number of [0, 1), and move the stream on (xoshiro256++, upper 53 bits)."""
    word = _rotated(stream[0] + stream[3], 23) + stream[0]
    shifted = stream[1] << np.uint64(17)
    stream[2] ^= stream[0]
    stream[3] ^= stream[1]
    stream[1] ^= stream[2]
    stream[0] ^= stream[3]
    stream[2] ^= shifted
    stream[3] = _rotated(stream[3], 45)
    return float(word >> np.uint64(11)) * 2.0**-53


@njit(cache=True, nogil=True)  # type: ignore[untyped-decorator]
def log_gamma_draw(stream: Words, shape: float) -> float:
    """Return the logarithm of a gamma draw of scale 1 (Marsaglia and Tsang 2000).

    Below shape 1 the draw of shape + 1 is multiplied by U^(1 / shape); in logarithms it cannot underflow.
    """
    boost = 0.0
    if shape < 1.0:
        boost = np.log(1.0 - uniform(stream)) / shape
        shape += 1.0
    d = shape - 1.0 / 3.0
    c = 1.0 / np.sqrt(9.0 * d)
    while True:
        radius = np.sqrt(-2.0 * np.log(1.0 - uniform(stream)))
        normal = radius * np.cos(2.0 * np.pi * uniform(stream))
        v = 1.0 + c * normal
        if v <= 0.0:
            continue
        v = v * v * v
        if np.log(1.0 - uniform(stream)) < 0.5 * normal * normal + d - d * v + d * np.log(v):
            return float(boost + np.log(d) + np.log(v))


@dataclass
class Means:
    """The draws of many cells by one chain, as batch means and a sum of squares, relative to the first draw.

    Deviations are kept rather than values: single precision is then fine, however little a cell varies.
    """

    reference: NDArray[np.float32]
    """Per cell, about the first draw."""
    batches: NDArray[np.float32]
    """Batch means less the reference, batch by cell; only the first `full` rows count."""
    total: Floats
    """Per cell, the sum of the deviations of the batch that is being filled."""
    squares: Floats
    """Per cell, the sum of squares of the deviations of all draws."""
    length: int
    """How many draws a batch has."""
    full: int = 0
    """How many batches are complete."""
    filled: int = 0
    """How many draws the unfinished batch has."""

    @staticmethod
    def empty(cells: int, *, kept: int, length: int) -> Means:
        """Return room for an even number of batches, at first of so many draws."""
        if kept % 2 or kept < 4:
            raise InternalError(f"{kept} batches cannot be merged in pairs")
        reference, batches = np.zeros(cells, np.float32), np.zeros((kept, cells), np.float32)
        return Means(reference, batches, np.zeros(cells), np.zeros(cells), length)

    @staticmethod
    def size(cells: int, kept: int) -> int:
        """Return how many bytes the means of so many cells take."""
        return cells * (4 * kept + 20)

    @property
    def draws(self) -> int:
        """How many draws the complete batches have."""
        return self.full * self.length

    def add(self, draw: Floats, chosen: Integers | None = None) -> None:
        """Take a draw of all cells: the whole of an array, or some places of it."""
        flat = draw.reshape(-1)
        places = chosen if chosen is not None else _NOWHERE
        if not self.full and not self.filled:
            self.reference[:] = flat if chosen is None else flat[chosen]
        _add(flat, places, chosen is not None, self.reference, self.total, self.squares)
        self.filled += 1
        if self.filled == self.length:
            self._close()

    def _close(self) -> None:
        self.batches[self.full] = self.total / self.length
        self.total[:] = 0.0
        self.filled = 0
        self.full += 1
        if self.full == len(self.batches):
            half = self.full // 2
            for batch in range(half):
                pair = self.batches[2 * batch : 2 * batch + 2]
                self.batches[batch] = pair.mean(axis=0, dtype=np.float64)
            self.full = half
            self.length *= 2

    def state(self, name: str) -> Arrays:
        """Return what has to be stored, by name."""
        return {
            f"{name}.reference": self.reference,
            f"{name}.batches": self.batches[: self.full],
            f"{name}.total": self.total,
            f"{name}.squares": self.squares,
            f"{name}.numbers": np.array([self.full, self.length, self.filled], np.int64),
        }

    def restore(self, name: str, state: Mapping[str, NDArray[Any]]) -> None:
        """Go back to a stored state."""
        self.full, self.length, self.filled = (int(x) for x in state[f"{name}.numbers"])
        self.reference[:] = state[f"{name}.reference"]
        self.batches[: self.full] = state[f"{name}.batches"]
        self.total[:] = state[f"{name}.total"]
        self.squares[:] = state[f"{name}.squares"]


_NOWHERE = np.zeros(0, np.int64)


@njit(cache=True, nogil=True)  # type: ignore[untyped-decorator]
def _add(
    draw: Floats,
    places: Integers,
    chosen: bool,
    reference: NDArray[np.float32],
    total: Floats,
    squares: Floats,
) -> None:
    for cell in range(len(total)):
        deviation = draw[places[cell] if chosen else cell] - reference[cell]
        total[cell] += deviation
        squares[cell] += deviation * deviation
