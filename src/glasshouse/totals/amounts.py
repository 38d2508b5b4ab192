"""Columns of decimal numbers as scaled integers: exact, for millions of rows, with what is wrong with each."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
from numba import njit
from numpy.typing import NDArray

Integers = NDArray[np.int64]
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

_BLANK, _PLUS, _COMMA, _MINUS, _POINT, _ZERO, _NINE = (ord(each) for each in " +,-.09")
_LARGEST = 2**62 - 1


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
