"""Risks in the population behind a sample, without a register of it.

The release is a simple random sample: a fraction π of the N = n/π people. A class of f records stands for F people of
the population, F unknown. Being alone in the sample is no harm to those who are not alone in the population: how many
population uniques there are is estimated from how many classes of each size the sample has.

Notation: n records, u classes, s_j classes with j records; in the population K classes, of which S_1 hold one person.
Estimates are models' answers, not facts: the estimators differ, often by much, and say so where they fail.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from fractions import Fraction
from typing import Any

import numpy as np
import pyarrow as pa

from glasshouse.arrays import Floats, Integers
from glasshouse.errors import DataError, StudyError
from glasshouse.language import marked
from glasshouse.microdata.leakage import as_fraction, treatment
from glasshouse.microdata.survey_weights import WeightedClasses, weighted_sample
from glasshouse.table import EncodedColumn, EncodedTable, Step
from glasshouse.table.generalised import is_suppressed
from glasshouse.table.partition import refined

LOW_FRACTION = Fraction(1, 10)
"""Up to this sampling fraction the rule of Dankar et al. trusts Pitman's model."""
MOST_PEOPLE = 10**12
"""A population of more people is not taken seriously: the fraction must be mistaken."""

_BY_SCIPY, _TERMS = 25, 64
"""SciPy's ₂F₁(1, 1; f + 1; z) is right for classes up to the first, and may be NaN from 100 on; above it, so many terms
of the series are right to the last digits."""
_LIMIT_TOLERANCE = 0.01
"""The published limit of the Pitman estimator is taken where it is, relatively, this near to the expected value."""
_NEAR_EWENS = 20
"""From θ = 20·(u − 1)·α on, the sum over classes is a series in α. There its form in gamma functions, which cancels
ever more as α nears 0, and the series, cut off after the sixth power, are both right to nine digits."""
_NEWTON_STEPS = 200
_HALVINGS = 40
_LAST_GAIN = 1e-6
"""The last step of Newton's method promises to raise the logarithm of the likelihood by less than this."""
_ROUNDING = 1e-13
"""Per record, what rounding hides of a rise of the logarithm of the likelihood, with some to spare."""


@dataclass(frozen=True)
class Estimate:
    """How many people are alone in their class of the population, by one estimator."""

    name: str
    """The estimator."""
    reference: str
    """Who proposed it."""
    population_uniques: float | None
    """The estimated number of population uniques; None where the estimator found no answer."""
    share_of_population: float | None
    """Their share of the population."""
    share_of_sample_uniques: float | None
    """The estimated share of the records that are alone in the sample whose people are alone in the population too;
    None also where no record is alone."""
    converged: bool
    """Whether the estimator found its answer."""
    note: str
    """What to know about this answer, or why there is none: remarks marked for translators, with "; " between them;
    empty when there is nothing."""


@dataclass(frozen=True)
class PopulationRisks:
    """The risks of a sample's records in the population that it was drawn from."""

    dataset: str
    """The name of the release."""
    quasi_identifiers: tuple[str, ...]
    """What the adversary knows of a person."""
    fraction: Fraction
    """The sampling fraction π."""
    records: int
    """The number of records that tell something of their person."""
    suppressed: int
    """The number of records with nothing but ``*``, which are left out."""
    people: int
    """The number of people that these records stand for: n/π, rounded."""
    classes: int
    """The number of classes of the sample."""
    uniques: int
    """The number of records that are alone in the sample."""
    journalist_highest: Fraction
    """The highest risk that a record is named by somebody with a register: π / (size of the smallest class)."""
    journalist_average: Fraction
    """The average of that risk over the records."""
    marketer: Fraction
    """The expected share of the records that is named right, Σ f/F / n with F estimated as f/π."""
    marketer_expected: float
    """The same with the expected value of 1/F given f (Benedetti and Franconi 1998) in the place of π/f."""
    marketer_by_classes: float
    """The same from the estimated number of classes of the population: K/N."""
    population_classes: float
    """The estimated number of classes of the population: K, by Haas and Stokes."""
    estimates: tuple[Estimate, ...]
    """The population uniques: by Zayatz, Pitman, SNB, and by the rule of Dankar et al., which takes one of them."""
    weighted: WeightedClasses | None = None
    """How many people the classes stand for, where there are survey weights."""
    steps: tuple[Step, ...] = ()
    """What was left out of the release."""

    @property
    def dankar(self) -> Estimate:
        """The estimate that the rule of Dankar et al. takes."""
        return self.estimates[-1]

    def to_dict(self) -> dict[str, Any]:
        """Return the risks as plain values."""
        return {
            "dataset": self.dataset,
            "quasi_identifiers": list(self.quasi_identifiers),
            "fraction": float(self.fraction),
            "records": self.records,
            "suppressed": self.suppressed,
            "people": self.people,
            "classes": self.classes,
            "uniques": self.uniques,
            "journalist_highest": float(self.journalist_highest),
            "journalist_average": float(self.journalist_average),
            "marketer": float(self.marketer),
            "marketer_expected": self.marketer_expected,
            "marketer_by_classes": self.marketer_by_classes,
            "population_classes": self.population_classes,
            "estimates": [asdict(estimate) for estimate in self.estimates],
            **({} if self.weighted is None else {"weighted": self.weighted.to_dict()}),
            **treatment(self.steps),
        }

    def to_frame(self) -> pa.Table:
        """Return one row per estimate of the population uniques; missing ones are null."""
        return pa.Table.from_pylist(self.to_dict()["estimates"], schema=_SCHEMA)


