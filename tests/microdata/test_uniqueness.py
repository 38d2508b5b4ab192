"""Population uniques: exact formulas by hand, and estimators on simulated populations whose truth is known."""

from __future__ import annotations

import math
import subprocess
import sys
from collections.abc import Callable
from decimal import Decimal, localcontext
from fractions import Fraction
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from glasshouse.errors import DataError, StudyError
from glasshouse.microdata import uniqueness
from glasshouse.microdata.uniqueness import Estimate, PopulationRisks, population_risks
from glasshouse.table import EncodedTable, read
from tests.examples import examples

Sizes = NDArray[np.int64]


def sample_of(sizes: list[int] | Sizes) -> EncodedTable:
    """Return a table with classes of these sizes."""
    classes = np.repeat(np.arange(len(sizes)), sizes)
    return read(pa.table({"class": classes}), quasi_identifiers=["class"], name="sample")


def by_name(risks: PopulationRisks) -> dict[str, Estimate]:
    return {estimate.name: estimate for estimate in risks.estimates}


def drawn(population: Sizes, fraction: float, seed: int) -> tuple[PopulationRisks, Sizes, Sizes]:
    """Draw a simple random sample; return its risks, its class sizes and those of the population."""
    population = population[population > 0]
    people = np.repeat(np.arange(len(population)), population)
    records = np.random.default_rng(seed).choice(
        people, round(fraction * len(people)), replace=False
    )
    sizes = np.bincount(records, minlength=len(population))
    table = read(pa.table({"class": records}), quasi_identifiers=["class"])
    return population_risks(table, fraction=fraction), sizes, population


def slide_negative_binomial() -> Sizes:
    return 1 + np.random.default_rng(11).negative_binomial(0.3, 0.05, 20_000)


def pitman(theta: float, alpha: float, people: int, seed: int) -> Sizes:
    """Seat people one by one: at a new table with probability (θ + Kα)/(θ + i), else by size − α."""
    generator = np.random.default_rng(seed)
    sizes = np.zeros(people)
    tables = 0
    for i in range(people):
        if generator.random() * (theta + i) < theta + tables * alpha:
            sizes[tables] = 1
            tables += 1
        else:
            weights = np.cumsum(sizes[:tables] - alpha)
            sizes[np.searchsorted(weights, generator.random() * weights[-1])] += 1
    return sizes[:tables].astype(np.int64)


def log_normal() -> Sizes:
    generator = np.random.default_rng(3)
    return generator.poisson(np.exp(generator.normal(-1, 1.5, 60_000)))


def zayatz_by_hand(sizes: list[int], fraction: Fraction) -> Fraction:
    n, classes = sum(sizes), len(sizes)
    population = round(n / fraction)

    def alone(size: int) -> Fraction:
        ways = size * math.comb(population - size, n - 1)
        return Fraction(ways, math.comb(population, n))

    share = {size: Fraction(sizes.count(size), classes) for size in sizes}
    total = sum(p * alone(size) for size, p in share.items())
    return share.get(1, Fraction(0)) * alone(1) / total if total else Fraction(0)


@settings(max_examples=examples(50))
@given(
    st.lists(st.integers(1, 9), min_size=1, max_size=12).map(lambda sizes: [1, *sizes]),
    st.sampled_from([Fraction(1, 100), Fraction(1, 7), Fraction(1, 2), Fraction(9, 10), Fraction(1)]),
)  # fmt: skip
def test_zayatz_equals_bayes_with_hypergeometric_samples(
    sizes: list[int], fraction: Fraction
) -> None:
    zayatz = population_risks(sample_of(sizes), fraction=fraction).estimates[0]
    expected = zayatz_by_hand(sizes, fraction)
    assert zayatz.share_of_sample_uniques == pytest.approx(float(expected), rel=1e-9)
    uniques = sizes.count(1) * expected / fraction
    assert zayatz.population_uniques == pytest.approx(float(uniques), rel=1e-9)


def test_the_plain_risks_are_exact() -> None:
    """Classes of 2, 3 and 5 from a tenth: the smallest stands for 20 people, and 3 of 100 are named right."""
    risks = population_risks(sample_of([2, 3, 5]), fraction=0.1)
    assert (risks.records, risks.people, risks.classes, risks.uniques) == (10, 100, 3, 0)
    assert risks.journalist_highest == Fraction(1, 20)
    assert risks.journalist_average == risks.marketer == Fraction(3, 100)


