"""What deters: the values found are enough, those just below are not, and risks behave as is claimed."""

from __future__ import annotations

import math
from dataclasses import replace
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from glasshouse.economics import (
    Terms,
    frontier,
    least,
    least_size,
    policy,
    sensitivity,
    thresholds,
)
from glasshouse.economics.deterrents import COSTS, DETERRENTS, _changes, group_risk
from glasshouse.errors import BudgetError, StudyError
from glasshouse.progress import Progress
from tests.economics.drawing import SENSITIVITY, SETTINGS, random_terms
from tests.examples import examples

TERMS = st.integers(0, 10**6).map(lambda seed: random_terms(np.random.default_rng(seed)))
LIMITED = TERMS.map(lambda terms: replace(terms, penalties=terms.penalties or 1))

RISING = Terms(
    prior=0.5,
    gain=6_000.0,
    penalty=2_500.0,
    access_cost=0.0,
    exploit_cost=70.0,
    detection=(0.6, 1.0),
    penalties=1,
    discount=1.0,
)
"""Terms on which three people are riskier than two."""


@settings(max_examples=examples(60))
@given(TERMS, st.sampled_from(DETERRENTS), st.integers(1, 12))
def test_what_deters_is_enough_and_the_number_before_it_is_not(
    terms: Terms, parameter: str, size: int
) -> None:
    found = least(terms, parameter, size=size)
    assert found.least == found.lasting
    if found.least is None:
        most = 1 - 2.0**-53 if parameter == "detection" else 1e30
        assert group_risk(terms.with_parameter(parameter, most), size) > 0
        return
    assert found.risk == 0
    if found.least > 0:
        before = math.nextafter(found.least, 0.0)
        assert group_risk(terms.with_parameter(parameter, found.least), size) == 0
        assert group_risk(terms.with_parameter(parameter, before), size) > 0


@given(LIMITED, st.sampled_from(COSTS), st.integers(1, 12), st.integers(0, 10**6))
def test_the_risk_does_not_grow_with_money_even_where_penalties_are_limited(
    terms: Terms, parameter: str, size: int, seed: int
) -> None:
    amounts = np.sort(np.random.default_rng(seed).exponential(800, 20))
    risks = [group_risk(terms.with_parameter(parameter, float(x)), size) for x in amounts]
    assert (np.diff(risks) <= 1e-12).all()


def test_the_least_price_of_access_is_what_the_attack_is_worth() -> None:
    for terms in SETTINGS.values():
        value = policy(replace(terms, access_cost=0.0), [10]).value[0]
        assert least(terms, "access_cost", size=10).least == pytest.approx(value, rel=1e-12)


def test_the_least_penalty_agrees_with_the_thresholds() -> None:
    """Groups of 48 are safe at 10,000 with one penalty, groups of 47 are not."""
    terms = SETTINGS["one penalty"]
    enough = [least(terms, "penalty", size=size).least for size in (47, 48)]
    assert enough[0] is not None
    assert enough[1] is not None
    assert enough[1] <= 10_000 < enough[0]


def test_a_target_between_nothing_and_the_prior_is_reached_by_money() -> None:
    terms = SETTINGS["rising detection, unlimited penalties"]
    found = least(terms, "exploit_cost", size=16, target=0.3)
    assert found.least is not None
    assert 0 < found.risk <= 0.3  # type: ignore[operator]
    assert group_risk(replace(terms, exploit_cost=found.least), 16) == found.risk
    before = math.nextafter(found.least, 0.0)
    assert group_risk(replace(terms, exploit_cost=before), 16) > 0.3


def test_the_risk_may_rise_with_detection_where_penalties_are_limited() -> None:
    """More detection means that the one penalty is more often behind her: the least rate is not the lasting one."""
    terms = replace(RISING, penalty=3_000.0)
    rates = (0.3, 0.4, 0.6, 0.8, 0.9, 0.95)
    risks = [round(group_risk(terms.with_detection_rate(rate), 2), 4) for rate in rates]
    assert risks == [0.5, 0.35, 0.4, 0.45, 0.475, 0.0]
    found = least(terms, "detection", size=2, target=0.45)
    assert found.least == pytest.approx(0.398879, abs=1e-6)
    assert found.lasting == pytest.approx(0.921095, abs=1e-6)
    assert found.warning is not None
    assert "take the lasting one" in found.warning


def test_no_rate_of_detection_may_be_lasting() -> None:
    """With 2,500 the penalty is a price worth paying: whoever is sure to be caught tries everybody."""
    found = least(RISING, "detection", size=2, target=0.45)
    assert found.least is not None
    assert found.lasting is None
    assert found.warning is not None
    assert "no value is lasting" in found.warning


