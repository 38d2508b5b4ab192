"""Who may be attacked: people by what is known of them, the rows of a release, or the records of an original table.

What is known of a victim is a set of values per attribute, and the groups that can hold it are found once, here. Rows
of labels are kept in lexicographic order; the rows that agree on the first attributes are then a few ranges of that
order, which are narrowed attribute by attribute by bisection. Nothing is compared that cannot agree, so that a million
victims against a million rows is a matter of seconds where each has few matches.

An original is refused if it is not the table that the release was made of: compared record by record where the order
is known, and by counts otherwise.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TypeAlias

import numpy as np
import pyarrow as pa

from glasshouse.arrays import Codes, Flags, Integers
from glasshouse.compiled import compiled, write
from glasshouse.errors import BudgetError, DataError, StudyError
from glasshouse.groups.labels import ValueSets, starts_of, values_of_label
from glasshouse.groups.release import Attribute, Release, joint_column
from glasshouse.language import number, quoted, text, unknown_name
from glasshouse.table import EncodedColumn, EncodedTable
from glasshouse.table.partition import refined

Known: TypeAlias = str | Iterable[str]
"""What is known of one attribute: a value, a generalised value such as ``30-39``, or some values."""
MOST_MATCHES = 400_000_000
"""Up to so many pairs of a victim and a group that it can be in are kept: 3.2 GB."""


@dataclass(frozen=True)
class Victims:
    """The distinct people that results are wanted for: what is known of each, per attribute a set of values."""

    codes: Codes
    """Per victim and attribute, the number of the set in ``known`` (victims × attributes)."""
    known: tuple[ValueSets, ...]
    """Per attribute, the sets of values that are known of victims. Full knowledge: one set per value, in the order of
    the domain, so that ``codes`` are codes of values."""
    candidate_starts: Integers
    """Per victim, where its candidate groups begin in ``candidates``; one more entry closes the last."""
    candidates: Integers
    """The numbers of the groups that a victim can be in, victim by victim, in ascending order; a person who is not in
    the table (a point of the population) has none."""
    matching: Matches
    """The rows of the release's codes that agree with each victim: candidate groups of a horizontal release, single
    rows of a vertical one."""
    people: Integers | None = None
    """Per victim, how many records of the table are of people like it, 0 for points of the population; None: each
    victim is one person."""

    def __len__(self) -> int:
        return len(self.codes)

    @cached_property
    def is_full(self) -> bool:
        """Whether the value of every attribute of every victim is known: then ``codes`` are codes of values."""
        return all(sets.is_singletons for sets in self.known)

    @cached_property
    def in_table(self) -> Flags:
        """Per victim, whether any group can hold it."""
        return np.diff(self.candidate_starts) > 0

    def groups_of(self, victim: int) -> Integers:
        """Return the groups that a victim can be in."""
        return self.candidates[self.candidate_starts[victim] : self.candidate_starts[victim + 1]]

    def values_of(self, victim: int) -> list[list[int]]:
        """Return the values that each attribute of a victim may have."""
        return [
            sets.values(int(self.codes[victim, place])).tolist()
            for place, sets in enumerate(self.known)
        ]


@dataclass(frozen=True)
class Original:
    """The cleartext table behind a release, as only the evaluator has it."""

    victim: Integers
    """Per record, the number of its victim: who has the same non-sensitive values."""
    sensitive: Codes
    """Per record, the code of its sensitive value."""
    codes: Codes
    """Per victim and attribute, the code of the value."""
    weights: Integers
    """Per victim and sensitive value, how many records there are (victims × values)."""
    positions: Integers | None = None
    """Per record, its position in the file of the original; None: they are in its order, and all of them."""

    @property
    def records(self) -> int:
        """The number of records."""
        return len(self.victim)

    @cached_property
    def cells(self) -> tuple[Integers, Integers, Integers]:
        """Victim, sensitive value and number of records, where there is a record."""
        victim, sensitive = np.nonzero(self.weights)
        return victim, sensitive, self.weights[victim, sensitive]


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
        raise StudyError("there is no victim; say what is known of one")
    for person in people:
        for name in person:
            release.attribute(name)
    known, columns = [], []
    for attribute in release.attributes:
        sets, codes_of_people = _sets_of(
            attribute, [person.get(attribute.name) for person in people]
        )
        known.append(sets)
        columns.append(codes_of_people)
    codes = np.ascontiguousarray(np.array(columns, np.int32).T)
    victims = _with_candidates(release, codes, tuple(known))
    for victim in np.flatnonzero(~victims.in_table).tolist():
        person = people[victim]
        raise DataError(
            "{release}: a victim with {known} is incompatible with every group; no group that agrees on the "
            'attributes before it allows this value of "{attribute}"; correct what is known',
            release=release.name,
            known=", ".join(f"{name} = {value}" for name, value in person.items()),
            attribute=_first_refused(release, victims, victim).name,
        )
    return victims


def victims_of_rows(release: Release) -> Victims:
    """Return the distinct rows of a vertical release, and how many people have each: everybody is fully known.

    Raises:
        StudyError: The release is horizontal: it does not show anybody's values.
    """
    if not release.is_vertical:
        raise StudyError(
            "{release}: a horizontal release does not show people's values; say what is known about the victims, "
            "or give the original table",
            release=release.name,
        )
    number, first = distinct_rows(release.codes, release.attributes)
    victims = _fully_known(release, release.codes[first])
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
    grouped = _grouped_records(release, original, in_order=in_order)
    columns = [original.column(attribute.name) for attribute in release.attributes]
    coded = [
        _coded(column, attribute.code, release, original, grouped)
        for column, attribute in zip(columns, release.attributes, strict=True)
    ]
    rows = np.stack(coded, axis=1)
    secret = joint_column(
        [original.column(name) for name in release.sensitive.names], original.records
    )
    secrets = _coded(secret, release.sensitive.code, release, original, grouped)
    if in_order and release.positions is not None:
        places = np.searchsorted(grouped, release.positions)
        ordered = _Cleartext(release, original, rows[places], secrets[places], grouped[places])
        if release.is_vertical:
            ordered.check_permuted()
        else:
            ordered.check_generalised()
    number, first = distinct_rows(rows, release.attributes)
    victims = _fully_known(release, rows[first])
    for victim in np.flatnonzero(~victims.in_table).tolist():
        record = int(grouped[first[victim]])
        column = original.column(_first_refused(release, victims, victim).name)
        raise DataError(
            'record {record} of {original}: no group of {release} can hold it, "{attribute}" being {value}; give the '
            "table that the release was made of",
            record=record + 1,
            original=original.name,
            release=release.name,
            attribute=column.name,
            value=quoted([column.values[int(column.codes[record])].as_py()]),
        )
    _Cleartext(release, original, rows, secrets, grouped).check_counts()
    width = len(release.sensitive.values)
    cells = np.bincount(number * width + secrets, minlength=len(first) * width)
    weights = cells.reshape(len(first), width)
    positions = grouped if original.positions is None else original.positions[grouped]
    victims = replace(victims, people=weights.sum(axis=1))
    return victims, Original(number, secrets, rows[first], weights, positions)


def joined(victims: Victims, points: Codes) -> Victims:
    """Return fully known victims, and behind them points of the population.

    Raises:
        StudyError: A victim is known in part only.
    """
    if not victims.is_full:
        raise StudyError("points of the population are put behind victims who are fully known only")
    none = np.zeros(len(points), np.int64)
    starts, matching = victims.candidate_starts, victims.matching
    people = np.ones(len(victims), np.int64) if victims.people is None else victims.people
    return Victims(
        np.concatenate([victims.codes, points.astype(np.int32)]),
        victims.known,
        np.concatenate([starts, none + starts[-1]]),
        victims.candidates,
        Matches(
            np.concatenate([matching.starts, none + matching.starts[-1]]),
            matching.rows,
            np.concatenate([matching.agreed, none]),
        ),
        np.concatenate([people, none]),
    )


def _fully_known(release: Release, codes: Codes) -> Victims:
    known = tuple(ValueSets.singletons(len(attribute.values)) for attribute in release.attributes)
    return _with_candidates(release, np.ascontiguousarray(codes), known)


def _with_candidates(release: Release, codes: Codes, known: tuple[ValueSets, ...]) -> Victims:
    matching = matches(
        release.codes, [attribute.sets for attribute in release.attributes], known, codes
    )
    starts, groups = matching.starts, matching.rows
    if release.is_vertical:
        groups = release.group_of_row[groups]
        victim = np.repeat(np.arange(len(codes)), np.diff(starts))
        fresh = np.ones(len(groups), np.bool_)
        fresh[1:] = (groups[1:] != groups[:-1]) | (victim[1:] != victim[:-1])
        groups = groups[fresh]
        per_victim = np.bincount(victim[fresh], minlength=len(codes))
        starts = starts_of(per_victim)
    return Victims(codes, known, starts, groups, matching)


def _sets_of(
    attribute: Attribute, known_of_people: Sequence[Known | None]
) -> tuple[ValueSets, list[int]]:
    """Return the sets of values that are meant, each once, and which of them is known of each person."""
    domain = len(attribute.values)
    if all(isinstance(known, str) and known in attribute.code for known in known_of_people):
        return ValueSets.singletons(domain), [attribute.code[str(x)] for x in known_of_people]
    numbers: dict[tuple[int, ...], int] = {}
    codes = [numbers.setdefault(_meant(attribute, x), len(numbers)) for x in known_of_people]
    return ValueSets.of(numbers, domain), codes


def _meant(attribute: Attribute, known: Known | None) -> tuple[int, ...]:
    if known is None:
        return tuple(range(len(attribute.values)))
    texts = [known] if isinstance(known, str) else list(known)
    if not texts:
        raise StudyError(
            'no value of "{attribute}" is left for a victim; give at least one',
            attribute=attribute.name,
        )
    codes: set[int] = set()
    for written in texts:
        values = list(_explained(attribute, written))
        if not values:
            where = text('the domain of "{name}"', name=attribute.name)
            raise StudyError(unknown_name("value", written, where, attribute.values))
        codes.update(values)
    return tuple(sorted(codes))


def _explained(attribute: Attribute, written: str) -> Iterable[int]:
    if written in attribute.code:
        return [attribute.code[written]]
    if written in attribute.labels:
        return map(int, attribute.sets.values(attribute.labels.index(written)))
    return values_of_label(written, attribute.values)


def _first_refused(release: Release, victims: Victims, victim: int) -> Attribute:
    """Return the first attribute on which no row agrees with a victim that agrees on those before it."""
    return release.attributes[
        min(int(victims.matching.agreed[victim]), len(release.attributes) - 1)
    ]


def _grouped_records(release: Release, original: EncodedTable, *, in_order: bool) -> Integers:
    """Return the positions of the records that are in groups."""
    published = release.records + release.left_out
    if original.records > published:
        raise DataError(
            "{original} has {records} records, but {release} has {told}; give the table that the release was made of, "
            "or make the release without `drop_suppressed`, where that left records out",
            original=original.name,
            records=original.records,
            release=release.name,
            told=published,
        )
    if original.records != published:
        raise DataError(
            "{original} has {records} records, but {release} has {told}; "
            "give the table that the release was made of",
            original=original.name,
            records=original.records,
            release=release.name,
            told=published,
        )
    if (release.left_out or in_order) and release.positions is None:
        raise StudyError(
            "{release} does not show the order of its records; compare without the order",
            release=release.name,
        )
    if release.positions is not None and release.left_out:
        return np.sort(release.positions)
    return np.arange(original.records)


def _coded(
    column: EncodedColumn,
    code: Mapping[str, int],
    release: Release,
    original: EncodedTable,
    grouped: Integers,
) -> Codes:
    """Return the values of a column of the original in the codes of the release's domain."""
    texts = column.values.to_pylist()
    code_of_text = np.array([code.get(written, -1) for written in texts], np.int32)
    codes = code_of_text[column.codes[grouped]]
    if (codes < 0).any():
        place = int(np.argmax(codes < 0))
        written = texts[int(column.codes[grouped[place]])]
        raise DataError(
            "record {record} of {original}: {value} is not in the domain of "
            '"{column}" in {release}; give a domain that holds it, or the table that the release was made of',
            record=int(grouped[place] + 1),
            original=original.name,
            value=quoted([written]),
            column=column.name,
            release=release.name,
        )
    return codes


