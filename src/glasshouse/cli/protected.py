"""Protected releases, and runs side by side, on the terminal."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

from rich.console import Console

from glasshouse.cli.outcomes import say, show_treatment
from glasshouse.cli.tables import comparison_table, protection_table
from glasshouse.language import text, text_for
from glasshouse.mitigation import Anonymisation, Comparison
from glasshouse.report.mitigation.comparisons import comparison_findings
from glasshouse.report.mitigation.findings import protection_findings
from glasshouse.runs.anonymising import RELEASE, AnonymiseRun


def show_protected(run: AnonymiseRun, report: Path | None, *, as_json: bool) -> None:
    """Print what the protection buys and costs, and where the release is."""
    if as_json:
        print(json.dumps(run.to_dict(), indent=2))
        return
    console = Console()
    outcome = run.outcome
    said = text_for(
        outcome.records,
        "{dataset}: {count} record, {method}",
        "{dataset}: {count} records, {method}",
        dataset=outcome.dataset,
        method=outcome.method,
    )
    say(console, f"{said}\n")
    show_treatment(console, outcome.steps)
    if outcome.heights is not None:
        heights = ", ".join(f"{name} {height}" for name, height in outcome.heights.items())
        say(console, text("Heights: {heights}", heights=heights) + "\n")
    console.print(protection_table(outcome.before, outcome.after))
    console.print()
    for finding in protection_findings(outcome, subject=run.study.subject):
        say(console, f"• {finding.sentence}")
    for note in _notes(outcome):
        say(console, text("note: {note}", note=note))
    if report is not None:
        release = text("Release: {path}", path=report.parent / RELEASE)
        say(console, f"\n{release}", soft_wrap=True)
        say(console, text("Report: {path}", path=report), soft_wrap=True)
    else:
        say(console, "\n" + text("Nothing was written: say --out DIR to keep the release."))


def _notes(outcome: Anonymisation) -> Iterator[str]:
    """Yield what a publisher has to review."""
    heights = {used.column: used.height for used in outcome.hierarchies if used.suggested}
    suggested = [name for name, height in heights.items() if height > 2]
    if suggested:
        yield text(
            "suggested hierarchies: {columns}; review them, or give your own with --hierarchy",
            columns=", ".join(suggested),
        )
    plain = [name for name, height in heights.items() if height <= 2]
    if plain:
        yield text(
            "told or not at all, being no numbers, dates or codes: {columns}; --hierarchy says better",
            columns=", ".join(plain),
        )
    if outcome.left_out:
        yield text(
            "columns not released: {columns}; --keep COLUMN releases one as it is",
            columns=", ".join(outcome.left_out),
        )
    if keep := outcome.parameters.get("keep"):
        yield text(
            "released as they are, and in no figure: {columns}",
            columns=", ".join(keep),
        )


def show_comparison(comparison: Comparison, report: Path | None) -> None:
    """Print releases side by side."""
    console = Console()
    console.print(comparison_table(comparison.rows))
    console.print()
    for finding in comparison_findings(comparison):
        say(console, f"• {finding.sentence}")
    if report is not None:
        say(console, "\n" + text("Report: {path}", path=report), soft_wrap=True)
