"""What is said of one person: to the analyst exactly, in a report without values and small numbers."""

from __future__ import annotations

import re
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from glasshouse.disclosure import is_shown
from glasshouse.language import LANGUAGES, percentage, speaking
from glasshouse.measures.target import measured as target_measures
from glasshouse.microdata.individual import Belief, Target, TargetSecret, target
from glasshouse.qif import Tries
from glasshouse.report.attacks import protect_the_secret
from glasshouse.report.html import to_html
from glasshouse.report.page import Finding, Page, Provenance, Severity
from glasshouse.report.target.page import page, target_findings
from glasshouse.report.target.person import target_told
from glasshouse.report.target.secrets import MOST_RANKS_DRAWN, MOST_RANKS_LISTED
from glasshouse.study.question import Adversary, Dataset, Gain
from glasshouse.study.target import TargetStudy
from glasshouse.table import read
from glasshouse.table.treatment import Step
from tests.examples import examples
from tests.report.reading import (
    assert_it_asks_nobody,
    assert_it_says,
    drawn,
    everything,
    read_text,
    tags,
    tries,
)
from tests.report.snapshots import assert_snapshot

PROVENANCE = Provenance("1.2.3", 'command = "target"\n', ("students.csv",))
COLUMNS = {
    "gender": list("FFFFFMMMMM"),
    "grade": list("AABBCCCDDE"),
    "disability": ["yes", "no", "no", "no", "no", "yes", "yes", "no", "no", "no"],
}
REGISTERED = {"gender": list("FFFFFFMMMMMMMM"), "grade": list("AAABBCCCCDDEEZ")}


def students(times: int = 1) -> Any:
    """Return the ten students, each of them several times."""
    return read(
        pa.table({name: values * times for name, values in COLUMNS.items()}),
        quasi_identifiers=["gender", "grade"],
        sensitive=["disability"],
        name="students.csv",
    )


def register(times: int = 1) -> Any:
    """Return the register of the students and of some others, each of them several times."""
    columns = {name: values * times for name, values in REGISTERED.items()}
    return read(pa.table(columns), name="register.csv")


STUDENTS, REGISTER = students(), register()


def asked(known: list[str], **question: Any) -> Target:
    return target(STUDENTS, known=known, **question)


def asked_of_many(known: list[str], **question: Any) -> Target:
    """Ask of a release in which each student is there twelve times."""
    return target(students(12), known=known, **question)


def page_of(outcome: Target, *, subject: str = "student", currency: str | None = None) -> Page:
    adversary = Adversary.model_construct(gain=Gain.model_construct(currency=currency))
    question = TargetStudy.model_construct(
        datasets=(Dataset(path=Path("students.csv")),), subject=subject, adversary=adversary
    )
    return page(outcome, question, provenance=PROVENANCE)


def found(outcome: Target, subject: str = "person", exact: bool = False) -> tuple[Finding, ...]:
    return tuple(target_findings(target_told(outcome, subject, exact=exact)))


def sentences(findings: tuple[Finding, ...]) -> tuple[str, ...]:
    return tuple(finding.sentence for finding in findings)


def told(outcome: Target, subject: str = "person") -> tuple[str, ...]:
    """Return what the analyst is told."""
    return sentences(found(outcome, subject=subject, exact=True))


def reported(outcome: Target, subject: str = "person") -> tuple[str, ...]:
    """Return what a report says."""
    return sentences(found(outcome, subject=subject))


def ill(values: str, ages: str, known: str) -> Target:
    """Return the attack on somebody of an age, where each letter is an illness, or an age."""
    table = read(
        pa.table({"age": list(ages), "ill": list(values)}),
        quasi_identifiers=["age"],
        sensitive=["ill"],
    )
    return target(table, known=[f"age={known}"])


def test_several_records_fit() -> None:
    assert told(asked(["gender=F", "grade=A"]), "student") == (
        "2 of the 10 records fit what is known (gender and grade): a guess at which is this person's is right in 50.0% "
        "of cases; without what is known, in 10.0%.",
        "What is known makes this person's disability harder to guess: the best guess, “no”, is right in 50.0% of "
        "cases; without it “no” would have seemed right in 70.0%.",
    )


def test_a_report_tells_no_small_number_and_no_value() -> None:
    assert reported(asked(["gender=F", "grade=A"]), "student") == (
        "Fewer than 10 of the 10 records fit what is known (gender and grade): a guess at which is this person's is "
        "right in more than 10.0% of cases; without what is known, in 10.0%.",
        "The best guess at this person's disability is right in less than 66.7% of cases; without what is known, in "
        "more than 60.0%.",
    )


def test_a_report_tells_large_numbers_exactly_and_still_no_value() -> None:
    assert reported(asked_of_many(["gender=M", "grade=D"]), "student") == (
        "24 of the 120 records fit what is known (gender and grade): a guess at which is this person's is right in "
        "4.2% of cases; without what is known, in 0.8%.",
        "What is known gives this person's disability away with certainty; without it the best guess would be right in "
        "70.0% of cases.",
    )
    fitting, learned = found(asked_of_many(["gender=F"]))
    assert fitting.figure == "exactly 0.0166667 (1/60); before, 0.00833333 (1/120)"
    assert learned.figure == "exactly 0.8 (48/60); before, 0.7 (84/120)", "ratios count people"
    assert learned.sentence == (
        "The best guess at this person's disability is right in 80.0% of cases; without what is known, in 70.0%."
    )


