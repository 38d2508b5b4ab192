"""What a choice of protected versions measures."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from glasshouse.measures.compare import of_release
from glasshouse.measures.measurement import Measurement
from glasshouse.mitigation.versions import ProtectedVersions


def measured(outcome: ProtectedVersions) -> Iterator[Measurement]:
    """Yield what the versions measure of which one is chosen, the one to recommend first."""
    for version in outcome.by_cost:
        for entry in of_release(version.compared):
            yield replace(entry, is_choice=True)
