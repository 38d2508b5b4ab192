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

How releases and register are brought to common classes, and how likely each set of several releases is, is in
`glasshouse.microdata.membership_counts`.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from types import MappingProxyType
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from glasshouse.arrays import Integers
from glasshouse.compiled import compiled
from glasshouse.errors import DataError, StudyError
from glasshouse.language import either, near_names, quoted, text, unknown_name
from glasshouse.microdata.gains import sum_of_ratios
from glasshouse.microdata.leakage import MEASURE_FIELDS, MEASURES, Leakage, float_or_none, treatment
from glasshouse.microdata.presence_counts import (
    Counted,
    MembershipQuestion,
    model_of,
    sums_by_group,
)
from glasshouse.table import EncodedTable, Step
from glasshouse.table.encoded import assign_roles

MOST_RELEASES = 12
"""How many releases can be asked about together: there are two to that power ways to be in them."""
PRESENCE_LABELS = ("out", *(f"0.{tenth}" for tenth in range(10)), "in")
"""What the bins of the posterior probability of being in are called: out for sure, above 0 and below 0.1, from 0.1 on
…, from 0.9 on and below 1, in for sure."""

_COMPARED_VALUES = 10_000
"""Among how many values of a column near ones are looked for."""

Pattern = tuple[str, ...]
"""The names of the releases in which a person is."""


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
    steps: tuple[Step, ...] = ()
    """What was left out of the releases."""

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
            "deterministic": self.deterministic.to_dict() | {"people": self.certain},
            "probabilistic": self.probabilistic.to_dict(),
            "delta_min": float_or_none(self.delta_min),
            "delta_max": float_or_none(self.delta_max),
            "capacity": float_or_none(self.capacity),
            "journalist": float_or_none(self.journalist),
            "marketer": float_or_none(self.marketer),
            "presence": dict(zip(PRESENCE_LABELS, self.presence, strict=False)),
            "patterns": _plain_patterns(self.patterns),
            "each": [outcome.to_dict() for outcome in self.each],
            **treatment(self.steps),
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
    steps: tuple[Step, ...] = ()
    """What was left out of the releases."""

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
            "present": [leakage.to_dict() for leakage in self.present],
            "patterns": [
                {"in": list(names)} | leakage.to_dict() for names, leakage in self.patterns.items()
            ],
            "guess": self.guess.to_dict(),
            "certain": self.certain,
            **treatment(self.steps),
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
    question = _question(releases, population, quasi_identifiers)
    alone = tuple(_alone(question, counted) for counted in question.counted)
    return alone[0] if len(alone) == 1 else _together(question, alone)


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
    question = _question(releases, population, quasi_identifiers)
    possible = _possible_values(question, known)
    fitting = _fitting(question, possible)
    everyone = question.register.sizes
    names = [release.name for release in question.releases]
    model = model_of(question)
    prior, posterior = (model.patterns(weights) for weights in (everyone, fitting))
    present = tuple(
        Leakage(_marginal(prior, bit), _marginal(posterior, bit)) for bit in range(len(names))
    )
    return Member(
        code="IMS" if len(names) == 1 else "IML",
        datasets=tuple(names),
        population=population.name,
        known=MappingProxyType(possible),
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


def _question(
    releases: EncodedTable | Sequence[EncodedTable],
    population: EncodedTable,
    quasi_identifiers: Sequence[str] | None,
) -> MembershipQuestion:
    """Check the question, and bring releases and register together."""
    tables = (releases,) if isinstance(releases, EncodedTable) else tuple(releases)
    names = _asked_about(tables, population, quasi_identifiers)
    for table in (*tables, population):
        _refuse_several_records(table)
    return MembershipQuestion.of(tables, population, names)


def _alone(question: MembershipQuestion, counted: Counted) -> Membership:
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


def _together(question: MembershipQuestion, each: tuple[Membership, ...]) -> Membership:
    """Measure several releases together."""
    model, names = model_of(question), [outcome.datasets[0] for outcome in each]
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


def _capacity(records: Integers, people: Integers, members: int, total: int) -> Fraction | None:
    """Return Σ_y max(f_y / n, (F_y − f_y) / (N − n)), the capacity of the channel from membership to class."""
    if members in (0, total):
        return None
    known = records.astype(np.uint64) * np.uint64(total)  # fewer than 2³² each: no overflow
    more_in = known >= people.astype(np.uint64) * np.uint64(members)
    inside, outside = int(records[more_in].sum()), int((people - records)[~more_in].sum())
    return Fraction(inside, members) + Fraction(outside, total - members)


def _marketer(records: Integers, people: Integers, members: int) -> Fraction | None:
    """Return Σ_y f_y/F_y / n (Dankar and El Emam 2010)."""
    if not members:
        return None
    by_size = sums_by_group(people, records, int(people.max()) + 1)
    sizes = np.flatnonzero(by_size)
    return sum_of_ratios(by_size[sizes].tolist(), sizes.tolist()) / members


def _presence(records: Integers, people: Integers) -> tuple[int, ...]:
    tenth = 10 * records // people + 1
    tenth[records == 0] = 0
    return tuple(sums_by_group(tenth, people, len(PRESENCE_LABELS)).tolist())


@compiled
def _extreme_shares(records: Integers, people: Integers) -> tuple[int, int]:
    """Return the classes with the lowest and the highest share of records to people, compared exactly."""
    lowest = highest = 0
    for y in range(records.size):
        if records[y] * people[lowest] < records[lowest] * people[y]:
            lowest = y
        if records[y] * people[highest] > records[highest] * people[y]:
            highest = y
    return lowest, highest


def _possible_values(
    question: MembershipQuestion, known: Mapping[str, str | Collection[str]]
) -> dict[str, tuple[str, ...]]:
    possible = {}
    for name, value in known.items():
        if name not in question.names:
            where = text("the quasi-identifiers of this question")
            raise StudyError(unknown_name("column", name, where, question.names))
        possible[name] = (value,) if isinstance(value, str) else tuple(sorted(set(value)))
        if not possible[name]:
            raise StudyError(
                "no value of {name} is possible; give at least one", name=quoted([name])
            )
    return possible


def _fitting(question: MembershipQuestion, known: Mapping[str, tuple[str, ...]]) -> Integers:
    """Return, per class, how many of its people have one of the possible values in each known column.

    Raises:
        DataError: Nobody in the register has such a value, or nobody has all of them.
    """
    population, register = question.population, question.register
    fits = np.ones(len(register.numbers), np.bool_)
    for name, possible in known.items():
        column = population.column(name)
        values = pa.array(possible, pa.large_string())
        is_possible = pc.is_in(column.values, value_set=values).to_numpy(zero_copy_only=False)
        if not is_possible.any():
            raise DataError(_unheard_of(name, possible, column.values, population.name))
        fits &= is_possible[column.codes]
    counts = np.bincount(register.numbers[fits], minlength=register.classes)
    if not counts.any():
        conditions = ", ".join(f"{name} {either(values)}" for name, values in known.items())
        raise DataError(
            "nobody in {register} fits ({known}); check what is known, or leave something out",
            register=population.name,
            known=conditions,
        )
    return counts


def _asked_about(
    tables: tuple[EncodedTable, ...],
    population: EncodedTable,
    quasi_identifiers: Sequence[str] | None,
) -> tuple[str, ...]:
    """Check a question of membership, and return the quasi-identifiers.

    Raises:
        DataError: The register has none of the quasi-identifiers, or a table lacks one.
        StudyError: There are too many releases, two of one name, or no quasi-identifier.
    """
    if not 1 <= len(tables) <= MOST_RELEASES:
        raise StudyError(
            "membership is asked of 1 to {most} releases, not of {releases}",
            most=MOST_RELEASES,
            releases=len(tables),
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
            "{register} has none of the quasi-identifiers {names}; it has {columns}",
            register=population.name,
            names=quoted(names),
            columns=quoted(list(population.columns)[:12]),
        )
    for table in (*tables, population):
        for name in names:
            table.column(name)
    return names


def _refuse_several_records(table: EncodedTable) -> None:
    """Check that everybody has one record, where an identifier tells.

    Raises:
        DataError: Somebody has several, or no identifier.
    """
    if table.identifier is None:
        return
    identifier = table.column(table.identifier)
    records = np.bincount(identifier.codes, minlength=identifier.cardinality)
    nameless = identifier.values.index("").as_py()
    if nameless >= 0 and records[nameless]:
        raise DataError(
            "{table}: {records} records have no {identifier}; complete it, or read the file without an identifier",
            table=table.name,
            records=int(records[nameless]),
            identifier=quoted([identifier.name]),
        )
    several = int(np.count_nonzero(records > 1))
    if several:
        raise DataError(
            "{table}: {people} people have more than one record (by {identifier}); membership needs one record "
            "per person",
            table=table.name,
            people=several,
            identifier=quoted([identifier.name]),
        )


def _unheard_of(
    name: str, possible: tuple[str, ...], values: pa.LargeStringArray, where: str
) -> str:
    """Say that nobody has any of the values, and name near ones."""
    some = [value for value in values[:_COMPARED_VALUES].to_pylist() if value]
    near = list(dict.fromkeys(other for value in possible for other in near_names(value, some)))
    words = {
        "register": where,
        "values": either([quoted([value]) for value in possible[:3]]),
        "name": quoted([name]),
    }
    if not near:
        return text("nobody in {register} has {values} in column {name}", **words)
    return text(
        "nobody in {register} has {values} in column {name}; did you mean {near}?",
        near=either([quoted([value]) for value in near[:3]]),
        **words,
    )


def _named(pattern: int, names: Sequence[str]) -> Pattern:
    return tuple(name for bit, name in enumerate(names) if pattern >> bit & 1)


def _marginal(shares: Mapping[int, Fraction], bit: int) -> Fraction:
    return sum((share for pattern, share in shares.items() if pattern >> bit & 1), Fraction(0))


def _plain_patterns(patterns: Mapping[Pattern, Fraction]) -> list[dict[str, Any]]:
    return [{"in": list(names), "prior": float(share)} for names, share in patterns.items()]


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
        *((f"deterministic_{measure}", pa.float64()) for measure in MEASURES),
        ("deterministic_people", pa.int64()),
        *((f"probabilistic_{measure}", pa.float64()) for measure in MEASURES),
        ("delta_min", pa.float64()),
        ("delta_max", pa.float64()),
        ("capacity", pa.float64()),
        ("journalist", pa.float64()),
        ("marketer", pa.float64()),
        *((f"presence_{label}", pa.int64()) for label in PRESENCE_LABELS),
    ]
)

_PATTERN_SCHEMA = pa.schema([("in", pa.list_(pa.string())), *MEASURE_FIELDS])


def _row(content: dict[str, Any]) -> dict[str, Any]:
    flat = {
        f"{kind}_{measure}": value
        for kind in ("deterministic", "probabilistic", "presence")
        for measure, value in content[kind].items()
    }
    return content | flat
