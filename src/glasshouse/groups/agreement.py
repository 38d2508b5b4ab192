"""Whether an original table is the one that a release was made of: record by record, or by counts."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from glasshouse.errors import DataError, quoted
from glasshouse.groups.release import Attribute, Release
from glasshouse.language import text
from glasshouse.table import Column, EncodedTable
from glasshouse.table.partition import refined


def check_generalised(
    release: Release,
    original: EncodedTable,
    rows: NDArray[np.int32],
    secrets: NDArray[np.int32],
    kept: NDArray[np.int64],
) -> None:
    """Compare each record with its own row of a horizontal release.

    Args:
        release: The release.
        original: The cleartext table.
        rows: Its non-sensitive values, in the codes and the order of the release.
        secrets: Its sensitive values, likewise.
        kept: The position of each in the original.

    Raises:
        DataError: A record does not fit its row; which record, and which attribute.
    """
    labels = release.codes[release.group_of_row]
    for place, attribute in enumerate(release.attributes):
        pairs = labels[:, place].astype(np.int64) * len(attribute.values) + rows[:, place]
        distinct, inverse = np.unique(pairs, return_inverse=True)
        held = [
            attribute.sets.holds(pair // len(attribute.values), pair % len(attribute.values))
            for pair in distinct.tolist()
        ]
        if not all(held):
            row = int(np.argmin(np.array(held)[inverse]))
            told = attribute.labels[int(labels[row, place])]
            value = attribute.values[int(rows[row, place])]
            raise DataError(
                _differs(
                    release,
                    original,
                    record=int(kept[row] + 1),
                    attribute=attribute.name,
                    value=value,
                    released=told,
                )
            )
    unlike = secrets != release.sensitive_codes
    if unlike.any():
        row = int(np.argmax(unlike))
        own = release.sensitive
        raise DataError(
            text(
                'record {record} of {original}: "{secret}" is '
                "{value}, but {release} tells "
                "{released}; give the table that the release was made of",
                record=int(kept[row] + 1),
                original=original.name,
                secret=", ".join(own.names),
                value=quoted([own.values[int(secrets[row])]]),
                release=release.name,
                released=quoted([own.values[int(release.sensitive_codes[row])]]),
            )
        )


def check_permuted(
    release: Release,
    original: EncodedTable,
    rows: NDArray[np.int32],
    secrets: NDArray[np.int32],
    kept: NDArray[np.int64],
) -> None:
    """Compare each record with its own row of a vertical release, and the sensitive values group by group.

    Which row of a group stands beside which sensitive value means nothing there: only how often a value is in a group
    can be compared. The arguments are those of `check_generalised`.

    Raises:
        DataError: A record does not fit its row, or its sensitive value is not in its group as often.
    """
    unlike = rows != release.codes
    if unlike.any():
        row = _first(unlike.any(axis=1), kept)
        place = int(np.argmax(unlike[row]))
        attribute = release.attributes[place]
        raise DataError(
            _differs(
                release,
                original,
                record=int(kept[row] + 1),
                attribute=attribute.name,
                value=attribute.values[int(rows[row, place])],
                released=attribute.values[int(release.codes[row, place])],
            )
        )
    own = release.sensitive
    width = len(own.values)
    cells = release.group_of_row * width + secrets
    many = np.bincount(cells, minlength=release.groups * width)
    told = np.bincount(
        release.group_of_row * width + release.sensitive_codes, minlength=release.groups * width
    )
    more = (many > told)[cells]
    if more.any():
        row = _first(more, kept)
        raise DataError(
            text(
                'record {record} of {original}: its group in {release} has {value} as "{secret}" less often than the '
                "original; give the table that the release was made of",
                record=int(kept[row] + 1),
                original=original.name,
                release=release.name,
                value=quoted([own.values[int(secrets[row])]]),
                secret=", ".join(own.names),
            )
        )


def check_counts(
    release: Release,
    original: EncodedTable,
    rows: NDArray[np.int32],
    secrets: NDArray[np.int32],
    kept: NDArray[np.int64],
) -> None:
    """Compare how often each sensitive value is there; of a vertical release also each combination of values.

    Raises:
        DataError: Something is there more often, or less.
    """
    own = release.sensitive
    counted = np.bincount(secrets, minlength=len(own.values))
    if (counted != release.counts).any():
        code = int(np.argmax(counted != release.counts))
        raise DataError(
            text(
                '{original} has {records} records with {value} as "'
                '{secret}", but {release} has {released}; give the table that the '
                "release was made of",
                original=original.name,
                records=int(counted[code]),
                value=quoted([own.values[code]]),
                secret=", ".join(own.names),
                release=release.name,
                released=int(release.counts[code]),
            )
        )
    if not release.is_vertical:
        return
    number, first = distinct_rows(np.concatenate([release.codes, rows]), release.attributes)
    half = release.records
    published = np.bincount(number[:half], minlength=len(first))
    own_count = np.bincount(number[half:], minlength=len(first))
    if (published != own_count).any():
        row = int(np.argmax((own_count > published)[number[half:]]))
        values = [
            each.values[code] for each, code in zip(release.attributes, rows[row], strict=True)
        ]
        names = quoted(each.name for each in release.attributes)
        raise DataError(
            text(
                "record {record} of {original}: {values} as {names} is there more often than in "
                "{release}; give the table that the release was made of",
                record=int(kept[row] + 1),
                original=original.name,
                values=quoted(values),
                names=names,
                release=release.name,
            )
        )


def _first(marks: NDArray[np.bool_], kept: NDArray[np.int64]) -> int:
    """Return, of the rows that are marked, the one whose record is the first in the original."""
    marked = np.flatnonzero(marks)
    return int(marked[np.argmin(kept[marked])])


def _differs(
    release: Release,
    original: EncodedTable,
    *,
    record: int,
    attribute: str,
    value: str,
    released: str,
) -> str:
    return text(
        'record {record} of {original}: "{attribute}" is {value}, but '
        "{release} tells {released}; give the table that the release was made of",
        record=record,
        original=original.name,
        attribute=attribute,
        value=quoted([value]),
        release=release.name,
        released=quoted([released]),
    )


def distinct_rows(
    rows: NDArray[np.int32], attributes: Sequence[Attribute]
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return, per row, the number of its combination, and per combination the first row that has it."""
    columns = [
        Column(
            each.name,
            rows[:, place].astype(np.uint32),
            pa.nulls(len(each.values), pa.large_string()),
        )
        for place, each in enumerate(attributes)
    ]
    classes = refined(columns, len(rows))
    return classes.numbers.astype(np.int64), classes.order[classes.starts[:-1]].astype(np.int64)
