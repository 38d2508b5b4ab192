"""Long work outlives the page and the app, can be stopped and taken up again, and tells in one line why it failed."""

from __future__ import annotations

import json
import os
import signal
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from glasshouse.app.jobs import Job, Jobs, JobStanding, State
from glasshouse.cli.command import progress
from glasshouse.errors import DataError
from glasshouse.progress import PROGRESS_FILE, Progress

WORKER = """
import json, os, pathlib, signal, sys, time
signal.signal(signal.SIGINT, signal.default_int_handler)  # which a shell turns off in what it leaves in the background
how, out = sys.argv[1], pathlib.Path(sys.argv[3])
if how == "crash":
    sys.exit("note: something else\\nglasshouse: there is no column age; name another")
if how == "die":
    os.kill(os.getpid(), 9)
if how == "protect" and "--overwrite" not in sys.argv:
    out.with_name(f"{out.name}.partial").mkdir()
    out.with_name(f"{out.name}.partial").joinpath("key").touch()
    sys.exit("glasshouse: it belongs to other data; leave out --resume")
if how == "assess" and "--resume" not in sys.argv:
    if out.name == "kept":
        out.with_name("kept.partial").mkdir()
        out.with_name("kept.partial").joinpath("key").touch()
    tests = os.getppid()
    try:
        place = pathlib.Path(os.environ["GLASSHOUSE_PROGRESS"])
        print("glasshouse: a version is found: its error is 3.5%", file=sys.stderr, flush=True)
        place.write_text(json.dumps({"stage": "sweeping", "share": 0.5}))
        while os.getppid() == tests:
            time.sleep(0.1)
    except KeyboardInterrupt:
        sys.exit("glasshouse: stopped; the same command with --resume goes on from here")
out.mkdir()
(out / "report.json").write_text("{}")
"""


@pytest.fixture
def start(tmp_path: Path) -> Iterator[Callable[[], Jobs]]:
    """Start the queue, as the app does when it starts; what it has started is over when the test is."""
    (tmp_path / "worker.py").write_text(WORKER)
    (tmp_path / "jobs").mkdir()
    program = (sys.executable, "-S", str(tmp_path / "worker.py"))
    queues: list[Jobs] = []

    def started() -> Jobs:
        queues.append(Jobs(tmp_path / "jobs", program))
        return queues[-1]

    yield started
    for child in [child for queue in queues for child in queue._children.values()]:
        child.kill()  # whose lock is free may not have ended yet
        child.wait()


def submitted(jobs: Jobs, tmp_path: Path, how: str, name: str = "out") -> Job:
    out = tmp_path / name
    return jobs.submit("A title", [how, "--out", str(out)], out=out)


def wait(jobs: Jobs, job: Job, done: Callable[[JobStanding], bool]) -> JobStanding:
    """Wait, however long the machine takes, until something holds of a job that is not over before."""
    while True:
        jobs.advance()
        standing = jobs.standing(job.identifier)
        if done(standing):
            return standing
        assert not standing.state.is_over, standing
        time.sleep(0.02)


def is_over(standing: JobStanding) -> bool:
    return standing.state.is_over


def is_half_way(standing: JobStanding) -> bool:
    return standing.share == 0.5


def test_a_job_is_done_when_its_run_is_there(start: Callable[[], Jobs], tmp_path: Path) -> None:
    jobs = start()
    job = submitted(jobs, tmp_path, "quick")
    assert wait(jobs, job, is_over).state is State.DONE
    assert [standing.job.title for standing in jobs.all()] == ["A title"]


@pytest.mark.parametrize(
    ("how", "message"), [("crash", "there is no column age; name another"), ("die", "")]
)
def test_a_crash_is_one_line(
    start: Callable[[], Jobs], tmp_path: Path, how: str, message: str
) -> None:
    jobs = start()
    standing = wait(jobs, submitted(jobs, tmp_path, how), is_over)
    assert (standing.state, standing.message) == (State.FAILED, message)


