"""All subsets of the quasi-identifiers for adversaries beyond one guess at records that weigh the same.

The walk is that of `sweep_kernel`: depth first over (subset S, class), a class is refined by one attribute at a time;
attributes that are constant in a class are free; records that became equal on what is still to come are merged. What is
added to a cell is another: records have weights, and in each class the adversary picks what scores best in her game
(`gains`): the heaviest records, the k best values, the best action. Sums are 64-bit integers, of the weights of what
she picked, per value of the secret where a prior divides them later.

Classes of one record are settled for all their subsets at once, and so are classes of two by inclusion and exclusion.
Weights and what records earn are packed like secrets: a code in a record, a number in a table. So is which of three
files a record is from, a synthetic one or one of people; what is added up then is in `origin_kernel`, and classes of
three are settled, too.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from glasshouse.arrays import Flags, Floats, Integer, Integers, Words
from glasshouse.compiled import lean_compiled, lean_inlined
from glasshouse.microdata.leakage import SIZE_BINS, SUCCESS_BINS
from glasshouse.microdata.origin_kernel import (
    FILES,
    add_leaves,
    add_origins,
    is_mixed,
    may_stay,
)
from glasshouse.microdata.sweep_kernel import (
    JOINT_VALUES,
    Fields,
    Plan,
    Store,
    Workspace,
    cell_of,
    copy_by_value,
    differences,
    make_room,
    merge,
    merge_if_it_pays,
    tally_values,
)

CLASSES, RECORDS = 0, len(SIZE_BINS)
"""Columns of a cell: the number of classes by size bin, and that of their records."""
NAMED, ALONE, EXPOSED, EARNED = range(2 * len(SIZE_BINS), 2 * len(SIZE_BINS) + 4)
"""Σ over classes of the heaviest record's weight; the weight, and the number, of those that alone in their class weigh
anything; and Σ of what the best records earn."""
AIMS = EARNED + 1
"""From here on, per secret: records by tenths of success, then what she picked, is sure of, and earns."""
NO_GAME, NAMING_VALUES, ACTING = range(3)
"""What she plays for beside a right guess."""

AIM = np.dtype(
    [
        ("column", np.int64),  # its first column of a cell
        ("block", np.int64),  # how many columns a sum has: 1, or one per value
        ("values", np.int64),  # how many values the secret can take
        ("factors", np.int64),  # where its factors begin
        ("believed", np.int64),  # whether a prior makes its scores doubles
        ("slack", np.float64),  # by how much a chance may fall short of a tenth
        ("game", np.int64),  # NO_GAME, NAMING_VALUES or ACTING
        ("tries", np.int64),  # how many values she may name
        ("gains", np.int64),  # where its gains begin
        ("actions", np.int64),  # how many actions there are; 1 where she names values
    ],
    align=True,
)
"""What she infers."""


class Aims(NamedTuple):
    """What is added up of every class."""

    weight: Fields
    """Where the code of a record's weight stands; empty: each weighs 1."""
    weights: Integers
    """The weight behind each code."""
    earned: Fields
    """Where the code of what naming a record earns stands; empty: 1 each."""
    earnings: Integers
    """What is earned, behind each code."""
    tries: int
    """How many records she may name; 0: nothing is earned by naming."""
    each: Any
    """An `AIM` per secret; its field is that of the plan with the same place."""
    factors: Integers
    """Per value of each secret, what a unit of its weight scores, where that is an integer."""
    beliefs: Floats
    """The same as doubles."""
    possible: Flags
    """Whether they are positive: the value is possible."""
    best_gain: Integers
    """Per value, what it earns where it is the only one."""
    gains: Integers
    """Per value and action, what is earned."""
    scores: Integers
    """Gains times factors."""
    believed_scores: Floats
    """The same as doubles."""
    origin: Fields
    """Where the code of the file of a record stands; empty: all are from one."""
    width: int
    """The number of columns of a cell."""


class Scratch(NamedTuple):
    """What a thread counts a class in."""

    amount: Integers
    """Per value, the weight of its records, or per value and file how many they are; zeros in between."""
    present: Integers
    """The values that weigh anything."""
    best: Integers
    """The best places, as many as there are tries."""
    score: Integers
    """What they score, as integers,"""
    believed_score: Floats
    """or as doubles."""


