"""All subsets of the quasi-identifiers inside one part of the records: the compiled loop.

``docs/lattice.md`` derives it. In short: depth first over (subset S, class), a class is refined by one attribute at a
time, in a fixed order. Attributes that are constant inside a class are *free*: whatever holds of the class with S holds
of it with S and any of them, so that one update of the cell (S, F) stands for every T with S ⊆ T ⊆ S ∪ F. Classes of
one, two or three records are settled in closed form for all their subsets at once. Records that have become equal on
what is still to come are merged, and counted.

A cell is a row of integer sums. Sums are corrected downwards too, so that only what is expanded from cells to subsets
(`lattice`) means anything.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray

from glasshouse.arrays import Floats, Integers, Words
from glasshouse.microdata.assessment import SIZE_BINS

SHARE_BINS = 10
"""Per-record success below certainty is counted by tenths; certainty has a column of its own."""

CLASSES = 0
"""Columns 0–9 of a cell: the number of classes by size bin."""
PAIRS, TRIPLES = 10, 11
"""How often two, and three, single records were settled as one class."""
RECORDS = 12
"""Columns 12–17: the number of records by size bin, from the fifth bin on."""
COUNTED_BINS = 4
"""In the first four bins all classes have the same size: their records follow from their number."""
SECRETS = 18
"""From here on, per secret: records in single-valued classes, Σ max of the others, and their shares."""
PER_SECRET = 2 + SHARE_BINS
CERTAIN, MOST, SHARES = 0, 1, 2

MERGE_AT_ROOT = 0.7
"""Records that carry no counts yet are merged only while at most this share of them is left."""
JOINT_VALUES = 1 << 16
"""Up to so many pairs of values of an attribute and a secret are counted side by side."""

MERGE_STATISTICS = 1 << 12
"""For so many subsets it is learnt apart whether merging pays."""

Integer = Any
"""An integer of the machine; its width is inferred when the loop is compiled."""


def cell_width(secrets: int) -> int:
    """Return the number of columns of a cell, filled up to whole cache lines of 16 integers."""
    return -(-(SECRETS + PER_SECRET * secrets) // 16) * 16


class Fields(NamedTuple):
    """Where some attributes stand in a record."""

    word: Integers
    """Per attribute, the word that holds it."""
    shift: Words
    """How far up it stands in that word."""
    mask: Words
    """Its ones, when shifted down."""
    field: Words
    """Its ones, where they stand."""
    size: Integers
    """How many values it can take."""

    def after(self, first: int) -> Fields:
        """Return the attributes from one on."""
        return Fields(
            self.word[first:],
            self.shift[first:],
            self.mask[first:],
            self.field[first:],
            self.size[first:],
        )

    def bits(self, words: int) -> Words:
        """Return, per word, the bits of all these attributes."""
        bits = np.zeros(words, np.uint64)
        np.bitwise_or.at(bits, self.word, self.field)
        return bits


class Plan(NamedTuple):
    """What does not change within a root step."""

    words: int
    """The number of words per record."""
    fields: Fields
    """The attributes after the root, in the order of refinement."""
    secrets: Fields
    """The sensitive attributes."""
    largest_secret: int
    """The largest number of values of a sensitive attribute."""
    largest: int
    """The largest number of attributes in a subset, the root not counted."""
    size_bin: Integers
    """Per class size below 1000, its bin."""
    threshold: float
    """Records are merged where it is expected to save more than this many visits of each."""


class Store(NamedTuple):
    """The cells of one thread: all of them side by side, or only those that were touched.

    With few attributes cell (S, F) has the number ternary[S] + 2·ternary[F]. With many, ``keys`` is a hash table that
    finds it; when it fills up, the cells are expanded to subsets and it starts anew.
    """

    cells: NDArray[Any]
    """A row of sums per cell."""
    ternary: Integers
    """Per set of attributes, the number whose ternary digits are its members; empty: cells are hashed."""
    keys: Integers
    """Per slot of the hash table, the cell's S and F as one number plus one, or 0."""
    used: Integers
    """How many slots are taken."""
    rows: NDArray[np.int32]
    """Per set of attributes, its row in ``subsets``."""
    subsets: Integers
    """A row of sums per subset, where hashed cells are expanded to."""


