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
mean of their sum over the slots of s, divided by the number of rows r in the table, which is fixed. The derivation is
in ``docs/threat.md``, "By sampling" (*Anatomy*).
"""

from __future__ import annotations

from math import lgamma
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from glasshouse.arrays import Codes, Floats, Integers, Words
from glasshouse.compiled import called, compiled, pasted
from glasshouse.groups.chains import uniform
from glasshouse.groups.labels import ranges, starts_of
from glasshouse.groups.release import Release
from glasshouse.groups.victims import Victims, distinct_rows

MOST_SLOTS = 10
"""Groups of at most so many different sensitive values are drawn over all subsets of their rows."""
_PART = 6
"""Larger groups are drawn in parts of at most so many slots."""
FIXED, SUBSETS, BLOCKS, PARTS = 0, 1, 2, 3
"""How a group is drawn: not at all, over subsets, over blocks of equal values, in parts."""
MOST_STATES = 1 << 12
MOST_STEPS = 1 << 15
"""A group is drawn as a whole if its programme has at most so many states and steps."""
MOST_DISTINCT = 12
"""With so many states there are at most so many distinct rows: each at least doubles the states."""


class VerticalPlan(NamedTuple):
    """A vertical release, laid out for the sampler; nothing in it changes."""

    starts: Integers
    """Where each group starts among the rows, and where the last one ends."""
    values: Codes
    """Per row and attribute, the number of its value, counted through all attributes."""
    sensitive: Codes
    """Per slot, its sensitive value; in ascending order within a group."""
    distinct: Codes
    """Per row, which of the distinct rows of the table it is; in ascending order within a group."""
    order: Integers
    """Per row, its number in the release."""
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


class Desk(NamedTuple):
    """The arrays in which groups are drawn; what they hold does not outlast a group."""

    bits: NDArray[np.int8]
    """Per subset of rows, how many they are."""
    weight: Floats
    """Per slot and row, how well they fit."""
    chance: Floats
    """Per slot and row, the marginal probability that the slot holds the row."""
    after: Floats
    """Per subset of used rows, what the remaining slots can still do."""
    before: Floats
    """Per subset of used rows, how probable it is on the way."""
    slots: Integers
    """The slots that are drawn together."""
    rows: Integers
    """The rows that they hold."""
    dealt: Integers
    """The slots of a group in the order in which they are dealt into parts."""
    states_after: Floats
    """Per state of a group with blocks, what the remaining blocks can still do."""
    states_before: Floats
    """Per state, how probable it is on the way."""
    used_of: Integers
    """Per state, how many rows are used."""
    takings: Integers
    """The takings of all blocks, per distinct row the number of copies."""
    taking_weights: Floats
    """Per taking, its weight."""
    taking_steps: Integers
    """Per taking, by how much it moves the state."""

    @classmethod
    def of(cls, plan: VerticalPlan) -> Desk:
        """Return the arrays for a release; those for blocks are tiny if it needs none."""
        side = max(MOST_SLOTS, _PART)
        needed = bool((plan.way == BLOCKS).any())
        states, steps = (MOST_STATES, MOST_STEPS) if needed else (1, 1)
        return cls(
            bits=np.array([mask.bit_count() for mask in range(1 << side)], np.int8),
            weight=np.empty((side, side)),
            chance=np.empty((side, side)),
            after=np.empty(1 << side),
            before=np.empty(1 << side),
            slots=np.empty(side, np.int64),
            rows=np.empty(side, np.int64),
            dealt=np.empty(int(np.diff(plan.starts).max()), np.int64),
            states_after=np.empty(states),
            states_before=np.empty(states),
            used_of=np.empty(states, np.int64),
            takings=np.empty((steps, MOST_DISTINCT), np.int64),
            taking_weights=np.empty(steps),
            taking_steps=np.empty(steps, np.int64),
        )


class Programme(NamedTuple):
    """How the blocks of a group can take its rows."""

    sizes: Integers
    """Per block, how many slots it has."""
    copies: Integers
    """Per distinct row of the group, how many there are."""
    stride: Integers
    """Per distinct row, by how much one copy moves the state; the last entry is the number of states."""
    leader: Integers
    """Per distinct row, the first row of the table that is equal to it."""
    taking_starts: Integers
    """Per block, where its takings start."""


def vertical_plan(release: Release) -> VerticalPlan:
    """Lay out a vertical release: sort each group, find equal rows and equal values, number the cells."""
    starts, sensitive = release.starts, release.sensitive_codes
    values = release.codes + release.value_starts[:-1]
    prior = np.concatenate([attribute.betas for attribute in release.attributes])
    sensitive_values = len(release.sensitive.values)
    records, attributes = values.shape
    groups = len(starts) - 1
    in_group = release.group_of_row
    number, first = distinct_rows(release.codes, release.attributes)
    by_appearance = np.argsort(np.argsort(first))
    distinct = by_appearance[number].astype(np.int32)
    by_row = np.lexsort((distinct, in_group))
    by_value = np.lexsort((sensitive, in_group))
    distinct, ordered = distinct[by_row], np.ascontiguousarray(sensitive[by_value], np.int32)
    row_local, local_rows = _local_numbers(starts, distinct)
    slot_local, local_values = _local_numbers(starts, ordered)
    # The cells of a group: each of its distinct rows with each of its distinct sensitive values.
    rows = int(distinct.max()) + 1
    value_starts, value_codes, _ = release.sensitive_counts
    row_group, row = np.divmod(np.unique(in_group * rows + distinct), rows)
    lengths = np.diff(value_starts)[row_group]
    secrets = value_codes[ranges(value_starts[row_group], lengths)]
    keys = np.repeat(row, lengths) * sensitive_values + secrets
    cells, cell_of = np.unique(keys, return_inverse=True)
    way = np.empty(groups, np.uint8)
    _choose_ways(starts, row_local, slot_local, local_rows, local_values, way)
    most = np.log10(records + float(prior.max())) * attributes
    least = -np.log10(float(prior.min())) * attributes
    return VerticalPlan(
        starts=starts.astype(np.int64),
        values=np.ascontiguousarray(values[by_row], np.int32),
        sensitive=ordered,
        distinct=distinct,
        order=by_row,
        way=way,
        row_local=row_local,
        slot_local=slot_local,
        local_values=local_values,
        cell_starts=starts_of(local_rows.astype(np.int64) * local_values),
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
        self._desk = Desk.of(plan)

    def start(self) -> None:
        """Deal the rows of each group to its slots at random."""
        _shuffle(self.plan.starts, self.held, self.stream)
        self.recount()

    def recount(self) -> None:
        """Make the counts anew from the rows that are held."""
        self.counts[:] = self.plan.prior[:, None]
        _count(self.plan, self.held, self.counts)

    def sweep(self, marginals: Floats | None = None, *, power: float = 1.0) -> None:
        """Draw every group once, given the others.

        Args:
            marginals: Per cell, where the marginal probabilities are added; none are made without it.
            power: The exponent of the posterior that is sampled: below 1 it is flatter (tempering).
        """
        recording = marginals is not None
        marginals = marginals if marginals is not None else np.zeros(0)
        _sweep(
            self.plan, self.held, self.counts, self.stream, recording, marginals, power, self._desk
        )


class VerticalModel:
    """Anatomy: the marginals are those of pairs of a distinct row and a sensitive value.

    ``support`` are the cells (victim · values + value) that the attacker can hold possible, ascending.
    """

    def __init__(self, release: Release, victims: Victims) -> None:
        self.plan = vertical_plan(release)
        # Equal rows are one: per victim the distinct rows that agree with it, in ascending order, and their cells.
        plan, matching = self.plan, victims.matching
        distinct = np.empty_like(plan.distinct)
        distinct[plan.order] = plan.distinct
        rows = len(plan.cell_ends) - 1
        victim = np.repeat(np.arange(len(victims)), np.diff(matching.starts))
        victim, self._rows = np.divmod(np.unique(victim * rows + distinct[matching.rows]), rows)
        self._row_starts = np.searchsorted(victim, np.arange(len(victims) + 1))
        lengths = np.diff(plan.cell_ends)[self._rows]
        secrets = plan.cell_sensitive[ranges(plan.cell_ends[self._rows], lengths)]
        self.support = np.unique(np.repeat(victim, lengths) * plan.sensitive_values + secrets)

    def chain(self, stream: Words) -> VerticalChain:
        """Return a chain with this random stream."""
        return VerticalChain(self.plan, stream)

    def room(self) -> Floats:
        """Return an array for the marginals of a sweep, all 0."""
        return np.zeros(self.plan.cells)

    def attack(self, marginals: Floats, out: Floats) -> None:
        """Write the attacker's numerators of a sweep (victims × sensitive values)."""
        plan = self.plan
        _gather(self._row_starts, self._rows, plan.cell_ends, plan.cell_sensitive, marginals, out)


