"""``glasshouse protect``: versions of a release that meet a rule, and which to take.

The words of its options stand beside its questions, in `glasshouse.study.protect`.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import typer

from glasshouse.cli import options
from glasshouse.cli.anonymise import MeansOptions
from glasshouse.cli.check import roles_of, taken_for, without_nobody
from glasshouse.cli.command import carry_out, question, warn
from glasshouse.errors import StudyError


def protect(
    context: typer.Context,
    *,
    file: Path | None = options.argument("FILE", "The data: a file of any kind that is read."),
    adversary: options.KnowledgeOptions,
    means: MeansOptions,
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

    Without -q, the columns that somebody could know are proposed from the file, and said. The version to choose is
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
        roles = adversary.content()
        if not adversary.quasi_identifiers:
            proposed, _ = understood(
                validated(Dataset, dataset, "protect"),
                sensitive=[
                    name if isinstance(name, str) else tuple(name) for name in roles["sensitive"]
                ],
                identifier=adversary.identifier,
                drop=drop or (),
                ignore=[*(ignore or ()), *(means.keep or ())],
                policy=None if output.policy is None else load_policy(output.policy),
            )
            warn(" ".join(sentence for _, sentence in taken_for(roles_of(proposed))))
            roles |= proposed.adversary.model_dump(
                include={"quasi_identifiers", "sensitive", "identifier"}
            )
            treatment["invalid"] = [*(treatment["invalid"] or ()), *proposed.treatment.invalid]
        else:
            treatment["invalid"] = without_nobody(dataset, treatment["invalid"])
        return {
            "datasets": [dataset],
            "adversary": roles,
            "treatment": treatment,
            "ignore": ignore or [],
            "seed": seed,
            "subject": subject,
            "means": means.content(roles["quasi_identifiers"]),
        }

    carry_out(question(context, output, ProtectStudy, content), output, resume=resume)
