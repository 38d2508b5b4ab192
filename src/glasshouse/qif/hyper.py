"""The hyper-distribution: what the adversary knows after the observation."""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from dataclasses import dataclass

import numpy as np

from glasshouse.errors import StudyError
from glasshouse.qif.arithmetic import (
    Array,
    ByValue,
    Matrix,
    Number,
    alike_columns,
    as_array,
    common,
    distributions,
)
from glasshouse.qif.channel import Channel
from glasshouse.qif.joint import Joint
from glasshouse.qif.labels import Labels, as_labels, position
from glasshouse.qif.prior import Prior


@dataclass(frozen=True, init=False, eq=False)
class Hyper(ByValue):
    """The hyper [π ▷ C]: a distribution on posterior distributions.

    The probability of an observation is its *outer*, the posterior that it leads to its *inner*.
    Observations that cannot happen are not in it (Alvim et al. 2020, chapter 4).

    >>> pi = Prior.uniform(["a", "b"])
    >>> hyper = Hyper.of(pi, Channel([[1, 0, 0], [0, 1, 0]], ["a", "b"], ["y", "z", "never"]))
    >>> hyper.observations
    ('y', 'z')
    >>> print(hyper.outer("y"), hyper.inner("y")["a"])
    1/2 1
    """

    outers: Prior
    """The distribution of the observations; none has probability 0."""

    inners: Array
    """One column per observation: the posterior distribution of the secret."""

    secrets: Labels
    """The names of the rows of `inners`."""

    def __init__(
        self, outers: Prior, inners: Matrix, secrets: Iterable[Hashable] | None = None
    ) -> None:
        columns = as_array(inners, dimensions=2, what="the inners")
        if columns.shape[1] != len(outers):
            raise StudyError(f"{columns.shape[1]} inners for {len(outers)} outers")
        if len(outers.support) < len(outers):
            raise StudyError("a hyper holds only observations of positive probability")
        names = [f"the inner of {label!r}" for label in outers.labels]
        object.__setattr__(self, "outers", outers)
        object.__setattr__(self, "inners", distributions(columns.T, names=names, what="a hyper").T)
        object.__setattr__(self, "secrets", as_labels(secrets, count=len(columns), what="secrets"))

    @classmethod
    def of(cls, prior: Prior, channel: Channel) -> Hyper:
        """Return [π ▷ C]: the prior pushed through the channel."""
        return cls.from_joint(Joint.of(prior, channel))

    @classmethod
    def from_joint(cls, joint: Joint) -> Hyper:
        """Return the outers (sums of columns) and inners (columns divided by them) of a joint."""
        outers = joint.matrix.sum(axis=0)
        seen = np.flatnonzero(outers > 0)
        observations = [joint.observations[index] for index in seen]
        inners = joint.matrix[:, seen] / outers[seen]
        return cls(Prior(outers[seen], observations), inners, joint.secrets)

    @property
    def observations(self) -> Labels:
        """The observations that can happen."""
        return self.outers.labels

    def outer(self, observation: Hashable) -> Number:
        """Return the probability of an observation."""
        return self.outers[observation]

    def inner(self, observation: Hashable) -> Prior:
        """Return the adversary's knowledge of the secret after an observation."""
        index = position(observation, labels=self.observations, what="observations")
        return Prior(self.inners[:, index], self.secrets)

    def joint(self) -> Joint:
        """Return the joint distribution of secret and observation."""
        inners, outers = common(self.inners, self.outers.probabilities)
        return Joint(inners * outers, self.secrets, self.observations)

    def prior(self) -> Prior:
        """Return the prior, which is the average of the inners."""
        return self.joint().prior()

    def channel(self) -> Channel:
        """Return the channel, which exists for secrets of positive probability (see `Joint`)."""
        return self.joint().channel()

    def reduced(self) -> Hyper:
        """Return the hyper in which observations with equal inners are one.

        The merged observation keeps the label of the first: to the adversary they are the same.
        """
        groups = alike_columns(self.inners)
        leaders = [group[0] for group in groups]
        outers = [self.outers.probabilities[group].sum() for group in groups]
        observations = [self.observations[index] for index in leaders]
        return Hyper(Prior(outers, observations), self.inners[:, leaders], self.secrets)
