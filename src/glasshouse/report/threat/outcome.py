"""What is told of an anonymised table: what findings and pages are made of."""

from __future__ import annotations

from typing import Any, Protocol

from glasshouse.groups import Knowledge, Measures, Release, Sampled
from glasshouse.study.threat import ThreatStudy
from glasshouse.table import Step


class Threatened(Protocol):
    """What a report says of an anonymised table."""

    @property
    def study(self) -> ThreatStudy:
        """What was asked."""

    @property
    def release(self) -> Release:
        """The table as published."""

    @property
    def groups(self) -> int:
        """The number of groups; suppressed records are none."""

    @property
    def knowledge(self) -> Knowledge:
        """What each adversary believes."""

    @property
    def measures(self) -> Measures | None:
        """How much the records of the original are threatened."""

    @property
    def sampled(self) -> Sampled | None:
        """How sure the sampler is."""

    @property
    def steps(self) -> tuple[Step, ...]:
        """What was left out of the original."""

    def relative_of(self, sensitive: int) -> tuple[float, float]:
        """Return the victim's relative threat for a sensitive value, and its error; not a number: it is exact."""

    def average(self, adversary: str) -> tuple[float, float | None]:
        """Return how sure an adversary is of the likeliest value, on average, and the error of that; None: exact."""

    def to_dict(self) -> dict[str, Any]:
        """Return everything as plain values."""
