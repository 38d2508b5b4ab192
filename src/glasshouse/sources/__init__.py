"""The only folder that opens users' files: everything becomes batches of text columns.

`open_source` takes a path or a frame in memory and returns a `Source`; whatever stands behind it, the
table above sees the same thing: names, and Arrow batches of text in which missing is the empty value.
"""

from __future__ import annotations

from os import PathLike
from pathlib import Path

from glasshouse.errors import DataError, StudyError
from glasshouse.sources.columnar import ArrowFile, ParquetFile
from glasshouse.sources.delimited import DelimitedFile
from glasshouse.sources.files import display_name, existing_file
from glasshouse.sources.frames import Frame, is_frame
from glasshouse.sources.source import MISSING, OnProgress, Source
from glasshouse.study import Dialect

__all__ = [
    "MISSING",
    "OnProgress",
    "Source",
    "display_name",
    "existing_file",
    "open_source",
    "refuse_dialect",
]

PARQUET_MAGIC = b"PAR1"
ARROW_MAGIC = b"ARROW1"
REFUSED_MAGIC = {
    b"PK\x03\x04": "a ZIP archive or an Excel workbook; unpack it, or save the sheet as CSV",
    b"BZh": "compressed with bzip2; unpack it, or compress it with gzip",
    b"\xfd7zXZ": "compressed with xz; unpack it, or compress it with gzip",
    b"\x28\xb5\x2f\xfd": "compressed with zstd; unpack it, or compress it with gzip",
    b"SQLite format 3": "an SQLite database; export the table as CSV or Parquet",
    b"%PDF": "a PDF document; export the table as CSV or Parquet",
    b"FEA1": "a Feather file of the first version; write it again as Parquet or Arrow",
    b"\xff\xff\xff\xff": "an Arrow stream; write it as an Arrow file or as Parquet",
}


def open_source(data: object, *, dialect: Dialect | None = None, name: str | None = None) -> Source:
    """Open a file by its content, or a frame in memory.

    Args:
        data: A path, or a frame of pandas, Polars, Arrow or a DuckDB relation: anything that speaks the
            Arrow stream protocol.
        dialect: How a delimited text file is written down; meaningless for anything else.
        name: What messages and results call it; by default the file's own name.

    Raises:
        DataError: There is no such file, or it is not of a kind that can be read.
    """
    if isinstance(data, str | PathLike):
        return _open_file(existing_file(Path(data)), dialect, name)
    if is_frame(data):
        refuse_dialect(dialect, name or "the frame")
        return Frame(data, name=name or "the frame")
    raise DataError(
        f"cannot read a {type(data).__name__}; give a path, or a frame of pandas, Polars, Arrow or DuckDB"
    )


def refuse_dialect(dialect: Dialect | None, name: str) -> None:
    """Make sure that nobody says how delimited text is written where there is none.

    Raises:
        StudyError: A dialect is given, be it only a part of one; blanks may be stripped anywhere.
    """
    if dialect is not None and dialect.model_copy(update={"strip": False}) != Dialect():
        raise StudyError(
            f"{name}: is not delimited text: separator, quote, encoding, header and names do not apply; leave them out"
        )


def _open_file(path: Path, dialect: Dialect | None, name: str | None) -> Source:
    name = name or display_name(path)
    with path.open("rb") as file:
        start = file.read(16)
    if start.startswith((PARQUET_MAGIC, ARROW_MAGIC)):
        refuse_dialect(dialect, name)
    if start.startswith(PARQUET_MAGIC):
        return ParquetFile(path, name=name)
    if start.startswith(ARROW_MAGIC):
        return ArrowFile(path, name=name)
    for magic, reason in REFUSED_MAGIC.items():
        if start.startswith(magic):
            raise DataError(f"{name}: is {reason}")
    return DelimitedFile(path, dialect=dialect or Dialect(), name=name)
