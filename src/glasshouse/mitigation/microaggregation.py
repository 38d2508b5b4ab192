"""Microaggregation: numbers are replaced by the mean of a group of at least k records; and the coding of tails.

- *Univariate*: each column by itself. Sorted, the best groups are stretches of k to 2k − 1 records, and the shortest
  path over their ends has the least sum of squared errors of all groupings (Hansen and Mukherjee 2003). Every released
  value is shared by k records; several columns together may still single people out.
- *MDAV*: all columns together, each divided by its standard deviation. Around the record farthest from the mean, and
  around the one farthest from that, the k nearest form groups; and so on with the rest (Domingo-Ferrer and Torra 2005).
  Records are alike in all columns with at least k − 1 others: the release is k-anonymous. Large tables are cut at
  medians into blocks first, as the work grows with the square of a block.

Unlike ranges, means can be added up: the total of a column stays what it was, but for rounding. Values that are no
numbers are refused; distances are doubles, while means and what is lost are exact fractions of the decimals written.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from glasshouse.arrays import Floats, Integers
from glasshouse.compiled import called, compiled
from glasshouse.errors import DataError, InternalError, StudyError
from glasshouse.language import quoted, text, unknown_name
from glasshouse.mitigation.distinct_rows import records_per_value
from glasshouse.mitigation.hierarchies import Number, exact
from glasshouse.mitigation.information_loss import Recoding
from glasshouse.table import EncodedColumn, EncodedTable
from glasshouse.table.codes import smallest_unsigned
from glasshouse.table.encode import NUMBER
from glasshouse.table.partition import refined

METHODS = ("mdav", "univariate")
"""How groups are formed."""
_BLOCK = 512
"""MDAV compares the records of at most so many."""


def microaggregate(
    table: EncodedTable,
    *,
    k: int,
    columns: Sequence[str] | None = None,
    method: str = "mdav",
    decimals: int | None = None,
) -> Recoding:
    """Replace numbers by the means of groups of at least k records.

    Args:
        table: The records.
        k: The least number of records in a group.
        columns: What is aggregated; by default the table's quasi-identifiers.
        method: One of `METHODS`.
        decimals: How many decimals a mean is released with, rounded half to even; by default as many as the column
            has, and one more.

    Returns:
        The recoding. Its loss is the mean over the columns of the squared error divided by that of one mean for all
        (0 where a column has one value only), of the means before they are rounded.

    Raises:
        DataError: A column is not in the table, or a value is no number.
        StudyError: There are fewer than k records, or no such method.

    >>> from glasshouse.table import read
    >>> people = read(pa.table({"age": ["20", "22", "60", "61", "65"]}), quasi_identifiers=["age"])
    >>> found = microaggregate(people, k=2)
    >>> found.release(people).column("age").values.to_pylist(), found.classes
    (['21.0', '62.0'], 2)
    """
    names = tuple(table.quasi_identifiers if columns is None else columns)
    if method not in METHODS:
        where = text("the ways to microaggregate")
        raise StudyError(unknown_name("rule", method, where, METHODS))
    if not names:
        raise StudyError("say what to microaggregate: one column or more")
    if isinstance(k, bool) or not isinstance(k, int) or not 1 <= k <= table.records:
        raise StudyError(
            "k must be a whole number from 1 to the {records} records, not {k}",
            records=str(table.records),
            k=repr(k),
        )
    numbers = {name: _Numbers.of(table, name) for name in names}
    if method == "univariate":
        groups = {name: _stretches(column.doubles, k) for name, column in numbers.items()}
    else:
        together = mdav(np.stack([column.doubles for column in numbers.values()], axis=1), k)
        groups = dict.fromkeys(names, together)
    released, lost = {}, Fraction(0)
    for name, column in numbers.items():
        released[name], squares = column.means(groups[name], decimals)
        lost += squares
    classes = refined(list(released.values()), table.records)
    if method == "mdav" and int(classes.sizes.min()) < k:
        raise InternalError(f"a microaggregation was found that is not {k}-anonymous")
    return Recoding(
        method=method,
        quasi_identifiers=names,
        heights=None,
        suppressed=np.zeros(table.records, np.bool_),
        released=released,
        classes=classes.classes,
        loss=float(lost / len(names)),
        optimal=method == "univariate",
        objective="squared error",
    )


def code_tails(
    table: EncodedTable,
    column: str,
    *,
    bottom: Number | None = None,
    top: Number | None = None,
    means: bool = False,
) -> EncodedTable:
    """Return a table in which numbers below a bottom or above a top are told as one value.

    Args:
        table: The records.
        column: The column; quasi-identifier, sensitive or other.
        bottom: What is below is released as ``<bottom``.
        top: What is above is released as ``>top``.
        means: Whether each tail is released as the mean of its numbers instead, with one decimal more than they have,
            so that the mean of the column stays what it was.

    Raises:
        DataError: The column is not in the table, or has a value that is no number.
        StudyError: Neither end is given, or the bottom lies above the top.

    >>> from glasshouse.table import read
    >>> people = read(pa.table({"age": ["3", "20", "60", "99", "104"]}))
    >>> code_tails(people, "age", top=89).column("age").values.to_pylist()
    ['3', '20', '60', '>89']
    >>> code_tails(people, "age", top=89, means=True).column("age").values.to_pylist()
    ['3', '20', '60', '101.5']
    """
    low, high = (None if end is None else exact(end, what="an end") for end in (bottom, top))
    if low is None and high is None:
        raise StudyError("say where a tail begins: `bottom`, `top` or both")
    if low is not None and high is not None and low > high:
        raise StudyError("`bottom` lies above `top`; give them the other way round")
    numbers = _Numbers.of(table, column)
    values = table.column(column).values.to_pylist()
    tally = records_per_value(table.column(column))
    scale = 10**numbers.decimals
    for end, beyond in (
        (f"<{bottom}", [low is not None and unit < low * scale for unit in numbers.units.tolist()]),
        (f">{top}", [high is not None and unit > high * scale for unit in numbers.units.tolist()]),
    ):
        places = np.flatnonzero(beyond)
        people = tally[places].sum(keepdims=True)
        if means and people[0]:
            total = (numbers.units[places] * tally[places]).sum(keepdims=True)
            end = _written(int(_rounded(total, people, 1)[0]), numbers.decimals + 1)
        for place in places:
            values[place] = end
    coded = table.column(column).with_values(values)
    return replace(table, columns={**table.columns, column: coded})


def column_numbers(column: EncodedColumn, *, where: str) -> list[Decimal]:
    """Return the number of each value of a column.

    Raises:
        DataError: A value is no number.
    """
    texts = [written.strip() for written in column.values.to_pylist()]
    unfit = next((written for written in texts if not NUMBER.fullmatch(written)), None)
    if unfit is not None:
        raise DataError(
            "{where}: the value {value} of column {column} is not a number; leave such records out, or generalise the "
            "column",
            where=where,
            value=quoted([unfit]),
            column=quoted([column.name]),
        )
    return [Decimal(written) for written in texts]


@dataclass(frozen=True)
class _Numbers:
    """The numbers of a column as whole multiples of its last decimal."""

    column: EncodedColumn
    units: NDArray[Any]
    """Per value, its number in units of the last decimal; Python's integers where 64 bits might be too few."""
    decimals: int
    """How many decimals its numbers have."""

    @classmethod
    def of(cls, table: EncodedTable, name: str) -> _Numbers:
        column = table.column(name)
        numbers = column_numbers(column, where=table.name)
        decimals = max([0, *(-int(number.as_tuple().exponent) for number in numbers)])
        units = [int(number.scaleb(decimals)) for number in numbers]
        room = max(map(abs, units), default=0) * table.records * 100
        return cls(column, np.array(units, np.int64 if room < 2**63 else object), decimals)

    @property
    def doubles(self) -> Floats:
        """Per record, its number."""
        rising: Floats = (self.units / 10.0**self.decimals).astype(np.float64)
        return rising[self.column.codes]

    def means(self, groups: Integers, decimals: int | None) -> tuple[EncodedColumn, Fraction]:
        """Return the column with every number replaced by the mean of its group, and which share of it is lost."""
        digits = self.decimals + 1 if decimals is None else decimals
        order = np.argsort(groups, kind="stable")
        sizes = np.bincount(groups)
        sums = np.add.reduceat(self.units[self.column.codes[order]], np.cumsum(sizes) - sizes)
        # The squared error is Σ x² − Σ S² / m over the groups, and with one group for all.
        exactly = self.units.astype(object)
        squares = int(exactly**2 @ records_per_value(self.column).astype(object))
        whole = squares - Fraction(int(sums.sum()) ** 2, len(groups))
        inside = sum(
            Fraction(int((sums[sizes == size].astype(object) ** 2).sum()), int(size))
            for size in np.unique(sizes)
        )
        texts, places = np.unique(
            _rounded(sums, sizes, digits - self.decimals), return_inverse=True
        )
        values = [_written(int(unit), digits) for unit in texts]
        codes = places.astype(smallest_unsigned(len(values)))[groups]
        column = EncodedColumn(self.column.name, codes, pa.array(values, pa.large_string()))
        return column, (squares - inside) / whole if whole else Fraction(0)


