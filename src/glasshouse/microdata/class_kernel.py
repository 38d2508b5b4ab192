"""The classes that the subsets of some attributes make, walked over in order: what compiled walks share.

A walk goes depth first over classes of subsets, and divides each by one later attribute at a time. Partitions are
stable, so that the records of every class of every subset stand in the order in which they came. A class of the subset
T is looked at once; what comes of it with T and with the sets that extend T by later attributes is settled in closed
form where it can be:

- two or three records count with each other exactly in the sets in which they agree;
- attributes that all records of the class agree in divide it no further: it is the same class with them and without.

All of these are sums over the sets S with T ⊆ S ⊆ T ∪ F for a set F of *free* attributes. They are added up at the pair
(T, F), a number with a digit for each attribute (0 without, 1 with, 2 free), and spread over these sets at the end.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from glasshouse.arrays import Integer, Integers
from glasshouse.compiled import called, lean_inlined

Rows = NDArray[np.int32 | np.uint32]
"""Places of records."""
CodesByAttribute = Any
"""Per attribute, the code of each record: an array in any order, which compiled code knows."""


class Classes(NamedTuple):
    """The classes on the way from that of all records to the one where a walk stands, level by level."""

    rows: NDArray[np.uint32]
    """Per level, records: those of the level's class stand together. No index is looked at for its sign."""
    begins: Integers
    """Per level, where the class begins."""
    ends: Integers
    """Where it ends."""
    masks: Integers
    """The attributes that made it, T."""
    frees: Integers
    """Those that all its records agree in, F."""
    rests: Integers
    """The attributes that are still to divide it."""
    columns: Integers
    """The one that divides it now."""
    cuts: NDArray[np.int32]
    """Per level and part that this attribute makes, where the part ends in the rows of the next level."""
    numbers: Integers
    """Per level, how many parts there are."""
    parts: Integers
    """How many of them were looked at."""
    counts: NDArray[np.uint32]
    """Per code, how often it occurs; zeros in between."""
    met: NDArray[np.uint32]
    """The codes that occur."""


@called
def room_for_classes(records: Integer, cardinalities: Integers) -> Classes:
    """Return the class of all records, to be divided by all attributes, with room for those below."""
    attributes, widest = len(cardinalities), 1
    for attribute in range(attributes):
        widest = max(widest, cardinalities[attribute] + 1)
    rows = np.empty((attributes + 1, records), np.uint32)
    rows[0] = np.arange(records)
    ends, rests = np.zeros(attributes + 1, np.int64), np.zeros(attributes + 1, np.int64)
    ends[0], rests[0] = records, (1 << attributes) - 1
    return Classes(
        rows,
        np.zeros(attributes + 1, np.int64),
        ends,
        np.zeros(attributes + 1, np.int64),
        np.zeros(attributes + 1, np.int64),
        rests,
        np.zeros(attributes + 1, np.int64),
        np.empty((attributes + 1, widest), np.int32),
        np.zeros(attributes + 1, np.int64),
        np.zeros(attributes + 1, np.int64),
        np.zeros(widest, np.uint32),
        np.empty(widest, np.uint32),
    )


@called
def places_of_sets(attributes: int) -> Integers:
    """Return, per set of attributes, the number whose digits to the base of three are 1 for those that are in it."""
    ones = np.zeros(1 << attributes, np.int64)
    for subset in range(1, 1 << attributes):
        for attribute in range(attributes):
            ones[subset] += ((subset >> attribute) & 1) * 3**attribute
    return ones


@called
def spread_over_sets(sums: Integers, ones: Integers) -> Integers:
    """Return sums by set, of those that stand at pairs of a set and free attributes, which are changed.

    Args:
        sums: Per pair, as a number with the digit 2 for what is free, its sums.
        ones: The places of the sets (`places_of_sets`).
    """
    kinds = sums.shape[1]
    step = 1
    while step < len(sums):
        for place in range(len(sums)):
            if place // step % 3 == 2:
                for kind in range(kinds):
                    sums[place - step, kind] += sums[place, kind]
                    sums[place - 2 * step, kind] += sums[place, kind]
        step *= 3
    outcome = np.empty((kinds, len(ones)), np.int64)
    for subset in range(len(ones)):
        for kind in range(kinds):
            outcome[kind, subset] = sums[ones[subset], kind]
    return outcome


