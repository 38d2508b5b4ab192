"""A plan of reconstruction from published totals, as a frozen model of ``study.toml``.

It says which files were published, how they are read and joined, what the totals were rounded to, and in which phases
the adversary goes about it. The model knows nothing of the data: whether a column exists is found out when it is read.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from fractions import Fraction
from pathlib import Path
from typing import Annotated, Any, Literal, Self

from pydantic import Field, StrictBool, StrictFloat, StrictInt, model_validator

from glasshouse.errors import ContradictionError
from glasshouse.language import text, unknown_name
from glasshouse.study.question import ConditionText, Dialect, Model, Question

Name = Annotated[str, Field(min_length=1)]
Positive = Annotated[StrictFloat, Field(gt=0, allow_inf_nan=False)]


class KeyMap(Model):
    """A file that says which value of one publication stands for which of another."""

    path: Path
    """The file; in ``study.toml`` relative to the folder of the study."""
    dialect: Dialect = Dialect()
    """How it is written down, where it is delimited text."""
    source: Name
    """The column with the values as they stand."""
    target: Name
    """The column with what they become."""


class Derived(Model):
    """A column made from others, to be used like any other."""

    columns: tuple[Name, ...] = Field(min_length=1)
    """The columns that it is made from; the texts of several are put together in this order."""
    first: StrictInt | None = Field(default=None, ge=1)
    """How many characters are kept, from the first on; unset: all."""
    map: KeyMap | None = None
    """What the text stands for."""


class Publication(Model):
    """A published table, and what is done with it before it is used."""

    path: Path
    """The file; in ``study.toml`` relative to the folder of the study."""
    dialect: Dialect = Dialect()
    """How it is written down, where it is delimited text."""
    decimal_comma: StrictBool = False
    """Whether its numbers have a comma before the decimals, not a point."""
    thousands: Literal[".", ",", " ", "'"] | None = None
    """What stands between its thousands; unset: nothing."""
    suppressed: tuple[Name, ...] = ()
    """What stands in the place of a total that is held back, such as "x" or "-": it may be anything from 0 on."""
    missing: Literal["apart", "open"] = "apart"
    """What a total without a number is: a fault that sets its group apart, or held back like those above."""
    where: tuple[ConditionText, ...] = ()
    """Only rows that meet all of these."""
    derived: dict[Name, Derived] = Field(default_factory=dict)
    """Columns made from others, by name; one may use those before it."""
    unique: tuple[Name, ...] = ()
    """Of rows that agree in these columns the first is kept: the same header stands before each item."""
    identifier: Name | None = None
    """The column that names a row in results that list rows."""
    measures: dict[Name, Name] = Field(default_factory=dict)
    """Per measure of the plan, the column with it."""

    @property
    def marks(self) -> tuple[str, ...]:
        """What stands in the place of a total that is held back."""
        return (*self.suppressed, *([""] if self.missing == "open" else []))

    @model_validator(mode="before")
    @classmethod
    def _signs_of_dialect(cls, content: Any) -> Any:
        """Take the signs of numbers from where they are said; a point between thousands leaves the comma for decimals.

        Raises:
            ContradictionError: They are said twice, and differently.
        """
        if not isinstance(content, dict):
            return content
        dialect = content.get("dialect")
        said = dialect if isinstance(dialect, dict) else {}
        decimal, thousands = said.get("decimal"), said.get("thousands")
        if isinstance(dialect, Dialect):
            decimal = None if dialect.decimal == Dialect().decimal else dialect.decimal
            thousands = dialect.thousands
        signs = {} if decimal is None else {"decimal_comma": decimal == ","}
        signs |= {} if thousands is None else {"thousands": thousands}
        for name, sign in signs.items():
            if content.get(name, sign) != sign:
                raise ContradictionError(
                    "the dialect says how numbers are written, and {name} says otherwise; leave one of them out",
                    name=name,
                )
        content = content | signs
        if content.get("thousands") == "." and "decimal_comma" not in content:
            content |= {"decimal_comma": True}
        return content

    @model_validator(mode="after")
    def _marks_differ(self) -> Self:
        if self.thousands == ("," if self.decimal_comma else "."):
            raise ContradictionError(
                'thousands = "{mark}" is also what stands before the decimals; correct it, or decimal_comma',
                mark=self.thousands,
            )
        return self


class SummedMeasure(Model):
    """Something that is summed up."""

    decimals: StrictInt = Field(default=0, ge=0, le=12)
    """How many decimals the most exact publication of it has."""
    unit: Annotated[StrictFloat, Field(gt=0, le=1e12)] = 1.0
    """What the totals are rounded to: 1 for whole numbers, 1000 for thousands."""

    @model_validator(mode="after")
    def _unit_has_these_decimals(self) -> Self:
        if (Fraction(str(self.unit)) * 10**self.decimals).denominator != 1:
            raise ContradictionError(
                "the totals are rounded to {unit}, which has more than {decimals} decimals; say how many decimals "
                "the measure has",
                unit=f"{self.unit:g}",
                decimals=str(self.decimals),
            )
        return self


class Narrowing(Model):
    """An earlier phase that rules out bins of a later one."""

    phase: Name
    """The earlier phase."""
    on: tuple[Name, ...] = Field(min_length=1)
    """Columns of the bins of both: a record can be in a bin only if the earlier phase left one open that agrees."""


class Suppression(Model):
    """A third publication that shows which records were not published at all."""

    publication: Name
    """The publication."""
    keys: dict[Name, Name] = Field(min_length=1)
    """Columns of the records, and those of the third publication that they agree with; the phase's are among them."""


