"""Generalisation hierarchies: which label stands for a value at each level of detail.

A hierarchy has one row per value of the attribute's domain: the value, its label one level up, and so on to the root,
which stands for all of them. Level 0 are the values themselves. A label stands for one set of values wherever it
appears, and the sets of a level are unions of those of the level below: what a release says is never ambiguous, and
the classes of a more general release are unions of the classes of a more specific one.

A hierarchy comes from a file, one row per value and the most specific label first, as ARX writes it
(`read_hierarchy`); or from a rule for the values of a column: `intervals`, `rounding`, `top_bottom`, `prefixes`,
`date_parts`, `suppression_only`, as functions or written as text (`by_rule`, which also knows the codes of
`glasshouse.mitigation.national`); or it is proposed, to be reviewed (`suggest`). The labels that rules make are of the
kinds that `glasshouse.table.generalised.covers` understands, so that attacks on the protected table know which true
values a label stands for. A missing value, or a mark for one such as ``NA``, is a value of its own; rules keep it apart
from the others up to the root.
"""

from __future__ import annotations

import csv
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import date
from decimal import Decimal
from fractions import Fraction
from functools import cached_property, partial
from itertools import pairwise, repeat
from math import ceil, floor
from os import PathLike
from pathlib import Path
from typing import TypeAlias

import numpy as np
import pyarrow as pa

from glasshouse.arrays import Integers
from glasshouse.atomic import new_file
from glasshouse.errors import DataError, StudyError
from glasshouse.language import marked, near_names, quoted, text, text_for, translated
from glasshouse.mitigation import national
from glasshouse.mitigation.distinct_rows import CodedHierarchy
from glasshouse.mitigation.suggestions import example_value, suggested_rule
from glasshouse.sources import MISSING, Source, open_source
from glasshouse.sources.delimited import CANDIDATE_SEPARATORS, UNIT_SEPARATOR, csv_rows
from glasshouse.study import Dialect
from glasshouse.study.anonymise import hierarchy_rule
from glasshouse.table.codes import positions
from glasshouse.table.encode import NUMBER
from glasshouse.table.encoded import NOTHING_DECLARED, Declared, EncodedColumn
from glasshouse.table.generalised import SUPPRESSED, Span, plain_decimal
from glasshouse.table.profiles import is_missing_mark

Number: TypeAlias = int | float | str | Decimal | Fraction
"""What a caller may give for a number; a float stands for the decimal that it is written as."""

SEPARATOR = ";"
"""What stands between the fields of a saved hierarchy, as in ARX's files."""
DATE_PARTS = ("day", "month", "quarter", "year", "decade")
"""The parts of a date that a label can tell, the finest first."""
DATE_ORDERS = ("ymd", "dmy", "mdy")
"""In which order a date may be written."""

_SEARCHED_FOR_NEAR_NAMES = 10_000
_DATE = re.compile(
    r"([0-9]{4})(?:[/.-]([0-9]{1,2})[/.-]([0-9]{1,2})|([0-9]{2})([0-9]{2}))([ T].*)?"
)
_DATE_WITH_YEAR_LAST = re.compile(
    r"(?:([0-9]{1,2})[/.-]([0-9]{1,2})[/.-]|([0-9]{2})([0-9]{2}))([0-9]{4})([ T].*)?"
)


