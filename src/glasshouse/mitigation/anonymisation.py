"""What a protection gives, what it costs and what it does not stop: the outcome of ``anonymise``.

A table is recoded (`recode`, `recode_locally`, `mondrian`) or its records are put into groups (`anatomise`); then the
release is measured as its original is, by the same attacks with all quasi-identifiers (`glasshouse.microdata`), and by
the k, l and t that it has whatever was promised: the strictest criteria that all its classes meet (`attained`). An
`Anonymisation` holds the figures of both, and no record of either.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass, replace
from fractions import Fraction
from types import MappingProxyType
from typing import Any
from weakref import ref

import numpy as np
import pyarrow as pa

from glasshouse.arrays import Flags
from glasshouse.errors import BudgetError, StudyError
from glasshouse.microdata import Assessment, Attack, assess
from glasshouse.microdata.households import household_risks
from glasshouse.microdata.neighbourhoods import matched_attacks
from glasshouse.microdata.survey_weights import SurveyWeights, WeightedClasses
from glasshouse.microdata.uniqueness import Estimate
from glasshouse.mitigation.anatomy import Anatomy, assess_by_group
from glasshouse.mitigation.attainment import Attained, attained
from glasshouse.mitigation.criteria import (
    Criterion,
    EstimatedUniques,
    TableCriterion,
    population_of,
)
from glasshouse.mitigation.distinct_rows import DistinctRows, beside_population, distinct_rows
from glasshouse.mitigation.hierarchies import Hierarchy, example_row
from glasshouse.mitigation.information_loss import (
    Quality,
    Recoding,
    detail_lost,
    quality,
    weighted_classes,
)
from glasshouse.mitigation.utility import ChangedColumn, ColumnCosts, cut_off, replaced
from glasshouse.study.anonymise import GROUP
from glasshouse.table import EncodedColumn, EncodedTable, Step
from glasshouse.table.codes import smallest_unsigned
from glasshouse.table.generalised import is_suppressed, without
from glasshouse.table.partition import refined


@dataclass(frozen=True)
class UsedHierarchy:
    """What is told of a hierarchy that a recoding used."""

    column: str
    """The attribute."""
    suggested: bool
    """Whether it was made automatically, and is to be reviewed."""
    height: int
    """Its number of levels, the values themselves and the root among them."""
    mixed: bool = False
    """Whether most of its values are numbers, and not all."""
    rule: str = ""
    """The rule that made it, as it is typed; empty: it is from a file."""
    example: tuple[str, ...] = ()
    """A made-up value, and what it becomes at each level; empty where none shows it."""

    @classmethod
    def of(cls, hierarchy: Hierarchy, column: EncodedColumn) -> UsedHierarchy:
        """Return what is told of the hierarchy of a column; of the last ones it is remembered."""
        kept = _TOLD.get(id(hierarchy))
        if kept is not None and kept[0]() is hierarchy and kept[1]() is column:
            return kept[2]
        told = cls(
            hierarchy.column,
            hierarchy.suggested,
            hierarchy.height,
            hierarchy.mixed,
            hierarchy.rule,
            example_row(hierarchy, column),
        )
        if len(_TOLD) >= _MOST_TOLD:
            _TOLD.clear()
        _TOLD[id(hierarchy)] = (ref(hierarchy), ref(column), told)
        return told

    def to_dict(self) -> dict[str, Any]:
        """Return it as plain values."""
        return {
            "column": self.column,
            "suggested": self.suggested,
            "rule": self.rule or None,
            "levels": self.height,
            "example": list(self.example),
        }


_MOST_TOLD = 64
_TOLD: dict[int, tuple[ref[Hierarchy], ref[EncodedColumn], UsedHierarchy]] = {}
"""What is told of hierarchies that many versions of one release use."""


@dataclass(frozen=True)
class Rung:
    """A step from the original to the release, with all those before it: what is lost so far, and what is learned."""

    column: str | None
    """The column that is told in less detail from here on; None: the original, or where records are suppressed."""
    suppressed: int
    """How many records are suppressed so far."""
    loss: float
    """What is lost so far by the Loss metric."""
    detail_lost: float
    """The share of detail that is lost so far."""
    assessment: Assessment
    """What an adversary learns with all quasi-identifiers."""

    def to_dict(self) -> dict[str, Any]:
        """Return the step as plain values: of each attack, who is known for certain and how often a guess is right."""
        return {
            "column": self.column,
            "suppressed": self.suppressed,
            "loss": self.loss,
            "detail_lost": self.detail_lost,
            "attacks": [
                {
                    "sensitive": attack.sensitive,
                    "certain": float(attack.deterministic.posterior),
                    "guess": float(attack.probabilistic.posterior),
                }
                for attack in self.assessment.attacks
            ],
        }


@dataclass(frozen=True)
class Anonymisation:
    """A protected release in figures, beside its original."""

    dataset: str
    """The name of the table that was protected."""
    method: str
    """What is promised: ``k-anonymity``, ``l-diversity``, ``t-closeness``, ``risk`` or ``anatomy``; or what was done:
    ``microaggregation`` or ``perturbation``."""
    parameters: Mapping[str, Any]
    """How it was to be protected, as plain values by the names of the options; where it is recoded, among them the
    ``recoding``, the ``objective`` and the ``importance`` of attributes; and which further columns to ``keep``."""
    quasi_identifiers: tuple[str, ...]
    """The columns that an adversary can know."""
    sensitive: tuple[str, ...]
    """The columns that she wants to infer."""
    records: int
    """The number of records, suppressed ones included."""
    classes: int
    """The number of released classes, or of groups."""
    attained: Attained
    """Which k, l and t the release itself has."""
    before: Assessment
    """What an adversary learns from the original with all quasi-identifiers."""
    after: Assessment
    """What she learns from the release; suppressed records are left out of it."""
    suppressed: int = 0
    """The number of suppressed records: in the file with nothing but ``*`` of what can be known, or dropped from it."""
    judged: tuple[Assessment, ...] = ()
    """What she learns besides from the file as it is: where it holds records with nothing but ``*`` of what can be
    known, they are a class of their own, in which whoever fits no other class must be. The worst of all ways counts."""
    matched: Assessment | None = None
    """What she learns who takes a blank cell for any value, as `assess` with ``missing_as`` matches; it is judged, too.
    None: no record that is not suppressed has a blank cell in a column that others tell, or it is too much to count."""
    too_blank: bool = False
    """Whether there are such records, and their blank cells stand in too many ways to match all with all."""
    heights: Mapping[str, int] | None = None
    """Per quasi-identifier, the level of its hierarchy that is released; None where records differ, or by groups."""
    loss: float | None = None
    """What is lost by the Loss metric, whatever was made least; of means, of the squared differences of numbers; None
    where neither is."""
    detail_lost: float = 0.0
    """The share of detail that is lost, measured alike for every method: see `detail_lost`."""
    optimal: bool | None = None
    """Whether it is proved that no such recoding is better; None where nothing was recoded."""
    bound: float | None = None
    """What the objective is proved to be at least, where the search of a global recoding was stopped early."""
    objective_value: float | None = None
    """What was made least, in its own measure; None where nothing was recoded."""
    quality: Quality | None = None
    """What is left of the data, where it was recoded."""
    hierarchies: tuple[UsedHierarchy, ...] = ()
    """The hierarchies that were used."""
    left_out: tuple[str, ...] = ()
    """The columns of the dataset that are not released."""
    steps: tuple[Step, ...] = ()
    """What was left out of the dataset before it was protected."""
    changed: tuple[ChangedColumn, ...] = ()
    """The columns whose values were changed by a rule."""
    people: PeopleBehind | None = None
    """How many people of the population fit the released classes, where a register of them is given, or the release
    is a sample of the table."""
    estimate: Estimate | None = None
    """How many people are estimated to be alone in the population, where there is no register."""
    weighted: WeightedClasses | None = None
    """How many people the released classes stand for, where records have survey weights."""
    ladder: tuple[Rung, ...] = ()
    """The way from the original to the release, step by step; none where nothing was recoded, or nobody asked."""
    costs: ColumnCosts | None = None
    """What became of each column; None where nothing was recoded, or nobody asked."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "parameters", MappingProxyType(dict(self.parameters)))
        if self.heights is not None:
            object.__setattr__(self, "heights", MappingProxyType(dict(self.heights)))

    @classmethod
    def of_recoding(
        cls,
        table: EncodedTable,
        recoding: Recoding,
        hierarchies: Mapping[str, Hierarchy],
        *,
        method: str,
        parameters: Mapping[str, Any],
        left_out: Sequence[str] = (),
        steps: Sequence[Step] = (),
        weights: SurveyWeights | None = None,
        rows: DistinctRows | None = None,
        before: Assessment | None = None,
    ) -> Anonymisation:
        """Measure a recoded table.

        Args:
            table: The records before.
            recoding: How they were recoded.
            hierarchies: The hierarchies that were used.
            method: What is promised.
            parameters: How it was to be protected; see the field.
            left_out: The columns of the dataset that are not released.
            steps: What was left out of the dataset before.
            weights: How many people each record stands for, where the loss is to count them.
            rows: The distinct combinations of the records before, where they are counted already.
            before: What can be learned from them, where it is measured already.
        """
        release = recoding.release(table)
        after = assess(without(release, recoding.suppressed), drop_suppressed=False)
        dropped = bool(parameters.get("drop_suppressed"))
        each = np.ones(table.records) if weights is None else weights.each
        gone = float(each[recoding.suppressed].sum() / each.sum())
        remaining = quality(table, recoding, hierarchies, weights=weights, rows=rows)
        matched, too_blank = _matched(without(release, recoding.suppressed))
        return cls(
            dataset=table.name,
            method=method,
            parameters=parameters,
            quasi_identifiers=columns_of(table),
            sensitive=table.sensitive,
            records=table.records,
            classes=recoding.classes,
            attained=attained(release, suppressed=recoding.suppressed),
            before=before or assess(table, drop_suppressed=False),
            after=after,
            suppressed=int(np.count_nonzero(recoding.suppressed)),
            judged=() if dropped else _judged(release, recoding.suppressed),
            matched=matched,
            too_blank=too_blank,
            heights=recoding.heights,
            loss=remaining.loss,
            detail_lost=detail_lost(table, remaining, gone if dropped else 0.0),
            optimal=recoding.optimal,
            bound=recoding.bound if parameters.get("recoding", "global") == "global" else None,
            objective_value=recoding.loss,
            quality=remaining,
            hierarchies=tuple(
                UsedHierarchy.of(hierarchy, table.column(name))
                for name, hierarchy in hierarchies.items()
            ),
            left_out=tuple(left_out),
            steps=tuple(steps),
            weighted=None if weights is None else weighted_classes(recoding, weights),
        )

    @classmethod
    def of_groups(
        cls,
        table: EncodedTable,
        release: EncodedTable,
        anatomy: Anatomy,
        *,
        parameters: Mapping[str, Any],
        left_out: Sequence[str] = (),
        steps: Sequence[Step] = (),
    ) -> Anonymisation:
        """Measure a table whose records were put into groups; nothing of it is recoded.

        Args:
            table: The records before.
            release: What is published of them, with a column `GROUP`.
            anatomy: The groups.
            parameters: How it was to be protected.
            left_out: The columns of the dataset that are not released.
            steps: What was left out of the dataset before.
        """
        return cls(
            dataset=table.name,
            method="anatomy",
            parameters=parameters,
            quasi_identifiers=columns_of(table),
            sensitive=table.sensitive,
            records=table.records,
            classes=anatomy.groups,
            attained=attained(release, quasi_identifiers=[GROUP], sensitive=table.sensitive),
            before=assess(table, drop_suppressed=False),
            after=assess_by_group(release, GROUP),
            detail_lost=cut_off(table, release, GROUP),
            left_out=tuple(left_out),
            steps=tuple(steps),
        )

    @classmethod
    def of_changes(
        cls,
        table: EncodedTable,
        release: EncodedTable,
        after: Assessment,
        *,
        method: str,
        parameters: Mapping[str, Any],
        left_out: Sequence[str] = (),
        steps: Sequence[Step] = (),
    ) -> Anonymisation:
        """Measure a table whose values became means or changed at random, or whose records were sampled.

        Args:
            table: The records before.
            release: What is published of them.
            after: What an adversary learns from it, who knows how it was changed.
            method: ``microaggregation`` or ``perturbation``.
            parameters: How it was to be protected.
            left_out: The columns of the dataset that are not released.
            steps: What was left out of the dataset before.
        """
        reached = attained(release, suppressed=np.zeros(release.records, np.bool_))
        return cls(
            dataset=table.name,
            method=method,
            parameters=parameters,
            quasi_identifiers=columns_of(table),
            sensitive=table.sensitive,
            records=table.records,
            classes=reached.classes,
            attained=reached,
            before=assess(table, drop_suppressed=False),
            after=after,
            detail_lost=replaced(table, release),
            left_out=tuple(left_out),
            steps=tuple(steps),
        )

    @property
    def pairs(self) -> list[tuple[Attack, Attack]]:
        """Each attack on the original, and the same on the release; naming first."""
        return list(zip(self.before.attacks, self.after.attacks, strict=True))

    @property
    def retained(self) -> tuple[Assessment, ...]:
        """What she learns of records that are not suppressed: by what they say, and by taking blanks for any value."""
        return (self.after, *filter(None, [self.matched]))

    @property
    def drops(self) -> bool:
        """Whether suppressed records are not in the file."""
        return bool(self.parameters.get("drop_suppressed"))

    @property
    def read(self) -> int:
        """The number of records of the dataset, those included that were left out before it was protected."""
        return self.records + sum(self.left_out_before.values())

    @property
    def left_out_before(self) -> dict[str, int]:
        """By reason, how many records were left out before it was protected."""
        counts: dict[str, int] = {}
        for step in self.steps:
            in_all = any(one.column is None for one in self.steps if one.what == step.what)
            if step.left_out and (step.column is None or not in_all):
                counts[step.what] = counts.get(step.what, 0) + step.left_out
        return counts

    @property
    def released(self) -> int:
        """The number of records in the file."""
        return self.after.records + (0 if self.drops else self.suppressed)

    @property
    def grouped(self) -> bool:
        """Whether it is by Anatomy: the sensitive attribute is published apart, and nothing is recoded."""
        return self.method == "anatomy"

    @property
    def recoded(self) -> bool:
        """Whether its quasi-identifiers were generalised."""
        return self.method not in ("anatomy", "microaggregation", "perturbation")

    @property
    def suggested(self) -> list[str]:
        """The columns whose hierarchies were made automatically."""
        return [hierarchy.column for hierarchy in self.hierarchies if hierarchy.suggested]

    def to_dict(self) -> dict[str, Any]:
        """Return the outcome as plain values: method, parameters, heights, suppressed, classes, loss, optimal."""
        content: dict[str, Any] = {
            "method": self.method,
            "parameters": dict(self.parameters),
            "heights": None if self.heights is None else dict(self.heights),
            "suppressed": self.suppressed,
            "classes": self.classes,
            "loss": self.loss,
            "detail_lost": self.detail_lost,
            "optimal": self.optimal,
        }
        if self.recoded:
            content["bound"] = self.bound
            objective = self.parameters.get("objective", "loss")
            if objective != "loss" or self.parameters.get("importance"):
                content["objective"] = self.objective_value
        if self.quality is not None:
            content["quality"] = self.quality.to_dict()
        content["attained"] = self.attained.to_dict()
        if self.changed:
            content["changed"] = [column.to_dict() for column in self.changed]
        if self.people is not None:
            content["population"] = self.people.to_dict()
        if self.estimate is not None:
            content["estimated_uniques"] = asdict(self.estimate)
        if self.weighted is not None:
            content["weighted"] = self.weighted.to_dict()
        content["suggested_hierarchies"] = self.suggested
        if self.hierarchies:
            content["hierarchies"] = [used.to_dict() for used in self.hierarchies]
        content["columns_left_out"] = list(self.left_out)
        if self.steps:
            content["treatment"] = [step.to_dict() for step in self.steps]
        content["before"] = [attack.to_dict() for attack in self.before.attacks]
        content["after"] = [attack.to_dict() for attack in self.after.attacks]
        if self.matched is not None:
            content["after_matching"] = [attack.to_dict() for attack in self.matched.attacks]
        if self.too_blank:
            content["after_matching"] = None
        if self.ladder:
            content["ladder"] = [rung.to_dict() for rung in self.ladder]
        if self.costs is not None:
            content["column_costs"] = self.costs.to_dict()
        content |= {"records_read": self.read, "records_released": self.released}
        return content

    def to_frame(self) -> pa.Table:
        """Return one row per attack, on the original and on the protected release."""
        frames = [
            frame.append_column("release", pa.array([name] * len(frame)))
            for name, frame in (
                ("original", self.before.to_frame()),
                ("protected", self.after.to_frame()),
            )
        ]
        return pa.concat_tables(frames)

    def manifest(self, *, release: str, hierarchies: Mapping[str, str]) -> dict[str, Any]:
        """Return what later commands must know of the release.

        Args:
            release: The name of its file.
            hierarchies: Per column, the fingerprint of the file of its hierarchy.
        """
        facts = [
            "method",
            "parameters",
            "heights",
            "suppressed",
            "classes",
            "loss",
            "detail_lost",
            "optimal",
        ]
        facts += [] if self.bound is None else ["bound"]
        content = self.to_dict()
        return {
            "release": release,
            "quasi_identifiers": list(self.quasi_identifiers),
            "sensitive": list(self.sensitive),
            **{name: content[name] for name in facts},
            "hierarchies": dict(hierarchies),
            "suggested_hierarchies": self.suggested,
            "group": GROUP if self.grouped else None,
            "shuffled": not self.parameters.get("keep_order", False),
        }


