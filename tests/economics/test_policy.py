"""The induction against the obvious: exact fractions, every policy there is, and the laws that it must obey."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from itertools import product
from typing import Any

import numpy as np
import pytest
from hypothesis import assume, given, reject, settings
from hypothesis import strategies as st

from glasshouse.economics import Policy, Terms, one_shot, optimal_plan, policy, thresholds
from glasshouse.economics.backward_induction import Plans, decisions, plan, plans
from glasshouse.economics.optimal_plan import access_values, first_failing, linked_by_size
from glasshouse.errors import BudgetError, StudyError
from tests.economics.drawing import SETTINGS, exactly, random_terms, with_growing_detection
from tests.examples import examples

TERMS = st.integers(0, 10**6).map(lambda seed: random_terms(np.random.default_rng(seed)))
SIZES = range(1, 25)


def solved(terms: Terms) -> Policy:
    """Solve terms that can be, and pass over those whose thresholds are refused: falling detection, free exploits."""
    found = policy(terms, SIZES)
    try:
        assert found.thresholds
    except BudgetError:
        reject()
    return found


@given(TERMS, st.integers(1, 9))
def test_value_risk_and_exploits_equal_exact_fractions(terms: Terms, size: int) -> None:
    exact = exactly(terms, size)
    assume(exact.margin > Fraction(1, 10**7))
    found = plan(terms, size)
    assert found.value[0] == pytest.approx(float(exact.value), rel=1e-10, abs=1e-9)
    assert found.risk(terms.prior)[0] == pytest.approx(float(exact.risk), rel=1e-10)
    assert found.undetected[0] == exact.undetected


def value_of(terms: Terms, size: int, going_on: dict[tuple[int, int], bool]) -> Fraction:
    """Return what one policy is worth, by following every course of detections."""
    u = Fraction(terms.prior) / size
    discount = Fraction(terms.discount)
    rates = [Fraction(rate) for rate in terms.detection_rates(size).tolist()]

    def from_here(j: int, p: int) -> Fraction:
        if j == size or not going_on[j, p]:
            return Fraction(0)
        alive = 1 - j * u
        due = terms.penalties is None or p < terms.penalties
        fine = Fraction(terms.penalty) if due else Fraction(0)
        own = discount * (u * Fraction(terms.gain) - alive * rates[j] * fine)
        own -= alive * Fraction(terms.exploit_cost)
        later = rates[j] * from_here(j + 1, p + 1) + (1 - rates[j]) * from_here(j + 1, p)
        return own + discount * later

    return from_here(0, 0)


@pytest.mark.parametrize("seed", range(25))
def test_no_policy_is_better(seed: int) -> None:
    terms = random_terms(np.random.default_rng(seed))
    size = 3
    states = [(j, p) for j in range(size) for p in range(j + 1)]
    best = max(
        value_of(terms, size, dict(zip(states, chosen, strict=True)))
        for chosen in product((False, True), repeat=len(states))
    )
    assert plan(terms, size).value[0] == pytest.approx(float(best), rel=1e-12, abs=1e-9)


@given(TERMS)
def test_the_value_does_not_grow_with_the_size(terms: Terms) -> None:
    """So pruning at the first worthless size is right: here each size is solved by itself."""
    alone = np.array([plan(terms, size).value[0] for size in SIZES])
    assert (np.diff(alone) <= 1e-9).all()
    assert plans(terms, np.array(SIZES)).value.tolist() == alone.tolist()


@settings(max_examples=examples(40))
@given(TERMS, st.floats(0, 3_000))
def test_the_value_does_not_grow_with_costs_penalties_or_detection(
    terms: Terms, more: float
) -> None:
    before = solved(terms)
    h0, h1 = terms.detection
    dearer: list[Terms] = [
        replace(terms, penalty=terms.penalty + more),
        replace(terms, exploit_cost=terms.exploit_cost + more),
        replace(terms, access_cost=terms.access_cost + more),
        replace(terms, link_cost=terms.link_cost + more),
        replace(terms, detection=(h0 + more / 500, h1)),
        replace(terms, penalties=None),
    ]
    for other in dearer:
        after = solved(other)
        assert (after.value <= before.value + 1e-9).all()
        assert (after.value_after_access <= before.value_after_access + 1e-9).all()


@given(TERMS, st.sampled_from(["prior", "gain", "discount"]), st.floats(0, 1))
def test_the_value_does_not_fall_with_prior_gain_or_patience(
    terms: Terms, parameter: str, factor: float
) -> None:
    less = max(getattr(terms, parameter) * factor, 1e-3)
    assume(less <= getattr(terms, parameter))
    before, after = solved(replace(terms, **_one(parameter, less))), solved(terms)
    assert (before.value <= after.value + 1e-9).all()


def _one(name: str, value: float) -> dict[str, Any]:
    return {name: value}


@given(TERMS)
def test_it_is_all_or_nothing_where_detection_is_constant_and_penalties_unlimited(
    terms: Terms,
) -> None:
    """Finding 2."""
    terms = replace(terms, detection=(terms.detection[0], 0.0), penalties=None)
    found = policy(terms, SIZES)
    assert set(found.reidentification.tolist()) <= {0.0, terms.prior}
    assert all(e in (0, s) for e, s in zip(found.exploits, found.sizes, strict=True))
    assert found.thresholds.first_partial == found.thresholds.no_attack


@given(TERMS)
def test_the_thresholds_are_what_a_look_at_every_size_gives(terms: Terms) -> None:
    terms = replace(terms, exploit_cost=terms.exploit_cost + 20)
    sizes = range(1, 1_100)
    found = policy(terms, sizes)
    values = {
        "no_attack": found.value <= 0,
        "no_exploit_after_access": found.exploits_after_access == 0,
        "first_partial": found.reidentification < terms.prior * (1 - 1e-12),
        "baseline": one_shot(terms, sizes).payoff <= 0,
    }
    for name, marks in values.items():
        assert getattr(found.thresholds, name) == 1 + int(np.argmax(marks)), name


@given(TERMS)
def test_who_tries_everybody_does_so_in_every_smaller_group_unless_detection_falls(
    terms: Terms,
) -> None:
    terms = with_growing_detection(terms)
    full = np.array([plan(terms, size).fewest[0] == size for size in SIZES])
    assert (np.diff(full.astype(int)) <= 0).all()


def test_a_larger_group_can_be_wholly_tried_and_a_smaller_one_not_where_detection_falls() -> None:
    """Why the sizes are looked at one by one where detection falls."""
    terms = Terms(prior=0.5, gain=1000.0, penalty=400.0, access_cost=0.0, penalties=1)
    terms = replace(terms, detection=(3.0, -1.0), discount=1.0)
    full = [bool(plan(terms, size).fewest[0] == size) for size in range(1, 8)]
    assert full == [True, False, False, False, False, True, True]
    assert thresholds(terms).first_partial == 2


def test_the_risk_may_rise_with_the_size_where_penalties_are_limited() -> None:
    """A penalty that is paid early leaves nothing to fear: three people are riskier than two."""
    terms = Terms(
        prior=0.5, gain=6000.0, penalty=2500.0, access_cost=0.0, exploit_cost=70.0, penalties=1
    )
    terms = replace(terms, detection=(0.6, 1.0), discount=1.0)
    risk = policy(terms, range(1, 5)).reidentification
    assert risk.round(4).tolist() == [0.5, 0.4114, 0.4901, 0.4851]
    exact = [exactly(terms, size) for size in (2, 3)]
    assert exact[0].risk < exact[1].risk
    assert exact[0].value > exact[1].value


def test_the_one_shot_adversary_may_do_better_where_time_is_discounted() -> None:
    """Against finding 1: the baseline of the literature has no discount, and may attack where the process does not."""
    hasty = Terms(discount=0.2)
    found = policy(hasty, range(1, 40))
    baseline = one_shot(hasty, range(1, 40))
    assert found.thresholds.no_attack is not None
    assert found.thresholds.baseline is not None
    assert found.thresholds.no_attack < found.thresholds.baseline
    assert (baseline.reidentification > found.reidentification).any()
    patient = policy(replace(hasty, discount=1.0), range(1, 40))
    assert (baseline.reidentification <= patient.reidentification).all()


def test_the_document_has_the_form_of_the_command() -> None:
    found = policy(SETTINGS["one penalty"], [47, 48]).to_dict()
    assert list(found) == ["thresholds", "sizes"]
    assert found["thresholds"] == {
        "no_attack": 48,
        "no_exploit_after_access": 54,
        "first_partial": 48,
        "baseline": 24,
    }
    first, second = found["sizes"]
    keys = ["size", "value", "value_after_access", "exploits", "reidentification"]
    assert list(first) == list(second) == keys
    assert (first["size"], first["exploits"]) == (47, 47)
    assert second["value"] == second["exploits"] == second["reidentification"] == 0
    assert second["value_after_access"] > 0
    assert all(type(value) in (int, float) for value in first.values())


def test_sizes_may_come_in_any_order_and_twice() -> None:
    terms = Terms(penalties=2)
    shuffled = policy(terms, [60, 3, 3, 1])
    ordered = policy(terms, [1, 3, 60])
    assert shuffled.value.tolist() == ordered.value[[2, 1, 1, 0]].tolist()
    assert shuffled.to_frame()["size"].to_pylist() == [60, 3, 3, 1]


def test_linking_has_its_price_too() -> None:
    terms = Terms(link_cost=200.0)
    found = policy(terms, range(1, 60))
    value = found.value_after_access
    assert found.value.tolist() == pytest.approx(
        np.maximum(0, -100 + 0.9 * np.maximum(0, -200 + 0.9 * value)).tolist()
    )
    paid = found.thresholds.no_exploit_after_access
    assert paid == 1 + int(np.argmax(0.9 * value <= 200))
    assert value[paid - 1] > 0
    assert found.reidentification_after_access[paid - 1] == 0


def test_penalties_that_cannot_be_reached_are_no_limit() -> None:
    for size in (1, 5, 12):
        limited, unlimited = (plan(Terms(penalties=limit), size) for limit in (12, None))
        assert limited.value[0] == unlimited.value[0]


def test_nobody_is_tried_who_cannot_be_the_target() -> None:
    found = policy(Terms(prior=0.0), range(1, 5))
    assert not found.value.any()
    assert found.thresholds.no_attack == found.thresholds.first_partial == 1


def test_an_attack_that_costs_nothing_has_no_threshold() -> None:
    free = Terms(penalty=0.0, access_cost=0.0, exploit_cost=0.0, discount=1.0)
    assert set(thresholds(free).to_dict().values()) == {None}
    assert policy(free, [100_000]).reidentification[0] == free.prior


def test_decisions_are_those_that_the_value_comes_from() -> None:
    terms = Terms(detection=(0.6, 1.0), penalties=1, prior=0.5, gain=6000.0, penalty=2500.0)
    terms = replace(terms, discount=1.0, exploit_cost=70.0)
    assert decisions(terms, 2).tolist() == [[True, False], [False, True]]


@pytest.mark.parametrize("h1", [0.0, 0.18])
def test_a_belief_of_a_whole_register_is_knowledge(h1: float) -> None:
    """With p = 1 the group is the register: the binomial is certain."""
    terms = Terms(detection=(-4.59, h1), penalties=1)
    known = policy(terms, [20])
    believed = policy(terms, [20], belief=20)
    assert believed.value[0] == pytest.approx(known.value[0], rel=1e-12)
    assert believed.reidentification.tolist() == known.reidentification.tolist()


def test_free_access_is_taken_for_the_least_chance() -> None:
    terms = Terms(access_cost=0.0, penalties=1)
    _, accesses = access_values(terms, 10**6, np.array([0.0, 0.01, 1.0]))
    assert accesses.tolist() == [False, True, False]


def test_only_sizes_that_matter_are_kept() -> None:
    assert len(linked_by_size(Terms(), 10**6)) == 51
    assert len(linked_by_size(Terms(), 10)) == 11


@given(st.integers(1, 300), st.integers(1, 300))
def test_the_first_failing_size_is_found(threshold: int, most: int) -> None:
    found = first_failing(lambda size: size < threshold, most=most)
    assert found == (threshold if threshold <= most else None)


@pytest.mark.parametrize("sizes", [[0], [-1], [1.5], [True], range(5), [3, 0]])
def test_a_group_without_a_size_is_refused(sizes: Any) -> None:
    with pytest.raises(StudyError, match="`sizes`: a group of"):
        policy(Terms(), sizes)


def test_no_size_at_all_is_refused() -> None:
    with pytest.raises(StudyError, match="`sizes` names no size"):
        policy(Terms(), [])


@pytest.mark.parametrize(
    ("belief", "message"),
    [
        (99, "`belief`: a register of 99 holds no group of 100"),
        (0, "`belief` is 0"),
        (2.5, "`belief` is 2.5"),
    ],
)
def test_a_belief_that_cannot_be_is_refused(belief: Any, message: str) -> None:
    with pytest.raises(StudyError, match=message):
        policy(Terms(), range(1, 101), belief=belief)


def test_a_few_sizes_are_solved_without_the_thresholds_that_nobody_asked_for(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    looked_at: list[int] = []

    def noted_plan(terms: Terms, size: int) -> Plans:
        looked_at.append(size)
        return plan(terms, size)

    monkeypatch.setattr(optimal_plan, "plan", noted_plan)
    costly = Terms(exploit_cost=0, penalties=10, penalty=1.0)
    found = policy(costly, range(1, 11))
    assert looked_at == []
    assert found.thresholds.no_attack == thresholds(costly).no_attack
    assert max(looked_at) > 10_000


def test_a_threshold_that_is_refused_refuses_no_sizes() -> None:
    terms = Terms(
        prior=0.01,
        gain=56443,
        access_cost=10,
        exploit_cost=0,
        detection=(-6.07, -0.57),
        penalties=2,
        discount=1,
    )
    found = policy(terms, range(1, 31))
    assert found.value[:3] == pytest.approx([531.37156, 518.383614, 511.02501])
    with pytest.raises(BudgetError, match="falls with every exploit"):
        assert found.thresholds
    with pytest.raises(BudgetError):
        found.to_dict()


def test_too_much_work_is_refused_before_it_begins() -> None:
    free = Terms(penalty=1.0, access_cost=0.0, exploit_cost=0.0, discount=1.0, penalties=10)
    with pytest.raises(BudgetError, match="`sizes`: 1,000,000 group sizes"):
        policy(free, range(1, 1_000_001))
