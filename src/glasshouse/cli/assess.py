"""``glasshouse assess``: collective attacks on a release of records."""

from __future__ import annotations

import json
import sys
from decimal import Decimal
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from glasshouse.cli import options
from glasshouse.cli.progress import progress
from glasshouse.errors import DataError, StoppedError, StudyError, printable

if TYPE_CHECKING:
    from glasshouse.runs import Run
    from glasshouse.study import Study

ADVERSARY = "The adversary"


def assess(
    file: Annotated[
        Path | None, typer.Argument(metavar="FILE", help="The release: CSV, Parquet or Arrow.")
    ] = None,
    quasi_identifiers: Annotated[
        list[str] | None,
        typer.Option(
            "-q",
            "--quasi-identifier",
            metavar="COL",
            help="A column that she can know of a person. Repeatable.",
            rich_help_panel=ADVERSARY,
        ),
    ] = None,
    sensitive: Annotated[
        list[str] | None,
        typer.Option(
            "-s",
            "--sensitive",
            metavar="COL[,COL]",
            help="A column that she wants to infer, or several together. Repeatable.",
            rich_help_panel=ADVERSARY,
        ),
    ] = None,
    identifier: Annotated[
        str | None,
        typer.Option(
            "--id", metavar="COL", help="The column that names a person.", rich_help_panel=ADVERSARY
        ),
    ] = None,
    subsets: Annotated[
        list[str] | None,
        typer.Option(
            "--subsets",
            metavar="all|full|max:K|COL,COL…",
            help="Which of the quasi-identifiers she knows: every subset, the whole set, every subset of at most K, or "
            "these. Repeatable. \\[default: all, up to 13 of them]",
            rich_help_panel=ADVERSARY,
        ),
    ] = None,
    tries: Annotated[
        int | None,
        typer.Option(
            "--tries", metavar="K", help="She may guess K times.", rich_help_panel=ADVERSARY
        ),
    ] = None,
    worth: Annotated[
        list[str] | None,
        typer.Option(
            "--worth",
            metavar="COL:VALUE=N,…",
            help='What naming each value right is worth to her, "*" for all others. Repeatable.',
            rich_help_panel=ADVERSARY,
        ),
    ] = None,
    weight: Annotated[
        str | None,
        typer.Option(
            "--weight",
            metavar="COL",
            help="Record weights that shape what she believes beforehand. \\[default: all alike]",
            rich_help_panel=ADVERSARY,
        ),
    ] = None,
    subject: Annotated[
        str | None,
        typer.Option(
            "--subject",
            metavar="NOUN",
            help="What a record stands for, in sentences. \\[default: person]",
        ),
    ] = None,
    study_file: Annotated[
        Path | None,
        typer.Option("--study", metavar="STUDY.TOML", help="Run this study instead of options."),
    ] = None,
    out: options.Out = None,
    overwrite: options.Overwrite = False,
    save_table: Annotated[
        Path | None,
        typer.Option(
            "--save-table",
            metavar="FILE.arrow",
            help="Also keep the encoded data (it is the data!), for later runs that skip parsing.",
        ),
    ] = None,
    per_record: Annotated[
        Path | None,
        typer.Option(
            "--per-record",
            metavar="FILE.parquet",
            help="Also write every record's own risk, in the order of the file. It is itself personal data.",
        ),
    ] = None,
    resume: Annotated[
        bool,
        typer.Option(
            "--resume", help="Go on where an interrupted run with the same --out stopped."
        ),
    ] = False,
    threads: Annotated[
        int | None,
        typer.Option(
            "--threads", metavar="N", min=1, help="Threads of a sweep. \\[default: all processors]"
        ),
    ] = None,
    memory: Annotated[
        str | None,
        typer.Option(
            "--memory",
            metavar="SIZE",
            help="What the process may use, such as 4G; a sweep then goes over the disk. \\[default: no limit]",
        ),
    ] = None,
    as_json: options.Json = False,
    separator: options.Separator = None,
    quote: options.Quote = None,
    encoding: options.Encoding = None,
    no_header: options.NoHeader = False,
    names: options.Names = None,
    strip: options.Strip = False,
    types: options.Types = None,
) -> None:
    """Who can be named, and what can be inferred about them, by someone who knows some attributes.

    Example: glasshouse assess adult.csv -q age -q sex -q race -s occupation --out run
    """
    from glasshouse.study import load_study, make_study, with_default_subsets

    if study_file is not None:
        given = (
            file,
            quasi_identifiers,
            sensitive,
            identifier,
            subsets,
            tries,
            worth,
            weight,
            subject,
        )
        reading = (separator, quote, encoding, no_header or None, names, strip or None, types)
        if any(option is not None for option in (*given, *reading)):
            raise StudyError(
                "--study says it all: leave out the file, the adversary's options and how the file is written down"
            )
        study = load_study(study_file)
    else:
        if file is None:
            raise StudyError("name the file to assess, or a study with --study")
        if not quasi_identifiers:
            raise StudyError(
                f"say what the adversary knows: -q COLUMN, once or more (glasshouse inspect {file} suggests)"
            )
        dialect = options.dialect_content(separator, quote, encoding, no_header, names, strip)
        kinds = options.assignments(types, option="--type", form="COLUMN=TYPE")
        content: dict[str, Any] = {
            "datasets": [{"path": file, "dialect": dialect, "types": kinds}],
            "adversary": {
                "quasi_identifiers": quasi_identifiers,
                "sensitive": [_one_or_several(text) for text in sensitive or []],
                "identifier": identifier,
                "weight": weight,
                "gain": {"tries": tries, "worth": _worth(worth)},
            },
            "subsets": [_subset(text) for text in subsets or ["full"]],
            "subject": "person" if subject is None else subject,
        }
        study = make_study(content, where="assess")
        study = study if subsets else with_default_subsets(study)
    carry_out(
        study,
        out=out,
        overwrite=overwrite,
        resume=resume,
        save_table=save_table,
        per_record=per_record,
        threads=threads,
        memory=options.size_in_bytes(memory),
        as_json=as_json,
    )


