"""Long work: our own command line in child processes, one at a time, each with a folder that tells all about it.

A job outlives the app: its state is on disk, and whether it runs is told by a lock that only its process holds. Started
again, the app finds what runs, what waits and how everything ended. A job is cancelled as by Ctrl-C, so that it keeps
what it has finished, and resumed by the same command with ``--resume``; if nothing was finished yet, it begins anew.
"""

from __future__ import annotations

import json
import os
import secrets
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from enum import StrEnum
from pathlib import Path
from threading import RLock

from glasshouse.app.workspace import read_json
from glasshouse.atomic import new_file
from glasshouse.errors import DataError
from glasshouse.progress import PROGRESS_FILE

if sys.platform == "win32":
    raise ImportError("the queue of jobs needs the locks of Linux and macOS")
import fcntl

JOB, LOCK, OUTPUT, ERRORS, PROGRESS, CANCELLED = (
    *("job.json", "lock", "stdout", "stderr", "progress.json"),
    "cancelled",
)
MOST_SAID = 4096
"""So many bytes at the end of what a job said on standard error are looked at."""
PROGRAM = (sys.executable, "-m", "glasshouse")
"""Our own command line."""


class State(StrEnum):
    """How a job stands."""

    QUEUED = "queued"
    RUNNING = "running"
    DONE = "done"
    CANCELLED = "cancelled"
    FAILED = "failed"

    @property
    def is_over(self) -> bool:
        """Whether nothing happens to it any more by itself."""
        return self not in (State.QUEUED, State.RUNNING)


@dataclass(frozen=True)
class Job:
    """One piece of work."""

    identifier: str
    """What pages call it, and its folder."""
    title: str
    """What it is about."""
    arguments: tuple[str, ...]
    """What the command line is given."""
    out: str
    """The run folder that it makes."""
    created: float
    """When it was asked for."""
    shown_command: str = ""
    """The command as it would be typed beside the data."""
    pid: int = 0
    """Its process, once it has one."""

    @property
    def can_resume(self) -> bool:
        """Whether something is kept of what it has finished, so that it goes on where it was stopped."""
        from glasshouse.checkpoint import Checkpoint

        return Checkpoint.is_kept_of(Path(self.out))


@dataclass(frozen=True)
class JobStanding:
    """How a job stands, and how far it is."""

    job: Job
    """The job."""
    state: State
    """How it stands."""
    stage: str = ""
    """What it is doing."""
    share: float | None = None
    """The part of it that is done; None: nobody knows."""
    message: str = ""
    """Why it ended, in one line, where it failed."""
    said: tuple[str, ...] = ()
    """What it has said so far, such as which version is found, the latest last."""
    is_stopping: bool = False
    """Whether it was told to stop, and has not yet."""


