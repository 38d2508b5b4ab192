"""A whole sweep of a large table: wall and CPU seconds, and memory above the encoded table."""

from __future__ import annotations

import resource
import time
from collections.abc import Callable

from glasshouse.microdata import Sweep, sweep
from glasshouse.progress import resident_bytes
from glasshouse.table import EncodedTable


def swept(make: Callable[[], EncodedTable]) -> tuple[EncodedTable, Sweep, float]:
    """Make a table, sweep it, print what both took, and return the GiB that the sweep took above the table."""
    start = time.perf_counter(), time.process_time()
    table = make()
    print(
        f"generated and encoded {table.records:,} records: wall {time.perf_counter() - start[0]:.0f} s, "
        f"CPU {time.process_time() - start[1]:.0f} s",
        flush=True,
    )
    codes = sum(column.codes.nbytes for column in table.columns.values()) / 2**30
    before = resident_bytes() / 2**30
    start = time.perf_counter(), time.process_time()
    outcome = sweep(table)
    wall, cpu = time.perf_counter() - start[0], time.process_time() - start[1]
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
    print(
        f"{len(outcome.masks):,} subsets: wall {wall:.0f} s, CPU {cpu:.0f} s; codes {codes:.2f} GiB, peak "
        f"{peak:.2f} GiB, {peak - before:.2f} GiB above the table"
    )
    return table, outcome, peak - before
