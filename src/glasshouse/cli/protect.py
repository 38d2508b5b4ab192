"""``glasshouse protect``: versions of a release that meet a rule, and which to take."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

import typer

from glasshouse.cli import options
from glasshouse.cli.anonymise import KeptOptions, weights
from glasshouse.cli.check import roles_of, taken_for, without_nobody
from glasshouse.cli.command import carry_out, question, warn
from glasshouse.cli.options import protection
from glasshouse.errors import StudyError


@dataclass(frozen=True)
class VersionOptions(KeptOptions):
    """What else is in the file of a version, and which records are not."""

    drop_suppressed: bool = protection(
        "--drop-suppressed/--keep-suppressed",
        says="Leave suppressed records out of the files; else they are in them as a class of their own.",
        default=True,
    )


def protect(
    context: typer.Context,
    *,
    file: Annotated[
        Path | None,
        typer.Argument(metavar="FILE", help="The data: a file of any kind that is read."),
    ] = None,
    quasi_identifiers: options.QuasiIdentifiers = None,
    sensitive: options.Sensitive = None,
    missing_is_a_value: options.MissingIsAValue = False,
    identifier: options.Identifier = None,
    suppression: Annotated[
        float,
        protection(
            "--suppression", "SHARE", "The largest share of records that a version may suppress."
        ),
    ] = 0.01,
    hierarchies: options.Hierarchies = None,
    importance: options.Importance = None,
    weight: options.SurveyWeight = None,
    time_limit: Annotated[
        float | None,
        protection("--time-limit", "SECONDS", "Take the best versions found by then."),
    ] = None,
    kept: VersionOptions,
    treated: options.RecordOptions,
    drop: options.Drop = None,
    ignore: options.Ignore = None,
    seed: options.Seed = 0,
    subject: options.Subject = "person",
    resume: options.Resume = False,
    output: options.RunOptions,
    reading: options.DataOptions,
) -> None:
    """Find what must be done to meet a rule at the least cost: versions to choose from, each measured.

    Example: glasshouse protect patients.csv --policy research-file --out protected

    Without -q, the columns that somebody could know are proposed from the file, and said. The version to take is
    protected/versions/NAME/release.csv; every version is a run of its own.

    Judged are exact guesses at single records, each of a person of its own. Where people have several, measure them in
    the version afterwards: glasshouse check protected/versions/NAME/release.csv --person COL, a column kept by --keep.
    """
    from glasshouse.runs.assess import understood
    from glasshouse.study import Dataset, load_policy, validated
    from glasshouse.study.protect import ProtectStudy

    def content() -> dict[str, Any]:
        if file is None:
            raise StudyError("name the file to protect, or a study with --study")
        dataset = reading.dataset(file)
        treatment = treated.content()
        adversary: dict[str, Any] = {
            "quasi_identifiers": quasi_identifiers,
            "sensitive": options.secrets(sensitive),
            "identifier": identifier,
        }
        if not quasi_identifiers:
            proposed, _ = understood(
                validated(Dataset, dataset, "protect"),
                sensitive=[
                    name if isinstance(name, str) else tuple(name)
                    for name in options.secrets(sensitive)
                ],
                identifier=identifier,
                drop=drop or (),
                ignore=[*(ignore or ()), *(kept.keep or ())],
                policy=None if output.policy is None else load_policy(output.policy),
            )
            warn(" ".join(sentence for _, sentence in taken_for(roles_of(proposed))))
            adversary = proposed.adversary.model_dump(
                include={"quasi_identifiers", "sensitive", "identifier"}
            )
            treatment["invalid"] = [*(treatment["invalid"] or ()), *proposed.treatment.invalid]
        else:
            treatment["invalid"] = without_nobody(dataset, treatment["invalid"])
        return {
            "datasets": [dataset],
            "adversary": adversary | {"missing_is_a_value": missing_is_a_value},
            "treatment": treatment,
            "ignore": ignore or [],
            "seed": seed,
            "subject": subject,
            "means": {
                "suppression": suppression,
                "hierarchies": options.hierarchies(
                    options.in_folders(hierarchies, adversary["quasi_identifiers"])
                ),
                "importance": weights(importance),
                "weight": weight,
                "time_limit": time_limit,
                **vars(kept),
                "keep": kept.keep or [],
            },
        }

    carry_out(question(context, output, ProtectStudy, content), output, resume=resume)
