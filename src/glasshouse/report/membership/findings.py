"""What was found about who is in a release, in sentences: of everybody, of one person, without a register."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

from glasshouse.disclosure import hidden_parts
from glasshouse.language import number, text, text_for, translated
from glasshouse.microdata.assessment import Leakage
from glasshouse.microdata.presence import Member, Membership, Pattern
from glasshouse.microdata.uniqueness import Estimate, PopulationRisks
from glasshouse.report.attacks import graded
from glasshouse.report.cells import prior_and_posterior
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

MOST_PATTERNS = 10
"""How many sets of releases a table shows by themselves."""
MOST_PATTERNS_SAID = 3
"""How many sets of releases a sentence names."""


def membership_findings(outcome: Membership, *, subject: str = "person") -> tuple[Finding, ...]:
    """Return of how many it is certain whether they are in, how much better a guess is, and between which bounds.

    Of several releases the last one says instead in which of them most people are.

    Args:
        outcome: What came out.
        subject: What a record stands for.
    """
    parts = {
        "subject": singular(subject),
        "many": plural(subject),
        "people": counted(outcome.people, subject),
        "register": outcome.population,
        "release": listed(outcome.datasets),
    }
    last = _in_which(outcome, parts) if outcome.each else _bounds(outcome, parts)
    return (
        _sure(outcome, parts),
        _guessed(outcome, parts),
        *([last] if last is not None else []),
        *_untold(outcome),
    )


def shown_patterns(outcome: Membership | Member) -> list[tuple[Pattern, Leakage]]:
    """Return the most frequent sets of releases; of everybody, what is before and after is the same.

    A set that holds fewer people than may be told is not shown, nor are as many others as it takes to cover it.
    """
    shares = [
        (pattern, Leakage(part, part) if isinstance(part, Fraction) else part)
        for pattern, part in outcome.patterns.items()
    ]
    ordered = sorted(shares, key=lambda item: -item[1].posterior)
    held = [item for item in ordered if item[1].prior]
    hidden = hidden_parts([(float(part.prior * outcome.people),) for _, part in held])
    return [item for place, item in enumerate(held) if place not in hidden][:MOST_PATTERNS]


def _sure(outcome: Membership, parts: dict[str, str]) -> Finding:
    """Say of how many people it is certain whether they are in."""
    if outcome.deterministic.prior == 1:
        return Finding(Severity.SAFE, _settled(outcome, parts))
    parts = parts | {
        "known": enumeration(outcome.quasi_identifiers),
        "certain": number(outcome.certain),
        "share": share(outcome.certain, outcome.people),
        "inside": number(outcome.certainly_in),
        "outside": number(outcome.certainly_out),
        "some": number(outcome.certain - outcome.certainly_in - outcome.certainly_out),
        "releases": number(len(outcome.each)),
    }
    sentence = _sure_sentence(outcome, parts)
    figure = text(
        "{code}: {certain} of {people} certain, {inside} in, {outside} out",
        code=outcome.code,
        **(parts | {"people": number(outcome.people)}),
    )
    certain = outcome.deterministic.posterior
    if not certain:
        return Finding(Severity.SAFE, sentence, figure, _nothing_else_known())
    remedy = text(
        "Publish less detail of what the register also tells: once people who are in and people who are not look "
        "alike, nobody is certain."
    )
    return Finding(graded(certain, certain=True), sentence, figure, _telling_in_itself(), remedy)


def _nothing_else_known() -> str:
    return text("This holds as long as she knows nothing else about the person.")


def _telling_in_itself() -> str:
    return text(
        "To be in a release can be telling in itself, such as in that of a clinic or of a programme for the poor."
    )


def _sure_sentence(outcome: Membership, parts: dict[str, str]) -> str:
    if not outcome.certain:
        return text(
            "Someone who knows the {known} of everybody in {register} cannot tell with certainty of anybody among the "
            "{people} {matter}.",
            matter=text("in exactly which of the {releases} releases they are", **parts)
            if outcome.each
            else text("whether they are in {release}", **parts),
            **parts,
        )
    matter = (
        text(
            "in exactly which of the {releases} releases they are: in all ({inside}), in none ({outside}) or in some "
            "({some})",
            **parts,
        )
        if outcome.each
        else text("whether they are in {release} ({inside}) or not ({outside})", **parts)
    )
    if outcome.certain == outcome.people:
        return text(
            "Someone who knows the {known} of everybody in {register} can tell with certainty of every one of the "
            "{people} {matter}.",
            matter=matter,
            **parts,
        )
    return text(
        "Someone who knows the {known} of everybody in {register} can tell with certainty of {certain} of the {people} "
        "({share}) {matter}.",
        matter=matter,
        **parts,
    )


def _settled(outcome: Membership, parts: dict[str, str]) -> str:
    """Say that it is known beforehand who is in what: everybody is in the same releases."""
    (pattern,) = outcome.patterns
    parts = parts | {"releases": listed(pattern or outcome.datasets)}
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
        **parts,
    )


def _guessed(outcome: Membership, parts: dict[str, str]) -> Finding:
    """Say how much better a guess is."""
    guess = outcome.probabilistic
    parts = parts | {
        "matter": text("the exact releases that somebody is in")
        if outcome.each
        else text("who is in {release}", **parts),
        "after": frequency(guess.posterior),
        "before": frequency(guess.prior),
    }
    if not guess.additive:
        sentence = text(
            "A guess at {matter} is right for {after} {many}: the register makes it no better.",
            **parts,
        )
    elif parts["before"] == parts["after"]:
        sentence = text(
            "A guess at {matter} is right for {after} {many}: the register makes it hardly better.",
            **parts,
        )
    else:
        sentence = text(
            "A guess at {matter} is right for {after} {many}; without the register it would be {before}.",
            **parts,
        )
    return Finding(
        graded(guess.additive) if guess.additive else Severity.SAFE,
        sentence,
        prior_and_posterior(outcome.code, ratio(guess.prior), ratio(guess.posterior)),
    )


def _bounds(outcome: Membership, parts: dict[str, str]) -> Finding | None:
    """Say between which bounds everybody's chance of being in lies (δ-presence)."""
    low, high = outcome.delta_min, outcome.delta_max
    if low is None or high is None:
        return None
    if low != high:
        meaning = text(
            "The nearer to 1 the chance is, the surer she is that somebody is in; the nearer to 0, that they are not."
        )
    elif low in (0, 1):
        meaning = ""
    else:
        meaning = text(
            "Who is in and who is not look alike: the register tells nothing of anybody."
        )
    return Finding(
        Severity.SAFE if low == high else Severity.NOTE,
        _bounds_sentence(low, high, parts),
        text("δ-presence: from {lowest} to {highest}", lowest=ratio(low), highest=ratio(high)),
        meaning,
    )


