"""What a protected release still serves for: the original against the release.

A released value that is generalised (``20-29``, ``130**``, a label of a hierarchy, ``*``) is spread evenly over the
values of the original that it stands for: whoever works with the release, and knows nothing more, can expect nothing
else. With c(r) the number of original values that the released value r stands for, and n(r) its records, the expected
count of the original value v is Σ n(r) / c(r) over the r that stand for v; several columns are spread independently.
Three questions are asked of this expectation:

- how far is each marginal, and each pair of columns, from the truth (`MarginalDistances`);
- how wrong are the answers to counting queries (`QueryError`; Xiao and Tao 2006, LeFevre et al. 2006);
- how well does a classifier predict that learned from the release (`Prediction`; LeFevre et al. 2008).

Records that the release leaves out count as suppressed, ``*`` in every column. Everything is computed on the distinct
combinations of values, with the number of records of each.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from decimal import Decimal
from fractions import Fraction
from functools import cached_property
from importlib import import_module
from itertools import combinations
from math import ceil
from statistics import fmean
from types import MappingProxyType
from typing import Any, Protocol
from weakref import ref

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray
from scipy.sparse import csr_array, hstack

from glasshouse.arrays import Flags, Floats, Integers
from glasshouse.compiled import compiled
from glasshouse.conditions import as_bound
from glasshouse.errors import DataError, StudyError
from glasshouse.language import quoted
from glasshouse.mitigation.distinct_rows import code_column, distinct_rows, first_of_each
from glasshouse.mitigation.hierarchies import Hierarchy
from glasshouse.mitigation.information_loss import looked_at
from glasshouse.mitigation.suggestions import suggested_rule
from glasshouse.sources import MISSING
from glasshouse.table import EncodedColumn, EncodedTable
from glasshouse.table.codes import positions
from glasshouse.table.encoded import Declared
from glasshouse.table.generalised import SUPPRESSED, covered_values
from glasshouse.table.partition import refined

MOST_COLUMNS = 3
"""A query asks for the values of at most so many columns."""
SELECTIVITY = 0.05
"""The share of all combinations of values that a query asks for."""
SANITY_BOUND = 0.001
"""Errors are taken relative to the true count, but at least to this share of the records."""
MOST_HITS = 1 << 20
"""Of so many values it is looked up at once, of several queries, whether they are asked for."""
SAMPLE = 100_000
"""Classifiers learn from and are tested on at most so many records."""
FOLDS = 3
"""Into how many parts the records are divided: each is tested with what was learned from the others."""


_MOST_KEPT = 64
_KEPT_NUMBERS: dict[int, tuple[ref[EncodedColumn], Floats | None]] = {}
"""Of the last columns of originals, which several releases are put beside: the numbers that they hold."""


class Classifier(Protocol):
    """What learns: a classifier of scikit-learn, or anything with the same two methods."""

    def fit(self, rows: Any, labels: Any, *, sample_weight: Any) -> Any:
        """Learn from rows of features, a label for each and how many records it stands for."""

    def predict(self, rows: Any) -> Any:
        """Return a label for each row."""


@dataclass(frozen=True)
class MarginalDistances:
    """How far the release is from the original, in single columns and in pairs of them.

    The distance is that of total variation, ½ Σ |p − q|: the greatest error in the share of any set of values. It is
    0 if nothing changed and 1 if nothing is left in common.
    """

    single: Mapping[str, float]
    """Per column, the distance of its distribution."""
    pairs: Mapping[tuple[str, str], float]
    """Per two columns, the distance of their joint distribution."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "single", MappingProxyType(dict(self.single)))
        object.__setattr__(self, "pairs", MappingProxyType(dict(self.pairs)))

    @property
    def mean_single(self) -> float:
        """The mean over the columns."""
        return fmean(self.single.values())

    @property
    def mean_pair(self) -> float | None:
        """The mean over the pairs; None where there is one column only."""
        return fmean(self.pairs.values()) if self.pairs else None

    def to_dict(self) -> dict[str, Any]:
        """Return the distances in plain values."""
        return {
            "mean_single": self.mean_single,
            "mean_pair": self.mean_pair,
            "single": dict(self.single),
            "pairs": [
                {"columns": list(names), "distance": distance}
                for names, distance in self.pairs.items()
            ],
        }

    def to_frame(self) -> pa.Table:
        """Return one row per column, and one per pair: the names of the columns and the distance."""
        names = [*((name,) for name in self.single), *self.pairs]
        distances = [*self.single.values(), *self.pairs.values()]
        return pa.table(
            {
                "columns": pa.array(map(list, names), pa.list_(pa.string())),
                "distance": pa.array(distances, pa.float64()),
            }
        )


@dataclass(frozen=True)
class ColumnCost:
    """What became of one column: the original, and what the release lets one expect of it."""

    column: str
    """Its name."""
    error: float
    """How far its distribution is from the truth, by total variation."""
    counts: tuple[tuple[int, float], ...]
    """Per value, which is not named, how many records have it and how many are expected to; the most frequent first."""
    mean: tuple[float, float] | None = None
    """Of a column of numbers, the mean before and after."""
    variance: tuple[float, float] | None = None
    """The same of the variance."""

    @property
    def mean_error(self) -> float | None:
        """How far the mean is off, in standard deviations of the original; None: it has no mean, or one value only."""
        if self.mean is None or self.variance is None or not self.variance[0]:
            return None
        return abs(self.mean[1] - self.mean[0]) / float(np.sqrt(self.variance[0]))

    @property
    def variance_error(self) -> float | None:
        """How far the variance is off, as a share of that of the original; None as for the mean."""
        if self.variance is None or not self.variance[0]:
            return None
        return abs(self.variance[1] / self.variance[0] - 1)

    def to_dict(self) -> dict[str, Any]:
        """Return the figures in plain values, without the counts."""
        return {
            "column": self.column,
            "error": self.error,
            "mean": None if self.mean is None else list(self.mean),
            "variance": None if self.variance is None else list(self.variance),
        }


