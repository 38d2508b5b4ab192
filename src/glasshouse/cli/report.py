"""``glasshouse report``: the report of a run again, in another language or on paper."""

from __future__ import annotations

import json
from pathlib import Path

import typer

from glasshouse.cli import options
from glasshouse.cli.command import was_typed
from glasshouse.errors import StudyError
from glasshouse.language import language_called, text


def report(
    context: typer.Context,
    folder: Path = options.argument(
        "RUN", "The folder of a run, as --out of any command made it.", default=...
    ),
    pdf: bool = options.option("--pdf", says="Also write report.pdf (extra pdf).", default=False),
    as_json: options.Json = False,
) -> None:
    """The report of a run again, in another language or on paper, without the data.

    Writes report.html in the language of --lang, in the place of the one that is there; without --lang, in the
    language of the run.

    Example: glasshouse report run --lang pt-BR --pdf
    """
    from glasshouse.report.archive import to_dict
    from glasshouse.runs.folder import stored_report, write_again

    _refuse_other_cells(context)
    stored = stored_report(folder)
    named: str | None = context.obj
    language = stored.language if named is None else language_called(named)
    paths = write_again(stored, language, pdf=pdf)
    if as_json:
        print(json.dumps(to_dict(stored.page(language)), indent=2))
        return
    from rich.console import Console

    from glasshouse.report.terminal import say

    for path in paths:
        say(Console(), text("Report: {path}", path=path), soft_wrap=True)


def _refuse_other_cells(context: typer.Context) -> None:
    """Make sure that nobody asks of a report what its run has decided."""
    if any(was_typed(scope, "smallest_cell") for scope in (context, context.find_root())):
        raise StudyError(
            "a report shows what its run allowed; run the study again with --smallest-cell"
        )
