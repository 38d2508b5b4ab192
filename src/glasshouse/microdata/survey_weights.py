"""Survey weights: how many people of the population each record of a sample stands for.

Who knows that somebody is in the sample has the n records of it before her, and 1/n is right: no weight changes that.
Who does not know who was sampled looks for a person of the population. With F̂ = Σ w over the records of a class, the
estimated number of people who fit it, each record of the class is named with the chance 1/F̂, and Σ 1/F̂ over all
records is how many re-identifications are to be expected. As E[1/F] is above 1/E[F], this plain estimate is rather low.

The individual risk of μ-ARGUS and sdcMicro (Benedetti and Franconi 1998) starts from the same F̂, and takes F given f
for negative binomial with p = f/F̂: E[1/F | f] = (p/f)·₂F₁(1, 1; f + 1; 1 − p). Its sum over the records is what
sdcMicro prints as the expected number of re-identifications, and its mean the global risk; for f > 2 sdcMicro puts
p / (f − (1 − p)) in its place, unless it is asked for the exact one.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass, replace
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from glasshouse.arrays import Flags, Floats, Integers
from glasshouse.errors import DataError
from glasshouse.microdata.attack_kernels import record_numbers
from glasshouse.microdata.gains import sum_of_ratios
from glasshouse.microdata.uniqueness_models import ModelEstimate, modelled_uniques
from glasshouse.table import EncodedTable
from glasshouse.table.partition import Partition, partition

FEW_PEOPLE = (2, 3, 5, 10)
"""It is counted how many records are in classes that stand for fewer people than each of these."""
MOST_RATIOS = 50_000
"""Of so many different F̂ the sum of 1/F̂ is an exact ratio; of more, every term is cut off after so many binary"""
DIGITS = 160
"""digits, so that the sum is short of the ratio by less than the number of classes over 2 to this power."""


_BY_SCIPY, _TERMS, _AT_ONCE = 25, 64, 10_000
"""SciPy's ₂F₁(1, 1; f + 1; z) is right for classes up to the first; above it, so many terms of the series are right to
the last digits, worked out for so many classes at once."""


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

    @classmethod
    def of_sample(cls, table: EncodedTable, column: str) -> SurveyWeights:
        """Return the weights of a sample, which stand for its population.

        Raises:
            DataError: As `of`; or they add up to fewer people than there are records.
        """
        weights = cls.of(table, column)
        if weights.total < table.records:
            raise DataError(
                '{table}: the survey weights in column "{name}" add up to {people} people, fewer than the {records} '
                "records; if they were scaled, give those that add up to the population",
                table=table.name,
                name=column,
                people=f"{float(weights.total):.6g}",
                records=str(table.records),
            )
        return weights

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
    """The number of classes."""
    named: Fraction
    """Σ 1/f over the records, with f the size of a record's class, or of its neighbourhood: how many are named right by
    somebody who knows who was sampled. Of classes, their number."""
    fewest: Fraction
    """The fewest people whom a class stands for, F̂: the estimated k of k-map."""
    expected: Fraction
    """Σ 1/F̂ over the records, a chance being 1 at most: how many are named right, by expectation, if somebody who does
    not know who was sampled names them all."""
    few: tuple[int, ...]
    """Per entry of `FEW_PEOPLE`, how many records are in classes that stand for fewer people."""
    individual: float
    """Σ E[1/F | f] over the records, the individual risk of Benedetti and Franconi: how many are named right, by that
    estimate, by somebody who does not know who was sampled."""
    individual_highest: float
    """The highest individual risk of a record."""
    approximate: float
    """The sum with the approximation that sdcMicro takes unless told otherwise."""
    models: tuple[ModelEstimate, ...] = ()
    """How many who are alone in the sample are alone in the population, by models."""

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
        return cls.of_sums(
            weights,
            quasi_identifiers,
            sums=weights.added(classes.numbers, classes.classes),
            sizes=classes.sizes,
            records=classes.sizes,
            people=people,
        )

    @classmethod
    def of_sums(
        cls,
        weights: SurveyWeights,
        quasi_identifiers: Iterable[str],
        *,
        sums: Integers,
        sizes: Integers,
        records: Integers,
        people: Fraction | None = None,
    ) -> WeightedClasses:
        """Return what weights that were added up tell.

        Args:
            weights: The weights of the records.
            quasi_identifiers: What is known of a person.
            sums: Per class or neighbourhood, what its records weigh, times the scale.
            sizes: How many records it holds.
            records: Of how many records it is the one.
            people: The people whom all records stand for, where some are in no class.
        """
        distinct, place = np.unique(sums, return_inverse=True)
        alike = np.zeros(len(distinct), np.int64)
        np.add.at(alike, place, records)
        fitting = sums / weights.scale
        risks = individual_risks(sizes, fitting)
        coarse = np.where(sizes > 2, approximate_risks(sizes, fitting), risks)
        each, where = np.unique(sizes, return_inverse=True)
        of_size = np.zeros(len(each), np.int64)
        np.add.at(of_size, where, records)
        return cls(
            column=weights.column,
            quasi_identifiers=tuple(quasi_identifiers),
            people=weights.total if people is None else people,
            records=int(records.sum()),
            classes=len(sizes),
            named=sum_of_ratios(of_size.tolist(), each.tolist()),
            fewest=Fraction(int(distinct[0]), weights.scale),
            expected=_expected(alike.tolist(), distinct.tolist(), weights.scale),
            few=tuple(int(alike[distinct < few * weights.scale].sum()) for few in FEW_PEOPLE),
            individual=float(risks @ records),
            individual_highest=float(risks.max(initial=0.0)),
            approximate=float(coarse @ records),
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
            "named": float(self.named),
            **figures,
            "highest": float(self.highest),
            "expected": float(self.expected),
            "records_below": below,
            "individual": {
                "expected": self.individual,
                "global": self.individual / self.records,
                "highest": self.individual_highest,
                "sdcmicro_expected": self.approximate,
                "sdcmicro_global": self.approximate / self.records,
            },
            "models": [asdict(model) for model in self.models],
        }


def individual_risks(
    sizes: NDArray[Any], people: NDArray[np.float64], *, approximately: bool = False
) -> Floats:
    """Return the individual risks of Benedetti and Franconi.

    Args:
        sizes: Per class, f: how many records it holds.
        people: F̂: how many people of the population it stands for, by estimate.
        approximately: Whether classes of more than two get the approximation of sdcMicro.

    >>> individual_risks(np.array([1, 2, 3]), np.array([45.5, 100.0, 108.0])).round(8).tolist()
    [0.08579129, 0.01877883, 0.01355297]
    """
    from scipy.special import hyp2f1

    f = sizes.astype(np.float64)
    p = np.minimum(1.0, f / people)
    factor = np.ones(len(f))
    few, many = f <= _BY_SCIPY, f > _BY_SCIPY
    factor[few] = hyp2f1(1.0, 1.0, f[few] + 1, 1 - p[few])
    k = np.arange(_TERMS)
    for begin in range(0, np.count_nonzero(many), _AT_ONCE):
        some = np.flatnonzero(many)[begin : begin + _AT_ONCE]
        ratios = (1 - p[some, None]) * (k + 1) / (f[some, None] + 1 + k)
        factor[some] += np.cumprod(ratios, axis=1).sum(axis=1)
    risks: Floats = p / f * factor
    if approximately:
        risks = np.where(f > 2, approximate_risks(sizes, people), risks)
    return np.minimum(risks, 1.0)


def sample_risks(
    table: EncodedTable,
    column: str,
    quasi_identifiers: Sequence[str],
    *,
    approximately: bool = False,
) -> Floats:
    """Return the individual risk of every record of a sample: personal data, as all that is told of each.

    Raises:
        DataError: As `SurveyWeights.of_sample`.
    """
    weights = SurveyWeights.of_sample(table, column)
    classes = partition(table, quasi_identifiers)
    people = weights.added(classes.numbers, classes.classes) / weights.scale
    return individual_risks(classes.sizes, people, approximately=approximately)[classes.numbers]


def approximate_risks(sizes: NDArray[Any], people: NDArray[np.float64]) -> Floats:
    """Return what sdcMicro takes for the individual risks of classes of more than two, p / (f − (1 − p))."""
    p = np.minimum(1.0, sizes / people)
    risks: Floats = p / (sizes - (1 - p))
    return risks


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
    weights = SurveyWeights.of_sample(table, column)
    classes = partition(table, quasi_identifiers)
    weighted = WeightedClasses.of(weights, classes, quasi_identifiers)
    columns = [column for name in quasi_identifiers for column in table.columns_of(name)]
    return replace(weighted, models=modelled_uniques(columns, classes, weights.total))


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
