"""``glasshouse assess``: collective attacks on a release of records."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from glasshouse.cli import asking, options
from glasshouse.cli.progress import progress
from glasshouse.errors import StudyError, printable
from glasshouse.language import marked, text, translated

if TYPE_CHECKING:
    from glasshouse.runs import FamilyRun, Run
    from glasshouse.study import Study

HOW_TO_RUN = {
    "explain",
    "out",
    "overwrite",
    "save_table",
    "per_record",
    "resume",
    "threads",
    "memory",
    "as_json",
}
"""What may be said beside a study: nothing of it changes the figures."""
WHOLE_SET = marked(
    "note: only the whole set of quasi-identifiers was assessed, as there are gains, priors, weights, joint secrets or "
    "many of them; --subsets all assesses every set"
)


def assess(
    context: typer.Context,
    files: Annotated[
        list[Path] | None,
        typer.Argument(
            metavar="FILE",
            help="The release: CSV, Parquet or Arrow. Several files are a longitudinal collection; the first is focal.",
        ),
    ] = None,
    quasi_identifiers: options.QuasiIdentifiers = None,
    sensitive: options.Sensitive = None,
    facts: options.Facts = None,
    identifier: options.Identifier = None,
    subsets: Annotated[
        list[str] | None,
        typer.Option(
            "--subsets",
            metavar="all|full|max:K|COL,COL…",
            help="Which of the quasi-identifiers she knows: every subset, the whole set, every subset of at most K, or "
            "these. Repeatable. \\[default: all, up to 13 of them]",
            rich_help_panel=options.ADVERSARY,
        ),
    ] = None,
    links: Annotated[
        list[str] | None,
        typer.Option(
            "--link",
            metavar="COL[+N][=P]",
            help="Without --id: several files are linked by this column, which people keep with probability P and "
            "which grows by N from file to file. Repeatable.",
            rich_help_panel=options.ADVERSARY,
        ),
    ] = None,
    weight: options.Weight = None,
    priors: options.Priors = None,
    tries: options.Tries = None,
    worth: options.Worth = None,
    matrices: options.GainMatrices = None,
    abstain: options.Abstain = False,
    record_worth: options.RecordWorth = None,
    currency: options.Currency = None,
    where: options.Where = None,
    invalid: options.Invalid = None,
    drop_missing: options.DropMissing = False,
    drop_suppressed: options.DropSuppressed = False,
    seed: options.Seed = 0,
    focal: options.Focal = None,
    by: Annotated[
        str | None,
        typer.Option(
            "--by",
            metavar="COL",
            help="Assess the records of each value of this column on their own, and compare.",
            rich_help_panel=options.DATA,
        ),
    ] = None,
    each: Annotated[
        bool,
        typer.Option(
            "--each",
            help="Assess each file on its own, such as one per year, and compare.",
            rich_help_panel=options.DATA,
        ),
    ] = False,
    explain: Annotated[
        bool,
        typer.Option(
            "--explain",
            help="For small data: print every table from the records to the hyper, as fractions.",
        ),
    ] = False,
    subject: options.Subject = None,
    study_file: options.StudyFile = None,
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
    per_record: options.PerRecord = None,
    resume: Annotated[
        bool,
        typer.Option(
            "--resume", help="Go on where an interrupted run with the same --out stopped."
        ),
    ] = False,
    threads: options.Threads = None,
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

    Several years: glasshouse assess 2014.csv 2015.csv --id student -q school -q grade -s disability
    """
    from glasshouse.study import make_study, with_default_subsets

    if study_file is not None:
        asking.refuse_beside_study(context, allowed=HOW_TO_RUN)
        study = asking.study_of(study_file, command="assess")
    else:
        if not files:
            raise StudyError(text("name the file to assess, or a study with --study"))
        group = None
        if len(files) == 1 and files[0].is_dir():
            from glasshouse.runs import stored_release

            release = stored_release(files[0])
            if release.group is not None and (quasi_identifiers or facts):
                raise StudyError(
                    text(
                        "what {folder} tells by Anatomy goes by its quasi-identifiers and groups; leave out -q",
                        folder=files[0].name,
                    )
                )
            group = release.group
            files, drop_suppressed = [release.path], drop_suppressed or release.suppressed > 0
            if not quasi_identifiers and not facts:
                quasi_identifiers = list(release.quasi_identifiers)
                sensitive = sensitive or [f'"{name}"' for name in release.sensitive]
        if not quasi_identifiers and not facts:
            raise StudyError(
                text(
                    "say what the adversary knows: -q COLUMN, once or more (glasshouse inspect {file} suggests)",
                    file=files[0],
                )
            )
        dialect = options.dialect_content(separator, quote, encoding, no_header, names, strip)
        content: dict[str, Any] = {
            "datasets": [asking.dataset_content(file, dialect, types) for file in files],
            "adversary": asking.adversary_content(
                quasi_identifiers=quasi_identifiers or [],
                sensitive=sensitive,
                facts=facts,
                identifier=identifier,
                weight=weight,
                priors=priors,
                tries=tries,
                worth=worth,
                matrices=matrices,
                abstain=abstain,
                record_worth=record_worth,
                currency=currency,
            ),
            "treatment": asking.treatment_content(where, invalid, drop_missing, drop_suppressed),
            "links": _links(links or [], files[0], dialect),
            "seed": seed,
            "by": by,
            "each": each,
            "group": group,
            "subsets": [_subset(asked) for asked in subsets or ["full"]],
            "subject": "person" if subject is None else subject,
        }
        study = make_study(content, where="assess")
        if not subsets and group is None:
            study = with_default_subsets(study)
        if focal is not None:
            from glasshouse.runs import focal_first

            study = focal_first(study, focal)
    carry_out(
        study,
        out=out,
        overwrite=overwrite,
        resume=resume,
        save_table=save_table,
        per_record=per_record,
        explain=explain,
        subsets_chosen=bool(subsets or study_file or links),
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
    explain: bool = False,
    subsets_chosen: bool = True,
    threads: int | None = None,
    memory: int | None = None,
) -> None:
    """Run a study, store it where asked to, and print the outcome."""
    from glasshouse.cli.outcomes import show
    from glasshouse.runs import (
        Checkpoint,
        Means,
        Run,
        check_place,
        run,
        run_family,
        run_key,
        write_run,
    )
    from glasshouse.sources import existing_file

    for dataset in study.datasets:
        existing_file(dataset.path)
    data = [dataset.path for dataset in study.datasets]
    if save_table is not None:
        asking.check_new_file(save_table, data, overwrite=overwrite)
    if per_record is not None:
        asking.check_records_file(per_record, data, overwrite=overwrite)
    family = study.each or study.by is not None
    if family:
        _refuse_for_family(save_table, per_record, explain, resume)
    checkpoint = None
    if out is not None:
        check_place(out, overwrite=overwrite)
        if study.sweep and not family:
            checkpoint = Checkpoint.beside(out, key=run_key(study))
    elif resume:
        raise StudyError(text("--resume needs the --out of the run that was interrupted"))
    with (
        asking.resumable(None if checkpoint is None else checkpoint.folder),
        progress(sweeps=study.sweep is not None) as watch,
    ):
        means = Means(watch, checkpoint, resume, threads, memory)
        done: Run | FamilyRun = (
            run_family(study, means=means)
            if family
            else run(
                study,
                means=means,
                save_table=save_table,
                per_record=per_record,
                explain=explain,
            )
        )
    report = None if out is None else write_run(done, out, overwrite=overwrite)
    if checkpoint is not None:
        checkpoint.remove()
    if per_record is not None:
        asking.warn_of_people(per_record)
    if isinstance(done, Run):
        _note_telling_columns(done)
        whole = study.subsets == ("full",) and len(study.adversary.knowable) > 1
        if whole and not subsets_chosen and not as_json:
            print(translated(WHOLE_SET), file=sys.stderr)
    show(done, report, as_json=as_json)


