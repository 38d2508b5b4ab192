"""Several files that are one table: folders of Parquet, Arrow or other files, and names with wildcards.

Folders that are named ``year=2020`` make a column ``year``, whose values are text: ``uf=01`` is not 1. A folder of
Delta Lake is read as its log says, not as its files lie there.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import unquote

import pyarrow as pa

from glasshouse.errors import DataError
from glasshouse.progress import OnProgress, Progress
from glasshouse.sources.columnar import coded_columns
from glasshouse.sources.files import display_name
from glasshouse.sources.source import (
    MISSING,
    Source,
    as_text,
    check_columns,
    damage_error,
    reader_of,
)

DELTA_LOG = "_delta_log"
NO_VALUE = "__HIVE_DEFAULT_PARTITION__"
"""What stands for a missing value in the name of a folder."""


@dataclass(frozen=True)
class _Part:
    """One of several files, and what its folders say of its records."""

    source: Source
    values: Mapping[str, str]


class Parts(Source):
    """Several files with the same columns as one source, in the order of their names."""

    def __init__(
        self, paths: Sequence[Path], *, top: Path, name: str, opened: Callable[[Path], Source]
    ) -> None:
        if not paths:
            raise DataError("{name}: holds no file with data", name=name)
        self._parts = [_Part(opened(path), _partition(path.relative_to(top))) for path in paths]
        first = self._parts[0]
        columns = [*first.source.columns, *first.values]
        for part, path in zip(self._parts, paths, strict=True):
            if sorted([*part.source.columns, *part.values]) != sorted(columns):
                raise DataError(
                    "{name}: {first} and {second} have different columns; read them one by one",
                    name=name,
                    first=display_name(paths[0]),
                    second=display_name(path),
                )
        super().__init__(name, columns)

    @property
    def labels(self) -> Mapping[str, Mapping[str, str]]:
        """What values stand for, as the first file has it."""
        return self._parts[0].source.labels

    @property
    def column_labels(self) -> Mapping[str, str]:
        """What columns stand for."""
        return self._parts[0].source.column_labels

    @property
    def measures(self) -> Mapping[str, str]:
        """Whether columns are nominal, ordinal or of a scale."""
        return self._parts[0].source.measures

    @property
    def missing_ranges(self) -> Mapping[str, Sequence[tuple[str, str]]]:
        """From which to which value columns are declared missing."""
        return self._parts[0].source.missing_ranges

    def missing_codes(self, column: str, values: pa.LargeStringArray) -> frozenset[str]:
        """Return those of the values of a column that one of the files calls missing."""
        codes = [part.source.missing_codes(column, values) for part in self._parts]
        return frozenset().union(*codes)

    def coded_batches(
        self, columns: Sequence[str], *, on_progress: OnProgress | None = None
    ) -> Iterator[pa.RecordBatch]:
        """Yield the named columns as text, file by file."""
        check_columns(self, columns)
        for number, part in enumerate(self._parts):
            stored = [column for column in columns if column not in part.values]
            for batch in part.source.coded_batches(stored or part.source.columns[:1]):
                yield pa.record_batch(
                    [
                        pa.repeat(part.values[column], batch.num_rows)
                        if column in part.values
                        else batch.column(column)
                        for column in columns
                    ],
                    names=list(columns),
                )
            if on_progress:
                on_progress(Progress("reading", number + 1, len(self._parts)))


def _partition(path: Path) -> dict[str, str]:
    """Return what the folders of a file say.

    >>> _partition(Path("uf=01/city=S%C3%A3o/part.parquet"))
    {'uf': '01', 'city': 'São'}
    """
    pairs = (part.partition("=") for part in path.parts[:-1] if "=" in part)
    return {
        unquote(column): MISSING if value == NO_VALUE else unquote(value)
        for column, _, value in pairs
    }


class DeltaTable(Source):
    """A folder of Delta Lake as a source: the records of its newest version."""

    def __init__(self, path: Path, *, name: str) -> None:
        library = reader_of("deltalake", name=name, kind="Delta Lake", extra="formats")
        try:
            table = library.DeltaTable(str(path.absolute()))
            self.files = tuple(Path(uri.removeprefix("file://")) for uri in table.file_uris())
            """The files of this version."""
            self._data = table.to_pyarrow_dataset()
            coded = self._coded()
            if coded:
                from pyarrow.dataset import (
                    ParquetReadOptions,
                )  # few need it, and all would wait for it

                schema = pa.schema(
                    field.with_type(pa.dictionary(pa.int32(), pa.string()))
                    if field.name in coded
                    else field
                    for field in self._data.schema
                )
                options = ParquetReadOptions(dictionary_columns=coded)
                self._data = table.to_pyarrow_dataset(parquet_read_options=options, schema=schema)
        except (library.exceptions.DeltaError, OSError, pa.ArrowException) as error:
            raise damage_error(name, "Delta Lake", error) from None
        super().__init__(name, self._data.schema.names)

    def _coded(self) -> list[str]:
        """Return the columns that all of its files hold as codes."""
        coded = [
            set(coded_columns(fragment.metadata, fragment.physical_schema))
            for fragment in self._data.get_fragments()
        ]
        return sorted(set.intersection(*coded)) if coded else []

    def coded_batches(
        self, columns: Sequence[str], *, on_progress: OnProgress | None = None
    ) -> Iterator[pa.RecordBatch]:
        """Yield the named columns as text."""
        check_columns(self, columns)
        done, total = 0, self._data.count_rows()
        try:
            for batch in self._data.to_batches(columns=list(columns)):
                yield as_text(batch, where=self._name)
                done += batch.num_rows
                if on_progress:
                    on_progress(Progress("reading", done, total))
        except (OSError, pa.ArrowException) as error:
            raise damage_error(self._name, "Delta Lake", error) from None
