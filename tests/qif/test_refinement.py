from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from glasshouse.errors import BudgetError, SolverError, StudyError
from glasshouse.qif import (
    Channel,
    GVulnerability,
    Prior,
    leakage_gap,
    left_factor,
    privacy_refined_by,
    refined_by,
)

THIRD = Fraction(1, 3)
NOISY = Channel([[2 * THIRD, THIRD, 0], [THIRD, THIRD, THIRD], [0, THIRD, 2 * THIRD]])


MERGED = NOISY.cascade(Channel([[1, 0], [Fraction(1, 2), Fraction(1, 2)], [0, 1]]))


def test_a_hair_of_difference_is_decided_exactly() -> None:
    # The first secret is told from the others best; a hair more is beyond what MERGED can simulate.
    hair = Fraction(1, 10**15)
    beyond = Channel(MERGED.matrix + np.array([[hair, -hair], [0, 0], [0, 0]]))
    result = refined_by(MERGED, beyond)
    assert not result.holds
    assert result.exact
    assert result.counterexample is not None
    shows, uniform = GVulnerability(result.counterexample), Prior.uniform(range(3))
    assert 0 < shows.posterior(uniform, beyond) - shows.posterior(uniform, MERGED) < 10 * hair
    within = Channel(MERGED.matrix - np.array([[hair, -hair], [0, 0], [-hair, hair]]))
    assert refined_by(MERGED, within).holds


def test_floats_that_differ_less_than_the_tolerance_count_as_refined() -> None:
    merged = MERGED.to_float()
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


def test_a_solver_that_errs_is_an_error_in_floats_and_no_harm_in_fractions(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    wrong = np.full((3, 3), THIRD, dtype=float), np.zeros(9)
    monkeypatch.setattr("glasshouse.qif.factorisation._programme", lambda _: wrong)
    identity = Channel.identity(range(3))
    with pytest.raises(SolverError, match="use Fractions"):
        refined_by(identity.to_float(), NOISY.to_float())
    assert refined_by(identity, NOISY).witness == Channel(NOISY.matrix)
    assert not refined_by(NOISY, identity).holds


def test_channels_too_large_for_a_linear_programme_are_refused_before_it_is_built() -> None:
    with pytest.raises(BudgetError, match="reduce them first"):
        refined_by(Channel.identity(range(60)), Channel.identity(range(60)))


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
