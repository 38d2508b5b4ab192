"""What sampling finds: numbers with a Monte-Carlo error, R-hat and an effective sample size, and whether to trust them.

*Numbers* about the table (`Aggregate`) and about people (`Estimates`) make up what a run found (`Sampled`).

*R-hat* compares what chains disagree on with what each of them varies over. Chains are split into halves, so that a
trend counts as disagreement. The rank-normalised form (Vehtari, Gelman, Simpson, Carpenter and Bürkner 2021) is the
greater of two: on the normal scores of the ranks, and on those of the distances from the median; it also sees chains
that differ in spread or have no variance. Above 1.01 the chains are not to be trusted.

*ESS*, the effective sample size: so many independent draws would give the mean with the same error. Autocorrelations
are summed over pairs while the sums are positive and fall (Geyer 1992), over all chains (Vehtari et al. 2021).

*Geweke* (1992) and the *Weiß procedure* look at one chain only, and so cannot see that it stays in one of several
modes: a stuck chain passes. Boreale, Corradi and Viscardi (2020) relied on them; they are offered beside R-hat, and
`Sampled.warnings` tells when they pass and R-hat does not. The Weiß procedure (Weiß 2013, as used by Deonovic and Smith
2017) is Pearson's χ² test of homogeneity for a categorical chain cut into segments, divided by c = (1 + φ) / (1 - φ)
for dependence: φ is the lag-one autocorrelation by Cohen's κ of a discrete autoregressive process, DAR(1).

*Errors of beliefs* (`CellMeans`). Batch means of all chains, about the overall mean, give its variance; so do the means
of whole chains. The greater is taken: if chains disagree, no length of theirs hides it. A belief is a share of sums;
batches are turned into shares before they are compared, so that errors are those of the belief itself. R-hat and ESS
are those of the averaged quantity (the attacker's sums, p_L(s, r) for reading (5), f(s | r, π) for (6)): half-chain
means from the batches, the variance of single draws from the sums of squares.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from importlib import import_module
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray
from scipy.special import chdtrc, ndtri

from glasshouse.arrays import Flags, Floats, Integers
from glasshouse.errors import StudyError
from glasshouse.groups.beliefs import Beliefs, Knowledge, finite, normalised
from glasshouse.groups.chains import RunningMeans
from glasshouse.language import marked, number, speaking, text, translated

APART = 1.05
"""R-hat above which chains are said to be in different modes."""
LEAST_DRAWS = 4
"""Fewer draws per chain cannot be split into halves that vary."""
GEWEKE, WEISS = 2.0, 0.05
"""Geweke's test passes up to this |z|, the Weiß test from this p-value on."""
_ROUNDING = 1e-12
"""A deviation below this share of the root mean square is rounding."""
_CELLS = 1 << 20
"""Cells that are worked on at a time."""
_ROUNDING_SQUARED = 1e-18
"""A variance below this share of the mean square is rounding: the cell does not vary."""
_ROUNDING_OF_RATIO = 1e-24
"""A variance below this share of the square of the ratio is rounding."""
FIGURES = {
    "attacker_success": marked("mean greatest probability, attacker"),
    "learner_success": marked("mean greatest probability, learner"),
    "gt_attacker": marked("best guess right, attacker (GT_A)"),
    "gt_learner": marked("best guess right, learner (GT_L)"),
    "gt_attacker_random_ties": marked("best guess right, attacker, ties at random"),
    "gt_learner_random_ties": marked("best guess right, learner, ties at random"),
    "abs_attacker": marked("absolute error of all records, attacker (ABS_A)"),
    "abs_learner": marked("absolute error of all records, learner (ABS_L)"),
    "rgt": marked("relative global threat (RGT)"),
    "highest_ti": marked("highest relative threat (Ti) of a threatened record"),
    "highest_ti_of_all": marked("highest relative threat (Ti) of any record"),
    "log2_ti_attacker_mean": marked("mean of log₂ Ti, threatened by the attacker"),
    "log2_ti_attacker_skewness": marked("skewness of log₂ Ti, threatened by the attacker"),
    "log2_ti_learner_mean": marked("mean of log₂ Ti, threatened by the learner"),
    "log2_ti_learner_skewness": marked("skewness of log₂ Ti, threatened by the learner"),
    "rf": marked("relative faithfulness (equation 21), of the chains alone"),
    "rf_bounded": marked("relative faithfulness, bounded, of the chains alone"),
}
"""What each sampled figure is, in plain words."""


