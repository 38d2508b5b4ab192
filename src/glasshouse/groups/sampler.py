"""Learner and attacker by sampling, where no exact way is: several chains, until they are precise enough.

*A run.* Chains start at random and apart. A burn-in first samples a flattened posterior, f(t | t*)^κ with κ rising to
1, so that chains do not stay where they happened to start. Then draws are recorded until the Monte-Carlo error of the
aggregate measures is within the requested precision and R-hat within its limit, or until a limit of sweeps or time is
reached: `Sampled.stopped` says which. Chains run in threads; what they find depends on the seed only.

*A chain* sweeps (`glasshouse.groups.gibbs_vertical`, `glasshouse.groups.gibbs_horizontal`), and of every few sweeps
records what attacker and learner believe (`glasshouse.groups.chains`).

*Figures of the table.* The value is the figure of the mean beliefs over all chains. The error is the deviation of the
figure over half chains, divided by the root of their number; that is right for any smooth figure, and allows for draws
that resemble each other. What counts records has steps, and then the error is at least that of
`glasshouse.groups.measures.flip_errors`. R-hat and ESS are of the figure of each single draw, where that means
something (shares of threatened records, ABS); of the figure of each batch of draws otherwise (relative threats,
skewness, faithfulness: a single draw's ratio says nothing of the ratio of means).
"""

from __future__ import annotations

import hashlib
import os
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from itertools import repeat
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray
from scipy.special import gammaln

from glasshouse.arrays import Floats, Integers, Words
from glasshouse.compiled import compiled
from glasshouse.errors import BudgetError, DataError, StudyError
from glasshouse.groups.beliefs import Beliefs, Knowledge, Points, normalised, random_worlds
from glasshouse.groups.chains import Arrays, Learner, RunningMeans, learner_of, random_streams
from glasshouse.groups.estimates import (
    LEAST_DRAWS,
    Aggregate,
    Basis,
    BeliefMeans,
    CellMeans,
    Estimates,
    MeanBeliefs,
    Sampled,
    Stop,
    bulk_ess,
    geweke,
    rank_rhat,
    ratios_of,
    split_rhat,
    weiss,
)
from glasshouse.groups.gibbs_horizontal import HorizontalModel
from glasshouse.groups.gibbs_vertical import VerticalModel
from glasshouse.groups.measures import (
    THRESHOLDS,
    Evaluator,
    Reading,
    flip_errors,
    is_share,
    threat_at,
)
from glasshouse.groups.release import Release
from glasshouse.groups.victims import Original, Victims
from glasshouse.language import number
from glasshouse.progress import OnProgress, Progress

SamplingModel: TypeAlias = VerticalModel | HorizontalModel
"""A release and its victims, ready for chains."""
OnState = Callable[[Arrays], None]
"""Called with a state from which the run can be continued; the arrays change as soon as it returns."""

_FIRST_LENGTH = 10
"""Draws of the first batches."""
_MOST_BATCHES = (32, 16, 8, 4)
"""Batch means that are kept per cell, from most to fewest, as memory allows."""
_ENOUGH = 100
"""Effective draws per chain below which R-hat says nothing (Vehtari et al. 2021)."""
_HOT = 0.6
"""The share of the burn-in that is tempered."""
_MOST_ATTRIBUTES = 40
"""The product of more probabilities can become 0 in double precision."""
_STEPS = 10
"""Into so many steps the burn-in is divided."""
EVERY = 5
"""A draw is recorded after so many sweeps, unless another number is given."""
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
SEGMENTS = 2
"""Into so many segments a chain is cut for the Weiß test."""


