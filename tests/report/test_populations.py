"""What is estimated without a register is called an estimate, with those who estimated it."""

from __future__ import annotations

import re
from dataclasses import replace
from fractions import Fraction

import pyarrow as pa
import pytest

from glasshouse.microdata.uniqueness import Estimate, population_risks
from glasshouse.report.page import Provenance, render
from glasshouse.report.populations import population_page, population_sentences
from glasshouse.table import read
from tests.report.test_document import assert_it_asks_nobody, text

PROVENANCE = Provenance("1.2.3", 'command = "membership"\n', {"sample.csv": "0" * 64})
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
        "Someone with a register of the population would name an estimated 6 to 8 of every 100 records right.",
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
