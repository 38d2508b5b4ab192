"""Measures of the adversary's success, or of her uncertainty, before and after the observation.

Every measure answers the same questions: `prior`, `posterior`, `additive_leakage` and
`multiplicative_leakage`, of a prior and a channel; and the last three of a hyper.

*Vulnerabilities* grow when the adversary learns; their leakage is posterior − prior and
posterior / prior. *Uncertainties* (entropies, risks) shrink; their leakage is prior − posterior and
prior / posterior, as in libqif, so that leakage is never negative and never below 1 in ratio. A
ratio 0/0 is 1 (nothing changed) and a/0 is infinite. A ratio is refused where the measure is
negative, which only negative gains or losses can bring about.

Reference: Alvim, Chatzikokolakis, McIver, Morgan, Palamidessi, Smith (2020), The Science of
Quantitative Information Flow, chapters 2 to 5.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Hashable
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from glasshouse.errors import StudyError
from glasshouse.qif.arithmetic import Array, Number, common, frozen, number
from glasshouse.qif.channel import Channel
from glasshouse.qif.gain import GainFunction
from glasshouse.qif.hyper import Hyper
from glasshouse.qif.joint import Joint
from glasshouse.qif.labels import Labels, require_same
from glasshouse.qif.prior import Prior


@dataclass(frozen=True)
class Measure(ABC):
    """A measure of a distribution, and of a hyper as its expected value over the inners.

    A subclass says what a *weighted* distribution p·σ measures: p times the measure of σ. The
    prior is then one column of weight 1, and the columns of the joint matrix are the posteriors
    weighted with the probability of their observation, so that their values only have to be added.
    """

    uncertainty: ClassVar[bool] = False
    """Whether the measure shrinks, rather than grows, when the adversary learns."""

    def prior(self, pi: Prior) -> Number:
        """Return the measure of the prior: before the observation."""
        return self._total(pi.probabilities[:, np.newaxis], pi.labels)

    def posterior(self, pi: Prior, channel: Channel) -> Number:
        """Return the expected measure of the posteriors: after the observation."""
        joint = Joint.of(pi, channel)
        return self._total(joint.matrix, joint.secrets)

    def additive_leakage(self, pi: Prior, channel: Channel) -> Number:
        """Return by how much the observation helps the adversary, as a difference."""
        return self._difference(self.prior(pi), self.posterior(pi, channel))

    def multiplicative_leakage(self, pi: Prior, channel: Channel) -> Number:
        """Return by how much the observation helps the adversary, as a factor."""
        return self._factor(self.prior(pi), self.posterior(pi, channel))

    def posterior_of(self, hyper: Hyper) -> Number:
        """Return the expected measure of the inners of a hyper."""
        return self._total(hyper.joint().matrix, hyper.secrets)

    def additive_leakage_of(self, hyper: Hyper) -> Number:
        """Return the additive leakage of a hyper against the prior that it came from."""
        return self._difference(self.prior(hyper.prior()), self.posterior_of(hyper))

    def multiplicative_leakage_of(self, hyper: Hyper) -> Number:
        """Return the multiplicative leakage of a hyper against the prior that it came from."""
        return self._factor(self.prior(hyper.prior()), self.posterior_of(hyper))

    @abstractmethod
    def _values(self, weighted: Array, secrets: Labels) -> Array:
        """Return the value of each column, a distribution times a weight: weight times measure."""

    def _total(self, weighted: Array, secrets: Labels) -> Number:
        return number(self._values(weighted, secrets).sum())

    def _difference(self, prior: Number, posterior: Number) -> Number:
        return prior - posterior if self.uncertainty else posterior - prior

    def _factor(self, prior: Number, posterior: Number) -> Number:
        worse, better = (posterior, prior) if self.uncertainty else (prior, posterior)
        if worse < 0 or better < 0:
            raise StudyError(
                f"a factor needs measures that are not negative, not {float(prior)} before and "
                f"{float(posterior)} after; use the additive leakage, or let her abstain"
            )
        if worse == 0:
            return math.inf if better > 0 else type(better)(1)
        return better / worse


class DecisionMeasure(Measure):
    """A measure of what the adversary gets by the best decision for what she knows."""

    def strategy(self, pi: Prior, channel: Channel) -> dict[Hashable, Hashable]:
        """Return the best decision (the first of equals) for each observation that can happen."""
        return self.strategy_of(Hyper.of(pi, channel))

    def strategy_of(self, hyper: Hyper) -> dict[Hashable, Hashable]:
        """Return the best decision for each observation of a hyper."""
        decisions, payoffs = self._payoffs(hyper.inners, hyper.secrets)
        best = payoffs.argmin(axis=0) if self.uncertainty else payoffs.argmax(axis=0)
        return {y: decisions[int(w)] for y, w in zip(hyper.observations, best, strict=True)}

    @abstractmethod
    def _payoffs(self, weighted: Array, secrets: Labels) -> tuple[Labels, Array]:
        """Return the decisions, and what each (row) brings under each distribution (column)."""

    def _values(self, weighted: Array, secrets: Labels) -> Array:
        _, payoffs = self._payoffs(weighted, secrets)
        return frozen(payoffs.min(axis=0) if self.uncertainty else payoffs.max(axis=0))


@dataclass(frozen=True)
class BayesVulnerability(DecisionMeasure):
    """The probability of guessing the secret in one try: V(π) = max_x π[x].

    After the observation, V[π ▷ C] = Σ_y max_x π[x]·C[x, y].

    >>> fair, shown = Prior.uniform("ab"), Channel.identity("ab")
    >>> bayes = BayesVulnerability()
    >>> print(bayes.prior(fair), bayes.posterior(fair, shown))
    1/2 1
    >>> bayes.strategy(fair, shown)
    {'a': 'a', 'b': 'b'}
    """

    def _payoffs(self, weighted: Array, secrets: Labels) -> tuple[Labels, Array]:
        return secrets, weighted


@dataclass(frozen=True)
class BayesRisk(DecisionMeasure):
    """The probability of guessing wrong in one try: 1 − max_x π[x]. An uncertainty."""

    uncertainty: ClassVar[bool] = True

    def _payoffs(self, weighted: Array, secrets: Labels) -> tuple[Labels, Array]:
        return secrets, weighted.sum(axis=0) - weighted


@dataclass(frozen=True)
class GVulnerability(DecisionMeasure):
    """The expected gain of the best guess: V_g(π) = max_w Σ_x π[x]·g(w, x).

    After the observation, V_g[π ▷ C] = Σ_y max_w Σ_x π[x]·C[x, y]·g(w, x).

    >>> bet = GVulnerability(GainFunction.worth({"ill": 9, "well": 1}))
    >>> print(bet.prior(Prior.uniform(["ill", "well"])))
    9/2
    """

    gain: GainFunction
    """What the adversary wants."""

    def _payoffs(self, weighted: Array, secrets: Labels) -> tuple[Labels, Array]:
        return self.gain.guesses, _expected_gains(self.gain, weighted, secrets)


@dataclass(frozen=True)
class LRisk(DecisionMeasure):
    """The expected loss of the best action: R_l(π) = min_w Σ_x π[x]·l(w, x). An uncertainty."""

    uncertainty: ClassVar[bool] = True

    loss: GainFunction
    """What each action costs the adversary for each secret."""

    def _payoffs(self, weighted: Array, secrets: Labels) -> tuple[Labels, Array]:
        return self.loss.guesses, _expected_gains(self.loss, weighted, secrets)


@dataclass(frozen=True)
class PredicateVulnerability(DecisionMeasure):
    """The probability of guessing in one try whether the secret has a property.

    >>> even = PredicateVulnerability(lambda secret: secret % 2 == 0)
    >>> print(even.prior(Prior.uniform(range(3))))
    2/3
    """

    predicate: Callable[[Any], bool]
    """The property, a function of the secret's label."""

    def _payoffs(self, weighted: Array, secrets: Labels) -> tuple[Labels, Array]:
        return (True, False), _by_predicate(self.predicate, weighted, secrets)


