"""One chain at work: sweeps, what is recorded of them, and its state."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numba import njit
from numpy.typing import NDArray
from scipy.special import gammaln

from glasshouse.groups.beliefs import normalised
from glasshouse.groups.chains import (
    Arrays,
    Floats,
    Integers,
    Learner,
    RunningMeans,
    SamplingModel,
    Words,
)

OF_CHAIN = "log_posterior"
"""The trace of the logarithm of the collapsed posterior, up to a constant."""
OF_BELIEFS = ("attacker_success", "learner_success")
"""The mean over people of the greatest probability: what attacker and learner expect to guess right."""
OF_ORIGINAL = (
    *("gt_attacker", "gt_learner", "gt_attacker_random_ties", "gt_learner_random_ties"),
    *("abs_attacker", "abs_learner", "rgt"),
)
"""Traces that need the original table: shares of threatened records, absolute errors, and RGT_A."""
_FLATTEST = 0.1
"""The exponent of the posterior with which tempering starts."""


@dataclass(frozen=True)
class Recording:
    """What is recorded of a draw."""

    every: int
    """A draw is recorded after so many sweeps."""
    traced: Integers
    """The victims of whom every draw is kept."""
    learner_mean: bool
    """Whether reading (6) is recorded."""
    by_mean: bool
    """Whether the attacker is compared with reading (6): then the learner's traces are of it."""
    weights: Integers | None
    """Per victim and sensitive value, how many records the original has; None: not given."""
    people: Integers
    """Per victim, how many people it stands for."""
    kept: int
    """How many batch means of a cell are kept."""
    length: int
    """How many draws the first batches have."""

    @property
    def traces(self) -> tuple[str, ...]:
        """The names of the scalar traces."""
        return (OF_CHAIN, *OF_BELIEFS, *(OF_ORIGINAL if self.weights is not None else ()))


