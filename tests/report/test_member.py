"""The report on whether one person is in a release says how likely it is, and that it is personal data."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from glasshouse.language import LANGUAGES, speaking
from glasshouse.microdata.presence import Member, member
from glasshouse.report.html import to_html
from glasshouse.report.membership.member import MemberTold
from glasshouse.report.page import Severity
from tests.examples import examples
from tests.report.reading import (
    assert_it_asks_nobody,
    assert_it_says,
    drawn,
    everything,
    read_text,
    tries,
)
from tests.report.snapshots import assert_snapshot
from tests.report.test_membership import page_of, people


def one(known: str | set[str], release: str = "abb", town: str = "aaabbc") -> Member:
    return member(people(release, name="trial.csv"), people(town), known={"zip": known})


def told(outcome: Member) -> tuple[str, ...]:
    """Return what the analyst is told."""
    return tuple(
        finding.sentence for finding in MemberTold(outcome, "person", exact=True).findings()
    )


def reported(outcome: Member) -> tuple[str, ...]:
    """Return what a report says."""
    return tuple(finding.sentence for finding in MemberTold(outcome, "person").findings())


def test_one_person_may_be_in() -> None:
    outcome = one({"a", "b"})
    assert told(outcome) == (
        (
            "5 of the 6 people of town.csv may be this person, judging by what is known (zip); in "
            "trial.csv, 3 records may be theirs."
        ),
        "The chance that this person is in trial.csv is 60.0%; for anybody in town.csv it is 50.0%.",
    )
    assert reported(outcome) == (
        (
            "Fewer than 10 of the 6 people of town.csv may be this person, judging by what is known "
            "(zip); in trial.csv, fewer than 10 records may be theirs."
        ),
        "The chance that this person is in trial.csv is less than 66.7%; for anybody in town.csv it is 50.0%.",
    )


def test_a_report_counts_many() -> None:
    outcome = one({"a", "b"}, "abb" * 20, "aaabbc" * 20)
    assert reported(outcome) == told(outcome)
    assert reported(outcome)[0].startswith("100 of the 120 people of town.csv may be this person")
    assert reported(outcome)[0].endswith("in trial.csv, 60 records may be theirs.")


def test_a_report_does_not_tell_how_few_of_many_are_in() -> None:
    outcome = one("a", "a" * 3 + "b" * 50, "a" * 40 + "b" * 100)
    assert reported(outcome) == (
        (
            "40 of the 140 people of town.csv may be this person, judging by what is known (zip); in "
            "trial.csv, some records may be theirs."
        ),
        (
            "How likely it is that this person is in trial.csv is not shown; for anybody in town.csv "
            "it is 37.9%."
        ),
    )


@pytest.mark.parametrize(
    ("known", "said"),
    [
        ("b", "It is certain that this person is in trial.csv; for anybody in town.csv the chance of being in"),
        ("c", "It is certain that this person is not in trial.csv; for anybody in town.csv the chance"),
        ({"a", "b", "c"}, "is 50.0%, the same as for anybody in town.csv: nothing is learned."),
    ],
)  # fmt: skip
def test_one_person_is_in_or_out_or_like_anybody(known: str | set[str], said: str) -> None:
    assert said in told(one(known))[1]
    assert said in reported(one(known))[1]


def test_no_record_and_one_candidate() -> None:
    assert told(one("c"))[0] == (
        "1 of the 6 people of town.csv may be this person, judging by what is known (zip); in "
        "trial.csv, no record may be theirs."
    )


@pytest.mark.parametrize(
    ("release", "said"),
    [
        ("ab", "It is certain that this person is in trial.csv, as everybody of town.csv is."),
        ("*", "It is certain that this person is not in trial.csv, as nobody of town.csv is."),
    ],
)
def test_one_person_where_everybody_or_nobody_is_in(release: str, said: str) -> None:
    outcome = one("a", release, "ab")
    assert told(outcome)[1] == said
    assert MemberTold(outcome, "person").findings()[1].severity == Severity.SAFE


def test_of_one_person_less_may_be_known_than_of_people_in_general() -> None:
    outcome = one("a", "a", "aabbbbbbbb")
    assert told(outcome)[1] == (
        "The chance that this person is in trial.csv is 50.0%; for anybody in town.csv it is "
        "10.0%. Whether they are in it is harder to guess than for people in general: a guess is "
        "right in 50.0% of cases instead of 90.0%."
    )
    assert reported(outcome)[1] == (
        "The chance that this person is in trial.csv is less than 66.7%; for anybody in town.csv it is 10.0%."
    )


def test_the_page_on_one_person_says_that_it_is_personal_data() -> None:
    page = page_of(one({"a", "b"}, "abb" * 20, "aaabbc" * 20))
    assert page.lead == "One of 120 people in town.csv. This report is personal data."
    assert "is itself personal data" in page.limits[0]
    assert page.limits[2].startswith("glasshouse membership --json prints all of it exactly")
    assert_it_asks_nobody(to_html(page))
    said = read_text(page)
    assert "trial 60 records 50.0% 60.0% no" in said
    assert "IMS say whether the person is in 0.5 0.6 0.1 × 1.2" in said


def test_the_page_on_one_of_few_counts_nobody() -> None:
    page = page_of(one({"a", "b"}))
    said = read_text(page)
    assert "trial fewer than 10 records 50.0% &lt; 66.7% no" in said
    assert "IMS say whether the person is in 0.5 &lt; 66.7% – –" in said
    assert "3/5" not in everything(page)


def test_what_is_known_is_not_in_a_report() -> None:
    releases = people(["zebra1", "zebra2"] * 9, name="trial.csv")
    outcome = member(releases, people(["zebra1", "zebra2"] * 12), known={"zip": "zebra1"})
    for language in ("en", "pt-BR"):
        with speaking(language):
            assert "zebra" not in everything(page_of(outcome))


def of_several(known: str, *releases: str, times: int = 1) -> Member:
    tables = [people(each * times, name=f"trial_{2014 + i}.csv") for i, each in enumerate(releases)]
    return member(tables, people("aabbbccccc" * times), known={"zip": known})


def test_one_person_in_several_releases() -> None:
    outcome = of_several("b", "aab", "ab", "abbb", "c", times=20)
    assert told(outcome) == (
        "60 of the 200 people of town.csv may be this person, judging by what is known (zip).",
        "How likely it is that this person is in each release: certain for 2016; ruled out for 2017; 33.3% for 2014; "
        "33.3% for 2015.",
        (
            "The best guess at which releases hold this person is 2016 only, right in 44.4% of "
            "cases; for anybody in town.csv it would be none of them, right in 40.0%."
        ),
    )
    assert reported(outcome) == told(outcome)
    page = page_of(outcome)
    html = to_html(page)
    assert_it_asks_nobody(html)
    said = read_text(page)
    assert "2016 only 13.3% 44.4% 2014 and 2016 only" in said
    assert 'title="4/9">44.4%</td>' in html
    assert "IML say in exactly which releases the person is" in said
    assert ">2014<" in drawn(page.pictures[0])


def test_sets_of_releases_with_few_people_are_summed_up() -> None:
    outcome = of_several("b", "aab", "ab", "abbb", "c")
    assert "33.3% for 2014" in told(outcome)[1]
    assert "less than 66.7% for 2014" in reported(outcome)[1]
    page = page_of(outcome)
    rows = page.sections[1].tables[0].groups[0].rows
    assert [row[0].text for row in rows] == ["8 other sets together"]
    assert "4/9" not in everything(page)


def test_one_person_whose_releases_are_certain() -> None:
    assert told(of_several("c", "aab", "ab"))[1:] == (
        "How likely it is that this person is in each release: ruled out for 2014 and 2015.",
        "It is certain which releases hold this person: none of them. For anybody in town.csv the best guess would be "
        "none of them, right in 63.3% of cases.",
    )
    everyone = of_several("a", "aabbbccccc", "aabbbccccc")
    assert told(everyone)[2] == (
        "Everybody in town.csv is in the same releases (both): nothing is learned."
    )
    assert told(of_several("a", "aab", "ab"))[2].startswith(
        "Which releases hold this person is harder"
    )
    assert told(of_several("c", "aabb", "abccccc", "c"))[2].startswith(
        "The best guess at which releases hold this person is 2015 only, right in"
    )


def test_many_sets_of_releases_of_one_person_are_summed_up() -> None:
    releases = [people("a" * 300, name=f"r{i}") for i in range(4)]
    outcome = member(releases, people("a" * 1000), known={"zip": "a"})
    rows = page_of(outcome).sections[1].tables[0].groups[0].rows
    assert rows[-1][0].text == "6 other sets together"
    for column in (1, 2):
        assert sum(Fraction(row[column].exact or 0) for row in rows) == 1


def test_nothing_need_be_known() -> None:
    outcome = replace(one({"a", "b", "c"}), known={})
    assert reported(outcome)[0] == (
        "Nothing is known about this person: any of the 6 people of town.csv may be meant."
    )
    assert "of one person, nothing." in page_of(outcome).adversary[0]


EXAMPLES = {
    "member": one({"a", "b"}, "abb" * 20, "aaabbc" * 20),
    "member-few": one({"a", "b"}),
    "member-in": one("b", "abb" * 20, "aaabbc" * 20),
    "member-harder": one("a", "a" * 20, "aabbbbbbbb" * 20),
    "member-several": of_several("b", "aab", "ab", "abbb", "c", times=20),
}


@pytest.mark.parametrize("example", EXAMPLES)
def test_what_reports_say_is_kept(example: str) -> None:
    assert_snapshot(example, lambda: MemberTold(EXAMPLES[example], "student").findings())


HARDER = {"en": "harder to guess", "pt-BR": "mais difícil do que"}
"""What says that a guess gets worse."""


@tries("membership", "is harder to guess than for people in general")
@settings(max_examples=examples(30), deadline=None)
@given(st.integers(0, 9), st.integers(0, 9), st.integers(0, 9), st.integers(0, 9))
def test_what_compares_says_the_numbers_of_the_outcome(a: int, b: int, c: int, d: int) -> None:
    if not a + b or not a + c:
        return
    single = one("a", "a" * a + "b" * c, "a" * (a + b) + "b" * (c + d))
    several = of_several("a", "a" * min(a, 2) + "b" * min(c, 3), "a" + "b" * min(d, 3))
    for language in LANGUAGES:
        with speaking(language):
            said, which = told(single)[1], told(several)[2]
        (present,), guess = single.present, single.guess
        if 0 < present.posterior < 1 > present.prior > 0 and present.additive:
            worse = guess.posterior < guess.prior
            assert (HARDER[language] in said) == worse
            figures = [present.posterior, present.prior]
            assert_it_says(said, *figures, *([guess.posterior, guess.prior] if worse else []))
        guess = several.guess
        if guess.posterior < 1 > guess.prior:
            assert (HARDER[language] in which) == (guess.posterior < guess.prior)
            assert_it_says(which, guess.posterior, guess.prior)


def test_the_first_screen_says_how_likely_the_person_is_to_be_in() -> None:
    page = page_of(EXAMPLES["member"], subject="student")
    assert [(tile.figure, tile.sentence) for tile in page.tiles] == [
        ("60.0%", "is the chance that they are in trial; for anybody in town.csv it is 50.0%"),
        ("100", "of the 120 students fit what is known"),
    ]
    assert page_of(EXAMPLES["member-few"]).tiles[1].figure == "< 10"
