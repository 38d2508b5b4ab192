"""The same people in every form: the same text in every cell, and the same figures; what is damaged is named."""

from __future__ import annotations

import io
import json
import sqlite3
import struct
import sys
import zipfile
from datetime import datetime, time, timedelta
from pathlib import Path

import duckdb
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.feather
import pyarrow.orc
import pyarrow.parquet
import pyreadstat
import pytest

import glasshouse as gh
from glasshouse.errors import DataError, StudyError
from glasshouse.sources import json_lines, open_source, text
from glasshouse.sources.files import fingerprint
from glasshouse.sources.text import likely_encoding
from glasshouse.study import Dialect
from tests.sources import forms
from tests.sources.forms import COLUMNS, FORMS, SEXES

PEOPLE = forms.people(400)
ALL = forms.people(5000)


def cells(path: Path, dialect: Dialect | None = None) -> list[tuple[str, ...]]:
    """Return the rows of a file as text, sorted: some forms keep no order."""
    table = pa.Table.from_batches(list(open_source(path, dialect=dialect).batches(COLUMNS)))
    return sorted(zip(*(column.to_pylist() for column in table.columns), strict=True))


@pytest.mark.parametrize("form", FORMS)
def test_every_form_holds_the_same_text(tmp_path: Path, form: str) -> None:
    FORMS[form](tmp_path / form, PEOPLE)
    source = open_source(tmp_path / form)
    assert sorted(source.columns) == sorted(COLUMNS)
    assert cells(tmp_path / form) == sorted(PEOPLE)


def figures(path: Path) -> bytes:
    """Return what a run on a file writes as its results."""
    known, secrets = ["sex", "race", "uf", "born"], ["income", "city"]
    table = gh.read(path, quasi_identifiers=known, sensitive=secrets, name="people")
    run = gh.assess(table, quasi_identifiers=known, sensitive=secrets)
    written = io.BytesIO()
    pyarrow.parquet.write_table(run.to_frame(), written)
    return written.getvalue()


