"""The attack on one person against the obvious: exact Bayes, one record at a time."""

from __future__ import annotations

import json
import re
from datetime import date
from fractions import Fraction
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from glasshouse.errors import DataError, StudyError
from glasshouse.microdata import attack
from glasshouse.microdata.gains import RecordWorth
from glasshouse.microdata.individual import target
from glasshouse.qif import GainFunction, GVulnerability, Prior, Tries
from glasshouse.study import Condition, parse_condition
from glasshouse.table import EncodedColumn, EncodedTable, read
from glasshouse.table.generalised import covers

Row = tuple[str, str, str, str]
NAMES = ("a", "b", "c", "secret")
SMALL = st.sampled_from("xyz")
ROWS = st.lists(st.tuples(SMALL, SMALL, SMALL, st.sampled_from("pqrs")), min_size=1, max_size=7)
KNOWN = st.sets(st.sampled_from(NAMES[:3]), min_size=1).map(sorted)
WEIGHED_ROWS = ROWS.flatmap(
    lambda rows: st.tuples(
        st.just(rows), st.lists(st.integers(1, 5), min_size=len(rows), max_size=len(rows))
    )
)

STUDENTS = pa.table(
    {
        "age": [25, 25, 25, 25, 25, 49, 49, 49, 49, 60],
        "gender": list("FFFMMFFFMM"),
        "grade": list("AACBBCCEDD"),
        "disability": ["no", "yes", "yes", "yes", "no", "yes", "yes", "no", "no", "no"],
    }
)
"""The ten students of Alvim et al. 2022, Table 3a."""
GRADES_2 = ["B", "A", "C", "B", "B", "D", "C", "E", "D", None]
"""Their grades in the second dataset (Table 3b); the tenth has no record there."""


def students() -> EncodedTable:
    return read(
        STUDENTS,
        quasi_identifiers=["age", "gender", "grade"],
        sensitive=["disability"],
        name="D1.csv",
    )


def collection() -> EncodedTable:
    """The ten students in both datasets (Table 3c), joined by hand."""
    focal = students()
    values = ["A", "B", "C", "D", "E", None]
    codes = np.array([values.index(grade) for grade in GRADES_2], np.uint8)
    presence = np.array([grade is None for grade in GRADES_2], np.uint8)
    columns = {
        **focal.columns,
        "grade@D2": EncodedColumn("grade@D2", codes, pa.array(values, pa.large_string())),
        "@D2": EncodedColumn("@D2", presence, pa.array(["present", "absent"], pa.large_string())),
    }
    facts = {"gender": ("gender",), "grade": ("grade", "grade@D2")}
    return EncodedTable(
        "D1.csv", 10, columns, focal.roles, facts=facts, collection=("D1.csv", "D2.csv")
    )


def as_table(rows: list[Row], weights: list[int] | None = None) -> EncodedTable:
    columns: dict[str, Any] = dict(zip(NAMES, zip(*rows, strict=True), strict=True))
    return read(pa.table(columns if weights is None else columns | {"w": weights}))


def facts(row: Row, known: list[str]) -> dict[str, str]:
    return {name: row[NAMES.index(name)] for name in known}


def distribution(rows: list[Row], weights: list[int]) -> dict[str, Fraction]:
    total = sum(weights)
    values = {row[3] for row in rows}
    return {
        value: Fraction(
            sum(w for row, w in zip(rows, weights, strict=True) if row[3] == value), total
        )
        for value in values
    }


@given(WEIGHED_ROWS, KNOWN, st.data())
def test_one_target_is_exact_bayes(
    drawn: tuple[list[Row], list[int]], known: list[str], data: st.DataObject
) -> None:
    rows, weights = drawn
    person = data.draw(st.sampled_from(rows))
    facts_known = facts(person, known)
    outcome = target(
        as_table(rows, weights), known=facts_known, sensitive=["secret"], prior_weight="w"
    )
    alike = [i for i, row in enumerate(rows) if facts(row, known) == facts_known]
    own = [weights[i] for i in alike]
    prior = distribution(rows, weights)
    posterior = distribution([rows[i] for i in alike], own)

    assert outcome.candidate_records.tolist() == alike
    assert (outcome.records, outcome.candidates) == (len(rows), len(alike))
    assert outcome.naming.prior == Fraction(max(weights), sum(weights))
    assert outcome.naming.posterior == Fraction(max(own), sum(own))
    assert outcome.certain == (len(alike) == 1)
    (secret,) = outcome.secrets
    assert {each.value: each.prior for each in secret.values} == prior
    assert {each.value: each.posterior for each in secret.values if each.posterior} == posterior
    assert secret.guess.prior == max(prior.values())
    assert secret.guess.posterior == max(posterior.values())
    assert posterior[str(secret.best[0])] == secret.best[1] == max(posterior.values())
    assert prior[str(secret.prior_best[0])] == secret.prior_best[1] == max(prior.values())
    assert secret.certain == (len(posterior) == 1)
    assert list(secret.values) == sorted(
        secret.values, key=lambda each: (-each.posterior, -each.prior, str(each.value))
    )


