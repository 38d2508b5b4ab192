"""What is known of every record after each phase: the adversary's chance to name its entity, and what it rests on.

**Standing.** Every phase says truly in which of its bins a record can be, and what she knows only grows. Of two phases

* on the same groups, the later one with more to narrow it knows all that the earlier one knew: its answer counts;
* on other totals, the one with the higher chance counts. Their bins are not intersected here: that is what
  `narrowed_by` is for, which does it exactly.

An entity is *certain* if the proved bins of some phase have it alone, and no other phase contradicts it: it is
registered in one of the bins that each of them leaves open, and none of them leaves a bin open in which nobody is
registered, where somebody unknown would be. The name is kept with the certainty.

**Bins.** A record counts for the bin of her guess: where the entity that is most likely behind it is registered. If
that entity has branches, it counts for each of their bins by the part of the chance that it gives; if several entities
are as likely, for the bins of all of them, as often as a guess among them is there. The parts of a record add up to 1,
and so those of all bins to the figures of the step. Records that no total was joined with count for no bin.

A bin is what its columns say it is: ("New York", "City") is another than ("New", "York City"), and a city "Rio" another
than a state "Rio". In phases with the same columns it is the same. Results call it by its texts put together, told
apart where two would be called the same.
"""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from glasshouse.arrays import Flags, Floats, Integers
from glasshouse.reconstruction.group_instance import NONE
from glasshouse.reconstruction.phase import SolvedPhase, has_same_groups, linked_by
from glasshouse.study.totals import Phase, TotalsStudy

NOTHING = -1
"""The source of a chance that rests on the register alone."""
NOBODY = -1
"""The name of an entity that is not certain."""
JOINED, SOLVED, WEIGHTED = range(3)
"""What a chance rests on: the bins of an instance; the feasible ones; how many allocations speak for each."""
_KINDS, _PARTS = 3, 1 << 40


@dataclass(eq=False)
class Standing:
    """Per record, what the adversary can do after some phases."""

    uniform: Floats
    """Her chance by the uniform rule; see `glasshouse.reconstruction.chances`."""
    bayes: Floats
    """Her chance by the posterior, where it is known; else by the uniform rule."""
    named: Integers
    """The entity that is certain, as a code of the register; or `NOBODY`."""
    linked: Flags
    """Whether the bin is certain."""
    proved: Flags
    """Whether the bins that results tell are exactly those that are left."""
    unregistered: Flags
    """Whether nobody of the register is in the bins that are left: then nobody can be named."""
    bins_source: Integers
    """Where the bins come from that results tell: the source with the sharpest ones; see `source_of`."""
    bins_left: Integers
    """How many these are."""
    uniform_source: Integers
    """What `uniform` rests on."""
    bayes_source: Integers
    """What `bayes` rests on."""

    @property
    def certain(self) -> Flags:
        """Whether the entity is certain."""
        return np.asarray(self.named != NOBODY)

    def copied(self) -> Standing:
        """Return a copy that can be changed."""
        return Standing(**{name: column.copy() for name, column in vars(self).items()})

    def chances(self, rule: str) -> Floats:
        """Return the chances by a rule, "uniform" or "bayes"."""
        return self.uniform if rule == "uniform" else self.bayes

    def sources(self, rule: str) -> Integers:
        """Return what they rest on."""
        return self.uniform_source if rule == "uniform" else self.bayes_source


@dataclass(frozen=True, eq=False)
class _News:
    """What a phase says about some records."""

    rows: Integers
    """The records."""
    bins_left: Integers
    """How many bins are left for each."""
    uniform: Floats
    """The chance of each by the uniform rule; 0 without a register."""
    bayes: Floats
    """The same by the posterior, where it was counted."""
    entity: Integers
    """The only entity that it can be, or `NOBODY`."""
    nobody: Flags
    """Whether nobody is registered in the bins that are left."""
    source: Integers
    """Where the bins come from."""
    bayes_source: Integers
    """What `bayes` rests on."""
    counted: bool
    """Whether that is the posterior; else it is the uniform rule."""
    exact: Flags
    """Of which records the bins are exactly those that are left; of the others they may be more."""
    sure: bool
    """Whether it is proved that the totals can be met at all."""


