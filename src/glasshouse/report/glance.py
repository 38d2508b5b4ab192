"""Results at a glance: a page with sentences and pictures only, for results that no report is made of by itself."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction

import altair as alt

from glasshouse.errors import printable
from glasshouse.language import number, text
from glasshouse.report.chances import Shift, shift_chart, shift_table
from glasshouse.report.page import (
    Cell,
    Column,
    Figure,
    Finding,
    Group,
    Page,
    Provenance,
    Severity,
    Table,
)
from glasshouse.report.theme import TARGETS, wrapped

NOWHERE = Provenance(version="", study="", datasets={})
"""A result in memory has no study file and no run folder."""
MOST_BARS = 20
"""A picture at a glance has at most so many bars."""


def glance(findings: Sequence[Finding], figures: Sequence[Figure | None] = ()) -> Page:
    """Return a page of findings and pictures; a picture that there is not is left out."""
    return Page(
        title="",
        lead="",
        findings=tuple(findings),
        adversary=(),
        limits=(),
        provenance=NOWHERE,
        command="",
        method="",
        figures=tuple(figure for figure in figures if figure is not None),
    )


def note(sentence: str) -> Finding:
    """Return a finding that is neither good nor bad by itself."""
    return Finding(Severity.NOTE, sentence)


def bar_figure(
    bars: Mapping[str, float | Fraction], *, title: str, axis: str, subtitle: str = ""
) -> Figure | None:
    """Return a picture of a few numbers that have names; None where there is none.

    Args:
        bars: The numbers by name; of many the first.
        title: What it shows was found.
        axis: What the numbers are, with their unit.
        subtitle: How to read it.
    """
    shown = {printable(name): float(bars[name]) for name in list(bars)[:MOST_BARS]}
    if not shown:
        return None
    rows = [{"name": name, "size": size} for name, size in shown.items()]
    said = wrapped(title)
    heading = alt.Title(said, subtitle=wrapped(subtitle)) if subtitle else alt.Title(said)
    chart = (
        alt.Chart(alt.InlineData(values=rows))
        .mark_bar(color=TARGETS[1][0])
        .encode(
            x=alt.X("size:Q", title=axis, axis=alt.Axis(tickCount=6, format=",~r")),
            y=alt.Y("name:N", sort=list(shown), title=None),
        )
        .properties(width=520, height=alt.Step(24), title=heading)
    )
    cells = tuple((Cell(name), Cell(number(size, ",.4g"))) for name, size in shown.items())
    table = Table((Column(""), Column(axis, numeric=True)), (Group(cells),))
    return Figure.of(chart, label=title, caption="", table=table)


def guess_figure(shift: Shift, *, title: str, subtitle: str) -> Figure | None:
    """Return the picture of how often one guess is right, before and after; None where it is no probability."""
    if not (0 <= shift.before <= 1 and 0 <= shift.after <= 1):
        return None
    return Figure.of(
        shift_chart([shift], title=title, subtitle=subtitle),
        label=text("How often a guess is right, before and after"),
        caption="",
        table=shift_table([shift]),
    )
