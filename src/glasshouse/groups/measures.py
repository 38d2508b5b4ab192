"""How much each record is threatened, and the release as a whole (Boreale, Corradi and Viscardi 2020, section IV).

The evaluator has the original. A record (s, r) is *threatened* by an adversary if s has the greatest probability in her
belief about r (definition 1); ties count as threatened, and beside it stands what a random choice among equals would
give. Its *relative* threat is Ti = p_A(s | r) / p_L(s | r): how many times likelier the attacker, who knows that the
person is in the table, finds the truth than anyone who learned from the release about the population.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from fractions import Fraction
from functools import cached_property
from math import isfinite
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from glasshouse.errors import StudyError
from glasshouse.groups.beliefs import Beliefs, Faithfulness, Knowledge
from glasshouse.groups.sampling_results import Aggregate, Estimates, Sampled
from glasshouse.groups.victims import Original
from glasshouse.language import text

TIE = 1e-9
"""Two probabilities are equal if they differ by no more than this share: rounding does not break ties."""
FIGURES = {
    "global_threat": "gt_{}",
    "global_threat_random_ties": "gt_{}_random_ties",
    "absolute_error": "abs_{}",
}
"""What is told of each adversary, and its name among `Measures.figures`."""
THRESHOLDS = (1.5, 2.0, 4.0, 8.0)
"""The relative threats that summaries tell the share of records above."""


class Reading(StrEnum):
    """Which learner the attacker is compared with; the two differ, although both are called p_L(s | r, t*)."""

    RATIO_OF_EXPECTATIONS = "5"
    """E[f(s, r)] / Σ_s E[f(s, r)], from equation (5)."""
    EXPECTATION_OF_RATIO = "6"
    """E[f(s | r)], equation (6)."""


@dataclass(frozen=True)
class Threat:
    """How well one adversary does against the records of the original."""

    levels: NDArray[np.float64]
    """Per record, the probability that the adversary gives to its true sensitive value: its threat level."""
    threatened: NDArray[np.bool_]
    """Per record, whether no other value has a greater probability."""
    chances: NDArray[np.float64]
    """Per record, the chance that a choice at random among the values of greatest probability is right."""
    undecided: int
    """How many records may or may not be threatened, given the Monte-Carlo errors (two standard errors); 0 if exact."""
    certainty: Estimates | None = None
    """Per record, its threat level with Monte-Carlo error, R-hat and ESS; None: exact."""

    @property
    def records(self) -> int:
        """The number of records."""
        return len(self.levels)

    @property
    def share(self) -> Fraction:
        """The share of threatened records, ties counting: GT, equation (17)."""
        return Fraction(int(np.count_nonzero(self.threatened)), self.records)

    @property
    def share_at_random(self) -> float:
        """The share of records guessed right on average if ties are broken at random."""
        return float(self.chances.mean())

    @property
    def absolute_error(self) -> float:
        """ABS = Σ_i Σ_s |1{s_i = s} − p(s | r_i)| = Σ_i 2 (1 − p(s_i | r_i))."""
        return float(2 * (1 - self.levels).sum())

    def to_dict(self) -> dict[str, Any]:
        """Return what holds for the table, in plain values."""
        return {
            "global_threat": float(self.share),
            "threatened": int(np.count_nonzero(self.threatened)),
            "global_threat_random_ties": self.share_at_random,
            "absolute_error": self.absolute_error,
            "undecided": self.undecided,
        }


@dataclass(frozen=True)
class Histogram:
    """How log₂ Ti is distributed over threatened records."""

    edges: NDArray[np.float64]
    """The limits of the bars."""
    counts: NDArray[np.int64]
    """Per bar, how many records."""
    mean: float
    """The mean of log₂ Ti; not a number if there is no record."""
    skewness: float
    """Its third standardised moment; not a number if all are equal."""

    def to_dict(self) -> dict[str, Any]:
        """Return it in plain values."""
        return {
            "edges": self.edges.tolist(),
            "counts": self.counts.tolist(),
            "mean": _number(self.mean),
            "skewness": _number(self.skewness),
        }


@dataclass(frozen=True)
class Measures:
    """All measures of one release, per record and for the table."""

    release: str
    """The name of the release."""
    method: str
    """How learner and attacker were computed."""
    reading: Reading
    """Which learner was taken."""
    attacker: Threat
    """Under p_A."""
    learner: Threat
    """Under p_L."""
    random_worlds: Threat
    """Under p_RW."""
    ideal: Threat | None
    """Under p_I, if that was computed."""
    baseline: Fraction
    """The share of the most frequent sensitive value: right guesses of someone who knows only that."""
    faithfulness: Faithfulness | None = None
    """How faithful the release is to the original, if points were drawn."""
    positions: NDArray[np.int64] | None = None
    """Per record, its position in the file of the original; None: they are in its order, and all of them."""
    exceeds: float = 2.0
    """The relative threat that is asked about: of which share of the records it is exceeded."""
    figures: Mapping[str, Aggregate] = field(default_factory=dict)
    """By the names of `glasshouse.groups.evaluator`, error, R-hat and ESS of what holds for the table; none: exact."""
    ratios: Estimates | None = None
    """Per record, its relative threat with Monte-Carlo error, R-hat and ESS; None: exact."""

    @property
    def is_exact(self) -> bool:
        """Whether nothing was sampled, but for the points of faithfulness."""
        return self.attacker.certainty is None and self.learner.certainty is None

    @property
    def thresholds(self) -> tuple[float, ...]:
        """The relative threats that summaries tell the share of records above."""
        return thresholds_with(self.exceeds)

    @property
    def records(self) -> int:
        """The number of records."""
        return self.attacker.records

    @cached_property
    def relative(self) -> NDArray[np.float64]:
        """Per record, the relative threat level Ti = p_A / p_L of its true value, equation (16), threatened or not."""
        ratio: NDArray[np.float64] = self.attacker.levels / self.learner.levels
        return ratio

    @property
    def relative_global_threat(self) -> float:
        """RGT_A = max(0, GT_A − GT_L), equation (18)."""
        return float(max(Fraction(0), self.attacker.share - self.learner.share))

    @property
    def highest_relative(self) -> float:
        """The greatest Ti of a record that is threatened by the attacker; not a number if none is."""
        own = self.relative[self.attacker.threatened]
        return float(own.max()) if len(own) else float("nan")

    def share_above(self, threshold: float, *, threatened: bool = True) -> Fraction:
        """Return the share of all records with a Ti above a threshold: rounding does not put one above it.

        Args:
            threshold: The threshold.
            threatened: Whether only those count whose true value the attacker would name.
        """
        above = self.relative > threshold * (1 + TIE)
        if threatened:
            above &= self.attacker.threatened
        return Fraction(int(np.count_nonzero(above)), self.records)

    def histogram(self, by: str = "attacker", *, width: float = 0.25) -> Histogram:
        """Return the distribution of log₂ Ti over the records that an adversary threatens.

        Args:
            by: Who threatens them: "attacker", "learner", "random_worlds" or "ideal".
            width: The width of a bar.
        """
        if width <= 0:
            raise StudyError(
                text(
                    "the bars of a histogram have the width {width}; give one above 0",
                    width=str(width),
                )
            )
        ratio = self.relative[self._of(by).threatened]
        logs = np.log2(ratio[ratio > 0])
        if not len(logs):
            return Histogram(np.zeros(1), np.zeros(0, np.int64), float("nan"), float("nan"))
        lowest = int(np.floor(logs.min() / width))
        highest = max(lowest + 1, int(np.ceil(logs.max() / width)))
        edges = (np.arange(lowest, highest + 1) * width).astype(np.float64)
        counts = np.histogram(logs, edges)[0].astype(np.int64)
        deviations = logs - logs.mean()
        spread = np.sqrt((deviations**2).mean())
        skewness = float((deviations**3).mean() / spread**3) if spread > TIE else float("nan")
        return Histogram(edges, counts, float(logs.mean()), skewness)

    def scatter(self, by: str = "attacker", *, bars: int = 20) -> NDArray[np.int64]:
        """Return how many of the records that an adversary threatens have p_L (row) and p_A (column) in each bar."""
        own = self._of(by).threatened
        limits = np.linspace(0, 1, bars + 1)
        counts = np.histogram2d(
            self.learner.levels[own], self.attacker.levels[own], [limits, limits]
        )
        return counts[0].astype(np.int64)

    def to_dict(self) -> dict[str, Any]:
        """Return what holds for the table in plain values; no record is told."""
        told: dict[str, Any] = {
            "release": self.release,
            "method": self.method,
            "learner_reading": self.reading.value,
            "records": self.records,
            "exact": self.is_exact,
            "baseline": float(self.baseline),
        }
        told |= {name: own.to_dict() for name, own in self.adversaries().items()}
        told["relative_global_threat"] = self.relative_global_threat
        told["highest_relative_threat"] = _number(self.highest_relative)
        told["highest_relative_threat_of_all"] = _number(float(self.relative.max()))
        told["share_above"] = {
            str(limit): float(self.share_above(limit)) for limit in self.thresholds
        }
        told["share_above_of_all"] = {
            str(limit): float(self.share_above(limit, threatened=False))
            for limit in self.thresholds
        }
        told["log2_relative_threat"] = {
            by: self.histogram(by).to_dict() for by in ("attacker", "learner")
        }
        told["faithfulness"] = None if self.faithfulness is None else self.faithfulness.to_dict()
        told["uncertainty"] = {name: own.to_dict() for name, own in self.figures.items()} or None
        return told

    def to_frame(self) -> pa.Table:
        """Return one row per adversary: what holds for the table, with Monte-Carlo error, R-hat and ESS if sampled."""
        rows = [
            {"adversary": name, **own.to_dict(), **self._worth(name)}
            for name, own in self.adversaries().items()
        ]
        return pa.Table.from_pylist(rows)

    def _worth(self, adversary: str) -> dict[str, float | None]:
        """Return error, R-hat and ESS of an adversary's numbers; None: they are exact."""
        columns: dict[str, float | None] = {}
        for title, name in FIGURES.items():
            own = self.figures.get(name.format(adversary))
            for what in ("error", "rhat", "ess"):
                known = own is not None
                columns[f"{title}_{what}"] = _number(getattr(own, what)) if known else None
        return columns if self.figures else {}

    def records_frame(self) -> pa.Table:
        """Return one row per record, in the order of the original: about people, and not for publication.

        What was sampled has its Monte-Carlo error, R-hat and ESS beside it.
        """
        numbers = np.arange(self.records) if self.positions is None else self.positions
        columns: dict[str, NDArray[Any]] = {"record": numbers + 1}
        for name, own in self.adversaries().items():
            columns[name] = own.levels
            columns |= _certainty(name, own.certainty)
            columns[f"threatened_by_{name}"] = own.threatened
        columns["relative_threat"] = self.relative
        columns |= _certainty("relative_threat", self.ratios)
        return pa.table({name: pa.array(column) for name, column in columns.items()})

    def adversaries(self) -> dict[str, Threat]:
        """Return how well each adversary does, by its name."""
        named = {
            "attacker": self.attacker,
            "learner": self.learner,
            "random_worlds": self.random_worlds,
            "ideal": self.ideal,
        }
        return {name: own for name, own in named.items() if own is not None}

    def _of(self, by: str) -> Threat:
        adversaries = self.adversaries()
        if by not in adversaries:
            raise StudyError(
                text(
                    'there is no adversary "{name}"; there are {adversaries}',
                    name=by,
                    adversaries=", ".join(adversaries),
                )
            )
        return adversaries[by]


