"""From a file's bytes to blocks of UTF-8 text: decompression, encoding, and where it goes wrong."""

from __future__ import annotations

import bz2
import codecs
import gzip
import lzma
import zipfile
import zlib
from collections.abc import Callable, Iterator
from contextlib import closing
from itertools import islice
from pathlib import Path
from typing import IO, Any, Protocol

import numpy as np
import pyarrow as pa

from glasshouse.errors import DataError
from glasshouse.sources.source import Source

BLOCK_BYTES = 1 << 20
"""So much is read from the file at a time: what is looked at several times stays near the processor."""

LONGEST_LINE = 1 << 25
"""A line, or a record of delimited text, that is longer is taken for a fault."""

BOMB_RATIO = 500
"""A compressed file that grows by more than this is refused; tables of text grow by 3 to 30."""
BOMB_FLOOR = 1 << 28
"""Below so many bytes no growth is suspicious."""

UTF_8 = "utf-8-sig"
"""UTF-8 with or without a byte-order mark."""


def _zstandard(file: IO[bytes]) -> Any:
    return pa.CompressedInputStream(pa.PythonFile(file, mode="r"), "zstd")


COMPRESSIONS: dict[bytes, tuple[str, Callable[[IO[bytes]], Any]]] = {
    b"\x1f\x8b": ("gzip", lambda file: gzip.GzipFile(fileobj=file)),
    b"BZh": ("bzip2", bz2.BZ2File),
    b"\xfd7zXZ": ("xz", lzma.LZMAFile),
    b"\x28\xb5\x2f\xfd": ("zstd", _zstandard),
}
"""How a compressed file begins, what it is compressed with, and what unpacks it."""
_DAMAGES = (
    EOFError,
    OSError,  # so say gzip, bzip2 and zstd
    zlib.error,
    lzma.LZMAError,
    zipfile.BadZipFile,
    pa.ArrowException,
)
BYTE_ORDER_MARKS = (
    (codecs.BOM_UTF8, UTF_8),
    (codecs.BOM_UTF32_LE, "utf-32"),
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)


class _Decoder(Protocol):
    def decode(self, data: bytes, final: bool = False) -> str: ...


