"""The instances of a phase: groups, divided where earlier phases found that parts have nothing to do with each other.

If every record of a group can only be in certain states, the group falls into the connected components of records and
states: each is an instance of its own, with the cities of its states as bins. Where every record is locked into one
state these are the instances of Favato (2021, phase 3); but there a state's total was also compared with a part of its
records, when others were not locked. A component always holds all records that its totals can hold.

A *none* bin per component takes the records that the totals left out. It can hold at most what the others leave:

    Σ packages − Σ low

Where no package is so small in every measure, nothing was left out, and there is no such bin.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components

from glasshouse.arrays import Integers
from glasshouse.study.totals import Phase, TotalsStudy
from glasshouse.totals.excess import excess_of
from glasshouse.totals.joining import Flags, Groups

REASONS = (
    "",
    "suppressed",
    "records added",
    "records left out",
    "phases disagree",
    "measures",
    "rounding",
    "records added or rounding",
)
"""Why a group is set apart: records of it are not published; the totals hold more than the records; they hold less; two
phases contradict each other; a measure is missing, negative or too long; the sums are met, but no allocation is; the
totals hold more, but so little that another way of rounding would explain it as well."""
SUPPRESSED, ADDED, LEFT_OUT, DISAGREE, MEASURES, ROUNDING, EXCESS = range(1, len(REASONS))


@dataclass(frozen=True, eq=False)
class Open:
    """What an earlier phase left open, record by record."""

    start: Integers
    """Per row of the records, where its entries begin, and the end of the last; a row without entries is not known."""
    code: Integers
    """The entries: positions in the texts of some columns that name bins."""
    of_bin: Integers
    """Per bin of the phase, the position of its own texts."""
    inside: Flags
    """Per row of the records, whether the totals of the phase are known to hold it."""
    outside: Flags
    """Per row of the records, whether they are known to have left it out."""
    conditional: bool
    """Whether the entries hold only if the totals hold the record; then both are known from the same totals."""

    @property
    def sure(self) -> Flags:
        """Per row of the records, whether its entries hold whatever the totals hold."""
        return np.asarray(self.inside | (not self.conditional))

    @property
    def linked(self) -> Flags:
        """Per row of the records, whether its bin is known."""
        return np.asarray((self.counts == 1) & self.sure)

    @property
    def counts(self) -> Integers:
        """Per row of the records, how many are open; 0: nothing is known."""
        return np.diff(self.start)

    def mask(self, rows: Integers, bins: Integers) -> Flags:
        """Tell for some records and some bins which of them go together."""
        counts = self.counts[rows]
        entries = ranges(self.start[rows], counts)
        owner = np.repeat(np.arange(len(rows)), counts)
        own, place = np.unique(self.of_bin[bins], return_inverse=True)
        found = np.minimum(np.searchsorted(own, self.code[entries]), len(own) - 1)
        table = np.zeros((len(rows), len(own)), bool)
        inside = own[found] == self.code[entries]
        table[owner[inside], found[inside]] = True
        table[(counts == 0) & ~self.outside[rows]] = True
        return np.asarray(table[:, place.reshape(-1)])

    def closed(self, rows: Integers, codes: Integers) -> Flags:
        """Tell for some records, and a text for each, whether it is ruled out."""
        counts = self.counts[rows]
        entries = ranges(self.start[rows], counts)
        owner = np.repeat(np.arange(len(rows)), counts)
        met = np.bincount(owner[self.code[entries] == codes[owner]], minlength=len(rows))
        return np.asarray(((counts > 0) | self.outside[rows]) & (met == 0))


@dataclass(frozen=True, eq=False)
class Instances:
    """The parts of the groups of a phase; each is solved, set apart, or left as it is."""

    groups: Groups
    """What they are parts of."""
    group: Integers
    """Per part, its group."""
    package: Integers
    """Positions in the records of the groups, part by part."""
    package_start: Integers
    """Where those of each part begin, and the end of the last."""
    bin: Integers
    """Positions in the bins of the groups, part by part."""
    bin_start: Integers
    """Where those of each part begin, and the end of the last."""
    reason: NDArray[np.uint8]
    """Per part, why it is set apart; see `REASONS`."""
    unmet: NDArray[np.uint8]
    """Per part, what the reason is if no allocation meets its totals."""
    settled: Flags
    """Per part, whether an earlier phase settled it, or nothing has changed since one tried it."""
    left_out: Flags
    """Per part, whether it has a bin of records that the totals left out."""
    none_low: Integers
    """Per part and measure, the least total of that bin."""
    none_high: Integers
    """Per part and measure, the greatest total of that bin."""
    single: Flags
    """Per part, whether it has one bin only: then all its records are there."""
    value: Integers
    """Per part, the value of its records, in scaled units."""
    opened: tuple[Open, ...]
    """What earlier phases left open."""

    @property
    def count(self) -> int:
        """The number of parts."""
        return len(self.group)

    @property
    def sizes(self) -> tuple[Integers, Integers]:
        """Per part, the number of records, and of bins with that of records left out."""
        return np.diff(self.package_start), np.diff(self.bin_start) + self.left_out

    @property
    def complexity(self) -> NDArray[np.float64]:
        """Per part, log₁₀ mⁿ (Favato 2021, section 3.3.2)."""
        packages, bins = self.sizes
        return np.asarray(packages * np.log10(np.maximum(bins, 1)))

    @property
    def wanted(self) -> Integers:
        """The parts that are to be solved."""
        return np.flatnonzero((self.reason == 0) & ~self.settled)

    def packages_of(self, part: int) -> Integers:
        """Return the positions of a part's records in the records of the groups."""
        return self.package[self.package_start[part] : self.package_start[part + 1]]

    def bins_of(self, part: int) -> Integers:
        """Return the positions of a part's bins in the bins of the groups."""
        return self.bin[self.bin_start[part] : self.bin_start[part + 1]]

    def allowed(self, part: int) -> Flags | None:
        """Return which bins earlier phases left open for each record of a part; None: all of them.

        Where the part has a bin of records left out, it is the last column.
        """
        if not self.opened:
            return None
        places = self.packages_of(part)
        rows = self.groups.record[places]
        bins = self.groups.bin[self.bins_of(part)]
        mask = self.opened[0].mask(rows, bins)
        for more in self.opened[1:]:
            mask &= more.mask(rows, bins)
        if self.left_out[part]:
            inside = _inside(self.opened, rows)
            if mask.all() and not inside.any():
                return None
            fits = (self.groups.packages[places] <= self.none_high[part]).all(axis=1)
            return np.concatenate([mask, (fits & ~inside)[:, None]], axis=1)
        return None if mask.all() else mask


