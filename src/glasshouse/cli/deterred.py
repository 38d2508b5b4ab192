"""The attacker's economics on the terminal."""

from __future__ import annotations

import json
from fractions import Fraction
from pathlib import Path

from rich.console import Console
from rich.table import Table

from glasshouse.cli.outcomes import say
from glasshouse.cli.tables import plain_table
from glasshouse.language import number, text, translated
from glasshouse.report.economics.findings import (
    DETERRENTS,
    THRESHOLDS,
    deterrence_findings,
    enough,
    now,
    published_prior,
    shown_sizes,
    threshold,
    value_of,
)
from glasshouse.report.words import percentage
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
    for finding in deterrence_findings(
        run.outcome, subject=run.study.subject, currency=run.currency
    ):
        say(console, f"• {finding.sentence}")
    if not run.prior_is_given:
        say(console, text("note: {note}", note=published_prior()))
    if report is not None:
        say(console, "\n" + text("Report: {path}", path=report), soft_wrap=True)


def _thresholds(run: DeterRun) -> Table:
    table = plain_table(text("From which size on she changes her mind, who knows the size"))
    table.add_column(text("what she does"))
    table.add_column(text("from"), justify="right")
    found = run.policy.thresholds.to_dict()
    for name, said in THRESHOLDS.items():
        table.add_row(translated(said), threshold(found[name]))
    return table


def _sizes(run: DeterRun) -> Table:
    policy = run.policy
    table = plain_table(text("By size of the group of people alike"))
    titles = (
        text("size"),
        text("worth to her"),
        text("after access"),
        text("tried, undetected"),
        text("re-identified"),
    )
    for title in titles:
        table.add_column(title, justify="right", no_wrap=True)
    for i in shown_sizes(policy):
        table.add_row(
            number(int(policy.sizes[i])),
            value_of(policy.value[i], run.currency),
            value_of(policy.value_after_access[i], run.currency),
            number(int(policy.exploits[i])),
            percentage(Fraction(float(policy.reidentification[i]))),
        )
    return table


def _deterrents(run: DeterRun) -> Table:
    table = plain_table(_aim(run))
    table.add_column(text("raise"))
    for title in (text("now"), text("enough")):
        table.add_column(title, justify="right", no_wrap=True)
    for each in run.deterrents:
        table.add_row(
            translated(DETERRENTS[each.parameter]),
            now(run.policy.terms, each.parameter, run.currency),
            enough(each.parameter, each.lasting, run.currency),
        )
    table.add_row(text("the size of the group"), "", threshold(run.size.lasting))
    return table


def _aim(run: DeterRun) -> str:
    """Say what the deterrents are to reach."""
    if run.study.target:
        return text(
            "What brings the risk of a group of {size} to at most {target}, each by itself, if she knows the size",
            size=run.study.protect,
            target=percentage(Fraction(run.study.target)),
        )
    return text(
        "What brings the risk of a group of {size} to zero, each by itself, if she knows the size",
        size=run.study.protect,
    )
