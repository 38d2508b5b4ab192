"""What is not shown of a picture is summed up."""

from __future__ import annotations

from fractions import Fraction

from glasshouse.microdata import Leakage
from glasshouse.report.charts import rest_of


def test_what_is_shown_and_the_rest_add_up_to_one() -> None:
    shown = [Leakage(Fraction(1, 2), Fraction(1)), Leakage(Fraction(1, 3), Fraction(0))]
    chances = [*shown, rest_of(shown)]
    assert chances[-1] == Leakage(Fraction(1, 6), Fraction(0))
    assert sum(chance.prior for chance in chances) == 1
    assert sum(chance.posterior for chance in chances) == 1
