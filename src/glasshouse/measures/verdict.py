"""The verdict on a release: what was measured, held against the conditions of a policy.

What a run measures does not depend on a policy and is kept with it, so that any policy can be held against it later. A
verdict is exact; how it is said is the business of a report.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from fractions import Fraction
from math import inf, nextafter
from typing import Any

from glasshouse.errors import StudyError
from glasshouse.language import text
from glasshouse.measures.coverage import OUTSIDE, Coverage
from glasshouse.measures.measurement import Measurement
from glasshouse.study.policy import (
    MEASURES,
    NOTHING_UNCHECKED,
    NOTHING_UNSEEN,
    OF_SYNTHETIC,
    Measure,
    PolicyCondition,
    ReleasePolicy,
)

OF_EVERY_RULE = (NOTHING_UNSEEN, NOTHING_UNCHECKED)
"""What is asked whatever a rule says, of what was measured of it."""
OF_TOTALS: frozenset[Measure] = frozenset({"placed", "newly-certain"})
"""Measures of what is published about people instead of their records."""


class Decision(StrEnum):
    """What a policy says of a release; never that it is safe."""

    STOP = "do-not-publish"
    """It fails the rule, also under restricted access."""
    RESTRICT = "restricted"
    """It fails the rule, but meets what the rule asks where access is restricted."""
    OPEN = "not-judged"
    """Not everything that the rule asks about was looked at: nothing that was fails it, and that is not enough."""
    MEETS = "meets"
    """It meets the rule."""


@dataclass(frozen=True)
class Judgement:
    """One condition, held against what was measured."""

    condition: PolicyCondition
    """The condition."""
    measured: Measurement
    """What was measured."""

    @property
    def met(self) -> bool:
        """Whether the condition is met."""
        return self.condition.allows(self.measured.value)

    @property
    def margin(self) -> Fraction:
        """How far the value is on the right side of the limit; negative: on the wrong one."""
        room = self.condition.limit - self.measured.value
        return -room if self.condition.is_floor else room

    @property
    def used(self) -> Fraction | None:
        """How much of what the limit allows is used up: above 1 it is not met; None: nothing is allowed."""
        value, limit = self.measured.value, self.condition.limit
        if self.condition.is_floor:
            value, limit = limit, value
        if limit:
            return value / limit
        return Fraction(1) if value and self.met else None if value else Fraction(0)

    @property
    def is_of_figures(self) -> bool:
        """Whether it is about what was measured, and not about what was not looked at."""
        return self.condition.measure not in {one.measure for one in OF_EVERY_RULE}

    def to_dict(self) -> dict[str, Any]:
        """Return it as plain values; numbers as floats of the exact ratios."""
        restricted = self.condition.restricted_limit
        return {
            **self.measured.to_dict(),
            "value": float(self.measured.value),
            "limit": float(self.condition.limit),
            "restricted_limit": None if restricted is None else float(restricted),
            "margin": float(self.margin),
            "met": self.met,
        }


@dataclass(frozen=True)
class Verdict:
    """What a policy says of a release."""

    policy: ReleasePolicy
    """The policy."""
    judgements: tuple[Judgement, ...]
    """Each condition that was measured, in the order of the policy; for each sensitive attribute and release."""
    unjudged: tuple[PolicyCondition, ...] = ()
    """The conditions of the policy that nothing was measured of, but for those that are asked only where it was."""
    coverage: Coverage | None = None
    """What became of every column of the release; None: that is not known."""

    @property
    def decision(self) -> Decision:
        """What follows: whether it meets the rule, at least under restricted access, or not, or cannot be told."""
        if not self.is_of_release:
            return Decision.OPEN
        if not all(
            judgement.condition.allows(judgement.measured.value, restricted=True)
            for judgement in self.judgements
            if judgement.is_of_figures
        ):
            return Decision.STOP
        if self.is_open:
            return Decision.OPEN
        return Decision.RESTRICT if self.failed else Decision.MEETS

    @property
    def meets(self) -> bool:
        """Whether it meets the rule: all was looked at that the rule asks about, and every condition holds."""
        return self.decision is Decision.MEETS

    @property
    def is_open(self) -> bool:
        """Whether not everything was looked at that must be: a column of the release, or a condition of the rule."""
        return bool(self.lacking) or not all(
            judgement.met for judgement in self.judgements if not judgement.is_of_figures
        )

    @property
    def is_of_release(self) -> bool:
        """Whether it is on a release as a whole: its columns were looked at, all or not; or on published totals."""
        return self.is_of_totals or any(not one.is_of_figures for one in self.judgements)

    @property
    def is_of_totals(self) -> bool:
        """Whether it is on published totals or tables, of which no columns are released."""
        return any(judgement.condition.measure in OF_TOTALS for judgement in self.judgements)

    @property
    def lacking(self) -> tuple[PolicyCondition, ...]:
        """The conditions that must be judged and were not."""
        if not self.is_of_release:
            return (NOTHING_UNSEEN, *self.unjudged)
        return tuple(
            one
            for one in self.unjudged
            if one.measure in OF_SYNTHETIC or (self.policy.complete and not one.where_measured)
        )

    @property
    def of_columns(self) -> tuple[Measurement, ...]:
        """What was measured of the columns of the release, which is the same of each version of it."""
        return tuple(
            replace(judgement.measured, release="")
            for judgement in self.judgements
            if MEASURES[judgement.condition.measure].counts_columns
        )

    @property
    def failed(self) -> int:
        """How many conditions are not met."""
        return sum(not judgement.met for judgement in self.judgements)

    @property
    def binding(self) -> Judgement | None:
        """The condition that is nearest to its limit, or farthest beyond it; None: nothing was judged by figures."""
        return max(
            (judgement for judgement in self.judgements if judgement.is_of_figures),
            key=lambda judgement: inf if judgement.used is None else judgement.used,
            default=None,
        )

    def __bool__(self) -> bool:
        """Tell whether it meets the rule, so that ``if gh.check(data):`` is true only for what may be published."""
        return self.meets

    def to_dict(self) -> dict[str, Any]:
        """Return it as plain values."""
        return {
            "policy": self.policy.name,
            "decision": self.decision.value,
            "meets": self.meets,
            "failed": self.failed,
            "judged": len({judgement.condition.measure for judgement in self.judgements}),
            "not_judged": [condition.measure for condition in self.unjudged],
            "coverage": None if self.coverage is None else self.coverage.to_dict(),
            "conditions": [judgement.to_dict() for judgement in self.judgements],
        }


def verdict_on(
    measurements: Iterable[Measurement],
    policy: ReleasePolicy,
    coverage: Coverage | None = None,
) -> Verdict | None:
    """Hold what was measured against a policy; None: it measures nothing that the policy asks for.

    Of versions to choose from it is the verdict on the one to choose: the first of those that do best by the policy.

    Args:
        measurements: What was measured.
        policy: The policy; that no column of a release was passed over, and no part of an output, is asked whatever
            it says.
        coverage: What became of the columns of the release, to be told with the verdict.

    Raises:
        StudyError: A condition is about a sensitive attribute that is none.
    """
    measured = tuple(measurements)
    versions = dict.fromkeys(entry.release for entry in measured if entry.is_choice)
    if versions:
        verdicts = (
            verdict_on(
                (
                    replace(entry, is_choice=False)
                    for entry in measured
                    if not entry.is_choice or entry.release == version
                ),
                policy,
                coverage,
            )
            for version in versions
        )
        order = list(Decision)
        return max(
            (verdict for verdict in verdicts if verdict is not None),
            key=lambda verdict: order.index(verdict.decision),
            default=None,
        )
    of_synthetic = any(entry.measure in OF_SYNTHETIC for entry in measured)
    unknown = {entry.measure for entry in measured if is_unknown(entry)}
    measured = tuple(entry for entry in measured if not is_unknown(entry))
    answers = {
        condition: tuple(_answers(condition, measured))
        for condition in dict.fromkeys((*OF_EVERY_RULE, *policy.conditions))
    }
    judgements = tuple(
        Judgement(condition, measurement)
        for condition, answering in answers.items()
        for measurement in answering
    )
    if not any(judgement.is_of_figures for judgement in judgements):
        return None
    nothing_secret = _nothing_is_secret(measured)
    of_totals = any(entry.measure in OF_TOTALS for entry in measured)
    unjudged = tuple(
        condition
        for condition in policy.conditions
        if not answers[condition]
        and (
            condition.measure in unknown
            or not (
                condition.where_measured
                or of_totals
                or (of_synthetic and condition.measure != "direct-identifiers")
                or (nothing_secret and MEASURES[condition.measure].of_secret)
            )
        )
    )
    return Verdict(policy, judgements, unjudged, coverage)


def is_unknown(entry: Measurement) -> bool:
    """Tell whether it stands for what could not be measured: what a synthetic release remembers, without a holdout."""
    return entry.measure in OF_SYNTHETIC and entry.is_bound


def no_worse_than(
    policy: ReleasePolicy,
    before: Iterable[Measurement],
    now: Sequence[Measurement],
    baseline: str,
) -> ReleasePolicy:
    """Return a policy that also asks that nothing is worse than in a run before, and that no column is new.

    Args:
        policy: The policy.
        before: What the run before measured.
        now: What is judged.
        baseline: What the run before is called.
    """
    conditions = {condition.measure for condition in policy.conditions}
    there = {(entry.measure, entry.of) for entry in now if entry.knows is None}
    source = text("no worse than in “{run}”", run=baseline)
    worst: dict[tuple[Measure, str | None], Fraction] = {}
    for entry in before:
        key = (entry.measure, entry.of)
        if entry.knows is None and key in there and entry.measure in conditions:
            choose = min if entry.measure == "smallest-class" else max
            worst[key] = choose(worst.get(key, entry.value), entry.value)
    further = [
        PolicyCondition(measure=measure, at_least=int(value), of=of, source=source)
        if measure == "smallest-class"
        else PolicyCondition(measure=measure, at_most=_not_below(value), of=of, source=source)
        for (measure, of), value in worst.items()
        if not MEASURES[measure].is_number
    ]
    new = PolicyCondition(measure="new-columns", at_most=0, source=source)
    return policy.model_copy(update={"conditions": (*policy.conditions, *further, new)})


def _not_below(value: Fraction) -> float:
    """Return a number that a share is at most, and hardly more than it."""
    return float(value) if value in (0, 1) else min(1.0, nextafter(float(value), 2))


def new_columns(before: Coverage, now: Coverage) -> Measurement:
    """Return how many columns of a release are new since a run before, but for those dropped or dismissed by name."""
    known = {column.name for column in before.columns}
    new = [
        column for column in now.columns if column.name not in known and column.fate not in OUTSIDE
    ]
    return Measurement("new-columns", Fraction(len(new)))


def _nothing_is_secret(measured: Sequence[Measurement]) -> bool:
    """Tell whether all of a release was looked at, and nothing in it is to be inferred."""
    unseen = [entry.value for entry in measured if entry.measure == NOTHING_UNSEEN.measure]
    return bool(unseen) and not any(unseen) and all(entry.of is None for entry in measured)


def _answers(
    condition: PolicyCondition, measured: tuple[Measurement, ...]
) -> Iterator[Measurement]:
    """Yield what answers a condition.

    Who knows all there is knows at least any so many facts: where these were not measured, that is on the safe side.
    """
    alike = [entry for entry in measured if entry.measure == condition.measure]
    if condition.of is not None:
        secrets = sorted({entry.of for entry in alike if entry.of is not None})
        if secrets and condition.of not in secrets:
            raise StudyError(
                'the rule has a condition on "{name}", which is not a sensitive attribute here; they are {secrets}',
                name=condition.of,
                secrets=", ".join(secrets),
            )
        alike = [entry for entry in alike if entry.of == condition.of]
    alike = list(_at_known_records(condition, alike))
    facts = None if condition.knows == "all" else condition.knows
    measured_so = [entry for entry in alike if entry.knows == facts]
    whole = (entry for entry in alike if entry.knows is None)
    yield from measured_so or (replace(entry, knows=facts, is_bound=True) for entry in whole)


def _at_known_records(
    condition: PolicyCondition, alike: Sequence[Measurement]
) -> Iterator[Measurement]:
    """Yield what was measured with as many known records of a person as a condition says, or with which it is most."""
    of_people = [entry for entry in alike if entry.records is not None]
    if condition.records is None:
        yield from (entry for entry in alike if entry.records is None)
        for about in dict.fromkeys((entry.of, entry.release) for entry in of_people):
            alike = [entry for entry in of_people if (entry.of, entry.release) == about]
            yield max(alike, key=lambda one: one.value)
        return
    chosen = [entry for entry in of_people if entry.records == condition.records]
    assessed = {entry.release for entry in chosen}
    if lacking := [entry.records or 0 for entry in of_people if entry.release not in assessed]:
        raise StudyError(
            "the rule has a condition on who knows {records} records of a person, and up to {most} were "
            "assessed; assess more of them (`knows`), or leave it out",
            records=condition.records,
            most=max(lacking),
        )
    yield from chosen
