"""Spreadsheets: Excel (xlsx, xlsb, xls) and OpenDocument (ods), by the rows of one sheet.

A cell that holds a number holds no code with leading zeros; what was written as text stays as it is.
"""

from __future__ import annotations

import re
import zipfile
from collections.abc import Iterator, Sequence
from itertools import islice
from pathlib import Path
from typing import Any

import pyarrow as pa

from glasshouse.errors import DataError, StudyError
from glasshouse.language import quoted, unknown_name
from glasshouse.progress import OnProgress, Progress
from glasshouse.sources.columnar import refuse_bomb
from glasshouse.sources.source import (
    Source,
    check_columns,
    damage_error,
    reader_of,
    values_text,
)
from glasshouse.study import Dialect

ROWS = 1 << 14
"""So many rows are turned into a batch at a time."""
_UNCALCULATED = re.compile(rb"</f>(<v ?/>|<v></v>)?</c>|<f[^>]*/>(<v ?/>|<v></v>)?</c>")
"""A cell with a formula whose result was not stored."""


class Sheet(Source):
    """One sheet of a workbook as a source."""

    def __init__(self, path: Path, *, dialect: Dialect, name: str) -> None:
        calamine = reader_of("python_calamine", name=name, kind="spreadsheet", extra="formats")
        _refuse_uncalculated(path, name)
        try:
            book = calamine.CalamineWorkbook.from_path(str(path.absolute()))
            self._sheet = _chosen(book, dialect.sheet, name)
        except (calamine.CalamineError, OSError) as error:
            raise damage_error(name, "spreadsheet", error) from None
        self._header = dialect.header
        first = next(self._sheet.iter_rows(), None)
        if first is None:
            raise DataError(
                "{name}: the sheet {sheet} is empty", name=name, sheet=quoted([self._sheet.name])
            )
        super().__init__(name, _names(first, dialect, name))

    def lines(self) -> list[list[str]]:
        """Return all rows of the sheet as text, blank ones too."""
        return [values_text(row).to_pylist() if row else [] for row in self._sheet.iter_rows()]

    def coded_batches(
        self, columns: Sequence[str], *, on_progress: OnProgress | None = None
    ) -> Iterator[pa.RecordBatch]:
        """Yield the named columns as text; rows in which nothing stands are no records."""
        check_columns(self, columns)
        positions = [self._columns.index(column) for column in columns]
        rows = self._sheet.iter_rows()
        if self._header:
            next(rows)
        done, total = 0, max(self._sheet.total_height, 1)
        while block := list(islice(rows, ROWS)):
            records = [row for row in block if any(row) or any(cell != "" for cell in row)]
            done += len(block)
            if records:
                cells = list(zip(*records, strict=True))
                arrays = [values_text(cells[position]) for position in positions]
                yield pa.record_batch(arrays, names=list(columns))
            if on_progress:
                on_progress(Progress("reading", done, max(total, done)))


def _chosen(book: Any, wanted: str | None, name: str) -> Any:
    """Return the sheet that is asked for, or the only one that has anything in it.

    Raises:
        StudyError: There is no such sheet, or there are several.
    """
    names: list[str] = book.sheet_names
    if wanted is not None:
        if wanted not in names:
            raise StudyError(unknown_name("sheet", wanted, name, names))
        return book.get_sheet_by_name(wanted)
    sheets = [book.get_sheet_by_name(sheet) for sheet in names]
    filled = [sheet for sheet in sheets if sheet.height]
    if len(filled) > 1:
        raise StudyError(
            "{name}: has {count} sheets: {sheets}; choose one with `sheet`",
            name=name,
            count=len(filled),
            sheets=quoted([sheet.name for sheet in filled]),
        )
    return (filled or sheets)[0]


def _names(first: Sequence[Any], dialect: Dialect, name: str) -> Sequence[str]:
    if dialect.names and len(dialect.names) != len(first):
        raise DataError(
            "{name}, line 1: has {fields} fields, but {names} names were given; give {fields}",
            name=name,
            fields=len(first),
            names=len(dialect.names),
        )
    if dialect.names:
        return dialect.names
    if not dialect.header:
        return [f"column_{number}" for number in range(1, len(first) + 1)]
    names: list[str] = values_text(first).to_pylist()
    return [cell.strip() for cell in names] if dialect.strip else names


def _refuse_uncalculated(path: Path, name: str) -> None:
    """Make sure that a workbook is no bomb, and has the results of its formulas.

    Raises:
        DataError: It is one, or lacks them: they would be read as missing.
    """
    if not zipfile.is_zipfile(path):
        return  # the older format of Excel
    try:
        with zipfile.ZipFile(path) as archive:
            entries = archive.infolist()
            grown = sum(entry.file_size for entry in entries)
            refuse_bomb(0, grown, path.stat().st_size, name)
            for entry in entries:
                if re.fullmatch(r"xl/worksheets/[^/]+\.xml", entry.filename):
                    with archive.open(entry) as sheet:
                        _refuse_formulas(sheet, name)
    except (zipfile.BadZipFile, OSError, EOFError) as error:
        raise damage_error(name, "spreadsheet", error) from None


def _refuse_formulas(sheet: Any, name: str) -> None:
    rest = b""
    while block := sheet.read(1 << 20):
        rest += block
        if _UNCALCULATED.search(rest):
            raise DataError(
                "{name}: holds formulas whose results are not stored; open it in a spreadsheet program, save it, and "
                "try again",
                name=name,
            )
        rest = rest[-64:]
