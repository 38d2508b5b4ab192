"""A whole month: every group of the publications, phase by phase.

A phase joins records with totals by their keys and solves the instances that come of it; what it finds rules out bins
of later phases, which makes their instances smaller (Favato 2021, section 5.1.2). What an instance may take is counted
in units of work and follows from the plan and its own size (`glasshouse.reconstruction.attempt_rounds`): what comes out
depends neither on the number of processes nor on what else the machine does. A time limit by the clock ends a campaign
before that; what is open then is told as open. Every phase has its part of the time that is left when it begins, by the
`effort` of the plan.

A group whose totals its records cannot meet is set apart with the reason. An instance on which something goes wrong, be
it that its process is ended, has failed: it is counted with the reason, and the rest goes on. With a folder, every
attempt is kept there: a campaign that was ended at any moment goes on with `resume=True`, and ends as one that was not.
Several machines can each take a part of it (`campaign_part`), and `merge` puts them together.

What comes of it is a `CampaignResult`: figures per phase and step, and tables per instance, per bin and per record.
"""

from __future__ import annotations

import hashlib
import itertools
import os
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from functools import cached_property
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from glasshouse.arrays import Floats
from glasshouse.checkpoint import Checkpoint
from glasshouse.errors import DataError, StudyError
from glasshouse.language import marked
from glasshouse.progress import OnProgress
from glasshouse.reconstruction.attempt_rounds import AttemptRounds
from glasshouse.reconstruction.chances import RULES, ExposurePhase, check_rule, exposure_phases
from glasshouse.reconstruction.division import (
    FINISHED,
    CampaignPart,
    PartResult,
    PhasePart,
    folders_of_parts,
    part_key,
    part_of_groups,
)
from glasshouse.reconstruction.groups import (
    TotalsGroups,
    check_usable,
    entity_codes,
    groups_of,
    register_size,
    registered_in,
)
from glasshouse.reconstruction.knowledge import (
    NOBODY,
    BinExposed,
    Standing,
    after_phase,
    bins_of,
    exposed_by_bin,
    knows_all_of,
    prior,
    sources_of,
)
from glasshouse.reconstruction.phase import (
    REASONS,
    Attempt,
    SolvedPhase,
    failures_of,
    instances_of,
    opened_by,
    troubles_of,
)
from glasshouse.reconstruction.publications import UNKNOWN, Published, Trouble, read_publications
from glasshouse.reconstruction.solver import prepare
from glasshouse.reconstruction.workers import (
    ATTEMPTS,
    AttemptTerms,
    Workers,
    attempts_of,
    fitting_processes,
)
from glasshouse.sources.files import fingerprint
from glasshouse.study.question import dump_study, load_question, paths_of
from glasshouse.study.totals import Phase, TotalsStudy

NO_REGISTER = marked("the plan has no register of entities; add [entities] to it")
NO_ENTITY = "bin without entities"
"""Why records are set apart whose bins are known, but nobody is registered there."""


# -- what a campaign comes to ----------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Apart:
    """Groups, or parts of them, whose totals cannot be met."""

    reason: str
    """Why; one of `glasshouse.reconstruction.phase.REASONS`, or `NO_ENTITY`."""
    groups: int
    """How many there are."""
    records: int
    """How many records they have."""
    value: float
    """What these are worth."""
    example: str
    """The keys of one of them."""


