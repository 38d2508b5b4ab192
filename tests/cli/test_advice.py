"""Advice is true: what it says comes out when the command that it prints is carried out."""

from __future__ import annotations

import json
import random
import re
import shlex
import shutil
from collections.abc import Callable
from fractions import Fraction
from importlib import import_module
from itertools import combinations, pairwise
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

import glasshouse as gh
from glasshouse.conditions import without_values
from glasshouse.report import archive
from glasshouse.report.assess.front import _dialect_words
from glasshouse.report.page import Page
from glasshouse.runs import folder
from glasshouse.runs.folder import stored_measures, stored_report
from glasshouse.study import load_policy, load_study
from glasshouse.study.assess import AssessStudy
from glasshouse.study.question import Dialect
from tests.conftest import Glasshouse
from tests.examples import examples

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


def written(path: Path, columns: dict[str, list[str]], separator: str = ",") -> Path:
    """Write columns as delimited text."""
    rows = [tuple(columns), *zip(*columns.values(), strict=True)]
    path.write_text("\n".join(separator.join(row) for row in rows) + "\n", encoding="utf-8")
    return path


def carried_out(glasshouse: Glasshouse, run: Path, *options: str) -> int:
    """Carry out every advice of a run that says that it meets the rule, and check each file; return how many.

    Where a condition names values of people a report leaves them out: as it is the command is refused, and whoever ran
    it writes them there.
    """
    done = 0
    study = load_study(run / "study.toml")
    assert isinstance(study, AssessStudy)
    conditions = study.treatment.invalid
    left_out = dict(zip(without_values(conditions), conditions, strict=True))
    for place, action in enumerate(stored_report(run).page("en").actions):
        if not action.meets:
            continue
        words = shlex.split(action.command)
        made = run.parent / f"{run.name}-{place}"
        words[-1] = str(made)
        if {*left_out} & {*words}:
            refused = glasshouse(*words[1:])
            assert (refused.code, made.exists()) == (2, False)
            assert "a report left out the values that belong there" in refused.error
            words = [left_out.get(word, word) for word in words]
        finished = glasshouse(*words[1:])
        assert finished.code == 0, (action.command, finished.error)
        options_of_file = [
            word for pair in pairwise(words) if pair[0] in ("-q", "-s") for word in pair
        ]
        checked = glasshouse("check", str(made / "release.csv"), *options_of_file, *options)
        assert checked.code == 0, (action.sentence, action.command, checked.out, checked.error)
        done += 1
    return done


def test_what_is_advised_comes_out_of_the_command(
    tmp_path: Path, glasshouse: Glasshouse, monkeypatch: pytest.MonkeyPatch
) -> None:
    columns = people(3, records=600)
    (tmp_path / "data").mkdir()
    file = Path("data/people, all.csv")
    monkeypatch.chdir(tmp_path)
    written(file, columns, ";")
    options = [word for name in KNOWN for word in ("-q", name)]
    options += ["-s", "illness", "--separator", ";", "--advise", "--out", "run"]
    assert glasshouse("assess", str(file), *options).code == 0
    actions = stored_report(Path("run")).page("en").actions
    assert actions
    assert all(action.command for action in actions)
    for action in actions:
        words = shlex.split(action.command)
        assert words[2] == str(file)
        assert words[words.index("--separator") + 1] == ";"
    answer = json.loads(glasshouse("assess", str(file), *options[:-2], "--json").out)
    assert {entry["kind"] for entry in answer["advice"]} >= {"leave-out", "generalise"}
    by_kind = {entry["kind"]: entry for entry in answer["advice"] if entry["meets"]}
    assert carried_out(glasshouse, Path("run"), "--separator", ";") == 2
    for place, kind in enumerate(("leave-out", "generalise")):
        measured = {one.measure: one for one in stored_measures(Path(f"run-{place}"))}
        assert float(measured["best-guess"].value) == by_kind[kind]["after"]


TOWNS = ("Nice", "Paris", "Lyon", "Lille", "Brest")


