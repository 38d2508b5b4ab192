"""Hierarchies: every fault of a file by its message, every rule by what it makes, and codes by the obvious lookup."""

from __future__ import annotations

import json
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from glasshouse.errors import DataError, StudyError
from glasshouse.mitigation.hierarchies import (
    Hierarchy,
    by_rule,
    date_parts,
    intervals,
    prefixes,
    read_hierarchy,
    rounding,
    suggest,
    suppression_only,
    top_bottom,
)
from glasshouse.study import Dialect
from glasshouse.table import EncodedColumn, read
from glasshouse.table.generalised import covers

CITIES = (
    ("Lyon", "France", "*"),
    ("Nice", "France", "*"),
    ("Bonn", "Germany", "*"),
)
ARX_HEIGHTS = {"occupation": 3}
ARX_DOMAINS = {"occupation": 14}


def column_of(*values: str, name: str = "city") -> EncodedColumn:
    return EncodedColumn(
        name, np.arange(len(values), dtype=np.uint32), pa.array(values, pa.large_string())
    )


def labels_of(hierarchy: Hierarchy, value: str) -> list[str]:
    return next(list(row[1:]) for row in hierarchy.rows if row[0] == value)


def written(folder: Path, text: str) -> Path:
    path = folder / "city.csv"
    path.write_text(text, encoding="utf-8")
    return path


# What a hierarchy is


def test_height_and_domain_count_levels_and_rows() -> None:
    hierarchy = Hierarchy("city", CITIES)
    assert (hierarchy.height, hierarchy.domain, hierarchy.suggested) == (3, 3, False)


def test_a_single_value_may_be_its_own_root() -> None:
    assert Hierarchy("city", (("Lyon",),)).height == 1


def test_a_label_may_repeat_at_a_higher_level_for_the_same_values() -> None:
    rows = (("Lyon", "France", "*"), ("Nice", "France", "*"), ("Monaco", "Monaco", "*"))
    assert Hierarchy("city", rows).height == 3


FAULTS = {
    "no rows": ((), 'the hierarchy of "city" has no rows; give one per value, ending in *'),
    "unequal depth": (
        (("Lyon", "France", "*"), ("Bonn", "*")),
        'row 2 ("Bonn"): has 2 levels where the first row has 3; give all rows as many',
    ),
    "an empty row": ((("Lyon", "*"), ()), "row 2 (empty): has 0 levels"),
    "a value twice": (
        (*CITIES, ("Nice", "France", "*")),
        'row 4 ("Nice"): is there already as row 2; remove one',
    ),
    "a value with two parents": (
        (*CITIES, ("Nice", "Italy", "*")),
        'the value "Nice" has two parents, "France" in row 2 and "Italy" in row 4; give it one',
    ),
    "a label with two parents": (
        (("Lyon", "France", "Europe", "*"), ("Nice", "France", "Asia", "*")),
        'the label of level 1 "France" has two parents, "Europe" in row 1 and "Asia" in row 2',
    ),
    "no root": (
        (("Lyon", "France"), ("Bonn", "Germany")),
        'has no single root: its last level holds "France", "Germany"; add a last column with *',
    ),
    "a label that grows": (
        (("France", "France", "*"), ("Lyon", "France", "*")),
        '"France" stands for 1 value at level 0 and for 2 values at level 1, not the same ones; rename one',
    ),
    "a cycle": (
        (("a", "b", "*"), ("b", "a", "*")),
        '"a" stands for 1 value at level 0 and for 1 value at level 1, not the same ones',
    ),
    "a value called like the root": (
        (("*", "*"), ("a", "*")),
        '"*" stands for 1 value at level 0 and for 2 values at level 1',
    ),
}


@pytest.mark.parametrize("fault", FAULTS)
def test_faults_are_named(fault: str) -> None:
    rows, message = FAULTS[fault]
    with pytest.raises(DataError) as error:
        Hierarchy("city", rows)
    assert message in str(error.value)
    assert "\n" not in str(error.value)


@pytest.mark.parametrize("cell", [3, None, "\ud800"])
def test_only_text_can_be_a_label(cell: object) -> None:
    with pytest.raises(DataError, match="holds something that is not text"):
        Hierarchy("city", (("Lyon", cell, "*"),))  # type: ignore[arg-type]


