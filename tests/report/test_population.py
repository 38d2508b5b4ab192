"""What is estimated without a register is called an estimate, with those who estimated it."""

from __future__ import annotations

import re
from dataclasses import replace
from fractions import Fraction

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from glasshouse.language import LANGUAGES, speaking, translated
from glasshouse.measures.membership import measured
from glasshouse.measures.verdict import Decision, verdict_on
from glasshouse.microdata.uniqueness import Estimate, PopulationRisks, population_risks
from glasshouse.report.html import to_html
from glasshouse.report.membership.population import _chosen, population_findings
from glasshouse.report.page import Finding, Severity
from glasshouse.report.verdict import value_words
from glasshouse.report.words import percentages
from glasshouse.study.policy import POLICIES
from glasshouse.table import read
from tests.examples import examples
from tests.report.reading import assert_it_asks_nobody, assert_it_says, drawn, read_text, tries
from tests.report.snapshots import assert_snapshot
from tests.report.test_membership import page_of

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


@pytest.mark.parametrize("fraction", [1.0, 0.01, 1e-6])
def test_a_small_sample_with_large_classes_has_findings(fraction: float) -> None:
    """SciPy knows no ₂F₁ of classes of 100 and more where nearly all of the population is missing."""
    classes = pa.table({"class": ["a"] * 3_000 + ["b"] * 120 + ["c", "d", "e", "e"]})
    table = read(classes, quasi_identifiers=["class"])
    assert len(sentences(population_risks(table, fraction=fraction))) > 1


def sentences(risks: PopulationRisks) -> tuple[str, ...]:
    return tuple(finding.sentence for finding in population_findings(risks))


def test_what_is_estimated_is_called_so() -> None:
    assert sentences(RISKS) == (
        "40 of the 100 records of sample.csv are alone with their age and sex. Of these, by estimate, 12 would be "
        "alone in the whole population, too: 12.0% of all records. Of the population of about 1,000 people, by "
        "estimate, 120 (12.0%) would be alone.",
        "How many are alone in the population is estimated, not counted, and the estimates differ: from 90 to 120 "
        "people; 120 is taken.",
        (
            "Someone with a register of the population would, by estimate, identify 6.0% to 8.0% of "
            "the records correctly."
        ),
    )
    assert population_findings(RISKS)[1].figure == (
        "The estimate of Pitman is taken, by the rule of Dankar et al. 2012. There is no answer from SNB."
    )


def test_an_estimate_that_is_more_than_fits_is_called_so() -> None:
    risks = replace(RISKS, uniques=1)
    assert (
        "although it is more than fits the release. There" in population_findings(risks)[1].figure
    )


def test_the_estimators_are_shown_with_the_one_that_is_taken() -> None:
    page = page_of(RISKS)
    html = to_html(page)
    assert_it_asks_nobody(html)
    said = read_text(page)
    assert "Zayatz Zayatz 1999 90 9.0% 30.0% yes – taken: Pitman Pitman 1999 120" in said
    assert "SNB SNB 1999 – – – no it needs classes of one record and of two" in said
    assert "Highest chance that a record is identified (journalist), estimated 10.0%" in said
    assert "The same with the number of classes in the population, estimated 8.0%" in said
    (figure,) = page.pictures
    assert ">120<" in drawn(figure)
    assert ">120 of about 1,000 people are alone in the population, by the estimate" in drawn(
        figure
    )
    assert figure.table is not None
    assert [row[1].text for row in figure.table.groups[0].rows] == ["90", "120"]
    assert page.lead.startswith("100 records, 10.0% of a population of about 1,000 people;")
    assert html.count("taken:") == 1


