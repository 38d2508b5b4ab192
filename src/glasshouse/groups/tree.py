"""Learner and attacker of a laminar horizontal release in closed form, by the Dirichlet tree of each attribute.

Labels that are pairwise disjoint or nested form a tree, with the whole domain at the root and single values as leaves.
A Dirichlet prior on the values is the same as independent Dirichlet priors on the branches of every node, the parameter
of a branch being Σβ over the values below it. That a row with sensitive value s shows the label c is an observation of
the branches from the root to c, and of nothing else; the posterior is therefore again independent per node, and

    E[branch p → c | s] = (β(c) + n_s(at or below c)) / (β(p) + n_s(strictly below p)),

n_s counting the rows with sensitive value s by their labels. E[π(v) | s] is the product of the branches from the root
to v, and Pr(R_j = v | label c, s) that of the branches from c to v. Attributes are independent given s. The derivation
is in ``docs/threat.md``, "Exact: the Dirichlet tree".

So nothing is sampled, but for reading (6) of the learner where its quadrature is not good enough: there π is drawn.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from glasshouse.arrays import Codes, Floats, Integers
from glasshouse.compiled import compiled
from glasshouse.errors import BudgetError, StudyError
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
    random_worlds,
)
from glasshouse.groups.labels import ValueSets, ranges, starts_of
from glasshouse.groups.release import Attribute, Release
from glasshouse.groups.victims import Victims
from glasshouse.language import quoted

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


def closed_form(
    release: Release,
    victims: Victims,
    *,
    learner_mean: bool = False,
    draws: int = DRAWS,
    precision: float | None = None,
    seed: int = 0,
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

    Raises:
        StudyError: The release is vertical or not laminar.
        BudgetError: What is known in part is too much for one table.
    """
    trees = _trees(release)
    gamma = release.sensitive.alphas + release.counts
    # Per known set and sensitive value, log E[π(set) | s]: attributes are independent given s, so logarithms add up.
    masses = [
        _log_masses(tree.log_paths[tree.first_value :], sets)
        for tree, sets in zip(trees, victims.known, strict=True)
    ]
    log_joint = np.tile(np.log(gamma / gamma.sum()), (len(victims), 1))
    for place, mass in enumerate(masses):
        log_joint += mass[victims.codes[:, place]]
    # The attacker's numerators, and both beliefs as shares of their rows.
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
    mean = _learner_mean(release, victims, trees, _Draws(draws, precision, seed))
    return replace(knowledge, learner_mean=mean)


@dataclass(frozen=True)
class _Draws:
    """How many draws of π to take, and of which random stream."""

    least: int
    precision: float | None
    seed: int

    def are_enough(self, draws: int, squares: Floats) -> bool:
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
    shares = [
        [path[tree.first_value :] for path in of] for tree, of in zip(trees, paths, strict=True)
    ]

    def means(place: int, sensitive: int) -> list[Fraction]:
        return shares[place][sensitive]

    def agrees(place: int, label: int, sensitive: int, known: list[int]) -> Fraction:
        inside = set(known) & set(trees[place].attribute.sets.values(label).tolist())
        mass = sum((shares[place][sensitive][value] for value in inside), Fraction(0))
        return mass / paths[place][sensitive][trees[place].first_label + label]

    return horizontal_fractions(release, victims, means=means, agrees=agrees)


def _trees(release: Release) -> list[Tree]:
    if release.is_vertical:
        raise StudyError(
            "{release}: the closed form is for horizontal releases; sample this vertical one",
            release=release.name,
        )
    for attribute in release.attributes:
        if attribute.sets.crossing is not None:
            two = quoted(attribute.labels[number] for number in attribute.sets.crossing)
            raise StudyError(
                '{release}: two labels of "{attribute}", {two}, overlap without one holding the other; '
                "sample this release, the closed form needs nested labels",
                release=release.name,
                attribute=attribute.name,
                two=two,
            )
    return [Tree.of(release, place) for place in range(len(release.attributes))]


