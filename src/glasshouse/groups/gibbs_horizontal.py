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

from typing import NamedTuple

import numpy as np

from glasshouse.arrays import Codes, Floats, Integers, Words
from glasshouse.compiled import compiled
from glasshouse.groups.chains import uniform
from glasshouse.groups.labels import ValueSets, starts_of
from glasshouse.groups.release import Release
from glasshouse.groups.victims import Victims


class HorizontalPlan(NamedTuple):
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
    member_starts: Integers
    """Per attribute, where the values of its labels start in `members`, and where the last ones end."""
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
    sizes, secrets, places, counts, members = [], [], [], [], []
    member_starts = starts_of([len(attribute.sets.members) for attribute in release.attributes])
    for number, attribute in enumerate(release.attributes):
        sets, offset = attribute.sets, release.value_starts[number]
        labels = release.codes[release.group_of_row, number].astype(np.int64)
        certain = sets.sizes[labels] == 1
        value = sets.members[sets.starts[labels[certain]]] + offset
        np.add.at(known, (value, sensitive[certain]), 1.0)
        keys, many = np.unique(labels[~certain] * width + sensitive[~certain], return_counts=True)
        secrets.append(keys % width)
        sizes.append(sets.sizes[keys // width])
        places.append(member_starts[number] + sets.starts[keys // width])
        counts.append(many)
        members.append(sets.members + offset)
    return HorizontalPlan(
        class_starts=starts_of(np.concatenate(counts)),
        class_sensitive=np.concatenate(secrets).astype(np.int32),
        class_places=np.concatenate(places).astype(np.int64),
        class_sizes=np.concatenate(sizes).astype(np.int64),
        members=np.concatenate(members).astype(np.int32),
        member_starts=member_starts,
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
        _scatter(self.plan, self.held, self.stream)
        self.recount()

    def recount(self) -> None:
        """Make the counts anew from the values that are held."""
        self.counts[:] = self.plan.known
        _count(self.plan, self.held, self.counts)

    def sweep(self, marginals: Floats | None = None, *, power: float = 1.0) -> None:
        """Draw every class once, given the others.

        Args:
            marginals: Per value of a label and sensitive value (members × sensitive values), where the probability of
                the value is added; none are made without it.
            power: The exponent of the weights: below 1 draws are flatter (tempering, for the burn-in only).
        """
        recording = marginals is not None
        marginals = marginals if marginals is not None else np.zeros((0, 0))
        _sweep(
            self.plan, self.held, self.counts, self.stream, recording, marginals, power,
            self._weights,
        )  # fmt: skip


class HorizontalModel:
    """Recoding: the marginals are those of a value of a label and a sensitive value.

    ``support`` are the cells (victim · values + value) that the attacker can hold possible, ascending.
    """

    def __init__(self, release: Release, victims: Victims) -> None:
        self._width = len(release.sensitive.values)
        self.plan = horizontal_plan(release)
        pair_starts, pairs, self._sums = _pair_tables(release, victims, self.plan)
        self._question = _Question(
            victims.candidate_starts,
            victims.candidates,
            np.ascontiguousarray(release.codes, np.int32),
            victims.codes,
            pair_starts,
            pairs,
            np.array([len(known) for known in victims.known], np.int64),
            *release.sensitive_counts,
        )
        # With every chance 1, the cells above 0 are those that the attacker can hold possible.
        possible = np.empty((len(victims), self._width))
        rows = 1 + len(self.plan.members) + len(self._sums)
        _numerators(self._question, np.ones((rows, self._width)), possible)
        self.support = np.flatnonzero(possible.reshape(-1) > 0)

    def chain(self, stream: Words) -> HorizontalChain:
        """Return a chain with this random stream."""
        return HorizontalChain(self.plan, stream)

    def room(self) -> Floats:
        """Return an array for the marginals of a sweep, all 0."""
        return np.zeros((len(self.plan.members), self._width))

    def attack(self, marginals: Floats, out: Floats) -> None:
        """Write the attacker's numerators of a sweep (victims × sensitive values)."""
        sums = [marginals[places].sum(axis=0, keepdims=True) for places in self._sums]
        chances = np.concatenate([np.ones((1, self._width)), marginals, *sums])
        _numerators(self._question, chances, out)


class _Question(NamedTuple):
    """Groups and victims, laid out for the attacker's sums; nothing in it changes."""

    candidate_starts: Integers
    """Per victim, where its groups start in `candidates`."""
    candidates: Integers
    """The groups that can hold a victim."""
    group_labels: Codes
    """Per group and attribute, the number of the label."""
    victim_sets: Codes
    """Per victim and attribute, the number of the set that is known."""
    pair_starts: Integers
    """Per attribute, where its table of labels by known sets starts in `pairs`."""
    pairs: Codes
    """The row of chances that says how probable the known set is, given the label; -1 if impossible."""
    set_numbers: Integers
    """Per attribute, how many known sets there are."""
    block_starts: Integers
    """Per group, where its distinct sensitive values start."""
    block_sensitive: Codes
    """The distinct sensitive values of the groups."""
    block_rows: Integers
    """How many rows of the group have it."""


def _pair_tables(
    release: Release, victims: Victims, plan: HorizontalPlan
) -> tuple[Integers, Codes, list[Integers]]:
    """Say, per attribute, label and known set, which row of chances tells how probable the set is.

    Row 0 is certainty, row 1 + m the m-th member of a label; sums of several members follow.
    """
    tables, sums = [], []
    extra = 1 + len(plan.members)
    for attribute, known, start in zip(
        release.attributes, victims.known, plan.member_starts, strict=False
    ):
        sets: ValueSets = attribute.sets
        of_value = np.full((len(sets), sets.domain), -1, np.int64)
        label = np.repeat(np.arange(len(sets)), sets.sizes)
        of_value[label, sets.members] = start + np.arange(len(sets.members)) + 1
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
    starts = starts_of([len(table) for table in tables])[:-1]
    return starts, np.concatenate(tables).astype(np.int32), sums


# One sweep, and what the attacker makes of it.
@compiled
def _scatter(plan: HorizontalPlan, held: Codes, stream: Words) -> None:
    starts, places, sizes = plan.class_starts, plan.class_places, plan.class_sizes
    for number in range(len(places)):
        for item in range(starts[number], starts[number + 1]):
            held[item] = plan.members[places[number] + int(uniform(stream) * sizes[number])]


@compiled
def _count(plan: HorizontalPlan, held: Codes, counts: Floats) -> None:
    for number in range(len(plan.class_sensitive)):
        for item in range(plan.class_starts[number], plan.class_starts[number + 1]):
            counts[held[item], plan.class_sensitive[number]] += 1.0


@compiled
def _sweep(
    plan: HorizontalPlan,
    held: Codes,
    counts: Floats,
    stream: Words,
    recording: bool,
    marginals: Floats,
    power: float,
    weights: Floats,
) -> None:
    # Arrays are taken out of the tuple before the loops: inside, that would cost as much as the work.
    class_starts, class_sensitive, members = plan.class_starts, plan.class_sensitive, plan.members
    class_places, class_sizes = plan.class_places, plan.class_sizes
    for number in range(len(class_sensitive)):
        secret, first, size = class_sensitive[number], class_places[number], class_sizes[number]
        # The class leaves the counts: what is left is the urn of f(v), given all other classes.
        for item in range(class_starts[number], class_starts[number + 1]):
            counts[held[item], secret] -= 1.0
        # Before the first draw the urn gives the exact marginal of every row (Rao-Blackwell).
        if recording:
            whole = 0.0
            for at in range(size):
                whole += counts[members[first + at], secret]
            for at in range(size):
                marginals[first + at, secret] += counts[members[first + at], secret] / whole
        # Its rows are drawn one by one, each counting for the next; at the end all of them are counted again.
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


@compiled
def _numerators(question: _Question, chances: Floats, out: Floats) -> None:
    """Write, per victim and sensitive value, Σ over rows j of that value of f(R_j is as the victim).

    Args:
        question: Who it is about.
        chances: Per row that `pairs` names and sensitive value, a probability.
        out: Where the sums are written (victims × sensitive values).
    """
    candidate_starts, candidates, group_labels, victim_sets = question[:4]
    pair_starts, pairs, set_numbers = question[4:7]
    block_starts, block_sensitive, block_rows = question[7:]
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
