"""What an instance must be: tables of whole numbers that belong together, and sums that fit into 64 bits."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from glasshouse.errors import DataError, quoted
from glasshouse.language import text

if TYPE_CHECKING:
    from glasshouse.totals.instance import Instance

NONE = "NONE"
"""The name of the bin for records that the publisher left out."""
LARGEST_SUM = 2**62
"""Sums are kept below this, so that the difference of two of them is a 64-bit integer."""

Integers = NDArray[np.int64]
"""A table of scaled measures."""


def check_instance(given: Instance) -> None:
    """Make sure that tables, names and numbers belong together.

    Raises:
        DataError: They do not.
    """
    _check_shapes(given)
    _check_names(given)
    _check_values(given)
    _check_entities(given)


def whole_numbers(rows: Any, what: str) -> Integers:
    """Return a table of whole numbers.

    Raises:
        DataError: It is none.
    """
    if not isinstance(rows, Sequence) or isinstance(rows, str) or not rows:
        raise DataError(text("{what} is no table of whole numbers", what=what))
    for row in rows:
        if not isinstance(row, Sequence) or isinstance(row, str) or len(row) != len(rows[0]):
            raise DataError(
                text("{what} is no table: its rows are lists of equal length", what=what)
            )
        for value in row:
            if not isinstance(value, int) or isinstance(value, bool):
                raise DataError(
                    text(
                        "{what} holds {value}; scaled measures are whole numbers",
                        what=what,
                        value=repr(value),
                    )
                )
            if abs(value) >= LARGEST_SUM:
                raise DataError(
                    text(
                        "{what}: {value} needs more than 62 bits; keep fewer decimals",
                        what=what,
                        value=str(value),
                    )
                )
    return np.array(rows, np.int64).reshape(len(rows), -1)


def _check_shapes(given: Instance) -> None:
    if given.packages.ndim != 2 or given.low.ndim != 2 or given.halfwidth.ndim != 1:
        raise DataError(
            text(
                "{name}: packages and bins are tables, a row of measures for each", name=given.name
            )
        )
    packages, bins, width = given.size
    if not packages or not bins or not width:
        raise DataError(
            text("{name} needs at least one package, one bin and one measure", name=given.name)
        )
    if given.high.shape != given.low.shape:
        raise DataError(
            text("{name}: give every bin a low and a high end in each measure", name=given.name)
        )
    counts = {
        text("the packages"): given.packages.shape[1],
        text("the half-widths"): len(given.halfwidth),
        text("the names of measures"): len(given.measures),
        text("the scales"): len(given.scale),
    }
    for what, count in counts.items():
        if count != width:
            raise DataError(
                text(
                    "{name}: the bins have {measures} measures, {what} {given}",
                    name=given.name,
                    measures=str(width),
                    what=what,
                    given=str(count),
                )
            )


def _check_names(given: Instance) -> None:
    packages, bins, _ = given.size
    if len(given.package_names) != packages:
        raise DataError(
            text(
                "{name} has {packages} packages, but {names} names for them",
                name=given.name,
                packages=str(packages),
                names=str(len(given.package_names)),
            )
        )
    if len(given.bin_names) != bins:
        raise DataError(
            text(
                "{name} has {bins} bins, but {names} names for them",
                name=given.name,
                bins=str(bins),
                names=str(len(given.bin_names)),
            )
        )
    repeated = [name for name in given.bin_names if given.bin_names.count(name) > 1]
    if repeated:
        raise DataError(
            text(
                "{name}: bin {bin} is given twice; add up its totals",
                name=given.name,
                bin=quoted(repeated[:1]),
            )
        )


def _check_values(given: Instance) -> None:
    if (given.packages < 0).any():
        row, column = (int(each[0]) for each in np.nonzero(given.packages < 0))
        raise DataError(
            text(
                '{name}: package {package} has a negative "{measure}"; reconstruction needs measures from 0, so leave '
                "such records out or split the measure",
                name=given.name,
                package=quoted([given.package_names[row]]),
                measure=given.measures[column],
            )
        )
    if (given.low > given.high).any():
        row = int(np.nonzero(given.low > given.high)[0][0])
        raise DataError(
            text(
                "{name}: the window of bin {bin} is empty",
                name=given.name,
                bin=quoted([given.bin_names[row]]),
            )
        )
    if (given.halfwidth < 0).any():
        raise DataError(text("{name}: a half-width is negative; give them from 0", name=given.name))
    if min(given.scale) < 1:
        raise DataError(
            text("{name}: a scale is below 1; it is 100 for two decimals", name=given.name)
        )
    widest = 2 * given.halfwidth.astype(object) * (len(given.packages) + 1)
    sums = given.packages.sum(axis=0, dtype=object) + widest
    ends = (
        np.abs(given.high.astype(object)).sum(axis=0),
        np.abs(given.low.astype(object)).sum(axis=0),
    )
    most = np.maximum(sums, np.maximum(*ends) + widest)
    if (most >= LARGEST_SUM).any():
        column = int(np.nonzero(most >= LARGEST_SUM)[0][0])
        raise DataError(
            text(
                '{name}: the sums of "{measure}" need more than 62 bits; keep fewer decimals',
                name=given.name,
                measure=given.measures[column],
            )
        )


def _check_entities(given: Instance) -> None:
    if given.entities is None:
        return
    if len(given.entities) != len(given.low):
        raise DataError(
            text(
                "{name} has {bins} bins, but entities for {given} of them",
                name=given.name,
                bins=str(len(given.low)),
                given=str(len(given.entities)),
            )
        )
    for name, count in zip(given.bin_names, given.entities, strict=True):
        if name == NONE and count is None:
            continue
        if not isinstance(count, int) or isinstance(count, bool) or count < 1:
            raise DataError(
                text(
                    "{name}: bin {bin} has no entities in the register, although something is published about it; "
                    "complete the register, or leave entities out",
                    name=given.name,
                    bin=quoted([name]),
                )
            )
