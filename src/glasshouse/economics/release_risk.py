"""The risk of a whole release: of every record, the expected number of re-identifications, and what it costs.

For every record the group is known (`glasshouse.economics.people_groups`), and with it the risk under two adversaries:

- one who knows the size of the group before she pays for access;
- one who only knows how frequent such people are, and believes the size to be binomial.

Both are reckoned on the actual size: risk = P(re-identification), expected loss = Σ risk · loss (equation 1 of Xia et
al. 2015). Without a register the size is itself binomial, and the risk is the expectation over it. Records are attacked
one by one, each by an adversary of its own.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from glasshouse.arrays import Floats, Integers
from glasshouse.disclosure import is_shown
from glasshouse.economics.deterrents import (
    COSTS,
    Deterrent,
    least_amount,
    least_size,
)
from glasshouse.economics.optimal_plan import (
    SizeBeliefs,
    Thresholds,
    expected_access,
    linked_by_size,
    most_likely,
    risks_by_size,
    thresholds,
    worthless_from,
)
from glasshouse.economics.people_groups import PeopleGroups
from glasshouse.economics.terms import Terms, check_parameter, check_people
from glasshouse.errors import DataError, StudyError
from glasshouse.language import text, unknown_name
from glasshouse.progress import OnProgress, Progress
from glasshouse.table import EncodedTable

KNOWN, UNKNOWN = "known", "unknown"
"""The two adversaries: she knows the size of the group, or not."""
_FIGURES = (KNOWN, UNKNOWN, "loss_known", "loss_unknown")


@dataclass(frozen=True)
class ReleaseExposure:
    """What a release risks on given terms."""

    groups: PeopleGroups = field(repr=False)
    """The groups of its records."""
    terms: Terms
    """The terms of the attack."""
    known: Floats = field(repr=False)
    """Per record, the probability of re-identification by an adversary who knows the size of the group."""
    unknown: Floats = field(repr=False)
    """The same by one who does not."""
    loss: Floats = field(repr=False)
    """Per record, what its re-identification costs the publisher."""
    enough: Deterrent
    """How large every group must be for the target, and where the risk rises with the size."""

    @cached_property
    def thresholds(self) -> Thresholds:
        """The sizes from which on an adversary changes her mind; computed when they are asked for.

        Raises:
            BudgetError: Too many sizes would have to be looked at.
        """
        return thresholds(self.terms)

    @property
    def expected_known(self) -> float:
        """The expected number of re-identifications, the sizes being known."""
        return float(self.known.sum())

    @property
    def expected_unknown(self) -> float:
        """The expected number of re-identifications, the sizes not being known."""
        return float(self.unknown.sum())

    @property
    def loss_known(self) -> float:
        """What the publisher is expected to lose, the sizes being known."""
        return float((self.known * self.loss).sum())

    @property
    def loss_unknown(self) -> float:
        """What the publisher is expected to lose, the sizes not being known."""
        return float((self.unknown * self.loss).sum())

    @property
    def loss_counts_few(self) -> bool:
        """Whether the expected loss would tell how many records cost the same, of which few are worth attacking."""
        counts = [
            np.unique(self.loss[risk > 0], return_counts=True)[1].tolist()
            for risk in (self.known, self.unknown)
        ]
        several = len(np.unique(self.loss)) > 1
        return several and not all(is_shown(count) for amounts in counts for count in amounts)

    @cached_property
    def higher(self) -> NDArray[np.intp]:
        """The records whose risk is higher if she does not know the size (finding 5)."""
        return np.flatnonzero(self.unknown > self.known)

    @cached_property
    def lower(self) -> NDArray[np.intp]:
        """The records whose risk is lower if she does not know the size (finding 4)."""
        return np.flatnonzero(self.unknown < self.known)

    @property
    def below_enough(self) -> int | None:
        """The number of records in a group that is not empty and smaller than enough; None: no size is enough."""
        if self.enough.lasting is None or self.groups.sizes is None:
            return None
        sizes = self.groups.sizes
        return int(np.count_nonzero((sizes > 0) & (sizes < self.enough.lasting)))

    def to_dict(self) -> dict[str, Any]:
        """Return the outcome as plain values, without any record."""
        return {
            **self.groups.to_dict(),
            "terms": self.terms.to_dict(),
            "thresholds": self.thresholds.to_dict(),
            KNOWN: _summary(self.known, self.expected_known, self.loss_known),
            UNKNOWN: _summary(self.unknown, self.expected_unknown, self.loss_unknown),
            "changed": {"higher": len(self.higher), "lower": len(self.lower)},
            "enough": self.enough.to_dict() | {"records_below": self.below_enough},
        }

    def to_frame(self) -> pa.Table:
        """Return one row per size of a group: its records, and their mean risks; without a register, one row."""
        if self.groups.sizes is None:
            sizes: Integers | pa.Array = pa.nulls(1, pa.int64())
            place, count = np.zeros(self.groups.records, np.intp), 1
        else:
            sizes, place = self.groups.distinct_sizes
            count = len(sizes)
        records = np.bincount(place, minlength=count)
        known, unknown = (
            np.bincount(place, weights=risk, minlength=count) / records
            for risk in (self.known, self.unknown)
        )
        return pa.table({"size": sizes, "records": records, KNOWN: known, UNKNOWN: unknown})

    def records_frame(self) -> pa.Table:
        """Return one row per record of the release: handle it as the data itself."""
        frame = self.groups.to_frame()
        for name, figures in ((KNOWN, self.known), (UNKNOWN, self.unknown), ("loss", self.loss)):
            frame = frame.append_column(name, pa.array(figures))
        return frame


@dataclass(frozen=True)
class Curve:
    """The risk of a release against one parameter, all others fixed."""

    parameter: str
    """What varies."""
    values: Floats
    """The values that it takes."""
    known: Floats
    """Per value, the expected number of re-identifications, the sizes being known."""
    unknown: Floats
    """Per value, the same with sizes that are not known."""
    loss_known: Floats
    """Per value, what the publisher is expected to lose, the sizes being known."""
    loss_unknown: Floats
    """Per value, the same with sizes that are not known."""

    def to_dict(self) -> dict[str, Any]:
        """Return a list of numbers per field, and what varies."""
        numbers = {name: getattr(self, name).tolist() for name in ("values", *_FIGURES)}
        return {"parameter": self.parameter} | numbers

    def to_frame(self) -> pa.Table:
        """Return one row per value."""
        figures = {name: getattr(self, name) for name in _FIGURES}
        return pa.table({self.parameter: self.values} | figures)


def exposure(
    groups: PeopleGroups,
    terms: Terms,
    *,
    loss: float | Sequence[float] | Floats = 1.0,
    belief: int | None = None,
    target: float = 0.0,
) -> ReleaseExposure:
    """Return the risk of every record of a release.

    Args:
        groups: The groups of its records.
        terms: The terms of the attack.
        loss: What a re-identification costs the publisher: one amount for all, or one per record; see also
            `losses_by_value`.
        belief: How many people the adversary who does not know the sizes believes to be in the register; by default as
            many as there are.
        target: The risk that ``enough`` is to reach.

    Raises:
        DataError: There are not as many losses as records, or one is negative.
        StudyError: The belief is larger than the register, or the target makes no sense.
        BudgetError: The groups are too large to be solved.
    """
    losses = _losses(loss, groups.records)
    known, unknown = _AdversaryView.of(groups, [terms], belief).risks(terms)
    return ReleaseExposure(
        groups=groups,
        terms=terms,
        known=known,
        unknown=unknown,
        loss=losses,
        enough=least_size(terms, target=target),
    )


def curve(
    groups: PeopleGroups,
    terms: Terms,
    parameter: str,
    values: Sequence[float],
    *,
    loss: float | Sequence[float] | Floats = 1.0,
    belief: int | None = None,
    on_progress: OnProgress | None = None,
) -> Curve:
    """Return the expected number of re-identifications, and the expected loss, against one parameter.

    Args:
        groups: The groups of the records.
        terms: All other terms.
        parameter: What varies: one of `glasshouse.economics.terms.PARAMETERS`.
        values: The values that it takes.
        loss: As in `exposure`.
        belief: As in `exposure`.
        on_progress: Called after every value.

    Raises:
        StudyError: The parameter, a value or the belief makes no sense.
    """
    check_parameter(parameter)
    losses = _losses(loss, groups.records)
    varied = [terms.with_parameter(parameter, value) for value in values]
    view = _AdversaryView.of(groups, varied, belief)
    sums = np.zeros((4, len(varied)))
    for place, variant in enumerate(varied):
        risks = np.stack(view.risks(variant))
        sums[:2, place], sums[2:, place] = risks.sum(axis=1), (risks * losses).sum(axis=1)
        if on_progress is not None:
            on_progress(Progress("solving", place + 1, len(varied)))
    return Curve(parameter, np.array(values, float), *sums)


def least_for_release(
    groups: PeopleGroups,
    terms: Terms,
    parameter: str,
    *,
    expected: float = 0.0,
    adversary: str = KNOWN,
    belief: int | None = None,
) -> float | None:
    """Return the least penalty or cost that brings the expected number of re-identifications down to a target.

    The risk of no record grows with money, under either adversary, so that every larger amount is enough too.

    Args:
        groups: The groups of the records.
        terms: All other terms.
        parameter: The deterrent, one of `glasshouse.economics.deterrents.COSTS`.
        expected: The expected number of re-identifications that is to be reached, from 0.
        adversary: "known" or "unknown".
        belief: As in `exposure`.

    Returns:
        The least amount, to the last digit; None: no amount is enough.

    Raises:
        StudyError: The deterrent, the adversary or the number makes no sense.
    """
    if parameter not in COSTS:
        raise StudyError(unknown_name("deterrent", parameter, text("what costs her money"), COSTS))
    if adversary not in (KNOWN, UNKNOWN):
        raise StudyError(
            unknown_name("adversary", adversary, text("the adversaries"), (KNOWN, UNKNOWN))
        )
    if not expected >= 0:
        raise StudyError(
            "`target` is {given}; give a number of re-identifications from 0 on",
            given=repr(expected),
        )
    which = 0 if adversary == KNOWN else 1
    view = _AdversaryView.of(groups, [terms.with_parameter(parameter, 0.0)], belief)

    def enough(amount: float) -> bool:
        risk = view.risks(terms.with_parameter(parameter, amount))[which]
        return float(risk.sum()) <= expected

    return least_amount(enough)


def losses_by_value(
    release: EncodedTable, column: str, losses: Mapping[str, float], *, other: float = 0.0
) -> Floats:
    """Return the loss of every record by the group of records that it belongs to: those with one value of a column.

    Args:
        release: The release.
        column: The column, such as the diagnosis.
        losses: What the re-identification of a record with each value costs.
        other: The same for values that are not named.

    Raises:
        DataError: There is no such column or value.
    """
    encoded = release.column(column)
    texts = encoded.values.to_pylist()
    for value in losses:
        if value not in texts:
            raise DataError(
                unknown_name("value", value, text('column "{name}"', name=column), texts)
            )
    by_code = np.array([losses.get(text, other) for text in texts], float)
    return _losses(by_code[encoded.codes], release.records)


@dataclass(frozen=True)
class _AdversaryView:
    """The groups as an adversary sees them, prepared once for many terms."""

    groups: PeopleGroups
    beliefs: SizeBeliefs
    """What she believes, per different share."""
    actual: SizeBeliefs
    """How the sizes are distributed in fact, where there is no register."""

    @classmethod
    def of(cls, groups: PeopleGroups, terms: Sequence[Terms], belief: int | None) -> _AdversaryView:
        people = groups.people
        if belief is not None:
            check_people(belief, 1)
            if belief > people:
                raise StudyError(
                    "`belief` is {given}, larger than the register {register} of {most}; give at most that",
                    given=belief,
                    register=groups.source,
                    most=people,
                )
        shares = groups.distinct_shares[0]
        largest = most_likely(people, shares)
        below = max((worthless_from(variant, largest) for variant in terms), default=1)
        actual = SizeBeliefs.of(people, shares, below=below)
        believed = (
            actual
            if belief in (None, people)
            else SizeBeliefs.of(int(belief or 0), shares, below=below)
        )
        return cls(groups, believed, actual)

    def risks(self, terms: Terms) -> tuple[Floats, Floats]:
        """Return the risk of every record, the size being known, and not."""
        place = self.groups.distinct_shares[1]
        by_size = linked_by_size(terms, self.actual.below - 1)
        _, accesses = expected_access(terms, self.beliefs, by_size)
        if self.groups.sizes is not None:
            sizes, by_record = self.groups.distinct_sizes
            known, after = risks_by_size(terms, sizes)
            return known[by_record], np.where(accesses[place], after[by_record], 0.0)
        known, after = risks_by_size(terms, np.arange(len(by_size)))
        expected_known, expected_after = self.actual.expect(known), self.actual.expect(after)
        return expected_known[place], np.where(accesses, expected_after, 0.0)[place]


def _losses(loss: float | Sequence[float] | Floats, records: int) -> Floats:
    losses = np.asarray(loss, float)
    if losses.ndim == 0:
        losses = np.full(records, float(losses))
    if len(losses) != records:
        raise DataError(
            "{losses} losses for {records} records; give one for each, or one",
            losses=len(losses),
            records=records,
        )
    if len(losses) and not (np.isfinite(losses).all() and losses.min() >= 0):
        raise DataError("a loss is negative or no number; give amounts from 0 on")
    return losses


def _summary(risk: Floats, expected: float, loss: float) -> dict[str, float | int]:
    return {
        "expected": expected,
        "loss": loss,
        "highest": float(risk.max(initial=0.0)),
        "at_risk": int(np.count_nonzero(risk)),
    }
