"""What was done to the data before it was attacked, as a section of any report."""

from __future__ import annotations

from collections.abc import Sequence

from glasshouse.language import text, translated
from glasshouse.report.cells import count_cell
from glasshouse.report.page import Cell, Column, Group, Section, Table
from glasshouse.table.treatment import Step


def treatment_section(treatment: Sequence[Step], notes: Sequence[str] = ()) -> Section | None:
    """Return which records were left out beforehand, and why."""
    if not treatment and not notes:
        return None
    title = text("What was done to the data")
    steps = [step for step in treatment if not _says_the_same_again(step, treatment)]
    if not steps:
        return Section(title, notes=tuple(notes))
    intro = text("Records that were left out before the attack.")
    if any(step.column is None for step in steps):
        intro += " " + text(
            "Where they are left out for what they have in one of several columns, each column is counted by itself, "
            "and then all together."
        )
    columns = (
        *map(Column, (text("Dataset"), text("Left out for"), text("Column"))),
        Column(text("Records before"), numeric=True),
        Column(text("Left out"), numeric=True),
        Column(text("Records after"), numeric=True),
    )
    rows = tuple(
        (
            Cell(step.dataset),
            Cell(translated(step.what)),
            Cell(text("in all") if step.column is None else step.column),
            *(count_cell(count) for count in (step.before, step.left_out, step.after)),
        )
        for step in steps
    )
    return Section(title, intro, (Table(columns, (Group(rows),)),), tuple(notes))


def _says_the_same_again(step: Step, treatment: Sequence[Step]) -> bool:
    """Tell whether a step sums up a single column, which has been told already."""
    alike = [s for s in treatment if (s.dataset, s.what) == (step.dataset, step.what)]
    return step.column is None and len(alike) == 2
