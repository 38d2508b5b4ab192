"""Families in a report: the sentences word for word, the tables, the pictures, and what none of them may show."""

from __future__ import annotations

import json
from dataclasses import replace
from fractions import Fraction
from functools import cache, partial
from itertools import combinations_with_replacement
from xml.etree import ElementTree

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from glasshouse.errors import StudyError
from glasshouse.language import LANGUAGES, speaking
from glasshouse.measures import measures
from glasshouse.measures.assess import _bounded
from glasshouse.measures.measurement import Measurement
from glasshouse.microdata import Leakage
from glasshouse.microdata.parts import Best, Family, FamilyPart
from glasshouse.report import Finding, Provenance, Severity, charts, vega
from glasshouse.report.archive import to_dict
from glasshouse.report.assess import family_charts
from glasshouse.report.assess.family import family_brief, family_findings, family_page, family_table
from glasshouse.report.assess.family_charts import (
    PartGuess,
    family_chart,
    family_chart_table,
)
from glasshouse.report.discretion import Among
from glasshouse.report.html import to_html
from glasshouse.report.page import Table
from glasshouse.study.assess import AssessStudy
from tests.differencing import drawn_rows, figures
from tests.examples import examples
from tests.report.reading import telling
from tests.report.snapshots import assert_snapshot

KNOWN = ("school", "birth_date", "sex")


def part(
    name: str, *figures: str, records: int = 1000, known: tuple[str, ...] = KNOWN
) -> FamilyPart:
    """A part with a prior and the leakages of the best 1, 2, … attributes, in per cent; naming leaks half of it."""
    prior, *leaked = (Fraction(each) / 100 for each in figures)
    best = [
        Best(sensitive, size, known[:size], Leakage(prior, prior + each * factor))
        for sensitive, factor in ((None, Fraction(1, 2)), ("grade", Fraction(1)))
        for size, each in enumerate(leaked, start=1)
    ]
    return FamilyPart(name, records, tuple(best), {None: 1.0, "grade": 1.0})


def of_parts(
    *parts: FamilyPart, ordered: bool = False, sensitive: tuple[str, ...] = ("grade",)
) -> Family:
    return Family(KNOWN, sensitive, ordered, parts)


STATES = of_parts(
    part("RR", "6.34", "33", "38", "50.33", records=100_000),
    part("SE", "6", "12", "13", "19", records=90_000),
    part("SP", "7", "25", "29", "40", records=110_000),
)
YEARS = of_parts(
    part("2019", "10", "20", "30", "35"),
    part("2020", "10", "20", "30", "38", records=1100),
    part("2021", "10", "20", "30", "32.5", records=900),
    ordered=True,
)


def to_svg(chart: vega.Chart) -> str:
    return charts.to_svg(charts.specification(chart))


def texts(svg: str) -> list[str]:
    root = ElementTree.fromstring(svg)
    return [
        "".join(element.itertext()) for element in root.iter("{http://www.w3.org/2000/svg}text")
    ]


def sentences(family: Family, subject: str = "person", *, part: str = "part") -> list[str]:
    return [finding.sentence for finding in family_findings(family, subject, part=part)]


def told(finding: Finding) -> str:
    return " ".join((finding.sentence, finding.figure, finding.meaning, finding.remedy))


def cells(table: Table) -> list[list[str]]:
    return [[cell.text for cell in row] for group in table.groups for row in group.rows]


def test_a_rule_judges_naming_by_the_guess_and_a_secret_by_what_is_added_to_it() -> None:
    question = AssessStudy.model_construct()
    measured = measures(of_parts(part("RR", "7", "12", records=100_000)), question)
    named, learned = Fraction(7 + 6, 100), Fraction(12, 100)
    assert measured == (
        Measurement("best-guess", named, None, None, "RR"),
        Measurement("inference-added", learned, "grade", None, "RR"),
    )


