"""Advice is true: what it says comes out when the command that it prints is carried out."""

from __future__ import annotations

import json
import random
import shlex
from fractions import Fraction
from itertools import combinations
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

import glasshouse as gh
from glasshouse.microdata.assessment import Advice
from glasshouse.report.assess.front import command_of
from glasshouse.runs.folder import stored_measures, stored_report
from glasshouse.study import load_policy
from glasshouse.study.assess import AssessStudy
from tests.conftest import Glasshouse

KNOWN = ("age", "sex", "town", "school")


def people(seed: int, records: int = 240) -> dict[str, list[str]]:
    chance = random.Random(seed)
    return {
        "age": [str(chance.randrange(20, 60)) for _ in range(records)],
        "sex": [chance.choice("FM") for _ in range(records)],
        "town": [chance.choice(("Nice", "Paris")) for _ in range(records)],
        "school": [str(chance.randrange(2)) for _ in range(records)],
        "illness": [chance.choice(("flu", "cold", "none")) for _ in range(records)],
    }


def assessed(columns: dict[str, list[str]], policy: str = "open-data") -> gh.Run[Any, Any]:
    table = pa.table(columns)
    return gh.assess(table, quasi_identifiers=KNOWN, sensitive=["illness"], policy=policy)


def guess(columns: dict[str, list[str]], known: tuple[str, ...]) -> Fraction:
    """Return how often a guess at who it is is right, by counting."""
    rows = list(zip(*(columns[name] for name in known), strict=True))
    return Fraction(len(set(rows)), len(rows))


def least(columns: dict[str, list[str]], known: tuple[str, ...]) -> int:
    rows = list(zip(*(columns[name] for name in known), strict=True))
    return min(map(rows.count, set(rows)))


@pytest.mark.parametrize("seed", range(8))
def test_the_best_to_leave_out_is_the_best_by_counting(seed: int) -> None:
    columns = people(seed)
    advice = assessed(columns).outcome.advice
    leaving_out = [entry for entry in advice if entry.kind == "leave-out"]
    assert len(leaving_out) == 2 or leaving_out[0].meets
    for count, entry in enumerate(leaving_out, 1):
        guesses = [
            guess(columns, tuple(name for name in KNOWN if name not in left_out))
            for left_out in combinations(KNOWN, count)
        ]
        assert entry.after == min(guesses) == guess(columns, entry.quasi_identifiers)
        assert entry.before == guess(columns, KNOWN)


@pytest.mark.parametrize("seed", range(8))
def test_no_larger_set_meets_the_rule_than_those_that_are_named(seed: int, tmp_path: Path) -> None:
    columns = people(seed)
    rule = tmp_path / "rule.toml"
    rule.write_text(
        'name = "k"\n[[conditions]]\nmeasure = "smallest-class"\nat_least = 7\n', encoding="utf-8"
    )
    advice = assessed(columns, str(rule)).outcome.advice
    meeting = [entry for entry in advice if entry.meets]
    sizes = [
        len(known)
        for size in range(1, len(KNOWN))
        for known in combinations(KNOWN, size)
        if least(columns, known) >= 7
    ]
    assert max(map(len, (entry.quasi_identifiers for entry in meeting))) == max(sizes)
    for entry in advice:
        assert entry.meets == (least(columns, entry.quasi_identifiers) >= 7)


def test_what_is_advised_comes_out_of_the_command(
    tmp_path: Path, glasshouse: Glasshouse, monkeypatch: pytest.MonkeyPatch
) -> None:
    columns = people(3, records=600)
    file = tmp_path / "people, all.csv"
    rows = zip(*columns.values(), strict=True)
    file.write_text(
        "\n".join(";".join(row) for row in [tuple(columns), *rows]) + "\n", encoding="utf-8"
    )
    monkeypatch.chdir(tmp_path)
    options = [word for name in KNOWN for word in ("-q", name)]
    options += ["-s", "illness", "--separator", ";", "--advise", "--out", "run"]
    assert glasshouse("assess", file.name, *options).code == 0
    study = AssessStudy.model_validate(
        {
            "datasets": [{"path": file, "dialect": {"separator": ";"}}],
            "adversary": {"quasi_identifiers": KNOWN, "sensitive": ["illness"]},
        }
    )
    answer = json.loads(glasshouse("assess", file.name, *options[:-2], "--json").out)
    assert {entry["kind"] for entry in answer["advice"]} >= {"leave-out", "generalise"}
    actions = stored_report(Path("run")).page("en").actions
    assert actions
    assert all(action.command for action in actions)
    printed = {action.command for action in actions}
    assert printed <= {command_of(Advice(**entry), study) for entry in answer["advice"]}
    for entry in answer["advice"]:
        advice = Advice(**entry)
        command = command_of(advice, study)
        words = shlex.split(command)
        if advice.kind == "generalise":
            assert glasshouse(*words[1:]).code == 0
            measured = {entry.measure: entry for entry in stored_measures(Path("protected"))}
            assert float(measured["best-guess"].value) == advice.after
            assert "--method policy" in command
            assert advice.meets, "the very conditions of the rule are promised"
            assert glasshouse("check", "protected").code == 0
            continue
        shown = json.loads(glasshouse(*words[1:], "--json").out)
        naming = [result for result in shown["results"] if result["sensitive"] is None][-1]
        assert naming["probabilistic"]["posterior"] == advice.after
        assert (shown["verdict"]["failed"] == 0) == advice.meets


def test_where_the_rule_is_met_nothing_is_advised() -> None:
    run = assessed({name: ["a"] * 40 for name in (*KNOWN, "illness")})
    assert run.outcome.advice == ()
    (action,) = run.page.actions
    assert action.meets is None


def test_where_nothing_helps_it_says_so() -> None:
    columns = {name: [str(row) for row in range(12)] for name in (*KNOWN, "illness")}
    run = assessed(columns)
    assert not any(entry.meets for entry in run.outcome.advice)
    assert "no set of them meets the rule" in run.page.actions[-1].sentence


def test_advice_is_about_the_secret_where_nobody_can_be_named() -> None:
    half = 60
    columns = dict.fromkeys(KNOWN, ["x"] * 2 * half) | {
        "sex": ["F"] * half + ["M"] * half,
        "illness": ["flu"] * half + ["cold"] * half,
    }
    (entry,) = assessed(columns).outcome.advice
    assert (entry.secret, entry.left_out, entry.meets) == ("illness", ("sex",), True)
    assert (entry.before, entry.after) == (1, Fraction(1, 2))


def test_a_rule_on_any_so_many_facts_is_advised_by(tmp_path: Path) -> None:
    columns = people(5)
    rule = tmp_path / "rule.toml"
    rule.write_text(
        'name = "m"\n[[conditions]]\nmeasure = "best-guess"\nat_most = 0.05\nknows = 2\n',
        encoding="utf-8",
    )
    assert load_policy(str(rule)).conditions[0].knows == 2
    for entry in assessed(columns, str(rule)).outcome.advice:
        pairs = combinations(entry.quasi_identifiers, min(2, len(entry.quasi_identifiers)))
        worst = max(guess(columns, pair) for pair in pairs)
        assert entry.meets == (worst <= Fraction(1, 20))