@pytest.fixture(scope="module")
def expected(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    path = tmp_path_factory.mktemp("csv") / "people.csv"
    forms.as_csv(path, ALL)
    return figures(path)


@pytest.mark.parametrize("form", FORMS)
def test_every_form_gives_the_figures_of_the_csv(
    tmp_path: Path, form: str, expected: bytes
) -> None:
    FORMS[form](tmp_path / form, ALL)
    assert figures(tmp_path / form) == expected


@pytest.mark.parametrize("form", ["people.sav", "people.zsav", "people.dta"])
def test_labels_are_kept_beside_their_codes(tmp_path: Path, form: str) -> None:
    FORMS[form](tmp_path / form, PEOPLE)
    source = open_source(tmp_path / form)
    assert source.labels["sex"] == {str(code): label for code, label in SEXES.items()}
    if form != "people.dta":
        codes = pa.array(["1", "8", "8.5", "9", ""], pa.large_string())
        assert source.missing_codes("sex", codes) == {"9"}
        assert source.missing_codes("race", codes) == {"8", "8.5", "9"}
        assert not source.missing_codes("person", codes)


def test_letters_for_missing_in_a_stata_file_are_known_as_such(tmp_path: Path) -> None:
    import pandas as pd
    import pyreadstat

    frame = pd.DataFrame({"x": [1.0, 2.0, "a", "b", None]})
    path = str(tmp_path / "people.dta")
    pyreadstat.write_dta(frame, path, missing_user_values={"x": ["a", "b"]})
    for table in (gh.read(path), gh.read(path, types={"x": "integer"})):
        assert table.column("x").values.to_pylist() == ["1", "2", "a", "b", ""]
        assert table.missing(["x"]).tolist() == [False, False, True, True, True]


def test_wildcards_stand_for_all_files_that_they_describe(tmp_path: Path) -> None:
    forms.as_csv(tmp_path / "a.csv", PEOPLE[:100])
    forms.as_latin(tmp_path / "b.csv", PEOPLE[100:])
    (tmp_path / "notes.txt").write_text("nothing")
    assert cells(tmp_path / "*.csv") == sorted(PEOPLE)
    with pytest.raises(DataError, match=r"several kinds \(.csv, .txt\)"):
        open_source(tmp_path)
    with pytest.raises(DataError, match="no such file"):
        open_source(tmp_path / "*.parquet")


def test_a_fingerprint_of_several_files_changes_with_any_of_them(tmp_path: Path) -> None:
    forms.as_partitions(tmp_path / "people", PEOPLE)
    first = fingerprint(tmp_path / "people")
    (tmp_path / "people" / "uf=01").rename(tmp_path / "people" / "uf=02")
    assert fingerprint(tmp_path / "people") != first


def test_a_sheet_a_table_and_a_member_are_chosen_by_name(tmp_path: Path) -> None:
    forms.as_xlsx(tmp_path / "x.xlsx", PEOPLE)
    assert cells(tmp_path / "x.xlsx", Dialect(sheet="Pessoas")) == sorted(PEOPLE)
    with pytest.raises(StudyError, match=r'sheet "Pesoas" is not in .*; did you mean "Pessoas"'):
        open_source(tmp_path / "x.xlsx", dialect=Dialect(sheet="Pesoas"))
    forms.as_sqlite(tmp_path / "x.sqlite", PEOPLE)
    with sqlite3.connect(tmp_path / "x.sqlite") as database:
        database.execute("create view few as select * from people limit 3")
    with pytest.raises(StudyError, match='has 2 tables: "few", "people"; choose one with `table`'):
        open_source(tmp_path / "x.sqlite")
    assert len(cells(tmp_path / "x.sqlite", Dialect(table="few"))) == 3
    with zipfile.ZipFile(tmp_path / "x.zip", "w") as archive:
        archive.writestr("a.csv", "a\n1\n")
        archive.writestr("b.csv", "b\n1\n")
    with pytest.raises(StudyError, match=r"holds 2 files: .*; choose one"):
        open_source(tmp_path / "x.zip")
    assert open_source(tmp_path / "x.zip", dialect=Dialect(member="b.csv")).columns == ("b",)


def test_what_has_no_meaning_for_a_kind_of_file_is_refused(tmp_path: Path) -> None:
    forms.as_csv(tmp_path / "x.csv", PEOPLE)
    with pytest.raises(StudyError, match="`sheet` has no meaning"):
        open_source(tmp_path / "x.csv", dialect=Dialect(sheet="a"))
    forms.as_dbf(tmp_path / "x.dbf", PEOPLE)
    with pytest.raises(StudyError, match="is not delimited text"):
        open_source(tmp_path / "x.dbf", dialect=Dialect(separator=";"))


@pytest.mark.parametrize(
    "form", [name for name in FORMS if not name.startswith(("people.txt", "people-"))]
)
def test_a_file_that_is_cut_short_is_named_for_what_it_is(tmp_path: Path, form: str) -> None:
    """Half of any file is one error of one line; only text, which has no end of its own, is read as far as it goes."""
    whole = tmp_path / form
    FORMS[form](whole, PEOPLE)
    content = whole.read_bytes()
    for share in (0.3, 0.6, 0.95):
        whole.write_bytes(content[: int(share * len(content))])
        with pytest.raises(DataError) as refused:
            list(open_source(whole).batches(COLUMNS))
        assert "\n" not in str(refused.value)
        assert "utf-16" not in str(refused.value)


def test_a_formula_without_a_result_is_not_read_as_missing(tmp_path: Path) -> None:
    forms.as_xlsx(tmp_path / "whole.xlsx", PEOPLE)
    with (
        zipfile.ZipFile(tmp_path / "whole.xlsx") as whole,
        zipfile.ZipFile(tmp_path / "x.xlsx", "w") as archive,
    ):
        for name in whole.namelist():
            content = whole.read(name).replace(b"<c/>", b"<c><f>A1+1</f><v></v></c>")
            archive.writestr(name, content)
    with pytest.raises(DataError, match="formulas whose results are not stored"):
        open_source(tmp_path / "x.xlsx")


def test_an_encrypted_archive_says_so(tmp_path: Path) -> None:
    forms.as_zip(tmp_path / "x.zip", PEOPLE)
    content = bytearray((tmp_path / "x.zip").read_bytes())
    entry = content.index(b"PK\x01\x02")
    struct.pack_into("<H", content, entry + 8, 1)
    (tmp_path / "x.zip").write_bytes(content)
    with pytest.raises(DataError, match="is encrypted"):
        open_source(tmp_path / "x.zip")


def test_a_dbc_bomb_is_refused_before_it_is_unpacked(tmp_path: Path) -> None:
    plain = bytearray(forms.dbf(PEOPLE))
    struct.pack_into("<I", plain, 4, 1 << 30)
    (tmp_path / "x.dbc").write_bytes(plain[: 33 + 32 * len(COLUMNS)] + bytes(4) + b"\0\6" * 9)
    with pytest.raises(DataError, match="not an ordinary table"):
        open_source(tmp_path / "x.dbc")


@pytest.mark.parametrize(
    ("form", "library"),
    [
        ("people.sav", "pyreadstat"),
        ("people.xlsx", "python_calamine"),
        ("people.dbc", "datasus_dbc"),
        ("people.duckdb", "duckdb"),
        ("people-delta", "deltalake"),
    ],
)
def test_a_missing_extra_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, form: str, library: str
) -> None:
    FORMS[form](tmp_path / form, PEOPLE)
    monkeypatch.setitem(sys.modules, library, None)
    with pytest.raises(DataError, match=r"pip install 'glasshouse\[formats\]'"):
        list(open_source(tmp_path / form).batches(COLUMNS))


