"""What a release risks before a rational adversary: in findings, a picture and a table."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from itertools import pairwise

import altair as alt
import numpy as np

from glasshouse.arrays import Floats
from glasshouse.economics import Deterrent, ReleaseExposure
from glasshouse.language import number, text, text_for
from glasshouse.report.cells import count_cell
from glasshouse.report.microdata.findings import graded
from glasshouse.report.page import Cell, Column, Figure, Finding, Group, Section, Severity, Table
from glasshouse.report.theme import TARGETS, wrapped
from glasshouse.report.words import counted, money, percentage, plural, share

BINS = 20
"""The bars of the picture."""


def exposure_findings(
    exposure: ReleaseExposure,
    *,
    subject: str = "person",
    currency: str | None = None,
    losses: bool = False,
) -> tuple[Finding, ...]:
    """Return how many people are expected to be re-identified, what it costs, and what size would be enough."""
    found = [_expected(exposure)]
    if losses:
        found.append(_lost(exposure, currency))
    found.append(_enough(exposure, subject))
    return (*found, *_unsure(exposure, subject))


def amount_of(value: float, currency: str | None) -> str:
    """Say an amount to the nearest hundredth: of money where there is a currency.

    >>> amount_of(1234.5, None), amount_of(1234.5, "€")
    ('1,234.50', '€ 1,234.50')
    """
    return number(value, ",.2f") if currency is None else money(Fraction(value), currency)


def _expected(exposure: ReleaseExposure) -> Finding:
    records = exposure.groups.records
    worst = max(exposure.expected_known, exposure.expected_unknown)
    grade = graded(Fraction(worst / records))
    return Finding(
        Severity.SAFE if worst == 0 else grade,
        _expected_sentence(exposure),
        figure=text(
            "expected re-identifications: sizes known {known}, not known {unknown}, of {records} records",
            known=number(exposure.expected_known, ",.4g"),
            unknown=number(exposure.expected_unknown, ",.4g"),
            records=records,
        ),
        meaning=text(
            "This holds for a rational adversary on the terms given; others may attack anyway."
        )
        if worst == 0
        else text(
            "It is the sum of each record's own chance: for the people in small groups it is far more than for others."
        ),
        remedy=""
        if worst == 0
        else text(
            "Larger groups (glasshouse anonymise), dearer access, or surer detection and higher penalties deter her."
        ),
    )


def _expected_sentence(exposure: ReleaseExposure) -> str:
    records = exposure.groups.records
    worth = int(np.count_nonzero(exposure.known))
    parts = {
        "records": counted(records, "record"),
        "release": exposure.groups.release,
        "share": share(worth, records),
        "known": _rounded(exposure.expected_known),
        "unknown": _rounded(exposure.expected_unknown),
    }
    if exposure.expected_known == exposure.expected_unknown == 0:
        return text(
            "Of {records} in {release}, none is worth attacking to a rational adversary, whether she knows the sizes "
            "of groups or only how frequent people are in the population.",
            **parts,
        )
    if exposure.groups.sizes is None:
        return text(
            "Of {records} in {release}, {known} are expected to be re-identified by an adversary who knows the sizes "
            "of groups, {unknown} by one who only knows how frequent people are in the population.",
            **parts,
        )
    return text_for(
        worth,
        "Of {records} in {release}, {count} ({share}) is worth attacking; {known} are expected to be re-identified by "
        "an adversary who knows the sizes of groups, {unknown} by one who only knows how frequent people are in the "
        "population.",
        "Of {records} in {release}, {count} ({share}) are worth attacking; {known} are expected to be re-identified by "
        "an adversary who knows the sizes of groups, {unknown} by one who only knows how frequent people are in the "
        "population.",
        **parts,
    )


def _rounded(value: float) -> str:
    return number(value, ",.0f") if value >= 100 else number(value, ",.3g")


def _lost(exposure: ReleaseExposure, currency: str | None) -> Finding:
    lost = (exposure.loss_known, exposure.loss_unknown)
    return Finding(
        Severity.SAFE if not any(lost) else Severity.NOTE,
        text(
            "The publisher is expected to lose {known} by an adversary who knows the sizes of groups, {unknown} by one "
            "who only knows how frequent people are in the population.",
            known=amount_of(lost[0], currency),
            unknown=amount_of(lost[1], currency),
        ),
        figure=text(
            "each record's chance of being re-identified times what that costs, summed over {records} records",
            records=exposure.groups.records,
        ),
    )


def _enough(exposure: ReleaseExposure, subject: str) -> Finding:
    least, below = exposure.enough.lasting, exposure.below_enough
    figure = enough_figure(exposure.enough)
    if least is None:
        return Finding(
            Severity.HIGH,
            no_size_is_enough(exposure.enough, subject),
            figure=figure,
            remedy=text(
                "Dearer access, surer detection or higher penalties may deter where the size of groups does not."
            ),
        )
    deterred = size_that_is_enough(exposure.enough, subject)
    if below is None:
        return Finding(Severity.NOTE, deterred, figure=figure)
    if below == 0:
        return Finding(
            Severity.SAFE,
            text(
                "No record of {release} is in too small a group. {enough}",
                release=exposure.groups.release,
                enough=deterred,
            ),
            figure=figure,
            meaning=text(
                "This holds for a rational adversary on the terms given; others may attack anyway."
            ),
        )
    return Finding(
        graded(Fraction(below, exposure.groups.records), certain=True),
        text_for(
            below,
            "{count} record of {release} ({share}) is in too small a group. {enough}",
            "{count} records of {release} ({share}) are in too small a group. {enough}",
            release=exposure.groups.release,
            share=share(below, exposure.groups.records),
            enough=deterred,
        ),
        figure=figure,
        remedy=text("Generalise or leave out quasi-identifiers until every group is large enough."),
    )


def no_size_is_enough(enough: Deterrent, subject: str) -> str:
    """Say that no size of the group is enough."""
    if enough.target:
        return text(
            "On these terms no group of up to a million {many} brings the risk down to {target} or less.",
            many=plural(subject),
            target=percentage(Fraction(enough.target)),
        )
    return text(
        "On these terms no group of up to a million {many} is large enough to deter her.",
        many=plural(subject),
    )


def size_that_is_enough(enough: Deterrent, subject: str) -> str:
    """Say how large a group must be to deter an adversary who knows its size, or to bring the risk down."""
    parts = {
        "people": counted(int(enough.lasting or 0), subject),
        "target": percentage(Fraction(enough.target)),
    }
    if enough.target:
        return text(
            "In groups of {people} alike or more the risk is at most {target} if the adversary knows the sizes.",
            **parts,
        )
    return text(
        "Groups of {people} alike or more deter an adversary who knows the sizes.",
        **parts,
    )


def enough_figure(enough: Deterrent) -> str:
    """Return the exact sizes behind a sentence about what is large enough."""

    def said(size: float | None) -> str:
        return text("none up to a million") if size is None else number(size, ",.0f")

    return text(
        "enough at size {least}; at every size from {lasting} on",
        least=said(enough.least),
        lasting=said(enough.lasting),
    )


def _unsure(exposure: ReleaseExposure, subject: str) -> Iterator[Finding]:
    """Yield how large groups may be attacked by somebody who finds out their sizes only after she paid."""
    unsure = exposure.thresholds.no_exploit_after_access
    if unsure is None or unsure < 2 or exposure.enough.target:
        return
    yield Finding(
        Severity.NOTE,
        text(
            "An adversary who does not know the sizes of groups may pay for access and go on, up to groups of {people} "
            "alike.",
            people=counted(unsure - 1, subject),
        ),
        figure=text("tries nobody although access is paid from size {size} on", size=unsure),
    )


def exposure_figure(exposure: ReleaseExposure) -> Figure:
    """Return how the risk is distributed over the records."""
    return Figure.of(
        exposure_chart(exposure),
        label=text("How many records have which risk"),
        caption=text("Those without risk, or with hardly any, are in the leftmost bar."),
        table=_chart_table(exposure),
    )


def _adversaries(exposure: ReleaseExposure) -> dict[str, Floats]:
    """Return the risks under each adversary, by what she knows."""
    return {
        text("she knows the sizes of groups"): exposure.known,
        text("she only knows how frequent people are in the population"): exposure.unknown,
    }


def _edges(exposure: ReleaseExposure) -> Floats:
    highest = max(float(risk.max(initial=0)) for risk in (exposure.known, exposure.unknown))
    return np.linspace(0, max(highest, 1e-9), BINS + 1)


def exposure_chart(exposure: ReleaseExposure) -> alt.TopLevelMixin:
    """Show how many records have which risk, under both adversaries."""
    edges, adversaries = _edges(exposure), _adversaries(exposure)
    rows = []
    for who, risk in adversaries.items():
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
            x=alt.X("low:Q", title=text("risk of re-identification (%)")),
            x2="high:Q",
            y=alt.Y("records:Q", title=text("number of records"), scale=alt.Scale(type="symlog")),
            y2="none:Q",
            color=alt.Color(
                "who:N",
                legend=None,
                scale=alt.Scale(domain=list(adversaries), range=colours),
            ),
        )
        .properties(width=300, height=220)
    )
    title = text(
        "{known} of {records} are expected to be re-identified if she knows the sizes, {unknown} if not",
        known=_rounded(exposure.expected_known),
        records=exposure.groups.records,
        unknown=_rounded(exposure.expected_unknown),
    )
    chart: alt.TopLevelMixin = bars.facet(
        column=alt.Column("who:N", title=None, sort=list(adversaries))
    ).properties(
        title=alt.Title(
            wrapped(title),
            subtitle=wrapped(text("records by risk; the vertical axis is logarithmic")),
        )
    )
    return chart


def _chart_table(exposure: ReleaseExposure) -> Table:
    edges, adversaries = _edges(exposure), _adversaries(exposure)
    counts = [np.histogram(risk, edges)[0] for risk in adversaries.values()]
    columns = (
        Column(text("Risk of re-identification")),
        *(Column(who, numeric=True) for who in adversaries),
    )
    rows = tuple(
        (
            Cell(
                text(
                    "{low} to {high} %",
                    low=number(100 * low, ".3g"),
                    high=number(100 * high, ".3g"),
                )
            ),
            *(count_cell(int(own[place])) for own in counts),
        )
        for place, (low, high) in enumerate(pairwise(edges))
        if any(own[place] for own in counts)
    )
    return Table(columns, (Group(rows),))


def exposure_section(
    exposure: ReleaseExposure, currency: str | None, *, losses: bool = False
) -> Section:
    """Return the exact figures of a release."""
    rows = [
        (text("records"), number(exposure.groups.records)),
        (text("people in the register"), number(exposure.groups.people)),
        (
            text("records worth attacking, sizes known"),
            number(int(np.count_nonzero(exposure.known))),
        ),
        (
            text("records worth attacking, sizes not known"),
            number(int(np.count_nonzero(exposure.unknown))),
        ),
        (
            text("expected re-identifications, sizes known"),
            number(exposure.expected_known, ",.4g"),
        ),
        (
            text("expected re-identifications, sizes not known"),
            number(exposure.expected_unknown, ",.4g"),
        ),
        (
            text("records whose risk is higher if she does not know"),
            number(len(exposure.higher)),
        ),
        (text("records whose risk is lower if she does not know"), number(len(exposure.lower))),
    ]
    if losses:
        rows += [
            (text("expected loss, sizes known"), amount_of(exposure.loss_known, currency)),
            (text("expected loss, sizes not known"), amount_of(exposure.loss_unknown, currency)),
        ]
    cells = tuple((Cell(name), Cell(value)) for name, value in rows)
    return Section(
        text("What the release risks"),
        tables=(
            Table((Column(text("Figure")), Column(text("Value"), numeric=True)), (Group(cells),)),
        ),
    )