@dataclass(frozen=True)
class PhaseResult:
    """What a phase found."""

    name: str
    """What the plan calls it."""
    groups: int
    """How many groups records and totals make."""
    records: int
    """How many records they have."""
    settled: int
    """Parts of groups that an earlier phase had settled, or in which nothing had changed since."""
    instances: int
    """Instances that were to be solved."""
    trivial: int
    """Those among them with one bin."""
    unique: int
    """Instances in which the bin of every record is certain; trivial ones among them."""
    ambiguous: int
    """Instances solved exactly, with several bins for some record."""
    infeasible: int
    """Instances of which it is proved that no allocation meets the totals."""
    unsolved: int
    """Instances that met a limit: their bins are a superset."""
    untried: int
    """Instances for which no time was left."""
    apart: tuple[Apart, ...]
    """Groups that were set apart, by reason; infeasible instances among them."""
    linked: int
    """Records whose bin this phase made certain."""
    linked_value: float
    """What they are worth."""
    linked_so_far: int
    """Records whose bin is certain after this phase."""
    exposed: int
    """Records whose entity is certain after this phase."""
    exposed_value: float
    """What they are worth."""
    seconds: float
    """CPU seconds of all attempts, as work is counted: the same in every run."""

    @property
    def solved(self) -> int:
        """Instances with an exact answer."""
        return self.unique + self.ambiguous + self.infeasible

    def to_dict(self) -> dict[str, Any]:
        """Return the figures in plain values."""
        return {
            **asdict(self),
            "apart": [asdict(part) for part in self.apart],
            "solved": self.solved,
        }


