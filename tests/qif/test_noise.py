"""Noise as channels: closed forms of the literature, the plain laws of each noise, and what ptable prints."""

from __future__ import annotations

from fractions import Fraction
from itertools import product
from math import comb, exp, log

import numpy as np
import pytest

from glasshouse.errors import BudgetError, StudyError
from glasshouse.qif import (
    BayesVulnerability,
    Channel,
    Hyper,
    Prior,
    belief_range,
    clamped,
    composition,
    discrete_gaussian,
    gaussian,
    geometric,
    histogram,
    membership,
    multiplicative_bayes_capacity,
    perturbation_table,
    randomised_response,
    refined_by,
    rounding,
    smallest_epsilon,
    swapping,
)
from glasshouse.qif.suspicion import suspicion_of

HALF = Fraction(1, 2)
# "Introduction to the ptable-Package", D = 2, V = 1: as it prints the matrix, but for one of the last digits.
PTABLE: dict[int, dict[int, Fraction | float]] = {
    0: {0: Fraction(1)},
    1: {0: 0.3665, 1: 0.3665, 2: 0.1676, 3: 0.0994},
    2: {0: 0.0638, 1: 0.2448, 2: 0.3828, 3: 0.2448, 4: 0.0638},
}


def bit(chance: Fraction) -> Prior:
    return Prior([1 - chance, chance], ["out", "in"])


def right(prior: Prior, channel: Channel) -> Fraction | float:
    return BayesVulnerability().posterior(prior, channel)


def test_a_count_with_geometric_noise_is_randomised_response_on_one_bit() -> None:
    for others in (0, 3, 40):
        told = membership(geometric(range(others + 3), HALF), others)
        assert told.reduced().matrix.tolist() == [
            [Fraction(2, 3), Fraction(1, 3)],
            [Fraction(1, 3), Fraction(2, 3)],
        ]
        assert right(bit(Fraction(1, 10)), told) == Fraction(9, 10)
        assert multiplicative_bayes_capacity(told) == Fraction(4, 3)
        assert belief_range(bit(Fraction(1, 10)), told, "in") == (Fraction(1, 19), Fraction(2, 11))


def test_what_epsilon_means_is_attained() -> None:
    for epsilon in (0.1, 1.0, 4.0, 8.0):
        told = membership(geometric([0, 1], exp(-epsilon)), 0)
        least, most = belief_range(bit(Fraction(1, 100)), told, "in")
        assert most == pytest.approx(1 / (1 + 99 * exp(-epsilon)), abs=1e-12)
        assert least == pytest.approx(1 / (1 + 99 * exp(epsilon)), abs=1e-12)
        assert smallest_epsilon(told, distance=lambda *_: 1) == pytest.approx(epsilon)
    # 1 in 100 becomes 2.7 in 100 where epsilon is 1, and 36 in 100 where it is 4.
    one = membership(geometric([0, 1], exp(-1.0)), 0)
    assert float(belief_range(bit(Fraction(1, 100)), one, "in")[1]) == pytest.approx(
        0.0267, abs=5e-5
    )


def test_which_cell_of_a_table_is_hers() -> None:
    bits = membership(geometric([0, 1], HALF), 0)
    told = histogram(["a", "b", "c"], bits)
    prior = Prior([Fraction(7, 10), Fraction(1, 5), Fraction(1, 10)], ["a", "b", "c"])
    assert right(prior, told) == Fraction(32, 45)
    assert multiplicative_bayes_capacity(told) == Fraction(14, 9)
    for cells in (2, 3, 5):
        # V of a uniform prior: (1/m) [(1 − (1+a)^−m) / a + a (1+a)^−m]
        none = (1 + HALF) ** -cells
        expected = ((1 - none) / HALF + HALF * none) / cells
        told = histogram(range(cells), bits)
        assert right(Prior.uniform(range(cells)), told) == expected
    with pytest.raises(BudgetError, match="13 cells"):
        histogram(range(13), bits)


def test_others_of_whom_she_is_not_certain_hide_a_person_further() -> None:
    tenth = Fraction(1, 10)
    law = [comb(10, k) * tenth**k * (1 - tenth) ** (10 - k) for k in range(11)]
    noise = geometric(range(12), HALF)
    told = membership(noise, Prior(law, range(11)))
    assert right(bit(HALF), told) == Fraction(18813215837833, 30720000000000)
    assert right(bit(HALF), told) < right(bit(HALF), membership(noise, 4))


