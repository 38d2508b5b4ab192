"""How the values of a quasi-identifier are generalised, and what is released of them."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from decimal import Decimal
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from glasshouse.arrays import Integers
from glasshouse.errors import StudyError, quoted
from glasshouse.language import text
from glasshouse.mitigation.hierarchies import CodedHierarchy
from glasshouse.mitigation.local.forest import Forest, Space
from glasshouse.mitigation.local.items import Items
from glasshouse.table import Column
from glasshouse.table.generalised import SUPPRESSED, covers

TextOf = Callable[[Sequence[str]], str]
"""How several values, given in order, are released as one."""

_LONGEST_SET = 32
"""A set of more values is released as ``*``."""
_PLAIN_NUMBER = re.compile(r"[+-]?[0-9]+(\.[0-9]+)?")
_NO_HYPHEN = re.compile(r"[+-]|0[0-9]")
"""How numbers begin that are not the ends of a range with a hyphen: that would be read as a code."""
_ISO_DATE = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}")
_NOT_IN_SETS = re.compile(r"[,;|{}*]|^\s|\s$")


@dataclass(frozen=True)
class Told:
    """What is released of one attribute."""

    labels: Integers
    """Per group, the position of its text."""
    texts: tuple[str, ...]
    """The texts, each once."""
    sizes: Integers
    """Per group, for how many values of the domain it stands."""


@dataclass(frozen=True)
class Attribute:
    """How the values of a quasi-identifier are generalised."""

    tree: Forest
    """Its labels, the first being the root; what a record loses is (size − 1) / (domain − 1)."""
    sizes: Integers
    """Per label, for how many values of the domain it stands."""
    texts: tuple[str, ...]
    """Per label, what is released."""
    leaves: NDArray[np.int32]
    """Per code of the column, the label of the value itself."""
    text_of: TextOf | None = None
    """Where there is no hierarchy: how several values, given in order, are released; they stand under the root."""

    @property
    def domain(self) -> int:
        """The number of values in the domain."""
        return int(self.sizes[0])

    @classmethod
    def of_hierarchy(cls, coded: CodedHierarchy) -> Attribute:
        """Number the labels of a hierarchy: the root first, and after each label what stands under it."""
        values = np.lexsort(coded.codes)
        labels = np.stack([codes[values] for codes in reversed(coded.codes)], axis=1)
        fresh = np.ones(labels.shape, np.bool_)
        fresh[1:] = labels[1:] != labels[:-1]
        numbers = np.cumsum(fresh.ravel()).reshape(fresh.shape) - 1
        numbers = np.maximum.accumulate(np.where(fresh, numbers, 0), axis=0)
        parent = np.zeros(int(fresh.sum()), np.int32)
        last, sizes = np.zeros_like(parent), np.zeros(len(parent), np.int64)
        texts = [""] * len(parent)
        for depth, level in enumerate(reversed(range(coded.height))):
            rows = np.flatnonzero(fresh[:, depth])
            own = numbers[rows, depth]
            parent[own] = numbers[rows, max(0, depth - 1)]
            last[own] = numbers[np.append(rows[1:], len(labels)) - 1, -1]
            sizes[own] = coded.sizes[level][labels[rows, depth]]
            for number, label in zip(own.tolist(), labels[rows, depth].tolist(), strict=True):
                texts[number] = coded.labels[level][label]
        leaves = np.empty(len(values), np.int32)
        leaves[values] = numbers[:, -1]
        return cls(_tree(parent, last, sizes), sizes, tuple(texts), leaves)

    @classmethod
    def of_order(cls, column: Column) -> Attribute:
        """Put the values of a column in order, right under a root.

        Raises:
            StudyError: A value is a text that cannot be told in a set.
        """
        texts = sorted(column.values.to_pylist())
        known = texts[texts.count("") :]
        text_of: TextOf = _set
        if all(map(_PLAIN_NUMBER.fullmatch, known)):
            known.sort(key=Decimal)
            text_of = _range("..") if any(map(_NO_HYPHEN.match, known)) else _range("-")
        elif all(map(_ISO_DATE.fullmatch, known)):
            text_of = _range("..")
        elif unfit := [written for written in known if _NOT_IN_SETS.search(written)]:
            raise StudyError(
                text(
                    "the value {value} of column {column} cannot be released as one of a set; "
                    "give the column a hierarchy",
                    value=quoted(unfit[:1]),
                    column=quoted([column.name]),
                )
            )
        texts = [SUPPRESSED, *texts[: texts.count("")], *known]
        place = {written: number for number, written in enumerate(texts) if number}
        sizes = np.ones(len(texts), np.int64)
        sizes[0] = len(place)
        last = np.arange(len(texts), dtype=np.int32)
        last[0] = len(place)
        leaves = np.array([place[written] for written in column.values.to_pylist()], np.int32)
        tree = _tree(np.zeros_like(last), last, sizes)
        return cls(tree, sizes, tuple(texts), leaves, text_of)

    def told(self, codes: NDArray[np.uint32], starts: Integers) -> Told:
        """Return what is released of groups, given where the codes of each begin."""
        leaves = self.leaves[codes]
        if self.text_of is _set:
            return self._told(*_distinct_sets(leaves, starts))
        lowest = np.minimum.reduceat(leaves, starts[:-1])
        highest = np.maximum.reduceat(leaves, starts[:-1])
        if self.text_of is None:
            lowest = highest = self.tree.joins(lowest, highest)
        ends, numbers = np.unique(lowest.astype(np.int64) << 32 | highest, return_inverse=True)
        return self._told([sorted({end >> 32, end & 0xFFFFFFFF}) for end in ends.tolist()], numbers)

    def _told(self, distinct: Sequence[Sequence[int]], numbers: Integers) -> Told:
        """Return what is released, given labels or the ends of ranges of them, and which of these each group has."""
        place: dict[str, int] = {}
        labels, sizes = [], []
        for own in distinct:
            texts = [self.texts[label] for label in own]
            written = texts[0] if self.text_of is None else self.text_of(texts)
            labels.append(place.setdefault(written, len(place)))
            if len(own) == 1:
                sizes.append(int(self.sizes[own[0]]))
            elif written == SUPPRESSED:
                sizes.append(self.domain)
            else:
                sizes.append(len(own) if self.text_of is _set else own[1] - own[0] + 1)
        return Told(np.array(labels)[numbers], tuple(place), np.array(sizes)[numbers])

    def stands_for(self, written: str, code: int) -> bool:
        """Tell whether a released text stands for the value of a code."""
        label = int(self.leaves[code])
        if self.text_of is not None:
            return covers(written, self.texts[label])
        while label and self.texts[label] != written:
            label = int(self.tree.parent[label])
        return self.texts[label] == written or written == SUPPRESSED


def space_of(items: Items, attributes: Sequence[Attribute]) -> Space:
    """Return the labels of all attributes together, and where the items stand among them."""
    leaves = [each.leaves[codes] for each, codes in zip(attributes, items.codes.T, strict=True)]
    return Space.of([each.tree for each in attributes], leaves)


def _tree(parent: NDArray[np.int32], last: NDArray[np.int32], sizes: Integers) -> Forest:
    return Forest(parent, last, (sizes - 1) / max(1, int(sizes[0]) - 1))


def _distinct_sets(
    leaves: NDArray[np.int32], starts: Integers
) -> tuple[list[tuple[int, ...]], Integers]:
    """Return the distinct sets of labels in groups, and which of them each group has."""
    place: dict[tuple[int, ...], int] = {}
    ordered = leaves[np.lexsort((leaves, np.repeat(np.arange(len(starts) - 1), np.diff(starts))))]
    numbers = [
        place.setdefault(tuple(dict.fromkeys(ordered[begin:end].tolist())), len(place))
        for begin, end in pairwise(starts.tolist())
    ]
    return list(place), np.array(numbers)


def _range(separator: str) -> TextOf:
    """Return how numbers or dates are released together; with a missing value among them nothing is told."""

    def text_of(texts: Sequence[str]) -> str:
        if len(texts) == 1:
            return texts[0]
        return SUPPRESSED if texts[0] == "" else f"{texts[0]}{separator}{texts[-1]}"

    return text_of


def _set(texts: Sequence[str]) -> str:
    if len(texts) == 1:
        return texts[0]
    if texts[0] == "" or len(texts) > _LONGEST_SET:
        return SUPPRESSED
    return "{" + ", ".join(texts) + "}"
