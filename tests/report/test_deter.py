"""What is said of the attacker's economics, in every case there is."""

from __future__ import annotations

import json
import math
import random
import re
import shlex
from pathlib import Path
from typing import Any
from unittest.mock import patch

import pytest

from glasshouse.economics import Deterrence, ReleaseExposure
from glasshouse.language import LANGUAGES, speaking
from glasshouse.measures import measures
from glasshouse.measures.deter import figures
from glasshouse.report import Provenance, page_of
from glasshouse.report.deter.findings import (
    PARAMETERS,
    deterrence_findings,
    is_deterred,
    nearest,
    present,
)
from glasshouse.report.deter.page import (
    brief,
    exposure_figure,
    ruler_figure,
    thresholds_by_parameter,
)
from glasshouse.report.html import to_html
from glasshouse.report.page import Finding, Page, Severity, keep_assumptions
from glasshouse.runs import Resources, Run
from glasshouse.runs.deter import answer
from glasshouse.study.deter import DeterStudy
from tests.cli.test_longitudinal import write
from tests.conftest import Glasshouse
from tests.report.reading import telling, tries
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


def test_whom_it_pays_to_attack_is_one_finding_with_its_assumption() -> None:
    (attacked,) = (finding for finding in said("defaults") if "an attack pays" in finding.sentence)
    assert attacked.severity == Severity.HIGH
    assert attacked.sentence == (
        "On these terms an attack pays where fewer than 45 people are alike, and not where 45 or more are. "
        "In groups of 1 to 44 people, the risk of being re-identified is 63.0%."
    )
    assert "rational adversary on the terms given" in attacked.meaning


def test_a_release_that_is_attacked_is_told_of_once() -> None:
    sentences = [finding.sentence for finding in said("release")]
    assert sum("worth attacking" in sentence for sentence in sentences) == 1
    assert sum("an attack" in sentence for sentence in sentences) == 1
    assert not any("too small a group" in sentence for sentence in sentences)


def test_larger_groups_are_not_always_safer_and_that_is_said() -> None:
    rising = [finding for finding in said("rising") if "not always safer" in finding.sentence]
    assert [finding.sentence for finding in rising] == [
        "Larger groups are not always safer: in groups of 2 the risk is 41.1%, in groups of 3 it rises to 49.0%."
    ]


def test_terms_that_are_enough_already_ask_for_nothing_more() -> None:
    run = deterred("nobody")
    (only,) = findings_of(run)
    assert only.severity == Severity.SAFE
    assert only.sentence.startswith("On these terms an attack pays on nobody")
    page = page_of(run.outcome, run.question, provenance=PROVENANCE)
    assert [tile.figure for tile in page.tiles[:3]] == ["nobody", "0%", "as it is"]
    assert page.actions == (keep_assumptions(),)


def test_the_first_screen_says_whom_how_likely_and_what_is_nearest_to_stop_it() -> None:
    run = deterred("defaults")
    page = page_of(run.outcome, run.question, provenance=PROVENANCE)
    assert [tile.figure for tile in page.tiles[:3]] == ["fewer than 45", "63.0%", "US$ 3,593.00"]
    linked = deterred("release")
    page = page_of(linked.outcome, linked.question, provenance=PROVENANCE)
    assert [tile.figure for tile in page.tiles[:3]] == ["50.0%", "1.26", "45 alike"]
    assert page.actions[0].sentence == "Publish so that at least 45 people are alike."
    assert page.actions[0].change == "Risk, if the adversary knows how many they are: 63.0% → 0%."
    assert page.actions[1].change == "Risk: 63.0% → 0%."


@pytest.mark.parametrize("name", ["defaults", "target", "rising", "once-punished", "belief"])
def test_an_advised_deterrent_comes_to_what_its_command_shows(
    name: str, glasshouse: Glasshouse
) -> None:
    run = deterred(name)
    page = page_of(run.outcome, run.question, provenance=PROVENANCE)
    commands = [action.command for action in page.actions if action.command]
    if name == "belief":  # nobody asks about a group of one
        assert len(commands) == 1
    for command in commands:
        words = shlex.split(command)[1:]
        content = json.loads(
            glasshouse(*words, "--sizes", f"{run.question.protect}:9", "--json").out
        )
        assert content["sizes"][0]["reidentification"] <= run.question.target


def test_larger_groups_of_the_same_people_come_with_the_command_that_makes_them() -> None:
    write("people.csv", {"age": ["20"] * 60 + ["30"] * 5 + ["40"], "sex": ["F"] * 66})
    people = {"path": "people.csv"}
    study = {"release": people, "people": people, "quasi_identifiers": ["age", "sex"]}
    run = answer(DeterStudy.model_validate(study), resources=Resources())
    page = page_of(run.outcome, run.question, provenance=PROVENANCE)
    assert page.actions[0].command == (
        "glasshouse anonymise people.csv -q age -q sex --k 45 --out protected"
    )