_SCHEMA = pa.schema(
    [
        ("name", pa.string()),
        ("reference", pa.string()),
        ("population_uniques", pa.float64()),
        ("share_of_population", pa.float64()),
        ("share_of_sample_uniques", pa.float64()),
        ("converged", pa.bool_()),
        ("note", pa.string()),
    ]
)


def population_risks(
    table: EncodedTable,
    *,
    fraction: Fraction | float | None = None,
    quasi_identifiers: Sequence[str] | None = None,
    weight: str | None = None,
) -> PopulationRisks:
    """Estimate the risks of a sample's records in the population that it was drawn from.

    The journalist's and the marketer's risks (El Emam 2013; Dankar and El Emam 2010) are 1/F and Σ f/F / n. With the
    plain estimate F = f/π the highest is π / min f, and the marketer's risk is π·u/n, which is also the average of 1/F
    over the records. These are low: a sample has E[f] = πF, so that Σ f/F is expected to be π·K, and the marketer's
    risk K/N; the plain estimate is u/N, and misses the classes that the sample has not seen. Two better ones come with
    it: ``marketer_expected`` takes E[1/F | f] with F − f negative binomial (Benedetti and Franconi 1998), which is
    (π/f)·₂F₁(1, 1; f + 1; 1 − π), and ``marketer_by_classes`` is K/N with an estimated K.

    Args:
        table: The release, a simple random sample of the population, one record per person.
        fraction: The sampling fraction π, above 0 and at most 1; a float stands for its shortest decimal form. By
            default it is estimated by the weights: as n / Σ w.
        quasi_identifiers: What the adversary knows of a person; by default the table's quasi-identifiers.
        weight: The column of survey weights: how many people of the population each record stands for.

    Raises:
        DataError: A column is not in the table, no record tells anything, or a weight makes no sense.
        StudyError: There is no quasi-identifier, the fraction is not a fraction, or there is none, and no weight.

    >>> from glasshouse.table import read
    >>> table = read(pa.table({"age": [20, 20, 30, 40]}), quasi_identifiers=["age"])
    >>> risks = population_risks(table, fraction=0.5)
    >>> risks.people, risks.journalist_highest, risks.marketer
    (8, Fraction(1, 2), Fraction(3, 8))
    >>> zayatz = risks.estimates[0]  # P(f = 1 | F): 1/2 for F = 1, 4/7 for F = 2
    >>> round(zayatz.share_of_sample_uniques, 6) == round((2 / 2) / (2 / 2 + 4 / 7), 6)
    True
    """
    if fraction is None and weight is None:
        raise StudyError("give a sampling fraction (`fraction`) or survey weights (`weight`)")
    known = tuple(table.quasi_identifiers if quasi_identifiers is None else quasi_identifiers)
    columns = _columns(table, known)
    is_told = ~is_suppressed(table, [column.name for column in columns])
    if not is_told.any():
        raise DataError(
            '{table}: every record is "*" throughout; there is nothing to assess',
            table=table.name,
        )
    if not is_told.all():
        columns = [
            EncodedColumn(column.name, column.codes[is_told], column.values) for column in columns
        ]
    told, weighted = table.of_records(is_told), None
    if weight is not None:
        weighted = weighted_sample(told, weight, known)
        fraction = told.records / weighted.people if fraction is None else fraction
    share = _exact(fraction)
    sample = _Sample.of(refined(columns, int(is_told.sum())).sizes, share)
    if sample.people > MOST_PEOPLE:
        raise StudyError(
            "the sampling fraction is {fraction}: the population would have more than {most} people; give the share of "
            "it that is in the release",
            fraction=str(fraction),
            most=MOST_PEOPLE,
        )
    average = share * sample.classes / sample.records
    population_classes = _population_classes(sample)
    return PopulationRisks(
        dataset=table.name,
        quasi_identifiers=tuple(column.name for column in columns),
        fraction=share,
        records=sample.records,
        suppressed=table.records - sample.records,
        people=sample.people,
        classes=sample.classes,
        uniques=sample.uniques,
        journalist_highest=share / int(sample.size[0]),
        journalist_average=average,
        marketer=average,
        marketer_expected=_marketer_expected(sample),
        marketer_by_classes=population_classes / sample.people,
        population_classes=population_classes,
        estimates=_estimates(sample),
        weighted=weighted,
    )


