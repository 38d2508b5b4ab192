"""What is known of every record after each phase: the adversary's chance to name its entity, and what it rests on.

Every phase says truly in which of its bins a record can be, and what she knows only grows. Of two phases

* on the same groups, the later one with more to narrow it knows all that the earlier one knew: its answer counts;
* on other totals, the one with the higher chance counts. Their bins are not intersected here: that is what
  `narrowed_by` is for, which does it exactly.

An entity is *certain* if the proved bins of some phase have it alone, and no other phase contradicts it: it is
registered in one of the bins that each of them leaves open, and none of them leaves a bin open in which nobody is
registered, where somebody unknown would be. The name is kept with the certainty.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from glasshouse.arrays import Integers
from glasshouse.study.totals import Phase, TotalsStudy
from glasshouse.totals.attempts import Flags, Floats
from glasshouse.totals.finding import Found, records_of
from glasshouse.totals.splitting import has_same_groups

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
    """Her chance by the uniform rule; see `glasshouse.totals.naming`."""
    bayes: Floats
    """Her chance by the posterior, where it is known; else by the uniform rule."""
    named: Integers
    """The entity that is certain, as a code of the register; or `NOBODY`."""
    linked: Flags
    """Whether the bin is certain."""
    proved: Flags
    """Whether the bins that are told are exactly those that are left."""
    unregistered: Flags
    """Whether nobody of the register is in the bins that are left: then nobody can be named."""
    told: Integers
    """Which bins are told of it: the source with the sharpest ones; see `source_of`."""
    left: Integers
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
    left: Integers
    """How many bins are left for each."""
    uniform: Floats
    """The chance of each by the uniform rule; 0 without a register."""
    bayes: Floats | None
    """The same by the posterior; None: not counted."""
    entity: Integers
    """The only entity that it can be, or `NOBODY`."""
    nobody: Flags
    """Whether nobody is registered in the bins that are left."""
    source: Integers
    """Where the bins come from."""
    weighted: Integers
    """Where the posterior comes from."""
    exact: bool
    """Whether the bins are exactly those that are left; else they may be more."""
    sure: bool
    """Whether it is proved that the totals can be met at all."""


def source(phase: int, part: int, kind: int) -> int:
    """Return the code of what a chance rests on.

    >>> source_of(source(2, 7, SOLVED)) == (2, 7, SOLVED)
    True
    """
    return (phase * _PARTS + part) * _KINDS + kind


def source_of(code: int) -> tuple[int, int, int]:
    """Return the phase, its part, and the kind of a source."""
    rest, kind = divmod(code, _KINDS)
    phase, part = divmod(rest, _PARTS)
    return phase, part, kind


def sources_of(codes: Integers) -> tuple[Integers, Integers]:
    """Return the phase and the part of many sources; −1 where it is `NOTHING`."""
    phase, part = np.divmod(codes // _KINDS, _PARTS)
    return np.where(codes == NOTHING, -1, phase), np.where(codes == NOTHING, 0, part)


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
        told=np.full(rows, NOTHING, np.int64),
        left=np.zeros(rows, np.int64),
        uniform_source=np.full(rows, NOTHING, np.int64),
        bayes_source=np.full(rows, NOTHING, np.int64),
    )


def after_joining(before: Standing, phases: Sequence[Found], study: TotalsStudy) -> Standing:
    """Return the standing when the records are joined with totals: the bins of the instance are left.

    An entity is certain only where it is proved that the totals can be met.

    Args:
        before: The standing before.
        phases: The phases up to this one.
        study: The plan.
    """
    standing = before.copied()
    if phases[-1].register is None:
        return standing
    _learn_all(standing, phases, study, JOINED)
    return standing


def after_solving(
    before: Standing, phases: Sequence[Found], study: TotalsStudy, linked: Flags
) -> Standing:
    """Return the standing when the instances are solved; where no allocation exists, it is as before.

    Args:
        before: The standing before.
        phases: The phases up to this one.
        study: The plan.
        linked: Per record, whether this phase has found its bin.
    """
    standing = before.copied()
    standing.linked |= linked
    _learn_all(standing, phases, study, SOLVED)
    return standing


def after_preparing(before: Standing, phases: Sequence[Found], study: TotalsStudy) -> Standing:
    """Return the standing after a phase from which no chances are taken: names that it contradicts are withdrawn."""
    standing = before.copied()
    _withdraw(standing, phases, study, SOLVED)
    return standing


def knows_all_of(study: TotalsStudy, phase: Phase, earlier: Phase) -> bool:
    """Tell whether a phase has the groups of an earlier one, and all that narrowed that one narrows it too."""
    return has_same_groups(study, phase, earlier) and set(earlier.narrowed_by) <= set(
        phase.narrowed_by
    )


def open_before(found: Found, part: int) -> tuple[Flags, bool]:
    """Return the bins that were open before a part was solved, in one row where they are the same for all records."""
    left_out = bool(found.instances.left_out[part])
    allowed = found.instances.allowed(part)
    if allowed is None:
        allowed = np.ones((1, len(_bins(found, part)) + left_out), bool)
    return allowed, left_out


def _bins(found: Found, part: int) -> Integers:
    instances = found.instances
    return instances.groups.bin[instances.bins_of(part)]


def _learn_all(standing: Standing, phases: Sequence[Found], study: TotalsStudy, kind: int) -> None:
    """Take in what the last of some phases says, and withdraw names that it, or another, contradicts."""
    number, found = len(phases) - 1, phases[-1]
    order = _Order(phases, study)
    for part in found.attempts:
        news = _of_part(found, number, part, kind)
        if news is not None:
            _learn(standing, news, order)
    _learn(standing, _of_trivial(found, number), order)
    _withdraw(standing, phases, study, kind)


class _Order:
    """How the last of some phases is related to each of them; the last entry stands for none of them."""

    def __init__(self, phases: Sequence[Found], study: TotalsStudy) -> None:
        own = phases[-1].phase
        columns = [set(each.phase.bin) for each in phases]
        before = [*(each.phase for each in phases)]
        self.knows_all = np.array([*(knows_all_of(study, own, each) for each in before), True])
        """Whether it knows all that the other knew."""
        self.coarser = np.array([*(columns[-1] < each for each in columns), False])
        """Whether its bins are larger: states, and not cities."""
        self.finer = np.array([*(columns[-1] > each for each in columns), True])
        """Whether its bins are smaller."""
        self.registered = phases[-1].register is not None
        """Whether there is a register."""


def _learn(standing: Standing, news: _News, order: _Order) -> None:
    """Take over what is sharper than what was known."""
    rows = news.rows
    shown = news.nobody & ~standing.unregistered[rows]
    standing.unregistered[rows] |= news.nobody
    nobody = standing.unregistered[rows]
    uniform = np.where(nobody, 0.0, news.uniform)
    better = shown | _better(standing, news, order, uniform)
    _raise_bayes(standing, news, order, uniform)
    told = better | (standing.told[rows] == NOTHING)
    standing.told[rows[told]] = news.source[told]
    standing.left[rows[told]] = news.left[told]
    standing.proved[rows[told]] = news.exact
    standing.uniform[rows[better]] = uniform[better]
    standing.uniform_source[rows[better]] = news.source[better]
    standing.uniform[rows[nobody]] = standing.bayes[rows[nobody]] = 0.0
    standing.named[rows[nobody]] = NOBODY
    alone = (uniform == 1) & news.sure
    known = standing.named[rows]
    # A record that was left out is anybody's: the only entity of the register has its name already.
    own = np.where(alone, np.where(news.entity == NOBODY, known, news.entity), NOBODY)
    taken = (better & news.exact) | (alone & (known == NOBODY))
    standing.named[rows[taken]] = own[taken]


def _better(standing: Standing, news: _News, order: _Order, uniform: Floats) -> Flags:
    """Tell of which records the bins are sharper: fewer entities; as many in smaller or in fewer bins."""
    rows = news.rows
    known = standing.uniform[rows]
    fresh = standing.uniform_source[rows] == NOTHING
    earlier = sources_of(standing.told[rows])[0]
    fewer = (
        news.left <= standing.left[rows] if news.exact else news.left < standing.left[rows]
    ) & ~order.coarser[earlier]
    sharper = fewer | order.finer[earlier] | (news.exact & order.knows_all[earlier])
    if not order.registered:
        return np.asarray(sharper)
    # The register alone gives way to what is exact, and to what is as good: it says where to look.
    first = fresh & (news.exact | (uniform >= known))
    return np.asarray(first | (uniform > known) | ((uniform == known) & sharper & ~fresh))


def _raise_bayes(standing: Standing, news: _News, order: _Order, uniform: Floats) -> None:
    """Take over a posterior that is higher, or that knows more."""
    rows = news.rows
    own = uniform if news.bayes is None else np.where(uniform > 0, news.bayes, 0.0)
    sources = news.source if news.bayes is None else news.weighted
    known, rests = standing.bayes[rows], standing.bayes_source[rows]
    higher = (own > known) | ((own == known) & (rests == NOTHING)) | standing.unregistered[rows]
    if news.exact and news.bayes is not None:
        higher |= order.knows_all[sources_of(rests)[0]]
    standing.bayes[rows[higher]] = own[higher]
    standing.bayes_source[rows[higher]] = sources[higher]


def _of_part(found: Found, number: int, part: int, kind: int) -> _News | None:
    """Return what a part that was tried says; None: nothing."""
    attempt = found.attempts[part]
    if kind == SOLVED and attempt.feasible is None:
        return None
    instances = found.instances
    rows = instances.groups.record[instances.packages_of(part)]
    bins, left_out = _bins(found, part), bool(instances.left_out[part])
    table = _table(found, part, kind)
    proved = attempt.status in ("unique", "ambiguous")
    bayes = None
    uniform, entity = np.zeros(len(rows)), np.full(len(rows), NOBODY, np.int64)
    nobody = np.zeros(len(rows), bool)
    if found.register is not None:
        register = found.register
        uniform = register.uniform(table, bins, left_out=left_out)
        somebody = np.append(register.counts[bins] > 0, np.ones(int(left_out), bool))
        nobody = ~(table & somebody).any(axis=1) & (attempt.feasible is not None)
        inside = table[:, : len(bins)] & somebody[: len(bins)]
        alone = (uniform == 1) & inside.any(axis=1)
        entity[alone] = register.one[bins[inside[alone].argmax(axis=1)]]
        if kind == SOLVED and attempt.bayes is not None and attempt.shares is not None and proved:
            bayes = register.bayes(table, attempt.shares, bins, left_out=left_out)
    return _News(
        rows=rows,
        left=table.sum(axis=1),
        uniform=uniform,
        bayes=bayes,
        entity=entity,
        nobody=nobody,
        source=np.full(len(rows), source(number, part, kind)),
        weighted=np.full(len(rows), source(number, part, WEIGHTED)),
        exact=proved and kind == SOLVED,
        sure=proved,
    )


def _table(found: Found, part: int, kind: int) -> Flags:
    """Return per record and bin of a part that was tried whether it is left."""
    feasible = found.attempts[part].feasible
    if kind == JOINED or feasible is None:
        table, _ = open_before(found, part)
        packages = len(found.instances.packages_of(part))
        return np.broadcast_to(table, (packages, table.shape[1]))
    return feasible


def _of_trivial(found: Found, number: int) -> _News:
    """Return what the parts with one bin say."""
    instances, groups = found.instances, found.instances.groups
    parts = found.trivial
    packages = np.diff(instances.package_start)[parts]
    place = np.repeat(groups.bin[instances.bin[instances.bin_start[parts]]], packages)
    sizes = np.ones(len(place), np.int64)
    entity = np.full(len(place), NOBODY, np.int64)
    if found.register is not None:
        sizes = found.register.counts[place]
        entity = np.where(sizes == 1, found.register.one[place], NOBODY)
    chance = np.where(sizes > 0, 1 / np.maximum(sizes, 1), 0.0)
    if found.register is None:
        chance = np.zeros(len(place))
    sources = (number * _PARTS + np.repeat(parts, packages)) * _KINDS + SOLVED
    return _News(
        rows=records_of(found, parts),
        left=np.ones(len(place), np.int64),
        uniform=chance,
        bayes=chance,
        entity=entity,
        nobody=sizes == 0,
        source=sources,
        weighted=sources,
        exact=True,
        sure=True,
    )


# -- names that a phase contradicts -----------------------------------------------------------------------------------


def _withdraw(standing: Standing, phases: Sequence[Found], study: TotalsStudy, kind: int) -> None:
    """Withdraw names that a phase contradicts.

    If the entity is in none of the bins that a phase leaves open, nobody of the register fits. If a phase leaves a bin
    open in which nobody is registered, it can be somebody unknown: then the chance by that phase counts.
    """
    rows = np.flatnonzero(standing.certain)
    if not len(rows):
        return
    names = standing.named.copy()
    for same in _with_same_groups(phases, study):
        told, holds, doubt = _verdict(names, phases, same, rows, kind)
        nobody = rows[told & ~holds]
        standing.unregistered[nobody] = True
        standing.uniform[nobody] = standing.bayes[nobody] = 0.0
        standing.named[nobody] = NOBODY
        unsure = np.flatnonzero(told & holds & doubt & standing.certain[rows])
        standing.named[rows[unsure]] = NOBODY
        _fall_back(standing, phases, same, rows[unsure], kind)


def _with_same_groups(phases: Sequence[Found], study: TotalsStudy) -> list[list[int]]:
    """Return the phases in whose bins entities are registered, those on the same groups together."""
    sets: list[list[int]] = []
    for number, each in enumerate(phases):
        if study.entities is None or not set(each.phase.bin) & set(study.entities.keys):
            continue
        for own in sets:
            if has_same_groups(study, each.phase, phases[own[0]].phase):
                own.append(number)
                break
        else:
            sets.append([number])
    return sets


def _verdict(
    named: Integers, phases: Sequence[Found], same: Sequence[int], rows: Integers, kind: int
) -> tuple[Flags, Flags, Flags]:
    """Tell of some records whether phases on the same groups say something, hold its name, and leave it in doubt."""
    told, holds = np.zeros(len(rows), bool), np.ones(len(rows), bool)
    doubt = np.ones(len(rows), bool)
    for number in same:
        found = phases[number]
        register = found.register
        assert register is not None  # noqa: S101 - names come from one
        own = kind if number == len(phases) - 1 else SOLVED
        for part, place, inside in _places_of(found, rows, len(named)):
            bins = _bins(found, part)
            if part in found.attempts:
                attempt = found.attempts[part]
                if attempt.feasible is None or (own == JOINED and attempt.status == "limit"):
                    continue
                table = _table(found, part, own)[inside]
            else:
                table = np.ones((len(place), 1), bool)
            names = named[rows[place]]
            left_out = table[:, len(bins) :].any(axis=1)
            told[place] = True
            holds[place] &= register.holds(table[:, : len(bins)], bins, names) | left_out
            doubt[place] &= (table[:, : len(bins)] & (register.counts[bins] == 0)).any(axis=1)
    return told, holds, doubt & told


def _places_of(
    found: Found, rows: Integers, records: int
) -> Iterator[tuple[int, Integers, Integers]]:
    """Yield the parts that say something about some records: which of the records, and their places in the part."""
    instances = found.instances
    place = np.full(records, -1, np.int64)
    place[instances.groups.record[instances.package]] = np.arange(len(instances.package))
    inside = np.flatnonzero(place[rows] >= 0)
    part = np.searchsorted(instances.package_start, place[rows[inside]], side="right") - 1
    order = np.argsort(part, kind="stable")
    inside, part = inside[order], part[order]
    start = np.flatnonzero(np.append(True, part[1:] != part[:-1])[: len(part)])
    says = np.zeros(instances.count, bool)
    says[found.trivial] = True
    says[list(found.attempts)] = True
    for first, end in zip(start, np.append(start, len(part))[1:], strict=True):
        own = int(part[first])
        if says[own]:
            mine = inside[first:end]
            yield own, mine, place[rows[mine]] - instances.package_start[own]


def _fall_back(
    standing: Standing, phases: Sequence[Found], same: Sequence[int], rows: Integers, kind: int
) -> None:
    """Give some records the chances of the last phase, of some, that says something about them."""
    for number in same:
        found = phases[number]
        own = kind if number == len(phases) - 1 else SOLVED
        for part, place, inside in _places_of(found, rows, len(standing.named)):
            news = _of_part(found, number, part, own) if part in found.attempts else None
            if news is None:
                continue
            row = rows[place]
            bayes = news.uniform if news.bayes is None else news.bayes
            standing.uniform[row], standing.bayes[row] = news.uniform[inside], bayes[inside]
            if not found.phase.exposed:
                continue  # its bins are not told
            rests = news.source if news.bayes is None else news.weighted
            standing.uniform_source[row] = standing.told[row] = news.source[inside]
            standing.left[row], standing.proved[row] = news.left[inside], news.exact
            standing.bayes_source[row] = rests[inside]