@compiled
def _gather(
    row_starts: Integers,
    rows: Integers,
    cell_ends: Integers,
    cell_sensitive: Codes,
    marginals: Floats,
    out: Floats,
) -> None:
    for victim in range(len(row_starts) - 1):
        out[victim] = 0.0
        for place in range(row_starts[victim], row_starts[victim + 1]):
            for cell in range(cell_ends[rows[place]], cell_ends[rows[place] + 1]):
                out[victim, cell_sensitive[cell]] += marginals[cell]


# One sweep.
def _local_numbers(starts: Integers, ordered: Codes) -> tuple[Codes, Codes]:
    """Number the distinct values of each group from 0, given them in order; also tell how many a group has."""
    fresh = np.ones(len(ordered), np.int64)
    fresh[1:] = ordered[1:] != ordered[:-1]
    fresh[starts[:-1]] = 1
    running = np.cumsum(fresh)
    sizes = np.diff(starts)
    local = running - np.repeat(running[starts[:-1]], sizes)
    return local.astype(np.int32), (local[starts[1:] - 1] + 1).astype(np.int32)


@compiled
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


@compiled
def _shuffle(starts: Integers, held: Codes, stream: Words) -> None:
    for group in range(len(starts) - 1):
        for i in range(starts[group + 1] - 1, starts[group], -1):
            j = starts[group] + int(uniform(stream) * (i + 1 - starts[group]))
            held[i], held[j] = held[j], held[i]


