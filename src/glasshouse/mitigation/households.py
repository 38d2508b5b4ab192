"""Households kept together: their records are suppressed together, and alike households are many.

Where all records are generalised alike, a household is suppressed as soon as one member is, as soon as a member is in a
class of fewer than k records, and as soon as fewer than k households have its composition, the multiset of what is
released of its members. What is left of the others is looked at again, until nothing changes.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pyarrow as pa

from glasshouse.arrays import Flags, Integers
from glasshouse.errors import DataError, StudyError
from glasshouse.microdata.households import alike_households
from glasshouse.mitigation.information_loss import Recoding
from glasshouse.table import EncodedColumn, EncodedTable
from glasshouse.table.generalised import SUPPRESSED
from glasshouse.table.partition import refined


def kept_together(
    table: EncodedTable,
    household: str,
    k: int,
    *,
    most: int,
    recoded: Callable[[int], Recoding],
) -> Recoding:
    """Return the first recoding, by how many records it has alike, that protects households within what is allowed.

    Args:
        table: The records.
        household: The column that says who lives together.
        k: How many records must be alike, and how many households.
        most: How many records may be suppressed.
        recoded: Returns the recoding in which at least so many records are alike.

    Raises:
        DataError: A record has no household.
        StudyError: None does.
    """
    if table.missing([household]).any():
        raise DataError(
            '{table}: a record has no household in column "{name}"; leave it out with `where`, or fill it in',
            table=table.name,
            name=household,
        )
    alike = k
    while alike <= table.records:
        try:
            recoding = recoded(alike)
        except StudyError:
            break
        suppressed = _together(table, recoding, household, k)
        if not suppressed.all() and np.count_nonzero(suppressed) <= most:
            return _suppressing(recoding, suppressed)
        alike += max(1, alike // 2)
    raise StudyError(
        "{table}: no generalisation leaves at least {k} households of every composition; allow more to be suppressed "
        "(`suppression`), or leave out what is known",
        table=table.name,
        k=str(k),
    )


def _together(table: EncodedTable, recoding: Recoding, household: str, k: int) -> Flags:
    """Return which records are suppressed if households are protected as a whole."""
    homes = np.asarray(table.column(household).codes, np.int64)
    columns = list(recoding.released.values())
    gone: Flags = np.zeros(table.records, np.bool_)
    fresh: Flags = recoding.suppressed
    while True:
        gone |= np.isin(homes, homes[fresh])
        fresh = _exposed(columns, homes, gone, k)
        if not fresh.any():
            return gone


def _exposed(columns: list[EncodedColumn], homes: Integers, gone: Flags, k: int) -> Flags:
    """Return the records left whose class has too few records, or whose household too few alike."""
    left = np.flatnonzero(~gone)
    exposed: Flags = np.zeros(len(gone), np.bool_)
    if not len(left):
        return exposed
    classes = refined([replace(one, codes=one.codes[left]) for one in columns], len(left))
    few = classes.sizes[classes.numbers] < k
    places, alike = alike_households(homes[left], classes.numbers.astype(np.int64))
    exposed[left[few | (alike[places] < k)]] = True
    return exposed


def _suppressing(recoding: Recoding, suppressed: Flags) -> Recoding:
    """Return a recoding in which these records are suppressed."""
    released = {}
    for name, column in recoding.released.items():
        values = column.values.to_pylist()
        star = values.index(SUPPRESSED) if SUPPRESSED in values else len(values)
        codes = np.where(suppressed, star, column.codes)
        used, codes = np.unique(codes, return_inverse=True)
        texts = [*values, SUPPRESSED] if star == len(values) else values
        released[name] = EncodedColumn(
            name,
            codes.astype(np.uint32),
            pa.array([texts[place] for place in used.tolist()], pa.large_string()),
        )
    left = np.flatnonzero(~suppressed)
    classes = refined([replace(one, codes=one.codes[left]) for one in released.values()], len(left))
    return replace(
        recoding,
        suppressed=suppressed,
        released=released,
        classes=classes.classes,
        optimal=recoding.optimal and bool((suppressed == recoding.suppressed).all()),
        bound=None,
    )
