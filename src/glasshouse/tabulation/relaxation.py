"""The linear programme behind a part: bounds by multipliers that are checked in whole numbers, and corners as files.

The programme itself is solved in floating point, and nothing that it says is believed. Its dual values become whole
multipliers of the rows; what the sum of the rows so multiplied says is worked out in whole numbers, and holds whatever
the multipliers are. A corner with whole coordinates is a file of counts once it meets every row, which is checked too.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import numpy as np

from glasshouse.arrays import Floats, Integers
from glasshouse.tabulation.cells import NO_LIMIT

if TYPE_CHECKING:
    from glasshouse.tabulation.parts import SystemRows

SCALE = 720_720
"""Multipliers are whole parts of this: a multiple of all numbers up to 16."""
_EPSILON = 1e-6
_FROM_THE_LAST = "use_preprocessing: false"
"""Each optimum is looked for from the last one: a programme that is simplified first begins anew."""


class Relaxation:
    """The linear programme of some rows between bounds, kept so that one optimum leads quickly to the next.

    Args:
        rows: The rows.
        least: Per class the least.
        most: Per class the greatest.
        bending: Whether rows may be bent, and the optimum bends them as little as possible.
    """

    def __init__(
        self, rows: SystemRows, least: Integers, most: Integers, *, bending: bool = False
    ) -> None:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", DeprecationWarning)
            from ortools.linear_solver import linear_solver_pb2, pywraplp  # type: ignore[import-untyped]
        self._answer: Any = linear_solver_pb2.MPSolutionResponse()
        self._optimal = pywraplp.Solver.OPTIMAL
        self._solver: Any = pywraplp.Solver.CreateSolver("GLOP")
        self._solver.SetSolverSpecificParametersAsString(_FROM_THE_LAST)
        self._rows = rows
        unlimited = self._solver.infinity()
        bounds = zip(least.tolist(), most.tolist(), strict=True)
        self._unknowns = [self._solver.NumVar(low, high, "") for low, high in bounds]
        self._constraints = []
        for low, high, (classes, coefficients) in rows.each():
            constraint = self._solver.Constraint(
                -unlimited if low <= -NO_LIMIT else float(low),
                unlimited if high >= NO_LIMIT else float(high),
            )
            for place, coefficient in zip(classes.tolist(), coefficients.tolist(), strict=True):
                constraint.SetCoefficient(self._unknowns[place], float(coefficient))
            self._constraints.append(constraint)
        self._objective = self._solver.Objective()
        for constraint in self._constraints if bending else ():
            for way in (1.0, -1.0):
                bend = self._solver.NumVar(0.0, unlimited, "")
                constraint.SetCoefficient(bend, way)
                self._objective.SetCoefficient(bend, 1.0)

    def bound(self, place: int, least: int, most: int) -> None:
        """Let a class lie between other bounds."""
        self._unknowns[place].SetBounds(float(least), float(most))

    def aim(self, places: Integers, weights: Floats, *, up: bool) -> None:
        """Look for the most, or the least, of a weighted sum of classes."""
        self._objective.Clear()
        for place, weight in zip(places.tolist(), weights.tolist(), strict=True):
            self._objective.SetCoefficient(self._unknowns[place], weight)
        self._objective.SetOptimizationDirection(up)

    def solve(self, seconds: float) -> bool:
        """Look for the optimum, and tell whether there is one."""
        self._solver.SetTimeLimit(max(1, int(1000 * seconds)))
        if self._solver.Solve() != self._optimal:
            return False
        self._solver.FillSolutionResponseProto(self._answer)
        return True

    @property
    def corner(self) -> Floats:
        """Where the optimum is."""
        return np.array(self._answer.variable_value[: len(self._unknowns)])

    @property
    def multipliers(self) -> Integers:
        """The dual values of the rows, as whole parts of `SCALE`."""
        duals = np.array(self._answer.dual_value)
        whole: Integers = np.rint(np.nan_to_num(duals) * SCALE).astype(np.int64)
        return whole

    @contextmanager
    def bounded(
        self, place: int, least: int, most: int, restore: tuple[int, int]
    ) -> Iterator[None]:
        """Let a class lie between other bounds for a while."""
        self.bound(place, least, most)
        try:
            yield
        finally:
            self.bound(place, *restore)


def fractional(corner: Floats) -> Integers:
    """Return the places of a corner that are no whole numbers."""
    return np.flatnonzero(np.abs(corner - np.rint(corner)) > _EPSILON)
