"""The compiled loops of linkage: from counts to rows of a stochastic channel, and from rows to vulnerabilities.

A *row* says, for focal records with the same keys, how likely each observation of one auxiliary dataset is. A *group*
is all focal records alike on the quasi-identifiers, the secret and the rows that they lead to; nothing else matters.
A *node* is what has been observed so far, with the groups that can have caused it. Nodes are split by one auxiliary
dataset after the other; at the last one the secrets are compared. Where rows hold integers, a chance is an integer over
the product of its rows' totals: what doubles cannot tell apart is compared in integers.
"""

from __future__ import annotations

from collections import defaultdict
from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from glasshouse.arrays import Flags, Floats, Integer, Integers
from glasshouse.compiled import lean_compiled, lean_inlined

LARGEST = 1 << 62
"""No integer that takes part in a product or a sum may reach this."""

_ROUNDING = 2.0**-50
"""Eight times the relative error of one operation on doubles."""

# As in `sweep_kernel`, all is lean.


class Tallies(NamedTuple):
    """Of an auxiliary dataset: per class of records alike on some keys, how often each observation occurs."""

    starts: Integers
    """Per class, where its observations begin; one more entry closes the last."""
    observations: NDArray[np.uint32]
    """The observations of each class."""
    counts: Integers
    """How many records of the class show them."""


class LinkedRows(NamedTuple):
    """Rows of the channel: P(observation | row) is weight / total. Row 0 says nothing: one observation, for sure."""

    starts: Integers
    """Per row, where its cells begin; one more entry closes the last."""
    observations: NDArray[np.uint32]
    """The observation of each cell."""
    weights: NDArray[Any]
    """How likely it is, up to the total: integers, or doubles."""
    totals: NDArray[Any]
    """Per row, the sum of its weights."""


class LinkedGroups(NamedTuple):
    """Focal records alike on the quasi-identifiers, on the secret, and on the rows that they lead to."""

    starts: Integers
    """Per class on the quasi-identifiers, where its groups begin; one more entry closes the last."""
    secrets: NDArray[np.uint32]
    """The secret of each group; within a class, groups with the same secret stand together."""
    holders: Integers
    """How many secrets a group holds: one value, or as many records as are in it."""
    links: NDArray[np.uint32]
    """Per auxiliary dataset (row) and group (column), the group's row of the channel."""
    weights: NDArray[Any]
    """What the group adds to its secret: integers, or doubles."""
    records: Integers
    """How many records are in it."""


class Nodes(NamedTuple):
    """What has been observed so far, and the groups that can have caused it, those with the same secret together."""

    starts: Integers
    """Per node, where its groups begin; one more entry closes the last."""
    groups: Integers
    """The groups of each node."""
    tops: NDArray[Any]
    """Per group in a node, its weight times the weights of the cells that led there."""
    bottoms: NDArray[Any]
    """The product of the totals of their rows."""
    alike: Integers
    """Per node, how many observations say the same and are treated as this one; at most `LARGEST`."""

    def between(self, begin: int, end: int) -> Nodes:
        """Return some of the nodes."""
        part = slice(self.starts[begin], self.starts[end])
        return Nodes(
            self.starts[begin : end + 1] - self.starts[begin],
            self.groups[part],
            self.tops[part],
            self.bottoms[part],
            self.alike[begin:end],
        )


class Gains(NamedTuple):
    """What `measure` finds out about groups in nodes."""

    won: NDArray[Any]
    """Per group in a node, what best guesses win, times its bottom."""
    sure: NDArray[Any]
    """The same of guesses that are certain."""
    bottoms: NDArray[Any]
    """What both are to be divided by."""
    exposed: Flags
    """Whether every observation makes its secret certain."""
    counts: Integers
    """Possible observations, at most `LARGEST`; and observations whose best guess 64 bits could not settle."""
    unsettled: Integers
    """The first of these: node, observation, and the place of the guess that was taken."""


class _Desk(NamedTuple):
    """Per observation, what is known of it in the node that is being measured."""

    clock: Integers
    in_run: Integers
    in_node: Integers
    current: Floats
    best: Floats
    winner: Integers
    reached: Integers
    near: NDArray[np.int8]
    top: Integers
    bottom: Integers
    best_top: Integers
    best_bottom: Integers
    run: NDArray[np.uint32]
    node: NDArray[np.uint32]