class Stop(StrEnum):
    """Why a run stopped."""

    PRECISION = "precision"
    """The requested precision was reached, and R-hat is within its limit."""
    SWEEPS = "sweeps"
    """The limit of sweeps was reached before."""
    TIME = "time"
    """The limit of time was reached before."""


class Basis(StrEnum):
    """What R-hat and the effective sample size of a figure are made of."""

    DRAWS = "draws"
    """The figure of the beliefs that each single draw would give."""
    BATCHES = "batches"
    """The figure of the mean beliefs of each batch of draws, where that of a single draw means nothing."""


@dataclass(frozen=True)
class Aggregate:
    """A number about the whole table, and how well the chains know it."""

    name: str
    """What it is: ``gt_attacker``, ``abs_learner``, ``rgt``, ``highest_ti`` … (with an original:
    `glasshouse.groups.measures`), or ``attacker_success``, ``learner_success``: the mean greatest probability."""
    value: float
    """The measure of the mean beliefs over all chains."""
    error: float
    """Its Monte-Carlo standard error: from the same measure of each half chain."""
    rhat: float
    """Rank-normalised split R-hat of the measure, draw by draw or batch by batch."""
    plain_rhat: float
    """Split R-hat without ranks."""
    ess: float
    """The bulk effective sample size of the measure, in draws or in batches."""
    geweke: float
    """The greatest |z| of Geweke's test over the chains; not a number for batches, which are too few."""
    weiss: float
    """The least p-value of the Weiß test over the chains, the draws being told apart by the quarters of their
    distribution; not a number for batches."""
    basis: Basis = Basis.DRAWS
    """What R-hat and the effective sample size are counted in."""

    @property
    def passes_alone(self) -> bool:
        """Whether Geweke's test, and the Weiß test where it was made, see nothing in any single chain."""
        return self.geweke <= GEWEKE and not self.weiss < WEISS

    def to_dict(self) -> dict[str, Any]:
        """Return it in plain values; what is not finite is None."""
        fields = {name: getattr(self, name) for name in self.__dataclass_fields__}
        return {name: finite(x) if isinstance(x, float) else x for name, x in fields.items()}


@dataclass(frozen=True)
class Estimates:
    """Sampled numbers about single people, beliefs or relative threats, and how well the chains know each."""

    values: Floats
    """The numbers."""
    errors: Floats
    """The Monte-Carlo standard error of each."""
    rhat: Floats
    """Split R-hat of each; not a number where it is unknown."""
    ess: Floats
    """The effective sample size of each, that of a relative threat in batches; not a number where it is unknown."""

    def taken(self, places: Integers) -> Estimates:
        """Return some of them."""
        return Estimates(
            *(numbers[places] for numbers in (self.values, self.errors, self.rhat, self.ess))
        )


