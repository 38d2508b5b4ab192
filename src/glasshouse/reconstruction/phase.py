"""A phase: its instances, the attempts at them, and what it leaves open for later phases.

**Parts.** If every record of a group can only be in certain states, the group falls into the connected components of
records and states: each is an instance of its own, with the cities of its states as bins. Where every record is locked
into one state these are the instances of Favato (2021, phase 3); but there a state's total was also compared with a
part of its records, when others were not locked. A component always holds all records that its totals can hold.

**Records left out.** A *none* bin per component takes the records that the totals left out. It can hold at most what
the others leave, Σ packages − Σ low. Where no package is so small in every measure, nothing was left out, and there is
no such bin.

**Records added.** Records that the totals hold and nobody published were added to them. The totals of a part exceed its
records if all of them together, or one of them alone, are more than what there is:

    Σ_j low_j > Σ packages        or        low_j > Σ packages that are no larger than bin j

If the plan is right about the rounding, records were then added. If it may be wrong, an excess can also come from that:
a sum moves by at most half a unit for every total, or for every record if those were rounded. Only what exceeds this
too is called *records added*; of the rest it cannot be told.

**Attempts.** A part that is to be solved becomes a `Task`, arrays that any process can take, and comes back as an
`Attempt`. `SolvedPhase` has both, and tells later phases what is left open (`opened_by`).
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components

from glasshouse.arrays import Flags, Floats, Integers
from glasshouse.compiled import compiled
from glasshouse.language import marked, printable
from glasshouse.reconstruction.chances import Registered
from glasshouse.reconstruction.groups import TotalsGroups, ranges
from glasshouse.reconstruction.publications import NEGATIVE, Coded, Trouble, agreed
from glasshouse.study.totals import Phase, TotalsStudy

REASONS = (
    "",
    "suppressed",
    "records added",
    "records left out",
    "phases disagree",
    "measures",
    "rounding",
    "records added or rounding",
    "corrections",
)
"""Why a group is set apart: records of it are not published; the totals hold more than the records; they hold less; two
phases contradict each other; a measure is missing, no number or too long; the sums are met, but no allocation is; the
totals hold more, but so little that another way of rounding would explain it as well; a measure is negative, as
corrections are: the solver's bounds hold for what is from 0 on."""
SUPPRESSED, ADDED, LEFT_OUT, DISAGREE, MEASURES, ROUNDING, EXCESS, CORRECTIONS = range(
    1, len(REASONS)
)
MOST_OPEN = 32
"""What leaves more than so much open for a record is not handed on: it would cost more than it tells."""
_BETWEEN = "\x1f"


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
    def linked(self) -> Flags:
        """Per row of the records, whether its bin is known, whatever the totals hold."""
        return np.asarray((self.counts == 1) & (self.inside | (not self.conditional)))

    @property
    def counts(self) -> Integers:
        """Per row of the records, how many are open; 0: nothing is known."""
        return np.diff(self.start)

    def known(self, rows: Integers) -> Flags:
        """Tell for some records whether something is known of them."""
        return np.asarray((self.counts[rows] > 0) | self.outside[rows])

    def entries(self, rows: Integers) -> tuple[Integers, Integers]:
        """Return the entries of some records: the place of each record among them, and the text."""
        counts = self.counts[rows]
        owner = np.repeat(np.arange(len(rows)), counts)
        return owner, self.code[ranges(self.start[rows], counts)]

    def mask(self, rows: Integers, bins: Integers) -> Flags:
        """Tell for some records and some bins which of them go together."""
        owner, code = self.entries(rows)
        texts, place = np.unique(self.of_bin[bins], return_inverse=True)
        column = np.minimum(np.searchsorted(texts, code), len(texts) - 1)
        table = np.zeros((len(rows), len(texts)), bool)
        inside = texts[column] == code
        table[owner[inside], column[inside]] = True
        table[~self.known(rows)] = True
        return np.asarray(table[:, place.reshape(-1)])

    def closed(self, rows: Integers, codes: Integers) -> Flags:
        """Tell for some records, and a text for each, whether it is ruled out."""
        owner, code = self.entries(rows)
        met = np.bincount(owner[code == codes[owner]], minlength=len(rows))
        return np.asarray(self.known(rows) & (met == 0))


