"""The form of a release that is written out: which entries there are, and what stands in each."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from decimal import Decimal
from math import isfinite
from numbers import Real
from typing import Any

from glasshouse.errors import DataError, printable
from glasshouse.language import text, unknown_name

EXAMPLE = '{"attributes": [{"name": "age"}], "sensitive": {"name": "ill"}, "groups": […]}'
"""The shortest form, for messages."""
RELEASE = {"name": False, "attributes": True, "sensitive": True, "groups": True}
ATTRIBUTE = {"name": True, "values": False, "hierarchy": False, "beta": False}
SENSITIVE = {"name": True, "values": False, "alpha": False}
GROUP = {"sensitive": True, "generalised": False, "rows": False, "people": False}
"""The entries of each part, and whether it needs them."""
_LISTS = (list, tuple, set, frozenset, range)
_SHOWN = 40
"""So many characters of a wrong entry are shown."""


def unique_entries(pairs: Sequence[tuple[str, Any]]) -> dict[str, Any]:
    """Return the entries of a JSON object, for its reader; an entry that is there twice is refused.

    Raises:
        DataError: It is.
    """
    entries = dict(pairs)
    if len(entries) < len(pairs):
        names = [name for name, _ in pairs]
        twice = next(name for place, name in enumerate(names) if name in names[:place])
        raise DataError(
            text(
                'the release: the entry "{name}" is given twice in one place; give it once',
                name=twice,
            )
        )
    return entries


def check_form(document: Any) -> None:
    """Make sure that a document has the form of a release: nothing is guessed, left aside, or turned into text.

    Raises:
        DataError: An entry is missing, unknown or of another kind; where, and what to write instead.
    """
    _check_entries(document, RELEASE, text("the release"))
    for number, own in enumerate(_listed(document["attributes"], '"attributes"'), start=1):
        where = text("attribute {number}", number=str(number))
        _check_entries(own, ATTRIBUTE, where)
        _check_domain(own, where)
        _check_hierarchy(own.get("hierarchy", {}), where)
    _check_entries(document["sensitive"], SENSITIVE, '"sensitive"')
    _check_domain(document["sensitive"], '"sensitive"')
    for number, own in enumerate(_listed(document["groups"], '"groups"'), start=1):
        _check_group(own, text("group {number}", number=str(number)))


def _check_group(group: Any, where: str) -> None:
    _check_entries(group, GROUP, where)
    if "generalised" in group and "rows" in group:
        raise DataError(
            text(
                '{where} has "rows" and "generalised"; one release has one kind, so leave one out',
                where=where,
            )
        )
    if "generalised" not in group and "rows" not in group:
        raise _missing(where, "generalised")
    for entry in ("sensitive", "people"):
        for value in _listed(group.get(entry, ()), _inside(where, entry)):
            _check_value(value, _inside(where, entry))
    for label in _listed(group.get("generalised", ()), _inside(where, "generalised")):
        _check_label(label, _inside(where, "generalised"))
    for row in _listed(group.get("rows", ()), _inside(where, "rows")):
        for value in _listed(row, _inside(where, "rows")):
            _check_value(value, _inside(where, "rows"))


def _check_label(label: Any, where: str) -> None:
    """Make sure that a generalised value is a text or a number, or a list of values that is not empty."""
    if isinstance(label, _LISTS) and not label:
        raise DataError(
            text("{where} holds an empty list; name the values that it stands for", where=where)
        )
    for value in label if isinstance(label, _LISTS) else (label,):
        _check_value(value, where)


def _check_prior(prior: Any, where: str) -> None:
    """Make sure that a parameter is a number, or one per value; whether it is above 0 is looked at later."""
    for number in prior.values() if isinstance(prior, Mapping) else (prior,):
        if number is None or isinstance(number, (bool, Mapping, *_LISTS)):
            raise DataError(
                text(
                    "{where} is {given}; give a number above 0, or one for each value",
                    where=where,
                    given=_shown(number),
                )
            )


def _check_entries(part: Any, entries: Mapping[str, bool], where: str) -> None:
    """Make sure that a part is a table of the entries that it may have, with those that it must have."""
    if not isinstance(part, Mapping):
        raise DataError(
            text(
                "{where} is {given}, where entries are needed; write it such as {example}",
                where=where,
                given=_shown(part),
                example=EXAMPLE,
            )
        )
    for name in part:
        if name not in entries:
            raise DataError(unknown_name("entry", str(name), where, entries))
    for name, needed in entries.items():
        if needed and name not in part:
            raise _missing(where, name)
    if "name" in part:
        _check_value(part["name"], _inside(where, "name"))


def _check_domain(part: Mapping[str, Any], where: str) -> None:
    for value in _listed(part.get("values", ()), _inside(where, "values")):
        _check_value(value, _inside(where, "values"))
    for letter in ("alpha", "beta"):
        _check_prior(part.get(letter, 1), _inside(where, letter))


def _check_hierarchy(hierarchy: Any, where: str) -> None:
    place = _inside(where, "hierarchy")
    if not isinstance(hierarchy, Mapping):
        raise DataError(
            text(
                "{where} is {given}, where each value has a list of its labels; write it such as {example}",
                where=place,
                given=_shown(hierarchy),
                example='{"45501": ["4550*", "*"]}',
            )
        )
    for labels in hierarchy.values():
        for label in _listed(labels, place):
            _check_value(label, place)


def _listed(part: Any, where: str) -> Iterable[Any]:
    """Return the members of a list; a text is none."""
    if isinstance(part, _LISTS):
        members: Iterable[Any] = part
        return members
    raise DataError(
        text(
            "{where} is {given}, where a list is needed; write it such as {example}",
            where=where,
            given=_shown(part),
            example='["a", "b"]',
        )
    )


def _check_value(value: Any, where: str) -> None:
    """Make sure that a value is a text or a number: nothing else has one spelling."""
    is_number = not isinstance(value, bool) and isinstance(value, Real) and isfinite(value)
    if is_number or isinstance(value, str | Decimal):
        return
    raise DataError(
        text(
            '{where} holds {given}, which is neither a text nor a number; write a missing value as "", and any other '
            "as a text",
            where=where,
            given=_shown(value),
        )
    )


def _missing(where: str, name: str) -> DataError:
    return DataError(
        text(
            '{where} lacks the entry "{name}"; write a release such as {example}',
            where=where,
            name=name,
            example=EXAMPLE,
        )
    )


def _inside(where: str, entry: str) -> str:
    return text('"{entry}" of {where}', entry=entry, where=where)


def _shown(value: Any) -> str:
    """Return what was written, as JSON spells it; of much, the beginning."""
    written = printable(json.dumps(value, ensure_ascii=False, default=str))
    return written if len(written) <= _SHOWN else written[:_SHOWN] + "…"
