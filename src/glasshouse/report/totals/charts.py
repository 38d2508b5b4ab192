"""Reconstruction from published totals in pictures: what is certain after each phase, and the value at risk."""

from __future__ import annotations

import json
from collections.abc import Sequence
from fractions import Fraction
from itertools import pairwise
from math import ceil, floor, inf, isinf, log10

import altair as alt
import numpy as np
import pyarrow as pa

from glasshouse.language import exactly, number, text
from glasshouse.reconstruction import CampaignResult, ExposurePhase
from glasshouse.report.cells import cell_table, count_cell, percent_cell, under
from glasshouse.report.charts import PER_CENT, TARGETS, keyed, plot, titled, wrapped
from glasshouse.report.page import Cell, Column, Figure, Table
from glasshouse.report.totals.findings import exact_amount, short, step_label
from glasshouse.report.words import share

WIDE = 50
"""Values that differ by a greater factor are drawn on a logarithmic axis."""
EDGES = (0, 1, 2, 4, 8, 12, 24, 36, 50, inf)
"""The limits between the rows of complexity."""
SOLVED = ("unique", "ambiguous", "infeasible")
"""What instances come to that are solved exactly."""
ORANGE, BLUE = TARGETS[0][0], TARGETS[1][0]
LETTERS = 16
"""So many letters fit into a line at the left of a picture."""
ROOM = {"left": 16, "top": 5, "right": 10, "bottom": 5}
"""Around a picture with long labels at its left and figures at its right."""
_LINE = "\u2003"


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
    labels = [_LINE.join(wrapped(step_label(step.name), LETTERS)) for step in steps]
    values = [step.value_at_risk for step in steps]
    rows = [
        {"step": label, "value": value, "label": short(value)}
        for label, value in zip(labels, values, strict=True)
    ]
    before, after = values[0], values[-1]
    wide = min(values) > 0 and after > WIDE * before
    base = plot(rows).encode(
        y=_lines_of("step:N", labels),
        x=_value_axis(values, currency, wide=wide),
    )
    marks = (
        base.mark_point(color=ORANGE, filled=True, size=140, opacity=1)
        if wide
        else base.mark_bar(color=ORANGE, height=20)
    )
    figures = base.mark_text(align="left", dx=9 if wide else 5).encode(text="label:N")
    factor = short(after / before) if after > before > 0 else "1"
    title = (
        text("The totals put no more value at risk")
        if factor == "1"
        else text("With the totals {factor} times as much value is at risk", factor=factor)
    )
    subtitle = (
        text("what guesses would put down to the right name; the axis is logarithmic")
        if wide
        else text("what guesses would put down to the right name")
    )
    return alt.layer(marks, figures).properties(
        width=480,
        height=alt.Step(38),
        padding=ROOM,
        title=alt.Title(title, subtitle=wrapped(subtitle)),
    )


def _value_axis(values: Sequence[float], currency: str | None, *, wide: bool) -> alt.X:
    title = (
        text("value at risk ({currency})", currency=currency) if currency else text("value at risk")
    )
    if not wide:
        scale = alt.Scale(domain=[0, 1.4 * max(values) or 1.0], nice=False)  # marks are labelled
        return alt.X("value:Q", title=title, scale=scale, axis=alt.Axis(labels=False, ticks=False))
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


def _lines_of(field: str, labels: Sequence[str]) -> alt.Y:
    """Return an axis of labels that may be of several lines."""
    axis = alt.Axis(labelExpr=f"split(datum.label, '{_LINE}')", labelPadding=6)
    return alt.Y(field, sort=list(labels), title=None, axis=axis)


def phases_figure(result: CampaignResult) -> Figure:
    """Show of which share of the records the place, and the name, is certain after each phase."""
    records = result.records
    placed, named = text("place certain"), text("named with certainty")
    counts = {placed: "linked_so_far"} | ({named: "exposed"} if result.phases[-1].exposed else {})
    labels = [_LINE.join(wrapped(phase.name, LETTERS)) for phase in result.phases]
    rows = [
        {
            "phase": label,
            "what": what,
            "share": 100 * getattr(phase, count) / records,
            "label": share(getattr(phase, count), records),
        }
        for label, phase in zip(labels, result.phases, strict=True)
        for what, count in counts.items()
    ]
    base = plot(rows).encode(
        y=_lines_of("phase:N", labels),
        yOffset=alt.YOffset("what:N", sort=list(counts)),
        x=alt.X("share:Q", title=text("share of the records (%)"), scale=PER_CENT),
    )
    chart = alt.layer(
        base.mark_bar().encode(color=alt.Color("what:N", **keyed(list(counts), (BLUE, ORANGE)))),
        base.mark_text(align="left", dx=5, fontSize=12).encode(text="label:N"),
    )
    last = result.phases[-1]
    title = text(
        "After the last phase the place of {share} of the records is certain",
        share=share(last.linked_so_far, records),
    )
    numbers = (
        (Cell(phase.name), *(count_cell(getattr(phase, count)) for count in counts.values()))
        for phase in result.phases
    )
    return Figure.of(
        titled(
            chart,
            title,
            text("by phase: each uses further totals"),
            width=480,
            height=alt.Step(22),
            padding=ROOM,
        ),
        label=text("Records whose place, or name, is certain after each phase"),
        caption=text("“Place certain”: one place only is left for the record."),
        table=cell_table(text("Phase"), list(counts), numbers),
    )


def complexity_table(instances: pa.Table) -> Table:
    """Return by how complex instances are: how many are solved, how many of their records linked, and how long it took.

    A record counts in every phase in which it was to be linked.
    """
    complexity, packages, linked, status, seconds = (
        np.array(instances[name].to_pylist())
        for name in ("complexity", "packages", "linked", "status", "seconds")
    )
    place = np.searchsorted(EDGES, complexity.astype(float), side="right") - 1
    place = np.clip(place, 0, len(EDGES) - 2)
    solved, times = np.isin(status, SOLVED), 1000 * seconds.astype(float)
    rows = []
    for bar, (low, high) in enumerate(pairwise(EDGES)):
        inside = place == bar
        if not inside.any():
            continue
        label = number(low, "g") + ("+" if isinf(high) else f"–{number(high, 'g')}")
        count, records = int(inside.sum()), int(packages[inside].sum())
        rows.append(
            (
                *(Cell(label), count_cell(count)),
                percent_cell(Fraction(int(solved[inside].sum()), count)),
                count_cell(records),
                percent_cell(Fraction(int(linked[inside].sum()), max(records, 1))),
                *(
                    Cell(number(time, ",.2f"), exact=exactly(time))
                    for time in np.quantile(times[inside], [0.25, 0.5, 0.75]).tolist()
                ),
            )
        )
    titles: tuple[str | Column, ...] = (
        *(text("Instances"), text("Solved exactly"), text("Records"), text("Linked")),
        *under(
            text("CPU time (ms)"), text("lower quartile"), text("median"), text("upper quartile")
        ),
    )
    return cell_table(text("Complexity"), titles, rows)


def _powers(low: float, high: float) -> list[float]:
    """Return the powers of ten from one at most as large as the first number to one at least as large as the other.

    >>> _powers(0.5, 30)
    [0.1, 1.0, 10.0, 100.0]
    """
    first, last = floor(log10(low) + 1e-9), ceil(log10(high) - 1e-9)
    return [10.0**power for power in range(first, max(last, first + 1) + 1)]
