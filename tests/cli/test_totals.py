"""``totals``: who is behind each record, through the command line."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow.parquet
import pytest

from glasshouse.reconstruction import Instance, instance, solve
from glasshouse.report.totals.findings import solution_sentences
from glasshouse.synthetic.trade import write_trade
from tests.conftest import Glasshouse
from tests.reconstruction.examples import plain_instance
from tests.reconstruction.test_solver import dense, sparse

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
        assert list(document) == [
            *("status", "feasible_bins", "allocations", "allocation_share", "proved", "verdict")
        ]
        assert (document["status"], document["allocations"]) == ("unique", 1)
        told = glasshouse("totals", "solve", path).out
        assert "OURO BRANCO" in told
        assert "The place of every record is certain" in told
    path = shared("golden/totals/01_thesis_worked_tol0.5_infeasible.json")
    assert json.loads(glasshouse("totals", "solve", path, "--json").out)["status"] == "infeasible"
    told = glasshouse("totals", "solve", path).out
    assert told.startswith("• No allocation meets the totals, though the sums of all records do.")


def write_instance(made: Instance) -> Path:
    path = Path("group.json")
    path.write_text(json.dumps(made.to_dict()))
    return path


def told_of(glasshouse: Glasshouse, made: Instance, *options: object) -> tuple[int, str, str]:
    outcome = glasshouse("totals", "solve", write_instance(made), *options)
    return outcome.code, " ".join(outcome.out.split()), outcome.error


def test_an_instance_of_several_allocations_tells_their_number_and_shares(
    glasshouse: Glasshouse,
) -> None:
    made = instance([["1.50"], ["2.25"], ["3.75"]], [[4], [4]], bin_names=["A", "B"])
    code, told, error = told_of(glasshouse, made)
    assert (code, error) == (0, "")
    assert "package 1 A (50.0%), B (50.0%)" in told
    assert "• The place of 0 of 3 records is certain. • 2 allocations meet the totals" in told
    _, document, _ = told_of(glasshouse, made, "--json")
    content = json.loads(document)
    assert content.pop("verdict")["decision"] == "meets"
    assert content == {
        "status": "ambiguous",
        "feasible_bins": [[0, 1]] * 3,
        "allocations": 2,
        "allocation_share": [[0.5, 0.5]] * 3,
        "proved": True,
    }


def test_totals_that_cannot_be_met_are_told_without_an_empty_table(glasshouse: Glasshouse) -> None:
    for totals, reason in (
        ([[3], [9]], "they hold more than all records together"),
        ([[1], [1]], "the records add up to more than they do"),
        ([[2], [5]], "though the sums of all records do"),
    ):
        code, told, error = told_of(glasshouse, instance([[1], [3], [3]], totals))
        assert code == 3, "nothing was attacked, and nothing is met"
        assert told.startswith("• No allocation meets the totals")
        assert reason in told
        assert "there is no verdict" in " ".join(error.split())


def test_where_allocations_are_not_counted_it_says_so(glasshouse: Glasshouse) -> None:
    made = dense(60, 3, seed=0)
    code, told, _ = told_of(glasshouse, made, "--time-limit", 1)
    assert code == 0
    assert "was not counted: they are too many for the limits" in told
    document = json.loads(told_of(glasshouse, made, "--time-limit", 1, "--json")[1])
    assert (document["proved"], document["allocations"]) == (True, None)
    assert document["allocation_share"] is None


def test_a_limit_says_what_is_proved_and_what_not_with_exit_code_3(glasshouse: Glasshouse) -> None:
    made, _ = sparse(70, 5, seed=3)
    code, told, error = told_of(glasshouse, made, "--time-limit", 0.1)
    assert code == 3
    assert "record not ruled out" in told
    assert "Proved: no record is in a place that is not shown for it" in told
    assert "Not proved: that each record can be in each place" in told
    assert "Not proved either: that any allocation meets the totals." in told
    assert error.startswith("glasshouse: the limit was met")
    assert error.count("\n") == 1
    code, document, _ = told_of(glasshouse, made, "--time-limit", 0.1, "--json")
    assert code == 3
    assert (json.loads(document)["status"], json.loads(document)["proved"]) == ("limit", False)


def test_at_a_limit_records_with_one_place_left_are_certain_if_the_totals_can_be_met() -> None:
    made = instance([[1], [2]], [[1], [2]])
    found = replace(solve(made), status="limit", proved=False, shares=None, allocations=None)
    assert "The place of 2 of 2 records" in solution_sentences(found)[-1]


def test_a_very_long_number_of_allocations_is_told_roughly(glasshouse: Glasshouse) -> None:
    half = np.array([[50], [50]])
    _, told, _ = told_of(glasshouse, plain_instance(np.ones((100, 1), np.int64), half, half))
    assert "So many allocations meet the totals that their number has 30 digits" in told


def test_the_command_alone_shows_what_there_is(glasshouse: Glasshouse) -> None:
    outcome = glasshouse("totals")
    assert (outcome.code, outcome.error) == (0, "")
    assert "campaign" in outcome.out
    assert "solve" in outcome.out


def campaign(glasshouse: Glasshouse, *arguments: object) -> dict[str, Any]:
    outcome = glasshouse("totals", "campaign", "--study", "study.toml", *arguments, "--json")
    assert outcome.code == 0, outcome.error
    document: dict[str, Any] = json.loads(outcome.out)
    return document


def test_a_small_month(glasshouse: Glasshouse) -> None:
    write_trade("month", transactions=600, importers=40)
    Path("study.toml").write_text(PLAN.read_text())
    files = ("--out", "run", "--per-record", "p.parquet")
    found = campaign(glasshouse, "--processes", 1, *files)
    assert found["records"] == 600
    assert [phase["name"] for phase in found["phases"]] == ["city", "state", "city within state"]
    assert found["solved"] > 0.8 * found["instances"]
    chances = [step["chance"] for step in found["exposures"]["bayes"]]
    assert chances == sorted(chances)
    assert pyarrow.parquet.read_table("p.parquet").num_rows == 600
    report = Path("run/report.html").read_text()
    assert "value at risk" in report
    check_bins(found)
    told = glasshouse("totals", "campaign", "--study", "study.toml", "--processes", 1)
    assert "By phase" in told.out
    assert "are solved exactly" in " ".join(told.out.split())


def contents(folder: str) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in Path(folder).iterdir() if path.is_file()}


def test_two_parts_are_merged_to_the_bytes_of_one_machine(glasshouse: Glasshouse) -> None:
    write_trade("month", transactions=400, importers=40)
    Path("study.toml").write_text(PLAN.read_text())
    asked = ("totals", "campaign", "--study", "study.toml", "--processes", 1)
    assert glasshouse(*asked, "--out", "whole").code == 0
    for part in ("1/2", "2/2"):
        done = glasshouse(*asked, "--part", part, "--out", f"part{part[0]}")
        assert done.code == 0, done.error
        assert "Next: glasshouse totals merge PART PART --study FILE" in done.out
    merging = ("totals", "merge", "--study", "study.toml", "--processes", 1)
    refused = glasshouse(*merging, "part2", "--out", "merged")
    assert (refused.code, "part 1/2 is missing" in refused.error) == (2, True)
    done = glasshouse(*merging, "part2", "part1", "--out", "merged", "--per-record", "m.parquet")
    assert done.code == 0, done.error
    assert pyarrow.parquet.read_table("m.parquet").num_rows == 400
    assert contents("merged") == contents("whole")


def test_a_time_limit_is_exit_code_3_nothing_is_safe_and_the_rest_is_found_again(
    glasshouse: Glasshouse,
) -> None:
    write_trade("month", transactions=400, importers=40)
    Path("study.toml").write_text(PLAN.read_text())
    asked = ("totals", "campaign", "--study", "study.toml", "--processes", 1)
    assert glasshouse(*asked, "--out", "whole").code == 0
    cut = glasshouse(*asked, "--out", "run", "--time-limit", 0.000001, "--json")
    assert cut.code == 3
    assert json.loads(cut.out)["complete"] is False
    assert "--resume --overwrite goes on from here" in cut.error
    assert "what had no time is shown as open" in cut.error
    done = glasshouse(*asked, "--out", "run", "--resume", "--overwrite")
    assert done.code == 0, done.error
    assert contents("run") == contents("whole")
    short = glasshouse(*asked, "--memory", "100M")
    assert (short.code, "the memory limit is 0.1 GiB" in short.error) == (3, True)
    alone = glasshouse(*asked, "--part", "1/2")
    assert (alone.code, "--part needs --out" in alone.error) == (2, True)
    both = glasshouse(*asked, "--part", "1/2", "--out", "p", "--per-record", "x.parquet")
    assert (both.code, "a part shows nothing yet" in both.error) == (2, True)


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
    asked = ("totals", "campaign", "--study", "study.toml", "--processes", 1)
    outcome = glasshouse(*asked, "--out", "run", "--entities", "e.parquet", "--json")
    assert outcome.code == 0, outcome.error
    names = pyarrow.parquet.read_table("e.parquet").to_pylist()
    exposed = json.loads(outcome.out)["phases"][-1]["exposed"]
    assert sum(row["records"] for row in names) == exposed > 100
    quoted_names = {row.split(",")[0].strip('"') for row in one_each.values()}
    assert {row["entity"] for row in names} <= quoted_names
    told = Path("run/report.html").read_text() + outcome.out
    assert not any(f">{row['entity']}<" in told or f'"{row["entity"]}"' in told for row in names)
    assert "e.parquet: This file says who is behind records with certainty" in outcome.error
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


def write_thousands(value: str, total: str) -> None:
    """A plan whose records have decimal commas."""
    Path("records.csv").write_text(f"group;VMLE DOLAR\ng;{value}\n")
    Path("totals.csv").write_text(f"group,bin,value\ng,a,{total}\n")
    Path("register.csv").write_text("bin\na\nb\n")
    Path("study.toml").write_text("""
