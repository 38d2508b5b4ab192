"""How many allocations put a package into a bin: exactly, however large the numbers.

Paths of the graph are counted forwards and backwards modulo primes below 2³¹, as many as the largest possible number
needs, and put together by the Chinese remainder theorem. With μ packages of a kind, of which k_j are in bin j, there
are μ! / Π k_j! ways to tell them apart; a factor 1 / k_j! goes with each bin, and has an inverse modulo the prime.

With a weight e_j per bin an allocation counts Π e_bin(package): the posterior of an adversary who holds every entity
of the register equally likely, independently for each package.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cache
from math import factorial, log2, prod

import numpy as np
from numba import njit
from numpy.typing import NDArray

from glasshouse.totals.budget import Budget
from glasshouse.totals.graph import Graph, Indices
from glasshouse.totals.instance import Integers
from glasshouse.totals.propagation import Knowledge
from glasshouse.totals.subsets import counts_of

_LARGEST_PRIME = 2**31 - 1


@dataclass(frozen=True)
class Counts:
    """What was counted in a part."""

    total: int
    """The number of allocations, or the sum of their weights."""
    shares: list[list[Fraction]]
    """Per kind and bin, the share of a package of the kind that is in the bin."""


@dataclass(frozen=True, eq=False)
class Counter:
    """Counts the allocations of a graph that has at least one."""

    graph: Graph
    """All allocations of the part."""
    known: Knowledge
    """The part."""
    copies: Integers
    """Per kind, how many packages of it the whole instance has."""
    settled: Integers
    """Per kind and bin of the part, how many packages are settled there, beside those of the part."""
    budget: Budget
    """What is left of the time."""

    def count(self, weights: Sequence[int] | None = None) -> Counts:
        """Return Σ over allocations of Π copies! / Π (packages in each bin of the part)!, and the shares.

        Args:
            weights: Per bin, what a package in it counts; None: 1.

        Raises:
            OutOfTime: The time is over.
        """
        bins = self.known.system.bins
        own = [1] * bins if weights is None else list(weights)
        primes = _primes(int(_bits(self.known, self.copies, self.settled, own) // 30.9) + 1)
        residues = []
        for prime in primes:
            self.budget.check()
            residues.append(_modulo(self.graph, self.known, self.copies, self.settled, own, prime))
        totals, tables = zip(*residues, strict=True)
        join = _Remainders(primes)
        total = join.number([int(each) for each in totals])
        shares = [
            [
                Fraction(
                    join.number([int(each[kind, bin_]) for each in tables])
                    + int(self.settled[kind, bin_]) * total,
                    total * int(number),
                )
                for bin_ in range(bins)
            ]
            for kind, number in enumerate(self.copies)
        ]
        return Counts(total, shares)


class _Remainders:
    """Puts numbers together from their remainders."""

    def __init__(self, primes: Sequence[int]) -> None:
        self._modulus = prod(primes)
        parts = [self._modulus // prime for prime in primes]
        self._factors = [
            part * pow(part, -1, prime) for part, prime in zip(parts, primes, strict=True)
        ]

    def number(self, remainders: Sequence[int]) -> int:
        if not any(remainders):
            return 0
        return sum(map(int.__mul__, self._factors, remainders)) % self._modulus


def _bits(known: Knowledge, copies: Integers, settled: Integers, weights: Sequence[int]) -> float:
    """Return how many bits the largest possible number has: each package in any of its bins, or elsewhere."""
    there = (known.most > 0) | (settled > 0)
    ways = [
        1 + sum(w for w, can in zip(weights, row, strict=True) if can) for row in there.tolist()
    ]
    largest = int(copies.max())
    bits: float = sum(n * log2(w) for n, w in zip(copies.tolist(), ways, strict=True))
    return bits + log2(largest) + 2


@cache
def _primes(number: int) -> tuple[int, ...]:
    """Return the largest primes below 2³¹."""
    divisors = _sieve(46_341)
    found: list[int] = []
    candidate = _LARGEST_PRIME
    while len(found) < number:
        if (candidate % divisors).all():
            found.append(candidate)
        candidate -= 2
    return tuple(found)


@cache
def _sieve(limit: int) -> NDArray[np.int64]:
    marks = np.ones(limit, bool)
    marks[:2] = False
    for each in range(2, int(limit**0.5) + 1):
        if marks[each]:
            marks[each * each :: each] = False
    return np.flatnonzero(marks)


def _modulo(
    graph: Graph,
    known: Knowledge,
    copies: Integers,
    settled: Integers,
    weights: Sequence[int],
    prime: int,
) -> tuple[int, Integers]:
    """Return the number of allocations, and of packages of each kind in each bin over all of them, modulo a prime."""
    layout = known.layout
    subset_weights, subset_counts = [], []
    for bin_, codes in [
        *((step.bin_, step.subsets) for step in graph.steps),
        *([] if graph.rest is None else [(graph.rest, graph.layers[-1])]),
    ]:
        counts = counts_of(codes, layout.word, layout.shift, layout.mask)
        subset_counts.append(counts)
        subset_weights.append(_ways(counts, settled[:, bin_], copies, weights[bin_], prime))
    ends = np.ones(1, np.int64) if graph.rest is None else subset_weights[-1]
    edge_weights = [w[step.subset] for w, step in zip(subset_weights, graph.steps, strict=False)]
    backward = [ends]
    for step, own, states in zip(
        reversed(graph.steps), reversed(edge_weights), reversed(graph.layers[:-1]), strict=True
    ):
        backward.append(_carried(step.target, step.source, own, backward[-1], len(states), prime))
    backward.reverse()
    forward = np.ones(1, np.int64)
    packages = np.zeros(settled.shape, np.int64)
    for position, (step, own) in enumerate(zip(graph.steps, edge_weights, strict=True)):
        through = _through(step.source, step.subset, step.target, own, forward,
                           backward[position + 1], len(step.subsets), prime)  # fmt: skip
        packages[:, step.bin_] = _weighed(subset_counts[position], through, prime)
        reached = len(graph.layers[position + 1])
        forward = _carried(step.source, step.target, own, forward, reached, prime)
    if graph.rest is not None:
        packages[:, graph.rest] = _weighed(subset_counts[-1], forward * ends % prime, prime)
    arrangements = prod(factorial(number) % prime for number in copies.tolist()) % prime
    return int(backward[0][0]) * arrangements % prime, packages * arrangements % prime


def _ways(
    counts: Integers, settled: Integers, copies: Integers, weight: int, prime: int
) -> Integers:
    """Return per subset weight^packages / Π (packages of a kind in the bin)!, modulo a prime."""
    ways = _powers(weight, int(counts.sum(axis=1).max(initial=0)), prime)[counts.sum(axis=1)]
    for kind in np.flatnonzero(copies > 1):
        inverses = [pow(factorial(k), -1, prime) for k in range(int(copies[kind]) + 1)]
        ways = ways * np.array(inverses, np.int64)[counts[:, kind] + settled[kind]] % prime
    return np.asarray(ways)


def _powers(base: int, largest: int, prime: int) -> Integers:
    powers = [1]
    for _ in range(largest):
        powers.append(powers[-1] * base % prime)
    return np.array(powers, np.int64)


@njit(cache=True, nogil=True)  # type: ignore[untyped-decorator]
def _carried(
    start: Indices, end: Indices, weight: Integers, values: Integers, size: int, prime: int
) -> Integers:
    """Carry values along edges and add them up where edges end."""
    sums = np.zeros(size, np.int64)
    for edge in range(start.size):
        sums[end[edge]] = (sums[end[edge]] + values[start[edge]] * weight[edge]) % prime
    return sums


@njit(cache=True, nogil=True)  # type: ignore[untyped-decorator]
def _through(
    source: Indices,
    subset: Indices,
    target: Indices,
    weight: Integers,
    forward: Integers,
    backward: Integers,
    size: int,
    prime: int,
) -> Integers:
    """Return the number of paths that take each subset."""
    sums = np.zeros(size, np.int64)
    for edge in range(source.size):
        paths = forward[source[edge]] * weight[edge] % prime * backward[target[edge]] % prime
        sums[subset[edge]] = (sums[subset[edge]] + paths) % prime
    return sums


@njit(cache=True, nogil=True)  # type: ignore[untyped-decorator]
def _weighed(counts: Integers, paths: Integers, prime: int) -> Integers:
    """Add up the packages of each kind over paths."""
    sums = np.zeros(counts.shape[1], np.int64)
    for each in range(counts.shape[0]):
        if paths[each]:
            for kind in range(counts.shape[1]):
                sums[kind] = (sums[kind] + counts[each, kind] * paths[each]) % prime
    return sums
