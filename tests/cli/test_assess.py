"""``glasshouse assess`` from end to end: golden numbers as JSON, run folders, studies."""

from __future__ import annotations

import csv
import json
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import pyarrow.parquet
import pytest

from glasshouse.cli.assess import WHOLE_SET
from glasshouse.report.archive import from_json
from glasshouse.report.page import Page
from tests.conftest import Glasshouse

ADULT_COLUMNS = (
    "age,workclass,fnlwgt,education,education-num,marital-status,occupation,relationship,race,sex,"
    "capital-gain,capital-loss,hours-per-week,native-country,income"
)
QUASI_IDENTIFIERS = (
    "age",
    "workclass",
    "education",
    "marital-status",
    "race",
    "sex",
    "native-country",
)


def write_csv(path: Path, rows: Iterable[Iterable[object]]) -> Path:
    with path.open("w", newline="", encoding="utf-8") as file:
        csv.writer(file).writerows(rows)
    return path


@pytest.fixture
def grades(tmp_path: Path) -> Path:
    columns = [
        [25, 25, 25, 25, 25, 49, 49, 49, 49, 60],
        "FFFMMFFFMM",
        "AACBBCCEDD",
        ["no", "yes", "yes", "yes", "no", "yes", "yes", "no", "no", "no"],
    ]
    rows = zip(*columns, strict=True)
    return write_csv(tmp_path / "grades.csv", [["age", "gender", "grade", "disability"], *rows])


def document(glasshouse: Glasshouse, *arguments: object) -> dict[str, Any]:
    outcome = glasshouse("assess", *arguments, "--json")
    assert outcome.code == 0, outcome.error
    notes = [line for line in outcome.error.splitlines() if "in every column" not in line]
    assert notes in ([], [WHOLE_SET])
    content: dict[str, Any] = json.loads(outcome.out)
    return content


def test_the_language_example(glasshouse: Glasshouse, tmp_path: Path) -> None:
    """Alvim et al. 2022, Table 2: a gain of 4 per right guess is worth 2 before and 3 after."""
    rows: list[list[object]] = [
        ["id", "language", "gender", "age"],
        [1, "English", "M", ">30"],
        [2, "Port.", "M", "<=30"],
        [3, "German", "F", "<=30"],
        [4, "German", "M", "<=30"],
    ]
    path = write_csv(tmp_path / "languages.csv", rows)
    known = ("-q", "gender", "-q", "age", "-s", "language", "--id", "id")
    results = document(glasshouse, path, *known, "--worth", "language:*=4")["results"]
    naming, inferring = results[-2:]  # after those with either attribute alone
    assert naming["probabilistic"]["posterior"] == 0.75
    assert inferring["gain"]["prior"] == 2
    assert inferring["gain"]["posterior"] == 3


def test_ten_students_with_worth(glasshouse: Glasshouse, grades: Path) -> None:
    """The worked example of bvmlib, the tool of Alvim et al. 2022."""
    known = ("-q", "age", "-q", "gender", "-s", "grade", "-s", "disability")
    worth = ("--worth", "grade:A=10,B=6,C=6,D=6,E=8", "--worth", "disability:yes=10,no=2")
    content = document(glasshouse, grades, *known, *worth)
    naming, grade, disability = content["results"][-3:]
    assert content["records"] == 10
    assert naming == {
        "attack": "CRS",
        "quasi_identifiers": ["age", "gender"],
        "sensitive": None,
        "datasets": ["grades.csv"],
        "classes": 5,
        "uniques": 2,
        "deterministic": {"prior": 0.0, "posterior": 0.2, "additive": 0.2, "records": 2},
        "probabilistic": {"prior": 0.1, "posterior": 0.5, "additive": 0.4, "multiplicative": 5.0},
        "capacity": 5.0,
    }
    assert grade["probabilistic"]["prior"] == 0.3
    assert grade["probabilistic"]["posterior"] == 0.8
    assert grade["deterministic"]["records"] == 4
    assert (grade["gain"]["prior"], grade["gain"]["posterior"]) == (2.0, 5.6)
    assert disability["probabilistic"]["multiplicative"] == 1.4
    assert disability["deterministic"]["posterior"] == 0.2
    assert (disability["gain"]["prior"], disability["gain"]["posterior"]) == (5.0, 5.4)


