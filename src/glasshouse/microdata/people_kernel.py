"""The compiled walk over what several people have in common; ``docs/people.md`` derives it.

Facts are numbered by how many people have them, the rarest first. An entry is a person with one fact and how often it
occurs among the person's events; entries are sorted by person and fact. A *sight* is a multiset of m facts, and a
person has it in Π_f C(c(f), o_f) ways. The walk goes depth first over multisets of up to m facts, each with the entries
of the last fact of everybody who has it:

- one holder: whatever completes it is this person's alone, in C(events after it, m − size) ways, and is never listed;
- m facts: a sight with all of its holders, which is counted;
- else the later facts of all holders are counted by fact and number of copies: what one of them has alone is settled
  at once, and the others are chained, each chain the next multiset.

Ways are added up as integers by the number of events of the person, d, since each is to be divided by C(d, m).
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from glasshouse.arrays import Codes, Floats, Integer, Integers
from glasshouse.compiled import called, compiled, lean_inlined

GUESSED, CERTAIN = range(2)
"""The rows of what `walk` returns of naming, and of each secret."""
MOST_ALIKE = 255
"""Up to so many people who have the same sight, who they are among is counted exactly; beyond, in doubles."""
MOST_TIES = 200_000
"""So many entries of sights whose likeliest secret doubles cannot tell are handed back, to be compared exactly."""
NEAR = 1e-12
"""Sums of chances that differ by less than this share may be equal."""


class Events(NamedTuple):
    """Who has which facts, and how often: what is given."""

    starts: Integers
    """Per person, the first entry; one more closes the last."""
    people: Codes
    """Per entry, the person."""
    facts: Codes
    """Per entry, the fact."""
    copies: Codes
    """Per entry, how many of the person's events show it."""
    rests: Codes
    """Per entry, how many events the person has from this entry on."""
    by_fact: Codes
    """The entries by fact."""
    fact_starts: Integers
    """Per fact, where its entries begin there; one more closes the last."""
    sizes: Codes
    """Per person, the number of events."""


class Ways(NamedTuple):
    """What is added up: ways by number of events of the person, and per person how many have a sight."""

    named: Integers
    """Of naming, guessed and certain."""
    learned: Integers
    """Of each secret, guessed and certain."""
    alike: Integers
    """By the number of people with a sight, up to `MOST_ALIKE`."""
    beyond: Floats
    """Beyond that, ways / people."""
    fewest: Integers
    """Per person, the fewest people with a sight of this person's."""
    most: Integers
    """Per person, the most."""


class _Holders(NamedTuple):
    """Who has the multiset at which the walk stands."""

    entries: Codes
    """Per holder, the entry of its last fact."""
    ways: Integers
    """In how many ways the holder has it."""


class ValueChances(NamedTuple):
    """How likely each value of a secret is, of those with one sight."""

    of: Floats
    """Per value, the chance; zeros in between."""
    met: Codes
    """The values that occur."""


class _Chains(NamedTuple):
    """The multisets that come next, per level: each a chain of those who have it.

    A key is a fact with a number of copies. No chain is longer than the list of holders that it comes from, since each
    of them has a fact in one entry.
    """

    seen: NDArray[np.uint8]
    """Per key, whether one holder has it, or several (2); zeros in between."""
    heads: Codes
    """Per level and key, the last link of its chain; -1: there is none."""
    keys: Integers
    """Per level, the keys with a chain."""
    following: Codes
    """Per level and link, the link before it."""
    entries: Codes
    """Per level and link, the entry of the holder."""
    ways: Integers
    """Per level and link, in how many ways the holder has the multiset."""
    number: Integers
    """Per level, how many chains there are."""
    taken: Integers
    """Per level, how many of them the walk has followed."""
    done: Integers
    """Per level, how many facts the multiset has that they extend."""


@lean_inlined
def binomial(number: Integer, chosen: Integer) -> Integer:
    """Return in how many ways so many can be chosen."""
    ways = 1
    for place in range(chosen):
        ways = ways * (number - place) // (place + 1)
    return ways if number >= chosen else 0


@lean_inlined
def _is_less(ways: Integer, of: Integer, other: Integer, other_of: Integer) -> Any:
    """Tell whether ways / of < other / other_of: in doubles, or in 128 bits where these are too near."""
    left, right = float(ways) * float(other_of), float(other) * float(of)
    if abs(left - right) > 1e-14 * right:
        return left < right
    low = np.uint64(0xFFFFFFFF)
    shift = np.uint64(32)
    a, b = np.uint64(ways), np.uint64(other_of)
    c, d = np.uint64(other), np.uint64(of)
    middle = (a & low) * (b >> shift) + (((a & low) * (b & low)) >> shift)
    first = (a >> shift) * (b >> shift) + (middle >> shift)
    carried = (middle & low) + (a >> shift) * (b & low)
    first += carried >> shift
    middle = (c & low) * (d >> shift) + (((c & low) * (d & low)) >> shift)
    second = (c >> shift) * (d >> shift) + (middle >> shift)
    carried = (middle & low) + (c >> shift) * (d & low)
    second += carried >> shift
    return a * b < c * d if first == second else first < second


