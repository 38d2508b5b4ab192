"""Releases side by side in a table."""

from __future__ import annotations

from fractions import Fraction

from glasshouse.language import exactly, localised, number, text
from glasshouse.microdata.family import Family, FamilyCell, FamilyRow
from glasshouse.report.cells import count_cell
from glasshouse.report.discretion import Among, figure_between
from glasshouse.report.microdata.parts import part_label, shown_parts, told_in
from glasshouse.report.page import Cell, Column, Group, Table


def family_table(family: Family, sensitive: str | None = None) -> Table:
    """Return a family as a table: a row per part that may be shown, in per cent, marked where a figure stands out.

    Args:
        family: The releases.
        sensitive: The secret; by default re-identification.

    Raises:
        StudyError: The family has no such secret.
    """
    table = shown_parts(family).table(sensitive)
    columns = (
        Column(text("Part")),
        Column(text("Records"), numeric=True),
        Column(text("Before"), numeric=True),
        *(
            Column(
                f"+ {number(size)}",
                numeric=True,
                under=text("What the best so many attributes add"),
            )
            for size in table.sizes
        ),
    )
    rows = tuple(
        (
            Cell(part_label(row.part)),
            count_cell(row.records),
            *_figures(row, told_in(row, sensitive)),
        )
        for row in table.rows
    )
    return Table(columns, (Group(rows),))


def _figures(row: FamilyRow, told: Among) -> list[Cell]:
    """Return the chance before and what is added to it, marked where they stand out."""
    prior = row.prior.value
    bounds = [told.bounds(prior), *(told.added(prior, prior + each.value) for each in row.additive)]
    return [
        _marked(figure, *told)
        for figure, told in zip((row.prior, *row.additive), bounds, strict=True)
    ]


def _marked(figure: FamilyCell, low: Fraction, high: Fraction) -> Cell:
    mark = " ▲" if figure.highest else " ▼" if figure.lowest else ""
    if low == high:
        return Cell(f"{_per_cent(low)}{mark}", exact=exactly(low))
    said = text("{figure} %", figure=figure_between(low, high, digits=2))
    return Cell(f"{said}{mark}")


def _per_cent(value: Fraction) -> str:
    """Say a probability in per cent with two decimals that never round it to nothing or to everything."""
    if 0 < value < Fraction(5, 10**5):
        return text("< {figure} %", figure=localised("0.01"))
    if Fraction(99995, 10**5) < value < 1:
        return text("> {figure} %", figure=localised("99.99"))
    return text("{figure} %", figure=number(100 * float(value), ".2f"))
