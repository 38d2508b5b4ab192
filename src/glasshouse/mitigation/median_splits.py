"""Mondrian: all records are one group, which is cut in two as long as both halves meet the criteria.

All groups of a round are looked at together (LeFevre, DeWitt and Ramakrishnan 2006): each is cut near the median of the
attribute in which it is widest, and the halves are judged; where one of them fails, the next attribute is tried, and
a group that no cut divides is done. Records are never moved: a group is a part of one order of the items (see
`local_state`), and a cut rearranges its part in two.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from numba import njit

from glasshouse.arrays import Codes, Flags, Floats, Integers
from glasshouse.errors import StudyError
from glasshouse.mitigation.criteria import Criterion, TableCriterion
from glasshouse.mitigation.hierarchies import Hierarchy
from glasshouse.mitigation.information_loss import Recoding, coded_hierarchies, question
from glasshouse.mitigation.local_state import (
    Forest,
    ItemGroups,
    Items,
    Judge,
    LocalAttribute,
    joined,
    recoding_of,
    space_of,
    stretches,
)
from glasshouse.table import EncodedTable


def mondrian(
    table: EncodedTable,
    *,
    criteria: Sequence[Criterion | TableCriterion],
    hierarchies: Mapping[str, Hierarchy] | None = None,
    quasi_identifiers: Sequence[str] | None = None,
) -> Recoding:
    """Divide the records near medians as long as every part meets all criteria (LeFevre et al. 2006).

    An attribute with a hierarchy is cut between the labels right below that of a part, and released by its lowest
    label. Any other is cut between its values: numbers and ISO dates are released as ranges such as ``20-34``, other
    texts in alphabetical order as sets such as ``{A, B}``. A long set is released as ``*``, and so is a part that holds
    missing values beside others.

    Args:
        table: The records.
        criteria: What the release must satisfy.
        hierarchies: The hierarchies of the quasi-identifiers that have one; others may be among them.
        quasi_identifiers: What is recoded; by default the table's quasi-identifiers. A fact stands for its columns.

    Returns:
        The recoding. In its loss, the domain of an attribute without a hierarchy are the values in the table.

    Raises:
        DataError: A column is not in the table, or a value not in its hierarchy.
        StudyError: The criteria cannot be met, or the question is not well posed.

    >>> import pyarrow as pa
    >>> from glasshouse.mitigation import KAnonymity
    >>> from glasshouse.table import read
    >>> people = pa.table({"age": ["20", "23", "31", "36", "39"], "sex": ["f", "f", "m", "m", "f"]})
    >>> table = read(people, quasi_identifiers=["age", "sex"])
    >>> recoding = mondrian(table, criteria=[KAnonymity(2)])
    >>> recoding.release(table).column("age").values.to_pylist()
    ['20-23', '31-39']
    """
    names, ready = question(table, quasi_identifiers, criteria)
    given = hierarchies or {}
    coded = coded_hierarchies(table, [name for name in names if name in given], given)
    attributes = [
        LocalAttribute.of_hierarchy(coded[name])
        if name in coded
        else LocalAttribute.of_order(table.column(name))
        for name in names
    ]
    items = Items.of(table, names, ready)
    judge = Judge(ready, items)
    if unmet := judge.unmet_together():
        raise StudyError(
            "{unmet} is not met even by all records in one class, so no division of them meets it; ask for less",
            unmet=unmet,
        )
    groups = divided(items, attributes, judge)
    return recoding_of("mondrian", table, ready, items, attributes, groups)


def divided(items: Items, attributes: Sequence[LocalAttribute], judge: Judge) -> ItemGroups:
    """Cut groups in two as long as both halves meet all criteria.

    All groups are looked at together: each is cut in the attribute in which it is widest, the halves are judged, and
    where one of them fails the next attribute is tried.
    """
    space = space_of(items, attributes)
    ordered = np.array([attribute.text_of is not None for attribute in attributes])
    order = np.arange(len(space.leaves))
    most = judge.most_classes(len(order))
    done: list[Integers] = []
    parts = np.array([[0, len(order)]])
    spreads = _spreads(space.forest, space.leaves, ordered, order, parts)
    while len(parts):
        divisible = spreads.max(axis=1) > 0
        done.append(parts[~divisible])
        parts, spreads = parts[divisible], spreads[divisible]
        chosen = spreads.argmax(axis=1)
        middles = _cut(space.forest, space.leaves, items.weights, order, parts, chosen)
        halves = np.stack([parts[:, 0], middles, middles, parts[:, 1]], axis=1)
        groups = _as_groups(order, items.weights, halves.reshape(-1, 2))
        fit = ~judge.failing(groups).reshape(-1, 2).any(axis=1)
        fit &= np.cumsum(fit) <= most - sum(map(len, done)) - len(parts)
        spreads[np.arange(len(parts)), chosen] = 0
        fresh = halves[fit].reshape(-1, 2)
        fresh_spreads = _spreads(space.forest, space.leaves, ordered, order, fresh)
        parts = np.concatenate([parts[~fit], fresh])
        spreads = np.concatenate([spreads[~fit], fresh_spreads])
    return _as_groups(order, items.weights, np.concatenate(done))


def _as_groups(order: Integers, weights: Integers, parts: Integers) -> ItemGroups:
    """Return the groups of items that stand in some parts of an order."""
    starts, places = stretches(parts[:, 0], parts[:, 1] - parts[:, 0])
    return ItemGroups(starts, order[places], weights[order[places]])


@njit(cache=True, nogil=True)  # type: ignore[untyped-decorator]
def _spreads(
    forest: Forest, leaves: Codes, ordered: Flags, order: Integers, parts: Integers
) -> Floats:
    """Return how wide each part (row) of an order of items is in each attribute, as a share of its domain.

    In an attribute with a hierarchy that is what its label loses; in others, how far its values lie apart.
    """
    spreads = np.zeros((parts.shape[0], leaves.shape[1]))
    for part in range(parts.shape[0]):
        for a in range(leaves.shape[1]):
            low = high = leaves[order[parts[part, 0]], a]
            for i in range(parts[part, 0] + 1, parts[part, 1]):
                low, high = min(low, leaves[order[i], a]), max(high, leaves[order[i], a])
            label = joined(forest, low, high)
            if low < high and ordered[a]:
                spreads[part, a] = (high - low) / max(1, forest.last[label] - label - 1)
            elif low < high:
                spreads[part, a] = forest.cost[label]
    return spreads


@njit(cache=True, nogil=True)  # type: ignore[untyped-decorator]
def _cut(
    forest: Forest,
    leaves: Codes,
    weights: Integers,
    order: Integers,
    parts: Integers,
    attributes: Integers,
) -> Integers:
    """Rearrange each part in two halves by an attribute that varies in it; return where the second ones begin.

    The cut lies between labels right below the one that stands for the part, as near to the median as possible.
    """
    held = np.zeros(forest.parent.size, np.int64)
    present = np.empty(forest.parent.size, np.int64)
    spare = np.empty(order.size, np.int64)
    middles = np.empty(parts.shape[0], np.int64)
    for part in range(parts.shape[0]):
        begin, end, a = parts[part, 0], parts[part, 1], attributes[part]
        # The label of the part, and the records under each label right below it.
        whole = leaves[order[begin], a]
        for i in range(begin, end):
            whole = joined(forest, whole, leaves[order[i], a])
        distinct, total = 0, 0
        for i in range(begin, end):
            label = leaves[order[i], a]
            while forest.parent[label] != whole:
                label = forest.parent[label]
            if held[label] == 0:
                present[distinct] = label
                distinct += 1
            held[label] += weights[order[i]]
            total += weights[order[i]]
        labels = np.sort(present[:distinct])
        # The border nearest to the median.
        left, best, border = 0, total, labels[0]
        for label in labels[: distinct - 1]:
            left += held[label]
            if abs(2 * left - total) < best:
                best, border = abs(2 * left - total), label
        held[labels] = 0
        # The part in two halves.
        low, high = begin, 0
        for i in range(begin, end):
            if leaves[order[i], a] <= forest.last[border]:
                order[low] = order[i]
                low += 1
            else:
                spare[high] = order[i]
                high += 1
        order[low:end] = spare[:high]
        middles[part] = low
    return middles
