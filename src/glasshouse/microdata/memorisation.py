"""What a synthetic file remembers of the people whom it was made from, beyond what it says of people like them.

Of those whom it was made from (T) and of a holdout (H) the same is counted, with every set of columns that may be known
(`origins`). What succeeds as often on H is what the file says of the population; what succeeds more often on T is what
it remembers. Counts are exact; only the step from T and H to people like them has an error:

- each question (a set of columns; match, single, or infer a secret) has a lower bound of the difference of the two
  shares, by Newcombe's score interval (1998, method 10), at 95% for all questions together (Bonferroni). With thousands
  of questions that is as sharp as what their dependence would allow, needs no random draw, and no large effect widens
  its own bound;
- one question is fixed beforehand, the gate: is the whole record of a person in it, by Fisher's exact test at 5%.

The file remembers where the greatest bound is above the tolerance, or the gate rings. That a p-value of all questions
is small says only that the file depends on its people at all, as any file does that was made from them.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from math import exp, floor, lgamma, sqrt
from statistics import NormalDist
from typing import Any

import numpy as np
import pyarrow as pa

from glasshouse.arrays import Floats, Integers
from glasshouse.errors import DataError
from glasshouse.microdata.leakage import treatment
from glasshouse.microdata.origins import FILES, KnownSets, known_sets, stacked
from glasshouse.table import EncodedTable, Step
from glasshouse.table.partition import refined

ERROR = 0.05
"""How often a bound of any question may be too high, and how often the gate may ring for nothing."""
TOLERANCE = Fraction(1, 100)
"""What a file may remember for certain before it is said to; no official source gives a number."""
SHOWN = Fraction(19, 20)
"""A leak is one that would have been noticed if the chance of it was so great."""
_UNITS = 100_000
_COINCIDENCE = 1e-9
"""As improbable as this it must be that so many records of the holdout are alike with the others by coincidence."""


@dataclass(frozen=True)
class Excess:
    """How much oftener somebody succeeds with those whom the file was made from than with others."""

    kind: str
    """How: ``match``, ``single`` or ``right``."""
    known: tuple[str, ...]
    """What she knows."""
    secret: str | None
    """What she infers, if anything."""
    trained_on: int
    """With how many she succeeds of those whom it was made from."""
    holdout: int
    """With how many of the holdout."""
    difference: Fraction
    """The difference of the two shares."""
    at_least: Fraction
    """The lower bound of it, rounded down; below 0: nothing is shown."""

    def to_dict(self) -> dict[str, Any]:
        """Return it as plain values."""
        return {
            "kind": self.kind,
            "known": list(self.known),
            "secret": self.secret,
            "trained_on": self.trained_on,
            "holdout": self.holdout,
            "difference": float(self.difference),
            "at_least": float(self.at_least),
        }


@dataclass(frozen=True)
class Remembered:
    """What a synthetic file is shown to remember of its own people."""

    questions: int
    """How many questions the bounds hold for together."""
    most: Excess
    """The question with the greatest bound."""
    by_question: tuple[Excess, ...]
    """The one with the greatest bound of each kind and secret."""
    gate: Excess
    """The question that was fixed beforehand: the whole record; its bound is for itself alone."""
    gate_p: float
    """How probable so many whole records, or more, would be if the file did not depend on who it was made from."""
    missed_copies: Fraction
    """Copies of fewer people than about this share could have gone unnoticed."""
    missed_otherwise: Fraction
    """Leaks by any other question of fewer people than about this share could."""

    @property
    def has_copies(self) -> bool:
        """Whether the gate rings: whole records of its own people are in it beyond chance."""
        return self.gate_p <= ERROR

    @property
    def at_least(self) -> Fraction:
        """What it remembers for certain, of all questions."""
        return max(Fraction(0), self.most.at_least)

    @property
    def copied(self) -> Fraction:
        """Of which share of its people it holds the whole record beyond chance, at least; 0: that is not shown."""
        if not self.has_copies:
            return Fraction(0)
        return max(self.gate.at_least, Fraction(1, _UNITS))

    @property
    def remembers(self) -> bool:
        """Whether it remembers more than the tolerance, or holds copies."""
        return self.has_copies or self.at_least > TOLERANCE

    def to_dict(self) -> dict[str, Any]:
        """Return it as plain values."""
        return {
            "remembers": self.remembers,
            "tolerance": float(TOLERANCE),
            "confidence": 1 - ERROR,
            "questions": self.questions,
            **self.most.to_dict(),
            "at_least": float(self.at_least),
            "by_question": [excess.to_dict() for excess in self.by_question],
            "gate": self.gate.to_dict() | {"p": self.gate_p, "at_least": float(self.copied)},
            "missed": {
                "copies": float(self.missed_copies),
                "otherwise": float(self.missed_otherwise),
            },
        }


@dataclass(frozen=True)
class SyntheticRelease:
    """A synthetic file beside the people whom it was made from, and others."""

    dataset: str
    """The name of the synthetic file."""
    records: int
    """The number of its records."""
    trained_on: str
    """The name of the file of those whom it was made from."""
    holdout: str | None
    """The name of the holdout; None: there is none, and nothing is judged."""
    quasi_identifiers: tuple[str, ...]
    """What can be known of a person."""
    sensitive: tuple[str, ...]
    """What is inferred."""
    sets: tuple[KnownSets, ...]
    """What comes of every set: of all columns together, then for each secret."""
    overlap: int
    """How many records of the holdout are alike with one of the others in all columns."""
    steps: tuple[Step, ...] = ()
    """What was left out of the files."""

    @property
    def people(self) -> tuple[int, int]:
        """The number of those whom it was made from, and of the holdout."""
        return self.sets[0].people

    @property
    def remembered(self) -> Remembered | None:
        """What it remembers; None: without a holdout that cannot be told."""
        return None if self.holdout is None else _remembered(self.sets)

    def fewest(self, count: int) -> tuple[Excess, ...]:
        """Return the questions in which the least known shows that more than the tolerance is remembered.

        Their sets hold no other set that shows it for the same kind; those with the fewest columns come first.
        """
        excesses = []
        for sets, kind in () if self.holdout is None else _kinds(self.sets):
            bounds = _bounds(sets, kind, _deviate(self.sets))
            least: list[int] = []
            for row in np.flatnonzero(bounds > float(TOLERANCE)) + 1:
                mask = int(sets.masks[row])
                if not any(mask & smaller == smaller for smaller in least):
                    least.append(mask)
                    excesses.append(_excess(sets, kind, int(row), float(bounds[row - 1])))
        excesses.sort(key=lambda excess: (len(excess.known), -excess.at_least))
        return tuple(excesses[:count])

    def to_dict(self) -> dict[str, Any]:
        """Return everything as plain values: a row per set of columns, for each secret and for all columns."""
        files = dict(zip(FILES, (self.trained_on, self.holdout), strict=True))
        remembered = self.remembered
        return {
            "synthetic": {"name": self.dataset, "records": self.records},
            **{
                file: None if name is None else {"name": name, "records": people}
                for (file, name), people in zip(files.items(), self.people, strict=True)
            },
            "records": self.records,
            "quasi_identifiers": list(self.quasi_identifiers),
            "sensitive": list(self.sensitive),
            "remembered": None if remembered is None else remembered.to_dict(),
            "overlap": self.overlap,
            "with_secret": [row for sets in self.sets[1:] for row in self._rows(sets)],
            "membership_all_columns": list(self._rows(self.sets[0])),
            **treatment(self.steps),
        }

    def to_frame(self) -> pa.Table:
        """Return one row per set of columns and secret, with the counts and figures of each file beside each other."""
        tables = []
        for sets in self.sets:
            columns: dict[str, Any] = {
                "secret": pa.array([sets.secret] * len(sets.masks), pa.string()),
                "known": [list(sets.names(row)) for row in range(len(sets.masks))],
                "size": sets.sizes,
            }
            for file, name in enumerate(FILES if self.holdout is not None else FILES[:1]):
                columns |= {f"{count}_{name}": of[:, file] for count, of in sets.counts.items()}
                columns |= {
                    f"{figure}_{name}": pa.array(of, from_pandas=True)
                    for figure, of in sets.figures(file).items()
                }
            tables.append(pa.table(columns))
        return pa.concat_tables(tables, promote_options="default")

    def _rows(self, sets: KnownSets) -> list[dict[str, Any]]:
        files = []
        for file in range(2 if self.holdout is not None else 1):
            columns: dict[str, list[Any]] = {
                name: counts[:, file].tolist() for name, counts in sets.counts.items()
            }
            for name, shares in sets.figures(file).items():
                columns[name] = [None if np.isnan(share) else share for share in shares.tolist()]
            files.append(
                [
                    dict(zip(columns, row, strict=True))
                    for row in zip(*columns.values(), strict=True)
                ]
            )
        return [
            {"known": list(sets.names(row)), "secret": sets.secret}
            | {
                name: files[file][row] if file < len(files) else None
                for file, name in enumerate(FILES)
            }
            for row in range(len(sets.masks))
        ]


def assess_synthetic(
    synthetic: EncodedTable,
    trained_on: EncodedTable,
    holdout: EncodedTable | None = None,
    *,
    quasi_identifiers: tuple[str, ...],
    sensitive: tuple[str, ...] = (),
    **options: Any,
) -> SyntheticRelease:
    """Count what a synthetic file tells of those whom it was made from, and of others like them.

    Args:
        synthetic: The synthetic file.
        trained_on: The people whom it was made from.
        holdout: Others of the same population, whom it was not made from; None: nothing is judged.
        quasi_identifiers: What can be known of a person.
        sensitive: What is to be inferred.
        options: As in `known_sets`.

    Raises:
        DataError: The files have no people, or the holdout overlaps with the others.
        StudyError: The subsets make no sense.
        BudgetError: There are more subsets than the memory holds.

    >>> import pyarrow as pa
    >>> from glasshouse.table import read
    >>> people = read(pa.table({"age": ["1", "2", "3"]}), quasi_identifiers=["age"])
    >>> others = read(pa.table({"age": ["1", "5"]}), quasi_identifiers=["age"])
    >>> outcome = assess_synthetic(people, people, others, quasi_identifiers=("age",))
    >>> outcome.sets[0].match.tolist()
    [[3, 2], [3, 1]]
    """
    for table in (synthetic, trained_on, *([] if holdout is None else [holdout])):
        if table.records == 0:
            raise DataError("{name}: has no records", name=table.name)
    overlap = 0
    if holdout is not None:
        overlap = _overlap(trained_on, holdout, (*quasi_identifiers, *sensitive))
    return SyntheticRelease(
        dataset=synthetic.name,
        records=synthetic.records,
        trained_on=trained_on.name,
        holdout=None if holdout is None else holdout.name,
        quasi_identifiers=quasi_identifiers,
        sensitive=sensitive,
        sets=known_sets(
            synthetic,
            trained_on,
            holdout,
            quasi_identifiers=quasi_identifiers,
            sensitive=sensitive,
            **options,
        ),
        overlap=overlap,
    )


def lower_bounds(
    first: Integers, of_first: int, second: Integers, of_second: int, deviate: float
) -> Floats:
    """Return lower bounds of the difference of two shares, by Newcombe's score interval.

    Args:
        first: Successes among the first.
        of_first: How many they are.
        second: Successes among the second.
        of_second: How many they are.
        deviate: The normal deviate that bounds go down to.

    >>> round(float(lower_bounds(np.array([56]), 70, np.array([48]), 80, 1.959964)[0]), 4)
    0.0524
    """
    share, other = first / of_first, second / of_second
    low, _ = _score_interval(share, of_first, deviate)
    _, high = _score_interval(other, of_second, deviate)
    bounds: Floats = share - other - np.sqrt((share - low) ** 2 + (high - other) ** 2)
    return bounds


def _score_interval(share: Floats, of: int, deviate: float) -> tuple[Floats, Floats]:
    """Return Wilson's interval of a share."""
    square = deviate * deviate
    middle = share + square / (2 * of)
    half = deviate * np.sqrt(share * (1 - share) / of + square / (4 * of * of))
    return (middle - half) / (1 + square / of), (middle + half) / (1 + square / of)


