"""What published tables give away, beside what anybody could know without putting them together.

Every figure stands beside three others: what the best single table tells, what the commonest value is (the margin), and
what other people's records tell (the population). What all tables tell beyond one is the risk of combining; beyond the
population, that of publishing. A guess is judged by the mean over all files that fit, every person drawn alone.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
import pyarrow as pa

from glasshouse.checkpoint import Checkpoint
from glasshouse.errors import BudgetError, StudyError
from glasshouse.progress import OnProgress
from glasshouse.solvers import OutOfTime
from glasshouse.study.tables import Value
from glasshouse.tabulation.geography import AreaTables, area_bounds
from glasshouse.tabulation.noise import NoiseExposure
from glasshouse.tabulation.reasons import TablesAudit, TableSet
from glasshouse.tabulation.remedies import Remedy
from glasshouse.tabulation.solution import (
    CellBounds,
    Key,
    cell_bounds,
    certain_at_most,
    known_groups,
)
from glasshouse.tabulation.statements import PEOPLE, PublishedSet

_SINGLE = 0.25
"""The part of the time that the tables one by one may take."""


@dataclass(frozen=True)
class SecretExposure:
    """What the tables tell of one attribute, to somebody who knows others of a person."""

    attribute: str
    """The attribute."""
    known: tuple[str, ...]
    """What is known of a person."""
    certain: int
    """Of how many people it is certain at least, by all tables."""
    certain_at_most: int
    """Of how many people it may be certain: of all who can have values that leave one value of the secret."""
    one_table: int
    """The same by the best single table."""
    guesses: Mapping[str, Fraction | None]
    """Right guesses expected by ``margin``, ``one table``, ``population`` and ``all tables``; None: not counted."""


@dataclass(frozen=True, eq=False)
class TablesOutcome:
    """Who can be read out of published tables."""

    bounds: CellBounds
    """Between what the number of people with each combination lies."""
    rare: int
    """Up to how many people a combination is rare."""
    alone: Mapping[str, int]
    """Per table how many people have a certain combination by it alone, as far as that was found."""
    secrets: tuple[SecretExposure, ...] = ()
    """What becomes known of single attributes."""
    alone_open: tuple[str, ...] = ()
    """The tables whose time was over when they were solved one by one: by them alone it may be more people."""
    unseen: tuple[str, ...] = ()
    """Attributes that were named neither as known nor as sensitive: whether they become known was not asked."""
    contradiction: TableSet | None = None
    """Tables that contradict each other, where no file of people meets them all."""
    audit: TablesAudit | None = None
    """Which tables make people certain, and which one to withhold; None: nobody is certain."""
    advice: tuple[Remedy, ...] = ()
    """Of each kind of change the cheapest found after which nobody with a rare combination is certain."""
    noise: NoiseExposure | None = None
    """What the noise in the counts lets somebody learn; None: there is none."""

    @property
    def status(self) -> str:
        """Whether all bounds are proved; infeasible: the tables contradict each other."""
        return self.bounds.status

    @property
    def proved(self) -> bool:
        """Whether every bound is proved."""
        return self.bounds.status == "proved"

    @property
    def records(self) -> int:
        """How many people the tables are of, in the first file that fits; without one, as published, or at least."""
        if self.bounds.files:
            return sum(self.bounds.files[0].values())
        least = int(self.bounds.class_least.sum())
        whole = (row.low or 0 for row in self.bounds.published.rows if row.table == PEOPLE)
        return 0 if self.bounds.status == "infeasible" else max(least, *whole, 0)

    @property
    def rare_persons(self) -> int:
        """How many people have a rare combination that is certain."""
        few = self.bounds.most <= self.rare
        return int(self.bounds.least[few].sum())

    @property
    def alone_at_least(self) -> bool:
        """Whether one table alone may make more people certain than was found."""
        return bool(self.alone_open)

    @property
    def best_alone(self) -> int:
        """How many people have a certain combination by the best single table."""
        return max(self.alone.values(), default=0)

    def to_dict(self) -> dict[str, Any]:
        """Return everything as plain values; combinations are told as they are."""
        reasons: dict[str, Any] = {}
        if self.contradiction is not None:
            reasons = {"contradiction": self.contradiction.to_dict()}
        elif self.audit is not None:
            reasons = self.audit.to_dict() | {"advice": [one.to_dict() for one in self.advice]}
        return {
            **self.bounds.to_dict(),
            **reasons,
            "rare": self.rare,
            "rare_certain_persons": self.rare_persons,
            "certain_by_one_table": dict(self.alone),
            "by_one_table_at_least": self.alone_at_least,
            "not_asked": list(self.unseen),
            **({} if self.noise is None else {"noise": self.noise.to_dict()}),
            "secrets": [
                {
                    "attribute": one.attribute,
                    "known": list(one.known),
                    "certain": {"all tables": one.certain, "one table": one.one_table},
                    "certain_at_most": one.certain_at_most,
                    "guesses": {
                        name: None if guess is None else float(guess)
                        for name, guess in one.guesses.items()
                    },
                }
                for one in self.secrets
            ],
        }

    def to_frame(self) -> pa.Table:
        """Return the bounds of every combination that somebody can have as a table."""
        return self.bounds.to_frame()


def table_exposure(
    tables: PublishedSet | AreaTables,
    *,
    rare: int,
    sensitive: Sequence[str] = (),
    quasi_identifiers: Sequence[str] = (),
    population: Mapping[str, Sequence[Value]] | None = None,
    seconds: float = 60.0,
    memory: int = 2 << 30,
    counting: bool = True,
    kept: Checkpoint | None = None,
    on_progress: OnProgress | None = None,
) -> TablesOutcome:
    """Tell who can be read out of published tables together, and what one of them tells alone.

    Args:
        tables: What was published; of nested areas files are not counted, and of single tables only their rows asked.
        rare: Up to how many people a combination is rare.
        sensitive: What somebody wants to learn.
        quasi_identifiers: What she knows of a person; by default all the rest, the area among it.
        population: Other people's values, by attribute.
        seconds: CPU seconds for all of it.
        memory: The bytes that combinations and rows may take.
        counting: Whether the files that fit are counted, where that is possible.
        kept: Where what an interrupted run has finished is kept; it is open.
        on_progress: Told how far it is.

    Raises:
        BudgetError: The combinations do not fit the memory.
        StudyError: Nothing says how many people there can be.
    """
    limits: dict[str, Any] = {
        "seconds": seconds * (1 - _SINGLE),
        "memory": memory,
        "certifying": True,
        "kept": kept,
        "on_progress": on_progress,
    }
    bounds = (
        area_bounds(tables, **limits)
        if isinstance(tables, AreaTables)
        else cell_bounds(tables, counting=counting, **limits)
    )
    named = bounds.system.domains if sensitive else quasi_identifiers
    unseen = tuple(name for name in bounds.system.domains if name not in named)
    if bounds.status == "infeasible":
        return TablesOutcome(bounds, rare, {}, unseen=unseen)
    certain: dict[str, int] = {}
    singles = []
    is_open: list[str] = []
    for name in tables.tables:
        share = seconds * _SINGLE / len(tables.tables)
        try:
            single = _alone(tables.only([name]), sensitive, share, memory)
        except StudyError:  # it may not say how many people there are
            continue
        except (BudgetError, OutOfTime):
            is_open.append(name)
            continue
        certain[name] = 0 if single is None else single.certain_persons
        if single is not None and single.certain == "limit":
            is_open.append(name)
        singles += [] if single is None else [single]
    secrets = []
    for secret in sensitive:
        known = tuple(quasi_identifiers) or tuple(
            name for name in bounds.system.domains if name not in sensitive
        )
        secrets.append(_secret(bounds, singles, secret, known, population))
    return TablesOutcome(bounds, rare, certain, tuple(secrets), tuple(is_open), unseen)


def _alone(
    table: PublishedSet | AreaTables, sensitive: Sequence[str], seconds: float, memory: int
) -> CellBounds | None:
    """Return what one table tells; None: nobody's record, and no secret."""
    if not isinstance(table, AreaTables):
        return cell_bounds(table, seconds=seconds, memory=memory, counting=bool(sensitive))
    if not any(map(table.mentions, sensitive)) and not table.is_of_everything:
        return None
    return area_bounds(table, seconds=seconds, memory=memory, questions=(), in_time=True)


