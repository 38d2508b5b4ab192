"""Exact decimals: numbers as they were published, and as scaled integers."""

from __future__ import annotations

from collections.abc import Sequence
from decimal import Decimal, InvalidOperation
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from glasshouse.errors import DataError
from glasshouse.language import text

Number = int | float | str | Decimal | Fraction
"""What a caller may give for a number; a float stands for the decimal that it is written as."""

MOST_DECIMALS = 12
"""Numbers with more decimals than this are taken for results of a division, not for published ones."""
_EXACT_FLOAT = float(2**53)


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
            text("{what}: a value is missing; give a number, or leave the record out", what=what)
        )
    raise DataError(
        text(
            "{what}: a value is {value}, which is no number; give a number, or leave the record out",
            what=what,
            value=repr(value),
        )
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
        text(
            "a number has more than {most} decimals; say how many to keep and round it first",
            most=MOST_DECIMALS,
        )
    )


def scaled(values: Sequence[Fraction], decimals: int, what: str) -> list[int]:
    """Return numbers as integers of the last decimal place.

    Raises:
        DataError: A value has more decimals than that.

    >>> scaled([Fraction(3, 2)], 2, "price")
    [150]
    """
    if not 0 <= decimals <= MOST_DECIMALS:
        raise DataError(_too_long(decimals, what))
    shifted = [value * 10**decimals for value in values]
    for value, original in zip(shifted, values, strict=True):
        if value.denominator != 1:
            raise DataError(
                text(
                    "{what}: {value} has more than {decimals} decimals",
                    what=what,
                    value=repr(float(original)),
                    decimals=decimals,
                )
            )
    return [int(value) for value in shifted]


def scaled_array(values: NDArray[np.float64], decimals: int, what: str) -> NDArray[np.int64]:
    """Return a column of floats as integers of the last decimal place; exact, for millions of values at once.

    A float is the number with so many decimals that is nearest to it, or refused: of all those numbers below 2⁵³ units
    no two are written as the same float.

    Raises:
        DataError: A value is missing, has more decimals than that, or is too large for a float to tell its decimals.

    >>> scaled_array(np.array([0.1, 1234.56]), 2, "price").tolist()
    [10, 123456]
    """
    if not 0 <= decimals <= MOST_DECIMALS:
        raise DataError(_too_long(decimals, what))
    if not np.isfinite(values).all():
        raise DataError(
            text(
                "{what}: {missing} values are missing",
                what=what,
                missing=int((~np.isfinite(values)).sum()),
            )
        )
    power = 10.0**decimals
    units = np.rint(values * power)
    if (np.abs(units) >= _EXACT_FLOAT).any():
        raise DataError(
            text(
                "{what}: values are too large for floats with {decimals} decimals",
                what=what,
                decimals=decimals,
            )
        )
    wrong = units / power != values
    if wrong.any():
        example = float(values[wrong][0])
        raise DataError(
            text(
                "{what}: {wrong} values have more than {decimals} decimals, such as {example}",
                what=what,
                wrong=int(wrong.sum()),
                decimals=decimals,
                example=repr(example),
            )
        )
    return units.astype(np.int64)


def _too_long(decimals: int, what: str) -> str:
    return text(
        "{what}: keep from 0 to {most} decimals, not {decimals}",
        what=what,
        most=MOST_DECIMALS,
        decimals=str(decimals),
    )
