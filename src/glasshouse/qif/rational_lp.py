"""Exact feasibility of small systems of linear equations in non-negative unknowns."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from glasshouse.errors import SolverError
from glasshouse.qif.arithmetic import Array

MAX_CELLS = 250_000
"""The largest tableau of Fractions that is worked on."""


@dataclass(frozen=True)
class Feasibility:
    """Whether M·r = b has a solution r ≥ 0, and the proof."""

    feasible: bool
    """Whether it has."""

    proof: Array
    """A solution r or, if there is none, a vector u with u·M ≤ 0 < u·b (Farkas' lemma)."""


def decide(matrix: Array, rhs: Array) -> Feasibility:
    """Decide in Fractions whether M·r = b has a solution r ≥ 0, for b ≥ 0.

    The first phase of the simplex method: add one artificial unknown per equation, start from
    r = 0, and minimise their sum; Bland's rule keeps it from cycling. Where they cannot be
    brought to 0, the multipliers of the equations are the proof.

    Raises:
        SolverError: If the system is larger than MAX_CELLS.

    >>> one = Fraction(1)
    >>> decide(np.array([[one, one]]), np.array([one])).proof
    array([Fraction(1, 1), Fraction(0, 1)], dtype=object)
    >>> decide(np.array([[-one]]), np.array([one]))
    Feasibility(feasible=False, proof=array([Fraction(1, 1)], dtype=object))
    """
    equations, unknowns = matrix.shape
    tableau = _tableau(matrix, np.eye(equations, dtype=int), rhs[:, np.newaxis])
    # The last row holds what the sum of the artificial unknowns costs; in the basis they are free.
    cost = -tableau.sum(axis=0)
    cost[unknowns:-1] = Fraction(0)
    tableau = np.vstack([tableau, cost])
    basis = list(range(unknowns, unknowns + equations))
    while (entering := _first_negative(tableau[-1, :unknowns])) is not None:
        leaving = _leaving_row(tableau, basis, entering)
        _pivot(tableau, leaving, entering)
        basis[leaving] = entering
    if tableau[-1, -1] < 0:
        return Feasibility(False, 1 - tableau[-1, unknowns:-1])
    point = np.full(unknowns, Fraction(0), dtype=object)
    for row, unknown in enumerate(basis):
        if unknown < unknowns:
            point[unknown] = tableau[row, -1]
    return Feasibility(True, point)


def unique_solution(matrix: Array, rhs: Array) -> Array | None:
    """Return the only solution of M·r = b in Fractions, or None if there is none or several.

    >>> one = Fraction(1)
    >>> unique_solution(np.array([[2 * one], [4 * one]]), np.array([one, 2 * one]))
    array([Fraction(1, 2)], dtype=object)
    """
    tableau = _tableau(matrix, rhs[:, np.newaxis])
    unknowns = matrix.shape[1]
    for unknown in range(unknowns):
        usable = np.flatnonzero(tableau[unknown:, unknown])
        if not usable.size:
            return None
        tableau[[unknown, unknown + usable[0]]] = tableau[[unknown + usable[0], unknown]]
        _pivot(tableau, unknown, unknown)
    return None if tableau[unknowns:, -1].any() else tableau[:unknowns, -1]


def _tableau(*blocks: Array) -> Array:
    tableau = np.hstack(blocks)
    if tableau.size > MAX_CELLS:
        raise SolverError(
            f"the solver's floats did not decide, and {tableau.shape[0]} equations are too many to "
            f"be decided in Fractions; use to_float() for an answer within a tolerance"
        )
    # The product makes Fractions of Python's integers, which would divide into floats.
    return np.asarray(tableau * Fraction(1))


def _first_negative(costs: Array) -> int | None:
    return next((index for index, cost in enumerate(costs) if cost < 0), None)


def _leaving_row(tableau: Array, basis: list[int], entering: int) -> int:
    # Bland's rule: the tightest bound, and among equal ones the unknown with the least index.
    rows = np.flatnonzero(tableau[:-1, entering] > 0)
    return int(min(rows, key=lambda row: (tableau[row, -1] / tableau[row, entering], basis[row])))


def _pivot(tableau: Array, leaving: int, entering: int) -> None:
    """Subtract the leaving row from all others so that the entering column is a unit vector."""
    tableau[leaving] /= tableau[leaving, entering]
    # The tableau is sparse, and arithmetic with Fractions dear: only what changes is touched.
    columns = np.flatnonzero(tableau[leaving])
    rows = np.flatnonzero(tableau[:, entering])
    rows = rows[rows != leaving]
    multiples = np.outer(tableau[rows, entering], tableau[leaving, columns])
    tableau[np.ix_(rows, columns)] -= multiples
