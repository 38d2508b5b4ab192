"""Learner and attacker by complete enumeration: exact fractions for tiny releases, whatever their labels.

Horizontal: given the release, the tables of different attributes and of different sensitive values are independent, and
within one such block the weight of an assignment of values to rows is that of its counts,

    Π_v β_v (β_v + 1) … (β_v + c_v − 1),

so that assignments are added up by their counts, row by row. Vertical: the tables are the different arrangements of
each group's rows; blocks share them, and all arrangements of all groups are visited.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from math import factorial, lcm, prod
from operator import mul
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from glasshouse.errors import BudgetError
from glasshouse.groups.beliefs import (
    NODES,
    TOLERANCE,
    Beliefs,
    ExactKnowledge,
    Knowledge,
    expected_ratio,
    horizontal_fractions,
    log_beta_moments,
    normalised,
)
from glasshouse.groups.release import Attribute, Release
from glasshouse.groups.victims import Victims

MOST_TABLES = 200_000
"""Up to so many tables, or counts of a block, are visited."""

MOST_ROWS = 200
"""Up to so many rows of a vertical release are arranged."""

Counts: TypeAlias = tuple[int, ...]
"""How many rows of a block have each value."""
Block: TypeAlias = tuple[tuple[int, ...], ...]
"""Per row of a block, the values that it may have."""


def enumerated_fractions(
    release: Release, victims: Victims, *, limit: int = MOST_TABLES
) -> ExactKnowledge:
    """Return what learner and attacker believe of each victim, as fractions.

    Args:
        release: A tiny release, horizontal or vertical.
        victims: Whom it is about, known fully or in part.
        limit: How many tables, or different counts of one attribute and sensitive value, may be visited.

    Raises:
        BudgetError: There are more.
    """
    return _tables(release, limit).knowledge(victims)


def enumerated(
    release: Release, victims: Victims, *, learner_mean: bool = False, limit: int = MOST_TABLES
) -> Knowledge:
    """Return the same as floats; with reading (6) of the learner by quadrature over all tables, if it is wanted.

    Where the quadrature does not reach its tolerance (very sparse priors), how far its probabilities are from summing
    to 1 is told as their error.

    Raises:
        BudgetError: There are too many tables.
    """
    tables = _tables(release, limit)
    exact = tables.knowledge(victims)
    if not learner_mean:
        return exact.to_knowledge()
    means = tables.learner_mean(victims)
    defect = np.abs(means.sum(axis=1, keepdims=True) - 1)
    errors = None if (defect <= TOLERANCE).all() else np.broadcast_to(defect, means.shape)
    return exact.to_knowledge(learner_mean=Beliefs(normalised(means), errors=errors))


def number_of_tables(release: Release) -> int:
    """Return how many tables the release allows.

    Horizontal: Π over rows and attributes of the number of values; vertical: the different arrangements of rows.
    """
    if not release.is_vertical:
        return prod(
            int(attribute.sets.sizes[label]) ** int(size)
            for place, attribute in enumerate(release.attributes)
            for label, size in zip(release.codes[:, place], release.sizes, strict=True)
        )
    arrangements = 1
    for begin, end in zip(release.starts[:-1], release.starts[1:], strict=True):
        rows = Counter(map(tuple, release.codes[begin:end].tolist()))
        arrangements *= factorial(int(end - begin))
        arrangements //= prod(factorial(times) for times in rows.values())
    return arrangements


def _tables(release: Release, limit: int) -> _Horizontal | _Vertical:
    return _Vertical.of(release, limit) if release.is_vertical else _Horizontal(release, limit)


@dataclass(frozen=True)
class _Horizontal:
    """Enumeration block by block: an attribute, and the rows with one sensitive value."""

    release: Release
    limit: int

    def knowledge(self, victims: Victims) -> ExactKnowledge:
        return horizontal_fractions(self.release, victims, means=self._means, agrees=self._agrees)

    def learner_mean(self, victims: Victims) -> NDArray[np.float64]:
        """Return reading (6); the moments of a block are those of its tables, weighted.

        What is known of an attribute is a set of values, whose share of a Dirichlet population is a Beta variable.
        """
        release = self.release
        shapes = release.sensitive.alphas + release.counts
        log_means = np.zeros((len(victims), len(shapes)))
        moments = np.ones((len(victims), len(shapes), len(NODES)), np.complex128)
        for place in range(len(release.attributes)):
            used, number = np.unique(victims.codes[:, place], return_inverse=True)
            inside = victims.known[place].matrix()[used].astype(np.float64)
            means = [list(map(float, self._means(place, s))) for s in range(len(shapes))]
            log_means += np.log(inside @ np.array(means).T)[number]
            of_sets = np.stack(
                [self._moments(place, s, inside) for s in range(len(shapes))], axis=1
            )
            moments *= of_sets[number]
        return expected_ratio(shapes, log_means, np.log(moments))

    def _agrees(self, place: int, label: int, sensitive: int, known: list[int]) -> Fraction:
        shares = _row_shares(
            self._block(place, sensitive), self._set(place, label), self._beta(place), self.limit
        )
        return sum((shares.get(value, Fraction(0)) for value in known), Fraction(0))

    def _means(self, place: int, sensitive: int) -> tuple[Fraction, ...]:
        return _block_means(self._block(place, sensitive), self._beta(place), self.limit)

    def _moments(
        self, place: int, sensitive: int, inside: NDArray[np.float64]
    ) -> NDArray[np.complex128]:
        """Return E[π(Y)^−z] for some sets Y of values, each a row of ones and zeros."""
        tables = _counted(self._block(place, sensitive), self._beta(place), self.limit)
        total, betas = sum(tables.values()), self.release.attributes[place].betas
        weights = np.array([float(weight / total) for weight in tables.values()])
        counts = np.array(list(tables)) + betas
        chosen, rest = counts @ inside.T, counts @ (1 - inside).T
        moments: NDArray[np.complex128] = np.einsum(
            "t,tvz->vz", weights, np.exp(log_beta_moments(chosen, rest))
        )
        return moments

    def _beta(self, place: int) -> tuple[Fraction, ...]:
        return self.release.attributes[place].beta

    def _set(self, place: int, label: int) -> tuple[int, ...]:
        return tuple(self.release.attributes[place].sets.values(label).tolist())

    def _block(self, place: int, sensitive: int) -> Block:
        rows = np.flatnonzero(self.release.sensitive_codes == sensitive)
        labels = self.release.codes[self.release.group_of_row[rows], place]
        return tuple(sorted(self._set(place, int(label)) for label in labels))


@lru_cache(maxsize=4096)
def _counted(block: Block, beta: tuple[Fraction, ...], limit: int) -> dict[Counts, Fraction]:
    """Return the weight of all assignments with given counts, for all counts that are possible."""
    # Row by row: a value weighs β plus how often it was taken, so that after each row weights depend on counts alone.
    tables = {(0,) * len(beta): Fraction(1)}
    for values in block:
        more: dict[Counts, Fraction] = defaultdict(Fraction)
        for counts, weight in tables.items():
            for value in values:
                increased = (*counts[:value], counts[value] + 1, *counts[value + 1 :])
                more[increased] += weight * (beta[value] + counts[value])
        tables = more
        if len(tables) > limit:
            raise BudgetError(
                "complete enumeration would visit more than {limit} tables; sample the release instead",
                limit=limit,
            )
    return tables


@lru_cache(maxsize=4096)
def _block_means(block: Block, beta: tuple[Fraction, ...], limit: int) -> tuple[Fraction, ...]:
    """Return E[π(v)] for every value v."""
    tables = _counted(block, beta, limit)
    total = sum(tables.values()) * (sum(beta) + len(block))
    return tuple(
        sum(
            (weight * (parameter + counts[value]) for counts, weight in tables.items()), Fraction(0)
        )
        / total
        for value, parameter in enumerate(beta)
    )


@lru_cache(maxsize=4096)
def _row_shares(
    block: Block, label: tuple[int, ...], beta: tuple[Fraction, ...], limit: int
) -> dict[int, Fraction]:
    """Return the probability of each value for a row of the block with this label, given all the others."""
    rest = list(block)
    rest.remove(label)
    tables = _counted(tuple(rest), beta, limit)
    weights = {
        value: sum(
            (weight * (beta[value] + counts[value]) for counts, weight in tables.items()),
            Fraction(0),
        )
        for value in label
    }
    total = sum(weights.values())
    return {value: weight / total for value, weight in weights.items()}


@dataclass(frozen=True)
class _Vertical:
    """Enumeration of all tables: every arrangement of the rows of every group."""

    release: Release
    tables: list[tuple[int, tuple[tuple[int, ...], ...]]]
    """Per table its weight, and the non-sensitive values of each row in the order of the sensitive ones."""
    total: int
    """What the weights sum to."""

    @classmethod
    def of(cls, release: Release, limit: int) -> _Vertical:
        if release.records > MOST_ROWS:
            raise BudgetError(
                "{release} has {records} rows, complete enumeration takes at most {most}; sample "
                "the release instead",
                release=release.name,
                records=release.records,
                most=str(MOST_ROWS),
            )
        count = number_of_tables(release)
        if count > limit:
            raise BudgetError(
                "{release}: the release allows {count} tables, complete enumeration visits at most {limit}; "
                "sample the release instead",
                release=release.name,
                count=count,
                limit=limit,
            )
        tables = list(_arrangements(release))
        return cls(release, tables, sum(weight for weight, _ in tables))

    def knowledge(self, victims: Victims) -> ExactKnowledge:
        """Return what is known of each victim.

        Sums over tables are of integers, as parameters are times a common denominator; the fractions come last.
        """
        release = self.release
        width = len(release.sensitive.values)
        secrets = release.sensitive_codes.tolist()
        known = [
            [frozenset(values) for values in victims.values_of(v)] for v in range(len(victims))
        ]
        scales, betas = zip(*map(_as_integers, release.attributes), strict=True)
        sets = [{of_victim[place] for of_victim in known} for place in range(len(betas))]
        joint = [[0] * width for _ in known]
        agreeing = [[0] * width for _ in known]
        for weight, rows in self.tables:
            counts = _table_counts(release, rows)
            chosen = [
                {
                    values: [
                        sum(beta[v] + scale * counts[place, s][v] for v in values)
                        for s in range(width)
                    ]
                    for values in sets[place]
                }
                for place, (scale, beta) in enumerate(zip(scales, betas, strict=True))
            ]
            for victim, of_victim in enumerate(known):
                factors = [own[values] for own, values in zip(chosen, of_victim, strict=True)]
                for s, own in enumerate(zip(*factors, strict=True)):
                    joint[victim][s] += weight * prod(own)
                if not victims.in_table[victim]:
                    continue
                for s, row in zip(secrets, rows, strict=True):
                    if all(value in values for value, values in zip(row, of_victim, strict=True)):
                        agreeing[victim][s] += weight
        most = [
            self.total * prod(sum(b) + d * int(count) for d, b in zip(scales, betas, strict=True))
            for count in release.counts
        ]
        shares = [base / whole for base, whole in zip(release.expected_shares, most, strict=True)]
        return ExactKnowledge(
            release,
            victims,
            tuple(tuple(map(mul, own, shares)) for own in joint),
            tuple(tuple(Fraction(count, self.total) for count in own) for own in agreeing),
        )

    def learner_mean(self, victims: Victims) -> NDArray[np.float64]:
        """Return reading (6): the mean over tables of what each would give."""
        release = self.release
        inside = [
            known.matrix()[victims.codes[:, place]].astype(np.float64)
            for place, known in enumerate(victims.known)
        ]
        gamma = release.counts.astype(np.float64)
        shapes = release.sensitive.alphas + gamma
        total = np.zeros((len(victims), len(shapes)))
        for weight, rows in self.tables:
            counts = _table_counts(release, rows)
            log_means = np.zeros(total.shape)
            log_moments = np.zeros((*total.shape, len(NODES)), np.complex128)
            for place, attribute in enumerate(release.attributes):
                masses = np.zeros((len(attribute.values), len(shapes)))
                for s in range(len(shapes)):
                    for value, count in counts[place, s].items():
                        masses[value, s] = count
                masses += attribute.betas[:, None]
                chosen, rest = inside[place] @ masses, (1 - inside[place]) @ masses
                log_means += np.log(chosen) - np.log(chosen + rest)
                log_moments += log_beta_moments(chosen, rest)
            total += weight / self.total * expected_ratio(shapes, log_means, log_moments)
        return total


def _as_integers(attribute: Attribute) -> tuple[int, tuple[int, ...]]:
    """Return the least number that makes all parameters of an attribute integers, and these."""
    scale = lcm(*(parameter.denominator for parameter in attribute.beta))
    return scale, tuple(int(scale * parameter) for parameter in attribute.beta)


def _arrangements(release: Release) -> Iterator[tuple[int, tuple[tuple[int, ...], ...]]]:
    """Yield every table with its weight, slot by slot: each takes one of the different rows left in its group.

    All weights are times one number, the denominators of the parameters once for every row.
    """
    scaled = [_as_integers(attribute) for attribute in release.attributes]
    secrets = release.sensitive_codes.tolist()
    groups = release.group_of_row.tolist()
    remaining = [
        Counter(map(tuple, release.codes[begin:end].tolist()))
        for begin, end in zip(release.starts[:-1], release.starts[1:], strict=True)
    ]
    counts: Counter[tuple[int, int, int]] = Counter()
    taken: list[tuple[int, ...]] = []

    def fill(slot: int, weight: int) -> Iterator[tuple[int, tuple[tuple[int, ...], ...]]]:
        if slot == len(secrets):
            yield weight, tuple(taken)
            return
        rows, s = remaining[groups[slot]], secrets[slot]
        # Each different row that is left is taken, counted with s, and put back when all that follows was visited.
        for row in [row for row, times in rows.items() if times]:
            factor = 1
            for place, value in enumerate(row):
                scale, beta = scaled[place]
                factor *= beta[value] + scale * counts[place, s, value]
                counts[place, s, value] += 1
            rows[row] -= 1
            taken.append(row)
            yield from fill(slot + 1, weight * factor)
            taken.pop()
            rows[row] += 1
            for place, value in enumerate(row):
                counts[place, s, value] -= 1

    yield from fill(0, 1)


def _table_counts(
    release: Release, rows: Sequence[tuple[int, ...]]
) -> dict[tuple[int, int], Counter[int]]:
    """Return, per attribute and sensitive value, how many rows of a table have each value."""
    counts: dict[tuple[int, int], Counter[int]] = defaultdict(Counter)
    for s, row in zip(release.sensitive_codes.tolist(), rows, strict=True):
        for place, value in enumerate(row):
            counts[place, s][value] += 1
    return counts
