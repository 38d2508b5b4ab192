"""One run: from a study to its outcome."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from glasshouse.microdata import Assessment, assess
from glasshouse.microdata.models import Gain
from glasshouse.qif import Tries
from glasshouse.sources import OnProgress
from glasshouse.study import Adversary, Dataset, Study, attributes
from glasshouse.table import EncodedTable, read


@dataclass(frozen=True)
class Run:
    """A study and its outcome."""

    study: Study
    """What was asked."""
    assessment: Assessment
    """What came out."""


def run(
    study: Study, *, on_progress: OnProgress | None = None, save_table: Path | None = None
) -> Run:
    """Carry out a study.

    Args:
        study: What is asked.
        on_progress: Called with the amount of data read and the whole amount.
        save_table: Where to keep the encoded table, so that a later run skips parsing.

    Raises:
        DataError: The data is malformed or lacks a column.
        StudyError: The question does not fit the data.
    """
    adversary = study.adversary
    table = read_dataset(study.datasets[0], adversary, on_progress=on_progress)
    if save_table is not None:
        table.save(save_table)
    outcome = assess(
        table,
        subsets=study.chosen_subsets(),
        secrets=[attributes(secret) for secret in adversary.sensitive],
        gains=_gains(adversary),
    )
    return Run(study, outcome)


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
