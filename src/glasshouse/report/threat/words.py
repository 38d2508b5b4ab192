"""What the report of an anonymised table calls its adversaries, its methods and its figures."""

from __future__ import annotations

import math
from fractions import Fraction

from glasshouse.errors import printable
from glasshouse.groups import Release
from glasshouse.language import marked, number, text, translated
from glasshouse.report.words import enumeration, rounded
from glasshouse.study.threat import ThreatStudy

SMALLEST_ERROR = 1e-6
"""Errors below this are not written out."""
ADVERSARIES = {
    "attacker": marked("knows who is in the table"),
    "learner": marked("learns about the population"),
    "learner_mean": marked("learns about the population, reading (6)"),
    "random_worlds": marked("takes every table for equally likely"),
    "ideal": marked("would know the original"),
}
"""What each adversary does, in plain words."""
METHODS = {
    "closed form": marked("closed form"),
    "enumeration": marked("enumeration"),
    "sampling": marked("sampling"),
}
"""How beliefs were computed."""


def adversary_label(name: str) -> str:
    """Return what an adversary does, in plain words.

    >>> adversary_label("attacker")
    'knows who is in the table'
    """
    return translated(ADVERSARIES[name])


def method_label(method: str) -> str:
    """Return how beliefs were computed, in plain words."""
    return translated(METHODS[method])


def secret_of(release: Release) -> str:
    """Return what is sensitive in a release, as in a sentence."""
    return enumeration(release.sensitive.names)


def known_of(release: Release) -> str:
    """Return what an adversary can know of the people in a release, as in a sentence."""
    return enumeration([each.name for each in release.attributes])


def learner_name(study: ThreatStudy) -> str:
    """Return under which name the learner of the study's reading stands."""
    return "learner" if study.reading == "5" else "learner_mean"


def ratio(share: float) -> Fraction:
    """Return a share that was computed in floating point as a fraction."""
    return Fraction(share).limit_denominator(10**9)


def whole_percent(probability: float) -> str:
    """Say a probability in whole per cent; a rounding never makes it impossible or certain.

    >>> whole_percent(0.583), whole_percent(0.001), whole_percent(0.999), whole_percent(1)
    ('58 %', '< 1 %', '> 99 %', '100 %')
    """
    whole = rounded(100 * ratio(probability))
    if whole == 0 and probability > 0:
        return f"< {text('{figure} %', figure=1)}"
    if whole == 100 and probability < 1:
        return f"> {text('{figure} %', figure=99)}"
    return text("{figure} %", figure=whole)


def factor(value: float, digits: int = 3) -> str:
    """Say a factor in three digits, or to the nearest whole number where it has more.

    >>> factor(1.2345), factor(12345.6), factor(1.2345, 2)
    ('1.23', '12,346', '1.2')
    """
    return figure_text(value, ",.0f" if value >= 1000 else f".{digits}g")


def figure_text(value: float, form: str) -> str:
    """Write a figure; a dash stands for what is not a number.

    >>> figure_text(0.5, ".3f"), figure_text(float("nan"), ".3f"), figure_text(float("inf"), ".3f")
    ('0.500', '–', '∞')
    """
    if math.isnan(value):
        return "–"
    return number(value, form) if math.isfinite(value) else "∞"


def error_text(error: float) -> str:
    """Write a Monte-Carlo error in two digits, without powers of ten; what is smaller still is said to be.

    >>> error_text(0.01234), error_text(1234.5), error_text(0.0000213), error_text(3e-85), error_text(0)
    ('0.012', '1,234', '0.000021', '< 0.000001', '0')
    """
    if 0 < error < SMALLEST_ERROR:
        return f"< {number(SMALLEST_ERROR, '.6f')}"
    if SMALLEST_ERROR <= error < 1e-4:
        return number(error, ".6f")
    return figure_text(error, ".2g" if error < 100 else ",.0f")


def plus_minus(figure: str, error: float | None) -> str:
    """Write a figure with its Monte-Carlo error, where it has one.

    >>> plus_minus("0.5", 0.0123), plus_minus("0.5", None), plus_minus("0.5", float("nan"))
    ('0.5 ± 0.012', '0.5', '0.5')
    """
    return figure if error is None or math.isnan(error) else f"{figure} ± {error_text(error)}"


def value_text(value: str) -> str:
    """Return a value as one line; one that is missing is said to be empty.

    >>> value_text("flu"), value_text("")
    ('flu', '(empty)')
    """
    return printable(value) or text("(empty)")


def price() -> str:
    """Say what it means to be told more about than people like oneself."""
    return text(
        "What is known of people like them can be known of anybody, in the table or not. What is told beyond that is "
        "the price of being in it."
    )


def remedy() -> str:
    """Say what could be done about a release that tells too much about its people."""
    return text(
        "Make the groups larger, or let the sensitive values in each be more even (l-diversity, t-closeness): "
        "glasshouse anonymise makes such a release, and glasshouse threat measures it again."
    )
