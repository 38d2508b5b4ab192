"""Text to small integers, by streaming: a dictionary that grows as values come.

A column of text becomes codes in order of first appearance. The values' bytes stand one behind the other in
an arena; an open-addressed table of slots finds them by hash. All of it is plain arrays, so that the loop runs
compiled; and they grow in place, so that memory is that of the distinct values, not that and their copies. A source of
one batch needs none of it: Arrow's own dictionary is the same. Where the distinct values do not fit into memory,
`DiskDictionary` gives the same codes part by part.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from glasshouse.arrays import Integers, Words
from glasshouse.compiled import compiled, pasted
from glasshouse.table.codes import CodePieces, Codes, let_go, smallest_unsigned, texts_at_once

_FIRST_SLOTS = 1 << 10
_FIRST_ARENA = 1 << 14
_LARGE_ARENA = 1 << 20
"""From so many bytes on the arena grows by an eighth at a time: room that is not used takes memory too."""
PARTS = 64
"""Texts on disk are encoded in so many parts."""
_BYTE, _WORD = 1 << 8, 1 << 32
"""How many numbers one byte tells apart, and four."""


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

    @property
    def nbytes(self) -> int:
        """How much memory it takes."""
        return sum(array.nbytes for array in (self._slots, self._hashes, self._starts, self._arena))

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


class DiskDictionary:
    """Gives each distinct text a code, in order of first appearance, as `Dictionary` does, once all texts are there.

    Texts wait on disk, parted by their hash; each part is encoded by a `Dictionary`, and the codes of all parts are put
    in the order of the texts again. In memory is one part at a time, and four bytes for each distinct text. What cannot
    be written to disk is a `DataError`.

    Args:
        codes_only: Whether nobody will ask for the values.
    """

    def __init__(self, *, codes_only: bool = False) -> None:
        self._codes_only = codes_only
        self._part, self._texts = CodePieces(), _TextPieces()
        self._sizes: list[Integers] = []
        self._new, self._values = CodePieces(), _TextPieces()
        self._starts = np.zeros((2, PARTS), np.int64)
        self._count = 0

    def __len__(self) -> int:
        return self._count

    def append(self, texts: pa.StringArray | pa.LargeStringArray) -> None:
        """Add further texts."""
        offsets, data = _buffers(texts)
        part, sizes = np.empty(len(texts), np.uint8), np.zeros((2, PARTS), np.int64)
        _part(offsets, data, part, sizes)
        lengths, grouped = np.empty(len(texts), np.uint32), np.empty(int(sizes[1].sum()), np.uint8)
        _group(offsets, data, part, np.cumsum(sizes, axis=1) - sizes, lengths, grouped)
        self._sizes.append(sizes)
        self._part.append(part)
        self._part.spill()
        self._texts.append(lengths, grouped)

    def encoded(self) -> Iterator[Codes]:
        """Yield the codes of all texts, in the blocks in which they were appended; the texts are let go of."""
        of_parts, distinct = CodePieces(), np.zeros((2, PARTS), np.int64)
        for part, texts in enumerate(self._parts()):
            dictionary = Dictionary()
            for some in texts:
                of_parts.append(dictionary.encode(some).astype(np.uint32, copy=False))
            of_parts.spill()
            distinct[0, part] = len(dictionary)
            if not self._codes_only:
                offsets, data = _buffers(dictionary.values())
                self._values.append(np.diff(offsets).astype(np.uint32), data)
                distinct[1, part] = len(data)
        self._starts = np.cumsum(distinct, axis=1) - distinct
        codes, sizes = of_parts.joined(_WORD), np.sum(self._sizes, axis=0)[0]
        place, seen = np.cumsum(sizes) - sizes, np.zeros(PARTS, np.int64)
        code_of, begin = np.empty(int(distinct[0].sum()), np.uint32), 0
        part_of = self._part.joined(_BYTE)
        for block in self._sizes:
            of_texts = part_of[begin : begin + int(block[0].sum())]
            begin += len(of_texts)
            in_order, new = np.empty(len(of_texts), np.uint32), np.empty(len(of_texts), np.uint8)
            found = _in_order(
                of_texts, codes, place, self._starts[0], seen, code_of, self._count, in_order, new
            )
            if not self._codes_only:
                self._new.append(new[:found])
                self._new.spill()
            self._count += found
            let_go(codes)
            yield in_order

    def values(self) -> Iterator[pa.LargeStringArray]:
        """Yield the distinct texts in the order of their codes, after all were encoded, and let go of them."""
        lengths, data = self._values.joined()
        next_length, next_byte = self._starts
        new = self._new.joined(_BYTE)
        number = texts_at_once(len(new), len(data))
        for begin in range(0, len(new), number):
            part = new[begin : begin + number]
            counts = np.bincount(part, minlength=PARTS)
            some_lengths = _from_each_part(lengths, next_length, counts)
            ends = np.append(0, np.cumsum(some_lengths, dtype=np.int64))[np.cumsum(counts)]
            sizes = np.diff(ends, prepend=0)
            some_data = _from_each_part(data, next_byte, sizes)
            next_length, next_byte = next_length + counts, next_byte + sizes
            offsets = np.zeros(len(part) + 1, np.int64)
            _lengths_in_order(part, some_lengths, np.cumsum(counts) - counts, offsets)
            in_order = np.empty(int(offsets[-1]), np.uint8)
            _bytes_in_order(part, some_data, ends - sizes, offsets, in_order)
            yield _as_texts(offsets, in_order)

    def _parts(self) -> Iterator[Iterator[pa.LargeStringArray]]:
        """Yield the texts of each part, in blocks."""
        lengths, data = self._texts.joined()
        sizes = np.stack(self._sizes, axis=1)
        ends = np.cumsum(sizes.reshape(2, -1), axis=1).reshape(sizes.shape)

        def of_part(part: int) -> Iterator[pa.LargeStringArray]:
            for (first, first_byte), (last, last_byte) in zip(
                (ends - sizes)[:, :, part].T.tolist(), ends[:, :, part].T.tolist(), strict=True
            ):
                offsets = np.zeros(last - first + 1, np.int64)
                np.cumsum(lengths[first:last], out=offsets[1:])
                yield _as_texts(offsets, data[first_byte:last_byte])
                let_go(data)

        for part in range(PARTS):
            yield of_part(part)
            let_go(lengths)


def _from_each_part(whole: NDArray[Any], begins: Integers, numbers: Integers) -> NDArray[Any]:
    """Return so many entries of each part, in memory, and let go of what was looked at after each.

    A touch of what is on disk can take the memory of two mebibytes around it, and there are many parts.
    """
    taken, end = np.empty(int(numbers.sum()), whole.dtype), 0
    for begin, number in zip(begins.tolist(), numbers.tolist(), strict=True):
        taken[end : end + number] = whole[begin : begin + number]
        end += number
        let_go(whole)
    return taken


class _TextPieces:
    """Texts on disk: their lengths, and their bytes one behind the other."""

    def __init__(self) -> None:
        self._lengths, self._data = CodePieces(), CodePieces()

    def append(self, lengths: NDArray[np.uint32], data: NDArray[np.uint8]) -> None:
        """Write further texts."""
        for pieces, array in ((self._lengths, lengths), (self._data, data)):
            pieces.append(array)
            pieces.spill()

    def joined(self) -> tuple[Codes, Codes]:
        """Return the lengths and the bytes of all texts; and a text of one byte, as no file may be empty."""
        self.append(np.ones(1, np.uint32), np.zeros(1, np.uint8))
        return self._lengths.joined(_WORD), self._data.joined(_BYTE)


def _as_texts(offsets: Integers, data: Codes) -> pa.LargeStringArray:
    return pa.LargeStringArray.from_buffers(
        len(offsets) - 1, pa.py_buffer(offsets), pa.py_buffer(data)
    )


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


@compiled
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


@pasted
def _hash(data: NDArray[np.uint8], begin: int, end: int) -> np.uint64:
    mixed = np.uint64(0xCBF29CE484222325)
    for j in range(begin, end):  # FNV-1a
        mixed = (mixed ^ np.uint64(data[j])) * np.uint64(0x100000001B3)
    return mixed ^ (mixed >> np.uint64(32))


@compiled
def _part(
    offsets: NDArray[np.signedinteger[Any]],
    data: NDArray[np.uint8],
    part: NDArray[np.uint8],
    sizes: Integers,
) -> None:
    """Find the part of each text, and how many texts and bytes each part has."""
    for i in range(part.size):
        # The low bits choose the slot in a `Dictionary`.
        of_text = (_hash(data, offsets[i], offsets[i + 1]) >> np.uint64(24)) % np.uint64(PARTS)
        part[i] = of_text
        sizes[0, of_text] += 1
        sizes[1, of_text] += offsets[i + 1] - offsets[i]


@compiled
def _group(
    offsets: NDArray[np.signedinteger[Any]],
    data: NDArray[np.uint8],
    part: NDArray[np.uint8],
    place: Integers,
    lengths: NDArray[np.uint32],
    grouped: NDArray[np.uint8],
) -> None:
    """Put texts where those of their part are, in their order."""
    for i in range(part.size):
        length = offsets[i + 1] - offsets[i]
        lengths[place[0, part[i]]] = length
        place[0, part[i]] += 1
        begin = place[1, part[i]]
        for j in range(length):
            grouped[begin + j] = data[offsets[i] + j]
        place[1, part[i]] += length


@compiled
def _in_order(
    part: Codes, codes: Codes, place: Integers, first: Integers, seen: Integers,
    code_of: NDArray[np.uint32], count: int, in_order: NDArray[np.uint32], new: NDArray[np.uint8],
) -> int:  # fmt: skip
    """Turn codes within parts into codes among all; return how many texts are new, and note their parts.

    Args:
        part: The part of each text.
        codes: The codes of all texts within their parts, part by part.
        place: Per part, where the code of its next text is; moved on.
        first: Per part, where its texts begin in ``code_of``.
        seen: Per part, how many of its texts were seen so far; moved on.
        code_of: The code among all of each text seen so far.
        count: How many these are.
        in_order: Takes the codes.
        new: Takes the parts of texts that are new.
    """
    found = 0
    for i in range(part.size):
        own = codes[place[part[i]]]
        place[part[i]] += 1
        if own == seen[part[i]]:
            seen[part[i]] += 1
            code_of[first[part[i]] + own] = count + found
            new[found] = part[i]
            found += 1
        in_order[i] = code_of[first[part[i]] + own]
    return found


@compiled
def _lengths_in_order(part: Codes, lengths: Codes, place: Integers, offsets: Integers) -> None:
    """Find where texts begin, each of which is the next of its part."""
    for i in range(part.size):
        offsets[i + 1] = offsets[i] + np.int64(lengths[place[part[i]]])
        place[part[i]] += 1


@compiled
def _bytes_in_order(
    part: Codes, data: Codes, place: Integers, offsets: Integers, in_order: NDArray[np.uint8]
) -> None:
    for i in range(part.size):
        begin = place[part[i]]
        for j in range(offsets[i + 1] - offsets[i]):
            in_order[offsets[i] + j] = data[begin + j]
        place[part[i]] += offsets[i + 1] - offsets[i]


@compiled
def _fill_slots(slots: NDArray[np.uint32], hashes: Words, count: int) -> None:
    mask = np.uint64(slots.size - 1)
    for code in range(count):
        slot = hashes[code] & mask
        while slots[slot] != 0:
            slot = (slot + np.uint64(1)) & mask
        slots[slot] = code + 1


@compiled
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
