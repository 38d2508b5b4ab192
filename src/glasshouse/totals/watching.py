"""A search of CP-SAT ends when its CPU time is over, or at a signal.

CP-SAT searches in the thread that calls it, where Python cannot look at anything meanwhile; another thread does.
"""

from __future__ import annotations

import signal
import socket
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from ortools.sat.python import cp_model

_ENDING = tuple(
    getattr(signal, name) for name in ("SIGINT", "SIGTERM", "SIGALRM") if hasattr(signal, name)
)
"""What ends a search; an interrupt that had to wait comes as an alarm."""
_SHORTEST_LOOK = 0.002
"""How often, in seconds, the clock is looked at when the time is nearly over."""


@contextmanager
def watched(solver: cp_model.CpSolver, seconds: float) -> Iterator[None]:
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
        if number[0] in _ENDING:
            solver.stop_search()


def _clock_of_this_thread() -> Callable[[], float]:
    """Return a clock of the CPU time of this thread that others can read; where there is none, that on the wall."""
    if not hasattr(time, "pthread_getcpuclockid"):
        return time.monotonic
    number = time.pthread_getcpuclockid(threading.get_ident())
    return lambda: time.clock_gettime(number)
