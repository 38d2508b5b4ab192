"""The reports on membership: of everybody they disclose nobody, of one person they say that they do."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction

import pyarrow as pa
import pytest

from glasshouse.microdata.membership import (
    PRESENCE_LABELS,
    Member,
    Membership,
    member,
    membership,
)
from glasshouse.microdata.uniqueness import Estimate, population_risks
from glasshouse.report.memberships import (
    PRESENCE,
    member_page,
    member_sentences,
    membership_page,
    membership_sentences,
    population_page,
    population_sentences,
)
from glasshouse.report.page import Page, Provenance, render
from glasshouse.table import EncodedTable, read
from glasshouse.table.treatment import Step
from tests.report.test_document import assert_it_asks_nobody, tags, text

PROVENANCE = Provenance("1.2.3", 'command = "membership"\n', {"trial.csv": "0" * 64})


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


def page_of(outcome: Membership) -> Page:
    return membership_page(outcome, subject="person", provenance=PROVENANCE)


def test_who_is_certainly_in_and_out() -> None:
    assert membership_sentences(who("abb", "aaabbc")) == (
        "Someone who knows a person's zip from town.csv is certain of 3 of the 6 people (50.0 %) whether they are in "
        "trial.csv: 2 are in it and 1 is not.",
        "A guess at whether a person is in it is right for 83 of every 100 people; without that knowledge it would be "
        "50 of every 100.",
        "From person to person the chance of being in it varies between 0 (out for sure) and 1 (in for sure).",
    )


def test_nobody_is_certain_and_the_chances_have_bounds() -> None:
    sure, guessed, bounds = membership_sentences(
        who("a" * 4 + "b" * 86, "a" * 100 + "b" * 100), subject="patient"
    )
    assert sure == (
        "Someone who knows a patient's zip from town.csv is certain of nobody of the 200 patients whether they are in "
        "trial.csv."
    )
    assert guessed == (
        "A guess at whether a patient is in it is right for 91 of every 100 patients; without that knowledge it would "
        "be 55 of every 100."
    )
    assert bounds == "For everybody the chance of being in it lies between 4 and 86 of every 100."


@pytest.mark.parametrize(
    ("release", "town", "bounds"),
    [
        ("ab", "aabb", "For everybody the chance of being in it is the same: 50 of every 100."),
        (
            "a",
            "aab",
            "the chance of being in it varies between 0 (out for sure) and 50 of every 100.",
        ),
        (
            "aab",
            "aabb",
            "the chance of being in it varies between 50 of every 100 and 1 (in for sure).",
        ),
        ("ab", "a" * 250 + "bb", "lies between 1 of every 250 and 50 of every 100."),
        ("ab" * 30, "a" * 1000 + "b" * 999, "being in it is nearly the same: 3 of every 100."),
    ],
)
def test_bounds_in_words(release: str, town: str, bounds: str) -> None:
    assert membership_sentences(who(release, town))[2].endswith(bounds)


def test_nothing_is_learned_where_a_guess_is_no_better() -> None:
    assert membership_sentences(who("ab", "aaabbb"))[1] == (
        "A guess at whether a person is in it is right for 67 of every 100 people: no better than without that "
        "knowledge."
    )


def test_everybody_is_in() -> None:
    assert membership_sentences(who("aab", "aab")) == (
        "Every one of the 3 people of town.csv is in trial.csv: everybody knows that beforehand, and nothing is "
        "learned.",
        "A guess at whether a person is in it is right for all people: no better than without that knowledge.",
        "For everybody the chance of being in it is the same: 1.",
    )


def test_nobody_is_in_as_far_as_records_tell() -> None:
    outcome = who("**", "aabb")
    assert outcome.members == (0,)
    said = membership_sentences(outcome)
    assert said[0].startswith("Nobody of the 4 people of town.csv is in trial.csv")
    assert said[2] == "For everybody the chance of being in it is the same: 0."
    assert said[3] == (
        "2 records of trial.csv show nothing but “*” and may be anybody's. They are not counted as being in: to be "
        "out means to be in none of the other records."
    )
    page = text(render(page_of(outcome)))
    assert "trial 0 % 0 % – – –" in page


def test_all_are_certain() -> None:
    assert membership_sentences(who("aa", "aabb"))[0].endswith(
        "is certain of every one of the 4 people whether they are in trial.csv: 2 are in it and 2 are not."
    )
    assert membership_sentences(who("a", "abb"))[0].endswith("1 is in it and 2 are not.")


def test_the_page_has_the_figures_and_discloses_nobody() -> None:
    outcome = membership(
        people(["zebra1", "zebra2", "zebra2"], name="trial.csv"),
        people(["zebra1", "zebra1", "zebra1", "zebra2", "zebra2", "zebra3"]),
    )
    page = membership_page(
        outcome,
        subject="person",
        provenance=PROVENANCE,
        treatment=[Step("trial.csv", "missing value", "zip", 9, 3)],
        notes=["A note."],
    )
    html = render(page)
    assert_it_asks_nobody(html)
    assert "zebra" not in html
    said = text(html)
    assert "CMS trial 3 2 1 3 (50.0 %) 0.5 0.833333 0.333333 × 1.66667" in said
    assert "trial 0 % 100 % × 1.66667 50.0 % 44.4 %" in said
    assert 'title="5/6">0.833333</td>' in html
    assert 'title="4/9">44.4 %</td>' in html
    assert "out for sure 1 16.7 % above 0, below 10 % 0 0 %" in said
    assert "30 % to below 40 % 3 50.0 % 40 % to below 50 % 0 0 %" in said
    assert "in for sure 2 33.3 %" in said
    assert "trial.csv missing value zip 9 6 3 A note." in said
    assert page.title == "Who is in trial.csv: what town.csv lets an adversary learn"


def test_the_picture_has_a_bar_for_each_chance() -> None:
    assert len(PRESENCE) == len(PRESENCE_LABELS)
    (figure,) = page_of(who("abb", "aaabbc")).figures
    for label in ("out", "30–40 %", "≥ 90 %", "in", "out for sure", "in for sure", "16.7 %"):
        assert f">{label}<" in figure.svg
    assert ">&lt; 10 %<" in figure.svg
    for colour in ("#0072b2", "#b5b5b5", "#d55e00"):
        assert colour in figure.svg


def test_several_releases_together_and_each_alone() -> None:
    outcome = membership(
        [people("aab" * 2, name="trial_2014.csv"), people("ab" * 2, name="trial_2015.csv")],
        people("aabbbccccc" * 2),
    )
    sure, guessed, which = membership_sentences(outcome)
    assert sure == (
        "Someone who knows a person's zip from town.csv is certain of 10 of the 20 people (50.0 %) in exactly which of "
        "the 2 releases they are: nobody is in all of them, 10 are in none, nobody is in some."
    )
    assert guessed.startswith("A guess at the exact set of releases is right for")
    assert which == "Of the people, 63 of every 100 are in none."
    page = page_of(outcome)
    html = render(page)
    assert_it_asks_nobody(html)
    said = text(html)
    assert "CML all together 10 0 10 10 (50.0 %)" in said
    assert "CMS 2014 6 4 10 14 (70.0 %)" in said
    assert "CMS 2015 4 0 10 10 (50.0 %)" in said
    assert "The releases cannot be linked: among people who are alike" in said
    assert "Chance of being in 2014 2015 People Share People Share out for sure 10 50.0 %" in said
    assert page.figures[0].svg.count(">share (%)<") == 2


def test_sets_of_releases_with_few_people_are_summed_up() -> None:
    outcome = linked("abcdefghijk", "abcdefl")
    shares = {pattern: 26 * share for pattern, share in outcome.patterns.items()}
    assert shares == {
        (): 14,
        ("trial_2014.csv",): 5,
        ("trial_2015.csv",): 1,
        ("trial_2014.csv", "trial_2015.csv"): 6,
    }
    (table,) = page_of(outcome).sections[1].tables
    assert [(row[0].text, row[1].exact) for row in table.groups[0].rows] == [
        ("none", "7/13"),
        ("both", "3/13"),
        ("2 other sets together", "3/13"),
    ]
    assert "2015 only" not in " ".join(membership_sentences(outcome))
    assert (
        page_of(outcome).sections[1].intro.startswith("The releases were linked by an identifier.")
    )


def test_in_too_few_to_say() -> None:
    few = membership(
        [people("a", name="t_2014.csv"), people("b", name="t_2015.csv")], people("aabb")
    )
    assert membership_sentences(few)[2] == (
        "In which releases the people are is not told: they are too few."
    )
    assert "3 other sets together 100 %" in text(render(page_of(few)))


@pytest.mark.parametrize(
    ("patterns", "said"),
    [
        ({(): Fraction(1)}, "Nobody of the 10 people of town.csv is in a and b:"),
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


SAMPLE = read(
    pa.table({"zip": [str(i) for i in range(60)] + [str(i) for i in range(40, 60)] + ["x"] * 20}),
    quasi_identifiers=["zip"],
    name="sample.csv",
)


def estimated(name: str, uniques: float | None, note: str = "") -> Estimate:
    return Estimate(
        name,
        f"{name} 1999",
        uniques,
        None if uniques is None else uniques / 1000,
        None if uniques is None else 0.3,
        converged=uniques is not None,
        note=note,
    )


RISKS = replace(
    population_risks(SAMPLE, fraction=Fraction(1, 10)),
    quasi_identifiers=("age", "sex"),
    uniques=40,
    marketer=Fraction(6, 100),
    marketer_expected=0.07,
    marketer_by_classes=0.08,
    population_classes=80.2,
    estimates=(
        estimated("Zayatz", 90.0),
        estimated("Pitman", 120.0, "a remark"),
        estimated("SNB", None, "it needs classes of one record and of two"),
        estimated("Dankar", 120.0, "takes Pitman"),
    ),
)
"""Of 100 records, 60 classes."""


def test_what_is_estimated_is_called_so() -> None:
    assert population_sentences(RISKS) == (
        "40 of the 100 records of sample.csv are alone with their age and sex; of these, an estimated 12 (30.0 %) are "
        "alone in the whole population, too. In the population of about 1,000 people, an estimated 120 (12.0 %) are "
        "alone.",
        "This is estimated, not counted, and the estimators differ: from 90 (Zayatz) to 120 (Pitman) people; the "
        "estimate of Pitman is taken, by the rule of Dankar et al. 2012; SNB found no answer.",
        "Someone with a register of the population would name an estimated 6 to 8 of every 100 records right, and one "
        "of the most exposed records with an estimated chance of 1 in 10.",
    )


def test_the_estimators_are_shown_with_the_one_that_is_taken() -> None:
    page = population_page(RISKS, subject="person", provenance=PROVENANCE)
    html = render(page)
    assert_it_asks_nobody(html)
    said = text(html)
    assert "Zayatz Zayatz 1999 90 9.0 % 30.0 % yes – taken: Pitman Pitman 1999 120" in said
    assert "SNB SNB 1999 – – – no it needs classes of one record and of two" in said
    assert "Highest chance that a record is named (journalist), estimated 10.0 %" in said
    assert "The same with the number of classes in the population, estimated 8.0 %" in said
    assert ">120<" in page.figures[0].svg
    assert page.lead.startswith("100 records, 10.0 % of a population of about 1,000 people;")
    assert html.count("taken:") == 1


@pytest.mark.parametrize(
    ("change", "place", "said"),
    [
        ({"uniques": 0}, 0, "None of the 100 records of sample.csv is alone with its age and sex: nobody in"),
        ({"uniques": 0}, 0, "is alone in the population. In the population of about 1,000 people, an estimated 120"),
        ({"uniques": 1}, 0, "1 of the 100 records of sample.csv is alone with its age and sex; of these, an"),
        ({"uniques": 1}, 1, "by the rule of Dankar et al. 2012, although it is more than fits the release; SNB"),
        ({"uniques": 4}, 0, "of these, an estimated 1 (30.0 %) is alone in the whole population, too. In"),
        ({"fraction": Fraction(1)}, 1, "The release is said to be the whole population: nothing is left"),
        ({"suppressed": 2}, 3, "2 further records show nothing but “*” and are left out."),
        ({"suppressed": 1}, 3, "1 further record shows nothing but “*” and is left out."),
        ({"journalist_highest": Fraction(1)}, 2, "with an estimated chance of 1 (certain)."),
        ({"marketer_expected": 0.06, "marketer_by_classes": 0.0600001}, 2, "an estimated 6 of every 100 records right"),
        (
            {"estimates": (estimated("Zayatz", 0.2), estimated("Dankar", 0.2))},
            0,
            "an estimated fewer than 1 (< 0.1 %) is alone.",
        ),
        (
            {"estimates": (estimated("Zayatz", 5.0), estimated("SNB", 5.0), estimated("Dankar", 5.0, "takes SNB"))},
            1,
            "This is estimated, not counted: the estimate of SNB is taken, by the rule",
        ),
        ({"estimates": (estimated("SNB", None), estimated("Dankar", None))}, 0, "could not be estimated."),
        ({"estimates": (estimated("SNB", None), estimated("Dankar", None))}, 1, "No estimator found an answer."),
    ],
)  # fmt: skip
def test_estimates_at_their_limits(change: dict[str, object], place: int, said: str) -> None:
    risks = replace(RISKS, **change)  # type: ignore[arg-type]
    assert said in population_sentences(risks)[place]
    assert_it_asks_nobody(render(population_page(risks, subject="person", provenance=PROVENANCE)))


@pytest.mark.parametrize("fraction", [0.05, 0.5, 1])
def test_a_real_sample_is_reported_without_its_values(fraction: float) -> None:
    risks = population_risks(SAMPLE, fraction=fraction)
    page = population_page(risks, subject="person", provenance=PROVENANCE)
    html = render(page)
    assert html.count("taken:") == 1
    assert re.search(r">x<", html) is None
    assert all(sentence.endswith(".") for sentence in page.sentences)


@pytest.mark.parametrize(
    "hostile",
    ["<script>alert(1)</script>", '"><img src=x onerror=alert(1)>', "\u202eevil\x1b", "a\nb", "</svg><b>"],
)  # fmt: skip
def test_hostile_names_and_values_are_text(hostile: str) -> None:
    def table(values: list[str], name: str) -> EncodedTable:
        return read(pa.table({hostile: values}), quasi_identifiers=[hostile], name=name)

    town = table([hostile, hostile, "b", "c"], f"{hostile}.csv")
    releases = [table([hostile, "b"], f"{hostile}{i}") for i in range(2)]
    pages = [
        membership_page(membership(releases, town), subject=hostile, provenance=PROVENANCE),
        membership_page(membership(releases[0], town), subject=hostile, provenance=PROVENANCE),
        member_page(
            member(releases, town, known={hostile: hostile}), subject=hostile, provenance=PROVENANCE
        ),
        population_page(
            population_risks(releases[0], fraction=0.5), subject=hostile, provenance=PROVENANCE
        ),
    ]
    for page in pages:
        html = render(page)
        assert_it_asks_nobody(html)
        assert not {"script", "img", "b"} & {tag for tag, _ in tags(html)}
        assert all(character.isprintable() or character == "\n" for character in html)
