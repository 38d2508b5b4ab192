"""Membership attacks: whether a person is in a release (CMS, IMS), or in which of several (CML, IML).

The adversary knows the quasi-identifiers of a person from a register of N people, and asks whether the person's record
is among the n of the release, which is a part of the register. People and records alike on the quasi-identifiers form
a class: class y holds F_y people and f_y records. Membership is a secret like any other (Alvim et al. 2022, sections
4.1 and C), and every person is as likely as any other to be her target:

- prior Bayes vulnerability     max(n, N − n) / N
- posterior Bayes vulnerability Σ_y max(f_y, F_y − f_y) / N
- posterior certainty           Σ_y [f_y = 0 or f_y = F_y] F_y / N   (the "deterministic" measure)

The posterior probability of being in, f_y / F_y, lies between the two bounds of δ-presence (Nergiz, Atzori and Clifton
2007). Of several releases the secret is the set of those in which the person is; see `membership`. Everything is
counted in integers; a vulnerability is one exact fraction.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property
from types import MappingProxyType
from typing import Any, Protocol

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numba import njit
from numpy.typing import NDArray

from glasshouse.errors import (
    BudgetError,
    DataError,
    StudyError,
    near_names,
    quoted,
    unknown_name,
)
from glasshouse.microdata.models import Leakage
from glasshouse.microdata.partition import refined
from glasshouse.table import Column, EncodedTable
from glasshouse.table.dictionary import Codes, Dictionary, smallest_unsigned
from glasshouse.table.encoded import assign_roles
from glasshouse.table.generalised import SUPPRESSED, covering, is_suppressed

MOST_RELEASES = 12
"""How many releases can be asked about together: there are two to that power ways to be in them."""
PRESENCE_LABELS = ("out", *(f"0.{tenth}" for tenth in range(10)), "in")
"""What the bins of the posterior probability of being in are called: out for sure, above 0 and below 0.1, from 0.1 on
…, from 0.9 on and below 1, in for sure."""

Pattern = tuple[str, ...]
"""The names of the releases in which a person is."""

Counts = NDArray[np.int64]
"""Numbers of people or of records."""

_MOST_TERMS = 1 << 25
"""How many products of counts are added up exactly, at most, where releases cannot be linked."""
_COMPARED_VALUES = 10_000
"""Among how many values of a column near ones are looked for."""


@dataclass(frozen=True)
class Membership:
    """What an adversary with a register learns about who is in the releases."""

    code: str
    """The attack: CMS (one release) or CML (several)."""
    datasets: tuple[str, ...]
    """The names of the releases."""
    population: str
    """The name of the register."""
    quasi_identifiers: tuple[str, ...]
    """What she knows of a person."""
    people: int
    """The number of people in the register."""
    members: tuple[int, ...]
    """Per release, the number of records that tell something of their person."""
    suppressed: tuple[int, ...]
    """Per release, the number of records with nothing but ``*``: their owners may be anyone, and they do not count as
    being in."""
    classes: int
    """The number of classes of the register."""
    linked: bool
    """Whether the releases were linked by an identifier; else each is an independent random choice in every class."""
    patterns: Mapping[Pattern, Fraction] = field(repr=False)
    """Per set of releases, the share of people who are in exactly these; sets with nobody are left out."""
    certain: int
    """The number of people of whom she knows for certain in which releases they are."""
    certainly_in: int
    """The number of people who are certain to be in (in every one of several releases)."""
    certainly_out: int
    """The number of people who are certain to be out (of all releases)."""
    deterministic: Leakage = field(repr=False)
    """The probability that she is certain, and right."""
    probabilistic: Leakage = field(repr=False)
    """The probability that her best single guess is right (Bayes vulnerability)."""
    delta_min: Fraction | None
    """The lowest posterior probability of being in; None of several releases, see `each`."""
    delta_max: Fraction | None
    """The highest posterior probability of being in; None of several releases."""
    capacity: Fraction | None
    """The greatest factor by which the channel can raise her success, whatever the prior (multiplicative Bayes
    capacity); None where nobody or everybody is in, and of several releases."""
    journalist: Fraction | None
    """The highest risk that a record is named with the register's help, 1 / F_y; None without records, and of several
    releases."""
    marketer: Fraction | None = field(repr=False)
    """The expected share of the records that is named right, Σ_y f_y/F_y / n; None likewise."""
    presence: tuple[int, ...]
    """The number of people by posterior probability of being in, as in `PRESENCE_LABELS`; empty of several releases."""
    each: tuple[Membership, ...] = field(repr=False)
    """The outcome of each of several releases alone."""

    def to_dict(self) -> dict[str, Any]:
        """Return the outcome as plain values; probabilities as floats of the exact ratios."""
        return {
            "attack": self.code,
            "datasets": list(self.datasets),
            "population": self.population,
            "quasi_identifiers": list(self.quasi_identifiers),
            "people": self.people,
            "members": list(self.members),
            "suppressed": list(self.suppressed),
            "classes": self.classes,
            "linked": self.linked,
            "certainly_in": self.certainly_in,
            "certainly_out": self.certainly_out,
            "deterministic": _plain(self.deterministic) | {"people": self.certain},
            "probabilistic": _plain(self.probabilistic),
            "delta_min": _float(self.delta_min),
            "delta_max": _float(self.delta_max),
            "capacity": _float(self.capacity),
            "journalist": _float(self.journalist),
            "marketer": _float(self.marketer),
            "presence": dict(zip(PRESENCE_LABELS, self.presence, strict=False)),
            "patterns": _plain_patterns(self.patterns),
            "each": [outcome.to_dict() for outcome in self.each],
        }

    def to_frame(self) -> pa.Table:
        """Return one row for all releases together, and one for each of several; missing measures are null."""
        rows = [_row(outcome.to_dict()) for outcome in (self, *self.each)]
        return pa.Table.from_pylist(rows, schema=_SCHEMA)


@dataclass(frozen=True)
class Member:
    """What an adversary learns about whether one person is in the releases; of others it tells only how many fit."""

    code: str
    """The attack: IMS (one release) or IML (several)."""
    datasets: tuple[str, ...]
    """The names of the releases."""
    population: str
    """The name of the register."""
    known: Mapping[str, tuple[str, ...]]
    """What she knows of the person: per quasi-identifier, the values that are possible."""
    people: int
    """The number of people in the register."""
    candidates: int
    """How many of them fit what she knows."""
    records: tuple[int, ...]
    """Per release, how many records can be the person's."""
    suppressed: tuple[int, ...]
    """Per release, the number of records with nothing but ``*``, which do not count as being in."""
    linked: bool
    """Whether the releases were linked by an identifier; else each is an independent random choice in every class."""
    present: tuple[Leakage, ...] = field(repr=False)
    """Per release, the probability that the person is in it, before and after she uses what she knows."""
    patterns: Mapping[Pattern, Leakage] = field(repr=False)
    """Per set of releases, the probability that the person is in exactly these, before and after; sets with nobody are
    left out."""
    guess: Leakage = field(repr=False)
    """The probability that her best guess of the set of releases is right; on one person it may be lower afterwards."""

    @property
    def certain(self) -> bool:
        """Whether she knows for certain in which releases the person is."""
        return self.guess.posterior == 1

    def to_dict(self) -> dict[str, Any]:
        """Return the outcome as plain values; probabilities as floats of the exact ratios."""
        return {
            "attack": self.code,
            "datasets": list(self.datasets),
            "population": self.population,
            "known": {name: list(values) for name, values in self.known.items()},
            "people": self.people,
            "candidates": self.candidates,
            "records": list(self.records),
            "suppressed": list(self.suppressed),
            "linked": self.linked,
            "present": [_plain(leakage) for leakage in self.present],
            "patterns": [
                {"in": list(names)} | _plain(leakage) for names, leakage in self.patterns.items()
            ],
            "guess": _plain(self.guess),
            "certain": self.certain,
        }

    def to_frame(self) -> pa.Table:
        """Return one row per set of releases that the person can be in: how likely it is, before and after."""
        return pa.Table.from_pylist(self.to_dict()["patterns"], schema=_PATTERN_SCHEMA)


