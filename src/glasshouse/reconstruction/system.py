"""The instance as the solver sees it: kinds of equal packages, linear windows over whole numbers, and a budget.

Packages with the same measures are of one *kind*; an allocation says how many of each kind go into each bin, and stands
for as many allocations of packages as there are ways to tell them apart. A window that widens with the number of
packages in the bin, low − h c ≤ S ≤ high + h c, is two linear ones for c ≥ 1:

    Σ (w + h) ≥ low      and      Σ (w − h) ≤ high

An empty bin has the slack of one package; where that makes a difference (*spared* bins), it is decided apart.

Valid allocations that some stage of the solver comes across are its *witnesses*: each is checked here. What the solver
may spend is counted in units of work, not timed: it stops at the same place in every run, however busy the machine is.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from math import gcd
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from glasshouse.arrays import Flags, Integers
from glasshouse.errors import InternalError
from glasshouse.reconstruction.group_instance import Instance
from glasshouse.solvers import OutOfTime

_MOST_BYTES = 1 << 26
"""So much room the allocations of a part may take."""
_SHARE = 0.2
"""The part of the work that one call of a compiled loop may do: nothing is counted before it ends."""
UNITS_PER_SECOND = 2e8
"""Work is counted in pairs that are looked at, of sums or of states and subsets; one core does about so many."""
UNITS_PER_CELL = 2
"""What it costs to list a sum of a half, in the same units, for each of its rows and words."""
_COPIES_OF_HALF = 6
"""A half is held about so many times while it grows."""
_COPIES_OF_LIST = 3
"""The lists of all bins, and the numbers of packages of each kind in one of them, are held about so many times."""


# -- kinds, bins and windows -----------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class System:
    """Kinds of packages to be divided among bins, with linear windows."""

    weights: Integers
    """Per kind and row (a linear form of the measures), its weight."""
    copies: Integers
    """Per kind, how many packages of it there are."""
    low: Integers
    """Per bin and row, the least sum."""
    high: Integers
    """Per bin and row, the greatest sum."""
    spared: Flags
    """Per bin, whether it may be empty although its windows do not hold 0."""
    most: Integers
    """Per kind and bin, how many packages of the kind can be in the bin."""

    @property
    def kinds(self) -> int:
        """The number of kinds."""
        return len(self.copies)

    @property
    def bins(self) -> int:
        """The number of bins."""
        return len(self.low)

    @property
    def rows(self) -> int:
        """The number of linear forms."""
        return int(self.weights.shape[1])

    def allows(self, allocation: Integers) -> bool:
        """Tell whether so many packages of each kind in each bin meet all windows."""
        if (allocation < 0).any() or (allocation > self.most).any():
            return False
        if (allocation.sum(axis=1) != self.copies).any():
            return False
        sums = allocation.T @ self.weights
        inside = ((sums >= self.low) & (sums <= self.high)).all(axis=1)
        empty = ~allocation.any(axis=0)
        return bool((inside | (self.spared & empty)).all())


@dataclass(frozen=True, eq=False)
class SystemPart:
    """Kinds and bins of a system that have nothing to do with the others, less what is settled."""

    system: System
    """What is open in it; nothing is settled."""
    kinds: Integers
    """Which kinds of the whole system."""
    bins: Integers
    """Which bins of the whole system."""
    settled: Integers
    """Per kind and bin of the part, how many packages are settled there and are no longer in the system."""


def system_of(instance: Instance) -> tuple[System, Integers]:
    """Return the system of an instance, and the kind of each package."""
    kinds, kind_of, copies = np.unique(
        instance.packages, axis=0, return_inverse=True, return_counts=True
    )
    copies = copies.astype(np.int64)
    weights, low, high, most = _without_marks(*_rows(instance, kinds), copies)
    low, high = _within_the_whole(weights, copies, low, high, spared := _spared(instance))
    system = System(
        weights=np.ascontiguousarray(weights),
        copies=copies,
        low=np.ascontiguousarray(low),
        high=np.ascontiguousarray(high),
        spared=spared,
        most=most,
    )
    return system, kind_of.reshape(-1).astype(np.int64)


def parts_of(system: System, least: Integers, most: Integers) -> list[SystemPart] | None:
    """Divide what is still open into parts that share neither kinds nor bins; None: a settled bin is not met."""
    base = least.T @ system.weights
    open_pairs = most > least
    for bin_ in np.flatnonzero(~open_pairs.any(axis=0)):
        inside = (base[bin_] >= system.low[bin_]) & (base[bin_] <= system.high[bin_])
        if not (inside.all() or (system.spared[bin_] and not least[:, bin_].any())):
            return None
    parts = []
    for kinds, bins in _components(open_pairs):
        pairs = np.ix_(kinds, bins)
        parts.append(
            SystemPart(
                system=System(
                    weights=np.ascontiguousarray(system.weights[kinds]),
                    copies=system.copies[kinds] - least[kinds].sum(axis=1),
                    low=system.low[bins] - base[bins],
                    high=system.high[bins] - base[bins],
                    spared=system.spared[bins] & ~least[:, bins].any(axis=0),
                    most=np.ascontiguousarray((most - least)[pairs]),
                ),
                kinds=kinds,
                bins=bins,
                settled=least[pairs],
            )
        )
    return parts


def _rows(instance: Instance, kinds: Integers) -> tuple[Integers, Integers, Integers]:
    """Return the weights of the kinds and the windows of the bins, row by row; equal rows are met together."""
    rows: dict[bytes, tuple[Integers, Integers, Integers]] = {}
    count = len(instance.packages)
    for column in range(instance.packages.shape[1]):
        weight, slack = kinds[:, column], int(instance.halfwidth[column])
        low, high = instance.low[:, column], instance.high[:, column]
        # The end that a row leaves open is bounded by the other row: the slack is at most that of all packages.
        spread = 2 * slack * count
        for form, least, most in (
            [(weight + slack, low, high + spread), (weight - slack, low - spread, high)]
            if slack
            else [(weight, low, high)]
        ):
            step = gcd(*form.tolist()) or 1
            form, least, most = form // step, -(-least // step), most // step
            key = form.tobytes()
            if key in rows:
                least, most = np.maximum(least, rows[key][1]), np.minimum(most, rows[key][2])
            rows[key] = form, least, most
    table = list(zip(*rows.values(), strict=True))
    weights, low, high = (np.stack(column, axis=1).astype(np.int64) for column in table)
    return weights, low, high


def _without_marks(
    weights: Integers, low: Integers, high: Integers, copies: Integers
) -> tuple[Integers, Integers, Integers, Integers]:
    """Turn rows that only keep kinds out of bins into bounds, so that no list has to carry them.

    A bin takes all that such a row weighs, or nothing of it.

    Returns:
        The other rows (weights, low and high), at least one; and per kind and bin, how many packages can be there.
    """
    nothing = high == 0
    marks = (weights >= 0).all(axis=0) & (low <= 0).all(axis=0)
    marks &= (nothing | (high >= copies @ weights)).all(axis=0)
    most = np.repeat(copies[:, None], len(low), axis=1)
    for row in np.flatnonzero(marks):
        most[np.ix_(weights[:, row] > 0, nothing[:, row])] = 0
    marks[0] &= not marks.all()
    return weights[:, ~marks], low[:, ~marks], high[:, ~marks], most


def _spared(instance: Instance) -> Flags:
    slack = instance.halfwidth
    empty = ((instance.low - slack <= 0) & (instance.high + slack >= 0)).all(axis=1)
    inside = ((instance.low <= 0) & (instance.high >= 0)).all(axis=1)
    return np.asarray(empty & ~inside)


def _within_the_whole(
    weights: Integers,
    copies: NDArray[np.integer],
    low: Integers,
    high: Integers,
    spared: Flags,
) -> tuple[Integers, Integers]:
    """Narrow the windows: what one bin holds is what the others leave of the whole."""
    whole = copies.astype(np.int64) @ weights
    least = np.where(spared[:, None], np.minimum(low, 0), low)
    most = np.where(spared[:, None], np.maximum(high, 0), high)
    return (
        np.maximum(low, whole - (most.sum(axis=0) - most)),
        np.minimum(high, whole - (least.sum(axis=0) - least)),
    )


def _components(pairs: Flags) -> list[tuple[Integers, Integers]]:
    """Return the connected components of kinds and bins, in the order of their first kind."""
    todo = pairs.any(axis=1)
    components = []
    while todo.any():
        kinds: Flags = np.zeros(len(pairs), bool)
        kinds[np.argmax(todo)] = True
        while True:
            bins = np.asarray(pairs[kinds].any(axis=0))
            more = np.asarray(pairs[:, bins].any(axis=1))
            if (more == kinds).all():
                break
            kinds = more
        todo &= ~kinds
        components.append((np.flatnonzero(kinds), np.flatnonzero(bins)))
    return components


# -- allocations that were seen --------------------------------------------------------------------------------------


@dataclass(eq=False)
class Witnesses:
    """Valid allocations, each of which shows something that the others do not."""

    system: System
    """The part that they allocate."""
    seen: Flags = field(init=False)
    """Per kind and bin, whether some valid allocation puts a package of the kind there."""
    allocations: list[NDArray[np.integer]] = field(default_factory=list)
    """Packages of each kind per bin, in small integers; as many as there is room for."""

    def __post_init__(self) -> None:
        self.seen = np.zeros(self.system.most.shape, bool)

    def add(self, allocation: Integers) -> bool:
        """Check an allocation in integers, keep it if it shows something new, and tell whether it did.

        Raises:
            InternalError: It is not valid.
        """
        if not self.system.allows(allocation):
            raise InternalError("a search returned an allocation that does not meet the totals")
        new = (allocation > 0) & ~self.seen
        if self.allocations and not new.any():
            return False
        self.seen |= new
        if not self.allocations or len(self.allocations) * allocation.size * 2 < _MOST_BYTES:
            self.allocations.append(
                allocation.astype(np.int16 if allocation.max() < 2**15 else np.int64)
            )
        return True


# -- what the solver may spend ---------------------------------------------------------------------------------------


class ListEffort(NamedTuple):
    """How far the lists of subsets may grow before a bin is left open."""

    longest_half: int
    """The most sums of one half."""
    longest_list: int
    """The most subsets of a bin."""
    most_work: int
    """The most pairs of sums that are looked at for a bin."""


EFFORTS = (
    ListEffort(1 << 12, 1 << 12, 1 << 20),
    ListEffort(1 << 16, 1 << 15, 1 << 23),
    ListEffort(1 << 19, 1 << 18, 1 << 26),
    ListEffort(1 << 21, 1 << 20, 1 << 28),
    ListEffort(1 << 23, 1 << 21, 1 << 30),
)
"""One after the other, each about eight times the last."""


@dataclass
class Meter:
    """The work that a stage may do: counted, not timed, so that every run stops at the same place."""

    left: int
    """How many units are left."""
    whole: Meter | None = None
    """Where the same work counts, too: that of all stages together."""

    def spend(self, work: int) -> None:
        """Take note of work that was done."""
        self.left -= work
        if self.whole is not None:
            self.whole.spend(work)

    @property
    def empty(self) -> bool:
        """Whether nothing is left."""
        return self.left <= 0


@dataclass(frozen=True)
class Budget:
    """What is left of the work, and what fits into the memory."""

    seconds: float
    """The limit: as much work as one core does in about so many seconds."""
    memory: int
    """The memory limit, in bytes."""
    work: Meter = field(init=False)
    """The work of all stages together."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "work", Meter(int(self.seconds * UNITS_PER_SECOND)))

    @property
    def left(self) -> float:
        """How many seconds are left, as work is counted."""
        return self.work.left / UNITS_PER_SECOND

    @property
    def spent(self) -> float:
        """How many seconds were spent, as work is counted."""
        return self.seconds - self.left

    def spend(self, work: int) -> None:
        """Take note of work that no stage has a meter for."""
        self.work.spend(work)

    def check(self) -> None:
        """Raise `OutOfTime` when nothing is left."""
        if self.work.empty:
            raise OutOfTime

    @property
    def call(self) -> int:
        """How many units one call of a compiled loop may take."""
        return int(_SHARE * self.seconds * UNITS_PER_SECOND)

    def meter(self, share: float) -> Meter:
        """Return a meter for a part of the work."""
        return Meter(int(share * self.seconds * UNITS_PER_SECOND), self.work)

    def effort(self, level: int, system: System, words: int) -> ListEffort:
        """Return an effort, reduced to what the limits allow for a system whose codes have so many words."""
        most = EFFORTS[level]
        columns = system.rows + words
        room = self.memory // (8 * columns * _COPIES_OF_HALF)
        cells = max(words * system.bins, system.kinds)
        lists = self.memory // (8 * cells * _COPIES_OF_LIST)
        return ListEffort(
            max(min(most.longest_half, self.call // (UNITS_PER_CELL * columns), room), 64),
            max(min(most.longest_list, self.call // system.kinds, lists), 64),
            max(min(most.most_work, self.call), 1 << 12),
        )
