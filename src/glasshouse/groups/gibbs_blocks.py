"""The exact draw of a vertical group whose sensitive values repeat (see `glasshouse.groups.gibbs_vertical`).

The slots of one value form a block, which takes a number of copies of each distinct row: a *taking* u with Σ u_k = m,
the size of the block. Rows in one block make each other more probable, so a taking weighs

> m! / Π_k u_k! · Π_attributes Π_v (β_v + n[v, s]) (β_v + n[v, s] + 1) … as often as its rows have v,

the number of orders in which the slots can hold it times the ratio of gamma functions. A state is the vector of copies
used by the blocks before; the programme runs over states, block by block.
"""

from __future__ import annotations

from math import lgamma

import numpy as np
from numba import njit
from numpy.typing import NDArray

from glasshouse.groups.chains import Floats, Integers, Words, uniform

MOST_STATES = 1 << 12
MOST_STEPS = 1 << 15
"""A group is drawn as a whole if its programme has at most so many states and steps."""
MOST_DISTINCT = 12
"""With so many states there are at most so many distinct rows: each at least doubles the states."""

Codes = NDArray[np.int32]


def blocks_scratch(needed: bool) -> tuple[NDArray[np.generic], ...]:
    """Return the arrays in which `draw_blocks` works: tiny ones if it is never called."""
    states, steps = (MOST_STATES, MOST_STEPS) if needed else (1, 1)
    return (
        np.empty(states),
        np.empty(states),
        np.empty(states, np.int64),
        np.empty((steps, MOST_DISTINCT), np.int64),
        np.empty(steps),
        np.empty(steps, np.int64),
    )


@njit(cache=True, nogil=True)  # type: ignore[untyped-decorator]
def programme_fits(rows: Codes, slots: Codes) -> bool:
    """Tell whether the programme of a group stays within the limits.

    Args:
        rows: Per row, which of the distinct rows of the group it is, ascending.
        slots: Per slot, which of the distinct values of the group it is, ascending.
    """
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
    used, block, steps = 0, 0, 0.0
    for i in range(size):
        block += 1
        if i + 1 == size or slots[i + 1] != slots[i]:
            steps += ways[used] * ways[block]
            used += block
            block = 0
    return steps <= MOST_STEPS


@njit(cache=True, nogil=True)  # type: ignore[untyped-decorator]
def draw_blocks(
    first: int,
    last: int,
    values: Codes,
    sensitive: Codes,
    row_local: Codes,
    slot_local: Codes,
    held: Codes,
    counts: Floats,
    power: float,
    stream: Words,
    recording: bool,
    width: int,
    cells: Codes,
    marginals: Floats,
    after: Floats,
    before: Floats,
    used_of: Integers,
    takings: Integers,
    weights: Floats,
    steps: Integers,
) -> None:
    """Draw which rows the slots of a group hold, given all other groups; add the expected takings to the cells."""
    _leave(first, last, values, sensitive, held, counts)
    blocks = slot_local[last - 1] + 1
    distinct = row_local[last - 1] + 1
    copies = np.zeros(distinct, np.int64)
    leader = np.zeros(distinct, np.int64)
    for row in range(last - 1, first - 1, -1):
        copies[row_local[row]] += 1
        leader[row_local[row]] = row
    stride = np.ones(distinct + 1, np.int64)
    for k in range(distinct):
        stride[k + 1] = stride[k] * (copies[k] + 1)
    states = stride[distinct]
    for state in range(states):
        total = 0
        for k in range(distinct):
            total += state // stride[k] % (copies[k] + 1)
        used_of[state] = total
    taking_starts = np.zeros(blocks + 1, np.int64)
    sizes = np.zeros(blocks, np.int64)
    for slot in range(first, last):
        sizes[slot_local[slot]] += 1
    place = 0
    slot = first
    for block in range(blocks):
        place = _enumerate_takings(
            place, sizes[block], copies, stride, leader, values, sensitive[slot], counts, power,
            takings, weights, steps,
        )  # fmt: skip
        taking_starts[block + 1] = place
        slot += sizes[block]
    _sum_up(
        blocks,
        sizes,
        copies,
        stride,
        states,
        taking_starts,
        used_of,
        takings,
        weights,
        steps,
        after,
    )
    if recording:
        _expect(
            blocks, sizes, copies, stride, states, taking_starts, used_of, takings, weights, steps,
            after, before, width, cells, marginals,
        )  # fmt: skip
    state = 0
    slot = first
    for block in range(blocks):
        remaining = uniform(stream) * after[state]
        chosen = -1
        for taking in range(taking_starts[block], taking_starts[block + 1]):
            if _fits(state, takings[taking], copies, stride):
                share = weights[taking] * after[state + steps[taking]]
                if share > 0.0:
                    chosen = taking
                    remaining -= share
                    if remaining < 0.0:
                        break
        for k in range(distinct):
            begin = leader[k] + state // stride[k] % (copies[k] + 1)
            for row in range(begin, begin + takings[chosen, k]):
                held[slot] = row
                for attribute in range(values.shape[1]):
                    counts[values[row, attribute], sensitive[slot]] += 1.0
                slot += 1
        state += steps[chosen]


