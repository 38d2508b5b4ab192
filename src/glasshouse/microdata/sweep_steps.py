"""The root steps of a sweep over all subsets of the quasi-identifiers.

Subsets are taken by their first attribute, in an order chosen from the data. Root step p answers all subsets whose
first attribute is the p-th: the records are parted by that attribute, the kernel runs inside each part, and the integer
cells are added up; then the attribute is left out, equal records are merged, and the next step begins. Steps are the
unit of progress and cancelling, and portions of a step that of checkpoints; threads share the parts of a portion.
``docs/assess.md`` derives it.

On their way records are packed words, every attribute in as few bits as its values need: one 64-bit word, or several
where the attributes need more; no attribute stands across two words. They wait for the next step in memory, or on disk
where that is too small. What is done with the records of a step, wherever they wait, is `sweep_partition`.
"""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import FIRST_EXCEPTION, ThreadPoolExecutor, wait
from functools import partial
from itertools import combinations, pairwise
from math import comb
from pathlib import Path
from typing import Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from glasshouse.arrays import Integers, Words
from glasshouse.atomic import scratch_folder
from glasshouse.compiled import compiled
from glasshouse.errors import BudgetError
from glasshouse.language import marked
from glasshouse.microdata import game_kernel, sweep_kernel
from glasshouse.microdata.game_kernel import Aims
from glasshouse.microdata.leakage import SIZE_BINS
from glasshouse.microdata.sweep_kernel import Fields, Plan, Store, Workspace
from glasshouse.progress import OnProgress, Progress, give_back_memory, resident_bytes
from glasshouse.table import EncodedTable
from glasshouse.table.codes import Codes, let_go

DENSE_ATTRIBUTES = 12
"""Up to so many attributes after the root, all 3^r cells are kept side by side; beyond, only touched ones."""
HASHED_CELLS = 1 << 16
"""So many touched cells are kept at a time."""
GAME_SUMS = 1 << 23
"""Where cells are wider than those of `sweep_kernel`, so many sums are kept at a time."""
SAMPLED_RECORDS = 20_000
"""The order of attributes is chosen from a sample of so many records."""
CHUNK_RECORDS = 1 << 17
"""So many records are packed, and handed on, at a time: a megabyte or two, which caches hold."""
LEAST_RECORDS = 100_000
"""A memory that holds fewer records at a time than this is refused."""
MERGE_THRESHOLD = 3.0
"""Records are merged inside a class where that is expected to save so many visits of each."""
COMPILING = marked("compiling, once")
"""What is done first where the loop has not been compiled before."""
BUNDLES = 64
"""The parts of a partition are handed to threads in so many bundles of about the same number of records."""
FEW_VISITS = 1 << 18
"""Fewer records, for every subset of the attributes, are swept before another thread has begun."""
PORTION_SECONDS, PORTION_RECORDS = 30.0, 1 << 20
"""A step is kept as far as it is done, if that is asked for, about so often, but after so many records at least."""


COUNTED = 1 << 28
"""A part that counts so many records is answered by longer prefixes; cells are 32-bit integers, which the corrections
of twice as many records less one cannot overflow, and are added to 64-bit sums before they have counted more."""
WORD_BITS = 64

Counts = NDArray[np.signedinteger[Any]]
"""How many equal records each one stands for; in 64 bits where there are 2³¹ records or more."""
OnStep = Callable[[int, Integers], None]
"""Takes the number of a step and its rows. A step that is not finished has one more: how many values of its attribute
the others are of, and how many records have these."""


class Swept(NamedTuple):
    """What one thread has counted in bundles of parts."""

    store: Store
    """Its cells."""
    rows: Integers
    """The rows of earlier cells, which were full."""


Share = Callable[[Callable[[int], Any], int], list[Any]]
"""Has a number of tasks done, by however many; returns what each gave."""
SweepBundles = Callable[[Iterable[Integers]], Swept]
"""Sweeps bundles of parts."""
Spread = Callable[[SweepBundles, Sequence[Integers]], Sequence[Swept]]
"""Has bundles swept, by however many."""


class CodedColumn(Protocol):
    """A column of codes from 0 on."""

    @property
    def codes(self) -> Codes:
        """The code of each record."""

    @property
    def cardinality(self) -> int:
        """How many codes there are."""


class Hidden(NamedTuple):
    """What records hold beside attributes, and what is added up of it."""

    columns: Sequence[CodedColumn]
    """The secrets, weights and earnings."""
    aims: Callable[[Fields], Aims]
    """Returns what is added up, where the columns stand in the records."""


def subset_masks(attributes: int, largest: int) -> Integers:
    """Return the subsets as bits, by size, then in the order of the attributes; not the empty one."""
    return np.fromiter(
        (
            sum(1 << a for a in chosen)
            for size in range(1, largest + 1)
            for chosen in combinations(range(attributes), size)
        ),
        np.int64,
        count=number_of_subsets(attributes, largest),
    )


def mask_of(names: Collection[str], order: Sequence[str]) -> int:
    """Return a set of attributes as bits: bit i is the i-th of their order.

    >>> mask_of({"sex", "town"}, ["sex", "age", "town"])
    5
    """
    return sum(1 << place for place, name in enumerate(order) if name in names)


def number_of_subsets(attributes: int, largest: int) -> int:
    """Return how many subsets there are of at least one and at most so many attributes.

    >>> number_of_subsets(11, 11), number_of_subsets(20, 3)
    (2047, 1350)
    """
    return sum(comb(attributes, size) for size in range(1, largest + 1))


