"""Full-domain recoding: a quasi-identifier is told at one level of its hierarchy, and some records are suppressed.

A *node* says the level of each quasi-identifier. Its classes are the records alike on the labels of these levels; a
class that fails a criterion is suppressed whole, and a node is a solution if no more records are suppressed than
allowed, every table-wide criterion is met, and something is left to release. `recode` finds the solution with the least
loss, and proves that there is no better one:

- What a node loses without suppression is a lower bound of what it loses. For the attribute-wise objectives it follows
  from the level of each attribute alone; for those of classes, from any node below. Nodes are taken from a heap by that
  bound until it passes the best solution.
- A node that would need more suppression than allowed rules out all nodes below it, which are not looked at. Where a
  class fails a monotone criterion every part of it does, so all its records are needed. For the other criteria a union
  of classes that hold does hold: what is kept of a class in any node below is such a union, so at least as many records
  are needed as have to leave the class until it holds. Where no more are needed than allowed they still raise the lower
  bound of all nodes below.
- Before a node is looked at, a path from it to the top is searched by halves (as Samarati 2001 and Kohlmayer et al.
  2012 do) for the highest node that rules it out: high nodes have few classes and rule out much.

The classes of a node are merged from those of a node below that was looked at before, not from the records (LeFevre et
al. 2005).
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from operator import le
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from glasshouse.arrays import Flags, Floats, Integer, Integers
from glasshouse.compiled import called, compiled, pasted, write
from glasshouse.errors import BudgetError, StudyError
from glasshouse.language import text, unknown_name
from glasshouse.microdata.survey_weights import SurveyWeights
from glasshouse.mitigation.criteria import (
    ClassCounts,
    Criterion,
    EqualCloseness,
    HierarchicalCloseness,
    InferenceRisk,
    Presence,
    TableCriterion,
    first_unmet,
    least_size,
    population_of,
    refuse_strangers,
    sensitive_of,
)
from glasshouse.mitigation.distinct_rows import (
    PEOPLE,
    CodedHierarchy,
    DistinctRows,
    LevelLabels,
    RowClasses,
    ValueCounts,
    beside_population,
    beside_weights,
    distinct_rows,
    merged,
    merged_counts,
    rows_in_population,
)
from glasshouse.mitigation.hierarchies import Hierarchy, Number, exact
from glasshouse.mitigation.information_loss import (
    Node,
    Objective,
    Recoding,
    coded_hierarchies,
    objective,
    question,
    released_column,
    suppressible,
)
from glasshouse.progress import OnProgress, Progress
from glasshouse.table import EncodedTable
from glasshouse.table.generalised import SUPPRESSED

Levels = tuple[int, ...]
"""A node: the level of each attribute."""

_SLACK = 1e-9
"""By so much more a distance may be greater, so that rounding does no harm."""
_MOST_KEPT = 64
"""The classes of at most so many nodes are kept to merge others from."""
_FIRST_ROOM = 1 << 10
_MOST_EXCLUDED = 1 << 12
"""So many exclusions of nodes are remembered."""
_MOST_NODES = 1 << 25
"""With more open nodes than this the search gives up its proof, as when its time is over."""
_FOUND, _DONE, _PAUSED = 0, 1, 2
"""How taking a node ended: with one, with none left that may be as good as the best, or for a breath."""
_PASSED_AT_ONCE = 1 << 18
"""After so many nodes that are ruled out the search looks at the clock."""


def recode(
    table: EncodedTable,
    *,
    hierarchies: Mapping[str, Hierarchy],
    criteria: Sequence[Criterion | TableCriterion],
    suppression: Number = 0,
    quasi_identifiers: Sequence[str] | None = None,
    levels: Mapping[str, int] | None = None,
    objective: str = "loss",
    weights: Mapping[str, float] | None = None,
    survey_weights: SurveyWeights | None = None,
    suppressed_stay: bool = False,
    seconds: float | None = None,
    rows: DistinctRows | None = None,
    on_progress: OnProgress | None = None,
) -> Recoding:
    """Find the full-domain recoding that meets all criteria with the least loss.

    Of solutions with the same loss that with the lowest levels in sum wins, then the first in lexicographic order.

    Args:
        table: The records.
        hierarchies: The hierarchy of every quasi-identifier; others may be among them.
        criteria: What the release must satisfy.
        suppression: The share of records that may be suppressed; ⌊share · records⌋ of them.
        quasi_identifiers: What is recoded; by default the table's quasi-identifiers. A fact stands for its columns.
        levels: Per quasi-identifier whose level is not searched for, the level of its hierarchy at which it is told.
        objective: What is made least, one of `glasshouse.mitigation.information_loss.OBJECTIVES`.
        weights: How much a quasi-identifier counts in the mean of the attribute-wise objectives: with weights w the
            loss is Π (1 + L_a)^(w_a / Σ w) − 1. Those not named count 1.
        survey_weights: How many people each record stands for: so often it counts in an attribute-wise objective, a
            suppressed one too. The share that may be suppressed is one of records.
        suppressed_stay: Whether suppressed records stay in the release as a class of their own, which has to meet the
            criteria as well; else nothing is asked of them.
        seconds: After so long a search the best solution so far is returned, with ``optimal`` false and a proved
            ``bound``.
        rows: The distinct combinations of the quasi-identifiers, with the sensitive attributes that the criteria are
            about, where they are counted already.
        on_progress: Called after each node that was looked at, with how many these are, the ``bound`` that no loss is
            below, and the loss of the ``best`` solution once there is one.

    Raises:
        DataError: A column is not in the table, or a value not in its hierarchy.
        StudyError: The criteria cannot be met, or the question is not well posed.
        BudgetError: The time was over before any solution was found.

    >>> import pyarrow as pa
    >>> from glasshouse.mitigation import KAnonymity, suppression_only
    >>> from glasshouse.table import read
    >>> people = pa.table({"age": ["20", "20", "30", "40"], "sex": ["f", "f", "m", "m"]})
    >>> table = read(people, quasi_identifiers=["age", "sex"])
    >>> told_or_not = {name: suppression_only(table.column(name)) for name in ("age", "sex")}
    >>> recoding = recode(table, hierarchies=told_or_not, criteria=[KAnonymity(2)])
    >>> dict(recoding.heights), recoding.classes, recoding.optimal
    ({'age': 1, 'sex': 0}, 2, True)
    >>> recoding.release(table).column("age").values.to_pylist()
    ['*']
    >>> recode(table, hierarchies=told_or_not, criteria=[KAnonymity(2)], suppression=1, levels={"age": 0}).classes
    1
    """
    names, ready = question(table, quasi_identifiers, criteria)
    limit = suppressible(table, suppression)
    rows = rows or distinct_rows(table, names, sensitive_of(ready))
    population = population_of(ready)
    if survey_weights is not None:
        if population is not None:
            raise StudyError("give a population register or survey weights, not both")
        rows = beside_weights(rows, survey_weights)
    if population is None:
        coded = coded_hierarchies(table, names, hierarchies)
    else:
        both = beside_population(table, population, names)
        rows = rows_in_population(rows, both, table=table)
        coded = coded_hierarchies(both, names, hierarchies)
    coded = _at_levels(coded, levels or {})
    lattice = _Lattice(
        rows, tuple(coded.values()), _Judge(ready, table, limit, suppressed_stay), levels or {}
    )
    search = _LatticeSearch(lattice, objective, weights)
    search.run(seconds, on_progress)
    return search.outcome()


def _at_levels(
    coded: Mapping[str, CodedHierarchy], levels: Mapping[str, int]
) -> dict[str, CodedHierarchy]:
    """Return hierarchies of which some have one level only: that at which their column is told.

    Raises:
        StudyError: A level is of no quasi-identifier, or its hierarchy has none of that number.
    """
    for name, level in levels.items():
        if name not in coded:
            where = text("what an adversary knows (`quasi_identifiers`)")
            fault = unknown_name("column", name, where, coded)
            raise StudyError("`levels` {name}: {fault}", name=name, fault=fault)
        if not 0 <= level < coded[name].height:
            raise StudyError(
                "`levels` {name}={level}: the hierarchy has the levels 0 (as it is) to {top}",
                name=name,
                level=str(level),
                top=str(coded[name].height - 1),
            )
    return {
        name: hierarchy.only(levels[name]) if name in levels else hierarchy
        for name, hierarchy in coded.items()
    }


@dataclass(frozen=True)
class _Verdict:
    """What is known of a node that was looked at."""

    needed: int
    """How many records have to be suppressed at least, in it and in any node below."""
    score: float | None
    """Its score, if it is a solution."""
    floor: float
    """No node that is at least as general scores less."""


class _Judge:
    """Applies all criteria to the classes of a node."""

    def __init__(
        self,
        criteria: Sequence[Criterion | TableCriterion],
        table: EncodedTable,
        limit: int,
        suppressed_stay: bool,
    ) -> None:
        self.criteria = criteria
        self.limit = limit
        self._suppressed_stay = suppressed_stay
        refuse_strangers(criteria)
        self._of_table = [rule for rule in criteria if isinstance(rule, TableCriterion)]
        self._of_table.sort(key=lambda rule: rule.sensitive is not None)
        of_classes = [rule for rule in criteria if isinstance(rule, Criterion)]
        of_classes.sort(key=lambda rule: (rule.sensitive is not None, not rule.monotone))
        self._of_classes = [(rule, _Relaxation.all_of(rule, table)) for rule in of_classes]
        self._least_size = least_size(criteria)

    def judged(
        self, sizes: Integers, counts: Callable[[str], ValueCounts]
    ) -> tuple[Flags, int, bool]:
        """Return which classes fail, how many records this node and any below must suppress, and if it is a solution.

        If these are more than may be suppressed, the rest is not looked at.
        """
        failed = np.zeros(len(sizes), np.bool_)
        needed = np.zeros(len(sizes), np.int64)
        least = 0
        for rule in self._of_table:
            if rule.monotone_unsuppressed and not rule.may_allow_parts(
                ClassCounts.seen_by(rule, sizes, counts), self.limit
            ):
                return failed, self.limit + 1, False
        for criterion, relaxations in self._of_classes:
            classes = ClassCounts.seen_by(criterion, sizes, counts)
            fails = ~criterion.holds(classes)
            if fails.any():
                failed |= fails
                leaving = self._leaving(criterion, relaxations, classes, fails)
                np.maximum(needed, leaving, out=needed)
                least = int(needed.sum())
                if least > self.limit:
                    return failed, least, False
        return failed, least, self._accepts(sizes, failed, counts)

    def _accepts(
        self, sizes: Integers, failed: Flags, counts: Callable[[str], ValueCounts]
    ) -> bool:
        """Tell whether a node is a solution, given its classes that fail."""
        kept = ~failed
        records = int(sizes[kept].sum())
        return (
            records > 0
            and int(sizes.sum()) - records <= self.limit
            and all(
                rule.allows(ClassCounts.seen_by(rule, sizes, counts).only(kept))
                for rule in self._of_table
            )
            and (not self._suppressed_stay or self._accepts_together(sizes, failed, counts))
        )

    def _accepts_together(
        self, sizes: Integers, failed: Flags, counts: Callable[[str], ValueCounts]
    ) -> bool:
        """Tell whether a node is a solution if all classes that fail are one."""
        if not failed.any():
            return True
        numbers = np.where(failed, 0, np.cumsum(~failed)).astype(np.uint32)
        together = np.bincount(numbers, sizes).astype(np.int64)

        def merged_into_one(name: str) -> ValueCounts:
            return merged_counts(numbers, len(together), counts(name))

        return first_unmet(self.criteria, together, merged_into_one) is None

    def _leaving(
        self,
        criterion: Criterion,
        relaxations: Sequence[_Relaxation],
        classes: ClassCounts,
        fails: Flags,
    ) -> Integers:
        """Return how many records have to leave each class at least, until the union of what is kept holds."""
        if criterion.monotone:
            return np.where(fails, classes.sizes, 0)
        # People whom no class fits any more may raise the chance of the others, where records may be suppressed.
        rises = isinstance(criterion, Presence) and bool(criterion.low and self.limit)
        if not criterion.monotone_unsuppressed or rises:
            return np.zeros(len(fails), np.int64)
        most = classes.sizes - fails
        for relaxation in relaxations:
            np.minimum(most, relaxation.most_kept(classes, fails), out=most)
        if isinstance(criterion, InferenceRisk):
            rest = 1 - exact(criterion.p, what="p")
            rarer = classes.sizes - np.maximum.reduceat(classes.counts, classes.starts[:-1])
            np.minimum(most, rarer * rest.denominator // rest.numerator, out=most)
        return classes.sizes - np.where(most < self._least_size, 0, most)


@dataclass(frozen=True)
class _Relaxation:
    """What t-closeness implies: that groups of values are distributed nearly as in the whole table.

    Half the sum of the absolute differences of the groups' shares is at most ``within``.
    """

    groups: Integers
    """Per value, its group."""
    within: float
    """The greatest distance, and some slack."""

    @classmethod
    def all_of(cls, criterion: Criterion, table: EncodedTable) -> list[_Relaxation]:
        """Return what is known of a criterion; other criteria than t-closeness with known distances imply nothing.

        Between values under different labels of level i of a hierarchy the distance is at least (i + 1) / top.
        """
        if isinstance(criterion, EqualCloseness):
            values = np.arange(table.column(criterion.sensitive).cardinality)
            return [cls(values, float(exact(criterion.t, what="t")) + _SLACK)]
        if isinstance(criterion, HierarchicalCloseness):
            column = table.column(criterion.sensitive)
            coded = criterion.hierarchy.coded(column, where=table.name)
            top, t = coded.height - 1, exact(criterion.t, what="t")
            return [
                cls(coded.codes[level].astype(np.int64), float(t * top / (level + 1)) + _SLACK)
                for level in range(top)
            ]
        return []

    def most_kept(self, classes: ClassCounts, fails: Flags) -> Integers:
        """Return how many records of each failing class can be kept at most such that they hold together."""
        reference = np.bincount(self.groups, classes.reference).astype(np.int64)
        most: Integers = _most_kept_close(
            classes.starts,
            self.groups[classes.values],
            classes.counts,
            classes.sizes,
            reference,
            fails,
            self.within,
        )
        return most


class _Lattice:
    """The nodes, and the classes of those that were looked at and are worth keeping."""

    def __init__(
        self,
        rows: DistinctRows,
        hierarchies: Sequence[CodedHierarchy],
        judge: _Judge,
        fixed: Mapping[str, int],
    ) -> None:
        self.rows = rows
        self.hierarchies = hierarchies
        self.judge = judge
        self.fixed = fixed
        self.top: Levels = tuple(hierarchy.height - 1 for hierarchy in hierarchies)
        self._labels = LevelLabels.of(hierarchies)
        bottom = (0,) * len(hierarchies)
        self._kept: dict[Levels, RowClasses] = {bottom: rows.as_classes()}
        self._room = rows.distinct
        self._numbered: tuple[Levels, NDArray[np.uint32]] | None = None

    def node(self, levels: Levels) -> tuple[Node, int, bool]:
        """Return a node with its failing classes, how many records it and all below must suppress, if it solves."""
        source = self._nearest(levels)
        numbers, classes = merged(self.rows, source, self._labels, levels)
        if len(source) == self.rows.distinct:  # of each combination, which is often asked for next
            self._numbered = levels, numbers
        secrets: dict[str, ValueCounts] = {}

        def counts(sensitive: str) -> ValueCounts:
            if sensitive not in secrets:
                secrets[sensitive] = merged_counts(numbers, len(classes), source.secrets[sensitive])
            return secrets[sensitive]

        inhabited = _with_records(classes)
        failed, needed, solves = self.judge.judged(
            inhabited.sizes, lambda name: _first(counts(name), len(inhabited))
        )
        if 2 * len(classes) <= len(source):
            all_counts = {name: counts(name) for name in source.secrets}
            self._keep(levels, RowClasses(classes.first, classes.sizes, all_counts))
        if self.rows.mass is not None:
            inhabited = replace(inhabited, secrets={PEOPLE: counts(PEOPLE)})
        return Node(levels, inhabited, failed), needed, solves

    def unmet_at_top(self) -> str:
        """Return the name of a criterion that is not even met when everything is generalised."""
        numbers, classes = merged(self.rows, self.rows.as_classes(), self._labels, self.top)
        unmet = first_unmet(
            self.judge.criteria,
            classes.sizes,
            lambda name: merged_counts(numbers, len(classes), self.rows.secrets[name]),
        )
        return unmet or " and ".join(criterion.name for criterion in self.judge.criteria)

    def class_of_rows(self, levels: Levels) -> NDArray[np.uint32]:
        """Return, per combination, the number of its class in a node."""
        if self._numbered is not None and self._numbered[0] == levels:
            return self._numbered[1]
        return merged(self.rows, self.rows.as_classes(), self._labels, levels)[0]

    def _nearest(self, levels: Levels) -> RowClasses:
        """Return the fewest classes that are kept of any node at or below; they become the last to be let go."""
        below = [
            (len(classes), node)
            for node, classes in self._kept.items()
            if all(map(le, node, levels))
        ]
        nearest = min(below)[1]
        if any(nearest):
            self._kept[nearest] = self._kept.pop(nearest)
        return self._kept[nearest]

    def _keep(self, levels: Levels, classes: RowClasses) -> None:
        """Keep the classes of a node, letting go of those not used for longest where room is short."""
        self._kept[levels] = classes
        self._room -= len(classes)
        for node in list(self._kept):
            if self._room >= 0 and len(self._kept) <= _MOST_KEPT:
                break
            if any(node):
                self._room += len(self._kept.pop(node))


def _with_records(classes: RowClasses) -> RowClasses:
    """Return the classes that hold a record: the first ones, those of people of the population alone being last."""
    last = int(np.count_nonzero(classes.sizes))
    if last == len(classes):
        return classes
    return RowClasses(classes.first[:last], classes.sizes[:last], {})


def _first(counts: ValueCounts, classes: int) -> ValueCounts:
    """Return the counts of the first so many classes; of others it is only known how many records there are of all."""
    end = int(counts.starts[classes])
    return ValueCounts(
        counts.starts[: classes + 1], counts.values[:end], counts.counts[:end], counts.reference
    )


class _TimeOver(Exception):  # noqa: N818 - not an error: the search ends with what it has
    """The time is over, or the room for nodes."""


class _LatticeSearch:
    """Looks for the solution with the least score, and proves it."""

    def __init__(self, lattice: _Lattice, name: str, weights: Mapping[str, float] | None) -> None:
        limit = lattice.judge.limit
        self._lattice = lattice
        self._name = name
        self._objective: Objective = objective(
            name, lattice.rows, lattice.hierarchies, limit=limit, weights=weights
        )
        self._frontier = _Frontier(lattice.top, self._objective.terms())
        guide = objective("granularity", lattice.rows, lattice.hierarchies, limit=limit)
        self._steps = [np.diff(terms).tolist() for terms in guide.terms()]
        self._verdicts: dict[Levels, _Verdict] = {}
        self._best: tuple[float, int, Levels] | None = None
        self._best_node: Node | None = None
        self._bound: float | None = None
        self._end = np.inf

    def run(self, seconds: float | None, on_progress: OnProgress | None) -> None:
        """Search until the best solution is proved, or until the time is over."""
        if self._look(self._lattice.top).needed > self._lattice.judge.limit:
            raise self._impossible()
        if seconds is not None:
            self._end = time.monotonic() + seconds
        try:
            self._run(on_progress)
        except _TimeOver:
            self._bound = self._frontier.key

    def _run(self, on_progress: OnProgress | None) -> None:
        while (state := self._frontier.advance(self._best_score)) != _DONE:
            if state == _PAUSED:
                self._look_at_clock()
                continue
            key, levels = self._frontier.key, self._frontier.levels
            self._settle(levels)
            verdict = self._verdicts.get(levels)
            least = key if verdict is None else max(key, verdict.floor)
            self._frontier.expand(least, self._best_score)
            if on_progress is not None:
                figures = {"bound": self._objective.loss_of(key)}
                if self._best is not None:
                    figures["best"] = self._objective.loss_of(self._best[0])
                on_progress(Progress("searching", len(self._verdicts), figures=figures))

    def _look_at_clock(self) -> None:
        if self._frontier.is_full or time.monotonic() >= self._end:
            raise _TimeOver

    def outcome(self) -> Recoding:
        """Return the best solution.

        Raises:
            StudyError: There is none.
            BudgetError: None was found in time.
        """
        if self._best is None or self._best_node is None:
            if self._bound is None:
                raise self._impossible()
            raise BudgetError(
                "the time was over before any solution was found; give more time, or allow more suppression"
            )
        score, _, levels = self._best
        node = self._best_node
        loss = self._objective.loss(node)
        proved = self._bound is None or self._bound >= score
        return Recoding(
            method="full-domain recoding",
            quasi_identifiers=self._lattice.rows.names,
            heights={
                **dict(zip(self._lattice.rows.names, levels, strict=True)),
                **self._lattice.fixed,
            },
            classes=int(np.count_nonzero(~node.suppressed)),
            loss=loss,
            optimal=proved,
            bound=None if proved else min(loss, self._objective.loss_of(self._bound or 0)),
            objective=self._name,
            evaluated=len(self._verdicts),
            **self._released(node),
        )

    @property
    def _best_score(self) -> float:
        return np.inf if self._best is None else self._best[0]

    def _settle(self, levels: Levels) -> None:
        """Look at a node, or find that a node above rules it out."""
        if levels in self._verdicts:
            return
        path = self._path_to_top(levels)
        low, high = -1, len(path) - 1
        while high - low > 1:
            middle = (low + high) // 2
            if self._excludes(path[middle], levels):
                low = middle
            else:
                high = middle
        if low >= 0:
            self._exclude_below(path[low])

    def _excludes(self, above: Levels, levels: Levels) -> bool:
        """Tell whether what a node has to suppress makes one below it impossible, or worse than the best."""
        needed = self._look(above).needed
        if needed == 0 or needed > self._lattice.judge.limit:
            return needed > 0
        terms = (self._objective.term(a, level, needed) for a, level in enumerate(levels))
        return sum(terms) > self._best_score

    def _exclude_below(self, levels: Levels) -> None:
        needed = self._look(levels).needed
        if needed > self._lattice.judge.limit:
            self._frontier.exclude(self._highest_excluded(levels), None)
        else:
            self._frontier.exclude(levels, self._objective.terms(needed))

    def _look(self, levels: Levels) -> _Verdict:
        """Judge a node, once, and remember it if it is the best solution so far."""
        if levels not in self._verdicts:
            self._look_at_clock()
            node, needed, solves = self._lattice.node(levels)
            verdict = self._judged(node, needed, solves)
            self._verdicts[levels] = verdict
            if verdict.score is not None:
                candidate = (verdict.score, sum(levels), levels)
                if self._best is None or candidate < self._best:
                    self._best, self._best_node = candidate, node
        return self._verdicts[levels]

    def _judged(self, node: Node, needed: int, solves: bool) -> _Verdict:
        if needed > self._lattice.judge.limit:
            return _Verdict(needed, None, 0.0)
        score = self._objective.score(node) if solves else None
        return _Verdict(needed, score, self._objective.floor(node))

    def _path_to_top(self, levels: Levels) -> list[Levels]:
        """Return a path of nodes that each raise the attribute that costs least."""
        path = [levels]
        while path[-1] != self._lattice.top:
            path.append(_raised(path[-1], self._by_cost(path[-1])[0]))
        return path

    def _highest_excluded(self, levels: Levels) -> Levels:
        """Raise the levels of a node that needs more suppression than allowed as long as it does."""
        for attribute in self._by_cost(levels):
            while levels[attribute] < self._lattice.top[attribute]:
                higher = _raised(levels, attribute)
                if self._look(higher).needed <= self._lattice.judge.limit:
                    break
                levels = higher
        return levels

    def _by_cost(self, levels: Levels) -> list[int]:
        """Return the attributes that can be raised, that first which costs least granularity."""
        costs = [
            (steps[level], attribute)
            for attribute, (steps, level) in enumerate(zip(self._steps, levels, strict=True))
            if level < len(steps)
        ]
        return [attribute for _, attribute in sorted(costs)]

    def _released(self, node: Node) -> dict[str, Any]:
        lattice = self._lattice
        numbers = lattice.class_of_rows(node.levels)[lattice.rows.number]
        first = lattice.rows.codes[node.classes.first]
        released = {}
        for name, hierarchy, level, codes in zip(
            lattice.rows.names, lattice.hierarchies, node.levels, first.T, strict=True
        ):
            texts = list(dict.fromkeys([*hierarchy.labels[level], SUPPRESSED]))
            labels = hierarchy.codes[level].astype(np.int64)[codes]
            labels[node.suppressed] = texts.index(SUPPRESSED)
            released[name] = released_column(name, texts, labels, numbers)
        return {"suppressed": node.suppressed[numbers], "released": released}

    def _impossible(self) -> StudyError:
        limit = self._lattice.judge.limit
        unmet = self._lattice.unmet_at_top()
        if self._lattice.fixed:
            return StudyError(
                "{unmet} cannot be reached with the levels that are given, where {limit} records may be suppressed; "
                "give higher ones, ask for less, or allow more suppression",
                unmet=unmet,
                limit=str(limit),
            )
        if not limit:
            return StudyError(
                "{unmet} cannot be reached even when everything is generalised; ask for less, or allow more "
                "suppression",
                unmet=unmet,
            )
        return StudyError(
            "{unmet} cannot be reached even when everything is generalised and {limit} records may be suppressed; "
            "ask for less, or allow more suppression",
            unmet=unmet,
            limit=str(limit),
        )


class _Heap(NamedTuple):
    """Open nodes by their keys, in a binary heap; a row stays in its slot while slots change places."""

    keys: Floats
    """The least score that a node can have, in the order of the heap."""
    slots: Integers
    """In the same order, the slot of its row; those beyond the heap's size are free."""
    rows: NDArray[np.uint16]
    """Per slot, the levels of a node, the attribute that was raised last, and which exclusion was of use below it."""