def test_tables_that_share_a_person_add_up_to_less_than_their_epsilon_allows() -> None:
    one = membership(geometric([0, 1], HALF), 0)
    three = composition([one] * 3)
    assert right(bit(HALF), three) == Fraction(20, 27) < Fraction(8, 9)
    assert multiplicative_bayes_capacity(three) == Fraction(40, 27)
    assert right(bit(HALF), one.repeated(3)) == Fraction(20, 27)
    hundred = composition([membership(geometric([0, 1], exp(-0.01)), 0)] * 100)
    assert right(bit(HALF), hundred) == pytest.approx(0.520, abs=5e-4)


def test_randomised_response_and_a_pram_release() -> None:
    prior = Prior([HALF, Fraction(3, 10), Fraction(1, 5)])
    told = randomised_response(range(3), Fraction(3, 5))
    assert right(prior, told) == Fraction(3, 5)
    assert multiplicative_bayes_capacity(told) == Fraction(9, 5)
    hyper = Hyper.of(prior, told)
    classes = [[0, 0, 1], [2], [1, 1, 2, 0]]
    beliefs = [np.sum([hyper.inner(y).probabilities for y in shown], axis=0) for shown in classes]
    assert sum(belief.max() for belief in beliefs) / 8 == Fraction(445, 896)
    with pytest.raises(StudyError, match="between 0 and 1"):
        randomised_response(range(3), Fraction(6, 5))


def test_gaussian_noise_at_its_best_guess() -> None:
    sigma = (1 / (2 * 0.05)) ** 0.5
    assert right(bit(HALF), _counted(gaussian([0, 1], sigma))) == pytest.approx(
        0.5628164694185541, abs=1e-12
    )
    unsure = Prior([0.9, 0.1], [0, 1])
    assert right(unsure, gaussian([0, 1], sigma, prior=unsure)) == pytest.approx(
        0.9000000000000241, abs=1e-12
    )
    # Of more counts than two: never below a fine grid of what is seen, and as near to it as the grid is fine.
    prior = Prior([0.2, 0.5, 0.1, 0.2], [0, 1, 4, 9])
    grid = np.arange(-20, 30, 0.01)
    density = np.exp(-np.square((grid - np.array([[0], [1], [4], [9]])) / 2) / 2)
    weighed = prior.probabilities[:, np.newaxis] * density / density.sum(axis=1, keepdims=True)
    best = right(prior, gaussian([0, 1, 4, 9], 2, prior=prior))
    assert best == pytest.approx(float(weighed.max(axis=0).sum()), abs=1e-4)


def test_the_discrete_gaussian_tells_more_than_the_continuous_one_where_it_is_narrow() -> None:
    def guessed(sigma: float, tables: int = 1) -> float:
        return float(right(bit(HALF), _counted(discrete_gaussian([0, 1], sigma, tables=tables))))

    assert guessed(2) == pytest.approx(0.5997355701003584, abs=1e-12)
    assert guessed(1) == pytest.approx(0.6995, abs=5e-5)
    assert guessed(0.5) == pytest.approx(0.893, abs=5e-4)
    assert guessed(0.5) > float(right(bit(HALF), _counted(gaussian([0, 1], 0.5))))
    two = composition([_counted(discrete_gaussian([0, 1], 1))] * 2)
    assert guessed(1, tables=2) == pytest.approx(float(right(bit(HALF), two)), abs=1e-9)
    for sigma in (2.9, 3.0, 4.0):
        noise = _counted(discrete_gaussian([0, 1], sigma))
        sums: dict[tuple[str, int], float] = {}
        for first, second in product(noise.outputs, repeat=2):
            for secret in ("out", "in"):
                key = (secret, int(str(first)) + int(str(second)))
                chance = float(noise[secret, first]) * float(noise[secret, second])
                sums[key] = sums.get(key, 0.0) + chance
        both = sum(max(sums.get(("out", y), 0), sums.get(("in", y), 0)) for y in range(-99, 99)) / 2
        assert guessed(sigma, tables=2) == pytest.approx(both, abs=1e-13)
    with pytest.raises(StudyError, match="above 0"):
        discrete_gaussian([0, 1], 0)


