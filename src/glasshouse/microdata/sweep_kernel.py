"""All subsets of the quasi-identifiers inside one part of the records: the compiled loop.

``docs/assess.md`` derives it. In short: depth first over (subset S, class), a class is refined by one attribute at a
time, in a fixed order. Attributes that are constant inside a class are *free*: whatever holds of the class with S holds
of it with S and any of them, so that one update of the cell (S, F) stands for every T with S ⊆ T ⊆ S ∪ F. Classes of
one, two or three records are settled in closed form for all their subsets at once. Records that have become equal on
what is still to come are merged, and counted.

A cell is a row of integer sums. Sums are corrected downwards too, so that only what is expanded from cells to subsets
(`sweep_steps`) means anything; such a cell is closed under F.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from glasshouse.arrays import Integer, Integers, Words
from glasshouse.compiled import lean_called, lean_compiled, lean_inlined, lean_pasted
from glasshouse.microdata.leakage import SIZE_BINS

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


def cell_width(secrets: int) -> int:
    """Return the number of columns of a cell, filled up to whole cache lines of 16 integers."""
    return -(-(SECRETS + PER_SECRET * secrets) // 16) * 16


FIELD = np.dtype(
    [
        ("word", np.int64),  # the word that holds it
        ("shift", np.uint64),  # how far up it stands in that word
        ("mask", np.uint64),  # its ones, when shifted down
        ("field", np.uint64),  # its ones, where they stand
        ("size", np.int64),  # how many values it can take
    ],
    align=True,
)
"""Where an attribute stands in a record."""
Fields = Any
"""Where some attributes stand: an array with a `FIELD` each, which compiled code reads by name."""


def bits_of(fields: Fields, words: int) -> Words:
    """Return, per word, the bits of some attributes."""
    bits = np.zeros(words, np.uint64)
    np.bitwise_or.at(bits, fields["word"], fields["field"])
    return bits


class Plan(NamedTuple):
    """What does not change within a root step."""

    words: int
    """The number of words per record."""
    fields: Fields
    """The attributes after the root, in the order of refinement."""
    secrets: Fields
    """The sensitive attributes."""
    grouped: int
    """The secret with the most values, by which records are grouped; -1: there is none."""
    group: Fields
    """Where it stands, alone; no bits: there is none."""
    largest_secret: int
    """The largest number of values of the other sensitive attributes."""
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
    children: Any
    """The classes still to be visited, as a stack: a `CHILD` each."""
    tally: NDArray[np.int32]
    """How often each value of an attribute occurs; zeros in between."""
    seen: NDArray[np.int32]
    """The values that occur, and room for one more."""
    leaves: Any
    """Per value of an attribute that is the last of its subset, a `LEAF`; zeros in between."""
    secret_tally: NDArray[np.int32]
    """How often each value of a secret occurs, or each pair of an attribute's and a secret's; zeros in between."""
    slots: NDArray[np.int32]
    """The hash table of a merge."""
    frames: Any
    """The stack of classes that are being refined: a `FRAME` each."""
    bits: Words
    """Per word, the bits on which the records of a class differ, or those that a merge looks at."""
    rest: Integers
    """The attributes that are still to come."""
    merges: Any
    """Per subset and attribute (the last: of whole parts) a `MERGES`: where merging pays is learnt as it goes."""
    visits: Integers
    """How many records were looked at; and how many decisions to merge were taken."""


def is_compiled(loop: Any) -> bool:
    """Tell whether a loop was compiled before and is only to be loaded."""
    cache = Path(loop.stats.cache_path)
    module = loop.__module__.rpartition(".")[2]
    return any(cache.glob(f"{module}.{loop.__name__}-*.nbi"))


def size_bins() -> Integers:
    """Return the bin of each class size below the last bin."""
    sizes = np.arange(SIZE_BINS[-1])
    return np.searchsorted(np.array(SIZE_BINS), sizes, side="right").astype(np.int64) - 1


FRAME = np.dtype(
    [
        ("lo", np.int64),  # the class: where its records begin
        ("hi", np.int64),  # and end
        ("subset", np.int64),  # the subset S that made it
        ("free", np.int64),  # attributes constant in it
        ("todo", np.int64),  # attributes to refine it by
        ("live", np.int64),  # secrets with several values in it
        ("merged", np.int64),  # whether its records carry counts
        ("top", np.int64),  # where copies of it may be written
        ("fresh", np.int64),  # whether no attribute was left out yet
        ("child", np.int64),  # the next class that its current attribute made
        ("children_end", np.int64),  # the last of them
        ("children", np.int64),  # the first of them
        ("child_subset", np.int64),  # their subset
        ("child_todo", np.int64),  # the attributes to refine them by
        ("child_top", np.int64),  # where copies of them may be written
    ],
    align=True,
)
"""A class that is being refined."""
CHILD = np.dtype([("begin", np.int32), ("end", np.int32)], align=True)
"""A class that is still to be visited: where its records begin and end."""
LEAF = np.dtype(
    [
        ("total", np.int32),  # its records
        ("hidden", np.int32),  # the value of the grouped secret that was seen last
        ("run", np.int32),  # how often that was seen
        ("most", np.int32),  # how often the most frequent value of a secret was seen
    ],
    align=True,
)
"""A class by the last attribute of a subset, while it is counted where it stands."""
MERGES = np.dtype([("went_in", np.float64), ("came_out", np.float64)], align=True)
"""How many records went into merges, and how many came out."""

# All loops are lean: tuples of arrays then cost nothing, which is 10 times faster. Large functions that are called once
# are pasted before machine code is made, so that they are compiled once; the others are inlined after, or called where
# that is rare. Each level of functions that are not pasted is compiled again with the level above: they stay shallow.

# Numbers that functions are called with: one type, so that each is compiled once.
_NONE, _ONCE, _TAKEN_BACK = np.int64(0), np.int64(1), np.int64(-1)


@lean_compiled
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
    words, attributes, frames = plan.words, plan.fields.size, work.frames
    root, of_parts = frames[0], work.merges[0, attributes]
    for part in parts:
        # Merging (docs/assess.md): what is equal on all that is still to come is one record of the next step too.
        lo, size = starts[part], ends[part] - starts[part]
        merged_size = size
        if merged or of_parts.came_out <= MERGE_AT_ROOT * of_parts.went_in:
            merged_size = (
                merge(records, counts, words, lo, lo + size, merged, keep, work.slots) - lo
            )
            of_parts.went_in += size
            of_parts.came_out += merged_size
        else:
            for i in range(lo, lo + size):
                counts[i] = 1
        ends[part] = lo + merged_size
        # Grouping: records with the same value of the widest secret are copied together, and stay together in every
        # class, since refining and merging keep the order: how often a value occurs is the length of its run.
        has_counts = merged or merged_size < size
        values = tally_values(
            records, words, work.tally, work.seen, plan.group[0], lo, lo + merged_size
        )
        copy_by_value(
            records, counts, work.records, work.counts, words, work.tally, work.seen, plan.group[0],
            values, lo, lo + merged_size, _NONE, has_counts,
        )  # fmt: skip
        for v in range(values):
            work.tally[work.seen[v]] = 0
        # Depth-first refinement: the part is the only class of the empty subset, nothing is known to be constant in it,
        # and every attribute is to refine it. From here on each T is open at the classes on the stack, or is settled.
        root.todo = 0
        root.free = 0
        root.live = (1 << plan.secrets.size) - 1
        root.merged = has_counts
        root.child = root.children = 0
        root.children_end = 1
        root.child_subset = 0
        root.child_todo = (1 << attributes) - 1
        root.child_top = merged_size
        work.children[0].begin = 0
        work.children[0].end = merged_size
        depth = _NONE
        while depth >= 0:
            make_room(store, plan.largest)
            if frames[depth].child < frames[depth].children_end:
                child = frames[depth].child
                frames[depth].child = child + 1
                lined_up = work.children[child]
                begin, end = np.int64(lined_up.begin), np.int64(lined_up.end)
                if _visit(plan, work, store, depth, begin, end):
                    depth += 1
            elif frames[depth].todo != 0:
                _refine(plan, work, store, depth)
            else:
                depth -= 1


@lean_pasted
def _visit(
    plan: Plan, work: Workspace, store: Store, depth: Integer, lo: Integer, hi: Integer
) -> Any:
    """Count one class; if some attribute varies in it, make it the frame on top and say so."""
    above, frame = work.frames[depth], work.frames[depth + 1]
    subset, todo, merged = above.child_subset, above.child_todo, above.merged != 0
    work.visits[0] += hi - lo
    # Free attributes: those to come that do not vary. The class is one of every T between S and S with all of them.
    total, longest = _look_at(
        work.records, plan.words, work.counts, work.bits, plan.group[0], lo, hi, merged
    )
    vary = np.int64(0)
    for a in range(plan.fields.size):
        vary |= np.int64((work.bits[plan.fields[a].word] & plan.fields[a].field) != 0) << a
    vary &= todo
    free = above.free | (todo & ~vary)
    cell = cell_of(store, subset, free)
    _add_class(store.cells, cell, plan.size_bin, total, _ONCE)
    # What is settled early, secrets: one with a single value is certain for all T that are open here, and dead below.
    live, everywhere = np.int64(0), np.int64(-1)
    for s in range(plan.secrets.size):
        if not (above.live >> s) & 1:
            continue
        secret, column = plan.secrets[s], SECRETS + PER_SECRET * s
        if work.bits[secret.word] & secret.field:
            live |= 1 << s
            most = longest
            if s != plan.grouped:
                most = _most_frequent(
                    work.records, plan.words, work.counts, work.secret_tally, secret, lo, hi, merged
                )
            _add_divided(store.cells, cell, column, total, most, _ONCE)
        else:
            if everywhere < 0:
                everywhere = cell_of(store, subset, above.free | todo)
            store.cells[everywhere, column + CERTAIN] += total
    if vary == 0 or depth >= plan.largest:
        return False
    frame.lo = lo
    frame.hi = hi
    frame.subset = subset
    frame.free = free
    frame.todo = vary
    frame.live = live
    frame.merged = merged
    frame.top = above.child_top
    frame.fresh = 1
    frame.child = frame.children = frame.children_end = above.children_end
    return True


@lean_inlined
def _look_at(
    records: Words, words: Integer, counts: Any, bits: Words, group: Any,
    lo: Integer, hi: Integer, merged: bool,
) -> tuple[Integer, Integer]:  # fmt: skip
    """Find the bits on which the records of a class differ.

    Returns:
        How many records it counts, and how often the most frequent value of the grouped secret occurs.
    """
    word, hidden = group.word, group.field
    first = records[lo * words + word]
    last, varying = first & hidden, np.uint64(0)
    total = run = longest = np.int64(0)
    for i in range(lo, hi):
        record = records[i * words + word]
        varying |= record ^ first
        count = np.int64(counts[i]) if merged else np.int64(1)
        total += count
        run = count + (run if record & hidden == last else np.int64(0))
        last = record & hidden
        longest = max(longest, run)
    bits[word] = varying
    if words > 1:
        differences(records, words, counts, bits, lo, hi, False)
    return total, longest


@lean_inlined
def differences(
    records: Words, words: Integer, counts: Any, bits: Words, lo: Integer, hi: Integer, merged: bool
) -> Integer:
    """Find the bits on which the records of a class differ, and return how many records it counts."""
    for w in range(words):
        first = records[lo * words + w]
        varying = np.uint64(0)
        for i in range(lo + 1, hi):
            varying |= records[i * words + w] ^ first
        bits[w] = varying
    if not merged:
        return hi - lo
    total = np.int64(0)
    for i in range(lo, hi):
        total += counts[i]
    return total


@lean_inlined
def _most_frequent(
    records: Words, words: Integer, counts: Any, tally: Any,
    secret: Any, lo: Integer, hi: Integer, merged: bool,
) -> Integer:  # fmt: skip
    """Return how often the most frequent value of a secret occurs among some records."""
    word, shift, mask, size = secret.word, secret.shift, secret.mask, secret.size
    most = np.int32(0)
    for i in range(lo, hi):
        value = np.int64((records[i * words + word] >> shift) & mask)
        now = np.int32(tally[value] + (counts[i] if merged else np.int32(1)))
        tally[value] = now
        if now > most:
            most = now
    if size < hi - lo:
        for v in range(size):
            tally[v] = 0
    else:
        for i in range(lo, hi):
            tally[np.int64((records[i * words + word] >> shift) & mask)] = 0
    return np.int64(most)


@lean_pasted
def _refine(plan: Plan, work: Workspace, store: Store, depth: Integer) -> None:
    """Refine the frame on top by its next attribute: settle the small classes, line up the others."""
    frame = work.frames[depth]
    todo = frame.todo
    a = np.int64(0)
    while not (todo >> a) & 1:
        a += 1
    rest = todo & (todo - 1)
    # Merging: attributes before this one are in no subset still to come; records alike on the others become one.
    if frame.fresh:
        frame.fresh = 0
    elif rest != 0 and frame.hi - frame.lo > 4:
        merge_if_it_pays(plan, work, frame, a)
    frame.todo = rest
    frame.child_subset = frame.subset | (1 << a)
    frame.child = frame.children_end = frame.children
    work.visits[0] += frame.hi - frame.lo
    # The last attribute of a subset: its classes are counted where they stand, and not refined further.
    is_last = rest == 0 or depth >= plan.largest
    others = frame.live if plan.grouped < 0 else frame.live & ~(np.int64(1) << plan.grouped)
    if is_last and (others == 0 or plan.fields[a].size * plan.largest_secret <= JOINT_VALUES):
        _count_leaves(plan, work, store, frame, a, others)
        return
    values = tally_values(
        work.records, plan.words, work.tally, work.seen, plan.fields[a], frame.lo, frame.hi
    )
    # What is settled early: one, two and three records for all T that are open there. Others wait to be visited.
    if not is_last and values == frame.hi - frame.lo:
        _settle_all_single(plan, work, store, frame, values, rest)
        return
    frame.child_top = copy_by_value(
        work.records, work.counts, work.records, work.counts, plan.words, work.tally, work.seen,
        plan.fields[a], values, frame.lo, frame.hi, frame.top, frame.merged != 0,
    )  # fmt: skip
    if is_last:
        _count_copied_leaves(plan, work, store, frame, values)
    else:
        frame.child_todo = rest
        _settle_or_line_up(plan, work, store, frame, values, rest)


@lean_inlined
def tally_values(
    records: Words, words: Integer, tally: Any, seen: Any, field: Any, lo: Integer, hi: Integer
) -> Integer:
    """Count the records of each value of an attribute; return how many values occur."""
    word, shift, mask = field.word, field.shift, field.mask
    values = np.int64(0)
    for i in range(lo, hi):
        value = np.int64((records[i * words + word] >> shift) & mask)
        count = tally[value]
        seen[values] = value  # stays if it is new: without a branch, which could not be foreseen
        values += np.int64(count == 0)
        tally[value] = count + 1
    return values


@lean_inlined
def copy_by_value(
    source: Words, source_counts: Any, records: Words, counts: Any, words: Integer,
    tally: Any, seen: Any, field: Any, values: Integer,
    lo: Integer, hi: Integer, top: Integer, merged: bool,
) -> Integer:  # fmt: skip
    """Copy some records from a place on, value by value, in their order, and return where they end.

    The tally then says where each value ends.
    """
    word, shift, mask = field.word, field.shift, field.mask
    place = np.int32(top)
    for v in range(values):
        value = seen[v]
        count = tally[value]
        tally[value] = place
        place += count
    if words == 1:
        for i in range(lo, hi):
            record = source[i]
            value = np.int64((record >> shift) & mask)
            at = tally[value]
            tally[value] = at + 1
            records[at] = record
            if merged:
                counts[at] = source_counts[i]
        return np.int64(place)
    for i in range(lo, hi):
        value = np.int64((source[i * words + word] >> shift) & mask)
        at = tally[value]
        tally[value] = at + 1
        for w in range(words):
            records[at * words + w] = source[i * words + w]
        if merged:
            counts[at] = source_counts[i]
    return np.int64(place)


@lean_inlined
def _settle_all_single(
    plan: Plan, work: Workspace, store: Store, frame: Any, values: Integer, rest: Integer
) -> None:
    """Every value occurs once: each record is a class of its own in all subsets below."""
    for v in range(values):
        work.tally[work.seen[v]] = 0
    everywhere = cell_of(store, frame.child_subset, frame.free | rest)
    single = frame.hi - frame.lo
    total = single
    if frame.merged:
        total = np.int64(0)
        for i in range(frame.lo, frame.hi):
            count = np.int64(work.counts[i])
            total += count
            if count != 1:
                single -= 1
                _add_class(store.cells, everywhere, plan.size_bin, count, _ONCE)
    store.cells[everywhere, CLASSES] += single
    _add_certain(store.cells, everywhere, plan.secrets.size, frame.live, total)


@lean_pasted
def _settle_or_line_up(
    plan: Plan, work: Workspace, store: Store, frame: Any, values: Integer, rest: Integer
) -> None:
    """Settle the classes of one, two and three records; put the others on the stack of children."""
    attributes = np.int64(0)
    for b in range(plan.fields.size):
        if (rest >> b) & 1:
            work.rest[attributes] = b
            attributes += 1
    merged = frame.merged != 0
    subset, free, live = frame.child_subset, frame.free, frame.live
    single = np.int64(0)
    total = np.int64(0)
    children = frame.children
    start = np.int64(frame.top)
    for v in range(values):
        end = np.int64(work.tally[work.seen[v]])
        work.tally[work.seen[v]] = 0
        size = end - start
        if size > 3:
            work.children[children].begin = start
            work.children[children].end = end
            children += 1
        elif size == 1:
            count = np.int64(work.counts[start]) if merged else np.int64(1)
            total += count
            if count == 1:
                single += 1
            else:
                everywhere = cell_of(store, subset, free | rest)
                _add_class(store.cells, everywhere, plan.size_bin, count, _ONCE)
        else:
            make_room(store, plan.largest)
            apart, whole = _settle_few(
                plan, work, store, start, size, merged, subset, free, rest, attributes, live
            )
            single += apart
            total += whole
        start = end
    frame.children_end = children
    if total:
        everywhere = cell_of(store, subset, free | rest)
        store.cells[everywhere, CLASSES] += single
        _add_certain(store.cells, everywhere, plan.secrets.size, live, total)


@lean_inlined
def _settle_few(
    plan: Plan, work: Workspace, store: Store, at: Integer, size: Integer, merged: bool,
    subset: Integer, free: Integer, rest: Integer, attributes: Integer, live: Integer,
) -> tuple[Integer, Integer]:  # fmt: skip
    """Settle a class of two or three records for all subsets below, by inclusion and exclusion.

    Everywhere they count as classes of their own, single-valued; the caller adds that. Where all are alike, in the
    subsets without an attribute on which some differ, this is corrected to one class. Of three, where two are alike
    that pair is corrected too, and taken back where all are. Of two, the third is the second, and counts nothing.

    Returns:
        How many single records the caller is to count everywhere, and the number of records in all.
    """
    records, words, cells = work.records, plan.words, store.cells
    first, second, third = at * words, (at + 1) * words, (at + size - 1) * words
    # The attributes on which they differ, and from them the cells where they are alike.
    differ_12 = differ_13 = differ_23 = np.int64(0)
    for k in range(attributes):
        b = work.rest[k]
        word, field = plan.fields[b].word, plan.fields[b].field
        unlike_12 = (records[first + word] ^ records[second + word]) & field
        unlike_13 = (records[first + word] ^ records[third + word]) & field
        differ_12 |= np.int64(unlike_12 != 0) << b
        differ_13 |= np.int64(unlike_13 != 0) << b
        differ_23 |= np.int64(unlike_12 != unlike_13) << b
    alike = cell_of(store, subset, free | (rest & ~(differ_12 | differ_13)))
    alike_12 = alike_13 = alike_23 = alike
    if size == 3:
        alike_12 = cell_of(store, subset, free | (rest & ~differ_12))
        alike_13 = cell_of(store, subset, free | (rest & ~differ_13))
        alike_23 = cell_of(store, subset, free | (rest & ~differ_23))
    # Classes by size; where all counts are 1 the same corrections every time, ticked off.
    n1 = np.int64(work.counts[at]) if merged else np.int64(1)
    n2 = np.int64(work.counts[at + 1]) if merged else np.int64(1)
    n3 = np.int64(0)
    if size == 3:
        n3 = np.int64(work.counts[at + 2]) if merged else np.int64(1)
    total = n1 + n2 + n3
    single = np.int64(0)
    if total == size:
        single = size
        cells[alike_12, PAIRS] += 1
        if size == 3:
            cells[alike_13, PAIRS] += 1
            cells[alike_23, PAIRS] += 1
            cells[alike, TRIPLES] += 1
    else:
        everywhere = cell_of(store, subset, free | rest)
        for count in (n1, n2, n3):
            if count:
                _add_class(cells, everywhere, plan.size_bin, count, _ONCE)
                _add_class(cells, alike, plan.size_bin, count, _TAKEN_BACK)
        _add_class(cells, alike, plan.size_bin, total, _ONCE)
        if size == 3:
            _join(cells, alike_12, alike, plan.size_bin, n1, n2)
            _join(cells, alike_13, alike, plan.size_bin, n1, n3)
            _join(cells, alike_23, alike, plan.size_bin, n2, n3)
    # Secrets follow the same pattern.
    for s in range(plan.secrets.size):
        word, field = plan.secrets[s].word, plan.secrets[s].field
        unlike_12 = (records[first + word] ^ records[second + word]) & field
        unlike_13 = (records[first + word] ^ records[third + word]) & field
        if not (live >> s) & 1 or (unlike_12 | unlike_13) == 0:
            continue
        column = SECRETS + PER_SECRET * s
        most = max(n1, n2, n3)
        if unlike_12 == 0:
            most = max(most, n1 + n2)
        elif unlike_13 == 0:
            most = max(most, n1 + n3)
        elif unlike_12 == unlike_13:
            most = max(most, n2 + n3)
        cells[alike, column + CERTAIN] -= total
        _add_divided(cells, alike, column, total, most, _ONCE)
        if size == 3:
            if unlike_12 != 0:
                _divide(cells, alike_12, alike, column, n1, n2)
            if unlike_13 != 0:
                _divide(cells, alike_13, alike, column, n1, n3)
            if unlike_12 != unlike_13:
                _divide(cells, alike_23, alike, column, n2, n3)
    return single, total


@lean_pasted
def _count_leaves(
    plan: Plan, work: Workspace, store: Store, frame: Any, a: Integer, others: Integer
) -> None:
    """Count the classes by the last attribute of a subset where they stand, with the secrets that live."""
    records, words, leaves, seen = work.records, plan.words, work.leaves, work.seen
    field, group, merged = plan.fields[a], plan.group[0], frame.merged != 0
    word, shift, mask = field.word, field.shift, field.mask
    hidden_word, hidden_shift, hidden_mask = group.word, group.shift, group.mask
    values = np.int64(0)
    for i in range(frame.lo, frame.hi):
        value = np.int64((records[i * words + word] >> shift) & mask)
        hidden = np.int32((records[i * words + hidden_word] >> hidden_shift) & hidden_mask)
        count = work.counts[i] if merged else np.int32(1)
        leaf = leaves[value]
        before = leaf.total
        seen[values] = value
        values += np.int64(before == 0)
        run = np.int32(count + (leaf.run if leaf.hidden == hidden else np.int32(0)))
        leaf.total = before + count
        leaf.hidden = hidden
        leaf.run = run
        leaf.most = max(leaf.most, run)
    cell = cell_of(store, frame.child_subset, frame.free)
    is_live = frame.live != others
    column = SECRETS + PER_SECRET * np.int64(plan.grouped)
    total = np.int64(0)
    for v in range(values):
        leaf = leaves[seen[v]]
        size = np.int64(leaf.total)
        total += size
        _add_class(store.cells, cell, plan.size_bin, size, _ONCE)
        if is_live:
            _add_values(store.cells, cell, column, size, np.int64(leaf.most))
        leaf.run = leaf.most = 0
    if values == frame.hi - frame.lo:
        _add_certain(store.cells, cell, plan.secrets.size, others, total)
    else:
        for s in range(plan.secrets.size):
            if (others >> s) & 1:
                _count_joint(plan, work, store.cells, frame, a, values, s, cell)
    for v in range(values):
        leaves[seen[v]].total = 0


@lean_inlined
def _count_copied_leaves(
    plan: Plan, work: Workspace, store: Store, frame: Any, values: Integer
) -> None:
    """Count classes that were copied together, one by one."""
    cell = cell_of(store, frame.child_subset, frame.free)
    merged, live = frame.merged != 0, frame.live
    start = np.int64(frame.top)
    for v in range(values):
        end = np.int64(work.tally[work.seen[v]])
        work.tally[work.seen[v]] = 0
        total = end - start
        if merged:
            total = np.int64(0)
            for i in range(start, end):
                total += work.counts[i]
        _add_class(store.cells, cell, plan.size_bin, total, _ONCE)
        for s in range(plan.secrets.size):
            if (live >> s) & 1:
                most = _most_frequent(
                    work.records, plan.words, work.counts, work.secret_tally,
                    plan.secrets[s], start, end, merged,
                )  # fmt: skip
                _add_values(store.cells, cell, SECRETS + PER_SECRET * s, total, most)
        start = end


@lean_inlined
def _count_joint(
    plan: Plan, work: Workspace, cells: Any, frame: Any,
    a: Integer, values: Integer, s: Integer, cell: Integer,
) -> None:  # fmt: skip
    """Count leaves for a secret that is not grouped, by pairs of values of attribute and secret."""
    records, words, joint, leaves = work.records, plan.words, work.secret_tally, work.leaves
    field, secret = plan.fields[a], plan.secrets[s]
    word, shift, mask = field.word, field.shift, field.mask
    secret_word, secret_shift, secret_mask = secret.word, secret.shift, secret.mask
    size = secret.size
    merged = frame.merged != 0
    for i in range(frame.lo, frame.hi):
        value = np.int64((records[i * words + word] >> shift) & mask)
        hidden = np.int64((records[i * words + secret_word] >> secret_shift) & secret_mask)
        pair = value * size + hidden
        now = np.int32(joint[pair] + (work.counts[i] if merged else np.int32(1)))
        joint[pair] = now
        leaves[value].most = max(leaves[value].most, now)
    is_wide = values * size > frame.hi - frame.lo
    for i in range(frame.lo, frame.hi if is_wide else frame.lo):
        value = np.int64((records[i * words + word] >> shift) & mask)
        hidden = np.int64((records[i * words + secret_word] >> secret_shift) & secret_mask)
        joint[value * size + hidden] = 0
    for v in range(values):
        value = np.int64(work.seen[v])
        leaf = leaves[value]
        _add_values(
            cells, cell, SECRETS + PER_SECRET * s, np.int64(leaf.total), np.int64(leaf.most)
        )
        leaf.most = 0
        for pair in range(value * size, value * size if is_wide else (value + 1) * size):
            joint[pair] = 0


@lean_inlined
def merge_if_it_pays(plan: Plan, work: Workspace, frame: Any, a: Integer) -> None:
    """Merge the records of the frame on top that are equal on what is still to come, where that pays.

    What it saves is learnt: per subset and attribute, the share of records that merging made go away, times the number
    of subsets that are still to come. Once in a while it is tried anyway.
    """
    size = frame.hi - frame.lo
    made_by = frame.subset & (MERGE_STATISTICS - 1)
    merges = work.merges[made_by, a]
    saved = 1e9
    if merges.went_in > 0:
        coming = np.float64(1 << _members(frame.todo))
        saved = coming * (1.0 - merges.came_out / merges.went_in)
    work.visits[1] += 1
    if saved <= plan.threshold and work.visits[1] & 63:
        return
    for w in range(plan.words):
        work.bits[w] = 0
    for b in range(plan.fields.size):
        if (frame.todo >> b) & 1:
            work.bits[plan.fields[b].word] |= plan.fields[b].field
    for s in range(plan.secrets.size):
        if (frame.live >> s) & 1:
            work.bits[plan.secrets[s].word] |= plan.secrets[s].field
    work.visits[0] += size
    end = merge(
        work.records, work.counts, plan.words, frame.lo, frame.hi,
        frame.merged != 0, work.bits, work.slots,
    )  # fmt: skip
    merges.went_in += size
    merges.came_out += end - frame.lo
    if end < frame.hi:
        frame.hi = end
        frame.merged = 1


@lean_compiled
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
    for place in range(last + 1):
        slots[place] = 0
    end = lo
    if words == 1:
        kept = keep[0]
        for i in range(lo, hi):
            record = records[i] & kept
            count = counts[i] if merged else np.int32(1)
            mixed = (record ^ (record >> np.uint64(29))) * np.uint64(0x9E3779B97F4A7C15)
            slot = np.int64(mixed >> shift)
            known = slots[slot]
            while known != 0 and records[lo + known - 1] != record:
                slot = (slot + 1) & last
                known = slots[slot]
            if known == 0:
                records[end] = record
                counts[end] = count
                end += 1
                slots[slot] = end - lo
            else:
                counts[lo + known - 1] += count
        return end
    for i in range(lo, hi):
        mixed = np.uint64(0)
        for w in range(words):
            masked = records[i * words + w] & keep[w]
            mixed = (mixed ^ masked ^ (masked >> np.uint64(29))) * np.uint64(0x9E3779B97F4A7C15)
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


@lean_inlined
def cell_of(store: Store, subset: Integer, free: Integer) -> Integer:
    """Return the row of the cell (S, F)."""
    if store.keys.size == 0:
        return store.ternary[subset] + 2 * store.ternary[free]
    return _hashed_cell(store.keys, store.used, ((subset << 32) | free) + 1)


@lean_called
def _hashed_cell(keys: Integers, used: Integers, key: Integer) -> Integer:
    """Return the slot of a key, making one if it is new."""
    last = keys.size - 1
    slot = np.int64((np.uint64(key) * np.uint64(0x9E3779B97F4A7C15)) >> np.uint64(20)) & last
    while keys[slot] != key:
        if keys[slot] == 0:
            keys[slot] = key
            used[0] += 1
            break
        slot = (slot + 1) & last
    return slot


@lean_inlined
def make_room(store: Store, largest: Integer) -> None:
    """Expand hashed cells to subsets when fewer than half of the slots are left."""
    if 2 * store.used[0] > store.keys.size:
        flush(store, largest)


@lean_compiled
def flush(store: Store, largest: Integer) -> None:
    """Add every hashed cell (S, F) to the subsets of at most so many attributes that it stands for, and forget it."""
    for slot in range(store.keys.size):
        if store.keys[slot] == 0:
            continue
        key = store.keys[slot] - 1
        subset, free = key >> 32, key & 0xFFFFFFFF
        room = largest - _members(subset)
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


@lean_inlined
def _members(bits: Integer) -> Integer:
    """Return how many attributes are in a set."""
    count = 0
    while bits:
        bits &= bits - 1
        count += 1
    return count


@lean_inlined
def _add_class(cells: Any, cell: Integer, size_bin: Any, size: Integer, sign: Integer) -> None:
    """Count a class by its size, or take it back."""
    where = size_bin[size] if size < size_bin.size else 9
    cells[cell, CLASSES + where] += sign
    if where >= COUNTED_BINS:
        cells[cell, RECORDS + where - COUNTED_BINS] += sign * size


@lean_inlined
def _add_certain(
    cells: Any, cell: Integer, secrets: Integer, live: Integer, total: Integer
) -> None:
    """Count records whose class has one value of each live secret."""
    for s in range(secrets):
        if (live >> s) & 1:
            cells[cell, SECRETS + PER_SECRET * s + CERTAIN] += total


@lean_inlined
def _add_values(cells: Any, cell: Integer, column: Integer, size: Integer, most: Integer) -> None:
    """Count a class in which the most frequent value of a secret occurs ``most`` times."""
    if most == size:
        cells[cell, column + CERTAIN] += size
    else:
        _add_divided(cells, cell, column, size, most, _ONCE)


@lean_inlined
def _add_divided(
    cells: Any, cell: Integer, column: Integer, size: Integer, most: Integer, sign: Integer
) -> None:
    """Count a class in which a secret has several values, the most frequent one ``most`` times."""
    cells[cell, column + MOST] += sign * most
    cells[cell, column + SHARES + (SHARE_BINS * most) // size] += sign * size


@lean_called
def _join(
    cells: Any, pair: Integer, triple: Integer, size_bin: Any, first: Integer, second: Integer
) -> None:
    """Of three records: where two are alike they are one class; where all are, that is taken back."""
    for count in (first, second):
        _add_class(cells, pair, size_bin, count, _TAKEN_BACK)
        _add_class(cells, triple, size_bin, count, _ONCE)
    _add_class(cells, pair, size_bin, first + second, _ONCE)
    _add_class(cells, triple, size_bin, first + second, _TAKEN_BACK)


@lean_called
def _divide(
    cells: Any, pair: Integer, triple: Integer, column: Integer, first: Integer, second: Integer
) -> None:
    """Of three records: where two are alike that differ in a secret, they are not certain."""
    both = first + second
    most = max(first, second)
    cells[pair, column + CERTAIN] -= both
    cells[triple, column + CERTAIN] += both
    _add_divided(cells, pair, column, both, most, _ONCE)
    _add_divided(cells, triple, column, both, most, _TAKEN_BACK)