@dataclass(frozen=True, eq=False)
class CampaignResult:
    """What a campaign found."""

    records: int
    """How many records were published."""
    value: float
    """What they are worth."""
    entities: int | None
    """How many entities the register has; None: there is none."""
    phases: tuple[PhaseResult, ...]
    """What each phase found."""
    exposures: Mapping[str, tuple[ExposurePhase, ...]]
    """Per rule of guessing, what the adversary can do before, and after each step; empty without a register."""
    publications: tuple[Mapping[str, str | int], ...]
    """Per publication, its rows: read, filtered, repeated, used."""
    troubles: tuple[Trouble, ...]
    """What was not as the plan says, each with a count and an example."""
    complete: bool
    """Whether every instance had all attempts that the plan allows; else a time limit ended it, and it can go on."""
    seconds: float
    """CPU seconds of all attempts, as work is counted: the same in every run."""
    solved_phases: tuple[SolvedPhase, ...]
    """Per phase its instances and attempts."""
    steps: tuple[tuple[str, Standing], ...]
    """Per record, what is known before, and after each step."""
    published: Published
    """The records."""
    register: Published | None
    """The register; None: there is none."""
    values: Floats
    """Per record, what it is worth."""
    study: TotalsStudy
    """The plan."""

    @property
    def standing(self) -> Standing:
        """Per record, what is known at the end."""
        return self.steps[-1][1]

    @property
    def instances(self) -> int:
        """Instances of all phases."""
        return sum(phase.instances for phase in self.phases)

    @property
    def solved(self) -> int:
        """Those with an exact answer."""
        return sum(phase.solved for phase in self.phases)

    def to_dict(self) -> dict[str, Any]:
        """Return the figures in plain values; no record and no entity is among them."""
        return {
            "records": self.records,
            "value": self.value,
            "entities": self.entities,
            "instances": self.instances,
            "solved": self.solved,
            "complete": self.complete,
            "seconds": self.seconds,
            "phases": [phase.to_dict() for phase in self.phases],
            "exposures": {
                rule: [step.to_dict() for step in steps] for rule, steps in self.exposures.items()
            },
            "bins": [row.to_dict() for row in self.bins()],
            "publications": [dict(figures) for figures in self.publications],
            "troubles": [trouble.to_dict() for trouble in self.troubles],
        }

    def to_frame(self) -> pa.Table:
        """Return a row per instance: its size, what came of it, and what it took; neither keys nor names."""
        return pa.concat_tables(
            [_instances_table(solved, self.values) for solved in self.solved_phases]
        )

    def tables(self) -> dict[str, pa.Table]:
        """Return a row per rule of guessing, step and bin: what the adversary can do there."""
        frames = []
        for rule in RULES:
            frame = self.bins_frame(rule)
            rules = pa.array([rule] * len(frame), pa.string())
            frames.append(frame.add_column(0, "rule", rules))
        return {"bins.parquet": pa.concat_tables(frames)}

    def bins(self, rule: str = "bayes") -> tuple[BinExposed, ...]:
        """Return per step and bin what the adversary can do there, most value at risk first; empty without a register.

        Raises:
            StudyError: There is no such rule.
        """
        check_rule(rule)
        if self.entities is None:
            return ()
        if rule not in self._bins:
            self._bins[rule] = exposed_by_bin(
                self.solved_phases, self.steps, self.values, self.entities, rule
            )
        return self._bins[rule]

    @cached_property
    def _bins(self) -> dict[str, tuple[BinExposed, ...]]:
        """The figures by bin as far as they were asked for: a report needs them more than once."""
        return {}

    def bins_frame(self, rule: str = "bayes") -> pa.Table:
        """Return the same as a table, a row per step and bin."""
        kinds = dict.fromkeys(BinExposed.__dataclass_fields__, pa.float64())
        kinds |= {"step": pa.string(), "bin": pa.string()}
        kinds |= dict.fromkeys(("entities", "linked", "exposed"), pa.int64())
        return pa.Table.from_pylist(
            [row.to_dict() for row in self.bins(rule)], schema=pa.schema(kinds)
        )

    def entities_frame(self) -> pa.Table:
        """Return the entities that are behind some record with certainty, with their records; most value first.

        This is the disclosure itself: it serves the publisher to see whom the publications expose.

        Raises:
            StudyError: There is no register.
        """
        if self.register is None:
            raise StudyError(NO_REGISTER)
        rows = np.flatnonzero(self.standing.certain)
        entities, place = np.unique(self.standing.named[rows], return_inverse=True)
        place, values = place.reshape(-1), self.values[rows]
        column = None if self.study.entities is None else self.study.entities.entity
        names = (
            [f"row {row + 1}" for row in self.register.row[entities].tolist()]
            if column is None
            else self.register.columns[column].values.take(pa.array(entities)).to_pylist()
        )
        table = pa.table(
            {
                "entity": pa.array(names, pa.string()),
                "records": pa.array(np.bincount(place, minlength=len(entities))),
                "value": pa.array(
                    np.bincount(place, values, minlength=len(entities)), pa.float64()
                ),
            }
        )
        return table.sort_by([("value", "descending"), ("entity", "ascending")])

    def packages_frame(self, *, most_bins: int = 100) -> pa.Table:
        """Return a row per record: where it can be, with which probability, and the chances to name its entity.

        This is the disclosure itself: it serves the publisher to see what must not be published.

        Args:
            most_bins: Where more bins are feasible, they are counted and not listed.
        """
        column = self.study.publications[self.published.name].identifier
        records = pa.array(self.published.row + 1).cast(pa.string())
        if column is not None:
            identifiers = self.published.columns[column]
            records = identifiers.values.take(pa.array(identifiers.codes)).cast(pa.string())
        standing, rows = self.standing, self.records
        phase, part, _ = sources_of(standing.bins_source)
        bins = bins_of(self.solved_phases)
        number, may_be = np.zeros(rows, np.int64), np.zeros(rows, bool)
        feasible_bins: list[list[str | None] | None] = [None] * rows
        shares: list[list[float] | None] = [None] * rows
        for place, solved in enumerate(self.solved_phases):
            instances = solved.instances
            for source in np.unique(part[phase == place]).tolist():
                record = instances.records_of(source)
                attempt = solved.attempts.get(source)
                feasible = np.ones((len(record), 1), bool) if attempt is None else attempt.feasible
                if feasible is None:
                    continue
                share = np.ones(len(record)) if attempt is None else attempt.shares
                names = [bins.names[b] for b in bins.places[place][instances.places_of(source)]]
                counts = feasible.sum(axis=1)
                chosen = (phase[record] == place) & (part[record] == source)
                number[record[chosen]] = counts[chosen]
                if instances.left_out[source]:
                    names.append(bins.names[-1])
                    may_be[record[chosen]] = feasible[chosen, -1]
                first = np.cumsum(counts) - counts
                for package in np.flatnonzero(chosen & (counts <= most_bins)).tolist():
                    columns = np.flatnonzero(feasible[package]).tolist()
                    feasible_bins[record[package]] = [names[column] for column in columns]
                    if share is not None:
                        begin = int(first[package])
                        shares[record[package]] = share[begin : begin + len(columns)].tolist()
        phase_names = [None if place < 0 else self.phases[place].name for place in phase.tolist()]
        unknown = np.full(rows, self.entities is None) | standing.unregistered
        return pa.table(
            {
                "record": records,
                "value": pa.array(self.values),
                "phase": pa.array(phase_names, pa.string()),
                "proved": pa.array(standing.proved),
                "feasible": pa.array(number),
                "feasible_bins": pa.array(feasible_bins, pa.list_(pa.string())),
                "shares": pa.array(shares, pa.list_(pa.float64())),
                "may_be_left_out": pa.array(may_be, mask=phase < 0),
                "uniform": pa.array(standing.uniform, mask=unknown),
                "bayes": pa.array(standing.bayes, mask=unknown),
                "linked": pa.array(standing.linked),
                "certain": pa.array(standing.certain),
            }
        )

    def exposure(self, rule: str = "bayes") -> tuple[ExposurePhase, ...]:
        """Return what the adversary can do before, and after each step, by one rule of guessing.

        Raises:
            StudyError: There is no such rule, or no register.
        """
        check_rule(rule)
        if self.entities is None:
            raise StudyError(NO_REGISTER)
        return self.exposures[rule]


