"""Reconstruction from published totals in pictures: value at risk, what was linked and what it took."""

from __future__ import annotations

from collections.abc import Sequence
from math import ceil, floor, log10

import altair as alt
import numpy as np
import pyarrow as pa

from glasshouse.report.theme import TARGETS
from glasshouse.totals import Phase

WIDE = 50
"""Values that differ by a greater factor are drawn on a logarithmic axis."""
EDGES = (0, 1, 2, 4, 8, 12, 24, 36, 50, float("inf"))
"""The limits between the bars of complexity."""
SOLVED, LINKED = "instances solved exactly", "records linked"
LEAST_TIME = 0.01
"""The shortest time that is drawn, in milliseconds; what took less is drawn there."""
_LINE = "|"
_AMOUNT = (
    "datum.value >= 1e9 ? format(datum.value / 1e9, ',~g') + ' billion' : "
    "datum.value >= 1e6 ? format(datum.value / 1e6, ',~g') + ' million' : "
    "datum.value >= 1e4 ? format(datum.value / 1e3, ',~g') + ' thousand' : format(datum.value, ',~g')"
)
"""Amounts on an axis, said as `short` does."""


def value_at_risk(steps: Sequence[Phase], currency: str | None) -> alt.TopLevelMixin:
    """Show what an adversary is expected to name rightly, by what she has."""
    rows = [
        {"step": step.name, "value": step.value_at_risk, "label": short(step.value_at_risk)}
        for step in steps
    ]
    factor = steps[-1].value_at_risk / steps[0].value_at_risk if steps[0].value_at_risk else 1
    wide = factor > WIDE and all(step.value_at_risk > 0 for step in steps)
    least = min(step.value_at_risk for step in steps)
    powers = _powers(least, max(step.value_at_risk for step in steps)) if wide else []
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
            scale=alt.Scale(type="log", domain=[powers[0], powers[-1]])
            if wide
            else alt.Scale(zero=True),
            axis=alt.Axis(values=powers[:: 1 + len(powers) // 8], labelExpr=_AMOUNT)
            if wide
            else alt.Axis(),
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
    """Show which share of the instances was solved, and of their records linked, by how complex they are."""
    solved = np.isin(
        np.array(instances["status"].to_pylist()), ["unique", "ambiguous", "infeasible"]
    )
    packages, linked = (np.array(instances[name].to_pylist()) for name in ("packages", "linked"))
    place = _bars(instances)
    rows = []
    for bar in range(len(EDGES) - 1):
        own = place == bar
        if own.any():
            shares = (solved[own].mean(), linked[own].sum() / max(packages[own].sum(), 1))
            rows += [
                {"complexity": name, "what": what, "share": 100 * float(share)}
                for name in (_labelled(instances)[bar],)
                for what, share in zip((SOLVED, LINKED), shares, strict=True)
            ]
    chart: alt.Chart = (
        alt.Chart(alt.InlineData(values=rows))
        .mark_bar()
        .encode(
            x=_complexity(instances),
            y=alt.Y("share:Q", title="%", scale=alt.Scale(domain=[0, 100])),
            xOffset=alt.XOffset("what:N", sort=[SOLVED, LINKED]),
            color=alt.Color(
                "what:N",
                title=None,
                scale=alt.Scale(domain=[SOLVED, LINKED], range=[TARGETS[1][0], TARGETS[0][0]]),
            ),
        )
        .properties(
            width=640,
            height=240,
            title=alt.Title(
                f"{np.count_nonzero(solved):,} of {len(solved):,} instances are solved exactly; in them and the others "
                f"{int(linked.sum()):,} of {int(packages.sum()):,} records are linked",
                subtitle="in per cent, by complexity; a record counts in every phase in which it was to be linked",
            ),
        )
    )
    return chart


def time_by_complexity(instances: pa.Table) -> alt.TopLevelMixin:
    """Show how long solving takes, by how complex instances are: the median, and the middle half."""
    place, seconds = _bars(instances), np.array(instances["seconds"].to_pylist())
    labels = _labelled(instances)
    rows = []
    for bar in range(len(EDGES) - 1):
        own = np.maximum(1000 * seconds[place == bar], LEAST_TIME)
        if len(own):
            low, middle, high = np.quantile(own, [0.25, 0.5, 0.75]).tolist()
            rows.append({"complexity": labels[bar], "low": low, "middle": middle, "high": high})
    highest = max((row["high"] for row in rows), default=1.0)
    powers = _powers(LEAST_TIME, float(highest))
    base = alt.Chart(alt.InlineData(values=rows)).encode(x=_complexity(instances))
    rules = base.mark_rule(strokeWidth=6, opacity=0.4, color=TARGETS[1][0]).encode(
        y=alt.Y(
            "low:Q",
            title="CPU time (ms)",
            scale=alt.Scale(type="log", domain=[powers[0], powers[-1]]),
            axis=alt.Axis(values=powers, format="~g"),
        ),
        y2="high:Q",
    )
    points = base.mark_point(filled=True, size=90, color=TARGETS[1][0], opacity=1).encode(
        y="middle:Q"
    )
    return alt.layer(rules, points).properties(
        width=640,
        height=240,
        title=alt.Title(
            "How long an instance takes",
            subtitle="median and middle half, by complexity; the vertical axis is logarithmic",
        ),
    )


def _complexity(instances: pa.Table) -> alt.X:
    """Return the axis of complexity: every bar of it, with the number of instances below."""
    names = _labelled(instances)
    return alt.X(
        "complexity:N",
        scale=alt.Scale(domain=names),
        title="complexity: log10 of bins to the power of records; below it, the number of instances",
        axis=alt.Axis(labelAngle=0, labelExpr=f"split(datum.label, '{_LINE}')"),
    )


def _labelled(instances: pa.Table) -> list[str]:
    counts = np.bincount(_bars(instances), minlength=len(EDGES) - 1)
    return [f"{_said(bar)}{_LINE}{count:,}" for bar, count in enumerate(counts.tolist())]


def _powers(low: float, high: float) -> list[float]:
    """Return the powers of ten from one at most as large as the first number to one at least as large as the other.

    >>> _powers(0.5, 30)
    [0.1, 1.0, 10.0, 100.0]
    """
    first, last = floor(log10(low) + 1e-9), ceil(log10(high) - 1e-9)
    return [10.0**power for power in range(first, max(last, first + 1) + 1)]


def _bars(instances: pa.Table) -> np.ndarray[tuple[int], np.dtype[np.intp]]:
    complexity = np.array(instances["complexity"].to_pylist(), float)
    return np.clip(np.searchsorted(EDGES, complexity, side="right") - 1, 0, len(EDGES) - 2)


def _said(bar: int) -> str:
    high = EDGES[bar + 1]
    return f"{EDGES[bar]:g}–{high:g}" if np.isfinite(high) else f"{EDGES[bar]:g}+"


def short(number: float) -> str:
    """Say a number in three digits and a word.

    >>> short(4_923_000.0), short(40_700.0), short(267.4), short(1.5e9)
    ('4.92 million', '40.7 thousand', '267', '1.5 billion')
    """
    for size, word in ((1e9, "billion"), (1e6, "million"), (1e4, "thousand")):
        if number >= size:
            return f"{number / (1e3 if word == 'thousand' else size):.3g} {word}"
    return f"{number:,.0f}" if number >= 1000 else f"{number:.3g}"
