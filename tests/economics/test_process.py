"""The process as published, and the fast method against its linear programme: thousands of random processes."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

from glasshouse.economics import Terms, policy
from glasshouse.errors import BudgetError, SolverError, StudyError
from tests.economics import process as process_module
from tests.economics.drawing import random_terms
from tests.economics.process import (
    ACCESS,
    BEGIN,
    EXPLOIT,
    LINK,
    TERMINATE,
    TERMINATED,
    AttackState,
    Choice,
    Process,
    accessed,
    attack_process,
    by_linear_programme,
    by_value_iteration,
    linked,
)

SIZES = range(1, 9)


def succeeded(state: Any) -> bool:
    return isinstance(state, AttackState) and state.succeeded


@pytest.mark.parametrize("seed", range(8))
def test_the_fast_method_equals_the_linear_programme(seed: int) -> None:
    """Of 320 random terms all sizes up to 8, each a process of its own, and the belief over them."""
    rng = np.random.default_rng(seed)
    for _ in range(40):
        terms = random_terms(rng)
        belief = rng.dirichlet(np.ones(len(SIZES) + 1)).tolist()
        process = attack_process(terms, dict(enumerate(belief)))
        solved = by_linear_programme(process)
        found = policy(terms, SIZES)
        for size, value in zip(SIZES, found.value_after_access.tolist(), strict=True):
            assert solved.values[linked(size)] == pytest.approx(value, rel=1e-8, abs=1e-8)
        after = terms.discount * found.value_after_access - terms.link_cost
        expected = float(np.array(belief[1:]) @ np.maximum(after, 0))
        value = max(0.0, -terms.access_cost + terms.discount * expected)
        assert solved.values[BEGIN] == pytest.approx(value, rel=1e-8, abs=1e-8)


@pytest.mark.parametrize("seed", range(40))
def test_value_iteration_and_the_markov_chain_agree_with_the_fast_method(seed: int) -> None:
    rng = np.random.default_rng(1_000 + seed)
    terms = random_terms(rng)
    size = int(rng.integers(1, 12))
    solved = by_value_iteration(attack_process(terms, {size: 1.0}))
    found = policy(terms, [size])
    assert solved.values[linked(size)] == pytest.approx(found.value_after_access[0], abs=1e-8)
    assert solved.values[BEGIN] == pytest.approx(found.value[0], abs=1e-8)
    chance = solved.chance(BEGIN, succeeded)
    assert chance == pytest.approx(found.reidentification[0], abs=1e-9)
    after = solved.chance(accessed(size), succeeded)
    assert after == pytest.approx(found.reidentification_after_access[0], abs=1e-9)


def test_the_states_and_choices_are_those_of_the_publication() -> None:
    terms = Terms(penalties=1, link_cost=5.0)
    process = attack_process(terms, {1: 0.5, 2: 0.5})

    def offered(state: AttackState) -> dict[str, float]:
        return {choice.action: choice.reward for choice in process.choices[state]}

    assert offered(BEGIN) == {TERMINATE: 0.0, ACCESS: -100.0}
    assert offered(accessed(2)) == {TERMINATE: 0.0, LINK: -5.0}
    assert offered(linked(2)) == {TERMINATE: 0.0, EXPLOIT: -10.0}
    assert process.choices[TERMINATED] == ()
    caught = linked(2)._replace(detected=True, remaining=1)
    assert offered(caught) == {TERMINATE: -10_000.0, EXPLOIT: -10_010.0}
    lucky = caught._replace(succeeded=True)
    assert offered(lucky) == {TERMINATE: -2_000.0}
    assert lucky.exploited == 1
    again = caught._replace(penalised=1, remaining=0)
    assert offered(again) == {TERMINATE: 0.0}
    exploit = process.choices[linked(2)][1]
    success = 1 / ((1 - terms.prior) / terms.prior * 2 + 2)
    assert sum(p for s, p in exploit.outcomes.items() if succeeded(s)) == pytest.approx(success)


def test_a_custom_process_with_a_circle_is_solved_by_both() -> None:
    """Work or rest: a machine that breaks now and then is repaired at a price."""
    process = Process(
        {
            "whole": (
                Choice("rest", 1.0, {"whole": 1.0}),
                Choice("work", 5.0, {"whole": 0.7, "broken": 0.3}),
            ),
            "broken": (
                Choice("give up", 0.0, {"end": 1.0}),
                Choice("repair", -6.0, {"whole": 1.0}),
            ),
            "end": (),
        },
        discount=0.9,
    )
    one, other = by_linear_programme(process), by_value_iteration(process)
    whole = (5 - 0.27 * 6) / (1 - 0.63 - 0.27 * 0.9)
    assert one.values["whole"] == pytest.approx(whole, rel=1e-9)
    assert other.values["whole"] == pytest.approx(whole, rel=1e-9)
    assert one.actions == other.actions == {"whole": "work", "broken": "repair", "end": None}
    with pytest.raises(SolverError, match="round in circles"):
        one.chance("whole", lambda state: state == "end")


def test_of_equally_good_choices_the_first_is_taken() -> None:
    process = Process(
        {0: (Choice("stop", 0.0, {1: 1.0}), Choice("go", 0.0, {1: 1.0})), 1: ()}, discount=1.0
    )
    assert by_linear_programme(process).actions[0] == "stop"
    assert by_value_iteration(process).actions[0] == "stop"


def test_a_process_of_ends_is_worth_nothing() -> None:
    assert by_linear_programme(Process({"end": ()}, discount=1.0)).values == {"end": 0.0}
    assert by_value_iteration(Process({"end": ()}, discount=1.0)).values == {"end": 0.0}


def test_a_process_without_a_finite_value_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(process_module, "_MOST_SWEEPS", 100)
    endless = Process({0: (Choice("earn", 1.0, {0: 1.0}),)}, discount=1.0)
    with pytest.raises(SolverError, match="no finite solution"):
        by_linear_programme(endless)
    with pytest.raises(SolverError, match="did not settle"):
        by_value_iteration(endless)


@pytest.mark.parametrize(
    ("choice", "message"),
    [
        (Choice("go", 0.0, {"nowhere": 1.0}), "no state of the process"),
        (Choice("go", 0.0, {"a": 0.5}), "add up to 0.5"),
        (Choice("go", 0.0, {"a": 1.5}), "with probability 1.5"),
        (Choice("go", math.nan, {"a": 1.0}), "the reward nan"),
    ],
)
def test_a_choice_that_makes_no_sense_is_refused(choice: Choice, message: str) -> None:
    with pytest.raises(StudyError, match=message):
        Process({"a": (choice,)}, discount=0.5)


@pytest.mark.parametrize("discount", [0.0, 1.5])
def test_a_discount_that_makes_no_sense_is_refused(discount: float) -> None:
    with pytest.raises(StudyError, match="--discount"):
        Process({"a": ()}, discount=discount)


def test_a_belief_that_is_no_distribution_is_refused() -> None:
    with pytest.raises(StudyError, match=r"add up to 0\.5"):
        attack_process(Terms(), {3: 0.5})
    with pytest.raises(StudyError, match="`sizes`"):
        attack_process(Terms(), {-1: 1.0})


def test_a_process_that_is_too_large_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(process_module, "MOST_STATES", 50)
    with pytest.raises(BudgetError, match="more than 50 states"):
        attack_process(Terms(), {30: 1.0})
