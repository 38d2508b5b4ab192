"""Whether chains have converged, and how precise their means are.

*R-hat* compares what chains disagree on with what each of them varies over. Chains are split into halves, so that a
trend counts as disagreement. The rank-normalised form (Vehtari, Gelman, Simpson, Carpenter and Bürkner 2021) is the
greater of two: on the normal scores of the ranks, and on those of the distances from the median; it also sees chains
that differ in spread or have no variance. Above 1.01 the chains are not to be trusted.

*ESS*, the effective sample size: so many independent draws would give the mean with the same error. Autocorrelations
are summed over pairs while the sums are positive and fall (Geyer 1992), over all chains (Vehtari et al. 2021).

*Geweke* (1992) and the *Weiß procedure* look at one chain only, and so cannot see that it stays in one of several
modes: a stuck chain passes. Boreale, Corradi and Viscardi (2020) relied on them; they are offered beside R-hat, and
`disagreement` tells when they pass and R-hat does not. The Weiß procedure (Weiß 2013, as used by Deonovic and Smith
2017) is Pearson's χ² test of homogeneity for a categorical chain cut into segments, divided by c = (1 + φ) / (1 - φ)
for dependence: φ is the lag-one autocorrelation by Cohen's κ of a discrete autoregressive process, DAR(1).

Traces have the shape chains × draws, or chains × draws × quantities; results have one number per quantity.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import chdtrc, ndtri

from glasshouse.errors import StudyError
from glasshouse.language import number, text

Floats = NDArray[np.float64]
LEAST_DRAWS = 4
"""Fewer draws per chain cannot be split into halves that vary."""
GEWEKE, WEISS = 2.0, 0.05
"""Geweke's test passes up to this |z|, the Weiß test from this p-value on."""
_ROUNDING = 1e-12
"""A deviation below this share of the root mean square is rounding."""


def split_rhat(traces: Floats) -> Floats:
    """Return split R-hat of each quantity (Gelman and Rubin 1992, on half chains).

    Quantities that never vary have 1 if all chains agree, and infinity if not.

    >>> split_rhat(np.array([[1.0, 2.0, 1.0, 2.0], [7.0, 8.0, 7.0, 8.0]])).round(1).tolist()
    [4.9]
    """
    return _rhat(_split(_cube(traces)))


def rank_rhat(traces: Floats) -> Floats:
    """Return rank-normalised split R-hat: the greater of that of the ranks and that of the folded ranks."""
    halves = _split(_cube(traces))
    folded = np.abs(halves - np.median(halves, axis=(0, 1)))
    return np.maximum(_rhat(_normal_scores(halves)), _rhat(_normal_scores(folded)))


def ess(traces: Floats) -> Floats:
    """Return the effective sample size for the mean of each quantity."""
    return _ess(_split(_cube(traces)))


def bulk_ess(traces: Floats) -> Floats:
    """Return the effective sample size of the rank-normalised draws, which exists even without a variance."""
    return _ess(_normal_scores(_split(_cube(traces))))


def standard_error(traces: Floats) -> Floats:
    """Return the Monte-Carlo standard error of the mean of each quantity: its deviation over √ESS."""
    cube = _cube(traces)
    spread = cube.reshape(-1, cube.shape[2]).std(axis=0, ddof=1)
    error: Floats = spread / np.sqrt(ess(traces))
    return error


def geweke(traces: Floats, *, first: float = 0.1, last: float = 0.5) -> Floats:
    """Return Geweke's z per chain and quantity: early mean minus late mean over the error of the difference.

    Args:
        traces: The draws.
        first: The share of each chain that is early.
        last: The share that is late.

    Raises:
        StudyError: The shares overlap.
    """
    if not (0 < first < 1 and 0 < last < 1 and first + last <= 1):
        raise StudyError(
            text(
                "Geweke's shares {first} and {last} overlap; give two that add up to at most 1",
                first=f"{first:g}",
                last=f"{last:g}",
            )
        )
    cube = _cube(traces)
    draws = cube.shape[1]
    early = cube[:, : max(LEAST_DRAWS, int(first * draws))]
    late = cube[:, -max(LEAST_DRAWS, int(last * draws)) :]
    difference = early.mean(axis=1) - late.mean(axis=1)
    variance = _variance_of_mean(early) + _variance_of_mean(late)
    scale = _ROUNDING * np.sqrt((cube**2).mean(axis=1))
    z: Floats = np.divide(
        difference,
        np.sqrt(variance),
        out=np.where(np.abs(difference) <= scale, 0.0, np.copysign(np.inf, difference)),
        where=variance > scale**2,
    )
    return z


