"""Families of releases: the same study for each state, for each year, for each of several files.

Every part of a family is a release of its own: the adversary knows to which part the person belongs, and attacks that
part with every set of quasi-identifiers. What is kept of a part are aggregates: per target (re-identification, and each
secret) and number of quasi-identifiers, the set with the highest additive leakage. Side by side they tell which part
leaks most and least, how that changed, and whether it goes with the number of records or with the entropy of the secret
(Gonze et al. 2025, section 4.3, do so for the 27 states of Brazil over five years).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from decimal import Decimal
from fractions import Fraction
from itertools import pairwise
from math import fsum, log2
from statistics import StatisticsError, correlation
from types import MappingProxyType
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from glasshouse.arrays import Integers
from glasshouse.errors import BudgetError, DataError, StudyError
from glasshouse.language import marked, printable, quoted, text, translated, unknown_name
from glasshouse.microdata.attack_kernels import record_weights, value_weights
from glasshouse.microdata.influence import best_subsets
from glasshouse.microdata.lattice import Sweep, sweep
from glasshouse.microdata.leakage import MEASURE_FIELDS, Attack, Leakage, missing_entry, treatment
from glasshouse.progress import OnProgress, Progress
from glasshouse.table import EncodedTable, Role, Step
from glasshouse.table.encode import NUMBER
from glasshouse.table.generalised import without_suppressed
from glasshouse.table.partition import Partition

MOST_PARTS = 10_000
"""A column with more values than this does not tell parts apart: it names people."""
LEAST_PARTS = 3
"""Over fewer parts than this a correlation says nothing: two points are always on a line."""


@dataclass(frozen=True)
class Best:
    """The most revealing set of so many quasi-identifiers in one part."""

    sensitive: str | None
    """The secret, or None when the adversary re-identifies."""
    size: int
    """How many quasi-identifiers she knows."""
    quasi_identifiers: tuple[str, ...]
    """Which ones."""
    leakage: Leakage
    """The probability that her best single guess is right, before and after."""

    def to_dict(self) -> dict[str, Any]:
        """Return it as plain values; probabilities as floats of the exact ratios."""
        known = {"size": self.size, "quasi_identifiers": list(self.quasi_identifiers)}
        return known | self.leakage.to_dict()


@dataclass(frozen=True)
class FamilyPart:
    """One release of a family, in aggregates."""

    name: str
    """What tells it from the others: the state, the year, the file."""
    records: int
    """The number of records."""
    best: tuple[Best, ...]
    """Re-identification first, then each secret; within each, by number of quasi-identifiers."""
    entropy: Mapping[str | None, float]
    """The Shannon entropy of each secret before the attack, in bits; None: of whose record it is."""
    missing: Mapping[str, int] = field(default_factory=dict)
    """By secret, in how many records it is missing, if in any: they are left out of what is inferred about it."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "entropy", MappingProxyType(dict(self.entropy)))
        object.__setattr__(self, "missing", MappingProxyType(dict(self.missing)))

    def known(self, sensitive: str | None) -> int:
        """Return of how many records a secret is known; None: of all, as where people are named."""
        return self.records - (0 if sensitive is None else self.missing.get(sensitive, 0))

    def of(self, sensitive: str | None) -> tuple[Best, ...]:
        """Return the best sets against one target, by number of quasi-identifiers."""
        return tuple(best for best in self.best if best.sensitive == sensitive)


@dataclass(frozen=True)
class FamilyCell:
    """One figure of a part, beside those of the others.

    Parts with the same figure stand out together; where all parts have the same, none does.
    """

    value: Fraction
    """The figure."""
    highest: bool
    """Whether no part has a higher one."""
    lowest: bool
    """Whether no part has a lower one."""


@dataclass(frozen=True)
class FamilyRow:
    """One part in the table of a family."""

    part: str
    """Its name."""
    records: int
    """The number of records,"""
    known: int
    """and of those of which the secret is known: the chances are among these."""
    prior: FamilyCell
    """The adversary's success before she learns anything."""
    additive: tuple[FamilyCell, ...]
    """The highest additive leakage, per number of quasi-identifiers."""


