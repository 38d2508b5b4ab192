"""A table as a file: delimited text in the form of another one, Parquet, Excel, SPSS or Stata.

The columns are dictionaries of texts, so that a text is written out once however many records have it. Nothing in a
file tells when it was written: the same table gives the same bytes.
"""

from __future__ import annotations

import codecs
import re
import zipfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from importlib import import_module
from pathlib import Path
from typing import Any
from xml.sax.saxutils import escape

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet

from glasshouse.errors import DataError, StudyError
from glasshouse.language import text
from glasshouse.sources.source import MISSING, SUPPRESSED

FORMATS = ("csv", "parquet", "xlsx", "sav", "dta")
"""How the names of files end that are written."""
ROWS = 1 << 18
"""So many records are written at a time."""
MOST_ROWS = 1_048_575
"""A sheet of Excel has no more records."""
_WHOLE = re.compile(r"-?(0|[1-9]\d{0,14})")
_DECIMAL = re.compile(r"-?(0|[1-9]\d{0,8})(\.\d{0,5}[1-9])?")
_UNSEEN = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\ufffe\uffff]")
MEASURES = ("nominal", "ordinal", "scale")
"""How SPSS says that a column is to be understood."""
SUPPRESSED_LABEL = f"({SUPPRESSED})"
"""What the label of the code that stands for a suppressed value ends in, in every language."""
_SUPPRESSED_CODES = (-99, -999, -9999, -99999, 99, 999, 9999, 99999)
_SUPPRESSED_LETTERS = "szyxwvutrqponmlkjihgfedcba"
_LETTER = re.compile("[a-z]")
_MOST_MISSING, _LONGEST_MISSING = 3, 8
"""So many single values can be missing in SPSS, and texts of no more bytes."""
_EPOCH = (1980, 1, 1, 0, 0, 0)


@dataclass(frozen=True)
class TextForm:
    """How delimited text is written down."""

    separator: str = ","
    """What stands between fields."""
    quote: str | None = '"'
    """What stands around fields that hold a separator, a quote or a line break; None: nothing."""
    quotes_all: bool = False
    """Whether it stands around all fields."""
    encoding: str = "utf-8"
    """How letters are bytes."""
    line_end: str = "\n"
    """What ends a record."""
    marked: bool = False
    """Whether a byte-order mark comes first."""

    def field(self, written: str, *, alone: bool = False) -> str:
        """Return a field as it is written; an empty one that is alone in its record would be no record."""
        if self.quote is None:
            return written
        special = (self.separator, self.quote, "\r", "\n")
        if self.quotes_all or (alone and not written) or any(sign in written for sign in special):
            return self.quote + written.replace(self.quote, 2 * self.quote) + self.quote
        return written


def write_table(
    columns: Mapping[str, pa.DictionaryArray],
    path: Path,
    *,
    form: TextForm | None = None,
    column_labels: Mapping[str, str] | None = None,
    value_labels: Mapping[str, Mapping[str, str]] | None = None,
    measures: Mapping[str, str] | None = None,
    missing_ranges: Mapping[str, Sequence[Sequence[str]]] | None = None,
    missing_codes: Mapping[str, frozenset[str]] | None = None,
) -> None:
    """Write a table as the kind of file that its name ends in.

    Args:
        columns: The columns by name, of as many records each.
        path: The file: of `FORMATS`.
        form: How delimited text is written down.
        column_labels: What columns stand for; in Parquet, SPSS and Stata.
        value_labels: What values stand for, by column; in SPSS and Stata, in the latter of whole numbers only.
        measures: Whether columns are nominal, ordinal or of a scale; in SPSS.
        missing_ranges: From which to which value columns are declared missing; in SPSS.
        missing_codes: Values that stand for missing, by column; letters among numbers are Stata's own.

    Raises:
        DataError: The table does not fit that kind of file.
        StudyError: What writes it is not installed.
    """
    kind = path.suffix.removeprefix(".")
    if kind == "csv":
        _write_text(columns, path, form or TextForm())
    elif kind == "parquet":
        _write_parquet(columns, path, column_labels or {})
    elif kind == "xlsx":
        _write_sheet(columns, path)
    else:
        described = {
            name: _Described(
                name,
                column,
                kind,
                (value_labels or {}).get(name, {}),
                (measures or {}).get(name, ""),
                tuple((low, high) for low, high in (missing_ranges or {}).get(name, ())),
                (missing_codes or {}).get(name, frozenset()),
            )
            for name, column in columns.items()
        }
        _write_statistical(described, path, column_labels or {})


