"""A first look at a table: what each column holds, what it is likely to be, and which one names a person.

Roles are suggested, never assumed: each suggestion carries its reason, from the column's values (numbers and addresses
of people, `glasshouse.table.identifiers`, dates, free text) or from its name, whose words are looked up in a table
(`glasshouse.table.vocabulary`). So are records that seem to be nobody's, such as a row of totals: no record is left out
here but by a condition that the user can read.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date
from functools import cache
from itertools import combinations, islice
from typing import NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from glasshouse.arrays import Flags, Integers
from glasshouse.conditions import parse_condition
from glasshouse.language import marked, text, translated
from glasshouse.sources import MISSING
from glasshouse.table.encoded import NOTHING_DECLARED, Declared, EncodedColumn, EncodedTable, Role
from glasshouse.table.identifiers import (
    CALLED,
    CHECKED,
    DIRECT,
    FEW_EACH,
    FORMS,
    SHARED,
    SURE,
    VARIED,
    is_any,
)
from glasshouse.table.vocabulary import compounds, words_marked, words_meaning, words_of_role

MANY_VALUES = 0.5
"""A column with more distinct values than this share of the records tells records apart by itself."""
_INTEGER = r"^[+-]?\d{1,18}$"
NUMBER_FORMS = {
    (".", ""): r"^[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?$",
    (",", ""): r"^[+-]?\d+(,\d+)?$",
    (",", "."): r"^[+-]?(\d{1,3}(\.\d{3})+|\d+)(,\d+)?$",
    (".", ","): r"^[+-]?(\d{1,3}(,\d{3})+|\d+)(\.\d+)?$",
}
"""How numbers are written, by the signs before decimals and between thousands."""
DATE_FORMS = (
    *(f"yyyy{sign}mm{sign}dd" for sign in "-/."),
    *(form.replace("/", sign) for sign in "/-." for form in ("dd/mm/yyyy", "mm/dd/yyyy")),
    *("dd/mm/yy", "mm/dd/yy", "yyyymmdd", "ddmmyyyy", "mmddyyyy"),
)
"""How dates are written; a time of day may follow."""
_TIME = r"([ T]\d{1,2}:\d{2}(:\d{2}(\.\d+)?)?)?"
_YEARS = range(1850, 2101)
PADDED, ZEROS, BROKEN, VARIANTS = "padded", "zeros", "broken", "variants"
"""What is odd about values: blanks around them, zeros before a number, broken accents, spellings of one word."""
_BROKEN = "\u00c3[\u0080-\u00bf]|\u00c2[\u00a0-\u00bf]|\u00e2\u20ac|\ufffd"
_SAID = r"(?i)^\s*((sub|sub-|sub |grand )?tota(l|is)\b|(soma|sum)\s*$|(fonte|source|nota|note|obs|elaboração)s?\s*:)"
"""How a value begins that says that a record is a total, or a remark on the table."""
_REMARKED = re.compile(r"(?i)\s*(fonte|source|nota|note|obs|elaboração)s?\s*:")
MOST_TOTALS = 3
"""So many of the last records may be totals that lack but one value."""
MOST_STRAYS = 10_000
"""More records that begin so are no totals, but people with such a value."""
_SEXES = words_marked("sex")
_POSTCODE = re.compile(r"\d{5}-\d{3}")
MOST_CATEGORIES = 5
"""So many of the most frequent values of a column are told."""
MOST_COMBINED = 10
"""Of so many columns what they tell alone, in pairs and in triples is counted."""
_MOST_COUNTED = 1 << 25
"""So many records are looked at for all of these together."""

WORDS = {
    role: words_of_role(role.value)
    for role in (Role.WEIGHT, Role.IDENTIFIER, Role.SENSITIVE, Role.QUASI_IDENTIFIER)
}
"""The words in a column's name that suggest a role, in the order in which they are looked for."""

_BIRTH, _CARE, _DATED = (
    words_meaning("birth-date"),
    words_meaning("care-date"),
    words_marked("date"),
)
_BIRTH_PARTS = {
    meaning: words_marked(meaning)
    for meaning in ("birth-year", "birth-month", "birth-day", "birthplace")
}
MEANING_WORDS = {
    meaning: words_meaning(meaning)
    for meaning in (
        *("birthplace", "birth-year", "birth-month", "age", "sex", "race", "marital-status"),
        *("nationality", "household", "address", "postcode", "neighbourhood", "grade", "school"),
        *("hospital", "municipality", "education", "occupation", "employer", "state"),
    )
}
"""The words in a column's name that say what it means, in the order in which they are looked for."""
MISSING_MARKS = words_marked("missing")
"""What programs and people write where a value is missing, without accents."""
FEW_CATEGORIES = 10
"""Of words that so many records share, on average, there are few."""
MOST_CODES = 20
"""A column with more numbers than this holds amounts, of which 99 may be one."""
FREE_TEXT = marked("free text")
NAMES = words_marked("name")
"""Words that call a column one of names; ``city name`` is another matter."""
PSEUDONYMS = words_marked("pseudonym")
"""Words that call a column one of numbers which need not reach anybody by themselves."""
OWNERS = words_marked("owner")
"""Words that, with nothing beside them, call a column that says whose a record is."""
OTHERS = words_marked("other")
"""Words that call a column the identifier of somebody or something else, which several people share."""
_ALONE = words_marked("alone")
_BETWEEN = frozenset("of the de do da dos das del la le du des d von der".split())
"""Words that may stand between two that belong together: ``data de nascimento``."""
_SHORTEST_JOINED = 6
"""Shorter words are not looked for in pieces: ``not_a`` is no ``nota``."""
_LIGATURES = str.maketrans(
    {"ß": "ss", "ẞ": "SS", "æ": "ae", "Æ": "AE", "œ": "oe", "Œ": "OE", "ø": "o", "Ø": "O"}
)
MOST_RECORDS_EACH = 20
"""A number that more records have on average is not that of the person whom they are about."""
_SAMPLE = 2000
"""So many distinct values tell what a column holds."""
_FEWEST = 5
"""Fewer values than this say nothing of the way in which they are written."""
_MOST_WRONG = 0.05
_LONG_TEXT, _MANY_WORDS = 30, 5


