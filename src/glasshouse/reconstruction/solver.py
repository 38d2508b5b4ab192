"""Which bins can each package be in, under every allocation that meets all published totals?

Favato (2021, algorithm 1) asks an integer programme once per package and excluded bin, with the least overflow found in
the first solve as tolerance; that tolerance can exclude the truth. Here the windows are what the rounding model says,
the sets are exact, and one piece of work serves all packages:

1. bounds rule out bins, and lists of all subsets that meet one bin's windows rule out more, to a fixed point
   (`propagation`, `subsets`);
2. what is still open falls into independent parts; of each the valid allocations are the paths of a layered graph,
   which counts them (`allocation_graph`);
3. where a graph would be too large, valid allocations are searched until every bin that is not ruled out has been seen
   for every package (`walk`, first of all where very many are to be expected), and what is not seen is supposed, which
   shortens all lists (probing);
4. what is then neither seen nor ruled out is asked from CP-SAT: an allocation that shows some of it, or the proof that
   there is none (`cp_sat`).

At a limit the answer is what is not ruled out: a superset, flagged as not proved. Every allocation on which an answer
rests is checked in integers against the instance itself.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import partial
from math import factorial, gcd

import numpy as np

from glasshouse.arrays import Flags, Integers
from glasshouse.errors import InternalError, StudyError
from glasshouse.progress import OnProgress, Progress
from glasshouse.reconstruction.allocation_graph import (
    AllocationCounts,
    TooLarge,
    allocation_counts,
    allocations_covering,
    graph_of,
)
from glasshouse.reconstruction.cp_sat import settle
from glasshouse.reconstruction.group_instance import Instance, Shares, Solution, instance
from glasshouse.reconstruction.propagation import (
    Domains,
    domains_of,
    narrowed,
    propagate,
    supposing,
)
from glasshouse.reconstruction.system import (
    EFFORTS,
    Budget,
    ListEffort,
    SystemPart,
    Witnesses,
    parts_of,
    system_of,
)
from glasshouse.reconstruction.walk import aim, allocations_expected, walk
from glasshouse.solvers import OutOfTime

LEAST_MEMORY = 64 << 20
"""The least memory limit."""

_METHODS = ("propagation", "graph", "walk", "probing", "satisfaction", "limit")
_LISTS, _GRAPHS, _PROBES, _WALK, _LAST_WALK = 0.3, 0.3, 0.1, 0.15, 0.25
"""The parts of the time that the stages may take, the last walk twice; few take theirs, and the rest is CP-SAT's."""
_PLENTY, _LONG_WALK = 10.0, 0.6
"""Where so many digits of allocations are to be expected, a walk comes first and may take such a part of the time."""
_TRIALS, _LAST_TRIALS = 40, 1000
"""How often each walk tries a pair in vain."""
_SATISFACTION, _LAST_SATISFACTION = 0.03, 0.06
"""The parts of the time, in its own deterministic measure, that CP-SAT gets for a try."""
_FEW = 60
"""If more pairs are undecided, CP-SAT is not tried early, nor until the time is over: it would be in vain."""
COUNTING = 0.04
"""The part of the time that lists and graphs may each still take when only the number of allocations is open."""
_GRAPH_PARTS = (1 / 64, 1 / 16, 1 / 2, 1, 1)
"""Per level of effort, how much of its part one graph may take."""
_WALK_AFTER = 2
"""The level of effort after which allocations are searched where they could not be listed."""
_PROBE_TRIALS = 4
"""So many attempts a walk makes from the lists of a supposition."""
_PROBE_GRAPH = 16
"""The graph of a supposition may take one in so many units of what is left."""
_prepared: list[bool] = []