def _write_text(columns: Mapping[str, pa.DictionaryArray], path: Path, form: TextForm) -> None:
    alone = len(columns) == 1
    header = form.separator.join(form.field(name, alone=alone) for name in columns)
    texts = [
        (
            pa.array(
                [form.field(value, alone=alone) for value in column.dictionary.to_pylist()],
                pa.large_string(),
            ),
            column.indices,
        )
        for column in columns.values()
    ]
    records = len(texts[0][1])
    with path.open("wb") as file:
        encoder = codecs.getincrementalencoder(form.encoding)()
        mark = codecs.BOM_UTF8.decode() if form.marked else ""
        try:
            file.write(encoder.encode(f"{mark}{header}{form.line_end}"))
            for start in range(0, records, ROWS):
                fields = [values.take(codes.slice(start, ROWS)) for values, codes in texts]
                lines = _lines(fields, form)
                is_plain = form.encoding == TextForm.encoding
                file.write(lines if is_plain else encoder.encode(lines.decode()))
        except UnicodeEncodeError as error:
            raise DataError(
                "the character {character} cannot be written as {encoding}; choose another `format`",
                character=repr(error.object[error.start]),
                encoding=form.encoding,
            ) from None


def _lines(fields: Sequence[pa.LargeStringArray], form: TextForm) -> bytes:
    """Return records as lines, in UTF-8."""
    joined = pc.binary_join_element_wise(*fields, pa.scalar(form.separator, pa.large_string()))
    nothing = pa.scalar("", pa.large_string())
    ended = pc.binary_join_element_wise(
        joined, nothing, pa.scalar(form.line_end, pa.large_string())
    )
    _, _, content = ended.buffers()
    lines: bytes = content.to_pybytes()
    return lines


def _write_parquet(
    columns: Mapping[str, pa.DictionaryArray], path: Path, labels: Mapping[str, str]
) -> None:
    fields, arrays = [], []
    for name, column in columns.items():
        numbers = _numbers(column, _WHOLE)
        array = _texts(column) if numbers is None else pa.array(numbers, pa.int64())
        arrays.append(array.take(column.indices))
        metadata = {"label": labels[name]} if name in labels else None
        fields.append(pa.field(name, array.type, metadata=metadata))
    pyarrow.parquet.write_table(pa.table(arrays, schema=pa.schema(fields)), path)


def _texts(column: pa.DictionaryArray) -> pa.StringArray:
    values = [None if value == MISSING else value for value in column.dictionary.to_pylist()]
    return pa.array(values, pa.string())


def _numbers(column: pa.DictionaryArray, pattern: re.Pattern[str]) -> list[Any] | None:
    """Return the values of a column as numbers, missing ones as None; None where writing them so would change one."""
    return _numbers_of(column.dictionary.to_pylist(), pattern)


def _numbers_of(values: Sequence[str], pattern: re.Pattern[str]) -> list[Any] | None:
    """Return texts as numbers, as `_numbers` does."""
    if not any(values) or not all(value == MISSING or pattern.fullmatch(value) for value in values):
        return None
    number = int if pattern is _WHOLE else float
    return [None if value == MISSING else number(value) for value in values]


def _write_sheet(columns: Mapping[str, pa.DictionaryArray], path: Path) -> None:
    records = len(next(iter(columns.values())))
    if records > MOST_ROWS:
        raise DataError(
            "a sheet of Excel has no more than {most} records, and there are {records}; choose another `format`",
            most=MOST_ROWS,
            records=records,
        )
    cells = [_cells(column) for column in columns.values()]
    codes = [column.indices.to_pylist() for column in columns.values()]

    def rows() -> Iterator[str]:
        yield "".join(["<row>", *map(_text_cell, columns), "</row>"])
        for record in zip(*codes, strict=True):
            filled = (texts[code] for texts, code in zip(cells, record, strict=True))
            yield "".join(["<row>", *filled, "</row>"])

    head = '<?xml version="1.0" encoding="UTF-8" standalone="yes"?>\n'
    main = "http://schemas.openxmlformats.org/spreadsheetml/2006/main"
    office = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
    package = "http://schemas.openxmlformats.org/package/2006"
    kind = "application/vnd.openxmlformats-officedocument.spreadsheetml"
    relation = f'{head}<Relationships xmlns="{package}/relationships"><Relationship Id="rId1"'
    parts = {
        "[Content_Types].xml": f'{head}<Types xmlns="{package}/content-types"><Default Extension="rels" '
        'ContentType="application/vnd.openxmlformats-package.relationships+xml"/>'
        f'<Override PartName="/xl/workbook.xml" ContentType="{kind}.sheet.main+xml"/>'
        f'<Override PartName="/xl/worksheets/sheet1.xml" ContentType="{kind}.worksheet+xml"/></Types>',
        "_rels/.rels": f'{relation} Type="{office}/officeDocument" Target="xl/workbook.xml"/></Relationships>',
        "xl/workbook.xml": f'{head}<workbook xmlns="{main}" xmlns:r="{office}"><sheets><sheet name="release" '
        'sheetId="1" r:id="rId1"/></sheets></workbook>',
        "xl/_rels/workbook.xml.rels": f'{relation} Type="{office}/worksheet" Target="worksheets/sheet1.xml"/>'
        "</Relationships>",
    }
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in parts.items():
            archive.writestr(_entry(name), content)
        with archive.open(_entry("xl/worksheets/sheet1.xml"), "w", force_zip64=True) as sheet:
            sheet.write(f'{head}<worksheet xmlns="{main}"><sheetData>'.encode())
            for row in rows():
                sheet.write(row.encode())
            sheet.write(b"</sheetData></worksheet>")