def measure(
    knowledge: Knowledge,
    original: Original,
    *,
    reading: Reading = Reading.RATIO_OF_EXPECTATIONS,
    faithfulness: Faithfulness | None = None,
    exceeds: float = 2.0,
    sampled: Sampled | None = None,
) -> Measures:
    """Measure how much the records of the original are threatened.

    Args:
        knowledge: What each adversary believes; its first victims are those of the original.
        original: The original, from `glasshouse.groups.victims.victims_of_table`.
        reading: Which learner the attacker is compared with.
        faithfulness: How faithful the release is, if that was estimated.
        exceeds: The relative threat that is asked about.
        sampled: How the knowledge was sampled, with the same original and reading; None: it is exact.

    Raises:
        StudyError: Knowledge and original are not about the same people, or reading (6) was not computed.
    """
    if not np.array_equal(knowledge.victims.codes[: len(original.codes)], original.codes):
        raise StudyError(
            text("the victims are not those of the original; take both from victims_of_table")
        )
    learner = knowledge.learner
    if reading is Reading.EXPECTATION_OF_RATIO:
        if knowledge.learner_mean is None:
            raise StudyError(
                text("reading (6) of the learner was not computed; ask for it with learner_mean")
            )
        learner = knowledge.learner_mean
    counts = original.weights.sum(axis=0)
    own = threat_under(knowledge.attacker, original), threat_under(learner, original)
    return Measures(
        release=knowledge.release.name,
        method=knowledge.method,
        reading=reading,
        attacker=own[0],
        learner=own[1],
        random_worlds=threat_under(knowledge.random_worlds, original),
        ideal=None if knowledge.ideal is None else threat_under(knowledge.ideal, original),
        baseline=Fraction(int(counts.max()), original.records),
        faithfulness=faithfulness,
        positions=original.positions,
        exceeds=exceeds,
        figures={} if sampled is None else _figures(sampled),
        ratios=_drawn(own[0], own[1]) if sampled is None else _of_records(sampled.ratios, original),
    )


