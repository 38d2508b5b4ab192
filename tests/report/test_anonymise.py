"""What is said of a protected release, and of several beside their original."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from glasshouse.language import LANGUAGES
from glasshouse.mitigation import Anonymisation, Comparison
from glasshouse.report import Provenance
from glasshouse.report.anonymise.page import page as protection_page
from glasshouse.report.anonymise.page import protection_findings
from glasshouse.report.compare.page import (
    Choice,
    comparison_findings,
    comparison_page,
    releases_table,
)
from glasshouse.report.html import to_html
from glasshouse.report.page import Finding, Severity
from glasshouse.runs import Resources
from glasshouse.runs import anonymise as runs_anonymise
from glasshouse.runs import compare as runs_compare
from glasshouse.runs.folder import provenance_of
from glasshouse.study import validated
from glasshouse.study.anonymise import AnonymiseStudy
from glasshouse.study.compare import CompareStudy
from glasshouse.study.question import Treatment
from tests.cli.test_anonymise import PEOPLE
from tests.cli.test_longitudinal import write
from tests.report.reading import telling
from tests.report.snapshots import assert_snapshot

PROVENANCE = Provenance("1.0", "", ())


@pytest.fixture(autouse=True)
def people(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    write("people.csv", PEOPLE)
    write("balanced.csv", PEOPLE | {"ill": ["a", "b", "c"] * 4})
    lonely = {name: [*values, "9"] for name, values in PEOPLE.items()}
    write("lonely.csv", lonely | {"age": [*["20"] * 12, "90"], "sex": [*["F"] * 12, "M"]})
    write("alike.csv", PEOPLE | {"age": ["20"] * 12, "sex": ["F"] * 6 + ["M"] * 6})


def study(
    file: str = "people.csv", *, sensitive: tuple[str, ...] = ("ill",), **how: Any
) -> AnonymiseStudy:
    content = {
        "command": "anonymise",
        "datasets": [{"path": file}],
        "adversary": {"quasi_identifiers": ["age", "sex"], "sensitive": list(sensitive)},
        "protection": {"method": "k-anonymity"} | how,
    }
    return validated(AnonymiseStudy, content, "test")


def protected(file: str = "people.csv", **how: Any) -> Anonymisation:
    return runs_anonymise.answer(study(file, **how), resources=Resources()).outcome


def compared(file: str = "people.csv", *, hows: list[dict[str, Any]]) -> Comparison:
    names = [", ".join(f"{name} = {value}" for name, value in how.items()) for how in hows]
    studies = [study(file, **how) for how in hows]
    question = CompareStudy(protections=dict(zip(names, studies, strict=True)))
    outcome = runs_compare.answer(question, resources=Resources()).outcome
    assert isinstance(outcome, Comparison)
    return outcome


QUESTION = CompareStudy(runs=(Path("first"), Path("second")))
"""A question with the policy that is taken by default."""


def severities(findings: tuple[Finding, ...]) -> list[str]:
    return [finding.severity.value for finding in findings]


EXAMPLES: dict[str, tuple[str, dict[str, Any]]] = {
    "k-anonymity": ("people.csv", {"k": 3}),
    "anatomy": ("balanced.csv", {"method": "anatomy", "l": 3}),
    "suppressed": ("lonely.csv", {"k": 3, "suppression": 0.1}),
    "mondrian": ("people.csv", {"k": 2, "recoding": "mondrian"}),
    "other-objective": ("people.csv", {"k": 6, "objective": "discernibility"}),
    "nothing-to-do": ("alike.csv", {"k": 2}),
}


@pytest.mark.parametrize("name", EXAMPLES)
def test_what_is_said_of_a_protection(name: str) -> None:
    file, how = EXAMPLES[name]
    run = protected(file, **how)
    assert_snapshot(f"protection-{name}", lambda: protection_findings(run, subject="student"))


def test_of_every_sensitive_attribute_it_is_said_what_is_left_of_it() -> None:
    write("two.csv", PEOPLE | {"job": ["x", "y"] * 6})
    run = protected("two.csv", k=3, sensitive=("ill", "job"))
    inferring = [finding.sentence for finding in protection_findings(run)[1:3]]
    assert sorted(name for name in ("ill", "job") for said in inferring if f" {name} " in said) == [
        "ill",
        "job",
    ]


def test_anatomy_does_not_protect_against_naming_and_that_is_a_high_risk() -> None:
    run = protected("balanced.csv", method="anatomy", l=3)
    naming, inferring, group, *_ = protection_findings(run)
    assert naming.severity == Severity.HIGH
    assert "does not protect against identification" in naming.sentence
    assert inferring.sentence.startswith("Nobody's ill is known for certain any more")
    assert group.severity == Severity.SAFE
    assert "but not the sensitive value: the group only shows that it is one of at least 3" in (
        naming.meaning
    )
    assert "less detail" in naming.remedy


def test_whoever_is_named_in_a_recoded_release_is_read() -> None:
    naming, *_ = protection_findings(protected(k=1))
    assert (
        naming.meaning
        == "Once a person is identified, everything else that is released in the record is known, too."
    )
    assert naming.remedy.startswith(
        "A stricter protection makes it harder: more people who look alike (a larger k"
    )


def test_a_better_guess_by_anatomy_asks_for_a_larger_l() -> None:
    write("rare.csv", {"age": list("abcdefgh"), "sex": list("FMFMFMFM"), "ill": list("stuvwxyz")})
    _, inferring, *_ = protection_findings(protected("rare.csv", method="anatomy", l=2))
    assert inferring.severity == Severity.HIGH
    assert inferring.remedy.startswith("Ask for groups with more different values (a larger l):")


@pytest.mark.parametrize(
    ("how", "remedy"),
    [
        ({"k": 2}, "k-anonymity alone does not stop this"),
        (
            {"method": "l-diversity", "l": 1},
            "Ask for groups with more different values (a larger l), or",
        ),
        (
            {"method": "t-closeness", "t": 1.0},
            "Ask for groups that are more like all records (a smaller t)",
        ),
    ],
)
def test_the_remedy_is_more_than_what_was_done(how: dict[str, Any], remedy: str) -> None:
    write("same.csv", {"age": list("aabb"), "sex": list("FFMM"), "ill": list("xxyy")})
    _, inferring, *_ = protection_findings(protected("same.csv", **how))
    assert inferring.remedy.startswith(remedy)


def test_nothing_is_said_of_anatomy_that_it_does_not_do() -> None:
    run = protected("balanced.csv", method="anatomy", l=3)
    page = protection_page(run, study(k=2), provenance=PROVENANCE)
    assert "recoded" not in " ".join(page.adversary)
    assert "published as they are" in page.adversary[1]
    protection = next(each for each in page.sections if each.title == "How it is protected")
    options = [row[0].text for row in protection.tables[0].groups[0].rows]
    assert [option for option in options if option.startswith("--")] == ["--l"]
    assert "Loss" not in [term.name for term in page.glossary]


def test_the_objective_is_no_option_of_mondrian() -> None:
    page = protection_page(protected(k=2, recoding="mondrian"), study(k=2), provenance=PROVENANCE)
    protection = next(each for each in page.sections if each.title == "How it is protected")
    options = [row[0].text for row in protection.tables[0].groups[0].rows]
    assert "--recoding" in options
    assert "--objective" not in options


def test_a_study_is_not_said_to_lack_values_that_it_does_not_name() -> None:
    plain, seeded = study(k=2), study(k=2).model_copy(update={"seed": 7})
    named = study(k=2).model_copy(
        update={"treatment": Treatment.model_validate({"where": ["sex=F"]})}
    )
    told = [provenance_of(each, {}) for each in (plain, seeded, named)]
    assert [(each.abridged, each.seed_withheld) for each in told] == [
        (False, False),
        (False, True),
        (True, False),
    ]
    assert "7" not in told[1].study


def test_a_guess_that_became_harder_is_not_said_to_be_the_same() -> None:
    write("pairs.csv", {"age": ["21", "21", "22", "22"], "sex": ["F"] * 4, "ill": list("abab")})
    naming, *_ = protection_findings(protected("pairs.csv", k=4))
    assert naming.sentence == (
        "Nobody can be identified outright, neither in the original nor in the protected "
        "release. Guesses at who it is are right in 25.0% of cases, down from 50.0%."
    )


def test_few_suppressed_records_are_a_risk_of_their_own() -> None:
    *_, last = protection_findings(protected("lonely.csv", k=3, suppression=0.1))
    assert last.severity == Severity.MODERATE
    assert last.sentence.startswith("Only 1 record (7.7%) is suppressed")


@pytest.mark.parametrize("name", ["k-anonymity", "anatomy", "other-objective"])
def test_the_page_of_a_protection_in_every_language(name: str) -> None:
    file, how = EXAMPLES[name]
    run = protected(file, **how)
    for code in LANGUAGES:
        with telling(code):
            page = protection_page(run, study(k=2), provenance=PROVENANCE)
            assert "<svg" in to_html(page)
            assert all(figure.table is not None for figure in page.pictures)
            assert len(page.pictures) == 1
            assert page.adversary
            assert page.limits
            assert page.glossary
            if code == "pt-BR":
                assert page.title == "Uma versão protegida e o que ela ainda revela"


COMPARISONS: dict[str, tuple[str, list[dict[str, Any]]]] = {
    "several": ("people.csv", [{"k": 2}, {"k": 3}, {"k": 6}]),
    "one": ("people.csv", [{"k": 3}]),
    "anatomy": ("balanced.csv", [{"method": "anatomy", "l": 3}]),
    "diverse": ("balanced.csv", [{"k": 2}, {"method": "l-diversity", "l": 2}]),
}


@pytest.mark.parametrize("name", COMPARISONS)
def test_what_is_said_of_releases_side_by_side(name: str) -> None:
    file, hows = COMPARISONS[name]
    outcome = compared(file, hows=hows)
    assert_snapshot(f"comparison-{name}", lambda: comparison_findings(outcome, QUESTION))


def test_a_release_that_another_one_beats_is_named() -> None:
    outcome = compared("people.csv", hows=[{"k": 3}, {"k": 3, "recoding": "local"}])
    sentences = [finding.sentence for finding in comparison_findings(outcome, QUESTION)]
    beaten = [sentence for sentence in sentences if "is beaten by" in sentence]
    rows = {row.name: row for row in outcome.rows}
    for sentence in beaten:
        worse, better = sentence.split("”")[0][1:], sentence.split("“")[2].split("”")[0]
        assert rows[better].detail_lost < rows[worse].detail_lost
        assert rows[better].average <= rows[worse].average


def test_one_measure_of_what_is_lost_decides_whatever_the_others_say() -> None:
    """A reader saw one version lead by its loss and another by its error, and could not tell which to take."""
    outcome = compared("people.csv", hows=[{"k": 3}, {"k": 3, "recoding": "local"}])
    worse, better = sorted(outcome.releases, key=lambda row: row.detail_lost, reverse=True)
    assert better.detail_lost < worse.detail_lost
    better = replace(better, loss=0.193, naming=worse.naming, inferring=worse.inferring)
    outcome = replace(outcome, releases=(replace(worse, loss=0.075), better))
    findings = comparison_findings(outcome, QUESTION)
    (beaten,) = (finding for finding in findings if "is beaten by" in finding.sentence)
    assert f"by “{better.name}”, which loses less detail" in beaten.sentence
    assert any(f"“{better.name}” keeps the most detail" in finding.sentence for finding in findings)
    titles = [str(column.title) for column in releases_table(outcome.rows).columns]
    assert "detail lost" in titles
    assert not {"error", "loss"} & {*titles}


def test_a_version_that_is_taken_as_the_simpler_though_another_beats_it_says_so() -> None:
    outcome = compared("people.csv", hows=[{"k": 3}, {"k": 3, "recoding": "local"}])
    worse, better = sorted(outcome.releases, key=lambda row: row.detail_lost, reverse=True)
    better = replace(better, naming=worse.naming, inferring=worse.inferring)
    outcome = replace(outcome, releases=(worse, better))
    for taken, is_said in ((Choice(worse, None, 2), True), (Choice(better, None, 2), False)):
        findings = comparison_findings(outcome, QUESTION, taken)
        (beaten,) = (finding for finding in findings if "is beaten by" in finding.sentence)
        assert ("chosen all the same: it is simpler to use" in str(beaten.meaning)) == is_said


def test_a_version_that_fails_the_rule_is_never_the_stricter_one_nor_the_reason() -> None:
    outcome = compared("people.csv", hows=[{"k": 3}, {"k": 3, "recoding": "local"}])
    original, *_ = outcome.rows
    worse, safer = sorted(outcome.releases, key=lambda row: row.detail_lost, reverse=True)
    worse = replace(worse, naming=original.naming, inferring=original.inferring)
    outcome = replace(outcome, releases=(worse, safer))
    nothing: frozenset[str] = frozenset()
    for failing in (nothing, frozenset({safer.name})):
        taken = Choice(worse, None, 2 - len(failing), failing)
        first, *others = comparison_findings(outcome, QUESTION, taken)
        assert ("The next stricter version" in first.sentence) == (not failing)
        (beaten,) = (finding for finding in others if "is beaten by" in finding.sentence)
        assert (f"“{safer.name}” does not meet the rule" in beaten.meaning) == bool(failing)


@pytest.mark.parametrize(
    ("hows", "guess"),
    [
        ([{"k": 4}], "Guesses at who it is are right in 25.0% of cases, down from 50.0%."),
        (
            [{"k": 2}, {"k": 4}],
            (
                "Guesses at who it is are right in 25.0% of cases, down from 50.0%. No other version "
                "protects better against identification."
            ),
        ),
    ],
)
def test_where_nobody_can_be_named_that_is_said(hows: list[dict[str, Any]], guess: str) -> None:
    write("pairs.csv", {"age": ["21", "21", "22", "22"], "sex": ["F"] * 4, "ill": list("abab")})
    _, naming, *_ = comparison_findings(compared("pairs.csv", hows=hows), QUESTION)
    first = "Nobody can be identified outright, neither in the original nor in “k = 4”."
    assert naming.sentence == f"{first} {guess}"


def test_a_release_without_any_loss_is_right_for_all_records() -> None:
    _, _, nearest, *_ = comparison_findings(compared("alike.csv", hows=[{"k": 2}]), QUESTION)
    assert nearest.sentence == "“k = 2” has all the detail of the original."


def test_of_every_release_it_is_said_what_is_known_of_it() -> None:
    hows: list[dict[str, Any]] = [{"k": 2}, {"method": "anatomy", "l": 3}]
    recoded, grouped, both = (
        comparison_page(
            compared("balanced.csv", hows=own), QUESTION, provenance=PROVENANCE, command=""
        ).adversary[1:]
        for own in (hows[:1], hows[1:], hows)
    )
    assert [sentence[:22] for sentence in recoded] == ["She knows how the quas"]
    assert [sentence.partition(":")[0] for sentence in grouped] == [
        "In “method = anatomy, l = 3” nothing is recoded"
    ]
    assert both[0].startswith("In “k = 2” she knows how the quasi-identifiers were recoded")
    assert both[1:] == grouped


def test_no_release_that_is_no_harder_is_praised() -> None:
    outcome = compared("balanced.csv", hows=[{"method": "anatomy", "l": 3}])
    _, naming, *_ = comparison_findings(outcome, QUESTION)
    assert "does not make it harder to guess who it is" in naming.sentence
    assert naming.severity == Severity.HIGH


def test_the_page_of_a_comparison_in_every_language() -> None:
    outcome = compared(*COMPARISONS["several"][:1], hows=COMPARISONS["several"][1])
    for code in LANGUAGES:
        with telling(code):
            page = comparison_page(
                outcome, QUESTION, provenance=PROVENANCE, command="glasshouse compare"
            )
            assert "<svg" in to_html(page)
            first = page.pictures[0].table
            assert first is not None
            names = [row[0].text for row in first.groups[0].rows]
            assert names == ["original", "k = 2", "k = 3", "k = 6"]