@compiled
def is_less_of(ways: int, of: int, other: int, other_of: int) -> bool:
    """Tell whether ways / of < other / other_of, exactly."""
    return bool(_is_less(ways, of, other, other_of))


# What is looked up and added up is lean: tuples of arrays then cost nothing. Arrays are made by what Python calls.


@compiled
def walk(
    known: int,
    events: Events,
    subsets: Integers,
    secrets: Codes,
    values: int,
    most_steps: int,
) -> tuple[Ways, Integers, int]:
    """Count what somebody learns who happens to know some of a person's events.

    Args:
        known: How many events she knows, m.
        events: Who has which facts.
        subsets: Per number d of events, C(d, m).
        secrets: Per secret and person, its value.
        values: How many values a secret has at most.
        most_steps: How many holders may be looked at.

    Returns:
        The ways; entries of ties (which sight and secret, the value, the number of events, the ways); and the steps,
        negative if they were too many.
    """
    sums = _no_ways(len(events.sizes), len(subsets), len(secrets))
    chances = ValueChances(np.zeros(values, np.float64), np.empty(values, np.int32))
    ties = np.empty((MOST_TIES, 4), np.int64)
    held, chains = _room_for_holders(events), _room_for_chains(events, known)
    steps, tied = _walk_facts(
        known, events, subsets, secrets, most_steps, sums, chances, ties, held, chains
    )
    return sums, ties[:tied], steps


@called
def _no_ways(people: Integer, widest: Integer, secrets: Integer) -> Ways:
    """Return sums to which nothing was added yet."""
    return Ways(
        np.zeros((2, widest), np.int64),
        np.zeros((secrets, 2, widest), np.int64),
        np.zeros((MOST_ALIKE + 1, widest), np.int64),
        np.zeros(widest, np.float64),
        np.full(people, 1 << 31, np.int64),
        np.zeros(people, np.int64),
    )


@called
def _room_for_holders(events: Events) -> _Holders:
    """Return room for everybody who has the most frequent fact."""
    room = 0
    for fact in range(len(events.fact_starts) - 1):
        room = max(room, events.fact_starts[fact + 1] - events.fact_starts[fact])
    return _Holders(np.empty(room, np.int32), np.empty(room, np.int64))


@called
def _room_for_chains(events: Events, known: Integer) -> _Chains:
    """Return room for all links at each level: of a fact, no more than the events that its holders have after it."""
    room = 0
    for fact in range(len(events.fact_starts) - 1):
        links = 0
        for place in range(events.fact_starts[fact], events.fact_starts[fact + 1]):
            entry = events.by_fact[place]
            links += events.rests[entry] - events.copies[entry]
        room = max(room, links)
    depth, keys = known - 1, (len(events.fact_starts) - 1) * known
    return _Chains(
        np.zeros(keys, np.uint8),
        np.full((depth, keys), -1, np.int32),
        np.empty((depth, min(room, keys)), np.int64),
        np.empty((depth, room), np.int32),
        np.empty((depth, room), np.int32),
        np.empty((depth, room), np.int64),
        np.zeros(depth, np.int64),
        np.zeros(depth, np.int64),
        np.zeros(depth, np.int64),
    )


@lean_inlined
def _walk_facts(
    known: Integer, events: Events, subsets: Integers, secrets: Codes, most_steps: Integer,
    sums: Ways, chances: ValueChances, ties: Integers, held: _Holders, chains: _Chains,
) -> tuple[Integer, Integer]:  # fmt: skip
    """Go over all multisets; return the steps, negative if they were too many, and how many entries of ties."""
    steps, tied = 0, 0
    for fact in range(len(events.fact_starts) - 1):
        for copy in range(1, known + 1):
            holders = _first_holders(events, held, fact, copy, known)
            if holders == 0:
                continue
            level, done = 0, copy
            while True:
                steps += holders
                if done == known or holders == 1:
                    tied = _count_sight(
                        *(events, held, holders, known - done, subsets, secrets),
                        *(sums, chances, ties, tied),
                    )
                else:
                    _note_later(events, held, holders, known, done, chains.seen)
                    steps += _chain_later(events, held, holders, known, done, sums, chains, level)
                    level += 1
                if steps > most_steps:
                    return -steps, tied
                while level > 0 and chains.taken[level - 1] >= chains.number[level - 1]:
                    level -= 1
                if level == 0:
                    break
                holders, done = _follow(chains, level - 1, held, known)
    return steps, tied