@dataclass(frozen=True)
class FamilyTable:
    """What the parts leak about one target, side by side, as in Table 2 of Gonze et al. 2025."""

    sensitive: str | None
    """The secret, or None when the adversary re-identifies."""
    sizes: tuple[int, ...]
    """The numbers of quasi-identifiers: the columns of additive leakage."""
    rows: tuple[FamilyRow, ...]
    """A row per part, in their order."""


@dataclass(frozen=True)
class FamilyChange:
    """How the leakage about one target moved through a family in time."""

    sensitive: str | None
    """The secret, or None when the adversary re-identifies."""
    size: int
    """How many quasi-identifiers she knows."""
    first: str
    """The first part,"""
    last: str
    """and the last."""
    before: Fraction
    """The highest additive leakage in the first part,"""
    after: Fraction
    """and in the last."""
    step_from: str
    """The part before the largest step, up or down; of several, before the first."""
    step_to: str
    """The part after it."""
    step: Fraction
    """The additive leakage after that step less the one before."""

    @property
    def difference(self) -> Fraction:
        """How much more leaks in the last part than in the first; negative where it is less."""
        return self.after - self.before

    def to_dict(self) -> dict[str, Any]:
        """Return it as plain values."""
        return {
            "sensitive": self.sensitive,
            "size": self.size,
            "first": self.first,
            "last": self.last,
            "before": float(self.before),
            "after": float(self.after),
            "difference": float(self.difference),
            "step_from": self.step_from,
            "step_to": self.step_to,
            "step": float(self.step),
        }


@dataclass(frozen=True)
class Correlation:
    """Whether the parts that leak more are the larger ones, or those whose secret is more uncertain.

    Pearson's coefficient over the parts, from −1 to 1; None with fewer than three parts, or where one side is the same
    in all of them.
    """

    sensitive: str | None
    """The secret, or None when the adversary re-identifies."""
    size: int
    """How many quasi-identifiers she knows."""
    records: float | None
    """Of the highest additive leakage with the number of records."""
    entropy: float | None
    """Of the highest additive leakage with the Shannon entropy of the secret."""

    def to_dict(self) -> dict[str, Any]:
        """Return it as plain values."""
        return asdict(self)


