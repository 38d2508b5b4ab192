"""In which of several releases people are: how likely each set of releases is, class by class.

Releases that all have an identifier are linked by it, and in each class the people of each set are counted. Else each
release is, within each class, an independent uniformly random choice of its f_y among the F_y people, so that the
probability of a set is the product of f_y/F_y, or of 1 − f_y/F_y, over the releases. Either way the sums over classes
are exact fractions. A set of releases is a number here, with a bit per release.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from glasshouse.errors import BudgetError, DataError, quoted
from glasshouse.language import text
from glasshouse.microdata.gains import sum_of_ratios
from glasshouse.microdata.membership_counts import (
    Classes,
    Counted,
    Counts,
    Question,
    Register,
    Release,
    column_of_codes,
    first_of_each,
    refuse_surplus,
    sums_by_group,
)
from glasshouse.table import Column
from glasshouse.table.dictionary import Dictionary
from glasshouse.table.partition import refined

_MOST_TERMS = 1 << 25
"""How many products of counts are added up exactly, at most, where releases cannot be linked."""


def model_of(question: Question) -> Model:
    """Return how likely each set of releases is for the people of each class.

    Raises:
        DataError: Linked records of a person differ in a quasi-identifier, or are more than there are people.
    """
    if question.common is None:
        return _Independent.of(question.register, question.counted)
    return _Linked.together(question.common, question.releases, question.population.name)


@dataclass(frozen=True)
class Certain:
    """Numbers of people whose releases are certain."""

    people: int
    """How many there are."""
    in_all: int
    """How many of them are in every release."""
    in_none: int
    """How many of them are in none."""


class Model(Protocol):
    """How likely each set of releases is for the people of each class; a set is a number, a bit per release."""

    def patterns(self, weights: Counts) -> dict[int, Fraction]:
        """Return the expected probability of each set, people counted by class; impossible sets are left out.

        Raises:
            BudgetError: There are too many terms to be added up exactly.
        """

    def best_guesses(self) -> Fraction:
        """Return the expected probability of the likeliest set, over everybody."""

    def certain(self) -> Certain:
        """Count the people for whom one set is certain."""


@dataclass(frozen=True)
class _Independent:
    """Releases that cannot be linked: in each class an independent random choice each.

    Classes with the same counts are alike; each kind of them is a row.
    """

    kind: NDArray[np.uint32]
    """Per class of the register, its row."""
    sizes: Counts
    """Per class of the register, its people."""
    records: tuple[Counts, ...]
    """Per release and row, f."""
    people: tuple[Counts, ...]
    """Per release and row, F."""

    @classmethod
    def of(cls, register: Register, counted: Sequence[Counted]) -> _Independent:
        pairs = []
        for each in counted:
            pair = refined(
                [_counts_column(each.records), _counts_column(each.people)], len(each.people)
            )
            pairs.append(column_of_codes(pair.numbers[each.of], pair.classes))
        rows = refined(pairs, register.classes)
        first = first_of_each(rows.numbers, rows.classes)
        return cls(
            kind=rows.numbers,
            sizes=register.sizes,
            records=tuple(each.records[each.of[first]] for each in counted),
            people=tuple(each.people[each.of[first]] for each in counted),
        )

    def patterns(self, weights: Counts) -> dict[int, Fraction]:
        weight, rows, below = self._weighted(weights)
        if len(rows) << len(self.records) > _MOST_TERMS:
            raise BudgetError(
                text(
                    "{kinds} kinds of classes in {releases} releases are too many to add up exactly; give the releases "
                    "an identifier to link them by, or take fewer releases or quasi-identifiers",
                    kinds=len(rows),
                    releases=len(self.records),
                )
            )
        denominators, group = _numbered(below)
        common = math.lcm(*denominators)
        scale = [common // denominator for denominator in denominators]
        total = common * int(weights.sum())
        shares = {
            pattern: Fraction(sum(map(int.__mul__, sums, scale)), total)
            for pattern, sums in self._expanded(weight, rows, group, len(denominators))
        }
        return dict(sorted(shares.items()))

    def best_guesses(self) -> Fraction:
        weight, rows, below = self._weighted(self.sizes)
        for records, people in zip(self.records, self.people, strict=True):
            weight = weight * np.maximum(records, people - records)[rows]
        return _sum_of_ratios(weight, below) / int(self.sizes.sum())

    def certain(self) -> Certain:
        weight = sums_by_group(self.kind, self.sizes, len(self.records[0]))
        pairs = list(zip(self.records, self.people, strict=True))
        is_in = np.logical_and.reduce([records == people for records, people in pairs])
        is_out = np.logical_and.reduce([records == 0 for records, _ in pairs])
        known = np.logical_and.reduce(
            [(records == people) | (records == 0) for records, people in pairs]
        )
        return Certain(*(int(weight[rows].sum()) for rows in (known, is_in, is_out)))

    def _weighted(self, weights: Counts) -> tuple[NDArray[Any], NDArray[np.intp], NDArray[Any]]:
        """Return the rows that matter: their weight, their positions, and what their products are divided by."""
        weight = sums_by_group(self.kind, weights, len(self.records[0]))
        rows = np.flatnonzero(weight)
        below: NDArray[Any] = np.ones(len(rows), object)
        for people in self.people:
            below = below * people[rows]
        shared = np.frompyfunc(math.gcd, 2, 1)(weight[rows].astype(object), below)
        return weight[rows] // shared, rows, below // shared

    def _expanded(
        self, weight: NDArray[Any], rows: NDArray[np.intp], group: NDArray[np.intp], groups: int
    ) -> Iterator[tuple[int, list[int]]]:
        """Yield each possible set with the sums of its products, by what they are divided by."""
        open_sets = [(0, 0, weight, np.arange(len(rows)))]
        while open_sets:
            release, pattern, product, left = open_sets.pop()
            if release == len(self.records):
                sums = np.zeros(groups, object)
                np.add.at(sums, group[left], product)
                yield pattern, list(map(int, sums))
                continue
            records = self.records[release][rows[left]]
            people = self.people[release][rows[left]]
            for bit, count in ((1, records), (0, people - records)):
                some = count > 0
                if some.any():
                    further = product[some] * count[some]
                    open_sets.append((release + 1, pattern | bit << release, further, left[some]))


@dataclass(frozen=True)
class _Linked:
    """Releases linked by an identifier: in each class, how many people are in which releases."""

    of: NDArray[np.uint32]
    """Per class of the register, the number of its class in the common writing."""
    people: Counts
    """Per class of the common writing, its people."""
    group_class: NDArray[np.uint32]
    """Per group of people with one class and one set of releases: the class."""
    group_pattern: NDArray[np.uint16]
    """Per group, the set: a bit per release; nobody is in none."""
    group_size: Counts
    """Per group, its people."""
    releases: int

    @classmethod
    def together(cls, classes: Classes, releases: Sequence[Release], population: str) -> _Linked:
        persons, everyone = _persons(releases)
        pattern = np.zeros(everyone, np.uint16)
        own_class = np.zeros(everyone, np.uint32)
        for bit, (person, number) in enumerate(zip(persons, classes.records, strict=True)):
            seen = pattern[person] > 0
            if np.any(own_class[person[seen]] != number[seen]):
                raise DataError(_differing(releases, persons, everyone))
            own_class[person] = number
            pattern[person] |= np.uint16(1 << bit)
        linked = np.flatnonzero(pattern)
        columns = [
            column_of_codes(own_class[linked], len(classes.people)),
            column_of_codes(pattern[linked], 1 << len(releases)),
        ]
        groups = refined(columns, len(linked))
        first = linked[first_of_each(groups.numbers, groups.classes)]
        taken = sums_by_group(own_class[first], groups.sizes, len(classes.people))
        refuse_surplus(taken - classes.people, _linked_names(releases), population)
        return cls(
            of=classes.of,
            people=classes.people,
            group_class=own_class[first],
            group_pattern=pattern[first],
            group_size=groups.sizes,
            releases=len(releases),
        )

    @cached_property
    def in_none(self) -> Counts:
        """Per class, the people who are in no release."""
        return self.people - sums_by_group(self.group_class, self.group_size, len(self.people))

    def patterns(self, weights: Counts) -> dict[int, Fraction]:
        weight = sums_by_group(self.of, weights, len(self.people))
        shared = np.gcd(weight, self.people)
        above, below = weight // shared, self.people // shared
        shares = {0: _sum_of_ratios(self.in_none * above, below)}
        for pattern in np.unique(self.group_pattern).tolist():
            chosen = self.group_pattern == pattern
            classes = self.group_class[chosen]
            products = self.group_size[chosen] * above[classes]
            shares[pattern] = _sum_of_ratios(products, below[classes])
        total = int(weights.sum())
        return {pattern: share / total for pattern, share in shares.items() if share}

    def best_guesses(self) -> Fraction:
        return Fraction(int(self._best().sum()), int(self.people.sum()))

    def certain(self) -> Certain:
        known = int(self.people[self._best() == self.people].sum())
        out = int(self.people[self.in_none == self.people].sum())
        in_all = self.group_pattern == (1 << self.releases) - 1
        full = in_all & (self.group_size == self.people[self.group_class])
        return Certain(known, int(self.group_size[full].sum()), out)

    def _best(self) -> Counts:
        """Return, per class, how many people are in its most frequent set of releases."""
        best = self.in_none.copy()
        np.maximum.at(best, self.group_class, self.group_size)
        return best


def _counts_column(counts: Counts) -> Column:
    return column_of_codes(counts.astype(np.uint32), int(counts.max()) + 1)


def _numbered(denominators: NDArray[Any]) -> tuple[list[int], NDArray[np.intp]]:
    """Return the distinct denominators, and the position of each denominator among them."""
    distinct, group = np.unique(denominators, return_inverse=True)
    return list(map(int, distinct)), group


def _sum_of_ratios(numerators: NDArray[Any], denominators: NDArray[Any]) -> Fraction:
    """Add up fractions exactly; there are few different denominators, hence one term for each."""
    distinct, group = _numbered(denominators)
    sums = np.zeros(len(distinct), numerators.dtype)
    np.add.at(sums, group, numerators)
    return sum_of_ratios(map(int, sums), distinct)


def _persons(releases: Sequence[Release]) -> tuple[list[NDArray[np.uint32]], int]:
    """Number the people of all releases by their identifiers; return the person of each record, and how many."""
    people = Dictionary()
    persons = []
    for release in releases:
        identifier = str(release.table.identifier)
        numbers = people.encode(release.table.column(identifier).values).astype(np.uint32)
        persons.append(numbers[release.codes(identifier)])
    return persons, len(people)


def _linked_names(releases: Sequence[Release]) -> str:
    *others, last = (release.name for release in releases)
    names = text("{first} and {last}", first=", ".join(others), last=last) if others else last
    return text("{names}, linked", names=names)


def _differing(
    releases: Sequence[Release], persons: Sequence[NDArray[np.uint32]], everyone: int
) -> str:
    """Say in which columns how many people differ between releases."""
    anywhere = np.zeros(everyone, np.bool_)
    counts = {}
    for name in releases[0].names:
        texts = Dictionary()
        value = np.full(everyone, -1, np.int64)
        differs = np.zeros(everyone, np.bool_)
        for person, release in zip(persons, releases, strict=True):
            codes = texts.encode(release.table.column(name).values)[release.codes(name)]
            before = value[person]
            differs[person] |= (before >= 0) & (before != codes)
            value[person] = codes
        anywhere |= differs
        counts[name] = int(np.count_nonzero(differs))
    told = [
        text("{column} of {people}", column=quoted([name]), people=count)
        for name, count in counts.items()
        if count
    ]
    return text(
        "{people} people have different values in different releases ({columns}); one register can only be matched "
        "with what does not change: leave it out of the quasi-identifiers",
        people=int(np.count_nonzero(anywhere)),
        columns=", ".join(told),
    )
