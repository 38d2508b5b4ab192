"""What learner, attacker, random worlds and the ideal believe about each victim.

Boreale, Corradi and Viscardi (2020): the learner p_L in equations (5) and (6), the attacker p_A in (8) and (15). Here
are the beliefs themselves, as floats (`Knowledge`) and as fractions (`ExactKnowledge`), and what all ways to learner
and attacker have in common:

- *random worlds* (example 1): every table that the release allows is as likely as any other. With the victim's row
  uniform, p_RW(s | r) ∝ Σ_{j: s_j = s} Pr(R_j = r), where Pr(R_j = r) is one in |l_j| for a generalised value that
  holds r, and the share of rows equal to r in an Anatomy group;
- the *ideal* (equation 20), from the original:
  p_I(s, r | t) = (α_s + γ_s) / (α_0 + N) · Π_a (β_r + δ_r^s) / (β_0 + γ_s);
- *faithfulness* (definition 2): how much of the ideal's lesson about the population the release still teaches,
  RF = 1 − TV(p_I, p_L), the total variation being over all combinations of values, far too many to visit. Both
  estimators take combinations drawn from p_I:

      equation (21):  1 − ½ mean |1 − p_L / p_I|        bounded:  mean min(1, p_L / p_I)

  They have the same expectation if p_I is nowhere 0. The first can fall below 0 and has a heavy tail; the second is
  between 0 and 1;
- *reading (6)* of the learner: given the release, f(s, r | π) is proportional to W_s = g_s · Y_s over the sensitive
  values s: g_s ~ Gamma(α_s + γ_s) makes up π_S, and Y_s is the product of the independent branches that lead to the
  values of r. Then

      E[W_s / Σ W] = ∫₀^∞ −L_s'(u) Π_{s' ≠ s} L_s'(u) du,   L_s(u) = E[exp(−u W_s)],

  and, by the Mellin transform of the exponential, with −1 < c < 0,

      L_s(u) − 1 = 1/(2πi) ∫_{c − i∞}^{c + i∞} Γ(z) E[W_s^{−z}] u^{−z} dz.

  E[W_s^{−z}] is a product of ratios of Γ. Both integrals are sums at equal steps (of Im z, and of log u), which
  converge exponentially fast. Σ_s of the outcome is 1 in theory; how far it is from 1 tells whether the steps were
  enough.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, replace
from fractions import Fraction
from functools import cache, cached_property
from math import isfinite, prod
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray
from scipy.special import loggamma

from glasshouse.arrays import Codes, Floats, Integers
from glasshouse.compiled import compiled
from glasshouse.errors import StudyError
from glasshouse.groups.release import Release
from glasshouse.groups.victims import Original, Victims

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


@dataclass(frozen=True)
class Beliefs:
    """One adversary's belief about each victim, over the sensitive values."""

    probabilities: Floats
    """Per victim and sensitive value (victims × values), rows sum to 1; not a number for who is not in the table."""
    errors: Floats | None = None
    """The Monte-Carlo standard error of each; None: exact but for rounding."""
    rhat: Floats | None = None
    """Split R-hat of each; None: not sampled."""
    ess: Floats | None = None
    """The effective sample size of each; None: not sampled."""

    @property
    def is_exact(self) -> bool:
        """Whether nothing was sampled."""
        return self.errors is None

    @cached_property
    def highest(self) -> Floats:
        """Per victim, the greatest probability of a sensitive value."""
        highest: Floats = self.probabilities.max(axis=1)
        return highest


