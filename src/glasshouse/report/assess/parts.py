"""The parts of a family as a report names them: which are shown, how they are called, how their figures are told.

Parts of fewer people than a report shows with particular values are left out: their figures would be counts of people,
with the part's name beside them. So are as many others as it takes, lest the total tell how many those few are.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

from glasshouse.disclosure import hidden_parts
from glasshouse.errors import printable
from glasshouse.language import text, text_for
from glasshouse.microdata.family import Family, FamilyRow
from glasshouse.report.discretion import Among
from glasshouse.report.lists import joined
from glasshouse.report.words import enumeration

MOST_NAMED = 3
"""So many parts that stand out alike are all named."""


def shown_parts(family: Family) -> Family:
    """Return the family of those parts that a report may show."""
    hidden = hidden_parts([(part.records,) for part in family.parts])
    shown = (part for place, part in enumerate(family.parts) if place not in hidden)
    return replace(family, parts=tuple(shown))


def told_in(row: FamilyRow, sensitive: str | None, *, exact: bool = False) -> Among:
    """Return how the chances of a guess in one part are told.

    A guess at whose record it is counts classes, and nobody with particular values. One at a secret counts those who
    have the same value of it.

    Args:
        row: The part.
        sensitive: The secret; None: a guess at whose record it is.
        exact: Whether the analyst reads it.
    """
    return Among(row.records, exact=exact or sensitive is None)


def what_she_guesses(sensitive: str | None) -> str:
    """Say what a guess is at: whose record it is, or a secret."""
    if sensitive is None:
        return text("whose record it is")
    return text("the {secret}", secret=enumeration([sensitive]))


def part_label(name: str) -> str:
    """Return the name of a part with every character visible; that without one is of missing values."""
    return printable(name) if name.strip() else text("(missing)")


def names_of(rows: Sequence[FamilyRow], say: Callable[[str], str] = part_label) -> str:
    """Name parts, or the first of many."""
    names = [say(row.part) for row in rows]
    if len(names) <= MOST_NAMED:
        return joined(names)
    return text_for(
        len(names) - 1,
        "{first} and {count} other",
        "{first} and {count} others",
        first=names[0],
    )


def most(rows: Sequence[FamilyRow]) -> list[FamilyRow]:
    """Return the parts that leak most with all that was attacked with; none where all leak the same."""
    return [row for row in rows if row.additive[-1].highest]


def least(rows: Sequence[FamilyRow]) -> list[FamilyRow]:
    """Return the parts that leak least; none where all leak the same."""
    return [row for row in rows if row.additive[-1].lowest]
