"""How the attempts of a phase are kept: as a table, and back."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from glasshouse.totals.attempts import Attempt

_SCHEMA = pa.schema(
    {
        "part": pa.int64(),
        "status": pa.string(),
        "method": pa.string(),
        "limit": pa.float64(),
        "seconds": pa.float64(),
        "allocations": pa.string(),
        "packages": pa.int64(),
        "feasible": pa.large_binary(),
        "shares": pa.large_binary(),
        "joined": pa.large_binary(),
        "uniform": pa.large_binary(),
        "bayes": pa.large_binary(),
    }
)


def attempts_table(attempts: Iterable[Attempt]) -> pa.Table:
    """Return attempts as a table, a row each."""
    rows = [
        {
            "part": each.part,
            "status": each.status,
            "method": each.method,
            "limit": each.limit,
            "seconds": each.seconds,
            "allocations": None if each.allocations is None else f"{each.allocations:x}",
            "packages": 0 if each.feasible is None else len(each.feasible),
            "feasible": None
            if each.feasible is None
            else np.packbits(each.feasible, axis=1).tobytes()
            + each.feasible.shape[1].to_bytes(8, "little"),
            **{
                name: None if getattr(each, name) is None else getattr(each, name).tobytes()
                for name in ("shares", "joined", "uniform", "bayes")
            },
        }
        for each in attempts
    ]
    return pa.Table.from_pylist(rows, schema=_SCHEMA)


def attempts_of(table: pa.Table) -> list[Attempt]:
    """Return the attempts of such a table."""
    found = []
    for row in table.to_pylist():
        values: dict[str, Any] = dict(row)
        packages = values.pop("packages")
        for name in ("shares", "joined", "uniform", "bayes"):
            values[name] = None if row[name] is None else np.frombuffer(row[name], np.float64)
        values["allocations"] = None if row["allocations"] is None else int(row["allocations"], 16)
        values["feasible"] = (
            None if row["feasible"] is None else _unpacked(row["feasible"], packages)
        )
        found.append(Attempt(**values))
    return found


def _unpacked(content: bytes, packages: int) -> NDArray[np.bool_]:
    bins = int.from_bytes(content[-8:], "little")
    table = np.frombuffer(content[:-8], np.uint8).reshape(packages, -1)
    return np.unpackbits(table, axis=1, count=bins).astype(bool)