class Workspace(NamedTuple):
    """The arrays that one thread works in."""

    records: Words
    """Packed records: the part, then a copy of each class that is being refined, as a stack."""
    counts: NDArray[np.int32]
    """How many equal records each one stands for."""
    child_start: NDArray[np.int32]
    """The classes still to be visited, as a stack: where each begins."""
    child_end: NDArray[np.int32]
    """Where each ends."""
    tally: NDArray[np.int32]
    """How often each value of an attribute occurs; zeros in between."""
    seen: NDArray[np.int32]
    """The values that occur."""
    secret_tally: NDArray[np.int32]
    """How often each value of a secret occurs; zeros in between."""
    joint_tally: NDArray[np.int32]
    """How often each pair of values of an attribute and a secret occurs; zeros in between."""
    slots: NDArray[np.int32]
    """The hash table of a merge."""
    frames: Integers
    """The stack of classes that are being refined, a row of `_LO` … each."""
    varying: Words
    """Per word, the bits on which the records of a class differ."""
    keep: Words
    """Per word, the bits that a merge looks at."""
    rest_word: Integers
    """The attributes that are still to come: the word of each,"""
    rest_field: Words
    """its bits in that word,"""
    rest_bit: Integers
    """and its bit in a set of attributes."""
    merged_in: Floats
    """Per subset and attribute, how many records went into merges (the last column: of whole parts),"""
    merged_out: Floats
    """and how many came out: where merging pays is learnt as it goes."""
    visits: Integers
    """How many records were looked at; and how many decisions to merge were taken."""


def is_compiled() -> bool:
    """Tell whether the loop was compiled before and is only to be loaded; else the first use takes half a minute."""
    cache = Path(sweep_parts.stats.cache_path)
    return any(cache.glob(f"kernel.{sweep_parts.__name__}-*.nbi"))


def size_bins() -> Integers:
    """Return the bin of each class size below the last bin."""
    sizes = np.arange(SIZE_BINS[-1])
    return np.searchsorted(np.array(SIZE_BINS), sizes, side="right").astype(np.int64) - 1


FRAME_WIDTH = 15
(
    _LO,  # the class: where its records begin
    _HI,  # and end
    _SUBSET,  # the subset S that made it
    _FREE,  # attributes constant in it
    _TODO,  # attributes to refine it by
    _LIVE,  # secrets with several values in it
    _MERGED,  # whether its records carry counts
    _TOP,  # where copies of it may be written
    _FRESH,  # whether no attribute was left out yet
    _CHILD,  # the next class that its current attribute made
    _CHILDREN_END,  # the last of them
    _CHILDREN,  # the first of them
    _CHILD_SUBSET,  # their subset
    _CHILD_TODO,  # the attributes to refine them by
    _CHILD_TOP,  # where copies of them may be written
) = range(FRAME_WIDTH)

# Without reference counts (``_nrt``), which nothing here needs, tuples of arrays cost nothing: 10 times faster.
# Small functions are inlined when machine code is made; large ones that are called once are pasted before, so that they
# are compiled once.
_compiled = njit(cache=True, nogil=True, boundscheck=False, _nrt=False)
_inlined = njit(nogil=True, boundscheck=False, _nrt=False, forceinline=True)
_pasted = njit(nogil=True, boundscheck=False, _nrt=False, inline="always")


@_compiled  # type: ignore[untyped-decorator]
def sweep_part(plan: Plan, work: Workspace, store: Store, size: Integer, merged: bool) -> None:
    """Add to the store all classes of all subsets of the attributes, inside one part.

    Args:
        plan: What does not change.
        work: The thread's arrays; the part's records stand at the beginning of ``records``.
        store: The thread's cells.
        size: How many records the part holds.
        merged: Whether they carry counts.
    """
    frames = work.frames
    depth = 0
    attributes = plan.fields.word.size
    frames[0, _TODO] = 0
    frames[0, _FREE] = 0
    frames[0, _LIVE] = (1 << plan.secrets.word.size) - 1
    frames[0, _MERGED] = merged
    frames[0, _CHILD] = frames[0, _CHILDREN] = 0
    frames[0, _CHILDREN_END] = 1
    frames[0, _CHILD_SUBSET] = 0
    frames[0, _CHILD_TODO] = (1 << attributes) - 1
    frames[0, _CHILD_TOP] = size
    work.child_start[0] = 0
    work.child_end[0] = size
    while depth >= 0:
        if frames[depth, _CHILD] < frames[depth, _CHILDREN_END]:
            child = frames[depth, _CHILD]
            frames[depth, _CHILD] = child + 1
            if _visit(plan, work, store, depth, work.child_start[child], work.child_end[child]):
                depth += 1
        elif frames[depth, _TODO] != 0:
            _refine(plan, work, store, depth)
        else:
            depth -= 1