def weigh_rows(
    matches: Integers,
    tallies: Tallies,
    factors: NDArray[Any],
    possible: Flags,
    rows: LinkedRows,
) -> int:
    """Fill rows with the weight of each observation: Σ over patterns of agreement of factor · records.

    Per subset T of the keys that may change, `tallies` counts the records that agree on T at least. Taking differences
    from the full set down (inclusion and exclusion) leaves those that agree on T and nothing else: integers, so that
    what is impossible is known for certain, and all terms are positive.

    Args:
        matches: Per row and subset of keys (a bitmask), the class of auxiliary records that agree.
        tallies: The observations of each class.
        factors: Per pattern of agreement (a bitmask), the weight of a record with it.
        possible: Per pattern, whether its weight is positive, even where ``factors`` holds a part of it only.
        rows: Takes the result; what nobody can cause is left out.

    Returns:
        The number of cells that were filled.
    """
    longest = int(np.diff(tallies.starts)[matches[:, 0]].max())
    place = np.empty(int(tallies.observations.max()) + 1, np.int64)
    counts = np.empty((longest, len(factors)), np.int64)
    return int(_weigh_rows(matches, tallies, factors, possible, rows, place, counts))


@lean_compiled
def _weigh_rows(
    matches: Integers,
    tallies: Tallies,
    factors: NDArray[Any],
    possible: Flags,
    rows: LinkedRows,
    place: Integers,
    counts: Integers,
) -> int:
    filled = 0
    for row in range(matches.shape[0]):
        begin, end = tallies.starts[matches[row, 0]], tallies.starts[matches[row, 0] + 1]
        for i in range(begin, end):
            place[tallies.observations[i]] = i - begin
            for subset in range(factors.size):
                counts[i - begin, subset] = 0
        for subset in range(factors.size):
            match = matches[row, subset]
            for i in range(tallies.starts[match], tallies.starts[match + 1]):
                counts[place[tallies.observations[i]], subset] = tallies.counts[i]
        rows.starts[row] = filled
        total = factors[0] * 0
        for i in range(begin, end):
            bit = 1
            while bit < factors.size:
                for subset in range(factors.size):
                    if not subset & bit:
                        counts[i - begin, subset] -= counts[i - begin, subset | bit]
                bit *= 2
            weight = factors[0] * 0
            able = False
            for subset in range(factors.size):
                weight += factors[subset] * counts[i - begin, subset]
                able = able or (possible[subset] and counts[i - begin, subset] > 0)
            if able:
                rows.observations[filled] = tallies.observations[i]
                rows.weights[filled] = weight
                total += weight
                filled += 1
        rows.totals[row] = total
    rows.starts[matches.shape[0]] = filled
    return filled


def first_nodes(groups: LinkedGroups, rows: LinkedRows) -> Nodes:
    """Return a node per class of the focal dataset: nothing of the auxiliary ones has been observed."""
    return Nodes(
        starts=groups.starts,
        groups=np.arange(len(groups.secrets)),
        tops=groups.weights,
        bottoms=np.ones(len(groups.secrets), rows.totals.dtype),
        alike=np.ones(len(groups.starts) - 1, np.int64),
    )


def cells(nodes: Nodes, level: int, groups: LinkedGroups, rows: LinkedRows) -> Integers:
    """Return, per node, how many pairs of a group and an observation of one auxiliary dataset there are."""
    counts = np.empty(len(nodes.alike), np.int64)
    _cells(nodes.starts, nodes.groups, groups.secrets, groups.links[level], rows.starts, counts)
    return counts


@lean_compiled
def _cells(
    starts: Integers,
    members: Integers,
    secrets: NDArray[np.uint32],
    links: NDArray[np.uint32],
    row_starts: Integers,
    counts: Integers,
) -> None:
    for number in range(counts.size):
        begin, end = starts[number], starts[number + 1]
        counts[number] = end - begin
        if not _settled(begin, end, members, secrets) and not _together(begin, end, members, links):
            counts[number] = 0
            for e in range(begin, end):
                row = links[members[e]]
                counts[number] += row_starts[row + 1] - row_starts[row]


@lean_inlined
def _settled(begin: Integer, end: Integer, members: Integers, secrets: NDArray[np.uint32]) -> Any:
    """Tell whether several groups all have the same secret."""
    return end - begin > 1 and secrets[members[begin]] == secrets[members[end - 1]]


@lean_inlined
def _together(begin: Integer, end: Integer, members: Integers, links: NDArray[np.uint32]) -> Any:
    """Tell whether all groups lead to the same row: its observations tell them no further apart."""
    e = begin + 1
    while e < end and links[members[e]] == links[members[begin]]:
        e += 1
    return e == end