@dataclass(frozen=True)
class Knowledge:
    """What each adversary believes about each victim after reading the release."""

    release: Release
    """The release."""
    victims: Victims
    """Whom it is about."""
    joint: Floats
    """p_L(s, r | t*), equation (5): per victim and sensitive value the probability in the population of that sensitive
    value together with what is known of the victim (victims × values)."""
    learner: Beliefs
    """p_L(s | r, t*) by reading (5): the ratio of expectations, ``joint`` over its row's sum."""
    attacker: Beliefs
    """p_A(s | r, t*), equations (8) and (15)."""
    random_worlds: Beliefs
    """p_RW(s | r, t*): every table that the release allows is as likely as any other."""
    learner_mean: Beliefs | None = None
    """p_L(s | r, t*) by reading (6): the expectation of the ratio; None: not asked for."""
    ideal: Beliefs | None = None
    """p_I(s | r, t), equation (20), from the original table; None: not given."""
    ideal_joint: Floats | None = None
    """p_I(s, r | t), equation (20); None: the original was not given."""
    method: str = "closed form"
    """How learner and attacker were computed: "closed form", "enumeration" or "sampling"."""

    @property
    def is_exact(self) -> bool:
        """Whether learner and attacker are exact, but for rounding."""
        return self.learner.is_exact and self.attacker.is_exact

    def beliefs(self) -> dict[str, Beliefs]:
        """Return what there is, by the name of the adversary."""
        named = {
            "learner": self.learner,
            "learner_mean": self.learner_mean,
            "attacker": self.attacker,
            "random_worlds": self.random_worlds,
            "ideal": self.ideal,
        }
        return {name: beliefs for name, beliefs in named.items() if beliefs is not None}

    def mean_highest(self, adversary: str) -> float:
        """Return how sure an adversary is of the likeliest sensitive value, on average over people, not over victims.

        Who is not in the table does not count where the attacker says nothing; not a number: nobody is left.
        """
        highest = self.beliefs()[adversary].highest
        people = self.victims.people
        weights = np.ones(len(highest)) if people is None else people.astype(np.float64)
        counted = ~np.isnan(highest) & (weights > 0)
        return (
            float(np.average(highest[counted], weights=weights[counted]))
            if counted.any()
            else np.nan
        )

    def of(self, victim: int) -> dict[str, dict[str, float]]:
        """Return the beliefs about one victim in plain values: per adversary and sensitive value."""
        values = self.release.sensitive.values
        return {
            name: dict(zip(values, beliefs.probabilities[victim].tolist(), strict=True))
            for name, beliefs in self.beliefs().items()
        }

    def to_dict(self) -> dict[str, Any]:
        """Return everything in plain values, victim by victim; what is not a number is None."""
        return {
            "release": self.release.name,
            "method": self.method,
            "sensitive_values": list(self.release.sensitive.values),
            "victims": [
                {
                    name: {s: finite(p) for s, p in belief.items()}
                    for name, belief in self.of(victim).items()
                }
                for victim in range(len(self.victims))
            ],
        }

    def to_frame(self) -> pa.Table:
        """Return one row per victim and sensitive value, with the belief of each adversary and its error."""
        values = self.release.sensitive.values
        columns: dict[str, pa.Array] = {
            "victim": pa.array(np.repeat(np.arange(len(self.victims)), len(values))),
            "sensitive": pa.array(list(values)).take(
                pa.array(np.tile(np.arange(len(values)), len(self.victims)))
            ),
            "joint": pa.array(self.joint.ravel()),
        }
        for name, beliefs in self.beliefs().items():
            columns[name] = pa.array(beliefs.probabilities.ravel())
            if beliefs.errors is not None:
                columns[f"{name}_error"] = pa.array(beliefs.errors.ravel())
        return pa.table(columns)


def finite(value: float) -> float | None:
    """Return a number as JSON can hold it: None where it is infinite or not a number."""
    return value if isfinite(value) else None


def normalised(weights: Floats) -> Floats:
    """Return rows of weights as probabilities; a row without any weight is not a number.

    >>> normalised(np.array([[1.0, 3.0]])).tolist()
    [[0.25, 0.75]]
    """
    totals = weights.sum(axis=1, keepdims=True)
    shares: Floats = np.divide(
        weights, totals, out=np.full(weights.shape, np.nan), where=totals > 0
    )
    return shares