class Phase(Model):
    """One step of the attack: the records of one publication are put into the totals of another."""

    name: Name
    """What results call it."""
    packages: Name
    """The publication with the records."""
    bins: Name
    """The publication with the totals."""
    bin: tuple[Name, ...] = Field(min_length=1)
    """The columns of the totals that name a bin, such as state and city."""
    keys: dict[Name, Name] = Field(min_length=1)
    """Columns of the records, and those of the totals that they agree with: together they make the groups."""
    measures: tuple[Name, ...] = ()
    """The measures that must be met; unset: all that both publications have."""
    narrowed_by: tuple[Narrowing, ...] = ()
    """Earlier phases whose results this one uses."""
    exposed: StrictBool = True
    """Whether chances to name an entity are taken from it; not from a phase that only prepares another."""
    suppression: Suppression | None = None
    """How suppressed records are recognised."""
    effort: Positive = 1.0
    """Its part of the time that is left when it begins, beside those of the phases after it."""


class EntityRegister(Model):
    """The entities that may be behind a record, and where they are."""

    publication: Name
    """The publication with a row per entity."""
    keys: dict[Name, Name] = Field(min_length=1)
    """Columns that name bins, and those of the register that they agree with."""
    entity: Name | None = None
    """The column that names an entity, where it may have several rows."""


class TimeBudget(Model):
    """What attempts at instances may take: counted in units of work, so that every run comes to the same."""

    quick: Positive = 0.1
    """The CPU seconds of the first attempt at an instance; every instance has one."""
    patience: Positive = 600.0
    """The CPU seconds that a further attempt at one may take, times the square of what the last one left open: the
    digits of the number of allocations that are not ruled out."""
    longest: Positive = 10.0
    """The CPU seconds that it may take in any case."""
    gigabytes: Positive = 2.0
    """The memory that one attempt may take for its lists."""


class SolveStudy(Question):
    """One group of records and totals."""

    command: Literal["totals"] = "totals"
    """The command that answers it."""
    instance: Path
    """The file of the instance, as JSON."""
    seconds: StrictFloat = 60.0
    """CPU seconds; then a proved superset is told."""
    memory: StrictInt = 2 << 30
    """How many bytes lists may take."""
    subject: str = Field(default="record", min_length=1)
    """What is behind a record, in the words of the report."""


