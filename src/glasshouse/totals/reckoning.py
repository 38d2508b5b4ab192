"""What a campaign comes to: figures per phase, and the way to tables per instance, per bin and per record."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from glasshouse.arrays import Integers
from glasshouse.errors import StudyError
from glasshouse.language import marked, text, translated, unknown_name
from glasshouse.study.totals import TotalsStudy
from glasshouse.totals.exposure import Phase as Exposed
from glasshouse.totals.finding import Found
from glasshouse.totals.listing import instances_table, packages_table, worth_of
from glasshouse.totals.places import BinExposed, bins_table, entities_table, exposed_by_bin
from glasshouse.totals.publications import Published, Trouble
from glasshouse.totals.splitting import REASONS
from glasshouse.totals.standing import Standing

NO_REGISTER = marked("the plan has no register of entities; add [entities] to it")
NO_ENTITY = "bin without entities"
"""Why records are set apart whose bins are known, but nobody is registered there."""
RULES = ("uniform", "bayes")
"""How the adversary guesses; see `glasshouse.totals.exposure`."""


@dataclass(frozen=True)
class Apart:
    """Groups, or parts of them, whose totals cannot be met."""

    reason: str
    """Why; one of `glasshouse.totals.splitting.REASONS`, or `NO_ENTITY`."""
    groups: int
    """How many there are."""
    records: int
    """How many records they have."""
    value: float
    """What these are worth."""
    example: str
    """The keys of one of them."""

    def to_dict(self) -> dict[str, Any]:
        """Return the figures in plain values."""
        return dict(vars(self))


@dataclass(frozen=True)
class PhaseResult:
    """What a phase found."""

    name: str
    """What the plan calls it."""
    groups: int
    """How many groups records and totals make."""
    records: int
    """How many records they have."""
    settled: int
    """Parts of groups that an earlier phase had settled, or in which nothing had changed since."""
    instances: int
    """Instances that were to be solved."""
    trivial: int
    """Those among them with one bin."""
    unique: int
    """Instances in which the bin of every record is certain; trivial ones among them."""
    ambiguous: int
    """Instances solved exactly, with several bins for some record."""
    infeasible: int
    """Instances of which it is proved that no allocation meets the totals."""
    unsolved: int
    """Instances that met a limit: their bins are a superset."""
    untried: int
    """Instances for which no time was left."""
    apart: tuple[Apart, ...]
    """Groups that were set apart, by reason; infeasible instances among them."""
    linked: int
    """Records whose bin this phase made certain."""
    linked_value: float
    """What they are worth."""
    linked_so_far: int
    """Records whose bin is certain after this phase."""
    exposed: int
    """Records whose entity is certain after this phase."""
    exposed_value: float
    """What they are worth."""
    seconds: float
    """CPU seconds of all attempts."""

    @property
    def solved(self) -> int:
        """Instances with an exact answer."""
        return self.unique + self.ambiguous + self.infeasible

    def to_dict(self) -> dict[str, Any]:
        """Return the figures in plain values."""
        return {
            **vars(self),
            "apart": [each.to_dict() for each in self.apart],
            "solved": self.solved,
        }


@dataclass(frozen=True, eq=False)
class CampaignResult:
    """What a campaign found."""

    records: int
    """How many records were published."""
    value: float
    """What they are worth."""
    entities: int | None
    """How many entities the register has; None: there is none."""
    phases: tuple[PhaseResult, ...]
    """What each phase found."""
    exposures: Mapping[str, tuple[Exposed, ...]]
    """Per rule of guessing, what the adversary can do before, and after each step; empty without a register."""
    publications: tuple[Mapping[str, str | int], ...]
    """Per publication, its rows: read, filtered, repeated, used."""
    troubles: tuple[Trouble, ...]
    """What was not as the plan says, each with a count and an example."""
    complete: bool
    """Whether every instance had its attempt in time."""
    seconds: float
    """How long it took."""
    found: tuple[Found, ...]
    """Per phase its instances and attempts."""
    steps: tuple[tuple[str, Standing], ...]
    """Per record, what is known before, and after each step."""
    published: Published
    """The records."""
    register: Published | None
    """The register; None: there is none."""
    values: NDArray[np.float64]
    """Per record, what it is worth."""
    study: TotalsStudy
    """The plan."""

    @property
    def standing(self) -> Standing:
        """Per record, what is known at the end."""
        return self.steps[-1][1]

    @property
    def instances(self) -> int:
        """Instances of all phases."""
        return sum(phase.instances for phase in self.phases)

    @property
    def solved(self) -> int:
        """Those with an exact answer."""
        return sum(phase.solved for phase in self.phases)

    def to_dict(self) -> dict[str, Any]:
        """Return the figures in plain values; no record and no entity is among them."""
        return {
            "records": self.records,
            "value": self.value,
            "entities": self.entities,
            "instances": self.instances,
            "solved": self.solved,
            "complete": self.complete,
            "seconds": self.seconds,
            "phases": [phase.to_dict() for phase in self.phases],
            "exposures": {
                rule: [step.to_dict() for step in steps] for rule, steps in self.exposures.items()
            },
            "bins": [each.to_dict() for each in self.bins()],
            "publications": [dict(each) for each in self.publications],
            "troubles": [each.to_dict() for each in self.troubles],
        }

    def to_frame(self) -> pa.Table:
        """Return a row per phase."""
        rows = [
            {**phase.to_dict(), "apart": sum(a.groups for a in phase.apart)}
            for phase in self.phases
        ]
        return pa.Table.from_pylist(rows)

    def instances_frame(self) -> pa.Table:
        """Return a row per instance: its size, what came of it, and what it took; neither keys nor names."""
        return pa.concat_tables([instances_table(found, self.values) for found in self.found])

    def bins(self, rule: str = "bayes") -> tuple[BinExposed, ...]:
        """Return per step and bin what the adversary can do there, most value at risk first; empty without a register.

        Raises:
            StudyError: There is no such rule.
        """
        _check_rule(rule)
        if self.entities is None:
            return ()
        if rule not in self._bins:
            self._bins[rule] = exposed_by_bin(
                self.found, self.steps, self.values, self.entities, rule
            )
        return self._bins[rule]

    @cached_property
    def _bins(self) -> dict[str, tuple[BinExposed, ...]]:
        """The figures by bin as far as they were asked for: a report needs them more than once."""
        return {}

    def bins_frame(self, rule: str = "bayes") -> pa.Table:
        """Return the same as a table, a row per step and bin."""
        return bins_table(self.bins(rule))

    def entities_frame(self) -> pa.Table:
        """Return the entities that are behind some record with certainty, with their records; most value first.

        This is the disclosure itself: it serves the publisher to see whom the publications expose.

        Raises:
            StudyError: There is no register.
        """
        if self.register is None:
            raise StudyError(translated(NO_REGISTER))
        return entities_table(self.standing, self.values, self.register, self.study)

    def packages_frame(self, *, most_bins: int = 100) -> pa.Table:
        """Return a row per record: where it can be, with which probability, and the chances to name its entity.

        This is the disclosure itself: it serves the publisher to see what must not be published.

        Args:
            most_bins: Where more bins are feasible, they are counted and not listed.
        """
        column = self.study.publications[self.published.name].identifier
        records = (
            pa.array(self.published.row + 1).cast(pa.string())
            if column is None
            else (names := self.published.column(column))
            .values.take(pa.array(names.codes))
            .cast(pa.string())
        )
        registered = self.entities is not None
        return packages_table(
            self.found,
            self.standing,
            self.values,
            records,
            registered=registered,
            most_bins=most_bins,
        )

    def exposure(self, rule: str = "bayes") -> tuple[Exposed, ...]:
        """Return what the adversary can do before, and after each step, by one rule of guessing.

        Raises:
            StudyError: There is no such rule, or no register.
        """
        _check_rule(rule)
        if self.entities is None:
            raise StudyError(translated(NO_REGISTER))
        return self.exposures[rule]


def phase_result(
    found: Found, *, before: Standing, after: Standing, values: NDArray[np.float64]
) -> PhaseResult:
    """Return the figures of a phase."""
    instances = found.instances
    packages, _ = instances.sizes
    statuses = [attempt.status for attempt in found.attempts.values()]
    failed = _failed(found)
    reason = instances.reason.copy()
    reason[failed] = instances.unmet[failed]
    new = after.linked & ~before.linked
    return PhaseResult(
        name=found.phase.name,
        groups=instances.groups.count,
        records=len(instances.groups.record),
        settled=int((instances.settled & (packages > 0) & (instances.reason == 0)).sum()),
        instances=len(instances.wanted),
        trivial=len(found.trivial),
        unique=len(found.trivial) + statuses.count("unique"),
        ambiguous=statuses.count("ambiguous"),
        infeasible=statuses.count("infeasible"),
        unsolved=statuses.count("limit") + statuses.count("failed"),
        untried=len(found.hard) - len(statuses),
        apart=(*_apart(found, reason, values), *_unregistered(found, before, after, values)),
        linked=int(new.sum()),
        linked_value=float(values[new].sum()),
        linked_so_far=int(after.linked.sum()),
        exposed=int(after.certain.sum()),
        exposed_value=float(values[after.certain].sum()),
        seconds=sum(attempt.seconds for attempt in found.attempts.values()),
    )


def exposed(
    name: str,
    chances: NDArray[np.float64],
    certain: NDArray[np.bool_],
    values: NDArray[np.float64],
    last: Exposed | None,
) -> Exposed:
    """Return what the adversary can do at one step, over all records."""
    chance, at_risk = float(chances.mean()), float((chances * values).sum())
    return Exposed(
        name=name,
        packages=len(chances),
        chance=chance,
        factor=None if last is None or not last.chance else chance / last.chance,
        value_at_risk=at_risk,
        leaked=None if last is None else at_risk - last.value_at_risk,
        certain=int(certain.sum()),
        certain_value=float(values[certain].sum()),
    )


def _failed(found: Found) -> Integers:
    parts = [part for part, each in found.attempts.items() if each.status == "infeasible"]
    return np.array(sorted(parts), np.int64)


def _apart(
    found: Found, reason: NDArray[np.uint8], values: NDArray[np.float64]
) -> tuple[Apart, ...]:
    instances = found.instances
    packages, _ = instances.sizes
    worth = worth_of(found, values)
    return tuple(
        Apart(
            reason=REASONS[code],
            groups=int((reason == code).sum()),
            records=int(packages[reason == code].sum()),
            value=float(worth[reason == code].sum()),
            example=instances.groups.labels[instances.group[np.argmax(reason == code)]],
        )
        for code in range(1, len(REASONS))
        if (reason == code).any()
    )


def _unregistered(
    found: Found, before: Standing, after: Standing, values: NDArray[np.float64]
) -> tuple[Apart, ...]:
    """Return the records that a phase found to be in bins in which nobody is registered."""
    new = after.unregistered & ~before.unregistered
    groups = found.instances.groups
    concerned = np.unique(groups.record_group[new[groups.record]])
    if not len(concerned):
        return ()
    number, worth = int(new.sum()), float(values[new].sum())
    return (Apart(NO_ENTITY, len(concerned), number, worth, groups.labels[concerned[0]]),)


def _check_rule(rule: str) -> None:
    if rule not in RULES:
        raise StudyError(unknown_name("rule", rule, text("the posterior"), RULES))
