"""One pair at a time: suppose that a package is in a bin, and see where that leads.

The supposition leaves the bin less to fill, which shortens its list, and those of the others by propagation. It leads
to a contradiction, which rules the pair out; or to a graph that is small enough to hold all allocations with the pair;
or at least to a list from which a walk can start. Where it leads nowhere the pair stays undecided.
"""

from __future__ import annotations

import numpy as np

from glasshouse.totals.budget import Budget, Effort, Meter
from glasshouse.totals.graph import TooLarge, allocations_covering, graph_of
from glasshouse.totals.instance import Integers
from glasshouse.totals.linear import parts_of
from glasshouse.totals.propagation import Knowledge, narrowed, propagate, supposing
from glasshouse.totals.walk import aim
from glasshouse.totals.witnesses import Witnesses

_TRIALS = 4
"""So many attempts a walk makes from the lists of a supposition."""
_GRAPH_SHARE = 16
"""A graph may take one in so many units of what is left."""


def probe(
    known: Knowledge, witnesses: Witnesses, effort: Effort, budget: Budget, meter: Meter
) -> None:
    """Decide undecided pairs of a part of which some allocation is known, as far as the effort goes.

    Raises:
        OutOfTime: The time is over; what was decided until then is kept.
    """
    undecided = np.argwhere((known.most > 0) & ~witnesses.seen)
    room = known.system.high.max(axis=1)
    weight = known.system.weights.max(axis=1)
    order = np.argsort(-(weight[undecided[:, 0]] / np.maximum(1, room[undecided[:, 1]])))
    for kind, bin_ in undecided[order].tolist():
        if meter.empty:
            return
        if witnesses.seen[kind, bin_] or not known.most[kind, bin_]:
            continue
        if not _possible(known, witnesses, kind, bin_, effort, budget, meter):
            known.most[kind, bin_] = 0


def _possible(
    known: Knowledge,
    witnesses: Witnesses,
    kind: int,
    bin_: int,
    effort: Effort,
    budget: Budget,
    meter: Meter,
) -> bool:
    """Tell whether a pair is possible, as far as one can see; an allocation that shows it is added."""
    supposed = supposing(known, kind, bin_)
    if supposed.possible:
        propagate(supposed, effort, budget, meter)
    parts = parts_of(supposed.system, supposed.least, supposed.most) if supposed.possible else None
    if parts is None:
        return False
    whole = [supposed.least.copy()]
    for part in parts:
        own = narrowed(supposed, part)
        allowed = meter.left // _GRAPH_SHARE
        graph_meter = Meter(allowed)
        try:
            graph = graph_of(own, effort, budget, graph_meter)
        except TooLarge:
            aim(supposed, witnesses, kind, bin_, budget, meter, seed=kind, trials=_TRIALS)
            return True
        finally:
            meter.spend(allowed - graph_meter.left)
        if graph.empty:
            return False
        whole = _joined(whole, allocations_covering(graph, own), np.ix_(part.kinds, part.bins))
    for allocation in whole:
        witnesses.add(allocation)
    return True


def _joined(
    whole: list[Integers], parts: list[Integers], pairs: tuple[Integers, ...]
) -> list[Integers]:
    """Put the allocations of a part into those of the rest, one after the other."""
    joined = []
    for number in range(max(len(whole), len(parts))):
        allocation = whole[number % len(whole)].copy()
        allocation[pairs] += parts[number % len(parts)]
        joined.append(allocation)
    return joined
