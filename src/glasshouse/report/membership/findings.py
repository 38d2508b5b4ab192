"""What was found about who is in a release, in sentences: of everybody, of one person, without a register."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction

from glasshouse.disclosure import hidden_parts, smallest_cell
from glasshouse.language import marked, number, percentage, text, text_for, translated
from glasshouse.measures.membership import named_with_a_register, records_alone
from glasshouse.microdata.leakage import Leakage
from glasshouse.microdata.presence import Member, Membership, Pattern
from glasshouse.microdata.uniqueness import Estimate, PopulationRisks
from glasshouse.report.cells import GUESSES, before_and_after
from glasshouse.report.discretion import (
    EXACTLY,
    NOT_TOLD,
    Among,
    Discretion,
    both_percentages,
    ratio,
)
from glasshouse.report.page import Finding, Severity, note, reassurance
from glasshouse.report.severity import graded
from glasshouse.report.survey_weights import weighted_finding
from glasshouse.report.words import (
    counted,
    enumeration,
    in_words,
    joined,
    listed,
    percentages,
    plural,
    share,
    short_names,
)

MOST_PATTERNS = 10
"""How many sets of releases a table shows by themselves."""
MOST_PATTERNS_SAID = 3
"""How many sets of releases a sentence names."""
NOTHING_ELSE_KNOWN = marked("This holds as long as she knows nothing else about the person.")
TELLING_IN_ITSELF = marked(
    "To be in a release can be telling in itself, such as in that of a clinic or of a programme for the poor."
)
NOBODY_SURE = marked(
    "Someone who knows the {known} of everybody in {register} cannot tell for certain of anybody among the "
    "{people} {matter}."
)
EVERYBODY_SURE = marked(
    "Someone who knows the {known} of everybody in {register} can tell for certain of every one of the {people} "
    "{matter}."
)
SOME_SURE = marked(
    "Someone who knows the {known} of everybody in {register} can tell for certain of {certain} of the {people} "
    "({share}) {matter}."
)
WHETHER = {
    True: marked("in exactly which of the {releases} releases they are"),
    False: marked("whether they are in {release}"),
}
"""What she cannot tell, by whether there are several releases."""
WHICH = {
    True: marked(
        "in exactly which of the {releases} releases they are: {inside} in all, {outside} in none and {some} in some"
    ),
    False: marked("whether they are in {release}: {inside} in it, {outside} not"),
}
"""What she can tell."""
FOR_SURE = {
    True: marked(
        "Everybody who is alike on what is known is in, or nobody is; of several releases: in all of them, or in none."
    ),
    False: marked("Everybody who is alike on what is known is in, or nobody is."),
}
"""What is for sure, by whether there are several releases."""
MEMBERSHIP_TERMS = {
    marked("One guess, before and after"): marked(
        "The probability that her best guess is right, knowing only how many are in, and knowing something of the "
        "person besides (prior and posterior Bayes vulnerability)."
    ),
    marked("Added, factor"): marked("After minus before, and after divided by before."),
    marked("Chance of being in, lowest and highest"): marked(
        "The bounds of δ-presence (Nergiz, Atzori and Clifton 2007): for everybody the chance of being in lies between "
        "them."
    ),
    marked("Worst case"): marked(
        "No adversary with non-negative gains, whatever she believed before and whatever a guess is worth to her, "
        "multiplies her success by more than this (multiplicative Bayes capacity)."
    ),
    marked("Chance that a record is named"): marked(
        "If she picks somebody in the register who fits a record: the highest chance that it is theirs (the "
        "journalist’s risk), and the share of all records that she would name right (the marketer’s risk; Dankar and "
        "El Emam 2010)."
    ),
}
"""The words of a report on everybody, explained."""
MEMBER_TERMS = {
    marked("Chance of being in"): marked(
        "Among those who fit, the share that is in the release; before: among everybody in the register."
    ),
    marked("Certain"): marked("Everybody who fits is in, or nobody is."),
    **GUESSES,
    marked("Added, factor"): marked(
        "After minus before, and after divided by before. For one person a guess may get worse: below 0, and a factor "
        "below 1. On average over everybody it cannot."
    ),
}
"""The words of a report on one person, explained."""
POPULATION_TERMS = {
    marked("Alone"): marked(
        "Nobody else has the same in everything that is known: alone in the release (a sample unique), or alone in the "
        "whole population (a population unique)."
    ),
    marked("Journalist"): marked(
        "An adversary who has a register and names one record: her risk is 1 divided by the number of people of the "
        "population who fit, which is estimated as records alike divided by the sampling fraction (El Emam and Dankar "
        "2008)."
    ),
    marked("Marketer"): marked(
        "An adversary who has a register and names all records as well as she can: the share that she gets right "
        "(Dankar and El Emam 2010). The plain estimate, from the sizes in the release, is low. Two others take the "
        "expected size of each class (Benedetti and Franconi 1998), and the estimated number of classes in the "
        "population (Haas and Stokes 1998)."
    ),
    marked("Rule of Dankar et al."): marked(
        "Which estimator to take: Pitman’s up to a sampling fraction of a tenth, above it the lower one of Zayatz’s "
        "and SNB’s."
    ),
}
"""The words of a report without a register, explained."""
NOBODY_NAMED = marked("Nothing here tells who the people are.")


def membership_findings(outcome: Membership, *, subject: str = "person") -> tuple[Finding, ...]:
    """Return of how many it is certain whether they are in, how much better a guess is, and between which bounds.

    Of several releases the last one says instead in which of them most people are.

    Args:
        outcome: What came out.
        subject: What a record stands for.
    """
    words = {
        "many": plural(subject),
        "people": counted(outcome.people, subject),
        "register": outcome.population,
        "release": listed(outcome.datasets),
    }
    last = _in_which(outcome, words) if outcome.each else _bounds(outcome, words)
    guessed = None if has_few(outcome) else _guessed(outcome, words)
    return (_sure(outcome, words), *filter(None, [guessed, last]), *_untold(outcome))


def shown_patterns(outcome: Membership | Member) -> list[tuple[Pattern, Leakage]]:
    """Return the most frequent sets of releases; of everybody, what is before and after is the same.

    None is shown where one holds fewer people than may be told: beside the sizes of the releases any other one would
    tell how many. What is only to be expected, of releases that are not linked, is summed up.
    """
    if has_few(outcome):
        return []
    shares = [
        (pattern, Leakage(part, part) if isinstance(part, Fraction) else part)
        for pattern, part in outcome.patterns.items()
    ]
    ordered = sorted(shares, key=lambda item: -item[1].posterior)
    held = [item for item in ordered if item[1].prior]
    hidden = hidden_parts([(float(part.prior * outcome.people),) for _, part in held])
    return [item for place, item in enumerate(held) if place not in hidden][:MOST_PATTERNS]


def has_few(outcome: Membership | Member) -> bool:
    """Tell whether exactly some of several linked releases hold fewer people than may be told."""
    shares = (
        part if isinstance(part, Fraction) else part.prior for part in outcome.patterns.values()
    )
    return (
        len(outcome.datasets) > 1
        and outcome.linked
        and any(Discretion().hides(part * outcome.people) for part in shares)
    )


def _sure(outcome: Membership, words: dict[str, str]) -> Finding:
    """Say of how many people it is certain whether they are in."""
    if outcome.deterministic.prior == 1:
        return reassurance(_settled(outcome, words))
    several = bool(outcome.each)
    words = words | {
        "known": enumeration(outcome.quasi_identifiers),
        "certain": number(outcome.certain),
        "share": share(outcome.certain, outcome.people),
        "inside": number(outcome.certainly_in),
        "outside": number(outcome.certainly_out),
        "some": number(outcome.certain - outcome.certainly_in - outcome.certainly_out),
        "releases": number(len(outcome.each)),
    }
    if not outcome.certain:
        template, matter = NOBODY_SURE, WHETHER[several]
    else:
        template = EVERYBODY_SURE if outcome.certain == outcome.people else SOME_SURE
        matter = (WHETHER if has_few(outcome) else WHICH)[several]
    sentence = translated(template, matter=translated(matter, **words), **words)
    if not outcome.certain:
        return reassurance(sentence, meaning=translated(NOTHING_ELSE_KNOWN))
    remedy = text(
        "Publish less detail of what the register also tells: once people who are in and people who are not look "
        "alike, nobody is certain."
    )
    severity = graded(Fraction(0), certain=outcome.certain, people=outcome.people)
    return Finding(severity, sentence, "", translated(TELLING_IN_ITSELF), remedy)


def _settled(outcome: Membership, words: dict[str, str]) -> str:
    """Say that it is known beforehand who is in what: everybody is in the same releases."""
    (pattern,) = outcome.patterns
    if not pattern:
        template = marked(
            "None of the {people} of {register} is in {releases}: everybody knows that beforehand, and nothing is "
            "learned."
        )
    elif len(pattern) == len(outcome.datasets):
        template = marked(
            "Every one of the {people} of {register} is in {releases}: everybody knows that beforehand, and nothing is "
            "learned."
        )
    else:
        template = marked(
            "Every one of the {people} of {register} is in {releases}, and in no other release: everybody knows that "
            "beforehand, and nothing is learned."
        )
    return translated(template, releases=listed(pattern or outcome.datasets), **words)


def _guessed(outcome: Membership, words: dict[str, str]) -> Finding:
    """Say how much better a guess is."""
    guess = outcome.probabilistic
    before, after = map(in_words, map(percentage, (guess.prior, guess.posterior)))
    if not guess.additive:
        template = marked(
            "A guess at {matter} is right in {after} of cases: the register makes it no better."
        )
    elif before == after:
        template = marked(
            "A guess at {matter} is right in {after} of cases: the register makes it hardly better."
        )
    else:
        template = marked(
            "A guess at {matter} is right in {after} of cases, up from {before} without the register."
        )
    matter = (
        text("the exact releases that somebody is in")
        if outcome.each
        else text("who is in {release}", **words)
    )
    return Finding(
        graded(guess.additive) if guess.additive else Severity.SAFE,
        translated(template, matter=matter, before=before, after=after, **words),
        before_and_after(
            *map(Among(outcome.people, exact=True).ratio, (guess.prior, guess.posterior))
        ),
    )


def _bounds(outcome: Membership, words: dict[str, str]) -> Finding | None:
    """Say between which bounds everybody's chance of being in lies (δ-presence); from 0 to 1 is told as certainty."""
    low, high = outcome.delta_min, outcome.delta_max
    if low is None or high is None or (low == 0 and high == 1):
        return None
    lowest, highest = map(in_words, map(percentage, (low, high)))
    if low == high:
        template = marked("For everybody the chance of being in {release} is the same: {highest}.")
    elif lowest == highest:
        template = marked(
            "For everybody the chance of being in {release} is nearly the same: {highest}."
        )
    else:
        template = marked(
            "The chance of being in {release} is at least {lowest} and at most {highest} for everybody."
        )
    sentence = translated(template, lowest=lowest, highest=highest, **words)
    figure = text("exactly from {lowest} to {highest}", lowest=ratio(low), highest=ratio(high))
    if low != high:
        meaning = text(
            "The nearer to 100% the chance is, the surer she is that somebody is in; the nearer to 0%, that they are "
            "not."
        )
        return note(sentence, figure, meaning)
    alike = text("Who is in and who is not look alike: the register tells nothing of anybody.")
    return reassurance(sentence, meaning="" if low in (0, 1) else alike)


