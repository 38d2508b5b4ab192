"""``glasshouse tables`` and ``verify``: plans, files, run folders, limits, and one line for whatever is wrong."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable
from itertools import combinations, product
from pathlib import Path
from typing import Any, cast

import pytest

import glasshouse as gh
from glasshouse.tabulation import exposure, geography
from glasshouse.tabulation.search import PartSearch
from glasshouse.tabulation.verifier import digest
from tests.conftest import Glasshouse, Outcome
from tests.tabulation.test_solution import GOLDEN, bounds_in, golden

PLAN: dict[str, Any] = {
    "people": 4,
    "attributes": {"sex": {"values": ["F", "M"]}, "age": {"range": [0, 3]}},
    "tables": [{"id": "T", "by": ["sex"], "rows": [["F", 1], ["M", 3]]}],
}


def written(tmp_path: Path, content: object) -> Path:
    path = tmp_path / "plan.json"
    path.write_text(json.dumps(content), encoding="utf-8")
    return path


@pytest.mark.parametrize("name", [name for name in GOLDEN if not name.startswith("garfinkel")])
def test_golden_instances_by_the_command_and_by_python(
    name: str, glasshouse: Glasshouse, tmp_path: Path, shared: Callable[[str], Path]
) -> None:
    instance = golden(shared, name)
    expected = instance["expected"]
    path = written(tmp_path, instance["spec"])
    done = glasshouse("tables", "--study", str(path), "--json")
    assert done.code == 0
    by_python = gh.tables(study=instance["spec"]).to_dict()
    for outcome in (json.loads(done.out), by_python):
        assert bounds_in(outcome["cells"]) == bounds_in(expected["cells"])
        for entry in ("status", "possible", "certain_persons", "tables", "files"):
            assert entry not in expected or outcome[entry] == expected[entry]


def test_a_run_folder_holds_a_proof_that_a_stranger_can_check(
    glasshouse: Glasshouse, tmp_path: Path
) -> None:
    out = tmp_path / "run"
    assert (
        glasshouse("tables", "--study", str(written(tmp_path, PLAN)), "--out", str(out)).code == 0
    )
    assert "The proof holds" in glasshouse("verify", str(out)).out
    with (out / "proof.json").open(encoding="utf-8") as proof:
        command = [sys.executable, "-I", "-S", str(out / "verify.py")]
        assert subprocess.run(command, stdin=proof, check=False).returncode == 0
    assert (out / "proof.json").stat().st_mode & 0o077 == 0
    changed = (out / "proof.json").read_text(encoding="utf-8").replace('"high": 3', '"high": 4')
    (out / "proof.json").write_text(changed, encoding="utf-8")
    refused = glasshouse("verify", str(out))
    assert refused.code == 2
    assert "refused" in refused.error
    (out / "proof.json").write_text("{}", encoding="utf-8")
    assert glasshouse("verify", str(out)).code == 2
    assert glasshouse("verify", str(tmp_path)).code == 2


def test_a_report_tells_no_combination_of_values(glasshouse: Glasshouse, tmp_path: Path) -> None:
    attributes = {
        "town": {"values": ["Springfield", "Ogdenville"]},
        "ill": {"values": ["leprosy", "none"]},
    }
    rows = [["Springfield", 1], ["Ogdenville", 7]]
    plan = {
        "people": 8,
        "attributes": attributes,
        "tables": [
            {"id": "towns", "by": ["town"], "rows": rows},
            {
                "id": "ill",
                "by": ["town", "ill"],
                "rows": [["Springfield", "leprosy", 1], ["Ogdenville", "none", 7]],
            },
        ],
    }
    out = tmp_path / "run"
    assert (
        glasshouse("tables", "--study", str(written(tmp_path, plan)), "--out", str(out)).code == 0
    )
    for name in ("report.html", "report.json"):
        page = (out / name).read_text(encoding="utf-8")
        assert "leprosy" not in page
        assert "Springfield" not in page
    page = (out / "report.json").read_text(encoding="utf-8")
    assert "tabelas publicadas" in page


def test_files_long_and_wide_with_marks_and_totals(glasshouse: Glasshouse, tmp_path: Path) -> None:
    long = tmp_path / "long.csv"
    long.write_text("sex,ill,count\nF,yes,1\nF,no,4\nM,yes,*\nM,no,3\n", encoding="utf-8")
    wide = tmp_path / "wide.csv"
    wide.write_text("sex,young,old,Total\nF,3,2,5\nM,4,<5,\n", encoding="utf-8")
    asked = glasshouse("tables", str(long))
    assert asked.code == 2
    assert "suppressed = [1, 4]" in asked.error
    plan = {
        "tables": [
            {"path": "long.csv", "suppressed": [1, 2]},
            {"path": "wide.csv", "by": ["sex", "age"], "suppressed": [0, 4]},
        ]
    }
    path = written(tmp_path, plan)
    asked = glasshouse("tables", "--study", str(path))
    assert asked.code == 2
    assert "say what they are of" in asked.error
    plan["tables"][1] |= {"totals": "shown"}
    done = glasshouse("tables", "--study", str(written(tmp_path, plan)), "--json")
    assert done.code == 0
    cells = bounds_in(json.loads(done.out)["cells"])
    assert cells["M", "yes", "young"] == (1, 2)
    assert cells["M", "no", "old"][1] <= 1


def test_whoever_guesses_is_set_beside_the_population(
    tmp_path: Path, glasshouse: Glasshouse
) -> None:
    table = tmp_path / "t.csv"
    table.write_text("sex,ill,count\nF,yes,3\nF,no,1\nM,yes,0\nM,no,4\n", encoding="utf-8")
    people = tmp_path / "people.csv"
    people.write_text("sex,ill\nF,no\nF,no\nM,no\n", encoding="utf-8")
    done = glasshouse("tables", str(table), "-s", "ill", "--population", str(people), "--json")
    [secret] = json.loads(done.out)["secrets"]
    assert secret["guesses"] == {"margin": 5, "one table": 7, "population": 5, "all tables": 7}
    assert secret["certain"] == {"all tables": 4, "one table": 4}


def test_no_table_is_green_of_which_nobody_asked_what_becomes_known(
    tmp_path: Path, glasshouse: Glasshouse
) -> None:
    table = tmp_path / "t.csv"
    table.write_text("sex,ill,count\nF,yes,50\nF,no,0\nM,yes,25\nM,no,40\n", encoding="utf-8")

    def verdict(*asked: str) -> dict[str, Any]:
        judged: dict[str, Any] = json.loads(glasshouse("tables", str(table), *asked, "--json").out)
        return cast(dict[str, Any], judged["verdict"])

    assert verdict()["decision"] == "not-judged"
    assert verdict("-q", "sex")["decision"] == "not-judged"
    learned = verdict("-s", "ill")
    assert learned["decision"] == "do-not-publish"  # all 50 women are ill
    assert [one["value"] for one in learned["conditions"] if one["of"] == "ill"] == [50 / 115]
    assert verdict("-q", "sex", "-q", "ill")["meets"]
    assert "What she wants to learn: ill." in glasshouse("tables", str(table), "-s", "ill").out


def test_contradicting_tables_and_limits_have_exit_code_3(
    glasshouse: Glasshouse, tmp_path: Path, shared: Callable[[str], Path]
) -> None:
    plan = PLAN | {"people": 5}
    done = glasshouse("tables", "--study", str(written(tmp_path, plan)), "--json")
    assert done.code == 3
    assert json.loads(done.out)["status"] == "infeasible"
    hard = golden(shared, "garfinkel")["spec"]
    path = written(tmp_path, hard)
    done = glasshouse("tables", "--study", str(path), "--time-limit", "0.01", "--json")
    assert done.code == 3
    assert json.loads(done.out)["status"] == "limit"


def test_tables_that_contradict_each_other_are_named(
    glasshouse: Glasshouse, tmp_path: Path
) -> None:
    tables = [
        {"id": "ages", "by": ["age"], "rows": [[0, 2], [3, 2]]},
        {"id": "women", "by": ["sex"], "rows": [["F", 1], ["M", 3]]},
        {"id": "census", "by": ["sex", "age"], "rows": [["F", 0, 2], ["M", 3, 2]]},
    ]
    out = tmp_path / "run"
    path = str(written(tmp_path, PLAN | {"tables": tables}))
    done = glasshouse("tables", "--study", path, "--out", str(out), "--json")
    assert done.code == 3
    assert json.loads(done.out)["contradiction"] == {
        "tables": ["women", "census"],
        "irreducible": "proved",
    }
    assert '"women", "census" contradict each other, and without any one' in done.error
    assert len(done.error.splitlines()) == 1
    report = (out / "report.html").read_text(encoding="utf-8")
    assert "census" in report
    done = glasshouse("tables", "--study", str(written(tmp_path, PLAN | {"people": 5})))
    assert 'table "T" contradicts itself' in done.error
    known = {"people": 2, "known": [{"where": {"sex": "F"}, "at_least": 3}]}
    done = glasshouse("tables", "--study", str(written(tmp_path, PLAN | known)))
    assert "what is said besides the tables contradicts itself" in done.error


def town(*more: dict[str, Any]) -> dict[str, Any]:
    """Return a plan of 30 people: who is ill in Ogdenville follows from two tables by subtraction."""
    everybody = {"id": "ill", "by": ["ill"], "rows": [["leprosy", 1], ["none", 29]]}
    homes = {"id": "homes", "by": ["town"], "rows": [["Springfield", 12], ["Ogdenville", 18]]}
    healthy = {"where": {"town": "Springfield", "ill": "none"}, "count": 12}
    return {
        "people": 30,
        "attributes": {
            "town": {"values": ["Springfield", "Ogdenville"]},
            "ill": {"values": ["leprosy", "none"]},
        },
        "tables": [everybody, homes, {"id": "clinic", "statistics": [healthy]}, *more],
    }


def test_reasons_are_for_the_publisher_alone(glasshouse: Glasshouse, tmp_path: Path) -> None:
    out = tmp_path / "run"
    path = str(written(tmp_path, town()))
    done = glasshouse("tables", "--study", path, "--out", str(out), "--json")
    assert done.code == 0, done.error
    written_down = json.loads((out / "reasons.json").read_text(encoding="utf-8"))
    assert (out / "reasons.json").stat().st_mode & 0o077 == 0
    [reason] = written_down["reasons"]
    assert reason == {
        "values": {"town": "Ogdenville", "ill": "leprosy"},
        "least": 1,
        "most": 1,
        "tables": ["ill", "homes", "clinic"],
        "irreducible": "proved",
    }
    outcome = json.loads(done.out)
    assert "reasons" not in outcome
    assert outcome["ranking"] == written_down["ranking"]
    assert {one["table"]: one["cells"] for one in outcome["ranking"]} == {
        "ill": 2,
        "homes": 2,
        "clinic": 1,
    }
    for name in ("report.html", "report.json"):
        page = (out / name).read_text(encoding="utf-8")
        assert "leprosy" not in page
        assert "Ogdenville" not in page
        assert "irreducible" not in page


def test_what_to_withhold_is_computed(glasshouse: Glasshouse, tmp_path: Path) -> None:
    path = str(written(tmp_path, town()))
    out = tmp_path / "run"
    done = glasshouse("tables", "--study", path, "--out", str(out), "--json")
    assert json.loads(done.out)["withhold"] == ["clinic", "ill", "homes"]
    assert "Withhold table “clinic”" in glasshouse("tables", "--study", path).out
    assert "fewer than 10" in (out / "report.json").read_text(encoding="utf-8")
    without = town()
    without["tables"] = [table for table in without["tables"] if table["id"] != "clinic"]
    done = glasshouse("tables", "--study", str(written(tmp_path, without)), "--json")
    assert json.loads(done.out)["rare_certain_persons"] == 0
    again = {"where": {"town": "Ogdenville", "ill": "leprosy"}, "count": 1}
    twice = town({"id": "again", "statistics": [again]})
    path = str(written(tmp_path, twice))
    done = glasshouse("tables", "--study", path, "--json")
    assert json.loads(done.out)["withhold"] == []
    assert "To withhold a single table is not enough" in glasshouse("tables", "--study", path).out


def sentences(done: Outcome) -> str:
    """Return what was printed, however wide the terminal is."""
    return " ".join(done.out.split())


def test_what_to_withhold_says_whether_the_rule_is_met_then(
    glasshouse: Glasshouse, tmp_path: Path
) -> None:
    path = written(tmp_path, town() | {"sensitive": ["ill"]})
    shown = sentences(glasshouse("tables", "--study", path, "--out", tmp_path / "met"))
    assert "without it nobody’s rare record is certain. It costs its" in shown
    assert "✓ meets the rule" in shown
    homes, alike = ["Springfield", 29], {"where": {"ill": "none"}, "count": 30}
    tables = [
        {"id": "homes", "by": ["town"], "rows": [homes, ["Ogdenville", 1]]},
        {"id": "healthy", "statistics": [alike]},
        {"id": "again", "statistics": [alike]},
    ]
    path = written(tmp_path, town() | {"sensitive": ["ill"], "tables": tables})
    shown = sentences(glasshouse("tables", "--study", path, "--out", tmp_path / "unmet"))
    assert "Withhold table “homes”: without it nobody’s rare record is certain." in shown
    assert "But “ill” is then still certain for up to 30 people. ✗ not enough for the rule" in shown


def test_a_secret_that_is_certain_of_nobody_rare_has_something_to_do_too(
    glasshouse: Glasshouse, tmp_path: Path
) -> None:
    tables = [
        {"id": "homes", "by": ["town"], "rows": [["Springfield", 15], ["Ogdenville", 15]]},
        {"id": "healthy", "statistics": [{"where": {"ill": "none"}, "count": 30}]},
    ]
    path = written(tmp_path, town() | {"sensitive": ["ill"], "tables": tables})
    shown = sentences(glasshouse("tables", "--study", path, "--out", tmp_path / "run"))
    assert "What to do: Withhold table “healthy”. It costs its 1 cell. ✓ meets the rule" in shown
    path = written(tmp_path, town() | {"sensitive": ["ill"], "tables": tables[1:]})
    shown = sentences(glasshouse("tables", "--study", path, "--out", tmp_path / "one"))
    assert "What to do: Publish “ill” in fewer tables" in shown


def changed(**entries: Any) -> dict[str, Any]:
    return PLAN | entries


def table(**entries: Any) -> dict[str, Any]:
    return changed(tables=[PLAN["tables"][0] | entries])


def statistic(**entries: Any) -> dict[str, Any]:
    return changed(tables=[{"id": "S", "statistics": [entries]}])


MALFORMED = {
    "no table": changed(tables=[]),
    "an unknown entry": changed(peoples=3),
    "an unknown attribute": table(by=["gender"]),
    "an unknown value": table(rows=[["X", 1]]),
    "a short row": table(rows=[["F"]]),
    "a combination twice": table(rows=[["F", 1], ["F", 2]]),
    "a negative count": table(rows=[["F", -1]]),
    "a broken count": table(rows=[["F", 1.5]]),
    "a mark without a window": table(rows=[["F", None]]),
    "an empty window": table(rows=[["F", [3, 1]]]),
    "no multiple of the base": table(rounding={"base": 5, "how": "nearest"}),
    "an unknown rounding": table(rounding={"base": 5, "how": "up"}),
    "rounded and perturbed": table(rounding={"base": 1, "how": "down"}, within=1),
    "rows without attributes": table(by=[]),
    "two ids alike": changed(tables=[PLAN["tables"][0], PLAN["tables"][0]]),
    "a mean of nothing": statistic(mean="3"),
    "a mean of a text": statistic(mean="3", of="sex"),
    "a mean that is no number": statistic(mean="three", of="age"),
    "a percentage of nobody": statistic(percent="3"),
    "a median of an unknown group": statistic(median="3", of="age", where={"sex": "F"}),
    "an interval of texts": statistic(count=1, where={"sex": {"from": 1}}),
    "values and a range": changed(attributes={"sex": {"values": ["F"], "range": [0, 1]}}),
    "a secret that is known": changed(sensitive=["sex"], quasi_identifiers=["sex"]),
    "a list": [1, 2],
}


@pytest.mark.parametrize("name", MALFORMED)
def test_a_malformed_plan_is_refused_in_one_line(
    name: str, glasshouse: Glasshouse, tmp_path: Path
) -> None:
    done = glasshouse("tables", "--study", str(written(tmp_path, MALFORMED[name])))
    assert done.code == 2, done.error
    assert done.out == ""
    assert len(done.error.splitlines()) == 1
    assert "bug" not in done.error


def test_a_plan_reads_as_toml_as_it_does_as_json(glasshouse: Glasshouse, tmp_path: Path) -> None:
    out = tmp_path / "run"
    plan = PLAN | {
        "tables": [
            {"id": "T", "by": ["sex"], "rows": [["F", None], ["M", 3]], "suppressed": [1, 2]}
        ]
    }
    first = glasshouse(
        "tables", "--study", str(written(tmp_path, plan)), "--out", str(out), "--json"
    )
    again = glasshouse("tables", "--study", str(out / "study.toml"), "--json")
    assert first.code == again.code == 0
    assert json.loads(first.out) == json.loads(again.out)


def test_what_is_advised_besides_is_told_without_which_counts(
    glasshouse: Glasshouse, tmp_path: Path
) -> None:
    out = tmp_path / "run"
    path = str(written(tmp_path, town()))
    done = glasshouse("tables", "--study", path, "--out", str(out), "--json")
    advice = json.loads(done.out)["advice"]
    assert {"change": "hide", "table": "clinic", "cells": 1} in advice
    told = json.loads((out / "reasons.json").read_text(encoding="utf-8"))["advice"]
    assert [one["hidden"] for one in told if one["change"] == "hide"] == [
        [{"town": "Springfield", "ill": "none"}]
    ]
    assert "hide the counts that" in glasshouse("tables", "--study", path).out


def test_of_single_tables_is_told_at_least_where_their_time_was_over(
    glasshouse: Glasshouse, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(exposure, "_SINGLE", 0.0)
    attributes = {name: {"values": ["no", "yes"]} for name in ("ill", "old", "rich")}
    rows = {
        pair: [
            [*values, count]
            for values, count in zip(product(["no", "yes"], repeat=2), (3, 2, 2, 3), strict=True)
        ]
        for pair in combinations(attributes, 2)
    }
    tables: list[dict[str, Any]] = [
        {"id": "".join(pair), "by": list(pair), "rows": rows[pair]} for pair in rows
    ]
    statistic = {"where": dict.fromkeys(attributes, "no"), "count": 3}
    hidden: dict[str, Any] = {
        "id": "hidden",
        "by": ["ill"],
        "suppressed": [4, 6],
        "rows": [["no", "*"], ["yes", "*"]],
    }
    tables += [{"id": "all", "statistics": [statistic]}, hidden]
    plan = {"people": 10, "attributes": attributes, "tables": tables}
    done = glasshouse("tables", "--study", str(written(tmp_path, plan)), "--json")
    outcome = json.loads(done.out)
    assert outcome["certain_persons"] > max(outcome["certain_by_one_table"].values())
    shown = glasshouse("tables", "--study", str(written(tmp_path, plan))).out
    assert outcome["by_one_table_at_least"] == ("or of more" in shown)
    assert outcome["by_one_table_at_least"]


BLOCKS = """block,tract
Home1,west
Home2,west
Home3,east
"""


def of_areas(tmp_path: Path) -> dict[str, Any]:
    """Return the plan of three blocks; a table of tracts tells more of one of them than those of blocks do."""
    (tmp_path / "areas.csv").write_text(BLOCKS, encoding="utf-8")
    (tmp_path / "sex.csv").write_text(
        "block,sex,people\nHome1,F,1\nHome1,M,2\nHome2,F,2\nHome2,M,0\nHome3,F,1\nHome3,M,1\n",
        encoding="utf-8",
    )
    (tmp_path / "ill.csv").write_text(
        "block,ill,people\nHome1,no,2\nHome1,yes,1\nHome2,no,2\nHome3,no,1\nHome3,yes,1\n",
        encoding="utf-8",
    )
    (tmp_path / "both.csv").write_text(
        "tract,sex,ill,people\nwest,F,yes,1\nwest,F,no,2\nwest,M,no,2\neast,F,no,1\neast,M,yes,1\n",
        encoding="utf-8",
    )
    tables = [{"path": f"{name}.csv"} for name in ("sex", "ill", "both")]
    return {"people": 7, "areas": {"path": "areas.csv"}, "tables": tables}


def test_nested_areas_are_solved_and_proved_by_the_command(
    glasshouse: Glasshouse, tmp_path: Path
) -> None:
    out = tmp_path / "run"
    path = str(written(tmp_path, of_areas(tmp_path)))
    done = glasshouse("tables", "--study", path, "--out", str(out), "--json")
    assert done.code == 0, done.error
    outcome = json.loads(done.out)
    assert (outcome["status"], outcome["certain_persons"]) == ("proved", 7)
    assert outcome["attributes"] == ["block", "sex", "ill"]
    cells = bounds_in(outcome["cells"])
    assert cells["Home1", "F", "yes"] == cells["Home3", "M", "yes"] == (1, 1)
    *proofs, several = (out / "proof.json").read_text(encoding="utf-8").splitlines()
    assert len(proofs) == 2
    assert "The proof holds: all" in glasshouse("verify", str(out)).out
    alone = [sys.executable, "-I", "-S", str(out / "verify.py")]
    asked: dict[str, Any] = {"capture_output": True, "text": True, "check": False}
    done_alone = subprocess.run(alone, input="\n".join([*proofs, several]), **asked)
    assert done_alone.returncode == 0, done_alone.stderr
    sums = json.loads(several)
    sums["rows"][0]["low"] = sums["rows"][0]["high"] = 6
    sums["seal"] = digest(sums)
    for lines, reason in (
        ([*proofs, json.dumps(sums)], "several"),
        (proofs, "missing"),
        ([proofs[0], several], "missing"),
        ([several], "missing"),
    ):
        (out / "proof.json").write_text("\n".join(lines), encoding="utf-8")
        refused = glasshouse("verify", str(out))
        assert refused.code == 2
        assert reason in refused.error
        done_alone = subprocess.run(alone, input="\n".join(lines), **asked)
        assert done_alone.returncode == 1
        assert reason in done_alone.stderr
    for name in ("report.html", "report.json"):
        assert "Home3" not in (out / name).read_text(encoding="utf-8")


def test_areas_are_the_same_whether_a_run_was_stopped(
    glasshouse: Glasshouse, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(geography, "_KEPT_AT_ONCE", 1)
    monkeypatch.chdir(tmp_path)
    path = str(written(tmp_path, of_areas(tmp_path)))
    whole = json.loads(glasshouse("tables", "--study", path, "--json").out)
    solve, asked = geography._alone, list[int]()

    def stopped(tables: Any, area: int, *rest: Any) -> Any:
        asked.append(area)
        if asked == [0, 1]:
            raise KeyboardInterrupt
        return solve(tables, area, *rest)

    monkeypatch.setattr(geography, "_alone", stopped)
    assert glasshouse("tables", "--study", path, "--out", "run").code == 130
    again = glasshouse("tables", "--study", path, "--out", "run", "--resume", "--json")
    assert again.code == 0, again.error
    assert asked[:4] == [0, 1, 1, 2]
    assert json.loads(again.out)["cells"] == whole["cells"]


def test_areas_that_contradict_each_other_are_told_by_table(
    glasshouse: Glasshouse, tmp_path: Path
) -> None:
    plan = of_areas(tmp_path)
    (tmp_path / "both.csv").write_text(
        "tract,sex,ill,people\nwest,F,yes,3\nwest,M,no,2\neast,F,no,1\neast,M,yes,1\n",
        encoding="utf-8",
    )
    done = glasshouse("tables", "--study", str(written(tmp_path, plan)), "--json")
    assert done.code == 3
    assert json.loads(done.out)["contradiction"] == {
        "tables": ["ill", "both"],
        "irreducible": "proved",
    }


AREAS = {
    "an area twice": (
        "block,tract\nHome1,west\nHome1,west\nHome2,west\nHome3,east\n",
        "stands twice",
    ),
    "an area in two": (
        "block,tract\nHome1,west\nHome1,east\nHome2,west\nHome3,east\n",
        "lies in two",
    ),
    "an area that is missing": ("block,tract\nHome1,west\nHome2,west\n", "lacks"),
    "no table of the smallest": ("home,tract\nh1,west\nh2,east\n", "no table is by"),
}


@pytest.mark.parametrize("name", AREAS)
def test_areas_that_make_no_sense_are_refused_in_one_line(
    name: str, glasshouse: Glasshouse, tmp_path: Path
) -> None:
    path = str(written(tmp_path, of_areas(tmp_path)))
    content, fault = AREAS[name]
    (tmp_path / "areas.csv").write_text(content, encoding="utf-8")
    done = glasshouse("tables", "--study", path)
    assert done.code == 2
    assert fault in done.error
    assert len(done.error.splitlines()) == 1


def two_towns() -> dict[str, Any]:
    """Return the plan of two towns, of which neither tells anything of the other."""
    attributes = {name: {"values": [f"{name}0", f"{name}1", f"{name}2"]} for name in ("age", "ill")}
    towns = ["A", "B"]
    rows = {
        name: [[town, f"{name}{place}", 4 + place] for town in towns for place in range(3)]
        for name in attributes
    }
    tables = [{"id": name, "by": ["town", name], "rows": rows[name]} for name in attributes]
    return {"attributes": {"town": {"values": towns}, **attributes}, "tables": tables}


def test_a_run_that_was_killed_goes_on_and_ends_with_the_same_bytes(
    glasshouse: Glasshouse, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SOURCE_DATE_EPOCH", "1790000000")
    monkeypatch.chdir(tmp_path)
    asked = ("tables", "--study", str(written(tmp_path, two_towns())), "--title", "Towns", "--out")
    assert glasshouse(*asked, "whole").code == 0
    run, parts, stop_at = PartSearch.run, list[int](), 2

    def counted(search: PartSearch, *arguments: Any) -> None:
        parts.append(search.part.size)
        if len(parts) == stop_at:
            raise KeyboardInterrupt
        run(search, *arguments)

    monkeypatch.setattr(PartSearch, "run", counted)
    stopped = glasshouse(*asked, "run")
    assert stopped.code == 130
    assert "--resume" in stopped.error
    whole, stop_at = len(parts), 0
    parts.clear()
    again = glasshouse(*asked, "run")
    assert again.code == 2
    assert "say --resume to go on" in again.error
    resumed = glasshouse(*asked, "run", "--resume")
    assert resumed.code == 0, resumed.error
    assert parts[0] == 9, "of two parts, one was finished"
    assert whole == 2
    assert not Path("run.partial").exists()
    for path in Path("whole").rglob("*"):
        if path.is_file():
            assert Path("run", path.relative_to("whole")).read_bytes() == path.read_bytes(), path


def test_there_is_nothing_to_resume_of_a_run_that_never_began(
    glasshouse: Glasshouse, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    plan = str(written(tmp_path, PLAN))
    refused = glasshouse("tables", "--study", plan, "--out", "run", "--resume")
    assert refused.code == 2
    assert "there is nothing to resume" in refused.error
