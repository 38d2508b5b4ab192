"""What the reconstruction is worth: chances to name the entity behind a transaction, and the value at risk.

The adversary knows the register of entities and the city of each. Before the totals every entity of the register is
equally likely to be behind a transaction. Her chance is that of her best guess (the Bayes vulnerability):

==============  ==========================================================================================
`prior`         1 / entities in the register
`joined`        1 / entities in the bins of the group: the totals name the cities that take part
`uniform`       1 / entities in the feasible bins: the rule of Favato (2021), uniform over the union
`bayes`         max over entities of Σ P(bin) / entities in the bin, over the bins that the entity is registered in;
                P(bin) the share of the valid allocations with the package there, each weighted by Π entities(bin)
==============  ==========================================================================================

Only the last is her posterior: an allocation into cities stands for Π entities(city) ways to name an entity behind
each transaction, all equally likely a priori. The uniform rule forgets how many allocations put the transaction where,
and so is never above it: the chances of all entities of the union add up to 1, so that the largest is at least their
mean.

An entity with branches is registered in several bins. It counts once in a union and in the register, and once in every
bin that it is in: give a register its members, and not only their number.

The value at risk is Σ chance · value; what leaks is its growth from phase to phase. A transaction is named *with
certainty* if its feasible bins, proved, have one entity between them.

A record that the publisher left out can be anybody's. With a share ρ of such records a priori, the bin of records left
out weighs ρ · (register) beside (1 − ρ) · entities for the others.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import fsum
from types import MappingProxyType
from typing import Any

import pyarrow as pa

from glasshouse.errors import DataError, StudyError, quoted
from glasshouse.language import text, unknown_name
from glasshouse.totals.fixed_point import Number, exact
from glasshouse.totals.instance import NONE, Instance, Solution

PHASES = ("prior", "joined", "uniform", "bayes")
"""What the adversary knows: the register; the totals; the feasible bins; how many allocations put it where."""


@dataclass(frozen=True)
class Register:
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
                    text(
                        "bin {bin} has no entities in the register; leave it out",
                        bin=quoted([name]),
                    )
                )
            if self.total is not None and count > self.total:
                raise DataError(
                    text(
                        "the register has {total} entities, but bin {bin} alone {own}; correct one",
                        total=self.total,
                        bin=quoted([name]),
                        own=count,
                    )
                )
        union = 0 if self.members is None else len(frozenset().union(*self.members.values()))
        if self.total is not None and union > self.total:
            raise DataError(
                text(
                    "the register has {total} entities, but its bins {union} different ones; correct one",
                    total=self.total,
                    union=union,
                )
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
            raise StudyError(
                text("the share of records left out is above 0 and below 1, such as 0.01")
            )
        odds = [share if name == NONE else 1 - share for name in instance.bin_names]
        if instance.none_bin is None:
            odds = [Fraction(1)] * len(odds)
        names = instance.bin_names
        return tuple(
            int(self.in_bin(name) * each * share.denominator)
            for name, each in zip(names, odds, strict=True)
        )


def register_of(members: Mapping[str, Iterable[str]], *, total: int | None = None) -> Register:
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
    known = {name: frozenset(each) for name, each in members.items()}
    return Register({name: len(each) for name, each in known.items()}, total, known)


@dataclass(frozen=True)
class Phase:
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


@dataclass(frozen=True, eq=False)
class Exposure:
    """The chances of one group's transactions, per phase."""

    solution: Solution
    """What was reconstructed."""
    register: Register
    """What the adversary knows beforehand."""
    packages: tuple[int, ...]
    """Which packages."""
    values: tuple[Fraction, ...]
    """What each is worth."""
    chances: Mapping[str, tuple[Fraction, ...] | None]
    """Per phase, the chance of each package; None: the allocations were not counted."""
    certain: Mapping[str, tuple[bool, ...]]
    """Per phase, whether the entity is certain."""

    def phases(self, rule: str = "bayes") -> tuple[Phase, ...]:
        """Return prior, joined and, by the rule "uniform" or "bayes", the posterior."""
        return phases([self], rule=rule)

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
    register: Register,
    *,
    value: str | Sequence[Number] | None = None,
    packages: Sequence[str] | None = None,
) -> Exposure:
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
    met = solution.proved and solution.status != "infeasible"
    posterior = tuple(chance == 1 and met for chance in uniform)
    number = len(chosen)
    return Exposure(
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


def phases(exposures: Iterable[Exposure], *, rule: str = "bayes") -> tuple[Phase, ...]:
    """Return what the adversary can do in each phase, over all groups.

    Args:
        exposures: The groups.
        rule: How she guesses at the end, "uniform" or "bayes". Groups whose allocations were not counted are guessed by
            the uniform rule, which is never above.

    Raises:
        StudyError: There is no such rule, or no transaction.

    """
    if rule not in PHASES[2:]:
        raise StudyError(unknown_name("rule", rule, text("the posterior"), PHASES[2:]))
    groups = list(exposures)
    found: list[Phase] = []
    for name in (*PHASES[:2], rule):
        found.append(_phase(name, groups, found[-1] if found else None))
    return tuple(found)


def by_bin(exposures: Iterable[Exposure]) -> pa.Table:
    """Return per bin the transactions whose bin is known for certain, and those whose entity is; most value first."""
    rows: dict[str, list[Any]] = {}
    for group in exposures:
        solution = group.solution
        for place, package in enumerate(group.packages):
            bins = solution.feasible_bins[package]
            if len(bins) != 1 or not solution.proved:
                continue
            name = solution.instance.bin_names[bins[0]]
            if name == NONE:
                continue
            row = rows.setdefault(
                name, [group.register.in_bin(name), 0, Fraction(0), 0, Fraction(0)]
            )
            row[1] += 1
            row[2] += group.values[place]
            if group.certain["uniform"][place]:
                row[3] += 1
                row[4] += group.values[place]
    order = sorted(rows, key=lambda name: (-rows[name][4], -rows[name][2], name))
    table = [[name, *rows[name]] for name in order]
    names = ["bin", "entities", "linked", "linked_value", "certain", "certain_value"]
    types = [pa.string(), pa.int64(), pa.int64(), pa.float64(), pa.int64(), pa.float64()]
    columns = list(zip(*table, strict=True)) if table else [()] * len(names)
    return pa.table(
        [
            pa.array([float(v) if pa.types.is_floating(kind) else v for v in column], kind)
            for column, kind in zip(columns, types, strict=True)
        ],
        names=names,
    )


def certain_links(exposures: Iterable[Exposure]) -> pa.Table:
    """Return the transactions whose entity is certain, with the bin and the value.

    An entity with branches can be certain while its bin is not: then all of them are told.

    Whoever has the register reads the entity's name from the bin: this is the disclosure itself. It serves the
    publisher to see what must not be published, and belongs in no report.
    """
    rows = [
        (
            group.solution.instance.name,
            group.solution.instance.package_names[package],
            "; ".join(
                group.solution.instance.bin_names[b] for b in group.solution.feasible_bins[package]
            ),
            float(group.values[place]),
        )
        for group in exposures
        for place, package in enumerate(group.packages)
        if group.certain["uniform"][place]
    ]
    columns = list(zip(*rows, strict=True)) if rows else [()] * 4
    types = [pa.string(), pa.string(), pa.string(), pa.float64()]
    return pa.table(
        [pa.array(column, kind) for column, kind in zip(columns, types, strict=True)],
        names=["group", "package", "bin", "value"],
    )


def _phase(name: str, groups: Sequence[Exposure], last: Phase | None) -> Phase:
    chances: list[float] = []
    at_risk: list[float] = []
    certain = 0
    certain_value: list[float] = []
    for group in groups:
        own = group.chances[name]
        if own is None:
            own = group.chances["uniform"]
        assert own is not None  # noqa: S101 - only Bayes can be missing
        chances += map(float, own)
        at_risk += (float(c * v) for c, v in zip(own, group.values, strict=True))
        known = group.certain[name]
        certain += sum(known)
        certain_value += (float(v) for v, sure in zip(group.values, known, strict=True) if sure)
    if not chances:
        raise StudyError(text("there is no transaction to be exposed; give at least one group"))
    chance, value = fsum(chances) / len(chances), fsum(at_risk)
    return Phase(
        name=name,
        packages=len(chances),
        chance=chance,
        factor=None if last is None else chance / last.chance,
        value_at_risk=value,
        leaked=None if last is None else value - last.value_at_risk,
        certain=certain,
        certain_value=fsum(certain_value),
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
        return [Fraction(each, scale) for each in instance.packages[:, column].tolist()]
    if len(value) != len(instance.packages):
        raise DataError(
            text(
                "{name} has {packages} packages, but {values} values",
                name=instance.name,
                packages=str(len(instance.packages)),
                values=str(len(value)),
            )
        )
    what = text("{name}: value", name=instance.name)
    return [exact(each, what) for each in value]


def _over_union(instance: Instance, bins: Iterable[int], register: Register) -> Fraction:
    """Return 1 / entities in some bins; a record left out can be anybody's."""
    names = [instance.bin_names[b] for b in bins]
    return Fraction(1, register.size if NONE in names else register.union(names))


def _best(instance: Instance, shares: Sequence[Fraction], register: Register) -> Fraction:
    """Return the posterior of the most likely entity; a record left out can be anybody's."""
    anybody = Fraction(0)
    chances: dict[tuple[str, str | None], Fraction] = {}
    for name, share in zip(instance.bin_names, shares, strict=True):
        if name == NONE:
            anybody = share / register.size
        elif share:
            own: Iterable[tuple[str, str | None]] = (
                [(name, None)]
                if register.members is None
                else (("", entity) for entity in register.members[name])
            )
            each = share / register.in_bin(name)
            for entity in own:
                chances[entity] = chances.get(entity, Fraction(0)) + each
    return max(chances.values(), default=Fraction(0)) + anybody


def _check_weights(solution: Solution, register: Register) -> None:
    """Refuse shares that were weighted by another register."""
    names, weights = solution.instance.bin_names, solution.weights
    if weights is None:
        return
    own = [(w, register.in_bin(n)) for w, n in zip(weights, names, strict=True) if n != NONE]
    first_weight, first_size = own[0]
    if any(weight * first_size != first_weight * size for weight, size in own):
        raise StudyError(
            text(
                "{name} was solved with other weights than the register's; give solve() "
                "weights=register.weights(instance)",
                name=solution.instance.name,
            )
        )
