"""Criteria about the population behind a table: optima against all nodes, what merges keep, and what is refused."""

from __future__ import annotations

from collections import Counter
from fractions import Fraction
from itertools import product

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import glasshouse as gh
from glasshouse.errors import DataError, StudyError
from glasshouse.microdata.uniqueness import population_risks
from glasshouse.mitigation import (
    DistinctDiversity,
    EstimatedUniques,
    Hierarchy,
    InferenceRisk,
    KAnonymity,
    KMap,
    PopulationUniques,
    Presence,
    intervals,
    recode,
    recode_locally,
    suppression_only,
)
from glasshouse.mitigation.criteria import Criterion, TableCriterion
from glasshouse.mitigation.information_loss import loss
from glasshouse.table import EncodedTable, read
from tests.examples import examples

Person = tuple[str, str]
AGES = ["20", "21", "22", "23", "24", "25"]
SEXES = ["f", "m"]


def tables(people: list[Person], members: list[int]) -> tuple[EncodedTable, EncodedTable]:
    """Return a table of some people, and the population."""

    def table(some: list[Person], name: str) -> EncodedTable:
        ages, sexes = ([person[i] for person in some] for i in range(2))
        ill = [str(number % 2) for number in range(len(some))]
        return read(
            pa.table({"age": ages, "sex": sexes, "ill": ill}),
            quasi_identifiers=["age", "sex"],
            sensitive=["ill"],
            name=name,
        )

    return table([people[i] for i in members], "trial"), table(people, "town")


def hierarchies() -> dict[str, Hierarchy]:
    everybody = read(pa.table({"age": AGES, "sex": [*SEXES, *SEXES, *SEXES]}))
    return {
        "age": intervals(everybody.column("age"), widths=[2], origin=20),
        "sex": suppression_only(everybody.column("sex")),
    }


def label(value: str, name: str, level: int) -> str:
    coded = hierarchies()[name].coded(
        read(pa.table({name: AGES if name == "age" else SEXES})).column(name), where=""
    )
    values = AGES if name == "age" else SEXES
    return str(coded.labels[level][coded.codes[level][values.index(value)]])


LABELS = {
    (name, value, level): label(value, name, level)
    for name, values, levels in (("age", AGES, 3), ("sex", SEXES, 2))
    for value in values
    for level in range(levels)
}
WIDTHS = {"age": [1, 2, 6], "sex": [1, 2]}


def at(person: Person, levels: tuple[int, ...]) -> Person:
    return LABELS["age", person[0], levels[0]], LABELS["sex", person[1], levels[1]]


def best_loss(
    people: list[Person], members: list[int], limit: int, rule: str, numbers: tuple[Fraction, ...]
) -> float | None:
    """Return the least loss of all nodes that meet a rule, by looking at every one; None: none does."""
    losses = []
    for levels in product(range(3), range(2)):
        everybody = Counter(at(person, levels) for person in people)
        inside = Counter(at(people[i], levels) for i in members)
        if rule == "map":
            dropped = {c for c in inside if everybody[c] < numbers[0]}
        elif rule == "presence":
            low, high = numbers
            dropped = {c for c in inside if not low <= Fraction(inside[c], everybody[c]) <= high}
        else:
            dropped = set()
        suppressed = sum(inside[c] for c in dropped)
        kept = set(inside) - dropped
        if suppressed > limit or not kept:
            continue
        if rule == "presence":
            rest = len(people) - sum(everybody[c] for c in kept)
            if rest and not numbers[0] <= Fraction(suppressed, rest) <= numbers[1]:
                continue
        if rule == "uniques":
            alone = sum(inside[c] for c in kept if everybody[c] == 1)
            if alone > numbers[0] * len(members):
                continue
        sums = []
        for place, widths in enumerate(WIDTHS.values()):
            told = [
                widths[-1] if at(people[i], levels) in dropped else widths[levels[place]]
                for i in members
            ]
            sums.append(sum(told))
        losses.append(loss(sums, domains=[6, 2], records=len(members)))
    return min(losses, default=None)


PEOPLE = st.lists(st.tuples(st.sampled_from(AGES), st.sampled_from(SEXES)), min_size=3, max_size=14)


@settings(max_examples=examples(25), deadline=None)
@given(people=PEOPLE, data=st.data())
def test_the_recoding_is_the_best_of_all_nodes_by_the_population(
    people: list[Person], data: st.DataObject
) -> None:
    places = st.lists(st.integers(0, len(people) - 1), min_size=2, unique=True)
    members = data.draw(places)
    suppression = data.draw(st.sampled_from([Fraction(0), Fraction(1, 4), Fraction(1, 2)]))
    limit = int(suppression * len(members))
    table, town = tables(people, members)
    share = Fraction(len(members), len(people))
    questions: dict[tuple[str, tuple[Fraction, ...]], Criterion | TableCriterion] = {
        ("map", (Fraction(3),)): KMap(3, town),
        ("presence", (Fraction(0), max(share, Fraction(1, 2)))): Presence(
            0, max(share, Fraction(1, 2)), town
        ),
        ("presence", (share / 3, (1 + share) / 2)): Presence(share / 3, (1 + share) / 2, town),
    }
    if not limit:
        questions["uniques", (Fraction(1, 5),)] = PopulationUniques(Fraction(1, 5), town)
    for (rule, numbers), criterion in questions.items():
        expected = best_loss(people, members, limit, rule, numbers)
        try:
            found = recode(
                table, hierarchies=hierarchies(), criteria=[criterion], suppression=suppression
            )
        except StudyError:
            assert expected is None
            continue
        assert found.optimal
        assert found.loss == pytest.approx(expected, abs=1e-9)
        assert found.classes == len(
            {
                at(people[i], tuple((found.heights or {}).values()))
                for i in members
                if not found.suppressed[members.index(i)]
            }
        )


