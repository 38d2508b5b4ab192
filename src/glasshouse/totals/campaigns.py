"""A whole month: every group of the publications, phase by phase, within a total time.

A phase joins records with totals by their keys and solves the instances that come of it; what it finds rules out bins
of later phases, which makes their instances smaller (Favato 2021, section 5.1.2). The time is spent so:

1. every phase has its part of the time that is left when it begins, by the `effort` of the plan;
2. every instance has a quick attempt first, the least complex first;
3. what is left goes to the instances that met the limit, those with the most value first, with a limit that grows
   eightfold from round to round.

A group whose totals its records cannot meet is set apart with the reason. An instance on which something goes wrong, be
it that its process is ended, has failed: it is counted with the reason, and the rest goes on. With a folder, every
attempt is kept there: a campaign that was ended at any moment goes on with `resume=True`. What an instance is found to
be does not depend on the number of processes, unless it meets a limit.
"""

from __future__ import annotations

import hashlib
import itertools
import os
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from importlib.metadata import version
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from glasshouse.checkpoint import Checkpoint
from glasshouse.errors import DataError, StudyError, printable
from glasshouse.language import marked, text
from glasshouse.sources.files import fingerprint
from glasshouse.study.files import dump_study, load_question, paths_of
from glasshouse.study.totals import Narrowing, Phase, TotalsStudy
from glasshouse.totals.attempts import Attempt, Task, Terms
from glasshouse.totals.exposure import Phase as Exposed
from glasshouse.totals.finding import (
    Found,
    entity_codes,
    linked_by,
    opened_by,
    register_size,
    registered_in,
    with_excess,
    without_entities,
)
from glasshouse.totals.joining import groups_of
from glasshouse.totals.kept import attempts_of, attempts_table
from glasshouse.totals.publications import UNKNOWN, Published, Trouble, read_publications
from glasshouse.totals.reckoning import RULES, CampaignResult, PhaseResult, exposed, phase_result
from glasshouse.totals.solver import prepare
from glasshouse.totals.splitting import instances_of
from glasshouse.totals.standing import (
    NOBODY,
    Standing,
    after_joining,
    after_preparing,
    after_solving,
    knows_all_of,
    prior,
)
from glasshouse.totals.workers import Workers

__all__ = ["CampaignResult", "OnCampaign", "PhaseResult", "campaign", "load_plan"]

OnCampaign = Callable[[str, int, int], None]
"""Called with the phase, and how many of how many instances have been tried; what it raises ends the campaign."""

_GROWTH = 8.0
"""How much longer the next attempt at an instance may take."""
_LEAST_LIMIT = 0.01
"""The shortest attempt, in CPU seconds."""
_BATCH = 24
"""How many quick attempts a process gets at once."""
_SAVED_EVERY = 2.0
"""After so many seconds the attempts that were made are kept."""
_ELAPSED = b"elapsed"
"""Where a table of attempts says how many seconds the campaign had taken."""


def load_plan(path: str | os.PathLike[str]) -> TotalsStudy:
    """Read a plan from a ``study.toml``; relative paths in it start at its own folder.

    Raises:
        StudyError: The file cannot be read, is not TOML, or is not such a plan.
    """
    return load_question(Path(path), TotalsStudy)


def campaign(
    study: TotalsStudy,
    *,
    processes: int = 1,
    folder: str | os.PathLike[str] | None = None,
    resume: bool = False,
    on_progress: OnCampaign | None = None,
) -> CampaignResult:
    """Carry out a plan.

    Args:
        study: The plan.
        processes: How many processes make attempts. With more than one a script that calls this must be guarded by
            ``if __name__ == "__main__":``, since they are started anew.
        folder: Where attempts are kept; unset: nowhere.
        resume: Whether to go on with what is there.
        on_progress: Told how far it is.

    Raises:
        DataError: A file or column of the plan is not there, or a file is malformed.
        StudyError: There is nothing to resume, or it belongs to another plan.
        BudgetError: The processes cannot be started.
    """
    if processes < 1:
        raise StudyError(
            text("a campaign takes at least one process, not {processes}", processes=str(processes))
        )
    if resume and folder is None:
        raise StudyError(text("resuming needs the folder of the campaign; name it"))
    prepare()  # compiling is not charged to the time of the campaign
    began = time.monotonic()
    publications = read_publications(study)
    checkpoint = None
    if folder is not None:
        checkpoint = Checkpoint(Path(folder), key=_key(study))
        checkpoint.open(resume=resume)
    register = register_size(study, publications)
    terms = Terms(int(study.budget.gigabytes * (1 << 30)), register, study.left_out)
    clock = _Clock(began, study.budget.seconds, _elapsed(checkpoint))
    with Workers(processes, terms) as workers:
        run = _Run(study, publications, register, workers, checkpoint, clock, on_progress)
        return run.result()


class _Clock:
    """How much of the time is left; that of a campaign which is resumed counts."""

    def __init__(self, began: float, seconds: float, before: float) -> None:
        self._began = began - before
        self._seconds = seconds

    @property
    def elapsed(self) -> float:
        return time.monotonic() - self._began

    @property
    def left(self) -> float:
        return self._seconds - self.elapsed