def test_one_record_fits() -> None:
    outcome = asked(["gender=F", "grade=C"])
    named = "What is known (gender and grade) fits only one of the 10 records: this person is found with certainty."
    assert told(outcome) == (
        named,
        "What is known gives this person's disability away with certainty: “no”. Without it the best guess, “no”, "
        "would be right in 70.0% of cases.",
    )
    assert reported(outcome)[0] == named
    assert [finding.severity for finding in found(outcome)] == [Severity.HIGH] * 2


def test_the_secret_may_be_certain_although_the_record_is_not() -> None:
    named, learned = found(asked(["gender=M", "grade=C"]), exact=True)
    assert named.sentence.startswith("2 of the 10 records fit what is known")
    assert learned.sentence == (
        "What is known gives this person's disability away with certainty: “yes”. Without it the best guess, “no”, "
        "would be right in 70.0% of cases."
    )
    assert learned.meaning.startswith("All records that fit say the same")


def test_everybody_fits_and_nothing_is_learned() -> None:
    outcome = ill("aab", "333", "3")
    named, learned = told(outcome)
    assert named == (
        "All of the 3 records fit what is known (age): it rules out nobody, and a guess at the record is right in "
        "33.3% of cases, as before."
    )
    assert reported(outcome)[0] == named, "the number of all records is no secret"
    assert learned == (
        "Nothing is learned about this person's ill: the best guess is “a”, right in 66.7% of "
        "cases, as for anybody in the release."
    )
    everybody = ill("aab" * 10, "333" * 10, "3")
    assert reported(everybody)[1].endswith(
        "the best guess is right in 66.7% of cases, as for anybody in the release."
    )
    assert [finding.severity for finding in found(everybody)] == [Severity.SAFE] * 2


@pytest.mark.parametrize(
    ("values", "ages", "said", "in_report"),
    [
        (
            "aaaa",
            "3344",
            "Nothing is learned about this person's ill: the release holds one value only, “a”.",
            "Nothing is learned about this person's ill: the release holds one value only.",
        ),
        (
            "aab",
            "343",
            "harder to guess: the best guess, “a”, is right in 50.0% of cases; without it “a” would have seemed",
            "The best guess at this person's ill is right in less than 66.7% of cases.",
        ),
        (
            "aaabbc",
            "333344",
            "The best guess at this person's ill is “a”, right in 75.0% of cases; without what is known it would be "
            "“a”, right in 50.0%.",
            (
                "The best guess at this person's ill is right in more than 60.0% of cases; without what "
                "is known, in a share that is not shown."
            ),
        ),
        (
            "abbccccd",
            "33344444",
            "The best guess at this person's ill is “b”, right in 66.7% of cases; without what is known it would be "
            "“c”, right in 50.0%.",
            "The best guess at this person's ill is right in more than 60.0% of cases",
        ),
        (
            "aabbaacc",
            "33334455",
            "What is known hardly changes how well this person's ill is guessed: the best guess, “a”, is right in "
            "50.0% of cases, about as often as “a” without it.",
            "The best guess at this person's ill is right in less than 66.7% of cases.",
        ),
    ],
)
def test_what_is_learned_is_said_plainly(values: str, ages: str, said: str, in_report: str) -> None:
    outcome = ill(values, ages, "3")
    assert said in told(outcome)[1]
    assert in_report in reported(outcome)[1]


def test_a_difference_that_rounding_hides_is_no_difference() -> None:
    outcome = ill("a" * 499 + "b" * 501, "3" * 997 + "444", "3")
    assert told(outcome)[1] == (
        "What is known hardly changes how well this person's ill is guessed: the best guess, “a”, is right in 50.1% of "
        "cases, about as often as “b” without it."
    )
    assert reported(outcome)[1].endswith("is right in 50.1% of cases, with it or without.")


def test_the_only_record_of_a_release() -> None:
    outcome = ill("a", "3", "3")
    assert told(outcome) == (
        "The release holds a single record, and it fits what is known (age): it is this person's.",
        "Nothing is learned about this person's ill: the release holds one value only, “a”.",
    )
    assert reported(outcome)[0] == told(outcome)[0]


def test_the_journalist_counts_in_the_register() -> None:
    outcome = asked(["gender=F", "grade=A"], sensitive=[], population=REGISTER)
    assert told(outcome)[-1] == (
        "Someone who does not know whether this person is in the release counts: of register.csv, 3 people may be "
        "meant, and the release holds 2 of them. So the chance that this person is in it is 66.7% (before: 71.4%), and "
        "the chance that a record that fits is theirs is 33.3%."
    )
    assert told(outcome)[0].endswith("This holds if this person is in the release.")
    assert reported(outcome)[-1] == (
        "Someone who does not know whether this person is in the release counts: of register.csv, fewer than 10 people "
        "may be meant, and the release holds fewer than 10 of them. So the chance that this person is in it is more "
        "than 60.0% (before: 71.4%), and the chance that a record that fits is theirs is more than 10.0%."
    )
    many = asked_of_many(["gender=F", "grade=A"], sensitive=[], population=register(12))
    assert reported(many)[-1].endswith(
        "of register.csv, 36 people may be meant, and the release holds 24 of them. So the chance that this person is "
        "in it is 66.7% (before: 71.4%), and the chance that a record that fits is theirs is 2.8%."
    )


