"""Anatomy: the sensitive attribute is published apart, group by group (Xiao and Tao 2006, VLDB).

Nothing is generalised. Records are put into groups of at least l, no two of a group with the same sensitive value;
the quasi-identifiers are published with the number of the group, and so are the sensitive values, but what belongs to
what inside a group is not told. Whoever knows a person's group guesses the value right with probability at most 1 / l.

The records are dealt as in Xiao and Tao's figure 3: as long as l values have records left, a group takes one random
record of each of the l values with most records left, random ones where several have as many. Fewer than l records
remain, all with different values; each joins a random group that does not hold its value. This works if no value is
that of more than 1 in l records.

The groups say nothing about who has which value as long as the random choice is not known. It is therefore drawn by a
cryptographic generator whose key is made of the seed *and* of the sensitive column: someone who knows the seed still
has to know the whole column before she can repeat the draw. Against an adversary who knows nearly all of it, keep the
seed secret and take a long one (``secrets.randbits(128)``).
"""

from __future__ import annotations

import hashlib
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from glasshouse.arrays import Integers, Words
from glasshouse.compiled import compiled, pasted
from glasshouse.errors import DataError, StudyError
from glasshouse.language import number, quoted
from glasshouse.microdata import Assessment, assess
from glasshouse.table import EncodedColumn, EncodedTable, Role
from glasshouse.table.codes import smallest_unsigned
from glasshouse.table.partition import Partition, refined

_CHUNK = 1 << 20
"""How many random words are made at a time."""


