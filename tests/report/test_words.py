"""Numbers are rounded alike everywhere, and what is compared is told apart."""

from __future__ import annotations

from fractions import Fraction

from hypothesis import given
from hypothesis import strategies as st

from glasshouse.language import percentage, rounded, speaking
from glasshouse.report.words import percentage_points, percentages

PROBABILITIES = st.fractions(0, 1, max_denominator=10**4)


def test_halves_are_rounded_up_wherever_sentences_round() -> None:
    assert percentage(Fraction(30_45, 10**4)) == "30.5%"
    assert percentage(Fraction(20_05, 10**4)) == "20.1%"
    assert percentage_points(Fraction(-2_25, 10**4)) == "2.3"


@given(st.integers(-(10**6), 10**6), st.integers(1, 10**4))
def test_rounding_is_to_the_nearest_and_halves_go_up(numerator: int, denominator: int) -> None:
    value = Fraction(numerator, denominator)
    assert -Fraction(1, 2) <= value - rounded(value) < Fraction(1, 2)


def test_percentages_that_are_contrasted_are_told_apart() -> None:
    close = Fraction(30_449, 10**5), Fraction(30_440, 10**5)
    assert percentage(close[0]) == percentage(close[1]) == "30.4%"
    assert percentages(*close) == ("30.45%", "30.44%")
    with speaking("pt-BR"):
        assert percentages(*close) == ("30,45%", "30,44%")
    assert percentages(Fraction(1, 3), Fraction(1, 2)) == ("33.3%", "50.0%")


@given(PROBABILITIES, PROBABILITIES)
def test_two_percentages_are_the_same_only_if_they_are(one: Fraction, other: Fraction) -> None:
    said = percentages(one, other)
    if abs(one - other) > Fraction(2, 10**6):
        assert said[0] != said[1]
    if one == other:
        assert said == (percentage(one), percentage(other))