def sources(phase: int, part: Integers, kind: int) -> Integers:
    """Return the codes of what chances rest on.

    >>> [int(array[0]) for array in sources_of(sources(2, np.array([7]), SOLVED))] == [2, 7, SOLVED]
    True
    """
    return (phase * _PARTS + part) * _KINDS + kind


def sources_of(codes: Integers) -> tuple[Integers, Integers, Integers]:
    """Return the phase of each source, its part, and its kind; the phase of `NOTHING` is −1."""
    part_of_phase, kind = np.divmod(codes, _KINDS)
    phase, part = np.divmod(part_of_phase, _PARTS)
    return phase, part, kind


def prior(rows: int, register: int | None, only: int = NOBODY) -> Standing:
    """Return the standing before any totals: every entity of the register is as likely.

    Args:
        rows: The number of records.
        register: The number of entities; None: there is no register.
        only: The entity, if it is the only one.
    """
    chance = 0.0 if register is None else 1 / register
    return Standing(
        uniform=np.full(rows, chance),
        bayes=np.full(rows, chance),
        named=np.full(rows, only, np.int64),
        linked=np.zeros(rows, bool),
        proved=np.zeros(rows, bool),
        unregistered=np.zeros(rows, bool),
        bins_source=np.full(rows, NOTHING, np.int64),
        bins_left=np.zeros(rows, np.int64),
        uniform_source=np.full(rows, NOTHING, np.int64),
        bayes_source=np.full(rows, NOTHING, np.int64),
    )


def after_phase(
    before: Standing, phases: Sequence[SolvedPhase], study: TotalsStudy
) -> tuple[Standing, Standing]:
    """Return the standing when the records are joined with the totals of a phase, and when that is solved.

    Joined, the bins of the instances are left, and an entity is certain only where it is proved that the totals can be
    met. Solved, the feasible ones are; where no allocation exists, it is as before. No chances are taken from a phase
    that only prepares others, but names that it contradicts are withdrawn.

    Args:
        before: The standing before.
        phases: The phases up to this one.
        study: The plan.
    """
    joined, solved, last = before.copied(), before.copied(), phases[-1]
    if not last.phase.exposed:
        _withdraw(solved, phases, study, SOLVED)
        return joined, solved
    if last.register is not None:
        _learn_all(joined, phases, study, JOINED)
    solved.linked |= linked_by(last, len(before.linked))
    _learn_all(solved, phases, study, SOLVED)
    return joined, solved


def knows_all_of(study: TotalsStudy, phase: Phase, earlier: Phase) -> bool:
    """Tell whether a phase has the groups of an earlier one, and all that narrowed that one narrows it too."""
    return has_same_groups(study, phase, earlier) and set(earlier.narrowed_by) <= set(
        phase.narrowed_by
    )


def open_before(solved: SolvedPhase, part: int) -> Flags:
    """Return the bins that were open before a part was solved, in one row where they are the same for all records."""
    allowed = solved.instances.allowed(part)
    return np.ones((1, solved.instances.width_of(part)), bool) if allowed is None else allowed


def _learn_all(
    standing: Standing, phases: Sequence[SolvedPhase], study: TotalsStudy, kind: int
) -> None:
    """Take in what the last of some phases says, and withdraw names that it, or another, contradicts."""
    number, solved = len(phases) - 1, phases[-1]
    order = _Order(phases, study)
    for part in solved.attempts:
        news = _of_part(solved, number, part, kind)
        if news is not None:
            _learn(standing, news, order)
    _learn(standing, _of_trivial(solved, number), order)
    _withdraw(standing, phases, study, kind)


class _Order:
    """How the last of some phases is related to each of them; the last entry stands for none of them."""

    def __init__(self, phases: Sequence[SolvedPhase], study: TotalsStudy) -> None:
        last = phases[-1].phase
        columns = [set(solved.phase.bin) for solved in phases]
        knows = (knows_all_of(study, last, solved.phase) for solved in phases)
        self.knows_all = np.array([*knows, True])
        """Whether it knows all that the other knew."""
        self.coarser = np.array([*(columns[-1] < other for other in columns), False])
        """Whether its bins are larger: states, and not cities."""
        self.finer = np.array([*(columns[-1] > other for other in columns), True])
        """Whether its bins are smaller."""
        self.registered = phases[-1].register is not None
        """Whether there is a register."""


