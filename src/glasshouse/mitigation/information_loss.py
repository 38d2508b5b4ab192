"""A recoding, and what it costs: how much less the released table tells.

`Recoding` is what `recode`, `recode_locally` and `mondrian` return, and `quality` says what is left of the table. An
`Objective` scores the nodes of the lattice that `recode` searches; the functions beside it say what any of the three
may be asked.

With n records, n_a(v) of them with the value v of attribute a, D_a values in the domain of a (the rows of its
hierarchy), and d_a(g) of them under the label g:

- loss                 Π_a (1 + L_a)^(1/attributes) − 1, L_a = (S_a − n/D_a) / (n − n/D_a), where S_a adds up the share
  d_a(g) / D_a of every record's label; as ARX's Loss metric, which cuts each L_a off after ten decimals.
- granularity          the same shares in an arithmetic mean (Iyengar 2002): Σ_a (S_a/n − 1/D_a) / Σ_a (1 − 1/D_a)
- non-uniform entropy  bits that it takes to go back from labels to values (de Waal and Willenborg 1999; with records at
  several levels: Prasser, Bild and Kuhn 2016), divided by those to go back from nothing
- discernibility       Σ |class|² + n · suppressed (Bayardo and Agrawal 2005)
- average class size   (LeFevre et al. 2005), of the classes that are released

A suppressed record has the label of the root in every attribute, and is in no class. With survey weights a record
counts as often as it has people behind it, in the first three. The last two are put between 0,
the table before it was recoded, and 1, all records alike. Each is a loss: 0 where nothing is lost, 1 where everything
is. ARX shows 1 minus that, and so does `Quality`.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from bisect import bisect_right
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import cached_property
from types import MappingProxyType
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from glasshouse.arrays import Flags, Floats, Integers
from glasshouse.errors import StudyError
from glasshouse.language import marked, quoted, text, unknown_name
from glasshouse.microdata.survey_weights import SurveyWeights, WeightedClasses
from glasshouse.mitigation.criteria import (
    Criterion,
    TableCriterion,
    refuse_strangers,
    sensitive_of,
)
from glasshouse.mitigation.distinct_rows import (
    PEOPLE,
    CodedHierarchy,
    DistinctRows,
    LevelLabels,
    RowClasses,
    first_of_each,
    label_counts,
    part_of,
    records_per_code,
)
from glasshouse.mitigation.hierarchies import Hierarchy, Number, exact
from glasshouse.table import EncodedColumn, EncodedTable
from glasshouse.table.codes import smallest_unsigned
from glasshouse.table.partition import refined

_CUT = 10**10
"""ARX cuts the loss of an attribute off after ten decimals."""
_EXACT = 1 << 53
"""Up to here doubles count exactly."""
_FINE = float(1 << 40)
"""Scores are whole multiples of 1 / _FINE: their sums are exact, and equal in any order of the attributes."""


@dataclass(frozen=True)
class Recoding:
    """A table's quasi-identifiers as they are to be released."""

    method: str
    """How it was found."""
    quasi_identifiers: tuple[str, ...]
    """The columns that are recoded."""
    heights: Mapping[str, int] | None
    """Per quasi-identifier, the level of its hierarchy that is released; None where records differ."""
    suppressed: Flags
    """Per record, whether it is suppressed: all its quasi-identifiers become ``*``."""
    released: Mapping[str, EncodedColumn]
    """Per quasi-identifier, the released column."""
    classes: int
    """The number of released classes; suppressed records form none."""
    loss: float
    """What the objective says is lost, between 0 (nothing) and 1 (everything)."""
    optimal: bool
    """Whether it is proved that no recoding of this method loses less."""
    bound: float | None = None
    """Where the search was stopped early: a loss that is proved to be a lower bound; None: the loss itself is."""
    objective: str = "loss"
    """What was made least, one of `glasshouse.mitigation.information_loss.OBJECTIVES`."""
    evaluated: int = field(default=0, compare=False)
    """How many nodes were looked at."""

    def __post_init__(self) -> None:
        if self.heights is not None:
            object.__setattr__(self, "heights", MappingProxyType(dict(self.heights)))
        object.__setattr__(self, "released", MappingProxyType(dict(self.released)))

    @property
    def records(self) -> int:
        """The number of records, suppressed ones included."""
        return len(self.suppressed)

    def release(self, table: EncodedTable) -> EncodedTable:
        """Return the protected table: the same columns, the quasi-identifiers recoded.

        Raises:
            StudyError: It is not the table that was recoded.
        """
        missing = [name for name in self.quasi_identifiers if name not in table.columns]
        if missing or table.records != self.records:
            raise StudyError(
                "{table} is not the table that was recoded, which had {own} records and "
                "{columns}; recode it first",
                table=table.name,
                own=str(self.records),
                columns=quoted(self.quasi_identifiers),
            )
        columns = {name: self.released.get(name, column) for name, column in table.columns.items()}
        return replace(table, columns=columns)

    def to_dict(self) -> dict[str, Any]:
        """Return the outcome as plain values, without any record."""
        return {
            "method": self.method,
            "quasi_identifiers": list(self.quasi_identifiers),
            "heights": None if self.heights is None else dict(self.heights),
            "suppressed": int(np.count_nonzero(self.suppressed)),
            "classes": self.classes,
            "objective": self.objective,
            "loss": self.loss,
            "optimal": self.optimal,
            "bound": self.bound,
        }

    def to_frame(self) -> pa.Table:
        """Return one row per quasi-identifier: the level that is released, null where records differ."""
        heights = self.heights or dict.fromkeys(self.quasi_identifiers)
        return pa.table(
            {
                "attribute": pa.array(self.quasi_identifiers, pa.string()),
                "height": pa.array([heights[name] for name in self.quasi_identifiers], pa.int64()),
            }
        )


