"""The compiled loops over classes: integer sums, from which every vulnerability is one division away.

Each loop walks the records class by class (`Partition.order`) and adds up, per class, the weight of each value
of the secret; what it does with those sums is the measure. Weights are integers: 1 per record, or the record
weights scaled to integers.
"""

from __future__ import annotations

import numpy as np
from numba import njit
from numpy.typing import NDArray

from glasshouse.table.dictionary import Codes


@njit(cache=True, nogil=True)  # type: ignore[untyped-decorator]
def best_guesses(
    order: NDArray[np.uint32],
    starts: NDArray[np.int64],
    codes: Codes,
    weights: NDArray[np.int64],
    worth: NDArray[np.int64],
    success: NDArray[np.int64],
) -> tuple[int, int, int, int]:
    """Sum over classes what the best single guess of the value earns.

    Args:
        order: The records class by class.
        starts: Where each class begins.
        codes: The secret's value per record.
        weights: The weight per record; empty: 1 each.
        worth: What a right guess of each value earns, not negative.
        success: Takes, per tenth of the chance of a right guess, how many records have it; the last
            entry takes those that are certain.

    Returns:
        Σ max_x weight(x, class); Σ max_x worth(x)·weight(x, class); and of the classes with a single
        value their total weight and their number of records.
    """
    count = np.zeros(worth.size, np.int64)
    total = 0
    total_worth = 0
    certain_weight = 0
    certain_records = 0
    for number in range(starts.size - 1):
        begin, end = starts[number], starts[number + 1]
        first = codes[order[begin]]
        single = True
        weight = 0
        for i in range(begin, end):
            record = order[i]
            code = codes[record]
            single = single and code == first
            own = weights[record] if weights.size else 1
            count[code] += own
            weight += own
        most = 0
        most_worth = 0
        for i in range(begin, end):
            code = codes[order[i]]
            most = max(most, count[code])
            most_worth = max(most_worth, count[code] * worth[code])
            count[code] = 0
        total += most
        total_worth += most_worth
        if single:
            certain_weight += weight
            certain_records += end - begin
        else:
            success[(success.size - 1) * most // weight] += end - begin
    success[-1] += certain_records
    return total, total_worth, certain_weight, certain_records


@njit(cache=True, nogil=True)  # type: ignore[untyped-decorator]
def best_tries(
    order: NDArray[np.uint32],
    starts: NDArray[np.int64],
    codes: Codes,
    weights: NDArray[np.int64],
    cardinality: int,
    tries: int,
) -> int:
    """Sum over classes the weight of the ``tries`` heaviest values: Σ Σ_{i ≤ k} weight(x_(i), class)."""
    count = np.zeros(cardinality, np.int64)
    heaviest = np.zeros(tries, np.int64)  # the smallest first
    total = 0
    for number in range(starts.size - 1):
        begin, end = starts[number], starts[number + 1]
        for i in range(begin, end):
            record = order[i]
            count[codes[record]] += weights[record] if weights.size else 1
        heaviest[:] = 0
        for i in range(begin, end):
            code = codes[order[i]]
            weight = count[code]
            count[code] = 0
            place = 0
            while place < tries and weight > heaviest[place]:
                if place > 0:
                    heaviest[place - 1] = heaviest[place]
                heaviest[place] = weight
                place += 1
        total += heaviest.sum()
    return total


@njit(cache=True, nogil=True)  # type: ignore[untyped-decorator]
def best_actions(
    order: NDArray[np.uint32],
    starts: NDArray[np.int64],
    codes: Codes,
    weights: NDArray[np.int64],
    gains: NDArray[np.int64],
) -> int:
    """Sum over classes what the best action earns: Σ max_w Σ_x gain(w, x)·weight(x, class).

    Args:
        order: The records class by class.
        starts: Where each class begins.
        codes: The secret's value per record.
        weights: The weight per record; empty: 1 each.
        gains: Per value of the secret (row) and action (column), what the action earns.
    """
    values, actions = gains.shape
    count = np.zeros(values, np.int64)
    earned = np.empty(actions, np.int64)
    total = 0
    for number in range(starts.size - 1):
        begin, end = starts[number], starts[number + 1]
        for i in range(begin, end):
            record = order[i]
            count[codes[record]] += weights[record] if weights.size else 1
        earned[:] = 0
        for i in range(begin, end):
            code = codes[order[i]]
            if count[code] != 0:
                for action in range(actions):
                    earned[action] += count[code] * gains[code, action]
                count[code] = 0
        total += earned.max()
    return total


@njit(cache=True, nogil=True)  # type: ignore[untyped-decorator]
def heaviest_records(
    order: NDArray[np.uint32], starts: NDArray[np.int64], weights: NDArray[np.int64]
) -> tuple[int, int]:
    """Return Σ over classes of the heaviest record's weight, and the weight of records alone in theirs."""
    total = 0
    alone = 0
    for number in range(starts.size - 1):
        begin, end = starts[number], starts[number + 1]
        heaviest = weights[order[begin]]
        for i in range(begin + 1, end):
            heaviest = max(heaviest, weights[order[i]])
        total += heaviest
        if end - begin == 1:
            alone += heaviest
    return total, alone


@njit(cache=True, nogil=True)  # type: ignore[untyped-decorator]
def value_weights(codes: Codes, weights: NDArray[np.int64], cardinality: int) -> NDArray[np.int64]:
    """Return the total weight of each value: the prior on the secret, before it is divided."""
    totals = np.zeros(cardinality, np.int64)
    for i in range(codes.size):
        totals[codes[i]] += weights[i] if weights.size else 1
    return totals
