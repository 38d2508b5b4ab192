"""The prior: what the adversary knows about the secret before she observes anything."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from glasshouse.errors import StudyError
from glasshouse.qif.arithmetic import (
    Array,
    ByValue,
    Number,
    Vector,
    as_array,
    distributions,
    number,
    to_float,
)
from glasshouse.qif.labels import Labels, as_labels, position


@dataclass(frozen=True, init=False, eq=False)
class Prior(ByValue):
    """A probability distribution π on finitely many labelled values.

    It is called a prior because that is its main role; a posterior, or the distribution of the
    observations, is a `Prior` as well (Alvim et al. 2020, chapter 2).

    >>> from fractions import Fraction
    >>> language = Prior.of({"English": Fraction(1, 4), "Port.": Fraction(1, 4),
    ...                      "German": Fraction(1, 2)})
    >>> print(language["German"], language.exact)
    1/2 True
    """

    probabilities: Array
    """One probability per label; they sum to 1."""

    labels: Labels
    """The values on which the distribution is."""

    def __init__(self, probabilities: Vector, labels: Iterable[Hashable] | None = None) -> None:
        values = as_array(probabilities, dimensions=1, what="a distribution")
        values = distributions(values[np.newaxis], names=["it"], what="a distribution")[0]
        names = as_labels(labels, count=len(values), what="probabilities")
        object.__setattr__(self, "probabilities", values)
        object.__setattr__(self, "labels", names)

    @classmethod
    def of(cls, mapping: Mapping[Any, Number]) -> Prior:
        """Return the distribution that gives each key its value."""
        return cls(list(mapping.values()), mapping)

    @classmethod
    def uniform(cls, labels: Iterable[Hashable]) -> Prior:
        """Return the exact distribution in which all labels are equally likely.

        >>> print(Prior.uniform("abc")["a"])
        1/3
        """
        if isinstance(labels, int):
            raise StudyError(
                "a prior is over labels, not over a number of them; say for example range({count})",
                count=labels,
            )
        names = tuple(labels)
        return cls([Fraction(1, len(names)) for _ in names], names)

    @classmethod
    def dirac(cls, label: Hashable, *, labels: Iterable[Hashable]) -> Prior:
        """Return the point distribution [label]: the adversary knows the secret already."""
        names = tuple(labels)
        index = position(label, labels=names, what="labels")
        return cls([int(i == index) for i in range(len(names))], names)

    @property
    def exact(self) -> bool:
        """Whether the probabilities are Fractions."""
        return self.probabilities.dtype == object

    @property
    def support(self) -> Labels:
        """The labels whose probability is not zero."""
        pairs = zip(self.labels, self.probabilities, strict=True)
        return tuple(label for label, probability in pairs if probability > 0)

    def __getitem__(self, label: Hashable) -> Number:
        index = position(label, labels=self.labels, what="labels of the distribution")
        return number(self.probabilities[index])

    def __len__(self) -> int:
        return len(self.labels)

    def to_float(self) -> Prior:
        """Return the same distribution in floating arithmetic."""
        return Prior(to_float(self.probabilities), self.labels)