def question(
    table: EncodedTable,
    quasi_identifiers: Sequence[str] | None,
    criteria: Sequence[Criterion | TableCriterion],
) -> tuple[tuple[str, ...], tuple[Criterion | TableCriterion, ...]]:
    """Return the columns to be recoded, and the criteria ready to judge.

    Raises:
        DataError: A column is not in the table.
        StudyError: The question is not well posed.
    """
    known = table.quasi_identifiers if quasi_identifiers is None else quasi_identifiers
    if isinstance(known, str):
        raise StudyError('give a list of columns, such as ["{given}"], not one text', given=known)
    names = tuple(column.name for name in known for column in table.columns_of(name))
    if not names:
        raise StudyError("a recoding needs at least one quasi-identifier; name one")
    if not criteria or isinstance(criteria, Criterion | TableCriterion):
        raise StudyError("a recoding needs a list of criteria to meet, such as [KAnonymity(5)]")
    refuse_strangers(criteria)
    ready = tuple(criterion.for_table(table) for criterion in criteria)
    table.with_roles(quasi_identifiers=names, sensitive=sensitive_of(ready), facts={})
    return names, ready


def suppressible(table: EncodedTable, suppression: Number) -> int:
    """Return how many records may be suppressed, given the share of them.

    Raises:
        StudyError: It is not a share.
    """
    share = exact(suppression, what=marked("the suppression limit"))
    if not 0 <= share <= 1:
        raise StudyError(
            "the suppression limit is a share of the records from 0 to 1, not {suppression}",
            suppression=str(suppression),
        )
    return math.floor(share * table.records)


def released_column(
    name: str, texts: Sequence[str], labels: Integers, numbers: NDArray[np.integer[Any]]
) -> EncodedColumn:
    """Return a column as released; its values are those that occur, in order of first appearance.

    Args:
        name: The column.
        texts: What may be released, each once.
        labels: Per set of records that are released alike, which of the texts it has.
        numbers: Per record, the number of its set; sets are numbered by first appearance.
    """
    encoded = pa.array(labels).dictionary_encode()
    codes = np.asarray(encoded.indices).astype(smallest_unsigned(len(encoded.dictionary)))[numbers]
    codes.flags.writeable = False
    return EncodedColumn(name, codes, pa.array(texts, pa.large_string()).take(encoded.dictionary))


@dataclass(frozen=True)
class AttributeQuality:
    """What is left of one attribute, between 0 (nothing) and 1 (all)."""

    granularity: float
    """1 − (mean share of the domain under a record's label − 1/D) / (1 − 1/D)."""
    non_uniform_entropy: float
    """1 − bits lost / bits of the attribute."""


