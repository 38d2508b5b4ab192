"""Numbers are read exactly, and what is wrong with one is said."""

from __future__ import annotations

from decimal import Decimal

import numpy as np
import pyarrow as pa
from hypothesis import given
from hypothesis import strategies as st

from glasshouse.reconstruction.publications import FAULTS, amounts


@given(
    texts=st.lists(
        st.one_of(
            st.decimals(min_value=-(10**12), max_value=10**12, places=3).map(str),
            st.text(alphabet="0123456789.,+- e", max_size=8),
        ),
        max_size=8,
    )
)
def test_amounts_are_what_decimal_says(texts: list[str]) -> None:
    units, faults = amounts(pa.array(texts, pa.string()), decimals=2)
    for text, unit, fault in zip(texts, units.tolist(), faults.tolist(), strict=True):
        assert (unit, FAULTS[fault]) == expected_amount(text.strip(" "))


def expected_amount(text: str) -> tuple[int, str]:
    if not text:
        return 0, "missing"
    plain = text[1:] if text[0] in "+-" else text
    if not plain.replace(".", "", 1).isdigit():
        return 0, "no number"
    number = Decimal(plain) * 100
    if number != int(number):
        return 0, "too many decimals"
    return (0, "negative") if text[0] == "-" and number else (int(number), "")


def test_numbers_may_have_a_decimal_comma() -> None:
    units, faults = amounts(pa.array(["1,5", "1.5"]), decimals=2, decimal_comma=True)
    assert units.tolist() == [150, 0]
    assert [FAULTS[code] for code in faults] == ["", "no number"]


def test_the_largest_numbers_are_told_from_those_too_large() -> None:
    units, faults = amounts(pa.array([str(2**62 - 1), str(2**62), "9" * 40]), decimals=0)
    assert units[0] == 2**62 - 1
    assert [FAULTS[code] for code in faults] == ["", "too large", "too large"]
    assert np.array_equal(units[1:], [0, 0])


@given(number=st.decimals(min_value=0, max_value=10**12, places=2), form=st.sampled_from(".,' "))
def test_numbers_with_separators_between_thousands_are_what_decimal_says(
    number: Decimal, form: str
) -> None:
    comma = form == "."
    written = f"{number:,}".replace(".", "!").replace(",", form).replace("!", "," if comma else ".")
    texts = pa.array([written, f"-{written}"])
    units, faults = amounts(texts, decimals=2, decimal_comma=comma, thousands=form)
    assert (units[0], faults[0]) == (int(number * 100), 0)
    assert FAULTS[faults[1]] == ("negative" if number else "")


def test_what_is_not_between_groups_of_three_separates_no_thousands() -> None:
    texts = ["1.234,5", "12.34", "1234.567", "1.234.5", ".123", "1.2345", "1.234.567", "1234"]
    _, faults = amounts(pa.array(texts), decimals=2, decimal_comma=True, thousands=".")
    read = [text for text, fault in zip(texts, faults, strict=True) if not fault]
    assert read == ["1.234,5", "1.234.567", "1234"]


def test_what_is_held_back_is_told_from_what_is_wrong() -> None:
    texts = [" x ", "-", "", "0", "y"]
    _, faults = amounts(pa.array(texts), decimals=0, marks=("x", "-"))
    assert [FAULTS[code] for code in faults] == [
        "suppressed",
        "suppressed",
        "missing",
        "",
        "no number",
    ]
    _, faults = amounts(pa.array(texts), decimals=0, marks=("", "0"))
    assert [FAULTS[code] for code in faults][2:4] == ["suppressed", "suppressed"]