@compiled
def _count(plan: VerticalPlan, held: Codes, counts: Floats) -> None:
    for slot in range(len(held)):
        enter(plan.values, held[slot], plan.sensitive[slot], counts, 1.0)


@compiled
def _sweep(
    plan: VerticalPlan,
    held: Codes,
    counts: Floats,
    stream: Words,
    recording: bool,
    marginals: Floats,
    power: float,
    desk: Desk,
) -> None:
    # Arrays are taken out of the tuples before the loops: inside, that would cost as much as the work.
    starts, values, sensitive = plan.starts, plan.values, plan.sensitive
    row_local, slot_local, logarithms = plan.row_local, plan.slot_local, plan.logarithms
    way, local_values, cell_starts, cell_of = (
        plan.way,
        plan.local_values,
        plan.cell_starts,
        plan.cell_of,
    )
    slots, rows, dealt, bits = desk.slots, desk.rows, desk.dealt, desk.bits
    weight, chance, after, before = desk.weight, desk.chance, desk.after, desk.before
    # Between groups `counts` is β plus the rows that `held` gives to each sensitive value, of all groups.
    for group in range(len(starts) - 1):
        first, last = starts[group], starts[group + 1]
        cells = cell_of[cell_starts[group] : cell_starts[group + 1]]
        width = local_values[group]
        # All rows or all values of the group are equal: there is nothing to draw, and the marginals are certain.
        if way[group] == FIXED:
            if recording:
                for slot in range(first, last):
                    marginals[cells[row_local[held[slot]] * width + slot_local[slot]]] += 1.0
        elif way[group] == BLOCKS:
            draw_blocks(
                first, last, plan, held, counts, stream, recording, marginals, power, desk, width,
                cells,
            )  # fmt: skip
        else:
            # All slots at once, or dealt into parts with different values; after the parts one random pair of slots.
            whole = way[group] == SUBSETS
            hands = 1 if whole else _deal(first, last, sensitive, dealt, stream)
            for hand in range(1 if whole else hands + 1):
                size = 0
                if whole:
                    for slot in range(first, last):
                        slots[size] = slot
                        size += 1
                elif hand < hands:
                    for place in range(hand, last - first, hands):
                        slots[size] = dealt[place]
                        size += 1
                else:
                    slots[0] = first + int(uniform(stream) * (last - first))
                    slots[1] = first + int(uniform(stream) * (last - first))
                    size = 2
                    if sensitive[slots[0]] == sensitive[slots[1]]:
                        continue
                # Each slot is in one part, and the pair is not recorded: every slot adds 1 to the marginals.
                recorded = recording and hand < hands
                draw_subset(
                    size, slots, rows, values, sensitive, logarithms, held, counts, recorded, power,
                    stream, bits, weight, chance, after, before,
                )  # fmt: skip
                if recorded:
                    for k in range(size):
                        base = row_local[rows[k]] * width
                        for i in range(size):
                            marginals[cells[base + slot_local[slots[i]]]] += chance[i, k]