@given(WEIGHED_ROWS, KNOWN, st.booleans())
def test_on_average_the_attack_on_one_person_is_the_collective_one(
    drawn: tuple[list[Row], list[int]], known: list[str], weighted: bool
) -> None:
    """Σ over classes of weight(class) / weight(all) · posterior of a target in it = posterior of CRS, CAS."""
    rows, weights = drawn[0], drawn[1] if weighted else [1] * len(drawn[0])
    table = as_table(rows, weights)
    weight = "w" if weighted else None
    naming = attack(table, quasi_identifiers=known, prior_weight=weight).probabilistic
    guessing = attack(
        table, quasi_identifiers=known, sensitive="secret", prior_weight=weight
    ).probabilistic
    outcomes = [
        (own, target(table, known=facts(row, known), sensitive=["secret"], prior_weight=weight))
        for row, own in zip(rows, weights, strict=True)
    ]
    total = sum(weights)
    assert sum(own * each.naming.posterior for own, each in outcomes) / total == naming.posterior
    guesses = [(own, each.secrets[0].guess) for own, each in outcomes]
    assert sum(own * guess.posterior for own, guess in guesses) / total == guessing.posterior
    assert {guess.prior for _, guess in guesses} == {guessing.prior}
    assert {each.naming.prior for _, each in outcomes} == {naming.prior}


@given(
    ROWS,
    KNOWN,
    st.lists(st.lists(st.integers(-4, 9), min_size=4, max_size=4), min_size=1, max_size=4),
    st.integers(1, 4),
    st.lists(st.integers(0, 5), min_size=4, max_size=4),
)
def test_gains_are_those_of_the_two_distributions(
    rows: list[Row], known: list[str], matrix: list[list[int]], k: int, worth: list[int]
) -> None:
    table, given_known = as_table(rows), facts(rows[0], known)
    present = sorted({row[3] for row in rows})
    worths = dict(zip("pqrs", worth, strict=True))

    def outcome(gain: Any) -> Any:
        found = target(
            table, known=given_known, sensitive=["secret"], gains={("secret",): gain}
        ).secrets[0]
        before = Prior.of({each.value: each.prior for each in found.values})
        after = Prior.of({each.value: each.posterior for each in found.values})
        return found, before, after

    found, before, after = outcome(Tries(k))
    assert found.gain.prior == Tries(k).prior(before)
    assert found.gain.posterior == Tries(k).prior(after)
    assert sum(after[value] for value in found.best_action) == found.gain.posterior

    own_columns = [[row["pqrs".index(value)] for value in present] for row in matrix]
    bets = GainFunction(own_columns, guesses=range(len(matrix)), secrets=present)
    found, before, after = outcome(bets)
    likely = Prior([after[value] for value in present], present)
    assert found.gain.posterior == GVulnerability(bets).prior(likely)
    general = Prior([before[value] for value in present], present)
    assert found.gain.prior == GVulnerability(bets).prior(general)
    assert found.gain.posterior == sum(
        bets[found.best_action, value] * after[value] for value in present
    )

    found, before, after = outcome({value: worths[value] for value in present[1:]} | {"*": 7})
    own = {value: worths[value] for value in present[1:]} | {present[0]: 7}
    assert found.gain.prior == max(own[value] * before[value] for value in present)
    assert found.gain.posterior == max(own[value] * after[value] for value in present)
    assert own[found.best_action] * after[found.best_action] == found.gain.posterior


