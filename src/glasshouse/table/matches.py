"""Which records of a release fit what is known of a person.

The release may hold generalised values while the adversary knows true ones, and not all records need be generalised
alike (local recoding, single suppressed cells). A record fits when every one of its released values can stand for what
she knows:

- an exact value is stood for by the value equal to it, by those that cover it (`glasshouse.table.generalised`), and by
  ``*``. Of several values that she thinks possible, one is enough;
- an interval is met by the numbers and dates in it, by a released interval that overlaps it, and by ``*``;
- a negated condition is met by all that is not wholly ruled out: ``20-29`` may be other than 25, ``25-25`` not.

Somebody without a record in an auxiliary dataset of a collection has no value there: it meets negated conditions only.

Release and register are compared in the same way: ``20-29`` stands for everybody between 20 and 29, and a record with
``*`` in some columns is looked up by the others.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import date
from decimal import Decimal
from heapq import nsmallest
from itertools import islice
from pathlib import PurePath

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from glasshouse.arrays import Flags, Integers
from glasshouse.conditions import Condition, as_bound
from glasshouse.errors import DataError, StudyError
from glasshouse.language import near_names, quoted
from glasshouse.table.encoded import EncodedColumn, EncodedTable
from glasshouse.table.generalised import (
    SUPPRESSED,
    Interval,
    as_interval,
    covering,
    generalised_values,
    point_of,
    set_members,
    standing_for,
    stood_for,
)
from glasshouse.table.partition import refined

_STARRED = re.compile(r"([0-9]+)(\*+)")
_LONGEST_CODE = 18
_INFINITY = Decimal("inf")
_COMPARED_NAMES = 20_000
"""So many values are compared as text with one that does not occur."""
_FEW = 3
"""Up to so many values are all named."""


def may_fit(column: EncodedColumn, condition: Condition) -> Flags:
    """Tell, for each value of a column, whether it can stand for what a condition says; perhaps none can."""
    if condition.negated:
        return ~_ruled_out(column.values, replace(condition, negated=False))
    if not condition.is_interval:
        return standing_for(condition.values, column.values)
    marks = _holding(column.values, condition)
    for position, value in generalised_values(column.values).items():
        marks[position] |= _overlaps(value, condition)
    return marks


def records_fitting(table: EncodedTable, conditions: Sequence[Condition]) -> Flags:
    """Tell, for each record, whether it fits everything that is known.

    Raises:
        DataError: A column is not in the table, or no record fits one of the conditions by itself.
    """
    marks = np.ones(table.records, np.bool_)
    for condition in conditions:
        fitting = _records(table, condition)
        if not fitting.any():
            column = column_known(table, condition.column)
            raise _nobody_fits(column, condition, where=table.name)
        marks &= fitting
    return marks


def records_that_may_fit(table: EncodedTable, conditions: Sequence[Condition]) -> Flags:
    """Tell, for each record, whether it fits everything that is known; perhaps none does."""
    marks = np.ones(table.records, np.bool_)
    for condition in conditions:
        marks &= _records(table, condition)
    return marks


def fitting_without_one(table: EncodedTable, conditions: Sequence[Condition]) -> list[int]:
    """Return, for each condition, how many records fit all the others but not it: would it be the mistaken one?"""
    missed = np.zeros(table.records, np.uint16)
    for condition in conditions:
        missed += ~_records(table, condition)
    once = missed == 1
    return [int(np.count_nonzero(once & ~_records(table, condition))) for condition in conditions]


def column_known(table: EncodedTable, name: str) -> EncodedColumn:
    """Return the column that a name means; in a collection a focal one may carry its dataset's tag, as all others do.

    Raises:
        DataError: There is no such column; the near ones are named.
        StudyError: It is a fact of several columns.
    """
    if name in table.columns:
        return table.columns[name]
    plain, _, tag = name.rpartition("@")
    focal = table.collection[0] if table.collection else None
    if plain in table.columns and focal is not None and tag in (focal, PurePath(focal).stem):
        return table.columns[plain]
    if name in table.facts:
        raise StudyError(
            '"{name}" stands for the columns {parts}; say what is known of each',
            name=name,
            parts=quoted(table.facts[name]),
        )
    return table.column(name)


def people_behind(
    table: EncodedTable,
    records: Integers,
    register: EncodedTable,
    names: Sequence[str],
) -> Flags:
    """Tell, for each person of a register, whether one of some records of a release can be theirs.

    A release that says ``30-39`` of a person aged 34 says it of everybody between 30 and 39. Records that hold ``*`` in
    the same columns are taken together: a person can be behind them if in each other column one of their values can
    stand for the person's.

    Args:
        table: The release.
        records: The positions of the records.
        register: The people, by their true values.
        names: The columns to compare, which both have.
    """
    behind = np.zeros(register.records, np.bool_)
    for alike in _by_stars(table, records, names):
        marks = np.ones(register.records, np.bool_)
        for name in names:
            released, true = _values_of(table.column(name), alike), register.column(name)
            marks &= stood_for(true.values, released)[true.codes]
        behind |= marks
    return behind


def people_like(release: EncodedTable, register: EncodedTable, names: Sequence[str]) -> Integers:
    """Return, per record of a release, how many people of a register it can stand for.

    Args:
        release: The records; values may be generalised.
        register: The people, by their true values.
        names: The columns to compare, which both have.

    Raises:
        DataError: A column is missing, or two released values stand for one true value.
    """
    for name in names:
        register.column(name)
        _refuse_nested(release.column(name), register.column(name))
    people = np.zeros(release.records, np.int64)
    for records in _by_stars(release, np.arange(release.records), names):
        telling = [
            name
            for name in names
            if _values_of(release.column(name), records[:1])[0].as_py() != SUPPRESSED
        ]
        if not telling:
            people[records] = register.records
            continue
        columns = [_common(release, register, name, records) for name in telling]
        classes = refined(columns, len(records) + register.records)
        released, true = np.split(classes.numbers, [len(records)])
        people[records] = np.bincount(true, minlength=classes.classes)[released]
    return people


def _nobody_fits(column: EncodedColumn, condition: Condition, *, where: str) -> DataError:
    """Return the error that no record fits a condition, with the values that come nearest to it."""
    words = {"column": quoted([column.name]), "table": where, "known": _written(condition)}
    if condition.negated:
        return DataError(
            "no value of column {column} of {table} is other than {known}: zero candidates", **words
        )
    occurs = np.zeros(column.cardinality, np.bool_)
    occurs[column.codes] = True
    occurring = column.values.filter(pa.array(occurs)).drop_null().to_pylist()
    if condition.is_interval:
        return _none_in_interval(occurring, words)
    near = _nearest(condition.values, occurring)
    several = len(condition.values) > 1
    if not near and several:
        return DataError(
            "none of the values {known} occurs in column {column} of {table}: zero candidates",
            **words,
        )
    if not near:
        return DataError(
            "the value {known} does not occur in column {column} of {table}: zero candidates",
            **words,
        )
    if several:
        return DataError(
            "none of the values {known} occurs in column {column} of {table}: zero candidates; the nearest values are "
            "{near}",
            near=quoted(near),
            **words,
        )
    return DataError(
        "the value {known} does not occur in column {column} of {table}: zero candidates; the nearest values are "
        "{near}",
        near=quoted(near),
        **words,
    )


def _none_in_interval(occurring: Sequence[str], words: Mapping[str, str]) -> DataError:
    """Return the error that no value lies in an interval, and from where to where the numbers, or else dates, run."""
    for kind in (Decimal, date):
        bounds = [bound for value in occurring if isinstance(bound := as_bound(value), kind)]
        if bounds:
            return DataError(
                "no value of column {column} of {table} lies in {known}: zero candidates; its values run from {low} "
                "to {high}",
                low=str(min(bounds)),
                high=str(max(bounds)),
                **words,
            )
    return DataError(
        "no value of column {column} of {table} lies in {known}: zero candidates; it holds no numbers or dates",
        **words,
    )


def _records(table: EncodedTable, condition: Condition) -> Flags:
    column = column_known(table, condition.column)
    marks: Flags = may_fit(column, condition)[column.codes]
    return marks


def _by_stars(table: EncodedTable, records: Integers, names: Sequence[str]) -> Iterator[Integers]:
    """Yield the records in groups that hold ``*`` in the same columns."""
    group = np.zeros(records.size, np.int64)
    for name in names:
        column = table.column(name)
        star = column.values.index(SUPPRESSED).as_py()
        if star >= 0:
            _, group = np.unique(2 * group + (column.codes[records] == star), return_inverse=True)
    for number in range(int(group.max(initial=-1)) + 1):
        yield records[group == number]


def _common(
    release: EncodedTable, register: EncodedTable, name: str, records: Integers
) -> EncodedColumn:
    """Return a column of some released records and of the register, in the values of the release."""
    released, true = release.column(name), register.column(name)
    values = released.values
    star = values.index(SUPPRESSED).as_py()
    telling = np.flatnonzero(np.arange(len(values)) != star)
    try:
        position = covering(true.values, values.take(pa.array(telling)))
    except DataError as error:
        raise DataError("column {column}: {reason}", column=quoted([name]), reason=error) from None
    nobody = len(values)
    code = np.where(position < 0, nobody, telling[position] if len(telling) else nobody)
    joint = np.concatenate(
        [released.codes[records].astype(np.uint32), code.astype(np.uint32)[true.codes]]
    )
    return EncodedColumn(name, joint, pa.nulls(nobody + 1, pa.large_string()))


def _refuse_nested(released: EncodedColumn, true: EncodedColumn) -> None:
    """Check that no released value stands for another one, but for ``*``: groups would overlap."""
    general = generalised_values(released.values)
    telling = [written for written in general.values() if written != SUPPRESSED]
    if not telling:
        return
    is_plain = np.ones(released.cardinality, np.bool_)
    is_plain[list(general)] = False
    plain = released.values.filter(pa.array(is_plain))
    both = pa.concat_arrays([plain, true.values])  # the true values tell codes from intervals
    covered = stood_for(both, telling)[: len(plain)]
    if covered.any():
        value = plain[int(np.argmax(covered))].as_py()
        raise DataError(
            "column {column}: the release holds {value} beside a value that stands for it "
            "too; generalise so that each value has one released form",
            column=quoted([released.name]),
            value=quoted([value]),
        )


def _values_of(column: EncodedColumn, records: Integers) -> pa.LargeStringArray:
    """Return the values that some records hold."""
    held = np.zeros(column.cardinality, np.bool_)
    held[column.codes[records]] = True
    return column.values.filter(pa.array(held))


def _ruled_out(values: pa.LargeStringArray, known: Condition) -> Flags:
    """Mark the values that can stand only for what a condition says."""
    if known.is_interval:
        marks = _holding(values, known)
    else:
        listed = pa.array(known.values, pa.large_string())
        marks = np.array(pc.is_in(values, value_set=listed), np.bool_)
    for position, value in generalised_values(values).items():
        marks[position] |= _is_within(value, known)
    return marks


def _holding(values: pa.LargeStringArray, known: Condition) -> Flags:
    """Mark the values that meet a condition as they stand."""
    texts = values.to_pylist()
    return np.fromiter(
        (value is not None and known.holds(value) for value in texts), np.bool_, len(texts)
    )


def _overlaps(released: str, known: Condition) -> bool:
    """Tell whether a generalised value can stand for something in an interval."""
    if released == SUPPRESSED:
        return True
    if stars := _STARRED.fullmatch(released):
        among = _known_interval(known)
        return any(numbers.overlaps(among) for numbers in _numbers_starting(*stars.groups()))
    if interval := as_interval(released):
        return interval.overlaps(_known_interval(known))
    return any(known.holds(member) for member in set_members(released))


def _is_within(released: str, known: Condition) -> bool:
    """Tell whether a generalised value can stand only for what a condition says."""
    if members := set_members(released):
        return all(known.holds(member) for member in members)
    interval = as_interval(released)
    if interval is None or known.is_interval:
        return interval is not None and interval.is_within(_known_interval(known))
    return interval.low == interval.high and bool(standing_for(known.values, [released])[0])


def _known_interval(known: Condition) -> Interval:
    """Return the interval of a condition that has one; where an end is open, it reaches as far as anything does."""
    low, high = known.low, known.high
    between = Interval.open if known.exclusive else Interval.closed
    return between(
        -_INFINITY if low is None else point_of(low),
        _INFINITY if high is None else point_of(high),
        of_dates=isinstance(high if low is None else low, date),
    )


def _numbers_starting(start: str, stars: str) -> Iterable[Interval]:
    """Yield the intervals of whole numbers that a code with stars stands for; one star is any rest."""
    rests = [len(stars)] if len(stars) > 1 else range(_LONGEST_CODE - len(start) + 1)
    for rest in rests:
        yield Interval.closed(Decimal(start + "0" * rest), Decimal(start + "9" * rest))


def _written(condition: Condition) -> str:
    if not condition.is_interval:
        return quoted(condition.values)
    if condition.exclusive:
        return f">{condition.low}" if condition.high is None else f"<{condition.high}"
    return f"{'' if condition.low is None else condition.low}..{'' if condition.high is None else condition.high}"


def _nearest(known: Sequence[str], texts: Sequence[str]) -> list[str]:
    """Return the values nearest to the first known one: by number or date where it is one, else by spelling."""
    target = as_bound(known[0])
    if target is not None:
        distances = (
            (abs(point_of(bound) - point_of(target)), point_of(bound), value)
            for value in texts
            if (bound := as_bound(value)) is not None and type(bound) is type(target)
        )
        if nearest := nsmallest(_FEW, distances):
            return [value for *_, value in nearest]
    near = near_names(known[0], islice(texts, _COMPARED_NAMES))
    return near or (list(texts) if len(texts) <= _FEW else [])
