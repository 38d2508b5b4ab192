"""Exact answers as fractions, for small releases."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from glasshouse.groups.knowledge import Beliefs, Knowledge, normalised
from glasshouse.groups.release import Release
from glasshouse.groups.victims import Victims
from glasshouse.groups.worlds import random_worlds


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


def _shares(weights: tuple[Fraction, ...]) -> tuple[Fraction, ...]:
    total = sum(weights, Fraction(0))
    return tuple(each / total for each in weights) if total else weights


def _floats(rows: tuple[tuple[Fraction, ...], ...]) -> NDArray[np.float64]:
    return np.array([[float(each) for each in row] for row in rows])
