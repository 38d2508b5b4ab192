"""What columns and values are called in a report: by their labels, where the file or the study gives any.

The code is the value: results and JSON have it, whatever it is called here. Labels hold within a block, as a language
does, so that every sentence, table and picture that is made there has them.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any

from glasshouse.language import printable
from glasshouse.table import Labels

LONGEST = 60
"""A longer label is cut off: labels of surveys are whole questions, and stand without their mark in a sentence."""

Value = Any
"""A value as text, None where there is none, or a tuple of the values of several columns."""

_current: ContextVar[Labels] = ContextVar("labels", default=Labels())  # noqa: B039 - it is frozen


@contextmanager
def labelled(labels: Labels) -> Iterator[None]:
    """Call columns and values by their labels within a block: each on one line, bounded, and none like another.

    >>> with labelled(Labels({"v1": "Age", "v2": "Age"}, {"sex": {"1": "male"}})):
    ...     column_label("v1"), column_label("v1@2014"), column_label("v3"), value_label(["sex"], "1")
    ('Age (v1)', 'Age (v1)@2014', 'v3', 'male')
    """
    values = {column: _told_apart(by_value) for column, by_value in labels.values.items()}
    token = _current.set(Labels(_told_apart(labels.columns), values))
    try:
        yield
    finally:
        _current.reset(token)


def _told_apart(labels: Mapping[str, str]) -> dict[str, str]:
    """Return labels that can be shown; one that is also that of another, or is another name, comes with its own."""
    short = {name: short_label(label) for name, label in labels.items() if label.strip()}
    often = Counter(short.values())
    return {
        name: f"{label} ({short_label(name)})"
        if often[label] > 1 or (label in labels and label != name)
        else label
        for name, label in short.items()
    }


def short_label(label: str) -> str:
    """Return a label as it can be shown: on one line, and bounded."""
    line = printable(" ".join(label[: 4 * LONGEST].split())).rstrip(":;.?") or printable(label)
    return line if len(line) <= LONGEST else f"{line[: LONGEST - 1].rstrip()}…"


def column_label(name: str) -> str:
    """Return what a column is called: its label, or else its name; that of a dataset keeps the dataset's tag."""
    labels = _current.get().columns
    column, tag = _untagged(name, labels)
    return f"{labels[column]}{tag}" if column in labels else name


def column_labels(names: Sequence[str]) -> str:
    """Return what columns are called, with commas between."""
    return ", ".join(map(column_label, names))


def value_label(columns: Sequence[str], value: Value) -> Value:
    """Return a value of a column, or the values of several together, with labels in the place of codes."""
    if isinstance(value, tuple) and len(value) == len(columns):
        return tuple(map(_called, columns, value))
    return _called(columns[0], value) if len(columns) == 1 else value


def _called(name: str, value: Value) -> Value:
    labels = _current.get().values
    return labels.get(_untagged(name, labels)[0], {}).get(str(value), value)


def _untagged(name: str, labels: Mapping[str, object]) -> tuple[str, str]:
    """Return a column and the tag of its dataset, as in ``age@2014``, unless that is the name of a column."""
    column, tag, dataset = name.rpartition("@")
    return (column, tag + dataset) if name not in labels and column in labels else (name, "")