@dataclass(frozen=True)
class ColumnProfile:
    """What one column holds, and what it is likely to be."""

    name: str
    """Its name."""
    records: int
    """The number of records."""
    kind: str
    """What its values look like: integer, number, date or text; empty when it holds nothing."""
    distinct: int
    """The number of distinct values, missing not counted."""
    missing: int
    """The number of records without a value."""
    unique: int
    """The number of records whose value no other record has."""
    role: Role
    """The role that is suggested."""
    reason: str
    """Why, in the language that is spoken."""
    looks_like: str = ""
    """What its values, or its name, say that it is: one of `DIRECT` or `FREE_TEXT`; empty: nothing in particular."""

    maybe_missing: tuple[tuple[str, int], ...] = ()
    """Values that may stand for missing, and in how many records."""
    dates: tuple[str, ...] = ()
    """The forms of dates that all values have, such as ``dd/mm/yyyy``; several: they do not tell which."""
    numbers: tuple[tuple[str, str], ...] = ()
    """The signs of decimals and thousands that all values fit; several: they do not tell which."""
    oddities: tuple[tuple[str, int], ...] = ()
    """What is odd about values (`PADDED` and the like), and of how many distinct ones."""
    categories: tuple[tuple[str, int], ...] = ()
    """The most frequent values, and in how many records."""
    rarest: int = 0
    """The fewest records that share a value."""
    label: str = ""
    """What the file says that it stands for."""
    value_labels: Mapping[str, str] = field(default_factory=dict)
    """What the file says that its values stand for."""

    @property
    def repeats(self) -> int:
        """The number of records whose value a record before them has."""
        return self.records - self.missing - self.distinct

    @property
    def is_constant(self) -> bool:
        """Whether all records have the same value, or all none."""
        return self.distinct + (self.missing > 0) <= 1

    @property
    def is_direct(self) -> bool:
        """Whether it names or reaches people by itself; first names of many, and numbers of a few firms, do not."""
        if self.looks_like in SHARED:
            return self.kind != "" and self.distinct * FEW_EACH > self.records
        return self.looks_like in DIRECT

    @property
    def nameless(self) -> int:
        """The number of records that it would not name a person of: without a value, or with one for all unknown."""
        return self.missing + sum(count for _, count in self.maybe_missing)


@dataclass(frozen=True)
class TableProfile:
    """What a table holds, record by record and column by column."""

    name: str
    """What it is called."""
    records: int
    """The number of records."""
    columns: tuple[ColumnProfile, ...]
    """Its columns, without the records that seem to be nobody's."""
    lacks_header: bool
    """Whether its first line looks like a record and was read as names."""
    headers: int
    """The number of records that repeat the names of the columns."""
    totals: int
    """The number of records that look like totals, subtotals or remarks on the table."""
    strays: tuple[str, ...]
    """Conditions that these two meet and no other record does."""
    repeated: int
    """The number of records that are, in every column, as one before them."""

    @property
    def is_padded(self) -> bool:
        """Whether blanks stand around names or values."""
        return any(
            PADDED in dict(column.oddities) or column.name != column.name.strip()
            for column in self.columns
        )

    def to_frame(self) -> pa.Table:
        """Return a row per column: what it holds, and the role that is suggested."""
        names = ("name", "kind", "distinct", "missing", "unique", "role", "reason", "looks_like")
        return pa.table(
            {name: [getattr(column, name) for column in self.columns] for name in names}
        )

    def nobody(self, *, stripped: bool) -> tuple[tuple[str, str], ...]:
        """Return the columns, and their values, of records that seem to be nobody's; perhaps without blanks."""
        pairs = [(name, values) for name, _, values in (s.partition("=") for s in self.strays)]
        if not stripped:
            return tuple(pairs)
        return tuple((name, re.sub(r'"\s*([^"]*?)\s*"', r'"\1"', values)) for name, values in pairs)


@dataclass(frozen=True)
class Combination:
    """How well some columns together tell records apart."""

    columns: tuple[str, ...]
    """Their names."""
    classes: int
    """The number of distinct combinations of their values."""
    unique: int
    """The number of records whose combination no other record has."""
    records: int
    """The number of records that were looked at."""


def table_profile(table: EncodedTable) -> TableProfile:
    """Describe a table: its columns, and the records that seem to be nobody's."""
    lacks_header, headers, totals = _nobody(table)
    described = people_of(table)
    return TableProfile(
        name=table.name,
        records=table.records,
        columns=profile(described),
        lacks_header=lacks_header,
        headers=int(np.count_nonzero(headers.marks)),
        totals=int(np.count_nonzero(totals.marks)),
        strays=(*headers.conditions, *totals.conditions),
        repeated=_repeated(described),
    )