def instances_of(
    groups: Groups,
    *,
    values: Integers,
    none_bin: bool,
    opened: Sequence[Open] = (),
    linked: Flags | None = None,
    news: Sequence[Open] | None = None,
) -> Instances:
    """Divide the groups of a phase into instances.

    Args:
        groups: The groups.
        values: Per row of the records, what it is worth, in scaled units.
        none_bin: Whether the totals may have left out records.
        opened: What earlier phases left open; the groups are divided by the first.
        linked: Per row of the records, whether an earlier phase has found its bin.
        news: Where an earlier phase had the same groups, which of `opened` it did not know: groups of which these rule
            out nothing are left as they are. None: no phase had them.
    """
    part_of_bin, part_of_record, nowhere = _parts(groups, opened[0] if opened else None)
    parts = int(part_of_bin.max(initial=-1)) + 1
    group = np.zeros(parts, np.int64)
    group[part_of_bin] = groups.bin_group
    inside = np.flatnonzero(part_of_record >= 0)
    package = inside[np.argsort(part_of_record[inside], kind="stable")]
    packages = np.bincount(part_of_record[inside], minlength=parts)
    bin_ = np.argsort(part_of_bin, kind="stable")
    bins = np.bincount(part_of_bin, minlength=parts)
    low, high = (_sums(table, part_of_bin, parts) for table in (groups.low, groups.high))
    whole = _sums(groups.packages[inside], part_of_record[inside], parts)
    slack = groups.rounding.halfwidth * (packages + bins)[:, None]
    none_low, none_high = whole - high - slack, whole - low + slack
    owner = part_of_record[inside]
    left_out, disagree = np.zeros(parts, bool), np.zeros(parts, bool)
    fits = np.zeros(len(inside), bool)
    if none_bin:
        small = (groups.packages[inside] <= none_high[owner]).all(axis=1)
        fits = np.asarray(small & ~_inside(opened, groups.record[inside]))
        left_out[owner[fits]] = True
    disagree[owner[nowhere[inside] & ~fits]] = True
    less = (none_low > 0).any(axis=1)
    package_start = np.append(0, np.cumsum(packages))
    excess = excess_of(groups, part_of_bin, package, package_start)
    reason = np.zeros(parts, np.uint8)
    empty = (packages == 0) & (low - slack <= 0).all(axis=1)
    for code, holds in (
        (LEFT_OUT, less & ~left_out),
        (EXCESS, excess.found),
        (ADDED, excess.added),
        (DISAGREE, disagree),
        (SUPPRESSED, groups.suppressed[group]),
        (MEASURES, groups.fault[group] > 0),
    ):
        reason[holds] = code
    reason[empty] = 0
    single = (bins == 1) & ~left_out & (packages > 0)
    only = groups.rounding.halfwidth * np.maximum(packages, 1)[:, None]
    unmet = ((whole < low - only) | (whole > high + only)).any(axis=1)
    reason[single & unmet & (reason == 0)] = ROUNDING
    for more in opened:
        own = np.zeros(parts, np.int64)
        own[part_of_bin] = more.of_bin[groups.bin]
        closed = more.closed(groups.record[inside], own[owner])
        reason[owner[closed & single[owner] & (reason[owner] == 0)]] = DISAGREE
    settled = empty.copy()
    if linked is not None:
        known = np.ones(parts, bool)
        known[part_of_record[inside][~linked[groups.record[inside]]]] = False
        settled |= known
    if news is not None:
        changed = np.zeros(parts, bool)
        for each in news:
            changed[owner[_restricted(groups, each, none_bin=none_bin)[inside]]] = True
        settled |= ~changed & (bins == np.bincount(groups.bin_group, minlength=groups.count)[group])
    return Instances(
        groups=groups,
        group=group,
        package=package,
        package_start=package_start,
        bin=bin_,
        bin_start=np.append(0, np.cumsum(bins)),
        reason=reason,
        unmet=np.where(less, LEFT_OUT, ROUNDING).astype(np.uint8),
        settled=settled,
        left_out=left_out,
        single=single,
        none_low=none_low,
        none_high=none_high,
        value=_sums(values[groups.record[inside]][:, None], part_of_record[inside], parts)[:, 0],
        opened=tuple(opened),
    )


