"""People with several records: what somebody learns who happens to know some of a person's visits, purchases or trips.

A person p has the events E_p, n_p of them, of which c_p(f) show the facts f: the values of the quasi-identifiers. The
target is one of the n people with at least m events, each as likely. The adversary learns the facts of m of the
target's events, drawn evenly and without replacement: the multiset o with the chance

    H(o | p) = Π_f C(c_p(f), o_f) / C(n_p, m)

The release keeps a pseudonym, so that she sees all events of each person together. With k(o) people who have o:

- by guessing   (1/n) Σ_o max_p H(o | p)               the Bayes vulnerability of naming the pseudonym
- with certainty (1/n) Σ_o [k(o) = 1] Σ_p H(o | p)     unicity (de Montjoye et al. 2013)
- evenly        (1/n) Σ_o Σ_p H(o | p) / k(o)          if she does not use how events became known
- luckiest, unluckiest (1/n) Σ_p max_o, min_o 1 / k(o)  the former is scikit-mobility's risk
- some m, any m the people with min_o k(o) = 1, with max_o k(o) = 1

A secret of the person, x(p), is guessed with Σ_o max_x Σ_{p: x(p) = x} H(o | p) / n. The value s of a column in
*another* event, drawn evenly from the rest, is asked of the n people with more than m events: with c_p(f, s) events of
p that show both, it is s with o known with the chance (1/n) Σ_p H(o | p) Σ_f c_p(f, s) (1 − o_f / c_p(f)) / (n_p − m).
Whoever has fewer than m events is
no target at that m, so that the number of targets belongs to every figure. With `everything`, she knows all events of
the target, and that these are all.

What is missing is not learned, unless the table says that missing is a value. A secret of the person is missing where
its column is in all events of the person: what is learned of it is what would be without these people. In another
event, and in the one that is known of a release without a pseudonym, it is missing where its column is: chances are
those given that it is not.

Without a pseudonym each known event is attacked by itself: with u_p events whose facts no other record of the release
has, at least one of the m is singled out with the chance (1/n) Σ_p [1 − C(n_p − u_p, m) / C(n_p, m)]. What lies between
the two is the price of the pseudonym.

Sums are integers for each number of events, and every chance one exact fraction (of *evenly*, *luckiest* and
*unluckiest* the nearest double, where the fraction would be too long). Where the walk takes too many steps, or ways too
many digits, it is an estimate from draws, with an interval that holds with a probability of 99.9% (empirical Bernstein,
Maurer and Pontil 2009), and is said to be one.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from decimal import Decimal
from fractions import Fraction
from math import comb, fsum, log, sqrt
from operator import mul
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from glasshouse.arrays import Flags, Floats, Integers
from glasshouse.errors import DataError, StudyError
from glasshouse.microdata import people_kernel, sight_kernel
from glasshouse.microdata.closeness import scaled_numbers
from glasshouse.microdata.leakage import Leakage, missing_entry, treatment
from glasshouse.microdata.people_kernel import CERTAIN, GUESSED, MOST_ALIKE, Events
from glasshouse.microdata.sight_kernel import EventValues
from glasshouse.progress import OnProgress, Progress
from glasshouse.study.assess import PersonSecret, parse_person_secret
from glasshouse.table import EncodedTable, Step
from glasshouse.table.partition import partition, refined
from glasshouse.table.treatment import WITHOUT_IDENTIFIER
from glasshouse.table.views import answers_to

DEFAULT_KNOWN = 4
"""Of so many events of a person she knows what they say, unless it is said otherwise."""
MOST_STEPS = 400_000_000
"""So many holders of facts are looked at, some one or two minutes; beyond, chances are estimated."""
DRAWS, MISSES = 100_000, 1e-3
"""How many draws an estimate is made of, and how often its interval may miss."""
MOST_SIGHTS = 20_000_000
"""So many choices of known events are listed to tell what another event is; beyond, chances are estimated."""
_VALUES = ("", "most", "other")
"""Secrets that are a value of a column: where it is missing, nothing is learned."""
_LARGEST = 1 << 62
_MOST_TERMS = 200
"""Of more different denominators a sum is rounded to a double."""


@dataclass(frozen=True)
class Another:
    """What somebody who knows some of a person's events learns of another event of the same person."""

    targets: int
    """How many people have more events than she knows, and one that tells it: each of them is as likely."""
    guess: Leakage
    """The chance of a right guess."""
    certainty: Leakage
    """The chance that only one value can be."""
    margin: Fraction | None = None
    """By how much chances that were estimated may be off; None: they are exact."""

    def to_dict(self) -> dict[str, Any]:
        """Return it as plain values."""
        return {
            "targets": self.targets,
            "exact": self.margin is None,
            "margin": None if self.margin is None else float(self.margin),
        } | _chances(self.guess, self.certainty)


