"""Longitudinal attacks without a persistent identifier: records are linked by keys that may change.

D₁ is the focal dataset, D₂ … D_k are auxiliary ones, and nothing names a person in all of them. The adversary knows
her target's quasi-identifiers in every dataset, y = (y₁, …, y_k), but not which record of D_i is the target's. If the
target's record in D₁ is r, the one in D_i is s with a chance proportional to

    w(r, s) = Π over keys j of   p_j if the key agrees, else (1 − p_j) / (K_j − 1)

with p_j the probability that key j persists and K_j the number of its values: whoever changes takes any other value,
each as likely. So P(y_i | r) = Σ_{s shows y_i} w(r, s) / Σ_s w(r, s); where no record has a positive weight the target
is absent from D_i, which is an observation too. Given r the datasets are independent. With W the weight of all records:

- posterior Bayes vulnerability  Σ_y max_x Σ_{r with x} weight(r)·P(y | r) / W
- posterior certainty            Σ_y [one x only can cause y] Σ_r weight(r)·P(y | r) / W

For re-identification the secret is the record itself. Source: Alvim et al. 2022, section 7 (the problem); the channel
and its derivation are in docs/linkage.md.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from fractions import Fraction
from functools import cached_property
from itertools import groupby, pairwise, product
from math import fsum, gcd, lcm, prod
from typing import Any, TypeGuard

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from glasshouse.arrays import Flags, Integers
from glasshouse.errors import BudgetError, DataError, StudyError
from glasshouse.language import quoted, text, unknown_name
from glasshouse.microdata.assessment import Assessment, Attack, Leakage
from glasshouse.microdata.attack_kernels import Weights, record_weights, value_weights
from glasshouse.microdata.attacks import assess, attributes_of
from glasshouse.microdata.linkage_kernels import (
    LARGEST,
    Gains,
    LinkedGroups,
    LinkedRows,
    Nodes,
    Tallies,
    cells,
    first_nodes,
    measure,
    shortfall,
    split,
    weigh_rows,
)
from glasshouse.progress import resident_bytes
from glasshouse.sources import MISSING
from glasshouse.table import EncodedColumn, EncodedTable, Role
from glasshouse.table.encode import INTEGER
from glasshouse.table.encoded import assign_roles
from glasshouse.table.partition import Partition, partition, refined

MOST_CELLS = 2_000_000_000
"""So many pairs of a group of focal records and an observation are weighed at most: a minute or two."""
MOST_HELD = 100_000_000
"""So many of them are held in memory at once: about three gigabytes."""
CELL_BYTES, RECORD_BYTES, GROUP_BY_BYTES, LOOP_BYTES = 30, 90, 110, 128 << 20
"""What one of them takes; a record of two linked datasets, and more for each group-by beyond the first; and the loops,
once they are compiled."""
MOST_CHANGING_KEYS = 6
"""Each key that may change doubles the number of group-bys."""

_SMALL = 1_000_000
"""Up to so many cells, what does not fit 64 bits is computed in Python's integers."""
_LONGEST = 13_000
"""A denominator of more bits is not written down: Python prints at most 4,300 digits."""
_DIGIT = 1 << 20
"""Weights too large for 64 bits are counted digit by digit in this base."""
_NUMBER = re.compile(r"[0-9]*\.?[0-9]*([eE][+-]?[0-9]{1,2})?|[0-9]+/[0-9]+")
_MOST_DECIMALS = 18
"""Probabilities with more are refused: products of several would leave the range of doubles."""
_LONGEST_INTEGER = 1_000
"""Texts of more characters are not taken for integers."""
_MOST_UNSETTLED = 1_000
"""So many near-ties per portion that 64 bits cannot settle are settled in Python's integers."""
_PORTION = 1 << 22
"""So many cells are split at a time; a class with more is a portion of its own."""

Numbers = NDArray[np.uint32]


@dataclass(frozen=True)
class LinkKey:
    """A column by which records of two datasets are linked, and how well it persists.

    >>> LinkKey("municipality", persists=0.95).probability
    Fraction(19, 20)
    """

    name: str
    """The column, in the focal dataset and in the auxiliary one."""
    persists: Fraction | Decimal | float | str = 1
    """The probability that a person's value is the same in both; decimals are taken at face value."""
    shift: int = 0
    """What is added to the focal value, an integer, before the two are compared: age grows by the years between."""

    def __post_init__(self) -> None:
        try:
            valid = bool(_NUMBER.fullmatch(str(self.persists))) and self.probability <= 1
        except (ValueError, ZeroDivisionError):
            valid = False
        if not valid or self.probability.denominator > 10**_MOST_DECIMALS:
            raise StudyError(
                'key "{name}" persists with probability {probability}; give a number from 0 to 1 with at most '
                "{most} decimals",
                name=self.name,
                probability=str(self.persists),
                most=_MOST_DECIMALS,
            )

    @cached_property
    def probability(self) -> Fraction:
        """The probability as an exact fraction."""
        return Fraction(str(self.persists))