def has_same_groups(study: TotalsStudy, phase: Phase, other: Phase) -> bool:
    """Tell whether two phases have the same groups, with the same bins and measures."""
    return (
        (phase.packages, phase.bins, phase.bin) == (other.packages, other.bins, other.bin)
        and phase.keys == other.keys
        and set(study.measures_of(phase)) == set(study.measures_of(other))
    )


@dataclass(frozen=True, eq=False)
class _Cells:
    """What an earlier phase left open, in terms of the distinct texts in each group."""

    group: Integers
    """Per cell, a text of a group, its group, in ascending order."""
    place: Integers
    """Per bin of the groups, its cell."""
    owner: Integers
    """Per pair of a record and a cell that is open for it, the record, as a position in those of the groups."""
    cell: Integers
    """Per pair, the cell."""
    known: Flags
    """Per record of the groups, whether something is known of it."""
    met: Integers
    """Per record of the groups, how many cells are open for it; where nothing is known, 0."""


def _open_cells(groups: Groups, opened: Open) -> _Cells:
    cell, cell_group, place = _cells(groups, opened)
    rows = groups.record
    counts = opened.counts[rows]
    owner = np.repeat(np.arange(len(rows)), counts)
    code = opened.code[ranges(opened.start[rows], counts)]
    width = int(max(opened.of_bin.max(initial=0), code.max(initial=0))) + 1
    wanted = groups.record_group[owner] * width + code
    keys = cell_group * width + cell
    found = np.minimum(np.searchsorted(keys, wanted), len(keys) - 1)
    inside = keys[found] == wanted
    owner, found = owner[inside], found[inside]
    known = (counts > 0) | opened.outside[rows]
    return _Cells(cell_group, place, owner, found, known, np.bincount(owner, minlength=len(rows)))


