"""The reports on who is in a release say it in one unit, and disclose nobody."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction
from pathlib import Path

import pyarrow as pa
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from glasshouse.language import LANGUAGES, percentage, speaking
from glasshouse.measures import measures
from glasshouse.measures.measurement import Measurement
from glasshouse.measures.membership import measured
from glasshouse.measures.verdict import verdict_on
from glasshouse.microdata.presence import PRESENCE_LABELS, Member, Membership, member, membership
from glasshouse.microdata.uniqueness import PopulationRisks, population_risks
from glasshouse.report.html import to_html
from glasshouse.report.membership.everybody import bins, membership_findings
from glasshouse.report.membership.page import page
from glasshouse.report.page import Page, Provenance, Severity
from glasshouse.report.verdict import condition_words, value_words
from glasshouse.study.membership import MembershipStudy
from glasshouse.study.policy import policy_called
from glasshouse.study.question import Adversary, Dataset
from glasshouse.table import EncodedTable, read
from glasshouse.table.treatment import Step
from tests.examples import examples
from tests.report.reading import (
    assert_it_asks_nobody,
    assert_it_says,
    drawn,
    read_text,
    tags,
    tries,
)
from tests.report.snapshots import assert_snapshot

PROVENANCE = Provenance("1.2.3", 'command = "membership"\n', ("trial.csv",))


def people(zips: Sequence[str], *, name: str = "town.csv") -> EncodedTable:
    """Return a table with one person per zip code, such as the letters of a text."""
    return read(pa.table({"zip": list(zips)}), quasi_identifiers=["zip"], name=name)


def who(release: str, town: str) -> Membership:
    return membership(people(release, name="trial.csv"), people(town))


def linked(*releases: str) -> Membership:
    """Return the outcome of releases of some of 26 people alike, each identified by a letter."""
    town = read(
        pa.table({"zip": ["1"] * 26, "id": list("abcdefghijklmnopqrstuvwxyz")}),
        quasi_identifiers=["zip"],
        id="id",
        name="town.csv",
    )
    tables = [
        read(
            pa.table({"zip": ["1"] * len(each), "id": list(each)}),
            quasi_identifiers=["zip"],
            id="id",
            name=f"trial_{2014 + i}.csv",
        )
        for i, each in enumerate(releases)
    ]
    return membership(tables, town)


def page_of(outcome: Membership | Member | PopulationRisks, *, subject: str = "person") -> Page:
    names = ("trial.csv",) if isinstance(outcome, PopulationRisks) else outcome.datasets
    question = MembershipStudy.model_construct(
        datasets=tuple(Dataset(path=Path(name)) for name in names),
        adversary=Adversary.model_construct(),
        subject=subject,
    )
    return page(outcome, question, provenance=PROVENANCE)


def membership_sentences(outcome: Membership, *, subject: str = "person") -> tuple[str, ...]:
    return tuple(finding.sentence for finding in membership_findings(outcome, subject=subject))


def test_who_is_certainly_in_and_out() -> None:
    assert membership_sentences(who("abb", "aaabbc")) == (
        (
            "Someone who knows the zip of everybody in town.csv can say for certain, about 3 of the "
            "6 people (50.0%), whether they are in trial.csv: 2 in it, 1 not."
        ),
        "A guess at who is in trial.csv is right in 83.3% of cases, up from 50.0% without the register.",
    )


def test_nobody_is_certain_and_the_chances_have_bounds() -> None:
    sure, guessed, bounds = membership_sentences(
        who("a" * 4 + "b" * 86, "a" * 100 + "b" * 100), subject="patient"
    )
    assert sure == (
        "Someone who knows the zip of everybody in town.csv cannot say for certain, about any of "
        "the 200 patients, whether they are in trial.csv."
    )
    assert guessed == (
        "A guess at who is in trial.csv is right in 91.0% of cases, up from 55.0% without the register."
    )
    assert bounds == (
        "The chance of being in trial.csv is at least 4.0% and at most 86.0% for everybody."
    )


@pytest.mark.parametrize(
    ("release", "town", "bounds"),
    [
        (
            "ab",
            "aabb",
            "For everybody the chance of being in trial.csv is the same: 50.0%.",
        ),
        (
            "a",
            "aab",
            "chance of being in trial.csv is at least 0% and at most 50.0% for everybody.",
        ),
        (
            "aab",
            "aabb",
            "chance of being in trial.csv is at least 50.0% and at most 100% for everybody.",
        ),
        ("ab", "a" * 250 + "bb", "is at least 0.4% and at most 50.0% for everybody."),
        (
            "ab" * 30,
            "a" * 1000 + "b" * 999,
            "being in trial.csv is nearly the same: 3.0%.",
        ),
    ],
)
def test_bounds_in_words(release: str, town: str, bounds: str) -> None:
    assert membership_sentences(who(release, town))[2].endswith(bounds)


def test_nothing_is_learned_where_a_guess_is_no_better() -> None:
    assert membership_sentences(who("ab", "aaabbb"))[1] == (
        "A guess at who is in trial.csv is right in 66.7% of cases: the register makes it no better."
    )


def test_everybody_is_in() -> None:
    assert membership_sentences(who("aab", "aab")) == (
        "Every one of the 3 people of town.csv is in trial.csv: everybody knows that beforehand, and nothing is "
        "learned.",
        "A guess at who is in trial.csv is right in 100% of cases: the register makes it no better.",
        "For everybody the chance of being in trial.csv is the same: 100%.",
    )


def test_nobody_is_in_as_far_as_records_tell() -> None:
    outcome = who("**", "aabb")
    assert outcome.members == (0,)
    said = membership_sentences(outcome)
    assert said[0].startswith("None of the 4 people of town.csv is in trial.csv")
    assert said[2] == "For everybody the chance of being in trial.csv is the same: 0%."
    assert said[3] == (
        "2 records of trial.csv show nothing but “*” and may be anybody's. They are not counted as being in: to be "
        "out means to be in none of the other records."
    )
    assert "trial 0% 0% – – –" in read_text(page_of(outcome))


def test_all_are_certain() -> None:
    assert membership_sentences(who("aa", "aabb"))[0].endswith(
        "can say for certain, about every one of the 4 people, whether they are in trial.csv: 2 "
        "in it, 2 not."
    )
    assert membership_sentences(who("a", "abb"))[0].endswith("in trial.csv: 1 in it, 2 not.")


def test_the_page_has_the_figures_and_discloses_nobody() -> None:
    outcome = membership(
        people(["zebra1", "zebra2", "zebra2"], name="trial.csv"),
        people(["zebra1", "zebra1", "zebra1", "zebra2", "zebra2", "zebra3"]),
    )
    page = page_of(replace(outcome, steps=(Step("trial.csv", "missing value", "zip", 23, 3),)))
    html = to_html(page)
    assert_it_asks_nobody(html)
    assert "zebra" not in html
    said = read_text(page)
    assert "CMS trial 3 2 1 3 (50.0%) 0.5 0.833333 0.333333 × 1.66667" in said
    assert "trial 0% 100% × 1.66667 50.0% 44.4%" in said
    assert 'title="5/6">0.833333</td>' in html
    assert 'title="4/9">44.4%</td>' in html
    assert "out for sure 1 16.7% above 0, below 10% 0 0%" in said
    assert "30% to below 40% 3 50.0% 40% to below 50% 0 0%" in said
    assert "in for sure 2 33.3%" in said
    assert "trial.csv missing value zip 23 20 3" in said
    assert page.title == "Who is in trial.csv: what town.csv lets an adversary learn"


def test_the_picture_has_a_bar_for_each_chance() -> None:
    assert len(bins()) == len(PRESENCE_LABELS)
    (figure,) = page_of(who("abb", "aaabbc")).pictures
    assert figure.table is not None
    assert len(figure.table.groups[0].rows) == len(PRESENCE_LABELS)
    svg = drawn(figure)
    for label in ("out", "30–40%", "≥ 90%", "in", "out for sure", "in for sure", "16.7%"):
        assert f">{label}<" in svg
    assert ">&lt; 10%<" in svg
    for colour in ("#0072b2", "#b5b5b5", "#d55e00"):
        assert colour in svg


def test_several_releases_together_and_each_alone() -> None:
    outcome = membership(
        [people("aab" * 4, name="trial_2014.csv"), people("ab" * 4, name="trial_2015.csv")],
        people("aabbbccccc" * 4),
    )
    sure, guessed, which = membership_sentences(outcome)
    assert sure == (
        "Someone who knows the zip of everybody in town.csv can say for certain, about 20 of the "
        "40 people (50.0%), in exactly which of the 2 releases they are: 0 in all, 20 in none and "
        "0 in some."
    )
    assert guessed.startswith("A guess at the exact releases that somebody is in is right in")
    assert which == "Of the people of town.csv, 63.3% are in none of the releases."
    page = page_of(outcome)
    assert_it_asks_nobody(to_html(page))
    said = read_text(page)
    assert "CML all together 20 0 20 20 (50.0%)" in said
    assert "CMS 2014 12 8 20 28 (70.0%)" in said
    assert "CMS 2015 8 0 20 20 (50.0%)" in said
    assert "The releases cannot be linked: among people who are alike" in said
    assert (
        "Chance of being in 2014 2015 Number of people Share Number of people Share out for sure 20 50.0"
        in said
    )
    assert drawn(page.pictures[0]).count(">share (%)<") == 2


def test_sets_of_releases_with_few_people_are_told_by_no_other_figure() -> None:
    outcome = linked("abcdefghijk", "abcdefl")
    shares = {pattern: 26 * share for pattern, share in outcome.patterns.items()}
    assert shares == {
        (): 14,
        ("trial_2014.csv",): 5,
        ("trial_2015.csv",): 1,
        ("trial_2014.csv", "trial_2015.csv"): 6,
    }
    page = page_of(outcome)
    assert [section.title for section in page.sections] == ["The attacks"]
    assert membership_sentences(outcome)[1] == (
        "In which releases the people are is not shown, as fewer than 10 of them are in the same ones."
    )
    assert "CML all together 18 not shown not shown 0 (0%) not shown" in read_text(page)


def test_in_too_few_to_say() -> None:
    few = membership(
        [people("a", name="t_2014.csv"), people("b", name="t_2015.csv")], people("aabb")
    )
    assert membership_sentences(few)[2] == (
        "In which releases the people are is not shown, as fewer than 10 of them are in the same ones."
    )
    assert "3 other sets together 100%" in read_text(page_of(few))


@pytest.mark.parametrize(
    ("patterns", "said"),
    [
        ({(): Fraction(1)}, "None of the 10 people of town.csv is in a and b:"),
        ({("a", "b"): Fraction(1)}, "Every one of the 10 people of town.csv is in a and b:"),
        ({("b",): Fraction(1)}, "is in b, and in no other release: everybody knows"),
    ],
)
def test_everybody_in_the_same_releases(
    patterns: dict[tuple[str, ...], Fraction], said: str
) -> None:
    two = membership([people("aa", name="a"), people("aa", name="b")], people("aa" * 5))
    settled = replace(
        two, patterns=patterns, deterministic=replace(two.deterministic, prior=Fraction(1))
    )
    assert said in membership_sentences(settled)[0]


def test_many_sets_of_releases_are_summed_up() -> None:
    releases = [people("a" * 300, name=f"r{i}") for i in range(4)]
    page = page_of(membership(releases, people("a" * 1000)))
    (table,) = page.sections[1].tables
    rows = table.groups[0].rows
    assert len(rows) == 11
    assert rows[-1][0].text == "6 other sets together"
    assert sum(Fraction(row[1].exact or 0) for row in rows) == 1
    assert rows[1][0].text == "r0 only"


@pytest.mark.parametrize(
    "hostile",
    ["<script>alert(1)</script>", '"><img src=x onerror=alert(1)>', "\u202eevil\x1b", "a\nb", "</svg><b>"],
)  # fmt: skip
def test_hostile_names_and_values_are_text(hostile: str) -> None:
    def table(values: list[str], name: str) -> EncodedTable:
        return read(pa.table({hostile: values}), quasi_identifiers=[hostile], name=name)

    town = table([hostile, hostile, "b", "c"], f"{hostile}.csv")
    releases = [table([hostile, "b"], f"{hostile}{i}") for i in range(2)]
    outcomes: list[Membership | Member | PopulationRisks] = [
        membership(releases, town),
        membership(releases[0], town),
        member(releases, town, known={hostile: hostile}),
        population_risks(releases[0], fraction=0.5),
    ]
    for outcome in outcomes:
        html = to_html(page_of(outcome, subject=hostile))
        assert_it_asks_nobody(html)
        assert not {"script", "img", "b"} & {tag for tag, _ in tags(html)}
        assert all(character.isprintable() or character == "\n" for character in html)


def test_what_worries_and_what_does_not() -> None:
    def severities(release: str, town: str) -> list[Severity]:
        return [finding.severity for finding in membership_findings(who(release, town))]

    assert severities("abb", "aaabbc") == [Severity.HIGH, Severity.HIGH]
    assert severities("ab" * 5, "ab" * 20) == [Severity.SAFE] * 3
    assert severities("a" * 30 + "b", "a" * 60 + "b")[0] == Severity.HIGH, "1 of 61 is more than 1%"
    assert severities("a" * 60 + "b", "a" * 120 + "b")[0] == Severity.MODERATE
    assert severities("aab", "aab") == [Severity.SAFE] * 3


EXAMPLES = {
    "membership": who("abb" * 20, "aaabbc" * 20),
    "membership-safe": who("ab" * 20, "aabb" * 20),
    "membership-bounds": who("a" * 4 + "b" * 86, "a" * 100 + "b" * 100),
    "membership-everybody": who("aab", "aab"),
    "membership-several": membership(
        [people("aab" * 20, name="trial_2014.csv"), people("ab" * 20, name="trial_2015.csv")],
        people("aabbbccccc" * 20),
    ),
    "membership-suppressed": who("**", "aabb"),
}


@pytest.mark.parametrize("example", EXAMPLES)
def test_what_reports_say_is_kept(example: str) -> None:
    assert_snapshot(example, lambda: membership_findings(EXAMPLES[example], subject="student"))


UP_FROM = {"en": "up from", "pt-BR": "com o cadastro, contra"}
"""What says that a guess gets better."""


@tries("membership", "no better", "hardly better", "up from {before}")
@settings(max_examples=examples(40), deadline=None)
@given(st.lists(st.tuples(st.integers(0, 6), st.integers(0, 6)), min_size=2, max_size=5))
@example([(5000, 3000), (1, 2)])
def test_what_compares_says_the_numbers_of_the_outcome(classes: list[tuple[int, int]]) -> None:
    letters = "abcde"
    release = "".join(letters[i] * inside for i, (inside, _) in enumerate(classes))
    town = "".join(letters[i] * sum(counts) for i, counts in enumerate(classes))
    if not release or len(release) == len(town):
        return
    outcome = who(release, town)
    guess, low, high = outcome.probabilistic, outcome.delta_min, outcome.delta_max
    assert low is not None
    assert high is not None
    for language in LANGUAGES:
        with speaking(language):
            sure, guessed, *bounds = membership_sentences(outcome)
        share = Fraction(outcome.certain, outcome.people)
        assert_it_says(sure, *([share] if 0 < share < 1 else []))
        better = percentage(guess.prior) != percentage(guess.posterior)
        assert (UP_FROM[language] in guessed) == better
        assert_it_says(guessed, *([guess.posterior, guess.prior] if better else [guess.posterior]))
        assert bool(bounds) == (low > 0 or high < 1), "from 0 to 1 is told as certainty already"
        if bounds:
            same = percentage(low) == percentage(high)
            assert_it_says(bounds[0], *([high] if same else [low, high]))


def test_the_first_screen_says_for_how_many_it_is_certain_and_what_to_do() -> None:
    page = page_of(who("abb" * 20, "aaabbc" * 20), subject="student")
    assert page.first_sentence == (
        "33.3% of students are certainly in “trial”, and 16.7% certainly not."
    )
    assert [tile.figure for tile in page.tiles] == ["33.3%", "16.7%", "50.0% → 83.3%", "2.2%"]
    assert [(tile.title, tile.sentence) for tile in page.tiles[:2]] == [
        ("Who is certainly in it", "40 of the 120 students"),
        ("Who is certainly not in it", "20 of the 120 students"),
    ]
    (action,) = page.actions
    assert action.command.startswith("glasshouse protect trial.csv -q zip")
    several = page_of(EXAMPLES["membership-several"])
    assert several.first_sentence.startswith("“2014” reveals most: ")
    assert several.first_sentence.endswith(" certainly not.")
    assert several.actions[0].command == "", "two releases are not protected by one command"


@pytest.mark.parametrize(
    ("code", "value", "condition", "titles"),
    [
        (
            "en",
            "33.3%",
            "people who are certainly in it, as the release reveals",
            ["Who is certainly in it", "Who is certainly not in it"],
        ),
        (
            "pt-BR",
            "33,3%",
            "pessoas que, pelo que a base revela, com certeza estão nela",
            ["Quem com certeza está nela", "Quem com certeza não está nela"],
        ),
    ],
)
def test_a_rule_counts_who_is_certainly_in_and_the_page_shows_who_is_not(
    code: str, value: str, condition: str, titles: list[str]
) -> None:
    """Being in a clinic's file gives something away; not being in it does not."""
    outcome = who("abb" * 20, "aaabbc" * 20)
    with speaking(code):
        verdict = verdict_on(
            measures(outcome, MembershipStudy.model_construct()), policy_called("open-data")
        )
        assert verdict is not None
        judged = next(
            one for one in verdict.judgements if one.condition.measure == "membership-certain"
        )
        assert (condition_words(judged), value_words(judged.measured)) == (condition, value)
        assert Measurement.from_dict(judged.measured.to_dict()) == judged.measured
        with_others = {**judged.measured.to_dict(), "value": "1/2", "inside": "1/3"}
        assert Measurement.from_dict(with_others) == judged.measured, "as older versions wrote it"
        assert [tile.title for tile in page_of(outcome).tiles[:2]] == titles


def test_who_is_certainly_not_in_it_fails_no_rule() -> None:
    outcome = who("a" * 20, "a" * 60 + "b" * 60)
    (certain, *_) = measured(outcome)
    assert (outcome.certainly_in, outcome.certainly_out) == (0, 60)
    assert certain.measure == "membership-certain"
    assert certain.value == 0
