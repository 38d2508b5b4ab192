"""Outcomes on the terminal: as one JSON document, or as tables and sentences."""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.table import Table

from glasshouse.cli.people_tables import (
    member_table,
    membership_table,
    population_table,
    target_table,
)
from glasshouse.cli.tables import (
    LEGEND,
    assessment_tables,
    explanation_tables,
    family_table,
    influence_table,
    treatment_table,
)
from glasshouse.errors import printable
from glasshouse.language import text, text_for, translated
from glasshouse.microdata.membership import Member, Membership
from glasshouse.report import findings
from glasshouse.report.assess.families import family_findings
from glasshouse.report.membership.member import member_findings
from glasshouse.report.membership.page import membership_findings
from glasshouse.report.membership.population import population_findings
from glasshouse.report.target.page import target_findings
from glasshouse.report.words import counted
from glasshouse.runs import FamilyRun, MembershipRun, Run, TargetRun
from glasshouse.table import Step


def show(run: Run | FamilyRun, report: Path | None, *, as_json: bool) -> None:
    """Print what a run found, and where its report is."""
    if as_json:
        print(json.dumps(run.to_dict(), indent=2))
        _note_what_was_left_out(run.steps)
        return
    if isinstance(run, FamilyRun):
        _show_family(run)
    else:
        _show_assessment(run)
    _name_report(Console(), report)


def show_target(run: TargetRun, report: Path | None, *, as_json: bool) -> None:
    """Print what is learned of one person."""
    if as_json:
        print(json.dumps(run.to_dict(), indent=2))
        _note_what_was_left_out(run.steps)
        return
    console = Console()
    target = run.target
    fitting = text_for(
        target.candidates,
        "{datasets}: {records}, of which {count} fits what is known",
        "{datasets}: {records}, of which {count} fit what is known",
        datasets=", ".join(target.datasets),
        records=counted(target.records, "record"),
    )
    say(console, f"{fitting}\n")
    show_treatment(console, run.steps)
    for secret in target.secrets:
        _put(console, target_table(secret, currency=run.study.adversary.gain.currency))
    for finding in target_findings(target, subject=run.study.subject, exact=True):
        say(console, f"• {finding.sentence}")
    _name_report(console, report)


def show_membership(run: MembershipRun, report: Path | None, *, as_json: bool) -> None:
    """Print what is learned about who is in a release."""
    if as_json:
        print(json.dumps(run.to_dict(), indent=2))
        _note_what_was_left_out(run.steps)
        return
    console = Console()
    outcome, subject = run.outcome, run.study.subject
    show_treatment(console, run.steps)
    if isinstance(outcome, Membership):
        _put(console, membership_table(outcome))
        found = membership_findings(outcome, subject=subject)
    elif isinstance(outcome, Member):
        _put(console, member_table(outcome))
        found = member_findings(outcome, subject=subject, exact=True)
    else:
        _put(console, population_table(outcome))
        found = population_findings(outcome, subject=subject)
    console.print()
    for finding in found:
        say(console, f"• {finding.sentence}")
    _name_report(console, report)


def _name_report(console: Console, report: Path | None) -> None:
    if report is not None:
        console.print()
        say(console, text("Report: {path}", path=report), soft_wrap=True)


def say(console: Console, sentence: str, **how: Any) -> None:
    """Print a sentence as it stands: nothing in it is markup, and nothing in it is hidden."""
    lines = [printable(line) for line in sentence.split("\n")]
    console.print("\n".join(lines), markup=False, highlight=False, **how)


def show_treatment(console: Console, steps: Sequence[Step], notes: Sequence[str] = ()) -> None:
    """Print what was done to the data before it was attacked."""
    if steps:
        _put(console, treatment_table(steps))
    for note in notes:
        say(console, note)
    if notes:
        console.print()


def _show_assessment(run: Run) -> None:
    console = Console()
    said = text_for(
        run.records,
        "{datasets}: {count} record",
        "{datasets}: {count} records",
        datasets=", ".join(run.assessment.attacks[-1].datasets),
    )
    say(console, f"{said}\n")
    show_treatment(console, run.steps, run.notes())
    for explanation in run.explanations:
        for table in explanation_tables(explanation):
            _put(console, table)
    gain = run.study.adversary.gain
    for table in assessment_tables(run.assessment, currency=gain.currency):
        _put(console, table)
    if run.sweep is not None and run.study.subsets == ("all",):
        _put(console, influence_table(run.sweep))
    if not any(attack.gain for attack in run.assessment.attacks):
        say(console, translated(LEGEND))
    console.print()
    found = findings(
        run.assessment, subject=run.study.subject, currency=gain.currency, tries=gain.tries
    )
    for finding in found:
        say(console, f"• {finding.sentence}")


def _show_family(run: FamilyRun) -> None:
    console = Console()
    records = text_for(run.records, "{count} record", "{count} records")
    say(console, f"{counted(len(run.family.parts), run.part)}, {records}\n")
    show_treatment(console, run.steps)
    shown = run.shown
    for target in shown.targets if shown.parts else ():
        _put(console, family_table(shown, target, part=run.part, exact=run.exact))
    for finding in family_findings(run.family, run.study.subject, part=run.part, exact=run.exact):
        say(console, f"• {finding.sentence}")


def _put(console: Console, table: Table) -> None:
    """Print a table below its title, which may be wider than the table."""
    title, table.title = table.title, None
    if title is not None:
        console.print(title, style="bold")
    console.print(table)
    console.print()


def _note_what_was_left_out(steps: Sequence[Step]) -> None:
    for step in steps:
        if step.left_out:
            print(printable(_left_out(step)), file=sys.stderr)


def _left_out(step: Step) -> str:
    if step.column is None:
        return text(
            "note: {dataset}: {left_out} of {before} records left out: {what}",
            dataset=step.dataset,
            left_out=step.left_out,
            before=step.before,
            what=translated(step.what),
        )
    return text(
        'note: {dataset}: {left_out} of {before} records left out: {what} in column "{column}"',
        dataset=step.dataset,
        left_out=step.left_out,
        before=step.before,
        what=translated(step.what),
        column=step.column,
    )
