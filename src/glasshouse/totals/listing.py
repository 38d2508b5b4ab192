"""Tables of a campaign: a row per instance, and a row per record."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from glasshouse.arrays import Integers
from glasshouse.totals.finding import Found
from glasshouse.totals.joining import Flags
from glasshouse.totals.standing import Standing, sources_of
from glasshouse.totals.titles import titles_of


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


def packages_table(
    found: Sequence[Found],
    standing: Standing,
    values: NDArray[np.float64],
    records: pa.Array,
    *,
    registered: bool,
    most_bins: int,
) -> pa.Table:
    """Return a row per record; see `glasshouse.totals.reckoning.CampaignResult.packages_frame`.

    Args:
        found: The phases.
        standing: What is known of every record.
        values: What each is worth.
        records: What each is called.
        registered: Whether there is a register.
        most_bins: Where more bins are feasible, they are counted and not listed.
    """
    rows = len(values)
    phase, part = sources_of(standing.told)
    titles = titles_of(found)
    number = np.zeros(rows, np.int64)
    bins: list[list[str] | None] = [None] * rows
    shares: list[list[float] | None] = [None] * rows
    may_be = np.zeros(rows, bool)
    for place, each in enumerate(found):
        mine = np.where(phase == place, part, -1)
        for own in np.unique(mine[mine >= 0]).tolist():
            names = [titles.names[place][b] for b in _bins_of(each, own)]
            names += [titles.left_out] if each.instances.left_out[own] else []
            _fill(each, own, mine, names, most_bins, number, bins, shares, may_be)
    phases = [each.phase.name for each in found]
    said = [None if place < 0 else phases[place] for place in phase.tolist()]
    unknown = np.full(rows, not registered) | standing.unregistered
    return pa.table(
        {
            "record": records,
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


def _bins_of(found: Found, part: int) -> list[int]:
    instances = found.instances
    return list(instances.groups.bin[instances.bins_of(part)].tolist())


def _fill(
    found: Found,
    part: int,
    mine: Integers,
    names: Sequence[str],
    most_bins: int,
    number: Integers,
    bins: list[list[str] | None],
    shares: list[list[float] | None],
    may_be: Flags,
) -> None:
    instances, groups = found.instances, found.instances.groups
    record = groups.record[instances.packages_of(part)]
    attempt = found.attempts.get(part)
    feasible = np.ones((len(record), 1), bool) if attempt is None else attempt.feasible
    if feasible is None:
        return
    counts = feasible.sum(axis=1)
    share = np.ones(len(record)) if attempt is None else attempt.shares
    first = np.cumsum(counts) - counts
    chosen = mine[record] == part
    if instances.left_out[part]:
        may_be[record[chosen]] = feasible[chosen, -1]
    number[record[chosen]] = counts[chosen]
    for place in np.flatnonzero(chosen & (counts <= most_bins)).tolist():
        row = int(record[place])
        bins[row] = [names[column] for column in np.flatnonzero(feasible[place]).tolist()]
        if share is not None:
            begin = int(first[place])
            shares[row] = share[begin : begin + int(counts[place])].tolist()