def _in_which(outcome: Membership, words: dict[str, str]) -> Finding:
    """Say in which releases most people are."""
    words = words | {"people": words["many"]}
    patterns = shown_patterns(outcome)[:MOST_PATTERNS_SAID]
    figures = percentages(*(part.posterior for _, part in patterns)) if patterns else ()
    shares = [
        text(
            "{share} are in {releases}",
            share=in_words(figure),
            releases=set_label(pattern, outcome.datasets),
        )
        if pattern
        else text("{share} are in none of the releases", share=in_words(figure))
        for (pattern, _), figure in zip(patterns, figures, strict=True)
    ]
    if not shares:
        return note(
            text(
                "In which releases the {people} are is not told, as fewer than {smallest} of them are in the same "
                "ones.",
                smallest=smallest_cell(),
                **words,
            )
        )
    return note(text("Of the {people} of {register}, {shares}.", shares=joined(shares), **words))


def member_findings(
    outcome: Member, *, subject: str = "person", exact: bool = False
) -> tuple[Finding, ...]:
    """Return who fits what is known of one person, and how likely it is that they are in, before and after.

    Args:
        outcome: What came out.
        subject: What a record stands for.
        exact: Whether small numbers of people are told: for the analyst's own eyes, never for a report.
    """
    outcome = outcome if exact else as_told(outcome)
    discretion = Discretion(exact or outcome.candidates == outcome.people)
    wording = EXACTLY if exact else among_candidates(outcome)
    several = len(outcome.datasets) > 1 and (exact or not has_few(outcome))
    return (
        _candidates(outcome, subject, discretion),
        _present(outcome, wording),
        *([_best_set(outcome, wording)] if several else []),
        *_untold(outcome),
    )


