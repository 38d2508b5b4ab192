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
and its derivation are in docs/tutorials/several-years.md.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from decimal import Decimal
from fractions import Fraction
from functools import cached_property
from itertools import chain, groupby, pairwise, product
from math import gcd, lcm, prod
from typing import Any, TypeGuard

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from glasshouse.arrays import Flags, Integers
from glasshouse.errors import BudgetError, DataError, StudyError
from glasshouse.language import quoted, text, unknown_name
from glasshouse.microdata.assessment import Assessment, assess
from glasshouse.microdata.attack_kernels import Weights, record_weights, value_weights
from glasshouse.microdata.attacks import attributes_of, of_records, size_of, whole_classes
from glasshouse.microdata.leakage import Attack, Leakage
from glasshouse.microdata.linkage_kernels import (
    LARGEST,
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
from glasshouse.progress import give_back_memory, resident_bytes
from glasshouse.sources import MISSING
from glasshouse.table import EncodedColumn, EncodedTable, Role
from glasshouse.table.codes import CodePieces, blocks, mapping, on_disk, taken
from glasshouse.table.dictionary import DiskDictionary
from glasshouse.table.encode import INTEGER
from glasshouse.table.encoded import assign_roles
from glasshouse.table.partition import Partition, numbered, refined

MOST_CELLS = 2_000_000_000
"""So many pairs of a group of focal records and an observation are weighed at most: a minute or two."""
MOST_HELD = 100_000_000
"""So many of them are held in memory at once: about three gigabytes."""
CELL_BYTES, RECORD_BYTES, GROUP_BY_BYTES, LOOP_BYTES = 30, 90, 110, 128 << 20
"""What one of them takes; a record of two linked datasets, and more for each group-by beyond the first; and the loops,
once they are compiled."""
MEASURED_BYTES, GROUP_BYTES, GATHERED_BYTES, SHOWN_BYTES, ROW_BYTES = 180, 45, 50, 110, 4
"""What a focal record takes while guesses are compared, and more for each secret beyond the first; a pair in the rows
of a slice, and each of its observations; and what stays of a record once it is linked."""
LEAST_ROOM, LEAST_RECORDS = 32 << 20, 100_000
"""With less room nothing is begun; so many records are laid out at a time in any case."""
MOST_SLICES = 1 << 12
"""In so many slices are records linked at most."""
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
_MOST_UNSETTLED = 10_000
"""So many near-ties that 64 bits cannot settle are settled in Python's integers."""
_MANTISSA = 53
"""The bits of a double's mantissa."""
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
    prior_weight: str | None = None,
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
        prior_weight: The focal column of record weights; by default the table's, else uniform. Records of weight 0 are
            left out of the links: they cannot be the target's.
        memory: How many bytes the process may take; what needs more is linked in slices, or refused.

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
    budget = _budget(focal, auxiliaries, keys_of_each, memory)
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
            part, auxiliaries, keys_of_each, known, secrets, prior_weight, budget
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
    prior_weight: str | None,
    budget: _Budget,
) -> tuple[list[Attack], bool]:
    """Name people, and infer secrets that are known of every focal record; and tell whether all is exact."""
    first = replace(focal, collection=focal.datasets)
    alone = assess(
        first,
        subsets=[known[0]],
        sensitive=[secret for secret in secrets if secret],
        prior_weight=prior_weight,
        drop_suppressed=False,
        most_records=budget.most_records,
    ).attacks
    weights = record_weights(focal, prior_weight or focal.prior_weight)
    if weights.each.size and not weights.each.all():  # a record of weight 0 cannot be the target's
        focal = focal.of_records(weights.each > 0)
        weights = record_weights(focal, prior_weight or focal.prior_weight)
    links = [
        _linked(focal, auxiliary, dataset_keys, seen, budget)
        for auxiliary, dataset_keys, seen in zip(auxiliaries, keys_of_each, known[1:], strict=True)
    ]
    people = _People(
        records=focal.records,
        columns=[column for name in known[0] for column in focal.columns_of(name)],
        secrets=[_codes_of(focal, one.secret) if one.secret else None for one in alone],
        weights=weights,
    )
    outcomes: list[Attack] = []
    exact = True
    # The largest collection comes first: if anything is beyond the limits, it is, and nothing is done in vain.
    for size in range(len(links), 0, -1):
        collection = _Collection(
            datasets=sum((table.datasets for table in auxiliaries[:size]), focal.datasets),
            quasi_identifiers=tuple(dict.fromkeys(sum(known[: size + 1], ()))),
            links=tuple(links[:size]),
            budget=budget,
        )
        measures = _measures(people, collection)
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
class _People:
    """The focal records, as the adversary sees them."""

    records: int
    columns: Sequence[EncodedColumn]
    """What she knows of them in the focal dataset."""
    secrets: Sequence[_Codes | None]
    """What she is after; None: the record itself."""
    weights: Weights


