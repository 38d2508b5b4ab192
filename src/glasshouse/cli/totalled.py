"""Reconstruction from published totals on the terminal."""

from __future__ import annotations

import json
import sys
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
from glasshouse.report.totals import total_sentences
from glasshouse.runs.totalling import TotalsRun

ENTITIES_WARNING = (
    "This file names who is behind records with certainty: it is the disclosure itself. Keep it as closely as the data "
    "that the publications were to protect, and do not publish it."
)
"""What the user is told when names leave the program."""


def write_entities(frame: pa.Table, path: Path) -> None:
    """Write who is exposed with certainty as Parquet, whole or not at all, and warn: it is the disclosure itself."""
    with new_file(path) as draft:
        pyarrow.parquet.write_table(frame, draft)
    print(f"{printable(str(path))}: {ENTITIES_WARNING}", file=sys.stderr)


def show_campaign(run: TotalsRun, report: Path | None, *, as_json: bool) -> None:
    """Print what the totals tell, phase by phase."""
    for trouble in run.result.troubles:
        said = f"{trouble.where}: {trouble.kind}: {trouble.count:,}, such as {trouble.example}"
        print(f"note: {printable(said)}", file=sys.stderr)
    if as_json:
        print(json.dumps(run.to_dict(), indent=2))
        return
    console = Console()
    console.print("By phase", style="bold")
    console.print(_phases(run))
    if run.result.entities is not None:
        console.print("\nWhat the adversary can name, by Bayes", style="bold")
        console.print(_exposure(run))
    console.print()
    for sentence in total_sentences(run.result, run.study):
        say(console, f"• {sentence}")
    if report is not None:
        say(console, f"\nReport: {report}", soft_wrap=True)


def _phases(run: TotalsRun) -> Table:
    table = plain_table("")
    table.title = None
    table.add_column("phase", overflow="fold")
    for title in ("groups", "instances", "solved", "linked", "named", "apart"):
        table.add_column(title, justify="right", no_wrap=True)
    for phase in run.result.phases:
        counts = (
            phase.groups,
            phase.instances,
            phase.solved,
            phase.linked_so_far,
            phase.exposed,
            sum(each.groups for each in phase.apart),
        )
        table.add_row(Text(printable(phase.name)), *(f"{count:,}" for count in counts))
    return table


def _exposure(run: TotalsRun) -> Table:
    table = plain_table("")
    table.title = None
    table.add_column("she has", overflow="fold")
    for title in ("mean chance", "factor", "value at risk", "certain"):
        table.add_column(title, justify="right", no_wrap=True)
    for step in run.result.exposure("bayes"):
        table.add_row(
            Text(printable(step.name)),
            f"{step.chance:.3g}",
            "–" if step.factor is None else f"× {step.factor:,.3g}",
            f"{step.value_at_risk:,.0f}",
            f"{step.certain:,}",
        )
    return table
