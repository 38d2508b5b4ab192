"""What was found in an anonymised table, in sentences: what it tells about a person, beyond the population.

Findings are made from aggregates: no value of a record can enter a sentence of the report.
"""

from __future__ import annotations

from fractions import Fraction
from math import isfinite, isnan

import numpy as np

from glasshouse.groups import Beliefs, Measures, Release
from glasshouse.groups.measures import TIE, Reading, above_name
from glasshouse.groups.outcome import ThreatOutcome
from glasshouse.language import (
    marked,
    number,
    percentage,
    printable,
    rounded,
    text,
    text_for,
    translated,
)
from glasshouse.report.labels import value_label
from glasshouse.report.page import Finding, Severity, note, reassurance
from glasshouse.report.severity import graded
from glasshouse.report.words import (
    counted,
    enumeration,
    in_words,
    joined,
    percentages,
    sentences,
    told_apart,
)

POINT = 0.01
"""A difference between two adversaries of no more than this share of the records is not worth a sentence."""
USEFUL, FAITHFUL = 0.5, 0.9
"""Below the first faithfulness little of use is left; from the second on little is lost."""
TWICE = 2.0
"""Who is more than so many times as sure of somebody's truth has learned something about the person."""


def threat_findings(
    outcome: ThreatOutcome, *, subject: str = "person", exact: bool = False
) -> tuple[Finding, ...]:
    """Return whom being in the table costs something, what an attacker guesses, how sure that is, and what it is worth.

    Args:
        outcome: What came out.
        subject: What a record stands for.
        exact: Whether the likeliest value of one victim is named, for the analyst's own eyes.
    """
    measures = outcome.measures
    certainty = filter(None, [_precision(outcome)])
    if outcome.one_victim:
        return (victim_belief(outcome, exact=exact), against_learner(outcome), *certainty)
    if measures is None:
        return (_without_original(outcome), *certainty)
    return (
        _beyond(outcome, measures, subject),
        _guessed(outcome, measures),
        *certainty,
        *filter(None, (_underrated(measures), _faithful(measures))),
    )


GUESSED = {
    "more": marked(
        "Knowing that someone is in the table helps: guesses at their {secret} are right in {attacker} of "
        "cases, up from {learner} for someone who only studies the population. Always saying the most "
        "frequent value is right in {baseline}."
    ),
    "same": marked(
        "Knowing that someone is in the table does not help: guesses at their {secret} are right in "
        "{attacker} of cases, as often as for someone who only studies the population. Always saying the "
        "most frequent value is right in {baseline}."
    ),
    "less": marked(
        "Knowing that someone is in the table misleads: guesses at their {secret} are right in {attacker} of "
        "cases, less often than for someone who only studies the population ({learner}). Always saying the "
        "most frequent value is right in {baseline}."
    ),
}
"""How often the attacker is right, beside the learner."""


def _guessed(outcome: ThreatOutcome, measures: Measures) -> Finding:
    attacker, learner = measures.attacker.share_at_random, measures.learner.share_at_random
    shares = as_fraction(attacker), as_fraction(learner), measures.baseline
    figures = tuple(map(percentage, shares))
    case = "same"
    if figures[0] != figures[1]:
        case, figures = "more" if attacker > learner else "less", percentages(*shares)
    right, learned, always = map(in_words, figures)
    sentence = translated(
        GUESSED[case],
        attacker=right,
        learner=learned,
        baseline=always,
        secret=secret_of(outcome.release),
    )
    if outcome.suppressed:
        suppressed = text_for(
            outcome.suppressed,
            "{count} suppressed record is counted among them.",
            "{count} suppressed records are counted among them.",
        )
        sentence = f"{sentence} {suppressed}"
    figure = text(
        "exactly {attacker}; about the population {learner}; the most frequent value {baseline}",
        attacker=_share(measures, attacker, "gt_attacker_random_ties"),
        learner=_share(measures, learner, "gt_learner_random_ties"),
        baseline=number(measures.baseline, ".6g"),
    )
    if case == "more":
        return Finding(graded(shares[0] - shares[1]), sentence, figure, price(), remedy())
    meaning = text(
        "On average, being in the table does not make people easier to guess; for some it may."
    )
    return reassurance(sentence, figure, meaning)