def test_the_ruler_marks_each_size_once() -> None:
    figure = ruler_figure(deterred("defaults").outcome.policy)
    assert figure is not None
    points = [row for rows in figure.chart["datasets"].values() for row in rows if "label" in row]
    assert {row["label"] for row in points} == {"24", "45", "51"}
    assert ruler_figure(deterred("rising").outcome.policy) is None, "the risk itself is to be seen"
    assert ruler_figure(deterred("belief").outcome.policy) is None


def test_terms_are_drawn_by_how_little_has_to_change_without_lines_that_coincide() -> None:
    outcome = deterred("once-punished").outcome
    figure = thresholds_by_parameter(outcome, None)
    assert figure.table is not None
    first = [group.title for group in figure.table.groups]
    assert first[: len(nearest(outcome))] == [PARAMETERS[name] for name, _, _ in nearest(outcome)]
    for panel in figure.chart["concat"]:
        rows = figure.chart["datasets"][panel["layer"][0]["data"]["name"]]
        lines = {
            who: [r["size"] for r in rows if r["who"] == who] for who in {r["who"] for r in rows}
        }
        assert len(set(map(tuple, lines.values()))) == len(lines)


def test_few_records_of_a_risk_are_not_told_in_the_picture() -> None:
    figure = exposure_figure(few_exposed())
    assert figure is not None
    drawn = [row for rows in figure.chart["datasets"].values() for row in rows]
    assert {row["label"] for row in drawn if row["share"] == 0} == {"not shown"}
    assert all(row["share"] == 0 for row in drawn)


def few_exposed() -> ReleaseExposure:
    """A release of which few records are in groups small enough to be attacked."""
    write("some.csv", {"age": ["20"] * 60 + ["30"] * 4})
    linked = LINKED | {"release": {"path": "some.csv"}}
    exposure = answer(DeterStudy.model_validate(linked), resources=Resources()).outcome.exposure
    assert exposure is not None
    return exposure


def figures_in(sentence: str, code: str) -> list[float]:
    """Return the numbers of a sentence, percentages as they are written."""
    numbers = re.findall(r"[0-9][0-9.,]*", sentence)
    plain = [number.rstrip(".,") for number in numbers]
    if code == "pt-BR":
        plain = [number.translate(str.maketrans(",.", ".,")) for number in plain]
    return [float(number.replace(",", "")) for number in plain]


def random_terms(chosen: random.Random) -> dict[str, Any]:
    return {
        "prior": chosen.choice([0.2, 0.5, 1.0]),
        "gain": chosen.choice([0.5, 800.0, 6000.0, 20_000.0]),
        "penalty": chosen.choice([0.0, 2500.0, 10_000.0]),
        "access_cost": chosen.choice([0.0, 100.0, 900.0]),
        "exploit_cost": chosen.choice([0.0, 10.0, 70.0]),
        "detection": chosen.choice([[-4.59, 0.0], [0.6, 1.0], [-2.0, 0.3]]),
        "penalties": chosen.choice([1, 2, "unlimited"]),
        "discount": chosen.choice([0.9, 1.0]),
        "sizes": chosen.choice([[1, 60], [3, 40], [30, 90]]),
        "protect": chosen.choice([1, 5]),
        "target": chosen.choice([0.0, 0.1]),
    }


COARSE = patch("glasshouse.economics.outcome.POINTS", 5)
"""Curves of few points: no sentence is about them, and some terms take seconds for every point."""


