"""A phase on its way: its instances, who is registered in its bins, and what it leaves open for later ones."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from glasshouse.arrays import Integers
from glasshouse.errors import DataError, printable
from glasshouse.language import marked, text
from glasshouse.study.totals import Phase, TotalsStudy
from glasshouse.totals.attempts import Attempt, Flags, Task
from glasshouse.totals.joining import Groups
from glasshouse.totals.naming import Registered, registered
from glasshouse.totals.publications import (
    UNKNOWN,
    Coded,
    Published,
    Trouble,
    agreed,
    combined,
)
from glasshouse.totals.splitting import ADDED, DISAGREE, EXCESS, Instances, Open, ranges

MOST_OPEN = 32
"""What leaves more than so much open for a record is not handed on: it would cost more than it tells."""
_BETWEEN = "\x1f"


@dataclass(eq=False)
class Found:
    """A phase on its way: its instances and the last attempt at each."""

    phase: Phase
    instances: Instances
    attempts: dict[int, Attempt]
    register: Registered | None
    """Who is registered in the bins of the phase; None: there is no register."""

    @property
    def trivial(self) -> Integers:
        """The parts with one bin: nothing is to be tried."""
        instances = self.instances
        wanted = instances.wanted
        return wanted[instances.single[wanted]]

    @property
    def hard(self) -> Integers:
        """The parts that are to be tried."""
        instances = self.instances
        wanted = instances.wanted
        return wanted[~instances.single[wanted]]

    def task(self, part: int) -> Task:
        """Return a part as a worker gets it."""
        instances, groups = self.instances, self.instances.groups
        packages, bins = instances.packages_of(part), instances.bins_of(part)
        low, high = groups.low[bins], groups.high[bins]
        left_out = bool(instances.left_out[part])
        if left_out:
            low = np.concatenate([low, instances.none_low[part][None]])
            high = np.concatenate([high, instances.none_high[part][None]])
        # A bin without entities counts as if somebody unknown were there.
        entities = (
            None if self.register is None else np.maximum(self.register.counts[groups.bin[bins]], 1)
        )
        return Task(
            part=part,
            packages=groups.packages[packages],
            low=low,
            high=high,
            halfwidth=groups.rounding.halfwidth,
            left_out=left_out,
            allowed=instances.allowed(part),
            entities=entities,
        )


def registered_in(
    study: TotalsStudy, groups: Groups, publications: Mapping[str, Published]
) -> Registered | None:
    """Return who is registered in each bin of a phase; None: there is no register."""
    register = study.entities
    if register is None:
        return None
    published = publications[register.publication]
    columns, named = [], []
    for own, other in register.keys.items():
        if own in groups.bin_columns:
            named.append(_coded(groups.bin_columns[own]))
            columns.append(agreed(named[-1], published.column(other)))
    entity = entity_codes(study, published)
    size = len(np.unique(entity[entity != UNKNOWN]))
    bins = len(groups.bin_names)
    if not columns:
        nobody = np.zeros(0, np.int64)
        return registered(nobody, nobody, bins=bins, size=size)
    both = [
        np.concatenate([first.codes, second]) for first, second in zip(named, columns, strict=True)
    ]
    codes, count = combined(both)
    place_of = np.full(count, UNKNOWN, np.int64)
    order = np.lexsort([np.arange(bins), codes[:bins]])
    place_of[codes[:bins][order[::-1]]] = order[::-1]
    first = place_of[codes[:bins]]
    rows = np.where(codes[bins:] == UNKNOWN, UNKNOWN, place_of[codes[bins:]])
    kept = np.flatnonzero((rows != UNKNOWN) & (entity != UNKNOWN))
    return _for_all_bins(rows[kept], entity[kept], first, size)


def _for_all_bins(place: Integers, entity: Integers, first: Integers, size: int) -> Registered:
    """Return the register where several bins may have the same keys: all of them have the entities of the first."""
    order = np.argsort(place, kind="stable")
    counts = np.bincount(place, minlength=len(first))
    start = np.cumsum(counts) - counts
    inside = ranges(start[first], counts[first])
    bin_ = np.repeat(np.arange(len(first)), counts[first])
    return registered(bin_, entity[order][inside], bins=len(first), size=size)


def entity_codes(study: TotalsStudy, published: Published) -> Integers:
    """Return the entity of every row of the register; where no column names them, each row is its own."""
    if study.entities is None or study.entities.entity is None:
        return np.arange(published.rows)
    return published.column(study.entities.entity).codes


def register_size(study: TotalsStudy, publications: Mapping[str, Published]) -> int | None:
    """Return the number of different entities in the register.

    Raises:
        DataError: There is none.
    """
    if study.entities is None:
        return None
    published = publications[study.entities.publication]
    codes = entity_codes(study, published)
    size = len(np.unique(codes[codes != UNKNOWN]))
    if not size:
        raise DataError(
            text(
                'the register "{register}" has no entities; name another publication in [entities]',
                register=printable(published.name),
            )
        )
    return size


def with_excess(found: Found) -> list[Trouble]:
    """Say how many groups have totals above what their records can give."""
    instances = found.instances
    parts = np.flatnonzero(np.isin(instances.reason, (ADDED, EXCESS)))
    concerned = np.unique(instances.group[parts])
    if not len(concerned):
        return []
    example = instances.groups.labels[concerned[0]]
    kind = marked("groups with excess published totals")
    return [Trouble(found.phase.name, kind, len(concerned), example)]


def without_entities(found: Found) -> list[Trouble]:
    """Say how many groups have bins in which no entity is registered."""
    groups = found.instances.groups
    if found.register is None or not found.phase.exposed:
        return []
    bare = found.register.counts[groups.bin] < 1
    concerned = np.unique(groups.bin_group[bare])
    if not len(concerned):
        return []
    place = groups.bin[np.flatnonzero(bare)[0]]
    example = f"{groups.labels[concerned[0]]}: {printable(groups.bin_names[place])}"
    kind = marked("groups with a bin without entities in the register")
    return [Trouble(found.phase.name, kind, len(concerned), example)]


def opened_by(found: Found, on: Sequence[str], phase: Phase, later: Groups, rows: int) -> Open:
    """Return what a phase left open for each record, in terms of the bins of a later one.

    Whether a record was left out is the same question for both if they are about the same totals: what the earlier
    one found of it then holds in the later one. Of other totals it says nothing.

    Args:
        found: The earlier phase.
        on: The columns in which bins of both must agree.
        phase: The later phase.
        later: Its groups.
        rows: The number of records.
    """
    groups = found.instances.groups
    same = found.phase.bins == phase.bins
    earlier = _coded(_joined_texts(groups, on))
    of_later = agreed(earlier, _coded(_joined_texts(later, on)))
    records, codes = [], []
    instances = found.instances
    trivial = _within(instances.package_start, found.trivial)
    places = instances.package[trivial]
    owner = np.repeat(found.trivial, np.diff(instances.package_start)[found.trivial])
    records.append(groups.record[places])
    codes.append(earlier.codes[groups.bin[instances.bin[instances.bin_start[owner]]]])
    inside, outside = np.zeros(rows, bool), np.zeros(rows, bool)
    inside[records[-1]] = same
    for part, feasible in _open_parts(found):
        met = instances.reason[part] == 0
        if not met and not same:
            continue  # whether these totals hold the record at all is not known
        own = earlier.codes[groups.bin[instances.bins_of(part)]]
        record = groups.record[instances.packages_of(part)]
        may_be = np.asarray(feasible[:, len(own) :].any(axis=1))
        row, code = _open_pairs(feasible[:, : len(own)], own, ~may_be | same)
        records.append(record[row])
        codes.append(code)
        if same and met:
            inside[record[~may_be]] = True
            outside[record[may_be & ~feasible[:, : len(own)].any(axis=1)]] = True
    record, code = np.concatenate(records), np.concatenate(codes)
    order = np.lexsort([code, record])
    start = np.searchsorted(record[order], np.arange(rows + 1))
    return Open(
        start=start,
        code=code[order],
        of_bin=of_later,
        inside=inside,
        outside=outside,
        conditional=same,
    )


def records_of(found: Found, parts: Integers) -> Integers:
    """Return the rows of the records of some parts, one behind the other."""
    instances = found.instances
    return instances.groups.record[instances.package[_within(instances.package_start, parts)]]


def linked_by(found: Found, rows: int) -> Flags:
    """Tell per record whether a phase has found its bin for certain."""
    linked = np.zeros(rows, bool)
    instances, groups = found.instances, found.instances.groups
    linked[records_of(found, found.trivial)] = True
    for part, attempt in found.attempts.items():
        if attempt.feasible is None or attempt.status == "limit":
            continue
        one = attempt.feasible.sum(axis=1) == 1
        if instances.left_out[part]:
            one &= ~attempt.feasible[:, -1]
        linked[groups.record[instances.packages_of(part)][one]] = True
    return linked


def _open_parts(found: Found) -> Iterator[tuple[int, Flags]]:
    """Yield the parts of which something is known, with the bins that are open for their records.

    Of a part that was not tried, that is what earlier phases have left open.
    """
    instances = found.instances
    for part, attempt in found.attempts.items():
        if attempt.feasible is not None:
            yield part, attempt.feasible
    if not instances.opened:
        return
    rest = (np.diff(instances.package_start) > 0) & (instances.reason != DISAGREE)
    rest[found.trivial] = False
    rest[list(found.attempts)] = False
    for part in np.flatnonzero(rest).tolist():
        allowed = instances.allowed(part)
        if allowed is not None:
            yield part, allowed


def _open_pairs(feasible: Flags, own: Integers, known: Flags) -> tuple[Integers, Integers]:
    """Return the pairs of a package, of those of which something is known, and a text that are open."""
    texts, place = np.unique(own, return_inverse=True)
    order = np.argsort(place.reshape(-1), kind="stable")
    first = np.searchsorted(place.reshape(-1)[order], np.arange(len(texts)))
    table = np.logical_or.reduceat(feasible[:, order], first, axis=1)
    known = known & (table.sum(axis=1) <= MOST_OPEN)
    row, column = np.nonzero(table & known[:, None])
    return row, texts[column]


def _within(start: Integers, parts: Integers) -> Integers:
    """Return the positions of some parts, one behind the other."""
    return ranges(start[parts], np.diff(start)[parts])


def _joined_texts(groups: Groups, on: Sequence[str]) -> list[str]:
    columns = [groups.bin_columns[each] for each in on]
    return [_BETWEEN.join(each) for each in zip(*columns, strict=True)]


def _coded(texts: Sequence[str]) -> Coded:
    encoded = pa.array(texts, pa.large_string()).dictionary_encode()
    codes: NDArray[np.int64] = encoded.indices.to_numpy(zero_copy_only=False).astype(np.int64)
    return Coded(codes, encoded.dictionary)