@lean_inlined
def _first_holders(
    events: Events, held: _Holders, fact: Integer, copy: Integer, known: Integer
) -> Integer:
    """Write down who has a fact so often, and enough events after it; return how many."""
    holders = 0
    for place in range(events.fact_starts[fact], events.fact_starts[fact + 1]):
        entry = events.by_fact[place]
        copies = events.copies[entry]
        if copies >= copy and events.rests[entry] - copies >= known - copy:
            held.entries[holders] = entry
            held.ways[holders] = binomial(copies, copy)
            holders += 1
    return holders


@lean_inlined
def _count_sight(
    events: Events, held: _Holders, holders: Integer, wanted: Integer, subsets: Integers, secrets: Codes,
    sums: Ways, chances: ValueChances, ties: Integers, tied: Integer,
) -> Integer:  # fmt: skip
    """Add up a sight, or all sights that one person has from here on; return how many entries of ties there are."""
    if wanted > 0:
        entry = held.entries[0]
        held.ways[0] *= binomial(events.rests[entry] - events.copies[entry], wanted)
    if held.ways[0] == 0:
        return tied
    _count_named(events, held, holders, subsets, sums)
    for secret in range(len(secrets)):
        value_of, learned = secrets[secret], sums.learned[secret]
        if _is_one_value(events, held, holders, value_of):
            for place in range(holders):
                size = events.sizes[events.people[held.entries[place]]]
                learned[GUESSED, size] += held.ways[place]
                learned[CERTAIN, size] += held.ways[place]
        else:
            sight = tied * len(secrets) + secret
            tied = _count_guess(
                events, held, holders, subsets, value_of, learned, chances, ties, tied, sight
            )
    return tied


@lean_inlined
def _count_named(
    events: Events, held: _Holders, holders: Integer, subsets: Integers, sums: Ways
) -> None:
    """Add up who is named by a sight: the person in whom it is the likeliest, the first of several."""
    best = 0
    best_size = events.sizes[events.people[held.entries[0]]]
    for place in range(holders):
        person = events.people[held.entries[place]]
        size, ways = events.sizes[person], held.ways[place]
        if size == best_size:
            if ways > held.ways[best]:
                best = place
        elif _is_less(held.ways[best], subsets[best_size], ways, subsets[size]):
            best, best_size = place, size
        sums.fewest[person] = min(sums.fewest[person], holders)
        sums.most[person] = max(sums.most[person], holders)
        if holders <= MOST_ALIKE:
            sums.alike[holders, size] += ways
        else:
            sums.beyond[size] += ways / holders
    sums.named[GUESSED, best_size] += held.ways[best]
    if holders == 1:
        sums.named[CERTAIN, best_size] += held.ways[best]


@lean_inlined
def _is_one_value(events: Events, held: _Holders, holders: Integer, value_of: Codes) -> Any:
    """Tell whether all holders have the same secret."""
    first, place = value_of[events.people[held.entries[0]]], 1
    while place < holders and value_of[events.people[held.entries[place]]] == first:
        place += 1
    return place == holders


@lean_inlined
def _is_one_size(events: Events, held: _Holders, holders: Integer) -> Any:
    """Tell whether all holders have as many events."""
    size, place = events.sizes[events.people[held.entries[0]]], 1
    while place < holders and events.sizes[events.people[held.entries[place]]] == size:
        place += 1
    return place == holders


@lean_inlined
def likeliest_value(chances: ValueChances, kinds: Integer) -> tuple[Integer, Integer]:
    """Return the likeliest of some values, the first of several, and how many doubles cannot tell from it."""
    winner = chances.met[0]
    for kind in range(1, kinds):
        if chances.of[chances.met[kind]] > chances.of[winner]:
            winner = chances.met[kind]
    near = 0
    for kind in range(kinds):
        near += is_near(chances, winner, chances.met[kind])
    return winner, near


@lean_inlined
def is_near(chances: ValueChances, winner: Integer, value: Integer) -> Any:
    """Tell whether doubles cannot tell a value from the likeliest."""
    return chances.of[winner] - chances.of[value] <= NEAR * chances.of[winner]


@lean_inlined
def add_tie(
    ties: Integers, tied: Integer, sight: Integer, value: Integer, size: Integer, ways: Integer
) -> Integer:
    """Hand back an entry of a tie; return how many there are then."""
    ties[tied, 0], ties[tied, 1] = sight, value
    ties[tied, 2], ties[tied, 3] = size, ways
    return tied + 1


