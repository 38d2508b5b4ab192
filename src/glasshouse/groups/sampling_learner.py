"""What a learner who is told the whole cleartext table would believe, draw by draw: the two readings of p_L.

Given a table t, π_S and the π_a|s are Dirichlet with parameters α_s + n_s and β_v + n[v, s] (equation 32 of Boreale,
Corradi and Viscardi 2020), independent of each other. So

> (5)  E[f(s, r | π) | t] = (α_s + n_s) / (α₀ + N) · Π_a (β(Y_a) + n[Y_a, s]) / (β_a0 + n_s),

exactly, where Y_a is what is known of attribute a: nothing has to be drawn, and its mean over the tables is p_L(s, r).
Reading (6) is the mean of the ratio f(s | r, π), which has no such form: π is drawn once per recorded table.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numba import njit
from numpy.typing import NDArray

from glasshouse.groups.chains import Floats, Integers, Words, log_gamma_draw
from glasshouse.groups.release import Release
from glasshouse.groups.victims import Victims

Codes = NDArray[np.int32]


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

    @property
    def victims(self) -> int:
        """The number of victims."""
        return len(self.victim_sets)

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
    sizes = [len(each.values) for each in release.attributes]
    value_starts = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)
    sets = [known.members.astype(np.int64) for known in victims.known]
    lengths = np.concatenate([known.sizes for known in victims.known])
    set_bases = np.cumsum([0, *(len(known) for known in victims.known[:-1])])
    prior = np.array([each.betas.sum() for each in release.attributes])
    return Learner(
        value_starts=value_starts,
        alphas=release.sensitive.alphas + release.counts,
        totals=prior[:, None] + release.counts[None, :],
        set_starts=np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64),
        set_members=np.concatenate(
            [own + base for own, base in zip(sets, value_starts, strict=False)]
        ),
        victim_sets=(victims.codes + set_bases[None, :]).astype(np.int32),
    )


@njit(cache=True, nogil=True)  # type: ignore[untyped-decorator]
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


@njit(cache=True, nogil=True)  # type: ignore[untyped-decorator]
def _set_sums(set_starts: Integers, set_members: Integers, masses: Floats, sums: Floats) -> None:
    for number in range(len(sums)):
        sums[number] = 0.0
        for place in range(set_starts[number], set_starts[number + 1]):
            for s in range(sums.shape[1]):
                sums[number, s] += masses[set_members[place], s]


@njit(cache=True, nogil=True)  # type: ignore[untyped-decorator]
def _joint(chances: Floats, head: Floats, victim_sets: Codes, out: Floats) -> None:
    width = len(head)
    for victim in range(len(victim_sets)):
        for s in range(width):
            out[victim, s] = head[s]
        for attribute in range(victim_sets.shape[1]):
            number = victim_sets[victim, attribute]
            for s in range(width):
                out[victim, s] *= chances[number, s]


@njit(cache=True, nogil=True)  # type: ignore[untyped-decorator]
def _normalise(out: Floats) -> None:
    for victim in range(len(out)):
        total = 0.0
        for s in range(out.shape[1]):
            total += out[victim, s]
        for s in range(out.shape[1]):
            out[victim, s] /= total


@njit(cache=True, nogil=True)  # type: ignore[untyped-decorator]
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


@njit(cache=True, nogil=True)  # type: ignore[untyped-decorator]
def _to_shares(logarithms: Floats) -> None:
    largest = logarithms.max()
    total = 0.0
    for at in range(len(logarithms)):
        logarithms[at] = np.exp(logarithms[at] - largest)
        total += logarithms[at]
    for at in range(len(logarithms)):
        logarithms[at] /= total
