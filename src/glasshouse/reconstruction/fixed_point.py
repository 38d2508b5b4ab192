"""Exact numbers: as they were published, and as integers of the last decimal place.

Single numbers, as a caller gives them, are fractions, and refused with a reason if they are none (`exact`, `scaled`).
Columns of millions of texts are read by a compiled loop, which notes what is wrong with each (`amounts`).
"""

from __future__ import annotations

from collections.abc import Sequence
from decimal import Decimal, InvalidOperation
from fractions import Fraction

import numpy as np
import pyarrow as pa
from numba import njit
from numpy.typing import NDArray

from glasshouse.arrays import Integers
from glasshouse.errors import DataError

Number = int | float | str | Decimal | Fraction
"""What a caller may give for a number; a float stands for the decimal that it is written as."""

MOST_DECIMALS = 12
"""Numbers with more decimals than this are taken for results of a division, not for published ones."""

Faults = NDArray[np.uint8]
FAULTS = (
    "",
    "missing",
    "no number",
    "negative",
    "too many decimals",
    "too large",
    "contradicted",
    "unmapped",
)
"""What can be wrong with a number, by its code; the first is nothing."""
MISSING, NO_NUMBER, NEGATIVE, DECIMALS, LARGE, CONTRADICTED, UNMAPPED = range(1, len(FAULTS))
"""Of these, another row of the same key contradicts a number, and the place of a total may be unknown to a key map."""

_BLANK, _PLUS, _COMMA, _MINUS, _POINT, _ZERO, _NINE = map(ord, " +,-.09")
_LARGEST = 2**62 - 1


def exact(value: Number | None, what: str) -> Fraction:
    """Return a number exactly; a float is the shortest decimal that is written so.

    Raises:
        DataError: It is missing, or no finite number.

    >>> exact(0.1, "price"), exact("2.50", "price")
    (Fraction(1, 10), Fraction(5, 2))
    """
    if isinstance(value, Fraction):
        return value
    try:
        if value is None or isinstance(value, bool):
            raise InvalidOperation
        number = Decimal(repr(value) if isinstance(value, float) else str(value).strip())
        if number.is_finite():
            return Fraction(number)
    except (InvalidOperation, ValueError):
        pass
    if value is None or value == "":
        raise DataError(
            "{what}: a value is missing; give a number, or leave the record out", what=what
        )
    raise DataError(
        "{what}: a value is {value}, which is no number; give a number, or leave the record out",
        what=what,
        value=repr(value),
    )


def decimals_of(values: Sequence[Fraction]) -> int:
    """Return the least number of decimals that all the values can be written with.

    Raises:
        DataError: Some value needs more than `MOST_DECIMALS`.

    >>> decimals_of([Fraction(3, 2), Fraction(1, 4)])
    2
    """
    for places in range(MOST_DECIMALS + 1):
        if all((value * 10**places).denominator == 1 for value in values):
            return places
    raise DataError(
        "a number has more than {most} decimals; say how many to keep and round it first",
        most=MOST_DECIMALS,
    )


def scaled(values: Sequence[Fraction], decimals: int, what: str) -> list[int]:
    """Return numbers as integers of the last decimal place.

    Raises:
        DataError: A value has more decimals than that.

    >>> scaled([Fraction(3, 2)], 2, "price")
    [150]
    """
    if not 0 <= decimals <= MOST_DECIMALS:
        raise DataError(
            "{what}: keep from 0 to {most} decimals, not {decimals}",
            what=what,
            most=MOST_DECIMALS,
            decimals=str(decimals),
        )
    shifted = [value * 10**decimals for value in values]
    for value, original in zip(shifted, values, strict=True):
        if value.denominator != 1:
            raise DataError(
                "{what}: {value} has more than {decimals} decimals",
                what=what,
                value=repr(float(original)),
                decimals=decimals,
            )
    return [int(value) for value in shifted]


def amounts(
    texts: pa.StringArray, *, decimals: int, decimal_comma: bool = False
) -> tuple[Integers, Faults]:
    """Return numbers as units of the last decimal place, and a code of `FAULTS` for each; a wrong one counts 0.

    >>> units, faults = amounts(pa.array(["1.5", "2.250", "-1", "", "1.005"]), decimals=2)
    >>> units.tolist(), [FAULTS[code] for code in faults]
    ([150, 225, 0, 0, 0], ['', '', 'negative', 'missing', 'too many decimals'])
    """
    plain = texts.cast(pa.large_string())
    units, faults = np.zeros(len(plain), np.int64), np.zeros(len(plain), np.uint8)
    if len(plain):
        _, offsets, data = plain.buffers()
        ends = np.frombuffer(offsets, np.int64)[plain.offset : plain.offset + len(plain) + 1]
        letters = np.frombuffer(data, np.uint8) if data is not None else np.zeros(1, np.uint8)
        mark = _COMMA if decimal_comma else _POINT
        _read(ends, letters, mark, decimals, units, faults)
    return units, faults


@njit(cache=True, nogil=True)  # type: ignore[untyped-decorator]
def _read(
    ends: Integers,
    letters: NDArray[np.uint8],
    mark: int,
    decimals: int,
    units: Integers,
    faults: Faults,
) -> None:
    for row in range(len(units)):
        begin, end = ends[row], ends[row + 1]
        while begin < end and letters[begin] == _BLANK:
            begin += 1
        while begin < end and letters[end - 1] == _BLANK:
            end -= 1
        if begin == end:
            faults[row] = MISSING
            continue
        negative = letters[begin] == _MINUS
        if negative or letters[begin] == _PLUS:
            begin += 1
        number, places, digits, fault, after = 0, 0, 0, 0, False
        for place in range(begin, end):
            letter = letters[place]
            if letter == mark and not after:
                after = True
                continue
            if letter < _ZERO or letter > _NINE:
                fault = NO_NUMBER
                break
            digits += 1
            digit = letter - _ZERO
            if after and places == decimals:
                if digit and not fault:
                    fault = DECIMALS
                continue
            if number > (_LARGEST - digit) // 10:
                fault = LARGE
                number = 0
            number = number * 10 + digit
            if after:
                places += 1
        if not digits:
            fault = NO_NUMBER
        for _ in range(places, decimals):
            if number > _LARGEST // 10:
                fault = fault if fault else LARGE
                number = 0
            number *= 10
        if negative and number and not fault:
            fault = NEGATIVE
        faults[row] = fault
        units[row] = 0 if fault else number