def test_the_example_of_privattacks(glasshouse: Glasshouse, tmp_path: Path) -> None:
    rows = zip(
        [20, 30, 30, 30, 30, 55, 55, 55],
        ["Master", *["High School"] * 2, *["PhD"] * 2, *["Bachelor"] * 3],
        ["low", "medium", "low", "medium", "medium", "high", "high", "medium"],
        strict=True,
    )
    path = write_csv(tmp_path / "docs.csv", [["age", "education", "income"], *rows])
    known = ("-q", "age", "-q", "education", "-s", "income")
    naming, inferring = document(glasshouse, path, *known)["results"][-2:]
    chances = [
        (r["probabilistic"]["prior"], r["probabilistic"]["posterior"]) for r in (naming, inferring)
    ]
    assert chances == [(0.125, 0.5), (0.5, 0.75)]


def test_adult_comes_out_exactly(glasshouse: Glasshouse, shared: Callable[[str], Path]) -> None:
    golden = json.loads(shared("golden/microdata.json").read_text())["adult_uci_32561"]
    known = [option for name in QUASI_IDENTIFIERS for option in ("-q", name)]
    subsets = [option for names in golden["subsets"] for option in ("--subsets", names)]
    reading = ("--no-header", "--strip", "--names", ADULT_COLUMNS)
    content = document(
        glasshouse, shared("data/adult.data"), *known, *subsets, "-s", "occupation", *reading
    )
    assert content["records"] == 32_561
    by_subset = {
        (",".join(result["quasi_identifiers"]), result["attack"]): result
        for result in content["results"]
    }
    for names, expected in golden["subsets"].items():
        naming, inferring = by_subset[names, "CRS"], by_subset[names, "CAS"]
        assert naming["probabilistic"]["posterior"] == expected["re_post"]
        assert naming["deterministic"]["posterior"] == expected["dCR"]
        assert inferring["probabilistic"]["posterior"] == expected["ai_post"]
        assert inferring["deterministic"]["posterior"] == expected["dCA"]


def test_several_tries_and_joint_secrets(glasshouse: Glasshouse, grades: Path) -> None:
    options = ("-q", "age", "-s", "grade,disability", "--tries", "2")
    naming, joint = document(glasshouse, grades, *options)["results"]
    assert naming["gain"] == {
        "prior": 0.2,
        "posterior": 0.5,
        "additive": 0.3,
        "multiplicative": 2.5,
    }
    assert joint["sensitive"] == "grade+disability"
    assert joint["gain"]["prior"] == 0.5


def test_weights(glasshouse: Glasshouse, tmp_path: Path) -> None:
    path = write_csv(tmp_path / "w.csv", [["q", "w"], ["x", "0.5"], ["x", "1.5"], ["y", "2"]])
    (naming,) = document(glasshouse, path, "-q", "q", "--prior-weight", "w")["results"]
    assert naming["probabilistic"]["prior"] == 0.5
    assert naming["probabilistic"]["posterior"] == 0.875


def test_a_readable_table_and_a_sentence_per_finding(glasshouse: Glasshouse, grades: Path) -> None:
    outcome = glasshouse("assess", grades, "-q", "age", "-q", "gender", "-s", "grade")
    assert outcome.code == 0
    assert "grades.csv: 10 records" in outcome.out
    assert "identify the person" in outcome.out
    assert (
        outcome.out.count("•") == 4
    )  # naming, inferring, what is enough, how many are nearly alone


@pytest.fixture
def stored(glasshouse: Glasshouse, grades: Path, tmp_path: Path) -> Path:
    options = ("-q", "age", "-q", "gender", "-s", "grade", "--tries", "2", "--subject", "student")
    outcome = glasshouse("assess", grades, *options, "--out", tmp_path / "run")
    assert outcome.code == 0, outcome.error
    assert str(tmp_path / "run" / "report.html") in outcome.out.replace("\n", "")
    return tmp_path / "run"


def contents(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.iterdir()}


