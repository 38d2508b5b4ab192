"""What a column that was released at random lets somebody learn, as people say it: of a hundred whom she suspects."""

from __future__ import annotations

from fractions import Fraction

from glasshouse.language import percentage, text, text_for
from glasshouse.microdata.column_noise import ColumnNoise
from glasshouse.qif.suspicion import PRIORS
from glasshouse.report.labels import column_label, column_labels
from glasshouse.report.page import Finding, Severity
from glasshouse.report.severity import graded
from glasshouse.report.tables.noise import in_hundred
from glasshouse.report.words import cases, indefinite


def noise_finding(noise: ColumnNoise, subject: str) -> Finding:
    """Say what noise in a column protects, worst case first, and on what that rests."""
    least, most = noise.worst.beliefs[PRIORS[0]]
    words = {"column": column_label(noise.column), "subject": indefinite(subject)}
    if noise.worst.certain:
        suspicion = text(
            "{column} was released at random. Someone who knows which record is whose, and thought 1 in 100 that "
            "{subject} has a certain value, can still become certain of it.",
            **words,
        )
    else:
        suspicion = text(
            "{column} was released at random. Someone who knows which record is whose, and thought 1 in 100 that "
            "{subject} has a certain value, can come to think at most {most} in 100, whatever she thought of the other "
            "values.",
            **words,
            most=in_hundred(most),
        )
    figure = text(
        "thought before: 1 in 100; afterwards between {least} and {most} in 100; right at even odds {right}; a guess "
        "by each record for itself is right in {guessed} of cases",
        least=in_hundred(least, up=False),
        most=in_hundred(most),
        right=cases(Fraction(noise.worst.right).limit_denominator(10**12)),
        guessed=percentage(noise.learned.guessed),
    )
    meaning = text(
        "She knows the chances by which values were changed. Elsewhere in this report released values are taken for "
        "true ones, as someone does who does not know about the noise; the verdict judges both. {tried}",
        tried=_tried(noise.learned.facts),
    )
    return Finding(_severity(noise), f"{suspicion} {_guess(noise)}", figure, meaning)


def _guess(noise: ColumnNoise) -> str:
    """Say how often a guess is right that counts what records show together."""
    shares = {
        "together": percentage(noise.learned.together),
        "prior": percentage(noise.prior),
    }
    if not noise.learned.alike:
        return text(
            "By the chances of the noise a guess is right in {together} of cases, and in {prior} if nothing is known.",
            **shares,
        )
    return text(
        "By the chances of the noise, and by what records alike on {columns} show together, a guess is right in "
        "{together} of cases, and in {prior} if nothing is known.",
        **shares,
        columns=column_labels(noise.learned.alike),
    )


def _tried(facts: int | None) -> str:
    """Say by which attributes records were taken together."""
    if facts is None:
        return text("Records were taken together by every set of what is known.")
    return text_for(
        facts,
        "Records were taken together by all that is known and by any {count} fact of it, not by more.",
        "Records were taken together by all that is known and by any {count} facts of it, not by more.",
    )


def _severity(noise: ColumnNoise) -> Severity:
    """Return how much it should worry how often somebody becomes certain or nearly so, and what is added to guesses."""
    convinced = Fraction(noise.worst.convinced).limit_denominator(10**12)
    share = max(convinced, noise.learned.together - noise.prior)
    return Severity.HIGH if share > Fraction(1, 2) else graded(share)
