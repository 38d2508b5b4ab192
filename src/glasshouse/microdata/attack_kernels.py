"""The compiled loops over classes: integer sums, from which every vulnerability is one division away.

Each loop walks the records class by class (`Partition.order`) and adds up, per class y, the weight n(x, y) of each
value x of the secret. Weights are integers: 1 per record, or the record weights scaled to integers. The adversary picks
what scores best in the class, and a loop returns the sums of the weights n(x, y) of what she picked: integers, whatever
the scores are.

A score is n(x, y) times a factor of x. Without a prior on the secret factors are integers, and the choice is exact.
With one they are doubles, π(x) / n(x): between two choices that differ by no more than rounding she may then take the
lesser, which lowers the sum by no more than some 10⁻¹⁵ of what was at stake.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit
from numpy.typing import NDArray

from glasshouse.table.dictionary import Codes

Factors = NDArray[Any]
"""What scores are made of: 64-bit integers, or doubles."""

GUESSED, SURE, REVEALED, CONCEALED = range(4)
"""The rows of what `best_guesses` returns."""

ROUNDING = 1e-12
"""Where chances are doubles, one that falls short of a tenth by no more than this is that tenth."""


@njit(cache=True, nogil=True)  # type: ignore[untyped-decorator]
def best_guesses(
    order: NDArray[np.uint32],
    starts: NDArray[np.int64],
    codes: Codes,
    weights: NDArray[np.int64],
    factors: Factors,
    slack: float,
    inverse: NDArray[np.float64],
    success: NDArray[np.int64],
) -> tuple[NDArray[np.int64], int]:
    """Guess the value in every class, and find the values of which it has the greatest and the least part.

    Args:
        order: The records class by class.
        starts: Where each class begins.
        codes: The secret's value per record.
        weights: The weight per record; empty: 1 each.
        factors: Per value, what a unit of its weight scores; where it is 0 the value is impossible.
        slack: By how much a chance may fall short of a tenth, in the type of the factors: 0, or `ROUNDING`.
        inverse: Per value, 1 / n(x); 0 where its records weigh nothing.
        success: Takes, per tenth of the chance of a right guess, how many records have it; the last
            entry takes those that are certain.

    Returns:
        Σ n(x, y) per value x, over the classes y where x is the best guess (`GUESSED`); where it is the only possible
        value (`SURE`); where n(x, y) / n(x) is greatest (`REVEALED`); and where it is least, though no value is missing
        (`CONCEALED`). And the number of records in classes with one possible value.
    """
    picked = np.zeros((4, factors.size), np.int64)
    count = np.zeros(factors.size, np.int64)
    present = np.empty(factors.size, np.int64)
    values = np.count_nonzero(inverse)
    nothing = factors.dtype.type(0)
    certain = 0
    for number in range(starts.size - 1):
        begin, end = starts[number], starts[number + 1]
        if end - begin == 1:  # so are most classes, where the quasi-identifiers tell much
            code = codes[order[begin]]
            own = weights[order[begin]] if weights.size else 1
            picked[REVEALED, code] += own
            if values == 1:
                picked[CONCEALED, code] += own
            if own > 0 and factors[code] > 0:
                picked[GUESSED, code] += own
                picked[SURE, code] += own
                certain += 1
            else:
                success[0] += 1
            continue
        seen = _count_values(order[begin:end], codes, weights, count, present)
        whole, most, possible, guess = nothing, nothing, 0, 0
        greatest, least, revealed, concealed = 0.0, np.inf, 0, 0
        for k in range(seen):
            value = present[k]
            score = count[value] * factors[value]
            whole += score
            if score > 0:
                possible += 1
            if score > most:
                most, guess = score, value
            share = count[value] * inverse[value]
            if share > greatest:
                greatest, revealed = share, value
            if share < least:
                least, concealed = share, value
        picked[REVEALED, revealed] += count[revealed]
        if seen == values:
            picked[CONCEALED, concealed] += count[concealed]
        if possible > 0:
            picked[GUESSED, guess] += count[guess]
        if possible == 0:
            success[0] += end - begin
        elif possible == 1:
            picked[SURE, guess] += count[guess]
            certain += end - begin
        else:
            tenth = int((10 * most + slack * whole) // whole)
            success[min(tenth, success.size - 2)] += end - begin
        count[present[:seen]] = 0
    success[-1] += certain
    return picked, certain


@njit(cache=True, nogil=True)  # type: ignore[untyped-decorator]
def best_values(
    order: NDArray[np.uint32],
    starts: NDArray[np.int64],
    codes: Codes,
    weights: NDArray[np.int64],
    factors: Factors,
    tries: int,
) -> NDArray[np.int64]:
    """Return Σ n(x, y) per value x, over the classes y where x is among the ``tries`` values with the best scores.

    Args:
        order: The records class by class.
        starts: Where each class begins.
        codes: The secret's value per record.
        weights: The weight per record; empty: 1 each.
        factors: Per value, what a unit of its weight scores, not negative.
        tries: How many values she may name.
    """
    picked = np.zeros(factors.size, np.int64)
    count = np.zeros(factors.size, np.int64)
    present = np.empty(factors.size, np.int64)
    best = np.empty(tries, factors.dtype)
    best_place = np.empty(tries, np.int64)
    for number in range(starts.size - 1):
        seen = _count_values(
            order[starts[number] : starts[number + 1]], codes, weights, count, present
        )
        room = min(tries, seen)
        for k in range(room):
            best[k] = count[present[k]] * factors[present[k]]
            best_place[k] = k
        if seen > tries:
            _heap(best, best_place)
        for k in range(room, seen):
            score = count[present[k]] * factors[present[k]]
            if score > best[0]:
                _sink(best, best_place, 0, score, k)
        for k in best_place[:room]:
            picked[present[k]] += count[present[k]]
        count[present[:seen]] = 0
    return picked


@njit(cache=True, nogil=True)  # type: ignore[untyped-decorator]
def best_actions(
    order: NDArray[np.uint32],
    starts: NDArray[np.int64],
    codes: Codes,
    weights: NDArray[np.int64],
    gains: Factors,
) -> NDArray[np.int64]:
    """Return Σ n(x, y) per value x (row) and action w (column), over the classes y where w earns most.

    Args:
        order: The records class by class.
        starts: Where each class begins.
        codes: The secret's value per record.
        weights: The weight per record; empty: 1 each.
        gains: Per value (row) and action (column), what the action earns for a unit of the value's weight.
    """
    values, actions = gains.shape
    picked = np.zeros((values, actions), np.int64)
    count = np.zeros(values, np.int64)
    present = np.empty(values, np.int64)
    earned = np.empty(actions, gains.dtype)
    for number in range(starts.size - 1):
        seen = _count_values(
            order[starts[number] : starts[number + 1]], codes, weights, count, present
        )
        earned[:] = 0
        for k in range(seen):
            value = present[k]
            for action in range(actions):
                earned[action] += count[value] * gains[value, action]
        best = int(earned.argmax())
        for k in range(seen):
            picked[present[k], best] += count[present[k]]
        count[present[:seen]] = 0
    return picked


@njit(cache=True, nogil=True)  # type: ignore[untyped-decorator]
def _count_values(
    records: NDArray[np.uint32],
    codes: Codes,
    weights: NDArray[np.int64],
    count: NDArray[np.int64],
    present: NDArray[np.int64],
) -> int:
    """Add up the weight of each value in a class, list the values that weigh anything, and return their number."""
    seen = 0
    for record in records:
        code = codes[record]
        own = weights[record] if weights.size else 1
        if count[code] == 0 and own > 0:
            present[seen] = code
            seen += 1
        count[code] += own
    return seen


@njit(cache=True, nogil=True)  # type: ignore[untyped-decorator]
def heaviest_records(
    order: NDArray[np.uint32], starts: NDArray[np.int64], weights: NDArray[np.int64], tries: int
) -> int:
    """Return Σ over classes of the weights of the ``tries`` heaviest records."""
    heaviest = np.empty(tries, np.int64)
    heaviest_place = np.empty(tries, np.int64)
    total = 0
    for number in range(starts.size - 1):
        records = order[starts[number] : starts[number + 1]]
        room = min(tries, records.size)
        for k in range(room):
            heaviest[k] = weights[records[k]]
            heaviest_place[k] = k
        if records.size > tries:
            _heap(heaviest, heaviest_place)
        for k in range(room, records.size):
            weight = weights[records[k]]
            if weight > heaviest[0]:
                _sink(heaviest, heaviest_place, 0, weight, k)
        for k in range(room):
            total += heaviest[k]
    return total


@njit(cache=True, nogil=True)  # type: ignore[untyped-decorator]
def _heap(scores: Factors, places: NDArray[np.int64]) -> None:
    """Make a heap of scores and where each was met, the worst on top: of equal scores the one met last."""
    for parent in range(scores.size // 2 - 1, -1, -1):
        _sink(scores, places, parent, scores[parent], places[parent])


@njit(cache=True, nogil=True)  # type: ignore[untyped-decorator]
def _sink(scores: Factors, places: NDArray[np.int64], hole: int, score: Any, place: int) -> None:
    """Put a score in the place of a heap's entry, and let it sink below those that are worse."""
    while True:
        child = 2 * hole + 1
        if child >= scores.size:
            break
        other = child + 1
        if other < scores.size and (
            scores[other] < scores[child]
            or (scores[other] == scores[child] and places[other] > places[child])
        ):
            child = other
        if scores[child] > score or (scores[child] == score and places[child] < place):
            break
        scores[hole] = scores[child]
        places[hole] = places[child]
        hole = child
    scores[hole] = score
    places[hole] = place


@njit(cache=True, nogil=True)  # type: ignore[untyped-decorator]
def lone_records(
    order: NDArray[np.uint32], starts: NDArray[np.int64], weights: NDArray[np.int64]
) -> tuple[int, int]:
    """Return the weight, and the number, of the records that alone in their class weigh anything."""
    total = 0
    lone = 0
    for number in range(starts.size - 1):
        possible = 0
        weight = 0
        for record in order[starts[number] : starts[number + 1]]:
            if weights[record] > 0:
                possible += 1
                weight = weights[record]
        if possible == 1:
            total += weight
            lone += 1
    return total, lone


@njit(cache=True, nogil=True)  # type: ignore[untyped-decorator]
def value_weights(codes: Codes, weights: NDArray[np.int64], cardinality: int) -> NDArray[np.int64]:
    """Return the total weight n(x) of each value: the prior on the secret, before it is divided."""
    totals = np.zeros(cardinality, np.int64)
    for i in range(codes.size):
        totals[codes[i]] += weights[i] if weights.size else 1
    return totals