@pytest.mark.parametrize(
    ("value", "people", "judged"),
    [
        (Fraction(9), 500, Fraction(1)),  # a class of so few is judged as one of a single person
        (Fraction(10), 500, Fraction(10)),
        (Fraction(49), 500, Fraction(20)),
    ],
)
def test_the_smallest_class_of_a_part_is_judged_as_a_smaller_one(
    value: Fraction, people: int, judged: Fraction
) -> None:
    told = _bounded(Measurement("smallest-class", value), people)
    assert (told.value, told.is_bound) == (judged, True)


@pytest.mark.parametrize(
    ("value", "people", "judged"),
    [
        (Fraction(0), 500, Fraction(0)),
        (Fraction(1, 500), 500, Fraction(1, 20)),  # twice the smallest count that is told are 4%
        (Fraction(1, 20), 500, Fraction(1, 20)),
        (Fraction(26, 500), 500, Fraction(1, 10)),
        (Fraction(1, 60), 60, Fraction(1, 3)),
        (Fraction(1, 12), 12, Fraction(1)),
    ],
)
def test_a_share_of_a_part_is_judged_as_one_that_tells_of_no_few_people(
    value: Fraction, people: int, judged: Fraction
) -> None:
    told = _bounded(Measurement("named", value), people)
    assert (told.value, told.is_bound) == (judged, True)


def test_what_is_found_of_three_states() -> None:
    found = family_findings(STATES, "student", part="state")
    assert [finding.sentence for finding in found] == [
        "Of the 3 states, knowing a student's school, birth date and sex adds most to right guesses at whose record it "
        "is in RR, 25.2 percentage points (6.3% → 31.5%), and least in SE, 9.5 (6.0% → 15.5%).",
        "Of the 3 states, knowing a student's school, birth date and sex adds most to right guesses at the grade in "
        "RR, 50.3 percentage points (6.3% → 56.7%), and least in SE, 19.0 (6.0% → 25.0%).",
        "Larger states are not better protected: they mostly give away more.",
        (
            "In all of the 3 states, knowing school alone already gives half or more of what 3 facts "
            "add to right guesses at the grade."
        ),
    ]
    high, note = Severity.HIGH, Severity.NOTE
    assert [finding.severity for finding in found] == [high, high, note, note]
    assert found[1].figure == (
        "RR: 6,340/100,000 before, 56,670/100,000 after; SE: 5,400/90,000 before, 22,500/90,000 after"
    )
    assert found[2].meaning == "With only 3 states this may be chance."


def moves(family: Family) -> tuple[Finding, Finding]:
    """What changed over the years: at whose record it is, and at the grade."""
    naming, grade = (
        finding
        for finding in family_findings(family)
        if "Of the" not in finding.sentence and "better protected" not in finding.sentence
    )
    return naming, grade


def test_over_the_years_the_change_is_told() -> None:
    naming, moved = moves(YEARS)
    assert naming.sentence == (
        "From 2019 to 2021, what knowing the facts adds to right guesses at whose record it is fell from 17.5 to 16.3 "
        "percentage points."
    )
    assert moved.sentence == (
        "From 2019 to 2021, what knowing the facts adds to right guesses at the grade fell from 35.0 to 32.5 "
        "percentage points."
    )
    assert moved.severity is Severity.HIGH
    assert moved.meaning == ("The largest step was from 2020 to 2021: down 5.5 percentage points.")
    same = of_parts(part("2019", "10", "20"), part("2020", "10", "20"), ordered=True)
    assert moves(same)[1].sentence == (
        "From 2019 to 2020 nothing changed: each time knowing the facts adds 20.0 percentage points to right guesses "
        "at the grade."
    )
    there_and_back = [
        part(year, "10", added) for year, added in zip("123", ("20", "30", "20"), strict=True)
    ]
    _, back = moves(of_parts(*there_and_back, ordered=True))
    assert back.sentence.startswith("In 3 knowing the facts adds as much")
    assert back.meaning == "The largest step was from 1 to 2: up 10.0 percentage points."
    two = of_parts(part("2019", "10", "0"), part("2020", "10", "0.01"), ordered=True)
    assert moves(two)[1].sentence.endswith("rose from 0.0 to less than 0.1 percentage points.")
    assert moves(two)[1].meaning == ""