def scratch(aims: Aims) -> Scratch:
    """Return room for a thread to count classes in."""
    values = int(aims.each["values"].max(initial=1))
    amounts = max(FILES * values, JOINT_VALUES) if aims.origin.size else values
    tries = max(
        aims.tries, int(aims.each["tries"].max(initial=1)), int(aims.each["actions"].max(initial=1))
    )
    return Scratch(
        amount=np.zeros(amounts, np.int64),
        present=np.zeros(values, np.int64),
        best=np.zeros(tries, np.int64),
        score=np.zeros(tries, np.int64),
        believed_score=np.zeros(tries, np.float64),
    )


# As in `sweep_kernel`, all is lean; and all is inlined: tuples of so many arrays are dear to hand on.

_LAST_BIN = len(SIZE_BINS) - 1
_NONE, _ONCE, _TAKEN_BACK = np.int64(0), np.int64(1), np.int64(-1)


@lean_compiled
def sweep_parts(
    plan: Plan, aims: Aims, work: Workspace, room: Scratch, store: Store, keep: Words,
    records: Words, counts: NDArray[np.int32], merged: bool,
    starts: Integers, ends: Integers, parts: Integers,
) -> None:  # fmt: skip
    """Merge the records of some parts, write them back with their counts, and sweep each part.

    The arguments are those of `sweep_kernel.sweep_parts`; the secrets of the plan are all that is packed beside the
    attributes: first what she infers, then weights and earnings.
    """
    words, attributes, frames = plan.words, plan.fields.size, work.frames
    root = frames[0]
    for part in parts:
        # Merging: what is equal on all that is still to come is one record of the next step too.
        lo, size = starts[part], ends[part] - starts[part]
        for i in range(size * words):
            work.records[i] = records[lo * words + i]
        for i in range(size):
            work.counts[i] = counts[lo + i] if merged else np.int32(1)
        end = merge(work.records, work.counts, words, _NONE, size, True, keep, work.slots)
        for i in range(end * words):
            records[lo * words + i] = work.records[i]
        for i in range(end):
            counts[lo + i] = work.counts[i]
        ends[part] = lo + end
        # Depth-first refinement: the part is the only class of the empty subset, and every attribute is to refine it.
        root.todo = 0
        root.free = 0
        root.live = (1 << plan.secrets.size) - 1
        root.merged = 1
        root.child = root.children = 0
        root.children_end = 1
        root.child_subset = 0
        root.child_todo = (1 << attributes) - 1
        root.child_top = end
        work.children[0].begin = 0
        work.children[0].end = end
        depth = _NONE
        while depth >= 0:
            make_room(store, plan.largest)
            if frames[depth].child < frames[depth].children_end:
                child = frames[depth].child
                frames[depth].child = child + 1
                lined_up = work.children[child]
                begin, finish = np.int64(lined_up.begin), np.int64(lined_up.end)
                if _visit(plan, aims, work, room, store, depth, begin, finish):
                    depth += 1
            elif frames[depth].todo != 0:
                _refine(plan, aims, work, room, store, depth)
            else:
                depth -= 1


@lean_inlined
def _visit(
    plan: Plan, aims: Aims, work: Workspace, room: Scratch, store: Store,
    depth: Integer, lo: Integer, hi: Integer,
) -> Any:  # fmt: skip
    """Count one class; if some attribute varies in it, make it the frame on top and say so."""
    above, frame = work.frames[depth], work.frames[depth + 1]
    subset, todo = above.child_subset, above.child_todo
    work.visits[0] += hi - lo
    has_origins = aims.origin.size > 0
    if has_origins and not is_mixed(work.records, plan.words, aims.origin[0], lo, hi):
        return False
    # Free attributes: those to come that do not vary. The class is one of every T between S and S with all of them.
    total = differences(work.records, plan.words, work.counts, work.bits, lo, hi, True)
    vary = np.int64(0)
    for a in range(plan.fields.size):
        if (todo >> a) & 1 and work.bits[plan.fields[a].word] & plan.fields[a].field:
            vary |= 1 << a
    free = above.free | (todo & ~vary)
    # What is settled early, secrets: what she makes of one with a single value adds up, however the class is divided.
    live = above.live
    for s in range(0 if has_origins else aims.each.size):
        field = plan.secrets[s]
        if (live >> s) & 1 and not work.bits[field.word] & field.field:
            live ^= 1 << s
            everywhere = cell_of(store, subset, above.free | todo)
            for i in range(lo, hi):
                _add_alike(plan, aims, work, store.cells, everywhere, s, i, _ONCE)
    cell = cell_of(store, subset, free)
    _add_class(plan, aims, work, room, store.cells, cell, lo, hi, total, live, _ONCE)
    if vary == 0 or depth >= plan.largest:
        return False
    frame.lo = lo
    frame.hi = hi
    frame.subset = subset
    frame.free = free
    frame.todo = vary
    frame.live = live
    frame.merged = 1
    frame.top = above.child_top
    frame.fresh = 1
    frame.child = frame.children = frame.children_end = above.children_end
    return True


