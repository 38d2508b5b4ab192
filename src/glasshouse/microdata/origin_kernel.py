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
FILES = 3
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
_ONCE = np.int64(1)
FEW_VALUES = 16
"""Up to so many values of a secret are all looked at in every class."""
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
    joint: Integers, present: Integers, cells: Any, cell: Integer,
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
        joint: Zeros, as many as a secret has values, for each file.
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
    _add_matches(cells, cell, synthetic, trained_on, held_out, sign)
    for s in range(aims.size):
        secret = secrets[s]
        seen = np.int64(0)
        for i in range(lo, hi):
            file = np.int64((records[i * words + word] >> shift) & mask)
            value = np.int64((records[i * words + secret.word] >> secret.shift) & secret.mask)
            here = FILES * value
            if joint[here] == 0 and joint[here + 1] == 0 and joint[here + 2] == 0:
                present[seen] = value
                seen += 1
            joint[here + file] += counts[i]
        _add_guess(joint, np.int64(0), present, seen, cells, cell, aims[s].column, sign)


@lean_inlined
def _add_guess(
    joint: Integers, base: Integer, present: Integers, seen: Integer,
    cells: Any, cell: Integer, column: Integer, sign: Integer,
) -> None:  # fmt: skip
    """Add what is inferred of a secret in a class with synthetic records and people, or take it back.

    Args:
        joint: From ``base`` on, per value of the secret how many records of each file have it; zeros afterwards.
        base: Where they begin.
        present: The values that occur.
        seen: How many these are.
        cells: The cells.
        cell: The cell.
        column: The first column of the secret.
        sign: 1, or -1 to take it back.
    """
    guess: Integer = np.int64(-1)
    most: Integer = np.int64(0)
    kinds = synthetic = np.int64(0)
    for k in range(seen):
        value = present[k]
        count = joint[base + FILES * value]
        synthetic += count
        kinds += np.int64(count > 0)
        if count > most or (count == most and count > 0 and value < guess):
            guess, most = value, count
    for file in range(1, FILES):
        of_file = column + file - 1
        people = drawn = np.int64(0)
        for k in range(seen):
            here = base + FILES * present[k]
            people += joint[here + file]
            drawn += joint[here + file] * joint[here]
        right = joint[base + FILES * guess + file]
        cells[cell, of_file + ADDED] += sign * (right - joint[base + file])
        if kinds == 1:  # whatever is drawn is the one value
            cells[cell, of_file + DRAWN] += sign * (right << DRAWN_UNIT)
            cells[cell, of_file + SURE] += sign * people
            cells[cell, of_file + SURELY_RIGHT] += sign * right
        elif drawn:
            cells[cell, of_file + DRAWN] += sign * _share(drawn, synthetic)
    for k in range(seen):
        for file in range(FILES):
            joint[base + FILES * present[k] + file] = 0


@lean_inlined
def add_leaves(
    records: Words, words: Integer, counts: NDArray[np.int32], origin: Any, secrets: Any, aims: Any,
    joint: Integers, present: Integers, field: Any, leaves: Any, seen: NDArray[np.int32],
    cells: Any, cell: Integer, lo: Integer, hi: Integer,
) -> None:  # fmt: skip
    """Add the classes by the last attribute of a subset, where they stand.

    The arguments are those of `add_origins`, and where the attribute stands, a leaf for each of its values, and room
    for these; ``joint`` has room for each of them.
    """
    word, shift, mask = field.word, field.shift, field.mask
    values = np.int64(0)
    for i in range(lo, hi):
        value = np.int64((records[i * words + word] >> shift) & mask)
        file = np.int64((records[i * words + origin.word] >> origin.shift) & origin.mask)
        leaf, count = leaves[value], counts[i]
        seen[values] = value
        values += np.int64(leaf.total == 0)
        leaf.total += count
        if file == TRAINED_ON:
            leaf.run += count
        elif file == HOLDOUT:
            leaf.most += count
    mixed = np.int64(0)
    for v in range(values):
        value = seen[v]
        leaf = leaves[value]
        people = np.int64(leaf.run) + np.int64(leaf.most)
        synthetic = np.int64(leaf.total) - people
        is_mixed_leaf = synthetic > 0 and people > 0
        if is_mixed_leaf:
            _add_matches(cells, cell, synthetic, np.int64(leaf.run), np.int64(leaf.most), _ONCE)
            seen[mixed] = value
            mixed += 1
        leaf.total = leaf.run = leaf.most = 0
        leaf.hidden = np.int32(is_mixed_leaf)
    for s in range(aims.size if mixed else np.int64(0)):
        secret = secrets[s]
        for i in range(lo, hi):
            value = np.int64((records[i * words + word] >> shift) & mask)
            if leaves[value].hidden:
                file = np.int64((records[i * words + origin.word] >> origin.shift) & origin.mask)
                hidden = (records[i * words + secret.word] >> secret.shift) & secret.mask
                joint[FILES * (value * secret.size + np.int64(hidden)) + file] += counts[i]
        for v in range(mixed):
            base = FILES * np.int64(seen[v]) * secret.size
            kinds = np.int64(0)
            for kind in range(secret.size):
                here = base + FILES * kind
                if joint[here] or joint[here + 1] or joint[here + 2]:
                    present[kinds] = kind
                    kinds += 1
            _add_guess(joint, base, present, kinds, cells, cell, aims[s].column, _ONCE)


@lean_inlined
def may_stay(field: Any, secrets: Any, aims: Any, joint: Integers) -> Any:
    """Tell whether the classes by an attribute can be counted where they stand: few values of each secret, and room."""
    for s in range(aims.size):
        few = secrets[s].size <= FEW_VALUES
        if not few or FILES * field.size * secrets[s].size > joint.size:
            return False
    return True


@lean_inlined
def _add_matches(
    cells: Any, cell: Integer, synthetic: Integer, trained_on: Integer, held_out: Integer,
    sign: Integer,
) -> None:  # fmt: skip
    """Add the people of a class with synthetic records to a cell, or take them back."""
    cells[cell, MATCHED] += sign * trained_on
    cells[cell, MATCHED + 1] += sign * held_out
    cells[cell, UNIQUE] += sign * np.int64(trained_on == 1)
    cells[cell, UNIQUE + 1] += sign * np.int64(held_out == 1)
    if synthetic == 1:
        cells[cell, SINGLED] += sign * trained_on
        cells[cell, SINGLED + 1] += sign * held_out
        cells[cell, ISOLATED] += sign * np.int64(trained_on == 1)
        cells[cell, ISOLATED + 1] += sign * np.int64(held_out == 1)


@lean_inlined
def _share(part: Integer, whole: Integer) -> Integer:
    """Return a ratio in units, rounded down: by one division where the units of the whole fit."""
    if part >> (62 - DRAWN_UNIT) == 0:
        return np.int64((np.uint64(part) << np.uint64(DRAWN_UNIT)) // np.uint64(whole))
    return ((part // whole) << DRAWN_UNIT) + ((part % whole) << DRAWN_UNIT) // whole
