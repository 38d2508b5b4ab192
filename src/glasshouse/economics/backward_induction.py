"""Backward induction for one group at a time: compiled, exact, and linear in the size of the group.

After j exploits without success the next one succeeds with probability 1/(s/prior − j) (equation 3 of Xia et al. 2015).
The probability of getting there is 1 − j·prior/s: every exploit has the *same* unconditional chance u = prior/s.
Multiplied by the probability of getting there, the value of having made j exploits and paid p penalties is

    v_j(p) = γ·G·u − (1 − j·u)·(C_e + γ·d_j·C_p·[a penalty is due]) + γ·(d_j·U_{j+1}(p + 1) + (1 − d_j)·U_{j+1}(p))
    U_j(p) = max(v_j(p), 0),  U_s = 0,  d_j = σ(h0 + h1·j)

and an exploit is worth while iff v_j(p) > 0; at 0 she terminates. V(s) = U_0(0). ``docs/deter.md`` proves it, and
that V does not grow with s: from the first worthless size on, all are.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from glasshouse.arrays import Flags, Floats, Integers
from glasshouse.compiled import called, compiled
from glasshouse.economics.terms import UNLIMITED, Terms
from glasshouse.errors import BudgetError
from glasshouse.language import number

MOST_STEPS = 20_000_000_000
"""So many steps of the induction are taken at most for one question, about a minute of one core."""


class _Numbers(NamedTuple):
    """The terms as compiled code reads them."""

    discount: float
    prior: float
    gain: float
    exploit_cost: float
    penalty: float
    fines: int
    """How many penalties are paid at most, or `UNLIMITED`."""


@dataclass(frozen=True)
class Plans:
    """What she does in groups of several sizes, once she has access and the link is made."""

    sizes: Integers
    """The sizes, ascending."""
    value: Floats
    """Per size, what the best plan is worth: V(s)."""
    planned: Floats
    """Per size, the expected number of exploits if none succeeds: the risk is u times it."""
    fewest: Integers
    """Per size, the number of exploits in the worst course of detections, if none succeeds."""
    undetected: Integers
    """Per size, the number of exploits if none succeeds and none is detected."""

    def risk(self, prior: float) -> Floats:
        """Return, per size, the probability of re-identification; exactly the prior where everybody is tried."""
        risk = prior / self.sizes * self.planned
        return np.where(self.fewest == self.sizes, prior, np.minimum(risk, prior))


def plans(terms: Terms, sizes: Integers) -> Plans:
    """Solve the process after access and link for groups of several sizes.

    Args:
        terms: The terms of the attack.
        sizes: The sizes, ascending, from 1 on.

    Raises:
        BudgetError: There would be too many steps.
    """
    _refuse_large(terms, sizes)
    rates = terms.detection_rates(int(sizes[-1]) if len(sizes) else 0)
    value, planned = np.zeros(len(sizes)), np.zeros(len(sizes))
    fewest, undetected = np.zeros(len(sizes), np.int64), np.zeros(len(sizes), np.int64)
    _solve_all(sizes, _numbers(terms), rates, value, planned, fewest, undetected)
    return Plans(sizes, value, planned, fewest, undetected)


def plan(terms: Terms, size: int) -> Plans:
    """Solve the process after access and link for one size."""
    return plans(terms, np.array([size], np.int64))


def decisions(terms: Terms, size: int) -> Flags:
    """Return whether she exploits once more, by the number of exploits (rows) and of penalties paid (columns).

    States that she never comes to are False. Where penalties are not limited one column stands for all.
    """
    rates = terms.detection_rates(size)
    chosen: Flags = _decide(size, _numbers(terms), rates)
    return chosen


def _numbers(terms: Terms) -> _Numbers:
    return _Numbers(
        terms.discount, terms.prior, terms.gain, terms.exploit_cost, terms.penalty, terms.fines
    )


def _refuse_large(terms: Terms, sizes: Integers) -> None:
    limited = sizes if terms.penalties is None else sizes[sizes > terms.penalties]
    fines = terms.penalties or 0
    steps = float(sizes.sum(dtype=np.float64) + fines * limited.sum(dtype=np.float64))
    if steps > MOST_STEPS:
        raise BudgetError(
            "`sizes`: {sizes} group sizes up to {largest} would take {steps} steps, more than "
            "{most}; ask about fewer sizes or smaller groups",
            sizes=len(sizes),
            largest=int(sizes[-1]),
            steps=number(steps, ".1e"),
            most=number(MOST_STEPS, ".0e"),
        )


@compiled
def _levels(size: int, fines: int) -> int:
    """Return how many counts of penalties are told apart: one where no limit can be reached."""
    return 1 if fines == UNLIMITED or fines >= size else fines + 1


@called
def _is_due(p: int, levels: int, fines: int) -> bool:
    """Tell whether a detection is punished after so many penalties; the last of several counts is that of all."""
    return fines != 0 if levels == 1 else p < levels - 1


@compiled
def _worth(
    p: int,
    top: int,
    due: bool,
    u: float,
    alive: float,
    rate: float,
    numbers: _Numbers,
    ahead: Floats,
) -> float:
    """Return v_j(p), given U_{j+1}."""
    cost = numbers.exploit_cost
    if due:
        cost += numbers.discount * rate * numbers.penalty
    after = min(p + 1, top)
    later = rate * ahead[after] + (1 - rate) * ahead[p]
    worth: float = numbers.discount * (numbers.gain * u + later) - alive * cost
    return worth


@called
def _solve(
    size: int,
    numbers: _Numbers,
    rates: Floats,
    ahead: Floats,
    planned: Floats,
    fewest: Integers,
) -> int:
    """Leave the value, the planned and the fewest exploits in the first cells; return the undetected exploits."""
    levels = _levels(size, numbers.fines)
    top = levels - 1
    u = numbers.prior / size
    ahead[:levels] = 0.0
    planned[:levels] = 0.0
    fewest[:levels] = 0
    undetected = 0
    for j in range(size - 1, -1, -1):
        alive = max(1 - j * u, 0.0)
        rate = rates[j]
        for p in range(min(j, top) + 1):
            due = _is_due(p, levels, numbers.fines)
            v = _worth(p, top, due, u, alive, rate, numbers, ahead)
            if v > 0:
                after = min(p + 1, top)
                ahead[p] = v
                planned[p] = 1 + rate * planned[after] + (1 - rate) * planned[p]
                if rate >= 1 or (rate > 0 and fewest[after] < fewest[p]):
                    fewest[p] = fewest[after]
                fewest[p] += 1
                if p == 0:
                    undetected += 1
            else:
                ahead[p] = 0.0
                planned[p] = 0.0
                fewest[p] = 0
                if p == 0:
                    undetected = 0
    return undetected


@compiled
def _solve_all(
    sizes: Integers,
    numbers: _Numbers,
    rates: Floats,
    value: Floats,
    planned: Floats,
    fewest: Integers,
    undetected: Integers,
) -> None:
    """Solve every size, ascending, until one is worthless; what follows stays zero."""
    room = 1
    if numbers.fines > 0 and sizes.size > 0:
        room += min(numbers.fines, sizes[-1])
    ahead, plan_ahead = np.empty(room), np.empty(room)
    fewest_ahead = np.empty(room, np.int64)
    for i in range(sizes.size):
        last = _solve(sizes[i], numbers, rates, ahead, plan_ahead, fewest_ahead)
        if ahead[0] <= 0:
            return
        value[i] = ahead[0]
        planned[i] = plan_ahead[0]
        fewest[i] = fewest_ahead[0]
        undetected[i] = last


@compiled
def _decide(size: int, numbers: _Numbers, rates: Floats) -> Flags:
    levels = _levels(size, numbers.fines)
    top = levels - 1
    u = numbers.prior / size
    ahead = np.zeros(levels)
    exploits = np.zeros((size, levels), np.bool_)
    for j in range(size - 1, -1, -1):
        alive = max(1 - j * u, 0.0)
        for p in range(min(j, top) + 1):
            due = _is_due(p, levels, numbers.fines)
            v = _worth(p, top, due, u, alive, rates[j], numbers, ahead)
            exploits[j, p] = v > 0
            ahead[p] = max(v, 0.0)
    reached = np.zeros((size + 1, levels), np.bool_)
    reached[0, 0] = True
    for j in range(size):
        for p in range(levels):
            exploits[j, p] &= reached[j, p]
            if exploits[j, p]:
                if rates[j] > 0:
                    reached[j + 1, min(p + 1, top)] = True
                if rates[j] < 1:
                    reached[j + 1, p] = True
    return exploits
