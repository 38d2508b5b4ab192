"""What a report may show: totals, but no small count of people who have particular values in common.

A count of people attached to values (a cell, such as “students of school 12 aged 17”) below a threshold tells of
few enough people to be about each of them, so it is shown as “fewer than 10”. Totals over the whole release, such as
the number of unique records, say nothing of who they are and are exact. The analyst's own JSON and Parquet are exact
throughout.
"""

from __future__ import annotations

from glasshouse.errors import StudyError
from glasshouse.language import number, text

SMALLEST_CELL = 10
"""From how many people on a count of those with particular values is shown, unless told otherwise."""

_smallest = SMALLEST_CELL


def show_cells_from(smallest: int) -> None:
    """Show counts of people with particular values only from so many on, in the whole process.

    Raises:
        StudyError: It is not a positive number.
    """
    global _smallest
    if smallest < 1:
        raise StudyError(
            text(
                "the smallest count to show is {smallest}; it must be at least 1",
                smallest=str(smallest),
            )
        )
    _smallest = smallest


def smallest_cell() -> int:
    """Return from how many people on a count of those with particular values is shown."""
    return _smallest


def is_shown(count: int) -> bool:
    """Tell whether a count of people with particular values may be shown; none is nobody's secret."""
    return count == 0 or count >= _smallest


def cell_count(count: int) -> str:
    """Return a count of people with particular values, or that it is a small one.

    >>> cell_count(0), cell_count(9), cell_count(1234)
    ('0', 'fewer than 10', '1,234')
    """
    return number(count) if is_shown(count) else text("fewer than {smallest}", smallest=_smallest)
