"""The whole question at once: what a release tells about people in it, beyond the population, and how that was found.

The way is chosen by the release: the closed form where labels are nested, complete enumeration where there are few
tables, and sampling otherwise.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from math import isfinite
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from glasshouse.errors import StudyError
from glasshouse.groups.beliefs import (
    ExactKnowledge,
    Faithfulness,
    Knowledge,
    Points,
    draw_points,
    faithfulness,
    finite,
    with_ideal,
)
from glasshouse.groups.enumeration import enumerated, enumerated_fractions, number_of_tables
from glasshouse.groups.estimates import Sampled
from glasshouse.groups.measures import Measures, Reading, measure, thresholds_with
from glasshouse.groups.release import Release
from glasshouse.groups.sampler import OnState, SamplingBudget, sample
from glasshouse.groups.tree import closed_form, closed_form_fractions
from glasshouse.groups.victims import (
    Known,
    Victims,
    joined,
    victims_of,
    victims_of_rows,
    victims_of_table,
)
from glasshouse.progress import OnProgress
from glasshouse.table import EncodedTable, Step

FEW_TABLES = 5_000
"""Up to so many tables that a release allows, all are visited rather than sampled."""
FEW_PEOPLE = 10
"""Of so many of the people asked about every draw is kept."""
FEW_RECORDS = 100
"""Up to so many records one victim is answered in exact ratios, where nothing had to be sampled."""
_SMALL_WORK = 20_000_000
"""And only if the tables times victims, rows and sensitive values are no more than this."""


@dataclass(frozen=True)
class ThreatOutcome:
    """What learner, attacker and random worlds believe, and how much the original's records are threatened."""

    knowledge: Knowledge
    """The beliefs about each victim; points of the population, if any were drawn, are behind them."""
    measures: Measures | None = None
    """How much the records of the original are threatened; None: the original was not given."""
    sampled: Sampled | None = None
    """How sure the sampler is; None: nothing was sampled."""
    exact: ExactKnowledge | None = None
    """The beliefs about one victim as exact ratios, where the table is small enough."""
    one_victim: bool = False
    """Whether one person was asked about: then what is believed of her is told."""
    reading: Reading = Reading.RATIO_OF_EXPECTATIONS
    """Which learner the attacker is compared with."""
    suppressed: int = 0
    """How many records are suppressed; they are in the release as one group more."""
    steps: tuple[Step, ...] = ()
    """What was left out of the original before it was protected."""

    @property
    def release(self) -> Release:
        """The table as published."""
        return self.knowledge.release

    @property
    def records(self) -> int:
        """The number of records of the release."""
        return self.release.records

    @property
    def groups(self) -> int:
        """The number of groups; suppressed records are none."""
        return self.release.groups - (self.suppressed > 0)

    @property
    def victims(self) -> int:
        """The number of different people that results are about."""
        return len(self.knowledge.victims) - self.points

    @property
    def points(self) -> int:
        """The number of points of the population behind the victims."""
        faithful = None if self.measures is None else self.measures.faithfulness
        return 0 if faithful is None else faithful.points

    def average(self, adversary: str) -> tuple[float, float | None]:
        """Return how sure an adversary is of the likeliest value, on average, and the error of that; None: exact."""
        return self.knowledge.mean_highest(adversary), self._worth(adversary).get("error")

    def relative_of(self, sensitive: int) -> tuple[float, float]:
        """Return the victim's relative threat for a sensitive value, and its error; not a number: it is exact."""
        if self.sampled is not None:
            ratios = self.sampled.ratios
            return float(ratios.values[sensitive]), float(ratios.errors[sensitive])
        mean = self.knowledge.learner_mean
        learner = self.knowledge.learner if mean is None else mean
        belief = float(learner.probabilities[0, sensitive])
        if not belief:
            return np.inf, float("nan") if learner.errors is None else np.inf
        ratio = float(self.knowledge.attacker.probabilities[0, sensitive]) / belief
        if learner.errors is None:
            return ratio, float("nan")
        return ratio, ratio * float(learner.errors[0, sensitive]) / belief

    def to_dict(self) -> dict[str, Any]:
        """Return everything that came out as plain values; beliefs about people only where one was asked about."""
        content: dict[str, Any] = {
            "release": self.release.name,
            "scheme": str(self.release.scheme),
            "records": self.release.records,
            "groups": self.groups,
            "suppressed": self.suppressed,
            "victims": self.victims,
            "method": self.knowledge.method,
        }
        if self.measures is not None:
            content["measures"] = self.measures.to_dict()
        if self.sampled is not None:
            content["sampling"] = self.sampled.to_dict()
        if self.measures is None and not self.one_victim:
            content["averages"] = {row.pop("adversary"): row for row in self._averages()}
        if self.one_victim:
            content["beliefs"] = self.knowledge.of(0)
            content["relative_threat"] = self._relative()
            if self.sampled is not None:
                content["uncertainty"] = self._uncertainty()
        if self.exact is not None:
            victim = self.exact.to_dict()["victims"][0]
            content["exact"] = {name: victim[name] for name in ("attacker", "learner")}
        return content

    def to_frame(self) -> pa.Table:
        """Return one row per adversary; where one person was asked about, one row per sensitive value."""
        if self.one_victim:
            frame = self.knowledge.to_frame()
            rows = self._relative().values()
            for name in ("ratio", "error"):
                column = pa.array([row[name] for row in rows], pa.float64())
                frame = frame.append_column(f"relative_threat_{name}", column)
            return frame
        if self.measures is not None:
            return self.measures.to_frame()
        return pa.Table.from_pylist(self._averages())

    def _uncertainty(self) -> dict[str, dict[str, dict[str, float | None]]]:
        """Return per adversary the Monte-Carlo error, R-hat and effective draws of each belief about the victim."""
        values = self.release.sensitive.values
        content = {}
        for name, beliefs in self.knowledge.beliefs().items():
            arrays = {"error": beliefs.errors, "rhat": beliefs.rhat, "ess": beliefs.ess}
            content[name] = {
                what: dict(zip(values, map(finite, array[0].tolist()), strict=True))
                for what, array in arrays.items()
                if array is not None
            }
        return {name: worth for name, worth in content.items() if worth}

    def _relative(self) -> dict[str, dict[str, float | None]]:
        """Return, per sensitive value, how many times surer the attacker is, and the error of that; None: exact."""
        content = {}
        for place, value in enumerate(self.release.sensitive.values):
            ratio, error = self.relative_of(place)
            content[value] = {"ratio": finite(ratio), "error": finite(error)}
        return content

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

    def _worth(self, adversary: str) -> dict[str, float | None]:
        """Return error, R-hat and effective draws of an adversary's mean greatest belief; None: it is exact."""
        if self.sampled is None:
            return {}
        by_ratio = self.reading is Reading.RATIO_OF_EXPECTATIONS
        compared = "learner" if by_ratio else "learner_mean"
        name = "learner" if adversary == compared else adversary
        names = [aggregate.name for aggregate in self.sampled.aggregates]
        if adversary not in ("attacker", compared) or f"{name}_success" not in names:
            return dict.fromkeys(("error", "rhat", "ess"))
        aggregate = self.sampled.aggregate(f"{name}_success").to_dict()
        return {what: aggregate[what] for what in ("error", "rhat", "ess")}


