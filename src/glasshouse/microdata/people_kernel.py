"""The compiled walk over what several people have in common, and the draws where that is too much.

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

from typing import Any

import numpy as np
from numpy.typing import NDArray

from glasshouse.arrays import Floats, Integer, Integers
from glasshouse.compiled import compiled, inlined

GUESSED, CERTAIN = range(2)
"""The rows of what `walk` returns of naming, and of each secret."""
MOST_ALIKE = 255
"""Up to so many people who have the same sight, who they are among is counted exactly; beyond, in doubles."""
MOST_TIES = 200_000
"""So many entries of sights whose likeliest secret doubles cannot tell are handed back, to be compared exactly."""
NEAR = 1e-12
"""Sums of chances that differ by less than this share may be equal."""


@inlined
def _binomial(number: Integer, chosen: Integer) -> Integer:
    ways = 1
    for place in range(chosen):
        ways = ways * (number - place) // (place + 1)
    return ways if number >= chosen else 0


@inlined
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


@compiled
def walk(  # noqa: C901
    known: int,
    starts: Integers,
    people: NDArray[np.int32],
    facts: NDArray[np.int32],
    copies: NDArray[np.int32],
    rests: NDArray[np.int32],
    by_fact: NDArray[np.int32],
    fact_starts: Integers,
    sizes: NDArray[np.int32],
    subsets: Integers,
    secrets: NDArray[np.int32],
    values: int,
    most_steps: int,
) -> tuple[Integers, Integers, Integers, Floats, Integers, Integers, Integers, int]:
    """Count what somebody learns who happens to know some of a person's events.

    Args:
        known: How many events she knows, m.
        starts: Per person, the first entry; one more closes the last.
        people: Per entry, the person.
        facts: Per entry, the fact.
        copies: Per entry, how many of the person's events show it.
        rests: Per entry, how many events the person has from this entry on.
        by_fact: The entries by fact.
        fact_starts: Per fact, where its entries begin there; one more closes the last.
        sizes: Per person, the number of events, at least m.
        subsets: Per number d of events, C(d, m).
        secrets: Per secret and person, its value.
        values: How many values a secret has at most.
        most_steps: How many holders may be looked at.

    Returns:
        Ways by number of events: of naming (guessed, certain), of each secret (guessed, certain), by the number of
        people alike (up to `MOST_ALIKE`), and beyond that ways / people; per person the fewest and the most people with
        a sight; entries of ties (which sight and secret, the value, the number of events, the ways); and the steps,
        negative if they were too many.
    """
    widest = len(subsets)
    named = np.zeros((2, widest), np.int64)
    learned = np.zeros((len(secrets), 2, widest), np.int64)
    alike = np.zeros((MOST_ALIKE + 1, widest), np.int64)
    beyond = np.zeros(widest, np.float64)
    fewest = np.full(len(sizes), 1 << 31, np.int64)
    most = np.zeros(len(sizes), np.int64)
    ties = np.empty((1 << 10, 4), np.int64)
    tied = 0
    sights = 0
    chances = np.zeros(values, np.float64)
    met = np.empty(values, np.int32)
    number = len(fact_starts) - 1
    depth = max(known - 1, 1)
    heads = np.full((depth, number * known if known > 1 else 1), -1, np.int32)
    seen = np.zeros(heads.shape[1], np.uint8)
    room = 1 << 12
    following = np.empty((depth, room), np.int32)
    place_of = np.empty((depth, room), np.int32)
    ways_of = np.empty((depth, room), np.int64)
    keys = np.empty((depth, room), np.int64)
    key_count = np.zeros(depth, np.int64)
    cursor = np.zeros(depth, np.int64)
    done_at = np.zeros(depth, np.int64)
    held = np.empty(1 << 12, np.int32)
    ways = np.empty(1 << 12, np.int64)
    steps = 0
    for fact in range(number):
        begin, end = fact_starts[fact], fact_starts[fact + 1]
        if end - begin > len(held):
            held, ways = (
                np.empty(2 * (end - begin), np.int32),
                np.empty(2 * (end - begin), np.int64),
            )
        for copy in range(1, known + 1):
            holders = 0
            for place in range(begin, end):
                entry = by_fact[place]
                if copies[entry] >= copy and rests[entry] - copies[entry] >= known - copy:
                    held[holders] = entry
                    ways[holders] = _binomial(copies[entry], copy)
                    holders += 1
            if holders == 0:
                continue
            level, done = 0, copy
            while True:
                steps += holders
                if done == known or holders == 1:
                    # a sight, or all that one person has from here on
                    if holders == 1 and done < known:
                        entry = held[0]
                        ways[0] *= _binomial(rests[entry] - copies[entry], known - done)
                    if ways[0] > 0:
                        best = 0
                        best_size = sizes[people[held[0]]]
                        for place in range(holders):
                            person = people[held[place]]
                            size = sizes[person]
                            if size == best_size:
                                if ways[place] > ways[best]:
                                    best = place
                            elif _is_less(
                                ways[best], subsets[best_size], ways[place], subsets[size]
                            ):
                                best, best_size = place, size
                            fewest[person] = min(fewest[person], holders)
                            most[person] = max(most[person], holders)
                            if holders <= MOST_ALIKE:
                                alike[holders, size] += ways[place]
                            else:
                                beyond[size] += ways[place] / holders
                        named[GUESSED, best_size] += ways[best]
                        if holders == 1:
                            named[CERTAIN, best_size] += ways[best]
                        for secret in range(len(secrets)):
                            value_of, sums = secrets[secret], learned[secret]
                            first = value_of[people[held[0]]]
                            one = True
                            for place in range(1, holders):
                                if value_of[people[held[place]]] != first:
                                    one = False
                                    break
                            if one:
                                for place in range(holders):
                                    size = sizes[people[held[place]]]
                                    sums[GUESSED, size] += ways[place]
                                    sums[CERTAIN, size] += ways[place]
                                continue
                            kinds = 0
                            for place in range(holders):
                                person = people[held[place]]
                                value = value_of[person]
                                if chances[value] == 0.0:
                                    met[kinds] = value
                                    kinds += 1
                                chances[value] += ways[place] / subsets[sizes[person]]
                            winner = met[0]
                            for kind in range(1, kinds):
                                if chances[met[kind]] > chances[winner]:
                                    winner = met[kind]
                            near = 0
                            for kind in range(kinds):
                                gap = chances[winner] - chances[met[kind]]
                                if gap <= NEAR * chances[winner]:
                                    near += 1
                            if near > 1:
                                # where all of them have as many events, the sums are of the same kind
                                size = sizes[people[held[0]]]
                                same = True
                                for place in range(1, holders):
                                    if sizes[people[held[place]]] != size:
                                        same = False
                                        break
                                if same and chances[winner] * subsets[size] < 0.1 / NEAR:
                                    near = 1
                            if near > 1 and tied + holders <= MOST_TIES:
                                while tied + holders > len(ties):
                                    larger = np.empty((2 * len(ties), 4), np.int64)
                                    larger[:tied] = ties[:tied]
                                    ties = larger
                                for place in range(holders):
                                    person = people[held[place]]
                                    value = value_of[person]
                                    if chances[winner] - chances[value] <= NEAR * chances[winner]:
                                        ties[tied, 0] = sights * len(secrets) + secret
                                        ties[tied, 1] = value
                                        ties[tied, 2] = sizes[person]
                                        ties[tied, 3] = ways[place]
                                        tied += 1
                                sights += 1
                            else:
                                for place in range(holders):
                                    person = people[held[place]]
                                    if value_of[person] == winner:
                                        sums[GUESSED, sizes[person]] += ways[place]
                            for kind in range(kinds):
                                chances[met[kind]] = 0.0
                else:
                    wanted = known - done
                    need = 0
                    for place in range(holders):
                        entry = held[place]
                        for later in range(entry + 1, starts[people[entry] + 1]):
                            if rests[later] < wanted:
                                break
                            for copied in range(1, min(wanted, copies[later]) + 1):
                                if rests[later] - copies[later] < wanted - copied:
                                    continue
                                key = np.int64(facts[later]) * known + copied - 1
                                if seen[key] == 1:
                                    need += 2
                                elif seen[key] > 1:
                                    need += 1
                                seen[key] = min(seen[key] + 1, 2)
                    if need > following.shape[1]:
                        larger_room = max(need, 2 * following.shape[1])
                        wider = np.empty((depth, larger_room), np.int32)
                        wider[:, : following.shape[1]] = following
                        wider_place = np.empty((depth, larger_room), np.int32)
                        wider_place[:, : following.shape[1]] = place_of
                        wider_ways = np.empty((depth, larger_room), np.int64)
                        wider_ways[:, : following.shape[1]] = ways_of
                        wider_keys = np.empty((depth, larger_room), np.int64)
                        wider_keys[:, : following.shape[1]] = keys
                        following, place_of = wider, wider_place
                        ways_of, keys = wider_ways, wider_keys
                    links, chains = 0, 0
                    head = heads[level]
                    for place in range(holders):
                        entry = held[place]
                        person = people[entry]
                        alone = 0
                        for later in range(entry + 1, starts[person + 1]):
                            if rests[later] < wanted:
                                break
                            for copied in range(1, min(wanted, copies[later]) + 1):
                                rest = rests[later] - copies[later]
                                if rest < wanted - copied:
                                    continue
                                key = np.int64(facts[later]) * known + copied - 1
                                further = _binomial(copies[later], copied)
                                steps += 1
                                if seen[key] == 1:
                                    seen[key] = 0
                                    alone += further * _binomial(rest, wanted - copied)
                                    continue
                                if head[key] < 0:
                                    keys[level, chains] = key
                                    chains += 1
                                following[level, links] = head[key]
                                head[key] = links
                                place_of[level, links] = later
                                ways_of[level, links] = ways[place] * further
                                links += 1
                        if alone > 0:
                            # what nobody else has with what all of them have
                            alone *= ways[place]
                            size = sizes[person]
                            fewest[person] = 1
                            most[person] = max(most[person], 1)
                            alike[1, size] += alone
                            for kind in range(2):
                                named[kind, size] += alone
                                for secret in range(len(secrets)):
                                    learned[secret, kind, size] += alone
                    for chain in range(chains):
                        seen[keys[level, chain]] = 0
                    key_count[level], cursor[level], done_at[level] = chains, 0, done
                    level += 1
                if steps > most_steps:
                    return named, learned, alike, beyond, fewest, most, ties[:tied], -steps
                while level > 0 and cursor[level - 1] >= key_count[level - 1]:
                    level -= 1
                if level == 0:
                    break
                key = keys[level - 1, cursor[level - 1]]
                cursor[level - 1] += 1
                link = heads[level - 1, key]
                heads[level - 1, key] = -1
                holders = 0
                while link >= 0:
                    if holders == len(held):
                        more, more_ways = (
                            np.empty(2 * holders, np.int32),
                            np.empty(2 * holders, np.int64),
                        )
                        more[:holders] = held
                        more_ways[:holders] = ways
                        held, ways = more, more_ways
                    held[holders] = place_of[level - 1, link]
                    ways[holders] = ways_of[level - 1, link]
                    holders += 1
                    link = following[level - 1, link]
                done = done_at[level - 1] + key % known + 1
    return named, learned, alike, beyond, fewest, most, ties[:tied], steps


@compiled
def draw(  # noqa: C901
    targets: Integers,
    uniforms: Floats,
    starts: Integers,
    people: NDArray[np.int32],
    facts: NDArray[np.int32],
    copies: NDArray[np.int32],
    by_fact: NDArray[np.int32],
    fact_starts: Integers,
    sizes: NDArray[np.int32],
    subsets: Floats,
    secrets: NDArray[np.int32],
    values: int,
    least: int,
    value_starts: Integers,
    value_of: NDArray[np.int32],
    times_of: NDArray[np.int32],
) -> Floats:
    """Return what somebody learns who knows some events of each of some targets, drawn evenly.

    Everybody who has the sight is looked up, so that each draw gives its chances exactly: a row for each of naming by
    guessing, for certain and evenly, then by guessing and for certain of each secret, and of the value of another event
    of the target.

    Args:
        targets: Per draw, the person.
        uniforms: Per draw and event, a number from 0 to 1 that chooses it.
        starts: As `walk` has it, and so what follows.
        people: Per entry, the person.
        facts: Per entry, the fact.
        copies: Per entry, how often it occurs.
        by_fact: The entries by fact.
        fact_starts: Per fact, where its entries begin.
        sizes: Per person, the number of events.
        subsets: Per number d of events, C(d, m).
        secrets: Per secret and person, its value.
        values: How many values a secret, or a column, has at most.
        least: How many events a target has at least.
        value_starts: Per entry, where its values of a column begin; one more closes the last. Empty: no other event is
            asked for.
        value_of: Those values.
        times_of: Per value, in how many events.
    """
    draws, known = uniforms.shape
    outcome = np.zeros((5 + 2 * len(secrets), draws))
    weights = np.zeros(values)
    spots = np.empty(known, np.int64)
    met = np.empty(values, np.int64)
    chosen, seen, times = (
        np.empty(known, np.int64),
        np.empty(known, np.int64),
        np.empty(known, np.int64),
    )
    chances = np.zeros((len(secrets), values))
    holders = np.empty(len(sizes), np.int32)
    for turn in range(draws):
        target = targets[turn]
        kinds = 0
        for event in range(known):
            # the so-manieth of the events that were not chosen yet; those chosen are in order
            place = np.int64(uniforms[turn, event] * (sizes[target] - event))
            spot = 0
            while spot < event and chosen[spot] <= place:
                place += 1
                spot += 1
            for later in range(event, spot, -1):
                chosen[later] = chosen[later - 1]
            chosen[spot] = place
            entry = starts[target]
            while place >= copies[entry]:
                place -= copies[entry]
                entry += 1
            kind = 0
            while kind < kinds and seen[kind] != facts[entry]:
                kind += 1
            if kind == kinds:
                seen[kind], times[kind] = facts[entry], 0
                kinds += 1
            times[kind] += 1
        rarest = 0
        for kind in range(kinds):
            if seen[kind] < seen[rarest]:
                rarest = kind
        total, best, number, kinds_met = 0.0, 0.0, 0, 0
        for spot in range(fact_starts[seen[rarest]], fact_starts[seen[rarest] + 1]):
            person = people[by_fact[spot]]
            if sizes[person] < least:
                continue
            chance = 1.0 / subsets[sizes[person]]
            for kind in range(kinds):
                low, high = starts[person], starts[person + 1]
                while low < high:
                    middle = (low + high) // 2
                    if facts[middle] < seen[kind]:
                        low = middle + 1
                    else:
                        high = middle
                if (
                    low == starts[person + 1]
                    or facts[low] != seen[kind]
                    or copies[low] < times[kind]
                ):
                    chance = 0.0
                    break
                spots[kind] = np.int64(low)
                ways = 1.0
                for copy in range(times[kind]):
                    ways = ways * (copies[low] - copy) / (copy + 1)
                chance *= ways
            if chance > 0.0:
                holders[number] = person
                number += 1
                total += chance
                best = max(best, chance)
                for secret in range(len(secrets)):
                    chances[secret, secrets[secret, person]] += chance
                if len(value_starts) == 0:
                    continue
                for entry in range(starts[person], starts[person + 1]):
                    remaining = copies[entry]
                    for kind in range(kinds):
                        if spots[kind] == entry:
                            remaining -= times[kind]
                    if remaining == 0:
                        continue
                    share = chance * remaining / copies[entry] / (sizes[person] - known)
                    for position in range(value_starts[entry], value_starts[entry + 1]):
                        if weights[value_of[position]] == 0.0:
                            met[kinds_met] = value_of[position]
                            kinds_met += 1
                        weights[value_of[position]] += share * times_of[position]
        outcome[0, turn] = best / total
        outcome[1, turn] = 1.0 if number == 1 else 0.0
        outcome[2, turn] = 1.0 / number
        for secret in range(len(secrets)):
            likeliest, first, one = 0.0, secrets[secret, holders[0]], True
            for spot in range(number):
                value = secrets[secret, holders[spot]]
                likeliest = max(likeliest, chances[secret, value])
                one = one and value == first
            for spot in range(number):
                chances[secret, secrets[secret, holders[spot]]] = 0.0
            outcome[3 + 2 * secret, turn] = min(1.0, likeliest / total)
            outcome[4 + 2 * secret, turn] = 1.0 if one else 0.0
        likeliest = 0.0
        for kind in range(kinds_met):
            likeliest = max(likeliest, weights[met[kind]])
            weights[met[kind]] = 0.0
        outcome[-2, turn] = min(1.0, likeliest / total)
        outcome[-1, turn] = outcome[-2, turn] if kinds_met == 1 else 0.0
    return outcome


@compiled
def sights(
    known: int,
    starts: Integers,
    facts: NDArray[np.int32],
    copies: NDArray[np.int32],
    sizes: NDArray[np.int32],
    room: int,
) -> tuple[NDArray[np.int32], Integers, NDArray[np.int32]]:
    """List every multiset of so many facts that a person with more events has.

    Args:
        known: How many facts, m.
        starts: As `walk` has it, and so what follows.
        facts: Per entry, the fact.
        copies: Per entry, how often it occurs.
        sizes: Per person, the number of events.
        room: How many there are at most.

    Returns:
        Per sight its facts in order, in how many ways the person has it, and who it is.
    """
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
                product *= _binomial(copies[entry], place - begin)
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
    return seen[:number], ways[:number], holder[:number]


@compiled
def another(  # noqa: C901
    seen: NDArray[np.int32],
    ways: Integers,
    holder: NDArray[np.int32],
    order: Integers,
    starts: Integers,
    facts: NDArray[np.int32],
    copies: NDArray[np.int32],
    sizes: NDArray[np.int32],
    denominators: Integers,
    value_starts: Integers,
    value_of: NDArray[np.int32],
    times_of: NDArray[np.int32],
    values: int,
) -> tuple[Integers, Integers]:
    """Count what somebody learns of another event of the target than those that she knows.

    Args:
        seen: Per sight and person, its facts, as `sights` lists them.
        ways: In how many ways the person has it.
        holder: Who it is.
        order: The rows by sight.
        starts: As `walk` has it, and so what follows.
        facts: Per entry, the fact.
        copies: Per entry, how often it occurs.
        sizes: Per person, the number of events.
        denominators: Per number d of events, C(d, m) (d − m).
        value_starts: Per entry, where its values begin.
        value_of: Those values.
        times_of: Per value, in how many events.
        values: How many values there are.

    Returns:
        Ways by number of events (guessed, certain), and entries of ties, as `walk` returns them.
    """
    known = seen.shape[1]
    learned = np.zeros((1, 2, len(denominators)), np.int64)
    ties = np.empty((1 << 10, 4), np.int64)
    tied = 0
    chances = np.zeros(values, np.float64)
    met = np.empty(values, np.int32)
    part_of = np.empty(1 << 10, np.int32)
    part_size = np.empty(1 << 10, np.int32)
    part_ways = np.empty(1 << 10, np.int64)
    begin = 0
    while begin < len(order):
        end, kinds, terms = begin, 0, 0
        while end < len(order):
            same = True
            for place in range(known):
                same = same and seen[order[end], place] == seen[order[begin], place]
            if not same:
                break
            row = order[end]
            person = holder[row]
            place = 0
            for entry in range(starts[person], starts[person + 1]):
                remaining = copies[entry]
                while place < known and seen[row, place] == facts[entry]:
                    remaining -= 1
                    place += 1
                if remaining == 0:
                    continue
                # C(c, o) (c - o) / c is the whole number C(c - 1, o)
                further = ways[row] * remaining // copies[entry]
                for spot in range(value_starts[entry], value_starts[entry + 1]):
                    value = value_of[spot]
                    if chances[value] == 0.0:
                        met[kinds] = value
                        kinds += 1
                    if terms == len(part_of):
                        part_of = np.append(part_of, np.empty_like(part_of))
                        part_size = np.append(part_size, np.empty_like(part_size))
                        part_ways = np.append(part_ways, np.empty_like(part_ways))
                    part_of[terms], part_size[terms] = value, sizes[person]
                    part_ways[terms] = further * times_of[spot]
                    chances[value] += part_ways[terms] / denominators[sizes[person]]
                    terms += 1
            end += 1
        if kinds == 0:  # the others tell nothing
            begin = end
            continue
        winner = met[0]
        for kind in range(1, kinds):
            if chances[met[kind]] > chances[winner]:
                winner = met[kind]
        near = 0
        for kind in range(kinds):
            if chances[winner] - chances[met[kind]] <= NEAR * chances[winner]:
                near += 1
        several = end - begin > 1 or chances[winner] * denominators[part_size[0]] > 0.1 / NEAR
        is_tie = near > 1 and several and tied + terms <= MOST_TIES
        for term in range(terms):
            value, size = part_of[term], part_size[term]
            if kinds == 1:
                learned[0, CERTAIN, size] += part_ways[term]
            if not is_tie:
                if value == winner:
                    learned[0, GUESSED, size] += part_ways[term]
            elif chances[winner] - chances[value] <= NEAR * chances[winner]:
                if tied == len(ties):
                    ties = np.concatenate((ties, np.empty_like(ties)))
                ties[tied, 0], ties[tied, 1] = begin, value
                ties[tied, 2], ties[tied, 3] = size, part_ways[term]
                tied += 1
        for kind in range(kinds):
            chances[met[kind]] = 0.0
        begin = end
    return learned, ties[:tied]
