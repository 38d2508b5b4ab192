"""Families in a report: the sentences word for word, the rows, the pictures, and what none of them may show."""

from __future__ import annotations

import json
from fractions import Fraction
from typing import Any
from xml.etree import ElementTree

import pytest
from hypothesis import given
from hypothesis import strategies as st

from glasshouse.errors import StudyError
from glasshouse.microdata import Leakage
from glasshouse.microdata.family import Best, Family, Part
from glasshouse.report import families
from glasshouse.report.charts import to_svg
from glasshouse.report.families import (
    LEAST,
    MOST,
    OTHER,
    family_chart,
    family_rows,
    family_sentences,
)

KNOWN = ("school", "birth_date", "sex")


def part(name: str, *figures: str, records: int = 1000, known: tuple[str, ...] = KNOWN) -> Part:
    """A part with a prior and the leakages of the best 1, 2, … attributes, in per cent; naming leaks half of it."""
    prior, *leaked = (Fraction(each) / 100 for each in figures)
    best = [
        Best(sensitive, size, known[:size], Leakage(prior, prior + each * factor))
        for sensitive, factor in ((None, Fraction(1, 2)), ("grade", Fraction(1)))
        for size, each in enumerate(leaked, start=1)
    ]
    return Part(name, records, tuple(best), {None: 1.0, "grade": 1.0})


