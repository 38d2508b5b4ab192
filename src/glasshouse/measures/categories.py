"""The most frequent values of a column that may be told, with shares from which no small count can be worked out."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from fractions import Fraction

from glasshouse.disclosure import smallest_cell
from glasshouse.language import percentage
from glasshouse.table import Role
from glasshouse.table.identifiers import DIRECT
from glasshouse.table.profiles import (
    FREE_TEXT,
    MANY_VALUES,
    ColumnProfile,
)

LONGEST_VALUE = 40
"""No column with a longer value among the most frequent is one of categories."""
UNNAMED = re.compile(r"column_[0-9]+")
"""What a column is called that has no name."""


def shown_categories(column: ColumnProfile) -> list[tuple[str, str]]:
    """Return the most frequent values of a column that may be told, each with its share.

    >>> from glasshouse.table import Role
    >>> column = ColumnProfile("sex", 1000, "text", 2, 0, 0, Role.IGNORED, "", categories=(("F", 520), ("M", 480)))
    >>> shown_categories(column)
    [('F', '52%'), ('M', '48%')]
    """
    if column.looks_like in (*DIRECT, FREE_TEXT) or column.role is Role.IDENTIFIER:
        return []  # names, too, that many share
    if column.distinct > MANY_VALUES * column.records:
        return []
    if any(len(value) > LONGEST_VALUE for value, _ in column.categories):
        return []
    has_words = any(" " in value.strip() for value, _ in column.categories)
    if has_words and column.kind == "text" and UNNAMED.fullmatch(column.name):
        return []  # which may be names of people: nothing says what it holds
    smallest = smallest_cell()
    shown = [(value, count) for value, count in column.categories if count >= smallest]
    is_small = 0 < column.missing < smallest
    while shown:
        hidden = column.distinct - len(shown) + is_small
        if not hidden or (column.rarest >= smallest and not is_small):
            break
        told = column.records - (0 if is_small else column.missing)
        if _is_covered([count for _, count in shown], hidden, told, column.records):
            break
        shown.pop()
    return [(value, percentage(Fraction(n, column.records), digits=0)) for value, n in shown]


def _is_covered(counts: Sequence[int], hidden: int, told: int, records: int) -> bool:
    """Tell whether the shares of some values say nothing of any other, of which one is small.

    What the others are together lies between two bounds. Either each of them may have one record there, and one of them
    enough to be told; or they are several and many, so that the smallest of them may have one record though none has
    more than the least that is shown. The second is asked for with room to spare: that a further value is left out
    tells something too.
    """
    smallest = smallest_cell()
    bounds = [_counts_of_share(count, records) for count in counts]
    least = told - sum(high for _, high in bounds)
    most = told - sum(low for low, _ in bounds)
    if least <= hidden and most >= hidden - 1 + smallest:
        return True
    is_many = least >= smallest + max(smallest, hidden + 1)
    return is_many and least + smallest <= (hidden - 1) * bounds[-1][0]


def _counts_of_share(count: int, records: int) -> tuple[int, int]:
    """Return the least and the greatest count with the same share in whole per cent.

    >>> _counts_of_share(500, 1000), _counts_of_share(5, 1000), _counts_of_share(995, 1000), _counts_of_share(7, 7)
    ((495, 504), (1, 9), (991, 999), (7, 7))
    """
    hundred = 100 * count
    if count == records:
        return records, records
    if hundred < records:
        return 1, math.ceil(Fraction(records, 100)) - 1
    if hundred > 99 * records:
        return math.floor(Fraction(99 * records, 100)) + 1, records - 1
    per_cent = (2 * hundred + records) // (2 * records)
    low = math.ceil(Fraction((2 * per_cent - 1) * records, 200))
    high = math.ceil(Fraction((2 * per_cent + 1) * records, 200)) - 1
    return max(low, math.ceil(Fraction(records, 100))), min(
        high, math.floor(Fraction(99 * records, 100))
    )
