"""The sets of attributes that a run assessed: looked up, sorted and filtered without any engine."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import TYPE_CHECKING
from weakref import WeakKeyDictionary

from glasshouse.errors import DataError, GlasshouseError, StudyError
from glasshouse.measures.attacks import by_knowledge, last_window, widest
from glasshouse.microdata import Assessment, Attack
from glasshouse.microdata.assessment import EXPOSURES
from glasshouse.report import labelled_by
from glasshouse.runs.reading import labels_of
from glasshouse.study.assess import AssessStudy
from glasshouse.table import Labels

if TYPE_CHECKING:
    from glasshouse.app.workspace import OpenRun


@dataclass(frozen=True)
class KnownSet:
    """What somebody learns who knows some attributes of a person."""

    mask: int
    """The attributes: bit i is the i-th."""
    attributes: tuple[str, ...]
    """Their names."""
    attacks: tuple[Attack, ...]
    """What she can do: name the person, then infer each secret."""

    @property
    def size(self) -> int:
        """How many attributes they are."""
        return len(self.attributes)

    @property
    def naming(self) -> Attack:
        """The attempt to name the person."""
        return self.attacks[0]

    @property
    def risk(self) -> Fraction:
        """How often a guess at who it is would be right."""
        return self.naming.probabilistic.posterior

    def guess(self, sensitive: str) -> Fraction:
        """Return how often a guess of a secret would be right."""
        return next(
            (one.probabilistic.posterior for one in self.attacks if one.sensitive == sensitive),
            Fraction(0),
        )


class AssessedSets:
    """All sets of attributes that a run assessed, with all its datasets.

    Args:
        run: The run, which is one of ``assess``.

    Raises:
        DataError: Its figures cannot be read.
        StudyError: It is of something else, or of a release in parts.
    """

    def __init__(self, run: OpenRun) -> None:
        study = run.question
        results = run.results
        if not isinstance(study, AssessStudy) or "class_records" in results.column_names:
            raise StudyError("this run did not assess sets of columns")
        if study.person:
            raise StudyError(
                "this run is about people with several records each; its report covers them"
            )
        if not {"quasi_identifiers", "records_1000", "deterministic_records"} <= {
            *results.column_names
        }:
            raise StudyError(
                "this run assessed a release part by part; its report covers each of them"
            )
        self.study = study
        exposures = run.frame(EXPOSURES) if (run.folder / EXPOSURES).exists() else None
        try:
            self.assessment = Assessment.from_frame(
                results, secrets=study.adversary.secrets, exposures=exposures
            )
        except (KeyError, TypeError, ValueError, ArithmeticError):
            raise DataError(
                "{file} is damaged; run the study again", file="results.parquet"
            ) from None
        self.attributes = study.adversary.knowable
        places = {name: place for place, name in enumerate(self.attributes)}
        self._by_mask: dict[int, KnownSet] = {}
        for same in by_knowledge(last_window(self.assessment.attacks)):
            names = same[0].quasi_identifiers
            if same[0].secret or not all(name in places for name in names):
                continue
            mask = sum(1 << places[name] for name in names)
            self._by_mask[mask] = KnownSet(mask, names, tuple(same))
        self._orders: dict[str, list[KnownSet]] = {}

    @cached_property
    def labels(self) -> Labels:
        """What the files call their columns and values."""
        try:
            return labels_of(self.study)
        except GlasshouseError:  # the file is gone, and what it was called with it
            return Labels()

    @contextmanager
    def labelled(self) -> Iterator[None]:
        """Call columns and values within a block as the report does."""
        with labelled_by(self.study, self.labels):
            yield

    @property
    def secrets(self) -> tuple[str, ...]:
        """The secrets, each under one name."""
        return tuple("+".join(columns) for columns in self.study.adversary.secrets)

    def __len__(self) -> int:
        return len(self._by_mask)

    def get(self, mask: int) -> KnownSet | None:
        """Return a set; None: it was not assessed."""
        return self._by_mask.get(mask)

    @property
    def whole(self) -> KnownSet:
        """The largest set; of several, the one that names best."""
        names = widest(self.assessment.attacks)[0].quasi_identifiers
        return next(one for one in self._by_mask.values() if one.attributes == names)

    def ordered(self, by: str) -> list[KnownSet]:
        """Return all sets in an order, one of `sort_keys`, the greatest first where a minus stands before it."""
        if by not in self._orders:
            key = by.removeprefix("-")
            # first by what is always told, so that equals are in an order that does not depend on the one before
            sets = sorted(self._by_mask.values(), key=lambda one: (one.size, one.mask))
            if key != "size":
                values = {one.mask: self._value(one, key) for one in sets}
                sets.sort(key=lambda one: values[one.mask], reverse=by.startswith("-"))
            elif by.startswith("-"):
                sets.sort(key=lambda one: -one.size)
            self._orders[by] = sets
        return self._orders[by]

    @property
    def sort_keys(self) -> tuple[str, ...]:
        """What sets are sorted by: their size, risk, who is named, or a guess of a secret by its place."""
        return ("size", "risk", "named", *map(str, range(len(self.secrets))))

    def _value(self, one: KnownSet, key: str) -> Fraction:
        if key == "risk":
            return one.risk
        return (
            one.naming.deterministic.posterior
            if key == "named"
            else one.guess(self.secrets[int(key)])
        )

    def filtered(
        self, by: str, *, most: int | None, containing: int, over: Fraction | None
    ) -> list[KnownSet]:
        """Return the sets of at most so many attributes, that contain some, with more risk than that."""
        return [
            one
            for one in self.ordered(by)
            if (most is None or one.size <= most)
            and one.mask & containing == containing
            and (over is None or one.risk > over)
        ]


_SETS: WeakKeyDictionary[OpenRun, AssessedSets] = WeakKeyDictionary()


def sets_of(run: OpenRun) -> AssessedSets:
    """Return the sets of a run, read once while it is open.

    Raises:
        StudyError: It has none.
    """
    if run not in _SETS:
        _SETS[run] = AssessedSets(run)
    return _SETS[run]
