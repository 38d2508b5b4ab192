"""What the adversary gains where the study says what guesses are worth, or how many she has."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

from glasshouse.language import number, text, text_for
from glasshouse.microdata import Attack, Leakage
from glasshouse.report.microdata.knowing import knowledge_in_short, ratio
from glasshouse.report.page import Finding, Severity
from glasshouse.report.words import enumeration, frequencies, indefinite, money, plural


def gained(
    attacks: Sequence[Attack], *, subject: str, currency: str | None, tries: int | None
) -> Finding:
    """Say what she can expect to gain by the attack that adds most.

    Args:
        attacks: Those that have a gain.
        subject: What a record stands for.
        currency: What gains are counted in; None: they are plain numbers.
        tries: How many guesses she has, where a gain is that one of them is right: it is a probability then.
    """
    attack = max(attacks, key=lambda each: _gain(each).additive)
    gain = _gain(attack)
    return Finding(
        Severity.SAFE if gain.additive == 0 else Severity.NOTE,
        _worth(attack, gain, currency) if tries is None else _within(attack, gain, tries, subject),
        figure=f"{attack.code}: {ratio(gain.prior)} → {ratio(gain.posterior)}",
    )


def _gain(attack: Attack) -> Leakage:
    return attack.gain or attack.probabilistic


def _within(attack: Attack, gain: Leakage, tries: int, subject: str) -> str:
    """Say how often one of several guesses is right."""
    before, after = frequencies(gain.prior, gain.posterior)
    parts = {
        "person": indefinite(subject),
        "known": knowledge_in_short(attack),
        "after": after,
        "many": plural(subject),
    }
    if attack.secret and gain.additive == 0:
        return text_for(
            tries,
            "Someone who knows {person}'s {known} tells their {secret} right with {count} guess for {after} {many}, no "
            "more than without that knowledge.",
            "Someone who knows {person}'s {known} tells their {secret} right within {count} guesses for {after} "
            "{many}, no more than without that knowledge.",
            secret=enumeration(attack.secret),
            **parts,
        )
    if attack.secret:
        return text_for(
            tries,
            "Someone who knows {person}'s {known} tells their {secret} right with {count} guess for {after} {many}; "
            "without that knowledge it would be {before}.",
            "Someone who knows {person}'s {known} tells their {secret} right within {count} guesses for {after} "
            "{many}; without that knowledge it would be {before}.",
            secret=enumeration(attack.secret),
            before=before,
            **parts,
        )
    if gain.additive == 0:
        return text_for(
            tries,
            "Someone who knows {person}'s {known} finds their record with {count} guess for {after} {many}, no more "
            "than without that knowledge.",
            "Someone who knows {person}'s {known} finds their record within {count} guesses for {after} {many}, no "
            "more than without that knowledge.",
            **parts,
        )
    return text_for(
        tries,
        "Someone who knows {person}'s {known} finds their record with {count} guess for {after} {many}; without that "
        "knowledge it would be {before}.",
        "Someone who knows {person}'s {known} finds their record within {count} guesses for {after} {many}; without "
        "that knowledge it would be {before}.",
        before=before,
        **parts,
    )


def _worth(attack: Attack, gain: Leakage, currency: str | None) -> str:
    """Say what guesses are worth to her."""

    def said(value: Fraction) -> str:
        return number(value, ",.4g") if currency is None else money(value, currency)

    prior, posterior, secret = said(gain.prior), said(gain.posterior), enumeration(attack.secret)
    if attack.secret and gain.additive == 0:
        return text(
            "What the adversary can expect to gain by trying to learn the {secret} of a person, as the study counts "
            "it, stays at {prior}.",
            secret=secret,
            prior=prior,
        )
    if attack.secret:
        return text(
            "What the adversary can expect to gain by trying to learn the {secret} of a person, as the study counts "
            "it, rises from {prior} to {posterior}.",
            secret=secret,
            prior=prior,
            posterior=posterior,
        )
    if gain.additive == 0:
        return text(
            "What the adversary can expect to gain by trying to name a person, as the study counts it, stays at "
            "{prior}.",
            prior=prior,
        )
    return text(
        "What the adversary can expect to gain by trying to name a person, as the study counts it, rises from {prior} "
        "to {posterior}.",
        prior=prior,
        posterior=posterior,
    )
