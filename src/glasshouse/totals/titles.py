"""What results call the bins of a campaign: their texts put together, told apart where two would be called the same.

A bin is what its columns say it is: ("New York", "City") is another than ("New", "York City"), and a city "Rio" another
than a state "Rio". In phases with the same columns it is the same.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from glasshouse.totals.checking import NONE
from glasshouse.totals.finding import Found

Key = tuple[tuple[str, str], ...]
"""The columns that name a bin, each with its text."""


@dataclass(frozen=True, eq=False)
class Titles:
    """The bins of all phases."""

    keys: tuple[tuple[Key, ...], ...]
    """Per phase and bin, what it is."""
    names: tuple[tuple[str, ...], ...]
    """Per phase and bin, what results call it."""
    left_out: str
    """What they call the bin of records left out: "NONE", unless a bin is called so."""


def titles_of(found: Sequence[Found]) -> Titles:
    """Return what the bins of some phases are called."""
    keys = tuple(_keys(each) for each in found)
    distinct = list(dict.fromkeys(key for own in keys for key in own))
    names = dict(zip(distinct, told_apart(distinct), strict=True))
    taken = set(names.values())
    left_out = NONE
    while left_out in taken:
        left_out += " (left out)"
    return Titles(keys, tuple(tuple(names[key] for key in own) for own in keys), left_out)


def told_apart(keys: Sequence[Key]) -> list[str]:
    """Return a name for each of some bins, all of them different: as short as can be.

    >>> told_apart([(("state", "New York"), ("city", "City")), (("state", "MG"), ("city", "Ipatinga"))])
    ['New York City', 'MG Ipatinga']
    >>> told_apart([(("state", "New York"), ("city", "City")), (("state", "New"), ("city", "York City"))])
    ['New York / City', 'New / York City']
    >>> told_apart([(("state", "Rio"),), (("city", "Rio"),)])
    ['Rio (state)', 'Rio (city)']
    """
    names = [_WAYS[0](key) for key in keys]
    for way in _WAYS[1:]:
        times = Counter(names)
        names = [
            way(key) if times[name] > 1 else name for key, name in zip(keys, names, strict=True)
        ]
    return _numbered(names)


def _keys(found: Found) -> tuple[Key, ...]:
    columns = found.instances.groups.bin_columns
    return tuple(
        tuple(zip(columns, texts, strict=True)) for texts in zip(*columns.values(), strict=True)
    )


def _numbered(names: Sequence[str]) -> list[str]:
    """Return names with a number behind those that still stand for several bins."""
    taken, found = set(names), []
    seen: Counter[str] = Counter()
    for name in names:
        seen[name] += 1
        new, number = name, seen[name]
        while number > 1 and new in taken:
            new = f"{name} ({number})"
            number += 1
        taken.add(new)
        found.append(new)
    return found


_WAYS: tuple[Callable[[Key], str], ...] = (
    lambda key: " ".join(text for _, text in key),
    lambda key: " / ".join(text for _, text in key),
    lambda key: " / ".join(f"{text} ({column})" for column, text in key),
)
"""How a bin can be called, the shortest first."""
