from __future__ import annotations

import math
from fractions import Fraction

import pytest

from glasshouse.errors import StudyError
from glasshouse.qif import (
    BayesRisk,
    BayesVulnerability,
    Certainty,
    Channel,
    GainFunction,
    GuessingEntropy,
    GVulnerability,
    LRisk,
    PredicateRisk,
    PredicateVulnerability,
    Prior,
    ShannonEntropy,
    Tries,
)

PI = Prior([Fraction(1, 2), Fraction(1, 4), Fraction(1, 8), Fraction(1, 8)], "abcd")
SHOWN, HIDDEN = Channel.identity("abcd"), Channel.no_interference("abcd")


def test_each_measure_of_a_prior_is_its_formula() -> None:
    assert BayesVulnerability().prior(PI) == BayesRisk().prior(PI) == Fraction(1, 2)
    assert Tries(2).prior(PI) == Fraction(3, 4)
    assert ShannonEntropy().prior(PI) == 1.75
    assert GuessingEntropy().prior(PI) == Fraction(15, 8)
    assert Certainty().prior(PI) == 0
    assert Certainty().prior(Prior.dirac("c", labels="abcd")) == 1
    assert PredicateVulnerability(lambda x: x in "bc").prior(PI) == Fraction(5, 8)
    assert PredicateRisk(lambda x: x in "bc").prior(PI) == Fraction(3, 8)


def test_an_uncertainty_leaks_what_is_taken_from_it() -> None:
    assert ShannonEntropy().additive_leakage(PI, SHOWN) == 1.75
    assert GuessingEntropy().multiplicative_leakage(PI, SHOWN) == Fraction(15, 8)
    assert BayesRisk().additive_leakage(PI, SHOWN) == Fraction(1, 2)


def test_a_factor_from_zero_is_infinite_and_of_nothing_to_nothing_is_one() -> None:
    assert Certainty().multiplicative_leakage(PI, SHOWN) == math.inf
    assert Certainty().multiplicative_leakage(PI, HIDDEN) == 1
    assert BayesRisk().multiplicative_leakage(PI, SHOWN) == math.inf
    known = Prior.dirac("a", labels="abcd")
    assert BayesRisk().multiplicative_leakage(known, SHOWN) == 1
    assert ShannonEntropy().multiplicative_leakage(known, SHOWN) == 1


def test_a_factor_of_negative_vulnerabilities_is_refused() -> None:
    losing = GVulnerability(GainFunction([[-1, -1, -1, -2]], secrets="abcd"))
    assert losing.additive_leakage(PI, SHOWN) == 0
    with pytest.raises(StudyError, match="let her abstain"):
        losing.multiplicative_leakage(PI, SHOWN)


def test_a_strategy_is_the_best_decision_for_each_observation_that_can_happen() -> None:
    ages = Channel.deterministic(lambda x: "young" if x in "ab" else "old", inputs="abcd")
    assert BayesVulnerability().strategy(PI, ages) == {"young": "a", "old": "c"}
    assert BayesRisk().strategy(PI, ages) == {"young": "a", "old": "c"}
    assert PredicateVulnerability(lambda x: x == "a").strategy(PI, ages) == {
        "young": True,
        "old": False,
    }
    assert PredicateRisk(lambda x: x == "a").strategy(PI, ages) == {"young": True, "old": False}
    only_a = Prior.dirac("a", labels="abcd")
    assert BayesVulnerability().strategy(only_a, ages) == {"young": "a"}


def test_an_adversary_who_may_lose_does_better_by_abstaining() -> None:
    bet = GainFunction.from_callable(
        lambda guess, secret: 1 if guess == secret else -9, guesses="abcd", secrets="abcd"
    )
    assert GVulnerability(bet).prior(PI) == -4
    careful = GVulnerability(bet.abstaining())
    assert careful.prior(PI) == 0
    assert careful.strategy(PI, HIDDEN) == {0: "abstain"}
    assert careful.posterior(PI, SHOWN) == 1


def test_a_loss_is_minimised() -> None:
    distance = GainFunction.from_callable(
        lambda w, x: abs("abcd".index(w) - "abcd".index(x)), guesses="abcd", secrets="abcd"
    )
    assert LRisk(distance).prior(PI) == Fraction(7, 8)
    assert LRisk(distance).posterior(PI, SHOWN) == 0
    assert LRisk(distance).strategy(PI, HIDDEN) == {0: "a"}


def test_a_gain_function_must_speak_of_the_same_secrets() -> None:
    with pytest.raises(StudyError, match="the gain function and the distribution"):
        GVulnerability(GainFunction.bayes("xyzt")).prior(PI)


def test_there_is_at_least_one_try() -> None:
    with pytest.raises(StudyError, match="1 or more"):
        Tries(0)
