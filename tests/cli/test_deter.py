"""``deter``: the attacker's economics through the command line."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pyarrow.parquet
import pytest

from tests.cli.test_longitudinal import write
from tests.conftest import Glasshouse

OPTIONS = {
    "prior": "--prior",
    "G": "--gain",
    "Ce": "--exploit-cost",
    "Cp": "--penalty",
    "Cd": "--access-cost",
    "Cl": "--link-cost",
    "gamma": "--discount",
}
THRESHOLDS = {
    "no_attack": "k_no_attack_known",
    "no_exploit_after_access": "k_no_exploit_after_access",
    "first_partial": "k_first_not_full_risk",
    "baseline": "k_baseline",
}


@pytest.fixture(autouse=True)
def _own_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def test_the_golden_cases(glasshouse: Glasshouse, shared: Callable[[str], Path]) -> None:
    golden = json.loads(shared("golden/economics.json").read_text())
    for name, case in golden["cases"].items():
        given = case["params"]
        terms = [part for own, option in OPTIONS.items() for part in (option, given[own])]
        penalties = "unlimited" if case["nf_infinite"] else given["nf"]
        outcome = glasshouse(
            "deter", *terms, "--detection", given["h0"], given["h1"], "--penalties", penalties,
            "--sizes", f"1:{max(map(int, case['sizes']))}", "--json",
        )  # fmt: skip
        assert outcome.code == 0, outcome.error
        document = json.loads(outcome.out)
        told = document["thresholds"]
        assert told == {own: case[theirs] for own, theirs in THRESHOLDS.items()}, name
        by_size = {row["size"]: row for row in document["sizes"]}
        for size, expected in case["sizes"].items():
            row = by_size[int(size)]
            assert row["value"] == pytest.approx(float(expected["V_x0_known"]), rel=1e-9, abs=1e-9)
            assert row["value_after_access"] == pytest.approx(
                float(expected["V_start"]), rel=1e-9, abs=1e-9
            )
            assert row["reidentification"] == pytest.approx(
                float(expected["P_reid_known"]), rel=1e-9, abs=1e-12
            )
            assert row["exploits"] == expected["exploits_undetected_path_known"]


def test_the_defaults_are_explained_and_repeated(glasshouse: Glasshouse) -> None:
    outcome = glasshouse("deter", "--currency", "US$", "--out", "run")
    assert outcome.code == 0, outcome.error
    assert "an attack pays where fewer than 45 people are alike" in " ".join(outcome.out.split())
    assert "US$ 486,699.00" in outcome.out
    again = glasshouse("deter", "--study", "run/study.toml", "--out", "again")
    assert again.code == 0, again.error
    for name in ("results.parquet", "report.html", "study.toml"):
        assert Path("again", name).read_bytes() == Path("run", name).read_bytes()


def test_a_deterrent_deters(glasshouse: Glasshouse) -> None:
    first = json.loads(glasshouse("deter", "--protect", 5, "--json").out)
    needed = {each["parameter"]: each["lasting"] for each in first["deterrents"]}
    for option, name in (("--penalty", "penalty"), ("--access-cost", "access_cost")):
        stopped = json.loads(
            glasshouse("deter", option, needed[name], "--sizes", "5:9", "--json").out
        )
        assert all(row["reidentification"] == 0 for row in stopped["sizes"])
        short = needed[name] * (1 - 1e-9)
        tried = json.loads(glasshouse("deter", option, short, "--sizes", "5:5", "--json").out)
        assert tried["sizes"][0]["reidentification"] > 0


def test_a_release_is_weighed_against_a_register(glasshouse: Glasshouse) -> None:
    ages = ["20"] * 60 + ["30"] * 5 + ["40"]
    write("voters.csv", {"age": ages, "name": [f"v{i}" for i in range(66)]})
    write("trial.csv", {"age": ["20", "30", "40", "50"], "ill": ["a", "b", "b", "a"]})
    linked = ("deter", "--release", "trial.csv", "--register", "voters.csv", "-q", "age")
    document = json.loads(glasshouse(*linked, "--prior", 1, "--json").out)["exposure"]
    assert (document["records"], document["people"]) == (4, 66)
    assert document["known"]["at_risk"] == 3
    assert document["known"]["expected"] == pytest.approx(3.0)
    outcome = glasshouse(
        *linked, "--currency", "€", "--loss", 10, "--loss-by", "ill:b=500", "--out", "run",
        "--per-record", "risks.parquet",
    )  # fmt: skip
    assert outcome.code == 0, outcome.error
    assert "expected to lose is not shown here" in " ".join(outcome.out.split())
    risks = pyarrow.parquet.read_table("risks.parquet").to_pydict()
    assert risks["size"] == [60, 5, 1, 0]
    assert risks["loss"] == [10, 500, 500, 10]
    assert risks["known"][0] == risks["known"][3] == 0
    report = Path("run/report.html").read_text()
    assert "What the release risks" in report
    assert "v17" not in report


def test_without_a_register_groups_are_believed(glasshouse: Glasshouse) -> None:
    write("all.csv", {"age": ["20"] * 900 + ["30"] * 100})
    write("trial.csv", {"age": ["20", "30"]})
    outcome = glasshouse(
        "deter", "--release", "trial.csv", "--population", "all.csv", "-q", "age", "--belief", 50,
        "--json",
    )  # fmt: skip
    assert outcome.code == 0, outcome.error
    assert json.loads(outcome.out)["exposure"]["people"] == 50


LINKED = ("--release", "trial.csv", "--register", "voters.csv")
BAD = {
    "prior": (("--prior", 1.5), "--prior is 1.5"),
    "cost": (("--exploit-cost", -1), "--exploit-cost is -1.0"),
    "no discount": (("--discount", 0), "--discount is 0.0"),
    "discount": (("--discount", 1.1), "--discount is 1.1"),
    "size": (("--sizes", "0:5"), "--sizes 0:5"),
    "no size": (("--sizes", "few"), '"few" is not a range'),
    "penalties": (("--penalties", "some"), '--penalties is "some"'),
    "belief": (("--belief", 10, "--sizes", "1:100"), "a register of 10 holds no group of 100"),
    "target": (("--target", 2), "target"),
    "no release": (("--register", "voters.csv", "-q", "age"), "give --release FILE"),
    "no register": (("--release", "trial.csv", "-q", "age"), "--register FILE"),
    "no columns": (LINKED, "-q COLUMN"),
    "no such column": ((*LINKED, "-q", "agee"), 'did you mean "age"'),
    "believed too large": ((*LINKED, "-q", "age", "--belief", 99), "--belief is 99"),
    "no such file": (("--release", "trail.csv", "--register", "voters.csv", "-q", "age"), "trail"),
    "per record of nothing": (("--per-record", "r.parquet"), "give --release FILE"),
    "loss of no value": ((*LINKED, "-q", "age", "--loss-by", "ill:flu=3"), '"flu"'),
}


@pytest.mark.parametrize(("arguments", "message"), BAD.values(), ids=BAD)
def test_terms_that_make_no_sense_are_one_line(
    glasshouse: Glasshouse, arguments: tuple[object, ...], message: str
) -> None:
    write("voters.csv", {"age": ["20", "30"]})
    write("trial.csv", {"age": ["20", "30"], "ill": ["a", "b"]})
    outcome = glasshouse("deter", *arguments, "--out", "run")
    assert outcome.code == 2, outcome.error
    assert message in outcome.error
    assert outcome.error.count("\n") == 1
    assert not Path("run").exists()
