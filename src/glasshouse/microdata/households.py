"""Households: who is named once one member is, and the household itself as the target.

A release that says which records are of one household says more than its records one by one:

- whoever is sure of one member is sure of all: a record is named for certain if any record of its household is alone in
  its class, and with the chance of the luckiest guess, max 1/f over the members;
- whoever knows the members together knows the household by its composition, the multiset of what is known of each:
  households alike in it are a class of households.

All of this is counted. Beside it stands the household risk of μ-ARGUS and sdcMicro, 1 − Π(1 − r) over the members of a
household: that at least one is identified, if each is with its own risk r and independently. There r is 1/f, or with
survey weights the individual risk, as sdcMicro approximates it. Records without a household are left aside and counted.

Where a missing value matches every other (`glasshouse.microdata.neighbourhoods`), f is the size of the neighbourhood of
a record. Two households are alike if they have as many members, and these can be paired one to one so that each pair
agrees; a household has a neighbourhood of its own, and is named by its members with the chance of one over its size.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

import numpy as np

from glasshouse.arrays import Floats, Integers
from glasshouse.errors import DataError
from glasshouse.microdata.gains import sum_of_ratios
from glasshouse.microdata.neighbourhoods import Rows, matched_sample_risks, with_blanks
from glasshouse.microdata.survey_weights import sample_risks
from glasshouse.table import EncodedColumn, EncodedTable
from glasshouse.table.partition import partition


@dataclass(frozen=True)
class Households:
    """What a release tells of the households of its records."""

    column: str
    """The column that says which records are of one household."""
    quasi_identifiers: tuple[str, ...]
    """What is known of each member."""
    records: int
    """The number of records that have a household."""
    without: int
    """The number of records that have none, which are left aside."""
    households: int
    """The number of households."""
    alone: int
    """How many records are alone in their class, and so named for certain by themselves."""
    named: int
    """How many are named for certain if one member is: the records of households with a record that is alone."""
    guessed: Fraction
    """The mean over the records of the greatest chance that a member of their household is named, max 1/f."""
    compositions: int
    """How many different compositions there are: classes of households, with what is missing as it stands."""
    found: Fraction
    """The chance that a household is named right by its composition: the mean of one over how many are alike."""
    smallest: int
    """How many households are alike in the smallest class."""
    households_alone: int
    """How many households are the only ones of their composition."""
    records_alone: int
    """How many records are in these: named for certain by somebody who knows the members together."""
    expected: float
    """Σ over the records of 1 − Π(1 − r): sdcMicro's expected number of re-identifications by way of households."""

    @property
    def certain(self) -> Fraction:
        """The share of the records that are named for certain by one member, or by all, whichever are more."""
        return Fraction(max(self.named, self.records_alone), self.records)

    def to_dict(self) -> dict[str, Any]:
        """Return the figures as plain values."""
        return {
            "column": self.column,
            "quasi_identifiers": list(self.quasi_identifiers),
            "records": self.records,
            "without": self.without,
            "households": self.households,
            "one_member": {
                "alone": self.alone,
                "named": self.named,
                "named_share": self.named / self.records,
                "best_guess": float(self.guessed),
                "sdcmicro_expected": self.expected,
                "sdcmicro_global": self.expected / self.records,
            },
            "composition": {
                "classes": self.compositions,
                "smallest": self.smallest,
                "households_alone": self.households_alone,
                "records_alone": self.records_alone,
                "best_guess": float(self.found),
            },
        }


