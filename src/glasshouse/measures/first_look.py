"""A first look at a release: how each file was understood, which columns name people, and who may be in it twice."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import reduce
from operator import or_
from typing import TYPE_CHECKING

from glasshouse.arrays import Integers
from glasshouse.measures.coverage import OUTSIDE, Coverage, CoveredColumn, Fate
from glasshouse.measures.measurement import Measurement, column_measures
from glasshouse.table import ColumnProfile
from glasshouse.table.profiles import FREE_TEXT, MANY_VALUES

if TYPE_CHECKING:
    from glasshouse.microdata import Attack


FEW = 20
"""If more than one record in so many is the same as another in every column, that may be chance."""


@dataclass(frozen=True)
class FirstLook:
    """How one file of a release was understood, from its first records."""

    name: str
    """What results call the file."""
    columns: tuple[ColumnProfile, ...]
    """What its columns hold."""
    records: int
    """How many records were looked at."""
    separator: str | None = None
    """What was taken to stand between fields; None: that was said, or there is no such thing."""
    encoding: str | None = None
    """The encoding that was concluded from the letters, if any."""
    has_header: bool = False
    """Whether the first line was taken for names."""
    first_is_record: bool = False
    """Whether it looks like a record all the same."""
    skipped: int = 0
    """How many lines before the header were taken for none of the table."""
    renamed: tuple[str, ...] = ()
    """What columns are called that have no name, or the same as another."""
    decimal: str | None = None
    """What was taken for the decimal sign; None: that was said, or no column is read as numbers."""
    repeated: int = 0
    """How many of the records are the same as one before them in every column,"""
    firsts: Integers | None = field(default=None, compare=False, repr=False)
    """and the positions of the others; None: they are not asked for."""
    person: ColumnProfile | None = None
    """The column that looks like a person's identifier, and has repeats, though the study names none."""
    owner: ColumnProfile | None = None
    """Where there is none, the column that may say whose a record is: it is called so, and repeats."""
    fates: Mapping[str, Fate] = field(default_factory=dict)
    """What becomes of each column when the release is judged; one without a fate was not looked at."""
    is_whole: bool = True
    """Whether these are all columns of the release, so that it can be told what was not looked at."""
    left_out: tuple[str, ...] = ()
    """The columns of the data that a protected release of them does not have."""
    one_each: Attack | None = None
    """Naming people by all quasi-identifiers, with one record of each value of that column, or without the repeated
    records; None: that was not counted."""

    @property
    def coverage(self) -> Coverage:
        """What becomes of every column."""
        covered = [
            CoveredColumn(
                column.name,
                self.fates.get(column.name, Fate.UNSEEN),
                column.looks_like if column.is_direct else "",
            )
            for column in self.columns
        ]
        absent = [CoveredColumn(name, Fate.DROPPED) for name in self.left_out]
        return Coverage((*covered, *absent))

    @property
    def released(self) -> tuple[ColumnProfile, ...]:
        """The columns that are in the release, and were not dismissed by name."""
        return tuple(
            column for column in self.columns if self.fates.get(column.name) not in OUTSIDE
        )

    @property
    def direct(self) -> tuple[ColumnProfile, ...]:
        """The columns of the release that name or reach people by themselves."""
        return tuple(column for column in self.released if column.is_direct)

    @property
    def seems_repeated(self) -> bool:
        """Whether a few records are the same as others in every column, which is hardly chance.

        It may be where no column, such as an income, tells most records apart, or where more than a few are the same.
        """
        tells_apart = any(column.distinct > MANY_VALUES * column.records for column in self.columns)
        return self.person is None and tells_apart and 0 < FEW * self.repeated <= self.records

    @property
    def free_text(self) -> tuple[str, ...]:
        """The names of columns of free text in the release."""
        return tuple(column.name for column in self.released if column.looks_like == FREE_TEXT)


def coverage_of(looks: Sequence[FirstLook]) -> Coverage | None:
    """Return what becomes of every column of a release; None: it is not known which columns it has."""
    if not looks or not all(one.is_whole for one in looks):
        return None
    return reduce(or_, (one.coverage for one in looks))


def as_json(looks: Sequence[FirstLook]) -> dict[str, object]:
    """Return what in a release names people, as plain values; nothing where nothing does."""
    direct = [
        {"dataset": one.name, "column": column.name, "kind": column.looks_like}
        for one in looks
        for column in one.direct
    ]
    texts = [{"dataset": one.name, "column": name} for one in looks for name in one.free_text]
    content = {"direct_identifiers": direct, "free_text": texts}
    return {name: columns for name, columns in content.items() if columns}


def measured(looks: Sequence[FirstLook]) -> tuple[Measurement, ...]:
    """Return how many columns were not looked at, and how many name people; nothing where nothing was looked at."""
    coverage = coverage_of(looks)
    return () if coverage is None else column_measures(coverage)
