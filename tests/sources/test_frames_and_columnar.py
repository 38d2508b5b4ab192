"""Frames in memory and columnar files give the same text as a CSV of the same table."""

from __future__ import annotations

from collections.abc import Callable
from datetime import date, datetime
from decimal import Decimal
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.feather
import pyarrow.ipc
import pyarrow.orc
import pyarrow.parquet
import pytest

import glasshouse as gh
from glasshouse.errors import DataError, GlasshouseError
from glasshouse.sources import open_source
from glasshouse.sources.source import BATCH_BYTES

COLUMNS = {
    "zip": ["01310", None, "1310"],
    "age": [25, 30, None],
    "city": ["São Paulo", "", "Belém"],
}
EXPECTED = [("01310", "25", "São Paulo"), ("", "30", ""), ("1310", "", "Belém")]


def rows_of(data: object) -> list[tuple[str, ...]]:
    source = open_source(data)
    return [
        tuple(row.values()) for batch in source.batches(source.columns) for row in batch.to_pylist()
    ]


def parquet(folder: Path) -> Path:
    path = folder / "data.parquet"
    pa.parquet.write_table(pa.table(COLUMNS), path, row_group_size=2)
    return path


def arrow(folder: Path) -> Path:
    path = folder / "data.arrow"
    with pa.ipc.new_file(path, pa.table(COLUMNS).schema) as writer:
        writer.write_table(pa.table(COLUMNS), max_chunksize=2)
    return path


def feather(folder: Path) -> Path:
    path = folder / "data.feather"
    pa.feather.write_feather(pa.table(COLUMNS), path)
    return path


def dictionary(_: Path) -> Any:
    table = pa.table(COLUMNS)
    return table.set_column(2, "city", table["city"].dictionary_encode())


SOURCES: dict[str, Callable[[Path], Any]] = {
    "pandas": lambda _: pd.DataFrame(COLUMNS),
    "pandas with an index": lambda _: pd.DataFrame(COLUMNS, index=["x", "y", "z"]),
    "pandas with a named index": lambda _: pd.DataFrame(
        COLUMNS, index=pd.MultiIndex.from_tuples([(1, 2), (3, 4), (5, 6)], names=["u", "v"])
    ),
    "Polars": lambda _: pl.DataFrame(COLUMNS),
    "Polars with a category": lambda _: pl.DataFrame(COLUMNS).with_columns(
        pl.col("city").cast(pl.Categorical)
    ),
    "Arrow": lambda _: pa.table(COLUMNS),
    "Arrow with a dictionary": dictionary,
    "DuckDB": lambda _: duckdb.from_arrow(pa.table(COLUMNS)),
    "Parquet": parquet,
    "Arrow IPC": arrow,
    "Feather": feather,
}


@pytest.mark.parametrize("kind", SOURCES)
def test_every_kind_of_source_gives_the_same_text(tmp_path: Path, kind: str) -> None:
    assert rows_of(SOURCES[kind](tmp_path)) == EXPECTED


def test_a_frame_can_be_read_twice() -> None:
    source = open_source(pl.DataFrame(COLUMNS))
    first, second = (sum(b.num_rows for b in source.batches(["zip"])) for _ in range(2))
    assert first == second == 3


def test_values_of_every_simple_type_become_text() -> None:
    table = pa.table(
        {
            "truth": [True, False],
            "day": pa.array([0, 1], pa.date32()),
            "ratio": [0.5, 1.0],
            "nothing": pa.nulls(2),
        }
    )
    assert rows_of(table) == [
        ("True", "1970-01-01", "0.5", ""),
        ("False", "1970-01-02", "1", ""),
    ]


def test_a_large_frame_comes_in_batches() -> None:
    frame = pa.table({"n": np.arange(600_000)})
    sizes = [batch.num_rows for batch in open_source(frame).batches(["n"])]
    assert sum(sizes) == 600_000
    assert len(sizes) == 3


