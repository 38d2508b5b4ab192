"""Which k, l and t a table has as it is."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from glasshouse.arrays import Flags, Integers
from glasshouse.compiled import compiled
from glasshouse.errors import StudyError
from glasshouse.mitigation.distinct_rows import ValueCounts, distinct_rows, records_per_value
from glasshouse.table import EncodedTable
from glasshouse.table.generalised import without, without_suppressed


@dataclass(frozen=True)
class Secrecy:
    """How well the classes of a table hide one sensitive attribute."""

    sensitive: str
    """The attribute."""
    distinct: int
    """The l of distinct l-diversity: the least number of different values in a class."""
    entropy: float
    """The l of entropy l-diversity: the exponential of the least entropy of a class."""
    most_frequent: Fraction
    """The greatest share of one value in a class: the highest chance of a right guess."""
    distance: Fraction
    """The t of t-closeness with equal distances: the farthest that a class is from all records."""

    def to_dict(self) -> dict[str, Any]:
        """Return the figures as plain values."""
        return {
            "sensitive": self.sensitive,
            "l": self.distinct,
            "entropy_l": self.entropy,
            "most_frequent": float(self.most_frequent),
            "t": float(self.distance),
        }


@dataclass(frozen=True)
class Attained:
    """The strictest criteria that all classes of a table meet."""

    k: int
    """The size of the smallest class."""
    classes: int
    """The number of classes."""
    records: int
    """The number of records in them."""
    secrets: tuple[Secrecy, ...]
    """How well each sensitive attribute is hidden."""

    @property
    def average(self) -> Fraction:
        """The chance of naming a record, over all: one over the mean size of a class."""
        return Fraction(self.classes, self.records)

    def to_dict(self) -> dict[str, Any]:
        """Return the figures as plain values."""
        return self._whole() | {"sensitive": [secret.to_dict() for secret in self.secrets]}

    def to_frame(self) -> pa.Table:
        """Return one row per sensitive attribute, or one without any: the k, l and t of the table."""
        rows = [self._whole() | secret.to_dict() for secret in self.secrets] or [self._whole()]
        schema = [
            *((name, pa.int64()) for name in ("k", "classes", "records")),
            ("sensitive", pa.string()),
            ("l", pa.int64()),
            *((name, pa.float64()) for name in ("entropy_l", "most_frequent", "t")),
        ]
        return pa.Table.from_pylist(rows, schema=pa.schema(schema))

    def _whole(self) -> dict[str, Any]:
        return {"k": self.k, "classes": self.classes, "records": self.records}


def attained(
    table: EncodedTable,
    *,
    quasi_identifiers: Sequence[str] | None = None,
    sensitive: Sequence[str] | None = None,
    suppressed: Flags | None = None,
) -> Attained:
    """Tell which k, l and t a table has.

    Args:
        table: The records.
        quasi_identifiers: What makes two records look alike; by default the table's quasi-identifiers.
        sensitive: The sensitive attributes; by default the table's.
        suppressed: Which records are suppressed; by default those that hold ``*`` in every quasi-identifier, beside
            others that do not. They are in no class, but among all records when it comes to t.

    Raises:
        DataError: A column is not in the table.
        StudyError: There is no quasi-identifier, or every record is suppressed.

    >>> import pyarrow as pa
    >>> from glasshouse.table import read
    >>> people = pa.table({"age": ["2*", "2*", "3*", "3*"], "ill": ["flu", "hiv", "flu", "flu"]})
    >>> levels = attained(read(people, quasi_identifiers=["age"], sensitive=["ill"]))
    >>> levels.k, levels.secrets[0].distinct, levels.secrets[0].most_frequent, levels.secrets[0].distance
    (2, 1, Fraction(1, 1), Fraction(1, 4))
    """
    known = table.quasi_identifiers if quasi_identifiers is None else quasi_identifiers
    names = table.sensitive if sensitive is None else sensitive
    retained = (
        without_suppressed(table, known) if suppressed is None else without(table, suppressed)
    )
    if not retained.records:
        raise StudyError(
            "{table}: every record is suppressed, so that there is no class", table=table.name
        )
    rows = distinct_rows(retained, known, names)
    return Attained(
        k=int(rows.weights.min()),
        classes=len(rows.weights),
        records=retained.records,
        secrets=tuple(
            _secrecy(name, rows.secrets[name], rows.weights, retained, table) for name in names
        ),
    )


def _secrecy(
    name: str, counts: ValueCounts, sizes: Integers, retained: EncodedTable, table: EncodedTable
) -> Secrecy:
    everywhere = dict(
        zip(
            table.column(name).values.to_pylist(),
            records_per_value(table.column(name)).tolist(),
            strict=True,
        )
    )
    values = retained.column(name).values.to_pylist()
    reference = np.array([everywhere[value] for value in values], np.int64)
    records = table.records
    fewest, entropy, most, far = _extremes(
        counts.starts, counts.values, counts.counts, sizes, reference, float(records)
    )
    size, farthest = int(sizes[far]), slice(counts.starts[far], counts.starts[far + 1])
    moved = [
        max(0, int(count) * records - int(reference[value]) * size)
        for value, count in zip(counts.values[farthest], counts.counts[farthest], strict=True)
    ]
    return Secrecy(
        sensitive=name,
        distinct=int(fewest),
        entropy=float(np.exp(entropy)),
        most_frequent=Fraction(int(counts.counts[most[1]]), int(sizes[most[0]])),
        distance=Fraction(sum(moved), size * records),
    )


@compiled
def _extremes(
    starts: Integers,
    values: NDArray[np.uint32],
    counts: Integers,
    sizes: Integers,
    reference: Integers,
    records: float,
) -> tuple[int, float, tuple[int, int], int]:
    """Return the fewest values, the least entropy, where the greatest share is, and the farthest class.

    How far a class is: Σ max(0, c/n − R/N), which is half the sum of the absolute differences of shares.
    """
    fewest, entropy, share, distance = values.size + 1, np.inf, -1.0, -1.0
    most, far = (0, 0), 0
    for number in range(sizes.size):
        # Add up the class's entropy and its distance from all records.
        size, spent, moved = float(sizes[number]), 0.0, 0.0
        fewest = min(fewest, starts[number + 1] - starts[number])
        for i in range(starts[number], starts[number + 1]):
            spent += counts[i] * np.log(float(counts[i]))
            moved += max(0.0, counts[i] / size - reference[values[i]] / records)
            if counts[i] / size > share:
                share, most = counts[i] / size, (number, i)
        # Keep it where it is the worst so far.
        entropy = min(entropy, max(0.0, np.log(size) - spent / size))
        if moved > distance:
            distance, far = moved, number
    return fewest, entropy, most, far