@dataclass(frozen=True)
class ColumnCosts:
    """What became of each column, and of the correlations of those that hold numbers."""

    columns: tuple[ColumnCost, ...]
    """The columns."""
    correlations: Mapping[tuple[str, str], tuple[float, float]]
    """Per two columns of numbers, their correlation before and after."""

    def correlation_error(self, column: str) -> float | None:
        """Return by how much a correlation of a column is off at most; None: it has none."""
        errors = [
            abs(after - before)
            for names, (before, after) in self.correlations.items()
            if column in names
        ]
        return max(errors, default=None)

    def to_dict(self) -> dict[str, Any]:
        """Return the figures in plain values."""
        return {
            "columns": [cost.to_dict() for cost in self.columns],
            "correlations": [
                {"columns": list(names), "before": before, "after": after}
                for names, (before, after) in self.correlations.items()
            ],
        }

    def to_frame(self) -> pa.Table:
        """Return one row per column."""
        return pa.Table.from_pylist([cost.to_dict() for cost in self.columns])


@dataclass(frozen=True)
class QueryError:
    """How wrong the release's answers to random counting queries are."""

    queries: int
    """The number of queries."""
    median: float
    """The median of |answer − truth| / max(truth, bound)."""
    mean: float
    """Its mean."""
    bound: float
    """The number of records that counts as the least truth, so that tiny counts do not decide."""
    seed: int
    """What the queries depend on."""

    def to_dict(self) -> dict[str, Any]:
        """Return the figures in plain values."""
        return asdict(self)

    def to_frame(self) -> pa.Table:
        """Return the figures as one row."""
        return pa.Table.from_pylist([self.to_dict()])


@dataclass(frozen=True)
class Prediction:
    """How often a classifier is right on records of the original that it did not learn from."""

    target: str
    """What it predicts."""
    features: tuple[str, ...]
    """From what."""
    records: int
    """The number of records that it was tested on."""
    original: Fraction
    """The share that it gets right if it learned from the original."""
    release: Fraction
    """The share that it gets right if it learned from the release."""
    majority: Fraction
    """The share that has the most frequent value: right without any learning."""

    @property
    def kept(self) -> Fraction | None:
        """What is left of the gain over the majority; None where the original gives none."""
        gain = self.original - self.majority
        return (self.release - self.majority) / gain if gain > 0 else None

    def to_dict(self) -> dict[str, Any]:
        """Return the figures in plain values."""
        return {
            "target": self.target,
            "features": list(self.features),
            "records": self.records,
            "original": float(self.original),
            "release": float(self.release),
            "majority": float(self.majority),
            "kept": None if self.kept is None else float(self.kept),
        }

    def to_frame(self) -> pa.Table:
        """Return the figures as one row."""
        return pa.Table.from_pylist([self.to_dict()])


@dataclass(frozen=True)
class Utility:
    """What a release still serves for."""

    original: str
    """The name of the original."""
    release: str
    """The name of the release."""
    columns: tuple[str, ...]
    """What was compared."""
    distances: MarginalDistances
    """How far the distributions are from the truth."""
    queries: QueryError
    """How wrong counts are."""
    prediction: Prediction | None
    """How well classifiers do that learned from it; None where there is nothing to predict."""

    def to_dict(self) -> dict[str, Any]:
        """Return all figures in plain values."""
        return {
            "original": self.original,
            "release": self.release,
            "columns": list(self.columns),
            "distances": self.distances.to_dict(),
            "queries": self.queries.to_dict(),
            "prediction": None if self.prediction is None else self.prediction.to_dict(),
        }

    def to_frame(self) -> pa.Table:
        """Return one row per figure, so that the frames of several releases can be put below each other."""
        figures: dict[str, float | None] = {
            "mean distance of a column": self.distances.mean_single,
            "mean distance of a pair": self.distances.mean_pair,
            "median relative error of a query": self.queries.median,
            "mean relative error of a query": self.queries.mean,
        }
        if self.prediction is not None:
            learned = self.prediction.to_dict()
            accuracies = ("original", "release", "majority")
            figures |= {f"accuracy: {name}": learned[name] for name in accuracies}
        return pa.table(
            {
                "release": [self.release] * len(figures),
                "measure": list(figures),
                "value": pa.array(figures.values(), pa.float64()),
            }
        )


