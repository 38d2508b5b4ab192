"""What a campaign comes to: figures per phase, tables per instance, per bin and per record."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from glasshouse.errors import StudyError
from glasshouse.language import unknown_name
from glasshouse.totals.amounts import Integers
from glasshouse.totals.exposure import Phase as Exposed
from glasshouse.totals.instance import NONE
from glasshouse.totals.publications import Published, Trouble
from glasshouse.totals.splitting import REASONS
from glasshouse.totals.standing import Found, Standing

RULES = ("uniform", "bayes")
"""How the adversary guesses; see `glasshouse.totals.exposure`."""


@dataclass(frozen=True)
class Apart:
    """Groups, or parts of them, whose totals cannot be met."""

    reason: str
    """Why; one of `glasshouse.totals.splitting.REASONS`."""
    groups: int
    """How many there are."""
    records: int
    """How many records they have."""
    value: float
    """What these are worth."""

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
    standing: Standing
    """Per record, what is known at the end."""
    published: Published
    """The records."""
    values: NDArray[np.float64]
    """Per record, what it is worth."""
    identifier: str | None
    """The column that names records."""

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
        return pa.concat_tables([_instances_table(found, self.values) for found in self.found])

    def bins_frame(self) -> pa.Table:
        """Return per bin the records whose bin is certain, and those whose entity is; most value first."""
        return _bins_table(self)

    def packages_frame(self, *, most_bins: int = 100) -> pa.Table:
        """Return a row per record: where it can be, with which probability, and the chances to name its entity.

        This is the disclosure itself: it serves the publisher to see what must not be published.

        Args:
            most_bins: Where more bins are feasible, they are counted and not listed.
        """
        return _packages_table(self, most_bins)

    def exposure(self, rule: str = "bayes") -> tuple[Exposed, ...]:
        """Return what the adversary can do before, and after each step, by one rule of guessing.

        Raises:
            StudyError: There is no such rule, or no register.
        """
        if rule not in RULES:
            raise StudyError(unknown_name("rule", rule, "the posterior", RULES))
        if self.entities is None:
            raise StudyError("the plan has no register of entities; add [entities] to it")
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
        apart=_apart(found, reason, values),
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
        factor=None if last is None else chance / last.chance,
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
    worth = _worth(found, values)
    return tuple(
        Apart(
            reason=REASONS[code],
            groups=int((reason == code).sum()),
            records=int(packages[reason == code].sum()),
            value=float(worth[reason == code].sum()),
        )
        for code in range(1, len(REASONS))
        if (reason == code).any()
    )


def _worth(found: Found, values: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return what the records of each part are worth."""
    instances = found.instances
    packages, _ = instances.sizes
    owner = np.repeat(np.arange(instances.count), packages)
    worth = values[instances.groups.record[instances.package]]
    return np.asarray(np.bincount(owner, worth, minlength=instances.count))


def _instances_table(found: Found, values: NDArray[np.float64]) -> pa.Table:
    instances = found.instances
    packages, bins = instances.sizes
    wanted = instances.wanted
    attempts = [found.attempts.get(int(part)) for part in wanted]
    status = [
        ("unique" if instances.single[part] else "untried") if each is None else each.status
        for part, each in zip(wanted, attempts, strict=True)
    ]
    return pa.table(
        {
            "phase": pa.array([found.phase.name] * len(wanted), pa.string()),
            "packages": pa.array(packages[wanted]),
            "bins": pa.array(bins[wanted]),
            "left_out": pa.array(instances.left_out[wanted]),
            "complexity": pa.array(instances.complexity[wanted]),
            "value": pa.array(_worth(found, values)[wanted]),
            "status": pa.array(status, pa.string()),
            "method": pa.array(
                [None if each is None else each.method for each in attempts], pa.string()
            ),
            "linked": pa.array(_linked_counts(found, wanted), pa.int64()),
            "seconds": pa.array([0.0 if each is None else each.seconds for each in attempts]),
        }
    )


def _linked_counts(found: Found, parts: Integers) -> list[int]:
    packages = np.diff(found.instances.package_start)
    counts = []
    for part in parts.tolist():
        attempt = found.attempts.get(part)
        if attempt is None:
            counts.append(int(packages[part]) if found.instances.single[part] else 0)
        elif attempt.feasible is None or attempt.status == "limit":
            counts.append(0)
        else:
            counts.append(int((attempt.feasible.sum(axis=1) == 1).sum()))
    return counts


def _places(found: Sequence[Found], rows: int) -> tuple[Integers, Integers]:
    """Return per record the last phase that says something about it, and the part there; −1 where none does."""
    phase, part = np.full(rows, -1, np.int64), np.full(rows, -1, np.int64)
    sure = np.zeros(rows, bool)
    for number, each in enumerate(found):
        if not each.phase.exposed:
            continue
        told = [p for p, a in each.attempts.items() if a.feasible is not None]
        for own in [*told, *each.trivial.tolist()]:
            attempt = each.attempts.get(own)
            proved = attempt is None or attempt.status != "limit"
            record = each.instances.groups.record[each.instances.packages_of(own)]
            record = record[proved | ~sure[record]]
            phase[record], part[record] = number, own
            sure[record] |= proved
    return phase, part


