"""The groups that a release's records fall into: how many people of a register are like each of them.

Release and register are brought to common codes column by column: a released value stands for true ones
(`glasshouse.table.generalised`), so that ``20-29`` finds everybody between 20 and 29, and a record with ``*`` in some
columns is looked up by the others. Where there is no register, a model of the population gives the share of people who
are like each record, and the group is a random number (`glasshouse.economics.belief`).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from glasshouse.arrays import Floats, Integers
from glasshouse.errors import DataError, StudyError, quoted
from glasshouse.language import text
from glasshouse.table import EncodedColumn, EncodedTable
from glasshouse.table.generalised import SUPPRESSED, covering, generalised_values, stood_for
from glasshouse.table.partition import refined


@dataclass(frozen=True)
class Groups:
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
            raise DataError(text("{source}: has nobody in it", source=self.source))
        if len(self.shares) and not 0 <= self.shares.min() <= self.shares.max() <= 1:
            raise DataError(
                text("{source}: a share of the population is outside 0 to 1", source=self.source)
            )
        if self.sizes is None:
            return
        if len(self.sizes) != len(self.shares):
            raise DataError(
                text(
                    "{release}: {sizes} sizes, but {shares} shares",
                    release=self.release,
                    sizes=len(self.sizes),
                    shares=len(self.shares),
                )
            )
        if len(self.sizes) and not 0 <= self.sizes.min() <= self.sizes.max() <= self.people:
            raise DataError(
                text(
                    "{release}: a group is larger than {source}, or negative",
                    release=self.release,
                    source=self.source,
                )
            )

    @property
    def records(self) -> int:
        """The number of records."""
        return len(self.shares)

    @cached_property
    def distinct_sizes(self) -> tuple[Integers, NDArray[np.intp]]:
        """The different sizes, ascending, and the place of each record's among them."""
        sizes = np.zeros(0, np.int64) if self.sizes is None else self.sizes
        found, place = np.unique(sizes, return_inverse=True)
        return found, place

    @cached_property
    def distinct_shares(self) -> tuple[Floats, NDArray[np.intp]]:
        """The different shares, ascending, and the place of each record's among them."""
        shares, place = np.unique(self.shares, return_inverse=True)
        return shares, place


def groups_in_register(
    release: EncodedTable,
    register: EncodedTable,
    *,
    quasi_identifiers: Sequence[str] | None = None,
    population: EncodedTable | None = None,
) -> Groups:
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
    names = _names(release, quasi_identifiers)
    sizes = people_like(release, register, names)
    if population is None:
        shares = sizes / register.records
    else:
        shares = people_like(release, population, names) / population.records
    return Groups(release.name, register.name, names, register.records, sizes, shares)


def groups_by_share(
    release: EncodedTable, people: int, shares: Mapping[str, Mapping[str, float]]
) -> Groups:
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
    if people < 1:
        raise StudyError(
            text(
                "--belief is {given}; it is the number of people in the register, from 1 on",
                given=repr(people),
            )
        )
    product = np.ones(release.records)
    for name, own in shares.items():
        column = release.column(name)
        product *= _value_shares(column, own)[column.codes]
    return Groups(release.name, "the model", tuple(shares), people, None, product)


def groups_by_population(
    release: EncodedTable,
    population: EncodedTable,
    people: int,
    *,
    quasi_identifiers: Sequence[str] | None = None,
) -> Groups:
    """Return the groups in a register that is a random sample of so many people of a population that is known.

    Raises:
        DataError: A column is missing, two released values stand for one true value, or the register is larger than
            the population.
    """
    names = _names(release, quasi_identifiers)
    if not 1 <= people <= population.records:
        raise StudyError(
            text(
                "--belief is {given}; a register of {population} holds 1 to {most} people",
                given=repr(people),
                population=population.name,
                most=population.records,
            )
        )
    shares = people_like(release, population, names) / population.records
    return Groups(release.name, population.name, names, people, None, shares)


def people_like(release: EncodedTable, register: EncodedTable, names: Sequence[str]) -> Integers:
    """Return, per record of a release, how many people of a register it can stand for."""
    for name in names:
        register.column(name)
        _refuse_nested(release.column(name), register.column(name))
    found = np.zeros(release.records, np.int64)
    for records, told in _by_stars(release, names):
        if not told:
            found[records] = register.records
            continue
        columns = [_common(release, register, name, records) for name in told]
        classes = refined(columns, len(records) + register.records)
        own, others = np.split(classes.numbers, [len(records)])
        found[records] = np.bincount(others, minlength=classes.classes)[own]
    return found


