"""``membership``: who is in a release, through the command line."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from glasshouse.report import Page, archive
from tests.cli.test_longitudinal import FIRST, SECOND, write
from tests.conftest import Glasshouse

TOWN = {"age": [*"2223334"], "sex": [*"FFMFMMF"]}
TRIAL = {"age": [*"233"], "sex": [*"MMM"], "ill": ["yes", "no", "yes"]}


@pytest.fixture(autouse=True)
def files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    write("D1.csv", FIRST)
    write("D2.csv", SECOND)
    write("town.csv", TOWN)
    write("trial.csv", TRIAL)


def test_membership_of_all_people(glasshouse: Glasshouse) -> None:
    arguments = ("membership", "trial.csv", "--population", "town.csv", "-q", "age", "-q", "sex")
    document = json.loads(glasshouse(*arguments, "--json").out)
    assert document["attack"] == "CMS"
    assert (document["certainly_in"], document["certainly_out"]) == (3, 4)
    assert document["probabilistic"]["posterior"] == 1
    shown = glasshouse(*arguments, "--out", "run")
    assert shown.code == 0, shown.error
    assert "certainly in" in shown.out
    assert Path("run/report.html").exists()


def test_people_are_chosen_alike_in_release_and_register(glasshouse: Glasshouse) -> None:
    arguments = ("membership", "trial.csv", "--population", "town.csv", "-q", "age", "--json")
    document = json.loads(glasshouse(*arguments, "--where", "sex=M").out)
    assert (document["people"], document["members"]) == (3, [3])
    assert document["certainly_out"] == 0


def test_release_and_register_of_one_name_both_leave_their_fingerprint(
    glasshouse: Glasshouse,
) -> None:
    for folder, data in (("x", TRIAL), ("y", TOWN)):
        write(f"{folder}/people.csv", data)
    arguments = ("x/people.csv", "--population", "y/people.csv", "-q", "age", "--out", "run")
    assert glasshouse("membership", *arguments).code == 0
    entries = json.loads(Path("run/manifest.json").read_text())["datasets"]
    assert len({entry["sha256"] for entry in entries}) == 2
    assert [entry["name"] for entry in entries] == ["x/people.csv", "y/people.csv"]


def test_a_file_that_is_named_twice_is_listed_once(glasshouse: Glasshouse) -> None:
    write("town/people.csv", TOWN)
    both = (
        "--release",
        "town/people.csv",
        "--register",
        Path("town/../town/people.csv").absolute(),
    )
    outcome = glasshouse("deter", *both, "-q", "age", "--out", "run")
    assert outcome.code == 0, outcome.error
    entries = json.loads(Path("run/manifest.json").read_text())["datasets"]
    assert [entry["name"] for entry in entries] == ["people.csv"]
    report = Path("run/report.html").read_text()
    assert entries[0]["sha256"] not in report, "it stays with the analyst"
    assert "town/" not in report


def test_a_report_tells_files_of_one_name_apart(glasshouse: Glasshouse, tmp_path: Path) -> None:
    write("people.csv", TOWN)
    write("sub/people.csv", TRIAL)
    arguments = ("people.csv", "sub/people.csv", "-q", "age", "-s", "sex", "--each", "--out", "run")
    outcome = glasshouse("assess", *arguments)
    assert outcome.code == 0, outcome.error
    study = page_of("run").provenance.study
    assert 'path = "people.csv"' in study
    assert 'path = "sub/people.csv"' in study
    assert list(page_of("run").provenance.datasets) == ["people.csv", "sub/people.csv"]
    assert tmp_path.name not in Path("run/report.json").read_text()


def page_of(run: str) -> Page:
    return archive.from_json(Path(run, "report.json").read_text(), "report.json")["en"]


def test_membership_of_one_person(glasshouse: Glasshouse) -> None:
    arguments = ("membership", "trial.csv", "--population", "town.csv", "-q", "age", "-q", "sex")
    document = json.loads(glasshouse(*arguments, "--know", "sex=M", "--json").out)
    assert document["attack"] == "IMS"
    assert (document["candidates"], document["records"]) == (3, [3])
    assert document["certain"] is True
    shown = glasshouse(*arguments, "--know", "age=2..3", "--out", "run")
    assert shown.code == 0, shown.error
    assert "6 of the 7 people of town.csv may be this person" in " ".join(shown.out.split())
    report = Path("run/report.html").read_text()
    assert "Fewer than 10 of the 7 people of town.csv may be this person" in report
    assert "2 or 3" not in report


def test_membership_in_several_releases(glasshouse: Glasshouse) -> None:
    write("later.csv", {"age": ["2"], "sex": ["M"]})
    arguments = ("trial.csv", "later.csv", "--population", "town.csv", "-q", "age", "-q", "sex")
    document = json.loads(glasshouse("membership", *arguments, "--json").out)
    assert document["attack"] == "CML"
    assert [each["attack"] for each in document["each"]] == ["CMS", "CMS"]
    one = json.loads(glasshouse("membership", *arguments, "--know", "age=2", "--json").out)
    assert one["attack"] == "IML"


def test_membership_without_a_register(glasshouse: Glasshouse) -> None:
    arguments = ("membership", "trial.csv", "--fraction", "0.4", "-q", "age", "-q", "sex")
    document = json.loads(glasshouse(*arguments, "--json").out)
    assert {each["name"] for each in document["estimates"]} >= {"Zayatz", "Pitman", "SNB", "Dankar"}
    shown = glasshouse(*arguments, "--out", "run")
    assert shown.code == 0, shown.error


BAD = {
    "no fraction": (
        ("membership", "trial.csv", "--fraction", "0", "-q", "age"),
        "above 0 and at most 1",
    ),
    "no population": (("membership", "trial.csv", "-q", "age"), "--population"),
    "both": (
        ("membership", "trial.csv", "-q", "age", "--fraction", "0.5", "--population", "town.csv"),
        "not both",
    ),
    "nothing shared": (
        ("membership", "trial.csv", "--population", "town.csv", "-q", "ill"),
        '"ill" is not in town.csv',
    ),
    "not in the register": (
        ("membership", "D1.csv", "--population", "D2.csv", "-q", "age"),
        "no counterpart",
    ),
    "treated members": (
        ("membership", "trial.csv", "--population", "town.csv", "-q", "age", "--invalid", "age=2"),
        "would be taken for people who are not there",
    ),
    "chosen by what the register lacks": (
        ("membership", "trial.csv", "--population", "town.csv", "-q", "age", "--where", "ill=no"),
        "of the release and of the register alike",
    ),
}


@pytest.mark.parametrize(("arguments", "message"), BAD.values(), ids=BAD)
def test_a_bad_question_is_one_line(
    glasshouse: Glasshouse, arguments: tuple[str, ...], message: str
) -> None:
    outcome = glasshouse(*arguments)
    assert outcome.code == 2, outcome.error
    assert message in outcome.error
    assert outcome.error.count("\n") == 1
