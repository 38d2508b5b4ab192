"""What a sampling run found, how sure it is, and why it stopped."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from enum import StrEnum
from importlib import import_module
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from glasshouse.errors import StudyError
from glasshouse.groups.beliefs import Knowledge
from glasshouse.groups.diagnostics import GEWEKE, WEISS, WeissTest, disagreement
from glasshouse.groups.titles import figure_title
from glasshouse.language import number, speaking, text

APART = 1.05
"""R-hat above which chains are said to be in different modes."""


class Stop(StrEnum):
    """Why a run stopped."""

    PRECISION = "precision"
    """The requested precision was reached, and R-hat is within its limit."""
    SWEEPS = "sweeps"
    """The limit of sweeps was reached before."""
    TIME = "time"
    """The limit of time was reached before."""


class Basis(StrEnum):
    """What R-hat and the effective sample size of a figure are made of."""

    DRAWS = "draws"
    """The figure of the beliefs that each single draw would give."""
    BATCHES = "batches"
    """The figure of the mean beliefs of each batch of draws, where that of a single draw means nothing."""


@dataclass(frozen=True)
class Aggregate:
    """A number about the whole table, and how well the chains know it."""

    name: str
    """What it is: ``gt_attacker``, ``abs_learner``, ``rgt``, ``highest_ti`` … (with an original:
    `glasshouse.groups.evaluator`), or ``attacker_success``, ``learner_success``: the mean greatest probability."""
    value: float
    """The measure of the mean beliefs over all chains."""
    error: float
    """Its Monte-Carlo standard error: from the same measure of each half chain."""
    rhat: float
    """Rank-normalised split R-hat of the measure, draw by draw or batch by batch."""
    plain_rhat: float
    """Split R-hat without ranks."""
    ess: float
    """The bulk effective sample size of the measure, in draws or in batches."""
    geweke: float
    """The greatest |z| of Geweke's test over the chains; not a number for batches, which are too few."""
    weiss: float
    """The least p-value of the Weiß test over the chains, the draws being told apart by the quarters of their
    distribution; not a number for batches."""
    basis: Basis = Basis.DRAWS
    """What R-hat and the effective sample size are counted in."""

    def to_dict(self) -> dict[str, Any]:
        """Return it in plain values; what is not finite is None."""
        own = {name: getattr(self, name) for name in self.__dataclass_fields__}
        return {
            name: None if isinstance(x, float) and not math.isfinite(x) else x
            for name, x in own.items()
        }


@dataclass(frozen=True)
class Estimates:
    """Sampled numbers about single people, beliefs or relative threats, and how well the chains know each."""

    values: NDArray[np.float64]
    """The numbers."""
    errors: NDArray[np.float64]
    """The Monte-Carlo standard error of each."""
    rhat: NDArray[np.float64]
    """Split R-hat of each; not a number where it is unknown."""
    ess: NDArray[np.float64]
    """The effective sample size of each, that of a relative threat in batches; not a number where it is unknown."""

    def taken(self, places: NDArray[np.int64]) -> Estimates:
        """Return some of them."""
        return Estimates(*(own[places] for own in (self.values, self.errors, self.rhat, self.ess)))


@dataclass(frozen=True)
class Progress:
    """How far a run is."""

    phase: str
    """``burn-in`` or ``sampling``."""
    sweeps: int
    """How many sweeps each chain has made in this phase."""
    most: int
    """How many it makes at most."""
    rhat: float | None = None
    """The greatest R-hat of an aggregate so far."""
    ess: float | None = None
    """The least effective sample size of an aggregate so far."""
    error: float | None = None
    """The largest Monte-Carlo error of an aggregate so far, as a share."""


