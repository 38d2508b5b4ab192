"""How likely people are to be in a release: the picture, and its numbers."""

from __future__ import annotations

from fractions import Fraction

import altair as alt

from glasshouse.language import marked, number, printable, text, translated
from glasshouse.microdata.presence import Membership
from glasshouse.report.cells import cell_table, count_cell, under
from glasshouse.report.charts import TARGETS, wrapped
from glasshouse.report.page import Cell, Table
from glasshouse.report.words import frequency, plural, share, short_names, singular

OUT, BETWEEN, IN = marked("out for sure"), marked("not sure"), marked("in for sure")
"""The three kinds of bars, as the legend names them."""
COLOURS = {OUT: TARGETS[1][0], BETWEEN: "#b5b5b5", IN: TARGETS[0][0]}
"""Their colours."""


def presence_chart(outcome: Membership, *, subject: str = "person") -> alt.TopLevelMixin:
    """Show how many people there are by how likely they are to be in: a row of bars per release.

    Out for sure and in for sure are bars of their own, in their own colours.
    """
    singles = outcome.each or (outcome,)
    names = [printable(name) for name in short_names(outcome.datasets)]
    highest = max(max(single.presence) / single.people for single in singles)
    top = next(top for top in (10, 20, 50, 100) if 100 * highest <= top)
    base = alt.Chart().encode(
        x=alt.X(
            "bin:O",
            sort=bins(),
            title=text("how likely they are to be in"),
            axis=alt.Axis(labelAngle=0, labelFontSize=11, labelOverlap=False),
        ),
        y=alt.Y(
            "people:Q",
            title=text("share (%)"),
            scale=alt.Scale(domain=[0, 1.12 * top], nice=False),
            axis=alt.Axis(values=[0, top / 2, top]),
        ),
    )
    kinds = [translated(kind) for kind in COLOURS]
    bars = base.mark_bar().encode(
        color=alt.Color(
            "sure:N",
            title=None,
            sort=kinds,
            scale=alt.Scale(domain=kinds, range=list(COLOURS.values())),
        )
    )
    texts = base.mark_text(dy=-7, fontSize=11, color="#333").encode(text="text:N")
    rows = _rows(outcome, names)
    panel = alt.layer(bars, texts, data=alt.InlineData(values=rows)).properties(
        width=690, height=260 if len(singles) == 1 else 110
    )
    title = alt.Title(wrapped(_finding(outcome, subject), 95))
    if len(singles) == 1:
        return panel.properties(title=title)
    facet = alt.Row(
        "release:N",
        sort=names,
        title=None,
        header=alt.Header(labelOrient="top", labelAnchor="start", labelFontSize=13),
    )
    return panel.facet(row=facet).properties(title=title)


def presence_table(outcome: Membership, *, subject: str = "person") -> Table:
    """Return the numbers of `presence_chart`."""
    titles = (text("Number of {people}", people=plural(subject)), text("Share"))
    columns = [
        column
        for name in short_names(outcome.datasets)
        for column in under(name if outcome.each else None, *titles)
    ]
    rows = [[Cell(label)] for label in _long_bins()]
    for single in outcome.each or (outcome,):
        for row, count in zip(rows, single.presence, strict=True):
            row += [count_cell(count), Cell(share(count, single.people))]
    return cell_table(text("Chance of being in"), columns, rows)


def bins() -> list[str]:
    """Return what the bins of `glasshouse.microdata.presence.PRESENCE_LABELS` are called in a picture."""
    between = ["< 10", *(f"{tenth}0–{tenth + 1}0" for tenth in range(1, 9)), "≥ 90"]
    return [text("out"), *(text("{figure} %", figure=each) for each in between), text("in")]


def _long_bins() -> list[str]:
    """Return what they are called in a table."""
    return [
        text("out for sure"),
        text("above 0, below {high} %", high=10),
        *(
            text("{low} % to below {high} %", low=10 * tenth, high=10 * tenth + 10)
            for tenth in range(1, 10)
        ),
        text("in for sure"),
    ]


def _rows(outcome: Membership, names: list[str]) -> list[dict[str, str | float]]:
    labels = bins()
    return [
        {
            "release": name,
            "bin": label,
            "sure": translated(OUT if i == 0 else IN if i == len(labels) - 1 else BETWEEN),
            "people": 100 * count / single.people,
            "text": share(count, single.people) if count else "",
        }
        for name, single in zip(names, outcome.each or (outcome,), strict=True)
        for i, (label, count) in enumerate(zip(labels, single.presence, strict=True))
    ]


def _finding(outcome: Membership, subject: str) -> str:
    """Say of how many it is certain whether they are in; of several releases, in which one most are."""
    certain = [single.certain for single in outcome.each or (outcome,)]
    best = certain.index(max(certain))
    parts = {
        "subject": singular(subject),
        "many": plural(subject),
        "count": number(len(certain)),
        "release": short_names(outcome.datasets)[best],
        "frequency": frequency(Fraction(certain[best], outcome.people)),
    }
    if outcome.each and not any(certain):
        return text(
            "Of no {subject} is it certain whether they are in any of the {count} releases", **parts
        )
    if outcome.each:
        return text(
            "{release} tells most: of {frequency} {many} it is certain whether they are in it",
            **parts,
        )
    if not outcome.certain:
        return text("Of no {subject} is it certain whether they are in", **parts)
    if outcome.certain == outcome.people:
        return text("Of every {subject} it is certain whether they are in", **parts)
    return text("Of {frequency} {many} it is certain whether they are in", **parts)