TREES = st.recursive(st.just(1), lambda part: st.lists(part, min_size=1, max_size=3), max_leaves=8)


def depth(tree: object) -> int:
    return 1 + max(map(depth, tree)) if isinstance(tree, list) else 0


def rows_of(tree: object, height: int, path: tuple[str, ...] = ("*",)) -> list[tuple[str, ...]]:
    """Write a tree down as rows; a leaf that is too high repeats its own name."""
    if not isinstance(tree, list):
        return [(*path[:1] * height, *path)]
    return [
        row
        for number, part in enumerate(tree)
        for row in rows_of(part, height - 1, (f"{path[0]}{number}", *path))
    ]


@given(TREES.map(lambda tree: rows_of(tree, depth(tree))), st.data())
def test_codes_are_the_obvious_lookup(rows: list[tuple[str, ...]], data: st.DataObject) -> None:
    hierarchy = Hierarchy("city", tuple(rows))
    values = data.draw(st.lists(st.sampled_from([row[0] for row in rows]), unique=True, min_size=1))
    coded = hierarchy.coded(column_of(*values), where="a table")
    by_value = {row[0]: row for row in rows}
    assert (coded.domain, coded.height, coded.column) == (len(rows), hierarchy.height, "city")
    assert coded.labels[0] == tuple(values)
    for level in range(coded.height):
        labels = [by_value[value][level] for value in values]
        assert [coded.labels[level][code] for code in coded.codes[level]] == labels
        assert coded.labels[level] == tuple(dict.fromkeys(labels))
        for label, size in zip(coded.labels[level], coded.sizes[level], strict=True):
            assert size == sum(row[level] == label for row in rows)
    for below, parent, above in zip(coded.codes[:-1], coded.parents, coded.codes[1:], strict=True):
        assert parent[below].tolist() == above.tolist()
        assert parent.dtype == below.dtype == np.uint32


def test_a_value_that_is_not_in_the_hierarchy_is_named_with_near_ones() -> None:
    with pytest.raises(DataError) as error:
        Hierarchy("city", CITIES).coded(column_of("Lyon", "lyons", "Rome"), where="people.csv")
    assert str(error.value) == (
        'people.csv: the value "lyons" of column "city" is not in its hierarchy (nor are 1 more); did you mean "Lyon"?'
    )


def test_a_value_like_none_asks_for_a_row() -> None:
    with pytest.raises(DataError, match=r'value "Xanadu" of column "city" .*; add a row for it'):
        Hierarchy("city", CITIES).coded(column_of("Xanadu"), where="people.csv")


def test_missing_values_need_a_row() -> None:
    with pytest.raises(DataError) as error:
        Hierarchy("city", CITIES).coded(column_of("Lyon", ""), where="people.csv")
    assert 'column "city" has missing values' in str(error.value)
    assert str(error.value).endswith('add a row for them with an empty first field, such as ";;*"')
    complete = Hierarchy("city", (*CITIES, ("", "", "*")))
    coded = complete.coded(column_of("", "Lyon"), where="people.csv")
    assert coded.labels[1] == ("", "France")


# Files


@pytest.mark.parametrize("separator", [";", ",", "\t", "|"])
def test_any_separator_is_read(tmp_path: Path, separator: str) -> None:
    path = written(tmp_path, "".join(f"{separator.join(row)}\n" for row in CITIES))
    assert read_hierarchy(path, column="city") == Hierarchy("city", CITIES)


def test_a_first_row_like_a_header_is_a_value(tmp_path: Path) -> None:
    path = written(tmp_path, "city;*\nLyon;*\n")
    assert read_hierarchy(path, column="city").rows == (("city", "*"), ("Lyon", "*"))


def test_a_given_dialect_is_followed(tmp_path: Path) -> None:
    path = written(tmp_path, "Lyon : France : *\nNice : France : *\n")
    hierarchy = read_hierarchy(path, column="city", dialect=Dialect(separator=":", strip=True))
    assert hierarchy.rows == CITIES[:2]