class _Exclusions(NamedTuple):
    """What rules nodes out: each a node, and those below it that score more than the best by its terms."""

    levels: NDArray[np.uint16]
    """Per exclusion (row), the levels of the node."""
    terms: Floats
    """Per exclusion, attribute and level, what it adds to a score; infinite: no node below is a solution."""
    order: Integers
    """The exclusions in use, those first that were of use last."""


class _Frontier:
    """The nodes that may still be better, by the least score they can have.

    A node is raised in the attribute that was raised last or in a later one, so that every node is reached on one way
    only, and no list of those seen is needed. An exclusion stays true for ever, so one that took the place of another
    is as good.
    """

    def __init__(self, top: Levels, terms: Sequence[Floats]) -> None:
        self._top = np.array(top, np.uint16)
        self._terms = self._as_table(terms)
        self._heap = _Heap(
            np.empty(_FIRST_ROOM),
            np.arange(_FIRST_ROOM, dtype=np.int64),
            np.zeros((_FIRST_ROOM, len(top) + 2), np.uint16),
        )
        self._excluded = _Exclusions(
            np.zeros((1, len(top)), np.uint16),
            np.zeros((1, *self._terms.shape)),
            np.zeros(0, np.int64),
        )
        self.key = float(self._terms[:, 0].sum())
        """The least key of the last advance: no node that is left has a lower one."""
        self._taken = np.zeros(len(top) + 2, np.uint16)
        self._size: int = _push(self._heap, 0, self.key, self._taken)

    @property
    def is_full(self) -> bool:
        """Whether there are more nodes than may be kept."""
        return self._size > _MOST_NODES

    @property
    def levels(self) -> Levels:
        """The node that was taken."""
        return tuple(self._taken[:-2].tolist())

    def advance(self, best: float) -> int:
        """Take the node with the least key that is not ruled out, if it may be as good as the best.

        Returns:
            Whether there was one (`_FOUND`), there is none (`_DONE`), or only nodes were passed over (`_PAUSED`).
        """
        self._make_room()
        state, self._size, self.key = _take(
            self._heap, self._size, self._terms, self._top, self._excluded, best, self._taken
        )
        return int(state)

    def expand(self, key: float, best: float) -> None:
        """Put in the nodes right above the one that was taken, each with this key at least."""
        self._make_room()
        self._size = _raise(self._heap, self._size, self._terms, self._top, self._taken, key, best)

    def exclude(self, levels: Levels, terms: Sequence[Floats] | None) -> None:
        """Pass over a node and those below that score more than the best by other terms; None: over all of them.

        Those that are used come to the front; where there are too many, the last is forgotten.
        """
        excluded, order = self._excluded, self._excluded.order
        node = np.array(levels, np.uint16)
        if terms is None:
            order = order[~(excluded.levels[order] <= node).all(axis=1)]
        order = order[: _MOST_EXCLUDED - 1]
        free = np.ones(len(excluded.levels) + 1, np.bool_)
        free[order] = False
        place = int(np.argmax(free))
        if place == len(excluded.levels):
            excluded = _Exclusions(_doubled(excluded.levels), _doubled(excluded.terms), order)
        excluded.levels[place] = node
        excluded.terms[place] = np.inf if terms is None else self._as_table(terms)
        self._excluded = excluded._replace(order=np.concatenate([np.array([place]), order]))

    def _as_table(self, terms: Sequence[Floats]) -> Floats:
        table = np.zeros((len(terms), int(self._top.max()) + 1))
        for row, of_attribute in zip(table, terms, strict=True):
            row[: len(of_attribute)] = of_attribute
        return table

    def _make_room(self) -> None:
        keys, slots, rows = self._heap
        if self._size + len(self._top) >= len(keys):
            self._heap = _Heap(
                _doubled(keys),
                np.concatenate([slots, np.arange(len(keys), 2 * len(keys), dtype=np.int64)]),
                _doubled(rows),
            )


