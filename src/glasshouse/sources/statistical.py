"""Files of statistical packages: SPSS (sav, zsav, por), Stata (dta) and SAS (sas7bdat, xpt).

The code is the value; what it stands for is kept as its label. Codes that the file calls missing are kept too. A code
whose label ends in ``(*)`` is what `glasshouse.sources.exports` writes for a suppressed value, and is read as one.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from glasshouse.errors import DataError
from glasshouse.progress import OnProgress
from glasshouse.sources.exports import MEASURES, SUPPRESSED_LABEL
from glasshouse.sources.source import (
    SUPPRESSED,
    Source,
    as_text,
    check_columns,
    damage_error,
    reader_of,
    text_batches,
    values_text,
)

CELLS = 1 << 22
"""So many values are read at a time; the library walks over all records before them again."""
SPSS_CLOCK = 10
"""Moments of SPSS are rounded to so many microseconds: as seconds since 1582 in a double they hold no more."""
_CARD = 80
"""SAS transport files are made of cards of so many bytes."""
PACKAGES = {
    "read_sav": "SPSS",
    "read_por": "SPSS",
    "read_dta": "Stata",
    "read_sas7bdat": "SAS",
    "read_xport": "SAS",
}
"""The functions that read each kind of file, and whose they are."""


class StatisticalFile(Source):
    """A file of a statistical package as a source."""

    def __init__(self, path: Path, *, reader: str, encoding: str | None, name: str) -> None:
        self._kind = PACKAGES[reader]
        self._library = reader_of("pyreadstat", name=name, kind=self._kind, extra="formats")
        if reader == "read_xport" and path.stat().st_size % _CARD:
            raise DataError("{name}: is cut short; fetch the file again", name=name)
        options: dict[str, Any] = {"output_format": "dict"}
        if encoding is not None:
            options["encoding"] = encoding
        if reader in ("read_sav", "read_dta", "read_sas7bdat"):
            options["user_missing"] = True
        self._read = partial(getattr(self._library, reader), str(path.absolute()), **options)
        try:
            _, self._content = self._read(metadataonly=True)
        except (self._library.ReadstatError, self._library.PyreadstatError, OSError) as error:
            raise damage_error(name, self._kind, error) from None
        except UnicodeDecodeError as error:
            raise damage_error(name, self._kind, error) from None
        self._letters: dict[str, set[str]] = defaultdict(set)
        self._labels = {
            column: dict(zip(_written(codes), codes.values(), strict=True))
            for column, codes in self._content.variable_value_labels.items()
        }
        self._suppressed = {
            column: code
            for column, codes in self._labels.items()
            for code, label in codes.items()
            if label.endswith(SUPPRESSED_LABEL)
        }
        super().__init__(name, self._content.column_names)

    @property
    def labels(self) -> Mapping[str, Mapping[str, str]]:
        """What values stand for, by column."""
        return {
            column: {
                code: label for code, label in codes.items() if code != self._suppressed.get(column)
            }
            for column, codes in self._labels.items()
        }

    @property
    def column_labels(self) -> Mapping[str, str]:
        """What columns stand for."""
        labels = self._content.column_names_to_labels
        return {column: label for column, label in labels.items() if label}

    @property
    def measures(self) -> Mapping[str, str]:
        """Whether columns are nominal, ordinal or of a scale, as SPSS says."""
        measures = self._content.variable_measure
        return {name: measure for name, measure in measures.items() if measure in MEASURES}

    @property
    def missing_ranges(self) -> Mapping[str, Sequence[tuple[str, str]]]:
        """From which to which value columns are declared missing, but for what stands for suppressed."""
        ranges = {
            column: tuple(tuple(_written([each["lo"], each["hi"]])) for each in declared)
            for column, declared in self._content.missing_ranges.items()
        }
        return {
            column: kept
            for column, declared in ranges.items()
            if (
                kept := tuple(
                    (low, high)
                    for low, high in declared
                    if not low == high == self._suppressed.get(column)
                )
            )
        }

    def missing_codes(self, column: str, values: pa.LargeStringArray) -> frozenset[str]:
        """Return those of the values of a column that the file calls missing; letters once they are read."""
        letters = self._letters[column]
        ranges = self._content.missing_ranges.get(column, ())
        if not letters and not ranges:
            return frozenset()
        return frozenset(
            value
            for value in values.to_pylist()
            if value in letters or any(_is_within(value, each["lo"], each["hi"]) for each in ranges)
        )

    def coded_batches(
        self, columns: Sequence[str], *, on_progress: OnProgress | None = None
    ) -> Iterator[pa.RecordBatch]:
        """Yield the named columns as text."""
        check_columns(self, columns)
        blocks = self._blocks(list(columns))
        expected = self._content.number_rows
        if expected is None:  # some SAS transport files do not say
            yield from (as_text(block, where=self._name) for block in blocks)
            return
        yield from text_batches(
            blocks, expected=expected, name=self._name, kind=self._kind, on_progress=on_progress
        )

    def _blocks(self, columns: list[str]) -> Iterator[pa.RecordBatch]:
        start, rows = 0, max(CELLS // len(columns), 1)
        while True:
            try:
                values, content = self._read(usecols=columns, row_offset=start, row_limit=rows)
            except (self._library.ReadstatError, self._library.PyreadstatError, OSError) as error:
                raise damage_error(self._name, self._kind, error) from None
            for column, letters in content.missing_user_values.items():
                self._letters[column].update(map(str, letters))
            arrays = [
                self._told(_array(values[column], suppressed=self._suppressed.get(column)))
                for column in columns
            ]
            if not len(arrays[0]):
                return
            yield pa.record_batch(arrays, names=columns)
            if len(arrays[0]) < rows:
                return
            start += rows

    def _told(self, column: pa.Array) -> pa.Array:
        """Return a column as finely as the file holds it."""
        if self._kind == "SPSS" and pa.types.is_timestamp(column.type):
            return pc.round_temporal(column, SPSS_CLOCK, "microsecond")
        return column


def _array(values: Sequence[Any], *, suppressed: str | None) -> pa.Array:
    """Return a column as Arrow has it; letters among numbers (``.a`` of Stata) make all of it text."""
    if suppressed is not None:
        texts = values_text(values)
        return pc.if_else(pc.equal(texts, suppressed), SUPPRESSED, texts)
    try:
        return pa.array(values, from_pandas=True)
    except pa.ArrowException:
        return values_text(values)


def _written(values: Iterable[Any]) -> list[str]:
    """Return values one by one as text, as whole columns are written."""
    texts: list[str] = values_text(list(values)).to_pylist()
    return texts


def _is_within(value: str, low: Any, high: Any) -> bool:
    """Tell whether a value lies between two, as numbers or as texts.

    >>> _is_within("98.5", 97.0, 99.0), _is_within("NA", "NA", "NA"), _is_within("", 97.0, 99.0)
    (True, True, False)
    """
    if isinstance(low, str):
        return bool(low.strip() <= value.strip() <= high.strip())
    try:
        return bool(low <= float(value) <= high)
    except ValueError:
        return False
