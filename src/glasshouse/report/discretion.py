"""How a report speaks of one person, of the few who look like them, and of the people of a part.

A report on one person holds no value of a record, and no number of people below the threshold of
`glasshouse.disclosure`. But a chance can tell such a number as well: a guess that is right with a chance of 1 in 3
says that three records fit. So where the people concerned are too few, it is told only whether a chance is two in
three; tenths would not do, as several of them together fit one number only. That something is certain, or impossible,
is told all the same. The terminal and the JSON of the analyst are exact.

Where the number of people is told, as of a district with 13 of them, a chance that would tell a small count is told as
a bound. A bound is the same for several counts, also to who knows among how many values they are.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction

from glasshouse.disclosure import CERTAIN_FROM, cell_count, is_shown, smallest_cell
from glasshouse.language import number, text
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


LESS = Fraction(0), Fraction(2, 3)
"""Between what a chance is told to be among people whose number is not told."""
MORE = Fraction(3, 5), Fraction(1)
"""The same of two in three or more."""
LEAST_SPLIT = 10
"""Of fewer people not even that is told: among two or three values it would tell how many have the likeliest."""


@dataclass(frozen=True)
class Among:
    """How chances among some people are told."""

    people: int | None
    """How many they are; None: that is not told, as they are few."""
    exact: bool = False
    """Whether chances are told as they are: they count nobody with particular values, or the analyst reads them."""
    certainty: bool = True
    """Whether it is told that something holds for all of them, or for none."""
    coarse: bool = False
    """Whether no chance is told more finely than by the hundredth below it: one that weighs people by how many records
    each has would tell which people, and so what is known of one of them."""

    @property
    def rough(self) -> bool:
        """Whether hardly a chance among these people is told."""
        return not self.exact and (self.people is None or self.people < LEAST_SPLIT)

    def bounds(self, probability: Fraction) -> tuple[Fraction, Fraction]:
        """Return between what a chance is told to be: twice itself, or a bound where it would tell a small number.

        >>> [str(bound) for bound in Among(1000).bounds(Fraction(3, 1000))]
        ['0', '1/50']
        >>> [str(bound) for bound in Among(1000).bounds(Fraction(23, 1000))]
        ['23/1000', '23/1000']
        >>> [str(bound) for bound in Among(13).bounds(Fraction(10, 13))]  # of few, no more than whether two in three
        ['8/13', '1']
        >>> [str(bound) for bound in Among(None).bounds(Fraction(1, 3))]
        ['0', '2/3']
        >>> [str(bound) for bound in Among(1000, coarse=True).bounds(Fraction(1, 3))]
        ['33/100', '17/50']
        >>> [str(bound) for bound in Among(1000, coarse=True).bounds(Fraction(1, 100))]
        ['0', '1/50']
        """
        low, high = self._bounds(probability)
        if not self.coarse or low < high or (self.certainty and probability in (0, 1)):
            return low, high
        below = math.ceil(probability * 100) - 1
        return Fraction(below, 100), Fraction(max(below + 1, 2), 100)

    def _bounds(self, probability: Fraction) -> tuple[Fraction, Fraction]:
        if self.exact or (self.certainty and probability in (0, 1)):
            return probability, probability
        if self.people is None:
            return LESS if probability < Fraction(2, 3) else MORE
        if self.people < LEAST_SPLIT:
            return Fraction(0), Fraction(1)
        count, two_thirds = probability * self.people, -(-2 * self.people // 3)
        few = min(two_thirds, 2 * smallest_cell())
        many = max(two_thirds - 1, self.people - smallest_cell())
        if count < few:
            return Fraction(0), Fraction(few, self.people)
        return (Fraction(many, self.people), Fraction(1)) if count > many else (probability,) * 2

    def drawn(self, probability: Fraction) -> Fraction:
        """Return what a picture shows: the middle of what it may be."""
        low, high = self.bounds(probability)
        return (low + high) / 2

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

    def hides(self, *probabilities: Fraction) -> bool:
        """Tell whether one of some chances is not told as it is."""
        return any(low < high for low, high in map(self.bounds, probabilities))

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

    def added(self, before: Fraction, after: Fraction) -> tuple[Fraction, Fraction]:
        """Return between what the difference of two chances is told to be.

        >>> [str(bound) for bound in Among(50).added(Fraction(3, 50), Fraction(1))]
        ['3/5', '1']
        """
        if not self.hides(before, after):
            return after - before, after - before
        (low, high), (least, most) = self.bounds(before), self.bounds(after)
        return max(Fraction(0), least - high), most - low

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


def among_part(people: int, *, exact: bool = False) -> Among:
    """Return how chances in a named part are told: that all people in it share a secret only if they are many."""
    return Among(people, exact, certainty=people >= CERTAIN_FROM * smallest_cell())


def falling(counts: Iterable[int]) -> list[int]:
    """Return counts of people of whom ever fewer are left: 0 of few, and rounded where it would tell of few who left.

    >>> falling([100, 97, 50, 8])
    [100, 100, 50, 0]
    """
    shown: list[int] = []
    last: int | None = None
    for count in counts:
        left = 0 if last is None else last - count
        is_rounded = left > 0 and not is_shown(left)
        shown.append((round(count, -1) if is_rounded else count) if is_shown(count) else 0)
        last = count
    return shown


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
