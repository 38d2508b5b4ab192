"""Every valid allocation as a path: a layered graph whose states are the packages that are left, and its paths counted.

Bins are filled one after the other. A state is what is left after some bins, as a code; an edge takes one of the
subsets of the next bin out of it. Allocations that leave the same packages share a state from there on, so that the
graph is small even where the allocations are many. The last bin may be *open*, without a list: it takes what is left,
if that meets its windows. Of other open bins the subsets are listed state by state.

How many allocations put a package into a bin is counted exactly, however large the numbers. Paths are counted forwards
and backwards modulo primes below 2³¹, as many as the largest possible number needs, and put together by the Chinese
remainder theorem. With μ packages of a kind, of which k_j are in bin j, there are μ! / Π k_j! ways to tell them apart;
a factor 1 / k_j! goes with each bin, and has an inverse modulo the prime.

With a weight e_j per bin an allocation counts Π e_bin(package): the posterior of an adversary who holds every entity
of the register equally likely, independently for each package.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cache
from math import factorial, log2, prod

import numpy as np

from glasshouse.arrays import Flags, Integers, Words
from glasshouse.compiled import compiled
from glasshouse.reconstruction.propagation import Domains
from glasshouse.reconstruction.subsets import subsets
from glasshouse.reconstruction.system import Budget, ListEffort, Meter

_SAMPLE = 16
"""After so many states it is clear whether the work for all of them is too much."""
_MODULO, _EDGE = 60_000, 12
"""What it costs to count modulo a prime before anything is counted, and for each edge, in units of work."""
_LARGEST_PRIME = 2**31 - 1
_DIVISORS = np.arange(3, 46_341, 2)
"""The odd numbers up to the root of the largest prime."""


@dataclass(frozen=True, eq=False)
class GraphStep:
    """The edges of one bin."""

    bin_: int
    """The bin that is filled."""
    subsets: Words
    """What it can hold."""
    source: Integers
    """Per edge, the state that it leaves."""
    subset: Integers
    """Per edge, which subset it takes."""
    target: Integers
    """Per edge, the state of the next layer that it reaches."""


@dataclass(frozen=True, eq=False)
class Graph:
    """All valid allocations of a part; every state and edge is on a path of one."""

    layers: list[Words]
    """Per layer, its states: the packages left, as codes."""
    steps: list[GraphStep]
    """Between the layers, the edges."""
    rest: int | None
    """The bin that takes what the last layer leaves; None: nothing is left there."""

    @property
    def empty(self) -> bool:
        """Whether there is no valid allocation."""
        return not len(self.layers[-1])


class TooLarge(Exception):  # noqa: N818 - never leaves the solver
    """The graph does not fit into the work or the memory that it may take."""


def graph_of(
    known: Domains, effort: ListEffort, budget: Budget, meter: Meter, most_work: int
) -> Graph:
    """Build the graph of all valid allocations of a part of which nothing is settled.

    Args:
        known: The part.
        effort: How long lists of subsets may become.
        budget: What is left of the time.
        meter: Where its work is counted.
        most_work: How much of that it may do.

    Raises:
        TooLarge: It needs more work or memory than it may take.
        OutOfTime: The time is over.
    """
    return _Builder(known, effort, budget, meter, most_work).build()


class _Builder:
    """Builds a graph layer by layer, and counts the work."""

    def __init__(
        self, known: Domains, effort: ListEffort, budget: Budget, meter: Meter, most_work: int
    ) -> None:
        self._known, self._effort, self._budget = known, effort, budget
        self._meter, self._most_work = meter, most_work
        words = known.layout.words
        self._most_edges = max(
            1000, min(budget.memory // (8 * (8 * words + 40)), budget.call // 16)
        )

    def build(self) -> Graph:
        # Layer by layer: after a bin the states are all that can be left once it and those before it are filled.
        known = self._known
        order, rest = self._order()
        layers = [known.layout.code(known.system.copies)[None, :]]
        steps = []
        for position, bin_ in enumerate(order):
            later = [*order[position + 1 :], *([] if rest is None else [rest])]
            must = np.asarray(~(known.most[:, later] > 0).any(axis=1))
            need = known.layout.field_mask(must)
            if known.lists[bin_] is not None:
                step, states = self._from_list(bin_, layers[-1], need)
            else:
                last = rest if later == [rest] else None
                step, states = self._state_by_state(bin_, layers[-1], need, last)
            self._most_edges -= len(step.source)
            steps.append(step)
            layers.append(states)
            if not len(states):
                break
        # Paths through what remains after trimming are the valid allocations, each once (docs/totals.md, "How it is
        # solved", 3).
        return _trimmed(layers, steps, rest, self._valid_rest(layers[-1], rest))

    def _order(self) -> tuple[list[int], int | None]:
        """Choose the next bin by the length of its list, less what it must take because no later bin can."""
        known = self._known
        open_bins = sorted(known.open_bins, key=lambda b: int(known.most[:, b].sum()))
        lengths = {b: len(codes) for b, codes in enumerate(known.lists) if codes is not None}
        can_hold = known.most > 0

        def steps(bin_: int) -> float:
            later = [b for b in (*lengths, *open_bins) if b != bin_]
            must = can_hold[:, bin_] & ~can_hold[:, later].any(axis=1)
            return float(np.log2(lengths[bin_]) - must.sum())

        order: list[int] = []
        while lengths:
            order.append(min(lengths, key=lambda b: (steps(b), b)))
            del lengths[order[-1]]
        rest = open_bins.pop() if open_bins else None
        return [*order, *open_bins], rest

    def _spend(self, work: int) -> None:
        if work > self._most_work:
            raise TooLarge
        self._most_work -= work
        self._meter.spend(work)
        self._budget.check()

    def _from_list(self, bin_: int, states: Words, need: Words) -> tuple[GraphStep, Words]:
        codes = self._known.lists[bin_]
        assert codes is not None  # noqa: S101 - for the type checker
        layout = self._known.layout
        # Only subsets that take all that no later bin can take fit a state: look them up by a key of those kinds.
        keys, list_keys = _hashed(states, need), _hashed(codes, need)
        by_key = np.argsort(list_keys, kind="stable")
        list_keys = list_keys[by_key]
        first = np.searchsorted(list_keys, keys, side="left")
        last = np.searchsorted(list_keys, keys, side="right")
        work = np.cumsum(last - first)
        self._spend(len(states) + len(codes) + int(work[-1]))
        edge_lists = []
        begin, edges = 0, 0
        while begin < len(states):
            done = int(work[begin - 1]) if begin else 0
            end = max(begin + 1, int(np.searchsorted(work, done + self._budget.call)))
            self._budget.check()
            source, subset, fits = _fitting(
                states, codes, by_key, first, last, begin, end, need,
                layout.single, layout.guard, self._most_edges - edges,
            )  # fmt: skip
            if not fits:
                raise TooLarge
            edges += len(source)
            edge_lists.append((source, subset))
            begin = end
        source, subset = (np.concatenate(part) for part in zip(*edge_lists, strict=True))
        after = states[source] - codes[subset]
        target, number = _numbered(after)
        return GraphStep(bin_, codes, source, subset, target), _first_of_each(after, target, number)

    def _state_by_state(
        self, bin_: int, states: Words, need: Words, last: int | None
    ) -> tuple[GraphStep, Words]:
        known, layout = self._known, self._known.layout
        system = known.system
        remaining = layout.counts(states)
        must = ((layout.mask << layout.shift) & need[layout.word]) != 0
        joint = last is not None and not system.spared[[bin_, last]].any()
        lists, source = [np.zeros((0, layout.words), np.uint64)], [np.zeros(0, np.int64)]
        total, allowed = 0, self._most_work
        for state, counts in enumerate(remaining):
            spent = allowed - self._most_work
            if state >= _SAMPLE and spent * len(remaining) > allowed * state:
                raise TooLarge
            most = np.minimum(counts, known.most[:, bin_])
            least = np.where(must, counts, 0)
            low, high = system.low[bin_], system.high[bin_]
            if joint and last is not None:
                whole = counts @ system.weights
                low = np.maximum(low, whole - system.high[last])
                high = np.minimum(high, whole - system.low[last])
            if (least > most).any() or (low > high).any():
                self._spend(1)
                continue
            codes, work, _ = subsets(
                system, layout, bin_, least, most, self._effort, window=(low, high)
            )
            # A call costs as much as some thousand pairs before it looks at the first.
            self._spend(work + 8_000)
            if codes is None or total > self._most_edges:
                raise TooLarge
            lists.append(codes)
            source.append(np.full(len(codes), state))
            total += len(codes)
        codes, origin = np.concatenate(lists), np.concatenate(source)
        subset, number = _numbered(codes)
        after = states[origin] - codes
        target, reached = _numbered(after)
        step = GraphStep(bin_, _first_of_each(codes, subset, number), origin, subset, target)
        return step, _first_of_each(after, target, reached)

    def _valid_rest(self, states: Words, rest: int | None) -> Flags:
        """Tell which states of the last layer end a valid allocation."""
        if rest is None or not len(states):
            return np.asarray(~states.any(axis=1))
        layout, system = self._known.layout, self._known.system
        counts = layout.counts(states)
        sums = counts @ system.weights
        valid = ((sums >= system.low[rest]) & (sums <= system.high[rest])).all(axis=1)
        if system.spared[rest]:
            valid |= ~counts.any(axis=1)
        return np.asarray(valid & (counts <= self._known.most[:, rest]).all(axis=1))


def _first_of_each(codes: Words, number_of: Integers, count: int) -> Words:
    """Return the distinct codes in the order of their numbers."""
    distinct = np.empty((count, codes.shape[1]), np.uint64)
    distinct[number_of] = codes
    return distinct


def _trimmed(layers: list[Words], steps: list[GraphStep], rest: int | None, valid: Flags) -> Graph:
    """Leave out states and edges from which no valid allocation is reached."""
    kept_layers, kept_steps = [layers[-1][valid]], []
    alive = valid
    for step, states in zip(reversed(steps), reversed(layers[:-1]), strict=True):
        edges = alive[step.target]
        before = np.zeros(len(states), bool)
        before[step.source[edges]] = True
        old, new = np.cumsum(before) - 1, np.cumsum(alive) - 1
        kept_steps.append(
            GraphStep(
                step.bin_,
                step.subsets,
                old[step.source[edges]],
                step.subset[edges],
                new[step.target[edges]],
            )
        )
        kept_layers.append(states[before])
        alive = before
    return Graph(kept_layers[::-1], kept_steps[::-1], rest)


@compiled
def _mixed(word: np.uint64) -> np.uint64:
    """Scatter the bits of a word (the finaliser of SplitMix64)."""
    word = (word ^ (word >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    word = (word ^ (word >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return word ^ (word >> np.uint64(31))


@compiled
def _hashed(codes: Words, mask: Words) -> Words:
    """Return a key per code, the same for codes that agree under the mask."""
    keys = np.empty(codes.shape[0], np.uint64)
    for row in range(codes.shape[0]):
        key = np.uint64(0)
        for word in range(codes.shape[1]):
            key = _mixed(key + (codes[row, word] & mask[word]) + np.uint64(0x9E3779B97F4A7C15))
        keys[row] = key
    return keys


@compiled
def _fitting(
    states: Words,
    codes: Words,
    by_key: Integers,
    first: Integers,
    last: Integers,
    begin: int,
    end: int,
    need: Words,
    single: Words,
    guard: Words,
    most_edges: int,
) -> tuple[Integers, Integers, bool]:
    """Find the subsets that each state still has; of the kinds under `need` all that is left must be taken."""
    words = states.shape[1]
    # Room for the longest list: what is not written takes no memory, and a loop that could replace it would be slow.
    room = 1024
    while room < most_edges:
        room *= 4
    room = min(room, np.sum(last[begin:end] - first[begin:end]))
    source, subset = np.empty(room, np.int64), np.empty(room, np.int64)
    size = 0
    for state in range(begin, end):
        for place in range(first[state], last[state]):
            code = by_key[place]
            fits = True
            for word in range(words):
                # Single packages must be there, needed ones must all go, and no field may borrow from its guard bit.
                there, taken = states[state, word], codes[code, word]
                if taken & ~there & single[word] or (there ^ taken) & need[word]:
                    fits = False
                    break
                if guard[word] and ((there | guard[word]) - taken) & guard[word] != guard[word]:
                    fits = False
                    break
            if fits:
                if size == room:
                    return source[:0], subset[:0], False
                source[size], subset[size] = state, code
                size += 1
    return source[:size].copy(), subset[:size].copy(), True


@compiled
def _numbered(codes: Words) -> tuple[Integers, int]:
    """Number the distinct codes in the order in which they first appear."""
    # A table of at least twice as many slots: looking on from slot to slot ends at an empty one soon.
    size = 16
    while size < 2 * codes.shape[0]:
        size *= 2
    table = np.full(size, -1, np.int64)
    first = np.empty(codes.shape[0], np.int64)
    number_of = np.empty(codes.shape[0], np.int64)
    count = 0
    for row in range(codes.shape[0]):
        key = np.uint64(0)
        for word in range(codes.shape[1]):
            key = _mixed(key + codes[row, word] + np.uint64(0x9E3779B97F4A7C15))
        slot = np.int64(key & np.uint64(size - 1))
        while True:
            number = table[slot]
            if number < 0:
                table[slot] = count
                first[count] = row
                number_of[row] = count
                count += 1
                break
            same = True
            for word in range(codes.shape[1]):
                if codes[first[number], word] != codes[row, word]:
                    same = False
                    break
            if same:
                number_of[row] = number
                break
            slot = (slot + 1) & (size - 1)
    return number_of, count


def allocations_covering(graph: Graph, known: Domains) -> list[Integers]:
    """Return allocations, packages of each kind per bin, that together show every pair of kind and bin that occurs."""
    if graph.empty:
        return []
    into, out_of = _one_edge_each(graph)
    seen = np.zeros((known.system.kinds, known.system.bins), bool)
    allocations: list[Integers] = []
    for bin_, position, edges, codes in _subsets_by_bin(graph, into):
        holds = known.layout.counts(codes) > 0
        for kind in np.flatnonzero(holds.any(axis=0)):
            if not seen[kind, bin_]:
                edge = int(edges[np.argmax(holds[:, kind])])
                allocations.append(_path(graph, known, into, out_of, position, edge))
                seen |= allocations[-1] > 0
    return allocations


def _subsets_by_bin(
    graph: Graph, into: list[Integers]
) -> Iterator[tuple[int, int, Integers, Words]]:
    """Yield each bin with its step, and an edge for each of the subsets that it holds on some path."""
    for position, step in enumerate(graph.steps):
        edges = np.unique(step.subset, return_index=True)[1]
        yield step.bin_, position, edges, step.subsets[step.subset[edges]]
    if graph.rest is not None:
        yield graph.rest, len(graph.steps) - 1, into[-1], graph.layers[-1]


def _one_edge_each(graph: Graph) -> tuple[list[Integers], list[Integers]]:
    """Return for each state of each layer an edge that reaches it (but the first layer), and one that leaves it."""
    into, out_of = [], []
    for step, before, after in zip(graph.steps, graph.layers, graph.layers[1:], strict=False):
        edges = np.arange(len(step.source))
        arriving, leaving = np.zeros(len(after), np.int64), np.zeros(len(before), np.int64)
        arriving[step.target[::-1]] = edges[::-1]
        leaving[step.source[::-1]] = edges[::-1]
        into.append(arriving)
        out_of.append(leaving)
    return into, out_of


def _path(
    graph: Graph,
    known: Domains,
    into: list[Integers],
    out_of: list[Integers],
    position: int,
    edge: int,
) -> Integers:
    """Return the allocation of a path through an edge."""
    layout, system = known.layout, known.system
    allocation = np.zeros((system.kinds, system.bins), np.int64)
    edges = {position: edge}
    for before in range(position - 1, -1, -1):
        edges[before] = int(into[before][graph.steps[before + 1].source[edges[before + 1]]])
    for after in range(position + 1, len(graph.steps)):
        edges[after] = int(out_of[after][graph.steps[after - 1].target[edges[after - 1]]])
    for place, taken in edges.items():
        step = graph.steps[place]
        code = step.subsets[step.subset[taken]][None, :]
        allocation[:, step.bin_] = layout.counts(code)[0]
    if graph.rest is not None:
        allocation[:, graph.rest] = system.copies - allocation.sum(axis=1)
    return allocation


# -- counting the paths ----------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class AllocationCounts:
    """What was counted in a part."""

    total: int
    """The number of allocations, or the sum of their weights."""
    shares: list[list[Fraction]]
    """Per kind and bin, the share of a package of the kind that is in the bin."""


def allocation_counts(
    graph: Graph,
    known: Domains,
    *,
    copies: Integers,
    settled: Integers,
    budget: Budget,
    weights: Sequence[int] | None = None,
) -> AllocationCounts:
    """Count the allocations of a graph that has at least one.

    The number is Σ over allocations of Π copies! / Π (packages in each bin of the part)!.

    Args:
        graph: All allocations of the part.
        known: The part.
        copies: Per kind, how many packages of it the whole instance has.
        settled: Per kind and bin of the part, how many packages are settled there, beside those of the part.
        budget: What is left of the time.
        weights: Per bin, what a package in it counts; None: 1.

    Raises:
        OutOfTime: The time is over.
    """
    bins = known.system.bins
    worth = [1] * bins if weights is None else list(weights)
    number = int(_bits(known, copies, settled, worth) // 30.9) + 1
    primes = [_prime(place) for place in range(number)]
    residues = []
    work = _count_work(graph, known)
    for prime in primes:
        budget.check()
        budget.spend(work)
        residues.append(_modulo(graph, known, copies, settled, worth, prime))
    totals, tables = zip(*residues, strict=True)
    # The Chinese remainder theorem: each remainder counts by a factor that is 1 modulo its prime and 0 modulo others.
    modulus = prod(primes)
    factors = [modulus // prime * pow(modulus // prime, -1, prime) for prime in primes]
    total = sum(map(int.__mul__, factors, totals)) % modulus
    in_bins = np.stack(tables).astype(object)
    packages = sum(f * table for f, table in zip(factors, in_bins, strict=True)) % modulus
    packages = packages + settled.astype(object) * total
    shares = [
        [Fraction(number, total * copies_of_kind) for number in row]
        for row, copies_of_kind in zip(packages.tolist(), copies.tolist(), strict=True)
    ]
    return AllocationCounts(total, shares)


def _count_work(graph: Graph, known: Domains) -> int:
    """Return what it costs to count modulo one prime, in units of work."""
    edges = sum(len(step.source) for step in graph.steps)
    codes = sum(len(step.subsets) for step in graph.steps) + len(graph.layers[-1])
    return _MODULO + _EDGE * edges + 2 * codes * known.system.kinds


def _bits(known: Domains, copies: Integers, settled: Integers, weights: Sequence[int]) -> float:
    """Return how many bits the largest possible number has: each package in any of its bins, or elsewhere."""
    there = (known.most > 0) | (settled > 0)
    ways = [
        1 + sum(w for w, can in zip(weights, row, strict=True) if can) for row in there.tolist()
    ]
    largest = int(copies.max())
    bits: float = sum(n * log2(w) for n, w in zip(copies.tolist(), ways, strict=True))
    return bits + log2(largest) + 2


@cache
def _prime(number: int) -> int:
    """Return one of the primes below 2³¹, counted from the largest: no odd number up to its root divides it."""
    candidate = _LARGEST_PRIME if number == 0 else _prime(number - 1) - 2
    while not (candidate % _DIVISORS).all():
        candidate -= 2
    return candidate


def _modulo(
    graph: Graph,
    known: Domains,
    copies: Integers,
    settled: Integers,
    weights: Sequence[int],
    prime: int,
) -> tuple[int, Integers]:
    """Return the number of allocations, and of packages of each kind in each bin over all of them, modulo a prime."""
    # What each subset weighs: the ways to tell its packages apart, and the weights of its bin.
    layout = known.layout
    subset_weights, subset_counts = [], []
    for bin_, codes in [
        *((step.bin_, step.subsets) for step in graph.steps),
        *([] if graph.rest is None else [(graph.rest, graph.layers[-1])]),
    ]:
        counts = layout.counts(codes)
        subset_counts.append(counts)
        subset_weights.append(_ways(counts, settled[:, bin_], copies, weights[bin_], prime))
    # Backwards: from each state, the weighted number of ways to the end.
    ends = np.ones(1, np.int64) if graph.rest is None else subset_weights[-1]
    edge_weights = [w[step.subset] for w, step in zip(subset_weights, graph.steps, strict=False)]
    backward = [ends]
    for step, weight, states in zip(
        reversed(graph.steps), reversed(edge_weights), reversed(graph.layers[:-1]), strict=True
    ):
        backward.append(
            _carried(step.target, step.source, weight, backward[-1], len(states), prime)
        )
    backward.reverse()
    # Forwards: to each state; what goes through a subset counts for the packages in it.
    forward = np.ones(1, np.int64)
    packages = np.zeros(settled.shape, np.int64)
    for position, (step, weight) in enumerate(zip(graph.steps, edge_weights, strict=True)):
        through = _through(step.source, step.subset, step.target, weight, forward,
                           backward[position + 1], len(step.subsets), prime)  # fmt: skip
        packages[:, step.bin_] = _weighed(subset_counts[position], through, prime)
        reached = len(graph.layers[position + 1])
        forward = _carried(step.source, step.target, weight, forward, reached, prime)
    if graph.rest is not None:
        packages[:, graph.rest] = _weighed(subset_counts[-1], forward * ends % prime, prime)
    arrangements = prod(factorial(number) % prime for number in copies.tolist()) % prime
    return int(backward[0][0]) * arrangements % prime, packages * arrangements % prime


def _ways(
    counts: Integers, settled: Integers, copies: Integers, weight: int, prime: int
) -> Integers:
    """Return per subset weight^packages / Π (packages of a kind in the bin)!, modulo a prime."""
    packages = counts.sum(axis=1)
    powers = [pow(weight, number, prime) for number in range(int(packages.max(initial=0)) + 1)]
    ways = np.array(powers, np.int64)[packages]
    for kind in np.flatnonzero(copies > 1):
        inverses = [pow(factorial(k), -1, prime) for k in range(int(copies[kind]) + 1)]
        ways = ways * np.array(inverses, np.int64)[counts[:, kind] + settled[kind]] % prime
    return np.asarray(ways)


@compiled
def _carried(
    start: Integers, end: Integers, weight: Integers, values: Integers, size: int, prime: int
) -> Integers:
    """Carry values along edges and add them up where edges end."""
    sums = np.zeros(size, np.int64)
    for edge in range(start.size):
        sums[end[edge]] = (sums[end[edge]] + values[start[edge]] * weight[edge]) % prime
    return sums


@compiled
def _through(
    source: Integers,
    subset: Integers,
    target: Integers,
    weight: Integers,
    forward: Integers,
    backward: Integers,
    size: int,
    prime: int,
) -> Integers:
    """Return the number of paths that take each subset."""
    sums = np.zeros(size, np.int64)
    for edge in range(source.size):
        paths = forward[source[edge]] * weight[edge] % prime * backward[target[edge]] % prime
        sums[subset[edge]] = (sums[subset[edge]] + paths) % prime
    return sums


@compiled
def _weighed(counts: Integers, paths: Integers, prime: int) -> Integers:
    """Add up the packages of each kind over paths."""
    sums = np.zeros(counts.shape[1], np.int64)
    for subset in range(counts.shape[0]):
        if paths[subset]:
            for kind in range(counts.shape[1]):
                sums[kind] = (sums[kind] + counts[subset, kind] * paths[subset]) % prime
    return sums
