"""Shims while the pages move to findings; to be removed."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from glasshouse.report.page import Finding, Severity, Term


@dataclass(frozen=True)
class Assumptions:
    """What must hold for the figures to mean what they say."""

    text: str
    """The assumptions."""
    terms: tuple[Term, ...] = ()
    """The words of the report, explained."""


def spread(assumed: Assumptions) -> dict[str, Any]:
    """Return the fields of a page."""
    return {"adversary": (assumed.text,), "limits": (), "glossary": assumed.terms}


def noted(sentences: Iterable[str]) -> tuple[Finding, ...]:
    """Return sentences as findings."""
    return tuple(Finding(Severity.NOTE, sentence) for sentence in sentences)
