"""What an anonymised table tells beyond the population, in pictures, each with the table of its numbers."""

from __future__ import annotations

import altair as alt
import numpy as np

from glasshouse.groups import Knowledge, Measures
from glasshouse.language import exactly, number, text
from glasshouse.report.cells import cell_rows, cell_table, count_cell
from glasshouse.report.charts import NEUTRAL, TARGETS, wrapped
from glasshouse.report.page import Cell, Column, Figure, Group, Table
from glasshouse.report.threat.findings import (
    adversary_label,
    as_fraction,
    whole_percent,
    with_error,
)
from glasshouse.report.words import counted, percentage, percentages

BARS, COARSE_BARS = 20, 5
"""Into how many bars beliefs are counted in the picture, and in the table behind it."""
MOST_RANKS = 12
"""So many of the likeliest values are drawn by themselves."""
ATTACKER, LEARNER = TARGETS[0][0], TARGETS[1][0]
"""The colours of who knows that the person is in the table, and of who learns about the population."""


def measure_figures(measures: Measures) -> tuple[Figure, ...]:
    """Return the pictures of how much the records of the original are threatened."""
    if not measures.attacker.threatened.any():
        return (guesses(measures),)
    return guesses(measures), relative_threat(measures), learner_against_attacker(measures)


def guesses(measures: Measures) -> Figure:
    """Show for how many records each adversary's best guess is right, beside the most frequent value."""
    shares = {text("always says the most frequent value"): float(measures.baseline)}
    colours = [NEUTRAL]
    for name, threat in measures.adversaries().items():
        shares[adversary_label(name)] = threat.share_at_random
        colours.append({"attacker": ATTACKER, "learner": LEARNER}.get(name, NEUTRAL))
    rows = [{"who": who, "share": 100 * share} for who, share in shares.items()]
    base = alt.Chart(alt.InlineData(values=rows)).encode(
        y=alt.Y("who:N", sort=list(shares), title=None, axis=alt.Axis(labelLimit=320)),
        x=alt.X(
            "share:Q", title=text("records guessed right (%)"), scale=alt.Scale(domain=[0, 100])
        ),
    )
    scale = alt.Scale(domain=list(shares), range=colours)
    bars = base.mark_bar(height=18).encode(color=alt.Color("who:N", scale=scale, legend=None))
    labels = base.mark_text(align="left", dx=5).encode(text=alt.Text("share:Q", format=".1f"))
    attacker, learner = percentages(
        as_fraction(measures.attacker.share_at_random),
        as_fraction(measures.learner.share_at_random),
    )
    title = text(
        "Who knows that a person is in the table guesses {attacker} right; about the population, {learner}",
        attacker=attacker,
        learner=learner,
    )
    chart = alt.layer(bars, labels).properties(
        width=460,
        height=alt.Step(32),
        title=alt.Title(wrapped(title), subtitle=text("ties are broken at random")),
    )
    return Figure.of(
        chart,
        label=text("Share of records that each adversary guesses right"),
        caption=text(
            "What who knows that a person is in the table has more than who learns about the population is what being "
            "in the table costs."
        ),
        table=cell_table(
            text("Somebody who"),
            [text("records guessed right")],
            (
                (who, Cell(percentage(as_fraction(share)), exact=exactly(share)))
                for who, share in shares.items()
            ),
        ),
    )


