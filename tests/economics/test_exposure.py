"""From a release and a register to the risk of every record, against a look at each record and person."""

from __future__ import annotations

from dataclasses import replace
from math import comb
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from glasshouse.economics import (
    PeopleGroups,
    Terms,
    curve,
    exposure,
    groups_by_population,
    groups_by_share,
    groups_in_register,
    least_for_release,
    losses_by_value,
    policy,
)
from glasshouse.economics.deterrents import COSTS, group_risk
from glasshouse.errors import DataError, StudyError
from glasshouse.progress import Progress
from glasshouse.synthetic import study
from glasshouse.table import EncodedTable, read
from glasshouse.table.generalised import covers
from tests.economics.drawing import random_terms
from tests.examples import examples

NAMES = ["age", "sex"]
PEOPLE = st.tuples(st.sampled_from(["20", "21", "25", "30", "31"]), st.sampled_from("FM"))
RECORDS = st.tuples(st.sampled_from(["20-24", "25-29", "30", "40+", "*"]), st.sampled_from("FM*"))


def as_table(rows: list[tuple[str, str]], name: str = "people") -> EncodedTable:
    columns = dict(zip(NAMES, zip(*rows, strict=True), strict=True))
    return read(pa.table(columns), quasi_identifiers=NAMES, name=name)


@given(st.lists(RECORDS, min_size=1, max_size=8), st.lists(PEOPLE, min_size=1, max_size=12))
def test_groups_are_those_of_a_look_at_each_person(
    records: list[tuple[str, str]], people: list[tuple[str, str]]
) -> None:
    found = groups_in_register(as_table(records), as_table(people))
    assert found.sizes is not None
    expected = [sum(all(map(covers, record, person)) for person in people) for record in records]
    assert found.sizes.tolist() == expected
    assert found.shares.tolist() == [size / len(people) for size in expected]


def test_columns_may_be_in_another_order_and_values_known_to_one_side_only() -> None:
    release = read(pa.table({"zip": ["1", "2", "9"], "age": ["3", "3", "3"]}))
    register = read(pa.table({"age": ["3", "4", "3"], "zip": ["2", "2", "2"]}))
    found = groups_in_register(release, register, quasi_identifiers=["age", "zip"])
    assert found.sizes is not None
    assert found.sizes.tolist() == [0, 2, 0]


def test_a_fact_stands_for_its_columns() -> None:
    release = read(pa.table({"d": ["1"], "m": ["2"]}), facts={"birth": ["d", "m"]})
    register = read(pa.table({"d": ["1", "1"], "m": ["2", "3"]}))
    assert groups_in_register(release, register).quasi_identifiers == ("d", "m")


def test_the_population_tells_the_shares() -> None:
    release, register = as_table([("20", "F")]), as_table([("20", "F"), ("30", "F")])
    everybody = as_table([("20", "F"), ("30", "F"), ("30", "M"), ("31", "M")])
    found = groups_in_register(release, register, population=everybody)
    assert (found.people, found.shares.tolist()) == (2, [0.25])


@pytest.mark.parametrize(
    ("ages", "message"),
    [
        (["20-29", "25-34"], 'column "age": the release holds .* both stand for "25"'),
        (["20-29", "25"], 'column "age": the release holds "25" beside a value'),
    ],
)
def test_values_that_overlap_are_refused(ages: list[str], message: str) -> None:
    release = as_table([(age, "F") for age in ages])
    with pytest.raises(DataError, match=message):
        groups_in_register(release, as_table([("25", "F")]))


def test_postal_codes_with_a_hyphen_are_no_intervals() -> None:
    release = read(pa.table({"zip": ["12345-99999", "20134"]}), quasi_identifiers=["zip"])
    register = read(pa.table({"zip": ["12345-99999", "20134", "20134"]}))
    found = groups_in_register(release, register)
    assert found.sizes is not None
    assert found.sizes.tolist() == [1, 2]


def test_what_does_not_fit_together_is_refused() -> None:
    people = as_table([("20", "F")])
    with pytest.raises(DataError, match='column "zip" is not in'):
        groups_in_register(people, people, quasi_identifiers=["zip"])
    with pytest.raises(DataError, match='did you mean "Age"'):
        groups_in_register(people, read(pa.table({"Age": ["2"], "sex": ["F"]})))
    with pytest.raises(StudyError, match="name at least one"):
        groups_in_register(people.with_roles(), people)


