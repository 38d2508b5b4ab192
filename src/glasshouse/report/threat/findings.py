"""What was found in an anonymised table, in sentences: what it tells about a person, beyond the population.

Findings are made from aggregates: no value of a record can enter a sentence of the report.
"""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from math import isnan

from glasshouse.groups import Measures
from glasshouse.groups.measures import TIE
from glasshouse.language import number, text, text_for
from glasshouse.report.grading import graded
from glasshouse.report.page import Finding, Severity
from glasshouse.report.threat.certainty import certainty_of
from glasshouse.report.threat.outcome import Threatened
from glasshouse.report.threat.victims import SURE, against_learner, victim_belief
from glasshouse.report.threat.words import (
    factor,
    known_of,
    learner_name,
    plus_minus,
    price,
    ratio,
    remedy,
    secret_of,
    whole_percent,
)
from glasshouse.report.words import (
    counted,
    frequencies,
    frequency,
    indefinite,
    percentage,
    percentages,
)

TWICE = 2.0
"""Who is more than so many times as sure of somebody's truth has learned something about the person."""


def threat_findings(outcome: Threatened, *, exact: bool = False) -> tuple[Finding, ...]:
    """Return what an attacker learns, how much of it is beyond the population, what is safe, and how sure that is.

    Args:
        outcome: What came out.
        exact: Whether the likeliest value of one victim is named, for the analyst's own eyes.
    """
    certainty = certainty_of(outcome)
    if outcome.study.known:
        return (victim_belief(outcome, exact=exact), against_learner(outcome), certainty)
    measures = outcome.measures
    if measures is None:
        return (_without_original(outcome), certainty)
    others = (_underrated(outcome, measures), _faithful(outcome, measures))
    return (
        _guessed(outcome, measures),
        _beyond(outcome, measures),
        certainty,
        *(finding for finding in others if finding is not None),
        _learned(outcome, measures),
    )


def _guessed(outcome: Threatened, measures: Measures) -> Finding:
    attacker, learner = measures.attacker.share_at_random, measures.learner.share_at_random
    more = attacker - learner
    said = frequencies(ratio(attacker), ratio(learner), measures.baseline)
    parts = {
        "person": indefinite(outcome.study.subject),
        "release": outcome.release.name,
        "known": known_of(outcome.release),
        "secret": secret_of(outcome.release),
        "attacker": said[0],
        "learner": said[1],
        "baseline": said[2],
    }
    figure = text(
        "ties at random: attacker {attacker}, learner {learner}; ties counting: GT_A {most_attacker}, GT_L "
        "{most_learner}; most frequent value {baseline}",
        attacker=_share(measures, attacker, "gt_attacker_random_ties"),
        learner=_share(measures, learner, "gt_learner_random_ties"),
        most_attacker=_share(measures, float(measures.attacker.share), "gt_attacker"),
        most_learner=_share(measures, float(measures.learner.share), "gt_learner"),
        baseline=number(measures.baseline, ".6g"),
    )
    if more <= TIE:
        return Finding(
            Severity.SAFE,
            _no_better(outcome, parts),
            figure=figure,
            meaning=text(
                "On average people are not guessed at better for being in the table; single ones may be."
            ),
        )
    return Finding(
        graded(ratio(more)),
        _better(outcome, parts),
        figure=figure,
        meaning=price(),
        remedy=remedy(),
    )


def _better(outcome: Threatened, parts: Mapping[str, str]) -> str:
    hidden = outcome.study.suppressed
    if hidden == 0:
        return text(
            "Somebody who knows that {person} is in {release}, and their {known}, guesses the {secret} right for "
            "{attacker}; somebody who only learns about the population, for {learner}; always saying the most frequent "
            "value is right for {baseline}.",
            **parts,
        )
    return text_for(
        hidden,
        "Somebody who knows that {person} is in {release}, and their {known}, guesses the {secret} right for "
        "{attacker} ({count} record suppressed among them); somebody who only learns about the population, for "
        "{learner}; always saying the most frequent value is right for {baseline}.",
        "Somebody who knows that {person} is in {release}, and their {known}, guesses the {secret} right for "
        "{attacker} ({count} records suppressed among them); somebody who only learns about the population, for "
        "{learner}; always saying the most frequent value is right for {baseline}.",
        **parts,
    )