@dataclass(frozen=True)
class Hierarchy:
    """The labels of one attribute at every level of detail, checked when it is made.

    Raises:
        DataError: Rows differ in length, a value is there twice, a label has two parents or stands for two different
            sets of values, or there is no single root.

    >>> hierarchy = Hierarchy("city", (("Lyon", "France", "*"), ("Nice", "France", "*"), ("Bonn", "Germany", "*")))
    >>> hierarchy.height, hierarchy.domain
    (3, 3)
    """

    column: str
    """The attribute."""
    rows: tuple[tuple[str, ...], ...]
    """One row per value of the domain: the value first, then its label at each level, last the root."""
    suggested: bool = False
    """Whether it was made automatically, and is to be reviewed."""
    rule: str = field(default="", compare=False)
    """The rule that made it, as it is typed; empty: it is from a file, or was written by hand."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "rows", tuple(map(tuple, self.rows)))
        self._check_depth()
        self._check_values()
        self._check_parents()
        self._check_root()
        self._check_meanings()

    @property
    def height(self) -> int:
        """The number of levels: level 0 are the values themselves, level ``height - 1`` is the root."""
        return len(self.rows[0])

    @property
    def domain(self) -> int:
        """The number of values in the attribute's domain, be they in the data or not."""
        return len(self.rows)

    @property
    def mixed(self) -> bool:
        """Whether most values of the domain are numbers, and not all."""
        values = [row[0].strip() for row in self.rows if row[0] and not is_missing_mark(row[0])]
        numbers = sum(bool(NUMBER.fullmatch(value)) for value in values)
        return len(values) < 2 * numbers < 2 * len(values)

    def coded(self, column: EncodedColumn, *, where: str) -> CodedHierarchy:
        """Return the hierarchy in terms of the codes of a column of a table.

        Args:
            column: The column; all its values must be in the hierarchy, which may hold more.
            where: What messages call the table.

        Raises:
            DataError: A value of the column is not in the hierarchy; near ones are named.
        """
        for values, made in self._coded:
            if values is column.values and made.column == column.name:
                return made
        rows = positions(column.values, self._labels.take(pa.array(self._ids[0])))
        absent = np.flatnonzero(rows < 0)
        if absent.size:
            raise self._absence(column, absent, where)
        codes, labels, sizes = [], [], []
        for ids in self._ids:
            encoded = pa.array(ids[rows]).dictionary_encode()
            codes.append(np.asarray(encoded.indices).astype(np.uint32))
            labels.append(tuple(self._labels.take(encoded.dictionary).to_pylist()))
            records = np.bincount(ids, minlength=len(self._labels))
            sizes.append(records[np.asarray(encoded.dictionary)])
        parents = []
        for below, above, texts in zip(codes[:-1], codes[1:], labels[:-1], strict=True):
            parent = np.empty(len(texts), np.uint32)
            parent[below] = above
            parents.append(parent)
        coded = CodedHierarchy(
            column=column.name,
            domain=self.domain,
            codes=tuple(codes),
            labels=tuple(labels),
            sizes=tuple(sizes),
            parents=tuple(parents),
        )
        self._coded[:] = [(column.values, coded)]
        return coded

    @cached_property
    def _coded(self) -> list[tuple[pa.LargeStringArray, CodedHierarchy]]:
        """The column that was coded last: one table is recoded again and again."""
        return []

    def save(self, path: str | PathLike[str], *, encoding: str = "utf-8") -> None:
        """Write it as CSV with semicolons and no header, as ARX does; the file appears whole or not at all.

        `read_hierarchy` reads it back the same, but for ``suggested``: a file counts as reviewed. It holds the values
        of the column, and is for its owner only.

        Args:
            path: The file.
            encoding: How text is written; `read_hierarchy` has to be told if it is not UTF-8.
        """
        with (
            new_file(Path(path), private=True) as draft,
            draft.open("w", encoding=encoding, newline="") as file,
        ):
            csv.writer(file, delimiter=SEPARATOR).writerows(self.rows)

    @cached_property
    def _encoded(self) -> pa.DictionaryArray:
        """The labels of all rows, level by level, in one numbering."""
        cells = [row[level] for level in range(self.height) for row in self.rows]
        try:
            flat = pa.array(cells, pa.large_string())
        except (pa.ArrowException, UnicodeEncodeError):
            flat = pa.nulls(1)
        if flat.null_count:
            raise DataError(
                "{name} holds something that is not text; write every value as text",
                name=self._name,
            )
        return flat.dictionary_encode()

    @property
    def _labels(self) -> pa.LargeStringArray:
        """The distinct labels, values among them."""
        return self._encoded.dictionary

    @cached_property
    def _ids(self) -> Integers:
        """Per level and row, the position of the label."""
        return np.asarray(self._encoded.indices, np.int64).reshape(self.height, self.domain)

    @property
    def _name(self) -> str:
        return text("the hierarchy of {column}", column=quoted([self.column]))

    def _check_depth(self) -> None:
        if not self.rows or not self.rows[0]:
            raise DataError(
                "{name} has no rows; give one per value, ending in {star}",
                name=self._name,
                star=SUPPRESSED,
            )
        for position, row in enumerate(self.rows):
            if len(row) != self.height:
                value = quoted([str(row[0])]) if row else text("empty")
                raise DataError(
                    "{name}, row {row} ({value}): has {entries} levels where the first row has "
                    "{height}; give all rows as many, repeating a label where a level has none of its own",
                    name=self._name,
                    row=str(position + 1),
                    value=value,
                    entries=str(len(row)),
                    height=str(self.height),
                )

    def _check_values(self) -> None:
        ids = self._ids
        first = _first_rows(ids[0], len(self._labels))[ids[0]]
        again = np.flatnonzero(first != np.arange(self.domain))
        if not again.size:
            return
        here, there = int(again[0]), int(first[again[0]])
        differ = np.flatnonzero(ids[:, here] != ids[:, there])
        if not differ.size:
            raise DataError(
                "{row}: is there already as row {there}; remove one",
                row=text(
                    "{name}, row {row} ({value})",
                    name=self._name,
                    row=str(here + 1),
                    value=quoted([str(self.rows[here][0])]),
                ),
                there=str(there + 1),
            )
        raise self._two_parents(0, there, here, int(differ[0]))

    def _check_parents(self) -> None:
        ids = self._ids
        for level in range(1, self.height - 1):
            first = _first_rows(ids[level], len(self._labels))[ids[level]]
            differ = np.flatnonzero(ids[level + 1] != ids[level + 1][first])
            if differ.size:
                here = int(differ[0])
                raise self._two_parents(level, int(first[here]), here, level + 1)

    def _two_parents(self, level: int, there: int, here: int, above: int) -> DataError:
        words = {
            "name": self._name,
            "label": quoted([self.rows[here][level]]),
            "one": quoted([self.rows[there][above]]),
            "there": str(there + 1),
            "other": quoted([self.rows[here][above]]),
            "here": str(here + 1),
        }
        if level == 0:
            return DataError(
                "{name}: the value {label} has two parents, {one} in row {there} and {other} in row {here}; give "
                "it one",
                **words,
            )
        return DataError(
            "{name}: the label of level {level} {label} has two parents, {one} in row {there} and {other} in row "
            "{here}; give it one",
            level=str(level),
            **words,
        )

    def _check_root(self) -> None:
        last = self._ids[-1]
        differ = np.flatnonzero(last != last[0])
        if differ.size:
            words = {
                "name": self._name,
                "found": quoted([self.rows[0][-1], self.rows[int(differ[0])][-1]]),
                "star": SUPPRESSED,
            }
            if self.height > 1:
                raise DataError(
                    "{name} has no single root: its last level holds {found}; add a last column with {star}",
                    **words,
                )
            raise DataError(
                "{name} has no single root: its last level holds {found}; add a last column with {star}, or write "
                "it with semicolons, commas or tabs",
                **words,
            )

    def _check_meanings(self) -> None:
        """Refuse a label that stands for two sets of values at two levels: a cycle, or an ambiguous release.

        Levels are nested here. So a label that appears at two levels stands for one set if it does so for as many
        values at both, and for one value at both.
        """
        ids, count = self._ids, len(self._labels)
        sizes = [np.bincount(level, minlength=count) for level in ids]
        for low in range(self.height):
            first = _first_rows(ids[low], count)
            for high in range(low + 1, self.height):
                both = np.flatnonzero((sizes[low] > 0) & (sizes[high] > 0))
                alike = (sizes[low][both] == sizes[high][both]) & (ids[high][first[both]] == both)
                if not alike.all():
                    label = int(both[~alike][0])
                    raise DataError(
                        "{name}: {label} stands for "
                        "{lower_values} at level {low} and for {higher_values} at level "
                        "{high}, not the same ones; rename one of the two",
                        name=self._name,
                        label=quoted([self._labels[label].as_py()]),
                        lower_values=_values(sizes[low][label]),
                        low=str(low),
                        higher_values=_values(sizes[high][label]),
                        high=str(high),
                    )

    def _absence(self, column: EncodedColumn, absent: Integers, where: str) -> DataError:
        first = column.values[int(absent[0])].as_py()
        more = text(" (nor are {count} more)", count=str(len(absent) - 1))
        words = {
            "where": where,
            "column": quoted([column.name]),
            "more": more if len(absent) > 1 else "",
        }
        if first == MISSING:
            row = SEPARATOR.join([*[MISSING] * (self.height - 1), self.rows[0][-1]])
            return DataError(
                "{where}: column {column} has missing values, which are not in its hierarchy{more}; add a row for them "
                "with an empty first field, such as {row}",
                row=quoted([row]),
                **words,
            )
        candidates = (row[0] for row in self.rows[:_SEARCHED_FOR_NEAR_NAMES])
        near = [quoted([name]) for name in near_names(first, candidates)]
        words["value"] = quoted([first])
        if near:
            return DataError(
                "{where}: the value {value} of column {column} is not in its hierarchy{more}; did you mean {near}?",
                near=_either(near),
                **words,
            )
        return DataError(
            "{where}: the value {value} of column {column} is not in its hierarchy{more}; add a row for it",
            **words,
        )


