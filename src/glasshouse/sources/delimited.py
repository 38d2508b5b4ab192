"""Delimited text: CSV and its kin, parsed strictly, with every record accounted for.

The file is cut into blocks of whole records by the scanner, each block is parsed by Arrow with all columns
as text, and the two counts must agree. What is concluded of a file (the separator, comments before the header, names of
columns that have none or share one) is told, and a wrong conclusion cannot pass: a record with another number of fields
than the header is an error with its line.
"""

from __future__ import annotations

import csv
import itertools
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv

from glasshouse.errors import DataError, InternalError
from glasshouse.language import quoted, text, text_for
from glasshouse.progress import OnProgress, Progress
from glasshouse.sources.exports import TextForm
from glasshouse.sources.scanner import ANY_FIELDS, NO_QUOTE, Fault, Scan, scan, scan_lines
from glasshouse.sources.source import check_columns
from glasshouse.sources.text import UTF_8, TextFile, TextSource
from glasshouse.study import Dialect

CANDIDATE_SEPARATORS = (",", ";", "\t", "|")
SNIFFED_RECORDS = 50
OPENING_BYTES = 1 << 20
"""In so much of the beginning separator, comments and header are looked for."""
LONGEST_TITLE = 20
"""More lines than these are no title."""
COMMENT = "#"
_DECLARED = re.compile(r'"?sep=(.)"?[;,]*', re.IGNORECASE)
"""The line by which Excel is told what stands between fields."""
_LINE = re.compile(r"([^\r\n]*)(\r\n|\r|\n|\Z)")
REMARK = re.compile(
    r"\s*(fontes?|sources?|notas?|notes?|obs|observações|observação|elaboração|\*|†|¹)\s*([:.)]|$|\s)",
    re.IGNORECASE,
)
"""How words below a table begin."""
_FIGURE = re.compile(r"[-+]?[\d.,/:%\s-]*\d[\d.,/:%\s-]*")
"""A number, a date or a code of digits."""
LONGEST_RECORD = 1 << 25
LONGEST_HEADER = 1 << 23

UNIT_SEPARATOR = "\x1f"
"""Stands in for a separator that is not ASCII: Arrow takes a separator of one byte only."""


@dataclass(frozen=True)
class _Grammar:
    """How this file is cut into records and fields."""

    separator: str
    quote: str | None

    @property
    def byte(self) -> str:
        """The separator that the parser sees."""
        return self.separator if self.separator.isascii() else UNIT_SEPARATOR

    @property
    def quote_byte(self) -> int:
        return ord(self.quote) if self.quote else NO_QUOTE

    def fields(self, record: str) -> list[str]:
        """Return the fields of one record."""
        return next(csv_rows([record], self.separator, self.quote), [""]) or [""]


