"""Generalised values: which released value stands for a true one.

A protected release may say ``20-29`` where a register says ``25``, ``130**`` where it says ``13053``, or ``*`` where
nothing is told any more. Whoever compares the two has to know which true values a released one stands for.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import date
from decimal import Decimal
from fractions import Fraction
from itertools import accumulate
from math import ceil
from typing import TypeAlias

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from glasshouse.arrays import Flags, Integers
from glasshouse.conditions import Bound, as_bound
from glasshouse.errors import DataError
from glasshouse.language import quoted
from glasshouse.sources import SUPPRESSED as SUPPRESSED
from glasshouse.table.codes import positions
from glasshouse.table.encoded import EncodedTable

Texts: TypeAlias = pa.LargeStringArray | Sequence[str]
"""Distinct values, as a column holds them or as a list."""

_DATE = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}")
_POINT = rf"({_DATE.pattern}|[+-]?(?:[0-9]+(?:\.[0-9]+)?|inf))"
_SEPARATOR = r"\s*(?:,|;|\.\.|-)\s*"
_BRACKETS = re.compile(rf"([\[\](])\s*{_POINT}{_SEPARATOR}{_POINT}\s*([\])\[])")
_DOTTED = re.compile(rf"{_POINT}\s*\.\.\s*{_POINT}")
_HYPHENED = re.compile(rf"{_POINT}\s*-\s*{_POINT}")
_LEADING_ZERO = re.compile(r"[+-]?0[0-9]")
_BOUND = re.compile(rf"(<=|>=|<|>|≤|≥)\s*{_POINT}")
_AND_MORE = re.compile(rf"{_POINT}\s*\+")
_STARS = re.compile(r"([^*]*)(\*+)")
_QUARTER = re.compile(r"([0-9]{4})-Q([1-4])")
_CODE = re.compile(r"([A-Z])([0-9]{2})(\.?[0-9A-Z]{1,4})?")
_CODE_RANGE = re.compile(r"([A-Z][0-9]{2})-([A-Z][0-9]{2})")
_WHOLE_HYPHENED = rf"^\s*({_HYPHENED.pattern}|{_CODE_RANGE.pattern})\s*$"
_GENERALISED = rf"[*\[\](){{}}<>|≤≥]|\+\s*$|\.\.|^\s*{_QUARTER.pattern}\s*$|{_WHOLE_HYPHENED}"
"""What no value is without that stands for others."""

_BELOW, _AT, _ABOVE = -1, 0, 1
"""Just below a point, at it, just above it: so that open and closed ends compare as pairs."""

End = tuple[Decimal, int]
"""One end of an interval: a point (a date by its day's number), and on which side of it the interval ends."""


def covers(released: str, true: str) -> bool:
    """Tell whether a released value stands for a true one.

    It does if the two are equal, or if the released value is

    - ``*``: anything;
    - a code with stars at its end: one star for any rest (``13*``), several for a character each (``130**``);
    - an interval of numbers or of ISO dates: ``[20, 30)``, ``[20-30[``, ``]20;30]``, ``(20, 30]``; ``20-29`` and
      ``20..29`` with both ends; ``<20``, ``<=20``, ``>=90``, ``>90``, ``90+``; the quarter of a year ``2000-Q1``;
    - a range of codes that begin with a letter and two digits, such as a block of ICD-10: ``F30-F39``;
    - a set: ``{A, B}`` or ``A|B``.

    Numbers are compared exactly, by value and not by spelling. Two numbers with a hyphen are a code, such as the postal
    code ``01234-5678``, and no interval, where one of them has a leading zero.

    >>> covers("130**", "13053"), covers("130**", "1305"), covers("[20, 30)", "30"), covers("90+", "104.5")
    (True, False, False, True)
    >>> covers("2000-01-01..2000-12-31", "2000-02-29"), covers("A|B", "B"), covers("A|B", "A|B")
    (True, True, True)
    >>> covers("2000-Q1", "2000-02-29"), covers("F30-F39", "F32.1"), covers("C00-D48", "D50")
    (True, True, False)
    """
    return released in (true, SUPPRESSED) or bool(_Cover.of([released]).beside_star(true))


def standing_for(true: Texts, released: Texts) -> Flags:
    """Tell, for each released value, whether it can stand for one of the true values: equal, covering, or ``*``.

    >>> standing_for(["34"], ["34", "30-39", "40+", "*"]).tolist()
    [True, True, False, True]
    """
    true, released = _as_array(true), _as_array(released)
    marks: Flags = np.array(pc.is_in(released, value_set=true), np.bool_)
    general = generalised_values(released)
    cover = _understood(true, list(general.values()))
    general_positions = np.fromiter(general, np.int64, len(general))
    for written in true.to_pylist():
        marks[general_positions[list(cover.standing_for(written))]] = True
    return marks


def stood_for(true: Texts, released: Texts) -> Flags:
    """Tell, for each true value, whether one of the released values can stand for it: equal, covering, or ``*``.

    >>> stood_for(["19", "25", "30"], ["20-29", "30"]).tolist()
    [False, True, True]
    """
    true, released = _as_array(true), _as_array(released)
    marks: Flags = np.array(pc.is_in(true, value_set=released), np.bool_)
    cover = _understood(true, list(generalised_values(released).values()))
    if cover.is_plain:
        return marks
    rest = np.flatnonzero(~marks & np.asarray(pc.is_valid(true)))
    texts = true.take(pa.array(rest)).to_pylist()
    marks[rest] = [bool(cover.standing_for(written)) for written in texts]
    return marks


def covering(true: Texts, released: Texts) -> Integers:
    """Return, for each true value, the position of the released value that stands for it; −1 where none does.

    A released value that is equal wins over all others, and ``*`` stands for what nothing else covers. Where a true
    value is itself two numbers with a hyphen, all such values of the column are codes that stand for themselves only.

    Raises:
        DataError: Two other released values stand for one true value: its class would be ambiguous.

    >>> covering(["19", "25", "30", "n/a"], ["20-29", "30", "*"]).tolist()
    [2, 0, 1, 2]
    >>> covering(["12345-6789", "20134"], ["12345-6789", "20000-3000", "12345-99999"]).tolist()
    [0, -1]
    """
    true, released = _as_array(true), _as_array(released)
    position = positions(true, released)
    rest = np.flatnonzero(position < 0)
    cover = _understood(true, released.to_pylist() if len(rest) else [])
    if cover.is_plain:
        return position
    position[rest] = [cover.only_one(written) for written in true.take(pa.array(rest)).to_pylist()]
    return position


def covered_values(true: Texts, released: Sequence[str]) -> list[Integers]:
    """Return, for each released value, the positions of the true values that it covers, ascending; ``*`` covers all.

    >>> [covered.tolist() for covered in covered_values(["19", "25", "30"], ["20-39", "<20", "A|B", "*"])]
    [[1, 2], [0], [], [0, 1, 2]]
    """
    cover = _Cover.of(list(released))
    covered: list[list[int]] = [[] for _ in released]
    if not cover.is_plain:
        for position, written in enumerate(_as_array(true).to_pylist()):
            for covering_value in cover.standing_for(written):
                covered[covering_value].append(position)
    return [np.array(codes, np.int64) for codes in covered]


def generalised_values(values: pa.LargeStringArray) -> dict[int, str]:
    """Return, by position, the values that may stand for others; so that the many that cannot are not looked at.

    >>> generalised_values(pa.array(["34", "30-39", "2000-01-31", "*"], pa.large_string()))
    {1: '30-39', 3: '*'}
    """
    general = np.flatnonzero(_matching(values, _GENERALISED))
    return dict(zip(general.tolist(), values.take(pa.array(general)).to_pylist(), strict=True))


def is_suppressed(table: EncodedTable, names: Sequence[str]) -> Flags:
    """Tell, for each record, whether all the named columns hold ``*``.

    >>> from glasshouse.table import read
    >>> is_suppressed(read(pa.table({"age": ["*", "*"], "sex": ["*", "F"]})), ["age", "sex"]).tolist()
    [True, False]
    """
    suppressed = np.full(table.records, bool(names))
    for name in names:
        column = table.column(name)
        code = column.values.index(SUPPRESSED).as_py()
        if code < 0:
            return np.zeros(table.records, np.bool_)
        suppressed &= column.codes == code
    return suppressed


def without_suppressed(table: EncodedTable, names: Iterable[str] = ()) -> EncodedTable:
    """Return a table without the records of which every quasi-identifier is ``*``, beside others of which not.

    Whoever anonymised the release suppressed them: they are in no class. Where all records are so, nothing is
    suppressed: their values are generalised as far as can be, and they are one class.

    Args:
        table: The release.
        names: What an adversary knows besides the table's quasi-identifiers.

    >>> from glasshouse.table import read
    >>> without_suppressed(read(pa.table({"age": ["2*", "2*", "*"]}), quasi_identifiers=["age"])).records
    2
    """
    known = dict.fromkeys((*table.quasi_identifiers, *names))
    columns = [column.name for name in known for column in table.columns_of(name)]
    hidden = is_suppressed(table, columns)
    return table.of_records(~hidden) if hidden.any() and not hidden.all() else table


def without(table: EncodedTable, suppressed: Flags | None) -> EncodedTable:
    """Return a table without its suppressed records; None: none is."""
    return table if suppressed is None or not suppressed.any() else table.of_records(~suppressed)


@dataclass(frozen=True)
class Interval:
    """All numbers, all days, or all codes of a classification, between two ends."""

    low: End
    """Where it begins."""
    high: End
    """Where it ends."""
    of_dates: bool
    """Whether its points are days rather than numbers."""
    of_codes: bool = False
    """Whether its points are codes rather than numbers."""

    @classmethod
    def closed(cls, low: Decimal, high: Decimal, *, of_dates: bool = False) -> Interval:
        """Return the interval from one point to another, both included."""
        return cls((low, _AT), (high, _AT), of_dates)

    @classmethod
    def open(cls, low: Decimal, high: Decimal, *, of_dates: bool = False) -> Interval:
        """Return what lies between two points, neither of them included."""
        return cls((low, _ABOVE), (high, _BELOW), of_dates)

    def overlaps(self, other: Interval) -> bool:
        """Tell whether the two have a point in common."""
        return self._is_like(other) and self.low <= other.high and other.low <= self.high

    def is_within(self, other: Interval) -> bool:
        """Tell whether all of its points are in the other one too."""
        return self._is_like(other) and other.low <= self.low and self.high <= other.high

    def _is_like(self, other: Interval) -> bool:
        return (self.of_dates, self.of_codes) == (other.of_dates, other.of_codes)


@dataclass(frozen=True)
class Span:
    """The numbers from a lower end on that are below an upper one; without an end, all on that side."""

    low: Fraction | None
    """The least of them."""
    high: Fraction | None
    """What they are below."""

    @classmethod
    def between(cls, edges: Sequence[Fraction], number: Fraction) -> Span:
        """Return the span of a number among those that rising edges make."""
        above = bisect_right(edges, number)
        return cls(
            edges[above - 1] if above > 0 else None, edges[above] if above < len(edges) else None
        )

    @property
    def end(self) -> Decimal:
        """The upper end; infinite without one."""
        return Decimal("inf") if self.high is None else Decimal(plain_decimal(self.high))

    def label(self, *, whole: bool) -> str:
        """Return its text, which `covers` understands; that of the whole numbers in it, where there are no others."""
        if self.low is None:
            return SUPPRESSED if self.high is None else f"<{plain_decimal(self.high)}"
        if self.high is None:
            return f">={plain_decimal(self.low)}"
        if not whole:
            return f"[{plain_decimal(self.low)}, {plain_decimal(self.high)})"
        first, last = ceil(self.low), ceil(self.high) - 1
        return f"{first}-{last}" if first >= 0 else f"{first}..{last}"


def plain_decimal(number: Fraction) -> str:
    """Return a number that has finitely many decimals, written with them.

    >>> plain_decimal(Fraction(5, 2)), plain_decimal(Fraction(-100))
    ('2.5', '-100')
    """
    digits = 0
    while (number * 10**digits).denominator > 1:
        digits += 1
    scaled = f"{abs(number.numerator) * 10**digits // number.denominator:0{digits + 1}d}"
    sign = "-" if number < 0 else ""
    return sign + (f"{scaled[:-digits]}.{scaled[-digits:]}" if digits else scaled)


def as_interval(released: str) -> Interval | None:
    """Understand a released value as an interval; None where it is not one, or one that holds nothing.

    >>> as_interval("20-29") == Interval.closed(Decimal(20), Decimal(29)), as_interval("29-20"), as_interval("A|B")
    (True, None, None)
    >>> as_interval("01234-5678") is None
    True
    """
    if match := _CODE_RANGE.fullmatch(released.strip()):
        first, last = map(_code_point, match.groups())
        if first is None or last is None or first > last:
            return None
        return Interval((first, _AT), (last, _AT), of_dates=False, of_codes=True)
    written = _written_ends(released.strip())
    if written is None:
        return None
    (low, low_side), (high, high_side) = written
    of_dates = any(_DATE.fullmatch(end) for end in (low, high))
    first, last = _end_point(low, of_dates=of_dates), _end_point(high, of_dates=of_dates)
    if first is None or last is None or (first, low_side) > (last, high_side):
        return None
    return Interval((first, low_side), (last, high_side), of_dates)


def point_of(bound: Bound) -> Decimal:
    """Return where a number or a date stands among others of its kind; a date by its day's number."""
    return Decimal(bound.toordinal()) if isinstance(bound, date) else bound


def set_members(released: str) -> list[str]:
    """Return the values that a released set names; none where it is not a set.

    >>> set_members("{A, B}"), set_members("A|B"), set_members("A")
    (['A', 'B'], ['A', 'B'], [])
    """
    written = released.strip()
    if written.startswith("{") and written.endswith("}"):
        return [member.strip() for member in written[1:-1].split(",")]
    return [member.strip() for member in written.split("|")] if "|" in written else []


def _as_array(texts: Texts) -> pa.LargeStringArray:
    if isinstance(texts, pa.Array):
        return texts.cast(pa.large_string())
    return pa.array(list(texts), pa.large_string())


def _matching(values: pa.LargeStringArray, pattern: str) -> Flags:
    return np.array(pc.fill_null(pc.match_substring_regex(values, pattern), False), np.bool_)


def _understood(true: pa.LargeStringArray, released: list[str]) -> _Cover:
    """Understand released values of a column whose true values are these."""
    hyphened = any(map(_is_hyphened, released))
    return _Cover.of(released, codes=hyphened and bool(_matching(true, _WHOLE_HYPHENED).any()))


def _is_hyphened(written: str) -> bool:
    plain = written.strip()
    return bool(_HYPHENED.fullmatch(plain) or _CODE_RANGE.fullmatch(plain))


def _code_point(written: str) -> Decimal | None:
    """Return where a code stands among others by its letter and two digits; None where it is no such code."""
    match = _CODE.fullmatch(written.strip())
    return None if match is None else Decimal(100 * ord(match[1]) + int(match[2]))


@dataclass(frozen=True)
class _Intervals:
    """Released intervals of one kind of points, in the order of their lower ends."""

    ordered: list[tuple[Interval, int]]
    """Each with the position of the released value."""
    lows: list[End]
    furthest: list[End]
    """The greatest upper end of the intervals so far: no earlier one reaches further."""

    @classmethod
    def of(cls, intervals: Iterable[tuple[Interval, int]]) -> _Intervals:
        ordered = sorted(intervals, key=lambda placed: placed[0].low)
        lows = [interval.low for interval, _ in ordered]
        furthest = accumulate((interval.high for interval, _ in ordered), max)
        return cls(ordered, lows, list(furthest))

    def around(self, point: Decimal) -> Iterator[int]:
        """Yield the positions of the intervals that hold a point."""
        at = (point, _AT)
        last = bisect_right(self.lows, at) - 1
        while last >= 0 and self.furthest[last] >= at:
            interval, position = self.ordered[last]
            if interval.high >= at:
                yield position
            last -= 1


@dataclass(frozen=True)
class _Cover:
    """Released values, each understood once, in a form that finds quickly which of them stand for a true one."""

    released: list[str]
    anything: int
    """The position of ``*``; −1 where it is not released."""
    members: dict[str, list[int]]
    """Per value that a set names, the positions of these sets."""
    starts: dict[tuple[str, int | None], int]
    """Per start of a code and length of the whole (None: any), the position of the value with stars."""
    lengths: list[int]
    """The lengths of these starts."""
    numbers: _Intervals
    dates: _Intervals
    codes: _Intervals

    @classmethod
    def of(cls, released: list[str], *, codes: bool = False) -> _Cover:
        """Understand released values; ``codes``: two numbers with a hyphen stand for themselves only."""
        members: dict[str, list[int]] = {}
        starts: dict[tuple[str, int | None], int] = {}
        intervals: list[tuple[Interval, int]] = []
        for position, written in enumerate(released):
            if stars := _STARS.fullmatch(written):
                start, rest = stars.groups()
                starts[start, None if len(rest) == 1 else len(written)] = position
            elif codes and _is_hyphened(written):
                continue
            elif interval := as_interval(written):
                intervals.append((interval, position))
            else:
                for member in set_members(written):
                    members.setdefault(member, []).append(position)
        anything = starts.pop(("", None), -1)
        lengths = sorted({len(start) for start, _ in starts})
        kinds = [
            _Intervals.of(
                placed
                for placed in intervals
                if (placed[0].of_dates, placed[0].of_codes) == (of_dates, of_codes)
            )
            for of_dates, of_codes in ((False, False), (True, False), (False, True))
        ]
        return cls(released, anything, members, starts, lengths, *kinds)

    @property
    def is_plain(self) -> bool:
        """Whether every released value stands for itself only."""
        intervals = (self.numbers.ordered, self.dates.ordered, self.codes.ordered)
        general = (self.members, self.starts, *intervals)
        return self.anything < 0 and not any(general)

    def standing_for(self, true: str) -> set[int]:
        """Return the positions of the released values that can stand for a true one, by more than being equal."""
        return self.beside_star(true) | ({self.anything} if self.anything >= 0 else set())

    def beside_star(self, true: str) -> set[int]:
        """Return the positions of those that do, but for ``*``."""
        standing = set(self.members.get(true, ()))
        for length in self.lengths:
            for whole in (None, len(true)):
                position = self.starts.get((true[:length], whole))
                if position is not None:
                    standing.add(position)
        if self.numbers.ordered or self.dates.ordered:
            bound = as_bound(true)
            if bound is not None:
                intervals = self.dates if isinstance(bound, date) else self.numbers
                standing.update(intervals.around(point_of(bound)))
        if self.codes.ordered and (code := _code_point(true)) is not None:
            standing.update(self.codes.around(code))
        return standing

    def only_one(self, true: str) -> int:
        """Return the position of the one released value that stands for a true one, else that of ``*``, or −1."""
        standing = sorted(self.beside_star(true))
        if len(standing) > 1:
            first, second = (quoted([self.released[position]]) for position in standing[:2])
            raise DataError(
                "the release holds {first} and {second}, which both stand for {value}; generalise so that each "
                "value has one released form",
                first=first,
                second=second,
                value=quoted([true]),
            )
        return standing[0] if standing else self.anything


def _written_ends(written: str) -> tuple[tuple[str, int], tuple[str, int]] | None:
    """Return both ends of an interval as written, each with the side on which the interval ends."""
    if match := _BRACKETS.fullmatch(written):
        opening, low, high, closing = match.groups()
        return (low, _AT if opening == "[" else _ABOVE), (high, _AT if closing == "]" else _BELOW)
    if match := _DOTTED.fullmatch(written):
        return (match[1], _AT), (match[2], _AT)
    if match := _HYPHENED.fullmatch(written):
        is_code = any(map(_LEADING_ZERO.match, match.groups()))
        return None if is_code else ((match[1], _AT), (match[2], _AT))
    if match := _QUARTER.fullmatch(written):
        year, last = match[1], 3 * int(match[2])
        day = 31 if last in (3, 12) else 30
        return (f"{year}-{last - 2:02}-01", _AT), (f"{year}-{last:02}-{day}", _AT)
    if match := _AND_MORE.fullmatch(written):
        return (match[1], _AT), ("inf", _AT)
    if match := _BOUND.fullmatch(written):
        relation, point = match.groups()
        if relation in ("<", "<=", "≤"):
            return ("-inf", _AT), (point, _BELOW if relation == "<" else _AT)
        return (point, _ABOVE if relation == ">" else _AT), ("inf", _AT)
    return None


def _end_point(written: str, *, of_dates: bool) -> Decimal | None:
    if written.endswith("inf"):
        return Decimal(written)
    bound = as_bound(written)
    return None if bound is None or isinstance(bound, date) != of_dates else point_of(bound)