def _learn(standing: Standing, news: _News, order: _Order) -> None:
    """Take over what is sharper than what was known."""
    rows = news.rows
    vacated = news.nobody & ~standing.unregistered[rows]
    standing.unregistered[rows] |= news.nobody
    nobody = standing.unregistered[rows]
    uniform = np.where(nobody, 0.0, news.uniform)
    better = vacated | _better(standing, news, order, uniform)
    _raise_bayes(standing, news, order, uniform)
    sharper = better | (standing.bins_source[rows] == NOTHING)
    standing.bins_source[rows[sharper]] = news.source[sharper]
    standing.bins_left[rows[sharper]] = news.bins_left[sharper]
    standing.proved[rows[sharper]] = news.exact[sharper]
    standing.uniform[rows[better]] = uniform[better]
    standing.uniform_source[rows[better]] = news.source[better]
    standing.uniform[rows[nobody]] = standing.bayes[rows[nobody]] = 0.0
    standing.named[rows[nobody]] = NOBODY
    alone = (uniform == 1) & news.sure
    known = standing.named[rows]
    # A record that was left out is anybody's: the only entity of the register has its name already.
    entity = np.where(alone, np.where(news.entity == NOBODY, known, news.entity), NOBODY)
    taken = (better & news.exact) | (alone & (known == NOBODY))
    standing.named[rows[taken]] = entity[taken]


def _better(standing: Standing, news: _News, order: _Order, uniform: Floats) -> Flags:
    """Tell of which records the bins are sharper: fewer entities; as many in smaller or in fewer bins."""
    rows = news.rows
    known = standing.uniform[rows]
    fresh = standing.uniform_source[rows] == NOTHING
    earlier = sources_of(standing.bins_source[rows])[0]
    fewer = (news.bins_left < standing.bins_left[rows] + news.exact) & ~order.coarser[earlier]
    sharper = fewer | order.finer[earlier] | (news.exact & order.knows_all[earlier])
    if not order.registered:
        return np.asarray(sharper)
    # The register alone gives way to what is exact, and to what is as good: it says where to look.
    first = fresh & (news.exact | (uniform >= known))
    return np.asarray(first | (uniform > known) | ((uniform == known) & sharper & ~fresh))


def _raise_bayes(standing: Standing, news: _News, order: _Order, uniform: Floats) -> None:
    """Take over a posterior that is higher, or that knows more."""
    rows = news.rows
    chance = np.where(uniform > 0, news.bayes, 0.0)
    known, rests = standing.bayes[rows], standing.bayes_source[rows]
    higher = (
        (chance > known) | ((chance == known) & (rests == NOTHING)) | standing.unregistered[rows]
    )
    if news.counted:
        higher |= news.exact & order.knows_all[sources_of(rests)[0]]
    standing.bayes[rows[higher]] = chance[higher]
    standing.bayes_source[rows[higher]] = news.bayes_source[higher]