def _log_masses(logs: Floats, sets: ValueSets) -> Floats:
    """Return the logarithm of the mass of each set, given that of each value, per sensitive value."""
    if sets.is_singletons:
        return logs
    sums = np.add.reduceat(np.exp(logs)[sets.members], sets.starts[:-1])
    masses: Floats = np.log(np.maximum(sums, np.finfo(float).tiny))
    return masses


def _attacker(
    release: Release, victims: Victims, trees: list[Tree], masses: list[Floats]
) -> Floats:
    """Return, per victim and sensitive value, Σ_j Pr(R_j agrees with the victim), up to a factor per victim."""
    # Per group and sensitive value: its rows over the mass of the group's labels, attribute by attribute.
    starts, sensitive, counts = release.sensitive_counts
    group = np.repeat(np.arange(release.groups), np.diff(starts))
    entries = np.log(counts)
    for place, tree in enumerate(trees):
        labels = release.codes[group, place] + tree.first_label
        entries -= tree.log_paths[labels, sensitive]
    # Over the candidate groups of each victim: what is known lies inside the labels, so its mass is a common factor;
    # of partial knowledge only the common values count, which differ from group to group.
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
    weights: Floats = np.exp(logs - highest)
    return weights


def _inside(tree: Tree, victims: Victims, place: int) -> Floats:
    """Return, per known set, label and sensitive value, log E[π(set ∩ label) | s]."""
    sets, labels = victims.known[place], tree.attribute.sets
    paths = np.exp(tree.log_paths[tree.first_value :])
    if max(len(sets) * paths.shape[1], labels.domain) * len(labels) > _MOST_CELLS:
        raise BudgetError(
            '{sets} sets of values of "{attribute}" against {labels} labels are too many for '
            "partial knowledge; ask for fewer victims at a time",
            sets=len(sets),
            attribute=tree.attribute.name,
            labels=len(labels),
        )
    marks = labels.matrix()
    table = np.empty((len(sets), len(labels), paths.shape[1]))
    for number in range(len(sets)):
        values = sets.values(number)
        table[number] = marks[:, values].astype(np.float64) @ paths[values]
    with np.errstate(divide="ignore"):
        logs: Floats = np.log(table)
    return logs


def _sum_partly_known(
    release: Release,
    victims: Victims,
    tables: list[Floats],
    starts: Integers,
    sensitive: Codes,
    entries: Floats,
    logs: Floats,
) -> None:
    """Add up over candidate groups, attribute by attribute for each victim; partial knowledge is asked of few."""
    for victim in range(len(victims)):
        groups = victims.groups_of(victim)
        lengths = starts[groups + 1] - starts[groups]
        places, group = ranges(starts[groups], lengths), np.repeat(groups, lengths)
        weights = entries[places]
        for place, table in enumerate(tables):
            labels = release.codes[group, place]
            weights = weights + table[victims.codes[victim, place], labels, sensitive[places]]
        np.logaddexp.at(logs[victim], sensitive[places], weights)


def _learner_mean(release: Release, victims: Victims, trees: list[Tree], draws: _Draws) -> Beliefs:
    """Return reading (6) of victims in the table: by quadrature where that is good enough, else from draws of π."""
    means = np.full((len(victims), len(release.sensitive.values)), np.nan)
    nodes = _nodes(victims, trees)
    ready = np.flatnonzero((nodes >= 0).all(axis=1) & victims.in_table)
    if sum(tree.shown.size for tree in trees) > _MOST_MOMENTS:
        ready = ready[:0]
    _by_quadrature(release, nodes, ready, trees, means)
    defect = np.abs(means.sum(axis=1) - 1)
    missing = np.flatnonzero(~(defect <= TOLERANCE) & victims.in_table)
    if not len(missing):
        return Beliefs(normalised(means))
    errors = np.zeros(means.shape)
    means[missing], errors[missing] = _by_draws(release, victims, trees, missing, draws)
    return Beliefs(normalised(means), errors=errors)


