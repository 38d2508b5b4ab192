"""``glasshouse membership``: who is in a release, or in which of several.

The words of its options stand beside its questions, in `glasshouse.study.membership` and `.target`.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import typer

from glasshouse.cli import options
from glasshouse.cli.command import carry_out, question
from glasshouse.cli.options import asked, option
from glasshouse.errors import StudyError


def membership(
    context: typer.Context,
    *,
    files: list[Path] | None = options.argument(
        "RELEASE",
        "The release: a file, or a folder of Parquet. Of several: in which of them somebody is.",
    ),
    population: options.Population = None,
    fraction: options.Fraction = None,
    weight: options.SampleWeight = None,
    quasi_identifiers: options.QuasiIdentifiers = None,
    identifier: str | None = option(
        "--id",
        "COL",
        "The column that identifies a person in several releases, so that they are linked; not in the "
        "register.",
        panel="The adversary",
    ),
    known: list[str] | None = asked("target.PeopleStudy"),
    treated: options.RecordOptions,
    subject: options.Subject = "person",
    output: options.RunOptions,
    reading: options.DataOptions,
) -> None:
    """Who is in a release: what someone with a register of the population can learn about its people.

    Example: glasshouse membership patients.csv --population town.csv -q birth_year -q sex -q district

    Without a register: glasshouse membership patients.csv --fraction 0.05 -q birth_year -q sex -q district

    A survey: glasshouse membership survey.sav --weight weight -q age -q sex -q region
    """
    from glasshouse.study.membership import MembershipStudy

    def content() -> dict[str, Any]:
        if not files:
            raise StudyError("name the release, or a study with --study")
        if not quasi_identifiers:
            raise StudyError("say what release and register share: -q COLUMN, once or more")
        return {
            "datasets": [reading.dataset(file) for file in files],
            "adversary": {"quasi_identifiers": quasi_identifiers, "identifier": identifier},
            "treatment": treated.content(),
            "known": known or [],
            "population": population and reading.dataset(population),
            "fraction": fraction,
            "weight": weight,
            "subject": subject,
        }

    carry_out(question(context, output, MembershipStudy, content), output)
