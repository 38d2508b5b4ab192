"""What an anonymised table tells beyond the population, in pictures, and the numbers of each as a table."""

from __future__ import annotations

import altair as alt
import numpy as np

from glasshouse.groups import Knowledge, Measures
from glasshouse.language import exactly, number, text
from glasshouse.report.cells import count_cell
from glasshouse.report.charts import NEUTRAL, TARGETS, wrapped
from glasshouse.report.page import Cell, Column, Group, Table
from glasshouse.report.threat.findings import adversary_label, plus_minus, ratio, whole_percent
from glasshouse.report.words import counted, percentage, percentages

BARS, COARSE_BARS = 20, 5
"""Into how many bars beliefs are counted in the picture, and in the table behind it."""
MOST_RANKS = 12
"""So many of the likeliest values are drawn by themselves."""
ATTACKER, LEARNER = TARGETS[0][0], TARGETS[1][0]
"""The colours of who knows that the person is in the table, and of who learns about the population."""


def _shares(measures: Measures) -> dict[str, tuple[float, str]]:
    """Return for how many records each adversary's best guess is right, and the colour of each."""
    colours = {"attacker": ATTACKER, "learner": LEARNER}
    told = {text("always says the most frequent value"): (float(measures.baseline), NEUTRAL)}
    for name, threat in measures.adversaries().items():
        told[adversary_label(name)] = (threat.share_at_random, colours.get(name, NEUTRAL))
    return told


def guesses(measures: Measures) -> alt.TopLevelMixin:
    """Show for how many records each adversary's best guess is right, beside the most frequent value."""
    told = _shares(measures)
    rows = [{"who": who, "share": 100 * value} for who, (value, _) in told.items()]
    base = alt.Chart(alt.InlineData(values=rows)).encode(
        y=alt.Y("who:N", sort=list(told), title=None, axis=alt.Axis(labelLimit=320)),
        x=alt.X(
            "share:Q", title=text("records guessed right (%)"), scale=alt.Scale(domain=[0, 100])
        ),
    )
    colours = alt.Scale(domain=list(told), range=[colour for _, colour in told.values()])
    bars = base.mark_bar(height=18).encode(color=alt.Color("who:N", scale=colours, legend=None))
    labels = base.mark_text(align="left", dx=5).encode(text=alt.Text("share:Q", format=".1f"))
    attacker, learner = percentages(
        ratio(measures.attacker.share_at_random), ratio(measures.learner.share_at_random)
    )
    title = text(
        "Who knows that a person is in the table guesses {attacker} right; about the population, {learner}",
        attacker=attacker,
        learner=learner,
    )
    return alt.layer(bars, labels).properties(
        width=460,
        height=alt.Step(32),
        title=alt.Title(wrapped(title), subtitle=text("ties are broken at random")),
    )


def guesses_table(measures: Measures) -> Table:
    """Return the numbers of `guesses`."""
    columns = (Column(text("Somebody who")), Column(text("records guessed right"), numeric=True))
    rows = tuple(
        (Cell(who), Cell(percentage(ratio(value)), exact=exactly(value)))
        for who, (value, _) in _shares(measures).items()
    )
    return Table(columns, (Group(rows),))