def test_what_the_change_over_the_years_says_already_is_not_said_again() -> None:
    rising = of_parts(
        *(part(f"201{i}", "10", str(20 + i)) for i in range(3)),
        ordered=True,
    )
    assert not any("adds most" in sentence for sentence in sentences(rising))
    assert any("adds most" in sentence for sentence in sentences(YEARS))


@pytest.mark.parametrize(
    ("records", "said"),
    [
        ((1, 2, 3), "are better protected: they nearly always give away less"),
        ((1, 3, 2), "are better protected: they tend to give away less"),
        ((3, 2, 1), "are not better protected: they nearly always give away more"),
        (
            (2, 3, 2),
            "are not better protected: how many people a part has and how much it gives away hardly",
        ),
        ((2, 2, 2), None),
    ],
)
def test_whether_numbers_protect(records: tuple[int, ...], said: str | None) -> None:
    parts = [part(str(i), "5", str(30 - 10 * i), records=n * 1000) for i, n in enumerate(records)]
    protecting = [
        sentence for sentence in sentences(of_parts(*parts)) if "better protected" in sentence
    ]
    assert (said is None) == (protecting == [])
    assert said is None or said in protecting[0]


def test_what_cannot_be_told_is_not_told() -> None:
    one, two = (of_parts(*STATES.parts[:n]) for n in (1, 2))
    assert sentences(one, part="state")[1] == (
        "There is one state only, RR: knowing a person's school, birth date and sex adds 50.3 percentage points to "
        "right guesses at the grade."
    )
    for few in (one, two):
        assert not any("better protected" in sentence for sentence in sentences(few))
    alike = of_parts(*(part(name, "5", "0", records=1000 + i) for i, name in enumerate("ABCD")))
    assert sentences(alike) == [
        *(
            "No part gives away more than another: in each of the 4, knowing a person's school adds 0.0 percentage "
            f"points to right guesses at {goal}."
            for goal in ("whose record it is", "the grade")
        ),
        "Without knowing anything about a person, a guess at the grade is right in 5.0% of cases.",
    ]
    assert family_findings(alike)[0].severity is Severity.SAFE


def test_ties_are_named_together() -> None:
    two = of_parts(*(part(name, "5", added) for name, added in zip("ABC", ("9", "9", "0"), strict=True)))  # fmt: skip
    assert sentences(two)[1] == (
        "Of the 3 parts, knowing a person's school adds most to right guesses at the grade in A and B, 9.0 percentage "
        "points (5.0% → 14.0%), and least in C, 0.0 (5.0% → 5.0%)."
    )
    many = of_parts(*(part(name, "5", "1") for name in "ABCDE"), part("F", "5", "2"))
    assert (
        "in F, 2.0 percentage points (5.0% → 7.0%), and least in A and 4 others, 1.0"
        in (sentences(many)[1])
    )


def test_sets_that_differ_between_parts_are_not_enumerated() -> None:
    other = ("sex", "school", "birth_date")
    found = of_parts(part("A", "5", "9", "10"), part("B", "15", "8", "20", known=other))
    *_, second, last = sentences(found)
    assert "knowing the 2 most telling facts about a person adds most" in second
    assert last == (
        "Without knowing anything about a person, a guess at the grade is right in 5.0% to 15.0% "
        "of cases, depending on the part."
    )


def test_a_set_that_is_enough_in_most_parts_is_said_to_be() -> None:
    found = of_parts(
        part("A", "5", "4", "5", "9"), part("B", "5", "4", "6", "9"), part("C", "5", "1", "2", "9")
    )
    assert sentences(found)[-1] == (
        "In 2 of the 3 parts, knowing school and birth date alone already gives half or more of what 3 facts add to "
        "right guesses at the grade."
    )


