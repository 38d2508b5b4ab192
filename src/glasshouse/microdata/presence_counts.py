"""Releases and a register brought to common classes: what the membership attacks count.

A release may write true values in its own, coarser way: ``20-29`` for ``25``. The writing of a release tells which
values of the register it can still tell apart; on the classes of its own writing, f_y records face F_y people. Of
several releases the register is divided once, into classes of people who are written alike in every one of them.

In which of several releases people are, and how likely each set of releases is, follows class by class. Releases that
all have an identifier are linked by it, and in each class the people of each set are counted. Else each release is,
within each class, an independent uniformly random choice of its f_y among the F_y people, so that the probability of a
set is the product of f_y/F_y, or of 1 − f_y/F_y, over the releases. Either way the sums over classes are exact
fractions. A set of releases is a number here, with a bit per release.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any, Protocol

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from glasshouse.arrays import Integers
from glasshouse.compiled import compiled
from glasshouse.errors import BudgetError, DataError
from glasshouse.language import quoted, text, text_for
from glasshouse.microdata.gains import sum_of_ratios
from glasshouse.table import EncodedColumn, EncodedTable
from glasshouse.table.codes import Codes, smallest_unsigned
from glasshouse.table.dictionary import Dictionary
from glasshouse.table.generalised import SUPPRESSED, covering, is_suppressed
from glasshouse.table.partition import refined

_MOST_TERMS = 1 << 25
"""How many products of counts are added up exactly, at most, where releases cannot be linked."""


@dataclass(frozen=True)
class MembershipQuestion:
    """Releases and register, brought together on the quasi-identifiers."""

    releases: tuple[ReleasedRecords, ...]
    """The releases."""
    population: EncodedTable
    """The register."""
    names: tuple[str, ...]
    """The quasi-identifiers."""
    register: RegisterClasses
    """The register in classes."""
    counted: tuple[Counted, ...]
    """Each release on the classes of its own writing."""
    common: WritingClasses | None
    """The classes of one writing for all releases, where they are linked by an identifier."""

    @classmethod
    def of(
        cls, tables: Sequence[EncodedTable], population: EncodedTable, names: tuple[str, ...]
    ) -> MembershipQuestion:
        """Bring releases and register together.

        Raises:
            DataError: The register lacks people of a release, or released values overlap.
        """
        released = tuple(ReleasedRecords.of(table, names) for table in tables)
        for release in released:
            _refuse_partly_suppressed(release)
        writings = [_Writing.of(population, names, release.values) for release in released]
        is_linked = len(tables) > 1 and all(table.identifier is not None for table in tables)
        if is_linked:
            writings.append(_Writing.of(population, names, _all_values(released)))
        register, classes = _brought_together(population, released, writings)
        counted = tuple(
            Counted.count(release, writing_classes, population.name)
            for release, writing_classes in zip(released, classes, strict=False)
        )
        return cls(
            released, population, names, register, counted, classes[-1] if is_linked else None
        )

    @property
    def people(self) -> int:
        """The number of people in the register."""
        return self.population.records

    @property
    def is_linked(self) -> bool:
        """Whether there are several releases, linked by an identifier."""
        return self.common is not None


@dataclass(frozen=True)
class ReleasedRecords:
    """A release as it is asked about: the records that tell something, on the quasi-identifiers."""

    table: EncodedTable
    """All of its records."""
    names: tuple[str, ...]
    """The quasi-identifiers."""
    kept: NDArray[np.intp] | None
    """The records that tell something; None: all."""

    @classmethod
    def of(cls, table: EncodedTable, names: tuple[str, ...]) -> ReleasedRecords:
        """Return a release without the records that hold nothing but ``*``."""
        nothing_told = is_suppressed(table, names)
        return cls(table, names, np.flatnonzero(~nothing_told) if nothing_told.any() else None)

    @property
    def name(self) -> str:
        """What the release is called."""
        return self.table.name

    @property
    def records(self) -> int:
        """The number of records that tell something."""
        return self.table.records if self.kept is None else len(self.kept)

    @property
    def suppressed(self) -> int:
        """The number of records that tell nothing."""
        return self.table.records - self.records

    def codes(self, name: str) -> Codes:
        """Return the codes of a column, of the records that tell something."""
        codes = self.table.column(name).codes
        return codes if self.kept is None else codes[self.kept]

    @cached_property
    def values(self) -> tuple[pa.LargeStringArray, ...]:
        """Per quasi-identifier, the values that these records hold."""
        held = []
        for name in self.names:
            column = self.table.column(name)
            counts = np.bincount(self.codes(name), minlength=column.cardinality)
            held.append(column.values.filter(pa.array(counts > 0)))
        return tuple(held)


@dataclass(frozen=True)
class RegisterClasses:
    """The register in classes of people who are written alike in every release."""

    numbers: NDArray[np.uint32]
    """Per person, the number of the class."""
    sizes: Integers
    """Per class, its people."""

    @property
    def classes(self) -> int:
        """The number of classes."""
        return len(self.sizes)


@dataclass(frozen=True)
class WritingClasses:
    """The classes of one writing, with the register and some releases in them."""

    of: NDArray[np.uint32]
    """Per class of the register, the number of its class here."""
    people: Integers
    """Per class, the people of the register."""
    records: tuple[NDArray[np.uint32], ...]
    """Per release and record, the number of its class."""


@dataclass(frozen=True)
class Counted:
    """One release on the classes of its own writing."""

    release: ReleasedRecords
    """The release."""
    of: NDArray[np.uint32]
    """Per class of the register, the number of its class in this writing."""
    people: Integers
    """Per class of this writing, the people of the register: F_y."""
    records: Integers
    """Per class of this writing, the records of the release: f_y."""

    @classmethod
    def count(cls, release: ReleasedRecords, classes: WritingClasses, population: str) -> Counted:
        """Count the records of a release by class.

        Raises:
            DataError: A class has more records than people.
        """
        records = np.bincount(classes.records[0], minlength=len(classes.people))
        refuse_surplus(records - classes.people, release.name, population)
        return cls(release, classes.of, classes.people, records)


def sums_by_group(group: NDArray[Any], counts: Integers, groups: int) -> Integers:
    """Add up counts by group: exactly, since they are of fewer than 2³² people and floats hold 2⁵³."""
    return np.bincount(group, weights=counts, minlength=groups).astype(np.int64)


def column_of_codes(codes: Codes, cardinality: int) -> EncodedColumn:
    """Return codes as a column; what they stand for plays no part."""
    return EncodedColumn("", codes, pa.nulls(cardinality))


@compiled
def first_of_each(numbers: NDArray[np.uint32], classes: int) -> Integers:
    """Return the first member of each class; classes are numbered by first appearance."""
    first = np.empty(classes, np.int64)
    number = 0
    for i in range(numbers.size):
        if numbers[i] == number:
            first[number] = i
            number += 1
    return first


def refuse_surplus(excess: Integers, releases: str, population: str) -> None:
    """Check that no class has more records than people.

    Args:
        excess: Per class, its records less its people.
        releases: What the records are of.
        population: The name of the register.

    Raises:
        DataError: A class has more.
    """
    surplus = excess[excess > 0]
    if len(surplus):
        raise DataError(
            text_for(
                len(surplus),
                "{releases}: {register}, which must contain everybody in the release, has no counterpart of {records} "
                "in {count} class; compare how the columns are written in both",
                "{releases}: {register}, which must contain everybody in the release, has no counterpart of {records} "
                "in {count} classes; compare how the columns are written in both",
                releases=releases,
                records=text_for(int(surplus.sum()), "{count} record", "{count} records"),
                register=population,
            )
        )


@dataclass(frozen=True)
class _Writing:
    """How true values are written in a release: which of them it can tell apart."""

    codes: tuple[Codes, ...]
    """Per quasi-identifier and value of the register: a code, the same for values that are written alike; codes are
    numbered by first appearance."""
    released: tuple[pa.LargeStringArray, ...]
    """Per quasi-identifier, the released values."""
    stands_for: tuple[Codes, ...]
    """Per quasi-identifier and released value: the code of the true values that it stands for, or one of its own."""
    cardinalities: tuple[int, ...]
    """Per quasi-identifier, the number of codes."""

    @classmethod
    def of(
        cls,
        population: EncodedTable,
        names: tuple[str, ...],
        released: tuple[pa.LargeStringArray, ...],
    ) -> _Writing:
        codes, stands_for = [], []
        for name, values in zip(names, released, strict=True):
            try:
                position = covering(population.column(name).values, values)
            except DataError as error:
                raise DataError(
                    "column {name}: {reason}", name=quoted([name]), reason=error
                ) from None
            alone = np.flatnonzero(position < 0)
            position[alone] = len(values) + np.arange(len(alone))
            code = _numbered_by_appearance(position, len(values) + len(alone))
            codes.append(_narrow(code[position]))
            stands_for.append(_narrow(code[: len(values)]))
        cardinalities = (
            1 + int(max(column.max(), other.max(initial=0)))
            for column, other in zip(codes, stands_for, strict=True)
        )
        return cls(tuple(codes), released, tuple(stands_for), tuple(cardinalities))

    def tells_the_same_apart_as(self, other: _Writing) -> bool:
        return all(map(np.array_equal, self.codes, other.codes))

    def of_release(self, release: ReleasedRecords) -> list[Codes]:
        """Return the codes of a release's records, per quasi-identifier."""
        columns = []
        for name, values, codes in zip(release.names, self.released, self.stands_for, strict=True):
            position = pc.index_in(release.table.column(name).values, value_set=values)
            known = pc.fill_null(position, 0).to_numpy(zero_copy_only=False)  # null: suppressed
            columns.append(codes[known][release.codes(name)] if len(codes) else release.codes(name))
        return columns