@compiled
def _deal(first: int, last: int, sensitive: Codes, dealt: Integers, stream: Words) -> int:
    """Put the slots of a group in such an order that every m-th makes a part with different values; return m.

    Runs of equal values are put one after the other, in random order and each shuffled; what is dealt round has no
    value twice if no run is longer than the number of parts.
    """
    size = last - first
    # The runs of equal values: how many there are, how long the longest is, where each begins and ends.
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
    # One run after the other, chosen at random among those that are left, is shuffled into its place (Fisher-Yates).
    place = 0
    for remaining in range(runs, 0, -1):
        chosen = int(uniform(stream) * remaining)
        base = place
        for slot in range(begin[chosen], end[chosen]):
            at = base + int(uniform(stream) * (place + 1 - base))
            dealt[place] = dealt[at]
            dealt[at] = slot
            place += 1
        begin[chosen], end[chosen] = begin[remaining - 1], end[remaining - 1]
    return max(longest, (size + _PART - 1) // _PART)


# The exact draw of slots with different values. Over the subsets of used rows, `after` sums what the remaining slots
# can still do, so that after[∅] is the permanent of the weights; slots are then drawn one by one, and `before` gives
# the marginals on the way, in n · 2ⁿ steps. The functions are compiled into their callers: a call with so many arrays
# would cost as much as the work.
@pasted
def draw_subset(
    size: int,
    slots: Integers,
    rows: Integers,
    values: Codes,
    sensitive: Codes,
    logarithms: bool,
    held: Codes,
    counts: Floats,
    recording: bool,
    power: float,
    stream: Words,
    bits: NDArray[np.int8],
    weight: Floats,
    chance: Floats,
    after: Floats,
    before: Floats,
) -> None:
    """Draw which of the rows these slots hold, given everything else; the slots have different values.

    With `recording`, chance[i, k] is the marginal probability that slot i holds rows[k].
    """
    # The slots leave the counts, so that weights are given all other rows.
    for i in range(size):
        rows[i] = held[slots[i]]
        enter(values, rows[i], sensitive[slots[i]], counts, -1.0)
    if size == 1:
        chance[0, 0] = 1.0
        enter(values, rows[0], sensitive[slots[0]], counts, 1.0)
        return
    _weigh(size, slots, rows, values, sensitive, logarithms, counts, power, weight)
    # after[used]: the sum over all ways to give the unused rows to the remaining slots; slot i is next if i are used.
    full = (1 << size) - 1
    after[full] = 1.0
    for used in range(full - 1, -1, -1):
        i = bits[used]
        total = 0.0
        for k in range(size):
            if not used >> k & 1:
                total += weight[i, k] * after[used | 1 << k]
        after[used] = total
    if recording:
        _chances(size, bits, weight, after, before, chance)
    # Slot by slot a row is drawn by its share of `after`, which makes the whole assignment as probable as its product.
    used = 0
    for i in range(size):
        remaining = uniform(stream) * after[used]
        chosen = -1
        for k in range(size):
            if not used >> k & 1:
                share = weight[i, k] * after[used | 1 << k]
                if share > 0.0:
                    chosen = k
                    remaining -= share
                    if remaining < 0.0:
                        break
        used |= 1 << chosen
        held[slots[i]] = rows[chosen]
        enter(values, rows[chosen], sensitive[slots[i]], counts, 1.0)


@pasted
def enter(values: Codes, row: int, secret: int, counts: Floats, by: float) -> None:
    """Count the values of a row with a sensitive value so many times more."""
    for attribute in range(values.shape[1]):
        counts[values[row, attribute], secret] += by


@pasted
def _weigh(
    size: int,
    slots: Integers,
    rows: Integers,
    values: Codes,
    sensitive: Codes,
    logarithms: bool,
    counts: Floats,
    power: float,
    weight: Floats,
) -> None:
    """Weigh each pair of a slot and a row; the largest weight of a slot is 1."""
    attributes = values.shape[1]
    for i in range(size):
        secret = sensitive[slots[i]]
        largest = -np.inf
        for k in range(size):
            row = rows[k]
            if logarithms:
                product = 0.0
                for attribute in range(attributes):
                    product += np.log(counts[values[row, attribute], secret])
            else:
                product = 1.0
                for attribute in range(attributes):
                    product *= counts[values[row, attribute], secret]
            weight[i, k] = product
            if product > largest:
                largest = product
        scale = 1.0 if logarithms else 1.0 / largest
        for k in range(size):
            if logarithms:
                weight[i, k] = np.exp(power * (weight[i, k] - largest))
            elif power == 1.0:
                weight[i, k] *= scale
            else:
                weight[i, k] = (weight[i, k] * scale) ** power


@pasted
def _chances(
    size: int, bits: NDArray[np.int8], weight: Floats, after: Floats, before: Floats, chance: Floats
) -> None:
    """Add up the marginals: what leads to a subset, times the step, times what can still follow."""
    full = (1 << size) - 1
    for i in range(size):
        for k in range(size):
            chance[i, k] = 0.0
    for used in range(full + 1):
        before[used] = 0.0
    before[0] = 1.0 / after[0]
    for used in range(full):
        i = bits[used]
        for k in range(size):
            if not used >> k & 1:
                step = before[used] * weight[i, k]
                before[used | 1 << k] += step
                chance[i, k] += step * after[used | 1 << k]


# The exact draw of a group whose values repeat. The slots of one value form a block, which takes a number of copies of
# each distinct row: a *taking* u with Σ u_k = m, the size of the block. Rows in one block make each other more
# probable, so a taking weighs m! / Π_k u_k! · Π_attributes Π_v (β_v + n[v, s]) (β_v + n[v, s] + 1) … as often as its
# rows have v: the number of orders in which the slots can hold it times the ratio of gamma functions. A state is the
# vector of copies used by the blocks before; the programme runs over states, block by block.
@called
def programme_fits(rows: Codes, slots: Codes) -> bool:
    """Tell whether the programme of a group stays within the limits.

    Args:
        rows: Per row, which of the distinct rows of the group it is, ascending.
        slots: Per slot, which of the distinct values of the group it is, ascending.
    """
    # Per number of rows, in how many ways distinct rows can make it up; states are the vectors of used copies.
    size = len(rows)
    ways = np.zeros(size + 1)
    ways[0] = 1.0
    states, run = 1, 0
    for i in range(size):
        run += 1
        if i + 1 == size or rows[i + 1] != rows[i]:
            states *= run + 1
            if states > MOST_STATES:
                return False
            for total in range(size, 0, -1):
                for taken in range(1, min(run, total) + 1):
                    ways[total] += ways[total - taken]
            run = 0
    # At most so many steps: from each state that blocks before can reach, each taking of the block.
    used, block, steps = 0, 0, 0.0
    for i in range(size):
        block += 1
        if i + 1 == size or slots[i + 1] != slots[i]:
            steps += ways[used] * ways[block]
            used += block
            block = 0
    return steps <= MOST_STEPS


@called
def draw_blocks(
    first: int,
    last: int,
    plan: VerticalPlan,
    held: Codes,
    counts: Floats,
    stream: Words,
    recording: bool,
    marginals: Floats,
    power: float,
    desk: Desk,
    width: int,
    cells: Codes,
) -> None:
    """Draw which rows the slots of a group hold, given all other groups; add the expected takings to the cells."""
    # The group leaves the counts, so that weights are given all other groups.
    for slot in range(first, last):
        enter(plan.values, held[slot], plan.sensitive[slot], counts, -1.0)
    # The blocks and the distinct rows of the group.
    blocks = plan.slot_local[last - 1] + 1
    distinct = plan.row_local[last - 1] + 1
    copies = np.zeros(distinct, np.int64)
    leader = np.zeros(distinct, np.int64)
    for row in range(last - 1, first - 1, -1):
        copies[plan.row_local[row]] += 1
        leader[plan.row_local[row]] = row
    stride = np.ones(distinct + 1, np.int64)
    for k in range(distinct):
        stride[k + 1] = stride[k] * (copies[k] + 1)
    for state in range(stride[distinct]):
        total = 0
        for k in range(distinct):
            total += state // stride[k] % (copies[k] + 1)
        desk.used_of[state] = total
    sizes = np.zeros(blocks, np.int64)
    for slot in range(first, last):
        sizes[plan.slot_local[slot]] += 1
    programme = Programme(sizes, copies, stride, leader, np.zeros(blocks + 1, np.int64))
    # What each block can take, and what that leaves to the others.
    slot = first
    for block in range(blocks):
        _enumerate_takings(block, plan, plan.sensitive[slot], counts, power, programme, desk)
        slot += sizes[block]
    _sum_up(programme, desk)
    if recording:
        _expect(programme, desk, width, cells, marginals)
    # Block after block takes its rows by their share of what is left to do; they enter the counts again.
    state = 0
    slot = first
    for block in range(blocks):
        remaining = uniform(stream) * desk.states_after[state]
        chosen = -1
        for taking in range(programme.taking_starts[block], programme.taking_starts[block + 1]):
            if _fits(state, desk.takings[taking], programme):
                share = (
                    desk.taking_weights[taking]
                    * desk.states_after[state + desk.taking_steps[taking]]
                )
                if share > 0.0:
                    chosen = taking
                    remaining -= share
                    if remaining < 0.0:
                        break
        for k in range(distinct):
            begin = leader[k] + state // stride[k] % (copies[k] + 1)
            for row in range(begin, begin + desk.takings[chosen, k]):
                held[slot] = row
                enter(plan.values, row, plan.sensitive[slot], counts, 1.0)
                slot += 1
        state += desk.taking_steps[chosen]


@called
def _enumerate_takings(
    block: int,
    plan: VerticalPlan,
    secret: int,
    counts: Floats,
    power: float,
    programme: Programme,
    desk: Desk,
) -> None:
    """Write down all takings of a block behind those of the blocks before, and their weights, the largest 1."""
    copies, weights = programme.copies, desk.taking_weights
    distinct, size = len(copies), programme.sizes[block]
    begin = place = programme.taking_starts[block]
    taking = np.zeros(distinct, np.int64)
    largest = -np.inf
    taken = 0
    # Takings are counted up as numbers whose digits are at most `copies`; those with the digit sum `size` are kept.
    while True:
        if taken == size:
            step, orders = 0, 0.0
            for k in range(distinct):
                desk.takings[place, k] = taking[k]
                step += taking[k] * programme.stride[k]
                orders -= lgamma(taking[k] + 1.0)
            desk.taking_steps[place] = step
            rising = _log_rising(taking, programme.leader, plan.values, secret, counts)
            weights[place] = orders + power * rising
            largest = max(largest, weights[place])
            place += 1
        k = 0
        while k < distinct and (taking[k] == copies[k] or taken == size):
            taken -= taking[k]
            taking[k] = 0
            k += 1
        if k == distinct:
            break
        taking[k] += 1
        taken += 1
    for at in range(begin, place):
        weights[at] = np.exp(weights[at] - largest)
    programme.taking_starts[block + 1] = place


@called
def _log_rising(
    taking: Integers, leader: Integers, values: Codes, secret: int, counts: Floats
) -> float:
    """Return how much more probable the table is with these rows: each is entered, and weighed before."""
    total = 0.0
    for k in range(len(taking)):
        for _ in range(taking[k]):
            for attribute in range(values.shape[1]):
                value = values[leader[k], attribute]
                total += np.log(counts[value, secret])
                counts[value, secret] += 1.0
    for k in range(len(taking)):
        for attribute in range(values.shape[1]):
            counts[values[leader[k], attribute], secret] -= taking[k]
    return total


@pasted
def _fits(state: int, taking: Integers, programme: Programme) -> bool:
    copies, stride = programme.copies, programme.stride
    fits = True
    for k in range(len(copies)):
        fits = fits and state // stride[k] % (copies[k] + 1) + taking[k] <= copies[k]
    return fits


@called
def _sum_up(programme: Programme, desk: Desk) -> None:
    """Sum the weights of all ways in which the blocks from a state on can take what is left."""
    after, starts = desk.states_after, programme.taking_starts
    states = programme.stride[-1]
    after[states - 1] = 1.0
    used = programme.sizes.sum()
    for block in range(len(programme.sizes) - 1, -1, -1):
        used -= programme.sizes[block]
        for state in range(states):
            if desk.used_of[state] == used:
                total = 0.0
                for taking in range(starts[block], starts[block + 1]):
                    if _fits(state, desk.takings[taking], programme):
                        reached = state + desk.taking_steps[taking]
                        total += desk.taking_weights[taking] * after[reached]
                after[state] = total


@compiled
def _expect(programme: Programme, desk: Desk, width: int, cells: Codes, marginals: Floats) -> None:
    """Add to each cell the expected number of copies of its row that the slots of its value hold."""
    after, before, starts = desk.states_after, desk.states_before, programme.taking_starts
    states = programme.stride[-1]
    before[:states] = 0.0
    before[0] = 1.0 / after[0]
    used = 0
    for block in range(len(programme.sizes)):
        for state in range(states):
            if desk.used_of[state] == used and before[state] > 0.0:
                for taking in range(starts[block], starts[block + 1]):
                    if _fits(state, desk.takings[taking], programme):
                        step = before[state] * desk.taking_weights[taking]
                        reached = state + desk.taking_steps[taking]
                        before[reached] += step
                        share = step * after[reached]
                        for k in range(len(programme.copies)):
                            copies = desk.takings[taking, k]
                            if copies:
                                marginals[cells[k * width + block]] += share * copies
        used += programme.sizes[block]
