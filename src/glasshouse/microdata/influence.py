"""Which attributes carry the risk: read off a sweep over the subsets of the quasi-identifiers, exactly.

With N records (for a secret, those of which it is known) and S a subset of the quasi-identifiers, the sweep holds for
each target (re-identification, and each secret) the number N·V(S) that the adversary guesses right on average, and the
number of records that she is certain of. V(S) is her posterior Bayes vulnerability, V(∅) the prior. Knowing more never
lowers either number: S ⊆ T gives V(S) ≤ V(T). Everything here compares and adds these integers; a result is a fraction
of them.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise
from math import ceil, factorial
from typing import Any

import numpy as np
import pyarrow as pa

from glasshouse.arrays import Integers
from glasshouse.errors import StudyError
from glasshouse.language import text, unknown_name
from glasshouse.microdata.lattice import Sweep
from glasshouse.microdata.leakage import Leakage, as_fraction, float_or_none
from glasshouse.microdata.sweep_steps import number_of_subsets


@dataclass(frozen=True)
class SubsetRisk:
    """What the adversary achieves with one subset of the quasi-identifiers."""

    sensitive: str | None
    """The secret, or None when she re-identifies."""
    quasi_identifiers: tuple[str, ...]
    """What she knows of a person."""
    leakage: Leakage
    """The probability that her best single guess is right, before and after."""
    certain: int
    """The number of records whose secret she knows for certain."""


@dataclass(frozen=True)
class BestSubsets:
    """The most revealing subset of each size."""

    subsets: tuple[SubsetRisk, ...]
    """Re-identification first, then each secret; within each, by number of attributes."""

    def to_dict(self) -> dict[str, Any]:
        """Return every subset as plain values."""
        return {"subsets": [_row(risk) for risk in self.subsets]}

    def to_frame(self) -> pa.Table:
        """Return one row per target and size."""
        return pa.Table.from_pylist(self.to_dict()["subsets"], schema=_RISK_SCHEMA)


@dataclass(frozen=True)
class Removal:
    """What is left to the adversary when one attribute is not published."""

    sensitive: str | None
    """The secret, or None when she re-identifies."""
    removed: str
    """The quasi-identifier that is left out."""
    posterior: Fraction
    """The probability that her best single guess is right, with all the others."""
    drop: Fraction
    """By how much that is less than with the whole set."""
    certain: int
    """The number of records whose secret she still knows for certain."""
    certain_drop: int
    """By how many these are fewer than with the whole set."""


@dataclass(frozen=True)
class Removals:
    """What leaving out each quasi-identifier would do to the whole set."""

    whole: tuple[SubsetRisk, ...]
    """What she achieves with the whole set: re-identification first, then each secret."""
    removals: tuple[Removal, ...]
    """In the same order; within each, by quasi-identifier."""

    def to_dict(self) -> dict[str, Any]:
        """Return the whole set and every removal as plain values."""
        return {
            "whole": [_row(risk) for risk in self.whole],
            "removals": [
                _target_columns(removal.sensitive)
                | {
                    "removed": removal.removed,
                    "posterior": float(removal.posterior),
                    "drop": float(removal.drop),
                    "certain": removal.certain,
                    "certain_drop": removal.certain_drop,
                }
                for removal in self.removals
            ],
        }

    def to_frame(self) -> pa.Table:
        """Return one row per target and removed quasi-identifier."""
        return pa.Table.from_pylist(self.to_dict()["removals"], schema=_REMOVAL_SCHEMA)


@dataclass(frozen=True)
class MinimalSubsets:
    """The least that an adversary has to know to reach a risk."""

    sensitive: str | None
    """The secret, or None when she re-identifies."""
    risk: Fraction
    """The risk that is reached."""
    by_certainty: bool
    """Whether it is the share of records that she is certain of; else her posterior."""
    among_all: bool
    """Whether the sweep held every subset. If not, these are minimal among those that it held."""
    subsets: tuple[SubsetRisk, ...]
    """By size, then in the order of the attributes. The empty subset alone, where the prior reaches the risk."""

    def to_dict(self) -> dict[str, Any]:
        """Return the question, and every subset, as plain values."""
        return {
            "sensitive": self.sensitive,
            "risk": float(self.risk),
            "by_certainty": self.by_certainty,
            "among_all": self.among_all,
            "subsets": [_row(risk) for risk in self.subsets],
        }

    def to_frame(self) -> pa.Table:
        """Return one row per subset."""
        return pa.Table.from_pylist(self.to_dict()["subsets"], schema=_RISK_SCHEMA)


@dataclass(frozen=True)
class ShapleyValue:
    """One attribute's share of what the whole set of quasi-identifiers leaks."""

    sensitive: str | None
    """The secret, or None when the adversary re-identifies."""
    quasi_identifier: str
    """The attribute."""
    value: Fraction
    """Its Shapley value: its part of the additive leakage."""
    share: Fraction | None
    """The value as a share of the additive leakage; None where nothing leaks."""