def people_alone(sizes: Integers, *, fraction: Fraction) -> Estimate:
    """Estimate how many people are alone in their class of the population, by the rule of Dankar et al.

    Args:
        sizes: How many records each class of the sample has.
        fraction: The sampling fraction π.
    """
    return _estimates(_Sample.of(sizes, fraction))[-1]


def _columns(table: EncodedTable, names: Sequence[str]) -> list[EncodedColumn]:
    if not names:
        raise StudyError("population risks need at least one quasi-identifier; name one")
    return [column for name in names for column in table.columns_of(name)]


def _exact(fraction: object) -> Fraction:
    share = as_fraction(fraction)
    if share is None or not 0 < share <= 1:
        raise StudyError(
            "the sampling fraction is {fraction}; it must be above 0 and at most 1 (all of the population)",
            fraction=str(fraction),
        )
    return share


@dataclass(frozen=True)
class _Sample:
    """How many classes of each size the sample has, and from which fraction of the population it is."""

    size: Integers
    """The sizes that occur, ascending: j."""
    count: Integers
    """How many classes have each size: s_j."""
    fraction: Fraction

    @classmethod
    def of(cls, sizes: Integers, fraction: Fraction) -> _Sample:
        size, count = np.unique(sizes, return_counts=True)
        return cls(size, count, fraction)

    @property
    def records(self) -> int:
        return int((self.size * self.count).sum())

    @property
    def classes(self) -> int:
        return int(self.count.sum())

    @property
    def uniques(self) -> int:
        return self.of_size(1)

    @property
    def people(self) -> int:
        return round(self.records / self.fraction)

    @property
    def pi(self) -> float:
        return float(self.fraction)

    def of_size(self, size: int) -> int:
        """Return how many classes have a size."""
        return int(self.count[self.size == size].sum())


def _marketer_expected(sample: _Sample) -> float:
    """Return Σ_j s_j · j · E[1/F | f = j] / n, by the series Σ_k k!·f!/(f + k)!·(1 − π)^k where SciPy has no answer."""
    from scipy.special import hyp2f1

    missing = 1 - sample.pi
    few = sample.size <= _BY_SCIPY
    factor = np.ones(len(sample.size))
    if missing:
        factor[few] = hyp2f1(1.0, 1.0, sample.size[few] + 1.0, missing)
        k = np.arange(_TERMS)
        ratios = missing * (k + 1) / (sample.size[~few, None] + 1.0 + k)
        factor[~few] += np.cumprod(ratios, axis=1).sum(axis=1)
    return float((sample.count * sample.pi * factor).sum()) / sample.records


def _estimates(sample: _Sample) -> tuple[Estimate, ...]:
    zayatz, pitman, snb = _zayatz(sample), _pitman(sample), _snb(sample)
    return zayatz, pitman, snb, _dankar(sample, zayatz, pitman, snb)