@dataclass(frozen=True)
class _Link:
    """The channel from focal records to what one auxiliary dataset shows."""

    numbers: Numbers
    """Per focal record, its row; 0 where the target is absent."""
    rows: LinkedRows
    """The rows: 64-bit integers; where these do not hold the weights, Python's integers, or else doubles. They are on
    disk where records were linked in slices."""
    shown: int
    """How many observations there are."""

    @cached_property
    def common(self) -> int | None:
        """A common multiple of all totals; None where there is none, or it is too long to be written."""
        if self.rows.totals.dtype == np.float64:
            return None
        common = 1
        for _, totals in blocks(self.rows.totals):
            for total in np.unique(totals):
                common = lcm(common, int(total) or 1)
                if common.bit_length() > _LONGEST:
                    return None
        return common

    @property
    def heaviest(self) -> int:
        """The largest total."""
        return max(int(totals.max()) for _, totals in blocks(self.rows.totals))

    def of_records(
        self, records: slice | Integers, datasets: Sequence[str], budget: _Budget
    ) -> tuple[_Codes, LinkedRows]:
        """Return the row of each of some records, among the rows that one of them leads to."""
        if isinstance(records, slice):
            return _Codes(self.numbers, len(self.rows.totals)), self.rows
        among, numbers = np.unique(
            np.append(np.uint32(0), self.numbers[records]), return_inverse=True
        )
        used = among.astype(np.int64)
        starts, ends = (taken(self.rows.starts, used + place) for place in (0, 1))
        lengths = ends - starts
        bounds = np.concatenate([np.zeros(1, np.int64), np.cumsum(lengths)])
        size = int(bounds[-1])
        needed = 2 * (size * GATHERED_BYTES + min(size, self.shown) * SHOWN_BYTES)
        try:
            budget.check(needed, datasets)
        except BudgetError as error:
            raise _CrowdedError(str(error)) from None
        places = np.repeat(starts - bounds[:-1], lengths) + np.arange(bounds[-1])
        rows = LinkedRows(
            bounds,
            taken(self.rows.observations, places),
            taken(self.rows.weights, places),
            taken(self.rows.totals, used),
        )
        return _Codes(numbers[1:].astype(np.uint32), len(used)), rows


def _numbered_anew(rows: Sequence[LinkedRows]) -> list[LinkedRows]:
    """Return rows with observations numbered without gaps, in their order, where there are more numbers than cells."""
    ends = np.cumsum([len(link.observations) for link in rows])
    if max(int(link.observations.max()) for link in rows) < ends[-1]:
        return list(rows)
    _, numbers = np.unique(
        np.concatenate([link.observations for link in rows]), return_inverse=True
    )
    return [
        link._replace(observations=some.astype(np.uint32))
        for link, some in zip(rows, np.split(numbers, ends[:-1]), strict=True)
    ]


def _chances(rows: LinkedRows) -> LinkedRows:
    """Return rows in doubles, each with the total 1."""
    lengths = np.diff(rows.starts)
    chances = rows.weights / np.repeat(rows.totals, lengths)
    return rows._replace(
        weights=chances.astype(np.float64), totals=np.ones(len(lengths), np.float64)
    )