@settings(max_examples=examples(40))
@given(st.lists(st.integers(1, 6), min_size=1, max_size=6), st.sampled_from([0.05, 0.3, 0.8, 1.0]))
def test_the_expected_marketer_risk_is_a_negative_binomial_mean(
    sizes: list[int], fraction: float
) -> None:
    expected = 0.0
    for size in sizes:
        for people in range(size, 2_000):
            chance = math.comb(people - 1, size - 1) * fraction**size
            expected += size / people * chance * (1 - fraction) ** (people - size)
    risks = population_risks(sample_of(sizes), fraction=fraction)
    assert risks.marketer_expected == pytest.approx(expected / sum(sizes), rel=1e-9)
    assert float(risks.marketer) <= risks.marketer_expected * (1 + 1e-12)


@given(
    st.lists(st.one_of(st.integers(1, 3), st.integers(1, 20_000)), min_size=1, max_size=8),
    st.floats(-6, 0).map(lambda power: 10**power),
)
@example([5_000, 300, 100, 2, 1], 0.01)
@example([1], 1e-12)
@example([1], 1.0)
@example([200_000, 2, 1, 1], 1e-6)
@settings(deadline=None)
def test_every_figure_is_a_number_whatever_the_sample(sizes: list[int], fraction: float) -> None:
    risks = population_risks(sample_of(sizes), fraction=fraction)
    figures = [
        *(value for value in risks.to_dict().values() if isinstance(value, float)),
        *(e.population_uniques for e in risks.estimates if e.population_uniques is not None),
        *(e.share_of_population for e in risks.estimates if e.share_of_population is not None),
    ]
    assert all(map(math.isfinite, figures))
    highest = float(risks.journalist_highest)
    assert float(risks.marketer) <= risks.marketer_expected * (1 + 1e-12)
    assert 0 < risks.marketer_by_classes <= 1
    assert 0 < highest <= 1


@pytest.mark.parametrize("fraction", [0.3, 0.01, 1e-8])
def test_the_mean_of_one_over_a_class_is_right_at_every_size(fraction: float) -> None:
    """E[1/F | f] = π·J_f with J_1 = −ln π / (1 − π) and J_{f+1} = (1/f − π·J_f) / (1 − π), in 400 digits."""
    sizes = [1, 2, 24, 25, 26, 27, 99, 100, 101, 1_000]
    with localcontext() as context:
        context.prec = 400
        share = Decimal(str(fraction))
        mean = -share.ln() / (1 - share)
        expected = Decimal(0)
        for size in range(1, max(sizes) + 1):
            expected += size * share * mean if size in sizes else 0
            mean = (Decimal(1) / size - share * mean) / (1 - share)
        whole = float(expected / sum(sizes))
    risks = population_risks(sample_of(sizes), fraction=fraction)
    assert risks.marketer_expected == pytest.approx(whole, rel=1e-11)


def test_a_population_beyond_reason_is_refused() -> None:
    with pytest.raises(StudyError, match="the population would have more than"):
        population_risks(sample_of([1, 1]), fraction=1e-300)


def test_pitmans_parameters_have_the_greatest_likelihood() -> None:
    """Against the formula written out as a product, on a grid around the maximum."""
    sizes = [1] * 12 + [2] * 4 + [3] * 2 + [5, 9]
    likelihood = uniqueness._PitmanLikelihood(
        uniqueness._Sample.of(np.array(sizes), Fraction(1, 10))
    )
    found = uniqueness._most_likely(likelihood)
    assert found is not None

    def formula(theta: float, alpha: float) -> float:
        value = sum(math.log(theta + i * alpha) for i in range(1, len(sizes)))
        value -= sum(math.log(theta + i) for i in range(1, sum(sizes)))
        return value + sum(math.log(i - alpha) for size in sizes for i in range(1, size))

    best = formula(*found)
    assert best == pytest.approx(likelihood.value(*found), abs=1e-9)
    for theta in (-0.1, -0.01, 0.01, 0.1):
        for alpha in (-0.02, -0.002, 0.002, 0.02):
            assert formula(found[0] + theta, found[1] + alpha) < best
    slope = likelihood.gradient(*found)
    assert np.abs(slope).max() < 1e-6


def logarithms_by_hand(m: int, theta: float, alpha: float) -> list[float]:
    """Σ log(θ + iα), Σ 1/(θ + iα), Σ i/(θ + iα), and of the squares with 1, i and i², term by term."""
    terms = [(i, theta + i * alpha) for i in range(1, m + 1)]
    return [
        math.fsum(math.log(term) for _, term in terms),
        *(math.fsum(i**k / term for i, term in terms) for k in (0, 1)),
        *(math.fsum(i**k / term**2 for i, term in terms) for k in (0, 1, 2)),
    ]


