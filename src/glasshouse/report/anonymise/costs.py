"""What a release costs, column by column: one table and one picture for all reports of protected releases.

No value of a record is in them: means and variances are told by how far they are off, in terms of their own spread.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from fractions import Fraction

from glasshouse.language import percentage, printable, text
from glasshouse.mitigation.utility import ColumnCost, ColumnCosts
from glasshouse.report import vega
from glasshouse.report.cells import NOTHING, cell_table, float_cell, group_table
from glasshouse.report.charts import TARGETS, figure_of, per_cent_up_to, plot, titled
from glasshouse.report.labels import column_label
from glasshouse.report.page import Cell, Figure, Section

LEAST_BARS, MOST_BARS = 2, 12
"""So many columns are in the picture: of one alone the sentence says as much."""
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
    """Show how far the distribution of each column is off, the worst first; None: none of them is, or one alone."""
    columns = () if costs is None else costs.columns
    changed = sorted(
        (cost for cost in columns if cost.error >= NO_ERROR), key=lambda cost: -cost.error
    )[:MOST_BARS]
    if len(changed) < LEAST_BARS:
        return None
    worst = changed[0]
    names = [printable(column_label(cost.column)) for cost in changed]
    rows = [
        {"column": name, "error": 100 * cost.error, "label": percentage(Fraction(cost.error))}
        for name, cost in zip(names, changed, strict=True)
    ]
    base = plot(rows).encode(
        y=vega.Y("column:N", sort=names, title=None),
        x=vega.X(
            "error:Q",
            title=text("share of records (%)"),
            scale=per_cent_up_to(worst.error),
            axis=vega.Axis(tickCount=5),
        ),
    )
    return figure_of(
        titled(
            vega.layer(
                base.mark_bar(color=TARGETS[0][0], height=14),
                base.mark_text(align="left", dx=5, fontSize=12).encode(text="label:N"),
            ),
            text(
                "{column} changes most: its distribution is off for {error} of the records",
                column=names[0],
                error=percentage(Fraction(worst.error)),
            ),
            text("how far the distribution of each column that changes is off"),
            width=520,
            height=vega.Step(24),
        ),
        label=text("How far the distribution of each column is off"),
        caption=text(
            "The share of records whose value would have to change for the column to be distributed as in the original "
            "(total variation). A coarse value counts as spread evenly over those that it stands for."
        ),
        table=cell_table(
            text("Column"),
            [text("Records")],
            [
                (name, Cell(percentage(Fraction(cost.error))))
                for name, cost in zip(names, changed, strict=True)
            ],
        ),
    )
