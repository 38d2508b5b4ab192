"""A release and its victims, laid out for sampling: vertical and horizontal behind one face.

A model makes chains, and turns the marginal probabilities that a sweep recorded into the attacker's numerators
Σ_{j: s_j = s} f(R_j as the victim) (Lemma 1 and equation 15 of Boreale, Corradi and Viscardi 2020).
"""

from __future__ import annotations

from typing import Protocol

import numpy as np
from numba import njit
from numpy.typing import NDArray

from glasshouse.groups.chains import Floats, Integers, Words
from glasshouse.groups.gibbs_horizontal import (
    HorizontalChain,
    HorizontalPlan,
    Labels,
    horizontal_plan,
    numerators,
)
from glasshouse.groups.gibbs_vertical import VerticalChain, VerticalPlan, vertical_plan
from glasshouse.groups.labels import ValueSets
from glasshouse.groups.release import Release
from glasshouse.groups.victims import Victims

Codes = NDArray[np.int32]


class Chain(Protocol):
    """What is drawn: the cleartext table, given the release."""

    held: Codes
    counts: Floats
    stream: Words

    def start(self) -> None:
        """Take a random state."""

    def recount(self) -> None:
        """Make the counts anew from what is held."""

    def sweep(self, marginals: Floats | None = None, *, power: float = 1.0) -> None:
        """Draw everything once."""


class Model(Protocol):
    """A release and its victims, ready for chains."""

    support: Integers
    """The cells (victim · values + value) that the attacker can hold possible, ascending."""

    def chain(self, stream: Words) -> Chain:
        """Return a chain with this random stream."""

    def room(self) -> Floats:
        """Return an array for the marginals of a sweep, all 0."""

    def attack(self, marginals: Floats, out: Floats) -> None:
        """Write the attacker's numerators of a sweep (victims × sensitive values)."""

    def category(self, chain: Chain, victim: int) -> int:
        """Return a categorical variable that a chain draws for a victim, for the Weiß test."""


def model_of(release: Release, victims: Victims) -> Model:
    """Lay out a release and its victims."""
    if release.is_vertical:
        return VerticalModel(release, victims)
    return HorizontalModel(release, victims)


class VerticalModel:
    """Anatomy: the marginals are those of pairs of a distinct row and a sensitive value."""

    def __init__(self, release: Release, victims: Victims) -> None:
        sizes = [len(each.values) for each in release.attributes]
        offsets = np.cumsum([0, *sizes[:-1]])
        self.plan: VerticalPlan = vertical_plan(
            release.starts,
            release.codes + offsets[None, :],
            release.sensitive_codes,
            prior=np.concatenate([each.betas for each in release.attributes]),
            sensitive_values=len(release.sensitive.values),
        )
        self._row_starts, self._rows, self._example = _matching_rows(self.plan, victims, sizes)
        self.support = _support(self._row_starts, self._rows, self.plan)

    def chain(self, stream: Words) -> Chain:
        """Return a chain with this random stream."""
        return VerticalChain(self.plan, stream)

    def room(self) -> Floats:
        """Return an array for the marginals of a sweep, all 0."""
        return np.zeros(self.plan.cells)

    def attack(self, marginals: Floats, out: Floats) -> None:
        """Write the attacker's numerators of a sweep."""
        plan = self.plan
        _gather(self._row_starts, self._rows, plan.cell_ends, plan.cell_sensitive, marginals, out)

    def category(self, chain: Chain, victim: int) -> int:
        """Return the sensitive value that the first row like the victim is drawn with."""
        row = self._example[victim]
        if row < 0:
            return 0
        starts = self.plan.starts
        group = int(np.searchsorted(starts, row, side="right")) - 1
        held = chain.held[starts[group] : starts[group + 1]]
        slot = starts[group] + int(np.flatnonzero(held == row)[0])
        return int(self.plan.sensitive[slot])