def _rounded(sums: NDArray[Any], sizes: Integers, more: int) -> NDArray[Any]:
    """Return sums divided by sizes, in units with so many more decimals, half to even."""
    scale = 10 ** abs(more)
    above, below = (sums * scale, sizes) if more >= 0 else (sums, sizes * scale)
    units = above // below
    twice = 2 * (above - units * below)
    up = (twice > below) | ((twice == below) & (units % 2 == 1))
    rounded: NDArray[Any] = units + up.astype(np.int64)
    return rounded


def _written(units: int, decimals: int) -> str:
    """Return a number of units of the last of so many decimals.

    >>> _written(-5, 2), _written(12, 0)
    ('-0.05', '12')
    """
    digits = f"{abs(units):0{decimals + 1}d}"
    point = len(digits) - decimals
    return "-" * (units < 0) + digits[:point] + ("." + digits[point:] if decimals else "")


# One column: the shortest path over the ends of stretches


def _stretches(numbers: Floats, k: int) -> Integers:
    """Return, per record, its group: stretches of the sorted numbers with the least squared error."""
    order = np.argsort(numbers, kind="stable")
    groups = np.empty(len(numbers), np.int64)
    groups[order] = _shortest_path(numbers[order], k)
    return groups


@compiled
def _shortest_path(rising: Floats, k: int) -> Integers:
    """Return the group of each of some rising numbers: from k to 2k − 1 neighbours, with the least squared error."""
    count = rising.size
    errors = np.full(count + 1, np.inf)
    errors[0] = 0.0
    before = np.zeros(count + 1, np.int64)
    for end in range(k, count + 1):
        # Lengthen the last stretch one by one to the remaining; its mean and squared error follow (Welford 1962).
        mean, squared = 0.0, 0.0
        for size in range(1, min(2 * k - 1, end) + 1):
            number = rising[end - size]
            step = number - mean
            mean += step / size
            squared += step * (number - mean)
            if size >= k and errors[end - size] + squared < errors[end]:
                errors[end] = errors[end - size] + squared
                before[end] = end - size
    # Walk back from the end, and number the stretches.
    groups = np.empty(count, np.int64)
    end, number = count, 0
    while end > 0:
        groups[before[end] : end] = number
        end = before[end]
        number += 1
    return groups