def test_a_large_register_does_not_tell_how_few_are_in() -> None:
    outcome = asked(["gender=F", "grade=A"], sensitive=[], population=register(12))
    said = reported(outcome)[-1]
    assert "36 people may be meant, and the release holds fewer than 10 of them" in said
    assert "this person is in it is less than 66.7% (before" in said
    assert said.endswith("a record that fits is theirs is 2.8%.")


def test_what_the_register_lacks_is_assumed_to_tell_nothing_of_being_in() -> None:
    lacking = read(pa.table({"gender": list("FFFFFFFFMMMMMM")}), name="register.csv")
    outcome = asked(["gender=F", "grade=A"], sensitive=[], population=lacking)
    assert told(outcome)[-1] == (
        "Someone who does not know whether this person is in the release reckons: of register.csv, about 3.2 people "
        "may be meant, and the release holds 2 of them. So the chance that this person is in it is 62.5% (before: "
        "71.4%), and the chance that a record that fits is theirs is 31.3%. This assumes that what register.csv does "
        "not tell is as frequent among those who are in the release as among those who are not."
    )
    page = read_text(page_of(outcome))
    assert "Counted in register.csv, assuming that what it does not say is as frequent" in page
    assert "Number of people who may be meant 14 fewer than 10" in page
    assert "3.2" not in page


def test_suppressed_records_may_be_theirs() -> None:
    table = read(pa.table({"age": ["30-39", "40+", "*", "*"], "ill": list("abcc")}))
    fitting, suppressed, learned = told(target(table, known=["age=34"], sensitive=["ill"]))
    unless = "This holds unless the record is one of those that are suppressed."
    assert fitting.endswith(f"is found with certainty. {unless}")
    assert suppressed == (
        "2 further records are suppressed, with nothing but “*” of what is known: one of them may be this person's."
    )
    assert "with certainty: “a”." in learned
    assert learned.endswith(unless)
    fewer = told(target(table.of_records(np.arange(3)), known=["age=34"]))
    assert fewer[1].startswith("1 further record is suppressed, with nothing but “*”")


def test_one_record_names_nobody_for_certain_where_others_fit_too() -> None:
    outcome = asked(["grade=E"], population=REGISTER)
    named, *_, counted = found(outcome, exact=True)
    assert named.sentence.endswith(
        "this person is found with certainty. This holds if this person is in the release."
    )
    assert "2 people may be meant, and the release holds 1 of them." in counted.sentence


def test_the_register_may_show_that_all_who_fit_are_in() -> None:
    named, *_, counted = told(asked(["gender=F", "grade=C"], population=REGISTER))
    assert named.endswith("this person is found with certainty.")
    assert counted == (
        "Someone who does not know whether this person is in the release learns that it holds them, for nobody else of "
        "register.csv fits: the record is theirs for certain."
    )
    several = asked(["gender=F", "grade=B"], population=REGISTER)
    assert told(several)[-1].endswith(
        "it holds everybody of register.csv who may be meant (2 people)."
    )
    assert reported(several)[-1].endswith("who may be meant (fewer than 10 people).")


def test_the_register_may_show_that_the_person_is_not_in() -> None:
    outcome = asked(["grade=Z"], population=REGISTER)
    assert told(outcome) == (
        "None of the 10 records fits what is known (grade): this person is not in the release.",
        "Someone who does not know whether this person is in the release learns that it does not hold them: nobody of "
        "register.csv who may be meant (1 person) has a record in it.",
    )
    assert found(outcome)[0].severity == Severity.SAFE
    page = page_of(outcome)
    assert page.pictures == ()
    assert_it_asks_nobody(to_html(page))


def test_an_estimate_is_called_one() -> None:
    outcome = asked(["grade=A"], fraction=Fraction(3, 10))
    assert told(outcome, "student")[-1] == (
        "Someone who does not know whether this person is in the release can only estimate: about 6.7 students of the "
        "population may fit. By estimate, the chance that this person is in the release is 30.0%, and the chance that "
        "a record that fits is theirs is 15.0%."
    )
    page = read_text(page_of(outcome))
    assert "Before, estimated After, estimated" in page
    assert "but for those that are said to be estimated" in page


