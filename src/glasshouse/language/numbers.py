"""Numbers and dates as a language writes them."""

from __future__ import annotations

import datetime
import math
import re
from decimal import Decimal
from fractions import Fraction
from functools import cache

from glasshouse.language.current import LANGUAGES, locale, spoken

MINUS = "\N{MINUS SIGN}"
"""What stands before a negative number that is read; a hyphen would be taken for a dash."""
LEAST = 1e-12
"""A number nearer to 0 is only said to be so: nobody counts that many zeros."""


def number(value: float | Fraction, form: str = ",") -> str:
    """Write a number as the language that is spoken writes it; never as a power of ten.

    Args:
        value: The number.
        form: How many digits and so on, as in a format specification of Python. With ``g`` at least the digits before
            the decimal mark are all told, and grouped.

    >>> number(1234567), number(Fraction(1, 3), ".2f"), number(0.25, "+.1%")
    ('1,234,567', '0.33', '+25.0%')
    >>> number(Fraction(1, 100_000), ".6g"), number(11250.4, ",.4g"), number(1e6, "g"), number(1e-15, "g")
    ('0.00001', '11,250', '1,000,000', '< 0.000000000001')
    >>> number(-15.67, ".1f"), number(-0.001, "+.2f")
    ('−15.7', '0.00')
    """
    plain = float(value) if isinstance(value, Fraction) else value
    if form.endswith("g"):
        return localised(_in_digits(plain, form))
    return localised(_without_idle_sign(format(plain, form)))


def _in_digits(value: float, form: str) -> str:
    """Return a number in the ``g`` form of Python, but without a power of ten."""
    if 0 < abs(value) < LEAST:
        return f"< {LEAST:.12f}" if value > 0 else f"> -{LEAST:.12f}"
    figure = format(value, form if "," in form else re.sub(r"(\.[0-9]+)?g$", r",\g<0>", form))
    if "e" not in figure:
        return figure
    sign = "+" if figure.startswith("+") else ""
    if abs(value) >= 1:
        return format(value, f"{sign},.0f")
    return format(Decimal(figure), f"{sign}f")


def _without_idle_sign(figure: str) -> str:
    """Return a figure without a sign if it is rounded to 0."""
    return figure if any(digit in figure for digit in "123456789") else figure.lstrip("+-")


def exactly(value: float | Fraction) -> str:
    """Write a number with all the digits that tell it from others, or as the ratio that it is.

    >>> exactly(1e-05), exactly(-2.5), exactly(Fraction(-1, 3)), exactly(float("inf"))
    ('0.00001', '−2.5', '−1/3', '∞')
    """
    if isinstance(value, Fraction):
        return str(value).replace("-", MINUS)
    if not math.isfinite(value):
        return str(value).replace("inf", "∞").replace("-", MINUS)
    return localised(format(Decimal(repr(float(value))), "f").removesuffix(".0"))


def localised(figure: str) -> str:
    """Write a number that is already in digits as the language that is spoken writes it.

    >>> localised("1,234.5"), localised("-3")
    ('1,234.5', '−3')
    >>> from glasshouse.language.current import speaking
    >>> with speaking("pt-BR"):
    ...     localised("1,234.5"), number(1234567), number(0.5, ".3f"), number(-1e5, "g")
    ('1.234,5', '1.234.567', '0,500', '−100.000')
    """
    return figure.translate(_marks(spoken()))


def date(day: datetime.date) -> str:
    """Write a date in full.

    >>> date(datetime.date(2026, 3, 1))
    '1 March 2026'
    """
    from babel.dates import format_date  # few outputs have a date

    return format_date(day, "long", locale=locale())


@cache
def _marks(code: str) -> dict[int, str]:
    """Return the marks that a language writes between digits, by Python's."""
    language = LANGUAGES[code]
    return str.maketrans({"-": MINUS, ",": language.group, ".": language.decimal})


def rounded(value: Fraction | float) -> int:
    """Round to the nearest whole number; exact halves go up, so that no risk is told smaller than it is.

    >>> rounded(Fraction(61, 2)), rounded(Fraction(193, 2)), rounded(Fraction(35, 2)), rounded(30.4)
    (31, 97, 18, 30)
    """
    return math.floor(Fraction(value) + Fraction(1, 2))


def decimal(value: Fraction | float, digits: int) -> str:
    """Write a number with so many decimals; exact halves go away from zero.

    >>> decimal(Fraction(1, 8), 2), decimal(Fraction(-1, 8), 2), decimal(Fraction(1, 3), 0), decimal(1234.5, 1)
    ('0.13', '−0.13', '0', '1,234.5')
    """
    above, below = value.as_integer_ratio()
    size = (2 * abs(above) * 10**digits + below) // (2 * below)  # of counts, which is soon done
    whole, rest = divmod(size, 10**digits)
    decimals = f".{rest:0{digits}d}" if digits else ""
    return localised(f"{'-' if value < 0 < size else ''}{whole:,}{decimals}")