def as_list(found: uniqueness._SumOfLogarithms) -> list[float]:
    return [found.value, *found.inverses, *found.squares]


@pytest.mark.parametrize("m", [1, 2, 3, 60, 5_000])
@pytest.mark.parametrize("alpha", [1e-6, 0.1, 0.95])
@pytest.mark.parametrize("ratio", [1e-6, 0.1, 1, 19.99, 20.01, 1e3, 1e9])
def test_the_sum_of_logarithms_needs_no_terms(m: int, alpha: float, ratio: float) -> None:
    """On both sides of θ = 20·m·α, where the form in gamma functions gives way to the series."""
    theta = ratio * m * alpha
    found = as_list(uniqueness._sum_of_logarithms(m, theta, alpha))
    assert found == pytest.approx(logarithms_by_hand(m, theta, alpha), rel=1e-9)


@pytest.mark.parametrize("m", [1, 2, 3, 60, 5_000, 20_000_000])
@pytest.mark.parametrize("alpha", [1e-6, 0.1, 0.95])
def test_gamma_functions_and_series_agree_where_one_gives_way(m: int, alpha: float) -> None:
    theta = uniqueness._NEAR_EWENS * m * alpha
    by_gamma_function = as_list(uniqueness._by_gamma_function(m, theta, alpha))
    by_series = as_list(uniqueness._by_series(m, theta, alpha))
    assert by_series == pytest.approx(by_gamma_function, rel=1e-9)


@pytest.mark.parametrize(("theta", "alpha"), [(7.0, 0.0), (-0.5, 0.51), (-0.001, 0.3)])
def test_the_sum_of_logarithms_at_the_edges(theta: float, alpha: float) -> None:
    found = as_list(uniqueness._sum_of_logarithms(60, theta, alpha))
    assert found == pytest.approx(logarithms_by_hand(60, theta, alpha), rel=1e-11)


@pytest.mark.parametrize("millions", [1, 100, 5_000])
def test_pitman_has_an_answer_for_any_number_of_classes(millions: int) -> None:
    """Where rounding hides the last gains of Newton's method too; the share depends on the shape, not on u."""
    counts = millions * np.array([600_000, 120_000, 40_000, 20_000, 9_000, 1_000])
    sample = uniqueness._Sample(np.array([1, 2, 3, 5, 10, 100]), counts, Fraction(1, 20))
    pitman_ = uniqueness._pitman(sample)
    assert pitman_.converged
    assert pitman_.share_of_sample_uniques == pytest.approx(0.387276, abs=2e-6)


ADULT = "sex age race marital-status education native-country workclass salary-class".split()


@pytest.mark.parametrize(
    ("people", "zayatz", "pitman_", "snb"),
    [
        (3_016_200, 0.0974776894, 0.0663705014, 149_254.11),
        (317_238_626, 0.08604086, 0.01454577, None),
    ],
)
def test_the_estimates_for_adult_stay_what_they_are(
    shared: Callable[[str], Path],
    people: int,
    zayatz: float,
    pitman_: float,
    snb: float | None,
) -> None:
    table = read(shared("data/arx/adult.csv"), quasi_identifiers=ADULT)
    risks = population_risks(table, fraction=Fraction(30_162, people))
    assert (risks.records, risks.people) == (30_162, people)
    estimates = by_name(risks)
    assert estimates["Zayatz"].share_of_population == pytest.approx(zayatz, abs=5e-9)
    assert estimates["Pitman"].share_of_population == pytest.approx(pitman_, abs=1e-6)
    if snb is not None:
        assert estimates["SNB"].population_uniques == pytest.approx(snb, abs=0.005)


def test_no_share_of_the_population_exceeds_one() -> None:
    """One record from seven tenths stands for 1/0.7 = 1.43 people, which are rounded to 1."""
    for sizes in ([1], [1, 1], [1, 1, 1, 2]):
        for fraction in (Fraction(7, 10), Fraction(9, 13), Fraction(2, 3)):
            for estimate in population_risks(sample_of(sizes), fraction=fraction).estimates:
                assert estimate.share_of_population is None or estimate.share_of_population <= 1
    zayatz = population_risks(sample_of([1]), fraction=0.7).estimates[0]
    assert zayatz.population_uniques == pytest.approx(1 / 0.7)
    assert zayatz.share_of_population == 1