def _bounds_sentence(low: Fraction, high: Fraction, parts: dict[str, str]) -> str:
    parts = parts | {
        "lowest": text("0 (out for sure)") if low == 0 else frequency(low),
        "highest": text("1 (in for sure)") if high == 1 else frequency(high),
        "chance": number(int(high)) if high in (0, 1) else frequency(high),
        "both": both_frequencies(low, high),
    }
    if low == high:
        return text(
            "For everybody the chance of being in {release} is the same: {chance}.", **parts
        )
    if low == 0 or high == 1:
        return text(
            "From one {subject} to another the chance of being in {release} varies between {lowest} and {highest}.",
            **parts,
        )
    if parts["lowest"] == parts["highest"]:
        return text(
            "For everybody the chance of being in {release} is nearly the same: {chance}.", **parts
        )
    return text("For everybody the chance of being in {release} lies between {both}.", **parts)


def _in_which(outcome: Membership, parts: dict[str, str]) -> Finding:
    """Say in which releases most people are."""
    parts = parts | {"people": parts["many"]}
    shares = [
        text(
            "{frequency} are in {releases}",
            frequency=frequency(part.posterior),
            releases=set_label(pattern, outcome.datasets),
        )
        if pattern
        else text("{frequency} are in none of the releases", frequency=frequency(part.posterior))
        for pattern, part in shown_patterns(outcome)[:MOST_PATTERNS_SAID]
    ]
    if shares:
        sentence = text("Of the {people} of {register}, {shares}.", shares=joined(shares), **parts)
    else:
        sentence = text(
            "In which releases the {people} are is not told: they are too few.", **parts
        )
    return Finding(Severity.NOTE, sentence)


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
    several = len(outcome.datasets) > 1
    return (
        _candidates(outcome, subject, discretion),
        _present(outcome, subject, told),
        *([_best_set(outcome, subject, told)] if several else []),
        *_untold(outcome),
    )


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
    parts = {
        "code": outcome.code,
        "subject": singular(subject),
        "register": outcome.population,
        "people": counted(outcome.people, subject),
        "known": enumeration(list(outcome.known)),
        "candidates": discretion.count(outcome.candidates),
        "release": outcome.datasets[0],
        "records": may_be_theirs(outcome.records[0], discretion),
    }
    if not outcome.known:
        sentence = text(
            "Nothing is known of this {subject}: any of the {people} of {register} may be meant.",
            **parts,
        )
    elif len(outcome.datasets) > 1:
        sentence = text(
            "{candidates} of the {people} of {register} may be this {subject}, going by what is known ({known}).",
            **parts,
        )
    else:
        sentence = text(
            "{candidates} of the {people} of {register} may be this {subject}, going by what is known ({known}); in "
            "{release}, {records} may be theirs.",
            **parts,
        )
    return Finding(
        Severity.NOTE,
        sentence[:1].upper() + sentence[1:],
        text("{code}: candidates {candidates}", **parts),
    )