def _parts(groups: Groups, opened: Open | None) -> tuple[Integers, Integers, Flags]:
    """Return the part of each bin and record, and the records that can be in no bin."""
    if opened is None:
        return groups.bin_group, groups.record_group, np.zeros(len(groups.record), bool)
    cells = _open_cells(groups, opened)
    number = len(cells.group)
    whole = np.zeros(groups.count, bool)
    whole[groups.record_group[(cells.met == 0) & ~opened.outside[groups.record]]] = True
    label = _connected(number, len(groups.record), cells.owner, cells.cell, cells.group, whole)
    first = np.searchsorted(cells.group, np.arange(groups.count))
    part_of_record = label[np.minimum(first[groups.record_group], number - 1)]
    part_of_record[cells.owner] = label[cells.cell]
    return label[cells.place], part_of_record, cells.known & (cells.met == 0)


def _restricted(groups: Groups, opened: Open, *, none_bin: bool) -> Flags:
    """Tell of the records of the groups for which an earlier phase has ruled something out."""
    cells = _open_cells(groups, opened)
    number = np.bincount(cells.group, minlength=groups.count)
    ruled_out = cells.known & (cells.met < number[groups.record_group])
    held = opened.inside[groups.record] & none_bin
    return np.asarray(ruled_out | opened.outside[groups.record] | held)


def _inside(opened: Sequence[Open], rows: Integers) -> Flags:
    """Tell for some records whether an earlier phase has found that the totals hold them."""
    known = np.zeros(len(rows), bool)
    for each in opened:
        known |= each.inside[rows]
    return known


def _cells(groups: Groups, opened: Open) -> tuple[Integers, Integers, Integers]:
    """Return the distinct texts in each group, in the order of the groups, and the place of each bin among them."""
    code = opened.of_bin[groups.bin]
    width = int(code.max(initial=0)) + 1
    keys, place = np.unique(groups.bin_group * width + code, return_inverse=True)
    return keys % width, keys // width, place.reshape(-1)


def _connected(
    cells: int, records: int, owner: Integers, cell: Integers, cell_group: Integers, whole: Flags
) -> Integers:
    """Return the component of each cell, in the order of their first cells."""
    chained = np.flatnonzero((cell_group[1:] == cell_group[:-1]) & whole[cell_group[1:]])
    one = np.concatenate([owner + cells, chained])
    other = np.concatenate([cell, chained + 1])
    size = cells + records
    links = coo_array((np.ones(len(one), np.int8), (one, other)), shape=(size, size))
    _, label = connected_components(links, directed=False)
    distinct, first, place = np.unique(label[:cells], return_index=True, return_inverse=True)
    rank = np.empty(len(distinct), np.int64)
    rank[np.argsort(first)] = np.arange(len(distinct))
    return np.asarray(rank[place.reshape(-1)])


def _sums(table: Integers, part: Integers, parts: int) -> Integers:
    sums = np.zeros((parts, table.shape[1]), np.int64)
    np.add.at(sums, part, table)
    return sums


def ranges(start: Integers, counts: Integers) -> Integers:
    """Return the numbers of several ranges, one behind the other.

    >>> ranges(np.array([5, 0]), np.array([2, 3])).tolist()
    [5, 6, 0, 1, 2]
    """
    before = np.cumsum(counts) - counts
    return np.asarray(np.arange(int(counts.sum())) + np.repeat(start - before, counts))
