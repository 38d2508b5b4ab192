"""What an anonymised table tells beyond the population, in pictures."""

from __future__ import annotations

import altair as alt
import numpy as np

from glasshouse.groups import Knowledge, Measures
from glasshouse.report.theme import TARGETS
from glasshouse.report.words import percentage

ADVERSARIES = {
    "attacker": "knows who is in the table",
    "learner": "learns about the population",
    "learner_mean": "learns about the population, reading (6)",
    "random_worlds": "takes every table for equally likely",
    "ideal": "would know the original",
}
"""What each adversary is, in plain words."""
BARS = 20
MOST_VALUES = 12
"""So many sensitive values are drawn by themselves."""


def guesses(measures: Measures) -> alt.TopLevelMixin:
    """Show for how many records each adversary's best guess is right, beside the most frequent value."""
    told = {
        "most frequent value": float(measures.baseline),
        **{
            ADVERSARIES[name]: threat.share_at_random
            for name, threat in measures.adversaries().items()
        },
    }
    rows = [{"who": who, "share": 100 * value} for who, value in told.items()]
    base = alt.Chart(alt.InlineData(values=rows)).encode(
        y=alt.Y("who:N", sort=list(told), title=None, axis=alt.Axis(labelLimit=320)),
        x=alt.X("share:Q", title="records guessed right (%)", scale=alt.Scale(domain=[0, 100])),
    )
    bars = base.mark_bar(color=TARGETS[1][0], height=18)
    labels = base.mark_text(align="left", dx=5).encode(text=alt.Text("share:Q", format=".1f"))
    attacker = measures.attacker.share_at_random
    return alt.layer(bars, labels).properties(
        width=460,
        height=alt.Step(32),
        title=alt.Title(
            f"Who knows that a person is in the table guesses {_percent(attacker)} right; "
            f"about the population, {_percent(measures.learner.share_at_random)}",
            subtitle="ties are broken at random",
        ),
    )


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
        .mark_bar(color=TARGETS[0][0], stroke="white")
        .encode(
            x=alt.X("low:Q", title="how many times surer than about the population, log₂"),
            x2="high:Q",
            y=alt.Y("records:Q", title="threatened records"),
            y2="none:Q",
        )
    )
    zero = alt.Chart(alt.InlineData(values=[{"x": 0}])).mark_rule(strokeDash=[4, 3]).encode(x="x:Q")
    above = percentage(measures.share_above(measures.exceeds, threatened=False))
    skewness = (
        ""
        if np.isnan(histogram.skewness)
        else f"; skewness {histogram.skewness:.2f}{_error(measures)}"
    )
    return alt.layer(bars, zero).properties(
        width=620,
        height=240,
        title=alt.Title(
            f"Of the truth about {above} of the records she is more than {measures.exceeds:g} times as sure",
            subtitle=f"right of the line: more is told about the person than about people like them{skewness}",
        ),
    )


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
    squares = (
        alt.Chart(alt.InlineData(values=rows))
        .mark_rect()
        .encode(
            x=alt.X("x:Q", title="about the population, p_L (%)", scale=alt.Scale(domain=[0, 100])),
            x2="x2:Q",
            y=alt.Y("y:Q", title="about the person, p_A (%)", scale=alt.Scale(domain=[0, 100])),
            y2="y2:Q",
            color=alt.Color(
                "records:Q", title="records", scale=alt.Scale(scheme="viridis", type="log")
            ),
        )
    )
    ends = [{"x": 0, "y": 0}, {"x": 100, "y": 100}]
    line = (
        alt.Chart(alt.InlineData(values=ends))
        .mark_line(strokeDash=[4, 3], color="#555")
        .encode(x="x:Q", y="y:Q")
    )
    return alt.layer(squares, line).properties(
        width=380,
        height=380,
        title=alt.Title(
            "How sure she is of the true value of each threatened record",
            subtitle="above the line: surer than about people like them",
        ),
    )


def beliefs(knowledge: Knowledge, learner: str = "learner") -> alt.TopLevelMixin:
    """Show what each adversary believes about one victim."""
    told = {name: own for name, own in knowledge.of(0).items() if name in ("attacker", learner)}
    order = sorted(told["attacker"], key=lambda value: -told["attacker"][value])[:MOST_VALUES]
    rows = [
        {"value": value, "who": ADVERSARIES[name], "belief": 100 * own[value]}
        for name, own in told.items()
        for value in order
    ]
    who = [ADVERSARIES[name] for name in told]
    chart: alt.Chart = (
        alt.Chart(alt.InlineData(values=rows))
        .mark_point(filled=True, size=130, opacity=1)
        .encode(
            y=alt.Y("value:N", sort=order, title=None),
            x=alt.X("belief:Q", title="belief (%)", scale=alt.Scale(domain=[0, 100])),
            color=alt.Color(
                "who:N",
                title=None,
                legend=alt.Legend(labelLimit=320),
                scale=alt.Scale(domain=who, range=[TARGETS[0][0], "#7f7f7f"]),
            ),
            shape=alt.Shape(
                "who:N", title=None, scale=alt.Scale(domain=who, range=["circle", "diamond"])
            ),
        )
        .properties(
            width=460,
            height=alt.Step(28),
            title=alt.Title("What she believes of the victim", subtitle="by sensitive value"),
        )
    )
    return chart


def _error(measures: Measures) -> str:
    """Return the Monte-Carlo error of the skewness, where it was sampled."""
    own = measures.figures.get("log2_ti_attacker_skewness")
    return "" if own is None or np.isnan(own.error) else f" ± {own.error:.2g}"


def _percent(share: float) -> str:
    return f"{100 * share:.1f} %"