def _drawn(attacker: Threat, learner: Threat) -> Estimates | None:
    """Return relative threats if only the learner was drawn: the error of p_L, relative to it (delta method)."""
    if learner.certainty is None:
        return None
    values = attacker.levels / learner.levels
    unknown = np.full(len(values), np.nan)
    return Estimates(values, values * learner.certainty.errors / learner.levels, unknown, unknown)


def thresholds_with(exceeds: float) -> tuple[float, ...]:
    """Return the relative threats that summaries tell, one that is asked about among them.

    >>> thresholds_with(3)
    (1.5, 2.0, 3.0, 4.0, 8.0)
    """
    return tuple(sorted({*THRESHOLDS, float(exceeds)}))


def _figures(sampled: Sampled) -> dict[str, Aggregate]:
    return {own.name: own for own in (*sampled.aggregates, *sampled.figures)}


def _of_records(ratios: Estimates, original: Original) -> Estimates:
    """Return, per record, what is known of the cell of its victim and sensitive value."""
    cell = np.full(original.weights.shape, -1, np.int64)
    cell[np.nonzero(original.weights)] = np.arange(len(ratios.values))
    own = cell[original.victim, original.sensitive]
    return ratios.taken(own)


def _certainty(name: str, own: Estimates | None) -> dict[str, NDArray[Any]]:
    if own is None:
        return {}
    return {f"{name}_error": own.errors, f"{name}_rhat": own.rhat, f"{name}_ess": own.ess}