def _share(measures: Measures, value: float, figure: str) -> str:
    return with_error(measures, number(value, ".6g"), figure)


def _beyond(outcome: ThreatOutcome, measures: Measures, subject: str) -> Finding:
    above, twice = (
        measures.share_above(limit, threatened=False) for limit in (measures.exceeds, TWICE)
    )
    severity = graded(Fraction(0), certain=round(twice * measures.records), people=measures.records)
    words = {
        "secret": secret_of(outcome.release),
        "limit": number(measures.exceeds, "g"),
        "most": highest(measures),
    }
    figure = _relative_figure(measures)
    if above:
        meaning = text(
            "The table reveals more about these people than about others like them: nobody would know it had "
            "they not been in the table."
        )
        sentence = text(
            "For {people} ({share}), being in the table makes an attacker more than {limit} times as sure of "
            "their true {secret} (up to {most} times); {naming}.",
            people=counted(round(above * measures.records), subject),
            share=share_above(measures),
            naming=_named(measures, above),
            **words,
        )
        return Finding(severity, sentence, figure, meaning, remedy())
    if float(measures.relative.max()) <= 1 + TIE:
        template = marked(
            "Being in the table makes an attacker no surer of anybody's {secret} than of that of people like "
            "them."
        )
    else:
        template = marked(
            "For nobody does being in the table make an attacker more than {limit} times as sure of their "
            "{secret}: at most {most} times."
        )
    sentence = translated(template, **words)
    if twice:
        return Finding(severity, sentence, figure, price(), remedy())
    meaning = text("This holds for someone who knows and reasons as is assumed here.")
    return reassurance(sentence, figure, meaning)


def highest(measures: Measures) -> str:
    """Return how many times surer she is at most, so that it is told from the limit that is asked about, and from 1."""
    most, limit = float(measures.relative.max()), number(measures.exceeds, "g")
    figure, *_ = told_apart((factor(most, digits), limit, "1") for digits in (3, 4, 5, 6))
    return with_error(measures, figure, "highest_ti_of_all")


def _count_above(measures: Measures, limit: float, *, threatened: bool) -> str:
    """Return how many records have a relative threat above a limit, with the error where that was sampled."""
    count = round(measures.share_above(limit, threatened=threatened) * measures.records)
    name = above_name(limit, threatened=threatened)
    return with_error(measures, number(count), name, scale=measures.records)


def _relative_figure(measures: Measures) -> str:
    """Return the highest relative threat, and how many records are above the limit, and above 2."""
    words = {
        "most": _share(measures, float(measures.relative.max()), "highest_ti_of_all"),
        "above": _count_above(measures, measures.exceeds, threatened=False),
        "records": measures.records,
        "limit": number(measures.exceeds, "g"),
    }
    if measures.exceeds == TWICE:
        return text(
            "highest relative threat {most}; {above} of {records} records above {limit}", **words
        )
    return text(
        "highest relative threat {most}; {above} of {records} records above {limit}, {twice} above {two}",
        twice=_count_above(measures, TWICE, threatened=False),
        two=number(TWICE, "g"),
        **words,
    )


def share_above(measures: Measures) -> str:
    """Return the share of all records of whose truth she is so much surer as is asked about, with its error."""
    name = above_name(measures.exceeds, threatened=False)
    above = percentage(measures.share_above(measures.exceeds, threatened=False))
    return with_error(measures, above, name, scale=100)


def _named(measures: Measures, above: Fraction) -> str:
    """Say for how many of those of whose truth she is so much surer it is also what she would guess."""
    named = measures.share_above(measures.exceeds)
    if not named:
        return text("for none of them does it become her best guess")
    if named == above:
        return text("it also becomes her best guess")
    of_them = _count_above(measures, measures.exceeds, threatened=True)
    return text("for {named} of them it also becomes her best guess", named=of_them)