@dataclass(frozen=True)
class Family:
    """The same study of several releases."""

    quasi_identifiers: tuple[str, ...]
    """What an adversary can know of a person, in every part."""
    sensitive: tuple[str, ...]
    """The secrets."""
    ordered: bool
    """Whether the parts are points in time, in their order."""
    parts: tuple[FamilyPart, ...]
    """The parts, in the order given."""
    by: str | None = None
    """The column whose values the parts are; None: files."""
    whole: Mapping[str, tuple[Attack, ...]] = field(default_factory=dict)
    """What is achieved with all that can be known: of each release by its name, or, under no name, of the one whose
    parts these are, by who also knows the part."""
    steps: tuple[Step, ...] = ()
    """What was left out of the datasets."""
    with_suppressed: Family | None = field(default=None, compare=False, repr=False)
    """The same with the suppressed records that were left out; None: none were."""

    @property
    def records(self) -> int:
        """The number of records of all parts."""
        return sum(part.records for part in self.parts)

    @property
    def missing(self) -> dict[str, int]:
        """By secret, in how many records of all parts it is missing, if in any."""
        left_out = {
            name: sum(part.missing.get(name, 0) for part in self.parts) for name in self.sensitive
        }
        return {secret: records for secret, records in left_out.items() if records}

    @property
    def targets(self) -> tuple[str | None, ...]:
        """What the adversary is after: None (re-identification), then each secret."""
        return (None, *self.sensitive)

    @property
    def sizes(self) -> tuple[int, ...]:
        """The numbers of quasi-identifiers that were attacked with, ascending."""
        return tuple(sorted({best.size for part in self.parts[:1] for best in part.best}))

    def table(self, sensitive: str | None = None) -> FamilyTable:
        """Return the parts side by side: priors and highest additive leakages, and which stand out.

        Args:
            sensitive: The secret; by default re-identification.

        Raises:
            StudyError: The family has no such secret.
        """
        leakages = self._leakages(sensitive)
        priors = _cells([row[0].prior for row in leakages])
        columns = [
            _cells([leakage.additive for leakage in same]) for same in zip(*leakages, strict=True)
        ]
        rows = tuple(
            FamilyRow(part.name, part.records, part.known(sensitive), prior, additive)
            for part, prior, additive in zip(
                self.parts, priors, zip(*columns, strict=True), strict=True
            )
        )
        return FamilyTable(sensitive, self.sizes, rows)

    def change(self, sensitive: str | None = None) -> tuple[FamilyChange, ...]:
        """Return, per number of quasi-identifiers, how the highest additive leakage moved over time.

        Args:
            sensitive: The secret; by default re-identification.

        Raises:
            StudyError: The parts are not points in time, or there is only one, or the family has no such secret.
        """
        if not self.ordered:
            raise StudyError(
                "the parts of this family are not points in time; say ordered=True if they are"
            )
        if len(self.parts) < 2:
            raise StudyError("a change over time needs at least two parts; give more")
        names = [part.name for part in self.parts]
        changes = []
        for size, same in zip(
            self.sizes, zip(*self._leakages(sensitive), strict=True), strict=True
        ):
            moved = [leakage.additive for leakage in same]
            steps = [after - before for before, after in pairwise(moved)]
            largest = max(range(len(steps)), key=lambda i: abs(steps[i]))
            changes.append(
                FamilyChange(
                    sensitive, size, names[0], names[-1], moved[0], moved[-1],
                    names[largest], names[largest + 1], steps[largest],
                )
            )  # fmt: skip
        return tuple(changes)

    def correlations(self, sensitive: str | None = None) -> tuple[Correlation, ...]:
        """Return, per number of quasi-identifiers, what the highest additive leakage goes with over the parts.

        Args:
            sensitive: The secret; by default re-identification.

        Raises:
            StudyError: The family has no such secret.
        """
        leakages = self._leakages(sensitive)
        if not self.parts:
            return tuple(Correlation(sensitive, size, None, None) for size in self.sizes)
        records = [part.known(sensitive) for part in self.parts]
        entropies = [part.entropy[sensitive] for part in self.parts]
        columns = [[leakage.additive for leakage in same] for same in zip(*leakages, strict=True)]
        return tuple(
            Correlation(sensitive, size, pearson(column, records), pearson(column, entropies))
            for size, column in zip(self.sizes, columns, strict=True)
        )

    def to_dict(self) -> dict[str, Any]:
        """Return everything as plain values: the parts, the correlations and, of a family in time, the changes."""
        timed = self.ordered and len(self.parts) > 1
        return {
            "records": self.records,
            **missing_entry(self.missing),
            **treatment(self.steps),
            "quasi_identifiers": list(self.quasi_identifiers),
            "sensitive": list(self.sensitive),
            "ordered": self.ordered,
            "parts": [
                {
                    "part": part.name,
                    "records": part.records,
                    **missing_entry(part.missing),
                    "targets": [
                        {
                            "sensitive": target,
                            "entropy": part.entropy[target],
                            "best": [best.to_dict() for best in part.of(target)],
                        }
                        for target in self.targets
                    ],
                }
                for part in self.parts
            ],
            "correlations": [
                correlation.to_dict()
                for target in self.targets
                for correlation in self.correlations(target)
            ],
            "changes": [
                change.to_dict()
                for target in (self.targets if timed else ())
                for change in self.change(target)
            ],
        }

    def to_frame(self) -> pa.Table:
        """Return one row per part, target and number of quasi-identifiers."""
        rows: list[dict[str, Any]] = []
        tables = {target: self.table(target) for target in self.targets}
        for number, part in enumerate(self.parts):
            for target in self.targets:
                cells = tables[target].rows[number].additive
                rows += [
                    best.to_dict()
                    | {
                        "part": part.name,
                        "records": part.known(target),
                        "entropy": part.entropy[target],
                        "sensitive": target,
                        "highest": cell.highest,
                        "lowest": cell.lowest,
                    }
                    for best, cell in zip(part.of(target), cells, strict=True)
                ]
        return pa.Table.from_pylist(rows, schema=_SCHEMA)

    def _leakages(self, sensitive: str | None) -> list[list[Leakage]]:
        """Return, per part, the leakages about a target by number of quasi-identifiers."""
        if sensitive is not None and not self.sensitive:
            raise StudyError(
                'secret "{secret}" is not in {where}; it has none',
                secret=printable(sensitive),
                where=text("the family"),
            )
        if sensitive not in self.targets:
            raise StudyError(
                unknown_name("secret", str(sensitive), text("the family"), self.sensitive)
            )
        return [[best.leakage for best in part.of(sensitive)] for part in self.parts]


