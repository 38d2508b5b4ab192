"""The sentences, word for word, and what they may never say."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from glasshouse.microdata import Assessment, assess
from glasshouse.report import findings
from glasshouse.report.findings import best_by_size, by_knowledge, growth, stage_labels, widest
from glasshouse.report.words import frequency, money, share
from glasshouse.table import read
from glasshouse.table.collection import collect

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


def test_three_sentences_for_ten_students() -> None:
    assert findings(assessed(["age", "gender"], ["grade"]), subject="student") == (
        "Someone who knows a student's age and gender can name 2 of the 10 students with certainty "
        "(20.0 %), and by guessing would be right for 50 of every 100.",
        "That same person learns the grade of 4 students with certainty (40.0 %), and guesses it "
        "right for 80 of every 100 students; without that knowledge it would be 30 of every 100.",
        "All students look like fewer than 4 others in these respects: generalising or removing an "
        "attribute is what would protect them.",
    )


def test_a_safe_release_is_said_to_be_safe() -> None:
    assert findings(assessed(["home_town"], ["grade"])) == (
        "Someone who knows a person's home town cannot name any of the 10 people with certainty; "
        "a guess is right for 10 of every 100.",
        "That same person learns nobody's grade with certainty, and guesses it no better than "
        "someone who knows nothing of the person: right for 30 of every 100.",
        "Every person looks like at least 9 others in these respects.",
    )


def test_without_a_sensitive_attribute_there_are_still_three_sentences() -> None:
    assert findings(assessed(["number"], [])) == (
        "Someone who knows a person's number can name every one of the 10 people with certainty.",
        "Without that knowledge a guess at a person's record is right for 10 of every 100; with it, "
        "for all.",
        "All people look like fewer than 4 others in these respects: generalising or removing an "
        "attribute is what would protect them.",
    )


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
    assert findings(Assessment(4, tuple(only_class)), subject="student") == (
        "With 2014 and 2015 together, someone who knows a student's class can name every one of the 4 students with "
        "certainty.",
        "With 2014 alone a guess is right for 50 of every 100; with 2014 and 2015 together, for all.",
        "That same person learns the ill of 4 students with certainty (100 %), and guesses it right for all students; "
        "without that knowledge it would be 75 of every 100.",
        "All students look like fewer than 4 others in these respects: generalising or removing an attribute is what "
        "would protect them.",
    )


def test_years_in_a_row_are_said_from_first_to_last() -> None:
    outcome = grown(("2014.csv", FIRST), ("2016.csv", THIRD), ("2015.csv", SECOND))
    assert findings(outcome)[1] == (
        "With 2014 alone a guess is right for all; 2014 to 2016 together give no better."
    )
    assert findings(outcome)[3] == (
        "Already class alone is enough to name all people by guessing, and 4 of them with certainty."
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
    first, second, _ = findings(Assessment(4, tuple(last)))
    assert first.startswith("With D1 and D2 together, someone who knows a person's class and sex")
    assert second.startswith("That same person")


def test_where_classes_were_not_counted_nothing_is_said_of_them() -> None:
    outcome = assessed(["age", "gender"], ["grade"])
    empty = replace(outcome.attacks[0].class_sizes, classes=(0,) * 10, records=(0,) * 10)
    attacks = tuple(replace(attack, class_sizes=empty) for attack in outcome.attacks)
    assert findings(Assessment(10, attacks)) == findings(outcome)[:2]


@given(st.fractions(-(10**7), 10**7))
def test_money_is_the_nearest_hundredth(value: Fraction) -> None:
    said = money(value, "R$")
    sign, _, amount = said.rpartition("R$ ")
    assert sign in ("", "-")
    assert abs(Fraction(f"{sign}{amount.replace(',', '')}") - value) <= Fraction(1, 200)
    assert said != "-R$ 0.00"


@pytest.mark.parametrize(
    ("probability", "words"),
    [
        ("1/2", "50 of every 100"),
        ("1/20", "5 of every 100"),
        ("52/1000", "52 of every 1,000"),
        ("1/48176423", "1 of every 48,176,423"),
        ("999/1000", "more than 99 of every 100"),
        ("3/1000000", "3 of every 1,000,000"),
    ],
)
def test_probabilities_are_said_as_natural_frequencies(probability: str, words: str) -> None:
    assert frequency(Fraction(probability)) == words


@given(st.fractions(0, 1))
def test_some_is_never_none_and_nearly_all_is_never_all(probability: Fraction) -> None:
    said = frequency(probability)
    assert (said == "none") == (probability == 0)
    assert (said == "all") == (probability == 1)


@given(st.fractions(0, Fraction(99, 100)).filter(bool))
def test_a_frequency_is_within_six_per_cent_of_the_probability(probability: Fraction) -> None:
    count, base = (
        int(word.replace(",", "")) for word in frequency(probability).split(" of every ")
    )
    assert abs(Fraction(count, base) / probability - 1) < Fraction(6, 100)


@given(st.integers(0, 10**9), st.integers(1, 10**9))
def test_a_share_is_never_rounded_to_nothing_or_everything(part: int, rest: int) -> None:
    said = share(part, part + rest)
    assert (said == "0 %") == (part == 0)
    assert said != "100 %"