@dataclass(frozen=True)
class SamplingBudget:
    """How long to sample, and for what precision.

    Raises:
        StudyError: A number makes no sense.
    """

    precision: float = 0.002
    """The Monte-Carlo error that every aggregate shall have at most, as a share (of records, or of 2 N for ABS)."""
    cell_precision: float | None = None
    """The Monte-Carlo error that every single belief of learner and attacker shall have at most; None: not asked."""
    rhat: float = 1.01
    """What R-hat of every aggregate shall be at most."""
    sweeps: int = 20_000
    """How many sweeps each chain makes at most, after the burn-in."""
    seconds: float | None = None
    """After so many seconds no further step is begun; None: no limit."""
    chains: int = 4
    """How many chains run."""
    burn_in: int = 400
    """How many sweeps each chain makes before anything is recorded."""
    every: int = EVERY
    """A draw is recorded after so many sweeps."""
    threads: int | None = None
    """How many chains run at a time; None: as many as there are processors. Results do not depend on it."""
    memory: int = 4 << 30
    """How many bytes the means may take."""
    seed: int = 0
    """What all random numbers follow from."""

    def __post_init__(self) -> None:
        for name, low in least_budget(self.every).items():
            value = getattr(self, name)
            if value is not None and value < low:
                raise StudyError(
                    "{name} is {given}; sampling needs at least {low}",
                    name=name,
                    given=str(value),
                    low=str(low),
                )
        for name in ("precision", "cell_precision", "seconds"):
            value = getattr(self, name)
            if value is not None and not value > 0:
                raise StudyError(
                    "{name} is {given}; give a number above 0", name=name, given=str(value)
                )
        if not self.rhat > 1:
            raise StudyError(
                "rhat is {given}; give a limit above 1, such as 1.01", given=str(self.rhat)
            )


def least_budget(every: int = EVERY) -> dict[str, int]:
    """Return the least that each whole number of a budget may be: two halves of four batches of one draw, and so on.

    >>> least_budget()["sweeps"], least_budget()["chains"]
    (40, 2)
    """
    least = {"sweeps": 8 * every, "chains": 2, "burn_in": 0, "every": 1, "memory": 1}
    return least | {"seed": 0, "threads": 1}


