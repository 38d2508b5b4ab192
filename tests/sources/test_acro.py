"""Folders of ACRO: what is redacted follows from other outputs, and what cannot be put together is said."""

from __future__ import annotations

import itertools
import json
import os
import random
import subprocess
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from glasshouse.errors import DataError
from glasshouse.runs.ledger import Ledger
from glasshouse.sources.acro import acro_folder, acro_results
from glasshouse.study.tables import PublishedTable
from tests.conftest import Glasshouse

NURSERY = {
    "parents": ("usual", "pretentious", "great_pret"),
    "has_nurs": ("proper", "less_proper", "improper", "critical", "very_crit"),
    "finance": ("convenient", "inconv"),
    "social": ("nonprob", "slightly_prob", "problematic"),
}
"""Attributes of the nursery data of ACRO's examples, which are every combination of their values."""


def children(count: int = 330, seed: int = 3) -> list[dict[str, str]]:
    """Return records of the nursery data; those of one kind are few."""
    rng = random.Random(seed)
    every = [
        dict(zip(NURSERY, values, strict=True)) for values in itertools.product(*NURSERY.values())
    ]
    drawn = [dict(rng.choice(every)) for _ in range(count)]
    few = [one for one in drawn if (one["parents"], one["has_nurs"]) == ("usual", "proper")]
    for one in few[4:]:
        one["parents"] = "great_pret"
    return drawn


def session(
    folder: Path, records: list[dict[str, str]], *tables: tuple[str, ...], margins: bool = False
) -> Path:
    """Write a folder as ACRO 1.0.2 does for crosstabs with redaction: counts below ten are empty."""
    folder.mkdir()
    (folder / "config.json").write_text('{"safe_threshold": 10, "zeros_are_disclosive": true}')
    results: dict[str, Any] = {}
    for number, by in enumerate(tables):
        uid = f"output_{number}"
        counts = Counter(tuple(record[name] for name in by) for record in records)
        lines = [",".join([*by[:-1], *NURSERY[by[-1]], *(["All"] if margins else [])])]
        for key in itertools.product(*(NURSERY[name] for name in by[:-1])):
            cells = [counts[*key, value] for value in NURSERY[by[-1]]]
            shown = [f"{count}.0" if count >= 10 else "" for count in cells]
            total = [str(sum(count for count in cells if count >= 10))] if margins else []
            lines.append(",".join([*key, *shown, *total]))
        (folder / f"{uid}_0.csv").write_text("\n".join(lines) + "\n")
        results[uid] = {
            "uid": uid,
            "status": "review",
            "type": "table",
            "properties": {"method": "crosstab", "mitigation": "suppress"},
            "files": [{"name": f"{uid}_0.csv", "sdc": {"summary": {}, "cells": {}}}],
            "fair": {"statbarn": "Frequencies", "independent": list(by)},
        }
    (folder / "results.json").write_text(json.dumps({"version": "1.0.2", "results": results}))
    return folder


REAL = Path(__file__).parent / "acro"
"""Folders that ACRO itself wrote of the same children: see `acro_session.py` beside them."""
REDACTED = {("usual", "proper"): 4}
"""What ACRO redacted in the first of them, and how many they are."""


def test_a_redacted_count_that_follows_from_another_output_of_acro_is_recovered(
    tmp_path: Path,
) -> None:
    truth = Counter((record["parents"], record["has_nurs"]) for record in children())
    assert {key: count for key, count in truth.items() if count < 10} == REDACTED
    ledger = Ledger(tmp_path / "went")
    assert ledger.add(REAL / "first").answer.recovered_cells == 0
    checked = ledger.check(REAL / "second", advising=False)
    assert checked.verdict == "discloses"
    recovered = [one for one in checked.answer.reasons if set(one.where) == {"parents", "has_nurs"}]
    assert {
        (*one.where["parents"], *one.where["has_nurs"]): one.least for one in recovered
    } == REDACTED
    assert checked.to_dict()["because"] == ["first/output_0"]
    assert checked.to_dict()["margins_of_what_is_shown"] == ["output_0", "output_1"]
    assert checked.to_dict()["not_composed"] == ["output_2", "output_3", "output_4"]


def test_what_acro_rounds_is_read_as_rounded_and_its_margins_are_of_that() -> None:
    read = acro_folder(REAL / "rounded")
    [table] = read.tables
    assert table["rounding"] == {"base": 5, "how": "nearest"}
    assert (table["statistics"], read.margins_of_shown) == ([], ("output_0",))
    truth = Counter((record["parents"], record["has_nurs"]) for record in children())
    published = PublishedTable.model_validate(table)
    for *key, count in table["rows"]:
        low, high = published.window(count)
        assert low <= truth[tuple(key)] <= high


