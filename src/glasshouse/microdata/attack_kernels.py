"""Record weights as exact integers, and the compiled loops that add them up class by class.

A weight says how likely a record is to be the target's: 1 each, or the numbers of a column, scaled to integers. Each
loop walks the records class by class (`Partition.order`) and adds up, per class y, the weight n(x, y) of each value x
of the secret. The adversary picks what scores best in the class, and a loop returns the sums of the weights n(x, y) of
what she picked: integers, whatever the scores are, from which every vulnerability is one division away.

A score is n(x, y) times a factor of x. Without a prior on the secret factors are integers, and the choice is exact.
With one they are doubles, π(x) / n(x): between two choices that differ by no more than rounding she may then take the
lesser, which lowers the sum by no more than some 10⁻¹⁵ of what was at stake.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from fractions import Fraction
from math import lcm
from typing import Any, Literal

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from glasshouse.arrays import Flags, Floats, Integer, Integers
from glasshouse.compiled import called, compiled, inlined
from glasshouse.errors import DataError
from glasshouse.language import marked, printable
from glasshouse.table import EncodedTable
from glasshouse.table.codes import Codes

Factors = NDArray[Any]
"""What scores are made of: 64-bit integers, or doubles."""

GUESSED, SURE, REVEALED, CONCEALED = range(4)
"""The rows of what `best_guesses` returns."""

ROUNDING = 1e-12
"""Where chances are doubles, one that falls short of a tenth by no more than this is that tenth."""

NUMBER = re.compile(r"\+?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?")
LARGEST_TOTAL = (1 << 63) // 16
"""Sums stay below this, so that ten times a sum is still a 64-bit integer."""

What = Literal["weight", "worth"]
"""What a number in a column is to the user."""
_TOO_LONG: dict[What, str] = {
    "weight": marked(
        '{table}: the weights in column "{name}" have too many digits to be added up exactly; round them'
    ),
    "worth": marked(
        '{table}: the worths in column "{name}" have too many digits to be added up exactly; round them'
    ),
}
_NO_NUMBER: dict[What, str] = {
    "weight": marked(
        '{table}, record {record}: weight "{written}" in column "{name}" is not a number from 0 on; correct it, or '
        "leave the record out"
    ),
    "worth": marked(
        '{table}, record {record}: worth "{written}" in column "{name}" is not a number from 0 on; correct it, or '
        "leave the record out"
    ),
}
_BEFORE_A_DIGIT = ((1 << 63) - 10) // 10
"""An integer up to this has room for one more decimal digit in 64 bits."""
_MOST_DECIMALS = 18
"""10 to this power is a 64-bit integer still."""
_LONGEST, _LONGEST_EXPONENT = 1_000, 4
"""The characters of a number, and of its exponent with a sign, that are read."""
_SPACE, _PLUS, _MINUS, _POINT, _ZERO, _NINE, _SMALL_E, _LARGE_E = b" +-.09eE"


@dataclass(frozen=True)
class Weights:
    """How likely each record is to be the target's, up to a common factor."""

    each: Integers
    """The weight per record, 0 for one that cannot be the target's; empty: 1 each."""
    total: int
    """The sum over all records."""
    heaviest: int
    """The largest weight."""


def record_weights(table: EncodedTable, name: str | None) -> Weights:
    """Return the weights in a column, scaled to integers; without a column, every record weighs the same.

    Raises:
        DataError: A weight is not a number from 0 on, all are 0, or they have too many digits to be added up exactly.
    """
    if name is None:
        return Weights(np.empty(0, np.int64), table.records, 1)
    numbers, _ = record_numbers(table, name, "weight")
    weights = Weights(numbers, int(numbers.sum()), int(numbers.max()))
    if weights.total == 0 and table.positions is not None:
        raise DataError(
            '{table}: every weight in column "{name}" is 0 in the {records} records that are left, without those that '
            "were left out or lack the secret; give a positive one to somebody",
            table=table.name,
            name=name,
            records=table.records,
        )
    if weights.total == 0:
        raise DataError(
            '{table}: every weight in column "{name}" is 0; give a positive one to somebody',
            table=table.name,
            name=name,
        )
    return weights