@dataclass(frozen=True)
class PredicateRisk(DecisionMeasure):
    """The probability of guessing wrong whether the secret has a property. An uncertainty."""

    uncertainty: ClassVar[bool] = True

    predicate: Callable[[Any], bool]
    """The property, a function of the secret's label."""

    def _payoffs(self, weighted: Array, secrets: Labels) -> tuple[Labels, Array]:
        return (True, False), _by_predicate(self.predicate, weighted, secrets)[::-1]


@dataclass(frozen=True)
class Tries(Measure):
    """The probability of guessing the secret in k tries: the sum of the k largest probabilities.

    It equals the vulnerability of `GainFunction.tries` without listing the sets of k secrets.

    >>> print(Tries(2).prior(Prior.uniform("abc")))
    2/3
    """

    k: int
    """The number of tries; beyond the number of secrets, success is certain."""

    def __post_init__(self) -> None:
        if self.k < 1:
            raise StudyError(f"the number of tries must be 1 or more; it is {self.k}")

    def _values(self, weighted: Array, secrets: Labels) -> Array:
        return frozen(np.sort(weighted, axis=0)[-self.k :].sum(axis=0))


@dataclass(frozen=True)
class Certainty(Measure):
    """The deterministic measure: 1 if the adversary knows the secret for sure, else 0.

    After the observation it is the probability of an observation that leaves one secret possible
    (Alvim et al. 2022, section 4.2, "deterministic degradation of privacy"). Possible means a
    probability other than zero, also in floating arithmetic, where a product with zero is zero.

    >>> print(Certainty().posterior(Prior.uniform("ab"), Channel.identity("ab")))
    1
    """

    def _values(self, weighted: Array, secrets: Labels) -> Array:
        known = (weighted > 0).sum(axis=0) == 1
        return frozen(weighted.sum(axis=0) * known)