def test_zeros_that_acro_puts_in_the_place_of_redacted_counts_are_no_zeros() -> None:
    [table] = acro_folder(REAL / "zeros").tables
    windows = {tuple(key): count for *key, count in table["rows"] if not isinstance(count, int)}
    assert windows == {("usual", "proper"): [0, 9]}


def test_models_are_judged_by_their_degrees_of_freedom(
    tmp_path: Path, glasshouse: Glasshouse
) -> None:
    assert acro_folder(REAL / "second").freedom == {"output_3": 329, "output_4": 7}
    went = tmp_path / "went"
    went.mkdir()
    check = ("check", str(REAL / "second"), "--ledger", str(went), "--json")
    done = glasshouse(*check)
    assert done.code == 4
    measured = {one["measure"]: one["value"] for one in json.loads(done.out)["conditions"]}
    assert (measured["few-degrees"], measured["parts-not-checked"]) == (1, 3)
    assert measured["newly-certain"] == 0
    rule = tmp_path / "rule.toml"
    rule.write_text(
        'name = "ours"\n[magnitudes]\nfreedom = 7\n'
        '[[conditions]]\nmeasure = "newly-certain"\nat_most = 0\n'
        '[[conditions]]\nmeasure = "few-degrees"\nat_most = 0\n'
    )
    fewer = json.loads(glasshouse(*check, "--policy", str(rule)).out)
    assert [one["met"] for one in fewer["conditions"]] == [False, True, True]
    assert fewer["decision"] == "not-judged"  # three parts are not checked, whatever a rule says


def test_what_somebody_looked_at_may_pass_and_the_ledger_says_so(
    tmp_path: Path, glasshouse: Glasshouse
) -> None:
    went = tmp_path / "went"
    went.mkdir()
    content = json.loads((REAL / "second" / "results.json").read_text())
    del content["results"]["output_4"]
    folder = tmp_path / "second"
    folder.mkdir()
    for path in (REAL / "second").glob("*.csv"):
        (folder / path.name).write_bytes(path.read_bytes())
    (folder / "results.json").write_text(json.dumps(content))
    check = ("check", str(folder), "--ledger", str(went), "--accept", "--json")
    assert glasshouse(*check, "--seen", "output_2").code == 4
    wrong = glasshouse(*check, "--seen", "output_7")
    assert (wrong.code, len(wrong.error.splitlines())) == (2, 1)
    done = glasshouse(*check, "--seen", "output_2", "--seen", "output_3")
    assert done.code == 0, done.out
    shown = json.loads(glasshouse("ledger", "show", str(went), "second").out)
    assert shown["verdict"]["seen"] == ["output_2", "output_3"]


@pytest.mark.skipif(
    "GLASSHOUSE_ACRO" not in os.environ, reason="ACRO is optional: `make acro` installs and asks it"
)
def test_acro_still_writes_what_is_read_here(tmp_path: Path) -> None:
    records = tmp_path / "records.json"
    records.write_text(json.dumps(children()))
    script = Path(__file__).parent / "acro_session.py"
    command = [
        os.environ["GLASSHOUSE_ACRO"],
        "-W",
        "ignore",
        str(script),
        str(records),
        str(tmp_path),
    ]
    subprocess.run(command, check=True, cwd=tmp_path)
    for kept in sorted(REAL.iterdir()):
        assert acro_folder(tmp_path / kept.name) == acro_folder(kept)


def test_margins_of_what_is_shown_are_named_and_not_used(
    tmp_path: Path, glasshouse: Glasshouse
) -> None:
    folder = session(tmp_path / "march", children(), ("parents", "has_nurs"), margins=True)
    read = acro_folder(folder)
    assert read.margins_of_shown == ("output_0",)
    assert read.tables[0]["statistics"] == []
    assert read.tables[0]["suppressed"] == (0, 9)
    went = tmp_path / "went"
    added = glasshouse("ledger", "add", str(went), str(folder), "--json")
    assert added.code == 0, added.error
    assert json.loads(added.out)["margins_of_what_is_shown"] == ["output_0"]
    shown = json.loads(glasshouse("ledger", "show", str(went), "march").out)
    assert set(shown["source"]) == {"results.json", "config.json", "output_0_0.csv"}