@dataclass(frozen=True, eq=False)
class Instances:
    """The parts of the groups of a phase; each is solved, set apart, or left as it is."""

    groups: TotalsGroups
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
    def complexity(self) -> Floats:
        """Per part, log₁₀ mⁿ (Favato 2021, section 3.3.2)."""
        packages, bins = self.sizes
        return np.asarray(packages * np.log10(np.maximum(bins, 1)))

    @property
    def unsettled(self) -> Integers:
        """The parts that are to be solved."""
        return np.flatnonzero((self.reason == 0) & ~self.settled)

    def packages_of(self, part: int) -> Integers:
        """Return the positions of a part's records in the records of the groups."""
        return self.package[self.package_start[part] : self.package_start[part + 1]]

    def records_of(self, part: int) -> Integers:
        """Return the rows of a part's records."""
        return self.groups.record[self.packages_of(part)]

    def bins_of(self, part: int) -> Integers:
        """Return the positions of a part's bins in the bins of the groups."""
        return self.bin[self.bin_start[part] : self.bin_start[part + 1]]

    def places_of(self, part: int) -> Integers:
        """Return a part's bins as those of the phase; that of records left out is none of them."""
        return self.groups.bin[self.bins_of(part)]

    def width_of(self, part: int) -> int:
        """Return how many bins a part has, with that of records left out."""
        return len(self.bins_of(part)) + int(self.left_out[part])

    def all_records(self, parts: Integers) -> Integers:
        """Return the rows of the records of some parts, one behind the other."""
        inside = ranges(self.package_start[parts], np.diff(self.package_start)[parts])
        return self.groups.record[self.package[inside]]

    def only_places(self, parts: Integers) -> Integers:
        """Return the only bin, of those of the phase, of some parts that have one each."""
        return self.groups.bin[self.bin[self.bin_start[parts]]]

    def allowed(self, part: int) -> Flags | None:
        """Return which bins earlier phases left open for each record of a part; None: all of them.

        Where the part has a bin of records left out, it is the last column.
        """
        if not self.opened:
            return None
        rows, bins = self.records_of(part), self.places_of(part)
        mask = self.opened[0].mask(rows, bins)
        for more in self.opened[1:]:
            mask &= more.mask(rows, bins)
        if self.left_out[part]:
            inside = _inside(self.opened, rows)
            if mask.all() and not inside.any():
                return None
            packages = self.groups.packages[self.packages_of(part)]
            fits = (packages <= self.none_high[part]).all(axis=1)
            return np.concatenate([mask, (fits & ~inside)[:, None]], axis=1)
        return None if mask.all() else mask


