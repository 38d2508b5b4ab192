"""Totals above what the records can give: records that the totals hold and nobody published were added to them.

The totals of a part exceed its records if all of them together, or one of them alone, are more than what there is:

    Σ_j low_j > Σ packages        or        low_j > Σ packages that are no larger than bin j

If the plan is right about the rounding, records were then added. If it may be wrong, an excess can also come from that:
a sum moves by at most half a unit for every total, or for every record if those were rounded. Only what exceeds this
too is called *records added*; of the rest it cannot be told.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numba import njit

from glasshouse.arrays import Integers
from glasshouse.totals.joining import Flags, Groups


@dataclass(frozen=True, eq=False)
class Excess:
    """Which parts have totals above what their records can give."""

    found: Flags
    """Per part, whether they are, as the plan says that totals were rounded."""
    added: Flags
    """Per part, whether they are however they were rounded."""


def excess_of(
    groups: Groups, part_of_bin: Integers, package: Integers, package_start: Integers
) -> Excess:
    """Compare the totals of every part with its records.

    Args:
        groups: The groups.
        part_of_bin: The part of each bin.
        package: Positions in the records of the groups, part by part.
        package_start: Where those of each part begin, and the end of the last.
    """
    parts = len(package_start) - 1
    packages = np.diff(package_start)
    bins = np.bincount(part_of_bin, minlength=parts)
    weights = groups.packages[package]
    rounding = groups.rounding
    # In half units, so that the middle of a window and half a step are whole numbers.
    twice_middle = groups.low + groups.high
    both = packages + bins if rounding.model == "record" else np.maximum(packages, bins)
    bound = both[:, None] * rounding.step
    grown = np.maximum(packages, 1)[:, None] * rounding.halfwidth
    whole = _sums(weights, np.repeat(np.arange(parts), packages), parts)
    slack = rounding.halfwidth * (packages + bins)[:, None]
    found = _any(_sums(groups.low, part_of_bin, parts) - slack > whole)
    added = _any(_sums(twice_middle, part_of_bin, parts) - bound > 2 * whole)
    own = grown[part_of_bin]
    reach = _reach(weights, package_start, part_of_bin, groups.high + own)
    beyond = _any(groups.low - own > reach)
    wide = bound[part_of_bin]
    reach = _reach(2 * weights, package_start, part_of_bin, twice_middle + wide)
    far_beyond = _any(twice_middle - wide > reach)
    added &= found
    # One total that is slightly too high while the sums agree is a matter of rounding: that is left to the solver.
    added[part_of_bin[beyond & far_beyond]] = True
    return Excess(found | added, added)


@njit(cache=True, nogil=True)  # type: ignore[untyped-decorator]
def _reach(weights: Integers, start: Integers, part_of_bin: Integers, most: Integers) -> Integers:
    """Return per bin the sum of the packages of its part that are not larger than it is in any measure."""
    reach = np.zeros_like(most)
    for bin_ in range(len(most)):
        part = part_of_bin[bin_]
        for package in range(start[part], start[part + 1]):
            fits = True
            for measure in range(most.shape[1]):
                if weights[package, measure] > most[bin_, measure]:
                    fits = False
                    break
            if fits:
                for measure in range(most.shape[1]):
                    reach[bin_, measure] += weights[package, measure]
    return reach


def _any(table: Flags) -> Flags:
    return np.asarray(table.any(axis=1))


def _sums(table: Integers, part: Integers, parts: int) -> Integers:
    sums = np.zeros((parts, table.shape[1]), np.int64)
    np.add.at(sums, part, table)
    return sums