# Whether an original is the table that a release was made of.
@dataclass(frozen=True)
class _Cleartext:
    """The records of an original in the codes of a release; in its order too, where they are compared one by one."""

    release: Release
    original: EncodedTable
    rows: Codes
    secrets: Codes
    records: Integers
    """The position of each in the original."""

    def check_generalised(self) -> None:
        """Compare each record with its own row of a horizontal release.

        Raises:
            DataError: A record does not fit its row; which record, and which attribute.
        """
        release = self.release
        labels = release.codes[release.group_of_row]
        for place, attribute in enumerate(release.attributes):
            # A pair of a label and a value is right if the value is a member of the label.
            sets, values = attribute.sets, len(attribute.values)
            right = np.repeat(np.arange(len(sets)), sets.sizes) * values + sets.members
            pairs = labels[:, place].astype(np.int64) * values + self.rows[:, place]
            wrong = ~np.isin(pairs, right)
            if wrong.any():
                row = int(np.argmax(wrong))
                value = attribute.values[int(self.rows[row, place])]
                label = attribute.labels[int(labels[row, place])]
                raise self._differs(row, attribute.name, value, label)
        unlike = self.secrets != release.sensitive_codes
        if unlike.any():
            row, secret = int(np.argmax(unlike)), release.sensitive
            value = secret.values[int(self.secrets[row])]
            released = secret.values[int(release.sensitive_codes[row])]
            raise self._differs(row, ", ".join(secret.names), value, released)

    def check_permuted(self) -> None:
        """Compare each record with its own row of a vertical release, and the sensitive values group by group.

        Which row of a group stands beside which sensitive value means nothing there: only how often a value is in a
        group can be compared.

        Raises:
            DataError: A record does not fit its row, or its sensitive value is not in its group as often.
        """
        release = self.release
        unlike = self.rows != release.codes
        if unlike.any():
            row = self._first(unlike.any(axis=1))
            place = int(np.argmax(unlike[row]))
            values = release.attributes[place].values
            value, released = values[self.rows[row, place]], values[release.codes[row, place]]
            raise self._differs(row, release.attributes[place].name, value, released)
        secret = release.sensitive
        width = len(secret.values)
        cells = release.group_of_row * width + self.secrets
        published = release.group_of_row * width + release.sensitive_codes
        counts, published_counts = (
            np.bincount(numbers, minlength=release.groups * width) for numbers in (cells, published)
        )
        more = (counts > published_counts)[cells]
        if more.any():
            row = self._first(more)
            raise DataError(
                'record {record} of {original}: its group in {release} has {value} as "{secret}" less often than '
                "the original; give the table that the release was made of",
                record=int(self.records[row] + 1),
                original=self.original.name,
                release=release.name,
                value=quoted([secret.values[int(self.secrets[row])]]),
                secret=", ".join(secret.names),
            )

    def check_counts(self) -> None:
        """Compare how often each sensitive value is there; of a vertical release also each combination of values.

        Raises:
            DataError: Something is there more often, or less.
        """
        release, secret = self.release, self.release.sensitive
        counts = np.bincount(self.secrets, minlength=len(secret.values))
        if (counts != release.counts).any():
            code = int(np.argmax(counts != release.counts))
            raise DataError(
                '{original} has {records} records with {value} as "{secret}", but {release} has {released}; give '
                "the table that the release was made of",
                original=self.original.name,
                records=int(counts[code]),
                value=quoted([secret.values[code]]),
                secret=", ".join(secret.names),
                release=release.name,
                released=int(release.counts[code]),
            )
        if not release.is_vertical:
            return
        both = np.concatenate([release.codes, self.rows])
        number, first = distinct_rows(both, release.attributes)
        published = np.bincount(number[: release.records], minlength=len(first))
        here = np.bincount(number[release.records :], minlength=len(first))
        if (published != here).any():
            row = int(np.argmax((here > published)[number[release.records :]]))
            pairs = zip(release.attributes, self.rows[row], strict=True)
            raise DataError(
                "record {record} of {original}: {values} as {names} is there more often than in {release}; give "
                "the table that the release was made of",
                record=int(self.records[row] + 1),
                original=self.original.name,
                values=quoted([attribute.values[code] for attribute, code in pairs]),
                names=quoted(attribute.name for attribute in release.attributes),
                release=release.name,
            )

    def _first(self, marks: Flags) -> int:
        """Return, of the rows that are marked, the one whose record is the first in the original."""
        marked = np.flatnonzero(marks)
        return int(marked[np.argmin(self.records[marked])])

    def _differs(self, row: int, column: str, value: str, released: str) -> DataError:
        return DataError(
            'record {record} of {original}: "{attribute}" is {value}, but {release} has {released}; give the '
            "table that the release was made of",
            record=int(self.records[row] + 1),
            original=self.original.name,
            attribute=column,
            value=quoted([value]),
            release=self.release.name,
            released=quoted([released]),
        )


