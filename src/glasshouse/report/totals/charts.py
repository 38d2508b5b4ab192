"""Reconstruction from published totals in pictures: value at risk, what was linked and what it took."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import chain, pairwise
from math import ceil, floor, inf, isinf, log10
from typing import Any

import altair as alt
import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from glasshouse.arrays import Floats
from glasshouse.language import exactly, number, text
from glasshouse.reconstruction import ExposurePhase
from glasshouse.report.cells import cell_table, count_cell, percent_cell, under
from glasshouse.report.charts import PER_CENT, TARGETS, plot, titled, wrapped
from glasshouse.report.page import Cell, Column, Figure
from glasshouse.report.totals.findings import exact_amount, short, step_label

WIDE = 50
"""Values that differ by a greater factor are drawn on a logarithmic axis."""
EDGES = (0, 1, 2, 4, 8, 12, 24, 36, 50, inf)
"""The limits between the bars of complexity."""
LEAST_TIME = 0.01
"""The shortest time that is drawn, in milliseconds; what took less is drawn there."""
SOLVED = ("unique", "ambiguous", "infeasible")
"""What instances come to that are solved exactly."""
ORANGE, BLUE = TARGETS[0][0], TARGETS[1][0]
_LINE = "|"


def value_figure(steps: Sequence[ExposurePhase], currency: str | None) -> Figure:
    """Return the picture of what an adversary is expected to name rightly, by what she has."""
    return Figure.of(
        value_at_risk(steps, currency),
        label=text("Value at risk by what the adversary has"),
        caption=text(
            "Each mark: what the adversary has so far. “Joined”: she has put the records beside the totals with the "
            "same keys, and knows which places take part. “Solved”: she has ruled out every place that no allocation "
            "of the records to the totals admits."
        ),
        table=cell_table(
            text("She has"),
            [text("Value at risk")],
            ((step_label(step.name), exact_amount(step.value_at_risk, currency)) for step in steps),
        ),
    )


def value_at_risk(steps: Sequence[ExposurePhase], currency: str | None) -> alt.TopLevelMixin:
    """Show what an adversary is expected to name rightly, by what she has."""
    labels = [step_label(step.name) for step in steps]
    values = [step.value_at_risk for step in steps]
    rows = [
        {"step": label, "value": value, "label": short(value)}
        for label, value in zip(labels, values, strict=True)
    ]
    before, after = values[0], values[-1]
    wide = min(values) > 0 and after > WIDE * before
    base = plot(rows).encode(
        y=alt.Y("step:N", sort=labels, title=None, axis=alt.Axis(labelLimit=320)),
        x=_value_axis(values, currency, wide=wide),
    )
    marks = (
        base.mark_point(color=ORANGE, filled=True, size=140, opacity=1)
        if wide
        else base.mark_bar(color=ORANGE, height=20)
    )
    figures = base.mark_text(align="left", dx=9 if wide else 5).encode(text="label:N")
    title = (
        text(
            "With the totals {factor} times as much value is at risk", factor=short(after / before)
        )
        if after > before > 0
        else text("The totals put no more value at risk")
    )
    subtitle = (
        text("Σ chance of naming who is behind a record × its value; the axis is logarithmic")
        if wide
        else text("Σ chance of naming who is behind a record × its value")
    )
    return alt.layer(marks, figures).properties(
        width=520, height=alt.Step(34), title=alt.Title(title, subtitle=wrapped(subtitle))
    )


def _value_axis(values: Sequence[float], currency: str | None, *, wide: bool) -> alt.X:
    title = (
        text("value at risk ({currency})", currency=currency) if currency else text("value at risk")
    )
    if not wide:
        return alt.X("value:Q", title=title, scale=alt.Scale(zero=True), axis=alt.Axis(tickCount=5))
    powers = _powers(min(values), max(values))
    labels = "".join(
        f"datum.value == {power!r} ? {json.dumps(short(power), ensure_ascii=False)} : "
        for power in powers
    )
    return alt.X(
        "value:Q",
        title=title,
        scale=alt.Scale(type="log", domain=[powers[0], powers[-1]]),
        axis=alt.Axis(values=powers[:: 1 + len(powers) // 8], labelExpr=f"{labels}''"),
    )


@dataclass(frozen=True)
class _Bar:
    """The instances of about the same complexity."""

    label: str
    """How complex they are."""
    instances: int
    """How many there are."""
    solved: int
    """How many of them are solved exactly."""
    records: int
    """How many records they have."""
    linked: int
    """How many of these are linked."""
    times: tuple[float, float, float] | None
    """The quartiles of what they took, in milliseconds; None: there are none."""

    @property
    def axis_label(self) -> str:
        """What stands below it in a picture: on a second line, how many instances there are."""
        return f"{self.label}{_LINE}{number(self.instances)}"


def _bars(instances: pa.Table) -> list[_Bar]:
    complexity, packages, linked, status, seconds = (
        np.array(instances[name].to_pylist())
        for name in ("complexity", "packages", "linked", "status", "seconds")
    )
    complexity = complexity.astype(float)
    place = np.clip(np.searchsorted(EDGES, complexity, side="right") - 1, 0, len(EDGES) - 2)
    solved, times = np.isin(status, SOLVED), _milliseconds(seconds)
    bars = []
    for bar, (low, high) in enumerate(pairwise(EDGES)):
        inside = place == bar
        quartiles = np.quantile(times[inside], [0.25, 0.5, 0.75]).tolist() if inside.any() else None
        bars.append(
            _Bar(
                label=number(low, "g") + ("+" if isinf(high) else f"–{number(high, 'g')}"),
                instances=int(inside.sum()),
                solved=int(solved[inside].sum()),
                records=int(packages[inside].sum()),
                linked=int(linked[inside].sum()),
                times=None if quartiles is None else (quartiles[0], quartiles[1], quartiles[2]),
            )
        )
    return bars


def _milliseconds(seconds: NDArray[Any]) -> Floats:
    times: Floats = np.maximum(1000 * seconds.astype(float), LEAST_TIME)
    return times


def linked_by_complexity(instances: pa.Table) -> Figure:
    """Show which share of the instances was solved, and of their records linked, by how complex they are."""
    every = _bars(instances)
    bars = [bar for bar in every if bar.instances]
    solved, linked = text("instances solved exactly"), text("records linked")
    rows, numbers = [], []
    for bar in bars:
        shares = Fraction(bar.solved, bar.instances), Fraction(bar.linked, max(bar.records, 1))
        cells = map(percent_cell, shares)
        counts = map(count_cell, (bar.instances, bar.records))
        numbers.append((Cell(bar.label), *chain.from_iterable(zip(counts, cells, strict=True))))
        rows += [
            {"complexity": bar.axis_label, "what": what, "share": 100 * part / max(whole, 1)}
            for what, part, whole in (
                (solved, bar.solved, bar.instances),
                (linked, bar.linked, bar.records),
            )
        ]
    title = text(
        "{solved} of {instances} instances are solved exactly, and {linked} of {records} records in all instances are "
        "linked",
        solved=sum(bar.solved for bar in bars),
        instances=sum(bar.instances for bar in bars),
        linked=sum(bar.linked for bar in bars),
        records=sum(bar.records for bar in bars),
    )
    subtitle = text("by complexity; a record counts in every phase in which it was to be linked")
    colours = alt.Scale(domain=[solved, linked], range=[BLUE, ORANGE])
    legend = alt.Legend(labelLimit=320)
    chart = plot(rows).mark_bar()
    drawn = chart.encode(
        x=_complexity(every),
        y=alt.Y("share:Q", title=text("share (%)"), scale=PER_CENT),
        xOffset=alt.XOffset("what:N", sort=[solved, linked]),
        color=alt.Color("what:N", title=None, scale=colours, legend=legend),
    )
    titles = (text("Instances"), text("Solved exactly"), text("Records"), text("Linked"))
    return Figure.of(
        titled(drawn, title, subtitle, (80, 90), width=640, height=240),
        label=text("Share of instances solved, and of their records linked, by complexity"),
        caption=text(
            "Complex: many records and many places. “Solved”: exactly, so that nothing is left to try. “Linked”: one "
            "place only is left for the record."
        ),
        table=cell_table(text("Complexity"), titles, numbers),
    )


def time_by_complexity(instances: pa.Table) -> Figure:
    """Show how long solving takes, by how complex instances are: the median, and the middle half."""
    bars, times = _bars(instances), _milliseconds(np.array(instances["seconds"].to_pylist()))
    taken = [(bar, bar.times) for bar in bars if bar.times is not None]
    rows = [
        {"complexity": bar.axis_label, "low": low, "middle": middle, "high": high}
        for bar, (low, middle, high) in taken
    ]
    powers = _powers(LEAST_TIME, max((high for _, (_, _, high) in taken), default=1.0))
    base = plot(rows).encode(x=_complexity(bars))
    scale = alt.Scale(type="log", domain=[powers[0], powers[-1]])
    axis = alt.Axis(values=powers, format=",~r")
    rules = base.mark_rule(strokeWidth=6, opacity=0.4, color=BLUE).encode(
        y=alt.Y("low:Q", title=text("CPU time (ms)"), scale=scale, axis=axis), y2="high:Q"
    )
    points = base.mark_point(filled=True, size=90, color=BLUE, opacity=1).encode(y="middle:Q")
    title = text(
        "The median instance takes {median} ms of CPU time, the longest {longest} ms",
        median=short(float(np.median(times))),
        longest=short(float(times.max())),
    )
    subtitle = text("median and middle half, by complexity; the vertical axis is logarithmic")
    chart = alt.layer(rules, points)
    quartiles = (text("lower quartile"), text("median"), text("upper quartile"))
    numbers = [
        (
            *(Cell(bar.label), count_cell(bar.instances)),
            *(Cell(number(time, ",.2f"), exact=exactly(time)) for time in times),
        )
        for bar, times in taken
    ]
    columns: tuple[str | Column, ...] = (
        text("Instances"),
        *under(text("CPU time (ms)"), *quartiles),
    )
    return Figure.of(
        titled(chart, title, subtitle, (80, 90), width=640, height=240),
        label=text("Solving time by complexity"),
        caption=text("Instances with one place take no time and are drawn at the bottom."),
        table=cell_table(text("Complexity"), columns, numbers),
    )


def _complexity(bars: Sequence[_Bar]) -> alt.X:
    """Return the axis of complexity: every bar of it, with the number of instances below."""
    return alt.X(
        "complexity:N",
        scale=alt.Scale(domain=[bar.axis_label for bar in bars]),
        title=text(
            "complexity: log₁₀ of places to the power of records; below it, the number of instances"
        ),
        axis=alt.Axis(labelAngle=0, labelExpr=f"split(datum.label, '{_LINE}')"),
    )


def _powers(low: float, high: float) -> list[float]:
    """Return the powers of ten from one at most as large as the first number to one at least as large as the other.

    >>> _powers(0.5, 30)
    [0.1, 1.0, 10.0, 100.0]
    """
    first, last = floor(log10(low) + 1e-9), ceil(log10(high) - 1e-9)
    return [10.0**power for power in range(first, max(last, first + 1) + 1)]