@pytest.mark.parametrize("encoding", ["cp1252", "cp850"])
def test_letters_tell_the_encoding(encoding: str) -> None:
    sentence = "Município de São Paulo; benefício não concedido à família"
    assert likely_encoding(sentence.encode(encoding)) == encoding
    assert likely_encoding(sentence.encode("utf-8")) is None


def test_one_wrong_byte_does_not_turn_utf_8_into_something_else() -> None:
    assert likely_encoding("São Paulo, Niterói".encode() + b"\xe9") is None


def test_letters_beyond_the_first_block_decide_too(tmp_path: Path) -> None:
    """What comes before them is ASCII, which is the same in all encodings."""
    rows = "1,a\n" * (3 << 20) + "2,São João\n"
    (tmp_path / "x.csv").write_bytes(("n,city\n" + rows).encode("latin-1"))
    batches = list(open_source(tmp_path / "x.csv").batches(["city"]))
    assert batches[-1].column(0)[-1].as_py() == "São João"


def test_a_portable_file_of_spss_is_read_by_its_content(tmp_path: Path) -> None:
    people = {
        "SEX": [1.0, 2.0, None],
        "CEP": ["01310", "1310", ""],
        "PAY": [1.5, 12345678901.0, 7.0],
    }
    pyreadstat = pytest.importorskip("pyreadstat")
    pyreadstat.write_por(pl.DataFrame(people), str(tmp_path / "people.dat"))
    source = open_source(tmp_path / "people.dat")
    (batch,) = source.batches(source.columns)
    assert batch.to_pydict() == {
        "SEX": ["1", "2", ""],
        "CEP": ["01310", "1310", ""],
        "PAY": ["1.5", "12345678901", "7"],
    }


NUMBERS = [35.0, 1e-5, 0.1 + 0.2, 12345678901.0, 1e22, None, -0.0]
WRITTEN = ["35", "0.00001", "0.30000000000000004", "12345678901", "1e+22", "", "0"]


def numbers_in(path: Path) -> list[str]:
    """Return the first column of a file as text."""
    source = open_source(path)
    table = pa.Table.from_batches(list(source.batches(source.columns[:1])))
    texts: list[str] = table.column(0).to_pylist()
    return texts


@pytest.mark.parametrize("form", ["x.parquet", "x.jsonl", "mixed.jsonl", "x.sqlite", "x.xls"])
def test_a_number_is_written_in_the_same_way_whatever_holds_it(tmp_path: Path, form: str) -> None:
    path = tmp_path / form
    if form == "x.parquet":
        pyarrow.parquet.write_table(pa.table({"n": NUMBERS}), path)
    elif form == "x.jsonl":
        path.write_text("".join(json.dumps({"n": n, "m": 1}) + "\n" for n in NUMBERS))
    elif form == "mixed.jsonl":  # a column that Arrow refuses makes no number another
        lines = (json.dumps({"n": n, "m": n or "x"}) + "\n" for n in NUMBERS)
        path.write_text("".join(lines))
    elif form == "x.sqlite":
        with sqlite3.connect(path) as database:
            database.execute("create table t (n)")
            database.executemany("insert into t values (?)", [(n,) for n in NUMBERS])
    else:
        xlwt = pytest.importorskip("xlwt")
        book = xlwt.Workbook()
        sheet = book.add_sheet("t")
        for row, values in enumerate([("n", "m"), *((n, 1) for n in NUMBERS)]):
            for column, value in enumerate(values):
                if value is not None:
                    sheet.write(row, column, value)
        book.save(str(path))
    assert numbers_in(path) == WRITTEN


MOMENTS = [
    *(datetime(2020, 1, 31, 10, 30), datetime(2020, 1, 31, 10, 30, 1, 500_000)),
    *(None, datetime(1899, 12, 31, 23, 59, 59), datetime(2020, 1, 31, 10, 30, 0, 250_000)),
]
TOLD = [
    *("2020-01-31 10:30:00", "2020-01-31 10:30:01.5"),
    *("", "1899-12-31 23:59:59", "2020-01-31 10:30:00.25"),
]