def _present(outcome: Member, subject: str, told: Told) -> Finding:
    """Say whether the person is in the release, or in which of several."""
    moved = [abs(present.additive) for present in outcome.present]
    certain = any(present.posterior in (0, 1) and present.additive for present in outcome.present)
    if len(outcome.datasets) == 1:
        (only,) = outcome.present
        sentence = _present_sentence(outcome, subject, told)
        figure = prior_and_posterior(outcome.code, ratio(only.prior), told.ratio(only.posterior))
    else:
        figure = ""
        sentence = text(
            "How likely it is that this {subject} is in each release: {places}.",
            subject=singular(subject),
            places="; ".join(_places(outcome, told)),
        )
    if not any(moved):
        return Finding(Severity.SAFE, sentence, figure, _nothing_else_known())
    return Finding(graded(max(moved), certain=certain), sentence, figure, _telling_in_itself())


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
    if outcome.guess.additive >= 0:
        return sentence
    right, general = told.chances(outcome.guess.posterior, outcome.guess.prior)
    harder = text(
        "Whether they are in it is harder to guess than of people in general: a guess is right with a chance of "
        "{right} instead of {general}.",
        right=right,
        general=general,
    )
    return f"{sentence} {harder}"


def _places(outcome: Member, told: Told) -> list[str]:
    after = [present.posterior for present in outcome.present]
    likely = map(told.chance, after) if told.rough else chances(*after)
    releases = list(zip(short_names(outcome.datasets), after, likely, strict=True))
    inside = [name for name, probability, _ in releases if probability == 1]
    outside = [name for name, probability, _ in releases if probability == 0]
    places = [text("certain for {releases}", releases=joined(inside))] if inside else []
    places += [text("ruled out for {releases}", releases=joined(outside))] if outside else []
    return places + [
        text("{chance} for {release}", chance=how_likely, release=name)
        for name, probability, how_likely in releases
        if 0 < probability < 1
    ]


def _best_set(outcome: Member, subject: str, told: Told) -> Finding:
    """Say which set of several releases is the best guess, before and after."""
    patterns, guess = outcome.patterns, outcome.guess
    after, before = guess.posterior, guess.prior
    right, then = told.chances(after, before)
    likeliest = max(patterns, key=lambda pattern: patterns[pattern].posterior)
    former = max(patterns, key=lambda pattern: patterns[pattern].prior)
    parts = {
        "subject": singular(subject),
        "register": outcome.population,
        "best": set_label(likeliest, outcome.datasets),
        "first": set_label(former, outcome.datasets),
        "right": right,
        "then": then,
    }
    if before == 1:
        sentence = text(
            "Everybody in {register} is in the same releases ({first}): nothing is learned.",
            **parts,
        )
    elif after == 1:
        sentence = text(
            "It is certain which releases hold this {subject}: {best}. Of anybody in {register} the best guess would "
            "be {first}, right with a chance of {then}.",
            **parts,
        )
    elif after < before:
        sentence = text(
            "Less is known of this {subject} than of people in general: the best guess at which releases hold them is "
            "{best}, right with a chance of {right}; of anybody in {register} it would be {first}, right with a chance "
            "of {then}.",
            **parts,
        )
    else:
        sentence = text(
            "The best guess at which releases hold this {subject} is {best}, right with a chance of {right}; of "
            "anybody in {register} it would be {first}, right with a chance of {then}.",
            **parts,
        )
    changed = any(pattern.additive for pattern in patterns.values())
    return Finding(
        graded(guess.additive, certain=outcome.certain) if changed else Severity.SAFE,
        sentence,
        prior_and_posterior(outcome.code, ratio(before), told.ratio(after)),
    )


