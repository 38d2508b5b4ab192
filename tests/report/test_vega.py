"""The grammar of pictures says what Altair says, which is held against the schema of Vega-Lite."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import altair as alt
import pytest

from glasshouse.report import vega
from tests.drawing import one_of_each_kind

ROWS = [{"a": 1, "b": "x", "dark": True}, {"a": 2.5, "b": "y", "dark": False}]


def pictures(grammar: Any, rows: Any) -> dict[str, Any]:
    """Return pictures of every kind, in one grammar or the other."""
    base = grammar.Chart(rows).encode(
        x=grammar.X("a:Q", title=None, scale=grammar.Scale(domain=[0, 9])),
        y=grammar.Y("b:N", sort=["y", "x"], axis=grammar.Axis(grid=False)),
    )
    colour = grammar.condition("datum.dark", grammar.value("white"), grammar.value("#222"))
    layers = grammar.layer(
        base.mark_bar(height=8).encode(color=colour, x2="a:Q"),
        base.transform_calculate(what="'x'").mark_point().encode(detail="b:N"),
        base.mark_text(dx=3).encode(text="b:N", x=grammar.value("width")),
    )
    titled = layers.properties(
        width=99, height=grammar.Step(9), title=grammar.Title("T", subtitle=["u"])
    )
    facet = grammar.Facet("b:N", title=None, header=grammar.Header(labelFontSize=9))
    return {
        "layers": titled,
        "facet": layers.facet(facet=facet, columns=2),
        "rows": layers.facet(row=grammar.Row("b:N")),
        "beside": grammar.hconcat(titled, base.mark_rule(), spacing=4),
        "below": grammar.vconcat(titled, layers),
        "grid": grammar.concat(titled, layers, columns=2),
    }


@pytest.mark.parametrize("name", pictures(vega, ROWS))
def test_a_picture_is_what_altair_makes_of_the_same(name: str) -> None:
    ours = pictures(vega, ROWS)[name].to_dict()
    theirs = pictures(alt, alt.InlineData(values=ROWS))[name].to_dict()
    ours.pop("$schema")
    assert ours == {key: theirs[key] for key in theirs if key not in ("$schema", "config")}
    alt.Chart.from_dict(ours)


def test_rows_are_told_apart_by_values_and_not_by_programs() -> None:
    name = 'it\'s \\ "b"'
    chart = vega.Chart(ROWS).mark_bar().transform_filter(vega.equal(b=name, a=1))
    assert chart.to_dict()["transform"] == [
        {"filter": {"and": [{"field": "b", "equal": name}, {"field": "a", "equal": 1}]}}
    ]
    alt.Chart.from_dict(chart.to_dict())


def test_a_picture_is_the_same_whatever_the_last_digits_of_its_figures() -> None:
    rows = [{"a": 0.1 + 0.2, "b": "x"}, {"a": 100 / 3, "b": "y"}]
    others = [{"a": 0.3, "b": "x"}, {"a": 100 / 3 + 1e-13, "b": "y"}]
    assert rows != others
    chart, other = (vega.Chart(entries).mark_bar().to_dict() for entries in (rows, others))
    assert chart == other
    changed = vega.Chart([rows[0], {"a": 33.3334, "b": "y"}]).mark_bar().to_dict()
    assert changed != chart


def test_of_every_kind_of_picture_the_tests_draw_one() -> None:
    drawn: list[str] = []

    def draw(chart: Mapping[str, Any]) -> str:
        drawn.append(str(chart["title"]))
        return f'<svg width="70"><text>{chart["title"]}</text></svg>'

    def picture(title: str, *values: object) -> dict[str, Any]:
        return {"title": title, "datasets": {"data-1": [{"x": value} for value in values]}}

    to_svg = one_of_each_kind(draw)
    to_svg(picture("7.3% of the people", 1, 2))
    assert to_svg(picture("8% < 9%", 3)) == (
        '<svg width="70"><text font-size="11px">8% &lt; 9%</text></svg>'
    )
    odd = [("a\\b", 1), ("long " * 50, 1), ("none there", None), ("below", -1), ("in words", "one")]
    for title, value in odd:
        to_svg(picture(title, value))
    assert drawn == ["7.3% of the people", *(title for title, _ in odd)]
