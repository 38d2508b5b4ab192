"""Whose history fits some records that are known: in how many ways, and how likely that makes each person.

The adversary happens to know m records of one person, some facts of each, and which of the person's records these are
is chance, each m of them as likely (`glasshouse.microdata.people`). Before, each of the people with n_p ≥ m records is
as likely. A set of m records of p *fits* if its records can be matched to the m that are known, one to one, so that
each can be the record that it is matched to: what is known twice needs two records. With a_p sets of p that fit, p is
the person with a chance in proportion to

    L(p) = a_p / C(n_p, m)

Where the same facts are known of each record, exactly, a_p = Π_f C(c_p(f), o_f), and L(p) is the hint channel H(o | p)
of `assess_people`: over all people and all their sets of m records, the chance of the best guess is on average what is
told there. Facts that leave several values open, and records of which different facts are known, make a_p the number
of bases of a transversal matroid. Records that can be matched to the same of the known ones are counted together, and
the ways to take so many of each are walked, for all people at once.

Another record than the known ones, drawn evenly from the rest, shows s with a chance in proportion to the sum over p of
Σ_{e of p with s} (a_p − a_p(e)) / [C(n_p, m) (n_p − m)], where a_p(e) counts the sets that fit and hold the record e.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import comb
from typing import Any

import numpy as np
from numpy.typing import NDArray

from glasshouse.arrays import Flags, Integers
from glasshouse.errors import StudyError
from glasshouse.study.assess import MOST_KNOWN
from glasshouse.table.partition import Partition

MOST_STEPS = 1_000_000_000
"""So many people are looked at in all ways to match records to what is known, a few seconds."""
MOST_COUNTS = 200_000_000
"""So many counts are held, of the people by what their records can be matched to."""
_LARGEST = 1 << 62


@dataclass(frozen=True)
class FittingPeople:
    """The people who have records that fit what is known."""

    whose: Partition
    """Whose each record of the release is."""
    known: int
    """How many records are known."""
    marks: Integers
    """Per record, the place of what it can be matched to; -1: nothing."""
    people: Integers
    """The people who fit, by number."""
    kinds: Integers
    """Per person who fits, the number of the kind: people of one kind have as many records that fit alike."""
    sets: tuple[int, ...]
    """Per kind, how many sets of a person's records fit."""
    with_one: tuple[tuple[int, ...], ...]
    """Per kind and what a record can be matched to, in how many of these sets it is."""

    @classmethod
    def of(cls, whose: Partition, fitting: Sequence[Flags]) -> FittingPeople:
        """Return who has records that can be matched, one to one, to those that are known.

        Args:
            whose: Whose each record is.
            fitting: Per known record, which records of the release it can be.

        Raises:
            StudyError: Too many records are known, or they fit in too many ways.
        """
        known = len(fitting)
        if known > MOST_KNOWN:
            raise StudyError(
                "{count} records of the person are known; give at most {most}",
                count=known,
                most=MOST_KNOWN,
            )
        matches = np.zeros(whose.records, np.int64)
        for place, fits in enumerate(fitting):
            matches |= fits.astype(np.int64) << place
        forms, marks = np.unique(matches, return_inverse=True)
        if not forms[0]:
            forms, marks = forms[1:], marks - 1
        people, counts = _counts(whose, marks, len(forms), known)
        kinds, firsts = _kinds(counts)
        walk = _Walk(forms.tolist(), counts[firsts].astype(np.int64), known)
        sets, with_one = walk.counted()
        does_fit = np.array([bool(ways) for ways in sets], np.bool_)[kinds]
        return cls(whose, known, marks, people[does_fit], kinds[does_fit], sets, with_one)

    @property
    def sizes(self) -> Integers:
        """Per person who fits, how many records they have."""
        return self.whose.sizes[self.people]

    def weight(self, kind: int, size: int) -> Fraction:
        """Return the chance that known records of a person fit, by how theirs do and how many they have."""
        return Fraction(self.sets[kind], comb(size, self.known))

    def heaviest(self) -> Fraction:
        """Return the chance that the likeliest person is the one."""
        weights = [
            (self.weight(kind, size), count)
            for (kind, size), count in alike(self.kinds, self.sizes)
        ]
        total = sum((count * weight for weight, count in weights), Fraction(0))
        return max(weight for weight, _ in weights) / total

    def by_value(self, values: NDArray[np.int32]) -> dict[int, Fraction]:
        """Return the weight of the people who fit, by the value that each person has."""
        weights: dict[int, Fraction] = {}
        of_each = (values[self.people], self.kinds, self.sizes)
        for (value, kind, size), count in alike(*of_each):
            weights[value] = weights.get(value, Fraction(0)) + count * self.weight(kind, size)
        return weights

    def by_other_value(self, values: NDArray[np.uint32]) -> dict[int, Fraction]:
        """Return how likely another record than the known ones has a value, up to a factor; each record has one."""
        kind_of = np.full(self.whose.classes, -1, np.int64)
        kind_of[self.people] = self.kinds
        owner = self.whose.numbers
        chosen = np.flatnonzero((kind_of[owner] >= 0) & (self.whose.sizes[owner] > self.known))
        owner = owner[chosen]
        weights: dict[int, Fraction] = {}
        of_each = (values[chosen], kind_of[owner], self.marks[chosen] + 1, self.whose.sizes[owner])
        for (value, kind, mark, size), count in alike(*of_each):
            without = self.sets[kind] - (self.with_one[kind][mark - 1] if mark else 0)
            ways = comb(size, self.known) * (size - self.known)
            weights[value] = weights.get(value, Fraction(0)) + Fraction(count * without, ways)
        return weights


