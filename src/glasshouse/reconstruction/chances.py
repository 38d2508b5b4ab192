"""What the reconstruction is worth: chances to name the entity behind a transaction, and the value at risk.

The adversary knows the register of entities and the city of each. Before the totals every entity of the register is
equally likely to be behind a transaction. Her chance is that of her best guess (the Bayes vulnerability):

==============  ==========================================================================================
`prior`         1 / entities in the register
`joined`        1 / entities in the bins of the group: the totals name the cities that take part
`uniform`       1 / entities in the feasible bins: the rule of Favato (2021), uniform over the union
`bayes`         max over entities x of Σ_j P(j) · [x in j] / e_j, with e_j entities in bin j and P(j) the share of the
                valid allocations with the package in bin j, each weighted by Π entities(bin)
==============  ==========================================================================================

Only the last is her posterior: an allocation into cities stands for Π entities(city) ways to name an entity behind
each transaction, all equally likely a priori. The uniform rule forgets how many allocations put the transaction where,
and so is never above it: the chances of all entities of the union add up to 1, so that the largest is at least their
mean.

An entity with branches is registered in several bins. It counts once in a union and in the register, and once in every
bin that it is in: give a register its members, and not only their number.

The value at risk is Σ chance · value; what leaks is its growth from phase to phase. A transaction is named *with
certainty* if its feasible bins, proved, have one entity between them.

A record that the publisher left out can be anybody's: then the union is the whole register, and P(none) / entities in
the register is added. With a share ρ of such records a priori, the bin of records left out weighs ρ · (register) beside
(1 − ρ) · entities for the others.

There are two forms. One solution is exposed in exact fractions, with a `BinRegister` by names (`exposure`). A
campaign, of millions of records, has the entities of the bins of a phase as arrays (`Registered`) and chances as
floats. There a bin may be without entities: somebody unknown is in it, who cannot be named, one more in the union and
nobody in the maximum. Only entities of more than one bin, the *shared* ones, are looked at one by one; the others of a
bin are all alike.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import fsum
from types import MappingProxyType
from typing import Any

import numpy as np
import pyarrow as pa

from glasshouse.arrays import Flags, Floats, Integers
from glasshouse.compiled import compiled
from glasshouse.errors import DataError, StudyError
from glasshouse.language import quoted, text, unknown_name
from glasshouse.reconstruction.group_instance import NONE, Instance, Number, Solution, exact

PHASES = ("prior", "joined", "uniform", "bayes")
"""What the adversary knows: the register; the totals; the feasible bins; how many allocations put it where."""
RULES = PHASES[2:]
"""How the adversary guesses at the end."""
_ALIKE = 1 - 1e-12
"""Chances that differ by less are taken for the same: they are quotients of exact numbers, rounded."""


@dataclass(frozen=True)
class BinRegister:
    """How many entities are registered in each bin, and in all."""

    entities: Mapping[str, int]
    """Per bin, by name, the number of entities."""
    total: int | None = None
    """The number of different entities in the register; None: those of the bins. If it is below their sum, entities are
    in several bins; where it is not known in which, chances are lower bounds."""
    members: Mapping[str, frozenset[str]] | None = None
    """Per bin, by name, its entities; None: only their number is known. See `register_of`."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "entities", MappingProxyType(dict(self.entities)))
        if self.members is not None:
            object.__setattr__(self, "members", MappingProxyType(dict(self.members)))
        for name, count in self.entities.items():
            if count < 1:
                raise DataError(
                    "bin {bin} has no entities in the register; leave it out",
                    bin=quoted([name]),
                )
            if self.total is not None and count > self.total:
                raise DataError(
                    "the register has {total} entities, but bin {bin} alone {own}; correct one",
                    total=self.total,
                    bin=quoted([name]),
                    own=count,
                )
        union = 0 if self.members is None else len(frozenset().union(*self.members.values()))
        if self.total is not None and union > self.total:
            raise DataError(
                "the register has {total} entities, but its bins {union} different ones; correct one",
                total=self.total,
                union=union,
            )

    @property
    def size(self) -> int:
        """The number of different entities in the register."""
        return self.union(self.entities) if self.total is None else self.total

    def union(self, names: Iterable[str]) -> int:
        """Return how many different entities are in some bins; where only numbers are known, the most it can be."""
        bins = list(names)
        if self.members is not None:
            return len(frozenset().union(*(self.members[name] for name in bins)))
        whole = sum(self.in_bin(name) for name in bins)
        return whole if self.total is None else min(whole, self.total)

    def in_bin(self, name: str) -> int:
        """Return the number of entities in a bin; a record left out can be anybody's.

        Raises:
            DataError: The bin is not in the register.
        """
        if name == NONE:
            return self.size
        if name not in self.entities:
            raise DataError(unknown_name("bin", name, text("the register"), self.entities))
        return self.entities[name]

    def weights(
        self, instance: Instance, *, left_out: Number = Fraction(1, 100)
    ) -> tuple[int, ...]:
        """Return the weight of each bin for `solve`: the prior of a record being there, in whole numbers.

        Args:
            instance: The group.
            left_out: The share of records that the publisher leaves out, a priori; only for a bin named "NONE".

        Raises:
            StudyError: The share is not between 0 and 1.
        """
        share = exact(left_out, text("share left out"))
        if not 0 < share < 1:
            raise StudyError("the share of records left out is above 0 and below 1, such as 0.01")
        odds = [share if name == NONE else 1 - share for name in instance.bin_names]
        if instance.none_bin is None:
            odds = [Fraction(1)] * len(odds)
        names = instance.bin_names
        return tuple(
            int(self.in_bin(name) * chance * share.denominator)
            for name, chance in zip(names, odds, strict=True)
        )

    def to_dict(self) -> dict[str, Any]:
        """Return the register in plain values."""
        return {
            "total": self.size,
            "entities": dict(self.entities),
            "members": None
            if self.members is None
            else {name: sorted(entities) for name, entities in self.members.items()},
        }

    def to_frame(self) -> pa.Table:
        """Return a row per bin: how many entities it has, and who they are where that is known."""
        members = [
            None if self.members is None else sorted(self.members[name]) for name in self.entities
        ]
        return pa.table(
            {
                "bin": pa.array(list(self.entities), pa.string()),
                "entities": pa.array(list(self.entities.values()), pa.int64()),
                "members": pa.array(members, pa.list_(pa.string())),
            }
        )