def test_commas_in_labels_do_not_hide_the_semicolons(tmp_path: Path) -> None:
    path = written(tmp_path, "20,5;[20, 25);*\n26,5;[25, 30);*\n")
    assert read_hierarchy(path, column="age").rows[0] == ("20,5", "[20, 25)", "*")


def test_semicolons_in_labels_do_not_hide_the_commas(tmp_path: Path) -> None:
    path = written(tmp_path, "a,x;y,*\nb,z,*\n")
    assert read_hierarchy(path, column="city").rows[0] == ("a", "x;y", "*")


def test_a_file_names_itself_in_its_faults(tmp_path: Path) -> None:
    with pytest.raises(DataError, match=r"^city\.csv: the hierarchy of .* has no single root"):
        read_hierarchy(written(tmp_path, "Lyon;France\nBonn;Germany\n"), column="city")
    with pytest.raises(DataError, match=r"^city\.csv: the hierarchy of .* has no single root"):
        read_hierarchy(written(tmp_path, "Lyon\nBonn\n"), column="city")


@pytest.mark.parametrize("separator", [";", ",", "\t"])
def test_a_row_of_another_depth_is_named_by_its_value(tmp_path: Path, separator: str) -> None:
    rows = (("Lyon", "France", "*"), ("Nice, Côte d’Azur", "*"), ("Bonn", "Germany", "*"))
    text = "\n".join(separator.join(f'"{label}"' for label in row) for row in rows)
    with pytest.raises(DataError) as error:
        read_hierarchy(written(tmp_path, text), column="city")
    assert str(error.value) == (
        'city.csv: the hierarchy of "city", row 2 ("Nice, Côte d’Azur"): has 2 levels where the first row has 3; '
        "give all rows as many, repeating a label where a level has none of its own"
    )


def test_a_file_that_is_no_text_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "city.parquet"
    path.write_bytes(b"PAR1 and so on")
    with pytest.raises(
        DataError, match=r"city\.parquet: is not delimited text; write the hierarchy as CSV"
    ):
        read_hierarchy(path, column="city")


def test_a_missing_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="nothing"):
        read_hierarchy(tmp_path / "nothing.csv", column="city")


TEXTS = st.text(st.sampled_from("ab ,;\t|\"'\n\r*é"), max_size=4)


@given(st.lists(st.tuples(TEXTS, TEXTS), min_size=1, max_size=5, unique_by=lambda row: row[0]))
def test_what_is_saved_reads_back_the_same(
    tmp_path_factory: pytest.TempPathFactory, pairs: list[tuple[str, str]]
) -> None:
    rows = tuple((f"0{value}", f"1{label}", "root") for value, label in pairs)
    hierarchy = Hierarchy("city", rows, suggested=True)
    path = tmp_path_factory.mktemp("saved") / "city.csv"
    hierarchy.save(path)
    assert read_hierarchy(path, column="city").rows == rows


def test_a_row_for_missing_values_survives_saving(tmp_path: Path) -> None:
    hierarchy = suppression_only(column_of("", "Lyon"))
    hierarchy.save(tmp_path / "city.csv")
    assert read_hierarchy(tmp_path / "city.csv", column="city") == hierarchy
    assert (tmp_path / "city.csv").read_bytes() == b";*\r\nLyon;*\r\n"


# Rules


def test_suppression_only() -> None:
    assert suppression_only(column_of("F", "M")).rows == (("F", "*"), ("M", "*"))


def test_intervals_of_whole_numbers() -> None:
    hierarchy = intervals(column_of("17", "23", "-3"), widths=[5, 10, 20])
    assert labels_of(hierarchy, "17") == ["15-19", "10-19", "0-19", "*"]
    assert labels_of(hierarchy, "23") == ["20-24", "20-29", "20-39", "*"]
    assert labels_of(hierarchy, "-3") == ["-5..-1", "-10..-1", "-20..-1", "*"]


def test_intervals_of_other_numbers() -> None:
    hierarchy = intervals(column_of("0.3", "2.50"), widths=[0.5, 2], origin="0.1")
    assert labels_of(hierarchy, "0.3") == ["[0.1, 0.6)", "[0.1, 2.1)", "*"]
    assert labels_of(hierarchy, "2.50") == ["[2.1, 2.6)", "[2.1, 4.1)", "*"]


