"""Opening a file by what it begins with, or a frame in memory."""

from __future__ import annotations

from os import PathLike
from pathlib import Path

from glasshouse.errors import DataError, StudyError
from glasshouse.language import marked
from glasshouse.sources.columnar import ArrowFile, ParquetFile
from glasshouse.sources.delimited import DelimitedFile
from glasshouse.sources.files import display_name, existing_file
from glasshouse.sources.frames import Frame, is_frame
from glasshouse.sources.source import Source
from glasshouse.study import Dialect

UNNAMED = "the frame"
"""What results call a frame that was given no name: the same in every language."""
PARQUET_MAGIC = b"PAR1"
ARROW_MAGIC = b"ARROW1"
REFUSED_MAGIC = {
    b"PK\x03\x04": marked(
        "{name}: is a ZIP archive or an Excel workbook; unpack it, or save the sheet as CSV"
    ),
    b"BZh": marked("{name}: is compressed with bzip2; unpack it, or compress it with gzip"),
    b"\xfd7zXZ": marked("{name}: is compressed with xz; unpack it, or compress it with gzip"),
    b"\x28\xb5\x2f\xfd": marked(
        "{name}: is compressed with zstd; unpack it, or compress it with gzip"
    ),
    b"SQLite format 3": marked("{name}: is an SQLite database; export the table as CSV or Parquet"),
    b"%PDF": marked("{name}: is a PDF document; export the table as CSV or Parquet"),
    b"FEA1": marked(
        "{name}: is a Feather file of the first version; write it again as Parquet or Arrow"
    ),
    b"\xff\xff\xff\xff": marked(
        "{name}: is an Arrow stream; write it as an Arrow file or as Parquet"
    ),
}
"""What a file that is no table begins with, and what is said of it."""


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
        refuse_dialect(dialect, name or UNNAMED)
        return Frame(data, name=name or UNNAMED)
    raise DataError(
        "cannot read a {kind}; give a path, or a frame of pandas, Polars, Arrow or DuckDB",
        kind=type(data).__name__,
    )


def refuse_dialect(dialect: Dialect | None, name: str) -> None:
    """Make sure that nobody says how delimited text is written where there is none.

    Raises:
        StudyError: A dialect is given, be it only a part of one; blanks may be stripped anywhere.
    """
    if dialect is not None and dialect.model_copy(update={"strip": False}) != Dialect():
        raise StudyError(
            "{name}: is not delimited text: separator, quote, encoding, header and names do not apply; leave them "
            "out",
            name=name,
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
    for magic, refusal in REFUSED_MAGIC.items():
        if start.startswith(magic):
            raise DataError(refusal, name=name)
    return DelimitedFile(path, dialect=dialect or Dialect(), name=name)