def compare_utility(
    original: EncodedTable,
    release: EncodedTable,
    *,
    columns: Sequence[str] | None = None,
    hierarchies: Mapping[str, Hierarchy] | None = None,
    queries: int = 1_000,
    target: str | None = None,
    classifier: Classifier | None = None,
    seed: int = 0,
    changed: bool = False,
    weights: Floats | None = None,
) -> Utility:
    """Tell what a release still serves for: distances of distributions, errors of counts, and what can be learned.

    A query takes one to three columns at random and asks how many records have one of some values in each of them: a
    range if the values are numbers or dates, else a random set. Of the c values of a column ⌈c · s^(1/q)⌉ are asked
    for, where q is the number of columns, so that a query covers about the share s = 5 % of all combinations (Xiao and
    Tao 2006, section 6). The error is |answer − truth| / max(truth, 0.1 % of the records).

    To predict, the records, or a sample of them, are divided at random into parts. For each part, one classifier learns
    from the release of the other parts, one from their original, and both predict the records of the part as they are
    in the original. A feature is a column of shares per original value: 1 for a plain value, and evenly spread for a
    generalised one. Records whose target is suppressed are not learned from.

    Args:
        original: The table before protection.
        release: The table after it, in any order; records may be left out. To predict, it must have the same records in
            the same order.
        columns: What to compare; by default the original's quasi-identifiers and sensitive attributes.
        hierarchies: For columns with labels that do not explain themselves, what these stand for.
        queries: How many counting queries to ask.
        target: What a classifier shall predict from the other columns; without it none is asked.
        classifier: What learns; by default the logistic regression of scikit-learn.
        seed: What the queries, and the division into parts, depend on.
        changed: Whether numbers became others, such as means, and records were sampled. A number that the original does
            not have counts as the nearest that it has, and every record of a sample for as many as it was drawn from;
            else records that are not there are taken for suppressed ones.
        weights: How many people each record stands for, the same in both tables: so often it is counted, but by a
            classifier.

    Raises:
        DataError: A column is not in both tables, or a released value stands for nothing in the original.
        StudyError: The question makes no sense, the target is generalised, or scikit-learn is wanted and not installed.

    >>> from glasshouse.table import read
    >>> before = read(pa.table({"age": [21, 22, 22, 22], "sex": ["f", "f", "m", "m"]}))
    >>> after = read(pa.table({"age": ["20-29"] * 4, "sex": ["f", "f", "m", "m"]}))
    >>> distances = compare_utility(before, after, columns=["age", "sex"]).distances
    >>> dict(distances.single), dict(distances.pairs)
    ({'age': 0.25, 'sex': 0.0}, {('age', 'sex'): 0.25})
    """
    names = _compared(original, columns)
    if queries < 1:
        raise StudyError("{queries} queries show nothing; ask at least one", queries=str(queries))
    if changed:
        release = _nearest(original, release, names)
    if weights is not None:
        _check_same_records(original, release)
    true, released = _both(original, release, names, hierarchies, sampled=changed, weights=weights)
    learned = None
    if target is not None:
        features = _compared(original, [name for name in names if name != target])
        learned = _prediction(original, release, target, features, hierarchies, classifier, seed)
    return Utility(
        original=original.name,
        release=release.name,
        columns=names,
        distances=_distances(true, released),
        queries=_query_error(true, released, queries, seed),
        prediction=learned,
    )


def column_costs(
    original: EncodedTable,
    release: EncodedTable,
    *,
    hierarchies: Mapping[str, Hierarchy] | None = None,
    changed: bool = False,
    weights: Floats | None = None,
) -> ColumnCosts:
    """Tell what became of each column, of the means, variances and correlations of those that hold numbers.

    Which columns hold numbers, and not codes of categories, is what `suggested_rule` finds. Records of which the number
    is missing are left out of the figures about it.

    Args:
        original: The table before protection.
        release: The table after it, the same records in the same order.
        hierarchies: For columns with labels that do not explain themselves, what these stand for.
        changed: Whether numbers became others, such as means. They are counted as the nearest of the original, but
            means, variances and correlations are those of the numbers themselves.
        weights: How many people each record stands for: so often it counts in every error, mean, variance and
            correlation. How frequent each value is stays a number of records.

    Raises:
        DataError: A released value stands for nothing in the original, or the records are not the same.
    """
    _check_same_records(original, release)
    costs, moments, as_released = [], {}, release
    if changed:
        release = _nearest(original, release, _compared(original, None))
    for name in _compared(original, None):
        true, released = _used(original.column(name)), _used(release.column(name))
        hierarchy = (hierarchies or {}).get(name)
        spread = _spread(true, released, hierarchy, original.name, release.name)
        before = np.bincount(true.codes, minlength=true.cardinality)
        expected = np.bincount(released.codes, minlength=released.cardinality) @ spread.shares
        people, expected_people = before.astype(np.float64), expected
        if weights is not None:
            people = _added(true.codes, weights, true.cardinality)
            counted = _added(released.codes, weights, released.cardinality)
            expected_people = counted @ spread.shares
        order = np.argsort(-before, kind="stable")
        cost = ColumnCost(
            column=name,
            error=float(np.abs(people - expected_people).sum() / (2 * people.sum())),
            counts=tuple(
                zip(before[order].tolist(), np.round(expected[order], 9).tolist(), strict=True)
            ),
        )
        numbers = _numbers(true, original.declared(name))
        if numbers is not None:
            both = (
                _Moments.of(true.codes, numbers, _Spread.identity(true.cardinality)),
                _Moments.of_numbers(as_released.column(name))
                if changed
                else _Moments.of(released.codes, numbers, spread),
            )
            if weights is not None:
                both = (both[0].weighed(weights), both[1].weighed(weights))
            moments[name] = both
            cost = replace(
                cost,
                mean=(both[0].mean, both[1].mean),
                variance=(both[0].variance, both[1].variance),
            )
        costs.append(cost)
    return ColumnCosts(
        tuple(costs),
        {
            (one, other): (
                moments[one][0].correlation(moments[other][0]),
                moments[one][1].correlation(moments[other][1]),
            )
            for one, other in combinations(moments, 2)
        },
    )


