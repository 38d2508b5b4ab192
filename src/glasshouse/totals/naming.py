"""Who is registered in the bins of a phase, and the adversary's chance to name the entity behind a record.

An entity may be registered in several bins: an importer with branches in two cities. With e_j entities in bin j, N in
the register, U the union of the entities in the feasible bins and P(j) the posterior of bin j, her chance is

    `uniform`  1 / |U|
    `bayes`    max over entities x of Σ_j P(j) · [x in j] / e_j

A record that may have been left out can be anybody's: then U is the register, and P(none) / N is added. In a bin in
which no entity is registered somebody unknown is, who cannot be named: one more in |U|, nobody in the maximum.

Only entities of more than one bin, the *shared* ones, are looked at one by one; the others of a bin are all alike.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numba import njit
from numpy.typing import NDArray

from glasshouse.arrays import Integers
from glasshouse.totals.attempts import Flags, Floats

_ALIKE = 1 - 1e-12
"""Chances that differ by less are taken for the same: they are quotients of exact numbers, rounded."""


@dataclass(frozen=True, eq=False)
class Registered:
    """The entities of the bins of a phase."""

    size: int
    """The number of different entities in the register."""
    counts: Integers
    """Per bin, the number of different entities."""
    one: Integers
    """Per bin, one of its entities; −1: it has none."""
    entity: Integers
    """The entities, bin by bin, in ascending order."""
    shared_start: Integers
    """Per bin, where its entities that are in further bins begin in `shared`, and the end of the last."""
    shared: Integers
    """These entities, numbered from 0."""
    shared_count: int
    """How many of them there are."""

    def uniform(self, table: Flags, bins: Integers, *, left_out: bool) -> Floats:
        """Return the chance of each record by the uniform rule.

        Args:
            table: Per record and bin, whether it is feasible; the bin of records left out comes last.
            bins: The bins of the phase that its columns are.
            left_out: Whether it has a column of records left out.
        """
        out = np.zeros(len(table))
        _uniform(table, bins, left_out, *self._arrays, out)
        return out

    def bayes(self, table: Flags, shares: Floats, bins: Integers, *, left_out: bool) -> Floats:
        """Return the chance of each record by its posterior, given for the feasible pairs, row by row."""
        out = np.zeros(len(table))
        _bayes(table, shares, bins, left_out, *self._arrays, out, np.zeros((0, 0)))
        return out

    def uniform_guesses(self, table: Flags, bins: Integers, *, left_out: bool) -> Floats:
        """Return per record and bin how likely a guess by the uniform rule is of an entity there."""
        out = np.zeros(table.shape)
        _uniform_guesses(table, bins, left_out, *self._arrays, out)
        return out

    def bayes_guesses(
        self, table: Flags, shares: Floats, bins: Integers, *, left_out: bool
    ) -> Floats:
        """Return per record and bin which part of the chance of the best guess is of that bin; ties are drawn."""
        out = np.zeros(table.shape)
        _bayes(table, shares, bins, left_out, *self._arrays, np.zeros(len(table)), out)
        return out

    def holds(self, table: Flags, bins: Integers, entity: Integers) -> Flags:
        """Tell of each record whether an entity is registered in one of its bins.

        Args:
            table: Per record and bin, whether it is meant.
            bins: The bins of the phase that its columns are.
            entity: The entity of each record.
        """
        out = np.zeros(len(table), bool)
        _holds(table, bins, entity, np.append(0, np.cumsum(self.counts)), self.entity, out)
        return out

    @property
    def _arrays(self) -> tuple[int, Integers, Integers, Integers, int]:
        return self.size, self.counts, self.shared_start, self.shared, self.shared_count


def registered(bin_: Integers, entity: Integers, *, bins: int, size: int) -> Registered:
    """Return the register of a phase from pairs of a bin and an entity.

    Args:
        bin_: The bin of each row of the register that is in one.
        entity: The entity of each.
        bins: The number of bins.
        size: The number of different entities in the whole register.

    >>> found = registered(np.array([0, 0, 1, 1]), np.array([7, 8, 8, 8]), bins=3, size=5)
    >>> found.counts.tolist(), found.one.tolist(), found.shared_start.tolist(), found.shared_count
    ([2, 1, 0], [7, 8, -1], [0, 1, 2, 2], 1)
    """
    pairs = np.unique(np.stack([bin_, entity], axis=1), axis=0)
    own_bin, own_entity = pairs[:, 0], pairs[:, 1]
    counts = np.bincount(own_bin, minlength=bins)
    start = np.cumsum(counts) - counts
    one = np.full(bins, -1, np.int64)
    one[counts > 0] = own_entity[start[counts > 0]]
    _, number, times = np.unique(own_entity, return_inverse=True, return_counts=True)
    several = times[number.reshape(-1)] > 1
    distinct, shared = np.unique(own_entity[several], return_inverse=True)
    return Registered(
        size=size,
        counts=counts.astype(np.int64),
        one=one,
        entity=own_entity.astype(np.int64),
        shared_start=np.append(0, np.cumsum(np.bincount(own_bin[several], minlength=bins))),
        shared=shared.reshape(-1).astype(np.int64),
        shared_count=len(distinct),
    )


@njit(cache=True, nogil=True)  # type: ignore[untyped-decorator]
def _uniform(
    table: Flags,
    bins: Integers,
    left_out: bool,
    size: int,
    counts: Integers,
    start: Integers,
    shared: Integers,
    shared_count: int,
    out: Floats,
) -> None:
    seen = np.full(shared_count, -1, np.int64)
    for row in range(len(table)):
        union = bare = 0
        for column in range(len(bins)):
            if not table[row, column]:
                continue
            bin_ = bins[column]
            if not counts[bin_]:
                bare += 1
                continue
            union += counts[bin_]
            for place in range(start[bin_], start[bin_ + 1]):
                if seen[shared[place]] == row:
                    union -= 1
                seen[shared[place]] = row
        if left_out and table[row, len(bins)]:
            union = size
        out[row] = 1 / (union + bare) if union else 0.0


@njit(cache=True, nogil=True)  # type: ignore[untyped-decorator]
def _holds(
    table: Flags, bins: Integers, wanted: Integers, start: Integers, entity: Integers, out: Flags
) -> None:
    for row in range(len(table)):
        for column in range(len(bins)):
            if not table[row, column] or out[row]:
                continue
            first, end = start[bins[column]], start[bins[column] + 1]
            place = first + np.searchsorted(entity[first:end], wanted[row])
            out[row] = place < end and entity[place] == wanted[row]


@njit(cache=True, nogil=True)  # type: ignore[untyped-decorator]
def _uniform_guesses(
    table: Flags,
    bins: Integers,
    left_out: bool,
    size: int,
    counts: Integers,
    start: Integers,
    shared: Integers,
    shared_count: int,
    out: Floats,
) -> None:
    times = np.zeros(shared_count, np.int64)
    for row in range(len(table)):
        if left_out and table[row, len(bins)]:
            out[row, len(bins)] = 1.0
            continue
        for column in range(len(bins)):
            if table[row, column]:
                for place in range(start[bins[column]], start[bins[column] + 1]):
                    times[shared[place]] += 1
        whole = 0.0
        for column in range(len(bins)):
            if table[row, column]:
                bin_ = bins[column]
                own = float(counts[bin_] - (start[bin_ + 1] - start[bin_]))
                for place in range(start[bin_], start[bin_ + 1]):
                    own += 1 / times[shared[place]]
                out[row, column] = own
                whole += own
        if not whole:
            for column in range(len(bins)):
                out[row, column] = 1.0 if table[row, column] else 0.0
                whole += out[row, column]
        if whole:
            out[row] /= whole
        for column in range(len(bins)):
            if table[row, column]:
                for place in range(start[bins[column]], start[bins[column] + 1]):
                    times[shared[place]] = 0


@njit(cache=True, nogil=True)  # type: ignore[untyped-decorator]
def _bayes(
    table: Flags,
    shares: Floats,
    bins: Integers,
    left_out: bool,
    size: int,
    counts: Integers,
    start: Integers,
    shared: Integers,
    shared_count: int,
    chances: Floats,
    guesses: Floats,
) -> None:
    """Set the chances and, if their table is not empty, where the best guesses are."""
    own = np.zeros(shared_count)
    each = np.zeros(len(bins))
    first = 0
    for row in range(len(table)):
        pair, anybody, best = first, 0.0, 0.0
        for column in range(table.shape[1]):
            if not table[row, column]:
                continue
            share = shares[pair]
            pair += 1
            if left_out and column == len(bins):
                anybody = share / size
                continue
            bin_ = bins[column]
            if not counts[bin_]:
                continue
            each[column] = share / counts[bin_]
            best = max(best, each[column])
            for place in range(start[bin_], start[bin_ + 1]):
                own[shared[place]] += each[column]
                best = max(best, own[shared[place]])
        chances[row] = best + anybody
        if len(guesses):
            _guess(
                table[row],
                shares[first:pair],
                bins,
                left_out,
                counts,
                start,
                shared,
                own,
                each,
                best,
                anybody,
                guesses[row],
            )
        for column in range(len(bins)):
            if table[row, column]:
                each[column] = 0.0
                for place in range(start[bins[column]], start[bins[column] + 1]):
                    own[shared[place]] = 0.0
        first = pair


@njit(cache=True, nogil=True)  # type: ignore[untyped-decorator]
def _guess(
    open_: Flags,
    shares: Floats,
    bins: Integers,
    left_out: bool,
    counts: Integers,
    start: Integers,
    shared: Integers,
    own: Floats,
    each: Floats,
    best: float,
    anybody: float,
    out: NDArray[np.float64],
) -> None:
    """Share the best guess out among the bins that it rests on; entities that are as likely have equal parts."""
    if not best:
        pair = 0
        for column in range(len(open_)):
            if open_[column]:
                out[column] = shares[pair]
                pair += 1
        return
    whole = 0.0
    for column in range(len(bins)):
        if not open_[column] or not counts[bins[column]]:
            continue
        bin_ = bins[column]
        alone = counts[bin_] - (start[bin_ + 1] - start[bin_])
        if alone and each[column] >= best * _ALIKE:
            out[column] += alone * each[column]
        for place in range(start[bin_], start[bin_ + 1]):
            if own[shared[place]] >= best * _ALIKE:
                out[column] += each[column]
        whole += out[column]
    for column in range(len(bins)):
        out[column] *= best / (whole * (best + anybody))
    if left_out:
        out[len(bins)] = anybody / (best + anybody)
