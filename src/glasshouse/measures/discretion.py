"""What may be told of a chance among few people: itself, or bounds that are the same for several counts.

No number of people below the threshold of `glasshouse.disclosure` is told. But a chance can tell such a number as well:
a guess that is right with a chance of 1 in 3 says that three records fit. So where the people concerned are too few, it
is told only whether a chance is two in three; tenths would not do, as several of them together fit one number only.
That something is certain, or impossible, is told all the same.

Where the number of people is told, as of a district with 13 of them, a chance that would tell a small count is told as
a bound. A bound is the same for several counts, also to who knows among how many values they are.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction
from typing import Self

from glasshouse.disclosure import CERTAIN_FROM, is_shown, smallest_cell

LESS = Fraction(0), Fraction(2, 3)
"""Between what a chance is told to be among people whose number is not told."""
MORE = Fraction(3, 5), Fraction(1)
"""The same of two in three or more."""
LEAST_SPLIT = 10
"""Of fewer people not even that is told: among two or three values it would tell how many have the likeliest."""


@dataclass(frozen=True)
class Bounding:
    """Between what chances among some people may be told to be."""

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

        >>> [str(bound) for bound in Bounding(1000).bounds(Fraction(3, 1000))]
        ['0', '1/50']
        >>> [str(bound) for bound in Bounding(1000).bounds(Fraction(23, 1000))]
        ['23/1000', '23/1000']
        >>> [str(bound) for bound in Bounding(13).bounds(Fraction(10, 13))]  # of few, no more than whether two in three
        ['8/13', '1']
        >>> [str(bound) for bound in Bounding(None).bounds(Fraction(1, 3))]
        ['0', '2/3']
        >>> [str(bound) for bound in Bounding(1000, coarse=True).bounds(Fraction(1, 3))]
        ['33/100', '17/50']
        >>> [str(bound) for bound in Bounding(1000, coarse=True).bounds(Fraction(1, 100))]
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

    def hides(self, *probabilities: Fraction) -> bool:
        """Tell whether one of some chances is not told as it is."""
        return any(low < high for low, high in map(self.bounds, probabilities))

    def added(self, before: Fraction, after: Fraction) -> tuple[Fraction, Fraction]:
        """Return between what the difference of two chances is told to be.

        >>> [str(bound) for bound in Bounding(50).added(Fraction(3, 50), Fraction(1))]
        ['3/5', '1']
        """
        if not self.hides(before, after):
            return after - before, after - before
        (low, high), (least, most) = self.bounds(before), self.bounds(after)
        return max(Fraction(0), least - high), most - low

    @classmethod
    def of_part(cls, people: int, *, exact: bool = False) -> Self:
        """Return how chances in a named part are told: that all people in it share a secret only if they are many."""
        return cls(people, exact, certainty=people >= CERTAIN_FROM * smallest_cell())


COARSE = Bounding(None, exact=True, coarse=True)
"""Chances by hundredths, which count nobody with particular values."""


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