@tries(
    "deter",
    *("An attack pays on groups of fewer", "What has to grow least", "it has to grow least"),
    *("where fewer than {size}", "Larger groups are not always safer", "rises at {count}"),
    *("fewer than {size}", "Risk: {before}"),
    seeds=16,
)
@COARSE
def test_what_is_said_of_random_terms_is_what_came_out(seed: int) -> None:
    terms = random_terms(random.Random(seed))
    run = answer(DeterStudy.model_validate(terms), resources=Resources())
    outcome, policy = run.outcome, run.outcome.policy
    end, highest = policy.thresholds.no_attack, float(policy.reidentification.max())
    risks = dict(zip(policy.sizes.tolist(), policy.reidentification.tolist(), strict=True))
    for code in LANGUAGES:
        with telling(code):
            attacked, *further = findings_of(run)
            page = page_of(run.outcome, run.question, provenance=PROVENANCE) if seed < 8 else None
            if page is not None:
                assert_the_page_says_the_same(run, page, code)
            assert (end == 1) is (not further)
            *rising, stopped = further or [attacked]
            figures = figures_in(attacked.sentence, code)
            if end not in (None, 1):
                assert figures[:2] == [end, end]
                assert (policy.value[policy.sizes < end] > 0).all(), "fewer than so many: it pays"
                assert not policy.value[policy.sizes >= end].any(), "so many or more: it does not"
            if highest:
                assert figures[-1] == pytest.approx(100 * highest, abs=0.051)
                where = [int(figure) for figure in figures[2 if end not in (None, 1) else 0 : -1]]
                assert all(risks[size] == pytest.approx(highest) for size in where)
            for finding in rising:
                figures = figures_in(finding.sentence, code)
                if figures:
                    smaller, before, larger, after = figures
                    assert larger == smaller + 1
                    assert after > before
                    place = int(smaller) - int(policy.sizes[0])
                    assert before == pytest.approx(100 * policy.reidentification[place], abs=0.051)
                    assert after == pytest.approx(
                        100 * policy.reidentification[place + 1], abs=0.051
                    )
            if not nearest(outcome) or is_deterred(outcome):
                continue
            figures = figures_in(stopped.sentence.split(": ", 1)[1], code)
            for (parameter, lasting, multiple), (enough, now) in zip(
                nearest(outcome), zip(figures[::2], figures[1::2], strict=True), strict=True
            ):
                percent = 100 if parameter == "detection" else 1
                assert enough >= percent * lasting > now * (1 - 1e-2)
                assert now == pytest.approx(percent * present(policy.terms, parameter), rel=1e-2)
                assert multiple == pytest.approx(enough / now if now else math.inf, rel=2e-2)


def assert_the_page_says_the_same(run: Run[DeterStudy, Deterrence], page: Page, code: str) -> None:
    """Hold tiles, titles of pictures and what to do against what came out."""
    outcome, end = run.outcome, run.outcome.policy.thresholds.no_attack
    titles = [" ".join(picture.chart["title"]["text"]) for picture in page.pictures]
    paying = [title for title in titles if "fewer than" in title or "menos de" in title]
    if end not in (None, 1):
        assert [figures_in(title, code) for title in paying] == [[end]] * len(paying)
        assert figures_in(page.tiles[0].figure, code) == [end]
    ways = nearest(outcome)
    if ways and not is_deterred(outcome):
        parameter, lasting, _ = ways[0]
        percent = 100 if parameter == "detection" else 1
        (least,) = figures_in(page.tiles[2].figure, code)
        (now,) = figures_in(page.tiles[2].sentence, code)
        assert least >= percent * lasting > now * (1 - 1e-2)
        for title in titles:
            if "grow least" in title or "menos precisa" in title:
                assert figures_in(title, code) == [now, least]
    for action in page.actions:
        if action.change:
            before, after = figures_in(action.change, code)
            assert before > after == pytest.approx(100 * run.question.target)


@tries("deter", "if the adversary knows how many they are", seeds=6)
@COARSE
def test_what_is_said_of_random_releases_is_what_came_out(seed: int) -> None:
    chosen = random.Random(seed)
    ages = [str(min(90, int(chosen.expovariate(0.08)))) for _ in range(400)]
    write("register.csv", {"age": ages})
    write("part.csv", {"age": chosen.sample(ages, 120)})
    terms = random_terms(chosen) | {"belief": None, "loss": 3.0}
    files = {"release": {"path": "part.csv"}, "people": {"path": "register.csv"}}
    study = DeterStudy.model_validate({**terms, **files, "quasi_identifiers": ["age"]})
    run = answer(study, resources=Resources())
    exposure = run.outcome.exposure
    assert exposure is not None
    known, unknown = exposure.expected_known, exposure.expected_unknown
    worth = int((exposure.known > 0).sum())
    for code in LANGUAGES:
        with telling(code):
            expected, lost, *_ = findings_of(run)
            for action in page_of(run.outcome, study, provenance=PROVENANCE).actions:
                if "knows how many" in action.change or "tamanho do grupo" in action.change:
                    before, after = figures_in(action.change, code)
                    assert before == pytest.approx(100 * exposure.known.max(), abs=0.06)
                    assert before > after == pytest.approx(100 * study.target)
            if max(known, unknown) == 0:
                assert figures_in(expected.sentence, code) == [120]
                continue
            count, records, share, *people = figures_in(expected.sentence, code)
            assert (count, records) == (worth, 120)
            assert share == pytest.approx(100 * worth / 120, abs=0.051)
            assert people[0] == pytest.approx(known, rel=6e-3)
            assert people[-1] == pytest.approx(unknown, rel=6e-3)
            amounts = figures_in(lost.sentence, code)
            assert amounts[0] == pytest.approx(3 * known, abs=0.006)
            assert amounts[-1] == pytest.approx(3 * unknown, abs=0.006)
            assert len(people) == len(set(people)), "what is the same is said once"


