"""One run of ``membership``: who is in a release, or in which of several."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from glasshouse.errors import StudyError
from glasshouse.language import text
from glasshouse.microdata.membership import Member, Membership, member, membership
from glasshouse.microdata.uniqueness import PopulationRisks, population_risks
from glasshouse.runs.reading import one_each, prepared, read_register
from glasshouse.runs.runner import Means
from glasshouse.study import Condition, Study, parse_condition
from glasshouse.table import EncodedTable, Step

if TYPE_CHECKING:
    from glasshouse.report import Page, Provenance


@dataclass(frozen=True)
class MembershipRun:
    """A question about membership and its answer."""

    study: Study
    """What was asked."""
    outcome: Membership | Member | PopulationRisks
    """What came out: of all people, of one person, or estimated without a register."""
    records: int
    """The number of records of all releases."""

    @property
    def steps(self) -> tuple[Step, ...]:
        """What was left out of the datasets."""
        return self.outcome.steps

    def to_dict(self) -> dict[str, Any]:
        """Return everything that came out as plain values."""
        return self.outcome.to_dict()

    def to_frame(self) -> pa.Table:
        """Return the outcome as a table."""
        return self.outcome.to_frame()

    def to_page(self, provenance: Provenance) -> Page:
        """Return the report, in the language that is spoken."""
        from glasshouse.report.people.members import member_page
        from glasshouse.report.people.memberships import membership_page
        from glasshouse.report.people.populations import population_page

        common: dict[str, Any] = {
            "subject": self.study.subject,
            "provenance": provenance,
            "treatment": self.steps,
        }
        if isinstance(self.outcome, Membership):
            return membership_page(self.outcome, **common)
        if isinstance(self.outcome, Member):
            return member_page(self.outcome, **common)
        return population_page(self.outcome, **common)


def run_membership(study: Study, *, means: Means | None = None) -> MembershipRun:
    """Carry out a study of membership.

    Raises:
        DataError: The data is malformed or lacks a column, or the register lacks people of the release.
        StudyError: The question does not fit the data.
    """
    reading = (means or Means()).watch.reading
    if study.fraction is not None and (study.known or len(study.datasets) > 1):
        raise StudyError(
            text(
                "a sampling fraction tells something of one release as a whole; for one person or several releases "
                "give a register with --population"
            )
        )
    releases, steps = [], list[Step]()
    for each in prepared(study, on_progress=reading):
        own = one_each(each, seed=study.seed)
        releases.append(own.table)
        steps += own.steps
    known = study.adversary.knowable
    outcome: Membership | Member | PopulationRisks
    if study.fraction is not None:
        outcome = population_risks(releases[0], fraction=study.fraction, quasi_identifiers=known)
    else:
        register = read_register(study)
        conditions = [parse_condition(text, option="--know") for text in study.known]
        outcome = (
            member(
                releases, register, known=_possible(conditions, register), quasi_identifiers=known
            )
            if conditions
            else membership(releases, register, quasi_identifiers=known)
        )
    records = sum(table.records for table in releases)
    return MembershipRun(study, replace(outcome, steps=tuple(steps)), records)


def _possible(
    conditions: Sequence[Condition], register: EncodedTable
) -> Mapping[str, tuple[str, ...]]:
    """Return the values that are possible for the person, per column; of an interval those that the register has."""
    possible: dict[str, tuple[str, ...]] = {}
    for condition in conditions:
        values = condition.values
        if condition.is_interval or condition.negated:
            every = register.column(condition.column).values.to_pylist()
            values = tuple(value for value in every if condition.holds(value))
        if condition.column in possible:
            values = tuple(value for value in possible[condition.column] if value in values)
        if not values:
            raise StudyError(
                text(
                    'nobody in {register} has such a value of "{column}": zero candidates',
                    register=register.name,
                    column=condition.column,
                )
            )
        possible[condition.column] = values
    return possible
