"""``glasshouse threat``: what an anonymised table tells about a person, beyond the population."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated, Any

import typer

from glasshouse.cli import asking, options
from glasshouse.cli.progress import progress
from glasshouse.errors import StudyError, printable
from glasshouse.language import text

HOW_TO_RUN = {"out", "overwrite", "as_json", "resume", "per_record", "threads"}
RELEASE, PRIOR, SAMPLING = "The release", "The prior", "Sampling"


def threat(
    context: typer.Context,
    release: Annotated[
        Path | None,
        typer.Argument(
            metavar="RELEASE",
            help="A folder that anonymise wrote; a file with generalised values or groups; or a small example as JSON.",
        ),
    ] = None,
    in_order: Annotated[
        bool,
        typer.Option(
            "--in-order",
            help="The records of the original are in the order of the release: each is checked against its own row.",
            rich_help_panel=RELEASE,
        ),
    ] = False,
    original: Annotated[
        Path | None,
        typer.Option(
            "--original",
            metavar="FILE",
            help="The data behind the release: how often she is right. Of a folder it is known.",
            rich_help_panel=RELEASE,
        ),
    ] = None,
    quasi_identifiers: options.QuasiIdentifiers = None,
    sensitive: options.Sensitive = None,
    group: Annotated[
        str | None,
        typer.Option(
            "--group",
            metavar="COL",
            help="The column of group names: within a group, values and sensitive values are permuted.",
            rich_help_panel=RELEASE,
        ),
    ] = None,
    sensitive_table: Annotated[
        Path | None,
        typer.Option(
            "--sensitive-table",
            metavar="FILE",
            help="Anatomy's second table: the sensitive values of each group.",
            rich_help_panel=RELEASE,
        ),
    ] = None,
    generalised: Annotated[
        bool,
        typer.Option(
            "--generalised",
            help="The groups of --group hold generalised values instead of permuted ones.",
            rich_help_panel=RELEASE,
        ),
    ] = False,
    hierarchies: Annotated[
        list[str] | None,
        typer.Option(
            "--hierarchy",
            metavar="COL=FILE",
            help="What the labels of a column stand for, a row per value. Repeatable.",
            rich_help_panel=RELEASE,
        ),
    ] = None,
    domain: Annotated[
        str | None,
        typer.Option(
            "--domain",
            metavar="observed|released",
            help="Which values people can have: those of the original, or of hierarchies and release; --values "
            "gives others. "
            r"\[default: observed, where there is an original]",
            rich_help_panel=RELEASE,
        ),
    ] = None,
    values: Annotated[
        list[str] | None,
        typer.Option(
            "--values",
            metavar="COL=LOW..HIGH|FILE",
            help="The values that people can have in a column: whole numbers, or a file with a value per line. "
            "Repeatable; the other columns are as --domain says.",
            rich_help_panel=RELEASE,
        ),
    ] = None,
    known: Annotated[
        list[str] | None,
        typer.Option(
            "--know",
            metavar="COL=VALUE",
            help="What is known of one victim: COL=A, COL=A,B (one of them), COL=LOW..HIGH. Repeatable.",
            rich_help_panel=options.ADVERSARY,
        ),
    ] = None,
    exceeds: Annotated[
        float | None,
        typer.Option(
            "--exceeds",
            metavar="X",
            help=r"Tell the share of records of whose truth she is more than X times as sure. \[default: 2]",
        ),
    ] = None,
    alpha: Annotated[
        float | None,
        typer.Option(
            "--alpha",
            metavar="X",
            help=r"The Dirichlet parameter of sensitive values. \[default: 1]",
            rich_help_panel=PRIOR,
        ),
    ] = None,
    beta: Annotated[
        list[str] | None,
        typer.Option(
            "--beta",
            metavar="X|COL=X",
            help="The Dirichlet parameter of the values of all attributes, or of one. "
            r"Repeatable. \[default: 1]",
            rich_help_panel=PRIOR,
        ),
    ] = None,
    reading: Annotated[
        str,
        typer.Option(
            "--learner",
            metavar="5|6",
            help="The learner as the ratio of expectations (5), or as the expectation of the ratio (6).",
            rich_help_panel=PRIOR,
        ),
    ] = "5",
    precision: Annotated[
        float | None,
        typer.Option(
            "--precision",
            metavar="X",
            help="Sample until the Monte-Carlo error of every share, and of every belief about a victim, is at most "
            r"this. \[default: 0.002]",
            rich_help_panel=SAMPLING,
        ),
    ] = None,
    sweeps: Annotated[
        int | None,
        typer.Option(
            "--sweeps",
            metavar="N",
            help=r"Stop after so many sweeps at the latest. \[default: 20000]",
            rich_help_panel=SAMPLING,
        ),
    ] = None,
    seconds: Annotated[
        float | None,
        typer.Option(
            "--time-limit",
            metavar="SECONDS",
            help="Stop after so long at the latest.",
            rich_help_panel=SAMPLING,
        ),
    ] = None,
    chains: Annotated[
        int | None,
        typer.Option(
            "--chains",
            metavar="N",
            help=r"How many chains run, to be compared. \[default: 4]",
            rich_help_panel=SAMPLING,
        ),
    ] = None,
    burn_in: Annotated[
        int | None,
        typer.Option(
            "--burn-in",
            metavar="N",
            help=r"How many sweeps each makes before anything is recorded. \[default: 400]",
            rich_help_panel=SAMPLING,
        ),
    ] = None,
    resume: Annotated[
        bool,
        typer.Option(
            "--resume", help="Go on where an interrupted run with the same --out stopped."
        ),
    ] = False,
    threads: options.Threads = None,
    per_record: options.PerRecord = None,
    seed: Annotated[
        int,
        typer.Option(
            "--seed",
            min=0,
            metavar="N",
            help="What all random numbers follow from: of the chains, of the points of the population, and of the "
            "choice of one record of a person who has several. Of a folder, of the first two.",
        ),
    ] = 0,
    subject: options.Subject = None,
    study_file: options.StudyFile = None,
    out: options.Out = None,
    overwrite: options.Overwrite = False,
    as_json: options.Json = False,
    separator: options.Separator = None,
    quote: options.Quote = None,
    encoding: options.Encoding = None,
    no_header: options.NoHeader = False,
    names: options.Names = None,
    strip: options.Strip = False,
    types: options.Types = None,
) -> None:
    """What an anonymised table tells about a person, beyond what anyone may learn about the population.

    Example: glasshouse threat protected, where protected is a folder that glasshouse anonymise wrote

    One victim: glasshouse threat groups.csv -q age -q sex -s illness --group g --know age=41 --know sex=F
    """
    from glasshouse.cli.threatened import show_threat
    from glasshouse.runs import Checkpoint, Means, check_place, write_run
    from glasshouse.runs.threatening import checkpoint_key, run_threat, study_of_folder
    from glasshouse.sources import existing_file
    from glasshouse.study import paths_of, validated
    from glasshouse.study.files import load_question
    from glasshouse.study.threats import ThreatStudy

    if study_file is not None:
        asking.refuse_beside_study(context, allowed=HOW_TO_RUN)
        study = load_question(study_file, ThreatStudy)
    else:
        if release is None:
            raise StudyError(text("name the release, or a study with --study"))
        dialect = options.dialect_content(separator, quote, encoding, no_header, names, strip)

        def dataset(path: Path | None) -> dict[str, Any] | None:
            return None if path is None else asking.dataset_content(path, dialect, types)

        overall, betas = _betas(beta)
        files = options.assignments(
            hierarchies, option="--hierarchy", form="COLUMN=FILE", first=True
        )
        content: dict[str, Any] = {
            "release": dataset(release),
            "original": dataset(original),
            "sensitive_table": dataset(sensitive_table),
            "quasi_identifiers": quasi_identifiers or [],
            "sensitive": sensitive or [],
            "group": group,
            "generalised": generalised,
            "in_order": in_order,
            "hierarchies": {column: Path(path) for column, path in files.items()},
            "seed": seed,
            "subject": "person" if subject is None else subject,
        }
        of_chains = None
        if release.is_dir():
            _refuse_beside_folder(context)
            content = study_of_folder(release)
            content |= {} if subject is None else {"subject": subject}
            of_chains = seed if asking.was_typed(context, "seed") else None
        domains, domain_files = _domains(values)
        content |= {
            "domain": domain,
            "domains": domains,
            "domain_files": domain_files,
            **({} if exceeds is None else {"exceeds": exceeds}),
            "alpha": alpha,
            "beta": overall,
            "betas": betas,
            "known": known or [],
            "reading": reading,
            "sampling": {
                "precision": precision,
                "sweeps": sweeps,
                "seconds": seconds,
                "chains": chains,
                "burn_in": burn_in,
                "seed": of_chains,
            },
        }
        study = validated(ThreatStudy, content, "threat")
    for path in paths_of(study):
        existing_file(path)
    if per_record is not None and study.known:
        raise StudyError(
            text("--per-record is about all records, and --know about one victim; leave out one")
        )
    if per_record is not None and study.original is None:
        raise StudyError(
            text("--per-record is about the records of the original; give --original FILE")
        )
    if per_record is not None:
        asking.check_records_file(per_record, paths_of(study), overwrite=overwrite)
    checkpoint = None
    if out is not None:
        check_place(out, overwrite=overwrite)
        checkpoint = Checkpoint.beside(out, key=checkpoint_key(study))
    elif resume:
        raise StudyError(text("--resume needs the --out of the run that was interrupted"))
    with asking.resumable(None if checkpoint is None else checkpoint.folder), progress() as watch:
        done = run_threat(
            study,
            means=Means(watch, threads=threads),
            checkpoint=checkpoint,
            resume=resume,
        )
    report = None if out is None else write_run(done, out, overwrite=overwrite)
    precise = done.sampled is None or done.sampled.stopped == "precision"
    if checkpoint is not None and precise:
        checkpoint.remove()
    elif checkpoint is not None:
        print(
            text(
                "note: the precision was not reached; the same command with --resume --overwrite and more --sweeps "
                "goes on from here"
            ),
            file=sys.stderr,
        )
    if per_record is not None and done.measures is not None:
        asking.write_records(done.measures.records_frame(), per_record)
    show_threat(done, report, as_json=as_json)


def _refuse_beside_folder(context: typer.Context) -> None:
    """Make sure that nothing is asked that the folder of a release says."""
    said = {
        *("original", "quasi_identifiers", "sensitive", "group", "sensitive_table", "generalised"),
        *("hierarchies", "separator", "quote", "encoding", "no_header", "names", "strip"),
        "types",
    }
    for name, option in asking.given_options(context):
        if name in said:
            raise StudyError(
                text("what the release is stands in its folder; leave out {option}", option=option)
            )


def _domains(texts: list[str] | None) -> tuple[dict[str, str], dict[str, Path]]:
    """Return the domains that are given as whole numbers, and those that are files."""
    from glasshouse.study.threats import whole_numbers

    given = options.assignments(
        texts, option="--values", form=text("COLUMN=LOW..HIGH or COLUMN=FILE"), first=True
    )
    ranges = {column: said for column, said in given.items() if whole_numbers(said) is not None}
    files = {column: Path(said) for column, said in given.items() if column not in ranges}
    return ranges, files


def _betas(texts: list[str] | None) -> tuple[float | None, dict[str, float]]:
    """Return the parameter of all attributes, and those of single ones."""
    overall: float | None = None
    betas: dict[str, float] = {}
    for given in texts or []:
        column, equals, number = given.rpartition("=")
        try:
            if equals:
                betas[column] = float(number)
            else:
                overall = float(number)
        except ValueError:
            raise StudyError(
                text('--beta "{given}" is no number, nor COLUMN=NUMBER', given=printable(given))
            ) from None
    return overall, betas
