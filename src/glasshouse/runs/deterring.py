"""One run of ``deter``: the optimal plan of a rational adversary, and what would stop her."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from glasshouse.economics import (
    Deterrent,
    Exposure,
    Groups,
    Policy,
    Sensitivity,
    Terms,
    exposure,
    groups_by_population,
    groups_in_register,
    least,
    least_size,
    losses_by_value,
    policy,
    sensitivity,
)
from glasshouse.errors import BudgetError, StudyError
from glasshouse.language import text
from glasshouse.progress import OnProgress
from glasshouse.runs.runner import Means
from glasshouse.study import Dataset
from glasshouse.study.economics import DeterStudy
from glasshouse.table import EncodedTable, read

if TYPE_CHECKING:
    from glasshouse.report import Page, Provenance

DETERRENTS = ("penalty", "access_cost", "exploit_cost", "detection")
"""What a publisher or a legislator can raise."""
VARIED = (
    "penalty",
    "access_cost",
    "exploit_cost",
    "detection",
    "gain",
    "prior",
    "link_cost",
    "discount",
)
"""What the thresholds are drawn against."""
LARGEST = 100
"""The largest group that is shown where nobody says which."""
POINTS = 40
"""How many values of each."""


@dataclass(frozen=True)
class DeterRun:
    """A question about the attacker's economics and its answer."""

    study: DeterStudy
    """What was asked."""
    policy: Policy
    """Her optimal plan for groups of each size."""
    deterrents: tuple[Deterrent, ...]
    """How much of each deterrent is enough for the group that is to be protected."""
    size: Deterrent
    """How large a group must be."""
    exposure: Exposure | None
    """The risk of every record of the release, where there is one."""

    @property
    def records(self) -> int:
        """The number of records of the release; 0 where there is none."""
        return 0 if self.exposure is None else self.exposure.groups.records

    @property
    def currency(self) -> str | None:
        """What money is counted in."""
        return self.study.currency

    @property
    def subject(self) -> str:
        """What a record stands for."""
        return self.study.subject

    @property
    def counts_losses(self) -> bool:
        """Whether the study says what a re-identified record costs the publisher."""
        return self.study.loss is not None or bool(self.study.loss_by)

    @property
    def prior_is_given(self) -> bool:
        """Whether the prior is that of the study or of its data, and not the publication's."""
        return self.study.prior is not None or _shares_known(self.study)

    def to_dict(self) -> dict[str, Any]:
        """Return everything that came out as plain values; thresholds and deterrents are those of the known group."""
        return {
            "terms": self.policy.terms.to_dict(),
            "belief": self.policy.belief,
            **self.policy.to_dict(),
            "deterrents": [each.to_dict() for each in (*self.deterrents, self.size)],
            **({} if self.exposure is None else {"exposure": self.exposure.to_dict()}),
        }

    def summary(self) -> dict[str, float | None]:
        """Return the main figures: the sizes at which she changes her mind, the risk, and what a release loses."""
        found: dict[str, float | None] = dict(self.policy.thresholds.to_dict())
        found["highest_risk"] = float(self.policy.reidentification.max())
        found["enough"] = self.size.lasting
        if self.exposure is not None:
            found |= {
                "worth_attacking": int(np.count_nonzero(self.exposure.known)),
                "expected_known": self.exposure.expected_known,
                "expected_unknown": self.exposure.expected_unknown,
            }
        if self.exposure is not None and self.counts_losses:
            found["loss_known"] = self.exposure.loss_known
            found["loss_unknown"] = self.exposure.loss_unknown
        return found

    def to_frame(self) -> pa.Table:
        """Return one row per size of the group: of the release, where there is one."""
        return self.policy.to_frame() if self.exposure is None else self.exposure.to_frame()

    def to_page(self, provenance: Provenance) -> Page:
        """Return the report, in the language that is spoken."""
        from glasshouse.report.economics.page import deterrence_page

        return deterrence_page(self, self.curves, provenance=provenance)

    @cached_property
    def curves(self) -> list[Sensitivity]:
        """The thresholds against each parameter, computed once for every language."""
        return [own for name in VARIED if (own := curve(self.policy.terms, name)) is not None]


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
    return DeterRun(
        study=study,
        policy=policy(terms, range(low, high + 1), belief=study.belief),
        deterrents=tuple(
            least(terms, name, size=study.protect, target=study.target) for name in DETERRENTS
        ),
        size=least_size(terms, target=study.target),
        exposure=exposed,
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
) -> tuple[Groups, float | None]:
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


def curve(terms: Terms, parameter: str) -> Sensitivity | None:
    """Return the thresholds against one parameter, from a hundredth to a hundred times what it is.

    None: at some value too many sizes would have to be looked at.
    """
    if parameter == "discount":
        values = np.linspace(0.5, 1.0, POINTS)
    elif parameter == "prior":
        values = np.linspace(0.05, 1.0, POINTS)
    elif parameter == "detection":
        values = np.geomspace(1e-4, 0.9, POINTS)
    else:
        middle = float(getattr(terms, parameter)) or 100.0
        values = np.geomspace(middle / 100, middle * 100, POINTS)
    try:
        return sensitivity(terms, parameter, values.tolist())
    except BudgetError:
        return None