@dataclass(frozen=True)
class WeissTest:
    """The outcome of the Weiß procedure for one categorical chain, or several."""

    statistic: float
    """Pearson's χ² of homogeneity, divided by the correction for dependence."""
    degrees: int
    """(segments - 1)·(categories - 1)."""
    p_value: float
    """The chance of at least this statistic if all segments come from one distribution."""
    correction: float
    """c = (1 + φ) / (1 - φ): how much dependence inflates χ²."""

    def to_dict(self) -> dict[str, Any]:
        """Return the outcome in plain values."""
        return {
            "statistic": self.statistic,
            "degrees": self.degrees,
            "p_value": self.p_value,
            "correction": self.correction,
        }


def weiss(categories: NDArray[np.integer], *, segments: int = 5) -> WeissTest:
    """Test that the segments of a categorical chain, or several chains, have one distribution.

    Args:
        categories: One chain (draws), which is cut into segments; or several (chains × draws), compared as they are.
        segments: Into how many equal segments one chain is cut.

    Raises:
        StudyError: There are fewer than two segments, or too few draws in them.
    """
    chain = np.atleast_2d(categories)
    if categories.ndim == 1:
        length = len(categories) // max(segments, 1)
        chain = categories[: length * segments].reshape(segments, length)
    parts, length = chain.shape
    if parts < 2 or length < LEAST_DRAWS:
        raise StudyError(
            text(
                "the Weiß test needs two segments of {least} draws; it was given {parts} of {length}",
                least=str(LEAST_DRAWS),
                parts=str(parts),
                length=str(length),
            )
        )
    names, codes = np.unique(chain, return_inverse=True)
    codes = codes.reshape(chain.shape)
    if len(names) == 1:
        return WeissTest(0.0, 0, 1.0, 1.0)
    shares = np.stack([np.bincount(part, minlength=len(names)) for part in codes]) / length
    overall = shares.mean(axis=0)
    stays = float((codes[:, 1:] == codes[:, :-1]).mean())
    moves = 1.0 - float((overall**2).sum())
    dependence = min(max(1.0 + 1.0 / length - (1.0 - stays) / moves, 0.0), 1.0 - 1e-12)
    correction = (1.0 + dependence) / (1.0 - dependence)
    statistic = length * float(((shares - overall) ** 2 / overall).sum()) / correction
    degrees = (parts - 1) * (len(names) - 1)
    return WeissTest(statistic, degrees, float(chdtrc(degrees, statistic)), correction)


def disagreement(
    name: str, *, rhat: float, geweke_z: Floats, weiss_p: list[float], limit: float = 1.01
) -> str | None:
    """Return a warning if the tests of single chains pass and R-hat does not; None otherwise.

    Geweke passes if every chain is within two standard deviations, the Weiß test if no chain is below 5 %.
    """
    passes = bool((np.abs(geweke_z) <= GEWEKE).all()) and all(p >= WEISS for p in weiss_p)
    if rhat <= limit or not passes:
        return None
    said = {"name": name, "rhat": number(rhat, ".3f")}
    if not weiss_p:
        return text(
            "{name}: Geweke's test passes for every chain by itself, but R-hat is {rhat}: the chains have not found "
            "the same distribution; trust R-hat",
            **said,
        )
    return text(
        "{name}: Geweke's and the Weiß test pass for every chain by itself, but R-hat is {rhat}: the chains have not "
        "found the same distribution; trust R-hat",
        **said,
    )


