"""``totals`` that is stopped from outside: one line, nothing left behind, and ``--resume`` ends the same."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow.parquet
import pytest

from glasshouse.synthetic.trade import write_trade
from tests.reconstruction.test_solver import sparse

PLAN = Path(__file__).parents[2] / "examples" / "trade" / "study.toml"
BUDGET = "[budget]\nquick = 0.2\npatience = 1000.0\nlongest = 1.5\n"
COMMAND = [sys.executable, "-m", "glasshouse", "totals", "campaign", "--study", "study.toml"]
RESUMABLE = b"glasshouse: stopped; the same command with --resume goes on from here\n"

pytestmark = pytest.mark.skipif(
    not Path("/proc/self/stat").exists(), reason="looks at processes in /proc"
)


@pytest.fixture(scope="module")
def month(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A month with one instance that meets its limit, which keeps a process at work for a while."""
    folder = tmp_path_factory.mktemp("month")
    write_trade(folder / "month", transactions=500, importers=120, seed=3, added=0.0)
    text = re.sub(r"\[budget\].*", BUDGET, PLAN.read_text(), flags=re.DOTALL)
    (folder / "study.toml").write_text(text)
    return folder


@pytest.fixture(scope="module")
def whole(month: Path) -> Any:
    """What comes of the campaign if nobody stops it."""
    return carried_out(month, "whole")


def carried_out(month: Path, name: str, *options: str) -> Any:
    """Carry the campaign out, and return its figures and what it says of every record."""
    records = f"{name}.parquet"
    command = [*COMMAND, "--processes", "1", "--json", "--out", name, "--per-record", records]
    done = subprocess.run([*command, *options], cwd=month, capture_output=True, check=False)
    assert done.returncode == 0, done.stderr
    figures = without_times(json.loads(done.stdout))
    return figures, pyarrow.parquet.read_table(month / records).to_pylist()


def without_times(document: Any) -> Any:
    if isinstance(document, dict):
        return {key: without_times(own) for key, own in document.items() if key != "seconds"}
    if isinstance(document, list):
        return [without_times(own) for own in document]
    return document


def members(session: int) -> dict[int, float]:
    """The processes of a session that have not ended, and the CPU seconds that each has taken."""
    found = {}
    for path in Path("/proc").glob("[0-9]*/stat"):
        try:
            fields = path.read_text().rpartition(")")[2].split()
        except OSError:
            continue
        if int(fields[3]) == session and fields[0] not in "ZX":
            ticks = int(fields[11]) + int(fields[12])
            found[int(path.parent.name)] = ticks / os.sysconf("SC_CLK_TCK")
    return found


def until(holds: Callable[[], bool], process: subprocess.Popen[bytes] | None = None) -> None:
    while not holds():
        assert process is None or process.poll() is None, "it ended too early"
        time.sleep(0.1)  # looking at all processes takes longer than a look at a file


def begun(month: Path, name: str) -> subprocess.Popen[bytes]:
    """A campaign with two processes, in a session of its own as a terminal has one, which has begun."""
    process = subprocess.Popen(
        [*COMMAND, "--processes", "2", "--out", name],
        cwd=month,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        start_new_session=True,
    )
    until((month / f"{name}.partial" / "key").exists, process)
    until(lambda: len(members(process.pid)) >= 4, process)  # two workers, and one that tracks them
    return process


def ended(process: subprocess.Popen[bytes]) -> tuple[bytes, bytes]:
    """What a process has said; all others of its session have ended too."""
    said = process.communicate()
    until(lambda: not members(process.pid))
    return said


def test_ctrl_c_is_one_line_and_the_campaign_goes_on(month: Path, whole: Any) -> None:
    process = begun(month, "interrupted")
    until(lambda: bool(list((month / "interrupted.partial").glob("*.arrow"))), process)
    os.killpg(process.pid, signal.SIGINT)  # a terminal sends it to all processes
    assert ended(process) == (b"", RESUMABLE)
    assert process.returncode == 130
    assert not (month / "interrupted").exists()
    assert carried_out(month, "interrupted", "--resume") == whole
    assert not (month / "interrupted.partial").exists()


@pytest.mark.parametrize(
    ("number", "send"),
    [(signal.SIGINT, os.killpg), (signal.SIGTERM, os.killpg), (signal.SIGTERM, os.kill)],
    ids=["Ctrl-C", "SIGTERM to all", "SIGTERM to the first"],
)
def test_a_signal_while_processes_start_is_one_line(
    month: Path, number: int, send: Callable[[int, int], None]
) -> None:
    process = begun(month, f"{send.__name__} {number}")
    send(process.pid, number)
    assert ended(process) == (b"", RESUMABLE)
    assert process.returncode == 130


@pytest.mark.parametrize(
    ("number", "seconds"), [(signal.SIGINT, 6), (signal.SIGTERM, 3)], ids=["Ctrl-C", "SIGTERM"]
)
def test_a_scheduler_ends_one_group_as_ctrl_c_does(
    tmp_path: Path, number: int, seconds: int
) -> None:
    group = sparse(130, 25, seed=4)[0].to_dict()
    (tmp_path / "group.json").write_text(json.dumps(group))
    process = subprocess.Popen(
        [*COMMAND[:-3], "solve", "group.json", "--time-limit", "300", "--json"],
        cwd=tmp_path,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        start_new_session=True,
    )
    until(lambda: members(process.pid).get(process.pid, 0.0) > seconds, process)
    os.kill(process.pid, number)
    assert ended(process) == (b"", b"glasshouse: stopped\n")
    assert process.returncode == 130


def test_a_campaign_that_is_killed_leaves_no_process_and_goes_on(month: Path, whole: Any) -> None:
    process = begun(month, "killed")
    until(lambda: sum(members(process.pid).values()) > 4, process)
    os.kill(process.pid, signal.SIGKILL)
    assert ended(process) == (b"", b"")
    assert carried_out(month, "killed", "--resume") == whole
