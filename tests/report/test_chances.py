"""What is not shown of a picture is summed up."""

from __future__ import annotations

from fractions import Fraction

from glasshouse.report.charts import Shift, rest_of


def test_what_is_shown_and_the_rest_add_up_to_one() -> None:
    shown = [Shift("a", Fraction(1, 2), Fraction(1)), Shift("b", Fraction(1, 3), Fraction(0))]
    shifts = [*shown, rest_of(shown, "others")]
    assert shifts[-1] == ("others", Fraction(1, 6), Fraction(0))
    assert sum(shift.before for shift in shifts) == 1
    assert sum(shift.after for shift in shifts) == 1
