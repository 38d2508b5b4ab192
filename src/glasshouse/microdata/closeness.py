"""Guesses of a number that need only be close: an income within 10% is an income learned.

The secret x of a record is a number, and the adversary says a number w. She wins if |x − w| ≤ δ, or |x − w| ≤ ρ·|x| for
a share ρ < 1. The numbers that one w is close to are an interval: those from a to b fit one *window* if b − a ≤ 2δ, or
(1 − ρ)·b ≤ (1 + ρ)·a for positive ones; negative ones mirror these, and 0 is met by 0 alone. With n(c) records in the
class c of what she knows, N in all:

- a close guess      Σ_c max over windows of the records of c in it / N   (Bayes vulnerability with this gain)
- close for certain  Σ_c [all of c fit one window] n(c) / N
- off                Σ_c Σ_{x in c} |x − median of c| / N                  (the loss of the guess that is off least)

and before, with one class of all records. Numbers are scaled to integers, and every comparison and sum is one of
integers: a share of records is one exact fraction. A wide tolerance makes guesses close before the attack, too, so that
both are always told.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from fractions import Fraction
from typing import Any, Self

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from glasshouse.arrays import Integers
from glasshouse.conditions import is_number
from glasshouse.errors import DataError
from glasshouse.language import marked
from glasshouse.microdata import closeness_kernel
from glasshouse.microdata.closeness_kernel import CERTAIN, CLOSE, OFF
from glasshouse.microdata.lattice import holds_whole_set, largest_size
from glasshouse.microdata.leakage import Leakage
from glasshouse.microdata.sweep_steps import mask_of, subset_masks
from glasshouse.study.assess import Tolerance
from glasshouse.table import EncodedColumn, EncodedTable
from glasshouse.table.generalised import without_suppressed
from glasshouse.table.partition import partition, with_facts_joined
from glasshouse.table.views import misfit

MOST_AT_ONCE = 13
"""Subsets of more attributes than this are answered one by one."""
_LARGEST = 1 << 62
"""Products and sums stay below this."""
_MOST_DECIMALS = 18
NO_NUMBER = marked(
    '{table}, record {record}: "{value}" in column "{column}" is not a number, so that it can be '
    "neither close to a guess nor added up; records with such values: {count}; say what stands for "
    "missing: `missing` {column}={value}"
)


@dataclass(frozen=True)
class Closeness:
    """How close a guess of a number comes, with each of some sets of quasi-identifiers."""

    secret: str
    """The sensitive attribute."""
    tolerance: str
    """How far a guess may be off, as it was asked for: ``10%`` of the true number, or ``5``."""
    records: int
    """The number of records in which the secret is known."""
    quasi_identifiers: tuple[str, ...]
    """What can be known of a person: bit i of a mask is the i-th."""
    masks: Integers
    """Per row, the set of what she knows: by size, then in the order of the attributes."""
    close: Integers
    """Per row, for how many records her best guess is close."""
    certain: Integers
    """Per row, for how many she knows that it is."""
    off: Integers
    """Per row, Σ|value − best guess| over all records, in units of 1 / scale."""
    before: tuple[int, int, int]
    """The same three sums for who knows the release only."""
    scale: int
    """How many units of `off` are 1."""

    def names(self, mask: int) -> tuple[str, ...]:
        """Return the attributes of a set."""
        return tuple(name for i, name in enumerate(self.quasi_identifiers) if (mask >> i) & 1)

    def row_of(self, names: Collection[str]) -> int:
        """Return the row of a set of attributes."""
        mask = mask_of(names, self.quasi_identifiers)
        return int(np.flatnonzero(self.masks == mask)[0])

    def guess(self, row: int = -1) -> Leakage:
        """Return the chance that a guess is close, before and with the set of a row; by default the last."""
        return Leakage(
            Fraction(self.before[CLOSE], self.records), Fraction(int(self.close[row]), self.records)
        )

    def certainty(self, row: int = -1) -> Leakage:
        """Return the chance that she knows her guess to be close."""
        return Leakage(
            Fraction(self.before[CERTAIN], self.records),
            Fraction(int(self.certain[row]), self.records),
        )

    def mean_error(self, row: int = -1) -> tuple[Fraction, Fraction]:
        """Return by how much the guess that is off least is off on average: before, and with the set of a row."""
        units = self.records * self.scale
        return Fraction(self.before[OFF], units), Fraction(int(self.off[row]), units)

    def best_by_size(self) -> list[int]:
        """Return, for each number of attributes, the row of the set with which a guess is close most often."""
        best: dict[int, int] = {}
        for row, mask in enumerate(self.masks.tolist()):
            size = mask.bit_count()
            if size not in best or self.close[row] > self.close[best[size]]:
                best[size] = row
        return list(best.values())

    def to_dict(self) -> dict[str, Any]:
        """Return it as plain values; probabilities and errors as floats of the exact ratios."""
        return {
            "sensitive": self.secret,
            "within": self.tolerance,
            "records": self.records,
            "subsets": self.to_frame().to_pylist(),
        }

    def to_sums(self) -> pa.Table:
        """Return one row per set with the sums that all figures are made of: whole numbers, for `from_sums`."""
        close, certain, off = self.before
        rows = len(self.masks)
        return pa.table(
            {
                "sensitive": [self.secret] * rows,
                "within": [self.tolerance] * rows,
                "records": [self.records] * rows,
                "scale": [self.scale] * rows,
                "quasi_identifiers": [list(self.names(mask)) for mask in self.masks.tolist()],
                "close_before": [close] * rows,
                "certain_before": [certain] * rows,
                "off_before": [off] * rows,
                "close": self.close,
                "certain": self.certain,
                "off": self.off,
            }
        )

    @classmethod
    def from_sums(cls, sums: pa.Table, quasi_identifiers: Sequence[str]) -> tuple[Self, ...]:
        """Return what `to_sums` wrote down of some secrets, given what can be known of a person."""
        order = tuple(quasi_identifiers)
        by_secret: dict[str, list[dict[str, Any]]] = {}
        for row in sums.to_pylist():
            by_secret.setdefault(row["sensitive"], []).append(row)

        def column(rows: Sequence[dict[str, Any]], name: str) -> Integers:
            return np.array([row[name] for row in rows], np.int64)

        return tuple(
            cls(
                secret=secret,
                tolerance=rows[0]["within"],
                records=rows[0]["records"],
                quasi_identifiers=order,
                masks=np.array(
                    [mask_of(row["quasi_identifiers"], order) for row in rows], np.int64
                ),
                close=column(rows, "close"),
                certain=column(rows, "certain"),
                off=column(rows, "off"),
                before=(rows[0]["close_before"], rows[0]["certain_before"], rows[0]["off_before"]),
                scale=rows[0]["scale"],
            )
            for secret, rows in by_secret.items()
        )

    def to_frame(self) -> pa.Table:
        """Return one row per set: a close guess, certainty and the mean error, before and after."""
        rows = [self._row(row, mask) for row, mask in enumerate(self.masks.tolist())]
        return pa.Table.from_pylist(rows)

    def _row(self, row: int, mask: int) -> dict[str, Any]:
        off_before, off_after = self.mean_error(row)
        return {
            "quasi_identifiers": list(self.names(mask)),
            **{f"close_{measure}": value for measure, value in self.guess(row).to_dict().items()},
            "certain_prior": float(self.certainty(row).prior),
            "certain_posterior": float(self.certainty(row).posterior),
            "certain_records": int(self.certain[row]),
            "off_prior": float(off_before),
            "off_posterior": float(off_after),
        }


def close_guesses(
    table: EncodedTable,
    secret: str,
    tolerance: Tolerance,
    *,
    subsets: str | Sequence[Sequence[str]] = "all",
    quasi_identifiers: Sequence[str] | None = None,
    drop_suppressed: bool = True,
) -> Closeness:
    """Tell how close a guess of a number comes, with every subset of the quasi-identifiers or with some.

    Records in which the number is missing are left out: there is nothing to guess.

    Args:
        table: The release.
        secret: The column of numbers.
        tolerance: How far a guess may be off.
        subsets: ``"all"``, ``"max:K"``, ``"within:SECONDS"``, or a list of subsets, as `sweep` takes them.
        quasi_identifiers: What can be known of a person; by default the table's quasi-identifiers.
        drop_suppressed: Whether records that hold ``*`` in every quasi-identifier, beside others that do not, are left
            out: they are suppressed, and in no class.

    Raises:
        DataError: A column is not in the table, or holds what is no number or has too many digits.

    >>> from glasshouse.table import read
    >>> people = pa.table({"sex": ["F", "F", "M"], "income": [1000, 1200, 5000]})
    >>> table = read(people, quasi_identifiers=["sex"], sensitive=["income"])
    >>> outcome = close_guesses(table, "income", Tolerance(Fraction(1, 10), is_share=True))
    >>> outcome.guess().posterior, outcome.certainty().posterior, outcome.mean_error()[1]
    (Fraction(1, 1), Fraction(1, 1), Fraction(200, 3))
    """
    names = tuple(table.quasi_identifiers if quasi_identifiers is None else quasi_identifiers)
    table = without_suppressed(table, names) if drop_suppressed else table
    table = replace(table, missing_is_a_value=False).with_known((secret,))
    table = with_facts_joined(table, names)
    column = table.column(secret)
    numbers, scale = scaled_numbers(column, table)
    order = np.argsort(numbers[column.codes], kind="stable")
    values = numbers[column.codes][order]
    reaches = _reaches(values, tolerance, scale, table.name, secret)
    rows = np.arange(len(values), dtype=np.int32)
    everybody = np.array([0, len(values)], np.int64)
    before = closeness_kernel.by_class(rows, everybody, reaches, values)
    masks, sums = _sums(table, names, subsets, order, reaches, values)
    return Closeness(
        secret=secret,
        tolerance=_written(tolerance),
        records=table.records,
        quasi_identifiers=names,
        masks=masks,
        close=sums[CLOSE],
        certain=sums[CERTAIN],
        off=sums[OFF],
        before=tuple(before.tolist()),
        scale=scale,
    )


def _sums(
    table: EncodedTable,
    names: tuple[str, ...],
    subsets: str | Sequence[Sequence[str]],
    order: Integers,
    reaches: NDArray[np.int32],
    values: Integers,
) -> tuple[Integers, Integers]:
    """Return the sets of attributes, and the three sums of each."""
    if isinstance(subsets, str):
        largest = largest_size(subsets, len(names), table.records)
        masks = subset_masks(len(names), largest)
        if largest < len(names) and holds_whole_set(subsets, len(names)):
            masks = np.append(masks, (1 << len(names)) - 1)
    else:
        chosen = {tuple(sorted(map(names.index, subset))) for subset in subsets}
        by_size = sorted(chosen, key=lambda places: (len(places), places))
        masks = np.array([sum(1 << place for place in places) for places in by_size], np.int64)
    if isinstance(subsets, str) and len(names) <= MOST_AT_ONCE and largest == len(names) > 1:
        return masks, _all_at_once(table, names, order, reaches, values)[:, masks]
    sums = np.zeros((3, len(masks)), np.int64)
    for row, mask in enumerate(masks.tolist()):
        known = partition(table, [name for i, name in enumerate(names) if (mask >> i) & 1])
        in_classes = np.argsort(known.numbers[order], kind="stable").astype(np.int32)
        sums[:, row] = closeness_kernel.by_class(in_classes, known.starts, reaches, values)
    return masks, sums


def _all_at_once(
    table: EncodedTable,
    names: tuple[str, ...],
    order: Integers,
    reaches: NDArray[np.int32],
    values: Integers,
) -> Integers:
    """Return the three sums of every subset; the column that tells most comes first: it divides classes soonest."""
    columns = [table.column(name) for name in names]
    places = sorted(range(len(names)), key=lambda place: -_entropy(columns[place]))
    short = max(column.cardinality for column in columns) <= 1 << 16
    codes = np.empty((len(names), len(order)), np.uint16 if short else np.uint32)
    for bit, place in enumerate(places):
        codes[bit] = columns[place].codes[order]
    cardinalities = np.array([columns[place].cardinality for place in places], np.int64)
    sums: Integers = closeness_kernel.by_subset(codes, cardinalities, reaches, values)
    renamed = np.zeros(1 << len(names), np.int64)
    masks = np.arange(1 << len(names))
    for bit, place in enumerate(places):
        renamed |= ((masks >> place) & 1) << bit
    return sums[:, renamed]


def _entropy(column: EncodedColumn) -> float:
    """Return how much a column tells apart, in nats."""
    counts = np.bincount(column.codes)
    shares = counts[counts > 0] / len(column.codes)
    return float(-(shares * np.log(shares)).sum())


def scaled_numbers(
    column: EncodedColumn, table: EncodedTable, missing: int | None = None
) -> tuple[Integers, int]:
    """Return the numbers that the values of a column stand for, in units of 1 / scale, and the scale.

    Args:
        column: The column.
        table: The table that it is of.
        missing: What stands for a missing number; None: there is none.

    Raises:
        DataError: A value is no number, or they have too many digits.
    """
    texts = [written.strip() for written in column.values.to_pylist()]
    if missing is not None:
        texts = [written or str(missing) for written in texts]
    wrong = [code for code, written in enumerate(texts) if not is_number(written)]
    if wrong:
        raise misfit(column, wrong, NO_NUMBER, where=table.name)
    decimals = [Decimal(written) for written in texts]
    places = max([0, *(-int(number.as_tuple().exponent) for number in decimals)])
    if places > _MOST_DECIMALS or max(map(abs, decimals)) >= _LARGEST:
        raise _too_long(table.name, column.name)
    numbers = [int(number.scaleb(places)) for number in decimals]
    if max(map(abs, numbers)) * table.records >= _LARGEST:
        raise _too_long(table.name, column.name)
    return np.array(numbers, np.int64), 10**places


def _reaches(
    values: Integers, tolerance: Tolerance, scale: int, where: str, name: str
) -> NDArray[np.int32]:
    """Return, per record by rising value, the last one that some guess is close to together with it."""
    if not tolerance.is_share:
        window = int(2 * tolerance.amount * scale)
        span = int(values[-1]) - int(values[0])
        limits = values + min(window, span)
    else:
        units = tolerance.amount.denominator
        up, down = units + tolerance.amount.numerator, units - tolerance.amount.numerator
        if int(np.abs(values).max()) * up >= _LARGEST:
            raise _too_long(where, name)
        limits = np.where(values >= 0, up * values // down, down * values // up)
    return (np.searchsorted(values, limits, side="right") - 1).astype(np.int32)


def _too_long(table: str, name: str) -> DataError:
    return DataError(
        '{table}: the numbers in column "{name}" have too many digits to be compared exactly; round them',
        table=table,
        name=name,
    )


def _written(tolerance: Tolerance) -> str:
    """Return a tolerance as it is asked for.

    >>> _written(Tolerance(Fraction(1, 40), is_share=True)), _written(Tolerance(Fraction(5), is_share=False))
    ('2.5%', '5')
    """
    figure = tolerance.amount * (100 if tolerance.is_share else 1)
    decimal = Decimal(figure.numerator) / Decimal(figure.denominator)
    return f"{decimal:f}{'%' if tolerance.is_share else ''}"