def among_candidates(outcome: Member) -> Among:
    """Return how chances among those who fit are told: hardly where they are few, or those of them who are in or out.

    How many are in a release of all is no secret.
    """
    counts = [
        count for inside in outcome.records for count in (inside, outcome.candidates - inside)
    ]
    hides = Discretion().hides
    if outcome.candidates == outcome.people or not any(map(hides, (outcome.candidates, *counts))):
        return EXACTLY
    return Among(None) if hides(outcome.candidates) else NOT_TOLD


def as_told(outcome: Member) -> Member:
    """Return an outcome that is the same for all that looks the same in a report, so that no sentence tells more."""
    wording, patterns = among_candidates(outcome), outcome.patterns
    if not wording.rough:
        return outcome

    def leakage(exact: Leakage, most: Fraction = Fraction(1)) -> Leakage:
        return replace(exact, posterior=min(most, wording.drawn(exact.posterior)))

    likeliest = max(patterns, key=lambda pattern: patterns[pattern].posterior)
    less_likely = {pattern: leakage(part, LESS_LIKELY) for pattern, part in patterns.items()}
    return replace(
        outcome,
        present=tuple(map(leakage, outcome.present)),
        patterns=less_likely | {likeliest: leakage(patterns[likeliest])},
        guess=leakage(outcome.guess),
    )


