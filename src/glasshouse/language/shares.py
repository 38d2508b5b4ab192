"""Shares as people say them: percentages that are never rounded to nothing or to everything."""

from __future__ import annotations

from fractions import Fraction

from glasshouse.language.catalogue import text
from glasshouse.language.numbers import decimal


def percentage(probability: Fraction, digits: int = 1) -> str:
    """Say a probability as a percentage that is never rounded to nothing or to everything.

    >>> third = Fraction(1, 3)
    >>> percentage(third), percentage(Fraction(1, 10**6)), percentage(Fraction(0)), percentage(third, 2)
    ('33.3%', '< 0.1%', '0%', '33.33%')
    """
    share, whole = probability.numerator, probability.denominator
    if share in (0, whole):
        return _percent("100" if share else "0")
    parts = 10 ** (2 + digits)
    if share * parts < whole:
        return f"< {_percent(decimal(Fraction(100, parts), digits))}"
    if (whole - share) * parts < whole:
        return f"> {_percent(decimal(100 - Fraction(100, parts), digits))}"
    return _percent(decimal(100 * probability, digits))


def _percent(figure: str) -> str:
    return text("{figure}%", figure=figure)
