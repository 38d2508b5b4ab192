"""How much a finding about microdata should worry: the thresholds, in one place (see docs/report.md)."""

from __future__ import annotations

from fractions import Fraction

from glasshouse.microdata import Attack
from glasshouse.report.page import Severity

SMALL_CLASS = 5
"""Below so many people alike, a group is commonly held too small to publish."""
MANY, SOME = Fraction(1, SMALL_CLASS), Fraction(1, 20)
"""Above the first share of right guesses the risk is high: a class of five, which is commonly held large enough, is
not. From the second one on it is moderate."""


def graded(success: Fraction, *, certain: bool = False) -> Severity:
    """Return how much a chance of success should worry; certainty about anybody is never a small matter.

    >>> graded(Fraction(1, 4)), graded(Fraction(1, 5)), graded(Fraction(1, 100), certain=True), graded(Fraction(1, 99))
    (<Severity.HIGH: 'high'>, <Severity.MODERATE: 'moderate'>, <Severity.MODERATE: 'moderate'>, <Severity.LOW: 'low'>)
    """
    if success > MANY:
        return Severity.HIGH
    return Severity.MODERATE if success >= SOME or certain else Severity.LOW


def learned(attack: Attack) -> Fraction:
    """Return what an attack on a secret adds: to the share of right guesses, or to that of people known for certain.

    Of a secret that most people share, a guess is good before, so that little is added to it; that it becomes certain
    is the greater gain then.
    """
    return max(attack.probabilistic.additive, attack.deterministic.additive)


def is_small(attack: Attack) -> bool:
    """Tell whether a guess is seldom right, and nothing certain."""
    return graded(attack.probabilistic.posterior, certain=attack.certain > 0) is Severity.LOW


def worst_first(severity: Severity) -> int:
    """Return the place of a severity, the worst first.

    >>> worst_first(Severity.HIGH), worst_first(Severity.SAFE)
    (0, 4)
    """
    return list(Severity).index(severity)
