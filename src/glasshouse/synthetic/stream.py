"""What a generator of synthetic microdata is, and how its records are streamed and written.

A generator builds a *world* (cities, schools, establishments, their latent rates) from the seed and
the number of records, then draws the records batch by batch. Every batch has its own child seed, so
that it depends on the seed and the number of records only, not on the batches drawn before it, and
memory holds the world and one batch.

The order of the records must not help an algorithm. The world lists its records place by place;
small groups of neighbours in this list are dealt out to the batches like cards (group k to batch
k mod B), and each batch is then shuffled, so that every batch is a cross-section of the whole
country. Groups, because relatives and records of one visit have to be drawn together. A file of them appears whole
or not at all.
"""

from __future__ import annotations

import gzip
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from numbers import Integral
from pathlib import Path
from typing import BinaryIO, Protocol, cast

import numpy as np
import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet

from glasshouse.arrays import Codes
from glasshouse.atomic import new_file
from glasshouse.errors import StudyError
from glasshouse.language import quoted

BATCH_RECORDS = 1 << 19
"""About the most records in one batch: a compromise between memory and repeated dictionaries."""

_WORLD, _BATCH = 0, 1
_DICTIONARY_BYTES = 16 << 20
"""Keeps the school codes of a batch in one Parquet dictionary; the default of 1 MB overflows."""


class GeneratorWorld(Protocol):
    """Everything that is drawn once, before the first record."""

    @property
    def labels(self) -> Mapping[str, pa.StringArray]:
        """The text of every code of every column."""

    def draw(self, positions: Codes, rng: np.random.Generator) -> Mapping[str, Codes]:
        """Draw the records at the given ascending positions of the world's list."""


@dataclass(frozen=True, kw_only=True)
class Generator:
    """A synthetic release: what it imitates, its columns and how to draw it."""

    name: str
    """The name in commands and studies, such as "school-census"."""
    title: str
    """One line for a person who chooses."""
    source: str
    """The publication whose figures it is calibrated to."""
    quasi_identifiers: tuple[str, ...]
    """The columns an adversary may know, in the order of the release."""
    sensitive: tuple[str, ...]
    """The columns an adversary wants to learn; they follow the quasi-identifiers."""
    published_records: int
    """The size of the release it imitates."""
    most_records: int
    """The largest size that can be asked for."""
    together: int
    """How many neighbours in the world's list are dealt out and drawn together."""
    world: Callable[[int, np.random.Generator], GeneratorWorld]
    """Builds the world for a number of records."""
    person: str = ""
    """The column that says whose a record is, the first one, where people have several."""

    @property
    def columns(self) -> tuple[str, ...]:
        """All columns, in order."""
        person = (self.person,) if self.person else ()
        return person + self.quasi_identifiers + self.sensitive

    @property
    def schema(self) -> pa.Schema:
        """Every column is text, dictionary-encoded."""
        kind = pa.dictionary(pa.int32(), pa.string())
        return pa.schema([pa.field(column, kind, nullable=False) for column in self.columns])

    def batches(self, records: int, *, seed: int = 0) -> Iterator[pa.RecordBatch]:
        """Yield the records in batches; the same seed and number give the same records.

        Raises:
            StudyError: the number of records or the seed is out of range (before the first batch).
        """
        if not is_whole(records) or not 1 <= records <= self.most_records:
            raise StudyError(
                "{generator} makes 1 to {most} records, not {given}",
                generator=self.name,
                most=self.most_records,
                given=repr(records),
            )
        check_seed(seed)
        return self._stream(records, seed)

    def _stream(self, records: int, seed: int) -> Iterator[pa.RecordBatch]:
        world = self.world(records, _child(seed, _WORLD))
        count = -(-records // BATCH_RECORDS)
        for batch in range(count):
            positions = dealt(records, together=self.together, batch=batch, batches=count)
            rng = _child(seed, _BATCH, batch)
            drawn = world.draw(positions, rng)
            order = rng.permutation(len(positions))
            arrays = [
                pa.DictionaryArray.from_arrays(pa.array(drawn[column][order]), world.labels[column])
                for column in self.columns
            ]
            yield pa.RecordBatch.from_arrays(arrays, schema=self.schema)


def dealt(records: int, *, together: int, batch: int, batches: int) -> Codes:
    """Return the ascending positions of one batch when groups of records are dealt out like cards.

    >>> dealt(9, together=2, batch=0, batches=2).tolist()
    [0, 1, 4, 5, 8]
    >>> dealt(9, together=2, batch=1, batches=2).tolist()
    [2, 3, 6, 7]
    """
    first = np.arange(together * batch, records, together * batches, dtype=np.int32)
    positions: Codes = np.add.outer(first, np.arange(together, dtype=np.int32)).ravel()
    return positions[positions < records]


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
        '"{path}" does not say its format; end it in one of {endings}',
        path=path,
        endings=quoted(_WRITERS),
    )


def _child(seed: int, *key: int) -> np.random.Generator:
    return np.random.default_rng(np.random.SeedSequence(seed, spawn_key=key))


def is_whole(value: object) -> bool:
    """Tell whether something is a whole number."""
    return isinstance(value, Integral) and not isinstance(value, bool)


def check_seed(seed: int) -> None:
    """Make sure that a seed is one.

    Raises:
        StudyError: It is no whole number, or below 0.
    """
    if not is_whole(seed) or seed < 0:
        raise StudyError("the seed is a whole number from 0 on, not {given}", given=repr(seed))