def sums_of_all_subsets(
    table: EncodedTable,
    *,
    quasi_identifiers: Sequence[str],
    sensitive: Sequence[str],
    largest: int,
    threads: int,
    memory: int | None = None,
    on_progress: OnProgress | None = None,
    finished: Mapping[int, Integers] | None = None,
    on_step: OnStep | None = None,
    hidden: Hidden | None = None,
) -> tuple[Integers, Integers]:
    """Return the masks of the subsets (bit i is the i-th quasi-identifier) and a row of sums for each.

    Args:
        table: The release.
        quasi_identifiers: The attributes.
        sensitive: The secrets.
        largest: The largest number of attributes in a subset.
        threads: How many threads share the work; the outcome is the same for any number.
        memory: How many bytes the whole process may take; records that do not fit go to disk meanwhile.
        on_progress: Called now and then from this thread.
        finished: The rows of steps that an earlier, interrupted sweep has finished, or begun.
        on_step: Called with each step that is finished, and its rows; and now and then with what there is of one.
        hidden: What is added up for an adversary beyond one guess at records that weigh the same; instead of secrets.
    """
    order = refinement_order(table, quasi_identifiers)
    names = [quasi_identifiers[i] for i in order]
    masks = subset_masks(len(names), largest)
    by_mask = np.argsort(masks)
    secrets = [table.column(name) for name in sensitive] if hidden is None else hidden.columns
    with scratch_folder() as folder:
        steps = _Steps(table, names, secrets, largest, threads, memory, folder, hidden)
        sums = np.zeros((len(masks), steps.width), np.int64)
        for step in range(len(names)):
            subsets = partition_masks(order[step : step + 1], order[step + 1 :], largest - 1)
            rows = None if finished is None else finished.get(step)
            if rows is not None and len(rows) == len(subsets):
                steps.skip(step)
            else:
                rows = steps.run(step, on_progress, rows, on_step)
                if on_step:
                    on_step(step, rows)
            sums[by_mask[np.searchsorted(masks, subsets, sorter=by_mask)]] = rows
    return masks, sums


def partition_masks(prefix: Sequence[int], rest: Sequence[int], largest: int) -> Integers:
    """Return the subsets, as bits, that the rows of `sweep_partition` are of, in their order.

    >>> [f"{mask:b}" for mask in partition_masks([0], [1, 2], 1)]
    ['1', '11', '101']
    """
    always = sum(1 << a for a in prefix)
    relatives = _relative_masks(len(rest), largest)
    masks = np.full(len(relatives), always, np.int64)
    for i, attribute in enumerate(rest):
        masks |= ((relatives >> i) & 1) << attribute
    return masks


def sweep_partition(
    packing: Packing,
    prefix: Sequence[int],
    rest: Sequence[int],
    records: Words,
    counts: Counts | None,
    *,
    largest: int | None = None,
    bounds: Integers | None = None,
    spread: Spread | None = None,
    share: Share | None = None,
    on_bundle: Callable[[int], None] | None = None,
    aims: Aims | None = None,
) -> tuple[Integers, Words, Counts]:
    """Answer, among some records, the subsets that hold all attributes of a prefix and any of those that come after.

    Records that are alike on the prefix must be here together. Then the rows of all partitions of a table add up to
    those of the table, and the records that are left of them are what the next step begins with: whoever parts the
    records, into threads, slices on disk or tasks of a cluster, calls this. A root step has a prefix of one attribute.
    A value of it with too many records is answered by prefixes of two: each subset has a next attribute, or none.

    Args:
        packing: How the records are packed.
        prefix: The attributes that every subset holds, by their positions in the packing.
        rest: The attributes that come after, in the order of refinement.
        records: The packed records.
        counts: How many equal records each stands for; None: one.
        largest: The largest number of attributes of a subset beside the prefix; by default all.
        bounds: Where the records that are alike on the prefix end, and before that where the first begin, if they are
            laid out so already; the records and counts are then overwritten. By default both are left as they are.
        spread: Has the bundles of parts swept by several threads; by default by this one.
        share: Has what is left of the records copied by several threads; by default they are closed up in place.
        on_bundle: Called when a bundle is finished with how many records were looked at, from the thread that did it.
        aims: What is added up for an adversary beyond one guess; by default what `sweep_kernel` adds up.

    Returns:
        A row of 64-bit sums for each of `partition_masks`; and the records without the prefix, of which those that are
        equal in a part may be merged, with their counts.
    """
    if bounds is None:
        bounds, records, counts = _parted(packing, prefix, records, counts)
    plan = _plan(packing, rest, len(rest) if largest is None else largest)
    starts, ends = bounds[:-1], bounds[1:].copy()
    sizes = weights = ends - starts
    if counts is not None and counts.sum(dtype=np.int64) >= COUNTED:
        weights = np.add.reduceat(counts, starts, dtype=np.int64)
    light = weights < (COUNTED if aims is None else 2**31)
    if aims is not None and not light.all():
        raise BudgetError(
            "more than two billion records are alike on a quasi-identifier; weights, priors and gains are for fewer: "
            "assess a part"
        )
    merged = (
        np.empty(int(bounds[-1]), np.int32)
        if counts is None
        else counts.astype(np.int32, copy=False)
    )
    keep = _bits_to_keep(packing, rest)

    def sweep_bundles(bundles: Iterable[Integers]) -> Swept:
        work, store = _workspace(plan, int(sizes[light].max(initial=0))), _store(plan, aims)
        rows, pending = _no_rows(plan, aims), 0
        room = None if aims is None else game_kernel.scratch(aims)
        for bundle in bundles:
            weight = int(weights[bundle].sum())
            if aims is None and pending + weight >= 2 * COUNTED:
                rows += _rows(plan, [store])
                store, pending = _store(plan, aims), 0
            pending += weight
            before = int(work.visits[0])
            laid_out = (keep, records, merged, counts is not None, starts, ends, bundle)
            if aims is None or room is None:
                sweep_kernel.sweep_parts(plan, work, store, *laid_out)
            else:
                game_kernel.sweep_parts(plan, aims, work, room, store, *laid_out)
            if on_bundle:
                on_bundle(int(work.visits[0]) - before)
        return Swept(store, rows)

    bundles = _bundles(sizes, weights, np.flatnonzero(light))
    swept = spread(sweep_bundles, bundles) if spread else [sweep_bundles(bundles)]
    rows = sum((one.rows for one in swept), _rows(plan, [one.store for one in swept]))
    left: Counts = merged
    for part in np.flatnonzero(~light):
        if left.dtype != np.int64 and weights[part] >= 1 << 31:
            left = left.astype(np.int64)
        inside = slice(int(starts[part]), int(ends[part]))
        whole: Counts = np.ones(sizes[part], np.int32) if counts is None else counts[inside]
        of_part = records[inside.start * packing.words : inside.stop * packing.words]
        rows += _rows_by_longer_prefixes(packing, rest, of_part, whole, plan.largest)
        left[inside] = whole
        ends[part] = sweep_kernel.merge(
            records, left, packing.words, starts[part], ends[part], True, keep,
            np.empty(_slots(int(sizes[part])), np.int32),
        )  # fmt: skip
    if aims is None:
        rows = _completed(rows)
    if share:
        return rows, *_closed_up(records, left, packing.words, starts, ends, share)
    number = close_up(records, left, packing.words, starts, ends, records, left, 0)
    return rows, records[: number * packing.words], left[:number]