@lean_inlined
def _times(one: Integer, other: Integer) -> Any:
    """Multiply, but stay at `LARGEST`."""
    return np.int64(LARGEST) if one >= LARGEST // other else np.int64(one * other)


def split(nodes: Nodes, level: int, groups: LinkedGroups, rows: LinkedRows) -> Nodes:
    """Split each node by what one auxiliary dataset shows; where it tells nothing, the node stays."""
    size = int(cells(nodes, level, groups, rows).sum())
    seen = np.zeros(int(rows.observations.max()) + 1, np.int64)
    place = np.empty(len(seen), np.int64)
    children = Nodes(
        starts=np.zeros(size + 1, np.int64),
        groups=np.empty(size, np.int64),
        tops=np.empty(size, nodes.tops.dtype),
        bottoms=np.empty(size, nodes.bottoms.dtype),
        alike=np.empty(size, np.int64),
    )
    count = _split(nodes, groups.secrets, groups.links[level], rows, seen, place, children)
    return children._replace(starts=children.starts[: count + 1], alike=children.alike[:count])


@lean_compiled
def _split(
    nodes: Nodes,
    secrets: NDArray[np.uint32],
    links: NDArray[np.uint32],
    rows: LinkedRows,
    seen: Integers,
    place: Integers,
    made: Nodes,
) -> int:
    count = 0
    filled = 0
    for number in range(nodes.alike.size):
        begin, end = nodes.starts[number], nodes.starts[number + 1]
        stays = _settled(begin, end, nodes.groups, secrets)
        if stays or _together(begin, end, nodes.groups, links):
            row = links[nodes.groups[begin]]
            length = 1 if stays else rows.starts[row + 1] - rows.starts[row]
            made.alike[count] = _times(nodes.alike[number], length)
            for e in range(begin, end):
                made.groups[filled] = nodes.groups[e]
                made.tops[filled] = nodes.tops[e]
                made.bottoms[filled] = nodes.bottoms[e]
                filled += 1
            count += 1
            made.starts[count] = filled
            continue
        for e in range(begin, end):
            row = links[nodes.groups[e]]
            for cell in range(rows.starts[row], rows.starts[row + 1]):
                seen[rows.observations[cell]] += 1
        for e in range(begin, end):
            row = links[nodes.groups[e]]
            bottom = nodes.bottoms[e] * rows.totals[row]
            for cell in range(rows.starts[row], rows.starts[row + 1]):
                y = rows.observations[cell]
                if seen[y] > 0:  # its first group: a new node
                    place[y] = filled
                    filled += seen[y]
                    seen[y] = 0
                    made.alike[count] = nodes.alike[number]
                    count += 1
                    made.starts[count] = filled
                spot = place[y]
                place[y] = spot + 1
                made.groups[spot] = nodes.groups[e]
                made.tops[spot] = nodes.tops[e] * rows.weights[cell]
                made.bottoms[spot] = bottom
    return count


def measure(
    nodes: Nodes, level: int, groups: LinkedGroups, rows: LinkedRows, most_unsettled: int
) -> Gains:
    """Find, per node and observation of the last auxiliary dataset, the best guess, and what each group wins by it.

    A guess is best in doubles, or, where these are too close, in fractions of 64-bit integers; where these do not hold
    the fractions, the guess that was taken is noted, for ``most_unsettled`` observations at most.
    """
    size = len(nodes.groups)
    gains = Gains(
        won=np.zeros(size, nodes.tops.dtype),
        sure=np.zeros(size, nodes.tops.dtype),
        bottoms=np.empty(size, nodes.bottoms.dtype),
        exposed=np.ones(size, np.bool_),
        counts=np.zeros(2, np.int64),
        unsettled=np.empty((most_unsettled, 3), np.int64),
    )
    exact = nodes.tops.dtype == np.int64
    _measure(nodes, groups, groups.links[level], rows, _desk(rows), gains, exact)
    return gains


def shortfall(
    nodes: Nodes, case: Integers, level: int, groups: LinkedGroups, rows: LinkedRows
) -> Fraction:
    """Return by how much the best guess of an unsettled observation beats the one that was taken: mostly, they tie."""
    number, observation, taken = case.tolist()
    members = nodes.groups[nodes.starts[number] : nodes.starts[number + 1]]
    links = groups.links[level][members]
    if np.all(links == links[0]):
        links = np.zeros_like(links)
    weights: dict[int, Fraction] = defaultdict(Fraction)
    for e, (group, row) in enumerate(zip(members, links, strict=True), nodes.starts[number]):
        begin, end = rows.starts[row], rows.starts[row + 1]
        for cell in begin + np.flatnonzero(rows.observations[begin:end] == observation):
            top = int(nodes.tops[e]) * int(rows.weights[cell])
            bottom = int(nodes.bottoms[e]) * int(rows.totals[row])
            weights[groups.secrets[group]] += Fraction(top, bottom)
    return max(weights.values()) - weights[groups.secrets[nodes.groups[taken]]]