def _of_part(solved: SolvedPhase, number: int, part: int, kind: int) -> _News | None:
    """Return what a part that was tried says; None: nothing."""
    attempt = solved.attempts[part]
    if kind == SOLVED and attempt.feasible is None:
        return None
    instances = solved.instances
    rows, bins = instances.records_of(part), instances.places_of(part)
    left_out = bool(instances.left_out[part])
    table = _table(solved, part, kind)
    exact = np.zeros(len(rows), bool) if attempt.exact is None else attempt.exact
    uniform, entity = np.zeros(len(rows)), np.full(len(rows), NOBODY, np.int64)
    nobody = np.zeros(len(rows), bool)
    bayes, shares = uniform, None
    if solved.register is not None:
        register = solved.register
        bayes = uniform = register.chances(table, bins, left_out=left_out)
        somebody = np.append(register.counts[bins] > 0, np.ones(int(left_out), bool))
        nobody = ~(table & somebody).any(axis=1) & (attempt.feasible is not None)
        inside = table[:, : len(bins)] & somebody[: len(bins)]
        alone = (uniform == 1) & inside.any(axis=1)
        entity[alone] = register.one[bins[inside[alone].argmax(axis=1)]]
        shares = attempt.shares if kind == SOLVED and attempt.weighted and exact.all() else None
        if shares is not None:
            bayes = register.chances(table, bins, left_out=left_out, shares=shares)
    part_of = np.full(len(rows), part)
    return _News(
        rows=rows,
        bins_left=table.sum(axis=1),
        uniform=uniform,
        bayes=bayes,
        entity=entity,
        nobody=nobody,
        source=sources(number, part_of, kind),
        bayes_source=sources(number, part_of, kind if shares is None else WEIGHTED),
        counted=shares is not None,
        exact=exact & (kind == SOLVED),
        sure=attempt.exact is not None,
    )


def _table(solved: SolvedPhase, part: int, kind: int) -> Flags:
    """Return per record and bin of a part that was tried whether it is left."""
    feasible = solved.attempts[part].feasible
    if kind == JOINED or feasible is None:
        table = open_before(solved, part)
        packages = len(solved.instances.packages_of(part))
        return np.broadcast_to(table, (packages, table.shape[1]))
    return feasible


def _of_trivial(solved: SolvedPhase, number: int) -> _News:
    """Return what the parts with one bin say."""
    instances, parts = solved.instances, solved.trivial
    packages = np.diff(instances.package_start)[parts]
    place = np.repeat(instances.only_places(parts), packages)
    chance, nobody = np.zeros(len(place)), np.zeros(len(place), bool)
    entity = np.full(len(place), NOBODY, np.int64)
    if solved.register is not None:
        sizes = solved.register.counts[place]
        nobody = sizes == 0
        chance = np.where(nobody, 0.0, 1 / np.maximum(sizes, 1))
        entity = np.where(sizes == 1, solved.register.one[place], NOBODY)
    source = sources(number, np.repeat(parts, packages), SOLVED)
    return _News(
        rows=instances.all_records(parts),
        bins_left=np.ones(len(place), np.int64),
        uniform=chance,
        bayes=chance,
        entity=entity,
        nobody=nobody,
        source=source,
        bayes_source=source,
        counted=True,
        exact=np.ones(len(place), bool),
        sure=True,
    )


# -- names that a phase contradicts ----------------------------------------------------------------------------------


def _withdraw(
    standing: Standing, phases: Sequence[SolvedPhase], study: TotalsStudy, kind: int
) -> None:
    """Withdraw names that a phase contradicts.

    If the entity is in none of the bins that a phase leaves open, nobody of the register fits. If a phase leaves a bin
    open in which nobody is registered, it can be somebody unknown: then the chance by that phase counts.
    """
    rows = np.flatnonzero(standing.certain)
    if not len(rows):
        return
    names = standing.named.copy()
    for same in _with_same_groups(phases, study):
        heard, holds, doubt = _verdict(names, phases, same, rows, kind)
        nobody = rows[heard & ~holds]
        standing.unregistered[nobody] = True
        standing.uniform[nobody] = standing.bayes[nobody] = 0.0
        standing.named[nobody] = NOBODY
        unsure = np.flatnonzero(heard & holds & doubt & standing.certain[rows])
        standing.named[rows[unsure]] = NOBODY
        _fall_back(standing, phases, same, rows[unsure], kind)


def _with_same_groups(phases: Sequence[SolvedPhase], study: TotalsStudy) -> list[list[int]]:
    """Return the phases in whose bins entities are registered, those on the same groups together."""
    sets: list[list[int]] = []
    for number, solved in enumerate(phases):
        if study.entities is None or not set(solved.phase.bin) & set(study.entities.keys):
            continue
        for numbers in sets:
            if has_same_groups(study, solved.phase, phases[numbers[0]].phase):
                numbers.append(number)
                break
        else:
            sets.append([number])
    return sets


