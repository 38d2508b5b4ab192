"""What pictures show: the conditions, the columns, the original, who is suppressed, and figures that can be read."""

from __future__ import annotations

import re
from fractions import Fraction
from functools import cache
from types import SimpleNamespace
from typing import Any, cast

import pyarrow as pa
import pytest

import glasshouse as gh
from glasshouse.language import LANGUAGES
from glasshouse.measures.measurement import Measurement
from glasshouse.measures.verdict import verdict_on
from glasshouse.microdata import Assessment
from glasshouse.mitigation.utility import ColumnCost, ColumnCosts
from glasshouse.report.anonymise.costs import costs_figure
from glasshouse.report.assess.charts import before_and_after_figure, class_sizes_figure
from glasshouse.report.assess.front import BAND_HEIGHT, band_figure
from glasshouse.report.assess.sets import DARKEST, pairs_figure
from glasshouse.report.charts import FONT
from glasshouse.report.html import to_html
from glasshouse.report.page import Figure
from glasshouse.report.verdict import ruling
from glasshouse.runs.folder import today
from glasshouse.study.policy import OPEN_DATA
from tests.report.pages import census
from tests.report.reading import telling

PEOPLE = pa.table(
    {
        "age": [str(20 + place % 7) for place in range(420)],
        "sex": ["MF"[place % 2] for place in range(420)],
        "town": [f"town {place % 5}" for place in range(420)],
        "insured": ["yes" if place % 3 else "no" for place in range(420)],
        "note": [str(place) for place in range(420)],
    }
)


@cache
def assessed() -> gh.Run[Any, Any]:
    return gh.assess(
        PEOPLE,
        quasi_identifiers=["age", "sex", "town"],
        sensitive=["insured"],
        drop=["note"],
    )


def rows_of(figure: Figure | None) -> list[dict[str, Any]]:
    """Return everything that a picture draws."""
    assert figure is not None
    return [row for rows in figure.chart["datasets"].values() for row in rows]


def judged(**values: Fraction | int) -> Any:
    measured = [
        Measurement(cast(Any, name.replace("_", "-")), Fraction(value))
        for name, value in values.items()
    ]
    verdict = verdict_on(measured, OPEN_DATA)
    assert verdict is not None
    return verdict


def test_a_bar_passes_its_line_where_and_only_where_the_condition_is_not_met() -> None:
    for value in (
        Fraction(0),
        Fraction(1, 40),
        Fraction(1, 20),
        Fraction(501, 10_000),
        Fraction(1),
    ):
        for size in (1, 7, 10, 11, 12, 500):
            verdict = judged(best_guess=value, smallest_class=size, named=0, direct_identifiers=1)
            bars = {bar.condition: bar for bar in ruling(verdict).bullets if bar.met is not None}
            assert len(bars) == 4
            for bar in bars.values():
                assert bar.length is not None
                assert 0 <= bar.length <= 2
                assert (bar.length > 1) is (bar.met is False)
            met = [bar.met for bar in ruling(verdict).bullets if bar.met is not None]
            assert met == sorted(met)  # what is not met comes first
            unjudged = [bar for bar in ruling(verdict).bullets if bar.met is None]
            assert len(unjudged) == len(verdict.unjudged)


def test_no_verdict_says_that_more_of_a_rule_holds_than_was_judged() -> None:
    """Some conditions are asked only where they are measured: “all that apply” would hide that they were not."""
    figures: dict[str, Fraction | int] = {"columns_not_looked_at": 0, "smallest_class": 500}
    figures |= dict.fromkeys(("direct_identifiers", "named", "best_guess"), 0)
    figures |= dict.fromkeys(("inference_added", "inference_certain"), 0)
    for values in (figures, {**figures, "smallest_class": 1}, {**figures, "named": 1}):
        verdict = judged(**values)
        assert len(verdict.judgements) == len(figures) < len(verdict.policy.conditions)
        for language, was_judged in (("en", "judged"), ("pt-BR", "julgada")):
            with telling(language):
                assert was_judged in ruling(verdict).tally


def test_the_condition_that_binds_is_the_one_nearest_to_its_limit() -> None:
    cases: tuple[tuple[dict[str, Fraction | int], str], ...] = (
        ({"best_guess": Fraction(1, 25), "smallest_class": 400, "named": 0}, "best-guess"),
        ({"best_guess": Fraction(1, 250), "smallest_class": 12, "named": 0}, "smallest-class"),
        ({"best_guess": Fraction(1, 25), "smallest_class": 2, "named": Fraction(1, 9)}, "named"),
    )
    for values, measure in cases:
        binding = judged(**values).binding
        assert binding is not None
        assert binding.condition.measure == measure


def test_the_page_shows_the_conditions_and_the_columns_open_and_what_binds() -> None:
    run = assessed()
    for language in LANGUAGES:
        with telling(language):
            page = run.page
            assert page.ruling is not None
            assert [(alike.fate, alike.columns) for alike in page.ruling.columns] == [
                ("known", 3),
                ("sensitive", 1),
                ("dropped", 1),
            ]
            html = to_html(page)
            front = html.partition('<section aria-labelledby="findings">')[0]
            assert len(re.findall(r'<i class="(?:known|sensitive|dropped)"></i>', front)) == 5
            closed = re.sub("<details>.*?</details>", "", front, flags=re.DOTALL)
            for bar in page.ruling.bullets:
                assert bar.condition.replace("\xa0", " ") in closed
                assert bar.measured in closed
            advised = [action for action in page.actions if action.meets]
            assert advised
            conditions = [bar.condition for bar in page.ruling.bullets]
            for action in advised:
                assert any(words in action.binds for words in conditions), action


