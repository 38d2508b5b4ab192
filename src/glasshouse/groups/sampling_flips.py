"""Errors of figures that count: who is threatened may flip, and half chains do not tell how often.

A share of threatened records is a step function of beliefs. If a record is nearer to the step than the error of its
belief, it is counted or not by chance in every half chain *and* in the whole run: the spread over half chains, divided
by the root of their number, understates what is left (up to that root). Here each record counts with the probability
that its normal distribution gives, p = Φ(margin / error), and a figure whose influence of the record is g has the
variance Σ g² p (1 − p). The greater of the two errors is told.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtr

from glasshouse.groups.beliefs import Beliefs
from glasshouse.groups.evaluator import Evaluator, above_name
from glasshouse.groups.measures import TIE
from glasshouse.groups.sampling_results import Estimates

Floats = NDArray[np.float64]
_FARTHEST = 4.0
"""Records further from the mean than so many deviations change the skewness no more than these: it is not linear."""


def flip_errors(
    evaluator: Evaluator, attacker: Beliefs, learner: Beliefs, ratios: Estimates
) -> dict[str, float]:
    """Return, by figure, the error that records near a step leave: neighbours are taken for independent.

    Args:
        evaluator: Who counts.
        attacker: p_A, with errors.
        learner: p_L by the reading that the attacker is compared with, with errors.
        ratios: Ti of the evaluator's cells.
    """
    _, _, many = evaluator.cells
    records = many.sum()
    found: dict[str, float] = {}
    named = {}
    for name, beliefs in (("attacker", attacker), ("learner", learner)):
        chance = named[name] = _named(evaluator, beliefs)
        found[f"gt_{name}"] = _error(chance, many / records)
        found[f"gt_{name}_random_ties"] = found[f"gt_{name}"]
        for what, influence in _influences(ratios.values, many, chance > 0.5).items():
            found[f"log2_ti_{name}_{what}"] = _error(chance, influence)
    found["rgt"] = float(np.hypot(found["gt_attacker"], found["gt_learner"]))
    for threshold in evaluator.thresholds:
        above = _chance(ratios.values - threshold, ratios.errors)
        found[above_name(threshold, threatened=False)] = _error(above, many / records)
        both = above * named["attacker"]
        found[above_name(threshold, threatened=True)] = _error(both, many / records)
    return found


def _named(evaluator: Evaluator, beliefs: Beliefs) -> Floats:
    """Return, per cell, the chance that its value has the greatest probability, against its strongest rival."""
    victim, sensitive, _ = evaluator.cells
    people = len(evaluator.original.codes)
    own, errors = beliefs.probabilities[:people], beliefs.errors
    if errors is None or own.shape[1] == 1:
        return np.ones(len(victim))
    order = np.argpartition(own, -2, axis=1)[:, -2:]
    pair = np.take_along_axis(own, order, axis=1)
    low = order[np.arange(people), pair.argmin(axis=1)]
    high = order[np.arange(people), pair.argmax(axis=1)]
    rival = np.where(high[victim] == sensitive, low[victim], high[victim])
    margin = own[victim, sensitive] - own[victim, rival]
    return _chance(margin, np.hypot(errors[victim, sensitive], errors[victim, rival]))


def _chance(margin: Floats, errors: Floats) -> Floats:
    sure = np.where(margin >= 0, np.inf, -np.inf)
    chance: Floats = ndtr(np.divide(margin, errors, out=sure, where=errors > 0))
    return chance


def _error(chance: Floats, influence: Floats) -> float:
    return float(np.sqrt((influence**2 * chance * (1 - chance)).sum()))


def _influences(
    ratio: Floats, many: NDArray[np.int64], chosen: NDArray[np.bool_]
) -> dict[str, Floats]:
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
