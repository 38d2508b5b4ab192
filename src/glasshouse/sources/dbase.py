"""DBF, the tables of dBase and of half the public sector, and DBC, DATASUS' compressed form of it.

A DBF file is a header that says how wide each field is, and records of that width: whole columns are cut out of a block
at once. Records that are marked as deleted are no records.
"""

from __future__ import annotations

import codecs
import struct
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from io import BytesIO
from pathlib import Path
from typing import IO

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from glasshouse.errors import DataError
from glasshouse.language import quoted
from glasshouse.progress import OnProgress, Progress
from glasshouse.sources.columnar import refuse_bomb
from glasshouse.sources.source import (
    BATCH_RECORDS,
    MISSING,
    Source,
    check_columns,
    damage_error,
    moment_text,
    reader_of,
)
from glasshouse.sources.text import likely_encoding

DELETED = b"*"
_FLAGS = (b" ", DELETED, b"\x1a", b"")
"""What stands before a record, or where none follows."""
VERSIONS = frozenset(b"\x02\x03\x04\x05\x30\x31\x32\x43\x63\x83\x8b\x8c\xcb\xf5\xfb")
"""What a DBF file of some program begins with."""
CODE_PAGES = {
    0x01: "cp437",
    0x02: "cp850",
    0x03: "cp1252",
    0x57: "cp1252",
    0x58: "cp1252",
    0x59: "cp1252",
    0x64: "cp852",
    0x65: "cp866",
    0xC8: "cp1250",
    0xC9: "cp1251",
}
"""What the header's byte on the language means."""
_TEXTS, _NUMBERS = "CV", "NF"


@dataclass(frozen=True)
class _Field:
    """Where a field stands in a record, and what it holds."""

    name: str
    kind: str
    start: int
    width: int


@dataclass(frozen=True)
class _Header:
    """What the beginning of a file says of it."""

    records: int
    length: int
    width: int
    language: int
    fields: tuple[_Field, ...]


def is_dbf(start: bytes) -> bool:
    """Tell whether a file that begins so is a DBF or DBC file."""
    if len(start) < 32 or start[0] not in VERSIONS:
        return False
    length, width = struct.unpack_from("<HH", start, 8)
    return bool(
        1 <= start[2] <= 12
        and 1 <= start[3] <= 31
        and length >= 33
        and length % 32 < 9
        and width > 1
    )


