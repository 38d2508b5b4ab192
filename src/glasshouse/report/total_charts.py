"""Reconstruction from published totals in pictures: value at risk, what was linked and what it took."""

from __future__ import annotations

from collections.abc import Sequence

import altair as alt
import numpy as np
import pyarrow as pa

from glasshouse.report.theme import TARGETS
from glasshouse.totals import Phase

WIDE = 50
"""Values that differ by a greater factor are drawn on a logarithmic axis."""
EDGES = (0, 1, 2, 4, 8, 12, 24, 36, 50, float("inf"))
"""The limits between the bars of complexity."""


def value_at_risk(steps: Sequence[Phase], currency: str | None) -> alt.TopLevelMixin:
    """Show what an adversary is expected to name rightly, by what she has."""
    rows = [
        {"step": step.name, "value": step.value_at_risk, "label": short(step.value_at_risk)}
        for step in steps
    ]
    factor = steps[-1].value_at_risk / steps[0].value_at_risk if steps[0].value_at_risk else 1
    wide = factor > WIDE
    base = alt.Chart(alt.InlineData(values=rows)).encode(
        y=alt.Y(
            "step:N",
            sort=[step.name for step in steps],
            title=None,
            axis=alt.Axis(labelLimit=320),
        ),
        x=alt.X(
            "value:Q",
            title=f"value at risk ({currency})" if currency else "value at risk",
            scale=alt.Scale(type="log") if wide else alt.Scale(zero=True),
        ),
    )
    colour = TARGETS[0][0]
    bars = (
        base.mark_point(color=colour, filled=True, size=140, opacity=1)
        if wide
        else base.mark_bar(color=colour, height=20)
    )
    labels = base.mark_text(align="left", dx=9 if wide else 5).encode(text="label:N")
    return alt.layer(bars, labels).properties(
        width=520,
        height=alt.Step(34),
        title=alt.Title(
            f"With the totals {short(factor)} times as much value is at risk",
            subtitle="Σ chance of naming who is behind a record × its value"
            + ("; the axis is logarithmic" if wide else ""),
        ),
    )


def linked_by_complexity(instances: pa.Table) -> alt.TopLevelMixin:
    """Show how many instances were solved, by how complex they are."""
    solved = np.isin(
        np.array(instances["status"].to_pylist()), ["unique", "ambiguous", "infeasible"]
    )
    place = _bars(instances)
    rows = [
        {
            "complexity": _said(bar),
            "what": what,
            "instances": int(np.count_nonzero((place == bar) & which)),
        }
        for bar in range(len(EDGES) - 1)
        for what, which in (("solved exactly", solved), ("not solved", ~solved))
    ]
    names = ["solved exactly", "not solved"]
    chart: alt.Chart = (
        alt.Chart(alt.InlineData(values=rows))
        .mark_bar()
        .encode(
            x=alt.X(
                "complexity:N",
                sort=[_said(bar) for bar in range(len(EDGES) - 1)],
                title="complexity: log₁₀ (bins to the power of records)",
                axis=alt.Axis(labelAngle=0),
            ),
            y=alt.Y("instances:Q", title="instances", scale=alt.Scale(type="symlog")),
            xOffset=alt.XOffset("what:N", sort=names),
            color=alt.Color(
                "what:N",
                title=None,
                scale=alt.Scale(domain=names, range=[TARGETS[1][0], TARGETS[0][0]]),
            ),
        )
        .properties(
            width=560,
            height=240,
            title=alt.Title(
                f"{np.count_nonzero(solved):,} of {len(solved):,} instances are solved exactly",
                subtitle="by complexity; the vertical axis is logarithmic",
            ),
        )
    )
    return chart


def time_by_complexity(instances: pa.Table) -> alt.TopLevelMixin:
    """Show how long solving takes, by how complex instances are: the median, and the middle half."""
    place, seconds = _bars(instances), np.array(instances["seconds"].to_pylist())
    rows = []
    for bar in range(len(EDGES) - 1):
        own = seconds[place == bar]
        own = own[own > 0]
        if len(own):
            low, middle, high = np.quantile(own, [0.25, 0.5, 0.75])
            rows.append(
                {
                    "complexity": _said(bar),
                    "low": 1000 * low,
                    "middle": 1000 * middle,
                    "high": 1000 * high,
                }
            )
    base = alt.Chart(alt.InlineData(values=rows)).encode(
        x=alt.X(
            "complexity:N",
            sort=[_said(bar) for bar in range(len(EDGES) - 1)],
            title="complexity: log₁₀ (bins to the power of records)",
            axis=alt.Axis(labelAngle=0),
        )
    )
    rules = base.mark_rule(strokeWidth=6, opacity=0.4, color=TARGETS[1][0]).encode(
        y=alt.Y("low:Q", title="CPU time (ms)", scale=alt.Scale(type="log")), y2="high:Q"
    )
    points = base.mark_point(filled=True, size=90, color=TARGETS[1][0], opacity=1).encode(
        y="middle:Q"
    )
    return alt.layer(rules, points).properties(
        width=560,
        height=240,
        title=alt.Title(
            "How long an instance takes",
            subtitle="median and middle half of those that took any time",
        ),
    )


def _bars(instances: pa.Table) -> np.ndarray[tuple[int], np.dtype[np.intp]]:
    complexity = np.array(instances["complexity"].to_pylist(), float)
    return np.clip(np.searchsorted(EDGES, complexity, side="right") - 1, 0, len(EDGES) - 2)


def _said(bar: int) -> str:
    high = EDGES[bar + 1]
    return f"{EDGES[bar]:g}–{high:g}" if np.isfinite(high) else f"{EDGES[bar]:g} and more"


def short(number: float) -> str:
    """Say a number in three digits and a word.

    >>> short(4_923_000.0), short(40_700.0), short(267.4), short(1.5e9)
    ('4.92 million', '40.7 thousand', '267', '1.5 billion')
    """
    for size, word in ((1e9, "billion"), (1e6, "million"), (1e4, "thousand")):
        if number >= size:
            return f"{number / (1e3 if word == 'thousand' else size):.3g} {word}"
    return f"{number:,.0f}" if number >= 1000 else f"{number:.3g}"
