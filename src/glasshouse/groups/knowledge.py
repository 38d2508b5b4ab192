"""Whom results are about, and what learner, attacker, random worlds and the ideal tell about them.

Boreale, Corradi and Viscardi (2020): p_L in equations (5) and (6), p_A in (8) and (15), p_I in (20).
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from math import isfinite
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from glasshouse.groups.release import Release
from glasshouse.groups.victims import Victims


@dataclass(frozen=True)
class Beliefs:
    """One adversary's belief about each victim, over the sensitive values."""

    probabilities: NDArray[np.float64]
    """Per victim and sensitive value (victims × values), rows sum to 1; not a number for who is not in the table."""
    errors: NDArray[np.float64] | None = None
    """The Monte-Carlo standard error of each; None: exact but for rounding."""
    rhat: NDArray[np.float64] | None = None
    """Split R-hat of each; None: not sampled."""
    ess: NDArray[np.float64] | None = None
    """The effective sample size of each; None: not sampled."""

    @property
    def is_exact(self) -> bool:
        """Whether nothing was sampled."""
        return self.errors is None

    @cached_property
    def highest(self) -> NDArray[np.float64]:
        """Per victim, the greatest probability of a sensitive value."""
        highest: NDArray[np.float64] = self.probabilities.max(axis=1)
        return highest


@dataclass(frozen=True)
class Knowledge:
    """What each adversary believes about each victim after reading the release."""

    release: Release
    """The release."""
    victims: Victims
    """Whom it is about."""
    joint: NDArray[np.float64]
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
    ideal_joint: NDArray[np.float64] | None = None
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
        return {name: own for name, own in named.items() if own is not None}

    def mean_highest(self, adversary: str) -> float:
        """Return how sure an adversary is of the likeliest sensitive value, on average over people, not over victims.

        Who is not in the table does not count where the attacker says nothing; not a number: nobody is left.
        """
        highest = self.beliefs()[adversary].highest
        people = self.victims.people
        weights = np.ones(len(highest)) if people is None else people.astype(np.float64)
        told = ~np.isnan(highest) & (weights > 0)
        return float(np.average(highest[told], weights=weights[told])) if told.any() else np.nan

    def of(self, victim: int) -> dict[str, dict[str, float]]:
        """Return the beliefs about one victim in plain values: per adversary and sensitive value."""
        values = self.release.sensitive.values
        return {
            name: dict(zip(values, own.probabilities[victim].tolist(), strict=True))
            for name, own in self.beliefs().items()
        }

    def to_dict(self) -> dict[str, Any]:
        """Return everything in plain values, victim by victim; what is not a number is None."""
        return {
            "release": self.release.name,
            "method": self.method,
            "sensitive_values": list(self.release.sensitive.values),
            "victims": [
                {
                    name: {s: p if isfinite(p) else None for s, p in own.items()}
                    for name, own in self.of(victim).items()
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
        for name, own in self.beliefs().items():
            columns[name] = pa.array(own.probabilities.ravel())
            if own.errors is not None:
                columns[f"{name}_error"] = pa.array(own.errors.ravel())
        return pa.table(columns)


def normalised(weights: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return rows of weights as probabilities; a row without any weight is not a number.

    >>> normalised(np.array([[1.0, 3.0]])).tolist()
    [[0.25, 0.75]]
    """
    totals = weights.sum(axis=1, keepdims=True)
    shares: NDArray[np.float64] = np.divide(
        weights, totals, out=np.full(weights.shape, np.nan), where=totals > 0
    )
    return shares