def test_the_example_of_ptable_is_its_channel() -> None:
    noise = perturbation_table(range(8), PTABLE)
    assert noise[1, 3] == pytest.approx(0.0995, abs=2e-4)
    assert noise[2, 2] == noise[7, 7] == pytest.approx(0.3828, abs=1e-4)
    assert noise[7, 5] == pytest.approx(0.0638, abs=1e-4)
    for count in range(8):
        shown = sum(float(noise[count, y]) * (int(str(y)) - count) for y in noise.outputs)
        assert shown == pytest.approx(0, abs=1e-3)
    # Its other example, D = 2, V = 1.08 without ones, has one way to leave a 1 unbiased: 77/150 to 0, 23/50, 2/75.
    blocked = {0: Fraction(77, 150), 2: Fraction(23, 50), 3: Fraction(2, 75)}
    told = membership(perturbation_table([0, 1], {0: {0: Fraction(1)}, 1: blocked}), 0)
    assert round(float(told["in", 0]), 4) == 0.5133
    assert belief_range(bit(Fraction(1, 100)), told, "in") == (Fraction(77, 14927), 1)
    with pytest.raises(StudyError, match=r"row 1 sums to 9/10, not to 1"):
        perturbation_table([0, 1], {0: {0: Fraction(1)}, 1: {0: Fraction(9, 10)}})
    with pytest.raises(StudyError, match="a row for every count"):
        perturbation_table([0, 1], {1: {0: Fraction(1)}})


def test_clamping_shows_no_more_and_is_told_exactly() -> None:
    plain = geometric(range(6), HALF)
    assert membership(clamped(plain, 0), 0) == membership(plain, 0)
    above = membership(clamped(plain, 3), 1)
    assert right(bit(HALF), above) < right(bit(HALF), membership(plain, 1))
    assert refined_by(membership(plain, 1), above).holds
    told = membership(clamped(discrete_gaussian([0, 1], 2)), 0)
    whole = membership(discrete_gaussian([0, 1], 2), 0)
    assert told.outputs[0] == 0
    assert told["in", 0] == pytest.approx(
        sum(float(whole["in", y]) for y in whole.outputs if int(str(y)) <= 0)
    )


def test_rounding_at_random_leaves_the_mean_and_swapping_the_counts() -> None:
    for base, count in product((2, 3, 5), range(12)):
        noise = rounding([count], base)
        assert sum(noise[count, y] * int(str(y)) for y in noise.outputs) == count
        nearest = rounding([count], base, "nearest").outputs
        assert abs(int(str(nearest[0])) - count) * 2 <= base
        assert rounding([count], base, "down").outputs == (count - count % base,)
    tally = {"north": 5, "south": 2, "west": 1}
    noise = swapping(tally, Fraction(1, 3))
    for place in tally:
        assert sum(tally[x] * noise[x, place] for x in tally) == tally[place]
    with pytest.raises(StudyError, match="two records"):
        swapping({"north": 1}, HALF)


def test_noise_that_is_none_is_refused() -> None:
    for ratio in (0, 1, Fraction(3, 2), -HALF):
        with pytest.raises(StudyError, match="above 0 and below 1"):
            geometric([0, 1], ratio)
    with pytest.raises(StudyError, match="multiples of 2 or more"):
        rounding([1], 1)
    with pytest.raises(StudyError, match="there are none"):
        geometric([], HALF)
    assert log(2) == pytest.approx(smallest_epsilon(geometric([0, 1], HALF), distance=lambda *_: 1))


def _counted(noise: Channel) -> Channel:
    """Return noise on the counts 0 and 1 as what it tells of whether somebody is in it."""
    return Channel(noise.matrix, ["out", "in"], noise.outputs)


def test_what_is_rare_of_those_outside_only_is_not_left_out_of_beliefs() -> None:
    """One in ten of those inside shows what hardly anybody outside does: that is no accident to be left out."""
    rare = 1e-9
    channel = Channel([[0.6, 0.4 - rare, rare], [0.3, 0.6, 0.1]])
    prior, (_, most) = next(iter(suspicion_of(channel, leaves_out=True).beliefs.items()))
    told = float(prior) * 0.1
    assert most == pytest.approx(told / (told + (1 - float(prior)) * rare))
