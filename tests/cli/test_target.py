"""``target``: what is learned of one person, through the command line."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from glasshouse.language import speaking
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


def test_one_person_in_one_dataset(glasshouse: Glasshouse) -> None:
    outcome = glasshouse(
        "target", "D1.csv", "--know", "gender=F", "--know", "age=25", "-s", "disability", "--json"
    )
    assert outcome.code == 0, outcome.error
    document = json.loads(outcome.out)
    assert (document["attack"], document["candidates"]) == ("IRS", 3)
    assert document["naming"]["posterior"] == pytest.approx(1 / 3)
    (secret,) = document["secrets"]
    assert secret["attack"] == "IAS"
    assert secret["best"] == {"value": "yes", "probability": pytest.approx(2 / 3)}


def test_one_person_in_several_datasets(glasshouse: Glasshouse) -> None:
    arguments = ("target", "D1.csv", "D2.csv", "--id", "id", "-s", "disability", "--json")
    known = ("--know", "gender=F", "--know", "grade=C", "--know", "grade@D2=C")
    document = json.loads(glasshouse(*arguments, *known).out)
    assert (document["attack"], document["candidates"]) == ("IRL", 2)
    assert document["secrets"][0]["attack"] == "IAL"
    assert document["secrets"][0]["certain"] is True
    absent = json.loads(glasshouse(*arguments, "--know", "@D2=absent").out)
    assert absent["candidates"] == 1


def test_sets_and_intervals_are_known_too(glasshouse: Glasshouse) -> None:
    known = ("--know", "age=30..60", "--know", "grade=D,E")
    document = json.loads(glasshouse("target", "D1.csv", *known, "--json").out)
    assert document["candidates"] == 3


def test_several_facts_may_stand_in_one_option(glasshouse: Glasshouse) -> None:
    apart = ("--know", "gender=F", "--know", "age=25,26")
    arguments = ("target", "D1.csv", "-s", "disability", "--json")
    documents = [
        json.loads(glasshouse(*arguments, *known).out)
        for known in (apart, ("--know", "gender=F,age=25,26"))
    ]
    assert documents[0] == documents[1]
    assert documents[0]["candidates"] == 3


def test_the_journalist_counts_the_population(glasshouse: Glasshouse) -> None:
    arguments = ("target", "trial.csv", "--know", "age=3", "--know", "sex=M", "-s", "ill", "--json")
    counted = json.loads(glasshouse(*arguments, "--population", "town.csv").out)["journalist"]
    assert counted["estimated"] is False
    assert counted["presence"]["posterior"] == 1
    assert counted["naming"]["posterior"] == pytest.approx(1 / 2)
    guessed = json.loads(glasshouse(*arguments, "--fraction", "0.5").out)["journalist"]
    assert guessed["estimated"] is True
    assert guessed["naming"]["posterior"] == pytest.approx(0.5 / 2)


def test_the_report_of_a_target_is_written_and_can_be_repeated(glasshouse: Glasshouse) -> None:
    arguments = ("target", "D1.csv", "--know", "age=60", "-s", "disability")
    outcome = glasshouse(*arguments, "--out", "run")
    assert outcome.code == 0, outcome.error
    assert Path("run/report.html").exists()
    first = json.loads(glasshouse(*arguments, "--json").out)
    again = glasshouse("target", "--study", "run/study.toml", "--json")
    assert json.loads(again.out) == first
    report = Path("run/report.html").read_text()
    assert "age=60" not in report, "what is known of the person does not travel with the report"


def test_the_report_of_a_target_holds_no_value_and_no_small_number(glasshouse: Glasshouse) -> None:
    write("clinic.csv", {"age": ["zebra1"] * 3 + ["zebra2"] * 9, "ill": ["zebra3", "zebra4"] * 6})
    arguments = ("target", "clinic.csv", "--know", "age=zebra1", "-s", "ill")
    outcome = glasshouse(*arguments, "--out", "run")
    assert outcome.code == 0, outcome.error
    assert "3 of the 12 records fit" in outcome.out
    assert "“zebra3”" in outcome.out, "the analyst is told"
    for name in ("report.html", "report.json"):
        content = Path("run", name).read_text()
        assert "zebra" not in content
        assert "ewer than 10 of the 12 records fit" in content
        assert "3 of the 12 records" not in content


def test_what_is_found_of_people_is_said_in_portuguese_too(glasshouse: Glasshouse) -> None:
    arguments = ("target", "D1.csv", "--know", "age=60", "-s", "disability")
    with speaking("pt-BR"):
        said = glasshouse(*arguments).out
    assert "esta pessoa é encontrada com certeza" in " ".join(said.split())
    with speaking("pt-BR"):
        said = glasshouse("membership", "trial.csv", "--population", "town.csv", "-q", "age").out
    assert "A tentativa de dizer quem está em trial.csv acerta" in " ".join(said.split())


BAD = {
    "nothing known": (("target", "D1.csv"), "--know COLUMN=VALUE"),
    "no such value": (
        ("target", "D1.csv", "--know", "age=26"),
        'zero candidates; the nearest values are "25", "49", "60"',
    ),
    "no such column": (("target", "D1.csv", "--know", "agee=25"), 'did you mean "age"?'),
    "nobody fits": (
        ("target", "D1.csv", "--know", "age=25", "--know", "grade=E"),
        "zero candidates",
    ),
    "no condition": (("target", "D1.csv", "--know", "age"), "is not of the form"),
    "another command": (("target", "--study", "membership.toml"), "glasshouse membership --study"),
}


@pytest.mark.parametrize(("arguments", "message"), BAD.values(), ids=BAD)
def test_a_bad_question_is_one_line(
    glasshouse: Glasshouse, arguments: tuple[str, ...], message: str
) -> None:
    Path("membership.toml").write_text(
        'command = "membership"\nfraction = 0.5\ndatasets = [{path = "trial.csv"}]\n'
        '[adversary]\nquasi_identifiers = ["age"]\n'
    )
    outcome = glasshouse(*arguments)
    assert outcome.code == 2, outcome.error
    assert message in outcome.error
    assert outcome.error.count("\n") == 1


VISITS = {
    "cpf": [*"aaabbbccddde"],
    "clinic": [*"NNSNSSNSNNSS"],
    "day": [*"123133121223"],
    "icd": "F32 I10 J00 I10 J00 J00 F20 I10 I10 J00 I10 F41".split(),
}
TWO = ("--person", "cpf", "--know", "clinic=N,day=1", "--know", "clinic=S")


@pytest.fixture
def visits() -> str:
    write("visits.csv", VISITS)
    return "visits.csv"


def test_one_person_of_whom_two_records_are_known(glasshouse: Glasshouse, visits: str) -> None:
    outcome = glasshouse("target", visits, *TWO, "-s", "any icd=F*", "-s", "other icd", "--json")
    assert outcome.code == 0, outcome.error
    document = json.loads(outcome.out)
    figures = {name: document[name] for name in ("people", "records", "targets", "candidates")}
    assert figures == {"people": 5, "records": 12, "targets": 4, "candidates": 4}
    assert document["naming"]["prior"] == 1 / 4
    assert document["naming"]["posterior"] == 3 / 7, (
        "of 1/3, 2/3, 1 and 1/3: c has no other records"
    )
    person, another = document["secrets"]
    assert person["best"] == {"value": "yes", "probability": 4 / 7}
    assert another["best"]["value"] == "J00"


def test_it_is_told_on_the_terminal_in_both_languages(glasshouse: Glasshouse, visits: str) -> None:
    outcome = glasshouse("target", visits, *TWO, "-s", "count")
    told = " ".join(outcome.out.split())
    assert (
        "visits.csv: 5 people with 12 records; of 4 people with at least 2 records, 4 have" in told
    )
    assert "clinic and day of 1 record and clinic of 1 record" in told
    told = " ".join(
        glasshouse("--lang", "pt-BR", "target", visits, *TWO, "-s", "count").out.split()
    )
    assert "clinic e day de 1 registro e clinic de 1 registro" in told


def test_a_run_about_known_records_can_be_repeated(glasshouse: Glasshouse, visits: str) -> None:
    arguments = ("target", visits, *TWO, "-s", "any icd=F*")
    assert glasshouse(*arguments, "--out", "run").code == 0
    study = Path("run/study.toml").read_text()
    assert '"clinic=N,day=1"' in study
    first = json.loads(glasshouse(*arguments, "--json").out)
    again = glasshouse("target", "--study", "run/study.toml", "--json")
    assert json.loads(again.out) == first
    for name in ("report.html", "report.json", "manifest.json"):
        written = Path("run", name).read_text()
        assert "day=1" not in written, name
        assert "clinic=N" not in written, name
    assert "clinic=…,day=…" in Path("run/report.html").read_text()


def test_dates_of_known_records_are_said_as_the_file_says_them(glasshouse: Glasshouse) -> None:
    days = [f"{day:02d}/03/2024" for day in (1, 2, 3, 1, 3, 3, 1, 2, 1, 2, 2, 3)]
    write("visits.csv", VISITS | {"day": days})
    outcome = glasshouse(
        *("target", "visits.csv", "--person", "cpf", "--date", "day=dd/mm/yyyy", "--json"),
        *("--know", "day=03/03/2024,clinic=S", "--know", "clinic=S,day=02/03/2024..03/03/2024"),
    )
    assert outcome.code == 0, outcome.error
    assert json.loads(outcome.out)["candidates"] == 1


@pytest.mark.parametrize(
    ("arguments", "reason"),
    [
        (["--know", "clinic=N"] * 4, "nobody has 4 records: the longest history has 3"),
        (["--know", "clinic=N,dya=1"], 'column "dya" is not in visits.csv'),
        (["--know", "cpf=a"], "says whose a record is (--person)"),
        (["--know", "clinic=N", "--population", "visits.csv"], "leave out --population"),
        (["--know", "clinic=N", "--fraction", "0.5"], "leave out --fraction"),
        (["--know", "clinic=N", "--tries", "2"], "leave out --tries"),
        (["--know", "clinic=N", "--id", "icd"], "leave out --id"),
        (["--know", "clinic=N", "D1.csv"], "--person is for one dataset"),
        (
            ["--know", "clinic=N", "--unlinked"],
            "leave out --unlinked and --person, and give the facts of one record",
        ),
        (["--know", "clinic=N", "-s", "icd"], "is not the same in all records of a person"),
        ([], "say what is known about the person"),
    ],
)
def test_what_does_not_go_with_known_records_is_one_line(
    glasshouse: Glasshouse, visits: str, arguments: list[str], reason: str
) -> None:
    outcome = glasshouse("target", visits, "--person", "cpf", *arguments, "--out", "run")
    assert outcome.code == 2
    assert reason in outcome.error
    assert outcome.error.count("\n") == 1
    assert not Path("run").exists()
