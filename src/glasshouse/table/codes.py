"""Codes of records, and texts: where they are kept, in memory or on disk, and how they are taken from there."""

from __future__ import annotations

import mmap
import tempfile
from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.ipc
from numpy.typing import NDArray

from glasshouse.arrays import Integers
from glasshouse.atomic import scratch_explained

Codes = NDArray[np.unsignedinteger[Any]]
"""Codes of a column, in the smallest unsigned integers that hold them."""
Places = NDArray[np.signedinteger[Any]]
"""The places of records, or −1; in 32 bits wherever these hold them."""
BLOCK_RECORDS = 1 << 20
"""So many codes on disk are looked at, or written, at a time,"""
BLOCK_BYTES = 1 << 24
"""and about so many bytes of texts."""


def mapping(codes: NDArray[Any]) -> mmap.mmap | None:
    """Return the file that codes are looked up in; None: they are in memory."""
    if codes.flags.writeable:
        return None  # what was written would be lost with what is let go
    base: object = codes
    while isinstance(base, np.ndarray):
        base = base.base
    base = base.obj if isinstance(base, memoryview) else base
    return base if isinstance(base, mmap.mmap) else None


def let_go(codes: NDArray[Any]) -> None:
    """Give back the memory that codes on disk have taken since they were looked at; they are there as before."""
    file = mapping(codes)
    if file is not None:
        let_go_file(file)


def let_go_file(file: mmap.mmap) -> None:
    """Give back the memory that a file has taken since it was looked at."""
    if hasattr(mmap, "MADV_DONTNEED"):
        file.madvise(mmap.MADV_DONTNEED)


def blocks(codes: Codes) -> Iterator[tuple[int, Codes]]:
    """Yield codes in blocks, each with the place of its first; those on disk take the memory of one block."""
    for begin in range(0, len(codes), BLOCK_RECORDS):
        yield begin, codes[begin : begin + BLOCK_RECORDS]
        let_go(codes)


def taken(codes: NDArray[Any], records: slice | Integers) -> NDArray[Any]:
    """Return the codes of some records, whose positions ascend."""
    if isinstance(records, slice) or mapping(codes) is None:
        return codes[records]
    chosen = np.empty(len(records), codes.dtype)
    for begin, some in blocks(codes):
        first, last = np.searchsorted(records, [begin, begin + len(some)])
        chosen[first:last] = some[records[first:last] - begin]
    return chosen


def on_disk(pieces: Iterable[Codes], kind: type[np.unsignedinteger[Any]]) -> Codes:
    """Return codes that are kept in a file without a name: it is gone when nobody can look them up any more.

    Raises:
        DataError: It cannot be written, or its disk is full.
    """
    with scratch_explained(), tempfile.TemporaryFile() as file:
        for piece in pieces:
            file.write(piece.astype(kind, copy=False).data)
        file.flush()
        return np.frombuffer(mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ), kind)


def texts_at_once(texts: int, size: int) -> int:
    """Return how many of some texts are looked at, or written, at a time, if all of them take so many bytes."""
    return max(1, min(BLOCK_RECORDS, texts * BLOCK_BYTES // max(size, 1)))


def texts_on_disk(
    pieces: Iterable[pa.LargeStringArray],
) -> tuple[pa.LargeStringArray, tuple[mmap.mmap, ...]]:
    """Return texts that are kept in two files without a name, and these.

    Raises:
        DataError: They cannot be written, or their disk is full.
    """
    count, end = 0, 0
    with (
        scratch_explained(),
        tempfile.TemporaryFile() as ends,
        tempfile.TemporaryFile() as content,
    ):
        ends.write(np.zeros(1, np.int64).data)
        for texts in pieces:
            _, offsets, data = texts.buffers()
            bounds = np.frombuffer(offsets, np.int64)[texts.offset : texts.offset + len(texts) + 1]
            ends.write((bounds[1:] + (end - bounds[0])).data)
            if data is not None:
                content.write(memoryview(data)[int(bounds[0]) : int(bounds[-1])])
            count, end = count + len(texts), end + int(bounds[-1] - bounds[0])
        content.write(b" ")  # no file is empty
        ends.flush()
        content.flush()
        files = tuple(
            mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) for file in (ends, content)
        )
    bounds, data = map(pa.py_buffer, files)
    return pa.LargeStringArray.from_buffers(count, bounds, data.slice(0, end)), files


class CodePieces:
    """The codes of a column as they are read, piece by piece: in memory, or in a file once they are spilled.

    Codes become wider as more values are seen: those in the file are written anew where that has happened.
    """

    def __init__(self) -> None:
        self._pieces: list[Codes] = []
        self._written: list[tuple[int, np.dtype[Any]]] = []
        self._file: Any = None

    def append(self, codes: Codes) -> None:
        """Add the codes of further records."""
        self._pieces.append(codes)

    def spill(self) -> None:
        """Write to the file what is in memory.

        Raises:
            DataError: The file cannot be written, or its disk is full.
        """
        with scratch_explained():
            self._file = self._file or tempfile.TemporaryFile()  # noqa: SIM115 - open until all is read
            for piece in self._pieces:
                self._file.write(piece.data)
                self._written.append((len(piece), piece.dtype))
        self._pieces.clear()

    def joined(self, cardinality: int) -> Codes:
        """Return all codes in the smallest type for so many values, letting go of the pieces."""
        kind = smallest_unsigned(cardinality)
        if self._file is None:
            codes = np.empty(sum(map(len, self._pieces)), kind)
            end = len(codes)
            while self._pieces:
                piece = self._pieces.pop()
                codes[end - len(piece) : end] = piece
                end -= len(piece)
            codes.flags.writeable = False
            return codes
        self.spill()
        with scratch_explained(), self._file as file:
            file.seek(0)
            if all(written == kind for _, written in self._written):
                return np.frombuffer(mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ), kind)
            pieces = (
                np.frombuffer(file.read(number * written.itemsize), written)
                for number, written in self._written
            )
            return on_disk(pieces, kind)


def positions(texts: pa.LargeStringArray, among: pa.LargeStringArray) -> Integers:
    """Return the position of each text among some distinct ones; −1 where it is none of them.

    >>> positions(pa.array(["b", "c"]), pa.array(["a", "b"])).tolist()
    [1, -1]
    """
    return np.asarray(pc.fill_null(pc.index_in(texts, value_set=among), -1)).astype(np.int64)


def no_places(number: int, *, among: int) -> Places:
    """Return room for some places among so many records; nothing has one yet."""
    places: Places = np.full(number, -1, np.int32 if among < 1 << 31 else np.int64)
    return places


def smallest_unsigned(count: int) -> type[np.unsignedinteger[Any]]:
    """Return the smallest unsigned type that holds ``count`` codes.

    >>> smallest_unsigned(256).__name__, smallest_unsigned(257).__name__
    ('uint8', 'uint16')
    """
    for dtype in (np.uint8, np.uint16):
        if count <= np.iinfo(dtype).max + 1:
            return dtype
    return np.uint32