@dataclass(frozen=True)
class Knowing:
    """What somebody achieves who knows some facts of some of a person's events."""

    quasi_identifiers: tuple[str, ...]
    """The facts of an event that she knows."""
    events: int | None
    """How many of the target's events she knows; None: all, and that they are all."""
    targets: int
    """How many people have so many events: each of them is as likely."""
    guessing: Leakage
    """The chance that her best guess names the target's pseudonym."""
    certainty: Leakage
    """The chance that nobody else fits."""
    evenly: Fraction
    """The chance of a guess that does not use how events become known, evenly among those who fit."""
    luckiest: Fraction | None
    """Such a chance if the events that give a person away most are the known ones; None: not known, as of draws."""
    unluckiest: Fraction | None
    """The same of the events that give a person away least."""
    some: int | None
    """How many people have some such events that fit nobody else."""
    any: int | None
    """How many people fit alone whatever events of theirs she knows."""
    unlinked: Fraction
    """Without a pseudonym, the chance that at least one of the known events is the only record with its facts."""
    secrets: Mapping[str, tuple[Leakage, Leakage]] = field(default_factory=dict)
    """Per secret of the person, the chance of a right guess, and of certainty."""
    another: Mapping[str, Another] = field(default_factory=dict)
    """Per secret of another event, what is learned of it; none where nobody has more events than are known."""
    margin: Fraction | None = None
    """By how much chances that were estimated may be off, but for once in a thousand times; None: they are exact."""
    known_of: Mapping[str, int] = field(default_factory=dict)
    """Per secret of the person that is missing of some targets, of how many of them it is known."""

    def targets_of(self, secret: str) -> int:
        """Return of how many targets a secret of the person is known."""
        return self.known_of.get(secret, self.targets)

    def to_dict(self) -> dict[str, Any]:
        """Return it as plain values; probabilities as floats of the exact ratios."""
        return {
            "quasi_identifiers": list(self.quasi_identifiers),
            "events": "all" if self.events is None else self.events,
            "targets": self.targets,
            "exact": self.margin is None,
            "margin": None if self.margin is None else float(self.margin),
            "naming": _chances(self.guessing, self.certainty)
            | {
                "evenly": float(self.evenly),
                "luckiest": None if self.luckiest is None else float(self.luckiest),
                "unluckiest": None if self.unluckiest is None else float(self.unluckiest),
                "some_events_single_out": self.some,
                "any_events_single_out": self.any,
            },
            "unlinked": {"certain": float(self.unlinked)},
            "secrets": [
                {"sensitive": name} | _chances(*chances) for name, chances in self.secrets.items()
            ]
            + [{"sensitive": name} | one.to_dict() for name, one in self.another.items()],
        }


@dataclass(frozen=True)
class People:
    """What somebody learns of people with several records who knows some of them."""

    dataset: str
    """The name of the release."""
    person: tuple[str, ...]
    """The columns that tell whose a record is."""
    quasi_identifiers: tuple[str, ...]
    """What can be known of an event."""
    people: int
    """The number of people."""
    events: int
    """The number of records."""
    longest: int
    """The most records that one person has."""
    unlinked: bool
    """Whether the release keeps no pseudonym."""
    results: tuple[Knowing, ...]
    """By set of quasi-identifiers, and by how many events she knows."""
    record_guess: Mapping[str, tuple[Leakage, Leakage]] = field(default_factory=dict)
    """Without a pseudonym and with all quasi-identifiers of one event: the chance of naming its record (``""``) and of
    guessing each secret of it, and of certainty."""
    steps: tuple[Step, ...] = ()
    """What was left out of the dataset."""
    missing: Mapping[str, int] = field(default_factory=dict)
    """By column of a secret, in how many records it is missing, if in any: it is not learned of them."""
    known_of: Mapping[str, int] = field(default_factory=dict)
    """Without a pseudonym, by column of a secret that is missing in some records, how many people have others."""
    with_suppressed: People | None = field(default=None, compare=False, repr=False)
    """The same with the suppressed records that were left out; None: none were."""

    @property
    def records(self) -> int:
        """The number of records."""
        return self.events

    @property
    def curve(self) -> tuple[Knowing, ...]:
        """What is learned with all quasi-identifiers, or the largest set that was asked for, by number of events."""
        widest = max((len(result.quasi_identifiers) for result in self.results), default=0)
        first = next(r for r in self.results if len(r.quasi_identifiers) == widest)
        return tuple(r for r in self.results if r.quasi_identifiers == first.quasi_identifiers)

    def to_dict(self) -> dict[str, Any]:
        """Return everything that came out as plain values."""
        content: dict[str, Any] = {
            "dataset": self.dataset,
            "person": list(self.person),
            "people": self.people,
            "records": self.events,
            "longest": self.longest,
            "unlinked": self.unlinked,
        }
        content |= missing_entry(self.missing) | treatment(self.steps)
        content["results"] = [result.to_dict() for result in self.results]
        if self.record_guess:
            content["one_record"] = [
                {"sensitive": name or None} | _chances(*chances)
                for name, chances in self.record_guess.items()
            ]
        return content

    def to_frame(self) -> pa.Table:
        """Return one row per set of quasi-identifiers and number of events; 0 events stand for all of them."""
        rows = []
        for result in self.results:
            row: dict[str, Any] = {
                "quasi_identifiers": list(result.quasi_identifiers),
                "events": result.events or 0,
                "targets": result.targets,
                "exact": result.margin is None,
                "guessing_prior": float(result.guessing.prior),
                "guessing": float(result.guessing.posterior),
                "certain": float(result.certainty.posterior),
                "evenly": float(result.evenly),
                "some": result.some,
                "any": result.any,
                "unlinked": float(result.unlinked),
            }
            learned = dict(result.secrets)
            learned |= {name: (one.guess, one.certainty) for name, one in result.another.items()}
            for name, (guess, certainty) in learned.items():
                row |= {
                    f"{name}: before": float(guess.prior),
                    f"{name}: guessing": float(guess.posterior),
                    f"{name}: certain": float(certainty.posterior),
                }
            rows.append(row)
        columns = dict.fromkeys(name for row in rows for name in row)
        return pa.Table.from_pylist([dict.fromkeys(columns) | row for row in rows])


