"""The risk of a sample: sdcMicro's values of the individual risk, and models against populations that they model."""

from __future__ import annotations

import json
import math
from fractions import Fraction
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest

import glasshouse as gh
from glasshouse.arrays import Floats
from glasshouse.microdata import survey_weights
from glasshouse.microdata.survey_weights import individual_risks
from glasshouse.microdata.uniqueness_models import modelled_uniques
from glasshouse.table import EncodedColumn, EncodedTable
from glasshouse.table.partition import partition
from tests.conftest import Glasshouse

FREQUENCIES = {
    "without missing": [3, 1, 3, 1, 2, 2, 1, 3],
    "with missing": [3, 1, 4, 2, 3, 3, 1, 5],
}
PEOPLE = {
    "without missing": [108, 45.5, 108, 17, 100, 100, 123.5, 108],
    "with missing": [108, 45.5, 125, 56, 151, 151, 123.5, 208],
}
"""fk and Fk of the eight records of sdcMicro's tests/testthat/test_indivRisk.R, and what it expects of them."""
RISKS = {
    ("without missing", True): [
        *(0.01369863, 0.08579129, 0.01369863, 0.17707583),
        *(0.01877883, 0.01877883, 0.03931625, 0.01369863),
    ],
    ("without missing", False): [
        *(0.01355297, 0.08579129, 0.01355297, 0.17707583),
        *(0.01877883, 0.01877883, 0.03931625, 0.01355297),
    ],
    ("with missing", True): [
        *(0.013698630, 0.085791288, 0.010554090, 0.032466112),
        *(0.009836066, 0.009836066, 0.039316254, 0.005973716),
    ],
    ("with missing", False): [
        *(0.013552968, 0.085791288, 0.010504889, 0.032466112),
        *(0.009756889, 0.009756889, 0.039316254, 0.005962551),
    ],
}


@pytest.mark.parametrize(("case", "approximately"), RISKS)
def test_individual_risks_are_those_of_sdcmicro(case: str, approximately: bool) -> None:
    found = individual_risks(
        np.array(FREQUENCIES[case]), np.array(PEOPLE[case]), approximately=approximately
    )
    assert found.tolist() == pytest.approx(RISKS[case, approximately], rel=1e-6)


@pytest.mark.parametrize(
    ("case", "missing_as"), [("without missing", "value"), ("with missing", "matches")]
)
def test_an_assessment_adds_them_up_beside_the_exact_figure(case: str, missing_as: str) -> None:
    eighth, third, seventh = (2, 1, 1) if missing_as == "value" else (None, None, None)
    frame = pa.table(
        {
            "A": [2, 3, 2, 2, 3, 3, 1, eighth],
            "B": [3, 3, 3, 3, 3, 3, 4, 3],
            "C": [1, 3, third, 2, 1, 1, seventh, 1],
            "w": [18.0, 45.5, 39.0, 17.0, 92.0, 8.0, 123.5, 51.0],
        }
    )
    run = gh.assess(
        frame,
        quasi_identifiers=["A", "B", "C"],
        weight="w",
        missing_as=missing_as,
        per_record=True,
    )
    assert run.per_record is not None
    each = run.per_record["individual"].to_pylist()
    assert each == pytest.approx(RISKS[case, False], rel=1e-6)
    # its `survey = FALSE`, to five decimals: 1/fk. Its `qual = 2` doubles every risk, up to 2, which is no chance.
    in_sample = run.per_record["reidentification"].to_pylist()
    assert [round(risk, 5) for risk in in_sample] == [
        round(1 / size, 5) for size in FREQUENCIES[case]
    ]
    weighted = run.outcome.weighted
    assert weighted is not None
    for approximately, sum_of_risks in ((True, weighted.approximate), (False, weighted.individual)):
        assert sum_of_risks == pytest.approx(sum(RISKS[case, approximately]), rel=1e-6)
    assert weighted.named == sum(Fraction(1, size) for size in FREQUENCIES[case])
    assert weighted.individual_highest == pytest.approx(max(RISKS[case, False]), rel=1e-6)
    without = gh.assess(frame, quasi_identifiers=["A", "B", "C"], missing_as=missing_as, drop=["w"])
    assert run.to_dict()["results"] == without.to_dict()["results"]


def test_the_guide_has_the_same_risks() -> None:
    """IHSN, SDC for Microdata: A Practice Guide, table 4.1, and its global risk."""
    sizes = np.array([2, 2, 1, 2, 1, 2, 1, 1, 2, 2])
    people = np.array([360.0, 360, 215, 152, 186, 152, 180, 215, 262, 262])
    risks = individual_risks(sizes, people)
    assert risks.round(4).tolist() == [
        *(0.0054, 0.0054, 0.0251, 0.0126, 0.0282),
        *(0.0126, 0.0290, 0.0251, 0.0074, 0.0074),
    ]
    assert risks.mean().round(5) == 0.01582


