"""A file of SPSS or Stata comes back whole: its codes stay codes, and what it says of its columns stays said."""

from __future__ import annotations

import json
import random
from pathlib import Path
from typing import Any

import polars as pl
import pyreadstat
import pytest

import glasshouse as gh
from glasshouse.errors import StudyError
from glasshouse.mitigation.hierarchies import suggest
from glasshouse.table import Role, profile
from tests.conftest import Glasshouse

COUNTRIES: dict[Any, str] = {code: f"Country {code}" for code in range(1, 42)}
SEXES: dict[Any, str] = {1: "male", 2: "female", 9: "not stated"}
BANDS: dict[Any, str] = {code: f"band {code}" for code in range(1, 6)}
LABELS: dict[str, str | None] = {"v7": "Country of birth", "v8": "Years of age", "sex": "Sex"}
MEASURES = {"sex": "nominal", "v7": "nominal", "v8": "scale", "income": "ordinal"}
MISSING: dict[str, list[Any]] = {"sex": [9], "v8": [{"lo": 900, "hi": 1000}]}


def write(path: Path) -> Path:
    """Write a survey: a country of 41, an age with a code for missing, a sex, an income in bands."""
    chance = random.Random(3)
    frame = pl.DataFrame(
        {
            "sex": [float(chance.choice([1, 1, 2, 2, 9])) for _ in range(400)],
            "v7": [float(chance.choice([*[1, 2, 3] * 99, *COUNTRIES])) for _ in range(400)],
            "v8": [float(chance.choice([*range(20, 60), 999])) for _ in range(400)],
            "income": [float(chance.choice([*BANDS])) for _ in range(400)],
        }
    )
    labels = {"sex": SEXES, "v7": COUNTRIES, "income": BANDS}
    if path.suffix == ".sav":
        pyreadstat.write_sav(
            frame,
            path,
            column_labels=LABELS,
            variable_value_labels=labels,
            missing_ranges=MISSING,
            variable_measure=MEASURES,
        )
    else:
        pyreadstat.write_dta(frame, path, column_labels=LABELS, variable_value_labels=labels)
    return path


KNOWN = ("-q", "sex", "-q", "v7", "-s", "income")


@pytest.mark.parametrize("kind", ["sav", "dta"])
@pytest.mark.parametrize(("language", "word"), [("en", "suppressed"), ("pt-BR", "suprimido")])
def test_a_protected_file_keeps_types_labels_measures_and_missing_codes(
    tmp_path: Path, glasshouse: Glasshouse, kind: str, language: str, word: str
) -> None:
    survey, run = write(tmp_path / f"survey.{kind}"), tmp_path / "run"
    options = ("--k", "5", "--suppression", "0.2", "--format", kind, "--lang", language)
    done = glasshouse("anonymise", survey, *KNOWN, "--keep", "v8", *options, "--out", run)
    assert done.code == 0, done.error
    content, about = getattr(pyreadstat, f"read_{kind}")(
        str(run / f"release.{kind}"), user_missing=True, output_format="dict"
    )
    code = -99.0 if kind == "sav" else "s"
    assert set(content["sex"]) | set(content["v7"]) >= {code, 1.0, 2.0, 9.0}
    assert about.variable_value_labels == {
        "sex": {**SEXES, code: f"{word} (*)"},
        "v7": {**COUNTRIES, code: f"{word} (*)"},
        "income": BANDS,
    }
    assert about.column_names_to_labels == {**LABELS, "income": None}
    if kind == "sav":
        assert about.variable_measure == MEASURES
        assert about.missing_ranges == {
            "sex": [{"lo": 9.0, "hi": 9.0}, {"lo": -99.0, "hi": -99.0}],
            "v7": [{"lo": -99.0, "hi": -99.0}],
            "v8": [{"lo": 900.0, "hi": 1000.0}],
        }
    else:
        assert about.missing_user_values == {"sex": ["s"], "v7": ["s"]}
    again = gh.read(run / f"release.{kind}")
    assert "*" in again.column("v7").values.to_pylist(), "the code is read as what it stands for"
    assert not again.missing(["v7"]).any(), "which is not missing"
    assert "suppressed" not in str(again.labels)
    csv = glasshouse(
        "anonymise", survey, *KNOWN, *options[:4], "--format", "csv", "--out", tmp_path / "csv"
    )
    assert csv.code == 0, csv.error
    same = [
        json.loads(glasshouse("assess", of, "--json").out)["results"]
        for of in (run, tmp_path / "csv")
    ]
    assert [row["probabilistic"] for row in same[0]] == [row["probabilistic"] for row in same[1]]