def _chances(guess: Leakage, certainty: Leakage) -> dict[str, Any]:
    return {
        "before": float(guess.prior),
        "guessing": float(guess.posterior),
        "certain": float(certainty.posterior),
    }


def assess_people(
    table: EncodedTable,
    person: str | Sequence[str],
    *,
    knows: int | str | None = None,
    subsets: Sequence[Sequence[str]] | None = None,
    secrets: Sequence[str] = (),
    unlinked: bool = False,
    seed: int = 0,
    most_steps: int = MOST_STEPS,
    on_progress: OnProgress | None = None,
) -> People:
    """Tell what somebody learns who happens to know some of a person's records.

    Args:
        table: The release, a record per event.
        person: The column that says whose a record is, or several together: a pseudonym that changes every month is
            ``["pseudonym", "month"]``.
        knows: Up to how many of a person's events she knows, or ``"all"``; by default up to 4, or as many as the
            longest history has.
        subsets: The sets of quasi-identifiers of an event that she knows; by default all of the table's.
        secrets: What she wants to learn of a person: ``any icd=F*``, ``sum price``, ``most clinic``, ``count``, a
            column that is the same in all records of a person, or ``other icd``, what another record says.
        unlinked: Whether the release keeps no pseudonym; a secret is then a column of the known event.
        seed: For estimates.
        most_steps: Beyond so many steps of the walk chances are estimated.
        on_progress: Called now and then with how far it is.

    Raises:
        DataError: A column is not in the table, or no record says whose it is.
        StudyError: Nobody has so many events, or a secret is not one of a person.

    >>> from glasshouse.table import read
    >>> visits = pa.table({"who": list("aabbcc"), "clinic": list("NNNSNS")})
    >>> table = read(visits, quasi_identifiers=["clinic"], also=["who"])
    >>> [str(result.certainty.posterior) for result in assess_people(table, "who").results]
    ['0', '1/3']
    """
    names = (person,) if isinstance(person, str) else tuple(person)
    table, steps = with_person(table, names)
    whose = refined([table.column(name) for name in names], table.records)
    longest = int(whose.sizes.max())
    numbers: list[int | None]
    if knows == "all":
        numbers = [None]
    else:
        most = min(DEFAULT_KNOWN, longest) if knows is None else int(knows)
        if most > longest:
            raise StudyError(
                "nobody has {events} records: the longest history has {longest}; give `knows` at most {longest}",
                events=most,
                longest=longest,
            )
        numbers = list(range(1, most + 1))
    asked = {name: parse_person_secret(name) for name in secrets}
    of_another = {name: str(one.column) for name, one in asked.items() if one.how == "other"}
    of_person = [] if unlinked else [name for name in secrets if name not in of_another]
    if of_another and numbers == [None]:
        raise StudyError(
            'someone who knows all records of a person knows of no other: leave out "{secret}", or say how many are '
            "known (`knows`)",
            secret=next(iter(of_another)),
        )
    values = {name: secret_of_each(table, whose.numbers, name).codes for name in of_person}
    inferred = [one.column for one in asked.values() if one.how in _VALUES]
    missing = _missing(table, secrets if unlinked else inferred)
    known_sets = [table.quasi_identifiers] if subsets is None else [tuple(s) for s in subsets]
    results: list[Knowing] = []
    for place, known in enumerate(known_sets):
        facts = partition(table, known).numbers
        lists = _Lists.of(whose.numbers, facts, whose.sizes)
        for turn, number in enumerate(numbers):
            if on_progress is not None:
                share = (place * len(numbers) + turn) / (len(known_sets) * len(numbers))
                on_progress(Progress("sweeping", share, 1.0))
            result = _knowing(lists, known, number, values, seed, most_steps)
            further = {
                name: _another(lists, table, column, whose.numbers, facts, number, seed)
                for name, column in of_another.items()
                if number is not None and number < longest
            }
            further_known = {name: one for name, one in further.items() if one is not None}
            results.append(replace(result, another=further_known))
    return People(
        dataset=table.name,
        person=names,
        quasi_identifiers=table.quasi_identifiers,
        people=whose.classes,
        events=table.records,
        longest=longest,
        unlinked=unlinked,
        results=tuple(results),
        record_guess=_one_record(table, whose.numbers, whose.sizes, secrets) if unlinked else {},
        steps=tuple(steps),
        missing=missing,
        known_of={
            name: len(np.unique(whose.numbers[~table.missing([name])]))
            for name in (missing if unlinked else ())
        },
    )