def _estimate(
    sample: _Sample, name: str, reference: str, uniques: float, note: str = ""
) -> Estimate:
    among_sample = sample.pi * uniques / sample.uniques if sample.uniques else None
    if among_sample is not None and among_sample > 1:
        note = "; ".join(filter(None, [note, marked("more than the sample uniques allow")]))
    return Estimate(
        name=name,
        reference=reference,
        population_uniques=uniques,
        share_of_population=min(uniques / sample.people, 1.0),
        share_of_sample_uniques=None if among_sample is None else min(among_sample, 1.0),
        converged=True,
        note=note,
    )


def _no_answer(name: str, reference: str, reason: str) -> Estimate:
    return Estimate(name, reference, None, None, None, converged=False, note=reason)


_ZAYATZ = ("Zayatz", "Zayatz 1991")
_PITMAN = ("Pitman", "Hoshino 2001")
_SNB = ("SNB", "Chen and Keller-McNulty 1998")
_DANKAR = ("Dankar", "Dankar, El Emam, Neisa and Roffey 2012")
_TAKES = {
    "Zayatz": marked("takes Zayatz"),
    "Pitman": marked("takes Pitman"),
    "SNB": marked("takes SNB"),
}
_WHOLE = marked("the sample is the whole population")


def _zayatz(sample: _Sample) -> Estimate:
    """Estimate by Bayes' rule on class sizes (Zayatz 1991).

    P(F = 1 | f = 1) = p_1·P(f = 1 | F = 1) / Σ_j p_j·P(f = 1 | F = j), with p_j = s_j/u from the sample and f
    hypergeometric: P(f = 1 | F = j) = j·C(N − j, n − 1)/C(N, n). Then S_1 = s_1·P(F = 1 | f = 1)/π.
    """
    if not sample.uniques:
        return _estimate(sample, *_ZAYATZ, 0.0, marked("no record is alone in the sample"))
    population, records = sample.people, sample.records
    reach = int(min(sample.size[-1] - 1, 800 / sample.pi))  # beyond it the product is below e⁻⁸⁰⁰
    step = np.arange(reach)
    factors = (population - records - step) / (population - 1.0 - step)
    left_out = np.concatenate([[1.0], np.cumprod(factors)])[np.minimum(sample.size - 1, reach)]
    relative = sample.size * left_out  # P(f = 1 | F = j) / P(f = 1 | F = 1)
    share = sample.uniques / float((sample.count * relative).sum())
    return _estimate(sample, *_ZAYATZ, sample.uniques * share / sample.pi)


def _pitman(sample: _Sample) -> Estimate:
    """Estimate by Pitman's sampling formula, its parameters by maximum likelihood (Hoshino 2001).

    S_1 = Γ(θ+1)/Γ(θ+α)·N^α, as published, is the limit for large N of the expected value under the formula,
    N·Π_{i=1}^{N−1} (θ + α + i − 1)/(θ + i). With many uniques θ is large too, and the limit may even exceed N: where it
    is off by more than one in a hundred, the expected value itself is taken, and the note says so.
    """
    from scipy.special import gammaln

    if sample.fraction == 1:
        return _estimate(sample, *_PITMAN, float(sample.uniques), _WHOLE)
    if sample.classes in (1, sample.records):
        reason = (
            marked("the sample has one class: the likelihood has no maximum")
            if sample.classes == 1
            else marked("the sample has uniques only: the likelihood has no maximum")
        )
        return _no_answer(*_PITMAN, reason)
    maximum = _most_likely(_PitmanLikelihood(sample))
    if maximum is None:
        return _no_answer(*_PITMAN, marked("Newton's method found no maximum of the likelihood"))
    theta, alpha = maximum
    people = sample.people
    logarithm = (
        math.log(people)
        + gammaln(theta + alpha + people - 1)
        - gammaln(theta + people)
        + gammaln(theta + 1)
        - gammaln(theta + alpha)
    )
    limit = gammaln(theta + 1) - gammaln(theta + alpha) + alpha * math.log(people)
    notes = [] if alpha else [marked("the likelihood is greatest at α = 0: Ewens' formula")]
    if abs(limit - logarithm) > _LIMIT_TOLERANCE:
        notes.append(
            marked("the expected value itself: its limit for large populations does not hold")
        )
        limit = logarithm
    return _estimate(sample, *_PITMAN, float(math.exp(limit)), "; ".join(notes))