def register_of(members: Mapping[str, Iterable[str]], *, total: int | None = None) -> BinRegister:
    """Return the register of entities that may be in several bins.

    Args:
        members: Per bin, the names of its entities.
        total: The number of different entities in the register; unset: those of the bins.

    Raises:
        DataError: A bin has no entities, or there are more than the register has.

    >>> register = register_of({"A": ["x", "y"], "B": ["x"]})
    >>> register.size, dict(register.entities)
    (2, {'A': 2, 'B': 1})
    """
    known = {name: frozenset(entities) for name, entities in members.items()}
    return BinRegister({name: len(entities) for name, entities in known.items()}, total, known)


@dataclass(frozen=True)
class ExposurePhase:
    """What the adversary can do with what she knows in one phase."""

    name: str
    """One of `PHASES`, or what the caller calls it."""
    packages: int
    """The number of transactions."""
    chance: float
    """Her mean chance to name the entity behind one."""
    factor: float | None
    """By how much the chance grew since the last phase; None: it is the first."""
    value_at_risk: float
    """Σ chance · value."""
    leaked: float | None
    """By how much the value at risk grew since the last phase; None: it is the first."""
    certain: int
    """How many transactions are named with certainty."""
    certain_value: float
    """Their value."""

    def to_dict(self) -> dict[str, Any]:
        """Return the figures in plain values."""
        return dict(vars(self))


def exposure_phases(
    steps: Iterable[tuple[str, int, float, float, int, float]],
) -> tuple[ExposurePhase, ...]:
    """Return what the adversary can do in each phase, compared with the last one.

    Args:
        steps: Per phase its name, the number of transactions, her mean chance, the value at risk, and how many
            transactions are named with certainty, with their value.
    """
    phases: list[ExposurePhase] = []
    for name, packages, chance, value_at_risk, certain, certain_value in steps:
        factor, leaked = None, None
        if phases:
            factor = chance / phases[-1].chance if phases[-1].chance else None
            leaked = value_at_risk - phases[-1].value_at_risk
        growth = chance, factor, value_at_risk, leaked
        phases.append(ExposurePhase(name, packages, *growth, certain, certain_value))
    return tuple(phases)


