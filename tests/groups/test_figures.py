"""Every figure of a sampled table has an error, R-hat and ESS: against exact values, records and many runs."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from glasshouse.errors import StudyError
from glasshouse.groups import sampler
from glasshouse.groups.beliefs import Beliefs, Faithfulness, Knowledge, draw_points
from glasshouse.groups.enumeration import enumerated
from glasshouse.groups.estimates import Basis, MeanBeliefs
from glasshouse.groups.measures import (
    Evaluator,
    Measures,
    Reading,
    above_name,
    measure,
    thresholds_with,
)
from glasshouse.groups.outcome import threat
from glasshouse.groups.readers import from_group_column
from glasshouse.groups.release import Release
from glasshouse.groups.sampler import SamplingBudget, sample
from glasshouse.groups.victims import Original, joined, victims_of_rows, victims_of_table
from glasshouse.table import EncodedTable, read

EFFORT = SamplingBudget(sweeps=1280, every=1, burn_in=20, precision=1e-9, seed=5, threads=1)
"""A run that is not stopped by precision."""


def people(groups: int = 5) -> tuple[Release, EncodedTable]:
    """Anatomy's groups of three with different illnesses: small enough to be enumerated."""
    count = 3 * groups
    rng = np.random.default_rng(4)
    table = pa.table(
        {
            "age": [str(age) for age in rng.integers(0, 3, count)],
            "sex": [str(sex) for sex in rng.integers(0, 2, count)],
            "ill": [name for group in range(groups) for name in "pqrs"[group % 2 :][:3]],
            "group": [str(i // 3) for i in range(count)],
        }
    )
    read_in = read(table, quasi_identifiers=["age", "sex"], sensitive=["ill"], also=["group"])
    return from_group_column(read_in, group="group"), read_in


def told(measures: Measures) -> dict[str, float]:
    """All figures of measures by the evaluator's names, record by record."""
    found: dict[str, float] = {
        "rgt": measures.relative_global_threat,
        "highest_ti": measures.highest_relative,
        "highest_ti_of_all": float(measures.relative.max()),
    }
    for name, own in (("attacker", measures.attacker), ("learner", measures.learner)):
        shape = measures.histogram(name)
        found |= {
            f"gt_{name}": float(own.share),
            f"gt_{name}_random_ties": own.share_at_random,
            f"abs_{name}": own.absolute_error,
            f"log2_ti_{name}_mean": shape.mean,
            f"log2_ti_{name}_skewness": shape.skewness,
        }
    for limit in measures.thresholds:
        for threatened in (True, False):
            share = measures.share_above(limit, threatened=threatened)
            found[above_name(limit, threatened=threatened)] = float(share)
    if measures.faithfulness is not None:
        found |= {
            "rf": measures.faithfulness.published,
            "rf_bounded": measures.faithfulness.bounded,
        }
    return found


CELLS = st.lists(st.tuples(*[st.integers(0, 3)] * 3).filter(any).map(list), min_size=1, max_size=5)


@given(CELLS, st.data())
def test_the_evaluator_counts_what_the_measures_count_record_by_record(
    weights: list[list[int]], data: st.DataObject
) -> None:
    cells = np.array(weights)
    victim, sensitive = np.nonzero(cells)
    times = cells[victim, sensitive]
    codes = np.arange(len(cells), dtype=np.int32)[:, None]
    original = Original(
        np.repeat(victim, times), np.repeat(sensitive, times).astype(np.int32), codes, cells
    )
    rows = st.tuples(*[st.integers(1, 5)] * 3)
    both = [np.array([data.draw(rows) for _ in weights], float) for _ in range(2)]
    attacker, learner = (own / own.sum(axis=1, keepdims=True) for own in both)
    release, _ = people()
    victims = replace(victims_of_rows(release), codes=codes)
    beliefs = Beliefs(attacker), Beliefs(learner)
    knowledge = Knowledge(release, victims, learner, beliefs[1], beliefs[0], beliefs[0])
    expected = told(measure(knowledge, original, exceeds=1.25))
    found = Evaluator(original, None, thresholds_with(1.25)).figures(
        MeanBeliefs(attacker, learner, learner)
    )
    assert found.keys() == expected.keys()
    for name, value in found.items():
        assert value == pytest.approx(expected[name], nan_ok=True, abs=1e-9), name


def numbers(content: Any) -> int:
    """How many numbers a document holds."""
    if isinstance(content, dict):
        return sum(map(numbers, content.values()))
    return int(isinstance(content, float | int) and not isinstance(content, bool))


@pytest.mark.parametrize("reading", list(Reading))
def test_every_figure_that_is_reported_has_an_error_rhat_and_ess(reading: Reading) -> None:
    release, table = people(12)
    found = threat(
        release,
        table,
        points=50,
        exceeds=1.2,
        learner_mean=reading is Reading.EXPECTATION_OF_RATIO,
        budget=EFFORT,
    )
    measures, sampled = found.measures, found.sampled
    assert measures is not None
    assert sampled is not None
    assert measures.reading is reading
    expected = told(measures)
    figures = measures.figures
    assert set(expected) <= set(figures)
    for name, value in expected.items():
        own = figures[name]
        assert own.value == pytest.approx(value, rel=1e-6, abs=1e-6), name
        assert np.isfinite([own.error, own.rhat, own.ess]).all(), name
        assert own.error >= 0
        assert own.rhat < 1.3
        assert own.ess >= 1
    by_draws = {own.name for own in sampled.aggregates}
    assert {"gt_attacker", "gt_learner_random_ties", "abs_learner", "rgt"} <= by_draws
    assert all((own.basis is Basis.DRAWS) == (own.name in by_draws) for own in figures.values())
    assert all(0 <= own.weiss <= 1 and own.geweke >= 0 for own in sampled.aggregates)
    document = json.loads(json.dumps(found.to_dict(), allow_nan=False))
    assert document["measures"]["uncertainty"]["rgt"]["weiss"] is not None
    assert document["measures"]["uncertainty"]["highest_ti"]["weiss"] is None
    assert numbers(document["measures"]["uncertainty"]) > 100
    frame = measures.records_frame()
    for name in ("attacker", "learner", "relative_threat"):
        for what in ("error", "rhat", "ess"):
            assert np.isfinite(frame[f"{name}_{what}"].to_numpy()).all()
    assert measures.to_frame()["global_threat_rhat"][0].as_py() >= 0.9
    assert measures.to_frame()["global_threat_rhat"][2].as_py() is None, "random worlds are exact"


def test_what_is_exact_says_so() -> None:
    release, table = people(3)
    found = threat(release, table, points=50)
    assert found.knowledge.method == "enumeration"
    assert found.measures is not None
    assert found.measures.is_exact
    document = found.measures.to_dict()
    assert document["exact"] is True
    assert document["uncertainty"] is None
    assert document["faithfulness"]["bounded_chains_error"] == 0
    assert "relative_threat_error" not in found.measures.records_frame().column_names
    assert "global_threat_error" not in found.measures.to_frame().column_names


def test_errors_are_those_of_many_runs() -> None:
    """Over 24 seeds the figures spread as much as one run says, and what counts records no more than that.

    Half of the people are nearly tied: half chains alone would say a third of the spread of GT. Relative threats are as
    far from the truth as told.
    """
    release, table = people(4)
    victims, original = victims_of_table(release, table)
    points = draw_points(release, original, count=40, seed=1)
    everybody = joined(victims, points.codes)
    exact = enumerated(release, everybody)
    truth = Evaluator(original, points).figures(
        MeanBeliefs(exact.attacker.probabilities, exact.learner.probabilities, exact.joint)
    )
    cells = original.cells[:2]
    ratios = exact.attacker.probabilities[cells] / exact.learner.probabilities[cells]
    budget = replace(EFFORT, sweeps=160)
    runs = [
        sample(
            release,
            everybody,
            budget=replace(budget, seed=seed),
            original=original,
            points=points,
            learner_mean=False,
        )
        for seed in range(24)
    ]
    smooth = ("abs_attacker", "abs_learner", "highest_ti", "rf", "rf_bounded")
    counts = ("gt_attacker", "gt_learner", "gt_learner_random_ties", "rgt", "log2_ti_learner_mean")
    for name in (*smooth, *counts):
        own = [run.aggregate(name) for run in runs]
        spread = np.std([each.value for each in own], ddof=1)
        said = np.sqrt(np.mean([each.error**2 for each in own]))
        most = 1.6 if name in smooth else 3.0
        assert 0.7 < said / spread < most, f"{name}: {said} for {spread}"
        if name not in smooth:
            continue
        away = abs(np.mean([each.value for each in own]) - truth[name])
        assert away < 5 * spread / np.sqrt(len(own)) + 0.02 * abs(truth[name]), name
    scores = np.array([(run.ratios.values - ratios) / run.ratios.errors for run in runs])
    assert 0.7 < np.sqrt((scores**2).mean()) < 1.4
    independent = np.array(
        [
            run.ratios.errors
            / run.ratios.values
            / np.hypot(
                *(
                    own.errors[cells] / own.probabilities[cells]
                    for own in (run.knowledge.attacker, run.knowledge.learner)
                    if own.errors is not None
                )
            )
            for run in runs
        ]
    )
    assert np.median(independent) != pytest.approx(1, abs=0.01), "p_A and p_L go together"


def test_the_error_of_faithfulness_is_of_points_and_chains() -> None:
    plain = Faithfulness(100, 0.8, 0.03, 0.7, 0.04)
    assert (plain.published_error, plain.bounded_error) == (0.03, 0.04)
    both = plain.with_chains(published=0.04, bounded=0.03)
    assert both.published_error == pytest.approx(0.05)
    assert both.to_dict()["bounded_error"] == pytest.approx(0.05)
    release, table = people(12)
    found = threat(release, table, points=50, budget=EFFORT)
    assert found.measures is not None
    assert found.sampled is not None
    faithful = found.measures.faithfulness
    assert faithful is not None
    assert faithful.bounded_chains_error == found.sampled.aggregate("rf_bounded").error > 0
    assert faithful.bounded_error > faithful.bounded_points_error


def test_a_victim_has_a_relative_threat_with_its_error() -> None:
    release, _ = people(12)
    found = threat(release, people=[{"age": "1"}], budget=EFFORT)
    assert found.sampled is not None
    own = found.sampled.ratios
    beliefs = found.knowledge
    ratio = beliefs.attacker.probabilities[0] / beliefs.learner.probabilities[0]
    np.testing.assert_allclose(own.values, ratio, rtol=1e-6)
    assert (own.errors > 0).all()
    assert found.sampled.traced.tolist() == [0], "the victim is traced"


def test_precision_is_asked_of_shares_above_thresholds_too() -> None:
    release, table = people(12)
    victims, original = victims_of_table(release, table)
    budget = replace(EFFORT, precision=0.05, sweeps=20_000)
    options: dict[str, Any] = {"original": original, "learner_mean": False}
    found = sample(release, victims, budget=budget, thresholds=(1.2,), **options)
    assert found.stopped == "precision"
    assert found.sweeps > 200
    for own in (*found.aggregates, *found.figures):
        if own.name.startswith(("gt_", "ti_above", "rgt")):
            assert own.error <= 0.05, own.name
    short = replace(budget, precision=0.001, sweeps=1000)
    finer = sample(release, victims, budget=short, thresholds=(1.2,), **options)
    assert finer.stopped == "sweeps", "with few records near ties one of them is more than that"
    assert max(own.error for own in finer.aggregates if own.name.startswith("gt_")) > 0.001


def test_the_weiss_test_of_a_trace_sees_a_drift_and_not_a_stuck_chain() -> None:
    rng = np.random.default_rng(2)
    steady = rng.normal(size=(4, 400))
    assert sampler._weiss(steady) > 0.01
    assert sampler._weiss(steady + np.linspace(0, 3, 400)) < 1e-6
    stuck = np.zeros((4, 400)) + np.arange(4)[:, None]
    assert sampler._weiss(stuck) == 1.0


def test_a_run_that_is_cut_short_says_what_it_can() -> None:
    """Four draws are too few for the Weiß test and for R-hat of batches: they are not numbers, and nothing fails."""
    release, table = people(12)
    victims, original = victims_of_table(release, table)
    budget = replace(EFFORT, sweeps=8, seconds=1e-9)
    found = sample(release, victims, budget=budget, original=original, traced=[0])
    assert found.stopped == "time"
    assert found.draws == 4
    assert all(np.isnan(own.weiss) for own in found.aggregates)
    assert np.isnan(found.aggregate("highest_ti").rhat)
    assert np.isfinite(found.aggregate("highest_ti").error)
    assert np.isnan(found.ratios.rhat).all()
    json.dumps(found.to_dict(), allow_nan=False)


def test_what_cannot_be_asked_is_refused() -> None:
    release, table = people(3)
    with pytest.raises(StudyError, match="give a number above 0"):
        threat(release, table, exceeds=0)
    with pytest.raises(StudyError, match="estimate it: learner_mean"):
        sample(
            release,
            victims_of_rows(release),
            learner_mean=False,
            reading=Reading.EXPECTATION_OF_RATIO,
        )
