"""Attempts at instances, and the processes that make them: what happens to one of them is no end of the campaign.

An attempt gets arrays and returns arrays, whatever the platform's way to start a process. Instances are independent,
and what an attempt may do is counted, not timed: neither the number of processes nor what else the machine does changes
anything but the time.

Each process has a pipe of its own and answers instance by instance, so that it is known which instance it was at when
it crashed or was ended from outside, as the system does when memory is short. That instance has failed; what the
process had not begun goes to its successor. Whoever presses Ctrl-C means the campaign: signals of a terminal or a
scheduler reach the first process only, and the others end with it, however it ends.

Attempts are kept as Arrow tables: `attempts_table` and `attempts_of` are the way there and back. They are known by what
was asked, not by the part of a phase that asked it: what was found once holds wherever the same is asked again.
"""

from __future__ import annotations

import math
import multiprocessing
import os
import signal
import threading
import time
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from itertools import islice
from multiprocessing import connection as pipes
from multiprocessing import resource_tracker
from multiprocessing.process import BaseProcess
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from glasshouse.arrays import Flags
from glasshouse.errors import BudgetError, GlasshouseError, InternalError
from glasshouse.progress import resident_bytes
from glasshouse.reconstruction.chances import BinRegister
from glasshouse.reconstruction.group_instance import NONE, Instance
from glasshouse.reconstruction.phase import Attempt, Task
from glasshouse.reconstruction.solver import prepare, solve
from glasshouse.solvers import ENDING_SIGNALS

if TYPE_CHECKING:
    Pipe = pipes.Connection[Any, Any]

PAIRS_PER_SECOND = 2_000_000
"""The solver looks at so many pairs of a package and a bin before it looks at the clock for the first time."""
BYTES_PER_PAIR = 72
"""What a pair takes in it, at least."""
ATTEMPTS = pa.schema(
    {
        "task": pa.string(),
        "status": pa.string(),
        "method": pa.string(),
        "limit": pa.float64(),
        "seconds": pa.float64(),
        "allocations": pa.string(),
        "packages": pa.int64(),
        "feasible": pa.large_binary(),
        "shares": pa.large_binary(),
        "weighted": pa.bool_(),
        "exact": pa.large_binary(),
    }
)
"""The columns of attempts that are kept."""
PROCESS_BYTES = 400 << 20
"""What a process takes beside its lists: Python, compiled loops, CP-SAT."""
NO_PART = -1
"""The part of an attempt that was kept: any that asks the same."""
_NAME = "part {}"
"""What messages call an instance."""
_MOST_IN_VAIN = 3
"""So many processes may end one after the other without having begun anything."""
_GRACE = 1.0
"""Seconds for a process that has nothing to do to end by itself."""
_LATELY = 10.0
"""After so many seconds by the clock, what was measured counts for a third."""


# -- an attempt ------------------------------------------------------------------------------------------------------


LimitedTask = tuple[Task, float]
"""An instance, and the CPU seconds that an attempt at it may take."""


@dataclass(frozen=True)
class AttemptTerms:
    """What holds for all attempts."""

    memory: int
    """The bytes that the lists of one may take."""
    register: int | None
    """The number of entities in the register; None: there is none."""
    share_left_out: float
    """How many records the adversary believes were left out."""


def attempt(task: Task, terms: AttemptTerms, limit: float) -> Attempt:
    """Try one instance for so many CPU seconds; whatever goes wrong with it, it is an attempt that failed."""
    try:
        return replace(_attempt(task, terms, limit), task=task.digest)
    except Exception as error:
        reason = _reason(error).removeprefix(f"{_NAME.format(task.part)}: ")
        return failed(task, reason, limit)


def _timed(task: Task, terms: AttemptTerms, limit: float) -> tuple[Attempt, float]:
    """Try one instance, and return how long it took by the clock, too."""
    began = time.monotonic()
    return attempt(task, terms, limit), time.monotonic() - began


def failed(task: Task, reason: str, limit: float) -> Attempt:
    """Return the attempt at an instance that came to nothing."""
    return Attempt(task.part, status="failed", method=reason, limit=limit)


def _reason(error: Exception) -> str:
    """Return what an error says, with its kind where it was not meant for users."""
    kind = "" if isinstance(error, GlasshouseError) else f"{type(error).__name__}: "
    return " ".join(f"{kind}{error}".split()).removesuffix(":")