@dataclass(frozen=True)
class ShannonEntropy(Measure):
    """The entropy H(π) = −Σ_x π[x]·log₂ π[x], in bits. An uncertainty, always a float.

    The posterior is the conditional entropy H(X|Y); the additive leakage is mutual information.

    >>> ShannonEntropy().prior(Prior.uniform(range(8)))
    3.0
    """

    uncertainty: ClassVar[bool] = True

    def _values(self, weighted: Array, secrets: Labels) -> Array:
        masses = weighted.astype(np.float64)
        totals = np.broadcast_to(masses.sum(axis=0), masses.shape)
        possible = masses > 0
        bits = np.zeros_like(masses)
        bits[possible] = masses[possible] * np.log2(totals[possible] / masses[possible])
        return frozen(bits.sum(axis=0))


@dataclass(frozen=True)
class GuessingEntropy(Measure):
    """The expected number of guesses until the secret is found: Σ_i i·p_i, most likely first.

    An uncertainty (Massey 1994, Guessing and entropy).

    >>> print(GuessingEntropy().prior(Prior.uniform("abc")))
    2
    """

    uncertainty: ClassVar[bool] = True

    def _values(self, weighted: Array, secrets: Labels) -> Array:
        most_likely_first = np.sort(weighted, axis=0)[::-1]
        turns = np.arange(1, len(secrets) + 1)[:, np.newaxis]
        return frozen((turns * most_likely_first).sum(axis=0))


def _expected_gains(gain: GainFunction, weighted: Array, secrets: Labels) -> Array:
    require_same(gain.secrets, secrets, what="the gain function and the distribution")
    gains, columns = common(gain.matrix, weighted)
    return frozen(gains @ columns)


def _by_predicate(predicate: Callable[[Any], bool], weighted: Array, secrets: Labels) -> Array:
    holds = np.array([bool(predicate(secret)) for secret in secrets])
    return frozen(np.vstack([weighted[holds].sum(axis=0), weighted[~holds].sum(axis=0)]))
