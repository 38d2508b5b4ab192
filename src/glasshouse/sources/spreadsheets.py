"""Spreadsheets: Excel (xlsx, xlsb, xls) and OpenDocument (ods), by the rows of one sheet.

A cell that holds a number holds no code with leading zeros; what was written as text stays as it is.
"""

from __future__ import annotations

import re
import zipfile
from collections.abc import Iterator, Sequence
from datetime import date, datetime, time, timedelta
from itertools import islice
from pathlib import Path
from typing import Any

import pyarrow as pa

from glasshouse.errors import DataError, StudyError
from glasshouse.language import quoted, unknown_name
from glasshouse.progress import OnProgress, Progress
from glasshouse.sources.columnar import refuse_bomb
from glasshouse.sources.source import (
    EXACT_INTEGERS,
    MISSING,
    Source,
    check_columns,
    damage_error,
    reader_of,
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
            sheet = _chosen(book, dialect.sheet, name)
            self._sheet = book.get_sheet_by_name(sheet)
        except calamine.CalamineError as error:
            raise damage_error(name, "spreadsheet", error) from None
        self._header = dialect.header
        first = next(self._sheet.iter_rows(), None)
        if first is None:
            raise DataError("{name}: the sheet {sheet} is empty", name=name, sheet=quoted([sheet]))
        super().__init__(name, _names(first, dialect, name))

    def batches(
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
            records = [row for row in block if any(cell != "" for cell in row)]
            arrays = [
                pa.array([_text(row[position]) for row in records], pa.string())
                for position in positions
            ]
            done += len(block)
            if records:
                yield pa.record_batch(arrays, names=list(columns))
            if on_progress:
                on_progress(Progress("reading", done, max(total, done)))


def _chosen(book: Any, wanted: str | None, name: str) -> str:
    """Return the sheet that is asked for, or the only one that has anything in it.

    Raises:
        StudyError: There is no such sheet, or there are several.
    """
    sheets: list[str] = book.sheet_names
    if wanted is not None:
        if wanted not in sheets:
            raise StudyError(unknown_name("sheet", wanted, name, sheets))
        return wanted
    filled = [sheet for sheet in sheets if book.get_sheet_by_name(sheet).height]
    if len(filled) > 1:
        raise StudyError(
            "{name}: has {count} sheets: {sheets}; choose one with `sheet`",
            name=name,
            count=len(filled),
            sheets=quoted(filled),
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
    return [_text(cell).strip() if dialect.strip else _text(cell) for cell in first]


def _text(cell: Any) -> str:
    """Return a cell as text: whole numbers without a point, days without a time.

    >>> [_text(cell) for cell in (35.0, 1.5, "01310", datetime(2020, 1, 31), True, "")]
    ['35', '1.5', '01310', '2020-01-31', 'True', '']
    """
    if isinstance(cell, str):
        return cell
    if isinstance(cell, float) and cell.is_integer() and abs(cell) < EXACT_INTEGERS:
        return str(int(cell))
    if isinstance(cell, datetime):
        is_day = cell.time() == time()
        return cell.date().isoformat() if is_day else cell.isoformat(sep=" ")
    if isinstance(cell, date | time):
        return cell.isoformat()
    if isinstance(cell, timedelta):
        return str(cell)
    return MISSING if cell is None else str(cell)


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
