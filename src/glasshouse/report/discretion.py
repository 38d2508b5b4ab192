"""How a report speaks of one person, of the few who look like them, and of the people of a part.

A report on one person holds no value of a record, and no number of people that `glasshouse.measures.discretion` does
not let be told. The terminal and the JSON of the analyst are exact.

Here alone it is decided what may be told: of a number of people (`Discretion`), and of a chance (`Among`). What comes
out, `Told` and `ToldChange`, is words, cells and places in a picture: a page that holds these cannot tell more.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction

from glasshouse.disclosure import (
    cell_count,
    column_counts,
    hidden_counts,
    is_shown,
    smallest_cell,
)
from glasshouse.language import number, text
from glasshouse.measures.discretion import Bounding
from glasshouse.microdata.leakage import Leakage
from glasshouse.report.cells import NOTHING, before_and_after, leakage_cells, percent_cell
from glasshouse.report.page import Cell
from glasshouse.report.words import (
    counted,
    in_words,
    percentage_points,
    percentages,
    plural,
    share,
)

HARDLY, HARDLY_OF_BEFORE = Fraction(1, 200), Fraction(1, 20)
"""Who guesses right less often or more often by less than both, the second as a share of before, guesses as before."""


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

    def figure(self, count: int, noun: str = "") -> str:
        """Return the same in a few characters, for a tile.

        >>> Discretion().figure(3, "student"), Discretion().figure(12, "student"), Discretion().figure(3)
        ('< 10 students', '12 students', '< 10')
        """
        least = smallest_cell() if self.hides(count) else count
        figure = counted(least, noun) if noun else number(least)
        return f"< {figure}" if self.hides(count) else figure

    def stand_in(self, count: int) -> int:
        """Return a number of people, or one that stands for every number that is too small to be told.

        >>> Discretion().stand_in(3), Discretion().stand_in(7), Discretion().stand_in(12)
        (9, 9, 12)
        """
        return smallest_cell() - 1 if self.hides(count) else count

    def bound(self, count: int | Fraction, times: Fraction = Fraction(1)) -> int | None:
        """Return what so many times a number of people is told to be below; None: the number is told.

        >>> Discretion().bound(3), Discretion().bound(3, Fraction(5, 2)), Discretion().bound(12)
        (10, 25, None)
        """
        return math.ceil(smallest_cell() * times) if self.hides(count) else None

    def among(self, people: int, *, all_of_them: bool = False, coarse: bool = False) -> Among:
        """Return how chances among some people are told: hardly where their number is not.

        Args:
            people: How many they are.
            all_of_them: Whether they are everybody in the release, whose number is no secret.
            coarse: Whether chances weigh people by how many records each has.
        """
        few = not all_of_them and self.hides(people)
        return Among(None if few else people, self.exact, coarse=coarse and not self.exact)


@dataclass(frozen=True)
class Told:
    """A chance as it may be told. What it is besides is not in it."""

    words: str
    """In a sentence."""
    cell: Cell
    """In a table."""
    figure: str
    """Behind a sentence: the exact ratio, or its bound."""
    drawn: float
    """In a picture: itself, or the middle of what it may be."""
    is_exact: bool = False
    """Whether it is told as it is, and not between bounds."""

    @classmethod
    def saying(cls, words: str, drawn: Fraction) -> Told:
        """Return a chance of which the same words are told everywhere."""
        return cls(words, Cell(words), words, float(drawn))


@dataclass(frozen=True)
class ToldChange:
    """How often something is right before and after, as both may be told."""

    before: Told
    """How often before."""
    after: Told
    """How often afterwards."""
    is_exact: bool
    """Whether both are told as they are."""
    words: tuple[str, str]
    """In a sentence, after and before: what differs is said differently."""
    cells: tuple[Cell, ...]
    """In a table: before, after, and where both are told as they are what is added and the factor."""
    arrow: str
    """Before and after in a few characters, for a tile; nothing where one of them is not told as it is."""
    falls: bool
    """Whether it is right less often afterwards, as far as what is told says so."""
    rises: bool
    """Whether it is right more often."""
    hardly: bool
    """Whether both are told, and it is right practically as often."""
    untold: bool
    """Whether no more is told of either than what it is below."""

    @property
    def figure(self) -> str:
        """The figure behind a sentence."""
        return before_and_after(self.before.figure, self.after.figure)

    def between(self, before: Told | None, after: Told | None) -> ToldChange:
        """Return the same where less is told of one of both; None: as much."""
        if before is None and after is None:
            return self
        (now, then), (first, last, *_) = self.words, self.cells
        return replace(
            self,
            before=before or self.before,
            after=after or self.after,
            is_exact=False,
            words=(after.words if after else now, before.words if before else then),
            cells=(
                before.cell if before else first,
                after.cell if after else last,
                *(NOTHING, NOTHING),
            ),
            arrow="",
        )


@dataclass(frozen=True)
class ToldPart:
    """A number of people with something in common, and their share of all, as both may be told."""

    count: str
    """How many they are, or that they are few."""
    share: str
    """Which share of all they are; of few, that they are few: of a small file few is no small share."""
    drawn: float
    """How many per cent they are, in a picture; 0 where that is not told."""
    stands_for: int
    """How many they are, or a number that stands for every one that is too small to be told."""
    is_exact: bool
    """Whether they are not few."""

    @classmethod
    def of(cls, count: int, whole: int) -> ToldPart:
        """Return what may be told of some of all people.

        >>> ToldPart.of(20, 80), ToldPart.of(3, 80).share
        (ToldPart(count='20', share='25.0%', drawn=25.0, stands_for=20, is_exact=True), 'fewer than 10')
        """
        if DISCREET.hides(count):
            few = cell_count(count)
            return cls(few, few, 0.0, DISCREET.stand_in(count), is_exact=False)
        part = share(count, whole)
        return cls(number(count), part, 100 * count / whole, count, is_exact=True)


@dataclass(frozen=True)
class ToldCounts:
    """The counts of a column whose sum is told elsewhere, so that no small one can be found by subtraction."""

    cells: list[str]
    """In a table."""
    lengths: list[int]
    """In a picture: the counts, or where they are not told the smallest that are."""
    is_exact: list[bool]
    """Whether each is told as it is."""

    @classmethod
    def of(cls, counts: Sequence[int], hidden: Collection[int] | None = None) -> ToldCounts:
        """Return what may be told of counts of people with particular values, row by row.

        Args:
            counts: How many they are.
            hidden: The places of those that are not told; by default as few as it takes.

        >>> ToldCounts.of([100, 50, 3]).lengths
        [100, 10, 10]
        """
        hidden, least = hidden_counts(counts) if hidden is None else hidden, smallest_cell()
        lengths = [least if place in hidden else count for place, count in enumerate(counts)]
        return cls(column_counts(counts), lengths, [i not in hidden for i in range(len(counts))])


@dataclass(frozen=True)
class Among(Bounding):
    """How chances among some people are told."""

    def told(self, probability: Fraction) -> Told:
        """Return a chance as it may be told.

        >>> Among(50).told(Fraction(3, 50))
        Told(words='less than 40.0%', cell=Cell(text='< 40.0%', exact=None, mark=None), \
figure='less than 0.4 (2/5)', drawn=0.2, is_exact=False)
        """
        (low, high), cell = self.bounds(probability), self.cell(probability)
        words = text("a share that is not shown") if high - low == 1 else in_words(cell.text)
        return Told(words, cell, self.ratio(probability), float((low + high) / 2), low == high)

    def tells_all(self, probabilities: Iterable[Fraction]) -> bool:
        """Tell whether no value is had by so few of these people that it may not be told how many.

        >>> Among(100).tells_all([Fraction(3, 4), Fraction(1, 4)]), Among(100).tells_all([Fraction(1, 50)])
        (True, False)
        """
        people = self.people
        return people is not None and not any(
            DISCREET.hides(chance * people) for chance in probabilities
        )

    def percentage(self, probability: Fraction) -> str:
        """Say in which share of cases something holds.

        >>> Among(None).percentage(Fraction(2, 3)), Among(None).percentage(Fraction(1, 40))
        ('more than 60.0%', 'less than 66.7%')
        >>> Among(None).percentage(Fraction(1)), Among(0).percentage(Fraction(1, 3))
        ('100%', 'a share that is not shown')
        """
        return self.told(probability).words

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
            return Cell(text("not shown"))
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


DISCREET = Discretion()
"""How a report speaks of few people."""
EXACTLY, ROUGHLY, NOT_TOLD = Among(None, exact=True), Among(None), Among(0)
"""How all chances are told as they are, how those among few people are, and how none is but certainty."""
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


def change_told(guess: Leakage, before: Among, after: Among) -> ToldChange:
    """Return how often a guess is right before and after, as it may be told.

    Args:
        guess: How often it is right.
        before: How chances before are told.
        after: How chances afterwards are told.

    >>> change_told(Leakage(Fraction(1, 2), Fraction(3, 4)), Among(60), Among(40)).arrow
    '50.0% → 75.0%'
    """
    prior, posterior = before.told(guess.prior), after.told(guess.posterior)
    (low, high), (least, most) = before.bounds(guess.prior), after.bounds(guess.posterior)
    is_exact = prior.is_exact and posterior.is_exact
    first, last = percentages(guess.prior, guess.posterior) if is_exact else ("", "")
    return ToldChange(
        prior,
        posterior,
        is_exact,
        (in_words(last), in_words(first)) if is_exact else (posterior.words, prior.words),
        leakage_cells(guess) if is_exact else (prior.cell, posterior.cell, NOTHING, NOTHING),
        f"{first} → {last}" if is_exact else "",
        falls=most < low if is_exact else most <= low,
        rises=least > high if is_exact else least >= high,
        hardly=is_exact and hardly_changes(guess),
        untold=not is_exact and least == low == 0 < guess.posterior,
    )


def hardly_changes(guess: Leakage) -> bool:
    """Tell whether a guess is right practically as often as before.

    >>> hardly_changes(Leakage(Fraction(348, 1000), Fraction(347, 1000)))
    True
    >>> hardly_changes(Leakage(Fraction(2, 1000), Fraction(3, 1000)))
    False
    """
    return abs(guess.additive) < min(HARDLY, HARDLY_OF_BEFORE * guess.prior)


def none_is_few(counts: Iterable[int]) -> bool:
    """Tell whether each of some numbers of people may be told.

    >>> none_is_few([0, 12]), none_is_few([3, 12])
    (True, False)
    """
    return all(map(is_shown, counts))


def unless_few(values: Iterable[Fraction], people: int) -> list[Fraction]:
    """Return figures about some people, such as how far guesses at them are off; none about few, whom they would tell.

    >>> unless_few([Fraction(1, 2)], 3), unless_few([Fraction(1, 2)], 30)
    ([], [Fraction(1, 2)])
    """
    return list(values) if is_shown(people) else []


def one_of_few() -> Told:
    """Return the chance of a guess at one of few people, of which no more is told than that they are few.

    >>> one_of_few().words
    'more than 10.0%'
    """
    least = smallest_cell()
    return Told.saying(more_than_one_in(least), Fraction(1, least))


def nested_counts(counts: Sequence[int], whole: int) -> list[tuple[str, str]]:
    """Return counts and shares of ever more of the same people, so that no small difference can be found.

    >>> nested_counts([3, 95, 100], 200)
    [('fewer than 10', ''), ('not shown', ''), ('100', '50.0%')]
    """
    cells, last = [], whole
    for count in reversed(counts):
        if DISCREET.hides(count):
            cells.append((cell_count(count), ""))
        elif DISCREET.hides(last - count):
            cells.append((text("not shown"), ""))
        else:
            last = count
            cells.append((number(count), share(count, whole)))
    return cells[::-1]


def ratio_between(low: Fraction, high: Fraction) -> str:
    """Return the figure behind a sentence, of which bounds are told."""
    if low == high:
        return ratio(low)
    if low:
        return text("more than {figure}", figure=ratio(low))
    return text("less than {figure}", figure=ratio(high)) if high < 1 else text("not shown")


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


def least_told(noun: str) -> str:
    """Return from how many people on they are told of.

    >>> least_told("student")
    '10 students'
    """
    return counted(smallest_cell(), noun)


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
            "To protect people, this report holds no value of any record: neither what is known about the person "
            "nor what can be learned. Counts below {smallest} are shown as “fewer than {smallest}”, and chances "
            "that would reveal such a count as bounds."
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
