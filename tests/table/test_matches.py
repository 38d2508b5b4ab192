"""Which released values can stand for what is known, and what is said where none can."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from glasshouse.errors import DataError, StudyError
from glasshouse.study import parse_condition
from glasshouse.table import EncodedColumn, EncodedTable, read
from glasshouse.table.generalised import covers
from glasshouse.table.matches import (
    column_known,
    fitting_without_one,
    may_fit,
    people_behind,
    records_fitting,
    records_that_may_fit,
)


def column(values: Sequence[str | None], codes: Sequence[int] | None = None) -> EncodedColumn:
    given_codes = np.arange(len(values)) if codes is None else np.array(codes)
    return EncodedColumn("c", given_codes.astype(np.uint8), pa.array(values, pa.large_string()))


def fits(values: Sequence[str | None], condition: str) -> list[str | None]:
    own = column(values)
    marks = may_fit(own, parse_condition(condition))
    return [value for value, mark in zip(values, marks, strict=True) if mark]


@pytest.mark.parametrize(
    ("released", "known", "fit"),
    [
        (["33", "34", "35"], "c=34", ["34"]),
        (["34", "034", "34.0"], "c=34", ["34"]),
        (["30-39", "40-49"], "c=34", ["30-39"]),
        (["30-39", "34", "*", "3*", "35"], "c=34", ["30-39", "34", "*", "3*"]),
        (["30-39", "40+", "*"], "c=34", ["30-39", "*"]),
        (["30-39", "40+", "*"], "c=20", ["*"]),
        (["[30, 40)", "[20, 35)", "[40, 50)"], "c=34", ["[30, 40)", "[20, 35)"]),
        (["130**", "131**", "13*"], "c=13053", ["130**", "13*"]),
        (["{A, B}", "C|D", "E"], "c=A", ["{A, B}"]),
        (["A", "B|C", "D"], "c=A,C,X", ["A", "B|C"]),
        (["A", "B", "*"], "c=A,C", ["A", "*"]),
        (["A", ""], "c=", [""]),
        (["A", None], "c=A", ["A"]),
        (["A", None], "c=", []),
        (["01234-5678", "02134"], "c=02134", ["02134"]),
        (["01234-5678", "02134", "*"], "c=01234-5678", ["01234-5678", "*"]),
    ],
)
def test_an_exact_value_is_stood_for_by_all_that_is_equal_or_covers_it(
    released: list[str | None], known: str, fit: list[str | None]
) -> None:
    assert fits(released, known) == fit


@pytest.mark.parametrize(
    ("released", "known", "fit"),
    [
        (["17", "18", "65", "65.5", "", "old"], "c=18..65", ["18", "65"]),
        (["10-17", "18-29", "60-70", "71+", "*"], "c=18..65", ["18-29", "60-70", "*"]),
        (["[10, 20)", "[20, 30)", "(30, 40]"], "c=20..30", ["[20, 30)"]),
        (["(20, 30)", "(30, 40)"], "c=20..30", ["(20, 30)"]),
        (["<20", ">=90", "50"], "c=65..", [">=90"]),
        (["<20", ">=90", "50"], "c=..50", ["<20", "50"]),
        (["{17, 18}", "66|67", "a|b"], "c=18..65", ["{17, 18}"]),
        (["130**", "131**"], "c=13050..13060", ["130**"]),
        (["13*", "14*"], "c=1399..1400", ["13*", "14*"]),
        (["2000-01-01..2000-06-30", "2000-07-01..2000-12-31"], "c=2000-06-30..2000-06-30", None),
        (["2000-06-30", "2000-07-01", "5"], "c=2000-07-01..", ["2000-07-01"]),
        (["1990..2010"], "c=2000-01-01..", []),
        (["5", None], "c=0..9", ["5"]),
    ],
)
def test_an_interval_is_met_by_what_overlaps_it(
    released: list[str | None], known: str, fit: list[str | None] | None
) -> None:
    assert fits(released, known) == (released[:1] if fit is None else fit)


@pytest.mark.parametrize(
    ("released", "known", "fit"),
    [
        (["A", "B", "", "*", None], "c!=A", ["B", "", "*", None]),
        (["20-29", "25"], "c!=25", ["20-29"]),
        (
            ["[34, 34]", "34-34", "34..34", "34-35", "[33, 34)", "{34}"],
            "c!=34",
            ["34-35", "[33, 34)"],
        ),
        (["34..34", "35-35", "36-36", "34-35"], "c!=34.0,35", ["36-36", "34-35"]),
        (["2000-01-01..2000-01-01", "34-34"], "c!=2000-01-01", ["34-34"]),
        (["34-34", "[34, 34]"], "c!=34,12-56", ["34-34"]),
        (["A|B", "B|C"], "c!=A,B", ["B|C"]),
        (["18", "70", "20-29", "60-70", "{20, 30}", None], "c!=18..65", ["70", "60-70", None]),
        (["2000-01-01", "1999-12-31..2000-01-05"], "c!=2000-01-01..", ["1999-12-31..2000-01-05"]),
        (["20-29", "x"], "c!=2000-01-01..", ["20-29", "x"]),
        (["13*"], "c!=13..13", ["13*"]),
    ],
)
def test_a_negated_condition_is_met_by_all_that_is_not_wholly_ruled_out(
    released: list[str | None], known: str, fit: list[str | None]
) -> None:
    assert fits(released, known) == fit


ENDS = st.tuples(st.integers(0, 12), st.integers(0, 12)).map(sorted)


@given(st.lists(ENDS, min_size=1, max_size=5), ENDS, st.booleans())
def test_released_intervals_against_every_whole_number(
    released: list[list[int]], known: list[int], negated: bool
) -> None:
    """A released interval of whole numbers fits exactly if one of its numbers meets the condition."""
    condition = parse_condition(f"c{'!' if negated else ''}={known[0]}..{known[1]}")
    texts = list(dict.fromkeys(f"{low}..{high}" for low, high in released))
    marks = may_fit(column(texts), condition)
    for text, mark in zip(texts, marks, strict=True):
        low, high = map(int, text.split(".."))
        possible = [known[0] <= number <= known[1] for number in range(low, high + 1)]
        assert mark == (not all(possible) if negated else any(possible))


@pytest.mark.parametrize(
    ("released", "known", "message"),
    [
        (
            ["20", "33", "35", "90"],
            "c=34",
            'the value "34" does not occur in column "c" of people.csv: zero candidates; '
            'the nearest values are "33", "35", "20"',
        ),
        (
            ["2000-01-01", "2000-02-01", "7"],
            "c=2000-01-20",
            'the value "2000-01-20" does not occur in column "c" of people.csv: zero candidates; '
            'the nearest values are "2000-02-01", "2000-01-01"',
        ),
        (
            ["Recife", "Natal", "Belo Horizonte", "Manaus"],
            "c=recife",
            'the value "recife" does not occur in column "c" of people.csv: zero candidates; '
            'the nearest values are "Recife"',
        ),
        (
            ["F", "M"],
            "c=x,y",
            'none of the values "x", "y" occurs in column "c" of people.csv: zero candidates; '
            'the nearest values are "F", "M"',
        ),
        (
            ["a", "b", "c", "d"],
            "c=xyz",
            'the value "xyz" does not occur in column "c" of people.csv: zero candidates',
        ),
        (
            ["18", "90", "", "2000-01-01"],
            "c=200..300",
            'no value of column "c" of people.csv lies in 200..300: zero candidates; '
            "its values run from 18 to 90",
        ),
        (
            ["F", "M"],
            "c=200..",
            'no value of column "c" of people.csv lies in 200..: zero candidates; '
            "it holds no numbers or dates",
        ),
        (
            ["F"],
            "c!=F",
            'no value of column "c" of people.csv is other than "F": zero candidates',
        ),
    ],
)
def test_where_nothing_fits_the_nearest_values_are_named(
    released: list[str], known: str, message: str
) -> None:
    table = read(pa.table({"c": released}), name="people.csv")
    with pytest.raises(DataError) as raised:
        records_fitting(table, [parse_condition(known)])
    assert str(raised.value) == message


def test_a_value_that_no_record_has_any_more_does_not_occur() -> None:
    table = read(pa.table({"c": ["34", "35", "40"]}), name="people.csv").of_records(
        np.array([1, 2])
    )
    with pytest.raises(DataError, match=r'"34" does not occur .* nearest values are "35", "40"$'):
        records_fitting(table, [parse_condition("c=34")])
    assert not records_that_may_fit(table, [parse_condition("c=34")]).any()


def test_records_fit_all_conditions_together() -> None:
    table = read(pa.table({"age": [20, 30, 30, 40], "sex": list("FFMM")}))
    conditions = [parse_condition("age=25.."), parse_condition("sex!=F")]
    assert records_fitting(table, conditions).tolist() == [False, False, True, True]
    assert records_fitting(table, []).all()


def test_the_fact_that_may_be_mistaken_is_the_one_without_which_records_fit() -> None:
    table = read(pa.table({"age": [20, 20, 30], "sex": list("FFM"), "state": ["SP", "RJ", "SP"]}))
    conditions = [parse_condition(text) for text in ("age=20", "sex=M", "state=SP")]
    assert fitting_without_one(table, conditions) == [1, 1, 0]


def test_a_focal_column_may_carry_its_tag() -> None:
    two = {
        name: EncodedColumn(name, np.zeros(1, np.uint8), pa.array(["A"], pa.large_string()))
        for name in ("grade", "grade@D2", "@D2")
    }
    table = EncodedTable("D1.csv", 1, two, {}, collection=("D1.csv", "D2.csv"))
    for name, own in (
        ("grade", "grade"),
        ("grade@D1", "grade"),
        ("grade@D1.csv", "grade"),
        ("grade@D2", "grade@D2"),
        ("@D2", "@D2"),
    ):
        assert column_known(table, name).name == own
    with pytest.raises(DataError, match=r'column "grade@D3" is not in D1.csv; did you mean'):
        column_known(table, "grade@D3")
    with pytest.raises(DataError, match="is not in the frame"):
        column_known(read(pa.table({"grade": ["A"]})), "grade@the frame")


def test_a_fact_of_several_columns_is_said_column_by_column() -> None:
    table = read(pa.table({"day": [1], "month": [2]})).with_roles(
        facts={"birthday": ["day", "month"]}
    )
    with pytest.raises(StudyError, match='"birthday" stands for the columns "day", "month"'):
        column_known(table, "birthday")


def behind(released: list[tuple[str, str]], people: list[tuple[str, str]]) -> list[bool]:
    release, register = (
        read(pa.table(dict(zip("ab", map(list, zip(*rows, strict=True)), strict=True))))
        for rows in (released, people)
    )
    records = np.arange(len(released))
    marks: list[bool] = people_behind(release, records, register, ["a", "b"]).tolist()
    return marks


def test_everybody_whom_a_record_can_stand_for_may_be_behind_it() -> None:
    people = [("29", "x"), ("30", "x"), ("39", "x"), ("34", "y")]
    assert behind([("30-39", "x")], people) == [False, True, True, False]
    assert behind([("34", "x"), ("30-39", "x")], people) == [False, True, True, False]
    assert behind([("*", "x"), ("34", "*")], people) == [True] * 4
    assert behind([("*", "y"), ("30", "*")], people) == [False, True, False, True]
    assert behind([("*", "*")], people) == [True] * 4


CELLS = st.tuples(st.sampled_from(["1", "2", "3", "*"]), st.sampled_from(["x", "y", "z", "*"]))
PERSON = st.tuples(st.sampled_from("123"), st.sampled_from("xyz"))


@given(CELLS, st.lists(PERSON, min_size=1, max_size=6))
def test_suppressed_cells_against_every_person(
    record: tuple[str, str], people: list[tuple[str, str]]
) -> None:
    expected = [all(map(covers, record, person)) for person in people]
    assert behind([record], people) == expected
    assert behind([record, record], people) == expected


def test_nobody_is_behind_no_record() -> None:
    table = read(pa.table({"a": ["1"]}))
    assert people_behind(table, np.empty(0, np.int64), table, ["a"]).tolist() == [False]
