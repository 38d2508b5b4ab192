"""What an attack on one person measures."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from math import floor

from glasshouse.disclosure import is_shown
from glasshouse.measures.discretion import COARSE
from glasshouse.measures.measurement import Measurement
from glasshouse.microdata import Member, PersonTarget, Target


def measured(target: Target | Member) -> Iterator[Measurement]:
    """Yield how many people can be the one who is looked for; of few it is told, and judged, that they are few."""
    if not target.candidates:
        return
    candidates, is_bound = target.candidates, not is_shown(target.candidates)
    if isinstance(target, PersonTarget):
        # not all who fit are as likely: as many as would make the best guess right as often, or fewer
        candidates = floor(1 / COARSE.bounds(target.naming.posterior)[1])
        is_bound = True
    if not is_shown(candidates):
        candidates = 1
    yield Measurement("smallest-class", Fraction(candidates), is_bound=is_bound)
    yield Measurement("highest-risk", Fraction(1, candidates), is_bound=is_bound)


def figures(target: Target) -> dict[str, float | None]:
    """Return the main figures: how many records can be the target's, and how surely she names and infers."""
    figures: dict[str, float | None] = {
        "candidates": target.candidates,
        "naming": float(target.naming.posterior),
    }
    for inference in target.secrets:
        figures[f"inferring: {inference.sensitive}"] = float(inference.guess.posterior)
    if target.journalist is not None:
        figures["presence"] = float(target.journalist.presence.posterior)
    return figures