def random_file(chance: random.Random) -> tuple[dict[str, list[str]], list[str], list[str]]:
    """Return the columns of a small file, the options of its assessment, and those that a check of a file takes, too.

    It may have outliers, columns that nobody looks at, names, weights, totals, values that stand for missing, and
    people with several records.
    """
    records = chance.choice((12, 30, 60, 120, 250, 400))
    spread = chance.choice((2, 4, 12, 60))
    known = chance.sample(["age", "sex", "town", "day"], chance.randint(2, 4))
    columns: dict[str, list[str]] = {}
    for name in known:
        pool = {
            "age": [str(20 + year) for year in range(spread)],
            "sex": ["F", "M"],
            "town": list(TOWNS[: chance.randint(2, 5)]),
            "day": [f"2020-01-{1 + day:02}" for day in range(min(28, spread))],
        }[name]
        columns[name] = [chance.choice(pool) for _ in range(records)]
    is_number = chance.random() < 0.4
    columns["secret"] = [
        str(chance.randrange(1000, 9000, 50))
        if is_number
        else chance.choice(("flu", "cold", "none"))
        for _ in range(records)
    ]
    if chance.random() < 0.3:
        columns["secret"] = [
            value if chance.random() < 0.5 else f"{columns[known[0]][row]}"
            for row, value in enumerate(columns["secret"])
        ]
        is_number = False
    if chance.random() < 0.5:
        columns[known[0]][0] = {"age": "97", "sex": "X", "town": "Ys", "day": "1919-01-01"}[
            known[0]
        ]
    options = [word for name in known for word in ("-q", name)] + ["-s", "secret"]
    further: list[str] = []
    if is_number and chance.random() < 0.7:
        further += ["--within", f"secret={chance.choice(('5%', '10%', '200'))}"]
    if "age" in known and chance.random() < 0.15:
        options += ["--about", "age=±1"]
    if chance.random() < 0.2:
        columns["w"] = [str(chance.randint(1, 9)) for _ in range(records)]
        options += [chance.choice(("--weight", "--prior-weight")), "w"]
    if chance.random() < 0.3:
        columns["e-mail"] = [f"person{row}@example.org" for row in range(records)]
    if chance.random() < 0.3:
        columns["place"] = [f"-19.{chance.randrange(10**5):05}" for _ in range(records)]
    if chance.random() < 0.3:
        columns["id"] = [str(chance.randrange(records)) for _ in range(records)]
        options += ["--id", "id"]
    if chance.random() < 0.2:
        options += ["--invalid", f"{known[0]}={columns[known[0]][-1]}"]
    if chance.random() < 0.2:
        options += ["--missing", f"secret={columns['secret'][-1]}"]
        further += ["--missing", f"secret={columns['secret'][-1]}"]
    if chance.random() < 0.3:
        further += ["--policy", chance.choice(("research-file", "rule.toml"))]
    return columns, [*options, *further], further


FILES = 20
"""So many random files are a batch."""
RULE = """
name = "own"
[[conditions]]
measure = "smallest-class"
at_least = 4
[[conditions]]
measure = "inference-added"
at_most = 0.1
"""