def instances_of(
    groups: TotalsGroups,
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
    # The parts, with their packages and bins one behind the other.
    part_of_bin, part_of_record, nowhere = _parts(groups, opened[0] if opened else None)
    parts = int(part_of_bin.max(initial=-1)) + 1
    group = np.zeros(parts, np.int64)
    group[part_of_bin] = groups.bin_group
    inside = np.flatnonzero(part_of_record >= 0)
    owner, record = part_of_record[inside], groups.record[inside]
    package = inside[np.argsort(owner, kind="stable")]
    packages = np.bincount(owner, minlength=parts)
    package_start = np.append(0, np.cumsum(packages))
    bin_ = np.argsort(part_of_bin, kind="stable")
    bins = np.bincount(part_of_bin, minlength=parts)
    # What the totals leave of the records: the bin of those that were left out.
    low, high = (_sums(table, part_of_bin, parts) for table in (groups.low, groups.high))
    whole = _sums(groups.packages[inside], owner, parts)
    slack = groups.rounding.halfwidth * (packages + bins)[:, None]
    none_low, none_high = whole - high - slack, whole - low + slack
    left_out, disagree = np.zeros(parts, bool), np.zeros(parts, bool)
    fits = np.zeros(len(inside), bool)
    if none_bin:
        small = (groups.packages[inside] <= none_high[owner]).all(axis=1)
        fits = np.asarray(small & ~_inside(opened, record))
        left_out[owner[fits]] = True
    disagree[owner[nowhere[inside] & ~fits]] = True
    less = (none_low > 0).any(axis=1)
    # Why parts are set apart: of several reasons the last.
    above, added = _excess(groups, part_of_bin, package, package_start)
    reason = np.zeros(parts, np.uint8)
    empty = (packages == 0) & (low - slack <= 0).all(axis=1)
    for code, holds in (
        (LEFT_OUT, less & ~left_out),
        (EXCESS, above),
        (ADDED, added),
        (DISAGREE, disagree),
        (SUPPRESSED, groups.suppressed[group]),
        (MEASURES, groups.fault[group] > 0),
        (CORRECTIONS, groups.fault[group] == NEGATIVE),
    ):
        reason[holds] = code
    reason[empty] = 0
    # With one bin nothing is to be solved: its total is met or not, and earlier phases agree or not.
    single = (bins == 1) & ~left_out & (packages > 0)
    only = groups.rounding.halfwidth * np.maximum(packages, 1)[:, None]
    unmet = ((whole < low - only) | (whole > high + only)).any(axis=1)
    reason[single & unmet & (reason == 0)] = ROUNDING
    for more in opened:
        text_of = np.zeros(parts, np.int64)
        text_of[part_of_bin] = more.of_bin[groups.bin]
        closed = more.closed(record, text_of[owner])
        reason[owner[closed & single[owner] & (reason[owner] == 0)]] = DISAGREE
    # What is settled already: all records are linked, or nothing is known that was not known before.
    settled = empty.copy()
    if linked is not None:
        known = np.ones(parts, bool)
        known[owner[~linked[record]]] = False
        settled |= known
    if news is not None:
        changed = np.zeros(parts, bool)
        for opened_since in news:
            changed[owner[_restricted(groups, opened_since, none_bin=none_bin)[inside]]] = True
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
        value=_sums(values[record][:, None], owner, parts)[:, 0],
        opened=tuple(opened),
    )


@dataclass(frozen=True, eq=False)
class _OpenCells:
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


