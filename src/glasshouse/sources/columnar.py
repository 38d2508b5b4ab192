"""Columnar files: Parquet, ORC and Arrow IPC (also known as Feather)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

import pyarrow as pa
import pyarrow.ipc
import pyarrow.orc
import pyarrow.parquet

from glasshouse.errors import DataError
from glasshouse.progress import OnProgress
from glasshouse.sources.source import (
    BATCH_RECORDS,
    DAMAGES,
    Source,
    check_columns,
    damage_error,
    text_batches,
)
from glasshouse.sources.text import BOMB_FLOOR, BOMB_RATIO

BOMB_RECORDS = 64
"""A Parquet file with more records per byte is refused, if it has many: real ones have bytes per record."""


class ParquetFile(Source):
    """A Parquet file as a source."""

    def __init__(self, path: Path, *, name: str) -> None:
        try:
            self._file = pyarrow.parquet.ParquetFile(path.absolute())  # Arrow expands a leading ~
            names = self._file.schema_arrow.names
        except DAMAGES as error:
            raise damage_error(name, "Parquet", error) from None
        footer = self._file.metadata
        grown = sum(footer.row_group(i).total_byte_size for i in range(footer.num_row_groups))
        refuse_bomb(footer.num_rows, grown, path.stat().st_size, name)
        super().__init__(name, names)

    def batches(
        self, columns: Sequence[str], *, on_progress: OnProgress | None = None
    ) -> Iterator[pa.RecordBatch]:
        """Yield the named columns as text; their number is checked against the file's footer."""
        check_columns(self, columns)
        expected: int = self._file.metadata.num_rows
        batches = self._file.iter_batches(batch_size=BATCH_RECORDS, columns=list(columns))
        yield from text_batches(
            (batch.select(list(columns)) for batch in batches),
            expected=expected,
            name=self._name,
            kind="Parquet",
            on_progress=on_progress,
        )


class OrcFile(Source):
    """An ORC file as a source."""

    def __init__(self, path: Path, *, name: str) -> None:
        try:
            self._file = pyarrow.orc.ORCFile(path.absolute())
            names = self._file.schema.names
        except DAMAGES as error:
            raise damage_error(name, "ORC", error) from None
        size = path.stat().st_size
        refuse_bomb(self._file.nrows, self._file.content_length, size, name)
        super().__init__(name, names)

    def batches(
        self, columns: Sequence[str], *, on_progress: OnProgress | None = None
    ) -> Iterator[pa.RecordBatch]:
        """Yield the named columns as text, a stripe at a time."""
        check_columns(self, columns)
        yield from text_batches(
            self._slices(columns),
            expected=self._file.nrows,
            name=self._name,
            kind="ORC",
            on_progress=on_progress,
        )

    def _slices(self, columns: Sequence[str]) -> Iterator[pa.RecordBatch]:
        for number in range(self._file.nstripes):
            stripe = self._file.read_stripe(number, columns=list(columns)).select(list(columns))
            for start in range(0, stripe.num_rows, BATCH_RECORDS):
                yield stripe.slice(start, BATCH_RECORDS)


class ArrowFile(Source):
    """An Arrow IPC file as a source."""

    def __init__(self, path: Path, *, name: str) -> None:
        try:
            self._file = pa.ipc.open_file(pa.memory_map(str(path.absolute())))
            self._records = sum(
                self._file.get_batch(i).num_rows for i in range(self._file.num_record_batches)
            )
            names = self._file.schema.names
        except DAMAGES as error:
            raise damage_error(name, "Arrow", error) from None
        super().__init__(name, names)

    def batches(
        self, columns: Sequence[str], *, on_progress: OnProgress | None = None
    ) -> Iterator[pa.RecordBatch]:
        """Yield the named columns as text."""
        check_columns(self, columns)
        yield from text_batches(
            self._slices(columns),
            expected=self._records,
            name=self._name,
            kind="Arrow",
            on_progress=on_progress,
        )

    def _slices(self, columns: Sequence[str]) -> Iterator[pa.RecordBatch]:
        for i in range(self._file.num_record_batches):
            whole = self._file.get_batch(i).select(list(columns))
            for start in range(0, whole.num_rows, BATCH_RECORDS):
                yield whole.slice(start, BATCH_RECORDS)


def refuse_bomb(records: int, grown: int, size: int, name: str) -> None:
    """Make sure that a small file does not announce a huge table.

    Raises:
        DataError: It does.
    """
    if grown > max(BOMB_FLOOR, BOMB_RATIO * size) or (
        records > BOMB_FLOOR // 64 and records > BOMB_RECORDS * size
    ):
        raise DataError(
            "{name}: announces {records} records and {grown} bytes in a file of {size}; that is no ordinary table. "
            "Write it again without compression if you trust it",
            name=name,
            records=records,
            grown=grown,
            size=size,
        )