# -- carrying it out -------------------------------------------------------------------------------------------------


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
    overwrite: bool = False,
    time_limit: float | None = None,
    memory: int | None = None,
    on_progress: OnProgress | None = None,
) -> CampaignResult:
    """Carry out a plan.

    Args:
        study: The plan.
        processes: How many processes make attempts. With more than one a script that calls this must be guarded by
            ``if __name__ == "__main__":``, since they are started anew.
        folder: Where attempts are kept; unset: nowhere.
        resume: Whether to go on with what is there.
        overwrite: Whether an interrupted campaign that is there may be thrown away where it is not resumed.
        time_limit: After so many seconds by the clock nothing more is begun, and what is open is told as open; unset:
            it takes as long as it takes. A campaign that is resumed has so many seconds again.
        memory: How many bytes all processes together may take: there are fewer of them where these do not suffice.
        on_progress: Told the phase, how many of how many instances were tried, and what is known so far: records whose
            bin is certain ("placed"), instances that are solved, and about how many seconds are left of the phase. What
            it raises ends the campaign.

    Raises:
        DataError: A file or column of the plan is not there, or a file is malformed.
        StudyError: There is nothing to resume, or it belongs to another plan.
        BudgetError: The processes cannot be started, or not even one fits the memory.
    """
    if resume and folder is None:
        raise StudyError("resuming needs the folder of the campaign; name it")
    prepared = _prepared(study, processes, time_limit)
    checkpoint = None
    if folder is not None:
        checkpoint = Checkpoint(Path(folder), key=_key(study), discard=overwrite)
        checkpoint.open(resume=resume)
    with prepared.workers(memory) as workers:
        return prepared.campaign(workers, checkpoint, [checkpoint], on_progress).result()


