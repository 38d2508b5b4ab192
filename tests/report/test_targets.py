"""The report on one person says what is learned in natural frequencies, names its secrets, and runs nothing."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from glasshouse.microdata.target import Belief, Target, TargetSecret, target
from glasshouse.qif import Tries
from glasshouse.report.page import Page, Provenance, render
from glasshouse.report.targets import (
    MOST_VALUES_DRAWN,
    MOST_VALUES_LISTED,
    target_page,
    target_sentences,
)
from glasshouse.table import read
from glasshouse.table.treatment import Step
from tests.report.test_document import assert_it_asks_nobody, tags, text

PROVENANCE = Provenance("1.2.3", 'command = "target"\n', {"students.csv": "0" * 64})
STUDENTS = read(
    pa.table(
        {
            "gender": list("FFFFFMMMMM"),
            "grade": list("AABBCCCDDE"),
            "disability": ["yes", "no", "no", "no", "no", "yes", "yes", "no", "no", "no"],
        }
    ),
    quasi_identifiers=["gender", "grade"],
    sensitive=["disability"],
    name="students.csv",
)
REGISTER = read(
    pa.table({"gender": list("FFFFFFMMMMMMMM"), "grade": list("AAABBCCCCDDEEZ")}),
    name="register.csv",
)


def asked(known: list[str], **question: Any) -> Target:
    return target(STUDENTS, known=known, **question)


def page_of(outcome: Target, **further: Any) -> Page:
    return target_page(outcome, subject="student", provenance=PROVENANCE, **further)


def illness(values: str, ages: str, known: str) -> tuple[str, ...]:
    """Return the sentences on somebody of an age, where each letter is an illness, or an age."""
    table = read(
        pa.table({"age": list(ages), "ill": list(values)}),
        quasi_identifiers=["age"],
        sensitive=["ill"],
    )
    return target_sentences(target(table, known=[f"age={known}"]))


def test_several_records_fit() -> None:
    assert target_sentences(asked(["gender=F", "grade=A"]), subject="student") == (
        "2 of the 10 records fit what is known of this student (gender and grade): a guess at which is theirs is right "
        "with a chance of 1 in 2; without that knowledge it would be 1 in 10.",
        "Of this student's disability less is known than of people in general: the best guess, “no”, is right with a "
        "chance of 1 in 2 only; without that knowledge that guess would have seemed right with a chance of 7 in 10.",
    )


def test_one_record_fits() -> None:
    assert target_sentences(asked(["gender=F", "grade=C"])) == (
        "Exactly one of the 10 records fits what is known of this person (gender and grade): this person is named "
        "with certainty.",
        "It gives this person's disability away with certainty: “no”. Without that knowledge that guess would be right "
        "with a chance of 7 in 10.",
    )


def test_the_secret_may_be_certain_although_the_record_is_not() -> None:
    named, learned = target_sentences(asked(["gender=M", "grade=C"]))
    assert named.startswith("2 of the 10 records fit what is known")
    assert learned == (
        "It gives this person's disability away with certainty, although 2 records fit: “yes”. Without that knowledge "
        "the guess “no” would be right with a chance of 7 in 10."
    )


def test_everybody_fits_and_nothing_is_learned() -> None:
    named, learned = illness("aab", "333", "3")
    assert named == (
        "All of the 3 records fit what is known of this person (age): it rules out nobody, and a guess at the record "
        "is right with a chance of 1 in 3, as before."
    )
    assert learned == (
        "Nothing is learned of this person's ill: the best guess is “a”, right with a chance of 2 in 3, as for anybody "
        "in the release."
    )


@pytest.mark.parametrize(
    ("values", "ages", "said"),
    [
        (
            "aaaa",
            "3344",
            "Nothing is learned of this person's ill: everybody in the release has “a”.",
        ),
        ("aab", "343", "the best guess, “a”, is right with a chance of 1 in 2 only; without that"),
        (
            "aaabbc",
            "333344",
            "The best guess at this person's ill is “a”, right with a chance of 3 in 4; without that knowledge that "
            "guess would be right with a chance of 1 in 2.",
        ),
        (
            "abbccccd",
            "33344444",
            "The best guess at this person's ill is “b”, right with a chance of 2 in 3; without that knowledge the "
            "guess “c” would be right with a chance of 1 in 2.",
        ),
        (
            "aabbaacc",
            "33334455",
            "The best guess at this person's ill is “a”, and just as likely to be right as the best one without that "
            "knowledge: with a chance of 1 in 2.",
        ),
    ],
)
def test_what_is_learned_is_said_plainly(values: str, ages: str, said: str) -> None:
    assert said in illness(values, ages, "3")[1]


def test_a_difference_that_rounding_hides_is_no_difference() -> None:
    assert illness("a" * 499 + "b" * 501, "3" * 997 + "444", "3")[1] == (
        "The best guess at this person's ill is “a” instead of “b”, and about as likely to be right as the best one "
        "without that knowledge: with a chance of 50 in 100."
    )


def test_the_only_record_of_a_release() -> None:
    assert illness("a", "3", "3") == (
        "The only record fits what is known of this person (age): this person is named with certainty.",
        "Nothing is learned of this person's ill: everybody in the release has “a”.",
    )


def test_the_journalist_counts_in_the_register() -> None:
    outcome = asked(["gender=F", "grade=A"], secrets=[], population=REGISTER)
    assert target_sentences(outcome)[-1] == (
        "Someone who does not know whether this person is in the release counts: 3 people of register.csv fit, and 2 "
        "of them are in it. So this person is in the release with a chance of 2 in 3 (before: 5 in 7), and a record "
        "that fits is theirs with a chance of 1 in 3."
    )


def test_what_the_register_lacks_is_assumed_to_tell_nothing_of_being_in() -> None:
    register = read(pa.table({"gender": list("FFFFFFFFMMMMMM")}), name="register.csv")
    outcome = asked(["gender=F", "grade=A"], secrets=[], population=register)
    assuming = (
        "assuming that what register.csv does not tell is as frequent among those who are in the release as among "
        "those who are not"
    )
    assert target_sentences(outcome)[-1] == (
        "Someone who does not know whether this person is in the release reckons: about 3.2 people of register.csv "
        f"fit, and 2 of them are in it, {assuming}. So this person is in the release with a chance of 5 in 8 (before: "
        "5 in 7), and a record that fits is theirs with a chance of 5 in 16."
    )
    page = text(render(page_of(outcome)))
    assert f"Counted in register.csv, {assuming}." in page
    assert "Number of people who can be the student 14 about 3.2" in page


def test_suppressed_records_may_be_theirs() -> None:
    table = read(pa.table({"age": ["30-39", "40+", "*", "*"], "ill": list("abcc")}))
    fitting, suppressed, learned = target_sentences(
        target(table, known=["age=34"], secrets=["ill"])
    )
    assert fitting.endswith("is named with certainty, unless their record is suppressed.")
    assert suppressed == "2 further records are suppressed: one of them may be theirs."
    assert "with certainty, unless their record is suppressed: “a”." in learned
    fewer = target_sentences(target(table.of_records(np.arange(3)), known=["age=34"]))
    assert fewer[1] == "1 further record is suppressed: it may be theirs."


def test_one_record_names_nobody_for_certain_where_others_fit_too() -> None:
    named, *_, counted = target_sentences(asked(["grade=E"], population=REGISTER))
    assert named.endswith("if this person is in the release, it is theirs for certain.")
    assert "2 people of register.csv fit, and 1 of them is in it." in counted


def test_the_register_may_show_that_all_who_fit_are_in() -> None:
    named, *_, counted = target_sentences(asked(["gender=F", "grade=C"], population=REGISTER))
    assert named.endswith("this person is named with certainty.")
    assert counted == (
        "Someone who does not know whether this person is in the release learns that they are: 1 person of "
        "register.csv fits, and the release holds them all; the record is theirs for certain."
    )
    assert target_sentences(asked(["gender=F", "grade=B"], population=REGISTER))[-1].endswith(
        "2 people of register.csv fit, and the release holds them all."
    )


def test_the_register_may_show_that_the_person_is_not_in() -> None:
    outcome = asked(["grade=Z"], population=REGISTER)
    assert target_sentences(outcome) == (
        "None of the 10 records fits what is known of this person (grade): this person is not in the release.",
        "Someone who does not know whether this person is in the release learns that they are not: 1 person of "
        "register.csv fits, and nobody of them has a record in it.",
    )
    page = page_of(outcome)
    assert page.figures == ()
    assert_it_asks_nobody(render(page))


def test_an_estimate_is_called_one() -> None:
    sentence = target_sentences(asked(["grade=A"], fraction=Fraction(3, 10)), subject="student")[-1]
    assert sentence == (
        "Someone who does not know whether this student is in the release can only estimate: about 6.7 students of "
        "the population fit, so that the student is in it with an estimated chance of 3 in 10, and a record that fits "
        "is theirs with an estimated chance of 3 in 20."
    )
    page = text(render(page_of(asked(["grade=A"], fraction=0.3))))
    assert "Before, estimated After, estimated" in page
    assert "but for those that are said to be estimated" in page


def test_absence_is_a_value_and_a_fact() -> None:
    outcome = Target(
        code="IRL",
        datasets=("D1.csv", "D2.csv"),
        known=("grade", "@D2"),
        records=2,
        candidates=1,
        naming=asked(["grade=A"]).naming,
        secrets=(
            TargetSecret("IAL", ("grade@D2",), (Belief(None, Fraction(1, 2), Fraction(1)),)),
            TargetSecret("IAL", ("x", "y"), (Belief(("", "b"), Fraction(1, 3), Fraction(1)),)),
        ),
    )
    said = target_sentences(outcome)
    assert "(grade and being in D2)" in said[0]
    assert "this person's x and y away with certainty: “(missing) + b”" in said[1]
    assert "this person's grade@D2 away with certainty: “(no record there)”" in said[2]
    assert page_of(outcome).title == "What D1.csv and D2.csv tell of one student"


def many(values: int) -> Target:
    """Return the attack on somebody of class x, which has every illness but one; the commonest is elsewhere."""
    ill = [f"ill {i:02}" for i in range(values - 1)] + ["common"] * 9
    table = read(
        pa.table({"class": ["x"] * (values - 1) + ["y"] * 9, "ill": ill}),
        quasi_identifiers=["class"],
        sensitive=["ill"],
    )
    return target(table, known=["class=x"])


def test_many_values_are_summed_up() -> None:
    page = page_of(many(50))
    (table,) = page.sections[1].tables
    rows = table.groups[0].rows
    assert len(rows) == MOST_VALUES_LISTED + 1
    assert [cell.text for cell in rows[-1]] == [
        "… and 20 more values, together",
        "48.3 %",
        "38.8 %",
    ]
    assert [cell.exact for cell in rows[-1]] == [None, "14/29", "19/49"]
    assert table.groups[0].note == "49 of 50 values still possible"
    svg = page.figures[0].svg
    assert svg.count(">ill ") == MOST_VALUES_DRAWN - 2
    assert ">common<" in svg  # ruled out, but the most probable one before
    assert ">all 39 others<" in svg
    assert "together" not in render(page_of(many(30)))


@settings(max_examples=15)
@given(st.lists(st.integers(0, 5), min_size=2, max_size=60), st.data())
def test_what_is_shown_of_a_secret_adds_up_to_one(ill: list[int], data: st.DataObject) -> None:
    ages = data.draw(st.lists(st.sampled_from("34"), min_size=len(ill), max_size=len(ill)))
    table = read(
        pa.table({"age": ages, "ill": [f"{i}{age}" for i, age in zip(ill, ages, strict=True)]})
    )
    outcome = target(table, known=[f"age={ages[0]}"], secrets=["ill"])
    (shown,) = page_of(outcome).sections[1].tables
    for column in (1, 2):
        assert sum(Fraction(row[column].exact or "0") for row in shown.groups[0].rows) == 1


def test_the_most_telling_secrets_come_first_and_the_others_in_a_table() -> None:
    columns = {f"s{i}": ["a"] * 10 + ["b"] * (9 - i) + ["a"] * (1 + i) for i in range(5)}
    table = read(
        pa.table({"age": ["1"] * 10 + ["2"] * 10} | columns),
        quasi_identifiers=["age"],
        sensitive=list(columns),
    )
    outcome = target(table, known=["age=2"])
    said = target_sentences(outcome)
    assert [name in said[i + 1] for i, name in enumerate(["s0", "s1", "s2"])] == [True] * 3
    assert said[-1] == "What is learned of 2 further secrets is in a table."
    page = page_of(outcome)
    assert len(page.figures) == 3
    assert [table.groups[0].title for table in page.sections[1].tables] == list(columns)


def test_the_figures_are_exact_on_hover() -> None:
    said = render(page_of(asked(["gender=F", "grade=A"], population=REGISTER)))
    assert 'title="1/10">0.1</td>' in said
    assert 'title="-1/5">-0.2</td>' in said
    assert 'title="7/10">70.0 %</td>' in said
    assert 'title="2/3">66.7 %</td>' in said
    page = text(said)
    assert "IRS name the student 0.1 0.5 0.4 × 5 no" in page
    assert "IAS infer disability 0.7 0.5 -0.2 × 0.714286 no" in page
    assert "Number of people who can be the student 14 3" in page
    assert "Counted in register.csv." in page


def test_gains_are_numbers_or_money_with_the_best_action() -> None:
    tried = asked(["grade=C"], gains={("disability",): Tries(2), (): Tries(2)})
    page = text(render(page_of(tried)))
    assert "IRS name the student 0.2 0.666667 0.466667 × 3.33333 –" in page
    assert "IAS infer disability 1 1 0 × 1 yes, no" in page
    worth: Any = {("disability",): {"yes": 100, "no": 1}}
    page = text(render(page_of(asked(["grade=C"], gains=worth), currency="R$")))
    assert "IAS infer disability R$ 30.00 R$ 66.67 R$ 36.67 × 2.22222 yes" in page
    assert "What she gains" not in render(page_of(asked(["grade=C"])))


def test_the_page_says_that_it_is_personal_data() -> None:
    page = page_of(asked(["grade=C"]))
    assert page.lead == (
        "10 records, and one student of whom grade is known. This report is personal data."
    )
    assert page.assumptions.text.startswith(
        "This report is about one person, and is itself personal"
    )
    assert [term.name for term in page.assumptions.terms[:3]] == [
        "Candidates",
        "Prosecutor",
        "Certain",
    ]
    assert page.command == "glasshouse target --study study.toml"


@pytest.mark.parametrize(
    "hostile",
    [
        "<script>alert(1)</script>",
        '"><img src=x onerror=alert(1)>',
        "</svg></figure><b>",
        "\u202eevil\x1b[31m",
        "a\nb",
        "{{7*7}} datum.value",
        "x" * 500,
    ],
)
def test_hostile_values_and_names_are_text(hostile: str) -> None:
    table = read(
        pa.table({hostile: ["1", "1", "2"], "ill": [hostile, "b", "c"]}),
        quasi_identifiers=[hostile],
        sensitive=["ill"],
        name=hostile,
    )
    outcome = target(table, known={hostile: "1"})
    page = render(target_page(outcome, subject=hostile, provenance=PROVENANCE))
    assert_it_asks_nobody(page)
    assert not {"script", "img", "b"} & {tag for tag, _ in tags(page)}
    assert all(character.isprintable() or character == "\n" for character in page)
    for sentence in target_sentences(outcome):
        assert "x" * 100 not in sentence.replace(hostile, "")


def test_treatment_is_told_and_a_single_column_once() -> None:
    steps = [
        Step("a.csv", "missing value", "age", 40, 35),
        Step("a.csv", "missing value", None, 40, 35),
    ]
    page = text(render(page_of(asked(["grade=C"]), treatment=steps, notes=["A note."])))
    done = page.partition("What was done to the data")[2].partition("What is assumed")[0]
    assert done.endswith("Records after a.csv missing value age 40 5 35 A note. ")
