"""Survey weights: how many people of the population each record of a sample stands for.

Who knows that somebody is in the sample has the n records of it before her, and 1/n is right: no weight changes that.
Who does not know who was sampled looks for a person of the population. With F̂ = Σ w over the records of a class, the
estimated number of people who fit it, each record of the class is named with the chance 1/F̂, and Σ 1/F̂ over all
records is how many re-identifications are to be expected. The individual risk of μ-ARGUS and sdcMicro (Benedetti and
Franconi 1998) starts from the same F̂; as E[1/F] is above 1/E[F], this plain estimate is rather low.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from glasshouse.arrays import Flags, Integers
from glasshouse.errors import DataError
from glasshouse.microdata.attack_kernels import record_numbers
from glasshouse.microdata.gains import sum_of_ratios
from glasshouse.table import EncodedTable
from glasshouse.table.partition import Partition, partition

FEW_PEOPLE = (2, 3, 5, 10)
"""It is counted how many records are in classes that stand for fewer people than each of these."""
MOST_RATIOS = 50_000
"""Of so many different F̂ the sum of 1/F̂ is an exact ratio; of more, every term is cut off after so many binary"""
DIGITS = 160
"""digits, so that the sum is short of the ratio by less than the number of classes over 2 to this power."""


@dataclass(frozen=True)
class SurveyWeights:
    """How many people of the population each record of a sample stands for."""

    column: str
    """The column of the weights."""
    each: Integers
    """The weight per record, times the scale: whole numbers above 0."""
    scale: int
    """What the weights are multiplied by, so that they are whole."""

    @classmethod
    def of(cls, table: EncodedTable, column: str) -> SurveyWeights:
        """Return the weights in a column of a table.

        Raises:
            DataError: One is no number above 0, or they have too many digits to be added up exactly.
        """
        numbers, scale = record_numbers(table, column, "weight")
        if not numbers.all():
            raise DataError(
                '{table}, record {record}: the survey weight in column "{name}" is 0, so that the record stands for '
                "nobody; leave it out",
                table=table.name,
                record=int(np.argmin(numbers)) + 1,
                name=column,
            )
        return cls(column, numbers, scale)

    @property
    def people(self) -> NDArray[np.float64]:
        """The weight per record."""
        return self.each / self.scale

    @property
    def total(self) -> Fraction:
        """The people whom all records stand for: the sum of the weights."""
        return Fraction(int(self.each.sum()), self.scale)

    def of_records(self, chosen: Flags) -> SurveyWeights:
        """Return the weights of some of the records."""
        return replace(self, each=self.each[chosen])

    def added(self, numbers: NDArray[Any], classes: int) -> Integers:
        """Return the sum of the weights of each class, times the scale, given the class of each record."""
        sums = np.zeros(classes, np.int64)
        np.add.at(sums, numbers, self.each)
        return sums


@dataclass(frozen=True)
class WeightedClasses:
    """How many people of the population the classes of a release stand for, by survey weights."""

    column: str
    """The column of the weights."""
    quasi_identifiers: tuple[str, ...]
    """By what the records are in classes: what is known of a person."""
    people: Fraction
    """The people whom all records stand for, suppressed ones included: the sum of the weights."""
    records: int
    """The number of records in the classes."""
    classes: int
    """The number of classes: Σ 1/f over the records, with f the size of a record's class, which is how many are named
    right by somebody who knows who was sampled."""
    fewest: Fraction
    """The fewest people whom a class stands for, F̂: the estimated k of k-map."""
    expected: Fraction
    """Σ 1/F̂ over the records, a chance being 1 at most: how many are named right, by expectation, if somebody who does
    not know who was sampled names them all."""
    few: tuple[int, ...]
    """Per entry of `FEW_PEOPLE`, how many records are in classes that stand for fewer people."""

    @property
    def average(self) -> Fraction:
        """The mean over the records of one over the people whom their class stands for: the individual risk."""
        return self.expected / self.records

    @property
    def highest(self) -> Fraction:
        """The greatest individual risk."""
        return min(Fraction(1), 1 / self.fewest)

    @classmethod
    def of(
        cls,
        weights: SurveyWeights,
        classes: Partition,
        quasi_identifiers: Iterable[str],
        *,
        people: Fraction | None = None,
    ) -> WeightedClasses:
        """Add the weights up, class by class.

        Args:
            weights: The weights of the records of the classes.
            classes: The classes.
            quasi_identifiers: By what they are.
            people: The people whom all records stand for, where some are in no class.

        >>> import pyarrow as pa
        >>> from glasshouse.table import read
        >>> from glasshouse.table.partition import partition
        >>> table = read(pa.table({"age": [20, 20, 30], "w": [1.5, 2.5, 8]}), quasi_identifiers=["age"], also=["w"])
        >>> weights = SurveyWeights.of(table, "w")
        >>> weighted = WeightedClasses.of(weights, partition(table, ["age"]), ["age"])
        >>> weighted.expected, weighted.highest, weighted.few  # 2 records of F̂ = 4, and 1 of F̂ = 8
        (Fraction(5, 8), Fraction(1, 4), (0, 0, 2, 3))
        """
        sums = weights.added(classes.numbers, classes.classes)
        distinct, place = np.unique(sums, return_inverse=True)
        records = np.zeros(len(distinct), np.int64)
        np.add.at(records, place, classes.sizes)
        return cls(
            column=weights.column,
            quasi_identifiers=tuple(quasi_identifiers),
            people=weights.total if people is None else people,
            records=classes.records,
            classes=classes.classes,
            fewest=Fraction(int(distinct[0]), weights.scale),
            expected=_expected(records.tolist(), distinct.tolist(), weights.scale),
            few=tuple(int(records[distinct < few * weights.scale].sum()) for few in FEW_PEOPLE),
        )

    def to_dict(self) -> dict[str, Any]:
        """Return the figures as plain values."""
        figures = {name: float(getattr(self, name)) for name in ("people", "fewest", "average")}
        below = {str(people): count for people, count in zip(FEW_PEOPLE, self.few, strict=True)}
        return {
            "column": self.column,
            "quasi_identifiers": list(self.quasi_identifiers),
            "records": self.records,
            "classes": self.classes,
            **figures,
            "highest": float(self.highest),
            "expected": float(self.expected),
            "records_below": below,
        }


def weighted_sample(
    table: EncodedTable, column: str, quasi_identifiers: Sequence[str]
) -> WeightedClasses:
    """Return how many people the classes of a sample stand for, by survey weights.

    Args:
        table: The sample; records that hold nothing but ``*`` have been left out.
        column: The column of the weights.
        quasi_identifiers: What the adversary knows of a person.

    Raises:
        DataError: One is no number above 0, they have too many digits to be added up exactly, or they add up to fewer
            people than there are records.
    """
    weights = SurveyWeights.of(table, column)
    if weights.total < table.records:
        raise DataError(
            '{table}: the survey weights in column "{name}" add up to {people} people, fewer than the {records} '
            "records; if they were scaled, give those that add up to the population",
            table=table.name,
            name=column,
            people=f"{float(weights.total):.6g}",
            records=str(table.records),
        )
    return WeightedClasses.of(weights, partition(table, quasi_identifiers), quasi_identifiers)


def _expected(records: list[int], sums: list[int], scale: int) -> Fraction:
    """Return Σ records · min(1, scale / sum): exactly, or of very many terms rounded down in digits that nobody sees.

    >>> _expected([2, 1], [3, 40], 4)  # F̂ = 3/4, which counts as 1, and 10
    Fraction(21, 10)
    """
    if len(sums) <= MOST_RATIOS:
        below = [max(total, scale) for total in sums]
        return sum_of_ratios([count * scale for count in records], below)
    terms = zip(records, sums, strict=True)
    cut = sum(((count * scale) << DIGITS) // max(total, scale) for count, total in terms)
    return Fraction(cut, 1 << DIGITS)