def _verdict(
    named: Integers, phases: Sequence[SolvedPhase], same: Sequence[int], rows: Integers, kind: int
) -> tuple[Flags, Flags, Flags]:
    """Tell of some records whether phases on the same groups say something, hold its name, and leave it in doubt."""
    heard, holds = np.zeros(len(rows), bool), np.ones(len(rows), bool)
    doubt = np.ones(len(rows), bool)
    for number in same:
        solved = phases[number]
        register = solved.register
        assert register is not None  # noqa: S101 - names come from one
        rests_on = kind if number == len(phases) - 1 else SOLVED
        for part, place, inside in _places_of(solved, rows, len(named)):
            bins = solved.instances.places_of(part)
            if part in solved.attempts:
                attempt = solved.attempts[part]
                if attempt.feasible is None or (rests_on == JOINED and attempt.exact is None):
                    continue
                table = _table(solved, part, rests_on)[inside]
            else:
                table = np.ones((len(place), 1), bool)
            names = named[rows[place]]
            left_out = table[:, len(bins) :].any(axis=1)
            heard[place] = True
            holds[place] &= register.holds(table[:, : len(bins)], bins, names) | left_out
            doubt[place] &= (table[:, : len(bins)] & (register.counts[bins] == 0)).any(axis=1)
    return heard, holds, doubt & heard


def _places_of(
    solved: SolvedPhase, rows: Integers, records: int
) -> Iterator[tuple[int, Integers, Integers]]:
    """Yield the parts that say something about some records: which of the records, and their places in the part."""
    instances = solved.instances
    place = np.full(records, -1, np.int64)
    place[instances.groups.record[instances.package]] = np.arange(len(instances.package))
    inside = np.flatnonzero(place[rows] >= 0)
    part = np.searchsorted(instances.package_start, place[rows[inside]], side="right") - 1
    order = np.argsort(part, kind="stable")
    inside, part = inside[order], part[order]
    start = np.flatnonzero(np.append(True, part[1:] != part[:-1])[: len(part)])
    says = np.zeros(instances.count, bool)
    says[solved.trivial] = True
    says[list(solved.attempts)] = True
    for first, end in zip(start, np.append(start, len(part))[1:], strict=True):
        number = int(part[first])
        if says[number]:
            mine = inside[first:end]
            yield number, mine, place[rows[mine]] - instances.package_start[number]


def _fall_back(
    standing: Standing,
    phases: Sequence[SolvedPhase],
    same: Sequence[int],
    rows: Integers,
    kind: int,
) -> None:
    """Give some records the chances of the last phase, of some, that says something about them."""
    for number in same:
        solved = phases[number]
        rests_on = kind if number == len(phases) - 1 else SOLVED
        for part, place, inside in _places_of(solved, rows, len(standing.named)):
            news = _of_part(solved, number, part, rests_on) if part in solved.attempts else None
            if news is None:
                continue
            row = rows[place]
            standing.uniform[row], standing.bayes[row] = news.uniform[inside], news.bayes[inside]
            if not solved.phase.exposed:
                continue  # results do not tell its bins
            standing.uniform_source[row] = standing.bins_source[row] = news.source[inside]
            standing.bins_left[row] = news.bins_left[inside]
            standing.proved[row] = news.exact[inside]
            standing.bayes_source[row] = news.bayes_source[inside]


# -- what results call the bins --------------------------------------------------------------------------------------


Key = tuple[tuple[str, str], ...]
"""The columns that name a bin, each with its text."""


@dataclass(frozen=True, eq=False)
class NamedBins:
    """All bins of all phases; the first stands for none of them, the last for records left out."""

    places: list[Integers]
    """Per phase and bin, its number."""
    names: list[str | None]
    """Per number, what results call it; that of records left out is "NONE", unless a bin is called so."""
    entities: list[int | None]
    """Per number, how many entities are registered there."""