def test_a_model_of_the_population_gives_shares() -> None:
    release = as_table([("20-29", "F"), ("*", "M"), ("30", "*")])
    model = {"age": {"20": 0.25, "25": 0.25, "30": 0.5}, "sex": {"F": 0.75, "M": 0.25}}
    found = groups_by_share(release, 1_000, model)
    assert found.sizes is None
    assert found.shares.tolist() == [0.375, 0.25, 0.5]
    with pytest.raises(DataError, match='no share for "40"'):
        groups_by_share(as_table([("40", "F")]), 10, model)
    with pytest.raises(DataError, match="add up to at most 1"):
        groups_by_share(release, 10, {"age": {"20": 0.9, "30": 0.2}})
    with pytest.raises(StudyError, match="`belief`"):
        groups_by_share(release, 0, model)


def test_a_register_larger_than_its_population_is_refused() -> None:
    people = as_table([("20", "F"), ("30", "M")])
    assert groups_by_population(people, people, 2).shares.tolist() == [0.5, 0.5]
    with pytest.raises(StudyError, match="`belief` is 3"):
        groups_by_population(people, people, 3)


def groups(sizes: list[int], shares: list[float], people: int = 1_000) -> PeopleGroups:
    return PeopleGroups("release", "register", ("q",), people, np.array(sizes), np.array(shares))


@settings(max_examples=examples(30))
@given(st.integers(0, 10**6))
def test_every_record_has_the_risk_of_its_own_group_and_belief(seed: int) -> None:
    rng = np.random.default_rng(seed)
    terms = random_terms(rng)
    people = int(rng.integers(8, 30))
    sizes = rng.integers(0, 9, 12)
    shares = rng.integers(0, people + 1, 12) / people
    found = exposure(groups(sizes.tolist(), shares.tolist(), people), terms)
    after = policy(terms, range(1, people + 1))
    linked = np.maximum(0, terms.discount * after.value_after_access - terms.link_cost)
    for record, (size, share) in enumerate(zip(sizes.tolist(), shares.tolist(), strict=True)):
        known = group_risk(terms, size) if size else 0.0
        assert found.known[record] == pytest.approx(known, abs=1e-12)
        chances = [
            comb(people, k) * share**k * (1 - share) ** (people - k) for k in range(1, people + 1)
        ]
        value = -terms.access_cost + terms.discount * float(np.array(chances) @ linked)
        if abs(value) < 1e-6:
            continue
        risk = after.reidentification_after_access[size - 1] if size and value > 0 else 0.0
        assert found.unknown[record] == pytest.approx(risk, abs=1e-12)


def test_without_a_register_the_risk_is_the_expectation_over_its_groups() -> None:
    terms = Terms(penalties=1)
    shares = np.array([0.0, 0.02, 0.04, 0.06])
    model = PeopleGroups("release", "the model", ("q",), 1_000, None, shares)
    found = exposure(model, terms)
    drawn = np.random.default_rng(1).binomial(1_000, shares, (4_000, 4))
    for record in range(4):
        sizes = drawn[:, record]
        actual = exposure(groups(sizes.tolist(), [shares[record]] * len(sizes)), terms)
        assert found.known[record] == pytest.approx(actual.known.mean(), abs=0.02)
        assert found.unknown[record] == pytest.approx(actual.unknown.mean(), abs=0.02)
    assert found.to_frame().num_rows == 1
    assert found.below_enough is None


def test_sums_losses_and_changes() -> None:
    terms = Terms(penalties=1)
    people = 6_018_999
    actual = groups([1, 50, 40, 0], [1 / people, 48 / people, 52 / people, 0.0], people)
    found = exposure(actual, terms, loss=[1.0, 10.0, 100.0, 1000.0])
    prior = terms.prior
    assert found.known.tolist() == [prior, 0, prior, 0]
    assert found.unknown.tolist() == [prior, prior, 0, 0]
    assert (found.higher.tolist(), found.lower.tolist()) == ([1], [2])
    assert found.expected_known == pytest.approx(2 * prior)
    assert found.loss_known == pytest.approx(101 * prior)
    assert found.loss_unknown == pytest.approx(11 * prior)
    assert (found.enough.least, found.below_enough) == (48, 2)
    told = found.to_dict()
    assert told["changed"] == {"higher": 1, "lower": 1}
    assert told["enough"]["records_below"] == 2
    assert told["known"]["at_risk"] == 2
    assert found.to_frame()["size"].to_pylist() == [0, 1, 40, 50]
    assert found.records_frame()["unknown"].to_pylist() == found.unknown.tolist()


