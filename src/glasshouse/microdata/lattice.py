"""Every subset of the quasi-identifiers, exactly: planning, root steps and results.

The subsets are taken by their first attribute, in an order chosen from the data. Root step p answers all subsets whose
first attribute is order[p]: the records are parted by that attribute, the kernel runs inside each part, and the integer
cells are added up; then the attribute is left out, equal records are merged, and the next step begins.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from threading import Lock

import numpy as np
from numba import njit
from numpy.typing import NDArray

from glasshouse.microdata import kernel
from glasshouse.microdata.kernel import Fields, Plan, Store, Sums, Words, Workspace
from glasshouse.table import Column, EncodedTable
from glasshouse.table.dictionary import Codes

DENSE_ATTRIBUTES = 12
"""Up to so many attributes after the root, all 3^r cells are kept side by side."""
HASHED_CELLS = 1 << 17
MERGE_THRESHOLD = 3.0


@dataclass(frozen=True)
class Packing:
    """How a record's attributes are packed into 64-bit words."""

    words: int
    fields: Fields
    """The attributes after the first, in the order of refinement."""
    secrets: Fields


def pack_plan(attributes: Sequence[Column], secrets: Sequence[Column]) -> Packing:
    """Place attributes in words, none across two."""
    filled: list[int] = []
    placed = [_place(column.cardinality, filled) for column in [*secrets, *reversed(attributes)]]
    own, others = placed[: len(secrets)], placed[len(secrets) :][::-1]
    return Packing(
        max(1, len(filled)), _fields(others, attributes), _fields(own, secrets)
    )


def _place(cardinality: int, filled: list[int]) -> tuple[int, int]:
    bits = max(1, (cardinality - 1).bit_length())
    for word, used in enumerate(filled):
        if used + bits <= 64:
            filled[word] += bits
            return word, used
    filled.append(bits)
    return len(filled) - 1, 0


def _fields(places: list[tuple[int, int]], columns: Sequence[Column]) -> Fields:
    masks = [(1 << max(1, (c.cardinality - 1).bit_length())) - 1 for c in columns]
    shifts = [shift for _, shift in places]
    return Fields(
        word=np.array([word for word, _ in places], np.int64),
        shift=np.array(shifts, np.uint64),
        mask=np.array(masks, np.uint64),
        field=np.array([m << s for m, s in zip(masks, shifts, strict=True)], np.uint64),
        size=np.array([c.cardinality for c in columns], np.int64),
    )


@njit(cache=True, nogil=True)  # type: ignore[untyped-decorator]
def _pack(records: Words, words: int, word: int, shift: np.uint64, codes: Codes) -> None:
    for i in range(codes.size):
        records[i * words + word] |= np.uint64(codes[i]) << shift


@njit(cache=True, nogil=True)  # type: ignore[untyped-decorator]
def _part_by_codes(
    records: Words, words: int, codes: Codes, ends: NDArray[np.int64]
) -> Words:
    """Lay records out by the codes of an attribute; ``ends`` then says where each value ends."""
    parted = np.empty_like(records)
    for i in range(codes.size):
        at = ends[codes[i]]
        ends[codes[i]] = at + 1
        for w in range(words):
            parted[at * words + w] = records[i * words + w]
    return parted