def test_pitmans_uniques_are_expected_values() -> None:
    """N·Π (θ + α + i − 1)/(θ + i): the chance that the first person stays alone, times N."""
    sizes = [1] * 12 + [2] * 4 + [3] * 2 + [5, 9]
    sample = uniqueness._Sample.of(np.array(sizes), Fraction(1, 10))
    found = uniqueness._most_likely(uniqueness._PitmanLikelihood(sample))
    assert found is not None
    theta, alpha = found
    expected = float(sample.people)
    for i in range(1, sample.people):
        expected *= (theta + alpha + i - 1) / (theta + i)
    estimate = by_name(population_risks(sample_of(sizes), fraction=0.1))["Pitman"]
    assert estimate.population_uniques == pytest.approx(expected, rel=1e-9)
    assert estimate.converged


@pytest.mark.parametrize("fraction", [0.05, 0.1, 0.3])
def test_pitman_finds_the_uniques_of_pitmans_model(fraction: float) -> None:
    """Within 20%, on 20,000 people with θ = 150 and α = 0.5."""
    risks, _, population = drawn(pitman(150, 0.5, 20_000, seed=2), fraction, seed=4)
    truth = np.count_nonzero(population == 1)
    estimates = by_name(risks)
    assert estimates["Pitman"].population_uniques == pytest.approx(truth, rel=0.2)
    if fraction <= 0.1:
        assert estimates["Dankar"].population_uniques == estimates["Pitman"].population_uniques
        assert "takes Pitman" in estimates["Dankar"].note


@pytest.mark.parametrize(("fraction", "tolerance"), [(0.3, 0.1), (0.5, 0.05), (0.7, 0.05)])
def test_snb_finds_the_uniques_of_its_model(fraction: float, tolerance: float) -> None:
    risks, sizes, population = drawn(slide_negative_binomial(), fraction, seed=5)
    truth = np.count_nonzero(population == 1)
    snb = by_name(risks)["SNB"]
    assert snb.population_uniques == pytest.approx(truth, rel=tolerance)
    both = np.count_nonzero((population == 1) & (sizes == 1))
    share = both / np.count_nonzero(sizes == 1)
    assert snb.share_of_sample_uniques == pytest.approx(share, rel=2 * tolerance)
    assert snb.share_of_population == pytest.approx(truth / population.sum(), rel=2 * tolerance)


@pytest.mark.parametrize("population", [log_normal, slide_negative_binomial])
def test_with_most_of_the_population_all_estimators_come_near(population: object) -> None:
    """At a fraction of 0.7: Zayatz, SNB and the rule within 10%, Pitman within 15%."""
    assert callable(population)
    risks, sizes, sizes_of_all = drawn(population(), 0.7, seed=6)
    truth = np.count_nonzero(sizes_of_all == 1)
    for name, tolerance in (("Zayatz", 0.1), ("SNB", 0.1), ("Dankar", 0.1), ("Pitman", 0.15)):
        assert by_name(risks)[name].population_uniques == pytest.approx(truth, rel=tolerance)
    named = (sizes / sizes_of_all).sum() / sizes.sum()
    assert risks.marketer_by_classes == pytest.approx(named, rel=0.05)
    assert float(risks.marketer) < risks.marketer_expected < named * 1.05
    assert risks.population_classes == pytest.approx(len(sizes_of_all), rel=0.05)


def test_snb_solves_its_equations() -> None:
    """The expected sample of K = 10⁹ classes with α = 0.7 and β = 0.2 gives these back, given K."""
    alpha, beta, pi, classes = 0.7, 0.2, 0.3, 1e9
    d = (1 - pi) * (1 - beta)
    w = 1 - d
    common = (beta / w) ** alpha
    s1 = classes * pi * common * (1 + alpha * d / w)
    s2 = classes * pi**2 * common * alpha * (1 - beta) * (2 - (1 - alpha) * d) / (2 * w**2)
    counts = np.array([round(s1), round(s2)])
    sample = uniqueness._Sample(np.array([1, 2]), counts, Fraction(3, 10))
    ((found_alpha, found_beta),) = uniqueness._snb_roots(sample, classes)
    assert found_alpha == pytest.approx(alpha, rel=1e-5)
    assert found_beta == pytest.approx(beta, rel=1e-5)


def test_the_rule_takes_the_lower_of_zayatz_and_snb_above_a_tenth() -> None:
    risks, _, _ = drawn(log_normal(), 0.3, seed=7)
    estimates = by_name(risks)
    assert estimates["Zayatz"].population_uniques is not None
    assert estimates["SNB"].population_uniques is not None
    lower = min(estimates["Zayatz"].population_uniques, estimates["SNB"].population_uniques)
    assert risks.dankar.population_uniques == lower
    assert risks.dankar.note.startswith("takes SNB")