def link(
    focal: EncodedTable,
    auxiliaries: Sequence[EncodedTable],
    *,
    keys: Sequence[LinkKey] | Sequence[Sequence[LinkKey]],
    quasi_identifiers: Sequence[str] | None = None,
    sensitive: Sequence[str | Sequence[str]] | None = None,
    weight: str | None = None,
    memory: int | None = None,
) -> Assessment:
    """Attack the records of a focal dataset with auxiliary datasets that share no identifier with it.

    Args:
        focal: The dataset whose records are attacked.
        auxiliaries: Further datasets, in the order in which they become known.
        keys: The columns that link; one list for all auxiliary datasets, or one list for each.
        quasi_identifiers: What the adversary knows of her target in each dataset that has the column; by default the
            quasi-identifiers of all datasets, except where a dataset gives the column another role.
        sensitive: The focal attributes, or groups of attributes, to infer; by default each sensitive attribute.
        weight: The focal column of record weights; by default the table's, else uniform. Records of weight 0 are left
            out of the links: they cannot be the target's.
        memory: How many bytes the process may take; what needs more is refused.

    Returns:
        The attacks on the growing collections: the focal dataset alone, then with each further one.

        What an auxiliary dataset shows is a matter of chance. With one, ``classes`` is therefore the number of possible
        observations; ``uniques`` is the number of records that every observation they can cause singles out, and
        ``certain`` of those whose secret every observation reveals; ``class_sizes`` are still those of the focal
        dataset alone; and ``success`` is empty.

        Where they are not ``exact``, some vulnerabilities were computed in doubles: because the fraction would be too
        long to be printed, or because weights do not fit 64 bits. Those have a relative error of at most
        (g + k·(l + 2^m + 8))·2⁻⁴⁸, with g the groups of focal records that are told apart, k the datasets, l the most
        observations that a record can cause in one of them, and m the keys that may change; usually it is near 2⁻⁵².
        What is possible, and so every count, is decided in integers and is exact in any case.

    Raises:
        BudgetError: Too many pairs of records and observations are possible, or they do not fit into the memory; it
            says how many, or how much, and what helps.
        DataError: A column is not in a dataset, or a value that is to be shifted is not an integer.
        StudyError: There are no auxiliary datasets, the keys do not fit them, or nothing is observed in one.

    >>> import pyarrow as pa
    >>> from glasshouse.table import read
    >>> first = read(pa.table({"born": [1, 1, 2], "grade": ["A", "A", "A"], "ill": ["no", "yes", "no"]}))
    >>> second = read(pa.table({"born": [1, 1, 2], "grade": ["B", "C", "B"]}))
    >>> known = {"quasi_identifiers": ["grade"], "sensitive": ["ill"]}
    >>> linked = link(first, [second], keys=[LinkKey("born")], **known)
    >>> [(a.code, str(a.probabilistic.posterior)) for a in linked.attacks]
    [('CRL', '1/3'), ('CAL', '2/3'), ('CRL', '1/2'), ('CAL', '2/3')]
    """
    keys_of_each = _keys_of_each(keys, auxiliaries)
    if memory is not None:
        _check_memory(focal, auxiliaries, keys_of_each, memory)
    named = list(focal.sensitive if sensitive is None else sensitive)
    known = _observed((focal, *auxiliaries), quasi_identifiers, named)
    aims = [(), *map(attributes_of, named)]
    every: dict[tuple[tuple[str, ...], tuple[str, ...]], Attack] = {}
    exact = True
    for secrets in reversed(
        focal.alike_known(aims)
    ):  # last with all records, among which people are named
        part = focal.with_known(secrets[0])
        attacks, is_exact = _attacks(
            part, auxiliaries, keys_of_each, known, secrets, weight, memory
        )
        every |= {(attack.datasets, attack.secret): attack for attack in attacks}
        exact = exact and is_exact
    windows = dict.fromkeys(attack.datasets for attack in attacks)
    names = dict.fromkeys(key.name for dataset_keys in keys_of_each for key in dataset_keys)
    return Assessment(
        focal.records,
        tuple(every[datasets, secret] for datasets in windows for secret in aims),
        exact=exact,
        links=tuple(names),
    )