def membership(
    releases: EncodedTable | Sequence[EncodedTable],
    population: EncodedTable,
    *,
    quasi_identifiers: Sequence[str] | None = None,
) -> Membership:
    """Tell what a register lets an adversary learn about who is in one or several releases.

    A release may hold generalised values where the register holds true ones (`glasshouse.table.generalised`). Register
    values that no released one stands for are values of their own: these people are out. Records with nothing but ``*``
    are counted apart.

    Of several releases the secret is the set of those in which the person is. If every release has an identifier, they
    are linked by it (CML, linked). Else each release is, within each class, an independent uniformly random choice of
    its f_y among the F_y people, so that the posterior probability of a set is the product of f_y/F_y, or of
    1 − f_y/F_y, over the releases. The prior is in both cases the expected posterior.

    Args:
        releases: The release, or at most `MOST_RELEASES` of them.
        population: The register: one record for everybody who can be in a release.
        quasi_identifiers: What the adversary knows of a person; by default the quasi-identifiers of the (first)
            release.

    Raises:
        DataError: A column is missing, the register lacks people of a release, released values overlap, somebody has
            two records in a release, or linked records of a person differ in a quasi-identifier.
        StudyError: There is no quasi-identifier, or there are too many releases.
        BudgetError: Too many different classes in too many releases that cannot be linked.

    >>> from glasshouse.table import read
    >>> town = read(pa.table({"age": ["20", "20", "20", "30", "30", "40"]}), name="town")
    >>> trial = read(pa.table({"age": ["20", "30", "30"]}), quasi_identifiers=["age"], name="trial")
    >>> outcome = membership(trial, town)
    >>> outcome.certainly_in, outcome.certainly_out, outcome.delta_min, outcome.delta_max
    (2, 1, Fraction(0, 1), Fraction(1, 1))
    >>> outcome.probabilistic.prior, outcome.probabilistic.posterior
    (Fraction(1, 2), Fraction(5, 6))
    """
    question = _Question.of(releases, population, quasi_identifiers)
    each = tuple(_alone(question, counted) for counted in question.counted)
    return each[0] if len(each) == 1 else _together(question, each)