@njit(cache=True, nogil=True)  # type: ignore[untyped-decorator]
def _leave(
    first: int, last: int, values: Codes, sensitive: Codes, held: Codes, counts: Floats
) -> None:
    for slot in range(first, last):
        for attribute in range(values.shape[1]):
            counts[values[held[slot], attribute], sensitive[slot]] -= 1.0


@njit(cache=True, nogil=True)  # type: ignore[untyped-decorator]
def _enumerate_takings(
    place: int,
    size: int,
    copies: Integers,
    stride: Integers,
    leader: Integers,
    values: Codes,
    secret: int,
    counts: Floats,
    power: float,
    takings: Integers,
    weights: Floats,
    steps: Integers,
) -> int:
    """Write down all takings of a block from `place` on, and their weights, the largest 1; return where they end."""
    distinct = len(copies)
    begin = place
    taking = np.zeros(distinct, np.int64)
    largest = -np.inf
    taken = 0
    while True:
        if taken == size:
            step, orders = 0, 0.0
            for k in range(distinct):
                takings[place, k] = taking[k]
                step += taking[k] * stride[k]
                orders -= lgamma(taking[k] + 1.0)
            steps[place] = step
            weights[place] = orders + power * _log_rising(taking, leader, values, secret, counts)
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
    return place


@njit(cache=True, nogil=True)  # type: ignore[untyped-decorator]
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


@njit(cache=True, nogil=True, inline="always")  # type: ignore[untyped-decorator]
def _fits(state: int, taking: Integers, copies: Integers, stride: Integers) -> bool:
    fits = True
    for k in range(len(copies)):
        fits = fits and state // stride[k] % (copies[k] + 1) + taking[k] <= copies[k]
    return fits


@njit(cache=True, nogil=True)  # type: ignore[untyped-decorator]
def _sum_up(
    blocks: int,
    sizes: Integers,
    copies: Integers,
    stride: Integers,
    states: int,
    taking_starts: Integers,
    used_of: Integers,
    takings: Integers,
    weights: Floats,
    steps: Integers,
    after: Floats,
) -> None:
    """Sum the weights of all ways in which the blocks from a state on can take what is left."""
    after[states - 1] = 1.0
    used = sizes.sum()
    for block in range(blocks - 1, -1, -1):
        used -= sizes[block]
        for state in range(states):
            if used_of[state] == used:
                total = 0.0
                for taking in range(taking_starts[block], taking_starts[block + 1]):
                    if _fits(state, takings[taking], copies, stride):
                        total += weights[taking] * after[state + steps[taking]]
                after[state] = total


@njit(cache=True, nogil=True)  # type: ignore[untyped-decorator]
def _expect(
    blocks: int,
    sizes: Integers,
    copies: Integers,
    stride: Integers,
    states: int,
    taking_starts: Integers,
    used_of: Integers,
    takings: Integers,
    weights: Floats,
    steps: Integers,
    after: Floats,
    before: Floats,
    width: int,
    cells: Codes,
    marginals: Floats,
) -> None:
    """Add to each cell the expected number of copies of its row that the slots of its value hold."""
    before[:states] = 0.0
    before[0] = 1.0 / after[0]
    used = 0
    for block in range(blocks):
        for state in range(states):
            if used_of[state] == used and before[state] > 0.0:
                for taking in range(taking_starts[block], taking_starts[block + 1]):
                    if _fits(state, takings[taking], copies, stride):
                        step = before[state] * weights[taking]
                        before[state + steps[taking]] += step
                        share = step * after[state + steps[taking]]
                        for k in range(len(copies)):
                            if takings[taking, k]:
                                marginals[cells[k * width + block]] += share * takings[taking, k]
        used += sizes[block]
