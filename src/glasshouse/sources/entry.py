"""Opening a file by what it begins with, several files as one table, or a frame in memory."""

from __future__ import annotations

import zipfile
from enum import StrEnum
from os import PathLike
from pathlib import Path

from glasshouse.errors import DataError, StudyError
from glasshouse.language import marked
from glasshouse.sources.archives import ZIP_MAGIC, Packed, Unpacked
from glasshouse.sources.columnar import ArrowFile, OrcFile, ParquetFile
from glasshouse.sources.databases import (
    DUCKDB_MAGIC,
    SQLITE_MAGIC,
    DuckdbTable,
    PostgresTable,
    SqliteTable,
)
from glasshouse.sources.dbase import DbaseFile, is_dbf
from glasshouse.sources.delimited import DelimitedFile
from glasshouse.sources.files import display_name, existing_file, table_files
from glasshouse.sources.folders import DELTA_LOG, DeltaTable, Parts
from glasshouse.sources.frames import Frame, is_frame
from glasshouse.sources.json_lines import JsonLines, is_json_lines
from glasshouse.sources.source import Source
from glasshouse.sources.spreadsheets import Sheet
from glasshouse.sources.statistical import StatisticalFile
from glasshouse.study import Dialect, address_of

UNNAMED = "the frame"
"""What results call a frame that was given no name: the same in every language."""
REFUSED_MAGIC = {
    b"%PDF": marked("{name}: is a PDF document; export the table as CSV or Parquet"),
    b"FEA1": marked(
        "{name}: is a Feather file of the first version; write it again as Parquet or Arrow"
    ),
    b"\xff\xff\xff\xff": marked(
        "{name}: is an Arrow stream; write it as an Arrow file or as Parquet"
    ),
    b"7z\xbc\xaf\x27\x1c": marked("{name}: is a 7-Zip archive; unpack it"),
    b"Rar!": marked("{name}: is a RAR archive; unpack it"),
}
"""What a file that is no table begins with, and what is said of it."""
_START = 1 << 16
"""So many bytes tell what a file is."""


class FileKind(StrEnum):
    """What a file can be; the statistical ones are called as what reads them."""

    DELIMITED = "delimited"
    JSON_LINES = "json lines"
    PARQUET = "parquet"
    ARROW = "arrow"
    ORC = "orc"
    SHEET = "sheet"
    DBASE = "dbase"
    SQLITE = "sqlite"
    DUCKDB = "duckdb"
    SPSS = "read_sav"
    SPSS_PORTABLE = "read_por"
    STATA = "read_dta"
    SAS = "read_sas7bdat"
    SAS_TRANSPORT = "read_xport"


_MAGIC = {
    b"PAR1": FileKind.PARQUET,
    b"ARROW1": FileKind.ARROW,
    b"ORC": FileKind.ORC,
    SQLITE_MAGIC: FileKind.SQLITE,
    b"$FL2": FileKind.SPSS,
    b"$FL3": FileKind.SPSS,
    b"<stata_dta>": FileKind.STATA,
    b"HEADER RECORD*******LIB": FileKind.SAS_TRANSPORT,
    bytes(12) + b"\xc2\xea\x81\x60\xb3\x14\x11\xcf": FileKind.SAS,
}
"""How files of each kind begin."""
_OLE_MAGIC = b"\xd0\xcf\x11\xe0"
_WORKBOOK_PARTS = frozenset({"xl/workbook.xml", "xl/workbook.bin", "content.xml"})
_STATA_VERSIONS = [bytes([version]) for version in (104, 105, 108, *range(110, 116))]
_JSON_SUFFIXES = (".json", ".jsonl", ".ndjson")
EVERYWHERE = frozenset({"strip", "decimal", "thousands", "strict"})
"""What may be said of any file: how the text in it is to be understood."""
_TEXTS = (FileKind.DELIMITED, FileKind.JSON_LINES)
_MEANINGFUL = {
    FileKind.DELIMITED: frozenset(
        {"separator", "quote", "encoding", "header", "names", "member", "skip", "skip_end"}
    ),
    FileKind.JSON_LINES: frozenset({"encoding", "member"}),
    FileKind.SHEET: frozenset({"sheet", "header", "names"}),
    FileKind.SQLITE: frozenset({"table"}),
    FileKind.DUCKDB: frozenset({"table"}),
} | {
    kind: frozenset({"encoding"})
    for kind in (
        FileKind.DBASE,
        FileKind.SPSS,
        FileKind.SPSS_PORTABLE,
        FileKind.STATA,
        FileKind.SAS,
        FileKind.SAS_TRANSPORT,
    )
}
"""What a dialect can say of each kind of file beside that."""


def open_source(data: object, *, dialect: Dialect | None = None, name: str | None = None) -> Source:
    """Open a file by its content, a folder of files, or a frame in memory.

    Args:
        data: A path to a file of any kind that is known, to a folder of them or with wildcards; or a frame of pandas,
            Polars, Arrow or a DuckDB relation: anything that speaks the Arrow stream protocol.
        dialect: How it is written down, as far as that is not in the file itself.
        name: What messages and results call it; by default the file's own name.

    Raises:
        DataError: There is no such file, or it is not of a kind that can be read.
        StudyError: The dialect says something that has no meaning for this kind of file.
    """
    if isinstance(data, str) and (address := address_of(data)):
        refuse_dialect(dialect, UNNAMED, meaningful=EVERYWHERE | {"table", "query"})
        table, query = (dialect.table, dialect.query) if dialect else (None, None)
        if bool(table) == bool(query):
            raise StudyError("say what to read from the database: either `table` or `query`")
        if address.startswith("jdbc:"):
            raise StudyError("databases are read by JDBC on Spark only; say `engine` spark")
        return PostgresTable(address, table=table, query=query, name=name or table or "query")
    if isinstance(data, str | PathLike):
        return _open_path(Path(data), dialect or Dialect(), name)
    if is_on_spark(data):
        raise StudyError(
            "data on Spark stay there: one frame is assessed by assess(); for anything else fetch it first, as "
            "frame.toArrow()"
        )
    if is_frame(data):
        refuse_dialect(dialect, name or UNNAMED)
        return Frame(data, name=name or UNNAMED)
    raise DataError(
        "cannot read a {kind}; give a path, or a frame of pandas, Polars, Arrow or DuckDB",
        kind=type(data).__name__,
    )


