"""What a protected release measures."""

from __future__ import annotations

from collections.abc import Iterator

from glasshouse.measures.assess import of_assessment
from glasshouse.measures.measurement import Measurement, worst_of
from glasshouse.mitigation.anonymisation import Anonymisation


def measured(outcome: Anonymisation) -> Iterator[Measurement]:
    """Yield what a protected release measures: the worst of with and without suppressed records, and of matching."""
    return worst_of(*map(of_assessment, (*outcome.retained, *outcome.judged)))