def _doubled(array: NDArray[Any]) -> NDArray[Any]:
    """Return an array with as much room again."""
    return np.concatenate([array, np.zeros_like(array)])


def _raised(levels: Levels, attribute: int) -> Levels:
    """Return the node one level up in an attribute."""
    return (*levels[:attribute], levels[attribute] + 1, *levels[attribute + 1 :])


@compiled
def _push(heap: _Heap, size: int, key: float, row: NDArray[np.uint16]) -> int:
    """Put a row into a heap of ``size`` rows."""
    keys, slots = heap.keys, heap.slots
    slot = slots[size]
    write(heap.rows[slot], row)
    place = size
    while place > 0 and keys[(place - 1) // 2] > key:
        keys[place], slots[place] = keys[(place - 1) // 2], slots[(place - 1) // 2]
        place = (place - 1) // 2
    keys[place], slots[place] = key, slot
    return size + 1


@called
def _pop(heap: _Heap, size: int) -> int:
    """Take the least row out of the heap; its slot becomes the first free one."""
    keys, slots = heap.keys, heap.slots
    freed = slots[0]
    size -= 1
    key, slot = keys[size], slots[size]
    place = 0
    while 2 * place + 1 < size:
        child = 2 * place + 1
        if child + 1 < size and keys[child + 1] < keys[child]:
            child += 1
        if keys[child] >= key:
            break
        keys[place], slots[place] = keys[child], slots[child]
        place = child
    keys[place], slots[place] = key, slot
    slots[size] = freed
    return size


@compiled
def _raise(
    heap: _Heap,
    size: int,
    terms: Floats,
    top: NDArray[np.uint16],
    row: NDArray[np.uint16],
    key: float,
    best: float,
) -> int:
    """Put in the nodes right above one that may be as good as the best; return the heap's size."""
    attributes = top.size
    first = row[attributes]
    total = 0.0
    for a in range(attributes):
        total += terms[a, row[a]]
    for a in range(first, attributes):
        level = row[a]
        if level < top[a]:
            higher = max(key, total - terms[a, level] + terms[a, level + 1])
            if higher <= best:
                row[a], row[attributes] = level + 1, a
                size = _push(heap, size, higher, row)
                row[a], row[attributes] = level, first
    return size


@compiled
def _take(
    heap: _Heap,
    size: int,
    terms: Floats,
    top: NDArray[np.uint16],
    excluded: _Exclusions,
    best: float,
    row: NDArray[np.uint16],
) -> tuple[int, int, float]:
    """Take nodes until one is not ruled out, and write it down; return the state, the heap's size and the key.

    What excluded a node is tried first for those right above it, and then for all others.
    """
    attributes = top.size
    order = excluded.order
    passed = 0
    key = 0.0
    # No node that is left has a key below that of the heap's first; beyond the best none is a better solution.
    while size > 0 and heap.keys[0] <= best:
        key = heap.keys[0]
        size = _pop(heap, size)
        write(row, heap.rows[heap.slots[size]])
        number = np.int64(row[attributes + 1])
        if not _excludes(excluded, number, row, best):
            place = 0
            while place < order.size:
                number = order[place]
                if _excludes(excluded, number, row, best):
                    break
                place += 1
            if place == order.size:
                return _FOUND, size, key
            order[0], order[place] = order[place], order[0]
            row[attributes + 1] = number
        # A node that is ruled out is passed over: those right above it take its place.
        size = _raise(heap, size, terms, top, row, key, best)
        passed += 1
        if passed == _PASSED_AT_ONCE or size + attributes >= heap.keys.size:
            return _PAUSED, size, key
    return _DONE, size, key


@pasted
def _excludes(excluded: _Exclusions, number: Integer, row: NDArray[np.uint16], best: float) -> bool:
    """Tell whether a node is at or below an excluded one, and scores more than the best by its terms."""
    attributes = excluded.levels.shape[1]
    a = 0
    while a < attributes and row[a] <= excluded.levels[number, a]:
        a += 1
    score = 0.0
    if a == attributes:
        for a in range(attributes):
            score += excluded.terms[number, a, row[a]]
    return score > best


@compiled
def _most_kept_close(
    starts: Integers,
    groups: Integers,
    counts: Integers,
    sizes: Integers,
    reference: Integers,
    fails: Flags,
    within: float,
) -> Integers:
    """Return how many records of each failing class can be kept within a distance of all records, at most.

    With m of them kept, at most c of each group: the distance is at least Σ max(0, R/N − c/m), which grows with m.
    """
    most = sizes.copy()
    records = float(reference.sum())
    sums = np.zeros(reference.size, np.int64)
    present = np.empty(reference.size, np.int64)
    for number in range(sizes.size):
        if not fails[number]:
            continue
        # Count the records of each group that occurs; the others lack wholly.
        distinct = 0
        lacking = records
        for i in range(starts[number], starts[number + 1]):
            if sums[groups[i]] == 0:
                present[distinct] = groups[i]
                distinct += 1
                lacking -= reference[groups[i]]
            sums[groups[i]] += counts[i]
        # Search by halves for the greatest m: ``low`` records can be kept, more than ``high`` cannot.
        low, high = 0, sizes[number]
        while low < high:
            middle = (low + high + 1) // 2
            missing = lacking * middle
            for i in range(distinct):
                missing += max(
                    0.0, float(reference[present[i]]) * middle - sums[present[i]] * records
                )
            if missing <= within * middle * records:
                low = middle
            else:
                high = middle - 1
        most[number] = low
        for i in range(distinct):
            sums[present[i]] = 0
    return most