def test_what_cannot_be_put_together_is_said_and_does_not_pass(
    tmp_path: Path, glasshouse: Glasshouse
) -> None:
    records = [record | {"has_nurs": "proper"} for record in children()]
    folder = session(tmp_path / "march", records, ("parents", "finance"))
    content = json.loads((folder / "results.json").read_text())
    mean = {
        "type": "table",
        "fair": {"statbarn": "LinearAggregations"},
        "files": [{"name": "m.csv"}],
    }
    content["results"] |= {
        "a mean": mean,
        "a model": {"type": "regression", "files": []},
        "summary-DONT_RELEASE": {"type": "custom", "files": [{"name": "session_summary.csv"}]},
    }
    (folder / "results.json").write_text(json.dumps(content))
    went = tmp_path / "went"
    went.mkdir()
    done = glasshouse("check", str(folder), "--ledger", str(went), "--json")
    assert done.code == 4
    answer = json.loads(done.out)
    assert (answer["verdict"], answer["not_composed"]) == ("limit", ["a mean", "a model"])
    assert "a model" in glasshouse("check", str(folder), "--ledger", str(went)).out
    assert glasshouse("ledger", "add", str(went), str(folder)).code == 0
    table = tmp_path / "social.csv"
    table.write_text("social,n\nnonprob,130\nslightly_prob,100\nproblematic,100\n")
    again = json.loads(glasshouse("check", str(table), "--ledger", str(went), "--json").out)
    assert again["not_composed_before"] == ["march/a mean", "march/a model"]
    assert again["verdict"] == "publishable"


def test_commands_of_older_versions_say_what_is_crossed(tmp_path: Path) -> None:
    folder = session(tmp_path / "march", children(), ("parents", "has_nurs"))
    content = json.loads((folder / "results.json").read_text())
    result = content["results"]["output_0"]
    del result["fair"], result["properties"]["mitigation"]
    result["files"][0]["sdc"]["summary"] = {"suppressed": True}
    result["command"] = 'safe = acro.crosstab(df.parents, df["has_nurs"])'
    (folder / "results.json").write_text(json.dumps(content))
    assert acro_folder(folder).tables[0]["by"] == ["parents", "has_nurs"]
    result["command"] = "safe = acro.crosstab(df.parents, make(df))"
    (folder / "results.json").write_text(json.dumps(content))
    with pytest.raises(DataError, match="no table of frequencies"):
        acro_folder(folder)


def test_columns_of_two_attributes_are_read(tmp_path: Path) -> None:
    folder = session(tmp_path / "march", children(), ("parents", "finance", "has_nurs"))
    (folder / "output_0_0.csv").write_text(
        "finance,convenient,convenient,inconv,inconv,All\nhas_nurs,proper,critical,proper,critical,\n"
        "parents,,,,,\nusual,23.0,,14,15,52\nAll,23.0,,14,15,52\n"
    )
    assert acro_folder(folder).tables[0]["rows"] == [
        ["usual", "convenient", "proper", 23],
        ["usual", "convenient", "critical", "*"],
        ["usual", "inconv", "proper", 14],
        ["usual", "inconv", "critical", 15],
    ]


@pytest.mark.parametrize("by", [("parents",), ("parents", "has_nurs"), tuple(NURSERY)])
def test_what_is_written_is_read_again(by: tuple[str, ...], tmp_path: Path) -> None:
    counts = Counter(tuple(record[name] for name in by) for record in children())
    every = itertools.product(*(NURSERY[name] for name in by))
    rows = [[*key, counts[key] if counts[key] >= 3 else "*"] for key in every]
    told = {"status": "pass", "summary": "", "moment": "", "version": "1"}
    (tmp_path / "checksums").mkdir()
    for name, content in acro_results([{"id": "T, 1", "by": by, "rows": rows}], **told):
        (tmp_path / name).write_text(content)
    [table] = acro_folder(tmp_path).tables
    assert (table["id"], table["by"], table["rows"]) == ("T, 1", list(by), rows)


def test_a_checked_output_is_written_for_the_viewer(tmp_path: Path, glasshouse: Glasshouse) -> None:
    table = tmp_path / "social.csv"
    table.write_text("social,finance,n\nnonprob,convenient,130\nnonprob,inconv,100\n")
    (tmp_path / "went").mkdir()
    command = (
        "check",
        str(table),
        "--ledger",
        str(tmp_path / "went"),
        "--out",
        str(tmp_path / "v"),
    )
    assert glasshouse(*command).code == 0
    [result] = json.loads((tmp_path / "v" / "results.json").read_text())["results"].values()
    assert result["status"] == "pass"
    assert acro_folder(tmp_path / "v").tables[0]["rows"][0] == ["nonprob", "convenient", 130]
    assert glasshouse(*command).code == 2
    assert glasshouse(*command, "--overwrite").code == 0
