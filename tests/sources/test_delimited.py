"""Delimited text: what is read is what was written, whatever the dialect; and a malformed file never lies."""

from __future__ import annotations

import csv
import gzip
import io
from dataclasses import astuple
from functools import cache, partial
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from glasshouse.errors import DataError
from glasshouse.sources import open_source, scanner
from glasshouse.sources.delimited import DelimitedFile
from glasshouse.sources.scanner import scan
from glasshouse.sources.text import TextFile
from glasshouse.study import Dialect
from tests.examples import examples


def rows_of(path: Path, dialect: Dialect | None = None) -> list[tuple[str, ...]]:
    source = open_source(path, dialect=dialect)
    return [
        tuple(row[name] for name in source.columns)
        for batch in source.batches(source.columns)
        for row in batch.to_pylist()
    ]


def written(folder: Path, content: bytes, name: str = "data.csv") -> Path:
    path = folder / name
    path.write_bytes(content)
    return path


@pytest.mark.parametrize("separator", [",", ";", "\t", "|", ":", " ", "§", "¬", "~"])
def test_any_one_character_separates(tmp_path: Path, separator: str) -> None:
    text = f"a{separator}b\n1{separator}x\n2{separator}é\n"
    path = written(tmp_path, text.encode())
    assert rows_of(path, Dialect(separator=separator)) == [("1", "x"), ("2", "é")]


def test_a_separator_that_is_not_ascii_may_stand_inside_quotes(tmp_path: Path) -> None:
    path = written(tmp_path, 'a§b\n"1§1"§x\n'.encode())
    assert rows_of(path, Dialect(separator="§")) == [("1§1", "x")]


@pytest.mark.parametrize("separator", [",", ";", "\t", "|"])
def test_the_separator_is_detected(tmp_path: Path, separator: str) -> None:
    path = written(tmp_path, f'name{separator}x\n"a,b;c|d"{separator}2\n'.encode())
    assert rows_of(path) == [("a,b;c|d", "2")]


@pytest.mark.parametrize(
    ("codec", "named"),
    [
        ("utf-8", None),
        ("utf-8-sig", None),
        ("utf-8-sig", "utf-8"),
        ("utf-16", None),
        ("utf-16", "utf-16"),
        ("utf-16-le", "utf-16-le"),
        ("latin-1", "latin-1"),
        ("cp1252", "cp1252"),
    ],
)
@pytest.mark.parametrize("compressed", [False, True])
def test_encodings_and_compression(
    tmp_path: Path, codec: str, named: str | None, compressed: bool
) -> None:
    content = "município,código\nSão Paulo,01310\nBelém,1310\n".encode(codec)
    path = written(tmp_path, gzip.compress(content) if compressed else content)
    source = open_source(path, dialect=Dialect(encoding=named))
    assert source.columns == ("município", "código")
    assert rows_of(path, Dialect(encoding=named)) == [("São Paulo", "01310"), ("Belém", "1310")]


def test_quoted_fields_hold_separators_quotes_and_line_breaks(tmp_path: Path) -> None:
    path = written(tmp_path, b'a,b\r\n"1,2","say ""hi""\r\nnow"\r\n3,4')
    assert rows_of(path) == [("1,2", 'say "hi"\r\nnow'), ("3", "4")]


def test_a_quote_inside_a_plain_field_is_an_ordinary_character(tmp_path: Path) -> None:
    path = written(tmp_path, b'pipe\n5" wide\n')
    assert rows_of(path) == [('5" wide',)]


def test_without_quotes_every_character_is_ordinary(tmp_path: Path) -> None:
    path = written(tmp_path, b'a,b\n"x,y"\n')
    assert rows_of(path, Dialect(quote=None)) == [('"x', 'y"')]


def test_without_header_columns_get_names(tmp_path: Path) -> None:
    path = written(tmp_path, b"1,x\n2,y\n")
    assert open_source(path, dialect=Dialect(header=False)).columns == ("column_1", "column_2")
    assert rows_of(path, Dialect(header=False)) == [("1", "x"), ("2", "y")]