def _cube(traces: Floats) -> Floats:
    cube = np.asarray(traces, np.float64)
    if cube.ndim == 2:
        cube = cube[:, :, None]
    if cube.ndim != 3 or cube.shape[1] < LEAST_DRAWS:
        raise StudyError(
            text(
                "diagnostics need at least {least} draws per chain, as chains × draws (× quantities)",
                least=str(LEAST_DRAWS),
            )
        )
    return cube


def _split(cube: Floats) -> Floats:
    half = cube.shape[1] // 2
    return np.concatenate([cube[:, :half], cube[:, -half:]])


def _rhat(cube: Floats) -> Floats:
    draws = cube.shape[1]
    within = cube.var(axis=1, ddof=1).mean(axis=0)
    between = cube.mean(axis=1).var(axis=0, ddof=1) if len(cube) > 1 else np.zeros(cube.shape[2])
    constant = within <= _ROUNDING**2 * (cube**2).mean(axis=(0, 1))
    alike = between <= _ROUNDING**2 * (cube**2).mean(axis=(0, 1))
    still: Floats = np.where(alike, 1.0, np.inf)
    pooled = (draws - 1) / draws * within + between
    ratio: Floats = np.sqrt(np.divide(pooled, within, out=still, where=~constant))
    return ratio


def _normal_scores(cube: Floats) -> Floats:
    """Replace draws by normal scores of their ranks over all chains, ties by their mean rank (Blom 1958)."""
    flat = cube.reshape(-1, cube.shape[2])
    ranks = np.stack([_mean_ranks(column) for column in flat.T], axis=1)
    scores: Floats = ndtri((ranks - 0.375) / (len(flat) + 0.25))
    shaped: Floats = scores.reshape(cube.shape)
    return shaped


def _mean_ranks(draws: Floats) -> Floats:
    """Return the rank of each draw from 1, that of equal ones being the mean of theirs."""
    _, place, counts = np.unique(draws, return_inverse=True, return_counts=True)
    ranks: Floats = (np.cumsum(counts) - (counts - 1) / 2)[place]
    return ranks


def _autocovariance(cube: Floats) -> Floats:
    """Return the autocovariances of each chain and quantity at all lags, by Fourier transform."""
    draws = cube.shape[1]
    centred = cube - cube.mean(axis=1, keepdims=True)
    length = 1 << (2 * draws - 1).bit_length()
    spectrum = np.fft.rfft(centred, n=length, axis=1)
    power = np.fft.irfft(spectrum * np.conj(spectrum), n=length, axis=1)
    covariance: Floats = power[:, :draws].real / draws
    return covariance


def _ess(cube: Floats) -> Floats:
    return np.array([_ess_of(cube[:, :, [q]]) for q in range(cube.shape[2])])


def _ess_of(cube: Floats) -> float:
    chains, draws, _ = cube.shape
    covariance = _autocovariance(cube)[:, :, 0]
    within = float(covariance[:, 0].mean()) * draws / (draws - 1)
    between = float(cube.mean(axis=1).var(ddof=1)) if chains > 1 else 0.0
    size = float(chains * draws)
    scale = float((cube**2).mean())
    if within <= _ROUNDING**2 * scale:
        return size if between <= _ROUNDING**2 * scale else float(chains)
    pooled = within * (draws - 1) / draws + between
    correlation = 1.0 - (within - covariance.mean(axis=0) * draws / (draws - 1)) / pooled
    correlation[0] = 1.0
    pairs = correlation[: draws // 2 * 2].reshape(-1, 2).sum(axis=1)
    negative = np.flatnonzero(pairs < 0)
    kept = pairs[: negative[0]] if len(negative) else pairs
    time = max(2.0 * float(np.minimum.accumulate(kept).sum()) - 1.0, 1.0 / np.log10(size))
    return float(size / time)


def _variance_of_mean(cube: Floats) -> Floats:
    """Return the variance of the mean of each single chain and quantity."""
    chains, _, quantities = cube.shape
    sizes = np.array(
        [[_ess_of(cube[c : c + 1, :, q : q + 1]) for q in range(quantities)] for c in range(chains)]
    )
    variance: Floats = cube.var(axis=1, ddof=1) / sizes
    return variance