def _refuse_for_family(
    save_table: Path | None, per_record: Path | None, explain: bool, resume: bool
) -> None:
    for option, given in (
        ("--save-table", save_table),
        ("--per-record", per_record),
        ("--explain", explain or None),
        ("--resume", resume or None),
    ):
        if given is not None:
            raise StudyError(
                text(
                    "{option} is for a release in one piece; leave out --by and --each",
                    option=option,
                )
            )


def _note_telling_columns(run: Run) -> None:
    """Say of single attributes that tell nobody apart, or everybody."""
    from glasshouse.report.microdata.attacks import last_window

    for attack in last_window(run.assessment.attacks):
        if attack.secret or len(attack.quasi_identifiers) > 1 or attack.records == 1:
            continue
        name = printable(attack.quasi_identifiers[0])
        if attack.classes == 1:
            print(
                text('note: column "{name}" holds one value only; it adds nothing', name=name),
                file=sys.stderr,
            )
        elif attack.uniques == attack.records:
            print(
                text(
                    'note: every record has its own value of column "{name}": it identifies by itself',
                    name=name,
                ),
                file=sys.stderr,
            )


def _links(links: list[str], file: Path, dialect: dict[str, Any]) -> list[dict[str, Any]]:
    """Return the linking keys; ``covid-19`` is a column where the file has one of that name."""
    from glasshouse.sources import existing_file
    from glasshouse.study import make_dataset, parse_link
    from glasshouse.table import available_columns

    if not links:
        return []
    dataset = make_dataset({"path": existing_file(file), "dialect": dialect}, where="assess")
    columns = available_columns(dataset.path, dialect=dataset.dialect)
    return [parse_link(link, columns) for link in links]


def _subset(asked: str) -> str | list[str]:
    from glasshouse.study import SWEEP

    return asked if asked == "full" or SWEEP.fullmatch(asked) else options.listed(asked)
