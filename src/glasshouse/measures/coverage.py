"""What a verdict covers: the fate of every column of a release.

A release is judged as the file it is. A column is looked at if it was attacked (as known, as a secret) or counted as
naming people; what is not in the release, and what was dismissed, was said so by name; anything else was not looked at,
and no verdict is green while there is such a column.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, Self


class Fate(StrEnum):
    """What becomes of a column when a release is judged."""

    KNOWN = "known"
    """The adversary knows it."""
    SENSITIVE = "sensitive"
    """She wants to infer it."""
    DIRECT = "direct"
    """It names or reaches people by itself, and is counted as such."""
    PERSON = "person"
    """It was said to tell whose a record is."""
    HOUSEHOLD = "household"
    """It was said to tell who lives together."""
    WEIGHT = "weight"
    """It was said to be how much a record counts."""
    CONSTANT = "constant"
    """It holds one value only, and tells nobody apart."""
    DROPPED = "dropped"
    """It will not be in the release, or is left out of a protected one."""
    DISMISSED = "dismissed"
    """It was dismissed by name."""
    DISMISSED_BY_RULE = "dismissed-by-rule"
    """The rule dismisses it by name."""
    UNSEEN = "not-looked-at"
    """None of these: nobody looked at it."""


OUTSIDE = frozenset({Fate.DROPPED, Fate.DISMISSED, Fate.DISMISSED_BY_RULE})
"""The fates of columns that no measure is about."""


@dataclass(frozen=True)
class CoveredColumn:
    """A column of a release, and what became of it."""

    name: str
    """Its name."""
    fate: Fate
    """What became of it."""
    direct: str = ""
    """How it names or reaches people by itself; empty: it does not."""

    @property
    def names_people(self) -> bool:
        """Whether it is counted as naming people by itself."""
        return bool(self.direct) and self.fate not in OUTSIDE


@dataclass(frozen=True)
class Coverage:
    """The fate of every column of a release."""

    columns: tuple[CoveredColumn, ...]
    """Its columns; of several files, each name once, with the worst fate."""

    def with_fate(self, fate: Fate) -> tuple[str, ...]:
        """Return the names of the columns of one fate."""
        return tuple(column.name for column in self.columns if column.fate is fate)

    @property
    def unseen(self) -> tuple[str, ...]:
        """The columns that nobody looked at."""
        return self.with_fate(Fate.UNSEEN)

    def __or__(self, other: Coverage) -> Coverage:
        """Return what two files of one release cover: a column that one of them does not cover is not covered."""
        order = list(Fate)
        merged: dict[str, CoveredColumn] = {}
        for column in (*self.columns, *other.columns):
            before = merged.get(column.name)
            if before is None or order.index(column.fate) > order.index(before.fate):
                merged[column.name] = CoveredColumn(
                    column.name, column.fate, column.direct or (before.direct if before else "")
                )
        return Coverage(tuple(merged.values()))

    def to_dict(self) -> dict[str, Any]:
        """Return it as plain values: the names of the columns by their fate, and what names people."""
        content: dict[str, Any] = {
            fate.value: list(names) for fate in Fate if (names := self.with_fate(fate))
        }
        if kinds := {column.name: column.direct for column in self.columns if column.direct}:
            content["direct-identifiers"] = kinds
        return content

    @classmethod
    def from_dict(cls, content: Mapping[str, Any]) -> Self:
        """Return what `to_dict` wrote down."""
        kinds = content.get("direct-identifiers", {})
        return cls(
            tuple(
                CoveredColumn(str(name), fate, str(kinds.get(name, "")))
                for fate in Fate
                for name in content.get(fate.value, ())
            )
        )
