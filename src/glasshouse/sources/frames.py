"""Frames in memory: pandas, Polars, Arrow tables and DuckDB relations, by the Arrow stream protocol.

None of those libraries is imported: whatever offers ``__arrow_c_stream__`` is a frame.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

import pyarrow as pa

from glasshouse.errors import DataError
from glasshouse.sources.source import (
    BATCH_RECORDS,
    OnProgress,
    as_text,
    check_columns,
    check_names,
)

PANDAS_INDEX = re.compile(r"__index_level_\d+__")


def is_frame(data: object) -> bool:
    """Tell whether an object can hand over its content as an Arrow stream."""
    return hasattr(data, "__arrow_c_stream__")


class Frame:
    """A frame in memory as a source. An index of pandas is not a column."""

    def __init__(self, data: object, *, name: str) -> None:
        self._data = data
        self._name = name
        schema = _stream(data, name).schema
        named = [field for field in schema.names if not PANDAS_INDEX.fullmatch(field)]
        self._columns = check_names(named, where=name)

    @property
    def name(self) -> str:
        """What messages and results call it."""
        return self._name

    @property
    def columns(self) -> tuple[str, ...]:
        """The names of its columns."""
        return self._columns

    def batches(
        self, columns: Sequence[str], *, on_progress: OnProgress | None = None
    ) -> Iterator[pa.RecordBatch]:
        """Yield the named columns as text."""
        check_columns(self, columns)
        length = getattr(self._data, "__len__", None)
        total = length() if length is not None and on_progress else 0
        done = 0
        for whole in _stream(self._data, self._name):
            chosen = whole.select(list(columns))
            for start in range(0, chosen.num_rows, BATCH_RECORDS):
                batch = as_text(chosen.slice(start, BATCH_RECORDS), where=self._name)
                yield batch
                done += batch.num_rows
                if on_progress:
                    on_progress(done, max(total, done))


def _stream(data: object, name: str) -> pa.RecordBatchReader:
    try:
        return pa.RecordBatchReader.from_stream(data)
    except (pa.ArrowException, TypeError, ValueError) as error:
        reason = str(error).splitlines()[0]
        raise DataError(f"{name}: its columns cannot be handed over as Arrow: {reason}") from None
