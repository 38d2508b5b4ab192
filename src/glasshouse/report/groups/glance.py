"""Results about anonymised tables at a glance, where there is no study that asked for them."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from glasshouse.groups import (
    ExactKnowledge,
    Faithfulness,
    Knowledge,
    Measures,
    Reading,
    Release,
    Sampled,
    Threat,
    ThreatOutcome,
)
from glasshouse.language import number, text
from glasshouse.report.glance import NOWHERE, glance, note
from glasshouse.report.grading import graded
from glasshouse.report.groups.page import measure_figures, threat_page
from glasshouse.report.groups.words import plus_minus, price, ratio, remedy
from glasshouse.report.page import Finding, Page, Severity
from glasshouse.report.words import counted, frequency, percentage, share
from glasshouse.study import Dataset
from glasshouse.study.threats import ThreatStudy
from glasshouse.table import Step


@dataclass(frozen=True)
class _Asked:
    """An assessment as a run would tell it."""

    outcome: ThreatOutcome
    subject: str
    steps: tuple[Step, ...] = field(default=())

    @cached_property
    def study(self) -> ThreatStudy:
        measures = self.outcome.measures
        by_mean = measures is not None and measures.reading is Reading.EXPECTATION_OF_RATIO
        return ThreatStudy(
            release=Dataset(path=Path(self.release.name)),
            subject=self.subject,
            reading="6" if by_mean else "5",
        )

    @property
    def release(self) -> Release:
        return self.outcome.knowledge.release

    @property
    def groups(self) -> int:
        return self.release.groups

    @property
    def knowledge(self) -> Knowledge:
        return self.outcome.knowledge

    @property
    def measures(self) -> Measures | None:
        return self.outcome.measures

    @property
    def sampled(self) -> Sampled | None:
        return self.outcome.sampled

    def average(self, adversary: str) -> tuple[float, float | None]:
        """Return how sure an adversary is of the likeliest value, on average, and the error of that; None: exact."""
        known = () if self.sampled is None else self.sampled.aggregates
        errors = [own.error for own in known if own.name == f"{adversary}_success"]
        return self.knowledge.mean_highest(adversary), next(iter(errors), None)

    def relative_of(self, sensitive: int) -> tuple[float, float]:
        attacker, learner = (
            float(own.probabilities[0, sensitive])
            for own in (self.knowledge.attacker, self.knowledge.learner)
        )
        return attacker / learner, float("nan")

    def to_dict(self) -> dict[str, Any]:
        return self.outcome.to_dict()


def threat_glance(outcome: ThreatOutcome, *, subject: str) -> Page:
    """Return what a release tells about people in it, beyond the population."""
    return threat_page(_Asked(outcome, subject), provenance=NOWHERE)


def knowledge_page(knowledge: Knowledge, *, subject: str) -> Page:
    """Return how sure attacker and learner are on average."""
    return threat_glance(ThreatOutcome(knowledge, None, None), subject=subject)


def exact_knowledge_page(knowledge: ExactKnowledge, *, subject: str) -> Page:
    """Return the same of beliefs in fractions."""
    return knowledge_page(knowledge.to_knowledge(), subject=subject)


def sampled_page(sampled: Sampled, *, subject: str) -> Page:
    """Return the same of sampled beliefs, and how well they are known."""
    return threat_glance(ThreatOutcome(sampled.knowledge, None, sampled), subject=subject)


def measures_page(measures: Measures, *, subject: str) -> Page:
    """Return how much the records of the original are threatened."""
    attacker, learner = measures.attacker.share_at_random, measures.learner.share_at_random
    more = attacker > learner
    parts = {
        "release": measures.release,
        "people": counted(measures.records, subject),
        "attacker": frequency(ratio(attacker)),
        "learner": frequency(ratio(learner)),
        "baseline": frequency(measures.baseline),
    }
    found = [
        Finding(
            graded(ratio(attacker - learner)) if more else Severity.SAFE,
            text(
                "Of {people} in {release}, somebody who knows that they are in it guesses the sensitive value right "
                "for {attacker}; somebody who only learns about the population, for {learner}; always saying the most "
                "frequent value is right for {baseline}.",
                **parts,
            ),
            meaning=price(),
            remedy=remedy() if more else "",
        )
    ]
    above = measures.share_above(measures.exceeds)
    found.append(
        Finding(
            graded(ratio(float(above))) if above else Severity.SAFE,
            text(
                "There is nobody whose truth the attacker would name and of which she is more than {limit} times as "
                "sure as about the population.",
                limit=number(measures.exceeds, "g"),
            )
            if not above
            else text(
                "For {share} of them the attacker would name the truth, and is more than {limit} times as sure of it "
                "as about the population.",
                share=percentage(ratio(float(above))),
                limit=number(measures.exceeds, "g"),
            ),
        )
    )
    if measures.faithfulness is not None:
        found.append(_faithful(measures.faithfulness))
    return glance(found, measure_figures(measures))


def _faithful(own: Faithfulness) -> Finding:
    return note(
        text(
            "What can be learned about the population from the release is {bounded} faithful to what the original "
            "would teach (1 is the same), estimated at {points} points.",
            bounded=plus_minus(number(own.bounded, ".3f"), own.bounded_error),
            points=own.points,
        )
    )


def faithfulness_page(faithfulness: Faithfulness) -> Page:
    """Return how faithful a release is to its original."""
    return glance([_faithful(faithfulness)])


def threatened_page(threat: Threat, *, subject: str) -> Page:
    """Return how many records one adversary threatens."""
    threatened = int(np.count_nonzero(threat.threatened))
    people = counted(threat.records, subject)
    return glance(
        [
            Finding(
                graded(threat.share) if threatened else Severity.SAFE,
                text(
                    "Of {people}, {threatened} ({share}) are threatened: no other value seems more probable to the "
                    "adversary than the true one; a guess is right for {frequency}.",
                    people=people,
                    threatened=threatened,
                    share=share(threatened, threat.records),
                    frequency=frequency(ratio(threat.share_at_random)),
                ),
            )
        ]
    )