def relative_threat(measures: Measures) -> Figure:
    """Show how log₂ of the relative threat is distributed over the records that the attacker threatens."""
    histogram = measures.histogram("attacker")
    bars = [
        (float(low), float(high), int(count))
        for low, high, count in zip(
            histogram.edges[:-1], histogram.edges[1:], histogram.counts, strict=True
        )
    ]
    rows = [{"low": low, "high": high, "records": count, "none": 0} for low, high, count in bars]
    columns = (
        alt.Chart(alt.InlineData(values=rows))
        .mark_bar(color=ATTACKER, stroke="white")
        .encode(
            x=alt.X(
                "low:Q",
                title=text("log₂ of how many times surer than about the population (1: twice)"),
                axis=alt.Axis(tickMinStep=0.25, labelOverlap=True),
            ),
            x2="high:Q",
            y=alt.Y("records:Q", title=text("threatened records")),
            y2="none:Q",
        )
    )
    zero = (
        alt.Chart(alt.InlineData(values=[{"x": 0}]))
        .mark_rule(strokeDash=[4, 3], color=NEUTRAL)
        .encode(x="x:Q")
    )
    chart = alt.layer(columns, zero).properties(
        width=620,
        height=240,
        title=alt.Title(wrapped(_exceeding(measures)), subtitle=wrapped(_shape(measures), 105)),
    )
    return Figure.of(
        chart,
        label=text("Threatened records by relative threat"),
        caption=text(
            "0: as sure as about the population. 1: twice as sure. 2: four times. Below 0: less sure."
        ),
        table=cell_table(
            text("log₂ of the relative threat"),
            [text("Threatened records")],
            (
                (
                    text("{low} to {high}", low=number(low, ".2f"), high=number(high, ".2f")),
                    count_cell(count),
                )
                for low, high, count in bars
                if count
            ),
        ),
    )


def _exceeding(measures: Measures) -> str:
    """Say of how many records' truth she is more than so many times as sure."""
    above = measures.share_above(measures.exceeds, threatened=False)
    limit = number(measures.exceeds, "g")
    if above == 0:
        return text(
            "Of the truth about no record she is more than {limit} times as sure", limit=limit
        )
    return text(
        "Of the truth about {share} of the records she is more than {limit} times as sure",
        share=percentage(above),
        limit=limit,
    )


def _shape(measures: Measures) -> str:
    """Say how to read the histogram, and how skewed it is where that can be told."""
    skewness = measures.histogram("attacker").skewness
    if np.isnan(skewness):
        return text("right of the line: more is told about the person than about people like them")
    return text(
        "right of the line: more is told about the person than about people like them; skewness {skewness}",
        skewness=with_error(measures, number(skewness, ".2f"), "log2_ti_attacker_skewness"),
    )


def learner_against_attacker(measures: Measures) -> Figure:
    """Show p_L against p_A of each record's true value, as counts in squares: no record is shown."""
    counts = measures.scatter(bars=BARS)
    width = 100 / BARS
    rows = [
        {
            "x": width * row,
            "x2": width * (row + 1),
            "y": width * column,
            "y2": width * (column + 1),
            "records": int(counts[row, column]),
        }
        for row, column in np.argwhere(counts)
    ]
    scale = alt.Scale(domain=[0, 100])
    squares = (
        alt.Chart(alt.InlineData(values=rows))
        .mark_rect()
        .encode(
            x=alt.X("x:Q", title=text("belief about the population, p_L (%)"), scale=scale),
            x2="x2:Q",
            y=alt.Y("y:Q", title=text("belief about the person, p_A (%)"), scale=scale),
            y2="y2:Q",
            color=alt.Color(
                "records:Q", title=text("records"), scale=alt.Scale(scheme="viridis", type="log")
            ),
        )
    )
    line = (
        alt.Chart(alt.InlineData(values=[{"x": 0, "y": 0}, {"x": 100, "y": 100}]))
        .mark_line(strokeDash=[4, 3], color=NEUTRAL)
        .encode(x="x:Q", y="y:Q")
    )
    title = text(
        "Of {surer} of the {records} whose truth she would name she is surer than about people like them",
        surer=number(round(measures.share_above(1.0) * measures.records)),
        records=counted(int(np.count_nonzero(measures.attacker.threatened)), "record"),
    )
    chart = alt.layer(squares, line).properties(
        width=380,
        height=380,
        title=alt.Title(
            wrapped(title, 60),
            subtitle=wrapped(text("above the line: surer than about people like them"), 70),
        ),
    )
    return Figure.of(
        chart,
        label=text(
            "Belief about the population against belief about the person, of the true value"
        ),
        caption=text(
            "Counts of threatened records in squares; no record is shown. The table behind the picture has larger "
            "squares."
        ),
        table=_coarse_squares(measures),
    )


