"""The pictures: one theme, colour-blind safe, readable in print, drawn without a browser."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from statistics import median

import altair as alt

from glasshouse.language import number, text
from glasshouse.microdata import Assessment, Attack
from glasshouse.report.assess.attacks import (
    attack_label,
    growth,
    last_window,
    stage_labels,
    widest,
)
from glasshouse.report.cells import percent_cell
from glasshouse.report.page import Cell, Column, Group, Table
from glasshouse.report.theme import JOINT, NEUTRAL, TARGETS, wrapped
from glasshouse.report.words import enumeration, frequencies, short_names, together

BEFORE, AFTER, CERTAIN = NEUTRAL, TARGETS[0][0], TARGETS[1][0]
"""The colours of a guess before and after, and of certainty."""


def _looks() -> dict[str, tuple[str, str]]:
    """Return, per way to succeed, what it is called and its colour and shape."""
    return {
        text("a guess, before"): (BEFORE, "circle"),
        text("a guess, after"): (AFTER, "circle"),
        text("for certain, after"): (CERTAIN, "diamond"),
    }


def before_and_after(assessment: Assessment) -> alt.TopLevelMixin:
    """Show, per attack with the largest set of quasi-identifiers, success before and after.

    One row per attack on an axis from 0 to 100 %: the chance of a right guess before and after, joined by a line
    that is the leakage, and the share of records known for certain.
    """
    attacks = widest(assessment.attacks)
    looks = _looks()
    rows = [
        {
            "attack": attack_label(attack),
            "what": what,
            "success": 100 * float(success),
        }
        for attack in attacks
        for what, success in zip(looks, _successes(attack), strict=True)
    ]
    spans = [
        {
            "attack": attack_label(attack),
            "before": 100 * float(attack.probabilistic.prior),
            "after": 100 * float(attack.probabilistic.posterior),
        }
        for attack in attacks
    ]
    order = [attack_label(attack) for attack in attacks]
    row = alt.Y("attack:N", sort=order, title=None, axis=alt.Axis(labelPadding=12))
    line = (
        alt.Chart(alt.InlineData(values=spans))
        .mark_rule(strokeWidth=3, color=JOINT)
        .encode(x=alt.X("before:Q", scale=alt.Scale(domain=[0, 100])), x2="after:Q", y=row)
    )
    points = (
        alt.Chart(alt.InlineData(values=rows))
        .mark_point(filled=True, size=140, opacity=1)
        .encode(
            x=alt.X(
                "success:Q",
                title=text("probability that the adversary succeeds (%)"),
                scale=alt.Scale(domain=[0, 100]),
            ),
            y=row,
            color=alt.Color(
                "what:N",
                title=None,
                sort=list(looks),
                scale=alt.Scale(domain=list(looks), range=[colour for colour, _ in looks.values()]),
            ),
            shape=alt.Shape(
                "what:N",
                title=None,
                sort=list(looks),
                scale=alt.Scale(domain=list(looks), range=[shape for _, shape in looks.values()]),
            ),
        )
    )
    success = attacks[0].probabilistic
    before, after = frequencies(success.prior, success.posterior)
    finding = text(
        "One guess at who it is: right for {before} before, {after} after",
        before=before,
        after=after,
    )
    return alt.layer(line, points).properties(
        width=680,
        height=alt.Step(44),
        title=alt.Title(finding, subtitle=wrapped(_known(attacks[0]))),
    )


def _successes(attack: Attack) -> tuple[Fraction, Fraction, Fraction]:
    return (
        attack.probabilistic.prior,
        attack.probabilistic.posterior,
        attack.deterministic.posterior,
    )


def before_and_after_table(assessment: Assessment) -> Table:
    """Return the numbers of `before_and_after`."""
    columns = (Column(text("Attack")), *(Column(what, numeric=True) for what in _looks()))
    rows = tuple(
        (Cell(attack_label(attack)), *map(percent_cell, _successes(attack)))
        for attack in widest(assessment.attacks)
    )
    return Table(columns, (Group(rows),))


def every_subset(assessment: Assessment) -> alt.TopLevelMixin:
    """Show one dot per set of quasi-identifiers: how many there are in it against the success of a guess.

    A panel per target, with the prior as a line; of a growing collection, with all datasets. Dots that would cover
    one another are drawn once.
    """
    dots = sorted(
        {
            (
                attack_label(attack),
                len(attack.quasi_identifiers),
                round(100 * float(attack.probabilistic.posterior), 1),
            )
            for attack in last_window(assessment.attacks)
        }
    )
    order = [attack_label(attack) for attack in widest(assessment.attacks)]
    rows = [
        {"attack": attack, "size": size, "success": success, "prior": priors[attack]}
        for priors in [_priors(assessment)]
        for attack, size, success in dots
    ]
    base = alt.Chart(alt.InlineData(values=rows))
    points = base.mark_circle(size=26, opacity=0.55, color=AFTER, aria=False).encode(
        x=alt.X(
            "size:O", title=text("quasi-identifiers that she knows"), axis=alt.Axis(labelAngle=0)
        ),
        y=alt.Y(
            "success:Q",
            title=text("probability that one guess is right (%)"),
            scale=alt.Scale(domain=[0, 100]),
        ),
    )
    line = base.mark_rule(strokeDash=[5, 4], strokeWidth=2, color=BEFORE).encode(y="min(prior):Q")
    return (
        alt.layer(points, line)
        .properties(width=720 // min(len(order), 3) - 20, height=280)
        .facet(
            facet=alt.Facet(
                "attack:N", sort=order, title=None, header=alt.Header(labelFontSize=13)
            ),
            columns=3,
        )
        .properties(
            title=alt.Title(
                wrapped(_best_known(assessment)),
                subtitle=wrapped(
                    text("one dot per set of attributes; the dashed line is a guess without them")
                ),
            )
        )
    )


def _best_known(assessment: Assessment) -> str:
    """Say how success grows from the best single attribute to all of them."""
    naming = [attack for attack in last_window(assessment.attacks) if not attack.secret]
    sizes = sorted({len(attack.quasi_identifiers) for attack in naming})
    few, all_of_them = (
        max(
            attack.probabilistic.posterior
            for attack in naming
            if len(attack.quasi_identifiers) == size
        )
        for size in (sizes[0], sizes[-1])
    )
    before, after = frequencies(few, all_of_them)
    return text(
        "With {few} known, one guess names at best {before}; with {many}, {after}",
        few=sizes[0],
        before=before,
        many=sizes[-1],
        after=after,
    )


def every_subset_table(assessment: Assessment) -> Table:
    """Return the numbers of `every_subset`: per target and size, the least, the median and the greatest success."""
    columns = (
        Column(text("Quasi-identifiers known")),
        *(
            Column(title, numeric=True)
            for title in (text("Sets"), text("Lowest"), text("Median"), text("Highest"))
        ),
    )
    successes: dict[str, dict[int, list[Fraction]]] = {}
    for attack in last_window(assessment.attacks):
        sizes = successes.setdefault(attack_label(attack), {})
        sizes.setdefault(len(attack.quasi_identifiers), []).append(attack.probabilistic.posterior)
    return Table(
        columns,
        tuple(
            Group(
                tuple(
                    (
                        Cell(number(size)),
                        Cell(number(len(own))),
                        *map(percent_cell, (min(own), median(own), max(own))),
                    )
                    for size, own in sorted(sizes.items())
                ),
                title=label,
            )
            for label, sizes in successes.items()
        ),
    )


def growing(assessment: Assessment) -> alt.TopLevelMixin:
    """Show how success grows as datasets are added to a collection, with the largest set of quasi-identifiers.

    One colour per target: a solid line for the chance of a right guess, a dashed one for the share of records known
    for certain.
    """
    stages = growth(assessment.attacks)
    labels = stage_labels(stages)
    order = [attack_label(attack) for attack in stages[-1]]
    _, after, certain = _looks()
    looks = [TARGETS[i % len(TARGETS)] for i in range(len(order))]
    width = 680
    base = alt.Chart(alt.InlineData(values=_grown_rows(stages, labels))).encode(
        x=alt.X(
            "datasets:O",
            sort=labels,
            title=text("datasets so far"),
            axis=_slanted_where_tight(labels, width),
        ),
        y=alt.Y(
            "success:Q",
            title=text("probability that the adversary succeeds (%)"),
            scale=alt.Scale(domain=[0, 100]),
        ),
        color=alt.Color(
            "target:N",
            title=None,
            scale=alt.Scale(domain=order, range=[colour for colour, _ in looks]),
            legend=alt.Legend(columns=3),
        ),
    )
    lines = base.mark_line(strokeWidth=2.5).encode(
        strokeDash=alt.StrokeDash(
            "what:N",
            title=None,
            scale=alt.Scale(domain=[after, certain], range=[[1, 0], [5, 4]]),
            legend=alt.Legend(symbolType="stroke", symbolStrokeColor="#333", columns=1),
        )
    )
    points = (
        base.mark_point(filled=True, size=90, opacity=1)
        .encode(
            shape=alt.Shape(
                "target:N",
                title=None,
                scale=alt.Scale(domain=order, range=[shape for _, shape in looks]),
                legend=alt.Legend(columns=3),
            ),
        )
        .transform_filter(alt.datum.what == after)
    )
    return alt.layer(lines, points).properties(
        width=width,
        height=320,
        title=alt.Title(wrapped(_grown(stages)), subtitle=wrapped(_known(stages[-1][0]))),
    )


def growing_table(assessment: Assessment) -> Table:
    """Return the numbers of `growing`."""
    stages = growth(assessment.attacks)
    _, after, certain = _looks()
    columns = (
        Column(text("Datasets so far")),
        *(Column(what, numeric=True) for what in (after, certain)),
    )
    labels = stage_labels(stages)
    groups: dict[str, list[tuple[Cell, ...]]] = {}
    for label, stage in zip(labels, stages, strict=True):
        for attack in stage:
            row = (Cell(label), *map(percent_cell, _successes(attack)[1:]))
            groups.setdefault(attack_label(attack), []).append(row)
    return Table(columns, tuple(Group(tuple(rows), title=title) for title, rows in groups.items()))


def _grown_rows(
    stages: Sequence[Sequence[Attack]], labels: Sequence[str]
) -> list[dict[str, str | float]]:
    _, after, certain = _looks()
    return [
        {
            "datasets": label,
            "target": attack_label(attack),
            "what": what,
            "success": 100 * float(success),
        }
        for label, stage in zip(labels, stages, strict=True)
        for attack in stage
        for what, success in (
            (after, attack.probabilistic.posterior),
            (certain, attack.deterministic.posterior),
        )
    ]


def _slanted_where_tight(labels: list[str], width: int) -> alt.Axis:
    """Return an axis whose labels lie flat where they fit beside one another, and slant where they do not."""
    room = width // len(labels)
    if 8 * max(map(len, labels)) < room:
        return alt.Axis(labelAngle=0, labelLimit=room)
    return alt.Axis(labelAngle=-35, labelLimit=170)


def _grown(stages: list[list[Attack]]) -> str:
    """Say what the first dataset gives her, and what all of them do."""
    first, last = (stage[0].probabilistic.posterior for stage in (stages[0], stages[-1]))
    datasets = len(stages[-1][0].datasets)
    alone, every = frequencies(first, last)
    parts = {"first": alone, "last": every, "datasets": number(datasets)}
    if datasets == 2:
        return text(
            "One guess at who it is: right for {first} with the first dataset, {last} with both",
            **parts,
        )
    return text(
        "One guess at who it is: right for {first} with the first dataset, {last} with all {datasets}",
        **parts,
    )


def _known(attack: Attack) -> str:
    known = enumeration(attack.quasi_identifiers)
    if len(attack.datasets) == 1:
        return text("she knows {known}", known=known)
    return text(
        "she knows {known}, with {datasets}",
        known=known,
        datasets=together(short_names(attack.datasets)),
    )


def _priors(assessment: Assessment) -> dict[str, float]:
    return {
        attack_label(attack): 100 * float(attack.probabilistic.prior)
        for attack in widest(assessment.attacks)
    }
