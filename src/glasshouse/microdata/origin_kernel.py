"""What is added to a cell where records come from three files: a synthetic one, its people, and others like them.

Of a class count only the records of people, and only where a synthetic record is in it: everything else is nothing, in
all subsets below. So classes of one file are settled as soon as they are seen, and pairs and triples by adding what
holds where two are alike, and taking it back where all are. The walk is that of `game_kernel`.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from glasshouse.arrays import Integer, Integers, Words
from glasshouse.compiled import lean_inlined

SYNTHETIC, TRAINED_ON, HOLDOUT = range(3)
"""The codes of where a record comes from."""
MATCHED, SINGLED, ISOLATED, UNIQUE = range(0, 8, 2)
"""Columns of a cell, each of those that the file was made from and then of the holdout: people in classes with a
synthetic record, and with exactly one; those who are alone of their file in the latter, and in the former."""
AIMS = 8
"""From here on, per secret and likewise twice:"""
ADDED, SURE, SURELY_RIGHT, DRAWN = range(0, 8, 2)
"""People whose secret is the guess, less those whose secret is guessed without the class; people in classes whose
synthetic records have one value, and those of them who have it; and Σ of the share of synthetic records with a person's
value."""
PER_AIM = 8
DRAWN_UNIT = 30
"""Of shares so many binary digits are kept: of each class rounded down, so that sums do not depend on their order."""


@lean_inlined
def is_mixed(records: Words, words: Integer, origin: Any, lo: Integer, hi: Integer) -> Any:
    """Tell whether some records are synthetic and others are not."""
    word, field = origin.word, origin.field
    is_synthetic = is_of_people = False
    for i in range(lo, hi):
        if records[i * words + word] & field:
            is_of_people = True
        else:
            is_synthetic = True
        if is_synthetic and is_of_people:
            return True
    return False


@lean_inlined
def add_origins(
    records: Words, words: Integer, counts: NDArray[np.int32], origin: Any, secrets: Any, aims: Any,
    amount: Integers, present: Integers, cells: Any, cell: Integer,
    lo: Integer, hi: Integer, sign: Integer,
) -> None:  # fmt: skip
    """Add a class to a cell, or take it back.

    Args:
        records: Packed records.
        words: The number of words per record.
        counts: How many equal records each stands for.
        origin: Where the code of the file stands.
        secrets: Where secrets stand; value 0 is what is guessed where no synthetic record is alike, and of values that
            are as frequent the lower is guessed.
        aims: Per secret, its first column of a cell.
        amount: Per value, zeros.
        present: Room for the values that occur.
        cells: The cells.
        cell: The cell.
        lo: Where the class begins.
        hi: Where it ends.
        sign: 1, or -1 to take it back.
    """
    word, shift, mask = origin.word, origin.shift, origin.mask
    synthetic = trained_on = held_out = np.int64(0)
    for i in range(lo, hi):
        file = np.int64((records[i * words + word] >> shift) & mask)
        count = np.int64(counts[i])
        if file == SYNTHETIC:
            synthetic += count
        elif file == TRAINED_ON:
            trained_on += count
        else:
            held_out += count
    if synthetic == 0 or trained_on + held_out == 0:
        return
    cells[cell, MATCHED] += sign * trained_on
    cells[cell, MATCHED + 1] += sign * held_out
    cells[cell, UNIQUE] += sign * np.int64(trained_on == 1)
    cells[cell, UNIQUE + 1] += sign * np.int64(held_out == 1)
    if synthetic == 1:
        cells[cell, SINGLED] += sign * trained_on
        cells[cell, SINGLED + 1] += sign * held_out
        cells[cell, ISOLATED] += sign * np.int64(trained_on == 1)
        cells[cell, ISOLATED + 1] += sign * np.int64(held_out == 1)
    for s in range(aims.size):
        secret, column = secrets[s], aims[s].column
        seen = np.int64(0)
        for i in range(lo, hi):
            if (records[i * words + word] >> shift) & mask == SYNTHETIC:
                value = np.int64((records[i * words + secret.word] >> secret.shift) & secret.mask)
                if amount[value] == 0:
                    present[seen] = value
                    seen += 1
                amount[value] += counts[i]
        guess = present[0]
        for k in range(1, seen):
            value = present[k]
            if amount[value] > amount[guess] or (amount[value] == amount[guess] and value < guess):
                guess = value
        drawn_trained_on = drawn_held_out = np.int64(0)
        for i in range(lo, hi):
            file = np.int64((records[i * words + word] >> shift) & mask)
            if file == SYNTHETIC:
                continue
            value = np.int64((records[i * words + secret.word] >> secret.shift) & secret.mask)
            count = np.int64(counts[i])
            of_file = column + file - TRAINED_ON
            right = sign * count * np.int64(value == guess)
            cells[cell, of_file + ADDED] += right - sign * count * np.int64(value == 0)
            if seen == 1:
                cells[cell, of_file + SURE] += sign * count
                cells[cell, of_file + SURELY_RIGHT] += right
            if file == TRAINED_ON:
                drawn_trained_on += count * amount[value]
            else:
                drawn_held_out += count * amount[value]
        cells[cell, column + DRAWN] += sign * _share(drawn_trained_on, synthetic)
        cells[cell, column + DRAWN + 1] += sign * _share(drawn_held_out, synthetic)
        for k in range(seen):
            amount[present[k]] = 0


@lean_inlined
def _share(part: Integer, whole: Integer) -> Integer:
    """Return a ratio in units, rounded down."""
    return ((part // whole) << DRAWN_UNIT) + ((part % whole) << DRAWN_UNIT) // whole
