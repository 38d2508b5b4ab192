"""From chains to figures of the table: the same figure of all draws, of half chains, of batches, and of single draws.

*Value*: the figure of the mean beliefs over all chains. *Error*: the deviation of the figure over half chains, divided
by the root of their number; that is right for any smooth figure, and allows for draws that resemble each other. What
counts records has steps, and then the error is at least that of `glasshouse.groups.sampling_flips`.
*R-hat* and *ESS*: of the figure of each single draw, where that means something (shares of threatened records, ABS);
of the figure of each batch of draws otherwise (relative threats, skewness, faithfulness: a single draw's ratio says
nothing of the ratio of means).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

import numpy as np

from glasshouse.groups.beliefs import normalised
from glasshouse.groups.chains import Floats, Integers
from glasshouse.groups.diagnostics import (
    LEAST_DRAWS,
    bulk_ess,
    geweke,
    rank_rhat,
    split_rhat,
    weiss,
)
from glasshouse.groups.evaluator import Evaluator
from glasshouse.groups.sampling_chain import OF_CHAIN, Recording
from glasshouse.groups.sampling_moments import Family
from glasshouse.groups.sampling_results import Aggregate, Basis, Estimates

SEGMENTS = 2
"""Into so many segments a chain is cut for the Weiß test."""
_TIE = 1e-9
_ROUNDING = 1e-24
"""A variance below this share of the square of the ratio is rounding."""


@dataclass(frozen=True)
class Section:
    """The mean beliefs of some draws."""

    attacker: Floats
    """p_A; not a number for who is not in the table."""
    learner: Floats
    """p_L(s | r) by the reading that the attacker is compared with."""
    joint: Floats
    """p_L(s, r), equation (5)."""


@dataclass(frozen=True)
class Families:
    """The cells of all chains: of the attacker, of the learner by (5), and by (6) if that is compared with."""

    attacker: Family
    """Sums behind p_A."""
    joint: Family
    """p_L(s, r)."""
    learner_mean: Family | None
    """f(s | r), where reading (6) is compared with."""

    def whole(self) -> Section:
        """Return the means of all draws."""
        return self._section(
            self.attacker.whole(),
            self.joint.whole(),
            None if self.learner_mean is None else self.learner_mean.whole(),
        )

    def halves(self) -> Iterator[Section]:
        """Yield the means of each half chain."""
        if self.learner_mean is None:
            for attacker, joint in zip(
                self.attacker.sections(), self.joint.sections(), strict=True
            ):
                yield self._section(attacker, joint, None)
            return
        families = (self.attacker, self.joint, self.learner_mean)
        for attacker, joint, mean in zip(*(own.sections() for own in families), strict=True):
            yield self._section(attacker, joint, mean)

    def batches(self, chain: int) -> Iterator[Section]:
        """Yield the means of each batch of one chain."""
        for number in range(self.attacker.chains[chain].full):
            mean = self.learner_mean
            yield self._section(
                self.attacker.batch(chain, number),
                self.joint.batch(chain, number),
                None if mean is None else mean.batch(chain, number),
            )

    def _section(self, attacker: Floats, joint: Floats, mean: Floats | None) -> Section:
        return Section(normalised(attacker), normalised(joint if mean is None else mean), joint)


def traced_aggregates(
    families: Families, recording: Recording, traces: Floats
) -> tuple[Aggregate, ...]:
    """Return the figures of which every draw is kept (chains × draws × names)."""
    weights, people = recording.weights, recording.people
    halves = [_measures(own, weights, people) for own in families.halves()]
    whole = _measures(families.whole(), weights, people)
    rhat, plain, sizes = rank_rhat(traces), split_rhat(traces), bulk_ess(traces)
    z = np.abs(geweke(traces)).max(axis=0)
    return tuple(
        Aggregate(
            name=name,
            value=whole[name],
            error=_error([own[name] for own in halves]),
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
    families: Families, evaluator: Evaluator, flips: Mapping[str, float]
) -> float:
    """Return the largest error of a figure that is a share, by half chains or by records near a step."""
    errors = {name: _error(own) for name, own in _of_halves(families, evaluator).items()}
    found = [
        max(own, flips.get(name, 0.0)) for name, own in errors.items() if evaluator.is_share(name)
    ]
    return max((own for own in found if np.isfinite(own)), default=0.0)


def batch_figures(
    families: Families, evaluator: Evaluator, traced: tuple[Aggregate, ...]
) -> tuple[Aggregate, ...]:
    """Return the evaluator's figures of which no draw is kept, with R-hat and ESS from batches."""
    known = {own.name for own in traced}
    whole = _figures(families.whole(), evaluator)
    halves = _of_halves(families, evaluator)
    chains = [
        [_figures(batch, evaluator) for batch in families.batches(chain)]
        for chain in range(len(families.attacker.chains))
    ]
    found = []
    for name in (name for name in whole if name not in known):
        trace = np.array([[batch[name] for batch in own] for own in chains])
        told = trace.shape[1] >= LEAST_DRAWS and bool(np.isfinite(trace).all())
        found.append(
            Aggregate(
                name=name,
                value=whole[name],
                error=_error(halves[name]),
                rhat=float(rank_rhat(trace)[0]) if told else float("nan"),
                plain_rhat=float(split_rhat(trace)[0]) if told else float("nan"),
                ess=float(bulk_ess(trace)[0]) if told else float("nan"),
                geweke=float("nan"),
                weiss=float("nan"),
                basis=Basis.BATCHES,
            )
        )
    return tuple(found)