def read_hierarchy(
    path: str | PathLike[str], *, column: str, dialect: Dialect | None = None
) -> Hierarchy:
    """Read a hierarchy from delimited text: one row per value, the most specific label first, and no header.

    Args:
        path: The file.
        column: The attribute that it is for.
        dialect: How the file is written down; by default a semicolon, as `Hierarchy.save` and ARX write, where that
            makes a hierarchy, else a detected separator.

    Raises:
        DataError: The file is malformed, or is no hierarchy.
    """
    headless = (dialect or Dialect()).model_copy(update={"header": False, "names": ()})
    semicolons = headless.model_copy(update={"separator": SEPARATOR})
    if headless.separator is not None or not _has_levels(path, semicolons):
        return _hierarchy_of(path, column, headless)
    try:
        return _hierarchy_of(path, column, semicolons)
    except DataError as error:
        try:
            return _hierarchy_of(path, column, headless)
        except DataError:
            raise error from None


def suppression_only(column: EncodedColumn) -> Hierarchy:
    """Return the hierarchy in which a value is told or not: value -> ``*``.

    >>> suppression_only(_example("F", "M")).rows
    (('F', '*'), ('M', '*'))
    """
    return _hierarchy(column, [])


def intervals(
    column: EncodedColumn,
    *,
    widths: Sequence[Number] = (),
    edges: Sequence[Sequence[Number]] = (),
    origin: Number = 0,
    names: Sequence[str] = (),
) -> Hierarchy:
    """Return the hierarchy of numbers in nested intervals, which hold their lower end and not their upper one.

    Args:
        column: The column of numbers. Whole numbers give labels such as ``20-24``, others ``[20, 25)``.
        widths: The width of the intervals per level, the finest first, each a multiple of the one before.
        edges: Instead of widths, the edges between intervals per level, each level's among those of the one before;
            what lies outside is ``<`` the first edge or ``>=`` the last.
        origin: Where one of the intervals begins, with widths.
        names: With the edges of one level, what its intervals are called, the lowest first; empty: by its ends.

    Raises:
        DataError: A value is not a number.
        StudyError: The levels are not nested, or the names not one per interval.

    >>> intervals(_example("23", "31"), widths=[5, 10]).rows
    (('23', '20-24', '20-29', '*'), ('31', '30-34', '30-39', '*'))
    >>> intervals(_example("7", "18", "70"), edges=[[0, 18, 65]]).rows
    (('7', '0-17', '*'), ('18', '18-64', '*'), ('70', '>=65', '*'))
    >>> intervals(_example("7", "70"), edges=[[18]], names=["child", ""]).rows
    (('7', 'child', '*'), ('70', '>=18', '*'))
    """
    if bool(widths) == bool(edges):
        raise StudyError("intervals need either widths or edges; give one of the two")
    if widths and not names:
        start = _decimal_number(origin, marked("the origin"))
        return _of_numbers(column, [_of_width(width, start) for width in _nested(widths)])
    levels = _nested_edges(edges)
    made = _of_numbers(column, [partial(Span.between, level) for level in levels])
    if not names:
        return made
    given = [name for name in names if name]
    if len(levels) != 1 or len(names) != len(levels[0]) + 1 or len(given) != len({*given}):
        raise StudyError(
            "names are for the intervals that the edges of one level make, one for each, such as "
            "intervals:edges=18,65:names=child,adult,senior"
        )
    called = {
        Span.between(levels[0], low).label(whole=whole): name
        for whole in (False, True)
        for low, name in zip([levels[0][0] - 1, *levels[0]], names, strict=True)
        if name
    }
    return replace(
        made,
        rows=tuple((value, called.get(label, label), root) for value, label, root in made.rows),
    )