@lean_inlined
def _refine(
    plan: Plan, aims: Aims, work: Workspace, room: Scratch, store: Store, depth: Integer
) -> None:
    """Refine the frame on top by its next attribute: settle the small classes, line up the others."""
    frame = work.frames[depth]
    todo = frame.todo
    a = np.int64(0)
    while not (todo >> a) & 1:
        a += 1
    rest = todo & (todo - 1)
    # Merging: attributes before this one are in no subset still to come; records alike on the others become one.
    if frame.fresh:
        frame.fresh = 0
    elif frame.hi - frame.lo > 2:
        merge_if_it_pays(plan, work, frame, a)
    frame.todo = rest
    frame.child_subset = subset = frame.subset | (1 << a)
    frame.child = frame.children_end = children = frame.children
    frame.child_todo = rest
    work.visits[0] += frame.hi - frame.lo
    everywhere = cell_of(store, subset, frame.free | rest)
    is_last = rest == 0 or depth >= plan.largest
    if (
        is_last
        and aims.origin.size
        and may_stay(plan.fields[a], plan.secrets, aims.each, room.amount)
    ):
        add_leaves(
            work.records, plan.words, work.counts, aims.origin[0], plan.secrets, aims.each,
            room.amount, room.present, plan.fields[a], work.leaves, work.seen,
            store.cells, everywhere, frame.lo, frame.hi,
        )  # fmt: skip
        return
    values = tally_values(
        work.records, plan.words, work.tally, work.seen, plan.fields[a], frame.lo, frame.hi
    )
    # What is settled early: one record, and two, for all T that are open there. Others wait to be visited, unless the
    # attribute is the last of its subset.
    if values == frame.hi - frame.lo:
        for v in range(values):
            work.tally[work.seen[v]] = 0
        if aims.origin.size == 0:
            _add_singles(plan, aims, work, store.cells, everywhere, frame.lo, frame.hi, frame.live)
        return
    frame.child_top = copy_by_value(
        work.records, work.counts, work.records, work.counts, plan.words, work.tally, work.seen,
        plan.fields[a], values, frame.lo, frame.hi, frame.top, frame.merged != 0,
    )  # fmt: skip
    start = np.int64(frame.top)
    for v in range(values):
        end = np.int64(work.tally[work.seen[v]])
        work.tally[work.seen[v]] = 0
        if end - start == 1:
            if aims.origin.size == 0:
                _add_singles(plan, aims, work, store.cells, everywhere, start, end, frame.live)
        elif is_last:
            total = np.int64(0)
            for i in range(start, end):
                total += work.counts[i]
            _add_class(
                plan,
                aims,
                work,
                room,
                store.cells,
                everywhere,
                start,
                end,
                total,
                frame.live,
                _ONCE,
            )
        elif aims.origin.size and end - start <= 3:
            make_room(store, plan.largest)
            _settle_mixed(plan, aims, work, room, store, subset, frame.free, rest, start, end)
        elif end - start == 2:
            make_room(store, plan.largest)
            everywhere = cell_of(store, subset, frame.free | rest)
            alike = frame.free | (rest & ~_unlike(plan, work, start, rest))
            _settle_pair(
                plan, aims, work, room, store, subset, alike, everywhere, start, frame.live
            )
        else:
            work.children[children].begin = start
            work.children[children].end = end
            children += 1
        start = end
    frame.children_end = children


@lean_inlined
def _unlike(plan: Plan, work: Workspace, at: Integer, rest: Integer) -> Integer:
    """Return the attributes among the rest on which a record and the next one differ."""
    records, words = work.records, plan.words
    unlike = np.int64(0)
    for b in range(plan.fields.size):
        word, field = plan.fields[b].word, plan.fields[b].field
        differing = (records[at * words + word] ^ records[(at + 1) * words + word]) & field
        if (rest >> b) & 1 and differing:
            unlike |= 1 << b
    return unlike


