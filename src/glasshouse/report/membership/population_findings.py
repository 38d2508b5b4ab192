"""What was estimated of a population of which there is no register, in sentences."""

from __future__ import annotations

from fractions import Fraction

from glasshouse.language import number, text, text_for, translated
from glasshouse.microdata.uniqueness import Estimate, PopulationRisks
from glasshouse.report.assess.findings import graded
from glasshouse.report.chances import frequency_range
from glasshouse.report.lists import joined
from glasshouse.report.page import Finding, Severity
from glasshouse.report.words import counted, enumeration, percentage, plural


def population_findings(risks: PopulationRisks, *, subject: str = "person") -> tuple[Finding, ...]:
    """Return how many people are estimated to be alone in the population, and what a register would be worth.

    Args:
        risks: What was estimated.
        subject: What a record stands for.
    """
    return (
        _alone(risks, subject),
        _differing(risks, subject),
        _with_a_register(risks),
        *_left_out(risks),
    )


def answers_of(risks: PopulationRisks) -> list[tuple[Estimate, float]]:
    """Return the estimators that found an answer, with it; the rule that takes one of them is not among them."""
    return [
        (estimate, estimate.population_uniques)
        for estimate in risks.estimates[:-1]
        if estimate.population_uniques is not None
    ]


def taken_by_the_rule(risks: PopulationRisks) -> Estimate | None:
    """Return the estimator whose answer the rule of Dankar et al. takes."""
    rule = risks.dankar
    same = [
        estimate for estimate, uniques in answers_of(risks) if uniques == rule.population_uniques
    ]
    return next((estimate for estimate in same if estimate.name in rule.note), None) or next(
        iter(same), None
    )


def rounded(uniques: float) -> str:
    """Return an estimated number of people as a sentence has it."""
    return text("fewer than {smallest}", smallest=1) if 0 < uniques < 1 else number(uniques, ",.0f")


def remarks(note: str) -> str:
    """Return the remarks of an estimator in the language that is spoken."""
    return "; ".join(map(translated, note.split("; ")))


def _alone(risks: PopulationRisks, subject: str) -> Finding:
    """Say how many are alone in the sample, and how many are estimated to be alone in the population."""
    sentences = [_alone_in_sample(risks), *_alone_in_population(risks, subject)]
    return Finding(
        _alone_severity(risks),
        " ".join(sentences),
        figure=_alone_figure(risks),
        meaning=_alone_means(risks),
        remedy=text("Generalising or removing an attribute is what would protect them.")
        if risks.uniques
        else "",
    )


def _alone_means(risks: PopulationRisks) -> str:
    if risks.fraction == 1:
        return text("Only who is alone in the population can be named with certainty.")
    return text(
        "Only who is alone in the population can be named with certainty; who is alone in the release may have a "
        "double who was not sampled."
    )


def _alone_in_sample(risks: PopulationRisks) -> str:
    parts = {
        "records": counted(risks.records, "record"),
        "dataset": risks.dataset,
        "known": enumeration(risks.quasi_identifiers),
    }
    if not risks.uniques:
        return text(
            "None of the {records} of {dataset} is alone with its {known}: nobody in the release is alone in the "
            "population.",
            **parts,
        )
    return text_for(
        risks.uniques,
        "{count} of the {records} of {dataset} is alone with its {known}.",
        "{count} of the {records} of {dataset} are alone with their {known}.",
        **parts,
    )


def _alone_in_population(risks: PopulationRisks, subject: str) -> list[str]:
    rule, part = risks.dankar, risks.dankar.share_of_sample_uniques
    if risks.fraction == 1:
        return _alone_in_all(risks)
    if rule.population_uniques is None or rule.share_of_population is None:
        return [
            text(
                "How many {people} are alone in the population could not be estimated.",
                people=plural(subject),
            )
        ]
    said = []
    if risks.uniques and part is not None:
        said.append(
            text(
                "Of these, by estimate, {uniques} ({share}) would be alone in the whole population, too.",
                uniques=rounded(risks.uniques * part),
                share=percentage(Fraction(part)),
            )
        )
    said.append(
        text(
            "Of the population of about {people}, by estimate, {uniques} ({share}) would be alone.",
            people=counted(risks.people, subject),
            uniques=rounded(rule.population_uniques),
            share=percentage(Fraction(rule.share_of_population)),
        )
    )
    return said


