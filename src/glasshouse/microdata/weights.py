"""Record weights as exact integers: the adversary's prior on whose record she is after."""

from __future__ import annotations

import re
from dataclasses import dataclass
from fractions import Fraction
from math import lcm

import numpy as np
from numpy.typing import NDArray

from glasshouse.errors import DataError
from glasshouse.table import EncodedTable

WEIGHT = re.compile(r"\+?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]{1,2})?")
LARGEST_TOTAL = (1 << 63) - 1


@dataclass(frozen=True)
class Weights:
    """How likely each record is to be the target's, up to a common factor."""

    each: NDArray[np.int64]
    """The weight per record; empty: 1 each."""
    total: int
    """The sum over all records."""
    heaviest: int
    """The largest weight."""


def record_weights(table: EncodedTable, name: str | None) -> Weights:
    """Return the weights in a column, scaled to integers; without a column, every record weighs the same.

    Raises:
        DataError: A weight is not a positive number, or the weights have too many digits to be added
            up exactly.
    """
    if name is None:
        return Weights(np.empty(0, np.int64), table.records, 1)
    column = table.column(name)
    exact = [
        _positive(text, table, name, code) for code, text in enumerate(column.values.to_pylist())
    ]
    scale = lcm(*(weight.denominator for weight in exact))
    scaled = [int(weight * scale) for weight in exact]
    if max(scaled) * table.records > LARGEST_TOTAL:
        raise DataError(
            f'{table.name}: the weights in column "{name}" have too many digits to be added up exactly; round them'
        )
    each = np.array(scaled, np.int64)[column.codes]
    return Weights(each, int(each.sum()), max(scaled))


def _positive(text: str, table: EncodedTable, name: str, code: int) -> Fraction:
    if WEIGHT.fullmatch(text.strip()) and (weight := Fraction(text.strip())) > 0:
        return weight
    record = int(np.argmax(table.column(name).codes == code)) + 1
    raise DataError(
        f'{table.name}, record {record}: weight "{text}" in column "{name}" is not a positive number; correct it, '
        "or leave the record out"
    )