def test_intervals_between_edges() -> None:
    hierarchy = intervals(column_of("-1", "0", "17", "18", "65"), edges=[[0, 18, 65], [18]])
    assert labels_of(hierarchy, "-1") == ["<0", "<18", "*"]
    assert labels_of(hierarchy, "0") == ["0-17", "<18", "*"]
    assert labels_of(hierarchy, "18") == ["18-64", ">=18", "*"]
    assert labels_of(hierarchy, "65") == [">=65", ">=18", "*"]


def test_numbers_that_are_spelled_differently_share_their_interval() -> None:
    hierarchy = intervals(column_of("7", "07", "7.0"), widths=[1])
    assert {row[1] for row in hierarchy.rows} == {"7-7"}


def test_rounding_goes_from_level_to_level() -> None:
    hierarchy = rounding(column_of("23", "47", "44"), to=[10, 100])
    assert labels_of(hierarchy, "23") == ["15-24", "-55..44", "*"]
    assert labels_of(hierarchy, "47") == ["45-54", "45-144", "*"]
    assert labels_of(hierarchy, "44") == ["35-44", "-55..44", "*"]


@given(
    st.lists(st.integers(-300, 300), min_size=1, max_size=8, unique=True),
    st.lists(st.integers(1, 90), min_size=1, max_size=3, unique=True).map(sorted),
)
def test_numbers_with_one_label_are_rounded_alike(numbers: list[int], units: list[int]) -> None:
    hierarchy = rounding(column_of(*map(str, numbers)), to=units)

    def rounded(number: int, level: int) -> Fraction:
        exact = Fraction(number)
        for unit in units[:level]:
            exact = Fraction(unit * ((exact / unit + Fraction(1, 2)).__floor__()))
        return exact

    for level in range(1, len(units) + 1):
        labels = [labels_of(hierarchy, str(number))[level - 1] for number in numbers]
        exact = [rounded(number, level) for number in numbers]
        assert len(set(zip(labels, exact, strict=True))) == len(set(labels)) == len(set(exact))


def test_top_and_bottom_coding() -> None:
    hierarchy = top_bottom(column_of("17", "23", "89", "95"), bottom=20, top=90, widths=[20])
    assert labels_of(hierarchy, "17") == ["<20", "<20", "*"]
    assert labels_of(hierarchy, "23") == ["23", "20-39", "*"]
    assert labels_of(hierarchy, "89") == ["89", "80-89", "*"]
    assert labels_of(hierarchy, "95") == [">=90", ">=90", "*"]
    assert labels_of(top_bottom(column_of("1", "9"), top=5), "1") == ["1", "*"]
    assert labels_of(top_bottom(column_of("1", "9"), bottom=5), "1") == ["<5", "*"]


def test_prefixes_of_codes() -> None:
    hierarchy = prefixes(column_of("13101", "13200"))
    assert labels_of(hierarchy, "13101") == ["1310*", "131**", "13***", "1****", "*"]
    assert labels_of(prefixes(column_of("13101"), lengths=[2]), "13101") == ["13***", "*"]


def test_prefixes_of_codes_of_different_lengths() -> None:
    hierarchy = prefixes(column_of("I21", "I2109", "I"))
    assert labels_of(hierarchy, "I2109") == ["I210*", "I21*", "I2*", "I*", "*"]
    assert labels_of(hierarchy, "I21") == ["I21", "I21*", "I2*", "I*", "*"]
    assert labels_of(hierarchy, "I") == ["I", "I", "I", "I*", "*"]


def test_parts_of_dates() -> None:
    hierarchy = date_parts(column_of("2000-02-29", "1999-12-31"))
    assert labels_of(hierarchy, "2000-02-29") == ["2000-02-*", "2000-Q1", "2000-*", "200*", "*"]
    hierarchy = date_parts(column_of("29/02/2000"), order="dmy", parts=["year"])
    assert labels_of(hierarchy, "29/02/2000") == ["2000-*", "*"]
    hierarchy = date_parts(column_of("2000-02-29 12:30"))
    assert labels_of(hierarchy, "2000-02-29 12:30") == [
        "2000-02-29*",
        "2000-02-*",
        "2000-Q1",
        "2000-*",
        "200*",
        "*",
    ]


