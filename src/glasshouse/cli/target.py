"""``glasshouse target``: the attack on one person.

The words of its options stand beside its questions, in `glasshouse.study.target`.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import typer

from glasshouse.cli import options
from glasshouse.cli.command import carry_out, question
from glasshouse.cli.options import asked
from glasshouse.errors import StudyError


def target(
    context: typer.Context,
    *,
    files: list[Path] | None = options.argument(
        "FILE",
        "The release: a file, or a folder of Parquet. Several files are joined by --id; the first is focal.",
    ),
    known: list[str] | None = asked("target.TargetStudy"),
    person: options.Person = None,
    unlinked: bool = asked("assess.AssessStudy", default=False, hidden=True),
    adversary: options.KnowledgeOptions,
    prior_weight: options.PriorWeight = None,
    population: options.Population = None,
    fraction: options.Fraction = None,
    gains: options.GainOptions,
    treated: options.RecordOptions,
    seed: options.Seed = 0,
    focal: options.Focal = None,
    subject: options.Subject = "person",
    output: options.RunOptions,
    reading: options.DataOptions,
) -> None:
    """What someone who knows a few facts about one person learns about that person.

    The person is known to be in the release; with --population or --fraction also: what if that is not known.

    Example: glasshouse target adult.csv --know age=41 --know sex=Female -s occupation

    Two visits of a person: glasshouse target visits.csv --person patient --know place=A,day=3 --know place=B -s count
    """
    from glasshouse.conditions import facts_of, taken_apart
    from glasshouse.runs.reading import focal_first
    from glasshouse.study.target import TargetStudy

    def content() -> dict[str, Any]:
        if not files:
            raise StudyError("name the file that the person is in, or a study with --study")
        if unlinked:
            raise StudyError(
                "without a pseudonym each known record is looked for by itself; leave out --unlinked and --person, and "
                "give the facts of one record: --know COLUMN=VALUE, once or more"
            )
        facts = [fact for one in known or [] for fact in facts_of(one)]
        columns = [taken_apart(fact, option="--know")[0] for fact in facts]
        if not columns:
            raise StudyError(
                "say what is known about the person: --know COLUMN=VALUE, once or more"
            )
        return {
            "datasets": [reading.dataset(file) for file in files],
            "adversary": adversary.content()
            | {
                "quasi_identifiers": [
                    *dict.fromkeys([*(adversary.quasi_identifiers or []), *columns])
                ],
                "prior_weight": prior_weight,
                "gain": gains.content(),
            },
            "treatment": treated.content(),
            "known": known or [],
            "person": options.listed(person) if person else [],
            "seed": seed,
            "population": population and reading.dataset(population),
            "fraction": fraction,
            "subject": subject,
        }

    study = question(context, output, TargetStudy, content)
    carry_out(study if focal is None else focal_first(study, focal), output)
