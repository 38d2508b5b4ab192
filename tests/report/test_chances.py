"""Chances are said so that they can be compared; what is not shown is summed up."""

from __future__ import annotations

from fractions import Fraction

import pytest

from glasshouse.report.charts import Shift, rest_of
from glasshouse.report.words import frequency_range


@pytest.mark.parametrize(
    ("low", "high", "said"),
    [
        (Fraction(6, 100), Fraction(8, 100), "6 to 8 of every 100"),
        (Fraction(6, 100), Fraction(600001, 10**7), "6 of every 100"),
        (Fraction(23, 10**4), Fraction(37, 10**4), "23 of every 10,000 to 37 of every 10,000"),
        (Fraction(1, 250), Fraction(1), "1 of every 250 to all"),
    ],
)
def test_two_frequencies_are_said_with_their_base_once(
    low: Fraction, high: Fraction, said: str
) -> None:
    assert frequency_range(low, high) == said


def test_what_is_shown_and_the_rest_add_up_to_one() -> None:
    shown = [Shift("a", Fraction(1, 2), Fraction(1)), Shift("b", Fraction(1, 3), Fraction(0))]
    shifts = [*shown, rest_of(shown, "others")]
    assert shifts[-1] == ("others", Fraction(1, 6), Fraction(0))
    assert sum(shift.before for shift in shifts) == 1
    assert sum(shift.after for shift in shifts) == 1