@njit(cache=True, nogil=True)  # type: ignore[untyped-decorator]
def _field_sizes(records: Words, words: int, word: int, shift: np.uint64, mask: np.uint64, values: int) -> NDArray[np.int64]:
    sizes = np.zeros(values, np.int64)
    for i in range(records.size // words):
        sizes[np.int64((records[i * words + word] >> shift) & mask)] += 1
    return sizes


@njit(cache=True, nogil=True)  # type: ignore[untyped-decorator]
def _part_by_field(
    records: Words, counts: NDArray[np.int32], words: int, word: int, shift: np.uint64, mask: np.uint64, ends: NDArray[np.int64],
) -> tuple[Words, NDArray[np.int32]]:
    parted = np.empty_like(records)
    parted_counts = np.empty_like(counts)
    for i in range(counts.size):
        value = np.int64((records[i * words + word] >> shift) & mask)
        at = ends[value]
        ends[value] = at + 1
        for w in range(words):
            parted[at * words + w] = records[i * words + w]
        parted_counts[at] = counts[i]
    return parted, parted_counts


@njit(cache=True, nogil=True)  # type: ignore[untyped-decorator]
def _sweep_parts(
    plan: Plan, work: Workspace, store: Store, records: Words, counts: NDArray[np.int32], merged: bool,
    starts: NDArray[np.int64], ends: NDArray[np.int64], parts: NDArray[np.int64], keep: Words,
) -> None:
    """Merge, write back and sweep some parts; ``ends`` then says where the merged records end."""
    words = plan.words
    for p in parts:
        lo, size = starts[p], ends[p] - starts[p]
        work.records[: size * words] = records[lo * words : (lo + size) * words]
        if merged:
            work.counts[:size] = counts[lo : lo + size]
        size = kernel.merge(work.records, work.counts, words, 0, size, merged, keep, work.slots)
        records[lo * words : (lo + size) * words] = work.records[: size * words]
        counts[lo : lo + size] = work.counts[:size]
        ends[p] = lo + size
        kernel.sweep_part(plan, work, store, size, True)


@njit(cache=True, nogil=True)  # type: ignore[untyped-decorator]
def _close_up(records: Words, counts: NDArray[np.int32], words: int, starts: NDArray[np.int64], ends: NDArray[np.int64]) -> int:
    """Move the merged records of all parts together; return how many there are."""
    at = 0
    for p in range(starts.size):
        for i in range(starts[p], ends[p]):
            for w in range(words):
                records[at * words + w] = records[i * words + w]
            counts[at] = counts[i]
            at += 1
    return at


def workspace(plan: Plan, largest_part: int, attribute_values: int) -> Workspace:
    levels = plan.fields.word.size + 2
    room = largest_part * levels
    slots = 4
    while slots < 2 * largest_part:
        slots *= 2
    secret_values = int(plan.secrets.size.max(initial=1))
    attributes = plan.fields.word.size
    return Workspace(
        records=np.empty(room * plan.words, np.uint64),
        counts=np.empty(room, np.int32),
        child_start=np.empty(room // 4 + levels, np.int32),
        child_end=np.empty(room // 4 + levels, np.int32),
        tally=np.zeros(attribute_values, np.int32),
        seen=np.zeros(attribute_values, np.int32),
        secret_tally=np.zeros(secret_values, np.int32),
        joint_tally=np.zeros(1, np.int32),
        slots=np.empty(slots, np.int32),
        frames=np.zeros((levels + 1, kernel.FRAME_WIDTH), np.int64),
        varying=np.zeros(plan.words, np.uint64),
        keep=np.zeros(plan.words, np.uint64),
        rest_word=np.zeros(attributes + 1, np.int64),
        rest_field=np.zeros(attributes + 1, np.uint64),
        rest_bit=np.zeros(attributes + 1, np.int64),
        merged_in=np.zeros((levels + 1, attributes + 1)),
        merged_out=np.zeros((levels + 1, attributes + 1)),
        visits=np.zeros(2, np.int64),
    )


def make_store(plan: Plan, secrets: int) -> Store:
    r = plan.fields.word.size
    width = kernel.cell_width(secrets)
    none = np.zeros(0, np.int64)
    ternary = np.array([int(f"{m:b}", 3) for m in range(1 << r)], np.int64)
    return Store(np.zeros((3**r, width), np.int32), ternary, none, np.zeros(1, np.int64), np.zeros(0, np.int32), np.zeros((0, width), np.int64))


def expanded(cells: NDArray[np.int64], attributes: int) -> Sums:
    """Turn cells (S, F) into subsets: T gets the cells with S ⊆ T ⊆ S ∪ F.

    One attribute at a time: a cell in which it is free counts both without it and with it.
    """
    width = cells.shape[1]
    for done in range(attributes):
        # the attribute at ternary digit `done`; lower digits are binary already
        split = cells.reshape(-1, 3, 1 << done, width)
        cells = (split[:, :2] + split[:, 2:]).reshape(-1, width)
    return cells


def raw_sweep(table: EncodedTable, order: Sequence[str], sensitive: Sequence[str], threads: int = 1, info: dict | None = None) -> Sums:
    attributes = [table.column(name) for name in order]
    secrets = [table.column(name) for name in sensitive]
    packing = pack_plan(attributes[1:], secrets)
    words = packing.words
    n = table.records
    d = len(order)
    first = attributes[0]
    records = np.zeros(n * words, np.uint64)
    for fields, columns in ((packing.fields, attributes[1:]), (packing.secrets, secrets)):
        for i, column in enumerate(columns):
            _pack(records, words, fields.word[i], fields.shift[i], column.codes)
    sizes = np.bincount(first.codes, minlength=first.cardinality)
    ends = np.concatenate([[0], np.cumsum(sizes)])[:-1].copy()
    records = _part_by_codes(records, words, first.codes, ends)
    counts = np.empty(n, np.int32)
    merged = False
    results = np.zeros((1 << d, kernel.cell_width(len(secrets))), np.int64)
    visits = 0
    for p in range(d):
        fields = Fields(*(x[p:] for x in packing.fields))
        plan = Plan(words, fields, packing.secrets, d, kernel.size_bins(), MERGE_THRESHOLD)
        if p > 0:
            own = Fields(*(x[p - 1 : p] for x in packing.fields))
            sizes = _field_sizes(records, words, own.word[0], own.shift[0], own.mask[0], int(own.size[0]))
            ends = np.concatenate([[0], np.cumsum(sizes)])[:-1].copy()
            records, counts = _part_by_field(records, counts, words, own.word[0], own.shift[0], own.mask[0], ends)
        starts = ends - sizes
        keep = np.zeros(words, np.uint64)
        for f in (fields, packing.secrets):
            for w, bits in zip(f.word, f.field, strict=True):
                keep[w] |= bits
        largest = int(sizes.max())
        values = int(max([c.cardinality for c in attributes[p + 1 :]], default=1))
        by_size = np.argsort(-sizes, kind="stable")
        by_size = by_size[sizes[by_size] > 0]
        total = int(sizes.sum())
        cum = np.cumsum(sizes[by_size])
        bounds = np.searchsorted(cum, np.linspace(0, total, 65)[1:-1])
        tasks = [t for t in np.split(by_size, np.unique(bounds + 1)) if t.size]
        lock = Lock()
        queue = iter(tasks)
        stores = [make_store(plan, len(secrets)) for _ in range(threads)]

        def worker(t):
            work = workspace(plan, largest, values)
            while True:
                with lock:
                    task = next(queue, None)
                if task is None:
                    return work.visits[0]
                _sweep_parts(plan, work, stores[t], records, counts, merged, starts, ends, task.astype(np.int64), keep)

        with ThreadPoolExecutor(threads) as pool:
            visits += sum(pool.map(worker, range(threads)))
        cells = sum(s.cells.astype(np.int64) for s in stores)
        rows = expanded(cells, d - 1 - p)
        results[(1 << p) | (np.arange(1 << (d - 1 - p)) << (p + 1))] = rows
        left = _close_up(records, counts, words, starts, ends)
        records, counts, merged = records[: left * words].copy(), counts[:left].copy(), True
    if info is not None:
        info["visits"] = visits
    return results