def test_missing_values_stay_apart_up_to_the_root() -> None:
    hierarchy = intervals(column_of("17", "", "23"), widths=[5, 10])
    assert [row[0] for row in hierarchy.rows] == ["17", "", "23"]
    assert labels_of(hierarchy, "") == ["", "", "*"]


NUMBERS = st.decimals(-200, 200, places=1, allow_nan=False, allow_infinity=False)
COLUMNS = st.lists(NUMBERS, min_size=1, max_size=8, unique=True).map(
    lambda numbers: column_of(*map(str, numbers))
)
WHOLE_COLUMNS = st.lists(st.integers(-200, 200), min_size=1, max_size=8, unique=True).map(
    lambda numbers: column_of(*map(str, numbers))
)
RULES: dict[str, Callable[[EncodedColumn], Hierarchy]] = {
    "widths": lambda column: intervals(column, widths=[5, 10, 40], origin=3),
    "edges": lambda column: intervals(column, edges=[[-50, 0, "2.5", 18, 65], [0, 65], [65]]),
    "rounding": lambda column: rounding(column, to=[5, 10, 100]),
    "extremes": lambda column: top_bottom(column, bottom=-33, top=65, widths=[10, 20]),
    "prefixes": lambda column: prefixes(column),
    "suggestion": suggest,
}


@pytest.mark.parametrize("rule", RULES)
@given(column=COLUMNS | WHOLE_COLUMNS)
def test_labels_cover_the_values_that_they_stand_for(rule: str, column: EncodedColumn) -> None:
    """A label covers its own values and, on its level, no other value: attacks on the release rely on it."""
    rows = RULES[rule](column).rows
    for row in rows:
        for level in range(len(row)):
            for other in rows:
                same = other[level] == row[level]
                assert covers(row[level], other[0]) == same or row[level].startswith("*")


def test_labels_of_dates_cover_their_dates() -> None:
    for row in date_parts(column_of("2000-02-29", "2000-03-01", "1987-02-28")).rows:
        assert all(covers(label, row[0]) for label in row)
        assert [covers(label, "2000-02-28") for label in row[1:]] == [
            row[0] == "2000-02-29",
            row[0][:4] == "2000",
            row[0][:4] == "2000",
            row[0][:3] == "200",
            True,
        ]


