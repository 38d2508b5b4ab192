"""Every set of what may be known of a person, counted in three files at once: a synthetic one, its people, and others.

The synthetic file S was made from the people of T; H are others of the same population, whom it was not made from.
Somebody who knows some columns of a person looks for synthetic records that are alike there, and

- *infers* a secret: the most frequent value of those records (of several the one that is more frequent in all of S,
  then in the order of their texts); where there is none, the most frequent value of S;
- *matches*: says that the person was in it where there is such a record;
- *singles out*: says so where there is exactly one.

All are sums over classes of counts by file, so that the sweep answers every set of columns at once (`game_kernel`).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise
from math import comb
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from glasshouse.arrays import Floats, Integers
from glasshouse.microdata import game_kernel, origin_kernel, sweep_steps
from glasshouse.microdata.game_kernel import Aims
from glasshouse.microdata.lattice import (
    RESULTS_LIMIT,
    check_budget,
    largest_size,
    sweep,
)
from glasshouse.microdata.sweep_kernel import Fields
from glasshouse.microdata.sweep_steps import Hidden, mask_of
from glasshouse.progress import OnProgress
from glasshouse.table import EncodedColumn, EncodedTable
from glasshouse.table.codes import smallest_unsigned
from glasshouse.table.partition import numbered, with_facts_joined

FILES = ("trained_on", "holdout")
"""What the two files of people are called, in the order of the columns of counts."""


@dataclass(frozen=True)
class KnownSets:
    """What comes of every set of columns that is known: a row per set, a column for each of the two `FILES`."""

    secret: str | None
    """What is inferred; None: nothing, and secrets may be known, too."""
    columns: tuple[str, ...]
    """What can be known: bit i of a mask is the i-th."""
    people: tuple[int, int]
    """The number of records of each file; that of the holdout is 0 where there is none."""
    masks: Integers
    """Per row, the set: by size, then in the order of the columns; the empty one is the first."""
    match: Integers
    """People with a synthetic record alike."""
    single: Integers
    """People with exactly one."""
    isolated: Integers
    """Those of the latter whom nobody else of their file is like."""
    unique: Integers
    """People whom nobody else of their file is like."""
    unique_match: Integers
    """Those of them with a synthetic record alike."""
    right: Integers | None = None
    """People whose secret is guessed right; None: nothing is inferred, as for the ones below."""
    certain: Integers | None = None
    """People with whom all of their file who are alike share the secret."""
    sure: Integers | None = None
    """People with synthetic records alike that share one value of the secret."""
    surely_right: Integers | None = None
    """Those of them who have it."""
    drawn: Floats | None = None
    """Of how many the secret is right if one of the synthetic records alike is drawn, on average."""

    def names(self, row: int) -> tuple[str, ...]:
        """Return the columns of a set."""
        mask = int(self.masks[row])
        return tuple(name for i, name in enumerate(self.columns) if (mask >> i) & 1)

    @property
    def sizes(self) -> Integers:
        """Per row, the number of columns."""
        return np.array([int(mask).bit_count() for mask in self.masks], np.int64)

    @property
    def counts(self) -> dict[str, Integers]:
        """The integers, by what they are called."""
        right = {} if self.right is None else {"right": self.right}
        return {**right, "match": self.match, "single": self.single, "isolated": self.isolated}

    def figures(self, file: int) -> dict[str, Floats]:
        """Return what others report, by their names, as shares of the people of one file; nan: it has no meaning.

        synthpop and SDNist count them in the original; here the holdout is counted, too.
        """

        def share(part: Any, whole: Any) -> Floats:
            whole = np.broadcast_to(np.asarray(whole, np.float64), np.shape(part))
            shares: Floats = np.full(np.shape(part), np.nan)
            np.divide(part, whole, out=shares, where=whole > 0)
            return shares

        people = self.people[file]
        figures = {
            "repU": share(self.isolated[:, file], people),
            "iS": share(self.match[:, file], people),
            "UEM": share(self.unique_match[:, file], self.unique[:, file]),
        }
        if self.certain is None or self.sure is None or self.surely_right is None:
            return figures
        drawn = np.zeros_like(self.sure, np.float64) if self.drawn is None else self.drawn
        return figures | {
            "Dorig": share(self.certain[:, file], people),
            "DiSCO": share(self.surely_right[:, file], people),
            "DCAP": share(drawn[:, file], people),
            "TCAP": share(self.surely_right[:, file], self.sure[:, file]),
        }

    def difference(self, name: str, row: int) -> Fraction:
        """Return by how much a share is greater among those whom the file was made from than in the holdout."""
        of_trained_on, of_holdout = self.counts[name][row].tolist()
        return Fraction(of_trained_on, self.people[0]) - Fraction(of_holdout, self.people[1])


def known_sets(
    synthetic: EncodedTable,
    trained_on: EncodedTable,
    holdout: EncodedTable | None,
    *,
    quasi_identifiers: Sequence[str],
    sensitive: Sequence[str] = (),
    subsets: str | Sequence[Sequence[str]] = "all",
    threads: int | None = None,
    memory: int | None = None,
    on_progress: OnProgress | None = None,
) -> tuple[KnownSets, ...]:
    """Count what comes of every set: first of all columns together, then for each secret of those that are not.

    Args:
        synthetic: The synthetic file.
        trained_on: The people whom it was made from.
        holdout: Others of the same population; None: there are none.
        quasi_identifiers: What can be known of a person.
        sensitive: What is to be inferred; it counts as known where nothing is inferred.
        subsets: ``"all"``, ``"max:K"``, ``"within:SECONDS"``, as in `sweep`, or a list of sets, by which secrets are
            inferred; the empty set and the whole are always counted.
        threads: How many threads share the work; by default all processors. The outcome is the same for any number.
        memory: How many bytes the whole process may take.
        on_progress: Called now and then with how far it is.

    Raises:
        StudyError: The subsets make no sense.
        BudgetError: There are more subsets than the memory holds.
    """
    files = [synthetic, trained_on, *([] if holdout is None else [holdout])]
    known, secrets = tuple(quasi_identifiers), tuple(sensitive)
    together = stacked(files, known, secrets)
    sizes = [table.records for table in files]
    origin = EncodedColumn(
        "", np.repeat(np.arange(len(files), dtype=np.uint8), sizes), pa.nulls(3, pa.large_string())
    )
    people = (trained_on.records, 0 if holdout is None else holdout.records)
    options: dict[str, Any] = {"threads": threads, "memory": memory, "on_progress": on_progress}
    blocks: list[KnownSets] = []
    for columns, inferred in (((*known, *secrets), ()), (known, secrets)):
        if inferred or not blocks:
            ranks = [_ranked(together.column(name), synthetic.records) for name in inferred]
            masks, sums = _sums(together, columns, ranks, origin, subsets, **options)
            alone = [_alone(table, columns, inferred, masks, **options) for table in files[1:]]
            blocks += _blocks(columns, people, masks, sums, alone, inferred, ranks, sizes)
    return tuple(blocks)


def _blocks(
    columns: tuple[str, ...],
    people: tuple[int, int],
    masks: Integers,
    sums: Integers,
    alone: Sequence[tuple[Integers, Integers]],
    secrets: Sequence[str],
    ranks: Sequence[EncodedColumn],
    sizes: Sequence[int],
) -> list[KnownSets]:
    """Return the sums of a walk as counts: of every secret, or where there is none of the sets themselves."""

    def twice(column: int) -> Integers:
        return sums[:, column : column + 2]

    def of_files(counts: Sequence[Integers]) -> Integers:
        return np.stack([*counts, *[np.zeros(len(masks), np.int64)] * (2 - len(counts))], axis=1)

    of_sets: dict[str, Any] = {
        "columns": columns,
        "people": people,
        "masks": masks,
        "match": twice(origin_kernel.MATCHED),
        "single": twice(origin_kernel.SINGLED),
        "isolated": twice(origin_kernel.ISOLATED),
        "unique": of_files([unique for unique, _ in alone]),
        "unique_match": twice(origin_kernel.UNIQUE),
    }
    if not secrets:
        return [KnownSets(None, **of_sets)]
    ends = np.cumsum(sizes)
    blocks = []
    for s, (secret, rank) in enumerate(zip(secrets, ranks, strict=True)):
        first = origin_kernel.AIMS + origin_kernel.PER_AIM * s
        usual = np.zeros(2, np.int64)
        for file, (begin, end) in enumerate(pairwise(ends)):
            usual[file] = np.count_nonzero(rank.codes[begin:end] == 0)
        blocks.append(
            KnownSets(
                secret,
                **of_sets,
                right=twice(first + origin_kernel.ADDED) + usual,
                certain=of_files([certain[:, s] for _, certain in alone]),
                sure=twice(first + origin_kernel.SURE),
                surely_right=twice(first + origin_kernel.SURELY_RIGHT),
                drawn=twice(first + origin_kernel.DRAWN) / 2.0**origin_kernel.DRAWN_UNIT,
            )
        )
    return blocks


def _sums(
    table: EncodedTable,
    columns: tuple[str, ...],
    secrets: Sequence[EncodedColumn],
    origin: EncodedColumn,
    subsets: str | Sequence[Sequence[str]],
    *,
    threads: int | None,
    memory: int | None,
    on_progress: OnProgress | None,
) -> tuple[Integers, Integers]:
    """Return the masks of sets, the empty one first, and a row of sums for each."""
    width = origin_kernel.AIMS + origin_kernel.PER_AIM * len(secrets)

    def aims(fields: Fields) -> Aims:
        each = np.zeros(len(secrets), game_kernel.AIM)
        each["column"] = origin_kernel.AIMS + origin_kernel.PER_AIM * np.arange(len(secrets))
        each["values"] = [secret.cardinality for secret in secrets]
        each["tries"] = each["actions"] = 1
        none = np.zeros(0, np.int64)
        return Aims(
            weight=fields[:0],
            weights=none,
            earned=fields[:0],
            earnings=none,
            tries=0,
            each=each,
            factors=none,
            beliefs=np.zeros(0, np.float64),
            possible=np.zeros(0, np.bool_),
            best_gain=none,
            gains=none,
            scores=none,
            believed_scores=np.zeros(0, np.float64),
            origin=fields[len(secrets) :],
            width=width,
        )

    def swept(of: EncodedTable, names: Sequence[str], largest: int) -> tuple[Integers, Integers]:
        return sweep_steps.sums_of_all_subsets(
            of,
            quasi_identifiers=names,
            sensitive=(),
            largest=largest,
            threads=threads or sweep_steps.available_threads(),
            memory=memory,
            on_progress=on_progress,
            hidden=Hidden([*secrets, origin], aims),
        )

    masks, sums = np.zeros(0, np.int64), np.zeros((0, width), np.int64)
    whole = (1 << len(columns)) - 1
    listed = {0, whole}
    if isinstance(subsets, str):
        largest = largest_size(subsets, len(columns), table.records)
        check_budget(len(columns), largest, width, memory or RESULTS_LIMIT)
        masks, sums = swept(table, columns, largest)
        if largest == len(columns):
            listed.remove(whole)
    else:
        listed |= {mask_of(names, columns) for names in subsets}
    # A set by itself is one column of what its columns say together; the empty one says the same of everybody.
    sets = sorted(listed)
    joined = {str(mask): _joined(table, columns, mask) for mask in sets}
    of_sets, rows = swept(EncodedTable(table.name, table.records, joined, {}), tuple(joined), 1)
    places = [int(mask).bit_length() - 1 for mask in of_sets]
    masks = np.concatenate([np.array(sets, np.int64)[places], masks])
    sums = np.concatenate([rows, sums])
    order = _in_reading_order(masks, len(columns))
    return masks[order], sums[order]


def _in_reading_order(masks: Integers, columns: int) -> Integers:
    """Return the order of sets by size, then by the places of their columns.

    >>> _in_reading_order(np.array([4, 3, 1, 6, 0]), 3).tolist()
    [4, 2, 0, 1, 3]
    """
    turned, sizes = np.zeros_like(masks), np.zeros_like(masks)
    for place in range(columns):
        bit = (masks >> place) & 1
        turned |= bit << (columns - 1 - place)
        sizes += bit
    return np.lexsort((-turned, sizes))


def _reading(mask: int) -> tuple[int, ...]:
    """Return the places of a set, by which sets of one size are ordered."""
    return tuple(place for place in range(mask.bit_length()) if (mask >> place) & 1)


def _joined(table: EncodedTable, columns: Sequence[str], mask: int) -> EncodedColumn:
    """Return what the columns of a set say together, as one column."""
    names = [columns[place] for place in _reading(mask)]
    codes, values = np.zeros(table.records, np.uint8), 1
    if names:
        codes, values = numbered(table, names)
    return EncodedColumn(str(mask), codes, pa.nulls(values, pa.large_string()))


def stacked(
    files: Sequence[EncodedTable], known: Sequence[str], secrets: Sequence[str]
) -> EncodedTable:
    """Return the records of several files one after the other, with one dictionary for each column."""
    first = files[0]
    names = [column.name for name in known for column in first.columns_of(name)]
    columns = {}
    for name in (*names, *secrets):
        parts = [table.column(name) for table in files]
        values = pc.unique(pa.concat_arrays([part.values for part in parts]))
        codes = [
            np.asarray(pc.index_in(part.values, value_set=values)).astype(np.uint32)[part.codes]
            for part in parts
        ]
        kind = smallest_unsigned(len(values))
        columns[name] = EncodedColumn(name, np.concatenate(codes).astype(kind), values)
    records = sum(table.records for table in files)
    facts = {name: first.facts[name] for name in known if name in first.facts}
    return with_facts_joined(EncodedTable(first.name, records, columns, {}, facts), known)


def _ranked(column: EncodedColumn, synthetic: int) -> EncodedColumn:
    """Return a secret with its values by how frequent they are among the first records, then by their texts."""
    frequency = np.bincount(column.codes[:synthetic], minlength=column.cardinality)
    by_text = np.empty(column.cardinality, np.int64)
    by_text[np.asarray(pc.array_sort_indices(column.values))] = np.arange(column.cardinality)
    order = np.lexsort((by_text, -frequency))
    rank = np.empty(column.cardinality, np.uint32)
    rank[order] = np.arange(column.cardinality, dtype=np.uint32)
    return EncodedColumn(column.name, rank[column.codes], column.values.take(pa.array(order)))


def _alone(
    table: EncodedTable,
    columns: tuple[str, ...],
    secrets: Sequence[str],
    masks: Integers,
    **options: Any,
) -> tuple[Integers, Integers]:
    """Return, per set, how many people of a file are alone in their class, and share each secret with all of it."""
    unique = np.zeros(len(masks), np.int64)
    certain = np.zeros((len(masks), len(secrets)), np.int64)
    unique[0] = int(table.records == 1)
    for s, name in enumerate(secrets):
        tally = table.column(name).tally
        certain[0, s] = table.records if tally.max(initial=0) == table.records else 0
    sizes = [int(mask).bit_count() for mask in masks]
    complete = 0
    while sizes.count(complete + 1) == comb(len(columns), complete + 1) > 0:
        complete += 1
    apart = [mask for mask, size in zip(masks.tolist(), sizes, strict=True) if size > complete]
    chosen: list[str | list[list[str]]] = [f"max:{complete}"] if complete else []
    if apart:
        chosen.append([[columns[place] for place in _reading(mask)] for mask in apart])
    of_columns = EncodedTable(
        table.name, table.records, table.columns, {}, table.facts, missing_is_a_value=True
    )
    row = 1
    for subsets in chosen:
        swept = sweep(
            of_columns,
            subsets=subsets,
            quasi_identifiers=columns,
            sensitive=secrets,
            drop_suppressed=False,
            **options,
        )
        rows = slice(row, row + len(swept.masks))
        unique[rows], certain[rows] = swept.uniques, swept.certain
        row = rows.stop
    return unique, certain