@given(WEIGHED_ROWS, KNOWN, st.integers(1, 8), st.booleans())
def test_several_tries_to_name_the_record(
    drawn: tuple[list[Row], list[int]], known: list[str], k: int, weighted: bool
) -> None:
    rows, weights = drawn[0], drawn[1] if weighted else [1] * len(drawn[0])
    given_known = facts(rows[0], known)
    outcome = target(
        as_table(rows, weights),
        known=given_known,
        sensitive=[],
        gains={(): Tries(k)},
        prior_weight="w" if weighted else None,
    )
    own = [w for row, w in zip(rows, weights, strict=True) if facts(row, known) == given_known]
    assert outcome.naming_gain is not None
    assert outcome.naming_gain.prior == Fraction(sum(sorted(weights)[-k:]), sum(weights))
    assert outcome.naming_gain.posterior == Fraction(sum(sorted(own)[-k:]), sum(own))


@given(ROWS, st.sampled_from("xyz"))
def test_a_joint_secret_is_the_pair_as_one_attribute(rows: list[Row], known: str) -> None:
    assume(any(row[0] == known for row in rows))
    columns: dict[str, Any] = dict(zip(NAMES, zip(*rows, strict=True), strict=True))
    table = read(pa.table(columns | {"pair": [f"{row[2]}|{row[3]}" for row in rows]}))
    outcome = target(table, known={"a": known}, sensitive=[("c", "secret"), "pair"])
    joint, single = outcome.secrets
    assert joint.secret == ("c", "secret")
    assert joint.sensitive == "c+secret"
    assert joint.guess == single.guess
    assert {("|".join(map(str, v or ())), p, q) for v, p, q in joint.values} == set(single.values)


def test_the_worked_example_on_one_dataset() -> None:
    """A woman of 25 with grade A is one of two, of whom one has a disability: as before the attack."""
    outcome = target(students(), known=["age=25", "gender=F", "grade=A"])
    assert outcome.code == "IRS"
    assert outcome.known == ("age", "gender", "grade")
    assert (outcome.naming.prior, outcome.naming.posterior) == (Fraction(1, 10), Fraction(1, 2))
    secret = outcome.secret("disability")
    assert secret.code == "IAS"
    assert secret.values == (
        ("no", Fraction(1, 2), Fraction(1, 2)),
        ("yes", Fraction(1, 2), Fraction(1, 2)),
    )
    assert secret.guess.additive == 0
    assert not secret.certain
    assert not outcome.certain


def test_the_worked_example_on_the_collection() -> None:
    """The second dataset tells the two apart (Alvim et al. 2022, Table 4d, column F, A, B)."""
    known = {"gender": "F", "grade": "A", "grade@D2": "B"}
    outcome = target(collection(), known=known)
    assert outcome.code == "IRL"
    assert outcome.datasets == ("D1.csv", "D2.csv")
    assert outcome.certain
    secret = outcome.secret("disability")
    assert (secret.code, secret.certain, secret.best) == ("IAL", True, ("no", Fraction(1)))
    tagged = target(collection(), known=["gender=F", "grade@D1=A", "grade@D2=B"])
    assert tagged == outcome


@pytest.mark.parametrize(
    ("known", "records"),
    [
        (["gender=M", "grade=D", "@D2=absent"], [9]),
        (["gender=M", "grade=D", "@D2=present"], [8]),
        (["gender=M", "grade=D", "grade@D2!=D"], [9]),
        (["grade@D2=D,E"], [5, 7, 8]),
        (["age=26..59", "gender!=F"], [8]),
    ],
)
def test_absence_from_a_dataset_is_an_observation(known: list[str], records: list[int]) -> None:
    assert target(collection(), known=known).candidate_records.tolist() == records


def test_the_collection_on_average_is_the_published_attack() -> None:
    """CAL and CRL of Alvim et al. 2022, section 4.2 and appendix: 9/10 and 8/10."""
    table = collection()
    outcomes = []
    for i in range(10):
        grade, gender = STUDENTS["grade"][i].as_py(), STUDENTS["gender"][i].as_py()
        known = {"gender": gender, "grade": grade}
        later = {"@D2": "absent"} if GRADES_2[i] is None else {"grade@D2": GRADES_2[i]}
        outcomes.append(target(table, known=known | later))
    assert sum(each.secrets[0].guess.posterior for each in outcomes) / 10 == Fraction(9, 10)
    assert sum(each.naming.posterior for each in outcomes) / 10 == Fraction(8, 10)
    assert sum(each.secrets[0].certain for each in outcomes) == 8
    assert sum(each.certain for each in outcomes) == 6


def test_what_is_not_in_a_dataset_can_be_the_secret() -> None:
    secret = target(collection(), known=["grade=D"], sensitive=["grade@D2"]).secrets[0]
    assert secret.values[:2] == (
        ("D", Fraction(1, 5), Fraction(1, 2)),
        (None, Fraction(1, 10), Fraction(1, 2)),
    )
    assert secret.to_dict()["values"][1]["value"] is None