def member(
    releases: EncodedTable | Sequence[EncodedTable],
    population: EncodedTable,
    *,
    known: Mapping[str, str | Collection[str]],
    quasi_identifiers: Sequence[str] | None = None,
) -> Member:
    """Tell what an adversary learns about whether one person is in one or several releases.

    The person is any of those in the register who fit what she knows, each as likely as the other; each of these is in
    a release with the probability f_y/F_y of their own class on all quasi-identifiers. With plain values the posterior
    is then simply (records that fit) / (people who fit).

    Args:
        releases: The release, or at most `MOST_RELEASES` of them.
        population: The register: one record for everybody who can be in a release.
        known: What she knows of the person: for some of the quasi-identifiers, the value as the register has it, or
            several possible ones.
        quasi_identifiers: What release and register share; by default the quasi-identifiers of the (first) release.

    Raises:
        DataError: As `membership`; or a value is not in the register, or nobody fits.
        StudyError: As `membership`; or something is known that is not among the quasi-identifiers.

    >>> from glasshouse.table import read
    >>> town = read(pa.table({"age": ["20", "20", "20", "30", "30", "40"]}), name="town")
    >>> trial = read(pa.table({"age": ["20", "30", "30"]}), quasi_identifiers=["age"], name="trial")
    >>> person = member(trial, town, known={"age": {"20", "30"}})
    >>> person.candidates, person.records, person.present[0].posterior, person.certain
    (5, (3,), Fraction(3, 5), False)
    """
    question = _Question.of(releases, population, quasi_identifiers)
    asked = _possible_values(question, known)
    fitting = question.register.fitting(population, asked)
    everyone = question.register.sizes
    names = [release.name for release in question.releases]
    prior, posterior = (question.model.patterns(weights) for weights in (everyone, fitting))
    present = tuple(
        Leakage(_marginal(prior, bit), _marginal(posterior, bit)) for bit in range(len(names))
    )
    return Member(
        code="IMS" if len(names) == 1 else "IML",
        datasets=tuple(names),
        population=population.name,
        known=MappingProxyType(asked),
        people=population.records,
        candidates=int(fitting.sum()),
        records=tuple(
            int(counted.records[np.unique(counted.of[fitting > 0])].sum())
            for counted in question.counted
        ),
        suppressed=tuple(release.suppressed for release in question.releases),
        linked=question.is_linked,
        present=present,
        patterns=MappingProxyType(
            {
                _named(pattern, names): Leakage(share, posterior.get(pattern, Fraction(0)))
                for pattern, share in prior.items()
            }
        ),
        guess=Leakage(max(prior.values()), max(posterior.values())),
    )


def _alone(question: _Question, counted: _Counted) -> Membership:
    """Measure one release."""
    release, people, records = counted.release, counted.people, counted.records
    total, members = question.people, release.records
    right = int(np.maximum(records, people - records).sum())
    certainly_in = int(people[records == people].sum())
    certainly_out = int(people[records == 0].sum())
    shares = {(): Fraction(total - members, total), (release.name,): Fraction(members, total)}
    lowest, highest = _extreme_shares(records, people)
    return Membership(
        code="CMS",
        datasets=(release.name,),
        population=question.population.name,
        quasi_identifiers=question.names,
        people=total,
        members=(members,),
        suppressed=(release.suppressed,),
        classes=len(people),
        linked=False,
        patterns=MappingProxyType({names: share for names, share in shares.items() if share}),
        certain=certainly_in + certainly_out,
        certainly_in=certainly_in,
        certainly_out=certainly_out,
        deterministic=Leakage(
            Fraction(int(members in (0, total))), Fraction(certainly_in + certainly_out, total)
        ),
        probabilistic=Leakage(max(shares.values()), Fraction(right, total)),
        delta_min=Fraction(int(records[lowest]), int(people[lowest])),
        delta_max=Fraction(int(records[highest]), int(people[highest])),
        capacity=_capacity(records, people, members, total),
        journalist=Fraction(1, int(people[records > 0].min())) if members else None,
        marketer=_marketer(records, people, members),
        presence=_presence(records, people),
        each=(),
    )


def _together(question: _Question, each: tuple[Membership, ...]) -> Membership:
    """Measure several releases together."""
    model, names = question.model, [outcome.datasets[0] for outcome in each]
    shares = model.patterns(question.register.sizes)
    certain = model.certain()
    return Membership(
        code="CML",
        datasets=tuple(names),
        population=question.population.name,
        quasi_identifiers=question.names,
        people=question.people,
        members=tuple(count for outcome in each for count in outcome.members),
        suppressed=tuple(count for outcome in each for count in outcome.suppressed),
        classes=question.register.classes,
        linked=question.is_linked,
        patterns=MappingProxyType(
            {_named(pattern, names): share for pattern, share in shares.items()}
        ),
        certain=certain.people,
        certainly_in=certain.in_all,
        certainly_out=certain.in_none,
        deterministic=Leakage(
            Fraction(int(len(shares) == 1)), Fraction(certain.people, question.people)
        ),
        probabilistic=Leakage(max(shares.values()), model.best_guesses()),
        delta_min=None,
        delta_max=None,
        capacity=None,
        journalist=None,
        marketer=None,
        presence=(),
        each=each,
    )


def _capacity(records: Counts, people: Counts, members: int, total: int) -> Fraction | None:
    """Return Σ_y max(f_y / n, (F_y − f_y) / (N − n)), the capacity of the channel from membership to class."""
    if members in (0, total):
        return None
    known = records.astype(np.uint64) * np.uint64(total)  # fewer than 2³² each: no overflow
    more_in = known >= people.astype(np.uint64) * np.uint64(members)
    inside, outside = int(records[more_in].sum()), int((people - records)[~more_in].sum())
    return Fraction(inside, members) + Fraction(outside, total - members)


def _marketer(records: Counts, people: Counts, members: int) -> Fraction | None:
    """Return Σ_y f_y/F_y / n (Dankar and El Emam 2010)."""
    if not members:
        return None
    by_size = _sums(people, records, int(people.max()) + 1)
    sizes = np.flatnonzero(by_size)
    return _sum_of_ratios(by_size[sizes], sizes) / members


def _presence(records: Counts, people: Counts) -> tuple[int, ...]:
    tenth = 10 * records // people + 1
    tenth[records == 0] = 0
    return tuple(_sums(tenth, people, len(PRESENCE_LABELS)).tolist())


@njit(cache=True, nogil=True)  # type: ignore[untyped-decorator]
def _extreme_shares(records: Counts, people: Counts) -> tuple[int, int]:
    """Return the classes with the lowest and the highest share of records to people, compared exactly."""
    lowest = highest = 0
    for y in range(records.size):
        if records[y] * people[lowest] < records[lowest] * people[y]:
            lowest = y
        if records[y] * people[highest] > records[highest] * people[y]:
            highest = y
    return lowest, highest