def grouped(column: EncodedColumn, *, groups: Mapping[str, Sequence[str]]) -> Hierarchy:
    """Return the hierarchy of values in groups that somebody named; a value of no group stays as it is.

    Args:
        column: The column.
        groups: By the name of each group, its values; ``*`` are all that no group names.

    >>> grouped(_example("Lima", "Rio", "La Paz"), groups={"coast": ["Lima", "Rio"]}).rows
    (('Lima', 'coast', '*'), ('Rio', 'coast', '*'), ('La Paz', 'La Paz', '*'))
    """
    called = {value: name for name, values in groups.items() for value in values}
    rest = called.pop(SUPPRESSED, None)
    return _hierarchy(column, [[called.get(one, rest or one) for one in _present(column)]])


def rounding(column: EncodedColumn, *, to: Sequence[Number]) -> Hierarchy:
    """Return the hierarchy of numbers rounded to multiples, halves upward, each level from the one before.

    A label is the interval of the numbers that are rounded alike, such as ``15-24`` for 20: a bare 20 would be a value
    of the data as well, and nobody could tell the two apart.

    Args:
        column: The column of numbers.
        to: The multiples that are rounded to per level, the finest first.

    Raises:
        DataError: A value is not a number.
        StudyError: A multiple is not positive, or not above the one before.

    >>> rounding(_example("23", "47"), to=[10, 100]).rows
    (('23', '15-24', '-55..44', '*'), ('47', '45-54', '45-144', '*'))
    """
    units = [_decimal_number(unit, marked("what is rounded to")) for unit in to]
    if not units or units[0] <= 0 or any(a >= b for a, b in pairwise(units)):
        raise StudyError(
            "rounding needs positive numbers to round to, each above the one before, such as [10, 100]"
        )
    return _of_numbers(column, [_rounded(units[: level + 1]) for level in range(len(units))])


