"""Tables as files: what is written is read back the same, and in the form of the file that came in."""

from __future__ import annotations

import time
from pathlib import Path

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from glasshouse.errors import DataError, StudyError
from glasshouse.sources import exports, open_source
from glasshouse.sources.delimited import DelimitedFile
from glasshouse.sources.exports import FORMATS, TextForm, write_table
from glasshouse.study import Dialect
from glasshouse.table import EncodedTable, read


def dictionary(*values: str) -> pa.DictionaryArray:
    return pa.array(values, pa.large_string()).dictionary_encode()


TABLE = {
    "sex": dictionary("1", "2", "", "1"),
    "place": dictionary("a;b,c", 'São "José"', "*", "two\nlines & <more>"),
    "income": dictionary("1.5", "2", "", "10.25"),
    "code": dictionary("01", "2", "3", "4"),
}
LABELS = {"sex": {"1": "man", "2": "woman", "x": "not a number"}}


def texts(table: EncodedTable) -> dict[str, list[str]]:
    return {
        name: [column.values[int(code)].as_py() for code in column.codes]
        for name, column in table.columns.items()
    }


@pytest.mark.parametrize("kind", FORMATS)
def test_every_kind_of_file_is_read_back_the_same(tmp_path: Path, kind: str) -> None:
    path = tmp_path / f"release.{kind}"
    write_table(TABLE, path, column_labels={"sex": "Sex of the person"}, value_labels=LABELS)
    back = read(path)
    assert texts(back) == {name: column.to_pylist() for name, column in TABLE.items()}
    if kind in ("sav", "dta"):
        assert back.labels.columns["sex"] == "Sex of the person"
        assert back.labels.values["sex"] == {"1": "man", "2": "woman"}


@pytest.mark.parametrize("kind", FORMATS)
def test_nothing_in_a_file_tells_when_it_was_written(tmp_path: Path, kind: str) -> None:
    first, second = tmp_path / f"a.{kind}", tmp_path / f"b.{kind}"
    write_table(TABLE, first)
    if kind in ("sav", "dta"):
        time.sleep(1.1)
    write_table(TABLE, second)
    assert first.read_bytes() == second.read_bytes()


FORMS = {
    "Brazilian": b"n\xe3o;b\r\n1;2\r\n",
    "UTF-8 with a mark": b"\xef\xbb\xbfn\xc3\xa3o,b\n1,2\n",
    "quotes everywhere": b'"a","b"\n"1","2"\n',
    "tabulators": b"a\tb\r1\t2\r",
    "UTF-16": "a;não\r\n1;2\r\n".encode("utf-16"),
}


@pytest.mark.parametrize("case", FORMS)
def test_a_file_is_written_in_the_form_of_another(tmp_path: Path, case: str) -> None:
    path = tmp_path / "data.csv"
    path.write_bytes(FORMS[case])
    source = open_source(path, dialect=Dialect())
    assert isinstance(source, DelimitedFile)
    columns = {
        name: dictionary(*column)
        for name, column in zip(source.columns, (["1"], ["2"]), strict=True)
    }
    write_table(columns, tmp_path / "again.csv", form=source.form)
    assert (tmp_path / "again.csv").read_bytes() == FORMS[case]


ANY = st.text(st.characters(exclude_characters="\0", exclude_categories=["Cs"]), max_size=6)


@given(
    st.lists(st.tuples(ANY, ANY), min_size=1, max_size=6),
    st.sampled_from(",;\t|"),
    st.booleans(),
    st.sampled_from(["\n", "\r\n"]),
)
def test_any_text_survives(
    tmp_path_factory: pytest.TempPathFactory,
    rows: list[tuple[str, str]],
    separator: str,
    quotes_all: bool,
    line_end: str,
) -> None:
    path = tmp_path_factory.mktemp("text") / "x.csv"
    columns = {
        name: dictionary(*values)
        for name, values in zip("ab", zip(*rows, strict=True), strict=True)
    }
    write_table(columns, path, form=TextForm(separator, quotes_all=quotes_all, line_end=line_end))
    back = read(path, dialect=Dialect(separator=separator, encoding="utf-8", skip=0))
    assert list(zip(*texts(back).values(), strict=True)) == rows


def test_a_missing_value_alone_in_its_record_is_a_record(tmp_path: Path) -> None:
    write_table({"a": dictionary("x", "", "y")}, tmp_path / "a.csv")
    assert texts(read(tmp_path / "a.csv")) == {"a": ["x", "", "y"]}


def test_what_does_not_fit_a_kind_of_file_is_said(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with pytest.raises(DataError, match="cannot be written as latin-1"):
        write_table({"a": dictionary("π")}, tmp_path / "a.csv", form=TextForm(encoding="latin-1"))
    with pytest.raises(DataError, match="cannot be written as dta"):
        write_table({"Raça/Cor": dictionary("1")}, tmp_path / "a.dta")
    monkeypatch.setattr(exports, "MOST_ROWS", 2)
    with pytest.raises(DataError, match="no more than 2 records, and there are 4"):
        write_table(TABLE, tmp_path / "a.xlsx")

    def lacks(name: str) -> None:
        raise ImportError(name)

    monkeypatch.setattr(exports, "import_module", lacks)
    with pytest.raises(StudyError, match=r"pip install 'glasshouse\[formats\]'"):
        write_table(TABLE, tmp_path / "a.sav")
