"""What classes of records show whose values were released at random, to somebody who knows by which chances.

Of each record alone she believes P(s | z) ∝ π(s) C(s, z), where π is how frequent true values are; of a class she
guesses the value with the greatest sum of it. But records that are alike on what she knows, or on some of it, also show
something together: how frequent true values are among them. To her a value may be more frequent in a class than in
general: with the chance π(v) it is v, and with each of some shares λ, from none to all, that share of the class has v
for certain, the others being as in general. Of one record that says no more than π; of many the true share emerges.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations
from math import prod
from typing import Any

import numpy as np

from glasshouse.arrays import Integers
from glasshouse.qif import Channel, Prior
from glasshouse.table import EncodedTable
from glasshouse.table.partition import partition

EXACT_CELLS = 20_000
"""Up to so many beliefs, a class and a value each, are added up in fractions, where channel and prior are."""
MOST_BELIEFS = 1_000_000_000
"""So many beliefs are weighed at most to see what records show together that are alike on some of what is known."""
STEPS = 40
"""In how many steps a value may be more frequent in a class than in general, up to all of it."""
_READ, _GROUPED = 10, 50_000
"""Reading a record, and a group of records, by a set of attributes costs as much as weighing so many beliefs."""
_CELLS = 4_000_000
"""So many beliefs are held at once."""
_NOT_MORE = 1e-9
"""What doubles may be off by: a guess that is better by less is not better."""
_DENOMINATORS = 10**12


@dataclass(frozen=True)
class NoisyGroup:
    """Records whose values were released through one channel."""

    members: Integers
    """Which records they are, of those with a value."""
    shown: Integers
    """Which output of the channel each of them shows."""
    channel: Channel
    """How true values became released ones."""
    prior: Prior
    """How frequent true values are."""


@dataclass(frozen=True)
class Learned:
    """What somebody learns of values who knows the quasi-identifiers and by which chances they were released."""

    guessed: Fraction
    """How often a guess is right that takes each record for itself."""
    together: Fraction
    """How often one is that also counts what records show together, by whichever attributes tell most; no less."""
    alike: tuple[str, ...]
    """These attributes; none where each record for itself tells as much."""
    facts: int | None
    """All sets of up to so many attributes were tried for it, and the set of all; None: every set."""
    certain: Fraction
    """For how many the value is certain: all that their class shows can only come from one."""

    def to_dict(self) -> dict[str, Any]:
        """Return it as plain values."""
        return {
            "posterior": float(self.guessed),
            "together": float(self.together),
            "alike": list(self.alike),
            "facts": self.facts,
            "certain": float(self.certain),
        }


def learned(table: EncodedTable, some: Integers, groups: Sequence[NoisyGroup]) -> Learned:
    """Return what is learned of some records of a table.

    Args:
        table: The release, with quasi-identifiers.
        some: The records with a value.
        groups: All of them, by the channel of each.
    """
    whole = tuple(table.quasi_identifiers)
    of_class = list(_by_group(table, whole, some, groups))
    right = sum((_guessed(group, classes) for group, classes in of_class), Fraction(0))
    sure = sum(_certain(group, classes) for group, classes in of_class)
    best, alike = sum(_together(group, classes) for group, classes in of_class), whole
    sets, facts = _subsets(table, len(some), groups)
    for names in sets:
        by_these = _by_group(table, names, some, groups)
        found = sum(_together(group, classes) for group, classes in by_these)
        if found > best:
            best, alike = found, names
    guessed, together = right / len(some), min(best / len(some), 1.0)
    is_more = together > guessed + _NOT_MORE
    return Learned(
        guessed=guessed,
        together=probability(together) if is_more else guessed,
        alike=alike if is_more else (),
        facts=facts,
        certain=Fraction(sure, len(some)),
    )


def probability(number: Any) -> Fraction:
    """Return a number as a fraction, which it may be already."""
    if isinstance(number, Fraction):
        return number
    return Fraction(float(number)).limit_denominator(_DENOMINATORS)


def _subsets(
    table: EncodedTable, records: int, groups: Sequence[NoisyGroup]
) -> tuple[list[tuple[str, ...]], int | None]:
    """Return the sets of fewer quasi-identifiers to take records together by, and up to which size all are there.

    Whoever knows more can leave it aside, as she does where few are alike on all and many on some. All sets of a size
    are there or none, as long as the beliefs to weigh are not too many.
    """
    names = table.quasi_identifiers
    values = {name: prod(column.cardinality for column in table.columns_of(name)) for name in names}
    per_class = max(len(group.channel.inputs) for group in groups) * (STEPS + 1)
    per_set = records * _READ + len(groups) * _GROUPED
    sets: list[tuple[str, ...]] = []
    left = MOST_BELIEFS
    for size in range(1, len(names)):
        same_size = list(combinations(names, size))
        for one in same_size:
            classes = min(prod(values[name] for name in one) * len(groups), records // 2)
            left -= per_set + classes * per_class
            if left < 0:
                return sets, size - 1
        sets += same_size
    return sets, None


@dataclass(frozen=True)
class _Classes:
    """What classes show: how often each has each output of a channel."""

    numbers: Integers
    """Per class and output that is in it: the class, from 0 on, in order;"""
    outputs: Integers
    """the output;"""
    counts: Integers
    """and how many records show it."""

    @classmethod
    def of(cls, classes: Integers, shown: Integers, outputs: int) -> _Classes:
        """Count it.

        Args:
            classes: Per record, its class.
            shown: Per record, which output it shows.
            outputs: How many outputs there are.
        """
        keys = classes * outputs + shown
        if keys.max() < 4 * len(keys):
            tally = np.bincount(keys)
            pairs = np.flatnonzero(tally)
            counts = tally[pairs]
        else:
            pairs, counts = np.unique(keys, return_counts=True)
        numbers = np.cumsum(np.diff(pairs // outputs, prepend=pairs[0] // outputs) != 0)
        return cls(numbers, pairs % outputs, counts)

    @property
    def starts(self) -> Integers:
        """Per class, where it begins."""
        return np.flatnonzero(np.diff(self.numbers, prepend=-1))

    @property
    def sizes(self) -> Integers:
        """Per class, how many records it has."""
        return np.add.reduceat(self.counts, self.starts)


def _by_group(
    table: EncodedTable, names: Sequence[str], some: Integers, groups: Sequence[NoisyGroup]
) -> Iterator[tuple[NoisyGroup, _Classes]]:
    """Yield each group with its classes of records alike on the named attributes."""
    numbers = np.asarray(partition(table, names).numbers[some], np.int64)
    for group in groups:
        yield group, _Classes.of(numbers[group.members], group.shown, len(group.channel.outputs))


def _guessed(group: NoisyGroup, classes: _Classes) -> Fraction:
    """Return Σ over classes of the greatest Σ of what is believed of each of their records."""
    channel, prior = group.channel, group.prior
    starts = classes.starts
    is_exact = channel.exact and prior.exact and len(starts) * len(channel.inputs) <= EXACT_CELLS
    matrix = channel.matrix if is_exact else channel.matrix.astype(np.float64)
    chances = prior.probabilities if is_exact else prior.probabilities.astype(np.float64)
    joint = chances[:, None] * matrix
    totals = joint.sum(axis=0)
    beliefs = joint / np.where(totals == 0, 1, totals)
    best = np.zeros(len(starts), beliefs.dtype)
    for row in beliefs:
        best = np.maximum(best, np.add.reduceat(row[classes.outputs] * classes.counts, starts))
    return probability(best.sum())


def _together(group: NoisyGroup, classes: _Classes) -> float:
    """Return of how many records a guess is right that counts what all of a class show together.

    By `law`, per value v that may be more frequent in a class and per share λ of it: how often each output is shown.
    """
    matrix = group.channel.matrix.astype(np.float64)
    chances = group.prior.probabilities.astype(np.float64)
    values, outputs = matrix.shape
    shares = np.linspace(0, 1, STEPS + 1)
    in_general = np.multiply.outer(1 - shares, chances @ matrix)
    law = in_general[None] + shares[None, :, None] * matrix[:, None, :]
    inverse = np.divide(1, law, out=np.zeros_like(law), where=law > 0)
    rules_out = (law == 0).reshape(-1, outputs).T.astype(np.float64)
    likelihood = np.log(np.where(law > 0, law, 1)).reshape(-1, outputs).T
    with np.errstate(divide="ignore"):
        before = np.log(np.repeat(chances, len(shares)) / len(shares))
    is_single = classes.sizes == 1
    alone = chances[:, None] * matrix[:, classes.outputs[is_single[classes.numbers]]]
    right = float((alone.max(axis=0) / alone.sum(axis=0)).sum())
    several = np.flatnonzero(~is_single[classes.numbers])
    places = (np.cumsum(~is_single) - 1)[classes.numbers[several]]
    at_once = max(_CELLS // likelihood.shape[1], 1)
    for first in range(0, int(np.count_nonzero(~is_single)), at_once):
        here = slice(*np.searchsorted(places, [first, first + at_once]))
        tallies = np.zeros((int(places[here][-1]) + 1 - first, outputs))
        tallies[places[here] - first, classes.outputs[several[here]]] = classes.counts[
            several[here]
        ]
        evidence = tallies @ likelihood + before
        evidence[tallies @ rules_out > 0] = -np.inf
        evidence = np.exp(evidence - evidence.max(axis=1, keepdims=True))
        evidence /= evidence.sum(axis=1, keepdims=True)
        evidence = evidence.reshape(-1, values, len(shares))
        general = np.tensordot(evidence * (1 - shares), inverse, 2)
        best = np.zeros(len(tallies))
        for value, row in enumerate(matrix):
            raised = (evidence[:, value] * shares) @ inverse[value]
            best = np.maximum(best, ((general * chances[value] + raised) * tallies) @ row)
        right += float(best.sum())
    return right


def _certain(group: NoisyGroup, classes: _Classes) -> int:
    """Return of how many records the value is certain: all that their class shows can only come from one."""
    can_be = (group.channel.matrix > 0) & (group.prior.probabilities > 0)[:, None]
    are_left = np.array(
        [np.logical_and.reduceat(~row[classes.outputs], classes.starts) for row in can_be]
    )
    return int(classes.sizes[np.count_nonzero(~are_left, axis=0) == 1].sum())