def test_a_run_folder_holds_study_manifest_results_and_report(stored: Path) -> None:
    assert sorted(contents(stored)) == [
        "exposures.parquet",
        "manifest.json",
        "report.html",
        "report.json",
        "results.parquet",
        "study.toml",
    ]
    frame = pyarrow.parquet.read_table(stored / "results.parquet")
    assert frame.column("attack").to_pylist() == ["CRS", "CAS"] * 3
    assert frame.column("probabilistic_posterior").to_pylist()[-2:] == [0.5, 0.8]
    manifest = json.loads((stored / "manifest.json").read_text())
    assert manifest["records"] == 10
    assert len(manifest["datasets"][0]["sha256"]) == 64


def test_the_study_of_a_run_reproduces_it_byte_for_byte(
    glasshouse: Glasshouse, stored: Path, tmp_path: Path
) -> None:
    again = tmp_path / "again"
    outcome = glasshouse("assess", "--study", stored / "study.toml", "--out", again)
    assert outcome.code == 0, outcome.error
    assert contents(again) == contents(stored)


def test_the_report_names_no_folder_of_the_machine(stored: Path) -> None:
    assert str(stored.parent) not in (stored / "report.html").read_text()


def test_a_run_folder_is_not_overwritten_unless_asked(
    glasshouse: Glasshouse, grades: Path, stored: Path
) -> None:
    before = contents(stored)
    outcome = glasshouse("assess", grades, "-q", "age", "--out", stored)
    assert outcome.code == 2
    assert "--overwrite" in outcome.error
    assert contents(stored) == before
    assert glasshouse("assess", grades, "-q", "age", "--out", stored, "--overwrite").code == 0
    assert contents(stored) != before


def test_a_saved_table_gives_the_same_results_without_parsing(
    glasshouse: Glasshouse, grades: Path, tmp_path: Path
) -> None:
    options = ("-q", "age", "-q", "gender", "-s", "grade")
    encoded = tmp_path / "grades.arrow"
    first = document(glasshouse, grades, *options, "--save-table", encoded)
    again = document(glasshouse, encoded, *options)
    assert again == first
    assert again["verdict"]["coverage"]["not-looked-at"] == ["disability"], (
        "the file has it, all the same"
    )


UNSURE = {
    "en": "by someone who knows age only within 1; a best guess would be right in 37.5% of cases",
    "pt-BR": "por quem conhece age só com erro de até 1; na melhor tentativa, acerta-se em 37,5% dos casos",
}
HOW = {"en": "age only within 1", "pt-BR": "age só com erro de até 1"}
CLOSE = {
    "en": "guesses at salary within 10%, without these facts and with them; exactly right: 12.5% → 100%",
    "pt-BR": "de tentativas sobre salary com erro de até 10%, sem essas informações e com elas; exatamente certas: "
    "12,5% → 100%",
}


@pytest.mark.parametrize("language", ["en", "pt-BR"])
def test_the_first_screen_answers_the_question_that_was_asked(
    tmp_path: Path, glasshouse: Glasshouse, language: str
) -> None:
    """Of who is unsure of an age, and of guesses that need only be close, the figures are those that were asked for."""
    path = tmp_path / "staff.csv"
    rows = [(20 + place, 1000 + 10 * (place // 2)) for place in range(16)]
    path.write_text("age,salary\n" + "".join(f"{age},{pay}\n" for age, pay in rows), "utf-8")

    def first_screen(*options: str) -> Page:
        out = tmp_path / options[0].strip("-")
        asked = ("assess", path, "-q", "age", "-s", "salary", *options, "--lang", language)
        assert glasshouse(*asked, "--out", out).code == 0
        return from_json((out / "report.json").read_text(encoding="utf-8"), "report")[language]

    about = first_screen("--about", "age=±1")
    figures = ["4.2%", "12.5% → 70.8%", "100%"]
    if language == "pt-BR":
        figures = [figure.replace(".", ",") for figure in figures]
    assert [tile.figure for tile in about.tiles] == figures
    assert UNSURE[language] in about.tiles[0].sentence
    assert UNSURE[language].split(";")[0] in about.tiles[1].sentence
    share = "37.5%" if language == "en" else "37,5%"
    assert HOW[language] in about.findings[0].sentence
    assert share in about.findings[0].sentence
    close = first_screen("--within", "salary=10%")
    assert CLOSE[language] in [tile.sentence for tile in close.tiles]
    near, exact = (
        next(place for place, finding in enumerate(close.findings) if words in finding.sentence)
        for words in (" 10%", "salary")
    )
    assert near <= exact, "a close guess comes before an exact one"
