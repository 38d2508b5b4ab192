"""JSON lines: a record per line, as services and logs write them."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from itertools import chain, islice
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.json

from glasshouse.errors import DataError
from glasshouse.progress import OnProgress, Progress
from glasshouse.sources.source import BATCH_RECORDS, as_text, check_columns, values_text
from glasshouse.sources.text import LONGEST_LINE, TextFile, TextSource

KEPT_BYTES = 1 << 28
"""So much of what was parsed for the names of the columns is kept; more is parsed a second time for its values."""


def is_json_lines(start: bytes) -> bool:
    r"""Tell whether text begins with a whole JSON object on its first line.

    >>> is_json_lines(b'{"a": 1}\n{"a": 2}\n'), is_json_lines(b"a,b\n1,2\n")
    (True, False)
    """
    line = start.lstrip().partition(b"\n")[0]
    if not line.startswith(b"{"):
        return False
    try:
        return isinstance(json.loads(line), dict)
    except ValueError:
        return False


DEEPEST = 500
"""Records that nest deeper than this are looked at before they are read."""


def _depth(block: bytes) -> int:
    """Return how deep lists and objects are in one another at most; signs in texts count, too.

    >>> _depth(b'{"a": [[1], [2]]}'), _depth(b"[[[")
    (3, 3)
    """
    signs = np.frombuffer(block, np.uint8)
    opened = (signs == ord("[")) | (signs == ord("{"))
    closed = (signs == ord("]")) | (signs == ord("}"))
    steps = opened.astype(np.int64) - closed
    return int(np.cumsum(steps).max(initial=0))


class JsonLines(TextSource):
    """A file with a JSON object on each line as a source: its columns are the names of all of them.

    A name that a record lacks is missing there.
    """

    def __init__(self, path: Path, *, encoding: str | None, name: str, member: str | None) -> None:
        self._name = name
        self._text = TextFile(path, encoding=encoding, name=name, member=member)
        self._moments: set[str] = set()
        self._kept: list[tuple[pa.Table, int]] = []
        names: dict[str, None] = {}
        size = 0
        for table, position in self._tables():
            names |= dict.fromkeys(table.column_names)
            size += table.nbytes
            if size <= KEPT_BYTES:
                self._kept.append((table, position))
        self._has_more = size > KEPT_BYTES
        if not names:
            raise DataError("{name}: has no records", name=name)
        super().__init__(name, list(names))

    def coded_batches(
        self, columns: Sequence[str], *, on_progress: OnProgress | None = None
    ) -> Iterator[pa.RecordBatch]:
        """Yield the named columns as text."""
        check_columns(self, columns)
        more = self._tables(skip=len(self._kept)) if self._has_more else ()
        for table, position in _joined(chain(self._kept, more)):
            for column in columns:
                if column not in table.column_names:
                    table = table.append_column(column, pa.nulls(table.num_rows))
            batch = table.select(list(columns)).combine_chunks().to_batches()[0]
            yield as_text(batch, where=self._name)
            if on_progress:
                on_progress(Progress("reading", position, self._text.size))

    def _tables(self, skip: int = 0) -> Iterator[tuple[pa.Table, int]]:
        """Yield the records of one block after the other, but of the first ones, and how far into the file that is."""
        for block, position in islice(self._blocks(), skip, None):
            yield self._parsed(block), position

    def _blocks(self) -> Iterator[tuple[bytes, int]]:
        """Yield whole lines that are not all blank, and how far into the file that is."""
        rest, position = b"", 0
        for number, (block, position) in enumerate(self._text.blocks(), start=1):
            whole, feed, rest = (rest + block).rpartition(b"\n")
            if len(rest) > LONGEST_LINE:
                raise DataError(
                    "{name}, line {line}: is longer than {size} MiB; write one record per line",
                    name=self._name,
                    line=str(self._text.line_after(number)),
                    size=LONGEST_LINE >> 20,
                )
            if whole.strip():
                yield whole + feed, position
        if rest.strip():
            yield rest, position

    def _parsed(self, block: bytes) -> pa.Table:
        """Return the records of some lines with their types, or as text where a name has several.

        What looks like a moment is text, as it is written.

        Raises:
            DataError: A line is no JSON object.
        """
        try:
            table = self._typed(block)
            moments = [field.name for field in table.schema if pa.types.is_timestamp(field.type)]
            if moments:
                self._moments.update(moments)
                table = self._typed(block).select(table.column_names)
            return table
        except pa.ArrowException:
            pass  # a name with several types, a number that is too large, or a fault
        records = [json.loads(line) for line in self._lines(block)]
        names = dict.fromkeys(name for record in records for name in record)
        return pa.table(
            {name: values_text([record.get(name) for record in records]) for name in names}
        )

    def _typed(self, block: bytes) -> pa.Table:
        if _depth(block) > DEEPEST:  # of which Arrow's reader makes no error, but an end
            for _ in self._lines(block):
                pass
        texts = pa.schema([(name, pa.string()) for name in sorted(self._moments)])
        return pyarrow.json.read_json(
            pa.BufferReader(block),
            read_options=pyarrow.json.ReadOptions(use_threads=False, block_size=len(block) + 1),
            parse_options=pyarrow.json.ParseOptions(explicit_schema=texts),
        )

    def _lines(self, block: bytes) -> Iterator[bytes]:
        for line in block.splitlines():
            if not line.strip():
                continue
            try:
                is_record = isinstance(json.loads(line), dict)
            except (ValueError, RecursionError):
                is_record = False
            if not is_record:
                raise DataError(
                    "{name}: the line {line} is not a JSON object; write one record per line",
                    name=self._name,
                    line=repr(line[:40].decode("utf-8", errors="replace")),
                )
            if b"\\u" in line:
                _check_whole(line, self._name)
            yield line


def _check_whole(line: bytes, name: str) -> None:
    """Make sure that every character of a JSON object is a whole one, as text is elsewhere.

    Raises:
        DataError: It has one half of a character that takes two escapes.
    """
    try:
        json.dumps(json.loads(line), ensure_ascii=False).encode()
    except UnicodeEncodeError:
        raise DataError(
            "{name}: the line {line} holds half a character; write the file again as UTF-8",
            name=name,
            line=repr(line[:40].decode("utf-8", errors="replace")),
        ) from None


def _joined(tables: Iterable[tuple[pa.Table, int]]) -> Iterator[tuple[pa.Table, int]]:
    """Yield tables of the same columns that come one behind the other as one, as far as they are small."""
    alike: list[pa.Table] = []
    end = 0
    for table, position in tables:
        if alike and (
            table.schema != alike[0].schema or sum(map(len, alike)) + len(table) > BATCH_RECORDS
        ):
            yield pa.concat_tables(alike), end
            alike = []
        alike.append(table)
        end = position
    yield pa.concat_tables(alike), end
