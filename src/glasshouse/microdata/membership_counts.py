"""Releases and a register brought to common classes: what the membership attacks count.

A release may write true values in its own, coarser way: ``20-29`` for ``25``. The writing of a release tells which
values of the register it can still tell apart; on the classes of its own writing, f_y records face F_y people. Of
several releases the register is divided once, into classes of people who are written alike in every one of them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numba import njit
from numpy.typing import NDArray

from glasshouse.errors import DataError, quoted
from glasshouse.language import either, text, text_for
from glasshouse.microdata.membership_questions import (
    asked_about,
    refuse_several_records,
    unheard_of,
)
from glasshouse.table import Column, EncodedTable
from glasshouse.table.dictionary import Codes, smallest_unsigned
from glasshouse.table.generalised import SUPPRESSED, covering, is_suppressed
from glasshouse.table.partition import refined

Counts = NDArray[np.int64]
"""Numbers of people or of records."""


@dataclass(frozen=True)
class Question:
    """Releases and register, brought together on the quasi-identifiers."""

    releases: tuple[Release, ...]
    """The releases."""
    population: EncodedTable
    """The register."""
    names: tuple[str, ...]
    """The quasi-identifiers."""
    register: Register
    """The register in classes."""
    counted: tuple[Counted, ...]
    """Each release on the classes of its own writing."""
    common: Classes | None
    """The classes of one writing for all releases, where they are linked by an identifier."""

    @classmethod
    def of(
        cls,
        releases: EncodedTable | Sequence[EncodedTable],
        population: EncodedTable,
        quasi_identifiers: Sequence[str] | None,
    ) -> Question:
        """Check the question, and bring releases and register together.

        Raises:
            DataError: A column is missing, the register lacks people of a release, released values overlap, or
                somebody has two records in a release.
            StudyError: There is no quasi-identifier, or there are too many releases.
        """
        tables = (releases,) if isinstance(releases, EncodedTable) else tuple(releases)
        names = asked_about(tables, population, quasi_identifiers)
        for table in (*tables, population):
            refuse_several_records(table)
        asked = tuple(Release.of(table, names) for table in tables)
        for release in asked:
            _refuse_partly_suppressed(release)
        writings = [_Writing.of(population, names, release.values) for release in asked]
        is_linked = len(tables) > 1 and all(table.identifier is not None for table in tables)
        if is_linked:
            writings.append(_Writing.of(population, names, _all_values(asked)))
        register, classes = _brought_together(population, asked, writings)
        counted = tuple(
            Counted.count(release, own, population.name)
            for release, own in zip(asked, classes, strict=False)
        )
        return cls(asked, population, names, register, counted, classes[-1] if is_linked else None)

    @property
    def people(self) -> int:
        """The number of people in the register."""
        return self.population.records

    @property
    def is_linked(self) -> bool:
        """Whether there are several releases, linked by an identifier."""
        return self.common is not None


@dataclass(frozen=True)
class Release:
    """A release as it is asked about: the records that tell something, on the quasi-identifiers."""

    table: EncodedTable
    """All of its records."""
    names: tuple[str, ...]
    """The quasi-identifiers."""
    kept: NDArray[np.intp] | None
    """The records that tell something; None: all."""

    @classmethod
    def of(cls, table: EncodedTable, names: tuple[str, ...]) -> Release:
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
class Register:
    """The register in classes of people who are written alike in every release."""

    numbers: NDArray[np.uint32]
    """Per person, the number of the class."""
    sizes: Counts
    """Per class, its people."""

    @property
    def classes(self) -> int:
        """The number of classes."""
        return len(self.sizes)

    def fitting(self, population: EncodedTable, known: Mapping[str, tuple[str, ...]]) -> Counts:
        """Return, per class, how many of its people have one of the possible values in each known column.

        Raises:
            DataError: Nobody in the register has such a value, or nobody has all of them.
        """
        fits = np.ones(len(self.numbers), np.bool_)
        for name, possible in known.items():
            column = population.column(name)
            values = pa.array(possible, pa.large_string())
            wanted = pc.is_in(column.values, value_set=values).to_numpy(zero_copy_only=False)
            if not wanted.any():
                raise DataError(unheard_of(name, possible, column.values, population.name))
            fits &= wanted[column.codes]
        counts = np.bincount(self.numbers[fits], minlength=self.classes)
        if not counts.any():
            told = ", ".join(f"{name} {either(values)}" for name, values in known.items())
            raise DataError(
                text(
                    "nobody in {register} fits ({known}); check what is known, or leave something out",
                    register=population.name,
                    known=told,
                )
            )
        return counts


@dataclass(frozen=True)
class Classes:
    """The classes of one writing, with the register and some releases in them."""

    of: NDArray[np.uint32]
    """Per class of the register, the number of its class here."""
    people: Counts
    """Per class, the people of the register."""
    records: tuple[NDArray[np.uint32], ...]
    """Per release and record, the number of its class."""


@dataclass(frozen=True)
class Counted:
    """One release on the classes of its own writing."""

    release: Release
    """The release."""
    of: NDArray[np.uint32]
    """Per class of the register, the number of its class in this writing."""
    people: Counts
    """Per class of this writing, the people of the register: F_y."""
    records: Counts
    """Per class of this writing, the records of the release: f_y."""

    @classmethod
    def count(cls, release: Release, classes: Classes, population: str) -> Counted:
        """Count the records of a release by class.

        Raises:
            DataError: A class has more records than people.
        """
        records = np.bincount(classes.records[0], minlength=len(classes.people))
        refuse_surplus(records - classes.people, release.name, population)
        return cls(release, classes.of, classes.people, records)


def sums_by_group(group: NDArray[Any], counts: Counts, groups: int) -> Counts:
    """Add up counts by group: exactly, since they are of fewer than 2³² people and floats hold 2⁵³."""
    return np.bincount(group, weights=counts, minlength=groups).astype(np.int64)


def column_of_codes(codes: Codes, cardinality: int) -> Column:
    """Return codes as a column; what they stand for plays no part."""
    return Column("", codes, pa.nulls(cardinality))


@njit(cache=True, nogil=True)  # type: ignore[untyped-decorator]
def first_of_each(numbers: NDArray[np.uint32], classes: int) -> NDArray[np.int64]:
    """Return the first member of each class; classes are numbered by first appearance."""
    first = np.empty(classes, np.int64)
    found = 0
    for i in range(numbers.size):
        if numbers[i] == found:
            first[found] = i
            found += 1
    return first


def refuse_surplus(excess: Counts, releases: str, population: str) -> None:
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
                    text("column {name}: {reason}", name=quoted([name]), reason=error)
                ) from None
            alone = np.flatnonzero(position < 0)
            position[alone] = len(values) + np.arange(len(alone))
            code = _numbered_by_appearance(position, len(values) + len(alone))
            codes.append(_narrow(code[position]))
            stands_for.append(_narrow(code[: len(values)]))
        cardinalities = (
            1 + int(max(own.max(), other.max(initial=0)))
            for own, other in zip(codes, stands_for, strict=True)
        )
        return cls(tuple(codes), released, tuple(stands_for), tuple(cardinalities))

    def tells_the_same_apart_as(self, other: _Writing) -> bool:
        return all(map(np.array_equal, self.codes, other.codes))

    def of_release(self, release: Release) -> list[Codes]:
        """Return the codes of a release's records, per quasi-identifier."""
        columns = []
        for name, values, codes in zip(release.names, self.released, self.stands_for, strict=True):
            position = pc.index_in(release.table.column(name).values, value_set=values)
            known = pc.fill_null(position, 0).to_numpy(zero_copy_only=False)  # null: suppressed
            columns.append(codes[known][release.codes(name)] if len(codes) else release.codes(name))
        return columns