class TextFile:
    """A text file, perhaps compressed or in an archive, in a known or detected encoding.

    Where no encoding is given it is that of the byte-order mark, else UTF-8. Where there is neither mark nor UTF-8, it
    is the one of Windows (or of DOS, by its letters): the first bytes beyond ASCII decide, all before them being the
    same in every one of these.

    Attributes:
        encoding: The encoding that is used.
        is_assumed: Whether it was concluded from the letters.
        size: The file's size on disk, in bytes.
    """

    def __init__(
        self, path: Path, *, encoding: str | None, name: str, member: str | None = None
    ) -> None:
        self._path = path
        self._member = member
        self._name = name
        self._compression = "ZIP"
        self.size = path.stat().st_size
        self.is_assumed = False
        self._is_open = encoding is None
        self.encoding = _codec_name(encoding, name) if encoding else self._marked_encoding()

    @property
    def is_marked(self) -> bool:
        """Whether it begins with the byte-order mark of UTF-8."""
        first, _ = next(self.raw_blocks(), (b"", 0))
        return first.startswith(codecs.BOM_UTF8)

    def blocks(self) -> Iterator[tuple[bytes, int]]:
        """Yield the text as UTF-8 without byte-order mark, and how far into the file that is.

        Raises:
            DataError: The bytes are not text in this encoding (with the line), or the compressed stream
                is damaged or grows beyond reason.
        """
        done, is_first, rest = 0, True, b""
        decoder: _Decoder | None = None
        for raw, position in self.raw_blocks():
            if self._is_open and not raw.isascii():
                self._settle(raw)
                decoder = None
            if decoder is None:  # what came before is ASCII: no character is cut in two
                decoder = codecs.getincrementaldecoder(self.encoding)()
            if self.encoding == UTF_8:
                block, rest = _whole_characters(rest + raw, is_last=not raw)
                self._check_utf8(block, done)
            else:
                block = self._utf8(self._decode(decoder, raw, done, is_last=not raw), done)
            if is_first and block:  # some programs write two
                block = block.removeprefix(codecs.BOM_UTF8).removeprefix(codecs.BOM_UTF8)
                is_first = False
            if b"\0" in block:
                before = block[: block.index(b"\0")]
                raise self._not_text(self.line_after(done) + before.count(b"\n"))
            if block:
                yield block, position
                done += 1

    def line_after(self, done: int) -> int:
        """Return the number of the line in which so many blocks end: they are read again, to say where a fault is."""
        return 1 + sum(block.count(b"\n") for block, _ in islice(self.blocks(), done))

    def _settle(self, raw: bytes) -> None:
        """Decide on the encoding by the first bytes that are not ASCII."""
        self._is_open = False
        if b"\0" in raw:
            return
        encoding = likely_encoding(raw)
        if encoding is not None:
            self.encoding, self.is_assumed = encoding, True

    def _check_utf8(self, raw: bytes, done: int) -> None:
        if raw.isascii():
            return
        ends = pa.py_buffer(np.array([0, len(raw)], np.int64))
        try:  # Arrow is quick, Python says where the fault is
            pa.LargeStringArray.from_buffers(1, ends, pa.py_buffer(raw)).validate(full=True)
        except pa.ArrowInvalid:
            decoder = codecs.getincrementaldecoder(self.encoding)()
            self._decode(decoder, raw, done, is_last=True)

    def _decode(self, decoder: _Decoder, raw: bytes, done: int, *, is_last: bool) -> str:
        letters = np.frombuffer(raw, np.uint8)
        if self.encoding == _WINDOWS and not (letters & 0xE0 == 0x80).any():
            return raw.decode(_LATIN)  # the same but for those letters, and quicker
        try:
            return decoder.decode(raw, final=is_last)
        except UnicodeDecodeError as error:
            good = error.object[: error.start].decode(self.encoding, errors="ignore")
            at = self.line_after(done) + good.count("\n")
            if b"\0" in raw and self.encoding == UTF_8:
                raise self._not_text(at) from None
            wrong = error.object[error.start]
            raise DataError(
                "{name}, line {line}: byte {byte} is not {encoding} text ({reason}); set the encoding, for "
                "example to {other}",
                name=self._name,
                line=str(at),
                byte=f"0x{wrong:02X}",
                encoding=self._encoding_name,
                reason=error.reason,
                other="latin-1" if self.encoding == UTF_8 else "utf-8",
            ) from None
        except UnicodeError as error:
            raise DataError(
                "{name}, line {line}: is not {encoding} text ({reason}); set the encoding",
                name=self._name,
                line=str(self.line_after(done)),
                encoding=self._encoding_name,
                reason=error,
            ) from None

    def _utf8(self, decoded: str, done: int) -> bytes:
        try:
            return decoded.encode("utf-8")
        except UnicodeEncodeError as error:
            at = self.line_after(done) + decoded[: error.start].count("\n")
            raise DataError(
                "{name}, line {line}: holds half a character; set the encoding (now {encoding})",
                name=self._name,
                line=str(at),
                encoding=self._encoding_name,
            ) from None

    def _not_text(self, line: int) -> DataError:
        return DataError(
            "{name}, line {line}: holds a NUL character, so it is not {encoding} text; if it is UTF-16, set the "
            "encoding to utf-16-le or utf-16-be",
            name=self._name,
            line=str(line),
            encoding=self._encoding_name,
        )

    @property
    def _encoding_name(self) -> str:
        return "utf-8" if self.encoding == UTF_8 else self.encoding

    def raw_blocks(self, size: int | None = None) -> Iterator[tuple[bytes, int]]:
        """Yield the decompressed bytes, so many at a time, and the position in the file; the last block is empty."""
        with self._path.open("rb") as file, closing(self._stream(file)) as stream:
            grown = 0
            while True:
                try:
                    raw = stream.read(size or BLOCK_BYTES)
                except _DAMAGES as error:
                    raise DataError(
                        "{name}: the {kind} stream is damaged or cut short ({reason}); fetch the file again",
                        name=self._name,
                        kind=self._compression,
                        reason=str(error).splitlines()[0] if str(error) else type(error).__name__,
                    ) from None
                grown += len(raw)
                if grown > max(BOMB_FLOOR, BOMB_RATIO * self.size):
                    raise DataError(
                        "{name}: grows to more than {times} times its size when unpacked; that is not an ordinary "
                        "table. "
                        "Unpack it yourself if you trust it",
                        name=self._name,
                        times=BOMB_RATIO,
                    )
                yield raw, file.tell()
                if not raw:
                    return

    def _stream(self, file: IO[bytes]) -> Any:
        if self._member is not None:
            return zipfile.ZipFile(file).open(self._member)
        start = file.read(8)
        file.seek(0)
        for magic, (kind, unpack) in COMPRESSIONS.items():
            if start.startswith(magic):
                self._compression = kind
                return unpack(file)
        return file

    def _marked_encoding(self) -> str:
        start, _ = next(self.raw_blocks(4))
        for mark, encoding in BYTE_ORDER_MARKS:
            if start.startswith(mark):
                self._is_open = False
                return encoding
        return UTF_8