def test_without_a_secret_they_speak_of_naming() -> None:
    found = of_parts(*STATES.parts, sensitive=())
    assert "to right guesses at whose record it is in RR, 25.2" in sentences(found)[0]


def test_the_part_that_is_named_first_has_the_larger_figure() -> None:
    """The figure that is told is the one that ranks, also where more is reached elsewhere."""
    parts = of_parts(part("A", "72", "15"), part("B", "87", "4"))
    assert (
        "in A, 15.0 percentage points (72.0% → 87.0%), and least in B, 4.0" in (sentences(parts)[1])
    )
    close = of_parts(part("A", "5", "1.04"), part("B", "5", "1.01"))
    assert "in A, 1.04 percentage points" in sentences(close)[1]


@pytest.mark.parametrize(("column", "is_ranked"), [("COR_RACA", False), ("state", True)])
def test_groups_by_origin_are_not_ranked_by_name(column: str, is_ranked: bool) -> None:
    parts = replace(of_parts(part("A", "5", "9"), part("B", "5", "1")), by=column)
    sentence = sentences(parts)[1]
    assert ("most to right guesses" in sentence) == is_ranked
    assert "1.0" in sentence
    assert "9.0" in sentence


def test_what_hardly_changed_is_said_to_hardly_have() -> None:
    years = replace(of_parts(part("2018", "5", "9.01"), part("2019", "5", "9.04")), ordered=True)
    assert any("hardly changed: 9.0 percentage points" in sentence for sentence in sentences(years))


def test_the_table_has_one_decimal_as_sentences_have_and_marks() -> None:
    table = family_table(STATES, "grade")
    first, second, _ = cells(table)
    assert first == ["RR", "100,000", "6.3%", "33.0% ▲", "38.0% ▲", "50.3% ▲"]
    assert second[1:3] == ["90,000", "6.0% ▼"]
    assert table.groups[0].rows[0][2].exact == "317/5000"
    assert cells(family_table(STATES))[0][5] == "25.2% ▲"
    with pytest.raises(StudyError, match='did you mean "grade"'):
        family_table(STATES, "grades")


@pytest.mark.parametrize("language", ["en", "pt-BR"])
def test_what_is_equal_as_shown_is_not_marked(language: str) -> None:
    parts = of_parts(
        part("A", "5", "0.001", "3.001"), part("B", "5", "0.002", "3.002"), part("C", "5", "0", "9")
    )
    with speaking(language):
        named = [row[3:] for row in cells(family_table(parts, "grade"))]
        (table,) = [
            block
            for block in family_brief(parts, subject="person").blocks[2:]
            if isinstance(block, Table)
        ]
    zero, three, nine = ("0.0", "3.0", "9.0") if language == "en" else ("0,0", "3,0", "9,0")
    least = "< 0.1%" if language == "en" else "< 0,1%"
    assert named == [
        [least, f"{three}%"],
        [least, f"{three}%"],
        ["0% ▼", f"{nine}% ▲"],
    ]
    assert [row[3:] for row in cells(table)] == [
        [f"{zero} ", f"{three} "],
        [f"{zero} ", f"{three} "],
        [f"{zero} ", f"{nine}▲"],
    ]


def test_a_figure_is_never_rounded_to_nothing_or_to_everything() -> None:
    large = part("A", "99.999", "0.00001", "0", "0.00001", records=10**8)
    (row,) = cells(family_table(of_parts(large), "grade"))
    assert row[2:] == ["> 99.9%", "< 0.1%", "0%", "< 0.1%"]


def test_a_part_of_few_people_is_nowhere() -> None:
    small = part("zebra", "33.3", "0", "0", "66.6", records=9)
    found = of_parts(small, part("yak", "5", "1", "2", "3", records=50), *STATES.parts)
    last = family_findings(found, part="state")[-1]
    assert last.sentence == (
        "2 states are not shown: at least one of them has fewer than 10 people, and the others are left out for the "
        "same reason, or so that no such number can be found by subtraction."
    )
    page = family_page(found, subject="person", provenance=PROVENANCE, part="state")
    html = to_html(page)
    said = " ".join(map(told, family_findings(found, part="state")))
    for hidden in ("zebra", "yak"):
        assert hidden not in said + html
    assert page.title == "3 states side by side"
    assert family_table(found, "grade") == family_table(STATES, "grade")
    assert sentences(found)[:-1] == sentences(STATES)