RULE_FAULTS: dict[str, tuple[Callable[[], Hierarchy], str]] = {
    "a word among numbers": (
        lambda: intervals(column_of("17", "old"), widths=[5]),
        'the value "old" of column "city" is not a number',
    ),
    "a star in a code": (
        lambda: prefixes(column_of("131*")),
        'the code "131*" of column "city" holds a *',
    ),
    "a date that is none": (
        lambda: date_parts(column_of("2001-02-29")),
        'the value "2001-02-29" of column "city" is not a date written as ymd',
    ),
    "a date of another order": (
        lambda: date_parts(column_of("02/29/2000"), order="dmy"),
        'the value "02/29/2000" of column "city" is not a date written as dmy',
    ),
    "a value called *": (
        lambda: suppression_only(column_of("*", "a")),
        '"*" stands for 1 value at level 0',
    ),
}
QUESTION_FAULTS: dict[str, tuple[Callable[[], Hierarchy], str]] = {
    "neither widths nor edges": (
        lambda: intervals(column_of("1")),
        "intervals need either widths or edges; give one of the two",
    ),
    "both": (lambda: intervals(column_of("1"), widths=[5], edges=[[5]]), "either widths or edges"),
    "widths that do not nest": (
        lambda: intervals(column_of("1"), widths=[5, 12]),
        "intervals of width 12 do not nest those of width 5; each width must be a multiple",
    ),
    "a width of nothing": (
        lambda: intervals(column_of("1"), widths=[0]),
        "the width of intervals must be positive, not 0",
    ),
    "a width that is no decimal": (
        lambda: intervals(column_of("1"), widths=[Fraction(1, 3)]),
        "the width of intervals must be a decimal, not 1/3",
    ),
    "a width that is no number": (
        lambda: intervals(column_of("1"), widths=["wide"]),
        "the width of intervals must be a number, not 'wide'",
    ),
    "edges that are one list": (
        lambda: intervals(column_of("1"), edges=[0, 18]),  # type: ignore[list-item]
        "give a list of edges per level, such as [[0, 18, 65], [18]]",
    ),
    "edges that fall": (
        lambda: intervals(column_of("1"), edges=[[18, 0]]),
        "the edges of intervals must rise",
    ),
    "edges that do not nest": (
        lambda: intervals(column_of("1"), edges=[[0, 18], [10]]),
        "the edge 10 of level 2 is not an edge of the level before",
    ),
    "nothing to round to": (lambda: rounding(column_of("1"), to=[]), "rounding needs positive"),
    "rounding back": (lambda: rounding(column_of("1"), to=[100, 10]), "each above the one before"),
    "no extremes": (lambda: top_bottom(column_of("1")), "needs a bottom, a top or both"),
    "extremes the wrong way": (
        lambda: top_bottom(column_of("1"), bottom=9, top=3),
        "the bottom 9 is not below the top 3; exchange them",
    ),
    "lengths that rise": (
        lambda: prefixes(column_of("131"), lengths=[1, 2]),
        "the lengths of prefixes must be positive and fall",
    ),
    "a length of nothing": (lambda: prefixes(column_of("131"), lengths=[0]), "must be positive"),
    "an unknown order": (
        lambda: date_parts(column_of("2000-01-01"), order="ydm"),
        "the order 'ydm' of dates is unknown; it is ymd or dmy or mdy",
    ),
    "an unknown part": (
        lambda: date_parts(column_of("2000-01-01"), parts=["week"]),
        'the parts of dates are some of "day", "month", "quarter", "year", "decade", in that order',
    ),
}


@pytest.mark.parametrize("fault", RULE_FAULTS)
def test_rules_refuse_values_that_do_not_fit(fault: str) -> None:
    make, message = RULE_FAULTS[fault]
    with pytest.raises(DataError) as error:
        make()
    assert message in str(error.value)


@pytest.mark.parametrize("fault", QUESTION_FAULTS)
def test_rules_refuse_questions_that_do_not_fit(fault: str) -> None:
    make, message = QUESTION_FAULTS[fault]
    with pytest.raises(StudyError) as error:
        make()
    assert message in str(error.value)


def test_a_rule_as_text_is_its_function() -> None:
    ages, codes, days = (
        column_of(*values) for values in (("17", "23"), ("13101", "13200"), ("29/02/2000",))
    )
    assert by_rule(ages, "intervals:5,10") == intervals(ages, widths=[5, 10])
    assert by_rule(ages, "intervals:5, 10:origin=2.5") == intervals(
        ages, widths=[5, 10], origin="2.5"
    )
    assert by_rule(ages, "intervals:edges=0,18,65/18") == intervals(ages, edges=[[0, 18, 65], [18]])
    assert by_rule(ages, "rounding:10,100") == rounding(ages, to=[10, 100])
    assert by_rule(ages, "top_bottom:18,90") == top_bottom(ages, bottom=18, top=90)
    assert by_rule(ages, "top_bottom:top=20:widths=5") == top_bottom(ages, top=20, widths=[5])
    assert by_rule(codes, "prefixes") == prefixes(codes)
    assert by_rule(codes, "prefixes:4,2") == prefixes(codes, lengths=[4, 2])
    assert by_rule(days, "date_parts:year,decade:order=dmy") == date_parts(
        days, parts=["year", "decade"], order="dmy"
    )
    assert by_rule(days, "suppression_only") == suppression_only(days)
    named = by_rule(
        column_of("17", "23", "70", "NA"), "intervals:edges=18,65:names=young,,old%2Cer"
    )
    assert [row[1] for row in named.rows] == ["young", "18-64", "old,er", "NA"]
    towns = by_rule(column_of("a", "b,c", "d", "NA"), "groups:main=a+b%2Cc,rest=*")
    assert [row[1] for row in towns.rows] == ["main", "main", "rest", "NA"]
    for written in (
        *("groups", "groups:", "groups:x", "groups:x=17,y=17", "groups:x=17,x=23"),
        *("intervals:5:names=a,b", "intervals:edges=18:names=a", "intervals:edges=18:names=a,a"),
    ):
        with pytest.raises(StudyError):
            by_rule(ages, written)
    for written in ("ages.csv", "suppression_only:1", "top_bottom:1", "prefixes:4:4", "median:3"):
        with pytest.raises(StudyError):
            by_rule(ages, written)


