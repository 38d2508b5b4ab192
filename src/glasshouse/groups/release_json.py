"""Releases that are written out: the JSON form for small examples.

A horizontal release gives each group its generalised values, one per attribute; a vertical one its rows::

    {"name": "Table I(b)",
     "attributes": [{"name": "Nat.", "values": ["M", "J", "C", "I"], "beta": 1},
                    {"name": "ZIP", "hierarchy": {"45501": ["4550*", "*"], "45502": ["4550*", "*"]}}],
     "sensitive": {"name": "Dis.", "values": ["Heart", "Flu"], "alpha": 1},
     "groups": [{"sensitive": ["Heart", "Flu"], "generalised": [["M", "J"], "4550*"]}]}

    {…, "groups": [{"sensitive": ["Heart", "Flu"], "rows": [["J", "45502"], ["M", "45501"]]}]}

``values`` is the domain; without it, that of ``hierarchy`` (per value its labels) or what the groups name. A
generalised value is a text or a list of values. ``alpha`` and ``beta`` are 1 where they are not given; one number, or
one per value by its name; numbers may be texts such as "1/3". A group may name its people (``"people": [1, 2]``):
nobody is in two.

A document is first checked entry by entry, so that nothing is guessed, and then turned into a release.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from decimal import Decimal
from math import isfinite
from numbers import Real
from typing import Any

import numpy as np

from glasshouse.errors import DataError
from glasshouse.groups.labels import ValueSets, domain_of, labelled_sets, starts_of
from glasshouse.groups.release import Attribute, Release, Scheme, Sensitive, prior_of
from glasshouse.language import marked, printable, quoted, text, unknown_name

EXAMPLE = '{"attributes": [{"name": "age"}], "sensitive": {"name": "ill"}, "groups": […]}'
"""The shortest form, for messages."""
RELEASE = {"name": False, "attributes": True, "sensitive": True, "groups": True}
ATTRIBUTE = {"name": True, "values": False, "hierarchy": False, "beta": False}
SENSITIVE = {"name": True, "values": False, "alpha": False}
GROUP = {"sensitive": True, "generalised": False, "rows": False, "people": False}
"""The entries of each part, and whether it needs them."""
SIZES = {
    ("people", True): marked(
        "{name}: a group has more sensitive values ({told}) than people ({people}); every person has one"
    ),
    ("people", False): marked(
        "{name}: a group has fewer sensitive values ({told}) than people ({people}); every person has one"
    ),
    ("rows", True): marked(
        "{name}: a group has more sensitive values ({told}) than rows ({rows}); every person has one"
    ),
    ("rows", False): marked(
        "{name}: a group has fewer sensitive values ({told}) than rows ({rows}); every person has one"
    ),
}
"""What is wrong with a group, by what it is compared with and whether it has more sensitive values than that."""
_LISTS = (list, tuple, set, frozenset, range)
_SHOWN = 40
"""So many characters of a wrong entry are shown."""


def from_json(document: str | Mapping[str, Any]) -> Release:
    """Return a release that is written out, as text or as what a JSON reader made of it.

    Raises:
        DataError: It is not of the documented form; or a group has more sensitive values than rows, a generalised
            value is outside its domain, or groups overlap.
        StudyError: A parameter of the prior is not above 0.

    >>> release = from_json('''{"attributes": [{"name": "city"}], "sensitive": {"name": "illness"},
    ...     "groups": [{"sensitive": ["flu", "HIV"], "generalised": ["{Lyon, Nice}"]},
    ...                {"sensitive": ["flu"], "generalised": ["Bonn"]}]}''')
    >>> release.scheme.value, release.attributes[0].values, release.counts.tolist()
    ('horizontal', ('Bonn', 'Lyon', 'Nice'), [1, 2])
    """
    parsed: Any = document
    if isinstance(document, str):
        try:
            parsed = json.loads(document, object_pairs_hook=unique_entries)
        except ValueError as error:
            raise DataError(
                "the release is not JSON ({reason}); write it such as {example}",
                reason=error,
                example=EXAMPLE,
            ) from None
        except RecursionError:
            raise DataError("the release is nested too deeply to be one") from None
    check_form(parsed)
    return _release(parsed)


def _release(document: Mapping[str, Any]) -> Release:
    name, groups = str(document.get("name", "release")), list(document["groups"])
    if not groups:
        raise DataError("{name}: there is no group; give at least one", name=name)
    is_vertical = "rows" in groups[0]
    if any(("rows" in group) != is_vertical for group in groups):
        raise DataError(
            '{name}: some groups have "rows" and some have "generalised"; one release has one kind',
            name=name,
        )
    _check_people(name, groups)
    listed = list(document["attributes"])
    names: set[str] = set()
    for part in (*listed, document["sensitive"]):
        attribute = str(part["name"])
        if attribute in names:
            raise DataError(
                "{name}: two attributes are called {attribute}; rename one",
                name=name,
                attribute=quoted([attribute]),
            )
        names.add(attribute)
    rows: list[Sequence[Any]] = []
    for group in groups:
        if is_vertical:
            _check_size(name, group, "rows")
        rows += group["rows"] if is_vertical else [group["generalised"]]
    for row in rows:
        if len(row) != len(listed):
            raise DataError(
                "{name}: {row} has {entries} values for {attributes} attributes; give one for each",
                name=name,
                row=row,
                entries=str(len(row)),
                attributes=str(len(listed)),
            )
    attributes = [
        _attribute(part, [_text(row[place]) for row in rows], is_vertical=is_vertical)
        for place, part in enumerate(listed)
    ]
    secrets = [str(value) for group in groups for value in group["sensitive"]]
    secret = document["sensitive"]
    values = _given_values(secret) or tuple(sorted(set(secrets)))
    _check_inside(str(secret["name"]), secrets, values)
    alpha = prior_of("alpha", secret.get("alpha", 1), str(secret["name"]), values)
    sensitive = Sensitive((str(secret["name"]),), values, alpha)
    return Release(
        name=name,
        scheme=Scheme.VERTICAL if is_vertical else Scheme.HORIZONTAL,
        attributes=tuple(attribute for attribute, _ in attributes),
        sensitive=sensitive,
        starts=starts_of([len(group["sensitive"]) for group in groups]),
        sensitive_codes=np.array([sensitive.code[value] for value in secrets], np.int32),
        codes=np.ascontiguousarray(np.array([codes for _, codes in attributes], np.int32).T),
    )


def _check_people(name: str, groups: Sequence[Mapping[str, Any]]) -> None:
    seen: set[str] = set()
    for group in groups:
        people = [str(person) for person in group.get("people", [])]
        for person in people:
            if person in seen:
                raise DataError(
                    "{name}: groups overlap, {person} is in two of them; put each person in one",
                    name=name,
                    person=quoted([person]),
                )
        seen.update(people)
        if people:
            _check_size(name, group, "people")


def _check_size(name: str, group: Mapping[str, Any], kind: str) -> None:
    """Make sure that a group has one sensitive value for each of its rows, or of its people."""
    values, size = len(group["sensitive"]), len(group[kind])
    if values != size:
        sizes = {"told": str(values), kind: str(size)}
        raise DataError(SIZES[kind, values > size], name=name, **sizes)


def _text(value: object) -> str:
    """Return a released value as text; a list stands for a set."""
    if isinstance(value, list | tuple | set):
        members = sorted(map(str, value)) if isinstance(value, set) else list(map(str, value))
        return members[0] if len(members) == 1 else "{" + ", ".join(members) + "}"
    return str(value)


def _attribute(
    part: Mapping[str, Any], texts: Sequence[str], *, is_vertical: bool
) -> tuple[Attribute, list[int]]:
    name, hierarchy = str(part["name"]), part.get("hierarchy")
    values = _given_values(part)
    if is_vertical:
        values = values or tuple(sorted(set(texts)))
        _check_inside(name, texts, values)
        labels, sets = values, ValueSets.singletons(len(values))
    else:
        values = values or domain_of(name, texts, hierarchy)
        labels = tuple(dict.fromkeys(texts))
        sets = labelled_sets(name, labels, values, hierarchy)
    code = {label: number for number, label in enumerate(labels)}
    beta = prior_of("beta", part.get("beta", 1), name, values)
    return Attribute(name, values, beta, labels, sets), [code[written] for written in texts]


def _given_values(part: Mapping[str, Any]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(map(str, part.get("values", ()))))


def _check_inside(name: str, texts: Sequence[str], values: Sequence[str]) -> None:
    strangers = sorted(set(texts) - set(values))
    if strangers:
        raise DataError(
            '{value} is not in the domain of "{name}"; give a domain that holds it',
            value=quoted(strangers[:1]),
            name=name,
        )


# Whether the document has the form of a release.
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
            'the release: the entry "{name}" is given twice in one place; give it once', name=twice
        )
    return entries


def check_form(document: Any) -> None:
    """Make sure that a document has the form of a release: nothing is guessed, left aside, or turned into text.

    Raises:
        DataError: An entry is missing, unknown or of another kind; where, and what to write instead.
    """
    _check_entries(document, RELEASE, text("the release"))
    for number, part in enumerate(_listed(document["attributes"], '"attributes"'), start=1):
        where = text("attribute {number}", number=str(number))
        _check_entries(part, ATTRIBUTE, where)
        _check_domain(part, where)
        _check_hierarchy(part.get("hierarchy", {}), where)
    _check_entries(document["sensitive"], SENSITIVE, '"sensitive"')
    _check_domain(document["sensitive"], '"sensitive"')
    for number, part in enumerate(_listed(document["groups"], '"groups"'), start=1):
        _check_group(part, text("group {number}", number=str(number)))


def _check_group(group: Any, where: str) -> None:
    _check_entries(group, GROUP, where)
    if "generalised" in group and "rows" in group:
        raise DataError(
            '{where} has "rows" and "generalised"; one release has one kind, so leave one out',
            where=where,
        )
    if "generalised" not in group and "rows" not in group:
        raise _missing(where, "generalised")
    for entry in ("sensitive", "people"):
        _check_values(group.get(entry, ()), _inside(where, entry))
    for label in _listed(group.get("generalised", ()), _inside(where, "generalised")):
        _check_label(label, _inside(where, "generalised"))
    for row in _listed(group.get("rows", ()), _inside(where, "rows")):
        _check_values(row, _inside(where, "rows"))


def _check_label(label: Any, where: str) -> None:
    """Make sure that a generalised value is a text or a number, or a list of values that is not empty."""
    if isinstance(label, _LISTS) and not label:
        raise DataError(
            "{where} holds an empty list; name the values that it stands for", where=where
        )
    _check_values(label if isinstance(label, _LISTS) else (label,), where)


def _check_prior(prior: Any, where: str) -> None:
    """Make sure that a parameter is a number, or one per value; whether it is above 0 is looked at later."""
    for number in prior.values() if isinstance(prior, Mapping) else (prior,):
        if number is None or isinstance(number, (bool, Mapping, *_LISTS)):
            raise DataError(
                "{where} is {given}; give a number above 0, or one for each value",
                where=where,
                given=_shown(number),
            )


def _check_entries(part: Any, entries: Mapping[str, bool], where: str) -> None:
    """Make sure that a part is a table of the entries that it may have, with those that it must have."""
    if not isinstance(part, Mapping):
        raise DataError(
            "{where} is {given}, where entries are needed; write it such as {example}",
            where=where,
            given=_shown(part),
            example=EXAMPLE,
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
    _check_values(part.get("values", ()), _inside(where, "values"))
    for letter in ("alpha", "beta"):
        _check_prior(part.get(letter, 1), _inside(where, letter))


def _check_hierarchy(hierarchy: Any, where: str) -> None:
    place = _inside(where, "hierarchy")
    if not isinstance(hierarchy, Mapping):
        raise DataError(
            "{where} is {given}, where each value has a list of its labels; write it such as {example}",
            where=place,
            given=_shown(hierarchy),
            example='{"45501": ["4550*", "*"]}',
        )
    for labels in hierarchy.values():
        _check_values(labels, place)


def _listed(part: Any, where: str) -> Iterable[Any]:
    """Return the members of a list; a text is none."""
    if isinstance(part, _LISTS):
        members: Iterable[Any] = part
        return members
    raise DataError(
        "{where} is {given}, where a list is needed; write it such as {example}",
        where=where,
        given=_shown(part),
        example='["a", "b"]',
    )


def _check_values(part: Any, where: str) -> None:
    for value in _listed(part, where):
        _check_value(value, where)


def _check_value(value: Any, where: str) -> None:
    """Make sure that a value is a text or a number: nothing else has one spelling."""
    is_number = not isinstance(value, bool) and isinstance(value, Real) and isfinite(value)
    if is_number or isinstance(value, str | Decimal):
        return
    raise DataError(
        '{where} holds {given}, which is neither a text nor a number; write a missing value as "", and any other '
        "as a text",
        where=where,
        given=_shown(value),
    )


def _missing(where: str, name: str) -> DataError:
    return DataError(
        '{where} lacks the entry "{name}"; write a release such as {example}',
        where=where,
        name=name,
        example=EXAMPLE,
    )


def _inside(where: str, entry: str) -> str:
    return text('"{entry}" of {where}', entry=entry, where=where)


def _shown(value: Any) -> str:
    """Return what was written, as JSON spells it; of much, the beginning."""
    written = printable(json.dumps(value, ensure_ascii=False, default=str))
    return written if len(written) <= _SHOWN else written[:_SHOWN] + "…"
