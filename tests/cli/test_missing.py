"""Missing values cannot be learned: how the command line, a study, Python and a report say so."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import polars as pl
import pyarrow.parquet
import pytest

import glasshouse as gh
from glasshouse.errors import DataError
from tests.conftest import Glasshouse

KNOWN = ("-q", "sex", "-q", "uf", "-s", "ill")


@pytest.fixture
def people(tmp_path: Path) -> Path:
    """Return 60 people, of whom 24 have no illness, and three no job."""
    path = tmp_path / "people.csv"
    rows = [
        f"{'FM'[i % 2]},{('SP', 'RJ', 'MG')[i % 3]},{'abc  '[i % 5].strip()},{'' if i < 3 else 'xyz'[i % 3]}"
        for i in range(60)
    ]
    path.write_text("\n".join(["sex,uf,ill,job", *rows]) + "\n")
    return path


def complete(people: Path) -> Path:
    """Return the file without the records that have no illness."""
    header, *rows = people.read_text().splitlines()
    path = people.with_name("complete.csv")
    path.write_text("\n".join([header, *(row for row in rows if row.split(",")[2])]) + "\n")
    return path


def results(answer: str, attack: str) -> list[dict[str, object]]:
    found = json.loads(answer)["results"]
    return [row | {"datasets": None} for row in found if row["attack"] == attack]


@pytest.mark.parametrize("more", [(), ("--subsets", "full"), ("--tries", "2")])
def test_a_missing_secret_is_not_learned_and_its_records_are_counted(
    people: Path, glasshouse: Glasshouse, more: tuple[str, ...]
) -> None:
    ours = glasshouse("assess", people, *KNOWN, *more, "--json").out
    theirs = glasshouse("assess", complete(people), *KNOWN, *more, "--json").out
    assert results(ours, "CAS") == results(theirs, "CAS")
    assert results(ours, "CRS") != results(theirs, "CRS")
    assert json.loads(ours)["missing"] == {"ill": 24}
    assert "missing" not in json.loads(theirs)


def test_missing_is_a_value_where_that_is_asked(
    people: Path, glasshouse: Glasshouse, tmp_path: Path
) -> None:
    asked = ("assess", people, *KNOWN, "--missing-is-a-value", "--out", tmp_path / "run")
    answer = json.loads(glasshouse(*asked, "--json").out)
    assert "missing" not in answer
    assert answer["results"][-1]["probabilistic"]["prior"] == 24 / 60
    study = (tmp_path / "run" / "study.toml").read_text()
    assert "missing_is_a_value = true" in study
    table = gh.read(people, quasi_identifiers=["sex", "uf"], sensitive=["ill"])
    run = gh.assess(table, missing_is_a_value=True)
    assert run.to_dict()["results"] == answer["results"]


def test_a_report_says_how_many_records_have_no_secret_but_of_few_no_number(
    people: Path, glasshouse: Glasshouse, tmp_path: Path
) -> None:
    out = tmp_path / "run"
    shown = glasshouse("assess", people, *KNOWN, "-s", "job", "--out", out).out
    report = (out / "report.html").read_text()
    for page in (" ".join(shown.split()), report):
        assert "In 24 records the ill is missing. Missing values cannot be learned" in page
        assert "In fewer than 10 records the job is missing." in page
    frame = pyarrow.parquet.read_table(out / "results.parquet").to_pylist()
    assert {(row["sensitive"], row["records"]) for row in frame} == {
        (None, 60),
        ("ill", 36),
        ("job", 57),
    }


def test_parts_leave_out_what_is_missing_too(people: Path, glasshouse: Glasshouse) -> None:
    known = ("-q", "sex", "-s", "ill", "--by", "uf", "--json")
    ours = json.loads(glasshouse("assess", people, *known).out)
    theirs = json.loads(glasshouse("assess", complete(people), *known).out)
    assert ours["missing"] == {"ill": 24}
    for part, expected in zip(ours["parts"], theirs["parts"], strict=True):
        assert part["targets"][1] == expected["targets"][1]
        assert part["records"] - part["missing"]["ill"] == expected["records"]


def test_a_secret_that_is_missing_everywhere_is_one_line(
    people: Path, glasshouse: Glasshouse
) -> None:
    for more in ((), ("--subsets", "full"), ("--by", "uf")):
        known = ("-q", "sex", "-s", "ill", "--missing", "ill=a,b,c", *more)
        answer = glasshouse("assess", people, *known)
        assert answer.code == 2
        assert not answer.out
        assert "is missing in all" in answer.error
        assert "--missing-is-a-value" in answer.error
        assert len(answer.error.splitlines()) == 1


def test_of_a_person_whose_secret_is_missing_nothing_is_learned(
    people: Path, glasshouse: Glasshouse, tmp_path: Path
) -> None:
    people.write_text(people.read_text() + "X,SP,,x\n")
    asked = ("target", people, "--know", "sex=X", "-s", "ill", "-s", "job")
    answer = glasshouse(*asked, "--out", tmp_path / "run")
    sentence = (
        "Nothing is learned about this person's ill: it is missing in every record that fits."
    )
    assert sentence in " ".join(answer.out.split())
    assert sentence in (tmp_path / "run" / "report.html").read_text().replace("&#39;", "'")
    content = json.loads(glasshouse(*asked, "--json").out)
    assert content["unlearned"] == ["ill"]
    assert [secret["sensitive"] for secret in content["secrets"]] == ["job"]
    known = json.loads(glasshouse("target", people, "--know", "sex=F", "-s", "ill", "--json").out)
    assert known["secrets"][0]["missing"] == {"records": 25, "candidates": 12}


def as_spss(path: Path, *, codes: bool = True) -> None:
    """Write 40 people whose income has the code 99 for missing, and anything below 0."""
    import pyreadstat

    frame = pl.DataFrame(
        {
            "sex": [1.0 + i % 2 for i in range(40)],
            "race": [float((1, 2, 9)[i % 3]) for i in range(40)],
            "income": [float((100, 200, 99, -8, -7)[i % 5]) for i in range(40)],
        }
    )
    missing: dict[str, Any] = {"race": [9], "income": [99, {"lo": -1e300, "hi": -1}]}
    pyreadstat.write_sav(frame, str(path), missing_ranges=missing if codes else None)


def test_codes_that_a_file_calls_missing_are_no_secret_and_stay_what_is_known_of_a_person(
    tmp_path: Path, glasshouse: Glasshouse
) -> None:
    as_spss(tmp_path / "people.sav")
    as_spss(tmp_path / "plain.sav", codes=False)
    known = ("-q", "sex", "-q", "race", "-s", "income", "--json")
    ours = json.loads(glasshouse("assess", tmp_path / "people.sav", *known).out)
    plain = json.loads(glasshouse("assess", tmp_path / "plain.sav", *known).out)
    assert ours["missing"] == {"income": 24}
    assert "missing" not in plain

    def named(answer: dict[str, object]) -> list[object]:
        found = answer["results"]
        assert isinstance(found, list)
        return [row | {"datasets": None} for row in found if row["sensitive"] is None]

    assert named(ours) == named(plain)
    said = ("--missing", "income=99,-8,-7")
    asked = json.loads(glasshouse("assess", tmp_path / "plain.sav", *known, *said).out)
    assert asked["missing"] == ours["missing"]
    assert [row["probabilistic"] for row in asked["results"]] == [
        row["probabilistic"] for row in ours["results"]
    ]
    # in memory, with roles of its own, the same; and records with a code are dropped where that is asked
    table = gh.read(tmp_path / "people.sav")
    run = gh.assess(table, quasi_identifiers=["sex", "race"], sensitive=["income"])
    assert run.to_dict()["results"] == ours["results"]
    left = glasshouse("assess", tmp_path / "people.sav", *known, "--drop-missing").out
    assert json.loads(left)["records"] == 40 - 13 - 24 + 8


def test_a_protected_release_keeps_to_the_codes_of_its_original(
    tmp_path: Path, glasshouse: Glasshouse
) -> None:
    as_spss(tmp_path / "people.sav")
    known = ("-q", "sex", "-q", "race", "-s", "income", "--k", "2")
    made = glasshouse("anonymise", tmp_path / "people.sav", *known, "--out", tmp_path / "run")
    assert "In 24 records the income is missing." in " ".join(made.out.split())
    after = pyarrow.parquet.read_table(tmp_path / "run" / "results.parquet").to_pylist()[-1]
    again = json.loads(glasshouse("assess", tmp_path / "run", "--subsets", "full", "--json").out)
    assert again["missing"] == {"income": 24}
    assert again["results"][-1]["probabilistic"]["posterior"] == after["probabilistic_posterior"]


def test_python_refuses_a_secret_that_nobody_has() -> None:
    with pytest.raises(DataError, match="say `missing_is_a_value` to count"):
        gh.assess(
            pl.DataFrame({"a": ["1", "2"], "s": ["", None]}),
            quasi_identifiers=["a"],
            sensitive=["s"],
        )