class _Run:
    """One campaign on its way."""

    def __init__(
        self,
        study: TotalsStudy,
        publications: Mapping[str, Published],
        register: int | None,
        workers: Workers,
        checkpoint: Checkpoint | None,
        clock: _Clock,
        on_progress: OnCampaign | None,
    ) -> None:
        self._study = study
        self._publications = publications
        self._register = register
        self._workers = workers
        self._checkpoint = checkpoint
        self._clock = clock
        self._on_progress = on_progress
        self._found: dict[str, Found] = {}
        self._troubles = [each for one in publications.values() for each in one.troubles]

    def result(self) -> CampaignResult:
        """Go through the phases and return what came of them."""
        first = self._study.phases[0].packages
        if any(phase.packages != first for phase in self._study.phases):
            raise StudyError(
                text("all phases of a plan are about the same records; make a plan for each")
            )
        records = self._publications[first]
        values = _values(self._study, records)
        standing = prior(records.rows, self._register, self._only_entity())
        steps: list[tuple[str, Standing]] = [("prior", standing)]
        results = []
        for number, phase in enumerate(self._study.phases):
            found = self._begin(phase, records)
            self._solve(number, found)
            self._troubles += _failures(found)
            self._found[phase.name] = found
            linked = (
                linked_by(found, records.rows) if phase.exposed else np.zeros(records.rows, bool)
            )
            before, phases = standing, tuple(self._found.values())
            if phase.exposed:
                standing = after_solving(before, phases, self._study, linked)
                joined = after_joining(before, phases, self._study)
                steps.append((f"{phase.name}, joined", joined))
                steps.append((f"{phase.name}, solved", standing))
            else:
                standing = after_preparing(before, phases, self._study)
                steps[-1] = (steps[-1][0], standing)
            results.append(phase_result(found, before=before, after=standing, values=values))
        if not standing.certain[steps[0][1].certain].all():
            # The totals put records where nobody is registered: the register does not have everybody.
            steps[0] = ("prior", prior(records.rows, self._register))
        return CampaignResult(
            records=records.rows,
            value=float(values.sum()),
            entities=self._register,
            phases=tuple(results),
            exposures={}
            if self._register is None
            else {r: _exposures(steps, values, r) for r in RULES},
            publications=tuple(each.to_dict() for each in self._publications.values()),
            troubles=tuple(self._troubles),
            complete=not any(each.untried for each in results),
            seconds=self._clock.elapsed,
            found=tuple(self._found.values()),
            steps=tuple(steps),
            published=records,
            register=None
            if self._study.entities is None
            else self._publications[self._study.entities.publication],
            values=values,
            study=self._study,
        )

    def _begin(self, phase: Phase, records: Published) -> Found:
        """Build the instances of a phase."""
        groups = groups_of(self._study, phase, self._publications)
        self._troubles += groups.troubles
        opened, news = [], []
        linked = np.zeros(records.rows, bool)
        tried = self._tried(phase)
        for narrowing in phase.narrowed_by:
            for name in self._with_tried(narrowing.phase):
                earlier = self._found[name]
                opened.append(opened_by(earlier, narrowing.on, phase, groups, records.rows))
                if set(narrowing.on) == set(phase.bin) and _tells(earlier.phase, phase):
                    linked |= opened[-1].linked
                if tried is not None and not self._knew(tried, narrowing, earlier.phase):
                    news.append(opened[-1])
        instances = instances_of(
            groups,
            values=records.measures[self._study.worth],
            none_bin=self._study.none_bin,
            opened=opened,
            linked=linked if opened else None,
            news=None if tried is None else news,
        )
        register = registered_in(self._study, groups, self._publications)
        found = Found(phase, instances, {}, register)
        self._troubles += [*with_excess(found), *without_entities(found)]
        return found

    def _tried(self, phase: Phase) -> Phase | None:
        """Return the last phase before one that had its groups, and knew no more; None: there is none."""
        before = itertools.takewhile(lambda each: each != phase, self._study.phases)
        tried = [e for e in before if _tells(e, phase) and knows_all_of(self._study, phase, e)]
        return tried[-1] if tried else None

    def _with_tried(self, name: str) -> Iterator[str]:
        """Yield a phase, and those before it that settled what it left as it was."""
        phase = self._found[name].phase
        while True:
            yield phase.name
            earlier = self._tried(phase)
            if earlier is None:
                return
            phase = earlier

    def _knew(self, tried: Phase, narrowing: Narrowing, earlier: Phase) -> bool:
        """Tell whether a phase knew what an earlier one hands on."""
        return narrowing in tried.narrowed_by or knows_all_of(self._study, tried, earlier)

    def _only_entity(self) -> int:
        """Return the entity of a register that has only one."""
        if self._study.entities is None or self._register != 1:
            return NOBODY
        codes = entity_codes(self._study, self._publications[self._study.entities.publication])
        return int(codes[codes != UNKNOWN][0])

    def _solve(self, number: int, found: Found) -> None:
        """Try the instances of a phase: quickly all of them, then those that are worth most."""
        if self._checkpoint is not None:
            for table in self._checkpoint.tables(number):
                found.attempts |= {attempt.part: attempt for attempt in attempts_of(table)}
            if self._checkpoint.finished(number):
                return
        efforts = [phase.effort for phase in self._study.phases[number:]]
        end = self._clock.elapsed + self._clock.left * efforts[0] / sum(efforts)
        quick = self._quick(len(found.hard))
        complexity = found.instances.complexity
        todo = [part for part in found.hard.tolist() if part not in found.attempts]
        todo.sort(key=lambda part: (complexity[part], part))
        self._round(number, found, todo, quick, self._study.budget.seconds, _BATCH)
        limit = quick
        while limit < self._study.budget.longest:
            limit = min(limit * _GROWTH, self._study.budget.longest)
            todo = [p for p, a in found.attempts.items() if a.status == "limit" and a.limit < limit]
            todo.sort(key=lambda part: (-found.instances.value[part], part))
            self._round(number, found, todo, limit, end, 1)
        if self._checkpoint is not None:
            self._checkpoint.finish(number)

    def _quick(self, instances: int) -> float:
        """Return the CPU seconds of the first attempts: so many that all of them fit into the time."""
        share = self._study.budget.seconds / (len(self._study.phases) * max(instances, 1))
        return max(min(self._study.budget.quick, share), _LEAST_LIMIT)

    def _round(
        self, number: int, found: Found, parts: Sequence[int], limit: float, end: float, batch: int
    ) -> None:
        """Try some instances with one limit, until the time is over; keep what was found even if something happens."""
        pending: list[Attempt] = []
        saved = time.monotonic()
        whole = len(found.hard)
        batches = _batches(found, parts, batch)

        def seconds() -> float:
            left = end - self._clock.elapsed
            return 0.0 if left <= 0 else min(limit, max(left, _LEAST_LIMIT))

        try:
            for attempts in self._workers.run(batches, seconds):
                for attempt in attempts:
                    found.attempts[attempt.part] = attempt
                pending += attempts
                if time.monotonic() - saved > _SAVED_EVERY:
                    self._save(number, pending)
                    pending, saved = [], time.monotonic()
                if self._on_progress is not None:
                    self._on_progress(found.phase.name, len(found.attempts), whole)
        finally:
            self._save(number, pending)

    def _save(self, number: int, attempts: Sequence[Attempt]) -> None:
        if self._checkpoint is not None and attempts:
            table = attempts_table(attempts)
            elapsed = {_ELAPSED: repr(self._clock.elapsed)}
            self._checkpoint.save_table(number, table.replace_schema_metadata(elapsed))