def _attacks(
    focal: EncodedTable,
    auxiliaries: Sequence[EncodedTable],
    keys_of_each: Sequence[tuple[LinkKey, ...]],
    known: Sequence[tuple[str, ...]],
    secrets: Sequence[tuple[str, ...]],
    weight: str | None,
    memory: int | None,
) -> tuple[list[Attack], bool]:
    """Name people, and infer secrets that are known of every focal record; and tell whether all is exact."""
    first = replace(focal, collection=focal.datasets)
    alone = assess(
        first,
        subsets=[known[0]],
        sensitive=[secret for secret in secrets if secret],
        weight=weight,
        drop_suppressed=False,
    ).attacks
    weights = record_weights(focal, weight or focal.weight)
    if weights.each.size and not weights.each.all():  # a record of weight 0 cannot be the target's
        focal = focal.of_records(weights.each > 0)
        weights = record_weights(focal, weight or focal.weight)
    classes = partition(focal, known[0])
    links = [
        _linked(focal, auxiliary, dataset_keys, seen, memory)
        for auxiliary, dataset_keys, seen in zip(auxiliaries, keys_of_each, known[1:], strict=True)
    ]
    values = [partition(focal, one.secret) if one.secret else None for one in alone]
    outcomes: list[Attack] = []
    exact = True
    # The largest collection comes first: if anything is beyond the limits, it is, and nothing is done in vain.
    for size in range(len(links), 0, -1):
        collection = _Collection(
            datasets=sum((table.datasets for table in auxiliaries[:size]), focal.datasets),
            quasi_identifiers=tuple(dict.fromkeys(sum(known[: size + 1], ()))),
            links=tuple(links[:size]),
            memory=memory,
        )
        grouped = [_grouped(classes, secret, collection, weights) for secret in values]
        for groups in grouped:
            _check_size(groups, collection)
        measures = [_measured(groups, collection) for groups in grouped]
        exact = exact and all(measure.exact for measure in measures)
        outcomes[:0] = [
            _outcome(one, measure, measures[0], collection, weights)
            for one, measure in zip(alone, measures, strict=True)
        ]
    return [*alone, *outcomes], exact


@dataclass(frozen=True)
class _Found:
    """What one secret yields: sums of weights, and numbers of records and observations."""

    posterior: Fraction
    certain: Fraction
    exact: bool
    exposed: int
    observations: int


def _outcome(
    alone: Attack,
    found: _Found,
    naming: _Found,
    collection: _Collection,
    weights: Weights,
) -> Attack:
    """Return the attack with what was found; rounding takes it neither below the prior nor above 1."""
    prior = alone.probabilistic.prior
    posterior = min(max(found.posterior / weights.total, prior), Fraction(1))
    certainty = min(found.certain / weights.total, posterior)
    return Attack(
        code="CAL" if alone.secret else "CRL",
        datasets=collection.datasets,
        quasi_identifiers=collection.quasi_identifiers,
        secret=alone.secret,
        records=alone.records,
        classes=naming.observations,
        uniques=naming.exposed,
        class_sizes=alone.class_sizes,
        certain=found.exposed,
        deterministic=Leakage(alone.deterministic.prior, certainty),
        probabilistic=Leakage(prior, posterior),
        success=(),
        gain=None,
    )


def _keys_of_each(
    keys: Sequence[LinkKey] | Sequence[Sequence[LinkKey]], auxiliaries: Sequence[EncodedTable]
) -> list[tuple[LinkKey, ...]]:
    if not auxiliaries:
        raise StudyError("there is nothing to link: give at least one auxiliary dataset")
    if isinstance(keys, LinkKey):
        raise StudyError('keys are given as a list: [LinkKey("{name}")]', name=keys.name)
    if _are_keys(keys):
        lists = [tuple(keys)] * len(auxiliaries)
    else:
        lists = [tuple(entry) if isinstance(entry, Sequence) else (entry,) for entry in keys]
        if not all(map(_are_keys, lists)):
            raise StudyError(
                'keys are given as a list, such as [LinkKey("born"), LinkKey("city", 0.95)]'
            )
        if len(lists) != len(auxiliaries):
            raise StudyError(
                "{lists} lists of keys are given for {datasets} auxiliary datasets; give one list for all, or one "
                "for each",
                lists=len(lists),
                datasets=len(auxiliaries),
            )
    for dataset_keys in lists:
        twice = [
            name for name, count in Counter(key.name for key in dataset_keys).items() if count > 1
        ]
        if twice:
            raise StudyError('key "{name}" is given twice; give it once', name=twice[0])
    return lists


def _are_keys(keys: Sequence[Any]) -> TypeGuard[Sequence[LinkKey]]:
    return all(isinstance(key, LinkKey) for key in keys)


