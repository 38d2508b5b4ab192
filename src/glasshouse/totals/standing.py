"""What is known of every record after each phase: the adversary's chance to name its entity, and what it rests on."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from glasshouse.totals.amounts import Integers
from glasshouse.totals.attempts import Attempt, Flags, Floats
from glasshouse.totals.finding import Found, records_of
from glasshouse.totals.naming import Registered

NOTHING = -1
"""The source of a chance that rests on the register alone."""
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
    certain: Flags
    """Whether the entity is certain."""
    linked: Flags
    """Whether the bin is certain."""
    proved: Flags
    """Whether the bins that are left are exactly those."""
    unregistered: Flags
    """Whether nobody is registered in the bins that are left: then nobody can be named."""
    uniform_source: Integers
    """What `uniform` rests on; see `source_of`."""
    bayes_source: Integers
    """What `bayes` rests on."""

    def copied(self) -> Standing:
        """Return a copy that can be changed."""
        return Standing(**{name: column.copy() for name, column in vars(self).items()})

    def chances(self, rule: str) -> Floats:
        """Return the chances by a rule, "uniform" or "bayes"."""
        return self.uniform if rule == "uniform" else self.bayes

    def sources(self, rule: str) -> Integers:
        """Return what they rest on."""
        return self.uniform_source if rule == "uniform" else self.bayes_source


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


def prior(rows: int, register: int | None) -> Standing:
    """Return the standing before any totals: every entity of the register is as likely."""
    chance = 0.0 if register is None else 1 / register
    return Standing(
        uniform=np.full(rows, chance),
        bayes=np.full(rows, chance),
        certain=np.full(rows, chance == 1),
        linked=np.zeros(rows, bool),
        proved=np.zeros(rows, bool),
        unregistered=np.zeros(rows, bool),
        uniform_source=np.full(rows, NOTHING, np.int64),
        bayes_source=np.full(rows, NOTHING, np.int64),
    )


def after_joining(before: Standing, found: Found, number: int) -> Standing:
    """Return the standing when the records are joined with totals: the bins of the instance are left.

    An entity is certain only where it is proved that the totals can be met.

    Args:
        before: The standing before.
        found: The phase.
        number: Its number.
    """
    standing = before.copied()
    register = found.register
    if register is None:
        return standing
    for part, rows in _tried(found):
        table, left_out = open_before(found, part)
        chance = register.uniform(table, _bins(found, part), left_out=left_out)
        own = source(number, part, JOINED)
        _raise(standing, rows, np.broadcast_to(chance, len(rows)), own)
        if found.attempts[part].status in ("unique", "ambiguous"):
            standing.certain[rows] |= chance == 1
    rows, chance, bare, sources = _of_trivial(found, register, number)
    _raise(standing, rows[~bare], chance[~bare], sources[~bare])
    standing.certain[rows] |= chance == 1
    return standing


def after_solving(before: Standing, found: Found, number: int, linked: Flags) -> Standing:
    """Return the standing when the instances are solved; where no allocation exists, it is as before."""
    standing = before.copied()
    standing.linked |= linked
    for part, rows in _tried(found):
        attempt = found.attempts[part]
        if attempt.feasible is None:
            continue
        proved = attempt.status != "limit"
        standing.proved[rows] |= proved
        if found.register is not None:
            _take(standing, found, found.register, number, attempt, rows, proved=proved)
    standing.proved[records_of(found, found.trivial)] = True
    if found.register is not None:
        rows, chance, bare, sources = _of_trivial(found, found.register, number)
        standing.uniform[rows] = standing.bayes[rows] = chance
        standing.uniform_source[rows] = standing.bayes_source[rows] = sources
        standing.unregistered[rows] = bare
        standing.certain[rows] |= chance == 1
    return standing


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


def _take(
    standing: Standing,
    found: Found,
    register: Registered,
    number: int,
    attempt: Attempt,
    rows: Integers,
    *,
    proved: bool,
) -> None:
    """Take over chances: an exact set replaces what was known; of supersets, which all hold, the smallest counts."""
    part, feasible = attempt.part, attempt.feasible
    assert feasible is not None  # noqa: S101 - the caller has looked
    bins, left_out = _bins(found, part), bool(found.instances.left_out[part])
    uniform = register.uniform(feasible, bins, left_out=left_out)
    own = source(number, part, SOLVED)
    if not proved:
        _raise(standing, rows, uniform, own)
        return
    standing.uniform[rows] = uniform
    standing.uniform_source[rows] = own
    standing.certain[rows] |= uniform == 1
    somebody = np.ones(feasible.shape[1], bool)
    somebody[: len(bins)] = register.counts[bins] > 0
    standing.unregistered[rows] = ~feasible[:, somebody].any(axis=1)
    if attempt.bayes is not None and attempt.shares is not None:
        standing.bayes[rows] = register.bayes(feasible, attempt.shares, bins, left_out=left_out)
        standing.bayes_source[rows] = source(number, part, WEIGHTED)
        return
    higher = (uniform > standing.bayes[rows]) | standing.unregistered[rows]
    standing.bayes[rows[higher]] = uniform[higher]
    standing.bayes_source[rows[higher]] = own


def _raise(standing: Standing, rows: Integers, chance: Floats, own: Integers | int) -> None:
    """Take over chances that are higher than what was known."""
    sources = np.broadcast_to(own, len(rows))
    for known, rests in (
        (standing.uniform, standing.uniform_source),
        (standing.bayes, standing.bayes_source),
    ):
        # A chance that rests on the register alone gives way to one as high: it says where to look.
        higher = (chance > known[rows]) | ((chance == known[rows]) & (rests[rows] == NOTHING))
        known[rows[higher]] = chance[higher]
        rests[rows[higher]] = sources[higher]


def _tried(found: Found) -> list[tuple[int, Integers]]:
    groups = found.instances.groups
    return [(part, groups.record[found.instances.packages_of(part)]) for part in found.attempts]


def _of_trivial(
    found: Found, register: Registered, number: int
) -> tuple[Integers, Floats, Flags, Integers]:
    """Return the records of the parts with one bin, the chances there, whether nobody is, and the sources."""
    instances, groups = found.instances, found.instances.groups
    parts = found.trivial
    packages = np.diff(instances.package_start)[parts]
    sizes = np.repeat(
        register.counts[groups.bin[instances.bin[instances.bin_start[parts]]]], packages
    )
    chance = np.where(sizes > 0, 1 / np.maximum(sizes, 1), 0.0)
    sources = (number * _PARTS + np.repeat(parts, packages)) * _KINDS + SOLVED
    return records_of(found, parts), chance, sizes == 0, sources
