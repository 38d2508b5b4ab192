"""What every chain has, whatever it draws: a random stream of its own, the learner, and means in a fixed memory.

*Random numbers.* Each chain has its own stream, xoshiro256++ (Blackman and Vigna 2021), started from
``numpy.random.SeedSequence(seed).spawn``. A chain's draws depend on the seed and on its number, never on how many
threads there are; four words are its whole state, so that a run can be continued where it was left.

*Means.* A reported number is a mean over draws, and its error has to come from the draws too; to keep them all would
take victims × sensitive values × draws. `RunningMeans` keeps, per chain and cell, at most a fixed number of batch
means: when they are all taken, neighbours are merged and batches become twice as long (Geyer 1992 on batch means;
Flyvbjerg and Petersen 1989 on merging). Beside them the sum of squares gives the variance of single draws. That is
enough for the mean, its Monte-Carlo error, split R-hat and the effective number of draws of every cell.

*Learner.* Given a table t, π_S and the π_a|s are Dirichlet with parameters α_s + n_s and β_v + n[v, s] (equation 32 of
Boreale, Corradi and Viscardi 2020), independent of each other. So

> (5)  E[f(s, r | π) | t] = (α_s + n_s) / (α₀ + N) · Π_a (β(Y_a) + n[Y_a, s]) / (β_a0 + n_s),

exactly, where Y_a is what is known of attribute a: nothing has to be drawn, and its mean over the tables is p_L(s, r).
Reading (6) is the mean of the ratio f(s | r, π), which has no such form: π is drawn once per recorded table.

How the table is drawn, and what the attacker makes of it: `glasshouse.groups.gibbs_vertical`,
`glasshouse.groups.gibbs_horizontal`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from glasshouse.arrays import Codes, Floats, Integers, Words
from glasshouse.compiled import called, compiled, pasted
from glasshouse.errors import InternalError
from glasshouse.groups.labels import starts_of
from glasshouse.groups.release import Release
from glasshouse.groups.victims import Victims

Arrays = dict[str, NDArray[Any]]
"""A state that can be stored and continued: arrays by name."""


# Random streams.
def random_streams(seed: int, chains: int) -> list[Words]:
    """Return one random state per chain: the same for the same seed, whatever the number of chains.

    >>> first, second = random_streams(7, 2)
    >>> (first == random_streams(7, 4)[0]).all(), (first == second).any()
    (np.True_, np.False_)
    """
    children = np.random.SeedSequence(seed).spawn(chains)
    return [np.asarray(child.generate_state(4, np.uint64), np.uint64) for child in children]


@pasted
def _rotated(word: np.uint64, by: int) -> np.uint64:
    return (word << np.uint64(by)) | (word >> np.uint64(64 - by))


@compiled
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


@compiled
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


# Means.
@dataclass
class RunningMeans:
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
    def empty(cells: int, *, most: int, length: int) -> RunningMeans:
        """Return room for at most so many batches, an even number, at first of so many draws."""
        if most % 2 or most < 4:
            raise InternalError(f"{most} batches cannot be merged in pairs")
        reference, batches = np.zeros(cells, np.float32), np.zeros((most, cells), np.float32)
        return RunningMeans(reference, batches, np.zeros(cells), np.zeros(cells), length)

    @staticmethod
    def size(cells: int, most: int) -> int:
        """Return how many bytes the means of so many cells take."""
        return cells * (4 * most + 20)

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


@compiled
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


# The learner, told the whole cleartext table of a draw.
@dataclass(frozen=True)
class Learner:
    """What the learner's beliefs are made of, beside the counts of a table."""

    value_starts: Integers
    """Where the values of each attribute start, counted through all attributes, and where the last ones end."""
    alphas: Floats
    """α_s plus the number of rows of s."""
    totals: Floats
    """Per attribute and sensitive value, the sum of its Dirichlet parameters."""
    set_starts: Integers
    """Where the values of each known set start in `set_members`."""
    set_members: Integers
    """The values of all known sets."""
    victim_sets: Codes
    """Per victim and attribute, the number of the known set, counted through all attributes."""

    def expected(self, counts: Floats, out: Floats) -> None:
        """Write E[f(s, r | π) | t] per victim and sensitive value: reading (5) is the share of its mean."""
        chances = np.empty((len(self.set_starts) - 1, len(self.alphas)))
        _expected_chances(
            self.value_starts, self.totals, self.set_starts, self.set_members, counts, chances
        )
        _joint(chances, self.alphas / self.alphas.sum(), self.victim_sets, out)

    def drawn(self, counts: Floats, stream: Words, out: Floats) -> None:
        """Draw a population given the table, and write f(s | r, π) per victim and sensitive value: reading (6)."""
        population = np.empty_like(counts)
        head = np.empty(len(self.alphas))
        _draw_population(self.value_starts, self.alphas, counts, stream, population, head)
        chances = np.empty((len(self.set_starts) - 1, len(self.alphas)))
        _set_sums(self.set_starts, self.set_members, population, chances)
        _joint(chances, head, self.victim_sets, out)
        _normalise(out)