# All columns together


def mdav(points: Floats, k: int) -> Integers:
    """Return, per point (row), its group of at least k points near each other."""
    deviations = points.std(axis=0)
    scaled = np.ascontiguousarray(points / np.where(deviations > 0, deviations, 1))
    groups = np.empty(len(points), np.int64)
    first, most = 0, max(_BLOCK, 3 * k)
    stack = [np.arange(len(points))]
    while stack:
        block = stack.pop()
        if len(block) > most:
            # Cut the block at the median of the column in which it is widest.
            within = scaled[block]
            widest = int(np.argmax(within.max(axis=0) - within.min(axis=0)))
            middle = len(block) // 2
            order = np.argpartition(within[:, widest], middle)
            stack += [block[order[middle:]], block[order[:middle]]]
            continue
        block.sort()
        numbers = _mdav(scaled[block], k)
        groups[block] = numbers + first
        first += int(numbers.max()) + 1
    return groups


@compiled
def _mdav(points: Floats, k: int) -> Integers:
    """Group the points of one block."""
    count, columns = points.shape
    groups = np.full(count, -1, np.int64)
    rest, number = np.arange(count), 0
    remaining = count
    distances = np.empty(count)
    mean = np.empty(columns)
    while remaining >= 2 * k:
        # The point farthest from the mean of the rest, and the k nearest to it.
        mean[:] = 0.0
        for i in range(remaining):
            for a in range(columns):
                mean[a] += points[rest[i], a]
        mean /= remaining
        far = _farthest(points, rest, remaining, mean)
        remaining = _take(points, rest, remaining, points[far], k, groups, number, distances)
        number += 1
        # The point farthest from that one, and the k nearest to it.
        if remaining >= 2 * k:
            other = _farthest(points, rest, remaining, points[far])
            remaining = _take(points, rest, remaining, points[other], k, groups, number, distances)
            number += 1
    for i in range(remaining):
        groups[rest[i]] = number
    return groups


@called
def _farthest(points: Floats, rest: Integers, remaining: int, centre: Floats) -> int:
    """Return which of the points that are left is farthest from a centre."""
    best, far = -1.0, 0
    for i in range(remaining):
        distance = 0.0
        for a in range(centre.size):
            distance += (points[rest[i], a] - centre[a]) ** 2
        if distance > best:
            best, far = distance, rest[i]
    return far


@compiled
def _take(
    points: Floats,
    rest: Integers,
    remaining: int,
    centre: Floats,
    k: int,
    groups: Integers,
    number: int,
    distances: Floats,
) -> int:
    """Make a group of the k points nearest to a centre; return how many points are left, in their order."""
    for i in range(remaining):
        distances[i] = 0.0
        for a in range(centre.size):
            distances[i] += (points[rest[i], a] - centre[a]) ** 2
    for _ in range(k):
        best, nearest = np.inf, 0
        for i in range(remaining):
            if distances[i] < best:
                best, nearest = distances[i], i
        groups[rest[nearest]] = number
        distances[nearest] = np.inf
    end = 0
    for i in range(remaining):
        if groups[rest[i]] < 0:
            rest[end] = rest[i]
            end += 1
    return end
