"""No report tells a small count of people, by whatever figures: the attacker of `tests.differencing` finds none."""

from __future__ import annotations

from bisect import bisect
from collections import Counter
from collections.abc import Callable, Hashable, Iterator, Sequence
from dataclasses import replace
from fractions import Fraction
from functools import cache, partial
from itertools import combinations, permutations, product
from pathlib import Path
from random import Random
from types import SimpleNamespace
from typing import Any
from unittest.mock import patch

import pyarrow as pa
import pytest

import glasshouse as gh
from glasshouse.disclosure import cell_count, smallest_cell
from glasshouse.measures.compared_runs import ComparedRun, MeasuredRuns
from glasshouse.microdata.leakage import SIZE_BINS
from glasshouse.report import Provenance
from glasshouse.report.compare.figures import measured_page
from glasshouse.report.discretion import Among
from glasshouse.report.threat.page import times_surer
from glasshouse.report.totals.findings import SOLVED
from glasshouse.report.totals.page import places_section
from tests.cli.test_longitudinal import write
from tests.cli.test_threat import PEOPLE, VERTICAL
from tests.differencing import (
    PENCIL,
    figures,
    sketched,
    small_counts_told,
    told_beyond,
    told_of,
)
from tests.examples import IS_THOROUGH, examples
from tests.report.test_threat import of_levels, of_table

LEAST = smallest_cell()

# The parts of a release: assess --by

Part = tuple[int, int, int, int]
"""How many people of one kind have a secret, or another one; how many of a second kind, likewise."""
Parts = tuple[Part, ...]


def table(rows: Sequence[tuple[str, ...]], *names: str) -> pa.Table:
    return pa.table(dict(zip(names, map(list, zip(*rows, strict=True)), strict=True)))


