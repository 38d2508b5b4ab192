"""The time and memory that one instance may take."""

from __future__ import annotations

import time
from dataclasses import dataclass, field
from typing import NamedTuple

from glasshouse.totals.linear import System


class OutOfTime(Exception):  # noqa: N818 - never leaves the solver
    """The time of an instance is over; what was proved so far stands."""


class Effort(NamedTuple):
    """How far the lists of subsets may grow before a bin is left open."""

    longest_half: int
    """The most sums of one half."""
    longest_list: int
    """The most subsets of a bin."""
    most_work: int
    """The most pairs of sums that are looked at for a bin."""


EFFORTS = (
    Effort(1 << 12, 1 << 12, 1 << 20),
    Effort(1 << 16, 1 << 15, 1 << 23),
    Effort(1 << 19, 1 << 18, 1 << 26),
    Effort(1 << 21, 1 << 20, 1 << 28),
    Effort(1 << 23, 1 << 21, 1 << 30),
)
"""One after the other, each about eight times the last."""

_SHARE = 0.04
"""The part of the time that one call of a compiled loop may take: nobody looks at the clock inside."""
UNITS_PER_SECOND = 2e8
"""Work is counted in pairs that are looked at, of sums or of states and subsets; one core does about so many."""
UNITS_PER_CELL = 2
"""What it costs to list a sum of a half, in the same units, for each of its rows and words."""
_COPIES_OF_HALF = 6
"""A half is held about so many times while it grows."""
_COPIES_OF_LIST = 3
"""The lists of all bins, and the numbers of packages of each kind in one of them, are held about so many times."""


@dataclass
class Meter:
    """The work that a stage may do: counted, not timed, so that every run stops at the same place."""

    left: int
    """How many units are left."""

    def spend(self, work: int) -> None:
        """Take note of work that was done."""
        self.left -= work

    @property
    def empty(self) -> bool:
        """Whether nothing is left."""
        return self.left <= 0


@dataclass(frozen=True)
class Budget:
    """What is left of the time, and what fits into the memory."""

    seconds: float
    """The time limit."""
    memory: int
    """The memory limit, in bytes."""
    start: float = field(default_factory=time.thread_time)
    """When it began."""

    @property
    def left(self) -> float:
        """How many seconds are left."""
        return self.start + self.seconds - time.thread_time()

    def check(self) -> None:
        """Raise `OutOfTime` when nothing is left."""
        if self.left <= 0:
            raise OutOfTime

    @property
    def call(self) -> int:
        """How many units one call of a compiled loop may take."""
        return int(_SHARE * self.seconds * UNITS_PER_SECOND)

    def meter(self, share: float) -> Meter:
        """Return a meter for a part of the time."""
        return Meter(int(share * self.seconds * UNITS_PER_SECOND))

    def effort(self, level: int, system: System, words: int) -> Effort:
        """Return an effort, reduced to what the limits allow for a system whose codes have so many words."""
        wanted = EFFORTS[level]
        columns = system.rows + words
        room = self.memory // (8 * columns * _COPIES_OF_HALF)
        cells = max(words * system.bins, system.kinds)
        lists = self.memory // (8 * cells * _COPIES_OF_LIST)
        return Effort(
            max(min(wanted.longest_half, self.call // (UNITS_PER_CELL * columns), room), 64),
            max(min(wanted.longest_list, self.call // system.kinds, lists), 64),
            max(min(wanted.most_work, self.call), 1 << 12),
        )
