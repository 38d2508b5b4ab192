"""Seeded generators of realistic microdata, calibrated to published figures.

No record describes a person: the demo, the tests and the benchmarks use them in place of releases
that cannot be shared.

>>> from glasshouse import synthetic
>>> synthetic.names()
('school-census', 'outpatient', 'population', 'visits')
>>> students = synthetic.table("school-census", records=1_000)
>>> students.num_rows, students.column_names[-2:]
(1000, ['disability', 'transport'])
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pyarrow as pa

from glasshouse.errors import StudyError
from glasshouse.language import unknown_name
from glasshouse.synthetic.census_tables import write_census_tables
from glasshouse.synthetic.outpatient import OUTPATIENT
from glasshouse.synthetic.population import POPULATION, PopulationStudy, study
from glasshouse.synthetic.school_census import SCHOOL_CENSUS
from glasshouse.synthetic.stream import Generator, write_batches
from glasshouse.synthetic.trade import Trade, write_trade, write_trade_study
from glasshouse.synthetic.visits import VISITS

__all__ = [
    "Generator",
    "PopulationStudy",
    "Trade",
    "batches",
    "generator",
    "names",
    "study",
    "table",
    "write",
    "write_census_tables",
    "write_trade",
    "write_trade_study",
]

_GENERATORS = {maker.name: maker for maker in (SCHOOL_CENSUS, OUTPATIENT, POPULATION, VISITS)}
TABLES = "tables"
"""What the command calls tables of the school census, which are several files, too."""
TRADE = "trade"
"""What the command calls a month of trade, which is several files and so has functions of its own."""


def names() -> tuple[str, ...]:
    """Return the names of all generators."""
    return tuple(_GENERATORS)


def generator(name: str) -> Generator:
    """Return the generator of that name: its title, columns, roles and sizes.

    Raises:
        StudyError: there is none.
    """
    if name not in _GENERATORS:
        known = [*_GENERATORS, TRADE]
        raise StudyError(unknown_name("generator", name, "glasshouse.synthetic", known))
    return _GENERATORS[name]


def batches(name: str, *, records: int, seed: int = 0) -> Iterator[pa.RecordBatch]:
    """Stream the records; memory holds one batch and the generator's world, whatever the number.

    Raises:
        StudyError: the name, the number of records or the seed is not possible.
    """
    return generator(name).batches(records, seed=seed)


def table(name: str, *, records: int, seed: int = 0) -> pa.Table:
    """Return all records at once, about 50 bytes each in memory.

    Raises:
        StudyError: the name, the number of records or the seed is not possible.
    """
    return pa.Table.from_batches(
        batches(name, records=records, seed=seed), schema=generator(name).schema
    )


def write(name: str, *, records: int, path: str | os.PathLike[str], seed: int = 0) -> Path:
    """Write the records to a `.parquet`, `.csv` or `.csv.gz` file and return its path.

    A file that exists is replaced once all records are written; a failure leaves nothing behind.

    Raises:
        StudyError: the name, the number of records, the seed or the suffix is not possible.
        DataError: the file cannot be written there.
    """
    target = Path(path)
    stream = batches(name, records=records, seed=seed)
    write_batches(stream, schema=generator(name).schema, path=target)
    return target
