"""The groups that a release's records fall into: how many people of a register are like each of them.

They are counted by the values that release and register share, generalised or not (`glasshouse.table.matches`). Where
there is no register, a model of the population gives the share of people who are like each record, and the group is a
random number (`glasshouse.economics.optimal_plan`).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from glasshouse.arrays import Floats, Integers
from glasshouse.economics.terms import check_people
from glasshouse.errors import DataError, StudyError
from glasshouse.language import quoted
from glasshouse.table import EncodedColumn, EncodedTable
from glasshouse.table.generalised import SUPPRESSED, stood_for
from glasshouse.table.matches import people_like


@dataclass(frozen=True)
class PeopleGroups:
    """For every record of a release, the group that it falls into."""

    release: str
    """The name of the release."""
    source: str
    """The name of the register, or of the model of the population."""
    quasi_identifiers: tuple[str, ...]
    """What record and person are compared on."""
    people: int
    """The number of people in the register."""
    sizes: Integers | None = field(repr=False)
    """Per record, how many people of the register are like it, from 0; None: only their distribution is known."""
    shares: Floats = field(repr=False)
    """Per record, the share of the population that is like it."""

    def __post_init__(self) -> None:
        """Check that sizes and shares are possible.

        Raises:
            DataError: A size or a share is not, or there are not as many of both.
        """
        if self.people < 1:
            raise DataError("{source}: has nobody in it", source=self.source)
        if len(self.shares) and not 0 <= self.shares.min() <= self.shares.max() <= 1:
            raise DataError(
                "{source}: a share of the population is outside 0 to 1", source=self.source
            )
        if self.sizes is None:
            return
        if len(self.sizes) != len(self.shares):
            raise DataError(
                "{release}: {sizes} sizes, but {shares} shares",
                release=self.release,
                sizes=len(self.sizes),
                shares=len(self.shares),
            )
        if len(self.sizes) and not 0 <= self.sizes.min() <= self.sizes.max() <= self.people:
            raise DataError(
                "{release}: a group is larger than {source}, or negative",
                release=self.release,
                source=self.source,
            )

    @property
    def records(self) -> int:
        """The number of records."""
        return len(self.shares)

    @cached_property
    def distinct_sizes(self) -> tuple[Integers, NDArray[np.intp]]:
        """The different sizes, ascending, and the place of each record's among them."""
        sizes = np.zeros(0, np.int64) if self.sizes is None else self.sizes
        return np.unique(sizes, return_inverse=True)

    @cached_property
    def distinct_shares(self) -> tuple[Floats, NDArray[np.intp]]:
        """The different shares, ascending, and the place of each record's among them."""
        return np.unique(self.shares, return_inverse=True)

    def to_dict(self) -> dict[str, Any]:
        """Return release, register, columns and counts as plain values, without any record."""
        return {
            "release": self.release,
            "register": self.source,
            "quasi_identifiers": list(self.quasi_identifiers),
            "records": self.records,
            "people": self.people,
        }

    def to_frame(self) -> pa.Table:
        """Return one row per record of the release: handle it as the data itself."""
        sizes = pa.nulls(self.records, pa.int64()) if self.sizes is None else self.sizes
        return pa.table({"size": sizes, "share": self.shares})


def groups_in_register(
    release: EncodedTable,
    register: EncodedTable,
    *,
    quasi_identifiers: Sequence[str] | None = None,
    population: EncodedTable | None = None,
) -> PeopleGroups:
    """Count, for every record of a release, the people of a register that are like it.

    Args:
        release: The de-identified records; values may be generalised.
        register: The people, by their true values.
        quasi_identifiers: What both have; by default the quasi-identifiers of the release.
        population: Everybody, for the shares of an adversary who does not know the register yet; by default these are
            the shares in the register.

    Raises:
        DataError: A column is missing, or two released values stand for one true value.
        StudyError: There is no quasi-identifier.

    >>> from glasshouse.table import read
    >>> town = read(pa.table({"age": ["21", "25", "25", "31"], "sex": ["F", "F", "M", "F"]}), name="town")
    >>> trial = pa.table({"age": ["20-29", "20-29", "*"], "sex": ["F", "M", "F"]})
    >>> groups_in_register(read(trial, quasi_identifiers=["age", "sex"]), town).sizes.tolist()
    [2, 1, 3]
    """
    names = _shared_columns(release, quasi_identifiers)
    sizes = people_like(release, register, names)
    if population is None:
        shares = sizes / register.records
    else:
        shares = people_like(release, population, names) / population.records
    return PeopleGroups(release.name, register.name, names, register.records, sizes, shares)