def parts_by(table: EncodedTable, column: str) -> Iterator[tuple[str, EncodedTable]]:
    """Divide a table by the values of a column: one release for each of them.

    The records are laid out value by value in one counting sort, and a part is made when it is asked for, so that one
    part at a time is in memory. Its dictionaries hold its own values only, in order of first appearance: a part is the
    table that reading its records from a file of their own would give.

    Args:
        table: The release.
        column: A column that plays no part in the attack.

    Returns:
        Each value and its part, named after both, numbers first and in their order, then text, then missing.

    Raises:
        DataError: There is no such column.
        StudyError: The column plays a part in the attack.
        BudgetError: It has too many values.

    >>> import pyarrow as pa
    >>> from glasshouse.table import read
    >>> people = read(pa.table({"year": [10, 9, 10], "age": [30, 30, 40]}), name="people")
    >>> for value, part in parts_by(people.with_roles(quasi_identifiers=["age"]), "year"):
    ...     print(value, part.name, part.records, part.column("age").values.to_pylist())
    9 people: 9 1 ['30']
    10 people: 10 2 ['30', '40']
    """
    criterion = table.column(column)
    sizes = value_weights(criterion.codes, np.empty(0, np.int64), criterion.cardinality)
    ordered = part_values(table, column, criterion.values, sizes)
    laid_out = Partition(criterion.codes.astype(np.uint32), sizes)
    return _parts(table, ordered, laid_out.order, laid_out.starts)


def part_values(
    table: EncodedTable, column: str, values: pa.Array, sizes: Integers
) -> list[tuple[str, int]]:
    """Return the values of a column that tells parts apart, and their codes, in the order of the parts.

    Args:
        table: The release, for its roles.
        column: The column.
        values: What its codes stand for.
        sizes: Per code, how many records have it.

    Raises:
        StudyError: The column plays a part in the attack.
        BudgetError: It has too many values.
    """
    role = table.roles.get(column, Role.IGNORED)
    if role is not Role.IGNORED:
        raise StudyError(
            'column "{column}" is {role}; parts are told apart by a column that has no other role: '
            "choose another, or take that role away",
            column=printable(column),
            role=translated(role),
        )
    present = np.flatnonzero(sizes).tolist()
    if len(present) > MOST_PARTS:
        raise BudgetError(
            'column "{column}" of {table} has {values} values; a family takes at most {most} parts: choose a '
            "coarser column",
            column=printable(column),
            table=table.name,
            values=len(present),
            most=MOST_PARTS,
        )
    there = values.take(pa.array(present, pa.int64())).to_pylist()
    return sorted(zip(there, present, strict=True), key=lambda pair: _natural_order(pair[0]))