@dataclass(frozen=True)
class Anatomy:
    """The groups into which the records were put."""

    dataset: str
    """The name of the table."""
    l: int  # noqa: E741 - the letter of the field
    """How many records, all with different sensitive values, each group has at least."""
    sensitive: str
    """The sensitive attribute that is published apart."""
    quasi_identifiers: tuple[str, ...]
    """What is published of each record, beside its group."""
    group: NDArray[np.uint32]
    """Per record, the number of its group, from 0."""
    sizes: Integers
    """Per group, its number of records."""
    residues: int
    """How many records joined a complete group at the end: fewer than l."""
    seed: int = field(default=0, repr=False)
    """What the random choice depends on; part of the key, and so not for publication."""

    @property
    def records(self) -> int:
        """The number of records."""
        return len(self.group)

    @property
    def groups(self) -> int:
        """The number of groups."""
        return len(self.sizes)

    @property
    def vulnerability(self) -> Fraction:
        """The chance that whoever knows the group of a person guesses the sensitive value right, over all people.

        Σ over groups of max count / N, the posterior Bayes vulnerability: one record in each group, as no value
        occurs twice in it.
        """
        return Fraction(self.groups, self.records)

    @property
    def highest(self) -> Fraction:
        """The same chance for the person who is worst protected: at most 1 / l."""
        return Fraction(1, int(self.sizes.min()))

    def tables(
        self, table: EncodedTable, *, group: str = "group", count: str = "count"
    ) -> tuple[pa.Table, pa.Table]:
        """Return what is published: the quasi-identifier table and the sensitive table.

        Args:
            table: The table that the groups were made of.
            group: What to call the column of group numbers, from 1.
            count: What to call the column that says how many records of the group have the value.

        Returns:
            The quasi-identifiers of each record and its group, in the order of the table; and per group its sensitive
            values, in the order of their texts, each with its count.

        Raises:
            DataError: The table has another number of records.
            StudyError: A name is taken already.
        """
        secret = self._secret_of(table)
        columns = [part for name in self.quasi_identifiers for part in table.columns_of(name)]
        names = [column.name for column in columns]
        _check_free([group], taken=names)
        _check_free([group, count], taken=[self.sensitive])
        numbers = self.group + np.uint32(1)
        known = [_as_dictionary(column.codes, column.values) for column in columns]
        sorted_codes, values = self._sorted_in_groups(secret)
        in_groups = np.repeat(np.arange(1, self.groups + 1, dtype=np.uint32), self.sizes)
        return (
            pa.table([*known, pa.array(numbers)], names=[*names, group]),
            pa.table(
                [
                    pa.array(in_groups),
                    _as_dictionary(sorted_codes, values),
                    pa.array(np.ones(self.records, np.uint32)),
                ],
                names=[group, self.sensitive, count],
            ),
        )

    def one_table(self, table: EncodedTable, *, group: str = "group") -> EncodedTable:
        """Return the table with a column of group numbers, and the sensitive values shuffled within each group.

        The values of a group are first put in the order of their texts and then shuffled, so that the outcome is the
        same whoever had which of them: even the seed does not lead back. To measure what it tells, take the group as
        the only quasi-identifier; beside it, a record's own value is a random one of its group.

        All columns are kept. Leave out beforehand those that are not to be published, and those that would tell the
        sensitive value by themselves.

        Args:
            table: The table that the groups were made of.
            group: What to call the column of group numbers, from 1.

        Raises:
            DataError: The table has another number of records.
            StudyError: The name is taken already.
        """
        secret = self._secret_of(table)
        _check_free([group], taken=table.columns)
        shuffled, values = self._sorted_in_groups(secret)
        classes = Partition(self.group, self.sizes)
        _shuffle_all(shuffled, classes.starts, _key("shuffle", self.seed))
        codes = np.empty(self.records, smallest_unsigned(len(values)))
        codes[classes.order] = shuffled
        numbers = self.group.astype(smallest_unsigned(self.groups))
        texts = pc.cast(pa.array(np.arange(1, self.groups + 1)), pa.large_string())
        columns = {
            **table.columns,
            self.sensitive: EncodedColumn(self.sensitive, _fixed(codes), values),
            group: EncodedColumn(group, _fixed(numbers), texts),
        }
        return replace(table, columns=columns, roles={**table.roles, group: Role.IGNORED})

    def to_dict(self) -> dict[str, Any]:
        """Return what was done in plain values; the seed, which is a secret, is left out."""
        sizes, groups = np.unique(self.sizes, return_counts=True)
        return {
            "method": "anatomy",
            "dataset": self.dataset,
            "parameters": {"l": self.l},
            "sensitive": self.sensitive,
            "quasi_identifiers": list(self.quasi_identifiers),
            "records": self.records,
            "groups": self.groups,
            "group_sizes": dict(zip(sizes.tolist(), groups.tolist(), strict=True)),
            "residues": self.residues,
            "vulnerability": float(self.vulnerability),
            "highest": float(self.highest),
        }

    def to_frame(self) -> pa.Table:
        """Return one row per size of a group: how many groups have it, and how many records are in them."""
        sizes, groups = np.unique(self.sizes, return_counts=True)
        return pa.table({"size": sizes, "groups": groups, "records": sizes * groups})

    def _secret_of(self, table: EncodedTable) -> EncodedColumn:
        if table.records != self.records:
            raise DataError(
                "{table} has {records} records, but the groups were made of {own}; "
                "give the table that was anatomised",
                table=table.name,
                records=table.records,
                own=self.records,
            )
        return table.column(self.sensitive)

    def _sorted_in_groups(
        self, secret: EncodedColumn
    ) -> tuple[NDArray[np.uint32], pa.LargeStringArray]:
        """Return the values of all groups, one group after the other, each in the order of the texts; and the texts.

        The dictionary of the column is in the order of first appearance, and so tells the values of the first records;
        that of the outcome does not.
        """
        by_text = np.asarray(pc.sort_indices(secret.values)).astype(np.int64)
        rank = np.empty(len(by_text), np.uint32)
        rank[by_text] = np.arange(len(by_text), dtype=np.uint32)
        # Records are put in the order of their values, and those of each group then stay in it.
        ranks = rank[secret.codes]
        by_value = Partition(ranks, np.bincount(ranks, minlength=len(rank))).order
        in_groups = Partition(self.group[by_value], self.sizes).order
        return ranks[by_value[in_groups]], secret.values.take(pa.array(by_text))


def assess_by_group(release: EncodedTable, group: str) -> Assessment:
    """Assess a release by Anatomy: people are named by their quasi-identifiers, which it publishes as they are.

    What is inferred goes by the group: beside it, the value of a record is a random one of its group.
    """
    known = release.with_roles(quasi_identifiers=[group], sensitive=release.sensitive)
    named, inferred = (
        assess(table, drop_suppressed=False)
        for table in (release.with_roles(quasi_identifiers=release.quasi_identifiers), known)
    )
    return Assessment(named.records, (*named.attacks[:1], *inferred.attacks[1:]))


