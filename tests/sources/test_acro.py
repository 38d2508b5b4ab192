"""Folders of ACRO: what is redacted follows from other outputs, and what cannot be put together is said."""

from __future__ import annotations

import itertools
import json
import random
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from glasshouse.errors import DataError
from glasshouse.runs.ledger import Ledger
from glasshouse.sources.acro import acro_folder, acro_results
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


def real_session(folder: Path, records: list[dict[str, str]], *tables: tuple[str, ...]) -> Path:
    """Let ACRO itself make the outputs."""
    acro = pytest.importorskip("acro", reason="ACRO is optional")
    pandas = pytest.importorskip("pandas", reason="ACRO is optional")
    frame = pandas.DataFrame(records)
    made = acro.ACRO(suppress=True)
    for by in tables:
        made.crosstab([frame[name] for name in by[:-1]], frame[by[-1]], margins=True)
        made.add_exception(list(made.results.results)[-1], "none")
    made.finalise(str(folder))
    return folder


@pytest.mark.parametrize("is_real", [False, True], ids=["form", "acro"])
def test_a_redacted_count_that_follows_from_another_output_is_recovered(
    is_real: bool, tmp_path: Path
) -> None:
    make = real_session if is_real else session
    records = children()
    first = make(tmp_path / "march", records, ("parents", "has_nurs"))
    second = make(tmp_path / "april", records, ("parents", "finance"), ("has_nurs", "social"))
    truth = Counter((record["parents"], record["has_nurs"]) for record in records)
    redacted = {key for key, count in truth.items() if count < 10}
    assert redacted == {("usual", "proper")}
    ledger = Ledger(tmp_path / "went")
    assert ledger.add(first).answer.recovered_cells == 0
    checked = ledger.check(second)
    assert checked.verdict == "discloses"
    assert checked.answer.recovered_cells == 1
    recovered = [one for one in checked.answer.reasons if set(one.where) == {"parents", "has_nurs"}]
    assert {(*one.where["parents"], *one.where["has_nurs"]): one.least for one in recovered} == {
        key: truth[key] for key in redacted
    }
    assert checked.to_dict()["because"] == ["march/output_0"]


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