@lean_inlined
def _settle_pair(
    plan: Plan, aims: Aims, work: Workspace, room: Scratch, store: Store,
    subset: Integer, free: Integer, everywhere: Integer, at: Integer, live: Integer,
) -> None:  # fmt: skip
    """Settle a class of two records: they are classes of their own, but one where they are alike."""
    cells = store.cells
    alike = cell_of(store, subset, free)
    _add_singles(plan, aims, work, cells, everywhere, at, at + 2, live)
    for i in (at, at + 1):
        _add_record(plan, aims, work, cells, alike, i, _TAKEN_BACK)
    different = np.int64(0)
    for s in range(aims.each.size):
        field = plan.secrets[s]
        if (live >> s) & 1 and _code(plan, work, field, at) != _code(plan, work, field, at + 1):
            different |= 1 << s
            for i in (at, at + 1):
                _add_alike(plan, aims, work, cells, alike, s, i, _TAKEN_BACK)
    total = np.int64(work.counts[at]) + np.int64(work.counts[at + 1])
    _add_class(plan, aims, work, room, cells, alike, at, at + 2, total, different, _ONCE)


@lean_inlined
def _settle_mixed(
    plan: Plan, aims: Aims, work: Workspace, room: Scratch, store: Store,
    subset: Integer, free: Integer, rest: Integer, at: Integer, end: Integer,
) -> None:  # fmt: skip
    """Settle a class of two or three records of several files: where two are alike, less where all are."""
    records, words, counts = work.records, plan.words, work.counts
    if not is_mixed(records, words, aims.origin[0], at, end):
        return
    triple = end - at == 3
    alike = free | (rest & ~_unlike(plan, work, at, rest))
    if triple:
        alike &= free | ~_unlike(plan, work, at + 1, rest)
    all_alike = cell_of(store, subset, alike)
    # What all of them are together; then each pair, the records moving up in turn.
    for turn in range(4 if triple else 1):
        last = end if turn == 0 else at + 2
        cell, sign = all_alike, _ONCE
        if turn > 0:
            cell = cell_of(store, subset, free | (rest & ~_unlike(plan, work, at, rest)))
        for _ in range(1 if turn == 0 else 2):
            add_origins(
                records, words, counts, aims.origin[0], plan.secrets, aims.each,
                room.amount, room.present, store.cells, cell, at, last, sign,
            )  # fmt: skip
            cell, sign = all_alike, _TAKEN_BACK
        if turn > 0:
            for w in range(words):
                first = records[at * words + w]
                records[at * words + w] = records[(at + 1) * words + w]
                records[(at + 1) * words + w] = records[(at + 2) * words + w]
                records[(at + 2) * words + w] = first
            count = counts[at]
            counts[at], counts[at + 1], counts[at + 2] = counts[at + 1], counts[at + 2], count


@lean_inlined
def _code(plan: Plan, work: Workspace, field: Any, i: Integer) -> Integer:
    """Return the value of a packed field in a record."""
    return np.int64((work.records[i * plan.words + field.word] >> field.shift) & field.mask)


@lean_inlined
def _weight(plan: Plan, aims: Aims, work: Workspace, i: Integer) -> Integer:
    """Return the weight of each of the equal records that one stands for."""
    if aims.weights.size == 0:
        return np.int64(1)
    return aims.weights[_code(plan, work, aims.weight[0], i)]


@lean_inlined
def _add_size(plan: Plan, cells: Any, cell: Integer, size: Integer, sign: Integer) -> None:
    """Count a class by its size, or take it back."""
    where = plan.size_bin[size] if size < plan.size_bin.size else np.int64(_LAST_BIN)
    cells[cell, CLASSES + where] += sign
    cells[cell, RECORDS + where] += sign * size


@lean_inlined
def _add_record(
    plan: Plan, aims: Aims, work: Workspace, cells: Any, cell: Integer, i: Integer, sign: Integer
) -> None:
    """Add a class of equal records, or take it back: its size, and what naming them earns."""
    count = np.int64(work.counts[i])
    _add_size(plan, cells, cell, count, sign)
    if aims.weights.size:
        weight = _weight(plan, aims, work, i)
        cells[cell, NAMED] += sign * weight
        if count == 1 and weight > 0:
            cells[cell, ALONE] += sign * weight
            cells[cell, EXPOSED] += sign
    if aims.tries:
        earned: Integer = np.int64(1)
        if aims.earnings.size:
            earned = aims.earnings[_code(plan, work, aims.earned[0], i)]
        cells[cell, EARNED] += sign * earned * min(count, np.int64(aims.tries))


