"""The synthetic school census as an encoded table, for the benchmarks."""

from __future__ import annotations

from glasshouse import synthetic
from glasshouse.table import EncodedTable, read


def school_census(records: int, *, attributes: int = 11) -> EncodedTable:
    """Return so many synthetic students with so many quasi-identifiers and both sensitive attributes."""
    census = synthetic.generator("school-census")
    return read(
        Stream(records),
        quasi_identifiers=census.quasi_identifiers[-attributes:],
        sensitive=census.sensitive,
        name="school-census",
    )


class Stream:
    """A generator's batches as an Arrow stream, so that no more than one of them is in memory."""

    def __init__(self, records: int, *, name: str = "school-census", seed: int = 1) -> None:
        self._records = records
        self._generator = synthetic.generator(name)
        self._seed = seed

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        """Hand over the batches by the Arrow stream protocol."""
        import pyarrow as pa

        batches = self._generator.batches(self._records, seed=self._seed)
        reader = pa.RecordBatchReader.from_batches(self._generator.schema, batches)
        return reader.__arrow_c_stream__(requested_schema)
