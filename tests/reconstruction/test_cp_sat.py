"""CP-SAT alone finds the same sets; a search ends at the same place in every run, and at Ctrl-C at once."""

from __future__ import annotations

import os
import signal
import threading
import time

import numpy as np
import pytest
from hypothesis import given, settings

from glasshouse.reconstruction import Instance
from glasshouse.reconstruction.cp_sat import settle
from glasshouse.reconstruction.propagation import domains_of
from glasshouse.reconstruction.solver import prepare
from glasshouse.reconstruction.system import Budget, Witnesses, system_of
from glasshouse.solvers import OutOfTime
from tests.examples import examples
from tests.reconstruction.examples import every_allocation, small_instances
from tests.reconstruction.test_solver import sparse


def search(seconds: float) -> None:
    """Ask CP-SAT for what it does not find in hours."""
    system, _ = system_of(sparse(70, 5, seed=3)[0])
    settle(domains_of(system), Witnesses(system), Budget(seconds, 1 << 30))


def test_a_search_takes_about_its_cpu_seconds_and_does_the_same_in_every_run() -> None:
    prepare()
    system, _ = system_of(sparse(70, 5, seed=3)[0])
    spent = []
    for _ in range(2):
        budget, start = Budget(0.5, 1 << 30), time.thread_time()
        with pytest.raises(OutOfTime):
            settle(domains_of(system), Witnesses(system), budget)
        assert 0.1 <= time.thread_time() - start <= 2.5
        spent.append(budget.spent)
    assert spent[0] == spent[1] >= 0.45


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


@given(small_instances())
@settings(max_examples=examples(40))
def test_cp_sat_alone_finds_the_same_sets(case: tuple[Instance, tuple[int, ...]]) -> None:
    made, _ = case
    system, kind_of = system_of(made)
    known, seen = domains_of(system), Witnesses(system)
    if known.possible:
        settle(known, seen, Budget(60, 1 << 30))
    valid = every_allocation(made)
    sets = [set(np.flatnonzero(seen.seen[kind]).tolist()) for kind in kind_of]
    assert sets == [{a[p] for a in valid} for p in range(len(kind_of))]