def test_an_estimate_does_not_tell_how_few_records_it_is_from() -> None:
    outcome = asked(["grade=A"], fraction=Fraction(3, 10))
    assert (
        "can only estimate: fewer than 34 people of the population may fit" in reported(outcome)[-1]
    )
    assert reported(outcome)[-1].endswith("a record that fits is theirs is more than 2.9%.")
    page = read_text(page_of(outcome))
    assert "Number of people who may be meant about 33 fewer than 34" in page
    assert "A record that she picks is the person&#39;s 3.0% &gt; 2.9%" in page
    assert not re.search(r"\b6\.7", page)


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
    said = told(outcome)
    assert "(grade and being in D2)" in said[0]
    assert "gives this person's x and y away with certainty: “(missing) + b”" in said[1]
    assert "gives this person's grade@D2 away with certainty: “(no record there)”" in said[2]
    assert page_of(outcome).title == "What D1.csv and D2.csv reveal about one person"


def many(values: int) -> Target:
    """Return the attack on somebody of class x, which has every illness but one; the commonest is elsewhere."""
    own = [f"ill {i:02}" for i in range(values - 1)]
    table = read(
        pa.table(
            {"class": ["x"] * 30 * len(own) + ["y"] * 270, "ill": 30 * own + ["common"] * 270}
        ),
        quasi_identifiers=["class"],
        sensitive=["ill"],
    )
    return target(table, known=["class=x"])


def test_many_values_are_summed_up() -> None:
    page = page_of(many(50))
    (table,) = page.sections[1].tables
    rows = table.groups[0].rows
    assert len(rows) == MOST_RANKS_LISTED + 1
    assert [cell.text for cell in rows[0]] == ["no. 1", "15.5%", "2.0%"]
    assert [cell.text for cell in rows[-1]] == ["all 20 others", "34.5%", "38.8%"]
    assert [cell.exact for cell in rows[-1]] == [None, "10/29", "19/49"]
    assert table.groups[0].note == "49 of 50 values still possible"
    svg = drawn(page.pictures[0])
    assert svg.count(">no. ") == MOST_RANKS_DRAWN - 1
    assert ">all 39 others<" in svg
    assert not re.search(r"all \d+ others", read_text(page_of(many(12))))


def test_which_value_is_meant_cannot_be_told_from_its_share() -> None:
    """Before and after are ranked apart: the value of the best guess is not shown beside its share in the release."""
    outcome = asked_of_many(["gender=M", "grade=C"])
    (table,) = page_of(outcome).sections[1].tables
    assert [[cell.text for cell in row] for row in table.groups[0].rows] == [
        ["no. 1", "70.0%", "100%"],
        ["no. 2", "30.0%", "0%"],
    ]


@settings(max_examples=15, deadline=None)
@given(st.lists(st.integers(0, 5), min_size=2, max_size=60), st.data())
def test_what_is_shown_of_a_secret_adds_up_to_one(ills: list[int], data: st.DataObject) -> None:
    ages = data.draw(st.lists(st.sampled_from("34"), min_size=len(ills), max_size=len(ills)))
    columns = {"age": ages, "ill": [f"{i}{age}" for i, age in zip(ills, ages, strict=True)]}
    table = read(pa.table({name: values * 30 for name, values in columns.items()}))
    outcome = target(table, known=[f"age={ages[0]}"], sensitive=["ill"])
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
    said = told(outcome)
    assert [name in said[i + 1] for i, name in enumerate(["s0", "s1", "s2"])] == [True] * 3
    assert said[-1] == "What is learned about 2 further secrets is in a table."
    page = page_of(outcome)
    assert page.pictures == (), "one bar would say no more than the sentence"
    assert [table.groups[0].title for table in page.sections[1].tables] == list(columns)


def test_the_figures_are_exact_on_hover_where_many_fit() -> None:
    page = page_of(asked_of_many(["gender=F"], population=register(12)))
    html = to_html(page)
    assert 'title="1/120">0.00833333</td>' in html
    assert 'title="1/10">0.1</td>' in html
    assert 'title="7/10">70.0%</td>' in html
    assert 'title="5/6">83.3%</td>' in html
    said = read_text(page)
    assert "IRS identify the person 0.00833333 0.0166667 0.00833333 × 2 no" in said
    assert "IAS infer disability 0.7 0.8 0.1 × 1.14286 no" in said
    assert "Number of people who may be meant 168 72" in said
    assert "Counted in register.csv." in said


def test_the_figures_are_rough_where_few_fit() -> None:
    page = page_of(asked(["gender=F", "grade=A"], population=REGISTER))
    said = read_text(page)
    assert "IRS identify the person 0.1 more than 10.0% – – no" in said
    assert "IAS infer disability &gt; 60.0% &lt; 66.7% – – no" in said
    assert "Number of people who may be meant 14 fewer than 10" in said
    assert "The person is in the release 71.4% &gt; 60.0%" in said
    assert "A record that she picks is the person&#39;s 7.1% &gt; 10.0%" in said
    assert 'title="1/2"' not in to_html(page)


