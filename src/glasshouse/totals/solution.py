"""What all valid allocations of an instance have in common."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from glasshouse.totals.instance import Instance

STATUSES = ("unique", "ambiguous", "infeasible", "limit")
"""One allocation; several; none; or a limit was met, and the bins are a superset."""

Shares = tuple[tuple[Fraction, ...], ...]
"""Per package and bin, a probability."""


@dataclass(frozen=True, eq=False)
class Solution:
    """What all valid allocations of an instance have in common."""

    instance: Instance
    """The instance."""
    status: str
    """One of `STATUSES`."""
    feasible_bins: tuple[tuple[int, ...], ...]
    """Per package, the positions of the bins that it is in under some valid allocation; at a limit, a superset."""
    proved: bool
    """Whether the bins are exactly those."""
    allocations: int | None
    """The number of valid allocations, packages told apart; None: not counted."""
    shares: Shares | None
    """Per package and bin, the share of the valid allocations; None: not counted, or there are none."""
    weighted_shares: Shares | None
    """The same with every allocation weighted by Π entities(bin): the posterior of the bin; None: not counted."""
    weights: tuple[int, ...] | None
    """Per bin, what a package in it counts in `weighted_shares`, up to a common factor; None: nothing is known."""
    witness: NDArray[np.int64] | None
    """A valid allocation, the bin of each package; None: none is known."""
    method: str
    """What decided: "propagation", "graph", "walk", "probing", "satisfaction", or "limit"."""

    @property
    def linked(self) -> int:
        """How many packages have one feasible bin only: whose bin is known for certain."""
        return sum(len(bins) == 1 for bins in self.feasible_bins) if self.proved else 0

    @property
    def reason(self) -> str | None:
        """Why there is no valid allocation: what the sums say, or else "rounding"; None if there is one."""
        if self.status != "infeasible":
            return None
        balance = self.instance.balance
        return "rounding" if balance == "met" else balance

    def to_dict(self) -> dict[str, Any]:
        """Return the answer in plain values."""
        return {
            "status": self.status,
            "feasible_bins": [list(bins) for bins in self.feasible_bins],
            "allocations": self.allocations,
            "allocation_share": _floats(self.shares),
            "proved": self.proved,
        }

    def to_frame(self) -> pa.Table:
        """Return a row per package and feasible bin: their names, and the shares where they were counted."""
        packages, bins = self.instance.package_names, self.instance.bin_names
        rows = [(p, b) for p, feasible in enumerate(self.feasible_bins) for b in feasible]
        columns = {
            "package": [packages[p] for p, _ in rows],
            "bin": [bins[b] for _, b in rows],
            "share": _listed(self.shares, rows),
            "weighted_share": _listed(self.weighted_shares, rows),
        }
        types = [pa.string(), pa.string(), pa.float64(), pa.float64()]
        return pa.table(
            [pa.array(each, kind) for each, kind in zip(columns.values(), types, strict=True)],
            names=list(columns),
        )


def _floats(shares: Shares | None) -> list[list[float]] | None:
    return None if shares is None else [[float(each) for each in row] for row in shares]


def _listed(shares: Shares | None, rows: Sequence[tuple[int, int]]) -> list[float | None]:
    return [None if shares is None else float(shares[p][b]) for p, b in rows]
