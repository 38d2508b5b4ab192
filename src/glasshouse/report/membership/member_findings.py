"""What was found about whether one person is in a release, in sentences.

For a report they tell no small number of people (`glasshouse.report.discretion`); on the terminal they are exact.
"""

from __future__ import annotations

from glasshouse.language import text
from glasshouse.microdata.membership import Member
from glasshouse.report.assess.findings import graded
from glasshouse.report.chances import chance, chances
from glasshouse.report.discretion import Discretion, Told, ratio
from glasshouse.report.lists import joined
from glasshouse.report.membership.releases import set_label, untold
from glasshouse.report.page import Finding, Severity
from glasshouse.report.words import counted, enumeration, short_names, singular


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
