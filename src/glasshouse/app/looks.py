"""A first look at a file: how it was read and how else it could be, what each column holds, and its first records."""

from __future__ import annotations

import re
from collections import OrderedDict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from threading import Lock
from typing import TYPE_CHECKING, Any

from glasshouse.app.workspace import MOST_OPEN, Entry
from glasshouse.disclosure import is_shown
from glasshouse.errors import DataError, StudyError
from glasshouse.language import marked, spoken, text, text_for, translated

if TYPE_CHECKING:
    import numpy.typing as npt

    from glasshouse.arrays import Floats, Integers
    from glasshouse.sources import Source
    from glasshouse.study import Dialect
    from glasshouse.table import ColumnProfile, EncodedColumn, EncodedTable, TableProfile

PREVIEWED = 20
"""So many records are shown, masked."""
MOST_COLUMNS = 4096
"""A file of more columns is not looked at: nobody says of each what it is."""
READING = (
    *("skip", "skip_end", "separator", "quote", "encoding", "decimal", "header", "strip"),
    "totals",
)
"""What can be said of how a text file is written: entries of its dialect, and what is done with totals."""
QUOTES = {'"': '"', "'": "'", "none": marked("no sign")}
"""What may stand around fields, as the page calls it."""
BARS = 16
"""So many bars a small histogram has."""
MISSING = "missing"
"""What an address calls values that stand for missing: the place of the column, a dot, and the value."""
SEPARATORS = {",": ",", ";": ";", "tab": marked("tabulator"), "|": "|"}
"""What may stand between fields, as the page calls it."""
ENCODINGS = ("utf-8", "cp1252", "cp850", "utf-16")
"""Encodings that are proposed; any other can be written."""
LONGEST_SAID = 40
_KEYWORD = re.compile("`([a-z_]+)`")


class Look:
    """A first look at a file.

    Args:
        entry: The file.
        dialect: How it is written, as far as somebody said it.
        missing: By column, the values that stand for missing, as far as somebody said it.
    """

    def __init__(
        self, entry: Entry, dialect: Dialect, missing: Mapping[str, tuple[str, ...]]
    ) -> None:
        from glasshouse.runs.reading import first_read
        from glasshouse.sources import open_source
        from glasshouse.sources.delimited import DelimitedFile
        from glasshouse.study import Dataset

        self.entry = entry
        self.dataset = Dataset(path=entry.path, dialect=dialect, missing=dict(missing))
        width = len(open_source(entry.path, dialect=dialect).columns)
        if width > MOST_COLUMNS:
            raise DataError(
                "{name} has {columns} columns, too many to be shown; ask glasshouse assess of those that matter",
                name=entry.path.name,
                columns=width,
            )
        source, self.table = first_read(self.dataset, None)
        self.has_more = _has_more(source, self.table.records)
        self.is_text = isinstance(source, DelimitedFile)
        self.title = source.title_lines if isinstance(source, DelimitedFile) else 0
        self.has_groups = isinstance(source, DelimitedFile) and source.has_groups
        self._profiles: dict[str, TableProfile] = {}

    @property
    def profile(self) -> TableProfile:
        """What it holds, in the language that is spoken."""
        from glasshouse.table import table_profile

        if spoken() not in self._profiles:
            self._profiles[spoken()] = table_profile(self.table)
        return self._profiles[spoken()]

    @property
    def maybe_missing(self) -> list[tuple[int, str, str]]:
        """The values that may stand for missing, or are said to: the place of the column, its name, and the value."""
        said = self.dataset.missing
        return [
            (place, column.name, value)
            for place, column in enumerate(self.profile.columns)
            for value in dict.fromkeys(
                (*said.get(column.name, ()), *(one for one, _ in column.maybe_missing))
            )
        ]

    @property
    def types(self) -> dict[str, str]:
        """The columns that are numbers by the decimal sign that was said, where it is not the usual one."""
        sign = self.dataset.dialect.decimal
        if sign == ".":
            return {}
        return {
            column.name: "number"
            for column in self.profile.columns
            if any(decimal == sign for decimal, _ in column.numbers)
            and not any(decimal == "." for decimal, _ in column.numbers)
        }

    @property
    def lacks_header(self) -> bool:
        """Whether its first line looks like a record."""
        return self.profile.lacks_header and self.dataset.dialect.header

    @cached_property
    def nobody(self) -> tuple[str, ...]:
        """The conditions of records that are nobody's; all of the file is looked at."""
        from glasshouse.runs.reading import nobody_in

        return nobody_in(self.dataset) if self.has_more else self.profile.strays

    @property
    def doubt(self) -> tuple[str, dict[str, str]]:
        """What seems to be wrong with how it is read, and what would be said instead; nothing: nothing does."""
        if self.title and self.has_groups:
            sentence = text(
                "Line {line} looks as if it said which columns belong together, and the next line what each is called.",
                line=str(self.title),
            )
            return sentence, {"skip": str(self.title)}
        if self.title:
            sentence = text_for(
                self.title,
                "The first line looks like a title, and the table begins behind it.",
                "The first {count} lines look like a title, and the table begins behind them.",
            )
            return sentence, {"skip": str(self.title)}
        if self.lacks_header:
            return text("The first line looks like a record, not like names."), {"header": "no"}
        return "", {}


