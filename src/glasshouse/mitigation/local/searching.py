"""Local recoding that merges and rearranges."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from math import floor, inf

import numpy as np

from glasshouse.arrays import Flags, Integers
from glasshouse.errors import BudgetError, StudyError
from glasshouse.language import marked, text, unknown_name
from glasshouse.mitigation.criteria import Criterion, TableCriterion
from glasshouse.mitigation.hierarchies import Hierarchy, Number, exact
from glasshouse.mitigation.local.attributes import Attribute, space_of
from glasshouse.mitigation.local.checks import Checks, checks_of
from glasshouse.mitigation.local.dividing import divided
from glasshouse.mitigation.local.forest import Space
from glasshouse.mitigation.local.items import Groups, Items, alike, question
from glasshouse.mitigation.local.judging import Judge
from glasshouse.mitigation.local.merging import Given, merge
from glasshouse.mitigation.local.rearranging import rearrange
from glasshouse.mitigation.local.released import lost, recoding
from glasshouse.mitigation.quality import attribute_weights, coded_hierarchies
from glasshouse.mitigation.recoding import OnSearch, Recoding, recode
from glasshouse.table import EncodedTable

OBJECTIVES = ("loss", "granularity")
"""What a local recoding can make least: the objectives that add up what the labels of each record lose."""

_FIRST_LIMIT = 0.1
"""Mergers that cost more wait until all others are done, and so on with twice as much."""
_PASSES = 24
"""How often all groups are rearranged at most."""
_LEAST_GAIN = 0.002
"""A pass that lowers the loss by a smaller share is the last."""
_WORK = 6e9
"""After so many comparisons in pools nothing is rearranged any more: minutes, whatever the size of the table."""
_GLOBAL_SECONDS = 10.0
"""So long the best full-domain recoding is looked for."""
_SINGLES = 7
"""At most so many records leave a piece one by one; the others stay together."""

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
    seed: int = 0,
    time_limit: float | None = None,
    on_progress: OnSearch | None = None,
) -> Recoding:
    """Generalise each record only as far as its class needs to meet all criteria.

    The outcome is good, and not proved to be the best: finding that is NP-hard (Meyerson and Williams 2004). It never
    loses more than the best full-domain recoding, if that is found in ten seconds. It is the same for the same seed,
    unless a time limit stops the search.

    Args:
        table: The records.
        hierarchies: The hierarchy of every quasi-identifier; others may be among them.
        criteria: What the release must satisfy.
        suppression: The share of records that may be suppressed; ⌊share · records⌋ of them. None is, unless all records
            in one class do not meet the criteria, or the best full-domain recoding loses less: then those that it
            suppresses.
        quasi_identifiers: What is recoded; by default the table's quasi-identifiers. A fact stands for its columns.
        objective: What is made least, one of `OBJECTIVES`.
        weights: How much a quasi-identifier counts in the objective, as in `recode`; those not named count 1.
        seed: Where chance begins.
        time_limit: After so many seconds the best so far is taken; a first solution, by dividing, is always found.
        on_progress: Called with the number of passes that rearranged the groups, 0 and the loss.

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
    >>> own = {
    ...     "age": intervals(table.column("age"), widths=[10]),
    ...     "sex": suppression_only(table.column("sex")),
    ... }
    >>> found = recode_locally(table, hierarchies=own, criteria=[KAnonymity(2)])
    >>> found.classes, found.release(table).column("age").values.to_pylist()
    (2, ['20', '30-39'])
    """
    share = exact(suppression, what=marked("the suppression limit"))
    if not 0 <= share <= 1:
        raise StudyError(
            text(
                "the suppression limit is a share of the records from 0 to 1, not {suppression}",
                suppression=str(suppression),
            )
        )
    if objective not in OBJECTIVES:
        where = text("the list of objectives of local recoding")
        raise StudyError(unknown_name("objective", objective, where, OBJECTIVES))
    if seed < 0:
        raise StudyError(text("a seed is a whole number from 0 on, not {seed}", seed=str(seed)))
    deadline = inf if time_limit is None else time.monotonic() + time_limit
    names, ready = question(table, quasi_identifiers, criteria)
    own_weights = attribute_weights(names, weights)
    coded = coded_hierarchies(table, names, hierarchies)
    items = Items.of(table, names, ready)
    unmet = Judge(ready, items).unmet_together()
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
            time_limit=_GLOBAL_SECONDS if time_limit is None else time_limit / 4,
        )
    except StudyError as error:
        if unmet:
            raise StudyError(
                text(
                    "{unmet} is not met by all records in one class, nor by a full-domain recoding that suppresses at "
                    "most {most} of them; ask for less, or allow more suppression",
                    unmet=unmet,
                    most=str(floor(share * table.records)),
                )
            ) from error
    except BudgetError:
        if unmet:
            raise
    if unmet and everywhere is not None:
        items = Items.of(table, names, ready, everywhere.suppressed)
    search = _Search(
        items=items,
        attributes=[Attribute.of_hierarchy(each) for each in coded.values()],
        judge=Judge(ready, items),
        checks=checks_of(ready, items),
        objective=objective,
        weights=own_weights if len(set(own_weights)) > 1 else None,
        random=np.random.default_rng(seed),
        deadline=deadline,
    )
    found = recoding(
        "local recoding",
        table,
        ready,
        items,
        search.attributes,
        search.run(on_progress),
        objective=objective,
        weights=search.weights,
        seed=seed,
    )
    if everywhere is None or everywhere.loss >= found.loss:
        return found
    return replace(everywhere, method="local recoding", optimal=False, bound=0.0)


@dataclass
class _Search:
    """Looks for groups that meet all criteria and lose little."""

    items: Items
    attributes: Sequence[Attribute]
    judge: Judge
    checks: Checks
    objective: str
    weights: Sequence[float] | None
    """How much each attribute counts; None: all alike."""
    random: np.random.Generator
    deadline: float
    """When rearranging ends, by the monotonic clock."""
    work: float = _WORK
    """How much may still be compared."""

    def __post_init__(self) -> None:
        self._plain = space_of(self.items, self.attributes)
        self._space = self._weighed([len(self.items.kept)] * len(self.attributes))

    def run(self, on_progress: OnSearch | None) -> Groups:
        """Find groups: first any, then better ones."""
        starts = [divided(self.items, self.attributes, self.judge)]
        if time.monotonic() < self.deadline:
            starts.append(self._merged(self.items.by_combination()))
        best = min(starts, key=self._loss)
        least, gain, passes = self._loss(best), inf, 0
        while True:
            if on_progress is not None:
                on_progress(passes, 0.0, least)
            is_late = time.monotonic() >= self.deadline
            if gain <= _LEAST_GAIN * least or passes == _PASSES or self.work <= 0 or is_late:
                return self._in_few_classes(best)
            self._space = self._weighed(self._sums(best))
            found = self._merged(self._rearranged(best))
            passes += 1
            gain = least - self._loss(found)
            if gain > 0:
                best, least = found, least - gain

    def _sums(self, groups: Groups) -> list[int]:
        """Return how many values of each domain stand under the labels of all records."""
        regions = self._space.regions(groups) - self._space.firsts
        return [
            int(each.sizes[labels] @ groups.sizes)
            for each, labels in zip(self.attributes, regions.T, strict=True)
        ]

    def _loss(self, groups: Groups) -> float:
        sums = self._sums(groups)
        return lost(sums, self.items, self.attributes, self.objective, self.weights)

    def _weighed(self, sums: Sequence[int]) -> Space:
        """Let each attribute count as much as a little more loss of it adds to the objective.

        The logarithm of 1 + loss is the mean of those of 1 + L_a, so a little more of L_a counts 1 / (1 + L_a).
        """
        records = len(self.items.kept)
        shares = []
        for each, total in zip(self.attributes, sums, strict=True):
            loss = (total - records) / (records * max(1, each.domain - 1))
            shares.append(
                1 - 1 / each.domain if self.objective == "granularity" else 1 / (1 + loss)
            )
        return self._plain.weighed(np.multiply(shares, self.weights or 1.0))

    def _merged(self, groups: Groups) -> Groups:
        """Merge failing groups with others until all meet the criteria, cheap mergers before dear ones."""
        limit = _FIRST_LIMIT
        failing = self.judge.failing(groups)
        while failing.any() and len(groups) > 1:
            groups = self._with_merged(groups, failing, limit)
            failing = self.judge.failing(groups)
            limit *= 2
        return groups

    def _with_merged(self, groups: Groups, failing: Flags, limit: float = inf) -> Groups:
        """Merge the failing groups of each block until none fails, or it would cost more than the limit."""
        regions = self._space.regions(groups)
        into = np.arange(len(groups))

        def merge_block(block: Integers) -> None:
            given = self._given(*groups.taken(block))
            into[block] = block[merge(given, regions[block], failing[block], limit)]

        with ThreadPoolExecutor() as threads:
            list(threads.map(merge_block, self._space.blocks(regions, self.random)))
        return groups.merged(into)

    def _rearranged(self, groups: Groups) -> Groups:
        """Rearrange the groups of each block, within its part of the work that is left."""
        blocks = list(self._space.blocks(self._space.regions(groups), self.random))
        seeds = self.random.integers(1 << 63, size=len(blocks), dtype=np.uint64)

        def rearrange_block(block: Integers, seed: np.uint64) -> _Rearranged:
            starts, items, counts = _with_singles(*groups.taken(block), self.checks.least)
            is_late = time.monotonic() >= self.deadline
            work = 0.0 if is_late else self.work * counts.sum() / len(self.items.kept)
            numbers, done = rearrange(self._given(starts, items, counts), seed, work)
            return numbers, items, counts, done

        with ThreadPoolExecutor() as threads:
            found = list(threads.map(rearrange_block, blocks, seeds))
        self.work -= sum(done for *_, done in found)
        ends = np.cumsum([0, *(len(numbers) for numbers, *_ in found)])
        return Groups.of(
            np.concatenate([own[0] + end for own, end in zip(found, ends[:-1], strict=True)]),
            np.concatenate([own[1] for own in found]),
            np.concatenate([own[2] for own in found]),
        )

    def _given(self, starts: Integers, items: Integers, counts: Integers) -> Given:
        own = self._space.leaves[items], self.items.secrets[items]
        return Given(self._space.forest, self.checks, *own, counts, starts)

    def _in_few_classes(self, groups: Groups) -> Groups:
        """Make groups that are released alike one, and merge the smallest until the table-wide criteria are met."""
        while True:
            groups = groups.merged(alike(self._space.regions(groups)))
            excess = len(groups) - self.judge.most_classes(len(groups))
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