def _open_cells(groups: TotalsGroups, opened: Open) -> _OpenCells:
    rows = groups.record
    owner, code = opened.entries(rows)
    # A cell is a number of its group and its text, in ascending order of both.
    width = int(max(opened.of_bin.max(initial=0), code.max(initial=0))) + 1
    bin_cells = groups.bin_group * width + opened.of_bin[groups.bin]
    cells, place = np.unique(bin_cells, return_inverse=True)
    open_cell = groups.record_group[owner] * width + code
    cell = np.minimum(np.searchsorted(cells, open_cell), len(cells) - 1)
    inside = cells[cell] == open_cell
    owner, cell = owner[inside], cell[inside]
    met = np.bincount(owner, minlength=len(rows))
    return _OpenCells(cells // width, place.reshape(-1), owner, cell, opened.known(rows), met)


def _parts(groups: TotalsGroups, opened: Open | None) -> tuple[Integers, Integers, Flags]:
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


def _restricted(groups: TotalsGroups, opened: Open, *, none_bin: bool) -> Flags:
    """Tell of the records of the groups for which an earlier phase has ruled something out."""
    cells = _open_cells(groups, opened)
    number = np.bincount(cells.group, minlength=groups.count)
    ruled_out = cells.known & (cells.met < number[groups.record_group])
    held = opened.inside[groups.record] & none_bin
    return np.asarray(ruled_out | opened.outside[groups.record] | held)


def _inside(opened: Sequence[Open], rows: Integers) -> Flags:
    """Tell for some records whether an earlier phase has found that the totals hold them."""
    known = np.zeros(len(rows), bool)
    for earlier in opened:
        known |= earlier.inside[rows]
    return known


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


# -- totals above what the records can give --------------------------------------------------------------------------


def _excess(
    groups: TotalsGroups, part_of_bin: Integers, package: Integers, package_start: Integers
) -> tuple[Flags, Flags]:
    """Tell per part whether its totals are above what its records can give.

    Args:
        groups: The groups.
        part_of_bin: The part of each bin.
        package: Positions in the records of the groups, part by part.
        package_start: Where those of each part begin, and the end of the last.

    Returns:
        Whether they are as the plan says that totals were rounded; and however they were rounded.
    """
    parts = len(package_start) - 1
    packages = np.diff(package_start)
    bins = np.bincount(part_of_bin, minlength=parts)
    weights = groups.packages[package]
    rounding = groups.rounding
    # In half units, so that half a step is a whole number; what is open has no middle but what was published.
    twice_middle = 2 * groups.total
    both = packages + bins if rounding.model == "record" else np.maximum(packages, bins)
    bound = both[:, None] * rounding.step
    grown = np.maximum(packages, 1)[:, None] * rounding.halfwidth
    whole = _sums(weights, np.repeat(np.arange(parts), packages), parts)
    slack = rounding.halfwidth * (packages + bins)[:, None]
    above = _any(_sums(groups.low, part_of_bin, parts) - slack > whole)
    added = _any(_sums(twice_middle, part_of_bin, parts) - bound > 2 * whole)
    width = grown[part_of_bin]
    reach = _reach(weights, package_start, part_of_bin, groups.high + width)
    beyond = _any(groups.low - width > reach)
    wide = bound[part_of_bin]
    most = np.where(groups.open, 2 * groups.high, twice_middle) + wide
    reach = _reach(2 * weights, package_start, part_of_bin, most)
    far_beyond = _any(twice_middle - wide > reach)
    added &= above
    # One total that is slightly too high while the sums agree is a matter of rounding: that is left to the solver.
    added[part_of_bin[beyond & far_beyond]] = True
    return above | added, added


@compiled
def _reach(weights: Integers, start: Integers, part_of_bin: Integers, most: Integers) -> Integers:
    """Return per bin the sum of the packages of its part that are not larger than it is in any measure."""
    reach = np.zeros_like(most)
    for bin_ in range(len(most)):
        part = part_of_bin[bin_]
        for package in range(start[part], start[part + 1]):
            fits = True
            for measure in range(most.shape[1]):
                if weights[package, measure] > most[bin_, measure]:
                    fits = False
                    break
            if fits:
                for measure in range(most.shape[1]):
                    reach[bin_, measure] += weights[package, measure]
    return reach


def _any(table: Flags) -> Flags:
    return np.asarray(table.any(axis=1))


# -- instances that are solved ---------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class Task:
    """An instance as arrays."""

    part: int
    """Which part of the phase it is."""
    packages: Integers
    """Per package and measure, its scaled value."""
    low: Integers
    """Per bin and measure, the least total; the bin of records left out, if there is one, comes last."""
    high: Integers
    """Per bin and measure, the greatest total."""
    halfwidth: Integers
    """Per measure, by how much windows widen with every package."""
    left_out: bool
    """Whether the last bin is that of records left out."""
    allowed: Flags | None
    """Per package and bin, whether earlier phases left it open; None: all of them."""
    entities: Integers | None
    """Per bin, how many entities are registered there, without that of records left out; None: not known for all."""

    @property
    def digest(self) -> str:
        """What the instance is known by, whichever part of whichever phase it is: equal ones have the same answer."""
        whole = hashlib.blake2b(bytes([self.left_out]), digest_size=16)
        for table in (
            self.packages,
            self.low,
            self.high,
            self.halfwidth,
            self.allowed,
            self.entities,
        ):
            numbers = np.zeros(0, np.int64) if table is None else np.ascontiguousarray(table)
            whole.update(f"{table is None} {numbers.shape}".encode())
            whole.update(numbers.tobytes())
        return whole.hexdigest()


@dataclass(frozen=True, eq=False)
class Attempt:
    """What came of one."""

    part: int
    """Which part of the phase it was."""
    status: str
    """One of the solver's, or "failed" where something went wrong."""
    method: str
    """What decided it; or why it failed."""
    limit: float
    """The CPU seconds that it was given, as work is counted."""
    seconds: float = 0.0
    """Those that it took, counted alike: the same in every run."""
    allocations: int | None = None
    """The number of valid allocations; None: not counted."""
    feasible: Flags | None = None
    """Per package and bin, whether some valid allocation has it there; None: there is none."""
    shares: Floats | None = None
    """Per feasible pair, row by row, its posterior, or the share of the allocations where no register is; None: not
    counted."""
    weighted: bool = False
    """Whether the shares are a posterior: every allocation weighted by the entities in its bins."""
    task: str = ""
    """What the instance is known by; see `Task.digest`."""
    exact: Flags | None = None
    """Per package, whether its bins are exactly those that are left, also where the limit was met; None: it is not
    proved that any allocation meets the totals."""

    @property
    def placed(self) -> Flags | None:
        """Per package, whether its bin is proved, be it that of records left out; None: of none it is."""
        if self.feasible is None or self.exact is None:
            return None
        return np.asarray(self.exact & (self.feasible.sum(axis=1) == 1))


@dataclass(eq=False)
class SolvedPhase:
    """A phase on its way: its instances and the last attempt at each."""

    phase: Phase
    """What the plan says."""
    instances: Instances
    """The parts of its groups."""
    attempts: dict[int, Attempt]
    """Per part that was tried, the last attempt."""
    register: Registered | None
    """Who is registered in the bins of the phase; None: there is no register."""

    @property
    def trivial(self) -> Integers:
        """The parts with one bin: nothing is to be tried."""
        parts = self.instances.unsettled
        return parts[self.instances.single[parts]]

    @property
    def hard(self) -> Integers:
        """The parts that are to be tried."""
        parts = self.instances.unsettled
        return parts[~self.instances.single[parts]]

    def task(self, part: int) -> Task:
        """Return a part as a worker gets it."""
        instances, groups = self.instances, self.instances.groups
        bins = instances.bins_of(part)
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
            packages=groups.packages[instances.packages_of(part)],
            low=low,
            high=high,
            halfwidth=groups.rounding.halfwidth,
            left_out=left_out,
            allowed=instances.allowed(part),
            entities=entities,
        )


