"""Text to small integers, by streaming: a dictionary that grows as values come.

A column of text becomes codes in order of first appearance. The values' bytes stand one behind the other in
an arena; an open-addressed table of slots finds them by hash. All of it is plain arrays, so that the loop runs
compiled; and they grow in place, so that memory is that of the distinct values, not that and their copies. A source of
one batch needs none of it: Arrow's own dictionary is the same.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa
from numba import njit
from numpy.typing import NDArray

from glasshouse.arrays import Integers, Words
from glasshouse.table.encoded import Codes, smallest_unsigned

_FIRST_SLOTS = 1 << 10
_FIRST_ARENA = 1 << 14
_LARGE_ARENA = 1 << 20
"""From so many bytes on the arena grows by an eighth at a time: room that is not used takes memory too."""


class Dictionary:
    """Gives each distinct text a code, in order of first appearance."""

    def __init__(self) -> None:
        self._slots = np.zeros(_FIRST_SLOTS, np.uint32)
        self._hashes = np.empty(_FIRST_SLOTS // 2, np.uint64)
        self._starts = np.zeros(_FIRST_SLOTS // 2 + 1, np.int64)
        self._arena = np.empty(_FIRST_ARENA, np.uint8)
        self._count = 0

    def __len__(self) -> int:
        return self._count

    def encode(self, texts: pa.StringArray | pa.LargeStringArray | pa.DictionaryArray) -> Codes:
        """Return the codes of some texts, giving new codes to texts not seen before."""
        if isinstance(texts, pa.DictionaryArray):
            return self._encode_coded(texts)
        offsets, data = _buffers(texts)
        codes = np.empty(len(texts), np.uint32)
        done = 0
        while True:
            done, self._count = _encode(
                offsets,
                data,
                codes,
                done,
                self._slots,
                self._hashes,
                self._starts,
                self._arena,
                self._count,
            )
            if done == len(codes):
                return codes.astype(smallest_unsigned(self._count), copy=False)
            self._grow(int(offsets[done + 1] - offsets[done]))

    def _encode_coded(self, texts: pa.DictionaryArray) -> Codes:
        """Encode the texts of a dictionary as they come first, once each."""
        indices = texts.indices.to_numpy(zero_copy_only=False).astype(np.uint32, copy=False)
        unused = np.zeros(len(texts.dictionary), np.uint32)
        places = np.empty(len(indices), np.uint32)
        used = renumber(indices, np.arange(len(indices)), unused, places)
        codes: Codes = self.encode(texts.dictionary.take(pa.array(used)))[places]
        return codes

    def values(self) -> pa.LargeStringArray:
        """Return the distinct texts; a text's code is its position."""
        starts = self._starts[: self._count + 1].copy()
        arena = _resized(self._arena, int(starts[-1]))
        self._arena = arena[:]  # handed over: a view is not resized in place
        return pa.LargeStringArray.from_buffers(
            self._count, pa.py_buffer(starts), pa.py_buffer(arena)
        )

    def _grow(self, next_length: int) -> None:
        """Make room for at least one more text of this length."""
        used = int(self._starts[self._count])
        if used + next_length > len(self._arena):
            spare = used if used < _LARGE_ARENA else used // 8
            self._arena = _resized(self._arena, used + next_length + spare)
        if self._count == len(self._hashes):
            self._hashes = _resized(self._hashes, 2 * self._count)
            self._starts = _resized(self._starts, 2 * self._count + 1)
            self._slots = np.zeros(2 * len(self._slots), np.uint32)
            _fill_slots(self._slots, self._hashes, self._count)


