"""Learner and attacker by sampling, where no exact way is: several chains, until they are precise enough.

Chains start at random and apart. A burn-in first samples a flattened posterior, f(t | t*)^κ with κ rising to 1, so that
chains do not stay where they happened to start. Then draws are recorded until the Monte-Carlo error of the aggregate
measures is within the requested precision and R-hat within its limit, or until a limit of sweeps or time is reached:
`Sampled.stopped` says which. Chains run in threads; what they find depends on the seed only.

What the estimators are: `glasshouse.groups.gibbs_vertical`, `glasshouse.groups.gibbs_horizontal` (attacker),
`glasshouse.groups.sampling_learner` (learner), `glasshouse.groups.sampling_moments` (errors).
"""

from __future__ import annotations

import hashlib
import os
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from itertools import repeat
from typing import Any

import numpy as np
from numpy.typing import NDArray

from glasshouse.errors import BudgetError, DataError, StudyError
from glasshouse.groups.beliefs import Beliefs, Knowledge, Points, random_worlds
from glasshouse.groups.chains import (
    Arrays,
    Floats,
    Integers,
    RunningMeans,
    SamplingModel,
    learner_of,
    random_streams,
)
from glasshouse.groups.diagnostics import LEAST_DRAWS, WeissTest, weiss
from glasshouse.groups.effort import Effort
from glasshouse.groups.evaluator import Evaluator
from glasshouse.groups.gibbs_horizontal import HorizontalModel
from glasshouse.groups.gibbs_vertical import VerticalModel
from glasshouse.groups.measures import THRESHOLDS, Reading
from glasshouse.groups.release import Release
from glasshouse.groups.sampling_chain import ChainRun, Recording
from glasshouse.groups.sampling_figures import (
    SEGMENTS,
    Families,
    batch_figures,
    largest_share_error,
    ratios_of,
    traced_aggregates,
)
from glasshouse.groups.sampling_flips import flip_errors
from glasshouse.groups.sampling_moments import Family
from glasshouse.groups.sampling_results import Aggregate, Estimates, Progress, Sampled, Stop
from glasshouse.groups.victims import Original, Victims
from glasshouse.language import number, text

__all__ = ["Effort", "OnSampling", "OnState", "sample"]

OnSampling = Callable[[Progress], None]
"""Called after each step with how far it is; what it raises stops the run."""
OnState = Callable[[Arrays], None]
"""Called with a state from which the run can be continued; the arrays change as soon as it returns."""

_FIRST_LENGTH = 10
"""Draws of the first batches."""
_MOST_KEPT = (32, 16, 8, 4)
"""Batch means that are kept per cell, from most to fewest, as memory allows."""
_ENOUGH = 100
"""Effective draws per chain below which R-hat says nothing (Vehtari et al. 2021)."""
_HOT = 0.6
"""The share of the burn-in that is tempered."""
_MOST_ATTRIBUTES = 40
"""The product of more probabilities can become 0 in double precision."""
_STEPS = 10
"""Into so many steps the burn-in is divided."""


def sample(
    release: Release,
    victims: Victims,
    effort: Effort | None = None,
    *,
    original: Original | None = None,
    points: Points | None = None,
    thresholds: tuple[float, ...] = THRESHOLDS,
    traced: Sequence[int] = (),
    learner_mean: bool = True,
    reading: Reading = Reading.RATIO_OF_EXPECTATIONS,
    state: Mapping[str, NDArray[np.generic]] | None = None,
    on_progress: OnSampling | None = None,
    on_state: OnState | None = None,
) -> Sampled:
    """Estimate what learner and attacker believe about each victim after reading a release.

    Args:
        release: The release, of either kind.
        victims: Whom results are wanted for.
        effort: For what precision, and how long at most; by default as `Effort` says.
        original: The cleartext table behind the release; with it the aggregates are the evaluator's measures.
        points: Points of the population, the last victims, at which faithfulness is estimated.
        thresholds: The relative threats that the share of records above is estimated of.
        traced: The numbers of victims of whom every draw is kept, for the Weiß test and for ArviZ.
        learner_mean: Whether to estimate reading (6) of the learner too.
        reading: Which learner the attacker is compared with, in relative threats and in the learner's figures.
        state: Where an earlier run with the same question was left; it is continued, as if it had not stopped.
        on_progress: Called after each step.
        on_state: Called after each step with the state to store.

    Raises:
        BudgetError: The means would not fit into the memory allowed.
        DataError: A traced victim is not among the victims, or the original has other victims.
        StudyError: The state belongs to another question, or reading (6) is compared with and not estimated.
    """
    by_mean = reading is Reading.EXPECTATION_OF_RATIO
    if by_mean and not learner_mean:
        raise StudyError(
            text("the attacker is compared with reading (6); estimate it: learner_mean")
        )
    evaluator = None if original is None else Evaluator(original, points, thresholds)
    run = _Run(release, victims, effort or Effort(), evaluator, traced, (learner_mean, by_mean))
    if state is not None:
        run.restore(state)
    return run.go(on_progress, on_state)