def sample(
    release: Release,
    victims: Victims,
    *,
    budget: SamplingBudget | None = None,
    original: Original | None = None,
    points: Points | None = None,
    thresholds: tuple[float, ...] = THRESHOLDS,
    traced: Sequence[int] = (),
    learner_mean: bool = True,
    reading: Reading = Reading.RATIO_OF_EXPECTATIONS,
    state: Mapping[str, NDArray[np.generic]] | None = None,
    on_progress: OnProgress | None = None,
    on_state: OnState | None = None,
) -> Sampled:
    """Estimate what learner and attacker believe about each victim after reading a release.

    Args:
        release: The release, of either kind.
        victims: Whom results are wanted for.
        budget: For what precision, and how long at most; by default as `SamplingBudget` says.
        original: The cleartext table behind the release; with it the aggregates are the evaluator's measures.
        points: Points of the population, the last victims, at which faithfulness is estimated.
        thresholds: The relative threats that the share of records above is estimated of.
        traced: The numbers of victims of whom every draw is kept, for ArviZ.
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
        raise StudyError("the attacker is compared with reading (6); estimate it: learner_mean")
    evaluator = None if original is None else Evaluator(original, points, thresholds)
    run = _SamplingRun(
        release,
        victims,
        budget or SamplingBudget(),
        evaluator,
        traced=traced,
        learner_mean=learner_mean,
        by_mean=by_mean,
    )
    if state is not None:
        run.restore(state)
    return run.go(on_progress, on_state)


# One run.
class _SamplingRun:
    """The chains of one question, and how far they are."""

    def __init__(
        self,
        release: Release,
        victims: Victims,
        budget: SamplingBudget,
        evaluator: Evaluator | None,
        *,
        traced: Sequence[int],
        learner_mean: bool,
        by_mean: bool,
    ) -> None:
        self.release, self.victims, self.budget = release, victims, budget
        self.evaluator = evaluator
        original = None if evaluator is None else evaluator.original
        self.shape = len(victims), len(release.sensitive.values)
        _check(self.shape, original, traced)
        if len(release.attributes) > _MOST_ATTRIBUTES:
            raise StudyError(
                "{release} has {attributes} attributes; sampling multiplies probabilities of at "
                "most {most}, so leave some out",
                release=release.name,
                attributes=str(len(release.attributes)),
                most=str(_MOST_ATTRIBUTES),
            )
        model = model_of(release, victims)
        self.support = model.support
        weights = None
        if original is not None:
            weights = np.zeros(self.shape, np.int64)
            weights[: len(original.weights)] = original.weights
        self.recording = Recording(
            every=budget.every,
            traced=np.array(traced, np.int64),
            learner_mean=learner_mean,
            by_mean=by_mean,
            weights=weights,
            people=np.ones(len(victims), np.int64) if victims.people is None else victims.people,
            batches=_most_batches(model, self.shape, learner_mean, budget),
            length=min(_FIRST_LENGTH, budget.sweeps // budget.every // 4),
        )
        learner = learner_of(release, victims)
        streams = random_streams(budget.seed, budget.chains)
        self.chains = [ChainRun(model, learner, self.recording, stream) for stream in streams]
        self.burned = -1
        self.aggregates: tuple[Aggregate, ...] = ()
        self.stopped = Stop.SWEEPS

    @property
    def draws(self) -> int:
        return self.chains[0].attacker.draws

    def go(self, on_progress: OnProgress | None, on_state: OnState | None) -> Sampled:
        threads = self.budget.threads or min(self.budget.chains, os.cpu_count() or 1)
        start = time.monotonic()
        with ThreadPoolExecutor(threads) as pool:
            for progress in self._steps(pool, start):
                if on_progress is not None:
                    on_progress(progress)
                if on_state is not None:
                    on_state(self.state())
        return self._result()

    def _steps(self, pool: ThreadPoolExecutor, start: float) -> Iterator[Progress]:
        """Make one step after the other until the run has to stop, and yield how far it is."""
        yield from self._burn_in(pool)
        self.aggregates = self._aggregates() if self.draws else ()
        while True:
            if self.draws:
                verdict = self._verdict(time.monotonic() - start)
                if verdict is not None:
                    self.stopped = verdict
                    return
            length = 2 * self.chains[0].attacker.length
            list(pool.map(ChainRun.run, self.chains, repeat(length)))
            self.aggregates = self._aggregates()
            yield Progress(
                "sampling",
                self.draws * self.budget.every,
                self.budget.sweeps,
                note="sampling",
                figures={
                    "rhat": max(figure.rhat for figure in self.aggregates),
                    "error": self._largest_share(),
                },
            )

    def _burn_in(self, pool: ThreadPoolExecutor) -> Iterator[Progress]:
        total = self.budget.burn_in
        if self.burned < 0:
            list(pool.map(ChainRun.start, self.chains))
            self.burned = 0
        while self.burned < total:
            first, last = self.burned, min(total, self.burned + max(1, total // _STEPS))
            arguments = (repeat(first), repeat(last), repeat(int(_HOT * total)))
            list(pool.map(ChainRun.burn_in, self.chains, *arguments))
            self.burned = last
            yield Progress("sampling", last, total, note="burn-in")

    def _verdict(self, seconds: float) -> Stop | None:
        budget = self.budget
        precise = self._largest_share() <= budget.precision
        if self._converged() and precise and self._rest_precise():
            return Stop.PRECISION
        if (self.draws + 2 * self.chains[0].attacker.length) * budget.every > budget.sweeps:
            return Stop.SWEEPS
        if budget.seconds is not None and seconds > budget.seconds:
            return Stop.TIME
        return None

    def _converged(self) -> bool:
        enough, limit = _ENOUGH * self.budget.chains, self.budget.rhat
        return all(figure.rhat <= limit and figure.ess >= enough for figure in self.aggregates)

    def _rest_precise(self) -> bool:
        """Tell whether the figures that have no trace, and the beliefs if that is asked, are precise too."""
        means, limit = self._means(), self.budget.cell_precision
        if self.evaluator is None and limit is None:
            return True
        beliefs = [cells.summary()[1] for cells in means.recorded]
        if self.evaluator is not None:
            flips = self._flips(beliefs, self._ratios(means))
            if largest_share_error(means, self.evaluator, flips) > self.budget.precision:
                return False
        return limit is None or _largest_error(beliefs) <= limit

    def _largest_share(self) -> float:
        """Return the largest error of an aggregate as a share: of records, or of 2 N for ABS."""
        whole = 2.0 * (1 if self.evaluator is None else self.evaluator.original.records)
        return max(
            figure.error / whole if figure.name.startswith("abs") else figure.error
            for figure in self.aggregates
        )

    def _means(self) -> BeliefMeans:
        """Return the means of what is recorded, over all chains."""
        recorded = [
            CellMeans([chain.attacker for chain in self.chains], self.shape, self.support),
            CellMeans([chain.learner for chain in self.chains], self.shape),
        ]
        if self.recording.learner_mean:
            learner_mean = [chain.learner_mean for chain in self.chains]
            recorded.append(CellMeans(learner_mean, self.shape))
        return BeliefMeans(recorded, self.recording.by_mean)

    def _traces(self) -> Floats:
        return np.stack([chain.traces for chain in self.chains])

    def _aggregates(self) -> tuple[Aggregate, ...]:
        return traced_aggregates(self._means(), self.recording, self._traces())

    def _flips(self, beliefs: Sequence[Beliefs], ratios: Estimates) -> dict[str, float]:
        """Return the errors of what counts records, given the attacker's and the learner's beliefs by each reading."""
        if self.evaluator is None:
            return {}
        compared = beliefs[2 if self.recording.by_mean else 1]
        return flip_errors(self.evaluator, beliefs[0], compared, ratios)

    def _ratios(self, means: BeliefMeans) -> Estimates:
        if self.evaluator is not None:
            return ratios_of(means, self.evaluator.original.cells[:2])
        every = np.indices(self.shape).reshape(2, -1)
        return ratios_of(means, (every[0], every[1]))

    def _result(self) -> Sampled:
        means = self._means()
        summaries = [cells.summary() for cells in means.recorded]
        beliefs = [belief for _, belief in summaries]
        knowledge = Knowledge(
            release=self.release,
            victims=self.victims,
            joint=summaries[1][0],
            learner=beliefs[1],
            attacker=beliefs[0],
            random_worlds=Beliefs(random_worlds(self.release, self.victims)),
            learner_mean=beliefs[2] if self.recording.learner_mean else None,
            method="sampling",
        )
        ratios = self._ratios(means)
        flips = self._flips(beliefs, ratios)
        figures: tuple[Aggregate, ...] = ()
        if self.evaluator is not None:
            figures = batch_figures(means, self.evaluator, self.aggregates)
        return Sampled(
            knowledge=knowledge,
            aggregates=_with_flips(self.aggregates, flips),
            figures=_with_flips(figures, flips),
            ratios=ratios,
            stopped=self.stopped,
            converged=self._converged(),
            largest_error=_largest_error(beliefs if self.recording.by_mean else beliefs[:2]),
            limit=self.budget.rhat,
            chains=self.budget.chains,
            burn_in=self.budget.burn_in,
            sweeps=self.draws * self.budget.every,
            every=self.budget.every,
            seed=self.budget.seed,
            trace_names=self.recording.traces,
            traces=self._traces(),
            traced=self.recording.traced,
            details=np.stack([chain.details for chain in self.chains]),
        )

    def state(self) -> Arrays:
        arrays: Arrays = {
            "question": np.frombuffer(self._digest(), np.uint8),
            "burned": np.array([self.burned], np.int64),
        }
        for place, chain in enumerate(self.chains):
            arrays |= chain.state(f"chain{place}")
        return arrays

    def restore(self, state: Mapping[str, NDArray[np.generic]]) -> None:
        if "question" not in state or bytes(state["question"].tobytes()) != self._digest():
            raise StudyError(
                "the stored state belongs to another question (release, victims, prior, seed or chains differ); "
                "start anew without it"
            )
        self.burned = int(state["burned"][0])
        for place, chain in enumerate(self.chains):
            chain.restore(f"chain{place}", state)

    def _digest(self) -> bytes:
        release, victims = self.release, self.victims
        budget, recording = self.budget, self.recording
        whole = hashlib.sha256(str(release.scheme).encode())
        arrays: list[NDArray[Any]] = [release.starts, release.sensitive_codes, release.codes]
        arrays += [victims.codes, victims.candidate_starts, victims.candidates, recording.traced]
        arrays += [attribute.betas for attribute in release.attributes]
        arrays.append(release.sensitive.alphas)
        for sets in (*(attribute.sets for attribute in release.attributes), *victims.known):
            arrays += [sets.starts, sets.members]
        arrays.append(recording.people if recording.weights is None else recording.weights)
        for array in arrays:
            whole.update(str(array.shape).encode() + np.ascontiguousarray(array).tobytes())
        numbers = (budget.seed, budget.chains, budget.burn_in, budget.every, recording.batches)
        kinds = (recording.length, recording.learner_mean, recording.by_mean, recording.traces)
        whole.update(repr((numbers, kinds)).encode())
        return whole.digest()


def _check(shape: tuple[int, int], original: Original | None, traced: Sequence[int]) -> None:
    if not shape[0]:
        raise DataError("there is no victim; give at least one")
    if original is not None:
        people, width = original.weights.shape
        if people > shape[0] or width != shape[1]:
            raise DataError(
                "the original has {people} victims and the question {victims}; take both from victims_of_table",
                people=people,
                victims=shape[0],
            )
    for victim in traced:
        if not 0 <= victim < shape[0]:
            raise DataError(
                "victim {victim} cannot be traced; there are {victims}, from 0",
                victim=str(victim),
                victims=shape[0],
            )


def _most_batches(
    model: SamplingModel, shape: tuple[int, int], learner_mean: bool, budget: SamplingBudget
) -> int:
    """Return how many batch means per cell memory allows."""
    cells = shape[0] * shape[1]
    for batches in _MOST_BATCHES:
        means = RunningMeans.size(len(model.support), batches)
        means += RunningMeans.size(cells * (2 if learner_mean else 1), batches)
        size = budget.chains * (means + 8 * cells)
        if size <= budget.memory:
            return batches
    raise BudgetError(
        "the means of {victims} victims and {values} sensitive values take {size} GiB, more than the "
        "{memory} GiB allowed; ask for fewer victims or chains, or leave out learner_mean",
        victims=shape[0],
        values=str(shape[1]),
        size=number(size / 2**30, ".1f"),
        memory=number(budget.memory / 2**30, ".1f"),
    )


def _with_flips(figures: tuple[Aggregate, ...], flips: dict[str, float]) -> tuple[Aggregate, ...]:
    return tuple(
        replace(figure, error=max(figure.error, flips.get(figure.name, 0.0))) for figure in figures
    )


def _largest_error(beliefs: Sequence[Beliefs]) -> float:
    errors = np.concatenate(
        [belief.errors.ravel() for belief in beliefs if belief.errors is not None]
    )
    return float(errors[np.isfinite(errors)].max(initial=0.0))


def model_of(release: Release, victims: Victims) -> SamplingModel:
    """Lay out a release and its victims."""
    return (VerticalModel if release.is_vertical else HorizontalModel)(release, victims)


# One chain at work.
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
    """Per victim and sensitive value, how many records the original has; None: not given. Victims behind those of the
    original have none."""
    people: Integers
    """Per victim, how many people it stands for."""
    batches: int
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
        self._dense = np.empty((len(learner.victim_sets), len(learner.alphas)))
        cells = self._dense.size

        def means(many: int) -> RunningMeans:
            return RunningMeans.empty(many, most=recording.batches, length=recording.length)

        self.attacker = means(len(model.support))
        self.learner = means(cells)
        self.learner_mean = means(cells if recording.learner_mean else 0)
        self._traces: list[list[float]] = []
        self._details: list[NDArray[np.float32]] = []

    @property
    def traces(self) -> Floats:
        """The scalar traces, draw by quantity."""
        return np.array(self._traces).reshape(-1, len(self._recording.traces))

    @property
    def details(self) -> NDArray[np.float32]:
        """Draws of the traced victims: draw × (attacker, learner, learner by (6)) × victim × sensitive value."""
        shape = (len(self._traces), 3, len(self._recording.traced), self._dense.shape[1])
        return np.array(self._details, np.float32).reshape(shape)

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
        self.attacker.restore(f"{name}.attacker", state)
        self.learner.restore(f"{name}.learner", state)
        self.learner_mean.restore(f"{name}.learner_mean", state)


@compiled
def _success(dense: Floats, people: Integers) -> float:
    """Return the mean greatest probability over people."""
    success, counted = 0.0, 0
    for victim in range(len(dense)):
        total = dense[victim].sum()
        if total > 0:
            success += people[victim] * dense[victim].max() / total
            counted += people[victim]
    return success / max(counted, 1)


@compiled
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


# From chains to figures of the table.
def traced_aggregates(
    means: BeliefMeans, recording: Recording, traces: Floats
) -> tuple[Aggregate, ...]:
    """Return the figures of which every draw is kept (chains × draws × names)."""
    weights, people = recording.weights, recording.people
    halves = [_measures(beliefs, weights, people) for beliefs in means.halves()]
    whole = _measures(means.whole(), weights, people)
    rhat, plain, sizes = rank_rhat(traces), split_rhat(traces), bulk_ess(traces)
    z = np.abs(geweke(traces)).max(axis=0)
    return tuple(
        Aggregate(
            name=name,
            value=whole[name],
            error=_error([figures[name] for figures in halves]),
            rhat=float(rhat[place]),
            plain_rhat=float(plain[place]),
            ess=float(sizes[place]),
            geweke=float(z[place]),
            weiss=_weiss(traces[:, :, place]),
        )
        for place, name in enumerate(recording.traces)
        if name != OF_CHAIN
    )


def largest_share_error(
    means: BeliefMeans, evaluator: Evaluator, flips: Mapping[str, float]
) -> float:
    """Return the largest error of a figure that is a share, by half chains or by records near a step."""
    errors = [
        max(_error(values), flips.get(name, 0.0))
        for name, values in _of_halves(means, evaluator).items()
        if is_share(name)
    ]
    return max((error for error in errors if np.isfinite(error)), default=0.0)


def batch_figures(
    means: BeliefMeans, evaluator: Evaluator, traced: tuple[Aggregate, ...]
) -> tuple[Aggregate, ...]:
    """Return the evaluator's figures of which no draw is kept, with R-hat and ESS from batches."""
    known = {figure.name for figure in traced}
    whole = evaluator.figures(means.whole())
    halves = _of_halves(means, evaluator)
    chains = [
        [evaluator.figures(batch) for batch in means.batches(chain)]
        for chain in range(len(means.recorded[0].chains))
    ]
    figures = []
    for name in (name for name in whole if name not in known):
        trace = np.array([[batch[name] for batch in batches] for batches in chains])
        known_well = trace.shape[1] >= LEAST_DRAWS and bool(np.isfinite(trace).all())
        figures.append(
            Aggregate(
                name=name,
                value=whole[name],
                error=_error(halves[name]),
                rhat=float(rank_rhat(trace)[0]) if known_well else float("nan"),
                plain_rhat=float(split_rhat(trace)[0]) if known_well else float("nan"),
                ess=float(bulk_ess(trace)[0]) if known_well else float("nan"),
                geweke=float("nan"),
                weiss=float("nan"),
                basis=Basis.BATCHES,
            )
        )
    return tuple(figures)