def campaign_part(
    study: TotalsStudy,
    part: CampaignPart,
    *,
    folder: str | os.PathLike[str],
    processes: int = 1,
    resume: bool = False,
    overwrite: bool = False,
    time_limit: float | None = None,
    memory: int | None = None,
    on_progress: OnProgress | None = None,
) -> PartResult:
    """Carry out one of several parts of a plan, each on a machine of its own; `merge` puts them together.

    Args:
        study: The plan; the same, with the same files, for all parts.
        part: Which part of how many.
        folder: Where its attempts are kept.
        processes: As for `campaign`.
        resume: Whether to go on with what is there.
        overwrite: Whether an interrupted part that is there may be thrown away where it is not resumed.
        time_limit: As for `campaign`.
        memory: As for `campaign`.
        on_progress: As for `campaign`.

    Raises:
        DataError: A file or column of the plan is not there, or a file is malformed.
        StudyError: There is nothing to resume, or it belongs to another plan or part.
        BudgetError: The processes cannot be started, or not even one fits the memory.
    """
    prepared = _prepared(study, processes, time_limit)
    key = part_key(_key(study), part)
    checkpoint = Checkpoint(Path(folder), key=key, discard=overwrite)
    checkpoint.open(resume=resume)
    with prepared.workers(memory) as workers:
        run = prepared.campaign(workers, checkpoint, [checkpoint], on_progress)
        phases = tuple(run.part(part))
    complete = not run.rounds.cut_short
    if complete:
        checkpoint.finish(FINISHED)
    return PartResult(part, phases, complete)


def merge(
    study: TotalsStudy,
    folders: Sequence[str | os.PathLike[str]],
    *,
    processes: int = 1,
    on_progress: OnProgress | None = None,
) -> CampaignResult:
    """Put the parts of a plan together: what comes out is what `campaign` would have found at one place.

    Args:
        study: The plan of the parts.
        folders: Their folders, of all of them, in any order.
        processes: How many processes make attempts, if any is left to be made.
        on_progress: As for `campaign`.

    Raises:
        DataError: A file or column of the plan is not there, or a file is malformed.
        StudyError: A part is missing, is not finished, or belongs to another plan or other data.
    """
    kept = folders_of_parts([Path(folder) for folder in folders], _key(study))
    prepared = _prepared(study, processes, None)
    with prepared.workers(None) as workers:
        return prepared.campaign(workers, None, kept, on_progress).result()


def _prepared(study: TotalsStudy, processes: int, time_limit: float | None) -> _PreparedCampaign:
    """Check what is asked, compile what a campaign needs, and read and join its publications."""
    if processes < 1:
        raise StudyError(
            "a campaign takes at least one process, not {processes}", processes=str(processes)
        )
    if time_limit is not None and not 0 < time_limit < float("inf"):
        raise StudyError(
            "the time limit is {limit}; give a number of seconds above 0", limit=str(time_limit)
        )
    prepare()  # compiling is not charged to the time of the campaign
    began = time.monotonic()
    publications = read_publications(study)
    groups = [groups_of(study, phase, publications) for phase in study.phases]
    check_usable(study, publications, groups)
    first = study.phases[0].packages
    if any(phase.packages != first for phase in study.phases):
        raise StudyError("all phases of a plan are about the same records; make a plan for each")
    return _PreparedCampaign(study, publications, groups, processes, time_limit, began)


@dataclass(frozen=True, eq=False)
class _PreparedCampaign:
    """A plan whose publications are read and joined."""

    study: TotalsStudy
    publications: Mapping[str, Published]
    groups: Sequence[TotalsGroups]
    processes: int
    time_limit: float | None
    began: float

    @cached_property
    def register(self) -> int | None:
        return register_size(self.study, self.publications)

    def workers(self, memory: int | None) -> Workers:
        """Return the processes: as many as are asked for, or as fit the memory."""
        study = self.study
        lists = int(study.budget.gigabytes * (1 << 30))
        terms = AttemptTerms(lists, self.register, study.left_out)
        return Workers(fitting_processes(self.processes, lists, memory), terms)

    def campaign(
        self,
        workers: Workers,
        checkpoint: Checkpoint | None,
        kept: Sequence[Checkpoint | None],
        on_progress: OnProgress | None,
    ) -> _Campaign:
        """Return the campaign with what was kept of it in some places."""
        attempts: dict[str, Attempt] = {}
        for place in kept:
            for table in () if place is None else place.tables():
                for asked, attempt in attempts_of(table).items():
                    if asked not in attempts or attempts[asked].limit < attempt.limit:
                        attempts[asked] = attempt
        records = self.publications[self.study.phases[0].packages]
        rounds = AttemptRounds(
            budget=self.study.budget,
            workers=workers,
            checkpoint=checkpoint,
            kept=attempts,
            placed=np.zeros(records.rows, bool),
            began=self.began,
            time_limit=self.time_limit,
            on_progress=on_progress,
        )
        return _Campaign(self.study, self.publications, self.groups, self.register, records, rounds)