def learner_of(release: Release, victims: Victims) -> Learner:
    """Prepare the learner for a release and the people that results are wanted for."""
    value_starts = release.value_starts
    sets = [known.members.astype(np.int64) for known in victims.known]
    set_bases = starts_of([len(known) for known in victims.known])[:-1]
    prior = np.array([attribute.betas.sum() for attribute in release.attributes])
    return Learner(
        value_starts=value_starts,
        alphas=release.sensitive.alphas + release.counts,
        totals=prior[:, None] + release.counts[None, :],
        set_starts=starts_of(np.concatenate([known.sizes for known in victims.known])),
        set_members=np.concatenate(
            [members + base for members, base in zip(sets, value_starts, strict=False)]
        ),
        victim_sets=(victims.codes + set_bases[None, :]).astype(np.int32),
    )


@compiled
def _expected_chances(
    value_starts: Integers,
    totals: Floats,
    set_starts: Integers,
    set_members: Integers,
    counts: Floats,
    chances: Floats,
) -> None:
    attribute = 0
    _set_sums(set_starts, set_members, counts, chances)
    for number in range(len(chances)):
        while set_members[set_starts[number]] >= value_starts[attribute + 1]:
            attribute += 1
        for s in range(chances.shape[1]):
            chances[number, s] /= totals[attribute, s]


@compiled
def _set_sums(set_starts: Integers, set_members: Integers, masses: Floats, sums: Floats) -> None:
    for number in range(len(sums)):
        sums[number] = 0.0
        for place in range(set_starts[number], set_starts[number + 1]):
            for s in range(sums.shape[1]):
                sums[number, s] += masses[set_members[place], s]


@compiled
def _joint(chances: Floats, head: Floats, victim_sets: Codes, out: Floats) -> None:
    width = len(head)
    for victim in range(len(victim_sets)):
        for s in range(width):
            out[victim, s] = head[s]
        for attribute in range(victim_sets.shape[1]):
            number = victim_sets[victim, attribute]
            for s in range(width):
                out[victim, s] *= chances[number, s]


@compiled
def _normalise(out: Floats) -> None:
    for victim in range(len(out)):
        total = 0.0
        for s in range(out.shape[1]):
            total += out[victim, s]
        for s in range(out.shape[1]):
            out[victim, s] /= total


@compiled
def _draw_population(
    value_starts: Integers,
    alphas: Floats,
    counts: Floats,
    stream: Words,
    population: Floats,
    head: Floats,
) -> None:
    """Draw π_S and all π_a|s from their Dirichlet distributions: gamma draws over their sum."""
    for s in range(len(alphas)):
        head[s] = log_gamma_draw(stream, alphas[s])
    _to_shares(head)
    for s in range(len(alphas)):
        for attribute in range(len(value_starts) - 1):
            first, last = value_starts[attribute], value_starts[attribute + 1]
            for value in range(first, last):
                population[value, s] = log_gamma_draw(stream, counts[value, s])
            _to_shares(population[first:last, s])


@called
def _to_shares(logarithms: Floats) -> None:
    largest = logarithms.max()
    total = 0.0
    for at in range(len(logarithms)):
        logarithms[at] = np.exp(logarithms[at] - largest)
        total += logarithms[at]
    for at in range(len(logarithms)):
        logarithms[at] /= total
