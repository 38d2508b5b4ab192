"""The exact draw of rows for slots with different sensitive values (see `glasshouse.groups.gibbs_vertical`).

Row k fits slot i with weight w[i, k]; an assignment of the rows to the slots is as probable as the product of its
weights. Over the subsets of used rows, `after` sums what the remaining slots can still do, so that after[∅] is the
permanent of w; slots are then drawn one by one, and `before` gives the marginals on the way, in n · 2ⁿ steps.

The functions are compiled into their callers: a call with so many arrays would cost as much as the work.
"""

from __future__ import annotations

import numpy as np
from numba import njit
from numpy.typing import NDArray

from glasshouse.groups.chains import Floats, Integers, Words, uniform

Codes = NDArray[np.int32]


@njit(cache=True, nogil=True, inline="always")  # type: ignore[untyped-decorator]
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
    for i in range(size):
        rows[i] = held[slots[i]]
        enter(values, rows[i], sensitive[slots[i]], counts, -1.0)
    if size == 1:
        chance[0, 0] = 1.0
        enter(values, rows[0], sensitive[slots[0]], counts, 1.0)
        return
    _weigh(size, slots, rows, values, sensitive, logarithms, counts, power, weight)
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


@njit(cache=True, nogil=True, inline="always")  # type: ignore[untyped-decorator]
def enter(values: Codes, row: int, secret: int, counts: Floats, by: float) -> None:
    """Count the values of a row with a sensitive value so many times more."""
    for attribute in range(values.shape[1]):
        counts[values[row, attribute], secret] += by


@njit(cache=True, nogil=True, inline="always")  # type: ignore[untyped-decorator]
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


@njit(cache=True, nogil=True, inline="always")  # type: ignore[untyped-decorator]
def _chances(
    size: int, bits: NDArray[np.int8], weight: Floats, after: Floats, before: Floats, chance: Floats
) -> None:
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
