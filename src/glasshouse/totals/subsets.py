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
from numba import njit
from numpy.typing import NDArray

from glasshouse.totals.budget import UNITS_PER_CELL, Effort
from glasshouse.totals.instance import Integers
from glasshouse.totals.linear import System

Codes = NDArray[np.uint64]
"""A row of words per subset."""

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

    word: NDArray[np.int64]
    """Per kind, the word."""
    shift: NDArray[np.uint64]
    """Per kind, the lowest bit."""
    mask: NDArray[np.uint64]
    """Per kind, the mask of its field, before the shift."""
    words: int
    """How many words a code has."""
    single: NDArray[np.uint64]
    """Per word, the bits of the kinds with one package."""
    guard: NDArray[np.uint64]
    """Per word, the spare bits."""

    @property
    def units(self) -> Codes:
        """Per kind, the code of one package of it."""
        codes = np.zeros((len(self.word), self.words), np.uint64)
        codes[np.arange(len(self.word)), self.word] = np.uint64(1) << self.shift
        return codes

    def code(self, counts: Integers) -> Codes:
        """Return the code of so many packages of each kind."""
        return np.asarray(
            (counts.astype(np.uint64)[:, None] * self.units).sum(axis=0, dtype=np.uint64)
        )

    def field_mask(self, kinds: NDArray[np.bool_]) -> Codes:
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
    system: System, layout: Layout, bin_: int, least: Integers, most: Integers, effort: Effort
) -> tuple[Codes | None, int, float]:
    """List the subsets that meet the window of a bin, with so many packages of each kind.

    Args:
        system: The windows and the weights.
        layout: How codes are laid out.
        bin_: Which bin.
        least: Per kind, how many packages must be taken.
        most: Per kind, how many can be taken.
        effort: When to give up.

    Returns:
        Their codes, or None if it was given up; the work that was done; and how long the halves would have become, if
        that was the reason.
    """
    base = least @ system.weights
    low, high = system.low[bin_] - base, system.high[bin_] - base
    codes, status, work, left = _ordered(system.weights, most - least, layout, low, high, *effort)
    if status != DONE:
        return None, work, effort.longest_half * _GROWTH ** min(left, _MOST_GROWTH)
    if system.spared[bin_] and not least.any():
        codes = np.concatenate([codes, np.zeros((1, layout.words), np.uint64)])
    return codes + layout.code(least), work, 0.0


def meet(
    weights: Integers,
    copies: Integers,
    layout: Layout,
    low: Integers,
    high: Integers,
    *,
    longest_half: int,
    longest_list: int,
    most_work: int,
) -> tuple[Codes | None, int]:
    """List all choices of up to so many copies of each kind whose sums lie between low and high.

    >>> one = np.array([1, 1, 1])
    >>> found, _ = meet(np.array([[2], [3], [5]]), one, layout_of(one), np.array([5]), np.array([5]),
    ...     longest_half=9, longest_list=9, most_work=99)
    >>> sorted(found.ravel().tolist())  # 2 + 3, and 5
    [3, 4]
    """
    codes, status, work, _ = _ordered(
        weights, copies, layout, low, high, longest_half, longest_list, most_work
    )
    return (codes if status == DONE else None), work


def some(
    weights: Integers,
    copies: Integers,
    layout: Layout,
    low: Integers,
    high: Integers,
    *,
    longest_half: int,
    longest_list: int,
    most_work: int,
) -> tuple[Codes | None, int]:
    """Like `meet`, but return what was found before it had to give up; None: a half was too long to begin with."""
    codes, status, work, _ = _ordered(
        weights, copies, layout, low, high, longest_half, longest_list, most_work
    )
    return (None if status == TOO_LONG_HALF else codes), work


def _ordered(
    weights: Integers,
    copies: Integers,
    layout: Layout,
    low: Integers,
    high: Integers,
    longest_half: int,
    longest_list: int,
    most_work: int,
) -> tuple[Codes, int, int, int]:
    """Choose the row to sort by, and the order of the kinds, and meet in the middle."""
    chosen = np.flatnonzero(copies)
    own, number = weights[chosen], copies[chosen]
    reach = np.abs(own) * number[:, None]
    span = np.maximum(1, high - low + 1).astype(float)
    key = int(np.argmax(reach.sum(axis=0) / span))
    size = (reach / np.maximum(1.0, reach.sum(axis=0))).sum(axis=1)
    order = np.argsort(-size, kind="stable")
    codes, status, work, left = _met(
        own[order],
        number[order],
        layout.word[chosen][order],
        np.uint64(1) << layout.shift[chosen][order],
        layout.words,
        low,
        high,
        key,
        longest_half,
        longest_list,
        most_work,
    )
    return codes, int(status), int(work), int(left)