def columns_of(table: EncodedTable) -> tuple[str, ...]:
    """Return the columns that the quasi-identifiers of a table stand for."""
    return tuple(
        column.name for known in table.quasi_identifiers for column in table.columns_of(known)
    )


def with_ladder(
    outcome: Anonymisation,
    table: EncodedTable,
    recoding: Recoding,
    hierarchies: Mapping[str, Hierarchy],
    weights: SurveyWeights | None = None,
) -> Anonymisation:
    """Return an outcome with the way from its original to its release, each step measured as the two ends are.

    Column after column is recoded, the one that loses least first; last, records are suppressed. Until then, a record
    that will be has what its level has where all records are generalised alike, and its own value where they are not.

    Args:
        outcome: What came out.
        table: The records before.
        recoding: How they were recoded.
        hierarchies: The hierarchies that were used.
        weights: How many people each record stands for, where the loss is to count them.
    """
    recoded = {
        name: column
        for name in recoding.quasi_identifiers
        if (column := _unsuppressed(table.column(name), recoding, hierarchies[name])) is not None
    }
    detail = {} if outcome.quality is None else outcome.quality.attributes
    order = sorted(recoded, key=lambda name: -detail[name].granularity)
    rungs = [Rung(None, 0, 0.0, 0.0, outcome.before)]
    nobody = np.zeros(table.records, np.bool_)
    released = {name: table.column(name) for name in recoding.quasi_identifiers}
    for name in order if outcome.suppressed else order[:-1]:
        released[name] = recoded[name]
        step = replace(recoding, heights=None, released=released, suppressed=nobody)
        learned = assess(step.release(table), drop_suppressed=False)
        left = quality(table, step, hierarchies, weights=weights)
        rungs.append(Rung(name, 0, left.loss, detail_lost(table, left), learned))
    if not order and not outcome.suppressed:
        return outcome
    last = None if outcome.suppressed else order[-1]
    rungs.append(
        Rung(last, outcome.suppressed, outcome.loss or 0.0, outcome.detail_lost, outcome.after)
    )
    return replace(outcome, ladder=tuple(rungs))