def _brought_together(
    population: EncodedTable, releases: tuple[Release, ...], writings: Sequence[_Writing]
) -> tuple[Register, list[Classes]]:
    """Bring register and releases into classes: of each release's writing, and of a common one where it is given."""
    columns = [population.column(name) for name in releases[0].names]
    if all(map(writings[0].tells_the_same_apart_as, writings[1:])):
        return _at_once(columns, releases, writings)
    return _one_by_one(columns, releases, writings)


def _at_once(
    columns: Sequence[Column], releases: tuple[Release, ...], writings: Sequence[_Writing]
) -> tuple[Register, list[Classes]]:
    """Divide everything into classes together, where all writings tell the same values apart."""
    people = [
        column.codes if _is_identity(codes) else codes[column.codes]
        for column, codes in zip(columns, writings[0].codes, strict=True)
    ]
    written = map(_Writing.of_release, writings, releases)
    most = np.max([writing.cardinalities for writing in writings], axis=0).tolist()
    (numbers, *records), classes = _divided([people, *written], most)
    sizes = np.bincount(numbers, minlength=classes)
    register = Register(numbers, sizes[: int(numbers.max()) + 1])
    same = np.arange(register.classes, dtype=np.uint32)
    own = [Classes(same, sizes, (record,)) for record in records]
    common = Classes(same, sizes, tuple(records))
    return register, [*own, common]


