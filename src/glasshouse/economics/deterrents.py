"""What deters her: the least penalty, price, detection or size of a group that brings the risk down to a target.

What is monotone, and what is not (proofs in ``docs/deter.md``), for an adversary who knows the size of the group:

- the *value* of the attack, in every state, does not grow with a cost, the penalty, detection or the size of the group;
- so a state in which she stops stays one when money is added, and the *risk* does not grow with the penalty or a cost:
  it is a step function, and bisection finds the step;
- the risk may *rise* with the size of the group or with detection where penalties are limited: one that is paid early
  leaves nothing to fear. Between two changes of her policy it then grows with detection, and it falls only where the
  policy changes. These places are all found, by bisection on the number of states in which she goes on.

All of this holds for an adversary who does not know the size, too: what access is worth to her is a mean of values, and
after access she does what one does who knows. Only the size of the group deters her otherwise: the largest value is
that of few people, not of nobody. Every size is looked at, up to that from which on nobody is tried after access.

A result names two values: the least at which the risk is at most the target, and the least from which on it stays so.
Floating-point numbers are exact in this sense: the number just below is not enough.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

import numpy as np
import pyarrow as pa

from glasshouse.arrays import Floats
from glasshouse.economics.backward_induction import decisions, plan
from glasshouse.economics.optimal_plan import (
    Thresholds,
    access_values,
    attack_value,
    risks_by_size,
    thresholds,
    worthless_from,
)
from glasshouse.economics.terms import Terms, check_parameter, check_people, check_size
from glasshouse.errors import BudgetError, StudyError
from glasshouse.language import text, unknown_name
from glasshouse.progress import OnProgress, Progress

COSTS = ("penalty", "access_cost", "link_cost", "exploit_cost")
"""The deterrents that are money."""
DETERRENTS = (*COSTS, "detection")
"""What can deter, beside the size of the group; detection by the rate of the first exploit."""
MOST_MONEY = 1e30
"""No larger amount is looked for."""

_LEAST_RATE, _GREATEST_RATE = 1e-300, 1 - 2.0**-53
_MOST_LOOKED_AT = 20_000
"""Up to this size it is looked where the risk rises with the size, even if nothing depends on it."""
_NOTICEABLE = 1e-12
"""Risks so near to each other are equal but for rounding."""


@dataclass(frozen=True)
class Deterrent:
    """How much of one deterrent is enough."""

    parameter: str
    """One of the `DETERRENTS`, or "size"."""
    size: int | None
    """The size of the group that is asked about; None where it is the deterrent."""
    target: float
    """The risk that is to be reached."""
    least: float | None
    """The least value at which the risk is at most the target; None: there is none."""
    lasting: float | None
    """The least value from which on the risk stays at most the target; None: there is none."""
    risk: float | None
    """The risk at ``least``."""
    rises: tuple[int, ...] | None = None
    """Where the size is the deterrent: the sizes whose risk is above that of the size before; None: not looked at."""

    @property
    def warning(self) -> str | None:
        """A sentence where more of the deterrent is not always safer; else None."""
        if self.parameter == "size" and self.rises:
            count = len(self.rises)
            return (
                f"the risk rises with the size of the group at {count} {'size' if count == 1 else 'sizes'}, first from "
                f"{self.rises[0] - 1} to {self.rises[0]}: a larger k is not always safer"
            )
        if self.least is not None and self.lasting is None:
            return "the risk rises again beyond the least value, and no value is lasting"
        if self.least != self.lasting:
            return "the risk rises again beyond the least value; take the lasting one"
        return None

    def to_dict(self) -> dict[str, Any]:
        """Return the outcome as plain values."""
        rises = None if self.rises is None else list(self.rises)
        return asdict(self) | {"rises": rises, "warning": self.warning}

    def to_frame(self) -> pa.Table:
        """Return one row; null where nothing is enough."""
        return pa.Table.from_pylist([self.to_dict()], schema=_SCHEMA)


@dataclass(frozen=True)
class Frontier:
    """How much of a deterrent each size of the group needs."""

    parameter: str
    """The deterrent."""
    target: float
    """The risk that is to be reached."""
    deterrents: tuple[Deterrent, ...] = field(repr=False)
    """One per size."""

    def to_dict(self) -> dict[str, Any]:
        """Return every size as plain values."""
        return {
            "parameter": self.parameter,
            "target": self.target,
            "deterrents": [enough.to_dict() for enough in self.deterrents],
        }

    def to_frame(self) -> pa.Table:
        """Return one row per size; null where nothing is enough."""
        rows = [enough.to_dict() for enough in self.deterrents]
        return pa.Table.from_pylist(rows, schema=_SCHEMA).select(["size", "least", "lasting"])


@dataclass(frozen=True)
class Sensitivity:
    """Thresholds and risks against one parameter, all others fixed."""

    parameter: str
    """What varies."""
    values: Floats = field(repr=False)
    """The values that it takes."""
    thresholds: tuple[Thresholds, ...] = field(repr=False)
    """The thresholds at each of them."""
    sizes: tuple[int, ...]
    """The sizes of groups whose risk is told."""
    risks: Floats = field(repr=False)
    """Per value and size, the probability of re-identification, the size being known."""

    def to_dict(self) -> dict[str, Any]:
        """Return thresholds and risks as plain values, in the order of the values."""
        return {
            "parameter": self.parameter,
            "values": self.values.tolist(),
            "thresholds": [thresholds.to_dict() for thresholds in self.thresholds],
            "sizes": list(self.sizes),
            "risks": self.risks.tolist(),
        }

    def to_frame(self) -> pa.Table:
        """Return one row per value: the thresholds, and a column ``risk_s`` per size s."""
        rows = [limits.to_dict() for limits in self.thresholds]
        columns: dict[str, Any] = {self.parameter: self.values}
        for name in ("no_attack", "no_exploit_after_access", "first_partial", "baseline"):
            columns[name] = pa.array([row[name] for row in rows], pa.int64())
        for place, size in enumerate(self.sizes):
            columns[f"risk_{size}"] = self.risks[:, place]
        return pa.table(columns)


_SCHEMA = pa.schema(
    [
        ("parameter", pa.string()),
        ("size", pa.int64()),
        ("target", pa.float64()),
        ("least", pa.float64()),
        ("lasting", pa.float64()),
        ("risk", pa.float64()),
        ("rises", pa.list_(pa.int64())),
        ("warning", pa.string()),
    ]
)


def least(
    terms: Terms, parameter: str, *, size: int, target: float = 0.0, belief: int | None = None
) -> Deterrent:
    """Return how much of a deterrent brings the risk of a group down to a target.

    Args:
        terms: The terms of the attack; the present value of the deterrent plays no part.
        parameter: One of the `DETERRENTS`.
        size: The size of the group.
        target: The risk that is to be reached, from 0.
        belief: The size of the register, if she does not know that of the group; see `policy`.

    Raises:
        StudyError: The deterrent, the size or the target makes no sense.

    >>> least(Terms(), "access_cost", size=45).least < 100 < least(Terms(), "access_cost", size=44).least
    True
    """
    if parameter not in DETERRENTS:
        raise StudyError(unknown_name("deterrent", parameter, text("what can deter"), DETERRENTS))
    check_size(size)
    _check_target(target)
    if belief is not None:
        check_people(belief, size)
    if parameter == "detection" and 0 < target < terms.prior:
        return _least_detection(terms, size, target, belief)

    def enough(value: float) -> bool:
        return group_risk(terms.with_parameter(parameter, value), size, belief) <= target

    least_value = _least_rate(enough) if parameter == "detection" else least_amount(enough)
    return _deterrent(terms, parameter, size, target, least_value, least_value, belief)


def least_size(terms: Terms, *, target: float = 0.0, belief: int | None = None) -> Deterrent:
    """Return how large a group must be, and where the risk rises with the size.

    Args:
        terms: The terms of the attack.
        target: The risk that is to be reached, from 0.
        belief: The size of the register, if she does not know that of the group: no group is larger.

    Raises:
        StudyError: The target or the belief makes no sense.
        BudgetError: Too many sizes would have to be looked at.

    >>> least_size(Terms(penalties=1)).least
    48
    """
    _check_target(target)
    if belief is not None:
        return _least_believed_size(terms, target, belief)
    limits = thresholds(terms)
    end, first = limits.no_attack, limits.first_partial
    if end is None:
        if target >= terms.prior:
            return Deterrent("size", None, target, 1, 1, terms.prior)
        if target == 0 or first is None:
            return Deterrent("size", None, target, None, None, None)
        raise BudgetError(
            "`sizes`: the attack pays in groups of any size that can be looked at; raise `access_cost` or another "
            "cost"
        )
    if target == 0 and end > _MOST_LOOKED_AT:
        return Deterrent("size", None, target, end, end, 0.0)
    # every size before `first` has the risk of the prior, and every one from `end` on has none
    begin = end if first is None else first
    risks = np.append(risks_by_size(terms, np.arange(begin, end))[0], 0.0)
    steps = np.concatenate([[terms.prior if begin > 1 else np.inf], risks])
    rises = begin + np.flatnonzero(np.diff(steps) > _NOTICEABLE)
    fits = np.flatnonzero(risks <= target)
    above = np.flatnonzero(risks > target)
    smallest, risk = begin + int(fits[0]), float(risks[fits[0]])
    lasting = begin + int(above[-1]) + 1 if len(above) else begin
    if target >= terms.prior:
        smallest, lasting, risk = 1, 1, terms.prior if begin > 1 else float(risks[0])
    return Deterrent("size", None, target, smallest, lasting, risk, tuple(rises.tolist()))


def _least_believed_size(terms: Terms, target: float, belief: int) -> Deterrent:
    """Look at every size up to that from which on nobody is tried, though access be paid."""
    check_people(belief, 1)
    end = worthless_from(terms, min(belief, _MOST_LOOKED_AT + 1))
    if _MOST_LOOKED_AT < end <= belief:
        raise BudgetError(
            "`belief`: somebody is tried in groups of more than {most}, and so many sizes are not looked at; raise "
            "`exploit_cost` or another cost",
            most=_MOST_LOOKED_AT,
        )
    sizes = np.arange(1, end)
    attacked = access_values(terms, belief, sizes / belief)[1] if len(sizes) else np.zeros(0, bool)
    risks = np.where(attacked, risks_by_size(terms, sizes)[1], 0.0)
    if end <= belief:
        risks = np.append(risks, 0.0)
    fits, above = np.flatnonzero(risks <= target), np.flatnonzero(risks > target)
    lasting = int(above[-1]) + 2 if len(above) else 1
    return Deterrent(
        "size",
        None,
        target,
        int(fits[0]) + 1 if len(fits) else None,
        lasting if lasting <= len(risks) else None,
        float(risks[fits[0]]) if len(fits) else None,
        tuple((2 + np.flatnonzero(np.diff(risks) > _NOTICEABLE)).tolist()),
    )


def frontier(
    terms: Terms,
    sizes: Sequence[int] | range,
    *,
    parameter: str = "penalty",
    target: float = 0.0,
    on_progress: OnProgress | None = None,
) -> Frontier:
    """Return, for each size of the group, how much of a deterrent is enough: what may be traded for what.

    Raises:
        StudyError: The deterrent, a size or the target makes no sense.
    """
    deterrents = []
    for done, size in enumerate(sizes, 1):
        deterrents.append(least(terms, parameter, size=size, target=target))
        if on_progress is not None:
            on_progress(Progress("solving", done, len(sizes)))
    return Frontier(parameter, target, tuple(deterrents))


def sensitivity(
    terms: Terms,
    parameter: str,
    values: Sequence[float],
    *,
    sizes: Sequence[int] = (),
    on_progress: OnProgress | None = None,
) -> Sensitivity:
    """Return thresholds, and the risk of groups of some sizes, against one parameter.

    Args:
        terms: All other terms.
        parameter: What varies: one of `glasshouse.economics.terms.PARAMETERS`.
        values: The values that it takes.
        sizes: The sizes of groups whose risk is wanted.
        on_progress: Called after every value.

    Raises:
        StudyError: The parameter, a value or a size makes no sense.

    >>> terms = Terms(prior=1.0, gain=1_000.0)
    >>> curve = sensitivity(terms, "penalty", [0, 10_000, 50_000])
    >>> [each.no_attack for each in curve.thresholds]
    [44, 11, 3]
    """
    check_parameter(parameter)
    for size in sizes:
        check_size(size)
    risks = np.zeros((len(values), len(sizes)))
    limits = []
    for place, value in enumerate(values):
        varied = terms.with_parameter(parameter, value)
        limits.append(thresholds(varied))
        risks[place] = [group_risk(varied, size) for size in sizes]
        if on_progress is not None:
            on_progress(Progress("solving", place + 1, len(values)))
    return Sensitivity(parameter, np.array(values, float), tuple(limits), tuple(sizes), risks)


def group_risk(terms: Terms, size: int, belief: int | None = None) -> float:
    """Return the probability that she re-identifies the target in a group, whose size she knows unless she believes."""
    optimum = plan(terms, size)
    if not _is_attacked(terms, size, float(optimum.value[0]), belief):
        return 0.0
    return float(optimum.risk(terms.prior)[0])


def _is_attacked(terms: Terms, size: int, value: float, belief: int | None) -> bool:
    """Tell whether she pays for access and then goes on, where it is worth ``value`` after access and link."""
    if belief is None:
        return attack_value(terms, value) > 0
    after = terms.discount * value > terms.link_cost
    return after and bool(access_values(terms, belief, np.array([size / belief]))[1][0])


def least_amount(enough: Callable[[float], bool]) -> float | None:
    """Return the least amount of money that is enough, where every larger one is too; None: not even `MOST_MONEY`."""
    if enough(0.0):
        return 0.0
    low, high = 0.0, 1.0
    while not enough(high):
        low, high = high, 2 * high
        if high > MOST_MONEY:
            return None
    return _first_enough(enough, low, high)


def _least_rate(enough: Callable[[float], bool]) -> float | None:
    """Return the least rate of detection that is enough, where every larger one is too; 0 where any is."""
    if enough(_LEAST_RATE):
        return 0.0
    if not enough(_GREATEST_RATE):
        return None
    return _first_enough(enough, _LEAST_RATE, _GREATEST_RATE)


def _first_enough(enough: Callable[[float], bool], low: float, high: float) -> float:
    """Return the least number that is enough, between one that is not and one that is: the number before it is not."""
    while (middle := _between(low, high)) is not None:
        low, high = (low, middle) if enough(middle) else (middle, high)
    return high


def _between(low: float, high: float) -> float | None:
    """Return a number between two others, halfway on the scale that suits them; None: there is none."""
    middle = math.sqrt(low) * math.sqrt(high) if 0 < 4 * low < high else low + (high - low) / 2
    return middle if low < middle < high else None


def _least_detection(terms: Terms, size: int, target: float, belief: int | None) -> Deterrent:
    """Look at every piece on which the policy is the same: the risk grows on it, and may fall at its end."""
    starts = [0.0, *_changes(terms, size, _LEAST_RATE, _GREATEST_RATE, belief)]
    ends = [*(math.nextafter(start, 0.0) for start in starts[1:]), _GREATEST_RATE]
    at_starts, at_ends = (
        [
            group_risk(terms.with_detection_rate(max(rate, _LEAST_RATE)), size, belief)
            for rate in rates
        ]
        for rates in (starts, ends)
    )
    fitting = [start for start, risk in zip(starts, at_starts, strict=True) if risk <= target]
    pieces = enumerate(zip(at_starts, at_ends, strict=True))
    failing = [place for place, risks in pieces if max(risks) > target]
    first = fitting[0] if fitting else None
    after = failing[-1] + 1 if failing else 0
    lasting = starts[after] if after < len(starts) else None
    return _deterrent(terms, "detection", size, target, first, lasting, belief)


def _changes(
    terms: Terms, size: int, low: float, high: float, belief: int | None = None
) -> list[float]:
    """Return the rates of detection at which the policy changes, ascending: she stops in more and more states."""
    rates: list[float] = []
    at_low, at_high = (_exploit_states(terms, size, rate, belief) for rate in (low, high))
    open_parts = [(low, at_low, high, at_high)]
    while open_parts:
        low, at_low, high, at_high = open_parts.pop()
        if at_low == at_high:
            continue
        middle = _between(low, high)
        if middle is None:
            rates.append(high)
            continue
        at_middle = _exploit_states(terms, size, middle, belief)
        open_parts.append((middle, at_middle, high, at_high))
        open_parts.append((low, at_low, middle, at_middle))
    return rates


def _exploit_states(terms: Terms, size: int, rate: float, belief: int | None) -> int:
    """Return the number of states that she comes to and in which she exploits once more; 0: she does not begin."""
    varied = terms.with_detection_rate(rate)
    if not _is_attacked(varied, size, float(plan(varied, size).value[0]), belief):
        return 0
    return int(np.count_nonzero(decisions(varied, size)))


def _deterrent(
    terms: Terms,
    parameter: str,
    size: int,
    target: float,
    first: float | None,
    lasting: float | None,
    belief: int | None,
) -> Deterrent:
    risk = None
    if first is not None:
        at = max(first, _LEAST_RATE) if parameter == "detection" else first
        risk = group_risk(terms.with_parameter(parameter, at), size, belief)
    return Deterrent(parameter, size, target, first, lasting, risk)


def _check_target(target: float) -> None:
    if not 0 <= target <= 1:
        raise StudyError(
            "`target` is {given}; it is a probability, give a number from 0 to 1",
            given=repr(target),
        )
