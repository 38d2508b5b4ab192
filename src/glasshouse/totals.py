"""``totals`` from Python: who is behind each record, from de-identified records and published totals.

>>> import glasshouse as gh
>>> group = {
...     "packages_scaled": [[5], [7]],
...     "bins_lo_scaled": [[5], [7]],
...     "bins_hi_scaled": [[5], [7]],
... }
>>> gh.totals.solve(group).outcome.status
'unique'
"""

from __future__ import annotations

from collections.abc import Mapping
from os import PathLike
from pathlib import Path
from typing import Any

from glasshouse.progress import OnProgress
from glasshouse.reconstruction import CampaignResult, Instance, Solution, from_dict
from glasshouse.runs import Resources, Run
from glasshouse.runs import run as carry_out
from glasshouse.study import load_question
from glasshouse.study.totals import SolveStudy, TotalsStudy
from glasshouse.verbs import verb

__all__ = ["campaign", "solve"]


@verb()
def solve(
    instance: Instance | Mapping[str, Any] | str | PathLike[str],
    *,
    seconds: float = 60.0,
    memory: int = 2 << 30,
    on_progress: OnProgress | None = None,
) -> Run[SolveStudy, Solution]:
    """Tell in which places each record of one group can be, under every allocation that meets the totals.

    Args:
        instance: The group: records, totals, rounding; as an instance, its JSON form, or the path of such a file.
        seconds: CPU seconds; then a proved superset is told.
        memory: How many bytes lists may take.
        on_progress: Told how far it is.

    Raises:
        DataError: It is no instance.
    """
    path = Path(instance) if isinstance(instance, str | PathLike) else Path("instance.json")
    group = from_dict(instance) if isinstance(instance, Mapping) else instance
    keywords = {"instance": group} if isinstance(group, Instance) else {}
    study = SolveStudy(instance=path, seconds=seconds, memory=memory)
    resources = Resources(on_progress=on_progress)
    done: Run[Any, Any] = carry_out(study, resources=resources, **keywords)
    return done


@verb()
def campaign(
    study: TotalsStudy | str | PathLike[str],
    *,
    threads: int = 1,
    on_progress: OnProgress | None = None,
) -> Run[TotalsStudy, CampaignResult]:
    """Carry out a plan: join publications by their keys, solve every group, and price the damage.

    Args:
        study: The plan, or the path of its ``study.toml``.
        threads: How many processes make attempts. With more than one a script that calls this must be guarded by
            ``if __name__ == "__main__":``, since they are started anew.
        on_progress: Told how far it is.

    Raises:
        DataError: A file or column of the plan is not there, or a file is malformed.
        StudyError: It is no such plan.
        BudgetError: The processes cannot be started.
    """
    plan = study if isinstance(study, TotalsStudy) else load_question(Path(study), TotalsStudy)
    resources = Resources(on_progress=on_progress, threads=threads)
    done: Run[Any, Any] = carry_out(plan, resources=resources)
    return done