@dataclass(frozen=True)
class _Collection:
    """The focal dataset and some auxiliary ones, linked."""

    datasets: tuple[str, ...]
    quasi_identifiers: tuple[str, ...]
    links: tuple[_Link, ...]
    budget: _Budget

    @cached_property
    def common(self) -> int | None:
        """A common denominator of all chances; None where it is too long to be written."""
        multiples = [link.common for link in self.links]
        common = prod(multiple for multiple in multiples if multiple is not None)
        return None if None in multiples or common.bit_length() > _LONGEST else common

    @cached_property
    def largest(self) -> int:
        """The largest product of totals; 0 where 64 bits do not hold the weights."""
        if any(link.rows.weights.dtype != np.int64 for link in self.links):
            return 0
        return prod(link.heaviest for link in self.links)

    def of_records(self, records: slice | Integers) -> tuple[list[_Codes], list[LinkedRows]]:
        """Return, per link, the row of each of some records among the rows of all links; and these, link by link."""
        numbers, rows, before = [], [], 0
        for link in self.links:
            codes, of_link = link.of_records(records, self.datasets, self.budget)
            moved = np.arange(before, before + codes.cardinality, dtype=np.uint32)
            moved[0] = 0
            numbers.append(_Codes(moved[codes.each], before + codes.cardinality))
            rows.append(of_link)
            before += codes.cardinality - 1
        if not isinstance(records, slice):
            rows = _numbered_anew(rows)
        return numbers, rows


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


def _stacked_on_disk(rows: Iterable[LinkedRows]) -> LinkedRows:
    """Do the same with rows that come one after the other and wait on disk."""
    pieces, cells = [CodePieces() for _ in LinkedRows._fields], 0
    kinds: list[np.dtype[Any]] = []
    for link in rows:
        shared = int(cells > 0)  # row 0, which all but the first leave out
        starts = link.starts[shared:-1] - shared + cells
        for place, array in enumerate((starts, *(array[shared:] for array in link[1:]))):
            pieces[place].append(np.ascontiguousarray(array).view(np.uint8))
            pieces[place].spill()
        cells += len(link.observations) - shared
        kinds = [array.dtype for array in link]
    pieces[0].append(np.array([cells]).view(np.uint8))
    joined: list[NDArray[Any]] = [piece.joined(256) for piece in pieces]
    return LinkedRows(*(array.view(kind) for array, kind in zip(joined, kinds, strict=True)))


@dataclass(frozen=True)
class _Codes:
    """A number per record, and how many numbers there are."""

    each: NDArray[Any]
    cardinality: int


def _codes_of(table: EncodedTable, names: Sequence[str]) -> _Codes:
    return _Codes(*numbered(table, names))


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
    budget: _Budget,
) -> _Link:
    """Link focal records to the observations of an auxiliary dataset, by group-bys on the keys.

    A weight depends on nothing but which keys agree. Keys that persist for certain make blocks outside of which nobody
    is compatible; per subset of the keys that may change, one group-by counts who agrees on it. What does not fit into
    the memory is linked in slices with whole blocks, and the rows go to disk.
    """
    compared = [_compared(key, focal, auxiliary) for key in keys]
    certain = [key for key in compared if key.agree > key.differ == 0]
    changing = [key for key in compared if key.differ and key.differ != key.agree]
    changing += [key for key in compared if key.agree == key.differ == 0]
    if len(changing) > MOST_CHANGING_KEYS:
        raise BudgetError(
            "{keys} keys of {table} may change, more than {most}; leave out those that reveal least, or let them "
            "persist for certain",
            keys=len(changing),
            table=auxiliary.name,
            most=MOST_CHANGING_KEYS,
        )
    seen = _codes_of(auxiliary, observed)
    factors = [
        prod(choice) for choice in product(*((k.differ, k.agree) for k in reversed(changing)))
    ]
    of_record = _record_bytes(len(changing))
    slices = budget.slices(focal.records + auxiliary.records, of_record)

    def meetings() -> Iterator[_Meeting]:
        for here, there in zip(
            whole_classes([key.focal for key in certain], focal.records, slices),
            whole_classes([key.auxiliary for key in certain], auxiliary.records, slices),
            strict=True,
        ):
            if not isinstance(here, slice):
                for key in certain:  # who has no value agrees with nobody
                    here = here[taken(key.focal.codes, here) + 1 < key.focal.cardinality]
            sizes = size_of(here, focal.records), size_of(there, auxiliary.records)
            if slices > 1:
                budget.check(sum(sizes) * of_record, [focal.name, auxiliary.name])
            yield _meeting(here, there, sizes, certain, changing, seen)

    form: type[Any] = np.int64
    if max(factors) * auxiliary.records >= LARGEST:
        size = sum(meeting.pairs for meeting in meetings())
        form = np.float64 if size > _SMALL else object
    numbers = np.zeros(focal.records, np.uint32)

    def rows() -> Iterator[LinkedRows]:
        before = 0
        for meeting in meetings():
            if meeting.pairs == 0:
                continue
            of_slice = _weighed(meeting, factors, auxiliary, form, budget.most_held)
            places = np.arange(before + 1, before + len(of_slice.totals), dtype=np.uint32)
            places[np.diff(of_slice.starts)[1:] == 0] = 0
            numbers[meeting.records] = places[meeting.alike.numbers]
            before += len(of_slice.totals) - 1
            yield of_slice

    nothing = LinkedRows(np.arange(2), np.zeros(1, np.uint32), np.ones(1, form), np.ones(1, form))
    if slices == 1 or form is object:
        joined = _stacked([*rows()] or [nothing])
    else:
        joined = _stacked_on_disk(chain([nothing], rows()))
    return _Link(numbers, joined, seen.cardinality)