@pytest.mark.parametrize("name", ["release", "belief"])
def test_the_page_in_every_language(name: str) -> None:
    run = deterred(name)
    for code in LANGUAGES:
        with telling(code):
            page = page_of(run.outcome, run.question, provenance=PROVENANCE)
            document = to_html(page)
            assert document.count('class="picture wide"') == len(page.pictures)
            assert all(figure.table is not None for figure in page.pictures)
            assert page.limits
            assert ("O que dissuadiria o adversário" in document) == (code == "pt-BR")


def test_the_main_figures_are_kept_for_later_comparisons() -> None:
    summary = figures(deterred("release").outcome)
    assert summary["no_attack"] == 45
    assert summary["worth_attacking"] == 2
    assert summary["loss_known"] == pytest.approx(10 * (summary["expected_known"] or 0))
    assert "expected_known" not in figures(deterred("defaults").outcome)


TERMS_SAID = {
    (
        "en",
        None,
    ): (
        "Not given, so taken from North Carolina, in US dollars: penalty, price of access, cost "
        "of trying"
    ),
    (
        "en",
        "R$",
    ): (
        "Not given, so taken from North Carolina, with US dollars read as R$: penalty, price of "
        "access,"
    ),
    (
        "en",
        "US$",
    ): (
        "Not given, so taken from North Carolina, in US dollars: penalty, price of access, cost "
        "of trying"
    ),
    (
        "pt-BR",
        None,
    ): "Não informados; por isso, da Carolina do Norte, em dólares dos EUA: multa, preço do acesso,",
    (
        "pt-BR",
        "R$",
    ): "Não informados; por isso, da Carolina do Norte, com dólares dos EUA lidos como R$: multa,",
    (
        "pt-BR",
        "US$",
    ): "Não informados; por isso, da Carolina do Norte, em dólares dos EUA: multa, preço do acesso,",
}


@pytest.mark.parametrize(("code", "currency"), TERMS_SAID)
def test_the_first_screen_says_on_which_terms_and_which_are_of_another_country(
    code: str, currency: str | None
) -> None:
    """Dollars are not silently reais: the page and the terminal say that nothing was converted."""
    study = DeterStudy.model_validate({"gain": 5000.0, "currency": currency})
    run = answer(study, resources=Resources())
    with speaking(code):
        page = page_of(run.outcome, study, provenance=PROVENANCE)
        notes = " ".join(brief(run.outcome, study).notes)
    terms = page.tiles[-1]
    assert figures_in(terms.figure, code) == [5000]
    assert TERMS_SAID[code, currency] in terms.sentence
    for amount in (10_000, 100, 10, 63):
        assert amount in figures_in(terms.sentence, code)
    assert "gain" not in terms.sentence.split("Carolina")[1], "the gain was given"
    converted = {"en": "without conversion", "pt-BR": "sem conversão"}[code]
    assert (converted in notes) == (currency == "R$")


def test_terms_that_were_all_given_are_said_to_be() -> None:
    terms = {"prior": 0.5, "gain": 9.0, "penalty": 8.0, "access_cost": 1.0, "exploit_cost": 1.0}
    study = DeterStudy.model_validate(terms | {"currency": "R$"})
    page = page_of(answer(study, resources=Resources()).outcome, study, provenance=PROVENANCE)
    assert page.tiles[-1].sentence.endswith("All of this was given.")
    assert not any("North Carolina" in limit for limit in page.limits)


@pytest.mark.parametrize("code", ["en", "pt-BR"])
def test_the_figure_and_the_condition_expect_the_same_number_of_people(code: str) -> None:
    """Whether she knows how large groups are or not: the greater of both is told, and judged."""
    run = deterred("release")
    exposure = run.outcome.exposure
    assert exposure is not None
    with speaking(code):
        expected = page_of(run.outcome, run.question, provenance=PROVENANCE).tiles[1]
        (named,) = [
            one for one in measures(run.outcome, run.question) if one.measure == "re-identified"
        ]
        (people,) = figures_in(expected.figure, code)
    most = max(exposure.expected_known, exposure.expected_unknown)
    assert float(named.value) * run.outcome.records == pytest.approx(most)
    assert people == pytest.approx(most, rel=6e-3)
