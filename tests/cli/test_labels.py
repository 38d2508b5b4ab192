"""What columns and values are called: as a file of SPSS or the study says. The code stays the value."""

from __future__ import annotations

import json
import random
from dataclasses import replace
from pathlib import Path
from typing import Any

import pandas as pd
import pyarrow.parquet
import pyreadstat
import pytest

import glasshouse as gh
from glasshouse.report.archive import from_json
from glasshouse.report.page import Page
from tests.conftest import Glasshouse
from tests.report.pages import HOSTILE
from tests.report.reading import assert_it_asks_nobody, drawn, read_text

COLUMN_LABELS: dict[str, str | None] = {
    "sexo": "Sexo",
    "v2": "Faixa de idade",
    "v4": "Tem deficiência",
    "uf": "Estado",
}
VALUE_LABELS: dict[str, dict[int | float, str]] = {
    "sexo": {1: "masculino", 2: "feminino"},
    "v4": {1: "sim", 2: "não"},
    "uf": {31: "Minas Gerais", 33: "Rio de Janeiro", 35: "São Paulo"},
}
KNOWN = ("-q", "sexo", "-q", "v2", "-q", "uf", "-s", "v4")


def people(count: int = 300) -> pd.DataFrame:
    chance = random.Random(5)
    rows = [
        (chance.choice([1, 2, 2]), chance.randint(1, 9), chance.choice([1, 1, 2]), uf)
        for uf in (31, 33, 35)
        for _ in range(count // 3)
    ]
    return pd.DataFrame(rows, columns=["sexo", "v2", "v4", "uf"])


def write_spss(path: Path, labels: dict[str, str | None] | None = None) -> Path:
    pyreadstat.write_sav(
        people(),
        path,
        column_labels=COLUMN_LABELS if labels is None else labels,
        variable_value_labels=VALUE_LABELS,
    )
    return path


@pytest.fixture
def survey(tmp_path: Path) -> Path:
    """Write a survey as SPSS does, with labels of columns and values."""
    return write_spss(tmp_path / "survey.sav")


def pages_of(folder: Path) -> dict[str, Page]:
    return from_json((folder / "report.json").read_text(encoding="utf-8"), "report.json")


@pytest.mark.parametrize("language", ["en", "pt-BR"])
def test_the_labels_of_a_file_are_in_sentences_tables_and_pictures_and_its_codes_in_results(
    survey: Path, tmp_path: Path, glasshouse: Glasshouse, language: str
) -> None:
    answer = glasshouse("assess", survey, *KNOWN, "--lang", language, "--out", tmp_path / "run")
    assert answer.code == 0, answer.error
    shown = " ".join(answer.out.split())
    page = pages_of(tmp_path / "run")[language]
    knowing = {"en": "Sexo, Faixa de idade and Estado", "pt-BR": "Sexo, Faixa de idade e Estado"}
    assert all("-s v4" in action.command for action in page.actions), "a command needs the names"
    lay = replace(page, actions=tuple(replace(action, command="") for action in page.actions))
    assert page.actions[0].command in shown
    for seen in (shown.replace(page.actions[0].command, ""), read_text(lay)):
        assert knowing[language] in seen
        assert "Tem deficiência" in seen
        assert "v4" not in seen.partition("study.toml")[0]
    pictures = " ".join(map(drawn, page.pictures))
    assert "Faixa de idade" in pictures
    assert ">v2<" not in pictures
    results = pyarrow.parquet.read_table(tmp_path / "run" / "results.parquet")
    people().to_csv(tmp_path / "survey.csv", index=False)
    plain = glasshouse("assess", tmp_path / "survey.csv", *KNOWN, "--out", tmp_path / "plain")
    assert plain.code == 0
    same = pyarrow.parquet.read_table(tmp_path / "plain" / "results.parquet")
    assert results.drop_columns(["datasets"]).equals(same.drop_columns(["datasets"]))


def test_values_are_called_by_their_labels_where_they_are_told(
    survey: Path, tmp_path: Path, glasshouse: Glasshouse
) -> None:
    known = ("-q", "sexo", "-q", "v2", "-s", "v4", "--by", "uf")
    parts = glasshouse("assess", survey, *known, "--out", tmp_path / "parts")
    for seen in (parts.out, read_text(pages_of(tmp_path / "parts")["pt-BR"])):
        assert all(state in seen for state in ("Minas Gerais", "Rio de Janeiro", "São Paulo"))
    by_code = json.loads(glasshouse("assess", survey, *known, "--json").out)
    assert [part["part"] for part in by_code["parts"]] == ["31", "33", "35"]
    person = glasshouse("target", survey, "--know", "uf=35", "-s", "v4").out
    assert "without it “sim” would" in " ".join(person.split())
    joint = glasshouse("target", survey, "--know", "uf=35", "-s", "v4,sexo").out
    assert "(sim, feminino)" in joint


def test_the_study_says_what_columns_are_called_in_the_language_of_the_report(
    survey: Path, tmp_path: Path, glasshouse: Glasshouse
) -> None:
    run = tmp_path / "run"
    label = ("--label", "sexo=sex", "--label", "v2=age group", "--title", "The survey of 2024")
    assert glasshouse("assess", survey, *KNOWN, *label, "--out", run).code == 0
    pages = pages_of(run)
    assert "sex, age group and Estado" in read_text(pages["en"])
    assert "Sexo, Faixa de idade e Estado" in read_text(pages["pt-BR"])
    assert {page.title for page in pages.values()} == {"The survey of 2024"}
    study = (run / "study.toml").read_text(encoding="utf-8")
    both = tmp_path / "both.toml"
    both.write_text(f'{study}\n[labels.pt]\nuf = "UF de residência"\n', encoding="utf-8")
    assert glasshouse("assess", "--study", both, "--out", tmp_path / "again").code == 0
    pages = pages_of(tmp_path / "again")
    assert "sex, age group and Estado" in read_text(pages["en"])
    assert "Sexo, Faixa de idade e UF de residência" in read_text(pages["pt-BR"])


def test_labels_in_a_language_that_is_not_spoken_are_refused(
    survey: Path, tmp_path: Path, glasshouse: Glasshouse
) -> None:
    study = tmp_path / "study.toml"
    asked = f'command = "assess"\ndatasets = [{{path = "{survey.name}"}}]\n'
    study.write_text(
        f'{asked}adversary = {{quasi_identifiers = ["sexo"]}}\n[labels.xx]\nsexo = "s"\n'
    )
    answer = glasshouse("assess", "--study", study)
    assert answer.code == 2
    assert answer.error.count("\n") == 1
    assert 'does not speak "xx"' in answer.error


def test_runs_side_by_side_have_the_labels_of_each(
    survey: Path, tmp_path: Path, glasshouse: Glasshouse
) -> None:
    for name in ("first", "second"):
        label = ("--label", "sexo=sex of the person", "--subsets", "full")
        assert glasshouse("assess", survey, *KNOWN, *label, "--out", tmp_path / name).code == 0
    shown = glasshouse("compare", tmp_path / "first", tmp_path / "second").out
    assert "sex of the person, Faixa de idade and Estado" in " ".join(shown.split())


def test_a_label_of_no_column_is_one_line(survey: Path, glasshouse: Glasshouse) -> None:
    for label, fault in (
        ("sex0=Sexo", 'column "sex0" is not in the data; did you mean "sexo"?'),
        ("sexo=", '--label "sexo=" is not of the form COLUMN=TEXT'),
        ("sexo", '--label "sexo" is not of the form COLUMN=TEXT'),
    ):
        answer = glasshouse("assess", survey, *KNOWN, "--label", label)
        assert answer.code == 2
        assert answer.error == f"glasshouse: {fault}\n"


@pytest.mark.parametrize("label", [*HOSTILE, "x" * 4000, "Q1. " + "how often " * 50])
def test_a_hostile_label_is_shown_as_it_is_and_does_nothing(
    tmp_path: Path, label: str, glasshouse: Glasshouse
) -> None:
    file = write_spss(tmp_path / "survey.sav", {"sexo": label[:250], "v2": label[:250]})
    options = ("--title", label[:250], "--label", f"uf={label}", "--subsets", "full")
    answer = glasshouse("assess", file, *KNOWN, *options, "--out", tmp_path / "run")
    assert answer.code == 0, answer.error
    assert_it_asks_nobody((tmp_path / "run" / "report.html").read_text(encoding="utf-8"))
    assert all(line.isprintable() for line in answer.out.split("\n"))
    shown = {cell for row in _cells(pages_of(tmp_path / "run")["en"]) for cell in row}
    assert max(map(len, shown)) < 400


def _cells(page: Page) -> list[list[str]]:
    tables = [table for section in page.sections for table in section.tables]
    return [
        [cell.text for cell in row]
        for table in tables
        for group in table.groups
        for row in group.rows
    ]


def test_labels_that_are_alike_stay_apart(tmp_path: Path) -> None:
    alike: dict[str, str | None] = {"sexo": "Resposta", "v2": "Resposta", "v4": "uf"}
    run = gh.assess(
        str(write_spss(tmp_path / "survey.sav", alike)),
        quasi_identifiers=["sexo", "v2"],
        sensitive=["v4"],
    )
    sentences = " ".join(finding.sentence for finding in run.findings)
    assert "Resposta (sexo) and Resposta (v2)" in sentences
    assert " uf" in sentences


def test_a_table_in_memory_keeps_the_labels_of_its_file(survey: Path) -> None:
    table = gh.read(survey, quasi_identifiers=["sexo", "v2"], sensitive=["v4"])
    run: Any = gh.assess(table)
    assert "Sexo and Faixa de idade" in run.findings[0].sentence


@pytest.mark.parametrize("kind", ["a saved table", "a release"])
def test_labels_stay_with_what_is_made_of_a_file(
    survey: Path, tmp_path: Path, glasshouse: Glasshouse, kind: str
) -> None:
    kept = tmp_path / ("table.arrow" if kind == "a saved table" else "release")
    if kind == "a saved table":
        assert glasshouse("assess", survey, *KNOWN, "--save-table", kept).code == 0
    else:
        assert glasshouse("anonymise", survey, *KNOWN, "--k", "3", "--out", kept).code == 0
    survey.unlink()
    answer = glasshouse("assess", kept, *(KNOWN if kind == "a saved table" else ()))
    assert answer.code == 0, answer.error
    assert "Faixa de idade" in answer.out
    assert "Tem deficiência" in answer.out
