"""All subsets of packages that meet one window, by meeting in the middle (Horowitz and Sahni 1974).

The packages are dealt into two halves; the sums of each half are listed in ascending order of one row, and two sums
that together meet the window are found by walking through one list upwards and through the other downwards. Sums that
cannot meet the window, whatever else is taken, are dropped while a list grows: both those that are too large already
and those that stay too small. The next package, the largest left, goes to the shorter list.

A subset is a *code*: a few 64-bit words with a field per kind that holds how many packages of it are taken.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from glasshouse.arrays import Flags, Integers, Words
from glasshouse.compiled import compiled
from glasshouse.reconstruction.system import UNITS_PER_CELL, ListEffort, System

_GROWTH = 1.32
"""By how much a half grows, at least, for each kind that is still to be dealt; without pruning it would be √2."""
_MOST_GROWTH = 500
"""What is longer than after so many steps is too long in any case, and would not fit a float."""
DONE, TOO_MANY, TOO_LONG, TOO_LONG_HALF = 0, 1, 2, 3


@dataclass(frozen=True, eq=False)
class Layout:
    """Where the number of packages of each kind stands in a code.

    A kind with several packages has a spare bit above its field: it catches the borrow when more are taken than are
    left.
    """

    word: Integers
    """Per kind, the word."""
    shift: Words
    """Per kind, the lowest bit."""
    mask: Words
    """Per kind, the mask of its field, before the shift."""
    words: int
    """How many words a code has."""
    single: Words
    """Per word, the bits of the kinds with one package."""
    guard: Words
    """Per word, the spare bits."""

    def code(self, counts: Integers) -> Words:
        """Return the code of so many packages of each kind."""
        words = np.zeros(self.words, np.uint64)
        np.add.at(words, self.word, counts.astype(np.uint64) << self.shift)
        return words

    def counts(self, codes: Words, kinds: Integers | slice = slice(None)) -> Integers:
        """Return how many packages of each kind, or of some kinds, are in each of some subsets."""
        return np.asarray(_counts(codes, self.word[kinds], self.shift[kinds], self.mask[kinds]))

    def codes(self, counts: Integers) -> Words:
        """Return the codes of subsets that hold so many packages of each kind."""
        codes = np.zeros((len(counts), self.words), np.uint64)
        for kind in range(counts.shape[1]):
            codes[:, self.word[kind]] += counts[:, kind].astype(np.uint64) << self.shift[kind]
        return codes

    def extremes(self, codes: Words) -> tuple[Integers, Integers]:
        """Return the least and the greatest number of packages of each kind in any of some subsets."""
        least, most = _extremes(codes, self.word, self.shift, self.mask)
        return least, most

    def within(self, codes: Words, kinds: Integers, least: Integers, most: Integers) -> Words:
        """Return the subsets that have between `least` and `most` packages of each of some kinds."""
        marks = _within(codes, self.word, self.shift, self.mask, kinds, least, most)
        return np.asarray(codes[marks])

    def field_mask(self, kinds: Flags) -> Words:
        """Return the words that keep the fields of some kinds and clear the others."""
        masks = (self.mask << self.shift) * kinds
        words = np.zeros(self.words, np.uint64)
        np.bitwise_or.at(words, self.word, masks)
        return words


def layout_of(copies: Integers) -> Layout:
    """Place the fields of kinds with so many packages each."""
    kinds = len(copies)
    word, shift = np.zeros(kinds, np.int64), np.zeros(kinds, np.uint64)
    mask = np.zeros(kinds, np.uint64)
    current, used = 0, 0
    for kind, count in enumerate(copies.tolist()):
        bits = max(1, count.bit_length())
        room = bits if count <= 1 else bits + 1
        if used + room > 64:
            current, used = current + 1, 0
        word[kind], shift[kind], mask[kind] = current, used, (1 << bits) - 1
        used += room
    words = current + 1
    single, guard = np.zeros(words, np.uint64), np.zeros(words, np.uint64)
    for kind, count in enumerate(copies.tolist()):
        if count <= 1:
            single[word[kind]] |= np.uint64(1) << shift[kind]
        else:
            guard[word[kind]] |= np.uint64(1) << (shift[kind] + np.uint64(count.bit_length()))
    return Layout(word, shift, mask, words, single, guard)


def subsets(
    system: System,
    layout: Layout,
    bin_: int,
    least: Integers,
    most: Integers,
    effort: ListEffort,
    *,
    window: tuple[Integers, Integers] | None = None,
) -> tuple[Words | None, int, float]:
    """List the subsets that meet the window of a bin, with so many packages of each kind.

    Args:
        system: The windows and the weights.
        layout: How codes are laid out.
        bin_: Which bin.
        least: Per kind, how many packages must be taken.
        most: Per kind, how many can be taken.
        effort: When to give up.
        window: A narrower window than that of the bin: the least and the greatest sum per row.

    Returns:
        Their codes, or None if it was given up; the work that was done; and how long the halves would have become, if
        that was the reason.
    """
    base = least @ system.weights
    low, high = (system.low[bin_], system.high[bin_]) if window is None else window
    codes, status, work, undealt = meet(
        system.weights, most - least, layout, low - base, high - base, effort
    )
    if status != DONE:
        return None, work, effort.longest_half * _GROWTH ** min(undealt, _MOST_GROWTH)
    if system.spared[bin_] and not least.any():
        codes = np.concatenate([codes, np.zeros((1, layout.words), np.uint64)])
    return codes + layout.code(least), work, 0.0


def meet(
    weights: Integers,
    copies: Integers,
    layout: Layout,
    low: Integers,
    high: Integers,
    effort: ListEffort,
) -> tuple[Words, int, int, int]:
    """List all choices of up to so many copies of each kind whose sums lie between low and high.

    Args:
        weights: Per kind and row, its weight.
        copies: Per kind, how many there are.
        layout: How codes are laid out.
        low: Per row, the least sum.
        high: Per row, the greatest sum.
        effort: When to give up.

    Returns:
        The list as far as it came; whether it is `DONE`, or why not; the work; and how many kinds were not dealt to a
        half that became too long: then the list is empty.

    >>> one = np.array([1, 1, 1])
    >>> weights, five = np.array([[2], [3], [5]]), np.array([5])
    >>> codes, *_ = meet(weights, one, layout_of(one), five, five, ListEffort(9, 9, 99))
    >>> sorted(codes.ravel().tolist())  # 2 + 3, and 5
    [3, 4]
    """
    # The row to sort by is the one with the narrowest window; the largest kinds are dealt first.
    chosen = np.flatnonzero(copies)
    weight, number = weights[chosen], copies[chosen]
    reach = np.abs(weight) * number[:, None]
    span = np.maximum(1, high - low + 1).astype(float)
    key = int(np.argmax(reach.sum(axis=0) / span))
    size = (reach / np.maximum(1.0, reach.sum(axis=0))).sum(axis=1)
    order = np.argsort(-size, kind="stable")
    codes, status, work, undealt = _met(
        weight[order],
        number[order],
        layout.word[chosen][order],
        np.uint64(1) << layout.shift[chosen][order],
        layout.words,
        low,
        high,
        key,
        *effort,
    )
    return codes, int(status), int(work), int(undealt)


@compiled
def _met(
    weights: Integers,
    copies: Integers,
    word: Integers,
    unit: Words,
    words: int,
    low: Integers,
    high: Integers,
    key: int,
    longest_half: int,
    longest_list: int,
    most_work: int,
) -> tuple[Words, int, int, int]:
    """Grow the two halves, largest package first, and match them; also tell how many kinds were left over."""
    # Both halves hold every sum of the kinds dealt to them that can still meet the window, in ascending order of the
    # key: no subset that meets it is lost (docs/totals.md, "How it is solved", 2).
    rows = low.size
    nothing = np.zeros((0, words), np.uint64)
    sums, codes = np.zeros((1, rows), np.int64), np.zeros((1, words), np.uint64)
    other_sums, other_codes = sums.copy(), codes.copy()
    # What kinds outside a half can add to its sums at least and at most.
    least, most = np.zeros((2, rows), np.int64), np.zeros((2, rows), np.int64)
    for kind in range(copies.size):
        for row in range(rows):
            reach = weights[kind, row] * copies[kind]
            for half in range(2):
                least[half, row] += min(reach, 0)
                most[half, row] += max(reach, 0)
    work = 0
    # Each kind goes to the half that is shorter, whose sums are pruned by what the others can still add.
    for kind in range(copies.size):
        half = 0 if sums.shape[0] <= other_sums.shape[0] else 1
        for row in range(rows):
            reach = weights[kind, row] * copies[kind]
            least[half, row] -= min(reach, 0)
            most[half, row] -= max(reach, 0)
        floor, ceiling = low - most[half], high - least[half]
        if half == 0:
            sums, codes, fits = _grown(
                sums, codes, weights[kind], copies[kind], word[kind], unit[kind],
                floor, ceiling, key, longest_half,
            )  # fmt: skip
            work += UNITS_PER_CELL * (rows + words) * sums.shape[0]
        else:
            other_sums, other_codes, fits = _grown(
                other_sums, other_codes, weights[kind], copies[kind], word[kind], unit[kind],
                floor, ceiling, key, longest_half,
            )  # fmt: skip
            work += UNITS_PER_CELL * (rows + words) * other_sums.shape[0]
        if not fits:
            return nothing, TOO_LONG_HALF, work, copies.size - kind
        if sums.shape[0] == 0 or other_sums.shape[0] == 0:
            return nothing, DONE, work, 0
    # Both halves are complete: match them.
    pairs, status, looked = _matched(
        sums, codes, other_sums, other_codes, low, high, key, longest_list, most_work
    )
    return pairs, status, work + looked, 0


@compiled
def _grown(
    sums: Integers,
    codes: Words,
    weight: Integers,
    copies: int,
    word: int,
    unit: np.uint64,
    floor: Integers,
    ceiling: Integers,
    key: int,
    longest: int,
) -> tuple[Integers, Words, bool]:
    """Add 0 to `copies` packages of a kind to each sum of a list; keep the order, and what lies between the bounds."""
    grown_sums, grown_codes = sums, codes
    for taken in range(1, copies + 1):
        grown_sums, grown_codes, fits = _merged(
            grown_sums, grown_codes, sums, codes, weight * taken, word, unit * np.uint64(taken),
            floor, ceiling, key, longest,
        )  # fmt: skip
        if not fits:
            return grown_sums, grown_codes, False
    return grown_sums, grown_codes, True


@compiled
def _merged(
    sums: Integers,
    codes: Words,
    base_sums: Integers,
    base_codes: Words,
    shift: Integers,
    word: int,
    unit: np.uint64,
    floor: Integers,
    ceiling: Integers,
    key: int,
    longest: int,
) -> tuple[Integers, Words, bool]:
    """Merge a list with a shifted one."""
    rows, words = sums.shape[1], codes.shape[1]
    first_end, second_end = sums.shape[0], base_sums.shape[0]
    room = min(longest, first_end + second_end)
    # One row more: a sum is written where the next one goes, and stays there if it fits.
    out_sums = np.empty((room + 1, rows), np.int64)
    out_codes = np.empty((room, words), np.uint64)
    first, second, size = 0, 0, 0
    while first < first_end or second < second_end:
        from_first = second >= second_end or (
            first < first_end and sums[first, key] <= base_sums[second, key] + shift[key]
        )
        fits = True
        for row in range(rows):
            value = sums[first, row] if from_first else base_sums[second, row] + shift[row]
            if value < floor[row] or value > ceiling[row]:
                fits = False
                break
            out_sums[size, row] = value
        if fits and size == room:
            return out_sums[:size], out_codes, False
        if fits:
            for place in range(words):
                out_codes[size, place] = (
                    codes[first, place] if from_first else base_codes[second, place]
                )
            if not from_first:
                out_codes[size, word] += unit
            size += 1
        if from_first:
            first += 1
        else:
            second += 1
    return out_sums[:size], out_codes[:size], True


@compiled
def _matched(
    sums: Integers,
    codes: Words,
    other_sums: Integers,
    other_codes: Words,
    low: Integers,
    high: Integers,
    key: int,
    longest: int,
    most_work: int,
) -> tuple[Words, int, int]:
    """Find the pairs of sums that meet the window: one list upwards, the other downwards."""
    rows, words, end = low.size, codes.shape[1], sums.shape[0]
    # Room for the longest list: what is not written takes no memory, and a loop that could replace it would be slow.
    out = np.empty((longest, words), np.uint64)
    size, start, work = 0, 0, 0
    for other in range(other_sums.shape[0] - 1, -1, -1):
        # Other sums only fall: what was too small beside a larger one is too small beside this one.
        least, most = low[key] - other_sums[other, key], high[key] - other_sums[other, key]
        while start < end and sums[start, key] < least:
            start += 1
        one = start
        while one < end and sums[one, key] <= most:
            fits = True
            for row in range(rows):
                whole = sums[one, row] + other_sums[other, row]
                if whole < low[row] or whole > high[row]:
                    fits = False
                    break
            if fits:
                if size == longest:
                    return out, TOO_MANY, work + one - start
                for word in range(words):
                    out[size, word] = codes[one, word] + other_codes[other, word]
                size += 1
            one += 1
        work += 1 + one - start
        if work > most_work and other > 0:
            return out[:size].copy(), TOO_LONG, work
    return out[:size].copy(), DONE, work


@compiled
def _extremes(codes: Words, word: Integers, shift: Words, mask: Words) -> tuple[Integers, Integers]:
    """Return the least and the greatest number of packages of each kind in any of the subsets."""
    # Bits that all subsets have, and that some have: exact for kinds with one package, and where both agree.
    kinds, words = word.size, codes.shape[1]
    every, some = codes[0].copy(), codes[0].copy()
    for subset in range(1, codes.shape[0]):
        for place in range(words):
            every[place] &= codes[subset, place]
            some[place] |= codes[subset, place]
    # Kinds with several packages whose fields differ are counted subset by subset.
    least, most = np.empty(kinds, np.int64), np.empty(kinds, np.int64)
    for kind in range(kinds):
        place, bit, field = word[kind], shift[kind], mask[kind]
        least[kind] = np.int64((every[place] >> bit) & field)
        most[kind] = np.int64((some[place] >> bit) & field)
        if field > np.uint64(1) and most[kind] != least[kind]:
            least[kind], most[kind] = np.int64(field), 0
            for subset in range(codes.shape[0]):
                count = np.int64((codes[subset, place] >> bit) & field)
                least[kind], most[kind] = min(least[kind], count), max(most[kind], count)
    return least, most


@compiled
def _within(
    codes: Words,
    word: Integers,
    shift: Words,
    mask: Words,
    kinds: Integers,
    least: Integers,
    most: Integers,
) -> Flags:
    """Tell which subsets have between `least` and `most` packages of each of some kinds."""
    marks = np.ones(codes.shape[0], np.bool_)
    for subset in range(codes.shape[0]):
        for kind in kinds:
            count = np.int64((codes[subset, word[kind]] >> shift[kind]) & mask[kind])
            if count < least[kind] or count > most[kind]:
                marks[subset] = False
                break
    return marks


@compiled
def _counts(codes: Words, word: Integers, shift: Words, mask: Words) -> Integers:
    """Return how many packages of each kind are in each subset."""
    counts = np.empty((codes.shape[0], word.size), np.int64)
    for subset in range(codes.shape[0]):
        for kind in range(word.size):
            counts[subset, kind] = np.int64((codes[subset, word[kind]] >> shift[kind]) & mask[kind])
    return counts
