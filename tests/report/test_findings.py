"""The sentences, word for word, and what they may never say."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from glasshouse.language import percentage, speaking
from glasshouse.measures.attacks import best_by_size, by_knowledge, growth, learned, widest
from glasshouse.microdata import Assessment, Sweep, assess, sweep
from glasshouse.mitigation.anatomy import assess_by_group
from glasshouse.qif import Tries
from glasshouse.report import Severity
from glasshouse.report.assess.findings import findings
from glasshouse.report.assess.front import tiles
from glasshouse.report.attacks import stage_labels
from glasshouse.report.severity import graded
from glasshouse.report.words import money, share
from glasshouse.table import read
from glasshouse.table.collection import collect
from tests.report.snapshots import assert_snapshot

STUDENTS = pa.table(
    {
        "age": [25, 25, 25, 25, 25, 49, 49, 49, 49, 60],
        "gender": list("FFFMMFFFMM"),
        "home_town": ["x"] * 10,
        "grade": list("AACBBCCEDD"),
        "number": range(10),
    }
)


def assessed(known: list[str], secrets: list[str]) -> Assessment:
    return assess(read(STUDENTS, quasi_identifiers=known, sensitive=secrets))


def said(assessment: Assessment, subject: str = "person") -> list[str]:
    return [finding.sentence for finding in findings(assessment, subject=subject)]


def test_what_is_found_of_ten_students() -> None:
    assert said(assessed(["age", "gender"], ["grade"]), "student") == [
        (
            "2 of the 10 students (20.0%) can be identified outright by anyone who knows their age "
            "and gender. A best guess at who it is would be right in 50.0% of cases."
        ),
        (
            "Someone who knows a student's age and gender learns the grade of 4 students with "
            "certainty (40.0%). A guess at it is right in 80.0% of cases, up from 30.0%."
        ),
        "2 students (20.0%) are unique on age and gender. 8 students (80.0%) share theirs with only 1 to 3 others.",
    ]


FEW = {
    ("1", "2", "2"): (
        "1 person (33.3%) is unique on number. 2 people (66.7%) share theirs with only 1 to 3 others.",
        "Quanto a number, 1 pessoa (33,3%) é caso único. 2 pessoas (66,7%) só têm de 1 a 3 pessoas iguais.",
    ),
    ("1", *"22222"): (
        "1 person (16.7%) is unique on number.",
        "Quanto a number, 1 pessoa (16,7%) é caso único.",
    ),
    ("1", "1", "2", "2"): (
        "All 4 people share their number with only 1 to 3 others.",
        "Em number, todos (4 pessoas) têm apenas de 1 a 3 pessoas iguais.",
    ),
    ("1", "1", *"22222"): (
        "2 people (28.6%) share their number with only 1 to 3 others.",
        "Quanto a number, os registros de 2 pessoas (28,6%) são iguais aos de apenas 1 a 3 outras pessoas.",
    ),
}
"""Who is alone and who has little company, by the values of a column, in both languages."""


@pytest.mark.parametrize("values", FEW, ids="".join)
def test_who_is_alone_is_told_apart_from_who_has_little_company(values: tuple[str, ...]) -> None:
    assessment = assess(
        read(pa.table({"number": list(values)}), quasi_identifiers=["number"], sensitive=[])
    )
    for code, expected in zip(("en", "pt-BR"), FEW[values], strict=True):
        with speaking(code):
            assert expected in said(assessment)


def test_the_first_screen_says_how_many_are_alone() -> None:
    (_, alone, *_) = tiles(assessed(["age", "gender"], []), subject="student")
    assert (
        alone.sentence == "of the students look like at most 3 others; 20.0% look like nobody else"
    )


def test_a_safe_release_is_said_to_be_safe() -> None:
    found = findings(assessed(["home_town"], ["grade"]))
    assert [finding.sentence for finding in found] == [
        (
            "None of the 10 people can be identified outright by someone who knows their home town, "
            "and who guesses no better than without that knowledge: right in 10.0% of cases."
        ),
        (
            "Someone who knows a person's home town cannot be certain of anybody's grade. Guesses at "
            "it are right in 30.0% of cases, with or without that knowledge."
        ),
        "Every person shares home town with at least 9 others.",
    ]
    assert {finding.severity for finding in found} == {Severity.SAFE}


def test_where_everybody_is_named_that_nobody_has_company_is_not_told_again() -> None:
    assert said(assessed(["number"], [])) == [
        "Every one of the 10 people can be identified outright by anyone who knows their number."
    ]


def test_a_secret_that_all_share_is_told_by_the_release_itself() -> None:
    found = findings(assessed(["age"], ["home_town"]))[1]
    assert found.sentence == (
        "Everybody in the release has the same home town: it is enough to know that someone is in it."
    )
    assert found.severity is Severity.NOTE


def test_every_sensitive_attribute_has_a_finding_of_its_own_and_the_one_most_at_risk_comes_first() -> (
    None
):
    people = pa.table(
        {
            "age": list("aabb") * 5,
            "ill": list("yynn") * 5,
            "sex": list("FMFM") * 5,
            "vote": list("LLLRRRLR") * 2 + list("LLRR"),
        }
    )
    outcome = assess(read(people, quasi_identifiers=["age"], sensitive=["sex", "vote", "ill"]))
    _, worst, second, third, *_ = findings(outcome)
    assert worst.severity is Severity.HIGH
    assert "learns the ill of 20 people with certainty" in worst.sentence
    assert second.severity is Severity.MODERATE
    assert second.sentence == (
        "Someone who knows a person's age cannot be certain of anybody's vote. A guess at it is "
        "right in 60.0% of cases, up from 50.0%."
    )
    assert third.severity is Severity.SAFE
    assert third.sentence == (
        "Someone who knows a person's age cannot be certain of anybody's sex. Guesses at it are "
        "right in 50.0% of cases, with or without that knowledge."
    )
    assert second.figure == (
        "exactly: right guesses 10/20 before, 12/20 after; certain of 0 of 20 records"
    )


def test_one_record_is_one_person() -> None:
    outcome = assess(read(STUDENTS.slice(0, 1), quasi_identifiers=["age"]))
    assert said(outcome, "employee")[0] == (
        "The release is about one employee only: anyone who knows who it is knows the whole record."
    )


def test_vowels_have_their_article() -> None:
    known = said(assessed(["age"], ["grade"]), "employee")[1]
    assert known.startswith("Someone who knows an employee's")


SAFE_AND_NOT = pa.table(
    {
        "sex": ["F", "M"] * 100,
        "region": [str(i // 50) for i in range(200)],
        "name": [str(i) for i in range(200)],
        "ill": [str(i // 100) for i in range(200)],
    }
)


def swept(known: list[str], secrets: list[str]) -> Sweep:
    return sweep(read(SAFE_AND_NOT, quasi_identifiers=known, sensitive=secrets))


def test_the_most_knowledge_that_is_safe_is_told() -> None:
    last = findings(Assessment.of_sweep(swept(["sex", "region", "name"], [])))[-1]
    assert last.severity is Severity.SAFE
    assert last.sentence == (
        "Someone who knows no more than a person's sex and region cannot identify anybody with "
        "certainty. A best guess at who it is would be right in 4.0% of cases."
    )


def test_more_knowledge_with_which_guesses_are_seldom_right_is_told_too() -> None:
    """One person who is alone disqualifies no set for good: what it comes to is told besides."""
    people = SAFE_AND_NOT.append_column("job", [["clerk"] * 199 + ["mayor"]])
    known = ["sex", "region", "job", "name"]
    last = findings(Assessment.of_sweep(sweep(read(people, quasi_identifiers=known))))[-1]
    assert last.sentence.startswith("Someone who knows no more than a person's sex and region")
    assert last.sentence.endswith(
        "With sex, region and job, 0.5% of the people can be identified outright; a best guess "
        "would be right in 4.5% of cases."
    )


def test_what_is_safe_for_secrets_too_goes_before_more_knowledge() -> None:
    outcome = swept(["sex", "region", "name"], ["ill"])
    last = findings(Assessment.of_sweep(outcome))[-1]
    assert last.sentence == (
        "Someone who knows no more than a person's sex can neither identify anybody nor learn "
        "anybody's ill with certainty. A best guess at who it is would be right in 1.0% of cases."
    )
    only_region = swept(["region", "name"], ["ill"])
    last = findings(Assessment.of_sweep(only_region))[-1]
    assert "no more than a person's region cannot identify anybody" in last.sentence
    assert "for identification only" in last.meaning


def test_tiny_data_has_nothing_safe() -> None:
    outcome = Assessment.of_sweep(
        sweep(read(STUDENTS, quasi_identifiers=["age", "gender", "home_town"]))
    )
    assert "no more than a person's" not in "".join(said(outcome))


def test_the_sweep_tells_what_leaving_out_one_attribute_would_do() -> None:
    outcome = swept(["sex", "region", "name"], [])
    found = [
        finding
        for finding in findings(Assessment.of_sweep(outcome), sweep=outcome)
        if "leaving out" in finding.sentence
    ]
    assert [finding.severity for finding in found] == [Severity.NOTE]
    assert found[0].sentence == (
        "Of single columns, leaving out name helps most: correct identifications would fall from "
        "100% to 4.0%."
    )
    assert found[0].figure == "exactly: 200/200 → 8/200"
    twice = pa.table({"a": list("xyz"), "b": list("xyz")})
    same = sweep(read(twice, quasi_identifiers=["a", "b"]))
    assert any(
        "would change nothing" in finding.sentence
        for finding in findings(Assessment.of_sweep(same), sweep=same)
    )


def test_a_prior_alone_is_not_enough() -> None:
    two = pa.table({"a": ["x", "x"], "b": ["x", "y"]})
    outcome = assess(read(two, quasi_identifiers=["a", "b"]), subsets=[["a"], ["a", "b"]])
    assert "is enough" not in "".join(said(outcome))


@pytest.mark.parametrize(
    ("success", "certain", "people", "severity"),
    [
        (Fraction(201, 1000), 0, 0, Severity.HIGH),
        (Fraction(1, 5), 0, 0, Severity.MODERATE),
        (Fraction(1, 20), 0, 0, Severity.MODERATE),
        (Fraction(1, 21), 0, 0, Severity.LOW),
        (Fraction(1, 10**6), True, 0, Severity.MODERATE),
        (Fraction(1, 10**6), 10, 1000, Severity.MODERATE),
        (Fraction(1, 10**6), 11, 1000, Severity.HIGH),
        (Fraction(1, 10**6), 100, 10**6, Severity.MODERATE),
        (Fraction(1, 10**6), 101, 10**6, Severity.HIGH),
    ],
)
def test_certainty_about_more_than_a_hundred_people_or_one_in_a_hundred_is_a_high_risk(
    success: Fraction, certain: int, people: int, severity: Severity
) -> None:
    assert graded(success, certain=certain, people=people) is severity


def test_certainty_about_a_secret_that_most_share_is_a_high_risk_too() -> None:
    """A guess gains nothing, as nine of ten share the value anyway; but of eight of them it becomes certain."""
    people = pa.table({"age": [*map(str, range(8)), "8", "8"], "walks": [*["y"] * 9, "n"]})
    outcome = assess(read(people, quasi_identifiers=["age"], sensitive=["walks"]))
    _, inferring = outcome.attacks
    assert inferring.probabilistic.additive == 0
    assert inferring.certain == 8
    assert learned(inferring) == Fraction(8, 10)
    assert findings(outcome)[1].severity is Severity.HIGH


@pytest.mark.parametrize(
    ("tries", "said"),
    [
        (
            2,
            "Someone who knows a student's age and gender finds their record within 2 guesses in 80.0% of cases, up "
            "from 20.0%.",
        ),
        (
            1,
            "Someone who knows a student's age and gender finds their record with 1 guess in 50.0% of cases, up from "
            "10.0%.",
        ),
    ],
)
def test_several_tries_are_said_in_per_cent(tries: int, said: str) -> None:
    table = read(STUDENTS, quasi_identifiers=["age", "gender"])
    outcome = assess(table, gains={(): Tries(tries)})
    sentences = [each.sentence for each in findings(outcome, subject="student", tries=tries)]
    assert said in sentences
    with speaking("pt-BR"):
        own = " ".join(each.sentence for each in findings(outcome, tries=tries))
    assert ("em até 2 tentativas" if tries == 2 else "com 1 tentativa") in own


def test_tries_at_a_secret_and_tries_in_vain() -> None:
    table = read(STUDENTS, quasi_identifiers=["age", "gender"], sensitive=["grade"])
    learning = assess(table, gains={("grade",): Tries(2)})
    assert any(
        "gets the grade right within 2 guesses in 100% of cases, up from " in each.sentence
        for each in findings(learning, tries=2)
    )
    alike = read(STUDENTS, quasi_identifiers=["home_town"], sensitive=["grade"])
    for secret, what in (((), "finds their record"), (("grade",), "gets the grade right")):
        *_, told = (
            each
            for each in findings(assess(alike, gains={secret: Tries(2)}), tries=2)
            if what in each.sentence
        )
        assert told.sentence.endswith("of cases, as without that knowledge.")
        assert told.severity is Severity.SAFE


def test_an_anatomy_release_is_told_by_quasi_identifiers_and_by_group() -> None:
    table = pa.table({"age": list("abcd"), "group": list("1122"), "ill": list("xyxx")})
    release = read(table).with_roles(quasi_identifiers=["age"], sensitive=["ill"])
    outcome = assess_by_group(release, "group")
    assert [attack.secret for attack in widest(outcome.attacks)] == [(), ("ill",)]
    assert said(outcome)[:2] == [
        "Every one of the 4 people can be identified outright by anyone who knows their age.",
        (
            "Someone who knows a person's group learns the ill of 2 people with certainty (50.0%), "
            "but on the whole guesses no better than without that knowledge: right in 75.0% of cases."
        ),
    ]


FIRST = {"id": list("1234"), "class": list("AABB"), "sex": list("FMFM"), "ill": list("yyyn")}
SECOND = {"id": list("1235"), "class": list("ABCD")}
THIRD = {"id": list("1234"), "class": list("EEEE")}


def grown(*datasets: tuple[str, dict[str, list[str]]]) -> Assessment:
    """Return what the class, and class and sex, give in growing windows of a collection."""
    tables = [
        read(
            pa.table(columns),
            quasi_identifiers=[name for name in ("class", "sex") if name in columns],
            sensitive=[name for name in ("ill",) if name in columns],
            id="id",
            name=name,
        )
        for name, columns in datasets
    ]
    attacks = [
        attack
        for window in collect(tables).windows()
        for attack in assess(window, subsets=[["class"], ["class", "sex"]]).attacks
    ]
    return Assessment(4, tuple(attacks))


def test_findings_of_a_collection_speak_of_all_datasets_and_of_how_success_grows() -> None:
    outcome = grown(("students-2014.csv", FIRST), ("students-2015.csv", SECOND))
    only_class = [attack for attack in outcome.attacks if attack.quasi_identifiers == ("class",)]
    assert said(Assessment(4, tuple(only_class)), "student") == [
        (
            "Every one of the 4 students can be identified outright by anyone who knows their class "
            "in 2014 and 2015."
        ),
        "With 2014 alone, a best guess at who it is would be right in 50.0% of cases; with 2014 and 2015 together, in "
        "100%.",
        (
            "Someone who knows a student's class in 2014 and 2015 learns the ill of 4 students with "
            "certainty (100%). A guess at it is right in 100% of cases, up from 75.0%."
        ),
    ]


def test_years_in_a_row_are_said_from_first_to_last() -> None:
    outcome = grown(("2014.csv", FIRST), ("2016.csv", THIRD), ("2015.csv", SECOND))
    found = findings(outcome)
    assert found[1].sentence == (
        "With 2014 alone, a best guess at who it is would be right in 100% of cases; 2014 to "
        "2016 together do no better."
    )
    assert found[1].severity is Severity.NOTE, "it is no comfort that all are named already"
    assert found[3].sentence == (
        "Knowing class in each of 2014 to 2016 alone identifies 4 people outright, and makes a "
        "best guess at who it is right in 100% of cases."
    )


def test_windows_are_kept_apart() -> None:
    outcome = grown(("D1.csv", FIRST), ("D2.csv", SECOND), ("D3.csv", THIRD))
    every = ("D1.csv", "D2.csv", "D3.csv")
    assert [
        (len(same[0].datasets), same[0].quasi_identifiers) for same in by_knowledge(outcome.attacks)
    ] == [
        (1, ("class",)),
        (1, ("class", "sex")),
        (2, ("class",)),
        (2, ("class", "sex")),
        (3, ("class",)),
        (3, ("class", "sex")),
    ]
    assert {attack.datasets for attack in widest(outcome.attacks)} == {every}
    assert {attack.quasi_identifiers for attack in widest(outcome.attacks)} == {("class", "sex")}
    assert len(best_by_size(outcome.attacks)) == 3 * 2 * 2  # windows, targets, sizes
    stages = growth(outcome.attacks)
    assert stage_labels(stages) == ["D1", "+ D2", "+ D3"]
    assert [stage[0].probabilistic.posterior for stage in stages] == [1, 1, 1]


def test_a_window_without_the_largest_set_is_represented_by_its_own() -> None:
    outcome = grown(("D1.csv", FIRST), ("D2.csv", SECOND))
    without = [a for a in outcome.attacks if len(a.datasets) == 2 or len(a.quasi_identifiers) == 1]
    known = [stage[0].quasi_identifiers for stage in growth(without)]
    assert known == [("class",), ("class", "sex")]


def test_a_single_window_of_several_datasets_has_nothing_to_grow() -> None:
    outcome = grown(("D1.csv", FIRST), ("D2.csv", SECOND))
    last = [attack for attack in outcome.attacks if len(attack.datasets) == 2]
    first, second, *_ = said(Assessment(4, tuple(last)))
    assert first.endswith(" by anyone who knows their class and sex in D1 and D2.")
    assert second.startswith("Someone who knows a person's class and sex in D1 and D2 ")


def test_where_classes_were_not_counted_nothing_is_said_of_them() -> None:
    outcome = assessed(["age", "gender"], ["grade"])
    empty = replace(outcome.attacks[0].class_sizes, classes=(0,) * 10, records=(0,) * 10)
    attacks = tuple(replace(attack, class_sizes=empty) for attack in outcome.attacks)
    assert findings(Assessment(10, attacks)) == findings(outcome)[:2]


@given(st.fractions(-(10**7), 10**7))
def test_money_is_the_nearest_hundredth(value: Fraction) -> None:
    said = money(value, "R$")
    sign, _, amount = said.rpartition("R$ ")
    assert sign in ("", "−")
    digits = f"{'-' if sign else ''}{amount.replace(',', '')}"
    assert abs(Fraction(digits) - value) <= Fraction(1, 200)
    assert said != "−R$ 0.00"


@given(st.fractions(0, 1))
def test_some_is_never_none_and_nearly_all_is_never_all(probability: Fraction) -> None:
    said = percentage(probability)
    assert (said == "0%") == (probability == 0)
    assert (said == "100%") == (probability == 1)


@given(st.integers(0, 10**9), st.integers(1, 10**9))
def test_a_share_is_never_rounded_to_nothing_or_everything(part: int, rest: int) -> None:
    said = share(part, part + rest)
    assert (said == "0%") == (part == 0)
    assert said != "100%"


LANGUAGES_OF_FOUR = pa.table(  # Alvim et al. 2022, Table 2
    {
        "language": ["English", "Port.", "German", "German"],
        "gender": ["M", "M", "F", "M"],
        "age": [">30", "<=30", "<=30", "<=30"],
    }
)
D1 = {  # Alvim et al. 2022, Table 3
    "id": list(range(1, 11)),
    "gender": list("FFFMMFFFMM"),
    "grade": list("AACBBCCEDD"),
    "disability": ["no", "yes", "yes", "yes", "no", "yes", "yes", "no", "no", "no"],
}
D2 = {"id": [*range(1, 10), 11], "grade": list("BACBBDCEDA")}  # Table 4


def test_snapshot_of_the_languages() -> None:
    table = read(LANGUAGES_OF_FOUR, quasi_identifiers=["gender", "age"], sensitive=["language"])
    outcome = assess(table, gains={("language",): dict.fromkeys(("English", "Port.", "German"), 4)})
    assert_snapshot("languages", lambda: findings(outcome, currency="€"))


def test_snapshot_of_the_two_years() -> None:
    tables = [
        read(
            pa.table(columns),
            quasi_identifiers=[name for name in ("gender", "grade") if name in columns],
            sensitive=[name for name in ("disability",) if name in columns],
            id="id",
            name=name,
        )
        for name, columns in (("D1.csv", D1), ("D2.csv", D2))
    ]
    attacks = [a for window in collect(tables).windows() for a in assess(window).attacks]
    outcome = Assessment(10, tuple(attacks))
    assert outcome.attacks[-1].probabilistic.posterior == Fraction(9, 10)
    assert_snapshot("two-years", lambda: findings(outcome, subject="student"))


def test_snapshot_of_a_sweep() -> None:
    outcome = swept(["sex", "region", "name"], ["ill"])
    assert_snapshot(
        "sweep", lambda: findings(Assessment.of_sweep(outcome), subject="patient", sweep=outcome)
    )
