"""Columnar files: Parquet, ORC and Arrow IPC (also known as Feather)."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator, Sequence
from functools import partial
from itertools import chain
from math import inf
from operator import methodcaller
from pathlib import Path

import pyarrow as pa
import pyarrow.ipc
import pyarrow.parquet

from glasshouse.errors import DataError
from glasshouse.progress import OnProgress
from glasshouse.sources.source import (
    DAMAGES,
    Source,
    check_columns,
    damage_error,
    longest_text,
    records_at_once,
    text_batches,
)
from glasshouse.sources.text import BOMB_FLOOR, BOMB_RATIO

BOMB_RECORDS = 64
"""A Parquet file with more records per byte is refused, if it has many: real ones have bytes per record."""


class ColumnarFile(Source):
    """A file of columns as a source; what it announces is checked against what it holds.

    Attributes:
        kind: What messages call such a file.
    """

    kind: str
    _records: int

    def coded_batches(
        self, columns: Sequence[str], *, on_progress: OnProgress | None = None
    ) -> Iterator[pa.RecordBatch]:
        """Yield the named columns as text."""
        check_columns(self, columns)
        yield from text_batches(
            chain.from_iterable(map(_parts, self._stored(list(columns)))),
            expected=self._records,
            name=self._name,
            kind=self.kind,
            on_progress=on_progress,
        )

    @abstractmethod
    def _stored(self, columns: list[str]) -> Iterator[pa.RecordBatch]:
        """Yield the named columns in this order, as they are stored."""


class ParquetFile(ColumnarFile):
    """A Parquet file as a source; the number of its records stands in its footer."""

    kind = "Parquet"

    def __init__(self, path: Path, *, name: str) -> None:
        try:
            # Arrow expands a leading ~, and what it would buffer ahead stays in memory to the end of the file.
            self._file = pyarrow.parquet.ParquetFile(path.absolute(), pre_buffer=False)
            names = self._file.schema_arrow.names
        except DAMAGES as error:
            raise damage_error(name, self.kind, error) from None
        footer = self._file.metadata
        grown = sum(footer.row_group(i).total_byte_size for i in range(footer.num_row_groups))
        refuse_bomb(footer.num_rows, grown, path.stat().st_size, name)
        self._records = footer.num_rows
        super().__init__(name, names)
        self._path = path.absolute()
        self._places = {column.path: place for place, column in enumerate(self._file.schema)}
        self._coded = coded_columns(footer, self._file.schema_arrow)
        if self._coded:
            self._file = self._opened(self._coded)

    def _opened(self, coded: list[str]) -> pyarrow.parquet.ParquetFile:
        """Open the file again, to read some columns as codes of their values."""
        return pyarrow.parquet.ParquetFile(
            self._path, metadata=self._file.metadata, read_dictionary=coded, pre_buffer=False
        )

    def _stored(self, columns: list[str]) -> Iterator[pa.RecordBatch]:
        largest = max(
            (
                sum(self._record_bytes(number, column) for column in columns)
                for number in range(self._file.num_row_groups)
            ),
            default=0,
        )
        for batch in self._file.iter_batches(batch_size=records_at_once(largest), columns=columns):
            yield batch.select(columns)

    def _record_bytes(self, number: int, column: str) -> float:
        """Return how much a value of a column takes in one group of records: on average, or at most.

        What stands once in a dictionary may be the value of every record, and is then written out for each.
        """
        if (
            column not in self._places
        ):  # lists and structures, which are refused once their type is seen
            return 0
        group = self._file.metadata.row_group(number)
        if not group.num_rows:
            return 0
        chunk = group.column(self._places[column])
        average: float = chunk.total_uncompressed_size / group.num_rows
        kind = self._file.schema_arrow.field(column).type
        is_text = pa.types.is_string(kind) or pa.types.is_large_string(kind)
        if column in self._coded or not is_text or not chunk.has_dictionary_page:
            return average
        first = self._opened([column]).iter_batches(
            batch_size=1, row_groups=[number], columns=[column]
        )
        return max(average, longest_text(next(first).column(0).dictionary))


class OrcFile(ColumnarFile):
    """An ORC file as a source, read a stripe at a time."""

    kind = "ORC"

    def __init__(self, path: Path, *, name: str) -> None:
        import pyarrow.orc  # few need it, and all would wait for it

        self._opened = partial(pyarrow.orc.ORCFile, path.absolute())
        try:
            self._file = self._opened()
            names = self._file.schema.names
        except DAMAGES as error:
            raise damage_error(name, self.kind, error) from None
        size = path.stat().st_size
        self._records = self._file.nrows
        refuse_bomb(self._records, self._file.content_length, size, name)
        super().__init__(name, names)

    def _stored(self, columns: list[str]) -> Iterator[pa.RecordBatch]:
        for number in range(self._file.nstripes):
            # what is open keeps all that was read of it in memory
            yield self._opened().read_stripe(number, columns=columns).select(columns)


class ArrowFile(ColumnarFile):
    """An Arrow IPC file as a source."""

    kind = "Arrow"

    def __init__(self, path: Path, *, name: str) -> None:
        try:
            self._file = pa.memory_map(str(path.absolute()))
            self._schema = pa.ipc.open_file(self._file).schema
            super().__init__(name, self._schema.names)
            narrowest = min(self._schema, key=_width).name
            self._records = sum(map(len, self._record_batches([narrowest])))
        except DAMAGES as error:
            raise damage_error(name, self.kind, error) from None

    def _stored(self, columns: list[str]) -> Iterator[pa.RecordBatch]:
        return map(methodcaller("select", columns), self._record_batches(columns))

    def _record_batches(self, columns: list[str]) -> Iterator[pa.RecordBatch]:
        """Yield some columns, in the order of the file; nothing else is unpacked."""
        positions = list(map(self._schema.get_field_index, columns))
        options = pa.ipc.IpcReadOptions(included_fields=positions)
        file = pa.ipc.open_file(self._file, options=options)
        return map(file.get_batch, range(file.num_record_batches))


def _width(field: pa.Field) -> float:
    """Return how many bits a value of a column takes; none is as wide as a text."""
    try:
        width: int = field.type.bit_width
    except ValueError:
        return inf
    return width


def _parts(stored: pa.RecordBatch) -> Iterator[pa.RecordBatch]:
    """Yield records as they are stored a part at a time: long texts are few records."""
    records = records_at_once(stored.nbytes / max(1, stored.num_rows))
    for start in range(0, stored.num_rows, records):
        yield stored.slice(start, records)


def coded_columns(footer: pyarrow.parquet.FileMetaData, schema: pa.Schema) -> list[str]:
    """Return the columns of text that a Parquet file holds as codes of few values, so that they can be read as such.

    Where there are many values, a file holds them one by one: with its length, four bytes, each.
    """
    texts = {field.name for field in schema if pa.types.is_string(field.type)}
    for number in range(footer.num_row_groups):
        group = footer.row_group(number)
        for place in range(group.num_columns):
            column = group.column(place)
            if not column.has_dictionary_page or (
                column.total_uncompressed_size > 4 * column.num_values
            ):
                texts.discard(column.path_in_schema)
    return sorted(texts)


def refuse_bomb(records: int, grown: int, size: int, name: str) -> None:
    """Make sure that a small file does not announce a huge table.

    Raises:
        DataError: It does.
    """
    if grown > max(BOMB_FLOOR, BOMB_RATIO * size) or (
        records > BOMB_FLOOR // 64 and records > BOMB_RECORDS * size
    ):
        raise DataError(
            "{name}: announces {records} records and {grown} bytes in a file of {size}; that is not an ordinary "
            "table. Write it again without compression if you trust it",
            name=name,
            records=records,
            grown=grown,
            size=size,
        )
