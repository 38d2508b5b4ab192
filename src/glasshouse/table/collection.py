"""Longitudinal collections: several datasets about the same people, joined on their identifier.

The first dataset is the focal one: the adversary is after its people. The others are joined to it by a left outer join
(Alvim et al. 2022, assumptions A1 and A3-A, Table 3): people who are only in an auxiliary dataset do not enter, and
that somebody is absent from one is an observation like any other. Everybody has one record per dataset (A2-B).

An attribute of an auxiliary dataset is tagged with its origin, ``grade@2015``; in the focal dataset it keeps its name.
A quasi-identifier of the collection is a fact: its columns in all datasets of the window that the adversary sees.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain
from pathlib import PurePath
from types import MappingProxyType

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from glasshouse.compiled import compiled
from glasshouse.errors import DataError, StudyError
from glasshouse.language import quoted, unknown_name
from glasshouse.table.codes import (
    BLOCK_RECORDS,
    CodePieces,
    Codes,
    Places,
    blocks,
    let_go,
    mapping,
    no_places,
    on_disk,
    positions,
    smallest_unsigned,
)
from glasshouse.table.encoded import EncodedColumn, EncodedTable, Role
from glasshouse.table.treatment import Step, one_record_each

ABSENT = None
"""The value of every attribute of a person who has no record in an auxiliary dataset: no text at all."""
PRESENCE = ("present", "absent")
"""The values of the column that tells whether somebody is in an auxiliary dataset."""


@dataclass(frozen=True)
class CollectionMember:
    """One dataset of a collection."""

    name: str
    """Its name."""
    tag: str
    """What its attributes are tagged with."""
    people: int
    """The number of people in it, each with one record."""
    linked: int
    """How many of them are people of the focal dataset."""


@dataclass(frozen=True)
class Collection:
    """Several datasets about the people of the first."""

    table: EncodedTable
    """All datasets side by side, a record per person of the focal one."""
    members: tuple[CollectionMember, ...]
    """The datasets, the focal one first."""
    steps: tuple[Step, ...]
    """What was left out of each, so that everybody has one record."""
    known: Mapping[str, tuple[tuple[str, ...], ...]]
    """Per quasi-identifier and dataset, the columns of the table that it stands for."""

    def window(self, datasets: int) -> EncodedTable:
        """Return the collection as an adversary sees it who has only its first datasets.

        >>> from glasshouse.table import read
        >>> first = pa.table({"id": ["1", "2"], "grade": ["A", "A"], "ill": ["yes", "no"]})
        >>> second = pa.table({"id": ["2", "3"], "grade": ["B", "C"]})
        >>> collection = collect([
        ...     read(first, quasi_identifiers=["grade"], sensitive=["ill"], id="id", name="2014"),
        ...     read(second, quasi_identifiers=["grade"], id="id", name="2015"),
        ... ])
        >>> collection.window(2).facts["grade"], collection.table.column("grade@2015").values.to_pylist()
        (('grade', 'grade@2015'), ['B', 'C', None])
        """
        if not 1 <= datasets <= len(self.members):
            raise StudyError(
                "a window holds 1 to {most} datasets of the collection, not {datasets}",
                most=len(self.members),
                datasets=str(datasets),
            )
        facts = {
            name: tuple(chain.from_iterable(by_dataset[:datasets]))
            for name, by_dataset in self.known.items()
        }
        names = tuple(member.name for member in self.members[:datasets])
        return replace(self.table, facts=facts, collection=names)

    def windows(self) -> Iterator[EncodedTable]:
        """Yield the growing windows {D1}, {D1, D2}, …: each refines the one before."""
        for datasets in range(1, len(self.members) + 1):
            yield self.window(datasets)


def collect(
    tables: Iterable[EncodedTable],
    *,
    quasi_identifiers: Sequence[str] | None = None,
    seed: int = 0,
    tags: Sequence[str] | None = None,
) -> Collection:
    """Join datasets about the same people on their identifier, the first being the focal one.

    Args:
        tables: The datasets, each with an identifier; all but the first are only asked for their quasi-identifiers.
            They are taken one by one, so that an iterator need not hold them all.
        quasi_identifiers: The attributes that the adversary can know, in whichever datasets have them; a tagged one
            (``grade@2015``) in that dataset only. By default those of the tables, in the order of their appearance.
        seed: For the choice of one record per person, where somebody has several in a dataset.
        tags: What the attributes of each dataset are tagged with; by default its name without what follows the point.

    Raises:
        DataError: A dataset has no identifier.
        StudyError: A dataset has none of the quasi-identifiers, or a quasi-identifier is in no dataset.
    """
    remaining = iter(tables)
    first = next(remaining, None)
    if first is None:
        raise StudyError("a collection needs at least one dataset")
    focal = one_record_each(first, seed=seed)
    joiner = _Joiner(focal.table, focal.steps, tags)
    for number, table in enumerate(remaining, start=1):
        joiner.add(table, seed=seed + number)
    return joiner.collection(quasi_identifiers)


def dataset_tags(names: Sequence[str]) -> tuple[str, ...]:
    """Return what the attributes of each dataset are tagged with: short, and all different.

    It is the file's name without what follows the point; where that is the same, the name of its folder.

    >>> dataset_tags(["2014.csv", "2015.csv"]), dataset_tags(["2014/census.csv", "2015/census.csv"])
    (('2014', '2015'), ('2014', '2015'))
    """
    stems = tuple(_stem(name) for name in names)
    folders = tuple(PurePath(name).parent.name for name in names)
    for tags in (stems, folders):
        if len(set(tags)) == len(tags) and all(tags):
            return tags
    return tuple(names)


class _Joiner:
    """Joins auxiliary datasets to the focal one, one after the other."""

    def __init__(
        self, focal: EncodedTable, steps: Sequence[Step], tags: Sequence[str] | None
    ) -> None:
        self._focal = focal
        self._tags = tags
        self._columns = dict(focal.columns)
        self._steps = list(steps)
        tag = _stem(focal.name) if tags is None else tags[0]
        self._members = [CollectionMember(focal.name, tag, focal.records, focal.records)]
        self._facts: list[dict[str, tuple[str, ...]]] = [_facts(focal)]
        self._names: list[Mapping[str, str]] = [{name: name for name in focal.columns}]
        self._people = focal.column(str(focal.identifier))
        self._row = no_places(self._people.cardinality, among=focal.records)
        for begin, codes in blocks(self._people.codes):
            self._row[codes] = np.arange(begin, begin + len(codes))

    def add(self, table: EncodedTable, *, seed: int) -> None:
        """Join one more dataset."""
        treated = one_record_each(table, seed=seed)
        table = treated.table
        tag = self._tag(table.name)
        identifier = table.column(str(table.identifier))
        place = no_places(self._focal.records, among=table.records)
        linked = _find_places(identifier.codes, _same(identifier, self._people), self._row, place)
        let_go(identifier.codes)
        tagged = {}
        for name, role in table.roles.items():
            if name in table.columns and role in (Role.QUASI_IDENTIFIER, Role.PART):
                tagged[name] = f"{name}@{tag}"
                self._add_column(_joined(table.column(name), place, tagged[name]))
        presence = (place < 0).astype(np.uint8)
        self._add_column(EncodedColumn(f"@{tag}", presence, pa.array(PRESENCE, pa.large_string())))
        self._steps += treated.steps
        self._members.append(CollectionMember(table.name, tag, table.records, linked))
        self._facts.append(_facts(table) | {"": ("",)})  # ``@2015`` is whether somebody is there
        self._names.append({**tagged, "": f"@{tag}"})

    def collection(self, quasi_identifiers: Sequence[str] | None) -> Collection:
        """Return what was joined."""
        names = list(self._all_known() if quasi_identifiers is None else quasi_identifiers)
        if not names:
            raise StudyError("a collection needs at least one quasi-identifier; name one")
        known = {name: self._columns_known(name) for name in names}
        for position, member in enumerate(self._members):
            if position and not any(by_dataset[position] for by_dataset in known.values()):
                raise StudyError(
                    "{dataset}: has none of the quasi-identifiers {names}; leave it out, or name one that it has",
                    dataset=member.name,
                    names=quoted(names),
                )
        roles: dict[str, Role] = dict.fromkeys(names, Role.QUASI_IDENTIFIER)
        lasting = (Role.SENSITIVE, Role.IDENTIFIER, Role.PRIOR_WEIGHT)
        roles |= {name: role for name, role in self._focal.roles.items() if role in lasting}
        facts = {name: tuple(chain.from_iterable(columns)) for name, columns in known.items()}
        in_facts = set(chain.from_iterable(facts.values()))
        for name in self._columns:
            roles.setdefault(name, Role.PART if name in in_facts else Role.IGNORED)
        table = EncodedTable(
            self._focal.name,
            self._focal.records,
            self._columns,
            roles,
            facts=facts,
            collection=tuple(member.name for member in self._members),
            positions=self._focal.positions,
            missing_codes=self._focal.missing_codes,
            missing_is_a_value=self._focal.missing_is_a_value,
        )
        members, steps = tuple(self._members), tuple(self._steps)
        return Collection(table, members, steps, MappingProxyType(known))

    def _columns_known(self, name: str) -> tuple[tuple[str, ...], ...]:
        """Return, per dataset, the columns that a quasi-identifier stands for."""
        plain, at, tag = name.rpartition("@")
        tagged = bool(at) and any(member.tag == tag for member in self._members)
        columns = tuple(
            tuple(names[part] for part in facts.get(plain if tagged else name, ()) if part in names)
            if not tagged or member.tag == tag
            else ()
            for member, facts, names in zip(self._members, self._facts, self._names, strict=True)
        )
        if not any(columns):
            datasets = ", ".join(member.name for member in self._members)
            raise StudyError(unknown_name("quasi-identifier", name, datasets, self._all_known()))
        return columns

    def _all_known(self) -> list[str]:
        """Return the quasi-identifiers of all datasets, in the order of their appearance."""
        return list(dict.fromkeys(name for facts in self._facts for name in facts if name))

    def _tag(self, name: str) -> str:
        if self._tags is not None:
            return self._tags[len(self._members)]
        taken = {member.tag for member in self._members}
        tag = _stem(name) if _stem(name) not in taken else name
        if tag in taken:
            raise StudyError(
                'two datasets are called "{name}"; give each a name of its own', name=name
            )
        return tag

    def _add_column(self, column: EncodedColumn) -> None:
        if column.name in self._columns:
            raise DataError(
                'the focal dataset has a column "{name}", which is what a column of another dataset is called '
                "when they are joined; rename one of them",
                name=column.name,
            )
        self._columns[column.name] = column


def _facts(table: EncodedTable) -> dict[str, tuple[str, ...]]:
    """Return the columns behind each quasi-identifier of a table."""
    return {name: tuple(table.facts.get(name, (name,))) for name in table.quasi_identifiers}


def _stem(name: str) -> str:
    return PurePath(name).stem or name


def _same(column: EncodedColumn, among: EncodedColumn) -> NDArray[np.uint32]:
    """Return, per value of a column, the code of the same value of another; their number, where it is none of them."""
    if not (column.files or among.files):
        place = positions(column.values, among.values)
        return np.where(place < 0, among.cardinality, place).astype(np.uint32)
    from glasshouse.table.dictionary import DiskDictionary

    both, same = DiskDictionary(codes_only=True), CodePieces()
    for texts in chain(among.texts(), column.texts()):
        both.append(texts)
    known = among.cardinality
    for codes in both.encoded():
        further = codes[min(known, len(codes)) :]
        known -= len(codes) - len(further)
        same.append(np.minimum(further, among.cardinality))
        same.spill()
    return same.joined(1 << 32)


def _joined(column: EncodedColumn, place: Places, name: str) -> EncodedColumn:
    """Return a column of an auxiliary dataset in the order of the focal one, with one more value for absence."""
    values = pa.concat_arrays([column.values, pa.array([ABSENT], pa.large_string())])
    codes = _in_place(column.codes, place, column.cardinality)
    return EncodedColumn(name, codes, values)


def _in_place(codes: Codes, place: Places, absent: int) -> Codes:
    """Return codes in the order of other records; those whose place is −1 are absent."""
    kind = smallest_unsigned(absent + 1)

    def pieces() -> Iterator[Codes]:
        for begin in range(0, len(place), BLOCK_RECORDS):
            some = place[begin : begin + BLOCK_RECORDS]
            found = codes[some].astype(kind, copy=False)
            found[some < 0] = absent
            yield found

    if mapping(codes) is not None:
        joined = on_disk(pieces(), kind)
        let_go(codes)
        return joined
    joined = np.concatenate([*pieces()])
    joined.flags.writeable = False
    return joined


@compiled
def _find_places(codes: Codes, person: NDArray[np.uint32], row: Places, place: Places) -> int:
    """Find, per record of the focal dataset, the record of the same person in another; return how many have one.

    Args:
        codes: The other dataset's identifier, per record.
        person: Per code of it, the code of the same identifier in the focal dataset, or one beyond all of them.
        row: Per code of the focal identifier, its record.
        place: Takes the records; −1 stays where there is none.
    """
    linked = 0
    for i in range(codes.size):
        same = person[codes[i]]
        if same < row.size and row[same] >= 0:
            place[row[same]] = i
            linked += 1
    return linked
