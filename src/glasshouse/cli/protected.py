"""A protected release on the terminal."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

from rich.console import Console

from glasshouse.cli.outcomes import say, show_treatment
from glasshouse.cli.tables import comparison_table, protection_table
from glasshouse.report.comparisons import comparison_sentences
from glasshouse.report.protections import protection_sentences
from glasshouse.report.words import counted
from glasshouse.runs.anonymising import RELEASE, AnonymiseRun
from glasshouse.runs.comparing import Comparison


def show_protected(run: AnonymiseRun, report: Path | None, *, as_json: bool) -> None:
    """Print what the protection buys and costs, and where the release is."""
    if as_json:
        print(json.dumps(run.to_dict(), indent=2))
        return
    console = Console()
    content = run.to_dict()
    say(console, f"{run.original.name}: {run.records:,} records, {run.protection.method}\n")
    show_treatment(console, run.steps)
    if content["heights"] is not None:
        heights = ", ".join(f"{name} {height}" for name, height in content["heights"].items())
        say(console, f"Heights: {heights}\n")
    console.print(protection_table(run.before, run.after))
    console.print()
    for sentence in protection_sentences(run, subject=run.study.subject):
        say(console, f"• {sentence}")
    for note in _notes(run):
        say(console, f"note: {note}")
    if report is not None:
        say(console, f"\nRelease: {report.parent / RELEASE}\nReport: {report}", soft_wrap=True)
    else:
        say(console, "\nNothing was written: say --out DIR to keep the release.")


def _notes(run: AnonymiseRun) -> Iterator[str]:
    """Yield what a publisher has to review."""
    suggested = [name for name, own in run.hierarchies.items() if own.suggested and own.height > 2]
    if suggested:
        yield (
            f"suggested hierarchies: {', '.join(suggested)}; review them, or give your own with --hierarchy"
        )
    plain = [name for name, own in run.hierarchies.items() if own.suggested and own.height <= 2]
    if plain:
        yield (
            f"told or not at all, being no numbers, dates or codes: {', '.join(plain)}; --hierarchy says better"
        )
    if run.left_out:
        yield f"columns not released: {', '.join(run.left_out)}; --keep COLUMN releases one as it is"
    if run.protection.keep:
        yield f"released as they are, and in no figure: {', '.join(run.protection.keep)}"
    smallest = run.attained.k
    if 0 < run.suppressed < smallest:
        yield (
            f"only {counted(run.suppressed, 'record')} {'is' if run.suppressed == 1 else 'are'} suppressed: whoever "
            "knows that a person took part and finds no class for them knows that it is one of these"
        )


def show_comparison(comparison: Comparison, report: Path | None) -> None:
    """Print releases side by side."""
    console = Console()
    console.print(comparison_table(comparison.rows))
    console.print()
    for sentence in comparison_sentences(comparison):
        say(console, f"• {sentence}")
    if report is not None:
        say(console, f"\nReport: {report}", soft_wrap=True)
