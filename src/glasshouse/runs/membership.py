"""``membership``: who is in a release, or in which of several."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from glasshouse.errors import StudyError
from glasshouse.microdata.presence import Member, Membership, member, membership
from glasshouse.microdata.uniqueness import PopulationRisks, population_risks
from glasshouse.runs.reading import one_each, prepared, read_register
from glasshouse.runs.run import Resources, Run
from glasshouse.study import Condition, parse_condition
from glasshouse.study.membership import MembershipStudy
from glasshouse.table import EncodedTable, Step


def answer(
    study: MembershipStudy,
    *,
    resources: Resources,
    tables: Sequence[EncodedTable] = (),
    population: EncodedTable | None = None,
) -> Run[MembershipStudy, Membership | Member | PopulationRisks]:
    """Carry out a study of membership.

    Args:
        study: What is asked.
        resources: What there is to work with.
        tables: The releases, where they are in memory.
        population: The register, where it is in memory.

    Raises:
        DataError: The data is malformed or lacks a column, or the register lacks people of the release.
        StudyError: The question does not fit the data.
    """
    if study.population is None and (study.known or len(study.datasets) > 1):
        if study.weight is not None:
            raise StudyError(
                "survey weights are about one release as a whole; for one person or several releases give a register "
                "with `population`, and no `weight`"
            )
        raise StudyError(
            "a sampling fraction is about one release as a whole; for one person or several releases give a "
            "register with `population`"
        )
    releases, steps = [], list[Step]()
    for dataset in prepared(study, tables=tables, on_progress=resources.on_progress):
        single = one_each(dataset, seed=study.seed)
        releases.append(single.table)
        steps += single.steps
    known = study.adversary.knowable
    outcome: Membership | Member | PopulationRisks
    if study.population is None:
        outcome = population_risks(
            releases[0], fraction=study.fraction, quasi_identifiers=known, weight=study.weight
        )
    else:
        register = read_register(study, population)
        conditions = [parse_condition(fact, option="`known`") for fact in study.known]
        possible = _possible_values(conditions, register)
        outcome = (
            member(releases, register, known=possible, quasi_identifiers=known)
            if possible
            else membership(releases, register, quasi_identifiers=known)
        )
    counted = sum(table.records for table in releases)
    return Run(study, replace(outcome, steps=tuple(steps)), counted=counted)


def _possible_values(
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
                'nobody in {register} has such a value of "{column}": zero candidates',
                register=register.name,
                column=condition.column,
            )
        possible[condition.column] = values
    return possible
