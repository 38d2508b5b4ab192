"""How the values of a column are to be seen: as dates, in bands, by the first characters of a code, or derived.

One small language says it everywhere, in options, in ``study.toml`` and in Python:

==========================  ======================================================================
``dd/mm/yyyy``              dates are written so; they are ISO dates afterwards
``years(birth, 2020-12-31)``  derived: completed years from one date to another, or to that of a column
``year(birth)``             derived: the year of a date; ``month(birth)``: its month; ``week(birth)``: its year and week
``0,1000,5000``             numbers in bands, which begin at these cut points
``quantiles:5``             numbers in bands of about equally many records
``prefix:3``                codes by their first characters
==========================  ======================================================================
"""

from __future__ import annotations

import csv
import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date
from decimal import Decimal
from itertools import pairwise

from glasshouse.conditions import as_bound, listed, taken_apart
from glasshouse.errors import StudyError

_PART = "(yyyy|aaaa|[0-9]{2}yy|[0-9]{2}aa|yy|aa|dd|mm)"
_FORM = re.compile(rf"{_PART}([/. -]?){_PART}\2{_PART}")
_ORDERS = ("dmy", "mdy", "ymd")
_TIME = r"(?:[ T][0-9]{1,2}:[0-9]{2}(?::[0-9]{2}(?:\.[0-9]+)?)?(?:Z|[+-][0-9]{2}:?[0-9]{2})?)?"
_DERIVED = re.compile(r"\s*(years|year|month|week)\s*\((.*)\)\s*", re.DOTALL)


@dataclass(frozen=True)
class DateForm:
    """A way to write dates."""

    written: str
    """As it was given, such as ``dd/mm/yyyy``."""
    pattern: re.Pattern[str]
    """What such a date looks like, with its day ``d``, month ``m`` and year ``y``."""
    century: int
    """What is added to the year: 1900 or 2000 where years have two digits, else 0."""

    def iso(self, written: str) -> str:
        """Return a date as ISO writes it, without the time of day that may follow it.

        Raises:
            ValueError: It is no date of this form.

        >>> date_form("dd/mm/yyyy").iso("29/02/2000"), date_form("mm/dd/19yy").iso("2/9/80")
        ('2000-02-29', '1980-02-09')
        """
        match = self.pattern.fullmatch(written.strip())
        if match is None:
            raise ValueError(written)
        day = date(self.century + int(match["y"]), int(match["m"]), int(match["d"]))
        return day.isoformat()


def date_form(written: str) -> DateForm:
    """Return the way to write dates that a text gives: ``dd``, ``mm`` and ``yyyy``, with one sign between them or none.

    Years of two digits do not tell the century; ``19yy`` and ``20yy`` do. ``aaaa`` is ``yyyy`` in Portuguese.

    Raises:
        StudyError: It gives none, or one that does not tell the century.

    >>> date_form("ddmmaaaa").iso("31122020")
    '2020-12-31'
    """
    match = _FORM.fullmatch(written.strip().lower())
    pieces = [] if match is None else [match[1], match[3], match[4]]
    letters = "".join("y" if part[-1] in "ya" else part[-1] for part in pieces)
    if match is None or letters not in _ORDERS:
        raise StudyError(
            '`date` "{given}" is not a way to write a date; write dd/mm/yyyy, mm/dd/yyyy, yyyy-mm-dd, '
            "ddmmyyyy, yyyymmdd, or the like",
            given=written,
        )
    year = pieces[letters.index("y")]
    if year in ("yy", "aa"):
        raise StudyError(
            '`date` "{given}" does not show the century of a year of two digits; write 19yy or 20yy for it, as '
            "in dd/mm/19yy",
            given=written,
        )
    sign = re.escape(match[2])
    short = "[0-9]{1,2}" if sign else "[0-9]{2}"
    digits = {"d": short, "m": short, "y": "[0-9]{2}" if year[0].isdigit() else "[0-9]{4}"}
    pattern = sign.join(f"(?P<{letter}>{digits[letter]})" for letter in letters)
    century = 100 * int(year[:2]) if year[0].isdigit() else 0
    return DateForm(written, re.compile(pattern + _TIME), century)


ISO = date_form("yyyy-mm-dd")
"""How dates are written once they have been read."""


