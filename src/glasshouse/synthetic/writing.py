"""Writing a stream of batches to one file, whole or not at all."""

from __future__ import annotations

import gzip
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import BinaryIO, cast

import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet

from glasshouse.atomic import new_file
from glasshouse.errors import StudyError, quoted
from glasshouse.language import text

_DICTIONARY_BYTES = 16 << 20
"""Keeps the school codes of a batch in one Parquet dictionary; the default of 1 MB overflows."""


def write_batches(batches: Iterable[pa.RecordBatch], *, schema: pa.Schema, path: Path) -> None:
    """Write batches as Parquet, CSV or compressed CSV, by the suffix of the path.

    A file that exists is replaced at the very end; on any failure it is untouched and nothing is
    left behind.

    Raises:
        StudyError: the suffix is none of those known.
        DataError: the file cannot be written there.
    """
    save = _writer_for(path)
    with new_file(path) as draft, draft.open("wb") as stream:
        save(batches, schema, stream)


def _parquet(batches: Iterable[pa.RecordBatch], schema: pa.Schema, stream: BinaryIO) -> None:
    with pa.parquet.ParquetWriter(
        stream, schema, compression="zstd", dictionary_pagesize_limit=_DICTIONARY_BYTES
    ) as writer:
        for batch in batches:
            writer.write_batch(batch)


def _csv(batches: Iterable[pa.RecordBatch], schema: pa.Schema, stream: BinaryIO) -> None:
    texts = pa.schema([pa.field(name, pa.string(), nullable=False) for name in schema.names])
    options = pa.csv.WriteOptions(quoting_style="none")
    with pa.csv.CSVWriter(stream, texts, write_options=options) as writer:
        for batch in batches:
            writer.write_batch(batch.cast(texts))


def _csv_gz(batches: Iterable[pa.RecordBatch], schema: pa.Schema, stream: BinaryIO) -> None:
    """Compress fast; without a name and a time in the header, equal data give equal bytes."""
    with gzip.GzipFile("", "wb", compresslevel=3, fileobj=stream, mtime=0) as compressed:
        _csv(batches, schema, cast(BinaryIO, compressed))


_Writer = Callable[[Iterable[pa.RecordBatch], pa.Schema, BinaryIO], None]
_WRITERS: dict[str, _Writer] = {".parquet": _parquet, ".csv": _csv, ".csv.gz": _csv_gz}


def _writer_for(path: Path) -> _Writer:
    for suffix, writer in _WRITERS.items():
        if path.name.lower().endswith(suffix) and len(path.name) > len(suffix):
            return writer
    raise StudyError(
        text(
            '"{path}" does not say its format; end it in one of {endings}',
            path=path,
            endings=quoted(_WRITERS),
        )
    )
