"""The processes that make attempts: what happens to one of them is no end of the campaign.

Each process has a pipe of its own and answers instance by instance, so that it is known which instance it was at when
it crashed or was ended from outside, as the system does when memory is short. That instance has failed; what the
process had not begun goes to its successor. Whoever presses Ctrl-C means the campaign: signals of a terminal or a
scheduler reach the first process only, and the others end with it, however it ends.
"""

from __future__ import annotations

import multiprocessing
import os
import signal
import threading
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from multiprocessing import connection as pipes
from multiprocessing import resource_tracker
from multiprocessing.process import BaseProcess
from typing import TYPE_CHECKING, Any

from glasshouse.errors import BudgetError, InternalError
from glasshouse.language import text
from glasshouse.totals import attempts
from glasshouse.totals.attempts import Attempt, Task, Terms
from glasshouse.totals.solver import prepare

if TYPE_CHECKING:
    Pipe = pipes.Connection[Any, Any]

_MOST_IN_VAIN = 3
"""So many processes may end one after the other without having begun anything."""
_HELD = tuple(
    getattr(signal, name) for name in ("SIGINT", "SIGTERM", "SIGALRM") if hasattr(signal, name)
)
"""What a terminal or a scheduler sends to all processes, and the alarm by which an interrupt comes again."""
_GRACE = 1.0
"""Seconds for a process that has nothing to do to end by itself."""


class Workers:
    """The processes that make attempts; with one, it is this process."""

    def __init__(self, count: int, terms: Terms) -> None:
        self._count = count
        self._terms = terms
        self._team: list[_Worker] = []
        self._in_vain = 0

    def __enter__(self) -> Workers:
        if self._count == 1:
            prepare()
            return self
        try:
            for _ in range(self._count):
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
        self, batches: Iterable[Sequence[Task]], limit: Callable[[], float]
    ) -> Iterator[list[Attempt]]:
        """Yield the attempts at batches of instances as they are made.

        Args:
            batches: The instances.
            limit: Asked before each batch for the CPU seconds of an attempt; 0: the time is over.

        Raises:
            BudgetError: No process can begin, most likely for want of memory.
        """
        if self._count == 1:
            for tasks in batches:
                if not (seconds := limit()):
                    return
                yield attempts.attempt_all(tasks, self._terms, seconds)
            return
        waiting = _Waiting(batches)
        while True:
            self._deal(waiting, limit)
            watched = [each for each in self._team if each.busy or (waiting and not each.ready)]
            if not watched:
                return
            for worker in _heard(watched):
                found = self._listen(worker, waiting)
                if found is not None:
                    yield [found]

    def _deal(self, waiting: _Waiting, limit: Callable[[], float]) -> None:
        """Give every process that has nothing to do the next batch."""
        for worker in list(self._team):
            if not waiting:
                return
            if not worker.ready or worker.busy:
                continue
            if not (seconds := limit()):
                waiting.clear()
                return
            tasks = waiting.take()
            if not worker.give(tasks, seconds):
                waiting.put_back(tasks)
                self._replace(worker)

    def _listen(self, worker: _Worker, waiting: _Waiting) -> Attempt | None:
        """Return the attempt that a process has made; if the process has ended, that which has failed."""
        try:
            found = worker.hear()
        except (EOFError, OSError):
            rest = worker.unanswered
        else:
            self._in_vain = 0
            return found
        if rest:
            self._in_vain = 0
        code = self._replace(worker)
        if not rest:
            return None
        waiting.put_back(rest[1:])
        return attempts.failed(rest[0], _ended(code), worker.seconds)

    def _replace(self, worker: _Worker) -> int | None:
        """Put another process into the place of one that has ended, and return how that ended."""
        code = worker.end()
        self._in_vain += 1
        if self._in_vain > _MOST_IN_VAIN:
            raise BudgetError(
                text(
                    "the processes of the campaign end before they begin: there is too little memory for them (use "
                    'fewer), or the script that starts them lacks `if __name__ == "__main__":`'
                )
            )
        self._team[self._team.index(worker)] = _Worker(self._terms)
        return code