@dataclass(frozen=True)
class ShapleyValues:
    """The additive leakage of the whole set, shared out among its attributes."""

    values: tuple[ShapleyValue, ...]
    """Re-identification first, then each secret; within each, by quasi-identifier."""

    def to_dict(self) -> dict[str, Any]:
        """Return every share as plain values."""
        return {
            "values": [
                _target_columns(shapley.sensitive)
                | {
                    "quasi_identifier": shapley.quasi_identifier,
                    "value": float(shapley.value),
                    "share": float_or_none(shapley.share),
                }
                for shapley in self.values
            ]
        }

    def to_frame(self) -> pa.Table:
        """Return one row per target and quasi-identifier."""
        return pa.Table.from_pylist(self.to_dict()["values"], schema=_SHAPLEY_SCHEMA)


def best_subsets(sweep: Sweep) -> BestSubsets:
    """Find, for each number of attributes, the subset with the highest posterior.

    Ties go to the subset that comes first in the sweep. A sweep that does not hold every subset is answered for what it
    holds.

    >>> import pyarrow as pa
    >>> from glasshouse.microdata.lattice import sweep
    >>> from glasshouse.table import read
    >>> people = pa.table({"age": [20, 30, 40, 40], "sex": ["F", "F", "M", "F"], "ill": ["a", "b", "b", "a"]})
    >>> swept = sweep(read(people, quasi_identifiers=["age", "sex"], sensitive=["ill"]))
    >>> [(each.quasi_identifiers, str(each.leakage.posterior)) for each in best_subsets(swept).subsets[:2]]
    [(('age',), '3/4'), (('age', 'sex'), '1')]
    """
    bounds = [*_size_begins(sweep).tolist(), len(sweep.masks)]
    return BestSubsets(
        tuple(
            _risk(sweep, target, begin + int(np.argmax(target.right[begin:end])))
            for target in _targets(sweep)
            for begin, end in pairwise(bounds)
        )
    )


def without_each(sweep: Sweep) -> Removals:
    """Tell what the whole set of quasi-identifiers still gives the adversary when each attribute is left out.

    Raises:
        StudyError: The sweep lacks the whole set, or the whole set without some attribute.
    """
    names = sweep.quasi_identifiers
    whole = (1 << len(names)) - 1
    needed = [whole, *(whole ^ (1 << i) for i in range(len(names)))]
    rows = np.flatnonzero(np.isin(sweep.masks, needed))
    row_of = dict(zip(sweep.masks[rows].tolist(), rows.tolist(), strict=True))
    # Without its only attribute nothing is known: the empty subset has no row, and is the prior.
    if any(mask and mask not in row_of for mask in needed):
        raise StudyError(
            "what leaving out a column does needs the whole set of quasi-identifiers and that set without each; "
            "this sweep has {held} of {every} subsets: sweep all subsets",
            held=len(sweep.masks),
            every=_all_subsets(sweep),
        )
    wholes, removals = [], []
    for target in _targets(sweep):
        before = _risk(sweep, target, row_of[whole])
        wholes.append(before)
        for name, mask in zip(names, needed[1:], strict=True):
            after = _risk(sweep, target, row_of.get(mask))
            posterior = after.leakage.posterior
            drop = before.leakage.posterior - posterior
            removals.append(
                Removal(
                    target.sensitive, name, posterior, drop,
                    after.certain, before.certain - after.certain,
                )
            )  # fmt: skip
    return Removals(tuple(wholes), tuple(removals))


def minimal_subsets(
    sweep: Sweep,
    *,
    risk: int | float | Fraction,
    sensitive: str | None = None,
    certain: bool = False,
) -> MinimalSubsets:
    """Find the subsets that reach a risk while none of their proper subsets does.

    A risk that the prior reaches is reached by knowing nothing: the empty subset is then the only one. Where the sweep
    is limited to few attributes, larger subsets are missing; where it is a list, a subset is minimal among those listed
    and the empty one.

    Args:
        sweep: The outcome for all subsets, or some.
        risk: The probability to reach, from 0 to 1; a float is taken as the decimal number that it prints as.
        sensitive: The attribute that the adversary infers; by default she re-identifies.
        certain: Whether the share of records that she is certain of, by their weight where they have one, is to reach
            the risk, rather than the posterior.

    Raises:
        StudyError: The risk is no probability, or the sweep has no such secret.
    """
    threshold = _probability(risk)
    target = _target(sweep, sensitive)
    known = sweep.of(sensitive)
    least = ceil(threshold * known.total)
    counts = target.sure if certain else target.right
    rows: list[int | None]
    if (target.prior_sure if certain else target.prior) >= least:
        rows = [None]
    else:
        rows = [*_minimal_rows(sweep, np.flatnonzero(counts >= least))]
    return MinimalSubsets(
        sensitive=sensitive,
        risk=threshold,
        by_certainty=certain,
        among_all=holds_all(sweep),
        subsets=tuple(_risk(sweep, target, row) for row in rows),
    )


