"""How a report speaks of one person, of the few who look like them, and of the people of a part.

A report on one person holds no value of a record, and no number of people that `glasshouse.measures.discretion` does
not let be told. The terminal and the JSON of the analyst are exact.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction

from glasshouse.disclosure import cell_count, is_shown, smallest_cell
from glasshouse.language import number, text
from glasshouse.measures.discretion import Bounding
from glasshouse.report.cells import percent_cell
from glasshouse.report.page import Cell
from glasshouse.report.words import (
    counted,
    in_words,
    percentage_points,
    percentages,
    plural,
)


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
class Among(Bounding):
    """How chances among some people are told."""

    def percentage(self, probability: Fraction) -> str:
        """Say in which share of cases something holds.

        >>> Among(None).percentage(Fraction(2, 3)), Among(None).percentage(Fraction(1, 40))
        ('more than 60.0%', 'less than 66.7%')
        >>> Among(None).percentage(Fraction(1)), Among(0).percentage(Fraction(1, 3))
        ('100%', 'an untold share')
        """
        low, high = self.bounds(probability)
        if high - low == 1:
            return text("an untold share")
        return in_words(self.cell(probability).text)

    def ratio(self, probability: Fraction) -> str:
        """Return the figure behind a sentence: the exact ratio, of all people where it counts them, or its bound.

        >>> Among(50).ratio(Fraction(1, 2)), Among(50).ratio(Fraction(3, 50)), Among(50).ratio(Fraction(47, 50))
        ('0.5 (25/50)', 'less than 0.4 (2/5)', 'more than 0.8 (4/5)')
        """
        low, high = self.bounds(probability)
        counted = low * (self.people or 0)
        if low < high or not self.people or counted.denominator > 1 or probability in (0, 1):
            return ratio_between(low, high)
        return f"{number(low, '.6g')} ({number(int(counted))}/{number(self.people)})"

    def cell(self, probability: Fraction) -> Cell:
        """Return the cell of a table.

        >>> Among(50).cell(Fraction(1, 2)).text, Among(50).cell(Fraction(3, 50)), Among(60).cell(Fraction(59, 60)).text
        ('50.0%', Cell(text='< 40.0%', exact=None, mark=None), '> 83.3%')
        """
        low, high = self.bounds(probability)
        if low == high:
            return percent_cell(probability)
        if high - low == 1:
            return Cell(text("not told"))
        return Cell(text("{figure}%", figure=figure_between(low, high, digits=1)))

    def points(self, before: Fraction, after: Fraction) -> str:
        """Say how much is added, in percentage points.

        >>> Among(50).points(Fraction(1, 2), Fraction(3, 5)), Among(50).points(Fraction(3, 50), Fraction(1, 2))
        ('10.0', 'more than 10.0')
        >>> Among(13).points(Fraction(6, 13), Fraction(6, 13)), Among(13).points(Fraction(5, 13), Fraction(6, 13))
        ('less than 69.3', 'less than 69.3')
        """
        low, high = self.added(before, after)
        if low == high:
            return percentage_points(low)
        if low:
            return text("more than {figure}", figure=_per_cent(low, 1, up=False))
        return text("less than {figure}", figure=_per_cent(high, 1, up=True))


EXACTLY, NOT_TOLD = Among(None, exact=True), Among(0)
"""How all chances are told as they are, and how none is but certainty."""
COARSELY = Among(None, exact=True, coarse=True)
"""How chances are told by hundredths, which count nobody with particular values."""


def both_percentages(
    among_these: tuple[Among, Fraction], among_all: tuple[Among, Fraction]
) -> tuple[str, str]:
    """Say how often something holds among some people and among everybody, so that it can be compared.

    >>> both_percentages((Among(None), Fraction(2, 3)), (Among(60), Fraction(1, 2)))
    ('more than 60.0%', '50.0%')
    """
    (few, these), (many, everybody) = among_these, among_all
    if few.hides(these) or many.hides(everybody):
        return few.percentage(these), many.percentage(everybody)
    first, second = map(in_words, percentages(these, everybody))
    return first, second


def ratio_between(low: Fraction, high: Fraction) -> str:
    """Return the figure behind a sentence, of which bounds are told."""
    if low == high:
        return ratio(low)
    if low:
        return text("more than {figure}", figure=ratio(low))
    return text("less than {figure}", figure=ratio(high)) if high < 1 else text("not told")


def figure_between(low: Fraction, high: Fraction, *, digits: int) -> str:
    """Return a number of per cent, of which bounds are told, for a table.

    >>> figure_between(Fraction(1, 3), Fraction(1, 3), digits=2), figure_between(Fraction(1, 3), Fraction(1), digits=1)
    ('33.33', '> 33.3')
    """
    if low == high:
        return number(100 * float(low), f".{digits}f")
    return (
        f"> {_per_cent(low, digits, up=False)}" if low else f"< {_per_cent(high, digits, up=True)}"
    )


def ratio(value: Fraction) -> str:
    """Say a probability as a decimal and as a ratio of whole numbers, where that is not too long.

    >>> ratio(Fraction(1, 4)), ratio(Fraction(1, 3)), ratio(Fraction(1)), ratio(Fraction(1, 10**13))
    ('0.25 (1/4)', '0.333333 (1/3)', '1', '< 0.000000000001')
    """
    decimal = number(value, ".6g")
    if value.denominator == 1 or len(str(value.denominator)) > 12:
        return decimal
    return f"{decimal} ({number(value.numerator)}/{number(value.denominator)})"


def more_than_one_in(count: int) -> str:
    """Say a chance of which only a lower bound is told.

    >>> more_than_one_in(10)
    'more than 10.0%'
    """
    bound = text("{figure}%", figure=_per_cent(Fraction(1, count), 1, up=False))
    return text("more than {share}", share=bound)


def what_is_left_out(command: str) -> tuple[str, ...]:
    """Say what a report on one person leaves out, and where it is."""
    return (
        text(
            "So that it gives nobody away, this report holds no value of a record: neither what is known of the person "
            "nor what can be learned. Numbers of people below {smallest} are told as “fewer than {smallest}”, and "
            "chances that would tell such a number as bounds.",
            smallest=smallest_cell(),
        ),
        text("{command} prints all of it exactly, for the analyst alone.", command=command),
    )


def personal() -> str:
    """Say that a report is about one person."""
    return text(
        "This report is about one person, and is itself personal data: keep it as closely as the data, and do not "
        "publish it."
    )


def _per_cent(bound: Fraction, digits: int, *, up: bool) -> str:
    """Return a bound in per cent, rounded so that it stays one."""
    scale = 100 * 10**digits
    outward = Fraction((math.ceil if up else math.floor)(bound * scale), scale)
    return number(100 * float(outward), f".{digits}f")