@settings(max_examples=examples(40))
@given(LIMITED, st.integers(2, 8), st.floats(0.05, 0.95))
def test_rates_of_detection_against_a_fine_grid(terms: Terms, size: int, part: float) -> None:
    target = part * terms.prior
    found = least(terms, "detection", size=size, target=target)
    rates = np.linspace(1e-4, 1 - 1e-4, 400)
    risks = np.array([group_risk(terms.with_detection_rate(r), size) for r in rates.tolist()])
    fits = risks <= target
    if fits.any():
        assert found.least is not None
        assert found.least <= rates[np.argmax(fits)]
    if found.least:
        assert group_risk(terms.with_detection_rate(found.least), size) <= target
        assert not fits[rates < found.least].any()
    if found.lasting is None:
        assert not fits[-1]
    else:
        assert fits[rates >= found.lasting].all()
        if found.lasting > 0:
            before = math.nextafter(found.lasting, 0.0)
            assert group_risk(terms.with_detection_rate(before), size) > target


@settings(max_examples=examples(40))
@given(LIMITED, st.integers(2, 8), st.integers(0, 10**6))
def test_between_two_changes_of_the_policy_the_risk_does_not_fall_with_detection(
    terms: Terms, size: int, seed: int
) -> None:
    edges = [1e-300, *_changes(terms, size, 1e-300, 1 - 2.0**-53), 1 - 2.0**-53]
    rng = np.random.default_rng(seed)
    for low, high in pairwise(edges):
        rates = np.sort(rng.uniform(low, high, 6))
        rates = rates[(rates >= low) & (rates < high) & (rates > 0)]
        risks = [group_risk(terms.with_detection_rate(rate), size) for rate in rates.tolist()]
        assert (np.diff(risks) >= -1e-12).all()


def test_a_size_that_deters_and_where_the_risk_rises_with_it() -> None:
    found = least_size(RISING, target=0.42)
    risks = policy(RISING, range(1, 30)).reidentification
    fits = risks <= 0.42
    assert found.least == 1 + int(np.argmax(fits)) == 2
    assert found.lasting == 2 + int(np.flatnonzero(~fits)[-1]) == 8
    assert found.rises == (3,)
    assert found.warning is not None
    assert "from 2 to 3: a larger k is not always safer" in found.warning
    assert found.to_dict()["rises"] == [3]


@settings(max_examples=examples(50))
@given(TERMS, st.floats(0, 1))
def test_sizes_against_a_look_at_each_of_them(terms: Terms, target: float) -> None:
    terms = replace(terms, exploit_cost=terms.exploit_cost + 50, gain=terms.gain / 10)
    found = least_size(terms, target=target)
    risks = policy(terms, range(1, 60)).reidentification
    assert found.least == 1 + int(np.argmax(risks <= target))
    above = np.flatnonzero(risks > target)
    assert found.lasting == (2 + int(above[-1]) if len(above) else 1)
    assert found.risk == pytest.approx(risks[int(found.least) - 1])
    rising = 2 + np.flatnonzero(np.diff(risks) > 1e-12)
    assert found.rises == tuple(rising.tolist())


def test_no_size_is_enough_where_the_attack_is_free() -> None:
    free = Terms(penalty=0.0, access_cost=0.0, exploit_cost=0.0, discount=1.0)
    assert least_size(free).least is None
    assert least_size(free, target=1.0).least == 1
    assert least_size(free).rises is None
    nearly = replace(free, penalty=3_000.0, penalties=1, detection=(-8.0, 0.01))
    with pytest.raises(BudgetError, match="`sizes`"):
        least_size(nearly, target=0.1)


def test_no_penalty_deters_who_is_never_punished() -> None:
    found = least(Terms(penalties=0), "penalty", size=5)
    assert (found.least, found.lasting, found.risk) == (None, None, None)


def test_a_tiny_sum_is_found_too() -> None:
    terms = Terms(prior=1.0, gain=1e-6, exploit_cost=0.0, penalty=0.0, discount=1.0)
    assert least(terms, "access_cost", size=1).least == pytest.approx(1e-6, rel=1e-12)


def test_the_frontier_trades_size_for_penalty() -> None:
    done: list[Progress] = []
    found = frontier(SETTINGS["one penalty"], range(1, 61), on_progress=done.append)
    frame = found.to_frame()
    penalties = np.array(frame["least"].to_pylist())
    assert (np.diff(penalties) <= 0).all()
    assert done[-1] == Progress("solving", 60, 60)
    for size, penalty in zip(frame["size"].to_pylist(), penalties.tolist(), strict=True):
        threshold = thresholds(replace(SETTINGS["one penalty"], penalty=penalty)).no_attack
        assert threshold is not None
        assert threshold <= size