def has_same_groups(study: TotalsStudy, phase: Phase, other: Phase) -> bool:
    """Tell whether two phases have the same groups, with the same bins and measures."""
    return (
        (phase.packages, phase.bins, phase.bin) == (other.packages, other.bins, other.bin)
        and phase.keys == other.keys
        and set(study.measures_of(phase)) == set(study.measures_of(other))
    )


def troubles_of(solved: SolvedPhase) -> list[Trouble]:
    """Say what is wrong with the groups of a phase before it is solved: excess totals, and bins without entities."""
    instances, groups, troubles = solved.instances, solved.instances.groups, []
    excess = np.unique(instances.group[np.isin(instances.reason, (ADDED, EXCESS))])
    if len(excess):
        kind = marked("groups with excess published totals")
        troubles.append(Trouble(solved.phase.name, kind, len(excess), groups.labels[excess[0]]))
        summed = np.intersect1d(excess, _with_sums(groups))
        if len(summed):
            kind = marked(
                "groups with a total that is the sum of all records, as in a row of sums, to be left out with where"
            )
            troubles.append(Trouble(solved.phase.name, kind, len(summed), groups.labels[summed[0]]))
    if solved.register is not None and solved.phase.exposed:
        bare = np.flatnonzero(solved.register.counts[groups.bin] < 1)
        if len(bare):
            concerned = np.unique(groups.bin_group[bare])
            place = printable(groups.bin_names[groups.bin[bare[0]]])
            kind = marked("groups with a bin without entities in the register")
            example = f"{groups.labels[concerned[0]]}: {place}"
            troubles.append(Trouble(solved.phase.name, kind, len(concerned), example))
    return troubles


def _with_sums(groups: TotalsGroups) -> Integers:
    """Return the groups of which one total, of several, is what all records come to, as far as rounding goes."""
    records = np.bincount(groups.record_group, minlength=groups.count)
    bins = np.bincount(groups.bin_group, minlength=groups.count)
    whole = _sums(groups.packages, groups.record_group, groups.count)[groups.bin_group]
    bound = (records + bins)[groups.bin_group, None] * groups.rounding.step
    alike = (2 * np.abs(groups.total - whole) <= bound).all(axis=1)
    return np.unique(groups.bin_group[alike & (bins[groups.bin_group] > 1)])


def failures_of(solved: SolvedPhase) -> list[Trouble]:
    """Say how many instances failed for which reason, each with the group of one of them."""
    failures: dict[str, list[int]] = {}
    for part, attempt in sorted(solved.attempts.items()):
        if attempt.status == "failed":
            failures.setdefault(attempt.method, []).append(part)
    instances = solved.instances
    return [
        Trouble.of(
            solved.phase.name,
            marked("instances that failed ({name})"),
            len(failed),
            printable(instances.groups.labels[instances.group[failed[0]]]),
            name=reason,
        )
        for reason, failed in failures.items()
    ]