def record_numbers(table: EncodedTable, name: str, what: What) -> tuple[Integers, int]:
    """Return the numbers in a column, none negative, as integers per record, and the scale that made them so.

    Args:
        table: The release.
        name: The column.
        what: What such a number is to the user.

    Raises:
        DataError: One is not a number from 0 on, or they have too many digits to be added up exactly.
    """
    column = table.column(name)
    held = value_weights(column.codes, np.empty(0, np.int64), column.cardinality) > 0
    digits, places, is_read = _decimals(column.values, held)
    for code in np.flatnonzero(~is_read).tolist():
        _check(column.values[code].as_py(), table, name, code, what)
    scaled, scale = (
        _scaled(digits, places) if is_read.all() else _scaled_fractions(column.values, held)
    )
    if int(scaled.max()) * table.records > LARGEST_TOTAL:
        raise DataError(_TOO_LONG[what], table=table.name, name=name)
    return scaled.astype(np.int64)[column.codes], scale


# Called from compiled code only: part of its caller, without a wrapper for Python.


@compiled
def best_guesses(
    order: NDArray[np.uint32],
    starts: Integers,
    codes: Codes,
    weights: Integers,
    factors: Factors,
    slack: float,
    inverse: Floats,
    values: Integer,
    success: Integers,
    picked: Integers,
    scratch: Integers,
) -> int:
    """Guess the value in every class, and find the values of which it has the greatest and the least part.

    Args:
        order: The records class by class.
        starts: Where each class begins.
        codes: The secret's value per record.
        weights: The weight per record; empty: 1 each.
        factors: Per value, what a unit of its weight scores; where it is 0 the value is impossible.
        slack: By how much a chance may fall short of a tenth, in the type of the factors: 0, or `ROUNDING`.
        inverse: Per value, 1 / n(x); 0 where its records weigh nothing.
        values: How many values weigh anything.
        success: Takes, per tenth of the chance of a right guess, how many records have it; the last
            entry takes those that are certain.
        picked: Takes Σ n(x, y) per value x, over the classes y where x is the best guess (`GUESSED`); where it is the
            only possible value (`SURE`); where n(x, y) / n(x) is greatest (`REVEALED`); and where it is least, though
            no value is missing (`CONCEALED`).
        scratch: Two rows of zeros, an entry per value, to work in.

    Returns:
        The number of records that can be the target's, in classes with one possible value.
    """
    count, present = scratch[0], scratch[1]
    nothing = factors.dtype.type(0)
    certain = 0
    for number in range(starts.size - 1):
        begin, end = starts[number], starts[number + 1]
        if end - begin == 1:  # so are most classes, where the quasi-identifiers tell much
            code = codes[order[begin]]
            weight = weights[order[begin]] if weights.size else 1
            picked[REVEALED, code] += weight
            if values == 1:
                picked[CONCEALED, code] += weight
            if weight > 0 and factors[code] > 0:
                picked[GUESSED, code] += weight
                picked[SURE, code] += weight
                certain += 1
            else:
                success[0] += 1
            continue
        # The weight n(x, y) of each value in the class, and what scores best among them.
        seen = _count_values(order[begin:end], codes, weights, count, present)
        whole, most, possible, guess = nothing, nothing, 0, 0
        greatest, least, revealed, concealed = 0.0, np.inf, 0, 0
        for k in range(seen):
            value = present[k]
            score = count[value] * factors[value]
            whole += score
            if score > 0:
                possible += 1
            if score > most:
                most, guess = score, value
            share = count[value] * inverse[value]
            if share > greatest:
                greatest, revealed = share, value
            if share < least:
                least, concealed = share, value
        picked[REVEALED, revealed] += count[revealed]
        if seen == values:
            picked[CONCEALED, concealed] += count[concealed]
        if possible > 0:
            picked[GUESSED, guess] += count[guess]
        if possible == 0:
            success[0] += end - begin
        elif possible == 1:
            picked[SURE, guess] += count[guess]
            sure = end - begin
            if (
                seen > 1 or weights.size
            ):  # a record that cannot be the target's has another value, or no weight
                sure = 0
                for i in range(begin, end):
                    record = order[i]
                    if codes[record] == guess and (weights.size == 0 or weights[record] > 0):
                        sure += 1
                success[0] += end - begin - sure
            certain += sure
        else:
            tenth = int((10 * most + slack * whole) // whole)
            success[min(tenth, success.size - 2)] += end - begin
        for k in range(seen):
            count[present[k]] = 0
    success[-1] += certain
    return certain


@compiled
def best_values(
    order: NDArray[np.uint32],
    starts: Integers,
    codes: Codes,
    weights: Integers,
    factors: Factors,
    tries: int,
) -> Integers:
    """Return Σ n(x, y) per value x, over the classes y where x is among the ``tries`` values with the best scores.

    Args:
        order: The records class by class.
        starts: Where each class begins.
        codes: The secret's value per record.
        weights: The weight per record; empty: 1 each.
        factors: Per value, what a unit of its weight scores, not negative.
        tries: How many values she may name.
    """
    picked = np.zeros(factors.size, np.int64)
    count = np.zeros(factors.size, np.int64)
    present = np.empty(factors.size, np.int64)
    best = np.empty(tries, factors.dtype)
    best_place = np.empty(tries, np.int64)
    for number in range(starts.size - 1):
        seen = _count_values(
            order[starts[number] : starts[number + 1]], codes, weights, count, present
        )
        room = min(tries, seen)
        for k in range(room):
            best[k] = count[present[k]] * factors[present[k]]
            best_place[k] = k
        if seen > tries:
            _heap(best, best_place)
        for k in range(room, seen):
            score = count[present[k]] * factors[present[k]]
            if score > best[0]:
                _sink(best, best_place, 0, score, k)
        for k in best_place[:room]:
            picked[present[k]] += count[present[k]]
        count[present[:seen]] = 0
    return picked


@compiled
def best_actions(
    order: NDArray[np.uint32],
    starts: Integers,
    codes: Codes,
    weights: Integers,
    gains: Factors,
) -> Integers:
    """Return Σ n(x, y) per value x (row) and action w (column), over the classes y where w earns most.

    Args:
        order: The records class by class.
        starts: Where each class begins.
        codes: The secret's value per record.
        weights: The weight per record; empty: 1 each.
        gains: Per value (row) and action (column), what the action earns for a unit of the value's weight.
    """
    values, actions = gains.shape
    picked = np.zeros((values, actions), np.int64)
    count = np.zeros(values, np.int64)
    present = np.empty(values, np.int64)
    earned = np.empty(actions, gains.dtype)
    for number in range(starts.size - 1):
        seen = _count_values(
            order[starts[number] : starts[number + 1]], codes, weights, count, present
        )
        earned[:] = 0
        for k in range(seen):
            value = present[k]
            for action in range(actions):
                earned[action] += count[value] * gains[value, action]
        best = int(earned.argmax())
        for k in range(seen):
            picked[present[k], best] += count[present[k]]
        count[present[:seen]] = 0
    return picked


@inlined
def _count_values(
    records: NDArray[np.uint32],
    codes: Codes,
    weights: Integers,
    count: Integers,
    present: Integers,
) -> int:
    """Add up the weight of each value in a class, list the values that weigh anything, and return their number."""
    seen = 0
    for record in records:
        code = codes[record]
        weight = weights[record] if weights.size else 1
        if count[code] == 0 and weight > 0:
            present[seen] = code
            seen += 1
        count[code] += weight
    return seen


@compiled
def heaviest_records(
    order: NDArray[np.uint32], starts: Integers, weights: Integers, tries: int
) -> int:
    """Return Σ over classes of the weights of the ``tries`` heaviest records."""
    heaviest = np.empty(tries, np.int64)
    heaviest_place = np.empty(tries, np.int64)
    total = 0
    for number in range(starts.size - 1):
        records = order[starts[number] : starts[number + 1]]
        room = min(tries, records.size)
        for k in range(room):
            heaviest[k] = weights[records[k]]
            heaviest_place[k] = k
        if records.size > tries:
            _heap(heaviest, heaviest_place)
        for k in range(room, records.size):
            weight = weights[records[k]]
            if weight > heaviest[0]:
                _sink(heaviest, heaviest_place, 0, weight, k)
        for k in range(room):
            total += heaviest[k]
    return total


@compiled
def _heap(scores: Factors, places: Integers) -> None:
    """Make a heap of scores and where each was met, the worst on top: of equal scores the one met last."""
    for parent in range(scores.size // 2 - 1, -1, -1):
        _sink(scores, places, parent, scores[parent], places[parent])


@called
def _sink(scores: Factors, places: Integers, hole: int, score: Any, place: int) -> None:
    """Put a score in the place of a heap's entry, and let it sink below those that are worse."""
    while True:
        child = 2 * hole + 1
        if child >= scores.size:
            break
        other = child + 1
        if other < scores.size and (
            scores[other] < scores[child]
            or (scores[other] == scores[child] and places[other] > places[child])
        ):
            child = other
        if scores[child] > score or (scores[child] == score and places[child] < place):
            break
        scores[hole] = scores[child]
        places[hole] = places[child]
        hole = child
    scores[hole] = score
    places[hole] = place


@compiled
def lone_records(order: NDArray[np.uint32], starts: Integers, weights: Integers) -> tuple[int, int]:
    """Return the weight, and the number, of the records that alone in their class weigh anything."""
    total = 0
    lone = 0
    for number in range(starts.size - 1):
        possible = 0
        weight = 0
        for record in order[starts[number] : starts[number + 1]]:
            if weights[record] > 0:
                possible += 1
                weight = weights[record]
        if possible == 1:
            total += weight
            lone += 1
    return total, lone


@compiled
def most_frequent(
    order: NDArray[np.uint32],
    starts: Integers,
    codes: Codes,
    cardinality: int,
    most: NDArray[np.uint32],
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


def value_weights(codes: Codes, weights: Integers, cardinality: int) -> Integers:
    """Return the total weight n(x) of each value: the prior on the secret, before it is divided."""
    totals = np.zeros(cardinality, np.int64)
    _add_weights(codes, weights, totals)
    return totals


@compiled
def _add_weights(codes: Codes, weights: Integers, totals: Integers) -> None:
    for i in range(codes.size):
        totals[codes[i]] += weights[i] if weights.size else 1


def is_endless(number: str) -> bool:
    """Tell whether a number that is written down has more digits than are ever counted with.

    >>> is_endless("1e-300"), is_endless("1e-3000")
    (False, True)
    """
    exponent = number.strip().lower().partition("e")[2]
    return len(number) > _LONGEST or len(exponent) > _LONGEST_EXPONENT


def _check(written: str, table: EncodedTable, name: str, code: int, what: What) -> None:
    if NUMBER.fullmatch(written.strip()):
        if not is_endless(written):
            return
        raise DataError(_TOO_LONG[what], table=table.name, name=name)
    first = int(np.argmax(table.column(name).codes == code))
    record = (first if table.positions is None else int(table.positions[first])) + 1
    raise DataError(
        _NO_NUMBER[what],
        table=table.name,
        record=str(record),
        written=printable(written),
        name=name,
    )


def _scaled_fractions(texts: pa.LargeStringArray, held: Flags) -> tuple[NDArray[Any], int]:
    """Return numbers times the smallest scale that makes integers of all of them, and that scale."""
    exact = [
        Fraction(written.strip()) if counts else Fraction(0)
        for written, counts in zip(texts.to_pylist(), held.tolist(), strict=True)
    ]
    scale = lcm(*(number.denominator for number in exact))
    return np.array([int(number * scale) for number in exact], object), scale


def _scaled(digits: Integers, places: Integers) -> tuple[NDArray[Any], int]:
    """Return the same for the numbers digits / 10^places; in integers of any length where 64 bits are too few."""
    most = max(0, int(places.max()))
    integers: NDArray[Any] = digits.copy()
    if most > _MOST_DECIMALS or not _append_zeros(integers, most - places):
        zeros, which = np.unique(most - places, return_inverse=True)
        powers = np.array([10**number for number in zeros.tolist()], object)
        integers = digits.astype(object) * powers[which]
    common = int(np.gcd.reduce(integers, initial=10**most))
    return integers // common, 10**most // common


@compiled
def _append_zeros(digits: Integers, zeros: Integers) -> bool:
    """Multiply integers by powers of ten in place; return whether 64 bits were enough."""
    for i in range(digits.size):
        if digits[i] > 0:
            for _ in range(zeros[i]):
                if digits[i] > _BEFORE_A_DIGIT:
                    return False
                digits[i] *= 10
    return True


def _decimals(texts: pa.LargeStringArray, held: Flags) -> tuple[Integers, Integers, Flags]:
    """Read numbers as digits / 10^places, those that are not held as 0.

    Returns:
        The digits, the places, and which texts were read: not those that are no number, that have more digits than
        64 bits hold or more than two in the exponent, or that stand between white space other than spaces.
    """
    digits, places = np.zeros(len(texts), np.int64), np.zeros(len(texts), np.int64)
    _, offsets, data = texts.buffers()
    starts = np.frombuffer(offsets, np.int64)[texts.offset :]
    characters = np.frombuffer(data or b"", np.uint8)
    return digits, places, _read_all(characters, starts, held, digits, places)


@compiled
def _read_all(
    characters: NDArray[np.uint8],
    starts: Integers,
    held: Flags,
    digits: Integers,
    places: Integers,
) -> Flags:
    """Fill in the digits and places of the texts that are held; return which texts were read."""
    is_read = np.ones(held.size, np.bool_)
    for i in range(held.size):
        if held[i]:
            text = _stripped(characters[starts[i] : starts[i + 1]])
            digits[i], places[i], is_read[i] = _read(text)
    return is_read


@called
def _stripped(text: NDArray[np.uint8]) -> NDArray[np.uint8]:
    begin, end = 0, text.size
    while begin < end and text[begin] == _SPACE:
        begin += 1
    while begin < end and text[end - 1] == _SPACE:
        end -= 1
    return text[begin:end]


@compiled
def _read(text: NDArray[np.uint8]) -> tuple[int, int, bool]:
    """Read a number; return its digits without zeros at the end, its places, and whether it was read."""
    number = places = zeros = seen = 0
    is_behind_point = False
    at = 1 if text.size and text[0] == _PLUS else 0
    while at < text.size:
        character = text[at]
        if character == _POINT and not is_behind_point:
            is_behind_point = True
        elif _ZERO <= character <= _NINE:
            seen += 1
            places += is_behind_point
            zeros += 1
            if character != _ZERO:
                for _ in range(zeros):
                    if number > _BEFORE_A_DIGIT:
                        return 0, 0, False
                    number *= 10
                number += int(np.int64(character)) - _ZERO
                zeros = 0
        else:
            break
        at += 1
    exponent, is_exponent = _read_exponent(text[at:])
    if seen == 0 or not is_exponent:
        return 0, 0, False
    return (number, places - zeros - exponent, True) if number else (0, 0, True)


@called
def _read_exponent(text: NDArray[np.uint8]) -> tuple[int, bool]:
    """Read an exponent of one or two digits, or nothing, which is 0; return it and whether it is one."""
    if text.size == 0:
        return 0, True
    if text[0] != _SMALL_E and text[0] != _LARGE_E:
        return 0, False
    is_signed = text.size > 1 and (text[1] == _PLUS or text[1] == _MINUS)
    digits = text[2:] if is_signed else text[1:]
    if digits.size < 1 or digits.size > 2:
        return 0, False
    exponent = 0
    for character in digits:
        if character < _ZERO or character > _NINE:
            return 0, False
        exponent = 10 * exponent + int(np.int64(character)) - _ZERO
    return (-exponent if text[1] == _MINUS else exponent), True