LESS_LIKELY = Fraction(1, 5)
"""How likely a set of releases is taken to be that is not the likeliest, where its chance is not told."""


def may_be_theirs(outcome: Member, records: int, discretion: Discretion) -> str:
    """Say how many records may be those of the person, unless it would tell how few are in the release, or are not."""
    candidates, hides = outcome.candidates, discretion.hides
    if not hides(candidates) and any(map(hides, (records, candidates - records))):
        return text("some records")
    return discretion.people(records, "record") if records else text("no record")


def _candidates(outcome: Member, subject: str, discretion: Discretion) -> Finding:
    """Say who fits what is known of one person."""
    if not outcome.known:
        template = marked(
            "Nothing is known of this person: any of the {people} of {register} may be meant."
        )
    elif len(outcome.datasets) > 1:
        template = marked(
            "{candidates} of the {people} of {register} may be this person, going by what is known ({known})."
        )
    else:
        template = marked(
            "{candidates} of the {people} of {register} may be this person, going by what is known ({known}); in "
            "{release}, {records} may be theirs."
        )
    sentence = translated(
        template,
        register=outcome.population,
        people=counted(outcome.people, subject),
        known=enumeration(list(outcome.known)),
        candidates=discretion.count(outcome.candidates),
        release=outcome.datasets[0],
        records=may_be_theirs(outcome, outcome.records[0], discretion),
    )
    return note(sentence[:1].upper() + sentence[1:])


def _present(outcome: Member, wording: Among) -> Finding:
    """Say whether the person is in the release, or in which of several."""
    moved = [abs(present.additive) for present in outcome.present]
    certain = any(present.posterior in (0, 1) and present.additive for present in outcome.present)
    if len(outcome.datasets) == 1:
        (only,) = outcome.present
        sentence = _present_sentence(outcome, wording)
        figure = before_and_after(ratio(only.prior), wording.ratio(only.posterior))
    else:
        sentence, figure = _places(outcome, wording), ""
    if not any(moved) and not wording.hides(*(present.posterior for present in outcome.present)):
        return reassurance(sentence, figure, translated(NOTHING_ELSE_KNOWN))
    severity = graded(max(moved), certain=certain)
    return Finding(severity, sentence, figure, translated(TELLING_IN_ITSELF))


