"""``totals``: who is behind each record, through the command line."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow.parquet
import pytest

from glasshouse.synthetic.trade import write_trade
from tests.conftest import Glasshouse

PLAN = Path(__file__).parents[2] / "examples" / "trade" / "study.toml"


@pytest.fixture(autouse=True)
def _own_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def test_the_worked_example(glasshouse: Glasshouse, shared: Callable[[str], Path]) -> None:
    for name in ("00_thesis_worked_tol1", "02_thesis_worked_record"):
        path = shared(f"golden/totals/{name}.json")
        outcome = glasshouse("totals", "solve", path, "--json")
        assert outcome.code == 0, outcome.error
        document = json.loads(outcome.out)
        assert set(document) >= {
            "status",
            "feasible_bins",
            "allocations",
            "allocation_share",
            "proved",
        }
        assert (document["status"], document["allocations"]) == ("unique", 1)
        told = glasshouse("totals", "solve", path).out
        assert "OURO BRANCO" in told
        assert "The place of every record is certain" in told
    path = shared("golden/totals/01_thesis_worked_tol0.5_infeasible.json")
    assert json.loads(glasshouse("totals", "solve", path, "--json").out)["status"] == "infeasible"
    assert "No allocation meets the totals" in glasshouse("totals", "solve", path).out


def campaign(glasshouse: Glasshouse, *arguments: object) -> dict[str, Any]:
    outcome = glasshouse("totals", "campaign", "--study", "study.toml", *arguments, "--json")
    assert outcome.code == 0, outcome.error
    document: dict[str, Any] = json.loads(outcome.out)
    return document


def test_a_small_month(glasshouse: Glasshouse) -> None:
    write_trade("month", transactions=600, importers=40)
    Path("study.toml").write_text(PLAN.read_text())
    files = ("--out", "run", "--per-record", "p.parquet")
    found = campaign(glasshouse, "--seconds", 40, "--processes", 1, *files)
    assert found["records"] == 600
    assert [phase["name"] for phase in found["phases"]] == ["city", "state", "city within state"]
    assert found["solved"] > 0.8 * found["instances"]
    chances = [step["chance"] for step in found["exposures"]["bayes"]]
    assert chances == sorted(chances)
    assert pyarrow.parquet.read_table("p.parquet").num_rows == 600
    report = Path("run/report.html").read_text()
    assert "value at risk" in report
    check_bins(found)
    told = glasshouse("totals", "campaign", "--study", "study.toml", "--seconds", 40,
                      "--processes", 1)  # fmt: skip
    assert "By phase" in told.out
    assert "are solved exactly" in " ".join(told.out.split())


def check_bins(found: dict[str, Any]) -> None:
    """By step and by bin, in the document and in the run folder, the figures are the same and add up."""
    for step in found["exposures"]["bayes"][1:]:
        bins = [row for row in found["bins"] if row["step"] == step["name"]]
        assert sum(row["value_at_risk"] for row in bins) == pytest.approx(step["value_at_risk"])
        assert sum(row["exposed"] for row in bins) == step["certain"]
    stored = pyarrow.parquet.read_table("run/bins.parquet").to_pylist()
    bayes = [row for row in stored if row.pop("rule") == "bayes"]
    assert bayes == found["bins"]
    assert len(stored) > len(bayes)


def test_the_names_of_the_exposed_are_written_with_a_warning(glasshouse: Glasshouse) -> None:
    write_trade("month", transactions=300, importers=30)
    register = Path("month/importers.csv")
    header, *rows = register.read_text().splitlines()
    one_each = {row.partition(",")[2]: row for row in rows}
    register.write_text("\n".join([header, *one_each.values()]))
    Path("study.toml").write_text(PLAN.read_text())
    asked = ("totals", "campaign", "--study", "study.toml", "--seconds", 40, "--processes", 1)
    outcome = glasshouse(*asked, "--out", "run", "--entities", "e.parquet", "--json")
    assert outcome.code == 0, outcome.error
    names = pyarrow.parquet.read_table("e.parquet").to_pylist()
    exposed = json.loads(outcome.out)["phases"][-1]["exposed"]
    assert sum(row["records"] for row in names) == exposed > 100
    quoted_names = {row.split(",")[0].strip('"') for row in one_each.values()}
    assert {row["entity"] for row in names} <= quoted_names
    told = Path("run/report.html").read_text() + outcome.out
    assert not any(f">{row['entity']}<" in told or f'"{row["entity"]}"' in told for row in names)
    assert "e.parquet: This file names who is behind records with certainty" in outcome.error
    again = glasshouse(*asked, "--entities", "e.parquet")
    assert (again.code, again.error.count("\n")) == (2, 1)
    assert "exists" in again.error
    same = glasshouse(*asked, "--entities", "x.parquet", "--per-record", "x.parquet")
    assert (same.code, "name the same file" in same.error) == (2, True)
    text = PLAN.read_text()
    without = text[: text.index("[entities]")] + text[text.index("[[phases]]") :]
    Path("study.toml").write_text(without)
    refused = glasshouse(*asked, "--entities", "y.parquet")
    assert (refused.code, "--entities needs a register" in refused.error) == (2, True)
    assert not Path("y.parquet").exists()


BAD = {
    "no instance": (("solve", "no.json"), "no.json: there is no such file"),
    "no JSON": (("solve", "broken.json"), "JSON"),
    "no plan": (("campaign", "--study", "no.toml"), "no.toml"),
    "another study": (("campaign", "--study", "other.toml"), "glasshouse assess --study"),
    "no publication": (("campaign", "--study", "plan.toml"), "transactions.csv"),
    "no time": (("campaign", "--study", "plan.toml", "--seconds", 0), "--seconds is 0"),
    "nothing to resume": (("campaign", "--study", "plan.toml", "--resume"), "--resume needs"),
    "time limit": (("solve", "tiny.json", "--time-limit", -1), "time"),
}


@pytest.mark.parametrize(("arguments", "message"), BAD.values(), ids=BAD)
def test_questions_that_make_no_sense_are_one_line(
    glasshouse: Glasshouse, arguments: tuple[object, ...], message: str
) -> None:
    Path("broken.json").write_text("{")
    Path("plan.toml").write_text(PLAN.read_text())
    Path("other.toml").write_text(
        'command = "assess"\n[[datasets]]\npath = "a.csv"\n[adversary]\nquasi_identifiers = ["age"]\n'
    )
    tiny = {"packages_scaled": [[1], [2]], "bins_lo_scaled": [[3]], "bins_hi_scaled": [[3]]}
    Path("tiny.json").write_text(json.dumps(tiny))
    if "--resume" in arguments or "--seconds" in arguments:
        write_trade("month", transactions=100, importers=10)
    outcome = glasshouse("totals", *arguments)
    assert outcome.code == 2, outcome.error
    assert message in outcome.error
    assert outcome.error.count("\n") == 1
