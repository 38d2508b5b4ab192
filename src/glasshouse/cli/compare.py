"""``glasshouse compare``: protected releases beside the original, and runs of the same command side by side."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import typer

from glasshouse.cli import options
from glasshouse.cli.anonymise import ProtectionOptions
from glasshouse.cli.command import carry_out, given_options
from glasshouse.cli.options import option
from glasshouse.errors import StudyError


@dataclass(frozen=True)
class ComparedOptions(ProtectionOptions):
    """The protections of several releases: one for every k, l and t."""

    k: str | None = options.protection("--k", "N,N…", "One release for each.")
    l: str | None = options.protection("--l", "N,N…", "The same.")  # noqa: E741 - the letter of l-diversity
    t: str | None = options.protection("--t", "X,X…", "The same.")


def compare(
    context: typer.Context,
    *,
    paths: list[Path] = options.argument(
        "RUN",
        "Folders of runs of the same command; or one file, protected in several ways.",
        default=...,
    ),
    adversary: options.KnowledgeOptions,
    protected: ComparedOptions,
    treated: options.RecordOptions,
    seed: options.Seed = 0,
    predict: str | None = option(
        "--predict",
        "COL",
        "Also tell how well a classifier that learned from each release predicts this column (extra learn).",
    ),
    fraction: options.Fraction = None,
    subject: options.Subject = "person",
    output: options.OutputOptions,
    reading: options.DataOptions,
) -> None:
    """Protected releases beside the original, or runs side by side: what got worse, what got better.

    Example: glasshouse compare adult.csv -q age -q sex -s occupation --k 2,5,10,20 --suppression 0.04

    Releases that exist (runs of anonymise): glasshouse compare protected5 protected20

    Runs of any other command, this year against last: glasshouse compare run2018 run2019 --out changes
    """
    from glasshouse.runs.folder import check_there
    from glasshouse.sources import existing_data
    from glasshouse.study import validated
    from glasshouse.study.compare import CompareStudy

    content: dict[str, Any] = {"subject": subject, "fraction": fraction, "predict": predict}
    for path in paths if len(paths) > 1 else ():
        check_there(path)
    if all(path.is_dir() for path in paths):
        _refuse_beside_folders(context, paths)
        content["runs"] = paths
    elif len(paths) > 1:
        raise StudyError("name one file to protect in several ways, or only folders of runs")
    else:
        existing_data(paths[0])
        if not adversary.quasi_identifiers:
            raise StudyError("say what an adversary can know: -q COLUMN, once or more")
        promises = [promise for promise in protected.promises() if promise]
        if not promises:
            raise StudyError(
                "say what to promise: --k, --l or --t, one number or several with commas"
            )
        study = {
            "datasets": [reading.dataset(paths[0])],
            "adversary": adversary.content(),
            "treatment": treated.content(),
            "seed": seed,
            "subject": subject,
        }
        content["protections"] = {
            ", ".join(f"{name} = {value:.15g}" for name, value in promise.items()): study
            | {"protection": protected.content(promise)}
            for promise in promises
        }
    carry_out(validated(CompareStudy, content, "compare"), output)


def _refuse_beside_folders(context: typer.Context, folders: list[Path]) -> None:
    """Make sure that nothing is asked that the folders say."""
    from glasshouse.runs.compare import command_of

    allowed = {"policy", "paths", "out", "overwrite", "as_json", "title", "labels"}
    commands = [command_of(folder) for folder in folders]
    if set(commands) == {"anonymise"}:
        allowed |= {"fraction", "predict"}
    for name, typed in given_options(context):
        if name not in allowed:
            raise StudyError(
                "what was promised is in the folders; leave out {option}", option=typed
            )