def _desk(rows: LinkedRows) -> _Desk:
    size = int(rows.observations.max()) + 1
    return _Desk(
        clock=np.zeros(1, np.int64),
        in_run=np.zeros(size, np.int64),
        in_node=np.zeros(size, np.int64),
        current=np.empty(size),
        best=np.empty(size),
        winner=np.empty(size, np.int64),
        reached=np.empty(size, np.int64),
        near=np.empty(size, np.int8),
        top=np.empty(size, np.int64),
        bottom=np.empty(size, np.int64),
        best_top=np.empty(size, np.int64),
        best_bottom=np.empty(size, np.int64),
        run=np.empty(size, np.uint32),
        node=np.empty(size, np.uint32),
    )


@lean_compiled
def _measure(
    nodes: Nodes,
    groups: LinkedGroups,
    links: NDArray[np.uint32],
    rows: LinkedRows,
    desk: _Desk,
    gains: Gains,
    exact: bool,
) -> None:
    for number in range(nodes.alike.size):
        begin, end = nodes.starts[number], nodes.starts[number + 1]
        if _settled(begin, end, nodes.groups, groups.secrets):
            for e in range(begin, end):
                gains.won[e] = gains.sure[e] = nodes.tops[e]
                gains.bottoms[e] = nodes.bottoms[e]
            continue
        alike = nodes.alike[number]
        telling = not _together(begin, end, nodes.groups, links)
        if not telling:
            row = links[nodes.groups[begin]]
            alike = _times(alike, rows.starts[row + 1] - rows.starts[row])
        rounding = _ROUNDING * (end - begin + 8)
        desk.clock[0] += 1
        now = desk.clock[0]
        seen, close = 0, False
        run = begin
        while run < end:
            next_run = _run_end(run, end, nodes.groups, groups.secrets)
            in_run = _add_run(run, next_run, telling, nodes, links, rows, desk)
            holders = groups.holders[nodes.groups[run]]
            for i in range(in_run):
                y = desk.run[i]
                value = desk.current[y]
                if desk.in_node[y] != now:
                    desk.in_node[y] = now
                    desk.node[seen] = y
                    seen += 1
                    desk.best[y] = value
                    desk.winner[y] = run
                    desk.reached[y] = holders
                    desk.near[y] = 0
                    continue
                desk.reached[y] += holders
                if value > desk.best[y] * (1 + rounding):
                    desk.near[y] = 0
                elif value >= desk.best[y] * (1 - rounding):
                    desk.near[y] = 1
                    close = True
                if value > desk.best[y]:
                    desk.best[y] = value
                    desk.winner[y] = run
            run = next_run
        if exact and close:
            for i in range(seen):
                desk.best_bottom[desk.node[i]] = 0
            _settle(number, telling, nodes, groups, links, rows, desk, gains)
        gains.counts[0] = min(LARGEST, gains.counts[0] + _times(alike, seen))
        _collect(begin, end, telling, nodes, groups, links, rows, desk, gains)


@lean_inlined
def _run_end(run: Integer, end: Integer, members: Integers, secrets: NDArray[np.uint32]) -> Any:
    """Return where the groups with the secret of the first end."""
    e = run + 1
    while e < end and secrets[members[e]] == secrets[members[run]]:
        e += 1
    return e


@lean_inlined
def _add_run(
    begin: Integer,
    end: Integer,
    telling: bool,
    nodes: Nodes,
    links: NDArray[np.uint32],
    rows: LinkedRows,
    desk: _Desk,
) -> Any:
    """Add up the weight of one secret per observation, in doubles; return how many observations it has."""
    desk.clock[0] += 1
    now = desk.clock[0]
    seen = 0
    for e in range(begin, end):
        row = links[nodes.groups[e]] if telling else np.uint32(0)
        scale = np.float64(nodes.tops[e]) / np.float64(nodes.bottoms[e] * rows.totals[row])
        for cell in range(rows.starts[row], rows.starts[row + 1]):
            y = rows.observations[cell]
            if desk.in_run[y] != now:
                desk.in_run[y] = now
                desk.run[seen] = y
                seen += 1
                desk.current[y] = 0
            desk.current[y] += scale * rows.weights[cell]
    return seen


