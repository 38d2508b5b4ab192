"""What an anonymised table tells about one victim, in sentences.

The report says how sure the attacker is of the likeliest value, in whole per cent, and not which value that is; the
terminal of the analyst names it. Where several values are equally likely none is singled out, and of what was sampled a
difference is claimed only where it is beyond the Monte-Carlo errors.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import isnan

import numpy as np

from glasshouse.groups import Beliefs
from glasshouse.groups.measures import TIE
from glasshouse.language import text
from glasshouse.report.grading import graded
from glasshouse.report.page import Finding, Severity
from glasshouse.report.threat.outcome import Threatened
from glasshouse.report.threat.words import (
    factor,
    learner_name,
    plus_minus,
    price,
    ratio,
    remedy,
    secret_of,
    value_text,
    whole_percent,
)
from glasshouse.report.words import enumeration, percentage

NEARLY_CERTAIN = 0.99
"""From this probability on a belief about somebody counts as certain."""
SURE = 2.0
"""A difference is claimed if it is more than so many Monte-Carlo errors."""
MOST_NAMED = 5
"""Up to so many values that are equally likely are named."""


def likeliest(beliefs: Beliefs) -> list[int]:
    """Return the sensitive values that may be the victim's likeliest: all of equal probability, but for the errors.

    How the errors of two beliefs hang together is not known; their sum is the error of the difference at most.
    """
    own = beliefs.probabilities[0]
    best = int(np.argmax(own))
    margin = np.full(len(own), TIE * own[best])
    if beliefs.errors is not None:
        errors = np.nan_to_num(beliefs.errors[0])
        margin += SURE * (errors + errors[best])
    margin[best] = 0.0
    order = np.argsort(-own, kind="stable")
    return [int(place) for place in order if own[best] - own[place] <= margin[place]]


def victim_belief(outcome: Threatened, *, exact: bool) -> Finding:
    """Say how sure the attacker is of the victim's likeliest value, and how sure the learner is of the same.

    Args:
        outcome: What came out.
        exact: Whether the value is named, for the analyst's own eyes.
    """
    told = outcome.knowledge.beliefs()
    attacker, learner = (
        told[name].probabilities[0] for name in ("attacker", learner_name(outcome.study))
    )
    places = likeliest(told["attacker"])
    if not told["attacker"].is_exact:
        places = places[:1]
    times, error = max(map(outcome.relative_of, places), key=lambda each: each[0])
    beyond = 0.0 if isnan(error) else SURE * error
    parts = {
        "release": outcome.release.name,
        "attacker": _said(attacker[places[0]], exact=exact),
        "learner": _span([float(learner[place]) for place in places], exact=exact),
    }
    surer, unknown = times - beyond > 1 + TIE, beyond > 0 and abs(times - 1) <= beyond
    if surer:
        parts["times"] = plus_minus(factor(times, 3 if exact else 2), error)
    more = max(0.0, *(float(attacker[place] - learner[place]) for place in places))
    grade = graded(ratio(more), certain=attacker[places[0]] >= NEARLY_CERTAIN)
    values = [outcome.release.sensitive.values[place] for place in places]
    if len(places) > 1:
        sentence = _tied(parts, values, secret_of(outcome.release), named=exact)
    elif exact:
        sentence = _named_belief(parts, value_text(values[0]), unknown=unknown)
    else:
        sentence = _unnamed_belief(parts, secret_of(outcome.release), unknown=unknown)
    return Finding(
        grade if surer else Severity.NOTE if unknown else Severity.SAFE,
        sentence,
        meaning=price(),
        remedy=remedy() if surer else "",
    )


def _said(probability: float, *, exact: bool) -> str:
    return percentage(ratio(probability)) if exact else whole_percent(probability)


def _span(probabilities: Sequence[float], *, exact: bool) -> str:
    low, high = (_said(own, exact=exact) for own in (min(probabilities), max(probabilities)))
    return low if low == high else text("{low} to {high}", low=low, high=high)


def _tied(parts: Mapping[str, str], values: Sequence[str], secret: str, *, named: bool) -> str:
    """Say what is believed where several values are equally likely."""
    if named and len(values) <= MOST_NAMED:
        named_values = enumeration([f"“{value_text(value)}”" for value in values])
        if "times" in parts:
            return text(
                "Of a victim known to be in {release} she finds {values} equally likely, with a probability of "
                "{attacker} each; of people like them in the population these have {learner}: being in the table makes "
                "her up to {times} times as sure of one of them, and does not tell which it is.",
                values=named_values,
                **parts,
            )
        return text(
            "Of a victim known to be in {release} she finds {values} equally likely, with a probability of {attacker} "
            "each; of people like them in the population these have {learner}: being in the table makes her no surer "
            "of any of them.",
            values=named_values,
            **parts,
        )
    own = {"count": len(values), "secret": secret}
    if "times" in parts:
        return text(
            "Of a victim known to be in {release} she finds {count} values of {secret} equally likely, with a "
            "probability of {attacker} each; of people like them in the population these have {learner}: being in the "
            "table makes her up to {times} times as sure of one of them, and does not tell which it is.",
            **own,
            **parts,
        )
    return text(
        "Of a victim known to be in {release} she finds {count} values of {secret} equally likely, with a probability "
        "of {attacker} each; of people like them in the population these have {learner}: being in the table makes her "
        "no surer of any of them.",
        **own,
        **parts,
    )


def _named_belief(parts: Mapping[str, str], value: str, *, unknown: bool) -> str:
    if "times" in parts:
        return text(
            "Of a victim known to be in {release} she believes “{value}” with a probability of {attacker}; of people "
            "like them in the population with {learner}: being in the table makes her {times} times as sure of it.",
            value=value,
            **parts,
        )
    if unknown:
        return text(
            "Of a victim known to be in {release} she believes “{value}” with a probability of {attacker}; of people "
            "like them in the population with {learner}: the difference is within the Monte-Carlo error, and whether "
            "being in the table makes her surer of it cannot be told.",
            value=value,
            **parts,
        )
    return text(
        "Of a victim known to be in {release} she believes “{value}” with a probability of {attacker}; of people like "
        "them in the population with {learner}: being in the table makes her no surer of it.",
        value=value,
        **parts,
    )


def _unnamed_belief(parts: Mapping[str, str], secret: str, *, unknown: bool) -> str:
    if "times" in parts:
        return text(
            "Of a victim known to be in {release} she believes the likeliest {secret} with a probability of "
            "{attacker}; of people like them in the population the same one with {learner}: being in the table makes "
            "her {times} times as sure of it.",
            secret=secret,
            **parts,
        )
    if unknown:
        return text(
            "Of a victim known to be in {release} she believes the likeliest {secret} with a probability of "
            "{attacker}; of people like them in the population the same one with {learner}: the difference is within "
            "the Monte-Carlo error, and whether being in the table makes her surer of it cannot be told.",
            secret=secret,
            **parts,
        )
    return text(
        "Of a victim known to be in {release} she believes the likeliest {secret} with a probability of {attacker}; of "
        "people like them in the population the same one with {learner}: being in the table makes her no surer of it.",
        secret=secret,
        **parts,
    )


def against_learner(outcome: Threatened) -> Finding:
    """Say whether she would name another value without knowing that the victim is in the table."""
    told = outcome.knowledge.beliefs()
    attacker, learner = told["attacker"], told[learner_name(outcome.study)]
    hers, others = likeliest(attacker), likeliest(learner)
    parts = {"release": outcome.release.name, "secret": secret_of(outcome.release)}
    sampled = [own for own, places in ((attacker, hers), (learner, others)) if len(places) > 1]
    if any(not own.is_exact for own in sampled) and set(hers) & set(others):
        return Finding(
            Severity.NOTE,
            text(
                "Whether who only learns about the population from {release} would name another {secret} for the "
                "victim cannot be told: the likeliest ones are within the Monte-Carlo error of each other.",
                **parts,
            ),
        )
    if len(hers) > 1:
        return _points_at_none(parts, hers, others)
    if others == hers:
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
        _points_at_one(parts, others, among=hers[0] in others),
        meaning=price(),
        remedy=remedy(),
    )


def _points_at_one(parts: Mapping[str, str], others: Sequence[int], *, among: bool) -> str:
    if among:
        return text(
            "Who only learns about the population from {release} finds {count} values of {secret} equally likely for "
            "the victim, this one among them: it is being in the table that decides between them.",
            count=len(others),
            **parts,
        )
    return text(
        "Who only learns about the population from {release} would name another {secret} for the victim: it is "
        "being in the table that points at this one.",
        **parts,
    )


def _points_at_none(
    parts: Mapping[str, str], hers: Sequence[int], others: Sequence[int]
) -> Finding:
    """Say what the learner would name where the attacker finds several values equally likely."""
    count = len(hers)
    if set(others) == set(hers):
        return Finding(
            Severity.SAFE,
            text(
                "Being in {release} points at no single {secret} of the victim: who only learns about the population "
                "finds the same {count} equally likely.",
                count=count,
                **parts,
            ),
        )
    if set(others) <= set(hers):
        return Finding(
            Severity.SAFE,
            text(
                "Being in {release} points at no single {secret} of the victim: {count} are equally likely, and who "
                "only learns about the population would name one of these.",
                count=count,
                **parts,
            ),
        )
    if set(others) & set(hers):
        return Finding(
            Severity.SAFE,
            text(
                "Being in {release} points at no single {secret} of the victim: {count} are equally likely, and who "
                "only learns about the population might name one of these, or another.",
                count=count,
                **parts,
            ),
        )
    return Finding(
        Severity.MODERATE,
        text(
            "Being in {release} points at no single {secret} of the victim: {count} are equally likely; but who only "
            "learns about the population would name another.",
            count=count,
            **parts,
        ),
        meaning=price(),
        remedy=remedy(),
    )