@dataclass(frozen=True)
class _PitmanLikelihood:
    """The logarithm of Pitman's sampling formula, up to a constant.

    Σ_{i=1}^{u−1} log(θ + iα) − Σ_{i=1}^{n−1} log(θ + i) + Σ_j s_j Σ_{i=1}^{j−1} log(i − α)
    """

    sample: _Sample

    def value(self, theta: float, alpha: float) -> float:
        from scipy.special import gammaln

        size, count = self.sample.size, self.sample.count
        within = (count * (gammaln(size - alpha) - gammaln(1 - alpha))).sum()
        records = gammaln(theta + self.sample.records) - gammaln(theta + 1)
        return float(self._classes(theta, alpha).value - records + within)

    def gradient(self, theta: float, alpha: float) -> Floats:
        from scipy.special import digamma

        size, count = self.sample.size, self.sample.count
        within = (count * (digamma(size - alpha) - digamma(1 - alpha))).sum()
        records = digamma(theta + self.sample.records) - digamma(theta + 1)
        terms: Floats = np.array([records, within])
        return self._classes(theta, alpha).gradient - terms

    def curvature(self, theta: float, alpha: float) -> Floats:
        from scipy.special import polygamma

        size, count = self.sample.size, self.sample.count
        within = (count * (polygamma(1, 1 - alpha) - polygamma(1, size - alpha))).sum()
        records = polygamma(1, theta + 1) - polygamma(1, theta + self.sample.records)
        return self._classes(theta, alpha).curvature + np.diag([records, -within])

    def start(self) -> tuple[float, float]:
        """Return the moment estimates from s_1 and s_2, or a middle point where they make no sense."""
        n, u, s1 = self.sample.records, self.sample.classes, self.sample.uniques
        c = s1 * (s1 - 1) / max(self.sample.of_size(2), 1)
        below = 2 * s1 * u + s1 * c - n * c
        if below:
            theta = (n * u * c - s1 * (n - 1) * (2 * u + c)) / below
            alpha = (theta * (s1 - n) + (n - 1) * s1) / (n * u)
            if 0 < alpha < 1 and theta > -alpha:
                return theta, alpha
        return 1.0, 0.5

    def _classes(self, theta: float, alpha: float) -> _SumOfLogarithms:
        return _sum_of_logarithms(self.sample.classes - 1, theta, alpha)


@dataclass(frozen=True)
class _SumOfLogarithms:
    """Σ_{i=1}^{m} log(θ + iα), from which its derivatives follow, in a time that does not depend on m."""

    value: float
    """The sum itself."""
    inverses: tuple[float, float]
    """Σ 1/(θ + iα) and Σ i/(θ + iα)."""
    squares: tuple[float, float, float]
    """Σ 1/(θ + iα)², Σ i/(θ + iα)² and Σ i²/(θ + iα)²."""

    @property
    def gradient(self) -> Floats:
        return np.array(self.inverses)

    @property
    def curvature(self) -> Floats:
        plain, mixed, squared = self.squares
        return -np.array([[plain, mixed], [mixed, squared]])


def _sum_of_logarithms(m: int, theta: float, alpha: float) -> _SumOfLogarithms:
    if theta > _NEAR_EWENS * m * alpha:
        return _by_series(m, theta, alpha)
    return _by_gamma_function(m, theta, alpha)


def _by_gamma_function(m: int, theta: float, alpha: float) -> _SumOfLogarithms:
    """Return the sum as m·log α + log Γ(θ/α + m + 1) − log Γ(θ/α + 1); for α > 0, and θ not far above m·α."""
    from scipy.special import digamma, gammaln, polygamma

    first, last = theta / alpha + 1, theta / alpha + m + 1
    inverse = float(digamma(last) - digamma(first)) / alpha
    square = float(polygamma(1, first) - polygamma(1, last)) / alpha**2
    return _SumOfLogarithms(
        m * math.log(alpha) + float(gammaln(last) - gammaln(first)),
        (inverse, (m - theta * inverse) / alpha),
        (
            square,
            (inverse - theta * square) / alpha,
            (m - 2 * theta * inverse + theta**2 * square) / alpha**2,
        ),
    )


