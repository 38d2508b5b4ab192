"""One run of ``assess`` over a family: the same study of several releases, side by side."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from glasshouse.errors import StudyError
from glasshouse.language import text
from glasshouse.microdata.family import Family, family, parts_by
from glasshouse.progress import OnProgress, Progress
from glasshouse.runs.reading import one_each, prepared
from glasshouse.runs.runner import Means
from glasshouse.study import Gain, Study, attributes
from glasshouse.table import EncodedTable, Step

if TYPE_CHECKING:
    from glasshouse.report import Page, Provenance


@dataclass(frozen=True)
class FamilyRun:
    """A study of several releases and its outcome."""

    study: Study
    """What was asked."""
    family: Family
    """What came out, of all parts; those that are printed are `shown`."""

    @property
    def part(self) -> str:
        """What a part is called: by the column, where that is a word."""
        if self.study.by is None:
            return "dataset"
        noun = self.study.by.replace("_", " ").lower()
        return noun if len(noun) > 3 and noun.replace(" ", "").isalpha() else "part"

    @property
    def exact(self) -> bool:
        """Whether all is printed as it is: each file is a release of its own, and no value of a column."""
        return self.study.by is None

    @property
    def shown(self) -> Family:
        """The parts that are printed: of a column's values those only that a report may show with their figures."""
        from glasshouse.report.microdata.parts import shown_parts

        return self.family if self.exact else shown_parts(self.family)

    @property
    def records(self) -> int:
        """The number of records of all parts."""
        return self.family.records

    @property
    def steps(self) -> tuple[Step, ...]:
        """What was left out of the datasets."""
        return self.family.steps

    def to_dict(self) -> dict[str, Any]:
        """Return everything that came out as plain values."""
        return self.family.to_dict()

    def to_frame(self) -> pa.Table:
        """Return one row per part, target and number of quasi-identifiers."""
        return self.family.to_frame()

    def to_page(self, provenance: Provenance) -> Page:
        """Return the report, in the language that is spoken."""
        from glasshouse.report.microdata.family_page import family_page

        return family_page(
            self.family,
            subject=self.study.subject,
            provenance=provenance,
            treatment=self.steps,
            part=self.part,
        )


def run_family(study: Study, *, means: Means | None = None) -> FamilyRun:
    """Carry out a study of the parts of a release, or of several releases, one by one.

    Raises:
        DataError: The data is malformed or lacks a column.
        StudyError: The question does not fit the data, or asks for more than a family answers.
    """
    means = means or Means()
    adversary = study.adversary
    joint = any(len(attributes(secret)) > 1 for secret in adversary.sensitive)
    if joint or adversary.prior or adversary.gain != Gain():
        raise StudyError(
            text(
                "parts are compared by one guess at single attributes; leave out gains, priors and joint secrets with "
                "--by and --each"
            )
        )
    if study.sweep is None and study.subsets != ("full",):
        raise StudyError(
            text("parts are compared with --subsets all, max:K or full, and one guess")
        )
    steps: list[Step] = []
    reached = _Reached(means.watch.sweeping)

    def parts() -> Iterator[tuple[str, EncodedTable]]:
        for each in prepared(study, on_progress=means.watch.reading):
            own = one_each(each, seed=study.seed)
            steps.extend(own.steps)
            if study.by is None:
                reached.whole = own.table.records * len(
                    study.datasets
                )  # the others are about as large
                yield own.table.name, own.table
            else:
                reached.whole = own.table.records
                yield from parts_by(own.table, study.by)

    compared = family(
        parts(),
        subsets=study.sweep or [study.adversary.knowable],
        ordered=study.each,
        threads=means.threads,
        memory=means.memory,
        on_progress=reached.tell,
    )
    return FamilyRun(study, replace(compared, by=study.by, steps=tuple(steps)))


class _Reached:
    """How far a family is, by the records of the parts that are finished."""

    def __init__(self, watcher: OnProgress | None) -> None:
        self._watcher = watcher
        self.whole = 1

    def tell(self, progress: Progress) -> None:
        """Tell that one more part is finished."""
        if self._watcher is not None:
            done = progress.done
            share = min(1.0, done / self.whole)
            self._watcher(Progress("sweeping", share, 1.0, figures={"visits": done}))
