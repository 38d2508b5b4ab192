"""A raw file as an agency holds it, through the command line: understood without being asked, and never misread."""

from __future__ import annotations

import csv
import html
import json
import re
import shlex
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet
import pytest

from glasshouse.report import Page, Severity
from glasshouse.report.archive import from_json
from tests.conftest import Glasshouse
from tests.report.reading import everything, read_text
from tests.table.test_profile import visits


@pytest.fixture
def register(tmp_path: Path) -> Path:
    """Write a register of visits as Brazilian systems do: latin-1, semicolons, CRLF."""
    columns = visits().to_pydict()
    path = tmp_path / "atendimentos.csv"
    with path.open("w", encoding="latin-1", newline="") as file:
        writer = csv.writer(file, delimiter=";", lineterminator="\r\n")
        writer.writerow(columns)
        writer.writerows(zip(*columns.values(), strict=True))
    return path


def test_the_suggested_command_runs_as_it_is_and_keeps_every_person(
    register: Path, glasshouse: Glasshouse
) -> None:
    shown = glasshouse("inspect", str(register))
    assert shown.code == 0
    line = shown.out.replace("\n", " ").partition("Next: ")[2]
    words = shlex.split(line)
    assert words[words.index("--id") + 1] == "Documento"
    answer = glasshouse(*words[1:], "--json")
    assert answer.code == 0, answer.error
    assert json.loads(answer.out)["records"] == 300


def test_what_was_assumed_is_told_with_what_overrides_it(
    register: Path, glasshouse: Glasshouse
) -> None:
    told = glasshouse("inspect", str(register))
    assert "this was assumed of atendimentos.csv" in told.error
    assert "cp1252 letters, as it is not UTF-8 (--encoding)" in told.error
    assert '";" between fields (--separator)' in told.error
    shown = " ".join(glasshouse("assess", "-q", "Cidade", str(register)).out.split())
    assert "Assumed of atendimentos.csv: “;” stands between fields (--separator)" in shown
    assert "its letters are written as cp1252 (--encoding)" in shown
    reading = ("--encoding", "latin-1", "--separator", ";")
    again = " ".join(glasshouse("assess", "-q", "Cidade", str(register), *reading).out.split())
    assert "--separator" not in again
    assert "--encoding" not in again


def test_records_of_one_person_are_pointed_to_before_the_risk_seems_smaller(
    register: Path, glasshouse: Glasshouse
) -> None:
    told = glasshouse("assess", str(register), "-q", "Cidade")
    assert 'column "Documento" looks like a person\'s identifier' in told.error
    assert "60 records of the first 360 repeat one" in told.error
    told = glasshouse("assess", str(register), "-q", "Cidade", "--id", "Documento")
    assert "looks like" not in told.error


def test_the_report_tells_who_repeats_and_the_figure_that_one_record_each_would_give(
    register: Path, tmp_path: Path, glasshouse: Glasshouse
) -> None:
    known = ("assess", register, "-q", "Cidade", "-q", "Fone")
    assert glasshouse(*known, "--out", tmp_path / "run").code == 0
    page = page_of(tmp_path / "run")
    (repeated,) = [finding for finding in page.findings if "Documento" in finding.sentence][1:]
    assert "60 records of the first 360 repeat one" in repeated.sentence
    one_each = json.loads(glasshouse(*known, "--id", "Documento", "--json").out)["results"][-1]
    certain = one_each["deterministic"]["records"]
    assert f"Then {certain} of 300 people can be identified with certainty" in repeated.sentence
    assert "One record per person is assumed" in read_text(page)
    assert glasshouse(*known, "--id", "Documento", "--out", tmp_path / "each").code == 0
    told = read_text(page_of(tmp_path / "each"))
    assert "One record per person is assumed" not in told
    assert "repeat one" not in told


def test_records_that_are_the_same_in_every_column_are_pointed_to(
    tmp_path: Path, glasshouse: Glasshouse
) -> None:
    path = tmp_path / "people.csv"
    rows = [f"{i % 7},{i}" for i in range(100)]
    path.write_text("\n".join(["sex,income", *rows, *rows[:3], ""]))
    told = glasshouse("assess", path, "-q", "sex", "--out", tmp_path / "run")
    sentence = "3 of the first 103 records of people.csv are the same as others in every column"
    figure = "Then 0 of 100 people can be identified with certainty, and a guess is right in 7.0% of cases."
    for seen in (told.error, read_text(page_of(tmp_path / "run"))):
        assert sentence in seen
        assert figure in seen
    path.write_text("\n".join(["sex,income", *rows, ""]))
    assert "in every column" not in glasshouse("assess", path, "-q", "sex").error
    path.write_text("\n".join(["sex,month", *(f"{i % 7},{i % 98}" for i in range(100)), ""]))
    told = glasshouse("assess", path, "-q", "sex")
    assert "2 of the first 100 records" in told.error
    path.write_text("\n".join(["sex,month", *(f"{i % 7},{i % 11}" for i in range(78)), ""]))
    assert "in every column" not in glasshouse("assess", path, "-q", "sex").error  # may be chance