def _alone_in_all(risks: PopulationRisks) -> list[str]:
    """Say it of a release that is the whole population."""
    if not risks.uniques:
        return []
    return [
        text("As the release is said to be the whole population, nobody there is like them either.")
    ]


def _alone_severity(risks: PopulationRisks) -> Severity:
    """Grade by the estimated share of the records whose people are alone in the population."""
    part = risks.dankar.share_of_sample_uniques
    if not risks.uniques:
        return Severity.SAFE
    if part is None:
        return Severity.NOTE
    alone = risks.uniques * part
    return graded(Fraction(alone) / risks.records, certain=alone >= 1)


def _alone_figure(risks: PopulationRisks) -> str:
    uniques = risks.dankar.population_uniques
    if uniques is None:
        return text("sample uniques: {sample}", sample=risks.uniques)
    return text(
        "sample uniques: {sample}; population uniques, estimated: {population}",
        sample=risks.uniques,
        population=number(uniques, ",.6g"),
    )


def _differing(risks: PopulationRisks, subject: str) -> Finding:
    """Say how far the estimators are apart, and which one is taken."""
    if risks.fraction == 1:
        return Finding(
            Severity.NOTE,
            text(
                "The release is said to be the whole population: nothing is left to be estimated."
            ),
        )
    taken = taken_by_the_rule(risks)
    if taken is None:
        return Finding(
            Severity.NOTE,
            text("No estimator of how many are alone in the population found an answer."),
        )
    silent = [each.name for each in risks.estimates[:-1] if each.population_uniques is None]
    sentences = [_spread(risks, subject), _chosen(taken, risks)]
    if silent:
        sentences.append(text("There is no answer from {estimators}.", estimators=joined(silent)))
    return Finding(
        Severity.NOTE,
        " ".join(sentences),
        meaning=text("Take it as an order of magnitude: an estimate can be wrong by a multiple."),
        remedy=text("With a register of the population it is counted instead (--population)."),
    )


def _spread(risks: PopulationRisks, subject: str) -> str:
    answers = answers_of(risks)
    lowest, highest = (extreme(answers, key=lambda answer: answer[1]) for extreme in (min, max))
    if rounded(lowest[1]) == rounded(highest[1]):
        return text("How many are alone in the population is estimated, not counted.")
    return text(
        "How many are alone in the population is estimated, not counted, and the estimators differ: from {lowest} "
        "({first}) to {highest} ({last}) {people}.",
        lowest=rounded(lowest[1]),
        first=lowest[0].name,
        highest=rounded(highest[1]),
        last=highest[0].name,
        people=plural(subject),
    )


def _chosen(taken: Estimate, risks: PopulationRisks) -> str:
    if taken.population_uniques is not None and _is_too_many(taken.population_uniques, risks):
        return text(
            "The estimate of {estimator} is taken, by the rule of Dankar et al. 2012, although it is more than fits "
            "the release.",
            estimator=taken.name,
        )
    return text(
        "The estimate of {estimator} is taken, by the rule of Dankar et al. 2012.",
        estimator=taken.name,
    )


def _is_too_many(uniques: float, risks: PopulationRisks) -> bool:
    """Tell whether a sample of a population with so many uniques would have more than this one has."""
    return float(risks.fraction) * uniques > risks.uniques + 0.5


def _with_a_register(risks: PopulationRisks) -> Finding:
    """Say what somebody with a register could do with the release."""
    better = (risks.marketer_expected, risks.marketer_by_classes)
    estimates = (risks.marketer, *(min(Fraction(estimate), Fraction(1)) for estimate in better))
    return Finding(
        graded(max(estimates)),
        text(
            "Someone with a register of the population would, by estimate, name {right} records right.",
            right=frequency_range(min(estimates), max(estimates)),
        ),
        figure=text(
            "share named right, estimated: {plain}; with expected class sizes {expected}; by the number of classes "
            "{classes}",
            plain=number(risks.marketer, ".4g"),
            expected=number(risks.marketer_expected, ".4g"),
            classes=number(risks.marketer_by_classes, ".4g"),
        ),
        meaning=text("Such registers exist: of voters, of pupils, of customers."),
    )


def _left_out(risks: PopulationRisks) -> tuple[Finding, ...]:
    if not risks.suppressed:
        return ()
    sentence = text_for(
        risks.suppressed,
        "{count} further record shows nothing but “*” and is left out.",
        "{count} further records show nothing but “*” and are left out.",
    )
    return (Finding(Severity.NOTE, sentence),)
