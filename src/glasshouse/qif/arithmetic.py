"""Exact and floating arithmetic behind one interface.

Values live in numpy arrays. When everything that was given is an integer or a fraction, the array
has dtype ``object`` and holds ``fractions.Fraction``, so that every operation that stays within the
rationals is exact; otherwise it is ``float64``. The formulas of this package do not ask which one
it is: numpy's ``+ * @ sum max sort`` serve both. Arrays are read-only, so values can be shared.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import fields
from fractions import Fraction
from numbers import Rational
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from glasshouse.errors import StudyError

Number: TypeAlias = Fraction | float
"""A result: a Fraction when everything it was computed from was exact."""

Array: TypeAlias = NDArray[Any]
"""A read-only array of Fractions (dtype object) or of floats (dtype float64)."""

Vector: TypeAlias = Sequence[Number] | Array
"""What a caller may give for a distribution."""

Matrix: TypeAlias = Sequence[Sequence[Number]] | Array
"""What a caller may give for a table of numbers."""

TOLERANCE = 1e-9
"""How far floats may be from an equality that they should satisfy; Fractions must satisfy it."""

ROUNDING = 1e-12
"""How far floats may be from an equality by rounding alone."""


class ByValue:
    """Compare frozen dataclasses by the values of their fields, arrays too, without tolerance."""

    def __eq__(self, other: object) -> bool:
        if type(other) is not type(self):
            return NotImplemented
        return _key(self) == _key(other)

    def __hash__(self) -> int:
        return hash(_key(self))


def as_array(values: Vector | Matrix, *, dimensions: int, what: str) -> Array:
    """Return the values as a read-only array, exact when all of them are.

    Args:
        values: Numbers, as nested sequences or an array; they are copied.
        dimensions: 1 for a vector, 2 for a matrix.
        what: The name of the thing in the error message.

    Raises:
        StudyError: If the values are not finite numbers in a non-empty rectangular table.

    >>> as_array([1, Fraction(1, 2)], dimensions=1, what="the prior")
    array([Fraction(1, 1), Fraction(1, 2)], dtype=object)
    >>> as_array([1, 0.5], dimensions=1, what="the prior")
    array([1. , 0.5])
    """
    array = _rectangular(values, dimensions, what)
    if is_exact(array):
        array[...] = np.frompyfunc(_fraction, 1, 1)(array)
        return frozen(array)
    try:
        array = array.astype(np.float64)
    except (TypeError, ValueError) as error:
        raise StudyError(f"{what} must hold numbers: {error}") from error
    if not np.isfinite(array).all():
        raise StudyError(f"{what} must hold finite numbers; it has infinite or missing ones")
    return frozen(array)


def is_exact(array: Array) -> bool:
    """Tell whether all elements of an array are rational numbers, so that arithmetic is exact."""
    return array.dtype == object and all(isinstance(value, Rational) for value in array.flat)


def common(*arrays: Array) -> tuple[Array, ...]:
    """Return the arrays in one arithmetic: exact if all are, else all in floats."""
    if all(array.dtype == object for array in arrays):
        return arrays
    return tuple(to_float(array) for array in arrays)


def to_float(array: Array) -> Array:
    """Return the array in floating arithmetic."""
    return frozen(array.astype(np.float64))


def number(value: Any) -> Number:
    """Return one element of an array as a plain Fraction or float.

    >>> number(np.float64(0.5)), number(3)
    (0.5, Fraction(3, 1))
    """
    return _fraction(value) if isinstance(value, Rational) else float(value)


def frozen(array: Array) -> Array:
    """Make an array read-only and return it."""
    array.setflags(write=False)
    return array


def equal(first: Array, second: Array) -> bool:
    """Tell whether two arrays are equal: exactly for Fractions, within TOLERANCE for floats."""
    first, second = common(first, second)
    return bool(np.all(abs(first - second) <= tolerance(first)))


def tolerance(array: Array) -> float:
    """Return the error that an equality between these numbers may have: zero if they are exact."""
    return 0.0 if array.dtype == object else TOLERANCE


def alike_columns(matrix: Array) -> list[list[int]]:
    """Group the columns of a matrix that are equal, in order of first appearance.

    >>> alike_columns(np.array([[1.0, 2.0, 1.0], [0.0, 1.0, 0.0]]))
    [[0, 2], [1]]
    """
    if matrix.dtype == object:
        alike_exactly: dict[tuple[object, ...], list[int]] = {}
        for column, values in enumerate(matrix.T.tolist()):
            alike_exactly.setdefault(tuple(values), []).append(column)
        return list(alike_exactly.values())
    groups: list[list[int]] = []
    for column in range(matrix.shape[1]):
        leaders = matrix[:, [group[0] for group in groups]]
        distances = abs(leaders - matrix[:, [column]])
        alike = np.flatnonzero((distances <= tolerance(matrix)).all(axis=0))
        if alike.size:
            groups[alike[0]].append(column)
        else:
            groups.append([column])
    return groups


def distributions(rows: Array, *, names: Sequence[object], what: str) -> Array:
    """Check that every row of a matrix is a probability distribution, and return the matrix.

    Float rows whose sum is off by more than rounding are rescaled: otherwise the small errors that
    the tolerance admits would add up in compositions until it refused their result.

    Args:
        rows: One distribution per row.
        names: What each row is called in the error message.
        what: What the matrix is called in the error message.

    Raises:
        StudyError: If an entry is negative or a row does not sum to 1; the message names the row.
    """
    totals = rows.sum(axis=1)
    for name, row, total in zip(names, rows, totals, strict=True):
        if row.min() < 0:
            raise StudyError(f"{what}: {name} has the negative probability {row.min()}")
        if abs(total - 1) > tolerance(rows):
            raise StudyError(f"{what}: {name} sums to {total}, not to 1")
    if np.all(abs(totals - 1) <= ROUNDING):
        return rows
    return frozen(rows / totals[:, np.newaxis])


def _rectangular(values: Vector | Matrix, dimensions: int, what: str) -> Array:
    if isinstance(values, np.ndarray) and values.dtype.kind == "f":
        array: Array = values.copy()
    else:
        array = np.array(values, dtype=object)
    if array.ndim != dimensions or array.size == 0:
        shape = "a non-empty sequence" if dimensions == 1 else "a non-empty rectangular table"
        raise StudyError(f"{what} must be {shape} of numbers")
    return array


def _fraction(value: Rational) -> Fraction:
    # numpy integers are Rational too, but overflow: rebuild from Python's integers.
    return Fraction(int(value.numerator), int(value.denominator))


def _key(instance: Any) -> tuple[object, ...]:
    values = (getattr(instance, field.name) for field in fields(instance))
    return tuple(
        (value.shape, tuple(value.flat)) if isinstance(value, np.ndarray) else value
        for value in values
    )
