"""Releases of which it is told who is in them: which sets of them may be shown, and what holds for all reports."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

from glasshouse.disclosure import hidden_parts
from glasshouse.language import (
    marked,
    text,
    text_for,
)
from glasshouse.microdata.leakage import Leakage
from glasshouse.microdata.presence import Member, Membership, Pattern
from glasshouse.report.charts import (
    rest_of,
)
from glasshouse.report.discretion import (
    Among,
)
from glasshouse.report.page import (
    Finding,
    note,
)
from glasshouse.report.words import (
    joined,
    listed,
    sentences,
    short_names,
)

COMMAND = "glasshouse membership --study study.toml"
"""What repeats a report on who is in a release."""
MOST_PATTERNS = 10
"""How many sets of releases a table shows by themselves."""
NOTHING_ELSE_KNOWN = marked("This holds as long as she knows nothing else about the person.")
TELLING_IN_ITSELF = marked(
    "To be in a release can be telling in itself, such as in that of a clinic or of a programme for the poor."
)
NOBODY_NAMED = marked("Nothing here reveals who the people are.")


def shown_patterns(outcome: Membership | Member) -> list[tuple[Pattern, Leakage]]:
    """Return the most frequent sets of releases; of everybody, what is before and after is the same.

    None is shown where one holds fewer people than may be told: beside the sizes of the releases any other one would
    tell how many. What is only to be expected, of releases that are not linked, is summed up.
    """
    if has_few(outcome):
        return []
    shares = [
        (pattern, Leakage(part, part) if isinstance(part, Fraction) else part)
        for pattern, part in outcome.patterns.items()
    ]
    ordered = sorted(shares, key=lambda item: -item[1].posterior)
    held = [item for item in ordered if item[1].prior]
    hidden = hidden_parts([(float(part.prior * outcome.people),) for _, part in held])
    return [item for place, item in enumerate(held) if place not in hidden][:MOST_PATTERNS]


def has_few(outcome: Membership | Member) -> bool:
    """Tell whether exactly some of several linked releases hold fewer people than may be told."""
    shares = (
        part if isinstance(part, Fraction) else part.prior for part in outcome.patterns.values()
    )
    return (
        len(outcome.datasets) > 1 and outcome.linked and not Among(outcome.people).tells_all(shares)
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


def sets_of_releases(outcome: Membership | Member) -> list[tuple[str, Leakage]]:
    """Return how likely the likeliest sets of releases are, and all others together."""
    patterns = shown_patterns(outcome)
    chances = [(set_label(pattern, outcome.datasets), part) for pattern, part in patterns]
    further = len(outcome.patterns) - len(patterns)
    if further:
        label = text_for(further, "{count} other set", "{count} other sets together")
        chances.append((label, rest_of([part for _, part in patterns])))
    return chances


def summed_up(outcome: Membership | Member, people: str) -> tuple[str, ...]:
    """Say that sets of few people are summed up, where they are."""
    return sentences(
        not outcome.linked
        and marked("Sets that hold fewer than {smallest} {people} are summed up."),
        people=people,
    )


def linking(linked: bool) -> str:
    """Say how several releases were brought together."""
    if linked:
        return text("The releases were linked by an identifier.")
    return text(
        "The releases cannot be linked: among people who are alike on what is known, each is taken as an independent "
        "random choice."
    )


def register_limits(outcome: Membership | Member) -> tuple[str, ...]:
    """Say what must hold of the register, and how several releases were brought together."""
    once = text(
        "Whoever is in a release must also be in {register}, once.", register=outcome.population
    )
    return (once, linking(outcome.linked)) if len(outcome.datasets) > 1 else (once,)


def untold(outcome: Membership | Member) -> tuple[Finding, ...]:
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
    return (note(sentence),)