def test_a_picture_says_its_source_and_its_day_in_the_typeface_of_the_page(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Any
) -> None:
    pa.csv.write_csv(PEOPLE.drop(["note"]), tmp_path / "people.csv")
    monkeypatch.chdir(tmp_path)
    words: dict[str, Any] = {"quasi_identifiers": ["age", "sex", "town"], "sensitive": ["insured"]}
    gh.assess("people.csv", **words).report("run")
    html = (tmp_path / "run" / "report.html").read_text(encoding="utf-8")
    assert '<p class="source">Source: people.csv · Glasshouse ' in html
    assert "31 January 2026</p>" in html  # of the tests
    assert FONT in html
    assert f"font: 1rem/1.6 {FONT}" in html
    monkeypatch.setenv("SOURCE_DATE_EPOCH", "no number")
    assert re.fullmatch(r"20\d\d-\d\d-\d\d", today())
    monkeypatch.setenv("SOURCE_DATE_EPOCH", "86400")
    assert today() == "1970-01-02"


def band_of(risks: list[Fraction]) -> Figure | None:
    """Return the picture of made-up risks by how many facts are known."""
    attacks = [
        SimpleNamespace(
            secret=(),
            datasets=("a",),
            quasi_identifiers=tuple("abcdefghijklmnop"[:size]),
            probabilistic=SimpleNamespace(posterior=risk),
        )
        for size, risk in enumerate(risks, 1)
    ]
    return band_figure(cast(Assessment, SimpleNamespace(attacks=attacks)), OPEN_DATA)


def test_risks_near_the_rule_are_told_apart_from_it_and_no_line_goes_through_a_label() -> None:
    figure = band_of([Fraction(1, 100), Fraction(48, 1000), Fraction(51, 1000), Fraction(1, 10)])
    rows = [row for row in rows_of(figure) if "facts" in row]
    assert [row["label"] for row in rows] == ["1.0%", "4.8%", "5.1%", "10.0%"]
    (limit,) = [row for row in rows_of(figure) if "limit" in row]
    top = Fraction(12, 100)
    for row in rows:
        middle = BAND_HEIGHT * (1 - row["worst"] / float(100 * top)) + row["dy"]
        line = BAND_HEIGHT * (1 - limit["limit"] / float(100 * top))
        assert abs(middle - line) >= 8
        assert middle <= BAND_HEIGHT


def test_a_picture_that_would_show_nothing_is_not_drawn() -> None:
    assert band_of([Fraction(1, 5), Fraction(1, 2)]) is None  # two points
    assert band_of([Fraction(1)] * 4) is None  # flat
    assert band_of([Fraction(1, 9), Fraction(1, 5), Fraction(1, 2)]) is not None
    one = ColumnCosts((ColumnCost("age", 0.3, ((5, 5),)),), {})
    assert costs_figure(one) is None


def test_what_each_column_loses_is_a_bar_by_its_name_the_worst_first() -> None:
    costs = ColumnCosts(
        (
            ColumnCost("sex", 0.0, ((5, 5),)),
            ColumnCost("age", 0.02, ((5, 5),)),
            ColumnCost("town", 0.3, ((5, 5),)),
        ),
        {},
    )
    rows = rows_of(costs_figure(costs))
    assert [(row["column"], row["label"]) for row in rows] == [("town", "30.0%"), ("age", "2.0%")]


def test_suppressed_people_are_a_group_of_their_own_among_the_class_sizes() -> None:
    (attack,) = [one for one in census()[0].attacks if not one.secret][-1:]
    for suppressed, few in ((0, None), (3, True), (40, False)):
        rows = rows_of(class_sizes_figure(attack, OPEN_DATA, suppressed))
        apart = [row for row in rows if "suppressed" in row["others"]]
        assert [row["few"] for row in apart] == ([] if few is None else [few])
        if apart:
            share = 100 * suppressed / (attack.records + suppressed)
            assert apart[0]["share"] == pytest.approx(share)
            assert f"({suppressed})" in apart[0]["others"]


def test_colours_of_pairs_are_the_same_in_every_report_and_have_a_legend() -> None:
    figure = pairs_figure(census()[0])
    assert figure is not None
    colour = figure.chart["layer"][0]["encoding"]["color"]
    assert colour["scale"]["domain"] == [0, float(100 * DARKEST)]
    assert colour["scale"]["clamp"] is True
    assert colour["legend"]["values"][-1] == float(100 * DARKEST)


def test_before_and_after_have_their_figures_at_the_marks() -> None:
    attacks = assessed().outcome.attacks
    whole = [one for one in attacks if len(one.quasi_identifiers) == 3]
    rows = [row for row in rows_of(before_and_after_figure(whole)) if "change" in row]
    assert [row["change"] for row in rows] == ["0.2% → 16.7%", "66.7% → 66.7%"]


def test_the_original_is_on_the_frontier_hollow_and_with_its_name() -> None:
    run = gh.protect(
        PEOPLE.drop(["note"]),
        quasi_identifiers=["age", "sex", "town"],
        sensitive=["insured"],
        policy="research-file",
    )
    figure = run.page.front
    assert figure is not None
    marks = [row for row in rows_of(figure) if row.get("kind") == "original"]
    assert marks
    for mark in marks:
        assert (mark["name"], mark["lost"]) == ("original", 0)
    assert {round(mark["risk"], 3) for mark in marks} >= {16.667}
    hollow = [
        layer
        for panel in figure.chart["hconcat"]
        for layer in panel["layer"]
        if layer["mark"].get("shape") == "square"
    ]
    assert hollow
    assert not any(layer["mark"]["filled"] for layer in hollow)