def solve(
    instance: Instance,
    *,
    seconds: float = 60.0,
    memory: int = 2 << 30,
    weights: Sequence[int] | None = None,
    counting: float = COUNTING,
    on_progress: OnProgress | None = None,
) -> Solution:
    """Find for every package the bins that it can be in, and count the allocations where that is possible.

    Args:
        instance: Packages, bins and windows.
        seconds: The CPU seconds that it may take, about: work is counted, so that it stops at the same place in every
            run. Compiling the loops, once per process, is not counted.
        memory: The bytes that its lists may take.
        weights: Per bin, what a package in it counts in `weighted_shares`; by default the registered entities.
        counting: The part of the time that lists and graphs may each take when only the number of allocations is open.
        on_progress: Told what is being done, and how many of how many pairs of package and bin are decided.

    Returns:
        The exact sets; or, with status "limit", sets that hold them. The same for every run.

    Raises:
        StudyError: A limit is not positive, or the weights do not match the bins.

    >>> from glasshouse.reconstruction.group_instance import instance
    >>> solution = solve(instance([["1.50"], ["2.25"], ["3.75"]], [[4], [4]]))
    >>> solution.status, solution.feasible_bins, solution.allocations
    ('ambiguous', ((0, 1), (0, 1), (0, 1)), 2)
    """
    _check_limits(seconds, memory, counting)
    bin_weights = _weights(instance, weights)
    prepare()
    budget = Budget(seconds, memory)
    solver = _Solver(instance, budget, bin_weights, counting, on_progress)
    try:
        return solver.solve()
    except SystemError as error:
        if isinstance(error.__cause__, KeyboardInterrupt):  # it came while a compiled loop returned
            raise KeyboardInterrupt from None
        raise


class _Infeasible(Exception):  # noqa: N818 - never leaves the solver
    """No valid allocation exists; proved."""


@dataclass(eq=False)
class _OpenPart:
    """A part on its way: what is known, what was seen, and what was counted."""

    known: Domains
    kinds: Integers
    bins: Integers
    witnesses: Witnesses
    counts: AllocationCounts | None = None
    weighted: AllocationCounts | None = None
    method: str = "limit"
    tried: tuple[int, int] = (0, 0)
    """What was known when a graph was last tried, and the work that it was allowed."""

    @property
    def decided(self) -> bool:
        """Whether every pair is either seen or ruled out."""
        return bool(self.witnesses.allocations) and not self.undecided.any()

    @property
    def undecided(self) -> Flags:
        return np.asarray((self.known.most > 0) & ~self.witnesses.seen)