@dataclass(frozen=True)
class Sampled:
    """What was learned by sampling, with its uncertainty."""

    knowledge: Knowledge
    """The beliefs of learner and attacker about every victim, with error, R-hat and ESS of each."""
    aggregates: tuple[Aggregate, ...]
    """Numbers about the whole table of which every draw is kept; a run stops by them."""
    figures: tuple[Aggregate, ...]
    """The evaluator's other numbers about the whole table, known batch by batch; none without an original."""
    ratios: Estimates
    """Ti = p_A / p_L: per victim and sensitive value that the original has records of, as `Original.cells` lists
    them; without an original per victim and sensitive value, victim after victim."""
    stopped: Stop
    """Why the run stopped."""
    converged: bool
    """Whether R-hat of every aggregate is within the limit, with enough effective draws behind it."""
    largest_error: float
    """The largest Monte-Carlo error of any belief of learner (5) or attacker."""
    limit: float
    """R-hat above this counts as disagreement of the chains."""
    chains: int
    """How many chains ran."""
    burn_in: int
    """How many sweeps each chain made before anything was recorded."""
    sweeps: int
    """How many sweeps each chain made after that."""
    every: int
    """A draw was recorded after so many sweeps."""
    seed: int
    """What all random numbers follow from."""
    trace_names: tuple[str, ...] = field(repr=False)
    """The names of the traces."""
    traces: Floats = field(repr=False)
    """The aggregates draw by draw: chains × draws × names."""
    traced: Integers = field(repr=False)
    """The victims of whom every draw was kept."""
    details: NDArray[np.float32] = field(repr=False)
    """Their beliefs: chains × draws × (attacker, learner (5), learner (6)) × victims × sensitive values."""

    @property
    def draws(self) -> int:
        """How many draws each chain recorded."""
        return int(self.traces.shape[1])

    def aggregate(self, name: str) -> Aggregate:
        """Return an aggregate by its name.

        Raises:
            StudyError: There is no such aggregate.
        """
        everything = (*self.aggregates, *self.figures)
        for aggregate in everything:
            if aggregate.name == name:
                return aggregate
        names = ", ".join(aggregate.name for aggregate in everything)
        raise StudyError('"{name}" was not sampled; there is {names}', name=name, names=names)

    def to_dict(self) -> dict[str, Any]:
        """Return the run and its aggregates in plain values; beliefs are in ``knowledge``, warnings in English."""
        names = ("converged", "multimodal", "largest_error", "chains", "burn_in", "sweeps", "every")
        with speaking("en"):
            warnings = list(self.warnings)
        return {
            "method": "sampling",
            "stopped": str(self.stopped),
            **{name: getattr(self, name) for name in (*names, "seed")},
            "aggregates": [aggregate.to_dict() for aggregate in self.aggregates],
            "figures": [figure.to_dict() for figure in self.figures],
            "warnings": warnings,
        }

    @property
    def multimodal(self) -> bool:
        """Whether chains disagree so much that they are in different modes, or hardly move between them."""
        return any(aggregate.rhat > APART for aggregate in self.aggregates)

    @property
    def warnings(self) -> tuple[str, ...]:
        """What a reader has to know, a sentence each, in the language that is spoken."""
        sentences = (self._unfinished(), self._apart(), self._stuck())
        return tuple(warning for warning in sentences if warning is not None)

    def _unfinished(self) -> str | None:
        if self.stopped is Stop.SWEEPS:
            return text(
                "the requested precision was not reached within the limit of sweeps; errors are as stated, and a "
                "longer run can be continued from here"
            )
        if self.stopped is Stop.TIME:
            return text(
                "the requested precision was not reached within the limit of seconds; errors are as stated, and a "
                "longer run can be continued from here"
            )
        return None

    def _apart(self) -> str | None:
        apart = [
            figure_title(aggregate.name) for aggregate in self.aggregates if aggregate.rhat > APART
        ]
        if not apart:
            return None
        return text(
            "the chains disagree on {figures} (R-hat up to {rhat}): the posterior has several modes that they hardly "
            "move between; the figures are an average over the modes that were found",
            figures="; ".join(apart),
            rhat=number(max(aggregate.rhat for aggregate in self.aggregates), ".2f"),
        )

    def _stuck(self) -> str | None:
        """Say if the tests of single chains pass where R-hat does not."""
        suspect = [
            aggregate
            for aggregate in self.aggregates
            if aggregate.rhat > self.limit and aggregate.passes_alone
        ]
        if not suspect:
            return None
        figures = {
            "name": "; ".join(figure_title(aggregate.name) for aggregate in suspect),
            "rhat": number(max(aggregate.rhat for aggregate in suspect), ".3f"),
        }
        if all(math.isnan(aggregate.weiss) for aggregate in suspect):
            return text(
                "{name}: Geweke's test passes for every chain by itself, but R-hat is {rhat}: the chains have not "
                "found the same distribution; trust R-hat",
                **figures,
            )
        return text(
            "{name}: Geweke's and the Weiß test pass for every chain by itself, but R-hat is {rhat}: the chains have "
            "not found the same distribution; trust R-hat",
            **figures,
        )

    def to_frame(self) -> pa.Table:
        """Return one row per number about the table."""
        return pa.Table.from_pylist(
            [aggregate.to_dict() for aggregate in (*self.aggregates, *self.figures)]
        )

    def to_inference_data(self) -> Any:
        """Return the traces as ArviZ's InferenceData: aggregates, and the beliefs about traced victims.

        Raises:
            StudyError: ArviZ is not installed.
        """
        try:
            arviz = import_module("arviz")
        except ImportError:
            raise StudyError("ArviZ is not installed; install it with: pip install arviz") from None
        return arviz.from_dict(**self.inference_content())

    def inference_content(self) -> dict[str, Any]:
        """Return what ArviZ's ``from_dict`` is given: traces (chains × draws × …), their dimensions and labels."""
        posterior: dict[str, Any] = {
            name: self.traces[:, :, place] for place, name in enumerate(self.trace_names)
        }
        if len(self.traced):
            for place, name in enumerate(("attacker", "learner", "learner_mean")):
                beliefs = self.details[:, :, place]
                if not np.isnan(beliefs).all():
                    posterior[name] = beliefs
        dims = {name: ["victim", "sensitive"] for name in posterior if posterior[name].ndim == 4}
        values = list(self.knowledge.release.sensitive.values)
        coords = {"victim": self.traced.tolist(), "sensitive": values} if dims else None
        return {"posterior": posterior, "dims": dims, "coords": coords}