def moments_as(form: str, path: Path, moments: list[datetime | None]) -> object:
    """Write moments as a program stores them; return what is read."""
    unit = form.partition("-")[2]
    frame = pd.DataFrame({"t": pd.array(moments, f"datetime64[{unit or 'us'}]"), "n": 1})
    match form.partition("-")[0]:
        case "csv":
            written = (f"{moment},1\n" if moment else ",1\n" for moment in moments)
            path.write_text(
                "t,n\n" + "".join(written).replace("00000,", ",").replace("50000,", "5,")
            )
        case "parquet":
            times = pa.array(moments, pa.timestamp("us")).cast(pa.timestamp(unit))
            pyarrow.parquet.write_table(pa.table({"t": times, "n": [1] * len(moments)}), path)
        case "arrow":
            times = pa.array(moments, pa.timestamp("us")).cast(pa.timestamp(unit))
            pyarrow.feather.write_feather(pa.table({"t": times}), path, compression="zstd")
        case "orc":
            pyarrow.orc.write_table(pa.table({"t": pa.array(moments, pa.timestamp("ns"))}), path)
        case "pandas":
            return frame
        case "polars":
            return pl.DataFrame({"t": moments})
        case "relation":
            return duckdb.connect().from_arrow(pa.table({"t": pa.array(moments)}))
        case "duckdb":
            with duckdb.connect(path) as database:
                times = pa.table({"t": pa.array(moments)})
                database.register("times", times)
                database.execute("create table t as select * from times")
        case "sav" | "dta":
            getattr(pyreadstat, f"write_{form}")(frame, str(path))
    return path


STORED = (
    *("csv", "parquet-s", "parquet-ms", "parquet-us", "parquet-ns", "arrow-s", "arrow-ns", "orc"),
    *("pandas-s", "pandas-ms", "pandas-us", "pandas-ns", "polars", "relation", "duckdb"),
    *("sav", "dta"),
)


@pytest.mark.parametrize("form", STORED)
def test_a_moment_is_the_same_text_however_finely_it_is_stored(tmp_path: Path, form: str) -> None:
    kind, _, unit = form.partition("-")
    path = tmp_path / f"x.{kind}"
    whole = [moment.replace(microsecond=0) if moment else None for moment in MOMENTS]
    source = open_source(moments_as(form, path, whole))
    texts = pa.Table.from_batches(list(source.batches(["t"]))).column("t").to_pylist()
    assert texts == [told.partition(".")[0] for told in TOLD]
    if unit != "s":  # which holds no fraction
        path.unlink(missing_ok=True)
        source = open_source(moments_as(form, path, MOMENTS))
        texts = pa.Table.from_batches(list(source.batches(["t"]))).column("t").to_pylist()
        assert texts == TOLD


@pytest.mark.parametrize("form", ["sav", "zsav", "dta", "xpt"])
def test_milliseconds_of_statistical_packages_are_those_of_text(tmp_path: Path, form: str) -> None:
    """In SPSS a moment is seconds since 1582 in a double: every other of these came a microsecond off."""
    moments = [datetime(2020, 1, 31, 10, 30) + k * timedelta(milliseconds=7) for k in range(300)]
    frame = pl.DataFrame({"t": moments})
    path = tmp_path / f"x.{form}"
    kind = {"zsav": "sav", "xpt": "xport"}.get(form, form)
    getattr(pyreadstat, f"write_{kind}")(
        frame, path, **({"compress": True} if form == "zsav" else {})
    )
    source = open_source(path)
    texts = pa.Table.from_batches(list(source.batches(["t"]))).column("t").to_pylist()
    written = [moment.isoformat(" ", "milliseconds") for moment in moments]
    assert texts == [told.rstrip("0").removesuffix(".") for told in written]


def test_moments_of_two_forms_meet(tmp_path: Path) -> None:
    moments = [datetime(2020, 1, 31, 10, minute) for minute in range(40)]
    frame = pd.DataFrame({"t": moments, "ill": ["a", "b"] * 20})
    frame.to_csv(tmp_path / "x.csv", index=False)
    frame.to_parquet(tmp_path / "x.parquet")
    tables = [gh.read(tmp_path / name) for name in ("x.csv", "x.parquet")]
    values = [table.column("t").values.to_pylist() for table in tables]
    assert values[0] == values[1]


def test_times_of_day_and_of_zones_are_trimmed_too(tmp_path: Path) -> None:
    times = pa.table(
        {
            "clock": pa.array([time(10, 30), time(10, 30, 0, 500_000)], pa.time64("ns")),
            "zoned": pa.array([0, 1_500_000], pa.timestamp("us", "UTC")),
        }
    )
    source = open_source(times)
    found = pa.Table.from_batches(list(source.batches(source.columns))).to_pydict()
    assert found["clock"] == ["10:30:00", "10:30:00.5"]
    assert found["zoned"] == ["1970-01-01 00:00:00Z", "1970-01-01 00:00:01.5Z"]


