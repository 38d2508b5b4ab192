"""Sets of attributes as pictures: which of them meet the rule, and what each two of them tell together."""

from __future__ import annotations

from fractions import Fraction

from glasshouse.language import percentage, text, text_for
from glasshouse.measures.attacks import last_window
from glasshouse.microdata import Assessment
from glasshouse.report import vega
from glasshouse.report.cells import cell_table, percent_cell
from glasshouse.report.charts import NEUTRAL, TARGETS, figure_of, plot, titled
from glasshouse.report.page import Cell, Figure
from glasshouse.report.words import enumeration, percentages

MOST_PAIRED = 16
"""Of more attributes than this, pairs are not drawn."""
DARKEST = Fraction(1, 5)
"""From this share of right guesses on, a pair is drawn as dark as can be."""
KNOWN, LEFT_OUT = TARGETS[1][0], NEUTRAL
"""The colours of an attribute that stays, and of one that is left out."""


def publishable_figure(assessment: Assessment) -> Figure | None:
    """Show the largest sets of attributes that meet the rule, one row each: a dot for every attribute that stays.

    There is no such picture where the rule is met as it is, or by none of them.
    """
    sets = [entry for entry in assessment.advice if entry.meets and entry.kind != "generalise"]
    if not sets:
        return None
    order = [*sets[0].quasi_identifiers, *sets[0].left_out]
    attributes = [enumeration([name]) for name in order]
    rows = [
        {
            "set": place,
            "attribute": enumeration([name]),
            "stays": name in entry.quasi_identifiers,
            "risk": percentage(entry.after),
        }
        for place, entry in enumerate(sets, 1)
        for name in order
    ]
    base = plot(rows).encode(
        y=vega.Y("set:O", title=text("set"), axis=vega.Axis(grid=False)),
    )
    dots = base.mark_circle(size=160).encode(
        x=vega.X(
            "attribute:N", sort=attributes, title=None, axis=vega.Axis(orient="top", labelAngle=-30)
        ),
        color=vega.Color(
            "stays:N",
            title=None,
            scale=vega.Scale(domain=[True, False], range=[KNOWN, LEFT_OUT]),
            legend=None,
        ),
        opacity=vega.condition("datum.stays", vega.value(1), vega.value(0.25)),
    )
    risks = base.transform_filter(vega.equal(attribute=attributes[-1])).mark_text(
        align="left", dx=14, fontSize=12
    )
    labels = risks.encode(
        x=vega.X("attribute:N", sort=attributes, title=None), text=vega.Text("risk:N")
    )
    largest = sets[0]
    title = text_for(
        len(largest.quasi_identifiers),
        "Within the rule, at most {count} of these columns can be published",
        "Within the rule, at most {count} of these columns can be published: one of the sets below",
    )
    return figure_of(
        titled(
            vega.layer(dots, labels),
            title,
            text("one row per set: dark, what stays; at the right, correct identifications"),
            width=min(640, 80 * len(order)),
            height=vega.Step(24),
        ),
        label=text("What could be published"),
        caption=text(
            "The largest sets of columns with which the release would meet the rule. Any smaller set within one "
            "of them also meets the conditions on identification."
        ),
        table=cell_table(
            text("Published"),
            [text("Left out"), text("Guess after")],
            [
                (
                    enumeration(entry.quasi_identifiers),
                    Cell(enumeration(entry.left_out)),
                    percent_cell(entry.after),
                )
                for entry in sets
            ],
        ),
    )


def pairs_figure(assessment: Assessment) -> Figure | None:
    """Show how often a guess at who it is succeeds with each two attributes, and, on the diagonal, with each one.

    There is no such picture where pairs were not assessed, or of very many attributes.
    """
    risks: dict[tuple[str, ...], Fraction] = {
        attack.quasi_identifiers: attack.probabilistic.posterior
        for attack in last_window(assessment.attacks)
        if not attack.secret and len(attack.quasi_identifiers) <= 2
    }
    order = [names[0] for names in risks if len(names) == 1]
    complete = len(risks) == len(order) * (len(order) + 1) // 2
    if not complete or not 3 <= len(order) <= MOST_PAIRED:
        return None
    pairs = [
        (first, second, risks.get((first, second), risks.get((second, first), Fraction(0))))
        if first != second
        else (first, first, risks[(first,)])
        for place, first in enumerate(order)
        for second in order[: place + 1]
    ]
    attributes = [enumeration([name]) for name in order]
    rows = [
        {
            "first": enumeration([first]),
            "second": enumeration([second]),
            "risk": 100 * float(risk),
            "label": percentage(risk, 0),
            "dark": risk > DARKEST / 2,
        }
        for first, second, risk in pairs
    ]
    base = plot(rows).encode(
        x=vega.X(
            "second:N", sort=attributes, title=None, axis=vega.Axis(labelAngle=-30, grid=False)
        ),
        y=vega.Y("first:N", sort=attributes, title=None, axis=vega.Axis(grid=False)),
    )
    squares = base.mark_rect().encode(
        color=vega.Color(
            "risk:Q",
            title=None,
            scale=vega.Scale(scheme="oranges", domain=[0, float(100 * DARKEST)], clamp=True),
            legend=vega.Legend(
                gradientLength=160,
                values=[0, float(50 * DARKEST), float(100 * DARKEST)],
                labelExpr=f"datum.value + (datum.value >= {float(100 * DARKEST)} ? '%+' : '%')",
            ),
        )
    )
    labels = base.mark_text(fontSize=11).encode(
        text="label:N", color=vega.condition("datum.dark", vega.value("white"), vega.value("#222"))
    )
    worst = max(pairs, key=lambda pair: (pair[2], pair[0] != pair[1]))
    (share,) = percentages(worst[2])
    return figure_of(
        titled(
            vega.layer(squares, labels),
            text(
                "No two facts reveal more than {first} and {second}: correct identifications in {share} of cases",
                first=enumeration([worst[1]]),
                second=enumeration([worst[0]]),
                share=share,
            ),
            text("correct identifications with two facts known; on the diagonal, with one"),
            width=vega.Step(46),
            height=vega.Step(26),
        ),
        label=text("What each pair of columns reveals"),
        caption=text(
            "Two columns that reveal little by themselves may single people out together. Darker is worse: the "
            "colours are the same in every report, and end at 20%."
        ),
        table=cell_table(
            text("Known"),
            [text("Guess after")],
            [
                (enumeration(list(dict.fromkeys((second, first)))), percent_cell(risk))
                for first, second, risk in pairs
            ],
        ),
    )
