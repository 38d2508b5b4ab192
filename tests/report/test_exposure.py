"""Who can be named, by value of what can be known: exact counts, and no small one of them in a picture."""

from __future__ import annotations

from collections import Counter
from fractions import Fraction
from functools import cache
from itertools import combinations
from random import Random

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import glasshouse as gh
from glasshouse.language import LANGUAGES
from glasshouse.microdata import Assessment
from glasshouse.microdata.attacks import MOST_VALUES, Exposure, exposures
from glasshouse.report.assess.exposure import MOST_BARS, exposure_figure, told_groups
from glasshouse.report.page import Figure
from glasshouse.table import read
from glasshouse.table.collection import collect
from tests.differencing import drawn_rows, told_beyond
from tests.report.reading import assert_it_says, telling, tries

Counts = tuple[tuple[int, int], ...]
"""Per value, how many people can be named and how many cannot."""


def of_counts(counts: Counts, column: str = "sex") -> Exposure:
    return Exposure(
        column,
        tuple(f"value {place}" for place in range(len(counts))),
        tuple(named + rest for named, rest in counts),
        tuple(named for named, _ in counts),
    )


def figure(*exposure: Exposure) -> Figure | None:
    return exposure_figure(Assessment(sum(exposure[0].records), (), exposures=exposure), "person")


@given(st.lists(st.tuples(st.sampled_from("FM"), st.integers(0, 30)), min_size=1, max_size=80))
def test_of_each_value_it_is_counted_who_is_alone(people: list[tuple[str, int]]) -> None:
    table = pa.table({"sex": [sex for sex, _ in people], "age": [str(age) for _, age in people]})
    alone = {person for person, count in Counter(people).items() if count == 1}
    counted = {
        exposure.column: dict(
            zip(exposure.values, zip(exposure.records, exposure.named, strict=True), strict=True)
        )
        for exposure in exposures(read(table, quasi_identifiers=["sex", "age"]))
    }
    for place, name in enumerate(("sex", "age")):
        values = Counter(str(person[place]) for person in people)
        named = Counter(str(person[place]) for person in alone)
        few = 1 < len(values) <= MOST_VALUES
        assert counted.get(name) == ({v: (n, named[v]) for v, n in values.items()} if few else None)


def test_of_a_collection_the_values_of_the_first_dataset_count() -> None:
    first = {"id": list("1234"), "class": list("AABB")}
    second = {"id": list("1234"), "class": list("XYZZ")}
    tables = [
        read(pa.table(columns), quasi_identifiers=["class"], id="id", name=name)
        for name, columns in (("first", first), ("second", second))
    ]
    *_, whole = collect(tables).windows()
    assert exposures(whole) == (Exposure("class", ("A", "B"), (2, 2), (2, 0)),)


def test_facts_of_several_columns_and_weighted_records_are_left_out() -> None:
    people = pa.table({"day": list("1122"), "month": list("1212"), "w": [1, 2, 3, 4]})
    table = read(people).with_roles(facts={"birth": ["day", "month"]})
    assert exposures(table) == ()
    weighted = read(people).with_roles(quasi_identifiers=["day", "month"], prior_weight="w")
    assert exposures(weighted) == ()


def test_a_run_keeps_who_can_be_named_where_all_that_can_be_known_was_assessed() -> None:
    people = pa.table({"sex": list("FFM"), "age": ["1", "2", "2"], "ill": list("yny")})
    run = gh.assess(people, quasi_identifiers=["sex", "age"], sensitive=["ill"])
    content = run.outcome.to_dict()["exposures"]
    assert content[0] == {"column": "sex", "values": ["F", "M"], "records": [2, 1], "named": [2, 1]}
    smaller = gh.assess(people, quasi_identifiers=["sex", "age"], subsets=[["sex"]])
    assert "exposures" not in smaller.outcome.to_dict()


@pytest.mark.parametrize(
    ("counts", "values"),
    [
        (((40, 60), (20, 80)), ["value 0", "value 1"]),
        (((40, 60), (20, 80), (0, 70)), ["value 0", "value 1", "value 2"]),
        (((40, 60), (3, 80)), []),  # who cannot be told of, and who would tell it
        (((40, 60), (20, 80), (1, 2)), ["value 0"]),
        (((40, 60), (40, 60), (20, 9)), ["value 0"]),
        (((40, 60), (40, 60), (5, 90), (6, 90)), ["value 0", "value 1"]),
    ],
)
def test_values_are_told_of_only_if_no_number_of_their_people_is_small(
    counts: Counts, values: list[str]
) -> None:
    assert sorted(group.value for group in told_groups(of_counts(counts))) == values


@cache
def look(counts: Counts) -> str:
    """All that a picture is made of: the groups that are told of, and whether there are others."""
    groups = told_groups(of_counts(counts))
    return repr((groups, len(groups) < len(counts))) if len(groups) > 1 else ""


