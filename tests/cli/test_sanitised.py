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


def test_suppressed_records_are_a_class_of_their_own_and_said(glasshouse: Glasshouse) -> None:
    arguments = (
        "assess",
        "release.csv",
        "-q",
        "age",
        "-q",
        "zip",
        "-s",
        "ill",
        "--subsets",
        "full",
    )
    document = json.loads(glasshouse(*arguments, "--json").out)
    assert document["suppressed"] == 2
    naming, inferring = document["results"]
    assert naming["classes"] == 3
    assert inferring["deterministic"]["records"] == 2
    assert "2 records are suppressed" in glasshouse(*arguments).out


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
