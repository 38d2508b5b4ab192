"""What a comparison of releases or of runs measures."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from glasshouse.measures.assess import of_attacks
from glasshouse.measures.compared_runs import AssessedRuns, MeasuredRuns
from glasshouse.measures.measurement import Measurement, worst_of
from glasshouse.mitigation.comparison import ComparedRelease, Comparison
from glasshouse.study.policy import MEASURES


def measured(outcome: Comparison | AssessedRuns | MeasuredRuns) -> Iterator[Measurement]:
    """Yield what the releases measure that are compared; the original is not about to be released.

    Of runs that are compared by their main figures, those about people with several records have kept it.
    """
    if isinstance(outcome, Comparison):
        for release in outcome.by_trade:
            for entry in of_release(release):
                yield replace(entry, is_choice=True)
    else:
        for run in outcome.runs:
            for entry in map(Measurement.from_dict, run.measures):
                if not MEASURES[entry.measure].is_number:
                    yield replace(entry, release=run.name)


def of_release(release: ComparedRelease) -> Iterator[Measurement]:
    """Yield what a release measures; where it holds suppressed records, the worst of with and without them."""
    ways = (release.attacks, *release.judged)
    return worst_of(*(of_attacks([attacks], None, release.name) for attacks in ways))