def _nodes(victims: Victims, trees: list[Tree]) -> Integers:
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
        node_of_set = [numbers.get(tuple(sets.values(k).tolist()), -1) for k in range(len(sets))]
        nodes[:, place] = np.array(node_of_set)[victims.codes[:, place]]
    return nodes


def _by_quadrature(
    release: Release, nodes: Integers, ready: Integers, trees: list[Tree], means: Floats
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
        means[chosen] = expected_ratio(shapes, log_means, log_moments)


def _log_moments(tree: Tree) -> NDArray[np.complex128]:
    """Return, per node of the tree, sensitive value and z, log E[π(node | s)^−z]: over the branches that lead to it."""
    logs = log_beta_moments(*tree.parameters)
    logs[tree.parents < 0] = 0
    for node in tree.order.tolist():
        if tree.parents[node] >= 0:
            logs[node] += logs[tree.parents[node]]
    return logs


def _by_draws(
    release: Release, victims: Victims, trees: list[Tree], chosen: Integers, draws: _Draws
) -> tuple[Floats, Floats]:
    """Return the mean over draws of π of f(s | r, π), and its standard error; the draws are independent."""
    if draws.least < 2:
        raise StudyError(
            "reading (6) is to be sampled from {draws} draws; give at least 2",
            draws=str(draws.least),
        )
    generator = np.random.default_rng(draws.seed)
    shapes = release.sensitive.alphas + release.counts
    codes = victims.codes[chosen]
    mean = np.zeros((len(chosen), len(shapes)))
    squares = np.zeros_like(mean)
    number = 0
    while not draws.are_enough(number, squares):
        number += 1
        gammas = np.maximum(generator.standard_gamma(shapes), np.finfo(float).tiny)
        logs = np.tile(np.log(gammas), (len(chosen), 1))
        for place, tree in enumerate(trees):
            drawn = tree.drawn_log_paths(generator)[tree.first_value :]
            logs += _log_masses(drawn, victims.known[place])[codes[:, place]]
        shares = normalised(np.exp(logs - logs.max(axis=1, keepdims=True)))
        change = shares - mean
        mean += change / number
        squares += change * (shares - mean)
    return mean, np.sqrt(squares / (number - 1) / number)


@compiled
def _sum_entries(
    candidate_starts: Integers,
    candidates: Integers,
    starts: Integers,
    sensitive: Codes,
    entries: Floats,
    logs: Floats,
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


# The tree of one attribute.
@dataclass(frozen=True)
class Tree:
    """Root, labels and values of one attribute as nodes, in that order, and how many rows show each label."""

    attribute: Attribute
    """The attribute."""
    nodes: ValueSets
    """Per node, its values."""
    shown: Integers
    """Per node and sensitive value, the rows that show this label (nodes × sensitive values)."""

    @classmethod
    def of(cls, release: Release, place: int) -> Tree:
        """Return the tree of an attribute of a laminar release, by the place of the attribute."""
        attribute = release.attributes[place]
        domain, labels, width = len(attribute.values), attribute.sets, len(release.sensitive.values)
        everything = np.arange(domain, dtype=np.int32)
        members = np.concatenate([everything, labels.members, everything])
        sizes = np.concatenate([[domain], labels.sizes, np.ones(domain, np.int64)])
        nodes = ValueSets(domain, starts_of(sizes), members)
        node = release.codes[release.group_of_row, place].astype(np.int64) + 1
        cells = np.bincount(node * width + release.sensitive_codes, minlength=len(nodes) * width)
        return cls(attribute, nodes, cells.reshape(len(nodes), width))

    @cached_property
    def parents(self) -> Integers:
        """Per node, the node above it; −1 for the root. Nodes with the same values are a chain."""
        return self.nodes.parents()

    @property
    def order(self) -> Integers:
        """The nodes, each behind the one above it."""
        return self.nodes.by_size

    @property
    def first_label(self) -> int:
        """The node of the first label."""
        return 1

    @property
    def first_value(self) -> int:
        """The node of the first value of the domain."""
        return 1 + len(self.attribute.labels)

    @cached_property
    def below(self) -> Integers:
        """Per node and sensitive value, the rows that show a label strictly below."""
        below = np.zeros_like(self.shown)
        _add_to_parents(self.order, self.parents, self.shown, below)
        return below

    @cached_property
    def betas(self) -> Floats:
        """Per node, the sum of the prior's parameters of its values."""
        betas = self.attribute.betas
        sums: Floats = np.add.reduceat(betas[self.nodes.members], self.nodes.starts[:-1])
        return sums

    @cached_property
    def parameters(self) -> tuple[Floats, Floats]:
        """Per node but the root and sensitive value, the parameters of the beta distribution of the branch to it.

        The second one is 0 where the node has all the values of the one above it: its branch is 1.
        """
        above = self.parents
        chosen = self.betas[:, None] + self.shown + self.below
        whole = (self.betas[:, None] + self.below)[above]
        others = whole - chosen
        sizes = self.nodes.sizes
        others[(sizes == sizes[above]) | (above < 0)] = 0
        return chosen, others

    @cached_property
    def log_paths(self) -> Floats:
        """Per node and sensitive value, log E[π(node) | s]: the branches from the root to it."""
        chosen, others = self.parameters
        logs = np.log(chosen) - np.log(chosen + others)
        logs[self.parents < 0] = 0
        _sum_down(self.order, self.parents, logs)
        return logs

    def drawn_log_paths(self, generator: np.random.Generator) -> Floats:
        """Draw π from the posterior: per node and sensitive value, log π(node | s)."""
        chosen = self.betas[:, None] + self.shown + self.below
        gammas = np.maximum(generator.standard_gamma(chosen), np.finfo(float).tiny)
        totals = np.zeros_like(gammas)
        _add_children(self.parents, gammas, totals)
        logs = np.zeros_like(gammas)
        inner = self.parents >= 0
        logs[inner] = np.log(gammas[inner]) - np.log(totals[self.parents[inner]])
        _sum_down(self.order, self.parents, logs)
        return logs

    def exact_paths(self, sensitive: int) -> list[Fraction]:
        """Return E[π(node) | s] for every node as fractions, for one sensitive value."""
        beta = self.attribute.beta
        betas = [
            sum((beta[value] for value in self.nodes.values(node).tolist()), Fraction(0))
            for node in range(len(self.nodes))
        ]
        here, below = self.shown[:, sensitive].tolist(), self.below[:, sensitive].tolist()
        paths = [Fraction(1)] * len(self.parents)
        for node in self.order.tolist():
            above = int(self.parents[node])
            if above >= 0:
                branch = (betas[node] + here[node] + below[node]) / (betas[above] + below[above])
                paths[node] = paths[above] * branch
        return paths


@compiled
def _add_to_parents(order: Integers, parents: Integers, shown: Integers, below: Integers) -> None:
    for place in range(order.size - 1, -1, -1):
        node = order[place]
        above = parents[node]
        if above >= 0:
            for s in range(shown.shape[1]):
                below[above, s] += shown[node, s] + below[node, s]


@compiled
def _add_children(parents: Integers, gammas: Floats, totals: Floats) -> None:
    for node in range(parents.size):
        above = parents[node]
        if above >= 0:
            for s in range(gammas.shape[1]):
                totals[above, s] += gammas[node, s]


@compiled
def _sum_down(order: Integers, parents: Integers, sums: Floats) -> None:
    """Add to each node what stands above it, from the root down."""
    for node in order:
        above = parents[node]
        if above >= 0:
            for s in range(sums.shape[1]):
                sums[node, s] += sums[above, s]