def population_findings(risks: PopulationRisks, *, subject: str = "person") -> tuple[Finding, ...]:
    """Return how many people are estimated to be alone in the population, and what a register would be worth.

    Args:
        risks: What was estimated.
        subject: What a record stands for.
    """
    findings = [_alone(risks, subject), _differing(risks, subject), _with_a_register(risks)]
    if risks.suppressed:
        sentence = text_for(
            risks.suppressed,
            "{count} further record shows nothing but “*” and is left out.",
            "{count} further records show nothing but “*” and are left out.",
        )
        findings.append(Finding(Severity.NOTE, sentence))
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


def rounded(uniques: float) -> str:
    """Return an estimated number of people as a sentence has it."""
    return text("fewer than {smallest}", smallest=1) if 0 < uniques < 1 else number(uniques, ",.0f")


def remarks(note: str) -> str:
    """Return the remarks of an estimator in the language that is spoken."""
    return "; ".join(map(translated, note.split("; ")))


def _alone(risks: PopulationRisks, subject: str) -> Finding:
    """Say how many are alone in the sample, and how many are estimated to be alone in the population."""
    uniques = risks.dankar.population_uniques
    figure = (
        text("sample uniques: {sample}", sample=risks.uniques)
        if uniques is None
        else text(
            "sample uniques: {sample}; population uniques, estimated: {population}",
            sample=risks.uniques,
            population=number(uniques, ",.6g"),
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
    return Finding(
        _alone_severity(risks),
        " ".join([_alone_in_sample(risks), *_alone_in_population(risks, subject)]),
        figure,
        meaning,
        text("Generalising or removing an attribute is what would protect them.")
        if risks.uniques
        else "",
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
        uniques=rounded(rule.population_uniques),
        share=percentage(Fraction(rule.share_of_population)),
    )
    if not risks.uniques or part is None:
        return [estimated]
    of_these = text(
        "Of these, by estimate, {uniques} ({share}) would be alone in the whole population, too.",
        uniques=rounded(risks.uniques * part),
        share=percentage(Fraction(part)),
    )
    return [of_these, estimated]


def _alone_severity(risks: PopulationRisks) -> Severity:
    """Grade by the estimated share of the records whose people are alone in the population."""
    part = risks.dankar.share_of_sample_uniques
    if not risks.uniques:
        return Severity.SAFE
    if part is None:
        return Severity.NOTE
    alone = risks.uniques * part
    return graded(Fraction(alone) / risks.records, certain=alone >= 1)


def _differing(risks: PopulationRisks, subject: str) -> Finding:
    """Say how far the estimators are apart, and which one is taken."""
    if risks.fraction == 1:
        whole = text(
            "The release is said to be the whole population: nothing is left to be estimated."
        )
        return Finding(Severity.NOTE, whole)
    taken = taken_by_the_rule(risks)
    if taken is None:
        none = text("No estimator of how many are alone in the population found an answer.")
        return Finding(Severity.NOTE, none)
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
    """Say which estimate is taken, and whether a population like that would have more uniques in its sample."""
    uniques = taken.population_uniques or 0
    if float(risks.fraction) * uniques > risks.uniques + 0.5:
        return text(
            "The estimate of {estimator} is taken, by the rule of Dankar et al. 2012, although it is more than fits "
            "the release.",
            estimator=taken.name,
        )
    return text(
        "The estimate of {estimator} is taken, by the rule of Dankar et al. 2012.",
        estimator=taken.name,
    )


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
    return (Finding(Severity.NOTE, sentence),)