class DelimitedFile(TextSource):
    """A file of delimited text as a source."""

    def __init__(
        self, path: Path, *, dialect: Dialect, name: str, member: str | None = None
    ) -> None:
        self._name = name
        self._dialect = dialect
        self._text = TextFile(path, encoding=dialect.encoding, name=name, member=member)
        if dialect.quote and not dialect.quote.isascii():
            raise DataError(
                "{name}: the quote must be an ASCII character, not {quote}",
                name=name,
                quote=repr(dialect.quote),
            )
        start, self._is_all = self._start()
        opening = start[:OPENING_BYTES].decode("utf-8", "ignore")
        separator, self._skipped = _opening(opening, dialect)
        if separator == dialect.quote:
            raise DataError(
                "{name}: {character} is both the separator and the quote; set one of them",
                name=name,
                character=repr(separator),
            )
        self._grammar = _Grammar(separator, dialect.quote)
        before, first_lines = _cut(opening, self._skipped)
        self._skipped_bytes = len(opening[:before].encode())
        start = start[self._skipped_bytes :]
        if not start.strip(b"\r\n"):
            raise DataError("{name}: is empty", name=name)
        if dialect.skip_end and len(first_lines) <= SNIFFED_RECORDS + LONGEST_TITLE:
            first_lines = _without_end(first_lines, dialect.skip_end)
        self._title = _title_lines(first_lines, dialect)
        self._has_groups = (
            dialect.header
            and not dialect.names
            and _groups_columns(first_lines[self._title :], dialect, separator)
        )
        self._blank_line = 0
        self._first_line = first_lines[0]
        self._line_end = next((match[2] for match in _LINE.finditer(opening) if match[2]), "\n")
        self._renamed: list[str] = []
        super().__init__(name, self._column_names(start, first_lines))
        if dialect.strict and self.assumptions:
            raise DataError(
                "{name}: `strict` assumes nothing, and this would be assumed: {assumptions}; say it by what stands in "
                "brackets",
                name=name,
                assumptions="; ".join(self.assumptions),
            )

    @property
    def title_lines(self) -> int:
        """How many lines come before the names, as `skip` has it, where some seem to be a title or group columns."""
        found = self._title + self._has_groups
        return self._skipped + found if found else 0

    @property
    def has_groups(self) -> bool:
        """Whether a line above the names seems to say which columns belong together."""
        return self._has_groups

    @property
    def skipped_lines(self) -> int:
        """How many lines before the header were taken for none of the table, where that was not said."""
        return self._skipped if self._dialect.skip is None else 0

    @property
    def renamed(self) -> tuple[str, ...]:
        """What columns are called that have no name, or the same as another."""
        return tuple(self._renamed)

    @property
    def assumptions(self) -> tuple[str, ...]:
        """What was concluded of how it is written."""
        phrases = list(super().assumptions)
        separator = self._grammar.separator
        if self._dialect.separator is None and separator != CANDIDATE_SEPARATORS[0]:
            phrases.append(text("{sign} between fields (`separator`)", sign=quoted([separator])))
        if self._dialect.skip is None and self._skipped:
            phrases.append(
                text_for(
                    self._skipped,
                    "{count} line before the header that is not part of the table (`skip`)",
                    "{count} lines before the header that are not part of the table (`skip`)",
                )
            )
        if self._blank_line:
            phrases.append(
                text(
                    "blank lines among the records, the first in line {line}, which are not records (`strict`)",
                    line=str(self._blank_line),
                )
            )
        if self._renamed:
            phrases.append(
                text(
                    "{names} for columns that have no name, or the same as another (`names`)",
                    names=quoted(self._renamed),
                )
            )
        return tuple(phrases)

    @property
    def dialect(self) -> Dialect:
        """The dialect with nothing left to detect."""
        return self._dialect.model_copy(
            update={"separator": self._grammar.separator, "encoding": self._text.encoding}
        )

    @property
    def form(self) -> TextForm:
        """How it is written down, so that another file can be written so."""
        encoding = self._text.encoding
        marked = encoding == UTF_8 and self._text.is_marked
        return TextForm(
            separator=self._grammar.separator,
            quote=self._grammar.quote,
            quotes_all=_quotes_all(self._first_line, self._grammar),
            encoding="utf-8" if encoding == UTF_8 else encoding,
            line_end=self._line_end,
            marked=marked,
        )

    def coded_batches(
        self, columns: Sequence[str], *, on_progress: OnProgress | None = None
    ) -> Iterator[pa.RecordBatch]:
        """Yield the named columns as text, a block of whole records at a time."""
        check_columns(self, columns)
        rest, held = b"", b""
        line, blank_line, records, position = 1 + self._skipped, 0, 0, 0
        heading = self._dialect.header
        for block, position, final in self._plain_blocks():
            if self._dialect.skip_end:
                block, held = _but_for_end(held + block, self._dialect.skip_end)
            rest += block
            if heading:
                head = self._scan(rest, line, blank_line, final, limit=1, fields=ANY_FIELDS)
                if head.records == 0 and not final:
                    continue
                rest, line, heading = rest[head.length :], head.line, False
            rest, blank_end = self._without_blank_end(rest, final)
            body = None if blank_line or final else self._lines(rest, line)
            body = body or self._scan(rest, line, blank_line, final)
            if body.records:
                whole = pa.py_buffer(rest).slice(0, body.length)
                yield self._record_batch(whole, columns, body.records, line)
            rest = rest[body.length :] + blank_end
            line, blank_line, records = body.line, body.blank_line, records + body.records
            if len(rest) > LONGEST_RECORD:
                raise self._too_long(line)
            if on_progress:
                on_progress(Progress("reading", position, self._text.size))
        if self._dialect.skip_end:
            self._check_end(held, line, records)
        if records == 0:
            raise DataError(
                text("{name}: has a header but no records", name=self._name)
                if self._dialect.header
                else text("{name}: has no records", name=self._name)
            )

    def _without_blank_end(self, block: bytes, final: bool) -> tuple[bytes, bytes]:
        """Part a block of one column from the blank lines at its end, which are values only if more follows."""
        if len(self._columns) > 1:
            return block, b""
        body = block.rstrip(b"\r\n")
        line_end = next(
            (end for end in (b"\r\n", b"\n", b"\r") if block.startswith(end, len(body))), b""
        )
        length = len(body) + len(line_end) if body else 0
        return block[:length], b"" if final else block[length:]

    def _start(self) -> tuple[bytes, bool]:
        """Return what is looked at on opening: so much that a line ends in it; and whether that is all."""
        start, is_all = b"", True
        for block, _ in self._text.blocks():
            start += block
            has_line = b"\n" in block or b"\r" in block
            if len(start) >= (OPENING_BYTES if has_line else LONGEST_HEADER):
                is_all = False
                break
        if not start.strip(b"\r\n"):
            raise DataError("{name}: is empty", name=self._name)
        return start, is_all

    def _column_names(self, start: bytes, first_lines: Sequence[str]) -> Sequence[str]:
        first = self._first_record(start)
        try:
            fields = self._grammar.fields(first)
        except csv.Error as error:
            raise DataError(
                "{name}, line {line}: is not a list of names ({reason}); correct it",
                name=self._name,
                line=str(1 + self._skipped),
                reason=error,
            ) from None
        if self._dialect.header and _end_in_separator(first_lines, len(fields), self._grammar):
            fields.append("")
        if self._dialect.names and len(self._dialect.names) != len(fields):
            raise DataError(
                "{name}, line {line}: has {fields} fields, but {names} names were given; give {fields}",
                name=self._name,
                line=str(1 + self._skipped),
                fields=len(fields),
                names=len(self._dialect.names),
            )
        if self._dialect.names:
            names: Sequence[str] = self._dialect.names
        elif self._dialect.header:
            names = [field.strip() if self._dialect.strip else field for field in fields]
            if len(names) > 1 and not self._dialect.strict:
                names = _distinct_names(names)
                self._renamed = [
                    name
                    for name, field in zip(names, fields, strict=True)
                    if name not in (field, field.strip())
                ]
        else:
            names = [f"column_{i}" for i in range(1, len(fields) + 1)]
        return names

    def _first_record(self, start: bytes) -> str:
        block = self._plain_block(start)
        result = scan(
            block,
            separator=ord(self._grammar.byte),
            quote=self._grammar.quote_byte,
            line=1 + self._skipped,
            limit=1,
            final=self._is_all,
            passes_blanks=not self._dialect.strict,
        )
        self._check(result)
        if result.records == 0:
            raise self._too_long(1 + self._skipped)
        record = block[: result.length].decode().strip("\r\n")
        return record.replace(self._grammar.byte, self._grammar.separator)

    def _scan(
        self,
        block: bytes,
        line: int,
        blank_line: int,
        final: bool,
        *,
        limit: int = 0,
        fields: int | None = None,
    ) -> Scan:
        result = scan(
            block,
            separator=ord(self._grammar.byte),
            quote=self._grammar.quote_byte,
            fields=len(self._columns) if fields is None else fields,
            line=line,
            blank_line=blank_line,
            limit=limit,
            final=final,
            passes_blanks=self._blank_line > 0,
        )
        if result.fault is Fault.BLANK and not self._dialect.strict and not self._blank_line:
            self._blank_line = result.fault_line
            return self._scan(block, line, blank_line, final, limit=limit, fields=fields)
        self._check(result)
        return result

    def _check_end(self, skipped: bytes, line: int, records: int) -> None:
        """Make sure that no record is among the lines at the end that are to be skipped.

        Raises:
            DataError: One seems to be, or nothing is left.
        """
        lines = str(self._dialect.skip_end)
        if not records:
            raise DataError(
                "{name}: `skip_end` {lines} leaves no records; say a lower number",
                name=self._name,
                lines=lines,
            )
        for number, raw in enumerate(skipped.splitlines(), start=line):
            values = self._values(raw)
            if len(values) == len(self._columns) > 1 and all(value.strip() for value in values):
                raise DataError(
                    "{name}, line {line}: `skip_end` {lines} would skip it, and it is as full as a record; say a lower "
                    "number",
                    name=self._name,
                    line=str(number),
                    lines=lines,
                )

    def _values(self, raw: bytes) -> list[str]:
        """Return the fields of a line; none where it cannot be parted."""
        written = raw.decode("utf-8", "replace").replace(
            self._grammar.byte, self._grammar.separator
        )
        try:
            return next(csv_rows([written], self._grammar.separator, self._grammar.quote), [])
        except csv.Error:
            return []

    def _footer(self, line: int) -> int:
        """Return how many lines from one on are the last ones and seem to be remarks; 0: there are records, or others.

        Blank lines at the very end do not count.
        """
        rest, number, found = b"", 0, list[bytes]()
        for block, _, final in self._lines_blocks():
            lines = (rest + block).splitlines(keepends=True)
            rest = b"" if final or not lines else lines.pop()
            for raw in lines:
                number += 1
                if number < line:
                    continue
                found.append(raw.strip(b"\r\n"))
                if len(found) > LONGEST_TITLE or (found[-1] and not self._is_remark(found[-1])):
                    return 0
        while found and not found[-1]:
            found.pop()
        return len(found)

    def _lines_blocks(self) -> Iterator[tuple[bytes, int, bool]]:
        for block, position in self._text.blocks():
            yield self._plain_block(block), position, False
        yield b"", 0, True

    def _is_remark(self, raw: bytes) -> bool:
        """Tell whether a line is words beside the table: few fields, the first of which reads like a sentence."""
        values = self._values(raw)
        filled = [value.strip() for value in values if value.strip()]
        if not filled or len(values) == len(self._columns):
            return not filled
        if REMARK.match(filled[0]):
            return True
        is_said = any(map(str.isalpha, filled[0])) and bool(re.search(r"[\s:]", filled[0]))
        return is_said and len(filled) <= max(1, len(self._columns) // 3)

    def _lines(self, block: bytes, line: int) -> Scan | None:
        return scan_lines(
            block,
            separator=ord(self._grammar.byte),
            quote=self._grammar.quote_byte,
            fields=len(self._columns),
            line=line,
        )

    def _plain_blocks(self) -> Iterator[tuple[bytes, int, bool]]:
        position, skipped = 0, self._skipped_bytes
        for block, position in self._text.blocks():
            yield self._plain_block(block[skipped:]), position, False
            skipped = 0
        yield b"", position, True

    def _plain_block(self, block: bytes) -> bytes:
        if self._grammar.separator.isascii():
            return block
        if UNIT_SEPARATOR.encode() in block:
            raise DataError(
                '{name}: holds the control character U+001F beside the separator "{separator}"; remove it',
                name=self._name,
                separator=self._grammar.separator,
            )
        return block.replace(self._grammar.separator.encode(), UNIT_SEPARATOR.encode())

    def _record_batch(
        self, block: pa.Buffer, columns: Sequence[str], records: int, line: int
    ) -> pa.RecordBatch:
        try:
            table = self._parsed(block, columns)
        except pa.ArrowInvalid:
            table = None
        if table is None or table.num_rows != records:
            self._scan(
                block.to_pybytes(), line, 0, final=True
            )  # it knows in which line a field is missing
            raise InternalError(
                f"{self._name}: the parser does not find the {records} records from line {line} on"
            )
        batch = table.combine_chunks().to_batches()[0]
        return batch if self._grammar.separator.isascii() else self._with_separators(batch)

    def _parsed(self, block: pa.Buffer, columns: Sequence[str]) -> pa.Table:
        return pyarrow.csv.read_csv(
            pa.BufferReader(block),
            read_options=pyarrow.csv.ReadOptions(
                column_names=list(self._columns), block_size=block.size + 1, use_threads=False
            ),
            parse_options=pyarrow.csv.ParseOptions(
                delimiter=self._grammar.byte,
                quote_char=self._grammar.quote or False,
                newlines_in_values=True,
                ignore_empty_lines=len(self._columns) > 1,
            ),
            convert_options=pyarrow.csv.ConvertOptions(
                column_types=dict.fromkeys(columns, pa.string()),
                include_columns=list(columns),
                strings_can_be_null=False,
                check_utf8=False,
            ),
        )

    def _with_separators(self, batch: pa.RecordBatch) -> pa.RecordBatch:
        columns = [
            pc.replace_substring(column, UNIT_SEPARATOR, self._grammar.separator)
            for column in batch.columns
        ]
        return pa.record_batch(columns, names=batch.schema.names)

    def _check(self, result: Scan) -> None:
        if result.fault is Fault.NONE:
            return
        where = {"name": self._name, "line": str(result.fault_line)}
        if result.fault is Fault.FIELDS:
            raise DataError(self._other_number_of_fields(result.fields, where))
        if result.fault is Fault.BLANK:
            raise DataError("{name}, line {line}: is blank, and records follow; remove it", **where)
        if result.fault is Fault.AFTER_QUOTE:
            raise DataError(
                "{name}, line {line}: text follows a closing {quote}; double the quotes inside a quoted value, or "
                "set the quote to none",
                quote=self._grammar.quote,
                **where,
            )
        raise DataError(
            "{name}, line {line}: a {quote} opens a value that nothing closes; close it, or set the quote to none",
            quote=self._grammar.quote,
            **where,
        )

    def _other_number_of_fields(self, fields: int, where: dict[str, str]) -> str:
        if self._title:
            return text_for(
                self.title_lines,
                "{name}, line {line}: has {found} where one is expected; if the first line is a title, say `skip` "
                "{count}",
                "{name}, line {line}: has {found} where one is expected; if the first {count} lines are a title, say "
                "`skip` {count}",
                found=text_for(fields, "{count} field", "{count} fields"),
                **where,
            )
        if footer := self._footer(int(where["line"])):
            return text_for(
                footer,
                "{name}, line {line}: has {found}, as the last line, and is not a record; if it is a note below the "
                "table, say `skip_end` {count}",
                "{name}, line {line}: from here on nothing is a record; if it is a note below the table, say "
                "`skip_end` {count}",
                found=text_for(fields, "{count} field", "{count} fields"),
                **where,
            )
        return text_for(
            len(self._columns),
            "{name}, line {line}: has {found} where {count} is expected; correct that line, or the separator (now "
            "{separator}) or quote (now {quote})",
            "{name}, line {line}: has {found} where {count} are expected; correct that line, or the separator (now "
            "{separator}) or quote (now {quote})",
            found=text_for(fields, "{count} field", "{count} fields"),
            separator=repr(self._grammar.separator),
            quote=repr(self._grammar.quote),
            **where,
        )

    def _too_long(self, line: int) -> DataError:
        return DataError(
            "{name}, line {line}: a record of more than {size} MiB begins here; is a quote left open, or is this "
            "not delimited text?",
            name=self._name,
            line=str(line),
            size=LONGEST_RECORD >> 20,
        )


def _quotes_all(header: str, grammar: _Grammar) -> bool:
    """Tell whether quotes stand around every name of a header."""
    quote = grammar.quote
    if not quote:
        return False
    between = f"{quote}{grammar.separator}{quote}"
    names = grammar.fields(header)
    return header == quote + between.join(name.replace(quote, 2 * quote) for name in names) + quote


def _opening(start: str, dialect: Dialect) -> tuple[str, int]:
    """Return what stands between fields, and how many lines come before the header.

    These are Excel's own line, and lines that begin as comments, or are blank, and have another number of fields than
    the line behind them: ``#;name;age`` is a header.
    """
    _, lines = _cut(start, dialect.skip or 0)
    declared = _DECLARED.fullmatch(lines[0])
    if dialect.skip is None and declared and dialect.separator in (None, declared[1]):
        return declared[1], 1
    comments = 0
    while comments < len(lines) and (lines[comments].startswith(COMMENT) or not lines[comments]):
        comments += 1
    separator = dialect.separator or _likely_separator(lines[comments:], dialect.quote)
    if dialect.skip is None and 0 < comments < len(lines):
        fields = [_fields(line, separator, dialect.quote) for line in lines[: comments + 1]]
        alike = next(place for place, count in enumerate(fields) if count == fields[-1])
        if alike and fields[-1] > 1:
            return separator, alike
    separator = dialect.separator or _likely_separator(lines, dialect.quote)
    return separator, dialect.skip or 0


def _cut(start: str, skipped: int) -> tuple[int, list[str]]:
    """Return where a text begins without its first lines, and the first lines from there on."""
    before, lines = 0, []
    for number, match in enumerate(_LINE.finditer(start)):
        if number == skipped:
            before = match.start()
        if number >= skipped:
            lines.append(match[1])
        if number >= skipped + SNIFFED_RECORDS + LONGEST_TITLE or match.end() == len(start):
            break
    return (before, lines) if lines else (len(start), [""])


def _title_lines(lines: Sequence[str], dialect: Dialect) -> int:
    """Return how many lines of one field come before those of several, where all of a file seems to be one column.

    Spreadsheets fill such lines up with separators: then they have one value, the first, and the next line all.
    """
    if dialect.skip is not None:
        return 0
    separator = dialect.separator or _regular(lines, dialect.quote)
    if separator:
        return _filled_up_title(lines, separator, dialect) if dialect.header else 0
    for count in range(1, min(LONGEST_TITLE, len(lines) - 1)):
        separator = _regular(lines[count:], dialect.quote)
        if separator is not None:
            while not lines[count]:
                count += 1
            across = _fields(lines[count], separator, dialect.quote)
            titles = [_fields(line, separator, dialect.quote) for line in lines[:count] if line]
            return count if all(2 * fields < across or fields == 1 for fields in titles) else 0
    return 0


def _filled_up_title(lines: Sequence[str], separator: str, dialect: Dialect) -> int:
    """Return how many first lines have no value but in the first of several fields, before one with a value in all.

    >>> _filled_up_title(["Survey;;", "age;sex;town", "41;F;Rio"], ";", Dialect())
    1
    """
    for count, line in enumerate(lines[: LONGEST_TITLE + 1]):
        try:
            values = next(csv_rows([line], separator, dialect.quote), [])
        except csv.Error:
            return 0
        if not values and count:
            continue
        if len(values) < 3 or not (count or values[0].strip()):
            return 0
        if all(value.strip() for value in values):
            return count
        if any(value.strip() for value in values[1:]):
            return count if _groups_columns(lines[count:], dialect, separator) else 0
    return 0


def _groups_columns(lines: Sequence[str], dialect: Dialect, separator: str) -> bool:
    """Tell whether the first line says which columns belong together, and the second what each is called.

    Its names are missing or repeated, and below it stands a name for each column: different ones, no numbers, none of
    which is a value further below; and where few are missing, some above a column of numbers.

    >>> _groups_columns([";Person;;Health", "id;age;sex;icd", "1;31;F;J18", "2;40;M;I10"], Dialect(), ";")
    True
    >>> _groups_columns([";name;age", "0;Ana;31", "1;Bia;40"], Dialect(), ";")
    False
    """
    separator = dialect.separator or _regular(lines, dialect.quote) or separator
    try:
        rows = list(csv_rows(lines[: SNIFFED_RECORDS + 1], separator, dialect.quote))
    except csv.Error:
        return False
    rows = [[value.strip() for value in row] for row in rows if row]
    if len(rows) < 4 or len(rows[0]) < 3 or len(rows[1]) != len(rows[0]):
        return False
    groups, names, *below = rows
    below = [row for row in below if len(row) == len(names)]
    unnamed = len(groups) - len({group for group in groups if group})
    if not unnamed or not any(groups) or len(below) < 2:
        return False
    columns = list(zip(*below, strict=True))
    are_names = (
        all(names)
        and len(set(names)) == len(names)
        and not any(map(_FIGURE.fullmatch, names))
        and not any(name in values for name, values in zip(names, columns, strict=True))
    )
    has_numbers = any(
        all(map(_FIGURE.fullmatch, filter(None, each))) and any(each) for each in columns
    )
    return are_names and (has_numbers or unnamed > 1)


def _without_end(lines: Sequence[str], skipped: int) -> list[str]:
    """Return lines without the last ones; blank ones at the very end do not count."""
    kept = list(lines)
    while kept and not kept[-1]:
        kept.pop()
    return kept[: max(1, len(kept) - skipped)] or [""]


def _but_for_end(block: bytes, lines: int) -> tuple[bytes, bytes]:
    r"""Part text from its last lines; blank ones at the very end do not count.

    >>> _but_for_end(b"a;b\n1;2\n\nSource: x\n\n", 1)
    (b'a;b\n1;2\n\n', b'Source: x\n\n')
    """
    place = len(block.rstrip(b"\r\n"))
    for number in range(lines):
        if number:
            place -= 2 if block[:place].endswith(b"\r\n") else 1
        place = max(block.rfind(b"\n", 0, place), block.rfind(b"\r", 0, place)) + 1
        if not place:
            break
    return block[:place], block[place:]


def _end_in_separator(lines: Sequence[str], fields: int, grammar: _Grammar) -> bool:
    """Tell whether all records, but not the header, end in a separator."""
    try:
        _, *rows = csv_rows(lines[: SNIFFED_RECORDS + 1], grammar.separator, grammar.quote)
    except csv.Error:
        return False
    rows = [row for row in rows[:-1] or rows if row]
    return bool(rows) and all(len(row) == fields + 1 and not row[-1] for row in rows)


def _distinct_names(names: Sequence[str]) -> list[str]:
    """Return names with one for each column that has none, and a number behind each that several have.

    No column keeps a name that another has too: who asks for it is told that there are several.

    >>> _distinct_names(["", "age", "age", "age_2"])
    ['column_1', 'age_1', 'age_3', 'age_2']
    """
    distinct: list[str] = []
    for place, name in enumerate(names, start=1):
        if name.strip() and names.count(name) == 1:
            distinct.append(name)
            continue
        numbered = (f"{name}_{number}" for number in itertools.count(1))
        unnamed = (f"column_{number}" for number in itertools.count(place))
        candidates = numbered if name.strip() else unnamed
        distinct.append(next(free for free in candidates if free not in {*distinct, *names}))
    return distinct


def _fields(line: str, separator: str, quote: str | None) -> int:
    try:
        return len(next(csv_rows([line], separator, quote), []))
    except csv.Error:
        return 0


def _likely_separator(lines: Sequence[str], quote: str | None) -> str:
    """Propose the separator that cuts the first records into the most fields, the same number each."""
    return _regular(lines, quote) or CANDIDATE_SEPARATORS[0]


def _regular(lines: Sequence[str], quote: str | None) -> str | None:
    """Return the separator that cuts most of the first lines into the most fields, as many as the first; or none."""
    best, most = None, 1
    lines = lines[: SNIFFED_RECORDS + 1]
    lines = lines[:-1] if len(lines) > SNIFFED_RECORDS else lines
    for separator in CANDIDATE_SEPARATORS:
        if separator == quote:
            continue
        try:
            rows = list(csv_rows(lines, separator, quote))
        except csv.Error:
            continue
        counts = [len(row) for row in rows if row]
        if not counts:
            continue
        alike = sum(
            len(row) == counts[0] or (len(row) == counts[0] + 1 and not row[-1])
            for row in rows
            if row
        )
        if 2 * alike > len(counts) and counts[0] > most:
            best, most = separator, counts[0]
    return best


def csv_rows(lines: Sequence[str], separator: str, quote: str | None) -> Iterator[list[str]]:
    """Yield the fields of each line, by Python's own reader: for a few lines."""
    if quote is None:
        return csv.reader(lines, delimiter=separator, quoting=csv.QUOTE_NONE)
    return csv.reader(lines, delimiter=separator, quotechar=quote)