@dataclass(frozen=True)
class _Meeting:
    """Some focal records, and the auxiliary ones that agree with them on the keys that persist for certain."""

    records: slice | Integers
    """Which focal records these are."""
    alike: Partition
    """Their rows."""
    matches: Integers
    """Per row and subset of the keys that may change, the class of auxiliary records that agree."""
    tallies: Tallies
    """The observations of each class, numbered for these records;"""
    observations: Numbers
    """what each number stands for."""

    @cached_property
    def pairs(self) -> int:
        """How many pairs of a row and an observation there are."""
        return int(np.diff(self.tallies.starts)[self.matches[:, 0]].sum())


def _meeting(
    here: slice | Integers,
    there: slice | Integers,
    sizes: tuple[int, int],
    certain: Sequence[_Compared],
    changing: Sequence[_Compared],
    seen: _Codes,
) -> _Meeting:
    """Count, per subset of the keys that may change, who agrees on it, among some records of both datasets."""
    focal_records, size = sizes[0], sum(sizes)
    shown = taken(seen.each, there)
    distinct = _alike([_Codes(shown, seen.cardinality)], len(shown))
    observed = _Codes(distinct.numbers + np.uint32(1), distinct.classes + 1)
    blocks_of = [key.of_records(here, there) for key in certain]
    further = [key.of_records(here, there) for key in changing]
    tallies, classes = [], []
    for subset in range(1 << len(changing)):
        chosen = [codes for bit, codes in enumerate(further) if subset >> bit & 1]
        both = _alike([*blocks_of, *chosen], size)
        tallies.append(_tallied(both, focal_records, observed))
        classes.append(both.numbers[:focal_records])
    joined, matches = _joined(tallies, classes)
    alike = _alike(matches, focal_records)
    first = _first_records(alike)
    return _Meeting(
        records=here,
        alike=alike,
        matches=np.stack([match.each[first] for match in matches], 1).astype(np.int64),
        tallies=joined,
        observations=np.append(np.uint32(0), shown[_first_records(distinct)] + np.uint32(1)),
    )


@dataclass(frozen=True)
class _Compared:
    """A key of both datasets: values agree where their codes are equal."""

    focal: EncodedColumn
    auxiliary: EncodedColumn
    agree: int
    """What it weighs to agree, against"""
    differ: int
    """what it weighs to have one particular other value."""

    def of_records(self, here: slice | Integers, there: slice | Integers) -> _Codes:
        """Return the codes of some focal records, then of some auxiliary ones."""
        codes = [taken(self.focal.codes, here), taken(self.auxiliary.codes, there)]
        return _Codes(np.concatenate(codes), self.focal.cardinality)


