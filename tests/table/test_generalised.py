"""Which released value stands for which true one."""

from __future__ import annotations

from decimal import Decimal

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from glasshouse.errors import DataError
from glasshouse.table import read
from glasshouse.table.generalised import (
    SUPPRESSED,
    Interval,
    as_interval,
    covering,
    covers,
    is_suppressed,
    set_members,
    standing_for,
    stood_for,
)


@pytest.mark.parametrize(
    ("released", "inside", "outside"),
    [
        ("*", ["", "x", "25"], []),
        ("F", ["F"], ["f", "F ", ""]),
        ("13*", ["13", "130", "13053"], ["1", "31", ""]),
        ("130**", ["13053", "130xy"], ["1305", "130530", "13153", "130"]),
        ("***", ["abc"], ["ab", "abcd"]),
        ("[20, 30)", ["20", "29.999", "2.5e1", "020"], ["19.9", "30", "x", ""]),
        ("[20-30[", ["20", "29"], ["30"]),
        ("]20;30]", ["20.1", "30", "30.0"], ["20", "30.01"]),
        ("(20, 30]", ["21", "30"], ["20"]),
        ("[-10--5[", ["-10", "-5.5"], ["-5", "5"]),
        ("(-inf, 20.0]", ["-1e6", "20"], ["20.5"]),
        ("20-29", ["20", "29"], ["19", "29.5", "30"]),
        ("20..29", ["20", "29"], ["30"]),
        ("<20", ["19", "-3"], ["20", "unknown"]),
        ("<=20", ["20"], ["21"]),
        ("≤20", ["20"], ["21"]),
        (">=90", ["90", "1000"], ["89"]),
        ("≥ 90", ["90"], ["89"]),
        (">90", ["90.1"], ["90"]),
        ("90+", ["90", "104"], ["89"]),
        ("{A, B}", ["A", "B"], ["A, B", "C", "A,"]),
        ("A|B|C", ["A", "C"], ["D", "AB"]),
        ("2000-01-01..2000-12-31", ["2000-01-01", "2000-12-31"], ["2001-01-01", "2000", "2000-02-30"]),
        ("[2000-01-01, 2001-01-01)", ["2000-12-31"], ["2001-01-01", "1999-12-31"]),
        (">=2000-01-01", ["2000-01-01", "9999-12-31"], ["1999-12-31", "2001"]),
        # what merely looks like an interval stands for itself only
        ("2000-01", ["2000-01"], ["2000", "1", "500"]),
        ("2000-01-01", ["2000-01-01"], ["2000", "1"]),
        ("2000-13-01..2000-14-01", [], ["2000-12-01", "2000"]),
        ("[2000-01-01, 30]", [], ["25", "2000-01-02"]),
        ("(20, 20)", [], ["20"]),
        ("1-2-3", [], ["1", "2", "3"]),
        ("01234-5678", [], ["02134", "2134", "5000", "01234"]),
        ("1234-05678", [], ["2134"]),
        ("00-04", [], ["0", "2", "02"]),
        ("-05--01", [], ["-3"]),
        # one zero is a number
        ("0-4", ["0", "04", "4"], ["5"]),
        ("0.5-1.5", ["1"], ["2"]),
        ("01..05", ["3"], ["6"]),
        ("[01-05]", ["3"], ["6"]),
    ],
)  # fmt: skip
def test_a_released_value_stands_for_what_it_says(
    released: str, inside: list[str], outside: list[str]
) -> None:
    assert covers(released, released)
    assert [true for true in inside if not covers(released, true)] == []
    assert [true for true in outside if covers(released, true)] == []


@given(
    st.decimals(-50, 50, places=2), st.integers(-50, 50), st.integers(0, 20), st.sampled_from("[]("),
    st.sampled_from("[])"),
)  # fmt: skip
def test_intervals_are_compared_exactly(
    true: Decimal, low: int, width: int, opening: str, closing: str
) -> None:
    high = low + width
    above = low <= true if opening == "[" else low < true
    below = true <= high if closing == "]" else true < high
    assert covers(f"{opening}{low}, {high}{closing}", str(true)) == (above and below)


def test_an_equal_value_wins_then_the_general_then_the_star() -> None:
    released = ["*", "20-29", "25", "3*", "{A, B}"]
    true = ["25", "26", "31", "A", "other"]
    assert covering(true, released).tolist() == [2, 1, 3, 4, 0]
    assert covering(true, released[1:]).tolist() == [1, 0, 2, 3, -1]


def test_where_a_true_value_is_two_numbers_with_a_hyphen_these_are_codes() -> None:
    released = ["12345-6789", "20000-30000", "[1, 9]", "123**-6789", "*"]
    true = ["12345-6789", "20134", "7", "20000-30000", "12355-6789"]
    assert covering(true, released).tolist() == [0, 4, 2, 1, 4]
    assert covering(true[1:3], released).tolist() == [1, 2]
    assert stood_for(true, released[:4]).tolist() == [True, False, True, True, False]
    assert standing_for(true[:2], released).tolist() == [True, False, False, False, True]
    for code in ("12345-6789", " 1-2 ", "01234-5678"):
        assert covers(code, code)
        assert covers("*", code)
        assert not covers("1-99999", code)