@dataclass(frozen=True)
class ExactKnowledge:
    """What learner and attacker believe of each victim, as fractions."""

    release: Release
    """The release."""
    victims: Victims
    """Whom it is about."""
    joint: tuple[tuple[Fraction, ...], ...]
    """p_L(s, r | t*), equation (5), per victim and sensitive value."""
    weights: tuple[tuple[Fraction, ...], ...]
    """Per victim and sensitive value, the expected number of rows with it that agree with the victim: what the
    attacker's belief is proportional to, equations (8) and (15)."""

    @property
    def learner(self) -> tuple[tuple[Fraction, ...], ...]:
        """p_L(s | r, t*) by reading (5)."""
        return tuple(map(_shares, self.joint))

    @property
    def attacker(self) -> tuple[tuple[Fraction, ...], ...]:
        """p_A(s | r, t*); zeros for who is in no group."""
        return tuple(map(_shares, self.weights))

    def to_dict(self) -> dict[str, Any]:
        """Return everything in plain values, victim by victim; a probability is a text such as "7/12"."""
        return {
            "release": self.release.name,
            "sensitive_values": list(self.release.sensitive.values),
            "victims": [
                {
                    name: dict(zip(self.release.sensitive.values, map(str, row), strict=True))
                    for name, row in zip(("learner", "attacker", "joint"), rows, strict=True)
                }
                for rows in zip(self.learner, self.attacker, self.joint, strict=True)
            ],
        }

    def to_frame(self) -> pa.Table:
        """Return one row per victim and sensitive value, probabilities as texts such as "7/12"."""
        rows = [
            {"victim": victim, "sensitive": s, **{name: beliefs[s] for name, beliefs in of.items()}}
            for victim, of in enumerate(self.to_dict()["victims"])
            for s in self.release.sensitive.values
        ]
        return pa.Table.from_pylist(rows)

    def to_knowledge(self, *, learner_mean: Beliefs | None = None) -> Knowledge:
        """Return the same as floats, with random worlds beside it."""
        return Knowledge(
            release=self.release,
            victims=self.victims,
            joint=_floats(self.joint),
            learner=Beliefs(_floats(self.learner)),
            attacker=Beliefs(normalised(_floats(self.weights))),
            random_worlds=Beliefs(random_worlds(self.release, self.victims)),
            learner_mean=learner_mean,
            method="enumeration",
        )


def horizontal_fractions(
    release: Release,
    victims: Victims,
    *,
    means: Callable[[int, int], Sequence[Fraction]],
    agrees: Callable[[int, int, int, list[int]], Fraction],
) -> ExactKnowledge:
    """Return learner and attacker of a horizontal release: given s, attributes are independent, and factors multiply.

    Args:
        release: The release.
        victims: Whom it is about.
        means: Per attribute and sensitive value s, E[π(v) | s] for every value v.
        agrees: Per attribute, label, sensitive value s and known values, the probability that a row with this label and
            s has one of them.
    """
    joint, weights = [], []
    for victim in range(len(victims)):
        known = victims.values_of(victim)
        shares = list(release.expected_shares)
        agreeing = [Fraction(0)] * len(shares)
        for s in range(len(shares)):
            for place, values in enumerate(known):
                of_values = means(place, s)
                shares[s] *= sum(of_values[value] for value in values)
        for group in victims.groups_of(victim).tolist():
            labels = release.codes[group].tolist()
            for row in range(release.starts[group], release.starts[group + 1]):
                s = int(release.sensitive_codes[row])
                agreeing[s] += prod(
                    agrees(place, label, s, values)
                    for place, (label, values) in enumerate(zip(labels, known, strict=True))
                )
        joint.append(tuple(shares))
        weights.append(tuple(agreeing))
    return ExactKnowledge(release, victims, tuple(joint), tuple(weights))


def _shares(weights: tuple[Fraction, ...]) -> tuple[Fraction, ...]:
    total = sum(weights, Fraction(0))
    return tuple(weight / total for weight in weights) if total else weights


def _floats(rows: tuple[tuple[Fraction, ...], ...]) -> Floats:
    return np.array([[float(share) for share in row] for row in rows])