def ratios_of(families: Families, cells: tuple[Integers, Integers]) -> Estimates:
    """Return the relative threats Ti = p_A / p_L of some cells (victim and sensitive value), and what they are worth.

    The error is from the ratios of batches or of whole chains, whichever is greater: what p_A and p_L have in common
    is thus allowed for, as it would not be if their own errors were put together. Squares are summed about the ratio of
    the means, batch after batch: memory does not grow with their number. R-hat and ESS are those of batches.
    """
    values = _ratio(families.whole(), cells)
    squares, within = np.zeros(len(values)), np.zeros(len(values))
    halves: list[Floats] = []
    chains = families.attacker.chains
    many = chains[0].full // 2
    for chain in range(len(chains)):
        sums, own = np.zeros((2, len(values))), np.zeros((2, len(values)))
        for number, batch in enumerate(families.batches(chain)):
            deviation = _ratio(batch, cells) - values
            sums[number // many] += deviation
            own[number // many] += deviation**2
        squares += own.sum(axis=0)
        within += (own - sums**2 / many).sum(axis=0)
        halves += [sums[0] / many, sums[1] / many]
    batches = 2 * many * len(chains)
    of_chains = [(halves[2 * c] + halves[2 * c + 1]) / 2 for c in range(len(chains))]
    error = np.maximum(
        squares / (batches * (batches - 1)),
        sum(own**2 for own in of_chains) / (len(chains) * (len(chains) - 1)),
    )
    if many < 2:
        unknown = np.full(len(values), np.nan)
        return Estimates(values, np.sqrt(error), unknown, unknown)
    within = np.maximum(within / (len(halves) * (many - 1)), 0.0)
    between = np.var(halves, axis=0, ddof=1)
    constant, alike = within <= _ROUNDING * values**2, between <= 1e-13 * values**2
    pooled = (many - 1) / many * within + between
    still = np.where(alike, 1.0, np.inf)
    rhat = np.sqrt(np.divide(pooled, within, out=still, where=~constant))
    alive = (error > 0) & ~(constant & alike)
    ess = np.divide(pooled, error, out=np.full(len(values), float(batches)), where=alive)
    return Estimates(
        values, np.sqrt(error), rhat, np.minimum(ess, batches * np.log10(batches + 9.0))
    )


def _ratio(section: Section, cells: tuple[Integers, Integers]) -> Floats:
    ratio: Floats = section.attacker[cells] / section.learner[cells]
    return ratio


def _figures(section: Section, evaluator: Evaluator) -> dict[str, float]:
    return evaluator.figures(section.attacker, section.learner, section.joint)


def _of_halves(families: Families, evaluator: Evaluator) -> dict[str, list[float]]:
    found: dict[str, list[float]] = {}
    for section in families.halves():
        for name, value in _figures(section, evaluator).items():
            found.setdefault(name, []).append(value)
    return found


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
    return min(weiss(own, segments=SEGMENTS).p_value for own in categories)


def _measures(section: Section, weights: Integers | None, people: Integers) -> dict[str, float]:
    """Return the figures of which every draw is kept, of mean beliefs."""
    found = {}
    for name, own in (("attacker", section.attacker), ("learner", section.learner)):
        known = ~np.isnan(own[:, 0])
        beliefs = own[known]
        highest = beliefs.max(axis=1, keepdims=True, initial=0.0)
        if weights is None:
            counted = people[known]
            total = float((counted * highest[:, 0]).sum())
            found[f"{name}_success"] = total / counted.sum() if counted.any() else float("nan")
            continue
        many = weights[known]
        records = max(int(many.sum()), 1)
        marks = beliefs >= highest * (1 - _TIE)
        chances = marks / marks.sum(axis=1, keepdims=True)
        found[f"{name}_success"] = float((many * highest).sum() / records)
        found[f"gt_{name}"] = float(many[marks].sum() / records)
        found[f"gt_{name}_random_ties"] = float((many * chances).sum() / records)
        found[f"abs_{name}"] = float(2.0 * (many * (1.0 - beliefs)).sum())
    if weights is not None:
        found["rgt"] = max(0.0, found["gt_attacker"] - found["gt_learner"])
    return found