def test_of_one_target_less_may_be_known_than_of_people_in_general() -> None:
    table = read(pa.table({"age": [20] * 6 + [30] * 2, "ill": [*"aaaaaa", "a", "b"]}))
    guess = target(table, known=["age=30"], sensitive=["ill"]).secrets[0].guess
    assert (guess.prior, guess.posterior) == (Fraction(7, 8), Fraction(1, 2))
    assert guess.additive == Fraction(-3, 8)


def test_a_generalised_release_is_matched_with_true_values() -> None:
    release = read(pa.table({"age": ["20-29", "30-39", "30-39", "*"], "zip": ["130**"] * 4}))
    outcome = target(release, known={"age": 34, "zip": 13053})
    assert outcome.candidate_records.tolist() == [1, 2, 3]
    assert outcome.suppressed == 0


LOCAL = {
    "age": ["34", "30-39", "*", "34", "*", "*", "50", "30-39"],
    "zip": ["Z", "Z", "Z", "*", "*", "*", "Z", "Y"],
    "ill": list("aabcddee"),
}
"""Records that are not generalised alike: two of them are wholly suppressed."""


def test_a_record_is_a_candidate_if_each_value_can_stand_for_what_is_known() -> None:
    outcome = target(read(pa.table(LOCAL)), known={"age": 34, "zip": "Z"}, sensitive=["ill"])
    assert outcome.candidate_records.tolist() == [0, 1, 2, 3]
    assert outcome.suppressed == outcome.to_dict()["suppressed"] == 2
    assert outcome.naming.posterior == Fraction(1, 4)
    assert outcome.secrets[0].best == ("a", Fraction(1, 2))


def test_only_what_is_suppressed_in_all_known_columns_tells_nothing() -> None:
    release = read(pa.table(LOCAL))
    by_age = target(release, known={"age": 34})
    assert (by_age.candidate_records.tolist(), by_age.suppressed) == ([0, 1, 3, 7], 3)
    other = target(release, known={"age": 60, "zip": "X"})
    assert (other.candidate_records.tolist(), other.suppressed) == ([4, 5], 0)
    assert target(release, known=["age!=34", "zip!=Z"]).suppressed == 2


def test_a_suppressed_record_that_weighs_nothing_is_not_the_targets() -> None:
    weights = [0, 0, 0, 0, 0, 3, 1, 1]
    release = read(pa.table(LOCAL | {"w": weights}))
    outcome = target(release, known={"age": 34, "zip": "Z"}, prior_weight="w")
    assert (outcome.candidate_records.tolist(), outcome.suppressed) == ([5], 0)
    outcome = target(release, known={"age": 50, "zip": "Z"}, prior_weight="w")
    assert (outcome.candidate_records.tolist(), outcome.suppressed) == ([6], 1)


CELL = st.sampled_from(["1", "2", "3", "1-2", "{2, 3}", "*"])


@given(st.lists(st.tuples(CELL, CELL), min_size=1, max_size=7), st.tuples(*[st.integers(1, 3)] * 2))
def test_candidates_are_found_cell_by_cell(
    rows: list[tuple[str, str]], known: tuple[int, int]
) -> None:
    fit = [
        i
        for i, row in enumerate(rows)
        if all(covers(told, str(true)) for told, true in zip(row, known, strict=True))
    ]
    telling = [i for i in fit if rows[i] != ("*", "*")]
    assume(fit)
    release = read(pa.table({"a": [a for a, _ in rows], "b": [b for _, b in rows]}))
    outcome = target(release, known=dict(zip("ab", known, strict=True)))
    assert outcome.candidate_records.tolist() == (telling or fit)
    assert outcome.suppressed == (len(fit) - len(telling) if telling else 0)


@pytest.mark.parametrize(
    ("known", "candidates"),
    [
        ({"age": 25}, 5),
        ({"age": "25"}, 5),
        ({"age": [25, 60]}, 6),
        ({"age": {25, 60}, "gender": "M"}, 3),
        ({"age": np.int64(60)}, 1),
        ({"age": 60.0}, 1),
        ({"age": parse_condition("anything=26..")}, 5),
        ([parse_condition("age=25"), "gender=M"], 2),
        (("age=20..50", "age!=25"), 4),
    ],
)
def test_what_is_known_is_said_in_several_ways(known: Any, candidates: int) -> None:
    assert target(students(), known=known).candidates == candidates