def figure_title(name: str) -> str:
    """Return what a sampled figure is, in plain words.

    >>> figure_title("ti_above_2_of_all")
    'records with a relative threat above 2'
    """
    if not name.startswith("ti_above_"):
        return translated(FIGURES[name])
    limit = number(float(name.removeprefix("ti_above_").removesuffix("_of_all")), "g")
    if name.endswith("_of_all"):
        return text("records with a relative threat above {limit}", limit=limit)
    return text("threatened records with a relative threat above {limit}", limit=limit)


# Diagnostics. Traces are chains × draws, or chains × draws × quantities; results have one number per quantity.
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


def bulk_ess(traces: Floats) -> Floats:
    """Return the effective sample size of the rank-normalised draws, which exists even without a variance."""
    scores = _normal_scores(_split(_cube(traces)))
    return np.array([_ess_of(scores[:, :, [q]]) for q in range(scores.shape[2])])


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
            "Geweke's shares {first} and {last} overlap; give two that add up to at most 1",
            first=f"{first:g}",
            last=f"{last:g}",
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
            "the Weiß test needs two segments of {least} draws; it was given {parts} of {length}",
            least=str(LEAST_DRAWS),
            parts=str(parts),
            length=str(length),
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


def _cube(traces: Floats) -> Floats:
    cube = np.asarray(traces, np.float64)
    if cube.ndim == 2:
        cube = cube[:, :, None]
    if cube.ndim != 3 or cube.shape[1] < LEAST_DRAWS:
        raise StudyError(
            "diagnostics need at least {least} draws per chain, as chains × draws (× quantities)",
            least=str(LEAST_DRAWS),
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
    return _pooled(within, between, draws, constant, alike)[1]


def _pooled(
    within: Floats, between: Floats, draws: int, constant: Flags, alike: Flags
) -> tuple[Floats, Floats]:
    """Return the variance pooled from that within and that between half chains, and R-hat.

    Where there is no variance within them (constant) it is 1 if they are alike, and infinite if not.
    """
    pooled: Floats = (draws - 1) / draws * within + between
    still = np.where(alike, 1.0, np.inf)
    return pooled, np.sqrt(np.divide(pooled, within, out=still, where=~constant))


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
    falling = pairs[: negative[0]] if len(negative) else pairs
    time = max(2.0 * float(np.minimum.accumulate(falling).sum()) - 1.0, 1.0 / np.log10(size))
    return float(size / time)


def _variance_of_mean(cube: Floats) -> Floats:
    """Return the variance of the mean of each single chain and quantity."""
    chains, _, quantities = cube.shape
    sizes = np.array(
        [[_ess_of(cube[c : c + 1, :, q : q + 1]) for q in range(quantities)] for c in range(chains)]
    )
    variance: Floats = cube.var(axis=1, ddof=1) / sizes
    return variance


# From the batch means of several chains to beliefs.
@dataclass(frozen=True)
class CellMeans:
    """The running means of the same cells in several chains."""

    chains: Sequence[RunningMeans]
    """The means of each chain."""
    shape: tuple[int, int]
    """Victims and sensitive values."""
    support: Integers | None = None
    """Which cells there are, ascending; None: all. The others are 0."""

    def summary(self) -> tuple[Floats, Beliefs]:
        """Return the averaged quantity (victims × values), and as beliefs its share in the sum of its row, with errors.

        The chains have complete batches, an even number of them.
        """
        mean, errors, rhat, ess = (np.empty(self.shape) for _ in range(4))
        step = max(1, _CELLS // self.shape[1])
        for first in range(0, self.shape[0], step):
            part = slice(first, min(first + step, self.shape[0]))
            mean[part], errors[part], rhat[part], ess[part] = self._summarise(first, part.stop)
        return mean, Beliefs(normalised(mean), errors, rhat, ess)

    def sections(self) -> Iterator[Floats]:
        """Yield the mean of each half chain: independent but for what is left of a chain at its middle."""
        for means in self.chains:
            half = means.full // 2
            for rows in (slice(0, half), slice(half, means.full)):
                deviation = means.batches[rows].mean(axis=0, dtype=np.float64)
                yield self._dense(means.reference + deviation, 0, self.shape[0])

    def batch(self, chain: int, number: int) -> Floats:
        """Return the mean of one batch of a chain."""
        means = self.chains[chain]
        return self._dense(
            means.reference + means.batches[number].astype(np.float64), 0, self.shape[0]
        )

    def whole(self) -> Floats:
        """Return the mean of all draws of all chains."""
        total: Floats = np.zeros(self.shape)
        for section in self.sections():
            total += section
        mean: Floats = total / (2 * len(self.chains))
        return mean

    def _range(self, first: int, last: int) -> slice:
        ends = np.array([first, last]) * self.shape[1]
        if self.support is not None:
            ends = np.searchsorted(self.support, ends)
        return slice(int(ends[0]), int(ends[1]))

    def _dense(self, cells: Floats, first: int, last: int) -> Floats:
        if self.support is None:
            return cells.reshape(last - first, self.shape[1])
        dense = np.zeros((last - first) * self.shape[1])
        places = self.support[self._range(first, last)]
        dense[places - first * self.shape[1]] = cells
        return dense.reshape(last - first, self.shape[1])

    def _summarise(self, first: int, last: int) -> tuple[Floats, Floats, Floats, Floats]:
        cells = self._range(first, last)
        batches_of_chains = [means.batches[: means.full, cells] for means in self.chains]
        reference = [means.reference[cells].astype(np.float64) for means in self.chains]
        chain_means = [
            base + part.mean(axis=0, dtype=np.float64)
            for base, part in zip(reference, batches_of_chains, strict=True)
        ]
        mean = np.mean(chain_means, axis=0)
        beliefs = normalised(self._dense(mean, first, last))
        of_batches, of_shares = np.zeros(len(mean)), np.zeros(beliefs.shape)
        for base, part in zip(reference, batches_of_chains, strict=True):
            for batch in part:
                of_batches += (base + batch - mean) ** 2
                of_shares += (normalised(self._dense(base + batch, first, last)) - beliefs) ** 2
        many, batches = len(self.chains), sum(len(part) for part in batches_of_chains)
        of_chains = [normalised(self._dense(x, first, last)) - beliefs for x in chain_means]
        error = _squared_error(of_batches, batches, [x - mean for x in chain_means])
        share_error = _squared_error(of_shares, batches, of_chains)
        rhat, ess = self._worth(cells, reference, batches_of_chains, mean, error)
        return (
            self._dense(mean, first, last),
            np.sqrt(share_error),
            self._filled(rhat, 1.0, first, last),
            self._filled(ess, float(many * self.chains[0].draws), first, last),
        )

    def _filled(self, cells: Floats, otherwise: float, first: int, last: int) -> Floats:
        """Return a dense array; cells that cannot occur are as cells that do not vary."""
        if self.support is None:
            return self._dense(cells, first, last)
        return self._dense(cells - otherwise, first, last) + otherwise

    def _worth(
        self,
        cells: slice,
        reference: list[Floats],
        batches_of_chains: list[NDArray[np.float32]],
        mean: Floats,
        error: Floats,
    ) -> tuple[Floats, Floats]:
        within = np.zeros(len(mean))
        halves = []
        for means, base, part in zip(self.chains, reference, batches_of_chains, strict=True):
            half = means.full // 2
            early, late = (x.mean(axis=0, dtype=np.float64) for x in (part[:half], part[half:]))
            whole = (early + late) / 2
            within += means.squares[cells] / means.draws - whole**2 - ((early - late) / 2) ** 2
            halves += [base + early, base + late]
        draws = self.chains[0].draws // 2
        within = np.maximum(within / len(self.chains), 0.0) * draws / max(draws - 1, 1)
        between = np.var(halves, axis=0, ddof=1)
        constant = within <= _ROUNDING_SQUARED * mean**2
        alike = between <= _ROUNDING_SQUARED * mean**2 + 1e-14 * mean**2
        pooled, rhat = _pooled(within, between, draws, constant, alike)
        total = float(2 * draws * len(self.chains))
        many = np.where(constant & alike, total, 1.0)
        ess = np.divide(pooled, error, out=many, where=(error > 0) & ~(constant & alike))
        return rhat, np.minimum(ess, total * np.log10(max(total, 10.0)))


@dataclass(frozen=True)
class MeanBeliefs:
    """The mean beliefs of some draws."""

    attacker: Floats
    """p_A; not a number for who is not in the table."""
    learner: Floats
    """p_L(s | r) by the reading that the attacker is compared with."""
    joint: Floats
    """p_L(s, r), equation (5)."""


@dataclass(frozen=True)
class BeliefMeans:
    """What all chains recorded of attacker and learner."""

    recorded: Sequence[CellMeans]
    """The sums behind p_A; p_L(s, r), reading (5) of the learner; and f(s | r), reading (6), where it is recorded."""
    by_mean: bool
    """Whether the attacker is compared with reading (6)."""

    def whole(self) -> MeanBeliefs:
        """Return the means of all draws."""
        return self._mean_beliefs(*(cells.whole() for cells in self._needed))

    def halves(self) -> Iterator[MeanBeliefs]:
        """Yield the means of each half chain."""
        for arrays in zip(*(cells.sections() for cells in self._needed), strict=True):
            yield self._mean_beliefs(*arrays)

    def batches(self, chain: int) -> Iterator[MeanBeliefs]:
        """Yield the means of each batch of one chain."""
        for batch in range(self.recorded[0].chains[chain].full):
            yield self._mean_beliefs(*(cells.batch(chain, batch) for cells in self._needed))

    @property
    def _needed(self) -> Sequence[CellMeans]:
        return self.recorded if self.by_mean else self.recorded[:2]

    def _mean_beliefs(self, attacker: Floats, *learner: Floats) -> MeanBeliefs:
        return MeanBeliefs(normalised(attacker), normalised(learner[-1]), learner[0])


def _squared_error(of_batches: Floats, batches: int, of_chains: Sequence[Floats]) -> Floats:
    """Return the square of the error of a mean: by the deviations of batches or of whole chains, the greater.

    Args:
        of_batches: The sum of the squared deviations of all batches from the mean.
        batches: How many there are.
        of_chains: Per chain, the deviation of its mean.
    """
    error: Floats = of_batches / (batches * (batches - 1))
    many = len(of_chains)
    if many > 1:
        error = np.maximum(error, sum(x**2 for x in of_chains) / (many * (many - 1)))
    return error


def ratios_of(means: BeliefMeans, cells: tuple[Integers, Integers]) -> Estimates:
    """Return the relative threats Ti = p_A / p_L of some cells (victim and sensitive value), and what they are worth.

    The error is from the ratios of batches or of whole chains, whichever is greater: what p_A and p_L have in common
    is thus allowed for, as it would not be if their own errors were put together. Squares are summed about the ratio of
    the means, batch after batch: memory does not grow with their number. R-hat and ESS are those of batches.
    """
    values = _ratio(means.whole(), cells)
    squares, within = np.zeros(len(values)), np.zeros(len(values))
    halves: list[Floats] = []
    chains = means.recorded[0].chains
    many = chains[0].full // 2
    for chain in range(len(chains)):
        sums, sums_of_squares = np.zeros((2, len(values))), np.zeros((2, len(values)))
        for batch_number, batch in enumerate(means.batches(chain)):
            deviation = _ratio(batch, cells) - values
            sums[batch_number // many] += deviation
            sums_of_squares[batch_number // many] += deviation**2
        squares += sums_of_squares.sum(axis=0)
        within += (sums_of_squares - sums**2 / many).sum(axis=0)
        halves += [sums[0] / many, sums[1] / many]
    batches = 2 * many * len(chains)
    of_chains = [(halves[2 * c] + halves[2 * c + 1]) / 2 for c in range(len(chains))]
    error = _squared_error(squares, batches, of_chains)
    if many < 2:
        unknown = np.full(len(values), np.nan)
        return Estimates(values, np.sqrt(error), unknown, unknown)
    within = np.maximum(within / (len(halves) * (many - 1)), 0.0)
    between = np.var(halves, axis=0, ddof=1)
    constant, alike = within <= _ROUNDING_OF_RATIO * values**2, between <= 1e-13 * values**2
    pooled, rhat = _pooled(within, between, many, constant, alike)
    alive = (error > 0) & ~(constant & alike)
    ess = np.divide(pooled, error, out=np.full(len(values), float(batches)), where=alive)
    return Estimates(
        values, np.sqrt(error), rhat, np.minimum(ess, batches * np.log10(batches + 9.0))
    )


def _ratio(beliefs: MeanBeliefs, cells: tuple[Integers, Integers]) -> Floats:
    ratio: Floats = beliefs.attacker[cells] / beliefs.learner[cells]
    return ratio