@dataclass(frozen=True)
class _Release:
    """A release as it is asked about: the records that tell something, on the quasi-identifiers."""

    table: EncodedTable
    names: tuple[str, ...]
    kept: NDArray[np.intp] | None
    """The records that tell something; None: all."""

    @classmethod
    def of(cls, table: EncodedTable, names: tuple[str, ...]) -> _Release:
        nothing_told = is_suppressed(table, names)
        return cls(table, names, np.flatnonzero(~nothing_told) if nothing_told.any() else None)

    @property
    def name(self) -> str:
        return self.table.name

    @property
    def records(self) -> int:
        return self.table.records if self.kept is None else len(self.kept)

    @property
    def suppressed(self) -> int:
        return self.table.records - self.records

    def codes(self, name: str) -> Codes:
        """Return the codes of a column, of the records that tell something."""
        codes = self.table.column(name).codes
        return codes if self.kept is None else codes[self.kept]

    @cached_property
    def values(self) -> tuple[pa.LargeStringArray, ...]:
        """Per quasi-identifier, the values that these records hold."""
        held = []
        for name in self.names:
            column = self.table.column(name)
            counts = np.bincount(self.codes(name), minlength=column.cardinality)
            held.append(column.values.filter(pa.array(counts > 0)))
        return tuple(held)


@dataclass(frozen=True)
class _Writing:
    """How true values are written in a release: which of them it can tell apart."""

    codes: tuple[Codes, ...]
    """Per quasi-identifier and value of the register: a code, the same for values that are written alike; codes are
    numbered by first appearance."""
    released: tuple[pa.LargeStringArray, ...]
    """Per quasi-identifier, the released values."""
    stands_for: tuple[Codes, ...]
    """Per quasi-identifier and released value: the code of the true values that it stands for, or one of its own."""
    cardinalities: tuple[int, ...]
    """Per quasi-identifier, the number of codes."""

    @classmethod
    def of(
        cls,
        population: EncodedTable,
        names: tuple[str, ...],
        released: tuple[pa.LargeStringArray, ...],
    ) -> _Writing:
        codes, stands_for = [], []
        for name, values in zip(names, released, strict=True):
            try:
                position = covering(population.column(name).values, values)
            except DataError as error:
                raise DataError(f"column {quoted([name])}: {error}") from None
            alone = np.flatnonzero(position < 0)
            position[alone] = len(values) + np.arange(len(alone))
            code = _numbered_by_appearance(position, len(values) + len(alone))
            codes.append(_narrow(code[position]))
            stands_for.append(_narrow(code[: len(values)]))
        cardinalities = (
            1 + int(max(own.max(), other.max(initial=0)))
            for own, other in zip(codes, stands_for, strict=True)
        )
        return cls(tuple(codes), released, tuple(stands_for), tuple(cardinalities))

    def tells_the_same_apart_as(self, other: _Writing) -> bool:
        return all(map(np.array_equal, self.codes, other.codes))

    def of_release(self, release: _Release) -> list[Codes]:
        """Return the codes of a release's records, per quasi-identifier."""
        columns = []
        for name, values, codes in zip(release.names, self.released, self.stands_for, strict=True):
            position = pc.index_in(release.table.column(name).values, value_set=values)
            known = pc.fill_null(position, 0).to_numpy(zero_copy_only=False)  # null: suppressed
            columns.append(codes[known][release.codes(name)] if len(codes) else release.codes(name))
        return columns


@dataclass(frozen=True)
class _Register:
    """The register in classes of people who are written alike in every release."""

    numbers: NDArray[np.uint32]
    """Per person, the number of the class."""
    sizes: Counts
    """Per class, its people."""

    @property
    def classes(self) -> int:
        return len(self.sizes)

    def fitting(self, population: EncodedTable, known: Mapping[str, tuple[str, ...]]) -> Counts:
        """Return, per class, how many of its people have one of the possible values in each known column."""
        fits = np.ones(len(self.numbers), np.bool_)
        for name, possible in known.items():
            column = population.column(name)
            values = pa.array(possible, pa.large_string())
            wanted = pc.is_in(column.values, value_set=values).to_numpy(zero_copy_only=False)
            if not wanted.any():
                raise DataError(_unheard_of(name, possible, column.values, population.name))
            fits &= wanted[column.codes]
        counts = np.bincount(self.numbers[fits], minlength=self.classes)
        if not counts.any():
            told = ", ".join(f"{name} {' or '.join(values)}" for name, values in known.items())
            raise DataError(
                f"nobody in {population.name} fits ({told}); check what is known, or leave something out"
            )
        return counts


@dataclass(frozen=True)
class _Classes:
    """The classes of one writing, with the register and some releases in them."""

    of: NDArray[np.uint32]
    """Per class of the register, the number of its class here."""
    people: Counts
    """Per class, the people of the register."""
    records: tuple[NDArray[np.uint32], ...]
    """Per release and record, the number of its class."""


@dataclass(frozen=True)
class _Counted:
    """One release on the classes of its own writing."""

    release: _Release
    of: NDArray[np.uint32]
    """Per class of the register, the number of its class in this writing."""
    people: Counts
    """Per class of this writing, the people of the register: F_y."""
    records: Counts
    """Per class of this writing, the records of the release: f_y."""

    @classmethod
    def count(cls, release: _Release, classes: _Classes, population: str) -> _Counted:
        records = np.bincount(classes.records[0], minlength=len(classes.people))
        _refuse_surplus(records - classes.people, release.name, population)
        return cls(release, classes.of, classes.people, records)


