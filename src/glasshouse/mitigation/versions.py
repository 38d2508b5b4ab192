"""Versions of a release that meet a rule, each by other means: the outcome of ``protect``.

A *family* is a way to protect, and of each family one version is sought, with as little lost as it allows. What they
cost is measured alike for all (`glasshouse.mitigation.comparison`), whatever each family makes least in its search:
by the share of detail that is lost. The version to recommend is that which loses least among those that meet the rule;
of versions that lose as good as the same, the one that is the simplest to use.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import pyarrow as pa

from glasshouse.language import marked
from glasshouse.mitigation.anonymisation import Anonymisation
from glasshouse.mitigation.comparison import ComparedRelease, Comparison
from glasshouse.table import Step

FAMILIES = {
    "alike": marked("generalised alike"),
    "few-removed": marked("alike, few removed"),
    "left-out": marked("columns left out"),
    "local": marked("generalised where needed"),
    "cells": marked("cells blanked"),
    "anatomy": marked("sensitive values apart"),
}
"""The ways to protect, by their words: values are generalised alike in all records; the same, and few records are
removed; columns are told or left out; each class is generalised as far as it needs; single cells are blanked; the
sensitive attribute is published apart."""
BLANKED = marked("alike, few suppressed")
"""What the second is called where these records stay in the file, with nothing but ``*`` of what can be known."""


AS_GOOD = 0.01
"""What loses no more than this above the least is as good: a point of a hundred is not worth a file that is harder to
use. How simple the families are to use is their order."""


@dataclass(frozen=True)
class Version:
    """One version of a release."""

    family: str
    """The way in which it is protected, one of `FAMILIES`."""
    release: Anonymisation
    """The protection in figures."""
    compared: ComparedRelease
    """What it leaves of risk and of the data, beside the original."""
    meets: bool
    """Whether it meets the rule."""

    @property
    def is_blanked(self) -> bool:
        """Whether it holds suppressed records, blanked, where the family otherwise removes them."""
        return self.family == "few-removed" and not self.release.drops

    @property
    def title(self) -> str:
        """What it is called, in English."""
        return BLANKED if self.is_blanked else FAMILIES[self.family]

    def to_dict(self) -> dict[str, Any]:
        """Return it as plain values."""
        return {
            "family": self.family,
            "meets": self.meets,
            "error": self.compared.distance,
            "detail_lost": self.compared.detail_lost,
            **self.release.to_dict(),
        }


@dataclass(frozen=True)
class ProtectedVersions:
    """The versions that were found, and the one to take."""

    comparison: Comparison
    """The original and every version, side by side."""
    versions: tuple[Version, ...]
    """The versions, in the order of the families."""
    without: Mapping[str, str]
    """By family that has no version: why."""

    @property
    def subject(self) -> str:
        """What a record stands for."""
        return self.comparison.subject

    @property
    def records(self) -> int:
        """The number of records of the original."""
        return self.comparison.original.records

    @property
    def steps(self) -> tuple[Step, ...]:
        """What was left out of the data before."""
        return self.comparison.steps

    @property
    def by_cost(self) -> tuple[Version, ...]:
        """The versions, those that meet the rule first: the one to recommend, then the others by what they lose."""
        ordered = sorted(
            self.versions, key=lambda one: (not one.meets, one.compared.detail_lost, one.family)
        )
        least = ordered[0]
        as_good = [
            one
            for one in ordered
            if one.meets == least.meets
            and one.compared.detail_lost <= least.compared.detail_lost + AS_GOOD
        ]
        best = min(as_good, key=lambda one: list(FAMILIES).index(one.family))
        return (best, *(one for one in ordered if one is not best))

    @property
    def recommended(self) -> Version:
        """The version to take: the simplest of those that meet the rule and lose as good as the least."""
        return self.by_cost[0]

    def is_beaten(self, version: Version) -> bool:
        """Tell whether another version loses less detail while no attack on it succeeds more often."""
        return any(other.compared.beats(version.compared) for other in self.versions)

    def to_dict(self) -> dict[str, Any]:
        """Return everything as plain values."""
        return {
            "recommended": self.recommended.family,
            "versions": [
                version.to_dict() | {"beaten": self.is_beaten(version)} for version in self.versions
            ],
            "without_version": dict(self.without),
            **self.comparison.to_dict(),
        }

    def to_frame(self) -> pa.Table:
        """Return one row per version, the original first, and attack."""
        return self.comparison.to_frame()
