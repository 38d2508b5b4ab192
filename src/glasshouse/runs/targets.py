"""One run of ``target``: the attack on one person."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from glasshouse.microdata.target import Target, target
from glasshouse.runs.reading import joined, one_each, prepared, read_register
from glasshouse.runs.runner import Means, study_gains
from glasshouse.study import Study, attributes
from glasshouse.table import EncodedTable, Step

if TYPE_CHECKING:
    from glasshouse.report import Page, Provenance


@dataclass(frozen=True)
class TargetRun:
    """A question about one person and its answer."""

    study: Study
    """What was asked."""
    target: Target
    """What came out."""

    @property
    def records(self) -> int:
        """The number of records of the release."""
        return self.target.records

    @property
    def steps(self) -> tuple[Step, ...]:
        """What was left out of the datasets."""
        return self.target.steps

    def to_dict(self) -> dict[str, Any]:
        """Return everything that came out as plain values."""
        return self.target.to_dict()

    def to_frame(self) -> pa.Table:
        """Return one row per attack: naming the person, and each secret."""
        return self.target.to_frame()

    def to_page(self, provenance: Provenance) -> Page:
        """Return the report, in the language that is spoken."""
        from glasshouse.report.people.targets import target_page

        return target_page(
            self.target,
            subject=self.study.subject,
            provenance=provenance,
            treatment=self.steps,
            currency=self.study.adversary.gain.currency,
        )


def run_target(study: Study, *, means: Means | None = None) -> TargetRun:
    """Carry out a study of one person.

    Raises:
        DataError: The data is malformed or lacks a column, or nobody fits what is known.
        StudyError: The question does not fit the data.
    """
    reading = (means or Means()).watch.reading
    table: EncodedTable
    if len(study.datasets) > 1:
        collection = joined(study, on_progress=reading)
        table, steps = collection.table, collection.steps
    else:
        single = one_each(next(prepared(study, on_progress=reading)), seed=study.seed)
        table, steps = single.table, single.steps
    register = None if study.population is None else read_register(study)
    outcome = target(
        table,
        known=study.known,
        sensitive=[attributes(secret) for secret in study.adversary.sensitive],
        gains=study_gains(study.adversary),
        population=register,
        fraction=study.fraction,
    )
    return TargetRun(study, replace(outcome, steps=steps))
