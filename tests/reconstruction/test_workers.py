"""Processes that make attempts: what goes wrong in one of them costs one instance, and nobody is left behind."""

from __future__ import annotations

import itertools
import multiprocessing
import os
import signal
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from glasshouse.errors import BudgetError
from glasshouse.reconstruction import campaign, workers
from glasshouse.reconstruction.phase import Attempt, SolvedPhase, Task
from glasshouse.reconstruction.system import system_of
from glasshouse.reconstruction.workers import (
    AttemptTerms,
    Workers,
    attempt,
    attempts_of,
    attempts_table,
    fitting_processes,
)
from tests.reconstruction.plans import GOOD, GOOD_TOTALS, tiny_plan

TERMS = AttemptTerms(memory=1 << 30, register=None, share_left_out=0.0)


class Faulty:
    """Packages that cannot be looked at."""

    def __len__(self) -> int:
        raise RuntimeError("something\nunexpected")


class Deadly:
    """Packages on which a process ends as the system ends it when memory is short."""

    def __len__(self) -> int:
        os.kill(os.getpid(), signal.SIGKILL)
        return 0


class Crashing:
    """Packages on which a process crashes."""

    def __len__(self) -> int:
        os.abort()


@pytest.fixture(scope="module", autouse=True)
def _this_module_can_be_imported() -> Iterator[None]:
    """Let the processes find the classes above, from wherever the tests are started."""
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(Path(__file__).parents[2])
        yield


def task(part: int, packages: Any = None) -> Task:
    ends = np.array([[3], [4]])
    return Task(
        part=part,
        packages=np.array([[1], [2], [4]]) if packages is None else packages,
        low=ends,
        high=ends,
        halfwidth=np.zeros(1, np.int64),
        left_out=False,
        allowed=None,
        entities=None,
    )


@pytest.mark.parametrize("halfwidth", [0, 1])
def test_bins_that_are_ruled_out_beforehand_are_bounds_and_what_is_found_is_what_trying_finds(
    halfwidth: int,
) -> None:
    random = np.random.default_rng(halfwidth)
    for part in range(40):
        packages, truth = random.integers(1, 9, (6, 2)), random.integers(0, 3, 6)
        ends = np.stack([packages[truth == bin_].sum(axis=0) for bin_ in range(3)])
        allowed = random.random((6, 3)) < 0.6
        allowed[np.arange(6), truth] = True
        narrowed = replace(
            task(part, packages), low=ends - 2, high=ends + 2, allowed=allowed,
            halfwidth=np.full(2, halfwidth),
        )  # fmt: skip
        system, kind_of = system_of(workers.instance_of(narrowed))
        assert system.rows <= (4 if halfwidth else 2)
        assert ((system.most[kind_of] > 0) == allowed).all()
        valid = []
        for allocation in itertools.product(*map(np.flatnonzero, allowed)):
            inside = np.array(allocation) == np.arange(3)[:, None]
            slack = 2 + halfwidth * np.maximum(inside.sum(axis=1), 1)[:, None]
            if (np.abs(inside @ packages - ends) <= slack).all():
                valid.append(inside.T)
        answer = attempt(narrowed, TERMS, 5.0)
        assert answer.feasible is not None
        assert (answer.feasible == np.any(valid, axis=0)).all()
        assert answer.allocations == len(valid)


@pytest.fixture(scope="module")
def team() -> Iterator[Workers]:
    with Workers(2, TERMS) as own:
        yield own
    assert not multiprocessing.active_children()


def made(team: Workers, batches: Sequence[Sequence[Task]]) -> dict[int, Attempt]:
    """The attempts by their part; each is made once."""
    limited = ([(each, 5.0) for each in some] for some in batches)
    found = [each for some in team.run(limited, lambda: True) for each in some]
    by_part = {each.part: each for each in found}
    assert len(by_part) == len(found)
    return by_part


def test_an_unexpected_error_is_an_attempt_that_failed() -> None:
    found = attempt(task(7, Faulty()), TERMS, 5.0)
    assert (found.part, found.status, found.feasible) == (7, "failed", None)
    assert found.method == "RuntimeError: something unexpected"


def test_an_instance_is_known_by_what_it_asks() -> None:
    first = task(0)
    assert task(5).digest == first.digest
    entities = np.array([1, 1])
    others = [
        replace(first, low=first.low - 1),
        replace(first, high=first.high + 1),
        replace(first, halfwidth=np.ones(1, np.int64)),
        replace(first, packages=first.packages[::-1]),
        replace(first, packages=first.packages.T),
        replace(first, left_out=True),
        replace(first, allowed=np.ones((3, 2), bool)),
        replace(first, entities=entities),
        replace(first, entities=2 * entities),
    ]
    assert len({first.digest, *(other.digest for other in others)}) == len(others) + 1