def _underrated(measures: Measures) -> Finding | None:
    """Say if the usual model of an attacker takes the table for safer than it is, or guesses better than ours."""
    attacker, random = (
        as_fraction(threat.share_at_random)
        for threat in (measures.attacker, measures.random_worlds)
    )
    estimate = measures.figures.get("gt_attacker_random_ties")
    error = 0.0 if estimate is None or isnan(estimate.error) else estimate.error
    if abs(random - attacker) <= max(POINT, SURE * error):
        return None
    template = (
        marked(
            "Someone who takes every possible table for equally likely guesses right in {random} of cases; "
            "someone who also learns from the table, in {attacker}: judged by the simpler one alone, the table "
            "would seem safer than it is."
        )
        if random < attacker
        else marked(
            "Someone who takes every possible table for equally likely guesses right in {random} of cases, more "
            "often than someone who also learns from the table ({attacker}): what is learned misleads about some "
            "people."
        )
    )
    of_random, of_attacker = map(in_words, percentages(random, attacker))
    return note(
        translated(template, random=of_random, attacker=of_attacker),
        text(
            "random worlds {random}, attacker {attacker}",
            random=number(random, ".6g"),
            attacker=_share(measures, float(attacker), "gt_attacker_random_ties"),
        ),
    )


def _faithful(measures: Measures) -> Finding | None:
    faithful = measures.faithfulness
    if faithful is None:
        return None
    if faithful.bounded < USEFUL:
        template = marked(
            "The table is only {share} as informative about the population as the original: little of its use is "
            "left."
        )
    elif faithful.bounded < FAITHFUL:
        template = marked(
            "The table is {share} as informative about the population as the original: part of its use is lost."
        )
    else:
        template = marked(
            "The table is {share} as informative about the population as the original: hardly any of its use is "
            "lost."
        )
    return note(
        translated(template, share=in_words(whole_percent(faithful.bounded))),
        text(
            "relative faithfulness {bounded}",
            bounded=plus_minus(number(faithful.bounded, ".4g"), faithful.bounded_error),
        ),
        text("This is what the release is worth to those who use it as it is meant to be used."),
    )


def _without_original(outcome: ThreatOutcome) -> Finding:
    (attacker, of_attacker), (learner, of_learner) = (
        outcome.average(name) for name in ("attacker", learner_name(outcome.reading))
    )
    sure, learned = map(in_words, percentages(as_fraction(attacker), as_fraction(learner)))
    return Finding(
        graded(as_fraction(max(0.0, attacker - learner))),
        text(
            "On average, someone who knows that a person is in the table gives the likeliest {secret} a "
            "probability of {attacker}; someone who only studies the population, of {learner}. How often that is "
            "right can be counted with the original only.",
            attacker=sure,
            learner=learned,
            secret=secret_of(outcome.release),
        ),
        figure=text(
            "mean greatest probability: attacker {attacker}, learner {learner}",
            attacker=plus_minus(number(attacker, ".6g"), of_attacker),
            learner=plus_minus(number(learner, ".6g"), of_learner),
        ),
        meaning=price(),
    )


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
    belief = beliefs.probabilities[0]
    best = int(np.argmax(belief))
    margin = np.full(len(belief), TIE * belief[best])
    if beliefs.errors is not None:
        errors = np.nan_to_num(beliefs.errors[0])
        margin += SURE * (errors + errors[best])
    margin[best] = 0.0
    order = np.argsort(-belief, kind="stable")
    return [int(place) for place in order if belief[best] - belief[place] <= margin[place]]


