"""Tables in databases: SQLite and DuckDB files, and PostgreSQL servers. Nothing is ever written to them.

A value is text by the same rules as in files. PostgreSQL casts every column to text itself, in a transaction that can
only read, sees one state of the table, and does not run for ever; its password is in no message.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pyarrow as pa

from glasshouse.errors import DataError, StudyError
from glasshouse.language import quoted, unknown_name
from glasshouse.progress import OnProgress, Progress
from glasshouse.sources.source import (
    BATCH_RECORDS,
    Source,
    as_text,
    check_columns,
    damage_error,
    reader_of,
    text_batches,
    values_text,
)
from glasshouse.study import Address

SQLITE_MAGIC = b"SQLite format 3\0"
DUCKDB_MAGIC = b"DUCK"
"""It stands behind the checksum, at the ninth byte."""
_ROWS = 1 << 16


class SqliteTable(Source):
    """A table or view of an SQLite file as a source."""

    def __init__(self, path: Path, *, table: str | None, name: str) -> None:
        self._path = path
        self._name = name
        _refuse_cut_short(path, name)
        try:
            with self._opened() as database:
                tables = [
                    row[0]
                    for row in database.execute(
                        "select name from sqlite_schema where type in ('table', 'view') "
                        "and name not like 'sqlite_%' order by name"
                    )
                ]
                self._table = chosen_table(table, tables, name)
                cursor = database.execute(_select("*", self._table) + " limit 0")
                columns = [entry[0] for entry in cursor.description]
        except sqlite3.Error as error:
            raise damage_error(name, "SQLite", error) from None
        super().__init__(name, columns)

    def _opened(self) -> sqlite3.Connection:
        address = f"{self._path.absolute().as_uri()}?mode=ro"
        return sqlite3.connect(address, uri=True)

    def coded_batches(
        self, columns: Sequence[str], *, on_progress: OnProgress | None = None
    ) -> Iterator[pa.RecordBatch]:
        """Yield the named columns as text, whatever SQLite holds in each of their cells."""
        check_columns(self, columns)
        values = ", ".join(map(_identifier, columns))
        try:
            with self._opened() as database:
                expected = database.execute(_select("count(*)", self._table)).fetchall()[0][0]
                cursor = database.execute(_select(values, self._table))
                yield from text_batches(
                    _blocks(cursor, columns),
                    expected=expected,
                    name=self._name,
                    kind="SQLite",
                    on_progress=on_progress,
                )
        except sqlite3.Error as error:
            raise damage_error(self._name, "SQLite", error) from None


def _refuse_cut_short(path: Path, name: str) -> None:
    """Make sure that an SQLite file has all the pages that it announces: SQLite itself may not notice.

    Raises:
        DataError: It has not.
    """
    with path.open("rb") as file:
        header = file.read(100)
    size, pages, change, valid_for = (
        int.from_bytes(header[start:end], "big")
        for start, end in ((16, 18), (28, 32), (24, 28), (92, 96))
    )
    whole = (65536 if size == 1 else size) * pages
    if len(header) < 100 or (change == valid_for and path.stat().st_size < whole):
        raise DataError("{name}: is cut short; fetch the file again", name=name)


def _blocks(cursor: Any, columns: Sequence[str]) -> Iterator[pa.RecordBatch]:
    while rows := cursor.fetchmany(_ROWS):
        arrays = [values_text(values) for values in zip(*rows, strict=True)]
        yield pa.record_batch(arrays, names=list(columns))


class DuckdbTable(Source):
    """A table or view of a DuckDB file as a source."""

    def __init__(self, path: Path, *, table: str | None, name: str) -> None:
        self._library = reader_of("duckdb", name=name, kind="DuckDB", extra="formats")
        self._path = path
        self._name = name
        try:
            with self._opened() as database:
                catalogue = "select table_name from information_schema.tables order by 1"
                tables = [row[0] for row in database.execute(catalogue).fetchall()]
                self._table = chosen_table(table, tables, name)
                columns = database.table(_identifier(self._table)).columns
        except self._library.Error as error:
            raise damage_error(name, "DuckDB", error) from None
        super().__init__(name, columns)

    def _opened(self) -> Any:
        settings = {"autoinstall_known_extensions": "false", "enable_external_access": "false"}
        return self._library.connect(str(self._path.absolute()), read_only=True, config=settings)

    def coded_batches(
        self, columns: Sequence[str], *, on_progress: OnProgress | None = None
    ) -> Iterator[pa.RecordBatch]:
        """Yield the named columns as text."""
        check_columns(self, columns)
        values = ", ".join(map(_identifier, columns))
        try:
            with self._opened() as database:
                expected = database.execute(_select("count(*)", self._table)).fetchall()[0][0]
                query = database.sql(_select(values, self._table))
                yield from text_batches(
                    query.to_arrow_reader(BATCH_RECORDS),
                    expected=expected,
                    name=self._name,
                    kind="DuckDB",
                    on_progress=on_progress,
                )
        except self._library.Error as error:
            raise damage_error(self._name, "DuckDB", error) from None


class PostgresTable(Source):
    """A table, a view or a query of a PostgreSQL server as a source."""

    def __init__(
        self, address: Address, *, table: str | None, query: str | None, name: str
    ) -> None:
        self._dbapi = reader_of(
            "adbc_driver_postgresql.dbapi", name=name, kind="PostgreSQL", extra="postgres"
        )
        self._name = name
        self._address = f"{address}{'&' if '?' in address else '?'}options={quote(_READ_ONLY)}"
        parts = (table or "").split(".")
        self._from = (
            f"({query.rstrip().rstrip(';')}) as query"
            if query
            else ".".join(map(_identifier, parts))
        )
        with self._answered(f"select * from {self._from} limit 0") as reader:  # noqa: S608
            self._schema: pa.Schema = reader.schema
        super().__init__(name, self._schema.names)

    def coded_batches(
        self, columns: Sequence[str], *, on_progress: OnProgress | None = None
    ) -> Iterator[pa.RecordBatch]:
        """Yield the named columns as text, cast by the server."""
        check_columns(self, columns)
        values = ", ".join(self._text(column) for column in columns)
        done = 0
        with self._answered(f"select {values} from {self._from}") as reader:  # noqa: S608
            for batch in reader:
                yield as_text(batch.rename_columns(list(columns)), where=self._name)
                done += batch.num_rows
                if on_progress:
                    on_progress(Progress("reading", done, done))

    def _text(self, column: str) -> str:
        value = _identifier(column)
        if pa.types.is_boolean(self._schema.field(column).type):
            return f"case when {value} then 'True' when not {value} then 'False' end"
        return f"{value}::text"

    @contextmanager
    def _answered(self, query: str) -> Iterator[pa.RecordBatchReader]:
        """Yield the answer to a query, in a transaction that can only read and sees one state of the data.

        Raises:
            DataError: The server cannot be reached, or refuses; its message is told without query and address.
        """
        try:
            with self._dbapi.connect(self._address) as server, server.cursor() as cursor:
                cursor.execute(query)
                yield cursor.fetch_record_batch()
        except (self._dbapi.Error, pa.ArrowException) as error:
            raise DataError(
                "{name}: the database refuses: {reason}",
                name=self._name,
                reason=_reason(error),
            ) from None


_READ_ONLY = (
    "-c default_transaction_read_only=on -c default_transaction_isolation=repeatable\\ read "
    "-c statement_timeout=3600000 -c datestyle=ISO -c extra_float_digits=1"
)
"""How a session is opened, so that nothing can be written from its first statement on."""


def _reason(error: Exception) -> str:
    r"""Return what a server says is wrong, without the query, which the driver adds.

    >>> _reason(Exception("[libpq] Failed to prepare query: ERROR:  no such thing\nLINE 1: select\nQuery: select"))
    'no such thing'
    """
    message = str(error).partition("\n")[0]
    for prefix in ("ERROR:", "FATAL:", "error:"):
        message = message.rpartition(prefix)[2]
    return message.strip() or type(error).__name__


def chosen_table(wanted: str | None, tables: Sequence[str], name: str) -> str:
    """Return the table that is asked for, or the only one.

    Raises:
        StudyError: There is no such table, or there are several.
    """
    if wanted is None and len(tables) == 1:
        return tables[0]
    if wanted is None:
        raise (
            StudyError(
                "{name}: has {count} tables: {tables}; choose one with `table`",
                name=name,
                count=len(tables),
                tables=quoted(list(tables)),
            )
            if tables
            else DataError("{name}: has no table", name=name)
        )
    if wanted not in tables:
        raise StudyError(unknown_name("table", wanted, name, tables))
    return wanted


def _select(values: str, table: str) -> str:
    """Return a query of expressions over a table, whose name is quoted."""
    return f"select {values} from {_identifier(table)}"  # noqa: S608


def _identifier(name: str) -> str:
    """Return a name as SQL has it, whatever stands in it.

    >>> _identifier("a b")
    '"a b"'
    """
    return '"' + name.replace('"', '""') + '"'
