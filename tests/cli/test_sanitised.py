"""Releases that hold generalised values: classes are those of the release, suppressed records are told apart."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.cli.test_longitudinal import write
from tests.conftest import Glasshouse

RELEASE = {
    "age": ["[20-30)", "[20-30)", "[30-40)", "[30-40)", "*", "*"],
    "zip": ["130**", "130**", "131**", "131**", "*", "*"],
    "ill": ["flu", "hiv", "flu", "flu", "hiv", "flu"],
}


@pytest.fixture(autouse=True)
def release(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    write("release.csv", RELEASE)


WHOLE = ("-q", "age", "-q", "zip", "-s", "ill", "--subsets", "full")


def said(glasshouse: Glasshouse, *arguments: str) -> str:
    outcome = glasshouse("assess", "release.csv", *WHOLE, *arguments)
    assert outcome.code == 0, outcome.error
    return " ".join(outcome.out.split())


def test_suppressed_records_of_a_file_are_no_class_and_said(glasshouse: Glasshouse) -> None:
    document = json.loads(said(glasshouse, "--json"))
    assert (document["records"], document["suppressed"]) == (4, 2)
    naming, inferring = document["results"]
    assert (naming["classes"], naming["uniques"]) == (2, 0)
    assert inferring["deterministic"]["records"] == 2
    assert document == json.loads(said(glasshouse, "--json", "--drop-suppressed"))
    assert (
        "2 records are suppressed: all their quasi-identifiers are “*”. They are left out"
        in said(glasshouse)
    )


def test_suppressed_records_are_a_class_where_that_is_asked_for(glasshouse: Glasshouse) -> None:
    document = json.loads(said(glasshouse, "--json", "--keep-suppressed"))
    assert (document["records"], document["suppressed"]) == (6, 2)
    assert document["results"][0]["classes"] == 3
    assert "they are one class, which is counted" in said(glasshouse, "--keep-suppressed")


def test_records_that_are_all_alike_are_generalised_and_not_suppressed(
    glasshouse: Glasshouse,
) -> None:
    write("release.csv", RELEASE | {"age": ["*"] * 6, "zip": ["*"] * 6})
    document = json.loads(said(glasshouse, "--json"))
    assert "suppressed" not in document
    assert (document["records"], document["results"][0]["classes"]) == (6, 1)


def test_a_file_is_assessed_as_its_folder_is(glasshouse: Glasshouse) -> None:
    people = {"age": [*["20"] * 4, "90"], "zip": ["1", "1", "2", "2", "9"], "ill": list("ababa")}
    write("people.csv", people)
    options = ("--k", 2, "--suppression", 0.2, "--out", "run")
    made = glasshouse("anonymise", "people.csv", "-q", "age", "-q", "zip", "-s", "ill", *options)
    assert made.code == 0, made.error
    of_folder = json.loads(glasshouse("assess", "run", "--subsets", "full", "--json").out)
    of_file = json.loads(glasshouse("assess", "run/release.csv", *WHOLE, "--json").out)
    assert of_file == of_folder
    assert (of_file["records"], of_file["results"][0]["classes"]) == (4, 2)


def test_a_class_that_is_generalised_to_nothing_stays_one_in_its_folder(
    glasshouse: Glasshouse,
) -> None:
    write("people.csv", {"age": [*["20"] * 3, *"abc"], "sex": [*["F"] * 3, *"MMF"]})
    options = ("--k", 3, "--recoding", "local", "--out", "run", "--json")
    made = glasshouse("anonymise", "people.csv", "-q", "age", "-q", "sex", *options)
    after = json.loads(made.out)["after"][0]
    assert Path("run/release.csv").read_text().count("*,*") == 3
    document = json.loads(glasshouse("assess", "run", "--subsets", "full", "--json").out)
    assert (document["records"], document["results"][0]["classes"]) == (6, 2)
    assert after["classes"] == 2


def test_nothing_is_said_where_nothing_is_suppressed(glasshouse: Glasshouse) -> None:
    document = json.loads(glasshouse("assess", "release.csv", "-q", "ill", "--json").out)
    assert "suppressed" not in document


def test_a_true_value_finds_its_class(glasshouse: Glasshouse) -> None:
    known = ("--know", "age=34", "--know", "zip=13150")
    document = json.loads(glasshouse("target", "release.csv", *known, "-s", "ill", "--json").out)
    assert document["candidates"] == 2
    assert document["secrets"][0]["certain"] is True


def test_a_register_of_true_values_is_matched(glasshouse: Glasshouse) -> None:
    write(
        "town.csv",
        {"age": ["21", "29", "30", "39", "34", "80"], "zip": ["13001"] * 2 + ["13101"] * 4},
    )
    arguments = ("membership", "release.csv", "--population", "town.csv", "-q", "age", "-q", "zip")
    outcome = glasshouse(*arguments, "--json")
    assert outcome.code == 0, outcome.error
    document = json.loads(outcome.out)
    assert document["delta_min"] == 0, "nobody of eighty is in it"
    assert document["delta_max"] == 1
    assert document["certainly_in"] == 2