# Random worlds and the ideal.
def random_worlds(release: Release, victims: Victims) -> Floats:
    """Return p_RW per victim and sensitive value; not a number for who is in no group."""
    starts, codes, counts = release.sensitive_counts
    shares = _row_shares(release, victims)
    weights = np.zeros((len(victims), len(release.sensitive.values)))
    _add_up(victims.candidate_starts, victims.candidates, shares, starts, codes, counts, weights)
    return normalised(weights)


def ideal_joint(release: Release, original: Original, codes: Codes) -> Floats:
    """Return p_I(s, r | t), equation (20), for some combinations r of values (combinations × sensitive values)."""
    return np.exp(_log_ideal(release, original, codes))


def with_ideal(knowledge: Knowledge, original: Original) -> Knowledge:
    """Return the same knowledge, and beside it what the original would teach about the same people, all fully known."""
    log_joint = _log_ideal(knowledge.release, original, knowledge.victims.codes)
    shares = np.exp(log_joint - log_joint.max(axis=1, keepdims=True))
    return replace(knowledge, ideal=Beliefs(normalised(shares)), ideal_joint=np.exp(log_joint))


def value_counts(release: Release, original: Original) -> list[Integers]:
    """Return, per attribute, how many records have each value with each sensitive value (δ, values × sensitive)."""
    counts = []
    for place, attribute in enumerate(release.attributes):
        of_attribute = np.zeros((len(attribute.values), len(release.sensitive.values)), np.int64)
        np.add.at(of_attribute, original.codes[:, place], original.weights)
        counts.append(of_attribute)
    return counts


def _log_ideal(release: Release, original: Original, codes: Codes) -> Floats:
    alphas = release.sensitive.alphas
    gamma = original.weights.sum(axis=0)
    log_joint = np.tile(np.log((alphas + gamma) / (alphas.sum() + gamma.sum())), (len(codes), 1))
    counts = value_counts(release, original)
    for place, attribute in enumerate(release.attributes):
        shares = (attribute.betas[:, None] + counts[place]) / (attribute.betas.sum() + gamma)
        log_joint += np.log(shares)[codes[:, place]]
    return log_joint


def _row_shares(release: Release, victims: Victims) -> Floats:
    """Return, per victim and candidate group, the chance that a row of it agrees with the victim in a random world."""
    if release.is_vertical:
        victim = np.repeat(np.arange(len(victims)), np.diff(victims.matching.starts))
        group = release.group_of_row[victims.matching.rows]
        _, agreeing = np.unique(victim * release.groups + group, return_counts=True)
        chances: Floats = agreeing / release.sizes[victims.candidates]
        return chances
    victim = np.repeat(np.arange(len(victims)), np.diff(victims.candidate_starts))
    shares = np.ones(len(victims.candidates))
    for place, attribute in enumerate(release.attributes):
        known, label = victims.codes[victim, place], release.codes[victims.candidates, place]
        _common(
            known,
            label,
            victims.known[place].starts,
            victims.known[place].members,
            attribute.sets.starts,
            attribute.sets.members,
            shares,
        )
    return shares


@compiled
def _add_up(
    candidate_starts: Integers,
    candidates: Integers,
    shares: Floats,
    starts: Integers,
    codes: Codes,
    counts: Integers,
    weights: Floats,
) -> None:
    for victim in range(weights.shape[0]):
        for place in range(candidate_starts[victim], candidate_starts[victim + 1]):
            group = candidates[place]
            for entry in range(starts[group], starts[group + 1]):
                weights[victim, codes[entry]] += shares[place] * counts[entry]


