"""One run of ``threat``: what an anonymised table tells about a person, beyond the population."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from glasshouse.errors import StudyError
from glasshouse.groups import Release, SamplingBudget, ThreatOutcome, threat
from glasshouse.groups.sampler import least_budget
from glasshouse.language import text
from glasshouse.runs.checkpoint import Checkpoint
from glasshouse.runs.releases import read_original, read_release
from glasshouse.runs.runner import Means, run_key
from glasshouse.runs.store import STUDY, stored_release
from glasshouse.study import load_study, parse_condition
from glasshouse.study.threats import ThreatStudy
from glasshouse.table import EncodedTable

if TYPE_CHECKING:
    from glasshouse.report import Page, Provenance

POINTS = 2_000
"""At so many points of the population faithfulness is estimated."""
OPTIONS = {
    "precision": "--precision",
    "sweeps": "--sweeps",
    "seconds": "--time-limit",
    "chains": "--chains",
    "burn_in": "--burn-in",
    "threads": "--threads",
}
"""What the parts of a budget are called on the command line."""


@dataclass(frozen=True, kw_only=True)
class ThreatRun(ThreatOutcome):
    """A question about an anonymised table and its answer."""

    study: ThreatStudy
    """What was asked."""

    def to_page(self, provenance: Provenance) -> Page:
        """Return the report, in the language that is spoken."""
        from glasshouse.report.groups.page import threat_page

        return threat_page(self, provenance=provenance)


def study_of_folder(folder: Path) -> dict[str, Any]:
    """Return what a release that ``anonymise`` wrote is, as content of a study: its roles, and its original.

    Raises:
        DataError: The folder is not that of such a run.
    """
    stored = stored_release(folder)
    made = load_study(folder / STUDY)
    known = list(stored.quasi_identifiers)
    named = {} if made.protection is None else made.protection.hierarchies
    hierarchies = {name: path for name, path in named.items() if name in known}
    return {
        "release": {"path": stored.path, "name": folder.resolve().name},
        "original": made.datasets[0].model_dump(),
        "treatment": made.treatment.model_dump(),
        "identifier": made.adversary.identifier,
        "seed": made.seed,
        "quasi_identifiers": known,
        "sensitive": list(stored.sensitive),
        "group": stored.group,
        "shuffled": stored.shuffled,
        "in_order": True,
        "suppressed": stored.suppressed,
        "hierarchies": hierarchies,
        "suggested": [] if stored.group else [name for name in known if name not in hierarchies],
        "subject": made.subject,
    }


def checkpoint_key(study: ThreatStudy) -> str:
    """Return what the state of a sampler must agree with: how long it was to run may differ, and what is counted."""
    limits = {"precision": None, "sweeps": None, "seconds": None}
    sampling = study.sampling.model_copy(update=limits)
    return run_key(study.model_copy(update={"sampling": sampling, "exceeds": 2.0}))


def run_threat(
    study: ThreatStudy,
    *,
    means: Means | None = None,
    checkpoint: Checkpoint | None = None,
    resume: bool = False,
) -> ThreatRun:
    """Tell what learner and attacker believe of each person, exactly where that is possible.

    Args:
        study: What is asked.
        means: What there is to work with.
        checkpoint: Where the state of the sampler is kept.
        resume: Whether to go on from the state kept there.

    Raises:
        DataError: The data is malformed, or the original does not match the release.
        StudyError: The question does not fit the data.
        BudgetError: It does not fit the memory.
    """
    means = means or Means()
    budget = _budget(study, means)
    steps, table = read_original(study, on_progress=means.watch.reading)
    release = read_release(study, table)
    people, truth = _asked_about(study, release, table)
    kept = None if checkpoint is None else checkpoint.start_state(resume=resume)
    found = threat(
        release,
        truth,
        people=people,
        in_order=truth is not None
        and _is_in_order(release, truth, in_order=study.in_order or study.shuffled),
        learner_mean=study.reading == "6",
        points=POINTS,
        exceeds=study.exceeds,
        budget=budget,
        state=kept,
        on_progress=means.watch.sampling,
        on_state=None if checkpoint is None else checkpoint.save_state,
    )
    outcome = replace(found, suppressed=study.suppressed, steps=steps)
    return ThreatRun(
        **{field.name: getattr(outcome, field.name) for field in fields(outcome)}, study=study
    )


def _asked_about(
    study: ThreatStudy, release: Release, table: EncodedTable | None
) -> tuple[list[dict[str, str | Sequence[str]]] | None, EncodedTable | None]:
    """Return whom results are about: one victim, or everybody in the original; neither: everybody in the release."""
    if study.known:
        return [_victim(study, release)], None
    if table is None and not release.is_vertical:
        raise StudyError(
            text(
                "{release}: does not show people's values; give the original with --original FILE, or say what is "
                "known of one victim with --know COLUMN=VALUE",
                release=release.name,
            )
        )
    return None, table


def _victim(study: ThreatStudy, release: Release) -> dict[str, str | Sequence[str]]:
    """Return what is known of the victim, per attribute a value or some."""
    person: dict[str, str | Sequence[str]] = {}
    for known in study.known:
        condition = parse_condition(known)
        values = release.attribute(condition.column).values
        own = condition.values
        if condition.is_interval:
            own = tuple(value for value in values if condition.holds(value))
            if not own:
                raise StudyError(
                    text(
                        '--know "{known}": no value of the domain is in that interval', known=known
                    )
                )
        if condition.column in person:
            raise StudyError(
                text('--know is given twice for "{name}"; say it once', name=condition.column)
            )
        person[condition.column] = own[0] if len(own) == 1 else own
    return person


def _is_in_order(release: Release, table: EncodedTable, *, in_order: bool) -> bool:
    """Tell whether the records of the original are, one by one, the rows of the file that the release was read from."""
    kept = release.positions is not None
    return in_order and kept and table.records == release.records + release.left_out


def _budget(study: ThreatStudy, means: Means) -> SamplingBudget:
    """Return how long to sample.

    Raises:
        StudyError: A number makes no sense; the option is named.
    """
    given = {
        name: value for name, value in study.sampling.model_dump().items() if value is not None
    }
    given = {"seed": study.seed} | given
    if means.threads is not None:
        given["threads"] = means.threads
    least = least_budget()
    for name, option in OPTIONS.items():
        low = least.get(name)
        if name not in given:
            continue
        if low is not None and given[name] < low:
            raise StudyError(
                text(
                    "{option} is {given}; sampling needs at least {low}",
                    option=option,
                    given=str(given[name]),
                    low=str(low),
                )
            )
        if low is None and not given[name] > 0:
            raise StudyError(
                text(
                    "{option} is {given}; give a number above 0",
                    option=option,
                    given=f"{given[name]:g}",
                )
            )
    return replace(SamplingBudget(), **given)