@dataclass(frozen=True)
class _Question:
    """Releases and register, brought together on the quasi-identifiers."""

    releases: tuple[_Release, ...]
    population: EncodedTable
    names: tuple[str, ...]
    register: _Register
    counted: tuple[_Counted, ...]
    common: _Classes | None
    """The classes of one writing for all releases, where they are linked by an identifier."""

    @classmethod
    def of(
        cls,
        releases: EncodedTable | Sequence[EncodedTable],
        population: EncodedTable,
        quasi_identifiers: Sequence[str] | None,
    ) -> _Question:
        tables = (releases,) if isinstance(releases, EncodedTable) else tuple(releases)
        names = _shared(tables, population, quasi_identifiers)
        for table in (*tables, population):
            _refuse_several_records(table)
        asked = tuple(_Release.of(table, names) for table in tables)
        for release in asked:
            _refuse_partly_suppressed(release)
        writings = [_Writing.of(population, names, release.values) for release in asked]
        is_linked = len(tables) > 1 and all(table.identifier is not None for table in tables)
        if is_linked:
            writings.append(_Writing.of(population, names, _all_values(asked)))
        register, classes = _brought_together(population, asked, writings)
        counted = tuple(
            _Counted.count(release, own, population.name)
            for release, own in zip(asked, classes, strict=False)
        )
        return cls(asked, population, names, register, counted, classes[-1] if is_linked else None)

    @property
    def people(self) -> int:
        return self.population.records

    @property
    def is_linked(self) -> bool:
        return self.common is not None

    @cached_property
    def model(self) -> _Model:
        """How likely each set of releases is for the people of each class."""
        if self.common is None:
            return _Independent.of(self.register, self.counted)
        return _Linked.together(self.common, self.releases, self.population.name)


def _brought_together(
    population: EncodedTable, releases: tuple[_Release, ...], writings: Sequence[_Writing]
) -> tuple[_Register, list[_Classes]]:
    """Bring register and releases into classes: of each release's writing, and of a common one where it is given."""
    columns = [population.column(name) for name in releases[0].names]
    if all(map(writings[0].tells_the_same_apart_as, writings[1:])):
        return _at_once(columns, releases, writings)
    return _one_by_one(columns, releases, writings)


def _at_once(
    columns: Sequence[Column], releases: tuple[_Release, ...], writings: Sequence[_Writing]
) -> tuple[_Register, list[_Classes]]:
    """Divide everything into classes together, where all writings tell the same values apart."""
    people = [
        column.codes if _is_identity(codes) else codes[column.codes]
        for column, codes in zip(columns, writings[0].codes, strict=True)
    ]
    written = map(_Writing.of_release, writings, releases)
    most = np.max([writing.cardinalities for writing in writings], axis=0).tolist()
    (numbers, *records), classes = _divided([people, *written], most)
    sizes = np.bincount(numbers, minlength=classes)
    register = _Register(numbers, sizes[: int(numbers.max()) + 1])
    same = np.arange(register.classes, dtype=np.uint32)
    own = [_Classes(same, sizes, (record,)) for record in records]
    common = _Classes(same, sizes, tuple(records))
    return register, [*own, common]


def _one_by_one(
    columns: Sequence[Column], releases: tuple[_Release, ...], writings: Sequence[_Writing]
) -> tuple[_Register, list[_Classes]]:
    """Divide the register into classes of people alike in every writing, and then these and the releases."""
    alike = []
    for i, column in enumerate(columns):
        written = np.stack([writing.codes[i] for writing in writings])
        _, joint_codes = np.unique(written, axis=1, return_inverse=True)
        codes = _narrow(joint_codes.reshape(-1))
        alike.append(_column(codes[column.codes], int(codes.max()) + 1))
    joint = refined(alike, len(columns[0].codes))
    register = _Register(joint.numbers, joint.sizes)
    first = _first_of_each(joint.numbers, joint.classes)
    values = [column.codes[first] for column in columns]
    groups = [*((release,) for release in releases), releases]
    classes = []
    for writing, group in zip(writings, groups, strict=False):
        people = [codes[value] for codes, value in zip(writing.codes, values, strict=True)]
        parts = [people, *map(writing.of_release, group)]
        (of, *records), number = _divided(parts, writing.cardinalities)
        classes.append(_Classes(of, _sums(of, register.sizes, number), tuple(records)))
    return register, classes


def _divided(
    parts: Sequence[list[Codes]], cardinalities: Sequence[int]
) -> tuple[list[NDArray[np.uint32]], int]:
    """Divide several parts into common classes; return the class of each record by part, and the number of classes."""
    columns = [
        _column(np.concatenate(codes), cardinality)
        for codes, cardinality in zip(zip(*parts, strict=True), cardinalities, strict=True)
    ]
    lengths = [len(part[0]) for part in parts]
    classes = refined(columns, sum(lengths))
    return np.split(classes.numbers, np.cumsum(lengths)[:-1]), classes.classes


@dataclass(frozen=True)
class _Certain:
    """Numbers of people whose releases are certain."""

    people: int
    in_all: int
    in_none: int


class _Model(Protocol):
    """How likely each set of releases is for the people of each class; a set is a number, a bit per release."""

    def patterns(self, weights: Counts) -> dict[int, Fraction]:
        """Return the expected probability of each set, people counted by class; impossible sets are left out."""

    def best_guesses(self) -> Fraction:
        """Return the expected probability of the likeliest set, over everybody."""

    def certain(self) -> _Certain:
        """Count the people for whom one set is certain."""