def measured_detail(
    original: EncodedTable,
    release: EncodedTable,
    *,
    hierarchies: Mapping[str, Hierarchy] | None = None,
    weights: Floats | None = None,
) -> float:
    """Return the share of detail that a release loses: how many of a column's values a released one leaves open.

    Of a cell that is 0, the value itself, to 1, any of them; a record that is not there leaves open all. It is averaged
    over records and columns.

    >>> from glasshouse.table import read
    >>> before = read(pa.table({"age": [21, 22, 23, 24, 35], "sex": ["f", "f", "m", "m", "m"]}))
    >>> after = read(pa.table({"age": ["20-24"] * 4 + ["35"], "sex": ["*"] * 5}))
    >>> measured_detail(before.with_roles(quasi_identifiers=["age", "sex"]), after)
    0.8
    """
    names = _compared(original, None)
    _, released = _both(original, release, names, hierarchies, weights=weights)
    records = released.weights.sum()
    lost = []
    for place, spread in enumerate(released.spreads):
        open_values = np.diff(spread.starts) - 1
        share = released.counts(place) @ open_values / records
        lost.append(share / max(1, spread.width - 1))
    return fmean(map(float, lost))


@dataclass(frozen=True)
class ChangedColumn:
    """A column whose values were changed by a rule."""

    column: str
    """The column."""
    rule: str
    """The rule, as it is typed."""
    unchanged: Fraction
    """The share of the records that still have their value."""

    @classmethod
    def of(cls, before: EncodedColumn, after: EncodedColumn, rule: str) -> ChangedColumn:
        """Compare a column with what is released of it, record by record."""
        places = {value: code for code, value in enumerate(before.values.to_pylist())}
        codes = np.array([places.get(value, -1) for value in after.values.to_pylist()])
        same = int(np.count_nonzero(codes[after.codes] == before.codes))
        return cls(before.name, rule, Fraction(same, len(before.codes)))

    def to_dict(self) -> dict[str, Any]:
        """Return it as plain values."""
        return {**vars(self), "unchanged": float(self.unchanged)}