@_compiled  # type: ignore[untyped-decorator]
def sweep_parts(
    plan: Plan, work: Workspace, store: Store, keep: Words,
    records: Words, counts: NDArray[np.int32], merged: bool,
    starts: Integers, ends: Integers, parts: Integers,
) -> None:  # fmt: skip
    """Merge the records of some parts, write them back with their counts, and sweep each part.

    Args:
        plan: What does not change within the root step.
        work: The thread's arrays.
        store: The thread's cells.
        keep: Per word, the bits that are still to come.
        records: All records, part by part.
        counts: How many equal records each stands for; written anew.
        merged: Whether the counts are there already.
        starts: Where each part begins.
        ends: Where each part ends; afterwards, where its merged records end.
        parts: The parts to sweep.
    """
    words, root = plan.words, plan.fields.word.size
    for part in parts:
        lo, size = starts[part], ends[part] - starts[part]
        for i in range(size * words):
            work.records[i] = records[lo * words + i]
        for i in range(size):
            work.counts[i] = counts[lo + i] if merged else np.int32(1)
        left = size
        if merged or work.merged_out[0, root] <= MERGE_AT_ROOT * work.merged_in[0, root]:
            left = merge(work.records, work.counts, words, 0, size, merged, keep, work.slots)
            work.merged_in[0, root] += size
            work.merged_out[0, root] += left
            for i in range(left * words):
                records[lo * words + i] = work.records[i]
        for i in range(left):
            counts[lo + i] = work.counts[i]
        ends[part] = lo + left
        sweep_part(plan, work, store, left, merged or left < size)


@_pasted  # type: ignore[untyped-decorator]
def _visit(
    plan: Plan, work: Workspace, store: Store, depth: Integer, lo: Integer, hi: Integer
) -> Any:
    """Count one class; if some attribute varies in it, make it the frame on top and say so."""
    above, frame = work.frames[depth], work.frames[depth + 1]
    subset, todo, merged = above[_CHILD_SUBSET], above[_CHILD_TODO], above[_MERGED] != 0
    _make_room(plan, store)
    work.visits[0] += hi - lo
    total = _differences(work, plan.words, lo, hi, merged)
    vary = np.int64(0)
    for a in range(plan.fields.word.size):
        if (todo >> a) & 1 and work.varying[plan.fields.word[a]] & plan.fields.field[a]:
            vary |= 1 << a
    free = above[_FREE] | (todo & ~vary)
    cell = _cell(store, plan, subset, free)
    _add_class(store.cells, cell, plan.size_bin, total, 1)
    live = _count_secrets(plan, work, store, above, cell, lo, hi, total)
    if vary == 0 or depth >= plan.largest:
        return False
    frame[_LO] = lo
    frame[_HI] = hi
    frame[_SUBSET] = subset
    frame[_FREE] = free
    frame[_TODO] = vary
    frame[_LIVE] = live
    frame[_MERGED] = merged
    frame[_TOP] = above[_CHILD_TOP]
    frame[_FRESH] = 1
    frame[_CHILD] = frame[_CHILDREN] = frame[_CHILDREN_END] = above[_CHILDREN_END]
    return True


@_inlined  # type: ignore[untyped-decorator]
def _differences(
    work: Workspace, words: Integer, lo: Integer, hi: Integer, merged: bool
) -> Integer:
    """Find the bits on which the records of a class differ, and return how many records it counts."""
    records = work.records
    for w in range(words):
        first = records[lo * words + w]
        varying = np.uint64(0)
        for i in range(lo + 1, hi):
            varying |= records[i * words + w] ^ first
        work.varying[w] = varying
    if not merged:
        return hi - lo
    total = np.int64(0)
    for i in range(lo, hi):
        total += work.counts[i]
    return total


@_pasted  # type: ignore[untyped-decorator]
def _count_secrets(
    plan: Plan,
    work: Workspace,
    store: Store,
    above: Any,
    cell: Integer,
    lo: Integer,
    hi: Integer,
    total: Integer,
) -> Integer:
    """Count a class for every secret that is live above it, and return those with several values.

    A secret with one value is settled here for all subsets below: nothing that she may still learn divides it.
    """
    live = np.int64(0)
    merged = above[_MERGED] != 0
    everywhere = np.int64(-1)
    for s in range(plan.secrets.word.size):
        if not (above[_LIVE] >> s) & 1:
            continue
        column = SECRETS + PER_SECRET * s
        if work.varying[plan.secrets.word[s]] & plan.secrets.field[s]:
            live |= 1 << s
            most = _most_frequent(plan, work, s, lo, hi, merged)
            _add_divided(store.cells, cell, column, total, most, 1)
        else:
            if everywhere < 0:
                free = above[_FREE] | above[_CHILD_TODO]
                everywhere = _cell(store, plan, above[_CHILD_SUBSET], free)
            store.cells[everywhere, column + CERTAIN] += total
    return live


@_inlined  # type: ignore[untyped-decorator]
def _most_frequent(
    plan: Plan, work: Workspace, s: Integer, lo: Integer, hi: Integer, merged: bool
) -> Integer:
    """Return how often the most frequent value of a secret occurs among some records."""
    records, words, tally = work.records, plan.words, work.secret_tally
    word, shift, mask = plan.secrets.word[s], plan.secrets.shift[s], plan.secrets.mask[s]
    most = np.int32(0)
    for i in range(lo, hi):
        value = np.int64((records[i * words + word] >> shift) & mask)
        now = tally[value] + (work.counts[i] if merged else np.int32(1))
        tally[value] = now
        most = max(most, now)
    if plan.secrets.size[s] < hi - lo:
        for v in range(plan.secrets.size[s]):
            tally[v] = 0
    else:
        for i in range(lo, hi):
            tally[np.int64((records[i * words + word] >> shift) & mask)] = 0
    return np.int64(most)


