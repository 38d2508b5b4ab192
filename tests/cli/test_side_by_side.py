"""People, close guesses and inexact knowledge side by side: the figures of a comparison are those of its runs."""

from __future__ import annotations

import csv
import json
from datetime import date
from fractions import Fraction
from pathlib import Path
from typing import Any

import pyarrow.parquet
import pytest

from tests.conftest import Glasshouse

KNOWN = ("-q", "sex", "-q", "town", "-q", "age", "-s", "income", "-s", "ill")
ROWS = [
    ("FM"[i % 2], "ABC"[i % 3], 20 + i * i % 50, 1000 + 37 * (i * i % 50), "yn"[i % 5 > 1])
    for i in range(120)
]


def content(glasshouse: Glasshouse, *arguments: object) -> dict[str, Any]:
    outcome = glasshouse(*arguments, "--json")
    assert outcome.code == 0, outcome.error
    figures: dict[str, Any] = json.loads(outcome.out)
    return figures


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Work in a folder with a release, and the same with ages in tens."""
    monkeypatch.chdir(tmp_path)
    for name, width in (("fine", 1), ("coarse", 10)):
        with Path(f"{name}.csv").open("w", newline="", encoding="utf-8") as file:
            rows = [(sex, town, age // width * width, *rest) for sex, town, age, *rest in ROWS]
            csv.writer(file).writerows([("sex", "town", "age", "income", "ill"), *rows])
    Path("kernel.csv").write_text("is,A,B,C\nA,1/2,1/4,1/4\nB,0,1,0\nC,0,1/10,9/10\n")


def both(glasshouse: Glasshouse, *asked: str) -> list[dict[str, Any]]:
    """Assess both releases alike, each into a folder of its name."""
    return [
        content(glasshouse, "assess", f"{name}.csv", *KNOWN, *asked, "--out", name)
        for name in ("fine", "coarse")
    ]


def test_close_guesses_are_those_of_the_runs(glasshouse: Glasshouse) -> None:
    runs = both(glasshouse, "--within", "income=10%")
    compared = content(glasshouse, "compare", "fine", "coarse", "--out", "compared")
    (close,) = compared["close"]
    assert (close["sensitive"], close["within"]) == ("income", "10%")
    assert close["quasi_identifiers"] == ["sex", "town", "age"]
    for figures, run in zip(close["runs"], runs, strict=True):
        (alone,) = run["close"]
        whole = alone["subsets"][-1]
        assert figures == {
            "records": alone["records"],
            "prior": whole["close_prior"],
            "posterior": whole["close_posterior"],
            "certain_prior": whole["certain_prior"],
            "certain": whole["certain_posterior"],
            "off_prior": whole["off_prior"],
            "off_posterior": whole["off_posterior"],
        }
    before, after = (Fraction(round(120 * one["posterior"]), 120) for one in close["runs"])
    assert close["differences"] == [
        {"points": 100 * float(after - before), "factor": float(after / before)}
    ]
    rows = pyarrow.parquet.read_table("compared/results.parquet").to_pylist()
    stored = [row for row in rows if row["compared"] == "close guess"]
    assert [row["posterior"] for row in stored] == [one["posterior"] for one in close["runs"]]
    assert [row["off_posterior"] for row in stored] == [
        one["off_posterior"] for one in close["runs"]
    ]
    assert "inexact" not in compared


WAYS = {
    "a window": ("--about", "age=±2"),
    "a mistake": ("--about", "town=90%", "--about", "age=±1"),
    "a file": ("--about", "town=@kernel.csv"),
    "a chance": ("--likely", "age=50%"),
    "both": ("--about", "age=±2", "--likely", "town=30%"),
}


@pytest.mark.parametrize("way", WAYS)
def test_inexact_knowledge_is_that_of_the_runs(glasshouse: Glasshouse, way: str) -> None:
    runs = [run["inexact"] for run in both(glasshouse, *WAYS[way])]
    compared = content(glasshouse, "compare", "fine", "coarse")["inexact"]
    assert [line["sensitive"] for line in compared] == [None, "income", "ill"]
    for place, line in enumerate(compared):
        for figures, run in zip(line["runs"], runs, strict=True):
            target = run["targets"][place]
            whole = target.get("likely") or target["subsets"][-1]
            sure = "nearly_sure" if way in ("a mistake", "a file") else "certain"
            assert figures == {
                "records": target["records"],
                "prior": target["prior"],
                "posterior": whole["posterior"],
                "certain_prior": target["certain_prior"],
                sure: whole[sure],
            }


def test_what_only_some_runs_ask_is_said_in_one_line(glasshouse: Glasshouse) -> None:
    both(glasshouse, "--within", "income=10%", "--about", "age=±2")
    content(glasshouse, "assess", "coarse.csv", *KNOWN, "--out", "plain")
    outcome = glasshouse("compare", "fine", "coarse", "plain")
    said = " ".join(outcome.out.split())
    assert (
        "Not in all of the runs, and not compared: close guesses at the income and what is "
        "learned without exact knowledge."
    ) in said
    assert "within 10%" not in said
    assert {"close", "inexact"}.isdisjoint(content(glasshouse, "compare", "fine", "plain"))


def test_what_is_not_asked_alike_is_in_no_column(glasshouse: Glasshouse) -> None:
    both(glasshouse, "--within", "income=10%", "--about", "age=±2")
    asked = ("--within", "income=20%", "--about", "age=±3")
    content(glasshouse, "assess", "coarse.csv", *KNOWN, *asked, "--out", "wide")
    said = " ".join(glasshouse("compare", "fine", "coarse", "wide").out.split())
    assert "“fine” within 10%; “coarse” within 10%; “wide” within 20%." in said
    assert "“fine” age only within 2; “coarse” age only within 2; “wide” age only within 3." in said
    assert {"close", "inexact"}.isdisjoint(content(glasshouse, "compare", "fine", "wide"))
    alike = ("--within", "income=10.0%", "--about", "age=+-2.0")
    content(glasshouse, "assess", "coarse.csv", *KNOWN, *alike, "--out", "otherwise written")
    assert {"close", "inexact"} <= content(
        glasshouse, "compare", "fine", "otherwise written"
    ).keys()


def test_files_of_chances_that_differ_are_not_taken_for_one(glasshouse: Glasshouse) -> None:
    content(glasshouse, "assess", "fine.csv", *KNOWN, *WAYS["a file"], "--out", "fine")
    Path("kernel.csv").write_text("is,A,B,C\nA,1,0,0\nB,0,1,0\nC,0,1/10,9/10\n")
    content(glasshouse, "assess", "coarse.csv", *KNOWN, *WAYS["a file"], "--out", "coarse")
    said = " ".join(glasshouse("compare", "fine", "coarse").out.split())
    assert "The files of chances are not the same in all of the runs" in said
    assert "inexact" not in content(glasshouse, "compare", "fine", "coarse")


def test_other_attributes_are_compared_with_what_all_have(glasshouse: Glasshouse) -> None:
    asked = ("--within", "income=10%", "--about", "age=±2")
    (run, _) = both(glasshouse, *asked)
    fewer = ("-q", "age", "-q", "sex", "-s", "income", "-s", "ill", "--out", "fewer")
    content(glasshouse, "assess", "coarse.csv", *fewer, *asked)
    compared = content(glasshouse, "compare", "fine", "fewer")
    for line, subsets in (
        (compared["close"][0], run["close"][0]["subsets"]),
        (compared["inexact"][0], run["inexact"]["targets"][0]["subsets"]),
    ):
        assert line["quasi_identifiers"] == ["sex", "age"]
        (same,) = (row for row in subsets if row["quasi_identifiers"] == ["sex", "age"])
        expected = same.get("close_posterior", same.get("posterior"))
        assert line["runs"][0]["posterior"] == expected
    likely = ("--likely", "age=50%")
    content(glasshouse, "assess", "fine.csv", *KNOWN, *likely, "--out", "three")
    content(glasshouse, "assess", "fine.csv", *fewer[:-1], "two", *likely)
    said = " ".join(glasshouse("compare", "three", "two").out.split())
    assert "without exact knowledge is not about the same columns" in said


def test_runs_from_before_close_guesses_were_kept_are_said_to_be(glasshouse: Glasshouse) -> None:
    both(glasshouse, "--within", "income=10%")
    Path("fine/close.parquet").unlink()
    outcome = glasshouse("compare", "fine", "coarse")
    assert outcome.code == 0
    assert "“fine” is from before close guesses and inexact knowledge were kept" in outcome.error
    assert "Not in all of the runs, and not compared: close guesses" in " ".join(
        outcome.out.split()
    )
    Path("coarse/close.parquet").write_bytes(b"broken")
    refused = glasshouse("compare", "fine", "coarse")
    assert refused.code == 2
    assert "“coarse” is a damaged run: close.parquet" in refused.error


UNSEEN = "columns-not-looked-at"
RULE = "".join(
    f'[[conditions]]\nmeasure = "{measure}"\nat_most = 0.4\n'
    for measure in (
        *("named", "close-added", "close-certain", "named-inexactly", "best-guess-inexactly"),
        *("inference-added-inexactly", "inference-certain-inexactly"),
    )
)


@pytest.mark.parametrize("way", [("--about", "age=±2"), ("--about", "town=90%"), WAYS["both"]])
def test_the_verdict_is_that_of_the_runs(glasshouse: Glasshouse, way: tuple[str, ...]) -> None:
    Path("rule.toml").write_text(f'name = "mine"\n{RULE}')
    both(glasshouse, "--within", "income=10%", *way)
    glasshouse("compare", "fine", "coarse", "--out", "compared")
    judged = json.loads(glasshouse("check", "compared", "--policy", "rule.toml", "--json").out)
    alone: list[tuple[Any, ...]] = []
    for name in ("fine", "coarse"):
        verdict = json.loads(glasshouse("check", name, "--policy", "rule.toml", "--json").out)
        alone += [
            (entry["measure"], entry["of"], name, entry["value"], entry["met"])
            for entry in verdict["conditions"]
        ]
    compared = [
        tuple(entry[key] for key in ("measure", "of", "release", "value", "met"))
        for entry in judged["conditions"]
    ]
    columns = [(*entry[:2], "", *entry[3:]) for entry in alone if entry[0] == UNSEEN]
    assert columns == [(UNSEEN, None, "", 0.0, True)] * 2
    alone = [entry for entry in alone if entry[0] != UNSEEN]
    assert [entry for entry in compared if not entry[2]] == columns[:1], "columns are judged once"
    compared = [entry for entry in compared if entry[2]]
    assert sorted(compared, key=str) == sorted(alone, key=str)
    assert len(compared) == 2 * 9
    assert {met for *_, met in compared} == {True, False}


@pytest.mark.parametrize(
    ("language", "phrases"),
    [
        (
            "en",
            (
                "With exact knowledge and exact guesses: from “fine” to “coarse” it became harder",
                "it became harder to guess the income within 10%",
                "it became harder to identify people without exact knowledge",
                "Knowledge that is not exact",
                "What she knows: age only within 2 and town rightly in only 90% of cases.",
                "Nearly sure",
                "is off by 75.23 on average (“fine”: 0)",
            ),
        ),
        (
            "pt-BR",
            (
                "ficou mais difícil acertar o valor de income com erro de até 10%",
                "ficou mais difícil identificar pessoas sem conhecimento exato",
                "Conhecimento que não é exato",
                "Quase certo",
                "é de 75,23 (“fine”: 0)",
            ),
        ),
    ],
)
def test_a_report_tells_both_in_both_languages(
    glasshouse: Glasshouse, language: str, phrases: tuple[str, ...]
) -> None:
    both(glasshouse, "--within", "income=10%", "--about", "age=±2", "--about", "town=90%")
    outcome = glasshouse("--lang", language, "compare", "fine", "coarse", "--out", "compared")
    assert outcome.code == 0, outcome.error
    page = Path("compared/report.html").read_text(encoding="utf-8")
    assert [phrase for phrase in phrases if phrase not in page] == []


def test_a_report_does_not_tell_the_errors_of_few(glasshouse: Glasshouse) -> None:
    for name in ("one", "two"):
        rows = "".join(f"{'FM'[i % 2]},{1000 + 100 * i}\n" for i in range(8))
        Path(f"{name}.csv").write_text(f"sex,pay\n{rows}")
        asked = ("-q", "sex", "-s", "pay", "--within", "pay=10%", "--out", name)
        content(glasshouse, "assess", f"{name}.csv", *asked)
    glasshouse("compare", "one", "two", "--out", "compared")
    page = Path("compared/report.html").read_text(encoding="utf-8")
    assert "it is as easy to guess the pay within 10%" in page
    assert "best estimate is off by" not in page


# People with several records


SECRET = "any diagnosis=F*"
RELEASES = {
    "by day": ("--person", "pseudonym", "-q", "clinic", "-q", "day"),
    "by week": (
        *("--person", "pseudonym", "--derive", "week=week(day)", "-q", "clinic", "-q", "week"),
    ),
    "rotated": (
        *("--person", "pseudonym,month", "--derive", "month=month(day)"),
        *("-q", "clinic", "-q", "day"),
    ),
}
"""A release by day, by week, and with a pseudonym that changes every month."""


@pytest.fixture
def visits(glasshouse: Glasshouse) -> dict[str, dict[str, Any]]:
    """Make visits, and assess three ways to release them, each into a folder of its name."""
    glasshouse("synth", "visits", "--records", "2000", "--seed", "3", "--out", "visits.csv")
    return {
        name: content(
            glasshouse,
            *("assess", "visits.csv", *asked, "--knows", "2", "-s", SECRET, "--out", name),
        )
        for name, asked in RELEASES.items()
    }


def test_releases_by_day_by_week_and_with_rotated_pseudonyms(
    glasshouse: Glasshouse, visits: dict[str, dict[str, Any]]
) -> None:
    compared = content(glasshouse, "compare", *RELEASES, "--out", "compared")
    figures = compared["figures"]
    results = [run["results"] for run in visits.values()]
    for place, events in enumerate((1, 2)):
        knowing = [of_run[place] for of_run in results]
        assert figures[f"pseudonym: {events}"] == [one["naming"]["certain"] for one in knowing]
        assert figures[f"guess: {events}"] == [one["naming"]["guessing"] for one in knowing]
        assert figures[f"record: {events}"] == [one["unlinked"]["certain"] for one in knowing]
        assert figures[f"secret {SECRET}: {events}"] == [
            one["secrets"][0]["guessing"] for one in knowing
        ]
        assert figures[f"targets: {events}"] == [round(one["targets"], -1) for one in knowing]
    assert len(figures) == 2 * 5
    for name in ("guess: 2", "pseudonym: 2"):
        chances = dict(zip(visits, figures[name], strict=True))
        by_chance = sorted(visits, key=lambda run: chances[run])
        assert compared["ranking"][name] == [[run] for run in by_chance]
    assert compared["ranking"]["guess: 2"][0] == ["by week"]  # a week hides more than a month
    assert [run["person"] for run in compared["runs"]] == [
        ["pseudonym"],
        ["pseudonym"],
        ["pseudonym", "month"],
    ]
    people = [run["people"] for run in visits.values()]
    assert people[0] == people[1] < people[2]
    page = Path("compared/report.html").read_text(encoding="utf-8")
    assert "The runs do not agree on what counts as one person" in page
    assert "“rotated” by pseudonym and month" in page
    assert "From the least to the most exposed" in page
    in_portuguese = glasshouse("--lang", "pt-BR", "compare", *RELEASES).out
    assert "As execuções não contam o mesmo como uma pessoa" in in_portuguese
    assert "Da menos à mais exposta" in in_portuguese


def test_a_release_without_a_pseudonym_is_not_called_equal_to_one_that_keeps_it(
    glasshouse: Glasshouse, visits: dict[str, dict[str, Any]]
) -> None:
    asked = (*RELEASES["by day"], "--unlinked", "--knows", "2", "--out", "unlinked")
    glasshouse("assess", "visits.csv", *asked)
    sentences = " ".join(glasshouse("compare", "by day", "unlinked").out.split())
    assert "“by day” keeps a pseudonym, and “unlinked” does not" in sentences
    assert "no worse and no better" not in sentences


def test_a_week_is_that_of_the_calendar(
    glasshouse: Glasshouse, visits: dict[str, dict[str, Any]]
) -> None:
    with Path("visits.csv").open(newline="", encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    for row in rows:
        row["day"] = date.fromisoformat(row["day"]).strftime("%G-%V")
    with Path("weeks.csv").open("w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, rows[0])
        writer.writeheader()
        writer.writerows(rows)
    asked = (*RELEASES["by day"], "--knows", "2", "-s", SECRET)
    weeks = content(glasshouse, "assess", "weeks.csv", *asked)["results"]
    for one, other in zip(weeks, visits["by week"]["results"], strict=True):
        assert one == other | {"quasi_identifiers": ["clinic", "day"]}


def test_the_verdict_on_people_is_that_of_the_runs(
    glasshouse: Glasshouse, visits: dict[str, dict[str, Any]]
) -> None:
    conditions = (
        '[[conditions]]\nmeasure = "named"\nat_most = 0.7\nrecords = 1\n'
        '[[conditions]]\nmeasure = "best-guess"\nat_most = 0.7\n'
        '[[conditions]]\nmeasure = "some-records"\nat_most = 0.7\nrecords = 2\n'
    )
    Path("rule.toml").write_text(f'name = "mine"\n{conditions}')
    keys = ("measure", "of", "records", "people", "value", "is_bound", "met")
    alone = [
        (name, *(entry[key] for key in keys))
        for name in visits
        for entry in json.loads(glasshouse("check", name, "--policy", "rule.toml", "--json").out)[
            "conditions"
        ]
        if entry["measure"] != UNSEEN
    ]
    glasshouse("compare", *RELEASES, "--out", "compared")
    judged = json.loads(glasshouse("check", "compared", "--policy", "rule.toml", "--json").out)
    once, *others = judged["conditions"]
    assert (once["measure"], once["release"]) == (UNSEEN, "")
    compared = [(entry["release"], *(entry[key] for key in keys)) for entry in others]
    assert sorted(compared, key=str) == sorted(alone, key=str)
    assert len(compared) == 9
    asked = (*RELEASES["by day"], "--knows", "1", "--out", "one known")
    content(glasshouse, "assess", "visits.csv", *asked)
    refused = glasshouse("compare", "by day", "one known", "--policy", "rule.toml")
    assert refused.code == 2
    assert "who knows 2 records of a person, and up to 1 were assessed" in refused.error


def test_people_are_not_compared_with_records(
    glasshouse: Glasshouse, visits: dict[str, dict[str, Any]]
) -> None:
    content(glasshouse, "assess", "visits.csv", "-q", "clinic", "--out", "records")
    refused = glasshouse("compare", next(iter(visits)), "records")
    assert refused.code == 2
    assert "“records” is not about people with several records" in refused.error
