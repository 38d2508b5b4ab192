"""What is known of a person, or asked of a record: a value, some values, or an interval of one column.

One small language says it everywhere, in options and in ``study.toml``:

=================  =================================================================
``age=34``         exactly this value
``state=SP,RJ``    one of these; a value with a comma, or with blanks around it, is quoted
``state=``         missing
``age=18..65``     between the two, both included
``age=65..``       this or more
``state!=SP,RJ``   none of these
``age>=65``        this or more; ``<=``, ``>`` and ``<`` likewise, of numbers and of dates
=================  =================================================================

Where people have several records, what is known of one of them stands in one text, with a comma between facts:
``place=A,day=3`` is a record there and then, ``place=A,B`` one at either place.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import date
from decimal import Decimal

from glasshouse.errors import StudyError
from glasshouse.language import marked, translated

Bound = Decimal | date
"""The end of an interval: a number or a date."""

LEFT_OUT = "…"
"""What stands for values in a report."""
_DATE = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}")
_NUMBER = re.compile(r"[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]{1,3})?")
_COMPARED = re.compile(r"([^=<>!]+?)\s*(>=|<=|>|<)\s*([^=<>]*[^=<>\s])\s*")
"""A column, how it is compared, and with what: a name or a value with such a sign in it is no comparison."""
_LISTED = re.compile(r'\s*(?:"((?:[^"]|"")*)"|((?!")[^,]*?))\s*(,|\Z)')
"""A value of a list, in quotation marks or plain, and what ends it."""
_FACT = re.compile(r'\s*[^\s=<>!",][^=<>!",]*(?:[!<>]?=|[<>])')
"""A column and the sign after it, as a further fact of a record begins."""


@dataclass(frozen=True)
class Condition:
    """What the value of one column is, or is not."""

    column: str
    """The name of the column, as it was given."""
    values: tuple[str, ...] = ()
    """The values that it may have, where it is not an interval."""
    low: Bound | None = None
    """The least value of an interval; None: it has no lower end."""
    high: Bound | None = None
    """The greatest value of an interval; None: it has no upper end."""
    negated: bool = False
    """Whether it is a value other than these."""
    exclusive: bool = False
    """Whether the ends of the interval are no part of it."""

    def __post_init__(self) -> None:
        if bool(self.values) == (self.low is not None or self.high is not None):
            raise StudyError(
                'the condition on "{column}" needs either values or the ends of an interval',
                column=self.column,
            )

    @property
    def is_interval(self) -> bool:
        """Whether it says an interval rather than values."""
        return not self.values

    def holds(self, value: str) -> bool:
        """Tell whether a value meets the condition; what is no number or date is in no interval.

        >>> parse_condition("age=18..65").holds("40"), parse_condition("age!=18").holds("18")
        (True, False)
        """
        return self._is_met(value) != self.negated

    def _is_met(self, value: str) -> bool:
        if not self.is_interval:
            return value in self.values
        bound = as_bound(value)
        if self.exclusive and bound in (self.low, self.high):
            return False
        return (
            bound is not None
            and (self.low is None or _reaches(bound, self.low))
            and (self.high is None or _reaches(self.high, bound))
        )


def parse_condition(written: str, *, option: str = marked("the condition")) -> Condition:
    """Return the condition that a text says.

    Args:
        written: In the language of this module.
        option: Where it was given, for messages.

    Raises:
        StudyError: It is not of the form.

    >>> parse_condition("state!=SP,RJ").values, parse_condition("age=65..").low
    (('SP', 'RJ'), Decimal('65'))
    """
    name, sign, value_list = taken_apart(written, option=option)
    negated = sign == "!="
    if value_list == LEFT_OUT:
        raise StudyError(
            '{option} "{written}": a report left out the values that belong there; write them instead of {sign}',
            option=translated(option),
            written=written,
            sign=LEFT_OUT,
        )
    if sign not in ("=", "!="):
        bound = as_bound(value_list)
        if bound is None:
            raise StudyError(
                '{option} "{written}": what is above or below something is a number, or a date such as 2000-12-31',
                option=translated(option),
                written=written,
            )
        low_end, high_end = (bound, None) if sign.startswith(">") else (None, bound)
        return Condition(name, low=low_end, high=high_end, exclusive=len(sign) == 1)
    low, dots, high = value_list.partition("..")
    if dots and (low or high) and '"' not in value_list:
        bounds = _bounds(low.strip(), high.strip())
        if bounds is None:
            raise StudyError(
                '{option} "{written}": an interval lies between two numbers or two dates such as 2000-12-31, '
                "low..high",
                option=translated(option),
                written=written,
            )
        return Condition(name, low=bounds[0], high=bounds[1], negated=negated)
    values = tuple(listed(value_list, written, option=option))
    return Condition(name, values=values, negated=negated)


def taken_apart(written: str, *, option: str = marked("the condition")) -> tuple[str, str, str]:
    """Return the column of a condition, the sign after it, and what follows that.

    Raises:
        StudyError: It has no sign, or no column.

    >>> taken_apart("age >= 65"), taken_apart("income>50K=yes")
    (('age', '>=', '65'), ('income>50K', '=', 'yes'))
    """
    if match := _COMPARED.fullmatch(written):
        return match[1], match[2], match[3]
    name, equals, rest = written.partition("=")
    sign = "!=" if name.endswith("!") else "="
    name = name.removesuffix("!")
    if not equals or not name:
        raise StudyError(
            '{option} "{written}" is not of the form COLUMN=VALUE, COLUMN=VALUE,VALUE, COLUMN=LOW..HIGH, or with '
            "!= for none of them",
            option=translated(option),
            written=written,
        )
    return name, sign, rest


def facts_of(record: str) -> tuple[str, ...]:
    """Return the conditions on one record that a text says, with commas between.

    What follows a comma is a further fact if it begins with a column and a sign, and else a further value of the last
    one; a value of that form is quoted.

    >>> facts_of("place=A,B,day>=3"), facts_of('place="A,day=3"')
    (('place=A,B', 'day>=3'), ('place="A,day=3"',))
    """
    facts, begin, sign = [], 0, re.search("[=<>]+", record)
    place = sign.end() if sign else len(record)
    while (value := _LISTED.match(record, place)) and value[3]:
        place = value.end()
        if fact := _FACT.match(record, place):
            facts.append(record[begin : value.start(3)].strip())
            begin, place = place, fact.end()
    return (*facts, record[begin:].strip())


def without_values(conditions: Iterable[str]) -> tuple[str, ...]:
    """Return conditions without the values that they name, for a report that leaves the house.

    What is returned is no condition any more: `parse_condition` refuses it.

    >>> without_values(["age=18..65", "state!=SP"])
    ('age=…', 'state!=…')
    """
    parts = map(taken_apart, conditions)
    return tuple(f"{name}{sign}{LEFT_OUT}" for name, sign, _ in parts)


def as_bound(value: str) -> Bound | None:
    """Return a text as a number or an ISO date, or None where it is neither.

    >>> as_bound("1.50"), as_bound("2000-02-29"), as_bound("SP")
    (Decimal('1.50'), datetime.date(2000, 2, 29), None)
    """
    plain = value.strip()
    if _DATE.fullmatch(plain):
        try:
            return date.fromisoformat(plain)
        except ValueError:
            return None
    return Decimal(plain) if is_number(plain) else None


def is_number(written: str) -> bool:
    """Tell whether a text without blanks around it is a number."""
    return _NUMBER.fullmatch(written) is not None


def _bounds(low: str, high: str) -> tuple[Bound | None, Bound | None] | None:
    ends = [as_bound(end) if end else None for end in (low, high)]
    if any(literal and end is None for literal, end in zip((low, high), ends, strict=True)):
        return None
    first, last = ends
    if first is not None and last is not None and not _reaches(last, first):
        return None
    return first, last


def _reaches(value: Bound, least: Bound) -> bool:
    """Tell whether a value is at least another; a date and a number never compare."""
    if isinstance(value, date) and isinstance(least, date):
        return value >= least
    return isinstance(value, Decimal) and isinstance(least, Decimal) and value >= least


def listed(value_list: str, written: str, *, option: str = marked("the condition")) -> list[str]:
    """Return the values of a list; one with a comma, or with blanks around it, stands in quotation marks.

    Raises:
        StudyError: A quotation mark is open; ``written`` says where.
    """
    values, more, end = [], True, 0
    while more:
        match = _LISTED.match(value_list, end)
        if match is None:
            raise StudyError(
                '{option} "{written}": a value in quotation marks ends with one, before a comma or the end',
                option=translated(option),
                written=written,
            )
        in_quotes, plain, comma = match.groups()
        values.append(plain if in_quotes is None else in_quotes.replace('""', '"'))
        more, end = bool(comma), match.end()
    return values
