"""Who may be attacked: people by what is known of them, the rows of a release, or the records of an original table."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TypeAlias

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from glasshouse.errors import DataError, StudyError, quoted
from glasshouse.groups.agreement import (
    check_counts,
    check_generalised,
    check_permuted,
    distinct_rows,
)
from glasshouse.groups.knowledge import Victims
from glasshouse.groups.labels import ValueSets, values_of_label
from glasshouse.groups.matching import Matches, matches
from glasshouse.groups.release import Attribute, Release
from glasshouse.language import text, unknown_name
from glasshouse.table import Column, EncodedTable
from glasshouse.table.partition import refined

Known: TypeAlias = str | Iterable[str]
"""What is known of one attribute: a value, a generalised value such as ``30-39``, or some values."""


@dataclass(frozen=True)
class Original:
    """The cleartext table behind a release, as only the evaluator has it."""

    victim: NDArray[np.int64]
    """Per record, the number of its victim: who has the same non-sensitive values."""
    sensitive: NDArray[np.int32]
    """Per record, the code of its sensitive value."""
    codes: NDArray[np.int32]
    """Per victim and attribute, the code of the value."""
    weights: NDArray[np.int64]
    """Per victim and sensitive value, how many records there are (victims × values)."""
    positions: NDArray[np.int64] | None = None
    """Per record, its position in the file of the original; None: they are in its order, and all of them."""

    @property
    def records(self) -> int:
        """The number of records."""
        return len(self.victim)


def victims_of(release: Release, people: Sequence[Mapping[str, Known]]) -> Victims:
    """Return people of whom some attributes are known, fully or in part (equation 15).

    Args:
        release: The release.
        people: Per person and attribute a value, a generalised value that the attribute's labels or domain explain
            (``30-39``, ``{A, B}``), or some values. Of attributes that are not named nothing is known.

    Raises:
        StudyError: An attribute or a value is not that of the release.
        DataError: A person is incompatible with every group.

    >>> from glasshouse.groups.release_json import from_json
    >>> release = from_json({"attributes": [{"name": "city", "values": ["Lyon", "Nice", "Bonn"]}],
    ...     "sensitive": {"name": "illness"},
    ...     "groups": [{"sensitive": ["flu", "HIV"], "generalised": [["Lyon", "Nice"]]}]})
    >>> victims = victims_of(release, [{"city": "Lyon"}, {}])
    >>> len(victims), victims.is_full
    (2, False)
    """
    if not people:
        raise StudyError(text("there is no victim; say what is known of one"))
    for person in people:
        for name in person:
            release.attribute(name)
    known, columns = [], []
    for attribute in release.attributes:
        sets, own = _sets_of(attribute, [person.get(attribute.name) for person in people])
        known.append(sets)
        columns.append(own)
    codes = np.ascontiguousarray(np.array(columns, np.int32).T)
    victims, found = _with_candidates(release, codes, tuple(known))
    for number in np.flatnonzero(~victims.in_table).tolist():
        raise DataError(_nobody(release, people[number], int(found.agreed[number])))
    return victims


def victims_of_rows(release: Release) -> Victims:
    """Return the distinct rows of a vertical release, and how many people have each: everybody is fully known.

    Raises:
        StudyError: The release is horizontal: it does not show anybody's values.
    """
    if not release.is_vertical:
        raise StudyError(
            text(
                "{release}: a horizontal release does not show people's values; say what is known of the victims, or "
                "give the original table",
                release=release.name,
            )
        )
    number, first = distinct_rows(release.codes, release.attributes)
    victims, _ = _fully_known(release, release.codes[first])
    return replace(victims, people=np.bincount(number, minlength=len(first)))


def victims_of_table(
    release: Release, original: EncodedTable, *, in_order: bool = False
) -> tuple[Victims, Original]:
    """Return everybody in the original table, each distinct combination of non-sensitive values once.

    Args:
        release: The release.
        original: The cleartext table; its columns have the names of the release's attributes.
        in_order: Whether its records are in the order of the table that the release was read from: then each is
            compared with its own row. Otherwise it is enough that some group can hold it, and that rows and sensitive
            values are there as often as in the release. If the release leaves records out, the order is relied on.

    Raises:
        DataError: The original does not match the release; which record, and which attribute.
    """
    kept = _kept(release, original, in_order=in_order)
    columns = [original.column(attribute.name) for attribute in release.attributes]
    coded = [
        _coded(column, attribute.code, release, original, kept)
        for column, attribute in zip(columns, release.attributes, strict=True)
    ]
    secrets = _sensitive_codes(release, original, kept)
    rows = np.stack(coded, axis=1)
    if in_order and release.positions is not None:
        places = np.searchsorted(kept, release.positions)
        check = check_permuted if release.is_vertical else check_generalised
        check(release, original, rows[places], secrets[places], kept[places])
    number, first = distinct_rows(rows, release.attributes)
    victims, found = _fully_known(release, rows[first])
    for victim in np.flatnonzero(~victims.in_table):
        attribute = release.attributes[min(int(found.agreed[victim]), len(release.attributes) - 1)]
        raise DataError(_outside(release, original, attribute, kept[first[victim]]))
    check_counts(release, original, rows, secrets, kept)
    width = len(release.sensitive.values)
    cells = np.bincount(number * width + secrets, minlength=len(first) * width)
    weights = cells.reshape(len(first), width)
    positions = kept if original.positions is None else original.positions[kept]
    victims = replace(victims, people=weights.sum(axis=1))
    return victims, Original(number, secrets, rows[first], weights, positions)


def population_points(release: Release, codes: NDArray[np.int32]) -> Victims:
    """Return people of the population who need not be in the table: the attacker says nothing about them."""
    known = tuple(ValueSets.singletons(len(each.values)) for each in release.attributes)
    return Victims(codes, known, np.zeros(len(codes) + 1, np.int64), np.zeros(0, np.int64))


def joined(victims: Victims, points: NDArray[np.int32]) -> Victims:
    """Return fully known victims, and behind them points of the population.

    Raises:
        StudyError: A victim is known in part only.
    """
    if not victims.is_full:
        raise StudyError(
            text("points of the population are put behind victims who are fully known only")
        )
    ends = np.full(len(points), victims.candidate_starts[-1])
    people = np.ones(len(victims), np.int64) if victims.people is None else victims.people
    return Victims(
        np.concatenate([victims.codes, points.astype(np.int32)]),
        victims.known,
        np.concatenate([victims.candidate_starts, ends]),
        victims.candidates,
        np.concatenate([people, np.zeros(len(points), np.int64)]),
    )


def _fully_known(release: Release, codes: NDArray[np.int32]) -> tuple[Victims, Matches]:
    known = tuple(ValueSets.singletons(len(each.values)) for each in release.attributes)
    return _with_candidates(release, np.ascontiguousarray(codes), known)


def _with_candidates(
    release: Release, codes: NDArray[np.int32], known: tuple[ValueSets, ...]
) -> tuple[Victims, Matches]:
    found = matches(release.codes, [each.sets for each in release.attributes], known, codes)
    starts, groups = found.starts, found.rows
    if release.is_vertical:
        groups = release.group_of_row[groups]
        victim = np.repeat(np.arange(len(codes)), np.diff(starts))
        fresh = np.ones(len(groups), np.bool_)
        fresh[1:] = (groups[1:] != groups[:-1]) | (victim[1:] != victim[:-1])
        groups = groups[fresh]
        per_victim = np.bincount(victim[fresh], minlength=len(codes))
        starts = np.concatenate([np.zeros(1, np.int64), np.cumsum(per_victim)])
    return Victims(codes, known, starts, groups), found


def _sets_of(attribute: Attribute, wanted: Sequence[Known | None]) -> tuple[ValueSets, list[int]]:
    """Return the sets of values that are meant, each once, and which of them is known of each person."""
    domain = len(attribute.values)
    singles = ValueSets.singletons(domain)
    if all(isinstance(written, str) and written in attribute.code for written in wanted):
        return singles, [attribute.code[str(written)] for written in wanted]
    numbers: dict[tuple[int, ...], int] = {}
    own = [numbers.setdefault(_meant(attribute, each), len(numbers)) for each in wanted]
    return ValueSets.of(numbers, domain), own


def _meant(attribute: Attribute, known: Known | None) -> tuple[int, ...]:
    if known is None:
        return tuple(range(len(attribute.values)))
    texts = [known] if isinstance(known, str) else list(known)
    if not texts:
        raise StudyError(
            text(
                'no value of "{attribute}" is left for a victim; give at least one',
                attribute=attribute.name,
            )
        )
    found: set[int] = set()
    for written in texts:
        values = list(_explained(attribute, written))
        if not values:
            where = text('the domain of "{name}"', name=attribute.name)
            raise StudyError(unknown_name("value", written, where, attribute.values))
        found.update(values)
    return tuple(sorted(found))


def _explained(attribute: Attribute, written: str) -> Iterable[int]:
    if written in attribute.code:
        return [attribute.code[written]]
    if written in attribute.labels:
        return map(int, attribute.sets.values(attribute.labels.index(written)))
    return values_of_label(written, attribute.values)


def _nobody(release: Release, person: Mapping[str, Known], agreed: int) -> str:
    attribute = release.attributes[min(agreed, len(release.attributes) - 1)]
    known = ", ".join(f"{name} = {value}" for name, value in person.items())
    return text(
        "{release}: a victim with {known} is incompatible with every group; no group that agrees on the attributes "
        'before it allows this value of "{attribute}"; correct what is known',
        release=release.name,
        known=known,
        attribute=attribute.name,
    )


def _kept(release: Release, original: EncodedTable, *, in_order: bool) -> NDArray[np.int64]:
    """Return the positions of the records that are in groups."""
    told = release.records + release.left_out
    if original.records != told:
        raise DataError(
            text(
                "{original} has {records} records, but {release} has {told}; "
                "give the table that the release was made of",
                original=original.name,
                records=original.records,
                release=release.name,
                told=told,
            )
        )
    if (release.left_out or in_order) and release.positions is None:
        raise StudyError(
            text(
                "{release} does not tell the order of its records; compare without the order",
                release=release.name,
            )
        )
    if release.positions is not None and release.left_out:
        return np.sort(release.positions)
    return np.arange(original.records)


def _coded(
    column: Column,
    code: Mapping[str, int],
    release: Release,
    original: EncodedTable,
    kept: NDArray[np.int64],
) -> NDArray[np.int32]:
    """Return the values of a column of the original in the codes of the release's domain."""
    texts = column.values.to_pylist()
    own = np.array([code.get(written, -1) for written in texts], np.int32)
    codes = own[column.codes[kept]]
    if (codes < 0).any():
        place = int(np.argmax(codes < 0))
        written = texts[int(column.codes[kept[place]])]
        raise DataError(
            text(
                "record {record} of {original}: {value} is not in the domain of "
                '"{column}" in {release}; give a domain that holds it, or the table that the release was made of',
                record=int(kept[place] + 1),
                original=original.name,
                value=quoted([written]),
                column=column.name,
                release=release.name,
            )
        )
    return codes


