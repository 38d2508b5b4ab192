"""Tables as people have them: a title above, footnotes below, one header row or two, and bands in words.

What is a title, a footnote or a header follows from where cells stand, and never from what a count would be: a line
that could be a row of suppressed counts is one, unless a blank line or a sign of a note stands before it.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from itertools import pairwise
from typing import TypeVar

from glasshouse.errors import DataError
from glasshouse.language import quoted

_NOTE = re.compile(
    r"\s*(\*|†|‡|[¹²³⁴⁵⁶⁷⁸⁹]|\(?\d+\)|\[\w+\]|sources?\b|notes?\b|fontes?\b|notas?\b|obs)",
    re.IGNORECASE,
)
"""How a footnote begins."""
_BETWEEN = re.compile(
    r"(?:\w+ )?(?:de |from )?(\d+)(?: \w+)?\s*(?:-|–|—|to|a|até|bis|à)\s*(\d+)(?: \w+)?",
    re.IGNORECASE,
)
_FROM = re.compile(
    r"(\d+)(?: \w+)?\s*(?:\+|and (?:over|older|more)|or (?:over|older|more)|e mais|ou mais|e acima)(?: \w+)?",
    re.IGNORECASE,
)
_BELOW = re.compile(
    r"(?:under|below|less than|menos de|menores de|abaixo de|<)\s*(\d+)(?: \w+)?", re.IGNORECASE
)
_ONE = re.compile(r"(\d+)(?: \w+)?", re.IGNORECASE)
T = TypeVar("T")
Band = tuple[int, int | None]
"""The first and the last whole number of a band; None: it has no end."""


def band_of(label: str) -> Band | None:
    """Return the numbers that a label stands for; None: it is no band.

    >>> [band_of(label) for label in ("0-4", "5 to 9", "65+", "15 anos ou mais", "under 5", "7", "north")]
    [(0, 4), (5, 9), (65, None), (15, None), (0, 4), (7, 7), None]
    """
    plain = " ".join(label.split())
    if match := _BETWEEN.fullmatch(plain):
        first, last = int(match[1]), int(match[2])
        return (first, last) if first <= last else None
    if match := _FROM.fullmatch(plain):
        return int(match[1]), None
    if match := _BELOW.fullmatch(plain):
        return (0, int(match[1]) - 1) if int(match[1]) else None
    if match := _ONE.fullmatch(plain):
        return int(match[1]), int(match[1])
    return None


def common_bands(labels: Iterable[str]) -> dict[str, None] | None:
    """Return the parts that all labels are made of, in order, where these are bands and overlap; None: they do not.

    >>> [*common_bands(["0-4", "5-9", "0 to 9", "10+"])]
    ['0-4', '5-9', '10+']
    >>> [*common_bands(["0-4", "0 a 4 anos"])], common_bands(["0-4", "5-9"]), common_bands(["1", "01"])
    (['0-4'], None, None)
    """
    bands = {label: band_of(label) for label in labels}
    numbers = {label: band for label, band in bands.items() if band is not None}
    in_words = any(not label.strip().isdecimal() for label in numbers)
    if len(numbers) < len(bands) or not in_words or not _overlap(list(numbers.values())):
        return None
    starts = {first for first, _ in numbers.values()}
    starts |= {last + 1 for _, last in numbers.values() if last is not None}
    edges: list[int | None] = [*sorted(starts), None]
    return {
        _written(first, None if after is None else after - 1): None
        for first, after in pairwise(edges)
        if first is not None and any(_holds(band, first) for band in numbers.values())
    }


def values_in_band(label: str, values: Mapping[str, T]) -> tuple[T, ...] | None:
    """Return the values that lie in the band of a label; None: it is none, or cuts one of them.

    >>> values_in_band("5 to 14", {"0-4": "a", "5-9": "b", "10-14": "c"}), values_in_band("5-12", {"5-9": 1, "10+": 2})
    (('b', 'c'), None)
    """
    band = band_of(label)
    if band is None:
        return None
    inside = []
    for written, value in values.items():
        other = band_of(written)
        if other is None:
            return None
        last = other[1]
        whole = _holds(band, other[0]) and (band[1] is None if last is None else _holds(band, last))
        if whole:
            inside.append(value)
        elif _overlap([band, other]):
            return None
    return tuple(inside) or None


def _overlap(bands: Sequence[Band]) -> bool:
    ordered = sorted(bands, key=lambda band: band[0])
    return any(last is None or last >= first for (_, last), (first, _) in pairwise(ordered))


def _holds(band: Band, number: int) -> bool:
    return band[0] <= number and (band[1] is None or number <= band[1])


def _written(first: int, last: int | None) -> str:
    if last is None:
        return f"{first}+"
    return str(first) if first == last else f"{first}-{last}"


def table_on_page(
    cells: Sequence[Sequence[str]], by: Sequence[str], totals: frozenset[str], *, file: str
) -> tuple[tuple[str, ...], list[tuple[tuple[str, ...], str]]]:
    """Return the attributes of a table on a page, and per combination of labels what is published.

    Args:
        cells: The cells, line by line; a blank line has none.
        by: The attributes; empty: long, all columns but the last.
        totals: What totals are called.
        file: Its name, for messages.

    Raises:
        DataError: No header has the attributes, or something stands below the table that is no note.
    """
    first = next((n for n, line in enumerate(cells) if sum(map(bool, line)) > 1), len(cells))
    names = list(by) or [cell for cell in (cells[first] if first < len(cells) else ()) if cell][:-1]
    named = [n for n, line in enumerate(cells) if any(name in line for name in names)]
    start = named[0] if named else first
    head = cells[start] if start < len(cells) else []
    down = [name for name in names if name in head]
    across = [name for name in names if name not in down]
    has_two = len(across) == 2
    if len(across) > 2 or not down:
        raise DataError(
            "{file}: has the columns {columns}; a long table has those of `by` and one of counts, a wide one all of "
            "`by` but one, whose values are the other columns, or but two with two header rows",
            file=file,
            columns=quoted([cell for cell in head if cell]),
        )
    above, below = list(head), []
    if has_two:
        under = list(cells[start + 1]) if start + 1 < len(cells) else []
        under += [""] * (len(head) - len(under))
        # Where labels stand under the attributes, these stand in the lower of the two rows.
        if any(under[head.index(name)] for name in down):
            above, below = list(cells[start - 1]) if start else [], list(head)
        else:
            below, start = under, start + 1
    width = max(len(above), len(below) if has_two else 0)
    above += [""] * (width - len(above))
    below += [""] * (width - len(below))
    place = {name: head.index(name) for name in down}
    heads = _heads(above, below if has_two else None, set(place.values()), across, totals, file)
    if not across and len(heads) != 1:
        raise DataError(
            "{file}: has the columns {columns}; name with `by` which are attributes",
            file=file,
            columns=quoted([cell for cell in head if cell]),
        )
    rows = []
    before = dict.fromkeys(down, "")
    for line in _body(cells[start + 1 :], file):
        if len(line) < width or any(line[width:]):
            raise DataError(
                "{file}: the row of {label} has {fields} cells, and the header {columns}; correct it",
                file=file,
                label=quoted([next(filter(None, line))]),
                fields=len(line),
                columns=width,
            )
        for number, name in enumerate(down):
            label = line[place[name]]
            is_merged = not label and number < len(down) - 1 and bool(before[name])
            before[name] = before[name] if is_merged else label
        if not all(before.values()):
            raise DataError("{file}: a row has no label; fill it in", file=file)
        for column, labels in heads.items():
            key = before | dict(zip(across, labels, strict=True))
            rows.append((tuple(key[name] for name in names), line[column]))
    return tuple(names), rows


def _heads(
    above: Sequence[str],
    below: Sequence[str] | None,
    taken: set[int],
    across: Sequence[str],
    totals: frozenset[str],
    file: str,
) -> dict[int, tuple[str, ...]]:
    """Return the columns of counts, and what their header says: an empty upper cell is that on its left."""
    heads: dict[int, tuple[str, ...]] = {}
    upper = ""
    for column, label in enumerate(above):
        upper = label or upper
        if column in taken:
            upper = ""
            continue
        if below is None:
            if label or across:
                heads[column] = (label,) if across else ()
            continue
        lower = below[column]
        if upper.casefold() in totals and not lower:
            lower = upper
        if not upper and not lower:
            continue
        if not upper or not lower:
            raise DataError(
                "{file}: of the two header rows one has nothing over or under {label}; fill it in",
                file=file,
                label=quoted([upper or lower]),
            )
        heads[column] = (upper, lower)
    return heads


def _body(lines: Sequence[Sequence[str]], file: str) -> list[Sequence[str]]:
    """Return the rows of a table without the notes below it.

    Raises:
        DataError: Behind a blank line something stands that is no note.
    """
    rows: list[Sequence[str]] = []
    is_over = False
    for line in lines:
        alone = sum(map(bool, line)) == 1 and bool(line[0])
        if not line:
            is_over = is_over or bool(rows)
        elif alone and (is_over or _NOTE.match(line[0])):
            is_over = True
        elif is_over:
            raise DataError(
                "{file}: behind the table more stands than notes: {cell}; give every table a file of its own",
                file=file,
                cell=quoted([next(filter(None, line))]),
            )
        else:
            rows.append(line)
    return rows