def _counts(
    whose: Partition, marks: Integers, forms: int, known: int
) -> tuple[Integers, NDArray[np.int32]]:
    """Return the people who have as many records that fit as are known, and how many of each form."""
    telling = np.flatnonzero(marks >= 0)
    often = np.bincount(whose.numbers[telling], minlength=whose.classes)
    people = np.flatnonzero(often >= known)
    if len(people) * forms > MOST_COUNTS:
        raise _too_many(known)
    place_of = np.full(whose.classes, -1, np.int64)
    place_of[people] = np.arange(len(people))
    place, mark = place_of[whose.numbers[telling]], marks[telling]
    keys = (place * forms + mark)[place >= 0]
    counts = np.bincount(keys, minlength=len(people) * forms).astype(np.int32)
    return people, counts.reshape(len(people), forms)


def _kinds(counts: NDArray[np.int32]) -> tuple[Integers, Integers]:
    """Return per row the number of its kind, and per kind one row that is of it."""
    kinds = np.zeros(len(counts), np.int64)
    for column in counts.T:
        kinds = _refined(kinds, column)
    return kinds, np.unique(kinds, return_index=True)[1]


def _refined(numbers: Integers, column: NDArray[np.integer[Any]]) -> Integers:
    """Return numbers of what is alike also in a column."""
    width = int(column.max(initial=0)) + 1
    return np.unique(numbers * width + column, return_inverse=True)[1]


def alike(*columns: NDArray[np.integer[Any]]) -> Iterator[tuple[list[int], int]]:
    """Yield the rows of some columns, each once, and how often each is there."""
    numbers = np.zeros(len(columns[0]), np.int64)
    for column in columns:
        numbers = _refined(numbers, column)
    _, firsts, counts = np.unique(numbers, return_index=True, return_counts=True)
    rows = np.stack([column[firsts].astype(np.int64) for column in columns], axis=1)
    yield from zip(rows.tolist(), counts.tolist(), strict=True)


def _too_many(known: int) -> StudyError:
    return StudyError(
        "the {count} known records fit those of people in too many ways to be counted; say more about each "
        "record, or give fewer records",
        count=known,
    )


class _Walk:
    """Counts sets of records that can be matched to the known ones, for people of several kinds at once."""

    def __init__(self, forms: list[int], counts: Integers, known: int) -> None:
        """Prepare to count.

        Args:
            forms: What a record can be matched to, as sums of 2^place.
            counts: Per kind of people and form, how many such records they have.
            known: How many records are known.
        """
        most = int(counts.sum(axis=1).max(initial=0))
        if comb(most, min(known, most // 2)) * known >= _LARGEST:
            counts = counts.astype(object)
        self._forms, self._counts, self._known, self._steps = forms, counts, known, 0
        self._sets = np.zeros(len(counts), counts.dtype)
        self._with_one = np.zeros(counts.shape, counts.dtype)

    def counted(self) -> tuple[tuple[int, ...], tuple[tuple[int, ...], ...]]:
        """Return per kind how many sets fit, and by form in how many of them a record is."""
        if len(self._counts):
            self._take(0, [], [0] * self._known, np.ones(len(self._counts), self._counts.dtype))
        with_one = self._with_one // np.maximum(self._counts, 1)
        return tuple(self._sets.tolist()), tuple(map(tuple, with_one.tolist()))

    def _take(self, form: int, taken: list[int], matched: list[int], ways: Integers) -> None:
        """Take none of the records of the next form, one, two and so on, as long as all can be matched."""
        self._steps += len(ways)
        if self._steps > MOST_STEPS:
            raise _too_many(self._known)
        left = self._known - sum(taken)
        if not left:
            self._sets += ways
            for place, often in enumerate(taken):
                if often:
                    self._with_one[:, place] += ways * often
            return
        if form == len(self._forms):
            return
        self._take(form + 1, [*taken, 0], matched, ways)
        chosen = ways
        for often in range(1, left + 1):
            matched = _matched(matched, self._forms[form])
            chosen = chosen * np.maximum(self._counts[:, form] - often + 1, 0) // often
            if not matched or not chosen.any():
                return
            self._take(form + 1, [*taken, often], matched, chosen)


def _matched(matched: list[int], mark: int) -> list[int]:
    """Return a matching with one more record, which may push others aside (an augmenting path); empty: there is none.

    Args:
        matched: Per known record, the mark of the record that is matched to it, or 0.
        mark: What the new record can be matched to.
    """
    matched = matched.copy()
    seen = 0

    def placed(mark: int) -> bool:
        nonlocal seen
        for place, other in enumerate(matched):
            bit = 1 << place
            if mark & bit & ~seen:
                seen |= bit
                if not other or placed(other):
                    matched[place] = mark
                    return True
        return False

    return matched if placed(mark) else []