@dataclass(eq=False)
class _Campaign:
    """One campaign on its way."""

    study: TotalsStudy
    publications: Mapping[str, Published]
    groups: Sequence[TotalsGroups]
    """Per phase, its groups."""
    register: int | None
    records: Published
    rounds: AttemptRounds
    """The attempts at instances."""
    solved: dict[str, SolvedPhase] = field(default_factory=dict)
    """The phases so far, by name."""
    troubles: list[Trouble] = field(default_factory=list)
    """What is not as the plan says."""

    def phases(self, part: CampaignPart | None = None) -> Iterator[SolvedPhase]:
        """Yield the phases as they are solved; or, of each, what belongs to a part of the campaign."""
        of_groups = None
        if part is not None:
            of_groups = part_of_groups(self.groups, self.records.rows, part.of)
        efforts = [phase.effort for phase in self.study.phases]
        for number, phase in enumerate(self.study.phases):
            solved = self._begin(phase, self.groups[number], self.records)
            chosen = None
            if part is not None and of_groups is not None:
                chosen = of_groups[number][solved.instances.group] == part.number
            share = efforts[number] / sum(efforts[number:])
            self.rounds.solve(number, solved, share=share, parts=chosen)
            self.troubles += failures_of(solved)
            self.solved[phase.name] = solved
            yield solved

    def part(self, part: CampaignPart) -> Iterator[PhasePart]:
        """Go through the phases with the groups of a part, and yield how far each came."""
        for solved in self.phases(part):
            statuses = [attempt.status for attempt in solved.attempts.values()]
            unsolved = statuses.count("limit") + statuses.count("failed")
            yield PhasePart(solved.phase.name, len(statuses), len(statuses) - unsolved)

    def result(self) -> CampaignResult:
        """Go through the phases and return what came of them."""
        records = self.records
        worth = self.study.worth
        values = records.measures[worth] / float(10 ** self.study.measures[worth].decimals)
        self.troubles += [t for published in self.publications.values() for t in published.troubles]
        standing = prior(records.rows, self.register, self._only_entity())
        steps: list[tuple[str, Standing]] = [("prior", standing)]
        results = []
        for solved in self.phases():
            joined, after = after_phase(standing, tuple(self.solved.values()), self.study)
            if solved.phase.exposed:
                name = solved.phase.name
                steps += [(f"{name}, joined", joined), (f"{name}, solved", after)]
            else:
                steps[-1] = (steps[-1][0], after)
            results.append(_phase_result(solved, before=standing, after=after, values=values))
            standing = after
        if not standing.certain[steps[0][1].certain].all():
            # The totals put records where nobody is registered: the register does not have everybody.
            steps[0] = ("prior", prior(records.rows, self.register))
        return CampaignResult(
            records=records.rows,
            value=float(values.sum()),
            entities=self.register,
            phases=tuple(results),
            exposures={}
            if self.register is None
            else {r: _exposures(steps, values, r) for r in RULES},
            publications=tuple(published.to_dict() for published in self.publications.values()),
            troubles=tuple(self.troubles),
            complete=not self.rounds.cut_short,
            seconds=sum(phase.seconds for phase in results),
            solved_phases=tuple(self.solved.values()),
            steps=tuple(steps),
            published=records,
            register=None
            if self.study.entities is None
            else self.publications[self.study.entities.publication],
            values=values,
            study=self.study,
        )

    def _begin(self, phase: Phase, groups: TotalsGroups, records: Published) -> SolvedPhase:
        """Build the instances of a phase."""
        self.troubles += groups.troubles
        opened, news = [], []
        linked = np.zeros(records.rows, bool)
        tried = self._tried(phase)
        for narrowing in phase.narrowed_by:
            for earlier in self._with_tried(narrowing.phase):
                opened.append(opened_by(earlier, narrowing.on, phase, groups, records.rows))
                if set(narrowing.on) == set(phase.bin) and _tells(earlier.phase, phase):
                    linked |= opened[-1].linked
                if tried is None or narrowing in tried.narrowed_by:
                    continue
                if not knows_all_of(self.study, tried, earlier.phase):
                    news.append(opened[-1])
        instances = instances_of(
            groups,
            values=records.measures[self.study.worth],
            none_bin=self.study.none_bin,
            opened=opened,
            linked=linked if opened else None,
            news=None if tried is None else news,
        )
        register = registered_in(self.study, groups, self.publications)
        solved = SolvedPhase(phase, instances, {}, register)
        self.troubles += troubles_of(solved)
        return solved

    def _tried(self, phase: Phase) -> Phase | None:
        """Return the last phase before one that had its groups, and knew no more; None: there is none."""
        before = itertools.takewhile(lambda earlier: earlier != phase, self.study.phases)
        tried = [e for e in before if _tells(e, phase) and knows_all_of(self.study, phase, e)]
        return tried[-1] if tried else None

    def _with_tried(self, name: str) -> Iterator[SolvedPhase]:
        """Yield a phase, and those before it that settled what it left as it was."""
        phase: Phase | None = self.solved[name].phase
        while phase is not None:
            yield self.solved[phase.name]
            phase = self._tried(phase)

    def _only_entity(self) -> int:
        """Return the entity of a register that has only one."""
        if self.study.entities is None or self.register != 1:
            return NOBODY
        codes = entity_codes(self.study, self.publications[self.study.entities.publication])
        return int(codes[codes != UNKNOWN][0])


