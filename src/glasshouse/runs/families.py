"""One run of ``assess`` over a family: the same study of several releases, side by side."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from glasshouse.errors import StudyError
from glasshouse.microdata.family import Family, family, parts_by
from glasshouse.runs.reading import one_each, prepared
from glasshouse.runs.runner import Means
from glasshouse.study import Study
from glasshouse.table import EncodedTable, Step

if TYPE_CHECKING:
    from glasshouse.report import Provenance


@dataclass(frozen=True)
class FamilyRun:
    """A study of several releases and its outcome."""

    study: Study
    """What was asked."""
    family: Family
    """What came out."""
    steps: tuple[Step, ...]
    """What was left out of the datasets."""

    @property
    def records(self) -> int:
        """The number of records of all parts."""
        return sum(part.records for part in self.family.parts)

    def to_dict(self) -> dict[str, Any]:
        """Return everything that came out as plain values."""
        content: dict[str, Any] = {"records": self.records}
        if self.steps:
            content["treatment"] = [step.to_dict() for step in self.steps]
        return content | self.family.to_dict()

    def to_frame(self) -> pa.Table:
        """Return one row per part, target and number of quasi-identifiers."""
        return self.family.to_frame()

    def to_html(self, provenance: Provenance) -> str:
        """Return the report."""
        from glasshouse.report.family_page import family_page
        from glasshouse.report.page import render

        return render(
            family_page(
                self.family,
                subject=self.study.subject,
                provenance=provenance,
                treatment=self.steps,
            )
        )


def run_family(study: Study, *, means: Means | None = None) -> FamilyRun:
    """Carry out a study of the parts of a release, or of several releases, one by one.

    Raises:
        DataError: The data is malformed or lacks a column.
        StudyError: The question does not fit the data, or asks for more than a family answers.
    """
    means = means or Means()
    if study.sweep is None and study.subsets != ("full",):
        raise StudyError("parts are compared with --subsets all, max:K or full, and one guess")
    steps: list[Step] = []

    def parts() -> Iterator[tuple[str, EncodedTable]]:
        for each in prepared(study, on_progress=means.watch.reading):
            own = one_each(each, seed=study.seed)
            steps.extend(own.steps)
            if study.by is None:
                yield own.table.name, own.table
            else:
                yield from parts_by(own.table, study.by)

    compared = family(
        parts(),
        subsets=study.sweep or [study.adversary.knowable],
        ordered=study.each,
        threads=means.threads,
    )
    return FamilyRun(study, compared, tuple(steps))