def _compared(key: LinkKey, focal: EncodedTable, auxiliary: EncodedTable) -> _Compared:
    """Code both columns alike, and turn p and (1 − p) / (K − 1) into integers with the same ratio.

    K counts the values as they are compared: the focal ones shifted. A missing value is unknown: it is one more value
    to have, and agrees with none, nor with another missing one.
    """
    columns = focal.column(key.name), auxiliary.column(key.name)
    occurs = [column.tally > 0 for column in columns]
    both = DiskDictionary(codes_only=True) if any(c.files for c in columns) else _Texts()
    unknown = []
    for table, column, shift, held in zip(
        (focal, auxiliary), columns, (key.shift, 0), occurs, strict=True
    ):
        begin, is_unknown = 0, []
        for texts in column.texts():
            chosen = held[begin : begin + len(texts)]
            filled = texts.fill_null(MISSING)
            if key.shift:
                filled = _shifted(filled, shift, chosen, column, begin, table)
            both.append(filled.filter(pa.array(chosen)))
            is_unknown.append(np.asarray(pc.equal(filled, MISSING)))
            begin += len(texts)
        unknown.append(np.concatenate(is_unknown) & held)
    common = np.concatenate([*both.encoded()])
    values = len(both)
    lookups = [np.zeros(len(held), np.uint32) for held in occurs]
    lookups[0][occurs[0]], lookups[1][occurs[1]] = np.split(common, [occurs[0].sum()])
    lookups[0][unknown[0]] = values
    coded = [
        _recoded(column, lookup, values + 1)
        for column, lookup in zip(columns, lookups, strict=True)
    ]
    if any(marks.any() for marks in unknown):
        values = max(values, 2)
    chance = key.probability
    agree = chance.numerator * max(values - 1, 1)
    differ = chance.denominator - chance.numerator if values > 1 else 0
    factor = gcd(agree, differ) or 1
    return _Compared(coded[0], coded[1], agree // factor, differ // factor)


class _Texts:
    """Gives texts in memory their codes, as `DiskDictionary` does those on disk."""

    def __init__(self) -> None:
        self._texts: list[pa.LargeStringArray] = []
        self._count = 0

    def __len__(self) -> int:
        return self._count

    def append(self, texts: pa.LargeStringArray) -> None:
        """Add further texts."""
        self._texts.append(texts)

    def encoded(self) -> Iterator[Numbers]:
        """Yield the codes of all texts."""
        together = pa.concat_arrays(self._texts).dictionary_encode()
        self._count = len(together.dictionary)
        yield together.indices.to_numpy().astype(np.uint32)


def _recoded(column: EncodedColumn, lookup: Numbers, cardinality: int) -> EncodedColumn:
    """Return a column in other codes, without text; on disk where it is."""
    if mapping(column.codes) is None:
        codes = lookup[column.codes]
    else:
        codes = on_disk((lookup[some] for _, some in blocks(column.codes)), np.uint32)
    return EncodedColumn(column.name, codes, pa.nulls(cardinality, pa.large_string()))


def _shifted(
    texts: pa.LargeStringArray,
    shift: int,
    held: Flags,
    column: EncodedColumn,
    begin: int,
    table: EncodedTable,
) -> pa.LargeStringArray:
    """Return values of a column of integers, from a code on, each moved by so much; missing ones stay."""
    moved = []
    for code, (value, is_held) in enumerate(zip(texts.to_pylist(), held, strict=True), begin):
        plain = value.strip() if is_held else MISSING
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
    meeting: _Meeting, factors: list[int], auxiliary: EncodedTable, form: type[Any], most: int
) -> LinkedRows:
    """Weigh the observations of each row, in numbers of a form that holds the weights."""
    size, number = meeting.pairs, len(meeting.matches)
    if size > most:
        raise _too_many(size, auxiliary.name, most)
    possible = np.array([factor > 0 for factor in factors])

    def filled(weights: NDArray[Any]) -> LinkedRows:
        rows = LinkedRows(
            starts=np.zeros(number + 2, np.int64),
            observations=np.zeros(size + 1, np.uint32),
            weights=np.ones(size + 1, weights.dtype),
            totals=np.ones(number + 1, weights.dtype),
        )
        beyond_row_0 = LinkedRows(rows.starts[1:], *(array[1:] for array in rows[1:]))
        end = 1 + weigh_rows(meeting.matches, meeting.tallies, weights, possible, beyond_row_0)
        rows.starts[1:] += 1
        return rows._replace(
            observations=meeting.observations[rows.observations[:end]], weights=rows.weights[:end]
        )

    if form is np.int64:
        return filled(np.array(factors, np.int64))
    if form is np.float64:
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
    classes: Partition, secret: _Codes | None, links: Sequence[_Codes], weights: Integers
) -> LinkedGroups:
    """Group focal records by quasi-identifiers, secret and rows; without a secret each record is its own."""
    columns = [_Codes(classes.numbers, classes.classes), *links]
    if secret is not None:
        columns.append(secret)
    groups = _alike(columns, classes.records)
    first = _first_records(groups)
    if secret is not None:
        order = np.lexsort((secret.each[first], classes.numbers[first]))
        group_weights = value_weights(groups.numbers, weights, groups.classes)
        secrets = secret.each[first[order]].astype(np.uint32)
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


