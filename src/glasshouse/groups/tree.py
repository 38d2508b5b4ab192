"""The Dirichlet tree of one attribute: what laminar labels teach, in closed form.

Labels that are pairwise disjoint or nested form a tree, with the whole domain at the root and single values as leaves.
A Dirichlet prior on the values is the same as independent Dirichlet priors on the branches of every node, the parameter
of a branch being Σβ over the values below it. That a row with sensitive value s shows the label c is an observation of
the branches from the root to c, and of nothing else; the posterior is therefore again independent per node, and

    E[branch p → c | s] = (β(c) + n_s(at or below c)) / (β(p) + n_s(strictly below p)),

n_s counting the rows with sensitive value s by their labels. E[π(v) | s] is the product of the branches from the root
to v, and Pr(R_j = v | label c, s) that of the branches from c to v. Attributes are independent given s.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property

import numpy as np
from numba import njit
from numpy.typing import NDArray

from glasshouse.groups.labels import ValueSets
from glasshouse.groups.release import Attribute, Release


@dataclass(frozen=True)
class Tree:
    """Root, labels and values of one attribute as nodes, in that order, and how many rows show each label."""

    attribute: Attribute
    """The attribute."""
    parents: NDArray[np.int64]
    """Per node, the node above it; −1 for the root. Nodes with the same values are a chain."""
    order: NDArray[np.int64]
    """The nodes, each behind the one above it."""
    own: NDArray[np.int64]
    """Per node and sensitive value, the rows that show this label (nodes × sensitive values)."""

    @classmethod
    def of(cls, release: Release, place: int) -> Tree:
        """Return the tree of an attribute of a laminar release, by the place of the attribute."""
        attribute = release.attributes[place]
        domain, labels, width = len(attribute.values), attribute.sets, len(release.sensitive.values)
        everything = np.arange(domain, dtype=np.int32)
        members = np.concatenate([everything, labels.members, everything])
        sizes = np.concatenate([[domain], labels.sizes, np.ones(domain, np.int64)])
        starts = np.concatenate([np.zeros(1, np.int64), np.cumsum(sizes)])
        nodes = ValueSets(domain, starts, members)
        shown = release.codes[release.group_of_row, place].astype(np.int64) + 1
        cells = np.bincount(shown * width + release.sensitive_codes, minlength=len(nodes) * width)
        own = cells.reshape(len(nodes), width)
        return cls(attribute, nodes.parents(), np.argsort(-sizes, kind="stable"), own)

    @property
    def first_label(self) -> int:
        """The node of the first label."""
        return 1

    @property
    def first_value(self) -> int:
        """The node of the first value of the domain."""
        return 1 + len(self.attribute.labels)

    @cached_property
    def below(self) -> NDArray[np.int64]:
        """Per node and sensitive value, the rows that show a label strictly below."""
        below = np.zeros_like(self.own)
        _add_to_parents(self.order, self.parents, self.own, below)
        return below

    @cached_property
    def betas(self) -> NDArray[np.float64]:
        """Per node, the sum of the prior's parameters of its values."""
        betas = np.zeros(len(self.parents))
        betas[self.first_value :] = self.attribute.betas
        betas[0] = self.attribute.betas.sum()
        sets = self.attribute.sets
        if len(sets):
            sums = np.add.reduceat(self.attribute.betas[sets.members], sets.starts[:-1])
            betas[self.first_label : self.first_value] = sums
        return betas

    @cached_property
    def parameters(self) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Per node but the root and sensitive value, the parameters of the beta distribution of the branch to it.

        The second one is 0 where the node has all the values of the one above it: its branch is 1.
        """
        above = self.parents
        chosen = self.betas[:, None] + self.own + self.below
        whole = (self.betas[:, None] + self.below)[above]
        others = whole - chosen
        others[(self.sizes == self.sizes[above]) | (above < 0)] = 0
        return chosen, others

    @cached_property
    def sizes(self) -> NDArray[np.int64]:
        """Per node, how many values it stands for."""
        ones = np.ones(len(self.attribute.values), np.int64)
        return np.concatenate([[len(ones)], self.attribute.sets.sizes, ones])

    @cached_property
    def log_paths(self) -> NDArray[np.float64]:
        """Per node and sensitive value, log E[π(node) | s]: the branches from the root to it."""
        chosen, others = self.parameters
        logs = np.log(chosen) - np.log(chosen + others)
        logs[self.parents < 0] = 0
        return _summed_down(self.order, self.parents, logs)

    def drawn_log_paths(self, generator: np.random.Generator) -> NDArray[np.float64]:
        """Draw π from the posterior: per node and sensitive value, log π(node | s)."""
        chosen = self.betas[:, None] + self.own + self.below
        gammas = np.maximum(generator.standard_gamma(chosen), np.finfo(float).tiny)
        totals = np.zeros_like(gammas)
        _add_children(self.parents, gammas, totals)
        logs = np.zeros_like(gammas)
        inner = self.parents >= 0
        logs[inner] = np.log(gammas[inner]) - np.log(totals[self.parents[inner]])
        return _summed_down(self.order, self.parents, logs)

    def exact_paths(self, sensitive: int) -> list[Fraction]:
        """Return E[π(node) | s] for every node as fractions, for one sensitive value."""
        betas = self._exact_betas()
        own, below = self.own[:, sensitive].tolist(), self.below[:, sensitive].tolist()
        paths = [Fraction(1)] * len(self.parents)
        for node in self.order.tolist():
            above = int(self.parents[node])
            if above >= 0:
                branch = (betas[node] + own[node] + below[node]) / (betas[above] + below[above])
                paths[node] = paths[above] * branch
        return paths

    def _exact_betas(self) -> list[Fraction]:
        beta, sets = self.attribute.beta, self.attribute.sets
        labels = [
            sum((beta[value] for value in sets.values(number).tolist()), Fraction(0))
            for number in range(len(sets))
        ]
        return [sum(beta, Fraction(0)), *labels, *beta]


def _summed_down(
    order: NDArray[np.int64], parents: NDArray[np.int64], logs: NDArray[np.float64]
) -> NDArray[np.float64]:
    """Return, per node, the sum from the root to it."""
    sums: NDArray[np.float64] = _down(order, parents, logs.copy())
    return sums


@njit(cache=True, nogil=True)  # type: ignore[untyped-decorator]
def _add_to_parents(
    order: NDArray[np.int64],
    parents: NDArray[np.int64],
    own: NDArray[np.int64],
    below: NDArray[np.int64],
) -> None:
    for place in range(order.size - 1, -1, -1):
        node = order[place]
        above = parents[node]
        if above >= 0:
            for s in range(own.shape[1]):
                below[above, s] += own[node, s] + below[node, s]


@njit(cache=True, nogil=True)  # type: ignore[untyped-decorator]
def _add_children(
    parents: NDArray[np.int64], gammas: NDArray[np.float64], totals: NDArray[np.float64]
) -> None:
    for node in range(parents.size):
        above = parents[node]
        if above >= 0:
            for s in range(gammas.shape[1]):
                totals[above, s] += gammas[node, s]


@njit(cache=True, nogil=True)  # type: ignore[untyped-decorator]
def _down(
    order: NDArray[np.int64], parents: NDArray[np.int64], sums: NDArray[np.float64]
) -> NDArray[np.float64]:
    for node in order:
        above = parents[node]
        if above >= 0:
            for s in range(sums.shape[1]):
                sums[node, s] += sums[above, s]
    return sums