def test_values_are_written_as_the_reader_writes_them() -> None:
    frame = pa.table({"born": [date(2000, 1, 2), None], "ill": [True, False]})
    for known in ({"born": date(2000, 1, 2)}, {"ill": True}, {"born": [date(2000, 1, 2)]}):
        assert target(read(frame), known=known).candidate_records.tolist() == [0]
    assert target(read(frame), known={"born": None}).candidate_records.tolist() == [1]


REGISTER = read(
    pa.table(
        {"age": [25] * 8 + [49] * 5 + [60] * 7, "gender": list("FFFFMMMM" + "FFFMM" + "MMMMMMF")}
    ),
    name="register.csv",
)
"""Twenty people, among them the ten students."""


def test_the_journalist_counts_who_fits_in_the_register() -> None:
    outcome = target(students(), known=["age=25", "gender=F"], population=REGISTER)
    found = outcome.journalist
    assert found is not None
    assert (found.register, found.estimated) == ("register.csv", False)
    assert (int(found.population), int(found.fitting), outcome.candidates) == (20, 4, 3)
    assert (found.presence.prior, found.presence.posterior) == (Fraction(1, 2), Fraction(3, 4))
    assert (found.naming.prior, found.naming.posterior) == (Fraction(1, 20), Fraction(1, 4))
    assert outcome.naming.posterior == Fraction(1, 3)


def test_facts_that_the_register_lacks_say_nothing_of_being_in_the_release() -> None:
    """Of four women of 25 three are in the release, one of them with grade C: is the target she, or the fourth?"""
    known = ["age=25", "gender=F", "grade=C"]
    found = target(students(), known=known, population=REGISTER).journalist
    assert found is not None
    assert found.assumed
    assert found.to_dict()["assumed"] is True
    assert found.fitting == Fraction(4, 3)
    assert found.presence.posterior == found.naming.posterior == Fraction(3, 4)
    everyone = target(students(), known=["grade=C", "gender=F", "age=49"], population=REGISTER)
    assert everyone.journalist is not None
    assert everyone.journalist.presence.posterior == everyone.journalist.naming.posterior * 2 == 1
    counted = target(students(), known=known[:2], population=REGISTER).to_dict()["journalist"]
    assert counted["assumed"] is False


@given(st.lists(st.tuples(SMALL, SMALL, st.booleans()), min_size=1, max_size=8), st.data())
def test_a_fact_that_the_register_lacks_is_exact_bayes_under_independence(
    people: list[tuple[str, str, bool]], data: st.DataObject
) -> None:
    """The further fact is distributed as among the records alike, in the release and out of it."""
    inside = [person for person in people if person[2]]
    assume(inside)
    shared = data.draw(st.sampled_from(inside))[0]
    register = read(pa.table({"a": [person[0] for person in people]}))
    columns = [[person[i] for person in inside] for i in (0, 1)]
    release = read(pa.table(dict(zip("ab", columns, strict=True))))
    alike = [person for person in people if person[0] == shared]
    records = [person for person in alike if person[2]]
    total = Fraction(0)
    for further in {person[1] for person in records}:
        found = target(release, known={"a": shared, "b": further}, population=register).journalist
        assert found is not None
        n = sum(person[1] == further for person in records)
        share = Fraction(n, len(records))
        joint = {
            is_in: Fraction(sum(p[2] == is_in for p in alike), len(alike)) * share
            for is_in in (True, False)
        }
        assert found.presence.posterior == joint[True] / sum(joint.values())
        assert found.naming.posterior == joint[True] / sum(joint.values()) / n
        assert found.fitting == len(alike) * share
        total += share * found.presence.posterior
    assert total == Fraction(len(records), len(alike))


def test_suppressed_cells_can_be_anybodys() -> None:
    """The two records that hide the age may be those of the people of 45 and 46."""
    release = read(pa.table({"age": ["34", "*", "*", "40-49"], "zip": list("ZZZY")}))
    people = read(pa.table({"age": [34, 45, 46, 47, 41, 48], "zip": list("ZZZZYX")}))
    outcome = target(release, known={"age": 34, "zip": "Z"}, population=people)
    assert outcome.journalist is not None
    assert (outcome.candidates, int(outcome.journalist.fitting)) == (3, 4)