BELIEFS = {
    (True, "surer"): marked(
        "Someone who knows that this person is in the table finds {value} equally likely, with a probability "
        "of {attacker} each; for people like them in the population it is {learner}: being in the table "
        "makes one of them up to {times} times as likely, and does not reveal which."
    ),
    (True, "no surer"): marked(
        "Someone who knows that this person is in the table finds {value} equally likely, with a probability "
        "of {attacker} each; for people like them in the population it is {learner}: being in the table "
        "makes none of them more likely."
    ),
    (False, "surer"): marked(
        "Someone who knows that this person is in the table believes {value} with a probability of "
        "{attacker}; for people like them in the population it is {learner}: being in the table makes it "
        "{times} times as likely."
    ),
    (False, "unknown"): marked(
        "Someone who knows that this person is in the table believes {value} with a probability of "
        "{attacker}; for people like them in the population it is {learner}: the difference is within the "
        "error of sampling, and whether being in the table makes it easier to guess cannot be said."
    ),
    (False, "no surer"): marked(
        "Someone who knows that this person is in the table believes {value} with a probability of "
        "{attacker}; for people like them in the population it is {learner}: being in the table makes it no "
        "more likely."
    ),
}
"""What she believes of a victim, by whether it is several values and by whether being in the table makes her surer."""
POINTING = {
    "unknown": marked(
        "Whether someone who only studies the population would choose another {secret} cannot be said: the "
        "likeliest ones are within the error of sampling of each other."
    ),
    "same": marked(
        "Someone who only studies the population would choose the same {secret} for this person."
    ),
    "decides": marked(
        "Someone who only studies the population finds {count} values of {secret} equally likely for this "
        "person, this one among them: it is being in the table that decides between them."
    ),
    "points": marked(
        "Someone who only studies the population would choose another {secret} for this person: it is being "
        "in the table that points at this one."
    ),
    "equal": marked(
        "Being in the table points at no single {secret} of this person: someone who only studies the "
        "population finds the same {count} equally likely."
    ),
    "among": marked(
        "Being in the table points at no single {secret} of this person: {count} are equally likely, and "
        "someone who only studies the population would choose one of these."
    ),
    "some": marked(
        "Being in the table points at no single {secret} of this person: {count} are equally likely, and "
        "someone who only studies the population might choose one of these, or another."
    ),
    "others": marked(
        "Being in the table points at no single {secret} of this person: {count} are equally likely; but "
        "someone who only studies the population would choose another."
    ),
}
"""What being in the table points at, and what who only learns about the population would name instead."""


def victim_belief(outcome: ThreatOutcome, *, exact: bool) -> Finding:
    """Say how sure the attacker is of the victim's likeliest value, and how sure the learner is of the same.

    Args:
        outcome: What came out.
        exact: Whether the value is named, for the analyst's own eyes.
    """
    beliefs = outcome.knowledge.beliefs()
    attacker, learner = (
        beliefs[name].probabilities[0] for name in ("attacker", learner_name(outcome.reading))
    )
    places = likeliest(beliefs["attacker"])
    if not beliefs["attacker"].is_exact:
        places = places[:1]
    times, error = max(map(outcome.relative_of, places), key=lambda relative: relative[0])
    beyond = 0.0 if isnan(error) else SURE * error
    more = max(0.0, *(float(attacker[place] - learner[place]) for place in places))
    digits = 3 if exact else 2
    if times - beyond > 1 + TIE and factor(times, digits) != number(1):
        certain = attacker[places[0]] >= NEARLY_CERTAIN
        effect, severity = "surer", Severity.HIGH if certain else graded(as_fraction(more))
    elif beyond > 0 and abs(times - 1) <= beyond:
        effect, severity = "unknown", Severity.NOTE
    else:
        effect, severity = "no surer", Severity.SAFE
    secret, name = outcome.release.sensitive, secret_of(outcome.release)
    values = [
        f"“{value_text(value_label(secret.names, secret.values[place]))}”" for place in places
    ]
    if exact and len(places) <= MOST_NAMED:
        value = joined(values)
    elif len(places) > 1:
        value = text("{count} values of {secret}", count=len(places), secret=name)
    else:
        value = text("the likeliest {secret}", secret=name)
    if len(places) > 1 and effect == "unknown":
        effect = "no surer"

    def probability(belief: float) -> str:
        share = percentage(as_fraction(belief)) if exact else whole_percent(belief)
        return in_words(share)

    low, high = map(probability, (float(learner[places].min()), float(learner[places].max())))
    sentence = translated(
        BELIEFS[len(places) > 1, effect],
        value=value,
        attacker=probability(attacker[places[0]]),
        learner=low if low == high else text("{low} to {high}", low=low, high=high),
        times=plus_minus(factor(times, digits), error),
    )
    return Finding(
        severity, sentence, meaning=price(), remedy=remedy() if effect == "surer" else ""
    )