@dataclass(frozen=True)
class Quality:
    """What is left of a recoded table, by several measures."""

    loss: float
    """The Loss metric: 0 where nothing is lost, 1 where everything is."""
    granularity: float
    """1 − the loss of granularity, as the next three: 1 where nothing is lost."""
    non_uniform_entropy: float
    """How much of the values' information is left."""
    discernibility: float
    """How well records can still be told apart."""
    average_class_size: float
    """How small the classes still are."""
    attributes: Mapping[str, AttributeQuality]
    """What is left of each quasi-identifier."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "attributes", MappingProxyType(dict(self.attributes)))

    def to_dict(self) -> dict[str, Any]:
        """Return the measures as plain values."""
        return {name: getattr(self, name) for name in OBJECTIVES} | {
            "attributes": {name: vars(quality) for name, quality in self.attributes.items()}
        }

    def to_frame(self) -> pa.Table:
        """Return one row per quasi-identifier."""
        rows = [{"attribute": name, **vars(quality)} for name, quality in self.attributes.items()]
        kinds = [("granularity", pa.float64()), ("non_uniform_entropy", pa.float64())]
        return pa.Table.from_pylist(rows, schema=pa.schema([("attribute", pa.string()), *kinds]))


def quality(
    table: EncodedTable,
    recoding: Recoding,
    hierarchies: Mapping[str, Hierarchy],
    *,
    weights: SurveyWeights | None = None,
    rows: DistinctRows | None = None,
) -> Quality:
    """Tell what is left of a table after it was recoded, globally or locally.

    Args:
        table: The table before it was recoded.
        recoding: The recoding.
        hierarchies: The hierarchies that it used.
        weights: How many people each record stands for: so often it counts, a suppressed one too, but in what looks at
            classes.
        rows: The distinct combinations of the table, where they are counted already.

    Raises:
        StudyError: A quasi-identifier has no hierarchy, or the recoding is of another table.
    """
    recoding.release(table)  # refuses another table
    names = recoding.quasi_identifiers
    coded = coded_hierarchies(table, names, hierarchies)
    sums, bits, whole = [], [], []
    for name, hierarchy in coded.items():
        levels = _records_by_level(table.column(name), recoding, hierarchy, weights)
        sums.append(_values_under_labels(hierarchy, levels))
        bits.append(_bits_lost(hierarchy, levels))
        whole.append(_bits(levels.sum(axis=1), int(levels.sum())))
    records = table.records if weights is None else int(weights.each.sum())
    domains = [hierarchy.domain for hierarchy in coded.values()]
    columns = [table.column(name) for name in names]
    before = refined(columns, table.records).sizes if rows is None else rows.weights
    retained = np.flatnonzero(~recoding.suppressed)
    released = [part_of(column, retained) for column in recoding.released.values()]
    after = refined(released, len(retained)).sizes
    return Quality(
        loss=loss(sums, domains=domains, records=records),
        granularity=1 - granularity_loss(sums, domains=domains, records=records),
        non_uniform_entropy=1 - _ratio(sum(bits), sum(whole)),
        discernibility=1 - discernibility_loss(before, after),
        average_class_size=1 - class_size_loss(before, after),
        attributes={
            name: AttributeQuality(
                granularity=1 - float(_share_lost(sums[i], domains[i], records)),
                non_uniform_entropy=1 - _ratio(bits[i], whole[i]),
            )
            for i, name in enumerate(names)
        },
    )


def weighted_classes(recoding: Recoding, weights: SurveyWeights) -> WeightedClasses:
    """Return how many people the released classes stand for, by survey weights."""
    retained = ~recoding.suppressed
    columns = [replace(c, codes=c.codes[retained]) for c in recoding.released.values()]
    classes = refined(columns, int(np.count_nonzero(retained)))
    chosen = weights.of_records(retained)
    return WeightedClasses.of(chosen, classes, recoding.released, people=weights.total)


def detail_lost(table: EncodedTable, left: Quality, removed: float = 0.0) -> float:
    """Return the share of detail that a recoding loses.

    Of a cell it is how many of the column's values the released one leaves open, from 0, the value itself, to 1, any of
    them; it is averaged over all records and over the columns that were looked at, what can be known and what is
    sensitive. So a column of which nothing is left counts as one, of as many as there are.

    Args:
        table: The records before.
        left: What is left of each column that can be known.
        removed: The share of the records that are not in the release, whose sensitive values are lost, too.
    """
    lost = sum(1 - attribute.granularity for attribute in left.attributes.values())
    lost += removed * (looked_at(table) - len(left.attributes))
    return max(0.0, lost / looked_at(table))


def looked_at(table: EncodedTable) -> int:
    """Return how many columns can be known or are sensitive."""
    named = (*table.quasi_identifiers, *table.sensitive)
    return len({part.name for name in named for part in table.columns_of(name)})


def loss(
    sums: Sequence[int],
    *,
    domains: Sequence[int],
    records: int,
    weights: Sequence[float] | None = None,
) -> float:
    """Return the Loss metric: the geometric mean of 1 + L_a over the attributes, minus 1.

    Args:
        sums: Per attribute, how many values of its domain stand under a record's label, added up over all records; a
            suppressed record counts the whole domain. This is S_a · D_a.
        domains: Per attribute, the number of values in its domain.
        records: The number of records, suppressed ones included.
        weights: Per attribute, its weight in the geometric mean; by default all alike.

    >>> loss([100, 400], domains=[4, 4], records=100)
    0.41421356237309515
    """
    lost = [
        _share_lost(total, domain, records) for total, domain in zip(sums, domains, strict=True)
    ]
    shares = [share.numerator * _CUT // share.denominator / _CUT for share in lost]
    if weights is None:
        return math.prod(1 + share for share in shares) ** (1 / len(shares)) - 1
    powers = zip(shares, weights, strict=True)
    return float(math.prod((1 + share) ** (weight / sum(weights)) for share, weight in powers) - 1)


def granularity_loss(
    sums: Sequence[int],
    *,
    domains: Sequence[int],
    records: int,
    weights: Sequence[float] | None = None,
) -> float:
    """Return the loss of granularity: how far shares of the domain grew, in an arithmetic mean; see `loss`.

    >>> granularity_loss([100, 400], domains=[4, 4], records=100)
    0.5
    """
    exact = [Fraction(weight) for weight in weights or [1] * len(sums)]
    lost = sum(
        weight * Fraction(total - records, records * domain)
        for weight, total, domain in zip(exact, sums, domains, strict=True)
    )
    most = sum(
        weight * Fraction(domain - 1, domain) for weight, domain in zip(exact, domains, strict=True)
    )
    return float(lost / most) if most else 0.0


def discernibility_loss(before: Integers, after: Integers) -> float:
    """Return the loss of discernibility, from the sizes of the classes before and of those that are released.

    Records that are in no released class are suppressed.

    >>> discernibility_loss(np.array([1, 1, 2]), np.array([2, 2]))
    0.2
    """
    records = int(before.sum())
    suppressed = records - int(after.sum())
    least, most = _squares(before), records**2
    return float(Fraction(_squares(after) + records * suppressed - least, max(1, most - least)))


def class_size_loss(before: Integers, after: Integers) -> float:
    """Return the loss by the average class size, from the sizes of the classes before and of those that are released.

    >>> class_size_loss(np.array([1, 1, 2]), np.array([2, 2]))
    0.25
    """
    records = int(before.sum())
    least = Fraction(records, len(before))
    mean = Fraction(int(after.sum()), len(after)) if len(after) else Fraction(records)
    return float(max(Fraction(0), (mean - least) / max(Fraction(1), records - least)))


def coded_hierarchies(
    table: EncodedTable, names: Sequence[str], hierarchies: Mapping[str, Hierarchy]
) -> dict[str, CodedHierarchy]:
    """Return the hierarchy of each of some columns in terms of the table's codes.

    Raises:
        DataError: A value of the data is not in its hierarchy, or a column is not in the table.
        StudyError: A column has no hierarchy.
    """
    for name in names:
        if not hierarchies:
            raise StudyError(
                "quasi-identifier {column} has no hierarchy; give it one, or let one be suggested",
                column=quoted([name]),
            )
        if name not in hierarchies:
            raise StudyError(
                "quasi-identifier {column} has no hierarchy; there are hierarchies of {given}; give it one, or let "
                "one be suggested",
                column=quoted([name]),
                given=quoted(hierarchies),
            )
    return {name: hierarchies[name].coded(table.column(name), where=table.name) for name in names}


@dataclass(frozen=True)
class Node:
    """A node of the lattice with its classes, and which of them are suppressed."""

    levels: tuple[int, ...]
    """Per attribute, the level to which it is generalised."""
    classes: RowClasses
    """The classes."""
    suppressed: Flags
    """Per class, whether it is suppressed."""


class Objective(ABC):
    """How nodes of the lattice are scored, for a search that proves its optimum: the least score wins."""

    def __init__(self, rows: DistinctRows, hierarchies: Sequence[CodedHierarchy]) -> None:
        self._rows = rows
        self._hierarchies = hierarchies

    def terms(self, suppressed: int = 0) -> list[Floats]:
        """Return, per attribute and level, `term`; it never falls from one level to the next."""
        return [
            np.maximum.accumulate(
                [self.term(attribute, level, suppressed) for level in range(hierarchy.height)]
            )
            for attribute, hierarchy in enumerate(self._hierarchies)
        ]

    @abstractmethod
    def term(self, attribute: int, level: int, suppressed: int) -> float:
        """Return what an attribute at a level adds to the score of a node at least: a whole number.

        Args:
            attribute: The attribute.
            level: Its level.
            suppressed: How many records are known to be suppressed at least.
        """

    @abstractmethod
    def score(self, node: Node) -> float:
        """Return the score of a node."""

    @abstractmethod
    def floor(self, node: Node) -> float:
        """Return a score that no node that is at least as general falls below."""

    @abstractmethod
    def loss(self, node: Node) -> float:
        """Return the loss of a node, as users know it."""

    @abstractmethod
    def loss_of(self, score: float) -> float:
        """Return a loss that no node with at least this score falls below."""


def objective(
    name: str,
    rows: DistinctRows,
    hierarchies: Sequence[CodedHierarchy],
    *,
    limit: int,
    weights: Mapping[str, float] | None = None,
) -> Objective:
    """Return the objective of a name.

    Args:
        name: One of `OBJECTIVES`.
        rows: The combinations to be recoded.
        hierarchies: The hierarchy of each attribute.
        limit: The greatest number of records that may be suppressed.
        weights: How much each attribute counts; those not named count 1.

    Raises:
        StudyError: There is no such objective, or the weights are not possible.
    """
    if name not in OBJECTIVES:
        raise StudyError(
            unknown_name("objective", name, text("the list of objectives"), OBJECTIVES)
        )
    if name in _OF_CLASSES:
        if weights is not None:
            raise StudyError(
                'the objective "{name}" looks at classes and knows no weights of attributes; leave them out, or '
                'choose "loss", "granularity" or "non_uniform_entropy"',
                name=name,
            )
        if rows.mass is not None:
            raise StudyError(
                'the objective "{name}" looks at classes and knows no survey weights; leave them out, or choose '
                '"loss", "granularity" or "non_uniform_entropy"',
                name=name,
            )
        return _OF_CLASSES[name](rows, hierarchies, limit)
    return _OF_ATTRIBUTES[name](rows, hierarchies, attribute_weights(rows.names, weights))


class _OfAttributes(Objective):
    """An objective that adds up what each attribute lost.

    Without suppression that depends on the attribute's level only, so it is known for all nodes in advance; and
    suppression never makes it less.
    """

    def __init__(
        self, rows: DistinctRows, hierarchies: Sequence[CodedHierarchy], weights: Sequence[float]
    ) -> None:
        super().__init__(rows, hierarchies)
        self._labels = LevelLabels.of(hierarchies)
        self._weights = weights
        mass = rows.weights if rows.mass is None else rows.mass
        self._total = rows.records if rows.mass is None else int(mass.sum())
        widest = max(hierarchy.domain for hierarchy in hierarchies)
        if rows.mass is not None and self._total * widest > _EXACT:
            raise StudyError(
                "the survey weights have too many digits to be added up exactly; round them"
            )
        self._counts = [
            rows.tally(attribute, cardinality)
            if rows.mass is None
            else records_per_code(rows.codes[:, attribute], rows.mass, cardinality)
            for attribute, cardinality in enumerate(len(one.codes[0]) for one in hierarchies)
        ]
        self._unsuppressed = [
            [self._without_suppression(attribute, level) for level in range(hierarchy.height)]
            for attribute, hierarchy in enumerate(hierarchies)
        ]
        most = sum(weight * self._most(attribute) for attribute, weight in enumerate(weights))
        self._share = [weight / most if most else 0.0 for weight in weights]

    def score(self, node: Node) -> float:
        return sum(self._score(attribute, cost) for attribute, cost in enumerate(self._costs(node)))

    def floor(self, node: Node) -> float:
        return sum(self.term(attribute, level, 0) for attribute, level in enumerate(node.levels))

    def term(self, attribute: int, level: int, suppressed: int) -> float:
        cost = self._unsuppressed[attribute][level]
        if suppressed:
            cost = cost + self._least_suppression(attribute, level, suppressed)
        return self._score(attribute, cost)

    def loss_of(self, score: float) -> float:
        return score / _FINE

    def _score(self, attribute: int, cost: Any) -> float:
        """Return what the cost of an attribute adds to the score."""
        return float(math.floor(_FINE * self._share[attribute] * self._lost(attribute, cost)))

    def _costs(self, node: Node) -> list[Any]:
        costs: list[Any] = [
            costs[level] for costs, level in zip(self._unsuppressed, node.levels, strict=True)
        ]
        if not node.suppressed.any():
            return costs
        classes = node.classes
        if self._rows.mass is not None:
            classes = replace(classes, sizes=classes.secrets[PEOPLE].counts)
        counts = label_counts(self._rows, classes, node.suppressed, self._labels, node.levels)
        for attribute, level in enumerate(node.levels):
            costs[attribute] += self._suppression(attribute, level, counts[attribute])
        return costs

    @abstractmethod
    def _without_suppression(self, attribute: int, level: int) -> Any:
        """Return what an attribute costs at a level."""

    @abstractmethod
    def _suppression(self, attribute: int, level: int, counts: Integers) -> Any:
        """Return what it costs more where so many records with each label are suppressed."""

    def _least_suppression(self, attribute: int, level: int, suppressed: int) -> Any:
        """Return what it costs more at least where so many records are suppressed, of whichever labels."""
        return 0

    @abstractmethod
    def _most(self, attribute: int) -> float:
        """Return what an attribute can lose at most."""

    @abstractmethod
    def _lost(self, attribute: int, cost: Any) -> float:
        """Return what an attribute loses at a cost."""


@dataclass(frozen=True)
class _Cheapest:
    """The labels of an attribute at a level, by what it costs to suppress a record with that label."""

    costs: list[int]
    """What it costs, ascending."""
    records: list[int]
    """How many records have a label before it."""
    spent: list[int]
    """What it costs to suppress all of those."""

    @classmethod
    def of(cls, hierarchy: CodedHierarchy, level: int, counts: Integers) -> _Cheapest:
        labels = hierarchy.records_per_label(level, counts)
        costs = hierarchy.domain - hierarchy.sizes[level]
        order = np.argsort(costs)
        costs, labels = costs[order], labels[order]
        spent = np.cumsum(labels * costs) - labels * costs
        return cls(costs.tolist(), (np.cumsum(labels) - labels).tolist(), spent.tolist())


class _OfShares(_OfAttributes):
    """What the labels' shares of the domain add up to; costs are whole numbers, as `loss` takes them."""

    _measure: Callable[..., float]
    """The loss that costs add up to."""

    def _without_suppression(self, attribute: int, level: int) -> int:
        hierarchy = self._hierarchies[attribute]
        sizes = hierarchy.sizes[level][hierarchy.codes[level]]
        return int(self._counts[attribute] @ sizes)

    def _suppression(self, attribute: int, level: int, counts: Integers) -> int:
        hierarchy = self._hierarchies[attribute]
        return int(counts @ (hierarchy.domain - hierarchy.sizes[level]))

    def _least_suppression(self, attribute: int, level: int, suppressed: int) -> int:
        """Suppress the records with the widest labels, which lose least; each has at least the least weight.

        Records of one combination are suppressed together, so that the least weight is that of a combination's mean.
        """
        cheap = self._by_cost[attribute][level]
        place = bisect_right(cheap.records, suppressed) - 1
        cost = cheap.spent[place] + (suppressed - cheap.records[place]) * cheap.costs[place]
        return cost * self._least_weight

    @cached_property
    def _least_weight(self) -> int:
        """What a record of a combination weighs at least, on average, rounded down."""
        rows = self._rows
        return 1 if rows.mass is None else int((rows.mass // rows.weights).min())

    @cached_property
    def _by_cost(self) -> list[list[_Cheapest]]:
        """Per attribute and level, the labels by what it costs to suppress their records."""
        rows = self._rows
        return [
            [_Cheapest.of(hierarchy, level, counts) for level in range(hierarchy.height)]
            for attribute, hierarchy in enumerate(self._hierarchies)
            for counts in [rows.tally(attribute, len(hierarchy.codes[0]))]
        ]

    def loss(self, node: Node) -> float:
        even = len(set(self._weights)) == 1
        return self._measure(
            self._costs(node),
            domains=[hierarchy.domain for hierarchy in self._hierarchies],
            records=self._total,
            weights=None if even else self._weights,
        )


class _Loss(_OfShares):
    _measure = staticmethod(loss)

    def loss_of(self, score: float) -> float:
        return math.expm1(score / _FINE)

    def _most(self, attribute: int) -> float:
        return 1.0

    def _lost(self, attribute: int, cost: Any) -> float:
        records = self._total
        most = records * max(1, self._hierarchies[attribute].domain - 1)
        return math.log1p((cost - records) * _CUT // most / _CUT)


class _Granularity(_OfShares):
    _measure = staticmethod(granularity_loss)

    def _most(self, attribute: int) -> float:
        return 1 - 1 / self._hierarchies[attribute].domain

    def _lost(self, attribute: int, cost: Any) -> float:
        records = self._total
        return float((cost - records) / (records * self._hierarchies[attribute].domain))


class _NonUniformEntropy(_OfAttributes):
    def loss(self, node: Node) -> float:
        costs = zip(self._share, self._costs(node), strict=True)
        return float(sum(share * cost for share, cost in costs))

    def _without_suppression(self, attribute: int, level: int) -> float:
        hierarchy = self._hierarchies[attribute]
        counts = self._counts[attribute]
        labels = hierarchy.records_per_label(level, counts)
        return _bits_between(counts, labels)

    def _suppression(self, attribute: int, level: int, counts: Integers) -> float:
        return _bits(counts, int(counts.sum()))

    def _most(self, attribute: int) -> float:
        return _bits(self._counts[attribute], self._total)

    def _lost(self, attribute: int, cost: Any) -> float:
        return float(cost)


class _OfClasses(Objective):
    """An objective that looks at class sizes: nothing is known of a node before a node below it was seen."""

    def __init__(
        self, rows: DistinctRows, hierarchies: Sequence[CodedHierarchy], limit: int
    ) -> None:
        super().__init__(rows, hierarchies)
        self._before = rows.told_apart
        self._records = rows.records
        self._limit = limit

    def term(self, attribute: int, level: int, suppressed: int) -> float:
        return 0.0


class _Discernibility(_OfClasses):
    def term(self, attribute: int, level: int, suppressed: int) -> float:
        return float((self._records - 1) * suppressed + self._records) if attribute == 0 else 0.0

    def score(self, node: Node) -> float:
        sizes = node.classes.sizes
        suppressed = int(sizes[node.suppressed].sum())
        return float(_squares(sizes[~node.suppressed]) + self._records * suppressed)

    def floor(self, node: Node) -> float:
        return float(_squares(node.classes.sizes))

    def loss(self, node: Node) -> float:
        return discernibility_loss(self._before, node.classes.sizes[~node.suppressed])

    def loss_of(self, score: float) -> float:
        least, most = _squares(self._before), self._records**2
        return (score - least) / max(1, most - least)


class _AverageClassSize(_OfClasses):
    def score(self, node: Node) -> float:
        sizes = node.classes.sizes[~node.suppressed]
        return int(sizes.sum()) / len(sizes)

    def floor(self, node: Node) -> float:
        return max(1, self._records - self._limit) / len(node.classes)

    def loss(self, node: Node) -> float:
        return class_size_loss(self._before, node.classes.sizes[~node.suppressed])

    def loss_of(self, score: float) -> float:
        least = self._records / len(self._before)
        return max(0.0, (score - least) / max(1.0, self._records - least))


_OF_ATTRIBUTES: dict[str, Callable[..., _OfAttributes]] = {
    "loss": _Loss,
    "granularity": _Granularity,
    "non_uniform_entropy": _NonUniformEntropy,
}
_OF_CLASSES: dict[str, Callable[..., _OfClasses]] = {
    "discernibility": _Discernibility,
    "average_class_size": _AverageClassSize,
}
OBJECTIVES = (*_OF_ATTRIBUTES, *_OF_CLASSES)
"""What a recoding can make least."""


def attribute_weights(names: Sequence[str], weights: Mapping[str, float] | None) -> list[float]:
    """Return how much each attribute counts; those without a weight count 1.

    Raises:
        StudyError: A weight is no number from 0 on, of no attribute, or all are 0.
    """
    weights = weights or {}
    for name, weight in weights.items():
        if name not in names:
            where = text("the quasi-identifiers, so it can have no weight")
            raise StudyError(unknown_name("column", name, where, names))
        if not 0 <= weight < math.inf:
            raise StudyError(
                'the weight of "{name}" is {weight}; give a number from 0 on, by default it is 1',
                name=name,
                weight=str(weight),
            )
    by_attribute = [float(weights.get(name, 1)) for name in names]
    if not any(by_attribute):
        raise StudyError("all weights are 0; give at least one attribute a positive weight")
    return by_attribute


def _share_lost(total: int, domain: int, records: int) -> Fraction:
    """Return L_a; an attribute with one value in its domain cannot lose anything."""
    if domain == 1:
        return Fraction(0)
    return Fraction(total - records, records * (domain - 1))


def _ratio(part: float, whole: float) -> float:
    return part / whole if whole else 0.0


def _squares(sizes: Integers) -> int:
    return int(sizes @ sizes)


def _bits(counts: Integers, total: int) -> float:
    """Return the bits that it takes to tell the values of so many records, of ``total`` together."""
    return _bits_between(counts, np.array([total]))


def _bits_between(finer: Integers, coarser: Integers) -> float:
    """Return the bits that it takes to go from the coarser groups of the same records to the finer ones."""
    return max(0.0, _count_logs(coarser) - _count_logs(finer))


def _count_logs(counts: Integers) -> float:
    some = counts[counts > 0]
    return float(some @ np.log2(some))


def _records_by_level(
    column: EncodedColumn,
    recoding: Recoding,
    hierarchy: CodedHierarchy,
    weights: SurveyWeights | None = None,
) -> Integers:
    """Count the records of each value (row) that are released at each level (column), suppressed ones at the last."""
    released = recoding.released[column.name]
    pairs = refined([column, released], recoding.records)
    first = first_of_each(pairs)
    values, labels = column.codes[first], released.codes[first]
    place = {text: code for code, text in enumerate(released.values.to_pylist())}
    levels = np.full(pairs.classes, hierarchy.height - 1)
    for level in reversed(range(hierarchy.height)):
        code = np.array([place.get(text, -1) for text in hierarchy.labels[level]])
        levels[code[hierarchy.codes[level][values]] == labels] = level
    counts = np.zeros((column.cardinality, hierarchy.height), np.int64)
    counts[values, levels] = (
        pairs.sizes if weights is None else weights.added(pairs.numbers, pairs.classes)
    )
    return counts


def _values_under_labels(hierarchy: CodedHierarchy, levels: Integers) -> int:
    """Return how many values of the domain stand under the labels of all records."""
    sizes = zip(hierarchy.sizes, hierarchy.codes, levels.T, strict=True)
    return sum(int(count @ size[codes]) for size, codes, count in sizes)


def _bits_lost(hierarchy: CodedHierarchy, levels: Integers) -> float:
    """Return the bits lost: level by level, of the records that are generalised so far or further."""
    lost, below = 0.0, 0
    for level in np.flatnonzero(levels.any(axis=0)).tolist():
        values = levels[:, level:].sum(axis=1)
        finer = hierarchy.records_per_label(below, values)
        lost += _bits_between(finer, hierarchy.records_per_label(level, values))
        below = level
    return lost