@_pasted  # type: ignore[untyped-decorator]
def _refine(plan: Plan, work: Workspace, store: Store, depth: Integer) -> None:
    """Refine the frame on top by its next attribute: settle the small classes, line up the others."""
    frame = work.frames[depth]
    todo = frame[_TODO]
    a = 0
    while not (todo >> a) & 1:
        a += 1
    rest = todo & (todo - 1)
    if frame[_FRESH]:
        frame[_FRESH] = 0
    elif rest != 0 and frame[_HI] - frame[_LO] > 4:
        _merge_if_it_pays(plan, work, depth, a)
    frame[_TODO] = rest
    frame[_CHILD_SUBSET] = frame[_SUBSET] | (1 << a)
    frame[_CHILD] = frame[_CHILDREN_END] = frame[_CHILDREN]
    work.visits[0] += frame[_HI] - frame[_LO]
    if rest == 0 or depth >= plan.largest:
        _count_leaves(plan, work, store, frame, a)
        return
    frame[_CHILD_TODO] = rest
    values = _tally(plan, work, frame, a)
    _make_room(plan, store)
    if values == frame[_HI] - frame[_LO]:
        _settle_all_single(plan, work, store, frame, values, rest)
        return
    _copy_by_value(plan, work, frame, a, values)
    _settle_or_line_up(plan, work, store, frame, values, rest)


@_inlined  # type: ignore[untyped-decorator]
def _tally(plan: Plan, work: Workspace, frame: Any, a: Integer) -> Integer:
    """Count the records of each value of an attribute; return how many values occur."""
    records, words, tally, seen = work.records, plan.words, work.tally, work.seen
    word, shift, mask = plan.fields.word[a], plan.fields.shift[a], plan.fields.mask[a]
    values = 0
    for i in range(frame[_LO], frame[_HI]):
        value = np.int64((records[i * words + word] >> shift) & mask)
        count = tally[value]
        if count == 0:
            seen[values] = value
            values += 1
        tally[value] = count + 1
    return values


@_inlined  # type: ignore[untyped-decorator]
def _copy_by_value(plan: Plan, work: Workspace, frame: Any, a: Integer, values: Integer) -> None:
    """Copy the records of a frame above it, value by value; the tally then says where each value ends."""
    records, counts, words, tally = work.records, work.counts, plan.words, work.tally
    word, shift, mask = plan.fields.word[a], plan.fields.shift[a], plan.fields.mask[a]
    place = np.int32(frame[_TOP])
    for v in range(values):
        value = work.seen[v]
        count = tally[value]
        tally[value] = place
        place += count
    frame[_CHILD_TOP] = place
    merged = frame[_MERGED] != 0
    if words == 1:
        for i in range(frame[_LO], frame[_HI]):
            own = records[i]
            value = np.int64((own >> shift) & mask)
            at = tally[value]
            tally[value] = at + 1
            records[at] = own
            if merged:
                counts[at] = counts[i]
        return
    for i in range(frame[_LO], frame[_HI]):
        value = np.int64((records[i * words + word] >> shift) & mask)
        at = tally[value]
        tally[value] = at + 1
        for w in range(words):
            records[at * words + w] = records[i * words + w]
        if merged:
            counts[at] = counts[i]


@_inlined  # type: ignore[untyped-decorator]
def _settle_all_single(
    plan: Plan, work: Workspace, store: Store, frame: Any, values: Integer, rest: Integer
) -> None:
    """Every value occurs once: each record is a class of its own in all subsets below."""
    for v in range(values):
        work.tally[work.seen[v]] = 0
    everywhere = _cell(store, plan, frame[_CHILD_SUBSET], frame[_FREE] | rest)
    single = frame[_HI] - frame[_LO]
    total = single
    if frame[_MERGED]:
        total = np.int64(0)
        for i in range(frame[_LO], frame[_HI]):
            count = np.int64(work.counts[i])
            total += count
            if count != 1:
                single -= 1
                _add_class(store.cells, everywhere, plan.size_bin, count, 1)
    store.cells[everywhere, CLASSES] += single
    _add_certain(plan, store, everywhere, frame[_LIVE], total)