def _common(
    release: EncodedTable, register: EncodedTable, name: str, records: NDArray[np.intp]
) -> EncodedColumn:
    """Return a column of some released records and of the register, in the values of the release."""
    released, true = release.column(name), register.column(name)
    values = released.values
    star = values.index(SUPPRESSED).as_py()
    kept = np.flatnonzero(np.arange(len(values)) != star)
    try:
        position = covering(true.values, values.take(pa.array(kept)))
    except DataError as error:
        raise DataError(
            text("column {column}: {reason}", column=quoted([name]), reason=error)
        ) from None
    nobody = len(values)
    code = np.where(position < 0, nobody, kept[position] if len(kept) else nobody)
    joint = np.concatenate(
        [released.codes[records].astype(np.uint32), code.astype(np.uint32)[true.codes]]
    )
    return EncodedColumn(name, joint, pa.nulls(nobody + 1, pa.large_string()))


def _by_stars(
    release: EncodedTable, names: Sequence[str]
) -> Iterator[tuple[NDArray[np.intp], list[str]]]:
    """Yield the records that hold ``*`` in the same columns, and the columns in which they do not."""
    stars = []
    for name in names:
        column = release.column(name)
        code = column.values.index(SUPPRESSED).as_py()
        marks = column.codes == code if code >= 0 else np.zeros(release.records, np.bool_)
        codes = marks.astype(np.uint8)
        stars.append(EncodedColumn(name, codes, pa.nulls(2, pa.large_string())))
    alike = refined(stars, release.records)
    for number in range(alike.classes):
        records = alike.order[alike.starts[number] : alike.starts[number + 1]].astype(np.intp)
        told = [star.name for star in stars if not star.codes[records[0]]]
        yield records, told


def _refuse_nested(released: EncodedColumn, true: EncodedColumn) -> None:
    """Check that no released value stands for another one, but for ``*``: groups would overlap."""
    general = generalised_values(released.values)
    others = [written for written in general.values() if written != SUPPRESSED]
    if not others:
        return
    is_plain = np.ones(released.cardinality, np.bool_)
    is_plain[list(general)] = False
    plain = released.values.filter(pa.array(is_plain))
    both = pa.concat_arrays([plain, true.values])  # the true values tell codes from intervals
    covered = stood_for(both, others)[: len(plain)]
    if covered.any():
        value = plain[int(np.argmax(covered))].as_py()
        raise DataError(
            text(
                "column {column}: the release holds {value} beside a value that stands for it "
                "too; generalise so that each value has one released form",
                column=quoted([released.name]),
                value=quoted([value]),
            )
        )


def _value_shares(column: EncodedColumn, shares: Mapping[str, float]) -> Floats:
    """Return the share of the population behind each released value of a column."""
    given = np.array(list(shares.values()), float)
    if not len(given) or not np.all(given >= 0) or given.sum() > 1 + 1e-9:
        raise DataError(
            text(
                "column {column}: the shares of the population must be from 0 on and add up to at most 1",
                column=quoted([column.name]),
            )
        )
    total = np.zeros(column.cardinality)
    values = pa.array(list(shares), pa.large_string())
    star = column.values.index(SUPPRESSED).as_py()
    for code, written in enumerate(column.values.to_pylist()):
        if code == star:
            total[code] = 1.0
            continue
        behind = stood_for(values, [written])
        total[code] = min(1.0, given[behind].sum())
        if not behind.any():
            raise DataError(
                text(
                    "column {column}: the model has no share for {value}; add it, or correct the "
                    "release",
                    column=quoted([column.name]),
                    value=quoted([written]),
                )
            )
    return total


def _names(release: EncodedTable, quasi_identifiers: Sequence[str] | None) -> tuple[str, ...]:
    asked = release.quasi_identifiers if quasi_identifiers is None else tuple(quasi_identifiers)
    names = tuple(column.name for name in asked for column in release.columns_of(name))
    if not names:
        raise StudyError(
            text(
                "a release is compared with a register on quasi-identifiers; name at least one that both have"
            )
        )
    return names
