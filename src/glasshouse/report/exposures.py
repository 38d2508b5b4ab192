"""What a release risks before a rational adversary: in sentences, a picture and a table."""

from __future__ import annotations

from fractions import Fraction

import altair as alt
import numpy as np

from glasshouse.economics import Exposure
from glasshouse.report.page import Cell, Column, Figure, Group, Section, Table
from glasshouse.report.theme import TARGETS
from glasshouse.report.words import counted, money, share

BINS = 20
"""The bars of the picture."""
KNOWS, GUESSES = "she knows the sizes of groups", "she only knows how frequent people are"


def exposure_sentences(
    exposure: Exposure,
    *,
    subject: str = "person",
    currency: str | None = None,
    losses: bool = False,
) -> tuple[str, ...]:
    """Return how many people are expected to be re-identified, what it costs, and what size would be enough."""
    records = exposure.groups.records
    at_risk = int(np.count_nonzero(exposure.known))
    verb = "is" if at_risk == 1 else "are"
    worth = (
        ""
        if exposure.groups.sizes is None
        else f"{at_risk:,} ({share(at_risk, records)}) {verb} worth attacking; "
    )
    sentences = [
        f"Of {counted(records, 'record')} in {exposure.groups.release}, {worth}"
        f"{_expected(exposure.expected_known)} are expected to be re-identified by an adversary who knows the sizes of "
        f"groups, {_expected(exposure.expected_unknown)} by one who only knows how frequent people are."
    ]
    if losses:
        sentences.append(
            f"The publisher is expected to lose {_amount(exposure.loss_known, currency)} by the first, "
            f"{_amount(exposure.loss_unknown, currency)} by the second."
        )
    sentences.append(_enough(exposure, subject))
    return tuple(sentences)


def _amount(value: float, currency: str | None) -> str:
    return f"{value:,.2f}" if currency is None else money(Fraction(value), currency)


def _expected(number: float) -> str:
    return f"{number:,.0f}" if number >= 100 else f"{number:,.3g}"


def _enough(exposure: Exposure, subject: str) -> str:
    least, below = exposure.enough.lasting, exposure.below_enough
    if least is None:
        return "On these terms no group of up to a million would be large enough to deter her."
    unsure = exposure.thresholds.no_exploit_after_access
    both = (
        ""
        if unsure is None or exposure.enough.target
        else f"; whoever does not know the sizes may pay for access and go on, up to groups of {unsure - 1:,}"
    )
    groups = (
        f"Groups of {counted(int(least), subject)} alike deter an adversary who knows the sizes"
    )
    if below is None:
        return f"{groups}{both}."
    if below == 0:
        return f"{groups}, and no record is in a smaller one{both}."
    return (
        f"{groups}; {counted(below, 'record')} ({share(below, exposure.groups.records)}) "
        f"{'is' if below == 1 else 'are'} in a smaller one{both}."
    )


def exposure_figure(exposure: Exposure) -> Figure:
    """Return how the risk is distributed over the records."""
    return Figure.of(
        exposure_chart(exposure),
        label="How many records have which risk; the same figures are in a table below",
        caption="Those without risk, or with hardly any, are in the leftmost bar.",
    )


def exposure_chart(exposure: Exposure) -> alt.TopLevelMixin:
    """Show how many records have which risk, under both adversaries."""
    highest = max(
        float(exposure.known.max(initial=0)), float(exposure.unknown.max(initial=0)), 1e-9
    )
    edges = np.linspace(0, highest, BINS + 1)
    rows = []
    for who, risk in ((KNOWS, exposure.known), (GUESSES, exposure.unknown)):
        counts, _ = np.histogram(risk, edges)
        rows += [
            {"low": 100 * low, "high": 100 * high, "records": int(count), "none": 0, "who": who}
            for low, high, count in zip(edges[:-1], edges[1:], counts, strict=True)
            if count
        ]
    colours = [colour for colour, _ in TARGETS[:2]]
    bars = (
        alt.Chart(alt.InlineData(values=rows))
        .mark_bar(opacity=1, stroke="white")
        .encode(
            x=alt.X("low:Q", title="risk of re-identification (%)"),
            x2="high:Q",
            y=alt.Y("records:Q", title="records", scale=alt.Scale(type="symlog")),
            y2="none:Q",
            color=alt.Color(
                "who:N",
                legend=None,
                scale=alt.Scale(domain=[KNOWS, GUESSES], range=colours),
            ),
        )
        .properties(width=300, height=220)
    )
    chart: alt.TopLevelMixin = bars.facet(
        column=alt.Column("who:N", title=None, sort=[KNOWS, GUESSES])
    ).properties(
        title=alt.Title(
            f"{_expected(exposure.expected_known)} of {exposure.groups.records:,} are expected to be re-identified if "
            f"she knows the sizes, {_expected(exposure.expected_unknown)} if not",
            subtitle="records by risk; the vertical axis is logarithmic",
        )
    )
    return chart


def exposure_section(exposure: Exposure, currency: str | None, *, losses: bool = False) -> Section:
    """Return the exact figures of a release."""
    rows = [
        ("records", f"{exposure.groups.records:,}"),
        ("people in the register", f"{exposure.groups.people:,}"),
        ("records worth attacking, sizes known", f"{int(np.count_nonzero(exposure.known)):,}"),
        (
            "records worth attacking, sizes not known",
            f"{int(np.count_nonzero(exposure.unknown)):,}",
        ),
        ("expected re-identifications, sizes known", f"{exposure.expected_known:,.4f}"),
        ("expected re-identifications, sizes not known", f"{exposure.expected_unknown:,.4f}"),
        ("records whose risk is higher if she does not know", f"{len(exposure.higher):,}"),
        ("records whose risk is lower if she does not know", f"{len(exposure.lower):,}"),
    ]
    if losses:
        rows += [
            ("expected loss, sizes known", _amount(exposure.loss_known, currency)),
            ("expected loss, sizes not known", _amount(exposure.loss_unknown, currency)),
        ]
    cells = tuple((Cell(name), Cell(value)) for name, value in rows)
    notes = () if exposure.enough.warning is None else (f"Mind: {exposure.enough.warning}.",)
    return Section(
        "What the release risks",
        tables=(Table((Column("Figure"), Column("", numeric=True)), (Group(cells),)),),
        notes=notes,
    )
