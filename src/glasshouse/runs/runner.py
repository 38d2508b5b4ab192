"""One run of ``assess``: from a study to its outcome."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet
from numpy.typing import NDArray

from glasshouse import study as study_models
from glasshouse.atomic import new_file
from glasshouse.errors import StudyError
from glasshouse.groups.sampling_results import Progress as SamplingProgress
from glasshouse.language import number, text, text_for
from glasshouse.microdata import Assessment, Attack, Explanation, Sweep, assess, record_risks, sweep
from glasshouse.microdata.attacks import explain as explanation
from glasshouse.microdata.gains import (
    Gain,
    RecordWorth,
    read_gain_matrix,
    with_abstaining,
)
from glasshouse.microdata.linkage import LinkKey, link
from glasshouse.progress import OnProgress, Progress
from glasshouse.qif import Tries
from glasshouse.runs.checkpoint import Checkpoint
from glasshouse.runs.grouped import assess_by_group
from glasshouse.runs.reading import joined, one_each, prepared
from glasshouse.sources.files import fingerprint
from glasshouse.study import Adversary, Question, Study, attributes, dump_study, paths_of
from glasshouse.study import Gain as StudyGain
from glasshouse.table import EncodedTable, Step
from glasshouse.table.collection import CollectionMember
from glasshouse.table.generalised import is_suppressed

if TYPE_CHECKING:
    from glasshouse.report import Page, Provenance

STEPS_PER_WINDOW = 1000
"""The steps of the sweep of a window are numbered from a multiple of this on."""


@dataclass(frozen=True)
class Run:
    """A study and its outcome."""

    study: Study
    """What was asked."""
    assessment: Assessment
    """What came out."""

    @property
    def records(self) -> int:
        """The number of records."""
        return self.assessment.records

    @property
    def sweep(self) -> Sweep | None:
        """The sums of every subset, where one sweep answered the study."""
        return self.assessment.sweep

    @property
    def steps(self) -> tuple[Step, ...]:
        """What was left out of the datasets."""
        return self.assessment.steps

    @property
    def members(self) -> tuple[CollectionMember, ...]:
        """The datasets of a collection."""
        return self.assessment.members

    @property
    def explanations(self) -> tuple[Explanation, ...]:
        """Each attack with the whole set step by step, where asked for."""
        return self.assessment.explanations

    def to_dict(self) -> dict[str, Any]:
        """Return everything that came out as plain values."""
        return self.assessment.to_dict()

    def to_frame(self) -> pa.Table:
        """Return one row per attack."""
        return self.assessment.to_frame()

    def to_page(self, provenance: Provenance) -> Page:
        """Return the report, in the language that is spoken."""
        from glasshouse.report import assessment_page  # drawing takes long to import

        return assessment_page(
            self.assessment,
            subject=self.study.subject,
            provenance=provenance,
            sweep=self.sweep,
            treatment=self.steps,
            notes=self.notes(),
            currency=self.study.adversary.gain.currency,
            tries=self.study.adversary.gain.tries,
        )

    def notes(self) -> list[str]:
        """Return in sentences what a reader must know of the datasets and of how the figures were made."""
        notes = [
            text_for(
                member.linked,
                "{count} of the {records} people is also in {dataset}.",
                "{count} of the {records} people are also in {dataset}.",
                records=self.records,
                dataset=member.name,
            )
            for member in self.members[1:]
        ]
        if self.study.links:
            notes.append(
                text(
                    "Records were linked by {keys}; which of them are one person’s is part of what she does not know. "
                    "Somebody is absent only if no record can be theirs; whoever changes a value takes any other "
                    "alike. Classes are possible observations, and how many look alike is told of the first dataset "
                    "alone.",
                    keys=", ".join(map(_said, self.study.links)),
                )
            )
        if self.assessment.suppressed:
            notes.append(
                text_for(
                    self.assessment.suppressed,
                    "{count} record is suppressed: every quasi-identifier of it is “*”. With all quasi-identifiers it "
                    "is a class of its own, which is counted among the classes.",
                    "{count} records are suppressed: every quasi-identifier of theirs is “*”. With all "
                    "quasi-identifiers they are one class, which is counted among the classes.",
                )
            )
        if not self.assessment.exact:
            notes.append(
                text(
                    "Some figures are rounded in the last digits of a double: as exact ratios they would be too long."
                )
            )
        return notes


@dataclass(frozen=True)
class Watch:
    """Whom to tell how far a run is."""

    reading: OnProgress | None = None
    """Called with how much of the data is read."""
    sweeping: OnProgress | None = None
    """Called with how far a sweep is."""
    searching: Callable[[int, float, float | None], None] | None = None
    """Called with how many solutions were looked at, what none can lose less than, and what the best one loses."""
    sampling: Callable[[SamplingProgress], None] | None = None
    """Called with how far a sampler is."""
    solving: Callable[[str, int, int], None] | None = None
    """Called with the phase, and how many of how many instances have been tried."""


@dataclass(frozen=True)
class Means:
    """What a run has to work with; none of it changes the outcome."""

    watch: Watch = Watch()
    """Whom to tell how far it is."""
    checkpoint: Checkpoint | None = None
    """Where to keep the finished steps of a sweep."""
    resume: bool = False
    """Whether to go on from the steps kept there."""
    threads: int | None = None
    """How many threads to use; by default as many as there are processors."""
    memory: int | None = None
    """How many bytes a sweep may use."""


def run(
    study: Study,
    *,
    means: Means | None = None,
    save_table: Path | None = None,
    per_record: Path | None = None,
    explain: bool = False,
) -> Run:
    """Carry out a study of collective attacks.

    Args:
        study: What is asked.
        means: What there is to work with.
        save_table: Where to keep the encoded table, so that a later run skips parsing.
        per_record: Where to write each record's risk with the whole set of quasi-identifiers, as Parquet.
        explain: Whether to build every table from the records to the hyper, for small data.

    Raises:
        DataError: The data is malformed or lacks a column.
        StudyError: The question does not fit the data.
        BudgetError: It does not fit the memory.
    """
    means = means or Means()
    if explain and study.adversary.prior:
        raise StudyError(
            text("--explain shows the prior that the release gives; leave out --prior with it")
        )
    if per_record is not None:
        _refuse_per_record(study)
    if study.links:
        for option, given in (
            ("--save-table", save_table),
            ("--per-record", per_record),
            ("--explain", explain),
        ):
            if given:
                raise StudyError(
                    text(
                        "{option} is for datasets with an identifier; leave it out with --link",
                        option=option,
                    )
                )
        return _linked(study, means)
    if len(study.datasets) > 1:
        if save_table is not None:
            raise StudyError(
                text("--save-table keeps one dataset; assess the files one by one for it")
            )
        collection = joined(study, on_progress=means.watch.reading)
        whole, steps, members = collection.table, collection.steps, collection.members
        windows = list(collection.windows())
    else:
        single = one_each(next(prepared(study, on_progress=means.watch.reading)), seed=study.seed)
        whole, steps, members = single.table, single.steps, ()
        windows = [whole]
    secrets = [(), *map(attributes, study.adversary.sensitive)]
    if study.group is not None:
        return Run(study, replace(assess_by_group(whole, study.group), steps=steps))
    explained = (
        [explanation(windows[-1], sensitive=secret) for secret in secrets] if explain else []
    )
    assessment = _answered(study, windows, means)
    if save_table is not None:
        single.read.save(save_table)
    if per_record is not None:
        with new_file(per_record) as draft:
            pyarrow.parquet.write_table(record_risks(whole).to_frame(), draft)
    return Run(
        study,
        replace(
            assessment,
            steps=steps,
            members=members,
            suppressed=_suppressed(windows[0]),
            explanations=tuple(explained),
        ),
    )


def _said(key: study_models.Key) -> str:
    """Say a linking key and how well it persists."""
    parts = {"name": key.name, "shift": number(key.shift), "chance": number(key.persists, "g")}
    if key.shift and key.persists < 1:
        return text(
            "{name} (which grows by {shift}, and is kept with probability {chance})", **parts
        )
    if key.shift:
        return text("{name} (which grows by {shift})", name=key.name, shift=parts["shift"])
    if key.persists < 1:
        return text(
            "{name} (kept with probability {chance})", name=key.name, chance=parts["chance"]
        )
    return key.name


def _suppressed(table: EncodedTable) -> int:
    """Count the records of a sanitised release that tell nothing of their person."""
    columns = [part.name for name in table.quasi_identifiers for part in table.columns_of(name)]
    return int(np.count_nonzero(is_suppressed(table, columns))) if columns else 0


def _refuse_per_record(study: Study) -> None:
    """Make sure that the risk of each record answers the question that was asked."""
    adversary = study.adversary
    joint = any(len(attributes(secret)) > 1 for secret in adversary.sensitive)
    if joint or adversary.weight or adversary.prior or adversary.gain != StudyGain():
        raise StudyError(
            text(
                "--per-record tells how surely one guess is right, for single attributes and records alike; leave out "
                "gains, priors, weights and joint secrets with it"
            )
        )


def run_key(study: Question) -> str:
    """Return what a checkpoint must agree with: the study, the bytes of the data and the version."""
    own = version("glasshouse")
    digests = [fingerprint(path) for path in paths_of(study)]
    return hashlib.sha256(
        "\n".join([dump_study(study, version=own), *digests]).encode()
    ).hexdigest()


def _answered(study: Study, windows: Sequence[EncodedTable], means: Means) -> Assessment:
    """Attack each window of a collection; a single dataset is the only window of itself."""
    if study.sweep is None:
        return _assessed(study, windows)
    checkpoint = means.checkpoint
    finished = checkpoint.start(resume=means.resume) if checkpoint else {}
    swept = [
        _swept(study.sweep, window, number, len(windows), means, finished)
        for number, window in enumerate(windows)
    ]
    attacks = [
        attack
        for window, each in zip(windows, swept, strict=True)
        for attack in _with_capacities(each.assessment().attacks, window)
    ]
    return Assessment(windows[0].records, tuple(attacks), sweep=swept[-1])


def _with_capacities(attacks: Sequence[Attack], window: EncodedTable) -> Sequence[Attack]:
    """Return the attacks of a sweep with the capacities of the whole set, which a sweep does not compute."""
    whole = len(window.quasi_identifiers)
    if not window.sensitive or len(attacks[-1].quasi_identifiers) < whole:
        return attacks
    counted = len(window.sensitive)
    inferring = assess(window).attacks[1:]
    return (
        *attacks[:-counted],
        *(
            replace(swept, capacity=alone.capacity, additive_capacity=alone.additive_capacity)
            for swept, alone in zip(attacks[-counted:], inferring, strict=True)
        ),
    )


def _assessed(study: Study, windows: Sequence[EncodedTable]) -> Assessment:
    adversary = study.adversary
    secrets = [attributes(secret) for secret in adversary.sensitive]
    gains, priors = study_gains(adversary), study_priors(adversary)
    return assess(
        windows, subsets=study.chosen_subsets(), sensitive=secrets, gains=gains, priors=priors
    )


def _swept(
    subsets: str,
    table: EncodedTable,
    number: int,
    windows: int,
    means: Means,
    finished: Mapping[int, NDArray[np.int64]],
) -> Sweep:
    """Sweep one of several windows, whose steps have numbers of their own."""
    first, tell = number * STEPS_PER_WINDOW, means.watch.sweeping
    save = means.checkpoint.save if means.checkpoint else None

    def so_far(progress: Progress) -> None:
        if tell is not None:
            tell(replace(progress, done=(number + progress.done) / windows))

    return sweep(
        table,
        subsets=subsets,
        threads=means.threads,
        memory=means.memory,
        on_progress=so_far,
        finished={
            step - first: rows
            for step, rows in finished.items()
            if first <= step < first + STEPS_PER_WINDOW
        },
        on_step=None if save is None else lambda step, rows: save(first + step, rows),
    )


def _linked(study: Study, means: Means) -> Run:
    """Link the datasets by keys that may change."""
    if study.subsets != ("full",):
        raise StudyError(
            text(
                "datasets that are linked by keys are assessed with the whole set; leave out --subsets"
            )
        )
    if study.adversary.gain.model_dump(exclude_defaults=True) or study.adversary.prior:
        raise StudyError(
            text("gains and priors are for datasets with an identifier; leave them out with --link")
        )
    tables = list(prepared(study, on_progress=means.watch.reading))
    focal, *others = (each.table for each in tables)
    keys = [
        [
            LinkKey(key.name, persists=key.persists, shift=position * key.shift)
            for key in study.links
        ]
        for position in range(1, len(tables))
    ]
    secrets = [attributes(secret) for secret in study.adversary.sensitive]
    outcome = link(
        focal, others, keys=keys, quasi_identifiers=study.adversary.knowable, sensitive=secrets
    )
    steps = tuple(step for each in tables for step in each.steps)
    return Run(study, replace(outcome, steps=steps))


def study_gains(adversary: Adversary) -> Mapping[tuple[str, ...], Gain]:
    """Return what guesses are worth to an adversary, per secret; the empty one is re-identification."""
    asked = adversary.gain
    secrets = {"+".join(attributes(secret)): attributes(secret) for secret in adversary.sensitive}
    gains: dict[tuple[str, ...], Gain] = {}
    if asked.tries is not None:
        gains |= dict.fromkeys([(), *secrets.values()], Tries(asked.tries))
    if asked.record_worth is not None:
        gains[()] = RecordWorth(asked.record_worth)
    gains |= {secrets[name]: dict(worth) for name, worth in asked.worth.items()}
    for name, path in asked.matrix.items():
        matrix = read_gain_matrix(path)
        gains[secrets[name]] = with_abstaining(matrix) if asked.abstain else matrix
    return gains


def study_priors(adversary: Adversary) -> Mapping[tuple[str, ...], Mapping[str, float]]:
    """Return what an adversary believes of each secret beforehand, where the study says so."""
    secrets = {"+".join(attributes(secret)): attributes(secret) for secret in adversary.sensitive}
    return {secrets[name]: dict(prior) for name, prior in adversary.prior.items()}