def _missing(table: EncodedTable, columns: Iterable[str | None]) -> dict[str, int]:
    """Return by column in how many records it is missing, if in any and missing is no value.

    Raises:
        DataError: One is missing in every record.
    """
    names = [] if table.missing_is_a_value else [name for name in columns if name]
    counts = {name: table.records - table.with_known([name]).records for name in names}
    return {name: count for name, count in counts.items() if count}


def with_person(table: EncodedTable, names: Sequence[str]) -> tuple[EncodedTable, list[Step]]:
    """Leave out the records that do not say whose they are, and say how many.

    Raises:
        DataError: A column is not in the table, or no record says whose it is.
    """
    gone = table.missing(names)
    if not gone.any():
        return table, []
    left = table.records - int(np.count_nonzero(gone))
    if not left:
        raise DataError("{table}: no record says whose it is", table=table.name)
    step = Step(table.name, WITHOUT_IDENTIFIER, names[0], table.records, left)
    return table.of_records(~gone), [step]


@dataclass(frozen=True)
class _Lists:
    """Events as a list of facts per person, and a list of people per fact; facts are numbered from the rarest on."""

    starts: Integers
    people: NDArray[np.int32]
    facts: NDArray[np.int32]
    copies: NDArray[np.int32]
    rests: NDArray[np.int32]
    by_fact: NDArray[np.int32]
    fact_starts: Integers
    sizes: NDArray[np.int32]
    alone: Integers
    """Per person, how many events have facts that no other record has."""
    ranks: Integers
    """Per fact as the release numbers them, its number here."""

    @property
    def events(self) -> Events:
        """The lists that loops go over."""
        return Events(*(getattr(self, name) for name in Events._fields))

    def of_people(self, chosen: Flags) -> _Lists:
        """Return the events of some people, as if there were no others."""
        number = np.cumsum(chosen) - 1
        entries = np.flatnonzero(chosen[self.people])
        whose, facts = number[self.people[entries]], self.facts[entries]
        copies = self.copies[entries]
        return _Lists.of(
            np.repeat(whose, copies).astype(np.uint32),
            np.repeat(facts, copies).astype(np.uint32),
            self.sizes[chosen].astype(np.int64),
        )

    @classmethod
    def of(cls, whose: NDArray[np.uint32], facts: NDArray[np.uint32], sizes: Integers) -> _Lists:
        number = int(facts.max()) + 1
        key = np.sort(whose.astype(np.int64) * number + facts)
        firsts = np.flatnonzero(np.concatenate(([True], key[1:] != key[:-1])))
        copies = np.diff(firsts, append=len(key)).astype(np.int32)
        holder, fact = np.divmod(key[firsts], number)
        held = np.bincount(fact, minlength=number)
        records = np.bincount(facts, minlength=number)
        alone = np.bincount(holder[records[fact] == 1], minlength=len(sizes))
        rank = np.empty(number, np.int64)
        rank[np.argsort(held, kind="stable")] = np.arange(number)
        order = np.argsort(holder * number + rank[fact], kind="stable")
        people, ranked, copies = holder[order], rank[fact[order]], copies[order]
        starts = np.searchsorted(people, np.arange(len(sizes) + 1))
        before = np.concatenate(([0], np.cumsum(copies)))
        rests = before[starts[people + 1]] - before[:-1]
        return cls(
            starts=starts,
            people=people.astype(np.int32),
            facts=ranked.astype(np.int32),
            copies=copies,
            rests=rests.astype(np.int32),
            by_fact=np.argsort(ranked, kind="stable").astype(np.int32),
            fact_starts=np.concatenate(([0], np.cumsum(np.sort(held, kind="stable")))),
            sizes=sizes.astype(np.int32),
            alone=alone,
            ranks=rank,
        )


