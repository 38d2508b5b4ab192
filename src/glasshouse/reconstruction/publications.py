"""Published tables as a plan describes them: filtered, with derived columns, one row per key, measures in integers.

Columns of text become codes while they are read; filters, first characters and key maps then work on the distinct
values, so that millions of rows cost little more than reading them.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from glasshouse.arrays import Flags, Integers
from glasshouse.compiled import compiled
from glasshouse.conditions import parse_condition
from glasshouse.errors import DataError
from glasshouse.language import marked, printable, text, translated, unknown_name
from glasshouse.sources import Source, open_source
from glasshouse.study.totals import Derived, KeyMap, Publication, TotalsStudy
from glasshouse.table.codes import positions
from glasshouse.table.dictionary import Dictionary

Faults = NDArray[np.uint8]
FAULTS = (
    "",
    "missing",
    "no number",
    "negative",
    "too many decimals",
    "too large",
    "contradicted",
    "unmapped",
    "suppressed",
)
"""What can be wrong with a number, by its code; the first is nothing."""
MISSING, NO_NUMBER, NEGATIVE, DECIMALS, LARGE, CONTRADICTED, UNMAPPED, OPEN = range(1, len(FAULTS))
"""Of these, another row of the same key contradicts a number, and the place of a total may be unknown to a key map.
What is suppressed is a fault in a record only: a total that is held back is open."""

_BLANK, _PLUS, _COMMA, _MINUS, _POINT, _ZERO, _NINE = map(ord, " +,-.09")
_LARGEST = 2**62 - 1
_BETWEEN_THOUSANDS = {".": "[.]", ",": "[,]", " ": "[ \u00a0\u202f]", "'": "['\u2019]"}
"""What separates thousands, as patterns: a blank may be one that does not break."""
NUMBER_FORMS = tuple(
    (comma, thousands)
    for thousands, comma in itertools.product((None, *_BETWEEN_THOUSANDS), (False, True))
    if thousands != ("," if comma else ".")
)
"""How numbers may be written, the plainest first: whether with a decimal comma, and what separates thousands."""
UNKNOWN = -1
"""The code of a value that a key map does not have: it agrees with nothing."""


@dataclass(frozen=True, eq=False)
class Coded:
    """A column of text as codes."""

    codes: Integers
    """Per row, the position of its value; or `UNKNOWN`."""
    values: pa.LargeStringArray
    """The distinct values."""

    @classmethod
    def of(cls, texts: pa.Array) -> Coded:
        """Return texts as codes; what is missing is unknown."""
        encoded = texts.dictionary_encode()
        codes = encoded.indices.fill_null(UNKNOWN).to_numpy(zero_copy_only=False)
        return cls(codes.astype(np.int64), encoded.dictionary.cast(pa.large_string()))

    def text(self, row: int) -> str | None:
        """Return the value of a row; None: a key map does not have it."""
        code = int(self.codes[row])
        return None if code == UNKNOWN else str(self.values[code].as_py())


@dataclass(frozen=True)
class Trouble:
    """Something in a publication that is not as the plan says; the rest goes on."""

    where: str
    """The publication or phase."""
    kind: str
    """What is wrong, in English: results are the same in every language."""
    count: int
    """How many rows or groups it concerns."""
    example: str
    """One of them."""
    message: str = ""
    """What is wrong, as a marked message with a place for ``{name}``; none: `kind` is such a message itself."""
    name: str = ""
    """What stands in that place."""

    @classmethod
    def of(cls, where: str, message: str, count: int, example: str, *, name: str) -> Trouble:
        """Return a trouble with something that has a name."""
        return cls(where, message.format(name=name), count, example, message, name)

    @property
    def said(self) -> str:
        """What is wrong, in the language that is spoken."""
        return translated(self.message, name=self.name) if self.message else translated(self.kind)

    def to_dict(self) -> dict[str, str | int]:
        """Return it in plain values."""
        return {name: getattr(self, name) for name in ("where", "kind", "count", "example")}


@dataclass(frozen=True, eq=False)
class Published:
    """A published table, ready to be joined with others."""

    name: str
    """What the plan calls it."""
    columns: Mapping[str, Coded]
    """The columns that the plan uses, by name."""
    measures: Mapping[str, Integers]
    """Per measure, the scaled values of the rows."""
    faults: Mapping[str, Faults]
    """Per measure, what is wrong with them; see `FAULTS`."""
    row: Integers
    """Per row that is used, which row of the file it is, from 0."""
    rows: int
    """How many rows are used."""
    read: int
    """How many there were."""
    filtered: int
    """How many did not meet the conditions."""
    repeated: int
    """How many were repetitions of another."""
    troubles: tuple[Trouble, ...]
    """What is not as the plan says."""

    def to_dict(self) -> dict[str, str | int]:
        """Return its figures in plain values."""
        names = ("name", "rows", "read", "filtered", "repeated")
        return {name: getattr(self, name) for name in names}


def read_publications(study: TotalsStudy) -> dict[str, Published]:
    """Read every publication that the plan uses, with the columns that it uses.

    Raises:
        DataError: A file or a column is not there, or a file is malformed.
    """
    joined = _joined_columns(study)
    sources = {}
    for name, columns in joined.items():
        publication = study.publications[name]
        sources[name] = open_source(publication.path, dialect=publication.dialect)
        _check_columns(sources[name], publication, _used_columns(publication, columns))
    return {name: _published(study, name, sources[name], joined[name]) for name in joined}


def key_text(texts: Iterable[str | None]) -> str:
    """Return the values of a key as one text for a message.

    >>> key_text(["2021", "", None])
    '2021 (empty) ?'
    """
    return " ".join("?" if value is None else printable(value) or "(empty)" for value in texts)


def combined(columns: Sequence[Integers]) -> tuple[Integers, int]:
    """Return one code for the codes of several columns, in ascending order of them, and how many there are.

    >>> combined([np.array([0, 1, 0, -1]), np.array([5, 5, 5, 5])])
    (array([ 0,  1,  0, -1]), 2)
    """
    known = np.all([column != UNKNOWN for column in columns], axis=0)
    code = np.zeros(int(known.sum()), np.int64)
    count = min(len(code), 1)
    for column in columns:
        part = column[known]
        width = int(part.max()) + 1 if len(part) else 1
        distinct, code = np.unique(code * width + part, return_inverse=True)
        code, count = code.reshape(-1), len(distinct)
    whole = np.full(len(known), UNKNOWN, np.int64)
    whole[known] = code
    return whole, count


def both_codes(first: Coded, second: Coded) -> Integers:
    """Return the codes of two columns, one behind the other: the same text has the same code in both."""
    return np.concatenate([first.codes, agreed(first, second)])


def agreed(first: Coded, second: Coded) -> Integers:
    """Return the codes of a second column in terms of a first: the same text has the same code.

    Values that the first does not have get codes beyond its own.
    """
    known = positions(second.values, first.values)
    beyond = len(first.values) + np.arange(len(second.values))
    code_of = np.where(known >= 0, known, beyond)
    return np.where(second.codes == UNKNOWN, UNKNOWN, code_of[second.codes])


def _used_columns(publication: Publication, joined: Sequence[str]) -> list[str]:
    """Return the columns that the plan uses, measures apart, given those by which it is joined with others."""
    conditions = [parse_condition(condition).column for condition in publication.where]
    identifier = [] if publication.identifier is None else [publication.identifier]
    return list(dict.fromkeys([*joined, *publication.unique, *conditions, *identifier]))


def _joined_columns(study: TotalsStudy) -> dict[str, list[str]]:
    """Return per publication that is used the columns by which it is joined with others."""
    joined: dict[str, dict[str, None]] = {}

    def note(name: str, columns: Iterable[str]) -> None:
        joined.setdefault(name, {}).update(dict.fromkeys(columns))

    for phase in study.phases:
        note(phase.packages, phase.keys)
        note(phase.bins, [*phase.keys.values(), *phase.bin])
        if phase.suppression is not None:
            note(phase.packages, phase.suppression.keys)
            note(phase.suppression.publication, phase.suppression.keys.values())
    if study.entities is not None:
        entity = study.entities.entity
        names = [*study.entities.keys.values(), *([] if entity is None else [entity])]
        note(study.entities.publication, names)
    return {name: list(columns) for name, columns in joined.items()}


def _group_keys(study: TotalsStudy, name: str) -> list[str]:
    """Return the columns of a publication by which the first phase that uses it makes groups."""
    for phase in study.phases:
        if name == phase.packages:
            return list(phase.keys)
        if name == phase.bins:
            return list(phase.keys.values())
    entities = study.entities
    return [] if entities is None or entities.publication != name else list(entities.keys.values())


def _raw_columns(publication: Publication, used: Sequence[str]) -> list[str]:
    """Return the columns of the file that the used ones and the derived ones are made from."""
    derived: list[str] = []
    raw: dict[str, None] = {}
    for name, rule in publication.derived.items():
        raw.update(dict.fromkeys(column for column in rule.columns if column not in derived))
        derived.append(name)
    raw.update(dict.fromkeys(column for column in used if column not in publication.derived))
    return list(raw)


def _check_columns(source: Source, publication: Publication, used: Sequence[str]) -> None:
    for name in (*_raw_columns(publication, used), *publication.measures.values()):
        if name in source.columns:
            continue
        if name not in publication.derived:
            available = [*source.columns, *publication.derived]
            raise DataError(unknown_name("column", name, source.name, available))
        user = next(d for d, rule in publication.derived.items() if name in rule.columns)
        if user == name:
            raise DataError(
                '{file}: the derived column "{column}" is made from itself, and the file has no column of that name; '
                "correct its columns",
                file=source.name,
                column=printable(user),
            )
        raise DataError(
            '{file}: the derived column "{column}" is made from "{other}", which is derived after it; put "{other}" '
            "first",
            file=source.name,
            column=printable(user),
            other=printable(name),
        )


def _published(study: TotalsStudy, name: str, source: Source, joined: Sequence[str]) -> Published:
    """Return a publication; rows of one key that differ are all kept, and are in doubt: their groups will be apart."""
    publication = study.publications[name]
    used = _used_columns(publication, joined)
    columns, measures, faults = _read(study, publication, source, used)
    troubles: list[Trouble] = []
    for derived, rule in publication.derived.items():
        columns[derived] = _derived(derived, rule, columns, name, troubles)
    rows = len(next(iter(columns.values())).codes)
    chosen = np.flatnonzero(_meeting(publication, columns, rows))
    met = len(chosen)
    if publication.unique:
        key, _ = combined([columns[title].codes[chosen] for title in publication.unique])
        agreeing = [columns[title].codes for title in joined]
        agreeing += [*measures.values(), *(column.astype(np.int64) for column in faults.values())]
        first, differs, doubtful = _repetitions(key, [codes[chosen] for codes in agreeing])
        for column in faults.values():
            column[chosen[doubtful]] = CONTRADICTED
        if differs.any():
            row = chosen[np.flatnonzero(differs)[0]]
            example = key_text(columns[title].text(row) for title in _group_keys(study, name))
            kind = marked("rows that repeat another differ from it")
            troubles.append(Trouble(name, kind, int(differs.sum()), example))
        chosen = chosen[first | differs]
    return Published(
        name=name,
        columns={
            title: replace(columns[title], codes=columns[title].codes[chosen]) for title in used
        },
        measures={title: column[chosen] for title, column in measures.items()},
        faults={title: column[chosen] for title, column in faults.items()},
        row=chosen,
        rows=len(chosen),
        read=rows,
        filtered=rows - met,
        repeated=met - len(chosen),
        troubles=tuple(troubles),
    )


def _read(
    study: TotalsStudy, publication: Publication, source: Source, used: Sequence[str]
) -> tuple[dict[str, Coded], dict[str, Integers], dict[str, Faults]]:
    """Return the columns of the file as codes, its measures in units, and what is wrong with each of these."""
    names = _raw_columns(publication, used)
    dictionaries = {name: Dictionary() for name in names}
    codes: dict[str, list[Integers]] = {name: [] for name in names}
    read: dict[str, list[tuple[Integers, Faults]]] = {name: [] for name in publication.measures}
    for batch in source.batches(list(dict.fromkeys([*names, *publication.measures.values()]))):
        for name in names:
            codes[name].append(dictionaries[name].encode(batch.column(name)).astype(np.int64))
        for name, column in publication.measures.items():
            read[name].append(
                amounts(
                    batch.column(column),
                    decimals=study.measures[name].decimals,
                    decimal_comma=publication.decimal_comma,
                    thousands=publication.thousands,
                    marks=publication.marks,
                )
            )
    columns = {
        name: Coded(np.concatenate(codes[name]), dictionaries[name].values()) for name in names
    }
    measures = {name: np.concatenate([units for units, _ in pairs]) for name, pairs in read.items()}
    faults = {name: np.concatenate([codes for _, codes in pairs]) for name, pairs in read.items()}
    return columns, measures, faults


def _derived(
    name: str, rule: Derived, columns: Mapping[str, Coded], where: str, troubles: list[Trouble]
) -> Coded:
    """Return a derived column: texts put together, cut and mapped, value by value."""
    origins = [columns[column] for column in rule.columns]
    codes, _ = combined([origin.codes for origin in origins])
    _, first = np.unique(codes, return_index=True)
    first = first[codes[first] != UNKNOWN]
    texts = pc.binary_join_element_wise(
        *(origin.values.take(pa.array(origin.codes[first])) for origin in origins),
        pa.scalar("", pa.large_string()),
    )
    if rule.first is not None:
        texts = pc.utf8_slice_codeunits(texts, 0, rule.first)
    if rule.map is not None:
        texts = _mapped(texts, rule.map)
    distinct = Coded.of(texts)
    result = np.where(codes == UNKNOWN, UNKNOWN, distinct.codes[codes])
    lost = np.flatnonzero((result == UNKNOWN) & (codes != UNKNOWN))
    if len(lost):
        missing = "".join(origin.text(lost[0]) or "" for origin in origins)
        kind = marked('the key map of "{name}" has no entry')
        troubles.append(Trouble.of(where, kind, len(lost), key_text([missing]), name=name))
    return Coded(result, distinct.values)


def _mapped(texts: pa.Array, rule: KeyMap) -> pa.Array:
    source = open_source(rule.path, dialect=rule.dialect)
    for column in (rule.source, rule.target):
        if column not in source.columns:
            raise DataError(unknown_name("column", column, source.name, source.columns))
    table = pa.Table.from_batches(list(source.batches([rule.source, rule.target])))
    known: dict[str, str] = {}
    keys, targets = (table.column(name).to_pylist() for name in (rule.source, rule.target))
    for key, target in zip(keys, targets, strict=True):
        if known.setdefault(key, target) != target:
            raise DataError(
                '{file}: "{key}" stands for "{first}" and for "{second}"; keep one of them',
                file=source.name,
                key=printable(key),
                first=printable(known[key]),
                second=printable(target),
            )
    return pa.array([known.get(value) for value in texts.to_pylist()], pa.large_string())


def _meeting(publication: Publication, columns: Mapping[str, Coded], rows: int) -> Flags:
    met = np.ones(rows, bool)
    for condition in map(parse_condition, publication.where):
        column = columns[condition.column]
        holds = np.array([condition.holds(value) for value in column.values.to_pylist()] + [False])
        met &= holds[column.codes]
    if met.any():
        return met
    file = publication.path.name
    if not publication.where:
        raise DataError("{file}: no row is left by the plan; correct the conditions", file=file)
    conditions = publication.where[0]
    for further in publication.where[1:]:
        conditions = text("{first} and {last}", first=conditions, last=further)
    raise DataError(
        "{file}: no row is left by {conditions}; correct the conditions",
        file=file,
        conditions=conditions,
    )


def _repetitions(key: Integers, columns: Sequence[Integers]) -> tuple[Flags, Flags, Flags]:
    """Tell which rows are the first of their key, which others differ from it, and which rows are in such a doubt.

    A row whose key is unknown repeats nothing.
    """
    lost = key == UNKNOWN
    key = key.copy()
    key[lost] = key.max(initial=0) + 1 + np.arange(int(lost.sum()))
    _, place, inverse = np.unique(key, return_index=True, return_inverse=True)
    inverse = inverse.reshape(-1)
    first, differs = np.zeros(len(key), bool), np.zeros(len(key), bool)
    first[place] = True
    for column in columns:
        differs |= column != column[place][inverse]
    doubtful = np.zeros(len(place), bool)
    doubtful[inverse[differs]] = True
    return first, differs, doubtful[inverse] & (first | differs)


# -- numbers of a column -----------------------------------------------------------------------------------------------


def amounts(
    texts: pa.StringArray,
    *,
    decimals: int,
    decimal_comma: bool = False,
    thousands: str | None = None,
    marks: Sequence[str] = (),
) -> tuple[Integers, Faults]:
    """Return numbers as units of the last decimal place, and a code of `FAULTS` for each; a wrong one counts 0.

    Args:
        texts: The numbers as they are written.
        decimals: How many decimals are kept.
        decimal_comma: Whether a comma stands before the decimals, not a point.
        thousands: What may stand between thousands; where it does not stand between groups of three it is no number.
        marks: What stands in the place of a number that is held back.

    >>> units, faults = amounts(pa.array(["1.5", "2.250", "-1", "", "1.005"]), decimals=2)
    >>> units.tolist(), [FAULTS[code] for code in faults]
    ([150, 225, 0, 0, 0], ['', '', 'negative', 'missing', 'too many decimals'])
    """
    plain = texts.cast(pa.large_string())
    if thousands is not None:
        between, decimal = _BETWEEN_THOUSANDS[thousands], "," if decimal_comma else "."
        pattern = f"^ *[+-]?[0-9]{{1,3}}({between}[0-9]{{3}})+([{decimal}][0-9]*)? *$"
        plain = pc.if_else(
            pc.match_substring_regex(plain, pattern),
            pc.replace_substring_regex(plain, between, ""),
            plain,
        )
    units, faults = np.zeros(len(plain), np.int64), np.zeros(len(plain), np.uint8)
    if len(plain):
        _, offsets, data = plain.buffers()
        ends = np.frombuffer(offsets, np.int64)[plain.offset : plain.offset + len(plain) + 1]
        letters = np.frombuffer(data, np.uint8) if data is not None else np.zeros(1, np.uint8)
        mark = _COMMA if decimal_comma else _POINT
        _read_amounts(ends, letters, mark, decimals, units, faults)
    if marks:
        trimmed = pc.utf8_trim_whitespace(texts.cast(pa.large_string()))
        held_back = pc.is_in(trimmed, pa.array(marks, pa.large_string()))
        places = held_back.to_numpy(zero_copy_only=False)
        units[places], faults[places] = 0, OPEN
    return units, faults


def other_form(value: str, publication: Publication, decimals: int) -> str | None:
    """Return the settings by which a text would be a number, as a plan says them; None: there are none.

    >>> from pathlib import Path
    >>> other_form("6.215,95", Publication(path=Path("x.csv"), decimal_comma=True), 2)
    'thousands = "."'
    >>> other_form("6.215,95", Publication(path=Path("x.csv")), 2)
    'decimal_comma = true, thousands = "."'
    """
    for comma, thousands in NUMBER_FORMS:
        _, faults = amounts(
            pa.array([value]), decimals=decimals, decimal_comma=comma, thousands=thousands
        )
        if faults[0] not in (0, NEGATIVE):
            continue
        settings = []
        if comma != publication.decimal_comma:
            settings.append(f"decimal_comma = {str(comma).lower()}")
        if thousands != publication.thousands and thousands is not None:
            settings.append(f'thousands = "{thousands}"')
        return ", ".join(settings) or None
    return None


def text_of(publication: Publication, column: str, row: int) -> str:
    """Return what a row of the file, counted from 0, has in a column: for a message."""
    for batch in open_source(publication.path, dialect=publication.dialect).batches([column]):
        if row < len(batch):
            return str(batch.column(0)[row].as_py())
        row -= len(batch)
    return ""


@compiled
def _read_amounts(
    ends: Integers,
    letters: NDArray[np.uint8],
    mark: int,
    decimals: int,
    units: Integers,
    faults: Faults,
) -> None:
    for row in range(len(units)):
        # Blanks on both sides, and a sign.
        begin, end = ends[row], ends[row + 1]
        while begin < end and letters[begin] == _BLANK:
            begin += 1
        while begin < end and letters[end - 1] == _BLANK:
            end -= 1
        if begin == end:
            faults[row] = MISSING
            continue
        negative = letters[begin] == _MINUS
        if negative or letters[begin] == _PLUS:
            begin += 1
        # Digits, before the mark and after it; decimals beyond those of the plan must be 0.
        number, places, digits, fault, after = 0, 0, 0, 0, False
        for place in range(begin, end):
            letter = letters[place]
            if letter == mark and not after:
                after = True
                continue
            if letter < _ZERO or letter > _NINE:
                fault = NO_NUMBER
                break
            digits += 1
            digit = letter - _ZERO
            if after and places == decimals:
                if digit and not fault:
                    fault = DECIMALS
                continue
            if number > (_LARGEST - digit) // 10:
                fault = LARGE
                number = 0
            number = number * 10 + digit
            if after:
                places += 1
        if not digits:
            fault = NO_NUMBER
        # Decimals that were not written are 0.
        for _ in range(places, decimals):
            if number > _LARGEST // 10:
                fault = fault if fault else LARGE
                number = 0
            number *= 10
        if negative and number and not fault:
            fault = NEGATIVE
        faults[row] = fault
        units[row] = 0 if fault else number