def people_of(table: EncodedTable) -> EncodedTable:
    """Return a table without the records that seem to be nobody's: repeated headers, and totals."""
    _, headers, totals = _nobody(table)
    strays = headers.marks | totals.marks
    return table.of_records(~strays) if strays.any() else table


def lacks_header(table: EncodedTable) -> bool:
    """Tell whether the first line of a file looks like a record and was read as names, headers that repeat it aside."""
    return _nobody(table)[0]


class _Strays(NamedTuple):
    """Records that seem to be nobody's."""

    marks: Flags
    """Which ones; none if no condition tells them from all others."""
    conditions: tuple[str, ...]
    """What they meet and no other record does."""


def _nobody(table: EncodedTable) -> tuple[bool, _Strays, _Strays]:
    """Tell whether a table lacks a header; find the records that repeat it, and those that are no person's."""
    nothing = _Strays(np.zeros(table.records, np.bool_), ())
    headers = _repeated_headers(table)
    rest = table.of_records(~headers) if headers.any() else table
    if headers.any() and any(map(_is_a_value, rest.columns.values())):
        headers, rest = nothing.marks, table  # a record that is as the first line, which is one
    if has_no_header(rest):
        return True, nothing, nothing
    said = np.zeros(table.records, np.bool_)
    for column in table.columns.values():
        telling = np.asarray(pc.match_substring_regex(column.values, _SAID))
        if telling.any():
            said |= telling[column.codes]
    places = np.flatnonzero(said & ~headers)
    rows = {
        int(place): [
            column.values[column.codes[place]].as_py() for column in table.columns.values()
        ]
        for place in (places if len(places) <= MOST_STRAYS else ())
    }
    totals, conditions = _totals(tuple(table.columns), rows, table.records)
    marks: Flags = np.zeros(table.records, np.bool_)
    marks[totals] = True
    repeats = next(_header_conditions(table, headers), "")
    return (
        False,
        _Strays(headers, (repeats,)) if repeats else nothing,
        _Strays(marks, conditions),
    )