def of_parts(
    *parts: Part, ordered: bool = False, sensitive: tuple[str, ...] = ("grade",)
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


def texts(svg: str) -> list[str]:
    root = ElementTree.fromstring(svg)
    return [
        "".join(element.itertext()) for element in root.iter("{http://www.w3.org/2000/svg}text")
    ]


def test_three_sentences_on_three_states() -> None:
    assert family_sentences(STATES, "student", part="state") == (
        "Of the 3 states, RR gives away most and SE least: someone who knows a student's school, birth date and sex "
        "guesses the grade right for 57 of every 100 students in RR (without that knowledge 63 of every 1,000: 50.3 "
        "percentage points more), and for 25 of every 100 students in SE (without that knowledge 6 of every 100: 19.0 "
        "percentage points more).",
        "Having more students does not protect: the larger states mostly give away more (correlation +0.66 on a scale "
        "from -1 to +1); with 3 states that may be chance.",
        "Already school alone gives half of that or more in all 3 states.",
    )


def test_over_the_years_the_last_sentence_is_the_change() -> None:
    assert family_sentences(YEARS)[2] == (
        "From 2019 to 2021 what that knowledge adds went from 35.0 to 32.5 percentage points (down 2.5); the largest "
        "step, down 5.5, was from 2020 to 2021."
    )
    same = of_parts(part("2019", "10", "20"), part("2020", "10", "20"), ordered=True)
    assert family_sentences(same)[2] == (
        "From 2019 to 2020 nothing changed: that knowledge adds 20.0 percentage points each time."
    )
    there_and_back = [
        part(year, "10", added) for year, added in zip("123", ("20", "30", "20"), strict=True)
    ]
    assert family_sentences(of_parts(*there_and_back, ordered=True))[2].endswith(
        "(the same in the end); the largest step, up 10.0, was from 1 to 2."
    )
    two = of_parts(part("2019", "10", "20"), part("2020", "10", "20.01"), ordered=True)
    assert family_sentences(two)[2].endswith("to 20.0 percentage points (up less than 0.1).")


@pytest.mark.parametrize(
    ("records", "said"),
    [
        ((1, 2, 3), "goes with more protection: the larger parts nearly always give away less"),
        ((1, 3, 2), "goes with more protection: the larger parts tend to give away less"),
        ((3, 2, 1), "does not protect: the larger parts nearly always give away more"),
        (
            (2, 3, 2),
            "does not protect: how many people a part has and how much it gives away hardly",
        ),
        ((2, 2, 2), "cannot be said: all parts have the same number of people."),
    ],
)
def test_whether_numbers_protect(records: tuple[int, ...], said: str) -> None:
    parts = [part(str(i), "5", str(30 - 10 * i), records=n * 100) for i, n in enumerate(records)]
    assert said in family_sentences(of_parts(*parts))[1]


def test_what_cannot_be_told_is_not_told() -> None:
    one, two = (of_parts(*STATES.parts[:n]) for n in (1, 2))
    assert family_sentences(one, part="state")[0] == (
        "There is one state only, RR: knowing a person's school, birth date and sex adds 50.3 percentage points to the "
        "success of a guess at the grade."
    )
    for few in (one, two):
        assert family_sentences(few)[1] == (
            "Whether having more people protects cannot be said of fewer than 3 parts."
        )
    alike = of_parts(*(part(name, "5", "0", records=5 + i) for i, name in enumerate("ABCD")))
    assert family_sentences(alike) == (
        "No part gives away more than another: knowing a person's school adds nothing to the success of a guess "
        "at the grade in each of the 4.",
        "Whether having more people protects cannot be said: all parts give away the same.",
        "Without that knowledge a guess is right for 5 of every 100.",
    )


def test_ties_are_named_together() -> None:
    two = of_parts(*(part(name, "5", added) for name, added in zip("ABC", ("9", "9", "0"), strict=True)))  # fmt: skip
    assert family_sentences(two)[0].startswith("Of the 3 parts, A and B give away most and C least")
    assert "people in C, as often as without that knowledge." in family_sentences(two)[0]
    many = of_parts(*(part(name, "5", "1") for name in "ABCDE"), part("F", "5", "2"))
    assert "F gives away most and A and 4 others least" in family_sentences(many)[0]


def test_sets_that_differ_between_parts_are_not_enumerated() -> None:
    other = ("sex", "school", "birth_date")
    found = of_parts(part("A", "5", "9", "10"), part("B", "15", "8", "20", known=other))
    first, _, last = family_sentences(found)
    assert "someone who knows the 2 most telling attributes of a person guesses" in first
    assert last == (
        "Without that knowledge a guess is right for 5 of every 100 to 15 of every 100, depending on the part."
    )


def test_a_set_that_is_enough_in_most_parts_is_said_to_be() -> None:
    found = of_parts(
        part("A", "5", "4", "5", "9"), part("B", "5", "4", "6", "9"), part("C", "5", "1", "2", "9")
    )
    assert family_sentences(found)[2] == (
        "Already school and birth date give half of that or more in 2 of the 3 parts."
    )


def test_without_a_secret_they_speak_of_naming() -> None:
    found = of_parts(*STATES.parts, sensitive=())
    assert "sex guesses whose record it is right for 32 of every 100 people" in family_sentences(found)[0]  # fmt: skip


def test_rows_are_text_with_two_decimals_and_marks() -> None:
    first, second, _ = family_rows(STATES, "grade")
    assert first["part"] == "RR"
    assert first["records"] == "100,000"
    assert first["prior"] == {"text": "6.34 %", "highest": False, "lowest": False}
    assert first["additive"][2] == {"size": 3, "text": "50.33 %", "highest": True, "lowest": False}
    assert [cell["lowest"] for cell in second["additive"]] == [True, True, True]
    assert family_rows(STATES)[0]["additive"][2]["text"] == "25.16 %"
    with pytest.raises(StudyError, match='did you mean "grade"'):
        family_rows(STATES, "grades")


def test_a_figure_is_never_rounded_to_nothing_or_to_everything() -> None:
    (row,) = family_rows(of_parts(part("A", "99.999", "0.001", "0", "0.00001")), "grade")
    assert row["prior"]["text"] == "> 99.99 %"
    assert [cell["text"] for cell in row["additive"]] == ["< 0.01 %", "0.00 %", "< 0.01 %"]


def test_a_part_of_fewer_than_five_people_is_nowhere() -> None:
    small = part("zebra", "33.3", "0", "0", "66.6", records=3)
    found = of_parts(small, *STATES.parts)
    said = " ".join(family_sentences(found, part="state"))
    assert "(1 state of fewer than 5 people is left out.)" in said
    shown = said + str(family_rows(found, "grade")) + to_svg(family_chart(found, "grade"))
    assert "zebra" not in shown
    assert family_rows(found, "grade") == family_rows(STATES, "grade")
    assert family_sentences(found)[1:] == family_sentences(STATES)[1:]


def test_where_all_parts_are_too_small_nothing_is_shown() -> None:
    found = of_parts(part("A", "50", "50", records=4), ordered=True)
    assert family_sentences(found, "pupil", part="school") == (
        "No school has at least 5 pupils: nothing can be said of one without pointing at someone.",
    )
    assert family_rows(found) == []
    with pytest.raises(StudyError, match="no part has at least 5 records"):
        family_chart(found)


def test_the_chart_names_every_part_and_colours_those_that_stand_out() -> None:
    svg = to_svg(family_chart(STATES, "grade", part="state"))
    written = texts(svg)
    assert {"RR: most, 50.3 percentage points", "SE: least, 19.0 percentage points", "SP"} <= set(written)  # fmt: skip
    assert {"none", "1", "2", "3", "guesses that are right, of every 100"} <= set(written)
    assert "RR gives away most, SE least" in written
    for colour in (MOST, LEAST, OTHER):
        assert colour in svg


def test_families_in_time_have_a_second_view() -> None:
    written = texts(to_svg(family_chart(YEARS, "grade", part="year")))
    assert "In 2021 the attributes add 2.5 percentage points less than in 2019" in written
    knowing = [text for text in written if text.startswith("knowing")]
    assert knowing == [
        f"knowing {what}" for what in ("nothing", "1 attribute", "2 attributes", "3 attributes")
    ]
    assert {"2019", "2020", "2021", "2020: most, 38.0 percentage points"} <= set(written)


def test_many_parts_are_drawn_but_only_two_are_named() -> None:
    parts = [part(f"city {i}", "5", str(10 + i)) for i in range(60)]
    written = texts(to_svg(family_chart(of_parts(*parts), "grade")))
    named = [text for text in written if text.startswith("city") and "away" not in text]
    assert sorted(named) == [
        "city 0: least, 10.0 percentage points",
        "city 59: most, 69.0 percentage points",
    ]


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
    assert "\x1b" not in svg + "".join(family_sentences(found))
    assert "(missing)" in texts(svg)
    assert [row["part"] for row in family_rows(found)][1:3] == ["a\\nb\\x1b[31m", "(missing)"]


@given(st.lists(st.floats(0, 100), max_size=30), st.floats(0.1, 8))
def test_labels_keep_their_order_and_their_distance(wanted: list[float], gap: float) -> None:
    places = families._spread(wanted, gap, 100.0)
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
    top = families._round_top(highest)
    assert highest <= top <= 100
    assert top == 100 or top <= 2.01 * highest


def test_rows_and_chart_hold_plain_values_only() -> None:
    rows: Any = json.loads(json.dumps(family_rows(YEARS, "grade")))
    assert rows == family_rows(YEARS, "grade")
    json.dumps(family_chart(YEARS, "grade").to_dict())
