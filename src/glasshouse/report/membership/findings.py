"""What was found about who is in a release, of everybody in a register, in sentences."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

from glasshouse.disclosure import hidden_parts
from glasshouse.language import number, text, text_for, translated
from glasshouse.microdata.presence import Member, Membership, Pattern
from glasshouse.microdata.uniqueness import Estimate, PopulationRisks
from glasshouse.report.attacks import graded
from glasshouse.report.charts import both_frequencies, chance, chances, frequency_range
from glasshouse.report.discretion import Discretion, Told, ratio
from glasshouse.report.page import Finding, Severity
from glasshouse.report.words import (
    counted,
    enumeration,
    frequency,
    joined,
    listed,
    percentage,
    plural,
    share,
    short_names,
    singular,
)

MOST_PATTERNS_SAID = 3
"""How many sets of releases a sentence names."""


def membership_findings(outcome: Membership, *, subject: str = "person") -> tuple[Finding, ...]:
    """Return of how many it is certain whether they are in, how much better a guess is, and between which bounds.

    Of several releases the last one says instead in which of them most people are.

    Args:
        outcome: What came out.
        subject: What a record stands for.
    """
    last = _in_which(outcome, subject) if outcome.each else _bounds(outcome, subject)
    return (
        _sure(outcome, subject),
        _guessed(outcome, subject),
        *([last] if last is not None else []),
        *untold(outcome.suppressed, outcome.datasets),
    )


def shown_patterns(outcome: Membership) -> tuple[list[tuple[Pattern, Fraction]], int, Fraction]:
    """Return the most frequent sets of releases, how many others there are, and the share of these together.

    A set that holds fewer people than may be told is not shown, nor are as many others as it takes to cover it.
    """
    ordered = sorted(outcome.patterns.items(), key=lambda item: -item[1])
    held = [item for item in ordered if item[1]]
    hidden = hidden_parts([(float(part * outcome.people),) for _, part in held])
    shown = [item for place, item in enumerate(held) if place not in hidden][:MOST_PATTERNS]
    rest = 1 - sum((part for _, part in shown), Fraction(0))
    return shown, len(ordered) - len(shown), rest


def _is_settled(outcome: Membership) -> bool:
    """Tell whether it is known beforehand who is in what: everybody is in the same releases."""
    return outcome.deterministic.prior == 1


def _sure(outcome: Membership, subject: str) -> Finding:
    """Say of how many people it is certain whether they are in."""
    if _is_settled(outcome):
        return Finding(Severity.SAFE, _settled(outcome, subject))
    certain = outcome.deterministic.posterior
    remedy = text(
        "Publish less detail of what the register also tells: once people who are in and people who are not look "
        "alike, nobody is certain."
    )
    return Finding(
        graded(certain, certain=True) if certain else Severity.SAFE,
        _sure_of_several(outcome, subject) if outcome.each else _sure_of_one(outcome, subject),
        figure=text(
            "{code}: {certain} of {people} certain, {inside} in, {outside} out",
            code=outcome.code,
            certain=outcome.certain,
            people=outcome.people,
            inside=outcome.certainly_in,
            outside=outcome.certainly_out,
        ),
        meaning=text(
            "To be in a release can be telling in itself, such as in that of a clinic or of a programme for the poor."
        )
        if certain
        else text("This holds as long as she knows nothing else about the person."),
        remedy=remedy if certain else "",
    )


def _parts(outcome: Membership, subject: str) -> dict[str, str]:
    others = outcome.certain - outcome.certainly_in - outcome.certainly_out
    return {
        "known": enumeration(outcome.quasi_identifiers),
        "register": outcome.population,
        "people": counted(outcome.people, subject),
        "certain": number(outcome.certain),
        "share": share(outcome.certain, outcome.people),
        "inside": number(outcome.certainly_in),
        "outside": number(outcome.certainly_out),
        "some": number(others),
    }


def _sure_of_one(outcome: Membership, subject: str) -> str:
    parts = _parts(outcome, subject) | {"release": listed(outcome.datasets)}
    if not outcome.certain:
        return text(
            "Someone who knows the {known} of everybody in {register} cannot tell with certainty of anybody among the "
            "{people} whether they are in {release}.",
            **parts,
        )
    if outcome.certain == outcome.people:
        return text(
            "Someone who knows the {known} of everybody in {register} can tell with certainty of every one of the "
            "{people} whether they are in {release} ({inside}) or not ({outside}).",
            **parts,
        )
    return text(
        "Someone who knows the {known} of everybody in {register} can tell with certainty of {certain} of the {people} "
        "({share}) whether they are in {release} ({inside}) or not ({outside}).",
        **parts,
    )


def _sure_of_several(outcome: Membership, subject: str) -> str:
    parts = _parts(outcome, subject) | {"releases": number(len(outcome.each))}
    if not outcome.certain:
        return text(
            "Someone who knows the {known} of everybody in {register} cannot tell with certainty of anybody among the "
            "{people} in exactly which of the {releases} releases they are.",
            **parts,
        )
    if outcome.certain == outcome.people:
        return text(
            "Someone who knows the {known} of everybody in {register} can tell with certainty of every one of the "
            "{people} in exactly which of the {releases} releases they are: in all ({inside}), in none ({outside}) or "
            "in some ({some}).",
            **parts,
        )
    return text(
        "Someone who knows the {known} of everybody in {register} can tell with certainty of {certain} of the {people} "
        "({share}) in exactly which of the {releases} releases they are: in all ({inside}), in none ({outside}) or in "
        "some ({some}).",
        **parts,
    )


def _settled(outcome: Membership, subject: str) -> str:
    (pattern,) = outcome.patterns
    parts = {
        "people": counted(outcome.people, subject),
        "register": outcome.population,
        "releases": listed(outcome.datasets),
    }
    if not pattern:
        return text(
            "None of the {people} of {register} is in {releases}: everybody knows that beforehand, and nothing is "
            "learned.",
            **parts,
        )
    if len(pattern) == len(outcome.datasets):
        return text(
            "Every one of the {people} of {register} is in {releases}: everybody knows that beforehand, and nothing is "
            "learned.",
            **parts,
        )
    return text(
        "Every one of the {people} of {register} is in {releases}, and in no other release: everybody knows that "
        "beforehand, and nothing is learned.",
        **(parts | {"releases": listed(pattern)}),
    )


def _guessed(outcome: Membership, subject: str) -> Finding:
    """Say how much better a guess is."""
    guess = outcome.probabilistic
    return Finding(
        graded(guess.additive) if guess.additive else Severity.SAFE,
        _guess_at_several(outcome, subject) if outcome.each else _guess_at_one(outcome, subject),
        figure=text(
            "{code}: prior {prior}, posterior {posterior}",
            code=outcome.code,
            prior=ratio(guess.prior),
            posterior=ratio(guess.posterior),
        ),
    )


def _guess_parts(outcome: Membership, subject: str) -> dict[str, str]:
    return {
        "many": plural(subject),
        "after": frequency(outcome.probabilistic.posterior),
        "before": frequency(outcome.probabilistic.prior),
    }


def _guess_at_one(outcome: Membership, subject: str) -> str:
    parts = _guess_parts(outcome, subject) | {"release": listed(outcome.datasets)}
    if not outcome.probabilistic.additive:
        return text(
            "A guess at who is in {release} is right for {after} {many}: the register makes it no better.",
            **parts,
        )
    if parts["before"] == parts["after"]:
        return text(
            "A guess at who is in {release} is right for {after} {many}: the register makes it hardly better.",
            **parts,
        )
    return text(
        "A guess at who is in {release} is right for {after} {many}; without the register it would be {before}.",
        **parts,
    )


def _guess_at_several(outcome: Membership, subject: str) -> str:
    parts = _guess_parts(outcome, subject)
    if not outcome.probabilistic.additive:
        return text(
            "A guess at the exact releases that somebody is in is right for {after} {many}: the register makes it no "
            "better.",
            **parts,
        )
    if parts["before"] == parts["after"]:
        return text(
            "A guess at the exact releases that somebody is in is right for {after} {many}: the register makes it "
            "hardly better.",
            **parts,
        )
    return text(
        "A guess at the exact releases that somebody is in is right for {after} {many}; without the register it would "
        "be {before}.",
        **parts,
    )


def _bounds(outcome: Membership, subject: str) -> Finding | None:
    """Say between which bounds everybody's chance of being in lies (δ-presence)."""
    low, high = outcome.delta_min, outcome.delta_max
    if low is None or high is None:
        return None
    return Finding(
        Severity.SAFE if low == high else Severity.NOTE,
        _bounds_sentence(low, high, subject, release=listed(outcome.datasets)),
        figure=text(
            "δ-presence: from {lowest} to {highest}", lowest=ratio(low), highest=ratio(high)
        ),
        meaning=_bounds_mean(low, high),
    )