def chance_of_as_many(first: int, of_first: int, second: int, of_second: int) -> float:
    """Return how probable it is that as many successes, or more, are among the first, by chance (Fisher's exact test).

    >>> round(chance_of_as_many(5, 5, 1, 5), 6), chance_of_as_many(0, 5, 3, 5)
    (0.02381, 1.0)
    """
    hits, everybody = first + second, of_first + of_second
    lowest, highest = max(0, hits - of_second), min(hits, of_first)
    if first <= lowest:
        return 1.0

    def ways(whole: int, part: int) -> float:
        return lgamma(whole + 1) - lgamma(part + 1) - lgamma(whole - part + 1)

    start = ways(of_first, first) + ways(of_second, second) - ways(everybody, hits)
    steps = np.arange(first, highest)
    ratios = np.log(of_first - steps) - np.log(steps + 1.0)
    ratios += np.log(hits - steps) - np.log(of_second - hits + steps + 1.0)
    return min(1.0, exp(start) * (1 + float(np.exp(np.cumsum(ratios)).sum())))


def _kinds(sets: tuple[KnownSets, ...]) -> list[tuple[KnownSets, str]]:
    """Return the kinds of questions: whether somebody was in it in two ways, and each secret."""
    return [(sets[0], "match"), (sets[0], "single"), *((one, "right") for one in sets[1:])]