def opened_by(
    solved: SolvedPhase, on: Sequence[str], phase: Phase, later: TotalsGroups, rows: int
) -> Open:
    """Return what a phase left open for each record, in terms of the bins of a later one.

    Whether a record was left out is the same question for both if they are about the same totals: what the earlier
    one found of it then holds in the later one. Of other totals it says nothing.

    Args:
        solved: The earlier phase.
        on: The columns in which bins of both must agree.
        phase: The later phase.
        later: Its groups.
        rows: The number of records.
    """
    instances, trivial = solved.instances, solved.trivial
    same = solved.phase.bins == phase.bins
    earlier = _bin_texts(instances.groups, on)
    of_later = agreed(earlier, _bin_texts(later, on))
    # Parts with one bin, and then those that were tried.
    packages = np.diff(instances.package_start)[trivial]
    records = [instances.all_records(trivial)]
    codes = [earlier.codes[np.repeat(instances.only_places(trivial), packages)]]
    inside, outside = np.zeros(rows, bool), np.zeros(rows, bool)
    inside[records[0]] = same
    for part, feasible in _open_parts(solved):
        met = instances.reason[part] == 0
        if not met and not same:
            continue  # whether these totals hold the record at all is not known
        texts, record = earlier.codes[instances.places_of(part)], instances.records_of(part)
        may_be = np.asarray(feasible[:, len(texts) :].any(axis=1))
        row, code = _open_pairs(feasible[:, : len(texts)], texts, ~may_be | same)
        records.append(record[row])
        codes.append(code)
        if same and met:
            inside[record[~may_be]] = True
            outside[record[may_be & ~feasible[:, : len(texts)].any(axis=1)]] = True
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


def linked_by(solved: SolvedPhase, rows: int) -> Flags:
    """Tell per record whether a phase has found its bin for certain."""
    linked = np.zeros(rows, bool)
    instances = solved.instances
    linked[instances.all_records(solved.trivial)] = True
    for part, attempt in solved.attempts.items():
        linked[instances.records_of(part)[places_one(solved, attempt)]] = True
    return linked


def places_one(solved: SolvedPhase, attempt: Attempt) -> Flags:
    """Tell per record of an instance whether an attempt has found its bin for certain."""
    one = attempt.placed
    if one is None or attempt.feasible is None:
        return np.zeros(len(solved.instances.packages_of(attempt.part)), bool)
    if solved.instances.left_out[attempt.part]:
        one &= ~attempt.feasible[:, -1]
    return one


def _open_parts(solved: SolvedPhase) -> Iterator[tuple[int, Flags]]:
    """Yield the parts of which something is known, with the bins that are open for their records.

    Of a part that was not tried, that is what earlier phases have left open.
    """
    instances = solved.instances
    for part, attempt in solved.attempts.items():
        if attempt.feasible is not None:
            yield part, attempt.feasible
    if not instances.opened:
        return
    rest = (np.diff(instances.package_start) > 0) & (instances.reason != DISAGREE)
    rest[solved.trivial] = False
    rest[list(solved.attempts)] = False
    for part in np.flatnonzero(rest).tolist():
        allowed = instances.allowed(part)
        if allowed is not None:
            yield part, allowed


def _open_pairs(feasible: Flags, text_of_bin: Integers, known: Flags) -> tuple[Integers, Integers]:
    """Return the pairs of a package, of those of which something is known, and a text that are open."""
    texts, place = np.unique(text_of_bin, return_inverse=True)
    order = np.argsort(place.reshape(-1), kind="stable")
    first = np.searchsorted(place.reshape(-1)[order], np.arange(len(texts)))
    table = np.logical_or.reduceat(feasible[:, order], first, axis=1)
    known = known & (table.sum(axis=1) <= MOST_OPEN)
    row, column = np.nonzero(table & known[:, None])
    return row, texts[column]


def _bin_texts(groups: TotalsGroups, on: Sequence[str]) -> Coded:
    """Return per bin of a phase its texts in some columns, put together."""
    columns = [groups.bin_columns[name] for name in on]
    texts = [_BETWEEN.join(texts) for texts in zip(*columns, strict=True)]
    return Coded.of(pa.array(texts, pa.large_string()))