def test_losses_by_a_value_of_the_records() -> None:
    release = read(pa.table({"illness": ["HIV", "flu", "none"]}))
    assert losses_by_value(release, "illness", {"HIV": 5.0, "flu": 1.0}).tolist() == [5, 1, 0]
    with pytest.raises(DataError, match='did you mean "HIV"'):
        losses_by_value(release, "illness", {"hiv": 5.0})


@pytest.mark.parametrize("loss", [[1.0], -1.0, float("nan")])
def test_impossible_losses_are_refused(loss: Any) -> None:
    with pytest.raises(DataError, match="loss"):
        exposure(groups([1, 2], [0.1, 0.2]), Terms(), loss=loss)


@pytest.mark.parametrize(
    ("sizes", "shares"), [([1], [0.1, 0.2]), ([-1], [0.1]), ([1001], [0.1]), ([1], [1.5])]
)
def test_impossible_groups_are_refused(sizes: list[int], shares: list[float]) -> None:
    with pytest.raises(DataError, match=r"register|sizes"):
        groups(sizes, shares)


def test_a_belief_larger_than_the_register_is_refused() -> None:
    with pytest.raises(StudyError, match="`belief` is 2,000, larger than the register"):
        exposure(groups([1], [0.1]), Terms(), belief=2_000)
    smaller = exposure(groups([1], [0.1]), Terms(), belief=10)
    assert smaller.unknown[0] > 0


def test_a_curve_has_the_points_of_single_questions() -> None:
    rng = np.random.default_rng(2)
    sizes = rng.integers(0, 80, 500)
    actual = groups(sizes.tolist(), (rng.integers(0, 80, 500) / 10_000).tolist(), 10_000)
    terms = Terms(penalties=1)
    values = [0.0, 3_000.0, 10_000.0, 40_000.0]
    done: list[Progress] = []
    found = curve(actual, terms, "penalty", values, on_progress=done.append)
    assert done[-1] == Progress("solving", 4, 4)
    for place, penalty in enumerate(values):
        alone = exposure(actual, replace(terms, penalty=penalty))
        assert found.known[place] == pytest.approx(alone.expected_known, rel=1e-12)
        assert found.unknown[place] == pytest.approx(alone.expected_unknown, rel=1e-12)
        assert found.loss_known[place] == pytest.approx(alone.loss_known, rel=1e-12)
    assert found.to_frame().column_names[:3] == ["penalty", "known", "unknown"]


@pytest.mark.parametrize("adversary", ["known", "unknown"])
@pytest.mark.parametrize("parameter", COSTS)
def test_the_least_cost_for_a_release_is_enough_and_less_is_not(
    parameter: str, adversary: str
) -> None:
    rng = np.random.default_rng(3)
    sizes = rng.integers(0, 60, 200)
    actual = groups(sizes.tolist(), ((sizes + 1) / 10_000).tolist(), 10_000)
    terms = Terms(penalties=1)
    found = least_for_release(actual, terms, parameter, expected=20.0, adversary=adversary)
    assert found is not None
    for amount, enough in ((found, True), (np.nextafter(found, 0.0), False)):
        asked = exposure(actual, terms.with_parameter(parameter, float(amount)))
        expected = asked.expected_known if adversary == "known" else asked.expected_unknown
        assert (expected <= 20.0) == enough


def test_a_question_about_a_release_that_makes_no_sense_is_refused() -> None:
    actual = groups([1], [0.1])
    with pytest.raises(StudyError, match="deterrent"):
        least_for_release(actual, Terms(), "detection")
    with pytest.raises(StudyError, match="adversary"):
        least_for_release(actual, Terms(), "penalty", adversary="omniscient")
    with pytest.raises(StudyError, match="`target`"):
        least_for_release(actual, Terms(), "penalty", expected=-1.0)


def test_the_truth_of_a_synthetic_study_is_found_as_often_as_is_claimed() -> None:
    """Whoever tries everybody in every group finds exactly those who are in the register."""
    made = study(200_000, sample=5_000, seed=4)
    names = ["age", "race", "gender", "postal_code"]
    release = read(made.release, quasi_identifiers=names, name="release")
    register = read(made.register, id="person", also=names, name="register")
    found = groups_in_register(release, register)
    assert found.sizes is not None
    in_register = made.truth >= 0
    assert (found.sizes[in_register] > 0).all()
    free = Terms(prior=made.prior, penalty=0.0, access_cost=0.0, exploit_cost=0.0, discount=1.0)
    expected = exposure(found, replace(free, penalties=0)).expected_known
    assert expected == pytest.approx(in_register.sum(), rel=0.05)
