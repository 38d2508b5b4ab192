"""What an anonymised table tells, on the terminal."""

from __future__ import annotations

import json
from pathlib import Path

from rich.console import Console
from rich.table import Table
from rich.text import Text

from glasshouse.cli.outcomes import say, show_treatment
from glasshouse.cli.tables import plain_table
from glasshouse.errors import printable
from glasshouse.groups import Measures
from glasshouse.report.threat_charts import ADVERSARIES
from glasshouse.report.threats import threat_sentences
from glasshouse.runs.threatening import ThreatRun

MOST_VALUES = 15
"""So many sensitive values are shown of a victim."""


def show_threat(run: ThreatRun, report: Path | None, *, as_json: bool) -> None:
    """Print what is learned, and where the report is."""
    if as_json:
        print(json.dumps(run.to_dict(), indent=2))
        return
    console = Console()
    release = run.release
    say(
        console,
        f"{release.name}: {release.records:,} records in {run.groups:,} groups, {run.knowledge.method}\n",
    )
    show_treatment(console, run.steps)
    if run.study.known:
        console.print(_beliefs(run))
    elif run.measures is not None:
        console.print(_measures(run.measures))
    console.print()
    for sentence in threat_sentences(run):
        say(console, f"• {sentence}")
    for warning in () if run.sampled is None else run.sampled.warnings:
        say(console, f"note: {warning}")
    if report is not None:
        say(console, f"\nReport: {report}", soft_wrap=True)


def _measures(measures: Measures) -> Table:
    table = plain_table("")
    table.title = None
    table.add_column("somebody who", overflow="fold")
    for title in ("guesses right", "ties at random", "absolute error"):
        table.add_column(title, justify="right", no_wrap=True)
    table.add_row("says the most frequent value", f"{100 * float(measures.baseline):.2f} %", "", "")
    for name, threat in measures.adversaries().items():
        table.add_row(
            ADVERSARIES[name],
            f"{100 * float(threat.share):.2f} %{_error(measures, f'gt_{name}', 100)}",
            f"{100 * threat.share_at_random:.2f} %{_error(measures, f'gt_{name}_random_ties', 100)}",
            f"{threat.absolute_error:,.1f}{_error(measures, f'abs_{name}', 1)}",
        )
    return table


def _error(measures: Measures, figure: str, scale: float) -> str:
    """Return the Monte-Carlo error of a figure, where it was sampled."""
    own = measures.figures.get(figure)
    return "" if own is None else f" ± {scale * own.error:.2g}"


def _beliefs(run: ThreatRun) -> Table:
    told = run.knowledge.of(0)
    table = plain_table("")
    table.title = None
    table.add_column("value", overflow="fold")
    exact = run.to_dict().get("exact", {})
    for name in told:
        table.add_column(ADVERSARIES.get(name, name), justify="right")
    order = sorted(told["attacker"], key=lambda value: -told["attacker"][value])
    for value in order[:MOST_VALUES]:
        table.add_row(
            Text(printable(value)),
            *(
                f"{100 * own[value]:.2f} %" + _ratio(exact.get(name, {}).get(value))
                for name, own in told.items()
            ),
        )
    return table


def _ratio(text: str | None) -> str:
    """Show an exact ratio where it is short."""
    return f" ({text})" if text is not None and "/" in text and len(text) <= 9 else ""
