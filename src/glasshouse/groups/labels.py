"""What the labels of a horizontal release stand for: sets, intervals, prefixes, the labels of a hierarchy, ``*``."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TypeAlias

import numpy as np
import pyarrow as pa

from glasshouse.errors import DataError, quoted
from glasshouse.groups.sets import ValueSets
from glasshouse.language import text, unknown_name
from glasshouse.table.generalised import (
    SUPPRESSED,
    as_interval,
    generalised_values,
    set_members,
    stood_for,
)

Ancestors: TypeAlias = Mapping[str, Sequence[str]]
"""A hierarchy: per value of the domain its labels, from the most specific to the root."""


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
                text(
                    '"{name}": the released value {value} does not name the values that it stands for; give the '
                    "domain of the attribute (--values {name}=LOW..HIGH or a file), or its hierarchy (--hierarchy)",
                    name=name,
                    value=quoted([label]),
                )
            )
        named.update(members or [label])
    if not named:
        raise DataError(
            text(
                '"{name}" is suppressed in all rows; give its domain or a hierarchy, or leave it out',
                name=name,
            )
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
    found = np.flatnonzero(stood_for(values, [label]))
    if not len(found):
        raise DataError(_outside(name, quoted([label]), has_hierarchy=has_hierarchy))
    return [int(number) for number in found]


def _outside(name: str, value: str, *, has_hierarchy: bool) -> str:
    if has_hierarchy:
        return text(
            '"{name}": the released value {value} is outside its hierarchy: it is no value or label of it and covers '
            "none; correct it, or give the domain or hierarchy that the release was made with",
            name=name,
            value=value,
        )
    return text(
        '"{name}": the released value {value} is outside its domain: it is no value or label of it and covers none; '
        "correct it, or give the domain or hierarchy that the release was made with",
        name=name,
        value=value,
    )