def _present_sentence(outcome: Member, wording: Among) -> str:
    before, after = outcome.present[0].prior, outcome.present[0].posterior
    now, then = both_percentages((wording, after), (EXACTLY, before))
    if before == 1:
        template = marked(
            "It is certain that this person is in {release}, as everybody of {register} is."
        )
    elif before == 0:
        template = marked(
            "It is certain that this person is not in {release}, as nobody of {register} is."
        )
    elif after == 1:
        template = marked(
            "It is certain that this person is in {release}; of anybody in {register} the chance of being in it is "
            "{then}."
        )
    elif after == 0:
        template = marked(
            "It is certain that this person is not in {release}; of anybody in {register} the chance of being in it is "
            "{then}."
        )
    elif after == before and not wording.hides(after):
        template = marked(
            "The chance that this person is in {release} is {then}, the same as of anybody in {register}: nothing is "
            "learned."
        )
    elif wording.people == 0:
        template = marked(
            "How likely it is that this person is in {release} is not told; of anybody in {register} it is {then}."
        )
    else:
        template = marked(
            "The chance that this person is in {release} is {now}; of anybody in {register} it is {then}."
        )
    sentence = translated(
        template, release=outcome.datasets[0], register=outcome.population, now=now, then=then
    )
    if wording.rough or outcome.guess.additive >= 0 or after in (0, 1, before) or before in (0, 1):
        return sentence
    right, general = map(in_words, percentages(outcome.guess.posterior, outcome.guess.prior))
    harder = text(
        "Whether they are in it is harder to guess than of people in general: a guess is right in {right} of cases "
        "instead of {general}.",
        right=right,
        general=general,
    )
    return f"{sentence} {harder}"


def _places(outcome: Member, wording: Among) -> str:
    """Say how likely the person is to be in each of several releases."""
    after = [present.posterior for present in outcome.present]
    figures = (wording.cell(part).text for part in after) if wording.rough else percentages(*after)
    likely = map(in_words, figures)
    releases = list(zip(short_names(outcome.datasets), after, likely, strict=True))
    inside = [name for name, probability, _ in releases if probability == 1]
    outside = [name for name, probability, _ in releases if probability == 0]
    places = [text("certain for {releases}", releases=joined(inside))] if inside else []
    places += [text("ruled out for {releases}", releases=joined(outside))] if outside else []
    places += [
        text("{chance} for {release}", chance=how_likely, release=name)
        for name, probability, how_likely in releases
        if 0 < probability < 1
    ]
    return text(
        "How likely it is that this person is in each release: {places}.",
        places="; ".join(places),
    )


def _best_set(outcome: Member, wording: Among) -> Finding:
    """Say which set of several releases is the best guess, before and after."""
    patterns, guess = outcome.patterns, outcome.guess
    after, before = guess.posterior, guess.prior
    right, then = both_percentages((wording, after), (EXACTLY, before))
    likeliest = max(patterns, key=lambda pattern: patterns[pattern].posterior)
    former = max(patterns, key=lambda pattern: patterns[pattern].prior)
    if before == 1:
        template = marked(
            "Everybody in {register} is in the same releases ({first}): nothing is learned."
        )
    elif after == 1:
        template = marked(
            "It is certain which releases hold this person: {best}. Of anybody in {register} the best guess would be "
            "{first}, right in {then} of cases."
        )
    elif after < before and right != then and not wording.rough:
        template = marked(
            "Which releases hold this person is harder to guess than of people in general: the best guess is {best}, "
            "right in {right} of cases; of anybody in {register} it would be {first}, right in {then}."
        )
    else:
        template = marked(
            "The best guess at which releases hold this person is {best}, right in {right} of cases; of anybody in "
            "{register} it would be {first}, right in {then}."
        )
    sentence = translated(
        template,
        register=outcome.population,
        best=set_label(likeliest, outcome.datasets),
        first=set_label(former, outcome.datasets),
        right=right,
        then=then,
    )
    changed = any(pattern.additive for pattern in patterns.values())
    return Finding(
        graded(guess.additive, certain=outcome.certain) if changed else Severity.SAFE,
        sentence,
        before_and_after(ratio(before), wording.ratio(after)),
    )


