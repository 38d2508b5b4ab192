"""Trees of labels, numbered such that the lowest label that stands for several is found quickly."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray

from glasshouse.arrays import Floats, Integers
from glasshouse.mitigation.local.items import Groups

_BLOCK = 2500
"""So many groups at most are compared with each other."""
_FUZZ = 0.8
"""How much chance has its say in how blocks are divided."""


class Forest(NamedTuple):
    """Trees of labels, numbered so that what stands under a label follows it directly."""

    parent: NDArray[np.int32]
    """Per label, that one level up; a root is its own."""
    last: NDArray[np.int32]
    """Per label, the last of those under it: x is under y, or is y, where y ≤ x ≤ last[y]."""
    cost: Floats
    """Per label, what a record loses by it."""

    def joins(self, lowest: NDArray[np.int32], highest: NDArray[np.int32]) -> NDArray[np.int32]:
        """Return the lowest labels that stand for all from a lowest to a highest number."""
        labels = lowest
        while (outside := highest > self.last[labels]).any():
            labels = np.where(outside, self.parent[labels], labels)
        return labels


@dataclass(frozen=True)
class Space:
    """The trees of all attributes as one forest, and where the items stand in it."""

    forest: Forest
    """The labels, attribute by attribute."""
    firsts: NDArray[np.int32]
    """Per attribute, the number of its root."""
    leaves: NDArray[np.int32]
    """Per item (row) and attribute, the label of its value."""

    @classmethod
    def of(cls, trees: Sequence[Forest], leaves: Sequence[NDArray[np.int32]]) -> Space:
        """Put trees one after the other, given where the items stand in each."""
        firsts = np.cumsum([0, *(len(each.parent) for each in trees)], dtype=np.int32)[:-1]
        own = list(zip(firsts, trees, strict=True))
        forest = Forest(
            np.concatenate([first + each.parent for first, each in own]),
            np.concatenate([first + each.last for first, each in own]),
            np.concatenate([each.cost for each in trees]),
        )
        return cls(forest, firsts, np.stack(leaves, axis=1) + firsts)

    def weighed(self, weights: Floats) -> Space:
        """Return the space with costs multiplied by a weight of each attribute."""
        lengths = np.diff([*self.firsts, len(self.forest.cost)])
        cost = self.forest.cost * np.repeat(weights, lengths)
        return replace(self, forest=self.forest._replace(cost=cost))

    def regions(self, groups: Groups) -> NDArray[np.int32]:
        """Return, per group (row) and attribute, the lowest label that stands for all its items."""
        leaves = self.leaves[groups.items]
        lowest = np.minimum.reduceat(leaves, groups.starts[:-1], axis=0)
        highest = np.maximum.reduceat(leaves, groups.starts[:-1], axis=0)
        return self.forest.joins(lowest, highest)

    def blocks(self, regions: NDArray[np.int32], random: np.random.Generator) -> Iterator[Integers]:
        """Divide groups into blocks of near ones.

        A block is cut in the middle of the attribute by which it loses most as a whole, as far as chance does not have
        its say; so two divisions differ, and what one separates another does not.
        """
        stack = [np.arange(len(regions))]
        while stack:
            block = stack.pop()
            if len(block) <= _BLOCK:
                yield block
                continue
            own = regions[block]
            lowest, highest = own.min(axis=0), own.max(axis=0)
            lost = self.forest.cost[self.forest.joins(lowest, highest)]
            lost = lost * (1 - _FUZZ * random.random(len(lost))) - (lowest == highest)
            rising = own[:, int(lost.argmax())]
            order = np.argsort(rising, kind="stable")
            cut = _near_middle(rising[order])
            stack += [block[order[cut:]], block[order[:cut]]]


def _near_middle(rising: NDArray[np.int32]) -> int:
    """Return where to cut an array in two near its middle, between different numbers if that is near enough."""
    middle = len(rising) // 2
    ends = (
        np.searchsorted(rising, rising[middle], side="left"),
        np.searchsorted(rising, rising[middle], side="right"),
    )
    cut = min(map(int, ends), key=lambda end: abs(end - middle))
    return cut if len(rising) <= 8 * min(cut, len(rising) - cut) else middle


@njit(inline="always")  # type: ignore[untyped-decorator]
def joined(forest: Forest, one: int, other: int) -> int:
    """Return the lowest label that stands for two."""
    while other < one or other > forest.last[one]:
        one = forest.parent[one]
    return one


@njit(cache=True, nogil=True)  # type: ignore[untyped-decorator]
def joint_cost(
    forest: Forest, one: NDArray[np.int32], other: NDArray[np.int32], limit: float
) -> float:
    """Return what a record loses if two regions are released alike; beyond a limit, anything beyond it."""
    cost, a = 0.0, 0
    while a < one.size and cost <= limit:  # a for loop with a break is five times slower
        cost += forest.cost[joined(forest, one[a], other[a])]
        a += 1
    return cost


@njit(cache=True, nogil=True)  # type: ignore[untyped-decorator]
def widen(forest: Forest, region: NDArray[np.int32], other: NDArray[np.int32]) -> float:
    """Make a region stand for another one too; return what a record loses by it."""
    cost = 0.0
    for a in range(region.size):
        region[a] = joined(forest, region[a], other[a])
        cost += forest.cost[region[a]]
    return cost