def bins_of(phases: Sequence[SolvedPhase]) -> NamedBins:
    """Return the bins of some phases, each once, with their names."""
    keys = [_keys(solved) for solved in phases]
    distinct = list(dict.fromkeys(itertools.chain.from_iterable(keys)))
    names = told_apart(distinct)
    left_out = NONE
    while left_out in names:
        left_out += " (left out)"
    number = {key: place for place, key in enumerate(distinct, 1)}
    places = [np.array([number[key] for key in bins], np.int64) for bins in keys]
    entities: list[int | None] = [None] * (len(distinct) + 2)
    for solved, bins in zip(reversed(phases), reversed(places), strict=True):
        if solved.register is not None:
            for place, count in zip(bins.tolist(), solved.register.counts.tolist(), strict=True):
                entities[place] = count
    return NamedBins(places, [None, *names, left_out], entities)


def told_apart(keys: Sequence[Key]) -> list[str]:
    """Return a name for each of some bins, all of them different: as short as can be.

    >>> told_apart([(("state", "New York"), ("city", "City")), (("state", "MG"), ("city", "Ipatinga"))])
    ['New York City', 'MG Ipatinga']
    >>> told_apart([(("state", "New York"), ("city", "City")), (("state", "New"), ("city", "York City"))])
    ['New York / City', 'New / York City']
    >>> told_apart([(("state", "Rio"),), (("city", "Rio"),)])
    ['Rio (state)', 'Rio (city)']
    """
    names = [_WAYS[0](key) for key in keys]
    for way in _WAYS[1:]:
        times = Counter(names)
        names = [
            way(key) if times[name] > 1 else name for key, name in zip(keys, names, strict=True)
        ]
    return _numbered(names)


def _keys(solved: SolvedPhase) -> tuple[Key, ...]:
    columns = solved.instances.groups.bin_columns
    return tuple(
        tuple(zip(columns, texts, strict=True)) for texts in zip(*columns.values(), strict=True)
    )


def _numbered(names: Sequence[str]) -> list[str]:
    """Return names with a number behind those that still stand for several bins."""
    taken, different = set(names), []
    seen: Counter[str] = Counter()
    for name in names:
        seen[name] += 1
        new, number = name, seen[name]
        while number > 1 and new in taken:
            new = f"{name} ({number})"
            number += 1
        taken.add(new)
        different.append(new)
    return different


_WAYS: tuple[Callable[[Key], str], ...] = (
    lambda key: " ".join(text for _, text in key),
    lambda key: " / ".join(text for _, text in key),
    lambda key: " / ".join(f"{text} ({column})" for column, text in key),
)
"""How a bin can be called, the shortest first."""


# -- what she can do bin by bin --------------------------------------------------------------------------------------


@dataclass(frozen=True)
class BinExposed:
    """What the adversary can do in one bin, at one step."""

    step: str
    """The step; what `glasshouse.reconstruction.chances.ExposurePhase` calls `name`."""
    bin: str | None
    """The bin; None: records that no total was joined with."""
    entities: int | None
    """How many entities are registered there; None: it is no place."""
    records: float
    """For how many records her guess is there; a part of a record counts as such."""
    value: float
    """What they are worth."""
    prior_chance: float
    """The chance to name the entity behind one of them by the register alone."""
    chance: float
    """Her mean chance."""
    factor: float
    """By how much it grew: the posterior against the prior."""
    prior_value_at_risk: float
    """Σ prior chance · value."""
    value_at_risk: float
    """Σ chance · value."""
    linked: int
    """Records that are there for certain."""
    linked_value: float
    """What they are worth."""
    exposed: int
    """Records whose entity is certain."""
    exposed_value: float
    """What they are worth."""

    def to_dict(self) -> dict[str, Any]:
        """Return the figures in plain values."""
        return dict(vars(self))