@lean_inlined
def agreement(
    codes: CodesByAttribute, first: Integer, second: Integer, remaining: Integer
) -> Integer:
    """Return those of some attributes in which two records agree."""
    alike = 0
    for attribute in range(len(codes)):
        if (remaining >> attribute) & 1 and codes[attribute, first] == codes[attribute, second]:
            alike |= 1 << attribute
    return alike


@lean_inlined
def enter_class(codes: CodesByAttribute, classes: Classes, level: Integer) -> None:
    """Begin with a class: attributes that all its records agree in are free, the others are still to divide it."""
    some = classes.rows[level, classes.begins[level] : classes.ends[level]]
    for attribute in range(len(codes)):
        if (classes.rests[level] >> attribute) & 1:
            code, place = codes[attribute, some[0]], 1
            while place < len(some) and codes[attribute, some[place]] == code:
                place += 1
            if place == len(some):
                classes.rests[level] ^= 1 << attribute
                classes.frees[level] |= 1 << attribute
    classes.columns[level], classes.parts[level], classes.numbers[level] = -1, 0, 0


@lean_inlined
def next_part(
    codes: CodesByAttribute, cardinalities: Integers, classes: Classes, level: Integer
) -> tuple[Integer, Integer]:
    """Return where the next part of a class stands in the rows of the next level; twice the same: there is none."""
    if classes.parts[level] >= classes.numbers[level]:
        column, attributes = classes.columns[level] + 1, len(codes)
        while column < attributes and not (classes.rests[level] >> column) & 1:
            column += 1
        if column >= attributes:
            return np.int64(0), np.int64(0)
        classes.columns[level] = column
        _divide(codes[column], cardinalities[column], classes, level)
    part = classes.parts[level]
    classes.parts[level] += 1
    start: Integer = classes.begins[level]
    if part > 0:
        start = np.int64(classes.cuts[level, part - 1])
    return start, np.int64(classes.cuts[level, part])


@lean_inlined
def _divide(code_of: Any, cardinality: Integer, classes: Classes, level: Integer) -> None:
    """Put the records of a class that share a code together, in the rows of the next level."""
    counts, met, begin = classes.counts, classes.met, classes.begins[level]
    some, divided = classes.rows[level, begin : classes.ends[level]], classes.rows[level + 1]
    # the codes that occur: of few records they are met one by one, of many all are looked at
    number, start = 0, begin
    if len(some) < cardinality:
        for place in range(len(some)):
            code = code_of[some[place]]
            if counts[code] == 0:
                met[number] = code
                number += 1
            counts[code] += 1
    else:
        for place in range(len(some)):
            counts[code_of[some[place]]] += 1
        for code in range(cardinality):
            met[number] = code
            number += counts[code] > 0
    for place in range(number):
        size = counts[met[place]]
        counts[met[place]] = start
        start += size
    for place in range(len(some)):
        code = code_of[some[place]]
        divided[counts[code]] = some[place]
        counts[code] += 1
    for place in range(number):
        classes.cuts[level, place] = counts[met[place]]
        counts[met[place]] = 0
    classes.parts[level], classes.numbers[level] = 0, number


@lean_inlined
def attributes_of_part(classes: Classes, level: Integer) -> tuple[Integer, Integer, Integer]:
    """Return, of the parts of a class, the attributes that make them, the free ones, and those still to come."""
    column = classes.columns[level]
    rest = classes.rests[level] & ~((1 << (column + 1)) - 1)
    return classes.masks[level] | (1 << column), classes.frees[level], rest


@lean_inlined
def step_down(classes: Classes, level: Integer, start: Integer, stop: Integer) -> None:
    """Make a part of a class the class of the next level."""
    mask, free, rest = attributes_of_part(classes, level)
    classes.begins[level + 1], classes.ends[level + 1] = start, stop
    classes.masks[level + 1], classes.frees[level + 1] = mask, free
    classes.rests[level + 1] = rest