def _bins_table(result: CampaignResult) -> pa.Table:
    phase, part = _places(result.found, result.records)
    names: list[str] = []
    entities: list[int | None] = []
    rows: list[Integers] = []
    index: dict[str, int] = {}
    for number, found in enumerate(result.found):
        groups, instances = found.instances.groups, found.instances
        for own in np.unique(part[phase == number]).tolist():
            record, bin_ = _sure(found, own)
            record, bin_ = record[mine := phase[record] == number], bin_[mine]
            for code in np.unique(bin_).tolist():
                place = int(groups.bin[instances.bins_of(own)[code]])
                name = groups.bin_names[place]
                if name not in index:
                    index[name] = len(names)
                    names.append(name)
                    count = None if found.entities is None else int(found.entities[place])
                    entities.append(count)
                    rows.append(np.zeros(0, np.int64))
                at = index[name]
                rows[at] = np.concatenate([rows[at], record[bin_ == code]])
    certain = [each[result.standing.certain[each]] for each in rows]
    table = pa.table(
        {
            "bin": pa.array(names, pa.string()),
            "entities": pa.array(entities, pa.int64()),
            "linked": pa.array([len(each) for each in rows], pa.int64()),
            "linked_value": pa.array(
                [float(result.values[each].sum()) for each in rows], pa.float64()
            ),
            "certain": pa.array([len(each) for each in certain], pa.int64()),
            "certain_value": pa.array(
                [float(result.values[each].sum()) for each in certain], pa.float64()
            ),
        }
    )
    keys = [("certain_value", "descending"), ("linked_value", "descending"), ("bin", "ascending")]
    return table.sort_by(keys)


def _sure(found: Found, part: int) -> tuple[Integers, Integers]:
    """Return the records of a part whose bin is certain, and the position of that bin in the part."""
    record = found.instances.groups.record[found.instances.packages_of(part)]
    attempt = found.attempts.get(part)
    if attempt is None:
        return record, np.zeros(len(record), np.int64)
    if attempt.feasible is None or attempt.status == "limit":
        return record[:0], record[:0]
    one = attempt.feasible.sum(axis=1) == 1
    if found.instances.left_out[part]:
        one &= ~attempt.feasible[:, -1]
    return record[one], attempt.feasible[one].argmax(axis=1)


def _packages_table(result: CampaignResult, most_bins: int) -> pa.Table:
    rows = result.records
    phase, part = _places(result.found, rows)
    number = np.zeros(rows, np.int64)
    bins: list[list[str] | None] = [None] * rows
    shares: list[list[float] | None] = [None] * rows
    for place, found in enumerate(result.found):
        for own in np.unique(part[phase == place]).tolist():
            _fill(found, own, phase == place, most_bins, number, bins, shares)
    names = None
    if result.identifier is not None:
        column = result.published.column(result.identifier)
        names = column.values.take(pa.array(column.codes)).cast(pa.string())
    standing = result.standing
    phases = [found.phase.name for found in result.found]
    said = [None if place < 0 else phases[place] for place in phase.tolist()]
    return pa.table(
        {
            "record": pa.array(np.arange(1, rows + 1)).cast(pa.string())
            if names is None
            else names,
            "value": pa.array(result.values),
            "phase": pa.array(said, pa.string()),
            "proved": pa.array(standing.proved),
            "feasible": pa.array(number),
            "feasible_bins": pa.array(bins, pa.list_(pa.string())),
            "shares": pa.array(shares, pa.list_(pa.float64())),
            "uniform": pa.array(standing.uniform),
            "bayes": pa.array(standing.bayes),
            "linked": pa.array(standing.linked),
            "certain": pa.array(standing.certain),
        }
    )


def _fill(
    found: Found,
    part: int,
    mine: NDArray[np.bool_],
    most_bins: int,
    number: Integers,
    bins: list[list[str] | None],
    shares: list[list[float] | None],
) -> None:
    instances, groups = found.instances, found.instances.groups
    record = groups.record[instances.packages_of(part)]
    names = [groups.bin_names[place] for place in groups.bin[instances.bins_of(part)].tolist()]
    names += [NONE] if instances.left_out[part] else []
    attempt = found.attempts.get(part)
    feasible = np.ones((len(record), 1), bool) if attempt is None else attempt.feasible
    if feasible is None:
        return
    counts = feasible.sum(axis=1)
    share = np.ones(len(record)) if attempt is None else attempt.shares
    first = np.cumsum(counts) - counts
    chosen = mine[record]
    number[record[chosen]] = counts[chosen]
    for place in np.flatnonzero(chosen & (counts <= most_bins)).tolist():
        row = int(record[place])
        bins[row] = [names[column] for column in np.flatnonzero(feasible[place]).tolist()]
        if share is not None:
            begin = int(first[place])
            shares[row] = share[begin : begin + int(counts[place])].tolist()