def distinct_rows(rows: Codes, attributes: Sequence[Attribute]) -> tuple[Integers, Integers]:
    """Return, per row, the number of its combination, and per combination the first row that has it."""
    columns = [
        EncodedColumn(
            attribute.name,
            rows[:, place].astype(np.uint32),
            pa.nulls(len(attribute.values), pa.large_string()),
        )
        for place, attribute in enumerate(attributes)
    ]
    classes = refined(columns, len(rows))
    return classes.numbers.astype(np.int64), classes.order[classes.starts[:-1]].astype(np.int64)


# Which rows, or groups, agree with what is known of each victim.
@dataclass(frozen=True)
class Matches:
    """The rows that agree with each victim."""

    starts: Integers
    """Per victim, where its rows begin in ``rows``; one more entry closes the last."""
    rows: Integers
    """The rows, victim by victim, in ascending order."""
    agreed: Integers
    """Per victim, on how many attributes from the first on some row agrees: all of them, if any row matches."""


def matches(
    codes: Codes, labels: Sequence[ValueSets], known: Sequence[ValueSets], victims: Codes
) -> Matches:
    """Find the rows whose labels have, on every attribute, a value in common with what is known of each victim.

    Args:
        codes: Rows of label codes.
        labels: Per attribute, the set of values of each label.
        known: Per attribute, the sets of values that are known of victims.
        victims: Per victim and attribute, which of these.

    Raises:
        BudgetError: There are too many matches to keep.
    """
    order = np.lexsort(codes.T[::-1]).astype(np.int64)
    lists = [_labels_of(sets, known_sets) for sets, known_sets in zip(labels, known, strict=True)]
    # The lists of all attributes stand one behind the other; `bases` says where those of an attribute start.
    list_labels = np.concatenate([numbers for _, numbers in lists])
    offsets = starts_of([len(numbers) for _, numbers in lists])
    bases = starts_of([len(starts) for starts, _ in lists])[:-1]
    list_starts = np.concatenate(
        [starts + offset for (starts, _), offset in zip(lists, offsets, strict=False)]
    )
    ordered = np.ascontiguousarray(codes[order])
    agreed = np.zeros(len(victims), np.int64)
    counts = np.zeros(len(victims), np.int64)
    nothing = np.zeros(0, np.int64)
    _walk(
        ordered, list_starts, list_labels, bases, victims, counts, agreed, nothing, nothing, order
    )
    starts = starts_of(counts)
    if starts[-1] > MOST_MATCHES:
        raise BudgetError(
            "{victims} victims can be in {groups} groups each, too many to keep; "
            "ask for fewer victims",
            victims=len(victims),
            groups=number(starts[-1] / len(victims), ",.0f"),
        )
    rows = np.empty(starts[-1], np.int64)
    _walk(ordered, list_starts, list_labels, bases, victims, counts, agreed, starts, rows, order)
    return Matches(starts, rows, agreed)