def _knowing(
    lists: _Lists,
    known: tuple[str, ...],
    number: int | None,
    secrets: Mapping[str, NDArray[np.int32]],
    seed: int,
    most_steps: int,
) -> Knowing:
    """Return what comes of knowing so many events, exactly if it can be.

    Args:
        lists: The events.
        known: The facts of an event that are known.
        number: How many events are known; None: all.
        secrets: Per secret of the person, everybody's value; negative: it is missing.
        seed: For estimates.
        most_steps: Beyond so many steps of the walk chances are estimated.
    """
    alike: dict[bytes, dict[str, NDArray[np.int32]]] = defaultdict(dict)
    for name, codes in secrets.items():
        alike[np.packbits(codes >= 0).tobytes()][name] = codes
    everybodys = alike.pop(np.packbits(np.ones(len(lists.sizes), np.bool_)).tobytes(), {})
    result = _knowing_with(lists, known, number, everybodys, seed, most_steps)
    learned, margin = dict(result.secrets), result.margin
    known_of: dict[str, int] = {}
    for some in alike.values():
        is_known = next(iter(some.values())) >= 0
        if not np.any(is_known & (lists.sizes >= (number or 1))):
            continue
        among = {name: codes[is_known] for name, codes in some.items()}
        part = _knowing_with(lists.of_people(is_known), known, number, among, seed, most_steps)
        learned |= part.secrets
        known_of |= dict.fromkeys(some, part.targets)
        if part.margin is not None:
            margin = max(part.margin, margin or part.margin)
    ordered = {name: learned[name] for name in secrets if name in learned}
    return replace(result, secrets=ordered, known_of=known_of, margin=margin)


def _knowing_with(
    lists: _Lists,
    known: tuple[str, ...],
    number: int | None,
    secrets: Mapping[str, NDArray[np.int32]],
    seed: int,
    most_steps: int,
) -> Knowing:
    """Return the same of secrets that nobody lacks."""
    if number is None:
        return _knowing_all(lists, known, secrets)
    subsets = [comb(size, number) for size in range(int(lists.sizes.max()) + 1)]
    people_of = np.bincount(lists.sizes, minlength=len(subsets)).tolist()
    fits = all(
        max(count, size) * ways < _LARGEST
        for size, (count, ways) in enumerate(zip(people_of, subsets, strict=True))
    )
    exact = _walked(lists, known, number, secrets, subsets, most_steps) if fits else None
    return exact or _estimated(lists, known, number, secrets, subsets, seed)


def _walked(
    lists: _Lists,
    known: tuple[str, ...],
    number: int,
    secrets: Mapping[str, NDArray[np.int32]],
    subsets: Sequence[int],
    most_steps: int,
) -> Knowing | None:
    """Return the exact chances; None: that takes too many steps."""
    values = _as_matrix(secrets, len(lists.sizes))
    ways, ties, steps = people_kernel.walk(
        number,
        lists.events,
        np.array(subsets, np.int64),
        values,
        int(values.max(initial=0)) + 1,
        most_steps,
    )
    if steps < 0:
        return None
    _settle(ways.learned, ties, subsets, len(secrets))
    is_target = lists.sizes >= number
    targets = int(np.count_nonzero(is_target))

    def chance(by_size: Integers) -> Fraction:
        return _sum(by_size, subsets) / targets

    evenly = sum(
        (
            chance(ways.alike[count]) / count
            for count in range(1, MOST_ALIKE + 1)
            if ways.alike[count].any()
        ),
        Fraction(0),
    )
    if ways.beyond.any():
        rest = fsum(
            float(number) / subsets[size]
            for size, number in enumerate(ways.beyond.tolist())
            if number
        )
        evenly = Fraction(float(evenly) + rest / targets)
    first = Fraction(int(targets == 1))
    return Knowing(
        quasi_identifiers=known,
        events=number,
        targets=targets,
        guessing=Leakage(Fraction(1, targets), chance(ways.named[GUESSED])),
        certainty=Leakage(first, chance(ways.named[CERTAIN])),
        evenly=evenly,
        luckiest=_mean_of_inverses(ways.fewest[is_target]),
        unluckiest=_mean_of_inverses(ways.most[is_target]),
        some=int(np.count_nonzero(ways.fewest[is_target] == 1)),
        any=int(np.count_nonzero(ways.most[is_target] == 1)),
        unlinked=_singled_out(lists, number),
        secrets={
            name: _before_and_after(
                value[is_target],
                chance(ways.learned[place, GUESSED]),
                chance(ways.learned[place, CERTAIN]),
            )
            for place, (name, value) in enumerate(secrets.items())
        },
    )


def _before_and_after(
    values: NDArray[np.int32], guess: Fraction, certain: Fraction
) -> tuple[Leakage, Leakage]:
    """Return a guess and certainty of a secret with these values of the targets."""
    before = Fraction(int(np.bincount(values).max()), len(values))
    return Leakage(before, guess), Leakage(Fraction(int(before == 1)), certain)