def test_gains_are_numbers_or_money_where_many_fit() -> None:
    tried = asked_of_many(["grade=C"], gains={("disability",): Tries(2), (): Tries(2)})
    page = read_text(page_of(tried))
    assert "IRS identify the person 0.0166667 0.0555556 0.0388889 × 3.33333" in page
    assert "IAS infer disability 1 1 0 × 1" in page
    worth: Any = {("disability",): {"yes": 100, "no": 1}}
    page = read_text(page_of(asked_of_many(["grade=C"], gains=worth), currency="R$"))
    assert "IAS infer disability R$ 30.00 R$ 66.67 R$ 36.67 × 2.22222" in page
    assert "What she gains" not in read_text(page_of(asked(["grade=C"])))


def test_gains_that_would_tell_a_value_or_a_small_number_are_not_shown() -> None:
    worth: Any = {("disability",): {"yes": 100, "no": 1}, (): Tries(2)}
    few = read_text(page_of(asked(["grade=C"], gains=worth)))
    assert "IRS identify the person 0.2 not shown not shown not shown" in few
    certain = read_text(page_of(asked_of_many(["grade=C", "gender=M"], gains=worth)))
    assert "IAS infer disability 30 not shown not shown not shown" in certain
    assert "100" not in certain.partition("What she gains")[2].partition("What she believes")[0]


def test_the_page_says_that_it_is_personal_data_and_what_it_leaves_out() -> None:
    page = page_of(asked(["grade=C"]))
    assert page.lead == (
        "10 records; what is known about one person: grade. This report is personal data."
    )
    assert page.limits[0].startswith("This report is about one person, and is itself personal")
    assert "holds no value of any record" in page.limits[1]
    assert page.limits[2] == (
        "glasshouse target --json prints all of it exactly, for the analyst alone."
    )
    assert [term.name for term in page.glossary[:3]] == [
        "Candidates",
        "Certain",
        "Guess before, guess after",
    ]
    assert "prosecutor risk" in [term.name for term in page.glossary]
    assert page.command == "glasshouse target --study study.toml"
    assert all(figure.table is not None for figure in page.pictures)


@pytest.mark.parametrize("times", [1, 12])
@pytest.mark.parametrize("fraction", [None, 0.5])
def test_no_value_of_a_record_is_in_a_report(times: int, fraction: float | None) -> None:
    table = read(
        pa.table(
            {
                "age": ["zebra1", "zebra1", "zebra1", "zebra2"] * times,
                "ill": ["zebra3", "zebra3", "zebra4", "zebra5"] * times,
            }
        ),
        quasi_identifiers=["age"],
        sensitive=["ill"],
    )
    worth: Any = {("ill",): {"zebra3": 7, "zebra4": 8, "zebra5": 9}}
    outcome = target(table, known=["age=zebra1"], gains=worth, fraction=fraction)
    for language in ("en", "pt-BR"):
        with speaking(language):
            assert "zebra" not in everything(page_of(outcome))
    assert "“zebra3”" in told(outcome)[1]


@given(st.integers(2, 9), st.integers(10, 40))
@settings(max_examples=12, deadline=None)
def test_reports_on_few_differ_in_nothing_that_counts_them(few: int, others: int) -> None:
    """Whoever reads that fewer than 10 fit reads the same of the record, however many they are."""

    def said(fitting: int) -> tuple[str, ...]:
        ages = ["1"] * fitting + ["2"] * (others + 9 - fitting)
        table = read(pa.table({"age": ages}), quasi_identifiers=["age"], name="a.csv")
        page = page_of(target(table, known=["age=1"], sensitive=[]))
        finding = page.findings[0]
        rows = [cell for row in page.sections[0].tables[0].groups[0].rows for cell in row]
        return (finding.sentence, finding.figure, *(f"{cell.text} {cell.exact}" for cell in rows))

    assert said(few) == said(9)


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
    html = to_html(page_of(outcome, subject=hostile))
    assert_it_asks_nobody(html)
    assert not {"script", "img", "b"} & {tag for tag, _ in tags(html)}
    assert all(character.isprintable() or character == "\n" for character in html)
    for sentence in told(outcome):
        assert "x" * 100 not in sentence.replace(hostile, "")


def test_treatment_is_told_and_a_single_column_once() -> None:
    steps = (
        Step("a.csv", "missing value", "age", 50, 35),
        Step("a.csv", "missing value", None, 50, 35),
    )
    page = read_text(page_of(replace(asked(["grade=C"]), steps=steps)))
    done = page.partition("What was done to the data")[2].partition("How to reproduce it")[0]
    assert done.endswith("Records after a.csv missing value age 50 15 35 ")


EXAMPLES = {
    "target-few": asked(["gender=F", "grade=A"], population=REGISTER),
    "target-one": asked(["gender=F", "grade=C"]),
    "target-many": asked_of_many(["gender=F"], population=register(12)),
    "target-certain": asked_of_many(["grade=D"], fraction=Fraction(1, 10)),
    "target-absent": asked(["grade=Z"], population=REGISTER),
    "target-nothing": ill("aab" * 20, "333" * 20, "3"),
}


@pytest.mark.parametrize("example", EXAMPLES)
def test_what_reports_say_is_kept(example: str) -> None:
    assert_snapshot(example, lambda: found(EXAMPLES[example], subject="student"))


def test_what_the_analyst_is_told_is_kept() -> None:
    outcome = EXAMPLES["target-few"]
    assert_snapshot("target-exact", lambda: found(outcome, subject="student", exact=True))


