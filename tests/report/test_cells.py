"""A number is printed the same way in every report: rounded to be read, exact on hover."""

from __future__ import annotations

from fractions import Fraction

from glasshouse.language import speaking
from glasshouse.microdata import Leakage
from glasshouse.report.cells import (
    NOTHING,
    bound_cell,
    factor_cell,
    gain_titles,
    guess_titles,
    leakage_cells,
    number_cell,
    percent_cell,
)


def test_numbers_are_never_rounded_to_one() -> None:
    assert number_cell(Fraction(10**9 - 1, 10**9)).text == "0.999999999"
    assert number_cell(Fraction(1)).text == "1"


def test_where_there_is_no_number_a_dash_stands() -> None:
    assert NOTHING.text == "–"
    for cell in (number_cell, percent_cell, factor_cell, bound_cell):
        assert cell(None) is NOTHING


def test_a_leakage_is_told_in_numbers_or_in_money() -> None:
    leakage = Leakage(Fraction(1, 3), Fraction(1, 2))
    plain, money = leakage_cells(leakage), leakage_cells(leakage, currency="R$")
    assert [cell.text for cell in plain] == ["0.333333", "0.5", "0.166667", "× 1.5"]
    assert [cell.text for cell in money] == ["R$ 0.33", "R$ 0.50", "R$ 0.17", "× 1.5"]
    assert [cell.exact for cell in plain] == [cell.exact for cell in money]
    assert [cell.exact for cell in plain] == ["1/3", "1/2", "1/6", "3/2"]
    assert len(plain) == len(guess_titles()) == len(gain_titles())


def test_a_loss_that_turns_to_a_gain_has_no_factor() -> None:
    assert leakage_cells(Leakage(Fraction(-1, 3), Fraction(1)))[-1] is NOTHING


def test_numbers_are_those_of_the_language() -> None:
    with speaking("pt-BR"):
        assert number_cell(Fraction(1, 3)).text == "0,333333"
        assert percent_cell(Fraction(1, 3)).text == "33,3%"
        assert factor_cell(Fraction(5, 2)).text == "× 2,5"