def _deviate(sets: tuple[KnownSets, ...]) -> float:
    """Return the normal deviate at which the bounds of all questions hold together."""
    return -NormalDist().inv_cdf(ERROR / _questions(sets))


def _questions(sets: tuple[KnownSets, ...]) -> int:
    return sum(len(one.masks) - 1 for one, _ in _kinds(sets))


def _bounds(sets: KnownSets, kind: str, deviate: float) -> Floats:
    """Return the bound of each set but the empty one."""
    counts, (people, others) = sets.counts[kind][1:], sets.people
    return lower_bounds(counts[:, 0], people, counts[:, 1], others, deviate)


def _remembered(sets: tuple[KnownSets, ...]) -> Remembered:
    normal, deviate = NormalDist(), _deviate(sets)
    best = []
    for one, kind in _kinds(sets):
        bounds = _bounds(one, kind, deviate)
        row = int(bounds.argmax())
        best.append(_excess(one, kind, row + 1, float(bounds[row])))
    whole = sets[0]
    people, others = whole.people
    of_people, of_others = whole.match[-1].tolist()
    alone = -normal.inv_cdf(ERROR)
    at_least = lower_bounds(whole.match[-1:, 0], people, whole.match[-1:, 1], others, alone)
    power = normal.inv_cdf(float(SHOWN))
    # What would have been noticed: a difference of so many standard errors, where the holdout says how often matches
    # are (Agresti's share, which is none of 0 and 1); of other questions, where they are as often as not.
    matched = (of_others + alone * alone / 2) / (others + alone * alone)
    error = sqrt(matched * (1 - matched) * (1 / people + 1 / others))
    copies = (alone + power) * error / (1 - matched)
    otherwise = (deviate + power) * sqrt((1 / people + 1 / others) / 4)
    return Remembered(
        questions=_questions(sets),
        most=max(best, key=lambda excess: excess.at_least),
        by_question=tuple(best),
        gate=_excess(whole, "match", len(whole.masks) - 1, float(at_least[0])),
        gate_p=chance_of_as_many(of_people, people, of_others, others),
        missed_copies=Fraction(min(1.0, copies)).limit_denominator(_UNITS),
        missed_otherwise=Fraction(min(1.0, otherwise)).limit_denominator(_UNITS),
    )