def _entry(name: str) -> zipfile.ZipInfo:
    entry = zipfile.ZipInfo(name, _EPOCH)
    entry.compress_type = zipfile.ZIP_DEFLATED
    return entry


def _cells(column: pa.DictionaryArray) -> list[str]:
    values = column.dictionary.to_pylist()
    if _numbers(column, _DECIMAL) is None:
        return [_text_cell(value) for value in values]
    return [f"<c><v>{value}</v></c>" if value != MISSING else "<c/>" for value in values]


def _text_cell(written: str) -> str:
    if written == MISSING:
        return "<c/>"
    seen = _UNSEEN.sub(lambda sign: f"_x{ord(sign[0]):04X}_", written)
    return f'<c t="inlineStr"><is><t xml:space="preserve">{escape(seen)}</t></is></c>'


_STAMPS = {
    "sav": (rb"\A(.{92}).{17}", b"01 Jan 7000:00:00"),
    "dta": (rb"(<timestamp>\x11).{17}", b"01 Jan 1970 00:00"),
}
"""Where a file says when it was written, and what it says here."""


@dataclass(frozen=True)
class _Described:
    """A column as SPSS or Stata keeps it: a suppressed value among numbers is a code of its own."""

    name: str
    column: pa.DictionaryArray
    kind: str
    """How the name of the file ends."""
    value_labels: Mapping[str, str]
    measure: str
    ranges: Sequence[tuple[str, str]]
    codes: frozenset[str]

    @cached_property
    def values(self) -> list[str]:
        """The distinct values."""
        texts: list[str] = self.column.dictionary.to_pylist()
        return texts

    @cached_property
    def numbers(self) -> list[Any] | None:
        """The values as numbers, and None where they are none; None in all: the column is text."""
        plain = [MISSING if value in self.apart else value for value in self.values]
        numbers = _numbers_of(plain, _WHOLE) or _numbers_of(plain, _DECIMAL)
        if numbers is None and self.apart and not any(plain) and self.value_labels:
            is_coded = all(map(_DECIMAL.fullmatch, self.value_labels))
            return [None] * len(plain) if is_coded else None
        return numbers

    @cached_property
    def apart(self) -> frozenset[str]:
        """Values that may stand among numbers: the suppressed one, and Stata's letters."""
        letters = self.codes if self.kind == "dta" else frozenset()
        return frozenset(
            value
            for value in self.values
            if value == SUPPRESSED or (value in letters and _LETTER.fullmatch(value))
        )

    @cached_property
    def suppressed(self) -> int | str | None:
        """The code of the suppressed value, a letter in Stata; None: there is none, or the column is text."""
        if SUPPRESSED not in self.apart or self.numbers is None:
            return None
        taken = {*self.values, *self.value_labels, *self.codes}
        if self.kind == "dta":
            return next((letter for letter in _SUPPRESSED_LETTERS if letter not in taken), None)
        free = [code for code in _SUPPRESSED_CODES if str(code) not in taken]
        within = [
            code
            for code in free
            if any(float(low) <= code <= float(high) for low, high in self.ranges)
        ]
        return (within or free)[0] if self._has_room or within else free[0]

    @property
    def _has_room(self) -> bool:
        """Whether SPSS lets one more single value be missing."""
        is_range = any(low != high for low, high in self.ranges)
        return len(self.ranges) < (2 if is_range else _MOST_MISSING)

    @property
    def series(self) -> pa.Array | list[Any]:
        """The values of all records, as the library takes them: letters among numbers as a list."""
        if self.numbers is None:
            return pa.array(self.values, pa.string()).take(self.column.indices)
        if self.kind == "dta" and self.apart:
            written = [
                self.suppressed if value == SUPPRESSED else value if value in self.apart else number
                for value, number in zip(self.values, self.numbers, strict=True)
            ]
            floats = [float(each) if isinstance(each, int) else each for each in written]
            return [floats[code] for code in self.column.indices.to_pylist()]
        numbers = [
            self.suppressed if value == SUPPRESSED else number
            for value, number in zip(self.values, self.numbers, strict=True)
        ]
        return pa.array(numbers, pa.float64()).take(self.column.indices)

    @property
    def labels(self) -> dict[Any, str]:
        """What values stand for, by the values as they are written."""
        if self.numbers is None:
            widest = max((len(value.encode()) for value in self.values), default=0)
            return {
                value: label
                for value, label in self.value_labels.items()
                if self.kind == "sav" and len(value.encode()) <= widest
            }
        pattern = _DECIMAL if self.kind == "sav" else _WHOLE
        labels: dict[Any, str] = {
            int(value) if _WHOLE.fullmatch(value) else float(value): label
            for value, label in self.value_labels.items()
            if pattern.fullmatch(value)
        }
        if self.kind == "dta":
            letters = self.apart & self.value_labels.keys() - {SUPPRESSED}
            labels |= {letter: self.value_labels[letter] for letter in sorted(letters)}
        if self.suppressed is not None:
            labels[self.suppressed] = f"{text('suppressed')} {SUPPRESSED_LABEL}"
        return labels

    @property
    def missing(self) -> list[Any]:
        """What SPSS is told to be missing; the letters of Stata."""
        if self.kind == "dta":
            letters = self.apart - {SUPPRESSED} if self.numbers is not None else ()
            return sorted([*letters, *([self.suppressed] if self.suppressed else [])])
        if self.numbers is None:
            texts = sorted(self.codes.intersection(self.values))
            are_short = all(len(code.encode()) <= _LONGEST_MISSING for code in texts)
            return texts if len(texts) <= _MOST_MISSING and are_short else []
        ranges: list[Any] = [
            {"lo": float(low), "hi": float(high)}
            for low, high in self.ranges
            if _is_number(low) and _is_number(high)
        ]
        is_new = not any(each["lo"] <= (self.suppressed or 0) <= each["hi"] for each in ranges)
        if self.suppressed is not None and is_new and self._has_room:
            ranges.append(self.suppressed)
        return ranges


