"""Reading 1,000,000 records × 12 columns of CSV into an encoded table, against DuckDB.

The baseline reads the same file with DuckDB to Arrow text columns: no sniffing, all columns as text. It neither
counts the records a second time nor encodes anything. Promise: at most twice its CPU.
"""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

import duckdb

from glasshouse import synthetic
from glasshouse.synthetic.stream import write_batches
from glasshouse.table import read
from measure import compare

RECORDS = 1_000_000
COLUMNS = 12


def baseline(path: Path, columns: list[str]) -> int:
    types = dict.fromkeys(columns, "VARCHAR")
    with duckdb.connect() as connection:
        relation = connection.read_csv(
            str(path), header=True, sep=",", auto_detect=False, columns=types
        )
        return int(relation.to_arrow_table().num_rows)


def main() -> bool:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "census.csv"
        census = synthetic.table("school-census", records=RECORDS, seed=1)
        columns = census.column_names[:COLUMNS]
        chosen = census.select(columns)
        write_batches(chosen.to_batches(), schema=chosen.schema, path=path)
        assert read(path).records == baseline(path, columns) == RECORDS
        size = path.stat().st_size / 1e6
        return compare(
            f"read {RECORDS:,} records × {COLUMNS} columns ({size:.0f} MB)",
            ours=lambda: read(path),
            baseline=lambda: baseline(path, columns),
            promise=2,
        )


if __name__ == "__main__":
    sys.exit(not main())
