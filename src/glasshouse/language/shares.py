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
    if probability in (0, 1):
        return _percent("0" if probability == 0 else "100")
    least = Fraction(1, 10 ** (2 + digits))
    if probability < least:
        return f"< {_percent(decimal(100 * least, digits))}"
    if probability > 1 - least:
        return f"> {_percent(decimal(100 - 100 * least, digits))}"
    return _percent(decimal(100 * probability, digits))


def _percent(figure: str) -> str:
    return text("{figure}%", figure=figure)