@njit(cache=True, nogil=True)  # type: ignore[untyped-decorator]
def _met(
    weights: Integers,
    copies: Integers,
    word: NDArray[np.int64],
    unit: NDArray[np.uint64],
    words: int,
    low: Integers,
    high: Integers,
    key: int,
    longest_half: int,
    longest_list: int,
    most_work: int,
) -> tuple[Codes, int, int, int]:
    """Grow the two halves, largest package first, and match them; also tell how many kinds were left over."""
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
    found, status, looked = _matched(
        sums, codes, other_sums, other_codes, low, high, key, longest_list, most_work
    )
    return found, status, work + looked, 0


@njit(cache=True, nogil=True)  # type: ignore[untyped-decorator]
def _grown(
    sums: Integers,
    codes: Codes,
    weight: Integers,
    copies: int,
    word: int,
    unit: np.uint64,
    floor: Integers,
    ceiling: Integers,
    key: int,
    longest: int,
) -> tuple[Integers, Codes, bool]:
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


@njit(cache=True, nogil=True)  # type: ignore[untyped-decorator]
def _merged(
    sums: Integers,
    codes: Codes,
    base_sums: Integers,
    base_codes: Codes,
    shift: Integers,
    word: int,
    unit: np.uint64,
    floor: Integers,
    ceiling: Integers,
    key: int,
    longest: int,
) -> tuple[Integers, Codes, bool]:
    """Merge a list with a shifted one."""
    rows, words = sums.shape[1], codes.shape[1]
    first_end, second_end = sums.shape[0], base_sums.shape[0]
    room = min(longest, first_end + second_end)
    out_sums, out_codes = np.empty((room, rows), np.int64), np.empty((room, words), np.uint64)
    first, second, size = 0, 0, 0
    while first < first_end or second < second_end:
        from_first = second >= second_end or (
            first < first_end and sums[first, key] <= base_sums[second, key] + shift[key]
        )
        fits = True
        if from_first:
            for row in range(rows):
                each = sums[first, row]
                if each < floor[row] or each > ceiling[row]:
                    fits = False
                    break
        else:
            for row in range(rows):
                each = base_sums[second, row] + shift[row]
                if each < floor[row] or each > ceiling[row]:
                    fits = False
                    break
        if fits:
            if size == room:
                return out_sums, out_codes, False
            if from_first:
                for row in range(rows):
                    out_sums[size, row] = sums[first, row]
                for each_word in range(words):
                    out_codes[size, each_word] = codes[first, each_word]
            else:
                for row in range(rows):
                    out_sums[size, row] = base_sums[second, row] + shift[row]
                for each_word in range(words):
                    out_codes[size, each_word] = base_codes[second, each_word]
                out_codes[size, word] += unit
            size += 1
        if from_first:
            first += 1
        else:
            second += 1
    return out_sums[:size], out_codes[:size], True


@njit(cache=True, nogil=True)  # type: ignore[untyped-decorator]
def _matched(
    sums: Integers,
    codes: Codes,
    other_sums: Integers,
    other_codes: Codes,
    low: Integers,
    high: Integers,
    key: int,
    longest: int,
    most_work: int,
) -> tuple[Codes, int, int]:
    """Find the pairs of sums that meet the window: one list upwards, the other downwards."""
    words = codes.shape[1]
    out = np.empty((min(longest, 64), words), np.uint64)
    # Where the walk is: in the other list, at the first sum that can matter, at the next sum, and what was found.
    place = np.array([other_sums.shape[0] - 1, 0, 0, 0, 0])
    while True:
        status = _matched_into(
            out, place, sums, codes, other_sums, other_codes, low, high, key, most_work
        )
        size, work = place[3], place[4]
        if status != TOO_MANY or size == longest:
            return out[:size], status, work
        more = np.empty((min(longest, 4 * size), words), np.uint64)
        more[:size] = out
        out = more