def test_of_few_candidates_with_the_secret_no_chance_is_told_however_many_fit() -> None:
    illness = ["yes", "yes", "yes", "no", "no", *[""] * 55, *["no", "yes"] * 70]
    people = pa.table({"gender": ["F"] * 60 + ["M"] * 140, "ill": illness})
    table = read(people, quasi_identifiers=["gender"], sensitive=["ill"], name="people.csv")
    outcome = target(table, known=["gender=F"])
    assert (outcome.candidates, outcome.secret("ill").missing_candidates) == (60, 55)
    assert "right in 60.0% of cases" in " ".join(told(outcome))
    shown = everything(page_of(outcome))
    assert "60 of the 200 records fit" in shown
    assert "less than 66.7%" in shown
    for small in ("60.0%", "3/5"):
        assert small not in shown
    assert "In 55 records the ill is missing" in shown


def test_a_table_and_a_sentence_tell_the_same_bound_of_two_values() -> None:
    illness = ["yes", "yes", "yes", "no", "no", *["no", "yes"] * 70]
    people = pa.table({"gender": ["F"] * 5 + ["M"] * 140, "ill": illness})
    table = read(people, quasi_identifiers=["gender"], sensitive=["ill"], name="people.csv")
    shown = page_of(target(table, known=["gender=F"]))
    assert "is right in less than 66.7% of cases" in shown.findings[1].sentence
    ((row,),) = (group.rows for group in shown.sections[1].tables[0].groups)
    assert [cell.text for cell in row] == ["no. 1", "50.3%", "< 66.7%"]


DIRECTIONS = {
    "harder": {"en": "harder to guess", "pt-BR": "mais difícil"},
    "hardly": {"en": "hardly changes", "pt-BR": "quase não muda"},
    "certain": {"en": "with certainty", "pt-BR": "com certeza"},
    "nothing": {"en": "Nothing is learned", "pt-BR": "Nada se descobre"},
}
"""What says in which direction a guess at a secret changes."""


@tries("target", "hardly changes", "harder to guess", "correct guesses at {secret}, without these")
@settings(max_examples=examples(40), deadline=None)
@given(st.lists(st.tuples(st.sampled_from("34"), st.sampled_from("abc")), min_size=2, max_size=80))
@example([("3", value) for value in "abc" * 20] + [("4", value) for value in "aabbc" * 4])
@example([("3", "a")] * 499 + [("3", "b")] * 498 + [("4", "b")] * 3)
@example([("3", "a")] * 499 + [("3", "b")] * 498 + [("4", "a")] * 4)
def test_what_compares_before_and_after_says_the_numbers_of_the_outcome(
    people: list[tuple[str, str]],
) -> None:
    ages = "".join(age for age, _ in people)
    outcome = ill("".join(value for _, value in people), ages, ages[0])
    (secret,), naming = outcome.secrets, outcome.naming
    after, before = secret.guess.posterior, secret.guess.prior
    everybody = outcome.candidates == outcome.records
    moved = any(belief.prior != belief.posterior for belief in secret.values)
    alike = percentage(after) == percentage(before)
    nearly = abs(after - before) < min(Fraction(1, 200), before / 20)
    direction = (
        "nothing" if before == 1 or not moved
        else "certain" if secret.certain
        else "hardly" if alike or nearly
        else "harder" if after < before
        else ""
    )  # fmt: skip
    for language in LANGUAGES:
        with speaking(language):
            fitting, learned = told(outcome)
            in_report = reported(outcome)[1]
            changes = [tile.figure for tile in page_of(outcome).tiles if "→" in tile.figure]
        for change in changes:
            if not re.search("[<>]|less|more|menos|mais", change):
                assert_it_says(change, before, after)
        heard = [name for name, words in DIRECTIONS.items() if words[language] in in_report]
        assert heard in ([direction] if direction else [], []), in_report
        if outcome.candidates > 1:
            figures = (naming.posterior,) if everybody else (naming.posterior, naming.prior)
            assert_it_says(fitting, *figures)
        heard = [name for name, words in DIRECTIONS.items() if words[language] in learned]
        assert heard == ([direction] if direction else [])
        if before < 1:
            one = direction in ("nothing", "certain") or (direction == "hardly" and alike)
            assert_it_says(learned, *((before,) if one else (after, before)))


SAME = {"en": ": practically the same", "pt-BR": ": praticamente o mesmo"}


