"""Special uniques: the smallest sets of attributes with which a record is alone, and scores made of them (SUDA).

A set of attributes is a *minimal sample unique* (MSU) of a record if the record is alone with it, and not alone with
any part of it (Elliot, Manning and Ford 2002). The fewer attributes, and the more such sets, the more special a record
is. With A attributes, and sets of at most M of them looked for, an MSU of k attributes scores

- by Elliot et al.           Π_{i=k}^{min(M, A−1)−1} (A − i), which is (A − k)! where all sizes are looked for: the
  default of sdcMicro (``original_scores = TRUE``) and of ARX;
- by the IHSN                (2^{A−k} − 1)·k!·(A − k)! / A!, as sdcMicro had it up to version 5.0.2.

The score of a record is the sum over its MSUs; what an attribute contributes is the score of the MSUs that hold it, so
that contributions add up to more than the whole. DIS-SUDA (Elliot and Manning 2003; Skinner and Elliot 2002) estimates
from the scores how likely a match of a record is right. With U records alone, P in pairs, and a sampling fraction π,
DIS = Uπ / (Uπ + P(1 − π)) is the chance that a unique match is right, and shared out by score it is, as in sdcMicro and
ARX, 1 / (1 + (U/DIS − U) / (s^q·Σ s^−q)) with q = 1 + (8 − A)/20. It is an estimate: it takes the release for a simple
random sample. That a record is alone is a fact.

A missing value is a value like any other; or else it is no item, as in sdcMicro's ``suda2``: a set holds only what a
record tells, and the record is alone with it if no other tells the same. Somebody whose value is missing is then not
counted among those who may be meant, so that a record can be alone with a set though missing values match it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations
from math import comb, factorial, prod
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from glasshouse.arrays import Floats, Integers
from glasshouse.errors import BudgetError, StudyError
from glasshouse.microdata import special_uniques_kernel
from glasshouse.microdata.neighbourhoods import packed_rows, with_blanks
from glasshouse.table import EncodedTable
from glasshouse.table.partition import refined

MOST_ATTRIBUTES = 16
"""Of so many attributes scores are whole numbers of 64 bits."""
MOST_BYTES = 4 << 30
"""What it may take to note with which sets each record is alone."""
INTERVALS = tuple(tenth / 10 for tenth in range(8))
"""The upper ends of the intervals by which sdcMicro counts DIS-SUDA scores: 0 itself, then up to each; the rest is
above."""


@dataclass(frozen=True)
class SpecialUniques:
    """The minimal sample uniques of every record, and what they score."""

    dataset: str
    """The name of the release."""
    quasi_identifiers: tuple[str, ...]
    """The attributes."""
    largest: int
    """The largest size of the sets that were looked for."""
    fraction: float
    """The sampling fraction of DIS-SUDA: the share of the population that is in the release."""
    alone: int
    """How many records are alone with all attributes."""
    pairs: int
    """How many records are alike with exactly one other."""
    counts: NDArray[np.uint16]
    """Per size (row) and record (column), how many MSUs of the size it has."""
    contributions: Integers
    """Per attribute (row) and record (column), the score of the MSUs that hold the attribute, by Elliot et al."""
    by_value: dict[str, dict[str, int]]
    """Per attribute of one column and value, the contributions of the records that have it, added up; values without
    any are left out."""
    positions: Integers | None = None
    """Per record, its position in the file, where records of it were left out."""

    @property
    def records(self) -> int:
        """The number of records."""
        return int(self.counts.shape[1])

    @property
    def sizes(self) -> tuple[int, ...]:
        """Per size of a set, how many MSUs there are."""
        return tuple(self.counts.sum(axis=1, dtype=np.int64).tolist())

    @property
    def scores(self) -> Integers:
        """The score of each record, by Elliot et al."""
        weights = elliot_scores(len(self.quasi_identifiers), self.largest)
        return sum(
            (
                row.astype(np.int64) * weight
                for row, weight in zip(self.counts, weights, strict=True)
            ),
            start=np.zeros(self.records, np.int64),
        )

    @property
    def ihsn_scores(self) -> Floats:
        """The score of each record by the IHSN, as sdcMicro gives it with ``original_scores = FALSE``."""
        weights = ihsn_scores(len(self.quasi_identifiers), self.largest)
        return np.array(weights) @ self.counts.astype(np.float64)

    @property
    def dis_scores(self) -> Floats:
        """The DIS-SUDA score of each record: how likely a match of it is right, by estimate."""
        return dis_scores(
            self.scores,
            alone=self.alone,
            pairs=self.pairs,
            attributes=len(self.quasi_identifiers),
            fraction=self.fraction,
        )

    @property
    def smallest(self) -> Integers:
        """The size of the smallest MSU of each record; 0: it has none."""
        has = self.counts > 0
        return np.where(has.any(axis=0), has.argmax(axis=0) + 1, 0)

    @property
    def shares(self) -> dict[str, float]:
        """Per attribute, which part of all scores the MSUs make that hold it; together they are more than 1."""
        whole = int(self.scores.sum())
        sums = self.contributions.sum(axis=1).tolist()
        return {
            name: part / whole if whole else 0.0
            for name, part in zip(self.quasi_identifiers, sums, strict=True)
        }

    def to_dict(self) -> dict[str, Any]:
        """Return the figures of all records together as plain values."""
        dis = self.dis_scores
        bins = np.searchsorted(np.array(INTERVALS), dis, side="left")
        reached = np.bincount(self.smallest, minlength=self.largest + 1)[1:]
        return {
            "quasi_identifiers": list(self.quasi_identifiers),
            "largest": self.largest,
            "fraction": self.fraction,
            "records": self.records,
            "alone": self.alone,
            "pairs": self.pairs,
            "msus_by_size": list(self.sizes),
            "records_by_smallest_msu": reached.tolist(),
            "score": {"convention": "Elliot et al.", "total": int(self.scores.sum())},
            "contributions": self.shares,
            "contributions_by_value": self.by_value,
            "dis_suda": {
                "highest": float(dis.max(initial=0.0)),
                "upper_ends": [*INTERVALS, 1.0],
                "records": np.bincount(bins, minlength=len(INTERVALS) + 1).tolist(),
            },
        }

    def to_frame(self) -> pa.Table:
        """Return one row per record: its smallest MSU, its scores, and what each attribute contributes.

        The frame is personal data: it shows whose records are easily identified.
        """
        columns: dict[str, Any] = {} if self.positions is None else {"record": self.positions + 1}
        scores = self.scores
        columns |= {
            "msu": self.smallest,
            "suda": scores,
            "suda: IHSN": self.ihsn_scores,
            "dis_suda": self.dis_scores,
        }
        for name, parts in zip(self.quasi_identifiers, self.contributions, strict=True):
            share = np.zeros(self.records)
            np.divide(parts, scores, out=share, where=scores > 0)
            columns[f"{name}: contribution"] = share
        return pa.table(columns)


def elliot_scores(attributes: int, largest: int) -> list[int]:
    """Return what MSUs of 1, 2 … attributes score by Elliot et al.

    >>> elliot_scores(4, 4), elliot_scores(6, 3)
    ([6, 2, 1, 1], [20, 4, 1])
    """
    upper = min(largest, attributes - 1)
    return [prod(attributes - i for i in range(size, upper)) for size in range(1, largest + 1)]


def ihsn_scores(attributes: int, largest: int) -> list[float]:
    """Return what MSUs of 1, 2 … attributes score by the IHSN.

    >>> ihsn_scores(4, 4)
    [1.75, 0.5, 0.25, 0.0]
    """
    return [
        (2 ** (attributes - size) - 1)
        * factorial(size)
        * factorial(attributes - size)
        / factorial(attributes)
        for size in range(1, largest + 1)
    ]


def dis_scores(
    scores: NDArray[Any], *, alone: int, pairs: int, attributes: int, fraction: float
) -> Floats:
    """Return DIS-SUDA scores, given scores.

    Args:
        scores: The score per record.
        alone: How many records are alone with all attributes.
        pairs: How many are alike with exactly one other.
        attributes: The number of attributes.
        fraction: The sampling fraction.

    >>> dis_scores(np.array([6.0, 0.0]), alone=1, pairs=1, attributes=8, fraction=0.5).tolist()
    [0.5, 0.0]
    """
    chances = np.zeros(len(scores))
    special = scores > 0
    if not special.any() or not alone:
        return chances
    likely = alone * fraction / (alone * fraction + pairs * (1 - fraction))
    power = scores[special].astype(np.float64) ** (1 + (8 - attributes) / 20)
    chances[special] = 1 / (1 + (alone / likely - alone) / (power * (1 / power).sum()))
    return chances


def find_special_uniques(
    table: EncodedTable,
    *,
    fraction: float = 0.01,
    quasi_identifiers: Sequence[str] | None = None,
    largest: int | None = None,
    missing_is_no_item: bool = False,
) -> SpecialUniques:
    """Find the minimal sample uniques of every record, and score them.

    Args:
        table: The release.
        fraction: The share of the population that is in the release, above 0 and at most 1, for DIS-SUDA.
        quasi_identifiers: The attributes; by default the table's quasi-identifiers.
        largest: The largest size of the sets that are looked for; by default that of all attributes.
        missing_is_no_item: Whether no set holds a missing value, as in sdcMicro; else it is a value like any other.

    Raises:
        DataError: A column is not in the table.
        StudyError: There is no attribute, or the fraction is none.
        BudgetError: There are too many attributes.

    >>> from glasshouse.table import read
    >>> rows = pa.table({"a": [2, 1, 1], "b": [0, 3, 0], "c": [0, 6, 0]})  # from sdcMicro's tests
    >>> found = find_special_uniques(read(rows, quasi_identifiers=["a", "b", "c"]))
    >>> found.scores.tolist(), found.shares
    ([2, 4, 2], {'a': 0.5, 'b': 0.375, 'c': 0.375})
    """
    names = tuple(table.quasi_identifiers if quasi_identifiers is None else quasi_identifiers)
    if not names:
        raise StudyError("special uniques need at least one quasi-identifier; name one")
    if not 0 < fraction <= 1:
        raise StudyError(
            "the sampling fraction is {fraction}; it must be above 0 and at most 1 (all of the population)",
            fraction=str(fraction),
        )
    largest = min(largest or len(names), len(names))
    told = (
        with_blanks(table, names)
        if missing_is_no_item
        else {name: list(table.columns_of(name)) for name in names}
    )
    columns = [column for some in told.values() for column in some]
    classes = refined(columns, table.records)
    first = classes.order[classes.starts[:-1]]
    most_sets = max(comb(len(names), size) for size in range(1, largest + 1))
    if len(names) > MOST_ATTRIBUTES or 2 * len(first) * 8 * -(-most_sets // 64) > MOST_BYTES:
        raise BudgetError(
            "special uniques are looked for among at most {most} quasi-identifiers, and fewer of very many records, as "
            "it is noted with which sets each is alone; leave some out, or say `subsets` max:K with a smaller K",
            most=MOST_ATTRIBUTES,
        )
    keys, fields = packed_rows(columns, [column.codes[first] for column in columns])
    bits, repeated = _bits(table, names, fields, keys.shape[1]), classes.sizes > 1
    counts = np.zeros((largest, len(first)), np.uint16)
    contributions = np.zeros((len(names), len(first)), np.int64)
    weights = elliot_scores(len(names), largest)
    owners = np.empty(1 << max(1, (2 * len(first) - 1).bit_length()), np.int32)
    blank = [
        np.any([column.codes[first] == 0 for column in some], axis=0)
        if missing_is_no_item
        else np.zeros(len(first), np.bool_)
        for some in told.values()
    ]
    before, places = np.zeros((len(first), 1), np.uint64), dict[tuple[int, ...], int]()
    for size in range(1, largest + 1):
        sets = list(combinations(range(len(names)), size))
        after = np.zeros((len(first), -(-len(sets) // 64)), np.uint64)
        for place, some in enumerate(sets):
            parts = [places[part] for part in combinations(some, size - 1) if part]
            alone = special_uniques_kernel.alone_with(
                keys,
                repeated,
                np.logical_or.reduce([blank[attribute] for attribute in some]),
                np.bitwise_or.reduce([bits[attribute] for attribute in some]),
                before,
                np.array(parts, np.int64),
                owners,
                after,
                place,
            )
            counts[size - 1, alone] += 1
            for attribute in some:
                contributions[attribute, alone] += weights[size - 1]
        before, places = after, {some: place for place, some in enumerate(sets)}
    return SpecialUniques(
        dataset=table.name,
        quasi_identifiers=names,
        largest=largest,
        fraction=float(fraction),
        alone=classes.uniques,
        pairs=2 * int(np.count_nonzero(classes.sizes == 2)),
        counts=counts[:, classes.numbers],
        contributions=contributions[:, classes.numbers],
        by_value=_by_value(table, names, first, contributions),
        positions=table.positions,
    )


def _bits(
    table: EncodedTable,
    names: Sequence[str],
    fields: Sequence[tuple[int, np.uint64]],
    words: int,
) -> NDArray[np.uint64]:
    """Return, per attribute, the bits of its columns in the keys."""
    bits = np.zeros((len(names), words), np.uint64)
    places = iter(fields)
    for attribute, name in enumerate(names):
        for _ in table.columns_of(name):
            word, field = next(places)
            bits[attribute, word] |= field
    return bits


def _by_value(
    table: EncodedTable, names: Sequence[str], first: NDArray[Any], contributions: Integers
) -> dict[str, dict[str, int]]:
    """Return what the records with each value contribute, of attributes of one column."""
    sums: dict[str, dict[str, int]] = {}
    for name, parts in zip(names, contributions, strict=True):
        columns = table.columns_of(name)
        if len(columns) > 1:
            continue
        (column,) = columns
        of_value = np.zeros(column.cardinality, np.int64)
        np.add.at(of_value, column.codes[first], parts)
        some = np.flatnonzero(of_value)
        texts = column.values.take(pa.array(some)).to_pylist()
        sums[name] = dict(zip(map(str, texts), of_value[some].tolist(), strict=True))
    return sums