@compiled
def _common(
    known: Codes,
    label: Codes,
    known_starts: Integers,
    known_members: Codes,
    label_starts: Integers,
    label_members: Codes,
    shares: Floats,
) -> None:
    """Multiply by the share of each label's values that are among the known ones; both are in ascending order."""
    for place in range(shares.size):
        low, high = known_starts[known[place]], known_starts[known[place] + 1]
        first, last = label_starts[label[place]], label_starts[label[place] + 1]
        size, common = last - first, 0
        if high - low == 1:
            shares[place] /= size
            continue
        while low < high and first < last:
            if known_members[low] == label_members[first]:
                common += 1
                low += 1
                first += 1
            elif known_members[low] < label_members[first]:
                low += 1
            else:
                first += 1
        shares[place] *= common / size


# Faithfulness.
@dataclass(frozen=True)
class Points:
    """Combinations of values drawn from the ideal p_I(s, r | t)."""

    codes: Codes
    """Per point and attribute, the code of its value."""
    sensitive: Codes
    """Per point, the code of its sensitive value."""
    ideal: Floats
    """Per point, p_I(s, r | t)."""

    def __len__(self) -> int:
        return len(self.sensitive)


@dataclass(frozen=True)
class Faithfulness:
    """Relative faithfulness of a release, estimated at points of the population."""

    points: int
    """How many points."""
    published: float
    """1 minus the empirical total variation of equation (21); may be below 0."""
    published_points_error: float
    """Its standard error because only some points were drawn."""
    bounded: float
    """The mean of min(1, p_L / p_I): between 0 and 1."""
    bounded_points_error: float
    """Its standard error because only some points were drawn."""
    published_chains_error: float = 0.0
    """The standard error of ``published`` because p_L was sampled; 0: it is exact."""
    bounded_chains_error: float = 0.0
    """The same of ``bounded``."""

    @property
    def published_error(self) -> float:
        """The standard error of ``published``: points and chains are drawn independently, so variances add."""
        return float(np.hypot(self.published_points_error, self.published_chains_error))

    @property
    def bounded_error(self) -> float:
        """The standard error of ``bounded``, of both sources."""
        return float(np.hypot(self.bounded_points_error, self.bounded_chains_error))

    def with_chains(self, *, published: float, bounded: float) -> Faithfulness:
        """Return it with the errors that the sampler of p_L adds."""
        return replace(self, published_chains_error=published, bounded_chains_error=bounded)

    def to_dict(self) -> dict[str, Any]:
        """Return it in plain values."""
        both = {"published_error": self.published_error, "bounded_error": self.bounded_error}
        return asdict(self) | both

    def to_frame(self) -> pa.Table:
        """Return it as one row."""
        return pa.Table.from_pylist([self.to_dict()])


def draw_points(
    release: Release, original: Original, *, count: int = 10_000, seed: int = 0
) -> Points:
    """Draw combinations (s, r) from p_I, equation (20): first s, then each attribute given s.

    Put them behind the victims (`glasshouse.groups.victims.joined`) to learn p_L there.

    Raises:
        StudyError: There are fewer than two points.
    """
    if count < 2:
        raise StudyError(
            "faithfulness is asked for at {count} points; give at least 2", count=str(count)
        )
    generator = np.random.default_rng(seed)
    gamma = original.weights.sum(axis=0)
    shares = release.sensitive.alphas + gamma
    sensitive = generator.choice(len(shares), size=count, p=shares / shares.sum())
    codes = np.empty((count, len(release.attributes)), np.int32)
    counts = value_counts(release, original)
    for place, attribute in enumerate(release.attributes):
        weights = attribute.betas[:, None] + counts[place]
        for s in np.unique(sensitive):
            chosen = np.flatnonzero(sensitive == s)
            chances = weights[:, s] / weights[:, s].sum()
            codes[chosen, place] = generator.choice(len(chances), size=len(chosen), p=chances)
    ideal = ideal_joint(release, original, codes)[np.arange(count), sensitive]
    return Points(codes, sensitive.astype(np.int32), ideal)


