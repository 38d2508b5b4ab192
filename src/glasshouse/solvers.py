"""What every solver may spend, and how a search of CP-SAT ends: when its CPU time is over, or at a signal.

CP-SAT searches in the thread that calls it, where Python cannot look at anything meanwhile; another thread does.
"""

from __future__ import annotations

import signal
import socket
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ortools.sat.python import cp_model

ENDING_SIGNALS = tuple(
    getattr(signal, name) for name in ("SIGINT", "SIGTERM", "SIGALRM") if hasattr(signal, name)
)
"""What a terminal or a scheduler sends to end the work; an interrupt that had to wait comes as an alarm."""
_SHORTEST_LOOK = 0.002
"""How often, in seconds, the clock is looked at when the time is nearly over."""


class OutOfTime(Exception):  # noqa: N818 - never leaves the solver
    """The time of an instance is over; what was proved so far stands."""


@dataclass(frozen=True)
class SolverBudget:
    """What is left of the time, and what fits into the memory."""

    seconds: float
    """The time limit."""
    memory: int
    """The memory limit, in bytes."""
    start: float = field(default_factory=time.thread_time)
    """When it began."""

    @property
    def left(self) -> float:
        """How many seconds are left."""
        return self.start + self.seconds - time.thread_time()

    def check(self) -> None:
        """Raise `OutOfTime` when nothing is left."""
        if self.left <= 0:
            raise OutOfTime


@contextmanager
def stop_at_cpu_limit(solver: cp_model.CpSolver, seconds: float) -> Iterator[None]:
    """End the search when this thread has used so many CPU seconds, or at a signal, which Python sees only afterwards.

    CP-SAT itself looks at the clock on the wall, which runs ahead on a busy machine.
    """
    reader, writer = socket.socketpair()
    writer.setblocking(False)
    first = threading.current_thread() is threading.main_thread()
    before = signal.set_wakeup_fd(writer.fileno(), warn_on_full_buffer=False) if first else -1
    arguments = (solver, reader, _clock_of_this_thread(), seconds)
    watcher = threading.Thread(target=_watch, args=arguments, daemon=True)
    watcher.start()
    try:
        yield
    finally:
        if first:
            signal.set_wakeup_fd(before)
        writer.close()
        watcher.join()
        reader.close()


def _watch(
    solver: cp_model.CpSolver, reader: socket.socket, clock: Callable[[], float], seconds: float
) -> None:
    """Stop a search at a signal or when its time is over, until nobody can write any more."""
    end = clock() + seconds
    while True:
        reader.settimeout(max(end - clock(), _SHORTEST_LOOK))
        try:
            number = reader.recv(1)
        except TimeoutError:
            if clock() >= end:
                solver.stop_search()
            continue
        if not number:
            return
        if number[0] in ENDING_SIGNALS:
            solver.stop_search()


def _clock_of_this_thread() -> Callable[[], float]:
    """Return a clock of the CPU time of this thread that others can read; where there is none, that on the wall."""
    if not hasattr(time, "pthread_getcpuclockid"):
        return time.monotonic
    number = time.pthread_getcpuclockid(threading.get_ident())
    return lambda: time.clock_gettime(number)
