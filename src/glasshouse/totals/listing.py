"""Tables of a campaign: a row per instance, and a row per record."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from glasshouse.totals.amounts import Integers
from glasshouse.totals.finding import Found
from glasshouse.totals.instance import NONE
from glasshouse.totals.joining import Flags
from glasshouse.totals.publications import Coded
from glasshouse.totals.standing import Standing


def instances_table(found: Found, values: NDArray[np.float64]) -> pa.Table:
    """Return a row per instance of a phase; see `glasshouse.totals.reckoning.CampaignResult.instances_frame`."""
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
            "value": pa.array(worth_of(found, values)[wanted]),
            "status": pa.array(status, pa.string()),
            "method": pa.array(
                [None if each is None else each.method for each in attempts], pa.string()
            ),
            "linked": pa.array(_linked_counts(found, wanted), pa.int64()),
            "seconds": pa.array(
                [0.0 if each is None else each.seconds for each in attempts], pa.float64()
            ),
        }
    )


def worth_of(found: Found, values: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return what the records of each part are worth."""
    instances = found.instances
    packages, _ = instances.sizes
    owner = np.repeat(np.arange(instances.count), packages)
    worth = values[instances.groups.record[instances.package]]
    return np.asarray(np.bincount(owner, worth, minlength=instances.count))


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


def packages_table(
    found: Sequence[Found],
    standing: Standing,
    values: NDArray[np.float64],
    names: Coded | None,
    *,
    registered: bool,
    most_bins: int,
) -> pa.Table:
    """Return a row per record; see `glasshouse.totals.reckoning.CampaignResult.packages_frame`."""
    rows = len(values)
    phase, part = _places(found, rows)
    number = np.zeros(rows, np.int64)
    bins: list[list[str] | None] = [None] * rows
    shares: list[list[float] | None] = [None] * rows
    may_be = np.zeros(rows, bool)
    for place, each in enumerate(found):
        for own in np.unique(part[phase == place]).tolist():
            _fill(each, own, phase == place, most_bins, number, bins, shares, may_be)
    phases = [each.phase.name for each in found]
    said = [None if place < 0 else phases[place] for place in phase.tolist()]
    unknown = np.full(rows, not registered) | standing.unregistered
    record = (
        pa.array(np.arange(1, rows + 1)).cast(pa.string())
        if names is None
        else names.values.take(pa.array(names.codes)).cast(pa.string())
    )
    return pa.table(
        {
            "record": record,
            "value": pa.array(values),
            "phase": pa.array(said, pa.string()),
            "proved": pa.array(standing.proved),
            "feasible": pa.array(number),
            "feasible_bins": pa.array(bins, pa.list_(pa.string())),
            "shares": pa.array(shares, pa.list_(pa.float64())),
            "may_be_left_out": pa.array(may_be, mask=phase < 0),
            "uniform": pa.array(standing.uniform, mask=unknown),
            "bayes": pa.array(standing.bayes, mask=unknown),
            "linked": pa.array(standing.linked),
            "certain": pa.array(standing.certain),
        }
    )


def left_out_name(found: Found) -> str:
    """Return what results call the bin of records left out: "NONE", unless a bin of the phase is called so."""
    name = NONE
    while name in found.instances.groups.bin_names:
        name += " (left out)"
    return name


def _fill(
    found: Found,
    part: int,
    mine: NDArray[np.bool_],
    most_bins: int,
    number: Integers,
    bins: list[list[str] | None],
    shares: list[list[float] | None],
    may_be: Flags,
) -> None:
    instances, groups = found.instances, found.instances.groups
    record = groups.record[instances.packages_of(part)]
    names = [groups.bin_names[place] for place in groups.bin[instances.bins_of(part)].tolist()]
    names += [left_out_name(found)] if instances.left_out[part] else []
    attempt = found.attempts.get(part)
    feasible = np.ones((len(record), 1), bool) if attempt is None else attempt.feasible
    if feasible is None:
        return
    counts = feasible.sum(axis=1)
    share = np.ones(len(record)) if attempt is None else attempt.shares
    first = np.cumsum(counts) - counts
    chosen = mine[record]
    if instances.left_out[part]:
        may_be[record[chosen]] = feasible[chosen, -1]
    number[record[chosen]] = counts[chosen]
    for place in np.flatnonzero(chosen & (counts <= most_bins)).tolist():
        row = int(record[place])
        bins[row] = [names[column] for column in np.flatnonzero(feasible[place]).tolist()]
        if share is not None:
            begin = int(first[place])
            shares[row] = share[begin : begin + int(counts[place])].tolist()