def threat_under(beliefs: Beliefs, original: Original) -> Threat:
    """Return how well an adversary with these beliefs does against the records of the original."""
    own = beliefs.probabilities[: len(original.codes)]
    equals = _equals(own)
    chances = equals / equals.sum(axis=1, keepdims=True)
    cells = original.victim, original.sensitive
    return Threat(
        levels=own[cells],
        threatened=equals[cells],
        chances=chances[cells],
        undecided=_undecided(beliefs, original),
        certainty=_levels(beliefs, cells),
    )


def _levels(
    beliefs: Beliefs, cells: tuple[NDArray[np.int64], NDArray[np.int32]]
) -> Estimates | None:
    if beliefs.errors is None:
        return None
    unknown = np.full(beliefs.errors.shape, np.nan)
    rhat = unknown if beliefs.rhat is None else beliefs.rhat
    ess = unknown if beliefs.ess is None else beliefs.ess
    return Estimates(beliefs.probabilities[cells], beliefs.errors[cells], rhat[cells], ess[cells])


def _number(value: float) -> float | None:
    """Return a number that JSON can hold, or None."""
    return value if isfinite(value) else None


def _equals(own: NDArray[np.float64]) -> NDArray[np.bool_]:
    marks: NDArray[np.bool_] = own >= own.max(axis=1, keepdims=True) * (1 - TIE)
    return marks


def _undecided(beliefs: Beliefs, original: Original) -> int:
    """Count the records whose value and its strongest rival are within two standard errors of each other."""
    if beliefs.errors is None:
        return 0
    people = len(original.codes)
    own, errors = beliefs.probabilities[:people], beliefs.errors[:people]
    count = 0
    for s in range(own.shape[1]):
        others = own.copy()
        others[:, s] = -1
        rival = others.argmax(axis=1)
        rows = np.arange(people)
        margin = np.abs(own[:, s] - own[rows, rival])
        both = np.sqrt(errors[:, s] ** 2 + errors[rows, rival] ** 2)
        count += int(original.weights[(margin < 2 * both), s].sum())
    return count
