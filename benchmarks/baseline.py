"""What a good analyst would write in a dozen lines of numpy for one set of quasi-identifiers."""

from __future__ import annotations

import numpy as np

from glasshouse.table import EncodedTable


def numpy_attack(table: EncodedTable, known: tuple[str, ...]) -> list[tuple[int, int, int, int]]:
    """Return classes, uniques, Σ max and certain records per secret: mixed-radix key, sort, reduce."""
    key = np.zeros(table.records, np.uint64)
    for column in map(table.column, known):
        key = key * np.uint64(column.cardinality) + column.codes
    outcomes = []
    for secret in map(table.column, table.sensitive):
        pairs = np.sort(key * np.uint64(secret.cardinality) + secret.codes)
        first = np.flatnonzero(np.r_[True, pairs[1:] != pairs[:-1]])
        counts = np.diff(np.r_[first, len(pairs)])
        classes = pairs[first] // np.uint64(secret.cardinality)
        begins = np.flatnonzero(np.r_[True, classes[1:] != classes[:-1]])
        most, sizes = np.maximum.reduceat(counts, begins), np.add.reduceat(counts, begins)
        outcomes.append(
            (len(begins), int((sizes == 1).sum()), int(most.sum()), int(sizes[most == sizes].sum()))
        )
    return outcomes
