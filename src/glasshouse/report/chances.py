"""How likely things are, before and after: said so that they can be compared, and drawn."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from textwrap import wrap
from typing import NamedTuple

import altair as alt

from glasshouse.errors import printable
from glasshouse.microdata.models import Leakage
from glasshouse.report.cells import percent_cell
from glasshouse.report.charts import AFTER, BEFORE, COLOURS
from glasshouse.report.page import Cell, Column
from glasshouse.report.words import frequency

FEW = 20
"""A chance of some in at most so many is said as it is."""
BEFORE_AND_AFTER = (Column("Before", numeric=True), Column("After", numeric=True))
"""The columns of how likely something is; what it is stands before them."""


def chance(probability: Fraction) -> str:
    """Say how likely something is.

    >>> chance(Fraction(2, 3)), chance(Fraction(1, 250)), chance(Fraction(23, 100)), chance(Fraction(1))
    ('2 in 3', '1 in 250', '23 in 100', '1 (certain)')
    """
    return chances(probability)[0]


def chances(*probabilities: Fraction) -> tuple[str, ...]:
    """Say how likely several things are, in a way that can be compared.

    >>> chances(Fraction(1, 6), Fraction(1, 3000)), chances(Fraction(1, 2), Fraction(501, 1000))
    (('1 in 6', '1 in 3,000'), ('50 in 100', '50 in 100'))
    """
    if all(
        each in (0, 1) or each.denominator <= FEW or each.numerator == 1 for each in probabilities
    ):
        return tuple(
            _certain(each) or f"{each.numerator:,} in {each.denominator:,}"
            for each in probabilities
        )
    return tuple(
        _certain(each) or frequency(each).replace(" of every ", " in ") for each in probabilities
    )


def frequencies(low: Fraction, high: Fraction, word: str) -> str:
    """Say two frequencies, with what they have in common once.

    >>> frequencies(Fraction(4, 100), Fraction(86, 100), "and"), frequencies(Fraction(1, 250), Fraction(1, 2), "to")
    ('4 and 86 of every 100', '1 of every 250 to 50 of every 100')
    """
    if low >= Fraction(1, 100) and round(100 * low) < round(100 * high) < 100:
        return f"{round(100 * low)} {word} {round(100 * high)} of every 100"
    first, second = frequency(low), frequency(high)
    if first == second:
        return first
    (count, _, base), (_, _, other) = (each.partition(" of every ") for each in (first, second))
    return f"{count if base == other else first} {word} {second}"


class Shift(NamedTuple):
    """How probable something is before and after."""

    label: str
    """What it is."""
    before: Fraction
    """Its probability before."""
    after: Fraction
    """Its probability afterwards."""

    @classmethod
    def of(cls, label: str, leakage: Leakage) -> Shift:
        """Return the shift from the prior to the posterior."""
        return cls(label, leakage.prior, leakage.posterior)


def rest_of(shown: Sequence[Shift], label: str) -> Shift:
    """Return all that is not shown, summed up: what is left of 1.

    >>> rest_of([Shift("a", Fraction(1, 2), Fraction(1, 3))], "others")
    Shift(label='others', before=Fraction(1, 2), after=Fraction(2, 3))
    """
    before = sum((shift.before for shift in shown), Fraction(0))
    after = sum((shift.after for shift in shown), Fraction(0))
    return Shift(label, 1 - before, 1 - after)


def shift_rows(shifts: Sequence[Shift]) -> tuple[tuple[Cell, ...], ...]:
    """Return a row of a table for each: what it is, and how probable before and after."""
    return tuple(
        (Cell(shift.label), percent_cell(shift.before), percent_cell(shift.after))
        for shift in shifts
    )


def shift_chart(shifts: Sequence[Shift], *, title: str, subtitle: str) -> alt.TopLevelMixin:
    """Show, one line each, how probable things are before and after, joined by a bar.

    Args:
        shifts: What is shown, from top to bottom.
        title: What the picture shows.
        subtitle: What the probability is of.
    """
    names = {BEFORE: "before", AFTER: "after"}
    order = [printable(shift.label) for shift in shifts]
    rows = [
        {
            "label": label,
            "before": 100 * float(shift.before),
            "after": 100 * float(shift.after),
        }
        for label, shift in zip(order, shifts, strict=True)
    ]
    highest = max(max(shift.before, shift.after) for shift in shifts)
    top = next(top for top in (1, 2, 5, 10, 20, 50, 100) if 100 * highest <= top)
    y = alt.Y("label:N", sort=order, title=None, axis=alt.Axis(labelPadding=12))
    scale = alt.Scale(domain=[0, top], nice=False)
    colour = alt.Color(
        "what:N",
        title=None,
        sort=list(names.values()),
        scale=alt.Scale(domain=list(names.values()), range=[COLOURS[BEFORE], COLOURS[AFTER]]),
    )
    base = alt.Chart(alt.InlineData(values=rows)).encode(y=y)
    bars = base.mark_rule(strokeWidth=3, color="#d9b08c").encode(
        x=alt.X("before:Q", scale=scale, title="probability (%)", axis=alt.Axis(tickCount=5)),
        x2="after:Q",
    )
    points = [
        base.transform_calculate(what=f"'{name}'")
        .mark_point(filled=True, size=size, opacity=1)
        .encode(x=alt.X(f"{name}:Q", scale=scale), color=colour)
        for name, size in (("before", 220), ("after", 110))
    ]
    return alt.layer(bars, *points).properties(
        width=640,
        height=alt.Step(30),
        title=alt.Title(wrap(printable(title), 95), subtitle=wrap(printable(subtitle), 105)),
    )


def _certain(probability: Fraction) -> str | None:
    return {0: "0", 1: "1 (certain)"}.get(int(probability)) if probability in (0, 1) else None