def is_on_spark(data: object) -> bool:
    """Tell whether data are a frame of Spark, or a table that was made of one; Spark is not imported for it."""
    return type(data).__module__.startswith(("pyspark.", "glasshouse.engines.spark."))


def refuse_dialect(
    dialect: Dialect | None, name: str, *, meaningful: frozenset[str] = EVERYWHERE
) -> None:
    """Make sure that nothing is said of how a file is written that has no meaning for its kind.

    Raises:
        StudyError: Something is.
    """
    if dialect is None:
        return
    default = Dialect()
    fields = Dialect.model_fields
    useless = [
        field
        for field in fields
        if field not in meaningful and getattr(dialect, field) != getattr(default, field)
    ]
    if not useless:
        return
    if useless[0] in ("sheet", "member", "table", "query", "skip", "skip_end"):
        raise StudyError(
            "{name}: `{setting}` has no meaning for a file of this kind; leave it out",
            name=name,
            setting=useless[0],
        )
    raise StudyError(
        "{name}: is not delimited text: separator, quote, encoding, header and names do not apply; leave them out",
        name=name,
    )


def _open_path(path: Path, dialect: Dialect, name: str | None) -> Source:
    name = name or display_name(path)
    if (path / DELTA_LOG).is_dir():
        refuse_dialect(dialect, name)
        return DeltaTable(path, name=name)
    files, top = table_files(path)
    if files in ([path], []):
        return _open_file(path, dialect, name)

    def opened(part: Path) -> Source:
        return _open_file(part, dialect, display_name(part))

    return Parts(files, top=top, name=name, opened=opened)


def _open_file(path: Path, dialect: Dialect, name: str) -> Source:
    """Open a file by what it begins with, or what is packed in it does."""
    existing_file(path)
    with path.open("rb") as file:
        start = file.read(_START)
    if _is_workbook(path, start):
        return _opened(FileKind.SHEET, path, dialect, name)
    packed = Packed.of(path, start, dialect.member, name)
    if packed is None:
        return _opened(_kind(start, path, name), path, dialect, name)
    kind = _kind(packed.start(_START), Path(packed.member or path.stem), name)
    if kind in _TEXTS:
        return _opened(kind, path, dialect, name, packed.member)
    rest = dialect.model_copy(update={"member": None})
    return Unpacked(packed, lambda unpacked: _opened(kind, unpacked, rest, name))


def _opened(
    kind: FileKind, path: Path, dialect: Dialect, name: str, member: str | None = None
) -> Source:
    """Open a file of which it is known what it is; what reads it is imported now."""
    refuse_dialect(dialect, name, meaningful=_MEANINGFUL.get(kind, frozenset()) | EVERYWHERE)
    if dialect.strict and dialect.encoding is None and kind in _TEXTS:
        dialect = dialect.model_copy(update={"encoding": "utf-8"})
    match kind:
        case FileKind.DELIMITED:
            return DelimitedFile(path, dialect=dialect, name=name, member=member)
        case FileKind.JSON_LINES:
            return JsonLines(path, encoding=dialect.encoding, name=name, member=member)
        case FileKind.PARQUET:
            return ParquetFile(path, name=name)
        case FileKind.ARROW:
            return ArrowFile(path, name=name)
        case FileKind.ORC:
            return OrcFile(path, name=name)
        case FileKind.SHEET:
            return Sheet(path, dialect=dialect, name=name)
        case FileKind.DBASE:
            return DbaseFile(path, encoding=dialect.encoding, name=name)
        case FileKind.SQLITE:
            return SqliteTable(path, table=dialect.table, name=name)
        case FileKind.DUCKDB:
            return DuckdbTable(path, table=dialect.table, name=name)
    return StatisticalFile(path, reader=kind.value, encoding=dialect.encoding, name=name)


def _kind(start: bytes, path: Path, name: str) -> FileKind:
    """Return what a file that begins so is.

    Raises:
        DataError: It is something that holds no table, or none that can be read.
    """
    for magic, refusal in REFUSED_MAGIC.items():
        if start.startswith(magic):
            raise DataError(refusal, name=name)
    for magic, kind in _MAGIC.items():
        if start.startswith(magic):
            return kind
    if start[8:12] == DUCKDB_MAGIC:
        return FileKind.DUCKDB
    if b"SPSSPORT" in start:
        return FileKind.SPSS_PORTABLE
    if start[:1] in _STATA_VERSIONS and start[1:2] in (b"\1", b"\2") and start[2:3] == b"\1":
        return FileKind.STATA
    if is_dbf(start):
        return FileKind.DBASE
    is_text = path.suffix.lower() in _JSON_SUFFIXES and start.lstrip()[:1] == b"{"
    return FileKind.JSON_LINES if is_text or is_json_lines(start) else FileKind.DELIMITED


def _is_workbook(path: Path, start: bytes) -> bool:
    if start.startswith(_OLE_MAGIC):
        return True
    if not start.startswith(ZIP_MAGIC) or not zipfile.is_zipfile(path):
        return False
    with zipfile.ZipFile(path) as archive:
        return not _WORKBOOK_PARTS.isdisjoint(archive.namelist())
