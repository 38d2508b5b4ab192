"""A search of CP-SAT ends with its CPU time, and at Ctrl-C: neither waits for the other."""

from __future__ import annotations

import os
import signal
import threading
import time

import pytest

from glasshouse.totals.budget import Budget, OutOfTime
from glasshouse.totals.linear import system_of
from glasshouse.totals.propagation import knowledge_of
from glasshouse.totals.satisfaction import settle
from glasshouse.totals.solver import prepare
from glasshouse.totals.witnesses import no_witnesses
from tests.totals.test_solver import sparse


def search(seconds: float) -> None:
    """Ask CP-SAT for what it does not find in hours."""
    system, _ = system_of(sparse(70, 5, seed=3)[0])
    settle(knowledge_of(system), no_witnesses(system), Budget(seconds, 1 << 30))


def test_a_search_takes_its_cpu_seconds_and_not_those_on_the_wall() -> None:
    prepare()
    start = time.thread_time()
    with pytest.raises(OutOfTime):
        search(0.5)
    assert 0.45 <= time.thread_time() - start <= 0.6


@pytest.mark.skipif(not hasattr(signal, "pthread_kill"), reason="needs POSIX signals")
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_ends_a_search_at_once(number: signal.Signals) -> None:
    def stop(*_: object) -> None:
        raise KeyboardInterrupt

    before = signal.signal(number, stop)
    timer = threading.Timer(0.3, os.kill, (os.getpid(), number))
    timer.start()
    start = time.thread_time()
    try:
        with pytest.raises(KeyboardInterrupt):
            search(60)
    finally:
        timer.join()
        signal.signal(number, before)
    assert time.thread_time() - start < 10
    assert signal.set_wakeup_fd(-1) == -1


def test_a_search_in_another_thread_leaves_signals_alone() -> None:
    ends: list[BaseException] = []

    def work() -> None:
        try:
            search(0.2)
        except OutOfTime as error:
            ends.append(error)

    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
    assert len(ends) == 1
