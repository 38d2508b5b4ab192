"""Pictures of single records in aggregate: how many look alike, and how surely each is guessed."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from itertools import pairwise

import altair as alt

from glasshouse.language import number, text
from glasshouse.microdata import Attack
from glasshouse.microdata.assessment import SIZE_BINS, SUCCESS_BINS
from glasshouse.report.cells import count_cell
from glasshouse.report.grading import SMALL_CLASS
from glasshouse.report.microdata.attacks import attack_label
from glasshouse.report.microdata.knowing import classes_are_counted, knowledge_counted
from glasshouse.report.page import Cell, Column, Figure, Group, Table
from glasshouse.report.theme import TARGETS, wrapped
from glasshouse.report.words import enumeration, share

EXPOSED, OTHERS = TARGETS[0][0], TARGETS[1][0]
"""The colours of the records that are at risk, and of all others."""
MOST_PANELS = 3
"""So many targets are drawn; the table has all of them."""


def class_size_labels() -> tuple[str, ...]:
    """Return what the bins of class sizes are called."""
    ranges = [
        number(least) if last == least else f"{number(least)}–{number(last)}"
        for least, last in ((least, following - 1) for least, following in pairwise(SIZE_BINS))
    ]
    return (*ranges, text("{size} or more", size=SIZE_BINS[-1]))


def class_sizes_table(attack: Attack) -> Table:
    """Return how many classes and records there are by class size."""
    sizes = attack.class_sizes
    rows = tuple(
        (Cell(label), count_cell(classes), count_cell(records))
        for label, classes, records in zip(
            class_size_labels(), sizes.classes, sizes.records, strict=True
        )
    )
    columns = (
        Column(text("Records alike")),
        Column(text("Classes"), numeric=True),
        Column(text("Records in them"), numeric=True),
    )
    return Table(columns, (Group(rows),))


def class_sizes_figure(attack: Attack) -> Figure | None:
    """Return the histogram of records by how many look alike; nothing where classes were not counted."""
    sizes = attack.class_sizes
    if not any(sizes.classes):
        return None
    labels = class_size_labels()
    small, large = (
        text("in classes of fewer than {size}", size=SMALL_CLASS),
        text("in larger classes"),
    )
    rows = [
        {"size": label, "records": records, "what": small if least < SMALL_CLASS else large}
        for label, least, records in zip(labels, SIZE_BINS, sizes.records, strict=True)
    ]
    chart = (
        alt.Chart(alt.InlineData(values=rows))
        .mark_bar()
        .encode(
            x=alt.X(
                "size:O",
                sort=list(labels),
                title=text("records that look alike (size of the class)"),
                axis=alt.Axis(labelAngle=0, labelFontSize=12),
            ),
            y=alt.Y("records:Q", title=text("number of records")),
            color=alt.Color(
                "what:N",
                title=None,
                scale=alt.Scale(domain=[small, large], range=[EXPOSED, OTHERS]),
            ),
        )
        .properties(
            width=680,
            height=260,
            title=alt.Title(
                wrapped(_exposed_finding(attack)),
                subtitle=wrapped(
                    text(
                        "alike on {known}",
                        known=knowledge_counted(attack),
                    )
                ),
            ),
        )
    )
    return Figure.of(
        chart,
        label=text("Records by the number of those that look like them"),
        caption=text(
            "A class is all records that are alike on the quasi-identifiers. Who is alone can be named for certain."
        ),
        table=class_sizes_table(attack),
    )


def _exposed_finding(attack: Attack) -> str:
    exposed = attack.class_sizes.records_below(SMALL_CLASS)
    return text(
        "{exposed} of {records} records ({share}) are alike with fewer than {few} others",
        exposed=exposed,
        records=attack.records,
        share=share(exposed, attack.records),
        few=SMALL_CLASS - 1,
    )


def success_figure(attacks: Sequence[Attack]) -> Figure | None:
    """Return how many records are guessed right with which probability: a panel per target.

    Of naming it follows from the class sizes, unless records differ in weight or are linked by uncertain keys; then
    that panel is left out.
    """
    known = [(attack, bins) for attack in attacks if (bins := _success(attack))]
    if not known:
        return None
    shown = known[:MOST_PANELS]
    panels = [_panel(attack, bins) for attack, bins in shown]
    chart = alt.hconcat(*panels, spacing=24).properties(
        title=alt.Title(
            wrapped(_certain_finding(shown[0][0])),
            subtitle=wrapped(
                text("records by the probability that one guess about them is right, per target")
            ),
        )
    )
    return Figure.of(
        chart,
        label=text("Records by the probability that a guess about them is right"),
        caption=text(
            "The success of an attack is an average over people. Here it is taken apart: some are guessed at random, "
            "others for certain."
        ),
        table=_success_table(known),
    )


def _certain_finding(attack: Attack) -> str:
    if attack.secret:
        return text(
            "The {secret} of {certain} of {records} people is known for certain",
            secret=enumeration(attack.secret),
            certain=attack.certain,
            records=attack.records,
        )
    return text(
        "{certain} of {records} people can be named for certain",
        certain=attack.certain,
        records=attack.records,
    )


Bins = list[tuple[str, int]]


def _success(attack: Attack) -> Bins:
    """Return how many records there are by the probability of a right guess, the surest first."""
    if attack.secret:
        return list(zip(_tenths(), reversed(attack.success), strict=True)) if attack.success else []
    guessed = Fraction(attack.classes, attack.records)
    if not classes_are_counted(attack) or attack.probabilistic.posterior != guessed:
        return []
    return list(zip(_chances(), attack.class_sizes.records, strict=True))


def _tenths() -> list[str]:
    """Return the tenths of a probability, and certainty, from the highest to the lowest."""
    below = [
        text("{low} to under {high} %", low=10 * tenth, high=10 * tenth + 10)
        for tenth in reversed(range(SUCCESS_BINS - 1))
    ]
    return [text("for certain"), *below]


def _chances() -> list[str]:
    """Return the probability that a record is guessed, per bin of class sizes: one over the size."""
    said = [text("for certain")]
    for least, following in pairwise(SIZE_BINS[1:]):
        high, low = _per_cent(least), _per_cent(following - 1)
        said.append(
            text("{figure} %", figure=high)
            if high == low
            else text("{low} to {high} %", low=low, high=high)
        )
    return [*said, text("{figure} % or less", figure=_per_cent(SIZE_BINS[-1]))]


def _per_cent(size: int) -> str:
    return number(100 / size, ".2g")


def _panel(attack: Attack, bins: Bins) -> alt.Chart:
    rows = [
        {"chance": label, "records": records, "certain": place == 0}
        for place, (label, records) in enumerate(bins)
    ]
    panel: alt.Chart = (
        alt.Chart(alt.InlineData(values=rows))
        .mark_bar()
        .encode(
            x=alt.X("records:Q", title=text("number of records"), axis=alt.Axis(tickCount=4)),
            y=alt.Y("chance:N", sort=[label for label, _ in bins], title=None),
            color=alt.condition("datum.certain", alt.value(EXPOSED), alt.value(OTHERS)),
        )
        .properties(
            width=130, height=alt.Step(18), title=alt.Title(attack_label(attack), fontSize=13)
        )
    )
    return panel


def _success_table(known: Sequence[tuple[Attack, Bins]]) -> Table:
    columns = (
        Column(text("Probability of a right guess")),
        Column(text("Number of records"), numeric=True),
    )
    groups = tuple(
        Group(
            tuple((Cell(label), count_cell(records)) for label, records in bins),
            title=attack_label(attack),
        )
        for attack, bins in known
    )
    return Table(columns, groups)
