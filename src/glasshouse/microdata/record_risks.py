"""The risk of each record: how surely its person is named, and how surely each secret of theirs is guessed.

A record's class are the records alike on the quasi-identifiers. The adversary who knows those of a person names the
person's record with probability 1 / size, and guesses a secret right with probability max_x n(x) / size, where n(x)
counts the value x in the class. She is certain where that is 1. Every record is taken to be as likely as any other to
be the person's.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
from numba import njit
from numpy.typing import NDArray

from glasshouse.arrays import Flags, Floats, Integers
from glasshouse.errors import StudyError
from glasshouse.language import marked, text, unknown_name
from glasshouse.table import EncodedTable
from glasshouse.table.dictionary import Codes
from glasshouse.table.partition import partition

SENSITIVE_WARNING = marked(
    "The risk of each record is itself personal data: it shows whose records are easily named, and whose secrets are "
    "easily guessed. Keep it as closely as the data it was computed from, and do not publish it."
)
"""What the user is told before per-record risks leave the program."""

Counts = NDArray[np.uint32]
"""Numbers of records; a table has fewer than 2³² of them."""


@dataclass(frozen=True)
class RecordRisks:
    """What an adversary who knows the quasi-identifiers achieves against each record, in the order of the file."""

    dataset: str
    """The name of the release."""
    quasi_identifiers: tuple[str, ...]
    """What she knows of a person."""
    sensitive: tuple[str, ...]
    """The secrets."""
    sizes: Counts
    """Per record, how many records are in its class, itself included."""
    most: Counts
    """Per secret (row) and record (column), how many records of its class have the most frequent value."""
    positions: Integers | None = None
    """Per record, its position in the file, where records of it were left out."""

    @property
    def records(self) -> int:
        """The number of records."""
        return len(self.sizes)

    @property
    def reidentification(self) -> Floats:
        """Per record, the probability that she names it: 1 / size."""
        chance: Floats = 1.0 / self.sizes
        return chance

    def success(self, secret: str) -> Floats:
        """Return, per record, the probability that her best guess of a secret is right."""
        chance: Floats = self.most[self._row(secret)] / self.sizes
        return chance

    def certain(self, secret: str) -> Flags:
        """Return, per record, whether its class has one value of a secret only."""
        single: Flags = self.most[self._row(secret)] == self.sizes
        return single

    def to_frame(self) -> pa.Table:
        """Return one row per record: the class size, and the probabilities as floats of the exact ratios.

        Where records of the file were left out, the column ``record`` says which one it is, counted from 1.
        The frame is personal data: see `SENSITIVE_WARNING`.
        """
        columns: dict[str, Any] = {} if self.positions is None else {"record": self.positions + 1}
        columns |= {"size": self.sizes, "reidentification": self.reidentification}
        for name in self.sensitive:
            columns[f"{name}: success"] = self.success(name)
            columns[f"{name}: certain"] = self.certain(name)
        return pa.table(columns)

    def _row(self, secret: str) -> int:
        if secret not in self.sensitive:
            where = text("the record risks of {dataset}", dataset=self.dataset)
            raise StudyError(unknown_name("secret", secret, where, self.sensitive))
        return self.sensitive.index(secret)


def record_risks(
    table: EncodedTable,
    *,
    quasi_identifiers: Sequence[str] | None = None,
    sensitive: Sequence[str] | None = None,
) -> RecordRisks:
    """Tell of every record how surely an adversary names it, and guesses its secrets.

    The outcome is personal data: see `SENSITIVE_WARNING`.

    Args:
        table: The release.
        quasi_identifiers: What the adversary knows of a person; by default the table's quasi-identifiers.
        sensitive: The secrets; by default the table's sensitive attributes.

    Raises:
        DataError: A column is not in the table.
        StudyError: There is no quasi-identifier, or a column is given twice.

    >>> import pyarrow as pa
    >>> from glasshouse.table import read
    >>> people = pa.table({"age": [20, 30, 30, 30], "ill": ["a", "b", "b", "c"]})
    >>> risks = record_risks(read(people, quasi_identifiers=["age"], sensitive=["ill"]))
    >>> risks.sizes.tolist(), risks.most[0].tolist(), risks.certain("ill").tolist()
    ([1, 3, 3, 3], [1, 2, 2, 2], [True, False, False, False])
    """
    names = tuple(table.quasi_identifiers if quasi_identifiers is None else quasi_identifiers)
    secrets = tuple(table.sensitive if sensitive is None else sensitive)
    if not names:
        raise StudyError(
            text("the risk of each record needs at least one quasi-identifier; name one")
        )
    table.with_roles(quasi_identifiers=names, sensitive=secrets, identifier=table.identifier)
    classes = partition(table, names)
    most = np.empty((len(secrets), table.records), np.uint32)
    for own, name in zip(most, secrets, strict=True):
        column = table.column(name)
        _most_frequent(classes.order, classes.starts, column.codes, column.cardinality, own)
    return RecordRisks(
        dataset=table.name,
        quasi_identifiers=names,
        sensitive=secrets,
        sizes=classes.sizes.astype(np.uint32)[classes.numbers],
        most=most,
        positions=table.positions,
    )


@njit(cache=True, nogil=True)  # type: ignore[untyped-decorator]
def _most_frequent(
    order: NDArray[np.uint32],
    starts: Integers,
    codes: Codes,
    cardinality: int,
    most: Counts,
) -> None:
    """Give every record the count of the most frequent value in its class."""
    count = np.zeros(cardinality, np.uint32)
    for number in range(starts.size - 1):
        begin, end = starts[number], starts[number + 1]
        best = np.uint32(0)
        for i in range(begin, end):
            code = codes[order[i]]
            count[code] += np.uint32(1)
            best = max(best, count[code])
        for i in range(begin, end):
            record = order[i]
            count[codes[record]] = 0
            most[record] = best
