"""What was published, in one form: windows on sums over people, low ≤ Σ ≤ high.

A suppressed, rounded or perturbed count is a window of counts. A mean is two windows whatever the size of its group:
Σ (value − least) ≥ 0 and Σ (value − greatest) ≤ 0; a percentage likewise. A median of a group of odd size is two
windows on how many are below it; of an even or unknown size it is a choice between such conjunctions. Nothing of how a
table was laid out is left, so that whoever checks a proof has little to read.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import reduce
from itertools import product
from math import ceil, floor, gcd, lcm, prod
from typing import Any, Self

from glasshouse.errors import StudyError
from glasshouse.study.tables import (
    NumberInterval,
    PublishedTable,
    Statistic,
    TablesStudy,
    Value,
    Where,
)

PEOPLE, KNOWN = "people", "known"
"""What stands for a table where the number of people says something, or what is known beside the tables."""
CodesWhere = Mapping[str, tuple[int, ...]]
"""Of whom something is said: by attribute the places of the values that are meant."""
MOST_ROWS = 5_000_000
"""A table with more combinations is not read."""
MOST_ALTERNATIVES = 2_000
"""A median with more ways to come about is refused."""


@dataclass(frozen=True)
class SumTerm:
    """A part of a sum: over some people, a factor times one, or times the value of an attribute."""

    where: CodesWhere
    """Over whom."""
    of: str | None
    """The attribute; None: they are counted."""
    factor: int
    """How often it is taken."""


@dataclass(frozen=True)
class PublishedRow:
    """One window on a sum over people."""

    table: str
    """The table that says so."""
    terms: tuple[SumTerm, ...]
    """What is summed up."""
    low: int | None
    """The least that it can be; None: there is no limit."""
    high: int | None
    """The greatest; None: there is no limit."""
    case: tuple[int, int] | None = None
    """Of which choice it belongs to which alternative; None: it always holds."""
    is_hidden: bool = False
    """Whether the count was suppressed."""

    @property
    def is_count(self) -> bool:
        """Whether it says of a table how many people have something."""
        plain = [(term.of, term.factor) for term in self.terms] == [(None, 1)]
        return plain and self.case is None and self.table not in (PEOPLE, KNOWN)

    @property
    def is_zero(self) -> bool:
        """Whether it says that nobody has something."""
        plain = [(term.of, term.factor) for term in self.terms] == [(None, 1)]
        return self.high == 0 and self.case is None and plain

    def to_dict(self) -> dict[str, Any]:
        """Return it as plain values."""
        terms = [[_plain(term.where), term.of, term.factor] for term in self.terms]
        case = None if self.case is None else list(self.case)
        return {
            "table": self.table,
            "terms": terms,
            "low": self.low,
            "high": self.high,
            "case": case,
        }


@dataclass(frozen=True)
class PublishedSet:
    """All that was published of the same people."""

    domains: Mapping[str, tuple[Value, ...]]
    """By attribute, all its values."""
    impossible: tuple[CodesWhere, ...]
    """Combinations that nobody can have."""
    rows: tuple[PublishedRow, ...]
    """What was published."""

    @property
    def tables(self) -> tuple[str, ...]:
        """The names of the tables, in their order."""
        names = dict.fromkeys(row.table for row in self.rows)
        return tuple(name for name in names if name not in (PEOPLE, KNOWN))

    def only(self, tables: Collection[str]) -> Self:
        """Return what some of the tables say, with what is known besides."""
        kept = {PEOPLE, KNOWN, *tables}
        numbers: dict[int, int] = {}
        rows = []
        for row in self.rows:
            if row.table in kept:
                case = row.case and (numbers.setdefault(row.case[0], len(numbers)), row.case[1])
                rows.append(replace(row, case=case))
        return replace(self, rows=tuple(rows))

    def to_dict(self) -> dict[str, Any]:
        """Return it as plain values, as a proof carries it."""
        return {
            "attributes": {name: list(values) for name, values in self.domains.items()},
            "impossible": [_plain(where) for where in self.impossible],
            "rows": [row.to_dict() for row in self.rows],
        }


def _plain(where: CodesWhere) -> dict[str, list[int]]:
    return {name: list(codes) for name, codes in where.items()}


def published(study: TablesStudy) -> PublishedSet:
    """Return what the tables of a study say; their rows must be in it.

    Raises:
        StudyError: A median is of a group of unknown size, or can come about in too many ways.
    """
    reader = _Reader(study)
    domains = {name: attribute.domain for name, attribute in study.attributes.items()}
    impossible = tuple(reader.codes(where) for where in study.impossible)
    return PublishedSet(domains, impossible, tuple(reader.rows()))


_Codes = dict[str, tuple[int, ...]]


class _Reader:
    """Turns the entries of a study into rows."""

    def __init__(self, study: TablesStudy) -> None:
        self._study = study
        self._places = {
            name: {value: place for place, value in enumerate(attribute.domain)}
            for name, attribute in study.attributes.items()
        }
        self._choices = 0

    def codes(self, where: Where) -> _Codes:
        """Return a condition by the places of values."""
        codes = {}
        for name, condition in where.items():
            places = self._places[name]
            if isinstance(condition, NumberInterval):
                codes[name] = tuple(
                    place for value, place in places.items() if condition.holds(value)
                )
            else:
                values = condition if isinstance(condition, tuple) else (condition,)
                codes[name] = tuple(sorted({places[value] for value in values}))
        return codes

    def rows(self) -> Iterator[PublishedRow]:
        counts: dict[tuple[Any, ...], tuple[int, int]] = {}
        people = self._study.people
        if people is not None:
            counts[()] = (people, people) if isinstance(people, int) else people
            yield _count(PEOPLE, {}, counts[()])
        for known in self._study.known:
            yield _count(KNOWN, self.codes(known.where), (known.at_least, known.at_most))
        medians: list[tuple[str, _Codes, Statistic]] = []
        for table in self._study.tables:
            for row in self._of_table(table, medians):
                terms = row.terms
                if len(terms) == 1 and terms[0].of is None and row.high is not None:
                    key = tuple(sorted(terms[0].where.items()))
                    low, high = counts.get(key, (0, row.high))
                    counts[key] = max(low, row.low or 0), min(high, row.high)
                yield row
        for table_name, where, statistic in medians:
            sizes = counts.get(tuple(sorted(where.items())))
            if sizes is None:
                raise StudyError(
                    'table "{table}": a median is of a group whose size is not published; add its count',
                    table=table_name,
                )
            yield from self._median(table_name, where, statistic, sizes)

    def _of_table(
        self, table: PublishedTable, medians: list[tuple[str, _Codes, Statistic]]
    ) -> Iterator[PublishedRow]:
        name, part = str(table.id), self.codes(table.where)
        if table.rows is not None and table.is_bounded:
            yield from self._of_cells(table, name, part)
        for statistic in table.statistics:
            where = merged(part, self.codes(statistic.where))
            if statistic.count is not None and table.is_bounded:
                row = _count(name, where, table.window(statistic.count))
                yield replace(row, is_hidden=isinstance(statistic.count, str))
            if statistic.sum is not None:
                low, high = statistic.interval("sum")
                yield self._scaled(name, [(where, statistic.of, Fraction(1))], low, high)
            if statistic.mean is not None:
                for end, window in _sides(statistic.interval("mean")):
                    terms = [(where, statistic.of, Fraction(1)), (where, None, -end)]
                    yield self._scaled(name, terms, *window)
            if statistic.percent is not None:
                whole = merged(part, self.codes(statistic.within or {}))
                inside = merged(whole, where)
                for end, window in _sides(statistic.interval("percent")):
                    terms = [(inside, None, Fraction(100)), (whole, None, -end)]
                    yield self._scaled(name, terms, *window)
            if statistic.median is not None:
                medians.append((name, where, statistic))

    def _of_cells(self, table: PublishedTable, name: str, part: _Codes) -> Iterator[PublishedRow]:
        shown = set()
        for row in table.rows or ():
            codes = tuple(
                self._places[column][value]
                for column, value in zip(table.by, row[:-1], strict=True)
                if not isinstance(value, tuple)
            )
            shown.add(codes)
            count = row[-1]
            if isinstance(count, float):
                raise StudyError('table "{table}": {count} is not a count', table=name, count=count)
            published_row = _count(name, _cell(table, codes, part), table.window(count))
            yield replace(published_row, is_hidden=isinstance(count, str))
        if not table.complete:
            return
        sizes = [len(self._places[column]) for column in table.by]
        if prod(sizes) > MOST_ROWS:
            raise StudyError(
                'table "{table}" has {count} combinations, too many; say complete = false, or publish it in bands',
                table=name,
                count=prod(sizes),
            )
        window = table.window(0, absent=True)
        for codes in product(*map(range, sizes)):
            if codes not in shown:
                yield _count(name, _cell(table, codes, part), window)

    def _numbers(self, name: str) -> list[Fraction]:
        return [Fraction(str(value)) for value in self._places[name]]

    def _scaled(
        self,
        table: str,
        terms: Sequence[tuple[_Codes, str | None, Fraction]],
        low: Fraction | None,
        high: Fraction | None,
    ) -> PublishedRow:
        """Return a row whose factors are whole, and so is every value that they are taken of."""
        decimals = [
            number.denominator
            for _, of, _ in terms
            if of is not None
            for number in self._numbers(of)
        ]
        values = reduce(lcm, decimals, 1)
        scale = reduce(lcm, (factor.denominator for _, _, factor in terms), 1) * values
        factors = [int(factor * scale) for _, _, factor in terms]
        divisor = gcd(*factors) // gcd(gcd(*factors), values) or 1
        whole = [
            SumTerm(where, of, factor // divisor)
            for (where, of, _), factor in zip(terms, factors, strict=True)
        ]
        return PublishedRow(
            table,
            tuple(whole),
            None if low is None else ceil(low * scale / divisor),
            None if high is None else floor(high * scale / divisor),
        )

    def _median(
        self, table: str, where: _Codes, statistic: Statistic, sizes: tuple[int, int]
    ) -> Iterator[PublishedRow]:
        """Yield the rows of a median, or of every way in which it can come about."""
        name = str(statistic.of)
        numbers = self._numbers(name)
        values = {code: numbers[code] for code in where.get(name, range(len(numbers)))}
        low, high = statistic.interval("median")
        ways: list[list[tuple[_Codes, int | None, int | None]]] = []
        for size in range(sizes[0], sizes[1] + 1):
            for conditions in _median_cases(low, high, size, sorted(set(values.values()))):
                way: list[tuple[_Codes, int | None, int | None]] = []
                if sizes[0] < sizes[1]:
                    way.append((where, size, size))
                for equal, bound, least, most in conditions:
                    chosen = tuple(
                        code
                        for code, value in values.items()
                        if value < bound or (equal and value == bound)
                    )
                    way.append(({**where, name: chosen}, least, most))
                ways.append(way)
                if len(ways) > MOST_ALTERNATIVES:
                    raise StudyError(
                        'table "{table}": a median can come about in more than {count} ways; publish the size of its '
                        "group more exactly",
                        table=table,
                        count=MOST_ALTERNATIVES,
                    )
        if not ways:  # no values have such a median
            ways = [[(where, 1, 0)]]
        several = len(ways) > 1
        for number, way in enumerate(ways):
            for condition, least, most in way:
                case = (self._choices, number) if several else None
                yield replace(_count(table, condition, (least, most)), case=case)
        self._choices += several


def _sides(
    interval: tuple[Fraction, Fraction],
) -> Iterator[tuple[Fraction, tuple[Fraction | None, Fraction | None]]]:
    """Yield the two ends of what a ratio can be, each with the window of the sum of what is beyond it."""
    yield interval[0], (Fraction(0), None)
    yield interval[1], (None, Fraction(0))


def _count(table: str, where: CodesWhere, window: tuple[int | None, int | None]) -> PublishedRow:
    return PublishedRow(table, (SumTerm(where, None, 1),), *window)


def _cell(table: PublishedTable, codes: tuple[int, ...], part: _Codes) -> _Codes:
    return merged(part, {name: (code,) for name, code in zip(table.by, codes, strict=True)})


def _median_cases(
    low: Fraction, high: Fraction, size: int, values: Sequence[Fraction]
) -> Iterator[list[tuple[bool, Fraction, int | None, int | None]]]:
    """Yield the ways in which so many people have such a median: how many are up to what (or below it)."""
    half = size // 2
    if size == 0:
        yield []
    elif size % 2:
        yield [(True, high, half + 1, None), (False, low, None, half)]
    else:
        for place, first in enumerate(values):
            begin = bisect_left(values, 2 * low - first, lo=place)
            for second in values[begin : bisect_right(values, 2 * high - first, lo=begin)]:
                yield [
                    (True, first, half, None),
                    (False, first, None, half - 1),
                    (True, second, half + 1, None),
                    (False, second, None, half),
                ]


def merged(part: CodesWhere, where: CodesWhere) -> _Codes:
    """Return who meets both conditions."""
    both = dict(part)
    for name, codes in where.items():
        both[name] = tuple(code for code in codes if code in both[name]) if name in both else codes
    return both
