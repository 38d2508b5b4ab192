"""How published totals were rounded, and so how far the sum of a bin's records may be from its total.

With S the sum of the c records in a bin, T its total, and h the tolerance, half a unit of the totals if nothing else is
said, an allocation is valid if

==========  =======================================================  ==============================================
`sum`       records were summed, then the sum was rounded            T − h ≤ S ≤ T + h
`record`    records were rounded, halves up, then summed             S of the rounded records = T
`unknown`   either of them, or something between                     T − h · max(1, c) ≤ S ≤ T + h · max(1, c)
==========  =======================================================  ==============================================

A total that stands in several rows was rounded row by row: h counts once for each (`sum`), or once more for each but
the first (`unknown`).

All is in whole numbers of the last decimal place. Half a unit that is no such number is cut, which rules nothing out:
sums of whole numbers are off by whole numbers, and so are records that were rounded. A tolerance that somebody *gives*
means what it says, and needs as many decimals as it has.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import floor
from typing import Any

import numpy as np
from numpy.typing import NDArray

from glasshouse.errors import StudyError

ROUNDINGS = ("sum", "record", "unknown")
"""The rounding models; explicit windows need none."""
_Units = NDArray[Any]
"""Whole numbers of the last decimal place: of 64 bits, or of any size."""


@dataclass(frozen=True, eq=False)
class Rounding:
    """A rounding model in units of the last decimal place, per measure."""

    model: str
    """One of `ROUNDINGS`."""
    step: _Units
    """What the totals are rounded to."""
    tolerance: _Units
    """How far a sum may be from its total."""

    @classmethod
    def of(cls, model: str, steps: Sequence[int], tolerance: Fraction | None) -> Rounding:
        """Return a model.

        Args:
            model: One of `ROUNDINGS`.
            steps: Per measure, what the totals are rounded to, in units of the last decimal place.
            tolerance: How far a sum may be from its total, in units of the totals; None: ½.

        Raises:
            StudyError: The tolerance is negative, has more decimals than are kept, or there is nothing to tolerate.
        """
        if tolerance is not None and model == "record":
            raise StudyError(
                "records that were rounded before adding need no tolerance; leave it out"
            )
        if tolerance is not None and tolerance < 0:
            raise StudyError("the tolerance is how far a sum may be from its total; give it from 0")
        half = Fraction(1, 2) if tolerance is None else tolerance
        exact = [half * step for step in steps]
        if tolerance is not None and model == "unknown" and any(h.denominator > 1 for h in exact):
            raise StudyError(
                "a tolerance of {tolerance} has more decimals than the measure; keep more decimals",
                tolerance=f"{float(tolerance):g}",
            )
        widths = [0 if model == "record" else floor(width) for width in exact]
        return cls(model, np.array(steps, object), np.array(widths, object))

    @property
    def halfwidth(self) -> _Units:
        """By how much a window widens on either side with every record in the bin, and once if there is none."""
        return self.tolerance if self.model == "unknown" else 0 * self.tolerance

    def margin(self, rows: _Units | int) -> _Units:
        """Return how far the totals of so many rows together may be off, beside what records widen it by."""
        counted = {"sum": rows, "record": 0 * rows, "unknown": np.maximum(rows - 1, 0)}[self.model]
        return np.asarray(counted * self.tolerance)

    def records(self, weights: _Units) -> _Units:
        """Return records as they went into the totals: rounded, halves up, where that came first."""
        if self.model != "record":
            return weights
        return np.asarray((2 * weights + self.step) // (2 * self.step) * self.step)
