"""How much each record is threatened, and the release as a whole (Boreale, Corradi and Viscardi 2020, section IV).

The evaluator has the original. A record (s, r) is *threatened* by an adversary if s has the greatest probability in her
belief about r (definition 1); ties count as threatened, and beside it stands what a random choice among equals would
give. Its *relative* threat is Ti = p_A(s | r) / p_L(s | r): how many times likelier the attacker, who knows that the
person is in the table, finds the truth than anyone who learned from the release about the population.

`Threat` is how one adversary does, `RelativeThreat` the attacker beside the learner. Their entries are records
(`measure`), or victims and sensitive values with the number of records behind each (`Evaluator`): the latter is fast
enough to be repeated for every half chain and batch of a sampler; how far figures differ there is how well they are
known.

Figures that *count* (shares of threatened records) are step functions of beliefs. If a record is nearer to the step
than the error of its belief, it is counted or not by chance in every half chain *and* in the whole run: the spread over
half chains, divided by the root of their number, understates what is left (up to that root). `flip_errors` lets each
record count with the probability that its normal distribution gives, p = Φ(margin / error), and a figure whose
influence of the record is g has the variance Σ g² p (1 − p).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from enum import StrEnum
from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray
from scipy.special import ndtr

from glasshouse.arrays import Codes, Flags, Floats, Integers
from glasshouse.errors import StudyError
from glasshouse.groups.beliefs import (
    Beliefs,
    Faithfulness,
    Knowledge,
    Points,
    contributions,
    finite,
)
from glasshouse.groups.estimates import Aggregate, Estimates, MeanBeliefs, Sampled
from glasshouse.groups.victims import Original

TIE = 1e-9
"""Two probabilities are equal if they differ by no more than this share: rounding does not break ties."""
FIGURES = {
    "global_threat": "gt_{}",
    "global_threat_random_ties": "gt_{}_random_ties",
    "absolute_error": "abs_{}",
}
"""What is told of each adversary, and its name among `Measures.figures`."""
_FARTHEST = 4.0
"""Records further from the mean than so many deviations change the skewness no more than these: it is not linear."""
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

    levels: Floats
    """Per record, the probability that the adversary gives to its true sensitive value: its threat level."""
    threatened: Flags
    """Per record, whether no other value has a greater probability."""
    chances: Floats
    """Per record, the chance that a choice at random among the values of greatest probability is right."""
    undecided: int = 0
    """How many records may or may not be threatened, given the Monte-Carlo errors (two standard errors); 0 if exact."""
    certainty: Estimates | None = None
    """Per record, its threat level with Monte-Carlo error, R-hat and ESS; None: exact."""
    times: Integers | None = None
    """How many records each entry stands for; None: one each."""

    @cached_property
    def counts(self) -> Integers:
        """Per entry, how many records it stands for."""
        return np.ones(self.levels.shape, np.int64) if self.times is None else self.times

    @property
    def records(self) -> int:
        """The number of records."""
        return int(self.counts.sum())

    @property
    def share(self) -> Fraction:
        """The share of threatened records, ties counting: GT, equation (17)."""
        return Fraction(int(self.counts[self.threatened].sum()), self.records)

    @property
    def share_at_random(self) -> float:
        """The share of records guessed right on average if ties are broken at random."""
        return float((self.counts * self.chances).sum() / self.records)

    @property
    def absolute_error(self) -> float:
        """ABS = Σ_i Σ_s |1{s_i = s} − p(s | r_i)| = Σ_i 2 (1 − p(s_i | r_i))."""
        return float(2 * (self.counts * (1 - self.levels)).sum())

    def figures(self, adversary: str) -> dict[str, float]:
        """Return what holds for the table, by the names of figures."""
        values = float(self.share), self.share_at_random, self.absolute_error
        names = (name.format(adversary) for name in FIGURES.values())
        return dict(zip(names, values, strict=True))

    def to_dict(self) -> dict[str, Any]:
        """Return what holds for the table, in plain values."""
        return {
            "global_threat": float(self.share),
            "threatened": int(self.counts[self.threatened].sum()),
            "global_threat_random_ties": self.share_at_random,
            "absolute_error": self.absolute_error,
            "undecided": self.undecided,
        }

    def to_frame(self) -> pa.Table:
        """Return what holds for the table as one row."""
        return pa.Table.from_pylist([self.to_dict()])


@dataclass(frozen=True)
class Histogram:
    """How log₂ Ti is distributed over threatened records."""

    edges: Floats
    """The limits of the bars."""
    counts: Integers
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
            "mean": finite(self.mean),
            "skewness": finite(self.skewness),
        }


@dataclass(frozen=True)
class RelativeThreat:
    """The attacker beside the learner, against the same records."""

    attacker: Threat
    """Under p_A."""
    learner: Threat
    """Under p_L."""

    @property
    def records(self) -> int:
        """The number of records."""
        return self.attacker.records

    @cached_property
    def relative(self) -> Floats:
        """Per record, the relative threat level Ti = p_A / p_L of its true value, equation (16), threatened or not."""
        ratio: Floats = self.attacker.levels / self.learner.levels
        return ratio

    @property
    def highest_relative(self) -> float:
        """The greatest Ti of a record that is threatened by the attacker; not a number if none is."""
        ratios = self.relative[self.attacker.threatened]
        return float(ratios.max()) if len(ratios) else float("nan")

    def share_above(self, threshold: float, *, threatened: bool = True) -> Fraction:
        """Return the share of all records with a Ti above a threshold: rounding does not put one above it.

        Args:
            threshold: The threshold.
            threatened: Whether only those count whose true value the attacker would name.
        """
        above = self.relative > threshold * (1 + TIE)
        if threatened:
            above &= self.attacker.threatened
        return Fraction(int(self.attacker.counts[above].sum()), self.records)

    def moments(self, by: Threat) -> tuple[float, float]:
        """Return mean and skewness of log₂ Ti over the records that an adversary threatens.

        Without a record both are not numbers, and the skewness is none if all are equal.
        """
        chosen = by.threatened & (self.relative > 0)
        logs, counts = np.log2(self.relative[chosen]), self.attacker.counts[chosen]
        if not len(logs):
            return float("nan"), float("nan")
        mean = float(np.average(logs, weights=counts))
        deviations = logs - mean
        spread = np.sqrt(np.average(deviations**2, weights=counts))
        if spread <= TIE:
            return mean, float("nan")
        return mean, float(np.average(deviations**3, weights=counts) / spread**3)

    def table_figures(self, thresholds: tuple[float, ...]) -> dict[str, float]:
        """Return what holds for the table, by the names of figures; those of nobody are not numbers."""
        figures = self.attacker.figures("attacker") | self.learner.figures("learner")
        figures["rgt"] = max(0.0, figures["gt_attacker"] - figures["gt_learner"])
        figures["highest_ti"] = self.highest_relative
        figures["highest_ti_of_all"] = float(self.relative.max())
        for threshold in thresholds:
            for threatened in (True, False):
                share = self.share_above(threshold, threatened=threatened)
                figures[above_name(threshold, threatened=threatened)] = float(share)
        for name, threat in (("attacker", self.attacker), ("learner", self.learner)):
            mean, skewness = self.moments(threat)
            figures |= {f"log2_ti_{name}_mean": mean, f"log2_ti_{name}_skewness": skewness}
        return figures


@dataclass(frozen=True)
class Measures(RelativeThreat):
    """All measures of one release, per record and for the table."""

    release: str
    """The name of the release."""
    method: str
    """How learner and attacker were computed."""
    reading: Reading
    """Which learner was taken."""
    random_worlds: Threat
    """Under p_RW."""
    ideal: Threat | None
    """Under p_I, if that was computed."""
    baseline: Fraction
    """The share of the most frequent sensitive value: right guesses of someone who knows only that."""
    faithfulness: Faithfulness | None = None
    """How faithful the release is to the original, if points were drawn."""
    positions: Integers | None = None
    """Per record, its position in the file of the original; None: they are in its order, and all of them."""
    exceeds: float = 2.0
    """The relative threat that is asked about: of which share of the records it is exceeded."""
    figures: Mapping[str, Aggregate] = field(default_factory=dict)
    """By the names of `RelativeThreat.table_figures`, error, R-hat and ESS of what holds for the table; none: exact."""
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
    def relative_global_threat(self) -> float:
        """RGT_A = max(0, GT_A − GT_L), equation (18)."""
        return float(max(Fraction(0), self.attacker.share - self.learner.share))

    def histogram(self, by: str = "attacker", *, width: float = 0.25) -> Histogram:
        """Return the distribution of log₂ Ti over the records that an adversary threatens.

        Args:
            by: Who threatens them: "attacker", "learner", "random_worlds" or "ideal".
            width: The width of a bar.
        """
        if width <= 0:
            raise StudyError(
                "the bars of a histogram have the width {width}; give one above 0", width=str(width)
            )
        ratio = self.relative[self._of(by).threatened]
        logs = np.log2(ratio[ratio > 0])
        if not len(logs):
            return Histogram(np.zeros(1), np.zeros(0, np.int64), float("nan"), float("nan"))
        lowest = int(np.floor(logs.min() / width))
        highest = max(lowest + 1, int(np.ceil(logs.max() / width)))
        edges = (np.arange(lowest, highest + 1) * width).astype(np.float64)
        counts = np.histogram(logs, edges)[0].astype(np.int64)
        return Histogram(edges, counts, *self.moments(self._of(by)))

    def to_dict(self) -> dict[str, Any]:
        """Return what holds for the table in plain values; no record is told."""
        content: dict[str, Any] = {
            "release": self.release,
            "method": self.method,
            "learner_reading": self.reading.value,
            "records": self.records,
            "exact": self.is_exact,
            "baseline": float(self.baseline),
        }
        content |= {name: part.to_dict() for name, part in self.adversaries().items()}
        content["relative_global_threat"] = self.relative_global_threat
        content["highest_relative_threat"] = finite(self.highest_relative)
        content["highest_relative_threat_of_all"] = finite(float(self.relative.max()))
        content["share_above"] = {
            str(limit): float(self.share_above(limit)) for limit in self.thresholds
        }
        content["share_above_of_all"] = {
            str(limit): float(self.share_above(limit, threatened=False))
            for limit in self.thresholds
        }
        content["log2_relative_threat"] = {
            by: self.histogram(by).to_dict() for by in ("attacker", "learner")
        }
        content["faithfulness"] = None if self.faithfulness is None else self.faithfulness.to_dict()
        content["uncertainty"] = {
            name: part.to_dict() for name, part in self.figures.items()
        } or None
        return content

    def to_frame(self) -> pa.Table:
        """Return one row per adversary: what holds for the table, with Monte-Carlo error, R-hat and ESS if sampled."""
        rows = [
            {"adversary": name, **threat.to_dict(), **self._worth(name)}
            for name, threat in self.adversaries().items()
        ]
        return pa.Table.from_pylist(rows)

    def _worth(self, adversary: str) -> dict[str, float | None]:
        """Return error, R-hat and ESS of an adversary's numbers; None: they are exact."""
        columns: dict[str, float | None] = {}
        for title, name in FIGURES.items():
            aggregate = self.figures.get(name.format(adversary))
            for what in ("error", "rhat", "ess"):
                known = aggregate is not None
                columns[f"{title}_{what}"] = finite(getattr(aggregate, what)) if known else None
        return columns if self.figures else {}

    def records_frame(self) -> pa.Table:
        """Return one row per record, in the order of the original: about people, and not for publication.

        What was sampled has its Monte-Carlo error, R-hat and ESS beside it.
        """
        numbers = np.arange(self.records) if self.positions is None else self.positions
        columns: dict[str, NDArray[Any]] = {"record": numbers + 1}
        for name, threat in self.adversaries().items():
            columns[name] = threat.levels
            columns |= _certainty(name, threat.certainty)
            columns[f"threatened_by_{name}"] = threat.threatened
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
        return {name: threat for name, threat in named.items() if threat is not None}

    def _of(self, by: str) -> Threat:
        adversaries = self.adversaries()
        if by not in adversaries:
            raise StudyError(
                'there is no adversary "{name}"; there are {adversaries}',
                name=by,
                adversaries=", ".join(adversaries),
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
            "the victims are not those of the original; take both from victims_of_table"
        )
    beliefs = knowledge.learner
    if reading is Reading.EXPECTATION_OF_RATIO:
        if knowledge.learner_mean is None:
            raise StudyError(
                "reading (6) of the learner was not computed; ask for it with learner_mean"
            )
        beliefs = knowledge.learner_mean
    attacker, learner = threat_under(knowledge.attacker, original), threat_under(beliefs, original)
    figures: dict[str, Aggregate] = {}
    if sampled is None:
        ratios = _drawn(attacker, learner)
    else:
        figures = {figure.name: figure for figure in (*sampled.aggregates, *sampled.figures)}
        ratios = _of_records(sampled.ratios, original)
    return Measures(
        release=knowledge.release.name,
        method=knowledge.method,
        reading=reading,
        attacker=attacker,
        learner=learner,
        random_worlds=threat_under(knowledge.random_worlds, original),
        ideal=None if knowledge.ideal is None else threat_under(knowledge.ideal, original),
        baseline=Fraction(int(original.weights.sum(axis=0).max()), original.records),
        faithfulness=faithfulness,
        positions=original.positions,
        exceeds=exceeds,
        figures=figures,
        ratios=ratios,
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


def _of_records(ratios: Estimates, original: Original) -> Estimates:
    """Return, per record, what is known of the cell of its victim and sensitive value."""
    number = np.full(original.weights.shape, -1, np.int64)
    number[original.cells[:2]] = np.arange(len(ratios.values))
    return ratios.taken(number[original.victim, original.sensitive])


def _certainty(name: str, estimates: Estimates | None) -> dict[str, NDArray[Any]]:
    if estimates is None:
        return {}
    return {
        f"{name}_error": estimates.errors,
        f"{name}_rhat": estimates.rhat,
        f"{name}_ess": estimates.ess,
    }


def threat_under(beliefs: Beliefs, original: Original) -> Threat:
    """Return how well an adversary with these beliefs does against the records of the original."""
    cells = original.victim, original.sensitive
    victim, sensitive, times = original.cells
    margin, error = _margins(beliefs, (victim, sensitive))
    return replace(
        threat_at(beliefs.probabilities[: len(original.codes)], cells),
        undecided=int(times[np.abs(margin) < 2 * error].sum()),
        certainty=_levels(beliefs, cells),
    )


def threat_at(probabilities: Floats, cells: Any = ..., times: Integers | None = None) -> Threat:
    """Return how well an adversary does at some cells of her beliefs (victims × sensitive values).

    Args:
        probabilities: Her beliefs.
        cells: An index into them; all by default.
        times: Per cell, how many records have that victim's values and this sensitive value; None: one each.
    """
    highest = probabilities.max(axis=1, keepdims=True, initial=0.0)
    strongest = probabilities >= highest * (1 - TIE)
    chances = strongest / strongest.sum(axis=1, keepdims=True)
    return Threat(probabilities[cells], strongest[cells], chances[cells], times=times)


def _levels(beliefs: Beliefs, cells: tuple[Integers, Codes]) -> Estimates | None:
    if beliefs.errors is None:
        return None
    unknown = np.full(beliefs.errors.shape, np.nan)
    rhat = unknown if beliefs.rhat is None else beliefs.rhat
    ess = unknown if beliefs.ess is None else beliefs.ess
    return Estimates(beliefs.probabilities[cells], beliefs.errors[cells], rhat[cells], ess[cells])


def _margins(beliefs: Beliefs, cells: tuple[Integers, Integers]) -> tuple[Floats, Floats]:
    """Return, per cell, by how much its value is likelier than its strongest rival, and the error of that."""
    victim, sensitive = cells
    probabilities, errors = beliefs.probabilities, beliefs.errors
    if errors is None or probabilities.shape[1] == 1:
        return np.ones(len(victim)), np.zeros(len(victim))
    order = np.argpartition(probabilities, -2, axis=1)[:, -2:]
    pair = np.take_along_axis(probabilities, order, axis=1)
    people = np.arange(len(order))
    low, high = order[people, pair.argmin(axis=1)], order[people, pair.argmax(axis=1)]
    rival = np.where(high[victim] == sensitive, low[victim], high[victim])
    margin = probabilities[victim, sensitive] - probabilities[victim, rival]
    return margin, np.hypot(errors[victim, sensitive], errors[victim, rival])


# The evaluator of a sampler, and the errors of what counts.
@dataclass(frozen=True)
class Evaluator:
    """Who has the original, and so knows which belief is right; her figures are those of any beliefs."""

    original: Original
    """The original; its people are the first victims."""
    points: Points | None = None
    """Points of the population, which are the last victims; None: faithfulness is not asked for."""
    thresholds: tuple[float, ...] = THRESHOLDS
    """The relative threats that the share of records above is told of."""

    def figures(self, beliefs: MeanBeliefs) -> dict[str, float]:
        """Return the figures of some beliefs by name; those of nobody (no record is threatened) are not numbers.

        >>> original = Original(np.array([0, 0]), np.array([0, 1], np.int32), np.zeros((1, 1), np.int32),
        ...     np.array([[1, 1]]))
        >>> beliefs = MeanBeliefs(np.array([[0.75, 0.25]]), np.array([[0.5, 0.5]]), np.ones((1, 2)))
        >>> figures = Evaluator(original).figures(beliefs)
        >>> figures["gt_attacker"], figures["gt_learner"], figures["abs_attacker"], figures["highest_ti"]
        (0.5, 1.0, 2.0, 1.5)
        """
        victim, sensitive, times = self.original.cells
        people = len(self.original.codes)
        both = (
            threat_at(probabilities[:people], (victim, sensitive), times)
            for probabilities in (beliefs.attacker, beliefs.learner)
        )
        figures = RelativeThreat(*both).table_figures(self.thresholds)
        if self.points is not None:
            published, bounded = contributions(self.points, beliefs.joint)
            figures |= {"rf": float(published.mean()), "rf_bounded": float(bounded.mean())}
        return figures


def above_name(threshold: float, *, threatened: bool) -> str:
    """Return the name of the share of records with a relative threat above a threshold.

    >>> above_name(2.0, threatened=False)
    'ti_above_2_of_all'
    """
    return f"ti_above_{threshold:g}" + ("" if threatened else "_of_all")


def is_share(figure: str) -> bool:
    """Tell whether a figure is a share of records or of probability, which a precision can be asked of."""
    return figure.startswith(("gt_", "ti_above_")) or figure in ("rgt", "rf_bounded")


def flip_errors(
    evaluator: Evaluator, attacker: Beliefs, learner: Beliefs, ratios: Estimates
) -> dict[str, float]:
    """Return, by figure, the error that records near a step leave: neighbours are taken for independent.

    Args:
        evaluator: Who counts.
        attacker: p_A, with errors.
        learner: p_L by the reading that the attacker is compared with, with errors.
        ratios: Ti of the cells of the original.
    """
    victim, sensitive, many = evaluator.original.cells
    records = many.sum()
    errors: dict[str, float] = {}
    named = {}
    for name, beliefs in (("attacker", attacker), ("learner", learner)):
        chance = named[name] = _chance(*_margins(beliefs, (victim, sensitive)))
        errors[f"gt_{name}"] = _error(chance, many / records)
        errors[f"gt_{name}_random_ties"] = errors[f"gt_{name}"]
        for what, influence in _influences(ratios.values, many, chance > 0.5).items():
            errors[f"log2_ti_{name}_{what}"] = _error(chance, influence)
    errors["rgt"] = float(np.hypot(errors["gt_attacker"], errors["gt_learner"]))
    for threshold in evaluator.thresholds:
        above = _chance(ratios.values - threshold, ratios.errors)
        errors[above_name(threshold, threatened=False)] = _error(above, many / records)
        both = above * named["attacker"]
        errors[above_name(threshold, threatened=True)] = _error(both, many / records)
    return errors


def _chance(margin: Floats, errors: Floats) -> Floats:
    """Return the chance that something is above 0, given by how much it is, and the error of that."""
    sure = np.where(margin >= 0, np.inf, -np.inf)
    chance: Floats = ndtr(np.divide(margin, errors, out=sure, where=errors > 0))
    return chance


def _error(chance: Floats, influence: Floats) -> float:
    return float(np.sqrt((influence**2 * chance * (1 - chance)).sum()))


def _influences(ratio: Floats, many: Integers, chosen: Flags) -> dict[str, Floats]:
    """Return how much one cell more or less changes mean and skewness of log₂ Ti over the chosen ones."""
    total = max(int(many[chosen].sum()), 1)
    logs = np.log2(np.maximum(ratio, np.finfo(float).tiny))
    none = np.zeros(len(ratio))
    if not chosen.any():
        return {"mean": none, "skewness": none}
    mean = np.average(logs[chosen], weights=many[chosen])
    spread = np.sqrt(np.average((logs[chosen] - mean) ** 2, weights=many[chosen]))
    if spread <= TIE:
        return {"mean": many * (logs - mean) / total, "skewness": none}
    z = np.clip((logs - mean) / spread, -_FARTHEST, _FARTHEST)
    skewness = np.average(z[chosen] ** 3, weights=many[chosen])
    change = z**3 - skewness - 3 * z - 1.5 * skewness * (z**2 - 1)
    return {"mean": many * (logs - mean) / total, "skewness": many * change / total}
