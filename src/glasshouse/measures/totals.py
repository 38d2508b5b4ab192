"""What a reconstruction from published totals measures."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction

from glasshouse.measures.measurement import Measurement
from glasshouse.reconstruction import CampaignResult, PhaseResult, Solution
from glasshouse.reconstruction.campaign_result import NO_ENTITY
from glasshouse.study.policy import Measure


def measured(outcome: CampaignResult | Solution) -> Iterator[Measurement]:
    """Yield how many records have one place only; whatever was not solved may, and nothing is told of what was not."""
    if not isinstance(outcome, CampaignResult):
        single = sum(len(bins) == 1 for bins in outcome.feasible_bins)
        if outcome.feasible_bins and outcome.status != "infeasible":
            yield _settled(
                "placed", Fraction(single, len(outcome.feasible_bins)), proved=outcome.proved
            )
        return
    last, proved = outcome.phases[-1], is_settled(outcome)
    if not outcome.records or not outcome.solved:
        return
    yield _settled("placed", Fraction(last.linked_so_far, outcome.records), proved=proved)
    if outcome.entities is not None:
        yield _settled("named", Fraction(last.exposed, outcome.records), proved=proved)
    for exposure in outcome.exposures.get("bayes", ())[-1:]:
        yield Measurement("best-guess", Fraction(str(exposure.chance)))


def _settled(measure: Measure, share: Fraction, *, proved: bool) -> Measurement:
    """Return a measurement of what was proved; else what was not may be all."""
    return Measurement(measure, share if proved else Fraction(1), is_bound=not proved)


def is_settled(result: CampaignResult) -> bool:
    """Tell whether every question that the publications pose was answered exactly."""
    contradicted = any(set_apart(phase)[1] for phase in result.phases)
    return result.solved == result.instances and not contradicted


def set_apart(phase: PhaseResult) -> tuple[int, int]:
    """Return how many groups of a phase, with how many records, are set apart since they cannot be solved."""
    unsolvable = [apart for apart in phase.apart if apart.reason != NO_ENTITY]
    return sum(apart.groups for apart in unsolvable), sum(apart.records for apart in unsolvable)


def figures(outcome: CampaignResult | Solution) -> dict[str, float | None]:
    """Return the main figures: what was solved, and which records and amounts are certain in the end."""
    if not isinstance(outcome, CampaignResult):
        return {}
    last = outcome.phases[-1]
    return {
        "value": outcome.value,
        "instances": outcome.instances,
        "solved": outcome.solved,
        "linked": last.linked_so_far,
        "exposed": last.exposed,
        "exposed_value": last.exposed_value,
    }