def against_learner(outcome: ThreatOutcome) -> Finding:
    """Say whether she would name another value without knowing that the victim is in the table."""
    beliefs = outcome.knowledge.beliefs()
    attacker, learner = beliefs["attacker"], beliefs[learner_name(outcome.reading)]
    places, learned = likeliest(attacker), likeliest(learner)
    tied = [belief for belief, ties in ((attacker, places), (learner, learned)) if len(ties) > 1]
    shared, alone = set(places) & set(learned), len(places) == 1
    severity, meaning, count = Severity.MODERATE, price(), len(places)
    if any(not belief.is_exact for belief in tied) and shared:
        severity, meaning, case = Severity.NOTE, "", "unknown"
    elif learned == places and alone:
        severity, case = Severity.SAFE, "same"
        meaning = text(
            "Which value it is can be guessed for anybody like them; being in the table changes only how sure "
            "the guess is."
        )
    elif alone and shared:
        case, count = "decides", len(learned)
    elif alone:
        case = "points"
    elif not shared:
        case = "others"
    else:
        severity, meaning = Severity.SAFE, ""
        case = "among" if set(learned) <= set(places) else "some"
        if set(learned) == set(places):
            case = "equal"
    sentence = translated(POINTING[case], count=count, secret=secret_of(outcome.release))
    return Finding(
        severity,
        sentence,
        meaning=meaning,
        remedy=remedy() if severity == Severity.MODERATE else "",
    )


EXACT = marked("These figures are exact ({method}), not sampled.")
BUT_ESTIMATED = marked("The relative faithfulness is an exception: it is estimated.")
BUT_DRAWN = marked(
    "What is learned about the population by reading (6) is an exception: it is drawn, with an error of at most "
    "{points} points."
)


def exactness(outcome: ThreatOutcome) -> str:
    """Say that the figures are exact, with the exceptions; nothing where they were sampled."""
    if not outcome.knowledge.is_exact:
        return ""
    mean = outcome.knowledge.learner_mean
    errors = None if mean is None else mean.errors
    estimated = outcome.measures is not None and outcome.measures.faithfulness is not None
    points = "" if errors is None else error_text(100 * float(np.nanmax(errors)))
    exceptions = (EXACT, estimated and BUT_ESTIMATED, errors is not None and BUT_DRAWN)
    method = method_label(outcome.knowledge.method)
    return " ".join(sentences(*exceptions, method=method, points=points))


def _precision(outcome: ThreatOutcome) -> Finding | None:
    """Say how far figures that were sampled can be relied on."""
    sampled = outcome.sampled
    if sampled is None:
        if outcome.knowledge.is_exact:
            return None
        return note(
            text("These figures were sampled; how well the chains agree is not known here.")
        )
    run = text("{chains} chains, {sweeps} sweeps", chains=sampled.chains, sweeps=sampled.sweeps)
    if sampled.multimodal:
        sentence = text(
            "These figures are not to be relied on: the table can be read in more than one way, and the sampling did "
            "not settle on one."
        )
        return note(sentence, run)
    if not sampled.converged:
        sentence = text(
            "These figures were sampled, and the requested precision was not reached: sample longer before relying on "
            "them."
        )
        return note(sentence, run)
    error = sampled.largest_error
    if not outcome.one_victim:
        error = max(
            figure.error
            for figure in (*sampled.aggregates, *sampled.figures)
            if figure.name.startswith(("gt_", "ti_above", "rgt"))
            or figure.name.endswith("_success")
        )
    return note(
        text(
            "These figures were sampled: the standard error of a share is at most {points} percentage points.",
            points=error_text(100 * error),
        ),
        text(
            "{run}, which agree (R-hat at most {rhat})",
            run=run,
            rhat=number(max(figure.rhat for figure in sampled.aggregates), ".3f"),
        ),
    )


SMALLEST_ERROR = 1e-6
"""Errors below this are not written out."""
ADVERSARIES = {
    "attacker": marked("knows who is in the table"),
    "learner": marked("studies the population"),
    "learner_mean": marked("studies the population, reading (6)"),
    "random_worlds": marked("takes every table for equally likely"),
    "ideal": marked("would know the original"),
}
"""What each adversary does, in plain words."""
METHODS = {
    "closed form": marked("closed form"),
    "enumeration": marked("enumeration"),
    "sampling": marked("sampling"),
}
"""How beliefs were computed."""


def adversary_label(name: str) -> str:
    """Return what an adversary does, in plain words.

    >>> adversary_label("attacker")
    'knows who is in the table'
    """
    return translated(ADVERSARIES[name])


