"""Measures: by hand on a small table, against plain loops on random ones, and Adult's published baselines."""

from __future__ import annotations

import json
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from glasshouse.errors import StudyError
from glasshouse.groups.beliefs import (
    Beliefs,
    Knowledge,
    draw_points,
    faithfulness,
    ideal_joint,
    random_worlds,
    with_ideal,
)
from glasshouse.groups.estimates import MeanBeliefs
from glasshouse.groups.labels import ancestors
from glasshouse.groups.measures import Evaluator, Reading, measure, threat_under
from glasshouse.groups.outcome import threat
from glasshouse.groups.readers import from_anatomy, from_generalised, from_group_column
from glasshouse.groups.release import Release
from glasshouse.groups.sampler import SamplingBudget
from glasshouse.groups.tree import closed_form
from glasshouse.groups.victims import Original, joined, victims_of_table
from glasshouse.mitigation.anatomy import anatomise
from glasshouse.mitigation.criteria import DistinctDiversity, KAnonymity
from glasshouse.mitigation.global_recoding import recode
from glasshouse.mitigation.hierarchies import read_hierarchy
from glasshouse.table import EncodedTable, read
from tests.groups.points import population_points

PEOPLE = pa.table(
    {
        "age": ["20", "21", "21", "30", "31", "31"],
        "ill": ["flu", "flu", "HIV", "HIV", "HIV", "flu"],
    }
)
RECODED = PEOPLE.set_column(0, "age", [["20-29"] * 3 + ["30-39"] * 3])


def small() -> tuple[Release, EncodedTable]:
    original = read(PEOPLE, quasi_identifiers=["age"], sensitive=["ill"])
    recoded = read(RECODED, quasi_identifiers=["age"], sensitive=["ill"])
    return from_generalised(recoded, domains=original), original


def known_of(table: EncodedTable, release: Release) -> tuple[Knowledge, Original]:
    victims, original = victims_of_table(release, table)
    return with_ideal(closed_form(release, victims), original), original


def test_a_small_table_by_hand() -> None:
    """Given a sensitive value, three of the four ages' branches: (2 + 2) / 7 to the twenties for flu, then one half."""
    release, table = small()
    knowledge, original = known_of(table, release)
    measures = measure(knowledge, original)
    np.testing.assert_allclose(measures.attacker.levels, [2 / 3, 2 / 3, 1 / 3, 2 / 3, 2 / 3, 1 / 3])
    np.testing.assert_allclose(measures.learner.levels, [4 / 7, 4 / 7, 3 / 7, 4 / 7, 4 / 7, 3 / 7])
    assert measures.attacker.threatened.tolist() == [True, True, False, True, True, False]
    assert measures.attacker.share == measures.learner.share == Fraction(2, 3)
    assert measures.relative_global_threat == 0
    assert measures.baseline == Fraction(1, 2)
    np.testing.assert_allclose(measures.relative[:3], [7 / 6, 7 / 6, 7 / 9])
    assert measures.highest_relative == pytest.approx(7 / 6)
    assert (measures.share_above(1.1), measures.share_above(1.2)) == (Fraction(2, 3), Fraction(0))
    assert measures.attacker.absolute_error == pytest.approx(2 * (4 / 3 + 4 / 3))
    histogram = measures.histogram()
    assert histogram.counts.sum() == 4
    assert histogram.mean == pytest.approx(np.log2(7 / 6))
    assert np.isnan(histogram.skewness)


def test_the_ideal_follows_equation_twenty() -> None:
    release, table = small()
    knowledge, _ = known_of(table, release)
    twenty = release.attributes[0].code["20"]
    [victim] = np.flatnonzero(knowledge.victims.codes[:, 0] == twenty)
    flu = release.sensitive.code["flu"]
    assert knowledge.ideal_joint is not None
    assert knowledge.ideal_joint[victim, flu] == pytest.approx(
        (1 + 3) / (2 + 6) * (1 + 1) / (4 + 3)
    )
    assert knowledge.ideal is not None
    np.testing.assert_allclose(knowledge.ideal.probabilities[victim, flu], 2 / 3)


