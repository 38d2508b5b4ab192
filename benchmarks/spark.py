"""Spark against one machine: the synthetic school census from Parquet, every subset of 11 quasi-identifiers.

Prints the CPU seconds of both, all processes of Spark included and its start left out, their ratio, and how many
records are moved for each step. Every figure must be the same. Nothing else is promised: docs/scale.md tells when to
use it.
"""

from __future__ import annotations

import sys
import time
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from census import Stream
from glasshouse import synthetic, verbs
from glasshouse.engines.spark.assess import answer
from glasshouse.engines.spark.session import session

RECORDS = (2_000_000, 10_000_000)


def main(sizes: list[int]) -> bool:
    spark = session("local[2]")
    spark.range(1).count()
    return all(compared(spark, records) for records in sizes)


def compared(spark: Any, records: int) -> bool:
    census = synthetic.generator("school-census")
    roles: dict[str, Any] = {
        "quasi_identifiers": census.quasi_identifiers,
        "sensitive": census.sensitive,
    }
    with TemporaryDirectory() as folder:
        path = Path(folder) / "census.parquet"
        reader = pa.RecordBatchReader.from_stream(Stream(records, name=census.name))
        with pq.ParquetWriter(path, reader.schema) as writer:
            for batch in reader:
                writer.write_batch(batch)
        start = time.process_time(), time.perf_counter()
        local = verbs.assess(path, **roles)
        here = time.process_time() - start[0], time.perf_counter() - start[1]
        begin = cluster_seconds(spark) + time.process_time(), time.perf_counter()
        moved: list[tuple[int, int]] = []
        release: Any = verbs.read(spark.read.parquet(str(path)), name="census.parquet", **roles)
        run = answer(local.question, [release], on_moved=lambda *step: moved.append(step))
        there = (
            cluster_seconds(spark) + time.process_time() - begin[0],
            time.perf_counter() - begin[1],
        )
    same: bool = run.to_frame().equals(local.to_frame())
    print(
        f"{records:,} records: one machine {here[0]:.1f} CPU s ({here[1]:.1f} s), "
        f"Spark {there[0]:.1f} CPU s ({there[1]:.1f} s), ratio {there[0] / here[0]:.1f}; "
        f"figures {'the same' if same else 'DIFFERENT'}"
    )
    print("moved per step: " + " · ".join(f"{number:,}" for _, number in moved), flush=True)
    return same


def cluster_seconds(spark: Any) -> float:
    """Return the CPU time of the Java process, and of the Python workers that it started, dead or alive."""
    java = spark.sparkContext._jvm.java.lang.ProcessHandle.current().pid()
    children: dict[int, list[int]] = {}
    seconds: dict[int, float] = {}
    for entry in Path("/proc").glob("[0-9]*/stat"):
        try:
            fields = entry.read_text().rpartition(")")[2].split()
        except OSError:
            continue
        process = int(entry.parent.name)
        children.setdefault(int(fields[1]), []).append(process)
        seconds[process] = sum(map(int, fields[11:15])) / 100
    waiting, total = [java], 0.0
    while waiting:
        process = waiting.pop()
        total += seconds.get(process, 0.0)
        waiting += children.get(process, [])
    return total


if __name__ == "__main__":
    sys.exit(not main([int(size) for size in sys.argv[1:]] or list(RECORDS)))