def _bounds_mean(low: Fraction, high: Fraction) -> str:
    if low != high:
        return text(
            "The nearer to 1 the chance is, the surer she is that somebody is in; the nearer to 0, that they are not."
        )
    if low in (0, 1):
        return ""
    return text("Who is in and who is not look alike: the register tells nothing of anybody.")


def _bounds_sentence(low: Fraction, high: Fraction, subject: str, *, release: str) -> str:
    if low == high:
        same = number(int(low)) if low in (0, 1) else frequency(low)
        return text(
            "For everybody the chance of being in {release} is the same: {chance}.",
            release=release,
            chance=same,
        )
    if low == 0 or high == 1:
        return text(
            "From one {subject} to another the chance of being in {release} varies between {lowest} and {highest}.",
            subject=singular(subject),
            release=release,
            lowest=text("0 (out for sure)") if low == 0 else frequency(low),
            highest=text("1 (in for sure)") if high == 1 else frequency(high),
        )
    if frequency(low) == frequency(high):
        return text(
            "For everybody the chance of being in {release} is nearly the same: {chance}.",
            release=release,
            chance=frequency(high),
        )
    return text(
        "For everybody the chance of being in {release} lies between {both}.",
        release=release,
        both=both_frequencies(low, high),
    )


def _in_which(outcome: Membership, subject: str) -> Finding:
    """Say in which releases most people are."""
    shown, _, _ = shown_patterns(outcome)
    if not shown:
        return Finding(
            Severity.NOTE,
            text(
                "In which releases the {people} are is not told: they are too few.",
                people=plural(subject),
            ),
        )
    said = [
        text("{frequency} are in none of the releases", frequency=frequency(part))
        if not pattern
        else text(
            "{frequency} are in {releases}",
            frequency=frequency(part),
            releases=set_label(pattern, outcome.datasets),
        )
        for pattern, part in shown[:MOST_PATTERNS_SAID]
    ]
    return Finding(
        Severity.NOTE,
        text(
            "Of the {people} of {register}, {shares}.",
            people=plural(subject),
            register=outcome.population,
            shares=joined(said),
        ),
    )


