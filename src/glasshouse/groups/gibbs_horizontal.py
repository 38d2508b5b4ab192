"""Collapsed Gibbs sampling of a horizontal release whose generalised values overlap: which value each row has.

Given the sensitive values, the attributes are independent, and the population is integrated out. Rows with the same
label and sensitive value are exchangeable and form a *class*. With n[v, s] rows of attribute value v and sensitive
value s, the class not counted, the values of its rows are a Pólya urn: they are drawn row by row, v with

> f(v) = (β_v + n[v, s]) / Σ_{y ∈ Y} (β_y + n[y, s]),  Y the label's values,

each row drawn counting for the next. So a class is drawn *as a whole*, given all others; drawing each row given all
others, its own class included, would hardly move large classes. What is recorded is f(v) before the first row: the
exact marginal of every row of the class (Rao-Blackwell). Its mean over the draws is f(R_j = v | t*), and p_A follows
from Lemma 1 of Boreale, Corradi and Viscardi (2020): p_A(s | r) ∝ Σ over the groups of the number of their rows of s
times Π_attributes f(R_j = r_a | t*).

Where no two labels cross, the closed form of `glasshouse.groups.tree` needs no sampling.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numba import njit

from glasshouse.arrays import Codes, Floats, Integers, Words
from glasshouse.groups.chains import Chain, uniform
from glasshouse.groups.labels import ValueSets
from glasshouse.groups.release import Release
from glasshouse.groups.victims import Victims


@dataclass(frozen=True)
class HorizontalPlan:
    """A horizontal release, laid out for the sampler; nothing in it changes."""

    class_starts: Integers
    """Where the rows of each class start among the items (pairs of a row and an attribute that is not certain)."""
    class_sensitive: Codes
    """Per class, the sensitive value of its rows."""
    class_places: Integers
    """Per class, where the values of its label start in `members`."""
    class_sizes: Integers
    """Per class, of how many values its label is."""
    members: Codes
    """The values of all labels, label by label, as numbers counted through all attributes."""
    label_places: tuple[Integers, ...]
    """Per attribute and label, where its values start in `members`."""
    known: Floats
    """β plus the number of rows whose value is certain, per attribute value and sensitive value."""

    @property
    def items(self) -> int:
        """How many values have to be drawn in a sweep."""
        return int(self.class_starts[-1])


def horizontal_plan(release: Release) -> HorizontalPlan:
    """Lay out a horizontal release: the certain values are counted, the others put into classes."""
    width, sensitive = len(release.sensitive.values), release.sensitive_codes
    prior = np.concatenate([attribute.betas for attribute in release.attributes])
    known = np.repeat(prior[:, None], width, axis=1)
    sizes, secrets, places, counts, label_places, members = [], [], [], [], [], []
    place = 0
    for number, attribute in enumerate(release.attributes):
        sets, offset = attribute.sets, release.value_starts[number]
        labels = release.codes[release.group_of_row, number].astype(np.int64)
        certain = sets.sizes[labels] == 1
        value = sets.members[sets.starts[labels[certain]]] + offset
        np.add.at(known, (value, sensitive[certain]), 1.0)
        keys, many = np.unique(labels[~certain] * width + sensitive[~certain], return_counts=True)
        secrets.append(keys % width)
        sizes.append(sets.sizes[keys // width])
        places.append(place + sets.starts[keys // width])
        counts.append(many)
        label_places.append(place + sets.starts)
        members.append(sets.members + offset)
        place += len(sets.members)
    return HorizontalPlan(
        class_starts=np.concatenate([[0], np.cumsum(np.concatenate(counts))]).astype(np.int64),
        class_sensitive=np.concatenate(secrets).astype(np.int32),
        class_places=np.concatenate(places).astype(np.int64),
        class_sizes=np.concatenate(sizes).astype(np.int64),
        members=np.concatenate(members).astype(np.int32),
        label_places=tuple(label_places),
        known=known,
    )


class HorizontalChain:
    """One chain: the value that each item has now, and the counts that follow from them."""

    def __init__(self, plan: HorizontalPlan, stream: Words) -> None:
        self.plan = plan
        self.stream = stream
        self.held = np.zeros(plan.items, np.int32)
        """Per item, its value."""
        self.counts = plan.known.copy()
        """Per attribute value and sensitive value, β plus the number of rows."""
        self._weights = np.empty(int(plan.class_sizes.max(initial=1)))

    def start(self) -> None:
        """Give every item a random value of its label."""
        plan = self.plan
        _scatter(
            plan.class_starts,
            plan.class_places,
            plan.class_sizes,
            plan.members,
            self.held,
            self.stream,
        )
        self.recount()

    def recount(self) -> None:
        """Make the counts anew from the values that are held."""
        self.counts[:] = self.plan.known
        _count(self.plan.class_starts, self.plan.class_sensitive, self.held, self.counts)

    def sweep(self, marginals: Floats | None = None, *, power: float = 1.0) -> None:
        """Draw every class once, given the others.

        Args:
            marginals: Per value of a label and sensitive value (members × sensitive values), where the probability of
                the value is added; none are made without it.
            power: The exponent of the weights: below 1 draws are flatter (tempering, for the burn-in only).
        """
        plan = self.plan
        _sweep(
            plan.class_starts,
            plan.class_sensitive,
            plan.class_places,
            plan.class_sizes,
            plan.members,
            self.held,
            self.counts,
            marginals is not None,
            marginals if marginals is not None else np.zeros((0, 0)),
            power,
            self.stream,
            self._weights,
        )


class HorizontalModel:
    """Recoding: the marginals are those of a value of a label and a sensitive value."""

    def __init__(self, release: Release, victims: Victims) -> None:
        self._width = len(release.sensitive.values)
        self.plan = horizontal_plan(release)
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
        sums = [marginals[places].sum(axis=0, keepdims=True) for places in self._sums]
        chances = np.concatenate([np.ones((1, self._width)), marginals, *sums])
        self._weigh(chances, out)

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
    starts = np.cumsum([0, *(len(of_attribute) for of_attribute in tables)])[:-1].astype(np.int64)
    return starts, np.concatenate(tables).astype(np.int32), sums


# One sweep, and what the attacker makes of it.
@njit(cache=True, nogil=True)  # type: ignore[untyped-decorator]
def _scatter(
    class_starts: Integers,
    class_places: Integers,
    class_sizes: Integers,
    members: Codes,
    held: Codes,
    stream: Words,
) -> None:
    for number in range(len(class_places)):
        for item in range(class_starts[number], class_starts[number + 1]):
            held[item] = members[class_places[number] + int(uniform(stream) * class_sizes[number])]


@njit(cache=True, nogil=True)  # type: ignore[untyped-decorator]
def _count(class_starts: Integers, class_sensitive: Codes, held: Codes, counts: Floats) -> None:
    for number in range(len(class_sensitive)):
        for item in range(class_starts[number], class_starts[number + 1]):
            counts[held[item], class_sensitive[number]] += 1.0


@njit(cache=True, nogil=True)  # type: ignore[untyped-decorator]
def _sweep(
    class_starts: Integers,
    class_sensitive: Codes,
    class_places: Integers,
    class_sizes: Integers,
    members: Codes,
    held: Codes,
    counts: Floats,
    recording: bool,
    marginals: Floats,
    power: float,
    stream: Words,
    weights: Floats,
) -> None:
    for number in range(len(class_sensitive)):
        secret, first, size = class_sensitive[number], class_places[number], class_sizes[number]
        for item in range(class_starts[number], class_starts[number + 1]):
            counts[held[item], secret] -= 1.0
        if recording:
            whole = 0.0
            for at in range(size):
                whole += counts[members[first + at], secret]
            for at in range(size):
                marginals[first + at, secret] += counts[members[first + at], secret] / whole
        for item in range(class_starts[number], class_starts[number + 1]):
            total = 0.0
            for at in range(size):
                weight = counts[members[first + at], secret]
                if power != 1.0:
                    weight **= power
                weights[at] = weight
                total += weight
            remaining = uniform(stream) * total
            chosen = size - 1
            for at in range(size):
                remaining -= weights[at]
                if remaining < 0.0:
                    chosen = at
                    break
            held[item] = members[first + chosen]
            counts[held[item], secret] += 1.0


@njit(cache=True, nogil=True)  # type: ignore[untyped-decorator]
def numerators(
    candidate_starts: Integers,
    candidates: Integers,
    group_labels: Codes,
    victim_sets: Codes,
    pair_starts: Integers,
    pairs: Codes,
    set_numbers: Integers,
    block_starts: Integers,
    block_sensitive: Codes,
    block_rows: Integers,
    chances: Floats,
    out: Floats,
) -> None:
    """Write, per victim and sensitive value, Σ over rows j of that value of f(R_j is as the victim).

    Args:
        candidate_starts: Per victim, where its groups start in `candidates`.
        candidates: The groups that can hold a victim.
        group_labels: Per group and attribute, the number of the label.
        victim_sets: Per victim and attribute, the number of the set that is known.
        pair_starts: Per attribute, where its table of labels by known sets starts in `pairs`.
        pairs: The row of `chances` that says how probable the known set is, given the label; -1 if impossible.
        set_numbers: Per attribute, how many known sets there are.
        block_starts: Per group, where its distinct sensitive values start.
        block_sensitive: The distinct sensitive values of the groups.
        block_rows: How many rows of the group have it.
        chances: Per row that `pairs` names and sensitive value, a probability.
        out: Where the sums are written (victims × sensitive values).
    """
    attributes = victim_sets.shape[1]
    rows = np.empty(attributes, np.int64)
    for victim in range(len(victim_sets)):
        out[victim] = 0.0
        for place in range(candidate_starts[victim], candidate_starts[victim + 1]):
            group = candidates[place]
            possible = True
            for a in range(attributes):
                at = group_labels[group, a] * set_numbers[a] + victim_sets[victim, a]
                rows[a] = pairs[pair_starts[a] + at]
                possible = possible and rows[a] >= 0
            if possible:
                for block in range(block_starts[group], block_starts[group + 1]):
                    secret = block_sensitive[block]
                    product = float(block_rows[block])
                    for a in range(attributes):
                        product *= chances[rows[a], secret]
                    out[victim, secret] += product