def test_lists_have_no_value_to_compare() -> None:
    with pytest.raises(DataError, match='column "tags" holds values of type "list'):
        rows_of(pa.table({"tags": [["a"], ["b"]]}))


def test_a_missing_column_is_named_with_the_near_ones() -> None:
    with pytest.raises(DataError, match='column "Zip" is not in the frame; did you mean "zip"'):
        next(open_source(pa.table(COLUMNS)).batches(["Zip"]))


def test_two_columns_of_one_name_are_refused() -> None:
    frame = pa.Table.from_arrays([pa.array([1]), pa.array([2])], names=["a", "a"])
    with pytest.raises(DataError, match='columns 1 and 2 are both called "a"'):
        open_source(frame)


def test_what_is_no_table_is_refused() -> None:
    with pytest.raises(DataError, match="cannot read a dict"):
        open_source({"a": [1]})


@pytest.mark.parametrize("make", [parquet, arrow])
@pytest.mark.parametrize("kept", [20, 60])
def test_a_cut_file_is_refused(tmp_path: Path, make: Callable[[Path], Path], kept: int) -> None:
    path = make(tmp_path)
    path.write_bytes(path.read_bytes()[:kept])
    with pytest.raises(DataError, match="write it again"):
        rows_of(path)


def test_not_a_number_is_missing() -> None:
    assert rows_of(pl.DataFrame({"x": [1.5, float("nan"), None]})) == [("1.5",), ("",), ("",)]


def test_a_column_of_mixed_kinds_does_not_hinder_the_others() -> None:
    frame = pd.DataFrame({"mixed": [1, "x", None], "age": [1, 2, 3]})
    assert next(open_source(frame).batches(["age"])).to_pylist()[0] == {"age": "1"}
    with pytest.raises(DataError, match="cannot be handed over as Arrow"):
        list(open_source(frame).batches(["mixed"]))


def test_a_relation_that_fails_on_the_way_is_a_data_error() -> None:
    relation = duckdb.sql("select cast(x as integer) as n from (values ('1'), ('two')) t(x)")
    with pytest.raises(DataError):
        rows_of(relation)


def test_a_period_has_no_text_of_its_own() -> None:
    with pytest.raises(DataError, match="which are not text, numbers or dates"):
        rows_of(pd.DataFrame({"when": pd.period_range("2020-01", periods=2, freq="M")}))


def test_zero_has_no_sign() -> None:
    source = open_source(pa.table({"a": [0.0, -0.0, -1.5]}))
    texts = [batch["a"].to_pylist() for batch in source.batches(["a"])]
    assert texts == [["0", "0", "-1.5"]]


MANY: dict[str, list[Any]] = {
    "float": [0.0, -0.0, float("nan"), None, 35.0, 1e-5, 0.1, 1e15, 2.0**53, -1e300, float("inf")],
    "integer": [0, -1, None, 2**62],
    "day": [date(1969, 12, 31), None, date(2020, 2, 29)],
    "moment": [datetime(2020, 1, 31, 12, 0, 0, 5), None],
    "decimal": [Decimal("1.10"), Decimal("-0.50"), None],
    "boolean": [True, None, False],
    "text": ["01310", "", None, "São Paulo"],
}


FORMS: dict[str, Callable[[pa.Table, Path], Any]] = {
    "parquet": lambda table, path: pa.parquet.write_table(table, path, row_group_size=12_345),
    "arrow": pa.feather.write_feather,
    "orc": pa.orc.write_table,
}


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("column", MANY)
def test_values_that_repeat_are_written_as_those_that_do_not(
    tmp_path: Path, form: str, column: str
) -> None:
    values = MANY[column]
    few, many = tmp_path / "few", tmp_path / "many"
    FORMS[form](pa.table({"a": pa.array(values)}), few)
    FORMS[form](pa.table({"a": pa.array(values * 10_000)}), many)
    batches = list(open_source(many).coded_batches(["a"]))
    assert column == "text" or {type(batch["a"]) for batch in batches} == {pa.DictionaryArray}
    assert not any(batch["a"].null_count for batch in batches)
    assert rows_of(many) == rows_of(few) * 10_000


