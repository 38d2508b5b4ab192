"""Microaggregation against brute force over all groupings, and the coding of tails."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from fractions import Fraction

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from glasshouse.errors import DataError, StudyError
from glasshouse.mitigation import attained, code_tails, microaggregate
from glasshouse.mitigation.microaggregation import mdav
from glasshouse.table import EncodedTable, read
from tests.mitigation.test_local import rows_of, texts

NUMBERS = st.sampled_from(["0", "1", "1.5", "2", "7", "-3.25", "10", "1e1", "100"])


def numbers_table(*rows: tuple[str, ...]) -> EncodedTable:
    names = [f"x{i}" for i in range(len(rows[0]))]
    columns = dict(zip(names, zip(*rows, strict=True), strict=True))
    return read(pa.table(columns), quasi_identifiers=names)


def groupings(items: tuple[int, ...], least: int) -> Iterator[list[tuple[int, ...]]]:
    """Yield every way to put items into groups of at least so many."""
    if not items:
        yield []
        return
    first, rest = items[0], items[1:]
    for mask in range(1 << len(rest)):
        group = (first, *(item for i, item in enumerate(rest) if mask >> i & 1))
        others = tuple(item for i, item in enumerate(rest) if not mask >> i & 1)
        if len(group) >= least and (not others or len(others) >= least):
            for further in groupings(others, least):
                yield [group, *further]


def squared_error(numbers: list[Fraction], groups: list[tuple[int, ...]]) -> Fraction:
    total = Fraction(0)
    for group in groups:
        mean = sum((numbers[i] for i in group), Fraction(0)) / len(group)
        total += sum(((numbers[i] - mean) ** 2 for i in group), Fraction(0))
    return total


@given(st.lists(NUMBERS, min_size=2, max_size=7), st.integers(1, 3))
def test_no_grouping_of_one_column_has_a_smaller_squared_error(values: list[str], k: int) -> None:
    k = min(k, len(values))
    table = numbers_table(*((value,) for value in values))
    found = microaggregate(table, k=k, method="univariate", decimals=12)
    numbers = [Fraction(value) for value in values]
    everyone = tuple(range(len(values)))
    least = min(squared_error(numbers, groups) for groups in groupings(everyone, k))
    whole = squared_error(numbers, [everyone])
    assert found.loss == pytest.approx(float(least / whole) if whole else 0, abs=1e-12)
    released = texts(found.release(table), "x0")
    assert min(Counter(released).values()) >= k
    assert sum(map(Fraction, released)) == pytest.approx(float(sum(numbers)))


@given(st.lists(st.tuples(NUMBERS, NUMBERS), min_size=3, max_size=40), st.integers(1, 4))
def test_mdav_releases_the_means_of_groups_of_k_records(
    rows: list[tuple[str, str]], k: int
) -> None:
    k = min(k, len(rows))
    table = numbers_table(*rows)
    found = microaggregate(table, k=k, decimals=12)
    release = found.release(table)
    assert attained(release).k >= k
    classes: dict[tuple[str, ...], list[tuple[str, str]]] = {}
    for row, released in zip(rows, rows_of(release, ["x0", "x1"]), strict=True):
        classes.setdefault(released, []).append(row)
    for released, members in classes.items():
        for place, mean in enumerate(released):
            own = [Fraction(member[place]) for member in members]
            assert float(mean) == pytest.approx(float(sum(own) / len(own)), abs=1e-11)
    assert 0 <= found.loss <= 1


def test_mdav_by_hand() -> None:
    """The mean is near the middle: 100 and 90 are farthest, then the two at 0; the rest is a group."""
    points = np.array([[0.0], [1.0], [40.0], [50.0], [90.0], [100.0]])
    groups = mdav(points, 2)
    assert [set(np.flatnonzero(groups == number)) for number in range(3)] == [
        {4, 5},
        {0, 1},
        {2, 3},
    ]


def test_large_tables_are_cut_into_blocks_and_every_group_has_k_records() -> None:
    points = np.random.default_rng(0).normal(size=(5_000, 3))
    sizes = np.bincount(mdav(points, 7))
    assert sizes.min() >= 7
    assert sizes.max() < 14


def test_means_are_rounded_half_to_even_and_large_numbers_stay_exact() -> None:
    table = numbers_table(("1",), ("2",), ("4",), ("5",))
    released = texts(microaggregate(table, k=2, decimals=0).release(table), "x0")
    assert released == ["2", "2", "4", "4"]
    large = numbers_table((f"{10**25 + 1}",), (f"{10**25 + 3}",))
    assert set(texts(microaggregate(large, k=2).release(large), "x0")) == {f"{10**25 + 2}.0"}


def test_tails_are_told_as_one_value_or_their_mean() -> None:
    table = numbers_table(("-5.5",), ("3",), ("60",), ("99",), ("104",))
    coded = code_tails(table, "x0", bottom=0, top=99)
    assert texts(coded, "x0") == ["<0", "3", "60", "99", ">99"]
    meant = code_tails(table, "x0", top="59.5", means=True)
    assert texts(meant, "x0") == ["-5.5", "3", "87.67", "87.67", "87.67"]
    assert texts(code_tails(table, "x0", top=200), "x0") == texts(table, "x0")


def test_what_cannot_be_aggregated_is_refused() -> None:
    table = numbers_table(("1",), ("2",))
    with pytest.raises(StudyError, match="from 1 to the 2 records, not 3"):
        microaggregate(table, k=3)
    with pytest.raises(StudyError, match='did you mean "mdav"'):
        microaggregate(table, k=2, method="mdaw")
    with pytest.raises(StudyError, match="`bottom`, `top` or both"):
        code_tails(table, "x0")
    with pytest.raises(StudyError, match="the other way round"):
        code_tails(table, "x0", bottom=3, top=2)
    with pytest.raises(DataError, match='the value "" of column "x0" is not a number'):
        microaggregate(numbers_table(("1",), ("",)), k=1)


@given(st.lists(NUMBERS, min_size=2, max_size=12), st.integers(1, 3), st.sampled_from([None, 0, 3]))
def test_totals_stay_what_they_were_but_for_the_rounding_of_means(
    values: list[str], k: int, decimals: int | None
) -> None:
    table = numbers_table(*((value,) for value in values))
    found = microaggregate(table, k=min(k, len(values)), method="univariate", decimals=decimals)
    released = list(map(Fraction, texts(found.release(table), "x0")))
    off = abs(sum(released, Fraction(0)) - sum(map(Fraction, values), Fraction(0)))
    digits = max(len(value.partition(".")[2]) for value in values) + 1
    last = digits if decimals is None else decimals
    assert off <= len(values) * Fraction(1, 2 * 10**last)


def test_a_mean_is_rounded_to_one_decimal_more_than_the_column_has() -> None:
    found = microaggregate(numbers_table(("9",), ("20",), ("6",)), k=3)
    assert found.released["x0"].values.to_pylist() == ["11.7"]