def _batches(found: Found, parts: Iterable[int], size: int) -> Iterator[list[Task]]:
    tasks: list[Task] = []
    for part in parts:
        tasks.append(found.task(part))
        if len(tasks) == size:
            yield tasks
            tasks = []
    if tasks:
        yield tasks


def _failures(found: Found) -> list[Trouble]:
    """Say how many instances failed for which reason, each with the group of one of them."""
    parts: dict[str, list[int]] = {}
    for part, attempt in sorted(found.attempts.items()):
        if attempt.status == "failed":
            parts.setdefault(attempt.method, []).append(part)
    instances = found.instances
    return [
        Trouble.of(
            found.phase.name,
            marked("instances that failed ({name})"),
            len(own),
            printable(instances.groups.labels[instances.group[own[0]]]),
            name=reason,
        )
        for reason, own in parts.items()
    ]


def _elapsed(checkpoint: Checkpoint | None) -> float:
    """Return how many seconds a campaign that is resumed has taken so far."""
    tables = [] if checkpoint is None else checkpoint.tables()
    return max((float(table.schema.metadata[_ELAPSED]) for table in tables), default=0.0)


def _tells(earlier: Phase, phase: Phase) -> bool:
    """Tell whether what an earlier phase found needs not be found again: chances were taken from it, or need not be."""
    return earlier.exposed or not phase.exposed


def _values(study: TotalsStudy, records: Published) -> NDArray[np.float64]:
    units = records.measures[study.worth]
    return np.asarray(units / float(10 ** study.measures[study.worth].decimals))


def _exposures(
    steps: Sequence[tuple[str, Standing]], values: NDArray[np.float64], rule: str
) -> tuple[Exposed, ...]:
    found: list[Exposed] = []
    for name, standing in steps:
        chances = standing.chances(rule)
        found.append(exposed(name, chances, standing.certain, values, found[-1] if found else None))
    return tuple(found)


def _key(study: TotalsStudy) -> str:
    """Return what a checkpoint belongs to: the plan, the bytes of its files, and the version."""
    digest = hashlib.sha256(dump_study(study, version=version("glasshouse")).encode())
    for path in paths_of(study):
        try:
            digest.update(fingerprint(path).encode())
        except OSError as error:
            raise DataError(
                text("{file}: cannot be read ({reason})", file=path.name, reason=error.strerror)
            ) from None
    return digest.hexdigest()