def test_suppressed_records_can_be_those_of_everybody_without_another_record() -> None:
    release = read(pa.table({"age": ["20-29"] * 3 + ["*"] * 2}))
    people = read(pa.table({"age": [20, 21, 22, 23, 34, 45, 46, 47]}))
    found = target(release, known={"age": 34}, population=people).journalist
    assert found is not None
    assert found.fitting == 8 - 3
    assert (found.presence.posterior, found.naming.posterior) == (Fraction(2, 5), Fraction(1, 5))
    found = target(release, known={"age": 21}, population=people).journalist
    assert found is not None
    assert (int(found.fitting), found.presence.posterior) == (4, Fraction(3, 4))


def test_a_register_can_show_that_the_target_is_out_for_sure() -> None:
    for known in (["age=60", "gender=F"], ["age=60", "gender=F", "grade=Z"]):
        outcome = target(students(), known=known, population=REGISTER)
        assert outcome.journalist is not None
        assert outcome.candidates == outcome.naming.posterior == 0
        assert outcome.journalist.presence.posterior == outcome.journalist.naming.posterior == 0
        assert outcome.secrets == ()
        assert not outcome.certain
        assert json.dumps(outcome.to_dict())


def test_a_generalised_release_confuses_the_target_with_all_whom_it_shows_alike() -> None:
    release = read(pa.table({"age": ["30-39", "30-39", "20-29"]}))
    people = read(pa.table({"age": [34, 31, 39, 38, 20, 21]}))
    outcome = target(release, known={"age": 34}, population=people)
    assert outcome.journalist is not None
    assert outcome.candidates == 2
    assert outcome.journalist.fitting == 4
    assert outcome.journalist.naming.posterior == Fraction(1, 4)


@given(st.lists(st.tuples(SMALL, SMALL, st.booleans()), min_size=1, max_size=8), st.data())
def test_the_journalist_is_exact_bayes_on_the_register(
    people: list[tuple[str, str, bool]], data: st.DataObject
) -> None:
    """Everybody is as likely to be the target; she knows who is in the register and what the release holds."""
    a, b, _ = data.draw(st.sampled_from(people))
    released = [person for person in people if person[2]]
    alike = [person for person in people if person[:2] == (a, b)]
    assume(released)
    columns = [[person[i] for person in people] for i in (0, 1)]
    register = read(pa.table(dict(zip("ab", columns, strict=True))))
    release = register.of_records(np.array([person[2] for person in people]))
    found = target(release, known={"a": a, "b": b}, population=register).journalist
    assert found is not None
    inside = sum(person[2] for person in alike)
    assert found.presence.prior == Fraction(len(released), len(people))
    assert found.presence.posterior == Fraction(inside, len(alike))
    assert found.naming.posterior == (Fraction(1, len(alike)) if inside else 0)


def test_without_a_register_the_sampling_fraction_gives_an_estimate() -> None:
    outcome = target(students(), known=["age=25", "gender=F"], fraction=0.1)
    found = outcome.journalist
    assert found is not None
    assert found.estimated
    assert (int(found.population), int(found.fitting)) == (100, 30)
    assert (found.presence.prior, found.presence.posterior) == (Fraction(1, 10), Fraction(1, 10))
    assert (found.naming.prior, found.naming.posterior) == (Fraction(1, 100), Fraction(1, 30))
    assert found.to_dict()["fitting"] == 30
    odd = target(students(), known=["age=60"], fraction=Fraction(2, 3)).to_dict()["journalist"]
    assert (odd["population"], odd["fitting"], odd["register"]) == (15, 1.5, None)


def test_nothing_of_the_outcome_points_at_a_record() -> None:
    gains: Any = {("disability",): Tries(1), (): Tries(2)}
    outcome = target(students(), known=["grade=C"], gains=gains)
    content = outcome.to_dict()
    assert json.loads(json.dumps(content)) == content
    assert content == {
        "attack": "IRS",
        "datasets": ["D1.csv"],
        "known": ["grade"],
        "records": 10,
        "candidates": 3,
        "suppressed": 0,
        "certain": False,
        "naming": _leakage(0.1, 1 / 3, 1 / 3 - 0.1, 10 / 3),
        "secrets": [
            {
                "attack": "IAS",
                "sensitive": "disability",
                "certain": True,
                "best": {"value": "yes", "probability": 1.0},
                "prior_best": {"value": "yes", "probability": 0.5},
                "guess": _leakage(0.5, 1.0, 0.5, 2.0),
                "values": [
                    {"value": "yes", "prior": 0.5, "posterior": 1.0},
                    {"value": "no", "prior": 0.5, "posterior": 0.0},
                ],
                "gain": _leakage(0.5, 1.0, 0.5, 2.0),
                "best_action": ["yes"],
            }
        ],
        "journalist": None,
        "naming_gain": _leakage(0.2, 2 / 3, float(Fraction(7, 15)), 10 / 3),
    }
    assert "record" not in repr(outcome).replace("records=10", "")