def family(
    parts: Iterable[tuple[str, EncodedTable]],
    *,
    subsets: str | Sequence[Sequence[str]] = "all",
    ordered: bool = False,
    threads: int | None = None,
    memory: int | None = None,
    on_progress: OnProgress | None = None,
    drop_suppressed: bool = True,
) -> Family:
    """Make the same study of several releases, one after the other.

    Args:
        parts: A name and a table for each; all with the same quasi-identifiers and sensitive attributes. They are asked
            for one by one and let go of, so that an iterator (`parts_by`, or files read on the way) needs the memory of
            one part.
        subsets: The sets of quasi-identifiers to attack with: ``"all"``, ``"max:K"`` or a list, as for `sweep`.
        ordered: Whether the parts are points in time, in their order.
        threads: How many threads share the work on a part; by default all processors.
        memory: How many bytes the whole process may take while a part is swept.
        on_progress: Called after each part with the number of records swept so far, and the name of the part.
        drop_suppressed: Whether records that hold ``*`` in every quasi-identifier, beside others of their part that do
            not, are left out: they are suppressed, and in no class.

    Raises:
        DataError: A part has no records.
        StudyError: There are no parts, or two of one name, or their roles differ.

    >>> import pyarrow as pa
    >>> from glasshouse.table import read
    >>> people = pa.table({"state": ["A", "A", "B", "B"], "age": [30, 40, 30, 30], "ill": ["x", "y", "x", "y"]})
    >>> table = read(people).with_roles(quasi_identifiers=["age"], sensitive=["ill"])
    >>> for row in family(parts_by(table, "state")).table("ill").rows:
    ...     print(row.part, row.prior.value, row.additive[0].value, row.additive[0].highest)
    A 1/2 1/2 True
    B 1/2 0 False
    """
    finished: list[FamilyPart] = []
    names: set[str] = set()
    first: EncodedTable | None = None
    for name, table in parts:
        first = first or replace(table, columns={})  # its roles, without holding on to its records
        _check_part(name, table, first, names)
        names.add(name)
        table = without_suppressed(table) if drop_suppressed else table
        swept = sweep(table, subsets=subsets, threads=threads, memory=memory, drop_suppressed=False)
        finished.append(family_part(name, swept, _entropies(table)))
        del table, swept  # the next part is read without this one in memory
        if on_progress:
            records = sum(part.records for part in finished)
            on_progress(Progress("sweeping", records, note=name))
    if first is None:
        raise StudyError("a family needs at least one part; give a table for each")
    return Family(first.quasi_identifiers, first.sensitive, ordered, tuple(finished))


def pearson(first: Sequence[Fraction | float], second: Sequence[Fraction | float]) -> float | None:
    """Return Pearson's correlation of two series; None where it says nothing or is not defined.

    With x̄ and ȳ the means, r = Σ (x − x̄)(y − ȳ) / √(Σ (x − x̄)² · Σ (y − ȳ)²). It is not defined where one side is
    constant, and with two points it is always −1 or 1.

    >>> pearson([1, 2, 3], [5, 7, 9]), pearson([1, 2, 3], [4, 4, 4]), pearson([1, 2], [1, 2])
    (1.0, None, None)
    """
    x, y = [float(number) for number in first], [float(number) for number in second]
    if len(x) < LEAST_PARTS or len(set(x)) == 1 or len(set(y)) == 1:
        return None
    try:
        return min(1.0, max(-1.0, correlation(x, y)))
    except StatisticsError:  # the deviations are too small to be squared
        return None


def _natural_order(value: str) -> tuple[Any, ...]:
    stripped = value.strip()
    if NUMBER.fullmatch(stripped):
        return 0, Decimal(stripped), value
    return (1, value) if stripped else (2, value)


def _parts(
    table: EncodedTable,
    values: Sequence[tuple[str, int]],
    order: NDArray[np.uint32],
    starts: Integers,
) -> Iterator[tuple[str, EncodedTable]]:
    spare = table.spare_codes()
    for value, code in values:
        part = table.of_records(order[starts[code] : starts[code + 1]], spare=spare)
        yield value, replace(part, name=f"{table.name}: {value}")