def in_values(counts: Counts) -> dict[str, int]:
    numbers: dict[str, int] = {}
    for place, (named, rest) in enumerate(counts):
        numbers |= {f"people {place}": named + rest, f"named {place}": named, f"not {place}": rest}
    return numbers


def totals(counts: Counts) -> tuple[int, ...]:
    """What the rest of the report tells: how many people there are, and how many can be named."""
    return tuple(map(sum, zip(*counts, strict=True)))


def moved(counts: Counts) -> list[Counts]:
    """What else it may be, with the same totals: some people have another value."""
    worlds = []
    for first, second in combinations(range(len(counts)), 2):
        for kind in (0, 1):
            for step in (*range(-9, 0), *range(1, 10)):
                rival = [list(pair) for pair in counts]
                rival[first][kind] += step
                rival[second][kind] -= step
                if min(map(min, rival)) >= 0 and all(map(sum, rival)):
                    worlds.append(tuple((named, rest) for named, rest in rival))
    return worlds


def test_the_picture_tells_no_small_number_to_who_knows_the_totals() -> None:
    random = Random(5)
    for _ in range(400):
        world = tuple(
            (random.choice((0, 3, 8, 12, 40)), random.choice((0, 2, 9, 15, 60)))
            for _ in range(random.randint(2, 4))
        )
        if all(map(sum, world)):
            assert told_beyond(world, moved(world), look, in_values, totals) == [], world


def test_the_title_tells_the_lowest_and_the_highest_share_and_names_no_group() -> None:
    counts = ((76, 24), (120, 1880), (30, 70))
    for code in LANGUAGES:
        with telling(code):
            drawn = figure(of_counts(counts, "race"))
            assert drawn is not None
            title = " ".join(drawn.chart["title"]["text"])
            low, high = ("6.0%", "76.0%") if code == "en" else ("6,0%", "76,0%")
            assert title.index(low) < title.index(high)
            assert "race" in title
            assert "value" not in title
            rows = [row for row in drawn_rows(drawn.chart) if "named" in row]
            assert [row["value"] for row in rows] == ["value 1", "value 0", "value 2"], "by people"
            assert [Fraction(str(row["named"])) for row in rows] == [6, 76, 30]


@tries("assess", "The share that can be identified outright differs", seeds=30)
def test_the_shares_of_random_groups_read_back(seed: int) -> None:
    chance = Random(seed)
    counts = tuple((chance.randrange(10, 90), chance.randrange(10, 900)) for _ in range(3))
    shares = [Fraction(named, named + others) for named, others in counts]
    for code in LANGUAGES:
        with telling(code):
            drawn = figure(of_counts(counts))
            assert (drawn is not None) == (max(shares) >= Fraction(3, 2) * min(shares))
            if drawn is not None:
                title = " ".join(drawn.chart["title"]["text"])
                assert_it_says(title, min(shares), max(shares))


def test_where_all_groups_are_alike_there_is_no_picture() -> None:
    assert figure(of_counts(((20, 80), (40, 160)))) is None
    assert figure(of_counts(((77, 923), (79, 921)))) is None, "7.7% and 7.9% are alike"
    left_out = of_counts(((0, 80), (0, 160), (5, 0)))
    assert figure(left_out) is None, "what is told is 0%, and those who can be named are left out"


@pytest.mark.parametrize("missing", ["not informed", "", "NA", "ignorado"])
def test_whose_value_is_missing_is_no_group_to_compare_with(missing: str) -> None:
    """Women 12.0%, men 12.8% and who did not say 0.1%: it does not differ by sex."""
    sex = Exposure("sex", ("F", "M", missing), (1000, 1000, 20000), (120, 128, 20))
    age = Exposure("age", ("20", "60", missing), (1000, 1000, 20000), (70, 178, 20))
    for code in LANGUAGES:
        with telling(code):
            assert figure(sex) is None
            drawn = figure(sex, age)
            assert drawn is not None
            title = " ".join(drawn.chart["title"]["text"])
            assert_it_says(title, Fraction(7, 100), Fraction(178, 1000))
            values = [row["value"] for row in drawn_rows(drawn.chart) if "named" in row]
            assert values == ["20", "60"]
            assert {"en": "Missing values", "pt-BR": "valores ausentes"}[code] in drawn.caption


def test_nobody_or_everybody_named_needs_no_picture() -> None:
    assert figure(of_counts(((0, 80), (0, 160)))) is None
    assert figure(of_counts(((80, 0), (160, 0)))) is None


def test_the_column_by_which_it_differs_most_comes_first_and_others_as_far_as_there_is_room() -> (
    None
):
    much = of_counts(((90, 10), (10, 90)), "sex")
    little = of_counts(((60, 40), (40, 60)), "town")
    many = of_counts((*((12, 13),) * (MOST_BARS - 1), (30, 10)), "month")
    drawn = figure(little, many, much)
    assert drawn is not None
    assert drawn.table is not None
    assert [group.title for group in drawn.table.groups] == ["sex", "town"]
    alone = figure(many)
    assert alone is not None, "a column that has as many values as are drawn at most is drawn alone"