@pytest.mark.parametrize(
    ("change", "place", "said"),
    [
        ({"uniques": 0}, 0, "None of the 100 records of sample.csv is alone with its age and sex: nobody in"),
        ({"uniques": 0}, 0, "is alone in the population. Of the population of about 1,000 people, by estimate, 120"),
        ({"uniques": 1}, 0, "1 of the 100 records of sample.csv is alone with its age and sex. Of these, by"),
        ({"uniques": 4}, 0, "Of these, by estimate, 1 would be alone in the whole population, too: 1.0% of all"),
        ({"uniques": 1}, 0, "Of these, by estimate, none would be alone in the whole population. Of"),
        ({"fraction": Fraction(1)}, 0, "with their age and sex. As the release is said to be the whole population,"),
        ({"fraction": Fraction(1)}, 1, "The release is said to be the whole population: nothing is left"),
        ({"suppressed": 2}, 3, "2 further records show nothing but “*” and are left out."),
        ({"suppressed": 1}, 3, "1 further record shows nothing but “*” and is left out."),
        ({"marketer_expected": 0.06, "marketer_by_classes": 0.0600001}, 2, "identify 6.0% of the records correctly"),
        (
            {"estimates": (estimated("Zayatz", 0.2), estimated("Dankar", 0.2))},
            0,
            "by estimate, fewer than 1 (< 0.1%) would be alone.",
        ),
        (
            {"estimates": (estimated("Zayatz", 5.0), estimated("SNB", 5.0), estimated("Dankar", 5.0, "takes SNB"))},
            1,
            "How many are alone in the population is estimated, not counted.",
        ),
        ({"estimates": (estimated("SNB", None), estimated("Dankar", None))}, 0, "could not be estimated."),
        ({"estimates": (estimated("SNB", None), estimated("Dankar", None))}, 1, "No estimator of how many are"),
    ],
)  # fmt: skip
def test_estimates_at_their_limits(change: dict[str, object], place: int, said: str) -> None:
    risks = replace(RISKS, **change)  # type: ignore[arg-type]
    assert said in sentences(risks)[place]
    assert_it_asks_nobody(to_html(page_of(risks)))


@pytest.mark.parametrize("fraction", [0.05, 0.5, 1])
def test_a_real_sample_is_reported_without_its_values(fraction: float) -> None:
    risks = population_risks(SAMPLE, fraction=fraction)
    page = page_of(risks)
    html = to_html(page)
    assert html.count("taken:") == 1
    assert re.search(r">x<", html) is None
    assert all(finding.sentence.endswith(".") for finding in page.findings)


@pytest.mark.parametrize(
    ("uniques", "part", "severity"),
    [
        (0, 0.3, Severity.SAFE),
        (40, 0.9, Severity.HIGH),
        (40, 0.3, Severity.HIGH),
        (40, 0.03, Severity.MODERATE),
        (2, 0.3, Severity.MODERATE),
        (2, 0.2, Severity.LOW),
        (2, None, Severity.NOTE),
    ],
)
def test_the_records_alone_in_the_population_are_what_worries(
    uniques: int, part: float | None, severity: Severity
) -> None:
    taken = replace(RISKS.dankar, share_of_sample_uniques=part)
    risks = replace(RISKS, uniques=uniques, estimates=(*RISKS.estimates[:-1], taken))
    assert population_findings(risks)[0].severity == severity


SAMPLES = {
    "uniques only": list("abcdef"),
    "one class": list("aaaa"),
    "no uniques": list("aabbcc"),
    "uniques and pairs": list("abccddeee"),
    "uniques without pairs": list("abcccddd"),
    "mixed": [str(i) for i in range(60)] + [str(i) for i in range(40, 60)] + ["x"] * 20,
}


@pytest.mark.parametrize("fraction", [0.05, 0.3, 1])
@pytest.mark.parametrize("sample", SAMPLES)
def test_every_remark_of_an_estimator_is_translated(sample: str, fraction: float) -> None:
    table = read(pa.table({"zip": SAMPLES[sample]}), quasi_identifiers=["zip"])
    risks = population_risks(table, fraction=fraction)
    remarks = {part for each in risks.estimates for part in each.note.split("; ") if part}
    with speaking("pt-BR"):
        assert not [remark for remark in remarks if translated(remark) == remark]


def found(risks: PopulationRisks) -> tuple[Finding, ...]:
    return population_findings(risks, subject="student")