def member_findings(
    outcome: Member, *, subject: str = "person", exact: bool = False
) -> tuple[Finding, ...]:
    """Return who fits what is known of one person, and how likely it is that they are in, before and after.

    Args:
        outcome: What came out.
        subject: What a record stands for.
        exact: Whether small numbers of people are told: for the analyst's own eyes, never for a report.
    """
    discretion = Discretion(exact or outcome.candidates == outcome.people)
    told = Told(is_rough(outcome, discretion))
    found = [_candidates(outcome, subject, discretion)]
    if len(outcome.datasets) == 1:
        found.append(_present(outcome, subject, told))
    else:
        found += [_present_in_each(outcome, subject, told), _best_set(outcome, subject, told)]
    return (*found, *untold(outcome.suppressed, outcome.datasets))


def is_rough(outcome: Member, discretion: Discretion) -> bool:
    """Tell whether those who fit are so few that chances among them are told in tenths only."""
    if outcome.candidates == outcome.people:
        return False
    return any(map(discretion.hides, (outcome.candidates, *outcome.records)))


def may_be_theirs(records: int, discretion: Discretion) -> str:
    """Say how many records may be those of the person."""
    return discretion.people(records, "record") if records else text("no record")


def _candidates(outcome: Member, subject: str, discretion: Discretion) -> Finding:
    """Say who fits what is known of one person."""
    candidates = discretion.count(outcome.candidates)
    parts = {
        "subject": singular(subject),
        "register": outcome.population,
        "people": counted(outcome.people, subject),
        "known": enumeration(list(outcome.known)),
        "candidates": candidates,
    }
    sentence = _candidates_sentence(outcome, parts, discretion)
    return Finding(
        Severity.NOTE,
        sentence[:1].upper() + sentence[1:],
        figure=text("{code}: candidates {candidates}", code=outcome.code, candidates=candidates),
    )