def _tells(earlier: Phase, phase: Phase) -> bool:
    """Tell whether what an earlier phase found needs not be found again: chances were taken from it, or need not be."""
    return earlier.exposed or not phase.exposed


def _exposures(
    steps: Sequence[tuple[str, Standing]], values: Floats, rule: str
) -> tuple[ExposurePhase, ...]:
    """Return what the adversary can do at each step, over all records."""
    figures = []
    for name, standing in steps:
        chances, certain = standing.chances(rule), standing.certain
        mean, at_risk = float(chances.mean()), float((chances * values).sum())
        sure, sure_value = int(certain.sum()), float(values[certain].sum())
        figures.append((name, len(chances), mean, at_risk, sure, sure_value))
    return exposure_phases(figures)


def _key(study: TotalsStudy) -> str:
    """Return what a checkpoint belongs to: the plan, the bytes of its files, the version, and how attempts are kept."""
    digest = hashlib.sha256(dump_study(study, version=version("glasshouse")).encode())
    digest.update(str(ATTEMPTS).encode())
    for path in paths_of(study):
        try:
            digest.update(fingerprint(path).encode())
        except OSError as error:
            raise DataError(
                "{file}: cannot be read ({reason})", file=path.name, reason=error.strerror
            ) from None
    return digest.hexdigest()


# -- figures and tables ----------------------------------------------------------------------------------------------


