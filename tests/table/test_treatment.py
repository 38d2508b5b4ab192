from __future__ import annotations

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from glasshouse.errors import DataError
from glasshouse.study import parse_condition
from glasshouse.table import EncodedTable, read, treat

PEOPLE = {
    "age": ["20", "99", "", "40", "99"],
    "race": ["1", "9", "2", "", "1"],
    "state": ["SP", "SP", "RJ", "RJ", "AC"],
}


def people() -> EncodedTable:
    return read(
        pa.table(PEOPLE),
        quasi_identifiers=["age", "race"],
        also=["state"],
        name="people.csv",
    )


def test_nothing_asked_leaves_everything_as_it_is() -> None:
    table = people()
    treated = treat(table)
    assert treated.table is table
    assert treated.steps == ()


def test_invalid_values_are_counted_per_column_and_in_all() -> None:
    invalid = [parse_condition("age=99"), parse_condition("race=9,")]
    treated = treat(people(), invalid=invalid)
    assert [(s.column, s.left_out, s.after) for s in treated.steps] == [
        ("age", 2, 3),
        ("race", 2, 3),
        (None, 3, 2),
    ]
    assert treated.table.records == 2
    assert treated.table.positions is not None
    assert treated.table.positions.tolist() == [0, 2], "where they stood in the file"


def test_missing_values_count_in_columns_with_a_role_only() -> None:
    treated = treat(people(), drop_missing=True)
    assert [(s.column, s.left_out) for s in treated.steps] == [("age", 1), ("race", 1), (None, 2)]


def test_a_selection_comes_first() -> None:
    treated = treat(
        people(), where=[parse_condition("age=18..65")], invalid=[parse_condition("race=")]
    )
    assert [(s.what, s.column, s.before, s.after) for s in treated.steps] == [
        ("outside the selection", "age", 5, 2),
        ("outside the selection", None, 5, 2),
        ("invalid value", "race", 2, 1),
        ("invalid value", None, 2, 1),
    ]


def test_nothing_left_is_an_error() -> None:
    with pytest.raises(DataError, match="all 5 records would be left out"):
        treat(people(), where=[parse_condition("state=XX")])


def test_an_unknown_column_is_named_with_the_near_ones() -> None:
    with pytest.raises(DataError, match="stat"):
        treat(people(), where=[parse_condition("stat=SP")])


@given(
    st.lists(st.sampled_from(["1", "2", "30", "x", ""]), min_size=1, max_size=12),
    st.sampled_from(["v=1", "v!=1", "v=1,x", "v=2..30", "v=..2", "v!=2..30", "v="]),
)
def test_a_selection_keeps_what_meets_it(values: list[str], text: str) -> None:
    condition = parse_condition(text)
    kept = [i for i, value in enumerate(values) if condition.holds(value)]
    table = read(pa.table({"v": values}), quasi_identifiers=["v"])
    if not kept:
        with pytest.raises(DataError):
            treat(table, where=[condition])
        return
    treated = treat(table, where=[condition]).table
    positions = range(len(values)) if treated.positions is None else treated.positions.tolist()
    assert list(positions) == kept
