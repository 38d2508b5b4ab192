"""``deter``: the optimal plan of a rational adversary, and what would stop her."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from glasshouse.arrays import Floats
from glasshouse.economics import (
    Deterrence,
    PeopleGroups,
    Terms,
    deterrence,
    exposure,
    groups_by_population,
    groups_in_register,
    losses_by_value,
    policy,
)
from glasshouse.errors import StudyError
from glasshouse.progress import OnProgress
from glasshouse.runs.reading import read_file
from glasshouse.runs.run import Resources, Run
from glasshouse.study import Dataset
from glasshouse.study.deter import DeterStudy
from glasshouse.table import EncodedTable

LARGEST = 100
"""The largest group that is shown where nobody says which."""


def answer(
    study: DeterStudy, *, resources: Resources, per_record: bool = False
) -> Run[DeterStudy, Deterrence]:
    """Solve the adversary's decision process.

    Where both the register and the population are given, the prior is the share of the population that is registered,
    unless the study says otherwise.

    Args:
        study: What is asked.
        resources: What there is to work with.
        per_record: Whether the risk of each record of the release is wanted, too.

    Raises:
        DataError: The data is malformed or lacks a column.
        StudyError: A term makes no sense.
        BudgetError: Too many sizes would have to be looked at.
    """
    terms = terms_of(study)
    low, high = study.sizes or (1, min(LARGEST, study.belief or LARGEST))
    exposed = None
    if study.release is not None:
        release = _read(study.release, study, on_progress=resources.on_progress)
        groups, registered = _groups(study, release, on_progress=resources.on_progress)
        if registered is not None and study.prior is None:
            terms = replace(terms, prior=registered)
        exposed = exposure(
            groups,
            terms,
            loss=_losses(study, release),
            belief=None if study.people is None else study.belief,
            target=study.target,
        )
    outcome = deterrence(
        policy(terms, range(low, high + 1), belief=study.belief),
        protect=study.protect,
        target=study.target,
        exposure=exposed,
    )
    outcome = replace(
        outcome,
        counts_losses=study.loss is not None or bool(study.loss_by),
        prior_is_given=study.prior is not None
        or (study.people is not None and study.population is not None),
    )
    risks = exposed.records_frame() if per_record and exposed is not None else None
    return Run(study, outcome, per_record=risks)


def _read(
    dataset: Dataset, study: DeterStudy, *, on_progress: OnProgress | None = None
) -> EncodedTable:
    also = tuple(study.loss_by) if dataset is study.release else ()
    known = study.quasi_identifiers
    return read_file(dataset, quasi_identifiers=known, also=also, on_progress=on_progress)


def _groups(
    study: DeterStudy, release: EncodedTable, *, on_progress: OnProgress | None
) -> tuple[PeopleGroups, float | None]:
    """Return how many people are like each record, counted or estimated; and the share of people in the register."""
    everybody = None
    if study.population is not None:
        everybody = _read(study.population, study, on_progress=on_progress)
    if study.people is not None:
        register = _read(study.people, study, on_progress=on_progress)
        if everybody is not None and everybody.records < register.records:
            raise StudyError(
                "`register` has {people} people, more than the population of {population}",
                people=register.records,
                population=everybody.records,
            )
        share = None if everybody is None else register.records / everybody.records
        return groups_in_register(release, register, population=everybody), share
    if everybody is None or study.belief is None:
        raise StudyError("a release needs the people it is linked with: `register` FILE")
    return groups_by_population(release, everybody, study.belief), None


def _losses(study: DeterStudy, release: EncodedTable) -> Floats | float:
    """Return the publisher's loss per re-identified record; 1, so that they are counted, where nothing is said."""
    nothing = 0.0 if study.loss_by else 1.0
    other = nothing if study.loss is None else study.loss
    for column, losses in study.loss_by.items():
        return losses_by_value(release, column, losses, other=other)
    return other


def terms_of(study: DeterStudy) -> Terms:
    """Return the terms that a study gives; the others are those of the publication."""
    names = ("prior", "gain", "penalty", "access_cost", "link_cost", "exploit_cost")
    terms: dict[str, Any] = {
        name: getattr(study, name)
        for name in (*names, "discount", "detection")
        if getattr(study, name) is not None
    }
    if study.penalties != "unlimited":
        terms["penalties"] = study.penalties
    return Terms(**terms)