def _labels_of(labels: ValueSets, known: ValueSets) -> tuple[Integers, Codes]:
    """Return, per known set, the labels that have a value in common with it, in ascending order."""
    by_value = np.argsort(labels.members, kind="stable")
    label_of_member = np.repeat(np.arange(len(labels), dtype=np.int32), labels.sizes)[by_value]
    value_starts = starts_of(np.bincount(labels.members, minlength=labels.domain))
    if known.is_singletons:
        return value_starts, label_of_member
    labels_of_known = [
        np.unique(
            np.concatenate(
                [label_of_member[value_starts[v] : value_starts[v + 1]] for v in known.values(k)]
            )
        )
        for k in range(len(known))
    ]
    starts = starts_of([len(numbers) for numbers in labels_of_known])
    return starts, np.concatenate(labels_of_known).astype(np.int32)


@compiled
def _bound(column: Codes, low: int, high: int, label: int) -> int:
    """Return the first place of a sorted stretch whose label is not below the given one."""
    while low < high:
        middle = (low + high) // 2
        if column[middle] < label:
            low = middle + 1
        else:
            high = middle
    return low


@compiled
def _walk(
    ordered: Codes,
    list_starts: Integers,
    list_labels: Codes,
    bases: Integers,
    victims: Codes,
    counts: Integers,
    agreed: Integers,
    starts: Integers,
    rows: Integers,
    order: Integers,
) -> None:
    """Count the matches of each victim or, where ``starts`` is given, write them down.

    The ranges that are still to be narrowed stand on a stack: beginning, end, and the next attribute.
    """
    depth_of_all = ordered.shape[1]
    columns = np.ascontiguousarray(ordered.T)
    room = 1024
    stack = np.empty((room, 3), np.int64)
    for victim in range(victims.shape[0]):
        # At first all rows agree with the victim, on no attribute.
        stack[0, 0], stack[0, 1], stack[0, 2] = 0, ordered.shape[0], 0
        top, count, deepest = 1, 0, 0
        while top > 0:
            top -= 1
            low, high, depth = stack[top, 0], stack[top, 1], stack[top, 2]
            deepest = max(deepest, depth)
            # The rows of this range agree on all attributes.
            if depth == depth_of_all:
                if starts.size > 0:
                    write(rows[starts[victim] + count :], order[low:high])
                count += high - low
                continue
            # Labels of the range and labels of what is known both ascend: each is bisected to the other's next one.
            known = bases[depth] + victims[victim, depth]
            place, end = list_starts[known], list_starts[known + 1]
            while place < end and low < high:
                label = list_labels[place]
                low = _bound(columns[depth], low, high, label)
                if low == high:
                    break
                if columns[depth, low] > label:
                    place = _bound(list_labels, place, end, columns[depth, low])
                    continue
                after = _bound(columns[depth], low, high, label + 1)
                if top == room:
                    larger = np.empty((2 * room, 3), np.int64)
                    for line in range(room):
                        write(larger[line], stack[line])
                    stack, room = larger, 2 * room
                stack[top, 0], stack[top, 1], stack[top, 2] = low, after, depth + 1
                top += 1
                low = after
                place += 1
        counts[victim] = count
        agreed[victim] = deepest
        if starts.size > 0:
            rows[starts[victim] : starts[victim + 1]].sort()