def _no_better(outcome: Threatened, parts: Mapping[str, str]) -> str:
    hidden = outcome.study.suppressed
    if hidden == 0:
        return text(
            "Somebody who knows that {person} is in {release}, and their {known}, guesses the {secret} right for "
            "{attacker}, no more than somebody who only learns about the population ({learner}); always saying the "
            "most frequent value is right for {baseline}.",
            **parts,
        )
    return text_for(
        hidden,
        "Somebody who knows that {person} is in {release}, and their {known}, guesses the {secret} right for "
        "{attacker} ({count} record suppressed among them), no more than somebody who only learns about the population "
        "({learner}); always saying the most frequent value is right for {baseline}.",
        "Somebody who knows that {person} is in {release}, and their {known}, guesses the {secret} right for "
        "{attacker} ({count} records suppressed among them), no more than somebody who only learns about the "
        "population ({learner}); always saying the most frequent value is right for {baseline}.",
        **parts,
    )


def _share(measures: Measures, value: float, figure: str) -> str:
    own = measures.figures.get(figure)
    return plus_minus(number(value, ".6g"), None if own is None else own.error)


def _beyond(outcome: Threatened, measures: Measures) -> Finding:
    limit = measures.exceeds
    above, twice = (measures.share_above(each, threatened=False) for each in (limit, TWICE))
    most = float(measures.relative.max())
    figure = _relative_figure(measures, above, twice)
    if above == twice == 0:
        return Finding(
            Severity.SAFE,
            _nothing_beyond(outcome, most=most, limit=limit),
            figure=figure,
            meaning=text(
                "This holds for who knows no more than is assumed here, and reasons as is assumed here."
            ),
        )
    return Finding(
        graded(twice),
        _surer(outcome, measures, above) if above else _nothing_beyond(outcome, most, limit),
        figure=figure,
        meaning=text(
            "Of these people the table tells more than of people like them: nobody would know it, had they not been in "
            "the table."
        )
        if above
        else price(),
        remedy=remedy(),
    )


def _relative_figure(measures: Measures, above: Fraction, twice: Fraction) -> str:
    """Return the highest relative threat, and how many records are above the limit, and above 2."""
    parts = {
        "most": factor(float(measures.relative.max()), 6),
        "above": round(above * measures.records),
        "records": measures.records,
        "limit": number(measures.exceeds, "g"),
    }
    if measures.exceeds == TWICE:
        return text(
            "highest relative threat {most}; {above} of {records} records above {limit}", **parts
        )
    return text(
        "highest relative threat {most}; {above} of {records} records above {limit}, {twice} above {two}",
        twice=round(twice * measures.records),
        two=number(TWICE, "g"),
        **parts,
    )


def _nothing_beyond(outcome: Threatened, most: float, limit: float) -> str:
    parts = {"release": outcome.release.name, "secret": secret_of(outcome.release)}
    if most <= 1 + TIE:
        return text(
            "Knowing who is in {release} makes nobody surer of anyone's {secret} than anybody may be who learns about "
            "the population.",
            **parts,
        )
    return text(
        "Knowing who is in {release} makes nobody more than {limit} times as sure of the truth about anyone's {secret} "
        "as anybody may be who learns about the population: at most {most} times.",
        limit=number(limit, "g"),
        most=factor(most),
        **parts,
    )


def _surer(outcome: Threatened, measures: Measures, above: Fraction) -> str:
    limit = measures.exceeds
    count, named = (
        round(share * measures.records) for share in (above, measures.share_above(limit))
    )
    parts = {
        "people": counted(count, outcome.study.subject),
        "share": percentage(above),
        "release": outcome.release.name,
        "secret": secret_of(outcome.release),
        "limit": number(limit, "g"),
        "most": factor(float(measures.relative.max())),
    }
    if named == 0:
        return text(
            "Of the true {secret} of {people} ({share}), somebody who knows who is in {release} is more than {limit} "
            "times as sure as anybody may be who learns about the population, at most {most} times; of none of them it "
            "is what she would name.",
            **parts,
        )
    if named == count:
        return text(
            "Of the true {secret} of {people} ({share}), somebody who knows who is in {release} is more than {limit} "
            "times as sure as anybody may be who learns about the population, at most {most} times; it is what she "
            "would name.",
            **parts,
        )
    return text(
        "Of the true {secret} of {people} ({share}), somebody who knows who is in {release} is more than {limit} times "
        "as sure as anybody may be who learns about the population, at most {most} times; of {named} of them it is "
        "what she would name.",
        named=named,
        **parts,
    )


