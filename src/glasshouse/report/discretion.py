"""How a report speaks of one person and of the few who look like them.

A report on one person holds no value of a record, and no number of people below the threshold of
`glasshouse.disclosure`. But a chance can tell such a number as well: a guess that is right with a chance of 1 in 3
says that three records fit. So where the people concerned are too few, a chance is told in tenths, or as a bound; that
something is certain, or impossible, is told all the same. The terminal and the JSON of the analyst are exact.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction

from glasshouse.disclosure import cell_count, is_shown, smallest_cell
from glasshouse.language import number, text
from glasshouse.report.cells import percent_cell
from glasshouse.report.chances import Shift, chance, chances
from glasshouse.report.page import Cell
from glasshouse.report.words import counted, plural, rounded


@dataclass(frozen=True)
class Discretion:
    """Whether small numbers of people are told as they are."""

    exact: bool = False
    """Whether they are: for the analyst's own eyes."""

    def hides(self, count: int | Fraction) -> bool:
        """Tell whether a number of people is too small to be told.

        >>> Discretion().hides(3), Discretion().hides(10), Discretion(exact=True).hides(3)
        (True, False, False)
        """
        return not self.exact and count > 0 and not is_shown(math.floor(max(count, 1)))

    def count(self, count: int) -> str:
        """Return a number of people, or that it is a small one."""
        return cell_count(count) if self.hides(count) else number(count)

    def people(self, count: int, noun: str) -> str:
        """Return a number of people with what they are called, or that they are few.

        >>> Discretion().people(3, "student"), Discretion(exact=True).people(1, "student")
        ('fewer than 10 students', '1 student')
        """
        if not self.hides(count):
            return counted(count, noun)
        return text("{count} {people}", count=cell_count(count), people=plural(noun))


@dataclass(frozen=True)
class Told:
    """How chances among some people are told."""

    rough: bool
    """Whether in tenths only, as these people are few."""

    def chance(self, probability: Fraction) -> str:
        """Say how likely something is.

        >>> Told(rough=True).chance(Fraction(2, 3)), Told(rough=False).chance(Fraction(2, 3))
        ('about 7 in 10', '2 in 3')
        >>> Told(rough=True).chance(Fraction(1, 40)), Told(rough=True).chance(Fraction(1))
        ('less than 1 in 10', '1 (certain)')
        """
        if not self._is_hidden(probability):
            return chance(probability)
        tenths = rounded(10 * probability)
        if tenths == 0:
            return text("less than {chance}", chance=chance(Fraction(1, 10)))
        if tenths == 10:
            return text("more than {chance}", chance=chance(Fraction(9, 10)))
        return text("about {count} in {base}", count=tenths, base=10)

    def chances(self, among_these: Fraction, among_all: Fraction) -> tuple[str, str]:
        """Say how likely something is among these people and among everybody, so that it can be compared."""
        if self._is_hidden(among_these):
            return self.chance(among_these), chance(among_all)
        these, everybody = chances(among_these, among_all)
        return these, everybody

    def alike(self, among_these: Fraction, among_all: Fraction) -> bool:
        """Tell whether two chances hardly differ, so that one is told for both.

        >>> half, more = Fraction(1, 2), Fraction(53, 100)
        >>> Told(rough=True).alike(more, half), Told(rough=False).alike(more, half), Told(rough=False).alike(half, half)
        (True, False, True)
        """
        alike = self.chance(among_these) == self.chance(among_all)
        return alike or chance(among_these) == chance(among_all)

    def ratio(self, probability: Fraction) -> str:
        """Return the figure behind a sentence: the exact ratio, or as much as may be told of it."""
        return self.chance(probability) if self._is_hidden(probability) else ratio(probability)

    def cell(self, probability: Fraction) -> Cell:
        """Return the cell of a table.

        >>> Told(rough=True).cell(Fraction(2, 3)).text, Told(rough=False).cell(Fraction(2, 3)).text
        ('about 70 %', '66.7 %')
        """
        if not self._is_hidden(probability):
            return percent_cell(probability)
        tenths = rounded(10 * probability)
        if tenths == 0:
            return Cell(f"< {_percent(10)}")
        if tenths == 10:
            return Cell(f"> {_percent(90)}")
        return Cell(text("about {figure}", figure=_percent(10 * tenths)))

    def shift(self, label: str, before: Fraction, after: Fraction) -> Shift:
        """Return what a picture shows."""
        return Shift(label, before, self._drawn(after))

    def _drawn(self, probability: Fraction) -> Fraction:
        if not self._is_hidden(probability):
            return probability
        tenths = rounded(10 * probability)
        return Fraction(1, 20) if tenths == 0 else min(Fraction(tenths, 10), Fraction(19, 20))

    def _is_hidden(self, probability: Fraction) -> bool:
        return self.rough and probability not in (0, 1)


def ratio(value: Fraction) -> str:
    """Say a probability as a decimal and as a ratio of whole numbers, where that is not too long.

    >>> ratio(Fraction(1, 4)), ratio(Fraction(1))
    ('0.25 (1/4)', '1')
    """
    decimal = number(value, ".6g")
    if value.denominator == 1 or len(str(value.denominator)) > 12:
        return decimal
    return f"{decimal} ({number(value.numerator)}/{number(value.denominator)})"


def more_than_one_in(count: int) -> str:
    """Say a chance of which only a lower bound is told."""
    return text("more than {chance}", chance=chance(Fraction(1, count)))


def what_is_left_out(command: str) -> tuple[str, ...]:
    """Say what a report on one person leaves out, and where it is."""
    return (
        text(
            "So that it gives nobody away, this report holds no value of a record: neither what is known of the person "
            "nor what can be learned. Numbers of people below {smallest} are told as “fewer than {smallest}”, and "
            "chances that would tell such a number in tenths.",
            smallest=smallest_cell(),
        ),
        text(
            "{command} prints all of it exactly, for the analyst alone.",
            command=command,
        ),
    )


def personal() -> str:
    """Say that a report is about one person."""
    return text(
        "This report is about one person, and is itself personal data: keep it as closely as the data, and do not "
        "publish it."
    )


def _percent(whole: int) -> str:
    return text("{figure} %", figure=number(whole))