def _repeated_headers(table: EncodedTable) -> Flags:
    """Mark the records whose values are the names of their columns."""
    marks: Flags = np.ones(table.records, np.bool_)
    matching = 0
    for column in table.columns.values():
        code = pc.index(column.values, pa.scalar(column.name, pa.large_string())).as_py()
        if code >= 0:
            marks &= column.codes == code
            matching += 1
    is_header = matching > max(1, len(table.columns) // 2) and not marks.all()
    return marks if is_header else np.zeros_like(marks)


def _header_conditions(table: EncodedTable, marks: Flags) -> Iterator[str]:
    """Yield the ways in which a column tells repeated headers from all other records."""
    for column in table.columns.values():
        if marks.any() and not re.search(r'[=!"]', column.name):
            codes = np.unique(column.codes[marks])
            values = [column.values[code].as_py() for code in codes]
            if np.isin(column.codes, codes).sum() == marks.sum() and '"' not in "".join(values):
                yield _condition(column.name, values)


def _totals(
    names: Sequence[str], rows: Mapping[int, Sequence[str]], records: int
) -> tuple[list[int], tuple[str, ...]]:
    """Return the places of records that are no person's, and the conditions that they meet and no other record does.

    They say that they are totals, or remarks on the table, and lack what people have: something among the last records,
    and half of all else anywhere.

    Args:
        names: The columns.
        rows: By place, the values of all records of which one value says so.
        records: The number of all records.

    >>> people = {2: ["Subtotal A", "", "", "7"], 5: ["Total Care", "F", "", "x"], 9: ["Total", "", "12", "3"]}
    >>> _totals(["town", "sex", "age", "n"], people, 10)
    ([2, 9], ('town=Subtotal A,Total',))
    """
    last = records
    while last > max(1, records - MOST_TOTALS) and MISSING in rows.get(last - 1, ()):
        last -= 1
    marked = [
        place
        for place, values in rows.items()
        if place >= last
        or 2 * values.count(MISSING) >= len(values) - 1 > 0
        or _REMARKED.match(values[0])
    ]
    by_column: dict[int, list[str]] = {}
    told = []
    for place in marked:
        for number, name in enumerate(names):
            value = rows[place][number]
            is_told = re.search(_SAID, value) and not re.search(r'[=!"]', name) and '"' not in value
            others = (other for other in rows if other not in marked)
            if is_told and not any(rows[other][number] == value for other in others):
                by_column.setdefault(number, []).append(value)
                told.append(place)
                break
    conditions = tuple(
        _condition(names[number], list(dict.fromkeys(values)))
        for number, values in by_column.items()
    )
    return sorted(told), conditions


def _condition(name: str, values: Sequence[str]) -> str:
    """Return the condition that a column has one of some values."""
    listed = (f'"{value}"' if re.search(r"[,]|\.\.|^\s|\s$", value) else value for value in values)
    return f"{name}={','.join(listed)}"


def nobody_among(
    names: Sequence[str], batches: Iterable[pa.RecordBatch], *, stripped: bool
) -> tuple[str, ...]:
    """Return conditions that records meet which are no person's, and no other record does, without encoding them.

    They repeat the header, or are totals, subtotals or remarks, as `table_profile` finds them.

    Args:
        names: The columns: all of the file, as what is no person's lacks most of them.
        batches: The records as text.
        stripped: Whether blanks around values are dropped.
    """
    rows: dict[int, Sequence[str]] = {}
    headers, first = 0, 0
    telling = [not re.search(r'[=!"]', name) for name in names]
    for batch in batches:
        columns = [
            pc.utf8_trim_whitespace(column) if stripped else column for column in batch.columns
        ]
        called = [
            np.asarray(pc.equal(column, name)) for name, column in zip(names, columns, strict=True)
        ]
        is_header = np.sum(called, axis=0) > max(1, len(names) // 2)
        telling = [
            tells and bool((one == is_header).all())
            for tells, one in zip(telling, called, strict=True)
        ]
        said = np.zeros(len(batch), np.bool_)
        for column in columns:
            said |= np.asarray(pc.match_substring_regex(column, _SAID))
        headers += int(is_header.sum())
        for place in np.flatnonzero(said & ~is_header):
            if len(rows) > MOST_STRAYS:
                break
            rows[first + int(place)] = [column[int(place)].as_py() for column in columns]
        first += len(batch)
    rows = rows if len(rows) <= MOST_STRAYS else {}
    repeats = next((name for name, tells in zip(names, telling, strict=True) if tells), None)
    return (
        *([_condition(repeats, [repeats])] if headers and repeats is not None else []),
        *_totals(names, rows, first)[1],
    )


def is_of_nobody(condition: str) -> bool:
    """Tell whether a condition is one of those that `nobody_among` gives: it names totals, remarks or its column.

    >>> is_of_nobody("town=Subtotal A,Total"), is_of_nobody("town=town"), is_of_nobody("town=Lima,Total")
    (True, True, False)
    """
    parsed = parse_condition(condition)
    return not parsed.negated and all(
        value == parsed.column or re.search(_SAID, value) for value in parsed.values
    )


def _repeated(table: EncodedTable) -> int:
    """Count the records that are in every column as one before them.

    A record that some columns tell from all others is looked at no further.
    """
    alike = np.arange(table.records)
    key: Integers = np.zeros(table.records, np.int64)
    columns = sorted(table.columns.values(), key=lambda column: -column.cardinality)
    if columns[0].cardinality == table.records:
        return 0
    for column in columns:
        _, key, counts = np.unique(
            key * column.cardinality + column.codes[alike], return_inverse=True, return_counts=True
        )
        is_shared = counts[key] > 1
        alike, key = alike[is_shared], key[is_shared]
        if not len(alike):
            return 0
    return len(alike) - len(np.unique(key))


def identifying(table: EncodedTable, names: Sequence[str]) -> tuple[Combination, ...]:
    """Count how well columns, pairs and triples of them tell records apart, the best first, of alike the smallest.

    Of a large table records at equal distances are looked at; among all of them fewer are alone.

    Args:
        table: The table.
        names: The columns; of many, those with the most values.
    """
    largest = sorted(map(table.column, names), key=lambda column: -column.cardinality)
    chosen_names = {column.name for column in largest[:MOST_COMBINED]}
    columns = [column for column in table.columns.values() if column.name in chosen_names]
    sets = [chosen for size in (1, 2, 3) for chosen in combinations(columns, size)]
    step = -(-table.records * max(len(sets), 1) // _MOST_COUNTED)
    counted = [_combination(chosen, step) for chosen in sets]
    return tuple(sorted(counted, key=lambda pair: -pair.unique))


def _combination(columns: Sequence[EncodedColumn], step: int) -> Combination:
    key, radix = columns[0].codes[::step].astype(np.int64), columns[0].cardinality
    for column in columns[1:]:
        if radix * column.cardinality >= 1 << 62:
            values, key = np.unique(key, return_inverse=True)
            radix = len(values)
        key, radix = key * column.cardinality + column.codes[::step], radix * column.cardinality
    if radix <= 4 * len(key):
        counts = np.bincount(key)
        counts = counts[counts > 0]
    else:
        counts = np.unique(key, return_counts=True)[1]
    names = tuple(column.name for column in columns)
    return Combination(names, len(counts), int(np.count_nonzero(counts == 1)), len(key))


def profile(table: EncodedTable) -> tuple[ColumnProfile, ...]:
    """Describe every column of a table, in the order of the file."""
    return tuple(
        column_profile(column, table.declared(name)) for name, column in table.columns.items()
    )


def has_no_header(table: EncodedTable) -> bool:
    """Tell whether the names of most columns look like values: a file without a header, read as if it had one.

    >>> from glasshouse.table import read
    >>> has_no_header(read(pa.table({"39": ["50", "38"], " Private": [" Private", " Other"], "x": ["a", "b"]})))
    True
    """
    alike = sum(_is_a_value(column) for column in table.columns.values())
    years = [name for name in table.columns if re.fullmatch("(19|20)[0-9]{2}", name)]
    return 2 * alike > len(table.columns) and 2 * len(years) <= alike


def _is_a_value(column: EncodedColumn) -> bool:
    """Tell whether the name of a column is written as its values are."""
    values = [value.strip() for value in column.values.slice(0, _SAMPLE).to_pylist()]
    name, sample = column.name.strip(), [value for value in values if value]
    if name not in sample:  # the reader numbers columns of one name
        name = re.sub(r"_[0-9]+$", "", name)
    if name in sample:
        return True
    for pattern, is_right in ((NUMBER_FORMS[".", ""], is_any), *DIRECT.values()):
        if re.fullmatch(pattern, name) and is_right(name):
            right = sum(bool(re.fullmatch(pattern, value)) for value in sample)
            return right >= (1 - _MOST_WRONG) * len(sample)
    return any(_is_date(name, form) for form in _date_forms(sample))


def reading_note(table: EncodedTable) -> str:
    """Say what was concluded of how a file is written, where nobody said it; else nothing."""
    if not table.assumptions:
        return ""
    return text(
        "note: this was assumed of {name}; what stands in brackets overrides it: {assumptions}",
        name=table.name,
        assumptions="; ".join(table.assumptions),
    )


def person_column(profiles: Sequence[ColumnProfile]) -> ColumnProfile | None:
    """Return the column that names a person most likely: a number with check digits, or else the most distinct one.

    A column with few values names nobody, whatever it is called; and values that merely differ much, like incomes, or
    names, which people share, name nobody for certain: they would make one person of several.
    """
    candidates = [profile for profile in profiles if _may_name_a_person(profile)]
    return max(
        candidates,
        key=lambda profile: (profile.looks_like in CHECKED, profile.distinct),
        default=None,
    )


def owner_column(profiles: Sequence[ColumnProfile]) -> ColumnProfile | None:
    """Return the column that may say whose a record is where people have several: it is called so, and repeats.

    Unlike the one that names a person (`person_column`) it may well be a pseudonym with few values to many records.
    """
    candidates = [
        profile
        for profile in profiles
        if profile.role is Role.IDENTIFIER
        and profile.repeats
        and profile.records <= MOST_RECORDS_EACH * profile.distinct
        and not words_of(profile.name) & OTHERS
        and (
            profile.looks_like in {*CHECKED} - {"CNPJ"}
            or (
                profile.looks_like in ("", CALLED)
                and (words_of(profile.name) & WORDS[Role.IDENTIFIER] or _is_owner(profile.name))
            )
        )
    ]
    return max(candidates, key=lambda profile: profile.distinct, default=None)


def naming_column(profiles: Sequence[ColumnProfile]) -> ColumnProfile | None:
    """Return the column by which everybody counts once: one that names people by itself, in every record."""
    named = [profile for profile in profiles if profile.is_direct]
    person = person_column(named)
    return None if person is None or person.nameless else person


def knowable(profiles: Sequence[ColumnProfile]) -> tuple[str, ...]:
    """Return the columns that somebody could know, unless the user says otherwise: all but plain secrets.

    A column that names people by itself is counted as such, and one that holds a single value tells nobody apart.
    """
    return tuple(
        profile.name
        for profile in profiles
        if profile.role is not Role.SENSITIVE and not profile.is_direct and not profile.is_constant
    )


def _may_name_a_person(profile: ColumnProfile) -> bool:
    if profile.role is not Role.IDENTIFIER or profile.unique == profile.records:
        return profile.role is Role.IDENTIFIER
    if profile.looks_like == "CNPJ" or words_of(profile.name) & OTHERS:
        return False
    if profile.looks_like in CHECKED:
        return profile.records <= MOST_RECORDS_EACH * profile.distinct
    is_called = profile.looks_like in ("", CALLED) and bool(
        words_of(profile.name) & WORDS[Role.IDENTIFIER]
    )
    return is_called and profile.distinct > MANY_VALUES * profile.records


def column_profile(column: EncodedColumn, declared: Declared = NOTHING_DECLARED) -> ColumnProfile:
    """Describe one column: what its values say that it is, its name, and what the file says of it."""
    if declared.missing:
        texts = column.values.to_pylist()
        column = column.with_values(MISSING if v in declared.missing else v for v in texts)
    called = column.name
    if declared.label and not any(words_of(called) & words for words in WORDS.values()):
        called = f"{called} {declared.label}"
    records = len(column.codes)
    counts = np.bincount(column.codes, minlength=column.cardinality)
    texts = column.values.to_pylist()
    present = np.array([value != MISSING for value in texts], bool)
    unique = int(np.count_nonzero(counts[present] == 1))
    values = column.values.filter(pa.array(present))
    looks_like = _look(called, values, records)
    maybe_missing = _maybe_missing(texts, counts.tolist(), looks_like)
    marks = {value for value, _ in maybe_missing} if looks_like not in CHECKED else set()
    meant = (
        values if not marks else pa.array([v for v in texts if v and v not in marks], values.type)
    )
    kind, dates, numbers = _kind(meant)
    is_index = unique == records and _numbers_records(texts)
    role, reason = _suggestion(
        called, looks_like, column.cardinality, records, kind=kind, is_index=is_index
    )
    if not present.any():
        reason = text("holds nothing")
    elif not (looks_like or is_index) and role in (Role.QUASI_IDENTIFIER, Role.IDENTIFIER):
        role, reason = _suggested_by_values(
            role, reason, meant.to_pylist(), dates, words_of(called)
        )
    is_weighed = kind == "integer" or numbers == ((".", ""),)
    if role is Role.WEIGHT and not (is_weighed and present.all() and not marks):
        role, reason = (
            Role.QUASI_IDENTIFIER,
            text("called a weight, but not all of it is numbers"),
        )
    order = np.argsort(-counts, kind="stable")
    frequent = [int(code) for code in order[: MOST_CATEGORIES + 1] if present[code]]
    return ColumnProfile(
        name=column.name,
        records=records,
        kind=kind,
        distinct=int(np.count_nonzero(present)),
        missing=int(counts[~present].sum()),
        unique=unique,
        role=role,
        reason=reason,
        looks_like=looks_like,
        maybe_missing=maybe_missing,
        dates=dates,
        numbers=numbers,
        oddities=_oddities(values, kind),
        categories=tuple((texts[code], int(counts[code])) for code in frequent[:MOST_CATEGORIES]),
        rarest=int(counts[present].min()) if present.any() else 0,
        label=declared.label,
        value_labels=declared.values,
    )


def _numbers_records(values: Sequence[str]) -> bool:
    """Tell whether the values of a column, each of one record, count the records."""
    first = values[0] if values[0] in ("0", "1") else ""
    return bool(first) and all(
        value == str(place) for place, value in enumerate(values, start=int(first))
    )


def _oddities(values: pa.LargeStringArray, kind: str) -> tuple[tuple[str, int], ...]:
    """Count the distinct values about which something is odd."""
    spellings: dict[str, int] = {}
    if kind == "text" and len(values) <= _SAMPLE:
        for value in values.to_pylist():
            word = " ".join(folded(value).split())
            spellings[word] = spellings.get(word, 0) + 1
    padded = pc.not_equal(values, pc.utf8_trim_whitespace(values))
    zeros = pc.match_substring_regex(values, r"^0\d+$") if kind == "integer" else None
    counts = {
        PADDED: pc.sum(padded).as_py(),
        ZEROS: 0 if zeros is None else pc.sum(zeros).as_py(),
        BROKEN: pc.sum(pc.match_substring_regex(values, _BROKEN)).as_py(),
        VARIANTS: sum(count for word, count in spellings.items() if count > 1 and word),
    }
    return tuple((what, count) for what, count in counts.items() if count)


def meaning_of(column: ColumnProfile) -> str:
    """Return what a column means, of `glasshouse.study.adversaries.MEANINGS`, by its name and values; or nothing."""
    values = [folded(value).strip() for value, _ in column.categories]
    if called := meaning_of_name(column.name) or meaning_of_name(column.label):
        is_year = called == "birth-date" and column.kind == "integer" and column.distinct > 1
        if is_year and all(re.fullmatch("(18|19|20)[0-9]{2}", value) for value in values):
            return "birth-year"
        return "" if called == "care-date" and column.kind not in ("date", "integer") else called
    if values and column.distinct <= len(_SEXES) and set(values) <= _SEXES:
        return "sex"
    return "postcode" if values and all(map(_POSTCODE.fullmatch, values)) else ""


def meaning_of_name(name: str) -> str:
    """Return what the name of a column says that it means; or nothing.

    >>> meaning_of_name("DT_NASC"), meaning_of_name("ano_nascimento"), meaning_of_name("Estado civil")
    ('birth-date', 'birth-year', 'marital-status')
    >>> meaning_of_name("native-country"), meaning_of_name("birth_weight"), meaning_of_name("v12")
    ('nationality', '', '')
    """
    words = words_of(name)
    if words & _BIRTH:
        for meaning, telling in _BIRTH_PARTS.items():
            if words & telling:
                return meaning
        return "birth-date" if words <= _BIRTH | _DATED | {"of", "de"} else ""
    if words & _CARE and (words & _DATED or len(words) == 1):
        return "care-date"
    return next((meaning for meaning, telling in MEANING_WORDS.items() if words & telling), "")


_LONGEST_CODE = len("9999")


def _maybe_missing(
    values: Sequence[str], counts: Sequence[int], looks_like: str = ""
) -> tuple[tuple[str, int], ...]:
    """Return values that may stand for missing, with their counts: marks, and nines beyond a few codes.

    Among numbers of people with check digits it is a wrong number that several records have.

    >>> _maybe_missing(["1", "2", "5", "9", "?"], [4, 3, 2, 1, 7]), _maybe_missing(["8", "9", "10"], [1, 1, 1])
    ((('?', 7), ('9', 1)), ())
    """
    counted = [(value, int(count)) for value, count in zip(values, counts, strict=True)]
    suspects = [pair for pair in counted if is_missing_mark(pair[0])]
    if looks_like in CHECKED:
        pattern, is_right = DIRECT[looks_like]
        return tuple(
            (value, count)
            for value, count in counted
            if value and count > 1 and not (re.fullmatch(pattern, value) and is_right(value))
        )
    codes = sorted(
        (int(value), value, count)
        for value, count in counted
        if len(value) <= _LONGEST_CODE and value.isdecimal()
    )
    if 2 < len(codes) <= MOST_CODES and len(codes) + len(suspects) >= len(values) - 1:
        *_, (before, _, _), (last, value, count) = codes
        if last in (9, 99, 999, 9999) and last - before > 1:
            suspects.append((value, count))
    return tuple(suspects)


def is_missing_mark(value: str) -> bool:
    """Tell whether a value is what programs and people write where one is missing, such as ``NA`` or ``ignorado``."""
    plain = value.lower() if value.isascii() else folded(value)  # the same, in a tenth of the time
    return plain.strip() in MISSING_MARKS


def _look(name: str, values: pa.LargeStringArray, records: int) -> str:
    """Return what the distinct values of a column say that it is, or its name."""
    sample = [value.strip() for value in values.slice(0, _SAMPLE).to_pylist()]
    for kind, (pattern, is_right) in DIRECT.items():
        is_enough = len(sample) >= _FEWEST or (sample and kind in SURE)
        if is_enough and _are_written_so(kind, sample, pattern, is_right):
            return kind
    if len(sample) >= _FEWEST:
        letters = sum(map(len, sample)) / len(sample)
        words = sum(value.count(" ") + 1 for value in sample) / len(sample)
        if letters > _LONG_TEXT and words > _MANY_WORDS and len(values) > MANY_VALUES * records:
            return FREE_TEXT
    called = words_of(name)
    if called & WORDS[Role.QUASI_IDENTIFIER]:
        return ""
    if called & NAMES:
        return "person's name"
    return CALLED if called & WORDS[Role.IDENTIFIER] - PSEUDONYMS and len(values) > 1 else ""


def _are_written_so(
    kind: str, sample: Sequence[str], pattern: str, is_right: Callable[[str], bool]
) -> bool:
    """Tell whether nearly all values have a form, and what stands at their beginning differs where it must."""
    written = re.compile(pattern)
    wrong = (value for value in sample if not (written.fullmatch(value) and is_right(value)))
    if next(islice(wrong, int(_MOST_WRONG * len(sample)), None), None) is not None:
        return False
    first = VARIED.get(kind)
    return first is None or len({value[:first] for value in sample}) * _FEWEST >= len(sample)


def _suggestion(
    name: str, looks_like: str, distinct: int, records: int, *, kind: str, is_index: bool
) -> tuple[Role, str]:
    """Return the role that is suggested, and why.

    Whatever is not plainly something else can be known: a guess may add to an attack, and never takes away from it.
    """
    words = words_of(name)
    sensitive = words & WORDS[Role.SENSITIVE]
    if distinct <= 1:
        if sensitive and kind:
            return Role.SENSITIVE, text(
                'called "{word}", and the same for everybody', word=min(sensitive)
            )
        return Role.IGNORED, text("holds one value only, so it tells nobody apart")
    if looks_like in SHARED and distinct * FEW_EACH <= records:
        return Role.QUASI_IDENTIFIER, text("many share its values, and some may not")
    if looks_like == CALLED:
        return Role.IDENTIFIER, text('called "{word}"', word=min(words & WORDS[Role.IDENTIFIER]))
    if looks_like in DIRECT:
        return Role.IDENTIFIER, text(
            "its values are written as: {kind}", kind=translated(looks_like)
        )
    if looks_like == FREE_TEXT:
        return Role.QUASI_IDENTIFIER, text("free text, which may name anybody")
    if hint := words & WORDS[Role.WEIGHT]:
        return Role.WEIGHT, text(
            'called "{word}"; if it is a survey weight, name it as the weight', word=min(hint)
        )
    if words & WORDS[Role.IDENTIFIER]:
        return Role.IDENTIFIER, text('called "{word}"', word=min(words & WORDS[Role.IDENTIFIER]))
    if sensitive and not words & WORDS[Role.QUASI_IDENTIFIER]:
        if _is_category(kind, distinct, records):
            return Role.SENSITIVE, text('called "{word}"', word=min(sensitive))
        return Role.QUASI_IDENTIFIER, text(
            'called "{word}", but with {distinct} values in {records} records it tells people apart',
            word=min(sensitive),
            distinct=distinct,
            records=records,
        )
    if hint := words & WORDS[Role.QUASI_IDENTIFIER]:
        return Role.QUASI_IDENTIFIER, text('called "{word}"', word=min(hint))
    if _is_owner(name) and records <= MOST_RECORDS_EACH * distinct:
        return Role.IDENTIFIER, text('called "{word}"', word=min(words))
    if is_index:
        return Role.QUASI_IDENTIFIER, text(
            "it numbers the records; if nobody can know it, ignore it"
        )
    if distinct > MANY_VALUES * records:
        return Role.QUASI_IDENTIFIER, text(
            "{distinct} distinct values in {records} records: it tells people apart",
            distinct=distinct,
            records=records,
        )
    return Role.QUASI_IDENTIFIER, text("nothing says that nobody can know it")


def _is_category(kind: str, distinct: int, records: int) -> bool:
    """Tell whether values are those of a few categories, which many people share, and no dates or amounts."""
    if kind == "date" or distinct > MANY_VALUES * records:
        return False
    return distinct <= MOST_CODES or (kind == "text" and distinct * FEW_CATEGORIES <= records)


def _suggested_by_values(
    role: Role, reason: str, values: Sequence[str], dates: Sequence[str], words: frozenset[str]
) -> tuple[Role, str]:
    """Return the role that values suggest of a column whose name says nothing, or else what was suggested before."""
    if role is Role.QUASI_IDENTIFIER and words & WORDS[role]:
        return role, reason
    if dates:
        return Role.QUASI_IDENTIFIER, text("holds dates, which others may know about a person")
    if words & (WORDS[Role.QUASI_IDENTIFIER] | WORDS[Role.IDENTIFIER]):
        return role, reason
    if len(values) <= len(_SEXES) and {folded(value).strip() for value in values} <= _SEXES:
        return Role.QUASI_IDENTIFIER, text("its values are those of a person's sex")
    sample = values[:_SAMPLE]
    texts = [value.strip() for value in sample]
    for kind, (pattern, is_right, suggested) in FORMS.items():
        if len(texts) >= _FEWEST and _are_written_so(kind, texts, pattern, is_right):
            return suggested, text("its values are written as: {kind}", kind=translated(kind))
    if len(sample) >= _FEWEST and all(_POSTCODE.fullmatch(value.strip()) for value in sample):
        return Role.QUASI_IDENTIFIER, text("its values are written as postal codes")
    return role, reason


def _is_owner(name: str) -> bool:
    """Tell whether a column is called after those whom records are of, and nothing else."""
    words = words_of(name)
    return bool(words) and words <= OWNERS


def words_of(name: str) -> frozenset[str]:
    """Return the words of a column's name, folded: no accents, no case, no digits, camel case taken apart.

    Two or three of them that the table of words lists as one are that word, too; and a word that says something only
    where it stands alone is left out beside others.

    >>> sorted(words_of("DT_Nascimento")), sorted(words_of("maritalStatus")), sorted(words_of("Raça/cor"))
    (['dt', 'dtnascimento', 'nascimento'], ['marital', 'maritalstatus', 'status'], ['cor', 'raca', 'racacor'])
    >>> sorted(words_of("NUTS3")), sorted(words_of("Nom")), sorted(words_of("Vl Remun Média Nom"))
    (['nuts'], ['nom'], ['media', 'remun', 'vl', 'vlremun'])
    """
    apart = re.sub(r"(?<=[a-z])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z]{2})", " ", _unaccented(name))
    words = re.findall(r"[a-z]+", apart.lower())
    if len(words) <= 1:
        return frozenset(words)
    telling = [word for word in words if word not in _BETWEEN]
    joined = {
        "".join(telling[first : first + count])
        for count in (2, 3)
        for first in range(len(telling) - count + 1)
    }
    known = {word for word in joined if len(word) >= _SHORTEST_JOINED and word in compounds()}
    return frozenset({*words} - _ALONE | known)


def folded(name: str) -> str:
    """Return a text without accents and case.

    >>> folded("Raça"), folded("Straße")
    ('raca', 'strasse')
    """
    return _unaccented(name).lower()


def _unaccented(name: str) -> str:
    """Return a text in the letters of ASCII; what has no such letter is left out."""
    plain = unicodedata.normalize("NFKD", name.translate(_LIGATURES))
    return plain.encode("ascii", "ignore").decode("ascii")


def _kind(
    values: pa.LargeStringArray,
) -> tuple[str, tuple[str, ...], tuple[tuple[str, str], ...]]:
    """Return what values look like, and how they are written if they are dates or numbers."""
    if len(values) == 0:
        return "", (), ()
    if dates := _date_forms(values):
        return "date", dates, ()
    if _all_match(values, _INTEGER):
        return "integer", (), ()
    numbers = tuple(signs for signs, form in NUMBER_FORMS.items() if _all_match(values, form))
    if numbers:  # 1.5 is no 1.500, and 1,5 no 1,500
        decimal = [signs for signs in numbers if not signs[1]]
        other = [signs for signs in numbers if signs[1] and signs[1] in (s[0] for s in decimal)]
        return "number", (), (*decimal[:1], *other) if decimal else numbers[:1]
    several = len(values) <= _SAMPLE and all(
        any(_is_date(value, form) for form in DATE_FORMS if not form.isalpha())
        for value in values.to_pylist()
    )
    return ("date" if several else "text"), (), ()


def _all_match(values: pa.LargeStringArray, pattern: str) -> bool:
    return bool(pc.all(pc.match_substring_regex(values, pattern)).as_py())


def _date_forms(values: pa.LargeStringArray | Sequence[str]) -> tuple[str, ...]:
    """Return the forms of dates that all values have; a few numbers of eight digits are no dates.

    >>> _date_forms(["31/12/1980", "1/2/1990"]), _date_forms(["01/02/1990"])
    (('dd/mm/yyyy',), ('dd/mm/yyyy', 'mm/dd/yyyy'))
    """
    if not len(values):
        return ()
    first = str(values[0])
    forms = [form for form in DATE_FORMS if _is_date(first, form)]
    if not forms or (len(values) < _FEWEST and forms[0].isalpha()):
        return ()
    texts = values if isinstance(values, Sequence) else values.to_pylist()
    return tuple(form for form in forms if all(_is_date(value, form) for value in texts))


@cache
def _date_pattern(form: str) -> re.Pattern[str]:
    digits = "{2}" if form.isalpha() else "{1,2}"
    pattern = re.escape(form).replace("dd", f"(?P<d>[0-9]{digits})")
    pattern = pattern.replace("mm", f"(?P<m>[0-9]{digits})")
    pattern = pattern.replace("yyyy", "(?P<y>[0-9]{4})").replace("yy", "(?P<y>[0-9]{2})")
    return re.compile(rf"\s*{pattern}{_TIME}\s*")


def _is_date(value: str, form: str) -> bool:
    match = _date_pattern(form).fullmatch(value)
    if match is None:
        return False
    year = int(match["y"])
    try:
        date(year if year > 99 else 2000 + year, int(match["m"]), int(match["d"]))
    except ValueError:
        return False
    return year < 100 or year in _YEARS