@lean_inlined
def _add_singles(
    plan: Plan, aims: Aims, work: Workspace, cells: Any, cell: Integer,
    lo: Integer, hi: Integer, live: Integer,
) -> None:  # fmt: skip
    """Add classes of equal records: she is sure of each secret that is possible."""
    for i in range(lo, hi):
        _add_record(plan, aims, work, cells, cell, i, _ONCE)
    for s in range(aims.each.size):
        if (live >> s) & 1:
            for i in range(lo, hi):
                _add_alike(plan, aims, work, cells, cell, s, i, _ONCE)


@lean_inlined
def _add_alike(
    plan: Plan, aims: Aims, work: Workspace, cells: Any, cell: Integer, s: Integer, i: Integer,
    sign: Integer,
) -> None:  # fmt: skip
    """Add what she infers of a secret from equal records, where all others of their class have the same value."""
    aim = aims.each[s]
    count, weight = np.int64(work.counts[i]), _weight(plan, aims, work, i)
    value = _code(plan, work, plan.secrets[s], i)
    amount = sign * weight * count
    sums = aim.column + SUCCESS_BINS + (value if aim.block > 1 else np.int64(0))
    if weight > 0 and aims.possible[aim.factors + value]:
        cells[cell, aim.column + SUCCESS_BINS - 1] += sign * count
        cells[cell, sums] += amount
        cells[cell, sums + aim.block] += amount
    else:
        cells[cell, aim.column] += sign * count
    if aim.game != NO_GAME:
        cells[cell, sums + 2 * aim.block] += amount * aims.best_gain[aim.factors + value]


@lean_inlined
def _add_class(
    plan: Plan, aims: Aims, work: Workspace, room: Scratch, cells: Any, cell: Integer,
    lo: Integer, hi: Integer, total: Integer, live: Integer, sign: Integer,
) -> None:  # fmt: skip
    """Add a class to a cell, or take it back: its size, what naming earns, and the secrets that live."""
    if aims.origin.size:
        add_origins(
            work.records, plan.words, work.counts, aims.origin[0], plan.secrets, aims.each,
            room.amount, room.present, cells, cell, lo, hi, sign,
        )  # fmt: skip
        return
    _add_size(plan, cells, cell, total, sign)
    if aims.weights.size:
        heaviest = lone = possible = np.int64(0)
        for i in range(lo, hi):
            weight = _weight(plan, aims, work, i)
            if weight > 0:
                possible += work.counts[i]
                lone = weight
                heaviest = max(heaviest, weight)
        cells[cell, NAMED] += sign * heaviest
        if possible == 1:
            cells[cell, ALONE] += sign * lone
            cells[cell, EXPOSED] += sign
    if aims.tries:
        cells[cell, EARNED] += sign * _best_earnings(plan, aims, work, room, lo, hi, total)
    for s in range(aims.each.size):
        if (live >> s) & 1:
            _add_inference(plan, aims, work, room, cells, cell, lo, hi, sign, s, total)


@lean_inlined
def _best_earnings(
    plan: Plan, aims: Aims, work: Workspace, room: Scratch, lo: Integer, hi: Integer, total: Integer
) -> Integer:
    """Return what the best records of a class earn, as many as there are tries."""
    tries = np.int64(aims.tries)
    if aims.earnings.size == 0:
        return min(total, tries)
    filled = np.int64(0)
    for i in range(lo, hi):
        earned = aims.earnings[_code(plan, work, aims.earned[0], i)]
        for _ in range(min(np.int64(work.counts[i]), tries)):
            # The best so far stand in descending order; a worse one than all of them ends its record.
            if filled == tries and room.score[filled - 1] >= earned:
                break
            if filled < tries:
                filled += 1
            at = filled - 1
            while at > 0 and room.score[at - 1] < earned:
                room.score[at] = room.score[at - 1]
                at -= 1
            room.score[at] = earned
    best = np.int64(0)
    for k in range(filled):
        best += room.score[k]
    return best