def relative_threat(measures: Measures) -> alt.TopLevelMixin:
    """Show how log₂ of the relative threat is distributed over the records that the attacker threatens."""
    histogram = measures.histogram("attacker")
    rows = [
        {"low": float(low), "high": float(high), "records": int(count), "none": 0}
        for low, high, count in zip(
            histogram.edges[:-1], histogram.edges[1:], histogram.counts, strict=True
        )
    ]
    bars = (
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
    return alt.layer(bars, zero).properties(
        width=620,
        height=240,
        title=alt.Title(wrapped(_exceeding(measures)), subtitle=wrapped(_shape(measures), 105)),
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
    own = measures.figures.get("log2_ti_attacker_skewness")
    return text(
        "right of the line: more is told about the person than about people like them; skewness {skewness}",
        skewness=plus_minus(number(skewness, ".2f"), None if own is None else own.error),
    )


def relative_threat_table(measures: Measures) -> Table:
    """Return the numbers of `relative_threat`: the bars that hold a record."""
    histogram = measures.histogram("attacker")
    columns = (
        Column(text("log₂ of the relative threat")),
        Column(text("Threatened records"), numeric=True),
    )
    rows = tuple(
        (Cell(_between(float(low), float(high))), count_cell(int(count)))
        for low, high, count in zip(
            histogram.edges[:-1], histogram.edges[1:], histogram.counts, strict=True
        )
        if count
    )
    return Table(columns, (Group(rows),))


def _between(low: float, high: float) -> str:
    return text("{low} to {high}", low=number(low, ".2f"), high=number(high, ".2f"))


def learner_against_attacker(measures: Measures) -> alt.TopLevelMixin:
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
    ends = [{"x": 0, "y": 0}, {"x": 100, "y": 100}]
    line = (
        alt.Chart(alt.InlineData(values=ends))
        .mark_line(strokeDash=[4, 3], color=NEUTRAL)
        .encode(x="x:Q", y="y:Q")
    )
    return alt.layer(squares, line).properties(
        width=380,
        height=380,
        title=alt.Title(
            wrapped(_surer(measures), 60),
            subtitle=wrapped(text("above the line: surer than about people like them"), 70),
        ),
    )


def _surer(measures: Measures) -> str:
    """Say of how many threatened records she is surer than about people like them."""
    threatened = int(np.count_nonzero(measures.attacker.threatened))
    return text(
        "Of {surer} of the {records} whose truth she would name she is surer than about people like them",
        surer=number(round(measures.share_above(1.0) * measures.records)),
        records=counted(threatened, "record"),
    )


def learner_against_attacker_table(measures: Measures) -> Table:
    """Return the numbers of `learner_against_attacker` in fewer squares."""
    counts = measures.scatter(bars=COARSE_BARS)
    width = 100 // COARSE_BARS
    limits = [
        text("{low} to {high} %", low=width * each, high=width * (each + 1))
        for each in range(COARSE_BARS)
    ]
    about_person = text("About the person, p_A")
    columns = (
        Column(text("About the population, p_L")),
        *(Column(each, numeric=True, under=about_person) for each in limits),
    )
    rows = tuple(
        (Cell(own), *(count_cell(int(count)) for count in row))
        for own, row in zip(limits, counts, strict=True)
    )
    return Table(columns, (Group(rows),))


def ranked_beliefs(knowledge: Knowledge, learner: str) -> list[tuple[str, float, float]]:
    """Return how probable the likeliest value of the victim is, the second, …: for the attacker and for the learner.

    Each is ranked by itself, so that no value is told. What is beyond the likeliest few stands together.
    """
    told = knowledge.of(0)
    pairs = list(
        zip(
            sorted(told["attacker"].values(), reverse=True),
            sorted(told[learner].values(), reverse=True),
            strict=True,
        )
    )
    shown = pairs if len(pairs) <= MOST_RANKS else pairs[: MOST_RANKS - 1]
    rows = [
        (text("no. {rank}", rank=rank), attacker, own)
        for rank, (attacker, own) in enumerate(shown, start=1)
    ]
    others = pairs[len(shown) :]
    if others:
        label = text("all {count} others", count=len(others))
        rows.append((label, sum(pair[0] for pair in others), sum(pair[1] for pair in others)))
    return rows


def beliefs(knowledge: Knowledge, learner: str = "learner") -> alt.TopLevelMixin:
    """Show how sure attacker and learner are of the likeliest values of one victim, in whole per cent."""
    ranks = ranked_beliefs(knowledge, learner)
    who = [adversary_label("attacker"), adversary_label(learner)]
    rows = [
        {"rank": label, "who": name, "belief": round(100 * belief)}
        for label, *own in ranks
        for name, belief in zip(who, own, strict=True)
    ]
    title = text(
        "She believes the likeliest value with {attacker}; about the population, the likeliest with {learner}",
        attacker=whole_percent(ranks[0][1]),
        learner=whole_percent(ranks[0][2]),
    )
    chart: alt.Chart = (
        alt.Chart(alt.InlineData(values=rows))
        .mark_point(filled=True, size=130, opacity=1)
        .encode(
            y=alt.Y("rank:N", sort=[label for label, *_ in ranks], title=None),
            x=alt.X("belief:Q", title=text("probability (%)"), scale=alt.Scale(domain=[0, 100])),
            color=alt.Color(
                "who:N",
                title=None,
                sort=who,
                legend=alt.Legend(labelLimit=320),
                scale=alt.Scale(domain=who, range=[ATTACKER, LEARNER]),
            ),
            shape=alt.Shape(
                "who:N",
                title=None,
                sort=who,
                scale=alt.Scale(domain=who, range=["circle", "diamond"]),
            ),
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
    return chart


def beliefs_table(knowledge: Knowledge, learner: str = "learner") -> Table:
    """Return the numbers of `beliefs`."""
    columns = (
        Column(text("Value, the likeliest first")),
        Column(adversary_label("attacker"), numeric=True),
        Column(adversary_label(learner), numeric=True),
    )
    rows = tuple(
        (Cell(label), *(Cell(whole_percent(belief)) for belief in own))
        for label, *own in ranked_beliefs(knowledge, learner)
    )
    return Table(columns, (Group(rows),))
