"""Refinement: when one channel is safer than another for every prior and every gain function.

A channel A is *refined by* B, written A ⊑ B, when there is a channel R with A·R = B: whoever sees
the output of A can simulate B. By the "coriaceous" theorem this holds exactly when B never leaks
more than A, for any prior and gain function (Alvim et al. 2020, chapter 9), so that
a failure always comes with a gain function that shows it.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from glasshouse.qif.arithmetic import Array, common
from glasshouse.qif.channel import Channel
from glasshouse.qif.d_privacy import is_private, row_distances
from glasshouse.qif.factorisation import StochasticEquations, StochasticSolution, solve
from glasshouse.qif.gain import GainFunction
from glasshouse.qif.hyper import Hyper
from glasshouse.qif.joint import Joint
from glasshouse.qif.labels import Labels, require_same
from glasshouse.qif.linear_programme import minimise, refuse_large
from glasshouse.qif.prior import Prior


@dataclass(frozen=True)
class Refinement:
    """Whether one channel is refined by another, with what proves it."""

    holds: bool
    """Whether it is."""

    witness: Channel | None
    """If it is, the channel that proves it (see the function that returned this)."""

    counterexample: GainFunction | None
    """If it is not, a gain function with gains in [0, 1] under which, with the uniform prior, the
    second channel leaks strictly more than the first."""

    exact: bool
    """Whether the proof was verified in Fractions; otherwise within the tolerance of floats."""


@dataclass(frozen=True)
class LeakageGap:
    """By how much one channel can leak more than another, and to whom."""

    value: float
    """The greatest difference of the posterior vulnerabilities."""

    gain: GainFunction
    """A gain function that attains it."""


def refined_by(a: Channel, b: Channel) -> Refinement:
    """Decide whether A ⊑ B: whether B is at least as safe as A for every adversary.

    The witness is a channel R with A·R = B (libqif's ``factorize``). The counterexample is a gain
    function with V_g[υ ▷ B] > V_g[υ ▷ A] for the uniform prior υ; its guesses are the observations
    of B. It comes from the dual of the search for R: with gains g(y, x) = u[x, y], the margin of u
    is the sum over x, y of B[x, y]·g(y, x) minus Σ_z max_y Σ_x A[x, z]·g(y, x).

    Args:
        a: The channel that is to be refined.
        b: The channel on the same secrets that may refine it.

    Raises:
        SolverError: If floats cannot tell. Exact channels of a moderate size are always decided.
        BudgetError: If the channels are too large.

    >>> shown, hidden = Channel.identity("ab"), Channel.no_interference("ab")
    >>> refined_by(shown, hidden).holds, refined_by(hidden, shown).holds
    (True, False)
    """
    require_same(a.inputs, b.inputs, what="the secrets of the two channels")
    first, second = common(a.matrix, b.matrix)
    width = second.shape[1]
    refuse_large(second.size, first.shape[1] * width)
    # Entry (x, y) of A·R as a linear function of R read row by row.
    coefficients = np.kron(first, np.eye(width, dtype=int))
    solution = solve(StochasticEquations(coefficients, second.reshape(-1), width))
    exact = first.dtype == object
    if solution.solvable:
        return Refinement(True, Channel(solution.proof, a.outputs, b.outputs), None, exact)
    gains = solution.proof.reshape(second.shape).T
    return Refinement(False, None, _unit_gains(gains, b.outputs, a.inputs), exact)


def max_refined_by(a: Channel, b: Channel) -> Refinement:
    """Decide whether B is at least as safe as A for every adversary in the worst observation.

    The max-case posterior vulnerability is that of the worst observation, max_y V(σ_y), instead of
    the average. A is refined by B in this sense when all inners of B are mixtures of inners of A,
    which A ⊑ B implies (Chatzikokolakis, Fernandes, Palamidessi 2019, Comparing systems: max-case
    refinement orders and application to differential privacy).

    The witness is a channel from the observations of B to those of A: row y holds the weights of
    the mixture that makes the inner of y. The counterexample has a single guess, whose expected
    gain at some inner of B is greater than at all inners of A.
    """
    require_same(a.inputs, b.inputs, what="the secrets of the two channels")
    uniform = Prior.uniform(a.inputs)
    before, after = Hyper.of(uniform, a), Hyper.of(uniform, b)
    solution = _as_mixtures(after.inners, before.inners)
    if solution.solvable:
        witness = Channel(solution.proof, after.observations, before.observations)
        return Refinement(True, witness, None, solution.proof.dtype == object)
    gain = _unit_gains(solution.proof[np.newaxis], ("bet",), a.inputs)
    return Refinement(False, None, gain, solution.proof.dtype == object)


def privacy_refined_by(a: Channel, b: Channel) -> bool:
    """Decide whether B is d-private for every distance d for which A is.

    It is when B is private for the least such distance (Chatzikokolakis et al. 2019).
    """
    require_same(a.inputs, b.inputs, what="the secrets of the two channels")
    allowed = row_distances(a)
    index = {secret: row for row, secret in enumerate(a.inputs)}
    return is_private(b, distance=lambda x, other: float(allowed[index[x], index[other]]))


def left_factor(target: Channel, *, by: Channel) -> Channel | None:
    """Return a channel X with X·by = target, which comes before the other, if there is one.

    (libqif's ``left_factorize``; the right factor is the witness of `refined_by`.)
    """
    require_same(by.outputs, target.outputs, what="the observations of the two channels")
    solution = _as_mixtures(target.matrix.T, by.matrix.T)
    return Channel(solution.proof, target.inputs, by.inputs) if solution.solvable else None


def leakage_gap(prior: Prior, a: Channel, b: Channel) -> LeakageGap:
    """Return by how much more B can leak than A, over gain functions with gains at most 1.

    The maximum of V_g[π ▷ B] − V_g[π ▷ A] over the g ≤ 1 that allow to abstain, so that V_g ≥ 0;
    it is 0 when A ⊑ B, and measures by how much refinement fails (libqif's ``add_metric``). One
    guess per observation of B is enough, since others could only raise what A leaks: a linear
    programme in g and t_z = max(0, max_w Σ_x π[x]·A[x, z]·g(w, x)). It works in floats.
    """
    first, second = Joint.of(prior, a), Joint.of(prior, b)
    joint_a, joint_b = first.matrix.astype(np.float64), second.matrix.astype(np.float64)
    secrets, width = joint_b.shape
    refuse_large(width * joint_a.shape[1], width * secrets)
    # Unknowns: g(y, x) by y and x, then t_z. One constraint Σ_x joint_a[x, z]·g(y, x) ≤ t_z per y, z.
    guessed = np.kron(np.eye(width), joint_a.T)
    least = np.tile(np.eye(joint_a.shape[1]), (width, 1))
    optimum = minimise(
        np.concatenate([-joint_b.T.reshape(-1), np.ones(joint_a.shape[1])]),
        A_ub=np.hstack([guessed, -least]),
        b_ub=np.zeros(len(least)),
        bounds=[(None, 1)] * (width * secrets) + [(0, None)] * joint_a.shape[1],
    )
    gains = optimum.x[: width * secrets].reshape(width, secrets)
    gain = GainFunction(gains, b.outputs, prior.labels).abstaining()
    return LeakageGap(max(0.0, -float(optimum.fun)), gain)


def _as_mixtures(targets: Array, points: Array) -> StochasticSolution:
    """Write each column of the targets as a mixture of the columns of the points.

    The proof is the matrix of weights, one row per target; or a vector that separates a target
    from all points.
    """
    targets, points = common(targets, points)
    weights = []
    for target in targets.T:
        solution = solve(StochasticEquations(points, target, points.shape[1]))
        if not solution.solvable:
            return solution
        weights.append(solution.proof[0])
    return StochasticSolution(True, np.vstack(weights))


def _unit_gains(gains: Array, guesses: Labels, secrets: Labels) -> GainFunction:
    # Shifting and scaling all gains alike changes both vulnerabilities alike.
    least, most = gains.min(), gains.max()
    return GainFunction((gains - least) / (most - least), guesses, secrets)
