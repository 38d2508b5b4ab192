"""Releases groups, and makes sure that what is released is what was promised."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pyarrow as pa
from numba import njit
from numpy.typing import NDArray

from glasshouse.arrays import Flags, Integers
from glasshouse.errors import InternalError, quoted
from glasshouse.mitigation.criteria import ClassCounts, TableCriterion
from glasshouse.mitigation.local.attributes import Attribute, Told
from glasshouse.mitigation.local.items import Criteria, Groups, Items
from glasshouse.mitigation.quality import granularity_loss, loss
from glasshouse.mitigation.recoding import Recoding
from glasshouse.table import Column, EncodedTable
from glasshouse.table.dictionary import smallest_unsigned
from glasshouse.table.generalised import SUPPRESSED
from glasshouse.table.partition import Partition, refined


def recoding(
    method: str,
    table: EncodedTable,
    criteria: Criteria,
    items: Items,
    attributes: Sequence[Attribute],
    groups: Groups,
    *,
    objective: str = "loss",
    weights: Sequence[float] | None = None,
    seed: int = 0,
) -> Recoding:
    """Release each record by the labels of its group.

    Raises:
        InternalError: What would be released is not what was promised.
    """
    numbers = _group_of_records(items, groups, seed)
    told = [
        each.told(codes[groups.items], groups.starts)
        for each, codes in zip(attributes, items.codes.T, strict=True)
    ]
    released = {
        name: _released_column(name, own, numbers)
        for name, own in zip(items.names, told, strict=True)
    }
    sums = [int(own.sizes @ groups.sizes) for own in told]
    suppressed = numbers == len(groups)
    return Recoding(
        method=method,
        quasi_identifiers=items.names,
        heights=None,
        suppressed=suppressed,
        released=released,
        classes=_verified(
            table, criteria, dict(zip(items.names, attributes, strict=True)), released, suppressed
        ),
        loss=lost(sums, items, attributes, objective, weights),
        optimal=False,
        bound=0.0,
        objective=objective,
    )


def lost(
    sums: Sequence[int],
    items: Items,
    attributes: Sequence[Attribute],
    objective: str,
    weights: Sequence[float] | None = None,
) -> float:
    """Return what is lost, given how many values of each domain stand under the labels of the records that are kept."""
    measure = granularity_loss if objective == "granularity" else loss
    return measure(
        [own + items.suppressed * each.domain for own, each in zip(sums, attributes, strict=True)],
        domains=[each.domain for each in attributes],
        records=items.records,
        weights=weights,
    )


def _group_of_records(items: Items, groups: Groups, seed: int) -> Integers:
    """Return the group of each record, one beyond the last for those suppressed.

    Which records of an item go where is left to chance: they are alike in everything that was looked at.
    """
    order = np.argsort(groups.items, kind="stable")
    shuffled = np.random.default_rng(seed).permutation(len(items.kept))
    by_item = shuffled[np.argsort(items.numbers[shuffled], kind="stable")]
    numbers = np.full(items.records, len(groups))
    numbers[items.kept[by_item]] = np.repeat(groups.numbers[order], groups.counts[order])
    return numbers


def _released_column(name: str, told: Told, numbers: Integers) -> Column:
    """Return a column as released; its values are those that occur, in order of first appearance."""
    texts = list(dict.fromkeys([*told.texts, SUPPRESSED]))
    labels = np.append(told.labels, texts.index(SUPPRESSED))
    codes, used = _by_first_appearance(labels, numbers, len(texts))
    codes = codes.astype(smallest_unsigned(len(used)))
    codes.flags.writeable = False
    return Column(
        name, codes, pa.array([texts[label] for label in used.tolist()], pa.large_string())
    )


def _verified(
    table: EncodedTable,
    criteria: Criteria,
    attributes: dict[str, Attribute],
    released: dict[str, Column],
    suppressed: Flags,
) -> int:
    """Count the classes anew, from the released columns alone, and judge them; return how many they are.

    Raises:
        InternalError: A criterion is not met, or a label does not stand for a value that it replaces.
    """
    for name, attribute in attributes.items():
        true, own = table.column(name), released[name]
        pairs = refined([true, own], table.records)
        first = pairs.order[pairs.starts[:-1]]
        for code, label in zip(true.codes[first].tolist(), own.codes[first].tolist(), strict=True):
            text = own.values[label].as_py()
            if not attribute.stands_for(text, code):
                raise InternalError(
                    f"a value of {quoted([name])} was to be released as {quoted([text])}"
                )
    kept = np.flatnonzero(~suppressed)
    columns = [Column(each.name, each.codes[kept], each.values) for each in released.values()]
    classes = refined(columns, len(kept))
    for criterion in criteria:
        if isinstance(criterion, TableCriterion):
            met = criterion.allows(classes.records, classes.classes)
        elif criterion.sensitive is None:
            met = bool(criterion.holds(ClassCounts.of_sizes(classes.sizes)).all())
        else:
            counts = _counted(classes, table.column(criterion.sensitive), kept)
            met = bool(criterion.holds(counts).all())
        if not met:
            raise InternalError(f"a recoding was found that does not meet {criterion.name}")
    return classes.classes


def _counted(classes: Partition, secret: Column, kept: Integers) -> ClassCounts:
    keys = classes.numbers.astype(np.int64) * secret.cardinality + secret.codes[kept]
    present, counts = np.unique(keys, return_counts=True)
    numbers, values = np.divmod(present, secret.cardinality)
    return ClassCounts(
        sizes=classes.sizes,
        starts=np.searchsorted(numbers, np.arange(classes.classes + 1)),
        values=values.astype(np.uint32),
        counts=counts,
        reference=np.bincount(secret.codes, minlength=secret.cardinality).astype(np.int64),
    )


@njit(cache=True, nogil=True)  # type: ignore[untyped-decorator]
def _by_first_appearance(
    labels: Integers, numbers: Integers, cardinality: int
) -> tuple[NDArray[np.uint32], Integers]:
    """Return the label of each number, numbered by first appearance, and which label each is."""
    place = np.full(cardinality, -1, np.int64)
    used = np.empty(cardinality, np.int64)
    own = np.empty(numbers.size, np.uint32)
    found = 0
    for i in range(numbers.size):
        label = labels[numbers[i]]
        if place[label] < 0:
            place[label] = found
            used[found] = label
            found += 1
        own[i] = place[label]
    return own, used[:found].copy()