def faithfulness(points: Points, knowledge: Knowledge) -> Faithfulness:
    """Compare p_L with p_I at points that are the last victims of some knowledge.

    Raises:
        StudyError: The last victims are not these points.
    """
    count = len(points)
    first = len(knowledge.victims) - count
    if first < 0 or not np.array_equal(knowledge.victims.codes[first:], points.codes):
        raise StudyError(
            "the last victims are not the points of the population; put the points behind the victims"
        )
    published, bounded = contributions(points, knowledge.joint)
    return Faithfulness(
        points=count,
        published=float(published.mean()),
        published_points_error=_standard_error(published),
        bounded=float(bounded.mean()),
        bounded_points_error=_standard_error(bounded),
    )


def contributions(points: Points, joint: Floats) -> tuple[Floats, Floats]:
    """Return what each point adds to the two estimators: to that of equation (21), and to the bounded one.

    Args:
        points: The points.
        joint: p_L(s, r), equation (5), of victims of whom the points are the last.
    """
    first = len(joint) - len(points)
    ratio = joint[first + np.arange(len(points)), points.sensitive] / points.ideal
    return 1 - np.abs(1 - ratio) / 2, np.minimum(1, ratio)


def _standard_error(sample: Floats) -> float:
    return float(sample.std(ddof=1) / np.sqrt(len(sample)))


# Reading (6): the expectation of a ratio of independent variables, by quadrature.
def log_beta_moments(chosen: Floats, rest: Floats) -> NDArray[np.complex128]:
    """Return log E[B^−z] at the nodes for B ~ Beta(chosen, rest); a B of which the second parameter is 0 is 1."""
    whole = chosen + rest
    logs = (
        loggamma(chosen[..., None] - NODES)
        - loggamma(chosen)[..., None]
        + loggamma(whole)[..., None]
        - loggamma(whole[..., None] - NODES)
    )
    return np.where((rest > 0)[..., None], logs, 0)


def expected_ratio(
    shapes: Floats, log_means: Floats, log_moments: NDArray[np.complex128]
) -> Floats:
    """Return E[W_s / Σ W] for each victim and sensitive value, not made to sum to 1.

    Args:
        shapes: Per sensitive value, the shape α_s + γ_s of its gamma variable.
        log_means: Per victim and sensitive value, log E[Y_s].
        log_moments: Per victim, sensitive value and node, log E[Y_s^−z].
    """
    # The moments E[W^−z] at the nodes, W scaled so that Σ E[W] is 1: then the range of log u suits every victim.
    scale = np.logaddexp.reduce(np.log(shapes) + log_means, axis=1)
    gammas = loggamma(NODES) + loggamma(shapes[:, None] - NODES) - loggamma(shapes)[:, None]
    terms = np.exp(log_moments + gammas + NODES * scale[:, None, None])
    terms[..., 0] /= 2
    # Back by the inverse transform to L and −u L', then the integral over log u.
    cells = terms.reshape(-1, len(NODES))
    both = (np.concatenate([cells.real, cells.imag], axis=1) @ _waves()).reshape(
        *log_means.shape, 2, -1
    )
    transform, slope = np.clip(1 + both[:, :, 0], 0, 1), np.maximum(both[:, :, 1], 0)
    ratios: Floats = (slope * _product_of_others(transform)).sum(axis=2) * _LOG_STEP
    return ratios


@cache
def _waves() -> Floats:
    """Return what takes the real and imaginary parts of the terms to L − 1 and to −u L', at every step of log u."""
    logs = np.arange(_LOWEST_LOG, _HIGHEST_LOG, _LOG_STEP)
    waves = np.exp(-NODES[:, None] * logs) * (2 / _PERIOD)
    pairs = np.concatenate([waves, NODES[:, None] * waves], axis=1)
    return np.concatenate([pairs.real, -pairs.imag])


def _product_of_others(factors: Floats) -> Floats:
    """Return, along the second axis, the product of all but each."""
    before = np.ones_like(factors)
    before[:, 1:] = np.cumprod(factors[:, :-1], axis=1)
    behind = np.ones_like(factors)
    behind[:, :-1] = np.cumprod(factors[:, :0:-1], axis=1)[:, ::-1]
    product: Floats = before * behind
    return product