def anatomise(
    table: EncodedTable,
    *,
    l: int,  # noqa: E741 - the letter of the field
    sensitive: str | None = None,
    quasi_identifiers: Sequence[str] | None = None,
    seed: int = 0,
) -> Anatomy:
    """Put the records into groups of at least l with different sensitive values (Xiao and Tao 2006).

    Args:
        table: The table to be published.
        l: How many different sensitive values every group shall have, at least 2.
        sensitive: The sensitive attribute; by default the table's, if it has one only.
        quasi_identifiers: What is published of each record; by default the table's quasi-identifiers.
        seed: What the random choice depends on, beside the sensitive column: same seed, same groups. Keep it secret.

    Raises:
        DataError: A column is not in the table.
        StudyError: A value is that of more than 1 in l records; or l, the seed or a role makes no sense.

    >>> from glasshouse.table import read
    >>> people = pa.table({"age": [23, 27, 61, 65], "ill": ["flu", "ulcer", "flu", "asthma"]})
    >>> table = read(people, quasi_identifiers=["age"], sensitive=["ill"])
    >>> anatomy = anatomise(table, l=2)
    >>> anatomy.groups, anatomy.sizes.tolist(), anatomy.vulnerability
    (2, [2, 2], Fraction(1, 2))
    """
    names = table.quasi_identifiers if quasi_identifiers is None else quasi_identifiers
    secret = table.column(_only_one(table) if sensitive is None else sensitive)
    _check_question(table, l, names, secret.name, seed)
    buckets = refined([secret], table.records)
    _check_eligible(table, secret, buckets, l)
    key = _key("groups", seed, secret)
    shuffled = buckets.order.copy()
    _shuffle_all(shuffled, buckets.starts, key)
    group = np.empty(table.records, np.uint32)
    by_size = np.argsort(-buckets.sizes, kind="stable")
    remaining, ends = buckets.sizes[by_size], buckets.starts[1:][by_size]
    seeded = np.frombuffer(_key("ties", seed, secret)[:8], np.uint64)[0]
    groups = _deal(remaining, ends, by_size, shuffled, l, group, seeded)
    residues = np.flatnonzero(remaining)
    draws = np.concatenate([np.zeros(0, np.uint64), *_draws(key + b"residues", len(residues))])
    for bucket, draw in zip(residues.tolist(), draws, strict=True):
        first = ends[bucket] - remaining[bucket]
        records = shuffled[first : first + buckets.sizes[by_size[bucket]]]
        _join(records, group, groups, draw)
    return Anatomy(
        dataset=table.name,
        l=l,
        sensitive=secret.name,
        quasi_identifiers=tuple(names),
        group=_fixed(group),
        sizes=_fixed(np.bincount(group, minlength=groups)),
        residues=len(residues),
        seed=seed,
    )


def _only_one(table: EncodedTable) -> str:
    if len(table.sensitive) != 1:
        if not table.sensitive:
            raise StudyError(
                "Anatomy takes one sensitive attribute, and {table} has none; name it with sensitive=",
                table=table.name,
            )
        raise StudyError(
            "Anatomy takes one sensitive attribute, and {table} has {found}; name it with sensitive=",
            table=table.name,
            found=quoted(table.sensitive),
        )
    return table.sensitive[0]


def _check_question(
    table: EncodedTable, diversity: int, names: Sequence[str], secret: str, seed: int
) -> None:
    if diversity < 2:
        raise StudyError(
            "l is {diversity}; a group hides a value from l = 2 on", diversity=str(diversity)
        )
    if seed < 0:
        raise StudyError("the seed is {seed}; give a whole number from 0", seed=str(seed))
    if not names:
        raise StudyError("Anatomy needs the quasi-identifiers that are to be published; name one")
    table.with_roles(quasi_identifiers=names, sensitive=[secret])


def _check_eligible(
    table: EncodedTable, secret: EncodedColumn, buckets: Partition, diversity: int
) -> None:
    """Refuse a value that is too frequent (Xiao and Tao 2006, the eligibility condition)."""
    most = int(buckets.sizes.argmax())
    count = int(buckets.sizes[most])
    if count * diversity <= table.records:
        return
    code = int(secret.codes[buckets.order[buckets.starts[most]]])
    largest = table.records // count
    words = {
        "value": quoted([secret.values[code].as_py()]),
        "secret": secret.name,
        "count": count,
        "records": table.records,
        "share": number(count / table.records, ".2%"),
        "diversity": str(diversity),
    }
    if largest < 2:
        raise StudyError(
            '{value} is the value of "{secret}" in {count} of {records} records ({share}), more than 1 in l = '
            "{diversity}; no l works; generalise the attribute, or publish it by itself",
            **words,
        )
    raise StudyError(
        '{value} is the value of "{secret}" in {count} of {records} records ({share}), more than 1 in l = '
        "{diversity}; the largest l that works is {largest}",
        **words,
        largest=str(largest),
    )


def _check_free(names: Sequence[str], *, taken: Collection[str]) -> None:
    for position, name in enumerate(names):
        if name in taken or name in names[:position]:
            raise StudyError(
                'the table has a column "{name}" already; choose another name', name=name
            )


def _as_dictionary(codes: NDArray[Any], values: pa.LargeStringArray) -> pa.DictionaryArray:
    return pa.DictionaryArray.from_arrays(pa.array(codes), values)


def _fixed(array: NDArray[Any]) -> NDArray[Any]:
    array.flags.writeable = False
    return array