class _Waiting:
    """The batches that nobody has yet; what was given back comes first."""

    def __init__(self, batches: Iterable[Sequence[Task]]) -> None:
        self._batches = iter(batches)
        self._next: deque[Sequence[Task]] = deque()
        self._look()

    def __bool__(self) -> bool:
        return bool(self._next)

    def take(self) -> Sequence[Task]:
        tasks = self._next.popleft()
        self._look()
        return tasks

    def put_back(self, tasks: Sequence[Task]) -> None:
        if tasks:
            self._next.appendleft(tasks)

    def clear(self) -> None:
        self._batches = iter(())
        self._next.clear()

    def _look(self) -> None:
        if not self._next:
            self._next.extend(tasks for tasks in [next(self._batches, None)] if tasks is not None)


class _Worker:
    """One process, seen from the first."""

    def __init__(self, terms: Terms) -> None:
        context = multiprocessing.get_context("spawn")
        self._pipe, own = context.Pipe()
        self._process: BaseProcess = context.Process(
            target=_serve, args=(own, terms), name="glasshouse totals", daemon=True
        )
        self._todo: deque[Task] = deque()
        self.ready = False
        self.seconds = 0.0
        try:
            with _signals_held():
                self._process.start()
            own.close()
        except BaseException:
            self.dismiss()
            raise

    @property
    def pipe(self) -> Pipe:
        return self._pipe

    @property
    def busy(self) -> bool:
        return bool(self._todo)

    @property
    def unanswered(self) -> list[Task]:
        """What it was given and has not answered; the first of it was in its hands."""
        return list(self._todo)

    def give(self, tasks: Sequence[Task], seconds: float) -> bool:
        """Give it some instances; tell whether it could take them."""
        try:
            self._pipe.send((tasks, seconds))
        except OSError:
            return False
        self._todo.extend(tasks)
        self.seconds = seconds
        return True

    def hear(self) -> Attempt | None:
        """Return an attempt, or None if it only says that it is ready.

        Raises:
            EOFError, OSError: It has ended.
        """
        said: Attempt | str | None = self._pipe.recv()
        if said is None:
            self.ready = True
            return None
        if isinstance(said, str):
            raise InternalError(f"a process of the campaign cannot begin: {said}")
        self._todo.popleft()
        return said

    def dismiss(self) -> None:
        """Ask it to end: at once if it is at work, which nobody will ask for."""
        self._pipe.close()
        if self._process.pid is not None and (self._todo or not self.ready):
            self._process.kill()

    def end(self) -> int | None:
        """Make sure that it has ended, and return how: the number of a signal is negative."""
        self._pipe.close()
        self._process.join(_GRACE)
        if self._process.exitcode is None:
            self._process.kill()
            self._process.join()
        return self._process.exitcode


def _heard(workers: Sequence[_Worker]) -> list[_Worker]:
    """Wait until processes have said something or ended, and return them."""
    by_pipe = {id(worker.pipe): worker for worker in workers}
    return [by_pipe[id(pipe)] for pipe in pipes.wait([worker.pipe for worker in workers])]


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
            for number in _HELD:
                handlers[number] = signal.signal(number, lambda own, _: noticed.append(own))
        signal.pthread_sigmask(signal.SIG_BLOCK, _HELD)
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)
        for number, handler in handlers.items():
            signal.signal(number, handler)
        if noticed:
            signal.raise_signal(noticed[0])


def _serve(pipe: Pipe, terms: Terms) -> None:
    """Make the attempts that are asked for, until nobody asks any more: what a process does."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    threading.Thread(target=_end_with_the_first, daemon=True).start()
    with suppress(EOFError, OSError):
        try:
            prepare()
        except Exception as error:  # a traceback would reach the user
            pipe.send(attempts.said_of(error))
            return
        pipe.send(None)
        while True:
            tasks, seconds = pipe.recv()
            for task in tasks:
                pipe.send(attempts.attempt(task, terms, seconds))


def _end_with_the_first() -> None:
    """Wait for the first process to end, however it ends, and end then."""
    first = multiprocessing.parent_process()
    if first is not None:
        first.join()
        os._exit(1)