def top_bottom(
    column: EncodedColumn,
    *,
    bottom: Number | None = None,
    top: Number | None = None,
    widths: Sequence[Number] = (),
) -> Hierarchy:
    """Return the hierarchy that first hides the extremes: ``<20`` and ``>=90``, all between as they are.

    Args:
        column: The column of numbers.
        bottom: Numbers below it are one label.
        top: Numbers from it on are one label.
        widths: The widths of intervals on further levels, as for `intervals`; the extremes stay apart.

    Raises:
        DataError: A value is not a number.
        StudyError: Neither end is given, or the bottom is not below the top.

    >>> top_bottom(_example("17", "23", "95"), bottom=20, top=90, widths=[10]).rows
    (('17', '<20', '<20', '*'), ('23', '23', '20-29', '*'), ('95', '>=90', '>=90', '*'))
    """
    low = None if bottom is None else _decimal_number(bottom, marked("the bottom"))
    high = None if top is None else _decimal_number(top, marked("the top"))
    if low is None and high is None:
        raise StudyError("top and bottom coding needs a bottom, a top or both; give one")
    if low is not None and high is not None and low >= high:
        raise StudyError(
            "the bottom {bottom} is not below the top {top}; exchange them",
            bottom=str(bottom),
            top=str(top),
        )
    return _of_numbers(column, [_clipped(width, low, high) for width in (None, *_nested(widths))])


def prefixes(column: EncodedColumn, *, lengths: Sequence[int] | None = None) -> Hierarchy:
    """Return the hierarchy of codes cut from the right: ``13101`` -> ``1310*`` -> ``131**`` -> … -> ``*``.

    Where codes differ in length, one star stands for any rest, and a code shorter than a prefix stays as it is.

    Args:
        column: The column of codes.
        lengths: How many characters are kept per level, the most first; by default one less each.

    Raises:
        DataError: A code holds a star.
        StudyError: The lengths do not fall, or are not positive.

    >>> prefixes(_example("13101", "13200"), lengths=[4, 2]).rows
    (('13101', '1310*', '13***', '*'), ('13200', '1320*', '13***', '*'))
    >>> prefixes(_example("I21", "I210")).rows
    (('I21', 'I21*', 'I2*', 'I*', '*'), ('I210', 'I21*', 'I2*', 'I*', '*'))
    """
    codes = _present(column)
    longest = max(map(len, codes), default=0)
    lengths = range(longest - 1, 0, -1) if lengths is None else lengths
    if any(length < 1 for length in lengths) or any(a <= b for a, b in pairwise(lengths)):
        raise StudyError("the lengths of prefixes must be positive and fall, such as [4, 3, 2]")
    for code in codes:
        if SUPPRESSED in code:
            raise DataError(
                "the code {code} of column {column} holds a {star}, which stands for "
                "what is hidden; rename it",
                code=quoted([code]),
                column=quoted([column.name]),
                star=SUPPRESSED,
            )
    equal = all(len(code) == longest for code in codes)
    whole = longest if equal else None
    return _hierarchy(column, [_cut(codes, length, whole) for length in lengths])


def date_parts(
    column: EncodedColumn, *, parts: Sequence[str] | None = None, order: str = "ymd"
) -> Hierarchy:
    """Return the hierarchy of dates: day -> month -> quarter -> year -> decade.

    Labels are the ISO date with a star for what is hidden, and the quarter of a year: ``2000-02-*``, ``2000-Q1``,
    ``2000-*``, ``200*``.

    Args:
        column: The column of dates, such as ``2000-02-29``, ``29/02/2000`` or ``20000229``; a time of day may follow.
        parts: What the label of each level still tells, the finest first: of `DATE_PARTS`. By default all but the day,
            and the day too where there are times of day.
        order: In which order dates are written: of `DATE_ORDERS`.

    Raises:
        DataError: A value is not a date of that order.
        StudyError: The parts or the order are unknown, or the parts are not in order.

    >>> date_parts(_example("2000-02-29")).rows
    (('2000-02-29', '2000-02-*', '2000-Q1', '2000-*', '200*', '*'),)
    """
    if order not in DATE_ORDERS:
        raise StudyError(
            "the order {order} of dates is unknown; it is {orders}",
            order=repr(order),
            orders=_either(DATE_ORDERS),
        )
    days = [_day(written, order, column.name) for written in _present(column)]
    timed = any(has_time for _, has_time in days)
    levels = (DATE_PARTS if timed else DATE_PARTS[1:]) if parts is None else tuple(parts)
    if not levels or [part for part in DATE_PARTS if part in levels] != list(levels):
        raise StudyError(
            "the parts of dates are some of {parts}, in that order", parts=quoted(DATE_PARTS)
        )
    return _hierarchy(column, [[_date_label(day, part) for day, _ in days] for part in levels])