def _heaviest(parts: Partition, weights: Integers) -> Integers:
    heaviest = np.ones(parts.classes, np.int64)
    if weights.size:
        np.maximum.at(heaviest, parts.numbers, weights)
    return heaviest


@dataclass(frozen=True)
class _Portion:
    """Groups of some focal records, all that show the same in the focal dataset, and their rows."""

    groups: list[LinkedGroups]
    """The groups of each secret."""
    links: list[LinkedRows]
    """The rows of each link."""

    @cached_property
    def rows(self) -> LinkedRows:
        """The rows of all links."""
        return _stacked(self.links)

    @cached_property
    def chances(self) -> LinkedRows:
        """The same in doubles."""
        return _stacked([_chances(link) for link in self.links])

    def fitting(
        self, groups: LinkedGroups, *, in_integers: bool
    ) -> tuple[LinkedGroups, LinkedRows]:
        """Return groups and rows in 64-bit integers, or in doubles."""
        if in_integers:
            return groups, self.rows
        return groups._replace(weights=groups.weights.astype(np.float64)), self.chances


def _portions(people: _People, collection: _Collection, slices: int) -> Iterator[_Portion]:
    for records in whole_classes(people.columns, people.records, slices):
        size = size_of(records, people.records)
        if size == 0:
            continue
        if slices > 1:
            of_record = _measured_bytes(people)
            collection.budget.check(size * of_record, collection.datasets)
        classes = refined(of_records(people.columns, records), size)
        numbers, links = collection.of_records(records)
        each = people.weights.each
        weights = each[records] if each.size else each
        groups = [
            _grouped(
                classes,
                secret and _Codes(taken(secret.each, records), secret.cardinality),
                numbers,
                weights,
            )
            for secret in people.secrets
        ]
        yield _Portion(groups, links)


def _measures(people: _People, collection: _Collection) -> list[_Found]:
    """Measure each secret exactly where it can be done, in Python's integers if small; else in doubles.

    Before anything is measured, the pairs of a group and an observation are counted.
    """
    slices = collection.budget.slices(people.records, _measured_bytes(people))
    while True:
        in_memory = [*_portions(people, collection, 1)] if slices == 1 else None
        try:
            walks = [_Walk(collection) for _ in people.secrets]
            for portion in in_memory or _portions(people, collection, slices):
                for walk, groups in zip(walks, portion.groups, strict=True):
                    walk.foresee(groups, portion)
            break
        except _CrowdedError:
            if slices >= MOST_SLICES:
                raise
            slices *= 2
    for portion in in_memory or _portions(people, collection, slices):
        for walk, groups in zip(walks, portion.groups, strict=True):
            walk.measure(groups, portion)
    return [walk.found() for walk in walks]


