"""``totals campaign``: who is behind each record, from published totals."""

from __future__ import annotations

from glasshouse.language import text
from glasshouse.runs.run import Resources, Run
from glasshouse.study.totals import TotalsStudy
from glasshouse.totals import CampaignResult, campaign


def checkpoint_key(study: TotalsStudy) -> str:
    """Return nothing to agree with: a campaign gives the attempts that it keeps a key of its own."""
    return ""


def answer(study: TotalsStudy, *, resources: Resources) -> Run[TotalsStudy, CampaignResult]:
    """Carry out a plan.

    Raises:
        DataError: A file or column of the plan is not there, or a file is malformed.
        StudyError: There is nothing to resume, or it belongs to another plan.
        BudgetError: A process was ended from outside.
    """
    outcome = campaign(
        study,
        processes=resources.threads or 1,
        folder=None if resources.checkpoint is None else resources.checkpoint.folder,
        resume=resources.resume,
        on_progress=resources.on_progress,
    )
    # The examples of what is not as the plan says are keys of records: they are not among the warnings.
    warnings = tuple(
        text(
            "note: {where}: {kind}: {count}",
            where=trouble.where,
            kind=trouble.said,
            count=trouble.count,
        )
        for trouble in outcome.troubles
    )
    return Run(study, outcome, warnings=warnings)
