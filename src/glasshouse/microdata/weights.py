"""Numbers in columns as exact integers: record weights, the adversary's prior on whose record she is after."""

from __future__ import annotations

import re
from dataclasses import dataclass
from fractions import Fraction
from math import lcm
from typing import Any, Literal

import numpy as np
import pyarrow as pa
from numba import njit
from numpy.typing import NDArray

from glasshouse.errors import DataError, printable
from glasshouse.language import marked, text, translated
from glasshouse.microdata.attack_kernels import value_weights
from glasshouse.table import EncodedTable

NUMBER = re.compile(r"\+?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]{1,2})?")
LARGEST_TOTAL = (1 << 63) // 16
"""Sums stay below this, so that ten times a sum is still a 64-bit integer."""

What = Literal["weight", "worth"]
"""What a number in a column is to the user."""
_TOO_LONG: dict[What, str] = {
    "weight": marked(
        '{table}: the weights in column "{name}" have too many digits to be added up exactly; round them'
    ),
    "worth": marked(
        '{table}: the worths in column "{name}" have too many digits to be added up exactly; round them'
    ),
}
_NO_NUMBER: dict[What, str] = {
    "weight": marked(
        '{table}, record {record}: weight "{written}" in column "{name}" is not a number from 0 on; correct it, or '
        "leave the record out"
    ),
    "worth": marked(
        '{table}, record {record}: worth "{written}" in column "{name}" is not a number from 0 on; correct it, or '
        "leave the record out"
    ),
}
_BEFORE_A_DIGIT = ((1 << 63) - 10) // 10
"""An integer up to this has room for one more decimal digit in 64 bits."""
_MOST_DECIMALS = 18
"""10 to this power is a 64-bit integer still."""
_SPACE, _PLUS, _MINUS, _POINT, _ZERO, _NINE, _SMALL_E, _LARGE_E = b" +-.09eE"


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
            text(
                '{table}: every weight in column "{name}" is 0; give a positive one to somebody',
                table=table.name,
                name=name,
            )
        )
    return weights


def record_numbers(table: EncodedTable, name: str, what: What) -> tuple[NDArray[np.int64], int]:
    """Return the numbers in a column, none negative, as integers per record, and the scale that made them so.

    Args:
        table: The release.
        name: The column.
        what: What such a number is to the user.

    Raises:
        DataError: One is not a number from 0 on, or they have too many digits to be added up exactly.
    """
    column = table.column(name)
    held = value_weights(column.codes, np.empty(0, np.int64), column.cardinality) > 0
    digits, places, is_read = _decimals(column.values, held)
    for code in np.flatnonzero(~is_read).tolist():
        _check(column.values[code].as_py(), table, name, code, what)
    scaled, scale = (
        _scaled(digits, places) if is_read.all() else _scaled_fractions(column.values, held)
    )
    if int(scaled.max()) * table.records > LARGEST_TOTAL:
        raise DataError(translated(_TOO_LONG[what], table=table.name, name=name))
    return scaled.astype(np.int64)[column.codes], scale


def _check(written: str, table: EncodedTable, name: str, code: int, what: What) -> None:
    if NUMBER.fullmatch(written.strip()):
        return
    first = int(np.argmax(table.column(name).codes == code))
    record = (first if table.positions is None else int(table.positions[first])) + 1
    raise DataError(
        translated(
            _NO_NUMBER[what],
            table=table.name,
            record=str(record),
            written=printable(written),
            name=name,
        )
    )


def _scaled_fractions(
    texts: pa.LargeStringArray, held: NDArray[np.bool_]
) -> tuple[NDArray[Any], int]:
    """Return numbers times the smallest scale that makes integers of all of them, and that scale."""
    exact = [
        Fraction(written.strip()) if counts else Fraction(0)
        for written, counts in zip(texts.to_pylist(), held.tolist(), strict=True)
    ]
    scale = lcm(*(number.denominator for number in exact))
    return np.array([int(number * scale) for number in exact], object), scale


def _scaled(digits: NDArray[np.int64], places: NDArray[np.int64]) -> tuple[NDArray[Any], int]:
    """Return the same for the numbers digits / 10^places; in integers of any length where 64 bits are too few."""
    most = max(0, int(places.max()))
    integers: NDArray[Any] = digits.copy()
    if most > _MOST_DECIMALS or not _append_zeros(integers, most - places):
        zeros, which = np.unique(most - places, return_inverse=True)
        powers = np.array([10**number for number in zeros.tolist()], object)
        integers = digits.astype(object) * powers[which]
    common = int(np.gcd.reduce(integers, initial=10**most))
    return integers // common, 10**most // common