@settings(max_examples=examples(25), deadline=None)
@given(people=PEOPLE, data=st.data())
def test_presence_holds_in_every_more_general_release(
    people: list[Person], data: st.DataObject
) -> None:
    members = data.draw(st.lists(st.integers(0, len(people) - 1), min_size=1, unique=True))
    low, high = Fraction(1, 10), Fraction(4, 5)

    def met(levels: tuple[int, ...]) -> bool:
        everybody = Counter(at(person, levels) for person in people)
        inside = Counter(at(people[i], levels) for i in members)
        return all(low <= Fraction(inside[c], everybody[c]) <= high for c in everybody)

    for levels in product(range(3), range(2)):
        above = [(levels[0] + 1, levels[1]), (levels[0], levels[1] + 1)]
        for higher in above:
            if met(levels) and higher[0] < 3 and higher[1] < 2:
                assert met(higher)


TOWN: list[Person] = [(age, sex) for age in AGES for sex in SEXES for _ in range(3)]


def test_a_sample_needs_less_generalisation_by_the_population_than_by_itself() -> None:
    table, town = tables(TOWN, [0, 3, 7, 12, 19, 30])
    mapped = recode(table, hierarchies=hierarchies(), criteria=[KMap(3, town)])
    alike = recode(table, hierarchies=hierarchies(), criteria=[KAnonymity(3)])
    assert dict(mapped.heights or {}) == {"age": 0, "sex": 0}
    assert mapped.loss < alike.loss


def test_people_go_with_criteria_on_sensitive_values() -> None:
    table, town = tables(TOWN, [0, 3, 7, 12, 19, 30])
    criteria = [KMap(6, town), DistinctDiversity(2, "ill"), InferenceRisk(Fraction(2, 3), "ill")]
    found = recode(table, hierarchies=hierarchies(), criteria=criteria)
    levels = tuple((found.heights or {}).values())
    fitting = Counter(at(person, levels) for person in TOWN)
    assert all(fitting[at(TOWN[i], levels)] >= 6 for i in [0, 3, 7, 12, 19, 30])


def test_the_estimate_is_that_of_the_release_itself() -> None:
    table, _ = tables(TOWN, list(range(0, 36, 2)))
    rule = EstimatedUniques("0.02", fraction="0.5")
    found = recode(table, hierarchies=hierarchies(), criteria=[rule])
    risks = population_risks(found.release(table), fraction=0.5)
    assert risks.dankar.share_of_population is not None
    assert risks.dankar.share_of_population <= 0.02


@pytest.mark.parametrize(
    ("make", "fault"),
    [
        (lambda town: KMap(0, town), "whole number of at least 1"),
        (lambda town: KMap(100, town), "36 people, so no class can fit 100"),
        (lambda town: Presence("0.5", "0.2", town), "the lower first"),
        (lambda town: Presence("0.5", "0.9", town), "cannot be reached"),
        (lambda town: PopulationUniques(2, town), "from 0 to 1"),
        (lambda town: EstimatedUniques("0.1", fraction=0), "above 0 and at most 1"),
    ],
)
def test_questions_about_the_population_that_are_refused(make: object, fault: str) -> None:
    table, town = tables(TOWN, [0, 3, 7])
    with pytest.raises(StudyError, match=fault):
        recode(table, hierarchies=hierarchies(), criteria=[make(town)])  # type: ignore[operator]


def test_a_population_without_the_people_of_the_table_is_refused() -> None:
    table, _ = tables(TOWN, [0, 1, 2])
    _, few = tables(TOWN[1:], [0])
    with pytest.raises(DataError, match="town lacks 1 of the 3 people of trial"):
        recode(table, hierarchies=hierarchies(), criteria=[KMap(2, few)])


def test_local_recoding_says_that_people_are_counted_by_labels_that_are_alike() -> None:
    table, town = tables(TOWN, [0, 3, 7])
    with pytest.raises(StudyError, match="take `recoding` global"):
        recode_locally(table, hierarchies=hierarchies(), criteria=[KMap(2, town)])


def test_the_verb_takes_a_population_in_memory() -> None:
    table, town = tables(TOWN, [0, 3, 7, 12, 19, 30])
    run = gh.anonymise(table, population=town, k_map=3)
    behind = run.outcome.people
    assert (behind.fewest, behind.people, behind.uniques) == (3, 36, 0)
    assert run.release is not None
    assert run.release.records == 6
    changed = gh.anonymise(table, perturb={"sex": "pram:0.5"}, sample=0.5)
    assert changed.outcome.method == "perturbation"
    assert changed.release is not None
    assert changed.release.records == 3
