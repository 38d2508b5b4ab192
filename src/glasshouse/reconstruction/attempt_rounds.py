"""The attempts at the instances of a phase: in which order they are made, how long each may take, and what is kept.

Every instance has a quick attempt first, the least complex first: hard ones hold up none of the others. Where it meets
its limit, the next attempt has eight times as much, up to what the instance *may take*: the less, the more it left
open; if an allocation was found, so many CPU seconds for each of its records; and never more than the plan says. So the
work of a month grows with its records, and an instance has the same attempts wherever it is solved: in one process or
in many, on one machine or on several, in one go or in several.

Only the *order* of further attempts looks at all instances: first come those for which they pay (`_Retries`). It
matters where a time limit ends the work by the clock. Then attempts that would not end in time are not begun, none is
cut short, and what had none is told as open. Attempts are kept by what was asked: whoever goes on finds them again.
"""

from __future__ import annotations

import itertools
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from heapq import heappop, heappush

import numpy as np

from glasshouse.arrays import Flags
from glasshouse.checkpoint import Checkpoint
from glasshouse.progress import OnProgress, Progress
from glasshouse.reconstruction.phase import Attempt, SolvedPhase, places_one
from glasshouse.reconstruction.workers import LimitedTask, Workers, attempts_table
from glasshouse.study.totals import TimeBudget

_GROWTH = 8.0
"""How much longer the next attempt at an instance may take."""
_PER_RECORD = 0.004
"""Where an allocation was found, every record whose bins are not proved may take so many CPU seconds: others show that
it can be elsewhere."""
_LEAST_GROWTH = 2.0
"""An attempt that may not take so many times as long is not made: it would hardly find more."""
_BATCH = 24
"""How many quick attempts a process gets at once."""
_SAVED_EVERY = 2.0
"""After so many seconds the attempts that were made are kept."""


@dataclass(eq=False)
class AttemptRounds:
    """All attempts of a campaign."""

    budget: TimeBudget
    """What attempts may take."""
    workers: Workers
    """Who makes them."""
    checkpoint: Checkpoint | None
    """Where they are kept; None: nowhere."""
    kept: Mapping[str, Attempt]
    """Those that were made before, by what was asked."""
    placed: Flags
    """Per record, whether its bin is certain so far."""
    began: float
    """When the campaign began, by the clock."""
    time_limit: float | None = None
    """How many seconds it may all take by the clock; None: as long as it takes."""
    on_progress: OnProgress | None = None
    """Told how far it is."""
    cut_short: bool = field(default=False, init=False)
    """Whether some attempt was not made because the time was over."""
    _placed: int = field(default=0, init=False)

    def solve(
        self, number: int, solved: SolvedPhase, *, share: float, parts: Flags | None = None
    ) -> None:
        """Try the instances of a phase: quickly all of them, then those again that met their limit.

        Args:
            number: Which phase it is.
            solved: The phase; it takes the attempts.
            share: Its part of the time that is left, where that is limited.
            parts: Which parts of the phase are to be tried; None: all of them.
        """
        budget, instances = self.budget, solved.instances
        hard = solved.hard if parts is None else solved.hard[parts[solved.hard]]
        order = np.lexsort([hard, instances.complexity[hard]])
        end = None
        if self.time_limit is not None:
            end = self.time_limit - self._left(self.time_limit) * (1 - share)
        retries = _Retries(budget)
        waiting = []
        for part in hard[order].tolist():
            before = self.kept.get(solved.task(part).digest) if self.kept else None
            if before is None:
                waiting.append((part, budget.quick))
            else:
                self._take(solved, replace(before, part=part), retries)
        phase = _PhaseRun(number, solved, retries, len(hard))
        self._round(phase, waiting, _BATCH, self.time_limit)
        while retries and self._left(end) > 0:
            self._round(phase, retries, 1, end)
        self.cut_short |= bool(retries)
        # The answer must not depend on who was ready first.
        solved.attempts = dict(sorted(solved.attempts.items()))

    def _left(self, end: float | None) -> float:
        """Return how many seconds by the clock are left until some time after the beginning."""
        return float("inf") if end is None else end - (time.monotonic() - self.began)

    def _round(
        self,
        phase: _PhaseRun,
        parts: Iterable[tuple[int, float]],
        batch: int,
        end: float | None,
    ) -> None:
        """Try some instances until the time is over; keep what was found even if something happens.

        Args:
            phase: The phase.
            parts: The instances, each with the CPU seconds that it may take.
            batch: How many instances a process gets at once.
            end: When the time is over, in seconds since the beginning.
        """
        solved = phase.solved

        def tasks() -> Iterator[LimitedTask]:
            for part, limit in parts:
                # What would not end in time is not begun: an attempt that is cut short would be lost.
                if limit <= self._left(end) * self.workers.pace:
                    yield solved.task(part), limit
                else:
                    self.cut_short = True

        def go_on() -> bool:
            self.cut_short |= self._left(end) <= 0
            return self._left(end) > 0

        limited = tasks()
        batches = iter(lambda: list(itertools.islice(limited, batch)), [])
        pending: list[Attempt] = []
        saved = time.monotonic()
        try:
            for attempts in self.workers.run(batches, go_on):
                for attempt in attempts:
                    taken = self._take(solved, attempt, phase.retries)
                    phase.note(attempt)
                    pending.append(taken)
                if time.monotonic() - saved > _SAVED_EVERY:
                    self._save(phase.number, pending)
                    pending, saved = [], time.monotonic()
                self._tell(phase)
        finally:
            self._save(phase.number, pending)

    def _take(self, solved: SolvedPhase, attempt: Attempt, retries: _Retries) -> Attempt:
        """Let a phase have an attempt, which took what those before it took, too."""
        before = solved.attempts.get(attempt.part)
        if before is not None:
            attempt = replace(attempt, seconds=before.seconds + attempt.seconds)
        solved.attempts[attempt.part] = attempt
        retries.add(attempt)
        if solved.phase.exposed and self.on_progress is not None:
            rows = solved.instances.records_of(attempt.part)[places_one(solved, attempt)]
            self._placed += int((~self.placed[rows]).sum())
            self.placed[rows] = True
        return attempt

    def _save(self, number: int, attempts: Sequence[Attempt]) -> None:
        if self.checkpoint is not None and attempts:
            self.checkpoint.save_table(number, attempts_table(attempts))

    def _tell(self, phase: _PhaseRun) -> None:
        """Tell how many instances were tried, how many are solved, what is certain so far, and about what is left."""
        if self.on_progress is None:
            return
        seconds = phase.seconds_left / self.workers.pace / self.workers.count
        figures = {"placed": self._placed, "solved": phase.solved_so_far, "seconds": seconds}
        done = len(phase.solved.attempts)
        name = phase.solved.phase.name
        self.on_progress(Progress("solving", done, phase.instances, note=name, figures=figures))


