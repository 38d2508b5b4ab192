"""Reconstruction from published totals on the terminal."""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet
from rich.console import Console
from rich.table import Table
from rich.text import Text

from glasshouse.atomic import new_file
from glasshouse.cli.outcomes import say
from glasshouse.cli.tables import plain_table
from glasshouse.errors import printable
from glasshouse.language import number, text
from glasshouse.report.totals.page import total_findings
from glasshouse.report.totals.words import growth, step_label
from glasshouse.runs.totals import TotalsRun
from glasshouse.totals.publications import Trouble


def write_places(frame: pa.Table, path: Path) -> None:
    """Write where each record can be as Parquet, whole or not at all, and warn: it is the disclosure itself."""
    with new_file(path) as draft:
        pyarrow.parquet.write_table(frame, draft)
    warning = text(
        "{path}: This file tells where each record can be, and how surely who is behind it: it is the disclosure "
        "itself. Keep it as closely as the data that the publications were to protect, and do not publish it.",
        path=path,
    )
    print(printable(warning), file=sys.stderr)


def write_entities(frame: pa.Table, path: Path) -> None:
    """Write who is exposed with certainty as Parquet, whole or not at all, and warn: it is the disclosure itself."""
    with new_file(path) as draft:
        pyarrow.parquet.write_table(frame, draft)
    warning = text(
        "{path}: This file names who is behind records with certainty: it is the disclosure itself. Keep it as closely "
        "as the data that the publications were to protect, and do not publish it.",
        path=path,
    )
    print(printable(warning), file=sys.stderr)


def show_campaign(run: TotalsRun, report: Path | None, *, as_json: bool) -> None:
    """Print what the totals tell, phase by phase."""
    _note_troubles(run.result.troubles, as_json=as_json)
    if as_json:
        print(json.dumps(run.to_dict(), indent=2))
        return
    console = Console()
    console.print(text("By phase"), style="bold")
    console.print(_phases(run))
    if run.result.entities is not None:
        console.print()
        console.print(text("What the adversary can name, by Bayes"), style="bold")
        console.print(_exposure(run))
    console.print()
    for finding in total_findings(run.result, run.study):
        say(console, f"• {finding.sentence}")
    if report is not None:
        console.print()
        say(console, text("Report: {path}", path=report), soft_wrap=True)


def _note_troubles(troubles: Sequence[Trouble], *, as_json: bool) -> None:
    """Say what is not as the plan says, without the examples: their keys are values of records."""
    for trouble in troubles:
        note = text(
            "note: {where}: {kind}: {count}",
            where=trouble.where,
            kind=trouble.said,
            count=trouble.count,
        )
        print(printable(note), file=sys.stderr)
    if troubles and not as_json:
        print(text("note: with --json there is an example of each"), file=sys.stderr)


def _phases(run: TotalsRun) -> Table:
    titles = (
        text("groups"),
        text("instances"),
        text("solved"),
        text("linked so far"),
        text("named so far"),
        text("apart"),
    )
    table = _table(text("phase"), titles)
    for phase in run.result.phases:
        counts = (
            phase.groups,
            phase.instances,
            phase.solved,
            phase.linked_so_far,
            phase.exposed,
            sum(each.groups for each in phase.apart),
        )
        table.add_row(Text(printable(phase.name)), *map(number, counts))
    return table


def _exposure(run: TotalsRun) -> Table:
    titles = (text("mean chance"), text("factor"), text("value at risk"), text("certain"))
    table = _table(text("she has"), titles)
    for step in run.result.exposure("bayes"):
        table.add_row(
            Text(printable(step_label(step.name))),
            number(step.chance, ".3g"),
            growth(step.factor, 3),
            number(step.value_at_risk, ",.0f"),
            number(step.certain),
        )
    return table


def _table(first: str, numbers: Sequence[str]) -> Table:
    table = plain_table("")
    table.title = None
    table.add_column(first, overflow="fold")
    for title in numbers:
        table.add_column(title, justify="right", no_wrap=True)
    return table