RELEASED = st.lists(
    st.sampled_from(["1*", "12**", "3-5", "[5, 7)", "8+", "{4, x}", "*", "6", "x", "2000-01-01"]),
    unique=True,
)
TRUE = st.lists(st.sampled_from(["1", "4", "5", "6", "9", "12", "1234", "x", "y"]), unique=True)


@given(RELEASED, TRUE)
def test_all_that_can_stand_for_a_value_is_asked_one_by_one(
    released: list[str], true: list[str]
) -> None:
    pairs = [[covers(told, value) for told in released] for value in true]
    assert stood_for(true, released).tolist() == [any(row) for row in pairs]
    stands = [any(row[i] for row in pairs) for i in range(len(released))]
    assert standing_for(true, released).tolist() == stands


def test_no_value_at_all_is_stood_for_by_no_value_only() -> None:
    absent = pa.array(["1", None], pa.large_string())
    assert stood_for(absent, ["*"]).tolist() == [True, False]
    assert stood_for(absent, absent[1:]).tolist() == [False, True]
    assert standing_for(["1"], absent).tolist() == [True, False]


def test_columns_of_the_table_are_taken_as_they_are() -> None:
    values = read(pa.table({"zip": ["13053", "14850", ""]})).column("zip").values
    assert covering(values, pa.array(["14850", "13***"])).tolist() == [1, 0, -1]
    assert covering(values, pa.array(["14850"])).tolist() == [-1, 0, -1]
    assert covering(values[:0], pa.array(["*"])).tolist() == []


@pytest.mark.parametrize(
    ("released", "true"),
    [
        (["20-29", "[25, 35)"], "27"),
        (["0-100", "20-29", "30-39"], "35"),
        (["13*", "130**"], "13053"),
        (["A|B", "{B, C}"], "B"),
        (["2*", "20-29"], "25"),
    ],
)
def test_generalisations_that_overlap_are_refused(released: list[str], true: str) -> None:
    with pytest.raises(DataError, match=r"the release holds .* and .* both stand for"):
        covering([true], released)
    assert covering([released[0]], released).tolist() == [0]


@given(
    st.lists(st.sampled_from(["1*", "12**", "3-5", "[5, 7)", "8+", "{4, x}", "*", "6", "x"]), unique=True),
    st.lists(st.sampled_from(["1", "4", "5", "6", "7.5", "9", "12", "1234", "x", "y"]), unique=True),
)  # fmt: skip
def test_finding_all_at_once_equals_asking_one_by_one(released: list[str], true: list[str]) -> None:
    expected = []
    for value in true:
        found = [i for i, own in enumerate(released) if covers(own, value)]
        equal = [i for i in found if released[i] == value]
        special = [i for i in found if released[i] != SUPPRESSED]
        expected.append(equal or special or found or [-1])
    if any(len(found) > 1 for found in expected):
        with pytest.raises(DataError):
            covering(true, released)
    else:
        assert covering(true, released).tolist() == [found[0] for found in expected]


def test_thousands_of_intervals_and_values_are_found_quickly() -> None:
    released = [f"[{10 * i}, {10 * i + 10})" for i in range(5_000)]
    true = np.arange(50_000)
    assert np.array_equal(covering(list(map(str, true)), released), true // 10)


def test_only_records_that_tell_nothing_are_suppressed() -> None:
    table = read(pa.table({"a": ["*", "*", "x"], "b": ["*", "y", "*"], "c": ["x", "x", "x"]}))
    assert is_suppressed(table, ["a", "b"]).tolist() == [True, False, False]
    assert is_suppressed(table, ["b"]).tolist() == [True, False, True]
    assert not is_suppressed(table, ["a", "c"]).any()
    assert not is_suppressed(table, []).any()
    with pytest.raises(DataError, match='column "d" is not in'):
        is_suppressed(table, ["d"])


BRACKETED = st.tuples(
    st.sampled_from("[("), st.integers(0, 4), st.integers(0, 4), st.sampled_from("])")
).map(lambda parts: "{}{}, {}{}".format(*parts))


@given(BRACKETED, BRACKETED)
def test_intervals_overlap_and_contain_each_other_as_their_points_do(one: str, other: str) -> None:
    """Quarters are points enough to tell open from closed ends of whole numbers apart."""
    points = [str(Decimal(quarter) / 4) for quarter in range(17)]
    first, second = as_interval(one), as_interval(other)
    held, others = ({point for point in points if covers(text, point)} for text in (one, other))
    assert (first is None, second is None) == (not held, not others)
    if first is not None and second is not None:
        assert first.overlaps(second) == second.overlaps(first) == bool(held & others)
        assert first.is_within(second) == (held <= others)


def test_numbers_and_days_have_nothing_in_common() -> None:
    days, numbers = as_interval("2000-01-01..2000-12-31"), as_interval("-inf..inf")
    assert days is not None
    assert numbers == Interval.closed(Decimal("-inf"), Decimal("inf"))
    assert days.of_dates
    assert not days.overlaps(numbers)
    assert not days.is_within(numbers)


@pytest.mark.parametrize("released", ["A", "", "*", "13*", "20-29", "<20"])
def test_what_is_no_set_has_no_members(released: str) -> None:
    assert set_members(released) == []


def test_spaces_around_and_within_a_released_value_tell_nothing() -> None:
    assert set_members(" { A,B } ") == set_members("A | B") == ["A", "B"]
    assert as_interval(" 20 - 29 ") == as_interval("[20;29]")