def _one_by_one(
    columns: Sequence[Column], releases: tuple[Release, ...], writings: Sequence[_Writing]
) -> tuple[Register, list[Classes]]:
    """Divide the register into classes of people alike in every writing, and then these and the releases."""
    alike = []
    for i, column in enumerate(columns):
        written = np.stack([writing.codes[i] for writing in writings])
        _, joint_codes = np.unique(written, axis=1, return_inverse=True)
        codes = _narrow(joint_codes.reshape(-1))
        alike.append(column_of_codes(codes[column.codes], int(codes.max()) + 1))
    joint = refined(alike, len(columns[0].codes))
    register = Register(joint.numbers, joint.sizes)
    first = first_of_each(joint.numbers, joint.classes)
    values = [column.codes[first] for column in columns]
    groups = [*((release,) for release in releases), releases]
    classes = []
    for writing, group in zip(writings, groups, strict=False):
        people = [codes[value] for codes, value in zip(writing.codes, values, strict=True)]
        parts = [people, *map(writing.of_release, group)]
        (of, *records), number = _divided(parts, writing.cardinalities)
        classes.append(Classes(of, sums_by_group(of, register.sizes, number), tuple(records)))
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


def _narrow(codes: NDArray[np.int64]) -> Codes:
    return codes.astype(smallest_unsigned(int(codes.max(initial=0)) + 1))


def _is_identity(codes: Codes) -> bool:
    return np.array_equal(codes, np.arange(len(codes)))


def _numbered_by_appearance(positions: NDArray[np.int64], count: int) -> NDArray[np.int64]:
    """Give each of so many positions a number: first those that appear, in this order, then the others."""
    appearing, first = np.unique(positions, return_index=True)
    others = np.setdiff1d(np.arange(count), appearing, assume_unique=True)
    order = np.concatenate([appearing[np.argsort(first)], others])
    number = np.empty(count, np.int64)
    number[order] = np.arange(count)
    return number


def _refuse_partly_suppressed(release: Release) -> None:
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
            text(
                '{release}: {records} records hold "{mark}" beside other values of {columns}, and could be in several '
                "classes; leave these columns out, or suppress whole records",
                release=release.name,
                records=int(np.count_nonzero(partly)),
                mark=SUPPRESSED,
                columns=quoted(columns),
            )
        )


def _all_values(releases: Sequence[Release]) -> tuple[pa.LargeStringArray, ...]:
    """Return, per quasi-identifier, the values of all releases."""
    values = zip(*(release.values for release in releases), strict=True)
    return tuple(pc.unique(pa.concat_arrays(list(each))) for each in values)
