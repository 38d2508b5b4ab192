"""Few people are not counted in a report, nor by way of a chance."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from glasshouse.disclosure import SMALLEST_CELL, show_cells_from
from glasshouse.report.discretion import Discretion, Told, what_is_left_out


@pytest.fixture
def smallest_is_three() -> Iterator[None]:
    show_cells_from(3)
    yield
    show_cells_from(SMALLEST_CELL)


def test_small_numbers_are_hidden_but_for_none() -> None:
    shown = [count for count in range(12) if not Discretion().hides(count)]
    assert shown == [0, 10, 11]
    assert not any(map(Discretion(exact=True).hides, range(12)))
    assert Discretion().hides(Fraction(1, 2))
    assert Discretion().hides(Fraction(99, 10))
    assert Discretion().people(12, "person") == "12 people"


@pytest.mark.usefixtures("smallest_is_three")
def test_the_threshold_is_configurable() -> None:
    assert Discretion().people(2, "person") == "fewer than 3 people"
    assert Discretion().people(3, "person") == "3 people"
    assert "below 3" in what_is_left_out("glasshouse target --json")[0]


def test_a_chance_among_few_is_told_in_tenths() -> None:
    told = Told(rough=True)
    assert told.cell(Fraction(1, 100)).text == "< 10 %"
    assert told.cell(Fraction(99, 100)).text == "> 90 %"
    assert told.chance(Fraction(99, 100)) == "more than 9 in 10"
    assert told.chances(Fraction(2, 3), Fraction(1, 8)) == ("about 7 in 10", "1 in 8")
    assert told.ratio(Fraction(1, 3)) == "about 3 in 10"
    assert told.ratio(Fraction(1)) == "1"


@given(st.integers(1, SMALLEST_CELL - 1), st.data())
def test_no_rough_figure_tells_its_ratio(whole: int, data: st.DataObject) -> None:
    part = data.draw(st.integers(0, whole))
    told, probability = Told(rough=True), Fraction(part, whole)
    cell = told.cell(probability)
    if probability in (0, 1):
        assert cell.text in ("0 %", "100 %")
        return
    assert cell.exact is None
    tenths = 10 * told.shift("a", Fraction(0), probability).after
    assert abs(tenths - 10 * probability) <= Fraction(1, 2)
    assert tenths.denominator <= 2
