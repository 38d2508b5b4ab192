"""``glasshouse tables``: who can be read out of published tables together; ``glasshouse verify``: the proof again.

The words of its options stand beside its questions, in `glasshouse.study.tables`.
"""

from __future__ import annotations

import json
from functools import partial
from pathlib import Path
from typing import Any

import typer

from glasshouse.cli import options
from glasshouse.cli.command import carry_out, question
from glasshouse.cli.options import asked, option
from glasshouse.errors import SolverError, UnjudgedError
from glasshouse.language import text

_asked = partial(asked, "tables.TablesStudy")
_of_table = partial(asked, "tables.PublishedTable")


def tables(
    context: typer.Context,
    *,
    files: list[Path] | None = options.argument(
        "TABLE…", "The published tables, a file each: long, with counts in the last column."
    ),
    people: int | None = _asked(),
    suppressed: tuple[int, int] | None = _of_table(),
    totals: str | None = _of_table(),
    noise: str | None = _of_table(),
    quasi_identifiers: options.QuasiIdentifiers = None,
    sensitive: list[str] | None = _asked(),
    rare: int | None = _asked(),
    population: Path | None = _asked(),
    areas: Path | None = _asked(),
    time_limit: float | None = _asked(),
    memory: str | None = option(
        "--memory", "SIZE", r"How much combinations and rows may take. \[default: 2G]"
    ),
    subject: options.Subject = "person",
    resume: options.Resume = False,
    output: options.RunOptions,
) -> None:
    """Who can be read out of published tables together: certain, possible, and how far, with a proof.

    Example: glasshouse tables age_sex.csv sex_illness.csv --suppressed 1 4 --out run

    With noise: glasshouse tables counts.csv --noise geometric:epsilon=1 --people 1000

    As a study, in TOML or JSON: glasshouse tables --study plan.toml --out run
    """
    from glasshouse.report.tables.page import contradiction
    from glasshouse.study.tables import TablesStudy
    from glasshouse.tabulation import TablesOutcome

    def content() -> dict[str, Any]:
        given = {"suppressed": suppressed, "totals": totals, "noise": noise}
        shared = {name: value for name, value in given.items() if value is not None}
        return {
            "tables": [{"path": path, **shared} for path in files or ()],
            "people": people,
            "quasi_identifiers": quasi_identifiers or [],
            "sensitive": sensitive or [],
            "rare": rare,
            "population": population and {"path": population},
            "areas": areas and {"path": areas},
            "subject": subject,
        }

    study = question(context, output, TablesStudy, content, allowed=("time_limit",))
    if time_limit is not None:
        study = TablesStudy.model_validate({**dict(study), "time_limit": float(time_limit)})
    outcome = carry_out(study, output, resume=resume, memory=memory).outcome
    if not isinstance(outcome, TablesOutcome):
        return
    if outcome.status == "infeasible":
        raise UnjudgedError(
            "there is no verdict: {contradiction}; see whether the tables are of the same people, and how they were "
            "protected",
            contradiction=contradiction(outcome),
        )
    if outcome.status == "limit":
        raise SolverError(
            "the limit was met: what is open is shown as what is not ruled out; a longer --time-limit may decide "
            "it"
        )


def verify(
    folder: Path = options.argument(
        "RUN", "The folder of a run of glasshouse tables.", default=...
    ),
    as_json: options.Json = False,
) -> None:
    """Check the proof of a run of tables again, in whole numbers; verify.py in its folder does so without Glasshouse.

    Example: glasshouse verify run
    """
    from glasshouse.runs.tables import checked_proof

    checked = checked_proof(folder)
    if as_json:
        print(json.dumps({"accepted": True, **checked}))
        return
    print(
        text(
            "The proof holds: {certified} of {claims} claims have a certificate; the others rest on the solver alone.",
            **checked,
        )
        if checked["certified"] < checked["claims"]
        else text(
            "The proof holds: all {claims} claims have a certificate.", claims=checked["claims"]
        )
    )
