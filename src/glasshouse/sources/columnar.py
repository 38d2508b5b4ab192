"""Columnar files: Parquet and Arrow IPC (also known as Feather)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.ipc
import pyarrow.parquet

from glasshouse.errors import DataError
from glasshouse.progress import OnProgress, Progress
from glasshouse.sources.source import (
    BATCH_RECORDS,
    Source,
    as_text,
    check_columns,
)
from glasshouse.sources.text import BOMB_FLOOR, BOMB_RATIO

BOMB_RECORDS = 64
"""A Parquet file with more records per byte is refused, if it has many: real ones have bytes per record."""


class ParquetFile(Source):
    """A Parquet file as a source."""

    def __init__(self, path: Path, *, name: str) -> None:
        try:
            self._file = pyarrow.parquet.ParquetFile(path.absolute())  # Arrow expands a leading ~
        except (pa.ArrowException, OSError) as error:
            raise _damage_error(name, "Parquet", error) from None
        _refuse_bomb(self._file.metadata, path.stat().st_size, name)
        super().__init__(name, self._file.schema_arrow.names)

    def batches(
        self, columns: Sequence[str], *, on_progress: OnProgress | None = None
    ) -> Iterator[pa.RecordBatch]:
        """Yield the named columns as text; their number is checked against the file's footer."""
        check_columns(self, columns)
        expected: int = self._file.metadata.num_rows
        batches = self._file.iter_batches(batch_size=BATCH_RECORDS, columns=list(columns))
        yield from _text_batches(batches, columns, expected, self._name, "Parquet", on_progress)


class ArrowFile(Source):
    """An Arrow IPC file as a source."""

    def __init__(self, path: Path, *, name: str) -> None:
        try:
            self._file = pa.ipc.open_file(pa.memory_map(str(path.absolute())))
            self._records = sum(
                self._file.get_batch(i).num_rows for i in range(self._file.num_record_batches)
            )
        except (pa.ArrowException, OSError) as error:
            raise _damage_error(name, "Arrow", error) from None
        super().__init__(name, self._file.schema.names)

    def batches(
        self, columns: Sequence[str], *, on_progress: OnProgress | None = None
    ) -> Iterator[pa.RecordBatch]:
        """Yield the named columns as text."""
        check_columns(self, columns)
        slices = self._slices(columns)
        yield from _text_batches(slices, columns, self._records, self._name, "Arrow", on_progress)

    def _slices(self, columns: Sequence[str]) -> Iterator[pa.RecordBatch]:
        for i in range(self._file.num_record_batches):
            whole = self._file.get_batch(i).select(list(columns))
            whole.validate(full=True)  # what a damaged file points to may lie anywhere in memory
            for start in range(0, whole.num_rows, BATCH_RECORDS):
                yield whole.slice(start, BATCH_RECORDS)


def _text_batches(
    batches: Iterable[pa.RecordBatch],
    columns: Sequence[str],
    expected: int,
    name: str,
    kind: str,
    on_progress: OnProgress | None,
) -> Iterator[pa.RecordBatch]:
    done = 0
    try:
        for batch in batches:
            yield as_text(batch.select(list(columns)), where=name)
            done += batch.num_rows
            if on_progress:
                on_progress(Progress("reading", done, expected))
    except (pa.ArrowException, OSError) as error:
        raise _damage_error(name, kind, error) from None
    if done != expected:
        raise DataError(
            "{name}: holds {found} records where it announces {announced}; it is damaged",
            name=name,
            found=done,
            announced=expected,
        )


def _refuse_bomb(footer: Any, size: int, name: str) -> None:
    """Make sure that a small file does not announce a huge table.

    Raises:
        DataError: It does.
    """
    groups = [footer.row_group(i) for i in range(footer.num_row_groups)]
    grown = sum(group.total_byte_size for group in groups)
    if grown > max(BOMB_FLOOR, BOMB_RATIO * size) or (
        footer.num_rows > BOMB_FLOOR // 64 and footer.num_rows > BOMB_RECORDS * size
    ):
        raise DataError(
            "{name}: announces {records} records and {grown} bytes in a file of {size}; that is no ordinary table. "
            "Write it again without compression if you trust it",
            name=name,
            records=footer.num_rows,
            grown=grown,
            size=size,
        )


def _damage_error(name: str, kind: str, error: Exception) -> DataError:
    reason = str(error).splitlines()[0] if str(error) else type(error).__name__
    return DataError(
        "{name}: is not a readable {kind} file ({reason}); write it again",
        name=name,
        kind=kind,
        reason=reason,
    )