def _leakage(*measures: float) -> dict[str, Any]:
    names = ("prior", "posterior", "additive", "multiplicative")
    return {name: pytest.approx(measure) for name, measure in zip(names, measures, strict=True)}


def test_frames_have_a_row_per_attack_and_per_value() -> None:
    outcome = target(students(), known=["age=60"], sensitive=["disability", ("gender", "grade")])
    frame = outcome.to_frame()
    assert frame["attack"].to_pylist() == ["IRS", "IAS", "IAS"]
    assert frame["sensitive"].to_pylist() == [None, "disability", "gender+grade"]
    assert frame["posterior"].to_pylist() == [1.0, 1.0, 1.0]
    assert frame["certain"].to_pylist() == [True] * 3
    values = outcome.secrets[1].to_frame()
    assert values.column_names == ["gender", "grade", "prior", "posterior"]
    assert values.to_pylist()[0] == {"gender": "M", "grade": "D", "prior": 0.2, "posterior": 1.0}


def refused(**question: Any) -> str:
    with pytest.raises((DataError, StudyError)) as raised:
        target(students(), **question)
    message = str(raised.value)
    assert "\n" not in message
    return f"{type(raised.value).__name__}: {message}"


def test_a_value_that_does_not_occur_is_named_with_the_nearest() -> None:
    assert refused(known=["age=34", "gender=F"]) == (
        'DataError: the value "34" does not occur in column "age" of D1.csv: zero candidates; '
        'the nearest values are "25", "49", "60"'
    )


def test_facts_that_do_not_go_together_are_told_with_the_one_that_may_be_mistaken() -> None:
    assert refused(known=["age=60", "gender=F", "grade=D"]) == (
        'DataError: nobody in D1.csv has all of "age", "gender", "grade": zero candidates; '
        'without what is known about "gender" there would be 1'
    )
    assert refused(known=["age=60", "gender=F", "grade=B"]).endswith(
        "zero candidates; nor would there be any without one of them"
    )


@pytest.mark.parametrize(
    ("question", "message"),
    [
        ({"known": []}, "StudyError: the attack on one person needs something that is known"),
        ({"known": "age=25"}, "StudyError: give a list of what is known"),
        ({"known": Condition("age", ("25",))}, "StudyError: give a list of what is known"),
        ({"known": ["age"]}, "StudyError: the condition .* is not of the form"),
        ({"known": {"age": []}}, 'StudyError: the condition on "age" needs either values'),
        ({"known": {"age": {"x": 1}}}, r'StudyError: what is known about "age" is \{'),
        ({"known": {"age": object()}}, 'StudyError: what is known about "age" is <object'),
        ({"known": ["idade=25"]}, 'DataError: column "idade" is not in D1.csv; it has "age"'),
        (
            {"known": ["disability=no"]},
            'StudyError: column "disability" is known about the target and also a secret',
        ),
        ({"known": ["age=25"], "sensitive": "grade"}, "StudyError: give a list of secrets"),
        ({"known": ["age=25"], "sensitive": [[]]}, "StudyError: a secret needs at least one"),
        ({"known": ["age=25"], "sensitive": ["illness"]}, 'DataError: column "illness" is not in'),
        (
            {"known": ["age=25"], "gains": {("grade",): Tries(1)}},
            "StudyError: a gain is given for .* none of the secrets",
        ),
        ({"known": ["age=25"], "gains": {(): {"*": 1}}}, "StudyError: re-identification takes"),
        ({"known": ["age=25"], "gains": {("disability",): 3}}, "StudyError: a gain is a gain fun"),
        (
            {"known": ["age=25"], "gains": {("disability",): {"No": 1}}},
            'StudyError: .* value "No" is not in column "disability" of D1.csv; did you mean "no"',
        ),
        (
            {"known": ["age=25"], "gains": {("disability",): {"no": 1}}},
            'StudyError: no worth is given for "yes"',
        ),
        (
            {"known": ["age=25"], "gains": {("disability",): {"*": -1}}},
            "StudyError: a worth of .* is negative",
        ),
        (
            {"known": ["age=25"], "gains": {("disability",): {"*": float("nan")}}},
            "StudyError: a gain of nan is not a number",
        ),
        (
            {"known": ["age=25"], "gains": {("disability",): GainFunction.bayes("ab")}},
            'StudyError: the gain matrix has no column for "no", "yes" of "disability"',
        ),
        (
            {"known": ["age=25"], "prior_weight": "gender"},
            'DataError: .* weight "F" in column "gender"',
        ),
        ({"known": ["age=25"], "fraction": 0}, "StudyError: the sampling fraction must be a num"),
        ({"known": ["age=25"], "fraction": 1.5}, "StudyError: the sampling fraction must be a nu"),
        (
            {"known": ["age=25"], "fraction": "x"},
            "StudyError: the sampling fraction must be .*, not x",
        ),
        ({"known": ["age=25"], "fraction": 1, "population": REGISTER}, "StudyError: give a regist"),
        (
            {"known": ["grade=A"], "population": REGISTER},
            "StudyError: register.csv has none of the columns of which something is known",
        ),
        (
            {"known": ["age=18"], "population": REGISTER},
            'DataError: the value "18" does not occur in column "age" of register.csv',
        ),
        (
            {"known": ["age=49", "gender=F"], "population": REGISTER.of_records(np.arange(10))},
            "DataError: 3 of 10 records of D1.csv fit what is known, but 2 of 10 people of regist",
        ),
        (
            {"known": ["age=60"], "population": REGISTER.of_records(np.arange(14, 19))},
            "DataError: 1 of 10 records of D1.csv fit what is known, but 5 of 5 people",
        ),
        (
            {"known": ["age=49", "gender=F", "grade=Z"], "population": REGISTER},
            "DataError: everybody in register.csv who fits has a record in D1.csv that contradicts",
        ),
    ],
)
def test_a_bad_question_is_refused_in_one_line(question: dict[str, Any], message: str) -> None:
    with pytest.raises((DataError, StudyError)) as raised:
        target(students(), **question)
    said = f"{type(raised.value).__name__}: {raised.value}"
    assert "\n" not in said
    assert re.match(message, said), said


