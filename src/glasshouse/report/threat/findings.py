"""What was found in an anonymised table, in sentences: what it tells about a person, beyond the population.

Findings are made from aggregates: no value of a record can enter a sentence of the report.
"""

from __future__ import annotations

from fractions import Fraction
from math import isfinite, isnan

import numpy as np

from glasshouse.groups import Beliefs, Measures, Release, Sampled
from glasshouse.groups.measures import TIE, Reading, above_name
from glasshouse.groups.outcome import ThreatOutcome
from glasshouse.language import marked, number, printable, text, text_for, translated
from glasshouse.report.attacks import graded
from glasshouse.report.labels import value_label
from glasshouse.report.page import Finding, Severity, note, reassurance
from glasshouse.report.words import (
    counted,
    enumeration,
    frequencies,
    frequency,
    indefinite,
    joined,
    percentage,
    percentages,
    rounded,
    sentences,
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
    """Return what an attacker learns, how much of it is beyond the population, what is safe, and how sure that is.

    Args:
        outcome: What came out.
        subject: What a record stands for.
        exact: Whether the likeliest value of one victim is named, for the analyst's own eyes.
    """
    sampled, measures = outcome.sampled, outcome.measures
    certainty = note(_exactness(outcome) if sampled is None else _precision(outcome, sampled))
    if outcome.one_victim:
        return (victim_belief(outcome, exact=exact), against_learner(outcome), certainty)
    if measures is None:
        return (_without_original(outcome, subject), certainty)
    return (
        _guessed(outcome, measures, subject),
        _beyond(outcome, measures, subject),
        certainty,
        *filter(None, (_underrated(outcome, measures), _faithful(outcome, measures))),
        _learned(outcome, measures),
    )


def _guessed(outcome: ThreatOutcome, measures: Measures, subject: str) -> Finding:
    attacker, learner = measures.attacker.share_at_random, measures.learner.share_at_random
    right, learned, always = frequencies(
        as_fraction(attacker), as_fraction(learner), measures.baseline
    )
    if outcome.suppressed:
        right = text_for(
            outcome.suppressed,
            "{right} ({count} record suppressed among them)",
            "{right} ({count} records suppressed among them)",
            right=right,
        )
    words = {
        "person": indefinite(subject),
        "known": known_of(outcome.release),
        "attacker": right,
        "learner": learned,
        "baseline": always,
        **_names(outcome),
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
    if attacker - learner <= TIE:
        return reassurance(
            text(
                "Somebody who knows that {person} is in {release}, and their {known}, guesses the {secret} right for "
                "{attacker}, no more than somebody who only learns about the population ({learner}); always saying the "
                "most frequent value is right for {baseline}.",
                **words,
            ),
            figure,
            text(
                "On average people are not guessed at better for being in the table; single ones may be."
            ),
        )
    return Finding(
        graded(as_fraction(attacker - learner)),
        text(
            "Somebody who knows that {person} is in {release}, and their {known}, guesses the {secret} right for "
            "{attacker}; somebody who only learns about the population, for {learner}; always saying the most frequent "
            "value is right for {baseline}.",
            **words,
        ),
        figure,
        price(),
        remedy(),
    )


def _names(outcome: ThreatOutcome) -> dict[str, str]:
    """Return what every sentence may name: the release, and what is sensitive in it."""
    return {"release": outcome.release.name, "secret": secret_of(outcome.release)}


def _share(measures: Measures, value: float, figure: str) -> str:
    return with_error(measures, number(value, ".6g"), figure)


def _beyond(outcome: ThreatOutcome, measures: Measures, subject: str) -> Finding:
    above, twice = (
        measures.share_above(limit, threatened=False) for limit in (measures.exceeds, TWICE)
    )
    figure, most = _relative_figure(measures), float(measures.relative.max())
    if above:
        meaning = text(
            "Of these people the table tells more than of people like them: nobody would know it, had they not been in "
            "the table."
        )
        sentence = _surer(outcome, measures, above, subject)
        return Finding(graded(twice), sentence, figure, meaning, remedy())
    if most <= 1 + TIE:
        sentence = text(
            "Knowing who is in {release} makes nobody surer of anyone's {secret} than anybody may be who learns about "
            "the population.",
            **_names(outcome),
        )
    else:
        sentence = text(
            "Knowing who is in {release} makes nobody more than {limit} times as sure of the truth about anyone's "
            "{secret} as anybody may be who learns about the population: at most {most} times.",
            limit=number(measures.exceeds, "g"),
            most=_highest(measures),
            **_names(outcome),
        )
    if twice:
        return Finding(graded(twice), sentence, figure, price(), remedy())
    meaning = text(
        "This holds for who knows no more than is assumed here, and reasons as is assumed here."
    )
    return reassurance(sentence, figure, meaning)


def _highest(measures: Measures) -> str:
    return with_error(measures, factor(float(measures.relative.max())), "highest_ti_of_all")


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


def _surer(outcome: ThreatOutcome, measures: Measures, above: Fraction, subject: str) -> str:
    count, named = (
        round(share * measures.records) for share in (above, measures.share_above(measures.exceeds))
    )
    if named == 0:
        naming = text("of none of them it is what she would name")
    elif named == count:
        naming = text("it is what she would name")
    else:
        of_them = _count_above(measures, measures.exceeds, threatened=True)
        naming = text("of {named} of them it is what she would name", named=of_them)
    return text(
        "Of the true {secret} of {people} ({share}), somebody who knows who is in {release} is more than {limit} times "
        "as sure as anybody may be who learns about the population, at most {most} times; {naming}.",
        people=counted(count, subject),
        share=share_above(measures),
        limit=number(measures.exceeds, "g"),
        most=_highest(measures),
        naming=naming,
        **_names(outcome),
    )


def _learned(outcome: ThreatOutcome, measures: Measures) -> Finding:
    """Say what anybody may learn about the population, which is no threat to those in the table."""
    learner = measures.learner.share_at_random
    guessed, always = frequencies(as_fraction(learner), measures.baseline)
    template = (
        marked(
            "Who only learns about the population from {release} guesses the {secret} right for {learner}, instead of "
            "{baseline} by always saying the most frequent value: that is no more than anybody may learn."
        )
        if learner - float(measures.baseline) > TIE
        else marked(
            "Who only learns about the population from {release} guesses the {secret} right for {learner}, no more "
            "than by always saying the most frequent value ({baseline})."
        )
    )
    return reassurance(
        translated(template, learner=guessed, baseline=always, **_names(outcome)),
        text(
            "learner {learner}, ties at random",
            learner=_share(measures, learner, "gt_learner_random_ties"),
        ),
        text(
            "It is as true of people who are not in the table as of those who are: nobody could avoid it by staying "
            "out."
        ),
    )


def _underrated(outcome: ThreatOutcome, measures: Measures) -> Finding | None:
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
            "Who takes every table that {release} allows for equally likely (random worlds) guesses right for "
            "{random}; who also learns from it, for {attacker}: by random worlds alone the release seems safer than it "
            "is."
        )
        if random < attacker
        else marked(
            "Who takes every table that {release} allows for equally likely (random worlds) guesses right for "
            "{random}; who also learns from it, for {attacker} only: what she learns misleads her about some people, "
            "and somebody who reasons more simply would be right more often."
        )
    )
    return note(
        translated(
            template,
            release=outcome.release.name,
            random=frequency(random),
            attacker=frequency(attacker),
        ),
        text(
            "random worlds {random}, attacker {attacker}",
            random=number(random, ".6g"),
            attacker=_share(measures, float(attacker), "gt_attacker_random_ties"),
        ),
    )