def _brought_together(
    population: EncodedTable, releases: tuple[ReleasedRecords, ...], writings: Sequence[_Writing]
) -> tuple[RegisterClasses, list[WritingClasses]]:
    """Bring register and releases into classes: of each release's writing, and of a common one where it is given."""
    columns = [population.column(name) for name in releases[0].names]
    if all(map(writings[0].tells_the_same_apart_as, writings[1:])):
        return _at_once(columns, releases, writings)
    return _one_by_one(columns, releases, writings)


def _at_once(
    columns: Sequence[EncodedColumn],
    releases: tuple[ReleasedRecords, ...],
    writings: Sequence[_Writing],
) -> tuple[RegisterClasses, list[WritingClasses]]:
    """Divide everything into classes together, where all writings tell the same values apart."""
    people = [
        column.codes if _is_identity(codes) else codes[column.codes]
        for column, codes in zip(columns, writings[0].codes, strict=True)
    ]
    written = map(_Writing.of_release, writings, releases)
    most = np.max([writing.cardinalities for writing in writings], axis=0).tolist()
    (numbers, *records), classes = _divided([people, *written], most)
    sizes = np.bincount(numbers, minlength=classes)
    register = RegisterClasses(numbers, sizes[: int(numbers.max()) + 1])
    same = np.arange(register.classes, dtype=np.uint32)
    classes_of = [WritingClasses(same, sizes, (record,)) for record in records]
    common = WritingClasses(same, sizes, tuple(records))
    return register, [*classes_of, common]


