"""Stochastic solutions of linear equations, with a proof when there are none.

The question behind refinement: are there distributions, the rows of a matrix R, that satisfy the
linear equations M·r = b in the entries r of R? One linear programme answers both ways. It minimises
the distance ‖M·r − b‖₁ over all stochastic R; its solution is R where the distance is 0, and its
dual multipliers u separate b from all M·r where it is not:

    margin(u) = u·b − Σ_rows max (u·M over the entries of the row) > 0.

Either answer is verified by itself, so that nothing rests on the solver's tolerance.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from glasshouse.errors import InternalError, SolverError
from glasshouse.qif.arithmetic import ROUNDING, Array, Number, equal, number
from glasshouse.qif.linear_programme import minimise
from glasshouse.qif.rational_lp import decide, unique_solution

MAX_DENOMINATOR = 10_000
"""Floats of the solver are first read as fractions with denominators up to this."""


@dataclass(frozen=True)
class StochasticSolution:
    """Whether a matrix of distributions satisfies the equations, and the proof."""

    solvable: bool
    """Whether one does."""

    proof: Array
    """That matrix or, if there is none, a vector u of positive margin."""


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

    def proved_by(self, solution: StochasticSolution) -> bool:
        """Tell whether a solution is what it says, in Fractions or within the tolerance of floats."""
        if not solution.solvable:
            return self.margin(solution.proof) > (0 if self.exact else ROUNDING)
        unknowns = solution.proof.reshape(-1)
        sums = self.row_sums() @ unknowns
        return bool(
            unknowns.min() >= 0
            and equal(sums, np.ones_like(sums))
            and equal(self.matrix @ unknowns, self.rhs)
        )

    def margin(self, direction: Array) -> Number:
        """Return by how much u·b exceeds all u·M·r with stochastic rows; positive is a proof."""
        most = (direction @ self.matrix).reshape(-1, self.width).max(axis=1).sum()
        return number(direction @ self.rhs - most)


def solve(equations: StochasticEquations) -> StochasticSolution:
    """Solve the equations or prove that they have no solution.

    Exact equations are decided exactly: what the solver found in floats is read as fractions and
    verified, and where that fails they are decided by a simplex method in Fractions. Float
    equations count as solved when they hold within the tolerance of floats.

    Raises:
        SolverError: If neither could be established.
    """
    point, separator = _programme(equations)
    establish = _exact_solution if equations.exact else _in_floats
    return establish(equations, point, separator)


def _programme(equations: StochasticEquations) -> tuple[Array, Array]:
    """Return the stochastic matrix nearest to a solution, and the dual multipliers."""
    count, unknowns = equations.matrix.shape
    slack = np.eye(count)
    sums = equations.row_sums()
    nothing = np.zeros((len(sums), 2 * count))
    optimum = minimise(
        np.concatenate([np.zeros(unknowns), np.ones(2 * count)]),
        A_eq=np.block([[equations.matrix.astype(np.float64), slack, -slack], [sums, nothing]]),
        b_eq=np.concatenate([equations.rhs.astype(np.float64), np.ones(len(sums))]),
    )
    point = np.maximum(optimum.x[:unknowns], 0).reshape(-1, equations.width)
    return point / point.sum(axis=1, keepdims=True), optimum.eqlin.marginals[:count]


def _in_floats(
    equations: StochasticEquations, point: Array, separator: Array
) -> StochasticSolution:
    for solution in (StochasticSolution(True, point), StochasticSolution(False, separator)):
        if equations.proved_by(solution):
            return solution
    raise SolverError(
        "floats cannot tell whether the equations have a solution: the nearest point misses by "
        "more than the tolerance, and nothing proves that there is none; use Fractions"
    )


def _exact_solution(
    equations: StochasticEquations, point: Array, separator: Array
) -> StochasticSolution:
    # From the cheapest to the surest.
    attempts: list[Callable[[], StochasticSolution | None]] = [
        lambda: StochasticSolution(True, _as_fractions(point)),
        lambda: StochasticSolution(False, _as_fractions(separator)),
        lambda: _with_the_zeros_of(equations, point),
        lambda: _by_simplex(equations),
    ]
    for attempt in attempts:
        solution = attempt()
        if solution is not None and equations.proved_by(solution):
            return solution
    raise InternalError("the exact simplex method gave a proof that is none")


def _with_the_zeros_of(equations: StochasticEquations, point: Array) -> StochasticSolution | None:
    """Solve exactly for the unknowns that are not zero, which determine a vertex."""
    matrix, rhs = _with_row_sums(equations)
    used = np.flatnonzero(point.reshape(-1) > ROUNDING)
    values = unique_solution(matrix[:, used], rhs)
    if values is None:
        return None
    unknowns = np.full(matrix.shape[1], Fraction(0), dtype=object)
    unknowns[used] = values
    return StochasticSolution(True, unknowns.reshape(-1, equations.width))


def _by_simplex(equations: StochasticEquations) -> StochasticSolution:
    matrix, rhs = _with_row_sums(equations)
    decided = decide(matrix, rhs)
    if decided.feasible:
        return StochasticSolution(True, decided.proof.reshape(-1, equations.width))
    return StochasticSolution(False, decided.proof[: len(equations.rhs)])


def _with_row_sums(equations: StochasticEquations) -> tuple[Array, Array]:
    sums = equations.row_sums()
    ones = np.full(len(sums), Fraction(1), dtype=object)
    return np.vstack([equations.matrix, sums]), np.concatenate([equations.rhs, ones])


def _as_fractions(values: Array) -> Array:
    nearest = np.frompyfunc(lambda v: Fraction(v).limit_denominator(MAX_DENOMINATOR), 1, 1)
    return np.asarray(nearest(values), dtype=object)