def _observed(
    tables: Sequence[EncodedTable],
    names: Sequence[str] | None,
    secrets: Sequence[str | Sequence[str]],
) -> list[tuple[str, ...]]:
    """Return which quasi-identifiers are known in each dataset; the first is the focal one."""
    guessed = {
        name for secret in secrets for name in ((secret,) if isinstance(secret, str) else secret)
    }
    if names is None:
        chosen = list(dict.fromkeys(name for table in tables for name in table.quasi_identifiers))
        known = [[name for name in chosen if _may_be_known(table, name)] for table in tables]
        known[0] = [name for name in known[0] if name not in guessed]
    else:
        assign_roles(quasi_identifiers=names, sensitive=guessed)
        everything = {name: None for table in tables for name in (*table.columns, *table.facts)}
        for name in names:
            if name not in everything:
                raise DataError(
                    unknown_name("column", name, text("any of the datasets"), everything)
                )
        known = [[name for name in names if _has(table, name)] for table in tables]
    for table, seen in zip(tables[1:], known[1:], strict=True):
        if not seen:
            raise StudyError(
                "nothing is observed in {table}: it has none of the quasi-identifiers; name one of its columns, "
                "or leave it out",
                table=table.name,
            )
    return [tuple(seen) for seen in known]


def _has(table: EncodedTable, name: str) -> bool:
    return name in table.columns or name in table.facts


def _may_be_known(table: EncodedTable, name: str) -> bool:
    free = (Role.QUASI_IDENTIFIER, Role.IGNORED)
    return _has(table, name) and table.roles.get(name, Role.IGNORED) in free


@dataclass(frozen=True)
class _Link:
    """The channel from focal records to what one auxiliary dataset shows."""

    numbers: Numbers
    """Per focal record, its row; 0 where the target is absent."""
    rows: LinkedRows
    """The rows: 64-bit integers; where these do not hold the weights, Python's integers, or else doubles."""

    @cached_property
    def common(self) -> int | None:
        """A common multiple of all totals; None where there is none, or it is too long to be written."""
        if self.rows.totals.dtype == np.float64:
            return None
        common = 1
        for total in np.unique(self.rows.totals):
            common = lcm(common, int(total) or 1)
            if common.bit_length() > _LONGEST:
                return None
        return common

    @cached_property
    def chances(self) -> LinkedRows:
        """The rows in doubles, each with the total 1."""
        lengths = np.diff(self.rows.starts)
        chances = self.rows.weights / np.repeat(self.rows.totals, lengths)
        return self.rows._replace(
            weights=chances.astype(np.float64), totals=np.ones(len(lengths), np.float64)
        )


@dataclass(frozen=True)
class _Collection:
    """The focal dataset and some auxiliary ones, linked."""

    datasets: tuple[str, ...]
    quasi_identifiers: tuple[str, ...]
    links: tuple[_Link, ...]
    memory: int | None

    @cached_property
    def common(self) -> int | None:
        """A common denominator of all chances; None where it is too long to be written."""
        multiples = [link.common for link in self.links]
        common = prod(multiple for multiple in multiples if multiple is not None)
        return None if None in multiples or common.bit_length() > _LONGEST else common

    @property
    def largest(self) -> int:
        """The largest product of totals; 0 where 64 bits do not hold the weights."""
        if any(link.rows.weights.dtype != np.int64 for link in self.links):
            return 0
        return prod(int(link.rows.totals.max()) for link in self.links)

    @cached_property
    def rows(self) -> LinkedRows:
        """The rows of all links."""
        return _stacked([link.rows for link in self.links])

    @cached_property
    def chances(self) -> LinkedRows:
        """The same in doubles."""
        return _stacked([link.chances for link in self.links])

    def numbers(self) -> Iterator[_Codes]:
        """Give, per link, the row of each focal record among the rows of all links."""
        before = 0
        for link in self.links:
            rows = len(link.rows.totals)
            moved = np.arange(before, before + rows, dtype=np.uint32)
            moved[0] = 0
            yield _Codes(moved[link.numbers], before + rows)
            before += rows - 1


def _stacked(rows: Sequence[LinkedRows]) -> LinkedRows:
    """Put the rows of several links one behind the other; they share row 0."""
    if len(rows) == 1:
        return rows[0]
    cells = np.cumsum([1, *(len(link.observations) - 1 for link in rows)])
    starts = [link.starts[1:-1] - 1 + begin for link, begin in zip(rows, cells, strict=False)]
    return LinkedRows(
        starts=np.concatenate([[0], *starts, cells[-1:]]),
        observations=np.concatenate(
            [rows[0].observations[:1], *(link.observations[1:] for link in rows)]
        ),
        weights=np.concatenate([rows[0].weights[:1], *(link.weights[1:] for link in rows)]),
        totals=np.concatenate([rows[0].totals[:1], *(link.totals[1:] for link in rows)]),
    )


@dataclass(frozen=True)
class _Codes:
    """A number per record, and how many numbers there are."""

    each: NDArray[Any]
    cardinality: int