def _as_matrix(secrets: Mapping[str, NDArray[np.int32]], people: int) -> NDArray[np.int32]:
    return np.stack([*secrets.values()]) if secrets else np.zeros((0, people), np.int32)


def _sum(ways: Integers, subsets: Sequence[int]) -> Fraction:
    """Return Σ_d ways(d) / C(d, m)."""
    return sum(
        (Fraction(count, subsets[size]) for size, count in enumerate(ways.tolist()) if count),
        Fraction(0),
    )


def _settle(learned: Integers, ties: Integers, subsets: Sequence[int], secrets: int) -> None:
    """Compare exactly what doubles could not, and add the ways of the likeliest secret."""
    by_sight: dict[int, dict[int, list[tuple[int, int]]]] = defaultdict(lambda: defaultdict(list))
    for sight, value, size, ways in ties.tolist():
        by_sight[sight][value].append((size, ways))
    for sight, by_value in by_sight.items():
        likeliest = max(
            by_value.values(),
            key=lambda entries: sum(Fraction(ways, subsets[size]) for size, ways in entries),
        )
        for size, ways in likeliest:
            learned[sight % secrets, GUESSED, size] += ways


def _mean_of_inverses(counts: Integers) -> Fraction:
    """Return the mean of 1 / count; the nearest double where the exact one would be too long."""
    people_of = np.bincount(counts)
    at = np.flatnonzero(people_of)
    if len(at) <= _MOST_TERMS:
        inverses = (Fraction(int(people_of[count]), int(count)) for count in at)
        return sum(inverses, Fraction(0)) / len(counts)
    return Fraction(fsum((people_of[at] / at).tolist()) / len(counts))


def _singled_out(lists: _Lists, number: int) -> Fraction:
    """Return the chance that at least one of so many events has facts that no other record of the release has."""
    is_target = lists.sizes >= number
    both = np.stack([lists.sizes[is_target].astype(np.int64), lists.alone[is_target]])
    kinds, counts = np.unique(both, axis=1, return_counts=True)
    total = Fraction(0)
    for size, alone, count in zip(*kinds.tolist(), counts.tolist(), strict=True):
        total += count * (1 - Fraction(comb(size - alone, number), comb(size, number)))
    return total / int(counts.sum())


def _knowing_all(
    lists: _Lists, known: tuple[str, ...], secrets: Mapping[str, NDArray[np.int32]]
) -> Knowing:
    """Return what comes of knowing all events of the target, and that they are all."""
    both = np.stack([lists.facts, lists.copies], axis=1)
    classes: dict[bytes, list[int]] = defaultdict(list)
    for person, (begin, end) in enumerate(zip(lists.starts[:-1], lists.starts[1:], strict=True)):
        classes[both[begin:end].tobytes()].append(person)
    targets = len(lists.sizes)
    alone = sum(len(members) == 1 for members in classes.values())
    named, certain = Fraction(len(classes), targets), Fraction(alone, targets)
    learned = {}
    for name, values in secrets.items():
        right = sure = 0
        for members in classes.values():
            counts = Counter(values[members].tolist())
            right += max(counts.values())
            sure += len(members) if len(counts) == 1 else 0
        learned[name] = _before_and_after(values, Fraction(right, targets), Fraction(sure, targets))
    return Knowing(
        quasi_identifiers=known,
        events=None,
        targets=targets,
        guessing=Leakage(Fraction(1, targets), named),
        certainty=Leakage(Fraction(int(targets == 1)), certain),
        evenly=named,
        luckiest=named,
        unluckiest=named,
        some=alone,
        any=alone,
        unlinked=Fraction(int(np.count_nonzero(lists.alone)), targets),
        secrets=learned,
    )


def _estimated(
    lists: _Lists,
    known: tuple[str, ...],
    number: int,
    secrets: Mapping[str, NDArray[np.int32]],
    subsets: Sequence[int],
    seed: int,
) -> Knowing:
    """Return chances estimated from draws of a target and so many of its events."""
    random = np.random.default_rng(seed)
    is_target = lists.sizes >= number
    targets = np.flatnonzero(is_target)
    values = _as_matrix(secrets, len(lists.sizes))
    draws: Floats = sight_kernel.draw(
        targets[random.integers(0, len(targets), DRAWS)],
        random.random((DRAWS, number)),
        lists.events,
        np.array([float(ways) for ways in subsets]),
        values,
        EventValues(np.empty(0, np.int64), np.empty(0, np.int32), np.empty(0, np.int32)),
        int(values.max(initial=0)) + 1,
        number,
    )
    means = [Fraction(mean) for mean in draws.mean(axis=1).tolist()]
    people_of = len(targets)
    return Knowing(
        quasi_identifiers=known,
        events=number,
        targets=people_of,
        guessing=Leakage(Fraction(1, people_of), means[0]),
        certainty=Leakage(Fraction(int(people_of == 1)), means[1]),
        evenly=means[2],
        luckiest=None,
        unluckiest=None,
        some=None,
        any=None,
        unlinked=_singled_out(lists, number),
        secrets={
            name: _before_and_after(value[is_target], means[3 + 2 * place], means[4 + 2 * place])
            for place, (name, value) in enumerate(secrets.items())
        },
        margin=_margin(draws),
    )