class ChainRun:
    """A chain and everything that is kept of it."""

    def __init__(
        self, model: SamplingModel, learner: Learner, recording: Recording, stream: Words
    ) -> None:
        self._model, self._learner, self._recording = model, learner, recording
        self._chain = model.chain(stream)
        self._room = model.room()
        self._dense = np.empty((learner.victims, len(learner.alphas)))
        cells = self._dense.size

        def means(many: int) -> RunningMeans:
            return RunningMeans.empty(many, kept=recording.kept, length=recording.length)

        self.attacker = means(len(model.support))
        self.learner = means(cells)
        self.learner_mean = means(cells if recording.learner_mean else 0)
        self._traces: list[list[float]] = []
        self._details: list[NDArray[np.float32]] = []
        self._categories: list[list[int]] = []

    @property
    def traces(self) -> Floats:
        """The scalar traces, draw by quantity."""
        return np.array(self._traces).reshape(-1, len(self._recording.traces))

    @property
    def details(self) -> NDArray[np.float32]:
        """Draws of the traced victims: draw × (attacker, learner, learner by (6)) × victim × sensitive value."""
        shape = (len(self._traces), 3, len(self._recording.traced), self._dense.shape[1])
        return np.array(self._details, np.float32).reshape(shape)

    @property
    def categories(self) -> Integers:
        """Draws of a categorical variable of the traced victims, draw by victim."""
        return np.array(self._categories, np.int64).reshape(
            len(self._traces), len(self._recording.traced)
        )

    def start(self) -> None:
        """Take a random state."""
        self._chain.start()

    def burn_in(self, first: int, last: int, hot: int) -> None:
        """Make the sweeps from `first` to `last` of a burn-in of which the first `hot` ones are tempered."""
        self._chain.recount()
        for sweep in range(first, last):
            cold = 1.0 if sweep >= hot else _FLATTEST + (1.0 - _FLATTEST) * sweep / hot
            self._chain.sweep(power=cold)

    def run(self, draws: int) -> None:
        """Record so many draws; what is summed is made anew before, so that a continued run does not differ."""
        self._chain.recount()
        for _ in range(draws):
            for _ in range(self._recording.every - 1):
                self._chain.sweep()
            self._room[...] = 0.0
            self._chain.sweep(self._room)
            self._record()

    def _record(self) -> None:
        counts, dense, recording = self._chain.counts, self._dense, self._recording
        detail = np.full((3, len(recording.traced), dense.shape[1]), np.nan, np.float32)
        self._model.attack(self._room, dense)
        of_attacker = self._measures()
        detail[0] = normalised(dense[recording.traced])
        self.attacker.add(dense, self._model.support)
        self._learner.expected(counts, dense)
        of_learner = self._measures()
        detail[1] = normalised(dense[recording.traced])
        self.learner.add(dense)
        if recording.learner_mean:
            self._learner.drawn(counts, self._chain.stream, dense)
            detail[2] = dense[recording.traced]
            self.learner_mean.add(dense)
            if recording.by_mean:
                of_learner = self._measures()
        paired = [x for pair in zip(of_attacker, of_learner, strict=True) for x in pair]
        beyond = [] if recording.weights is None else [max(0.0, of_attacker[1] - of_learner[1])]
        self._traces.append([float(gammaln(counts).sum()), *paired, *beyond])
        if len(recording.traced):
            self._details.append(detail)
            own = [self._model.category(self._chain, int(v)) for v in recording.traced]
            self._categories.append(own)

    def _measures(self) -> tuple[float, ...]:
        """Return the aggregate measures of the beliefs that this draw alone would give."""
        weights = self._recording.weights
        if weights is None:
            return (float(_success(self._dense, self._recording.people)),)
        success, hits, chances, missed = _against(self._dense, weights)
        records = float(weights.sum())
        return success, hits / records, chances / records, 2.0 * missed

    def state(self, name: str) -> Arrays:
        """Return what has to be stored to continue this chain, by name."""
        return {
            f"{name}.stream": self._chain.stream,
            f"{name}.held": self._chain.held,
            f"{name}.traces": self.traces,
            f"{name}.details": self.details,
            f"{name}.categories": self.categories,
            **self.attacker.state(f"{name}.attacker"),
            **self.learner.state(f"{name}.learner"),
            **self.learner_mean.state(f"{name}.learner_mean"),
        }

    def restore(self, name: str, state: Mapping[str, NDArray[np.generic]]) -> None:
        """Go back to a stored state."""
        self._chain.stream[:] = state[f"{name}.stream"]
        self._chain.held[:] = state[f"{name}.held"]
        self._chain.recount()
        self._traces = [list(map(float, row)) for row in state[f"{name}.traces"]]
        self._details = list(np.asarray(state[f"{name}.details"], np.float32))
        self._categories = [list(map(int, row)) for row in state[f"{name}.categories"]]
        self.attacker.restore(f"{name}.attacker", state)
        self.learner.restore(f"{name}.learner", state)
        self.learner_mean.restore(f"{name}.learner_mean", state)


@njit(cache=True, nogil=True)  # type: ignore[untyped-decorator]
def _success(dense: Floats, people: Integers) -> float:
    """Return the mean greatest probability over people."""
    success, counted = 0.0, 0
    for victim in range(len(dense)):
        total = dense[victim].sum()
        if total > 0:
            success += people[victim] * dense[victim].max() / total
            counted += people[victim]
    return success / max(counted, 1)


@njit(cache=True, nogil=True)  # type: ignore[untyped-decorator]
def _against(dense: Floats, weights: Integers) -> tuple[float, float, float, float]:
    """Return the mean greatest probability, the threatened records, those guessed right, and Σ of 1 - p(true value).

    Guesses among values of equal probability are random. Sums are over records.
    """
    success, people, hits, chances, missed = 0.0, 0.0, 0.0, 0.0, 0.0
    for victim in range(len(dense)):
        total = dense[victim].sum()
        if total > 0:
            largest = dense[victim].max()
            equals, right = 0, 0.0
            for s in range(dense.shape[1]):
                strongest = dense[victim, s] >= largest * (1.0 - 1e-9)
                equals += strongest
                many = weights[victim, s]
                if many:
                    people += many
                    success += many * largest / total
                    missed += many * (1.0 - dense[victim, s] / total)
                    if strongest:
                        right += many
            hits += right
            chances += right / equals
    return success / max(people, 1.0), hits, chances, missed
