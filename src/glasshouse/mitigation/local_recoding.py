"""Local recoding: the records of one class are generalised only as far as that class needs.

A *group* is a set of records that are released alike, each quasi-identifier by the lowest label that stands for all
their values. There are two ways to form groups that all meet the criteria:

- `mondrian` divides: all records are one group, and a group is cut in two near the median of an attribute as long as
  both halves meet the criteria (LeFevre, DeWitt and Ramakrishnan 2006). Where a half fails, the attribute in which the
  group is next to widest is tried.
- `recode_locally` merges and rearranges: combinations of values that meet the criteria stay as they are, every other
  group is merged with that which costs least. From that, or from what `mondrian` does if it loses less, a group and
  some of the nearest are again and again taken apart and put together anew; what loses no more is kept. Last, single
  records are suppressed where that is allowed and loses less.

Everything works on the distinct combinations of quasi-identifiers and of those sensitive values that the criteria look
at, with the number of their records (`local_state`); large inputs are searched in blocks of near groups. Doubles guide
the search, but whether a class meets the criteria is decided exactly, by `Criterion.holds`, and once more on the
released columns themselves. `docs/anonymise.md`, *How it is computed*, derives it.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from math import inf
from typing import Any, NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from glasshouse.arrays import Codes, Flags, Floats, Integer, Integers, Words
from glasshouse.compiled import called, compiled, pasted, write
from glasshouse.errors import BudgetError, StudyError
from glasshouse.language import text, unknown_name
from glasshouse.mitigation.criteria import Criterion, TableCriterion
from glasshouse.mitigation.global_recoding import recode
from glasshouse.mitigation.hierarchies import Hierarchy, Number
from glasshouse.mitigation.information_loss import (
    Recoding,
    attribute_weights,
    coded_hierarchies,
    question,
    suppressible,
)
from glasshouse.mitigation.local_state import (
    MET,
    NO_GAIN,
    TOO_SMALL,
    Checks,
    Forest,
    ItemGroups,
    Items,
    Judge,
    LocalAttribute,
    Space,
    Tally,
    alike,
    checks_of,
    clear,
    common,
    count,
    fill,
    fill_attribute,
    helps,
    joined,
    lost,
    new_tally,
    recoding_of,
    region_cost,
    stretches,
    unmet,
    widen,
)
from glasshouse.progress import OnProgress, Progress
from glasshouse.table import EncodedTable

OBJECTIVES = ("loss", "granularity")
"""What a local recoding can make least: the objectives that add up what the labels of each record lose."""


class Effort(NamedTuple):
    """How much is done for a low loss."""

    block: int
    """So many groups at most are compared with each other."""
    merged: float
    """Where there are more different combinations of values, they are divided only, not merged."""
    limit: float
    """Mergers that cost more wait until all others are done, and so on with twice as much."""
    passes: int
    """How often all groups are rearranged at most."""
    least_gain: float
    """A pass that lowers the loss by a smaller share is the last."""
    work: float
    """After so many comparisons in pools nothing is rearranged any more, whatever the size of the table."""


EFFORTS = {
    "fast": Effort(block=500, merged=200_000, limit=1.6, passes=2, least_gain=0.01, work=5e7),
    "good": Effort(block=2500, merged=inf, limit=0.4, passes=8, least_gain=0.01, work=6e8),
    "best": Effort(block=2500, merged=inf, limit=0.4, passes=24, least_gain=0.002, work=6e9),
}
"""How much can be done: seconds, a minute or two, or minutes of a processor for a million different records."""
_GLOBAL_SECONDS = 10.0
"""So long the best full-domain recoding is looked for."""
_SINGLES = 7
"""At most so many records leave a piece one by one; the others stay together."""
_NEIGHBOURS = 16
"""A group is rearranged together with some of its so many nearest."""
_TRIES = 8
"""How often a group is rearranged per pass, until something changes."""
_POOLED = 8
"""Together with at most so many."""
_ROOM = 640
"""So many units a pool holds at most."""

_Work = TypeVar("_Work")
_Rearranged = tuple[Integers, Integers, Integers, float]
"""Per unit of a block, its group, item and records; and how much was compared."""


def recode_locally(
    table: EncodedTable,
    *,
    hierarchies: Mapping[str, Hierarchy],
    criteria: Sequence[Criterion | TableCriterion],
    suppression: Number = 0,
    quasi_identifiers: Sequence[str] | None = None,
    objective: str = "loss",
    weights: Mapping[str, float] | None = None,
    effort: str = "good",
    seed: int = 0,
    seconds: float | None = None,
    on_progress: OnProgress | None = None,
) -> Recoding:
    """Generalise each record only as far as its class needs to meet all criteria.

    The outcome is good, and not proved to be the best: finding that is NP-hard (Meyerson and Williams 2004). It never
    loses more than the best full-domain recoding, if that is found in ten seconds. It is the same for the same seed,
    unless a time limit stops the search.

    Args:
        table: The records.
        hierarchies: The hierarchy of every quasi-identifier; others may be among them.
        criteria: What the release must satisfy.
        suppression: The share of records that may be suppressed; ⌊share · records⌋ of them. A record is
            where that loses less than to release it, which costs all others of its class. Where all records in one
            class do not meet the criteria, or the best full-domain recoding loses less, those are that it suppresses.
        quasi_identifiers: What is recoded; by default the table's quasi-identifiers. A fact stands for its columns.
        objective: What is made least, one of `OBJECTIVES`.
        weights: How much a quasi-identifier counts in the objective, as in `recode`; those not named count 1.
        effort: How much is done for a low loss, one of `EFFORTS`. The work is limited and not the time, so that the
            outcome does not depend on the machine.
        seed: Where chance begins.
        seconds: After so long the best so far is taken; a first solution, by dividing, is always found.
        on_progress: Called after every block of groups with the number of passes that rearranged all of them, a
            ``bound`` of 0, and the loss of the ``best`` so far.

    Raises:
        DataError: A column is not in the table, or a value not in its hierarchy.
        StudyError: The criteria cannot be met, or the question is not well posed.
        BudgetError: The time was over before it was known which records to suppress.

    >>> import pyarrow as pa
    >>> from glasshouse.mitigation import KAnonymity
    >>> from glasshouse.mitigation.hierarchies import intervals, suppression_only
    >>> from glasshouse.table import read
    >>> people = pa.table({"age": ["20", "20", "31", "34", "36"], "sex": ["f", "f", "m", "m", "m"]})
    >>> table = read(people, quasi_identifiers=["age", "sex"])
    >>> hierarchies = {
    ...     "age": intervals(table.column("age"), widths=[10]),
    ...     "sex": suppression_only(table.column("sex")),
    ... }
    >>> recoding = recode_locally(table, hierarchies=hierarchies, criteria=[KAnonymity(2)])
    >>> recoding.classes, recoding.release(table).column("age").values.to_pylist()
    (2, ['20', '30-39'])
    """
    limit = suppressible(table, suppression)
    if objective not in OBJECTIVES:
        where = text("the list of objectives of local recoding")
        raise StudyError(unknown_name("objective", objective, where, OBJECTIVES))
    if effort not in EFFORTS:
        raise StudyError(unknown_name("effort", effort, text("the list of efforts"), EFFORTS))
    if seed < 0:
        raise StudyError("a seed is a whole number from 0 on, not {seed}", seed=str(seed))
    deadline = inf if seconds is None else time.monotonic() + seconds
    names, ready = question(table, quasi_identifiers, criteria)
    shares = attribute_weights(names, weights)
    coded = coded_hierarchies(table, names, hierarchies)
    items = Items.of(table, names, ready)
    impossible = Judge(ready, items).unmet_together()
    # The best full-domain recoding says which records to suppress, and what is to be beaten.
    everywhere: Recoding | None = None
    try:
        everywhere = recode(
            table,
            hierarchies=hierarchies,
            criteria=criteria,
            suppression=suppression,
            quasi_identifiers=names,
            objective=objective,
            weights=weights,
            seconds=_GLOBAL_SECONDS if seconds is None else seconds / 4,
        )
    except StudyError as error:
        if impossible:
            raise StudyError(
                "{unmet} is not met by all records in one class, nor by a full-domain recoding that suppresses at "
                "most {most} of them; ask for less, or allow more suppression",
                unmet=impossible,
                most=str(limit),
            ) from error
    except BudgetError:
        if impossible:
            raise
    if impossible and everywhere is not None:
        items = Items.of(table, names, ready, everywhere.suppressed)
    # Search groups, and release them unless the full-domain recoding loses less.
    search = _GroupSearch(
        items=items,
        attributes=[LocalAttribute.of_hierarchy(hierarchy) for hierarchy in coded.values()],
        judge=Judge(ready, items),
        checks=checks_of(ready, items),
        objective=objective,
        weights=shares if len(set(shares)) > 1 else None,
        limit=limit,
        effort=EFFORTS[effort],
        random=np.random.default_rng(seed),
        deadline=deadline,
        on_progress=on_progress,
    )
    groups = search.run()
    recoding = recoding_of(
        "local recoding",
        table,
        ready,
        items.of_groups(groups, seed),
        search.attributes,
        groups,
        objective=objective,
        weights=search.weights,
        seed=seed,
    )
    if everywhere is None or everywhere.loss >= recoding.loss:
        return recoding
    return replace(everywhere, method="local recoding", optimal=False, bound=0.0)


def mondrian(
    table: EncodedTable,
    *,
    criteria: Sequence[Criterion | TableCriterion],
    hierarchies: Mapping[str, Hierarchy] | None = None,
    quasi_identifiers: Sequence[str] | None = None,
) -> Recoding:
    """Divide the records near medians as long as every part meets all criteria (LeFevre et al. 2006).

    An attribute with a hierarchy is cut between the labels right below that of a part, and released by its lowest
    label. Any other is cut between its values: numbers and ISO dates are released as ranges such as ``20-34``, other
    texts in alphabetical order as sets such as ``{A, B}``. A long set is released as ``*``, and so is a part that holds
    missing values beside others.

    Args:
        table: The records.
        criteria: What the release must satisfy.
        hierarchies: The hierarchies of the quasi-identifiers that have one; others may be among them.
        quasi_identifiers: What is recoded; by default the table's quasi-identifiers. A fact stands for its columns.

    Returns:
        The recoding. In its loss, the domain of an attribute without a hierarchy are the values in the table.

    Raises:
        DataError: A column is not in the table, or a value not in its hierarchy.
        StudyError: The criteria cannot be met, or the question is not well posed.

    >>> import pyarrow as pa
    >>> from glasshouse.mitigation import KAnonymity
    >>> from glasshouse.table import read
    >>> people = pa.table({"age": ["20", "23", "31", "36", "39"], "sex": ["f", "f", "m", "m", "f"]})
    >>> table = read(people, quasi_identifiers=["age", "sex"])
    >>> recoding = mondrian(table, criteria=[KAnonymity(2)])
    >>> recoding.release(table).column("age").values.to_pylist()
    ['20-23', '31-39']
    """
    names, ready = question(table, quasi_identifiers, criteria)
    hierarchies = hierarchies or {}
    with_hierarchy = [name for name in names if name in hierarchies]
    coded = coded_hierarchies(table, with_hierarchy, hierarchies)
    attributes = [
        LocalAttribute.of_hierarchy(coded[name])
        if name in coded
        else LocalAttribute.of_order(table.column(name))
        for name in names
    ]
    items = Items.of(table, names, ready)
    judge = Judge(ready, items)
    if unmet := judge.unmet_together():
        raise StudyError(
            "{unmet} is not met even by all records in one class, so no division of them meets it; ask for less",
            unmet=unmet,
        )
    groups = divided(items, attributes, judge)
    return recoding_of("mondrian", table, ready, items, attributes, groups)


@dataclass
class _GroupSearch:
    """Looks for groups that meet all criteria and lose little."""

    items: Items
    attributes: Sequence[LocalAttribute]
    judge: Judge
    checks: Checks
    objective: str
    weights: Sequence[float] | None
    """How much each attribute counts; None: all alike."""
    limit: int
    """How many of all records may be suppressed."""
    effort: Effort
    random: np.random.Generator
    deadline: float
    """When rearranging ends, by the monotonic clock."""
    on_progress: OnProgress | None = None
    passes: int = 0
    """How often all groups were rearranged."""
    least: float = inf
    """The least loss found so far."""

    def __post_init__(self) -> None:
        self.work = self.effort.work
        self._plain = Space.of(self.items, self.attributes)
        self._space = self._weighed([self.items.records] * len(self.attributes))

    def run(self) -> ItemGroups:
        """Find groups: first any, then better ones."""
        best = divided(self.items, self.attributes, self.judge)
        self.least = self._loss(best)
        combinations = self.items.by_combination()
        if len(combinations) <= self.effort.merged and time.monotonic() < self.deadline:
            merged = self._merged(combinations)
            if (loss := self._loss(merged)) < self.least:
                best, self.least = merged, loss
        gain, is_shed = inf, False
        while True:
            self._tell()
            is_late = time.monotonic() >= self.deadline
            is_done = (
                gain <= self.effort.least_gain * self.least or self.passes == self.effort.passes
            )
            is_over = is_shed or self.work <= 0 or is_late
            if is_over or (is_done and not self._suppressible(best)):
                return self._in_few_classes(best)
            # Records are suppressed last: a group that costs much now may cost little after some passes more.
            is_shed = is_done
            self._space = self._weighed(self._sums(best))
            groups = self._merged(self._rearranged(best, self._suppressible(best) * is_shed))
            self.passes += 1
            gain = self.least - self._loss(groups)
            if gain > 0:
                best, self.least = groups, self.least - gain

    def _tell(self) -> None:
        """Tell how far the search is."""
        if self.on_progress is not None:
            figures = {"bound": 0.0} | ({"best": self.least} if self.least < inf else {})
            self.on_progress(Progress("searching", self.passes, figures=figures))

    def _by_block(self, work: Callable[..., _Work], *arguments: Iterable[Any]) -> list[_Work]:
        """Return what comes of every block, and tell after each that the search goes on."""
        done = []
        with ThreadPoolExecutor() as threads:
            for outcome in threads.map(work, *arguments):
                done.append(outcome)
                self._tell()
        return done

    def _sums(self, groups: ItemGroups) -> list[int]:
        """Return how many values of each domain stand under the labels of all records, suppressed ones included."""
        regions = self._space.regions(groups) - self._space.firsts
        suppressed = self.items.records - int(groups.sizes.sum())
        return [
            int(attribute.sizes[labels] @ groups.sizes) + suppressed * attribute.domain
            for attribute, labels in zip(self.attributes, regions.T, strict=True)
        ]

    def _loss(self, groups: ItemGroups) -> float:
        return lost(
            self._sums(groups), self.items.records, self.attributes, self.objective, self.weights
        )

    def _suppressible(self, groups: ItemGroups) -> int:
        """Return how many more records may be suppressed."""
        return max(0, self.limit - (self.items.records - int(groups.sizes.sum())))

    def _weighed(self, sums: Sequence[int]) -> Space:
        """Let each attribute count as much as a little more loss of it adds to the objective.

        The logarithm of 1 + loss is the mean of those of 1 + L_a, so a little more of L_a counts 1 / (1 + L_a).
        """
        records = self.items.records
        shares = []
        for attribute, total in zip(self.attributes, sums, strict=True):
            domain = attribute.domain
            loss = (total - records) / (records * max(1, domain - 1))
            shares.append(1 - 1 / domain if self.objective == "granularity" else 1 / (1 + loss))
        return self._plain.weighed(np.multiply(shares, self.weights or 1.0))

    def _merged(self, groups: ItemGroups) -> ItemGroups:
        """Merge failing groups with others until all meet the criteria, cheap mergers before dear ones."""
        limit = self.effort.limit
        failing = self.judge.failing(groups)
        while failing.any() and len(groups) > 1:
            groups = self._with_merged(groups, failing, limit)
            failing = self.judge.failing(groups)
            limit *= 2
        return groups

    def _with_merged(self, groups: ItemGroups, failing: Flags, limit: float = inf) -> ItemGroups:
        """Merge the failing groups of each block until none fails, or it would cost more than the limit."""
        regions = self._space.regions(groups)
        into = np.arange(len(groups))

        def merge_block(block: Integers) -> None:
            setting = self._setting(*groups.taken(block))
            into[block] = block[merge(setting, regions[block], failing[block], limit)]

        self._by_block(merge_block, self._blocks(regions))
        return groups.merged(into)

    def _rearranged(self, groups: ItemGroups, limit: int) -> ItemGroups:
        """Rearrange the groups of each block, within its part of the work that is left and of a limit to suppress."""
        blocks = list(self._blocks(self._space.regions(groups)))
        full = float(self._space.forest.cost[self._space.firsts].sum())
        ends = np.cumsum([0.0, *(groups.sizes[block].sum() for block in blocks)])
        limits = np.diff(np.floor(ends / ends[-1] * limit))
        seeds = self.random.integers(1 << 63, size=len(blocks), dtype=np.uint64)

        def rearrange_block(block: Integers, seed: np.uint64, most: float) -> _Rearranged:
            starts, items, counts = _with_singles(*groups.taken(block), self.checks.least)
            is_late = time.monotonic() >= self.deadline
            work = 0.0 if is_late else self.work * counts.sum() / len(self.items.retained)
            numbers, done = rearrange(
                self._setting(starts, items, counts), seed, work, full, int(most)
            )
            stay = numbers >= 0
            return numbers[stay], items[stay], counts[stay], done

        done = self._by_block(rearrange_block, blocks, seeds, limits)
        numbers, items, counts, work = zip(*done, strict=True)
        self.work -= sum(work)
        firsts = np.cumsum([0, *(of_block.max(initial=-1) + 1 for of_block in numbers)])
        return ItemGroups.of(
            np.concatenate(
                [of_block + first for of_block, first in zip(numbers, firsts, strict=False)]
            ),
            np.concatenate(items),
            np.concatenate(counts),
        )

    def _blocks(self, regions: Codes) -> Iterator[Integers]:
        return self._space.blocks(regions, self.random, self.effort.block)

    def _setting(self, starts: Integers, items: Integers, counts: Integers) -> Setting:
        leaves, secrets = self._space.leaves[items], self.items.secrets[items]
        return Setting(self._space.forest, self.checks, leaves, secrets, counts, starts)

    def _in_few_classes(self, groups: ItemGroups) -> ItemGroups:
        """Make groups that are released alike one, and merge the smallest until the table-wide criteria are met."""
        while True:
            groups = groups.merged(alike(self._space.regions(groups)))
            excess = len(groups) - self.judge.most_classes(len(groups), int(groups.sizes.sum()))
            if excess == 0:
                return groups
            smallest = np.zeros(len(groups), np.bool_)
            smallest[np.argsort(groups.sizes, kind="stable")[:excess]] = True
            groups = self._merged(self._with_merged(groups, smallest))


def _with_singles(
    starts: Integers, items: Integers, counts: Integers, least: int
) -> tuple[Integers, Integers, Integers]:
    """Part each piece into units: some records one by one, which may leave, and the others together."""
    units = np.clip(counts, 1, min(least, 1 + _SINGLES))
    firsts = np.concatenate([np.zeros(1, np.int64), np.cumsum(units)])
    weights = np.ones(firsts[-1], np.int64)
    weights[firsts[:-1]] = counts - units + 1
    return firsts[starts], np.repeat(items, units), weights


# Dividing: groups are cut in two as long as both halves meet the criteria


def divided(items: Items, attributes: Sequence[LocalAttribute], judge: Judge) -> ItemGroups:
    """Cut groups in two as long as both halves meet all criteria.

    All groups of a round are looked at together: each is cut in the attribute in which it is widest, the halves are
    judged, and where one of them fails the next attribute is tried; a group that no cut divides is done. Records are
    never moved: a group is a stretch of one order of the items, by its ends, and a cut rearranges it in two.
    """
    space = Space.of(items, attributes)
    ordered = np.array([attribute.text_of is not None for attribute in attributes])
    order = np.arange(len(space.leaves))
    most = judge.most_classes(len(order), len(items.retained))
    done: list[Integers] = []
    ends = np.array([[0, len(order)]])
    spreads = _spreads(space.forest, space.leaves, ordered, order, ends)
    while len(ends):
        # A group without spread is done; the others are cut where they are widest.
        divisible = spreads.max(axis=1) > 0
        done.append(ends[~divisible])
        ends, spreads = ends[divisible], spreads[divisible]
        chosen = spreads.argmax(axis=1)
        middles = _cut(space.forest, space.leaves, items.weights, order, ends, chosen)
        # Halves that both meet the criteria take the place of their group, as long as there may be more classes.
        halves = np.stack([ends[:, 0], middles, middles, ends[:, 1]], axis=1)
        groups = _as_groups(order, items.weights, halves.reshape(-1, 2))
        fit = ~judge.failing(groups).reshape(-1, 2).any(axis=1)
        fit &= np.cumsum(fit) <= most - sum(map(len, done)) - len(ends)
        # The other groups stay, and are not cut in that attribute again.
        spreads[np.arange(len(ends)), chosen] = 0
        fresh = halves[fit].reshape(-1, 2)
        fresh_spreads = _spreads(space.forest, space.leaves, ordered, order, fresh)
        ends = np.concatenate([ends[~fit], fresh])
        spreads = np.concatenate([spreads[~fit], fresh_spreads])
    return _as_groups(order, items.weights, np.concatenate(done))


def _as_groups(order: Integers, weights: Integers, ends: Integers) -> ItemGroups:
    """Return the groups of items that stand in some stretches of an order."""
    starts, places = stretches(ends[:, 0], ends[:, 1] - ends[:, 0])
    return ItemGroups(starts, order[places], weights[order[places]])


@compiled
def _spreads(
    forest: Forest, leaves: Codes, ordered: Flags, order: Integers, ends: Integers
) -> Floats:
    """Return how wide each stretch (row) of an order of items is in each attribute, as a share of its domain.

    In an attribute with a hierarchy that is what its label loses; in others, how far its values lie apart.
    """
    spreads = np.zeros((ends.shape[0], leaves.shape[1]))
    for number in range(ends.shape[0]):
        for a in range(leaves.shape[1]):
            low = high = leaves[order[ends[number, 0]], a]
            for i in range(ends[number, 0] + 1, ends[number, 1]):
                low, high = min(low, leaves[order[i], a]), max(high, leaves[order[i], a])
            label = joined(forest, low, high)
            if low < high and ordered[a]:
                spreads[number, a] = (high - low) / max(1, forest.last[label] - label - 1)
            elif low < high:
                spreads[number, a] = forest.cost[label]
    return spreads


@compiled
def _cut(
    forest: Forest,
    leaves: Codes,
    weights: Integers,
    order: Integers,
    ends: Integers,
    attributes: Integers,
) -> Integers:
    """Rearrange each stretch in two halves by an attribute that varies in it; return where the second ones begin.

    The cut lies between labels right below the one that stands for the stretch, as near to the median as possible.
    """
    held = np.zeros(forest.parent.size, np.int64)
    present = np.empty(forest.parent.size, np.int64)
    spare = np.empty(order.size, np.int64)
    middles = np.empty(ends.shape[0], np.int64)
    for number in range(ends.shape[0]):
        begin, end, a = ends[number, 0], ends[number, 1], attributes[number]
        # Find the label of the stretch, and count the records under each label right below it.
        whole = leaves[order[begin], a]
        for i in range(begin, end):
            whole = joined(forest, whole, leaves[order[i], a])
        distinct, total = 0, 0
        for i in range(begin, end):
            label = leaves[order[i], a]
            while forest.parent[label] != whole:
                label = forest.parent[label]
            if held[label] == 0:
                present[distinct] = label
                distinct += 1
            held[label] += weights[order[i]]
            total += weights[order[i]]
        labels = np.sort(present[:distinct])
        # Find the border nearest to the median: two or more labels vary, so that neither half is empty.
        below, best, border = 0, total, labels[0]
        for label in labels[: distinct - 1]:
            below += held[label]
            if abs(2 * below - total) < best:
                best, border = abs(2 * below - total), label
        held[labels] = 0
        # Part the stretch in two, each half in the order in which its items were.
        low, high = begin, 0
        for i in range(begin, end):
            if leaves[order[i], a] <= forest.last[border]:
                order[low] = order[i]
                low += 1
            else:
                spare[high] = order[i]
                high += 1
        write(order[low:end], spare[:high])
        middles[number] = low
    return middles


# Merging: groups that fail go where it costs least


class Setting(NamedTuple):
    """What the compiled search looks at and does not change: labels, criteria, and units of alike records."""

    forest: Forest
    """The labels of all attributes."""
    checks: Checks
    """The criteria."""
    leaves: Codes
    """Per unit (row) and attribute, its value."""
    secrets: NDArray[np.uint32]
    """Per unit (row) and sensitive attribute, its value."""
    weights: Integers
    """Per unit, its records."""
    starts: Integers
    """Per group, where its units begin; one more entry closes the last."""


@compiled
def merge(setting: Setting, regions: Codes, failing: Flags, limit: float) -> Integers:
    """Merge each failing group with that which costs least, the cheapest merger first, until none fails.

    A merger that costs the limit or more is not done. A group that has changed is judged by the checks only.

    Returns:
        Per group, the group that it is in now.
    """
    forest, checks, starts = setting.forest, setting.checks, setting.starts
    number = failing.size
    sizes, losses = np.zeros(number, np.int64), np.zeros(number)
    alive, version = np.ones(number, np.bool_), np.zeros(number, np.int64)
    into, last = np.arange(number), np.arange(number)
    follower = np.full(number, -1, np.int64)
    delta = np.full(number, np.inf)
    partner, seen = np.full(number, -1, np.int64), np.zeros(number, np.int64)
    # Find the cheapest partner of every failing group.
    ends, row = common(forest, regions), np.empty(forest.cost.size)
    live, living, compared = np.arange(number), number, number
    for g in range(number):
        sizes[g] = setting.weights[starts[g] : starts[g + 1]].sum()
        losses[g] = sizes[g] * region_cost(forest, regions[g])
    for g in range(number):
        if failing[g]:
            fill(forest, regions[g], ends, row)
            delta[g], partner[g] = _cheapest(row, regions, sizes, losses, live[:compared], g, limit)
    tally = new_tally(checks)
    while True:
        g = int(np.argmin(delta))
        if delta[g] == np.inf:
            break
        other = partner[g]
        # A partner that was merged since, or has changed, is looked for anew.
        if not alive[other] or version[other] != seen[g]:
            expected = delta[g]
            fill(forest, regions[g], ends, row)
            delta[g], other = _cheapest(row, regions, sizes, losses, live[:compared], g, limit)
            partner[g], seen[g] = other, version[other]
            if delta[g] > expected + NO_GAIN:
                continue
        # Merge the two, and look again for a partner if they fail together.
        sizes[g] += sizes[other]
        losses[g] = sizes[g] * widen(forest, regions[g], regions[other])
        alive[other], delta[other] = False, np.inf
        version[g] += 1
        into[other] = g
        follower[last[g]] = other
        last[g] = last[other]
        living -= 1
        losses[other] = -np.inf
        if 4 * living < 3 * compared:
            compared = _compact(live, compared, alive)
        clear(checks, tally)
        member = g if checks.kinds.size else -1
        while member >= 0:
            for unit in range(starts[member], starts[member + 1]):
                count(checks, tally, setting.secrets[unit], setting.weights[unit])
            member = follower[member]
        delta[g] = np.inf
        if unmet(checks, tally, sizes[g]) != MET:
            fill(forest, regions[g], ends, row)
            delta[g], other = _cheapest(row, regions, sizes, losses, live[:compared], g, limit)
            partner[g], seen[g] = other, version[other]
    # Follow each group to where it ended.
    for g in range(number):
        while into[into[g]] != into[g]:
            into[g] = into[into[g]]
    return into


@called
def _compact(live: Integers, number: int, alive: Flags) -> int:
    """Leave groups that were merged out of the first so many of a list; return how many stay."""
    end = 0
    for i in range(number):
        if alive[live[i]]:
            live[end] = live[i]
            end += 1
    return end


@called
def _cheapest(
    row: Floats,
    regions: Codes,
    sizes: Integers,
    losses: Floats,
    live: Integers,
    g: int,
    limit: float,
) -> tuple[float, int]:
    """Return what it costs to merge a group with that where it costs least, and which that is.

    If none costs less than the limit, the cost is infinite. The row has what each label costs together with the group;
    a group that was merged has lost −∞, so that no merger with it is cheap.
    """
    best, partner = limit + losses[g], -1
    size, attributes = sizes[g], regions.shape[1]
    for other in live:
        cost = 0.0
        for a in range(attributes):
            cost += row[regions[other, a]]
        more = (size + sizes[other]) * cost - losses[other]
        if more < best and other != g:
            best, partner = more, other
    return (best - losses[g] if partner >= 0 else np.inf), partner


# Rearranging: near groups are taken apart and put together anew


class _GroupLists(NamedTuple):
    """ItemGroups that are rearranged: lists of units."""

    heads: Integers
    """Per group, its first unit; −1: it has none."""
    nexts: Integers
    """Per unit, the next of its group; −1 after the last."""
    sizes: Integers
    """Per group, its records."""
    costs: Floats
    """Per group, what each of its records loses."""
    regions: Codes
    """Per group (row) and attribute, the label that it is released by."""
    used: Integers
    """One number: how many groups there are, empty ones included."""


class _Pool(NamedTuple):
    """Units of groups that were taken apart, to be put together as clusters."""

    units: Integers
    """The units."""
    leaves: Codes
    """Per place in the pool (row) and attribute, the value of that unit."""
    clusters: Integers
    """Per place in the pool, the cluster of that unit."""
    loose: Integers
    """Places of units that are in no cluster yet."""
    regions: Codes
    """Per cluster (row) and attribute, its label."""
    sizes: Integers
    """Per cluster, its records."""
    costs: Floats
    """Per cluster, what each of its records loses."""
    row: Floats
    """Per label, what a record loses by it together with what is compared."""
    tally: Tally
    """Room to count sensitive values."""
    random: Words
    """The state of chance."""


@compiled
def rearrange(
    setting: Setting, seed: Integer, work: float, full: float, limit: int
) -> tuple[Integers, float]:
    """Take groups apart with some of the nearest and put them together anew, where that loses no more.

    Args:
        setting: The labels, criteria and units.
        seed: Where chance begins.
        work: When the squares of the units in all pools add up to more, the rest is left as it is.
        full: What a record loses if it is suppressed.
        limit: How many records may be suppressed.

    Returns:
        Per unit the number of its group, −1 where it is suppressed, and how much work was done.
    """
    block, pool = _new_block(setting), _new_pool(setting, seed)
    near = np.empty(_NEIGHBOURS, np.int64)
    chosen = np.empty(_POOLED + 1, np.int64)
    ends = common(setting.forest, block.regions[: block.used[0]])
    done = 0.0
    # As often as there are groups, take a random one that loses something.
    for _ in range(setting.starts.size - 1):
        chosen[0] = _below(pool.random, block.used[0])
        if block.sizes[chosen[0]] == 0 or block.costs[chosen[0]] == 0.0 or done > work:
            continue
        fill(setting.forest, block.regions[chosen[0]], ends, pool.row)
        known = _nearest(block, pool.row, chosen[0], near)
        if limit > 0 and block.sizes[chosen[0]] * block.costs[chosen[0]] > full:
            limit -= _shed(setting, block, pool, chosen[0], near[:known], ends, full, limit)
        # Take it apart with some of the nearest until the clusters lose no more: the loss never grows.
        for _ in range(_TRIES):
            taken, units = _take_apart(block, near[:known], chosen, pool)
            done += float(units) * units
            lost = 0.0
            for i in range(taken):
                lost += block.sizes[chosen[i]] * block.costs[chosen[i]]
            clusters = _put_together(setting, pool, units, lost)
            if clusters > 0 and _write_back(block, pool, units, clusters, chosen[:taken]):
                break
    # Number the units by the group that they are in now.
    numbers = np.full(setting.weights.size, -1, np.int64)
    for group in range(block.used[0]):
        unit = block.heads[group]
        while unit >= 0:
            numbers[unit] = group
            unit = block.nexts[unit]
    return numbers, done


@called
def _new_block(setting: Setting) -> _GroupLists:
    groups = setting.starts.size - 1
    room = 2 * groups + _ROOM
    block = _GroupLists(
        np.full(room, -1, np.int64),
        np.empty(setting.weights.size, np.int64),
        np.zeros(room, np.int64),
        np.zeros(room),
        np.zeros((room, setting.leaves.shape[1]), np.int32),
        np.array([groups]),
    )
    for group in range(groups):
        block.regions[group] = setting.leaves[setting.starts[group]]
        for unit in range(setting.starts[group], setting.starts[group + 1]):
            block.costs[group] = widen(setting.forest, block.regions[group], setting.leaves[unit])
            block.sizes[group] += setting.weights[unit]
            block.nexts[unit], block.heads[group] = block.heads[group], unit
    return block


@called
def _new_pool(setting: Setting, seed: int) -> _Pool:
    return _Pool(
        np.empty(_ROOM, np.int64),
        np.empty((_ROOM, setting.leaves.shape[1]), np.int32),
        np.empty(_ROOM, np.int64),
        np.empty(_ROOM, np.int64),
        np.empty((_ROOM, setting.leaves.shape[1]), np.int32),
        np.empty(_ROOM, np.int64),
        np.empty(_ROOM),
        np.empty(setting.forest.cost.size),
        new_tally(setting.checks),
        np.array([seed], np.uint64),
    )


@called
def _nearest(block: _GroupLists, row: Floats, chosen: int, near: Integers) -> int:
    """Write down the groups that lose least together with a group, the nearest first; return how many they are."""
    regions, sizes = block.regions, block.sizes
    distances = np.empty(near.size)
    known, limit = 0, np.inf
    for group in range(block.used[0]):
        distance = 0.0
        for a in range(regions.shape[1]):
            distance += row[regions[group, a]]
        if distance < limit and group != chosen and sizes[group] > 0:
            place = min(known, near.size - 1)
            while place > 0 and distances[place - 1] > distance:
                distances[place], near[place] = distances[place - 1], near[place - 1]
                place -= 1
            distances[place], near[place] = distance, group
            known = min(known + 1, near.size)
            if known == near.size:
                limit = distances[known - 1]
    return known


@called
def _take_apart(
    block: _GroupLists, near: Integers, chosen: Integers, pool: _Pool
) -> tuple[int, int]:
    """Put the first chosen group and some of the nearest, rather near ones than far, into a pool.

    Returns:
        How many groups and units are in it. Those that find no room are left out; it is empty if the first does.
    """
    taken, units = 0, 0
    for _ in range(2 + _below(pool.random, chosen.size - 1)):
        # Choose the group itself first, then others by a square of chance: near ones more often.
        group = chosen[0]
        if taken > 0 and near.size > 0:
            group = near[int(near.size * _chance(pool.random) ** 2)]
        fresh = taken == 0
        for i in range(taken):
            fresh = chosen[i] != group
            if not fresh:
                break
        # Put its units behind those in the pool; they count once all have found room.
        end, unit = units, block.heads[group]
        while fresh and unit >= 0 and end < _ROOM:
            pool.units[end] = unit
            end += 1
            unit = block.nexts[unit]
        if fresh and unit < 0:
            chosen[taken] = group
            taken, units = taken + 1, end
        elif taken == 0:
            break
    return taken, units


@called
def _put_together(setting: Setting, pool: _Pool, units: int, limit: float) -> int:
    """Form clusters of the units of a pool that meet the criteria and lose no more than a limit.

    A cluster grows around a random unit by that which costs least, until it meets the criteria. Units that are left
    over join the cluster where they cost least.

    Returns:
        How many clusters there are; 0: such ones were not found.
    """
    for i in range(units):
        pool.loose[i] = i
        pool.leaves[i] = setting.leaves[pool.units[i]]
    ends = common(setting.forest, pool.leaves[:units])
    # Grow clusters; the last may fail for want of units, which then join the others.
    loose, clusters, lost = units, 0, 0.0
    while loose > 0:
        loose, failed = _grow(setting, pool, clusters, loose, ends)
        if failed == MET:
            lost += pool.sizes[clusters] * pool.costs[clusters]
            if lost > limit + NO_GAIN:
                return 0
            clusters += 1
        elif clusters > 0:
            for i in range(units):
                if pool.clusters[i] == clusters:
                    _join_best(setting, pool, clusters, i, ends, np.inf)
    # Judge what came of it.
    lost = 0.0
    for cluster in range(clusters):
        lost += pool.sizes[cluster] * pool.costs[cluster]
        if setting.checks.kinds.size and not _is_met(setting, pool, units, cluster):
            return 0
    return clusters if lost <= limit + NO_GAIN else 0


@called
def _grow(setting: Setting, pool: _Pool, cluster: int, loose: int, ends: Codes) -> tuple[int, int]:
    """Grow a cluster of loose units; return how many stay loose, and which criterion is not met."""
    forest, checks, plain = setting.forest, setting.checks, setting.checks.kinds.size == 0
    region, row = pool.regions[cluster], pool.row
    place = _below(pool.random, loose)
    size, cost, failed = 0, 0.0, TOO_SMALL
    write(region, pool.leaves[pool.loose[place]])
    fill(forest, region, ends, row)
    if not plain:
        clear(checks, pool.tally)
    while place >= 0:
        # Add the unit, and look again at the attributes in which the region has grown.
        i = pool.loose[place]
        unit = pool.units[i]
        loose -= 1
        pool.loose[place] = pool.loose[loose]
        pool.clusters[i] = cluster
        cost = 0.0
        for a in range(region.size):
            label = joined(forest, region[a], pool.leaves[i, a])
            if label != region[a]:
                region[a] = label
                fill_attribute(forest, label, ends[a], row)
            cost += forest.cost[label]
        size += setting.weights[unit]
        if plain:
            failed = MET if size >= checks.least else TOO_SMALL
        else:
            count(checks, pool.tally, setting.secrets[unit], setting.weights[unit])
            failed = unmet(checks, pool.tally, size)
        place = -1
        if failed != MET and loose > 0:
            place = _best_to_add(setting, pool, size, cost, loose, failed)
    pool.sizes[cluster], pool.costs[cluster] = size, cost
    return loose, failed


@called
def _best_to_add(
    setting: Setting, pool: _Pool, size: int, cost: float, loose: int, failed: int
) -> int:
    """Return the place of the loose unit that costs least in a cluster, of those that help if any; ties at random."""
    leaves, row = pool.leaves, pool.row
    before = size * cost
    best, chosen, ties, helped = np.inf, 0, 0, False
    for place in range(loose):
        i = pool.loose[place]
        unit = pool.units[i]
        useful = failed >= 0 and helps(
            setting.checks, pool.tally, failed, setting.secrets[unit], size
        )
        if useful and not helped:
            best, helped = np.inf, True
        if useful or not helped:
            cost = 0.0
            for a in range(leaves.shape[1]):
                cost += row[leaves[i, a]]
            delta = (size + setting.weights[unit]) * cost - before
            if delta < best - NO_GAIN:
                best, chosen, ties = delta, place, 1
            elif delta <= best + NO_GAIN:
                ties += 1
                if _below(pool.random, ties) == 0:
                    chosen = place
    return chosen


@called
def _join_best(
    setting: Setting, pool: _Pool, clusters: int, i: int, ends: Codes, limit: float
) -> float:
    """Add the unit at a place of the pool to that of the first so many clusters where it costs least.

    Returns:
        What it costs; where that is the limit or more, the limit, and the unit is in no cluster (−1).
    """
    best, target, weight = limit, -1, setting.weights[pool.units[i]]
    fill(setting.forest, pool.leaves[i], ends, pool.row)
    for cluster in range(clusters):
        cost = 0.0
        for a in range(ends.size):
            cost += pool.row[pool.regions[cluster, a]]
        more = (pool.sizes[cluster] + weight) * cost - pool.sizes[cluster] * pool.costs[cluster]
        if more < best:
            best, target = more, cluster
    pool.clusters[i] = target
    if target >= 0:
        pool.costs[target] = widen(setting.forest, pool.regions[target], pool.leaves[i])
        pool.sizes[target] += weight
    return best


@called
def _shed(
    setting: Setting,
    block: _GroupLists,
    pool: _Pool,
    chosen: int,
    near: Integers,
    ends: Codes,
    full: float,
    most: int,
) -> int:
    """Suppress records of a group where that loses less than to release them; return how many.

    Either one unit leaves the group; or the group is given up: each unit joins that of the nearest where it costs
    least, or is suppressed. Only criteria on the size of groups surely stay met in the second way.
    """
    units, unit = 0, block.heads[chosen]
    while unit >= 0 and units < _ROOM:
        pool.units[units], pool.leaves[units] = unit, setting.leaves[unit]
        units += 1
        unit = block.nexts[unit]
    if unit >= 0 or near.size == 0:
        return 0
    # Find the unit without which the others lose least.
    lost = block.sizes[chosen] * block.costs[chosen]
    best, out = lost - NO_GAIN, -1
    for i in range(units):
        weight = setting.weights[pool.units[i]]
        if weight <= most and weight < block.sizes[chosen]:
            after = weight * full + _without(setting, pool, units, i)
            if after < best and unmet(setting.checks, pool.tally, pool.sizes[0]) == MET:
                best, out = after, i
    if out >= 0:
        _without(setting, pool, units, out)
        block.regions[chosen], block.sizes[chosen] = pool.regions[0], pool.sizes[0]
        block.costs[chosen], block.heads[chosen] = pool.costs[0], -1
        for i in range(units):
            if i != out:
                unit = pool.units[i]
                block.nexts[unit], block.heads[chosen] = block.heads[chosen], unit
        return int(setting.weights[pool.units[out]])
    # Else see what it costs to give the group up.
    spent, gone = 0.0, 0
    for cluster in range(near.size):
        pool.regions[cluster] = block.regions[near[cluster]]
        pool.sizes[cluster] = block.sizes[near[cluster]]
        pool.costs[cluster] = block.costs[near[cluster]]
    for i in range(units):
        weight = setting.weights[pool.units[i]]
        limit = weight * full if gone + weight <= most else np.inf
        spent += _join_best(setting, pool, near.size, i, ends, limit)
        gone += weight if pool.clusters[i] < 0 else 0
    if setting.checks.kinds.size or gone == 0 or spent >= lost - NO_GAIN:
        return 0
    block.heads[chosen], block.sizes[chosen] = -1, 0
    for cluster in range(near.size):
        block.regions[near[cluster]] = pool.regions[cluster]
        block.sizes[near[cluster]] = pool.sizes[cluster]
        block.costs[near[cluster]] = pool.costs[cluster]
    for i in range(units):
        if pool.clusters[i] >= 0:
            group, unit = near[pool.clusters[i]], pool.units[i]
            block.nexts[unit], block.heads[group] = block.heads[group], unit
    return gone


@called
def _without(setting: Setting, pool: _Pool, units: int, out: int) -> float:
    """Make the first cluster of all units of a pool but one; return what its records lose together."""
    pool.sizes[0] = 0
    pool.regions[0] = pool.leaves[0 if out else 1]
    clear(setting.checks, pool.tally)
    for i in range(units):
        if i != out:
            unit = pool.units[i]
            pool.costs[0] = widen(setting.forest, pool.regions[0], pool.leaves[i])
            pool.sizes[0] += setting.weights[unit]
            count(setting.checks, pool.tally, setting.secrets[unit], setting.weights[unit])
    return float(pool.sizes[0] * pool.costs[0])


@called
def _is_met(setting: Setting, pool: _Pool, units: int, cluster: int) -> bool:
    """Tell whether a cluster meets the criteria."""
    clear(setting.checks, pool.tally)
    for i in range(units):
        if pool.clusters[i] == cluster:
            unit = pool.units[i]
            count(setting.checks, pool.tally, setting.secrets[unit], setting.weights[unit])
    return bool(unmet(setting.checks, pool.tally, pool.sizes[cluster]) == MET)


@called
def _write_back(
    block: _GroupLists, pool: _Pool, units: int, clusters: int, chosen: Integers
) -> bool:
    """Replace the chosen groups by the clusters of a pool, if there is room; groups may become empty."""
    if block.used[0] + clusters > block.heads.size:
        return False
    # Empty the chosen groups, and open further ones where there are more clusters.
    slots = np.empty(max(clusters, chosen.size), np.int64)
    for i in range(slots.size):
        if i < chosen.size:
            slots[i] = chosen[i]
        else:
            slots[i] = block.used[0]
            block.used[0] += 1
        block.heads[slots[i]], block.sizes[slots[i]] = -1, 0
    for cluster in range(clusters):
        block.sizes[slots[cluster]] = pool.sizes[cluster]
        block.costs[slots[cluster]] = pool.costs[cluster]
        block.regions[slots[cluster]] = pool.regions[cluster]
    # Link each unit into the list of its group.
    for i in range(units):
        slot, unit = slots[pool.clusters[i]], pool.units[i]
        block.nexts[unit], block.heads[slot] = block.heads[slot], unit
    return True


@pasted
def _random(state: Words) -> Any:
    """Return 64 random bits (SplitMix64; Steele, Lea and Flood 2014)."""
    state[0] += np.uint64(0x9E3779B97F4A7C15)
    bits = state[0]
    bits = (bits ^ (bits >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    bits = (bits ^ (bits >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return bits ^ (bits >> np.uint64(31))


@pasted
def _below(state: Words, end: int) -> Any:
    """Return a random number from 0 to below an end, which is far below 2⁶⁴."""
    return np.int64(_random(state) % np.uint64(end))


@pasted
def _chance(state: Words) -> Any:
    """Return a random number from 0 to below 1."""
    return np.float64(_random(state) >> np.uint64(11)) * 2.0**-53
