"""The sentences, word for word, and what they may never say."""

from __future__ import annotations

from fractions import Fraction

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from glasshouse.microdata import Assessment, assess
from glasshouse.report import findings
from glasshouse.report.words import frequency, share
from glasshouse.table import read

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