def test_the_whole_population_needs_no_model() -> None:
    risks = population_risks(sample_of([1, 1, 2, 4]), fraction=1)
    assert {estimate.population_uniques for estimate in risks.estimates} == {2.0}
    assert {estimate.share_of_sample_uniques for estimate in risks.estimates} == {1.0}
    assert risks.journalist_highest == 1
    assert risks.marketer == Fraction(1, 2)
    assert risks.marketer_expected == risks.marketer_by_classes == 0.5


def test_uniques_only_have_no_most_likely_model() -> None:
    estimates = by_name(population_risks(sample_of([1] * 20), fraction=0.05))
    for name in ("Pitman", "SNB"):
        assert not estimates[name].converged
        assert estimates[name].population_uniques is None
        assert estimates[name].share_of_sample_uniques is None
    assert "no maximum" in estimates["Pitman"].note
    assert estimates["Dankar"].note == "Pitman has no answer; takes Zayatz"
    assert estimates["Dankar"].population_uniques == estimates["Zayatz"].population_uniques == 400
    above = by_name(population_risks(sample_of([1] * 20), fraction=0.5))
    assert above["Dankar"].note == "SNB has no answer; takes Zayatz"


def test_a_sample_without_uniques_has_no_share_of_them() -> None:
    zayatz, pitman_, snb, _ = population_risks(sample_of([5, 6, 7]), fraction=0.2).estimates
    assert (zayatz.population_uniques, zayatz.share_of_sample_uniques) == (0.0, None)
    assert not snb.converged
    assert pitman_.share_of_sample_uniques is None
    one = by_name(population_risks(sample_of([7]), fraction=0.2))
    assert one["Pitman"].note == "the sample has one class: the likelihood has no maximum"


def test_an_estimate_beyond_the_sample_uniques_says_so() -> None:
    """Few uniques among many pairs do not look like Ewens' formula, which then promises too many."""
    sizes = [1] * 5 + [2] * 400
    pitman_ = by_name(population_risks(sample_of(sizes), fraction=0.5))["Pitman"]
    assert pitman_.share_of_sample_uniques == 1
    assert pitman_.note.endswith("more than the sample uniques allow")


def test_suppressed_records_are_left_out() -> None:
    frame = pa.table({"a": ["x", "*", "*", "y", "y"], "b": ["1", "*", "2", "3", "3"]})
    risks = population_risks(read(frame, quasi_identifiers=["a", "b"]), fraction=0.5)
    assert (risks.records, risks.suppressed, risks.classes, risks.people) == (4, 1, 3, 8)
    nothing = read(pa.table({"a": ["*"]}), quasi_identifiers=["a"], name="nothing.csv")
    with pytest.raises(DataError, match=r"nothing\.csv: every record"):
        population_risks(nothing, fraction=0.5)


@pytest.mark.parametrize("fraction", [0, -0.5, 1.5, float("nan")])
def test_a_fraction_is_above_zero_and_at_most_one(fraction: float) -> None:
    with pytest.raises(StudyError, match="the sampling fraction is"):
        population_risks(sample_of([1, 2]), fraction=fraction)


def test_quasi_identifiers_are_needed_and_must_exist() -> None:
    with pytest.raises(StudyError, match="at least one quasi-identifier"):
        population_risks(sample_of([1, 2]), fraction=0.5, quasi_identifiers=[])
    with pytest.raises(DataError, match='column "clas" is not in sample'):
        population_risks(sample_of([1, 2]), fraction=0.5, quasi_identifiers=["clas"])


def test_plain_and_framed_forms_hold_the_same_figures() -> None:
    risks = population_risks(sample_of([1] * 20), fraction=0.05)
    content = risks.to_dict()
    assert content["fraction"] == 0.05
    assert [estimate["name"] for estimate in content["estimates"]] == list(by_name(risks))
    frame = risks.to_frame()
    assert frame.column("population_uniques").to_pylist() == [400.0, None, None, 400.0]
    assert frame.column("converged").to_pylist() == [True, False, False, True]


def test_the_module_does_not_import_scipy() -> None:
    code = (
        "import sys; before = set(sys.modules); import glasshouse.table.partition; "
        "base = set(sys.modules); import glasshouse.microdata.uniqueness; "
        "sys.exit(any(name.startswith('scipy') for name in set(sys.modules) - base))"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