def check_rule(rule: str) -> None:
    """Make sure that there is such a rule of guessing.

    Raises:
        StudyError: There is none.
    """
    if rule not in RULES:
        raise StudyError(unknown_name("rule", rule, text("the posterior"), RULES))


@dataclass(frozen=True, eq=False)
class SolutionExposure:
    """The chances of one group's transactions, per phase."""

    solution: Solution
    """What was reconstructed."""
    register: BinRegister
    """What the adversary knows beforehand."""
    packages: tuple[int, ...]
    """Which packages."""
    values: tuple[Fraction, ...]
    """What each is worth."""
    chances: Mapping[str, tuple[Fraction, ...] | None]
    """Per phase, the chance of each package; None: the allocations were not counted."""
    certain: Mapping[str, tuple[bool, ...]]
    """Per phase, whether the entity is certain."""

    def phases(self, rule: str = "bayes") -> tuple[ExposurePhase, ...]:
        """Return prior, joined and, by the rule "uniform" or "bayes", the posterior.

        If the allocations were not counted, she guesses by the uniform rule, which is never above.

        Raises:
            StudyError: There is no such rule, or no transaction.
        """
        check_rule(rule)
        if not self.packages:
            raise StudyError("there is no transaction to be exposed; give at least one group")
        return exposure_phases(map(self._step, (*PHASES[:2], rule)))

    def _step(self, name: str) -> tuple[str, int, float, float, int, float]:
        """Return the figures of a phase that `exposure_phases` compares."""
        chances = self.chances[name] or self.chances["uniform"]
        assert chances is not None  # noqa: S101 - only Bayes can be missing
        certain = [v for v, sure in zip(self.values, self.certain[name], strict=True) if sure]
        mean = fsum(map(float, chances)) / len(chances)
        at_risk = fsum(float(c * value) for c, value in zip(chances, self.values, strict=True))
        return name, len(chances), mean, at_risk, len(certain), fsum(map(float, certain))

    def to_dict(self) -> dict[str, Any]:
        """Return what the adversary can do in each phase, by either rule, in plain values; no transaction is named."""
        return {
            "packages": len(self.packages),
            "phases": {
                rule: [step.to_dict() for step in self.phases(rule)]
                for rule in RULES
                if self.packages
            },
        }

    def to_frame(self) -> pa.Table:
        """Return a row per transaction: its value, its feasible bins and its chances; not for publication."""
        instance = self.solution.instance
        feasible = [
            [instance.bin_names[b] for b in self.solution.feasible_bins[p]] for p in self.packages
        ]
        columns: dict[str, Any] = {
            "package": [instance.package_names[p] for p in self.packages],
            "value": [float(value) for value in self.values],
            "feasible_bins": pa.array(feasible, pa.list_(pa.string())),
        }
        for phase, chances in self.chances.items():
            numbers = (
                [None] * len(self.packages) if chances is None else [float(c) for c in chances]
            )
            columns[phase] = pa.array(numbers, pa.float64())
        columns["certain"] = list(self.certain["uniform"])
        return pa.table(columns)


def exposure(
    solution: Solution,
    register: BinRegister,
    *,
    value: str | Sequence[Number] | None = None,
    packages: Sequence[str] | None = None,
) -> SolutionExposure:
    """Combine the feasible bins of a group with the register of entities.

    Args:
        solution: What was reconstructed; for the rule "bayes" with the register's weights.
        register: The entities by bin.
        value: What a transaction is worth: a measure of the instance (by default the first), or a number for each.
        packages: Which transactions; by default all.

    Raises:
        DataError: A bin is not in the register, a package or measure is not in the instance.
        StudyError: The shares were weighted by something else than the register.
    """
    instance = solution.instance
    chosen = _chosen(instance, packages)
    worth = _values(instance, value)
    for name in instance.bin_names:
        register.in_bin(name)
    prior = Fraction(1, register.size)
    joined = _over_union(instance, range(len(instance.bin_names)), register)
    uniform = [
        # Of an infeasible group nothing more is known than from its totals.
        _over_union(
            instance, solution.feasible_bins[package] or range(len(instance.bin_names)), register
        )
        for package in chosen
    ]
    bayes = None
    if solution.weighted_shares is not None:
        _check_weights(solution, register)
        bayes = tuple(
            _best(instance, solution.weighted_shares[package], register) for package in chosen
        )
    met = solution.exact is not None
    posterior = tuple(chance == 1 and met for chance in uniform)
    number = len(chosen)
    return SolutionExposure(
        solution=solution,
        register=register,
        packages=tuple(chosen),
        values=tuple(worth[package] for package in chosen),
        chances=MappingProxyType(
            {
                "prior": (prior,) * number,
                "joined": (joined,) * number,
                "uniform": tuple(uniform),
                "bayes": bayes,
            }
        ),
        certain=MappingProxyType(
            {
                "prior": (prior == 1,) * number,
                "joined": (joined == 1,) * number,
                "uniform": posterior,
                "bayes": posterior,
            }
        ),
    )


