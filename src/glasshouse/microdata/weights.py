"""Numbers in columns as exact integers: record weights, the adversary's prior on whose record she is after."""

from __future__ import annotations

import re
from dataclasses import dataclass
from fractions import Fraction
from math import lcm

import numpy as np
from numpy.typing import NDArray

from glasshouse.errors import DataError, printable
from glasshouse.microdata.sums import value_weights
from glasshouse.table import EncodedTable

NUMBER = re.compile(r"\+?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]{1,2})?")
LARGEST_TOTAL = (1 << 63) // 16
"""Sums stay below this, so that ten times a sum is still a 64-bit integer."""


@dataclass(frozen=True)
class Weights:
    """How likely each record is to be the target's, up to a common factor."""

    each: NDArray[np.int64]
    """The weight per record, 0 for one that cannot be the target's; empty: 1 each."""
    total: int
    """The sum over all records."""
    heaviest: int
    """The largest weight."""


def record_weights(table: EncodedTable, name: str | None) -> Weights:
    """Return the weights in a column, scaled to integers; without a column, every record weighs the same.

    Raises:
        DataError: A weight is not a number from 0 on, all are 0, or they have too many digits to be added up exactly.
    """
    if name is None:
        return Weights(np.empty(0, np.int64), table.records, 1)
    each, _ = record_numbers(table, name, "weight")
    weights = Weights(each, int(each.sum()), int(each.max()))
    if weights.total == 0:
        raise DataError(
            f'{table.name}: every weight in column "{name}" is 0; give a positive one to somebody'
        )
    return weights


def record_numbers(table: EncodedTable, name: str, what: str) -> tuple[NDArray[np.int64], int]:
    """Return the numbers in a column, none negative, as integers per record, and the scale that made them so.

    Args:
        table: The release.
        name: The column.
        what: What such a number is to the user, such as a weight.

    Raises:
        DataError: One is not a number from 0 on, or they have too many digits to be added up exactly.
    """
    column = table.column(name)
    texts = column.values.to_pylist()
    exact = [Fraction(0)] * len(texts)
    held = value_weights(column.codes, np.empty(0, np.int64), len(texts))
    for code in np.flatnonzero(held).tolist():
        exact[code] = _number(texts[code], table, name, code, what)
    scale = lcm(*(number.denominator for number in exact))
    scaled = [int(number * scale) for number in exact]
    if max(scaled) * table.records > LARGEST_TOTAL:
        raise DataError(
            f'{table.name}: the {what}s in column "{name}" have too many digits to be added up exactly; round them'
        )
    return np.array(scaled, np.int64)[column.codes], scale


def _number(text: str, table: EncodedTable, name: str, code: int, what: str) -> Fraction:
    if NUMBER.fullmatch(text.strip()):
        return Fraction(text.strip())
    first = int(np.argmax(table.column(name).codes == code))
    record = (first if table.positions is None else int(table.positions[first])) + 1
    raise DataError(
        f'{table.name}, record {record}: {what} "{printable(text)}" in column "{name}" is not a number from 0 on; '
        "correct it, or leave the record out"
    )
