"""Who is at risk: the share of people who can be named, by value of what can be known, where they are not too few."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

from glasshouse.disclosure import cover_each_other, is_shown
from glasshouse.language import percentage, text
from glasshouse.microdata import Assessment
from glasshouse.microdata.attacks import Exposure
from glasshouse.report import vega
from glasshouse.report.assess.family_charts import part_label
from glasshouse.report.cells import count_cell, group_table, percent_cell
from glasshouse.report.charts import NEUTRAL, TARGETS, figure_of, per_cent_up_to, plot, titled
from glasshouse.report.labels import value_label
from glasshouse.report.page import Cell, Figure
from glasshouse.report.words import enumeration, percentages, plural
from glasshouse.table.profiles import is_missing_mark

LEAST_FACTOR = Fraction(3, 2)
"""The share who can be named differs by a column if it is so many times as high for one value as for another."""
NOT_TOLD = ("not informed", "not reported", "not answered", "no answer", "refused")
"""What a questionnaire says of who did not answer, besides the marks of missing values."""
MOST_BARS = 8
"""So many values are drawn, of one column or of several that have no more together; of a column alone, all."""


@dataclass(frozen=True)
class _Group:
    """The people who have one value."""

    value: str
    people: int
    named: int
    is_missing: bool = False

    @property
    def counts(self) -> tuple[int, int, int]:
        return self.people, self.named, self.people - self.named

    @property
    def share(self) -> Fraction:
        return Fraction(self.named, self.people)


def told_groups(exposure: Exposure) -> list[_Group]:
    """Return the values of which it is told how many can be named, the most frequent first.

    Neither how many people have a value, nor how many of them can be named, nor how many cannot, is told where it is
    small; nor what would tell it, together with the totals.
    """
    groups = [
        _Group(
            part_label(called := value_label([exposure.column], value)),
            people,
            named,
            any(map(_is_missing, (str(value), str(called)))),
        )
        for value, people, named in zip(
            exposure.values, exposure.records, exposure.named, strict=True
        )
        if people
    ]
    groups.sort(key=lambda group: (-group.people, group.value))
    hidden = [group for group in groups if not all(map(is_shown, group.counts))]
    shown = [group for group in groups if group not in hidden]
    while hidden and shown and not _covered(hidden):
        hidden.append(shown.pop())
    return shown


def _is_missing(value: str) -> bool:
    return not value or is_missing_mark(value) or value.strip().lower() in NOT_TOLD


def _covered(hidden: list[_Group]) -> bool:
    """Tell whether the sums over some groups, which the totals tell, tell no small count of one of them."""
    for counts in zip(*(group.counts for group in hidden), strict=True):
        some = [(count,) for count in counts if count]
        if not all(map(is_shown, counts)) and not cover_each_other(some):
            return False
    return True


def exposure_figure(assessment: Assessment, subject: str) -> Figure | None:
    """Show the share of people who can be named, by value of the columns by which it differs most.

    There is no such picture where nobody can be named, or everybody, where all groups that are told of are much alike
    (`LEAST_FACTOR`), or where groups are too small to be told of. Whose value is missing is no group.
    """
    by_column = {}
    for exposure in assessment.exposures:
        groups = [group for group in told_groups(exposure) if not group.is_missing]
        if len(groups) > 1 and any(exposure.named) and _differs(groups):
            by_column[exposure.column] = groups
    if not by_column:
        return None
    order = sorted(by_column, key=lambda column: -_variance(by_column[column]))
    drawn, bars = [], 0
    for column in order:
        if bars + len(by_column[column]) <= MOST_BARS:
            drawn.append(column)
            bars += len(by_column[column])
    drawn = drawn or order[:1]
    first = drawn[0]
    everybody = Fraction(sum(assessment.exposures[0].named), sum(assessment.exposures[0].records))
    if everybody == 1:
        return None
    low, high = percentages(
        min(group.share for group in by_column[first]),
        max(group.share for group in by_column[first]),
    )
    title = text(
        "The share that can be identified outright differs by {column}: from {low} to {high}",
        column=enumeration([first]),
        low=low,
        high=high,
    )
    caption = text(
        "Among the {people} with each value, the share that looks like nobody else and can be identified "
        "outright.",
        people=plural(subject),
    )
    if any(
        len(by_column[exposure.column]) < len([n for n in exposure.records if n])
        for exposure in assessment.exposures
        if exposure.column in drawn
    ):
        caption += " " + text(
            "Missing values are left out. So are values that fewer than {smallest} people have, or among whom "
            "fewer than {smallest} can or cannot be identified, and others from which such a number could be "
            "worked out."
        )
    return figure_of(
        titled(
            _bars({column: by_column[column] for column in drawn}, everybody),
            title,
            text("the line: {share} of everybody", share=percentage(everybody)),
        ),
        label=text("Who can be identified"),
        caption=caption,
        table=group_table(
            text("Value"),
            [text("People"), text("Can be identified outright")],
            {
                enumeration([column]): [
                    (Cell(group.value), count_cell(group.people), percent_cell(group.share))
                    for group in by_column[column]
                ]
                for column in drawn
            },
        ),
    )


def _differs(groups: list[_Group]) -> bool:
    """Tell whether the share who can be named is much higher in one group than in another."""
    shares = [group.share for group in groups]
    return max(shares) > 0 and max(shares) >= LEAST_FACTOR * min(shares)


def _variance(groups: list[_Group]) -> Fraction:
    """Return how much the share differs between groups, by how many people they are."""
    people = sum(group.people for group in groups)
    mean = Fraction(sum(group.named for group in groups), people)
    return sum((group.people * (group.share - mean) ** 2 for group in groups), Fraction(0)) / people


def _bars(by_column: dict[str, list[_Group]], everybody: Fraction) -> vega.Chart:
    """Draw a bar per value, column by column, with a line at the share of everybody."""
    views = []
    scale = per_cent_up_to(
        max(everybody, *(group.share for groups in by_column.values() for group in groups))
    )
    for place, (column, groups) in enumerate(by_column.items()):
        is_last = place == len(by_column) - 1
        rows = [
            {
                "value": group.value,
                "named": 100 * float(group.share),
                "label": percentage(group.share),
            }
            for group in groups
        ]
        base = plot(rows).encode(
            y=vega.Y("value:N", sort=[group.value for group in groups], title=None),
            x=vega.X(
                "named:Q",
                stack=None,
                scale=scale,
                title=text("can be identified outright (%)") if is_last else None,
                axis=vega.Axis(tickCount=5) if is_last else vega.Axis(labels=False, ticks=False),
            ),
        )
        line = plot([{"everybody": 100 * float(everybody)}]).mark_rule(
            strokeDash=[6, 4], strokeWidth=2, color=NEUTRAL
        )
        layers = (
            base.mark_bar(color=TARGETS[0][0], height=12),
            line.encode(x=vega.X("everybody:Q", scale=scale)),
            base.mark_text(align="left", dx=8, fontSize=12).encode(
                x=vega.value("width"), text="label:N"
            ),
        )
        heading = vega.Title(enumeration([column]), fontSize=13, fontWeight="normal", offset=4)
        views.append(vega.layer(*layers).properties(width=560, height=vega.Step(16), title=heading))
    return views[0] if len(views) == 1 else vega.vconcat(*views, spacing=8)
