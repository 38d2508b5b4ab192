"""One run of ``totals campaign``: who is behind each record, from published totals."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from glasshouse.runs.runner import Means
from glasshouse.study.totals import TotalsStudy
from glasshouse.totals import CampaignResult, campaign

if TYPE_CHECKING:
    from glasshouse.report import Page, Provenance


@dataclass(frozen=True, eq=False)
class TotalsRun:
    """A plan and what came of it."""

    study: TotalsStudy
    """What was asked."""
    result: CampaignResult
    """What was found."""

    @property
    def records(self) -> int:
        """The number of records that were published."""
        return self.result.records

    def to_dict(self) -> dict[str, Any]:
        """Return the figures in plain values; no record and no entity is among them."""
        return self.result.to_dict()

    def summary(self) -> dict[str, float | None]:
        """Return the main figures: what was solved, and which records and amounts are certain in the end."""
        return self.result.summary()

    def to_frame(self) -> pa.Table:
        """Return a row per instance: its size, what came of it, and what it took."""
        return self.result.to_frame()

    def tables(self) -> dict[str, pa.Table]:
        """Return a row per rule of guessing, step and bin: what the adversary can do there."""
        return self.result.tables()

    def to_page(self, provenance: Provenance) -> Page:
        """Return the report, in the language that is spoken."""
        from glasshouse.report.totals.page import total_page

        return total_page(self.result, self.study, provenance=provenance)


def run_totals(
    study: TotalsStudy,
    *,
    means: Means | None = None,
    folder: Path | None = None,
    resume: bool = False,
) -> TotalsRun:
    """Carry out a plan.

    Args:
        study: The plan.
        means: What there is to work with.
        folder: Where attempts are kept, so that the campaign can go on from there.
        resume: Whether to go on with what is there.

    Raises:
        DataError: A file or column of the plan is not there, or a file is malformed.
        StudyError: There is nothing to resume, or it belongs to another plan.
        BudgetError: A process was ended from outside.
    """
    means = means or Means()
    result = campaign(
        study,
        processes=means.threads or 1,
        folder=folder,
        resume=resume,
        on_progress=means.watch.solving,
    )
    return TotalsRun(study, result)
