"""Columns as an adversary sees them: numbers in bands, codes by their first characters, years and ages of dates.

All of it is done to the dictionary of a column, once per distinct value: what a value becomes depends on it alone, so
that records are never looked at one by one. What was done is kept in the table (`EncodedTable.views`).
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import date
from decimal import Decimal
from fractions import Fraction
from itertools import accumulate, pairwise
from math import ceil, floor

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from glasshouse.arrays import Floats, Integers
from glasshouse.conditions import is_number, parse_condition
from glasshouse.errors import DataError, StudyError
from glasshouse.language import marked
from glasshouse.sources import MISSING
from glasshouse.study import ColumnType
from glasshouse.table.codes import smallest_unsigned
from glasshouse.table.encoded import ColumnView, EncodedColumn, EncodedTable, Role
from glasshouse.table.generalised import Span, plain_decimal
from glasshouse.views import ISO, Derivation, cut_points, prefix, quantiles

_UNKNOWN = np.iinfo(np.int32).min
"""What stands for a date that is missing."""
_RECORDS_AT_ONCE = 1 << 20


def as_viewed(
    table: EncodedTable,
    *,
    bands: Mapping[str, str] | None = None,
    group: Mapping[str, str] | None = None,
    types: Mapping[str, ColumnType] | None = None,
) -> EncodedTable:
    """Return a table with numbers in bands, and codes by their first characters; a missing value stays missing.

    Args:
        table: The data.
        bands: Per column of numbers, where its bands begin, such as ``0,1000,5000``, or ``quantiles:5``.
        group: Per column of codes, how many characters are seen, such as ``prefix:3``.
        types: What columns are read as. A band of whole numbers is called ``0-999``, of others ``[0, 1000)``: as the
            type says, or else the values.

    Raises:
        DataError: A column is not in the table, or is to be put in bands and holds what is no number.

    >>> from glasshouse.table import read
    >>> people = read(pa.table({"income": ["1200", "", "7"], "icd": ["I21.0", "C50", "I10"]}))
    >>> seen = as_viewed(people, bands={"income": "0,1000"}, group={"icd": "prefix:1"})
    >>> seen.column("income").values.to_pylist(), seen.column("icd").values.to_pylist()
    (['>=1000', '', '0-999'], ['I', 'C'])
    """
    columns, views = dict(table.columns), list(table.views)
    for name, rule in (bands or {}).items():
        kind = (types or {}).get(name, ColumnType.TEXT)
        columns[name], view = _in_bands(_without_codes(table, name), rule, kind, where=table.name)
        views.append(view)
    for name, rule in (group or {}).items():
        length, column = prefix(rule), table.column(name)
        missing = table.missing_codes.get(name, frozenset())
        columns[name] = column.with_values(
            code if code in missing else code[:length] for code in column.values.to_pylist()
        )
        views.append(ColumnView(name, "group", rule))
    return replace(table, columns=columns, views=tuple(views))


def with_derived(
    table: EncodedTable, derivations: Mapping[str, tuple[str, Derivation]]
) -> EncodedTable:
    """Return a table with further columns that are made of its dates; what is made of a missing one is missing.

    Args:
        table: The data.
        derivations: The new columns by name: how each was asked for, and what it is.

    Raises:
        DataError: A column is not in the table, or holds what is no date.
    """
    columns, views = dict(table.columns), list(table.views)
    for name, (rule, derivation) in derivations.items():
        dates = [
            _dates(_without_codes(table, column), where=table.name) for column in derivation.columns
        ]
        column = table.column(derivation.column)
        if derivation.other is not None:
            at = dates[1][table.column(derivation.other).codes]
            new = _encoded_years(name, _years(dates[0][column.codes], at))
        else:
            numbers = _parts_of(dates[0], derivation)
            texts = [MISSING if number == _UNKNOWN else str(number) for number in numbers.tolist()]
            new = replace(column.with_values(texts), name=name)
        negative = any(value.startswith("-") for value in new.values.to_pylist())
        columns[name] = new
        views.append(ColumnView(name, "derive", rule, negative=negative))
    roles = dict.fromkeys(derivations, Role.IGNORED) | dict(table.roles)
    return replace(table, columns=columns, roles=roles, views=tuple(views))


def with_questions(table: EncodedTable, questions: Sequence[str]) -> EncodedTable:
    """Return a table with further sensitive columns that answer yes or no: ``income>5000``, ``icd=F*``.

    A value that ends in ``*`` stands for all that begin so, unless the column has it as it stands. Where the column is
    missing, so is the answer.

    Args:
        table: The data.
        questions: Conditions on columns of the table, which are the names of the new columns.

    Raises:
        DataError: A column is not in the table.
        StudyError: One is no condition, or about something that she knows.

    >>> from glasshouse.table import read
    >>> people = read(pa.table({"icd": ["F32", "I10", ""]}))
    >>> asked = with_questions(people, ["icd=F*"])
    >>> asked.sensitive, asked.column("icd=F*").values.to_pylist()
    (('icd=F*',), ['yes', 'no', ''])
    """
    columns, views, roles = dict(table.columns), list(table.views), dict(table.roles)
    for question in questions:
        condition = parse_condition(question, option=marked("the secret"))
        if condition.column in table.quasi_identifiers or any(
            condition.column in table.facts.get(name, ()) for name in table.quasi_identifiers
        ):
            raise StudyError(
                'the secret "{question}" is about "{column}", which she knows; choose one',
                question=question,
                column=condition.column,
            )
        column = _without_codes(table, condition.column)
        texts, answers = column.values.to_pylist(), answers_to(question, table)
        columns[question] = replace(
            column.with_values(
                MISSING if written == MISSING else "yes" if holds else "no"
                for written, holds in zip(texts, answers, strict=True)
            ),
            name=question,
        )
        roles[question] = Role.SENSITIVE
        views.append(ColumnView(question, "derive", question))
    return replace(table, columns=columns, roles=roles, views=tuple(views))


def answers_to(question: str, table: EncodedTable) -> list[bool]:
    """Tell of each value of the column of a condition whether it holds; ``F*`` stands for all that begin with F.

    Raises:
        DataError: The column is not in the table.
        StudyError: It is no condition.
    """
    condition = parse_condition(question, option=marked("the secret"))
    texts = _without_codes(table, condition.column).values.to_pylist()
    there = set(texts)
    starts = tuple(
        value[:-1] for value in condition.values if value.endswith("*") and value not in there
    )
    if not starts:
        return [condition.holds(written) for written in texts]
    return [
        (written in condition.values or written.startswith(starts)) != condition.negated
        for written in texts
    ]


def _without_codes(table: EncodedTable, name: str) -> EncodedColumn:
    """Return a column in which what the file itself calls missing is missing: 999 is no income, and no date."""
    column, missing = table.column(name), table.missing_codes.get(name)
    if not missing:
        return column
    texts = column.values.to_pylist()
    return replace(
        column,
        values=pa.array(
            [MISSING if text in missing else text for text in texts], pa.large_string()
        ),
    )


def _in_bands(
    column: EncodedColumn, rule: str, kind: ColumnType, *, where: str
) -> tuple[EncodedColumn, ColumnView]:
    """Return a column of numbers in bands, and what is to be told of it."""
    texts = [written.strip() for written in column.values.to_pylist()]
    wrong = [code for code, written in enumerate(texts) if written and not is_number(written)]
    if wrong:
        raise misfit(column, wrong, NO_NUMBER, where=where)
    present = np.array([code for code, written in enumerate(texts) if written], np.int64)
    written = [texts[code] for code in present]
    floats = np.array([float(number) for number in written])
    cuts = [Fraction(cut) for cut in cut_points(rule)]
    if quantiles(rule):
        counts = np.bincount(column.codes, minlength=len(texts))[present]
        cuts = _quantile_cuts(written, floats, counts, quantiles(rule))
    if not cuts:
        raise DataError(
            '{table}: column "{column}" has fewer than two different numbers, which cannot be put in bands; leave out '
            "`bands` {column}",
            table=where,
            column=column.name,
        )
    is_whole = kind is ColumnType.INTEGER or (
        kind is ColumnType.TEXT and all(map(_is_whole, written))
    )
    labels = [
        _label(Span(low, high), whole=is_whole) for low, high in pairwise([None, *cuts, None])
    ]
    edges = [Decimal(plain_decimal(cut)) for cut in cuts]
    bands = np.full(len(texts), len(labels))
    bands[present] = _bands_of(written, floats, edges)
    labels.append(MISSING)
    seen = column.with_values(labels[band] for band in bands.tolist())
    decimals = max((len(number.partition(".")[2]) for number in written), default=0)
    in_doubt = decimals == 3 and bool((np.abs(floats) < 1000).all())
    begins = tuple(map(str, edges)) if quantiles(rule) else ()
    return seen, ColumnView(column.name, "bands", rule, begins, in_doubt=in_doubt)


def _is_whole(written: str) -> bool:
    return written.isdecimal() or Decimal(written) == Decimal(written).to_integral_value()


def _bands_of(
    written: Sequence[str], floats: Floats, edges: Sequence[Decimal]
) -> NDArray[np.int64]:
    """Return the band of each number, exactly: where doubles differ they are in the order of the decimals."""
    ends = np.array([float(edge) for edge in edges])
    bands = np.searchsorted(ends, floats, side="right").astype(np.int64)
    for place in np.flatnonzero(np.isin(floats, ends)).tolist():
        bands[place] = bisect_right(edges, Decimal(written[place]))
    return bands


def _label(span: Span, *, whole: bool) -> str:
    """Return what a band is called; the number itself, where it holds one whole number."""
    if whole and span.low is not None and span.high is not None:
        first, last = ceil(span.low), ceil(span.high) - 1
        if first == last:
            return str(first)
    return span.label(whole=whole)


def _quantile_cuts(
    written: Sequence[str], floats: Floats, counts: Integers, bands: int
) -> list[Fraction]:
    """Return where bands of about equally many records begin.

    Equal numbers stay together (and those that only differ beyond the digits of a double). Each cut is made where the
    number of records below it is nearest to its share, of two as near where it is less; it is the roundest number that
    divides the records there. Where few numbers have most of the records, there are fewer bands.

    >>> numbers = ["1", "2", "3", "11", "12", "28"]
    >>> floats, counts = np.array(numbers, float), np.array([3, 1, 1, 1, 1, 1])
    >>> [list(map(str, _quantile_cuts(numbers, floats, counts, bands))) for bands in (2, 4)]
    [['3'], ['2', '3', '12']]
    """
    rising, group = np.unique(floats, return_inverse=True)
    shares = np.zeros(len(rising), np.int64)
    np.add.at(shares, group, counts)
    *below, records = [*accumulate(shares.tolist())] or [0]
    places = set()
    for share in range(1, bands) if below else ():
        place = bisect_left(below, share * records, key=lambda count: count * bands)
        near = range(max(place - 1, 0), min(place + 1, len(below)))
        places.add(min(near, key=lambda near: abs(below[near] * bands - share * records)))

    def numbers(place: int) -> list[Decimal]:
        return [Decimal(written[code]) for code in np.flatnonzero(group == place).tolist()]

    return [_roundest(max(numbers(place)), min(numbers(place + 1))) for place in sorted(places)]


def _roundest(low: Decimal, high: Decimal) -> Fraction:
    """Return the multiple of the greatest power of ten that is above one number and at most another.

    >>> [str(_roundest(Decimal(low), Decimal(high))) for low, high in (("987", "1012"), ("-5", "3"), ("1.25", "1.5"))]
    ['1000', '0', '3/2']
    """
    power = max(low.adjusted(), high.adjusted()) + 1
    while True:
        unit = Fraction(10) ** power
        multiple = floor(Fraction(high) / unit) * unit
        if multiple > Fraction(low):
            return multiple
        power -= 1


def _dates(column: EncodedColumn, *, where: str) -> NDArray[np.int32]:
    """Return each value of a column of dates as a number of eight digits: its year, month and day."""
    numbers, wrong = np.full(column.cardinality, _UNKNOWN, np.int32), []
    for code, written in enumerate(column.values.to_pylist()):
        if not written.strip():
            continue
        try:
            numbers[code] = int(ISO.iso(written).replace("-", ""))
        except ValueError:
            wrong.append(code)
    if wrong:
        raise misfit(column, wrong, NO_ISO_DATE, where=where)
    return numbers


def _years(dates: NDArray[np.int32], at: NDArray[np.int32] | int) -> NDArray[np.int32]:
    """Return the completed years from dates to others: whoever is born on 29 February is a year older on 1 March."""
    unknown = (dates == _UNKNOWN) | (at == np.int32(_UNKNOWN))
    years: NDArray[np.int32] = np.where(unknown, _UNKNOWN, (at - dates) // 10_000).astype(np.int32)
    return years


def _parts_of(dates: NDArray[np.int32], derivation: Derivation) -> NDArray[np.int32]:
    """Return what is derived of each date."""
    if derivation.at is not None:
        return _years(dates, int(derivation.at.strftime("%Y%m%d")))
    if derivation.function == "week":
        return np.array([_week(number) for number in dates.tolist()], np.int32)
    part = dates // 10_000 if derivation.function == "year" else dates // 100 % 100
    return np.where(dates == _UNKNOWN, _UNKNOWN, part).astype(np.int32)


def _week(number: int) -> int:
    """Return the ISO year and week of a date of eight digits, as six.

    >>> _week(20241230), _week(20250105)
    (202501, 202501)
    """
    if number == _UNKNOWN:
        return number
    year, week, _ = date(number // 10_000, number // 100 % 100, number % 100).isocalendar()
    return 100 * year + week


def _encoded_years(name: str, years: NDArray[np.int32]) -> EncodedColumn:
    """Return a column of years, a number for each record, with codes in order of first appearance."""
    known = years != _UNKNOWN
    least = int(np.min(years, initial=0, where=known))
    place = np.where(known, years - np.int32(least - 1), np.int32(0))
    order: list[int] = []
    new_code = np.full(int(place.max(initial=0)) + 1, -1, np.int64)
    for start in range(0, len(place), _RECORDS_AT_ONCE):
        piece = place[start : start + _RECORDS_AT_ONCE]
        new, first = np.unique(piece[new_code[piece] < 0], return_index=True)
        new_code[new[np.argsort(first)]] = np.arange(len(order), len(order) + len(new))
        order += new[np.argsort(first)].tolist()
    codes = new_code.astype(smallest_unsigned(len(order)))[place]
    codes.flags.writeable = False
    texts = [MISSING if number == 0 else str(number - 1 + least) for number in order]
    return EncodedColumn(name, codes, pa.array(texts, pa.large_string()))


NO_NUMBER = marked(
    '{table}, record {record}: "{value}" in column "{column}" is not a number of the type asked for; records with such '
    "values: {count}; say how numbers are written (`decimal`, `thousands`), what stands for missing (`missing` "
    "{column}={value}), or read the column as text"
)
NO_DATE = marked(
    '{table}, record {record}: "{value}" in column "{column}" is not a date written {form}; records '
    "with such values: {count}; correct them, or say what stands for missing: `missing` {column}={value}"
)
NO_ISO_DATE = marked(
    '{table}, record {record}: "{value}" in column "{column}" is not a date such as 2020-12-31; '
    "records with such values: {count}; say how the file writes dates: `date` {column}=dd/mm/yyyy"
)


def misfit(
    column: EncodedColumn, codes: Sequence[int], template: str, *, where: str, **values: str
) -> DataError:
    """Return the error that some values of a column are not what they are to be: the first of them, and how many."""
    counts = np.bincount(column.codes, minlength=column.cardinality)
    return DataError(
        template,
        table=where,
        value=column.values[codes[0]].as_py(),
        column=column.name,
        record=str(int(np.argmax(column.codes == codes[0])) + 1),
        count=int(counts[list(codes)].sum()),
        **values,
    )
