"""``glasshouse ledger``: what went out before; and ``check --ledger``: whether the next output may follow."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Sequence
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from glasshouse.cli import options
from glasshouse.cli.command import check_new_file, given_options, progress, warn
from glasshouse.cli.options import option
from glasshouse.errors import StudyError, UnjudgedError
from glasshouse.language import printable, text, text_for

if TYPE_CHECKING:
    from glasshouse.measures.verdict import Verdict
    from glasshouse.runs.ledger import Ledger, OutputCheck
    from glasshouse.study.policy import ReleasePolicy
    from glasshouse.tabulation import PublishedOutput, RecordChecks

app = typer.Typer(
    name="ledger",
    help="What went out before: an append-only folder of outputs, against which the next one is checked.",
    invoke_without_command=True,
    rich_markup_mode="rich",
)
_BESIDE = frozenset(
    """
    path ledger accept reasons records seen junit sarif as_json out overwrite policy
    cohort name who people suppressed totals rare time_limit
    """.split()
)
"""What may be said beside ``check --ledger``: the rest is about files of records."""
FOLDER = options.argument("DIR", "The folder of the ledger.", default=...)


@app.callback()
def _ledger(context: typer.Context) -> None:
    """Show what there is, if nothing is asked."""
    if context.invoked_subcommand is None:
        print(context.get_help())


def add(
    *,
    folder: Path = FOLDER,
    output: Path = options.argument(
        "OUTPUT",
        "A table, a plan of several (TOML or JSON), or a folder of ACRO.",
        default=...,
    ),
    published: options.PublishedOptions,
    as_json: options.Json = False,
) -> None:
    """Add an output that went out, with the verdict on it; the first one begins the ledger.

    Example: glasshouse ledger add released age_sex.csv --suppressed 1 9

    Of a part of the people: glasshouse ledger add released march.csv --cohort in_march
    """
    from glasshouse.runs.ledger import Ledger

    ledger = Ledger(folder)
    with progress() as on_progress:
        checked = ledger.add(
            _read(ledger, output, published),
            source=output,
            who=published.who,
            on_progress=on_progress,
            **published.limits(),
        )
    if as_json:
        print(json.dumps({**_about(output), **checked.to_dict(), "head": ledger.head}, indent=2))
        return
    _show(checked, None)
    print(
        text(
            "Added as number {number}. Digest: {head}", number=len(ledger.entries), head=ledger.head
        )
    )


def show_list(folder: Path = FOLDER, as_json: options.Json = False) -> None:
    """List what went out, in its order.

    Example: glasshouse ledger list released
    """
    from rich.console import Console

    from glasshouse.report.terminal import say

    ledger = _opened(folder)
    entries = [
        {
            "number": entry.content["number"],
            "name": entry.name,
            "date": entry.content["date"],
            "who": entry.content["who"],
            "verdict": entry.content["verdict"]["verdict"],
            "withdrawn": entry.name in ledger.withdrawn,
            "sha256": entry.digest,
        }
        for entry in ledger.entries
        if entry.is_output
    ]
    if as_json:
        print(json.dumps({"outputs": entries, "head": ledger.head}, indent=2))
        return
    console = Console()
    for entry in entries:
        state = text("withdrawn, and still counts") if entry["withdrawn"] else entry["verdict"]
        line = [f"{entry['number']:>4}", entry["date"][:10], entry["name"], entry["who"], state]
        say(console, "  ".join(filter(None, line)), soft_wrap=True)
    say(console, text_for(len(entries), "{count} output went out.", "{count} outputs went out."))


def show_entry(
    folder: Path = FOLDER,
    name: str = options.argument("NAME", "What the output is called.", default=...),
) -> None:
    """Show an output as it is in the ledger: its plan, its verdict, who asked and when, as JSON.

    Example: glasshouse ledger show released age_sex
    """
    entry = _opened(folder).entry(name)
    print(json.dumps({**entry.content, "sha256": entry.digest}, indent=2, ensure_ascii=False))


def withdraw(
    *,
    folder: Path = FOLDER,
    name: str = options.argument("NAME", "What the output is called.", default=...),
    why: str = option("--why", "TEXT", "Why it is withdrawn.", default=""),
    who: options.Who = None,
) -> None:
    """Note that an output was withdrawn. It still counts: a release cannot be undone.

    Example: glasshouse ledger withdraw released age_sex --why "a wrong year"
    """
    ledger = _opened(folder)
    ledger.withdraw(name, why=why, who=who)
    print(
        text(
            "“{name}” is noted as withdrawn. It still counts in every check: who has seen it keeps it.",
            name=printable(name),
        )
    )


def verify(
    *,
    folder: Path = FOLDER,
    head: str | None = option(
        "--head", "DIGEST", "The digest of an entry that you noted: nothing up to it may differ."
    ),
    as_json: options.Json = False,
) -> None:
    """Check that nothing in the ledger was altered, and every certificate in it again, in whole numbers.

    Example: glasshouse ledger verify released
    """
    from glasshouse.runs.ledger import Ledger

    checked = Ledger(folder).verify(head=head)
    if as_json:
        print(json.dumps(checked, indent=2))
        return
    print(
        text_for(
            checked["outputs"],
            "Nothing was altered: {count} output; of {claims} claims, {certified} have a certificate.",
            "Nothing was altered: {count} outputs; of {claims} claims, {certified} have a certificate.",
            claims=checked["claims"],
            certified=checked["certified"],
        )
    )
    print(text("Digest of the last entry, to be noted elsewhere: {head}", head=checked["head"]))


def _opened(folder: Path) -> Ledger:
    """Return a ledger that something is in."""
    from glasshouse.runs.ledger import Ledger, no_ledger

    ledger = Ledger(folder)
    if not ledger.entries:
        raise no_ledger(folder)
    return ledger


def _about(path: Path) -> dict[str, str]:
    return {"glasshouse": version("glasshouse"), "checked": path.name}


def _read(ledger: Ledger, path: Path, published: options.PublishedOptions) -> PublishedOutput:
    return ledger.read(
        path,
        name=published.name,
        cohort=published.cohort,
        tables=published.tables(),
        people=published.people,
    )


# -- check ------------------------------------------------------------------------------------------------------------


def check_output(
    context: typer.Context,
    path: Path,
    after: options.LedgerOptions,
    output: options.OutputOptions,
    *,
    files: Sequence[Path | None],
    write: Callable[[Verdict], None],
) -> bool:
    """Check an output against a ledger, say and write what follows, and tell whether it passes.

    Args:
        context: What was typed.
        path: The output.
        after: What it is to follow.
        output: Where the answer goes.
        files: The files that the verdict is written to.
        write: Writes it.
    """
    from glasshouse.atomic import new_file
    from glasshouse.runs.ledger import Ledger, no_ledger
    from glasshouse.study import load_policy
    from glasshouse.study.policy import ACRO, OUTPUTS

    for name, typed in given_options(context):
        if name not in _BESIDE:
            raise StudyError(
                "--ledger is about published outputs; leave out {option}", option=typed
            )
    for written in (*files, after.reasons):
        if written is not None:
            check_new_file(written, [path], overwrite=output.overwrite)
    ledger = Ledger(Path(str(after.ledger)))
    if not ledger.exists:
        raise no_ledger(ledger.folder)
    default = OUTPUTS if after.records is None else ACRO
    rule = default if output.policy is None else load_policy(output.policy)
    if not any(condition.measure == "newly-certain" for condition in rule.conditions):
        raise UnjudgedError(
            'the rule "{name}" does not say how many people may become certain; give one that does, such as outputs',
            name=rule.name,
        )
    published = _read(ledger, path, after)
    behind = None if after.records is None else _behind(published, after.records, rule)

    def is_passed(checked: OutputCheck) -> bool:
        return checked.passes(rule, behind)

    with progress() as on_progress:
        limits = {**after.limits(), "seen": tuple(after.seen or ()), "on_progress": on_progress}
        checked = (
            ledger.add(published, source=path, who=after.who, only_if=is_passed, **limits)
            if after.accept
            else ledger.check(published, **limits)
        )
    verdict, passes = checked.judged(rule, behind), is_passed(checked)
    write(verdict)
    if output.out is not None:
        _write_session(output.out, published, checked, overwrite=output.overwrite)
    if after.reasons is not None:
        with new_file(after.reasons, private=True) as draft:
            draft.write_text(checked.file_of_reasons(), encoding="utf-8")
        warn(
            text(
                "{path}: This file says what becomes certain: it is the disclosure itself, for the publisher alone.",
                path=after.reasons,
            )
        )
    if output.as_json:
        content = {
            **_about(path),
            **checked.to_dict(),
            "accepted": passes and after.accept,
            "head": ledger.head,
            **({} if behind is None else {"records": behind.to_dict()}),
            **verdict.to_dict(),
        }
        print(json.dumps(content, indent=2))
    else:
        _show(checked, verdict)
    return passes


def _behind(published: PublishedOutput, path: Path, rule: ReleasePolicy) -> RecordChecks:
    """Judge an output by the records behind it."""
    from glasshouse.errors import DataError
    from glasshouse.language import unknown_name
    from glasshouse.sources import open_source
    from glasshouse.tabulation.magnitudes import columns_of, record_checks

    source = open_source(path)
    columns = columns_of(published.plan, source.columns)
    for name in columns:
        if name not in source.columns:
            raise DataError(unknown_name("column", name, source.name, source.columns))
    records = [
        {name: value or "" for name, value in record.items()}
        for batch in source.batches(columns)
        for record in batch.to_pylist()
    ]
    return record_checks(published.plan, records, rule.magnitudes)


def _write_session(
    folder: Path, published: PublishedOutput, checked: OutputCheck, *, overwrite: bool
) -> None:
    """Write an output with its verdict as a folder that ACRO's viewer opens, whole or not at all."""
    from glasshouse.atomic import new_folder
    from glasshouse.runs.folder import now
    from glasshouse.sources.acro import RESULTS, acro_results, is_acro

    tables = [table for table in published.to_dict()["tables"] if "rows" in table]
    if not tables:
        raise StudyError(
            "--out writes tables with rows as a folder of ACRO, and the output has none"
        )
    files = acro_results(
        tables,
        status="pass" if checked.verdict == "publishable" else "fail",
        summary=f"Glasshouse: {checked.verdict}; because of {', '.join(checked.answer.because.tables) or '-'}",
        moment=now().isoformat(timespec="seconds"),
        version=version("glasshouse"),
    )
    with new_folder(folder, replaces=is_acro if overwrite else None) as draft:
        (draft / "checksums").mkdir()
        for name, content in files:
            (draft / name).write_text(content, encoding="utf-8", newline="")
    print(text("Folder for ACRO’s viewer: {path}", path=folder / RESULTS), file=sys.stderr)


def _show(checked: OutputCheck, verdict: Verdict | None) -> None:
    from glasshouse.report import ledger as words
    from glasshouse.report import terminal

    brief = words.brief(
        checked.answer,
        checked.advice,
        verdict,
        left_out=checked.unchecked,
        earlier_left_out=checked.earlier_left_out,
        margins_of_shown=checked.margins_of_shown,
    )
    terminal.show(brief)


app.command()(options.Expanded(add))
app.command("list")(options.Expanded(show_list))
app.command("show")(options.Expanded(show_entry))
app.command()(options.Expanded(withdraw))
app.command()(options.Expanded(verify))