@pytest.mark.parametrize(
    ("language", "said"),
    [
        (
            "en",
            "What is known hardly changes how well this person's ill is guessed: the best guess is right in 34.7% of "
            "cases, and without it in 34.8%.",
        ),
        (
            "pt-BR",
            "O que se sabe quase não muda o acerto sobre o valor de ill desta pessoa: a melhor tentativa acerta em "
            "34,7% dos casos, e sem isso em 34,8%.",
        ),
    ],
)
def test_a_tenth_of_a_point_makes_nothing_harder_to_guess_and_is_no_reason_to_protect(
    language: str, said: str
) -> None:
    values = "a" * 347 + "b" * 330 + "c" * 323 + "a" * 349 + "b" * 330 + "c" * 321
    outcome = ill(values, "3" * 1000 + "4" * 1000, "3")
    with speaking(language):
        page = page_of(outcome)
        assert page.findings[1].sentence == said
        (given,) = [tile for tile in page.tiles if "→" in tile.figure]
        assert given.sentence.endswith(SAME[language])
        assert protect_the_secret() not in [action.sentence for action in page.actions]
        slightly = page_of(ill(values, "3" * 1000 + "4" * 1000, "4"))
        assert protect_the_secret() not in [action.sentence for action in slightly.actions]
        much = page_of(ill("a" * 50 + "b" * 60, "3" * 60 + "4" * 50, "3"))
        assert protect_the_secret() in [action.sentence for action in much.actions]


@settings(max_examples=examples(20), deadline=None)
@given(st.integers(1, 9), st.integers(1, 9), st.integers(0, 9), st.integers(0, 9))
def test_what_a_journalist_counts_says_the_numbers_of_the_outcome(
    inside: int, others: int, outside: int, further: int
) -> None:
    release = read(pa.table({"age": ["3"] * inside + ["4"] * others}), quasi_identifiers=["age"])
    ages = ["3"] * (inside + outside) + ["4"] * (others + further)
    outcome = target(
        release, known=["age=3"], population=read(pa.table({"age": ages}), name="r.csv")
    )
    journalist = outcome.journalist
    assert journalist is not None
    for language in LANGUAGES:
        with speaking(language):
            counted = told(outcome)[-1]
        presence = journalist.presence
        if presence.posterior < 1:
            assert_it_says(counted, presence.posterior, presence.prior, journalist.naming.posterior)


def test_the_first_screen_says_whether_the_person_can_be_found_and_what_to_do() -> None:
    few = page_of(asked(["grade=A"]))
    assert few.first_sentence == "This person can be found among fewer than 10 of the 10 records."
    assert [(tile.figure, tile.sentence) for tile in few.tiles] == [
        ("< 10 records", "fit what is known, of 10 in all"),
        ("1 fact", "grade"),
    ]
    (action,) = few.actions
    assert action.sentence.startswith("10 students are too few for this rule")
    *_, action = page_of(asked_of_many(["grade=C", "gender=F"])).actions
    assert action.sentence == (
        "Publish grade and gender in less detail, so that more people look like this one."
    )
    assert action.command == ("glasshouse protect students.csv -q grade -q gender --out protected")
    one = page_of(asked(["gender=F", "grade=C"]))
    assert one.first_sentence == (
        "This person can be found: only one of the 10 records fits what is known."
    )
    many = page_of(asked_of_many(["grade=D"], population=register(12)))
    assert many.first_sentence == (
        "This person cannot be told apart among the 24 of 120 records that fit what is known. Yet disability is "
        "certain."
    )
    assert [tile.figure for tile in many.tiles] == ["24 records", "70.0% → 100%", "100%"]


# People with several records


def several(people: list[tuple[str, str]], *known: str, secrets: tuple[str, ...] = ()) -> Target:
    """Return the attack on one of some people, each of whom has a record per letter of places and of diagnoses."""
    rows = [
        (str(who), *row) for who, (at, of) in enumerate(people) for row in zip(at, of, strict=True)
    ]
    who, place, icd = map(list, zip(*rows, strict=True))
    table = read(
        pa.table({"who": who, "place": place, "icd": icd}),
        quasi_identifiers=["place"],
        also=["who", "icd"],
        name="visits.csv",
    )
    return target(table, person="who", known=known, sensitive=secrets)


TWO_VISITS = ("place=A", "place=B")
OF_PEOPLE = ("any icd=F", "other icd")
MANY = [("AB", "IJ")] * 30 + [("ABC", "FIJ")] * 20 + [("CC", "II")] * 50 + [("A", "F")] * 15
HISTORIES = {
    "target-people": several(MANY, *TWO_VISITS, secrets=OF_PEOPLE),
    "target-people-one": several(
        [*MANY, ("ABDD", "FIIF")], "place=D", "place=D", secrets=OF_PEOPLE
    ),
    "target-people-few": several([*MANY[:3], *MANY[-9:]], *TWO_VISITS, secrets=OF_PEOPLE),
    "target-people-all": several(MANY[:50], *TWO_VISITS, secrets=OF_PEOPLE),
    "target-people-suppressed": several([*MANY, ("**", "FI")], *TWO_VISITS, secrets=("count",)),
}


@pytest.mark.parametrize("example", HISTORIES)
def test_what_reports_say_of_people_with_several_records_is_kept(example: str) -> None:
    assert_snapshot(example, lambda: found(HISTORIES[example]))


def test_what_the_analyst_is_told_of_them_is_kept() -> None:
    outcome = HISTORIES["target-people"]
    assert_snapshot("target-people-exact", lambda: found(outcome, exact=True))