@dataclass(frozen=True)
class _Independent:
    """Releases that cannot be linked: in each class an independent random choice each.

    Classes with the same counts are alike; each kind of them is a row.
    """

    kind: NDArray[np.uint32]
    """Per class of the register, its row."""
    sizes: Counts
    """Per class of the register, its people."""
    records: tuple[Counts, ...]
    """Per release and row, f."""
    people: tuple[Counts, ...]
    """Per release and row, F."""

    @classmethod
    def of(cls, register: _Register, counted: Sequence[_Counted]) -> _Independent:
        pairs = []
        for each in counted:
            pair = refined(
                [_counts_column(each.records), _counts_column(each.people)], len(each.people)
            )
            pairs.append(_column(pair.numbers[each.of], pair.classes))
        rows = refined(pairs, register.classes)
        first = _first_of_each(rows.numbers, rows.classes)
        return cls(
            kind=rows.numbers,
            sizes=register.sizes,
            records=tuple(each.records[each.of[first]] for each in counted),
            people=tuple(each.people[each.of[first]] for each in counted),
        )

    def patterns(self, weights: Counts) -> dict[int, Fraction]:
        weight, rows, below = self._weighted(weights)
        if len(rows) << len(self.records) > _MOST_TERMS:
            raise BudgetError(
                f"{len(rows):,} kinds of classes in {len(self.records)} releases are too many to add up exactly; give "
                "the releases an identifier to link them by, or take fewer releases or quasi-identifiers"
            )
        denominators, group = _numbered(below)
        common = math.lcm(*denominators)
        scale = [common // denominator for denominator in denominators]
        total = common * int(weights.sum())
        shares = {
            pattern: Fraction(sum(map(int.__mul__, sums, scale)), total)
            for pattern, sums in self._expanded(weight, rows, group, len(denominators))
        }
        return dict(sorted(shares.items()))

    def best_guesses(self) -> Fraction:
        weight, rows, below = self._weighted(self.sizes)
        for records, people in zip(self.records, self.people, strict=True):
            weight = weight * np.maximum(records, people - records)[rows]
        return _sum_of_ratios(weight, below) / int(self.sizes.sum())

    def certain(self) -> _Certain:
        weight = _sums(self.kind, self.sizes, len(self.records[0]))
        pairs = list(zip(self.records, self.people, strict=True))
        is_in = np.logical_and.reduce([records == people for records, people in pairs])
        is_out = np.logical_and.reduce([records == 0 for records, _ in pairs])
        known = np.logical_and.reduce(
            [(records == people) | (records == 0) for records, people in pairs]
        )
        return _Certain(*(int(weight[rows].sum()) for rows in (known, is_in, is_out)))

    def _weighted(self, weights: Counts) -> tuple[NDArray[Any], NDArray[np.intp], NDArray[Any]]:
        """Return the rows that matter: their weight, their positions, and what their products are divided by."""
        weight = _sums(self.kind, weights, len(self.records[0]))
        rows = np.flatnonzero(weight)
        below: NDArray[Any] = np.ones(len(rows), object)
        for people in self.people:
            below = below * people[rows]
        shared = np.frompyfunc(math.gcd, 2, 1)(weight[rows].astype(object), below)
        return weight[rows] // shared, rows, below // shared

    def _expanded(
        self, weight: NDArray[Any], rows: NDArray[np.intp], group: NDArray[np.intp], groups: int
    ) -> Iterator[tuple[int, list[int]]]:
        """Yield each possible set with the sums of its products, by what they are divided by."""
        open_sets = [(0, 0, weight, np.arange(len(rows)))]
        while open_sets:
            release, pattern, product, left = open_sets.pop()
            if release == len(self.records):
                sums = np.zeros(groups, object)
                np.add.at(sums, group[left], product)
                yield pattern, list(map(int, sums))
                continue
            records = self.records[release][rows[left]]
            people = self.people[release][rows[left]]
            for bit, count in ((1, records), (0, people - records)):
                some = count > 0
                if some.any():
                    further = product[some] * count[some]
                    open_sets.append((release + 1, pattern | bit << release, further, left[some]))


@dataclass(frozen=True)
class _Linked:
    """Releases linked by an identifier: in each class, how many people are in which releases."""

    of: NDArray[np.uint32]
    """Per class of the register, the number of its class in the common writing."""
    people: Counts
    """Per class of the common writing, its people."""
    group_class: NDArray[np.uint32]
    """Per group of people with one class and one set of releases: the class."""
    group_pattern: NDArray[np.uint16]
    """Per group, the set: a bit per release; nobody is in none."""
    group_size: Counts
    """Per group, its people."""
    releases: int

    @classmethod
    def together(cls, classes: _Classes, releases: Sequence[_Release], population: str) -> _Linked:
        persons, everyone = _persons(releases)
        pattern = np.zeros(everyone, np.uint16)
        own_class = np.zeros(everyone, np.uint32)
        for bit, (person, number) in enumerate(zip(persons, classes.records, strict=True)):
            seen = pattern[person] > 0
            if np.any(own_class[person[seen]] != number[seen]):
                raise DataError(_differing(releases, persons, everyone))
            own_class[person] = number
            pattern[person] |= np.uint16(1 << bit)
        linked = np.flatnonzero(pattern)
        columns = [
            _column(own_class[linked], len(classes.people)),
            _column(pattern[linked], 1 << len(releases)),
        ]
        groups = refined(columns, len(linked))
        first = linked[_first_of_each(groups.numbers, groups.classes)]
        taken = _sums(own_class[first], groups.sizes, len(classes.people))
        names = " and ".join(release.name for release in releases)
        _refuse_surplus(taken - classes.people, f"{names}, linked", population)
        return cls(
            of=classes.of,
            people=classes.people,
            group_class=own_class[first],
            group_pattern=pattern[first],
            group_size=groups.sizes,
            releases=len(releases),
        )

    @cached_property
    def in_none(self) -> Counts:
        """Per class, the people who are in no release."""
        return self.people - _sums(self.group_class, self.group_size, len(self.people))

    def patterns(self, weights: Counts) -> dict[int, Fraction]:
        weight = _sums(self.of, weights, len(self.people))
        shared = np.gcd(weight, self.people)
        above, below = weight // shared, self.people // shared
        shares = {0: _sum_of_ratios(self.in_none * above, below)}
        for pattern in np.unique(self.group_pattern).tolist():
            chosen = self.group_pattern == pattern
            classes = self.group_class[chosen]
            products = self.group_size[chosen] * above[classes]
            shares[pattern] = _sum_of_ratios(products, below[classes])
        total = int(weights.sum())
        return {pattern: share / total for pattern, share in shares.items() if share}

    def best_guesses(self) -> Fraction:
        return Fraction(int(self._best().sum()), int(self.people.sum()))

    def certain(self) -> _Certain:
        known = int(self.people[self._best() == self.people].sum())
        out = int(self.people[self.in_none == self.people].sum())
        in_all = self.group_pattern == (1 << self.releases) - 1
        full = in_all & (self.group_size == self.people[self.group_class])
        return _Certain(known, int(self.group_size[full].sum()), out)

    def _best(self) -> Counts:
        """Return, per class, how many people are in its most frequent set of releases."""
        best = self.in_none.copy()
        np.maximum.at(best, self.group_class, self.group_size)
        return best


def _column(codes: Codes, cardinality: int) -> Column:
    """Return codes as a column; what they stand for plays no part."""
    return Column("", codes, pa.nulls(cardinality))


def _counts_column(counts: Counts) -> Column:
    return _column(counts.astype(np.uint32), int(counts.max()) + 1)


def _narrow(codes: NDArray[np.int64]) -> Codes:
    return codes.astype(smallest_unsigned(int(codes.max(initial=0)) + 1))


def _is_identity(codes: Codes) -> bool:
    return np.array_equal(codes, np.arange(len(codes)))


def _numbered_by_appearance(positions: NDArray[np.int64], count: int) -> NDArray[np.int64]:
    """Give each of so many positions a number: first those that appear, in this order, then the others."""
    appearing, first = np.unique(positions, return_index=True)
    others = np.setdiff1d(np.arange(count), appearing, assume_unique=True)
    order = np.concatenate([appearing[np.argsort(first)], others])
    number = np.empty(count, np.int64)
    number[order] = np.arange(count)
    return number


def _sums(group: NDArray[Any], counts: Counts, groups: int) -> Counts:
    """Add up counts by group: exactly, since they are of fewer than 2³² people and floats hold 2⁵³."""
    return np.bincount(group, weights=counts, minlength=groups).astype(np.int64)


def _numbered(denominators: NDArray[Any]) -> tuple[list[int], NDArray[np.intp]]:
    """Return the distinct denominators, and the position of each denominator among them."""
    distinct, group = np.unique(denominators, return_inverse=True)
    return list(map(int, distinct)), group


def _sum_of_ratios(numerators: NDArray[Any], denominators: NDArray[Any]) -> Fraction:
    """Add up fractions exactly: over few different denominators, hence once per denominator."""
    distinct, group = _numbered(denominators)
    sums = np.zeros(len(distinct), numerators.dtype)
    np.add.at(sums, group, numerators)
    common = math.lcm(*distinct)
    scaled = (int(own) * (common // below) for own, below in zip(sums, distinct, strict=True))
    return Fraction(sum(scaled), common)


@njit(cache=True, nogil=True)  # type: ignore[untyped-decorator]
def _first_of_each(numbers: NDArray[np.uint32], classes: int) -> NDArray[np.int64]:
    """Return the first member of each class; classes are numbered by first appearance."""
    first = np.empty(classes, np.int64)
    found = 0
    for i in range(numbers.size):
        if numbers[i] == found:
            first[found] = i
            found += 1
    return first


def _shared(
    tables: tuple[EncodedTable, ...],
    population: EncodedTable,
    quasi_identifiers: Sequence[str] | None,
) -> tuple[str, ...]:
    """Check the question, and return the quasi-identifiers."""
    if not 1 <= len(tables) <= MOST_RELEASES:
        raise StudyError(
            f"membership is asked of 1 to {MOST_RELEASES} releases, not of {len(tables)}"
        )
    if len({table.name for table in tables}) < len(tables):
        raise StudyError("two releases have the same name; give each its own when reading it")
    if quasi_identifiers is None:
        first = tables[0]
        facts = (first.columns_of(name) for name in first.quasi_identifiers)
        quasi_identifiers = [column.name for columns in facts for column in columns]
    names = tuple(assign_roles(quasi_identifiers=quasi_identifiers))
    if not names:
        raise StudyError(
            "membership needs at least one quasi-identifier that release and register share; name one"
        )
    if not any(name in population.columns for name in names):
        raise DataError(
            f"{population.name} has none of the quasi-identifiers {quoted(names)}; it has "
            f"{quoted(list(population.columns)[:12])}"
        )
    for table in (*tables, population):
        for name in names:
            table.column(name)
    return names


def _refuse_several_records(table: EncodedTable) -> None:
    """Check that everybody has one record, where an identifier tells."""
    if table.identifier is None:
        return
    identifier = table.column(table.identifier)
    records = np.bincount(identifier.codes, minlength=identifier.cardinality)
    nameless = identifier.values.index("").as_py()
    if nameless >= 0 and records[nameless]:
        raise DataError(
            f"{table.name}: {records[nameless]:,} records have no {quoted([identifier.name])}; complete it, or read "
            "the file without an identifier"
        )
    several = int(np.count_nonzero(records > 1))
    if several:
        raise DataError(
            f"{table.name}: {several:,} people have more than one record (by {quoted([identifier.name])}); membership "
            "needs one record per person"
        )


def _refuse_surplus(excess: Counts, releases: str, population: str) -> None:
    """Check that no class has more records than people."""
    surplus = excess[excess > 0]
    if len(surplus):
        raise DataError(
            f"{releases}: {surplus.sum():,} records in {len(surplus):,} classes have no counterpart in {population}, "
            "which must contain everybody in the release; compare how the columns are written in both"
        )


def _refuse_partly_suppressed(release: _Release) -> None:
    """Check that ``*`` stands alone in its column: beside other values it might stand for any of them as well."""
    columns = {
        name: release.table.column(name).values.index(SUPPRESSED).as_py()
        for name, values in zip(release.names, release.values, strict=True)
        if len(values) > 1 and values.index(SUPPRESSED).as_py() >= 0
    }
    if columns:
        partly = np.logical_or.reduce(
            [release.codes(name) == code for name, code in columns.items()]
        )
        raise DataError(
            f'{release.name}: {np.count_nonzero(partly):,} records hold "{SUPPRESSED}" beside other values of '
            f"{quoted(columns)}, and could be in several classes; leave these columns out, or suppress whole records"
        )


def _all_values(releases: Sequence[_Release]) -> tuple[pa.LargeStringArray, ...]:
    """Return, per quasi-identifier, the values of all releases."""
    values = zip(*(release.values for release in releases), strict=True)
    return tuple(pc.unique(pa.concat_arrays(list(each))) for each in values)


def _persons(releases: Sequence[_Release]) -> tuple[list[NDArray[np.uint32]], int]:
    """Number the people of all releases by their identifiers; return the person of each record, and how many."""
    people = Dictionary()
    persons = []
    for release in releases:
        identifier = str(release.table.identifier)
        numbers = people.encode(release.table.column(identifier).values).astype(np.uint32)
        persons.append(numbers[release.codes(identifier)])
    return persons, len(people)


def _differing(
    releases: Sequence[_Release], persons: Sequence[NDArray[np.uint32]], everyone: int
) -> str:
    """Say in which columns how many people differ between releases."""
    anywhere = np.zeros(everyone, np.bool_)
    counts = {}
    for name in releases[0].names:
        texts = Dictionary()
        value = np.full(everyone, -1, np.int64)
        differs = np.zeros(everyone, np.bool_)
        for person, release in zip(persons, releases, strict=True):
            codes = texts.encode(release.table.column(name).values)[release.codes(name)]
            before = value[person]
            differs[person] |= (before >= 0) & (before != codes)
            value[person] = codes
        anywhere |= differs
        counts[name] = int(np.count_nonzero(differs))
    told = ", ".join(f"{quoted([name])} of {count:,}" for name, count in counts.items() if count)
    return (
        f"{np.count_nonzero(anywhere):,} people have different values in different releases ({told}); one register can "
        "only be matched with what does not change: leave it out of the quasi-identifiers"
    )


def _possible_values(
    question: _Question, known: Mapping[str, str | Collection[str]]
) -> dict[str, tuple[str, ...]]:
    asked = {}
    for name, value in known.items():
        if name not in question.names:
            where = "the quasi-identifiers of this question"
            raise StudyError(unknown_name("column", name, where, question.names))
        asked[name] = (value,) if isinstance(value, str) else tuple(sorted(set(value)))
        if not asked[name]:
            raise StudyError(f"no value of {quoted([name])} is possible; give at least one")
    return asked


def _unheard_of(
    name: str, possible: tuple[str, ...], values: pa.LargeStringArray, where: str
) -> str:
    """Say that nobody has any of the values, and name near ones."""
    some = [value for value in values[:_COMPARED_VALUES].to_pylist() if value]
    near = list(dict.fromkeys(other for value in possible for other in near_names(value, some)))
    hint = f"; did you mean {' or '.join(quoted([value]) for value in near[:3])}?" if near else ""
    told = " or ".join(quoted([value]) for value in possible[:3])
    return f"nobody in {where} has {told} in column {quoted([name])}{hint}"


def _named(pattern: int, names: Sequence[str]) -> Pattern:
    return tuple(name for bit, name in enumerate(names) if pattern >> bit & 1)


def _marginal(shares: Mapping[int, Fraction], bit: int) -> Fraction:
    return sum((share for pattern, share in shares.items() if pattern >> bit & 1), Fraction(0))


def _float(number: Fraction | None) -> float | None:
    return None if number is None else float(number)


def _plain(leakage: Leakage) -> dict[str, Any]:
    return {
        "prior": float(leakage.prior),
        "posterior": float(leakage.posterior),
        "additive": float(leakage.additive),
        "multiplicative": _float(leakage.multiplicative),
    }


def _plain_patterns(patterns: Mapping[Pattern, Fraction]) -> list[dict[str, Any]]:
    return [{"in": list(names), "prior": float(share)} for names, share in patterns.items()]


_MEASURES = ("prior", "posterior", "additive", "multiplicative")
_SCHEMA = pa.schema(
    [
        ("attack", pa.string()),
        ("datasets", pa.list_(pa.string())),
        ("population", pa.string()),
        ("quasi_identifiers", pa.list_(pa.string())),
        ("people", pa.int64()),
        ("members", pa.list_(pa.int64())),
        ("suppressed", pa.list_(pa.int64())),
        ("classes", pa.int64()),
        ("linked", pa.bool_()),
        ("certainly_in", pa.int64()),
        ("certainly_out", pa.int64()),
        *((f"deterministic_{measure}", pa.float64()) for measure in _MEASURES),
        ("deterministic_people", pa.int64()),
        *((f"probabilistic_{measure}", pa.float64()) for measure in _MEASURES),
        ("delta_min", pa.float64()),
        ("delta_max", pa.float64()),
        ("capacity", pa.float64()),
        ("journalist", pa.float64()),
        ("marketer", pa.float64()),
        *((f"presence_{label}", pa.int64()) for label in PRESENCE_LABELS),
    ]
)

_PATTERN_SCHEMA = pa.schema(
    [("in", pa.list_(pa.string())), *((measure, pa.float64()) for measure in _MEASURES)]
)


def _row(content: dict[str, Any]) -> dict[str, Any]:
    flat = {
        f"{kind}_{measure}": value
        for kind in ("deterministic", "probabilistic", "presence")
        for measure, value in content[kind].items()
    }
    return content | flat
