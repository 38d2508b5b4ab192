"""The report on whether one person is in a release says how likely it is, and that it is personal data."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

import pytest

from glasshouse.microdata.membership import Member, member
from glasshouse.report.members import member_page, member_sentences
from glasshouse.report.page import render
from tests.report.test_document import assert_it_asks_nobody, text
from tests.report.test_memberships import PROVENANCE, people


def one(known: str | set[str], release: str = "abb", town: str = "aaabbc") -> Member:
    return member(people(release, name="trial.csv"), people(town), known={"zip": known})


def test_one_person_may_be_in() -> None:
    assert member_sentences(one({"a", "b"})) == (
        "5 of the 6 people of town.csv fit what is known of this person (zip), and 3 records of trial.csv can be "
        "theirs.",
        "The chance that this person is in trial.csv is 3 in 5; of anybody in town.csv it is 1 in 2.",
    )


@pytest.mark.parametrize(
    ("known", "said"),
    [
        ("b", "It is certain that this person is in trial.csv; of anybody in town.csv the chance of being in"),
        ("c", "It is certain that this person is not in trial.csv; of anybody in town.csv the chance"),
        ({"a", "b", "c"}, "is 1 in 2, the same as of anybody in town.csv: nothing is learned."),
    ],
)  # fmt: skip
def test_one_person_is_in_or_out_or_like_anybody(known: str | set[str], said: str) -> None:
    assert said in member_sentences(one(known))[1]


def test_no_record_and_one_candidate() -> None:
    assert member_sentences(one("c"))[0] == (
        "1 of the 6 people of town.csv fits what is known of this person (zip), and no record of trial.csv can be "
        "theirs."
    )


@pytest.mark.parametrize(
    ("release", "said"),
    [
        ("ab", "It is certain that this person is in trial.csv, as everybody of town.csv is."),
        ("*", "It is certain that this person is not in trial.csv, as nobody of town.csv is."),
    ],
)
def test_one_person_where_everybody_or_nobody_is_in(release: str, said: str) -> None:
    assert member_sentences(one("a", release, "ab"))[1] == said


def test_of_one_person_less_may_be_known_than_of_people_in_general() -> None:
    said = member_sentences(one("a", "a", "aabbbbbbbb"))[1]
    assert said == (
        "The chance that this person is in trial.csv is 1 in 2; of anybody in town.csv it is 1 in 10. Whether this "
        "person is in it is harder to guess than of people in general: a guess is right with a chance of 1 in 2 "
        "instead of 9 in 10."
    )


def test_the_page_on_one_person_says_that_it_is_personal_data() -> None:
    page = member_page(one({"a", "b"}), subject="person", provenance=PROVENANCE)
    assert page.lead == "One of 6 people in town.csv. This report is personal data."
    assert "is itself personal data" in page.assumptions.text
    html = render(page)
    assert_it_asks_nobody(html)
    said = text(html)
    assert "trial 3 50.0 % 60.0 % no" in said
    assert "IMS whether this person is in 0.5 0.6 0.1 × 1.2" in said
    assert "What is known of this person Column Possible values zip a or b" in said


def of_several(known: str, *releases: str) -> Member:
    tables = [people(each, name=f"trial_{2014 + i}.csv") for i, each in enumerate(releases)]
    return member(tables, people("aabbbccccc"), known={"zip": known})


def test_one_person_in_several_releases() -> None:
    outcome = of_several("b", "aab", "ab", "abbb", "c")
    assert member_sentences(outcome) == (
        "3 of the 10 people of town.csv fit what is known of this person (zip).",
        "This person is certainly in 2016, certainly not in 2017, in 2014 with a chance of 1 in 3 and in 2015 with a "
        "chance of 1 in 3.",
        "The best guess at all releases together is in 2016 only, right with a chance of 4 in 9; of anybody in "
        "town.csv the best guess would be in none, right with a chance of 2 in 5.",
    )
    page = member_page(outcome, subject="person", provenance=PROVENANCE)
    html = render(page)
    assert_it_asks_nobody(html)
    said = text(html)
    assert "2016 only 13.3 % 44.4 % 2014 and 2016 only" in said
    assert 'title="4/9">44.4 %</td>' in html
    assert "IML in exactly which releases this person is" in said
    assert ">2014<" in page.figures[0].svg


def test_one_person_whose_releases_are_certain() -> None:
    assert member_sentences(of_several("c", "aab", "ab"))[1:] == (
        "This person is certainly not in 2014 and 2015.",
        "So it is certain in which releases this person is; of anybody in town.csv the best guess would be in none, "
        "right with a chance of 63 in 100.",
    )
    everyone = of_several("a", "aabbbccccc", "aabbbccccc")
    assert member_sentences(everyone)[2] == "Everybody in town.csv is in both: nothing is learned."
    better = of_several("a", "aab", "ab")
    assert member_sentences(better)[2].startswith("Less is known of this person")
    best = of_several("c", "aabb", "abccccc", "c")
    assert member_sentences(best)[2].startswith(
        "The best guess at all releases together is in 2015 only, right with a chance of"
    )


def test_many_sets_of_releases_of_one_person_are_summed_up() -> None:
    releases = [people("a" * 30, name=f"r{i}") for i in range(4)]
    outcome = member(releases, people("a" * 100), known={"zip": "a"})
    page = member_page(outcome, subject="person", provenance=PROVENANCE)
    rows = page.sections[1].tables[0].groups[0].rows
    assert rows[-1][0].text == "… and 6 more sets, together"
    for column in (1, 2):
        assert sum(Fraction(row[column].exact or 0) for row in rows) == 1


def test_many_possible_values_are_cut_short_and_missing_ones_named() -> None:
    outcome = replace(one("a"), known={"zip": tuple("bcdefghijklm"), "x": ("",)})
    said = text(render(member_page(outcome, subject="person", provenance=PROVENANCE)))
    assert "j or k or one of 2 more x (missing)" in said
    nothing = replace(outcome, known={})
    assert "What is known" not in render(
        member_page(nothing, subject="person", provenance=PROVENANCE)
    )
