"""Runs side by side on the terminal."""

from __future__ import annotations

import json
from fractions import Fraction
from pathlib import Path

from rich.console import Console
from rich.table import Table
from rich.text import Text

from glasshouse.cli.outcomes import say
from glasshouse.cli.tables import plain_table
from glasshouse.errors import printable
from glasshouse.language import number, text
from glasshouse.mitigation import AssessedRuns, ComparedAttack, MeasuredRuns
from glasshouse.report.microdata.attacks import target_label
from glasshouse.report.side_by_side.figures import (
    change_of,
    figure_label,
    figure_of,
    measured_findings,
)
from glasshouse.report.side_by_side.findings import Change, change_by, points, side_by_side_findings
from glasshouse.report.words import percentage

COLOURS = {Change.WORSE: "red", Change.BETTER: "green", Change.SAME: "", Change.MIXED: ""}
"""How a difference is highlighted, besides its mark."""


def show_side_by_side(
    outcome: AssessedRuns | MeasuredRuns, report: Path | None, *, as_json: bool
) -> None:
    """Print runs side by side, and what got worse and better."""
    if as_json:
        print(json.dumps(outcome.to_dict(), indent=2))
        return
    console = Console()
    if isinstance(outcome, AssessedRuns):
        for table in (_largest_table(outcome), _best_table(outcome)):
            _put(console, table)
        findings = side_by_side_findings(outcome)
    else:
        _put(console, _figures_table(outcome))
        findings = measured_findings(outcome)
    say(console, text("▲ worse for the people in the data, ▼ better, than in the first run") + "\n")
    for finding in findings:
        say(console, f"• {finding.sentence}")
    if report is not None:
        say(console, "\n" + text("Report: {path}", path=report), soft_wrap=True)


def _put(console: Console, table: Table) -> None:
    title, table.title = table.title, None
    console.print(title, style="bold")
    console.print(table)
    console.print()


def _largest_table(outcome: AssessedRuns) -> Table:
    first = outcome.largest[0]
    title = (
        text("She knows {known}", known=", ".join(first.attacks[0].quasi_identifiers))
        if first.same_knowledge
        else text("With the largest set of each run")
    )
    table = plain_table(title)
    table.add_column(text("attack"), overflow="fold")
    for run in outcome.runs:
        name = printable(run.name)
        table.add_column(text("{run}: certain", run=name), justify="right")
        table.add_column(text("{run}: guess", run=name), justify="right")
    _add_difference_columns(table, outcome)
    for line in outcome.largest:
        cells = [
            cell
            for attack in line.attacks
            for cell in (
                percentage(attack.deterministic.posterior),
                percentage(attack.probabilistic.posterior),
            )
        ]
        label = Text(printable(f"{line.attacks[0].code} {target_label(line.secret)}"))
        table.add_row(label, *cells, *_differences(line))
    return table


def _best_table(outcome: AssessedRuns) -> Table:
    table = plain_table(text("With the best set of each size, a guess is right"))
    table.add_column(text("attack"), overflow="fold")
    table.add_column(text("attributes"), justify="right")
    for run in outcome.runs:
        table.add_column(Text(printable(run.name)), justify="right")
    _add_difference_columns(table, outcome)
    for line in outcome.best:
        cells = [percentage(attack.probabilistic.posterior) for attack in line.attacks]
        label = Text(printable(f"{line.attacks[0].code} {target_label(line.secret)}"))
        table.add_row(label, number(line.size), *cells, *_differences(line))
    return table


def _add_difference_columns(table: Table, outcome: AssessedRuns) -> None:
    others = outcome.runs[1:]
    for run in others:
        title = (
            text("points") if len(others) == 1 else text("{run}: points", run=printable(run.name))
        )
        table.add_column(title, justify="right", no_wrap=True)


def _differences(line: ComparedAttack) -> list[Text]:
    return [_difference(change) for change, _ in line.differences()]


def _difference(difference: Fraction) -> Text:
    what = change_by(difference)
    return Text(f"{what.value or ' '} {points(difference)}", style=COLOURS[what])


def _figures_table(outcome: MeasuredRuns) -> Table:
    table = plain_table(text("Runs of {command} side by side", command=outcome.command))
    table.add_column(text("figure"), overflow="fold")
    for run in outcome.runs:
        table.add_column(Text(printable(run.name)), justify="right")
    for name in outcome.figures:
        cells = [Text(figure_of(outcome, name, 0))]
        for place in range(1, len(outcome.runs)):
            what = change_of(outcome, name, place)
            shown = f"{what.value} {figure_of(outcome, name, place)}".strip()
            cells.append(Text(shown, style=COLOURS[what]))
        table.add_row(Text(printable(figure_label(outcome, name))), *cells)
    return table