@pytest.mark.parametrize("language", ["en", "pt-BR"])
def test_a_direct_identifier_is_a_finding_of_high_severity_that_names_no_value(
    register: Path, tmp_path: Path, glasshouse: Glasshouse, language: str
) -> None:
    known = ("assess", register, "-q", "Cidade", "--lang", language)
    shown = glasshouse(*known, "--out", tmp_path / "run").out
    page = page_of(tmp_path / "run", language)
    first, second, *_ = page.findings
    assert first.severity is Severity.HIGH
    assert "Documento (CPF)" in first.sentence
    assert "Contato (" in first.sentence
    assert second.severity is Severity.MODERATE
    assert '"Observação"' in second.sentence
    for finding in (first, second):
        assert finding.sentence in " ".join(shown.split())
    assert glasshouse(*known, "--json").out
    found = json.loads(glasshouse(*known, "--json").out)
    kinds = {column["column"]: column["kind"] for column in found["direct_identifiers"]}
    assert kinds["Documento"] == "CPF"
    assert [column["column"] for column in found["free_text"]] == ["Observação"]
    columns = visits().to_pydict()
    secret = {value for name in ("Documento", "Contato", "Fone") for value in columns[name]}
    held = everything(page)
    assert not [value for value in secret if value in held]


def test_a_release_without_direct_identifiers_is_not_blamed(
    tmp_path: Path, glasshouse: Glasshouse
) -> None:
    path = tmp_path / "people.csv"
    drugs = ["aspirin", "insulin", "codeine", "heparin", "warfarin", "digoxin"]
    rows = [f"{i},{drugs[i % 6]},{'11.222.333/0001-81' if i % 2 else ''}" for i in range(900)]
    path.write_text("\n".join(["income,drug_name,cnpj_hospital", *rows, ""]))
    answer = json.loads(glasshouse("assess", path, "-q", "income", "--json").out)
    assert "direct_identifiers" not in answer
    assert "free_text" not in answer


def test_what_was_assumed_is_told_with_the_option_that_says_otherwise(
    register: Path, tmp_path: Path, glasshouse: Glasshouse
) -> None:
    expected = (
        "Assumed of atendimentos.csv: “;” stands between fields (--separator); its letters are written as cp1252 "
        "(--encoding); its first line holds names (--no-header)."
    )
    told = glasshouse("assess", register, "-q", "Cidade", "--out", tmp_path / "run")
    assert expected in " ".join(told.out.split())
    assert expected in page_of(tmp_path / "run").limits
    said = ("--separator", ";", "--encoding", "cp1252", "--no-header", "--names", "a,b,c,d,e,f")
    assert "Assumed of" not in glasshouse("assess", register, "-q", "a", *said).out
    path = tmp_path / "codes.csv"
    path.write_text("race,income\n" + "1,1.5\n2,2.5\n3,3.5\n9,4.5\n?,5.5\n" * 4)
    told = glasshouse("assess", path, "-q", "race", "-q", "income", "--type", "income=number")
    assert (
        'its first line holds names (--no-header); “.” stands before decimals (--decimal); "?" in "race" and "9" in '
        '"race" are values like others, and not missing (--missing).'
    ) in " ".join(told.out.split())


@pytest.mark.parametrize("language", ["en", "pt-BR"])
def test_inspect_and_assess_say_the_same_of_how_a_file_is_written(
    register: Path, tmp_path: Path, glasshouse: Glasshouse, language: str
) -> None:
    plain = tmp_path / "plain.csv"
    plain.write_text("sex,illness\n" + "F,none\nM,flu\n" * 6, encoding="utf-8")
    for path, known in ((plain, "sex"), (register, "Cidade")):
        spoken, out = ("--lang", language), tmp_path / f"{path.stem}-{language}"
        assert glasshouse("assess", path, "-q", known, *spoken, "--out", out).code == 0
        assert glasshouse("inspect", path, *spoken, "--out", f"{out}.html").code == 0
        (assumed,) = [limit for limit in page_of(out, language).limits if "(--separator)" in limit]
        looked = html.unescape(Path(f"{out}.html").read_text(encoding="utf-8"))
        phrases = assumed.split(": ", 1)[1].removesuffix(".").split("; ")
        assert len(phrases) > 1
        assert [phrase for phrase in phrases if phrase not in looked] == []


def page_of(folder: Path, language: str = "en") -> Page:
    return from_json((folder / "report.json").read_text(encoding="utf-8"), "report")[language]


def test_inspect_names_what_belongs_in_no_release(register: Path, glasshouse: Glasshouse) -> None:
    shown = " ".join(glasshouse("inspect", str(register)).out.split())
    assert "Documento (CPF), Fone (phone number), Contato (e-mail address)" in shown
    assert (
        'Free text may mention anybody: read it, or leave it out of the release: "Observação"'
        in shown
    )


