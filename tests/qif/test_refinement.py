from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from glasshouse.errors import SolverError, StudyError
from glasshouse.qif import (
    Channel,
    GVulnerability,
    Prior,
    leakage_gap,
    left_factor,
    privacy_refined_by,
    refined_by,
)
from glasshouse.qif.factorisation import StochasticEquations, solve

THIRD = Fraction(1, 3)
NOISY = Channel([[2 * THIRD, THIRD, 0], [THIRD, THIRD, THIRD], [0, THIRD, 2 * THIRD]])


def _shifted(channel: Channel, by: Fraction) -> Channel:
    matrix = np.array(channel.matrix)
    matrix[0, 0] -= by
    matrix[0, 1] += by
    return Channel(matrix)


def test_a_hair_of_difference_is_decided_exactly() -> None:
    merged = NOISY.cascade(Channel([[1, 0], [Fraction(1, 2), Fraction(1, 2)], [0, 1]]))
    # The first row is the least mixed: moving it towards the corner leaves what A can simulate.
    hair = Fraction(1, 10**15)
    assert refined_by(NOISY, merged).holds
    beyond = _shifted(Channel.identity(range(3)).cascade(merged), -hair)
    result = refined_by(merged, beyond)
    assert not result.holds
    assert result.exact
    assert result.counterexample is not None
    shows, uniform = GVulnerability(result.counterexample), Prior.uniform(range(3))
    assert 0 < shows.posterior(uniform, beyond) - shows.posterior(uniform, merged) < 10 * hair


def test_floats_that_differ_less_than_the_tolerance_count_as_refined() -> None:
    merged = NOISY.cascade(Channel([[1, 0], [Fraction(1, 2), Fraction(1, 2)], [0, 1]])).to_float()
    beyond = Channel(merged.matrix + np.array([[1e-11, -1e-11], [0, 0], [0, 0]]))
    result = refined_by(merged, beyond)
    assert result.holds
    assert not result.exact
    clearly = Channel(merged.matrix + np.array([[1e-6, -1e-6], [0, 0], [0, 0]]))
    assert not refined_by(merged, clearly).holds


def test_a_witness_with_large_denominators_is_exact() -> None:
    generator = np.random.default_rng(3)

    def channel(rows: int, columns: int) -> Channel:
        weights = generator.integers(1, 10**6, size=(rows, columns)).tolist()
        return Channel([[Fraction(w, sum(row)) for w in row] for row in weights])

    a, processing = channel(5, 4), channel(4, 4)
    result = refined_by(a, a.cascade(processing))
    assert result.exact
    assert result.witness is not None
    assert result.witness.matrix.tolist() == processing.matrix.tolist()


def test_what_floats_cannot_tell_is_an_error_and_not_an_answer() -> None:
    # A residual just above the tolerance, in equations so flat that no proof has a margin.
    flat = StochasticEquations(np.array([[1e-13, 0.0]]), np.array([2e-9]), width=2)
    with pytest.raises(SolverError, match="use Fractions"):
        solve(flat._replace_rhs()) if hasattr(flat, "_replace_rhs") else solve(flat)


def test_refinement_needs_the_same_secrets() -> None:
    with pytest.raises(StudyError, match="the secrets of the two channels"):
        refined_by(Channel.identity("ab"), Channel.identity("abc"))


def test_a_left_factor_is_a_channel_that_comes_first() -> None:
    first = Channel([[THIRD, 2 * THIRD, 0], [0, 0, 1]])
    found = left_factor(first.cascade(NOISY), by=NOISY)
    assert found is not None
    assert found.cascade(NOISY) == first.cascade(NOISY)
    assert left_factor(Channel.identity(range(3)), by=NOISY) is None


def test_privacy_refinement_is_weaker_than_refinement() -> None:
    response = Channel([[Fraction(3, 4), Fraction(1, 4)], [Fraction(1, 4), Fraction(3, 4)]])
    twice = response.parallel(response)
    assert privacy_refined_by(twice, response)
    assert not privacy_refined_by(response, twice)
    assert refined_by(twice, response).holds


def test_the_leakage_gap_is_zero_for_refined_channels_and_attained_otherwise() -> None:
    pi = Prior([Fraction(1, 2), Fraction(1, 4), Fraction(1, 4)])
    identity = Channel.identity(range(3))
    assert leakage_gap(pi, identity, NOISY).value == pytest.approx(0, abs=1e-9)
    gap = leakage_gap(pi, NOISY, identity)
    shows = GVulnerability(gap.gain)
    difference = shows.posterior(pi, identity) - shows.posterior(pi, NOISY)
    assert gap.value == pytest.approx(difference, abs=1e-9)
    assert gap.value > 0.1