@dataclass(frozen=True)
class Derivation:
    """A column that is made of others."""

    function: str
    """``years``, ``year``, ``month`` or ``week``."""
    column: str
    """The column of dates that it is made of."""
    at: date | None = None
    """The date that years are counted to; None: that of another column."""
    other: str | None = None
    """The column of dates that years are counted to."""

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns that it is made of."""
        return (self.column,) if self.other is None else (self.column, self.other)


def derivation(written: str, forms: Mapping[str, DateForm] | None = None) -> Derivation:
    """Return the derivation that a text gives.

    Args:
        written: Such as ``years(birth, 2020-12-31)``; a name with a comma stands in quotation marks.
        forms: How dates are written in columns of which that was said: the date may be written as in the first one.

    Raises:
        StudyError: It gives none, or no date to count years to.

    >>> derivation("years(birth, admitted)").columns, derivation("year(birth)").function
    (('birth', 'admitted'), 'year')
    """
    match = _DERIVED.fullmatch(written)
    names = [] if match is None else next(csv.reader([match[2]], skipinitialspace=True), [])
    names = [name.strip() for name in names]
    if match is not None and match[1] == "years" and len(names) == 1 and names[0]:
        raise StudyError(
            '`derive` "{given}" does not say at which date: write years({column}, 2020-12-31), or a column of dates in '
            "the place of 2020-12-31",
            given=written,
            column=names[0],
        )
    if match is None or not all(names) or len(names) != 1 + (match[1] == "years"):
        raise StudyError(
            '`derive` "{given}" is not a derivation; write NAME=years(COLUMN, 2020-12-31), NAME=years(COLUMN, '
            "COLUMN), NAME=year(COLUMN), NAME=month(COLUMN) or NAME=week(COLUMN)",
            given=written,
        )
    column, *rest = names
    if not rest:
        return Derivation(match[1], column)
    at = as_bound(_as_iso(rest[0], (forms or {}).get(column)))
    if isinstance(at, date):
        return Derivation(match[1], column, at=at)
    return Derivation(match[1], column, other=rest[0])


def cut_points(written: str) -> tuple[Decimal, ...]:
    """Return the numbers at which bands begin, rising; none: as many bands as `quantiles` says.

    Raises:
        StudyError: They are no numbers, or do not rise.

    >>> cut_points("0,1000,5000.50"), cut_points("quantiles:5")
    ((Decimal('0'), Decimal('1000'), Decimal('5000.50')), ())
    """
    if quantiles(written):
        return ()
    bounds = [as_bound(cut) for cut in written.split(",")]
    cuts = [bound for bound in bounds if isinstance(bound, Decimal)]
    if len(cuts) < len(bounds) or any(low >= high for low, high in pairwise(cuts)):
        raise StudyError(
            '`bands` "{given}" are not bands; write the numbers at which they begin, rising, such as '
            "0,1000,5000, or quantiles:5 for 5 bands of about equally many records",
            given=written,
        )
    return tuple(cuts)


def quantiles(written: str) -> int:
    """Return into how many bands of about equally many records numbers are put; 0: the text gives cut points.

    >>> quantiles("quantiles:5"), quantiles("0,1000")
    (5, 0)
    """
    match = re.fullmatch(r"\s*quantiles:\s*([0-9]{1,4})\s*", written)
    return int(match[1]) if match and int(match[1]) > 1 else 0


def prefix(written: str) -> int:
    """Return how many characters of a code are kept.

    Raises:
        StudyError: It says something else.

    >>> prefix("prefix:3")
    3
    """
    match = re.fullmatch(r"\s*prefix:\s*([0-9]{1,4})\s*", written)
    if match is None or int(match[1]) == 0:
        raise StudyError(
            '`group` "{given}" is not a way to group codes; write prefix:3 for their first 3 characters',
            given=written,
        )
    return int(match[1])


def with_iso_dates(written: str, forms: Mapping[str, DateForm]) -> str:
    """Return a condition with the dates in it as ISO writes them, where its column is one of dates.

    Args:
        written: In the language of `glasshouse.conditions`.
        forms: How dates are written, by column; a condition may write them so, or as ISO does.

    >>> with_iso_dates("birth=01/03/1980..31/03/1980", {"birth": date_form("dd/mm/yyyy")})
    'birth=1980-03-01..1980-03-31'
    """
    column, sign, rest = taken_apart(written)
    form = forms.get(column) or forms.get(column.rpartition("@")[0])
    if form is None:
        return written
    if sign in ("=", "!="):
        low, dots, high = rest.partition("..")
        if not dots or '"' in rest:
            values = [_as_iso(value, form) for value in listed(rest, written)]
            return f"{column}{sign}{','.join(map(_quoted, values))}"
        return f"{column}{sign}{_as_iso(low, form)}..{_as_iso(high, form)}"
    return f"{column}{sign}{_as_iso(rest, form)}"


def _quoted(value: str) -> str:
    plain = value == value.strip() and not set(value) & set(',"')
    return value if plain else '"{}"'.format(value.replace('"', '""'))


def _as_iso(written: str, form: DateForm | None) -> str:
    """Return a date as ISO writes it; what is no date of the form, or ISO already, stays."""
    if form is None or isinstance(as_bound(written), date):
        return written.strip()
    try:
        return form.iso(written)
    except ValueError:
        return written