def _margin(draws: Floats) -> Fraction:
    """Return by how much the mean of some draws may be off; of several, the most."""
    rare = log(4 / MISSES)
    return max(
        Fraction(sqrt(2 * variance * rare / DRAWS) + 7 * rare / (3 * (DRAWS - 1)))
        for variance in draws.var(axis=1, ddof=1).tolist()
    )


def _another(
    lists: _Lists,
    table: EncodedTable,
    name: str,
    whose: NDArray[np.uint32],
    facts: NDArray[np.uint32],
    number: int,
    seed: int,
) -> Another | None:
    """Return what is learned of a column in another event of the target than the known ones; None: it is missing."""
    column = table.column(name)
    is_known = table.known_values(name)[column.codes]
    # per entry, its values and in how many events: entries are by person and rank of the fact
    width = len(lists.ranks)
    entry_of = (whose.astype(np.int64) * width + lists.ranks[facts])[is_known]
    codes = column.codes[is_known].astype(np.int64)
    order = np.lexsort((codes, entry_of))
    keys = np.stack([entry_of, codes])[:, order]
    firsts = np.flatnonzero(np.any(np.diff(keys, prepend=-1), axis=0))
    entries = lists.people.astype(np.int64) * width + lists.facts
    value_starts = np.append(np.searchsorted(keys[0, firsts], entries), len(firsts))
    times = np.diff(firsts, append=len(order))
    told = EventValues(value_starts, keys[1, firsts].astype(np.int32), times.astype(np.int32))

    sizes = lists.sizes
    denominators = [comb(d, number) * (d - number) for d in range(int(sizes.max()) + 1)]
    people_of = np.bincount(sizes, minlength=len(denominators)).tolist()
    is_target = sizes > number
    targets = int(np.count_nonzero(is_target))
    owner = whose[is_known]
    owner, codes = owner[is_target[owner]], codes[is_target[owner]]
    if not len(owner):
        return None
    events = sizes[owner].astype(np.int64)
    before = _weighed(np.zeros(len(owner), np.uint32), codes, events)
    whole = _weight_of(events)
    choices = sum(count * comb(d, number) for d, count in enumerate(people_of) if d > number)
    fits = max(map(mul, people_of, denominators)) < _LARGEST and denominators[-1] < 1 << 53
    if choices > MOST_SIGHTS or not fits:
        random = np.random.default_rng(seed)
        drawn = np.flatnonzero(is_target)[random.integers(0, targets, DRAWS)]
        draws: Floats = sight_kernel.draw(
            drawn,
            random.random((DRAWS, number)),
            lists.events,
            np.array([float(comb(d, number)) for d in range(len(denominators))]),
            np.zeros((0, len(sizes)), np.int32),
            told,
            column.cardinality,
            number + 1,
        )[-2:]
        guess, certain = (Fraction(mean) * targets / whole for mean in draws.mean(axis=1).tolist())
        margin = _margin(draws) * targets / whole
    else:
        listed = sight_kernel.sights(number, lists.events, choices)
        learned, ties = sight_kernel.another(
            listed,
            np.lexsort(listed.facts.T[::-1]),
            lists.events,
            np.array(denominators, np.int64),
            told,
            column.cardinality,
        )
        _settle(learned, ties, denominators, 1)
        guess, certain = (_sum(row, denominators) / whole for row in learned[0])
        margin = None
    first, sure = (one.prior for one in before)
    asked_of = len(np.unique(owner))
    return Another(asked_of, Leakage(first, guess), Leakage(sure, certain), margin)


# The secrets of a person


class SecretOfEach(NamedTuple):
    """A secret of each person."""

    codes: NDArray[np.int32]
    """Per person, the place of the value in `values`; -1: it is missing."""
    values: Integers
    """The values that occur, as whole numbers, in rising order."""
    text_of: Callable[[int], str]
    """Says such a number as the value that it stands for."""

    @classmethod
    def of(
        cls,
        values: Integers,
        text_of: Callable[[int], str] = str,
        is_known: Flags | slice = slice(None),
    ) -> SecretOfEach:
        """Return a secret by the value of each person; of whom it is not known, it is missing."""
        occurring, places = np.unique(values[is_known], return_inverse=True)
        codes = np.full(len(values), -1, np.int32)
        codes[is_known] = places
        return cls(codes, occurring, text_of)