@_pasted  # type: ignore[untyped-decorator]
def _settle_or_line_up(
    plan: Plan, work: Workspace, store: Store, frame: Any, values: Integer, rest: Integer
) -> None:
    """Settle the classes of one, two and three records; put the others on the stack of children."""
    attributes = 0
    for b in range(plan.fields.word.size):
        if (rest >> b) & 1:
            work.rest_word[attributes] = plan.fields.word[b]
            work.rest_field[attributes] = plan.fields.field[b]
            work.rest_bit[attributes] = 1 << b
            attributes += 1
    merged = frame[_MERGED] != 0
    subset, free, live = frame[_CHILD_SUBSET], frame[_FREE], frame[_LIVE]
    single = np.int64(0)
    total = np.int64(0)
    children = frame[_CHILDREN]
    start = np.int64(frame[_TOP])
    for v in range(values):
        end = np.int64(work.tally[work.seen[v]])
        work.tally[work.seen[v]] = 0
        size = end - start
        if size > 3:
            work.child_start[children] = start
            work.child_end[children] = end
            children += 1
        elif size == 1:
            count = np.int64(work.counts[start]) if merged else np.int64(1)
            total += count
            if count == 1:
                single += 1
            else:
                everywhere = _cell(store, plan, subset, free | rest)
                _add_class(store.cells, everywhere, plan.size_bin, count, 1)
        else:
            _make_room(plan, store)
            if size == 2:
                apart, whole = _settle_pair(
                    plan, work, store, start, merged, subset, free, rest, attributes, live
                )
            else:
                apart, whole = _settle_triple(
                    plan, work, store, start, merged, subset, free, rest, attributes, live
                )
            single += apart
            total += whole
        start = end
    frame[_CHILDREN_END] = children
    if total:
        everywhere = _cell(store, plan, subset, free | rest)
        store.cells[everywhere, CLASSES] += single
        _add_certain(plan, store, everywhere, live, total)


@_pasted  # type: ignore[untyped-decorator]
def _settle_pair(
    plan: Plan, work: Workspace, store: Store, at: Integer, merged: bool,
    subset: Integer, free: Integer, rest: Integer, attributes: Integer, live: Integer,
) -> tuple[Integer, Integer]:  # fmt: skip
    """Settle a class of two records for all subsets below.

    Everywhere they count as two classes, single-valued; the caller adds that. Where they are alike, in the subsets
    without an attribute on which they differ, this is corrected to one class.

    Returns:
        How many single records the caller is to count everywhere, and the number of records in all.
    """
    cells = store.cells
    differ = _differ(work, plan.words, at, at + 1, attributes)
    alike = _cell(store, plan, subset, free | (rest & ~differ))
    first = np.int64(work.counts[at]) if merged else np.int64(1)
    second = np.int64(work.counts[at + 1]) if merged else np.int64(1)
    both = first + second
    single = 0
    if both == 2:
        single = 2
        cells[alike, PAIRS] += 1
    else:
        everywhere = _cell(store, plan, subset, free | rest)
        for size in (first, second):
            _add_class(cells, everywhere, plan.size_bin, size, 1)
            _add_class(cells, alike, plan.size_bin, size, -1)
        _add_class(cells, alike, plan.size_bin, both, 1)
    for s in range(plan.secrets.word.size):
        if (live >> s) & 1 and _unlike(plan, work, s, at, at + 1):
            column = SECRETS + PER_SECRET * s
            cells[alike, column + CERTAIN] -= both
            _add_divided(cells, alike, column, both, max(first, second), 1)
    return single, both


@_pasted  # type: ignore[untyped-decorator]
def _settle_triple(
    plan: Plan, work: Workspace, store: Store, at: Integer, merged: bool,
    subset: Integer, free: Integer, rest: Integer, attributes: Integer, live: Integer,
) -> tuple[Integer, Integer]:  # fmt: skip
    """Settle a class of three records for all subsets below, by inclusion and exclusion.

    Everywhere they count as three classes; where two are alike, that pair is corrected as in `_settle_pair`; where all
    are alike, all three pairs have been corrected, and that is corrected to one class.
    """
    cells, words = store.cells, plan.words
    differ_12 = _differ(work, words, at, at + 1, attributes)
    differ_13 = _differ(work, words, at, at + 2, attributes)
    differ_23 = _differ(work, words, at + 1, at + 2, attributes)
    alike_12 = _cell(store, plan, subset, free | (rest & ~differ_12))
    alike_13 = _cell(store, plan, subset, free | (rest & ~differ_13))
    alike_23 = _cell(store, plan, subset, free | (rest & ~differ_23))
    alike = _cell(store, plan, subset, free | (rest & ~(differ_12 | differ_13)))
    n1 = np.int64(work.counts[at]) if merged else np.int64(1)
    n2 = np.int64(work.counts[at + 1]) if merged else np.int64(1)
    n3 = np.int64(work.counts[at + 2]) if merged else np.int64(1)
    total = n1 + n2 + n3
    single = 0
    if total == 3:
        single = 3
        cells[alike_12, PAIRS] += 1
        cells[alike_13, PAIRS] += 1
        cells[alike_23, PAIRS] += 1
        cells[alike, TRIPLES] += 1
    else:
        everywhere = _cell(store, plan, subset, free | rest)
        for size in (n1, n2, n3):
            _add_class(cells, everywhere, plan.size_bin, size, 1)
            _add_class(cells, alike, plan.size_bin, size, 1)
        _join(cells, alike_12, alike, plan.size_bin, n1, n2)
        _join(cells, alike_13, alike, plan.size_bin, n1, n3)
        _join(cells, alike_23, alike, plan.size_bin, n2, n3)
        _add_class(cells, alike, plan.size_bin, total, 1)
    for s in range(plan.secrets.word.size):
        if not (live >> s) & 1:
            continue
        unlike_12 = _unlike(plan, work, s, at, at + 1)
        unlike_13 = _unlike(plan, work, s, at, at + 2)
        if not (unlike_12 or unlike_13):
            continue
        column = SECRETS + PER_SECRET * s
        most = max(n1, n2, n3)
        if unlike_12:
            _divide(cells, alike_12, alike, column, n1, n2)
        else:
            most = max(most, n1 + n2)
        if unlike_13:
            _divide(cells, alike_13, alike, column, n1, n3)
        else:
            most = max(most, n1 + n3)
        if _unlike(plan, work, s, at + 1, at + 2):
            _divide(cells, alike_23, alike, column, n2, n3)
        else:
            most = max(most, n2 + n3)
        cells[alike, column + CERTAIN] -= total
        _add_divided(cells, alike, column, total, most, 1)
    return single, total