def _one_by_one(
    columns: Sequence[EncodedColumn],
    releases: tuple[ReleasedRecords, ...],
    writings: Sequence[_Writing],
) -> tuple[RegisterClasses, list[WritingClasses]]:
    """Divide the register into classes of people alike in every writing, and then these and the releases."""
    alike = []
    for i, column in enumerate(columns):
        written = np.stack([writing.codes[i] for writing in writings])
        _, joint_codes = np.unique(written, axis=1, return_inverse=True)
        codes = _narrow(joint_codes.reshape(-1))
        alike.append(column_of_codes(codes[column.codes], int(codes.max()) + 1))
    joint = refined(alike, len(columns[0].codes))
    register = RegisterClasses(joint.numbers, joint.sizes)
    first = first_of_each(joint.numbers, joint.classes)
    values = [column.codes[first] for column in columns]
    groups = [*((release,) for release in releases), releases]
    classes = []
    for writing, group in zip(writings, groups, strict=False):
        people = [codes[value] for codes, value in zip(writing.codes, values, strict=True)]
        sides = [people, *map(writing.of_release, group)]
        (of, *records), number = _divided(sides, writing.cardinalities)
        classes.append(
            WritingClasses(of, sums_by_group(of, register.sizes, number), tuple(records))
        )
    return register, classes