def _attempt(task: Task, terms: AttemptTerms, limit: float) -> Attempt:
    """Try the packages that are not settled, and return the answer for all of them."""
    open_, rest = _without_settled(task)
    pairs = len(rest.packages) * len(rest.low)
    if not pairs:
        answer = _settled_answer(rest, limit)
    elif pairs > PAIRS_PER_SECOND * limit or pairs * BYTES_PER_PAIR > terms.memory:
        answer = _answer_by_bounds(rest, limit)
    else:
        answer = _answer_by_solver(rest, terms, limit)
    status, feasible, shares, exact = answer.status, answer.feasible, answer.shares, answer.exact
    if feasible is not None and task.allowed is not None and not open_.all():
        # What was settled before has its only bin, with certainty.
        all_feasible = task.allowed.copy()
        all_feasible[open_] = feasible
        feasible = all_feasible
        if exact is not None:
            all_exact = np.ones(len(open_), bool)
            all_exact[open_] = exact
            exact = all_exact
        if shares is not None:
            all_shares = feasible.astype(np.float64)
            all_shares[open_] = shares
            shares = all_shares
    if feasible is not None and status in ("unique", "ambiguous"):
        status = "unique" if (feasible.sum(axis=1) == 1).all() else "ambiguous"
    return replace(
        answer,
        status=status,
        feasible=feasible,
        shares=None if shares is None or feasible is None else shares[feasible],
        exact=exact,
    )


def _without_settled(task: Task) -> tuple[Flags, Task]:
    """Return which packages are open, and the instance with those only: the others have one bin left, and are in it.

    Windows that widen with every package are left alone: what a settled package adds to them depends on the others.
    """
    open_ = np.ones(len(task.packages), bool)
    if task.allowed is None or task.halfwidth.any():
        return open_, task
    open_ = task.allowed.sum(axis=1) != 1
    base = np.zeros_like(task.low)
    np.add.at(base, task.allowed[~open_].argmax(axis=1), task.packages[~open_])
    allowed = task.allowed[open_]
    rest = replace(
        task,
        packages=task.packages[open_],
        low=task.low - base,
        high=task.high - base,
        allowed=None if allowed.all() else allowed,
    )
    return open_, rest


def _answer_by_solver(task: Task, terms: AttemptTerms, limit: float) -> Attempt:
    """Return what the solver says, with shares for every pair of a package and a bin."""
    instance = instance_of(task)
    weights = None
    if terms.register is not None and task.entities is not None:
        sizes = {str(place): count for place, count in enumerate(task.entities.tolist())}
        register = BinRegister(sizes, terms.register)
        weights = register.weights(instance, left_out=terms.share_left_out)
    solution = solve(instance, seconds=limit, memory=terms.memory, weights=weights)
    weighted = weights is not None and solution.weighted_shares is not None
    shares = solution.weighted_shares if weighted else solution.shares
    feasible = np.zeros(instance.size[:2], bool)
    for package, bins in enumerate(solution.feasible_bins):
        feasible[package, list(bins)] = True
    return Attempt(
        task.part,
        solution.status,
        solution.method,
        limit,
        seconds=solution.seconds,
        allocations=solution.allocations,
        feasible=None if solution.status == "infeasible" else feasible,
        shares=None if shares is None else np.array(shares, np.float64),
        weighted=weighted,
        exact=None if solution.exact is None else np.array(solution.exact, bool),
    )


def _answer_by_bounds(task: Task, limit: float) -> Attempt:
    """Return the answer for an instance too large for the limits: every bin that holds as much as the package.

    A window that widens with every package is taken as wide as all of them make it.
    """
    most = task.high + task.halfwidth * len(task.packages)
    feasible = np.ones((len(task.packages), len(task.low)), bool)
    for weight, capacity in zip(task.packages.T, most.T, strict=True):
        feasible &= weight[:, None] <= capacity[None, :]
    if task.allowed is not None:
        feasible &= task.allowed
    seconds = feasible.size * task.packages.shape[1] / PAIRS_PER_SECOND / 100
    return Attempt(task.part, "limit", "bounds", limit, seconds, feasible=feasible)