def _chosen(instance: Instance, packages: Sequence[str] | None) -> list[int]:
    if packages is None:
        return list(range(len(instance.packages)))
    places = {name: place for place, name in enumerate(instance.package_names)}
    for name in packages:
        if name not in places:
            raise DataError(unknown_name("package", name, instance.name, places))
    return [places[name] for name in packages]


def _values(instance: Instance, value: str | Sequence[Number] | None) -> list[Fraction]:
    if value is None or isinstance(value, str):
        name = instance.measures[0] if value is None else value
        if name not in instance.measures:
            raise DataError(unknown_name("measure", name, instance.name, instance.measures))
        column = instance.measures.index(name)
        scale = instance.scale[column]
        return [Fraction(units, scale) for units in instance.packages[:, column].tolist()]
    if len(value) != len(instance.packages):
        raise DataError(
            "{name} has {packages} packages, but {values} values",
            name=instance.name,
            packages=str(len(instance.packages)),
            values=str(len(value)),
        )
    what = text("{name}: value", name=instance.name)
    return [exact(number, what) for number in value]


def _over_union(instance: Instance, bins: Iterable[int], register: BinRegister) -> Fraction:
    """Return 1 / entities in some bins; a record left out can be anybody's."""
    names = [instance.bin_names[b] for b in bins]
    return Fraction(1, register.size if NONE in names else register.union(names))


def _best(instance: Instance, shares: Sequence[Fraction], register: BinRegister) -> Fraction:
    """Return the posterior of the most likely entity; a record left out can be anybody's."""
    anybody = Fraction(0)
    chances: dict[tuple[str, str | None], Fraction] = {}
    for name, share in zip(instance.bin_names, shares, strict=True):
        if name == NONE:
            anybody = share / register.size
        elif share:
            entities: Iterable[tuple[str, str | None]] = (
                [(name, None)]
                if register.members is None
                else (("", entity) for entity in register.members[name])
            )
            chance = share / register.in_bin(name)
            for entity in entities:
                chances[entity] = chances.get(entity, Fraction(0)) + chance
    return max(chances.values(), default=Fraction(0)) + anybody


def _check_weights(solution: Solution, register: BinRegister) -> None:
    """Refuse shares that were weighted by another register."""
    names, weights = solution.instance.bin_names, solution.weights
    if weights is None:
        return
    pairs = [(w, register.in_bin(n)) for w, n in zip(weights, names, strict=True) if n != NONE]
    first_weight, first_size = pairs[0]
    if any(weight * first_size != first_weight * size for weight, size in pairs):
        raise StudyError(
            "{name} was solved with other weights than the register's; give solve() "
            "weights=register.weights(instance)",
            name=solution.instance.name,
        )


