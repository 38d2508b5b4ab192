"""One run of ``deter``: the optimal plan of a rational adversary, and what would stop her."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from glasshouse.economics import (
    Deterrence,
    Deterrent,
    PeopleGroups,
    Policy,
    ReleaseExposure,
    Terms,
    deterrence,
    exposure,
    groups_by_population,
    groups_in_register,
    least_size,
    losses_by_value,
    policy,
)
from glasshouse.errors import StudyError
from glasshouse.language import text
from glasshouse.progress import OnProgress
from glasshouse.runs.runner import Means
from glasshouse.study import Dataset
from glasshouse.study.economics import DeterStudy
from glasshouse.table import EncodedTable, read

if TYPE_CHECKING:
    from glasshouse.report import Page, Provenance

LARGEST = 100
"""The largest group that is shown where nobody says which."""


@dataclass(frozen=True)
class DeterRun:
    """A question about the attacker's economics and its answer."""

    study: DeterStudy
    """What was asked."""
    outcome: Deterrence
    """What came out."""

    @property
    def policy(self) -> Policy:
        """Her optimal plan for groups of each size."""
        return self.outcome.policy

    @property
    def deterrents(self) -> tuple[Deterrent, ...]:
        """How much of each deterrent is enough for the group that is to be protected."""
        return self.outcome.deterrents

    @property
    def size(self) -> Deterrent:
        """How large a group must be."""
        return self.outcome.size

    @property
    def exposure(self) -> ReleaseExposure | None:
        """The risk of every record of the release, where there is one."""
        return self.outcome.exposure

    @property
    def prior_is_given(self) -> bool:
        """Whether the prior is that of the study or of its data, and not the publication's."""
        return self.outcome.prior_is_given

    @property
    def records(self) -> int:
        """The number of records of the release; 0 where there is none."""
        return self.outcome.records

    @property
    def currency(self) -> str | None:
        """What money is counted in."""
        return self.study.currency

    def to_dict(self) -> dict[str, Any]:
        """Return everything that came out as plain values."""
        return self.outcome.to_dict()

    def summary(self) -> dict[str, float | None]:
        """Return the main figures."""
        return self.outcome.summary()

    def to_frame(self) -> pa.Table:
        """Return one row per size of the group."""
        return self.outcome.to_frame()

    def to_page(self, provenance: Provenance) -> Page:
        """Return the report, in the language that is spoken."""
        from glasshouse.report.economics.page import deterrence_page

        return deterrence_page(
            self.outcome,
            self.outcome.curves,
            subject=self.study.subject,
            provenance=provenance,
            currency=self.currency,
        )


def run_deter(study: DeterStudy, *, means: Means | None = None) -> DeterRun:
    """Solve the adversary's decision process.

    Where both the register and the population are given, the prior is the share of the population that is registered,
    unless the study says otherwise.

    Raises:
        DataError: The data is malformed or lacks a column.
        StudyError: A term makes no sense.
        BudgetError: Too many sizes would have to be looked at.
    """
    terms = terms_of(study)
    low, high = study.sizes or (1, min(LARGEST, study.belief or LARGEST))
    exposed = None
    if study.release is not None:
        reading = (means or Means()).watch.reading
        release = _read(study.release, study, on_progress=reading)
        groups, registered = _groups(study, release, on_progress=reading)
        if registered is not None and study.prior is None:
            terms = replace(terms, prior=registered)
        exposed = exposure(
            groups,
            terms,
            loss=_losses(study, release),
            belief=None if study.people is None else study.belief,
        )
        exposed = replace(exposed, enough=least_size(terms, target=study.target))
    plan = policy(terms, range(low, high + 1), belief=study.belief)
    outcome = deterrence(plan, protect=study.protect, target=study.target, exposure=exposed)
    return DeterRun(
        study,
        replace(
            outcome,
            counts_losses=study.loss is not None or bool(study.loss_by),
            prior_is_given=study.prior is not None or _shares_known(study),
        ),
    )


def _read(
    dataset: Dataset, study: DeterStudy, *, on_progress: OnProgress | None = None
) -> EncodedTable:
    return read(
        dataset.path,
        quasi_identifiers=study.quasi_identifiers,
        also=tuple(study.loss_by) if dataset is study.release else (),
        dialect=dataset.dialect,
        types=dataset.types,
        name=dataset.name,
        on_progress=on_progress,
    )


def _shares_known(study: DeterStudy) -> bool:
    return study.people is not None and study.population is not None


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
                text(
                    "--register has {people} people, more than the population of {population}",
                    people=register.records,
                    population=everybody.records,
                )
            )
        share = None if everybody is None else register.records / everybody.records
        return groups_in_register(release, register, population=everybody), share
    if everybody is None or study.belief is None:
        raise StudyError(text("a release needs the people it is linked with: --register FILE"))
    return groups_by_population(release, everybody, study.belief), None


def _losses(study: DeterStudy, release: EncodedTable) -> NDArray[np.float64] | float:
    """Return what each re-identified record costs the publisher; 1, so that they are counted, where nothing is said."""
    nothing = 0.0 if study.loss_by else 1.0
    other = nothing if study.loss is None else study.loss
    for column, losses in study.loss_by.items():
        return losses_by_value(release, column, losses, other=other)
    return other


def terms_of(study: DeterStudy) -> Terms:
    """Return the terms that a study gives; the others are those of the publication."""
    names = ("prior", "gain", "penalty", "access_cost", "link_cost", "exploit_cost", "discount")
    given: dict[str, Any] = {
        name: getattr(study, name) for name in names if getattr(study, name) is not None
    }
    if study.detection is not None:
        given["detection"] = study.detection
    if study.penalties != "unlimited":
        given["penalties"] = study.penalties
    return Terms(**given)
