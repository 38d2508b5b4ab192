from __future__ import annotations

import math
from fractions import Fraction

import pytest

from glasshouse.errors import BudgetError, SolverError
from glasshouse.qif import (
    Channel,
    Prior,
    additive_bayes_capacity,
    additive_bayes_capacity_bound,
    additive_capacity,
    bayes_risk_capacity,
    multiplicative_bayes_capacity,
    predicate_capacity,
    shannon_capacity,
    spanning_additive_capacity,
)

FLIP = Channel([[Fraction(3, 4), Fraction(1, 4)], [Fraction(1, 4), Fraction(3, 4)]])


def test_nothing_shown_has_no_capacity() -> None:
    nothing = Channel.no_interference("abc")
    uniform = Prior.uniform("abc")
    assert multiplicative_bayes_capacity(nothing) == bayes_risk_capacity(nothing).value == 1
    assert additive_capacity(uniform, nothing) == spanning_additive_capacity(uniform, nothing) == 0
    assert additive_bayes_capacity(nothing).value == additive_bayes_capacity_bound(nothing) == 0
    assert shannon_capacity(nothing).upper == 0


def test_a_deterministic_channel_has_as_capacity_the_number_of_its_observations() -> None:
    channel = Channel.deterministic(lambda x: x % 3, inputs=range(10))
    assert multiplicative_bayes_capacity(channel) == 3
    assert shannon_capacity(channel).lower == pytest.approx(math.log2(3))
    assert additive_bayes_capacity(channel).value == Fraction(2, 3)
    assert additive_bayes_capacity(channel).prior.support == (0, 1, 2)


def test_the_binary_symmetric_channel_has_its_textbook_capacities() -> None:
    entropy = -0.75 * math.log2(0.75) - 0.25 * math.log2(0.25)
    assert shannon_capacity(FLIP).lower == pytest.approx(1 - entropy, abs=1e-6)
    assert multiplicative_bayes_capacity(FLIP) == Fraction(3, 2)
    assert additive_bayes_capacity(FLIP).value == Fraction(1, 4)
    assert bayes_risk_capacity(FLIP).value == 2


def test_the_z_channel_has_a_capacity_of_log_five_quarters() -> None:
    # Cover and Thomas (2006), exercise 7.8: log2(5) − 2 bits, at probability 2/5 of the noisy input.
    capacity = shannon_capacity(Channel([[1, 0], [Fraction(1, 2), Fraction(1, 2)]]), gap=1e-9)
    assert capacity.lower - 1e-15 <= math.log2(5) - 2 <= capacity.upper
    assert capacity.prior[1] == pytest.approx(0.4, abs=1e-3)


def test_shannon_capacity_that_is_not_reached_says_how_far_it_got() -> None:
    with pytest.raises(SolverError, match="only known to be between"):
        shannon_capacity(Channel([[0.9, 0.1], [0.5, 0.5]]), gap=1e-12, max_iterations=3)


def test_additive_capacity_depends_only_on_the_support_of_the_prior() -> None:
    assert additive_capacity(Prior([Fraction(1, 10), Fraction(9, 10)]), FLIP) == Fraction(1, 2)
    assert additive_capacity(Prior([0, 1]), FLIP) == 0


def test_too_many_secrets_for_the_exact_additive_bayes_capacity_are_refused() -> None:
    with pytest.raises(BudgetError, match="additive_bayes_capacity_bound"):
        additive_bayes_capacity(Channel.identity(range(17)))


def test_as_many_secrets_as_are_allowed_are_tried(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("glasshouse.qif.capacity.MAX_ENUMERATED_SECRETS", 3)
    assert additive_bayes_capacity(Channel.identity("abc")).value == Fraction(2, 3)
    with pytest.raises(BudgetError, match="4 are more than 3"):
        additive_bayes_capacity(Channel.identity("abcd"))


def test_a_property_that_all_secrets_share_cannot_leak() -> None:
    assert predicate_capacity(FLIP, predicate=lambda _: True).value == 1
