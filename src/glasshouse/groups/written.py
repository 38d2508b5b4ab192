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
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from glasshouse.errors import DataError, quoted
from glasshouse.groups.labels import ValueSets, domain_of, labelled_sets
from glasshouse.groups.release import Attribute, Release, Scheme, Sensitive, prior_of
from glasshouse.groups.written_form import EXAMPLE, check_form, unique_entries
from glasshouse.language import text


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
                text(
                    "the release is no JSON ({reason}); write it such as {example}",
                    reason=error,
                    example=EXAMPLE,
                )
            ) from None
    check_form(parsed)
    return _release(parsed)


def _release(document: Mapping[str, Any]) -> Release:
    name, groups = str(document.get("name", "release")), list(document["groups"])
    if not groups:
        raise DataError(text("{name}: there is no group; give at least one", name=name))
    is_vertical = "rows" in groups[0]
    if any(("rows" in each) != is_vertical for each in groups):
        raise DataError(
            text(
                '{name}: some groups have "rows" and some have "generalised"; one release has one kind',
                name=name,
            )
        )
    _check_people(name, groups)
    listed = list(document["attributes"])
    _check_names(name, [str(own["name"]) for own in (*listed, document["sensitive"])])
    rows = _vertical_rows(name, groups) if is_vertical else [each["generalised"] for each in groups]
    for row in rows:
        if len(row) != len(listed):
            raise DataError(
                text(
                    "{name}: {row} has {entries} values for {attributes} attributes; give one for each",
                    name=name,
                    row=row,
                    entries=str(len(row)),
                    attributes=str(len(listed)),
                )
            )
    made = [
        _attribute(own, [_text(row[place]) for row in rows], is_vertical=is_vertical)
        for place, own in enumerate(listed)
    ]
    secrets = [str(value) for each in groups for value in each["sensitive"]]
    sensitive = _sensitive(document["sensitive"], secrets)
    lengths = [len(each["sensitive"]) for each in groups]
    return Release(
        name=name,
        scheme=Scheme.VERTICAL if is_vertical else Scheme.HORIZONTAL,
        attributes=tuple(attribute for attribute, _ in made),
        sensitive=sensitive,
        starts=np.concatenate([np.zeros(1, np.int64), np.cumsum(lengths)]),
        sensitive_codes=np.array([sensitive.code[value] for value in secrets], np.int32),
        codes=np.ascontiguousarray(np.array([codes for _, codes in made], np.int32).T),
    )


def _check_names(name: str, names: Sequence[str]) -> None:
    for place, own in enumerate(names):
        if own in names[:place]:
            raise DataError(
                text(
                    "{name}: two attributes are called {attribute}; rename one",
                    name=name,
                    attribute=quoted([own]),
                )
            )


def _check_people(name: str, groups: Sequence[Mapping[str, Any]]) -> None:
    seen: set[str] = set()
    for each in groups:
        people = [str(person) for person in each.get("people", [])]
        for person in people:
            if person in seen:
                raise DataError(
                    text(
                        "{name}: groups overlap, {person} is in two of them; put each person in one",
                        name=name,
                        person=quoted([person]),
                    )
                )
        seen.update(people)
        told = len(each["sensitive"])
        if people and told != len(people):
            raise DataError(_not_one_each(name, told, len(people)))


def _vertical_rows(name: str, groups: Sequence[Mapping[str, Any]]) -> list[Sequence[Any]]:
    for each in groups:
        if len(each["sensitive"]) != len(each["rows"]):
            raise DataError(_not_one_per_row(name, len(each["sensitive"]), len(each["rows"])))
    return [row for each in groups for row in each["rows"]]


def _not_one_each(name: str, told: int, people: int) -> str:
    parts = {"name": name, "told": str(told), "people": str(people)}
    if told > people:
        return text(
            "{name}: a group has more sensitive values ({told}) than people ({people}); every person has one",
            **parts,
        )
    return text(
        "{name}: a group has fewer sensitive values ({told}) than people ({people}); every person has one",
        **parts,
    )


def _not_one_per_row(name: str, told: int, rows: int) -> str:
    parts = {"name": name, "told": str(told), "rows": str(rows)}
    if told > rows:
        return text(
            "{name}: a group has more sensitive values ({told}) than rows ({rows}); every person has one",
            **parts,
        )
    return text(
        "{name}: a group has fewer sensitive values ({told}) than rows ({rows}); every person has one",
        **parts,
    )


def _text(value: object) -> str:
    """Return a released value as text; a list stands for a set."""
    if isinstance(value, list | tuple | set):
        members = sorted(map(str, value)) if isinstance(value, set) else list(map(str, value))
        return members[0] if len(members) == 1 else "{" + ", ".join(members) + "}"
    return str(value)


def _attribute(
    own: Mapping[str, Any], texts: Sequence[str], *, is_vertical: bool
) -> tuple[Attribute, list[int]]:
    name, hierarchy = str(own["name"]), own.get("hierarchy")
    given = tuple(dict.fromkeys(map(str, own.get("values", ()))))
    values = given or (
        tuple(sorted(set(texts))) if is_vertical else domain_of(name, texts, hierarchy)
    )
    labels = values if is_vertical else tuple(dict.fromkeys(texts))
    if is_vertical:
        strangers = sorted(set(texts) - set(values))
        if strangers:
            raise DataError(
                text(
                    '{value} is not in the domain of "{name}"; give a domain that holds it',
                    value=quoted(strangers[:1]),
                    name=name,
                )
            )
        sets = ValueSets.singletons(len(values))
    else:
        sets = labelled_sets(name, labels, values, hierarchy)
    code = {label: number for number, label in enumerate(labels)}
    beta = prior_of("beta", own.get("beta", 1), name, values)
    return Attribute(name, values, beta, labels, sets), [code[written] for written in texts]


def _sensitive(own: Mapping[str, Any], secrets: Sequence[str]) -> Sensitive:
    name = str(own["name"])
    values = tuple(dict.fromkeys(map(str, own.get("values", ())))) or tuple(sorted(set(secrets)))
    strangers = sorted(set(secrets) - set(values))
    if strangers:
        raise DataError(
            text(
                '{value} is not in the domain of "{name}"; give a domain that holds it',
                value=quoted(strangers[:1]),
                name=name,
            )
        )
    return Sensitive((name,), values, prior_of("alpha", own.get("alpha", 1), name, values))