def groups_by_share(
    release: EncodedTable, people: int, shares: Mapping[str, Mapping[str, float]]
) -> PeopleGroups:
    """Return the groups under a model of the population: each column's shares, the columns being independent.

    A released value that stands for several has the sum of their shares; ``*`` stands for anything.

    Args:
        release: The de-identified records.
        people: The number of people in the register.
        shares: Per column, the share of the population that has each value.

    Raises:
        DataError: A column is missing, a released value stands for none that has a share, or the shares are no
            distribution.

    >>> from glasshouse.table import read
    >>> release = read(pa.table({"age": ["20-29", "*"], "sex": ["F", "M"]}))
    >>> model = {"age": {"25": 0.25, "35": 0.75}, "sex": {"F": 0.5, "M": 0.5}}
    >>> groups_by_share(release, 1000, model).shares.tolist()
    [0.125, 0.5]
    """
    check_people(people, 1)
    product = np.ones(release.records)
    for name, value_shares in shares.items():
        column = release.column(name)
        product *= _value_shares(column, value_shares)[column.codes]
    return PeopleGroups(release.name, "the model", tuple(shares), people, None, product)


def groups_by_population(
    release: EncodedTable,
    population: EncodedTable,
    people: int,
    *,
    quasi_identifiers: Sequence[str] | None = None,
) -> PeopleGroups:
    """Return the groups in a register that is a random sample of so many people of a population that is known.

    Raises:
        DataError: A column is missing, two released values stand for one true value, or the register is larger than
            the population.
    """
    names = _shared_columns(release, quasi_identifiers)
    if not 1 <= people <= population.records:
        raise StudyError(
            "`belief` is {given}; a register of {population} holds 1 to {most} people",
            given=repr(people),
            population=population.name,
            most=population.records,
        )
    shares = people_like(release, population, names) / population.records
    return PeopleGroups(release.name, population.name, names, people, None, shares)


def _value_shares(column: EncodedColumn, shares: Mapping[str, float]) -> Floats:
    """Return the share of the population behind each released value of a column."""
    portions = np.array(list(shares.values()), float)
    if not len(portions) or not np.all(portions >= 0) or portions.sum() > 1 + 1e-9:
        raise DataError(
            "column {column}: the shares of the population must be from 0 on and add up to at most 1",
            column=quoted([column.name]),
        )
    total = np.zeros(column.cardinality)
    values = pa.array(list(shares), pa.large_string())
    star = column.values.index(SUPPRESSED).as_py()
    for code, written in enumerate(column.values.to_pylist()):
        if code == star:
            total[code] = 1.0
            continue
        behind = stood_for(values, [written])
        total[code] = min(1.0, portions[behind].sum())
        if not behind.any():
            raise DataError(
                "column {column}: the model has no share for {value}; add it, or correct the "
                "release",
                column=quoted([column.name]),
                value=quoted([written]),
            )
    return total


def _shared_columns(
    release: EncodedTable, quasi_identifiers: Sequence[str] | None
) -> tuple[str, ...]:
    if quasi_identifiers is None:
        quasi_identifiers = release.quasi_identifiers
    names = tuple(column.name for name in quasi_identifiers for column in release.columns_of(name))
    if not names:
        raise StudyError(
            "a release is compared with a register on quasi-identifiers; name at least one that both have"
        )
    return names
