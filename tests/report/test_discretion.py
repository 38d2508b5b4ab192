"""Few people are not counted in a report, nor by way of a chance."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import fields, is_dataclass
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from glasshouse.disclosure import SMALLEST_CELL, show_cells_from
from glasshouse.microdata import Leakage
from glasshouse.report.discretion import (
    EXACTLY,
    ROUGHLY,
    Among,
    Discretion,
    ToldPart,
    both_percentages,
    change_told,
    one_of_few,
    what_is_left_out,
)
from glasshouse.report.page import Cell


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


def test_of_few_people_it_is_told_only_whether_two_in_three() -> None:
    few = Among(None)
    assert few.cell(Fraction(1, 100)) == few.cell(Fraction(5, 8)) == Cell("< 66.7%")
    assert few.cell(Fraction(2, 3)) == few.cell(Fraction(99, 100)) == Cell("> 60.0%")
    assert few.percentage(Fraction(99, 100)) == "more than 60.0%"
    assert few.ratio(Fraction(1, 3)) == "less than 0.666667 (2/3)"
    assert few.ratio(Fraction(1)) == "1"
    assert both_percentages((few, Fraction(2, 3)), (Among(80), Fraction(1, 2))) == (
        "more than 60.0%",
        "50.0%",
    )
    assert both_percentages((EXACTLY, Fraction(1, 3000)), (EXACTLY, Fraction(1, 3))) == (
        "less than 0.1%",
        "33.3%",
    )
    assert Among(9).percentage(Fraction(1, 9)) == "a share that is not shown"
    assert Among(9).cell(Fraction(8, 9)).text == Among(9).ratio(Fraction(1, 2)) == "not shown"


@given(st.integers(1, 40), st.data())
def test_what_is_told_of_what_is_told_is_the_same(whole: int, data: st.DataObject) -> None:
    part = data.draw(st.integers(0, whole))
    for among in (Among(None), Among(whole), Among(whole, certainty=False)):
        probability = Fraction(part, whole)
        low, high = among.bounds(probability)
        assert low <= probability <= high
        assert among.bounds(among.drawn(probability)) == (low, high)


def held_by(thing: object) -> Iterator[object]:
    """Yield everything that is in what is told."""
    yield thing
    if is_dataclass(thing) and not isinstance(thing, type):
        for field in fields(thing):
            yield from held_by(getattr(thing, field.name))
    elif isinstance(thing, tuple | list):
        for entry in thing:
            yield from held_by(entry)


def test_what_is_told_holds_no_fraction_and_looks_alike_for_all_counts_that_must() -> None:
    chances = {Fraction(part, people) for people in range(2, 10) for part in range(1, people)}
    among_few = {
        chance: change_told(Leakage(Fraction(1, 2), chance), EXACTLY, ROUGHLY) for chance in chances
    }
    assert not any(
        isinstance(one, Fraction) for told in among_few.values() for one in held_by(told)
    )
    for alike in (
        [told for chance, told in among_few.items() if chance < Fraction(2, 3)],
        [told for chance, told in among_few.items() if chance >= Fraction(2, 3)],
    ):
        assert len(set(alike)) == 1
        assert not alike[0].is_exact
        assert alike[0].arrow == ""
    assert not among_few[Fraction(1, 2)].hardly, "that it did not change is not told either"
    sure = change_told(Leakage(Fraction(1, 2), Fraction(1)), EXACTLY, ROUGHLY)
    assert (sure.arrow, sure.rises) == ("50.0% → 100%", True), "certainty is told"


def test_where_less_is_told_of_one_of_both_neither_sum_nor_factor_is() -> None:
    exact = change_told(Leakage(Fraction(1, 50), Fraction(1, 3)), EXACTLY, EXACTLY)
    bounded = exact.between(None, one_of_few())
    assert exact.between(None, None) is exact
    assert [cell.text for cell in bounded.cells] == ["0.02", "more than 10.0%", "–", "–"]
    assert bounded.words == ("more than 10.0%", "2.0%")
    assert bounded.figure == "exactly more than 10.0%; before, 0.02 (1/50)"
    assert (bounded.arrow, bounded.is_exact) == ("", False)


def test_a_part_of_few_people_is_the_same_whatever_their_number() -> None:
    few = {ToldPart.of(count, 400) for count in range(1, 10)}
    assert few == {ToldPart("fewer than 10", "fewer than 10", 0.0, 9, is_exact=False)}
    assert ToldPart.of(0, 400).share == "0%"
    assert ToldPart.of(10, 400) == ToldPart("10", "2.5%", 2.5, 10, is_exact=True)