def _sensitive_codes(
    release: Release, original: EncodedTable, kept: NDArray[np.int64]
) -> NDArray[np.int32]:
    own = release.sensitive
    columns = [original.column(name) for name in own.names]
    joint = joint_column(columns, original.records)
    return _coded(joint, own.code, release, original, kept)


def joint_column(columns: Sequence[Column], records: int) -> Column:
    """Return several columns as one, the values of each record with a comma between them; their own are escaped."""
    if len(columns) == 1:
        return columns[0]
    classes = refined(columns, records)
    first = classes.order[classes.starts[:-1]]
    parts = [_escaped(column.values).take(pa.array(column.codes[first])) for column in columns]
    texts = pc.binary_join_element_wise(*parts, pa.scalar(", ", pa.large_string()))
    name = ", ".join(column.name for column in columns)
    return Column(name, classes.numbers, texts)


def _escaped(texts: pa.LargeStringArray) -> pa.LargeStringArray:
    return pc.replace_substring(pc.replace_substring(texts, "\\", "\\\\"), ",", "\\,")


def _outside(release: Release, original: EncodedTable, attribute: Attribute, record: int) -> str:
    column = original.column(attribute.name)
    written = column.values[int(column.codes[record])].as_py()
    return text(
        'record {record} of {original}: no group of {release} can hold it, "{attribute}" being {value}; give the table '
        "that the release was made of",
        record=int(record) + 1,
        original=original.name,
        release=release.name,
        attribute=attribute.name,
        value=quoted([written]),
    )