def _faithful(outcome: ThreatOutcome, measures: Measures) -> Finding | None:
    faithful = measures.faithfulness
    if faithful is None:
        return None
    if faithful.bounded < USEFUL:
        template = marked(
            "What {release} teaches about the population agrees only to {share} with what the original would teach: "
            "little of use is left."
        )
    elif faithful.bounded < FAITHFUL:
        template = marked(
            "What {release} teaches about the population agrees to {share} with what the original would teach: a part "
            "of its use is lost."
        )
    else:
        template = marked(
            "What {release} teaches about the population agrees to {share} with what the original would teach: hardly "
            "any of its use is lost."
        )
    return note(
        translated(template, release=outcome.release.name, share=whole_percent(faithful.bounded)),
        text(
            "relative faithfulness {bounded} bounded, {published} by equation (21)",
            bounded=plus_minus(number(faithful.bounded, ".4g"), faithful.bounded_error),
            published=plus_minus(number(faithful.published, ".4g"), faithful.published_error),
        ),
        text("This is what the release is worth to those who use it as it is meant to be used."),
    )


def _without_original(outcome: ThreatOutcome, subject: str) -> Finding:
    (attacker, of_attacker), (learner, of_learner) = (
        outcome.average(name) for name in ("attacker", learner_name(outcome.reading))
    )
    sure, learned = percentages(as_fraction(attacker), as_fraction(learner))
    return Finding(
        graded(as_fraction(max(0.0, attacker - learner))),
        text(
            "On average somebody who knows that {person} is in {release} gives the likeliest {secret} a probability of "
            "{attacker}, beside {learner} about the population; give the original to know how often that is right.",
            person=indefinite(subject),
            attacker=sure,
            learner=learned,
            **_names(outcome),
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
        "Of a victim known to be in {release} she finds {value} equally likely, with a probability of {attacker} each; "
        "of people like them in the population these have {learner}: being in the table makes her up to {times} times "
        "as sure of one of them, and does not tell which it is."
    ),
    (True, "no surer"): marked(
        "Of a victim known to be in {release} she finds {value} equally likely, with a probability of {attacker} each; "
        "of people like them in the population these have {learner}: being in the table makes her no surer of any of "
        "them."
    ),
    (False, "surer"): marked(
        "Of a victim known to be in {release} she believes {value} with a probability of {attacker}; of people like "
        "them in the population the same with {learner}: being in the table makes her {times} times as sure of it."
    ),
    (False, "unknown"): marked(
        "Of a victim known to be in {release} she believes {value} with a probability of {attacker}; of people like "
        "them in the population the same with {learner}: the difference is within the Monte-Carlo error, and whether "
        "being in the table makes her surer of it cannot be told."
    ),
    (False, "no surer"): marked(
        "Of a victim known to be in {release} she believes {value} with a probability of {attacker}; of people like "
        "them in the population the same with {learner}: being in the table makes her no surer of it."
    ),
}
"""What she believes of a victim, by whether it is several values and by whether being in the table makes her surer."""
POINTING = {
    "unknown": marked(
        "Whether who only learns about the population from {release} would name another {secret} for the victim cannot "
        "be told: the likeliest ones are within the Monte-Carlo error of each other."
    ),
    "same": marked(
        "Who only learns about the population from {release} would name the same {secret} for the victim."
    ),
    "decides": marked(
        "Who only learns about the population from {release} finds {count} values of {secret} equally likely for the "
        "victim, this one among them: it is being in the table that decides between them."
    ),
    "points": marked(
        "Who only learns about the population from {release} would name another {secret} for the victim: it is being "
        "in the table that points at this one."
    ),
    "equal": marked(
        "Being in {release} points at no single {secret} of the victim: who only learns about the population finds the "
        "same {count} equally likely."
    ),
    "among": marked(
        "Being in {release} points at no single {secret} of the victim: {count} are equally likely, and who only "
        "learns about the population would name one of these."
    ),
    "some": marked(
        "Being in {release} points at no single {secret} of the victim: {count} are equally likely, and who only "
        "learns about the population might name one of these, or another."
    ),
    "others": marked(
        "Being in {release} points at no single {secret} of the victim: {count} are equally likely; but who only "
        "learns about the population would name another."
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
    if times - beyond > 1 + TIE:
        effect = "surer"
        severity = graded(as_fraction(more), certain=attacker[places[0]] >= NEARLY_CERTAIN)
    elif beyond > 0 and abs(times - 1) <= beyond:
        effect, severity = "unknown", Severity.NOTE
    else:
        effect, severity = "no surer", Severity.SAFE
    secret = outcome.release.sensitive
    values = [
        f"“{value_text(value_label(secret.names, secret.values[place]))}”" for place in places
    ]
    if exact and len(places) <= MOST_NAMED:
        value = joined(values)
    elif len(places) > 1:
        value = text("{count} values of {secret}", count=len(places), **_names(outcome))
    else:
        value = text("the likeliest {secret}", **_names(outcome))
    if len(places) > 1 and effect == "unknown":
        effect = "no surer"

    def probability(belief: float) -> str:
        return percentage(as_fraction(belief)) if exact else whole_percent(belief)

    low, high = map(probability, (float(learner[places].min()), float(learner[places].max())))
    sentence = translated(
        BELIEFS[len(places) > 1, effect],
        value=value,
        attacker=probability(attacker[places[0]]),
        learner=low if low == high else text("{low} to {high}", low=low, high=high),
        times=plus_minus(factor(times, 3 if exact else 2), error),
        **_names(outcome),
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
            "Which value it is can be guessed of anybody like them; being in the table changes only how sure the guess "
            "is."
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
    sentence = translated(POINTING[case], count=count, **_names(outcome))
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


def _exactness(outcome: ThreatOutcome) -> str:
    if not outcome.knowledge.is_exact:
        return text("These figures were sampled; how well the chains agree is not known here.")
    mean = outcome.knowledge.learner_mean
    errors = None if mean is None else mean.errors
    estimated = outcome.measures is not None and outcome.measures.faithfulness is not None
    points = "" if errors is None else error_text(100 * float(np.nanmax(errors)))
    exceptions = (EXACT, estimated and BUT_ESTIMATED, errors is not None and BUT_DRAWN)
    method = method_label(outcome.knowledge.method)
    return " ".join(sentences(*exceptions, method=method, points=points))


def _precision(outcome: ThreatOutcome, sampled: Sampled) -> str:
    words = {"sweeps": sampled.sweeps, "chains": sampled.chains}
    if sampled.multimodal:
        return text(
            "These figures are not to be relied on: after {sweeps} sweeps the {chains} chains still disagree; the "
            "table can be read in more than one way.",
            **words,
        )
    if not sampled.converged:
        return text(
            "These figures were sampled, and the requested precision was not reached within {sweeps} sweeps: sample "
            "longer before relying on them.",
            **words,
        )
    error = sampled.largest_error
    if not outcome.one_victim:
        error = max(
            figure.error
            for figure in (*sampled.aggregates, *sampled.figures)
            if figure.name.startswith(("gt_", "ti_above", "rgt"))
            or figure.name.endswith("_success")
        )
    return text(
        "These figures were sampled by {chains} chains of {sweeps} sweeps that agree (R-hat at most {rhat}); the "
        "Monte-Carlo error of a share is at most {points} points.",
        rhat=number(max(figure.rhat for figure in sampled.aggregates), ".3f"),
        points=error_text(100 * error),
        **words,
    )


SMALLEST_ERROR = 1e-6
"""Errors below this are not written out."""
ADVERSARIES = {
    "attacker": marked("knows who is in the table"),
    "learner": marked("learns about the population"),
    "learner_mean": marked("learns about the population, reading (6)"),
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
        "What is known of people like them can be known of anybody, in the table or not. What is told beyond that is "
        "the price of being in it."
    )


def remedy() -> str:
    """Say what could be done about a release that tells too much about its people."""
    return text(
        "Make the groups larger, or let the sensitive values in each be more even (l-diversity, t-closeness): "
        "glasshouse anonymise makes such a release, and glasshouse threat measures it again."
    )