class TotalsStudy(Question):
    """Which publications are set against each other, and how."""

    command: Literal["totals"] = "totals"
    """The command that answers it."""
    publications: dict[Name, Publication] = Field(min_length=1)
    """The published tables, by the names that the plan uses."""
    measures: dict[Name, SummedMeasure] = Field(min_length=1)
    """What is summed up."""
    value: Name | None = None
    """The measure that says what a record is worth; unset: the first."""
    rounding: Literal["sum", "record", "unknown"] = "unknown"
    """How the totals were rounded; see `glasshouse.reconstruction.group_instance`."""
    tolerance: Annotated[StrictFloat, Field(ge=0, le=1e6)] | None = None
    """How far a sum may be from its total, in units of the totals; unset: ½."""
    none_bin: StrictBool = True
    """Whether the publisher of the totals may have left out records."""
    left_out: Annotated[StrictFloat, Field(gt=0, lt=1)] = 0.01
    """How many records the adversary believes were left out, as a share, where records may have been."""
    phases: tuple[Phase, ...] = Field(min_length=1)
    """The steps of the attack, in order."""
    entities: EntityRegister | None = None
    """The register of entities; unset: records are linked with bins, and no chances are computed."""
    budget: TimeBudget = TimeBudget()
    """How long it may take."""

    @classmethod
    def kind_of(cls, content: Mapping[str, Any]) -> type[Question]:
        """Return that it is about one group, where it names the file of one."""
        return SolveStudy if "instance" in content else cls

    currency: str | None = Field(default=None, min_length=1)
    """What values are counted in."""
    subject: str = Field(default="entity", min_length=1)
    """What is behind a record, in the words of the report."""

    @property
    def worth(self) -> str:
        """The measure that says what a record is worth."""
        return self.value or next(iter(self.measures))

    def measures_of(self, phase: Phase) -> tuple[str, ...]:
        """Return the measures of a phase."""
        records, totals = self.publications[phase.packages], self.publications[phase.bins]
        return phase.measures or tuple(
            name for name in self.measures if name in records.measures and name in totals.measures
        )

    @model_validator(mode="after")
    def _names_are_known(self) -> Self:
        _check_known("measure", self.worth, self.measures, text("measures"))
        for name, publication in self.publications.items():
            for measure in publication.measures:
                where = text('measures (publication "{name}")', name=name)
                _check_known("measure", measure, self.measures, where)
        if self.entities is not None:
            _check_known(
                "publication", self.entities.publication, self.publications, text("the plan")
            )
        if self.rounding == "record" and self.tolerance is not None:
            raise ContradictionError(
                "records that were rounded before adding need no tolerance; leave it out"
            )
        return self

    @model_validator(mode="after")
    def _phases_follow_each_other(self) -> Self:
        earlier: dict[str, Phase] = {}
        for phase in self.phases:
            if phase.name in earlier:
                raise ContradictionError(
                    'phase "{phase}" is given twice; give each its own name', phase=phase.name
                )
            for name in (phase.packages, phase.bins):
                _check_known("publication", name, self.publications, text("the plan"))
            if self.worth not in self.publications[phase.packages].measures:
                raise ContradictionError(
                    'phase "{phase}": the records have no measure "{measure}", which says what they are worth',
                    phase=phase.name,
                    measure=self.worth,
                )
            self._measures_are_there(phase)
            self._narrowing_is_possible(phase, earlier)
            self._suppression_is_possible(phase)
            earlier[phase.name] = phase
        return self

    @model_validator(mode="after")
    def _entities_are_in_bins(self) -> Self:
        if self.entities is None:
            return self
        columns = list(dict.fromkeys(column for phase in self.phases for column in phase.bin))
        for column in self.entities.keys:
            where = text("the bins of any phase, which [entities] needs")
            _check_known("column", column, columns, where)
        for phase in self.phases:
            if phase.exposed and not set(phase.bin) & set(self.entities.keys):
                raise ContradictionError(
                    'phase "{phase}": its bins have none of the keys of [entities], so nobody can be '
                    "identified; set "
                    "exposed = false, or add a key",
                    phase=phase.name,
                )
        return self

    def _measures_are_there(self, phase: Phase) -> None:
        for measure in phase.measures:
            _check_known("measure", measure, self.measures, text("measures"))
            for name in (phase.packages, phase.bins):
                where = text('publication "{name}" (phase "{phase}")', name=name, phase=phase.name)
                _check_known("measure", measure, self.publications[name].measures, where)
        if not self.measures_of(phase):
            raise ContradictionError(
                'phase "{phase}": publications "{packages}" and "{bins}" have no measure in common',
                phase=phase.name,
                packages=phase.packages,
                bins=phase.bins,
            )

    def _narrowing_is_possible(self, phase: Phase, earlier: dict[str, Phase]) -> None:
        for narrowing in phase.narrowed_by:
            where = text('the phases before "{phase}"', phase=phase.name)
            _check_known("phase", narrowing.phase, earlier, where)
            other = earlier[narrowing.phase]
            if other.packages != phase.packages:
                raise ContradictionError(
                    'phase "{phase}" is about other records than phase "{other}"; narrow it by one about '
                    '"{packages}"',
                    phase=phase.name,
                    other=other.name,
                    packages=phase.packages,
                )
            for column in narrowing.on:
                for linked_phase in (phase, other):
                    where = text('the bins of phase "{phase}"', phase=linked_phase.name)
                    _check_known("column", column, linked_phase.bin, where)

    def _suppression_is_possible(self, phase: Phase) -> None:
        if phase.suppression is None:
            return
        _check_known(
            "publication", phase.suppression.publication, self.publications, text("the plan")
        )
        for column in phase.keys:
            where = text('the keys of the suppression of phase "{phase}"', phase=phase.name)
            _check_known("column", column, phase.suppression.keys, where)


def _check_known(kind: str, name: str, available: Collection[str], where: str) -> None:
    if name not in available:
        raise ContradictionError(unknown_name(kind, name, where, available))
