"""How sure the figures of an anonymised table are: exact, sampled, or not to be relied on."""

from __future__ import annotations

import numpy as np

from glasshouse.groups import Sampled
from glasshouse.language import number, text
from glasshouse.report.page import Finding, Severity
from glasshouse.report.threat.outcome import Threatened
from glasshouse.report.threat.words import error_text, method_label


def certainty_of(outcome: Threatened) -> Finding:
    """Say whether the figures are exact, and if not, how far they can be relied on."""
    sampled = outcome.sampled
    sentence = _exactness(outcome) if sampled is None else _precision(outcome, sampled)
    return Finding(Severity.NOTE, sentence)


def _exactness(outcome: Threatened) -> str:
    if not outcome.knowledge.is_exact:
        return text("These figures were sampled; how well the chains agree is not known here.")
    method, mean = method_label(outcome.knowledge.method), outcome.knowledge.learner_mean
    estimated = outcome.measures is not None and outcome.measures.faithfulness is not None
    if mean is not None and mean.errors is not None:
        points = error_text(100 * float(np.nanmax(mean.errors)))
        if estimated:
            return text(
                "These figures are exact ({method}), but for the relative faithfulness, which is estimated, and for "
                "what is learned about the population by reading (6): that is drawn, with an error of at most {points} "
                "points.",
                method=method,
                points=points,
            )
        return text(
            "These figures are exact ({method}), but for what is learned about the population by reading (6): that is "
            "drawn, with an error of at most {points} points.",
            method=method,
            points=points,
        )
    if estimated:
        return text(
            "These figures are exact ({method}), but for the relative faithfulness, which is estimated.",
            method=method,
        )
    return text("These figures are exact ({method}), not sampled.", method=method)


def _precision(outcome: Threatened, sampled: Sampled) -> str:
    if sampled.multimodal:
        return text(
            "These figures are not to be relied on: after {sweeps} sweeps the {chains} chains still disagree; the "
            "table can be read in more than one way.",
            sweeps=sampled.sweeps,
            chains=sampled.chains,
        )
    if not sampled.converged:
        return text(
            "These figures were sampled, and the requested precision was not reached within {sweeps} sweeps: sample "
            "longer before relying on them.",
            sweeps=sampled.sweeps,
        )
    return text(
        "These figures were sampled by {chains} chains of {sweeps} sweeps that agree (R-hat at most {rhat}); the "
        "Monte-Carlo error of a share is at most {points} points.",
        chains=sampled.chains,
        sweeps=sampled.sweeps,
        rhat=number(max(each.rhat for each in sampled.aggregates), ".3f"),
        points=error_text(100 * _largest_error(outcome, sampled)),
    )


def _largest_error(outcome: Threatened, sampled: Sampled) -> float:
    if outcome.study.known:
        return sampled.largest_error
    figures = (*sampled.aggregates, *sampled.figures)
    return max(
        each.error
        for each in figures
        if each.name.startswith(("gt_", "ti_above", "rgt")) or each.name.endswith("_success")
    )