def _of_halves(means: BeliefMeans, evaluator: Evaluator) -> dict[str, list[float]]:
    figures: dict[str, list[float]] = {}
    for beliefs in means.halves():
        for name, value in evaluator.figures(beliefs).items():
            figures.setdefault(name, []).append(value)
    return figures


def _error(values: list[float]) -> float:
    return float(np.std(values, ddof=1) / np.sqrt(len(values)))


def _weiss(trace: Floats) -> float:
    """Return the least p-value over chains (chains × draws), draws being told apart by quarters of all of them.

    It is not a number where there are too few draws for the test.
    """
    if trace.shape[1] < SEGMENTS * LEAST_DRAWS:
        return float("nan")
    limits = np.unique(np.quantile(trace, [0.25, 0.5, 0.75]))
    categories = np.searchsorted(limits, trace, side="left")
    return min(weiss(chain, segments=SEGMENTS).p_value for chain in categories)


def _measures(beliefs: MeanBeliefs, weights: Integers | None, people: Integers) -> dict[str, float]:
    """Return the figures of which every draw is kept, of mean beliefs."""
    figures = {}
    for name, probabilities in (("attacker", beliefs.attacker), ("learner", beliefs.learner)):
        known = ~np.isnan(probabilities[:, 0])
        highest = probabilities[known].max(axis=1, keepdims=True, initial=0.0)
        counts = people[known, None] if weights is None else weights[known]
        total = int(counts.sum())
        success = float((counts * highest).sum())
        figures[f"{name}_success"] = success / total if total else float("nan")
        if weights is not None:
            figures |= threat_at(probabilities[known], times=counts).figures(name)
    if weights is not None:
        figures["rgt"] = max(0.0, figures["gt_attacker"] - figures["gt_learner"])
    return figures
