"""The same students a year later: what a second census adds to the first.

The shares of students who leave, change school or declare another ethnicity are assumptions, of the order that school
statistics report; they are not calibrated to a publication. Whoever changes school goes to that of a random student
who lives in the same city, and travels as one does there.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from glasshouse.errors import DataError, quoted
from glasshouse.language import text

LEAVING = 0.08
"""The share of students who are not in the census a year later."""
CHANGING_SCHOOL = 0.12
"""The share of those who stay that are at another school."""
DECLARING_ANEW = 0.05
"""The share of those who stay whose ethnicity is declared as that of a random student of their school."""
WITH_THE_SCHOOL = ("school", "school_type", "transport")
NEEDED = ("city_of_residence", "ethnicity", *WITH_THE_SCHOOL)

Places = npt.NDArray[np.int64]


def a_year_later(students: pa.Table, *, seed: int = 0) -> pa.Table:
    """Return a census of the same students one year later, in another order.

    Args:
        students: The census, with an identifier of each student if they are to be found again.
        seed: What the changes follow from.

    Raises:
        DataError: A column of the school census is missing.

    >>> from glasshouse import synthetic
    >>> later = a_year_later(synthetic.table("school-census", records=1_000))
    >>> 900 < later.num_rows < 940
    True
    """
    missing = [name for name in NEEDED if name not in students.column_names]
    if missing:
        raise DataError(
            text(
                "the census has no column {columns}; make it with school-census",
                columns=quoted(missing),
            )
        )
    rng = np.random.default_rng(seed)
    staying = np.flatnonzero(rng.random(students.num_rows) >= LEAVING)
    rng.shuffle(staying)
    later = students.take(pa.array(staying))
    moved = np.flatnonzero(rng.random(len(staying)) < CHANGING_SCHOOL)
    likeness = _alike(later.column("city_of_residence"), moved, rng)
    for name in WITH_THE_SCHOOL:
        later = _with_values_of(later, name, moved, likeness)
    declared = np.flatnonzero(rng.random(len(staying)) < DECLARING_ANEW)
    return _with_values_of(
        later, "ethnicity", declared, _alike(later.column("school"), declared, rng)
    )


def _alike(column: pa.ChunkedArray, places: Places, rng: np.random.Generator) -> Places:
    """Return, for each place, a random place with the same value."""
    codes = column.combine_chunks().dictionary_encode().indices.to_numpy(zero_copy_only=False)
    order = np.argsort(codes, kind="stable")
    starts = np.searchsorted(codes[order], np.arange(codes.max() + 2))
    first, size = starts[codes[places]], np.diff(starts)[codes[places]]
    alike: Places = order[first + (rng.random(len(places)) * size).astype(np.int64)]
    return alike


def _with_values_of(table: pa.Table, name: str, places: Places, others: Places) -> pa.Table:
    """Return the table with the values of other places in some places of one column."""
    taken = np.arange(table.num_rows)
    taken[places] = others
    column = table.column(name).take(pa.array(taken))
    return table.set_column(table.column_names.index(name), name, column)