def by_rule(column: EncodedColumn, written: str) -> Hierarchy:
    """Return the hierarchy that a rule makes, as a study or the command line writes it.

    Args:
        column: The column.
        written: The name of a function of this module, a colon, and its levels, such as ``intervals:5,10``; further
            keywords follow after colons: ``top_bottom:20,90:widths=10``, ``date_parts:month,year:order=dmy``. Groups
            that somebody names are ``groups:coast=Lima+Rio,inland=La Paz``.

    Raises:
        DataError: A value of the column does not fit the rule.
        StudyError: It is no rule, or its levels are not nested.

    >>> by_rule(_example("23", "31"), "intervals:5,10").rows
    (('23', '20-24', '20-29', '*'), ('31', '30-34', '30-39', '*'))
    """
    rules: tuple[Callable[..., Hierarchy], ...] = (
        *(intervals, rounding, top_bottom, prefixes, date_parts, suppression_only),
    )
    parsed = hierarchy_rule(written)
    if parsed is None:
        raise StudyError(
            '"{given}" is not a rule for a hierarchy; read a file with read_hierarchy',
            given=written,
        )
    name, keywords = parsed
    if name in national.CODES:
        return replace(_of_codes(column, name), rule=written)
    by_name = {rule.__name__: rule for rule in rules} | {"groups": grouped}
    made = by_name[name](column, **keywords)
    return replace(made, rule=written)


def _of_codes(column: EncodedColumn, kind: str) -> Hierarchy:
    """Return the hierarchy of codes with a published structure."""
    codes = _present(column)
    if not codes:
        return _hierarchy(column, [])
    if not national.are_codes(kind, codes):
        strange = next(code for code in codes if not national.are_codes(kind, [code]))
        raise DataError(
            "the value {value} of column {column} is not a code that the rule {rule} knows; correct it, leave "
            'out such records with `invalid` "{name}={written}", or choose another rule',
            value=quoted([strange]),
            column=quoted([column.name]),
            rule=kind,
            name=column.name,
            written=strange,
        )
    return _hierarchy(column, national.CODES[kind].levels(codes))


def suggest(column: EncodedColumn, declared: Declared = NOTHING_DECLARED) -> Hierarchy:
    """Propose a hierarchy for the values of a column; a person should review it.

    It is made by the rule that its values, its name and its file suggest (`glasshouse.mitigation.suggestions`). Values
    that may stand for missing, and a few texts among numbers, stay as they are up to the root.

    >>> suggest(_example("17", "23", "90")).rows[0]
    ('17', '15-19', '10-19', '0-19', '*')
    >>> suggest(_example("red", "blue")).suggested
    True
    """
    rule, odd = suggested_rule(column, declared)
    if not odd:
        return replace(by_rule(column, rule), suggested=True)
    values = column.values.to_pylist()
    rest = pa.array([value for value in values if value not in set(odd)], pa.large_string())
    made = by_rule(EncodedColumn(column.name, np.zeros(0, np.uint32), rest), rule)
    apart = tuple((value,) * (made.height - 1) + (SUPPRESSED,) for value in odd)
    return Hierarchy(column.name, (*made.rows, *apart), suggested=True, rule=rule)


def example_row(hierarchy: Hierarchy, column: EncodedColumn) -> tuple[str, ...]:
    """Return a made-up value of a column and its label at each level; empty where the rule alone shows none.

    >>> column = _example("17", "23", "90")
    >>> example_row(suggest(column), column)
    ('37', '35-39', '30-39', '20-39', '*')
    """
    values = column.values.to_pylist() if hierarchy.rule else []
    value = example_value(hierarchy.rule, values)
    if not value:
        return ()
    made_up = EncodedColumn(
        column.name, np.zeros(1, np.uint32), pa.array([value], pa.large_string())
    )
    row = by_rule(made_up, hierarchy.rule).rows[0]
    return row if len(row) == hierarchy.height else ()


def exact(number: Number, *, what: str) -> Fraction:
    """Return a number exactly; a float as the decimal that it is written as.

    Raises:
        StudyError: It is not a finite number.

    >>> exact(0.1, what="t")
    Fraction(1, 10)
    """
    try:
        if isinstance(number, bool):
            raise TypeError
        return Fraction(number if isinstance(number, int | Fraction) else str(number).strip())
    except (ValueError, TypeError, ZeroDivisionError):
        raise StudyError(
            "{what} must be a number, not {number}", what=translated(what), number=repr(number)
        ) from None


