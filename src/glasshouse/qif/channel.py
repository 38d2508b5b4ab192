"""The channel: what the system shows, with which probability, for each value of the secret."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import reduce
from itertools import combinations, product
from math import comb
from typing import Any

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
    number,
    to_float,
)
from glasshouse.qif.labels import Labels, as_labels, position, require_same


@dataclass(frozen=True, init=False, eq=False)
class Channel(ByValue):
    """A channel matrix C: C[x, y] is the probability of observing y when the secret is x.

    Rows are secrets, columns are observations, every row is a distribution (Alvim et al. 2020,
    chapter 4). Compositions are those of its chapter 8.

    >>> from fractions import Fraction
    >>> answer = Channel([[Fraction(3, 4), Fraction(1, 4)], [Fraction(1, 4), Fraction(3, 4)]],
    ...                  inputs=["yes", "no"], outputs=["says yes", "says no"])
    >>> print(answer["yes", "says yes"])
    3/4
    """

    matrix: Array
    """One row per secret, one column per observation."""

    inputs: Labels
    """The secrets."""

    outputs: Labels
    """The observations."""

    def __init__(
        self,
        matrix: Matrix,
        inputs: Iterable[Hashable] | None = None,
        outputs: Iterable[Hashable] | None = None,
    ) -> None:
        values = as_array(matrix, dimensions=2, what="a channel")
        rows, columns = values.shape
        object.__setattr__(self, "inputs", as_labels(inputs, count=rows, what="rows"))
        object.__setattr__(self, "outputs", as_labels(outputs, count=columns, what="columns"))
        names = [f"the row {label!r}" for label in self.inputs]
        object.__setattr__(self, "matrix", distributions(values, names=names, what="a channel"))

    @classmethod
    def identity(cls, inputs: Iterable[Hashable]) -> Channel:
        """Return the channel that shows the secret itself: it leaks everything."""
        return cls.deterministic(lambda secret: secret, inputs=inputs)

    @classmethod
    def no_interference(cls, inputs: Iterable[Hashable]) -> Channel:
        """Return the channel that always shows the same: it leaks nothing."""
        return cls.deterministic(lambda _: 0, inputs=inputs)

    @classmethod
    def deterministic(
        cls, function: Callable[[Any], Hashable], *, inputs: Iterable[Hashable]
    ) -> Channel:
        """Return the exact channel that shows a function of the secret.

        >>> Channel.deterministic(lambda age: age // 10 * 10, inputs=[25, 28, 31]).outputs
        (20, 30)
        """
        secrets = tuple(inputs)
        observations = [function(secret) for secret in secrets]
        outputs = tuple(dict.fromkeys(observations))
        return cls(
            [[int(observed == y) for y in outputs] for observed in observations], secrets, outputs
        )

    @classmethod
    def hints(cls, histories: Mapping[Any, Sequence[Any]], *, known: int) -> Channel:
        """Return the exact channel that shows so many events of a person, drawn evenly without replacement.

        Args:
            histories: Per person, what each of the events shows.
            known: How many are shown, in no order; everybody must have so many.

        >>> visits = Channel.hints({"Ann": ["N", "N", "S"], "Bob": ["S", "S", "S"]}, known=2)
        >>> visits.outputs
        (('N', 'N'), ('N', 'S'), ('S', 'S'))
        >>> print(visits["Ann", ("N", "S")])
        2/3
        """
        shortest = min(map(len, histories.values()), default=0)
        if not 1 <= known <= shortest:
            raise StudyError(
                f"known must be between 1 and the {shortest} events of the shortest history; it is {known}"
            )
        sights = {
            person: Counter(combinations(sorted(events), known))
            for person, events in histories.items()
        }
        outputs = sorted({sight for counts in sights.values() for sight in counts})
        rows = [
            [Fraction(counts[sight], comb(len(histories[person]), known)) for sight in outputs]
            for person, counts in sights.items()
        ]
        return cls(rows, histories, outputs)

    @classmethod
    def around(cls, inputs: Iterable[int], off: int) -> Channel:
        """Return the exact channel that shows a whole number near the secret one, all within `off` as likely.

        >>> print(Channel.around([25, 26], 1)[25, 24], Channel.around([25, 26], 1).outputs)
        1/3 (24, 25, 26, 27)
        """
        secrets = tuple(inputs)
        if off < 0 or not secrets:
            raise StudyError("a window needs numbers, and a width of 0 or more")
        outputs = range(min(secrets) - off, max(secrets) + off + 1)
        chance = Fraction(1, 2 * off + 1)
        rows = [[chance * (abs(secret - shown) <= off) for shown in outputs] for secret in secrets]
        return cls(rows, secrets, outputs)

    @classmethod
    def mistaken(cls, inputs: Iterable[Hashable], right: Number) -> Channel:
        """Return the channel that shows the secret with a chance, and otherwise each other value, all as likely.

        >>> print(*Channel.mistaken("abc", Fraction(9, 10)).matrix[0])
        9/10 1/20 1/20
        """
        secrets = tuple(inputs)
        if len(secrets) < 2:
            raise StudyError("a mistake needs two values or more")
        wrong = (1 - right) / (len(secrets) - 1)
        rows = [[right if shown == secret else wrong for shown in secrets] for secret in secrets]
        return cls(rows, secrets, secrets)

    @property
    def exact(self) -> bool:
        """Whether the probabilities are Fractions."""
        return self.matrix.dtype == object

    def __getitem__(self, cell: tuple[Hashable, Hashable]) -> Number:
        secret, observation = cell
        row = position(secret, labels=self.inputs, what="secrets")
        column = position(observation, labels=self.outputs, what="observations")
        return number(self.matrix[row, column])

    def to_float(self) -> Channel:
        """Return the same channel in floating arithmetic."""
        return Channel(to_float(self.matrix), self.inputs, self.outputs)

    def reduced(self) -> Channel:
        """Return the channel without its redundant structure.

        Observations that never happen are dropped, and proportional columns are added up under the
        label of the first: they lead to the same posterior, so they tell the adversary the same.
        Two channels have the same reduced matrix, up to the order of the columns, exactly when
        they leak the same for every prior and gain (Alvim et al. 2020, chapter 4).

        >>> Channel([[0.5, 0.25, 0.25], [0.5, 0.25, 0.25]]).reduced().matrix
        array([[1.],
               [1.]])
        """
        seen = np.flatnonzero(self.matrix.sum(axis=0) > 0)
        possible = self.matrix[:, seen]
        groups = alike_columns(possible / possible.sum(axis=0))
        columns = [possible[:, group].sum(axis=1) for group in groups]
        outputs = [self.outputs[seen[group[0]]] for group in groups]
        return Channel(np.column_stack(columns), self.inputs, outputs)

    def cascade(self, other: Channel) -> Channel:
        """Return the channel in which `other` processes what this one shows: the product C·D.

        The observations of this channel are matched with the inputs of `other` by position.

        Raises:
            StudyError: If their numbers differ.
        """
        if len(self.outputs) != len(other.inputs):
            raise StudyError(
                f"a cascade needs as many inputs as observations before it: "
                f"{len(self.outputs)} observations, {len(other.inputs)} inputs"
            )
        first, second = common(self.matrix, other.matrix)
        return Channel(first @ second, self.inputs, other.outputs)

    def parallel(self, other: Channel) -> Channel:
        """Return the channel that shows the pair of what both show of the same secret.

        (C ∥ D)[x, (y, z)] = C[x, y]·D[x, z]: given the secret, the two are independent.
        """
        return self.sequential(lambda _: other)

    def repeated(self, times: int) -> Channel:
        """Return the channel of `times` ≥ 1 independent runs; observations are nested pairs."""
        if times < 1:
            raise StudyError(f"a channel can be repeated once or more often, not {times} times")
        return reduce(Channel.parallel, [self] * times)

    def sequential(self, then: Callable[[Any], Channel]) -> Channel:
        """Return the channel of an adaptive adversary, who chooses how to go on by what she saw.

        (C ; D)[x, (y, z)] = C[x, y]·D_y[x, z]

        Args:
            then: Gives for each observation y of this channel the channel D_y used next, on the
                same secrets.
        """
        columns, outputs = [], []
        for index, first in enumerate(self.outputs):
            after = then(first)
            require_same(self.inputs, after.inputs, what="the secrets of two composed channels")
            before, following = common(self.matrix[:, [index]], after.matrix)
            columns.append(before * following)
            outputs += list(product([first], after.outputs))
        return Channel(np.hstack(columns), self.inputs, outputs)

    def visible_choice(self, other: Channel, *, probability: Number) -> Channel:
        """Return the channel that runs this one or, otherwise, `other`, and says which.

        Observations become (0, y) and (1, z).
        """
        require_same(self.inputs, other.inputs, what="the secrets of two composed channels")
        first, second = _weighted_pair(self.matrix, other.matrix, probability)
        outputs = [*product([0], self.outputs), *product([1], other.outputs)]
        return Channel(np.hstack([first, second]), self.inputs, outputs)

    def hidden_choice(self, other: Channel, *, probability: Number) -> Channel:
        """Return the channel that runs this one or, otherwise, `other`, in secret.

        Observations with the same label look the same: p·C + (1 − p)·D on the union of the labels.
        """
        visible = self.visible_choice(other, probability=probability)
        forget = Channel.deterministic(lambda pair: pair[1], inputs=visible.outputs)
        return visible.cascade(forget)


def _weighted_pair(first: Array, second: Array, probability: Number) -> tuple[Array, Array]:
    if not 0 <= probability <= 1:
        raise StudyError(f"the probability of a choice is between 0 and 1, not {probability}")
    chance = as_array([probability], dimensions=1, what="the probability of a choice")
    first, second, chance = common(first, second, chance)
    return chance * first, (Fraction(1) - chance) * second
