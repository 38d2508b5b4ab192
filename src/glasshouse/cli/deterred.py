"""The attacker's economics on the terminal."""

from __future__ import annotations

import json
from fractions import Fraction
from pathlib import Path

from rich.console import Console
from rich.table import Table

from glasshouse.cli.outcomes import say
from glasshouse.cli.tables import plain_table
from glasshouse.report.deterrence import (
    DETERRENTS,
    PUBLISHED,
    THRESHOLDS,
    amount,
    deterrence_sentences,
    now,
    shown_sizes,
)
from glasshouse.report.words import money, percentage
from glasshouse.runs.deterring import DeterRun


def show_deterred(run: DeterRun, report: Path | None, *, as_json: bool) -> None:
    """Print whom she attacks, how far she goes and what would stop her."""
    if as_json:
        print(json.dumps(run.to_dict(), indent=2))
        return
    console = Console()
    for table in (_thresholds(run), _sizes(run), _deterrents(run)):
        title, table.title = table.title, None
        console.print(title, style="bold")
        console.print(table)
        console.print()
    for sentence in deterrence_sentences(run):
        say(console, f"• {sentence}")
    if not run.prior_is_given:
        say(console, f"note: the prior is the publication's, {PUBLISHED}")
    if run.size.warning is not None:
        say(console, f"note: {run.size.warning}")
    if report is not None:
        say(console, f"\nReport: {report}", soft_wrap=True)


def _thresholds(run: DeterRun) -> Table:
    table = plain_table("From which size on she changes her mind, who knows the size")
    table.add_column("she")
    table.add_column("from", justify="right")
    found = run.policy.thresholds.to_dict()
    for name, said in THRESHOLDS.items():
        table.add_row(said, "not up to a million" if found[name] is None else f"{found[name]:,}")
    return table


def _sizes(run: DeterRun) -> Table:
    policy = run.policy
    table = plain_table("By size of the group of people alike")
    for title in ("size", "worth to her", "after access", "tried, undetected", "re-identified"):
        table.add_column(title, justify="right", no_wrap=True)
    for i in shown_sizes(policy):
        table.add_row(
            f"{policy.sizes[i]:,}",
            _money(float(policy.value[i]), run.currency),
            _money(float(policy.value_after_access[i]), run.currency),
            f"{policy.exploits[i]:,}",
            percentage(Fraction(float(policy.reidentification[i]))),
        )
    return table


def _deterrents(run: DeterRun) -> Table:
    aim = f"at most {run.study.target:g}" if run.study.target else "zero"
    table = plain_table(
        f"What brings the risk of a group of {run.study.protect:,} to {aim}, each by itself, if she knows the size"
    )
    table.add_column("raise")
    for title in ("now", "enough"):
        table.add_column(title, justify="right", no_wrap=True)
    for each in run.deterrents:
        table.add_row(
            DETERRENTS[each.parameter],
            now(run.policy.terms, each.parameter, run.currency),
            "nothing is"
            if each.lasting is None
            else amount(each.parameter, each.lasting, run.currency),
        )
    last = run.size.lasting
    table.add_row("the size of the group", "", "nothing is" if last is None else f"{last:,}")
    return table


def _money(value: float, currency: str | None) -> str:
    return f"{value:,.2f}" if currency is None else money(Fraction(value), currency)