# Suggestions


@pytest.mark.parametrize(
    ("values", "labels"),
    [
        (("17", "23", "90"), ["15-19", "10-19", "0-19", "*"]),
        (("0.1", "0.25", "1.3"), ["[0.1, 0.2)", "[0, 0.2)", "*"]),
        (("13101", "13200", "01001"), ["1310*", "131**", "13***", "1****", "*"]),
        (("1987", "1990", "2003"), ["1985-1989", "1980-1989", "*"]),
        (("03", "11", "12"), ["0*", "*"]),
        (("A10", "B20", "B21"), ["A1*", "A**", "*"]),
        (
            ("2000-02-29", "2000-03-01", "1999-01-01"),
            ["2000-02-*", "2000-Q1", "2000-*", "200*", "*"],
        ),
        (
            ("29/02/2000", "01/03/2000", "02/03/2000"),
            ["2000-02-*", "2000-Q1", "2000-*", "200*", "*"],
        ),
        (
            ("02/29/2000", "03/01/2000", "02/03/2000"),
            ["2000-02-*", "2000-Q1", "2000-*", "200*", "*"],
        ),
        (("02/03/2000", "03/01/2000", "04/04/2000"), ["2000-*", "200*", "*"]),
        (("red", "green", "blue"), ["*"]),
        (("yes", "no"), ["*"]),
        (("0", "1"), ["*"]),
        (("20-29", "30-39", "40-49"), ["*"]),
        (("1", "2", "x*"), ["*"]),
        (("5", "05", "5.0"), ["*"]),
    ],
)
def test_suggestions(values: tuple[str, ...], labels: list[str]) -> None:
    hierarchy = suggest(column_of(*values))
    assert hierarchy.suggested
    assert labels_of(hierarchy, values[0]) == labels


def test_a_suggestion_for_nothing_but_missing_values() -> None:
    assert suggest(column_of("")).rows == (("", "*"),)


# ARX's files


def test_the_hierarchies_of_adult_load(shared: Callable[[str], Path]) -> None:
    meta = json.loads(shared("golden/mitigation.json").read_text(encoding="utf-8"))["meta"]
    heights = meta["hierarchy_levels"] | ARX_HEIGHTS
    domains = meta["hierarchy_rows_D"] | ARX_DOMAINS
    for column, height in heights.items():
        path = shared(f"data/arx/adult_hierarchy_{column}.csv")
        hierarchy = read_hierarchy(path, column=column)
        assert (hierarchy.height, hierarchy.domain) == (height, domains[column])


def test_a_single_text_among_a_few_numbers_stays_as_it_is() -> None:
    ages = ("21", "22", "34", "35", "47", "48", "61")
    hierarchy = suggest(column_of(*ages, "NA"))
    assert labels_of(hierarchy, "21") == labels_of(suggest(column_of(*ages)), "21")
    assert labels_of(hierarchy, "NA") == ["NA"] * (hierarchy.height - 2) + ["*"]
    assert suggest(column_of(*ages, "few", "many")).height == 2, "two of nine are many"
    assert suggest(column_of("1", "2", "more")).height == 2, "two numbers are few"


def test_a_few_texts_among_numbers_stay_as_they_are() -> None:
    ages = [str(age) for age in range(20, 60)]
    table = read(pa.table({"age": [*ages, "NA", "", "NA"]}))
    hierarchy = suggest(table.column("age"))
    rows = {row[0]: row for row in hierarchy.rows}
    assert hierarchy.height > 3
    assert rows["NA"] == ("NA",) * (hierarchy.height - 1) + ("*",)
    assert set(rows) == {*ages, "NA", ""}
    many = read(pa.table({"age": [*ages, *(f"x{i}" for i in range(20))]}))
    assert suggest(many.column("age")).height == 2
