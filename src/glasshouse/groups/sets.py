"""Sets of values of one attribute, as codes: what the labels of a release stand for, or what is known of victims."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numba import njit
from numpy.typing import NDArray

from glasshouse.errors import DataError
from glasshouse.language import text


@dataclass(frozen=True)
class ValueSets:
    """Some sets of values, one behind the other."""

    domain: int
    """How many values the attribute has; values are the codes 0 … domain − 1."""
    starts: NDArray[np.int64]
    """Per set, where its values begin in ``members``; one more entry closes the last."""
    members: NDArray[np.int32]
    """The values of all sets, set by set, each in ascending order."""

    @classmethod
    def of(cls, sets: Iterable[Iterable[int]], domain: int) -> ValueSets:
        """Return these sets.

        Raises:
            DataError: A set is empty, or a code is not in the domain.

        >>> ValueSets.of([[0, 1], [2]], 3).sizes.tolist()
        [2, 1]
        """
        ordered = [sorted(set(values)) for values in sets]
        if any(not values or values[0] < 0 or values[-1] >= domain for values in ordered):
            raise DataError(
                text("a set of values is empty or reaches out of its domain; give values of it")
            )
        lengths = [len(values) for values in ordered]
        starts = np.concatenate([np.zeros(1, np.int64), np.cumsum(lengths, dtype=np.int64)])
        members = np.array([value for values in ordered for value in values], np.int32)
        return cls(domain, _fixed(starts), _fixed(members))

    @classmethod
    def singletons(cls, domain: int) -> ValueSets:
        """Return one set per value, in the order of the values: every label stands for itself.

        >>> ValueSets.singletons(3).is_singletons
        True
        """
        values = np.arange(domain, dtype=np.int32)
        return cls(domain, _fixed(np.arange(domain + 1, dtype=np.int64)), _fixed(values))

    def __len__(self) -> int:
        return len(self.starts) - 1

    def values(self, number: int) -> NDArray[np.int32]:
        """Return the values of one set."""
        return self.members[self.starts[number] : self.starts[number + 1]]

    @cached_property
    def sizes(self) -> NDArray[np.int64]:
        """Per set, how many values it holds."""
        return np.diff(self.starts)

    @cached_property
    def is_singletons(self) -> bool:
        """Whether set i is just the value i, for all values."""
        alike = len(self) == self.domain == len(self.members)
        return alike and bool((self.members == np.arange(self.domain)).all())

    @cached_property
    def is_laminar(self) -> bool:
        """Whether any two sets are disjoint, or one holds the other: then they form a tree.

        >>> ValueSets.of([[0, 1], [2], [0, 1, 2]], 4).is_laminar, ValueSets.of([[0, 1], [1, 2]], 3).is_laminar
        (True, False)
        """
        return self.crossing is None

    @cached_property
    def crossing(self) -> tuple[int, int] | None:
        """Two sets of which each has values that the other lacks, beside common ones; None where there are none."""
        found = _crossing(self.domain, self.starts, self.members, self._by_size)
        return None if found[0] < 0 else (int(found[0]), int(found[1]))

    @cached_property
    def _by_size(self) -> NDArray[np.int64]:
        return np.argsort(-self.sizes, kind="stable")

    def parents(self) -> NDArray[np.int64]:
        """Return, per set of a laminar family, the number of the smallest set that holds it; −1 for the outermost.

        Of equal sets, each later one is held by the earlier.
        """
        parents: NDArray[np.int64] = _parents(self.domain, self.starts, self.members, self._by_size)
        return parents

    def holds(self, number: int, value: int) -> bool:
        """Tell whether a set holds a value."""
        return bool(contains(self.starts, self.members, number, value))

    def matrix(self) -> NDArray[np.bool_]:
        """Return the sets as rows of marks, one per value of the domain."""
        marks = np.zeros((len(self), self.domain), np.bool_)
        marks[np.repeat(np.arange(len(self)), self.sizes), self.members] = True
        return marks


def _fixed(array: NDArray[Any]) -> NDArray[Any]:
    array.flags.writeable = False
    return array


@njit(cache=True, nogil=True)  # type: ignore[untyped-decorator]
def contains(
    starts: NDArray[np.int64], members: NDArray[np.int32], number: int, value: int
) -> bool:
    """Tell whether a set holds a value, by bisection."""
    low, high = starts[number], starts[number + 1]
    while low < high:
        middle = (low + high) // 2
        if members[middle] < value:
            low = middle + 1
        else:
            high = middle
    return bool(low < starts[number + 1] and members[low] == value)


@njit(cache=True, nogil=True)  # type: ignore[untyped-decorator]
def _parents(
    domain: int,
    starts: NDArray[np.int64],
    members: NDArray[np.int32],
    by_size: NDArray[np.int64],
) -> NDArray[np.int64]:
    """From the largest set to the smallest: its values lie in one set so far, the one that holds it."""
    inside = np.full(domain, -1, np.int64)
    parents = np.full(starts.size - 1, -1, np.int64)
    for number in by_size:
        parents[number] = inside[members[starts[number]]]
        for place in range(starts[number], starts[number + 1]):
            inside[members[place]] = number
    return parents


@njit(cache=True, nogil=True)  # type: ignore[untyped-decorator]
def _crossing(
    domain: int,
    starts: NDArray[np.int64],
    members: NDArray[np.int32],
    by_size: NDArray[np.int64],
) -> tuple[int, int]:
    """The family is laminar if, from the largest to the smallest, the values of each set lie in one set so far.

    Otherwise it crosses the smaller one of two that its values lie in.
    """
    sizes = np.diff(starts)
    inside = np.full(domain, -1, np.int64)
    for number in by_size:
        around = inside[members[starts[number]]]
        for place in range(starts[number], starts[number + 1]):
            other = inside[members[place]]
            if other != around:
                if around < 0 or (other >= 0 and sizes[other] < sizes[around]):
                    return number, other
                return number, around
            inside[members[place]] = number
    return -1, -1


def as_codes(rows: Sequence[Sequence[int]], width: int) -> NDArray[np.int32]:
    """Return rows of codes as an array, also where there are none."""
    return np.array(rows, np.int32).reshape(len(rows), width)
