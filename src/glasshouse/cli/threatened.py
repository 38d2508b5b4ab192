"""What an anonymised table tells, on the terminal."""

from __future__ import annotations

import json
from pathlib import Path

from rich.console import Console
from rich.table import Table
from rich.text import Text

from glasshouse.cli.outcomes import say, show_treatment
from glasshouse.cli.tables import plain_table
from glasshouse.groups import Measures
from glasshouse.language import number, text, text_for
from glasshouse.report.threat.findings import threat_findings
from glasshouse.report.threat.words import (
    adversary_label,
    method_label,
    plus_minus,
    value_text,
)
from glasshouse.runs.threat import ThreatRun

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
        text(
            "{release}: {records} in {groups}, {method}",
            release=release.name,
            records=text_for(release.records, "{count} record", "{count} records"),
            groups=text_for(run.groups, "{count} group", "{count} groups"),
            method=method_label(run.knowledge.method),
        )
        + "\n",
    )
    show_treatment(console, run.steps)
    if run.study.known:
        console.print(_beliefs(run))
    elif run.measures is not None:
        console.print(_measures(run.measures))
    else:
        console.print(_averages(run))
    console.print()
    for finding in threat_findings(run, exact=True):
        say(console, f"• {finding.sentence}")
    for warning in () if run.sampled is None else run.sampled.warnings:
        say(console, text("note: {note}", note=warning))
    if report is not None:
        say(console, "\n" + text("Report: {path}", path=report), soft_wrap=True)


def _measures(measures: Measures) -> Table:
    table = plain_table("")
    table.title = None
    table.add_column(text("somebody who"), overflow="fold")
    for title in (text("guesses right"), text("ties at random"), text("absolute error")):
        table.add_column(title, justify="right", no_wrap=True)
    table.add_row(text("says the most frequent value"), _percent(float(measures.baseline)), "", "")
    for name, threat in measures.adversaries().items():
        table.add_row(
            adversary_label(name),
            _with_error(measures, _percent(float(threat.share)), f"gt_{name}", 100),
            _with_error(measures, _percent(threat.share_at_random), f"gt_{name}_random_ties", 100),
            _with_error(measures, number(threat.absolute_error, ",.1f"), f"abs_{name}", 1),
        )
    return table


def _averages(run: ThreatRun) -> Table:
    table = plain_table("")
    table.title = None
    table.add_column(text("somebody who"), overflow="fold")
    table.add_column(text("sure of the likeliest value, on average"), justify="right")
    for name in run.knowledge.beliefs():
        average, error = run.average(name)
        table.add_row(
            adversary_label(name),
            plus_minus(_percent(average), None if error is None else 100 * error),
        )
    return table


def _percent(share: float) -> str:
    return text("{figure} %", figure=number(100 * share, ".2f"))


def _with_error(measures: Measures, said: str, figure: str, scale: float) -> str:
    """Return a figure with its Monte-Carlo error, where it was sampled."""
    own = measures.figures.get(figure)
    return plus_minus(said, None if own is None else scale * own.error)


def _beliefs(run: ThreatRun) -> Table:
    told = run.knowledge.of(0)
    table = plain_table("")
    table.title = None
    table.add_column(text("value"), overflow="fold")
    exact = run.to_dict().get("exact", {})
    for name in told:
        table.add_column(adversary_label(name), justify="right")
    order = sorted(told["attacker"], key=lambda value: -told["attacker"][value])
    for value in order[:MOST_VALUES]:
        table.add_row(
            Text(value_text(value)),
            *(
                _percent(own[value]) + _ratio(exact.get(name, {}).get(value))
                for name, own in told.items()
            ),
        )
    return table


def _ratio(said: str | None) -> str:
    """Show an exact ratio where it is short."""
    return f" ({said})" if said is not None and "/" in said and len(said) <= 9 else ""
