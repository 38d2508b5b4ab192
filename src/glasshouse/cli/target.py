"""``glasshouse target``: the attack on one person."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from glasshouse.cli import asking, options
from glasshouse.cli.progress import progress
from glasshouse.errors import StudyError
from glasshouse.language import text

HOW_TO_RUN = {"out", "overwrite", "as_json"}


def target(
    context: typer.Context,
    files: Annotated[
        list[Path] | None,
        typer.Argument(
            metavar="FILE",
            help="The release: CSV, Parquet or Arrow. Several files are joined by --id; the first is focal.",
        ),
    ] = None,
    known: options.Known = None,
    quasi_identifiers: options.QuasiIdentifiers = None,
    sensitive: options.Sensitive = None,
    identifier: options.Identifier = None,
    weight: options.Weight = None,
    population: options.Population = None,
    fraction: options.Fraction = None,
    tries: options.Tries = None,
    worth: options.Worth = None,
    matrices: options.GainMatrices = None,
    abstain: options.Abstain = False,
    currency: options.Currency = None,
    where: options.Where = None,
    invalid: options.Invalid = None,
    drop_missing: options.DropMissing = False,
    seed: options.Seed = 0,
    focal: options.Focal = None,
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
    """What someone who knows a few facts about one person learns about that person.

    The person is known to be in the release; with --population or --fraction also: what if that is not known.

    Example: glasshouse target adult.csv --know age=41 --know sex=Female -s occupation
    """
    from glasshouse.cli.outcomes import show_target
    from glasshouse.runs import Means, check_place, focal_first, run_target, write_run
    from glasshouse.sources import existing_file
    from glasshouse.study import make_study, parse_condition

    if study_file is not None:
        asking.refuse_beside_study(context, allowed=HOW_TO_RUN)
        study = asking.study_of(study_file, command="target")
    else:
        if not files:
            raise StudyError(text("name the file that the person is in, or a study with --study"))
        columns = [parse_condition(each, option="--know").column for each in known or []]
        dialect = options.dialect_content(separator, quote, encoding, no_header, names, strip)
        content: dict[str, Any] = {
            "command": "target",
            "datasets": [asking.dataset_content(file, dialect, types) for file in files],
            "adversary": asking.adversary_content(
                quasi_identifiers=list(dict.fromkeys([*(quasi_identifiers or []), *columns])),
                sensitive=sensitive,
                identifier=identifier,
                weight=weight,
                tries=tries,
                worth=worth,
                matrices=matrices,
                abstain=abstain,
                currency=currency,
            ),
            "treatment": asking.treatment_content(where, invalid, drop_missing),
            "known": known or [],
            "seed": seed,
            "population": population and asking.dataset_content(population, dialect, types),
            "fraction": fraction,
            "subject": "person" if subject is None else subject,
        }
        if not columns:
            raise StudyError(
                text("say what is known of the person: --know COLUMN=VALUE, once or more")
            )
        study = make_study(content, where="target")
        study = study if focal is None else focal_first(study, focal)
    for dataset in (*study.datasets, *filter(None, [study.population])):
        existing_file(dataset.path)
    if out is not None:
        check_place(out, overwrite=overwrite)
    with progress() as watch:
        done = run_target(study, means=Means(watch))
    report = None if out is None else write_run(done, out, overwrite=overwrite)
    show_target(done, report, as_json=as_json)