@dataclass
class _Walk:
    """What is added up of one secret on the way."""

    collection: _Collection
    heaviest: int = 0
    """The largest weight of a group."""
    pairs: float = 0.0
    """How many pairs of a group and an observation of all datasets are possible,"""
    touched: int = 0
    """and how many are looked at."""
    won: dict[int, int] = field(default_factory=lambda: defaultdict(int))
    """Per denominator, the numerators of what best guesses win; in doubles, per power of two their mantissas."""
    sure: dict[int, int] = field(default_factory=lambda: defaultdict(int))
    """The same of what is won with certainty."""
    exposed: int = 0
    """How many records are in groups of which every observation makes the secret certain."""
    observations: int = 0
    """How many observations are possible."""
    unsettled: int = 0
    """How many near-ties 64 bits could not settle."""
    in_full: tuple[Fraction, Fraction] = (Fraction(0), Fraction(0))
    """What is won, and with certainty, where it is computed in Python's integers."""

    def foresee(self, groups: LinkedGroups, portion: _Portion) -> None:
        """Count the pairs of some groups.

        Raises:
            BudgetError: There are too many.
        """
        heaviest = int(groups.weights.max())
        fitting, rows = portion.fitting(groups, in_integers=self._fits(heaviest))
        self.heaviest = max(self.heaviest, heaviest)
        self.pairs += _pairs(groups, rows)
        for nodes in _leaves(fitting, rows, self._where, self.collection.budget.most_held):
            self.touched += int(cells(nodes, len(groups.links) - 1, fitting, rows).sum())
            if self.touched > MOST_CELLS:
                raise _too_many(self.touched, self._where, MOST_CELLS)

    def measure(self, groups: LinkedGroups, portion: _Portion) -> None:
        """Add what is found about some groups, once all are foreseen."""
        fitting, rows = portion.fitting(groups, in_integers=self._in_integers)
        exposed, last = np.ones(len(groups.secrets), np.bool_), len(groups.links) - 1
        for nodes in _leaves(fitting, rows, self._where, self.collection.budget.most_held):
            most = max(0, _MOST_UNSETTLED - self.unsettled)
            gains = measure(nodes, last, fitting, rows, most)
            exposed[nodes.groups[~gains.exposed]] = False
            self.observations += int(gains.counts[0])
            self.unsettled += int(gains.counts[1])
            _add((self.won, self.sure), (gains.won, gains.sure), gains.bottoms)
            for case in gains.unsettled[: gains.counts[1]]:
                missed = shortfall(nodes, case, last, fitting, rows)
                self.in_full = (self.in_full[0] + missed, self.in_full[1])
        self.exposed += int(groups.records[exposed].sum())
        if self._is_full:
            posterior, certain = _in_full(groups, self.collection, portion.rows)
            self.in_full = (self.in_full[0] + posterior, self.in_full[1] + certain)

    def found(self) -> _Found:
        """Return what is found, once all groups are measured."""
        if self.observations >= LARGEST:
            raise _too_many(self.observations, self._where, LARGEST)
        common = self.collection.common
        if self._is_full:
            posterior, certain = self.in_full
        elif common is not None and self._in_integers:
            posterior, certain = _over(common, self.won) + self.in_full[0], _over(common, self.sure)
        else:
            posterior, certain = map(_rounded, (self.won, self.sure))
        return _Found(
            posterior=posterior,
            certain=certain,
            exact=self._is_full or (self._in_integers and self.unsettled <= _MOST_UNSETTLED),
            exposed=self.exposed,
            observations=self.observations,
        )

    def _fits(self, heaviest: int) -> bool:
        """Tell whether 64-bit integers hold everything, if no group weighs more than so much."""
        largest = self.collection.largest
        return self.collection.common is not None and 0 < largest < LARGEST // heaviest

    @property
    def _in_integers(self) -> bool:
        return self._fits(self.heaviest)

    @property
    def _is_full(self) -> bool:
        """Whether 64 bits do not hold everything, but there is so little that Python's integers do."""
        small = self.collection.common is not None and self.pairs <= _SMALL
        return small and not self._in_integers

    @property
    def _where(self) -> str:
        return quoted(self.collection.datasets)


def _add(
    sums: Sequence[dict[int, int]], amounts: Sequence[NDArray[Any]], bottoms: NDArray[Any]
) -> None:
    """Add fractions exactly: numerators per denominator, and those in doubles per power of two."""
    order = None
    for so_far, tops in zip(sums, amounts, strict=True):
        if tops.dtype == np.float64:
            mantissas, bottoms = np.frexp(tops)
            tops, order = np.ldexp(mantissas, _MANTISSA).astype(np.int64), None
        order = np.argsort(bottoms, kind="stable") if order is None else order
        ordered = bottoms[order]
        begins = np.flatnonzero(np.diff(ordered, prepend=ordered[:1] - 1))
        high = np.add.reduceat(tops[order] >> 31, begins).astype(object)
        low = np.add.reduceat(tops[order] & (1 << 31) - 1, begins).astype(object)
        for bottom, top in zip(ordered[begins].tolist(), high * (1 << 31) + low, strict=True):
            so_far[bottom] += top


def _leaves(
    groups: LinkedGroups,
    rows: LinkedRows,
    where: str,
    most: int,
    nodes: Nodes | None = None,
    level: int = 0,
) -> Iterator[Nodes]:
    """Give all nodes that wait for the last auxiliary dataset only, some at a time, with so many cells at most."""
    nodes = first_nodes(groups, rows) if nodes is None else nodes
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
        children = split(nodes.between(begin, end), level, groups, rows)
        yield from _leaves(groups, rows, where, most, children, level + 1)
        begin = end


