"""What a column that was released at random lets somebody learn, as people say it: of a hundred whom she suspects."""

from __future__ import annotations

from fractions import Fraction

from glasshouse.language import percentage, text
from glasshouse.microdata.column_noise import ColumnNoise
from glasshouse.qif.suspicion import PRIORS
from glasshouse.report.labels import column_label
from glasshouse.report.page import Finding, Severity
from glasshouse.report.severity import graded
from glasshouse.report.tables.noise import in_hundred
from glasshouse.report.words import cases


def noise_finding(noise: ColumnNoise, subject: str) -> Finding:
    """Say what noise in a column protects, worst case first, and on what that rests."""
    least, most = noise.worst.beliefs[PRIORS[0]]
    words = {"column": column_label(noise.column), "subject": subject}
    if noise.worst.certain:
        sentence = text(
            "{column} was released at random. Someone who knows which record is whose, and thought 1 in 100 that "
            "{subject} has a certain value, can still become certain of it.",
            **words,
        )
    else:
        sentence = text(
            "{column} was released at random. Someone who knows which record is whose, and thought 1 in 100 that "
            "{subject} has a certain value, can come to think at most {most} in 100, whatever she thought of the other "
            "values.",
            **words,
            most=in_hundred(most),
        )
    figure = text(
        "thought before: 1 in 100; afterwards between {least} and {most} in 100; right at even odds {right}; a guess "
        "by what is known is right in {guessed} of cases, and in {prior} by nothing",
        least=in_hundred(least, up=False),
        most=in_hundred(most),
        right=cases(Fraction(noise.worst.right).limit_denominator(10**12)),
        guessed=percentage(noise.guessed),
        prior=percentage(noise.prior),
    )
    meaning = text(
        "She knows the chances by which values were changed. Elsewhere in this report released values are taken for "
        "true ones, as someone does who does not know about the noise; the verdict judges both. Each record is taken "
        "for itself: what many records that look alike show together about their true values is not judged."
    )
    return Finding(_severity(noise), sentence, figure, meaning)


def _severity(noise: ColumnNoise) -> Severity:
    """Return how much it should worry how often somebody becomes certain, or nearly so."""
    convinced = Fraction(noise.worst.convinced).limit_denominator(10**12)
    return Severity.HIGH if convinced > Fraction(1, 2) else graded(convinced)
