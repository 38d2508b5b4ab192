"""``glasshouse membership``: who is in a release, or in which of several."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from glasshouse.cli import asking, options
from glasshouse.cli.progress import progress
from glasshouse.errors import StudyError
from glasshouse.language import text

HOW_TO_RUN = {"out", "overwrite", "as_json"}


def membership(
    context: typer.Context,
    files: Annotated[
        list[Path] | None,
        typer.Argument(
            metavar="RELEASE",
            help="The release: CSV, Parquet or Arrow. Of several: in which of them somebody is.",
        ),
    ] = None,
    population: options.Population = None,
    fraction: options.Fraction = None,
    quasi_identifiers: options.QuasiIdentifiers = None,
    identifier: Annotated[
        str | None,
        typer.Option(
            "--id",
            metavar="COL",
            help="The column that names a person in several releases, so that they are linked; not in the register.",
            rich_help_panel=options.ADVERSARY,
        ),
    ] = None,
    known: Annotated[
        list[str] | None,
        typer.Option(
            "--know",
            metavar="COL=VALUE",
            help="What is known of one person: COL=A, COL=A,B (one of them), COL=LOW..HIGH. Repeatable.",
            rich_help_panel=options.ADVERSARY,
        ),
    ] = None,
    where: options.Where = None,
    invalid: options.Invalid = None,
    drop_missing: options.DropMissing = False,
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
    """Who is in a release: what someone with a register of the population can tell of its people.

    Example: glasshouse membership patients.csv --population town.csv -q birth_year -q sex -q district

    Without a register: glasshouse membership patients.csv --fraction 0.05 -q birth_year -q sex -q district
    """
    from glasshouse.cli.outcomes import show_membership
    from glasshouse.runs import Means, check_place, run_membership, write_run
    from glasshouse.sources import existing_file
    from glasshouse.study import make_study

    if study_file is not None:
        asking.refuse_beside_study(context, allowed=HOW_TO_RUN)
        study = asking.study_of(study_file, command="membership")
    else:
        if not files:
            raise StudyError(text("name the release, or a study with --study"))
        if not quasi_identifiers:
            raise StudyError(text("say what release and register share: -q COLUMN, once or more"))
        dialect = options.dialect_content(separator, quote, encoding, no_header, names, strip)
        content: dict[str, Any] = {
            "command": "membership",
            "datasets": [asking.dataset_content(file, dialect, types) for file in files],
            "adversary": asking.adversary_content(
                quasi_identifiers=quasi_identifiers, sensitive=None, identifier=identifier
            ),
            "treatment": asking.treatment_content(where, invalid, drop_missing),
            "known": known or [],
            "population": population and asking.dataset_content(population, dialect, types),
            "fraction": fraction,
            "subject": "person" if subject is None else subject,
        }
        study = make_study(content, where="membership")
    for dataset in (*study.datasets, *filter(None, [study.population])):
        existing_file(dataset.path)
    if out is not None:
        check_place(out, overwrite=overwrite)
    with progress() as watch:
        done = run_membership(study, means=Means(watch))
    report = None if out is None else write_run(done, out, overwrite=overwrite)
    show_membership(done, report, as_json=as_json)