def _budget(
    focal: EncodedTable,
    auxiliaries: Sequence[EncodedTable],
    keys_of_each: Sequence[Sequence[LinkKey]],
    memory: int | None,
) -> _Budget:
    """Return whether the records are linked at once or in slices, for which keys that persist for certain are needed.

    Raises:
        BudgetError: Neither can be done within the memory.
    """
    if memory is None:
        return _Budget(None)
    needed = sum(
        (focal.records + auxiliary.records)
        * _record_bytes(sum(key.probability < 1 for key in keys))
        for auxiliary, keys in zip(auxiliaries, keys_of_each, strict=True)
    )
    if needed <= memory - resident_bytes() - LOOP_BYTES:
        return _Budget(memory)
    if all(any(key.probability == 1 for key in keys) for keys in keys_of_each):
        needed = min(needed, LEAST_ROOM + ROW_BYTES * focal.records * len(auxiliaries))
    names = [focal.name, *(table.name for table in auxiliaries)]
    budget = _Budget(memory, at_once=False)
    budget.check(needed + LOOP_BYTES, names)
    return budget


def _record_bytes(changing_keys: int) -> int:
    """Return what a record takes to be linked by some keys that may change, and others that do not."""
    return RECORD_BYTES + GROUP_BY_BYTES * ((1 << min(changing_keys, MOST_CHANGING_KEYS)) - 1)


def _measured_bytes(people: _People) -> int:
    """Return what a focal record takes while guesses at each of the secrets are compared."""
    return MEASURED_BYTES + GROUP_BYTES * (len(people.secrets) - 1)


class _CrowdedError(BudgetError):
    """A slice leads to more pairs than fit; smaller slices may not."""


@dataclass(frozen=True)
class _Budget:
    """What memory there is."""

    memory: int | None
    """How many bytes the process may take; None: as many as it needs."""
    at_once: bool = True
    """Whether all records are linked at once."""

    @property
    def most_records(self) -> int | None:
        """How many records may be laid out by their class at a time; None: all."""
        room = None if self.at_once else self._room() // MEASURED_BYTES
        return room and max(LEAST_RECORDS, room)

    @property
    def most_held(self) -> int:
        """How many pairs of a group and an observation may be held at once."""
        if self.memory is None:
            return MOST_HELD
        return min(MOST_HELD, max(0, self.memory - resident_bytes()) // CELL_BYTES)

    def slices(self, records: int, of_record: int) -> int:
        """Return in how many slices records are worked on: one takes half of the memory, its results the other."""
        if self.at_once:
            return 1
        return min(MOST_SLICES, max(1, -(-2 * records * of_record // max(self._room(), 1))))

    def check(self, needed: int, names: Sequence[str]) -> None:
        """Make sure that what is needed is there, where records are linked in slices.

        Raises:
            BudgetError: It is not.
        """
        if self.memory is None or needed <= (room := self._room()):
            return
        raise BudgetError(
            "linking {where} takes about {needed} MiB, and the process may take {memory} MiB; give more memory, or "
            "link fewer records, or by more keys that persist for certain and fewer that may change",
            where=quoted(names),
            needed=(needed + self.memory - room) >> 20,
            memory=self.memory >> 20,
        )

    def _room(self) -> int:
        give_back_memory()
        return max(0, (self.memory or 0) - resident_bytes())


def _too_many(pairs: int, where: str, most: int) -> BudgetError:
    return BudgetError(
        "linking {where} means to weigh {pairs} pairs of records and observations or more, beyond the limit of "
        "{most}; add a key that persists for certain, or leave out a quasi-identifier or a dataset",
        where=where,
        pairs=pairs,
        most=most,
    )


def _rounded(mantissas: Mapping[int, int]) -> Fraction:
    """Add doubles by their power of two, and round once."""
    whole = sum(top * Fraction(2) ** (power - _MANTISSA) for power, top in mantissas.items())
    return Fraction(float(whole))


def _over(common: int, numerators: Mapping[int, int]) -> Fraction:
    """Add fractions with a common multiple of their denominators."""
    whole = sum(top * (common // bottom) for bottom, top in numerators.items())
    return Fraction(whole, common)


def _pairs(groups: LinkedGroups, rows: LinkedRows) -> float:
    """Return how many pairs of a group and an observation of all datasets are possible."""
    return float(np.diff(rows.starts).astype(np.float64)[groups.links].prod(axis=0).sum())


def _in_full(
    groups: LinkedGroups, collection: _Collection, rows: LinkedRows
) -> tuple[Fraction, Fraction]:
    """Return the weights won, and won with certainty, pair by pair in Python's integers."""
    multiples = [link.common or 1 for link in collection.links]
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