def _check_part(name: str, table: EncodedTable, first: EncodedTable, names: set[str]) -> None:
    if name in names:
        raise StudyError(
            "two parts are called {name}; give each a name of its own", name=quoted([name])
        )
    if table.records == 0:
        raise DataError("part {name} has no records; leave it out", name=quoted([name]))
    for kind, columns, expected in (
        (marked("quasi-identifiers"), table.quasi_identifiers, first.quasi_identifiers),
        (marked("sensitive attributes"), table.sensitive, first.sensitive),
        (marked("record weights"), _one(table.prior_weight), _one(first.prior_weight)),
    ):
        if columns != expected:
            raise StudyError(_other_roles(translated(kind), name, columns, first.name, expected))


def _other_roles(
    kind: str, part: str, own: Sequence[str], first: str, expected: Sequence[str]
) -> str:
    """Say that a part has other columns in a role than the first one; one of both may have none."""
    words = {"kind": kind, "part": quoted([part]), "first": first}
    if not own:
        return text(
            "the parts of a family have the same roles, but the {kind} of {part} are none, those of {first} {expected}",
            expected=quoted(expected),
            **words,
        )
    if not expected:
        return text(
            "the parts of a family have the same roles, but the {kind} of {part} are {own}, those of {first} none",
            own=quoted(own),
            **words,
        )
    return text(
        "the parts of a family have the same roles, but the {kind} of {part} are {own}, those of {first} {expected}",
        own=quoted(own),
        expected=quoted(expected),
        **words,
    )


def _one(name: str | None) -> tuple[str, ...]:
    return () if name is None else (name,)


def family_part(name: str, swept: Sweep, entropies: Mapping[str | None, float]) -> FamilyPart:
    """Return what is kept of a part that was swept.

    Args:
        name: What it is called.
        swept: The sums of its subsets.
        entropies: That of whose record it is, and of each secret, by the adversary's prior.
    """
    best = tuple(
        Best(
            subset.sensitive,
            len(subset.quasi_identifiers),
            subset.quasi_identifiers,
            subset.leakage,
        )
        for subset in best_subsets(swept).subsets
    )
    missing = {secret: swept.records - known.records for secret, known in swept.known.items()}
    return FamilyPart(name, swept.records, best, entropies, missing)


def _entropies(table: EncodedTable) -> dict[str | None, float]:
    """Return the entropy of whose record it is, and of each secret, by the adversary's prior."""
    weights = record_weights(table, table.prior_weight)
    entropies: dict[str | None, float] = {
        None: entropy(weights.each) if weights.each.size else log2(table.records)
    }
    for name in table.sensitive:
        known = table.with_known([name])
        column, each = known.column(name), record_weights(known, known.prior_weight).each
        entropies[name] = entropy(value_weights(column.codes, each, column.cardinality))
    return entropies


def entropy(weights: Integers) -> float:
    """Return Σ p·log₂(1/p) of the distribution that some weights are in proportion to.

    Equal distributions get the same float, whatever the order of their values and the sum of their weights; else a
    correlation would take the difference in rounding for a difference between parts.
    """
    total = int(weights.sum())
    distinct, times = np.unique(weights[weights > 0], return_counts=True)
    return fsum(
        (weight * count) / total * log2(total / weight)
        for weight, count in zip(distinct.tolist(), times.tolist(), strict=True)
    )


def _cells(values: Sequence[Fraction]) -> list[FamilyCell]:
    if not values:
        return []
    highest, lowest = max(values), min(values)
    told_apart = highest != lowest
    return [
        FamilyCell(value, told_apart and value == highest, told_apart and value == lowest)
        for value in values
    ]


_SCHEMA = pa.schema(
    [
        ("part", pa.string()),
        ("records", pa.int64()),
        ("entropy", pa.float64()),
        ("sensitive", pa.string()),
        ("size", pa.int64()),
        ("quasi_identifiers", pa.list_(pa.string())),
        *MEASURE_FIELDS,
        ("highest", pa.bool_()),
        ("lowest", pa.bool_()),
    ]
)
