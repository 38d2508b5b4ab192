"""Which rows, or groups, of a release agree with what is known of a victim.

Rows of labels are kept in lexicographic order; the rows that agree on the first attributes are then a few ranges of
that order, which are narrowed attribute by attribute by bisection. Nothing is compared that cannot agree, so that a
million victims against a million rows is a matter of seconds where each has few matches.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numba import njit
from numpy.typing import NDArray

from glasshouse.errors import BudgetError
from glasshouse.groups.labels import ValueSets
from glasshouse.language import number, text

MOST_MATCHES = 400_000_000
"""Up to so many pairs of a victim and a group that it can be in are kept: 3.2 GB."""


@dataclass(frozen=True)
class Matches:
    """The rows that agree with each victim."""

    starts: NDArray[np.int64]
    """Per victim, where its rows begin in ``rows``; one more entry closes the last."""
    rows: NDArray[np.int64]
    """The rows, victim by victim, in ascending order."""
    agreed: NDArray[np.int64]
    """Per victim, on how many attributes from the first on some row agrees: all of them, if any row matches."""


def matches(
    codes: NDArray[np.int32],
    labels: Sequence[ValueSets],
    known: Sequence[ValueSets],
    victims: NDArray[np.int32],
) -> Matches:
    """Find the rows whose labels have, on every attribute, a value in common with what is known of each victim.

    Args:
        codes: Rows of label codes.
        labels: Per attribute, the set of values of each label.
        known: Per attribute, the sets of values that are known of victims.
        victims: Per victim and attribute, which of these.

    Raises:
        BudgetError: There are too many matches to keep.
    """
    order = np.lexsort(codes.T[::-1]).astype(np.int64)
    lists = [_labels_of(sets, own) for sets, own in zip(labels, known, strict=True)]
    list_starts, list_labels, bases = _flat(lists)
    ordered = np.ascontiguousarray(codes[order])
    agreed = np.zeros(len(victims), np.int64)
    counts = np.zeros(len(victims), np.int64)
    nothing = np.zeros(0, np.int64)
    _walk(
        ordered, list_starts, list_labels, bases, victims, counts, agreed, nothing, nothing, order
    )
    starts = np.concatenate([np.zeros(1, np.int64), np.cumsum(counts)])
    if starts[-1] > MOST_MATCHES:
        raise BudgetError(
            text(
                "{victims} victims can be in {groups} groups each, too many to keep; "
                "ask for fewer victims",
                victims=len(victims),
                groups=number(starts[-1] / len(victims), ",.0f"),
            )
        )
    rows = np.empty(starts[-1], np.int64)
    _walk(ordered, list_starts, list_labels, bases, victims, counts, agreed, starts, rows, order)
    return Matches(starts, rows, agreed)


def _labels_of(labels: ValueSets, known: ValueSets) -> tuple[NDArray[np.int64], NDArray[np.int32]]:
    """Return, per known set, the labels that have a value in common with it, in ascending order."""
    by_value = np.argsort(labels.members, kind="stable")
    label_of_member = np.repeat(np.arange(len(labels), dtype=np.int32), labels.sizes)[by_value]
    per_value = np.bincount(labels.members, minlength=labels.domain)
    value_starts = np.concatenate([np.zeros(1, np.int64), np.cumsum(per_value)])
    if known.is_singletons:
        return value_starts, label_of_member
    found = [
        np.unique(
            np.concatenate(
                [label_of_member[value_starts[v] : value_starts[v + 1]] for v in known.values(k)]
            )
        )
        for k in range(len(known))
    ]
    lengths = np.array([len(each) for each in found], np.int64)
    starts = np.concatenate([np.zeros(1, np.int64), np.cumsum(lengths)])
    return starts, np.concatenate(found).astype(np.int32)


def _flat(
    lists: Sequence[tuple[NDArray[np.int64], NDArray[np.int32]]],
) -> tuple[NDArray[np.int64], NDArray[np.int32], NDArray[np.int64]]:
    """Put the lists of all attributes behind each other: where each list begins, the lists, the attributes' bases."""
    lengths = [len(numbers) for _, numbers in lists]
    offsets = np.cumsum([0, *lengths[:-1]])
    starts = [own + offset for (own, _), offset in zip(lists, offsets, strict=True)]
    bases = np.cumsum([0, *(len(own) for own in starts[:-1])])
    return np.concatenate(starts), np.concatenate([numbers for _, numbers in lists]), bases


@njit(cache=True, nogil=True)  # type: ignore[untyped-decorator]
def _bound(column: NDArray[np.int32], low: int, high: int, label: int) -> int:
    """Return the first place of a sorted stretch whose label is not below the given one."""
    while low < high:
        middle = (low + high) // 2
        if column[middle] < label:
            low = middle + 1
        else:
            high = middle
    return low


@njit(cache=True, nogil=True)  # type: ignore[untyped-decorator]
def _walk(
    ordered: NDArray[np.int32],
    list_starts: NDArray[np.int64],
    list_labels: NDArray[np.int32],
    bases: NDArray[np.int64],
    victims: NDArray[np.int32],
    counts: NDArray[np.int64],
    agreed: NDArray[np.int64],
    starts: NDArray[np.int64],
    rows: NDArray[np.int64],
    order: NDArray[np.int64],
) -> None:
    """Count the matches of each victim or, where ``starts`` is given, write them down.

    The ranges that are still to be narrowed stand on a stack: beginning, end, and the next attribute.
    """
    depth_of_all = ordered.shape[1]
    columns = np.ascontiguousarray(ordered.T)
    room = 1024
    stack = np.empty((room, 3), np.int64)
    for victim in range(victims.shape[0]):
        stack[0, 0], stack[0, 1], stack[0, 2] = 0, ordered.shape[0], 0
        top, found, deepest = 1, 0, 0
        while top > 0:
            top -= 1
            low, high, depth = stack[top, 0], stack[top, 1], stack[top, 2]
            deepest = max(deepest, depth)
            if depth == depth_of_all:
                if starts.size > 0:
                    rows[starts[victim] + found : starts[victim] + found + high - low] = order[
                        low:high
                    ]
                found += high - low
                continue
            own = bases[depth] + victims[victim, depth]
            place, end = list_starts[own], list_starts[own + 1]
            while place < end and low < high:
                label = list_labels[place]
                low = _bound(columns[depth], low, high, label)
                if low == high:
                    break
                if columns[depth, low] > label:
                    place = _bound(list_labels, place, end, columns[depth, low])
                    continue
                after = _bound(columns[depth], low, high, label + 1)
                if top == room:
                    larger = np.empty((2 * room, 3), np.int64)
                    larger[:room] = stack
                    stack, room = larger, 2 * room
                stack[top, 0], stack[top, 1], stack[top, 2] = low, after, depth + 1
                top += 1
                low = after
                place += 1
        counts[victim] = found
        agreed[victim] = deepest
        if starts.size > 0:
            rows[starts[victim] : starts[victim + 1]].sort()