def reading_of(said: Callable[[str], str | None]) -> dict[str, str]:
    """Return what a form, or an address, says of how a file is written."""
    return {name: written for name in READING if (written := (said(name) or "").strip())}


def reading_label(name: str) -> str:
    """Return what the page calls something that can be said of how a file is written."""
    from glasshouse.study import Dialect
    from glasshouse.study.entry import label_of

    words = {
        "totals": marked("Totals, subtotals and remarks among the records"),
        "quote": marked("Sign around fields"),
        "decimal": marked("Decimal sign of numbers"),
        "strip": marked("Blanks around values"),
    }
    return translated(words[name]) if name in words else label_of(Dialect, name)


def dialect_of(reading: Mapping[str, str]) -> Dialect:
    """Return how a file is written, of what somebody said.

    Raises:
        StudyError: It makes no sense.
    """
    from glasshouse.study import Dialect, validated

    content: dict[str, Any] = {}
    for name in ("skip", "skip_end"):
        if written := reading.get(name):
            if not re.fullmatch("[0-9]{1,6}", written):
                raise StudyError(
                    "“{written}” is not a number of lines, such as 1 (`{setting}`)",
                    written=written[:LONGEST_SAID],
                    setting=name,
                )
            content[name] = int(written)
    spoken_of = ("encoding", "separator", "quote", "decimal")
    content |= {name: reading[name] for name in spoken_of if name in reading}
    content |= {"header": False} if reading.get("header") == "no" else {}
    content |= {"strip": True} if reading.get("strip") == "yes" else {}
    return validated(Dialect, content, "app")


def typed(reading: Mapping[str, str]) -> list[str]:
    """Return what was said of how a file is written, as it is typed."""
    words = []
    for name in ("skip", "skip_end", "encoding", "separator", "quote", "decimal"):
        if name in reading:
            words += [f"--{name.replace('_', '-')}", reading[name]]
    words += ["--strip"] * (reading.get("strip") == "yes")
    return words + ["--no-header"] * (reading.get("header") == "no")


def proposed_by(message: str) -> dict[str, str]:
    """Return what a message proposes to say of how a file is written.

    >>> proposed_by("a.csv, line 9: has 1 field; if the last 2 lines are no records, say `skip_end` 2")
    {'skip_end': '2'}
    """
    match = re.search("`(skip|skip_end)` ([0-9]{1,6})$", message)
    return {match[1]: match[2]} if match else {}


def in_fields(message: str) -> str:
    """Return a message with the fields of the page where it speaks of Python's keywords."""
    return _KEYWORD.sub(
        lambda match: (
            f"“{reading_label(match[1])}”"
            if match[1] in READING
            else f"--{match[1].replace('_', '-')}"
        ),
        message,
    )


def _has_more(source: Source, records: int) -> bool:
    """Tell whether a file has more records than these; no more of it is read than it takes to know."""
    for batch in source.batches(source.columns[:1]):
        records -= len(batch)
        if records < 0:
            return True
    return False


def missing_said(entries: Sequence[str], columns: Sequence[str]) -> dict[str, tuple[str, ...]]:
    """Return by column the values that stand for missing, of what an address or a form says.

    >>> missing_said(["1.NA", "1.?", "9.x", "y"], ["age", "sex"])
    {'sex': ('NA', '?')}
    """
    said: dict[str, tuple[str, ...]] = {}
    for entry in entries:
        place, _, value = entry.partition(".")
        if re.fullmatch("[0-9]{1,4}", place) and int(place) < len(columns) and value:
            name = columns[int(place)]
            said[name] = (*said.get(name, ()), value)
    return said