def _alike(columns: Sequence[_Codes], records: int) -> Partition:
    """Return the classes of records with the same numbers."""
    without_text = [
        EncodedColumn("", column.each, pa.nulls(column.cardinality, pa.large_string()))
        for column in columns
    ]
    return refined(without_text, records)


def _first_records(classes: Partition) -> Numbers:
    return classes.order[classes.starts[:-1]]


def _linked(
    focal: EncodedTable,
    auxiliary: EncodedTable,
    keys: Sequence[LinkKey],
    observed: Sequence[str],
    memory: int | None,
) -> _Link:
    """Link focal records to the observations of an auxiliary dataset, by group-bys on the keys.

    A weight depends on nothing but which keys agree. Keys that persist for certain make blocks outside of which nobody
    is compatible; per subset of the keys that may change, one group-by counts who agrees on it.
    """
    compared = [_compared(key, focal, auxiliary) for key in keys]
    certain = [key.codes for key in compared if key.agree > key.differ == 0]
    changing = [key for key in compared if key.differ and key.differ != key.agree]
    changing += [key for key in compared if key.agree == key.differ == 0]
    if len(changing) > MOST_CHANGING_KEYS:
        raise BudgetError(
            "{keys} keys of {table} may change, more than {most}; leave out those that tell least, or let them "
            "persist for certain",
            keys=len(changing),
            table=auxiliary.name,
            most=MOST_CHANGING_KEYS,
        )
    observations = partition(auxiliary, observed)
    seen = _Codes(observations.numbers + np.uint32(1), observations.classes + 1)
    tallies, classes = [], []
    for subset in range(1 << len(changing)):
        chosen = [key.codes for bit, key in enumerate(changing) if subset >> bit & 1]
        both = _alike([*certain, *chosen], focal.records + auxiliary.records)
        tallies.append(_tallied(both, focal.records, seen))
        classes.append(both.numbers[: focal.records])
    joined, matches = _joined(tallies, classes)
    alike = _alike(matches, focal.records)
    first = _first_records(alike)
    factors = [
        prod(choice) for choice in product(*((k.differ, k.agree) for k in reversed(changing)))
    ]
    meetings = np.stack([m.each[first] for m in matches], 1)
    rows = _weighed(meetings, joined, factors, auxiliary, _most_held(memory))
    numbers = np.arange(1, len(rows.totals), dtype=np.uint32)
    numbers[np.diff(rows.starts)[1:] == 0] = 0
    return _Link(numbers[alike.numbers], rows)


@dataclass(frozen=True)
class _Compared:
    """A key of both datasets: values agree where their codes are equal."""

    codes: _Codes
    """Per focal record, then per auxiliary record."""
    agree: int
    """What it weighs to agree, against"""
    differ: int
    """what it weighs to have one particular other value."""