def test_the_total_does_not_tell_how_many_a_hidden_part_has() -> None:
    two = of_parts(part("F", "20", "40", records=60), part("M", "20", "40", records=3))
    page = family_page(two, subject="person", provenance=PROVENANCE)
    assert [finding.sentence for finding in page.findings] == [
        (
            "None of the 2 parts can be shown: at least one of them has fewer than 10 people, and "
            "the figures of the others would reveal how many."
        )
    ]
    assert (page.title, page.lead) == ("2 parts, which cannot be shown", "63 records")
    assert page.figures == ()
    assert " 60" not in " ".join(json.dumps(to_dict(page)).split('"'))


def test_the_only_part_that_can_be_shown_is_not_said_to_be_the_only_one() -> None:
    few = [part(name, "20", "40", records=count) for name, count in (("M", 4), ("X", 7))]
    found = of_parts(part("F", "20", "40", records=60), *few)
    page = family_page(found, subject="person", provenance=PROVENANCE)
    assert page.title == "What F gives away"
    assert page.findings[1].sentence == (
        "Only one part can be shown, F: knowing a person's school adds more than 26.6 percentage points to right "
        "guesses at the grade."
    )
    assert not any("There is one part only" in told(finding) for finding in page.findings)


def counts(name: str, records: int, *right: int) -> FamilyPart:
    """A part in which so many of the records are guessed right: before, and with 1, 2, … attributes known."""
    prior, *after = (Fraction(each, records) for each in right)
    best = [
        Best(sensitive, size, KNOWN[:size], Leakage(prior, each))
        for sensitive in (None, "grade")
        for size, each in enumerate(after, start=1)
    ]
    return FamilyPart(name, records, tuple(best), {None: 1.0, "grade": 1.0})


def test_a_chance_does_not_tell_how_few_in_a_part_share_a_secret() -> None:
    found = of_parts(counts("QZdC", 13, 6, 8, 10), counts("QZdD", 50, 20, 30, 47))
    page = family_page(found, subject="person", provenance=PROVENANCE, part="district")
    naming, first, *_ = page.findings
    assert first.figure == ""
    assert first.sentence == (
        "Which district gives away most is not shown: most of them have only a bound, so that no "
        "small number of people can be worked out."
    )
    assert cells(family_table(found, "grade")) == [
        ["QZdC", "13", "< 69.3%", "< 69.3%", "< 100.0%"],
        ["QZdD", "50", "40.0%", "20.0%", "> 40.0%"],
    ]
    assert cells(family_chart_table(found, "grade"))[0] == ["QZdC", "< 69.3%", "< 69.3%", "> 61.5%"]  # fmt: skip
    assert cells(family_chart_table(found))[0] == [
        "QZdC",
        "46.2%",
        "61.5%",
        "76.9%",
    ]  # whose record it is
    assert naming.picture is not None
    assert first.picture is not None
    assert "in the middle of what it may be" not in naming.picture.caption
    assert "in the middle of what it may be" in first.picture.caption
    about_the_grade = json.dumps([to_dict(page)["findings"][1], to_dict(page)["tiles"][1:2]])
    for count in (6, 8, 10):
        for said in (f"{100 * count / 13}"[:6], f"{count}/13"):
            assert said not in about_the_grade
    exact = family_findings(found, part="district", exact=True)[1]
    assert "QZdC: 6/13 before, 10/13 after" in exact.figure


