"""The criteria in doubles, to guide the compiled search; `Criterion.holds` decides."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray

from glasshouse.arrays import Floats, Integers
from glasshouse.mitigation.criteria import (
    Criterion,
    DistinctDiversity,
    EntropyDiversity,
    EqualCloseness,
    HierarchicalCloseness,
    HighestRisk,
    InferenceRisk,
    KAnonymity,
    OrderedCloseness,
    RecursiveDiversity,
    TableCriterion,
)
from glasshouse.mitigation.hierarchies import exact
from glasshouse.mitigation.local.items import Criteria, Items

MET, TOO_SMALL = -1, -2
NO_GAIN = 1e-9
"""Doubles that differ by less are taken for equal."""
_DISTINCT, _ENTROPY, _RECURSIVE, _INFERENCE, _EQUAL, _ORDERED, _HIERARCHICAL = range(7)


class Checks(NamedTuple):
    """The criteria that the search knows how to look at."""

    least: int
    """The least size of a group."""
    kinds: Integers
    """Per criterion with a sensitive attribute, which it is."""
    secrets: Integers
    """Per criterion, the position of its attribute among the sensitive ones."""
    limits: Floats
    """Per criterion, its parameter: l, ln l, c, p or t."""
    begins: Integers
    """Per criterion, the l of (c, l)-diversity, where the tail begins."""
    offsets: Integers
    """Per sensitive attribute, where its values begin in ``shares`` and in a tally."""
    shares: Floats
    """Per sensitive value, its share of all records."""
    firsts: Integers
    """Per criterion, where its entries begin in the next two."""
    links: Integers
    """With ordered distances, the values in order; with hierarchical ones, the label above each label."""
    steps: Floats
    """With ordered distances, how far it is to the next value; with hierarchical ones, how high each label is."""


class _Check(NamedTuple):
    """One criterion as the search sees it; the fields are those of `Checks`."""

    kind: int
    sensitive: str
    limit: float
    begin: int = 0
    links: Integers = np.zeros(0, np.int64)
    steps: Floats = np.zeros(0)


def checks_of(criteria: Criteria, items: Items) -> Checks:
    """Return the criteria that the search knows how to look at; of any other it learns from the judge only."""
    rows = [row for each in criteria if (row := _check(each)) is not None]
    sizes = [each.k for each in criteria if isinstance(each, KAnonymity | HighestRisk)]
    shares = [each / each.sum() for each in items.references]
    return Checks(
        least=max(sizes, default=1),
        kinds=np.array([row.kind for row in rows], np.int64),
        secrets=np.array([items.sensitive.index(row.sensitive) for row in rows], np.int64),
        limits=np.array([row.limit for row in rows], np.float64),
        begins=np.array([row.begin for row in rows], np.int64),
        offsets=np.cumsum([0, *map(len, shares)], dtype=np.int64),
        shares=np.concatenate([np.zeros(0), *shares]),
        firsts=np.cumsum([0, *(len(row.links) for row in rows)], dtype=np.int64),
        links=np.concatenate([np.zeros(0, np.int64), *(row.links for row in rows)]),
        steps=np.concatenate([np.zeros(0), *(row.steps for row in rows)]),
    )


def _check(criterion: Criterion | TableCriterion) -> _Check | None:
    match criterion:
        case DistinctDiversity(l=least, sensitive=name):
            return _Check(_DISTINCT, name, least)
        case EntropyDiversity(l=number, sensitive=name):
            return _Check(_ENTROPY, name, float(np.log(float(exact(number, what="l")))))
        case RecursiveDiversity(c=factor, l=begin, sensitive=name):
            return _Check(_RECURSIVE, name, float(exact(factor, what="c")), begin)
        case InferenceRisk(p=most, sensitive=name):
            return _Check(_INFERENCE, name, float(exact(most, what="p")))
        case EqualCloseness(t=most, sensitive=name):
            return _Check(_EQUAL, name, float(exact(most, what="t")))
        case OrderedCloseness(t=most, sensitive=name, _ranks=ranks, _domain=domain):
            if ranks is not None and domain > 1:
                values = np.argsort(ranks, kind="stable")
                steps = np.diff(ranks[values], append=domain - 1) / (domain - 1)
                limit = float(exact(most, what="t"))
                return _Check(_ORDERED, name, limit, links=values, steps=steps)
        case HierarchicalCloseness(t=most, sensitive=name, _tree=tree):
            if tree is not None and tree.top > 0:
                lengths = np.diff([*tree.firsts, len(tree.parents)])
                heights = np.repeat(np.arange(len(lengths)), lengths) / tree.top
                limit = float(exact(most, what="t"))
                return _Check(_HIERARCHICAL, name, limit, links=tree.parents, steps=heights)
    return None


class Tally(NamedTuple):
    """How often each sensitive value occurs in one group."""

    counts: Integers
    """Per value, attribute by attribute."""
    present: Integers
    """Per attribute (row), the values that occur."""
    found: Integers
    """Per attribute, how many these are."""


@njit(cache=True, nogil=True)  # type: ignore[untyped-decorator]
def new_tally(checks: Checks) -> Tally:
    """Return a tally that has counted nothing yet."""
    attributes = checks.offsets.size - 1
    values = checks.offsets[attributes]
    return Tally(
        np.zeros(values, np.int64),
        np.empty((attributes, values), np.int64),
        np.zeros(attributes, np.int64),
    )


@njit(cache=True, nogil=True)  # type: ignore[untyped-decorator]
def clear(checks: Checks, tally: Tally) -> None:
    """Forget what was counted."""
    for secret in range(tally.found.size):
        for i in range(tally.found[secret]):
            tally.counts[checks.offsets[secret] + tally.present[secret, i]] = 0
        tally.found[secret] = 0


@njit(cache=True, nogil=True)  # type: ignore[untyped-decorator]
def count(checks: Checks, tally: Tally, values: NDArray[np.uint32], records: int) -> None:
    """Add records with some sensitive values."""
    for secret in range(tally.found.size):
        place = checks.offsets[secret] + values[secret]
        if tally.counts[place] == 0:
            tally.present[secret, tally.found[secret]] = values[secret]
            tally.found[secret] += 1
        tally.counts[place] += records


@njit(cache=True, nogil=True)  # type: ignore[untyped-decorator]
def helps(checks: Checks, tally: Tally, check: int, values: NDArray[np.uint32], size: int) -> bool:
    """Tell whether a value is rare in a group that does not meet a criterion, so that it may help."""
    secret = checks.secrets[check]
    place = checks.offsets[secret] + values[secret]
    if checks.kinds[check] >= _EQUAL:
        return bool(tally.counts[place] < checks.shares[place] * size)
    return bool(tally.counts[place] * (tally.found[secret] + 1) <= size)


@njit(cache=True, nogil=True)  # type: ignore[untyped-decorator]
def unmet(checks: Checks, tally: Tally, size: int) -> int:
    """Return the first criterion that a group does not meet; or that it is `TOO_SMALL`, or that all are `MET`."""
    if size < checks.least:
        return TOO_SMALL
    for check in range(checks.kinds.size):
        secret = checks.secrets[check]
        counts = tally.counts[checks.offsets[secret] : checks.offsets[secret + 1]]
        present = tally.present[secret, : tally.found[secret]]
        if checks.kinds[check] < _EQUAL:
            met = _is_diverse(checks, check, counts, present, size)
        else:
            met = _is_close(checks, check, counts, present, size)
        if not met:
            return check
    return MET


@njit(cache=True, nogil=True)  # type: ignore[untyped-decorator]
def _is_diverse(checks: Checks, check: int, counts: Integers, present: Integers, size: int) -> bool:
    """Tell whether a group meets a criterion on the frequencies of its values, as far as doubles can tell."""
    kind, limit = checks.kinds[check], checks.limits[check]
    if kind == _DISTINCT:
        return bool(present.size >= limit)
    if kind == _ENTROPY:
        spent = 0.0
        for value in present:
            spent += counts[value] * np.log(float(counts[value]))
        return bool(np.log(float(size)) - spent / size >= limit - NO_GAIN)
    falling = np.sort(counts[present])[::-1]
    if kind == _INFERENCE:
        return bool(falling[0] <= limit * size + NO_GAIN)
    return bool(falling[0] < limit * falling[checks.begins[check] - 1 :].sum())


@njit(cache=True, nogil=True)  # type: ignore[untyped-decorator]
def _is_close(checks: Checks, check: int, counts: Integers, present: Integers, size: int) -> bool:
    """Tell whether the values of a group are distributed nearly as in all records, as far as doubles can tell."""
    shares = checks.shares[checks.offsets[checks.secrets[check]] :]
    links = checks.links[checks.firsts[check] : checks.firsts[check + 1]]
    steps = checks.steps[checks.firsts[check] : checks.firsts[check + 1]]
    distance = 0.0
    if checks.kinds[check] == _EQUAL:
        for value in present:
            distance += max(0.0, counts[value] / size - shares[value])
    elif checks.kinds[check] == _ORDERED:
        carried = 0.0
        for i in range(links.size):
            carried += counts[links[i]] / size - shares[links[i]]
            distance += abs(carried) * steps[i]
    else:
        extras = np.zeros((links.size, 3))  # a label's extra, the positive and negative ones below
        for label in range(links.size):
            above = links[label]
            if label < counts.size:
                extras[label, 0] = counts[label] / size - shares[label]
            distance += steps[label] * min(extras[label, 1], extras[label, 2])
            if above != label:
                extras[above, 0] += extras[label, 0]
                extras[above, 1] += max(0.0, extras[label, 0])
                extras[above, 2] += max(0.0, -extras[label, 0])
    return bool(distance <= checks.limits[check] + NO_GAIN)