@lean_inlined
def _count_guess(
    events: Events, held: _Holders, holders: Integer, subsets: Integers, value_of: Codes,
    learned: Integers, chances: ValueChances, ties: Integers, tied: Integer, sight: Integer,
) -> Integer:  # fmt: skip
    """Add up the likeliest of several values of a secret, or hand a tie back; return how many entries these have."""
    kinds = 0
    for place in range(holders):
        person = events.people[held.entries[place]]
        value = value_of[person]
        if chances.of[value] == 0.0:
            chances.met[kinds] = value
            kinds += 1
        chances.of[value] += held.ways[place] / subsets[events.sizes[person]]
    winner, near = likeliest_value(chances, kinds)
    is_tie = near > 1 and tied + holders <= MOST_TIES
    if is_tie and _is_one_size(events, held, holders):
        # where all of them have as many events, the sums are of the same kind
        size = events.sizes[events.people[held.entries[0]]]
        is_tie = chances.of[winner] * subsets[size] >= 0.1 / NEAR
    for place in range(holders):
        person = events.people[held.entries[place]]
        value, size = value_of[person], events.sizes[person]
        if not is_tie:
            if value == winner:
                learned[GUESSED, size] += held.ways[place]
        elif is_near(chances, winner, value):
            tied = add_tie(ties, tied, sight, value, size, held.ways[place])
    for kind in range(kinds):
        chances.of[chances.met[kind]] = 0.0
    return tied


@lean_inlined
def _note_later(
    events: Events, held: _Holders, holders: Integer, known: Integer, done: Integer,
    seen: NDArray[np.uint8],
) -> None:  # fmt: skip
    """Note which facts one holder has later on, and which several have."""
    wanted = known - done
    for place in range(holders):
        entry = held.entries[place]
        for later in range(entry + 1, events.starts[events.people[entry] + 1]):
            if events.rests[later] < wanted:
                break
            for copied in range(1, min(wanted, events.copies[later]) + 1):
                if events.rests[later] - events.copies[later] < wanted - copied:
                    continue
                key = np.int64(events.facts[later]) * known + copied - 1
                seen[key] = min(seen[key] + 1, 2)


@lean_inlined
def _chain_later(
    events: Events, held: _Holders, holders: Integer, known: Integer, done: Integer, sums: Ways,
    chains: _Chains, level: Integer,
) -> Integer:  # fmt: skip
    """Chain what several holders have later on, and settle what one has alone; return how many steps that took."""
    wanted, steps, links, number = known - done, 0, 0, 0
    head = chains.heads[level]
    for place in range(holders):
        entry = held.entries[place]
        person = events.people[entry]
        alone = 0
        for later in range(entry + 1, events.starts[person + 1]):
            if events.rests[later] < wanted:
                break
            for copied in range(1, min(wanted, events.copies[later]) + 1):
                rest = events.rests[later] - events.copies[later]
                if rest < wanted - copied:
                    continue
                key = np.int64(events.facts[later]) * known + copied - 1
                further = binomial(events.copies[later], copied)
                steps += 1
                if chains.seen[key] == 1:
                    chains.seen[key] = 0
                    alone += further * binomial(rest, wanted - copied)
                    continue
                if head[key] < 0:
                    chains.keys[level, number] = key
                    number += 1
                chains.following[level, links] = head[key]
                head[key] = links
                chains.entries[level, links] = later
                chains.ways[level, links] = held.ways[place] * further
                links += 1
        if alone > 0:
            # what nobody else has with what all of them have
            _count_alone(sums, person, events.sizes[person], alone * held.ways[place])
    for chain in range(number):
        chains.seen[chains.keys[level, chain]] = 0
    chains.number[level], chains.taken[level], chains.done[level] = number, 0, done
    return steps


@lean_inlined
def _count_alone(sums: Ways, person: Integer, size: Integer, ways: Integer) -> None:
    """Add up sights that one person has alone: naming and all secrets are certain."""
    sums.fewest[person] = 1
    most: Integer = sums.most[person]
    sums.most[person] = max(most, 1)
    sums.alike[1, size] += ways
    for kind in range(2):
        sums.named[kind, size] += ways
        for secret in range(len(sums.learned)):
            sums.learned[secret, kind, size] += ways


@lean_inlined
def _follow(
    chains: _Chains, level: Integer, held: _Holders, known: Integer
) -> tuple[Integer, Integer]:
    """Write down who is in the next chain, and leave it; return how many, and how many facts their multiset has."""
    key = chains.keys[level, chains.taken[level]]
    chains.taken[level] += 1
    link = chains.heads[level, key]
    chains.heads[level, key] = -1
    holders = 0
    while link >= 0:
        held.entries[holders] = chains.entries[level, link]
        held.ways[holders] = chains.ways[level, link]
        holders += 1
        link = chains.following[level, link]
    return holders, chains.done[level] + key % known + 1