def secret_of_each(table: EncodedTable, whose: NDArray[np.uint32], name: str) -> SecretOfEach:
    """Return a secret of each person, who is told by number for each record.

    Raises:
        DataError: A column is not in the table, or one to be summed holds no numbers.
        StudyError: A column is not the same in all records of a person.
    """
    asked = parse_person_secret(name)
    people_number = int(whose.max()) + 1
    if asked.how == "count":
        return SecretOfEach.of(np.bincount(whose, minlength=people_number))
    column = table.column(str(asked.column))
    if asked.how == "any":
        met = np.array(answers_to(asked.condition, table), np.bool_)[column.codes]
        met &= ~table.missing([column.name])
        often = np.bincount(whose[met], minlength=people_number)
        return SecretOfEach.of((often > 0).astype(np.int64), ("no", "yes").__getitem__)
    if asked.how == "sum":
        numbers, scale = scaled_numbers(column, table, missing=0)
        sums = np.zeros(people_number, np.int64)
        np.add.at(sums, whose, numbers[column.codes])
        return SecretOfEach.of(sums, lambda total: f"{Decimal(total) / scale:f}")
    return _value_of_each(table, whose, asked, people_number)


def _value_of_each(
    table: EncodedTable, whose: NDArray[np.uint32], asked: PersonSecret, people_number: int
) -> SecretOfEach:
    """Return the most frequent value of each person, of several the first to appear in the release."""
    column = table.column(str(asked.column))
    told = table.known_values(column.name)[column.codes]
    key = whose[told].astype(np.int64) * column.cardinality + column.codes[told]
    pairs, counts = np.unique(key, return_counts=True)
    person, value = np.divmod(pairs, column.cardinality)
    is_known = np.bincount(person, minlength=people_number) > 0
    if not asked.how and len(pairs) > np.count_nonzero(is_known):
        raise StudyError(
            '"{column}" is not the same in all records of a person: say what of it is the secret, such as '
            '"any {column}=VALUE", "most {column}" or "sum {column}"',
            column=str(asked.column),
        )
    order = np.lexsort((value, -counts, person))
    values = np.full(people_number, -1, np.int64)
    firsts = np.searchsorted(person[order], np.flatnonzero(is_known))
    values[is_known] = value[order][firsts]
    return SecretOfEach.of(values, lambda code: str(column.values[code].as_py()), is_known)


def _one_record(
    table: EncodedTable, whose: NDArray[np.uint32], sizes: Integers, secrets: Sequence[str]
) -> Mapping[str, tuple[Leakage, Leakage]]:
    """Return what one known event gives without a pseudonym: its record, and what else that record says.

    A record of a person with n events is the known one with the chance 1 / n. Which secret is the likeliest is decided
    in doubles; those that rounding cannot tell apart differ by less than a part in 10¹².
    """
    classes = partition(table, table.quasi_identifiers).numbers
    events = sizes[whose]
    guesses = {"": _weighed(classes, np.arange(table.records), events)}
    for name in secrets:
        column = table.column(name)
        told = table.known_values(name)[column.codes]
        guesses[name] = _weighed(classes[told], column.codes[told].astype(np.int64), events[told])
    return guesses


def _weight_of(events: Integers) -> Fraction:
    """Return how many people some records stand for, each 1 / the events of its person."""
    counts = np.bincount(events)
    terms = (Fraction(int(counts[size]), int(size)) for size in np.flatnonzero(counts))
    return sum(terms, Fraction(0))


def _weighed(
    classes: NDArray[np.uint32], values: Integers, events: Integers
) -> tuple[Leakage, Leakage]:
    """Return a guess and certainty of a value where a record weighs 1 / the events of its person."""
    width, whole = int(values.max()) + 1, _weight_of(events)

    def total(records: Flags) -> Fraction:
        return _weight_of(events[records]) / whole

    def likeliest(groups: Integers) -> Flags:
        """Mark the records that have the likeliest value of their group."""
        key = groups.astype(np.int64) * width + values
        pairs, place = np.unique(key, return_inverse=True)
        weight = np.bincount(place, weights=1.0 / events)
        group = pairs // width
        order = np.lexsort((pairs, -weight, group))
        starts = np.flatnonzero(np.concatenate(([True], np.diff(group[order]) > 0)))
        chosen = np.zeros(len(pairs), np.bool_)
        chosen[order[starts]] = True
        return chosen[place]

    before = total(likeliest(np.zeros(len(values), np.int64)))
    after = total(likeliest(classes.astype(np.int64)))
    pairs = np.unique(classes.astype(np.int64) * width + values)
    kinds = np.bincount(pairs // width)
    certain = total(kinds[classes] == 1)
    return Leakage(before, after), Leakage(Fraction(int(before == 1)), certain)


def curves(outcome: People) -> Iterator[tuple[Knowing, ...]]:
    """Yield the results of each set of quasi-identifiers, by how many events she knows."""
    for names in dict.fromkeys(result.quasi_identifiers for result in outcome.results):
        yield tuple(result for result in outcome.results if result.quasi_identifiers == names)
