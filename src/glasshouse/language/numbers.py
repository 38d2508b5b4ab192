"""Numbers and dates as a language writes them."""

from __future__ import annotations

import datetime
from fractions import Fraction
from functools import cache

from glasshouse.language.current import locale


def number(value: float | Fraction, form: str = ",") -> str:
    """Write a number as the language that is spoken writes it.

    Args:
        value: The number.
        form: How many digits and so on, as in a format specification of Python.

    >>> number(1234567), number(Fraction(1, 3), ".2f"), number(0.25, "+.1%")
    ('1,234,567', '0.33', '+25.0%')
    """
    return localised(format(float(value) if isinstance(value, Fraction) else value, form))


def localised(figure: str) -> str:
    """Write a number that is already in digits as the language that is spoken writes it.

    >>> localised("1,234.5")
    '1,234.5'
    >>> from glasshouse.language.current import speaking
    >>> with speaking("pt-BR"):
    ...     localised("1,234.5"), number(1234567), number(0.5, ".3f")
    ('1.234,5', '1.234.567', '0,500')
    """
    return figure.translate(_marks(locale()))


def date(day: datetime.date) -> str:
    """Write a date in full.

    >>> date(datetime.date(2026, 3, 1))
    '1 March 2026'
    """
    from babel.dates import format_date  # few outputs have a date

    return format_date(day, "long", locale=locale())


@cache
def _marks(own: str) -> dict[int, str]:
    """Return what a locale writes between digits instead of Python's marks."""
    if own.startswith("en"):
        return {}
    from babel.numbers import get_decimal_symbol, get_group_symbol

    return str.maketrans({",": get_group_symbol(own), ".": get_decimal_symbol(own)})