class HorizontalModel:
    """Recoding: the marginals are those of a value of a label and a sensitive value."""

    def __init__(self, release: Release, victims: Victims) -> None:
        self._width = len(release.sensitive.values)
        labels = [Labels(a.sets.starts, a.sets.members, a.betas) for a in release.attributes]
        self.plan: HorizontalPlan = horizontal_plan(
            release.codes,
            labels,
            starts=release.starts,
            sensitive=release.sensitive_codes,
            sensitive_values=self._width,
        )
        self._victims = victims
        self._group_labels = np.ascontiguousarray(release.codes, np.int32)
        self._block_starts, self._block_sensitive, self._block_rows = release.sensitive_counts
        self._pair_starts, self._pairs, self._sums = _pair_tables(release, victims, self.plan)
        self._set_numbers = np.array([len(known) for known in victims.known], np.int64)
        self.support = self._possible()

    def chain(self, stream: Words) -> Chain:
        """Return a chain with this random stream."""
        return HorizontalChain(self.plan, stream)

    def room(self) -> Floats:
        """Return an array for the marginals of a sweep, all 0."""
        return np.zeros((len(self.plan.members), self._width))

    def attack(self, marginals: Floats, out: Floats) -> None:
        """Write the attacker's numerators of a sweep."""
        sums = [marginals[places].sum(axis=0) for places in self._sums]
        certain = np.ones((1, self._width))
        chances = np.concatenate([certain, marginals, *(own[None, :] for own in sums)])
        self._weigh(chances, out)

    def category(self, chain: Chain, victim: int) -> int:
        """Return the value drawn for the first uncertain attribute of one row of the victim's first group."""
        item = self._example(victim)
        return 0 if item is None else int(chain.held[item])

    def _example(self, victim: int) -> int | None:
        if not self._victims.in_table[victim]:
            return None
        group = self._victims.groups_of(victim)[0]
        secret = self._block_sensitive[self._block_starts[group]]
        for label, places in zip(self._group_labels[group], self.plan.label_places, strict=True):
            alike = (self.plan.class_places == places[label]) & (
                self.plan.class_sensitive == secret
            )
            if alike.any():
                return int(self.plan.class_starts[:-1][alike][0])
        return None

    def _weigh(self, chances: Floats, out: Floats) -> None:
        victims = self._victims
        numerators(
            victims.candidate_starts,
            victims.candidates,
            self._group_labels,
            victims.codes,
            self._pair_starts,
            self._pairs,
            self._set_numbers,
            self._block_starts,
            self._block_sensitive,
            self._block_rows,
            chances,
            out,
        )

    def _possible(self) -> Integers:
        out = np.empty((len(self._victims), self._width))
        rows = 1 + len(self.plan.members) + len(self._sums)
        self._weigh(np.ones((rows, self._width)), out)
        return np.flatnonzero(out.reshape(-1) > 0)


def _matching_rows(
    plan: VerticalPlan, victims: Victims, sizes: list[int]
) -> tuple[Integers, Integers, Integers]:
    """Find, per victim, the distinct rows that are as what is known of it, and one row of the table."""
    marks = [known.matrix() for known in victims.known]
    mark_starts = np.cumsum([0, *(own.size for own in marks)])[:-1].astype(np.int64)
    flat = np.concatenate([own.reshape(-1) for own in marks])
    offsets = np.cumsum([0, *sizes[:-1]]).astype(np.int64)
    lengths = np.zeros(len(victims) + 1, np.int64)
    example = np.full(len(victims), -1, np.int64)
    nothing = np.zeros(0, np.int64)
    arguments = (
        victims.candidate_starts,
        victims.candidates,
        victims.codes,
        plan.starts,
        plan.values,
        plan.distinct,
        len(plan.copies),
        flat,
        mark_starts,
        np.array(sizes, np.int64),
        offsets,
    )
    _match(*arguments, lengths, nothing, example, False)
    starts = np.cumsum(lengths)
    rows = np.empty(int(starts[-1]), np.int64)
    _match(*arguments, starts.copy(), rows, example, True)
    return starts, rows, example