def test_a_running_job_tells_how_far_it_is_and_is_found_again_stopped_and_resumed(
    start: Callable[[], Jobs], tmp_path: Path
) -> None:
    closed = start()
    job = submitted(closed, tmp_path, "assess", "kept")
    jobs = start()  # the app was closed and started again
    standing = wait(jobs, job, is_half_way)
    assert (standing.state, standing.stage) == (State.RUNNING, "sweeping")
    assert standing.said == ("a version is found: its error is 3.5%",)
    assert not standing.is_stopping
    jobs.cancel(job.identifier)
    stopping = jobs.standing(job.identifier)
    assert stopping.is_stopping or stopping.state.is_over
    assert wait(jobs, job, is_over).state is State.CANCELLED
    jobs = start()
    assert jobs.standing(job.identifier).state is State.CANCELLED
    jobs.resume(job.identifier)
    done = wait(jobs, job, is_over)
    assert done.state is State.DONE
    assert done.job.arguments[-1] == "--resume"
    closed.advance()  # which only collects its child


def test_what_was_stopped_before_anything_was_kept_begins_anew(
    start: Callable[[], Jobs], tmp_path: Path
) -> None:
    jobs = start()
    job = submitted(jobs, tmp_path, "assess")
    wait(jobs, job, is_half_way)
    jobs.cancel(job.identifier)
    assert not wait(jobs, job, is_over).job.can_resume
    jobs.resume(job.identifier)
    again = wait(jobs, job, is_half_way)
    assert "--resume" not in again.job.arguments
    jobs.cancel(job.identifier)
    wait(jobs, job, is_over)


def test_what_is_kept_of_other_data_can_be_thrown_away(
    start: Callable[[], Jobs], tmp_path: Path
) -> None:
    jobs = start()
    job = submitted(jobs, tmp_path, "protect")
    failed = wait(jobs, job, is_over)
    assert failed.state is State.FAILED
    assert failed.job.can_resume
    jobs.resume(job.identifier, anew=True)
    assert wait(jobs, job, is_over).state is State.DONE


def test_jobs_run_one_after_the_other_and_what_waits_can_be_stopped(
    start: Callable[[], Jobs], tmp_path: Path
) -> None:
    jobs = start()
    first = submitted(jobs, tmp_path, "assess")
    second, third = (submitted(jobs, tmp_path, "quick", name) for name in ("second", "third"))
    wait(jobs, first, is_half_way)
    assert jobs.standing(second.identifier).state is State.QUEUED
    jobs.cancel(second.identifier)
    assert jobs.standing(second.identifier).state is State.CANCELLED
    jobs.cancel(first.identifier)
    jobs.cancel(first.identifier)  # impatience does no harm
    assert wait(jobs, third, is_over).state is State.DONE
    assert jobs.standing(first.identifier).state is State.CANCELLED
    assert not (tmp_path / "second").exists()


def test_a_killed_job_is_not_taken_for_another_process_with_its_number(
    start: Callable[[], Jobs], tmp_path: Path
) -> None:
    jobs = start()
    job = submitted(jobs, tmp_path, "assess")
    standing = wait(jobs, job, is_half_way)
    os.kill(standing.job.pid, signal.SIGKILL)
    assert wait(jobs, job, is_over).state is State.FAILED
    jobs.cancel(job.identifier)  # and nobody is sent a signal
    assert jobs.standing(job.identifier).state is State.FAILED


def test_a_command_tells_how_far_it_is_in_the_file_that_it_is_given(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    place = tmp_path / "progress.json"
    monkeypatch.setenv(PROGRESS_FILE, str(place))
    with progress() as on_progress:
        assert on_progress is not None
        on_progress(Progress("reading", 1, 4))
        assert json.loads(place.read_text()) == {"stage": "reading", "share": 0.25}
        on_progress(Progress("reading", 4, 4))
    assert json.loads(place.read_text()) == {"stage": "reading", "share": 1.0}
    assert list(tmp_path.iterdir()) == [place]


@pytest.mark.parametrize("identifier", ["", "..", "../jobs", "nothing", "a/b"])
def test_there_are_no_jobs_outside_of_the_folder(
    start: Callable[[], Jobs], identifier: str
) -> None:
    with pytest.raises(DataError, match="no such job"):
        start().standing(identifier)