_Level: TypeAlias = Callable[[Fraction], Span | None]
"""The interval in which a level puts a number; None: the number stays as it is."""


def _hierarchy_of(path: str | PathLike[str], column: str, dialect: Dialect) -> Hierarchy:
    source = _opened(path, dialect)
    try:
        rows = [
            row
            for batch in source.batches(source.columns)
            for row in zip(*(texts.to_pylist() for texts in batch.columns), strict=True)
        ]
    except DataError:
        rows = _uneven_rows(path, dialect)
        if not rows:
            raise
    if dialect.strip:
        rows = [tuple(written.strip() for written in row) for row in rows]
    try:
        return Hierarchy(column, tuple(rows))
    except DataError as error:
        raise DataError("{file}: {reason}", file=source.name, reason=error) from None


def _uneven_rows(path: str | PathLike[str], dialect: Dialect) -> list[tuple[str, ...]]:
    """Return the rows of a file that have not as many fields each, so that it can be said of which value; else none."""
    source = _opened(path, dialect.model_copy(update={"separator": UNIT_SEPARATOR, "quote": None}))
    try:
        lines = [line for batch in source.batches(source.columns) for line in batch[0].to_pylist()]
        separator = max(dialect.separator or CANDIDATE_SEPARATORS, key=lines[0].count)
        rows = list(map(tuple, csv_rows(lines, separator, dialect.quote)))
    except (DataError, csv.Error):
        return []
    return rows if len(set(map(len, rows))) > 1 else []


def _opened(path: str | PathLike[str], dialect: Dialect) -> Source:
    try:
        return open_source(path, dialect=dialect)
    except StudyError:
        raise DataError(
            "{file}: is not delimited text; write the hierarchy as CSV, one row per value",
            file=Path(path).name,
        ) from None


def _has_levels(path: str | PathLike[str], dialect: Dialect) -> bool:
    """Tell whether the first row of a file has several fields."""
    try:
        return len(_opened(path, dialect).columns) > 1
    except DataError:
        return False


def _first_rows(ids: Integers, labels: int) -> Integers:
    """Return the first row that carries each label of a level."""
    first = np.zeros(labels, np.int64)
    first[ids[::-1]] = np.arange(len(ids))[::-1]
    return first


def _values(count: int) -> str:
    return text_for(int(count), "{count} value", "{count} values")


def _either(names: Sequence[str]) -> str:
    """Join names of which one is meant."""
    *first, last = names
    return text("{first} or {last}", first=_either(first), last=last) if first else last


def _hierarchy(column: EncodedColumn, levels: Sequence[Sequence[str]]) -> Hierarchy:
    """Return the hierarchy of a column's values with the labels of each level; missing stays apart up to the root."""
    present = _present(column)
    labels = dict(zip(present, zip(*levels, strict=True) if levels else repeat(()), strict=False))
    rows = [
        (value, *labels.get(value, (value,) * len(levels)), SUPPRESSED)
        for value in column.values.to_pylist()
    ]
    return Hierarchy(column.name, tuple(rows))


def _present(column: EncodedColumn) -> list[str]:
    """Return the values that are none of those that say that one is missing."""
    return [
        value
        for value in column.values.to_pylist()
        if value != MISSING and not is_missing_mark(value)
    ]


def _cut(codes: list[str], length: int, whole: int | None) -> list[str]:
    """Return codes cut to a length: with a star for each character that is hidden, where all are of one length."""
    if whole is not None:
        return [code[:length] + SUPPRESSED * (whole - length) for code in codes]
    return [code[:length] + SUPPRESSED if len(code) >= length else code for code in codes]


def _of_numbers(column: EncodedColumn, levels: Sequence[_Level]) -> Hierarchy:
    texts = _present(column)
    numbers = [_number(written, column.name) for written in texts]
    whole = all(number == number.to_integral_value() for number in numbers)
    rising = sorted(range(len(numbers)), key=numbers.__getitem__)

    def labels(level: _Level) -> list[str]:
        """Label the numbers in rising order, so that each interval is looked up once."""
        labelled = list(texts)
        end: Decimal | None = None
        for place in rising:
            if end is None or numbers[place] >= end:
                span = level(Fraction(numbers[place]))
                if span is None:
                    continue
                label, end = span.label(whole=whole), span.end
            labelled[place] = label
        return labelled

    return _hierarchy(column, [labels(level) for level in levels])


def _number(written: str, column: str) -> Decimal:
    if not NUMBER.fullmatch(written.strip()):
        raise DataError(
            "the value {value} of column {column} is not a number; correct it, leave out such records with "
            '`invalid` "{name}={written}", or read a hierarchy from a file',
            value=quoted([written]),
            name=column,
            written=written,
            column=quoted([column]),
        )
    return Decimal(written.strip())