@dataclass(frozen=True)
class Sampled:
    """What was learned by sampling, with its uncertainty."""

    knowledge: Knowledge
    """The beliefs of learner and attacker about every victim, with error, R-hat and ESS of each."""
    aggregates: tuple[Aggregate, ...]
    """Numbers about the whole table of which every draw is kept; a run stops by them."""
    figures: tuple[Aggregate, ...]
    """The evaluator's other numbers about the whole table, known batch by batch; none without an original."""
    ratios: Estimates
    """Ti = p_A / p_L: per victim and sensitive value that the original has records of, as `Evaluator.cells` lists
    them; without an original per victim and sensitive value, victim after victim."""
    stopped: Stop
    """Why the run stopped."""
    converged: bool
    """Whether R-hat of every aggregate is within the limit, with enough effective draws behind it."""
    largest_error: float
    """The largest Monte-Carlo error of any belief of learner (5) or attacker."""
    limit: float
    """R-hat above this counts as disagreement of the chains."""
    chains: int
    """How many chains ran."""
    burn_in: int
    """How many sweeps each chain made before anything was recorded."""
    sweeps: int
    """How many sweeps each chain made after that."""
    every: int
    """A draw was recorded after so many sweeps."""
    seed: int
    """What all random numbers follow from."""
    trace_names: tuple[str, ...] = field(repr=False)
    """The names of the traces."""
    traces: NDArray[np.float64] = field(repr=False)
    """The aggregates draw by draw: chains × draws × names."""
    traced: NDArray[np.int64] = field(repr=False)
    """The victims of whom every draw was kept."""
    details: NDArray[np.float32] = field(repr=False)
    """Their beliefs: chains × draws × (attacker, learner (5), learner (6)) × victims × sensitive values."""
    weiss: tuple[WeissTest, ...] = field(repr=False)
    """Per chain and traced victim, the Weiß test of what was drawn for it."""

    @property
    def draws(self) -> int:
        """How many draws each chain recorded."""
        return int(self.traces.shape[1])

    def aggregate(self, name: str) -> Aggregate:
        """Return an aggregate by its name.

        Raises:
            StudyError: There is no such aggregate.
        """
        everything = (*self.aggregates, *self.figures)
        for own in everything:
            if own.name == name:
                return own
        names = ", ".join(own.name for own in everything)
        raise StudyError(text('"{name}" was not sampled; there is {names}', name=name, names=names))

    def to_dict(self) -> dict[str, Any]:
        """Return the run and its aggregates in plain values; beliefs are in ``knowledge``."""
        return {
            "method": "sampling",
            "stopped": str(self.stopped),
            "converged": self.converged,
            "multimodal": self.multimodal,
            "largest_error": self.largest_error,
            "chains": self.chains,
            "burn_in": self.burn_in,
            "sweeps": self.sweeps,
            "every": self.every,
            "seed": self.seed,
            "aggregates": [own.to_dict() for own in self.aggregates],
            "figures": [own.to_dict() for own in self.figures],
            "weiss": [own.to_dict() for own in self.weiss],
            "warnings": self._warnings_in_english(),
        }

    @property
    def multimodal(self) -> bool:
        """Whether chains disagree so much that they are in different modes, or hardly move between them."""
        return any(own.rhat > APART for own in self.aggregates)

    @property
    def warnings(self) -> tuple[str, ...]:
        """What a reader has to know, a sentence each, in the language that is spoken."""
        found = (self._unfinished(), self._apart(), self._stuck())
        return tuple(warning for warning in found if warning is not None)

    def _warnings_in_english(self) -> list[str]:
        """Return the warnings as programs read them: the same in every language."""
        with speaking("en"):
            return list(self.warnings)

    def _unfinished(self) -> str | None:
        if self.stopped is Stop.SWEEPS:
            return text(
                "the requested precision was not reached within the limit of sweeps; errors are as stated, and a "
                "longer run can be continued from here"
            )
        if self.stopped is Stop.TIME:
            return text(
                "the requested precision was not reached within the limit of seconds; errors are as stated, and a "
                "longer run can be continued from here"
            )
        return None

    def _apart(self) -> str | None:
        apart = [figure_title(own.name) for own in self.aggregates if own.rhat > APART]
        if not apart:
            return None
        return text(
            "the chains disagree on {figures} (R-hat up to {rhat}): the posterior has several modes that they hardly "
            "move between; the figures are an average over the modes that were found",
            figures="; ".join(apart),
            rhat=number(max(own.rhat for own in self.aggregates), ".2f"),
        )

    def _stuck(self) -> str | None:
        """Say if the tests of single chains pass where R-hat does not."""
        suspect = [
            own
            for own in self.aggregates
            if own.geweke <= GEWEKE and not own.weiss < WEISS and own.rhat > self.limit
        ]
        if not suspect:
            return None
        return disagreement(
            "; ".join(figure_title(own.name) for own in suspect),
            rhat=max(own.rhat for own in suspect),
            geweke_z=np.array([own.geweke for own in suspect]),
            weiss_p=[own.weiss for own in suspect if not np.isnan(own.weiss)],
            limit=self.limit,
        )

    def to_frame(self) -> pa.Table:
        """Return one row per number about the table."""
        return pa.Table.from_pylist([own.to_dict() for own in (*self.aggregates, *self.figures)])

    def to_inference_data(self) -> Any:
        """Return the traces as ArviZ's InferenceData: aggregates, and the beliefs about traced victims.

        Raises:
            StudyError: ArviZ is not installed.
        """
        try:
            arviz = import_module("arviz")
        except ImportError:
            raise StudyError(
                text("ArviZ is not installed; install it with: pip install arviz")
            ) from None
        return arviz.from_dict(**self.inference_content())

    def inference_content(self) -> dict[str, Any]:
        """Return what ArviZ's ``from_dict`` is given: traces (chains × draws × …), their dimensions and labels."""
        posterior: dict[str, Any] = {
            name: self.traces[:, :, place] for place, name in enumerate(self.trace_names)
        }
        if len(self.traced):
            for place, name in enumerate(("attacker", "learner", "learner_mean")):
                own = self.details[:, :, place]
                if not np.isnan(own).all():
                    posterior[name] = own
        dims = {name: ["victim", "sensitive"] for name in posterior if posterior[name].ndim == 4}
        values = list(self.knowledge.release.sensitive.values)
        coords = {"victim": self.traced.tolist(), "sensitive": values} if dims else None
        return {"posterior": posterior, "dims": dims, "coords": coords}