def original_of(weights: list[list[int]]) -> Original:
    cells = np.array(weights)
    victim, sensitive = np.nonzero(cells)
    times = cells[victim, sensitive]
    return Original(
        np.repeat(victim, times),
        np.repeat(sensitive, times).astype(np.int32),
        np.arange(len(cells), dtype=np.int32)[:, None],
        cells,
    )


def test_ties_count_as_threats_and_are_also_broken_at_random() -> None:
    beliefs = Beliefs(np.array([[0.1 + 0.2, 0.3, 0.4 - 0.1], [0.5, 0.25, 0.25]]))
    threat = threat_under(beliefs, original_of([[1, 1, 2], [1, 0, 1]]))
    assert threat.share == Fraction(5, 6)
    assert threat.share_at_random == pytest.approx((4 / 3 + 1) / 6)


def test_records_whose_rank_the_errors_leave_open_are_counted() -> None:
    probabilities = np.array([[0.5, 0.45, 0.05], [0.9, 0.05, 0.05]])
    errors = np.full((2, 3), 0.02)
    threat = threat_under(
        Beliefs(probabilities, errors=errors), original_of([[2, 1, 4], [5, 6, 0]])
    )
    assert threat.undecided == 3
    assert threat_under(Beliefs(probabilities), original_of([[2, 1, 4], [5, 6, 0]])).undecided == 0


CELLS = st.lists(st.tuples(*[st.integers(0, 3)] * 3).filter(any).map(list), min_size=1, max_size=5)


@given(CELLS, st.data())
def test_measures_are_those_of_plain_loops(weights: list[list[int]], data: st.DataObject) -> None:
    rows = st.tuples(*[st.integers(1, 6)] * 3)
    raw = np.array([data.draw(rows) for _ in weights], float)
    other = np.array([data.draw(rows) for _ in weights], float)
    attacker, learner = raw / raw.sum(1, keepdims=True), other / other.sum(1, keepdims=True)
    original = original_of(weights)
    right = error = 0.0
    for victim, s in zip(original.victim, original.sensitive, strict=True):
        right += raw[victim, s] == raw[victim].max()
        error += sum(abs((s == each) - attacker[victim, each]) for each in range(3))
    threat = threat_under(Beliefs(attacker), original)
    assert float(threat.share) == pytest.approx(right / original.records)
    assert threat.absolute_error == pytest.approx(error)
    told = Evaluator(original).figures(MeanBeliefs(attacker, learner, learner))
    assert told["gt_attacker"] == pytest.approx(float(threat.share))
    assert told["gt_learner"] == pytest.approx(
        float(threat_under(Beliefs(learner), original).share)
    )
    assert told["abs_attacker"] == pytest.approx(error)
    assert 0 < threat.share_at_random <= 1 or threat.share == 0


def test_skewness_is_the_third_standardised_moment() -> None:
    release, table = small()
    knowledge, original = known_of(table, release)
    measures = measure(knowledge, original)
    levels = np.array([0.9, 0.8, 0.4, 0.4, 0.5, 0.6])
    uneven = Beliefs(knowledge.attacker.probabilities)
    changed = type(measures)(
        release="r",
        method="m",
        reading=measures.reading,
        attacker=type(measures.attacker)(levels, np.ones(6, bool), np.ones(6), 0),
        learner=measures.learner,
        random_worlds=measures.random_worlds,
        ideal=None,
        baseline=measures.baseline,
    )
    logs = np.log2(levels / measures.learner.levels)
    spread = logs - logs.mean()
    expected = (spread**3).mean() / (spread**2).mean() ** 1.5
    assert changed.histogram().skewness == pytest.approx(expected)
    assert uneven.highest.max() == pytest.approx(2 / 3)


# --------------------------------------------------------------------------------------------------- faithfulness