def _is_number(written: str) -> bool:
    try:
        float(written)
    except ValueError:
        return False
    return True


def _write_statistical(
    columns: Mapping[str, _Described], path: Path, column_labels: Mapping[str, str]
) -> None:
    kind = path.suffix.removeprefix(".")
    try:
        pyreadstat, polars = import_module("pyreadstat"), import_module("polars")
    except ImportError:
        raise StudyError(
            "`format` {kind} needs an extra of Glasshouse: pip install 'glasshouse[formats]'",
            kind=kind,
        ) from None
    series = [
        polars.Series(name, values, dtype=polars.Object)
        if isinstance(values, list)
        else polars.from_arrow(values).alias(name)
        for name, values in ((name, column.series) for name, column in columns.items())
    ]
    missing = {name: column.missing for name, column in columns.items() if column.missing}
    options: dict[str, Any] = {"missing_user_values": missing}
    if kind == "sav":
        measures = {
            name: column.measure
            for name, column in columns.items()
            if column.measure and (column.measure != "scale" or column.numbers is not None)
        }
        options = {"missing_ranges": missing, "variable_measure": measures}
    try:
        getattr(pyreadstat, f"write_{kind}")(
            polars.DataFrame(series),
            str(path),
            column_labels={name: column_labels.get(name) for name in columns},
            variable_value_labels={
                name: labels for name, column in columns.items() if (labels := column.labels)
            },
            **options,
        )
    except (pyreadstat.PyreadstatError, pyreadstat.ReadstatError) as error:
        raise DataError(
            "the table cannot be written as {kind} ({reason}); rename columns, or choose another `format`",
            kind=kind,
            reason=error,
        ) from None
    pattern, stamp = _STAMPS[kind]
    content = path.read_bytes()
    start, count = re.subn(pattern, rb"\g<1>" + stamp, content[:4096], count=1, flags=re.DOTALL)
    if count:
        path.write_bytes(start + content[4096:])