def _learned(outcome: Threatened, measures: Measures) -> Finding:
    """Say what anybody may learn about the population, which is no threat to those in the table."""
    learner = measures.learner.share_at_random
    guessed, always = frequencies(ratio(learner), measures.baseline)
    parts = {
        "secret": secret_of(outcome.release),
        "release": outcome.release.name,
        "learner": guessed,
        "baseline": always,
    }
    gains = learner - float(measures.baseline) > TIE
    return Finding(
        Severity.SAFE,
        text(
            "Who only learns about the population from {release} guesses the {secret} right for {learner}, instead of "
            "{baseline} by always saying the most frequent value: that is no more than anybody may learn.",
            **parts,
        )
        if gains
        else text(
            "Who only learns about the population from {release} guesses the {secret} right for {learner}, no more "
            "than by always saying the most frequent value ({baseline}).",
            **parts,
        ),
        figure=text(
            "learner {learner}, ties at random",
            learner=_share(measures, learner, "gt_learner_random_ties"),
        ),
        meaning=text(
            "It is as true of people who are not in the table as of those who are: nobody could avoid it by staying "
            "out."
        ),
    )


def _underrated(outcome: Threatened, measures: Measures) -> Finding | None:
    """Say if the usual model of an attacker takes the table for safer than it is, or guesses better than ours."""
    attacker, random = (
        ratio(each.share_at_random) for each in (measures.attacker, measures.random_worlds)
    )
    own = measures.figures.get("gt_attacker_random_ties")
    error = 0.0 if own is None or isnan(own.error) else own.error
    if frequency(random) == frequency(attacker) or abs(random - attacker) <= SURE * error:
        return None
    parts = {
        "release": outcome.release.name,
        "random": frequency(random),
        "attacker": frequency(attacker),
    }
    return Finding(
        Severity.NOTE,
        text(
            "Who takes every table that {release} allows for equally likely (random worlds) guesses right for "
            "{random}; who also learns from it, for {attacker}: by random worlds alone the release seems safer than it "
            "is.",
            **parts,
        )
        if random < attacker
        else text(
            "Who takes every table that {release} allows for equally likely (random worlds) guesses right for "
            "{random}; who also learns from it, for {attacker} only: what she learns misleads her about some people, "
            "and somebody who reasons more simply would be right more often.",
            **parts,
        ),
        figure=text(
            "random worlds {random}, attacker {attacker}",
            random=number(random, ".6g"),
            attacker=_share(measures, float(attacker), "gt_attacker_random_ties"),
        ),
    )


def _faithful(outcome: Threatened, measures: Measures) -> Finding | None:
    own = measures.faithfulness
    if own is None:
        return None
    return Finding(
        Severity.NOTE,
        text(
            "What {release} teaches about the population agrees to {share} with what the original would teach.",
            release=outcome.release.name,
            share=whole_percent(own.bounded),
        ),
        figure=text(
            "relative faithfulness {bounded} bounded, {published} by equation (21)",
            bounded=plus_minus(number(own.bounded, ".4g"), own.bounded_error),
            published=plus_minus(number(own.published, ".4g"), own.published_error),
        ),
        meaning=text(
            "This is what the release is worth to those who use it as it is meant to be used."
        ),
    )


def _without_original(outcome: Threatened) -> Finding:
    (attacker, of_attacker), (learner, of_learner) = (
        outcome.average(name) for name in ("attacker", learner_name(outcome.study))
    )
    sure, learned = percentages(ratio(attacker), ratio(learner))
    return Finding(
        graded(ratio(max(0.0, attacker - learner))),
        text(
            "On average somebody who knows that {person} is in {release} gives the likeliest {secret} a probability of "
            "{attacker}, beside {learner} about the population; give the original to know how often that is right.",
            person=indefinite(outcome.study.subject),
            release=outcome.release.name,
            secret=secret_of(outcome.release),
            attacker=sure,
            learner=learned,
        ),
        figure=text(
            "mean greatest probability: attacker {attacker}, learner {learner}",
            attacker=plus_minus(number(attacker, ".6g"), of_attacker),
            learner=plus_minus(number(learner, ".6g"), of_learner),
        ),
        meaning=price(),
    )
