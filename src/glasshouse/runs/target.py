"""``target``: the attack on one person."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from glasshouse.microdata.individual import Target, target
from glasshouse.runs.assess import study_gains
from glasshouse.runs.reading import Prepared, joined, only_one, read_register, strangers
from glasshouse.runs.run import Resources, Run
from glasshouse.study.target import TargetStudy
from glasshouse.table import Collection, EncodedTable


def answer(
    study: TargetStudy,
    *,
    resources: Resources,
    tables: Sequence[EncodedTable] = (),
    population: EncodedTable | None = None,
) -> Run[TargetStudy, Target]:
    """Carry out a study of one person.

    Args:
        study: What is asked.
        resources: What there is to work with.
        tables: The data, where it is in memory.
        population: The register, where it is in memory.

    Raises:
        DataError: The data is malformed or lacks a column, or nobody fits what is known.
        StudyError: The question does not fit the data.
    """
    on_progress = resources.on_progress
    data: Collection | Prepared = (
        joined(study, tables=tables, on_progress=on_progress)
        if len(study.datasets) > 1
        else only_one(study, tables=tables, on_progress=on_progress)
    )
    if study.population is not None:
        population = read_register(study, population)
    outcome = target(
        data.table,
        known=study.known,
        sensitive=study.adversary.secrets,
        gains=study_gains(study.adversary),
        population=population,
        fraction=study.fraction,
        person=study.person,
    )
    notes = strangers(data) if isinstance(data, Collection) else ()
    return Run(study, replace(outcome, steps=(*data.steps, *outcome.steps)), warnings=notes)