def _buffers(
    texts: pa.StringArray | pa.LargeStringArray,
) -> tuple[NDArray[np.signedinteger[Any]], NDArray[np.uint8]]:
    _, offsets, data = texts.buffers()
    if offsets is None or len(texts) == 0:
        return np.zeros(1, np.int32), np.empty(0, np.uint8)
    width = np.int64 if pa.types.is_large_string(texts.type) else np.int32
    bounds: NDArray[np.signedinteger[Any]] = np.frombuffer(offsets, width)
    bounds = bounds[texts.offset : texts.offset + len(texts) + 1]
    return bounds, np.frombuffer(data, np.uint8) if data else np.empty(0, np.uint8)


def _resized(array: NDArray[Any], size: int) -> NDArray[Any]:
    """Return an array at another size: itself, which the system grows or cuts in place; of a view, a copy."""
    if array.base is not None:
        array = array.copy()
    array.resize(size, refcheck=False)
    return array


@njit(cache=True, nogil=True)  # type: ignore[untyped-decorator]
def _encode(
    offsets: NDArray[np.int32],
    data: NDArray[np.uint8],
    codes: NDArray[np.uint32],
    done: int,
    slots: NDArray[np.uint32],
    hashes: Words,
    starts: Integers,
    arena: NDArray[np.uint8],
    count: int,
) -> tuple[int, int]:
    """Encode from text ``done`` on, until the end or until a new text finds no room."""
    mask = np.uint64(slots.size - 1)
    for i in range(done, codes.size):
        begin, end = offsets[i], offsets[i + 1]
        length = end - begin
        mixed = _hash(data, begin, end)
        slot = mixed & mask
        # Probe from the text's slot on: a slot holds a code plus 1, and 0 ends the texts that could be equal.
        while True:
            code = np.int64(slots[slot]) - 1
            # A new text: its bytes go to the end of the arena.
            if code < 0:
                used = starts[count]
                if count == hashes.size or used + length > arena.size:
                    return i, count
                for j in range(length):
                    arena[used + j] = data[begin + j]
                starts[count + 1] = used + length
                hashes[count] = mixed
                codes[i] = count
                count += 1
                slots[slot] = count
                break
            # A known text with the same hash: the same bytes, or another one that stands further on.
            if hashes[code] == mixed and starts[code + 1] - starts[code] == length:
                known = starts[code]
                same = True
                for j in range(length):
                    if arena[known + j] != data[begin + j]:
                        same = False
                        break
                if same:
                    codes[i] = code
                    break
            slot = (slot + np.uint64(1)) & mask
    return codes.size, count


@njit(inline="always")  # type: ignore[untyped-decorator]
def _hash(data: NDArray[np.uint8], begin: int, end: int) -> np.uint64:
    mixed = np.uint64(0xCBF29CE484222325)
    for j in range(begin, end):  # FNV-1a
        mixed = (mixed ^ np.uint64(data[j])) * np.uint64(0x100000001B3)
    return mixed ^ (mixed >> np.uint64(32))


@njit(cache=True, nogil=True)  # type: ignore[untyped-decorator]
def _fill_slots(slots: NDArray[np.uint32], hashes: Words, count: int) -> None:
    mask = np.uint64(slots.size - 1)
    for code in range(count):
        slot = hashes[code] & mask
        while slots[slot] != 0:
            slot = (slot + np.uint64(1)) & mask
        slots[slot] = code + 1


@njit(cache=True, nogil=True)  # type: ignore[untyped-decorator]
def renumber(
    codes: Codes,
    records: Integers,
    new_code: NDArray[np.uint32],
    renumbered: NDArray[np.uint32],
) -> NDArray[np.uint32]:
    """Give the codes of some records new ones, by first appearance; return the old code behind each new one.

    ``new_code`` holds zeros, and does so again afterwards: the work is that of the records, not of the dictionary.
    """
    used = np.empty(min(records.size, new_code.size), np.uint32)
    count = 0
    for i in range(records.size):
        old = codes[records[i]]
        if new_code[old] == 0:
            used[count] = old
            count += 1
            new_code[old] = count
        renumbered[i] = new_code[old] - np.uint32(1)
    for i in range(count):
        new_code[used[i]] = 0
    return used[:count].copy()
