"""Diagnostics against their definitions, worked by hand or one number at a time, and against known processes."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray
from scipy.stats import chi2, kstest, norm

from glasshouse.errors import StudyError
from glasshouse.groups.estimates import (
    bulk_ess,
    geweke,
    rank_rhat,
    split_rhat,
    weiss,
)

Floats = NDArray[np.float64]


def autoregressive(phi: float, shape: tuple[int, ...], seed: int = 1) -> Floats:
    rng = np.random.default_rng(seed)
    noise = rng.normal(size=shape)
    chains = np.empty(shape)
    chains[:, 0] = noise[:, 0] / np.sqrt(1 - phi**2)
    for draw in range(1, shape[1]):
        chains[:, draw] = phi * chains[:, draw - 1] + noise[:, draw]
    return chains


def slow_rhat(chains: list[list[float]]) -> float:
    """Split R-hat by its definition, one number at a time."""
    half = len(chains[0]) // 2
    parts = [own[:half] for own in chains] + [own[-half:] for own in chains]
    means = [sum(own) / half for own in parts]
    within = sum(
        sum((x - m) ** 2 for x in own) / (half - 1) for own, m in zip(parts, means, strict=True)
    ) / len(parts)
    grand = sum(means) / len(means)
    between = half * sum((m - grand) ** 2 for m in means) / (len(parts) - 1)
    return float((((half - 1) / half * within + between / half) / within) ** 0.5)


@given(st.integers(0, 1000), st.integers(2, 4), st.integers(4, 9))
def test_split_rhat_is_its_definition(seed: int, chains: int, draws: int) -> None:
    traces = np.random.default_rng(seed).normal(size=(chains, draws))
    assert split_rhat(traces)[0] == pytest.approx(slow_rhat(traces.tolist()))


def test_rank_rhat_by_hand() -> None:
    """Ranks 1 … 8 of two chains, halves (1, 3), (5, 7), (2, 4), (6, 8): normal scores of (rank - 3/8) / 8.25."""
    traces = np.array([[1.0, 3.0, 5.0, 7.0], [2.0, 4.0, 6.0, 8.0]]) ** 3
    scores = norm.ppf((np.array([[1, 3, 5, 7], [2, 4, 6, 8]]) - 0.375) / 8.25)
    distance = np.abs(traces - np.median(traces))
    ranks = np.array([[sum(distance.ravel() < x) + 1 for x in own] for own in distance])
    folded = norm.ppf((ranks - 0.375) / 8.25)
    expected = max(slow_rhat(scores.tolist()), slow_rhat(folded.tolist()))
    assert rank_rhat(traces)[0] == pytest.approx(expected)


def test_chains_of_one_distribution_have_rhat_1_and_shifted_or_wider_ones_have_not() -> None:
    traces = np.random.default_rng(1).normal(size=(4, 2000))
    assert split_rhat(traces)[0] < 1.005
    assert rank_rhat(traces)[0] < 1.005
    shifted = traces + np.array([[0.0], [0.0], [0.0], [1.0]])
    assert split_rhat(shifted)[0] > 1.05
    wider = traces * np.array([[1.0], [1.0], [1.0], [4.0]])
    assert split_rhat(wider)[0] < 1.01
    assert rank_rhat(wider)[0] > 1.05
    drifting = traces + np.linspace(0, 2, 2000)
    assert split_rhat(drifting)[0] > 1.1


@pytest.mark.parametrize("phi", [0.0, 0.5, 0.9, -0.4])
def test_effective_draws_of_an_autoregressive_process(phi: float) -> None:
    """n (1 - φ) / (1 + φ) draws are worth as much; the error is that of the mean."""
    traces = autoregressive(phi, (4, 20_000))
    known = traces.size * (1 - phi) / (1 + phi)
    assert bulk_ess(traces)[0] == pytest.approx(known, rel=0.12)
    error = np.sqrt(1 / (1 - phi**2) / known)
    assert traces.std(ddof=1) / np.sqrt(bulk_ess(traces)[0]) == pytest.approx(error, rel=0.1)


def test_several_quantities_are_told_apart() -> None:
    traces = np.stack([autoregressive(0.0, (3, 400)), autoregressive(0.8, (3, 400))], axis=2)
    for function in (split_rhat, rank_rhat, bulk_ess):
        both = function(traces)
        for place in (0, 1):
            assert both[place] == pytest.approx(function(traces[:, :, place])[0])
    assert geweke(traces).shape == (3, 2)


def test_chains_that_do_not_move() -> None:
    still = np.full((3, 50), 0.3)
    assert split_rhat(still)[0] == 1.0
    assert bulk_ess(still)[0] == 150
    assert (geweke(still) == 0).all()
    stuck = still + np.array([[0.0], [0.0], [0.5]])
    assert split_rhat(stuck)[0] == np.inf
    assert rank_rhat(stuck)[0] == np.inf
    assert bulk_ess(stuck)[0] < 10


def test_geweke_is_standard_normal_for_a_stationary_chain_and_large_for_a_drift() -> None:
    z = geweke(autoregressive(0.3, (300, 1000)))[:, 0]
    assert kstest(z, "norm").pvalue > 0.001
    drift = autoregressive(0.3, (2, 1000)) + np.linspace(0, 2, 1000)
    assert (np.abs(geweke(drift)) > 4).all()
    with pytest.raises(StudyError, match="overlap"):
        geweke(drift, first=0.6, last=0.5)


def sticky(stay: float, draws: int, rng: np.random.Generator) -> NDArray[np.int64]:
    """A DAR(1) process with three categories: the last value again with this chance, else a fresh one."""
    fresh = rng.choice(3, p=[0.5, 0.3, 0.2], size=draws)
    kept = rng.random(draws) < stay
    kept[0] = False
    last = np.maximum.accumulate(np.where(kept, 0, np.arange(draws)))
    return fresh[last]


def test_weiss_by_hand() -> None:
    """Two segments of four: shares (3/4, 1/4) and (1/4, 3/4), overall (1/2, 1/2), χ² = 4 · 4 · (1/16) / (1/2) = 2."""
    found = weiss(np.array([0, 1, 0, 0, 1, 0, 1, 1]), segments=2)
    stays, length = 2 / 6, 4
    phi = max(1 + 1 / length - (1 - stays) / (1 - 0.5), 0.0)
    assert phi == 0
    assert found.correction == 1.0
    assert found.statistic == pytest.approx(2.0)
    assert found.degrees == 1
    assert found.p_value == pytest.approx(float(chi2.sf(2.0, 1)))


@pytest.mark.parametrize("stay", [0.0, 0.6])
def test_weiss_allows_for_dependence(stay: float) -> None:
    rng = np.random.default_rng(3)
    tests = [weiss(sticky(stay, 2000, rng)) for _ in range(200)]
    assert np.mean([own.p_value < 0.05 for own in tests]) < 0.11
    inflation = float(np.mean([own.correction for own in tests]))
    assert inflation == pytest.approx((1 + stay) / (1 - stay), rel=0.05)


def test_weiss_sees_a_change_and_chains_that_differ() -> None:
    rng = np.random.default_rng(4)
    changed = np.concatenate([sticky(0.5, 1000, rng), 2 - sticky(0.5, 1000, rng)])
    assert weiss(changed).p_value < 1e-4
    stuck = np.stack([np.zeros(100, np.int64), np.ones(100, np.int64)])
    assert weiss(stuck[0]).p_value == 1.0
    alike = np.stack([sticky(0.0, 1000, rng), sticky(0.0, 1000, rng)])
    apart = np.stack([alike[0], 2 - alike[1]])
    assert weiss(alike).p_value > 0.01
    assert weiss(apart).p_value < 1e-6
    with pytest.raises(StudyError, match="needs two segments"):
        weiss(np.arange(3))


@pytest.mark.parametrize("traces", [np.zeros((2, 3)), np.zeros(10), np.zeros((2, 10, 2, 2))])
def test_too_few_draws_are_refused(traces: Floats) -> None:
    with pytest.raises(StudyError, match="at least 4 draws per chain"):
        split_rhat(traces)
