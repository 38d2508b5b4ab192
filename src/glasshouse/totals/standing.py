"""What is known of every record after each phase: where it can be, and the adversary's chance to name its entity."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from glasshouse.errors import printable
from glasshouse.study.totals import Phase, TotalsStudy
from glasshouse.totals.amounts import Integers
from glasshouse.totals.attempts import Attempt, Flags, Floats, Task
from glasshouse.totals.joining import Groups
from glasshouse.totals.publications import (
    UNKNOWN,
    Coded,
    Published,
    Trouble,
    agreed,
    combined,
)
from glasshouse.totals.splitting import DISAGREE, Instances, Open

MOST_OPEN = 32
"""What leaves more than so much open for a record is not handed on: it would cost more than it tells."""
_BETWEEN = "\x1f"


@dataclass(eq=False)
class Found:
    """A phase on its way: its instances and the last attempt at each."""

    phase: Phase
    instances: Instances
    attempts: dict[int, Attempt]
    entities: Integers | None
    """Per bin of the phase, how many entities are registered there; None: there is no register."""

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
        allowed = instances.allowed(part)
        left_out = bool(instances.left_out[part])
        if left_out:
            low = np.concatenate([low, instances.none_low[part][None]])
            high = np.concatenate([high, instances.none_high[part][None]])
            if allowed is not None:
                fits = (groups.packages[packages] <= high[-1]).all(axis=1)
                allowed = np.concatenate([allowed, fits[:, None]], axis=1)
        entities = None if self.entities is None else self.entities[groups.bin[bins]]
        if entities is not None and (entities < 1).any():
            entities = None
        return Task(
            part=part,
            packages=groups.packages[packages],
            low=low,
            high=high,
            halfwidth=groups.rounding.halfwidth,
            left_out=left_out,
            allowed=allowed,
            entities=entities,
        )


def entities_of(
    study: TotalsStudy, groups: Groups, publications: Mapping[str, Published]
) -> Integers | None:
    """Return how many entities are registered in each bin of a phase; None: there is no register."""
    register = study.entities
    if register is None:
        return None
    published = publications[register.publication]
    columns, named = [], []
    for own, other in register.keys.items():
        if own in groups.bin_columns:
            named.append(_coded(groups.bin_columns[own]))
            columns.append(agreed(named[-1], published.column(other)))
    if not columns:
        return np.zeros(len(groups.bin_names), np.int64)
    both = [
        np.concatenate([first.codes, second]) for first, second in zip(named, columns, strict=True)
    ]
    codes, count = combined(both)
    bins, rows = codes[: len(groups.bin_names)], codes[len(groups.bin_names) :]
    kept = np.flatnonzero(rows != UNKNOWN)
    if register.entity is not None:
        entity = published.column(register.entity).codes
        pairs = np.stack([rows[kept], entity[kept]], axis=1)
        kept = kept[np.unique(pairs, axis=0, return_index=True)[1]]
    return np.asarray(np.bincount(rows[kept], minlength=count)[bins])


def register_size(study: TotalsStudy, publications: Mapping[str, Published]) -> int | None:
    """Return the number of entities in the register."""
    if study.entities is None:
        return None
    published = publications[study.entities.publication]
    if study.entities.entity is None:
        return published.rows
    return len(np.unique(published.column(study.entities.entity).codes))


def without_entities(found: Found) -> list[Trouble]:
    """Say how many groups have bins in which no entity is registered."""
    groups = found.instances.groups
    if found.entities is None:
        return []
    bare = found.entities[groups.bin] < 1
    concerned = np.unique(groups.bin_group[bare])
    if not len(concerned):
        return []
    example = (
        f"{groups.labels[concerned[0]]}: {groups.bin_names[groups.bin[np.flatnonzero(bare)[0]]]}"
    )
    kind = "groups with a bin without entities in the register"
    return [Trouble(found.phase.name, kind, len(concerned), printable(example))]


def opened_by(found: Found, on: Sequence[str], later: Groups, rows: int) -> Open:
    """Return what a phase left open for each record, in terms of the bins of a later one.

    Args:
        found: The earlier phase.
        on: The columns in which bins of both must agree.
        later: The groups of the later phase.
        rows: The number of records.
    """
    groups = found.instances.groups
    earlier = _coded(_joined_texts(groups, on))
    of_later = agreed(earlier, _coded(_joined_texts(later, on)))
    records, codes = [], []
    instances = found.instances
    trivial = _within(instances.package_start, found.trivial)
    places = instances.package[trivial]
    owner = np.repeat(found.trivial, np.diff(instances.package_start)[found.trivial])
    records.append(groups.record[places])
    codes.append(earlier.codes[groups.bin[instances.bin[instances.bin_start[owner]]]])
    for part, feasible in _open_parts(found):
        own = earlier.codes[groups.bin[instances.bins_of(part)]]
        row, code = _open_pairs(feasible, own)
        records.append(groups.record[instances.packages_of(part)][row])
        codes.append(code)
    record, code = np.concatenate(records), np.concatenate(codes)
    order = np.lexsort([code, record])
    start = np.searchsorted(record[order], np.arange(rows + 1))
    return Open(start=start, code=code[order], of_bin=of_later)


def linked_by(found: Found, rows: int) -> Flags:
    """Tell per record whether a phase has found its bin for certain."""
    linked = np.zeros(rows, bool)
    instances, groups = found.instances, found.instances.groups
    linked[groups.record[instances.package[_within(instances.package_start, found.trivial)]]] = True
    for part, attempt in found.attempts.items():
        if attempt.feasible is None or attempt.status == "limit":
            continue
        one = attempt.feasible.sum(axis=1) == 1
        if instances.left_out[part]:
            one &= ~attempt.feasible[:, -1]
        linked[groups.record[instances.packages_of(part)][one]] = True
    return linked


@dataclass(eq=False)
class Standing:
    """Per record, what the adversary can do after some phases."""

    uniform: Floats
    """Her chance by the uniform rule; see `glasshouse.totals.exposure`."""
    bayes: Floats
    """Her chance by the posterior, where it is known; else by the uniform rule."""
    certain: Flags
    """Whether the entity is certain."""
    linked: Flags
    """Whether the bin is certain."""
    proved: Flags
    """Whether the chances rest on exact sets."""

    def copied(self) -> Standing:
        """Return a copy that can be changed."""
        return Standing(**{name: column.copy() for name, column in vars(self).items()})


def prior(rows: int, register: int | None) -> Standing:
    """Return the standing before any totals: everybody in the register is as likely."""
    chance = 0.0 if register is None else 1 / register
    return Standing(
        uniform=np.full(rows, chance),
        bayes=np.full(rows, chance),
        certain=np.full(rows, chance == 1),
        linked=np.zeros(rows, bool),
        proved=np.zeros(rows, bool),
    )


def after_joining(before: Standing, found: Found) -> Standing:
    """Return the standing when the records are joined with totals: the bins of the instance are left.

    An entity is certain only where it is proved that the totals can be met.
    """
    standing = before.copied()
    for part, rows in _tried(found):
        attempt = found.attempts[part]
        if attempt.joined is not None:
            _take(standing, rows, attempt.joined, None, proved=False)
            if attempt.status in ("unique", "ambiguous"):
                standing.certain[rows] |= attempt.joined == 1
    rows, chance = _of_trivial(found)
    _take(standing, rows, chance, None, proved=False)
    standing.certain[rows] |= chance == 1
    return standing


def after_solving(before: Standing, found: Found, linked: Flags) -> Standing:
    """Return the standing when the instances are solved; where no allocation exists, it is as before."""
    standing = before.copied()
    for part, rows in _tried(found):
        attempt = found.attempts[part]
        if attempt.feasible is not None and attempt.uniform is not None:
            proved = attempt.status != "limit"
            _take(standing, rows, attempt.uniform, attempt.bayes, proved=proved)
    rows, chance = _of_trivial(found)
    _take(standing, rows, chance, chance, proved=True)
    standing.linked |= linked
    standing.certain |= standing.linked & standing.proved & (standing.uniform == 1)
    return standing


def _take(
    standing: Standing, rows: Integers, uniform: Floats, bayes: Floats | None, *, proved: bool
) -> None:
    """Take over chances: an exact set replaces what was known; of supersets, which all hold, the smallest counts."""
    if not proved:
        uniform = np.maximum(standing.uniform[rows], uniform)
    standing.uniform[rows] = uniform
    standing.bayes[rows] = np.maximum(standing.bayes[rows], uniform) if bayes is None else bayes
    standing.proved[rows] |= proved


def _tried(found: Found) -> list[tuple[int, Integers]]:
    groups = found.instances.groups
    return [(part, groups.record[found.instances.packages_of(part)]) for part in found.attempts]


def _of_trivial(found: Found) -> tuple[Integers, Floats]:
    """Return the records of the parts with one bin, and the chance to name an entity there."""
    instances, groups = found.instances, found.instances.groups
    if found.entities is None:
        return np.zeros(0, np.int64), np.zeros(0)
    sizes = found.entities[groups.bin[instances.bin[instances.bin_start[found.trivial]]]]
    with_entities = found.trivial[sizes > 0]
    rows = groups.record[instances.package[_within(instances.package_start, with_entities)]]
    number = np.diff(instances.package_start)[with_entities]
    return rows, np.repeat(1 / sizes[sizes > 0], number)


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


def _open_pairs(feasible: Flags, own: Integers) -> tuple[Integers, Integers]:
    """Return the pairs of a package and a text that are open; none for a package that may have been left out."""
    known = np.ones(len(feasible), bool)
    if feasible.shape[1] > len(own):
        known = ~feasible[:, -1]
    texts, place = np.unique(own, return_inverse=True)
    order = np.argsort(place.reshape(-1), kind="stable")
    first = np.searchsorted(place.reshape(-1)[order], np.arange(len(texts)))
    inside = feasible[:, : len(own)][:, order]
    table = np.logical_or.reduceat(inside, first, axis=1)
    known &= table.sum(axis=1) <= MOST_OPEN
    row, column = np.nonzero(table & known[:, None])
    return row, texts[column]


def _within(start: Integers, parts: Integers) -> Integers:
    """Return the positions of some parts, one behind the other."""
    counts = np.diff(start)[parts]
    before = np.cumsum(counts) - counts
    return np.asarray(np.arange(int(counts.sum())) + np.repeat(start[parts] - before, counts))


def _joined_texts(groups: Groups, on: Sequence[str]) -> list[str]:
    columns = [groups.bin_columns[each] for each in on]
    return [_BETWEEN.join(each) for each in zip(*columns, strict=True)]


def _coded(texts: Sequence[str]) -> Coded:
    encoded = pa.array(texts, pa.large_string()).dictionary_encode()
    codes: NDArray[np.int64] = encoded.indices.to_numpy(zero_copy_only=False).astype(np.int64)
    return Coded(codes, encoded.dictionary)
