"""From a file's bytes to blocks of UTF-8 text: decompression, encoding, and where it goes wrong."""

from __future__ import annotations

import codecs
import gzip
import zlib
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import BinaryIO, Protocol

import numpy as np

from glasshouse.errors import DataError

BLOCK_BYTES = 1 << 23
"""So much is read from the file at a time."""

BOMB_RATIO = 500
"""A gzip file that grows by more than this is refused; tables of text grow by 3 to 30."""
BOMB_FLOOR = 1 << 28
"""Below so many bytes no growth is suspicious."""

UTF_8 = "utf-8-sig"
"""UTF-8 with or without a byte-order mark."""
GZIP_MAGIC = b"\x1f\x8b"
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
    """A text file, perhaps compressed, in a known or detected encoding.

    Attributes:
        encoding: The encoding that is used: the one given, or by byte-order mark, or UTF-8.
        size: The file's size on disk, in bytes.
    """

    def __init__(self, path: Path, *, encoding: str | None, name: str) -> None:
        self._path = path
        self._name = name
        self.size = path.stat().st_size
        self.encoding = _codec_name(encoding, name) if encoding else self._detected_encoding()

    def blocks(self) -> Iterator[tuple[bytes, int]]:
        """Yield the text as UTF-8 without byte-order mark, and how far into the file that is.

        Raises:
            DataError: The bytes are not text in this encoding (with the line), or the compressed stream
                is damaged or grows beyond reason.
        """
        decoder: _Decoder = codecs.getincrementaldecoder(self.encoding)()
        line, first = 1, True
        for raw, position in self._raw_blocks():
            decoded = self._decode(decoder, raw, line)
            if first:
                decoded, first = decoded.removeprefix("\ufeff"), False
            block = self._utf8(decoded, line)
            if b"\0" in block:
                raise self._not_text(line + _line_feeds(block[: block.index(b"\0")]))
            line += _line_feeds(block)
            if block:
                yield block, position

    def _decode(self, decoder: _Decoder, raw: bytes, line: int) -> str:
        try:
            return decoder.decode(raw, final=not raw)
        except UnicodeDecodeError as error:
            good = error.object[: error.start].decode(self.encoding, errors="ignore")
            at = line + good.count("\n")
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
                line=str(line),
                encoding=self._encoding_name,
                reason=error,
            ) from None

    def _utf8(self, decoded: str, line: int) -> bytes:
        try:
            return decoded.encode("utf-8")
        except UnicodeEncodeError as error:
            at = line + decoded[: error.start].count("\n")
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

    def _raw_blocks(self) -> Iterator[tuple[bytes, int]]:
        """Yield the decompressed bytes and the position in the file; the last block is empty."""
        with self._path.open("rb") as file, closing(self._stream(file)) as stream:
            grown = 0
            while True:
                try:
                    raw = stream.read(BLOCK_BYTES)
                except (EOFError, gzip.BadGzipFile, zlib.error) as error:
                    raise DataError(
                        "{name}: the gzip stream is damaged or cut short ({reason}); fetch the file again",
                        name=self._name,
                        reason=error,
                    ) from None
                grown += len(raw)
                if grown > max(BOMB_FLOOR, BOMB_RATIO * self.size):
                    raise DataError(
                        "{name}: grows to more than {times} times its size when unpacked; that is no ordinary "
                        "table. Unpack it yourself if you trust it",
                        name=self._name,
                        times=BOMB_RATIO,
                    )
                yield raw, file.tell()
                if not raw:
                    return

    def _stream(self, file: BinaryIO) -> BinaryIO | gzip.GzipFile:
        compressed = file.read(2) == GZIP_MAGIC
        file.seek(0)
        return gzip.GzipFile(fileobj=file) if compressed else file

    def _detected_encoding(self) -> str:
        start, _ = next(self._raw_blocks())
        for mark, encoding in BYTE_ORDER_MARKS:
            if start.startswith(mark):
                return encoding
        return UTF_8


def _line_feeds(block: bytes) -> int:
    return int(np.count_nonzero(np.frombuffer(block, np.uint8) == ord("\n")))


def _codec_name(encoding: str, name: str) -> str:
    try:
        codec = codecs.lookup(encoding)
    except LookupError:
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