def population_findings(
    risks: PopulationRisks, *, subject: str = "person", is_released: bool = True
) -> tuple[Finding, ...]:
    """Return how many people are estimated to be alone in the population, and what a register would be worth.

    Args:
        risks: What was estimated.
        subject: What a record stands for.
        is_released: Whether survey weights are in the release.
    """
    findings = [_alone(risks, subject), _differing(risks, subject), _with_a_register(risks)]
    if risks.weighted is not None:
        findings.append(weighted_finding(risks.weighted, subject, is_released=is_released))
    if risks.suppressed:
        sentence = text_for(
            risks.suppressed,
            "{count} further record shows nothing but “*” and is left out.",
            "{count} further records show nothing but “*” and are left out.",
        )
        findings.append(note(sentence))
    return tuple(findings)


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
    return max(same, key=lambda estimate: estimate.name in rule.note, default=None)


def estimated_count(uniques: float) -> str:
    """Return an estimated number of people as a sentence has it."""
    return text("fewer than {smallest}", smallest=1) if 0 < uniques < 1 else number(uniques, ",.0f")


def _alone(risks: PopulationRisks, subject: str) -> Finding:
    """Say how many are alone in the sample, and how many are estimated to be alone in the population.

    It is graded by the estimated share of the records whose people are alone in the population.
    """
    rule, severity = risks.dankar, Severity.NOTE if risks.uniques else Severity.SAFE
    alone = records_alone(risks)
    if risks.uniques and alone is not None:
        severity = graded(Fraction(0), certain=alone, people=risks.records)
    figure = (
        text("sample uniques: {sample}", sample=risks.uniques)
        if rule.population_uniques is None
        else text(
            "sample uniques: {sample}; population uniques, estimated: {population}",
            sample=risks.uniques,
            population=number(rule.population_uniques, ",.6g"),
        )
    )
    meaning = (
        text("Only who is alone in the population can be named with certainty.")
        if risks.fraction == 1
        else text(
            "Only who is alone in the population can be named with certainty; who is alone in the release may have a "
            "double who was not sampled."
        )
    )
    sentence = " ".join([_alone_in_sample(risks), *_alone_in_population(risks, subject)])
    remedy = text("Generalising or removing an attribute is what would protect them.")
    return Finding(severity, sentence, figure, meaning, remedy if risks.uniques else "")


def _alone_in_sample(risks: PopulationRisks) -> str:
    words = {
        "records": counted(risks.records, "record"),
        "dataset": risks.dataset,
        "known": enumeration(risks.quasi_identifiers),
    }
    if not risks.uniques:
        return text(
            "None of the {records} of {dataset} is alone with its {known}: nobody in the release is alone in the "
            "population.",
            **words,
        )
    return text_for(
        risks.uniques,
        "{count} of the {records} of {dataset} is alone with its {known}.",
        "{count} of the {records} of {dataset} are alone with their {known}.",
        **words,
    )


def _alone_in_population(risks: PopulationRisks, subject: str) -> list[str]:
    rule, alone = risks.dankar, records_alone(risks)
    if risks.fraction == 1:
        whole = text(
            "As the release is said to be the whole population, nobody there is like them either."
        )
        return [whole] if risks.uniques else []
    if rule.population_uniques is None or rule.share_of_population is None:
        return [
            text(
                "How many {people} are alone in the population could not be estimated.",
                people=plural(subject),
            )
        ]
    estimated = text(
        "Of the population of about {people}, by estimate, {uniques} ({share}) would be alone.",
        people=counted(risks.people, subject),
        uniques=estimated_count(rule.population_uniques),
        share=percentage(Fraction(rule.share_of_population)),
    )
    if not risks.uniques or alone is None:
        return [estimated]
    if not alone:
        return [
            text("Of these, by estimate, none would be alone in the whole population."),
            estimated,
        ]
    of_these = text_for(
        alone,
        "Of these, by estimate, {count} would be alone in the whole population, too: {share} of all records.",
        "Of these, by estimate, {count} would be alone in the whole population, too: {share} of all records.",
        share=share(alone, risks.records),
    )
    return [of_these, estimated]