def _candidates_sentence(outcome: Member, parts: dict[str, str], discretion: Discretion) -> str:
    if not outcome.known:
        return text(
            "Nothing is known of this {subject}: any of the {people} of {register} may be meant.",
            subject=parts["subject"],
            people=parts["people"],
            register=parts["register"],
        )
    if len(outcome.datasets) > 1:
        return text(
            "{candidates} of the {people} of {register} may be this {subject}, going by what is known ({known}).",
            **parts,
        )
    return text(
        "{candidates} of the {people} of {register} may be this {subject}, going by what is known ({known}); in "
        "{release}, {records} may be theirs.",
        release=outcome.datasets[0],
        records=may_be_theirs(outcome.records[0], discretion),
        **parts,
    )


def _present(outcome: Member, subject: str, told: Told) -> Finding:
    """Say whether the person is in the one release."""
    before, after = outcome.present[0].prior, outcome.present[0].posterior
    severity = graded(abs(after - before), certain=after in (0, 1))
    return Finding(
        Severity.SAFE if before == after else severity,
        _present_sentence(outcome, subject, told),
        figure=text(
            "{code}: prior {prior}, posterior {posterior}",
            code=outcome.code,
            prior=ratio(before),
            posterior=told.ratio(after),
        ),
        meaning=_present_means(outcome),
    )


def _present_means(outcome: Member) -> str:
    if all(present.prior == present.posterior for present in outcome.present):
        return text("This holds as long as she knows nothing else about the person.")
    return text(
        "To be in a release can be telling in itself, such as in that of a clinic or of a programme for the poor."
    )


def _present_sentence(outcome: Member, subject: str, told: Told) -> str:
    before, after = outcome.present[0].prior, outcome.present[0].posterior
    now, then = told.chances(after, before)
    parts = {
        "subject": singular(subject),
        "release": outcome.datasets[0],
        "register": outcome.population,
        "now": now,
        "then": then if 0 < after < 1 else chance(before),
    }
    if before == 1:
        return text(
            "It is certain that this {subject} is in {release}, as everybody of {register} is.",
            **parts,
        )
    if before == 0:
        return text(
            "It is certain that this {subject} is not in {release}, as nobody of {register} is.",
            **parts,
        )
    if after == 1:
        return text(
            "It is certain that this {subject} is in {release}; of anybody in {register} the chance of being in it is "
            "{then}.",
            **parts,
        )
    if after == 0:
        return text(
            "It is certain that this {subject} is not in {release}; of anybody in {register} the chance of being in it "
            "is {then}.",
            **parts,
        )
    if after == before:
        return text(
            "The chance that this {subject} is in {release} is {then}, the same as of anybody in {register}: nothing "
            "is learned.",
            **parts,
        )
    sentence = text(
        "The chance that this {subject} is in {release} is {now}; of anybody in {register} it is {then}.",
        **parts,
    )
    return f"{sentence} {_harder(outcome, told)}" if outcome.guess.additive < 0 else sentence


def _harder(outcome: Member, told: Told) -> str:
    """Say that a guess gets worse."""
    right, general = told.chances(outcome.guess.posterior, outcome.guess.prior)
    return text(
        "Whether they are in it is harder to guess than of people in general: a guess is right with a chance of "
        "{right} instead of {general}.",
        right=right,
        general=general,
    )


