"""From records to the hyper, step by step, as in Alvim et al. 2022, Tables 4 and 9."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from glasshouse.errors import StudyError
from glasshouse.qif.arithmetic import Array, ByValue, Matrix, Number, as_array
from glasshouse.qif.channel import Channel
from glasshouse.qif.hyper import Hyper
from glasshouse.qif.joint import Joint
from glasshouse.qif.labels import Labels, as_labels
from glasshouse.qif.prior import Prior


@dataclass(frozen=True, init=False, eq=False)
class CoOccurrence(ByValue):
    """How many records have each value of the secret together with each observation.

    The adversary believes that every record is equally likely to be her target's; weights on the
    records express any other belief.

    >>> table = CoOccurrence.from_records(
    ...     ["English", "Port.", "German", "German"],
    ...     ["M,>30", "M,<=30", "F,<=30", "M,<=30"])
    >>> print(table.prior()["German"], table.channel()["German", "M,<=30"])
    1/2 1/2
    >>> hyper = table.hyper()
    >>> print(hyper.outer("M,<=30"), hyper.inner("M,<=30")["German"])
    1/2 1/2
    """

    counts: Array
    """One row per secret, one column per observation: Table 4a."""

    secrets: Labels
    """The values of the secret, in order of first appearance when made from records."""

    observations: Labels
    """The observations, in order of first appearance when made from records."""

    def __init__(
        self,
        counts: Matrix,
        secrets: Iterable[Hashable] | None = None,
        observations: Iterable[Hashable] | None = None,
    ) -> None:
        values = as_array(counts, dimensions=2, what="a co-occurrence table")
        if values.min() < 0 or not values.sum():
            raise StudyError("counts are not negative, and at least one of them is positive")
        rows, columns = values.shape
        object.__setattr__(self, "counts", values)
        object.__setattr__(self, "secrets", as_labels(secrets, count=rows, what="rows"))
        object.__setattr__(
            self, "observations", as_labels(observations, count=columns, what="columns")
        )

    @classmethod
    def from_records(
        cls,
        secrets: Sequence[Hashable],
        observations: Sequence[Hashable],
        *,
        weights: Sequence[Number] | None = None,
    ) -> CoOccurrence:
        """Count the records.

        Args:
            secrets: The value of the secret in each record.
            observations: What is observed of each record; a tuple for several attributes.
            weights: How much each record counts for; 1 when not given.

        Raises:
            StudyError: If the sequences differ in length or are empty.
        """
        amounts = [Fraction(1)] * len(secrets) if weights is None else list(weights)
        if not len(secrets) == len(observations) == len(amounts) > 0:
            raise StudyError(
                f"there must be one secret, observation and weight per record: "
                f"{len(secrets)}, {len(observations)} and {len(amounts)} were given"
            )
        row = {label: index for index, label in enumerate(dict.fromkeys(secrets))}
        column = {label: index for index, label in enumerate(dict.fromkeys(observations))}
        counts = np.full((len(row), len(column)), Fraction(0), dtype=object)
        for secret, observation, amount in zip(secrets, observations, amounts, strict=True):
            counts[row[secret], column[observation]] += amount
        return cls(counts, row, column)

    def joint(self) -> Joint:
        """Return the joint distribution, every record equally likely: Table 4b."""
        return Joint(self.counts / self.counts.sum(), self.secrets, self.observations)

    def prior(self) -> Prior:
        """Return the adversary's knowledge from the release's totals alone: Table 4c, left."""
        return self.joint().prior()

    def channel(self) -> Channel:
        """Return the probability of each observation given the secret: Table 4c, right."""
        return self.joint().channel()

    def hyper(self) -> Hyper:
        """Return the adversary's knowledge after observing her target: Table 4d."""
        return Hyper.from_joint(self.joint())
