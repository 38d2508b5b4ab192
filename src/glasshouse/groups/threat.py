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
from numpy.typing import NDArray

from glasshouse.errors import StudyError
from glasshouse.groups.beliefs import (
    Faithfulness,
    Knowledge,
    Points,
    draw_points,
    faithfulness,
    with_ideal,
)
from glasshouse.groups.enumeration import enumerated, number_of_tables
from glasshouse.groups.estimates import Sampled
from glasshouse.groups.measures import Measures, Reading, measure, thresholds_with
from glasshouse.groups.release import Release
from glasshouse.groups.sampler import OnState, SamplingBudget, sample
from glasshouse.groups.tree import closed_form
from glasshouse.groups.victims import (
    Known,
    Original,
    Victims,
    joined,
    victims_of,
    victims_of_rows,
    victims_of_table,
)
from glasshouse.language import text
from glasshouse.progress import OnProgress
from glasshouse.table import EncodedTable

FEW_TABLES = 5_000
"""Up to so many tables that a release allows, all are visited rather than sampled."""
FEW_PEOPLE = 10
"""Of so many of the people asked about every draw is kept."""
_SMALL_WORK = 20_000_000
"""And only if the tables times victims, rows and sensitive values are no more than this."""


@dataclass(frozen=True)
class Assessment:
    """What learner, attacker and random worlds believe, and how much the original's records are threatened."""

    knowledge: Knowledge
    """The beliefs about each victim; points of the population, if any were drawn, are behind them."""
    measures: Measures | None
    """The evaluator's measures; None: the original was not given."""
    sampled: Sampled | None
    """How the sampling went; None: nothing was sampled."""

    def to_dict(self) -> dict[str, Any]:
        """Return what holds for the table, in plain values; no victim is told."""
        release = self.knowledge.release
        return {
            "release": release.name,
            "scheme": release.scheme.value,
            "records": release.records,
            "groups": release.groups,
            "left_out": release.left_out,
            "method": self.knowledge.method,
            "measures": None if self.measures is None else self.measures.to_dict(),
            "sampling": None if self.sampled is None else self.sampled.to_dict(),
        }


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
) -> Assessment:
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
            text(
                "give an original table or people, not both; the original's records are its people"
            )
        )
    if not (exceeds > 0 and isfinite(exceeds)):
        raise StudyError(
            text(
                "a relative threat above {exceeds} is asked about; give a number above 0",
                exceeds=f"{exceeds:g}",
            )
        )
    reading = Reading.EXPECTATION_OF_RATIO if learner_mean else Reading.RATIO_OF_EXPECTATIONS
    chosen = _Sampling(
        budget or SamplingBudget(), reading, thresholds_with(exceeds), state, on_progress, on_state
    )
    if original is None:
        victims = victims_of_rows(release) if people is None else victims_of(release, people)
        if people is not None:
            chosen = replace(chosen, budget=_to_the_person(chosen.budget))
        traced = () if people is None else range(min(len(people), FEW_PEOPLE))
        knowledge, sampled = _known(release, victims, None, None, chosen, traced)
        return Assessment(knowledge, None, sampled)
    victims, truth = victims_of_table(release, original, in_order=in_order)
    seed = chosen.budget.seed
    drawn = draw_points(release, truth, count=points, seed=seed) if points else None
    everybody = victims if drawn is None else joined(victims, drawn.codes)
    knowledge, sampled = _known(release, everybody, truth, drawn, chosen)
    knowledge = with_ideal(knowledge, truth)
    measures = measure(
        knowledge,
        truth,
        reading=reading,
        faithfulness=None if drawn is None else _faithful(drawn, knowledge, sampled),
        exceeds=exceeds,
        sampled=sampled,
    )
    return Assessment(knowledge, measures, sampled)


@dataclass(frozen=True)
class _Sampling:
    """How to sample, where that is the only way."""

    budget: SamplingBudget
    reading: Reading
    thresholds: tuple[float, ...]
    state: Mapping[str, NDArray[np.generic]] | None
    on_progress: OnProgress | None
    on_state: OnState | None


def _known(
    release: Release,
    victims: Victims,
    original: Original | None,
    points: Points | None,
    sampling: _Sampling,
    traced: Sequence[int] = (),
) -> tuple[Knowledge, Sampled | None]:
    """Return what there is to know, by the best way that the release allows."""
    seed = sampling.budget.seed
    learner_mean = sampling.reading is Reading.EXPECTATION_OF_RATIO
    if release.is_laminar:
        knowledge = closed_form(
            release,
            victims,
            learner_mean=learner_mean,
            precision=sampling.budget.cell_precision,
            seed=seed,
        )
        return knowledge, None
    if _is_tiny(release, victims):
        return enumerated(release, victims, learner_mean=learner_mean), None
    sampled = sample(
        release,
        victims,
        budget=sampling.budget,
        original=original,
        points=points,
        thresholds=sampling.thresholds,
        traced=traced,
        learner_mean=learner_mean,
        reading=sampling.reading,
        state=sampling.state,
        on_progress=sampling.on_progress,
        on_state=sampling.on_state,
    )
    return sampled.knowledge, sampled


def _to_the_person(budget: SamplingBudget) -> SamplingBudget:
    """Return a budget by which what is believed of single people is as precise as a figure of the table."""
    return budget if budget.cell_precision else replace(budget, cell_precision=budget.precision)


def _is_tiny(release: Release, victims: Victims) -> bool:
    tables = number_of_tables(release) if release.records <= 100 else FEW_TABLES + 1
    people = int(np.count_nonzero(victims.in_table))
    cells = people * release.records * len(release.sensitive.values)
    return tables <= FEW_TABLES and tables * cells <= _SMALL_WORK


def _faithful(points: Points, knowledge: Knowledge, sampled: Sampled | None) -> Faithfulness:
    """Return faithfulness with the errors of the points and, where p_L was sampled, of the chains."""
    estimate = faithfulness(points, knowledge)
    if sampled is None:
        return estimate
    return estimate.with_chains(
        published=sampled.aggregate("rf").error, bounded=sampled.aggregate("rf_bounded").error
    )