def test_that_all_people_of_a_small_part_share_a_secret_is_not_told() -> None:
    found = of_parts(
        counts("QZdA", 14, 14, 14, 14),
        counts("QZdB", 99, 30, 60, 99),
        counts("QZdC", 100, 50, 70, 100),
    )
    page = family_page(found, subject="person", provenance=PROVENANCE, part="country")
    assert cells(family_chart_table(found, "grade")) == [
        ["QZdA", "> 64.2%", "> 64.2%", "> 64.2%"],
        ["QZdB", "30.3%", "60.6%", "> 89.8%"],
        ["QZdC", "50.0%", "70.0%", "100%"],
    ]
    headline = told(page.findings[1])
    assert "14/14" not in headline
    assert "100%" not in headline
    few = of_parts(counts("QZdA", 14, 14, 14, 14), counts("QZdD", 20, 20, 20, 20))
    about_the_grade = json.dumps(
        to_dict(family_page(few, subject="person", provenance=PROVENANCE))["findings"][1]
    )
    assert "100%" not in about_the_grade


@given(
    st.lists(st.integers(10, 40), min_size=1, max_size=4),
    st.data(),
    st.sampled_from(["en", "pt-BR"]),
    st.booleans(),
)
@settings(max_examples=examples(30))
def test_every_figure_of_a_secret_is_told_of_several_counts(
    sizes: list[int], data: st.DataObject, code: str, ordered: bool
) -> None:
    """Whatever the chances are, a page of small parts can be made, and no bound holds for one count alone."""
    drawn = [sorted(data.draw(st.lists(st.integers(1, n), min_size=3, max_size=3))) for n in sizes]
    named = [counts(f"P{i}", n, *own) for i, (n, own) in enumerate(zip(sizes, drawn, strict=True))]
    with speaking(code):
        family_page(of_parts(*named, ordered=ordered), subject="person", provenance=PROVENANCE)
    for n, own in zip(sizes, drawn, strict=True):
        for count in own:
            low, high = Among(n, certainty=False).bounds(Fraction(count, n))
            assert low <= Fraction(count, n) <= high
            if count == n or 0 < min(count, n - count) < 10:
                fitting = [k for k in range(1, n + 1) if low < Fraction(k, n) <= high]
                assert count in fitting
                assert len(fitting) >= 4


def secrets_shared(name: str, records: int, *right: int) -> FamilyPart:
    """A part whose records are named alike whatever the secret is, which so many share: before, and with 1, 2, …."""
    prior, *after = (Fraction(count, records) for count in right)
    best = [
        *(
            Best(None, size, KNOWN[:size], Leakage(Fraction(1, 10), Fraction(1, 2)))
            for size in range(1, len(right))
        ),
        *(
            Best("grade", size, KNOWN[:size], Leakage(prior, chance))
            for size, chance in enumerate(after, start=1)
        ),
    ]
    return FamilyPart(name, records, tuple(best), {None: 1.0, "grade": float(prior) ** 2})


Counts = tuple[int, ...]
"""How many guesses are right, without and with more and more facts."""


@cache
def told_counts(records: int, length: int) -> dict[Counts, list[Counts]]:
    """Return, of all counts that a part can have, those of which a page tells the same."""
    groups: dict[object, list[Counts]] = {}
    for counts in combinations_with_replacement(range(1, records), length):
        (row,) = of_parts(secrets_shared("S", records, *counts)).table("grade").rows
        groups.setdefault(PartGuess(row, Among(records)).told, []).append(counts)
    return {counts: group for group in groups.values() for counts in group}