class _Solver:
    """One instance on its way to a solution."""

    def __init__(
        self,
        instance: Instance,
        budget: Budget,
        weights: list[int] | None,
        counting: float,
        on_progress: OnProgress | None,
    ) -> None:
        self._instance = instance
        self._budget = budget
        self._weights = weights
        self._on_progress = on_progress
        system, self._kind_of = system_of(instance)
        self._system = system
        self._settled = np.zeros_like(system.most)
        self._stage = "propagation"
        self._counting = counting
        self._only_counts = False
        self._lists = budget.meter(_LISTS)
        self._graphs = budget.meter(_GRAPHS)
        self._one_graph = self._graphs.left
        self._probes = budget.meter(_PROBES)
        whole = _OpenPart(
            domains_of(system),
            np.arange(system.kinds),
            np.arange(system.bins),
            Witnesses(system),
        )
        self._tasks = [whole]

    def solve(self) -> Solution:
        """Go through the stages until everything is decided and counted, or a limit is met."""
        try:
            self._run()
        except _Infeasible:
            return self._no_solution()
        except OutOfTime:
            pass
        return self._solution()

    def _run(self) -> None:  # noqa: C901
        # Level by level: lists, then graphs; from some level on also walks, CP-SAT and probes where they are too long.
        # A part is decided when each of its pairs is seen or ruled out (docs/totals.md, "How it is solved", 2 to 6).
        for level in range(len(EFFORTS)):
            self._enter("propagation")
            for task in list(self._tasks):
                if task.counts is None:
                    self._split(task, level)
            self._enter("graph")
            for task in self._tasks:
                if task.counts is None:
                    self._count(task, level)
            if all(task.counts for task in self._tasks):
                return
            if level == 0:
                for task in self._undecided("walk"):
                    if allocations_expected(task.known) > _PLENTY:
                        self._walk(task, _LONG_WALK, seed=0)
                self._only_count()
            if level == _WALK_AFTER:
                for task in self._undecided("walk"):
                    self._walk(task, _WALK, seed=0)
            if level >= _WALK_AFTER:
                for task in self._undecided("satisfaction"):
                    if task.undecided.sum() <= _FEW:
                        self._settle(task, most_time=_SATISFACTION * self._budget.seconds)
                for task in self._undecided("probing"):
                    if task.witnesses.allocations:
                        self._probe(task, level)
                self._only_count()
        # What is still undecided after the last level: longer walks, CP-SAT, and CP-SAT until the time is over.
        for seed in (1, 2):
            for task in self._undecided("walk"):
                if seed == 1 or task.witnesses.allocations:
                    self._walk(task, _LAST_WALK, seed=seed)
            for task in self._undecided("satisfaction"):
                self._settle(task, most_time=_LAST_SATISFACTION * self._budget.seconds)
        for task in self._undecided("satisfaction"):
            if task.undecided.sum() <= _FEW:
                self._settle(task)
        self._only_count()
        if self._only_counts:
            self._count_decided()

    def _settle(self, task: _OpenPart, most_time: float | None = None) -> None:
        settle(task.known, task.witnesses, self._budget, most_time=most_time)
        if not task.known.possible:
            raise _Infeasible
        self._credit(task)

    def _effort(self, known: Domains, level: int) -> ListEffort:
        return self._budget.effort(level, known.system, known.layout.words)

    def _only_count(self) -> None:
        """Once every pair is decided, go on counting for a part of the time only."""
        if all(task.decided for task in self._tasks) and not self._only_counts:
            self._only_counts = True
            self._one_graph = self._budget.meter(self._counting).left
            self._lists.left = self._graphs.left = self._one_graph

    def _count_decided(self) -> None:
        """Try once more to count what is decided but not counted: what was ruled out last makes lists shorter."""
        last = len(EFFORTS) - 1
        for task in [task for task in self._tasks if task.counts is None]:
            effort = self._effort(task.known, last)
            propagate(task.known, effort, self._budget, self._lists)
            parts = self._parts(task)
            if all(part.decided for part in parts):
                self._replace(task, parts)
        for task in self._tasks:
            if task.counts is None:
                self._count(task, last)

    def _enter(self, stage: str) -> None:
        self._stage = stage
        if self._on_progress is None:
            return
        undecided = sum(int(task.undecided.sum()) for task in self._tasks)
        whole = self._system.most.size
        self._on_progress(Progress("solving", whole - undecided, whole, note=stage))

    def _undecided(self, stage: str) -> list[_OpenPart]:
        """Enter a stage, and return the parts that are left to it."""
        self._enter(stage)
        return [task for task in self._tasks if not task.decided]

    def _split(self, task: _OpenPart, level: int) -> None:
        """Propagate with more effort, take out what is settled, and divide the rest into its parts."""
        known = task.known
        effort = self._effort(known, level)
        if level and effort == self._effort(known, level - 1):
            return
        propagate(known, effort, self._budget, self._lists)
        self._replace(task, self._parts(task))

    def _parts(self, task: _OpenPart) -> list[_OpenPart]:
        """Return the parts of what is open as tasks; the task itself if it is one part and nothing of it is settled."""
        known = task.known
        parts = parts_of(known.system, known.least, known.most) if known.possible else None
        if parts is None:
            raise _Infeasible
        if len(parts) == 1 and not known.least.any():
            return [task]
        return [_open_part(task, part) for part in parts]

    def _replace(self, task: _OpenPart, parts: list[_OpenPart]) -> None:
        """Put parts into the place of a task, and take note of what is settled outside of them."""
        if parts != [task]:
            self._settled[np.ix_(task.kinds, task.bins)] += task.known.least
            place = self._tasks.index(task)
            self._tasks[place : place + 1] = parts

    def _count(self, task: _OpenPart, level: int) -> None:
        """Build the graph of a part, if it is small enough, and count."""
        known = task.known
        # Early levels only try what costs little: better lists make smaller graphs.
        allowed = min(self._graphs.left, int(self._one_graph * _GRAPH_PARTS[level]))
        state = int(known.most.sum()) * (known.system.bins + 1) + len(known.open_bins)
        if task.tried[0] == state and allowed < 2 * task.tried[1]:
            return
        task.tried = state, allowed
        effort = self._effort(known, level)
        try:
            graph = graph_of(known, effort, self._budget, self._graphs, allowed)
        except TooLarge:
            return
        if graph.empty:
            raise _Infeasible
        for allocation in allocations_covering(graph, known):
            task.witnesses.add(allocation)
        known.most[~task.witnesses.seen] = 0
        self._credit(task)
        copies = self._system.copies[task.kinds]
        settled = self._settled[np.ix_(task.kinds, task.bins)]
        count = partial(
            allocation_counts, graph, known, copies=copies, settled=settled, budget=self._budget
        )
        task.counts = count()
        if self._weights is not None:
            task.weighted = count(weights=[self._weights[b] for b in task.bins.tolist()])
        feasible = np.array([[share > 0 for share in row] for row in task.counts.shares])
        if (feasible != (task.witnesses.seen | (settled > 0))).any():
            raise InternalError("the counts and the allocations found disagree")

    def _walk(self, task: _OpenPart, share: float, *, seed: int) -> None:
        meter = self._budget.meter(share)
        trials = _TRIALS if seed == 0 else _LAST_TRIALS
        walk(task.known, task.witnesses, self._budget, meter, seed=seed, trials=trials)
        self._credit(task)

    def _probe(self, task: _OpenPart, level: int) -> None:
        """Suppose undecided pairs of a part, one at a time, and see where that leads.

        The supposition leaves the bin less to fill, which shortens its list, and those of the others by propagation. It
        leads to a contradiction, which rules the pair out; or to a graph that is small enough to hold all allocations
        with the pair; or at least to a list from which a walk can start. Where it leads nowhere the pair stays
        undecided.
        """
        known, seen = task.known, task.witnesses.seen
        effort = self._effort(known, level)
        undecided = np.argwhere(task.undecided)
        room = known.system.high.max(axis=1)
        weight = known.system.weights.max(axis=1)
        order = np.argsort(-(weight[undecided[:, 0]] / np.maximum(1, room[undecided[:, 1]])))
        for kind, bin_ in undecided[order].tolist():
            if self._probes.empty:
                break
            if seen[kind, bin_] or not known.most[kind, bin_]:
                continue
            if not self._possible(task, kind, bin_, effort):
                known.most[kind, bin_] = 0
        self._credit(task)

    def _possible(self, task: _OpenPart, kind: int, bin_: int, effort: ListEffort) -> bool:
        """Tell whether a pair is possible, as far as one can see; an allocation that shows it is added."""
        budget, meter = self._budget, self._probes
        supposed = supposing(task.known, kind, bin_)
        if supposed.possible:
            propagate(supposed, effort, budget, meter)
        parts = (
            parts_of(supposed.system, supposed.least, supposed.most) if supposed.possible else None
        )
        if parts is None:
            return False
        whole = [supposed.least.copy()]
        for part in parts:
            domains = narrowed(supposed, part)
            try:
                graph = graph_of(domains, effort, budget, meter, meter.left // _PROBE_GRAPH)
            except TooLarge:
                trials = _PROBE_TRIALS
                aim(supposed, task.witnesses, kind, bin_, budget, meter, seed=kind, trials=trials)
                return True
            if graph.empty:
                return False
            covering = allocations_covering(graph, domains)
            whole = _joined(whole, covering, np.ix_(part.kinds, part.bins))
        for allocation in whole:
            task.witnesses.add(allocation)
        return True

    def _credit(self, task: _OpenPart) -> None:
        """Take note of what decided a part, if it is decided now."""
        if task.decided and task.method == "limit":
            task.method = self._stage

    def _no_solution(self) -> Solution:
        return Solution(
            instance=self._instance,
            status="infeasible",
            feasible_bins=((),) * len(self._instance.packages),
            proved=True,
            allocations=0,
            method=self._stage,
            seconds=self._budget.spent,
        )

    def _solution(self) -> Solution:
        proved = all(task.decided for task in self._tasks)
        witness = self._witness()
        possible, decided = self._settled > 0, np.ones(len(self._settled), bool)
        for task in self._tasks:
            possible[np.ix_(task.kinds, task.bins)] |= task.known.most > 0
            decided[task.kinds] &= ~task.undecided.any(axis=1)
        feasible = tuple(tuple(np.flatnonzero(row).tolist()) for row in possible[self._kind_of])
        counted = all(task.counts is not None for task in self._tasks)
        weighted = self._weights is not None and all(task.weighted for task in self._tasks)
        single = all(len(bins) == 1 for bins in feasible)
        methods = [task.method if task.decided else "limit" for task in self._tasks]
        return Solution(
            instance=self._instance,
            status="limit" if not proved else "unique" if single else "ambiguous",
            feasible_bins=feasible,
            proved=proved,
            exact=None if witness is None else tuple(decided[self._kind_of].tolist()),
            allocations=self._allocations() if counted else None,
            shares=self._shares([task.counts for task in self._tasks]) if counted else None,
            weighted_shares=self._shares([task.weighted for task in self._tasks])
            if counted and weighted
            else None,
            weights=None if self._weights is None else tuple(self._weights),
            witness=witness,
            method=max(methods, key=_METHODS.index, default="propagation"),
            seconds=self._budget.spent,
        )

    def _allocations(self) -> int:
        """Return the product over the parts, and over what is settled outside of them."""
        ways = Fraction(1)
        outside, alone = self._settled.copy(), np.ones(len(self._settled), bool)
        for task in self._tasks:
            assert task.counts is not None  # noqa: S101 - for the type checker
            ways *= task.counts.total
            outside[np.ix_(task.kinds, task.bins)] = 0
            alone[task.kinds] = False
        for number in self._system.copies[alone].tolist():
            ways *= factorial(number)
        for number in outside[outside > 1].tolist():
            ways /= factorial(number)
        return int(ways)

    def _shares(self, counts: Sequence[AllocationCounts | None]) -> Shares:
        """Return the share of the allocations per package and bin."""
        table = [
            [Fraction(int(number), int(copies)) for number in row]
            for row, copies in zip(self._settled, self._system.copies, strict=True)
        ]
        for task, counted in zip(self._tasks, counts, strict=True):
            assert counted is not None  # noqa: S101 - for the type checker
            for kind, row in zip(task.kinds.tolist(), counted.shares, strict=True):
                for bin_, share in zip(task.bins.tolist(), row, strict=True):
                    table[kind][bin_] = share
        rows = [tuple(row) for row in table]
        return tuple(rows[kind] for kind in self._kind_of.tolist())

    def _witness(self) -> Integers | None:
        """Join the allocations of the parts to whole ones, check each against the instance, and return the first."""
        if not all(task.witnesses.allocations for task in self._tasks):
            return None
        first = None
        rounds = max((len(task.witnesses.allocations) for task in self._tasks), default=1)
        for number in range(rounds):
            table = self._settled.copy()
            for task in self._tasks:
                allocations = task.witnesses.allocations
                table[np.ix_(task.kinds, task.bins)] += allocations[number % len(allocations)]
            allocation = self._of_packages(table)
            if not self._instance.allows(allocation):
                raise InternalError("an allocation that was found does not meet the totals")
            first = allocation if first is None else first
        return first

    def _of_packages(self, table: Integers) -> Integers:
        """Return the bin of each package, if so many of each kind are in each bin."""
        allocation = np.empty(len(self._kind_of), np.int64)
        order = np.argsort(self._kind_of, kind="stable")
        bins = np.tile(np.arange(table.shape[1]), len(table))
        allocation[order] = np.repeat(bins, table.ravel())
        return allocation


def _open_part(task: _OpenPart, part: SystemPart) -> _OpenPart:
    """Return a part as a task of its own: its lists and allocations are those of the whole, less what is settled."""
    witnesses = Witnesses(part.system)
    pairs = np.ix_(part.kinds, part.bins)
    for allocation in task.witnesses.allocations:
        witnesses.add(allocation[pairs].astype(np.int64) - part.settled)
    return _OpenPart(
        known=narrowed(task.known, part),
        kinds=task.kinds[part.kinds],
        bins=task.bins[part.bins],
        witnesses=witnesses,
        method=task.method,
    )


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


def prepare() -> None:
    """Compile the loops, once per process, so that no time limit has to pay for it."""
    if not _prepared:
        _prepared.append(True)
        for totals in ([[8], [8], [12]], [[7], [10], [11]]):
            packages = [[1], [2], [2], [3], [4], [4], [5], [7]]
            solve(instance(packages, totals, entities=[1, 2, 3]), seconds=3600)
        system, _ = system_of(instance([[n] for n in range(1, 41)], [[500], [320]]))
        budget = Budget(1.0, LEAST_MEMORY)
        walk(domains_of(system), Witnesses(system), budget, budget.meter(0.1), seed=0, trials=1)


def _weights(instance: Instance, weights: Sequence[int] | None) -> list[int] | None:
    """Return what a package counts in each bin, if that is known for all of them."""
    counts = instance.entities if weights is None else weights
    if counts is None or any(count is None for count in counts):
        return None
    whole = [int(count) for count in counts if count is not None]
    if len(whole) != len(instance.low) or min(whole) < 1:
        raise StudyError(
            "{name} has {bins} bins; give each a weight from 1",
            name=instance.name,
            bins=str(len(instance.low)),
        )
    common = gcd(*whole)
    return [weight // common for weight in whole]


def _check_limits(seconds: float, memory: int, counting: float) -> None:
    if not 0 < seconds < float("inf"):
        raise StudyError(
            "the time limit is {limit}; give a number of seconds above 0",
            limit=str(seconds),
        )
    if memory < LEAST_MEMORY:
        raise StudyError(
            "the memory limit is {limit} bytes; give at least {least}",
            limit=memory,
            least=LEAST_MEMORY,
        )
    if not 0 <= counting <= 1:
        raise StudyError(
            "the part of the time for counting is {part}; give one from 0 to 1", part=str(counting)
        )