@dataclass(eq=False)
class _PhaseRun:
    """A phase on its way."""

    number: int
    solved: SolvedPhase
    retries: _Retries
    instances: int
    """How many are to be tried."""
    solved_so_far: int = 0
    _made: int = 0
    _seconds: float = 0.0

    def note(self, attempt: Attempt) -> None:
        """Take note of what an attempt took and whether it solved the instance."""
        self._made += 1
        self._seconds += attempt.seconds
        self.solved_so_far += attempt.status not in ("limit", "failed")

    @property
    def seconds_left(self) -> float:
        """The CPU seconds that are left, about: first attempts as those so far, further ones as long as they may be."""
        first = max(self.instances - len(self.solved.attempts), 0)
        return first * self._seconds / max(self._made, 1) + self.retries.seconds


class _Retries:
    """The instances that met a limit, those first for which another attempt pays.

    What an attempt leaves open is log₁₀ of the allocations that it did not rule out, Σ log₁₀ (bins left for a record):
    the complexity, where it ruled out none. The next attempt has eight times the limit. How often one succeeds per
    second falls with its limit and, as measured, about with the square of what was left open; so these are taken in
    the order of their product. An instance of which little is open can so be tried for long before one of which much
    is open is tried again at all, but every one has its turn.
    """

    def __init__(self, budget: TimeBudget) -> None:
        self._budget = budget
        self._heap: list[tuple[float, int, float]] = []
        self.seconds = 0.0
        """The CPU seconds that these may take in all."""

    def __len__(self) -> int:
        return len(self._heap)

    def __iter__(self) -> Iterator[tuple[int, float]]:
        """Take one after the other, each with its limit; also those that are added meanwhile."""
        while self._heap:
            _, part, limit = heappop(self._heap)
            self.seconds -= limit
            yield part, limit

    def add(self, attempt: Attempt) -> None:
        """Add an instance whose last attempt met its limit, if a longer one pays."""
        limit = next_limit(attempt, self._budget)
        if limit is not None:
            self.seconds += limit
            heappush(self._heap, (limit * _left_open(attempt) ** 2, attempt.part, limit))


def next_limit(attempt: Attempt, budget: TimeBudget) -> float | None:
    """Return the CPU seconds of the next attempt at an instance; None: there is none.

    >>> from glasshouse.reconstruction.phase import Attempt
    >>> everything = np.ones((30, 10), bool)  # 10³⁰ allocations are not ruled out
    >>> budget = TimeBudget(quick=0.1, patience=900.0, longest=10.0)
    >>> [next_limit(Attempt(0, "limit", "limit", n, feasible=everything), budget) for n in (0.1, 0.8)]
    [0.8, None]
    >>> found = Attempt(0, "limit", "limit", 0.1, feasible=np.ones((100, 10), bool), exact=np.zeros(100, bool))
    >>> next_limit(found, budget)
    0.4
    """
    if attempt.status != "limit":
        return None
    patience = budget.patience / max(_left_open(attempt), 1.0) ** 2
    if attempt.exact is not None:
        patience = max(patience, _PER_RECORD * int((~attempt.exact).sum()))
    longest = min(budget.longest, patience)
    limit = min(_GROWTH * attempt.limit, longest)
    return limit if limit >= _LEAST_GROWTH * attempt.limit else None


def _left_open(attempt: Attempt) -> float:
    """Return the digits of the number of allocations that an attempt did not rule out."""
    assert attempt.feasible is not None  # noqa: S101 - for the type checker
    return float(np.log10(np.maximum(attempt.feasible.sum(axis=1), 1)).sum())