def _divided(
    parts: Sequence[list[Codes]], cardinalities: Sequence[int]
) -> tuple[list[NDArray[np.uint32]], int]:
    """Divide several parts into common classes; return the class of each record by part, and the number of classes."""
    columns = [
        column_of_codes(np.concatenate(codes), cardinality)
        for codes, cardinality in zip(zip(*parts, strict=True), cardinalities, strict=True)
    ]
    lengths = [len(part[0]) for part in parts]
    classes = refined(columns, sum(lengths))
    return np.split(classes.numbers, np.cumsum(lengths)[:-1]), classes.classes


def _narrow(codes: Integers) -> Codes:
    return codes.astype(smallest_unsigned(int(codes.max(initial=0)) + 1))


def _is_identity(codes: Codes) -> bool:
    return np.array_equal(codes, np.arange(len(codes)))


def _numbered_by_appearance(positions: Integers, count: int) -> Integers:
    """Give each of so many positions a number: first those that appear, in this order, then the others."""
    appearing, first = np.unique(positions, return_index=True)
    absent = np.setdiff1d(np.arange(count), appearing, assume_unique=True)
    order = np.concatenate([appearing[np.argsort(first)], absent])
    number = np.empty(count, np.int64)
    number[order] = np.arange(count)
    return number


def _refuse_partly_suppressed(release: ReleasedRecords) -> None:
    """Check that ``*`` stands alone in its column: beside other values it might stand for any of them as well."""
    columns = {
        name: release.table.column(name).values.index(SUPPRESSED).as_py()
        for name, values in zip(release.names, release.values, strict=True)
        if len(values) > 1 and values.index(SUPPRESSED).as_py() >= 0
    }
    if columns:
        partly = np.logical_or.reduce(
            [release.codes(name) == code for name, code in columns.items()]
        )
        raise DataError(
            '{release}: {records} records hold "{mark}" beside other values of {columns}, and could be in several '
            "classes; leave these columns out, or suppress whole records",
            release=release.name,
            records=int(np.count_nonzero(partly)),
            mark=SUPPRESSED,
            columns=quoted(columns),
        )


def _all_values(releases: Sequence[ReleasedRecords]) -> tuple[pa.LargeStringArray, ...]:
    """Return, per quasi-identifier, the values of all releases."""
    values = zip(*(release.values for release in releases), strict=True)
    return tuple(pc.unique(pa.concat_arrays(list(arrays))) for arrays in values)


def model_of(question: MembershipQuestion) -> PatternModel:
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