@_pasted  # type: ignore[untyped-decorator]
def _count_leaves(plan: Plan, work: Workspace, store: Store, frame: Any, a: Integer) -> None:
    """Count the classes by the last attribute of a subset: they are not refined further."""
    _make_room(plan, store)
    cell = _cell(store, plan, frame[_CHILD_SUBSET], frame[_FREE])
    values = _tally(plan, work, frame, a)
    if frame[_LIVE] == 0 or values == frame[_HI] - frame[_LO]:
        _count_leaf_sizes(plan, work, store, frame, a, values, cell)
        total = np.int64(0)
        for v in range(values):
            total += work.tally[work.seen[v]]
            work.tally[work.seen[v]] = 0
        _add_certain(plan, store, cell, frame[_LIVE], total)
    elif plan.fields.size[a] * plan.largest_secret <= JOINT_VALUES:
        _count_leaf_sizes(plan, work, store, frame, a, values, cell)
        for s in range(plan.secrets.word.size):
            if (frame[_LIVE] >> s) & 1:
                _count_joint(plan, work, store, frame, a, values, s, cell)
        for v in range(values):
            work.tally[work.seen[v]] = 0
    else:
        _copy_by_value(plan, work, frame, a, values)
        start = np.int64(frame[_TOP])
        for v in range(values):
            end = np.int64(work.tally[work.seen[v]])
            work.tally[work.seen[v]] = 0
            _count_leaf(plan, work, store, cell, start, end, frame[_MERGED] != 0, frame[_LIVE])
            start = end


@_inlined  # type: ignore[untyped-decorator]
def _count_leaf_sizes(
    plan: Plan,
    work: Workspace,
    store: Store,
    frame: Any,
    a: Integer,
    values: Integer,
    cell: Integer,
) -> None:
    """Count leaves by size; the tally then holds records, not entries."""
    if frame[_MERGED]:
        records, words, tally = work.records, plan.words, work.tally
        word, shift, mask = plan.fields.word[a], plan.fields.shift[a], plan.fields.mask[a]
        for v in range(values):
            tally[work.seen[v]] = 0
        for i in range(frame[_LO], frame[_HI]):
            tally[np.int64((records[i * words + word] >> shift) & mask)] += work.counts[i]
    for v in range(values):
        _add_class(store.cells, cell, plan.size_bin, np.int64(work.tally[work.seen[v]]), 1)


@_pasted  # type: ignore[untyped-decorator]
def _count_joint(
    plan: Plan,
    work: Workspace,
    store: Store,
    frame: Any,
    a: Integer,
    values: Integer,
    s: Integer,
    cell: Integer,
) -> None:
    """Count leaves for one secret where they stand, by pairs of values of attribute and secret."""
    records, words, joint = work.records, plan.words, work.joint_tally
    word, shift, mask = plan.fields.word[a], plan.fields.shift[a], plan.fields.mask[a]
    own_word, own_shift, own_mask = (
        plan.secrets.word[s],
        plan.secrets.shift[s],
        plan.secrets.mask[s],
    )
    size = plan.secrets.size[s]
    merged = frame[_MERGED] != 0
    for i in range(frame[_LO], frame[_HI]):
        value = np.int64((records[i * words + word] >> shift) & mask)
        secret = np.int64((records[i * words + own_word] >> own_shift) & own_mask)
        joint[value * size + secret] += work.counts[i] if merged else np.int32(1)
    column = SECRETS + PER_SECRET * s
    for v in range(values):
        value = np.int64(work.seen[v])
        total = np.int64(work.tally[value])
        most = np.int64(0)
        for j in range(value * size, (value + 1) * size):
            most = max(most, np.int64(joint[j]))
            joint[j] = 0
        if most == total:
            store.cells[cell, column + CERTAIN] += total
        else:
            _add_divided(store.cells, cell, column, total, most, 1)


