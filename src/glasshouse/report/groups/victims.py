"""What an anonymised table tells about one victim, in sentences.

The report says how sure the attacker is of the likeliest value, in whole per cent, and not which value that is; the
terminal of the analyst names it.
"""

from __future__ import annotations

from collections.abc import Mapping

from glasshouse.groups.measures import TIE
from glasshouse.language import text
from glasshouse.report.grading import graded
from glasshouse.report.groups.outcome import Threatened
from glasshouse.report.groups.words import (
    factor,
    learner_name,
    plus_minus,
    price,
    ratio,
    remedy,
    secret_of,
    whole_percent,
)
from glasshouse.report.page import Finding, Severity
from glasshouse.report.words import percentage

NEARLY_CERTAIN = 0.99
"""From this probability on a belief about somebody counts as certain."""


def victim_belief(outcome: Threatened, *, exact: bool) -> Finding:
    """Say how sure the attacker is of the victim's likeliest value, and how sure the learner is of the same.

    Args:
        outcome: What came out.
        exact: Whether the value is named, for the analyst's own eyes.
    """
    told = outcome.knowledge.of(0)
    attacker, learner = told["attacker"], told[learner_name(outcome.study)]
    best = max(attacker, key=lambda value: attacker[value])
    times, error = outcome.relative_of(outcome.release.sensitive.code[best])
    parts = {
        "release": outcome.release.name,
        "secret": secret_of(outcome.release),
        "attacker": _said(attacker[best], exact=exact),
        "learner": _said(learner[best], exact=exact),
        "times": plus_minus(factor(times, 3 if exact else 2), error),
    }
    surer = times > 1 + TIE
    more = ratio(max(0.0, attacker[best] - learner[best]))
    grade = graded(more, certain=attacker[best] >= NEARLY_CERTAIN)
    return Finding(
        grade if surer else Severity.SAFE,
        _named_belief(parts, best, surer=surer) if exact else _unnamed_belief(parts, surer=surer),
        meaning=price(),
        remedy=remedy() if surer else "",
    )


def _said(probability: float, *, exact: bool) -> str:
    return percentage(ratio(probability)) if exact else whole_percent(probability)


def _named_belief(parts: Mapping[str, str], value: str, *, surer: bool) -> str:
    own = {name: part for name, part in parts.items() if name != "secret"}
    if surer:
        return text(
            "Of a victim known to be in {release} she believes “{value}” with a probability of {attacker}; of people "
            "like them in the population with {learner}: being in the table makes her {times} times as sure of it.",
            value=value,
            **own,
        )
    own.pop("times")
    return text(
        "Of a victim known to be in {release} she believes “{value}” with a probability of {attacker}; of people like "
        "them in the population with {learner}: being in the table makes her no surer of it.",
        value=value,
        **own,
    )


def _unnamed_belief(parts: Mapping[str, str], *, surer: bool) -> str:
    if surer:
        return text(
            "Of a victim known to be in {release} she believes the likeliest {secret} with a probability of "
            "{attacker}; of people like them in the population the same one with {learner}: being in the table makes "
            "her {times} times as sure of it.",
            **parts,
        )
    own = {name: part for name, part in parts.items() if name != "times"}
    return text(
        "Of a victim known to be in {release} she believes the likeliest {secret} with a probability of {attacker}; of "
        "people like them in the population the same one with {learner}: being in the table makes her no surer of it.",
        **own,
    )


def against_learner(outcome: Threatened) -> Finding:
    """Say whether she would name another value without knowing that the victim is in the table."""
    told = outcome.knowledge.of(0)
    attacker, learner = told["attacker"], told[learner_name(outcome.study)]
    best = max(attacker, key=lambda value: attacker[value])
    parts = {
        "release": outcome.release.name,
        "secret": secret_of(outcome.release),
    }
    if learner[best] >= max(learner.values()) - TIE:
        return Finding(
            Severity.SAFE,
            text(
                "Who only learns about the population from {release} would name the same {secret} for the victim.",
                **parts,
            ),
            meaning=text(
                "Which value it is can be guessed of anybody like them; being in the table changes only how sure the "
                "guess is."
            ),
        )
    return Finding(
        Severity.MODERATE,
        text(
            "Who only learns about the population from {release} would name another {secret} for the victim: it is "
            "being in the table that points at this one.",
            **parts,
        ),
        meaning=price(),
        remedy=remedy(),
    )
