"""Reading (6) of the learner: the expectation of a ratio of independent variables, by quadrature.

Given the release, f(s, r | π) is proportional to W_s = g_s · Y_s over the sensitive values s: g_s ~ Gamma(α_s + γ_s)
makes up π_S, and Y_s is the product of the independent branches that lead to the values of r. Then

    E[W_s / Σ W] = ∫₀^∞ −L_s'(u) Π_{s' ≠ s} L_s'(u) du,   L_s(u) = E[exp(−u W_s)],

and, by the Mellin transform of the exponential, with −1 < c < 0,

    L_s(u) − 1 = 1/(2πi) ∫_{c − i∞}^{c + i∞} Γ(z) E[W_s^{−z}] u^{−z} dz.

E[W_s^{−z}] is a product of ratios of Γ. Both integrals are sums at equal steps (of Im z, and of log u), which converge
exponentially fast. Σ_s of the outcome is 1 in theory; how far it is from 1 tells whether the steps were enough.
"""

from __future__ import annotations

from functools import cache

import numpy as np
from numpy.typing import NDArray
from scipy.special import loggamma

_LINE = -0.5
_HIGHEST = 24.0
"""Γ(z) has fallen below 10⁻¹⁶ there."""
_LOWEST_LOG, _HIGHEST_LOG, _LOG_STEP = -26.0, 30.0, 0.3
_PERIOD = 2 * (_HIGHEST_LOG + 28)
"""Sums at equal steps repeat the function at this distance of log u; what spills over is e^−28."""

NODES = (_LINE + 1j * np.arange(0, _HIGHEST, 2 * np.pi / _PERIOD)).astype(np.complex128)
"""Where moments E[Y^−z] are needed."""
TOLERANCE = 1e-9
"""How far the sum of the probabilities may be from 1."""


def log_beta_moments(
    chosen: NDArray[np.float64], others: NDArray[np.float64]
) -> NDArray[np.complex128]:
    """Return log E[B^−z] at the nodes for B ~ Beta(chosen, others); a B of which the second parameter is 0 is 1."""
    whole = chosen + others
    logs = (
        loggamma(chosen[..., None] - NODES)
        - loggamma(chosen)[..., None]
        + loggamma(whole)[..., None]
        - loggamma(whole[..., None] - NODES)
    )
    return np.where((others > 0)[..., None], logs, 0)


def expected_ratio(
    shapes: NDArray[np.float64],
    log_means: NDArray[np.float64],
    log_moments: NDArray[np.complex128],
) -> NDArray[np.float64]:
    """Return E[W_s / Σ W] for each victim and sensitive value, not made to sum to 1.

    Args:
        shapes: Per sensitive value, the shape α_s + γ_s of its gamma variable.
        log_means: Per victim and sensitive value, log E[Y_s].
        log_moments: Per victim, sensitive value and node, log E[Y_s^−z].
    """
    scale = np.logaddexp.reduce(np.log(shapes) + log_means, axis=1)
    gammas = loggamma(NODES) + loggamma(shapes[:, None] - NODES) - loggamma(shapes)[:, None]
    terms = np.exp(log_moments + gammas + NODES * scale[:, None, None])
    terms[..., 0] /= 2
    cells = terms.reshape(-1, len(NODES))
    parts = np.concatenate([cells.real, cells.imag], axis=1)
    both = (parts @ _waves()).reshape(*log_means.shape, 2, -1)
    transform, slope = np.clip(1 + both[:, :, 0], 0, 1), np.maximum(both[:, :, 1], 0)
    found: NDArray[np.float64] = (slope * _product_of_others(transform)).sum(axis=2) * _LOG_STEP
    return found


@cache
def _waves() -> NDArray[np.float64]:
    """Return what takes the real and imaginary parts of the terms to L − 1 and to −u L', at every step of log u."""
    logs = np.arange(_LOWEST_LOG, _HIGHEST_LOG, _LOG_STEP)
    waves = np.exp(-NODES[:, None] * logs) * (2 / _PERIOD)
    pairs = np.concatenate([waves, NODES[:, None] * waves], axis=1)
    return np.concatenate([pairs.real, -pairs.imag])


def _product_of_others(factors: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return, along the second axis, the product of all but each."""
    before = np.ones_like(factors)
    before[:, 1:] = np.cumprod(factors[:, :-1], axis=1)
    behind = np.ones_like(factors)
    behind[:, :-1] = np.cumprod(factors[:, :0:-1], axis=1)[:, ::-1]
    product: NDArray[np.float64] = before * behind
    return product