def test_sensitivity_tells_thresholds_and_risks() -> None:
    done: list[Progress] = []
    curve = sensitivity(
        SENSITIVITY,
        "exploit_cost",
        [0.0, 100.0],
        sizes=[1, 6],
        on_progress=done.append,
    )
    assert done == [Progress("solving", 1, 2), Progress("solving", 2, 2)]
    frame = curve.to_frame()
    assert frame["no_attack"].to_pylist() == [7, 5]
    assert frame["risk_1"].to_pylist() == [1.0, 1.0]
    assert frame["risk_6"].to_pylist() == [1.0, 0.0]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"parameter": "gain", "size": 3}, 'deterrent "gain" is not in'),
        ({"parameter": "penalty", "size": 0}, "`sizes`"),
        ({"parameter": "penalty", "size": 3, "target": -0.1}, "`target`"),
        ({"parameter": "penalty", "size": 3, "target": math.nan}, "`target`"),
    ],
)
def test_a_question_that_makes_no_sense_is_refused(arguments: dict[str, Any], message: str) -> None:
    with pytest.raises(StudyError, match=message):
        least(Terms(), **arguments)


def test_an_impossible_target_for_the_size_is_refused() -> None:
    with pytest.raises(StudyError, match="`target`"):
        least_size(Terms(), target=1.5)
    with pytest.raises(StudyError, match="parameter"):
        sensitivity(Terms(), "fear", [1.0])


# -- an adversary who does not know the size ---------------------------------------------------------------------------


def believed_risk(terms: Terms, size: int, belief: int) -> float:
    return float(policy(terms, [size], belief=belief).reidentification[0])


@settings(max_examples=examples(60))
@given(TERMS, st.sampled_from(DETERRENTS), st.integers(1, 12), st.integers(12, 60))
def test_what_deters_a_believer_is_enough_and_the_number_before_it_is_not(
    terms: Terms, parameter: str, size: int, belief: int
) -> None:
    found = least(terms, parameter, size=size, belief=belief)
    assert found.least == found.lasting
    if found.least is None:
        most = 1 - 2.0**-53 if parameter == "detection" else 1e30
        assert believed_risk(terms.with_parameter(parameter, most), size, belief) > 0
        return
    assert found.risk == 0
    if found.least > 0:
        before = math.nextafter(found.least, 0.0)
        assert believed_risk(terms.with_parameter(parameter, found.least), size, belief) == 0
        assert believed_risk(terms.with_parameter(parameter, before), size, belief) > 0


@settings(max_examples=examples(30))
@given(LIMITED, st.integers(1, 6), st.integers(6, 30), st.floats(0.05, 0.95))
def test_rates_of_detection_against_a_fine_grid_of_beliefs(
    terms: Terms, size: int, belief: int, part: float
) -> None:
    target = part * terms.prior
    found = least(terms, "detection", size=size, target=target, belief=belief)
    rates = np.linspace(1e-6, 1 - 1e-6, 200)
    risks = np.array([believed_risk(terms.with_detection_rate(r), size, belief) for r in rates])
    if found.least is None:
        assert (risks > target).all()
        return
    assert found.risk is not None
    assert found.risk <= target
    assert (risks[rates < found.least] > target).all()
    if found.lasting is not None:
        assert (risks[rates >= found.lasting] <= target + 1e-12).all()


@settings(max_examples=examples(50))
@given(TERMS, st.floats(0, 1), st.integers(1, 80))
def test_sizes_that_a_believer_is_deterred_by_against_a_look_at_each_of_them(
    terms: Terms, target: float, belief: int
) -> None:
    found = least_size(terms, target=target, belief=belief)
    risks = policy(terms, range(1, belief + 1), belief=belief).reidentification
    fits, above = np.flatnonzero(risks <= target), np.flatnonzero(risks > target)
    assert found.least == (1 + int(fits[0]) if len(fits) else None)
    lasting = 2 + int(above[-1]) if len(above) else 1
    assert found.lasting == (lasting if lasting <= belief else None)
    assert found.rises == tuple((2 + np.flatnonzero(np.diff(risks) > 1e-12)).tolist())


def test_a_believer_is_deterred_by_other_amounts_than_who_knows() -> None:
    terms = SETTINGS["one penalty"]
    known = least(terms, "access_cost", size=1).least
    believed = least(terms, "access_cost", size=1, belief=1_000).least
    assert known is not None
    assert believed is not None
    assert believed < known


def test_beliefs_that_cannot_be_are_refused() -> None:
    with pytest.raises(StudyError, match="a register of 5 holds no group of 9"):
        least(Terms(), "penalty", size=9, belief=5)
    with pytest.raises(StudyError, match="`belief` is 0"):
        least_size(Terms(), belief=0)
    free = Terms(penalty=0.0, access_cost=0.0, exploit_cost=0.0, discount=1.0)
    with pytest.raises(BudgetError, match="somebody is tried in groups of more than 20,000"):
        least_size(free, belief=1_000_000)