def test_names_replace_the_header(tmp_path: Path) -> None:
    path = written(tmp_path, b"a,a\n1,x\n")
    dialect = Dialect(names=("first", "second"))
    assert open_source(path, dialect=dialect).columns == ("first", "second")
    assert rows_of(path, dialect) == [("1", "x")]


def test_blank_lines_at_the_end_are_no_records(tmp_path: Path) -> None:
    assert rows_of(written(tmp_path, b"a,b\n1,2\n\n\r\n\n")) == [("1", "2")]


def test_in_one_column_a_blank_line_is_a_missing_value(tmp_path: Path) -> None:
    assert rows_of(written(tmp_path, b"a\n1\n\n2\n")) == [("1",), ("",), ("2",)]


def test_a_name_that_looks_like_a_pattern_is_that_file(tmp_path: Path) -> None:
    written(tmp_path, b"a\nwrong\n", "x1.csv")
    path = written(tmp_path, b"a\nright\n", "x[1].csv")
    assert rows_of(path) == [("right",)]


def test_records_are_read_across_blocks(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("glasshouse.sources.text.BLOCK_BYTES", 16)
    expected = [(str(i), f'line\n"{i}"') for i in range(200)]
    text = io.StringIO()
    csv.writer(text).writerows([("a", "b"), *expected])
    assert rows_of(written(tmp_path, text.getvalue().encode())) == expected


def test_the_dialect_in_use_has_nothing_left_to_detect(tmp_path: Path) -> None:
    source = open_source(written(tmp_path, "a;b\n1;2\n".encode("utf-16")))
    assert isinstance(source, DelimitedFile)
    assert (source.dialect.separator, source.dialect.encoding) == (";", "utf-16")


TEXT = st.text(st.sampled_from('ab01 ,;"\n\r\té\u2028'), max_size=6)


@given(
    rows=st.integers(1, 3).flatmap(
        lambda width: st.lists(st.tuples(*[TEXT] * width), min_size=1, max_size=8)
    ),
    separator=st.sampled_from(",;\t|§"),
    end=st.sampled_from(["\n", "\r\n", "\r"]),
)
def test_what_the_csv_module_writes_is_read_back(
    tmp_path_factory: pytest.TempPathFactory,
    rows: list[tuple[str, ...]],
    separator: str,
    end: str,
) -> None:
    header = tuple(f"column {i}" for i in range(len(rows[0])))
    text = io.StringIO(newline="")
    writer = csv.writer(text, delimiter=separator, lineterminator=end, quoting=csv.QUOTE_ALL)
    writer.writerows([header, *rows])
    path = written(tmp_path_factory.mktemp("law"), text.getvalue().encode())
    assert rows_of(path, Dialect(separator=separator)) == rows


@given(st.text(st.sampled_from('a,"\n\r'), max_size=30))
def test_a_malformed_file_is_refused_or_read_as_strict_csv_reads_it(
    tmp_path_factory: pytest.TempPathFactory, body: str
) -> None:
    """The count of records is right, or there is an error: never a silently lost row."""
    path = written(tmp_path_factory.mktemp("fuzz"), ("x,y\n" + body).encode())
    try:
        rows = rows_of(path, Dialect(separator=","))
    except DataError:
        return
    lenient = list(csv.reader(io.StringIO(body, newline="")))
    assert rows == [tuple(row) for row in lenient if row]


FAULTS = {
    "too many fields": (b"a,b\n1,2\n1,2,3\n", "line 3: has 3 fields where 2 are expected"),
    "too few fields": (b"a,b\n1\n", "line 2: has 1 field where 2 are expected"),
    "a fault after a quoted line break": (b'a,b\n"x\ny",1\n1\n', "line 4: has 1 field"),
    "an unclosed quote": (
        b'a,b\n1,2\n"x,2\n3,4\n',
        'line 3: a " opens a value that nothing closes',
    ),
    "text after a quote": (b'a,b\n"x"y,2\n', 'line 2: text follows a closing "'),
    "a wrong byte in UTF-8": (
        "a,b\nã,é\n".encode() + b"\xe9,2\n",
        "line 3: byte 0xE9 is not utf-8",
    ),
    "a cut multi-byte character": (b"a,b\n1,\xc3", "line 2: byte 0xC3 is not utf-8"),
    "NUL characters": ("a,b\n1,2\n".encode("utf-16-le"), "set the encoding to utf-16-le"),
    "UTF-16 beyond ASCII": ("é,b\n1,2\n".encode("utf-16-le"), "set the encoding to utf-16-le"),
    "an Arrow stream": (b"\xff\xff\xff\xff and so on", "is an Arrow stream"),
    "nothing": (b"", "is empty"),
    "only line breaks": (b"\n\r\n\n", "is empty"),
    "only a header": (b"a,b\n", "has a header but no records"),
    "a cut gzip stream": (gzip.compress(b"a,b\n1,2\n" * 9999)[:-20], "damaged or cut short"),
    "a damaged archive": (b"PK\x03\x04 and so on", "is not a readable ZIP file"),
    "a 7-Zip archive": (b"7z\xbc\xaf\x27\x1c and so on", "unpack it"),
}


@pytest.mark.parametrize("fault", FAULTS)
def test_a_fault_is_named_with_its_line(tmp_path: Path, fault: str) -> None:
    content, message = FAULTS[fault]
    path = written(tmp_path, content)
    with pytest.raises(DataError) as caught:
        rows_of(path)
    assert message in str(caught.value)
    assert str(caught.value).startswith("data.csv")


def test_blank_lines_among_records_are_told_and_refused_where_nothing_is_assumed(
    tmp_path: Path,
) -> None:
    path = written(tmp_path, b'a,b\n\n1,2\n\n\n3,"4\n\n"\n5,6\n\n')
    source = open_source(path)
    assert [batch.num_rows for batch in source.batches(["a"])] == [3]
    assert "blank lines among the records, the first in line 2" in "; ".join(source.assumptions)
    assert rows_of(path) == [("1", "2"), ("3", "4\n\n"), ("5", "6")]
    strict = open_source(path, dialect=Dialect(strict=True))
    with pytest.raises(DataError, match="line 2: is blank, and records follow"):
        list(strict.batches(["a"]))
    with pytest.raises(DataError, match="line 5: has 1 field where 2 are expected"):
        rows_of(written(tmp_path, b"a,b\n1,2\n\n3,4\n5\n6,7\n"))


ASSUMED = {
    "a name twice": (
        b"a,b,a\n1,2,3\n",
        '"a_1", "a_2" for columns',
        'columns 1 and 3 are both called "a"',
    ),
    "no name": (b"a,,c\n1,2,3\n", '"column_2" for columns', "column 2 has no name"),
    "semicolons": (b"a;b;c\n1;2;3\n", '";" between fields', "`separator`"),
    "comments": (b"# of 2024\n\na,b,c\n1,2,3\n", "2 lines before the header", "`skip`"),
    "Excel's line": (b"sep=;\na;b;c\n1;2;3\n", "1 line before the header", "`skip`"),
    "separators at the end": (
        b"a,b\n1,2,\n1,2,\n",
        '"column_3" for columns',
        "column 3 has no name",
    ),
}
"""Files of three columns of which something is concluded: what is told, and what is said where nothing may be."""


@pytest.mark.parametrize("kind", ASSUMED)
def test_what_is_concluded_of_a_file_is_told_and_loses_nothing(tmp_path: Path, kind: str) -> None:
    content, assumption, _ = ASSUMED[kind]
    source = open_source(written(tmp_path, content))
    assert assumption in "; ".join(source.assumptions)
    last = content.splitlines()[-1].decode().replace(";", ",").split(",")
    assert rows_of(tmp_path / "data.csv")[-1] == tuple(last)


@pytest.mark.parametrize("kind", ASSUMED)
def test_strict_assumes_nothing(tmp_path: Path, kind: str) -> None:
    content, _, refusal = ASSUMED[kind]
    with pytest.raises(DataError) as caught:
        rows_of(written(tmp_path, content), Dialect(strict=True))
    assert refusal in str(caught.value)


def test_strict_text_is_utf_8(tmp_path: Path) -> None:
    path = written(tmp_path, "a,b\né,ç\n".encode("latin-1"))
    with pytest.raises(DataError, match="line 2: byte 0xE9 is not utf-8 text"):
        rows_of(path, Dialect(strict=True))
    assert rows_of(path, Dialect(strict=True, encoding="latin-1")) == [("é", "ç")]


@pytest.mark.parametrize(
    ("content", "columns"),
    [
        (b"#,name\n1,a\n", ("#", "name")),
        (b"# of 2024\n#id,name\n1,a\n", ("#id", "name")),
        (b"#1\n#2\n#3\n", ("#1",)),
    ],
)
def test_a_header_may_begin_as_a_comment(
    tmp_path: Path, content: bytes, columns: tuple[str, ...]
) -> None:
    assert open_source(written(tmp_path, content)).columns == columns


def test_lines_before_the_header_are_skipped_if_that_is_said(tmp_path: Path) -> None:
    path = written(tmp_path, b"Visits\nof 2024, all\na,b\n1,2\n3\n")
    assert open_source(path, dialect=Dialect(skip=2)).columns == ("a", "b")
    with pytest.raises(DataError, match="line 5: has 1 field where 2 are expected"):
        rows_of(path, Dialect(skip=2))
    with pytest.raises(DataError, match="is empty"):
        rows_of(path, Dialect(skip=9))


def test_a_title_is_suspected_and_never_left_out_unasked(tmp_path: Path) -> None:
    path = written(tmp_path, b"name\nLima, Ana\nSouza, Bia\n")
    with pytest.raises(DataError, match=r"line 2: has 2 fields .* is a title, say `skip` 1"):
        rows_of(path)


@pytest.mark.parametrize(
    ("content", "lines"),
    [
        (b"Survey;;\nage;sex;town\n41;F;Rio\n", 1),
        (b"Survey;;\n;;\nage;sex;town\n41;F;Rio\n", 2),
        (b"age;;\n41;F;\n42;M;Rio\n", 0),
        (b"age;sex;town\n41;F;Rio\n", 0),
    ],
)
def test_a_title_that_a_spreadsheet_filled_up_with_separators_is_suspected(
    tmp_path: Path, content: bytes, lines: int
) -> None:
    source = open_source(written(tmp_path, content))
    assert isinstance(source, DelimitedFile)
    assert source.title_lines == lines


def test_a_quote_that_is_never_closed_does_not_swallow_a_large_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("glasshouse.sources.text.BLOCK_BYTES", 1 << 10)
    monkeypatch.setattr("glasshouse.sources.delimited.LONGEST_RECORD", 1 << 12)
    path = written(tmp_path, b"a,b\n1,2\n" + b'"x,2\n' + b"3,4\n" * 10_000)
    with pytest.raises(DataError, match=r"line 3: a record of more than .* begins here"):
        rows_of(path)


def test_an_archive_bomb_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("glasshouse.sources.text.BOMB_FLOOR", 1 << 20)
    path = written(tmp_path, gzip.compress(b"a,b\n" + b"1,2\n" * 5_000_000), "bomb.csv.gz")
    with pytest.raises(DataError, match="grows to more than 500 times"):
        rows_of(path)


def test_a_wrong_number_of_names_is_refused(tmp_path: Path) -> None:
    path = written(tmp_path, b"a,b\n1,2\n")
    with pytest.raises(DataError, match="has 2 fields, but 3 names were given"):
        rows_of(path, Dialect(names=("x", "y", "z")))


def test_an_unknown_encoding_is_refused(tmp_path: Path) -> None:
    path = written(tmp_path, b"a,b\n1,2\n")
    with pytest.raises(DataError, match='"latin-17" is not an encoding'):
        rows_of(path, Dialect(encoding="latin-17"))


def test_a_byte_order_mark_is_never_part_of_a_name(tmp_path: Path) -> None:
    path = written(tmp_path, "\ufeffage,b\n1,2\n".encode("utf-16-le"))
    assert open_source(path, dialect=Dialect(encoding="utf-16-le")).columns == ("age", "b")


def test_a_detected_separator_cannot_be_the_quote(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="is both the separator and the quote"):
        open_source(written(tmp_path, b"a,b\n1,2\n"), dialect=Dialect(quote=","))


PIECES = (
    "a",
    ",",
    '"',
    "\n",
    "\r",
    "\r\n",
    '"a"',
    '"b,c"',
    ',"x\ny"',
    "a,b\n",
    '"a","b"\r\n',
    '5"',
)


@given(
    st.lists(st.sampled_from(PIECES), max_size=12).map(lambda pieces: "".join(pieces).encode()),
    st.sampled_from([ord('"'), scanner.NO_QUOTE]),
    st.integers(0, 3),
    st.sampled_from([0, 0, 3]),
    st.sampled_from([0, 0, 1, 2]),
    st.booleans(),
    st.sampled_from([2, 1 << 16]),
)
@settings(max_examples=examples(500), suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_whole_arrays_and_the_state_machine_find_the_same(
    monkeypatch: pytest.MonkeyPatch,
    block: bytes,
    quote: int,
    fields: int,
    blank_line: int,
    limit: int,
    final: bool,
    walked: int,
) -> None:
    """A block is the same in every way in which it may be scanned: at a glance, walked, compiled."""
    monkeypatch.setattr(scanner, "_WALKED", walked)
    monkeypatch.setattr(scanner, "_compiled", cache(lambda: scanner._walk))
    found = scan(
        block,
        separator=ord(","),
        quote=quote,
        fields=fields,
        line=5,
        blank_line=blank_line,
        limit=limit,
        final=final,
    )
    plain = scanner._walk(block, ord(","), quote, fields, 5, blank_line, limit, final)
    assert (*astuple(found)[:5], int(found.fault), found.fault_line) == plain


@given(
    st.lists(st.sampled_from(PIECES), max_size=99).map(lambda pieces: "".join(pieces).encode()),
    st.sampled_from([ord('"'), scanner.NO_QUOTE]),
    st.integers(1, 3),
)
@settings(max_examples=examples(500))
def test_lines_are_counted_as_the_state_machine_does_where_the_parser_takes_them(
    block: bytes, quote: int, fields: int
) -> None:
    """Only the fields of each record are left to the parser."""
    comma = ord(",")
    lines = scanner.scan_lines(block, separator=comma, quote=quote, fields=fields, line=5)
    if lines is not None:
        walked = scan(block[: lines.length], separator=comma, quote=quote, fields=fields, line=5)
        assert walked.fault in (scanner.Fault.FIELDS, scanner.Fault.BLANK) or walked == lines


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
def test_fields_that_make_up_for_each_other_are_still_a_fault(tmp_path: Path, end: str) -> None:
    path = written(tmp_path, end.join(["a,b", "1,2", "1", "1,2,3", "1,2", ""]).encode())
    with pytest.raises(DataError, match="line 3: has 1 field where 2 are expected"):
        rows_of(path)


@pytest.mark.parametrize("size", range(1, 9))
def test_a_letter_that_two_blocks_share_is_whole(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, size: int
) -> None:
    path = written(tmp_path, "\ufeffa,b\né,€\n𝄞,x\n".encode())
    source = TextFile(path, encoding=None, name="x")
    monkeypatch.setattr(source, "raw_blocks", partial(source.raw_blocks, size))
    assert b"".join(block for block, _ in source.blocks()).decode() == "a,b\né,€\n𝄞,x\n"


def test_a_letter_that_the_file_cuts_in_two_is_named_with_its_line(tmp_path: Path) -> None:
    path = written(tmp_path, "a,b\né,ç\né,€".encode()[:-1])
    with pytest.raises(DataError, match=r"line 3: byte 0xE2 is not utf-8 text \(unexpected end"):
        rows_of(path)


def test_letters_of_windows_only_are_read_as_such(tmp_path: Path) -> None:
    path = written(tmp_path, "a,b\né,€ – “x”\n".encode("cp1252"))
    assert rows_of(path, Dialect(encoding="cp1252")) == [("é", "€ – “x”")]


def test_a_large_file_is_scanned_as_a_small_one_is(
    tmp_path: Path,
) -> None:
    lines = "".join(f'{i},"{i}\r"\n' for i in range(3_000))  # at no glance
    path = written(tmp_path, f"a,b\n{lines}".encode())
    small = rows_of(path)
    scanner._compiled()
    assert rows_of(path) == small
    faulty = written(tmp_path, f"a,b\n{lines}1\n{lines}".encode(), "faulty.csv")
    with pytest.raises(DataError, match="line 6002: has 1 field where 2 are expected"):
        rows_of(faulty)
