"""Labels: the names of secrets, observations and guesses, which may be any hashable values."""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from typing import TypeAlias

from glasshouse.errors import StudyError
from glasshouse.language import near_names

Labels: TypeAlias = tuple[Hashable, ...]
"""Distinct hashable values, in the order of the rows or columns that they name."""


def as_labels(labels: Iterable[Hashable] | None, *, count: int, what: str) -> Labels:
    """Return labels as a tuple, or 0, 1, 2 … when none are given.

    Raises:
        StudyError: If their number is not `count` or one is given twice.

    >>> as_labels(None, count=3, what="secrets")
    (0, 1, 2)
    """
    if labels is None:
        return tuple(range(count))
    names = tuple(labels)
    if len(names) != count:
        raise StudyError(f"{len(names)} labels for {count} {what}")
    if len(set(names)) != count:
        twice = next(label for label in names if names.count(label) > 1)
        raise StudyError(f"the label {twice!r} names more than one of the {what}")
    return names


def position(label: Hashable, *, labels: Labels, what: str) -> int:
    """Return the index of a label.

    Raises:
        StudyError: If there is no such label; the message names near ones.
    """
    try:
        return labels.index(label)
    except ValueError:
        near = near_names(str(label), map(str, labels))
        hint = f"; did you mean {' or '.join(near)}?" if near else f"; there are {len(labels)}"
        raise StudyError(f"{label!r} is not one of the {what}{hint}") from None


def require_same(first: Labels, second: Labels, *, what: str) -> None:
    """Check that two things speak of the same labels in the same order.

    Raises:
        StudyError: If they do not; the message shows the first difference.
    """
    if len(first) != len(second):
        raise StudyError(f"{what} do not fit together: {len(first)} and {len(second)} labels")
    for label, other in zip(first, second, strict=True):
        if label != other:
            raise StudyError(f"{what} do not fit together: {label!r} stands where {other!r} does")