def _settled_answer(task: Task, limit: float) -> Attempt:
    """Return the answer where no package is open: whether nothing more meets the windows."""
    if ((task.low > 0) | (task.high < 0)).any():
        return Attempt(task.part, "infeasible", "propagation", limit, allocations=0)
    bins, weighted = len(task.low), task.entities is not None
    feasible, shares = np.zeros((0, bins), bool), np.zeros((0, bins))
    answer = Attempt(task.part, "unique", "propagation", limit, 0.0, 1, feasible, shares, weighted)
    return replace(answer, exact=np.ones(0, bool))


def instance_of(task: Task) -> Instance:
    """Return the instance; bins that are ruled out beforehand are so by further measures.

    Packages with the same bins open are marked by a measure of their own, 1 for each of them; a bin that is not open
    for them holds none.
    """
    packages, low, high, halfwidth = task.packages, task.low, task.high, task.halfwidth
    if task.allowed is not None:
        rows, kind = np.unique(task.allowed, axis=0, return_inverse=True)
        restricted = np.flatnonzero(~rows.all(axis=1))
        marks = (kind.reshape(-1)[:, None] == restricted[None, :]).astype(np.int64)
        most = np.where(rows[restricted].T, len(packages), 0)
        packages = np.concatenate([packages, marks], axis=1)
        low = np.concatenate([low, np.zeros_like(most)], axis=1)
        high = np.concatenate([high, most], axis=1)
        halfwidth = np.append(halfwidth, np.zeros(len(restricted), np.int64))
    bins = len(low) - task.left_out
    return Instance(
        packages=packages,
        low=low,
        high=high,
        halfwidth=halfwidth,
        measures=tuple(map(str, range(packages.shape[1]))),
        scale=(1,) * packages.shape[1],
        package_names=tuple(map(str, range(len(packages)))),
        bin_names=(*map(str, range(bins)), *((NONE,) if task.left_out else ())),
        name=_NAME.format(task.part),
    )


def attempts_table(attempts: Iterable[Attempt]) -> pa.Table:
    """Return attempts as a table, a row each; those that failed are not kept, and made again."""
    rows = []
    for attempt in attempts:
        if attempt.status == "failed":
            continue
        row = {**vars(attempt), "packages": 0}
        if attempt.allocations is not None:
            row["allocations"] = f"{attempt.allocations:x}"
        if attempt.feasible is not None:
            packages, bins = attempt.feasible.shape
            flags = np.packbits(attempt.feasible, axis=1).tobytes()
            row |= {"packages": packages, "feasible": flags + bins.to_bytes(8, "little")}
        if attempt.shares is not None:
            row["shares"] = attempt.shares.tobytes()
        if attempt.exact is not None:
            row["exact"] = np.packbits(attempt.exact).tobytes()
        rows.append(row)
    return pa.Table.from_pylist(rows, schema=ATTEMPTS)


def attempts_of(table: pa.Table) -> dict[str, Attempt]:
    """Return the attempts of such a table, by what was asked; of several at the same the last."""
    attempts = {}
    for row in table.to_pylist():
        packages, count = row.pop("packages"), row["allocations"]
        row["allocations"] = None if count is None else int(count, 16)
        if row["shares"] is not None:
            row["shares"] = np.frombuffer(row["shares"], np.float64)
        if row["feasible"] is not None:
            flags, bins = row["feasible"][:-8], int.from_bytes(row["feasible"][-8:], "little")
            table = np.frombuffer(flags, np.uint8).reshape(packages, -1)
            row["feasible"] = np.unpackbits(table, axis=1, count=bins).astype(bool)
        if row["exact"] is not None:
            flags = np.frombuffer(row["exact"], np.uint8)
            row["exact"] = np.unpackbits(flags, count=packages).astype(bool)
        attempts[row["task"]] = Attempt(part=NO_PART, **row)
    return attempts


# -- the processes ---------------------------------------------------------------------------------------------------


