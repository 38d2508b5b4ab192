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

from collections.abc import Mapping, Sequence
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

__all__ = ["campaign", "merge", "solve"]


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
    time_limit: float | None = None,
    memory: int | None = None,
    on_progress: OnProgress | None = None,
) -> Run[TotalsStudy, CampaignResult]:
    """Carry out a plan: join publications by their keys, solve every group, and price the damage.

    Args:
        study: The plan, or the path of its ``study.toml``.
        threads: How many processes make attempts. With more than one a script that calls this must be guarded by
            ``if __name__ == "__main__":``, since they are started anew.
        time_limit: After so many seconds by the clock nothing more is begun, and what is open is told as open.
        memory: How many bytes all processes may take: there are fewer of them then.
        on_progress: Told how far it is.

    Raises:
        DataError: A file or column of the plan is not there, or a file is malformed.
        StudyError: It is no such plan.
        BudgetError: The processes cannot be started.
    """
    plan = study if isinstance(study, TotalsStudy) else load_question(Path(study), TotalsStudy)
    resources = Resources(
        on_progress=on_progress, threads=threads, memory=memory, time_limit=time_limit
    )
    done: Run[Any, Any] = carry_out(plan, resources=resources)
    return done


@verb()
def merge(
    study: TotalsStudy | str | PathLike[str],
    parts: Sequence[str | PathLike[str]],
    *,
    threads: int = 1,
    on_progress: OnProgress | None = None,
) -> Run[TotalsStudy, CampaignResult]:
    """Put the parts of a plan together: the same answer as `campaign` gives at one place.

    Args:
        study: The plan of the parts, or the path of its ``study.toml``.
        parts: The folder of every part, as `glasshouse.reconstruction.campaign_part` or ``--part`` has left it.
        threads: How many processes make attempts, if any is left to be made.
        on_progress: Told how far it is.

    Raises:
        DataError: A file or column of the plan is not there, or a file is malformed.
        StudyError: A part is missing, is not finished, or belongs to another plan or other data.
    """
    plan = study if isinstance(study, TotalsStudy) else load_question(Path(study), TotalsStudy)
    resources = Resources(on_progress=on_progress, threads=threads)
    folders = [Path(part) for part in parts]
    done: Run[Any, Any] = carry_out(plan, resources=resources, parts=folders)
    return done