def _decimal_number(number: Number, what: str) -> Fraction:
    """Return a number that has finitely many decimals.

    Raises:
        StudyError: It has not, or is not a number.
    """
    exactly = exact(number, what=what)
    rest = exactly.denominator
    for prime in (2, 5):
        while rest % prime == 0:
            rest //= prime
    if rest > 1:
        raise StudyError(
            "{what} must be a decimal, not {given}", what=translated(what), given=str(exactly)
        )
    return exactly


def _nested(widths: Iterable[Number]) -> list[Fraction]:
    numbers = [_decimal_number(width, marked("the width of intervals")) for width in widths]
    if any(width <= 0 for width in numbers):
        raise StudyError(
            "the width of intervals must be positive, not {width}",
            width=plain_decimal(min(numbers)),
        )
    for narrow, wide in pairwise(numbers):
        if wide <= narrow or (wide / narrow).denominator > 1:
            raise StudyError(
                "intervals of width {wide} do not nest those of width {narrow}; each width must "
                "be a multiple of the one before",
                wide=plain_decimal(wide),
                narrow=plain_decimal(narrow),
            )
    return numbers


def _nested_edges(edges: Sequence[Sequence[Number]]) -> list[list[Fraction]]:
    levels: list[list[Fraction]] = []
    for level in edges:
        if isinstance(level, str) or not isinstance(level, Sequence) or not level:
            raise StudyError("give a list of edges per level, such as [[0, 18, 65], [18]]")
        numbers = [_decimal_number(edge, marked("the edge of an interval")) for edge in level]
        if any(a >= b for a, b in pairwise(numbers)):
            raise StudyError("the edges of intervals must rise; sort them, and give each once")
        new = sorted(set(numbers) - set(levels[-1])) if levels else []
        if new:
            raise StudyError(
                "the edge {edge} of level {level} is not an edge of the level before; each "
                "level's edges must be among those of the finer one",
                edge=plain_decimal(new[0]),
                level=str(len(levels) + 1),
            )
        levels.append(numbers)
    return levels


def _of_width(width: Fraction, origin: Fraction) -> _Level:
    def span(number: Fraction) -> Span:
        low = origin + floor((number - origin) / width) * width
        return Span(low, low + width)

    return span


def _rounded(units: Sequence[Fraction]) -> _Level:
    """Return the level of the numbers that are rounded alike, to each unit in turn."""

    def lowest(multiple: int) -> Fraction:
        """Return the least number that is rounded to a multiple of the last unit."""
        edge = units[-1] * (multiple - Fraction(1, 2))
        for unit in reversed(units[:-1]):
            edge = unit * (ceil(edge / unit) - Fraction(1, 2))
        return edge

    def span(number: Fraction) -> Span:
        for unit in units:
            multiple = floor(number / unit + Fraction(1, 2))
            number = unit * multiple
        return Span(lowest(multiple), lowest(multiple + 1))

    return span


def _clipped(width: Fraction | None, low: Fraction | None, high: Fraction | None) -> _Level:
    """Return the level of intervals between two ends, of which numbers outside tell only on which side they are."""

    def span(number: Fraction) -> Span | None:
        if low is not None and number < low:
            return Span(None, low)
        if high is not None and number >= high:
            return Span(high, None)
        if width is None:
            return None
        first = floor(number / width) * width
        end = first + width
        return Span(
            first if low is None else max(low, first), end if high is None else min(high, end)
        )

    return span


def _day(written: str, order: str, column: str) -> tuple[date, bool]:
    """Return the day that a text names, and whether a time of day follows it."""
    match = (_DATE if order == "ymd" else _DATE_WITH_YEAR_LAST).fullmatch(written.strip())
    try:
        if match is None:
            raise ValueError
        *digits, time = match.groups()
        parts = dict(zip(order, map(int, filter(None, digits)), strict=True))
        return date(parts["y"], parts["m"], parts["d"]), time is not None
    except ValueError:
        raise DataError(
            "the value {value} of column {column} is not a date written as {order}; correct it, "
            "or give the order of year, month and day, as in date_parts:order=dmy",
            value=quoted([written]),
            column=quoted([column]),
            order=order,
        ) from None


def _date_label(day: date, part: str) -> str:
    if part == "quarter":
        return f"{day.year:04}-Q{(day.month + 2) // 3}"
    length = {"day": 10, "month": 8, "year": 5, "decade": 3}[part]
    return day.isoformat()[:length] + SUPPRESSED


def _example(*values: str) -> EncodedColumn:
    """Return a column of some distinct values, one record each, for the examples above."""
    codes = np.arange(len(values), dtype=np.uint32)
    return EncodedColumn("example", codes, pa.array(values, pa.large_string()))
