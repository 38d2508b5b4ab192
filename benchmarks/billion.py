"""Towards a billion records on one machine: synthetic students from Parquet, all 2,047 subsets, within a memory.

    python benchmarks/billion.py --records 250000000 --memory 6G

Reads an eighth of the records, then all of them, each in a process of its own, and prints what that took: CPU seconds
per record, the peak of memory, and the exponent by which CPU grows with the records. What a billion would take is
extrapolated from the two, and said to be so; with 1,000,000,000 records it is measured. Promises: a peak within the
memory and a tenth, and at most 5 CPU microseconds per record.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
import time
from itertools import chain
from math import log
from pathlib import Path

from glasshouse import synthetic
from glasshouse.cli.options import size_in_bytes
from glasshouse.synthetic.stream import write_batches

PROMISED_MICROSECONDS = 5.0
BILLION = 1_000_000_000
SMALLER = 8
"""The growth is measured from a part of the records as small as this."""

CHILD = """
import json, resource, sys, time
import glasshouse as gh
from glasshouse import synthetic

path, memory = sys.argv[1], int(sys.argv[2])
census = synthetic.generator("school-census")
columns = {"quasi_identifiers": census.quasi_identifiers, "sensitive": census.sensitive}
gh.assess(gh.read(synthetic.table(census.name, records=2_000), **columns))  # which loads what was compiled
ready = time.process_time(), time.perf_counter()
table = gh.read(path, memory=memory, **columns)
read = time.process_time() - ready[0]
run = gh.assess(table, memory=memory)
print(json.dumps({
    "records": run.records,
    "subsets": len(run.outcome.sweep.masks),
    "read": read,
    "cpu": time.process_time() - ready[0],
    "wall": time.perf_counter() - ready[1],
    "peak": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024,
}))
"""


def write(records: int, path: Path) -> None:
    """Write so many students: of one census, or where it has not so many, of several years with seeds of their own."""
    census = synthetic.generator("school-census")
    years = range(-(-records // census.most_records))
    streams = (
        census.batches(min(census.most_records, records - year * census.most_records), seed=year)
        for year in years
    )
    write_batches(chain.from_iterable(streams), schema=census.schema, path=path)


def measured(records: int, memory: int, folder: Path) -> dict[str, float]:
    """Write so many records, assess them in a process of its own, print and return what that took."""
    start = time.perf_counter()
    path = folder / "census.parquet"
    write(records, path)
    size = path.stat().st_size / 2**30
    print(
        f"{records:,} records: {size:.2f} GiB of Parquet in {time.perf_counter() - start:.0f} s",
        flush=True,
    )
    command = [sys.executable, "-c", CHILD, str(path), str(memory)]
    took: dict[str, float] = json.loads(
        subprocess.run(command, check=True, stdout=subprocess.PIPE).stdout
    )
    path.unlink()
    print(
        f"  {took['subsets']:,} subsets: {took['cpu'] / records * 1e6:.2f} CPU us per record, "
        f"{took['read'] / records * 1e6:.2f} of them to read; {took['cpu']:.0f} CPU s, wall {took['wall']:.0f} s; "
        f"peak {took['peak'] / 2**20:,.0f} MiB, {took['peak'] / memory:.2f} of the memory",
        flush=True,
    )
    return took


def main() -> bool:
    """Measure, extrapolate, and tell whether what is promised holds."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--records", type=int, default=10_000_000)
    parser.add_argument("--memory", default="1G", help="what the process may take, such as 6G")
    parser.add_argument(
        "--folder", help="where the file is written; TMPDIR is where codes and records go"
    )
    options = parser.parse_args()
    memory = size_in_bytes(options.memory) or 0
    with tempfile.TemporaryDirectory(dir=options.folder) as folder:
        small = measured(options.records // SMALLER, memory, Path(folder))
        large = measured(options.records, memory, Path(folder))
    exponent = log(large["cpu"] / small["cpu"]) / log(large["records"] / small["records"])
    print(f"CPU grows with the records to the power of {exponent:.2f}")
    if options.records < BILLION:
        seconds = large["cpu"] * (BILLION / large["records"]) ** max(1.0, exponent)
        print(
            f"a billion records, extrapolated, not measured: {seconds:,.0f} CPU s, "
            f"{seconds / BILLION * 1e6:.2f} CPU us per record"
        )
    each, share = large["cpu"] / large["records"] * 1e6, large["peak"] / memory
    print(
        f"promised: at most {PROMISED_MICROSECONDS:g} CPU us per record and 1.1 times the memory; "
        f"measured: {each:.2f} and {share:.2f}"
    )
    return each <= PROMISED_MICROSECONDS and share <= 1.1


if __name__ == "__main__":
    sys.exit(not main())