class Jobs:
    """The queue.

    Args:
        folder: Where jobs are kept.
        program: What is run, with the arguments of a job.
    """

    def __init__(self, folder: Path, program: Sequence[str] = PROGRAM) -> None:
        self._folder = folder
        self._program = tuple(program)
        self._lock = RLock()
        self._children: dict[str, subprocess.Popen[bytes]] = {}
        self._over: dict[str, JobStanding] = {}

    def submit(
        self, title: str, arguments: Sequence[str], *, out: Path, shown_command: str = ""
    ) -> Job:
        """Add a job to the queue."""
        job = Job(
            f"{int(time.time() * 1000):013d}{secrets.token_hex(5)}",
            title,
            tuple(arguments),
            str(out),
            time.time(),
            shown_command,
        )
        (self._folder / job.identifier).mkdir(mode=0o700)
        self._write(job)
        self.advance()
        return job

    def all(self) -> list[JobStanding]:
        """Return every job, the latest first."""
        identifiers = sorted((path.name for path in self._folder.iterdir()), reverse=True)
        return [standing for name in identifiers if (standing := self._standing(name)) is not None]

    def standing(self, identifier: str) -> JobStanding:
        """Return how a job stands.

        Raises:
            DataError: There is no such job.
        """
        standing = self._standing(identifier) if identifier.isalnum() else None
        if standing is None:
            raise DataError("there is no such job; it may have been removed")
        return standing

    def advance(self) -> None:
        """Start the next job if none runs; called again and again."""
        with self._lock:
            for name, child in list(self._children.items()):
                if child.poll() is not None:
                    del self._children[name]
            standings = self.all()
            if any(one.state is State.RUNNING for one in standings):
                return
            waiting = [one.job for one in standings if one.state is State.QUEUED]
            if waiting:
                self._start(waiting[-1])

    def cancel(self, identifier: str) -> None:
        """Stop a job, as by Ctrl-C; the second time at once."""
        with self._lock:
            standing = self.standing(identifier)
            mark = self._folder / identifier / CANCELLED
            if standing.state is State.RUNNING:
                number = signal.SIGKILL if mark.exists() else signal.SIGINT
                os.killpg(standing.job.pid, number)
            if not standing.state.is_over:
                mark.touch()
        self.advance()

    def resume(self, identifier: str, *, anew: bool = False) -> None:
        """Run a job again that was stopped or failed, from where it was if something is kept of it.

        Args:
            identifier: The job.
            anew: Whether what is kept is thrown away, as when the data have changed since.
        """
        with self._lock:
            standing = self.standing(identifier)
            if not standing.state.is_over or standing.state is State.DONE:
                return
            folder = self._folder / identifier
            for name in (CANCELLED, ERRORS, PROGRESS):
                (folder / name).unlink(missing_ok=True)
            again = ("--resume", "--overwrite")
            arguments = tuple(word for word in standing.job.arguments if word not in again)
            if standing.job.can_resume:
                arguments += ("--overwrite",) if anew else ("--resume",)
            self._over.pop(identifier, None)
            self._write(replace(standing.job, arguments=arguments, pid=0))
        self.advance()

    def forget(self, out: Path) -> None:
        """Remove all that is kept of the work that made a run folder, now that it is removed."""
        with self._lock:
            for standing in self.all():
                if standing.state.is_over and Path(standing.job.out) == out:
                    self._over.pop(standing.job.identifier, None)
                    shutil.rmtree(self._folder / standing.job.identifier, ignore_errors=True)

    def _start(self, job: Job) -> None:
        folder = self._folder / job.identifier
        environment = {**os.environ, PROGRESS_FILE: str(folder / PROGRESS)}
        lock = os.open(folder / LOCK, os.O_RDWR | os.O_CREAT, 0o600)
        try:
            try:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except OSError:  # another app on the same folder has started it
                return
            with (folder / OUTPUT).open("wb") as output, (folder / ERRORS).open("wb") as errors:
                child = subprocess.Popen(  # noqa: S603 - our own command line
                    [*self._program, *job.arguments],
                    stdin=subprocess.DEVNULL,
                    stdout=output,
                    stderr=errors,
                    env=environment,
                    cwd=folder,
                    pass_fds=(lock,),
                    start_new_session=True,
                )
        finally:
            os.close(lock)  # the child holds it now
        self._children[job.identifier] = child
        self._write(replace(job, pid=child.pid))

    def _standing(self, identifier: str) -> JobStanding | None:
        if identifier in self._over:
            return self._over[identifier]
        folder = self._folder / identifier
        try:
            content = json.loads((folder / JOB).read_text(encoding="utf-8"))
            job = Job(**{**content, "arguments": tuple(content["arguments"])})
        except (OSError, ValueError, TypeError, KeyError):
            return None
        is_cancelled = (folder / CANCELLED).exists()
        if not job.pid:
            return JobStanding(job, State.CANCELLED if is_cancelled else State.QUEUED)
        if _is_held(folder / LOCK):
            progress = read_json(folder / PROGRESS)
            return JobStanding(
                job,
                State.RUNNING,
                progress.get("stage", ""),
                progress.get("share"),
                said=tuple(_lines(folder / ERRORS)),
                is_stopping=is_cancelled,
            )
        if (Path(job.out) / "report.json").exists():
            standing = JobStanding(job, State.DONE, share=1.0)
        elif is_cancelled:
            standing = JobStanding(job, State.CANCELLED)
        else:
            standing = JobStanding(job, State.FAILED, message="".join(_lines(folder / ERRORS)[-1:]))
        self._over[identifier] = standing
        return standing

    def _write(self, job: Job) -> None:
        with new_file(self._folder / job.identifier / JOB, private=True, sweep=False) as draft:
            draft.write_text(json.dumps(asdict(job)), encoding="utf-8")


def _is_held(path: Path) -> bool:
    """Tell whether a process holds a lock."""
    try:
        handle = os.open(path, os.O_RDWR)
    except OSError:
        return False
    try:
        fcntl.flock(handle, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except OSError:
        return True
    finally:
        os.close(handle)
    return False


def _lines(path: Path) -> list[str]:
    """Return the last lines that a job said on standard error, without the name of the program."""
    try:
        with path.open("rb") as file:
            file.seek(max(0, path.stat().st_size - MOST_SAID))
            lines = file.read().decode("utf-8", "replace").strip().splitlines()
    except OSError:
        return []
    return [line.removeprefix("glasshouse: ") for line in lines]