def test_a_record_that_weighs_nothing_cannot_be_the_targets() -> None:
    people = pa.table({"age": [20, 30, 30, 40], "ill": list("abca"), "w": ["2", "0", "1", "0"]})
    outcome = target(read(people), prior_weight="w", known=["age=30"], sensitive=["ill"])
    assert (outcome.candidate_records.tolist(), outcome.certain) == ([2], True)
    assert (outcome.naming.prior, outcome.naming.posterior) == (Fraction(2, 3), Fraction(1))
    assert [each.value for each in outcome.secrets[0].values] == ["c", "a"]
    with pytest.raises(
        DataError, match="every record of the frame that fits what is known weighs 0"
    ):
        target(read(people), prior_weight="w", known=["age=40"], sensitive=["ill"])


def test_records_may_differ_in_worth() -> None:
    people = read(pa.table({"age": [20, 30, 30], "debt": ["2.5", "1", "4"], "w": [2, 3, 1]}))
    plain = target(people, known=["age=30"], gains={(): RecordWorth("debt")}).naming_gain
    assert plain is not None
    assert (plain.prior, plain.posterior) == (Fraction(4, 3), Fraction(2))
    weighed = target(people, known=["age=30"], gains={(): RecordWorth("debt")}, prior_weight="w")
    assert weighed.naming_gain is not None
    assert weighed.naming_gain.prior == Fraction(5, 6)
    assert weighed.naming_gain.posterior == Fraction(1)


def test_candidates_are_numbered_as_in_the_file() -> None:
    table = students().of_records(np.arange(5, 10))
    assert target(table, known=["grade=D"]).candidate_records.tolist() == [8, 9]


def test_a_secret_that_was_not_inferred_is_not_found() -> None:
    outcome = target(students(), known=["age=25"])
    with pytest.raises(StudyError, match='secret "grade" is not in the outcome; it has "disab'):
        outcome.secret("grade")


def test_values_that_no_record_has_any_more_are_not_listed_and_have_no_worth() -> None:
    table = students().of_records(np.arange(5, 10))
    outcome = target(table, known=["gender=F"], sensitive=["grade"])
    assert [each.value for each in outcome.secrets[0].values] == ["C", "E", "D"]
    with pytest.raises(StudyError, match='value "A" is not in column "grade"'):
        target(table, known=["gender=F"], sensitive=["grade"], gains={("grade",): {"A": 9, "*": 1}})