@lean_inlined
def _add_inference(
    plan: Plan, aims: Aims, work: Workspace, room: Scratch, cells: Any, cell: Integer,
    lo: Integer, hi: Integer, sign: Integer, s: Integer, total: Integer,
) -> None:  # fmt: skip
    """Add what she infers of one secret in a class."""
    aim, field = aims.each[s], plan.secrets[s]
    seen = np.int64(0)
    for i in range(lo, hi):
        amount = _weight(plan, aims, work, i) * np.int64(work.counts[i])
        value = _code(plan, work, field, i)
        if amount > 0:
            if room.amount[value] == 0:
                room.present[seen] = value
                seen += 1
            room.amount[value] += amount
    sums = aim.column + SUCCESS_BINS
    several = aim.block > 1
    # The best guess, as `attack_kernels.best_guesses` makes it.
    guess = certain = np.int64(0)
    tenth = np.int64(0)
    possible = np.int64(0)
    if aim.believed:
        whole = most = np.float64(0)
        for k in range(seen):
            score = room.amount[room.present[k]] * aims.beliefs[aim.factors + room.present[k]]
            whole += score
            possible += score > 0
            if score > most:
                most, guess = score, room.present[k]
        if possible > 1:
            tenth = np.int64((10 * most + aim.slack * whole) // whole)
    else:
        everything = largest = np.int64(0)
        for k in range(seen):
            points = room.amount[room.present[k]] * aims.factors[aim.factors + room.present[k]]
            everything += points
            possible += points > 0
            if points > largest:
                largest, guess = points, room.present[k]
        if possible > 1:
            tenth = (10 * largest) // everything
    if possible > 0:
        cells[cell, sums + (guess if several else 0)] += sign * room.amount[guess]
    if possible == 1:
        cells[cell, sums + aim.block + (guess if several else 0)] += sign * room.amount[guess]
        for i in range(lo, hi):
            if _code(plan, work, field, i) == guess and _weight(plan, aims, work, i) > 0:
                certain += np.int64(work.counts[i])
        cells[cell, aim.column] += sign * (total - certain)
        cells[cell, aim.column + SUCCESS_BINS - 1] += sign * certain
    else:
        cells[cell, aim.column + min(tenth, np.int64(SUCCESS_BINS - 2))] += sign * total
    if aim.game == NAMING_VALUES:
        _add_best_values(aims, aim, room, cells, cell, seen, sign)
    elif aim.game == ACTING:
        _add_best_action(aims, aim, room, cells, cell, seen, sign)
    for k in range(seen):
        room.amount[room.present[k]] = 0


@lean_inlined
def _add_best_values(
    aims: Aims, aim: Any, room: Scratch, cells: Any, cell: Integer, seen: Integer, sign: Integer
) -> None:
    """Add what the values earn that score best, as many as there are tries."""
    filled = np.int64(0)
    for k in range(seen):
        value = room.present[k]
        points, score = np.int64(0), np.float64(0)
        if aim.believed:
            score = room.amount[value] * aims.believed_scores[aim.gains + value]
        else:
            points = room.amount[value] * aims.scores[aim.gains + value]
        if filled == aim.tries:
            if aim.believed:
                if score <= room.believed_score[filled - 1]:
                    continue
            elif points <= room.score[filled - 1]:
                continue
        else:
            filled += 1
        at = filled - 1
        while at > 0 and (
            room.believed_score[at - 1] < score if aim.believed else room.score[at - 1] < points
        ):
            room.score[at], room.believed_score[at] = (
                room.score[at - 1],
                room.believed_score[at - 1],
            )
            room.best[at] = room.best[at - 1]
            at -= 1
        room.score[at], room.believed_score[at], room.best[at] = points, score, value
    sums = aim.column + SUCCESS_BINS + 2 * aim.block
    for k in range(filled):
        value = room.best[k]
        earned = room.amount[value] * aims.gains[aim.gains + value]
        cells[cell, sums + (value if aim.block > 1 else 0)] += sign * earned


@lean_inlined
def _add_best_action(
    aims: Aims, aim: Any, room: Scratch, cells: Any, cell: Integer, seen: Integer, sign: Integer
) -> None:
    """Add what the action earns that scores best."""
    best = np.int64(0)
    for action in range(aim.actions):
        points, score = np.int64(0), np.float64(0)
        for k in range(seen):
            value = room.present[k]
            g = aim.gains + value * aim.actions + action
            if aim.believed:
                score += room.amount[value] * aims.believed_scores[g]
            else:
                points += room.amount[value] * aims.scores[g]
        room.score[action], room.believed_score[action] = points, score
        if aim.believed:
            if score > room.believed_score[best]:
                best = np.int64(action)
        elif points > room.score[best]:
            best = np.int64(action)
    sums = aim.column + SUCCESS_BINS + 2 * aim.block
    for k in range(seen):
        value = room.present[k]
        earned = room.amount[value] * aims.gains[aim.gains + value * aim.actions + best]
        cells[cell, sums + (value if aim.block > 1 else 0)] += sign * earned