command = "totals"
measures = { value = { decimals = 2 } }
entities = { publication = "register", keys = { bin = "bin" } }
[publications]
register = { path = "register.csv" }
totals = { path = "totals.csv", measures = { value = "value" } }
[publications.records]
path = "records.csv"
dialect = { separator = ";" }
decimal_comma = true
measures = { value = "VMLE DOLAR" }
[[phases]]
name = "only"
packages = "records"
bins = "totals"
bin = ["bin"]
keys = { group = "group" }
""")


def test_a_campaign_that_can_read_nothing_is_one_line_with_exit_code_2_and_no_findings(
    glasshouse: Glasshouse,
) -> None:
    write_thousands("6.215,95", "6216")
    before = sorted(Path().iterdir())
    outcome = glasshouse("totals", "campaign", "--study", "study.toml", "--out", "run")
    assert (outcome.code, outcome.out, outcome.error.count("\n")) == (2, "", 1)
    assert '"6.215,95" in column "VMLE DOLAR"' in outcome.error
    assert 'say thousands = "."' in outcome.error
    assert sorted(Path().iterdir()) == before
    plan = Path("study.toml").read_text()
    Path("study.toml").write_text(plan.replace("_comma = true", '_comma = true\nthousands = "."'))
    assert campaign(glasshouse, "--processes", 1)["phases"][0]["exposed"] == 1


@pytest.mark.parametrize(
    ("value", "signs", "fault"),
    [
        ("6.215,95", 'dialect = { separator = ";", decimal = ",", thousands = "." }', ""),
        ("6215,95", 'dialect = { separator = ";", decimal = "," }', ""),
        ("6.215,95", 'dialect = { separator = ";" }\nthousands = "."', ""),
        (
            "6.215,95",
            'dialect = { separator = ";", decimal = ",", thousands = "." }\nthousands = "."',
            "",
        ),
        (
            "6.215,95",
            'dialect = { separator = ";", decimal = "," }\ndecimal_comma = false',
            "decimal_comma says otherwise",
        ),
        (
            "6.215,95",
            'dialect = { separator = ";", decimal = ",", thousands = "." }\nthousands = " "',
            "thousands says otherwise",
        ),
    ],
)
def test_signs_of_numbers_count_wherever_they_are_said(
    glasshouse: Glasshouse, value: str, signs: str, fault: str
) -> None:
    write_thousands(value, "6216")
    plan = Path("study.toml").read_text()
    own = 'dialect = { separator = ";" }\ndecimal_comma = true'
    assert own in plan
    Path("study.toml").write_text(plan.replace(own, signs))
    if fault:
        refused = glasshouse("totals", "campaign", "--study", "study.toml", "--out", "run")
        assert (refused.code, refused.error.count("\n")) == (2, 1)
        assert fault in refused.error
    else:
        assert campaign(glasshouse, "--processes", 1)["phases"][0]["exposed"] == 1


@pytest.mark.parametrize("language", ["en", "pt-BR"])
def test_overwrite_begins_anew_where_a_campaign_was_interrupted(
    glasshouse: Glasshouse, language: str
) -> None:
    write_thousands("6215,95", "6216")
    partial = Path("runs") / "totals.partial"
    partial.mkdir(parents=True)
    (partial / "key").write_text("another plan", encoding="ascii")
    (partial / "0.arrow").write_bytes(b"what was finished")
    asked = ("totals", "campaign", "--study", "study.toml", "--processes", 1, "--lang", language)
    refused = glasshouse(*asked, "--out", "runs/totals")
    assert (refused.code, "--overwrite" in refused.error) == (2, True)
    assert (partial / "0.arrow").exists()
    done = glasshouse(*asked, "--out", "runs/totals", "--overwrite")
    assert done.code == 0, done.error
    assert not partial.exists()
    assert Path("runs/totals/report.html").exists()


def test_where_no_group_meets_its_totals_nothing_is_said_to_be_safe(glasshouse: Glasshouse) -> None:
    write_thousands("6215,95", "9000")
    outcome = glasshouse("totals", "campaign", "--study", "study.toml", "--processes", 1)
    assert outcome.code == 0, outcome.error
    sentences = " ".join(outcome.out.split()).partition("•")[2]
    assert "This does not mean that they are safe." in sentences
    assert "In 1 group of phase “only” records and totals do not agree" in sentences
    assert "do not tell" not in sentences
    assert "no more often" not in sentences


BAD = {
    "no instance": (("solve", "no.json"), "no.json: there is no such file"),
    "no JSON": (("solve", "broken.json"), "JSON"),
    "no plan": (("campaign", "--study", "no.toml"), "no.toml"),
    "another study": (("campaign", "--study", "other.toml"), "glasshouse assess --study"),
    "no publication": (("campaign", "--study", "plan.toml"), "transactions.csv"),
    "no time": (("campaign", "--study", "plan.toml", "--time-limit", 0), "--time-limit is 0"),
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
    if "--resume" in arguments or "--time-limit" in arguments:
        write_trade("month", transactions=100, importers=10)
    outcome = glasshouse("totals", *arguments)
    assert outcome.code == 2, outcome.error
    assert message in outcome.error
    assert outcome.error.count("\n") == 1


def test_a_synthetic_month_can_be_attacked_at_once(glasshouse: Glasshouse) -> None:
    made = glasshouse("synth", "trade", "--records", 300, "--out", "month")
    assert "Next: glasshouse totals campaign --study month/study.toml" in made.out
    done = glasshouse(
        *f"{made.out.partition('Next: glasshouse ')[2].strip()} --processes 1".split()
    )
    assert done.code == 0, done.error
    assert "By phase" in done.out
    again = glasshouse("synth", "trade", "--records", 300, "--out", "month")
    assert (again.code, again.error) == (2, 'glasshouse: "month" exists; choose another place\n')


def test_the_readme_group_is_the_worked_example(glasshouse: Glasshouse) -> None:
    group = Path(__file__).parents[2] / "examples" / "trade" / "group.json"
    found = json.loads(glasshouse("totals", "solve", group, "--json").out)
    assert (found["status"], found["allocations"]) == ("unique", 1)
    assert found["feasible_bins"][0] == [1]


def test_records_are_written_as_parquet_only(glasshouse: Glasshouse) -> None:
    glasshouse("synth", "trade", "--records", 300, "--out", "month")
    asked = ("totals", "campaign", "--study", "month/study.toml", "--per-record", "x.csv")
    done = glasshouse(*asked)
    assert done.code == 2
    assert done.error == (
        'glasshouse: "x.csv" is written as Parquet; give a name that ends in .parquet\n'
    )
