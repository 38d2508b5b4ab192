"""What was found about who is in a release, of everybody in a register, in sentences."""

from __future__ import annotations

from fractions import Fraction

from glasshouse.disclosure import hidden_parts
from glasshouse.language import number, text
from glasshouse.microdata.membership import Membership, Pattern
from glasshouse.report.assess.findings import graded
from glasshouse.report.chances import both_frequencies
from glasshouse.report.discretion import ratio
from glasshouse.report.lists import joined, listed
from glasshouse.report.membership.releases import MOST_PATTERNS, set_label, untold
from glasshouse.report.page import Finding, Severity
from glasshouse.report.words import counted, enumeration, frequency, plural, share, singular

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
