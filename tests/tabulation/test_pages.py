"""Tables as people have them: titles, footnotes, two header rows, spreadsheets, and bands in words."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import glasshouse as gh
from glasshouse.errors import GlasshouseError
from glasshouse.study.tables import TablesStudy
from glasshouse.tabulation.layout import with_rows
from tests.sources.forms import page_as_ods, page_as_xlsx

WIDE = [
    ["Table 7. People by age, sex and illness"],
    ["Town of Exempla, 2024"],
    [],
    ["", "F", "", "M", ""],
    ["age", "ill", "well", "ill", "well"],
    ["0-4", "1", "12", "*", "11"],
    ["5 to 9", "2", "9", "3", "8"],
    [],
    ["* fewer than five"],
    ["Source: invented"],
]


def plan(path: Path, **entries: Any) -> TablesStudy:
    content = {"tables": [{"path": path, **entries}], "people": 50}
    return with_rows(TablesStudy.model_validate(content))


def in_csv(folder: Path, lines: list[list[str]], name: str = "table.csv") -> Path:
    path = folder / name
    path.write_text("\n".join(",".join(line) for line in lines) + "\n", encoding="utf-8")
    return path


def in_spreadsheet(folder: Path, lines: list[list[str]], kind: str) -> Path:
    path = folder / f"table.{kind}"
    {"xlsx": page_as_xlsx, "ods": page_as_ods}[kind](path, lines)
    return path


@pytest.mark.parametrize("kind", ["csv", "xlsx", "ods"])
def test_two_header_rows_a_title_and_footnotes_are_read(tmp_path: Path, kind: str) -> None:
    path = in_csv(tmp_path, WIDE) if kind == "csv" else in_spreadsheet(tmp_path, WIDE, kind)
    [table] = plan(path, by=["age", "sex", "illness"], suppressed=[1, 4]).tables
    assert table.by == ("age", "sex", "illness")
    assert table.rows == (
        ("0-4", "F", "ill", 1),
        ("0-4", "F", "well", 12),
        ("0-4", "M", "ill", "*"),
        ("0-4", "M", "well", 11),
        ("5 to 9", "F", "ill", 2),
        ("5 to 9", "F", "well", 9),
        ("5 to 9", "M", "ill", 3),
        ("5 to 9", "M", "well", 8),
    )


def test_a_long_table_with_a_title_and_a_note_needs_no_by(tmp_path: Path) -> None:
    lines = [["People by town"], [], ["town", "people"], ["A", "12"], ["B", "9"], [], ["Fonte: x"]]
    [table] = plan(in_csv(tmp_path, lines)).tables
    assert table.rows == (("A", 12), ("B", 9))


def test_a_line_that_could_be_suppressed_counts_is_no_footnote(tmp_path: Path) -> None:
    lines = [["Title"], ["", "F", "", "M", ""], ["age", "ill", "well", "ill", "well"]]
    lines += [["0-4", "1", "2", "3", "4"], ["5-9", "", "", "", ""]]
    [table] = plan(in_csv(tmp_path, lines), by=["age", "sex", "illness"], suppressed=[0, 4]).tables
    assert [row[-1] for row in table.rows or ()] == [1, 2, 3, 4, "*", "*", "*", "*"]


@pytest.mark.parametrize(
    ("lines", "reason"),
    [
        ([*WIDE[:7], [], ["age", "x", "y"]], "more stands than notes"),
        (
            [
                ["", "F", "", "M", ""],
                ["age", "ill", "well", "ill", ""],
                ["0-4", "1", "2", "3", "4"],
            ],
            "one has nothing",
        ),
        ([["Title"], ["a", "b", "c"], ["d", "e", "f"]], "but two with two header rows"),
    ],
)
def test_what_does_not_lie_so_is_one_line(
    tmp_path: Path, lines: list[list[str]], reason: str
) -> None:
    with pytest.raises(GlasshouseError, match=reason):
        plan(in_csv(tmp_path, lines), by=["age", "sex", "illness"], suppressed=[1, 4])


def test_bands_that_overlap_between_tables_are_put_together(tmp_path: Path) -> None:
    first = in_csv(
        tmp_path, [["age", "people"], ["0-4", "3"], ["5 to 9", "4"], ["10+", "5"]], "a.csv"
    )
    second = in_csv(
        tmp_path, [["age", "people"], ["0 a 14 anos", "9"], ["15 anos ou mais", "3"]], "b.csv"
    )
    outcome = gh.tables(first, second, people=12).outcome
    ages = {cell[0][0]: tuple(cell[1:]) for cell in outcome.to_dict()["cells"]}
    # Twelve people: three, four, and of the five from 10 on two are under 15.
    assert ages == {"0-4": (3, 3), "5-9": (4, 4), "10-14": (2, 2), "15+": (3, 3)}


def test_bands_of_a_label_are_the_ages_of_a_range(tmp_path: Path) -> None:
    path = in_csv(tmp_path, [["age", "people"], ["0-1", "3"], ["2 and over", "0"]])
    study = {"attributes": {"age": {"range": [0, 3]}}, "people": 3, "tables": [{"path": path}]}
    outcome = gh.tables(study=study).outcome
    assert {cell[0][0] for cell in outcome.to_dict()["cells"]} == {0, 1}