@given(
    st.integers(11, 16),
    st.lists(st.tuples(st.integers(200, 900), st.integers(10, 90)), max_size=4),
    st.data(),
    st.booleans(),
)
@settings(max_examples=examples(40))
def test_pages_are_the_same_whatever_small_count_they_hide(
    size: int, large: list[tuple[int, int]], data: st.DataObject, ordered: bool
) -> None:
    """Two tables that differ in counts of which only a bound is told have one page: no figure, mark or word differs."""
    others = [
        secrets_shared(f"L{i}", n, k, k + (n - k) // 3, k + (n - k) // 2)
        for i, (n, k) in enumerate(large)
    ]
    first = tuple(sorted(data.draw(st.lists(st.integers(1, size - 1), min_size=3, max_size=3))))
    second = data.draw(st.sampled_from(told_counts(size, len(first))[first]))
    pages = []
    for right in (first, second):
        family = of_parts(*others, secrets_shared("S", size, *right), ordered=ordered)
        page = partial(family_page, family, subject="person", provenance=PROVENANCE)
        pages.append(figures(page))
    assert pages[0] == pages[1]


def test_a_correlation_does_not_tell_how_few_in_a_part_differ() -> None:
    pages = [
        family_page(
            of_parts(
                secrets_shared("A", 600, 500, 540, 599),
                secrets_shared("B", 300, 200, 240, 299),
                secrets_shared("C", 80, 40, 50, 60),
                secrets_shared("D", 13, 7, 8, 13 - differing),
            ),
            subject="person",
            provenance=PROVENANCE,
        )
        for differing in (1, 2, 3, 4)
    ]
    assert len({json.dumps(to_dict(page), sort_keys=True, default=str) for page in pages}) == 1


def test_where_all_parts_are_too_small_nothing_is_shown() -> None:
    found = of_parts(part("A", "50", "50", records=9), ordered=True)
    assert sentences(found, "pupil", part="school") == [
        (
            "There is no school with at least 10 pupils: nothing can be said about one without "
            "pointing at someone."
        )
    ]
    assert cells(family_table(found)) == []
    with pytest.raises(StudyError, match="no part has at least 10 records"):
        family_chart(found)
    page = family_page(found, subject="pupil", provenance=PROVENANCE, part="school")
    assert page.figures == ()
    assert "Does size protect?" in to_html(page)


PROVENANCE = Provenance(version="1.2.3", study='command = "assess"\n', datasets=("a.csv",))


def test_a_page_says_it_all_in_every_language() -> None:
    for code in LANGUAGES:
        with telling(code):
            page = family_page(YEARS, subject="student", provenance=PROVENANCE, part="year")
            html = to_html(page)
            assert f'<html lang="{code}">' in html
            assert len(page.pictures) == 2
            assert all(figure.table is not None for figure in page.pictures)
            assert len(page.tiles) == 3
            assert page.actions
            assert page.adversary
            assert page.limits
            assert page.glossary


@pytest.mark.parametrize(("family", "part"), [(STATES, "state"), (YEARS, "year")])
def test_snapshot_of_a_family(family: Family, part: str) -> None:
    assert_snapshot(f"family-{part}s", lambda: family_findings(family, "student", part=part))


def rows_drawn(family: Family, sensitive: str | None = "grade") -> list[str]:
    """The parts that a picture has rows of, from top to bottom."""
    return [row["part"] for row in drawn_rows(family_chart(family, sensitive).to_dict())]


def test_the_picture_has_a_row_per_part_with_what_it_was_and_what_it_becomes() -> None:
    written = texts(to_svg(family_chart(STATES, "grade", part="state")))
    assert {"RR", "SE", "SP", "6.3% → 56.7%", "6.0% → 25.0%", "7.0% → 47.0%"} <= set(written)
    assert "Most is added in RR (50.3 percentage points), least in SE (19.0)" in written
    assert rows_drawn(STATES) == ["RR", "SP", "SE"], "the highest first"


def test_groups_by_origin_are_drawn_in_the_order_of_the_data_and_the_title_names_none() -> None:
    parts = replace(of_parts(part("A", "5", "1"), part("B", "5", "9")), by="race")
    assert rows_drawn(parts) == ["A", "B"]
    title = family_chart(parts, "grade").to_dict()["title"]["text"]
    assert title == ["What is added to right guesses differs: from 1.0 to 9.0 percentage points"]


def test_families_in_time_are_drawn_over_time() -> None:
    written = texts(to_svg(family_chart(YEARS, "grade", part="year")))
    assert "In 2021 the facts add 2.5 percentage points less than in 2019" in written
    known = [text for text in written if text.endswith(" known")]
    assert known == [f"{what} known" for what in ("nothing", "1 fact", "2 facts", "3 facts")]
    assert {"2019", "2020", "2021"} <= set(written)


def test_of_many_parts_the_highest_and_the_lowest_are_drawn() -> None:
    parts = [part(f"city {i}", "5", str(10 + i)) for i in range(60)]
    drawn = rows_drawn(of_parts(*parts))
    assert drawn == [f"city {i}" for i in (*range(59, 39, -1), *range(9, -1, -1))]
    subtitle = family_chart(of_parts(*parts), "grade").to_dict()["title"]["subtitle"]
    assert "30 between these are in the table below" in " ".join(subtitle)


@pytest.mark.parametrize(
    "family",
    [
        STATES,
        YEARS,
        of_parts(part("A", "5", "9")),
        of_parts(part("A", "5", "9"), part("B", "5", "9")),
    ],
    ids=["states", "years", "one", "alike"],
)
@pytest.mark.parametrize("sensitive", [None, "grade"])
def test_pictures_fetch_nothing_and_are_well_formed(family: Family, sensitive: str | None) -> None:
    svg = to_svg(family_chart(family, sensitive))
    ElementTree.fromstring(svg)
    assert "href" not in svg
    assert "<script" not in svg


def test_hostile_names_are_text() -> None:
    names = ["<script>x</script>", "a\nb\x1b[31m", "", "' datum.colour", "x" * 200]
    found = of_parts(*(part(name, "5", str(i + 1)) for i, name in enumerate(names)), ordered=True)
    svg = to_svg(family_chart(found, "grade"))
    assert "<script" not in svg
    assert "\x1b" not in svg + "".join(map(told, family_findings(found)))
    assert "(missing)" in texts(svg)
    assert [row[0] for row in cells(family_table(found))][1:3] == ["a\\nb\\x1b[31m", "(missing)"]


@given(st.lists(st.floats(0, 100), max_size=30), st.floats(0.1, 8))
def test_labels_keep_their_order_and_their_distance(wanted: list[float], gap: float) -> None:
    places = family_charts._spread(wanted, gap, 100.0)
    for i, j in zip(
        sorted(range(len(wanted)), key=lambda i: (places[i], i)),
        sorted(range(len(wanted)), key=lambda i: (places[i], i))[1:],
        strict=False,
    ):
        assert wanted[i] <= wanted[j]
        assert places[j] - places[i] >= gap - 1e-9
    if (len(wanted) - 1) * gap <= 100:
        assert all(-1e-9 <= place <= 100 + 1e-9 for place in places)
    if len(wanted) == 1:
        assert places == wanted


@given(st.floats(1e-9, 100))
def test_the_axis_ends_at_a_round_figure_that_holds_the_highest(highest: float) -> None:
    top = family_charts._round_top(highest)
    assert highest <= top <= 100
    assert top == 100 or top <= 2.01 * highest


def test_the_numbers_of_the_picture_are_in_its_table() -> None:
    table = family_chart_table(YEARS, "grade")
    assert [column.title for column in table.columns][1:3] == ["nothing known", "1 fact known"]
    assert cells(table)[0] == ["2019", "10.0%", "30.0%", "40.0%", "45.0%"]
    json.dumps(family_chart(YEARS, "grade").to_dict())


def test_a_chance_among_the_few_who_have_a_secret_is_no_chance_among_all_of_a_part() -> None:
    among_13 = replace(counts("QZdC", 13, 6, 8, 10), records=1000, missing={"grade": 987})
    found = of_parts(among_13, counts("QZdD", 50, 20, 30, 47))
    assert cells(family_table(found, "grade"))[0] == [
        *("QZdC", "1,000", "< 69.3%", "< 69.3%", "< 100.0%")
    ]
    assert cells(family_chart_table(found))[0] == ["QZdC", "46.2%", "61.5%", "76.9%"]