@dataclass(frozen=True)
class Bar:
    """One bar of a small histogram."""

    height: float
    """Of the highest, from 0 to 1."""
    is_hidden: bool
    """Whether it stands for fewer people than are told of."""


def histogram(column: EncodedColumn, profile: ColumnProfile) -> list[Bar]:
    """Return how the values of a column are distributed, in a few bars; nothing of one that names people.

    Numbers and dates are in their order; of other values the most frequent ones are first. What fewer records have than
    are told of is not drawn.
    """
    import numpy as np

    if profile.is_direct or not profile.distinct:
        return []
    values, tally = column.values.to_pylist(), column.tally
    there = [place for place, value in enumerate(values) if value]
    counts = np.array([tally[place] for place in there])
    amounts = amounts_of([values[place] for place in there], profile)
    if amounts is None and len(there) == profile.records:
        return []
    return spread(amounts, counts, whole=profile.kind != "number")


def spread(amounts: Floats | None, counts: Integers | Floats, *, whole: bool = True) -> list[Bar]:
    """Return how amounts are distributed, in their order, in a few bars; of words, the most frequent ones first.

    Where amounts are whole, such as days, each bar is of as many of them.
    """
    import numpy as np

    if amounts is None:
        return bars(np.sort(counts)[::-1][:BARS])
    is_there = np.isfinite(amounts)
    amounts, counts = amounts[is_there], counts[is_there]
    edges: list[float] | int = min(BARS, len(amounts) or 1)
    if whole and len(amounts):
        low, high = int(amounts.min()), int(amounts.max())
        width = -(-(high - low + 1) // BARS)
        edges = [low - 0.5 + place * width for place in range(-(-(high - low + 1) // width) + 1)]
    return bars(np.histogram(amounts, bins=edges, weights=counts)[0])


def bars(counts: npt.NDArray[Any]) -> list[Bar]:
    """Return counts as bars; those of fewer people than are told of are not drawn."""
    highest = max(1, *counts)
    return [
        Bar(float(count / highest) if is_shown(int(count)) else 0.0, not is_shown(int(count)))
        for count in counts
    ]


def amounts_of(values: Sequence[str], profile: ColumnProfile) -> Floats | None:
    """Return what numbers and dates amount to; None: they are neither, or not written in one way."""
    import numpy as np

    from glasshouse.views import date_form

    try:
        if profile.kind in ("integer", "number"):
            decimal, thousands = profile.numbers[0] if profile.numbers else (".", "")
            plain = [value.replace(thousands, "") for value in values] if thousands else values
            return np.array([value.replace(decimal, ".") for value in plain], float)
        if profile.kind == "date" and len(profile.dates) == 1:
            form = date_form(profile.dates[0])
            return np.array([form.iso(value) for value in values], "datetime64[D]").astype(float)
    except (ValueError, StudyError):
        return None
    return None


_looks: OrderedDict[tuple[str, float, int, str], Look] = OrderedDict()
_lock = Lock()


def look_at(
    entry: Entry,
    dialect: Dialect | None = None,
    missing: Mapping[str, tuple[str, ...]] | None = None,
) -> Look:
    """Return a first look at a file, written as somebody says; the last few are kept."""
    from glasshouse.study import Dialect

    dialect = dialect or Dialect()
    status = entry.path.stat()
    written = f"{dialect.model_dump_json()} {missing or {}}"
    key = (entry.identifier, status.st_mtime, status.st_size, written)
    with _lock:
        look = _looks.pop(key, None)
    look = look or Look(entry, dialect, missing or {})
    with _lock:
        _looks[key] = look
        while len(_looks) > MOST_OPEN:
            _looks.popitem(last=False)
    return look


def masked(value: str) -> str:
    """Return a value with every letter and digit hidden.

    >>> masked("Ana, 12-B")
    'xxx, 00-x'
    """
    return "".join("0" if c.isdigit() else "x" if c.isalpha() else c for c in value)


def preview(table: EncodedTable, *, exact: bool) -> list[list[str]]:
    """Return the first records, masked unless they are asked for as they are."""
    columns = []
    for column in table.columns.values():
        values = column.values.take(column.codes[:PREVIEWED].astype("int64")).to_pylist()
        columns.append([value if exact else masked(value) for value in values])
    return [list(row) for row in zip(*columns, strict=True)]