class DbaseFile(Source):
    """A DBF or DBC file as a source."""

    def __init__(self, path: Path, *, encoding: str | None, name: str) -> None:
        self._path = path
        self._name = name
        with path.open("rb") as file:
            self._header = _header(file, name)
            file.seek(self._header.length)
            first = file.read(1)
        whole = self._header.length + self._header.records * self._header.width
        self._is_compressed = path.suffix.lower() == ".dbc" or first not in _FLAGS
        if self._is_compressed:
            refuse_bomb(self._header.records, whole, path.stat().st_size, name)
        self._encoding = encoding or self._announced_encoding()
        self._likely: str | None = None
        super().__init__(name, [field.name for field in self._header.fields])

    def _announced_encoding(self) -> str | None:
        """Return the encoding that the file beside it, or the header, speaks of."""
        beside = self._path.with_suffix(".cpg")
        if beside.is_file():
            try:
                return codecs.lookup(beside.read_text("ascii").strip()).name
            except (LookupError, UnicodeDecodeError):
                pass  # it names an encoding in a way of its own
        return CODE_PAGES.get(self._header.language)

    @property
    def assumed_encoding(self) -> str | None:
        """The encoding that was concluded from the letters."""
        return self._likely

    def coded_batches(
        self, columns: Sequence[str], *, on_progress: OnProgress | None = None
    ) -> Iterator[pa.RecordBatch]:
        """Yield the named columns as text."""
        check_columns(self, columns)
        fields = [next(f for f in self._header.fields if f.name == column) for column in columns]
        width, done = self._header.width, 0
        with self._content() as file:
            file.seek(self._header.length)
            while done < self._header.records:
                count = min(BATCH_RECORDS, self._header.records - done)
                block = file.read(count * width)
                if len(block) < count * width:
                    raise DataError(
                        "{name}: holds {found} records where it announces {announced}; it is damaged",
                        name=self._name,
                        found=done + len(block) // width,
                        announced=self._header.records,
                    )
                records = np.frombuffer(block, np.uint8).reshape(count, width)
                records = records[records[:, 0] != DELETED[0]]
                arrays = [self._column(records, field) for field in fields]
                done += count
                if len(records):
                    yield pa.record_batch(arrays, names=list(columns))
                if on_progress:
                    on_progress(Progress("reading", done, self._header.records))

    def _content(self) -> IO[bytes]:
        """Open the table, unpacked."""
        if not self._is_compressed:
            return self._path.open("rb")
        library = reader_of("datasus_dbc", name=self._name, kind="DBC", extra="formats")
        try:
            return BytesIO(library.decompress_bytes(self._path.read_bytes()))
        except Exception as error:  # the library has no error of its own
            raise damage_error(self._name, "DBC", error) from None

    def _column(self, records: NDArray[np.uint8], field: _Field) -> pa.Array:
        """Return one field of all records as text."""
        cells = np.ascontiguousarray(records[:, field.start : field.start + field.width])
        if field.kind in "IO+B@T":
            return _binary(cells, field)
        texts = self._decoded(cells)
        if field.kind in _TEXTS:
            return pc.utf8_rtrim(texts, " \0")
        texts = pc.utf8_trim(texts, " \0")
        if field.kind == "D":
            return pc.replace_substring_regex(texts, r"^(\d{4})(\d{2})(\d{2})$", r"\1-\2-\3")
        if field.kind == "L":
            return _logical(texts)
        if field.kind in _NUMBERS:  # asterisks stand for what did not fit
            return pc.if_else(pc.match_substring(texts, "*"), MISSING, texts)
        raise DataError(
            "{name}: column {column} holds memos or pictures, which stand in another file; leave it out",
            name=self._name,
            column=quoted([field.name]),
        )

    def _decoded(self, cells: NDArray[np.uint8]) -> pa.Array:
        """Return cells as text in the encoding that was given, announced, or is likely."""
        count, width = cells.shape
        raw = cells.tobytes()
        if raw.isascii():
            offsets = np.arange(0, (count + 1) * width, width, dtype=np.int32)
            return pa.StringArray.from_buffers(count, pa.py_buffer(offsets), pa.py_buffer(raw))
        if self._encoding is None:
            self._encoding = self._likely = likely_encoding(raw) or "utf-8"
        try:
            whole = raw.decode(self._encoding)
            if len(whole) == len(raw):  # a byte a letter
                return pa.array(np.frombuffer(whole.encode("utf-32-le"), f"<U{width}"))
            return pa.array(
                [raw[at : at + width].decode(self._encoding) for at in range(0, len(raw), width)]
            )
        except UnicodeDecodeError as error:
            raise DataError(
                "{name}: holds what is not {encoding} text ({reason}); set the encoding, for example to {other}",
                name=self._name,
                encoding=self._encoding,
                reason=error.reason,
                other="latin-1",
            ) from None


def _header(file: IO[bytes], name: str) -> _Header:
    start = file.read(32)
    records, length, width = struct.unpack_from("<IHH", start, 4)
    fields, at = [], 1
    while len(descriptor := file.read(32)) == 32 and descriptor[0] not in (0x0D, 0x00):
        label = descriptor[:11].split(b"\0")[0].decode("latin-1").strip()
        kind, size = chr(descriptor[11]), descriptor[16]
        if kind == "C":
            size += descriptor[17] << 8
        if kind != "0":  # flags of the program itself
            fields.append(_Field(label, kind, at, size))
        at += size
        if file.tell() >= length:
            break
    if at != width or not fields:
        raise DataError(
            "{name}: is not a readable {kind} file ({reason}); write it again",
            name=name,
            kind="DBF",
            reason=f"{width} ≠ {at}",
        )
    return _Header(records, length, width, start[29], tuple(fields))


def _binary(cells: NDArray[np.uint8], field: _Field) -> pa.Array:
    """Return whole and floating numbers and moments that are stored as such."""
    raw = cells.tobytes()
    if field.width == 4:
        return pa.array(np.frombuffer(raw, "<i4")).cast(pa.string())
    if field.kind in "T@":
        days, milliseconds = np.frombuffer(raw, "<i4").reshape(-1, 2).T.astype(np.int64)
        moments = (days - _JULIAN_1970) * 86_400_000 + milliseconds
        times = pa.array(moments, pa.timestamp("ms"), mask=days == 0)
        return moment_text(times).fill_null(MISSING)
    return pa.array(np.frombuffer(raw, "<f8")).cast(pa.string())


_JULIAN_1970 = 2_440_588


def _logical(texts: pa.Array) -> pa.Array:
    yes = pc.is_in(texts, pa.array(list("TtYySs")))
    no = pc.is_in(texts, pa.array(list("FfNn")))
    return pc.case_when(pc.make_struct(yes, no), "True", "False", MISSING)
