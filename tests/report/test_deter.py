"""What is said of the attacker's economics, in every case there is."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from glasshouse.economics import Deterrence
from glasshouse.language import LANGUAGES, speaking
from glasshouse.report import Provenance, page_of
from glasshouse.report.deter.findings import deterrence_findings
from glasshouse.report.html import to_html
from glasshouse.report.page import Finding, Severity
from glasshouse.runs import Resources, Run
from glasshouse.runs.deter import answer
from glasshouse.study.deter import DeterStudy
from tests.cli.test_longitudinal import write
from tests.report.snapshots import assert_snapshot

PROVENANCE = Provenance("1.0", "", ())


@pytest.fixture(autouse=True)
def files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    write("voters.csv", {"age": ["20"] * 60 + ["30"] * 5 + ["40"]})
    write("crowd.csv", {"age": ["20"] * 60})
    write("trial.csv", {"age": ["20", "30", "40", "50"], "ill": ["a", "b", "b", "a"]})
    write("young.csv", {"age": ["20", "20"]})
    write("all.csv", {"age": ["20"] * 900 + ["30"] * 100})


LINKED: dict[str, Any] = {
    "release": {"path": "trial.csv"},
    "people": {"path": "voters.csv"},
    "quasi_identifiers": ["age"],
}
EXAMPLES: dict[str, dict[str, Any]] = {
    "defaults": {"currency": "US$"},
    "once-punished": {"penalties": 1, "sizes": [1, 60]},
    "belief": {"belief": 1000, "sizes": [1, 80]},
    "target": {"target": 0.1, "protect": 5},
    "rising": {
        "prior": 0.5,
        "gain": 6000.0,
        "penalty": 2500.0,
        "access_cost": 0.0,
        "exploit_cost": 70.0,
        "detection": [0.6, 1.0],
        "penalties": 1,
        "discount": 1.0,
    },
    "nobody": {"gain": 1.0},
    "everybody": {"penalty": 0.0, "exploit_cost": 0.0, "link_cost": 0.0, "access_cost": 0.0, "discount": 1.0},
    "release": LINKED | {"loss": 10.0, "currency": "€"},
    "safe-release": LINKED | {"release": {"path": "young.csv"}, "people": {"path": "crowd.csv"}},
    "no-register": {
        "release": {"path": "trial.csv"},
        "population": {"path": "all.csv"},
        "quasi_identifiers": ["age"],
        "belief": 50,
    },
}  # fmt: skip


def deterred(name: str) -> Run[DeterStudy, Deterrence]:
    return answer(DeterStudy.model_validate(EXAMPLES[name]), resources=Resources())


def findings_of(run: Run[DeterStudy, Deterrence]) -> tuple[Finding, ...]:
    question = run.question
    return deterrence_findings(run.outcome, subject=question.subject, currency=question.currency)


def said(name: str) -> list[Finding]:
    return list(findings_of(deterred(name)))


@pytest.mark.parametrize("name", EXAMPLES)
def test_what_is_said_of_an_attacker(name: str) -> None:
    run = deterred(name)
    assert_snapshot(f"deterrence-{name}", lambda: findings_of(run))


def test_what_is_safe_is_said_with_its_assumption() -> None:
    safe = [finding for finding in said("defaults") if finding.severity == Severity.SAFE]
    assert [finding.sentence for finding in safe] == [
        "Where 45 or more people are alike, a rational adversary who knows it does not begin on these terms."
    ]
    assert "rational adversary on the terms given" in safe[0].meaning


def test_larger_groups_are_not_always_safer_and_that_is_said() -> None:
    rising = [finding for finding in said("rising") if "not always safer" in finding.sentence]
    assert [finding.sentence for finding in rising] == [
        "Larger groups are not always safer: the risk rises from groups of 2 to groups of 3."
    ]


def test_terms_that_are_enough_already_ask_for_nothing_more() -> None:
    last = said("nobody")[-1]
    assert last.severity == Severity.SAFE
    assert last.sentence.startswith("The present terms are enough already")


@pytest.mark.parametrize("code", LANGUAGES)
@pytest.mark.parametrize("name", ["release", "belief"])
def test_the_page_in_every_language(name: str, code: str) -> None:
    run = deterred(name)
    with speaking(code):
        page = page_of(run.outcome, run.question, provenance=PROVENANCE)
        document = to_html(page)
    assert document.count('class="picture wide"') == len(page.figures)
    assert all(figure.table is not None for figure in page.figures)
    assert page.limits
    assert ("O que dissuadiria o adversário" in document) == (code == "pt-BR")


def test_the_main_figures_are_kept_for_later_comparisons() -> None:
    summary = deterred("release").outcome.summary()
    assert summary["no_attack"] == 45
    assert summary["worth_attacking"] == 2
    assert summary["loss_known"] == pytest.approx(10 * (summary["expected_known"] or 0))
    assert "expected_known" not in deterred("defaults").outcome.summary()