def test_what_reports_say_is_kept() -> None:
    assert_snapshot("population", lambda: found(RISKS))
    assert_snapshot("population-safe", lambda: found(replace(RISKS, uniques=0, suppressed=2)))
    assert_snapshot("population-whole", lambda: found(population_risks(SAMPLE, fraction=1)))


@tries("membership", "the estimates differ", "more than fits")
@settings(max_examples=examples(30), deadline=None)
@given(st.integers(1, 999), st.integers(1, 999), st.integers(1, 999), st.integers(1, 5000))
def test_from_and_to_are_the_lowest_and_the_highest_estimate(
    plain: int, expected: int, classes: int, other: int
) -> None:
    risks = replace(
        RISKS,
        marketer=Fraction(plain, 1000),
        marketer_expected=expected / 1000,
        marketer_by_classes=classes / 1000,
        estimates=(estimated("Zayatz", float(other)), *RISKS.estimates[1:]),
    )
    low, high = (Fraction(bound((plain, expected, classes)), 1000) for bound in (min, max))
    for language in LANGUAGES:
        with speaking(language):
            _, differing, named = sentences(risks)
            chosen = _chosen(estimated("Zayatz", float(other)), risks)
            same = len(set(percentages(low, high))) == 1
        exceeds = {"en": "more than fits", "pt-BR": "exceda o que"}[language] in chosen
        assert exceeds == (other > 10 * risks.uniques + 5)
        assert_it_says(named, *([low] if same else [low, high]))
        lowest, highest = sorted((other, 120))
        if lowest < highest:
            counts = [
                int(re.sub("[.,]", "", count)) for count in re.findall(r"[\d.,]*\d", differing)
            ]
            assert counts == [lowest, highest, 120]


def test_the_first_screen_says_who_is_alone_in_the_population() -> None:
    page = page_of(RISKS)
    assert [tile.figure for tile in page.tiles] == ["12.0%", "6.0% – 8.0%", "90 – 120"]
    assert [bool(action.command) for action in page.actions] == [True, False]


@pytest.mark.parametrize(
    ("code", "figure", "sentence"),
    [
        (
            "en",
            "16.7%",
            "Of these, by estimate, 2 would be alone in the whole population, too: 16.7% of",
        ),
        (
            "pt-BR",
            "16,7%",
            "Desses, pela estimativa, 2 são únicos também na população inteira: 16,7% de",
        ),
    ],
)
def test_one_estimate_is_rounded_one_way(code: str, figure: str, sentence: str) -> None:
    """Of 12 records 2.46 are estimated: two, in the figure, the finding and the condition of the rule."""
    estimate = replace(RISKS.dankar, share_of_sample_uniques=0.493)
    few = replace(RISKS, records=12, uniques=5, estimates=(*RISKS.estimates[:-1], estimate))
    with speaking(code):
        assert page_of(few).tiles[0].figure == figure
        assert sentence in sentences(few)[0]
        named = next(one for one in measured(few) if one.measure == "named")
        assert value_words(named) == figure


def test_the_verdict_agrees_with_what_worries() -> None:
    """Who is estimated to be alone in the population fails a rule that lets nobody be named for certain."""
    rule = POLICIES["open-data"]
    for uniques in (0, 3, 400):
        for part in (None, 0.0, 0.001, 0.5):
            estimate = replace(RISKS.dankar, share_of_sample_uniques=part)
            risks = replace(
                RISKS,
                records=1000,
                uniques=uniques,
                journalist_highest=Fraction(1, 100),
                marketer=Fraction(1, 100),
                marketer_expected=0.01,
                marketer_by_classes=0.02,
                estimates=(*RISKS.estimates[:-1], estimate),
            )
            verdict = verdict_on(measured(risks), rule)
            assert verdict is not None
            alone = uniques if part is None else int(uniques * part)
            assert verdict.decision == Decision.OPEN, "it is no verdict on the release"
            assert not verdict.meets
            assert (verdict.failed == 0) == (alone == 0)
            if not verdict.failed:
                assert Severity.HIGH not in {finding.severity for finding in found(risks)}