# -- the register of a phase, and chances of many records ------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class Registered:
    """The entities of the bins of a phase."""

    size: int
    """The number of different entities in the register."""
    counts: Integers
    """Per bin, the number of different entities."""
    one: Integers
    """Per bin, one of its entities; −1: it has none."""
    entity: Integers
    """The entities, bin by bin, in ascending order."""
    shared_start: Integers
    """Per bin, where its entities that are in further bins begin in `shared`, and the end of the last."""
    shared: Integers
    """These entities, numbered from 0."""
    shared_count: int
    """How many of them there are."""

    def chances(
        self, table: Flags, bins: Integers, *, left_out: bool, shares: Floats | None = None
    ) -> Floats:
        """Return the chance of each record.

        Args:
            table: Per record and bin, whether it is feasible; the bin of records left out comes last.
            bins: The bins of the phase that its columns are.
            left_out: Whether it has a column of records left out.
            shares: The posterior of the feasible pairs, row by row; None: the uniform rule.
        """
        chances = np.zeros(len(table))
        self._guess(table, bins, left_out, shares, chances, np.zeros((0, 0)))
        return chances

    def guesses(
        self, table: Flags, bins: Integers, *, left_out: bool, shares: Floats | None = None
    ) -> Floats:
        """Return per record and bin which part of the best guess is of an entity there; ties are drawn.

        The arguments are those of `chances`.
        """
        guesses = np.zeros(table.shape)
        self._guess(table, bins, left_out, shares, np.zeros(len(table)), guesses)
        return guesses

    def _guess(
        self,
        table: Flags,
        bins: Integers,
        left_out: bool,
        shares: Floats | None,
        chances: Floats,
        guesses: Floats,
    ) -> None:
        """Set the chances and, if their table is not empty, where the best guesses are."""
        entities = self.size, self.counts, self.shared_start, self.shared, self.shared_count
        if shares is None:
            _uniform(table, bins, left_out, *entities, chances, guesses)
        else:
            _bayes(table, shares, bins, left_out, *entities, chances, guesses)

    def holds(self, table: Flags, bins: Integers, entity: Integers) -> Flags:
        """Tell of each record whether an entity is registered in one of its bins.

        Args:
            table: Per record and bin, whether it is meant.
            bins: The bins of the phase that its columns are.
            entity: The entity of each record.
        """
        out = np.zeros(len(table), bool)
        _holds(table, bins, entity, np.append(0, np.cumsum(self.counts)), self.entity, out)
        return out


def registered(bin_: Integers, entity: Integers, *, bins: int, size: int) -> Registered:
    """Return the register of a phase from pairs of a bin and an entity.

    Args:
        bin_: The bin of each row of the register that is in one.
        entity: The entity of each.
        bins: The number of bins.
        size: The number of different entities in the whole register.

    >>> three = registered(np.array([0, 0, 1, 1]), np.array([7, 8, 8, 8]), bins=3, size=5)
    >>> three.counts.tolist(), three.one.tolist(), three.shared_start.tolist(), three.shared_count
    ([2, 1, 0], [7, 8, -1], [0, 1, 2, 2], 1)
    """
    pairs = np.unique(np.stack([bin_, entity], axis=1), axis=0)
    place, entity_there = pairs[:, 0], pairs[:, 1]
    counts = np.bincount(place, minlength=bins)
    start = np.cumsum(counts) - counts
    one = np.full(bins, -1, np.int64)
    one[counts > 0] = entity_there[start[counts > 0]]
    _, number, times = np.unique(entity_there, return_inverse=True, return_counts=True)
    several = times[number.reshape(-1)] > 1
    distinct, shared = np.unique(entity_there[several], return_inverse=True)
    return Registered(
        size=size,
        counts=counts.astype(np.int64),
        one=one,
        entity=entity_there.astype(np.int64),
        shared_start=np.append(0, np.cumsum(np.bincount(place[several], minlength=bins))),
        shared=shared.reshape(-1).astype(np.int64),
        shared_count=len(distinct),
    )


