"""What the labels of a horizontal release stand for: sets, intervals, prefixes, the labels of a hierarchy, ``*``.

A label is a set of values of its attribute, and so is what is known of a victim. `ValueSets` holds some sets of one
attribute as codes; `labelled_sets` makes them of released texts. Sets that are pairwise disjoint or nested are
*laminar*: they form a tree, and the closed form of `glasshouse.groups.tree` holds.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, TypeAlias

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from glasshouse.arrays import Codes, Flags, Integers
from glasshouse.compiled import compiled
from glasshouse.errors import DataError
from glasshouse.language import marked, quoted, text, unknown_name
from glasshouse.table.generalised import (
    SUPPRESSED,
    as_interval,
    generalised_values,
    set_members,
    stood_for,
)

Ancestors: TypeAlias = Mapping[str, Sequence[str]]
"""A hierarchy: per value of the domain its labels, from the most specific to the root."""


# Sets of values.
def starts_of(lengths: Sequence[int] | Integers) -> Integers:
    """Return where lists of these lengths begin if they stand one behind the other, and where the last one ends.

    >>> starts_of([2, 3]).tolist()
    [0, 2, 5]
    """
    return np.concatenate([np.zeros(1, np.int64), np.cumsum(lengths, dtype=np.int64)])


def ranges(starts: Integers, lengths: Integers) -> Integers:
    """Return the numbers of some ranges, one range behind the other: from each start on so many.

    >>> ranges(np.array([5, 0]), np.array([2, 3])).tolist()
    [5, 6, 0, 1, 2]
    """
    return np.repeat(starts - starts_of(lengths)[:-1], lengths) + np.arange(lengths.sum())


@dataclass(frozen=True)
class ValueSets:
    """Some sets of values, one behind the other."""

    domain: int
    """How many values the attribute has; values are the codes 0 … domain − 1."""
    starts: Integers
    """Per set, where its values begin in ``members``; one more entry closes the last."""
    members: Codes
    """The values of all sets, set by set, each in ascending order."""

    @classmethod
    def of(cls, sets: Iterable[Iterable[int]], domain: int) -> ValueSets:
        """Return these sets.

        Raises:
            DataError: A set is empty, or a code is not in the domain.

        >>> ValueSets.of([[0, 1], [2]], 3).sizes.tolist()
        [2, 1]
        """
        ordered = [sorted(set(values)) for values in sets]
        if any(not values or values[0] < 0 or values[-1] >= domain for values in ordered):
            raise DataError(
                "a set of values is empty or reaches out of its domain; give values of it"
            )
        starts = starts_of([len(values) for values in ordered])
        members = np.array([value for values in ordered for value in values], np.int32)
        return cls(domain, _fixed(starts), _fixed(members))

    @classmethod
    def singletons(cls, domain: int) -> ValueSets:
        """Return one set per value, in the order of the values: every label stands for itself.

        >>> ValueSets.singletons(3).is_singletons
        True
        """
        values = np.arange(domain, dtype=np.int32)
        return cls(domain, _fixed(np.arange(domain + 1, dtype=np.int64)), _fixed(values))

    def __len__(self) -> int:
        return len(self.starts) - 1

    def values(self, number: int) -> Codes:
        """Return the values of one set."""
        return self.members[self.starts[number] : self.starts[number + 1]]

    @cached_property
    def sizes(self) -> Integers:
        """Per set, how many values it holds."""
        return np.diff(self.starts)

    @cached_property
    def is_singletons(self) -> bool:
        """Whether set i is just the value i, for all values."""
        alike = len(self) == self.domain == len(self.members)
        return alike and bool((self.members == np.arange(self.domain)).all())

    @cached_property
    def is_laminar(self) -> bool:
        """Whether any two sets are disjoint, or one holds the other: then they form a tree.

        >>> ValueSets.of([[0, 1], [2], [0, 1, 2]], 4).is_laminar, ValueSets.of([[0, 1], [1, 2]], 3).is_laminar
        (True, False)
        """
        return self.crossing is None

    @cached_property
    def crossing(self) -> tuple[int, int] | None:
        """Two sets of which each has values that the other lacks, beside common ones; None where there are none."""
        _, first, second = self._nesting
        return None if first < 0 else (first, second)

    @cached_property
    def by_size(self) -> Integers:
        """The numbers of the sets, from the largest to the smallest."""
        return np.argsort(-self.sizes, kind="stable")

    @cached_property
    def _nesting(self) -> tuple[Integers, int, int]:
        parents, first, second = _nested(self.domain, self.starts, self.members, self.by_size)
        return parents, int(first), int(second)

    def parents(self) -> Integers:
        """Return, per set of a laminar family, the number of the smallest set that holds it; −1 for the outermost.

        Of equal sets, each later one is held by the earlier.
        """
        return self._nesting[0]

    def matrix(self) -> Flags:
        """Return the sets as rows of marks, one per value of the domain."""
        marks = np.zeros((len(self), self.domain), np.bool_)
        marks[np.repeat(np.arange(len(self)), self.sizes), self.members] = True
        return marks


def _fixed(array: NDArray[Any]) -> NDArray[Any]:
    array.flags.writeable = False
    return array


@compiled
def _nested(
    domain: int, starts: Integers, members: Codes, by_size: Integers
) -> tuple[Integers, int, int]:
    """Return the smallest set that holds each, and two sets that cross; −1 where there are none.

    From the largest set to the smallest: the values of each lie in one set so far, which holds it. If they lie in two,
    it crosses the smaller of these.
    """
    sizes = np.empty(starts.size - 1, np.int64)
    for number in range(sizes.size):
        sizes[number] = starts[number + 1] - starts[number]
    inside = np.full(domain, -1, np.int64)
    parents = np.full(starts.size - 1, -1, np.int64)
    for number in by_size:
        around = parents[number] = inside[members[starts[number]]]
        for place in range(starts[number], starts[number + 1]):
            other = inside[members[place]]
            if other != around:
                if around < 0 or (other >= 0 and sizes[other] < sizes[around]):
                    return parents, number, other
                return parents, number, around
            inside[members[place]] = number
    return parents, -1, -1


# From released texts to sets.
def labelled_sets(
    name: str, texts: Sequence[str], domain: Sequence[str], hierarchy: Ancestors | None = None
) -> ValueSets:
    """Return, for each released text of an attribute, the values of the domain that it stands for.

    A text that is a value of the domain stands for it alone; a label of the hierarchy for the values below it; ``*``
    for all; anything else is understood as `glasshouse.table.generalised.covers` does.

    Raises:
        DataError: A text stands for nothing in the domain, or a set names what is not in it.

    >>> labelled_sets("age", ["20-29", "*", "31"], ["19", "25", "31"]).sizes.tolist()
    [1, 3, 1]
    """
    code = {value: number for number, value in enumerate(domain)}
    below = _below(hierarchy or {}, code)
    values = pa.array(list(domain), pa.large_string())
    sets = []
    for label in texts:
        if label in below:
            sets.append(below[label])
        elif label in code:
            sets.append([code[label]])
        elif label == SUPPRESSED:
            sets.append(list(range(len(domain))))
        else:
            sets.append(_covered(name, label, values, code, has_hierarchy=bool(hierarchy)))
    return ValueSets.of(sets, len(domain))


def values_of_label(label: str, domain: Sequence[str]) -> list[int]:
    """Return the codes of the values of a domain that a generalised value covers; none if it covers nothing.

    >>> values_of_label("4550*", ["45501", "45502", "66601"])
    [0, 1]
    """
    marks = stood_for(pa.array(list(domain), pa.large_string()), [label])
    return [int(code) for code in np.flatnonzero(marks)]


def domain_of(
    name: str, texts: Iterable[str], hierarchy: Ancestors | None = None
) -> tuple[str, ...]:
    """Return the domain of an attribute where none is given: the hierarchy's, or else what the release names itself.

    Raises:
        DataError: The release tells intervals or prefixes, which do not name the values that they stand for.

    >>> domain_of("city", ["{Lyon, Nice}", "Bonn", "*"])
    ('Bonn', 'Lyon', 'Nice')
    """
    if hierarchy:
        return tuple(hierarchy)
    texts = list(texts)
    general = set(generalised_values(pa.array(texts, pa.large_string())).values())
    named = {label for label in texts if label not in general}
    for label in sorted(general - {SUPPRESSED}):
        members = set_members(label)
        if not members and (as_interval(label) is not None or label.endswith(SUPPRESSED)):
            raise DataError(
                '"{name}": the released value {value} does not name the values that it stands for; give the '
                "domain of the attribute (`values` {name}=LOW..HIGH or a file), or its hierarchy (`hierarchies`)",
                name=name,
                value=quoted([label]),
            )
        named.update(members or [label])
    if not named:
        raise DataError(
            '"{name}" is suppressed in all rows; give its domain or a hierarchy, or leave it out',
            name=name,
        )
    return tuple(sorted(named))


def ancestors(rows: Iterable[Sequence[str]]) -> dict[str, tuple[str, ...]]:
    """Return a hierarchy that is given by rows, each a value and its labels, as the labels of each value.

    >>> ancestors([("Lyon", "France", "*"), ("Bonn", "Germany", "*")])["Bonn"]
    ('Germany', '*')
    """
    return {row[0]: tuple(row[1:]) for row in rows}


def _below(hierarchy: Ancestors, code: Mapping[str, int]) -> dict[str, list[int]]:
    """Return the values of the domain below each label; a value that is its own label stands for itself at least."""
    below: dict[str, list[int]] = {}
    for value, labels in hierarchy.items():
        if value in code:
            for label in dict.fromkeys((value, *labels)):
                below.setdefault(label, []).append(code[value])
    return below


def _covered(
    name: str,
    label: str,
    values: pa.LargeStringArray,
    code: Mapping[str, int],
    *,
    has_hierarchy: bool,
) -> list[int]:
    strangers = [member for member in set_members(label) if member not in code]
    if strangers:
        where = text('the domain of "{name}"', name=name)
        reason = unknown_name("value", strangers[0], where, code)
        raise DataError(f"{quoted([label])}: {reason}")
    codes = np.flatnonzero(stood_for(values, [label]))
    if not len(codes):
        template = marked(
            '"{name}": the released value {value} is outside its domain: it is not a value or label of it and '
            "covers none; correct it, or give the domain or hierarchy that the release was made with"
        )
        if has_hierarchy:
            template = marked(
                '"{name}": the released value {value} is outside its hierarchy: it is not a value or label of it '
                "and covers none; correct it, or give the domain or hierarchy that the release was made with"
            )
        raise DataError(template, name=name, value=quoted([label]))
    return [int(number) for number in codes]
