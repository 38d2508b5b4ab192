"""How likely things are, before and after: said so that they can be compared, and drawn."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import NamedTuple

import altair as alt

from glasshouse.errors import printable
from glasshouse.language import number, text
from glasshouse.microdata import Leakage
from glasshouse.report.cells import percent_cell
from glasshouse.report.page import Cell, Column, Group, Table
from glasshouse.report.theme import JOINT, NEUTRAL, TARGETS, wrapped
from glasshouse.report.words import FINER, frequencies, natural, rounded, told_apart

FEW = 20
"""A chance of some in at most so many is said as it is."""


def before_and_after_columns() -> tuple[Column, Column]:
    """Return the columns of how likely something is; what it is stands before them."""
    return Column(text("Before"), numeric=True), Column(text("After"), numeric=True)


def chance(probability: Fraction) -> str:
    """Say how likely something is.

    >>> chance(Fraction(2, 3)), chance(Fraction(1, 250)), chance(Fraction(23, 100)), chance(Fraction(1))
    ('2 in 3', '1 in 250', '23 in 100', '1 (certain)')
    """
    return chances(probability)[0]


def chances(*probabilities: Fraction) -> tuple[str, ...]:
    """Say how likely several things are, in a way that can be compared: what differs is said differently.

    >>> chances(Fraction(1, 6), Fraction(1, 3000)), chances(Fraction(1, 2), Fraction(501, 1000))
    (('1 in 6', '1 in 3,000'), ('500 in 1,000', '501 in 1,000'))
    """
    if all(
        each in (0, 1) or each.denominator <= FEW or each.numerator == 1 for each in probabilities
    ):
        return tuple(
            _certain(each) or _one_in(each.numerator, each.denominator) for each in probabilities
        )
    ways = (tuple(_rounded(each, base) for each in probabilities) for base in (None, *FINER))
    return told_apart(ways)


def _rounded(probability: Fraction, base: int | None) -> str:
    """Say how likely something is, on a base or on the one that suits it."""
    certain = _certain(probability)
    if certain is not None:
        return certain
    count = 0 if base is None else rounded(probability * base)
    if base is None or count == 0:
        count, base = natural(probability)
    if count == base:
        return text("more than {count} in {base}", count=base - 1, base=base)
    return _one_in(count, base)


def _one_in(count: int, base: int) -> str:
    return text("{count} in {base}", count=count, base=base)


def both_frequencies(low: Fraction, high: Fraction) -> str:
    """Say two frequencies, with what they have in common once.

    >>> both_frequencies(Fraction(4, 100), Fraction(86, 100)), both_frequencies(Fraction(1, 250), Fraction(1, 2))
    ('4 and 86 of every 100', '1 of every 250 and 50 of every 100')
    """
    if _on_a_hundred(low, high):
        return text(
            "{low} and {high} of every 100", low=rounded(100 * low), high=rounded(100 * high)
        )
    first, second = frequencies(low, high)
    return first if first == second else text("{first} and {last}", first=first, last=second)


def frequency_range(low: Fraction, high: Fraction) -> str:
    """Say from which frequency to which, with what they have in common once.

    >>> frequency_range(Fraction(4, 100), Fraction(86, 100)), frequency_range(Fraction(1, 250), Fraction(1, 2))
    ('4 to 86 of every 100', '1 of every 250 to 50 of every 100')
    """
    if _on_a_hundred(low, high):
        return text(
            "{low} to {high} of every 100", low=rounded(100 * low), high=rounded(100 * high)
        )
    first, second = frequencies(low, high)
    return first if first == second else text("{low} to {high}", low=first, high=second)


def _on_a_hundred(low: Fraction, high: Fraction) -> bool:
    return low >= Fraction(1, 100) and rounded(100 * low) < rounded(100 * high) < 100


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


def shift_table(shifts: Sequence[Shift]) -> Table:
    """Return the numbers of `shift_chart`."""
    return Table((Column(""), *before_and_after_columns()), (Group(shift_rows(shifts)),))


def shift_chart(shifts: Sequence[Shift], *, title: str, subtitle: str) -> alt.TopLevelMixin:
    """Show, one line each, how probable things are before and after, joined by a bar.

    Args:
        shifts: What is shown, from top to bottom.
        title: What the picture shows.
        subtitle: What the probability is of.
    """
    before, after = text("before"), text("after")
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
        sort=[before, after],
        scale=alt.Scale(domain=[before, after], range=[NEUTRAL, TARGETS[0][0]]),
    )
    base = alt.Chart(alt.InlineData(values=rows)).encode(y=y)
    bars = base.mark_rule(strokeWidth=3, color=JOINT).encode(
        x=alt.X("before:Q", scale=scale, title=text("probability (%)"), axis=alt.Axis(tickCount=5)),
        x2="after:Q",
    )
    points = [
        base.transform_calculate(what=f"'{label}'")
        .mark_point(filled=True, size=size, opacity=1)
        .encode(x=alt.X(f"{name}:Q", scale=scale), color=colour)
        for name, label, size in (("before", before, 220), ("after", after, 110))
    ]
    return alt.layer(bars, *points).properties(
        width=640,
        height=alt.Step(30),
        title=alt.Title(wrapped(title, 95), subtitle=wrapped(subtitle, 105)),
    )


def _certain(probability: Fraction) -> str | None:
    if probability == 0:
        return number(0)
    return text("1 (certain)") if probability == 1 else None
