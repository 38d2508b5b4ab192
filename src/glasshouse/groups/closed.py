"""Learner and attacker of a laminar horizontal release in closed form: no sampling (see `glasshouse.groups.tree`)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from fractions import Fraction

import numpy as np
from numba import njit
from numpy.typing import NDArray

from glasshouse.errors import BudgetError, StudyError, quoted
from glasshouse.groups.beliefs import (
    NODES,
    TOLERANCE,
    Beliefs,
    ExactKnowledge,
    Knowledge,
    expected_ratio,
    log_beta_moments,
    normalised,
    random_worlds,
)
from glasshouse.groups.release import Release
from glasshouse.groups.tree import Tree
from glasshouse.groups.victims import Victims
from glasshouse.language import text

DRAWS = 2_000
"""How many draws of π reading (6) takes where it is sampled."""
_LOOK = 500
"""After so many draws it is looked whether they are enough."""
_CHUNK_CELLS = 2_000
"""How many victims times sensitive values the quadrature takes at once: 30 MB of moments."""
_MOST_MOMENTS = 200_000
"""Up to so many nodes times sensitive values the quadrature keeps moments of: 1.4 GB."""
_MOST_CELLS = 50_000_000
"""Up to so many cells has the table of an attribute for partial knowledge."""

MOST_DRAWS = 100_000
"""And at most, where a precision is asked for: enough for an error of 0.0016 whatever is drawn."""

OnVictims = Callable[[int, int], None]
"""Told from time to time how many victims are done, and how many there are."""


def closed_form(
    release: Release,
    victims: Victims,
    *,
    learner_mean: bool = False,
    draws: int = DRAWS,
    precision: float | None = None,
    seed: int = 0,
    on_progress: OnVictims | None = None,
) -> Knowledge:
    """Return what learner, attacker and random worlds believe of each victim, exactly but for rounding.

    Args:
        release: A horizontal release whose labels are, per attribute, pairwise disjoint or nested.
        victims: Whom it is about.
        learner_mean: Whether reading (6) of the learner is wanted as well, of victims in the table: by quadrature; or
            where that does not reach its tolerance, where a set of values is known that is no label, or where domains
            are very large, from draws of π, with their standard error.
        draws: How many draws, where (6) is sampled.
        precision: The standard error that (6) shall have at most where it is sampled: draws go on until it has, or
            there are `MOST_DRAWS`; None: not asked.
        seed: What the draws depend on.
        on_progress: Told how far the quadrature is.

    Raises:
        StudyError: The release is vertical or not laminar.
        BudgetError: What is known in part is too much for one table.
    """
    trees = _trees(release)
    gamma = release.sensitive.alphas + release.counts
    masses = [_masses(tree, victims, place) for place, tree in enumerate(trees)]
    log_joint = np.tile(np.log(gamma / gamma.sum()), (len(victims), 1))
    for place, mass in enumerate(masses):
        log_joint += mass[victims.codes[:, place]]
    weights = _attacker(release, victims, trees, masses)
    shares = np.exp(log_joint - log_joint.max(axis=1, keepdims=True))
    knowledge = Knowledge(
        release=release,
        victims=victims,
        joint=np.exp(log_joint),
        learner=Beliefs(normalised(shares)),
        attacker=Beliefs(normalised(weights)),
        random_worlds=Beliefs(random_worlds(release, victims)),
    )
    if not learner_mean:
        return knowledge
    wanted = _Draws(draws, precision, seed)
    mean = _learner_mean(release, victims, trees, wanted, on_progress)
    return replace(knowledge, learner_mean=mean)


@dataclass(frozen=True)
class _Draws:
    """How many draws of π are wanted, and of which random stream."""

    least: int
    precision: float | None
    seed: int

    def are_enough(self, draws: int, squares: NDArray[np.float64]) -> bool:
        """Tell whether so many draws, with these sums of squared deviations, will do; looked at now and then."""
        if draws < self.least:
            return False
        if self.precision is None or draws >= MOST_DRAWS:
            return True
        return draws % _LOOK == 0 and bool(
            np.sqrt(squares.max() / (draws - 1) / draws) <= self.precision
        )


def closed_form_fractions(release: Release, victims: Victims) -> ExactKnowledge:
    """Return the same as exact fractions, for small releases: one step per victim, candidate group and row.

    Raises:
        StudyError: The release is vertical or not laminar.
    """
    trees = _trees(release)
    width = len(release.sensitive.values)
    paths = [[tree.exact_paths(s) for s in range(width)] for tree in trees]
    gamma = [a + n for a, n in zip(release.sensitive.alpha, release.counts.tolist(), strict=True)]
    joint, attacker = [], []
    for victim in range(len(victims)):
        known = [
            sets.values(int(victims.codes[victim, place])).tolist()
            for place, sets in enumerate(victims.known)
        ]
        shares = [Fraction(each) / sum(gamma) for each in gamma]
        for tree, own, values in zip(trees, paths, known, strict=True):
            for s in range(width):
                shares[s] *= sum(own[s][tree.first_value + value] for value in values)
        joint.append(tuple(shares))
        weights = [Fraction(0)] * width
        for group in victims.groups_of(victim).tolist():
            for row in range(release.starts[group], release.starts[group + 1]):
                s = int(release.sensitive_codes[row])
                weights[s] += _row_agrees(release, trees, paths, known, group, s)
        attacker.append(tuple(weights))
    return ExactKnowledge(release, victims, tuple(joint), tuple(attacker))


def _row_agrees(
    release: Release,
    trees: list[Tree],
    paths: list[list[list[Fraction]]],
    known: list[list[int]],
    group: int,
    sensitive: int,
) -> Fraction:
    """Return the probability that a row of a group with this sensitive value agrees with what is known."""
    agrees = Fraction(1)
    for place, tree in enumerate(trees):
        label = int(release.codes[group, place])
        own = paths[place][sensitive]
        inside = set(known[place]) & set(tree.attribute.sets.values(label).tolist())
        mass = sum((own[tree.first_value + value] for value in inside), Fraction(0))
        agrees *= mass / own[tree.first_label + label]
    return agrees


def _trees(release: Release) -> list[Tree]:
    if release.is_vertical:
        raise StudyError(
            text(
                "{release}: the closed form is for horizontal releases; sample this vertical one",
                release=release.name,
            )
        )
    for attribute in release.attributes:
        if attribute.sets.crossing is not None:
            two = quoted(attribute.labels[number] for number in attribute.sets.crossing)
            raise StudyError(
                text(
                    '{release}: two labels of "{attribute}", {two}, overlap without one holding the other; '
                    "sample this release, the closed form needs nested labels",
                    release=release.name,
                    attribute=attribute.name,
                    two=two,
                )
            )
    return [Tree.of(release, place) for place in range(len(release.attributes))]


def _masses(tree: Tree, victims: Victims, place: int) -> NDArray[np.float64]:
    """Return, per known set and sensitive value, log E[π(set) | s]."""
    logs = tree.log_paths[tree.first_value :]
    sets = victims.known[place]
    if sets.is_singletons:
        return logs
    sums = np.add.reduceat(np.exp(logs)[sets.members], sets.starts[:-1])
    return np.log(sums)


def _attacker(
    release: Release, victims: Victims, trees: list[Tree], masses: list[NDArray[np.float64]]
) -> NDArray[np.float64]:
    """Return, per victim and sensitive value, Σ_j Pr(R_j agrees with the victim), up to a factor per victim."""
    starts, sensitive, counts = release.sensitive_counts
    group = np.repeat(np.arange(release.groups), np.diff(starts))
    entries = np.log(counts)
    for place, tree in enumerate(trees):
        labels = release.codes[group, place] + tree.first_label
        entries -= tree.log_paths[labels, sensitive]
    logs = np.full((len(victims), len(release.sensitive.values)), -np.inf)
    if victims.is_full:
        _sum_entries(victims.candidate_starts, victims.candidates, starts, sensitive, entries, logs)
        for place, mass in enumerate(masses):
            logs += mass[victims.codes[:, place]]
    else:
        tables = [_inside(tree, victims, place) for place, tree in enumerate(trees)]
        _sum_partly_known(release, victims, tables, starts, sensitive, entries, logs)
    highest = logs.max(axis=1, keepdims=True)
    highest[~np.isfinite(highest)] = 0
    weights: NDArray[np.float64] = np.exp(logs - highest)
    return weights


def _inside(tree: Tree, victims: Victims, place: int) -> NDArray[np.float64]:
    """Return, per known set, label and sensitive value, log E[π(set ∩ label) | s]."""
    sets, labels = victims.known[place], tree.attribute.sets
    paths = np.exp(tree.log_paths[tree.first_value :])
    if max(len(sets) * paths.shape[1], labels.domain) * len(labels) > _MOST_CELLS:
        raise BudgetError(
            text(
                '{sets} sets of values of "{attribute}" against {labels} labels are too many for '
                "partial knowledge; ask for fewer victims at a time",
                sets=len(sets),
                attribute=tree.attribute.name,
                labels=len(labels),
            )
        )
    marks = labels.matrix()
    table = np.empty((len(sets), len(labels), paths.shape[1]))
    for number in range(len(sets)):
        own = sets.values(number)
        table[number] = marks[:, own].astype(np.float64) @ paths[own]
    with np.errstate(divide="ignore"):
        logs: NDArray[np.float64] = np.log(table)
    return logs


def _sum_partly_known(
    release: Release,
    victims: Victims,
    tables: list[NDArray[np.float64]],
    starts: NDArray[np.int64],
    sensitive: NDArray[np.int32],
    entries: NDArray[np.float64],
    logs: NDArray[np.float64],
) -> None:
    """Add up over candidate groups, attribute by attribute for each victim; partial knowledge is asked of few."""
    for victim in range(len(victims)):
        groups = victims.groups_of(victim)
        if not len(groups):
            continue
        places = np.concatenate([np.arange(starts[group], starts[group + 1]) for group in groups])
        group = np.repeat(groups, starts[groups + 1] - starts[groups])
        own = entries[places]
        for place, table in enumerate(tables):
            labels = release.codes[group, place]
            own = own + table[victims.codes[victim, place], labels, sensitive[places]]
        np.logaddexp.at(logs[victim], sensitive[places], own)


def _learner_mean(
    release: Release,
    victims: Victims,
    trees: list[Tree],
    wanted: _Draws,
    on_progress: OnVictims | None,
) -> Beliefs:
    """Return reading (6) of victims in the table: by quadrature where that is good enough, else from draws of π."""
    found = np.full((len(victims), len(release.sensitive.values)), np.nan)
    nodes = _nodes(victims, trees)
    ready = np.flatnonzero((nodes >= 0).all(axis=1) & victims.in_table)
    if sum(tree.own.size for tree in trees) > _MOST_MOMENTS:
        ready = ready[:0]
    _by_quadrature(release, nodes, ready, trees, found, on_progress)
    defect = np.abs(found.sum(axis=1) - 1)
    missing = np.flatnonzero(~(defect <= TOLERANCE) & victims.in_table)
    if not len(missing):
        return Beliefs(normalised(found))
    errors = np.zeros(found.shape)
    found[missing], errors[missing] = _by_draws(release, victims, trees, missing, wanted)
    return Beliefs(normalised(found), errors=errors)


def _nodes(victims: Victims, trees: list[Tree]) -> NDArray[np.int64]:
    """Return, per victim and attribute, the node of the tree that is what is known; −1 where none is."""
    nodes = np.empty(victims.codes.shape, np.int64)
    for place, (tree, sets) in enumerate(zip(trees, victims.known, strict=True)):
        if sets.is_singletons:
            nodes[:, place] = tree.first_value + victims.codes[:, place]
            continue
        labels = tree.attribute.sets
        numbers = {tuple(labels.values(label).tolist()): 1 + label for label in range(len(labels))}
        numbers[tuple(range(labels.domain))] = 0
        numbers |= {(value,): tree.first_value + value for value in range(labels.domain)}
        own = [numbers.get(tuple(sets.values(k).tolist()), -1) for k in range(len(sets))]
        nodes[:, place] = np.array(own)[victims.codes[:, place]]
    return nodes


def _by_quadrature(
    release: Release,
    nodes: NDArray[np.int64],
    ready: NDArray[np.int64],
    trees: list[Tree],
    found: NDArray[np.float64],
    on_progress: OnVictims | None,
) -> None:
    shapes = release.sensitive.alphas + release.counts
    moments = [_log_moments(tree) for tree in trees]
    chunk = max(1, _CHUNK_CELLS // len(shapes))
    for first in range(0, len(ready), chunk):
        chosen = ready[first : first + chunk]
        log_means = np.zeros((len(chosen), len(shapes)))
        log_moments = np.zeros((len(chosen), len(shapes), len(NODES)), np.complex128)
        for place, tree in enumerate(trees):
            log_means += tree.log_paths[nodes[chosen, place]]
            log_moments += moments[place][nodes[chosen, place]]
        found[chosen] = expected_ratio(shapes, log_means, log_moments)
        if on_progress is not None:
            on_progress(min(first + chunk, len(ready)), len(ready))


def _log_moments(tree: Tree) -> NDArray[np.complex128]:
    """Return, per node of the tree, sensitive value and z, log E[π(node | s)^−z]: over the branches that lead to it."""
    own = log_beta_moments(*tree.parameters)
    own[tree.parents < 0] = 0
    for node in tree.order.tolist():
        if tree.parents[node] >= 0:
            own[node] += own[tree.parents[node]]
    return own


def _by_draws(
    release: Release,
    victims: Victims,
    trees: list[Tree],
    chosen: NDArray[np.int64],
    wanted: _Draws,
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return the mean over draws of π of f(s | r, π), and its standard error; the draws are independent."""
    if wanted.least < 2:
        raise StudyError(
            text(
                "reading (6) is to be sampled from {draws} draws; give at least 2",
                draws=str(wanted.least),
            )
        )
    generator = np.random.default_rng(wanted.seed)
    shapes = release.sensitive.alphas + release.counts
    codes = victims.codes[chosen]
    mean = np.zeros((len(chosen), len(shapes)))
    squares = np.zeros_like(mean)
    number = 0
    while not wanted.are_enough(number, squares):
        number += 1
        gammas = np.maximum(generator.standard_gamma(shapes), np.finfo(float).tiny)
        logs = np.tile(np.log(gammas), (len(chosen), 1))
        for place, tree in enumerate(trees):
            drawn = tree.drawn_log_paths(generator)[tree.first_value :]
            sets = victims.known[place]
            if not sets.is_singletons:
                sums = np.add.reduceat(np.exp(drawn)[sets.members], sets.starts[:-1])
                drawn = np.log(np.maximum(sums, np.finfo(float).tiny))
            logs += drawn[codes[:, place]]
        shares = normalised(np.exp(logs - logs.max(axis=1, keepdims=True)))
        change = shares - mean
        mean += change / number
        squares += change * (shares - mean)
    return mean, np.sqrt(squares / (number - 1) / number)


@njit(cache=True, nogil=True)  # type: ignore[untyped-decorator]
def _sum_entries(
    candidate_starts: NDArray[np.int64],
    candidates: NDArray[np.int64],
    starts: NDArray[np.int64],
    sensitive: NDArray[np.int32],
    entries: NDArray[np.float64],
    logs: NDArray[np.float64],
) -> None:
    """Add up the entries of the candidate groups of each victim, per sensitive value, on the scale of logarithms."""
    for victim in range(logs.shape[0]):
        for place in range(candidate_starts[victim], candidate_starts[victim + 1]):
            group = candidates[place]
            for entry in range(starts[group], starts[group + 1]):
                s = sensitive[entry]
                low, high = logs[victim, s], entries[entry]
                if low > high:
                    low, high = high, low
                logs[victim, s] = high + np.log1p(np.exp(low - high))
