"""What has been seen: valid allocations of a part, and the pairs of kind and bin that they show."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from glasshouse.errors import InternalError
from glasshouse.totals.instance import Integers
from glasshouse.totals.linear import System

_MOST_BYTES = 1 << 26
"""So much room the allocations of a part may take."""


@dataclass(eq=False)
class Witnesses:
    """Valid allocations, each of which shows something that the others do not."""

    system: System
    """The part that they allocate."""
    seen: NDArray[np.bool_]
    """Per kind and bin, whether some valid allocation puts a package of the kind there."""
    found: list[NDArray[np.integer]] = field(default_factory=list)
    """The allocations, packages of each kind per bin, in small integers; as many as there is room for."""

    def add(self, allocation: Integers) -> bool:
        """Check an allocation in integers, keep it if it shows something new, and tell whether it did.

        Raises:
            InternalError: It is not valid.
        """
        if not is_valid(self.system, allocation):
            raise InternalError("a search returned an allocation that does not meet the totals")
        new = (allocation > 0) & ~self.seen
        if self.found and not new.any():
            return False
        self.seen |= new
        if not self.found or len(self.found) * allocation.size * 2 < _MOST_BYTES:
            self.found.append(allocation.astype(np.int16 if allocation.max() < 2**15 else np.int64))
        return True


def no_witnesses(system: System) -> Witnesses:
    """Return that nothing has been seen."""
    return Witnesses(system, np.zeros(system.most.shape, bool))


def is_valid(system: System, allocation: Integers) -> bool:
    """Tell whether so many packages of each kind in each bin meet all windows."""
    if (allocation < 0).any() or (allocation > system.most).any():
        return False
    if (allocation.sum(axis=1) != system.copies).any():
        return False
    sums = allocation.T @ system.weights
    inside = ((sums >= system.low) & (sums <= system.high)).all(axis=1)
    empty = ~allocation.any(axis=0)
    return bool((inside | (system.spared & empty)).all())