def test_attempts_that_are_kept_are_found_again() -> None:
    made_before = attempt(task(3), TERMS, 5.0)
    lost = attempt(task(4, Faulty()), TERMS, 5.0)
    ((asked, found),) = attempts_of(attempts_table([made_before, lost])).items()
    assert asked == task(9).digest
    assert made_before.feasible is not None
    assert found.feasible is not None
    assert (found.feasible == made_before.feasible).all()
    assert (found.status, found.limit, found.seconds) == ("unique", 5.0, made_before.seconds)
    assert found.allocations == 1
    assert found.exact is not None
    assert found.exact.tolist() == [True, True, True]


def test_fewer_processes_are_started_where_the_memory_is_short(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    gigabyte = 1 << 30
    monkeypatch.setattr(workers, "resident_bytes", lambda: gigabyte)
    assert fitting_processes(4, gigabyte, None) == 4
    assert fitting_processes(4, gigabyte, 100 * gigabyte) == 4
    assert fitting_processes(4, gigabyte, 4 * gigabyte) == 2
    assert fitting_processes(4, gigabyte, 2 * gigabyte) == 1
    with pytest.raises(BudgetError, match=r"memory limit is 1\.9 GiB, .* at least 2\.0 GiB"):
        fitting_processes(4, gigabyte, int(1.9 * gigabyte))


def test_an_instance_that_is_refused_says_why() -> None:
    found = attempt(replace(task(7), high=np.array([[3]])), TERMS, 5.0)
    assert found.status == "failed"
    assert found.method == "give every bin a low and a high end in each measure"


def test_errors_and_lost_processes_cost_their_own_instance_only(team: Workers) -> None:
    odd = {3: Faulty(), 4: Deadly(), 9: Deadly(), 10: Crashing()}
    batches = [[task(part, odd.get(part)) for part in range(n, n + 4)] for n in range(0, 24, 4)]
    found = made(team, batches)
    assert sorted(found) == list(range(24))
    statuses = {part: each.status for part, each in found.items()}
    assert statuses == {part: "failed" if part in odd else "unique" for part in range(24)}
    assert found[3].method == "RuntimeError: something unexpected"
    want = "its process was ended from outside (SIGKILL), most likely for want of memory"
    assert found[4].method == found[9].method == want
    assert found[10].method == "its process crashed (SIGABRT)"


def test_processes_that_are_killed_while_they_wait_are_replaced(team: Workers) -> None:
    assert len(made(team, [[task(0)], [task(1)]])) == 2
    for process in multiprocessing.active_children():
        os.kill(process.pid or 0, signal.SIGKILL)
        process.join()
    found = made(team, [[task(part)] for part in range(6)])
    assert [found[part].status for part in range(6)] == ["unique"] * 6


def test_when_the_time_is_over_nothing_more_is_begun(team: Workers) -> None:
    assert list(team.run([[(task(0), 5.0)], [(task(1), 5.0)]], lambda: False)) == []
    assert list(team.run([], lambda: True)) == []


def dying(*_: object) -> None:
    """What a process does that ends before it begins."""


def test_processes_that_cannot_begin_end_the_campaign_with_one_line(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    others = set(multiprocessing.active_children())
    monkeypatch.setattr(workers, "_serve", dying)
    monkeypatch.setattr(workers, "_MOST_IN_VAIN", 1)
    with pytest.raises(BudgetError, match="end before they begin"), Workers(2, TERMS) as own:
        list(own.run([[(task(0), 1.0)]], lambda: True))
    assert set(multiprocessing.active_children()) <= others


@pytest.mark.parametrize("processes", [1, 2])
def test_a_campaign_counts_what_failed_goes_on_and_tries_it_again_when_resumed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, processes: int
) -> None:
    bad = Faulty() if processes == 1 else Deadly()
    taken = SolvedPhase.task

    def poisoned(found: SolvedPhase, part: int) -> Task:
        own = taken(found, part)
        label = found.instances.groups.labels[found.instances.group[part]]
        return replace(own, packages=bad) if label == "bad" else own  # type: ignore[arg-type]

    monkeypatch.setattr(SolvedPhase, "task", poisoned)
    records = [*GOOD, ("bad", "1.0", ""), ("bad", "2.0", "")]
    totals = [*GOOD_TOTALS, ("bad", "a", "1"), ("bad", "b", "2")]
    plan = tiny_plan(tmp_path, records, totals)
    result = campaign(plan, processes=processes, folder=tmp_path / "kept")
    (phase,) = result.phases
    assert (phase.instances, phase.unique, phase.unsolved, phase.linked) == (2, 1, 1, 2)
    (trouble,) = result.troubles
    reason = "RuntimeError: something unexpected" if processes == 1 else "SIGKILL"
    assert trouble.kind.startswith("instances that failed (")
    assert reason in trouble.kind
    assert (trouble.where, trouble.count, trouble.example) == ("only", 1, "bad")
    feasible = [row["feasible_bins"] for row in result.packages_frame().to_pylist()]
    assert feasible == [["a"], ["b"], None, None]
    monkeypatch.undo()
    again = campaign(plan, folder=tmp_path / "kept", resume=True)
    assert not again.troubles
    feasible = [row["feasible_bins"] for row in again.packages_frame().to_pylist()]
    assert feasible == [["a"], ["b"], ["a"], ["b"]]