def test_a_file_without_a_header_is_pointed_out_and_loses_no_record(
    tmp_path: Path, glasshouse: Glasshouse
) -> None:
    path = tmp_path / "adult.data"
    path.write_text("39, Private, ?\n50, Private, 9\n38, Other, 1\n50, Other, 1\n")
    told = glasshouse("inspect", path)
    assert "the first line of adult.data looks like a record" in told.error
    words = shlex.split(told.out.replace("\n", " ").partition("Next: ")[2])
    assert words[-1] == "--no-header"
    assert "4 records" in glasshouse(*words[1:]).out


def test_codes_for_missing_are_missing_where_that_is_said(
    tmp_path: Path, glasshouse: Glasshouse
) -> None:
    path = tmp_path / "people.csv"
    path.write_text("sex;race;income\n1;1;1.234,50\n2;9;1234,5\n9;2;7\n")
    shown = " ".join(glasshouse("inspect", path).out.split())
    assert 'may stand for missing: "9" in "sex" (1), "9" in "race" (1)' in shown
    reading = ("--missing", "sex=9", "--missing", "race=9", "--type", "income=number")
    answer = glasshouse(
        *("assess", path, "-q", "sex", "-q", "race", "-s", "income", "--drop-missing", "--json"),
        *(*reading, "--decimal", ",", "--thousands", "."),
    )
    assert answer.code == 0, answer.error
    assert json.loads(answer.out)["records"] == 1


@pytest.mark.parametrize("language", ["en", "pt-BR"])
def test_the_page_of_inspect_has_the_command_that_runs(
    register: Path, glasshouse: Glasshouse, monkeypatch: pytest.MonkeyPatch, language: str
) -> None:
    shown = glasshouse(
        "inspect", str(register), "--out", register.parent / "look", "--lang", language
    )
    assert shown.code == 0, shown.error
    page = (register.parent / "look" / "inspect.html").read_text(encoding="utf-8")
    assert f'<html lang="{language}">' in page
    assert str(register.parent) not in page
    code = re.search("<code>(glasshouse assess .*?)</code>", page)
    assert code is not None
    monkeypatch.chdir(register.parent)
    words = shlex.split(html.unescape(code[1]))
    assert json.loads(glasshouse(*words[1:], "--json").out)["records"] == 300


def test_no_value_of_a_person_is_on_the_page(register: Path, glasshouse: Glasshouse) -> None:
    place = register.parent / "page.html"
    assert glasshouse("inspect", str(register), "--out", place).code == 0
    page = place.read_text(encoding="utf-8")
    columns = visits().to_pydict()
    for name in ("Documento", "Fone", "Contato", "Observação", "Nome do Paciente"):
        assert name in page
        assert not any(str(value) in page for value in columns[name])


def test_a_first_record_is_never_on_the_page_as_names(
    tmp_path: Path, glasshouse: Glasshouse
) -> None:
    path, place = tmp_path / "people.data", tmp_path / "look.html"
    path.write_text("39,Ana,M\n" + "39,Ana,M\n50,Bia,F\n" * 20)
    refused = glasshouse("inspect", path, "--out", place)
    assert (refused.code, place.exists(), refused.error.count("\n")) == (2, False, 2)
    assert "a page would show it; say --no-header, or --names" in refused.error
    assert glasshouse("inspect", path, "--out", place, "--no-header").code == 0
    assert "column_1" in place.read_text(encoding="utf-8")


def test_a_page_that_exists_is_not_replaced_unasked(register: Path, glasshouse: Glasshouse) -> None:
    place = register.parent / "page.html"
    place.write_text("mine")
    refused = glasshouse("inspect", register, "--out", place)
    assert (refused.code, refused.out, place.read_text()) == (2, "", "mine")
    assert "exists; choose another place, or say --overwrite" in refused.error
    assert glasshouse("inspect", register, "--out", place, "--overwrite").code == 0
    assert "<html" in place.read_text(encoding="utf-8")
    beneath = glasshouse("inspect", register, "--out", register / "look")
    assert (beneath.code, beneath.error.count("\n")) == (2, 2)  # with what was assumed
    assert "cannot write" in beneath.error
    itself = glasshouse(
        "inspect", register, "--out", register.parent / "atendimentos.html", "--json"
    )
    assert json.loads(itself.out)["records"] == 360


def test_a_folder_of_parts_is_assessed_as_one_table(tmp_path: Path, glasshouse: Glasshouse) -> None:
    for state in ("01", "35"):
        part = tmp_path / "people" / f"uf={state}"
        part.mkdir(parents=True)
        table = pa.table({"age": ["20", "30"], "illness": ["flu", "cold"]})
        pyarrow.parquet.write_table(table, part / "part.parquet")
    known = ("-q", "age", "-q", "uf", "-s", "illness", "--json")
    answer = glasshouse("assess", tmp_path / "people", *known)
    assert answer.code == 0, answer.error
    assert json.loads(answer.out)["records"] == 4
