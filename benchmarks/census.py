"""The synthetic school census as an encoded table, for the benchmarks."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pyarrow as pa

from glasshouse import synthetic
from glasshouse.table import EncodedColumn, EncodedTable, read


def school_census(records: int, *, attributes: int = 11) -> EncodedTable:
    """Return so many synthetic students with so many quasi-identifiers and both sensitive attributes."""
    census = synthetic.generator("school-census")
    table = read(
        Stream(records),
        quasi_identifiers=census.quasi_identifiers[-attributes:],
        sensitive=census.sensitive,
        name="school-census",
    )
    for name, values in list(FURTHER.items())[: max(0, attributes - 11)]:
        table = with_random_attribute(table, name, values)
    return table


FURTHER = {"class_group": 30, "shift": 3}
"""Attributes beyond the eleven, of so many values, drawn at random."""


def with_random_attribute(table: EncodedTable, name: str, values: int) -> EncodedTable:
    """Return the table with one more quasi-identifier."""
    codes = np.random.default_rng(values).integers(0, values, table.records, np.uint8)
    column = EncodedColumn(name, codes, pa.array(map(str, range(values)), pa.large_string()))
    wider = replace(table, columns={**table.columns, name: column})
    return wider.with_roles(
        quasi_identifiers=[*table.quasi_identifiers, name], sensitive=table.sensitive
    )


class Stream:
    """A generator's batches as an Arrow stream, so that no more than one of them is in memory."""

    def __init__(self, records: int, *, name: str = "school-census", seed: int = 1) -> None:
        self._records = records
        self._generator = synthetic.generator(name)
        self._seed = seed

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        """Hand over the batches by the Arrow stream protocol."""
        batches = self._generator.batches(self._records, seed=self._seed)
        reader = pa.RecordBatchReader.from_batches(self._generator.schema, batches)
        return reader.__arrow_c_stream__(requested_schema)