def _by_series(m: int, theta: float, alpha: float) -> _SumOfLogarithms:
    """Return the sum as a power series in α around the middle term; for α ≥ 0, and θ far above m·α.

    With c = θ + α(m + 1)/2, d = i − (m + 1)/2 and z = α/c a term is log c + log(1 + zd). Odd powers of d add up to 0;
    the even ones to M_k = Σ d^k, polynomials in m.
    """
    middle = (m + 1) / 2
    c = theta + alpha * middle
    z = alpha / c
    zz = z * z
    m2 = m * (m**2 - 1) / 12
    m4 = m * (m**2 - 1) * (3 * m**2 - 7) / 240
    m6 = m * (m**2 - 1) * (3 * m**4 - 18 * m**2 + 31) / 1344
    inverse = (m + zz * (m2 + zz * (m4 + zz * m6))) / c
    inverse_d = -z * (m2 + zz * (m4 + zz * m6)) / c
    square = (m + zz * (3 * m2 + zz * (5 * m4 + zz * 7 * m6))) / c**2
    square_d = -z * (2 * m2 + zz * (4 * m4 + zz * 6 * m6)) / c**2
    square_dd = (m2 + zz * (3 * m4 + zz * 5 * m6)) / c**2
    return _SumOfLogarithms(
        m * math.log(c) - zz * (m2 / 2 + zz * (m4 / 4 + zz * m6 / 6)),
        (inverse, middle * inverse + inverse_d),
        (
            square,
            middle * square + square_d,
            middle**2 * square + 2 * middle * square_d + square_dd,
        ),
    )


def _most_likely(likelihood: _PitmanLikelihood) -> tuple[float, float] | None:
    """Return θ and α with the greatest likelihood, 0 ≤ α < 1 and θ > −α; α = 0 where the edge is best."""
    inside = _newton(likelihood)
    edge = _edge(likelihood)
    if inside is None or edge is None:
        return inside or edge
    return max(inside, edge, key=lambda point: likelihood.value(*point))


def _newton(likelihood: _PitmanLikelihood) -> tuple[float, float] | None:
    """Climb from the start by Newton-Raphson, halving steps that leave the domain or go down."""
    point = np.array(likelihood.start())
    height = likelihood.value(*point)
    last_gain = max(_LAST_GAIN, _ROUNDING * likelihood.sample.records)
    for _ in range(_NEWTON_STEPS):
        slope, curvature = likelihood.gradient(*point), likelihood.curvature(*point)
        is_hill = np.linalg.eigvalsh(curvature)[-1] < 0
        step = np.linalg.solve(curvature, -slope) if is_hill else slope / np.abs(np.diag(curvature))
        if is_hill and slope @ step <= last_gain and _is_inside(point + step):
            theta, alpha = point + step
            return float(theta), float(alpha)
        for _ in range(_HALVINGS):
            if _is_inside(point + step) and likelihood.value(*(point + step)) > height:
                break
            step = step / 2
        else:
            return None
        point = point + step
        height = likelihood.value(*point)
    return None


def _is_inside(point: Floats) -> bool:
    theta, alpha = point
    return bool(0 < alpha < 1 and theta > -alpha)


def _edge(likelihood: _PitmanLikelihood) -> tuple[float, float] | None:
    """Return the maximum at α = 0 (Ewens' formula), if the likelihood falls from there towards greater α."""
    from scipy.optimize import brentq
    from scipy.special import digamma

    low, high = 1e-9, 1e12

    n, u = likelihood.sample.records, likelihood.sample.classes

    def slope(logarithm: float) -> float:
        theta = math.exp(logarithm)
        return float((u - 1) / theta - digamma(theta + n) + digamma(theta + 1))

    if slope(math.log(low)) <= 0 or slope(math.log(high)) >= 0:
        return None
    theta = math.exp(brentq(slope, math.log(low), math.log(high), xtol=1e-13))
    return (theta, 0.0) if likelihood.gradient(theta, 0.0)[1] <= 0 else None


