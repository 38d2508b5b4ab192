"""Four datasets of 10 million people each, three quasi-identifiers, two sensitive attributes: the join, and all of it.

The join is compared with the same left outer joins in DuckDB, on the same values, in the same run: at most 3 times its
CPU. Then one command assesses all four windows within 8 GiB. A number of people may be given.
"""

from __future__ import annotations

import json
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import pyarrow as pa
import pyarrow.parquet

from glasshouse.table import EncodedTable, collect, read
from measure import compare

PEOPLE = 10_000_000
YEARS = (2014, 2015, 2016, 2017)
KNOWN = ("city", "school", "stage")
SECRETS = ("disability", "transport")
CITIES, SCHOOLS, STAGES = 5_570, 180_000, 60
LIMIT = 8 << 30


def write_years(folder: Path, people: int) -> list[Path]:
    """Write a dataset per year: some people leave and others come, some move, and all get older."""
    rng = np.random.default_rng(2014)
    person = np.arange(people, dtype=np.int64)
    school = np.minimum(rng.zipf(1.3, people), SCHOOLS) - 1
    stage = rng.integers(0, STAGES, people)
    paths = []
    for year in YEARS:
        order = rng.permutation(people)
        columns: dict[str, Any] = {
            "student": person[order] + 10**9,
            "city": (school[order] * 31 % CITIES),
            "school": school[order],
            "stage": stage[order],
        }
        if year == YEARS[0]:
            columns["disability"] = rng.random(people) < 0.03
            columns["transport"] = rng.random(people) < 0.2
        paths.append(folder / f"{year}.parquet")
        pa.parquet.write_table(pa.table(columns), paths[-1])
        gone = rng.random(people) < 0.1
        person = np.where(gone, person + people, person)
        moved = gone | (rng.random(people) < 0.2)
        school = np.where(moved, rng.integers(0, SCHOOLS, people), school)
        stage = np.minimum(stage + (rng.random(people) < 0.9), STAGES)
    return paths


def encoded(path: Path) -> EncodedTable:
    secrets = SECRETS if path.stem == str(YEARS[0]) else ()
    return read(path, quasi_identifiers=KNOWN, sensitive=secrets, id="student")


def join_in_duckdb(paths: list[Path]) -> duckdb.DuckDBPyConnection:
    """Load the datasets as the text that we hold, so that both join the same."""
    database = duckdb.connect()
    for path in paths:
        fields = ", ".join(f"CAST({name} AS VARCHAR) AS {name}" for name in ("student", *KNOWN))
        database.execute(f"CREATE TABLE y{path.stem} AS SELECT {fields} FROM '{path}'")
    return database


def joined_in_duckdb(database: duckdb.DuckDBPyConnection) -> int:
    first, *others = YEARS
    columns = ", ".join(f"y{year}.{name} AS {name}_{year}" for year in YEARS for name in KNOWN)
    joins = " ".join(f"LEFT JOIN y{year} ON y{first}.student = y{year}.student" for year in others)
    return int(database.sql(f"SELECT {columns} FROM y{first} {joins}").to_arrow_table().num_rows)


def assess_all(paths: list[Path]) -> bool:
    """Assess every window by the command that a user types."""
    known = [part for name in KNOWN for part in ("-q", name)]
    secrets = [part for name in SECRETS for part in ("-s", name)]
    start = time.perf_counter()
    command = [sys.executable, "-m", "glasshouse", "assess", *map(str, paths), "--id", "student"]
    done = subprocess.run(
        [*command, *known, *secrets, "--json"], check=True, capture_output=True, text=True
    )
    wall = time.perf_counter() - start
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    peak = used.ru_maxrss * 1024
    outcome = json.loads(done.stdout)
    for result in outcome["results"]:
        if len(result["quasi_identifiers"]) == len(KNOWN):
            guess = result["probabilistic"]
            print(
                f"  {len(result['datasets'])} datasets, {result['attack']} {result['sensitive'] or 'person':10}: "
                f"{guess['prior']:.6f} to {guess['posterior']:.6f}, certain {result['deterministic']['posterior']:.6f}"
            )
    print(
        f"all {len(paths)} windows, {len(outcome['results'])} attacks: {wall:.0f} s, "
        f"{used.ru_utime + used.ru_stime:.0f} CPU s, peak {peak / 2**30:.2f} GiB (promised: at most 8) "
        f"{'holds' if peak <= LIMIT else 'BROKEN'}"
    )
    return peak <= LIMIT


def main(people: int) -> bool:
    with tempfile.TemporaryDirectory() as folder:
        paths = write_years(Path(folder), people)
        within = assess_all(paths)
        tables = [encoded(path) for path in paths]
        database = join_in_duckdb(paths)
        assert collect(tables).table.records == joined_in_duckdb(database) == people
        quick = compare(
            f"join of {len(paths)} datasets of {people:,} people, DuckDB as baseline",
            ours=lambda: collect(tables),
            baseline=lambda: joined_in_duckdb(database),
            promise=3,
            repeats=2,
        )
    return within and quick


if __name__ == "__main__":
    sys.exit(not main(int(sys.argv[1]) if len(sys.argv) > 1 else PEOPLE))
