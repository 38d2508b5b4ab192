"""Collapsed Gibbs sampling of an Anatomy release: which row of a group has which of its sensitive values.

The population π is integrated out. With n[v, s] rows of attribute value v and sensitive value s in the cleartext table,

> f(t | t*) ∝ Π_s Π_v Γ(β_v + n[v, s]),

as the number of rows of each sensitive value is published and does not change. A group is drawn *as a whole*, given
all others: its slots (sensitive values) get its rows with the joint probability that this product gives. Two ways are
exact:

- all sensitive values of the group differ (always so in Anatomy): row k fits slot i with weight w[i, k] = Π_attributes
  (β + n without this group), and assignments are as probable as the product of their weights. A dynamic programme over
  the subsets of used rows sums them up (the permanent of w), draws one of them, and gives the exact marginal
  probabilities of the pairs (i, k) on the way;
- values occur repeatedly: slots of one value form a block, equal rows are counted instead of told apart, and the
  programme runs over vectors of used counts. A block that takes u_k copies of row k weighs m! / Π u_k! times rising
  factorials of the counts, because its own rows make each other more probable.

Groups too large for that are dealt at random into parts of at most six slots with different values, each drawn exactly,
and one random pair of slots is drawn besides, so that every arrangement can be reached.

The marginals are what is recorded (Rao-Blackwell): f(R_j = r | the other groups), which averages to f(R_j = r | t*)
with far less noise than the draws themselves. By Lemma 1 of Boreale, Corradi and Viscardi (2020), p_A(s | r) is the
mean of their sum over the slots of s, divided by the number of rows r in the table, which is fixed.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numba import njit
from numpy.typing import NDArray

from glasshouse.groups.chains import Floats, Integers, Words, uniform
from glasshouse.groups.gibbs_blocks import blocks_scratch, draw_blocks, programme_fits
from glasshouse.groups.gibbs_subsets import draw_subset, enter

MOST_SLOTS = 10
"""Groups of at most so many different sensitive values are drawn over all subsets of their rows."""
_PART = 6
"""Larger groups are drawn in parts of at most so many slots."""
FIXED, SUBSETS, BLOCKS, PARTS = 0, 1, 2, 3
"""How a group is drawn: not at all, over subsets, over blocks of equal values, in parts."""

Codes = NDArray[np.int32]


@dataclass(frozen=True)
class VerticalPlan:
    """A vertical release, laid out for the sampler; nothing in it changes."""

    starts: Integers
    """Where each group starts among the rows, and where the last one ends."""
    values: Codes
    """Per row and attribute, the number of its value, counted through all attributes."""
    sensitive: Codes
    """Per slot, its sensitive value; in ascending order within a group."""
    distinct: Codes
    """Per row, which of the distinct rows of the table it is; in ascending order within a group."""
    copies: Integers
    """Per distinct row, how many rows are equal to it."""
    way: NDArray[np.uint8]
    """Per group, how it is drawn."""
    row_local: Codes
    """Per row, which of the distinct rows of its group it is."""
    slot_local: Codes
    """Per slot, which of the distinct sensitive values of its group it is."""
    local_values: Codes
    """Per group, how many distinct sensitive values it has."""
    cell_starts: Integers
    """Where the cells of each group start in `cell_of`."""
    cell_of: Codes
    """Per group, distinct row and distinct value, the cell to which the marginal probability is added."""
    cell_ends: Integers
    """Per distinct row its cells: from the first of these numbers to the next."""
    cell_sensitive: Codes
    """Per cell, the sensitive value."""
    prior: Floats
    """β of every attribute value, by number."""
    sensitive_values: int
    """How many sensitive values the domain has."""
    logarithms: bool
    """Whether weights must be multiplied as logarithms, because there are many attributes."""

    @property
    def cells(self) -> int:
        """How many pairs of a distinct row and a sensitive value can occur."""
        return len(self.cell_sensitive)

    @property
    def largest(self) -> int:
        """The size of the largest group."""
        return int(np.diff(self.starts).max())


def vertical_plan(
    starts: Integers,
    values: NDArray[np.integer],
    sensitive: NDArray[np.integer],
    *,
    prior: Floats,
    sensitive_values: int,
) -> VerticalPlan:
    """Lay out a vertical release: sort each group, find equal rows and equal values, number the cells.

    Args:
        starts: Where each group starts among the rows, and where the last one ends.
        values: Per row and attribute, the number of its value, counted through all attributes.
        sensitive: Per row of the release, a sensitive value of its group, in any order within the group.
        prior: β of every attribute value.
        sensitive_values: How many sensitive values the domain has.
    """
    records, attributes = values.shape
    groups = len(starts) - 1
    in_group = np.repeat(np.arange(groups), np.diff(starts))
    _, first, number = np.unique(values, axis=0, return_index=True, return_inverse=True)
    by_appearance = np.argsort(np.argsort(first))
    distinct = by_appearance[number.reshape(-1)].astype(np.int32)
    by_row = np.lexsort((distinct, in_group))
    by_value = np.lexsort((sensitive, in_group))
    distinct, ordered = distinct[by_row], np.ascontiguousarray(sensitive[by_value], np.int32)
    row_local, local_rows = _local_numbers(starts, distinct)
    slot_local, local_values = _local_numbers(starts, ordered)
    cell_starts = np.concatenate([[0], np.cumsum(local_rows.astype(np.int64) * local_values)])
    keys = np.empty(int(cell_starts[-1]), np.int64)
    _cell_keys(
        starts,
        distinct,
        ordered,
        row_local,
        slot_local,
        local_values,
        cell_starts,
        keys,
        sensitive_values,
    )
    cells, cell_of = np.unique(keys, return_inverse=True)
    rows = int(distinct.max()) + 1
    way = np.empty(groups, np.uint8)
    _choose_ways(starts, row_local, slot_local, local_rows, local_values, way)
    most = np.log10(records + float(prior.max())) * attributes
    least = -np.log10(float(prior.min())) * attributes
    return VerticalPlan(
        starts=starts.astype(np.int64),
        values=np.ascontiguousarray(values[by_row], np.int32),
        sensitive=ordered,
        distinct=distinct,
        copies=np.bincount(distinct, minlength=rows),
        way=way,
        row_local=row_local,
        slot_local=slot_local,
        local_values=local_values,
        cell_starts=cell_starts,
        cell_of=cell_of.reshape(-1).astype(np.int32),
        cell_ends=np.searchsorted(cells, np.arange(rows + 1) * sensitive_values),
        cell_sensitive=(cells % sensitive_values).astype(np.int32),
        prior=prior,
        sensitive_values=sensitive_values,
        logarithms=bool(max(most, least) > 290),
    )


class VerticalChain:
    """One chain: the rows that the slots hold now, and the counts that follow from them."""

    def __init__(self, plan: VerticalPlan, stream: Words) -> None:
        self.plan = plan
        self.stream = stream
        self.held = np.arange(len(plan.sensitive), dtype=np.int32)
        """Per slot, the row it holds."""
        self.counts = np.empty((len(plan.prior), plan.sensitive_values))
        """Per attribute value and sensitive value, β plus the number of rows."""
        self._scratch = _scratch(plan)

    def start(self) -> None:
        """Deal the rows of each group to its slots at random."""
        _shuffle(self.plan.starts, self.held, self.stream)
        self.recount()

    def recount(self) -> None:
        """Make the counts anew from the rows that are held."""
        self.counts[:] = self.plan.prior[:, None]
        _count(self.plan.values, self.plan.sensitive, self.held, self.counts)

    def sweep(self, marginals: Floats | None = None, *, power: float = 1.0) -> None:
        """Draw every group once, given the others.

        Args:
            marginals: Per cell, where the marginal probabilities are added; none are made without it.
            power: The exponent of the posterior that is sampled: below 1 it is flatter (tempering).
        """
        plan = self.plan
        recording = marginals is not None
        _sweep(
            plan.starts,
            plan.values,
            plan.sensitive,
            plan.way,
            plan.row_local,
            plan.slot_local,
            plan.local_values,
            plan.cell_starts,
            plan.cell_of,
            plan.logarithms,
            self.held,
            self.counts,
            recording,
            marginals if marginals is not None else np.zeros(0),
            power,
            self.stream,
            *self._scratch,
        )


def _scratch(plan: VerticalPlan) -> tuple[NDArray[np.generic], ...]:
    side = max(MOST_SLOTS, _PART)
    bits = np.array([bin(mask).count("1") for mask in range(1 << side)], np.int8)
    return (
        bits,
        np.empty((side, side)),
        np.empty((side, side)),
        np.empty(1 << side),
        np.empty(1 << side),
        np.empty(side, np.int64),
        np.empty(side, np.int64),
        np.empty(max(plan.largest, 1), np.int64),
        *blocks_scratch(bool((plan.way == BLOCKS).any())),
    )


def _local_numbers(starts: Integers, ordered: Codes) -> tuple[Codes, Codes]:
    """Number the distinct values of each group from 0, given them in order; also tell how many a group has."""
    fresh = np.ones(len(ordered), np.int64)
    fresh[1:] = ordered[1:] != ordered[:-1]
    fresh[starts[:-1]] = 1
    running = np.cumsum(fresh)
    sizes = np.diff(starts)
    local = running - np.repeat(running[starts[:-1]], sizes)
    return local.astype(np.int32), (local[starts[1:] - 1] + 1).astype(np.int32)


@njit(cache=True, nogil=True)  # type: ignore[untyped-decorator]
def _cell_keys(
    starts: Integers,
    distinct: Codes,
    sensitive: Codes,
    row_local: Codes,
    slot_local: Codes,
    local_values: Codes,
    cell_starts: Integers,
    keys: Integers,
    width: int,
) -> None:
    for group in range(len(starts) - 1):
        for row in range(starts[group], starts[group + 1]):
            base = cell_starts[group] + row_local[row] * local_values[group]
            for slot in range(starts[group], starts[group + 1]):
                keys[base + slot_local[slot]] = np.int64(distinct[row]) * width + sensitive[slot]


@njit(cache=True, nogil=True)  # type: ignore[untyped-decorator]
def _choose_ways(
    starts: Integers,
    row_local: Codes,
    slot_local: Codes,
    local_rows: Codes,
    local_values: Codes,
    way: NDArray[np.uint8],
) -> None:
    for group in range(len(starts) - 1):
        first, last = starts[group], starts[group + 1]
        size = last - first
        if local_rows[group] == 1 or local_values[group] == 1:
            way[group] = FIXED
        elif local_values[group] == size and size <= MOST_SLOTS:
            way[group] = SUBSETS
        elif programme_fits(row_local[first:last], slot_local[first:last]):
            way[group] = BLOCKS
        else:
            way[group] = PARTS


@njit(cache=True, nogil=True)  # type: ignore[untyped-decorator]
def _shuffle(starts: Integers, held: Codes, stream: Words) -> None:
    for group in range(len(starts) - 1):
        for i in range(starts[group + 1] - 1, starts[group], -1):
            j = starts[group] + int(uniform(stream) * (i + 1 - starts[group]))
            held[i], held[j] = held[j], held[i]


@njit(cache=True, nogil=True)  # type: ignore[untyped-decorator]
def _count(values: Codes, sensitive: Codes, held: Codes, counts: Floats) -> None:
    for slot in range(len(held)):
        enter(values, held[slot], sensitive[slot], counts, 1.0)


@njit(cache=True, nogil=True)  # type: ignore[untyped-decorator]
def _sweep(
    starts: Integers,
    values: Codes,
    sensitive: Codes,
    way: NDArray[np.uint8],
    row_local: Codes,
    slot_local: Codes,
    local_values: Codes,
    cell_starts: Integers,
    cell_of: Codes,
    logarithms: bool,
    held: Codes,
    counts: Floats,
    recording: bool,
    marginals: Floats,
    power: float,
    stream: Words,
    bits: NDArray[np.int8],
    weight: Floats,
    chance: Floats,
    after: Floats,
    before: Floats,
    slots: Integers,
    rows: Integers,
    dealt: Integers,
    states_after: Floats,
    states_before: Floats,
    used_of: Integers,
    takings: Integers,
    taking_weights: Floats,
    taking_steps: Integers,
) -> None:
    for group in range(len(starts) - 1):
        first, last = starts[group], starts[group + 1]
        cells = cell_of[cell_starts[group] : cell_starts[group + 1]]
        width = local_values[group]
        if way[group] == FIXED:
            if recording:
                for slot in range(first, last):
                    marginals[cells[row_local[held[slot]] * width + slot_local[slot]]] += 1.0
        elif way[group] == BLOCKS:
            draw_blocks(
                first, last, values, sensitive, row_local, slot_local, held, counts, power, stream,
                recording, width, cells, marginals, states_after, states_before, used_of, takings,
                taking_weights, taking_steps,
            )  # fmt: skip
        else:
            whole = way[group] == SUBSETS
            parts = 1 if whole else _deal(first, last, sensitive, dealt, stream)
            for part in range(1 if whole else parts + 1):
                size = 0
                if whole:
                    for slot in range(first, last):
                        slots[size] = slot
                        size += 1
                elif part < parts:
                    for place in range(part, last - first, parts):
                        slots[size] = dealt[place]
                        size += 1
                else:
                    slots[0] = first + int(uniform(stream) * (last - first))
                    slots[1] = first + int(uniform(stream) * (last - first))
                    size = 2
                    if sensitive[slots[0]] == sensitive[slots[1]]:
                        continue
                recorded = recording and part < parts
                draw_subset(
                    size, slots, rows, values, sensitive, logarithms, held, counts, recorded, power,
                    stream, bits, weight, chance, after, before,
                )  # fmt: skip
                if recorded:
                    _record(
                        size, slots, rows, chance, row_local, slot_local, width, cells, marginals
                    )


@njit(cache=True, nogil=True)  # type: ignore[untyped-decorator]
def _deal(first: int, last: int, sensitive: Codes, dealt: Integers, stream: Words) -> int:
    """Put the slots of a group in such an order that every m-th makes a part with different values; return m.

    Runs of equal values are put one after the other, in random order and each shuffled; what is dealt round has no
    value twice if no run is longer than the number of parts.
    """
    size = last - first
    runs = 0
    longest, run = 0, 0
    for slot in range(first, last):
        run += 1
        if slot + 1 == last or sensitive[slot + 1] != sensitive[slot]:
            runs += 1
            longest = max(longest, run)
            run = 0
    begin = np.empty(runs, np.int64)
    end = np.empty(runs, np.int64)
    number, begins = 0, first
    for slot in range(first, last):
        if slot + 1 == last or sensitive[slot + 1] != sensitive[slot]:
            begin[number], end[number] = begins, slot + 1
            number += 1
            begins = slot + 1
    place = 0
    for left in range(runs, 0, -1):
        chosen = int(uniform(stream) * left)
        base = place
        for slot in range(begin[chosen], end[chosen]):
            at = base + int(uniform(stream) * (place + 1 - base))
            dealt[place] = dealt[at]
            dealt[at] = slot
            place += 1
        begin[chosen], end[chosen] = begin[left - 1], end[left - 1]
    return max(longest, (size + _PART - 1) // _PART)


@njit(cache=True, nogil=True, inline="always")  # type: ignore[untyped-decorator]
def _record(
    size: int,
    slots: Integers,
    rows: Integers,
    chance: Floats,
    row_local: Codes,
    slot_local: Codes,
    width: int,
    cells: Codes,
    marginals: Floats,
) -> None:
    for k in range(size):
        base = row_local[rows[k]] * width
        for i in range(size):
            marginals[cells[base + slot_local[slots[i]]]] += chance[i, k]
