"""Membership attacks against the obvious: every possible world written down, and exact Bayes by the QIF package."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from fractions import Fraction
from itertools import combinations, permutations, product
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from glasshouse.errors import BudgetError, DataError, StudyError
from glasshouse.microdata import presence_counts
from glasshouse.microdata.presence import (
    MOST_RELEASES,
    PRESENCE_LABELS,
    Membership,
    member,
    membership,
)
from glasshouse.qif import (
    BayesVulnerability,
    Certainty,
    CoOccurrence,
    Measure,
    multiplicative_bayes_capacity,
)
from glasshouse.table import EncodedTable, read
from tests.examples import examples

Person = tuple[str, str]
Written = Callable[[Person], Person]
World = tuple[int, ...]
"""Per person of the register, the releases that they are in: a bit per release."""

NAMES = ("age", "sex")
WRITINGS: dict[str, Written] = {
    "as it is": lambda person: person,
    "by decades": lambda person: (f"[{person[0][0]}0, {person[0][0]}9]", person[1]),
    "without sex": lambda person: (person[0], "*"),
}
PEOPLE = st.lists(
    st.tuples(st.sampled_from(["20", "25", "31"]), st.sampled_from("FM")), min_size=1, max_size=5
)


@st.composite
def questions(draw: Any, releases: int, *, linked: bool) -> tuple[list[Person], World, list[str]]:
    """Draw a register, who is in which release (nobody's release is empty), and how each is written."""
    people = draw(PEOPLE)
    patterns = st.integers(0, (1 << releases) - 1)
    world = draw(st.lists(patterns, min_size=len(people), max_size=len(people)))
    for bit in range(releases):
        world[draw(st.integers(0, len(people) - 1))] |= 1 << bit
    writings = draw(st.lists(st.sampled_from(list(WRITINGS)), min_size=releases, max_size=releases))
    return people, tuple(world), [writings[0]] * releases if linked else writings


def register(people: Sequence[Person]) -> EncodedTable:
    return read(pa.table(dict(zip(NAMES, zip(*people, strict=True), strict=True))), name="register")


def tables(
    people: Sequence[Person], world: World, writings: Sequence[str], *, linked: bool = False
) -> list[EncodedTable]:
    releases = []
    for bit, writing in enumerate(writings):
        inside = [i for i in range(len(people)) if world[i] >> bit & 1]
        rows = [WRITINGS[writing](people[i]) for i in inside]
        columns: dict[str, Any] = dict(zip(NAMES, zip(*rows, strict=True), strict=True))
        frame = pa.table(columns | {"id": [f"p{i}" for i in inside]})
        identifier = "id" if linked else None
        releases.append(read(frame, quasi_identifiers=NAMES, id=identifier, name=f"r{bit}"))
    return releases


def independent_worlds(
    people: Sequence[Person], world: World, writings: Sequence[str]
) -> Iterator[World]:
    """Yield every world in which each release has the same records: any choice of people, release by release."""
    everyone = range(len(people))
    choices = []
    for bit, writing in enumerate(writings):
        rows = [WRITINGS[writing](person) for person in people]
        published = Counter(rows[i] for i in everyone if world[i] >> bit & 1)
        subsets = combinations(everyone, published.total())
        choices.append([s for s in subsets if Counter(rows[i] for i in s) == published])
    for chosen in product(*choices):
        yield tuple(sum(1 << bit for bit, s in enumerate(chosen) if i in s) for i in everyone)


def linked_worlds(people: Sequence[Person], world: World, writing: str) -> set[World]:
    """Return every world in which the linked records are the same: people of a class change places."""
    rows = [WRITINGS[writing](person) for person in people]
    told = Counter(zip(rows, world, strict=True))
    return {
        other
        for other in permutations(world)
        if Counter(zip(rows, other, strict=True)) == told
    }  # fmt: skip


def bayes(people: Sequence[Person], worlds: Sequence[World]) -> CoOccurrence:
    """Count who is where in all worlds: the secret is the set of releases, she sees the true values."""
    secrets = [pattern for world in worlds for pattern in world]
    return CoOccurrence.from_records(secrets, list(people) * len(worlds))


def both(measure: Measure, steps: CoOccurrence) -> tuple[Any, Any]:
    return measure.prior(steps.prior()), measure.posterior(steps.prior(), steps.channel())


def check_against(outcome: Membership, steps: CoOccurrence) -> None:
    chance, certainty = outcome.probabilistic, outcome.deterministic
    assert (chance.prior, chance.posterior) == both(BayesVulnerability(), steps)
    assert (certainty.prior, certainty.posterior) == both(Certainty(), steps)
    assert outcome.certain == certainty.posterior * outcome.people
    prior = steps.prior()
    named = {
        tuple(name for bit, name in enumerate(outcome.datasets) if int(str(pattern)) >> bit & 1)
        : prior[pattern]
        for pattern in steps.secrets
    }  # fmt: skip
    assert dict(outcome.patterns) == named


@settings(max_examples=examples(60))
@given(questions(1, linked=False))
def test_one_release_equals_exact_bayes(question: tuple[list[Person], World, list[str]]) -> None:
    people, world, writings = question
    (release,) = tables(people, world, writings)
    outcome = membership(release, register(people))
    steps = bayes(people, list(independent_worlds(people, world, writings)))
    check_against(outcome, steps)
    hyper = steps.hyper()
    chances = [hyper.inner(y)[1] if 1 in steps.secrets else 0 for y in hyper.observations]
    assert (outcome.delta_min, outcome.delta_max) == (min(chances), max(chances))
    if len(steps.secrets) == 2:
        assert outcome.capacity == multiplicative_bayes_capacity(steps.channel())
        assert outcome.probabilistic.multiplicative is not None
        assert outcome.probabilistic.multiplicative <= outcome.capacity
    else:
        assert outcome.capacity is None
    rows = Counter(WRITINGS[writings[0]](person) for person in people)
    published = Counter(
        WRITINGS[writings[0]](person) for person, inside in zip(people, world, strict=True) if inside
    )  # fmt: skip
    assert outcome.journalist == Fraction(1, min(rows[row] for row in published))
    named = sum(Fraction(count, rows[row]) for row, count in published.items())
    assert outcome.marketer == named / published.total()
    assert sum(outcome.presence) == len(people)
    assert outcome.presence[0] == outcome.certainly_out
    assert outcome.presence[-1] == outcome.certainly_in


@settings(max_examples=examples(60))
@given(st.integers(2, 3).flatmap(lambda k: questions(k, linked=False)))
def test_releases_that_cannot_be_linked_equal_exact_bayes(
    question: tuple[list[Person], World, list[str]],
) -> None:
    people, world, writings = question
    releases, town = tables(people, world, writings), register(people)
    outcome = membership(releases, town)
    worlds = list(independent_worlds(people, world, writings))
    assert (outcome.code, outcome.linked) == ("CML", False)
    check_against(outcome, bayes(people, worlds))
    assert outcome.each == tuple(membership(release, town) for release in releases)
    everywhere = (1 << len(releases)) - 1
    always = [{world[i] for world in worlds} for i in range(len(people))]
    assert outcome.certainly_in == always.count({everywhere})
    assert outcome.certainly_out == always.count({0})


@settings(max_examples=examples(60))
@given(st.integers(2, 3).flatmap(lambda k: questions(k, linked=True)))
def test_releases_linked_by_an_identifier_equal_exact_bayes(
    question: tuple[list[Person], World, list[str]],
) -> None:
    people, world, writings = question
    releases, town = tables(people, world, writings, linked=True), register(people)
    outcome = membership(releases, town)
    worlds = list(linked_worlds(people, world, writings[0]))
    assert (outcome.code, outcome.linked) == ("CML", True)
    check_against(outcome, bayes(people, worlds))
    assert outcome.each == tuple(membership(release, town) for release in releases)
    always = [{world[i] for world in worlds} for i in range(len(people))]
    assert outcome.certainly_in == always.count({(1 << len(releases)) - 1})
    assert outcome.certainly_out == always.count({0})


@settings(max_examples=examples(40))
@given(questions(2, linked=False))
def test_linking_never_lowers_success(question: tuple[list[Person], World, list[str]]) -> None:
    people, world, _ = question
    town = register(people)
    alone = membership(tables(people, world, ["as it is"] * 2), town)
    linked = membership(tables(people, world, ["as it is"] * 2, linked=True), town)
    assert linked.certain <= linked.probabilistic.posterior * linked.people
    assert alone.each == linked.each
    for outcome in (alone, linked):
        assert outcome.probabilistic.prior <= outcome.probabilistic.posterior
        for release, name in enumerate(outcome.datasets):
            inside = sum(share for names, share in outcome.patterns.items() if name in names)
            assert inside == Fraction(outcome.members[release], outcome.people)


@settings(max_examples=examples(60))
@given(
    st.tuples(st.integers(1, 3), st.booleans()).flatmap(
        lambda drawn: st.tuples(questions(drawn[0], linked=drawn[1]), st.just(drawn[1]))
    ),
    st.data(),
)
def test_one_person_equals_exact_bayes(
    drawn: tuple[tuple[list[Person], World, list[str]], bool], data: st.DataObject
) -> None:
    (people, world, writings), linked = drawn
    target = data.draw(st.sampled_from(people))
    possible = {target[0], data.draw(st.sampled_from(people))[0]}
    known: dict[str, Any] = data.draw(
        st.sampled_from(
            [
                {},
                {"age": target[0]},
                {"age": sorted(possible)},
                {"sex": target[1]},
                {"age": possible, "sex": target[1]},
            ]
        )
    )
    releases = tables(people, world, writings, linked=linked)
    outcome = member(releases, register(people), known=known)
    linked = linked and len(releases) > 1
    worlds = list(
        linked_worlds(people, world, writings[0])
        if linked
        else independent_worlds(people, world, writings)
    )
    sets = {
        name: {value} if isinstance(value, str) else set(value) for name, value in known.items()
    }
    fitting = [
        i
        for i, person in enumerate(people)
        if all(person[NAMES.index(name)] in values for name, values in sets.items())
    ]
    posterior = Counter(world[i] for world in worlds for i in fitting)
    prior = Counter(pattern for world in worlds for pattern in world)
    assert (outcome.code, outcome.linked) == ("IMS" if len(releases) == 1 else "IML", linked)
    assert (outcome.people, outcome.candidates) == (len(people), len(fitting))
    for bit, name in enumerate(outcome.datasets):
        inside = [sum(c[p] for p in c if p >> bit & 1) for c in (prior, posterior)]
        assert outcome.present[bit].prior == Fraction(inside[0], prior.total())
        assert outcome.present[bit].posterior == Fraction(inside[1], posterior.total())
        rows = [WRITINGS[writings[bit]](person) for person in people]
        touched = {rows[i] for i in fitting}
        can_be = sum(rows[i] in touched for i in range(len(people)) if world[i] >> bit & 1)
        assert outcome.records[bit] == can_be
        assert name == f"r{bit}"
    for names, leakage in outcome.patterns.items():
        pattern = sum(1 << bit for bit, name in enumerate(outcome.datasets) if name in names)
        assert leakage.prior == Fraction(prior[pattern], prior.total())
        assert leakage.posterior == Fraction(posterior[pattern], posterior.total())
    assert sum(leakage.posterior for leakage in outcome.patterns.values()) == 1
    assert outcome.guess.posterior == Fraction(max(posterior.values()), posterior.total())
    assert outcome.guess.prior == Fraction(max(prior.values()), prior.total())
    assert outcome.certain == (len(posterior) == 1)


TOWN = [("20", "F")] * 2 + [("20", "M")] * 3 + [("31", "F")] * 2 + [("31", "M")]
TRIAL = (1, 0, 0, 0, 0, 1, 1, 1)


def trial() -> EncodedTable:
    return tables(TOWN, TRIAL, ["as it is"])[0]


def test_a_small_town_by_hand() -> None:
    """Classes (f of F): 1 of 2, 0 of 3, 2 of 2, 1 of 1; 4 of 8 people are in."""
    outcome = membership(trial(), register(TOWN))
    assert (outcome.code, outcome.classes, outcome.people) == ("CMS", 4, 8)
    assert (outcome.members, outcome.certainly_in, outcome.certainly_out) == ((4,), 3, 3)
    assert outcome.probabilistic.prior == Fraction(1, 2)
    assert outcome.probabilistic.posterior == Fraction(7, 8)
    assert outcome.deterministic.prior == 0
    assert outcome.deterministic.posterior == Fraction(3, 4)
    assert (outcome.delta_min, outcome.delta_max) == (Fraction(0), Fraction(1))
    assert outcome.capacity == Fraction(1 + 3 + 2 + 1, 4)
    assert outcome.journalist == 1
    assert outcome.marketer == Fraction(1, 4) * (Fraction(1, 2) + 1 + 1)
    assert dict(zip(PRESENCE_LABELS, outcome.presence, strict=True))["0.5"] == 2


def test_records_that_tell_nothing_are_reported_apart() -> None:
    """Two records are wholly suppressed; one more only partly, where nothing else is released in that column."""
    rows = [("20", "*"), ("*", "*"), ("*", "*"), ("31", "*")]
    frame = pa.table(dict(zip(NAMES, zip(*rows, strict=True), strict=True)))
    outcome = membership(read(frame, quasi_identifiers=NAMES, name="trial"), register(TOWN))
    assert (outcome.members, outcome.suppressed) == ((2,), (2,))
    assert (outcome.classes, outcome.delta_max) == (2, Fraction(1, 3))
    assert outcome.patterns == {("trial",): Fraction(1, 4), (): Fraction(3, 4)}


def test_a_release_that_tells_nothing_leaves_everybody_out() -> None:
    frame = pa.table({"age": ["*"], "sex": ["*"]})
    outcome = membership(read(frame, quasi_identifiers=NAMES, name="trial"), register(TOWN))
    assert (outcome.members, outcome.suppressed, outcome.certainly_out) == ((0,), (1,), 8)
    assert outcome.deterministic.prior == outcome.deterministic.posterior == 1
    assert outcome.capacity is outcome.journalist is outcome.marketer is None


def test_values_that_nobody_released_stands_for_are_out() -> None:
    people = [("20", "F"), ("25", "F"), ("31", "F"), ("85", "F")]
    frame = pa.table({"age": ["20-29", "20-29"], "sex": ["F", "F"]})
    outcome = membership(read(frame, quasi_identifiers=NAMES), register(people))
    assert (outcome.classes, outcome.certainly_in, outcome.certainly_out) == (3, 2, 2)


def test_plain_and_framed_forms_hold_the_same_figures() -> None:
    outcome = membership(
        [*tables(TOWN, TRIAL[::-1], ["as it is"]), trial_named("r1")], register(TOWN)
    )
    content = outcome.to_dict()
    assert content["attack"] == "CML"
    assert [each["attack"] for each in content["each"]] == ["CMS", "CMS"]
    assert sum(entry["prior"] for entry in content["patterns"]) == pytest.approx(1)
    frame = outcome.to_frame()
    assert frame.column("attack").to_pylist() == ["CML", "CMS", "CMS"]
    assert frame.column("delta_max").to_pylist()[0] is None
    assert frame.column("members").to_pylist() == [[4, 4], [4], [4]]
    assert frame.column("presence_in").to_pylist()[2] == 3
    target = member([trial()], register(TOWN), known={"age": "31"})
    assert target.to_frame().column("in").to_pylist() == [[], ["r0"]]
    assert target.to_frame().column("posterior").to_pylist() == [0.0, 1.0]
    person = target.to_dict()
    assert person["known"] == {"age": ["31"]}
    assert person["present"][0]["posterior"] == 1.0
    assert person["certain"] is True
    assert "Membership(code='CML'" in repr(outcome)


def trial_named(name: str) -> EncodedTable:
    rows = [person for person, inside in zip(TOWN, TRIAL, strict=True) if inside]
    frame = pa.table(dict(zip(NAMES, zip(*rows, strict=True), strict=True)))
    return read(frame, quasi_identifiers=NAMES, name=name)


def test_many_people_and_releases_agree_with_plain_counting() -> None:
    generator = np.random.default_rng(7)
    rows = generator.integers(0, 30, (20_000, 2)).astype(str)
    worlds = generator.integers(0, 8, 20_000)
    town = read(pa.table({"a": rows[:, 0], "b": rows[:, 1]}), name="town")
    for linked in (False, True):
        releases = []
        for bit in range(3):
            inside = np.flatnonzero(worlds >> bit & 1)
            frame = pa.table({"a": rows[inside, 0], "b": rows[inside, 1], "id": inside})
            identifier = "id" if linked else None
            releases.append(
                read(frame, quasi_identifiers=["a", "b"], id=identifier, name=f"r{bit}")
            )
        outcome = membership(releases, town)
        people = Counter(map(tuple, rows))
        expected = Fraction(0)
        if linked:
            counts = Counter(zip(map(tuple, rows), worlds, strict=True))
            most: dict[Any, int] = {}
            for (row, _), count in counts.items():
                most[row] = max(most.get(row, 0), count)
            expected = Fraction(sum(most.values()))
        else:
            inside_counts = [Counter(map(tuple, rows[worlds >> bit & 1 == 1])) for bit in range(3)]
            for row, size in people.items():
                chance = Fraction(size)
                for counted in inside_counts:
                    chance *= Fraction(max(counted[row], size - counted[row]), size)
                expected += chance
        assert outcome.probabilistic.posterior == expected / 20_000
        assert sum(outcome.patterns.values()) == 1


def test_a_missing_column_is_named() -> None:
    with pytest.raises(DataError, match='column "sex" is not in register'):
        membership(trial(), read(pa.table({"age": ["20"], "gender": ["F"]}), name="register"))
    with pytest.raises(
        DataError, match=r'none of the quasi-identifiers "age", "sex"; it has "AGE"'
    ):
        membership(trial(), read(pa.table({"AGE": ["20"]}), name="register"))
    with pytest.raises(DataError, match='column "city" is not in r0'):
        membership(trial(), register(TOWN), quasi_identifiers=["age", "city"])


def test_the_question_must_be_well_posed() -> None:
    town = register(TOWN)
    with pytest.raises(StudyError, match="needs at least one quasi-identifier"):
        membership(trial(), town, quasi_identifiers=[])
    with pytest.raises(StudyError, match="given twice"):
        membership(trial(), town, quasi_identifiers=["age", "age"])
    with pytest.raises(StudyError, match="two releases have the same name"):
        membership([trial(), trial()], town)
    with pytest.raises(StudyError, match=f"of 1 to {MOST_RELEASES} releases, not of 0"):
        membership([], town)
    with pytest.raises(StudyError, match="not of 13"):
        membership([trial()] * 13, town)
    with pytest.raises(StudyError, match=r'column "ages" is not in .*; did you mean "age"'):
        member(trial(), town, known={"ages": "20"})
    with pytest.raises(StudyError, match='no value of "age" is possible'):
        member(trial(), town, known={"age": []})


def test_a_register_that_lacks_people_is_refused() -> None:
    with pytest.raises(
        DataError, match=r"r0: register, .*, has no counterpart of 2 records in 1 class; compare"
    ):
        membership(trial(), register(TOWN[:5] + TOWN[7:]))
    with pytest.raises(
        DataError, match=r"r0: .* of 1 record in 1 class; compare how the columns are written"
    ):
        membership(trial(), register([("20.0", "F"), *TOWN[2:]]))
    frame = pa.table({"age": ["20", "*"], "sex": ["F", "F"]})
    with pytest.raises(DataError, match=r'1 records hold "\*" beside other values of "age"'):
        membership(read(frame, quasi_identifiers=NAMES), register(TOWN))


def test_overlapping_generalisations_are_refused_by_column() -> None:
    frame = pa.table({"age": ["20-29", "[15, 25]"], "sex": ["F", "F"]})
    with pytest.raises(DataError, match='column "age": the release holds "20-29" and'):
        membership(read(frame, quasi_identifiers=NAMES), register(TOWN))


def linked_release(name: str, ids: list[str], ages: list[str]) -> EncodedTable:
    frame = pa.table({"id": ids, "age": ages, "sex": ["F"] * len(ids)})
    return read(frame, quasi_identifiers=NAMES, id="id", name=name)


def test_everybody_has_one_record() -> None:
    town = register([("20", "F"), ("31", "F")])
    with pytest.raises(DataError, match=r'r0: 1 people have more than one record \(by "id"\)'):
        membership(linked_release("r0", ["1", "1"], ["20", "31"]), town)
    with pytest.raises(DataError, match='r0: 1 records have no "id"'):
        membership(linked_release("r0", ["1", ""], ["20", "31"]), town)


def test_what_changes_cannot_be_linked_to_one_register() -> None:
    town = register([("20", "F"), ("31", "F"), ("31", "F")])
    first = linked_release("r0", ["1", "2"], ["20", "31"])
    second = linked_release("r1", ["1", "2"], ["31", "31"])
    with pytest.raises(DataError, match=r'1 people have different values .* \("age" of 1\)'):
        membership([first, second], town)
    assert membership([first, second], town, quasi_identifiers=["sex"]).linked


def test_linked_releases_may_be_written_differently_if_they_tell_the_same_apart() -> None:
    writings = ["as it is", "by decades"]
    people = [("20", "F"), ("31", "F"), ("31", "F")]
    alike = membership(tables(people, (3, 1, 0), writings, linked=True), register(people))
    assert alike.patterns[("r0", "r1")] == alike.patterns[("r0",)] == Fraction(1, 3)
    people = [("20", "F"), ("25", "F"), ("31", "F")]
    with pytest.raises(DataError, match=r'3 people have different values .* \("age" of 3\)'):
        membership(tables(people, (3, 3, 3), writings, linked=True), register(people))


def test_more_linked_people_than_the_register_holds_are_refused() -> None:
    town = register([("20", "F")])
    releases = [linked_release("r0", ["1"], ["20"]), linked_release("r1", ["2"], ["20"])]
    with pytest.raises(DataError, match=r"r0 and r1, linked: .* of 1 record in 1 class;"):
        membership(releases, town)


def test_a_person_must_be_in_the_register() -> None:
    town = register(TOWN)
    with pytest.raises(DataError, match=r'nobody in register has "3l" in column "age"$'):
        member(trial(), town, known={"age": "3l"})
    with pytest.raises(DataError, match=r'has "f" in column "sex"; did you mean "F"\?'):
        member(trial(), town, known={"sex": "f"})
    with pytest.raises(DataError, match=r"nobody in register fits \(age 85, sex F\)"):
        member(trial(), register([*TOWN, ("85", "M")]), known={"age": "85", "sex": "F"})
    assert member(trial(), town, known={"age": ["20", "85"]}).candidates == 5


def test_too_many_kinds_of_classes_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(presence_counts, "_MOST_TERMS", 8)
    with pytest.raises(BudgetError, match="4 kinds of classes in 2 releases are too many"):
        membership([trial(), trial_named("other")], register(TOWN))
