"""Binomial beliefs against exact fractions."""

from __future__ import annotations

from fractions import Fraction
from math import comb

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from glasshouse.economics.optimal_plan import SizeBeliefs


def exactly(people: int, share: float) -> list[Fraction]:
    p = Fraction(share)
    return [comb(people, k) * p**k * (1 - p) ** (people - k) for k in range(people + 1)]


@given(
    st.integers(1, 30),
    st.lists(st.floats(0, 1), min_size=1, max_size=4),
    st.integers(1, 35),
    st.lists(st.integers(0, 9), min_size=31, max_size=31),
)
def test_expectations_equal_exact_fractions(
    people: int, shares: list[float], below: int, worth: list[int]
) -> None:
    found = SizeBeliefs.of(people, np.array(shares), below=below).expect(np.array(worth, float))
    for share, own in zip(shares, found.tolist(), strict=True):
        chances = exactly(people, share)[:below]
        expected = sum(chance * w for chance, w in zip(chances, worth, strict=False))
        assert own == pytest.approx(float(expected), rel=1e-12, abs=1e-22)


@pytest.mark.parametrize("mean", [0.01, 1.0, 50.0, 5_000.0, 2_500_000.0])
def test_chances_of_millions_of_people_add_up_and_have_their_mean(mean: float) -> None:
    people = 6_018_999
    beliefs = SizeBeliefs.of(people, np.array([mean / people]), below=people + 1)
    sizes = np.arange(people + 1, dtype=float)
    assert beliefs.expect(np.ones(people + 1))[0] == pytest.approx(1, rel=1e-12)
    assert beliefs.expect(sizes)[0] == pytest.approx(mean, rel=1e-9)


def test_sizes_far_below_the_likely_ones_cost_nothing() -> None:
    beliefs = SizeBeliefs.of(6_018_999, np.array([0.5]), below=60)
    assert len(beliefs.chances) == 0
    assert beliefs.expect(np.ones(60)).tolist() == [0.0]
