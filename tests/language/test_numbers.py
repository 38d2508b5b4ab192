"""Numbers are written for people: never as a power of ten, with a true minus sign, as the language writes them."""

from __future__ import annotations

import re
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from glasshouse.language import LANGUAGES, exactly, number, speaking
from glasshouse.report.cells import number_cell
from glasshouse.report.words import money, times

NUMBERS = st.floats(min_value=-1e18, max_value=1e18, allow_nan=False)


@given(NUMBERS, st.sampled_from([",", "g", ".2g", ".6g", ",.4g", "+.3g", ".2f", "+.2f", ",.0f"]))
def test_no_number_is_a_power_of_ten_or_begins_with_a_hyphen(value: float, form: str) -> None:
    for language in LANGUAGES:
        with speaking(language):
            said = number(value if form != "," else round(value), form)
        assert re.fullmatch(r"([<>] )?[+−]?[0-9.,]+", said), said


@given(NUMBERS)
def test_a_rounded_number_is_near_the_true_one(value: float) -> None:
    said = number(value, ".4g")
    if said.startswith(("<", ">")):
        assert abs(value) < 1e-12
        return
    told = float(said.replace(",", "").replace("−", "-"))
    assert told == pytest.approx(value, rel=6e-4)


@given(NUMBERS)
def test_an_exact_number_has_all_its_digits(value: float) -> None:
    said = exactly(value)
    assert "e" not in said
    assert "-" not in said
    assert float(said.replace("−", "-")) == value


@pytest.mark.parametrize(
    ("value", "form", "english", "portuguese"),
    [
        (Fraction(1, 100_000), ".6g", "0.00001", "0,00001"),
        (1_000_000.0, "g", "1,000,000", "1.000.000"),
        (11_250.0, ",.4g", "11,250", "11.250"),
        (-15.67, ".2f", "−15.67", "−15,67"),
        (-4.5, "+.2f", "−4.50", "−4,50"),
        (-0.001, "+.2f", "0.00", "0,00"),
        (99_157.0, ",.4g", "99,157", "99.157"),
    ],
)
def test_numbers_as_people_read_them(
    value: float | Fraction, form: str, english: str, portuguese: str
) -> None:
    assert number(value, form) == english
    with speaking("pt-BR"):
        assert number(value, form) == portuguese


def test_cells_money_and_factors_are_written_so_too() -> None:
    assert number_cell(Fraction(1, 100_000)).text == "0.00001"
    assert number_cell(Fraction(-1, 5)).exact == "−1/5"
    assert money(Fraction(-31, 2), "R$") == "−R$ 15.50"
    assert times(Fraction(1, 10**7)) == "× 0.0000001"
