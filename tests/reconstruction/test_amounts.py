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
