"""Packed records on their way from one root step to the next: in memory, or on disk where that is too small."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Protocol

import numpy as np

from glasshouse.microdata.packing import Counts, Words

CHUNK_RECORDS = 1 << 20
"""So many records are handed on at a time."""


class Spool(Protocol):
    """Records with their counts, written once and then read in chunks as often as needed."""

    def append(self, records: Words, counts: Counts) -> None:
        """Add records; the arrays may be kept as they are."""

    def chunks(self, words: int) -> Iterator[tuple[Words, Counts]]:
        """Yield all records in the order in which they were added."""


class MemorySpool:
    """Records in memory."""

    def __init__(self) -> None:
        self._parts: list[tuple[Words, Counts]] = []

    def append(self, records: Words, counts: Counts) -> None:
        """Add records; the arrays are kept as they are."""
        self._parts.append((records, counts))

    def chunks(self, words: int) -> Iterator[tuple[Words, Counts]]:
        """Yield views of the records."""
        for records, counts in self._parts:
            for begin in range(0, len(counts), CHUNK_RECORDS):
                end = min(begin + CHUNK_RECORDS, len(counts))
                yield records[begin * words : end * words], counts[begin:end]


class DiskSpool:
    """Records in two files of a folder; they hold the data, and go with the folder."""

    def __init__(self, folder: Path, name: str) -> None:
        self._records = folder / f"{name}.records"
        self._counts = folder / f"{name}.counts"
        self._records.touch()
        self._counts.touch()

    def append(self, records: Words, counts: Counts) -> None:
        """Write the records behind those that are there."""
        with self._records.open("ab") as file:
            records.tofile(file)
        with self._counts.open("ab") as file:
            counts.tofile(file)

    def chunks(self, words: int) -> Iterator[tuple[Words, Counts]]:
        """Read the records, one chunk in memory at a time."""
        with self._records.open("rb") as records, self._counts.open("rb") as counts:
            while len(own := np.fromfile(counts, np.int32, CHUNK_RECORDS)):
                yield np.fromfile(records, np.uint64, len(own) * words), own

    def remove(self) -> None:
        """Delete the files."""
        self._records.unlink()
        self._counts.unlink()
