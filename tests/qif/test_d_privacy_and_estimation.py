from __future__ import annotations

import math
from fractions import Fraction

import pytest

from glasshouse.errors import SolverError, StudyError
from glasshouse.qif import (
    Channel,
    Joint,
    Prior,
    estimate_prior,
    is_private,
    row_distances,
    smallest_epsilon,
    smallest_epsilon_of,
)

# The truncated geometric mechanism with e^ε = 2.
GEOMETRIC = Channel(
    [
        [Fraction(2, 3), Fraction(1, 6), Fraction(1, 6)],
        [Fraction(1, 3), Fraction(1, 3), Fraction(1, 3)],
        [Fraction(1, 6), Fraction(1, 6), Fraction(2, 3)],
    ]
)


def _steps(x: int, other: int) -> float:
    return abs(x - other)


def test_the_geometric_mechanism_has_its_epsilon() -> None:
    assert smallest_epsilon(GEOMETRIC, distance=_steps) == pytest.approx(math.log(2))
    assert row_distances(GEOMETRIC)[0, 2] == pytest.approx(math.log(4))
    assert is_private(GEOMETRIC, distance=lambda x, other: math.log(2) * _steps(x, other))
    assert not is_private(GEOMETRIC, distance=lambda x, other: 0.6 * _steps(x, other))


def test_an_observation_that_excludes_one_secret_has_no_epsilon() -> None:
    assert smallest_epsilon(Channel.identity("ab"), distance=lambda *_: 1) == math.inf
    assert smallest_epsilon(Channel.identity("ab"), distance=lambda *_: math.inf) == 0


def test_secrets_at_distance_zero_must_look_the_same() -> None:
    assert smallest_epsilon(Channel.no_interference("ab"), distance=lambda *_: 0) == 0
    assert smallest_epsilon(GEOMETRIC, distance=lambda *_: 0) == math.inf


def test_a_prior_has_an_epsilon_as_well() -> None:
    steep = Prior([Fraction(1, 4), Fraction(3, 4)])
    assert smallest_epsilon_of(steep, distance=_steps) == pytest.approx(math.log(3))


def test_a_negative_distance_is_refused() -> None:
    with pytest.raises(StudyError, match="not ≥ 0"):
        is_private(GEOMETRIC, distance=lambda *_: -1)


def test_the_prior_is_recovered_from_the_observations_of_an_invertible_channel() -> None:
    pi = Prior([Fraction(1, 2), Fraction(1, 3), Fraction(1, 6)])
    observed = Joint.of(pi, GEOMETRIC).outers()
    found = estimate_prior(GEOMETRIC, observed, max_change=1e-10)
    assert found.prior.probabilities == pytest.approx(pi.to_float().probabilities, abs=1e-6)
    assert found.iterations > 1


def test_an_estimate_that_does_not_settle_or_cannot_be_is_refused() -> None:
    observed = Prior([0.7, 0.1, 0.2])
    with pytest.raises(SolverError, match="still changes"):
        estimate_prior(GEOMETRIC, observed, max_iterations=1)
    with pytest.raises(StudyError, match="impossible"):
        estimate_prior(Channel.identity(range(2)), Prior([0.5, 0.5]), start=Prior([1, 0]))
