"""Frames in memory: pandas, Polars, Arrow tables and DuckDB relations, by the Arrow stream protocol.

None of those libraries is imported: whatever offers ``__arrow_c_stream__`` is a frame.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence, Sized

import pyarrow as pa

from glasshouse.errors import DataError
from glasshouse.progress import OnProgress, Progress
from glasshouse.sources.source import (
    BATCH_RECORDS,
    Source,
    as_text,
    check_columns,
)


def is_frame(data: object) -> bool:
    """Tell whether an object can hand over its content as an Arrow stream."""
    return hasattr(data, "__arrow_c_stream__")


def reread(data: object, name: str) -> object:
    """Return data that can be read again and again: a stream of Arrow, which can be read once, is taken into memory.

    Raises:
        DataError: It cannot be read to its end.
    """
    if not isinstance(data, pa.RecordBatchReader):
        return data
    return pa.Table.from_batches(_batches(data, name), data.schema)


class Frame(Source):
    """A frame in memory as a source. An index of pandas is not a column."""

    def __init__(self, data: object, *, name: str) -> None:
        super().__init__(name, _names(data, name))
        self._data = data

    def coded_batches(
        self, columns: Sequence[str], *, on_progress: OnProgress | None = None
    ) -> Iterator[pa.RecordBatch]:
        """Yield the named columns as text."""
        check_columns(self, columns)
        chosen = self._data[list(columns)] if _is_pandas(self._data) else self._data  # type: ignore[index]
        total = len(self._data) if isinstance(self._data, Sized) else None
        done = 0
        for whole in _batches(chosen, self._name):
            selection = whole.select(list(columns))
            _check_intact(selection, self._name)
            for start in range(0, selection.num_rows, BATCH_RECORDS):
                batch = as_text(selection.slice(start, BATCH_RECORDS), where=self._name)
                yield batch
                done += batch.num_rows
                if on_progress:
                    on_progress(Progress("reading", done, max(total or 0, done)))
        if total is not None and done != total:
            raise DataError(
                "{name}: handed over {found} records where it has {announced}",
                name=self._name,
                found=done,
                announced=total,
            )


def _check_intact(batch: pa.RecordBatch, name: str) -> None:
    """Make sure that what another library hands over points nowhere else.

    Raises:
        DataError: It does.
    """
    try:
        batch.validate(full=True)
    except pa.ArrowInvalid as error:
        raise DataError(
            "{name}: hands over damaged columns ({reason}); make the frame anew",
            name=name,
            reason=str(error).splitlines()[0],
        ) from None


def _is_pandas(data: object) -> bool:
    return type(data).__module__.partition(".")[0] == "pandas"


def _names(data: object, name: str) -> list[str]:
    if _is_pandas(
        data
    ):  # its index is not a column, and a column that is not used may be of any kind
        names = list(data.columns)  # type: ignore[attr-defined]
        if not all(isinstance(column, str) for column in names):
            raise DataError("{name}: the names of its columns must be text; rename them", name=name)
        return names
    return list(_stream(data, name).schema.names)


def _batches(data: object, name: str) -> Iterator[pa.RecordBatch]:
    stream = iter(_stream(data, name))
    while True:
        try:
            batch = next(stream)
        except StopIteration:
            return
        except Exception as error:  # whatever the frame's own library raises
            raise DataError(
                "{name}: cannot be read to its end: {reason}", name=name, reason=_why(error)
            ) from None
        yield batch


def _stream(data: object, name: str) -> pa.RecordBatchReader:
    try:
        return pa.RecordBatchReader.from_stream(data)
    except Exception as error:  # whatever the frame's own library raises
        raise DataError(
            "{name}: its columns cannot be handed over as Arrow: {reason}",
            name=name,
            reason=_why(error),
        ) from None


def _why(error: Exception) -> str:
    return str(error).splitlines()[0] if str(error) else type(error).__name__