def model_of(release: Release, victims: Victims) -> SamplingModel:
    """Lay out a release and its victims."""
    if release.is_vertical:
        return VerticalModel(release, victims)
    return HorizontalModel(release, victims)


class _Run:
    """The chains of one question, and how far they are."""

    def __init__(
        self,
        release: Release,
        victims: Victims,
        effort: Effort,
        evaluator: Evaluator | None,
        traced: Sequence[int],
        of_mean: tuple[bool, bool],
    ) -> None:
        self.release, self.victims, self.effort = release, victims, effort
        self.evaluator = evaluator
        original = None if evaluator is None else evaluator.original
        learner_mean, by_mean = of_mean
        self.shape = len(victims), len(release.sensitive.values)
        _check(self.shape, original, traced)
        if len(release.attributes) > _MOST_ATTRIBUTES:
            raise StudyError(
                text(
                    "{release} has {attributes} attributes; sampling multiplies probabilities of at "
                    "most {most}, so leave some out",
                    release=release.name,
                    attributes=str(len(release.attributes)),
                    most=str(_MOST_ATTRIBUTES),
                )
            )
        model = model_of(release, victims)
        self.support = model.support
        most = effort.sweeps // effort.every
        self.recording = Recording(
            every=effort.every,
            traced=np.array(traced, np.int64),
            learner_mean=learner_mean,
            by_mean=by_mean,
            weights=None if original is None else _weights(original, self.shape),
            people=np.ones(len(victims), np.int64) if victims.people is None else victims.people,
            kept=_kept(model, self.shape, learner_mean, effort),
            length=min(_FIRST_LENGTH, most // 4),
        )
        learner = learner_of(release, victims)
        streams = random_streams(effort.seed, effort.chains)
        self.chains = [ChainRun(model, learner, self.recording, stream) for stream in streams]
        self.burned = -1

    @property
    def draws(self) -> int:
        return self.chains[0].attacker.draws

    def go(self, on_progress: OnSampling | None, on_state: OnState | None) -> Sampled:
        effort = self.effort
        start = time.monotonic()
        threads = effort.threads or min(effort.chains, os.cpu_count() or 1)
        stopped = None
        with ThreadPoolExecutor(threads) as pool:
            for progress in self._burn_in(pool):
                _tell(progress, on_progress)
                if on_state:
                    on_state(self.state())
            aggregates = self._aggregates() if self.draws else ()
            while stopped is None:
                if self.draws:
                    stopped = self._verdict(aggregates, time.monotonic() - start)
                if stopped is None:
                    length = 2 * self.chains[0].attacker.length
                    list(pool.map(ChainRun.run, self.chains, repeat(length)))
                    aggregates = self._aggregates()
                    _tell(self._progress(aggregates), on_progress)
                    if on_state:
                        on_state(self.state())
        return self._result(aggregates, stopped)

    def _burn_in(self, pool: ThreadPoolExecutor) -> Iterator[Progress]:
        total = self.effort.burn_in
        if self.burned < 0:
            list(pool.map(ChainRun.start, self.chains))
            self.burned = 0
        while self.burned < total:
            first, last = self.burned, min(total, self.burned + max(1, total // _STEPS))
            arguments = (repeat(first), repeat(last), repeat(int(_HOT * total)))
            list(pool.map(ChainRun.burn_in, self.chains, *arguments))
            self.burned = last
            yield Progress("burn-in", last, total)

    def _verdict(self, aggregates: tuple[Aggregate, ...], seconds: float) -> Stop | None:
        effort = self.effort
        precise = max(self._share(own) for own in aggregates) <= effort.precision
        if self._converged(aggregates) and precise and self._rest_precise():
            return Stop.PRECISION
        if (self.draws + 2 * self.chains[0].attacker.length) * effort.every > effort.sweeps:
            return Stop.SWEEPS
        if effort.seconds is not None and seconds > effort.seconds:
            return Stop.TIME
        return None

    def _converged(self, aggregates: tuple[Aggregate, ...]) -> bool:
        enough = _ENOUGH * self.effort.chains
        return all(own.rhat <= self.effort.rhat and own.ess >= enough for own in aggregates)

    def _rest_precise(self) -> bool:
        """Tell whether the figures that have no trace, and the beliefs if that is asked, are precise too."""
        if self.evaluator is not None:
            flips = self._flips(self._ratios())
            if largest_share_error(self._families(), self.evaluator, flips) > self.effort.precision:
                return False
        limit = self.effort.cell_precision
        return limit is None or self._largest_error() <= limit

    def _largest_error(self) -> float:
        families = [self._attacker(), self._learner()]
        if self.recording.learner_mean:
            families.append(self._learner_mean())
        return max(own.largest_error() for own in families)

    def _share(self, own: Aggregate) -> float:
        if own.name.startswith("abs") and self.evaluator is not None:
            return own.error / (2.0 * max(self.evaluator.original.records, 1))
        return own.error

    def _progress(self, aggregates: tuple[Aggregate, ...]) -> Progress:
        return Progress(
            "sampling",
            self.draws * self.effort.every,
            self.effort.sweeps,
            rhat=max(own.rhat for own in aggregates),
            ess=min(own.ess for own in aggregates),
            error=max(self._share(own) for own in aggregates),
        )

    def _attacker(self) -> Family:
        return Family([own.attacker for own in self.chains], self.shape, self.support)

    def _learner(self) -> Family:
        return Family([own.learner for own in self.chains], self.shape)

    def _learner_mean(self) -> Family:
        return Family([own.learner_mean for own in self.chains], self.shape)

    def _families(self) -> Families:
        by_mean = self._learner_mean() if self.recording.by_mean else None
        return Families(self._attacker(), self._learner(), by_mean)

    def _traces(self) -> Floats:
        return np.stack([own.traces for own in self.chains])

    def _aggregates(self) -> tuple[Aggregate, ...]:
        return traced_aggregates(self._families(), self.recording, self._traces())

    def _figures(self, aggregates: tuple[Aggregate, ...]) -> tuple[Aggregate, ...]:
        if self.evaluator is None:
            return ()
        return batch_figures(self._families(), self.evaluator, aggregates)

    def _flips(self, ratios: Estimates) -> dict[str, float]:
        if self.evaluator is None:
            return {}
        compared = self._learner_mean() if self.recording.by_mean else self._learner()
        beliefs = self._attacker().summary().beliefs, compared.summary().beliefs
        return flip_errors(self.evaluator, *beliefs, ratios)

    def _ratios(self) -> Estimates:
        if self.evaluator is not None:
            return ratios_of(self._families(), self.evaluator.cells[:2])
        every = np.indices(self.shape).reshape(2, -1)
        return ratios_of(self._families(), (every[0], every[1]))

    def _result(self, aggregates: tuple[Aggregate, ...], stopped: Stop) -> Sampled:
        attacker, learner = self._attacker().summary(), self._learner().summary()
        mean = None
        if self.recording.learner_mean:
            mean = self._learner_mean().summary().beliefs
        knowledge = Knowledge(
            release=self.release,
            victims=self.victims,
            joint=learner.mean,
            learner=learner.beliefs,
            attacker=attacker.beliefs,
            random_worlds=Beliefs(random_worlds(self.release, self.victims)),
            learner_mean=mean,
            method="sampling",
        )
        tests = self._weiss()
        converged = self._converged(aggregates)
        compared = mean if self.recording.by_mean and mean is not None else learner.beliefs
        errors = [own.errors for own in (attacker.beliefs, learner.beliefs, compared)]
        ratios = self._ratios()
        flips = self._flips(ratios)
        return Sampled(
            knowledge=knowledge,
            aggregates=_with_flips(aggregates, flips),
            figures=_with_flips(self._figures(aggregates), flips),
            ratios=ratios,
            stopped=stopped,
            converged=converged,
            largest_error=max(_largest(own) for own in errors if own is not None),
            limit=self.effort.rhat,
            chains=self.effort.chains,
            burn_in=self.effort.burn_in,
            sweeps=self.draws * self.effort.every,
            every=self.effort.every,
            seed=self.effort.seed,
            trace_names=self.recording.traces,
            traces=self._traces(),
            traced=self.recording.traced,
            details=np.stack([own.details for own in self.chains]),
            weiss=tests,
        )

    def _weiss(self) -> tuple[WeissTest, ...]:
        if self.draws < SEGMENTS * LEAST_DRAWS:
            return ()
        return tuple(
            weiss(np.ascontiguousarray(own.categories[:, place]), segments=SEGMENTS)
            for own in self.chains
            for place in range(len(self.recording.traced))
        )

    def state(self) -> Arrays:
        arrays: Arrays = {
            "question": np.frombuffer(self._digest(), np.uint8),
            "burned": np.array([self.burned], np.int64),
        }
        for place, own in enumerate(self.chains):
            arrays |= own.state(f"chain{place}")
        return arrays

    def restore(self, state: Mapping[str, NDArray[np.generic]]) -> None:
        if "question" not in state or bytes(state["question"].tobytes()) != self._digest():
            raise StudyError(
                text(
                    "the stored state belongs to another question (release, victims, prior, seed or chains differ); "
                    "start anew without it"
                )
            )
        self.burned = int(state["burned"][0])
        for place, own in enumerate(self.chains):
            own.restore(f"chain{place}", state)

    def _digest(self) -> bytes:
        release, victims = self.release, self.victims
        effort, recording = self.effort, self.recording
        whole = hashlib.sha256(str(release.scheme).encode())
        arrays: list[NDArray[Any]] = [
            release.starts,
            release.sensitive_codes,
            release.codes,
            victims.codes,
        ]
        arrays += [victims.candidate_starts, victims.candidates, recording.traced]
        arrays += [own.betas for own in release.attributes] + [release.sensitive.alphas]
        for sets in (*(own.sets for own in release.attributes), *victims.known):
            arrays += [sets.starts, sets.members]
        arrays.append(recording.people if recording.weights is None else recording.weights)
        for array in arrays:
            whole.update(str(array.shape).encode() + np.ascontiguousarray(array).tobytes())
        numbers = (effort.seed, effort.chains, effort.burn_in, effort.every, recording.kept)
        kinds = (recording.length, recording.learner_mean, recording.by_mean, recording.traces)
        whole.update(repr((numbers, kinds)).encode())
        return whole.digest()


def _check(shape: tuple[int, int], original: Original | None, traced: Sequence[int]) -> None:
    if not shape[0]:
        raise DataError(text("there is no victim; give at least one"))
    if original is not None:
        people, width = original.weights.shape
        if people > shape[0] or width != shape[1]:
            raise DataError(
                text(
                    "the original has {people} victims and the question {victims}; take both from victims_of_table",
                    people=people,
                    victims=shape[0],
                )
            )
    for victim in traced:
        if not 0 <= victim < shape[0]:
            raise DataError(
                text(
                    "victim {victim} cannot be traced; there are {victims}, from 0",
                    victim=str(victim),
                    victims=shape[0],
                )
            )


def _weights(original: Original, shape: tuple[int, int]) -> Integers:
    """Return how many records there are per victim and sensitive value; none of victims behind the original's."""
    weights = np.zeros(shape, np.int64)
    weights[: len(original.weights)] = original.weights
    return weights


def _kept(model: SamplingModel, shape: tuple[int, int], learner_mean: bool, effort: Effort) -> int:
    """Return how many batch means per cell memory allows."""
    cells = shape[0] * shape[1]
    for kept in _MOST_KEPT:
        families = RunningMeans.size(len(model.support), kept)
        families += RunningMeans.size(cells * (2 if learner_mean else 1), kept)
        size = effort.chains * (families + 8 * cells)
        if size <= effort.memory:
            return kept
    raise BudgetError(
        text(
            "the means of {victims} victims and {values} sensitive values take {size} GiB, more than the "
            "{memory} GiB allowed; ask for fewer victims or chains, or leave out learner_mean",
            victims=shape[0],
            values=str(shape[1]),
            size=number(size / 2**30, ".1f"),
            memory=number(effort.memory / 2**30, ".1f"),
        )
    )


def _tell(progress: Progress, on_progress: OnSampling | None) -> None:
    if on_progress is not None:
        on_progress(progress)


def _with_flips(found: tuple[Aggregate, ...], flips: dict[str, float]) -> tuple[Aggregate, ...]:
    return tuple(replace(own, error=max(own.error, flips.get(own.name, 0.0))) for own in found)


def _largest(errors: Floats) -> float:
    known = errors[np.isfinite(errors)]
    return float(known.max()) if known.size else 0.0