def _snb(sample: _Sample) -> Estimate:
    """Estimate by the slide negative binomial model (Chen and Keller-McNulty 1998).

    Class sizes are 1 + X with X negative binomial (α, β), hence S_1 = K·β^α. With d = (1 − π)(1 − β) and w = 1 − d the
    expected numbers of classes with one and with two records are

        s_1 = K·π·(β/w)^α·(1 + αd/w)        s_2 = K·π²·(β/w)^α·α(1 − β)·(2 − (1 − α)d) / (2w²)

    and α, β solve these, with K by Haas and Stokes. The ratio of the two is a quadratic equation for α given β with one
    positive root, which leaves one equation for β.
    """
    if sample.fraction == 1:
        return _estimate(sample, *_SNB, float(sample.uniques), _WHOLE)
    if not sample.uniques or not sample.of_size(2):
        return _no_answer(*_SNB, marked("it needs classes of one record and of two"))
    classes = _population_classes(sample)
    roots = _snb_roots(sample, classes)
    if len(roots) != 1:
        reason = (
            marked("its equations have no single solution for this sample")
            if roots
            else marked("its equations have no solution for this sample")
        )
        return _no_answer(*_SNB, reason)
    alpha, beta = roots[0]
    return _estimate(sample, *_SNB, classes * beta**alpha)


def _population_classes(sample: _Sample) -> float:
    """Estimate K by the modified Shlosser estimator (Haas and Stokes 1998, their third)."""
    j, s, pi = sample.size.astype(np.float64), sample.count, sample.pi
    if not sample.uniques or pi == 1:
        return float(sample.classes)
    unseen = (s * (1 - pi) ** j).sum() / (s * j * pi * (1 - pi) ** (j - 1)).sum()
    above = (s * j * pi**2 * (1 - pi**2) ** (j - 1)).sum()
    below = (s * (np.expm1(j * np.log1p(-(pi**2))) - np.expm1(j * np.log1p(-pi)))).sum()
    seen_and_unseen = float(sample.classes + sample.uniques * above / below * unseen**2)
    return min(seen_and_unseen, float(sample.people))


def _snb_roots(sample: _Sample, classes: float) -> list[tuple[float, float]]:
    """Return all α, β that solve the two equations."""
    from scipy.optimize import brentq

    pi, s1, s2 = sample.pi, sample.uniques, sample.of_size(2)

    def alpha_of(beta: Any) -> Any:
        d = (1 - pi) * (1 - beta)
        w = 1 - d
        a = pi * (1 - beta) * d * s1
        b = pi * (1 - beta) * (2 - d) * s1 - 2 * s2 * w * d
        c = 2 * s2 * w**2
        root = np.sqrt(b * b + 4 * a * c)
        return np.where(b > 0, 2 * c / (np.abs(b) + root), (np.abs(b) + root) / (2 * a))

    def excess(logit: Any) -> Any:
        beta = 1 / (1 + np.exp(-logit))
        alpha, d = alpha_of(beta), (1 - pi) * (1 - beta)
        chance = np.log(pi) + alpha * np.log(beta / (1 - d)) + np.log1p(alpha * d / (1 - d))
        return chance + np.log(classes / s1)

    grid = np.linspace(-30, 30, 2401)
    sign = np.sign(excess(grid))
    roots = []
    for i in np.flatnonzero(sign[:-1] * sign[1:] < 0):
        beta = 1 / (1 + math.exp(-brentq(excess, grid[i], grid[i + 1], xtol=1e-13)))
        roots.append((float(alpha_of(beta)), beta))
    return roots


def _dankar(sample: _Sample, zayatz: Estimate, pitman: Estimate, snb: Estimate) -> Estimate:
    """Choose an estimator by the rule of Dankar, El Emam, Neisa and Roffey (2012).

    Pitman up to a fraction of 0.1; above it the lower of Zayatz and SNB. Where the estimator that the rule asks for has
    no answer, Zayatz, which always has one, takes its place, and the note says so.
    """
    if sample.fraction <= LOW_FRACTION:
        chosen = pitman if pitman.converged else zayatz
        missing = "" if pitman.converged else marked("Pitman has no answer")
    elif snb.population_uniques is None or zayatz.population_uniques is None:
        chosen, missing = zayatz, marked("SNB has no answer")
    else:
        lower = zayatz.population_uniques < snb.population_uniques
        chosen, missing = zayatz if lower else snb, ""
    note = "; ".join(filter(None, [missing, _TAKES[chosen.name], chosen.note]))
    name, reference = _DANKAR
    return replace(chosen, name=name, reference=reference, note=note)