def test_a_parquet_file_is_not_in_memory_after_it_was_read(tmp_path: Path) -> None:
    path = tmp_path / "income.parquet"
    incomes = np.random.default_rng(0).integers(0, 2**62, 2_000_000)
    pa.parquet.write_table(pa.table({"income": incomes}), path, row_group_size=50_000)
    before = pa.total_allocated_bytes()
    source = open_source(path)
    for batch in source.coded_batches(["income"]):
        del batch
        last = pa.total_allocated_bytes() - before
    assert last < path.stat().st_size / 4


def test_text_that_a_parquet_file_holds_as_codes_comes_as_codes(tmp_path: Path) -> None:
    names = [str(person) for person in range(30_000)]
    table = pa.table({"uf": ["SP", "RJ", None] * 10_000, "name": names})
    pa.parquet.write_table(table, tmp_path / "a.parquet", row_group_size=20_000)
    source = open_source(tmp_path / "a.parquet")
    batches = list(source.coded_batches(["name", "uf"]))
    assert {type(batch["uf"]) for batch in batches} == {pa.DictionaryArray}
    assert {type(batch["name"]) for batch in batches} == {pa.StringArray}
    assert rows_of(tmp_path / "a.parquet")[19_999:20_002] == [
        ("RJ", "19999"),
        ("", "20000"),
        ("SP", "20001"),
    ]


@pytest.mark.parametrize(
    ("values", "records"),
    [
        ([f"{person:06d}" * 800 for person in range(6_000)], 6_000),
        (["z" * 4_000], 10_000),
        (["z" * 100_000, *map(str, range(10_000))], 10_001),
    ],
    ids=["long and different", "one that is long and used by all", "one that is long"],
)
def test_long_text_of_a_parquet_file_comes_in_batches_of_few_records(
    tmp_path: Path, values: list[str], records: int
) -> None:
    used = pa.array(values).take(pa.array(np.arange(records) % len(values)))
    pa.parquet.write_table(pa.table({"a": used}), tmp_path / "a.parquet")
    source, seen = open_source(tmp_path / "a.parquet"), 0
    for batch in source.batches(["a"]):
        assert batch.nbytes <= 2 * BATCH_BYTES
        seen += batch.num_rows
    assert seen == records


def test_the_first_records_are_as_many_as_are_asked_for_however_the_file_is_cut(
    tmp_path: Path,
) -> None:
    pa.parquet.write_table(pa.table({"a": range(10)}), tmp_path / "a.parquet", row_group_size=3)
    source = open_source(tmp_path / "a.parquet")
    assert source.first(4)["a"].to_pylist() == ["0", "1", "2", "3"]
    assert len(source.first(99)) == 10


def test_a_stream_that_can_be_read_once_is_a_frame_as_its_table_is() -> None:
    table = pa.table({"age": ["20", "30", "30"], "ill": ["a", "b", "a"]})
    words: Any = {"quasi_identifiers": ["age"], "sensitive": ["ill"]}
    streamed = gh.assess(
        pa.RecordBatchReader.from_batches(table.schema, table.to_batches()), **words
    )
    assert streamed.to_frame().equals(gh.assess(table, **words).to_frame())
    both = [pa.RecordBatchReader.from_batches(table.schema, table.to_batches()) for _ in range(2)]
    assert gh.assess(both, each=True, **words).to_frame().num_rows > streamed.to_frame().num_rows


def test_columns_by_other_than_their_names_and_no_path_are_one_line() -> None:
    table = pa.table({"age": ["20", "30"], "ill": ["a", "b"]})
    for wrong in (("age", "ill"), 1):
        wrong_names: Any = [wrong]
        with pytest.raises(GlasshouseError, match="a column is given by its name, as text"):
            gh.read(table, quasi_identifiers=wrong_names)
    with pytest.raises(GlasshouseError, match='"" names no file or folder'):
        gh.assess("", quasi_identifiers=["age"])