def _coarse_squares(measures: Measures) -> Table:
    """Return the numbers of `learner_against_attacker` in fewer squares."""
    width = 100 // COARSE_BARS
    limits = [
        text("{low} to {high} %", low=width * bar, high=width * (bar + 1))
        for bar in range(COARSE_BARS)
    ]
    about_person = text("About the person, p_A")
    columns = (
        Column(text("About the population, p_L")),
        *(Column(limit, numeric=True, under=about_person) for limit in limits),
    )
    counts = measures.scatter(bars=COARSE_BARS).tolist()
    rows = ((Cell(limit), *map(count_cell, row)) for limit, row in zip(limits, counts, strict=True))
    return Table(columns, (Group(cell_rows(rows)),))


def ranked_beliefs(knowledge: Knowledge, learner: str) -> list[tuple[str, float, float]]:
    """Return how probable the likeliest value of the victim is, the second, …: for the attacker and for the learner.

    Each is ranked by itself, so that no value is told. What is beyond the likeliest few stands together.
    """
    beliefs = knowledge.of(0)
    pairs = list(
        zip(
            sorted(beliefs["attacker"].values(), reverse=True),
            sorted(beliefs[learner].values(), reverse=True),
            strict=True,
        )
    )
    shown = pairs if len(pairs) <= MOST_RANKS else pairs[: MOST_RANKS - 1]
    rows = [(text("no. {rank}", rank=rank), *pair) for rank, pair in enumerate(shown, start=1)]
    others = pairs[len(shown) :]
    if others:
        label = text("all {count} others", count=len(others))
        rows.append((label, sum(pair[0] for pair in others), sum(pair[1] for pair in others)))
    return rows


def beliefs(knowledge: Knowledge, learner: str) -> Figure:
    """Show how sure attacker and learner are of the likeliest values of one victim, in whole per cent."""
    ranks = ranked_beliefs(knowledge, learner)
    who = [adversary_label("attacker"), adversary_label(learner)]
    rows = [
        {"rank": label, "who": name, "belief": round(100 * belief)}
        for label, *pair in ranks
        for name, belief in zip(who, pair, strict=True)
    ]
    title = text(
        "She believes the likeliest value with {attacker}; about the population, the likeliest with {learner}",
        attacker=whole_percent(ranks[0][1]),
        learner=whole_percent(ranks[0][2]),
    )
    colours = alt.Scale(domain=who, range=[ATTACKER, LEARNER])
    shapes = alt.Scale(domain=who, range=["circle", "diamond"])
    legend = alt.Legend(labelLimit=320)
    chart = (
        alt.Chart(alt.InlineData(values=rows))
        .mark_point(filled=True, size=130, opacity=1)
        .encode(
            y=alt.Y("rank:N", sort=[label for label, *_ in ranks], title=None),
            x=alt.X("belief:Q", title=text("probability (%)"), scale=alt.Scale(domain=[0, 100])),
            color=alt.Color("who:N", title=None, sort=who, legend=legend, scale=colours),
            shape=alt.Shape("who:N", title=None, sort=who, scale=shapes),
        )
        .properties(
            width=460,
            height=alt.Step(28),
            title=alt.Title(
                wrapped(title),
                subtitle=wrapped(text("the likeliest values first, each ranked by itself"), 105),
            ),
        )
    )
    return Figure.of(
        chart,
        label=text("How sure attacker and learner are of the likeliest values of the victim"),
        caption=text(
            "Further apart: more is told. Each is ranked by itself: the likeliest value of one may be another than "
            "that of the other. Which values they are is not told."
        ),
        table=cell_table(
            text("Value, the likeliest first"),
            who,
            ((label, *map(whole_percent, pair)) for label, *pair in ranks),
        ),
    )
