"""How a report speaks of one person and of the few who look like them.

A report on one person holds no value of a record, and no number of people below the threshold of
`glasshouse.disclosure`. But a chance can tell such a number as well: a guess that is right with a chance of 1 in 3
says that three records fit. So where the people concerned are too few, a chance is told in tenths, or as a bound; that
something is certain, or impossible, is told all the same. The terminal and the JSON of the analyst are exact.

Where the number of people is told beside it, as of a district with 13 of them, tenths would tell the count as well:
there a chance is told as a bound, which says no more than “fewer than 10” does (`Among`).
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction

from glasshouse.disclosure import cell_count, chance_bounds, is_shown, smallest_cell
from glasshouse.language import number, text
from glasshouse.report.cells import percent_cell
from glasshouse.report.charts import Shift, chance, chances
from glasshouse.report.page import Cell
from glasshouse.report.words import counted, frequency, natural, percentage_points, plural, rounded


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


@dataclass(frozen=True)
class Among:
    """How chances are told among people whose number is told, too."""

    people: int
    """How many they are."""
    exact: bool = False
    """Whether chances are told as they are: they count nobody with particular values, or the analyst reads them."""

    def bounds(self, probability: Fraction) -> tuple[Fraction, Fraction]:
        """Return between what a chance is told to be (`chance_bounds`): twice itself, where it is told as it is."""
        return (probability,) * 2 if self.exact else chance_bounds(probability, self.people)

    def hides(self, *probabilities: Fraction) -> bool:
        """Tell whether one of some chances is not told as it is."""
        return any(low < high for low, high in map(self.bounds, probabilities))

    def frequency(self, probability: Fraction) -> str:
        """Say a chance as a natural frequency.

        >>> Among(1000).frequency(Fraction(23, 1000)), Among(13).frequency(Fraction(6, 13))
        ('23 of every 1,000', 'fewer than 54 of every 100')
        >>> Among(13).frequency(Fraction(10, 13)), Among(130).frequency(Fraction(1))
        ('more than 46 of every 100', 'all')
        """
        return frequency_between(*self.bounds(probability))

    def ratio(self, probability: Fraction) -> str:
        """Return the figure behind a sentence: the exact ratio, or its bound.

        >>> Among(50).ratio(Fraction(1, 2)), Among(50).ratio(Fraction(3, 50)), Among(50).ratio(Fraction(47, 50))
        ('0.5 (1/2)', 'less than 0.2 (1/5)', 'more than 0.8 (4/5)')
        """
        return ratio_between(*self.bounds(probability))

    def cell(self, probability: Fraction) -> Cell:
        """Return the cell of a table.

        >>> Among(50).cell(Fraction(1, 2)).text, Among(50).cell(Fraction(3, 50)), Among(60).cell(Fraction(59, 60)).text
        ('50.0 %', Cell(text='< 20.0 %', exact=None, mark=None), '> 83.3 %')
        """
        if not self.hides(probability):
            return percent_cell(probability)
        return Cell(text("{figure} %", figure=figure_between(*self.bounds(probability), digits=1)))

    def added(self, before: Fraction, after: Fraction) -> tuple[Fraction, Fraction]:
        """Return between what the difference of two chances is told to be.

        >>> [str(bound) for bound in Among(50).added(Fraction(3, 50), Fraction(1, 2))]
        ['3/10', '1/2']
        """
        if before == after or not self.hides(before, after):
            return after - before, after - before
        (low, high), (least, most) = self.bounds(before), self.bounds(after)
        return max(Fraction(0), least - high), most - low

    def points(self, before: Fraction, after: Fraction) -> str:
        """Say how much is added, in percentage points.

        >>> Among(50).points(Fraction(1, 2), Fraction(3, 5)), Among(50).points(Fraction(3, 50), Fraction(1, 2))
        ('10.0', 'more than 30.0')
        >>> Among(13).points(Fraction(6, 13), Fraction(6, 13)), Among(13).points(Fraction(5, 13), Fraction(6, 13))
        ('0.0', 'less than 53.9')
        """
        low, high = self.added(before, after)
        if low == high:
            return percentage_points(low)
        if low:
            return text("more than {figure}", figure=_per_cent(low, 1, up=False))
        return text("less than {figure}", figure=_per_cent(high, 1, up=True))

    def drawn(self, probability: Fraction) -> Fraction:
        """Return what a picture shows: the middle of what it may be."""
        low, high = self.bounds(probability)
        return (low + high) / 2


def frequency_between(low: Fraction, high: Fraction) -> str:
    """Say a natural frequency of which bounds are told.

    >>> frequency_between(Fraction(0), Fraction(10, 95)), frequency_between(Fraction(985, 995), Fraction(1))
    ('fewer than 11 of every 100', 'more than 98 of every 100')
    """
    if low == high:
        return frequency(low)
    count, base = natural(high if low == 0 else low)
    if low == 0:
        more = count + 1 if Fraction(count, base) < high else count
        return text("fewer than {count} of every {base}", count=more, base=base)
    less = count - 1 if Fraction(count, base) > low else count
    return text("more than {count} of every {base}", count=less, base=base)


def ratio_between(low: Fraction, high: Fraction) -> str:
    """Return the figure behind a sentence, of which bounds are told."""
    if low == high:
        return ratio(low)
    if low:
        return text("more than {figure}", figure=ratio(low))
    return text("less than {figure}", figure=ratio(high))


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
        text("{command} prints all of it exactly, for the analyst alone.", command=command),
    )


def personal() -> str:
    """Say that a report is about one person."""
    return text(
        "This report is about one person, and is itself personal data: keep it as closely as the data, and do not "
        "publish it."
    )


def _percent(whole: int) -> str:
    return text("{figure} %", figure=number(whole))


def _per_cent(bound: Fraction, digits: int, *, up: bool) -> str:
    """Return a bound in per cent, rounded so that it stays one."""
    scale = 100 * 10**digits
    outward = Fraction((math.ceil if up else math.floor)(bound * scale), scale)
    return number(100 * float(outward), f".{digits}f")
