"""Encoding: codes and dictionaries say exactly what the text said, in as little memory as possible."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from glasshouse.errors import DataError, StudyError
from glasshouse.study import Dialect
from glasshouse.table import EncodedTable, Role, load_table, read
from glasshouse.table import codes as codes_module
from glasshouse.table.codes import blocks, let_go, mapping, taken
from glasshouse.table.dictionary import Dictionary


def decoded(table: EncodedTable, name: str) -> list[str]:
    column = table.column(name)
    return [column.values[int(code)].as_py() for code in column.codes]


@given(st.lists(st.lists(st.text(max_size=4), max_size=20), max_size=4))
def test_codes_decode_to_the_text_they_came_from(batches: list[list[str]]) -> None:
    dictionary = Dictionary()
    codes = [dictionary.encode(pa.array(batch, pa.string())) for batch in batches]
    values = dictionary.values().to_pylist()
    assert [[values[code] for code in batch] for batch in codes] == batches
    assert len(set(values)) == len(values)


@given(st.integers(1, 5), st.integers(0, 40))
def test_a_slice_of_an_array_is_encoded_as_that_slice(start: int, length: int) -> None:
    texts = pa.array([str(i % 7) for i in range(50)])
    dictionary = Dictionary()
    codes = dictionary.encode(texts.slice(start, length))
    values = dictionary.values().to_pylist()
    assert [values[code] for code in codes] == texts.slice(start, length).to_pylist()


@given(st.lists(st.sampled_from(["", "a", "b", "é", "aa"]), min_size=1, max_size=20))
def test_one_batch_and_several_have_the_same_codes(texts: list[str]) -> None:
    at_once = read(pa.table({"a": texts})).column("a")
    pieces = pa.table({"a": pa.chunked_array([[text] for text in texts])})
    streamed = read(pieces).column("a")
    assert at_once.codes.tolist() == streamed.codes.tolist()
    assert at_once.codes.dtype == streamed.codes.dtype
    assert at_once.values.equals(streamed.values)


@given(st.lists(st.integers(0, 4), min_size=1), st.lists(st.integers(0, 4), min_size=1))
def test_texts_that_come_as_dictionaries_have_the_codes_of_plain_ones(
    first: list[int], then: list[int]
) -> None:
    """A text that is in a dictionary twice is one, and one that is not used has no code."""
    coded, plain = Dictionary(), Dictionary()
    for indices, texts in ((first, ["c", "", "a", "c", "b"]), (then, ["b", "e", "a", "", "d"])):
        batch = pa.DictionaryArray.from_arrays(pa.array(indices, pa.int8()), pa.array(texts))
        assert coded.encode(batch).tolist() == plain.encode(batch.cast(pa.string())).tolist()
    assert coded.values() == plain.values()


def test_a_dictionary_grows_past_its_first_size() -> None:
    dictionary = Dictionary()
    texts = [f"value number {i} of many" for i in range(100_000)]
    assert dictionary.encode(pa.array(texts)).tolist() == list(range(100_000))
    assert dictionary.encode(pa.array(texts[::-1])).tolist() == list(range(99_999, -1, -1))
    assert dictionary.values().to_pylist() == texts


def test_values_stay_as_they_were_when_more_come() -> None:
    dictionary = Dictionary()
    texts = [f"{i:<1500}" for i in range(2000)]
    for end in (1, 2, 500, 501, 2000):
        dictionary.encode(pa.array(texts[end // 2 : end]))
        values = dictionary.values()
        expected = values.to_pylist()
        dictionary.encode(pa.array(texts[:end]))
        assert values.to_pylist() == expected
        assert sorted(dictionary.values().to_pylist()) == sorted(texts[:end])
        assert values.validate(full=True) is None


@pytest.mark.parametrize(
    ("cardinality", "dtype"), [(1, "uint8"), (256, "uint8"), (257, "uint16"), (65_537, "uint32")]
)
def test_codes_take_the_smallest_unsigned_integers(cardinality: int, dtype: str) -> None:
    table = read(pa.table({"n": np.arange(cardinality)}))
    assert table.column("n").codes.dtype == dtype
    assert table.column("n").cardinality == cardinality


def test_leading_zeros_are_kept_unless_the_study_says_otherwise(tmp_path: Path) -> None:
    path = tmp_path / "zip.csv"
    path.write_text("zip,x\n01310,1\n1310,1.0\n,1.50\n")
    assert decoded(read(path), "zip") == ["01310", "1310", ""]
    typed = read(path, types={"zip": "integer", "x": "number"})
    assert decoded(typed, "zip") == ["1310", "1310", ""]
    assert decoded(typed, "x") == ["1", "1", "1.5"]


def test_a_value_that_is_not_of_its_type_is_named_with_its_record(tmp_path: Path) -> None:
    path = tmp_path / "age.csv"
    path.write_text("age\n25\nabout 30\n")
    with pytest.raises(DataError, match=r'age\.csv, record 2: "about 30" in column "age"'):
        read(path, types={"age": "integer"})


def test_blanks_around_values_are_dropped_when_asked(tmp_path: Path) -> None:
    path = tmp_path / "adult.data"
    path.write_text("39, Male\n50,Male \n")
    table = read(path, dialect=Dialect(header=False, strip=True))
    assert decoded(table, "column_2") == ["Male", "Male"]
    assert table.column("column_2").cardinality == 1


def test_only_columns_with_a_role_are_read() -> None:
    people = pa.table({"id": [1, 2], "age": [3, 4], "ill": ["y", "n"], "rest": [[1], [2]]})
    table = read(people, quasi_identifiers=["age"], sensitive=["ill"], id="id")
    assert list(table.columns) == ["id", "age", "ill"]
    assert (table.quasi_identifiers, table.sensitive, table.identifier) == (
        ("age",),
        ("ill",),
        "id",
    )


def test_roles_keep_the_order_in_which_they_were_given() -> None:
    table = read(pa.table({"a": [1], "b": [2], "c": [3]}), quasi_identifiers=["c", "a"])
    assert table.quasi_identifiers == ("c", "a")
    assert read(pa.table({"a": [1], "b": [2]})).with_roles(
        quasi_identifiers=["b", "a"]
    ).quasi_identifiers == ("b", "a")


def test_a_column_cannot_play_two_roles() -> None:
    with pytest.raises(StudyError, match='column "a" is both quasi-identifier and sensitive'):
        read(pa.table({"a": [1]}), quasi_identifiers=["a"], sensitive=["a"])


def test_a_table_without_records_is_refused() -> None:
    with pytest.raises(DataError, match="has no records"):
        read(pa.table({"a": pa.array([], pa.string())}))


def test_codes_cannot_be_written_to() -> None:
    column = read(pa.table({"a": [1, 2]})).column("a")
    with pytest.raises(ValueError, match="read-only"):
        column.codes[0] = 1


def test_a_saved_table_is_read_back_without_parsing(tmp_path: Path) -> None:
    people = pa.table({"age": ["20", "30", "20"], "ill": ["y", None, "n"], "id": [7, 8, 9]})
    table = read(people, quasi_identifiers=["age"], sensitive=["ill"], id="id", name="people")
    path = tmp_path / "people.arrow"
    table.save(path)
    for again in (load_table(path), read(path)):
        assert (again.name, again.records, again.roles) == (table.name, 3, table.roles)
        for name, column in table.columns.items():
            assert again.column(name).codes.tolist() == column.codes.tolist()
            assert again.column(name).codes.dtype == column.codes.dtype
            assert again.column(name).values.to_pylist() == column.values.to_pylist()
    other = read(path, quasi_identifiers=["ill"])
    assert other.roles == {"ill": Role.QUASI_IDENTIFIER, "age": Role.IGNORED, "id": Role.IGNORED}


def in_pieces(columns: dict[str, list[str]], size: int) -> pa.Table:
    """Return a table whose records come in batches of so many."""
    return pa.table(
        {
            name: pa.chunked_array([texts[i : i + size] for i in range(0, len(texts), size)])
            for name, texts in columns.items()
        }
    )


@pytest.mark.parametrize("values", [3, 200, 700, 70_000])
def test_codes_on_disk_are_those_in_memory(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, values: int
) -> None:
    """Codes grow wider while they are written: one byte, two and four."""
    monkeypatch.setattr(codes_module, "BLOCK_RECORDS", 777)
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    numbers = np.arange(100_000)
    columns = {
        "a": [f"v{i}" for i in numbers * 7 % values],
        "b": ["" if i % 5 == 0 else "?" if i % 7 == 0 else str(i % 3) for i in numbers.tolist()],
    }
    data = in_pieces(columns, 9_999)
    there, here = read(data, memory=1), read(data)
    pairs = [(there, here)]
    marks = numbers % 11 < 4
    pairs.append((there.of_records(marks), here.of_records(marks)))
    pairs.append((read(data, memory=1, missing={"b": ["?"]}), read(data, missing={"b": ["?"]})))
    there.save(tmp_path / "there.arrow")
    here.save(tmp_path / "here.arrow")
    assert (tmp_path / "there.arrow").read_bytes() == (tmp_path / "here.arrow").read_bytes()
    pairs.append((load_table(tmp_path / "there.arrow"), here))
    for on_disk, in_memory in pairs:
        assert on_disk.missing(["b"]).tolist() == in_memory.missing(["b"]).tolist()
        for name, column in in_memory.columns.items():
            same = on_disk.column(name)
            assert mapping(same.codes) is not None
            assert mapping(column.codes) is None
            assert same.codes.dtype == column.codes.dtype
            let_go(same.codes)
            assert np.array_equal(same.codes, column.codes)
            assert same.values.equals(column.values)
            assert same.tally.tolist() == column.tally.tolist()
            assert np.concatenate([some for _, some in blocks(same.codes)]).tolist() == (
                column.codes.tolist()
            )
            some = np.flatnonzero(column.codes % 3 == 1)
            assert taken(same.codes, some).tolist() == column.codes[some].tolist()
    assert sorted(path.name for path in tmp_path.iterdir()) == ["here.arrow", "there.arrow"]


def test_codes_that_find_no_room_on_disk_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_: object, **__: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("tempfile.TemporaryFile", full)
    with pytest.raises(DataError, match=r"what does not fit into memory cannot be kept .* TMPDIR"):
        read(in_pieces({"a": ["x", "y", "z"]}, 1), memory=1)


def test_saving_leaves_nothing_behind_when_it_fails(tmp_path: Path) -> None:
    table = read(pa.table({"a": [1, 2]}))
    with pytest.raises(DataError, match="cannot write"):
        table.save(tmp_path / "no such folder" / "t.arrow")
    (tmp_path / "t.arrow").mkdir()
    with pytest.raises(DataError, match="it is a folder"):
        table.save(tmp_path / "t.arrow")
    assert [path.name for path in tmp_path.iterdir()] == ["t.arrow"]


def test_numbers_are_compared_with_all_their_digits(tmp_path: Path) -> None:
    texts = [
        "123456789012345678901234567890",
        "123456789012345678901234567891",
        "0.1",
        "0.10",
        "1e2",
        "+100",
        "-0",
        "0.0",
        "0.10000000000000000000000000000000001",
        ".5",
    ]
    path = tmp_path / "n.csv"
    path.write_text("n\n" + "\n".join(texts) + "\n")
    assert decoded(read(path, types={"n": "number"}), "n") == [
        "123456789012345678901234567890",
        "123456789012345678901234567891",
        "0.1",
        "0.1",
        "100",
        "100",
        "0",
        "0",
        "0.10000000000000000000000000000000001",
        "0.5",
    ]


@pytest.mark.parametrize(
    ("kind", "text"),
    [("integer", "1_000"), ("integer", "٣"), ("number", "1e99999"), ("number", "nan")],
)
def test_what_only_python_takes_for_a_number_is_refused(
    tmp_path: Path, kind: str, text: str
) -> None:
    path = tmp_path / "n.csv"
    path.write_text(f"n\n{text}\n", encoding="utf-8")
    with pytest.raises(DataError, match="is not a number of the type asked for"):
        read(path, types={"n": kind})


def test_types_apply_to_a_saved_table_too(tmp_path: Path) -> None:
    read(pa.table({"zip": ["01", "1", " 1"]})).save(tmp_path / "t.arrow")
    assert decoded(read(tmp_path / "t.arrow", types={"zip": "integer"}), "zip") == ["1", "1", "1"]
    stripped = read(tmp_path / "t.arrow", dialect=Dialect(strip=True))
    assert decoded(stripped, "zip") == ["01", "1", "1"]
    with pytest.raises(DataError, match='column "zap" is not in'):
        read(tmp_path / "t.arrow", types={"zap": "integer"})


def test_a_damaged_table_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "t.arrow"
    read(pa.table({"a": [str(i % 7) for i in range(4_000)]})).save(path)
    content = bytearray(path.read_bytes())
    middle = len(content) // 2
    content[middle : middle + 300] = b"\xff" * 300
    path.write_bytes(content)
    with pytest.raises(DataError, match="is a damaged table"):
        read(path)


def test_one_text_is_not_a_list_of_columns() -> None:
    with pytest.raises(StudyError, match=r'give a list of columns, such as \["age"\]'):
        read(pa.table({"age": [1]}), quasi_identifiers="age")


def test_an_unknown_type_is_named() -> None:
    with pytest.raises(StudyError, match='type "colour" of column "a" is unknown'):
        read(pa.table({"a": [1]}), types={"a": "colour"})