def test_a_page_speaks_of_people_and_of_the_records_that_are_known() -> None:
    page = page_of(HISTORIES["target-people"], subject="person")
    assert page.lead == (
        "115 people with 235 records; what is known about one of them: place of 2 records. This "
        "report is personal data."
    )
    assert page.summary == (
        "This person is one of 50, of the 100 people with at least 2 records, whose records fit what is known. Yet icd "
        "in another record is certain."
    )
    assert [(tile.figure, tile.sentence) for tile in page.tiles] == [
        ("50 people", "have records that fit what is known, of 100 who have that many"),
        ("2 records", "place of 2 records"),
    ]
    assert not any(action.command for action in page.actions), "anonymise knows no people"


def test_what_is_known_of_each_record_is_said() -> None:
    outcome = several(MANY, "place=A,icd=F", "place=B", "place=C")
    assert "(place and icd of 1 record and place of 2 records)" in told(outcome)[0]


@pytest.mark.parametrize(
    ("people", "other"),
    [
        ([("AB", "FF")] * 2 + [("CC", "FF")] * 20, [("AB", "FJ")] * 9 + [("CC", "FF")] * 13),
        ([("AB", "II")] * 2 + [("C", "F")] * 20, [("AB", "II")] * 7 + [("C", "F")] * 15),
        ([("AB", "IJ")] * 2 + [("C", "F")] * 20, [("ABC", "IJF")] * 3 + [("C", "F")] * 13),
    ],
    ids=["few fit", "few have so many", "few have so many, and have more"],
)
def test_few_people_look_alike(people: list[tuple[str, str]], other: list[tuple[str, str]]) -> None:
    for language in LANGUAGES:
        with speaking(language):
            first, second = (
                page_of(several(who, *TWO_VISITS, secrets=("any icd=F",)), subject="person")
                for who in (people, other)
            )
        assert first.findings == second.findings
        assert (first.summary, first.tiles) == (second.summary, second.tiles)
        assert first.sections == second.sections


def test_a_chance_does_not_tell_whose_records_fit() -> None:
    """With the release at hand, an exact chance would tell which records were asked about."""
    histories = ["A" * (1 + more % 3) + "B" + "C" * more for more in range(3, 40)]
    outcome = several([(places, "I" * len(places)) for places in histories], *TWO_VISITS)
    exact = outcome.naming.posterior
    assert exact.denominator > 1000
    told = page_of(outcome, subject="person")
    assert f"right in more than {100 * float(exact):.0f}.0% of cases" in told.findings[0].sentence
    assert str(exact.denominator) not in everything(told).replace(",", "")
    assert f"{float(exact):.6f}"[:6] not in everything(told)


@settings(max_examples=examples(60), deadline=None)
@given(
    st.lists(
        st.text("ABC", min_size=1, max_size=4).map(lambda places: (places, "FIJI"[: len(places)])),
        min_size=1,
        max_size=40,
    )
)
@example(MANY[:50])
@example([("AB", "IJ")] * 12)
@example([("AB", "IJ")] * 30 + [("ABC", "FIJ")] * 9)  # 2.5% before, and the middle of what is told
def test_what_is_said_of_people_has_the_numbers_of_the_outcome(
    people: list[tuple[str, str]],
) -> None:
    people = [("ABB", "FIJ"), *people]
    outcome = several(people, *TWO_VISITS, secrets=("any icd=F",))
    naming, (secret,) = outcome.naming, outcome.secrets
    one, alike = outcome.candidates == 1, naming.posterior == naming.prior
    few = not is_shown(outcome.records)
    for language in LANGUAGES:
        with speaking(language):
            exact, learned = told(outcome)[:2]
            fitting, in_report = reported(outcome)[:2]
        figures = (naming.posterior,) if alike else (naming.posterior, naming.prior)
        assert_it_says(exact, *(() if one else figures))
        assert_it_says(fitting, *(() if one else figures[:1] if few else figures))
        as_before = {"en": "as before", "pt-BR": "como antes"}[language]
        assert (as_before in fitting) == (alike and not one and not few)
        is_certain = secret.certain and secret.guess.prior < 1
        assert (DIRECTIONS["certain"][language] in learned) == is_certain
        if is_certain:
            assert_it_says(learned, secret.guess.prior)
        for sentence in (learned, in_report):
            if DIRECTIONS["harder"][language] in sentence:
                assert secret.guess.posterior < secret.guess.prior


@pytest.mark.parametrize(
    ("people", "measured"),
    [
        ([("AB", "II")] * 40, (33, True)),  # 2.5%: less than 3%
        ([("AB", "II")] * 3 + [("AB" + "C" * 20, "I" * 22)] * 40, (1, True)),
        ([("AB", "II")] * 9, (1, True)),
    ],
    ids=["all alike", "three likelier by far", "few"],
)
def test_a_rule_counts_as_many_as_would_make_the_best_guess_right_as_often(
    people: list[tuple[str, str]], measured: tuple[int, bool]
) -> None:
    smallest, highest = target_measures(several(people, *TWO_VISITS))
    assert (smallest.measure, highest.measure) == ("smallest-class", "highest-risk")
    assert (int(smallest.value), smallest.is_bound) == measured
    assert highest.value == Fraction(1, measured[0])