def _excess(sets: KnownSets, kind: str, row: int, bound: float) -> Excess:
    of_people, of_others = sets.counts[kind][row].tolist()
    return Excess(
        kind=kind,
        known=sets.names(row),
        secret=sets.secret,
        trained_on=of_people,
        holdout=of_others,
        difference=sets.difference(kind, row),
        at_least=Fraction(floor(bound * _UNITS), _UNITS),
    )


def _overlap(trained_on: EncodedTable, holdout: EncodedTable, names: tuple[str, ...]) -> int:
    """Return how many records of the holdout are alike with one of the others in all columns.

    Raises:
        DataError: They share identifiers; or so many are alike, compared with how many of the others are alike among
            themselves, that it is no coincidence.
    """
    if trained_on.identifier is not None and holdout.identifier is not None:
        there = set(trained_on.column(trained_on.identifier).values.to_pylist())
        shared = there & set(holdout.column(holdout.identifier).values.to_pylist())
        if shared:
            raise DataError(
                "{holdout}: {shared} people of it are in {trained_on} too, by “{column}”; a holdout has only people "
                "whom the synthetic file was not made from: leave them out of it",
                holdout=holdout.name,
                shared=len(shared),
                trained_on=trained_on.name,
                column=holdout.identifier,
            )
    both = stacked([trained_on, holdout], names, ())
    alike = refined([both.column(name) for name in names], both.records)
    people = np.bincount(alike.numbers[: trained_on.records], minlength=alike.classes)
    others = np.bincount(alike.numbers[trained_on.records :], minlength=alike.classes)
    overlap, twins = int(others[people > 0].sum()), int(people[people > 1].sum())
    chance = chance_of_as_many(overlap, holdout.records, twins, trained_on.records)
    if chance < _COINCIDENCE:
        raise DataError(
            "{holdout}: {overlap} of its {records} records are in {trained_on} too, more than chance would have; a "
            "holdout has only people whom the synthetic file was not made from: leave them out of it",
            holdout=holdout.name,
            overlap=overlap,
            records=holdout.records,
            trained_on=trained_on.name,
        )
    return overlap