def household_risks(
    table: EncodedTable,
    column: str,
    *,
    quasi_identifiers: Sequence[str] | None = None,
    weight: str | None = None,
    missing_matches: bool = False,
) -> Households:
    """Tell who is named by way of a household.

    Args:
        table: The release, one record per person.
        column: The column that says which records are of one household.
        quasi_identifiers: What is known of each member; by default the table's quasi-identifiers.
        weight: The column of survey weights, for the household risk of a sample.
        missing_matches: Whether a missing value matches every other; else it is a value.

    Raises:
        DataError: A column is not in the table, no record has a household, or a weight makes no sense.
        BudgetError: Values are missing in too many combinations of columns.

    >>> import pyarrow as pa
    >>> from glasshouse.table import read
    >>> people = pa.table({"home": [1, 1, 2, 2, 3], "age": [40, 9, 40, 40, 40]})
    >>> found = household_risks(read(people, quasi_identifiers=["age"], also=["home"]), "home")
    >>> found.alone, found.named, found.compositions, found.records_alone  # the child of 9 names the parent
    (1, 2, 3, 5)
    """
    names = tuple(table.quasi_identifiers if quasi_identifiers is None else quasi_identifiers)
    without = table.missing([column])
    if without.all():
        raise DataError(
            '{table}: no record has a household in column "{name}"', table=table.name, name=column
        )
    some = np.flatnonzero(~without)
    homes, place = np.unique(np.asarray(table.column(column).codes)[some], return_inverse=True)
    members = np.bincount(place, minlength=len(homes))
    if missing_matches:
        blank = [one for part in with_blanks(table, names).values() for one in part]
        rows = Rows.of(blank, table.records)
        numbers, sizes = rows.numbers, rows.neighbours(rows.records)[0][rows.numbers]
        same = _compositions(place, numbers[some], members)
        alike = _matching(blank, some, place, members)
    else:
        classes = partition(table, names)
        numbers, sizes = classes.numbers.astype(np.int64), classes.sizes[classes.numbers]
        same = alike = _compositions(place, numbers[some], members)
    luckiest = np.full(len(homes), np.iinfo(np.int64).max)
    np.minimum.at(luckiest, place, sizes[some])
    fewest, where = np.unique(luckiest, return_inverse=True)
    tally = np.bincount(where, weights=members).astype(np.int64)
    lone = alike == 1
    own: Floats = 1 / sizes
    if weight is not None:
        of_sample = matched_sample_risks if missing_matches else sample_risks
        own = of_sample(table, weight, names, approximately=True)
    return Households(
        column=column,
        quasi_identifiers=names,
        records=len(some),
        without=int(np.count_nonzero(without)),
        households=len(homes),
        alone=int(np.count_nonzero(sizes[some] == 1)),
        named=int(members[luckiest == 1].sum()),
        guessed=sum_of_ratios(tally.tolist(), fewest.tolist()) / len(some),
        compositions=int(_sum_of_inverses(same)),
        found=_sum_of_inverses(alike) / len(homes),
        smallest=int(alike.min()),
        households_alone=int(np.count_nonzero(lone)),
        records_alone=int(members[lone].sum()),
        expected=_expected(place, own[some], members),
    )


def alike_households(homes: Integers, classes: Integers) -> tuple[Integers, Integers]:
    """Return the household of each record by its number, and of each how many have its composition.

    Args:
        homes: Per record, the household.
        classes: Per record, the class of what is known of it.

    >>> homes, classes = np.array([7, 7, 9, 9, 4]), np.array([0, 1, 1, 0, 0])
    >>> [part.tolist() for part in alike_households(homes, classes)]
    [[1, 1, 2, 2, 0], [1, 2, 2]]
    """
    _, place = np.unique(homes, return_inverse=True)
    members = np.bincount(place)
    return place, _compositions(place, classes, members)


def _sum_of_inverses(numbers: Integers) -> Fraction:
    distinct, counts = np.unique(numbers, return_counts=True)
    return sum_of_ratios(counts.tolist(), distinct.tolist())


def _expected(place: Integers, risks: Floats, members: Integers) -> float:
    """Return Σ over the records of the chance that at least one member of their household is identified."""
    with np.errstate(divide="ignore"):  # whose risk is 1 is identified for certain
        missed = np.bincount(place, weights=np.log1p(-risks), minlength=len(members))
    return float(members @ -np.expm1(missed))


def _members(place: Integers, members: Integers) -> Iterator[tuple[Integers, Integers]]:
    """Yield, by how many members they have, the households, and the places of their records, a row each."""
    order = np.argsort(place, kind="stable")
    starts = np.concatenate([np.zeros(1, np.int64), np.cumsum(members)])
    for size in np.unique(members):
        of_size = np.flatnonzero(members == size)
        yield of_size, order[starts[of_size][:, None] + np.arange(size)]


def _compositions(place: Integers, numbers: Integers, members: Integers) -> Integers:
    """Return, per household, how many have its composition, given the household and the class of each record."""
    alike = np.zeros(len(members), np.int64)
    for of_size, records in _members(place, members):
        rows = np.sort(numbers[records], axis=1)
        _, kind, counts = np.unique(rows, axis=0, return_inverse=True, return_counts=True)
        alike[of_size] = counts[kind.ravel()]
    return alike


def _matching(
    columns: Sequence[EncodedColumn], some: Integers, place: Integers, members: Integers
) -> Integers:
    """Return, per household, how many may be it where a missing value matches every other.

    Args:
        columns: What is known, with 0 for missing.
        some: The records that have a household.
        place: The household of each of these.
        members: Per household, how many there are.
    """
    alike = np.zeros(len(members), np.int64)
    for of_size, records in _members(place, members):
        chosen = some[records.ravel()]
        rows = Rows.of([replace(one, codes=one.codes[chosen]) for one in columns], len(chosen))
        alike[of_size] = rows.agreeing_groups(rows.numbers.reshape(records.shape))
    return alike
