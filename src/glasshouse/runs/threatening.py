"""One run of ``threat``: what an anonymised table tells about a person, beyond the population."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from glasshouse.errors import StudyError
from glasshouse.groups import (
    ExactKnowledge,
    Knowledge,
    Measures,
    Release,
    Sampled,
    SamplingBudget,
    closed_form_fractions,
    enumerated_fractions,
    threat,
)
from glasshouse.groups.sampler import least_budget
from glasshouse.language import text
from glasshouse.runs.checkpoint import Checkpoint
from glasshouse.runs.releases import read_original, read_release
from glasshouse.runs.runner import Means, run_key
from glasshouse.runs.store import STUDY, stored_release
from glasshouse.study import load_study, parse_condition
from glasshouse.study.threats import ThreatStudy
from glasshouse.table import EncodedTable, Step

if TYPE_CHECKING:
    from glasshouse.report import Page, Provenance

POINTS = 2_000
"""At so many points of the population faithfulness is estimated."""
FEW_RECORDS = 100
"""Up to so many records one victim is answered in exact ratios, where nothing had to be sampled."""
OPTIONS = {
    "precision": "--precision",
    "sweeps": "--sweeps",
    "seconds": "--time-limit",
    "chains": "--chains",
    "burn_in": "--burn-in",
    "threads": "--threads",
}
"""What the parts of a budget are called on the command line."""


@dataclass(frozen=True)
class ThreatRun:
    """A question about an anonymised table and its answer."""

    study: ThreatStudy
    """What was asked."""
    release: Release
    """The table as published."""
    knowledge: Knowledge
    """What each adversary believes about each victim."""
    measures: Measures | None
    """How much the records of the original are threatened; None where there is no original."""
    sampled: Sampled | None
    """How sure the sampler is; None: nothing was sampled."""
    exact: ExactKnowledge | None
    """The beliefs about one victim as exact ratios, where the table is small enough."""
    steps: tuple[Step, ...] = ()
    """What was left out of the original before it was protected."""

    @property
    def records(self) -> int:
        """The number of records of the release."""
        return self.release.records

    @property
    def groups(self) -> int:
        """The number of groups; suppressed records are none."""
        return self.release.groups - (self.study.suppressed > 0)

    @property
    def victims(self) -> int:
        """The number of different people that results are about."""
        return len(self.knowledge.victims) - self.points

    @property
    def points(self) -> int:
        """The number of points of the population behind the victims."""
        faithful = None if self.measures is None else self.measures.faithfulness
        return 0 if faithful is None else faithful.points

    def to_dict(self) -> dict[str, Any]:
        """Return everything that came out as plain values; beliefs about people only where one was asked about."""
        content: dict[str, Any] = {
            "release": self.release.name,
            "scheme": str(self.release.scheme),
            "records": self.release.records,
            "groups": self.groups,
            "suppressed": self.study.suppressed,
            "victims": self.victims,
            "method": self.knowledge.method,
        }
        if self.measures is not None:
            content["measures"] = self.measures.to_dict()
        if self.sampled is not None:
            content["sampling"] = self.sampled.to_dict()
        if self.measures is None and not self.study.known:
            content["averages"] = {own.pop("adversary"): own for own in self._averages()}
        if self.study.known:
            content["beliefs"] = self.knowledge.of(0)
            content["relative_threat"] = self._relative()
            if self.sampled is not None:
                content["uncertainty"] = self._uncertainty()
        if self.exact is not None:
            content["exact"] = {
                "attacker": self._ratios(self.exact.attacker[0]),
                "learner": self._ratios(self.exact.learner[0]),
            }
        return content

    def _uncertainty(self) -> dict[str, dict[str, dict[str, float | None]]]:
        """Return per adversary the Monte-Carlo error, R-hat and effective draws of each belief about the victim."""
        values = self.release.sensitive.values
        told = {}
        for name, own in self.knowledge.beliefs().items():
            arrays = {"error": own.errors, "rhat": own.rhat, "ess": own.ess}
            told[name] = {
                what: dict(zip(values, _finite(array[0]), strict=True))
                for what, array in arrays.items()
                if array is not None
            }
        return {name: own for name, own in told.items() if own}

    def _relative(self) -> dict[str, dict[str, float | None]]:
        """Return, per sensitive value, how many times surer the attacker is, and the error of that; None: exact."""
        told = {}
        for place, value in enumerate(self.release.sensitive.values):
            ratio, error = self.relative_of(place)
            told[value] = {"ratio": _finite_number(ratio), "error": _finite_number(error)}
        return told

    def relative_of(self, sensitive: int) -> tuple[float, float]:
        """Return the victim's relative threat for a sensitive value, and its error; not a number: it is exact."""
        if self.sampled is not None:
            own = self.sampled.ratios
            return float(own.values[sensitive]), float(own.errors[sensitive])
        mean = self.knowledge.learner_mean
        learner = self.knowledge.learner if mean is None else mean
        belief = float(learner.probabilities[0, sensitive])
        ratio = (
            float(self.knowledge.attacker.probabilities[0, sensitive]) / belief
            if belief
            else np.inf
        )
        if learner.errors is None:
            return ratio, float("nan")
        return ratio, ratio * float(learner.errors[0, sensitive]) / belief if belief else np.inf

    def _ratios(self, row: tuple[Fraction, ...]) -> dict[str, str]:
        return dict(zip(self.release.sensitive.values, map(str, row), strict=True))

    def summary(self) -> dict[str, float | None]:
        """Return the main figures of the table; none where one person was asked about, or there is no original."""
        if self.measures is None or self.study.known:
            return {}
        own = self.measures
        return {
            "attacker": float(own.attacker.share_at_random),
            "learner": float(own.learner.share_at_random),
            "baseline": float(own.baseline),
            "relative_global_threat": own.relative_global_threat,
            "share_twice": float(own.share_above(2.0, threatened=False)),
        }

    def to_frame(self) -> pa.Table:
        """Return one row per adversary; where one person was asked about, one row per sensitive value."""
        if self.measures is not None and not self.study.known:
            return self.measures.to_frame()
        if self.study.known:
            return self._with_relative(self.knowledge.to_frame())
        return pa.Table.from_pylist(self._averages())

    def _averages(self) -> list[dict[str, Any]]:
        """Return how sure each adversary is of the likeliest value, on average over the people of the release."""
        return [
            {
                "adversary": name,
                "mean_highest": self.knowledge.mean_highest(name),
                **self._worth(name),
            }
            for name in self.knowledge.beliefs()
        ]

    def average(self, adversary: str) -> tuple[float, float | None]:
        """Return how sure an adversary is of the likeliest value, on average, and the error of that; None: exact."""
        return self.knowledge.mean_highest(adversary), self._worth(adversary).get("error")

    def _with_relative(self, frame: pa.Table) -> pa.Table:
        """Return the beliefs about the victim with the relative threat beside them."""
        told = self._relative().values()
        for name in ("ratio", "error"):
            column = pa.array([own[name] for own in told], pa.float64())
            frame = frame.append_column(f"relative_threat_{name}", column)
        return frame

    def _worth(self, adversary: str) -> dict[str, float | None]:
        """Return error, R-hat and effective draws of an adversary's mean greatest belief; None: it is exact."""
        if self.sampled is None:
            return {}
        compared = "learner" if self.study.reading == "5" else "learner_mean"
        name = "learner" if adversary == compared else adversary
        names = [own.name for own in self.sampled.aggregates]
        if adversary not in ("attacker", compared) or f"{name}_success" not in names:
            return dict.fromkeys(("error", "rhat", "ess"))
        own = self.sampled.aggregate(f"{name}_success").to_dict()
        return {what: own[what] for what in ("error", "rhat", "ess")}

    def to_page(self, provenance: Provenance) -> Page:
        """Return the report, in the language that is spoken."""
        from glasshouse.report.groups.page import threat_page

        return threat_page(self, provenance=provenance)


def _finite(row: NDArray[np.float64]) -> list[float | None]:
    return [float(each) if np.isfinite(each) else None for each in row]


def _finite_number(value: float) -> float | None:
    return value if np.isfinite(value) else None


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
    return ThreatRun(
        study=study,
        release=release,
        knowledge=found.knowledge,
        measures=found.measures,
        sampled=found.sampled,
        exact=_exact(study, found.knowledge),
        steps=steps,
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


def _exact(study: ThreatStudy, knowledge: Knowledge) -> ExactKnowledge | None:
    """Return the beliefs about one victim as exact ratios, where that takes no time and they are exact anyway."""
    release, victims = knowledge.release, knowledge.victims
    if not study.known or not knowledge.is_exact or release.records > FEW_RECORDS:
        return None
    if release.is_laminar:
        return closed_form_fractions(release, victims)
    return enumerated_fractions(release, victims)
