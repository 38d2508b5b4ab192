"""Columnar files: Parquet and Arrow IPC (also known as Feather)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

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


class ParquetFile(Source):
    """A Parquet file as a source."""

    def __init__(self, path: Path, *, name: str) -> None:
        try:
            self._file = pyarrow.parquet.ParquetFile(path)
        except (pa.ArrowException, OSError) as error:
            raise _damage_error(name, "Parquet", error) from None
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
            self._file = pa.ipc.open_file(pa.memory_map(str(path)))
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
        yield from _text_batches(
            self._slices(), columns, self._records, self._name, "Arrow", on_progress
        )

    def _slices(self) -> Iterator[pa.RecordBatch]:
        for i in range(self._file.num_record_batches):
            whole = self._file.get_batch(i)
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


def _damage_error(name: str, kind: str, error: Exception) -> DataError:
    reason = str(error).splitlines()[0] if str(error) else type(error).__name__
    return DataError(
        "{name}: is not a readable {kind} file ({reason}); write it again",
        name=name,
        kind=kind,
        reason=reason,
    )
