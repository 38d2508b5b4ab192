"""The compiled loop of special uniques: which rows are alone with a set of attributes, and with no smaller one."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from glasshouse.arrays import Integers, Words
from glasshouse.compiled import compiled, inlined

Keys = NDArray[np.uint64]
"""What rows say, packed into 64-bit words: a row each."""


@inlined
def _mixed(keys: Keys, row: int, bits: Words) -> np.uint64:
    """Return what a row says of some attributes, mixed into one word."""
    mixed = np.uint64(0)
    for word in range(keys.shape[1]):
        mixed = (mixed ^ (keys[row, word] & bits[word])) * np.uint64(0x9E3779B97F4A7C15)
        mixed ^= mixed >> np.uint64(29)
    return mixed


@inlined
def _differ(keys: Keys, row: int, other: int, bits: Words) -> bool:
    """Tell whether two rows differ in some attributes."""
    difference = np.uint64(0)
    for word in range(keys.shape[1]):
        difference |= (keys[row, word] ^ keys[other, word]) & bits[word]
    return bool(difference)


@compiled
def alone_with(
    keys: Keys,
    repeated: NDArray[np.bool_],
    untold: NDArray[np.bool_],
    bits: Words,
    before: Words,
    smaller: Integers,
    owners: NDArray[np.int32],
    after: Words,
    place: int,
) -> Integers:
    """Return the rows that are alone with a set of attributes, and with no part of it; note all that are alone.

    A row that is alone with a part of the set is alone with the set, and makes no other less so: it is passed over.

    Args:
        keys: What the rows say.
        repeated: Per row, whether several records say it, so that it is never alone.
        untold: Per row, whether it does not tell all of the set, and so is passed over, too.
        bits: The bits of the set in the keys.
        before: Per row, the sets of one attribute fewer that it is alone with, a bit each.
        smaller: Which of these are parts of the set.
        owners: Twice as many slots as rows or more, a power of two, to work in; -1 where free.
        after: Takes, per row, that it is alone with the set, in bit `place`.
        place: The number of the set among those of its size.
    """
    rows, room = keys.shape[0], owners.size
    mask = np.uint64(room - 1)
    owners[:] = -1
    shared = np.zeros(rows, np.bool_)
    waiting = np.empty(rows, np.int64)
    count = 0
    mark = np.uint64(1) << np.uint64(place & 63)
    for row in range(rows):
        if untold[row]:
            continue
        known = False
        for part in smaller:
            known |= bool((before[row, part >> 6] >> np.uint64(part & 63)) & np.uint64(1))
        if known:
            after[row, place >> 6] |= mark
            continue
        slot = _mixed(keys, row, bits) & mask
        while owners[slot] >= 0 and _differ(keys, row, owners[slot], bits):
            slot = (slot + np.uint64(1)) & mask
        if owners[slot] >= 0:
            shared[owners[slot]] = True
            continue
        owners[slot] = row
        waiting[count] = row
        count += 1
    alone = 0
    for entry in range(count):
        row = waiting[entry]
        if not shared[row] and not repeated[row]:
            after[row, place >> 6] |= mark
            waiting[alone] = row
            alone += 1
    return waiting[:alone].copy()