def with_households(
    outcome: Anonymisation, release: EncodedTable, recoding: Recoding, household: str
) -> Anonymisation:
    """Return a protection with who is named by way of households, in all ways that it is judged."""
    left = household_risks(without(release, recoding.suppressed), household)
    whole = household_risks(release, household) if outcome.judged else left
    return replace(
        outcome,
        after=replace(outcome.after, households=left),
        judged=tuple(replace(one, households=whole) for one in outcome.judged),
    )


def with_people(
    outcome: Anonymisation,
    table: EncodedTable,
    recoding: Recoding,
    hierarchies: Mapping[str, Hierarchy],
    criteria: Sequence[Criterion | TableCriterion],
) -> Anonymisation:
    """Return an outcome with what a release tells beside the population, where criteria are about it.

    Args:
        outcome: What came out.
        table: The records before.
        recoding: How they were recoded, all alike.
        hierarchies: The hierarchies that were used.
        criteria: What the release was to meet.
    """
    if (population := population_of(criteria)) is not None:
        behind = PeopleBehind.of(table, recoding, hierarchies, population)
        return replace(outcome, people=behind)
    for rule in criteria:
        if isinstance(rule, EstimatedUniques):
            kept = without(recoding.release(table), recoding.suppressed)
            sizes = distinct_rows(kept, recoding.quasi_identifiers).weights
            return replace(outcome, estimate=rule.estimate(sizes))
    return outcome


