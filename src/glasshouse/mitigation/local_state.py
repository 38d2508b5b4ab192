"""The state of a local recoding: items, groups of them, the labels that stand for a group, and who judges it.

Records that are alike in everything that is looked at are one *item* (`Items`), and a *group* is a set of items, or of
some of their records (`ItemGroups`), that are released alike. The labels of all attributes are numbered such that what
stands under a label follows it directly (`Forest`): the lowest label that stands for a whole group, its *region*, is
then found from the least and the greatest number in it (`Space`). `LocalAttribute` says how the values of one attribute
are generalised, by a hierarchy or by their order, and what is then released.

Whether a group meets the criteria is decided twice: in doubles, from a tally of its sensitive values, to guide the
compiled search (`Checks`); and exactly, by `Criterion.holds`, of every group that is to be released (`Judge`).
`recoding_of` releases groups, and judges once more, from the released columns alone.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from functools import cached_property, partial
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from glasshouse.arrays import Codes, Flags, Floats, Integers
from glasshouse.compiled import called, pasted
from glasshouse.errors import InternalError, StudyError
from glasshouse.language import quoted
from glasshouse.mitigation.criteria import (
    AverageRisk,
    ClassCounts,
    Criterion,
    DistinctDiversity,
    EntropyDiversity,
    EqualCloseness,
    HierarchicalCloseness,
    InferenceRisk,
    OfPeople,
    OrderedCloseness,
    RecursiveDiversity,
    TableCriterion,
    first_unmet,
    least_size,
    refuse_strangers,
    sensitive_of,
)
from glasshouse.mitigation.distinct_rows import (
    CodedHierarchy,
    ValueCounts,
    code_column,
    first_of_each,
    merged_counts,
    part_of,
    records_per_value,
    value_counts,
)
from glasshouse.mitigation.hierarchies import exact
from glasshouse.mitigation.information_loss import Recoding, granularity_loss, loss, released_column
from glasshouse.table import EncodedColumn, EncodedTable
from glasshouse.table.generalised import SUPPRESSED, covers
from glasshouse.table.partition import refined

Criteria = tuple[Criterion | TableCriterion, ...]
"""What has to be met, ready to judge."""
TextOf = Callable[[Sequence[str]], str]
"""How several values, given in order, are released as one."""
MET, TOO_SMALL = -1, -2
NO_GAIN = 1e-9
"""Doubles that differ by less are taken for equal."""

_FUZZ = 0.8
"""How much chance has its say in how blocks are divided."""
_LONGEST_SET = 32
"""A set of more values is released as ``*``."""
_PLAIN_NUMBER = re.compile(r"[+-]?[0-9]+(\.[0-9]+)?")
_NO_HYPHEN = re.compile(r"[+-]|0[0-9]")
"""How numbers begin that are not the ends of a range with a hyphen: that would be read as a code."""
_ISO_DATE = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}")
_NOT_IN_SETS = re.compile(r"[,;|{}*]|^\s|\s$")
_DISTINCT, _ENTROPY, _RECURSIVE, _INFERENCE, _EQUAL, _ORDERED, _HIERARCHICAL = range(7)


# Items, and groups of them


@dataclass(frozen=True)
class Items:
    """The distinct combinations of quasi-identifiers and sensitive values among the records that are not suppressed."""

    names: tuple[str, ...]
    """The quasi-identifiers."""
    codes: NDArray[np.uint32]
    """Per item (row) and quasi-identifier, the code of its value."""
    sensitive: tuple[str, ...]
    """The sensitive attributes that the criteria look at."""
    secrets: NDArray[np.uint32]
    """Per item (row) and sensitive attribute, the code of its value."""
    references: tuple[Integers, ...]
    """Per sensitive attribute, how many of all records have each value."""
    retained: Integers
    """The records that are not suppressed."""
    numbers: Integers
    """Per such record, its item."""
    weights: Integers
    """Per item, its records."""
    records: int
    """The number of all records."""

    @classmethod
    def of(
        cls,
        table: EncodedTable,
        names: tuple[str, ...],
        criteria: Criteria,
        suppressed: Flags | None = None,
    ) -> Items:
        """Return the items of a table without the records that are suppressed."""
        sensitive = sensitive_of(criteria)
        gone = np.zeros(table.records, np.bool_) if suppressed is None else suppressed
        retained = np.flatnonzero(~gone)
        columns = [table.column(name) for name in (*names, *sensitive)]
        classes = refined([part_of(column, retained) for column in columns], len(retained))
        first = retained[first_of_each(classes)]
        codes = np.stack([column.codes[first].astype(np.uint32) for column in columns], axis=1)
        return cls(
            names=names,
            codes=np.ascontiguousarray(codes[:, : len(names)]),
            sensitive=sensitive,
            secrets=np.ascontiguousarray(codes[:, len(names) :]),
            references=tuple(map(records_per_value, columns[len(names) :])),
            retained=retained,
            numbers=classes.numbers.astype(np.int64),
            weights=classes.sizes,
            records=table.records,
        )

    def of_groups(self, groups: ItemGroups, seed: int) -> Items:
        """Return the items with as many records as are in groups; which ones of an item go is left to chance."""
        counts = np.bincount(groups.items, groups.counts, len(self.weights)).astype(np.int64)
        if np.array_equal(counts, self.weights):
            return self
        by_item = _by_item(self, seed)
        places = stretches(np.zeros_like(self.weights), self.weights)[1]
        stay = np.sort(by_item[places < np.repeat(counts, self.weights)])
        return replace(
            self, retained=self.retained[stay], numbers=self.numbers[stay], weights=counts
        )

    def by_combination(self) -> ItemGroups:
        """Return the items grouped by quasi-identifiers."""
        return ItemGroups.of(alike(self.codes), np.arange(len(self.codes)), self.weights)


@dataclass(frozen=True)
class ItemGroups:
    """Items in groups. A piece is some records of one item in one group."""

    starts: Integers
    """Per group, where its pieces begin; one more entry closes the last."""
    items: Integers
    """Per piece, its item; ascending in each group."""
    counts: Integers
    """Per piece, its records."""

    def __len__(self) -> int:
        return len(self.starts) - 1

    @classmethod
    def of(cls, numbers: Integers, items: Integers, counts: Integers) -> ItemGroups:
        """Group records of items by numbers; records of one item in one group become one piece."""
        order = np.lexsort((items, numbers))
        numbers, items = numbers[order], items[order]
        other = np.flatnonzero(np.diff(numbers, prepend=-1))
        fresh = np.diff(items, prepend=-1) != 0
        fresh[other] = True
        pieces = np.flatnonzero(fresh)
        starts = np.append(np.searchsorted(pieces, other), len(pieces))
        return cls(starts, items[pieces], np.add.reduceat(counts[order], pieces))

    @cached_property
    def numbers(self) -> Integers:
        """Per piece, its group."""
        return np.repeat(np.arange(len(self)), np.diff(self.starts))

    @cached_property
    def sizes(self) -> Integers:
        """Per group, its records."""
        return np.add.reduceat(self.counts, self.starts[:-1])

    def merged(self, into: Integers) -> ItemGroups:
        """Return the groups merged: each into that of a number."""
        return ItemGroups.of(into[self.numbers], self.items, self.counts)

    def taken(self, chosen: Integers) -> tuple[Integers, Integers, Integers]:
        """Return the starts, items and counts of some groups."""
        starts, places = stretches(self.starts[chosen], np.diff(self.starts)[chosen])
        return starts, self.items[places], self.counts[places]


def stretches(begins: Integers, lengths: Integers) -> tuple[Integers, Integers]:
    """Return where each of some stretches begins if they stand one after the other, and the places in them."""
    starts = np.concatenate([np.zeros(1, np.int64), np.cumsum(lengths)])
    return starts, np.arange(starts[-1]) + np.repeat(begins - starts[:-1], lengths)


def alike(rows: NDArray[np.integer[Any]]) -> Integers:
    """Return, per row, a number that equal rows share."""
    columns = [code_column(codes) for codes in rows.T]
    return refined(columns, len(rows)).numbers.astype(np.int64)


# Labels, numbered as trees


class Forest(NamedTuple):
    """Trees of labels, numbered so that what stands under a label follows it directly."""

    parent: Codes
    """Per label, that one level up; a root is its own."""
    last: Codes
    """Per label, the last of those under it: x is under y, or is y, where y ≤ x ≤ last[y]."""
    cost: Floats
    """Per label, what a record loses by it."""

    def joins(self, lowest: Codes, highest: Codes) -> Codes:
        """Return the lowest labels that stand for all from a lowest to a highest number."""
        labels = lowest
        while (outside := highest > self.last[labels]).any():
            labels = np.where(outside, self.parent[labels], labels)
        return labels


@dataclass(frozen=True)
class Space:
    """The trees of all attributes as one forest, and where the items stand in it."""

    forest: Forest
    """The labels, attribute by attribute."""
    firsts: Codes
    """Per attribute, the number of its root."""
    leaves: Codes
    """Per item (row) and attribute, the label of its value."""

    @classmethod
    def of(cls, items: Items, attributes: Sequence[LocalAttribute]) -> Space:
        """Put the trees of attributes one after the other, and find where the items stand in each."""
        trees = [attribute.tree for attribute in attributes]
        firsts = np.cumsum([0, *(len(tree.parent) for tree in trees)], dtype=np.int32)[:-1]
        placed = list(zip(firsts, trees, strict=True))
        forest = Forest(
            np.concatenate([first + tree.parent for first, tree in placed]),
            np.concatenate([first + tree.last for first, tree in placed]),
            np.concatenate([tree.cost for tree in trees]),
        )
        leaves = [
            attribute.leaves[codes]
            for attribute, codes in zip(attributes, items.codes.T, strict=True)
        ]
        return cls(forest, firsts, np.stack(leaves, axis=1) + firsts)

    def weighed(self, weights: Floats) -> Space:
        """Return the space with costs multiplied by a weight of each attribute."""
        lengths = np.diff([*self.firsts, len(self.forest.cost)])
        cost = self.forest.cost * np.repeat(weights, lengths)
        return replace(self, forest=self.forest._replace(cost=cost))

    def regions(self, groups: ItemGroups) -> Codes:
        """Return, per group (row) and attribute, the lowest label that stands for all its items."""
        leaves = self.leaves[groups.items]
        lowest = np.minimum.reduceat(leaves, groups.starts[:-1], axis=0)
        highest = np.maximum.reduceat(leaves, groups.starts[:-1], axis=0)
        return self.forest.joins(lowest, highest)

    def blocks(self, regions: Codes, random: np.random.Generator, most: int) -> Iterator[Integers]:
        """Divide groups into blocks of near ones, so many groups at most in each.

        A block is cut in the middle of the attribute by which it loses most as a whole, as far as chance does not have
        its say; so two divisions differ, and what one separates another does not.
        """
        stack = [np.arange(len(regions))]
        while stack:
            block = stack.pop()
            if len(block) <= most:
                yield block
                continue
            within = regions[block]
            lowest, highest = within.min(axis=0), within.max(axis=0)
            lost = self.forest.cost[self.forest.joins(lowest, highest)]
            lost = lost * (1 - _FUZZ * random.random(len(lost))) - (lowest == highest)
            rising = within[:, int(lost.argmax())]
            order = np.argsort(rising, kind="stable")
            cut = _near_middle(rising[order])
            stack += [block[order[cut:]], block[order[:cut]]]


def _near_middle(rising: Codes) -> int:
    """Return where to cut an array in two near its middle, between different numbers if that is near enough."""
    middle = len(rising) // 2
    ends = (
        np.searchsorted(rising, rising[middle], side="left"),
        np.searchsorted(rising, rising[middle], side="right"),
    )
    cut = min(map(int, ends), key=lambda end: abs(end - middle))
    return cut if len(rising) <= 8 * min(cut, len(rising) - cut) else middle


@pasted
def joined(forest: Forest, one: int, other: int) -> int:
    """Return the lowest label that stands for two."""
    while other < one or other > forest.last[one]:
        one = forest.parent[one]
    return one


@pasted
def region_cost(forest: Forest, region: Codes) -> float:
    """Return what a record loses by a region."""
    cost = 0.0
    for a in range(region.size):
        cost += forest.cost[region[a]]
    return cost


@called
def common(forest: Forest, regions: Codes) -> Codes:
    """Return the region that stands for all of some regions (rows)."""
    together: Codes = regions[0].copy()
    for i in range(1, regions.shape[0]):
        widen(forest, together, regions[i])
    return together


@called
def fill(forest: Forest, region: Codes, ends: Codes, row: Floats) -> None:
    """Write into a row what a record loses by each label if it is released together with a region.

    Only labels under those of another region, which stands for this one too, are written. What two regions lose
    together is then the sum of the entries at the labels of the other: comparing one with many is looking up.
    """
    for a in range(region.size):
        fill_attribute(forest, region[a], ends[a], row)


@pasted
def fill_attribute(forest: Forest, label: int, end: int, row: Floats) -> None:
    """Write into a row what a record loses by each label under an end, together with one of them."""
    low, high = label, forest.last[label]
    for i in range(low, high + 1):
        row[i] = forest.cost[label]
    while label != end:
        label = forest.parent[label]
        cost = forest.cost[label]
        for i in range(label, low):
            row[i] = cost
        for i in range(high + 1, forest.last[label] + 1):
            row[i] = cost
        low, high = label, forest.last[label]


@called
def widen(forest: Forest, region: Codes, other: Codes) -> float:
    """Make a region stand for another one too; return what a record loses by it."""
    cost = 0.0
    for a in range(region.size):
        region[a] = joined(forest, region[a], other[a])
        cost += forest.cost[region[a]]
    return cost


# Attributes, and what is released of them


@dataclass(frozen=True)
class LocalAttribute:
    """How the values of a quasi-identifier are generalised."""

    tree: Forest
    """Its labels, the first being the root; what a record loses is (size − 1) / (domain − 1)."""
    sizes: Integers
    """Per label, for how many values of the domain it stands."""
    texts: tuple[str, ...]
    """Per label, what is released."""
    leaves: Codes
    """Per code of the column, the label of the value itself."""
    text_of: TextOf | None = None
    """Where there is no hierarchy: how several values, given in order, are released; they stand under the root."""

    @property
    def domain(self) -> int:
        """The number of values in the domain."""
        return int(self.sizes[0])

    @classmethod
    def of_hierarchy(cls, coded: CodedHierarchy) -> LocalAttribute:
        """Number the labels of a hierarchy: the root first, and after each label what stands under it."""
        values = np.lexsort(coded.codes)
        labels = np.stack([codes[values] for codes in reversed(coded.codes)], axis=1)
        fresh = np.ones(labels.shape, np.bool_)
        fresh[1:] = labels[1:] != labels[:-1]
        numbers = np.cumsum(fresh.ravel()).reshape(fresh.shape) - 1
        numbers = np.maximum.accumulate(np.where(fresh, numbers, 0), axis=0)
        parent = np.zeros(int(fresh.sum()), np.int32)
        last, sizes = np.zeros_like(parent), np.zeros(len(parent), np.int64)
        texts = [""] * len(parent)
        for depth, level in enumerate(reversed(range(coded.height))):
            rows = np.flatnonzero(fresh[:, depth])
            fresh_labels = numbers[rows, depth]
            parent[fresh_labels] = numbers[rows, max(0, depth - 1)]
            last[fresh_labels] = numbers[np.append(rows[1:], len(labels)) - 1, -1]
            sizes[fresh_labels] = coded.sizes[level][labels[rows, depth]]
            for number, label in zip(
                fresh_labels.tolist(), labels[rows, depth].tolist(), strict=True
            ):
                texts[number] = coded.labels[level][label]
        leaves = np.empty(len(values), np.int32)
        leaves[values] = numbers[:, -1]
        return cls(_tree(parent, last, sizes), sizes, tuple(texts), leaves)

    @classmethod
    def of_order(cls, column: EncodedColumn) -> LocalAttribute:
        """Put the values of a column in order, right under a root.

        Raises:
            StudyError: A value is a text that cannot be told in a set.
        """
        texts = sorted(column.values.to_pylist())
        known = texts[texts.count("") :]
        text_of: TextOf = _set
        if all(map(_PLAIN_NUMBER.fullmatch, known)):
            known.sort(key=Decimal)
            text_of = _range("..") if any(map(_NO_HYPHEN.match, known)) else _range("-")
        elif all(map(_ISO_DATE.fullmatch, known)):
            text_of = _range("..")
        elif unfit := [written for written in known if _NOT_IN_SETS.search(written)]:
            raise StudyError(
                "the value {value} of column {column} cannot be released as one of a set; "
                "give the column a hierarchy",
                value=quoted(unfit[:1]),
                column=quoted([column.name]),
            )
        texts = [SUPPRESSED, *texts[: texts.count("")], *known]
        place = {written: number for number, written in enumerate(texts) if number}
        sizes = np.ones(len(texts), np.int64)
        sizes[0] = len(place)
        last = np.arange(len(texts), dtype=np.int32)
        last[0] = len(place)
        leaves = np.array([place[written] for written in column.values.to_pylist()], np.int32)
        tree = _tree(np.zeros_like(last), last, sizes)
        return cls(tree, sizes, tuple(texts), leaves, text_of)

    def released(
        self, codes: NDArray[np.uint32], starts: Integers
    ) -> tuple[list[str], Integers, Integers]:
        """Return what is released of groups, given where the codes of each begin.

        Returns:
            The texts, each once; per group the position of its text, and for how many values of the domain it stands.
        """
        distinct, numbers = self._distinct_ends(self.leaves[codes], starts)
        place: dict[str, int] = {}
        labels, sizes = [], []
        for ends in distinct:
            texts = [self.texts[label] for label in ends]
            written = texts[0] if self.text_of is None else self.text_of(texts)
            labels.append(place.setdefault(written, len(place)))
            if len(ends) == 1:
                sizes.append(int(self.sizes[ends[0]]))
            elif written == SUPPRESSED:
                sizes.append(self.domain)
            else:
                sizes.append(len(ends) if self.text_of is _set else ends[1] - ends[0] + 1)
        return list(place), np.array(labels)[numbers], np.array(sizes)[numbers]

    def _distinct_ends(
        self, leaves: Codes, starts: Integers
    ) -> tuple[Sequence[Sequence[int]], Integers]:
        """Return the labels, sets of them or ends of their ranges that groups have, and which of these each has."""
        if self.text_of is _set:
            return _distinct_sets(leaves, starts)
        lowest = np.minimum.reduceat(leaves, starts[:-1])
        highest = np.maximum.reduceat(leaves, starts[:-1])
        if self.text_of is None:
            lowest = highest = self.tree.joins(lowest, highest)
        ends, numbers = np.unique(lowest.astype(np.int64) << 32 | highest, return_inverse=True)
        return [sorted({end >> 32, end & 0xFFFFFFFF}) for end in ends.tolist()], numbers

    def stands_for(self, written: str, code: int) -> bool:
        """Tell whether a released text stands for the value of a code."""
        label = int(self.leaves[code])
        if self.text_of is not None:
            return covers(written, self.texts[label])
        while label and self.texts[label] != written:
            label = int(self.tree.parent[label])
        return self.texts[label] == written or written == SUPPRESSED


def _tree(parent: Codes, last: Codes, sizes: Integers) -> Forest:
    return Forest(parent, last, (sizes - 1) / max(1, int(sizes[0]) - 1))


def _distinct_sets(leaves: Codes, starts: Integers) -> tuple[list[tuple[int, ...]], Integers]:
    """Return the distinct sets of labels in groups, and which of them each group has."""
    place: dict[tuple[int, ...], int] = {}
    ordered = leaves[np.lexsort((leaves, np.repeat(np.arange(len(starts) - 1), np.diff(starts))))]
    numbers = [
        place.setdefault(tuple(dict.fromkeys(ordered[begin:end].tolist())), len(place))
        for begin, end in pairwise(starts.tolist())
    ]
    return list(place), np.array(numbers)


def _range(separator: str) -> TextOf:
    """Return how numbers or dates are released together; with a missing value among them nothing is told."""

    def text_of(texts: Sequence[str]) -> str:
        if len(texts) == 1:
            return texts[0]
        return SUPPRESSED if texts[0] == "" else f"{texts[0]}{separator}{texts[-1]}"

    return text_of


def _set(texts: Sequence[str]) -> str:
    if len(texts) == 1:
        return texts[0]
    if texts[0] == "" or len(texts) > _LONGEST_SET:
        return SUPPRESSED
    return "{" + ", ".join(texts) + "}"


# The exact judge


@dataclass(frozen=True)
class Judge:
    """Tells exactly which groups of items meet all criteria."""

    criteria: Criteria
    """What has to be met, ready to judge."""
    items: Items
    """What the groups are made of."""

    def __post_init__(self) -> None:
        refuse_strangers(self.criteria)
        for criterion in self.criteria:
            if isinstance(criterion, OfPeople):
                raise StudyError(
                    "{name} counts people by labels that are the same in all records; take `recoding` global",
                    name=criterion.name,
                )
            if isinstance(criterion, TableCriterion) and not isinstance(criterion, AverageRisk):
                raise StudyError(
                    "{name} is about all classes together, which local recoding does not search by; take `recoding` "
                    "global, or promise something of every class",
                    name=criterion.name,
                )

    def failing(self, groups: ItemGroups) -> Flags:
        """Tell of each group whether there is a criterion that it does not meet."""
        failing = np.zeros(len(groups), np.bool_)
        counts = partial(self._counts, groups)
        for criterion in self.criteria:
            if isinstance(criterion, Criterion):
                failing |= ~criterion.holds(ClassCounts.seen_by(criterion, groups.sizes, counts))
        return failing

    def most_classes(self, classes: int, records: int) -> int:
        """Return in how many classes so many records may be released, if at most in so many."""
        limits = (
            criterion.most_classes(records)
            for criterion in self.criteria
            if isinstance(criterion, AverageRisk)
        )
        return max(1, min((classes, *limits)))

    def unmet_together(self) -> str | None:
        """Return the name of a criterion that all records in one class do not meet.

        Then no recoding of them does: unions of classes that hold do hold.
        """
        numbers = np.arange(len(self.items.codes))
        everything = ItemGroups.of(np.zeros_like(numbers), numbers, self.items.weights)
        return first_unmet(self.criteria, everything.sizes, partial(self._counts, everything))

    def _counts(self, groups: ItemGroups, sensitive: str) -> ValueCounts:
        """Count the values of a sensitive attribute in each group."""
        place = self.items.sensitive.index(sensitive)
        pieces = ValueCounts(
            np.arange(len(groups.items) + 1),
            self.items.secrets[groups.items, place],
            groups.counts,
            self.items.references[place],
        )
        return merged_counts(groups.numbers.astype(np.uint32), len(groups), pieces)


# The criteria in doubles


class Checks(NamedTuple):
    """The criteria that the search knows how to look at."""

    least: int
    """The least size of a group."""
    kinds: Integers
    """Per criterion with a sensitive attribute, which it is."""
    secrets: Integers
    """Per criterion, the position of its attribute among the sensitive ones."""
    limits: Floats
    """Per criterion, its parameter: l, ln l, c, p or t."""
    begins: Integers
    """Per criterion, the l of (c, l)-diversity, where the tail begins."""
    offsets: Integers
    """Per sensitive attribute, where its values begin in ``shares`` and in a tally."""
    shares: Floats
    """Per sensitive value, its share of all records."""
    firsts: Integers
    """Per criterion, where its entries begin in the next two."""
    links: Integers
    """With ordered distances, the values in order; with hierarchical ones, the label above each label."""
    steps: Floats
    """With ordered distances, how far it is to the next value; with hierarchical ones, how high each label is."""


class _Check(NamedTuple):
    """One criterion as the search sees it; the fields are those of `Checks`."""

    kind: int
    sensitive: str
    limit: float
    begin: int = 0
    links: Integers = np.zeros(0, np.int64)
    steps: Floats = np.zeros(0)


def checks_of(criteria: Criteria, items: Items) -> Checks:
    """Return the criteria that the search knows how to look at; of any other it learns from the judge only."""
    rows = [row for criterion in criteria if (row := _check(criterion)) is not None]
    shares = [reference / reference.sum() for reference in items.references]
    return Checks(
        least=least_size(criteria),
        kinds=np.array([row.kind for row in rows], np.int64),
        secrets=np.array([items.sensitive.index(row.sensitive) for row in rows], np.int64),
        limits=np.array([row.limit for row in rows], np.float64),
        begins=np.array([row.begin for row in rows], np.int64),
        offsets=np.cumsum([0, *map(len, shares)], dtype=np.int64),
        shares=np.concatenate([np.zeros(0), *shares]),
        firsts=np.cumsum([0, *(len(row.links) for row in rows)], dtype=np.int64),
        links=np.concatenate([np.zeros(0, np.int64), *(row.links for row in rows)]),
        steps=np.concatenate([np.zeros(0), *(row.steps for row in rows)]),
    )


def _check(criterion: Criterion | TableCriterion) -> _Check | None:
    match criterion:
        case DistinctDiversity(l=least, sensitive=name):
            return _Check(_DISTINCT, name, least)
        case EntropyDiversity(l=number, sensitive=name):
            return _Check(_ENTROPY, name, float(np.log(float(exact(number, what="l")))))
        case RecursiveDiversity(c=factor, l=begin, sensitive=name):
            return _Check(_RECURSIVE, name, float(exact(factor, what="c")), begin)
        case InferenceRisk(p=most, sensitive=name):
            return _Check(_INFERENCE, name, float(exact(most, what="p")))
        case EqualCloseness(t=most, sensitive=name):
            return _Check(_EQUAL, name, float(exact(most, what="t")))
        case OrderedCloseness(t=most, sensitive=name, _ranks=ranks, _domain=domain):
            if ranks is not None and domain > 1:
                values = np.argsort(ranks, kind="stable")
                steps = np.diff(ranks[values], append=domain - 1) / (domain - 1)
                limit = float(exact(most, what="t"))
                return _Check(_ORDERED, name, limit, links=values, steps=steps)
        case HierarchicalCloseness(t=most, sensitive=name, _tree=tree):
            if tree is not None and tree.top > 0:
                lengths = np.diff([*tree.firsts, len(tree.parents)])
                heights = np.repeat(np.arange(len(lengths)), lengths) / tree.top
                limit = float(exact(most, what="t"))
                return _Check(_HIERARCHICAL, name, limit, links=tree.parents, steps=heights)
    return None


class Tally(NamedTuple):
    """How often each sensitive value occurs in one group."""

    counts: Integers
    """Per value, attribute by attribute."""
    present: Integers
    """Per attribute (row), the values that occur."""
    distinct: Integers
    """Per attribute, how many these are."""


@called
def new_tally(checks: Checks) -> Tally:
    """Return a tally that has counted nothing yet."""
    attributes = checks.offsets.size - 1
    values = checks.offsets[attributes]
    return Tally(
        np.zeros(values, np.int64),
        np.empty((attributes, values), np.int64),
        np.zeros(attributes, np.int64),
    )


@called
def clear(checks: Checks, tally: Tally) -> None:
    """Forget what was counted."""
    for secret in range(tally.distinct.size):
        for i in range(tally.distinct[secret]):
            tally.counts[checks.offsets[secret] + tally.present[secret, i]] = 0
        tally.distinct[secret] = 0


@called
def count(checks: Checks, tally: Tally, values: NDArray[np.uint32], records: int) -> None:
    """Add records with some sensitive values."""
    for secret in range(tally.distinct.size):
        place = checks.offsets[secret] + values[secret]
        if tally.counts[place] == 0:
            tally.present[secret, tally.distinct[secret]] = values[secret]
            tally.distinct[secret] += 1
        tally.counts[place] += records


@called
def helps(checks: Checks, tally: Tally, check: int, values: NDArray[np.uint32], size: int) -> bool:
    """Tell whether a value is rare in a group that does not meet a criterion, so that it may help."""
    secret = checks.secrets[check]
    place = checks.offsets[secret] + values[secret]
    if checks.kinds[check] >= _EQUAL:
        return bool(tally.counts[place] < checks.shares[place] * size)
    return bool(tally.counts[place] * (tally.distinct[secret] + 1) <= size)


@called
def unmet(checks: Checks, tally: Tally, size: int) -> int:
    """Return the first criterion that a group does not meet; or that it is `TOO_SMALL`, or that all are `MET`."""
    if size < checks.least:
        return TOO_SMALL
    for check in range(checks.kinds.size):
        secret = checks.secrets[check]
        counts = tally.counts[checks.offsets[secret] : checks.offsets[secret + 1]]
        present = tally.present[secret, : tally.distinct[secret]]
        if checks.kinds[check] < _EQUAL:
            met = _is_diverse(checks, check, counts, present, size)
        else:
            met = _is_close(checks, check, counts, present, size)
        if not met:
            return check
    return MET


@called
def _is_diverse(checks: Checks, check: int, counts: Integers, present: Integers, size: int) -> bool:
    """Tell whether a group meets a criterion on the frequencies of its values, as far as doubles can tell."""
    kind, limit = checks.kinds[check], checks.limits[check]
    if kind == _DISTINCT:
        return bool(present.size >= limit)
    if kind == _ENTROPY:
        spent = 0.0
        for value in present:
            spent += counts[value] * np.log(float(counts[value]))
        return bool(np.log(float(size)) - spent / size >= limit - NO_GAIN)
    falling = np.sort(counts[present])[::-1]
    if kind == _INFERENCE:
        return bool(falling[0] <= limit * size + NO_GAIN)
    return bool(falling[0] < limit * falling[checks.begins[check] - 1 :].sum())


@called
def _is_close(checks: Checks, check: int, counts: Integers, present: Integers, size: int) -> bool:
    """Tell whether the values of a group are distributed nearly as in all records, as far as doubles can tell."""
    shares = checks.shares[checks.offsets[checks.secrets[check]] :]
    links = checks.links[checks.firsts[check] : checks.firsts[check + 1]]
    steps = checks.steps[checks.firsts[check] : checks.firsts[check + 1]]
    distance = 0.0
    if checks.kinds[check] == _EQUAL:
        for value in present:
            distance += max(0.0, counts[value] / size - shares[value])
    elif checks.kinds[check] == _ORDERED:
        carried = 0.0
        for i in range(links.size):
            carried += counts[links[i]] / size - shares[links[i]]
            distance += abs(carried) * steps[i]
    else:
        extras = np.zeros((links.size, 3))  # a label's extra, the positive and negative ones below
        for label in range(links.size):
            above = links[label]
            if label < counts.size:
                extras[label, 0] = counts[label] / size - shares[label]
            distance += steps[label] * min(extras[label, 1], extras[label, 2])
            if above != label:
                extras[above, 0] += extras[label, 0]
                extras[above, 1] += max(0.0, extras[label, 0])
                extras[above, 2] += max(0.0, -extras[label, 0])
    return bool(distance <= checks.limits[check] + NO_GAIN)


# The release


def recoding_of(
    method: str,
    table: EncodedTable,
    criteria: Criteria,
    items: Items,
    attributes: Sequence[LocalAttribute],
    groups: ItemGroups,
    *,
    objective: str = "loss",
    weights: Sequence[float] | None = None,
    seed: int = 0,
) -> Recoding:
    """Release each record by the labels of its group.

    Raises:
        InternalError: What would be released is not what was promised.
    """
    group_of_records = pa.array(_group_of_records(items, groups, seed)).dictionary_encode()
    numbers, order = map(np.asarray, (group_of_records.indices, group_of_records.dictionary))
    released, sums = {}, []
    for name, attribute, codes in zip(items.names, attributes, items.codes.T, strict=True):
        texts, labels, sizes = attribute.released(codes[groups.items], groups.starts)
        texts = list(dict.fromkeys([*texts, SUPPRESSED]))
        with_suppressed = np.append(labels, texts.index(SUPPRESSED))
        released[name] = released_column(name, texts, with_suppressed[order], numbers)
        gone = items.records - len(items.retained)
        sums.append(int(sizes @ groups.sizes) + gone * attribute.domain)
    suppressed = (order == len(groups))[numbers]
    return Recoding(
        method=method,
        quasi_identifiers=items.names,
        heights=None,
        suppressed=suppressed,
        released=released,
        classes=_verified(
            table, criteria, dict(zip(items.names, attributes, strict=True)), released, suppressed
        ),
        loss=lost(sums, items.records, attributes, objective, weights),
        optimal=False,
        bound=0.0,
        objective=objective,
    )


def lost(
    sums: Sequence[int],
    records: int,
    attributes: Sequence[LocalAttribute],
    objective: str,
    weights: Sequence[float] | None = None,
) -> float:
    """Return what is lost, given how many values of each domain stand under the labels of all records."""
    measure = granularity_loss if objective == "granularity" else loss
    return measure(
        sums,
        domains=[attribute.domain for attribute in attributes],
        records=records,
        weights=weights,
    )


def _group_of_records(items: Items, groups: ItemGroups, seed: int) -> Integers:
    """Return the group of each record, one beyond the last for those suppressed.

    Which records of an item go where is left to chance: they are alike in everything that was looked at.
    """
    order = np.argsort(groups.items, kind="stable")
    numbers = np.full(items.records, len(groups))
    numbers[items.retained[_by_item(items, seed)]] = np.repeat(
        groups.numbers[order], groups.counts[order]
    )
    return numbers


def _by_item(items: Items, seed: int) -> Integers:
    """Return the places of the retained records item by item, those of one item in random order."""
    shuffled = np.random.default_rng(seed).permutation(len(items.retained))
    by_item: Integers = shuffled[np.argsort(items.numbers[shuffled], kind="stable")]
    return by_item


def _verified(
    table: EncodedTable,
    criteria: Criteria,
    attributes: dict[str, LocalAttribute],
    released: dict[str, EncodedColumn],
    suppressed: Flags,
) -> int:
    """Count the classes anew, from the released columns alone, and judge them; return how many they are.

    Raises:
        InternalError: A criterion is not met, or a label does not stand for a value that it replaces.
    """
    # Every released text stands for the values that it replaces.
    for name, attribute in attributes.items():
        true, column = table.column(name), released[name]
        first = first_of_each(refined([true, column], table.records))
        for code, label in zip(true.codes[first], column.codes[first], strict=True):
            written = column.values[int(label)].as_py()
            if not attribute.stands_for(written, int(code)):
                raise InternalError(
                    f"a value of {quoted([name])} was to be released as {quoted([written])}"
                )
    # The classes of what is released meet the criteria.
    retained = np.flatnonzero(~suppressed)
    classes = refined([part_of(column, retained) for column in released.values()], len(retained))

    def counts(sensitive: str) -> ValueCounts:
        secret = table.column(sensitive)
        among = value_counts(classes, part_of(secret, retained))
        return replace(among, reference=records_per_value(secret))

    if broken := first_unmet(criteria, classes.sizes, counts):
        raise InternalError(f"a recoding was found that does not meet {broken}")
    return classes.classes