def threat(
    release: Release,
    original: EncodedTable | None = None,
    *,
    people: Sequence[Mapping[str, Known]] | None = None,
    in_order: bool = False,
    learner_mean: bool = False,
    points: int = 10_000,
    exceeds: float = 2.0,
    budget: SamplingBudget | None = None,
    state: Mapping[str, NDArray[np.generic]] | None = None,
    on_progress: OnProgress | None = None,
    on_state: OnState | None = None,
) -> ThreatOutcome:
    """Assess what a release tells about people in it, beyond what it teaches about the population.

    Args:
        release: The anonymised table.
        original: The cleartext table; with it everybody in it is assessed, and the evaluator's measures are computed.
        people: What is known of some victims, fully or in part, instead. Without either, the rows of a vertical
            release.
        in_order: Whether the original's records are in the order of the release.
        learner_mean: Whether the learner is taken by reading (6), the expectation of the ratio, in the measures too.
        points: At how many points of the population faithfulness is estimated; 0: it is not. With an original only.
        exceeds: The relative threat that is asked about: of which share of the records it is exceeded.
        budget: For what precision, and how long, to sample where sampling is the only way; its seed draws the points.
        state: Where the sampling of an earlier run with the same question was left.
        on_progress: Told how the sampling goes.
        on_state: Given the state of the sampling from time to time, to be stored.

    Raises:
        DataError: The original does not match the release, or a victim is incompatible with every group.
        StudyError: Both an original and people are given, or neither for a horizontal release; or no threat can be
            above what is asked about.

    >>> from glasshouse.groups.release_json import from_json
    >>> release = from_json({"attributes": [{"name": "city", "values": ["Lyon", "Nice", "Bonn"]}],
    ...     "sensitive": {"name": "illness"},
    ...     "groups": [{"sensitive": ["flu", "HIV"], "generalised": [["Lyon", "Nice"]]},
    ...                {"sensitive": ["flu"], "generalised": ["Lyon"]}]})
    >>> found = threat(release, people=[{"city": "Nice"}])
    >>> found.knowledge.method, {s: round(p, 3) for s, p in found.knowledge.of(0)["attacker"].items()}
    ('closed form', {'HIV': 0.6, 'flu': 0.4})
    """
    if original is not None and people is not None:
        raise StudyError(
            "give an original table or people, not both; the original's records are its people"
        )
    if not (exceeds > 0 and isfinite(exceeds)):
        raise StudyError(
            "a relative threat above {exceeds} is asked about; give a number above 0",
            exceeds=f"{exceeds:g}",
        )
    reading = Reading.EXPECTATION_OF_RATIO if learner_mean else Reading.RATIO_OF_EXPECTATIONS
    budget = budget or SamplingBudget()
    # Whom it is about.
    truth, drawn, traced = None, None, range(0)
    if original is not None:
        victims, truth = victims_of_table(release, original, in_order=in_order)
        if points:
            drawn = draw_points(release, truth, count=points, seed=budget.seed)
            victims = joined(victims, drawn.codes)
    elif people is not None:
        victims = victims_of(release, people)
        # What is believed of single people shall be as precise as a figure of the table.
        budget = replace(budget, cell_precision=budget.cell_precision or budget.precision)
        traced = range(min(len(people), FEW_PEOPLE))
    else:
        victims = victims_of_rows(release)
    # What is believed of them, by the best way that the release allows.
    sampled = None
    if release.is_laminar:
        knowledge = closed_form(
            release,
            victims,
            learner_mean=learner_mean,
            precision=budget.cell_precision,
            seed=budget.seed,
        )
    elif _is_tiny(release, victims):
        knowledge = enumerated(release, victims, learner_mean=learner_mean)
    else:
        sampled = sample(
            release,
            victims,
            budget=budget,
            original=truth,
            points=drawn,
            thresholds=thresholds_with(exceeds),
            traced=traced,
            learner_mean=learner_mean,
            reading=reading,
            state=state,
            on_progress=on_progress,
            on_state=on_state,
        )
        knowledge = sampled.knowledge
    if truth is None:
        one_victim = people is not None and len(people) == 1
        exact = _exact(knowledge) if one_victim else None
        return ThreatOutcome(knowledge, None, sampled, exact, one_victim, reading)
    # How much the records of the original are threatened by that.
    knowledge = with_ideal(knowledge, truth)
    measures = measure(
        knowledge,
        truth,
        reading=reading,
        faithfulness=None if drawn is None else _faithful(drawn, knowledge, sampled),
        exceeds=exceeds,
        sampled=sampled,
    )
    return ThreatOutcome(knowledge, measures, sampled, reading=reading)


def _is_tiny(release: Release, victims: Victims) -> bool:
    tables = number_of_tables(release) if release.records <= FEW_RECORDS else FEW_TABLES + 1
    people = int(np.count_nonzero(victims.in_table))
    cells = people * release.records * len(release.sensitive.values)
    return tables <= FEW_TABLES and tables * cells <= _SMALL_WORK


def _exact(knowledge: Knowledge) -> ExactKnowledge | None:
    """Return the beliefs about one victim as exact ratios, where that takes no time and they are exact anyway."""
    release, victims = knowledge.release, knowledge.victims
    if not knowledge.is_exact or release.records > FEW_RECORDS:
        return None
    if release.is_laminar:
        return closed_form_fractions(release, victims)
    return enumerated_fractions(release, victims)


def _faithful(points: Points, knowledge: Knowledge, sampled: Sampled | None) -> Faithfulness:
    """Return faithfulness with the errors of the points and, where p_L was sampled, of the chains."""
    estimate = faithfulness(points, knowledge)
    if sampled is None:
        return estimate
    return estimate.with_chains(
        published=sampled.aggregate("rf").error, bounded=sampled.aggregate("rf_bounded").error
    )