def fitting_processes(asked: int, lists: int, memory: int | None) -> int:
    """Return how many processes fit the memory: each has its lists and itself, beside what this one has already.

    Args:
        asked: How many there should be.
        lists: The bytes that the lists of one attempt may take.
        memory: The bytes that all processes may take; None: as many as they take.

    Raises:
        BudgetError: Not even one fits.
    """
    if memory is None:
        return asked
    free = memory - resident_bytes()
    if free < lists:
        raise BudgetError(
            "the memory limit is {memory}, but this campaign takes at least {needed}; give it more, or say fewer "
            "gigabytes in the [budget] of the plan",
            memory=f"{memory / (1 << 30):.1f} GiB",
            needed=f"{(resident_bytes() + lists) / (1 << 30):.1f} GiB",
        )
    return max(1, min(asked, free // (lists + PROCESS_BYTES)))


class Workers:
    """The processes that make attempts; with one, it is this process."""

    def __init__(self, count: int, terms: AttemptTerms) -> None:
        self.count = count
        """How many there are."""
        self._terms = terms
        self._team: list[_Worker] = []
        self._in_vain = 0
        self._spent = self._passed = 1.0

    @property
    def pace(self) -> float:
        """How many CPU seconds, as work is counted, an attempt has had of late for every second by the clock."""
        return self._spent / self._passed

    def _note(self, answer: Attempt, passed: float) -> Attempt:
        """Remember how long an attempt took by the clock; what lies further back counts for less."""
        fading = math.exp(-passed / _LATELY)
        self._spent = self._spent * fading + answer.seconds
        self._passed = self._passed * fading + passed
        return answer

    def __enter__(self) -> Workers:
        if self.count == 1:
            prepare()
            return self
        try:
            for _ in range(self.count):
                self._team.append(_Worker(self._terms))
        except BaseException:
            self.__exit__()
            raise
        return self

    def __exit__(self, *_: object) -> None:
        for worker in self._team:
            worker.dismiss()
        for worker in self._team:
            worker.end()
        self._team = []

    def run(
        self, batches: Iterable[Sequence[LimitedTask]], go_on: Callable[[], bool]
    ) -> Iterator[list[Attempt]]:
        """Yield the attempts at batches of instances as they are made.

        Args:
            batches: The instances, each with the CPU seconds of its attempt.
            go_on: Asked before each batch; no: the time is over.

        Raises:
            BudgetError: No process can begin, most likely for want of memory.
        """
        if self.count == 1:
            for tasks in batches:
                if not go_on():
                    return
                yield [self._note(*_timed(task, self._terms, limit)) for task, limit in tasks]
            return
        waiting = _Waiting(batches)
        while True:
            self._deal(waiting, go_on)
            watched: dict[object, _Worker] = {
                worker.pipe: worker
                for worker in self._team
                if worker.todo or (waiting and not worker.ready)
            }
            if not watched:
                return
            for pipe in pipes.wait([worker.pipe for worker in watched.values()]):
                answer = self._listen(watched[pipe], waiting)
                if answer is not None:
                    yield [answer]

    def _deal(self, waiting: _Waiting, go_on: Callable[[], bool]) -> None:
        """Give every process that has nothing to do the next batch."""
        for worker in list(self._team):
            if not waiting:
                return
            if not worker.ready or worker.todo:
                continue
            if not go_on():
                waiting.clear()
                return
            tasks = waiting.take()
            if not worker.give(tasks):
                waiting.put_back(tasks)
                self._replace(worker)

    def _listen(self, worker: _Worker, waiting: _Waiting) -> Attempt | None:
        """Return the attempt that a process has made; if the process has ended, that which has failed."""
        try:
            answer = worker.hear()
        except (EOFError, OSError):
            if not worker.todo:
                self._replace(worker)
                return None
        else:
            self._in_vain = 0
            return None if answer is None else self._note(*answer)
        self._in_vain = 0
        (in_hand, limit), *rest = worker.todo
        waiting.put_back(rest)
        return failed(in_hand, _ended(self._replace(worker)), limit)

    def _replace(self, worker: _Worker) -> int | None:
        """Put another process into the place of one that has ended, and return how that ended."""
        code = worker.end()
        self._in_vain += 1
        if self._in_vain > _MOST_IN_VAIN:
            raise BudgetError(
                "the processes of the campaign end before they begin: there is too little memory for them (use "
                'fewer), or the script that starts them lacks `if __name__ == "__main__":`'
            )
        self._team[self._team.index(worker)] = _Worker(self._terms)
        return code


class _Waiting:
    """The batches that nobody has yet; what was given back comes first."""

    def __init__(self, batches: Iterable[Sequence[LimitedTask]]) -> None:
        self._batches = iter(batches)
        self._next: deque[Sequence[LimitedTask]] = deque()

    def __bool__(self) -> bool:
        """Whether there is a batch to take."""
        if not self._next:
            self._next.extend(islice(self._batches, 1))
        return bool(self._next)

    def take(self) -> Sequence[LimitedTask]:
        return self._next.popleft()

    def put_back(self, tasks: Sequence[LimitedTask]) -> None:
        if tasks:
            self._next.appendleft(tasks)

    def clear(self) -> None:
        self._batches = iter(())
        self._next.clear()


class _Worker:
    """One process, seen from the first."""

    def __init__(self, terms: AttemptTerms) -> None:
        context = multiprocessing.get_context("spawn")
        self.pipe, far_end = context.Pipe()
        self._process: BaseProcess = context.Process(
            target=_serve, args=(far_end, terms), name="glasshouse totals", daemon=True
        )
        self.todo: deque[LimitedTask] = deque()
        """What it was given and has not answered; the first of it is in its hands."""
        self.ready = False
        try:
            with _signals_held():
                self._process.start()
            far_end.close()
        except BaseException:
            self.dismiss()
            raise

    def give(self, tasks: Sequence[LimitedTask]) -> bool:
        """Give it some instances; tell whether it could take them."""
        try:
            self.pipe.send(tasks)
        except OSError:
            return False
        self.todo.extend(tasks)
        return True

    def hear(self) -> tuple[Attempt, float] | None:
        """Return an attempt and how long it took by the clock, or None if it only says that it is ready.

        Raises:
            EOFError, OSError: It has ended.
        """
        answer: tuple[Attempt, float] | str | None = self.pipe.recv()
        if answer is None:
            self.ready = True
            return None
        if isinstance(answer, str):
            raise InternalError(f"a process of the campaign cannot begin: {answer}")
        self.todo.popleft()
        return answer

    def dismiss(self) -> None:
        """Ask it to end: at once if it is at work, which nobody will ask for."""
        self.pipe.close()
        if self._process.pid is not None and (self.todo or not self.ready):
            self._process.kill()

    def end(self) -> int | None:
        """Make sure that it has ended, and return how: the number of a signal is negative."""
        self.pipe.close()
        self._process.join(_GRACE)
        if self._process.exitcode is None:
            self._process.kill()
            self._process.join()
        return self._process.exitcode


def _ended(code: int | None) -> str:
    """Say how a process has ended."""
    if code is None or code >= 0:
        return f"its process ended with code {code}"
    name = signal.Signals(-code).name if -code in set(signal.Signals) else str(-code)
    if name == "SIGKILL":
        return "its process was ended from outside (SIGKILL), most likely for want of memory"
    return f"its process crashed ({name})"


@contextmanager
def _signals_held() -> Iterator[None]:
    """Let a process that is started here never see what a terminal or a scheduler sends to all of them.

    It inherits that the signals are blocked. Here they wait until it is started: half a start would be an error of its
    own; and blocking them in one thread does not keep Python from noticing them through another.
    """
    if not hasattr(signal, "pthread_sigmask"):
        yield
        return
    resource_tracker.ensure_running()  # starting it would let the signals through again
    noticed: list[int] = []
    handlers = {}
    before = signal.pthread_sigmask(signal.SIG_BLOCK, ())
    try:
        if threading.current_thread() is threading.main_thread():
            for number in ENDING_SIGNALS:
                handlers[number] = signal.signal(
                    number, lambda signal_number, _: noticed.append(signal_number)
                )
        signal.pthread_sigmask(signal.SIG_BLOCK, ENDING_SIGNALS)
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)
        for number, handler in handlers.items():
            signal.signal(number, handler)
        if noticed:
            signal.raise_signal(noticed[0])


def _serve(pipe: Pipe, terms: AttemptTerms) -> None:
    """Make the attempts that are asked for, until nobody asks any more: what a process does."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    threading.Thread(target=_end_with_the_first, daemon=True).start()
    with suppress(EOFError, OSError):
        try:
            prepare()
        except Exception as error:  # a traceback would reach the user
            pipe.send(_reason(error))
            return
        pipe.send(None)
        while True:
            for task, limit in pipe.recv():
                pipe.send(_timed(task, terms, limit))


def _end_with_the_first() -> None:
    """Wait for the first process to end, however it ends, and end then."""
    first = multiprocessing.parent_process()
    if first is not None:
        first.join()
        os._exit(1)