def _compared(key: LinkKey, focal: EncodedTable, auxiliary: EncodedTable) -> _Compared:
    """Code both columns alike, and turn p and (1 − p) / (K − 1) into integers with the same ratio.

    K counts the values as they are compared: the focal ones shifted. A missing value is unknown: it is one more value
    to have, and agrees with none, nor with another missing one.
    """
    focal_values, other = _occurring(focal.column(key.name)), _occurring(auxiliary.column(key.name))
    texts = [focal_values.values, other.values]
    if key.shift:
        texts = [_shifted(focal_values, key.shift, focal), _shifted(other, 0, auxiliary)]
    together = pa.concat_arrays(texts).dictionary_encode()
    values = len(together.dictionary)
    lookup = together.indices.to_numpy().astype(np.uint32)
    unknown = np.asarray(pc.equal(texts[0], MISSING))
    lookup[: len(unknown)][unknown] = values
    if MISSING in together.dictionary.to_pylist():
        values = max(values, 2)
    codes = np.concatenate(
        [lookup[focal_values.codes], lookup[focal_values.cardinality :][other.codes]]
    )
    chance = key.probability
    agree = chance.numerator * max(values - 1, 1)
    differ = chance.denominator - chance.numerator if values > 1 else 0
    factor = gcd(agree, differ) or 1
    return _Compared(_Codes(codes, len(together.dictionary) + 1), agree // factor, differ // factor)


def _occurring(column: EncodedColumn) -> EncodedColumn:
    """Return the column without values that no record has; what is absent counts as missing."""
    occurs = np.bincount(column.codes, minlength=column.cardinality) > 0
    texts = column.values.fill_null(MISSING)
    if occurs.all():
        return replace(column, values=texts)
    codes = (np.cumsum(occurs) - 1).astype(np.uint32)[column.codes]
    return replace(column, codes=codes, values=texts.filter(pa.array(occurs)))


def _shifted(column: EncodedColumn, shift: int, table: EncodedTable) -> pa.LargeStringArray:
    """Return the values of a column of integers, each moved by so much; missing ones stay."""
    moved = []
    for code, value in enumerate(column.values.to_pylist()):
        plain = value.strip()
        if plain and not (INTEGER.fullmatch(plain) and len(plain) < _LONGEST_INTEGER):
            record = int(np.argmax(column.codes == code)) + 1
            raise DataError(
                '{table}, record {record}: "{value}" in column "{column}" is not an integer, but the key is to be '
                "shifted; correct it, or link without a shift",
                table=table.name,
                record=str(record),
                value=value,
                column=column.name,
            )
        moved.append(str(int(plain) + shift) if plain else MISSING)
    return pa.array(moved, pa.large_string())


def _tallied(both: Partition, focal_records: int, seen: _Codes) -> Tallies:
    """Count the observations of auxiliary records per class of records of both datasets."""
    classes = _Codes(both.numbers[focal_records:], both.classes)
    pairs = _alike([classes, seen], len(seen.each))
    first = _first_records(pairs)
    order = np.argsort(classes.each[first], kind="stable")
    first = first[order]
    return Tallies(
        starts=np.searchsorted(classes.each[first], np.arange(both.classes + 1)),
        observations=seen.each[first],
        counts=pairs.sizes[order],
    )


def _joined(tallies: Sequence[Tallies], classes: Sequence[Numbers]) -> tuple[Tallies, list[_Codes]]:
    """Number the classes of all group-bys in a row; whoever meets nobody meets the last one, which is empty."""
    ends = np.cumsum([0, *(len(tally.observations) for tally in tallies)])
    starts = [tally.starts[:-1] + begin for tally, begin in zip(tallies, ends, strict=False)]
    joined = Tallies(
        starts=np.concatenate([*starts, [ends[-1], ends[-1]]]),
        observations=np.concatenate([tally.observations for tally in tallies]),
        counts=np.concatenate([tally.counts for tally in tallies]),
    )
    nobody = len(joined.starts) - 2
    matches, before = [], 0
    for tally, numbers in zip(tallies, classes, strict=True):
        lookup = np.arange(before, before + len(tally.starts) - 1)
        lookup[np.diff(tally.starts) == 0] = nobody
        matches.append(_Codes(lookup.astype(np.uint32)[numbers], nobody + 1))
        before += len(tally.starts) - 1
    return joined, matches


def _weighed(
    matches: NDArray[np.uint32],
    tallies: Tallies,
    factors: list[int],
    auxiliary: EncodedTable,
    most: int,
) -> LinkedRows:
    """Weigh the observations of each row, in the narrowest numbers that hold the weights."""
    size = int(np.diff(tallies.starts)[matches[:, 0]].sum())
    if size > most:
        raise _too_many(size, auxiliary.name, most)
    possible = np.array([factor > 0 for factor in factors])
    meetings = matches.astype(np.int64)

    def filled(weights: NDArray[Any]) -> LinkedRows:
        rows = LinkedRows(
            starts=np.zeros(len(matches) + 2, np.int64),
            observations=np.zeros(size + 1, np.uint32),
            weights=np.ones(size + 1, weights.dtype),
            totals=np.ones(len(matches) + 1, weights.dtype),
        )
        beyond_row_0 = LinkedRows(rows.starts[1:], *(array[1:] for array in rows[1:]))
        end = 1 + weigh_rows(meetings, tallies, weights, possible, beyond_row_0)
        rows.starts[1:] += 1
        return rows._replace(observations=rows.observations[:end], weights=rows.weights[:end])

    if max(factors) * auxiliary.records < LARGEST:
        return filled(np.array(factors, np.int64))
    if size > _SMALL:
        return filled(np.array([factor / max(factors) for factor in factors]))
    rows_by_digit = [filled(np.array(digits, np.int64)) for digits in _digits(factors)]
    weights = sum(part.weights.astype(object) * _DIGIT**i for i, part in enumerate(rows_by_digit))
    totals = sum(part.totals.astype(object) * _DIGIT**i for i, part in enumerate(rows_by_digit))
    weights[0] = totals[0] = 1
    return rows_by_digit[0]._replace(weights=weights, totals=totals)


def _digits(numbers: list[int]) -> Iterator[list[int]]:
    while any(numbers):
        yield [number % _DIGIT for number in numbers]
        numbers = [number // _DIGIT for number in numbers]


def _grouped(
    classes: Partition, secret: Partition | None, collection: _Collection, weights: Weights
) -> LinkedGroups:
    """Group the focal records by quasi-identifiers, secret and rows; without a secret each record is its own."""
    links = list(collection.numbers())
    columns = [_Codes(classes.numbers, classes.classes), *links]
    if secret is not None:
        columns.append(_Codes(secret.numbers, secret.classes))
    groups = _alike(columns, classes.records)
    first = _first_records(groups)
    if secret is not None:
        order = np.lexsort((secret.numbers[first], classes.numbers[first]))
        group_weights = value_weights(groups.numbers, weights.each, groups.classes)
        secrets = secret.numbers[first[order]]
    else:
        order = np.argsort(classes.numbers[first], kind="stable")
        group_weights = _heaviest(groups, weights)
        secrets = np.arange(groups.classes, dtype=np.uint32)
    first, records = first[order], groups.sizes[order]
    return LinkedGroups(
        starts=np.searchsorted(classes.numbers[first], np.arange(classes.classes + 1)),
        secrets=secrets,
        holders=records if secret is None else np.ones_like(records),
        links=np.stack([link.each[first] for link in links]),
        weights=group_weights[order],
        records=records,
    )


def _heaviest(parts: Partition, weights: Weights) -> Integers:
    heaviest = np.ones(parts.classes, np.int64)
    if weights.each.size:
        np.maximum.at(heaviest, parts.numbers, weights.each)
    return heaviest


def _fitting(groups: LinkedGroups, collection: _Collection) -> tuple[LinkedGroups, LinkedRows]:
    """Return groups and rows in 64-bit integers where these hold everything, else in doubles."""
    heaviest = int(groups.weights.max())
    if collection.common is not None and 0 < collection.largest < LARGEST // heaviest:
        return groups, collection.rows
    return groups._replace(weights=groups.weights.astype(np.float64)), collection.chances


def _check_size(groups: LinkedGroups, collection: _Collection) -> None:
    fitting, rows = _fitting(groups, collection)
    touched, where = 0, quoted(collection.datasets)
    for nodes in _leaves(fitting, rows, where, collection.memory):
        touched += int(cells(nodes, len(groups.links) - 1, fitting, rows).sum())
        if touched > MOST_CELLS:
            raise _too_many(touched, where, MOST_CELLS)


def _measured(groups: LinkedGroups, collection: _Collection) -> _Found:
    """Measure one secret exactly where it can be done, in Python's integers if small; else in doubles."""
    fitting, rows = _fitting(groups, collection)
    walk = _Walk(np.ones(len(groups.secrets), np.bool_), defaultdict(int), defaultdict(int))
    where, last = quoted(collection.datasets), len(groups.links) - 1
    for nodes in _leaves(fitting, rows, where, collection.memory):
        gains = measure(nodes, last, fitting, rows, _MOST_UNSETTLED)
        walk.add(gains, nodes.groups)
        for case in gains.unsettled[: gains.counts[1]]:
            walk.shortfall += shortfall(nodes, case, last, fitting, rows)
    if walk.observations >= LARGEST:
        raise _too_many(walk.observations, where, LARGEST)
    common, integers = collection.common, rows.weights.dtype == np.int64
    exact = integers and walk.settled
    if common is not None and integers:
        posterior, certain = _over(common, walk.won) + walk.shortfall, _over(common, walk.sure)
    elif common is not None and _pairs(groups, rows) <= _SMALL:
        posterior, certain = _in_full(groups, collection)
        exact = True
    else:
        posterior, certain = Fraction(walk.won[1]), Fraction(walk.sure[1])
    return _Found(
        posterior=posterior,
        certain=certain,
        exact=exact,
        exposed=int(groups.records[walk.exposed].sum()),
        observations=walk.observations,
    )


@dataclass
class _Walk:
    """What is added up on the way."""

    exposed: Flags
    """Per group, whether every observation makes its secret certain."""
    won: dict[int, Any]
    """Per denominator, the numerators of what best guesses win; doubles have the denominator 1."""
    sure: dict[int, Any]
    """The same of what is won with certainty."""
    observations: int = 0
    """How many observations are possible."""
    shortfall: Fraction = Fraction(0)
    """What was missed by guesses that were taken for the best."""
    settled: bool = True
    """Whether that is all that was missed."""

    def add(self, gains: Gains, groups: Integers) -> None:
        """Add what was found about some nodes."""
        self.exposed[groups[~gains.exposed]] = False
        self.observations += int(gains.counts[0])
        self.settled = self.settled and gains.counts[1] <= len(gains.unsettled)
        if gains.won.dtype == np.float64:
            self.won[1] += fsum(gains.won)
            self.sure[1] += fsum(gains.sure)
            return
        order = np.argsort(gains.bottoms, kind="stable")
        bottoms = gains.bottoms[order]
        begins = np.flatnonzero(np.diff(bottoms, prepend=0))
        for so_far, tops in ((self.won, gains.won[order]), (self.sure, gains.sure[order])):
            high = np.add.reduceat(tops >> 31, begins).astype(object)
            low = np.add.reduceat(tops & (1 << 31) - 1, begins).astype(object)
            for bottom, top in zip(bottoms[begins].tolist(), high * (1 << 31) + low, strict=True):
                so_far[bottom] += top


def _leaves(
    groups: LinkedGroups, rows: LinkedRows, where: str, memory: int | None
) -> Iterator[Nodes]:
    """Give all nodes that wait for the last auxiliary dataset only, some at a time."""
    most = _most_held(memory)

    def below(nodes: Nodes, level: int) -> Iterator[Nodes]:
        if level == len(groups.links) - 1:
            yield nodes
            return
        ends = np.cumsum(cells(nodes, level, groups, rows))
        begin = 0
        while begin < len(ends):
            before = int(ends[begin - 1]) if begin else 0
            end = max(begin + 1, int(np.searchsorted(ends, before + _PORTION, side="right")))
            if ends[end - 1] - before > most:
                raise _too_many(int(ends[end - 1]) - before, where, most)
            yield from below(split(nodes.between(begin, end), level, groups, rows), level + 1)
            begin = end

    yield from below(first_nodes(groups, rows), 0)


def _check_memory(
    focal: EncodedTable,
    auxiliaries: Sequence[EncodedTable],
    keys_of_each: Sequence[Sequence[LinkKey]],
    memory: int,
) -> None:
    """Make sure that the records can be linked in memory.

    Raises:
        BudgetError: They take more than there is.
    """
    needed = resident_bytes() + LOOP_BYTES
    for auxiliary, keys in zip(auxiliaries, keys_of_each, strict=True):
        changing = min(sum(key.probability < 1 for key in keys), MOST_CHANGING_KEYS)
        of_record = RECORD_BYTES + GROUP_BY_BYTES * ((1 << changing) - 1)
        needed += (focal.records + auxiliary.records) * of_record
    if needed > memory:
        raise BudgetError(
            "linking {where} takes about {needed} MiB, and the process may take {memory} MiB; give more memory, or "
            "link fewer records, or by fewer keys that may change",
            where=quoted([focal.name, *(table.name for table in auxiliaries)]),
            needed=needed >> 20,
            memory=memory >> 20,
        )


def _most_held(memory: int | None) -> int:
    """Return how many pairs of a group and an observation may be held at once."""
    if memory is None:
        return MOST_HELD
    return min(MOST_HELD, max(0, memory - resident_bytes()) // CELL_BYTES)


def _too_many(pairs: int, where: str, most: int) -> BudgetError:
    return BudgetError(
        "linking {where} means to weigh {pairs} pairs of records and observations or more, beyond the limit of "
        "{most}; add a key that persists for certain, or leave out a quasi-identifier or a dataset",
        where=where,
        pairs=pairs,
        most=most,
    )


def _over(common: int, numerators: Mapping[int, int]) -> Fraction:
    """Add fractions with a common multiple of their denominators."""
    whole = sum(top * (common // bottom) for bottom, top in numerators.items())
    return Fraction(whole, common)


def _pairs(groups: LinkedGroups, rows: LinkedRows) -> float:
    """Return how many pairs of a group and an observation of all datasets are possible."""
    return float(np.diff(rows.starts).astype(np.float64)[groups.links].prod(axis=0).sum())


def _in_full(groups: LinkedGroups, collection: _Collection) -> tuple[Fraction, Fraction]:
    """Return the weights won, and won with certainty, pair by pair in Python's integers."""
    rows, multiples = collection.rows, [link.common or 1 for link in collection.links]
    posterior = certain = 0

    def weighed(row: int, multiple: int) -> list[tuple[int, int]]:
        part = slice(rows.starts[row], rows.starts[row + 1])
        factor = multiple // int(rows.totals[row])
        weights = (int(weight) * factor for weight in rows.weights[part])
        return list(zip(rows.observations[part].tolist(), weights, strict=True))

    for begin, end in pairwise(groups.starts.tolist()):
        best: Counter[tuple[int, ...]] = Counter()
        reached: Counter[tuple[int, ...]] = Counter()
        for _, run in groupby(range(begin, end), key=lambda group: groups.secrets[group]):
            weight_of: Counter[tuple[int, ...]] = Counter()
            for group in run:
                holders = int(groups.holders[group])
                chosen = map(weighed, groups.links[:, group].tolist(), multiples)
                for path in product(*chosen):
                    weight = prod((weight for _, weight in path), start=int(groups.weights[group]))
                    weight_of[tuple(seen for seen, _ in path)] += weight
            for seen, weight in weight_of.items():
                best[seen] = max(best[seen], weight)
                reached[seen] += holders
        posterior += sum(best.values())
        certain += sum(weight for seen, weight in best.items() if reached[seen] == 1)
    common = prod(multiples)
    return Fraction(posterior, common), Fraction(certain, common)
