"""How much a finding should worry: one measure for all reports, so that a fact has the same colour everywhere."""

from __future__ import annotations

from fractions import Fraction

from glasshouse.report.page import Severity

SMALL_CLASS = 5
"""Below so many people alike, a group is commonly held too small to publish."""
MANY, SOME = Fraction(1, SMALL_CLASS), Fraction(1, 20)
"""Above the first share of right guesses the risk is high: a class of five, which is commonly held large enough, is
not. From the second one on it is moderate."""
MANY_CERTAIN, MOST_CERTAIN = Fraction(1, 100), 100
"""Certainty about more than this share of the people, or about more people than this, is a high risk."""


def graded(success: Fraction, *, certain: int = 0, people: int = 0) -> Severity:
    """Return how much a chance of success should worry; certainty about anybody is never a small matter.

    Args:
        success: The chance of success.
        certain: About how many people something is certain; True: about some, whose number is not told.
        people: How many people there are; 0: that is not told.

    >>> graded(Fraction(1, 4)), graded(Fraction(1, 5)), graded(Fraction(1, 100), certain=True), graded(Fraction(1, 99))
    (<Severity.HIGH: 'high'>, <Severity.MODERATE: 'moderate'>, <Severity.MODERATE: 'moderate'>, <Severity.LOW: 'low'>)
    >>> graded(Fraction(1, 50), certain=2, people=200), graded(Fraction(1, 50), certain=3, people=200)
    (<Severity.MODERATE: 'moderate'>, <Severity.HIGH: 'high'>)
    """
    if success > MANY or certain > MOST_CERTAIN or certain > MANY_CERTAIN * people > 0:
        return Severity.HIGH
    return Severity.MODERATE if success >= SOME or certain else Severity.LOW


def worst_first(severity: Severity) -> int:
    """Return the place of a severity, the worst first.

    >>> worst_first(Severity.HIGH), worst_first(Severity.SAFE)
    (0, 4)
    """
    return list(Severity).index(severity)