@pytest.mark.parametrize("batch", range(examples(200) // FILES))
def test_every_advice_that_says_it_meets_the_rule_makes_a_file_that_passes(
    batch: int, tmp_path: Path, glasshouse: Glasshouse, monkeypatch: pytest.MonkeyPatch
) -> None:
    def in_english(make: Callable[[], Page]) -> dict[str, str]:
        return {folder.PAGES: archive.to_json({"en": make()}), folder.REPORT: ""}

    monkeypatch.setattr(import_module("glasshouse.runs.run"), "report_files", in_english)
    monkeypatch.chdir(tmp_path)
    Path("rule.toml").write_text(RULE, encoding="utf-8")
    done = 0
    for number in range(FILES):
        chance = random.Random(1000 * batch + number)
        columns, options, further = random_file(chance)
        file = written(Path(f"{number}.csv"), columns)
        run = Path(f"run{number}")
        finished = glasshouse("assess", str(file), *options, "--out", str(run))
        if finished.code == 2:  # such as nobody left, or a column of weights alone
            continue
        assert finished.code == 0, finished.error
        done += carried_out(glasshouse, run, *further)
    assert done


def test_every_advice_on_the_demo_census_makes_a_file_that_passes(
    tmp_path: Path, glasshouse: Glasshouse, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    assert (
        glasshouse("synth", "school-census", "--records", "5000", "--out", "census.csv").code == 0
    )
    known = ("month_of_birth", "year_of_birth", "gender", "city_of_residence")
    options = [word for name in known for word in ("-q", name)]
    run = ["assess", "census.csv", *options, "-s", "ethnicity", "-s", "transport"]
    assert glasshouse(*run, "--advise", "--out", "run").code == 0
    assert carried_out(glasshouse, Path("run"))
    assert "school" in stored_report(Path("run")).page("en").actions[0].sentence


def test_too_few_people_are_told_so_by_every_command(
    tmp_path: Path, glasshouse: Glasshouse, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    written(Path("tiny.csv"), people(1, records=12))
    of_town = people(1, records=12)
    age = of_town["age"][0]
    for name, values in people(2, records=48).items():
        of_town[name] += values
    written(Path("town.csv"), of_town)
    known = ["-q", "age", "-q", "sex"]
    options = [*known, "-s", "illness"]
    for command in (
        ["assess", *options],
        ["anonymise", *options, "--k", "3"],
        ["target", *options, "--know", f"age={age}"],
        ["membership", *known, "--fraction", "0.2"],
        ["membership", *known, "--population", "town.csv"],
    ):
        done = glasshouse(command[0], "tiny.csv", *command[1:], "--out", "run")
        assert done.code == 0, command
        (action,) = stored_report(Path("run")).page("en").actions
        assert "12 people are too few for this rule, whatever is done: it needs at least 20." in (
            action.sentence
        )
        assert not action.command
        shutil.rmtree("run")
    for words in (["protect"], ["anonymise", "--method", "policy"]):
        refused = glasshouse(words[0], "tiny.csv", *options, *words[1:], "--out", "made")
        assert refused.code == 2
        assert "12 people are too few for the rule “open data”" in refused.error
        assert "at least 20" in refused.error
        assert "suppression" not in refused.error
        assert "name fewer" not in refused.error
    average = glasshouse(
        "anonymise", "tiny.csv", *options, "--average-risk", "0.05", "--out", "made"
    )
    assert average.code == 2
    assert "it needs at least 20" in average.error
    assert "suppression" not in average.error


def test_the_remedy_of_small_classes_asks_for_what_the_rule_asks() -> None:
    told = " ".join(finding.remedy for finding in assessed(people(1)).findings)
    assert "until every class has at least 11 records" in told


def test_generalising_is_advised_by_examples_and_never_to_nothing() -> None:
    columns = people(2, records=600) | {"age": [str(20 + row % 40) for row in range(600)]}
    run = gh.assess(pa.table(columns), quasi_identifiers=KNOWN, sensitive=["illness"], advise=True)
    (entry,) = (one for one in run.outcome.advice if one.kind == "generalise")
    assert set(entry.examples) == set(entry.levels)
    sentence = next(one.sentence for one in run.page.actions if "less detail –" in one.sentence)
    assert "level" not in sentence
    unlike = {name: [str(row) for row in range(30)] for name in KNOWN}
    alone = gh.assess(
        pa.table(unlike | {"illness": ["flu", "cold"] * 15}),
        quasi_identifiers=KNOWN,
        sensitive=["illness"],
        advise=True,
    )
    assert not any(one.kind == "generalise" and one.loss == 1 for one in alone.outcome.advice)


def test_columns_that_nobody_looked_at_are_left_out_of_the_advised_file_and_named() -> None:
    columns = people(3, records=600) | {"gps": [f"-19.{row:05}" for row in range(600)]}
    run = gh.assess(pa.table(columns), quasi_identifiers=["sex", "town"], sensitive=["illness"])
    (action,) = run.page.actions
    assert action.meets
    assert action.sentence.startswith("Publish only the columns that were looked at: sex and town.")
    assert "These columns stay out as well: age, school and gps." in action.sentence


def test_where_the_rule_is_met_nothing_is_advised() -> None:
    run = assessed({name: ["a"] * 40 for name in KNOWN} | {"illness": ["flu", "cold"] * 20})
    assert run.outcome.advice == ()
    (action,) = run.page.actions
    assert action.meets is None


def test_a_file_that_fails_is_told_why_and_that_it_can_be_protected() -> None:
    page = assessed(people(0)).page
    assert page.ruling is not None
    why, *_ = page.ruling.coverage
    assert re.match(r"Not met: .+: .+ \(rule: .+\)", why), "which condition, and by how much"
    (protect,) = (one for one in page.actions if one.command.startswith("glasshouse protect "))
    assert "publish them in less detail" in protect.sentence


def test_where_nothing_helps_it_says_so() -> None:
    columns = {name: [str(row) for row in range(40)] for name in (*KNOWN, "illness")}
    run = assessed(columns)
    assert not any(entry.meets for entry in run.outcome.advice)
    assert "no set of them was found that meets the rule" in run.page.actions[-1].sentence
    assert not any(action.meets is False for action in run.page.actions)


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


def test_how_a_file_is_read_is_typed_as_its_options_are_called(glasshouse: Glasshouse) -> None:
    dialect = Dialect(separator=";", encoding="cp1252", skip=2, skip_end=1, header=False)
    options = {word for word in _dialect_words(dialect) if word.startswith("--")}
    help_text = glasshouse("assess", "--help-all").out
    assert "--skip-end" in options
    assert [option for option in sorted(options) if option not in help_text] == []


def test_the_terminal_says_what_to_do_first_where_the_rule_is_not_met(
    glasshouse: Glasshouse, tmp_path: Path
) -> None:
    data = written(tmp_path / "people.csv", people(1))
    known = [word for name in KNOWN for word in ("-q", name)]
    out = glasshouse("assess", str(data), *known, "--out", str(tmp_path / "run")).out
    action = stored_report(tmp_path / "run").page("en").actions[0]
    said = " ".join(out.split())
    assert f"What to do: {action.sentence} {action.change} " in said
    assert f"\n  {action.command}\n" in out
    out = glasshouse("check", str(tmp_path / "run")).out
    met = glasshouse("assess", str(data), "-q", "sex", "--out", str(tmp_path / "met")).out
    assert "What to do: " in met
