"""What a report says and draws of noise, in both languages."""

from __future__ import annotations

from functools import cache
from typing import Any

import altair as alt
import pytest

import glasshouse as gh
from glasshouse.language import LANGUAGES, speaking
from glasshouse.report.page import Page, Severity

COIN = {
    "law": "table",
    "rows": [(0, 0, "1"), (1, 0, "1/4"), (1, 1, "1/2"), (1, 2, "1/4")],
}


@cache
def run_of(noise: str, tables: int = 1) -> Any:
    table = {"by": ["sex"], "rows": [["F", 3], ["M", 0]]}
    content = {
        "people": 3,
        "attributes": {"sex": {"values": ["F", "M"]}},
        "tables": [{**table, "noise": COIN if noise == "coin" else noise}] * tables,
    }
    return gh.tables(study=content, sensitive=["sex"])


def dots(page: Page) -> dict[int, int]:
    """Return how many dots of each hundred are filled."""
    rows = next(
        rows for rows in page.pictures[0].chart["datasets"].values() if "is" in next(iter(rows))
    )
    filled: dict[int, int] = {}
    for row in rows:
        place = int(row["x"]) // 13
        filled[place] = filled.get(place, 0) + row["is"]
    assert len(rows) == 100 * len(filled)
    return filled


@pytest.mark.parametrize(
    ("noise", "tables", "severity", "filled"),
    [
        ("geometric:epsilon=1", 1, Severity.LOW, [1, 3, 7, 3, 7, 36, 97]),
        ("geometric:epsilon=1", 3, Severity.LOW, [1, 17, 81, 3, 7, 36, 97]),
        ("geometric:epsilon=8", 1, Severity.HIGH, [1, 97, 100, 3, 7, 36, 97]),
        ("gaussian:sigma=2", 1, Severity.LOW, [1, 10, 26, 3, 7, 36, 97]),
        ("coin", 1, Severity.HIGH, [75, 25, 82]),
    ],
)
def test_a_report_says_and_draws_what_noise_protects(
    noise: str, tables: int, severity: Severity, filled: list[int]
) -> None:
    run = run_of(noise, tables)
    for language in LANGUAGES:
        with speaking(language):
            page = run.page
        assert page.findings[0].severity == severity
        assert list(dots(page).values()) == filled
        words = " ".join([*(one.sentence for one in page.findings), *page.adversary]).casefold()
        known = {"en": "everybody else", "pt-BR": "todas as outras"}[language]
        assert known in words
        assert not {"safe", "segur"} & set(words.replace(".", " ").split())


def test_the_pictures_are_in_the_grammar_of_vega() -> None:
    for noise in ("coin", "geometric:epsilon=1"):
        alt.Chart.from_dict(dict(run_of(noise).page.pictures[0].chart))


def test_the_rule_says_that_no_official_source_gives_its_number() -> None:
    verdict = run_of("geometric:epsilon=8").verdict
    [judged] = [one for one in verdict.judgements if one.condition.measure == "noise"]
    assert not judged.met
    assert "no official source" in judged.condition.source
    fine = run_of("geometric:epsilon=1").verdict
    assert [one.met for one in fine.judgements if one.condition.measure == "noise"] == [True]
