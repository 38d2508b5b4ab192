"""``glasshouse protect``: versions of a release that meet a rule, and which to take.

The words of its options stand beside its questions, in `glasshouse.study.protect`.
"""

from __future__ import annotations

from dataclasses import fields
from pathlib import Path
from typing import Any

import typer

from glasshouse.cli import options
from glasshouse.cli.anonymise import MeansOptions
from glasshouse.cli.check import roles_of, taken_for, without_nobody
from glasshouse.cli.command import carry_out, given_options, question, warn
from glasshouse.errors import StudyError


def protect(
    context: typer.Context,
    *,
    file: Path | None = options.argument("FILE", "The data: a file of any kind that is read."),
    adversary: options.KnowledgeOptions,
    means: MeansOptions,
    treated: options.RecordOptions,
    noise: str | None = options.asked("tables.PublishedTable"),
    people: int | None = options.asked("tables.TablesStudy"),
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

    With --noise the file is a table of counts, and noise is added to them: protected/release.csv.
    Example: glasshouse protect counts.csv --noise geometric:epsilon=1 --people 1000 --out protected
    """
    if noise is not None:
        _add_noise(context, file, noise, people, adversary, subject, output, reading)
        return
    if people is not None:
        raise StudyError("--people is about a table of counts that gets noise; give --noise, too")
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


_WITH_NOISE = frozenset(
    "file noise people quasi_identifiers sensitive subject policy out overwrite as_json title".split()
)
"""What may be said where noise is added,"""
_HOW_WRITTEN = frozenset(field.name for field in fields(options.FileOptions)) - {"types", "missing"}
"""and of how its file is written down."""


def _add_noise(
    context: typer.Context,
    file: Path | None,
    noise: str,
    people: int | None,
    adversary: options.KnowledgeOptions,
    subject: str,
    output: options.RunOptions,
    reading: options.DataOptions,
) -> None:
    """Add noise to a table of counts, and carry out `tables` on what is released."""
    from glasshouse.runs.noisy_release import answer_release, released_with_noise
    from glasshouse.study import validated
    from glasshouse.study.tables import TablesStudy

    for name, typed in given_options(context):
        if name not in _WITH_NOISE | _HOW_WRITTEN:
            raise StudyError(
                "with --noise a table of counts is protected; leave out {given}", given=typed
            )
    if file is None or output.out is None:
        raise StudyError(
            "name the table of counts that gets noise, and with --out where its release goes"
        )
    content = {
        "tables": [{"path": file, "dialect": reading.dialect(), "noise": noise}],
        "people": people,
        "quasi_identifiers": adversary.quasi_identifiers or [],
        "sensitive": adversary.sensitive or [],
        "subject": subject,
    }
    released = released_with_noise(validated(TablesStudy, content, "protect"))
    carry_out(released, output, engine=answer_release)
