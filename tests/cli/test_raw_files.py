"""A raw file as an agency holds it, through the command line: understood without being asked, and never misread."""

from __future__ import annotations

import csv
import json
import shlex
from pathlib import Path

import pytest

from tests.conftest import Glasshouse
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


def test_what_was_assumed_of_the_encoding_is_told(register: Path, glasshouse: Glasshouse) -> None:
    for command in (["inspect"], ["assess", "-q", "Cidade"]):
        told = glasshouse(*command, str(register))
        assert "atendimentos.csv is no UTF-8; it was read as cp1252" in told.error
        assert "--encoding" in told.error
    told = glasshouse("assess", "-q", "Cidade", str(register), "--encoding", "latin-1")
    assert "UTF-8" not in told.error


def test_records_of_one_person_are_pointed_to_before_the_risk_seems_smaller(
    register: Path, glasshouse: Glasshouse
) -> None:
    told = glasshouse("assess", str(register), "-q", "Cidade")
    assert 'column "Documento" looks like a person\'s identifier' in told.error
    assert "60 records of the first 360 repeat one" in told.error
    told = glasshouse("assess", str(register), "-q", "Cidade", "--id", "Documento")
    assert "looks like" not in told.error


def test_inspect_names_what_belongs_in_no_release(register: Path, glasshouse: Glasshouse) -> None:
    shown = " ".join(glasshouse("inspect", str(register)).out.split())
    assert "Documento (CPF), Fone (phone number), Contato (e-mail address)" in shown
    assert (
        'Free text may name anybody: read it, or leave it out of the release: "Observação"' in shown
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
