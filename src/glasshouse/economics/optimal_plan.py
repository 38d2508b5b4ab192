"""Would she attack, how far, and with what success: the optimal policy for every size of a group.

Before access she expects the value V(s) of `glasshouse.economics.backward_induction` two steps later, and attacks iff

    known group:    −C_d + γ·W(g) > 0,               W(s) = max(0, −C_l + γ·V(s))
    unknown group:  −C_d + γ·Σ_k B(k; n, p)·W(k) > 0

Once access is paid its price is sunk: she links and exploits iff W of the *actual* size is positive. So an adversary
who does not know the size may succeed where one who knows it would not even begin, and the reverse (findings 4 and 5 of
Xia et al. 2015).

What she believes about a size that she does not know is binomial (equation 6): the register is a random sample of n
people; a person is like the target with the share p that such people have in the population, so that the group has k
people with probability B(k; n, p). The probabilities are found by walking from the most likely size down and up, each
from its neighbour, until they no longer count, and dividing by their sum: no logarithm of a factorial, whose rounding
would spoil nine digits where n is in the millions.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
import pyarrow as pa

from glasshouse.arrays import Flags, Floats, Integers
from glasshouse.compiled import called, compiled
from glasshouse.economics.backward_induction import Plans, plan, plans
from glasshouse.economics.terms import Terms, check_people, check_size
from glasshouse.errors import BudgetError, StudyError

MOST_SIZE = 1_000_000
"""Thresholds are looked for among groups up to this size."""
_NEGLIGIBLE = 1e-25
"""A probability so much smaller than the greatest is left out, and all beyond."""
_FEW = 256
"""So many sizes are solved at once before any is looked for by bisection."""
_MOST_SCANNED = 10_000
"""With falling detection so many sizes are looked at one by one."""


@dataclass(frozen=True)
class Thresholds:
    """From which size of the group on she changes her mind; None: at no size up to `MOST_SIZE`."""

    no_attack: int | None
    """The least size at which an adversary who knows it does not pay for access; nor does she at any larger one."""
    no_exploit_after_access: int | None
    """The least size at which she exploits nobody although access is paid already; nor does she at any larger one."""
    first_partial: int | None
    """The least size at which she does not go on until she succeeds or everybody was tried, knowing the size."""
    baseline: int | None
    """The least size at which the one-shot adversary does not attack."""

    def to_dict(self) -> dict[str, int | None]:
        """Return the thresholds by name."""
        return asdict(self)

    def to_frame(self) -> pa.Table:
        """Return one row: a column per threshold, null where there is none."""
        return pa.table({name: pa.array([size], pa.int64()) for name, size in asdict(self).items()})


@dataclass(frozen=True)
class Policy:
    """What the optimal adversary does with groups of several sizes."""

    terms: Terms
    """The terms on which she attacks."""
    belief: int | None
    """The size of the register that she draws her belief from; None: she knows the size of the group."""
    sizes: Integers = field(repr=False)
    """The sizes of groups."""
    value: Floats = field(repr=False)
    """Per size, what the attack is worth to her before access; 0: she does not begin. With a belief, the size is that
    which she expects."""
    value_after_access: Floats = field(repr=False)
    """Per size, what it is worth once she has access and the link is made, V(s)."""
    exploits: Integers = field(repr=False)
    """Per size, how many people she tries if she is neither successful nor detected."""
    exploits_after_access: Integers = field(repr=False)
    """The same if access is paid already."""
    reidentification: Floats = field(repr=False)
    """Per size, the probability that she re-identifies the target."""
    reidentification_after_access: Floats = field(repr=False)
    """The same if access is paid already."""

    @cached_property
    def thresholds(self) -> Thresholds:
        """The thresholds, of the known group; computed when they are asked for.

        Raises:
            BudgetError: Too many sizes would have to be looked at.
        """
        return thresholds(self.terms)

    def to_dict(self) -> dict[str, Any]:
        """Return thresholds and sizes as plain values, in the form of ``deter --json``."""
        rows = self.to_frame().select(_ROW).to_pylist()
        return {"thresholds": self.thresholds.to_dict(), "sizes": rows}

    def to_frame(self) -> pa.Table:
        """Return one row per size."""
        further = ("exploits_after_access", "reidentification_after_access")
        return pa.table(
            {"size": self.sizes} | {name: getattr(self, name) for name in (*_ROW[1:], *further)}
        )


@dataclass(frozen=True)
class SizeBeliefs:
    """Distributions of the size of a group, one per share, as far as the sizes matter."""

    people: int
    """The number of people in the register, n."""
    shares: Floats
    """Per belief, the share of the population that is like the target, p."""
    below: int
    """Only the probabilities of sizes below this one are kept."""
    first: Integers
    """Per belief, the least size that is kept."""
    starts: Integers
    """Per belief, where its probabilities begin in ``chances``; one more entry closes the last."""
    chances: Floats
    """The probabilities of successive sizes, belief after belief."""

    @classmethod
    def of(cls, people: int, shares: Floats, *, below: int) -> SizeBeliefs:
        """Return the beliefs about a register of so many people, for sizes below a limit."""
        shares = np.ascontiguousarray(shares, np.float64)
        first, lengths, sums = _windows(people, shares, below)
        starts = np.concatenate([np.zeros(1, np.int64), np.cumsum(lengths)])
        chances = np.empty(int(starts[-1]))
        _fill(people, shares, first, starts, sums, chances)
        return cls(people, shares, below, first, starts, chances)

    def expect(self, by_size: Floats) -> Floats:
        """Return, per belief, the expectation of something that is given by size, from 0 on, and 0 beyond.

        >>> SizeBeliefs.of(2, np.array([0.5]), below=3).expect(np.array([0.0, 0.0, 8.0])).tolist()
        [2.0]
        """
        expected: Floats = _expect(self.first, self.starts, self.chances, by_size[: self.below])
        return expected


@dataclass(frozen=True)
class Baseline:
    """What the adversary of Wan et al. 2015 does, who decides once and tries one person."""

    sizes: Integers
    """The sizes of groups."""
    payoff: Floats
    """Per size, what the attack is worth (equation 7 of Xia et al. 2015)."""
    reidentification: Floats
    """Per size, the probability that she re-identifies the target."""

    def to_dict(self) -> dict[str, Any]:
        """Return a list of numbers per field."""
        return dict(self.to_frame().to_pydict())

    def to_frame(self) -> pa.Table:
        """Return one row per size."""
        return pa.table(
            {"size": self.sizes, "payoff": self.payoff, "reidentification": self.reidentification}
        )


_ROW = ("size", "value", "value_after_access", "exploits", "reidentification")


def policy(terms: Terms, sizes: Sequence[int] | range, *, belief: int | None = None) -> Policy:
    """Return the optimal policy for groups of several sizes.

    Args:
        terms: The terms on which she attacks.
        sizes: The sizes of groups.
        belief: The size n of the register, if she does not know that of the group: she then expects each size s, by
            the binomial distribution with n and s/n, and the actual size is s.

    Raises:
        StudyError: There are no sizes, one is not a whole number from 1 on, or one is larger than the register.
        BudgetError: There are too many, and too large ones.

    >>> from glasshouse.economics.terms import Terms
    >>> best = policy(Terms(penalties=1), range(1, 101))
    >>> best.thresholds.no_attack, best.exploits[:3].tolist(), float(best.reidentification[47])
    (48, [1, 2, 3], 0.0)
    """
    group_sizes = _size_array(sizes)
    if belief is not None:
        check_people(belief, int(group_sizes.max()))
    distinct, place = np.unique(group_sizes, return_inverse=True)
    solved = solve(terms, distinct)
    linked = linked_values(terms, solved.value)
    if belief is None:
        value = np.maximum(terms.discount * linked - terms.access_cost, 0.0)
        attacks = value > 0
    else:
        expected, attacks = access_values(terms, belief, distinct / belief)
        value = np.where(attacks, np.maximum(expected, 0.0), 0.0)
    risk = np.where(linked > 0, solved.risk(terms.prior), 0.0)
    exploits = np.where(linked > 0, solved.undetected, 0)
    return Policy(
        terms=terms,
        belief=belief,
        sizes=group_sizes,
        value=value[place],
        value_after_access=solved.value[place],
        exploits=np.where(attacks, exploits, 0)[place],
        exploits_after_access=exploits[place],
        reidentification=np.where(attacks, risk, 0.0)[place],
        reidentification_after_access=risk[place],
    )


def thresholds(terms: Terms) -> Thresholds:
    """Return the sizes from which on she changes her mind, exactly.

    The value does not grow with the size, so that the first two are found by bisection if they are not small. So is the
    third where detection does not fall with further exploits, or the target is certain to be in the register: whoever
    tries everybody in a group then does so in every smaller one. Else the sizes are looked at one by one.

    Raises:
        BudgetError: Detection falls, and too many sizes would have to be looked at.

    >>> from glasshouse.economics.terms import Terms
    >>> thresholds(Terms(detection=(-4.59, 0.18))).to_dict()
    {'no_attack': 29, 'no_exploit_after_access': 46, 'first_partial': 14, 'baseline': 24}
    """
    few = _small_plans(terms, _FEW)
    if few.value[-1] <= 0:
        return _thresholds_among(terms, few)

    no_attack = first_failing(lambda size: attack_value(terms, _value(terms, size)) > 0)
    return Thresholds(
        no_attack=no_attack,
        no_exploit_after_access=first_failing(
            lambda size: terms.discount * _value(terms, size) > terms.link_cost
        ),
        first_partial=_first_partial(terms, no_attack),
        baseline=_baseline_threshold(terms),
    )


def one_shot(terms: Terms, sizes: Sequence[int] | range) -> Baseline:
    """Return payoff and success of a one-shot adversary: G·prior/g − p_det·C_p − C_d − C_l − C_e > 0, then one person.

    >>> from glasshouse.economics.terms import Terms
    >>> one_shot(Terms(), [23, 24]).payoff.round(1).tolist()
    [8.6, -0.5]
    """
    group_sizes = _size_array(sizes)
    payoff = terms.gain * terms.prior / group_sizes - _one_shot_cost(terms)
    return Baseline(group_sizes, payoff, np.where(payoff > 0, terms.prior / group_sizes, 0.0))


def attack_value(terms: Terms, value: float) -> float:
    """Return the value of an attack before access, where it is ``value`` after access and link."""
    linked = max(terms.discount * value - terms.link_cost, 0.0)
    return max(terms.discount * linked - terms.access_cost, 0.0)


def linked_values(terms: Terms, value: Floats) -> Floats:
    """Return W, what access is worth when it is paid and the size is known: max(0, −C_l + γ·V)."""
    return np.maximum(terms.discount * value - terms.link_cost, 0.0)


def access_values(terms: Terms, people: int, shares: Floats) -> tuple[Floats, Flags]:
    """Return the value of access to an adversary who does not know the size, and whether she takes it.

    Args:
        terms: The terms on which she attacks.
        people: The number of people in the register, n.
        shares: The shares of the population that are like the target, p.

    Returns:
        −C_d + γ·Σ_k B(k; n, p)·W(k) for each share, and whether it is positive.
    """
    by_size = linked_by_size(terms, most_likely(people, shares))
    beliefs = SizeBeliefs.of(people, shares, below=len(by_size))
    return expected_access(terms, beliefs, by_size)


def expected_access(terms: Terms, beliefs: SizeBeliefs, by_size: Floats) -> tuple[Floats, Flags]:
    """Return the value of access under each belief, given W by size, and whether she takes it."""
    value = terms.discount * beliefs.expect(by_size) - terms.access_cost
    attacks = value > 0
    if terms.access_cost == 0 and len(by_size) > 1 and by_size[1] > 0:
        # free access is taken for the least chance, however far below what a float can hold
        attacks |= (beliefs.shares > 0) & (beliefs.shares < 1)
    return value, attacks


def linked_by_size(terms: Terms, largest: int) -> Floats:
    """Return W by size, from 0 up to the largest that matters: that is the last before all are worthless."""
    end = worthless_from(terms, largest)
    by_size = np.zeros(end)
    by_size[1:] = linked_values(terms, plans(terms, np.arange(1, end)).value)
    return by_size


def most_likely(people: int, shares: Floats) -> int:
    """Return the largest size that is likely enough under any of the beliefs to count at all."""
    mean = people * float(np.max(shares, initial=0.0))
    return min(people, math.ceil(mean + 16 * math.sqrt(mean) + 100))


def worthless_from(terms: Terms, largest: int) -> int:
    """Return the first size at which nothing is worth while after access and link, or the one after the largest."""
    worthless = np.flatnonzero(_small_plans(terms, largest).value <= 0)
    if len(worthless) or largest <= _FEW:
        return int(worthless[0]) + 1 if len(worthless) else largest + 1
    end = first_failing(lambda size: _value(terms, size) > 0, most=largest)
    return largest + 1 if end is None else end


def solve(terms: Terms, sizes: Integers) -> Plans:
    """Solve groups of several sizes, ascending; no step is spent on those that are worthless."""
    end = worthless_from(terms, int(sizes[-1])) if len(sizes) else 0
    worth = plans(terms, sizes[sizes < end])
    rest = (0, len(sizes) - len(worth.sizes))
    return Plans(
        sizes=sizes,
        value=np.pad(worth.value, rest),
        planned=np.pad(worth.planned, rest),
        fewest=np.pad(worth.fewest, rest),
        undetected=np.pad(worth.undetected, rest),
    )


def risks_by_size(terms: Terms, sizes: Integers) -> tuple[Floats, Floats]:
    """Return the risk of groups of some sizes, ascending from 0: known, and after access; nobody is in one of 0."""
    empty = int(np.count_nonzero(sizes == 0))
    optimum = solve(terms, sizes[empty:])
    linked = linked_values(terms, optimum.value)
    after = np.where(linked > 0, optimum.risk(terms.prior), 0.0)
    known = np.where(terms.discount * linked > terms.access_cost, after, 0.0)
    return np.pad(known, (empty, 0)), np.pad(after, (empty, 0))


def first_failing(holds: Callable[[int], bool], *, most: int = MOST_SIZE) -> int | None:
    """Return the least size at which something fails that fails at every larger one; None: at none up to the most."""
    if most < 1:
        return None
    low, high = 0, 1
    while high < most and holds(high):
        low, high = high, 2 * high
    if high >= most:
        high = most
        if holds(most):
            return None
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if holds(middle) else (low, middle)
    return high


def _small_plans(terms: Terms, most: int) -> Plans:
    """Solve all small sizes, up to the first worthless one."""
    return plans(terms, np.arange(1, min(most, _FEW) + 1))


def _thresholds_among(terms: Terms, few: Plans) -> Thresholds:
    """Return the thresholds where the first worthless size is among these."""
    linked = linked_values(terms, few.value)
    idle = terms.discount * linked <= terms.access_cost
    return Thresholds(
        no_attack=1 + int(np.argmax(idle)),
        no_exploit_after_access=1 + int(np.argmax(linked <= 0)),
        first_partial=1 + int(np.argmax(idle | (few.fewest < few.sizes))),
        baseline=_baseline_threshold(terms),
    )


def _first_partial(terms: Terms, no_attack: int | None) -> int | None:
    """Return the least size below the threshold that is not tried to the end, or else the threshold."""

    def full(size: int) -> bool:
        return int(plan(terms, size).fewest[0]) == size

    last = MOST_SIZE if no_attack is None else no_attack - 1
    if last == 0:
        return no_attack
    if terms.detection[1] >= 0 or terms.prior == 1 or 0 in (terms.penalty, terms.penalties):
        first = first_failing(full, most=last)
    else:
        first = _first_partial_of_all(terms, last, full)
    return no_attack if first is None else first


def _first_partial_of_all(terms: Terms, last: int, full: Callable[[int], bool]) -> int | None:
    """Look at the sizes one by one, up to the first at which not even the last exploit would be worth while."""
    sizes = np.arange(1, last + 1)
    u = terms.prior / sizes
    cost = terms.exploit_cost + terms.discount * terms.penalty * terms.detection_rates(last)
    worthless = np.flatnonzero(terms.discount * terms.gain * u <= (1 - (sizes - 1) * u) * cost)
    end = int(sizes[worthless[0]]) if len(worthless) else None
    before = last if end is None else end - 1
    first = next(
        (size for size in range(1, min(before, _MOST_SCANNED) + 1) if not full(size)), None
    )
    if first is None and before > _MOST_SCANNED:
        raise BudgetError(
            "`detection` falls with every exploit, and more than {most} sizes would have to be looked at; "
            "give H1 from 0 on, or a higher `exploit_cost`",
            most=_MOST_SCANNED,
        )
    return end if first is None else first


def _value(terms: Terms, size: int) -> float:
    return float(plan(terms, size).value[0])


def _one_shot_cost(terms: Terms) -> float:
    fine = 0.0 if terms.penalties == 0 else terms.detection_rate * terms.penalty
    return fine + terms.access_cost + terms.link_cost + terms.exploit_cost


def _baseline_threshold(terms: Terms) -> int | None:
    gain, cost = terms.gain * terms.prior, _one_shot_cost(terms)
    return first_failing(lambda size: gain / size - cost > 0)


def _size_array(sizes: Sequence[int] | range) -> Integers:
    if not len(sizes):
        raise StudyError("`sizes` names no size; give a range such as 1:100")
    if isinstance(sizes, range):
        check_size(min(sizes[0], sizes[-1]))
    else:
        for size in sizes:
            check_size(size)
    return np.array(sizes, np.int64)


@called
def _mode(people: int, share: float) -> int:
    return min(max(int((people + 1) * share), 0), people)


@compiled
def _windows(people: int, shares: Floats, below: int) -> tuple[Integers, Integers, Floats]:
    """Return, per belief, the least size that counts, how many from there below the limit, and the sum over all.

    Probabilities are relative to that of the most likely size.
    """
    first = np.zeros(shares.size, np.int64)
    lengths = np.zeros(shares.size, np.int64)
    sums = np.ones(shares.size)
    for i in range(shares.size):
        share = shares[i]
        mode = _mode(people, share)
        if share <= 0 or share >= 1:
            first[i] = mode
            lengths[i] = 1 if mode < below else 0
            continue
        odds = share / (1 - share)
        total = 1.0
        term = 1.0
        low = mode
        while low > 0 and term > _NEGLIGIBLE:
            term *= low / ((people - low + 1) * odds)
            low -= 1
            total += term
        first[i] = low
        if low >= below:
            continue
        term = 1.0
        high = mode
        while high < people and term > _NEGLIGIBLE:
            term *= (people - high) * odds / (high + 1)
            high += 1
            total += term
        lengths[i] = min(high + 1, below) - low
        sums[i] = total
    return first, lengths, sums


@compiled
def _fill(
    people: int,
    shares: Floats,
    first: Integers,
    starts: Integers,
    sums: Floats,
    chances: Floats,
) -> None:
    """Walk once more, and keep the probabilities."""
    for i in range(shares.size):
        length = starts[i + 1] - starts[i]
        if length == 0:
            continue
        row = chances[starts[i] : starts[i + 1]]
        mode = _mode(people, shares[i])
        if shares[i] <= 0 or shares[i] >= 1:
            row[0] = 1.0
            continue
        odds = shares[i] / (1 - shares[i])
        term = 1 / sums[i]
        for k in range(mode, first[i] - 1, -1):
            if k - first[i] < length:
                row[k - first[i]] = term
            term *= k / ((people - k + 1) * odds)
        term = 1 / sums[i]
        for k in range(mode + 1, first[i] + length):
            term *= (people - k + 1) * odds / k
            row[k - first[i]] = term


@compiled
def _expect(first: Integers, starts: Integers, chances: Floats, by_size: Floats) -> Floats:
    expected = np.zeros(first.size)
    for i in range(first.size):
        total = 0.0
        for place in range(starts[i], starts[i + 1]):
            k = first[i] + place - starts[i]
            if k < by_size.size:
                total += chances[place] * by_size[k]
        expected[i] = total
    return expected