def test_faithfulness_estimates_one_minus_the_total_variation() -> None:
    """The small table has eight combinations: the total variation is a sum, and both estimates are near it."""
    release, table = small()
    _, original = victims_of_table(release, table)
    every = np.arange(4, dtype=np.int32)[:, None]
    learned = closed_form(release, population_points(release, every)).joint
    ideal = ideal_joint(release, original, every)
    expected = 1 - np.abs(learned - ideal).sum() / 2
    points = draw_points(release, original, count=20_000, seed=4)
    victims, _ = victims_of_table(release, table)
    found = faithfulness(points, closed_form(release, joined(victims, points.codes)))
    assert 0 < expected < 1
    assert abs(found.published - expected) < 4 * found.published_error
    assert abs(found.bounded - expected) < 4 * found.bounded_error
    frequencies = np.zeros((4, 2))
    np.add.at(frequencies, (points.codes[:, 0], points.sensitive), 1 / len(points))
    np.testing.assert_allclose(frequencies, ideal, atol=0.015)


def test_the_table_itself_is_wholly_faithful() -> None:
    table = read(PEOPLE, quasi_identifiers=["age"], sensitive=["ill"])
    release = from_generalised(table)
    victims, original = victims_of_table(release, table)
    points = draw_points(release, original, count=100)
    found = faithfulness(points, closed_form(release, joined(victims, points.codes)))
    assert found.published == pytest.approx(1)
    assert found.bounded == pytest.approx(1)
    with pytest.raises(StudyError, match="put the points behind the victims"):
        faithfulness(points, closed_form(release, victims))
    with pytest.raises(StudyError, match="give at least 2"):
        draw_points(release, original, count=1)


# ---------------------------------------------------------------------------------------------------------- Adult

KNOWN = [
    *("sex", "age", "race", "marital-status", "education", "native-country", "workclass"),
    "salary-class",
]


@pytest.fixture
def adult(shared: Callable[[str], Path]) -> EncodedTable:
    """The 5,692 records over 50, as in section VI."""
    table = read(shared("data/arx/adult.csv"), quasi_identifiers=KNOWN, sensitive=["occupation"])
    ages = np.array(list(map(int, table.column("age").values.to_pylist())))
    return table.of_records(ages[table.column("age").codes] > 50)


@pytest.fixture
def golden(shared: Callable[[str], Path]) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(shared("golden/groups.json").read_text(encoding="utf-8"))
    return found["adult"]  # type: ignore[no-any-return]


def test_adult_recoded_is_solved_in_closed_form(
    adult: EncodedTable, golden: dict[str, Any], shared: Callable[[str], Path]
) -> None:
    hierarchies = {
        name: read_hierarchy(shared(f"data/arx/adult_hierarchy_{name}.csv"), column=name)
        for name in KNOWN
    }
    criteria = [KAnonymity(4), DistinctDiversity(4, "occupation")]
    found = recode(adult, hierarchies=hierarchies, criteria=criteria, suppression=0.04)
    labels = {name: ancestors(own.rows) for name, own in hierarchies.items()}
    release = from_generalised(found.release(adult), hierarchies=labels, domains=adult)
    assert release.is_laminar
    victims, original = victims_of_table(release, adult, in_order=True)
    assert len(victims) == 3_297
    measures = measure(with_ideal(closed_form(release, victims), original), original)
    assert (measures.records, measures.baseline) == (5_692, Fraction(943, 5_692))
    assert float(measures.baseline) == golden["baseline"]
    assert measures.ideal is not None
    assert measures.ideal.share == Fraction(golden["ideal_correct_subset_domains"], 5_692)
    assert measures.attacker.share > measures.learner.share > measures.baseline
    assert measures.attacker.share == Fraction(1_536, 5_692)
    assert measures.learner.share == Fraction(1_496, 5_692)
    assert 1 < measures.highest_relative < 20
    assert sum(measures.histogram("learner").counts) == 1_496
    told = json.loads(json.dumps(measures.to_dict()))
    assert told["attacker"]["threatened"] == 1_536
    assert measures.to_frame().num_rows == 4
    assert measures.records_frame().num_rows == 5_692