def shapley_values(sweep: Sweep) -> ShapleyValues:
    """Share the additive leakage of the whole set out among its quasi-identifiers.

    With d attributes and v(S) = V(S) − V(∅), the additive leakage of S, attribute i gets (Shapley 1953, "A value for
    n-person games", Contributions to the Theory of Games II, 307–317)

        φ_i = Σ_{S ∌ i} |S|!·(d − |S| − 1)!/d! · (v(S ∪ {i}) − v(S)),

    what i adds to the attributes that she knows already, averaged over all orders in which she may learn them.

    It is the fair share of leakage because no other rule keeps four promises: the shares add up to the leakage of the
    whole set; attributes that add the same to every subset get the same; an attribute that adds nothing to any gets
    nothing; and of an adversary who is after one target or another, with some probability, the shares mix as the
    leakages do. Removing one attribute from the whole set does not keep them: of two copies of an attribute, each can
    be removed without any effect, although together they may carry all the risk.

    Raises:
        StudyError: The sweep does not hold every subset.

    >>> import pyarrow as pa
    >>> from glasshouse.microdata.lattice import sweep
    >>> from glasshouse.table import read
    >>> people = pa.table({"age": [20, 30, 40, 40], "sex": ["F", "F", "M", "F"]})
    >>> swept = sweep(read(people, quasi_identifiers=["age", "sex"]))
    >>> [(each.quasi_identifier, str(each.value)) for each in shapley_values(swept).values]
    [('age', '1/2'), ('sex', '1/4')]
    """
    if not holds_all(sweep):
        raise StudyError(
            "Shapley values need every subset of the quasi-identifiers; this sweep has {held} of {every} subsets: "
            "sweep all subsets",
            held=len(sweep.masks),
            every=_all_subsets(sweep),
        )
    shared = []
    for target in _targets(sweep):
        values = _shapley(sweep, target)
        total = sum(values)
        shared += [
            ShapleyValue(target.sensitive, name, value, value / total if total else None)
            for name, value in zip(sweep.quasi_identifiers, values, strict=True)
        ]
    return ShapleyValues(tuple(shared))


@dataclass(frozen=True)
class _Target:
    """What the sweep says of re-identification, or of one secret."""

    sensitive: str | None
    prior: int
    """The weight of what she guesses right before she knows anything,"""
    prior_certain: int
    """the number of records that she is certain of,"""
    prior_sure: int
    """and their weight."""
    right: Integers
    """Per row of the sweep, the weight of what she guesses right: N·V(S),"""
    certain: Integers
    """the number of records that she is certain of,"""
    sure: Integers
    """and their weight."""


def _targets(sweep: Sweep) -> Iterator[_Target]:
    for secret in (None, *sweep.sensitive):
        yield _target(sweep, secret)


def _target(sweep: Sweep, secret: str | None) -> _Target:
    if secret is None:
        is_sure = sweep.heaviest == sweep.total  # no other record can be the target's
        prior = (sweep.heaviest, int(is_sure), sweep.total if is_sure else 0)
        return _Target(None, *prior, sweep.named, sweep.exposed, sweep.alone)
    where = text("the sweep of {datasets}", datasets=", ".join(sweep.datasets))
    if not sweep.sensitive:
        raise StudyError(
            'secret "{secret}" is not in {where}; it has none', secret=secret, where=where
        )
    if secret not in sweep.sensitive:
        raise StudyError(unknown_name("secret", secret, where, sweep.sensitive))
    s = sweep.sensitive.index(secret)
    first = sweep.likeliest[s]
    known = sweep.of(secret)
    is_sure = first == known.total  # and remains so with every subset
    prior = (first, int(sweep.certain[0, s]) if is_sure else 0, first if is_sure else 0)
    return _Target(secret, *prior, sweep.most[:, s], sweep.certain[:, s], sweep.sure[:, s])


def _risk(sweep: Sweep, target: _Target, row: int | None) -> SubsetRisk:
    """Return what a row of the sweep says of a target; without a row, what the prior says."""
    right = target.prior if row is None else int(target.right[row])
    total = sweep.of(target.sensitive).total
    return SubsetRisk(
        sensitive=target.sensitive,
        quasi_identifiers=() if row is None else sweep.names(int(sweep.masks[row])),
        leakage=Leakage(Fraction(target.prior, total), Fraction(right, total)),
        certain=target.prior_certain if row is None else int(target.certain[row]),
    )


