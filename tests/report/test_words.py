"""Numbers are rounded alike everywhere, and what is compared is told apart."""

from __future__ import annotations

from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from glasshouse.language import speaking
from glasshouse.report.words import (
    frequencies,
    frequency,
    frequency_range,
    percentage,
    percentage_points,
    percentages,
    rounded,
)

PROBABILITIES = st.fractions(0, 1, max_denominator=10**4)


@pytest.mark.parametrize(
    ("thousandths", "said"),
    [(305, "31 of every 100"), (965, "97 of every 100"), (175, "18 of every 100")],
)
def test_halves_are_rounded_up_in_frequencies(thousandths: int, said: str) -> None:
    assert frequency(Fraction(thousandths, 1000)) == said


def test_halves_are_rounded_up_wherever_sentences_round() -> None:
    assert percentage(Fraction(30_45, 10**4)) == "30.5%"
    assert percentage(Fraction(20_05, 10**4)) == "20.1%"
    assert percentage_points(Fraction(-2_25, 10**4)) == "2.3"
    assert frequency_range(Fraction(45, 1000), Fraction(865, 1000)) == "5 to 87 of every 100"


@given(st.integers(-(10**6), 10**6), st.integers(1, 10**4))
def test_rounding_is_to_the_nearest_and_halves_go_up(numerator: int, denominator: int) -> None:
    value = Fraction(numerator, denominator)
    assert -Fraction(1, 2) <= value - rounded(value) < Fraction(1, 2)


def test_frequencies_that_are_contrasted_are_told_apart() -> None:
    close = Fraction(3049, 10**4), Fraction(3010, 10**4)
    assert frequency(close[0]) == frequency(close[1]) == "30 of every 100"
    assert frequencies(*close) == ("305 of every 1,000", "301 of every 1,000")
    with speaking("pt-BR"):
        assert frequencies(*close) == ("305 em cada 1.000", "301 em cada 1.000")
    assert frequencies(Fraction(1, 32561), *close)[0] == "1 of every 32,561"
    assert percentages(Fraction(1, 3), Fraction(1, 2)) == ("33.3%", "50.0%")


def test_frequencies_that_are_far_apart_are_said_as_each_by_itself() -> None:
    assert frequencies(Fraction(1, 4), Fraction(0), Fraction(1)) == (
        "25 of every 100",
        "none",
        "all",
    )


def test_what_differs_by_less_than_one_in_a_million_is_said_alike() -> None:
    assert frequencies(Fraction(1, 2), Fraction(1, 2) + Fraction(1, 10**8)) == (
        "50 of every 100",
        "50 of every 100",
    )


@given(PROBABILITIES, PROBABILITIES)
def test_two_frequencies_are_the_same_only_if_they_are(one: Fraction, other: Fraction) -> None:
    said = frequencies(one, other)
    if abs(one - other) > Fraction(2, 10**6):
        assert said[0] != said[1]
    if one == other:
        assert said == (frequency(one), frequency(other))