@cache
def by_part(parts: Parts) -> str:
    rows = [
        (f"part {number}", "kl"[i // 2], "xy"[i % 2])
        for number, part in enumerate(parts)
        for i, count in enumerate(part)
        for _ in range(count)
    ]
    people = table(rows, "part", "kind", "ill")
    run = gh.assess(people, quasi_identifiers=["kind"], sensitive=["ill"], by="part")
    return figures(lambda: run.page)


def in_parts(parts: Parts) -> dict[str, int]:
    """How many people a part has, and how many of them have its rarer secret."""
    counts = {}
    for number, (a, b, c, d) in enumerate(parts):
        counts[f"the size of part {number}"] = a + b + c + d
        counts[f"the rarer secret in part {number}"] = min(a + c, b + d)
    return counts


LARGE: Parts = ((300, 150, 60, 90), (100, 80, 70, 50), (30, 20, 10, 20))


def last_part(size: int) -> list[Parts]:
    """All that the last part may be."""
    first = size // 2
    return [
        (*LARGE, (i, first - i, j, size - first - j))
        for i, j in product(range(first + 1), range(size - first + 1))
    ]


def of_files(few: Sequence[tuple[str, str]]) -> str:
    """Return the report on three files side by side, of which the last is of few people."""
    rows = [[("kl"[i % 2], "xyy"[i % 3]) for i in range(size)] for size in (300, 120)]
    files = [
        gh.read(table(one, "kind", "ill"), quasi_identifiers=["kind"], sensitive=["ill"], name=name)
        for name, one in zip(("first", "second", "third"), (*rows, few), strict=True)
    ]
    return figures(lambda: gh.assess(files, each=True).page)


def test_files_side_by_side_tell_nothing_of_the_people_of_a_small_one() -> None:
    for size in (1, 3, LEAST - 1):
        everybody = list(product("kl", "xy"))
        told = {of_files([one] * (size - 1) + [other]) for one in everybody for other in everybody}
        assert len(told) == 1, size


@pytest.mark.parametrize("size", [13, *([21] if IS_THOROUGH else [])])
def test_no_part_tells_how_few_share_a_secret(size: int) -> None:
    assert small_counts_told(last_part(size), by_part, in_parts) == []


def test_the_attacker_reads_correlations() -> None:
    """Pearson's correlation over all parts shown, as it once was, tells what is hidden in one of them."""
    by_part.cache_clear()
    with patch("glasshouse.report.assess.family.exactly_told", lambda family, _: family):
        assert small_counts_told(last_part(13), by_part, in_parts)
    by_part.cache_clear()


def moved(world: Parts, most: int = 4) -> Iterator[Parts]:
    """What else the parts may be: some people have the other secret, or are in another part; small parts first."""
    numbers = sorted(range(len(world)), key=lambda number: sum(world[number]))
    cells = [(number, i) for number in numbers for i in range(4)]
    pairs = sorted(permutations(cells, 2), key=lambda pair: max(map(cells.index, pair)))
    near = [(a, b) for a, b in pairs if a[0] == b[0]]
    for count, (a, b) in product(range(1, most + 1), (*near, *pairs)):
        parts = [list(part) for part in world]
        parts[a[0]][a[1]] -= count
        parts[b[0]][b[1]] += count
        if min(map(min, parts)) >= 0 and all(map(sum, parts)):
            yield tuple(tuple(part) for part in parts)  # type: ignore[misc]


def test_no_random_table_tells_small_counts_of_its_parts() -> None:
    random = Random(17)
    for _ in range(examples(60)):
        world = tuple(
            tuple(random.choice((0, 1, 2, 5, 9, 14)) for _ in range(4))
            for _ in range(random.randint(2, 4))
        )
        if all(map(sum, world)):
            assert told_of(world, moved(world), by_part, in_parts) == []  # type: ignore[arg-type]


# A whole release, of which totals are told: assess and anonymise

Cells = tuple[int, ...]
"""How many people have each kind, sex and secret."""
VALUES = tuple(product("kl", "ab", "xy"))


def release_of(cells: Cells) -> pa.Table:
    rows = [values for values, count in zip(VALUES, cells, strict=True) for _ in range(count)]
    return table(rows, "kind", "sex", "ill")


@cache
def of_release(cells: Cells) -> str:
    run = gh.assess(release_of(cells), quasi_identifiers=["kind", "sex"], sensitive=["ill"])
    return figures(lambda: run.page)


@cache
def of_protected(cells: Cells) -> str:
    run = gh.anonymise(
        release_of(cells),
        quasi_identifiers=["kind", "sex"],
        sensitive=["ill"],
        k=3,
        suppression=0.5,
    )
    return figures(lambda: run.page)


def in_cells(cells: Cells) -> dict[str, int]:
    return {" ".join(values): count for values, count in zip(VALUES, cells, strict=True)}


def totals_of(cells: Cells) -> Hashable:
    """What a report on a whole release is to tell: nobody's value, and nobody's class."""
    totals: list[Hashable] = []
    secrets = Counter[str]()
    for known in ((), (0,), (1,), (0, 1)):
        classes: dict[tuple[str, ...], Counter[str]] = {}
        for values, count in zip(VALUES, cells, strict=True):
            if count:
                observed = tuple(values[place] for place in known)
                classes.setdefault(observed, Counter())[values[2]] += count
        sizes = [alike.total() for alike in classes.values()]
        best = [max(alike.values()) for alike in classes.values()]
        sure = sum(alike.total() for alike in classes.values() if len(alike) == 1)
        secrets = secrets or next(iter(classes.values()))
        totals.append((len(sizes), sizes.count(1), sum(best), sure))
    worst = sum(
        max(Fraction(count, secrets[secret]) for secret, count in alike.items())
        for alike in classes.values()
    )
    success = Counter[int]()
    for size, most in zip(sizes, best, strict=True):
        success[10 * most // size] += size
    bins = Counter(bisect(SIZE_BINS, size) for size in sizes)
    in_bins = Counter[int]()
    for size in sizes:
        in_bins[bisect(SIZE_BINS, size)] += size
    histograms = [frozenset(counts.items()) for counts in (bins, in_bins, success)]
    return (*totals, worst, min(sizes), *histograms)


def test_a_report_on_a_release_tells_its_totals_and_nothing_else() -> None:
    worlds: dict[Hashable, list[Cells]] = {}
    for cells in compositions(7, len(VALUES)):
        worlds.setdefault(totals_of(cells), []).append(cells)
    random = Random(23)
    alike = [group for group in worlds.values() if len(group) > 1]
    for group in random.sample(alike, examples(40)):
        world, *rivals = random.sample(group, min(3, len(group)))
        assert {of_release(world)} == set(map(of_release, rivals))
        assert told_beyond(world, rivals, of_release, in_cells, totals_of) == []


def renamed(cells: Cells) -> Iterator[Cells]:
    """What else a table is if its values go by other names."""
    counts: dict[tuple[str, ...], int] = dict(zip(VALUES, cells, strict=True))
    domains = [permutations(names) for names in ("kl", "ab", "xy")]
    for names in product(*domains):
        new = [dict(zip(sorted(own), own, strict=True)) for own in names]
        yield tuple(
            counts[tuple(own[value] for own, value in zip(new, values, strict=True))]
            for values in VALUES
        )


@pytest.mark.parametrize("look", [of_release, of_protected])
def test_a_report_tells_of_no_value_by_its_name(look: Callable[[Cells], str]) -> None:
    random = Random(29)
    for _ in range(examples(40)):
        world = tuple(random.choice((0, 1, 2, 4, 9, 14)) for _ in VALUES)
        if sum(world) > LEAST:
            assert len(set(map(look, random.sample(list(renamed(world)), 3)))) == 1


# What was left out of a release beforehand: assess and anonymise

LeftOut = tuple[int, int, int, int]
"""How many records have an invalid sex, no kind, no illness, neither of these."""
STAYING = [values for place, values in enumerate(VALUES) for _ in range(3 + place % 3)]


@cache
def of_left_out(command: str, left_out: LeftOut) -> str:
    lacking = (("k", "c", "x"), ("", "a", "x"), ("k", "a", ""), ("", "a", ""))
    rows = STAYING + [
        values for values, count in zip(lacking, left_out, strict=True) for _ in range(count)
    ]
    treatment: dict[str, Any] = {"invalid": ["sex=c"], "drop_missing": True}
    people, columns = table(rows, "kind", "sex", "ill"), ["kind", "sex"]
    if command == "assess":
        run: Any = gh.assess(
            people, quasi_identifiers=columns, sensitive=["ill"], subsets=["full"], **treatment
        )
    else:
        run = gh.anonymise(people, quasi_identifiers=columns, sensitive=["ill"], k=2, **treatment)
    return figures(lambda: run.page)


def lacking_values(left_out: LeftOut) -> dict[str, int]:
    invalid, kind, ill, both = left_out
    return {
        "an invalid sex": invalid,
        "no kind": kind + both,
        "no illness": ill + both,
        "a missing value": kind + ill + both,
    }


def shifted_left_out(world: LeftOut) -> Iterator[LeftOut]:
    """What else the counts may be: more or fewer of one, or of some and the others accordingly."""
    signs = ((1, 0, 0, 0), (0, 1, 0, 0), (0, 0, 1, 0), (0, 1, -1, 0), (0, 1, 0, -1), (0, 0, 1, -1))
    for step, sign in product((1, -1, 2, -2, 4, -4, 8, -8), (*signs, (0, 1, 1, -1))):
        counts = tuple(count + step * more for count, more in zip(world, sign, strict=True))
        if min(counts) >= 0:
            yield counts  # type: ignore[misc]


@pytest.mark.parametrize("command", ["assess", "anonymise"])
def test_a_report_does_not_tell_how_few_were_left_out(command: str) -> None:
    random, look = Random(31), partial(of_left_out, command)
    worlds = {
        tuple(random.choice((0, 1, 2, 5, 9, 12)) for _ in range(4)) for _ in range(examples(80))
    }
    for world in sorted(worlds):
        assert told_of(world, shifted_left_out(world), look, lacking_values) == []  # type: ignore[arg-type]


@pytest.mark.parametrize("command", ["assess", "anonymise"])
def test_the_attacker_reads_what_was_left_out(command: str) -> None:
    """Every count of records before, left out and after, as they once were."""
    world, look = (3, 2, 12, 0), partial(of_left_out, command)
    of_left_out.cache_clear()
    with patch(
        "glasshouse.report.provenance._counts",
        lambda steps: [(str(step.before), str(step.left_out), str(step.after)) for step in steps],
    ):
        found = told_of(world, shifted_left_out(world), look, lacking_values)
    assert found == [f"an invalid sex is 3 in {world}", f"no kind is 2 in {world}"]
    of_left_out.cache_clear()
    assert told_of(world, shifted_left_out(world), look, lacking_values) == []


# The people of one release who are in another: assess of several

Linked = tuple[tuple[int, int], ...]
"""How many people of each kind are in the second release, and how many are not."""


@cache
def of_linked(linked: Linked) -> str:
    people = [
        (f"{number} {place} {i}", f"kind {number}", place)
        for number, counts in enumerate(linked)
        for place, count in enumerate(counts)
        for i in range(count)
    ]
    releases = [
        gh.read(table(rows, "id", "kind"), id="id", quasi_identifiers=["kind"], name=name)
        for name, rows in (
            ("first", [row[:2] for row in people]),
            ("second", [row[:2] for row in people if row[2] == 0]),
        )
    ]
    run = gh.assess(releases, quasi_identifiers=["kind"], id="id", subsets=["full"])
    return figures(lambda: run.page)


def in_second(linked: Linked) -> dict[str, int]:
    inside, outside = map(sum, zip(*linked, strict=True))
    return {"in the second": inside, "not in the second": outside}


def turned(linked: Linked) -> Iterator[Linked]:
    """What else it may be: who is in the second release is not, and the other way round, of some kinds."""
    for size in range(1, len(linked) + 1):
        for kinds in combinations(range(len(linked)), size):
            yield tuple(
                counts[::-1] if kind in kinds else counts for kind, counts in enumerate(linked)
            )


def class_sizes(linked: Linked) -> Hashable:
    """How many look alike, which is what is asked; not who of them is in the second release."""
    return tuple(tuple(sorted(counts)) for counts in linked)


def random_linked(random: Random) -> Linked:
    linked = [(random.randint(12, 30), random.randint(0, 4)) for _ in range(random.randint(1, 3))]
    return tuple(linked) if random.random() < 0.5 else tuple((b, a) for a, b in linked)


def test_two_files_do_not_tell_how_few_are_in_one_of_them_only() -> None:
    random = Random(37)
    for _ in range(examples(60)):
        world = random_linked(random)
        assert told_beyond(world, turned(world), of_linked, in_second, class_sizes) == []
    of_linked.cache_clear()
    world = ((20, 3), (15, 2), (30, 1))
    with patch("glasshouse.report.assess.page.none_is_few", lambda counts: True):
        assert told_beyond(world, turned(world), of_linked, in_second, class_sizes), (
            "she reads how many are in both"
        )
    of_linked.cache_clear()


# What re-identified records cost: deter

Costly = tuple[int, ...]
"""How many people of each kind cost the publisher more than others."""
RECORDS, REGISTER = (16, 14, 12), (3, 9, 80)
"""How many of each kind are in the release, and in the register: so many that the last are not worth attacking."""


def worth_attacking(costly: Costly) -> dict[str, int]:
    """How many of those worth attacking cost more, and how many do not."""
    more = sum(costly[:2])
    return {"costly": more, "not costly": sum(RECORDS[:2]) - more}


def otherwise_costly(costly: Costly) -> Iterator[Costly]:
    for a, step in product(range(3), (1, -1, 2, -2, 5, -5, 9, -9, 20, -20)):
        counts = list(costly)
        counts[a] += step
        if all(0 <= count <= most for count, most in zip(counts, RECORDS, strict=True)):
            yield tuple(counts)


def test_what_a_release_costs_does_not_tell_how_few_cost_more(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    kinds = [f"kind {number}" for number in range(3)]
    write(
        "register.csv",
        {"kind": [k for k, n in zip(kinds, REGISTER, strict=True) for _ in range(n)]},
    )

    @cache
    def cost(costly: Costly) -> str:
        rows = [
            (kind, "x" if i < more else "y")
            for kind, count, more in zip(kinds, RECORDS, costly, strict=True)
            for i in range(count)
        ]
        write(
            "release.csv",
            dict(zip(("kind", "ill"), map(list, zip(*rows, strict=True)), strict=True)),
        )
        run = gh.deter(
            release="release.csv",
            register="register.csv",
            quasi_identifiers=["kind"],
            loss=10.0,
            loss_by={"ill": {"x": 100.0}},
        )
        return figures(lambda: run.page)

    random = Random(41)
    worlds = [(1, 2, 3), (0, 0, 3), (16, 12, 0), (7, 7, 7)]
    worlds += [
        (random.randint(0, 6), random.randint(0, 3), random.randint(0, 12))
        for _ in range(10 if IS_THOROUGH else 3)
    ]
    for world in worlds:
        assert told_of(world, otherwise_costly(world), cost, worth_attacking) == []
    cost.cache_clear()
    with patch("glasshouse.economics.ReleaseExposure.loss_counts_few", False):
        assert told_of((1, 2, 3), otherwise_costly((1, 2, 3)), cost, worth_attacking)


# The parts of two releases side by side: compare

Right = tuple[int, int]
"""How many people of a small part have the secret that is guessed, in each of two runs."""


def compared_run(name: str, size: int, right: int) -> ComparedRun:
    """Return what a run keeps of a large part and of a small one."""
    return ComparedRun(
        name,
        command="assess",
        records=600 + size,
        digests={},
        summary={"inferring ill: large": 0.5, "inferring ill: small": right / size},
        subject="person",
        currency=None,
        parts={"large": 600, "small": size},
        people={"inferring ill: large": 600, "inferring ill: small": size},
        size=1,
    )


@pytest.mark.parametrize("size", [13, 25])
def test_two_runs_side_by_side_do_not_tell_how_few_share_a_secret(size: int) -> None:
    @cache
    def compared(right: Right) -> str:
        names = ("before", "after")
        runs = tuple(compared_run(name, size, n) for name, n in zip(names, right, strict=True))
        provenance = Provenance(version="1", study="", datasets=())
        return figures(
            lambda: measured_page(MeasuredRuns(runs), provenance=provenance, command="compare")
        )

    def rarer(right: Right) -> dict[str, int]:
        """How many have the secret and how many do not; where all have it, how many that are."""
        return {
            f"{what} {place}": count
            for place, n in enumerate(right)
            for what, count in (("those who have it", n), ("those who do not", size - n))
        }

    counts = range(1, size + 1)
    worlds: list[Right] = [(before, after) for before in counts for after in counts]
    assert small_counts_told(worlds, compared, rarer) == []
    compared.cache_clear()
    with patch(
        "glasshouse.report.compare.figures.Among.of_part", lambda people, exact: Among(people, True)
    ):
        assert small_counts_told(worlds, compared, rarer), (
            "she reads figures that are told as they are"
        )


# One person: target, and membership of one

Groups = tuple[tuple[int, ...], ...]
"""How many people have each secret: of those who fit what is known, and of the others."""


@cache
def of_one_person(groups: Groups) -> str:
    rows = [
        (f"kind {number}", f"ill {i}")
        for number, group in enumerate(groups)
        for i, count in enumerate(group)
        for _ in range(count)
    ]
    run = gh.target(table(rows, "kind", "ill"), {"kind": "kind 0"}, sensitive=["ill"])
    return figures(lambda: run.page)


def ranked(groups: Groups) -> dict[str, int]:
    """How many people fit, unless the person is the only one, and how many have the nth secret, of all and of those."""
    fitting, everybody = groups[0], [sum(counts) for counts in zip(*groups, strict=True)]
    counts = {"those who fit": sum(fitting) if sum(fitting) > 1 else 0}
    for name, secrets in (("fit and have", fitting), ("have", everybody)):
        certain = sum(map(bool, secrets)) == 1
        for rank, count in enumerate(sorted(secrets, reverse=True)):
            counts[f"those who {name} the secret no. {rank}"] = 0 if certain else count
    return counts


def compositions(total: int, parts: int) -> Iterator[tuple[int, ...]]:
    if parts == 1:
        yield (total,)
        return
    for first in range(total + 1):
        yield from ((first, *rest) for rest in compositions(total - first, parts - 1))


def test_a_report_on_one_person_does_not_tell_how_few_fit() -> None:
    everybody = (32, 20, 10)
    worlds = [
        (fitting, tuple(a - b for a, b in zip(everybody, fitting, strict=True)))
        for size in range(1, 13)
        for fitting in compositions(size, 3)
        if fitting[2] <= 10
    ]
    assert small_counts_told(worlds, of_one_person, ranked) == []


def test_nor_how_few_have_a_rare_secret() -> None:
    random = Random(3)
    for _ in range(examples(40)):
        rare = [random.randint(1, 13) for _ in range(3)]
        likeliest = random.choice((3, 26))
        rivals = [((14, 0, 0, 0), (likeliest, *rest)) for rest in compositions(sum(rare), 3)]
        world = ((14, 0, 0, 0), (likeliest, *rare))
        assert (
            told_of(world, [rival for rival in rivals if all(rival[1])], of_one_person, ranked)
            == []
        )


@cache
def of_one_member(groups: Groups) -> str:
    """Of those who fit what is known, and of the others, how many are in the release, and how many are not."""
    people = [
        (f"id {number} {i} {j}", f"kind {number}", i)
        for number, group in enumerate(groups)
        for i, count in enumerate(group)
        for j in range(count)
    ]
    register = table([row[:2] for row in people], "id", "kind")
    inside = table([row[:2] for row in people if row[2] == 0], "id", "kind")
    run = gh.membership(inside, register, quasi_identifiers=["kind"], known={"kind": "kind 0"})
    return figures(lambda: run.page)


def in_or_out(groups: Groups) -> dict[str, int]:
    inside, outside = groups[0]
    certain = not inside or not outside
    counts = {"those who fit": 0 if certain and inside + outside == 1 else inside + outside}
    return counts | {"in": 0 if certain else inside, "out": 0 if certain else outside}


def test_a_report_on_one_member_does_not_tell_how_few_are_in_or_out() -> None:
    worlds = [
        ((inside, outside), (30 - inside, 30 - outside))
        for inside, outside in product(range(14), range(14))
        if inside + outside
    ]
    assert small_counts_told(worlds, of_one_member, in_or_out) == []


# Several releases of one population: membership

Pattern = tuple[int, int, int, int]
"""How many people are in both releases, in the first alone, in the second alone, in none."""


@cache
def of_releases(pattern: Pattern, kinds: int = 2) -> str:
    people = [
        (f"{i} {j}", f"kind {j % kinds}", i)
        for i, count in enumerate(pattern)
        for j in range(count)
    ]
    releases = [
        gh.read(
            table([row[:2] for row in people if row[2] in cells], "id", "kind"),
            id="id",
            quasi_identifiers=["kind"],
            name=name,
        )
        for name, cells in (("first", (0, 1)), ("second", (0, 2)))
    ]
    register = table([row[:2] for row in people], "id", "kind")
    run = gh.membership(releases, register, quasi_identifiers=["kind"], id="id")
    return figures(lambda: run.page)


def in_which(pattern: Pattern) -> dict[str, int]:
    return dict(zip(("both", "first", "second", "none"), pattern, strict=True))


def test_two_releases_do_not_tell_how_few_are_in_one_of_them_only() -> None:
    for first, second in ((40, 30), (25, 12), (45, 45)):
        worlds = [
            (both, first - both, second - both, 60 - first - second + both)
            for both in range(max(0, first + second - 60), min(first, second) + 1)
        ]
        assert small_counts_told(worlds, of_releases, in_which) == []


# What totals tell of places

Places = tuple[tuple[int, int], ...]
"""Of how many records of a place the place is certain, and of how many the entity; all together are told elsewhere."""


@cache
def of_places(places: Places) -> str:
    rows = [
        SimpleNamespace(
            bin=f"place {number}",
            step=f"phase{SOLVED}",
            records=150,
            entities=60,
            linked=linked,
            exposed=exposed,
            value_at_risk=1.0,
            prior_value_at_risk=1.0,
            factor=1.0,
        )
        for number, (linked, exposed) in enumerate(places)
    ]
    result: Any = SimpleNamespace(bins=lambda _: rows)
    section = places_section(result, "importer", "USD")
    return repr((section, [sum(column) for column in zip(*places, strict=True)]))


def certain_in(places: Places) -> dict[str, int]:
    return {
        f"{name} in place {number}": place[i]
        for number, place in enumerate(places)
        for i, name in enumerate(("placed", "named"))
    }


def shifted(world: Places) -> Iterator[Places]:
    """What else the counts of places may be, with the same sums."""
    for kind, count in product(range(2), range(1, 10)):
        for a, b in product(range(len(world)), repeat=2):
            places = [list(place) for place in world]
            places[a][kind] -= count
            places[b][kind] += count
            if a != b and min(map(min, places)) >= 0:
                yield tuple(tuple(place) for place in places)  # type: ignore[misc]


def random_places(random: Random) -> Places:
    linked = [random.choice((0, 1, 3, 9, 12, 40)) for _ in range(random.randint(2, 6))]
    places = tuple((count, min(count, random.choice((0, 1, 2, 11)))) for count in linked)
    told = all(sum(column) >= LEAST or not sum(column) for column in zip(*places, strict=True))
    return places if told else random_places(random)


def test_no_place_tells_of_how_few_records_it_is_certain() -> None:
    random = Random(5)
    for _ in range(examples(300)):
        world = random_places(random)
        assert told_of(world, shifted(world), of_places, certain_in) == []


def test_the_attacker_subtracts() -> None:
    """A single small count in a column whose sum is told, as it once was."""
    world = ((100, 30), (50, 12), (3, 1))
    of_places.cache_clear()
    one_by_one = lambda counts, rest: list(map(cell_count, counts))  # noqa: E731
    with patch("glasshouse.report.totals.page.column_counts", one_by_one):
        told = told_of(world, shifted(world), of_places, certain_in)
    assert told == [f"placed in place 2 is 3 in {world}", f"named in place 2 is 1 in {world}"]
    of_places.cache_clear()
    assert told_of(world, shifted(world), of_places, certain_in) == []


# Records by how sure she is of them: the pictures of threat

Levels = tuple[int, ...]
"""How many records have each of some beliefs of the attacker and of the learner."""
BELIEFS = ((0.25, 0.35), (0.35, 0.25), (0.75, 0.25), (0.9, 0.15), (0.9, 0.1))
"""One for each bar."""
NOBODY_SURER = 100.0
"""None of them is so much surer that it is counted in a title, as the share of all records of which she is."""


@pytest.fixture
def _own_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Go where the release that the measures are made of is written."""
    monkeypatch.chdir(tmp_path)
    write("people.csv", PEOPLE)


@cache
def of_beliefs(levels: Levels) -> str:
    measures = of_table(VERTICAL).measures
    assert measures is not None
    counts = {belief: count for belief, count in zip(BELIEFS, levels, strict=True) if count}
    PENCIL.strokes.clear()
    with sketched():
        picture = times_surer(replace(of_levels(measures, counts), exceeds=NOBODY_SURER))
    return repr((picture, PENCIL.strokes, sum(levels)))


def at_each_belief(levels: Levels) -> dict[str, int]:
    return {f"records at belief {place}": count for place, count in enumerate(levels)}


def shifted_levels(world: Levels) -> Iterator[Levels]:
    """What else the counts may be, with the same sum."""
    for a, b, count in product(range(len(world)), range(len(world)), range(1, 10)):
        levels = list(world)
        levels[a] -= count
        levels[b] += count
        if a != b and levels[a] >= 0:
            yield tuple(levels)


@pytest.mark.usefixtures("_own_folder")
def test_no_picture_tells_how_few_records_she_is_sure_of() -> None:
    random = Random(11)
    for _ in range(examples(60)):
        world = tuple(random.choice((0, 1, 3, 9, 12, 40, 200)) for _ in BELIEFS)
        if sum(world) >= LEAST:
            assert told_of(world, shifted_levels(world), of_beliefs, at_each_belief) == []


@pytest.mark.usefixtures("_own_folder")
def test_the_attacker_reads_pictures() -> None:
    """Every bar with its number, as it once was."""
    world = (3, 0, 40, 60, 500)
    of_beliefs.cache_clear()
    with patch("glasshouse.report.threat.page.hidden_counts", lambda counts: frozenset()):
        assert told_of(world, shifted_levels(world), of_beliefs, at_each_belief)
    of_beliefs.cache_clear()
    assert told_of(world, shifted_levels(world), of_beliefs, at_each_belief) == []


# Published tables: tables

Square = tuple[int, ...]
"""How many people are below 40 and ill, below 40 and well, from 40 on and ill, from 40 on and well."""
AGES, HEALTH = ("below-40", "from-40"), ("taken-ill", "kept-well")


@cache
def of_margins(ages: tuple[int, int], health: tuple[int, int]) -> tuple[str, str]:
    """Return the report on two tables, and all that is known of the combinations behind them."""
    tables = [
        {"id": "T", "by": ["age"], "rows": [list(row) for row in zip(AGES, ages, strict=True)]},
        {"id": "U", "by": ["ill"], "rows": [list(row) for row in zip(HEALTH, health, strict=True)]},
    ]
    attributes = {"age": {"values": list(AGES)}, "ill": {"values": list(HEALTH)}}
    run = gh.tables(study={"attributes": attributes, "tables": tables})
    return figures(lambda: run.page), str(run.to_dict()["cells"])


def margins_of(world: Square) -> tuple[tuple[int, int], tuple[int, int]]:
    a, b, c, d = world
    return (a + b, c + d), (a + c, b + d)


def combinations_of(world: Square) -> dict[str, int]:
    names = [f"those who are {age} and {health}" for age in AGES for health in HEALTH]
    return dict(zip(names, world, strict=True))


def test_a_report_on_published_tables_tells_of_no_combination() -> None:
    worlds = [world for size in (3, 4) for world in compositions(size, 4)]
    assert (
        small_counts_told(worlds, lambda one: of_margins(*margins_of(one))[0], combinations_of)
        == []
    )
    for world in worlds:
        report, _ = of_margins(*margins_of(world))
        assert not any(value in report for value in (*AGES, *HEALTH))


def test_the_attacker_reads_combinations() -> None:
    """What is proved of each combination, which the report leaves out, tells the people of a table of few."""
    worlds = list(compositions(3, 4))
    assert small_counts_told(worlds, lambda one: of_margins(*margins_of(one))[1], combinations_of)
