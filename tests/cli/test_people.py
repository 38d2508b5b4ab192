"""People rather than records, from end to end: the exact answers through the command and through Python."""

from __future__ import annotations

import csv
import json
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

import glasshouse as gh
from tests.conftest import Glasshouse

Case = dict[str, Any]


@pytest.fixture
def case(shared: Callable[[str], Path], tmp_path: Path) -> Callable[[str], tuple[Case, Path]]:
    """Give a case of the golden answers, and a file with its table."""
    cases = json.loads(shared("golden/people.json").read_text())["cases"]

    def chosen(name: str) -> tuple[Case, Path]:
        (golden,) = (entry for entry in cases if entry["id"] == name)
        path = tmp_path / f"{name}.csv"
        with path.open("w", newline="", encoding="utf-8") as file:
            table = golden["table"]
            csv.writer(file).writerows([[*table], *zip(*table.values(), strict=True)])
        return golden, path

    return chosen


def answer(glasshouse: Glasshouse, *arguments: object) -> dict[str, Any]:
    outcome = glasshouse("assess", *arguments, "--json")
    assert outcome.code == 0, outcome.error
    content: dict[str, Any] = json.loads(outcome.out)
    return content


def exactly(figures: dict[str, Any], **expected: str) -> None:
    """Compare figures with the floats nearest to exact fractions."""
    for name, fraction in expected.items():
        assert figures[name] == float(Fraction(fraction)), name


def test_close_guesses_come_out_exactly(
    glasshouse: Glasshouse, case: Callable[[str], tuple[Case, Path]]
) -> None:
    for name, secret, tolerance in (("C1", "income", "10%"), ("C2", "band", "1")):
        golden, path = case(name)
        expected = golden["expect"]
        known = ("-q", "sex", "-q", "town")
        content = answer(
            glasshouse, path, *known, "-s", secret, "--within", f"{secret}={tolerance}"
        )
        (close,) = content["close"]
        assert (close["sensitive"], close["within"], close["records"]) == (secret, tolerance, 10)
        assert len(close["subsets"]) == 3
        exactly(
            close["subsets"][-1],
            close_prior=expected["close before"],
            close_posterior=expected["close by guessing"],
            certain_posterior=expected["close with certainty"],
            off_prior=expected["off before"],
            off_posterior=expected["off"],
        )
        run = gh.assess(
            pa.table(golden["table"]),
            quasi_identifiers=["sex", "town"],
            sensitive=[secret],
            within={secret: tolerance},
        )
        (outcome,) = run.outcome.close
        assert str(outcome.guess().posterior) == expected["close by guessing"]
        assert str(outcome.mean_error()[1]) == expected["off"]


def test_a_question_about_a_column_is_a_secret(
    glasshouse: Glasshouse, case: Callable[[str], tuple[Case, Path]]
) -> None:
    golden, path = case("C2")
    expected = golden["expect"]
    questions = ("income>1999", "income>1100")
    asked = [word for question in questions for word in ("-s", question)]
    content = answer(glasshouse, path, "-q", "sex", "-q", "town", *asked, "--subsets", "full")
    for result in content["results"][1:]:
        question = result["sensitive"]
        exactly(
            result["probabilistic"],
            prior=expected[f"{question} before"],
            posterior=expected[f"{question} by guessing"],
        )


def test_codes_that_begin_alike_are_one_answer(glasshouse: Glasshouse, tmp_path: Path) -> None:
    path = tmp_path / "ill.csv"
    path.write_text("sex,icd\nF,F32\nF,F41\nM,I10\nM,\n")
    (_, result) = answer(glasshouse, path, "-q", "sex", "-s", "icd=F*", "--subsets", "full")[
        "results"
    ]
    exactly(result["probabilistic"], prior="2/3", posterior="1")
    assert result["deterministic"]["records"] == 3


def test_close_guesses_are_told_in_both_languages(glasshouse: Glasshouse, tmp_path: Path) -> None:
    path = tmp_path / "pay.csv"
    rows = [("FM"[i % 2], "ABC"[i % 3], 1000 + 37 * (i * i % 50)) for i in range(60)]
    path.write_text("sex,town,income\n" + "".join(f"{a},{b},{c}\n" for a, b, c in rows))
    for language, phrases in (
        (
            "en",
            ("guesses the income within 10% in", "Guesses that need only be close", "off least"),
        ),
        ("pt-BR", ("com erro de até 10% em", "só precisam chegar perto", "menos erra")),
    ):
        folder = tmp_path / language
        outcome = glasshouse(
            *("--lang", language, "assess", path, "-q", "sex", "-q", "town", "-s", "income"),
            *("--within", "income=10%", "--out", folder),
        )
        assert outcome.code == 0, outcome.error
        page = (folder / "report.html").read_text(encoding="utf-8")
        assert all(phrase in page for phrase in phrases)


@pytest.mark.parametrize(
    ("arguments", "why"),
    [
        (("-s", "pay", "--within", "pay=100%"), "a guess of 0 is always close"),
        (("-s", "pay", "--within", "pay=much"), "neither a share such as pay=10%"),
        (("-s", "pay", "--within", "pay=-1"), "neither a share such as pay=10%"),
        (("-s", "pay", "--within", "icd=1"), 'given for "icd", which is no secret'),
        (("-s", "icd", "--within", "icd=1"), 'in column "icd" is not a number'),
        (("-s", "pay", "--within", "pay=1", "--weight", "w"), "leave out --weight"),
        (("-s", "sex=F"), 'about "sex", which she knows'),
        (("-s", "icd>F"), "is a number, or a date"),
        (("-s", "ycd=F*"), "ycd"),
    ],
)
def test_what_cannot_be_asked_is_refused_in_one_line(
    glasshouse: Glasshouse, tmp_path: Path, arguments: tuple[str, ...], why: str
) -> None:
    path = tmp_path / "people.csv"
    path.write_text("sex,pay,icd,w\nF,10,F32,1\nM,20,I10,1\n")
    outcome = glasshouse("assess", path, "-q", "sex", *arguments, "--out", tmp_path / "run")
    assert outcome.code == 2
    assert why in outcome.error
    assert len(outcome.error.strip().splitlines()) == 1
    assert not (tmp_path / "run").exists()