def _phase_result(
    solved: SolvedPhase, *, before: Standing, after: Standing, values: Floats
) -> PhaseResult:
    """Return the figures of a phase."""
    instances = solved.instances
    packages, _ = instances.sizes
    statuses = [attempt.status for attempt in solved.attempts.values()]
    reason = instances.reason.copy()
    for part, attempt in solved.attempts.items():
        if attempt.status == "infeasible":
            reason[part] = instances.unmet[part]
    new = after.linked & ~before.linked
    return PhaseResult(
        name=solved.phase.name,
        groups=instances.groups.count,
        records=len(instances.groups.record),
        settled=int((instances.settled & (packages > 0) & (instances.reason == 0)).sum()),
        instances=len(instances.unsettled),
        trivial=len(solved.trivial),
        unique=len(solved.trivial) + statuses.count("unique"),
        ambiguous=statuses.count("ambiguous"),
        infeasible=statuses.count("infeasible"),
        unsolved=statuses.count("limit") + statuses.count("failed"),
        untried=len(solved.hard) - len(statuses),
        apart=(*_apart(solved, reason, values), *_unregistered(solved, before, after, values)),
        linked=int(new.sum()),
        linked_value=float(values[new].sum()),
        linked_so_far=int(after.linked.sum()),
        exposed=int(after.certain.sum()),
        exposed_value=float(values[after.certain].sum()),
        seconds=sum(attempt.seconds for attempt in solved.attempts.values()),
    )


def _apart(solved: SolvedPhase, reason: NDArray[np.uint8], values: Floats) -> tuple[Apart, ...]:
    instances = solved.instances
    packages, _ = instances.sizes
    worth = _worth_of(solved, values)
    return tuple(
        Apart(
            reason=REASONS[code],
            groups=int((reason == code).sum()),
            records=int(packages[reason == code].sum()),
            value=float(worth[reason == code].sum()),
            example=instances.groups.labels[instances.group[np.argmax(reason == code)]],
        )
        for code in range(1, len(REASONS))
        if (reason == code).any()
    )


def _unregistered(
    solved: SolvedPhase, before: Standing, after: Standing, values: Floats
) -> tuple[Apart, ...]:
    """Return the records that a phase found to be in bins in which nobody is registered."""
    new = after.unregistered & ~before.unregistered
    groups = solved.instances.groups
    concerned = np.unique(groups.record_group[new[groups.record]])
    if not len(concerned):
        return ()
    number, worth = int(new.sum()), float(values[new].sum())
    return (Apart(NO_ENTITY, len(concerned), number, worth, groups.labels[concerned[0]]),)


def _instances_table(solved: SolvedPhase, values: Floats) -> pa.Table:
    """Return a row per instance of a phase; see `CampaignResult.to_frame`."""
    instances = solved.instances
    parts = instances.unsettled
    packages, bins = (sizes[parts] for sizes in instances.sizes)
    status = np.where(instances.single[parts], "unique", "untried").tolist()
    linked = np.where(instances.single[parts], packages, 0).tolist()
    method: list[str | None] = [None] * len(parts)
    seconds = [0.0] * len(parts)
    for row, part in enumerate(parts.tolist()):
        attempt = solved.attempts.get(part)
        if attempt is not None:
            status[row], method[row] = attempt.status, attempt.method
            seconds[row] = attempt.seconds
            linked[row] = 0 if attempt.placed is None else int(attempt.placed.sum())
    return pa.table(
        {
            "phase": pa.array([solved.phase.name] * len(parts), pa.string()),
            "packages": pa.array(packages),
            "bins": pa.array(bins),
            "left_out": pa.array(instances.left_out[parts]),
            "complexity": pa.array(instances.complexity[parts]),
            "value": pa.array(_worth_of(solved, values)[parts]),
            "status": pa.array(status, pa.string()),
            "method": pa.array(method, pa.string()),
            "linked": pa.array(linked, pa.int64()),
            "seconds": pa.array(seconds, pa.float64()),
        }
    )


def _worth_of(solved: SolvedPhase, values: Floats) -> Floats:
    """Return what the records of each part are worth."""
    instances = solved.instances
    packages, _ = instances.sizes
    owner = np.repeat(np.arange(instances.count), packages)
    worth = values[instances.groups.record[instances.package]]
    return np.asarray(np.bincount(owner, worth, minlength=instances.count))