def _key(purpose: str, seed: int, secret: EncodedColumn | None = None) -> bytes:
    """Return the key of a random choice, made of the seed and of what nobody outside knows, if anything is given."""
    digest = hashlib.blake2b(digest_size=32, person=b"glasshouse")
    for part in (purpose.encode(), str(seed).encode()):
        digest.update(len(part).to_bytes(8, "little") + part)
    if secret is not None:
        texts = secret.values.to_pylist()
        for text in texts:
            part = text.encode("utf-8", "surrogatepass")
            digest.update(len(part).to_bytes(8, "little") + part)
        for first in range(0, len(secret.codes), _CHUNK):
            digest.update(secret.codes[first : first + _CHUNK].astype("<u4").tobytes())
    return digest.digest()


def _draws(key: bytes, count: int) -> Iterator[Words]:
    """Yield so many words that only the key tells from chance, a chunk at a time (SHAKE256, FIPS 202)."""
    for chunk, first in enumerate(range(0, count, _CHUNK)):
        words = min(_CHUNK, count - first)
        stream = hashlib.shake_256(key + chunk.to_bytes(8, "little"))
        yield np.frombuffer(stream.digest(8 * words), "<u8").astype(np.uint64, copy=False)


def _shuffle_all(items: NDArray[np.uint32], starts: Integers, key: bytes) -> None:
    """Shuffle each part of an array, in place."""
    first = 0
    for draws in _draws(key, len(items)):
        _shuffle(items, starts, draws, first)
        first += len(draws)


@compiled
def _shuffle(items: NDArray[np.uint32], starts: Integers, draws: Words, first: int) -> None:
    """Go on with the shuffling of each part, from a place on: each item changes with one before it, or stays."""
    part = np.searchsorted(starts, first, side="right") - 1
    for i in range(draws.size):
        place = first + i
        while place >= starts[part + 1]:
            part += 1
        begin = starts[part]
        other = begin + np.int64(draws[i] % np.uint64(place - begin + 1))
        items[place], items[other] = items[other], items[place]


@compiled
def _deal(
    remaining: Integers,
    ends: Integers,
    buckets: Integers,
    records: NDArray[np.uint32],
    diversity: int,
    group: NDArray[np.uint32],
    state: np.uint64,
) -> int:
    """Deal records into groups, one of each of the l fullest buckets, until fewer than l buckets have any.

    Buckets are in descending order of what remains and stay so: of those that remain as full as the l-th, random ones
    are moved to the last places, and give. A group costs l steps and one binary search. Which values meet in a group is
    published, so that a plain generator is enough here.
    """
    groups = 0
    filled = remaining.size
    while filled >= diversity:
        # Find the buckets, from first to before end, that are as full as the l-th.
        least = remaining[diversity - 1]
        first = diversity - 1
        while first > 0 and remaining[first - 1] == least:
            first -= 1
        inside, end = diversity - 1, filled
        while end - inside > 1:
            middle = (inside + end) // 2
            if remaining[middle] == least:
                inside = middle
            else:
                end = middle
        # Move random ones of them to the last places, so that the order still falls when they have given.
        for place in range(diversity - 1, first - 1, -1):
            last = end - diversity + place
            state = _next(state)
            other = first + np.int64(state % np.uint64(last - first + 1))
            ends[last], ends[other] = ends[other], ends[last]
            buckets[last], buckets[other] = buckets[other], buckets[last]
        # Take a record from each of the fuller buckets, and from these.
        for place in range(diversity):
            bucket = place if place < first else end - diversity + place
            remaining[bucket] -= 1
            ends[bucket] -= 1
            group[records[ends[bucket]]] = groups
        groups += 1
        while filled > 0 and remaining[filled - 1] == 0:
            filled -= 1
    return groups


@pasted
def _next(state: np.uint64) -> np.uint64:
    """Return the next number of a simple generator (xorshift64*, Marsaglia 2003, Vigna 2016)."""
    state = state | np.uint64(state == np.uint64(0))
    state ^= state >> np.uint64(12)
    state ^= state << np.uint64(25)
    state ^= state >> np.uint64(27)
    return state


@compiled
def _join(
    records: NDArray[np.uint32], group: NDArray[np.uint32], groups: int, draw: np.uint64
) -> None:
    """Let the first of the records with one value join a random group that holds none of the others."""
    holds = np.zeros(groups, np.bool_)
    for i in range(1, records.size):
        holds[group[records[i]]] = True
    free = groups - (records.size - 1)
    choice = np.int64(draw % np.uint64(free))
    for place in range(groups):
        if not holds[place]:
            if choice == 0:
                group[records[0]] = place
                return
            choice -= 1
