"""What a run measured: one figure with what it is about, the same whatever the policy and wherever it is told."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Self

from glasshouse.measures.coverage import Coverage
from glasshouse.study.policy import NOTHING_UNSEEN, Measure


@dataclass(frozen=True)
class Measurement:
    """What a run measured, whatever the policy."""

    measure: Measure
    """What is measured."""
    value: Fraction
    """How much it is."""
    of: str | None = None
    """The sensitive attribute that it is about."""
    knows: int | None = None
    """How many facts the adversary knows, the worst ones; None: all that can be known."""
    release: str = ""
    """Which of several releases, or parts, it is about."""
    is_bound: bool = False
    """Whether it is on the safe side of what is not told, or not known, exactly."""
    is_choice: bool = False
    """Whether the releases are versions of which one is chosen, the better ones first; else all must meet a rule."""
    records: int | None = None
    """How many records of a person the adversary happens to know; 0: all of them; None: it is not about people with
    several."""
    people: str = ""
    """How many people have so many records, as far as that is told: a number, one after a tilde that is rounded, or
    nothing where they are few."""

    def to_dict(self) -> dict[str, Any]:
        """Return it as plain values; the value as an exact ratio in text."""
        return {
            "measure": self.measure,
            "of": self.of,
            "knows": "all" if self.knows is None else self.knows,
            "release": self.release,
            "value": str(self.value),
            "is_bound": self.is_bound,
            **({"is_choice": True} if self.is_choice else {}),
            **({} if self.records is None else {"records": self.records, "people": self.people}),
        }

    @classmethod
    def from_dict(cls, content: Mapping[str, Any]) -> Self:
        """Return what `to_dict` wrote down; older versions counted who is in a release with who is certainly not."""
        knows = content["knows"]
        return cls(
            content["measure"],
            Fraction(content.get("inside", content["value"])),
            content["of"],
            None if knows == "all" else int(knows),
            content["release"],
            bool(content["is_bound"]),
            bool(content.get("is_choice")),
            content.get("records"),
            str(content.get("people", "")),
        )


def column_measures(coverage: Coverage, release: str = "") -> tuple[Measurement, ...]:
    """Return what is measured of the columns of a release: how many were not looked at, and how many name people."""
    direct = sum(column.names_people for column in coverage.columns)
    counts: dict[Measure, int] = {
        NOTHING_UNSEEN.measure: len(coverage.unseen),
        "direct-identifiers": direct,
    }
    return tuple(
        Measurement(measure, Fraction(count), release=release) for measure, count in counts.items()
    )


def worst_of(*measured: Iterable[Measurement]) -> Iterator[Measurement]:
    """Yield the worst of what was measured of one release in several ways, such as with its suppressed records.

    What was measured in one of the ways only counts as it is.
    """
    alike: dict[tuple[object, ...], list[Measurement]] = {}
    for entry in (entry for entries in measured for entry in entries):
        about = (entry.measure, entry.of, entry.knows, entry.release, entry.records)
        alike.setdefault(about, []).append(entry)
    for entries in alike.values():
        worst = min if entries[0].measure == "smallest-class" else max
        yield worst(entries, key=lambda entry: (entry.value, entry.is_bound))
