"""Capacities: the most that a channel can leak, whatever the prior or the gain function.

A capacity is a guarantee that needs no assumption on the adversary's knowledge (maximum over
priors), on her aims (maximum over gain functions), or on both.

References:
    Alvim, Chatzikokolakis, McIver, Morgan, Palamidessi, Smith (2020), The Science of Quantitative
        Information Flow, chapter 7.
    Alvim, Chatzikokolakis, McIver, Morgan, Palamidessi, Smith (2014), Additive and multiplicative
        notions of leakage, and their capacities, CSF.
    Chatzikokolakis (2018), On the additive capacity problem for quantitative information flow,
        QEST.
    Arimoto (1972), Blahut (1972): the algorithm for Shannon capacity.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from glasshouse.errors import BudgetError, SolverError
from glasshouse.qif.arithmetic import Array, Number, common, number
from glasshouse.qif.channel import Channel
from glasshouse.qif.joint import Joint
from glasshouse.qif.labels import Labels, require_same
from glasshouse.qif.prior import Prior

MAX_ENUMERATED_SECRETS = 16
"""Up to this number of secrets, all sets of them are tried for the additive Bayes capacity."""


@dataclass(frozen=True)
class Capacity:
    """A greatest leakage and a prior at which the channel leaks that much."""

    value: Number
    """The capacity."""

    prior: Prior
    """A prior that attains it."""


@dataclass(frozen=True)
class ShannonCapacity:
    """The greatest mutual information, in bits, between two bounds that hold up to rounding."""

    lower: float
    """The mutual information at `prior`: the capacity is at least this."""

    upper: float
    """The capacity is at most this."""

    prior: Prior
    """The prior that attains `lower`."""


def multiplicative_bayes_capacity(channel: Channel) -> Number:
    """Return the greatest factor by which the channel can raise the Bayes vulnerability.

    ML(C) = Σ_y max_x C[x, y], attained by the uniform prior. By the "miracle theorem" it bounds
    the multiplicative leakage for *every* prior and *every* non-negative gain function
    (Alvim et al. 2020, chapter 7).

    >>> print(multiplicative_bayes_capacity(Channel.identity("abc")))
    3
    """
    return number(channel.matrix.max(axis=0).sum())


def additive_capacity(prior: Prior, channel: Channel) -> Number:
    """Return the greatest additive leakage over vulnerabilities with values in [0, 1].

    The maximum of V_g[π ▷ C] − V_g(π) over the gain functions for which V_g varies by at most 1
    over all distributions on the support of π. It is 1 − Σ_y min_x C[x, y], x in the support,
    and depends on π only by its support, so it bounds the additive leakage under all priors as
    well ("additive miracle", Chatzikokolakis 2018).

    Why: the posterior σ_y = λ·π + (1 − λ)·ρ for some ρ and λ = min_x C[x, y] / outer_y. V_g is
    convex, so V_g(σ_y) − V_g(π) ≤ (1 − λ)·(V_g(ρ) − V_g(π)) ≤ 1 − λ, and the average of 1 − λ over
    y is the claim. Betting against the secret x_y that y makes least likely attains it: gain 1 if
    it is another, −(1 − π[x_y]) / π[x_y] if it is x_y, and 0 for abstaining.

    >>> print(additive_capacity(Prior.uniform("ab"), Channel([[1, 0], [1, 0]], "ab")))
    0
    """
    require_same(prior.labels, channel.inputs, what="the prior and the channel")
    possible = prior.probabilities > 0
    return number(1 - channel.matrix[possible].min(axis=0).sum())


def spanning_additive_capacity(prior: Prior, channel: Channel) -> Number:
    """Return the greatest additive leakage over gain functions that span at most 1.

    The maximum of V_g[π ▷ C] − V_g(π) over the g with |g(w, x) − g(w, x')| ≤ 1 for all w, x, x'.
    It is the Kantorovich distance between the hypers [π] and [π ▷ C] over the total variation:
    Σ_y outer_y·tv(π, σ_y) = ½ Σ_xy |J[x, y] − π[x]·outer_y| (Alvim et al. 2014, theorem 17).

    The class is smaller than that of `additive_capacity`, and so is the capacity. The gain of
    the sets that became likelier, g(y, x) = [σ_y[x] > π[x]] minus its prior expectation, has prior
    vulnerability 0 and attains it.
    """
    joint = Joint.of(prior, channel)
    independent = np.outer(joint.matrix.sum(axis=1), joint.matrix.sum(axis=0))
    return number(abs(joint.matrix - independent).sum() / 2)


def additive_bayes_capacity(channel: Channel) -> Capacity:
    """Return the greatest additive Bayes leakage over all priors, by trying all sets of secrets.

    The maximum is attained by a prior that is uniform on a set S of secrets, where the leakage is
    (Σ_y max_{x in S} C[x, y] − 1) / |S|. Finding S is NP-hard (Alvim et al. 2014): the work doubles
    with every secret. See `additive_bayes_capacity_bound` for large channels.

    Raises:
        BudgetError: If there are more than MAX_ENUMERATED_SECRETS secrets.

    >>> print(additive_bayes_capacity(Channel.identity("ab")).value)
    1/2
    """
    secrets = len(channel.inputs)
    if secrets > MAX_ENUMERATED_SECRETS:
        raise BudgetError(
            f"the additive Bayes capacity tries all sets of secrets, and {secrets} are more than "
            f"{MAX_ENUMERATED_SECRETS}; use additive_bayes_capacity_bound"
        )
    # The row of maxima of the set with bits s: first the sets without the newest secret, then with.
    maxima = np.zeros_like(channel.matrix[:1])
    for row in channel.matrix:
        maxima = np.vstack([maxima, np.maximum(maxima, row)])
    sizes = np.array([index.bit_count() for index in range(1, len(maxima))], dtype=object)
    leakages = (maxima[1:].sum(axis=1) - 1) / common(sizes, channel.matrix)[0]
    best = int(leakages.argmax())
    members = [label for bit, label in enumerate(channel.inputs) if (best + 1) >> bit & 1]
    return Capacity(number(leakages[best]), _uniform_on(members, channel.inputs))


def additive_bayes_capacity_bound(channel: Channel) -> Number:
    """Return an upper bound on the additive Bayes leakage under any prior, in linear time.

    With M the multiplicative capacity, a set of k secrets leaks at most (min(k, M) − 1) / k, which
    is greatest at one of the integers around M; and no prior leaks more than 1 − Σ_y min_x C[x, y].
    The bound is the smaller of the two. It is attained by the identity and by no interference;
    in between, finding the exact value is NP-hard (see `additive_bayes_capacity`).

    >>> print(additive_bayes_capacity_bound(Channel.identity("abcd")))
    3/4
    """
    most = multiplicative_bayes_capacity(channel)
    by_size = max((min(k, most) - 1) / Fraction(k) for k in (math.floor(most), math.ceil(most)))
    by_gain = additive_capacity(Prior.uniform(channel.inputs), channel)
    return min(number(by_size), by_gain)


def bayes_risk_capacity(channel: Channel) -> Capacity:
    """Return the greatest factor by which the channel can lower the Bayes risk.

    1 / (1 − δ), with δ the greatest total variation between two rows; it is attained by the prior
    that is uniform on those two secrets, and infinite when some observation tells them apart for
    sure (Chatzikokolakis, Cherubin, Palamidessi, Troncoso 2023, Bayes security).
    """
    return _risk_capacity(channel, lambda _: True, lambda _: True)


def predicate_capacity(channel: Channel, *, predicate: Callable[[Any], bool]) -> Capacity:
    """Return the greatest factor by which the channel can raise a predicate's vulnerability.

    1 + δ, with δ the greatest total variation between the row of a secret that has the property
    and that of one that has not; 1 when all secrets are alike in it.
    """
    distance, prior = _farthest_rows(channel, predicate, lambda x: not predicate(x))
    return Capacity(number(1 + distance), prior)


def predicate_risk_capacity(channel: Channel, *, predicate: Callable[[Any], bool]) -> Capacity:
    """Return the greatest factor by which the channel can lower a predicate's risk: 1 / (1 − δ)."""
    return _risk_capacity(channel, predicate, lambda x: not predicate(x))


def shannon_capacity(
    channel: Channel, *, gap: float = 1e-6, max_iterations: int = 200_000
) -> ShannonCapacity:
    """Return the greatest mutual information over all priors, by the Blahut–Arimoto algorithm.

    For any prior π with observations distributed as q, the capacity lies between the mutual
    information Σ_x π[x]·D(C[x] ‖ q) and max_x D(C[x] ‖ q); iterating π[x] ∝ π[x]·2^D(C[x] ‖ q)
    closes the two bounds, which are the certificate of the result.

    Args:
        channel: The channel.
        gap: The bounds are brought this close, in bits.
        max_iterations: When to give up.

    Raises:
        SolverError: If the bounds are still further apart after `max_iterations`.

    >>> shannon_capacity(Channel.identity(range(4))).lower
    2.0
    """
    matrix = channel.matrix.astype(np.float64)
    prior = np.full(len(matrix), 1 / len(matrix))
    for _ in range(max_iterations):
        divergences = _divergences(matrix, prior @ matrix)
        lower, upper = float(prior @ divergences), float(divergences.max())
        if upper - lower <= gap:
            return ShannonCapacity(lower, upper, Prior(prior, channel.inputs))
        prior = prior * np.exp2(divergences - upper)
        prior /= prior.sum()
    raise SolverError(
        f"after {max_iterations:,} iterations the capacity is only known to be between "
        f"{lower} and {upper} bits; allow more iterations or a gap wider than {gap}"
    )


def _divergences(matrix: Array, outers: Array) -> Array:
    ratios = np.divide(matrix, outers, out=np.ones_like(matrix), where=matrix > 0)
    return np.asarray((matrix * np.log2(ratios)).sum(axis=1))


def _risk_capacity(
    channel: Channel, first: Callable[[Any], bool], second: Callable[[Any], bool]
) -> Capacity:
    distance, prior = _farthest_rows(channel, first, second)
    return Capacity(number(1 / (1 - distance)) if distance < 1 else math.inf, prior)


def _farthest_rows(
    channel: Channel, first: Callable[[Any], bool], second: Callable[[Any], bool]
) -> tuple[Number, Prior]:
    """Return the greatest total variation between a row of each kind, and the prior on the pair."""
    rows = list(zip(channel.inputs, channel.matrix, strict=True))
    pairs = (
        (number(abs(row - other).sum() / 2), [secret, another])
        for secret, row in rows
        if first(secret)
        for another, other in rows
        if second(another) and another != secret
    )
    alike = (Fraction(0), list(channel.inputs))
    distance, members = max(pairs, key=lambda pair: pair[0], default=alike)
    return distance, _uniform_on(members, channel.inputs)


def _uniform_on(members: list[Any], labels: Labels) -> Prior:
    share = Fraction(1, len(members))
    return Prior([share if label in members else 0 for label in labels], labels)