def carry_out(
    study: Study,
    *,
    out: Path | None,
    as_json: bool,
    overwrite: bool = False,
    resume: bool = False,
    save_table: Path | None = None,
    per_record: Path | None = None,
    threads: int | None = None,
    memory: int | None = None,
) -> None:
    """Run a study, store it where asked to, and print the outcome."""
    from glasshouse.runs import Checkpoint, check_place, run, run_key, write_run
    from glasshouse.sources import existing_file

    for dataset in study.datasets:
        existing_file(dataset.path)
    for path in (save_table, per_record):
        if path is not None:
            _check_new_file(path, study, overwrite)
    checkpoint = None
    if out is not None:
        check_place(out, overwrite=overwrite)
        if study.sweep:
            checkpoint = Checkpoint(out, key=run_key(study))
    elif resume:
        raise StudyError("--resume needs the --out of the run that was interrupted")
    try:
        with progress(sweeps=study.sweep is not None) as watch:
            done = run(
                study,
                watch=watch,
                save_table=save_table,
                per_record=per_record,
                checkpoint=checkpoint,
                resume=resume,
                threads=threads,
                memory=memory,
            )
    except KeyboardInterrupt:
        if checkpoint is not None and checkpoint.folder.exists():
            raise StoppedError(
                "stopped; the same command with --resume goes on from here"
            ) from None
        raise
    report = None if out is None else write_run(done, out, overwrite=overwrite)
    if checkpoint is not None:
        checkpoint.remove()
    if per_record is not None:
        from glasshouse.microdata.records import SENSITIVE_WARNING

        print(f"{printable(str(per_record))}: {SENSITIVE_WARNING}", file=sys.stderr)
    _note_telling_columns(done)
    if as_json:
        print(json.dumps(_document(done), indent=2))
    else:
        _show(done, report)


def _note_telling_columns(run: Run) -> None:
    """Say of single attributes that tell nobody apart, or everybody."""
    for attack in run.assessment.attacks:
        if attack.secret or len(attack.quasi_identifiers) > 1 or attack.records == 1:
            continue
        name = printable(attack.quasi_identifiers[0])
        if attack.classes == 1:
            print(f'note: column "{name}" holds one value only; it adds nothing', file=sys.stderr)
        elif attack.uniques == attack.records:
            print(
                f'note: every record has its own value of column "{name}": it identifies by itself',
                file=sys.stderr,
            )


def _check_new_file(path: Path, study: Study, overwrite: bool) -> None:
    """Make sure that a file written beside the run destroys nothing."""
    if any(path.exists() and path.samefile(dataset.path) for dataset in study.datasets):
        raise DataError(f'"{path}" is the data itself; choose another place')
    if path.exists() and not overwrite:
        raise DataError(f'"{path}" exists; choose another place, or say --overwrite')


def _one_or_several(text: str) -> str | list[str]:
    names = options.listed(text)
    return names[0] if len(names) == 1 else names


def _subset(text: str) -> str | list[str]:
    from glasshouse.study import SWEEP

    return text if text == "full" or SWEEP.fullmatch(text) else options.listed(text)


def _worth(texts: list[str] | None) -> dict[str, dict[str, float]]:
    form = "COLUMN:VALUE=NUMBER,VALUE=NUMBER"
    content: dict[str, dict[str, float]] = {}
    for text in texts or []:
        name, colon, pairs = text.partition(":")
        if not colon:
            raise StudyError(f'--worth "{text}" is not of the form {form}')
        worth = options.assignments(options.listed(pairs), option="--worth", form=form)
        for value, number in worth.items():
            try:
                exact = Decimal(number)
                content.setdefault(name, {})[value] = (
                    int(exact) if exact == int(exact) else float(exact)
                )
            except (ArithmeticError, ValueError):
                raise StudyError(f'--worth: "{number}" of {name}:{value} is not a number') from None
    return content


def _document(run: Run) -> dict[str, Any]:
    return {
        "records": run.assessment.records,
        "results": [attack.to_dict() for attack in run.assessment.attacks],
    }


def _show(run: Run, report: Path | None) -> None:
    from rich.console import Console

    from glasshouse.cli.tables import LEGEND, assessment_tables, influence_table
    from glasshouse.report import findings

    console = Console()
    datasets = ", ".join(run.assessment.attacks[0].datasets)
    console.print(
        f"{datasets}: {run.assessment.records:,} records\n", markup=False, highlight=False
    )
    for table in assessment_tables(run.assessment):
        console.print(table)
        console.print()
    if run.sweep is not None and run.study.subsets == ("all",):
        console.print(influence_table(run.sweep))
        console.print()
    if not any(attack.gain for attack in run.assessment.attacks):
        console.print(LEGEND, markup=False, highlight=False)
    console.print()
    for sentence in findings(run.assessment, subject=run.study.subject):
        console.print(f"• {printable(sentence)}", markup=False, highlight=False)
    if report is not None:
        console.print(f"\nReport: {report}", markup=False, highlight=False, soft_wrap=True)
