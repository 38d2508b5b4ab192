from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.examples import examples

from glasshouse.errors import SolverError
from glasshouse.qif.rational_lp import decide, unique_solution

law = settings(derandomize=True, max_examples=examples(80), deadline=None, database=None)


@st.composite
def systems(draw: st.DrawFn) -> tuple[np.ndarray, np.ndarray]:
    equations, unknowns = draw(st.integers(1, 5)), draw(st.integers(1, 5))
    row = st.lists(st.integers(-3, 3), min_size=unknowns, max_size=unknowns)
    matrix = draw(st.lists(row, min_size=equations, max_size=equations))
    rhs = draw(st.lists(st.integers(0, 3), min_size=equations, max_size=equations))
    return np.array(matrix, dtype=object), np.array(rhs, dtype=object)


@law
@given(systems())
def test_every_decision_is_proved(system: tuple[np.ndarray, np.ndarray]) -> None:
    matrix, rhs = system
    decided = decide(matrix, rhs)
    assert all(isinstance(value, Fraction) for value in decided.proof)
    if decided.feasible:
        assert decided.proof.min() >= 0
        assert (matrix @ decided.proof).tolist() == rhs.tolist()
    else:
        assert (decided.proof @ matrix).max() <= 0 < decided.proof @ rhs


@law
@given(systems())
def test_a_unique_solution_solves_the_equations(system: tuple[np.ndarray, np.ndarray]) -> None:
    matrix, rhs = system
    found = unique_solution(matrix, rhs)
    independent = np.linalg.matrix_rank(matrix.astype(float)) == matrix.shape[1]
    if found is not None:
        assert independent
        assert (matrix @ found).tolist() == rhs.tolist()
    elif independent:
        nearest = np.linalg.lstsq(matrix.astype(float), rhs.astype(float))[0]
        assert abs(matrix @ nearest - rhs).max() > 1e-9


def test_a_system_that_is_too_large_is_refused() -> None:
    with pytest.raises(SolverError, match="too many"):
        decide(np.zeros((500, 500), dtype=object), np.zeros(500, dtype=object))