def _differing(risks: PopulationRisks, subject: str) -> Finding:
    """Say how far the estimators are apart, and which one is taken."""
    if risks.fraction == 1:
        return note(
            text("The release is said to be the whole population: nothing is left to be estimated.")
        )
    taken = taken_by_the_rule(risks)
    if taken is None:
        return note(text("No estimator of how many are alone in the population found an answer."))
    silent = [row.name for row in risks.estimates[:-1] if row.population_uniques is None]
    figure = _chosen(taken, risks)
    if silent:
        figure = (
            f"{figure} {text('There is no answer from {estimators}.', estimators=joined(silent))}"
        )
    return note(
        _spread(risks, subject),
        figure,
        text("Take it as an order of magnitude: an estimate can be wrong by a multiple."),
        text("Get a register of the population: then it is counted instead of estimated."),
    )


def _spread(risks: PopulationRisks, subject: str) -> str:
    answers = [uniques for _, uniques in answers_of(risks)]
    lowest, highest = map(estimated_count, (min(answers), max(answers)))
    if lowest == highest:
        return text("How many are alone in the population is estimated, not counted.")
    return text(
        "How many are alone in the population is estimated, not counted, and the estimates differ: from {lowest} to "
        "{highest} {people}; {uniques} is taken.",
        lowest=lowest,
        highest=highest,
        uniques=estimated_count(risks.dankar.population_uniques or 0),
        people=plural(subject),
    )


def _chosen(taken: Estimate, risks: PopulationRisks) -> str:
    """Say which estimate is taken, and whether a population like that would have more uniques in its sample."""
    uniques = taken.population_uniques or 0
    template = (
        marked(
            "The estimate of {estimator} is taken, by the rule of Dankar et al. 2012, although it is more than fits "
            "the release."
        )
        if float(risks.fraction) * uniques > risks.uniques + 0.5
        else marked("The estimate of {estimator} is taken, by the rule of Dankar et al. 2012.")
    )
    return translated(template, estimator=taken.name)


def _with_a_register(risks: PopulationRisks) -> Finding:
    """Say what somebody with a register could do with the release."""
    low, high = named_with_a_register(risks)
    figures = percentages(low, high)
    template = (
        marked(
            "Someone with a register of the population would, by estimate, name {low} of the records right."
        )
        if len(set(figures)) == 1
        else marked(
            "Someone with a register of the population would, by estimate, name {low} to {high} of the records right."
        )
    )
    return Finding(
        graded(high),
        translated(template, low=figures[0], high=figures[1]),
        figure=text(
            "share named right, estimated: {plain}; with expected class sizes {expected}; by the number of classes "
            "{classes}",
            plain=number(risks.marketer, ".4g"),
            expected=number(risks.marketer_expected, ".4g"),
            classes=number(risks.marketer_by_classes, ".4g"),
        ),
        meaning=text("Such registers exist: of voters, of pupils, of customers."),
    )


def set_label(pattern: Pattern, datasets: Sequence[str]) -> str:
    """Say a set of releases.

    >>> set_label((), ["a_2014", "a_2015"]), set_label(("a_2015",), ["a_2014", "a_2015"])
    ('none of them', '2015 only')
    """
    if not pattern:
        return text("none of them")
    if len(pattern) == len(datasets) == 2:
        return text("both")
    if len(pattern) == len(datasets):
        return text("all {count}", count=len(datasets))
    short = dict(zip(datasets, short_names(datasets), strict=True))
    return text("{releases} only", releases=joined([short[name] for name in pattern]))


def linking(linked: bool) -> str:
    """Say how several releases were brought together."""
    if linked:
        return text("The releases were linked by an identifier.")
    return text(
        "The releases cannot be linked: among people who are alike on what is known, each is taken as an independent "
        "random choice."
    )


def _untold(outcome: Membership | Member) -> tuple[Finding, ...]:
    """Say how many records show nothing, where there are some."""
    if not any(outcome.suppressed):
        return ()
    sentence = text_for(
        sum(outcome.suppressed),
        "{count} record of {datasets} shows nothing but “*” and may be anybody's. It is not counted as being in: to be "
        "out means to be in none of the other records.",
        "{count} records of {datasets} show nothing but “*” and may be anybody's. They are not counted as being in: to "
        "be out means to be in none of the other records.",
        datasets=listed(outcome.datasets),
    )
    return (note(sentence),)