@_pasted  # type: ignore[untyped-decorator]
def _count_leaf(
    plan: Plan,
    work: Workspace,
    store: Store,
    cell: Integer,
    lo: Integer,
    hi: Integer,
    merged: bool,
    live: Integer,
) -> None:
    """Count one leaf that was copied together."""
    total = np.int64(hi - lo)
    if merged:
        total = np.int64(0)
        for i in range(lo, hi):
            total += work.counts[i]
    _add_class(store.cells, cell, plan.size_bin, total, 1)
    for s in range(plan.secrets.word.size):
        if (live >> s) & 1:
            column = SECRETS + PER_SECRET * s
            most = _most_frequent(plan, work, s, lo, hi, merged)
            if most == total:
                store.cells[cell, column + CERTAIN] += total
            else:
                _add_divided(store.cells, cell, column, total, most, 1)


@_pasted  # type: ignore[untyped-decorator]
def _merge_if_it_pays(plan: Plan, work: Workspace, depth: Integer, a: Integer) -> None:
    """Merge the records of the frame on top that are equal on what is still to come, where that pays.

    What it saves is learnt: per subset and attribute, the share of records that merging made go away, times the number
    of subsets that are still to come. Once in a while it is tried anyway.
    """
    frame = work.frames[depth]
    size = frame[_HI] - frame[_LO]
    made_by = frame[_SUBSET] & (MERGE_STATISTICS - 1)
    went_in = work.merged_in[made_by, a]
    saved = 1e9
    if went_in > 0:
        coming = np.float64(1 << _members(frame[_TODO]))
        saved = coming * (1.0 - work.merged_out[made_by, a] / went_in)
    work.visits[1] += 1
    if saved <= plan.threshold and work.visits[1] & 63:
        return
    for w in range(plan.words):
        work.keep[w] = 0
    for b in range(plan.fields.word.size):
        if (frame[_TODO] >> b) & 1:
            work.keep[plan.fields.word[b]] |= plan.fields.field[b]
    for s in range(plan.secrets.word.size):
        if (frame[_LIVE] >> s) & 1:
            work.keep[plan.secrets.word[s]] |= plan.secrets.field[s]
    work.visits[0] += size
    end = merge(
        work.records, work.counts, plan.words, frame[_LO], frame[_HI],
        frame[_MERGED] != 0, work.keep, work.slots,
    )  # fmt: skip
    work.merged_in[made_by, a] += size
    work.merged_out[made_by, a] += end - frame[_LO]
    if end < frame[_HI]:
        frame[_HI] = end
        frame[_MERGED] = 1


@_compiled  # type: ignore[untyped-decorator]
def merge(
    records: Words, counts: NDArray[np.int32], words: Integer, lo: Integer, hi: Integer,
    merged: bool, keep: Words, slots: NDArray[np.int32],
) -> Integer:  # fmt: skip
    """Make equal records one, looking only at the bits to keep; return where they end now.

    Every record gets a count, whether or not anything was merged.
    """
    bits = 2
    while (1 << bits) < 2 * (hi - lo):
        bits += 1
    last = (1 << bits) - 1
    shift = np.uint64(64 - bits)
    for each in range(last + 1):
        slots[each] = 0
    end = lo
    for i in range(lo, hi):
        mixed = np.uint64(0)
        for w in range(words):
            own = records[i * words + w] & keep[w]
            mixed = (mixed ^ own ^ (own >> np.uint64(29))) * np.uint64(0x9E3779B97F4A7C15)
        slot = np.int64(mixed >> shift)
        count = counts[i] if merged else np.int32(1)
        while True:
            known = slots[slot]
            if known == 0:
                for w in range(words):
                    records[end * words + w] = records[i * words + w] & keep[w]
                counts[end] = count
                end += 1
                slots[slot] = end - lo
                break
            at = lo + known - 1
            same = True
            for w in range(words):
                if records[at * words + w] != records[i * words + w] & keep[w]:
                    same = False
                    break
            if same:
                counts[at] += count
                break
            slot = (slot + 1) & last
    return end


@_inlined  # type: ignore[untyped-decorator]
def _cell(store: Store, plan: Plan, subset: Integer, free: Integer) -> Integer:
    """Return the row of the cell (S, F)."""
    if store.keys.size == 0:
        return store.ternary[subset] + 2 * store.ternary[free]
    return _hashed_cell(store.keys, store.used, plan.fields.word.size, subset, free)


@_compiled  # type: ignore[untyped-decorator]
def _hashed_cell(
    keys: Any, used: Any, attributes: Integer, subset: Integer, free: Integer
) -> Integer:
    """Return the row of the cell (S, F) where only touched cells have one, making it if it is new."""
    key = ((subset << attributes) | free) + 1
    last = keys.size - 1
    slot = np.int64((np.uint64(key) * np.uint64(0x9E3779B97F4A7C15)) >> np.uint64(20)) & last
    while keys[slot] != key:
        if keys[slot] == 0:
            keys[slot] = key
            used[0] += 1
            break
        slot = (slot + 1) & last
    return slot


