"""Stochastic solutions of linear equations, with a proof when there are none.

The question behind refinement: are there distributions, the rows of a matrix R, that satisfy the
linear equations M·r = b in the entries r of R? One linear programme answers both ways. It minimises
the distance ‖M·r − b‖₁ over all stochastic R; its solution is R where the distance is 0, and its
dual multipliers u separate b from all M·r where it is not:

    margin(u) = u·b − Σ_rows max (u·M over the entries of the row) > 0.

Either answer is verified by itself, so that nothing rests on the solver's tolerance.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from glasshouse.errors import SolverError
from glasshouse.qif.arithmetic import ROUNDING, Array, Number, equal, frozen, number
from glasshouse.qif.linear_programme import minimise
from glasshouse.qif.rational_lp import decide

MAX_DENOMINATOR = 10_000
"""Floats of the solver are first read as fractions with denominators up to this."""

MAX_CELLS = 5_000_000
"""The largest matrix of coefficients that is handed to the solver."""


@dataclass(frozen=True)
class StochasticEquations:
    """The equations M·r = b, b ≥ 0, for the entries r of a matrix whose rows are distributions."""

    matrix: Array
    """The coefficients M: one row per equation, one column per unknown."""

    rhs: Array
    """The right-hand side b."""

    width: int
    """How many unknowns, one after the other, form one distribution."""

    @property
    def exact(self) -> bool:
        """Whether the equations are in Fractions."""
        return self.matrix.dtype == object

    def row_sums(self) -> Array:
        """Return the coefficients of the sums that must be 1: one row per distribution."""
        rows = self.matrix.shape[1] // self.width
        return np.kron(np.eye(rows, dtype=int), np.ones(self.width, dtype=int))

    def solved_by(self, point: Array) -> bool:
        """Tell whether a matrix with distributions as rows satisfies the equations."""
        return equal(self.matrix @ point.reshape(-1), self.rhs)

    def margin(self, direction: Array) -> Number:
        """Return by how much u·b exceeds all u·M·r with stochastic rows; positive is a proof."""
        most = (direction @ self.matrix).reshape(-1, self.width).max(axis=1).sum()
        return number(direction @ self.rhs - most)


@dataclass(frozen=True)
class StochasticSolution:
    """Whether a matrix of distributions satisfies the equations, and the proof."""

    solvable: bool
    """Whether one does."""

    proof: Array
    """That matrix or, if there is none, a vector u of positive margin."""


def solve(equations: StochasticEquations) -> StochasticSolution:
    """Solve the equations or prove that they have no solution.

    Exact equations are decided exactly: what the solver found in floats is read as fractions and
    verified, and where that fails they are decided by a simplex method in Fractions. Float
    equations count as solved when they hold within the tolerance of floats.

    Raises:
        SolverError: If neither could be established, or the equations are too many.
    """
    if equations.matrix.size > MAX_CELLS:
        raise SolverError(f"the channels are too large: {equations.matrix.size:,} coefficients")
    point, separator = _programme(equations)
    establish = _exactly if equations.exact else _in_floats
    return establish(equations, point, separator)


def _programme(equations: StochasticEquations) -> tuple[Array, Array]:
    """Return the stochastic matrix nearest to a solution, and the dual multipliers."""
    count, unknowns = equations.matrix.shape
    slack = np.eye(count)
    sums = equations.row_sums()
    nothing = np.zeros((len(sums), 2 * count))
    found = minimise(
        np.concatenate([np.zeros(unknowns), np.ones(2 * count)]),
        A_eq=np.block([[equations.matrix.astype(np.float64), slack, -slack], [sums, nothing]]),
        b_eq=np.concatenate([equations.rhs.astype(np.float64), np.ones(len(sums))]),
    )
    point = np.maximum(found.x[:unknowns], 0).reshape(-1, equations.width)
    return point / point.sum(axis=1, keepdims=True), found.eqlin.marginals[:count]


def _in_floats(
    equations: StochasticEquations, point: Array, separator: Array
) -> StochasticSolution:
    if equations.solved_by(point):
        return StochasticSolution(True, frozen(point))
    margin = equations.margin(separator)
    if margin > ROUNDING:
        return StochasticSolution(False, frozen(separator))
    raise SolverError(
        f"floats cannot tell whether the equations have a solution: it misses by more than the "
        f"tolerance, but the proof that there is none has a margin of only {margin}; use Fractions"
    )


def _exactly(equations: StochasticEquations, point: Array, separator: Array) -> StochasticSolution:
    nearby = _as_fractions(point)
    if np.all(nearby.sum(axis=1) == 1) and equations.solved_by(nearby):
        return StochasticSolution(True, frozen(nearby))
    direction = _as_fractions(separator)
    if equations.margin(direction) > 0:
        return StochasticSolution(False, frozen(direction))
    # A vertex of the programme is determined by which unknowns it uses, and few are cheap to solve.
    used = np.flatnonzero(point.reshape(-1) > ROUNDING)
    on_used = _decided(equations, used)
    if on_used.solvable:
        return on_used
    return _decided(equations, np.arange(equations.matrix.shape[1]))


def _decided(equations: StochasticEquations, used: Array) -> StochasticSolution:
    """Decide the equations exactly, with all unknowns but the used ones set to zero."""
    sums = equations.row_sums().astype(object)
    ones = np.full(len(sums), Fraction(1), dtype=object)
    matrix = np.vstack([equations.matrix, sums])
    decided = decide(matrix[:, used], np.concatenate([equations.rhs, ones]))
    if not decided.feasible:
        return StochasticSolution(False, frozen(decided.proof[: -len(sums)]))
    point = np.full(matrix.shape[1], Fraction(0), dtype=object)
    point[used] = decided.proof
    return StochasticSolution(True, frozen(point.reshape(-1, equations.width)))


def _as_fractions(values: Array) -> Array:
    nearest = np.frompyfunc(lambda v: Fraction(v).limit_denominator(MAX_DENOMINATOR), 1, 1)
    return np.asarray(nearest(values), dtype=object)