def holds_all(sweep: Sweep) -> bool:
    """Tell whether a sweep holds every subset of its quasi-identifiers."""
    return len(sweep.masks) == _all_subsets(sweep)


def _all_subsets(sweep: Sweep) -> int:
    """Return how many subsets of its quasi-identifiers there are, but for the empty one."""
    return (1 << len(sweep.quasi_identifiers)) - 1


def _sizes(sweep: Sweep) -> Integers:
    return np.bitwise_count(sweep.masks).astype(np.int64)


def _size_begins(sweep: Sweep) -> Integers:
    """Return the rows at which the subsets of each size begin: they stand by size."""
    sizes = _sizes(sweep)
    return np.flatnonzero(np.diff(sizes, prepend=0)).astype(np.int64)


def _minimal_rows(sweep: Sweep, reaching: Integers) -> Sequence[int]:
    """Return those of some rows of which no other is a proper subset.

    Reaching a risk is monotone. Where the sweep holds all subsets up to some size it is therefore enough to look at the
    subsets with one attribute fewer; in a list these may be missing, and each one found rules out all that contain it.
    """
    masks, attributes = sweep.masks[reaching], len(sweep.quasi_identifiers)
    if not len(masks):
        return []
    if len(sweep.masks) == number_of_subsets(attributes, int(_sizes(sweep)[-1])):
        minimal = np.ones(len(masks), np.bool_)
        for i in range(attributes):
            bit = 1 << i
            minimal &= (masks & bit == 0) | ~np.isin(masks ^ bit, masks)
        return [int(row) for row in reaching[minimal]]
    rows = []
    while len(masks):
        rows.append(int(reaching[0]))
        unrelated = masks & masks[0] != masks[0]
        masks, reaching = masks[unrelated], reaching[unrelated]
    return rows


def _shapley(sweep: Sweep, target: _Target) -> list[Fraction]:
    """Return the Shapley value of each attribute, from integer sums over the subsets of each size.

    The weight of S depends on its size alone. With A(i, s) = Σ of v over the subsets of size s with i, and T(s) over
    all of size s, those without i sum to T(s) − A(i, s).
    """
    d, begins = len(sweep.quasi_identifiers), _size_begins(sweep)
    worth = (target.right - target.prior).astype(object)  # weights may be large
    every = [0, *np.add.reduceat(worth, begins).tolist()]
    weights = [factorial(s) * factorial(d - 1 - s) for s in range(d)]
    values = []
    for i in range(d):
        worth_with = np.where((sweep.masks >> i) & 1, worth, 0)
        having = [0, *np.add.reduceat(worth_with, begins).tolist()]
        added = (having[s + 1] - (every[s] - having[s]) for s in range(d))
        numerator = sum(weight * gain for weight, gain in zip(weights, added, strict=True))
        values.append(Fraction(numerator, factorial(d) * sweep.of(target.sensitive).total))
    return values


def _probability(risk: int | float | Fraction) -> Fraction:
    """Return a probability as the fraction that was meant."""
    exact = as_fraction(risk)
    if exact is None or not 0 <= exact <= 1:
        raise StudyError(
            "risk {risk} is not a probability; give a number from 0 to 1", risk=str(risk)
        )
    return exact


_TARGET_COLUMNS = [("attack", pa.string()), ("sensitive", pa.string())]
_RISK_SCHEMA = pa.schema(
    [
        *_TARGET_COLUMNS,
        ("size", pa.int64()),
        ("quasi_identifiers", pa.list_(pa.string())),
        ("prior", pa.float64()),
        ("posterior", pa.float64()),
        ("additive", pa.float64()),
        ("certain", pa.int64()),
    ]
)
_REMOVAL_SCHEMA = pa.schema(
    [
        *_TARGET_COLUMNS,
        ("removed", pa.string()),
        ("posterior", pa.float64()),
        ("drop", pa.float64()),
        ("certain", pa.int64()),
        ("certain_drop", pa.int64()),
    ]
)
_SHAPLEY_SCHEMA = pa.schema(
    [
        *_TARGET_COLUMNS,
        ("quasi_identifier", pa.string()),
        ("value", pa.float64()),
        ("share", pa.float64()),
    ]
)


def _target_columns(sensitive: str | None) -> dict[str, Any]:
    return {"attack": "CRS" if sensitive is None else "CAS", "sensitive": sensitive}


def _row(risk: SubsetRisk) -> dict[str, Any]:
    return _target_columns(risk.sensitive) | {
        "size": len(risk.quasi_identifiers),
        "quasi_identifiers": list(risk.quasi_identifiers),
        "prior": float(risk.leakage.prior),
        "posterior": float(risk.leakage.posterior),
        "additive": float(risk.leakage.additive),
        "certain": risk.certain,
    }
