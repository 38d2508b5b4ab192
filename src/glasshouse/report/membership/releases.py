"""Releases in words, where the question is who is in them."""

from __future__ import annotations

from collections.abc import Sequence

from glasshouse.language import text, text_for
from glasshouse.microdata.membership import Pattern
from glasshouse.report.lists import joined, listed
from glasshouse.report.page import Finding, Severity
from glasshouse.report.words import short_names

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
