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
    if equations * (unknowns + equations) > MAX_CELLS:
        raise SolverError(
            f"{equations} equations in {unknowns} unknowns are too many to be decided exactly"
        )
    tableau = np.hstack([matrix, np.eye(equations, dtype=int), rhs[:, np.newaxis]]).astype(object)
    cost = -tableau.sum(axis=0)
    cost[unknowns:-1] = Fraction(0)
    basis = list(range(unknowns, unknowns + equations))
    while (entering := _first_negative(cost[:unknowns])) is not None:
        leaving = _leaving(tableau, basis, entering)
        _pivot(tableau, cost, leaving, entering)
        basis[leaving] = entering
    if cost[-1] < 0:
        return Feasibility(False, 1 - cost[unknowns:-1])
    point = np.full(unknowns, Fraction(0), dtype=object)
    for row, unknown in enumerate(basis):
        if unknown < unknowns:
            point[unknown] = tableau[row, -1]
    return Feasibility(True, point)


def _first_negative(costs: Array) -> int | None:
    return next((index for index, cost in enumerate(costs) if cost < 0), None)


def _leaving(tableau: Array, basis: list[int], entering: int) -> int:
    # Bland's rule: the tightest bound, and among equal ones the unknown with the least index.
    rows = np.flatnonzero(tableau[:, entering] > 0)
    return int(min(rows, key=lambda row: (tableau[row, -1] / tableau[row, entering], basis[row])))


def _pivot(tableau: Array, cost: Array, leaving: int, entering: int) -> None:
    tableau[leaving] /= tableau[leaving, entering]
    # The tableau is sparse, and arithmetic with Fractions dear: only what changes is touched.
    columns = np.flatnonzero(tableau[leaving])
    row = tableau[leaving, columns]
    others = np.flatnonzero(tableau[:, entering])
    others = others[others != leaving]
    tableau[np.ix_(others, columns)] -= np.outer(tableau[others, entering], row)
    cost[columns] -= cost[entering] * row
