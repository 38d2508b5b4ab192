"""One group of records and totals on the terminal: where each record can be, and what is proved of it."""

from __future__ import annotations

from decimal import Decimal

from rich.console import Console
from rich.table import Table
from rich.text import Text

from glasshouse.cli.outcomes import say
from glasshouse.cli.tables import plain_table
from glasshouse.errors import printable
from glasshouse.language import localised, marked, number, text, text_for, translated
from glasshouse.report.words import percentage
from glasshouse.totals import Solution

MOST_PACKAGES = 30
MOST_BINS = 6
MOST_DIGITS = 15

UNMET = {
    "records added": marked(
        "No allocation meets the totals: they hold more than all records together. Some records are not published, or "
        "the totals are of other records."
    ),
    "records left out": marked(
        "No allocation meets the totals: the records add up to more than they do. The totals leave out some records, "
        'for which the instance needs a bin of its own ("NONE"), or are of other records.'
    ),
    "rounding": marked(
        "No allocation meets the totals, though the sums of all records do. The totals were rounded in another way "
        "than the instance says, or are of other records."
    ),
}
"""What it means that no allocation meets the totals, by what the sums say."""


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


def solution_sentences(found: Solution) -> list[str]:
    """Say what all valid allocations of a group have in common, and what of it is proved."""
    if found.reason is not None:
        return [translated(UNMET[found.reason])]
    if not found.proved:
        return _at_a_limit(found)
    if found.status == "unique":
        return [text("The place of every record is certain: only one allocation meets the totals.")]
    records = len(found.feasible_bins)
    certain = text(
        "The place of {linked} of {records} records is certain.",
        linked=found.linked,
        records=records,
    )
    if found.allocations is None:
        return [
            certain,
            text(
                "It is proved that each record can be in each place that is shown, and in no other. How many "
                "allocations meet the totals was not counted: they are too many for the limits."
            ),
        ]
    return [
        certain,
        text(
            "{allocations} allocations meet the totals; in brackets, the share of them that has the record in that "
            "place.",
            allocations=_number(found.allocations),
        ),
    ]


def _at_a_limit(found: Solution) -> list[str]:
    records, places, _ = found.instance.size
    shown = sum(len(bins) for bins in found.feasible_bins)
    said = [
        text("The limit was met before everything was decided."),
        text(
            "Proved: no record is in a place that is not shown for it ({ruled_out} of {pairs} pairs of a record and a "
            "place are ruled out).",
            ruled_out=records * places - shown,
            pairs=records * places,
        ),
        text("Not proved: that each record can be in each place that is shown for it."),
    ]
    if found.witness is None:
        said.append(text("Not proved either: that any allocation meets the totals."))
    else:
        single = sum(len(bins) == 1 for bins in found.feasible_bins)
        said.append(
            text(
                "Proved, too: some allocation meets the totals. The place of {single} of {records} records, those with "
                "one place left, is therefore certain.",
                single=single,
                records=records,
            )
        )
    return said


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


def _number(count: int) -> str:
    """Return a number in full, or roughly if it is very long (--json has all its digits)."""
    if count < 10**MOST_DIGITS:
        return number(count)
    return text("About {number}", number=localised(f"{Decimal(count):.2e}"))
