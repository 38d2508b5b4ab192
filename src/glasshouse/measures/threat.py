"""What a threat to the people of an anonymised table measures."""

from __future__ import annotations

from collections.abc import Iterator

from glasshouse.groups.outcome import ThreatOutcome
from glasshouse.measures.measurement import Measurement

TWICE = 2.0
"""From how many times as credible on a secret counts as believed."""


def measured(outcome: ThreatOutcome) -> Iterator[Measurement]:
    """Yield what a threat to people of an anonymised table measures."""
    if outcome.measures is not None and not outcome.one_victim:
        share = outcome.measures.share_above(TWICE, threatened=False)
        yield Measurement("believed", share, "+".join(outcome.release.sensitive.names))


def figures(outcome: ThreatOutcome) -> dict[str, float | None]:
    """Return the main figures of the table; none where one person was asked about, or there is no original."""
    if outcome.measures is None or outcome.one_victim:
        return {}
    return {
        "attacker": float(outcome.measures.attacker.share_at_random),
        "learner": float(outcome.measures.learner.share_at_random),
        "baseline": float(outcome.measures.baseline),
        "relative_global_threat": outcome.measures.relative_global_threat,
        "share_twice": float(outcome.measures.share_above(TWICE, threatened=False)),
    }
