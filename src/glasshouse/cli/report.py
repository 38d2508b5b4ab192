"""``glasshouse report``: the report of a run again, in another language, on paper, or as a form to file."""

from __future__ import annotations

import json
from enum import StrEnum
from pathlib import Path

import typer

from glasshouse.cli import options
from glasshouse.cli.command import was_typed
from glasshouse.errors import StudyError
from glasshouse.language import language_called, text


class Law(StrEnum):
    """Whose form it is."""

    DPIA = "dpia"
    RIPD = "ripd"


def report(
    context: typer.Context,
    folders: list[Path] = options.argument(
        "RUN",
        "The folder of a run, as --out of any command made it. For --form several: the state before first, the release "
        "to decide on last.",
        default=...,
    ),
    form: Law | None = options.option(
        "--form",
        says="Write the form that an officer files, as DOCX and PDF (extra forms): an impact assessment by the GDPR "
        "(dpia) or the LGPD (ripd).",
    ),
    out: Path | None = options.option(
        "--out",
        "DIR",
        "Where the form is written. \\[default: the folder of the last run]",
        callback=options.at_home,
    ),
    overwrite: bool = options.option(
        "--overwrite", says="Replace a form that is there.", default=False
    ),
    pdf: bool = options.option("--pdf", says="Also write report.pdf (extra pdf).", default=False),
    as_json: options.Json = False,
) -> None:
    """The report of a run again, in another language, on paper or as a form to file, without the data.

    Writes report.html in the language of --lang, in the place of the one that is there; without --lang, in the
    language of the run.

    Example: glasshouse report run --lang pt-BR --pdf

    A form: glasshouse report original release --form ripd --lang pt-BR
    """
    from glasshouse.report.archive import to_dict
    from glasshouse.runs.folder import stored_report, write_again, write_form

    _refuse_other_cells(context)
    named: str | None = context.obj
    chosen = None if named is None else language_called(named)
    if form is None:
        if len(folders) > 1 or out is not None or overwrite:
            raise StudyError(
                "several runs, --out and --overwrite are for a form; say --form dpia or --form ripd"
            )
        stored = stored_report(folders[0])
        language = chosen or stored.language
        paths = write_again(stored, language, pdf=pdf)
    elif pdf or as_json:
        raise StudyError("--form writes DOCX and PDF; leave out --pdf and --json with it")
    else:
        paths = write_form(form.value, folders, out or folders[-1], chosen, overwrite=overwrite)
    if as_json:
        print(json.dumps(to_dict(stored.page(language)), indent=2))
        return
    from rich.console import Console

    from glasshouse.report.terminal import say

    for path in paths:
        words = (
            text("Report: {path}", path=path) if form is None else text("Form: {path}", path=path)
        )
        say(Console(), words, soft_wrap=True)


def _refuse_other_cells(context: typer.Context) -> None:
    """Make sure that nobody asks of a report what its run has decided."""
    if any(was_typed(scope, "smallest_cell") for scope in (context, context.find_root())):
        raise StudyError(
            "a report shows what its run allowed; run the study again with --smallest-cell"
        )
