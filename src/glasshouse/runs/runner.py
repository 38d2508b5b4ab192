"""One run: from a study to its outcome."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path

import pyarrow.parquet

from glasshouse.atomic import new_file
from glasshouse.microdata import Assessment, Sweep, assess, record_risks, sweep
from glasshouse.microdata.lattice import Progress
from glasshouse.microdata.models import Gain
from glasshouse.qif import Tries
from glasshouse.runs.checkpoint import Checkpoint
from glasshouse.sources import OnProgress
from glasshouse.sources.files import fingerprint
from glasshouse.study import Adversary, Dataset, Study, attributes, dump_study
from glasshouse.table import EncodedTable, read


@dataclass(frozen=True)
class Run:
    """A study and its outcome."""

    study: Study
    """What was asked."""
    assessment: Assessment
    """What came out."""
    sweep: Sweep | None
    """The sums of every subset, where one sweep answered the study."""


@dataclass(frozen=True)
class Watch:
    """Whom to tell how far a run is."""

    reading: OnProgress | None = None
    """Called with the amount of data read and the whole amount."""
    sweeping: Callable[[Progress], None] | None = None
    """Called with how far a sweep is."""


def run(
    study: Study,
    *,
    watch: Watch | None = None,
    save_table: Path | None = None,
    per_record: Path | None = None,
    checkpoint: Checkpoint | None = None,
    resume: bool = False,
    threads: int | None = None,
    memory: int | None = None,
) -> Run:
    """Carry out a study.

    Args:
        study: What is asked.
        watch: Whom to tell how far it is.
        save_table: Where to keep the encoded table, so that a later run skips parsing.
        per_record: Where to write each record's risk with the whole set of quasi-identifiers, as Parquet.
        checkpoint: Where to keep the finished steps of a sweep.
        resume: Whether to go on from the steps kept there.
        threads: How many threads to use; the outcome is the same for any number.
        memory: How many bytes a sweep may use.

    Raises:
        DataError: The data is malformed or lacks a column.
        StudyError: The question does not fit the data.
        BudgetError: It does not fit the memory.
    """
    watch = watch or Watch()
    table = read_dataset(study.datasets[0], study.adversary, on_progress=watch.reading)
    outcome = _answered(study, table, watch, checkpoint, resume, threads, memory)
    if save_table is not None:
        table.save(save_table)
    if per_record is not None:
        with new_file(per_record) as draft:
            pyarrow.parquet.write_table(record_risks(table).to_frame(), draft)
    return outcome


def _answered(
    study: Study,
    table: EncodedTable,
    watch: Watch,
    checkpoint: Checkpoint | None,
    resume: bool,
    threads: int | None,
    memory: int | None,
) -> Run:
    if study.sweep is not None:
        finished = checkpoint.start(resume=resume) if checkpoint else None
        swept = sweep(
            table,
            subsets=study.sweep,
            threads=threads,
            memory=memory,
            on_progress=watch.sweeping,
            finished=finished,
            on_step=checkpoint.save if checkpoint else None,
        )
        return Run(study, swept.assessment(), swept)
    outcome = assess(
        table,
        subsets=study.chosen_subsets(),
        secrets=[attributes(secret) for secret in study.adversary.sensitive],
        gains=_gains(study.adversary),
    )
    return Run(study, outcome, None)


def run_key(study: Study) -> str:
    """Return what a checkpoint must agree with: the study, the bytes of the data and the version."""
    own = version("glasshouse")
    digests = [fingerprint(dataset.path) for dataset in study.datasets]
    return hashlib.sha256(
        "\n".join([dump_study(study, version=own), *digests]).encode()
    ).hexdigest()


def read_dataset(
    dataset: Dataset, adversary: Adversary, *, on_progress: OnProgress | None = None
) -> EncodedTable:
    """Read the columns of a dataset that an adversary has to do with."""
    secrets = dict.fromkeys(name for s in adversary.sensitive for name in attributes(s))
    return read(
        dataset.path,
        quasi_identifiers=adversary.quasi_identifiers,
        sensitive=tuple(secrets),
        id=adversary.identifier,
        weight=adversary.weight,
        dialect=dataset.dialect,
        types=dataset.types,
        on_progress=on_progress,
    )


def _gains(adversary: Adversary) -> Mapping[tuple[str, ...], Gain]:
    if adversary.gain.tries is not None:
        secrets = [(), *map(attributes, adversary.sensitive)]
        return dict.fromkeys(secrets, Tries(adversary.gain.tries))
    return {(name,): dict(worth) for name, worth in adversary.gain.worth.items()}