def test_what_a_file_calls_a_category_is_never_told_in_intervals(
    tmp_path: Path, glasshouse: Glasshouse
) -> None:
    for kind in ("sav", "dta"):  # nominal and labelled, or labelled alone
        table = gh.read(write(tmp_path / f"survey.{kind}"), quasi_identifiers=["v7", "v8"])
        assert suggest(table.column("v7"), table.declared("v7")).rule == "suppression_only"
        assert suggest(table.column("v7")).rule.startswith("intervals"), "by its numbers alone"
        assert suggest(table.column("v8"), table.declared("v8")).rule.startswith("intervals")
        assert not table.declared("v8").is_category
        shown = json.loads(
            glasshouse("hierarchies", tmp_path / f"survey.{kind}", "-q", "v7", "--json").out
        )
        assert shown[0]["rule"] == "suppression_only"
    made = suggest(table.column("v8"), gh.read(tmp_path / "survey.sav").declared("v8"))
    assert made.rule == "intervals:5,10,20", "999 is missing, and widens no interval"
    assert ("999", "999", "999", "999", "*") in made.rows
    with pytest.raises(StudyError, match='"v7" holds codes of categories'):
        gh.anonymise(
            tmp_path / "survey.sav", quasi_identifiers=["v7"], method="microaggregation", k=3
        )


def test_an_amount_with_a_label_or_two_is_no_category(tmp_path: Path) -> None:
    frame = pl.DataFrame({"v1": [float(age) for age in range(20, 80)]})
    path = tmp_path / "ages.sav"
    pyreadstat.write_sav(frame, path, variable_value_labels={"v1": {20: "20 or less", 79: "more"}})
    assert not gh.read(path).declared("v1").is_category


def test_no_room_for_one_more_missing_code_still_leaves_a_label(tmp_path: Path) -> None:
    from glasshouse.sources.exports import write_table
    from tests.sources.test_exports import dictionary

    columns = {"three": dictionary("1", "*"), "range": dictionary("1", "*")}
    ranges = {"three": [("7", "7"), ("8", "8"), ("9", "9")], "range": [("90", "999"), ("0", "0")]}
    write_table(columns, tmp_path / "a.sav", missing_ranges=ranges)
    _, about = pyreadstat.read_sav(str(tmp_path / "a.sav"), user_missing=True)
    assert about.missing_ranges["range"] == [{"lo": 90.0, "hi": 999.0}, {"lo": 0.0, "hi": 0.0}]
    assert about.variable_value_labels == {
        "three": {-99.0: "suppressed (*)"},
        "range": {99.0: "suppressed (*)"},
    }
    back = gh.read(tmp_path / "a.sav")
    assert [back.column(name).values.to_pylist() for name in columns] == [["1", "*"], ["1", "*"]]
    assert not back.missing(["range"]).any()


def test_letters_of_stata_come_back_as_letters(tmp_path: Path) -> None:
    from glasshouse.sources.exports import write_table
    from tests.sources.test_exports import dictionary

    columns = {"x": dictionary("1", "a", "*", "")}
    labels = {"x": {"1": "one", "a": "refused"}}
    codes = {"x": frozenset({"a"})}
    write_table(columns, tmp_path / "a.dta", value_labels=labels, missing_codes=codes)
    back = gh.read(tmp_path / "a.dta")
    assert back.column("x").values.to_pylist() == ["1", "a", "*", ""]
    assert back.labels.values == labels
    assert back.missing(["x"]).tolist() == [False, True, False, True]


def test_texts_of_spss_keep_their_labels(tmp_path: Path) -> None:
    from glasshouse.sources.exports import write_table
    from tests.sources.test_exports import dictionary

    columns = {"uf": dictionary("MG", "SP", "*")}
    write_table(columns, tmp_path / "a.sav", value_labels={"uf": {"MG": "Minas", "RS": "Rio G."}})
    back = gh.read(tmp_path / "a.sav")
    assert back.labels.values["uf"] == {"MG": "Minas", "RS": "Rio G."}
    assert back.column("uf").values.to_pylist() == ["MG", "SP", "*"]


def test_inspect_counts_declared_codes_as_missing_and_shows_labels(
    tmp_path: Path, glasshouse: Glasshouse
) -> None:
    survey = write(tmp_path / "survey.sav")
    shown = json.loads(glasshouse("inspect", survey, "--json").out)
    sex, country, age, _ = shown["columns"]
    table = gh.read(survey)
    assert sex["missing"] == int(table.missing(["sex"]).sum()) > 0
    assert age["missing"] == int(table.missing(["v8"]).sum()) > 0
    assert sex["distinct"] == 2
    assert country["label"] == "Country of birth"
    assert sex["value_labels"] == {"1": "male", "2": "female", "9": "not stated"}
    seen = " ".join(glasshouse("inspect", survey, "--out", tmp_path / "look").out.split())
    assert "male" in seen
    page = (tmp_path / "look" / "inspect.html").read_text(encoding="utf-8")
    assert "Country of birth" in page
    assert "1 = Country 1" in page


def test_the_label_of_a_column_counts_for_its_role_where_its_name_says_nothing(
    tmp_path: Path,
) -> None:
    roles = {column.name: column.role for column in profile(gh.read(write(tmp_path / "s.sav")))}
    assert roles["v7"] is Role.QUASI_IDENTIFIER
    frame = pl.DataFrame({"v7": [1.0, 2.0, 3.0] * 9, "sex": [1.0, 2.0, 2.0] * 9})
    path = tmp_path / "plain.sav"
    pyreadstat.write_sav(frame, path, column_labels={"sex": "Result of the test for sex"})
    roles = {column.name: column.role for column in profile(gh.read(path))}
    expected = {"v7": Role.QUASI_IDENTIFIER, "sex": Role.QUASI_IDENTIFIER}
    assert roles == expected, "the name comes first"
