"""What a verdict covers: the fate of every column of a release.

A release is judged as the file it is. A column is looked at if it was attacked (as known, as a secret) or counted as
naming people; what is not in the release, and what was dismissed, was said so by name; anything else was not looked at,
and no verdict is green while there is such a column.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, Self

from glasshouse.language import marked, printable, text, text_for, translated
from glasshouse.report.labels import column_label
from glasshouse.report.words import joined

MOST_NAMED = 12
"""So many columns of one fate are named."""


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
    WEIGHT = "weight"
    """It was said to be how much a record counts."""
    CONSTANT = "constant"
    """It holds one value only, and tells nobody apart."""
    DROPPED = "dropped"
    """It was said that it will not be in the release."""
    DISMISSED = "dismissed"
    """It was dismissed by name."""
    DISMISSED_BY_RULE = "dismissed-by-rule"
    """The rule dismisses it by name."""
    UNSEEN = "not-looked-at"
    """None of these: nobody looked at it."""


OUTSIDE = frozenset({Fate.DROPPED, Fate.DISMISSED, Fate.DISMISSED_BY_RULE})
"""The fates of columns that no measure is about."""
_SENTENCES = {
    Fate.UNSEEN: marked(
        "Not looked at: {columns}. Say what each is: -q known, -s sensitive, --drop not in the release, --ignore of no "
        "concern."
    ),
    Fate.KNOWN: marked("Looked at as known: {columns}."),
    Fate.SENSITIVE: marked("Looked at as sensitive: {columns}."),
    Fate.DIRECT: marked("Looked at as naming people: {columns}."),
    Fate.PERSON: marked("Taken to say whose a record is: {columns}."),
    Fate.WEIGHT: marked("Taken as a weight: {columns}."),
    Fate.CONSTANT: marked("Looked at, and the same in all records: {columns}."),
    Fate.DROPPED: marked("Not in the release (--drop): {columns}."),
    Fate.DISMISSED: marked("Dismissed by whoever ran this (--ignore): {columns}."),
    Fate.DISMISSED_BY_RULE: marked("Dismissed by the rule: {columns}."),
}


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

    def sentences(self) -> Iterator[str]:
        """Yield what was looked at, what is not in the release, what was dismissed, and what nobody looked at."""
        for fate, sentence in _SENTENCES.items():
            columns = [column for column in self.columns if column.fate is fate]
            if columns:
                yield translated(sentence, columns=_named(columns))


def _named(columns: list[CoveredColumn]) -> str:
    """Return what columns are called, with what names people in brackets; of many the first, and how many more.

    What was not looked at, and what was said of a column by its name, has the name that is to be typed.
    """
    names = [
        f"{called} ({translated(column.direct)})" if column.direct else called
        for column in columns[:MOST_NAMED]
        for called in [
            printable(column.name)
            if column.fate in {*OUTSIDE, Fate.UNSEEN}
            else printable(column_label(column.name))
        ]
    ]
    rest = len(columns) - MOST_NAMED
    return joined(
        [*names, *([text_for(rest, "{count} further", "{count} further")] if rest > 0 else [])]
    )


def unknown_coverage() -> str:
    """Say that it is not known which columns of a release were looked at."""
    return text("Which columns of the release were looked at is not known.")