def method_label(method: str) -> str:
    """Return how beliefs were computed, in plain words."""
    return translated(METHODS[method])


def secret_of(release: Release) -> str:
    """Return what is sensitive in a release, as in a sentence."""
    return enumeration(release.sensitive.names)


def known_of(release: Release) -> str:
    """Return what an adversary can know of the people in a release, as in a sentence."""
    return enumeration([attribute.name for attribute in release.attributes])


def learner_name(reading: Reading) -> str:
    """Return under which name the learner of a reading stands."""
    return "learner" if reading is Reading.RATIO_OF_EXPECTATIONS else "learner_mean"


def as_fraction(share: float) -> Fraction:
    """Return a share that was computed in floating point as a fraction."""
    return Fraction(share).limit_denominator(10**9)


def whole_percent(probability: float) -> str:
    """Say a probability in whole per cent; a rounding never makes it impossible or certain.

    >>> whole_percent(0.583), whole_percent(0.001), whole_percent(0.999), whole_percent(1)
    ('58%', '< 1%', '> 99%', '100%')
    """
    whole = rounded(100 * as_fraction(probability))
    if whole == 0 and probability > 0:
        return f"< {text('{figure}%', figure=1)}"
    if whole == 100 and probability < 1:
        return f"> {text('{figure}%', figure=99)}"
    return text("{figure}%", figure=whole)


def factor(value: float, digits: int = 3) -> str:
    """Say a factor in three digits, or to the nearest whole number where it has more.

    >>> factor(1.2345), factor(12345.6), factor(1.2345, 2)
    ('1.23', '12,346', '1.2')
    """
    return figure_text(value, ",.0f" if value >= 1000 else f".{digits}g")


def figure_text(value: float, form: str) -> str:
    """Write a figure; a dash stands for what is not a number.

    >>> figure_text(0.5, ".3f"), figure_text(float("nan"), ".3f"), figure_text(float("inf"), ".3f")
    ('0.500', '–', '∞')
    """
    if isnan(value):
        return "–"
    return number(value, form) if isfinite(value) else "∞"


def error_text(error: float) -> str:
    """Write a Monte-Carlo error in two digits, without powers of ten; what is smaller still is said to be.

    >>> error_text(0.01234), error_text(1234.5), error_text(0.0000213), error_text(3e-85), error_text(0)
    ('0.012', '1,234', '0.000021', '< 0.000001', '0')
    """
    if 0 < error < SMALLEST_ERROR:
        return f"< {number(SMALLEST_ERROR, '.6f')}"
    if SMALLEST_ERROR <= error < 1e-4:
        return number(error, ".6f")
    return figure_text(error, ".2g" if error < 100 else ",.0f")


def plus_minus(figure: str, error: float | None) -> str:
    """Write a figure with its Monte-Carlo error, where it has one.

    >>> plus_minus("0.5", 0.0123), plus_minus("0.5", None), plus_minus("0.5", float("nan"))
    ('0.5 ± 0.012', '0.5', '0.5')
    """
    return figure if error is None or isnan(error) else f"{figure} ± {error_text(error)}"


def with_error(measures: Measures, value: str, figure: str, *, scale: float = 1) -> str:
    """Write a figure of the table with its Monte-Carlo error, where it was sampled.

    Args:
        measures: What was measured.
        value: The figure, written out.
        figure: Its name among the sampled figures.
        scale: In how many of its units it is written.
    """
    estimate = measures.figures.get(figure)
    return plus_minus(value, None if estimate is None else scale * estimate.error)


def value_text(value: str) -> str:
    """Return a value as one line; one that is missing is said to be empty.

    >>> value_text("flu"), value_text("")
    ('flu', '(empty)')
    """
    return printable(value) or text("(empty)")


def price() -> str:
    """Say what it means to be told more about than people like oneself."""
    return text(
        "What holds for people like them holds for anybody, in the table or not. What the table reveals "
        "beyond that is the price of being in it."
    )


def remedy() -> str:
    """Say what could be done about a release that tells too much about its people."""
    return text(
        "Try larger groups with more varied sensitive values in each, and measure that table before you rely on it."
    )
