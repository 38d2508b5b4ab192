"""Nothing that somebody made is ever lost: not the data, not a run, not what appears meanwhile."""

from __future__ import annotations

import signal
import subprocess
import sys
from collections.abc import Callable
from importlib import import_module
from pathlib import Path

import pytest

from glasshouse.atomic import held
from glasshouse.report import Page
from glasshouse.runs import folder
from tests.conftest import Glasshouse

GOOD = "age,sex,ill\n20,f,no\n20,f,no\n30,m,yes\n30,m,no\n"
ASKED = ("-q", "age", "-q", "sex")


@pytest.fixture(autouse=True)
def data(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    Path("data").mkdir()
    path = Path("data/release.csv")
    path.write_text(GOOD)
    return path


def names(place: str = ".") -> list[str]:
    return sorted(path.name for path in Path(place).iterdir())


@pytest.mark.parametrize(
    "command", [("assess",), ("anonymise", "--k", "2")], ids=["assess", "anonymise"]
)
def test_a_folder_with_the_data_is_never_replaced(
    glasshouse: Glasshouse, data: Path, command: tuple[str, ...]
) -> None:
    outcome = glasshouse(*command, data, *ASKED, "--out", "data", "--overwrite")
    assert outcome.code == 2
    assert "holds the data itself (release.csv)" in outcome.error
    assert data.read_text() == GOOD
    assert names() == ["data"]


def test_a_folder_without_our_manifest_is_no_run(glasshouse: Glasshouse, data: Path) -> None:
    Path("other").mkdir()
    Path("other/release.csv").write_text("the only copy")
    for manifest in (None, "{}", "[]", "no json"):
        if manifest is not None:
            Path("other/manifest.json").write_text(manifest)
        outcome = glasshouse("assess", data, *ASKED, "--out", "other", "--overwrite")
        assert outcome.code == 2
        assert "has no manifest of ours" in outcome.error
    assert Path("other/release.csv").read_text() == "the only copy"


def while_drawing(monkeypatch: pytest.MonkeyPatch, act: Callable[[], object]) -> None:
    """Do something while the report of a run is drawn."""
    drawn = folder.report_files

    def acting(make: Callable[[], Page]) -> dict[str, str]:
        act()
        return drawn(make)

    monkeypatch.setattr(import_module("glasshouse.runs.run"), "report_files", acting)


@pytest.mark.parametrize("overwrite", [(), ("--overwrite",)], ids=["new", "overwrite"])
def test_a_folder_that_appears_meanwhile_is_never_touched(
    glasshouse: Glasshouse, data: Path, monkeypatch: pytest.MonkeyPatch, overwrite: tuple[str, ...]
) -> None:
    def appear() -> None:
        Path("run").mkdir()
        Path("run/thesis.txt").write_text("years of work")

    while_drawing(monkeypatch, appear)
    outcome = glasshouse("assess", data, *ASKED, "--out", "run", *overwrite)
    assert outcome.code == 2
    assert "made by somebody else meanwhile" in outcome.error
    assert names("run") == ["thesis.txt"]
    assert "report.html" in names("run-2")
    assert {"data", "run", "run-2"} <= set(names())


def test_the_second_of_two_processes_on_one_run_is_told(glasshouse: Glasshouse, data: Path) -> None:
    with held(Path("run")):
        outcome = glasshouse("assess", data, *ASKED, "--out", "run")
    assert outcome.code == 2
    assert "is being written by another process" in outcome.error
    assert glasshouse("assess", data, *ASKED, "--out", "run").code == 0
    assert names() == ["data", "run"]


def test_a_link_to_a_disk_is_written_through(glasshouse: Glasshouse, data: Path) -> None:
    Path("disk").mkdir()
    Path("link").symlink_to("disk")
    assert glasshouse("assess", data, *ASKED, "--out", "link").code == 0
    assert Path("link").is_symlink()
    assert "report.html" in names("disk")


def test_a_synthetic_file_replaces_nothing_unasked(glasshouse: Glasshouse, data: Path) -> None:
    asked = ("synth", "school-census", "--records", "50", "--out", data)
    outcome = glasshouse(*asked)
    assert (outcome.code, "say --overwrite" in outcome.error) == (2, True)
    assert data.read_text() == GOOD
    assert glasshouse(*asked, "--overwrite").code == 0
    assert data.read_text() != GOOD


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM], ids=["Ctrl-C", "SIGTERM"])
def test_a_run_that_is_stopped_leaves_nothing_half_written_and_is_offered_again(
    data: Path, number: signal.Signals
) -> None:
    outcome = stopped_at_step(number, "assess", data, *ASKED, "--subsets", "all", "--out", "run")
    assert outcome == 130
    assert names() == ["data", "run.partial"]


def test_an_interrupted_run_is_offered_and_not_thrown_away(
    glasshouse: Glasshouse, data: Path
) -> None:
    asked = ("assess", data, *ASKED, "--subsets", "all", "--out", "run")
    stopped_at_step(signal.SIGTERM, *asked)
    outcome = glasshouse(*asked)
    assert outcome.code == 2
    assert "an interrupted run of this study; say --resume to go on from it" in outcome.error
    other = glasshouse("assess", data, *ASKED, "-s", "ill", "--subsets", "all", "--out", "run")
    assert (other.code, "interrupted run of another study" in other.error) == (2, True)
    assert glasshouse(*asked, "--resume").code == 0
    assert names() == ["data", "run"]
    stopped_at_step(signal.SIGTERM, *asked, "--overwrite")
    assert glasshouse(*asked, "--overwrite").code == 0
    assert names() == ["data", "run"]


def test_what_tells_of_people_is_for_its_owner(glasshouse: Glasshouse, data: Path) -> None:
    asked = ("-q", "age", "-s", "ill", "--per-record", "risks.parquet", "--save-table", "t.arrow")
    assert glasshouse("assess", data, *asked, "--out", "run").code == 0
    modes = {path.name: path.stat().st_mode & 0o077 for path in Path().rglob("*.*")}
    for name in ("risks.parquet", "t.arrow", "results.parquet", "study.toml", "manifest.json"):
        assert modes[name] == 0, name
    assert modes["report.html"] == modes["release.csv"]  # as the user's mask has it


def stopped_at_step(number: signal.Signals, *arguments: object) -> int:
    """Run a command as a process of its own that gets a signal when its second step is kept; return its exit code."""
    done = subprocess.run(
        [sys.executable, "-c", STOPPED.format(number=int(number)), *map(str, arguments)],
        check=False,
        capture_output=True,
    )
    return done.returncode


STOPPED = """
import os, sys
from glasshouse.checkpoint import Checkpoint
from glasshouse.cli.main import run
save = Checkpoint.save
def saved(self, step, rows):
    save(self, step, rows)
    os.kill(os.getpid(), {number})
Checkpoint.save = saved
run()
"""