def test_where_everybody_was_sampled_the_risk_is_that_of_the_class(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    sizes = np.array([1, 2, 40])
    assert individual_risks(sizes, sizes.astype(float)).tolist() == [1, 1 / 2, 1 / 40]
    monkeypatch.setattr(survey_weights, "_BY_SCIPY", 40)
    by_scipy = individual_risks(np.array([30, 40]), np.array([3000.0, 50.0]))
    monkeypatch.setattr(survey_weights, "_BY_SCIPY", 25)
    by_series = individual_risks(np.array([30, 40]), np.array([3000.0, 50.0]))
    assert by_scipy.tolist() == pytest.approx(by_series.tolist(), rel=1e-12)


def population(people: int, means: Floats, seed: int) -> EncodedTable:
    """Return a random sample of a tenth of a population whose classes have these means."""
    dice = np.random.default_rng(seed)
    cells = dice.choice(len(means), size=people, p=means / means.sum())
    sampled = dice.random(people) < 0.1
    counts = np.bincount(cells, minlength=len(means))
    codes = cells[sampled].astype(np.uint32)
    values = pa.array([*map(str, range(len(means)))], pa.large_string())
    alone = np.bincount(codes, minlength=len(means)) == 1
    truth = int(np.count_nonzero(alone & (counts == 1)))
    column = EncodedColumn("cell", codes, values)
    return EncodedTable(str(truth), len(codes), {"cell": column}, {})


def test_the_negative_binomial_model_finds_the_uniques_of_populations_that_it_is_true_of() -> None:
    for seed in range(4):
        means = np.random.default_rng(100 + seed).gamma(0.2, size=30_000)
        table = population(40_000, means, seed)
        classes = partition(table, ["cell"])
        _, binomial = modelled_uniques(
            [table.columns["cell"]], classes, Fraction(10 * table.records)
        )
        assert abs(binomial.population_uniques - int(table.name)) < 5 * max(binomial.error, 1)
        assert binomial.population_uniques <= binomial.matches <= binomial.sample_uniques


def test_the_poisson_model_finds_them_where_attributes_are_independent() -> None:
    dice = np.random.default_rng(1)
    people = 60_000
    codes = [(dice.random(people) ** 2 * 40).astype(np.uint32) for _ in range(3)]
    sampled = dice.random(people) < 0.1
    values = pa.array([*map(str, range(40))], pa.large_string())
    columns = {
        f"q{place}": EncodedColumn(f"q{place}", some[sampled], values)
        for place, some in enumerate(codes)
    }
    table = EncodedTable("sample", int(sampled.sum()), columns, {})
    classes = partition(table, list(columns))
    cell = (codes[0] * 40 + codes[1]) * 40 + codes[2]
    counts, among = np.bincount(cell), np.bincount(cell[sampled], minlength=int(cell.max()) + 1)
    truth = int(np.count_nonzero((among == 1) & (counts == 1)))
    poisson, _ = modelled_uniques(list(columns.values()), classes, Fraction(people))
    assert poisson.sample_uniques == classes.uniques
    assert abs(poisson.population_uniques - truth) < 5 * poisson.error


def test_of_a_whole_population_models_say_what_is_there() -> None:
    table = population(1000, np.ones(800), 3)
    classes = partition(table, ["cell"])
    for model in modelled_uniques([table.columns["cell"]], classes, Fraction(table.records)):
        assert (model.population_uniques, model.error) == (classes.uniques, 0)
        assert math.isclose(model.matches, classes.uniques)


def test_the_estimates_are_told_beside_the_fact_in_both_languages(
    tmp_path: Path, glasshouse: Glasshouse
) -> None:
    path, run = tmp_path / "survey.csv", tmp_path / "run"
    rows = "".join(f"{20 + row % 37},{'FM'[row % 2]},{5 + row % 4}\n" for row in range(60))
    path.write_text(f"age,sex,w\n{rows}", encoding="utf-8")
    asked = ("assess", path, "-q", "age", "-q", "sex", "--weight", "w")
    content = json.loads(glasshouse(*asked, "--json").out)["weighted"]
    assert content["individual"]["global"] == content["individual"]["expected"] / 60
    assert [model["name"] for model in content["models"]] == [
        "Poisson log-linear",
        "negative binomial",
    ]
    assert glasshouse(*asked, "--out", run).code == 0
    report = (run / "report.html").read_text(encoding="utf-8")
    assert "as sdcMicro prints it" in report
    assert "Alone in the population, too" in report
    spoken = glasshouse(*asked, "--lang", "pt", "--out", run, "--overwrite")
    assert spoken.code == 0
    assert "binomial negativa" in (run / "report.html").read_text(encoding="utf-8")