def _certain(solution: CellBounds, groups: Mapping[Key, Mapping[Value, Sequence[int]]]) -> int:
    """Return of how many people a secret is certain at least: only one value is possible for what is known of them."""
    classes = solution.system.class_of
    people = 0
    for of_key in groups.values():
        if len(of_key) == 1:
            [cells] = of_key.values()
            inside = np.bincount(classes[list(cells)], minlength=len(solution.class_least))
            whole = inside == solution.system.sizes
            people += int(solution.class_least[whole & (inside > 0)].sum())
    return people


def _choices(
    solution: CellBounds, groups: Mapping[Key, Mapping[Value, Sequence[int]]]
) -> dict[Key, Value] | None:
    """Return the likeliest secret for what is known, by what some tables tell; None: that was not counted."""
    if solution.tables is None:
        return None
    return {
        key: max(of_key, key=lambda value: _mean(solution, of_key[value]))
        for key, of_key in groups.items()
    }


def _mean(solution: CellBounds, cells: Sequence[int]) -> Fraction:
    return sum((solution.mean(cell, "files") or Fraction(0) for cell in cells), Fraction(0))


def _secret(
    bounds: CellBounds,
    singles: Sequence[CellBounds],
    secret: str,
    known: tuple[str, ...],
    population: Mapping[str, Sequence[Value]] | None,
) -> SecretExposure:
    groups = known_groups(bounds, secret, known)

    def right(chosen: Mapping[Key, Value] | None) -> Fraction | None:
        """Return how many guesses are right on average over all files that fit."""
        if chosen is None or bounds.tables is None:
            return None
        return sum(
            (
                _mean(bounds, of_key.get(chosen[key], ()))
                for key, of_key in groups.items()
                if key in chosen
            ),
            Fraction(0),
        )

    totals: dict[Value, Fraction] = {}
    for of_key in groups.values() if bounds.tables is not None else ():
        for value, cells in of_key.items():
            totals[value] = totals.get(value, Fraction(0)) + _mean(bounds, cells)
    by_one: list[Fraction] = []
    certain_by_one = [0]
    for single in singles:
        of_single = known_groups(single, secret, known)
        certain_by_one.append(_certain(single, of_single))
        guess = right(_choices(single, of_single))
        by_one += [] if guess is None else [guess]
    return SecretExposure(
        secret,
        known,
        _certain(bounds, groups),
        certain_at_most(bounds, groups),
        max(certain_by_one),
        {
            "margin": max(totals.values(), default=None),
            "one table": max(by_one, default=None),
            "population": right(_modes(population, secret, known)),
            "all tables": right(_choices(bounds, groups)),
        },
    )


def _modes(
    population: Mapping[str, Sequence[Value]] | None, secret: str, known: Sequence[str]
) -> dict[Key, Value] | None:
    """Return the commonest secret among other people, by what is known."""
    if population is None:
        return None
    counts: dict[Key, dict[Value, int]] = {}
    for key, value in zip(
        zip(*(population[name] for name in known), strict=True), population[secret], strict=True
    ):
        of_key = counts.setdefault(key, {})
        of_key[value] = of_key.get(value, 0) + 1
    return {key: max(of_key, key=lambda value: of_key[value]) for key, of_key in counts.items()}
