"""``totals``: who is behind each record, from published totals; one group, or a whole month."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from glasshouse.errors import DataError
from glasshouse.language import text
from glasshouse.reconstruction import (
    CampaignResult,
    Instance,
    Solution,
    campaign,
    from_json,
    merge,
    solve,
)
from glasshouse.runs.run import Resources, Run, in_memory
from glasshouse.sources.files import existing_file
from glasshouse.study.totals import SolveStudy, TotalsStudy

COUNTING = 0.4
"""The part of the time that counting the allocations of one group may take, in lists and in graphs each."""


def checkpoint_key(study: TotalsStudy | SolveStudy) -> str | None:
    """Return nothing to agree with: a campaign gives the attempts that it keeps a key of its own."""
    return "" if isinstance(study, TotalsStudy) else None


def answer(
    study: TotalsStudy | SolveStudy,
    *,
    resources: Resources,
    instance: Instance | None = None,
    parts: Sequence[Path] = (),
) -> Run[TotalsStudy, CampaignResult] | Run[SolveStudy, Solution]:
    """Carry out a plan, or solve one group.

    Args:
        study: What is asked.
        resources: What there is to work with.
        instance: The group, where it is in memory.
        parts: The folders of the parts of a plan, where it was carried out in parts.

    Raises:
        DataError: A file or column of the plan is not there, or a file is malformed.
        StudyError: There is nothing to resume, or it belongs to another plan.
        BudgetError: A process was ended from outside.
    """
    if isinstance(study, SolveStudy):
        group = _read(study.instance) if instance is None else instance
        solution = solve(
            group,
            seconds=study.seconds,
            memory=study.memory,
            counting=COUNTING,
            on_progress=resources.on_progress,
        )
        return Run(study, solution, provenance=in_memory() if instance is not None else None)
    outcome = _merged(study, parts, resources) if parts else _carried_out(study, resources)
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
    return Run(
        study,
        outcome,
        warnings=warnings,
        unfinished=""
        if outcome.complete
        else text(
            "note: the time limit was met before everything had its attempts; the same command with `resume` "
            "`overwrite` goes on from here"
        ),
    )


def _carried_out(study: TotalsStudy, resources: Resources) -> CampaignResult:
    kept = resources.checkpoint
    return campaign(
        study,
        processes=resources.threads or 1,
        folder=None if kept is None else kept.folder,
        resume=resources.resume,
        overwrite=kept is not None and kept.discards,
        time_limit=resources.time_limit,
        memory=resources.memory,
        on_progress=resources.on_progress,
    )


def _merged(study: TotalsStudy, parts: Sequence[Path], resources: Resources) -> CampaignResult:
    return merge(study, parts, processes=resources.threads or 1, on_progress=resources.on_progress)


def _read(path: Path) -> Instance:
    """Read an instance from its file."""
    try:
        return from_json(existing_file(path).read_text(encoding="utf-8"))
    except UnicodeDecodeError:
        raise DataError(
            "{file}: is not UTF-8 text; give an instance as JSON", file=path.name
        ) from None