def _unsuppressed(
    column: EncodedColumn, recoding: Recoding, hierarchy: Hierarchy
) -> EncodedColumn | None:
    """Return a column as it would be released if no record were suppressed; None: as it is."""
    if recoding.heights is not None:
        level = recoding.heights[column.name]
        coded = hierarchy.coded(column, where=column.name)
        labels = coded.labels[level]
        return column.with_values(labels[code] for code in coded.codes[level]) if level else None
    released = recoding.released[column.name]
    values = column.values.to_pylist()
    place = {
        value: code
        for code, value in enumerate(dict.fromkeys([*values, *released.values.to_pylist()]))
    }
    places = np.array([place[value] for value in released.values.to_pylist()])
    codes = np.where(recoding.suppressed, column.codes, places[released.codes])
    if np.array_equal(codes, column.codes):
        return None
    return EncodedColumn(
        column.name, codes.astype(smallest_unsigned(len(place))), pa.array(place, pa.large_string())
    )


@dataclass(frozen=True)
class PeopleBehind:
    """The people of a population beside the classes of a release, all generalised alike."""

    population: str
    """The name of the register."""
    people: int
    """The number of people in it."""
    fewest: int
    """The fewest people who fit a released class: the k of k-map."""
    lowest: Fraction
    """The least chance of being in the table that somebody of the population has; suppressed records, and people who
    fit no released class, are a class of their own."""
    highest: Fraction
    """The greatest chance."""
    uniques: int
    """The number of released records whose people are alone in the population."""
    records: int
    """The number of released records."""
    naming: Fraction
    """The chance of naming the record of a random person of the population, who need not have one: the number of
    released classes by that of people."""

    @classmethod
    def of(
        cls,
        table: EncodedTable,
        recoding: Recoding,
        hierarchies: Mapping[str, Hierarchy],
        population: EncodedTable,
    ) -> PeopleBehind:
        """Count them: generalise the register as the table is, and compare.

        Raises:
            StudyError: Records are generalised differently, so that somebody may fit several classes.
        """
        if recoding.heights is None:
            raise StudyError("people are counted by labels that are the same in all records")
        labels = []
        both = beside_population(table, population, recoding.quasi_identifiers)
        for name, level in recoding.heights.items():
            column = both.column(name)
            coded = hierarchies[name].coded(column, where=population.name)
            labels.append(replace(column, codes=coded.codes[level][column.codes]))
        return cls._counted(labels, ~recoding.suppressed, population)

    @classmethod
    def of_sample(cls, sample: EncodedTable, table: EncodedTable) -> PeopleBehind:
        """Count those of a table beside a sample of its records."""
        both = beside_population(sample, table, columns_of(table))
        return cls._counted(list(both.columns.values()), np.ones(sample.records, np.bool_), table)

    @classmethod
    def _counted(
        cls, labels: Sequence[EncodedColumn], retained: Flags, population: EncodedTable
    ) -> PeopleBehind:
        """Count by labels: first those of the records, of which some are retained, then those of the population."""
        count = len(retained)
        classes = refined(labels, count + population.records)
        inside = classes.numbers[:count]
        fitting = np.bincount(classes.numbers[count:], minlength=classes.classes)
        released = np.bincount(inside[retained], minlength=classes.classes)
        there = released > 0
        chances = [
            Fraction(int(records), int(people))
            for records, people in {*zip(released[there], fitting[there], strict=True)}
        ]
        if rest := int(fitting[~there].sum()):
            chances.append(Fraction(int(np.count_nonzero(~retained)), rest))
        return cls(
            population=population.name,
            people=population.records,
            fewest=int(fitting[there].min()),
            lowest=min(chances),
            highest=max(chances),
            uniques=int(np.count_nonzero(fitting[there] == 1)),
            records=int(np.count_nonzero(retained)),
            naming=Fraction(int(np.count_nonzero(there)), population.records),
        )

    def to_dict(self) -> dict[str, Any]:
        """Return the figures as plain values."""
        chances = {name: float(getattr(self, name)) for name in ("lowest", "highest", "naming")}
        return vars(self) | chances


def _matched(retained: EncodedTable) -> tuple[Assessment | None, bool]:
    """Return what is learned by who takes a blank cell for any value, if there is one, or that it is too much."""
    blank = [is_suppressed(retained, [name]) for name in columns_of(retained)]
    if not any(some.any() and not some.all() for some in blank):
        return None, False
    with suppress(BudgetError):
        return Assessment(retained.records, matched_attacks(retained)), False
    return None, True


def _judged(release: EncodedTable, suppressed: Flags) -> tuple[Assessment, ...]:
    """Return what is learned from a file that holds suppressed records, beside what is without those.

    A record that was recoded to nothing but ``*`` looks like a suppressed one, so that the file is judged both with
    all of them as a class and without all of them.
    """
    hidden = is_suppressed(release, columns_of(release))
    if not hidden.any() or hidden.all():
        return ()
    ways = [release] if np.array_equal(hidden, suppressed) else [release, without(release, hidden)]
    return tuple(assess(way, drop_suppressed=False) for way in ways)
