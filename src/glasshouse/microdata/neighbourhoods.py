"""Where a missing value agrees with every other: the records that may be a person's are a neighbourhood, not a class.

In a class all records are alike on what is known. Where a value is missing, in the record of a person or in another,
two records are compatible if they are alike on all that both tell: sdcMicro counts so, and ARX where it is told to. Who
is compatible with a first record and with a second need not be so with both, so that each record has a neighbourhood
of its own: itself, and all that are compatible with it. The adversary knows of a person what the record tells, not that
it lacks the rest, and takes every compatible record for as likely. With f the size of the neighbourhood of a record,
and n(x) how many in it have the value x of a secret,

- the record is named with the chance 1 / f, and for certain where f = 1;
- its secret is guessed with the chance max_x n(x) / f as she sees it, and for certain where there is one value;
- over all records these are means: Σ 1/f / N, and Σ max n/f / N.

Where nothing is missing, all of it is what classes give. Suppressed values (``*``) count as missing here. Everything is
counted in integers, and a chance is an exact ratio.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import combinations
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from glasshouse.arrays import Flags, Floats, Integers, Words
from glasshouse.errors import BudgetError
from glasshouse.microdata import neighbourhood_kernel
from glasshouse.microdata.attacks import FEW_VALUES, Exposure, RecordRisks, attack_code
from glasshouse.microdata.gains import sum_of_ratios
from glasshouse.microdata.lattice import holds_whole_set, largest_size
from glasshouse.microdata.leakage import SIZE_BINS, SUCCESS_BINS, Attack, ClassSizes, Leakage
from glasshouse.microdata.survey_weights import (
    SurveyWeights,
    WeightedClasses,
    individual_risks,
)
from glasshouse.progress import OnProgress, Progress
from glasshouse.table import EncodedColumn, EncodedTable
from glasshouse.table.codes import smallest_unsigned
from glasshouse.table.generalised import SUPPRESSED
from glasshouse.table.partition import Partition, refined

MOST_LOOKUPS = 20_000_000_000
"""So many times a record is looked up among others at most, for one set of attributes: some minutes."""
MOST_COLUMNS = 63
"""Of so many columns it is noted which are missing."""


@dataclass(frozen=True)
class Rows:
    """What records say, each once, pattern by pattern of what is missing."""

    numbers: Integers
    """Per record, its row."""
    records: Integers
    """Per row, how many records say it."""
    keys: Words
    """What a row says, packed."""
    starts: Integers
    """Where the rows of each pattern begin; one more entry closes the last."""
    visible: Words
    """Per pattern, the bits of what it tells."""

    @classmethod
    def of(cls, columns: Sequence[EncodedColumn], records: int) -> Rows:
        """Return the rows of columns in which 0 stands for missing."""
        classes = refined(columns, records)
        first = classes.order[classes.starts[:-1]]
        codes = [column.codes[first] for column in columns]
        blanks = np.zeros(len(first), np.uint64)
        for place, column in enumerate(codes):
            blanks |= (column == 0).astype(np.uint64) << np.uint64(place)
        order = np.argsort(blanks, kind="stable")
        patterns, starts = np.unique(blanks[order], return_index=True)
        keys, fields = packed_rows(columns, [column[order] for column in codes])
        visible = np.zeros((len(patterns), keys.shape[1]), np.uint64)
        for place, (word, bits) in enumerate(fields):
            is_told = (patterns >> np.uint64(place)) & np.uint64(1) == 0
            visible[is_told, word] |= bits
        row_of = np.empty(len(first), np.int64)
        row_of[order] = np.arange(len(first))
        return cls(
            row_of[classes.numbers],
            classes.sizes[order],
            keys,
            np.append(starts, len(first)).astype(np.int64),
            visible,
        )

    def neighbours(
        self, weights: Integers, secrets: Sequence[EncodedColumn] = ()
    ) -> tuple[Integers, Integers]:
        """Return what the neighbourhood of each row weighs, and per secret how often its most frequent value is there.

        Raises:
            BudgetError: There are too many patterns of what is missing.
        """
        rows, patterns = len(self.records), len(self.starts) - 1
        sizes, most = np.zeros(rows, np.int64), np.zeros((len(secrets), rows), np.int64)
        firsts, values, counts = self._entries(secrets)
        visits = 0
        if 2 * rows * patterns <= MOST_LOOKUPS:
            visits = neighbourhood_kernel.agreeing(
                self.keys,
                weights,
                self.starts,
                self.visible,
                firsts,
                values,
                counts,
                max((column.cardinality for column in secrets), default=1),
                MOST_LOOKUPS,
                sizes,
                most,
            )
        if visits < 0 or 2 * rows * patterns > MOST_LOOKUPS:
            raise self._too_many()
        return sizes, most

    def _too_many(self) -> BudgetError:
        return BudgetError(
            "values are missing in {patterns} different combinations of columns, among {rows} different records: "
            "too many to match all with all; assess fewer columns, or say `missing_as` value or apart",
            patterns=len(self.starts) - 1,
            rows=len(self.records),
        )

    def agreeing_groups(self, groups: Integers) -> Integers:
        """Return, per group of as many records, with how many its members can be paired so that each pair agrees.

        Args:
            groups: Per group, the rows of its members.

        Raises:
            BudgetError: There are too many groups that may be alike.
        """
        rows = len(self.records)
        kinds, kind, counts = np.unique(
            np.sort(groups, axis=1), axis=0, return_inverse=True, return_counts=True
        )
        pairs = np.unique(
            np.stack([kinds.ravel(), np.repeat(np.arange(len(kinds)), kinds.shape[1])], axis=1),
            axis=0,
        )
        held = np.bincount(pairs[:, 0], minlength=rows)
        candidates, _ = self.neighbours(held)
        anchor = kinds[np.arange(len(kinds)), candidates[kinds].argmin(axis=1)]
        tells_all: Flags = np.all(self.visible == np.bitwise_or.reduce(self.visible), axis=1)
        is_whole: Flags = np.all(np.repeat(tells_all, np.diff(self.starts))[kinds], axis=1)
        alike = np.zeros(len(kinds), np.int64)
        visits = neighbourhood_kernel.agreeing_groups(
            self.keys,
            self.starts,
            self.visible,
            kinds,
            counts,
            is_whole,
            _bounds(np.bincount(anchor, minlength=rows)),
            np.argsort(anchor, kind="stable"),
            _bounds(held),
            pairs[:, 1].copy(),
            MOST_LOOKUPS,
            alike,
        )
        if visits < 0:
            raise self._too_many()
        return alike[kind.ravel()]

    def _entries(self, secrets: Sequence[EncodedColumn]) -> tuple[Integers, Integers, Integers]:
        """Return which values of each secret the records of each row have, and how often."""
        rows = len(self.records)
        firsts = np.zeros((len(secrets), rows + 1), np.int64)
        values, counts, before = [np.zeros(0, np.int64)], [np.zeros(0, np.int64)], 0
        within = Partition(self.numbers.astype(np.uint32), self.records)
        for place, column in enumerate(secrets):
            pairs = refined([column], len(self.numbers), within)
            first = pairs.order[pairs.starts[:-1]]
            row = self.numbers[first]
            order = np.argsort(row, kind="stable")
            firsts[place] = before + _bounds(np.bincount(row, minlength=rows))
            values.append(column.codes[first[order]].astype(np.int64))
            counts.append(pairs.sizes[order])
            before += len(first)
        return firsts, np.concatenate(values), np.concatenate(counts)


def _bounds(counts: Integers) -> Integers:
    """Return where each of several lists begins, given how long they are; one more entry closes the last."""
    return np.concatenate([np.zeros(1, np.int64), np.cumsum(counts)])


def packed_rows(
    columns: Sequence[EncodedColumn], codes: Sequence[Any]
) -> tuple[Words, list[tuple[int, np.uint64]]]:
    """Return what rows say in 64-bit words, a column whole in one; and per column its word, and its bits there."""
    fields: list[tuple[int, np.uint64]] = []
    shifts: list[int] = []
    word, free = 0, 64
    for column in columns:
        width = max(1, (column.cardinality - 1).bit_length())
        if width > free:
            word, free = word + 1, 64
        shifts.append(64 - free)
        fields.append((word, np.uint64(((1 << width) - 1) << (64 - free))))
        free -= width
    keys = np.zeros((len(codes[0]) if codes else 0, word + 1), np.uint64)
    for (place, _), shift, column in zip(fields, shifts, codes, strict=True):
        keys[:, place] |= column.astype(np.uint64) << np.uint64(shift)
    return keys, fields


def with_blanks(table: EncodedTable, names: Sequence[str]) -> dict[str, list[EncodedColumn]]:
    """Return the columns of attributes with codes in which 0 stands for missing, and only for it.

    Raises:
        BudgetError: There are more columns than can be told apart.
    """
    plain = replace(table, missing_is_a_value=False)
    columns: dict[str, list[EncodedColumn]] = {}
    for name in names:
        columns[name] = []
        for column in table.columns_of(name):
            is_blank = ~plain.known_values(column.name)
            is_blank |= np.asarray(pc.equal(column.values, SUPPRESSED).fill_null(False))
            codes = np.where(is_blank, 0, np.cumsum(~is_blank))
            kind = smallest_unsigned(int(codes.max()) + 1)
            texts = pa.nulls(int(codes.max()) + 1, pa.large_string())
            columns[name].append(
                EncodedColumn(column.name, codes.astype(kind)[column.codes], texts)
            )
    if sum(map(len, columns.values())) > MOST_COLUMNS:
        raise BudgetError(
            "missing values are matched in at most {most} columns; leave some out, or say `missing_as` value or apart",
            most=MOST_COLUMNS,
        )
    return columns


def subsets_of(subsets: str, names: Sequence[str], records: int) -> list[tuple[str, ...]]:
    """Return the sets of attributes that ``all``, ``max:K`` or ``within:SECONDS`` asks for, by size and in order.

    >>> subsets_of("max:1", ["a", "b"], 9), subsets_of("all", ["a", "b"], 9)[-1]
    ([('a',), ('b',)], ('a', 'b'))
    """
    largest = largest_size(subsets, len(names), records)
    chosen = [some for size in range(1, largest + 1) for some in combinations(names, size)]
    if holds_whole_set(subsets, len(names)) and largest < len(names):
        chosen.append(tuple(names))
    return chosen


def matched_attacks(
    table: EncodedTable,
    *,
    subsets: Sequence[Sequence[str]] | None = None,
    sensitive: Sequence[Sequence[str]] | None = None,
    on_progress: OnProgress | None = None,
) -> tuple[Attack, ...]:
    """Re-identify, and infer each secret, where a missing value agrees with every other.

    Args:
        table: The release.
        subsets: The sets of quasi-identifiers; by default the whole set.
        sensitive: The secrets to infer, each of one column or of several together; by default each sensitive one.
        on_progress: Called now and then with how far it is.

    Returns:
        By set of quasi-identifiers, re-identification first, then each secret. Of a set, a class is what records say
        with the same of it missing, and its size that of the neighbourhood.

    Raises:
        DataError: A column is not in the table, or a secret is missing in every record.
        BudgetError: Values are missing in too many combinations of columns.

    >>> from glasshouse.table import read
    >>> people = pa.table({"age": ["20", "20", ""], "ill": ["a", "b", "b"]})
    >>> naming, guess = matched_attacks(read(people, quasi_identifiers=["age"], sensitive=["ill"]))
    >>> naming.class_sizes.smallest, naming.probabilistic.posterior, guess.probabilistic.posterior
    (3, Fraction(1, 3), Fraction(2, 3))
    """
    chosen = [table.quasi_identifiers] if subsets is None else [tuple(names) for names in subsets]
    secrets = (
        [(name,) for name in table.sensitive] if sensitive is None else [*map(tuple, sensitive)]
    )
    every = list(dict.fromkeys(name for names in chosen for name in names))
    outcomes: dict[tuple[int, tuple[str, ...]], Attack] = {}
    groups = table.alike_known([(), *secrets])
    for done, group in enumerate(groups):
        part = table.with_known(group[0])
        blank = with_blanks(part, every)
        inferred = [secret for secret in group if secret]
        columns = [_together(part, secret) for secret in inferred]
        for place, names in enumerate(chosen):
            rows = Rows.of([one for name in names for one in blank[name]], part.records)
            sizes, most = rows.neighbours(rows.records, columns)
            if () in group:
                outcomes[place, ()] = _naming(part, names, rows, sizes)
            for secret, column, often in zip(inferred, columns, most, strict=True):
                outcomes[place, secret] = _inferring(
                    part, names, secret, rows, sizes, often, column
                )
            if on_progress:
                share = (done + (place + 1) / len(chosen)) / len(groups)
                on_progress(Progress("sweeping", share, 1.0))
    return tuple(
        outcomes[place, secret] for place in range(len(chosen)) for secret in [(), *secrets]
    )


def _together(table: EncodedTable, secret: Sequence[str]) -> EncodedColumn:
    """Return a secret of one column, or of several as one."""
    if len(secret) == 1:
        return table.column(secret[0])
    joint = refined([table.column(name) for name in secret], table.records)
    return EncodedColumn(
        "+".join(secret), joint.numbers, pa.nulls(joint.classes, pa.large_string())
    )


def matched_risks(
    table: EncodedTable,
    *,
    quasi_identifiers: Sequence[str] | None = None,
    sensitive: Sequence[str] | None = None,
) -> RecordRisks:
    """Tell of every record how surely it is named, and its secrets guessed, where a missing value agrees with all.

    The outcome is personal data, as that of `record_risks`; its sizes are those of the neighbourhoods.

    Raises:
        DataError: A column is not in the table, or a secret is missing in every record.
        BudgetError: Values are missing in too many combinations of columns.
    """
    names = tuple(table.quasi_identifiers if quasi_identifiers is None else quasi_identifiers)
    secrets = tuple(table.sensitive if sensitive is None else sensitive)
    most = np.zeros((len(secrets), table.records), np.uint32)
    known, everyone = np.zeros_like(most), np.zeros(table.records, np.uint32)
    for group in table.alike_known([(), *((name,) for name in secrets)]):
        part = table.with_known(group[0])
        columns = [one for some in with_blanks(part, names).values() for one in some]
        rows = Rows.of(columns, part.records)
        inferred = [name for secret in group for name in secret]
        sizes, often = rows.neighbours(rows.records, [part.column(name) for name in inferred])
        each = sizes.astype(np.uint32)[rows.numbers]
        if () in group:
            everyone = each
        is_known = slice(None) if part is table else ~table.missing(group[0])
        for name, counts in zip(inferred, often, strict=True):
            place = secrets.index(name)
            most[place, is_known] = counts.astype(np.uint32)[rows.numbers]
            known[place, is_known] = each
    return RecordRisks(table.name, names, secrets, everyone, most, known, table.positions)


def matched_exposures(table: EncodedTable) -> tuple[Exposure, ...]:
    """Tell who can be named by all quasi-identifiers, as `exposures` does: per value, how many agree with nobody."""
    blank = with_blanks(table, table.quasi_identifiers)
    rows = Rows.of([one for some in blank.values() for one in some], table.records)
    alone = rows.neighbours(rows.records)[0][rows.numbers] == 1
    columns = [
        table.columns_of(name)[0]
        for name, some in blank.items()
        if len(some) == 1 and 1 < table.columns_of(name)[0].cardinality <= FEW_VALUES
    ]
    return tuple(
        Exposure(
            column.name,
            tuple(value or "" for value in column.values.to_pylist()),
            tuple(column.tally.tolist()),
            tuple(np.bincount(column.codes[alone], minlength=column.cardinality).tolist()),
        )
        for column in columns
    )


def matched_weights(
    table: EncodedTable, column: str, quasi_identifiers: Sequence[str]
) -> WeightedClasses:
    """Return how many people neighbourhoods stand for, by survey weights; see `weighted_sample`.

    Raises:
        DataError: A weight makes no sense, or they add up to fewer people than there are records.
        BudgetError: Values are missing in too many combinations of columns.
    """
    weights = SurveyWeights.of_sample(table, column)
    blank = with_blanks(table, quasi_identifiers)
    rows = Rows.of([one for some in blank.values() for one in some], table.records)
    people, _ = rows.neighbours(weights.added(rows.numbers, len(rows.records)))
    sizes, _ = rows.neighbours(rows.records)
    return WeightedClasses.of_sums(
        weights, quasi_identifiers, sums=people, sizes=sizes, records=rows.records
    )


def matched_sample_risks(
    table: EncodedTable,
    column: str,
    quasi_identifiers: Sequence[str],
    *,
    approximately: bool = False,
) -> Floats:
    """Return the individual risk of every record of a sample, by neighbourhoods; see `sample_risks`.

    Raises:
        DataError: As `SurveyWeights.of_sample`.
        BudgetError: Values are missing in too many combinations of columns.
    """
    weights = SurveyWeights.of_sample(table, column)
    blank = with_blanks(table, quasi_identifiers)
    rows = Rows.of([one for some in blank.values() for one in some], table.records)
    people, _ = rows.neighbours(weights.added(rows.numbers, len(rows.records)))
    sizes, _ = rows.neighbours(rows.records)
    risks = individual_risks(sizes, people / weights.scale, approximately=approximately)
    return risks[rows.numbers]


def _naming(table: EncodedTable, names: tuple[str, ...], rows: Rows, sizes: Integers) -> Attack:
    """Return what somebody achieves who names records among those that agree with them."""
    records = table.records
    alone = int(np.count_nonzero(sizes == 1))
    return Attack(
        code=attack_code(table, ()),
        datasets=table.datasets,
        quasi_identifiers=names,
        secret=(),
        records=records,
        classes=len(sizes),
        uniques=alone,
        class_sizes=_sizes(rows, sizes),
        certain=alone,
        deterministic=Leakage(Fraction(int(records == 1)), Fraction(alone, records)),
        probabilistic=Leakage(Fraction(1, records), _mean(rows.records, sizes, records)),
        success=(),
        gain=None,
    )


def _inferring(
    table: EncodedTable,
    names: tuple[str, ...],
    secret: tuple[str, ...],
    rows: Rows,
    sizes: Integers,
    most: Integers,
    column: EncodedColumn,
) -> Attack:
    """Return what somebody achieves who guesses a secret by the records that agree with each."""
    records, tally = table.records, column.tally
    tenths = np.where(most == sizes, SUCCESS_BINS - 1, 10 * most // sizes)
    success = np.zeros(SUCCESS_BINS, np.int64)
    np.add.at(success, tenths, rows.records)
    certain = int(success[-1])
    return Attack(
        code=attack_code(table, secret),
        datasets=table.datasets,
        quasi_identifiers=names,
        secret=secret,
        records=records,
        classes=len(sizes),
        uniques=int(np.count_nonzero(sizes == 1)),
        class_sizes=_sizes(rows, sizes),
        certain=certain,
        deterministic=Leakage(Fraction(int(tally.max() == records)), Fraction(certain, records)),
        probabilistic=Leakage(
            Fraction(int(tally.max()), records), _mean(rows.records * most, sizes, records)
        ),
        success=tuple(success.tolist()),
        gain=None,
    )


def _sizes(rows: Rows, sizes: Integers) -> ClassSizes:
    """Count neighbourhoods by size, and the records that have one of it."""
    bins = np.searchsorted(np.array(SIZE_BINS), sizes, side="right") - 1
    records = np.zeros(len(SIZE_BINS), np.int64)
    np.add.at(records, bins, rows.records)
    classes = np.bincount(bins, minlength=len(SIZE_BINS))
    return ClassSizes(tuple(classes.tolist()), tuple(records.tolist()), int(sizes.min()))


def _mean(amounts: Integers, sizes: Integers, records: int) -> Fraction:
    """Return the mean over records of an amount over a size."""
    distinct, place = np.unique(sizes, return_inverse=True)
    sums = np.zeros(len(distinct), np.int64)
    np.add.at(sums, place, amounts)
    return sum_of_ratios(sums.tolist(), distinct.tolist()) / records
