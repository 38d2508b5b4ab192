"""What a release costs, column by column: one table and one picture for all reports of protected releases.

No value of a record is in them. Values of a column are numbered by how frequent they are, those that few people have
are left out, and means and variances are told by how far they are off, in terms of their own spread.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from fractions import Fraction

from glasshouse.language import number, percentage, printable, text
from glasshouse.mitigation.utility import ColumnCost, ColumnCosts
from glasshouse.report import vega
from glasshouse.report.cells import NOTHING, float_cell, group_table
from glasshouse.report.charts import NEUTRAL, TARGETS, figure_of, plot, titled
from glasshouse.report.discretion import ToldCounts
from glasshouse.report.labels import column_label
from glasshouse.report.page import Cell, Figure, Section

MOST_VALUES, MOST_PANELS = 10, 9
"""So many values of a column, and so many columns, are in the picture."""
NO_ERROR = 1e-12
"""Below this an error is none: what is left is the rounding of its sum."""


def costs_section(releases: Mapping[str, ColumnCosts]) -> Section | None:
    """Return what each of some releases costs, column by column; None: there are none.

    Args:
        releases: The releases by their names.
    """
    if not releases:
        return None
    groups = {}
    for place, cost in enumerate(next(iter(releases.values())).columns):
        of_column = {name: costs.columns[place] for name, costs in releases.items()}
        groups[column_label(cost.column)] = list(_rows(of_column, releases))
    return Section(
        text("What it costs, column by column"),
        text(
            "The distribution is off for that share of the records (total variation). The mean is off by so many "
            "standard deviations of the original, the variance by that share of it, and a correlation with another "
            "column of numbers by so much at most."
        ),
        (group_table(text("Column"), list(releases), groups),),
    )


def _rows(
    of_column: Mapping[str, ColumnCost], releases: Mapping[str, ColumnCosts]
) -> Iterator[list[Cell | str]]:
    """Yield how far a column is off: its distribution, and of numbers the mean, the variance and the correlations."""
    yield [
        text("distribution"),
        *(Cell(percentage(Fraction(cost.error))) for cost in of_column.values()),
    ]
    if next(iter(of_column.values())).mean is None:
        return
    yield [text("mean"), *(_error(cost.mean_error) for cost in of_column.values())]
    yield [text("variance"), *(_error(cost.variance_error) for cost in of_column.values())]
    correlations = [
        releases[name].correlation_error(cost.column) for name, cost in of_column.items()
    ]
    if any(error is not None for error in correlations):
        yield [text("correlation"), *map(_error, correlations)]


def _error(error: float | None) -> Cell:
    if error is None:
        return NOTHING
    return Cell("0") if error < NO_ERROR else float_cell(error, ".2g")


def costs_figure(costs: ColumnCosts | None) -> Figure | None:
    """Show how frequent the values of each column are before and after; None: no column is otherwise."""
    columns = () if costs is None else costs.columns
    changed = sorted(
        (cost for cost in columns if cost.error >= NO_ERROR and _told(cost)),
        key=lambda cost: -cost.error,
    )[:MOST_PANELS]
    if not changed:
        return None
    worst = changed[0]
    rows = {
        column_label(cost.column): [
            (
                number(rank),
                Cell(percentage(Fraction(before, _records(cost)))),
                Cell(percentage(Fraction(after) / _records(cost))),
            )
            for rank, before, after in _told(cost)
        ]
        for cost in changed
    }
    return figure_of(
        titled(
            vega.concat(*map(_panel, changed), columns=3),
            text(
                "{column} changes most: its distribution is off for {error} of the records",
                column=printable(column_label(worst.column)),
                error=percentage(Fraction(worst.error)),
            ),
            text("share of the records (%), the most frequent value first"),
        ),
        label=text("How frequent the values of each column are, before and after"),
        caption=text(
            "Grey bars: the original. Orange marks: what the release lets one expect, if a coarse value is spread "
            "evenly over those that it stands for. Values are not named, and those that few people have are left out."
        ),
        table=group_table(
            text("Value, by how frequent it is"), (text("Before"), text("After")), rows
        ),
    )


def _records(cost: ColumnCost) -> int:
    return sum(before for before, _ in cost.counts)


def _told(cost: ColumnCost) -> list[tuple[int, int, float]]:
    """Return the rank and both counts of the values that may be told, the most frequent first."""
    column = ToldCounts.of([before for before, _ in cost.counts])
    return [
        (place + 1, before, after)
        for place, (before, after) in enumerate(cost.counts)
        if column.is_exact[place]
    ][:MOST_VALUES]


def _panel(cost: ColumnCost) -> vega.Chart:
    records = _records(cost)
    rows = [
        {"rank": rank, "before": 100 * before / records, "after": 100 * after / records}
        for rank, before, after in _told(cost)
    ]
    x = vega.X("rank:O", title=None, axis=vega.Axis(labelAngle=0))
    return vega.layer(
        plot(rows).mark_bar(color=NEUTRAL).encode(x=x, y=vega.Y("before:Q", title=None)),
        plot(rows)
        .mark_point(color=TARGETS[0][0], shape="diamond", filled=True, size=60, opacity=1)
        .encode(x=x, y=vega.Y("after:Q", title=None)),
    ).properties(title=printable(column_label(cost.column)), width=200, height=130)
