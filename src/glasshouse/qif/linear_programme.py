"""The one place that calls scipy's linear programming."""

from __future__ import annotations

from typing import Any

from glasshouse.errors import BudgetError, SolverError
from glasshouse.qif.arithmetic import Array

MAX_CELLS = 5_000_000
"""The largest matrix of coefficients that is built, about 45 by 45 for two channels of that size."""


def refuse_large(rows: int, columns: int) -> None:
    """Refuse a linear programme of so many constraints and unknowns before it is built.

    Raises:
        BudgetError: If it has more than MAX_CELLS coefficients.
    """
    if rows * columns > MAX_CELLS:
        raise BudgetError(
            f"the channels are too large for a linear programme: {rows:,} constraints on "
            f"{columns:,} unknowns, more than {MAX_CELLS:,} coefficients; reduce them first"
        )


def minimise(cost: Array, **constraints: Any) -> Any:
    """Minimise a linear function of non-negative unknowns, or of those in the given bounds.

    Args:
        cost: The coefficients of the function.
        constraints: ``A_eq``, ``b_eq``, ``A_ub``, ``b_ub`` and ``bounds`` of scipy's ``linprog``.

    Returns:
        The result of ``linprog``: its ``x``, ``fun`` and ``eqlin.marginals``.

    Raises:
        SolverError: If the programme was not solved to optimality.
    """
    from scipy import optimize  # takes long to import, and few need it

    optimum = optimize.linprog(
        cost,
        method="highs",
        options={"primal_feasibility_tolerance": 1e-10, "dual_feasibility_tolerance": 1e-10},
        **constraints,
    )
    if optimum.status != 0:
        raise SolverError(f"the linear programme was not solved: {optimum.message}")
    return optimum