@njit(cache=True, nogil=True)  # type: ignore[untyped-decorator]
def _append_zeros(digits: NDArray[np.int64], zeros: NDArray[np.int64]) -> bool:
    """Multiply integers by powers of ten in place; return whether 64 bits were enough."""
    for i in range(digits.size):
        if digits[i] > 0:
            for _ in range(zeros[i]):
                if digits[i] > _BEFORE_A_DIGIT:
                    return False
                digits[i] *= 10
    return True


def _decimals(
    texts: pa.LargeStringArray, held: NDArray[np.bool_]
) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.bool_]]:
    """Read numbers as digits / 10^places, those that are not held as 0.

    Returns:
        The digits, the places, and which texts were read: not those that are no number, that have more digits than
        64 bits hold, or that stand between white space other than spaces.
    """
    digits, places = np.zeros(len(texts), np.int64), np.zeros(len(texts), np.int64)
    _, offsets, data = texts.buffers()
    starts = np.frombuffer(offsets, np.int64)[texts.offset :]
    characters = np.frombuffer(data or b"", np.uint8)
    return digits, places, _read_all(characters, starts, held, digits, places)


@njit(cache=True, nogil=True)  # type: ignore[untyped-decorator]
def _read_all(
    characters: NDArray[np.uint8],
    starts: NDArray[np.int64],
    held: NDArray[np.bool_],
    digits: NDArray[np.int64],
    places: NDArray[np.int64],
) -> NDArray[np.bool_]:
    """Fill in the digits and places of the texts that are held; return which texts were read."""
    is_read = np.ones(held.size, np.bool_)
    for i in range(held.size):
        if held[i]:
            text = _stripped(characters[starts[i] : starts[i + 1]])
            digits[i], places[i], is_read[i] = _read(text)
    return is_read


@njit(cache=True, nogil=True)  # type: ignore[untyped-decorator]
def _stripped(text: NDArray[np.uint8]) -> NDArray[np.uint8]:
    begin, end = 0, text.size
    while begin < end and text[begin] == _SPACE:
        begin += 1
    while begin < end and text[end - 1] == _SPACE:
        end -= 1
    return text[begin:end]


@njit(cache=True, nogil=True)  # type: ignore[untyped-decorator]
def _read(text: NDArray[np.uint8]) -> tuple[int, int, bool]:
    """Read what `NUMBER` matches; return its digits without zeros at the end, its places, and whether it was read."""
    number = places = zeros = seen = 0
    is_behind_point = False
    at = 1 if text.size and text[0] == _PLUS else 0
    while at < text.size:
        character = text[at]
        if character == _POINT and not is_behind_point:
            is_behind_point = True
        elif _ZERO <= character <= _NINE:
            seen += 1
            places += is_behind_point
            zeros += 1
            if character != _ZERO:
                for _ in range(zeros):
                    if number > _BEFORE_A_DIGIT:
                        return 0, 0, False
                    number *= 10
                number += int(np.int64(character)) - _ZERO
                zeros = 0
        else:
            break
        at += 1
    exponent, is_exponent = _read_exponent(text[at:])
    if seen == 0 or not is_exponent:
        return 0, 0, False
    return (number, places - zeros - exponent, True) if number else (0, 0, True)


@njit(cache=True, nogil=True)  # type: ignore[untyped-decorator]
def _read_exponent(text: NDArray[np.uint8]) -> tuple[int, bool]:
    """Read an exponent of one or two digits, or nothing, which is 0; return it and whether it is one."""
    if text.size == 0:
        return 0, True
    if text[0] != _SMALL_E and text[0] != _LARGE_E:
        return 0, False
    is_signed = text.size > 1 and (text[1] == _PLUS or text[1] == _MINUS)
    digits = text[2:] if is_signed else text[1:]
    if digits.size < 1 or digits.size > 2:
        return 0, False
    exponent = 0
    for character in digits:
        if character < _ZERO or character > _NINE:
            return 0, False
        exponent = 10 * exponent + int(np.int64(character)) - _ZERO
    return (-exponent if text[1] == _MINUS else exponent), True