@njit(cache=True, nogil=True)  # type: ignore[untyped-decorator]
def _match(
    candidate_starts: Integers,
    candidates: Integers,
    victim_sets: Codes,
    starts: Integers,
    values: Codes,
    distinct: Codes,
    distinct_rows: int,
    marks: NDArray[np.bool_],
    mark_starts: Integers,
    domain_sizes: Integers,
    offsets: Integers,
    places: Integers,
    rows: Integers,
    example: Integers,
    filling: bool,
) -> None:
    """Count the matching distinct rows of each victim (at the place behind its own), or write them down."""
    seen = np.full(distinct_rows, -1, np.int64)
    for victim in range(len(victim_sets)):
        for place in range(candidate_starts[victim], candidate_starts[victim + 1]):
            for row in range(starts[candidates[place]], starts[candidates[place] + 1]):
                if seen[distinct[row]] == victim:
                    continue
                alike = True
                for a in range(values.shape[1]):
                    at = victim_sets[victim, a] * domain_sizes[a] + values[row, a] - offsets[a]
                    if not marks[mark_starts[a] + at]:
                        alike = False
                        break
                if alike:
                    seen[distinct[row]] = victim
                    if filling:
                        rows[places[victim]] = distinct[row]
                        places[victim] += 1
                    else:
                        places[victim + 1] += 1
                        example[victim] = row


def _support(row_starts: Integers, rows: Integers, plan: VerticalPlan) -> Integers:
    victims = np.repeat(np.arange(len(row_starts) - 1), np.diff(row_starts))
    lengths = np.diff(plan.cell_ends)[rows]
    first = plan.cell_ends[rows]
    within = np.arange(int(lengths.sum())) - np.repeat(np.cumsum(lengths) - lengths, lengths)
    secrets = plan.cell_sensitive[np.repeat(first, lengths) + within]
    return np.unique(np.repeat(victims, lengths) * plan.sensitive_values + secrets)


@njit(cache=True, nogil=True)  # type: ignore[untyped-decorator]
def _gather(
    row_starts: Integers,
    rows: Integers,
    cell_ends: Integers,
    cell_sensitive: Codes,
    marginals: Floats,
    out: Floats,
) -> None:
    for victim in range(len(row_starts) - 1):
        out[victim] = 0.0
        for place in range(row_starts[victim], row_starts[victim + 1]):
            for cell in range(cell_ends[rows[place]], cell_ends[rows[place] + 1]):
                out[victim, cell_sensitive[cell]] += marginals[cell]


def _pair_tables(
    release: Release, victims: Victims, plan: HorizontalPlan
) -> tuple[Integers, Codes, list[Integers]]:
    """Say, per attribute, label and known set, which row of chances tells how probable the set is.

    Row 0 is certainty, row 1 + m the m-th member of a label; sums of several members follow.
    """
    tables, sums = [], []
    extra = 1 + len(plan.members)
    for attribute, known, places in zip(
        release.attributes, victims.known, plan.label_places, strict=True
    ):
        sets: ValueSets = attribute.sets
        of_value = np.full((len(sets), sets.domain), -1, np.int64)
        label = np.repeat(np.arange(len(sets)), sets.sizes)
        of_value[label, sets.members] = places[0] + np.arange(len(sets.members)) + 1
        table = np.full((len(sets), len(known)), -1, np.int64)
        for number in range(len(known)):
            inside = of_value[:, known.values(number)]
            common = (inside > 0).sum(axis=1)
            table[:, number] = np.where(common == 1, inside.max(axis=1, initial=-1), -1)
            table[common == sets.sizes, number] = 0
            for several in np.flatnonzero((common > 1) & (common < sets.sizes)):
                members = inside[several]
                sums.append(members[members > 0] - 1)
                table[several, number] = extra
                extra += 1
        tables.append(table.reshape(-1))
    starts = np.cumsum([0, *(len(own) for own in tables)])[:-1].astype(np.int64)
    return starts, np.concatenate(tables).astype(np.int32), sums
