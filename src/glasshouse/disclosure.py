"""What a report may show: totals, but no small count of people who have particular values in common.

A count of people attached to values (a cell, such as “students of school 12 aged 17”) below a threshold tells of
few enough people to be about each of them, so it is shown as “fewer than 10”. Totals over the whole release, such as
the number of unique records, say nothing of who they are and are exact. The analyst's own JSON and Parquet are exact
throughout.

Beside an exact total a small part can be found by subtraction, so other parts are left out with it (`hidden_parts`).
"""

from __future__ import annotations

from collections.abc import Sequence

from glasshouse.errors import StudyError
from glasshouse.language import number, standing, text

SMALLEST_CELL = 10
"""From how many people on a count of those with particular values is shown, unless told otherwise."""

CERTAIN_FROM = 10
"""Of fewer people than so many times the smallest count, that all share a secret is not told either."""

_smallest = SMALLEST_CELL


def show_cells_from(smallest: int) -> None:
    """Show counts of people with particular values only from so many on, in the whole process.

    Raises:
        StudyError: It is not a positive number.
    """
    global _smallest
    if smallest < 1:
        raise StudyError(
            "the smallest count to show is {smallest}; it must be at least 1",
            smallest=str(smallest),
        )
    _smallest = smallest


def smallest_cell() -> int:
    """Return from how many people on a count of those with particular values is shown."""
    return _smallest


standing("smallest", smallest_cell)  # every message may say “fewer than {smallest}”


def is_shown(count: int) -> bool:
    """Tell whether a count of people with particular values may be shown; none is nobody's secret."""
    return count == 0 or count >= _smallest


def cell_count(count: int) -> str:
    """Return a count of people with particular values, or that it is a small one.

    >>> cell_count(0), cell_count(9), cell_count(1234)
    ('0', 'fewer than 10', '1,234')
    """
    return number(count) if is_shown(count) else text("fewer than {smallest}")


def rounded_count(count: int) -> str:
    """Return a count of people with particular values so that no small one follows from two of them: rounded.

    >>> rounded_count(7), rounded_count(104), rounded_count(0)
    ('fewer than 10', '≈ 100', '0')
    """
    if not is_shown(count) or count == 0 or _smallest == 1:
        return cell_count(count)
    return f"≈ {number(round(count / _smallest) * _smallest)}"


def hidden_parts(cells: Sequence[Sequence[float]]) -> frozenset[int]:
    """Return the places of the parts to leave out, so that no small one can be found, not even by subtraction.

    These are the small ones and, while what is left out would not cover them (`cover_each_other`), the smallest of
    the others.

    Args:
        cells: The counts of each part that must not be small, such as of people and of records; the first one says
            which part is the smallest.

    >>> sorted(hidden_parts([(60,), (3,), (20,)])), sorted(hidden_parts([(60,), (3,), (7,)]))
    ([1, 2], [1, 2])
    >>> sorted(hidden_parts([(60,), (3,)])), sorted(hidden_parts([(60,), (30,)]))
    ([0, 1], [])
    """
    hidden = [place for place, counts in enumerate(cells) if min(counts) < _smallest]
    visible = sorted(set(range(len(cells))) - set(hidden), key=lambda place: tuple(cells[place]))
    while hidden and visible and not cover_each_other([cells[place] for place in hidden]):
        hidden.append(visible.pop(0))
    return frozenset(hidden)


def column_counts(counts: Sequence[int], rest: int = 0) -> list[str]:
    """Return the counts of a column whose sum is told elsewhere, so that no small one can be found by subtraction.

    Args:
        counts: The counts of people with particular values, row by row.
        rest: How many more are in the sum and in no row.

    With the small ones the last other one is left out, and those before it until they cover each other. Which one does
    not depend on how many it has: a choice by size would tell that it is no larger than those that are told. Where
    several rows are left out they look alike: of two below 10 that sum up to 18, both would be known.

    >>> column_counts([100, 50, 3]), column_counts([100, 50, 0]), column_counts([100, 9, 9])
    (['100', 'not shown', 'not shown'], ['100', '50', '0'], ['100', 'not shown', 'not shown'])
    >>> column_counts([3, 50, 100]), column_counts([100, 50, 3], rest=40)
    (['not shown', '50', 'not shown'], ['100', '50', 'fewer than 10'])
    """
    hidden = hidden_counts(counts, rest)
    return [
        text("not shown") if place in hidden and len(hidden) > 1 else cell_count(count)
        for place, count in enumerate(counts)
    ]


def hidden_counts(counts: Sequence[int], rest: int = 0) -> frozenset[int]:
    """Return the places of the counts of a column that are not told: the small ones, and those that cover them.

    What covers a small one is the last other one, whatever it is: the smallest other one would be known to be no larger
    than those that are told.

    >>> sorted(hidden_counts([100, 50, 3])), sorted(hidden_counts([100, 50, 3], rest=40))
    ([1, 2], [2])
    """
    if all(map(is_shown, counts)):
        return frozenset()
    cells = {place: count for place, count in enumerate((*counts, rest)) if count}
    hidden = [place for place in cells if not is_shown(cells[place])]
    if max(cells) not in hidden:
        hidden.append(max(cells))
    for place in sorted(set(cells) - set(hidden), reverse=True):
        if not cover_each_other([(cells[place],) for place in hidden]):
            hidden.append(place)
    return frozenset(hidden) - {len(counts)}


def cover_each_other(cells: Sequence[Sequence[float]]) -> bool:
    """Tell whether the sum over some parts tells nothing of any: they are several, many together, and not all of one.

    >>> cover_each_other([(3,), (7,)]), cover_each_other([(3,), (6,)]), cover_each_other([(30,)])
    (True, False, False)
    >>> cover_each_other([(1,)] * 10), cover_each_other([(1,)] * 9 + [(2,)])
    (False, True)
    """
    sums = [sum(counts) for counts in zip(*cells, strict=True)]
    return len(cells) > 1 and all(total >= _smallest and total > len(cells) for total in sums)