@_inlined  # type: ignore[untyped-decorator]
def _make_room(plan: Plan, store: Store) -> None:
    """Expand hashed cells to subsets when fewer than half of the slots are left."""
    if 2 * store.used[0] > store.keys.size:
        flush(plan, store)


@_compiled  # type: ignore[untyped-decorator]
def flush(plan: Plan, store: Store) -> None:
    """Add every hashed cell (S, F) to the subsets that it stands for, and forget it."""
    attributes = plan.fields.word.size
    for slot in range(store.keys.size):
        if store.keys[slot] == 0:
            continue
        key = store.keys[slot] - 1
        subset, free = key >> attributes, key & ((1 << attributes) - 1)
        room = plan.largest - _members(subset)
        more = free
        while True:
            if _members(more) <= room:
                for column in range(store.cells.shape[1]):
                    store.subsets[store.rows[subset | more], column] += store.cells[slot, column]
            if more == 0:
                break
            more = (more - 1) & free
        for column in range(store.cells.shape[1]):
            store.cells[slot, column] = 0
        store.keys[slot] = 0
    store.used[0] = 0


@_inlined  # type: ignore[untyped-decorator]
def _members(bits: Integer) -> Integer:
    """Return how many attributes are in a set."""
    count = 0
    while bits:
        bits &= bits - 1
        count += 1
    return count


@_inlined  # type: ignore[untyped-decorator]
def _differ(
    work: Workspace, words: Integer, i: Integer, j: Integer, attributes: Integer
) -> Integer:
    """Return the attributes, of those still to come, on which two records differ."""
    records = work.records
    differ = np.int64(0)
    if words == 1:
        different = records[i] ^ records[j]
        for b in range(attributes):
            if different & work.rest_field[b]:
                differ |= work.rest_bit[b]
        return differ
    for b in range(attributes):
        word = work.rest_word[b]
        if (records[i * words + word] ^ records[j * words + word]) & work.rest_field[b]:
            differ |= work.rest_bit[b]
    return differ


@_inlined  # type: ignore[untyped-decorator]
def _unlike(plan: Plan, work: Workspace, s: Integer, i: Integer, j: Integer) -> Any:
    """Tell whether two records differ in a secret."""
    records, words, word = work.records, plan.words, plan.secrets.word[s]
    own = records[i * words + word] ^ records[j * words + word]
    return (own & plan.secrets.field[s]) != 0


@_inlined  # type: ignore[untyped-decorator]
def _add_class(cells: Any, cell: Integer, size_bin: Any, size: Integer, sign: Integer) -> None:
    """Count a class by its size, or take it back."""
    where = size_bin[size] if size < size_bin.size else 9
    cells[cell, CLASSES + where] += sign
    if where >= COUNTED_BINS:
        cells[cell, RECORDS + where - COUNTED_BINS] += sign * size


@_inlined  # type: ignore[untyped-decorator]
def _add_certain(plan: Plan, store: Store, cell: Integer, live: Integer, total: Integer) -> None:
    """Count records whose class has one value of each live secret."""
    for s in range(plan.secrets.word.size):
        if (live >> s) & 1:
            store.cells[cell, SECRETS + PER_SECRET * s + CERTAIN] += total


@_inlined  # type: ignore[untyped-decorator]
def _add_divided(
    cells: Any, cell: Integer, column: Integer, size: Integer, most: Integer, sign: Integer
) -> None:
    """Count a class in which a secret has several values, the most frequent one ``most`` times."""
    cells[cell, column + MOST] += sign * most
    cells[cell, column + SHARES + (SHARE_BINS * most) // size] += sign * size


@_inlined  # type: ignore[untyped-decorator]
def _join(
    cells: Any, pair: Integer, triple: Integer, size_bin: Any, first: Integer, second: Integer
) -> None:
    """Of three records: where two are alike they are one class; where all are, that is taken back."""
    _add_class(cells, pair, size_bin, first, -1)
    _add_class(cells, pair, size_bin, second, -1)
    _add_class(cells, pair, size_bin, first + second, 1)
    _add_class(cells, triple, size_bin, first + second, -1)


@_inlined  # type: ignore[untyped-decorator]
def _divide(
    cells: Any, pair: Integer, triple: Integer, column: Integer, first: Integer, second: Integer
) -> None:
    """Of three records: where two are alike that differ in a secret, they are not certain."""
    both = first + second
    most = max(first, second)
    cells[pair, column + CERTAIN] -= both
    cells[triple, column + CERTAIN] += both
    _add_divided(cells, pair, column, both, most, 1)
    _add_divided(cells, triple, column, both, most, -1)