@compiled
def _uniform(  # noqa: C901
    table: Flags,
    bins: Integers,
    left_out: bool,
    size: int,
    counts: Integers,
    start: Integers,
    shared: Integers,
    shared_count: int,
    chances: Floats,
    guesses: Floats,
) -> None:
    # 1 / (entities in the union of the feasible bins): docs/totals.md, "From cities to companies".
    seen, times = np.full(shared_count, -1, np.int64), np.zeros(shared_count, np.int64)
    for row in range(len(table)):
        # The union: an entity of several bins counts once, and a bin without entities has somebody unknown.
        union = bare = 0
        for column in range(len(bins)):
            if not table[row, column]:
                continue
            bin_ = bins[column]
            if not counts[bin_]:
                bare += 1
                continue
            union += counts[bin_]
            for place in range(start[bin_], start[bin_ + 1]):
                if seen[shared[place]] == row:
                    union -= 1
                seen[shared[place]] = row
        anybody = left_out and table[row, len(bins)]
        if anybody:
            union = size
        chances[row] = 1 / (union + bare) if union else 0.0
        if not len(guesses):
            continue
        # Where a guess among them is: an entity of several bins is shared out among these.
        if anybody:
            guesses[row, len(bins)] = 1.0
            continue
        for column in range(len(bins)):
            if table[row, column]:
                for place in range(start[bins[column]], start[bins[column] + 1]):
                    times[shared[place]] += 1
        whole = 0.0
        for column in range(len(bins)):
            if table[row, column]:
                bin_ = bins[column]
                guesses[row, column] = counts[bin_] - (start[bin_ + 1] - start[bin_])
                for place in range(start[bin_], start[bin_ + 1]):
                    guesses[row, column] += 1 / times[shared[place]]
                whole += guesses[row, column]
        # Nobody is registered in any of them: all are alike.
        if not whole:
            for column in range(len(bins)):
                guesses[row, column] = 1.0 if table[row, column] else 0.0
                whole += guesses[row, column]
        if whole:
            guesses[row] /= whole
        for column in range(len(bins)):
            if table[row, column]:
                for place in range(start[bins[column]], start[bins[column] + 1]):
                    times[shared[place]] = 0


@compiled
def _holds(
    table: Flags, bins: Integers, name: Integers, start: Integers, entity: Integers, out: Flags
) -> None:
    for row in range(len(table)):
        for column in range(len(bins)):
            if not table[row, column] or out[row]:
                continue
            first, end = start[bins[column]], start[bins[column] + 1]
            place = first + np.searchsorted(entity[first:end], name[row])
            out[row] = place < end and entity[place] == name[row]


@compiled
def _bayes(  # noqa: C901
    table: Flags,
    shares: Floats,
    bins: Integers,
    left_out: bool,
    size: int,
    counts: Integers,
    start: Integers,
    shared: Integers,
    shared_count: int,
    chances: Floats,
    guesses: Floats,
) -> None:
    # max over entities x of Σ_j P(j) · [x in j] / e_j: docs/totals.md, "From cities to companies".
    joint = np.zeros(shared_count)
    apart = np.zeros(len(bins))
    first = 0
    for row in range(len(table)):
        # The best entity: `apart` is the chance of each entity of a bin there, `joint` that of a shared one so far.
        pair, anybody, best = first, 0.0, 0.0
        for column in range(table.shape[1]):
            if not table[row, column]:
                continue
            share = shares[pair]
            pair += 1
            if left_out and column == len(bins):
                anybody = share / size
                continue
            bin_ = bins[column]
            if not counts[bin_]:
                continue
            apart[column] = share / counts[bin_]
            best = max(best, apart[column])
            for place in range(start[bin_], start[bin_ + 1]):
                joint[shared[place]] += apart[column]
                best = max(best, joint[shared[place]])
        chances[row] = best + anybody
        # Where it is: shared out among the bins that it rests on, with equal parts for entities that are as likely.
        if len(guesses) and not best:
            pair = first
            for column in range(table.shape[1]):
                if table[row, column]:
                    guesses[row, column] = shares[pair]
                    pair += 1
        elif len(guesses):
            whole = 0.0
            for column in range(len(bins)):
                bin_ = bins[column]
                if not table[row, column] or not counts[bin_]:
                    continue
                alone = counts[bin_] - (start[bin_ + 1] - start[bin_])
                if alone and apart[column] >= best * _ALIKE:
                    guesses[row, column] += alone * apart[column]
                for place in range(start[bin_], start[bin_ + 1]):
                    if joint[shared[place]] >= best * _ALIKE:
                        guesses[row, column] += apart[column]
                whole += guesses[row, column]
            for column in range(len(bins)):
                guesses[row, column] *= best / (whole * (best + anybody))
            if left_out:
                guesses[row, len(bins)] = anybody / (best + anybody)
        # Only what this row has touched is cleared.
        for column in range(len(bins)):
            if table[row, column]:
                apart[column] = 0.0
                for place in range(start[bins[column]], start[bins[column] + 1]):
                    joint[shared[place]] = 0.0
        first = pair