def cut_off(table: EncodedTable, release: EncodedTable, group: str) -> float:
    """Return the share of detail that is lost where a sensitive value is one of those of its group."""
    groups, lost = release.column(group).codes.astype(np.int64), 0.0
    for part in dict.fromkeys(
        part.name for name in table.sensitive for part in table.columns_of(name)
    ):
        column = release.column(part)
        domain = len(np.unique(column.codes))
        cells = np.unique(groups * column.cardinality + column.codes)
        open_values = np.bincount(cells // column.cardinality)[groups]
        lost += float((open_values - 1).mean()) / max(1, domain - 1)
    return lost / looked_at(table)


def replaced(table: EncodedTable, release: EncodedTable) -> float:
    """Return the share of detail that is lost where values are changed: of cells that are not in the file as they were.

    How far the new value is from the old one does not count: nobody can tell from the file.
    """
    names = dict.fromkeys(
        part.name
        for name in (*table.quasi_identifiers, *table.sensitive)
        for part in table.columns_of(name)
    )
    kept = release.records / table.records if table.records else 1.0
    if release.records != table.records:
        return 1 - kept
    same = [ChangedColumn.of(table.column(n), release.column(n), "").unchanged for n in names]
    return float(1 - sum(same, Fraction(0)) / len(same))


def _used(column: EncodedColumn) -> EncodedColumn:
    """Return a column without values that no record has."""
    is_used = np.bincount(column.codes, minlength=column.cardinality) > 0
    if is_used.all():
        return column
    codes = (np.cumsum(is_used) - 1)[column.codes].astype(np.uint32)
    return EncodedColumn(column.name, codes, column.values.take(pa.array(np.flatnonzero(is_used))))


def _numbers(column: EncodedColumn, declared: Declared) -> Floats | None:
    """Return the values of a column of numbers, NaN where one is missing; None: it holds none, but categories."""
    kept = _KEPT_NUMBERS.get(id(column))
    if kept is not None and kept[0]() is column:
        return kept[1]
    rule = suggested_rule(column, declared)[0].partition(":")[0]
    numbers = _points(column) if rule in ("intervals", "rounding", "top_bottom") else None
    if numbers is not None and declared.missing:
        numbers[[text in declared.missing for text in column.values.to_pylist()]] = np.nan
    if len(_KEPT_NUMBERS) >= _MOST_KEPT:
        _KEPT_NUMBERS.clear()
    _KEPT_NUMBERS[id(column)] = (ref(column), numbers)
    return numbers


def _points(column: EncodedColumn) -> Floats:
    """Return the number of each value of a column, NaN where it is none."""
    points = [as_bound(written) for written in column.values.to_pylist()]
    return np.array([float(p) if isinstance(p, Decimal) else np.nan for p in points])


def _nearest(original: EncodedTable, release: EncodedTable, names: Sequence[str]) -> EncodedTable:
    """Return a release in which every number that the original does not have is the nearest that it has, else lower."""
    columns = dict(release.columns)
    for name in names:
        true, column = original.column(name), release.column(name)
        numbers, points = _points(true), _points(column)
        order = np.argsort(numbers)[: np.count_nonzero(np.isfinite(numbers))]
        strange = (positions(column.values, true.values) < 0) & np.isfinite(points)
        if not strange.any() or not len(order):
            continue
        ascending = numbers[order]
        above = np.clip(np.searchsorted(ascending, points), 1, len(order) - 1)
        above -= points - ascending[above - 1] <= ascending[above] - points
        texts, nearest = true.values.to_pylist(), order[above]
        columns[name] = column.with_values(
            texts[nearest[code]] if strange[code] else written
            for code, written in enumerate(column.values.to_pylist())
        )
    return replace(release, columns=columns)


@dataclass(frozen=True)
class _Moments:
    """Per record, what is expected of a number: whether it is there, and itself and its square if it is."""

    there: Floats
    number: Floats
    square: Floats
    weight: Floats | None = None

    @classmethod
    def of(cls, codes: NDArray[Any], numbers: Floats, spread: _Spread) -> _Moments:
        """Return them of records with some codes, which stand for some of the numbers."""
        known = np.isfinite(numbers)
        plain = np.where(known, numbers, 0.0)
        by_code = [spread.shares @ column for column in (known.astype(np.float64), plain, plain**2)]
        there, number, square = (column[codes] for column in by_code)
        return cls(there, number, square)

    def weighed(self, weights: Floats) -> _Moments:
        """Return them where each record counts by a weight."""
        return replace(self, weight=weights)

    @classmethod
    def of_numbers(cls, column: EncodedColumn) -> _Moments:
        """Return them of a column as it is."""
        return cls.of(column.codes, _points(column), _Spread.identity(column.cardinality))

    @property
    def mean(self) -> float:
        return self._sum(self.number) / self._sum(self.there)

    @property
    def variance(self) -> float:
        return self._sum(self.square) / self._sum(self.there) - self.mean**2

    def _sum(self, column: Floats) -> float:
        return float(column.sum() if self.weight is None else column @ self.weight)

    def correlation(self, other: _Moments) -> float:
        """Return the correlation with another number over the records that have both; 0 where one is the same in all.

        Both are spread independently of each other.
        """
        there, number = other.there, other.number
        if self.weight is not None:
            there, number = there * self.weight, number * self.weight
        both = float(self.there @ there)
        if not both:
            return 0.0
        means = float(self.number @ there) / both, float(self.there @ number) / both
        square = other.square if self.weight is None else other.square * self.weight
        variances = (
            float(self.square @ there) / both - means[0] ** 2,
            float(self.there @ square) / both - means[1] ** 2,
        )
        covariance = float(self.number @ number) / both - means[0] * means[1]
        if min(variances) <= 0:
            return 0.0
        return covariance / float(np.sqrt(variances[0] * variances[1]))


# Both tables in the terms of the original's values


@dataclass(frozen=True)
class _Spread:
    """For each released value of a column, the original values that it stands for, in compressed rows."""

    starts: Integers
    covered: Integers
    width: int
    """The number of original values."""

    @classmethod
    def identity(cls, width: int) -> _Spread:
        """Return that of a column whose values stand for themselves."""
        return cls(np.arange(width + 1), np.arange(width), width)

    @property
    def shares(self) -> csr_array:
        """Per released value (row) and original value (column), the share of the row that falls on it."""
        sizes = np.diff(self.starts)
        data = np.repeat(1.0 / sizes, sizes)
        return csr_array((data, self.covered, self.starts), shape=(len(sizes), self.width))

    def shares_of(self, values: Flags) -> Floats:
        """Return, per choice of original values (row) and released value (column), which share of it falls on them."""
        hits = np.zeros((len(values), len(self.covered) + 1), np.int64)
        np.cumsum(values[:, self.covered], axis=1, out=hits[:, 1:])
        counts = hits[:, self.starts[1:]] - hits[:, self.starts[:-1]]
        shares: Floats = counts / np.diff(self.starts)
        return shares


@dataclass(frozen=True)
class _Counted:
    """The distinct combinations of some columns, with the records of each, and what their values stand for."""

    columns: tuple[EncodedColumn, ...]
    """Each with a code per combination, and a dictionary of the values that occur."""
    weights: Floats
    """Per combination, its number of records: whole numbers."""
    spreads: tuple[_Spread, ...]
    """Per column, the original values that its values stand for."""

    @cached_property
    def codes(self) -> NDArray[np.uint32]:
        """Per column (row) and combination, the code of the value."""
        return np.stack([column.codes.astype(np.uint32) for column in self.columns])

    def projected(self, chosen: Sequence[int]) -> _Counted:
        """Return the combinations of some of the columns."""
        columns = [self.columns[attribute] for attribute in chosen]
        classes = refined(columns, len(self.weights))
        first = first_of_each(classes)
        return _Counted(
            columns=tuple(EncodedColumn(c.name, c.codes[first], c.values) for c in columns),
            weights=_added(classes.numbers, self.weights, classes.classes),
            spreads=tuple(self.spreads[attribute] for attribute in chosen),
        )

    def counts(self, attribute: int) -> Floats:
        """Return the records per value of a column."""
        column = self.columns[attribute]
        return _added(column.codes, self.weights, column.cardinality)

    def answers(self, queries: Sequence[_Query]) -> Iterator[float]:
        """Yield the expected number of records that each query on these columns counts."""
        at_once = max(1, MOST_HITS // max(len(spread.covered) for spread in self.spreads))
        for begin in range(0, len(queries), at_once):
            chosen = zip(*(query.values for query in queries[begin : begin + at_once]), strict=True)
            shares = [
                spread.shares_of(np.stack(values))
                for spread, values in zip(self.spreads, chosen, strict=True)
            ]
            size = len(shares[0]), len(shares), max(part.shape[1] for part in shares)
            padded = np.zeros(size)
            for column, part in enumerate(shares):
                padded[:, column, : part.shape[1]] = part
            yield from (float(_weighed(self.weights, self.codes, row)) for row in padded)


def _compared(original: EncodedTable, columns: Sequence[str] | None) -> tuple[str, ...]:
    if isinstance(columns, str):
        raise StudyError('give a list of columns, such as ["{given}"], not one text', given=columns)
    if columns is None:
        named = (*original.quasi_identifiers, *original.sensitive)
        columns = [part.name for name in named for part in original.columns_of(name)]
    if not columns:
        raise StudyError("name the columns of {original} to compare", original=original.name)
    for position, name in enumerate(columns):
        original.column(name)
        if name in columns[:position]:
            raise StudyError('column "{name}" is given twice', name=name)
    return tuple(columns)


def _both(
    original: EncodedTable,
    release: EncodedTable,
    names: Sequence[str],
    hierarchies: Mapping[str, Hierarchy] | None,
    *,
    sampled: bool = False,
    weights: Floats | None = None,
) -> tuple[_Counted, _Counted]:
    """Return the combinations of the original and of the release, of a sample as many as it was drawn from."""
    if release.records > original.records:
        raise DataError(
            "{release} has {records} records, more than the {own} of {original}; "
            "compare a release with the table that it was made of",
            release=release.name,
            records=release.records,
            own=original.records,
            original=original.name,
        )
    columns, true_weights = _combinations(original, names, original.records, weights)
    identities = tuple(_Spread.identity(column.cardinality) for column in columns)
    counted = release.records if sampled else original.records
    released, released_weights = _combinations(release, names, counted, weights)
    released_weights *= original.records / counted
    spreads = tuple(
        _spread(true, column, (hierarchies or {}).get(true.name), original.name, release.name)
        for true, column in zip(columns, released, strict=True)
    )
    return _Counted(columns, true_weights, identities), _Counted(
        released, released_weights, spreads
    )


def _combinations(
    table: EncodedTable, names: Sequence[str], records: int, weights: Floats | None = None
) -> tuple[tuple[EncodedColumn, ...], Floats]:
    """Return the combinations of some columns of so many records; those that the table does not have are ``*``."""
    rows = distinct_rows(table, names)
    absent = records - table.records
    columns = tuple(
        _with_used_values(table.column(name), codes, absent=absent > 0)
        for name, codes in zip(names, rows.codes.T, strict=True)
    )
    if weights is not None:
        return columns, _added(rows.number, weights, rows.distinct)
    counts = np.append(rows.weights, absent) if absent else rows.weights
    return columns, counts.astype(np.float64)


def _with_used_values(
    column: EncodedColumn, codes: NDArray[np.uint32], *, absent: bool
) -> EncodedColumn:
    used, numbers = np.unique(codes, return_inverse=True)
    texts = column.values.take(pa.array(used))
    if absent:
        code = texts.index(SUPPRESSED).as_py()
        if code < 0:
            code = len(texts)
            texts = pa.concat_arrays([texts, pa.array([SUPPRESSED], pa.large_string())])
        numbers = np.append(numbers, code)
    return EncodedColumn(column.name, numbers.astype(np.uint32), texts)


def _spread(
    true: EncodedColumn,
    released: EncodedColumn,
    hierarchy: Hierarchy | None,
    original_name: str,
    release_name: str,
) -> _Spread:
    """Return the original values that each released one stands for: itself if the original has it."""
    position = positions(released.values, true.values)
    general = np.flatnonzero(position < 0)
    texts = released.values.take(pa.array(general)).to_pylist()
    meanings = _values_under_labels(true, hierarchy)
    unlabelled = [written for written in texts if written not in meanings or written == SUPPRESSED]
    meanings |= zip(unlabelled, covered_values(true.values, unlabelled), strict=True)
    for written in texts:
        if not len(meanings[written]):
            raise DataError(
                '{value} in column "{column}" of {release} stands for no value of '
                "{original}; give the hierarchy of the column",
                value=quoted([written]),
                column=true.name,
                release=release_name,
                original=original_name,
            )
    sizes = np.ones(released.cardinality, np.int64)
    sizes[general] = [len(meanings[written]) for written in texts]
    starts = np.concatenate([np.zeros(1, np.int64), np.cumsum(sizes)])
    covered = np.empty(starts[-1], np.int64)
    covered[starts[:-1]] = position
    for code, written in zip(general.tolist(), texts, strict=True):
        covered[starts[code] : starts[code + 1]] = meanings[written]
    return _Spread(starts, covered, true.cardinality)


def _values_under_labels(true: EncodedColumn, hierarchy: Hierarchy | None) -> dict[str, Integers]:
    """Return, per label of a hierarchy, the codes of the values that it stands for in the data, ascending."""
    code = {value: code for code, value in enumerate(true.values.to_pylist())}
    labels: dict[str, list[int]] = {}
    for value, *above in () if hierarchy is None else hierarchy.rows:
        if value in code:
            for label in dict.fromkeys(above):
                labels.setdefault(label, []).append(code[value])
    return {label: np.array(sorted(codes), np.int64) for label, codes in labels.items()}


# Distances


def _distances(true: _Counted, released: _Counted) -> MarginalDistances:
    names = [column.name for column in true.columns]
    return MarginalDistances(
        single={
            name: _distance_of_one(true, released, attribute)
            for attribute, name in enumerate(names)
        },
        pairs={
            (names[one], names[other]): _distance_of_two(true, released, one, other)
            for one, other in combinations(range(len(names)), 2)
        },
    )


def _distance_of_one(true: _Counted, released: _Counted, attribute: int) -> float:
    expected = released.counts(attribute) @ released.spreads[attribute].shares
    return float(np.abs(true.counts(attribute) - expected).sum() / (2 * true.weights.sum()))


def _distance_of_two(true: _Counted, released: _Counted, one: int, other: int) -> float:
    """Return the distance of a joint distribution.

    With the released counts N and the shares A and B of both columns, the expected counts are E = AᵀNB. Where the
    truth T is 0 they are all that differs, so that Σ |T − E| is Σ E + Σ (|T − E| − E) over the cells of T that are not:
    no more cells than there are records are looked at, however many values a blank cell may stand for.
    """
    truth, counts = (_cross_table(counted, one, other) for counted in (true, released))
    rows = np.repeat(np.arange(truth.shape[0]), np.diff(truth.indptr))
    shares = [released.spreads[attribute].shares for attribute in (one, other)]
    standing = [of_column.tocsc() for of_column in shares]
    counts.sort_indices()
    expected = _expected_cells(
        rows.astype(np.int64),
        truth.indices.astype(np.int64),
        *(
            part
            for matrix in (*standing, counts)
            for part in (
                matrix.indptr.astype(np.int64),
                matrix.indices.astype(np.int64),
                matrix.data.astype(np.float64),
            )
        ),
    )
    totals = [np.asarray(of_column.sum(axis=1)).ravel() for of_column in shares]
    whole = float(totals[0] @ (counts @ totals[1]))
    apart = whole + float((np.abs(truth.data - expected) - expected).sum())
    return max(0.0, apart) / (2 * float(true.weights.sum()))


@compiled
def _expected_cells(
    rows: Integers,
    columns: Integers,
    row_starts: Integers,
    row_labels: Integers,
    row_shares: Floats,
    column_starts: Integers,
    column_labels: Integers,
    column_shares: Floats,
    starts: Integers,
    places: Integers,
    counts: Floats,
) -> Floats:
    """Return the expected count of some cells: over the labels that may stand for its two values, of their records."""
    expected = np.zeros(rows.size)
    for cell in range(rows.size):
        total = 0.0
        for one in range(row_starts[rows[cell]], row_starts[rows[cell] + 1]):
            label = row_labels[one]
            first, end = starts[label], starts[label + 1]
            for other in range(column_starts[columns[cell]], column_starts[columns[cell] + 1]):
                wanted = column_labels[other]
                place = first + np.searchsorted(places[first:end], wanted)
                if place < end and places[place] == wanted:
                    total += row_shares[one] * column_shares[other] * counts[place]
        expected[cell] = total
    return expected


def _cross_table(counted: _Counted, one: int, other: int) -> csr_array:
    """Return the records per value of one column (row) and of another."""
    part = counted.projected([one, other])
    first, second = part.columns
    places = (first.codes.astype(np.int64), second.codes.astype(np.int64))
    shape = (first.cardinality, second.cardinality)
    return csr_array((part.weights, places), shape=shape)


# Queries


@dataclass(frozen=True)
class _Query:
    """How many records have one of some values in each of some columns?"""

    columns: tuple[int, ...]
    values: tuple[Flags, ...]
    """Per column, which of the original's values count."""


def _query_error(true: _Counted, released: _Counted, queries: int, seed: int) -> QueryError:
    drawn = list(_random_queries(true.columns, queries, SELECTIVITY, np.random.default_rng(seed)))
    by_columns: dict[tuple[int, ...], list[int]] = {}
    for number, query in enumerate(drawn):
        by_columns.setdefault(query.columns, []).append(number)
    bound = SANITY_BOUND * float(true.weights.sum())
    errors = np.empty(queries)
    for columns, numbers in by_columns.items():
        true_part, released_part = true.projected(columns), released.projected(columns)
        asked = [drawn[number] for number in numbers]
        answers = zip(true_part.answers(asked), released_part.answers(asked), strict=True)
        for number, (truth, answer) in zip(numbers, answers, strict=True):
            errors[number] = abs(answer - truth) / max(truth, bound)
    return QueryError(queries, float(np.median(errors)), float(np.mean(errors)), bound, seed)


def _random_queries(
    columns: Sequence[EncodedColumn], queries: int, selectivity: float, rng: np.random.Generator
) -> Iterator[_Query]:
    orders = [_natural_order(column) for column in columns]
    for _ in range(queries):
        count = int(rng.integers(1, min(MOST_COLUMNS, len(columns)) + 1))
        chosen = sorted(rng.choice(len(columns), count, replace=False).tolist())
        values = []
        for attribute in chosen:
            width = columns[attribute].cardinality
            size = min(width, ceil(width * selectivity ** (1 / count)))
            values.append(_random_values(width, size, orders[attribute], rng))
        yield _Query(tuple(chosen), tuple(values))


def _random_values(
    width: int, size: int, order: Integers | None, rng: np.random.Generator
) -> Flags:
    """Choose values: a range of them where they have an order, else any."""
    chosen = np.zeros(width, np.bool_)
    if order is None:
        chosen[rng.choice(width, size, replace=False)] = True
    else:
        first = int(rng.integers(0, width - size + 1))
        chosen[order[first : first + size]] = True
    return chosen


def _natural_order(column: EncodedColumn) -> Integers | None:
    """Return the codes in the order of the numbers or days that the values are; None where they are not."""
    texts = column.values.to_pylist()
    points = [as_bound(written) for written in texts]
    kinds = {type(point) for point in points if point is not None}
    unordered = points.count(None) > sum(written.strip() == MISSING for written in texts)
    if unordered or len(kinds) != 1:
        return None
    rising = sorted(range(len(points)), key=lambda code: (points[code] is not None, points[code]))
    return np.array(rising, np.int64)


def _added(numbers: NDArray[Any], weights: Floats, classes: int) -> Floats:
    """Return the sum of the weights in each class."""
    sums: NDArray[Any] = np.bincount(numbers, weights, minlength=classes)
    return sums


@compiled
def _weighed(weights: Floats, codes: NDArray[np.uint32], shares: Floats) -> float:
    """Return the sum of the weights, each times the shares of its values."""
    total = 0.0
    for i in range(weights.size):
        product = weights[i]
        for j in range(codes.shape[0]):
            product *= shares[j, codes[j, i]]
        total += product
    return total


# Prediction


@dataclass(frozen=True)
class _Lessons:
    """What can be learned from a table, or predicted: distinct rows of features, with label and fold."""

    rows: csr_array
    labels: Integers
    """Per row, the code of the target's value in the original; −1: suppressed."""
    folds: NDArray[np.uint8]
    """Per row, in which part of the records it is."""
    weights: Integers
    """Per row, its number of records."""


def _prediction(
    original: EncodedTable,
    release: EncodedTable,
    target: str,
    features: Sequence[str],
    hierarchies: Mapping[str, Hierarchy] | None,
    classifier: Classifier | None,
    seed: int,
) -> Prediction:
    """Tell how well a classifier predicts real records if it learned from the release, and if from the original."""
    original.column(target), release.column(target)
    _check_same_records(original, release)
    learner = _logistic_regression() if classifier is None else classifier
    rng = np.random.default_rng(seed)
    if original.records > SAMPLE:
        chosen = np.sort(rng.choice(original.records, SAMPLE, replace=False))
        original, release = original.of_records(chosen), release.of_records(chosen)
    fold = rng.integers(0, FOLDS, original.records).astype(np.uint8)
    true, released = _both(original, release, features, hierarchies)
    labels = original.column(target).codes.astype(np.int64)
    released_labels = _released_labels(original.column(target), release.column(target))
    tested = _lessons(original, features, labels, fold, true)
    learned = _lessons(release, features, released_labels, fold, released)
    right = [
        sum(_right(learner, source, tested, number) for number in range(FOLDS))
        for source in (tested, learned)
    ]
    most = int(np.bincount(labels).max())
    return Prediction(
        target=target,
        features=tuple(features),
        records=original.records,
        original=Fraction(right[0], original.records),
        release=Fraction(right[1], original.records),
        majority=Fraction(most, original.records),
    )


def _check_same_records(original: EncodedTable, release: EncodedTable) -> None:
    if original.records != release.records:
        raise DataError(
            "{release} has {records} records and {original} {own}; "
            'keep suppressed records, with "{star}", so that both have the same records in the same order',
            release=release.name,
            records=release.records,
            original=original.name,
            own=original.records,
            star=SUPPRESSED,
        )


def _logistic_regression() -> Classifier:
    try:
        linear_model = import_module("sklearn.linear_model")
    except ImportError:
        raise StudyError(
            "prediction needs scikit-learn; pip install 'glasshouse[learn]', or give a classifier"
        ) from None
    learner: Classifier = linear_model.LogisticRegression(max_iter=1_000, tol=1e-3)
    return learner


def _released_labels(true: EncodedColumn, released: EncodedColumn) -> Integers:
    """Return the target of each record of the release, in codes of the original; −1 where it is suppressed."""
    labels = positions(released.values, true.values)[released.codes]
    unknown = np.unique(released.codes[labels < 0])
    for written in released.values.take(pa.array(unknown)).to_pylist():
        if written != SUPPRESSED:
            raise StudyError(
                '{value} in column "{column}" of the release is not a value of the original; '
                "predict a column that was not generalised",
                value=quoted([written]),
                column=true.name,
            )
    if len(unknown) and not np.any(labels >= 0):
        raise StudyError(
            'column "{column}" of the release is suppressed; predict another one',
            column=true.name,
        )
    return labels


def _lessons(
    table: EncodedTable,
    names: Sequence[str],
    labels: Integers,
    fold: NDArray[np.uint8],
    counted: _Counted,
) -> _Lessons:
    columns = [table.column(name) for name in names]
    classes = refined([*columns, code_column(labels + 1), code_column(fold)], table.records)
    first = first_of_each(classes)
    features = []
    for column, used, spread in zip(columns, counted.columns, counted.spreads, strict=True):
        codes = positions(column.values, used.values)[column.codes[first]]
        features.append(spread.shares[codes])
    rows = hstack(features, format="csr")
    return _Lessons(rows, labels[first], fold[first], classes.sizes)


def _right(learner: Classifier, learned: _Lessons, tested: _Lessons, fold: int) -> int:
    """Learn from all parts but one; return how many records of that one are predicted right."""
    chosen = (learned.folds != fold) & (learned.labels >= 0)
    test = tested.folds == fold
    if not test.any():
        return 0
    labels = learned.labels[chosen]
    if not len(labels):
        raise StudyError("too few records to learn from; take fewer parts, or more records")
    if np.all(labels == labels[0]):
        predicted = np.full(np.count_nonzero(test), labels[0])
    else:
        learner.fit(learned.rows[chosen], labels, sample_weight=learned.weights[chosen])
        predicted = np.asarray(learner.predict(tested.rows[test]))
    return int(tested.weights[test][predicted == tested.labels[test]].sum())