class PatternModel(Protocol):
    """How likely each set of releases is for the people of each class; a set is a number, a bit per release."""

    def patterns(self, weights: Integers) -> dict[int, Fraction]:
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
    sizes: Integers
    """Per class of the register, its people."""
    records: tuple[Integers, ...]
    """Per release and row, f."""
    people: tuple[Integers, ...]
    """Per release and row, F."""

    @classmethod
    def of(cls, register: RegisterClasses, counted: Sequence[Counted]) -> _Independent:
        pairs = []
        for release in counted:
            pair = refined(
                [_counts_column(release.records), _counts_column(release.people)],
                len(release.people),
            )
            pairs.append(column_of_codes(pair.numbers[release.of], pair.classes))
        rows = refined(pairs, register.classes)
        first = first_of_each(rows.numbers, rows.classes)
        return cls(
            kind=rows.numbers,
            sizes=register.sizes,
            records=tuple(release.records[release.of[first]] for release in counted),
            people=tuple(release.people[release.of[first]] for release in counted),
        )

    def patterns(self, weights: Integers) -> dict[int, Fraction]:
        weight, rows, below = self._weighted(weights)
        if len(rows) << len(self.records) > _MOST_TERMS:
            raise BudgetError(
                "{kinds} kinds of classes in {releases} releases are too many to add up exactly; give the releases "
                "an identifier to link them by, or take fewer releases or quasi-identifiers",
                kinds=len(rows),
                releases=len(self.records),
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

    def _weighted(self, weights: Integers) -> tuple[NDArray[Any], NDArray[np.intp], NDArray[Any]]:
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
            release, pattern, product, open_rows = open_sets.pop()
            if release == len(self.records):
                sums = np.zeros(groups, object)
                np.add.at(sums, group[open_rows], product)
                yield pattern, list(map(int, sums))
                continue
            records = self.records[release][rows[open_rows]]
            people = self.people[release][rows[open_rows]]
            for bit, count in ((1, records), (0, people - records)):
                some = count > 0
                if some.any():
                    further = product[some] * count[some]
                    open_sets.append(
                        (release + 1, pattern | bit << release, further, open_rows[some])
                    )


@dataclass(frozen=True)
class _Linked:
    """Releases linked by an identifier: in each class, how many people are in which releases."""

    of: NDArray[np.uint32]
    """Per class of the register, the number of its class in the common writing."""
    people: Integers
    """Per class of the common writing, its people."""
    group_class: NDArray[np.uint32]
    """Per group of people with one class and one set of releases: the class."""
    group_pattern: NDArray[np.uint16]
    """Per group, the set: a bit per release; nobody is in none."""
    group_size: Integers
    """Per group, its people."""
    releases: int

    @classmethod
    def together(
        cls, classes: WritingClasses, releases: Sequence[ReleasedRecords], population: str
    ) -> _Linked:
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
    def in_none(self) -> Integers:
        """Per class, the people who are in no release."""
        return self.people - sums_by_group(self.group_class, self.group_size, len(self.people))

    def patterns(self, weights: Integers) -> dict[int, Fraction]:
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

    def _best(self) -> Integers:
        """Return, per class, how many people are in its most frequent set of releases."""
        best = self.in_none.copy()
        np.maximum.at(best, self.group_class, self.group_size)
        return best


def _counts_column(counts: Integers) -> EncodedColumn:
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


def _persons(releases: Sequence[ReleasedRecords]) -> tuple[list[NDArray[np.uint32]], int]:
    """Number the people of all releases by their identifiers; return the person of each record, and how many."""
    people = Dictionary()
    persons = []
    for release in releases:
        identifier = str(release.table.identifier)
        numbers = people.encode(release.table.column(identifier).values).astype(np.uint32)
        persons.append(numbers[release.codes(identifier)])
    return persons, len(people)


def _linked_names(releases: Sequence[ReleasedRecords]) -> str:
    *names_before, last = (release.name for release in releases)
    names = (
        text("{first} and {last}", first=", ".join(names_before), last=last)
        if names_before
        else last
    )
    return text("{names}, linked", names=names)


def _differing(
    releases: Sequence[ReleasedRecords], persons: Sequence[NDArray[np.uint32]], everyone: int
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
    columns = [
        text("{column} of {people}", column=quoted([name]), people=count)
        for name, count in counts.items()
        if count
    ]
    return text(
        "{people} people have different values in different releases ({columns}); one register can only be matched "
        "with what does not change: leave it out of the quasi-identifiers",
        people=int(np.count_nonzero(anywhere)),
        columns=", ".join(columns),
    )
