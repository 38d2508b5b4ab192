"""Small files as they lie on the page: every cell as text, titles and footnotes too."""

from __future__ import annotations

import csv
from pathlib import Path

from glasshouse.errors import DataError
from glasshouse.sources.delimited import DelimitedFile
from glasshouse.sources.entry import open_source
from glasshouse.sources.spreadsheets import Sheet
from glasshouse.study import Dialect

MOST_LINES = 1_000_000
"""A file with more lines is no page."""


def cells_of(path: Path, *, dialect: Dialect) -> list[list[str]]:
    """Return the cells of a spreadsheet, or of delimited text, line by line; no cells: the line is blank.

    Raises:
        DataError: It is neither, or too long.
    """
    # The first line may be a title, which names no columns.
    source = open_source(path, dialect=dialect.model_copy(update={"header": False}))
    if isinstance(source, Sheet):
        lines = source.lines()
    elif isinstance(source, DelimitedFile):
        form = source.form
        with path.open(encoding=form.encoding, newline="") as file:
            lines = list(
                csv.reader(file, delimiter=form.separator, quotechar=form.quote)
                if form.quote
                else csv.reader(file, delimiter=form.separator, quoting=csv.QUOTE_NONE)
            )
    else:
        raise DataError(
            "{name}: a table with titles is read from delimited text or a spreadsheet",
            name=source.name,
        )
    if len(lines) > MOST_LINES:
        raise DataError(
            "{name}: has more than {most} lines; leave out titles and footnotes, so that it is read as a long table",
            name=source.name,
            most=MOST_LINES,
        )
    stripped = [[cell.strip().removeprefix("\ufeff") for cell in line] for line in lines]
    return [line if any(line) else [] for line in stripped]