def exposed_by_bin(
    phases: Sequence[SolvedPhase],
    steps: Sequence[tuple[str, Standing]],
    values: Floats,
    register: int,
    rule: str,
) -> tuple[BinExposed, ...]:
    """Return per step after the first and per bin what the adversary can do, most value at risk first.

    Args:
        phases: The phases.
        steps: What is known of every record before, and after each step.
        values: What every record is worth.
        register: The number of entities in the register.
        rule: How she guesses, "uniform" or "bayes".
    """
    bins = bins_of(phases)
    rows: list[BinExposed] = []
    for step, standing in steps[1:]:
        sums = _sums_by_bin(bins, phases, standing, values, rule)
        figures = []
        for place in np.flatnonzero(sums[0] > 0).tolist():
            records, value, chance, at_risk, linked, linked_value, exposed, exposed_value = sums[
                :, place
            ].tolist()
            row = BinExposed(
                step=step,
                bin=bins.names[place],
                entities=bins.entities[place],
                records=records,
                value=value,
                prior_chance=1 / register,
                chance=chance / records,
                factor=chance / records * register,
                prior_value_at_risk=value / register,
                value_at_risk=at_risk,
                linked=int(linked),
                linked_value=linked_value,
                exposed=int(exposed),
                exposed_value=exposed_value,
            )
            figures.append(row)
        rows += sorted(figures, key=lambda row: (-row.value_at_risk, row.bin or ""))
    return tuple(rows)


def _sums_by_bin(
    bins: NamedBins, phases: Sequence[SolvedPhase], standing: Standing, values: Floats, rule: str
) -> Floats:
    """Return per figure and bin: records, value, chance, value at risk, linked, their value, exposed, their value."""
    sums = np.zeros((8, len(bins.names)))
    rests_on, chances = standing.sources(rule), standing.chances(rule)
    flags = np.stack([standing.linked, standing.certain], axis=1)

    def amounts(rows: Integers) -> Floats:
        value, chance = values[rows], chances[rows]
        return np.stack([np.ones(len(rows)), value, chance, chance * value])

    def count(rows: Integers, where: Integers) -> None:
        """Count records that are linked, and those that are exposed, in the bin of each."""
        for number, flag in enumerate(flags[rows].T):
            np.add.at(sums[4 + 2 * number], where[flag], 1)
            np.add.at(sums[5 + 2 * number], where[flag], values[rows][flag])

    def share_out(rows: Integers, places: Integers, guesses: Floats) -> None:
        """Add records whose guesses are shared out among some bins."""
        np.add.at(sums[:4].T, places, (amounts(rows) @ guesses).T)
        count(rows, places[guesses.argmax(axis=1)])

    # Records that no total was joined with; those in parts with one bin; and those in the other parts.
    rest = np.flatnonzero(rests_on == NOTHING)
    share_out(rest, np.zeros(1, np.int64), np.ones((len(rest), 1)))
    phase, part, _ = sources_of(rests_on)
    for number, solved in enumerate(phases):
        rows = np.flatnonzero(phase == number)
        rows = rows[solved.instances.single[part[rows]]]
        where = bins.places[number][solved.instances.only_places(part[rows])]
        np.add.at(sums[:4].T, where, amounts(rows).T)
        count(rows, where)
    codes = np.unique(rests_on[rests_on != NOTHING])
    for code, number, several, kind in np.stack([codes, *sources_of(codes)], axis=1).tolist():
        instances = phases[number].instances
        if instances.single[several]:
            continue
        record = instances.records_of(several)
        mine = rests_on[record] == code
        shape = len(record), instances.width_of(several)
        guesses = np.broadcast_to(_guesses(phases[number], several, kind), shape)
        places = bins.places[number][instances.places_of(several)]
        if instances.left_out[several]:
            places = np.append(places, len(bins.names) - 1)
        share_out(record[mine], places, guesses[mine])
    return sums


def _guesses(solved: SolvedPhase, part: int, kind: int) -> Floats:
    """Return per record and bin of a part which part of the guess is there."""
    register, instances = solved.register, solved.instances
    assert register is not None  # noqa: S101 - without a register there are no sources
    bins, left_out = instances.places_of(part), bool(instances.left_out[part])
    if kind == JOINED:
        return register.guesses(open_before(solved, part), bins, left_out=left_out)
    attempt = solved.attempts[part]
    assert attempt.feasible is not None  # noqa: S101 - it is a source
    shares = attempt.shares if kind == WEIGHTED else None
    return register.guesses(attempt.feasible, bins, left_out=left_out, shares=shares)