def test_values_that_repeat_are_written_as_those_that_do_not(tmp_path: Path) -> None:
    numbers = [*NUMBERS, 2.5, 7.0] * 10_000
    pyarrow.parquet.write_table(pa.table({"n": numbers}), tmp_path / "x.parquet")
    assert numbers_in(tmp_path / "x.parquet") == [*WRITTEN, "2.5", "7"] * 10_000


def test_sqlite_may_hold_anything_in_a_column(tmp_path: Path) -> None:
    cells = [1, 2**62, 1.0, "01", "São", b"raw", None]
    with sqlite3.connect(tmp_path / "x.sqlite") as database:
        database.execute("create table t (n)")
        database.executemany("insert into t values (?)", [(cell,) for cell in cells])
    assert numbers_in(tmp_path / "x.sqlite") == ["1", str(2**62), "1", "01", "São", "raw", ""]
    with sqlite3.connect(tmp_path / "x.sqlite") as database:
        database.execute("insert into t values (x'ff00')")
    with pytest.raises(DataError, match="is not a readable SQLite file"):
        numbers_in(tmp_path / "x.sqlite")


def test_json_lines_that_nest_too_deeply_are_one_line_and_no_crash(tmp_path: Path) -> None:
    """Arrow's reader calls itself as deep as the file is, and ended the process without a word."""
    path = tmp_path / "deep.jsonl"
    deep = "[" * 100_000 + "]" * 100_000
    path.write_text('{"a": 1}\n' + '{"a": ' + deep + "}\n")
    with pytest.raises(DataError, match="is not a JSON object"):
        open_source(path)


@pytest.mark.parametrize(
    "line", [r'{"a": "\ud800"}', r'{"\udfff": 1}', r'{"a": 1, "b": [{"\uD83D": 2}]}']
)
def test_half_a_character_in_json_lines_is_one_line(tmp_path: Path, line: str) -> None:
    path = tmp_path / "half.jsonl"
    path.write_text('{"a": "\\ud83d\\ude00"}\n{"a": 1}\n')
    (batch,) = open_source(path).batches(["a"])
    assert batch.to_pydict() == {"a": ["\U0001f600", "1"]}
    path.write_text('{"a": 1}\n' + line + "\n")
    with pytest.raises(DataError, match="holds half a character"):
        open_source(path)


def test_names_of_json_lines_are_all_known_however_much_is_parsed_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    lines = ['{"day": "2020-01-31", "n": 1}\n' * 4, '{"n": 2.5, "late": true}\n']
    (tmp_path / "x.jsonl").write_text("".join(lines))
    monkeypatch.setattr(text, "BLOCK_BYTES", 64)
    expected = {
        "day": ["2020-01-31"] * 4 + [""],
        "n": ["1"] * 4 + ["2.5"],
        "late": [""] * 4 + ["True"],
    }
    for most in (1 << 28, 40, 0):
        monkeypatch.setattr(json_lines, "KEPT_BYTES", most)
        source = open_source(tmp_path / "x.jsonl")
        assert source.columns == tuple(expected)
        for _ in range(2):
            batches = list(source.batches(source.columns))
            assert pa.Table.from_batches(batches).to_pydict() == expected


def test_what_was_taken_for_the_encoding_of_a_packed_table_is_known(tmp_path: Path) -> None:
    forms.as_zipped_dbf(tmp_path / "x.zip", PEOPLE)
    source = open_source(tmp_path / "x.zip")
    list(source.batches(source.columns))
    assert source.assumed_encoding == "cp850"


def test_a_damaged_file_of_a_form_that_nothing_here_writes_is_named_for_what_it_is(
    tmp_path: Path,
) -> None:
    """No library at hand writes sas7bdat: only its refusal is tested."""
    magic = bytes(12) + bytes.fromhex("c2ea8160b31411cfbd92080009c7318c181f1011")
    (tmp_path / "x.sas7bdat").write_bytes(magic + bytes(9_000))
    with pytest.raises(DataError, match="is not a readable SAS file"):
        open_source(tmp_path / "x.sas7bdat")
    with zipfile.ZipFile(tmp_path / "x.xlsb", "w") as archive:
        archive.writestr("xl/workbook.bin", bytes(100))
    with pytest.raises(DataError, match="is not a readable spreadsheet file"):
        open_source(tmp_path / "x.xlsb")