@lean_inlined
def _settle(
    number: Integer,
    telling: bool,
    nodes: Nodes,
    groups: LinkedGroups,
    links: NDArray[np.uint32],
    rows: LinkedRows,
    desk: _Desk,
    gains: Gains,
) -> None:
    """Where doubles are too close to tell the best guess, add up and compare fractions of integers."""
    begin, end = nodes.starts[number], nodes.starts[number + 1]
    rounding = 2 * _ROUNDING * (end - begin + 8)
    run = begin
    while run < end:
        next_run = _run_end(run, end, nodes.groups, groups.secrets)
        in_run = _add_run(run, next_run, telling, nodes, links, rows, desk)
        for i in range(in_run):
            desk.top[desk.run[i]] = 0
            desk.bottom[desk.run[i]] = 1
        for e in range(run, next_run):
            row = links[nodes.groups[e]] if telling else np.uint32(0)
            for cell in range(rows.starts[row], rows.starts[row + 1]):
                y = rows.observations[cell]
                if desk.near[y] == 1 and desk.bottom[y] > 0:
                    top = np.int64(nodes.tops[e] * rows.weights[cell])
                    bottom = np.int64(nodes.bottoms[e] * rows.totals[row])
                    desk.top[y], desk.bottom[y] = _plus(desk.top[y], desk.bottom[y], top, bottom)
        for i in range(in_run):
            y = desk.run[i]
            if desk.near[y] != 1 or desk.current[y] < desk.best[y] * (1 - rounding):
                continue
            if desk.bottom[y] == 0:
                desk.near[y] = 2
                if gains.counts[1] < gains.unsettled.shape[0]:
                    gains.unsettled[gains.counts[1], 0] = number
                    gains.unsettled[gains.counts[1], 1] = y
                    gains.unsettled[gains.counts[1], 2] = desk.winner[y]
                gains.counts[1] += 1
            elif desk.best_bottom[y] == 0 or _less(
                desk.best_top[y], desk.best_bottom[y], desk.top[y], desk.bottom[y]
            ):
                desk.best_top[y] = desk.top[y]
                desk.best_bottom[y] = desk.bottom[y]
                desk.winner[y] = run
        run = next_run


@lean_inlined
def _plus(top: Integer, bottom: Integer, other_top: Integer, other_bottom: Integer) -> Any:
    """Add two fractions; the denominator 0 says that the sum is too large to be written."""
    one, other = bottom, other_bottom
    while other != 0:
        one, other = other, one % other
    factor, other_factor = other_bottom // one, bottom // one
    small = (
        bottom < LARGEST // factor
        and top < LARGEST // factor
        and other_top < LARGEST // other_factor
    )
    if not small:
        return np.int64(0), np.int64(0)
    return top * factor + other_top * other_factor, bottom * factor


@lean_inlined
def _less(top: Integer, bottom: Integer, other_top: Integer, other_bottom: Integer) -> Any:
    """Compare two fractions by their continued fractions: nothing grows."""
    whole, other_whole = top // bottom, other_top // other_bottom
    top, other_top = top % bottom, other_top % other_bottom
    while whole == other_whole and top > 0 and other_top > 0:
        top, bottom, other_top, other_bottom = other_bottom, other_top, bottom, top
        whole, other_whole = top // bottom, other_top // other_bottom
        top, other_top = top % bottom, other_top % other_bottom
    return whole < other_whole or (whole == other_whole and top < other_top)


@lean_inlined
def _collect(
    begin: Integer,
    end: Integer,
    telling: bool,
    nodes: Nodes,
    groups: LinkedGroups,
    links: NDArray[np.uint32],
    rows: LinkedRows,
    desk: _Desk,
    gains: Gains,
) -> None:
    """Give each group what it wins: where its secret is the best guess, and where it is the only one."""
    run = begin
    while run < end:
        next_run = _run_end(run, end, nodes.groups, groups.secrets)
        for e in range(run, next_run):
            row = links[nodes.groups[e]] if telling else np.uint32(0)
            won = rows.totals[row] * 0
            sure = rows.totals[row] * 0
            for cell in range(rows.starts[row], rows.starts[row + 1]):
                y = rows.observations[cell]
                if desk.winner[y] == run:
                    won += rows.weights[cell]
                if desk.reached[y] == 1:
                    sure += rows.weights[cell]
                else:
                    gains.exposed[e] = False
            gains.won[e] = nodes.tops[e] * won
            gains.sure[e] = nodes.tops[e] * sure
            gains.bottoms[e] = nodes.bottoms[e] * rows.totals[row]
        run = next_run
