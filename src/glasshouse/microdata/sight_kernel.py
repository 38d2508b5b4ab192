"""The compiled loops that look at one sight after another: drawn where the walk is too long, or listed one and all.

A sight is a multiset of facts, as `people_kernel` has them. Drawn ones are evaluated in doubles; of listed ones, which
tell what another event of the same person says, ways are added up as integers.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from glasshouse.arrays import Codes, Floats, Integer, Integers
from glasshouse.compiled import called, compiled, lean_inlined
from glasshouse.microdata.people_kernel import (
    CERTAIN,
    GUESSED,
    MOST_TIES,
    NEAR,
    Events,
    ValueChances,
    add_tie,
    binomial,
    is_near,
    likeliest_value,
)


class EventValues(NamedTuple):
    """What the events of each entry say in a column."""

    starts: Integers
    """Per entry, where its values begin; one more closes the last. Empty: no column is asked for."""
    values: Codes
    """Those values."""
    times: Codes
    """Per value, in how many events."""


class Sights(NamedTuple):
    """Sights, once for each person who has them."""

    facts: Codes
    """Per sight and person, its facts in order."""
    ways: Integers
    """In how many ways the person has it."""
    people: Codes
    """Who it is."""


class _Sight(NamedTuple):
    """A sight that was drawn, by its different facts."""

    chosen: Integers
    """The events that were drawn, by place and in order."""
    facts: Integers
    """The facts."""
    times: Integers
    """How often each occurs."""
    entries: Integers
    """Where the person that is looked at has them."""


class _Terms(NamedTuple):
    """Of those with one sight, what another event may say: the terms of a sum per value."""

    values: Codes
    """The value."""
    sizes: Codes
    """The number of events of the person."""
    ways: Integers
    """In how many ways."""


@compiled
def draw(
    targets: Integers,
    uniforms: Floats,
    events: Events,
    subsets: Floats,
    secrets: Codes,
    told: EventValues,
    values: int,
    least: int,
) -> Floats:
    """Return what somebody learns who knows some events of each of some targets, drawn evenly.

    Everybody who has the sight is looked up, so that each draw gives its chances exactly: a row for each of naming by
    guessing, for certain and evenly, then by guessing and for certain of each secret, and of the value of another event
    of the target.

    Args:
        targets: Per draw, the person.
        uniforms: Per draw and event, a number from 0 to 1 that chooses it.
        events: Who has which facts.
        subsets: Per number d of events, C(d, m).
        secrets: Per secret and person, its value.
        told: What the events of each entry say in the column that is asked of another event.
        values: How many values a secret, or that column, has at most.
        least: How many events a target has at least.
    """
    draws, known = uniforms.shape
    outcome = np.zeros((5 + 2 * len(secrets), draws))
    sight = _Sight(
        np.empty(known, np.int64),
        np.empty(known, np.int64),
        np.empty(known, np.int64),
        np.empty(known, np.int64),
    )
    of_another = ValueChances(np.zeros(values), np.empty(values, np.int32))
    chances = np.zeros((len(secrets), values))
    holders = np.empty(len(events.sizes), np.int32)
    _draw_each(
        *(targets, uniforms, events, subsets, secrets, told, least),
        *(sight, of_another, chances, holders, outcome),
    )
    return outcome


@lean_inlined
def _draw_each(
    targets: Integers, uniforms: Floats, events: Events, subsets: Floats, secrets: Codes,
    told: EventValues, least: Integer, sight: _Sight, of_another: ValueChances, chances: Floats,
    holders: Codes, outcome: Floats,
) -> None:  # fmt: skip
    """Draw a sight of each target, look up everybody who has it, and tell what it gives away."""
    for turn in range(len(targets)):
        _draw_one(
            *(targets[turn], uniforms[turn], events, subsets, secrets, told, least),
            *(sight, of_another, chances, holders, outcome[:, turn]),
        )


@lean_inlined
def _draw_one(
    target: Integer, uniforms: Floats, events: Events, subsets: Floats, secrets: Codes,
    told: EventValues, least: Integer, sight: _Sight, of_another: ValueChances, chances: Floats,
    holders: Codes, outcome: Floats,
) -> None:  # fmt: skip
    """Draw a sight of a target, look up everybody who has it, and tell what it gives away."""
    kinds = _draw_sight(target, uniforms, events, sight)
    rarest = sight.facts[0]
    for kind in range(1, kinds):
        rarest = min(rarest, sight.facts[kind])
    total, best, number, met = 0.0, 0.0, 0, 0
    for place in range(events.fact_starts[rarest], events.fact_starts[rarest + 1]):
        person = events.people[events.by_fact[place]]
        if events.sizes[person] < least:
            continue
        chance = _chance_of(person, events, 1.0 / subsets[events.sizes[person]], sight, kinds)
        if chance == 0.0:
            continue
        holders[number] = person
        number += 1
        total += chance
        best = max(best, chance)
        for secret in range(len(secrets)):
            chances[secret, secrets[secret, person]] += chance
        if len(told.starts) > 0:
            met = _add_another(
                person, chance, events, told, sight, kinds, len(uniforms), of_another, met
            )
    outcome[0] = best / total
    outcome[1] = 1.0 if number == 1 else 0.0
    outcome[2] = 1.0 / number
    for secret in range(len(secrets)):
        likeliest, is_one = _take_likeliest(holders, number, secrets[secret], chances[secret])
        outcome[3 + 2 * secret] = min(1.0, likeliest / total)
        outcome[4 + 2 * secret] = 1.0 if is_one else 0.0
    likeliest = 0.0
    for kind in range(met):
        likeliest = max(likeliest, of_another.of[of_another.met[kind]])
        of_another.of[of_another.met[kind]] = 0.0
    outcome[-2] = min(1.0, likeliest / total)
    outcome[-1] = outcome[-2] if met == 1 else 0.0


@lean_inlined
def _draw_sight(target: Integer, uniforms: Floats, events: Events, sight: _Sight) -> Integer:
    """Draw some events of a target without replacement; return how many different facts they show."""
    kinds = 0
    for event in range(len(uniforms)):
        # the so-manieth of the events that were not chosen yet; those chosen are in order
        place: Integer = np.int64(uniforms[event] * (events.sizes[target] - event))
        spot = 0
        while spot < event and sight.chosen[spot] <= place:
            place += 1
            spot += 1
        for later in range(event, spot, -1):
            sight.chosen[later] = sight.chosen[later - 1]
        sight.chosen[spot] = place
        entry = events.starts[target]
        while place >= events.copies[entry]:
            place -= events.copies[entry]
            entry += 1
        kind = 0
        while kind < kinds and sight.facts[kind] != events.facts[entry]:
            kind += 1
        if kind == kinds:
            sight.facts[kind], sight.times[kind] = events.facts[entry], 0
            kinds += 1
        sight.times[kind] += 1
    return kinds


@lean_inlined
def _chance_of(person: Integer, events: Events, chance: Any, sight: _Sight, kinds: Integer) -> Any:
    """Return how likely a sight is of a person each of whose choices has some chance, and note where it is seen."""
    for kind in range(kinds):
        fact, end = sight.facts[kind], events.starts[person + 1]
        low, high = events.starts[person], end
        while low < high:
            middle = (low + high) // 2
            if events.facts[middle] < fact:
                low = middle + 1
            else:
                high = middle
        if low == end or events.facts[low] != fact or events.copies[low] < sight.times[kind]:
            return 0.0
        sight.entries[kind] = low
        ways: Any = 1.0
        for copy in range(sight.times[kind]):
            ways = ways * (events.copies[low] - copy) / (copy + 1)
        chance *= ways
    return chance


@lean_inlined
def _add_another(
    person: Integer, chance: Any, events: Events, told: EventValues, sight: _Sight, kinds: Integer,
    known: Integer, of_another: ValueChances, met: Integer,
) -> Integer:  # fmt: skip
    """Add up what another event of a person says; return how many values were met."""
    for entry in range(events.starts[person], events.starts[person + 1]):
        remaining = events.copies[entry]
        for kind in range(kinds):
            if sight.entries[kind] == entry:
                remaining -= sight.times[kind]
        if remaining == 0:
            continue
        share = chance * remaining / events.copies[entry] / (events.sizes[person] - known)
        for place in range(told.starts[entry], told.starts[entry + 1]):
            value = told.values[place]
            if of_another.of[value] == 0.0:
                of_another.met[met] = value
                met += 1
            of_another.of[value] += share * told.times[place]
    return met


@lean_inlined
def _take_likeliest(
    holders: Codes, number: Integer, value_of: Codes, chances: Floats
) -> tuple[Any, Any]:
    """Return the chance of the likeliest value of a secret, and whether there is one only; chances are zeros again."""
    likeliest, first, is_one = 0.0, value_of[holders[0]], True
    for place in range(number):
        value = value_of[holders[place]]
        likeliest = max(likeliest, chances[value])
        is_one = is_one and value == first
    for place in range(number):
        chances[value_of[holders[place]]] = 0.0
    return likeliest, is_one


@compiled
def sights(
    known: int,
    events: Events,
    room: int,
) -> Sights:
    """List every multiset of so many facts that a person with more events has.

    Args:
        known: How many facts, m.
        events: Who has which facts.
        room: How many there are at most.
    """
    starts, facts, copies, sizes = events.starts, events.facts, events.copies, events.sizes
    seen = np.empty((room, known), np.int32)
    ways = np.empty(room, np.int64)
    holder = np.empty(room, np.int32)
    entry_of = np.empty(sizes.max(), np.int32)
    first_of = np.empty(sizes.max(), np.int32)
    chosen = np.empty(known, np.int64)
    number = 0
    for person in range(len(sizes)):
        size = sizes[person]
        if size <= known:
            continue
        event = 0
        for entry in range(starts[person], starts[person + 1]):
            first = event
            for _ in range(copies[entry]):
                entry_of[event], first_of[event] = entry, first
                event += 1
        for place in range(known):
            chosen[place] = place
        while True:
            product, place = 1, 0
            while place < known:
                entry, begin = entry_of[chosen[place]], place
                while place < known and entry_of[chosen[place]] == entry:
                    seen[number, place] = facts[entry]
                    place += 1
                product *= binomial(copies[entry], place - begin)
            ways[number], holder[number] = product, person
            number += 1
            # the next one: the last event that can give way to one with another fact does
            place = known - 1
            while place >= 0:
                entry = entry_of[chosen[place]]
                later = first_of[chosen[place]] + copies[entry]
                if later + known - 1 - place < size:
                    for further in range(place, known):
                        chosen[further] = later + further - place
                    break
                place -= 1
            if place < 0:
                break
    return Sights(seen[:number], ways[:number], holder[:number])


@compiled
def another(
    listed: Sights,
    order: Integers,
    events: Events,
    denominators: Integers,
    told: EventValues,
    values: int,
) -> tuple[Integers, Integers]:
    """Count what somebody learns of another event of the target than those that she knows.

    Args:
        listed: The sights, as `sights` lists them.
        order: The rows by sight.
        events: Who has which facts.
        denominators: Per number d of events, C(d, m) (d − m).
        told: What the events of each entry say.
        values: How many values there are.

    Returns:
        Ways by number of events (guessed, certain), and entries of ties, as `walk` returns them.
    """
    learned = np.zeros((1, 2, len(denominators)), np.int64)
    ties, tied = np.empty((MOST_TIES, 4), np.int64), 0
    chances = ValueChances(np.zeros(values, np.float64), np.empty(values, np.int32))
    terms = _room_for_terms(listed, order, events, told)
    begin = 0
    while begin < len(order):
        end, number, kinds = _gather_terms(
            listed, order, begin, events, denominators, told, chances, terms
        )
        if kinds > 0:  # else the others tell nothing
            tied = _count_terms(
                *(terms, number, kinds, end - begin > 1, denominators, learned[0]),
                *(chances, ties, tied, begin),
            )
        begin = end
    return learned, ties[:tied]


@called
def _room_for_terms(listed: Sights, order: Integers, events: Events, told: EventValues) -> _Terms:
    """Return room for the terms of the sight that has the most."""
    room, number, begin = 0, 0, 0
    for place in range(len(order)):
        if not _is_same_sight(listed, order[place], order[begin]):
            begin, number = place, 0
        person = listed.people[order[place]]
        number += told.starts[events.starts[person + 1]] - told.starts[events.starts[person]]
        room = max(room, number)
    return _Terms(np.empty(room, np.int32), np.empty(room, np.int32), np.empty(room, np.int64))


@lean_inlined
def _is_same_sight(listed: Sights, row: Integer, other: Integer) -> Any:
    """Tell whether two rows have the same facts."""
    known, place = listed.facts.shape[1], 0
    while place < known and listed.facts[row, place] == listed.facts[other, place]:
        place += 1
    return place == known


@lean_inlined
def _gather_terms(
    listed: Sights, order: Integers, begin: Integer, events: Events, denominators: Integers,
    told: EventValues, chances: ValueChances, terms: _Terms,
) -> tuple[Integer, Integer, Integer]:  # fmt: skip
    """Write down what another event says of everybody with a sight, whose rows begin at some place.

    Returns:
        Where its rows end, the number of terms, and that of different values.
    """
    end, number, kinds = begin, 0, 0
    while end < len(order) and _is_same_sight(listed, order[end], order[begin]):
        row = order[end]
        person = listed.people[row]
        size, place = events.sizes[person], 0
        for entry in range(events.starts[person], events.starts[person + 1]):
            remaining = events.copies[entry]
            while place < listed.facts.shape[1] and listed.facts[row, place] == events.facts[entry]:
                remaining -= 1
                place += 1
            if remaining == 0:
                continue
            # C(c, o) (c - o) / c is the whole number C(c - 1, o)
            further = listed.ways[row] * remaining // events.copies[entry]
            for spot in range(told.starts[entry], told.starts[entry + 1]):
                value, ways = told.values[spot], further * told.times[spot]
                if chances.of[value] == 0.0:
                    chances.met[kinds] = value
                    kinds += 1
                chances.of[value] += ways / denominators[size]
                terms.values[number], terms.sizes[number] = value, size
                terms.ways[number] = ways
                number += 1
        end += 1
    return end, number, kinds


@lean_inlined
def _count_terms(
    terms: _Terms, number: Integer, kinds: Integer, of_several: Any, denominators: Integers,
    learned: Integers, chances: ValueChances, ties: Integers, tied: Integer, sight: Integer,
) -> Integer:  # fmt: skip
    """Add up the likeliest value of another event, or hand a tie back; return how many entries of ties there are."""
    winner, near = likeliest_value(chances, kinds)
    # the terms of one person are of the same kind
    is_open = of_several or chances.of[winner] * denominators[terms.sizes[0]] > 0.1 / NEAR
    is_tie = near > 1 and is_open and tied + number <= MOST_TIES
    for term in range(number):
        value, size, ways = terms.values[term], terms.sizes[term], terms.ways[term]
        if kinds == 1:
            learned[CERTAIN, size] += ways
        if not is_tie:
            if value == winner:
                learned[GUESSED, size] += ways
        elif is_near(chances, winner, value):
            tied = add_tie(ties, tied, sight, value, size, ways)
    for kind in range(kinds):
        chances.of[chances.met[kind]] = 0.0
    return tied
