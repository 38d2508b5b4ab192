"""The joint distribution of secret and observation, from which all else is derived."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np

from glasshouse.errors import StudyError
from glasshouse.qif.arithmetic import (
    Array,
    ByValue,
    Matrix,
    as_array,
    common,
    distributions,
)
from glasshouse.qif.channel import Channel
from glasshouse.qif.labels import Labels, as_labels, require_same
from glasshouse.qif.prior import Prior


@dataclass(frozen=True, init=False, eq=False)
class Joint(ByValue):
    """The matrix J[x, y] = π[x]·C[x, y] of secret and observation together.

    (Alvim et al. 2020, section 4.2; Alvim et al. 2022, Table 4b.)

    >>> from fractions import Fraction
    >>> quarter = Fraction(1, 4)
    >>> joint = Joint([[0, quarter], [quarter, 2 * quarter]])
    >>> print(joint.prior()[1], joint.channel()[1, 0])
    3/4 1/3
    """

    matrix: Array
    """One row per secret, one column per observation; all entries sum to 1."""

    secrets: Labels
    """The names of the rows."""

    observations: Labels
    """The names of the columns."""

    def __init__(
        self,
        matrix: Matrix,
        secrets: Iterable[Hashable] | None = None,
        observations: Iterable[Hashable] | None = None,
    ) -> None:
        values = as_array(matrix, dimensions=2, what="a joint distribution")
        rows, columns = values.shape
        cells = distributions(values.reshape(1, -1), names=["it"], what="a joint distribution")
        object.__setattr__(self, "matrix", cells.reshape(rows, columns))
        object.__setattr__(self, "secrets", as_labels(secrets, count=rows, what="rows"))
        object.__setattr__(
            self, "observations", as_labels(observations, count=columns, what="columns")
        )

    @classmethod
    def of(cls, prior: Prior, channel: Channel) -> Joint:
        """Return the joint distribution of a secret drawn from the prior and what is then shown."""
        require_same(prior.labels, channel.inputs, what="the prior and the channel")
        probabilities, matrix = common(prior.probabilities, channel.matrix)
        return cls(probabilities[:, np.newaxis] * matrix, channel.inputs, channel.outputs)

    def prior(self) -> Prior:
        """Return the distribution of the secret: the sums of the rows."""
        return Prior(self.matrix.sum(axis=1), self.secrets)

    def outers(self) -> Prior:
        """Return the distribution of the observation: the sums of the columns."""
        return Prior(self.matrix.sum(axis=0), self.observations)

    def channel(self) -> Channel:
        """Return the distribution of the observation given the secret: rows divided by their sums.

        Raises:
            StudyError: If a secret has probability 0: nothing is then said about its row.
        """
        totals = self.matrix.sum(axis=1)
        for secret, total in zip(self.secrets, totals, strict=True):
            if not total:
                raise StudyError(
                    f"the secret {secret!r} has probability 0, so that the joint distribution "
                    f"does not determine its row of the channel; leave it out"
                )
        return Channel(self.matrix / totals[:, np.newaxis], self.secrets, self.observations)

    def mapped(self, function: Callable[[Any], Hashable]) -> Joint:
        """Return the joint distribution of a function of the secret and the observation.

        With a predicate this is the system of two secrets, True and False, each the average of the
        secrets that it stands for (libqif's ``binary_channel``).
        """
        kinds = Channel.deterministic(function, inputs=self.secrets)
        membership, matrix = common(kinds.matrix, self.matrix)
        return Joint(membership.T @ matrix, kinds.outputs, self.observations)
