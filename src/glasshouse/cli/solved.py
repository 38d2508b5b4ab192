"""One group of records and totals on the terminal: where each record can be, and what is proved of it."""

from __future__ import annotations

from rich.console import Console
from rich.table import Table
from rich.text import Text

from glasshouse.cli.outcomes import say
from glasshouse.cli.tables import plain_table
from glasshouse.errors import printable
from glasshouse.language import text, text_for
from glasshouse.report.totals.solutions import solution_sentences
from glasshouse.report.words import percentage
from glasshouse.totals import Solution

MOST_PACKAGES = 30
MOST_BINS = 6


def show_solution(found: Solution) -> None:
    """Print where each record of a group can be, and what is proved of it."""
    console = Console()
    if found.status != "infeasible":
        console.print(_places(found))
        rest = len(found.feasible_bins) - MOST_PACKAGES
        if rest > 0:
            say(
                console,
                text_for(
                    rest,
                    "… and {count} further record (--json tells all)",
                    "… and {count} further records (--json tells all)",
                ),
            )
        console.print()
    for sentence in solution_sentences(found):
        say(console, f"• {sentence}")


def _places(found: Solution) -> Table:
    table = plain_table("")
    table.title = None
    table.add_column(text("record"), overflow="fold")
    heading = text("can be in") if found.proved else text("not ruled out")
    table.add_column(heading, overflow="fold")
    shown = list(zip(found.instance.package_names, found.feasible_bins, strict=True))
    for place, (name, bins) in enumerate(shown[:MOST_PACKAGES]):
        table.add_row(Text(printable(name)), Text(printable(_said(found, place, bins))))
    return table


def _said(found: Solution, package: int, bins: tuple[int, ...]) -> str:
    names = found.instance.bin_names
    shares = None if found.shares is None else found.shares[package]
    told = [
        names[bin_]
        if shares is None or len(bins) == 1
        else f"{names[bin_]} ({percentage(shares[bin_])})"
        for bin_ in bins[:MOST_BINS]
    ]
    if len(bins) > MOST_BINS:
        return text("{places} and {more} more", places=", ".join(told), more=len(bins) - MOST_BINS)
    return ", ".join(told)