def test_adult_anatomised_has_the_same_ideal_and_random_worlds_with_many_ties(
    adult: EncodedTable, golden: dict[str, Any]
) -> None:
    anatomy = anatomise(adult, l=4, seed=1)
    known, sensitive = anatomy.tables(adult)
    release = from_anatomy(read(known), read(sensitive))
    assert [len(each.values) for each in release.attributes] == [
        golden["domain_sizes"][each.name] for each in release.attributes
    ]
    victims, original = victims_of_table(release, adult)
    worlds = random_worlds(release, victims)
    threat = threat_under(Beliefs(worlds), original)
    assert 0.24 < threat.share_at_random < 0.26 < 0.6 < threat.share
    one = from_group_column(anatomy.one_table(adult, group="group"), group="group")
    again, _ = victims_of_table(one, adult)
    np.testing.assert_allclose(random_worlds(one, again), worlds, rtol=1e-12)
    joint = ideal_joint(release, original, victims.codes)
    ideal = threat_under(Beliefs(joint / joint.sum(axis=1, keepdims=True)), original)
    assert ideal.share == Fraction(golden["ideal_correct_subset_domains"], 5_692)


# ------------------------------------------------------------------------------------------- the question at once


def test_the_whole_question_goes_the_best_way() -> None:
    release, table = small()
    closed = threat(release, table, in_order=True, points=50)
    assert (closed.knowledge.method, closed.sampled) == ("closed form", None)
    assert closed.measures is not None
    assert closed.measures.attacker.share == Fraction(2, 3)
    assert closed.measures.faithfulness is not None
    assert closed.measures.faithfulness.points == 50
    told = json.loads(json.dumps(closed.to_dict(), allow_nan=False))
    people = json.loads(json.dumps(closed.knowledge.to_dict(), allow_nan=False))["victims"]
    assert people[-1]["attacker"] == {"HIV": None, "flu": None}
    assert told["measures"]["attacker"]["global_threat"] == pytest.approx(2 / 3)
    with pytest.raises(StudyError, match="an original table or people, not both"):
        threat(release, table, people=[{}])
    six = threat(release, table, points=0, learner_mean=True)
    assert six.measures is not None
    assert six.measures.reading is Reading.EXPECTATION_OF_RATIO


def test_tiny_vertical_releases_are_enumerated_and_larger_ones_sampled() -> None:
    count = 24
    people = pa.table(
        {
            "age": [str(i % 5) for i in range(count)],
            "ill": ["flu" if i % 2 else "HIV" for i in range(count)],
            "group": [str(i // 4) for i in range(count)],
        }
    )
    table = read(people, quasi_identifiers=["age", "group"], sensitive=["ill"])
    tiny = table.of_records(np.arange(8))
    enumerated = threat(from_group_column(tiny, group="group"))
    assert (enumerated.knowledge.method, enumerated.measures) == ("enumeration", None)
    budget = SamplingBudget(sweeps=200, burn_in=20, chains=2, threads=1, seed=3)
    sampled = threat(from_group_column(table, group="group"), table, points=20, budget=budget)
    assert sampled.knowledge.method == "sampling"
    assert sampled.sampled is not None
    assert sampled.measures is not None
    assert sampled.measures.faithfulness is not None
    assert 0.5 < sampled.measures.faithfulness.bounded <= 1
    assert np.isnan(sampled.knowledge.attacker.probabilities[-20:]).all()


# --------------------------------------------------------------------------------------------------------- faults


def test_what_was_not_computed_cannot_be_measured() -> None:
    release, table = small()
    knowledge, original = known_of(table, release)
    with pytest.raises(StudyError, match=r"reading \(6\) of the learner was not computed"):
        measure(knowledge, original, reading=Reading.EXPECTATION_OF_RATIO)
    others = closed_form(release, population_points(release, np.zeros((4, 1), np.int32)))
    with pytest.raises(StudyError, match="the victims are not those of the original"):
        measure(others, original)
    measures = measure(closed_form(release, knowledge.victims), original)
    with pytest.raises(StudyError, match='no adversary "ideal"; there are attacker, learner'):
        measures.histogram("ideal")
    with pytest.raises(StudyError, match="give one above 0"):
        measures.histogram(width=0)


def test_both_readings_of_the_learner_can_be_taken() -> None:
    release, table = small()
    victims, original = victims_of_table(release, table)
    knowledge = closed_form(release, victims, learner_mean=True)
    five = measure(knowledge, original)
    six = measure(knowledge, original, reading=Reading.EXPECTATION_OF_RATIO)
    assert five.to_dict()["learner_reading"] == "5"
    assert six.to_dict()["learner_reading"] == "6"
    assert np.abs(five.learner.levels - six.learner.levels).max() > 0.001