class TextSource(Source):
    """A source that is text."""

    _text: TextFile

    @property
    def assumed_encoding(self) -> str | None:
        """The encoding that was concluded from the letters."""
        return self._text.encoding if self._text.is_assumed else None


_WINDOWS, _DOS, _LATIN = "cp1252", "cp850", "latin-1"
_WINDOWS_LETTERS = frozenset(
    "áàâãäéèêëíìîïóòôõöúùûüçñÁÀÂÃÄÉÈÊËÍÌÎÏÓÒÔÕÖÚÙÛÜÇÑßåÅæÆøØªº°".encode(_WINDOWS)
)
_DOS_LETTERS = frozenset("áàâãäéèêëíìîïóòôõöúùûüçñÁÀÂÃÄÉÈÊËÍÌÎÏÓÒÔÕÖÚÙÛÜÇÑßåÅæÆøØªº°".encode(_DOS))


def likely_encoding(raw: bytes) -> str | None:
    """Return what encoding of one byte a text is in by its letters; none if it is UTF-8.

    >>> likely_encoding("São Paulo".encode("utf-8")), likely_encoding("São Paulo".encode("latin-1"))
    (None, 'cp1252')
    >>> likely_encoding("São Paulo é município".encode("cp850"))
    'cp850'
    """
    try:
        codecs.getincrementaldecoder("utf-8")().decode(raw)
    except UnicodeDecodeError:
        counts = np.bincount(np.frombuffer(raw, np.uint8), minlength=256)
        decoded = raw.decode("utf-8", errors="replace")
        foreign = len(decoded) - int(counts[:128].sum())
        if 2 * decoded.count("\ufffd") < foreign:  # UTF-8 with a fault in it, which is to be told
            return None
        windows, dos = (
            int(counts[list(letters)].sum()) for letters in (_WINDOWS_LETTERS, _DOS_LETTERS)
        )
        if dos > windows:
            return _DOS
        undefined = int(counts[[0x81, 0x8D, 0x8F, 0x90, 0x9D]].sum())
        return _LATIN if undefined else _WINDOWS
    return None


def _whole_characters(raw: bytes, *, is_last: bool) -> tuple[bytes, bytes]:
    """Part UTF-8 from a character at its end that is cut in two."""
    for length in range(1, min(len(raw), 3) + 1):
        byte = raw[-length]
        if byte >= 0xC0 and not is_last:  # here a character begins, of two to four bytes
            is_cut = length < 2 + (byte >= 0xE0) + (byte >= 0xF0)
            return (raw[:-length], raw[-length:]) if is_cut else (raw, b"")
        if byte < 0x80:
            break
    return raw, b""


def _codec_name(encoding: str, name: str) -> str:
    try:
        codec = codecs.lookup(encoding)
    except (LookupError, ValueError):  # no such one, or no name of one
        raise DataError(
            '{name}: "{encoding}" is not an encoding; use for example utf-8, latin-1, cp1252 or utf-16',
            name=name,
            encoding=encoding,
        ) from None
    try:
        "a".encode(encoding)
    except LookupError:
        raise DataError(
            '{name}: "{encoding}" is not an encoding of text', name=name, encoding=encoding
        ) from None
    except UnicodeError:
        pass  # it is one that does not have this letter
    return UTF_8 if codec.name == "utf-8" else codec.name