@njit(cache=True, nogil=True)  # type: ignore[untyped-decorator]
def _matched_into(
    out: Codes,
    place: NDArray[np.int64],
    sums: Integers,
    codes: Codes,
    other_sums: Integers,
    other_codes: Codes,
    low: Integers,
    high: Integers,
    key: int,
    most_work: int,
) -> int:
    """Go on with the walk until it ends, or there is no more room.

    The room is not made here: a loop that may replace an array counts references to it at every step.
    """
    rows, words, room, end = low.size, codes.shape[1], out.shape[0], sums.shape[0]
    other, start, one, size, work = place
    while other >= 0:
        least, most = low[key] - other_sums[other, key], high[key] - other_sums[other, key]
        while start < end and sums[start, key] < least:
            start += 1
        one = max(one, start)
        begun = one
        while one < end and sums[one, key] <= most:
            fits = True
            for row in range(rows):
                whole = sums[one, row] + other_sums[other, row]
                if whole < low[row] or whole > high[row]:
                    fits = False
                    break
            if fits:
                if size == room:
                    place[0], place[1], place[2], place[3] = other, start, one, size
                    place[4] = work + one - begun
                    return TOO_MANY
                for word in range(words):
                    out[size, word] = codes[one, word] + other_codes[other, word]
                size += 1
            one += 1
        work += 1 + one - begun
        other -= 1
        one = start
        if work > most_work:
            break
    place[3], place[4] = size, work
    return DONE if other < 0 else TOO_LONG


@njit(cache=True, nogil=True)  # type: ignore[untyped-decorator]
def extremes(
    codes: Codes, word: NDArray[np.int64], shift: NDArray[np.uint64], mask: NDArray[np.uint64]
) -> tuple[Integers, Integers]:
    """Return the least and the greatest number of packages of each kind in any of the subsets."""
    kinds, words = word.size, codes.shape[1]
    every, some = codes[0].copy(), codes[0].copy()
    for subset in range(1, codes.shape[0]):
        for each in range(words):
            every[each] &= codes[subset, each]
            some[each] |= codes[subset, each]
    least, most = np.empty(kinds, np.int64), np.empty(kinds, np.int64)
    for kind in range(kinds):
        own, place, field = word[kind], shift[kind], mask[kind]
        least[kind] = np.int64((every[own] >> place) & field)
        most[kind] = np.int64((some[own] >> place) & field)
        if field > np.uint64(1) and most[kind] != least[kind]:
            least[kind], most[kind] = np.int64(field), 0
            for subset in range(codes.shape[0]):
                count = np.int64((codes[subset, own] >> place) & field)
                least[kind], most[kind] = min(least[kind], count), max(most[kind], count)
    return least, most


@njit(cache=True, nogil=True)  # type: ignore[untyped-decorator]
def kept(
    codes: Codes,
    word: NDArray[np.int64],
    shift: NDArray[np.uint64],
    mask: NDArray[np.uint64],
    kinds: NDArray[np.int64],
    least: Integers,
    most: Integers,
) -> NDArray[np.bool_]:
    """Tell which subsets have between `least` and `most` packages of each of some kinds."""
    marks = np.ones(codes.shape[0], np.bool_)
    for subset in range(codes.shape[0]):
        for kind in kinds:
            count = np.int64((codes[subset, word[kind]] >> shift[kind]) & mask[kind])
            if count < least[kind] or count > most[kind]:
                marks[subset] = False
                break
    return marks


@njit(cache=True, nogil=True)  # type: ignore[untyped-decorator]
def counts_of(
    codes: Codes, word: NDArray[np.int64], shift: NDArray[np.uint64], mask: NDArray[np.uint64]
) -> NDArray[np.int64]:
    """Return how many packages of each kind are in each subset."""
    counts = np.empty((codes.shape[0], word.size), np.int64)
    for subset in range(codes.shape[0]):
        for kind in range(word.size):
            counts[subset, kind] = np.int64((codes[subset, word[kind]] >> shift[kind]) & mask[kind])
    return counts


def codes_of(counts: Integers, layout: Layout) -> Codes:
    """Return the codes of subsets that hold so many packages of each kind."""
    codes = np.zeros((len(counts), layout.words), np.uint64)
    for kind in range(counts.shape[1]):
        codes[:, layout.word[kind]] += counts[:, kind].astype(np.uint64) << layout.shift[kind]
    return codes