def _closed_up(
    records: Words, counts: Counts, words: int, starts: Integers, ends: Integers, share: Share
) -> tuple[Words, Counts]:
    """Return copies of the records of all parts, in their order, made by several threads: each has parts of its own."""
    before = np.concatenate([[0], np.cumsum(ends - starts)])
    number = int(before[-1])
    closed, closed_counts = np.empty(number * words, np.uint64), np.empty(number, counts.dtype)
    cuts = np.searchsorted(before, np.arange(BUNDLES + 1) * number // BUNDLES)
    cuts[-1] = len(starts)

    def copy(piece: int) -> None:
        parts = slice(cuts[piece], cuts[piece + 1])
        close_up(
            records, counts, words, starts[parts], ends[parts], closed, closed_counts,
            before[parts.start],
        )  # fmt: skip

    share(copy, BUNDLES)
    return closed, closed_counts


def _rows_by_longer_prefixes(
    packing: Packing, rest: Sequence[int], records: Words, counts: Counts, largest: int
) -> Integers:
    """Return the rows of a part in which more records are counted than cells hold.

    The subset of the prefix alone has one class, the part; every other one has a next attribute.
    """
    secrets = packing.secrets
    rows = np.zeros(
        (len(_relative_masks(len(rest), largest)), sweep_kernel.cell_width(len(secrets))), np.int64
    )
    row_of = {mask: row for row, mask in enumerate(_relative_masks(len(rest), largest).tolist())}
    size = int(counts.sum(dtype=np.int64))
    bins = sweep_kernel.size_bins()
    of_size = int(bins[size]) if size < len(bins) else len(SIZE_BINS) - 1
    rows[0, sweep_kernel.CLASSES + of_size] = 1
    if of_size >= sweep_kernel.COUNTED_BINS:
        rows[0, sweep_kernel.RECORDS + of_size - sweep_kernel.COUNTED_BINS] = size
    for s, field in enumerate(secrets):
        tally = np.zeros(field["size"], np.int64)
        np.add.at(tally, _values(packing, field, records), counts)
        most, column = int(tally.max()), sweep_kernel.SECRETS + sweep_kernel.PER_SECRET * s
        if most == size:
            rows[0, column + sweep_kernel.CERTAIN] = size
        else:
            rows[0, column + sweep_kernel.MOST] = most
            rows[0, column + sweep_kernel.SHARES + sweep_kernel.SHARE_BINS * most // size] = size
    for place, attribute in enumerate(rest if largest else ()):
        later = rest[place + 1 :]
        of_next, _, _ = sweep_partition(
            packing, [attribute], later, records, counts, largest=largest - 1
        )
        for mask, row in zip(
            _relative_masks(len(later), largest - 1).tolist(), of_next, strict=True
        ):
            rows[row_of[(1 | mask << 1) << place]] = row
    return rows


def _parted(
    packing: Packing, prefix: Sequence[int], records: Words, counts: Counts | None
) -> tuple[Integers, Words, Counts | None]:
    """Lay out a copy of some records by their values of a prefix; return where each part ends, from 0 on."""
    words, none = packing.words, np.empty(0, np.int32)
    number = len(records) // words
    for field in packing.attributes[
        list(prefix)[::-1]
    ]:  # each keeps the order that the one before made
        values = _values(packing, field, records)
        sizes = np.bincount(values, minlength=field["size"])
        laid, laid_counts = (
            np.empty_like(records),
            none if counts is None else np.empty_like(counts),
        )
        lay_out(
            records, none if counts is None else counts, counts is not None, words, values,
            np.cumsum(sizes) - sizes, laid, laid_counts,
        )  # fmt: skip
        records, counts = laid, None if counts is None else laid_counts
    bits = sweep_kernel.bits_of(packing.attributes[list(prefix)], words)
    by_word = records.reshape(-1, words).T
    differs = np.zeros(max(0, number - 1), np.bool_)
    for word in np.flatnonzero(bits):
        differs |= (by_word[word, 1:] ^ by_word[word, :-1]) & bits[word] != 0
    ends = [*np.flatnonzero(differs) + 1, *([number] if number else ())]
    return np.array([0, *ends], np.int64), records, counts


def _values(packing: Packing, field: Any, records: Words) -> NDArray[np.uint32]:
    """Return the value of one attribute in every record."""
    values = np.empty(len(records) // packing.words, np.uint32)
    read_values(records, packing.words, field["word"], field["shift"], field["mask"], values)
    return values


def _plan(packing: Packing, rest: Sequence[int], largest: int) -> Plan:
    sizes = packing.secrets["size"]
    grouped = int(sizes.argmax()) if len(sizes) else -1
    return Plan(
        words=packing.words,
        fields=packing.attributes[list(rest)],
        secrets=packing.secrets,
        grouped=grouped,
        group=packing.secrets[[grouped]] if len(sizes) else np.zeros(1, sweep_kernel.FIELD),
        largest_secret=int(np.delete(sizes, grouped).max(initial=1)) if len(sizes) else 1,
        largest=largest,
        size_bin=sweep_kernel.size_bins(),
        threshold=MERGE_THRESHOLD,
    )


def _bits_to_keep(packing: Packing, rest: Sequence[int]) -> Words:
    """Return, per word, the bits of what is still to come: some attributes and the secrets."""
    return sweep_kernel.bits_of(
        packing.attributes[list(rest)], packing.words
    ) | sweep_kernel.bits_of(packing.secrets, packing.words)


def refinement_order(table: EncodedTable, names: Sequence[str]) -> list[int]:
    """Choose the order in which attributes refine: those that no other attribute tells come first.

    An attribute's rank is its least conditional entropy given one other attribute, over an even sample. An attribute
    that another determines (a city, given the school) then comes late, when it is constant in most classes and free.
    """
    stride = max(1, table.records // SAMPLED_RECORDS)
    codes = []
    for name in names:
        codes.append(table.column(name).codes[::stride].astype(np.int64))
        let_go(table.column(name).codes)
    alone = [_entropy(values) for values in codes]
    ranks = list(alone)
    for i, j in combinations(range(len(names)), 2):
        both = _entropy(codes[i] * (int(codes[j].max()) + 1) + codes[j])
        ranks[i] = min(ranks[i], both - alone[j])
        ranks[j] = min(ranks[j], both - alone[i])
    first = max(range(len(names)), key=lambda i: alone[i])
    return sorted(range(len(names)), key=lambda i: (i != first, -ranks[i], i))


def _entropy(values: Integers) -> float:
    _, counts = np.unique(values, return_counts=True)
    shares = counts / counts.sum()
    return float(-(shares * np.log2(shares)).sum())


def _relative_masks(attributes: int, largest: int) -> Integers:
    """Return the sets of at most so many attributes, the empty one too, in the order of a step's rows."""
    return np.array(
        [mask for mask in range(1 << attributes) if mask.bit_count() <= largest], np.int64
    )


class MemorySpool:
    """Records in memory."""

    def __init__(self, kind: type[np.signedinteger[Any]]) -> None:
        self._kind = kind
        self._parts: list[tuple[Words, Counts]] = []

    def append(self, records: Words, counts: Counts) -> None:
        """Add some records, which nobody writes to any more."""
        self._parts.append((records, counts.astype(self._kind, copy=False)))

    def chunks(self, words: int) -> Iterator[tuple[Words, Counts]]:
        """Yield views of the records."""
        for records, counts in self._parts:
            for begin in range(0, len(counts), CHUNK_RECORDS):
                end = min(begin + CHUNK_RECORDS, len(counts))
                yield records[begin * words : end * words], counts[begin:end]


class DiskSpool:
    """Records in two files of a folder; they hold the data, and go with the folder."""

    def __init__(self, folder: Path, name: str, kind: type[np.signedinteger[Any]]) -> None:
        self._kind = kind
        self._records = folder / f"{name}.records"
        self._counts = folder / f"{name}.counts"
        self._records.touch()
        self._counts.touch()

    def append(self, records: Words, counts: Counts) -> None:
        """Write the records behind those that are there."""
        with self._records.open("ab") as file:
            records.tofile(file)
        with self._counts.open("ab") as file:
            counts.astype(self._kind, copy=False).tofile(file)

    def chunks(self, words: int) -> Iterator[tuple[Words, Counts]]:
        """Read the records, one chunk in memory at a time."""
        with self._records.open("rb") as records, self._counts.open("rb") as counts:
            while len(chunk_counts := np.fromfile(counts, self._kind, CHUNK_RECORDS)):
                yield np.fromfile(records, np.uint64, len(chunk_counts) * words), chunk_counts

    def remove(self) -> None:
        """Delete the files."""
        self._records.unlink()
        self._counts.unlink()


Spool = MemorySpool | DiskSpool
"""Records with their counts, written once and then read in chunks, in the same order, as often as needed."""


class _Slice(NamedTuple):
    """Some values of the step's attribute and their records, laid out part by part."""

    bounds: Integers
    """Where the records of the first value begin, and where those of each end."""
    records: Words
    """The records."""
    counts: Counts | None
    """How many equal records each stands for; None: one."""

    def between(self, begin: int, end: int, words: int) -> _Slice:
        """Return a view of some of the values."""
        first, last = int(self.bounds[begin]), int(self.bounds[end])
        counts = None if self.counts is None else self.counts[first:last]
        bounds = self.bounds[begin : end + 1] - first
        return _Slice(bounds, self.records[first * words : last * words], counts)


class _Steps:
    """The records on their way through the root steps."""

    def __init__(
        self,
        table: EncodedTable,
        names: Sequence[str],
        secrets: Sequence[CodedColumn],
        largest: int,
        threads: int,
        memory: int | None,
        folder: Path,
        hidden: Hidden | None,
    ) -> None:
        self._attributes = [table.column(name) for name in names]
        self._secrets = secrets
        self._largest = largest
        self._threads = threads
        # The first attribute is parted by once and never packed.
        self._packing = plan_packing(self._attributes[1:], self._secrets)
        self._aims = None if hidden is None else hidden.aims(self._packing.secrets)
        self.width = _width(len(secrets), self._aims)
        self._table_records = table.records
        self._folder = folder
        self._capacity = table.records if memory is None else self._fitting(memory)
        # What fits is laid out by all threads, each of which has some of the chunks; slices are read one by one.
        chunks = -(-table.records // CHUNK_RECORDS)
        self._shares = max(1, min(threads, chunks)) if self._capacity >= table.records else 1
        self._kind = np.int32 if table.records < 1 << 31 else np.int64
        self._spool: Spool = MemorySpool(self._kind)
        self._visits = 0
        self._portion = PORTION_RECORDS
        loop = (sweep_kernel if self._aims is None else game_kernel).sweep_parts
        self._first = "" if sweep_kernel.is_compiled(loop) else COMPILING

    def run(
        self,
        step: int,
        on_progress: OnProgress | None,
        begun: Integers | None = None,
        on_step: OnStep | None = None,
    ) -> Integers:
        """Answer all subsets whose first attribute is the step's, and leave that attribute out.

        Args:
            step: The step.
            on_progress: Called now and then.
            begun: The rows of the step as far as an earlier sweep had it.
            on_step: Called with the rows as far as they are, each time that so much is done that it is worth it.
        """
        spool, by_share = self._new_spool(step), self._sizes(step)
        sizes = by_share.sum(axis=0)
        before = np.concatenate([[0], np.cumsum(sizes)])
        rest = range(step, len(self._packing.attributes))
        plan = _plan(self._packing, rest, self._largest - 1)
        rows, answered = _no_rows(plan, self._aims), 0
        if begun is not None and len(begun) == len(rows) + 1:
            values, records = begun[-1, :2].tolist()
            if values < len(sizes) and records == before[values]:
                rows, answered = begun[:-1], values
        cuts = self._slice_cuts(sizes)
        slices = self._slices(step, by_share, cuts)
        has_few = int(before[-1]) << len(rest) < FEW_VISITS
        for first, last in pairwise(cuts):
            values, laid_out = first + np.flatnonzero(sizes[first:last]), next(slices)
            known = int(np.searchsorted(values, answered))
            if known:
                some = laid_out.between(0, known, self._packing.words)
                spool.append(*self._left_out(step, some, spool))
            for begin, end in self._portions(laid_out.bounds, known, whole=on_step is None):
                done, answered = before[values[begin]], int(values[end - 1]) + 1
                threads = _Threads(self._threads)
                if on_progress:
                    shares = (done / before[-1], before[answered] / before[-1])
                    threads.tell = partial(self._tell, on_progress, step, shares)
                portion = laid_out.between(begin, end, self._packing.words)
                some_rows, records, counts = sweep_partition(
                    self._packing,
                    (),  # laid out already, and the first is not even packed
                    rest,
                    portion.records,
                    portion.counts,
                    largest=self._largest - 1,
                    bounds=portion.bounds,
                    spread=None if has_few else threads.spread,
                    share=None if isinstance(spool, DiskSpool) else self._share,
                    on_bundle=threads.count,
                    aims=self._aims,
                )
                if has_few:
                    threads.tell(1.0, threads.visits)
                self._visits += threads.visits
                rows = rows + some_rows
                spool.append(records, counts)
                if on_step and before[answered] < before[-1]:
                    note = np.zeros((1, self.width), np.int64)
                    note[0, :2] = answered, before[answered]
                    on_step(step, np.concatenate([rows, note]))
                del portion, records, counts
            del laid_out  # before the next one is
        self._use(spool)
        return rows

    def _portions(self, bounds: Integers, begin: int, *, whole: bool) -> Iterator[tuple[int, int]]:
        """Yield the values to answer at a time, from one on and up to another: all, or those of a portion."""
        while begin < len(bounds) - 1:
            start, end = time.perf_counter(), len(bounds) - 1
            if not whole:
                fitting = np.searchsorted(bounds, bounds[begin] + self._portion, side="right") - 1
                end = max(begin + 1, int(fitting))
            yield begin, end
            pace = (bounds[end] - bounds[begin]) / max(time.perf_counter() - start, 1e-9)
            self._portion = max(PORTION_RECORDS, int(PORTION_SECONDS * pace))
            begin = end

    def skip(self, step: int) -> None:
        """Leave the step's attribute out without answering anything."""
        spool = self._new_spool(step)
        by_share = self._sizes(step)
        cuts = self._slice_cuts(by_share.sum(axis=0))
        for laid_out in self._slices(step, by_share, cuts):
            spool.append(*self._left_out(step, laid_out, spool))
        self._use(spool)

    def _left_out(self, step: int, laid_out: _Slice, spool: Spool) -> tuple[Words, Counts]:
        """Merge records that are equal without the step's attribute; return those that are left for a spool."""
        bounds, records, counts = laid_out
        words, starts, ends = self._packing.words, bounds[:-1], bounds[1:].copy()
        keep = _bits_to_keep(self._packing, range(step, len(self._packing.attributes)))
        slots = np.empty(_slots(int((ends - starts).max(initial=0))), np.int32)
        own_counts: Counts = np.ones(int(bounds[-1]), self._kind) if counts is None else counts
        for value in range(len(starts)):
            ends[value] = sweep_kernel.merge(
                records, own_counts, words, starts[value], ends[value], True, keep, slots
            )
        if not isinstance(spool, DiskSpool):
            return _closed_up(records, own_counts, words, starts, ends, self._share)
        left = close_up(records, own_counts, words, starts, ends, records, own_counts, 0)
        return records[: left * words], own_counts[:left]

    def _fitting(self, memory: int) -> int:
        """Return how many records may be laid out at a time.

        Raises:
            BudgetError: What is there already, and the cells, leave too little room.
        """
        width = self.width
        attributes = len(self._attributes) - 1
        _, cells = _cells(attributes, self._aims)
        subsets = number_of_subsets(len(self._attributes), self._largest)
        give_back_memory()
        resident = resident_bytes()
        cell_bytes = 4 if self._aims is None else 8
        fixed = self._threads * (cells * width * cell_bytes + sweep_kernel.JOINT_VALUES * 4)
        fixed += 2 * cells * width * 8 + 2 * subsets * width * 8
        chunk = 4 * min(CHUNK_RECORDS, self._table_records) * self._packing.words * 8
        chunk = self._threads * (chunk + 2 * 8 * max(a.cardinality for a in self._attributes))
        # Laid out, copied while it is parted, and copied again by the thread that refines it.
        record_bytes = 3 * (8 * self._packing.words + 4)
        room = (memory - resident - fixed - chunk) // record_bytes
        if room < min(self._table_records, LEAST_RECORDS):
            needed = (
                resident + fixed + chunk + min(self._table_records, LEAST_RECORDS) * record_bytes
            )
            raise BudgetError(
                "the data and the program take {resident} MiB already; a sweep needs {needed} MiB at least, not "
                "{memory}: give it more memory or fewer quasi-identifiers",
                resident=resident >> 20,
                needed=int(needed) >> 20,
                memory=memory >> 20,
            )
        return int(room)

    def _new_spool(self, step: int) -> Spool:
        if self._capacity >= self._table_records:
            return MemorySpool(self._kind)
        return DiskSpool(self._folder, str(step), self._kind)

    def _use(self, spool: Spool) -> None:
        if isinstance(self._spool, DiskSpool):
            self._spool.remove()
        self._spool = spool

    def _share(self, task: Callable[[int], Any], tasks: int) -> list[Any]:
        """Have tasks done by as many threads as share the records."""
        if self._shares == 1:
            return [task(number) for number in range(tasks)]
        with ThreadPoolExecutor(self._shares) as pool:
            return list(pool.map(task, range(tasks)))

    def _sizes(self, step: int) -> Integers:
        """Return how many records there are of each value of the step's attribute, in the chunks of each share."""

        def count(share: int) -> Integers:
            sizes = np.zeros(self._attributes[step].cardinality, np.int64)
            for chunk_values, _, _ in self._chunks(step, share, values_only=True):
                count_values(chunk_values, sizes)
            return sizes

        return np.stack(self._share(count, self._shares))

    def _slice_cuts(self, sizes: Integers) -> list[int]:
        """Cut the values into slices whose records fit, or that are a single value whose records do not."""
        cuts, filled = [0], 0
        for value, size in enumerate(sizes.tolist()):
            if filled and filled + size > self._capacity:
                cuts.append(value)
                filled = 0
            filled += size
        return [*cuts, len(sizes)]

    def _slices(self, step: int, by_share: Integers, cuts: Sequence[int]) -> Iterator[_Slice]:
        """Lay the records out by the step's attribute, some values at a time.

        The records of a value stand in the order of the chunks, whoever lays them out: behind those of earlier shares.
        """
        words, sizes = self._packing.words, by_share.sum(axis=0)
        earlier = np.cumsum(by_share, axis=0) - by_share
        for first, last in pairwise(cuts):
            inside = np.zeros(len(sizes), bool)
            inside[first:last] = True
            inside &= sizes > 0
            bounds = np.concatenate([[0], np.cumsum(sizes[inside])])
            if bounds[-1] > self._capacity:
                yield self._merged(step, int(np.flatnonzero(inside)[0]))
                continue
            records = np.empty(int(bounds[-1]) * words, np.uint64)
            counts: Counts = np.empty(int(bounds[-1]) if step else 0, self._kind)
            places = np.where(inside, earlier, -1)
            places[:, inside] += bounds[:-1]
            self._share(partial(self._lay_out, step, places, records, counts), self._shares)
            if self._capacity >= self._table_records:
                self._use(
                    MemorySpool(self._kind)
                )  # everything is laid out: what it came from may go
            part = _Slice(bounds, records, counts if step else None)
            del records, counts
            yield part
            del part

    def _lay_out(
        self, step: int, places: Integers, records: Words, counts: Counts, share: int
    ) -> None:
        """Put the records of one share where its next record of each value goes."""
        for values, some, some_counts in self._chunks(step, share):
            lay_out(
                some, some_counts, step > 0, self._packing.words, values, places[share], records, counts
            )  # fmt: skip

    def _merged(self, step: int, value: int) -> _Slice:
        """Lay out the records of one value that do not fit, merging equal ones on the way.

        Raises:
            BudgetError: Too many different ones are left.
        """
        words, room = self._packing.words, self._capacity
        records: Words = np.empty(room * words, np.uint64)
        counts: Counts = np.empty(room, self._kind)
        keep = _bits_to_keep(self._packing, range(step, len(self._packing.attributes)))
        slots = np.empty(_slots(room), np.int32)
        filled = 0
        for chunk_values, some, their_counts in self._chunks(step):
            chosen = np.flatnonzero(chunk_values == value)
            while len(chosen):
                now, chosen = chosen[: room - filled], chosen[room - filled :]
                rows = some.reshape(-1, words)[now]
                records[filled * words : (filled + len(now)) * words] = rows.ravel()
                counts[filled : filled + len(now)] = their_counts[now] if step else 1
                filled += len(now)
                if filled == room:
                    filled = sweep_kernel.merge(records, counts, words, 0, room, True, keep, slots)
                    if filled > room // 2:
                        raise BudgetError(
                            "too many different records are alike on a quasi-identifier; a sweep needs more "
                            "memory, or fewer quasi-identifiers"
                        )
        return _Slice(np.array([0, filled]), records, counts)

    def _chunks(
        self, step: int, share: int = 0, *, values_only: bool = False
    ) -> Iterator[tuple[NDArray[np.uint32], Words, Counts]]:
        """Yield the values of the step's attribute, with the records that have them, chunk by chunk of one share."""
        if step == 0:
            none: Counts = np.empty(0, self._kind)
            begins = range(0, self._table_records, CHUNK_RECORDS)
            for begin in begins[self._share_of(len(begins), share)]:
                end = min(begin + CHUNK_RECORDS, self._table_records)
                values = self._attributes[0].codes[begin:end].astype(np.uint32)
                records: Words = np.empty(0, np.uint64)
                if not values_only:
                    records = packed(self._packing, self._attributes[1:], self._secrets, begin, end)
                for column in (*self._attributes, *self._secrets):
                    let_go(column.codes)
                yield values, records, none
            return
        field = self._packing.attributes[step - 1]
        chunks: Iterable[tuple[Words, Counts]] = self._spool.chunks(self._packing.words)
        if self._shares > 1:
            views = list(chunks)
            chunks = views[self._share_of(len(views), share)]
        for records, counts in chunks:
            yield _values(self._packing, field, records), records, counts

    def _share_of(self, chunks: int, share: int) -> slice:
        """Return which of some chunks belong to a share: some that follow one another."""
        return slice(share * chunks // self._shares, (share + 1) * chunks // self._shares)

    def _tell(
        self,
        on_progress: OnProgress,
        step: int,
        shares: tuple[float, float],
        share: float,
        visits: int,
    ) -> None:
        """Tell the share of all work that is done, an estimate: each further attribute costs about 1.6 times more."""
        costs = [1.6 ** (len(self._attributes) - place) for place in range(len(self._attributes))]
        begin, end = shares
        done = sum(costs[:step]) + (begin + share * (end - begin)) * costs[step]
        visits += self._visits
        note = "" if visits else self._first
        on_progress(Progress("sweeping", done / sum(costs), 1.0, note, {"visits": visits}))


class _Threads:
    """Threads that share the bundles of a partition; from time to time this one tells how far they are."""

    def __init__(self, number: int) -> None:
        self.visits = 0
        self.tell: Callable[[float, int], None] = lambda _share, _visits: None
        self._number = number
        self._done = 0
        self._lock = threading.Lock()

    def count(self, visits: int) -> None:
        """Note that a bundle is finished, in which so many records were looked at."""
        with self._lock:
            self._done += 1
            self.visits += visits

    def spread(self, sweep_bundles: SweepBundles, bundles: Sequence[Integers]) -> list[Swept]:
        """Have the bundles swept by all threads, each taking the next one when it is ready."""
        waiting, stop = iter(bundles), threading.Event()

        def upcoming() -> Iterator[Integers]:
            while not stop.is_set():
                with self._lock:
                    bundle = next(waiting, None)
                if bundle is None:
                    break
                yield bundle

        with ThreadPoolExecutor(self._number) as pool:
            workers = [pool.submit(sweep_bundles, upcoming()) for _ in range(self._number)]
            running = workers
            try:
                while running:
                    ended, still = wait(running, timeout=0.2, return_when=FIRST_EXCEPTION)
                    for worker in ended:
                        worker.result()
                    running = list(still)
                    self.tell(self._done / max(1, len(bundles)), self.visits)
            finally:
                stop.set()
        return [worker.result() for worker in workers]


def _bundles(sizes: Integers, weights: Integers, parts: Integers) -> list[Integers]:
    """Bundle some parts, the largest first, so that all have about as many records and none counts too many."""
    largest_first = parts[np.argsort(-sizes[parts], kind="stable")]
    records, counted = np.cumsum(sizes[largest_first]), np.cumsum(weights[largest_first])
    bounds = records * BUNDLES // (int(sizes.sum()) + 1)
    cuts = np.flatnonzero(np.diff(bounds) | np.diff(counted // COUNTED)) + 1
    return np.split(largest_first, cuts) if len(parts) else []


def _slots(records: int) -> int:
    return 1 << max(2, (2 * records - 1).bit_length())


def _workspace(plan: Plan, largest_part: int) -> Workspace:
    attributes = len(plan.fields)
    levels = attributes + 2
    room = largest_part * levels
    if room >= 1 << 31:
        raise BudgetError(
            "a group of {records} records is alike on the most telling quasi-identifier; that is too many for "
            "one sweep. Leave out columns, or use max:K",
            records=int(largest_part),
        )
    values = int(plan.fields["size"].max(initial=1))
    counted = max(values, int(plan.group["size"].max()), 1)
    statistics = min(1 << attributes, sweep_kernel.MERGE_STATISTICS)
    return Workspace(
        records=np.empty(room * plan.words, np.uint64),
        counts=np.empty(room, np.int32),
        children=np.empty(room // 3 + levels, sweep_kernel.CHILD),
        tally=np.zeros(counted, np.int32),
        seen=np.zeros(counted + 1, np.int32),
        leaves=np.zeros(values, sweep_kernel.LEAF),
        secret_tally=np.zeros(max(sweep_kernel.JOINT_VALUES, counted), np.int32),
        slots=np.empty(_slots(largest_part), np.int32),
        frames=np.zeros(levels, sweep_kernel.FRAME),
        bits=np.zeros(plan.words, np.uint64),
        rest=np.zeros(attributes, np.int64),
        merges=np.zeros((statistics, attributes + 1), sweep_kernel.MERGES),
        visits=np.zeros(2, np.int64),
    )


def _width(secrets: int, aims: Aims | None) -> int:
    return sweep_kernel.cell_width(secrets) if aims is None else aims.width


def _cells(attributes: int, aims: Aims | None) -> tuple[bool, int]:
    """Tell whether all cells are kept side by side, and how many are kept."""
    dense = attributes <= DENSE_ATTRIBUTES
    if aims is None:
        return dense, 3**attributes if dense else HASHED_CELLS
    room = GAME_SUMS // aims.width
    if dense and 3**attributes <= room:
        return True, 3**attributes
    return False, min(HASHED_CELLS, 1 << max(6, room.bit_length() - 1))


def _store(plan: Plan, aims: Aims | None) -> Store:
    attributes = len(plan.fields)
    width = _width(len(plan.secrets), aims)
    sums = np.int32 if aims is None else np.int64
    dense, cells = _cells(attributes, aims)
    if dense:
        return Store(
            cells=np.zeros((cells, width), sums),
            ternary=np.array([int(f"{mask:b}", 3) for mask in range(1 << attributes)], np.int64),
            keys=np.zeros(0, np.int64),
            used=np.zeros(1, np.int64),
            rows=np.zeros(0, np.int32),
            subsets=np.zeros((0, width), np.int64),
        )
    masks = _relative_masks(attributes, plan.largest)
    rows = np.full(1 << attributes, -1, np.int32)
    rows[masks] = np.arange(len(masks))
    return Store(
        cells=np.zeros((cells, width), sums),
        ternary=np.zeros(0, np.int64),
        keys=np.zeros(cells, np.int64),
        used=np.zeros(1, np.int64),
        rows=rows,
        subsets=np.zeros((len(masks), width), np.int64),
    )


def _no_rows(plan: Plan, aims: Aims | None) -> Integers:
    subsets = len(_relative_masks(len(plan.fields), plan.largest))
    return np.zeros((subsets, _width(len(plan.secrets), aims)), np.int64)


def _rows(plan: Plan, stores: Sequence[Store]) -> Integers:
    """Add up the cells of all threads and expand them to the subsets of a step."""
    attributes = len(plan.fields)
    if stores[0].keys.size:
        for store in stores:
            sweep_kernel.flush(store, plan.largest)
        subsets = stores[0].subsets
        for store in stores[1:]:
            subsets += store.subsets
        return subsets
    cells = stores[0].cells.astype(np.int64)
    for store in stores[1:]:
        cells += store.cells
    return _expanded(cells, attributes)[_relative_masks(attributes, plan.largest)]


def _expanded(cells: Integers, attributes: int) -> Integers:
    """Turn cells into subsets: T gets every cell (S, F) with S ⊆ T ⊆ S ∪ F.

    One attribute at a time, from the highest ternary digit (0: not in the subset, 1: in it, 2: free) on, so that what
    is added stands together: a cell in which it is free counts for the subsets without it and for those with it.
    """
    width = cells.shape[1]
    for done in range(attributes):
        digits = cells.reshape(1 << done, 3, -1)
        cells = digits[:, :2] + digits[:, 2:]
    return cells.reshape(-1, width)


def _completed(sums: Integers) -> Integers:
    """Turn pairs and triples of single records that were settled as one class into what they stand for."""
    pairs, triples = sums[:, sweep_kernel.PAIRS].copy(), sums[:, sweep_kernel.TRIPLES].copy()
    sums[:, sweep_kernel.CLASSES] += 3 * triples - 2 * pairs
    sums[:, sweep_kernel.CLASSES + 1] += pairs - 3 * triples
    sums[:, sweep_kernel.CLASSES + 2] += triples
    sums[:, [sweep_kernel.PAIRS, sweep_kernel.TRIPLES]] = 0
    return sums


def available_threads() -> int:
    """Return how many processors this process may use."""
    affinity = getattr(os, "sched_getaffinity", None)
    return len(affinity(0)) if affinity else os.cpu_count() or 1


class Packing(NamedTuple):
    """How records are packed."""

    words: int
    """The number of words per record."""
    attributes: Fields
    """The quasi-identifiers, in the order of refinement."""
    secrets: Fields
    """The sensitive attributes."""


def plan_packing(attributes: Sequence[CodedColumn], secrets: Sequence[CodedColumn]) -> Packing:
    """Find a place for every attribute, in the first word that has room for it."""
    used: list[int] = []
    places = [_place(column, used) for column in (*secrets, *attributes)]
    return Packing(
        words=max(1, len(used)),
        attributes=_fields(attributes, places[len(secrets) :]),
        secrets=_fields(secrets, places[: len(secrets)]),
    )


def packed(
    packing: Packing,
    attributes: Sequence[CodedColumn],
    secrets: Sequence[CodedColumn],
    begin: int,
    end: int,
) -> Words:
    """Return the records of a table from one on and up to another as packed words."""
    records = np.zeros((end - begin) * packing.words, np.uint64)
    for fields, columns in ((packing.attributes, attributes), (packing.secrets, secrets)):
        for word, shift, column in zip(fields["word"], fields["shift"], columns, strict=True):
            _pack(records, packing.words, word, shift, column.codes[begin:end])
    return records


@compiled
def read_values(
    records: Words, words: int, word: int, shift: np.uint64, mask: np.uint64, values: Codes
) -> None:
    """Read the value of one attribute in every record."""
    for i in range(values.size):
        values[i] = (records[i * words + word] >> shift) & mask


@compiled
def count_values(values: Codes, sizes: Integers) -> None:
    """Count how often each value occurs."""
    for i in range(values.size):
        sizes[values[i]] += 1


@compiled
def lay_out(
    records: Words, counts: Counts, merged: bool, words: int, values: Codes,
    places: Integers, laid: Words, laid_counts: Counts,
) -> None:  # fmt: skip
    """Put records where their value of an attribute belongs; those whose place is negative are left out.

    Args:
        records: Some records.
        counts: How many equal records each stands for.
        merged: Whether there are counts; else each stands for one.
        words: The number of words per record.
        values: The value of the attribute in each.
        places: Per value, where its next record goes; moved on.
        laid: Where the records go.
        laid_counts: Where the counts go, if there are any.
    """
    for i in range(values.size):
        place = places[values[i]]
        if place < 0:
            continue
        places[values[i]] = place + 1
        for w in range(words):
            laid[place * words + w] = records[i * words + w]
        if merged:
            laid_counts[place] = counts[i]


@compiled
def close_up(
    records: Words, counts: Counts, words: int, starts: Integers, ends: Integers,
    closed: Words, closed_counts: Counts, at: int,
) -> int:  # fmt: skip
    """Copy the records of some parts together, in their order, from a place on; return where they end.

    Where they go may be where they stand, further to the front.
    """
    for part in range(starts.size):
        for i in range(starts[part], ends[part]):
            for w in range(words):
                closed[at * words + w] = records[i * words + w]
            closed_counts[at] = counts[i]
            at += 1
    return at


def _place(column: CodedColumn, used: list[int]) -> tuple[int, int]:
    bits = _bits(column)
    for word, taken in enumerate(used):
        if taken + bits <= WORD_BITS:
            used[word] += bits
            return word, taken
    used.append(bits)
    return len(used) - 1, 0


def _bits(column: CodedColumn) -> int:
    return max(1, (column.cardinality - 1).bit_length())


def _fields(columns: Sequence[CodedColumn], places: Sequence[tuple[int, int]]) -> Fields:
    fields = np.zeros(len(columns), sweep_kernel.FIELD)
    for i, (column, (word, shift)) in enumerate(zip(columns, places, strict=True)):
        mask = (1 << _bits(column)) - 1
        fields[i] = (word, shift, mask, mask << shift, column.cardinality)
    return fields


@compiled
def _pack(records: Words, words: int, word: int, shift: np.uint64, codes: Codes) -> None:
    for i in range(codes.size):
        records[i * words + word] |= np.uint64(codes[i]) << shift