def _present_in_each(outcome: Member, subject: str, told: Told) -> Finding:
    """Say in which of several releases the person is."""
    moved = [abs(present.posterior - present.prior) for present in outcome.present]
    certain = any(present.posterior in (0, 1) and present.additive for present in outcome.present)
    return Finding(
        graded(max(moved), certain=certain) if any(moved) else Severity.SAFE,
        text(
            "How likely it is that this {subject} is in each release: {places}.",
            subject=singular(subject),
            places="; ".join(_places(outcome, told)),
        ),
        meaning=_present_means(outcome),
    )


def _places(outcome: Member, told: Told) -> list[str]:
    after = [present.posterior for present in outcome.present]
    said = list(
        zip(
            short_names(outcome.datasets),
            after,
            map(told.chance, after) if told.rough else chances(*after),
            strict=True,
        )
    )
    inside = [name for name, probability, _ in said if probability == 1]
    outside = [name for name, probability, _ in said if probability == 0]
    places = [text("certain for {releases}", releases=joined(inside))] if inside else []
    places += [text("ruled out for {releases}", releases=joined(outside))] if outside else []
    return places + [
        text("{chance} for {release}", chance=how_likely, release=name)
        for name, probability, how_likely in said
        if 0 < probability < 1
    ]


def _best_set(outcome: Member, subject: str, told: Told) -> Finding:
    """Say which set of several releases is the best guess, before and after."""
    guess = outcome.guess
    changed = any(pattern.prior != pattern.posterior for pattern in outcome.patterns.values())
    return Finding(
        graded(guess.additive, certain=outcome.certain) if changed else Severity.SAFE,
        _best_set_sentence(outcome, subject, told),
        figure=text(
            "{code}: prior {prior}, posterior {posterior}",
            code=outcome.code,
            prior=ratio(guess.prior),
            posterior=told.ratio(guess.posterior),
        ),
    )


def _best_set_sentence(outcome: Member, subject: str, told: Told) -> str:
    after, before = outcome.guess.posterior, outcome.guess.prior
    likeliest = max(outcome.patterns, key=lambda pattern: outcome.patterns[pattern].posterior)
    former = max(outcome.patterns, key=lambda pattern: outcome.patterns[pattern].prior)
    right, then = told.chances(after, before)
    parts = {
        "subject": singular(subject),
        "register": outcome.population,
        "best": set_label(likeliest, outcome.datasets),
        "first": set_label(former, outcome.datasets),
        "right": right,
        "then": then,
    }
    if before == 1:
        return text(
            "Everybody in {register} is in the same releases ({first}): nothing is learned.",
            register=parts["register"],
            first=parts["first"],
        )
    if after == 1:
        return text(
            "It is certain which releases hold this {subject}: {best}. Of anybody in {register} the best guess would "
            "be {first}, right with a chance of {then}.",
            **parts,
        )
    if after < before:
        return text(
            "Less is known of this {subject} than of people in general: the best guess at which releases hold them is "
            "{best}, right with a chance of {right}; of anybody in {register} it would be {first}, right with a chance "
            "of {then}.",
            **parts,
        )
    return text(
        "The best guess at which releases hold this {subject} is {best}, right with a chance of {right}; of anybody in "
        "{register} it would be {first}, right with a chance of {then}.",
        **parts,
    )


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


COMMAND = "glasshouse membership --study study.toml"
"""What repeats a report on who is in a release."""
MOST_PATTERNS = 10
"""How many sets of releases a table shows by themselves."""


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


def untold(suppressed: Sequence[int], datasets: Sequence[str]) -> tuple[Finding, ...]:
    """Say how many records show nothing, where there are some."""
    if not any(suppressed):
        return ()
    sentence = text_for(
        sum(suppressed),
        "{count} record of {datasets} shows nothing but “*” and may be anybody's. It is not counted as being in: to be "
        "out means to be in none of the other records.",
        "{count} records of {datasets} show nothing but “*” and may be anybody's. They are not counted as being in: to "
        "be out means to be in none of the other records.",
        datasets=listed(datasets),
    )
    return (Finding(Severity.NOTE, sentence),)
