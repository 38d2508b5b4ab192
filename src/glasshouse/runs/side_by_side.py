"""Runs of the same command side by side: before and after a protection, this year against last.

Assessments are compared attack by attack, runs of other commands by the main figures that they keep in their manifests
(`glasshouse.mitigation.comparison`).
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING

import pyarrow.parquet

from glasshouse.atomic import new_folder
from glasshouse.disclosure import smallest_cell
from glasshouse.errors import StudyError, quoted
from glasshouse.language import text
from glasshouse.mitigation.comparison import (
    AssessedRuns,
    MeasuredRuns,
    compare_assessments,
    compare_figures,
)
from glasshouse.runs.store import (
    MANIFEST,
    REPORT,
    RESULTS,
    check_place,
    report_manifest,
    write_report,
)
from glasshouse.runs.stored import command_of, stored_assessment, stored_runs

if TYPE_CHECKING:
    from glasshouse.report import Page, Provenance

ASSESSED, MEASURED = "assess", ("threat", "deter", "totals")
"""The commands whose runs are compared attack by attack, and by their main figures."""


def side_by_side(folders: Sequence[Path]) -> AssessedRuns | MeasuredRuns:
    """Put runs of the same command side by side.

    Raises:
        DataError: A folder holds no run that can be compared.
        StudyError: There are fewer than two, they are of different commands, or such runs cannot be compared.
    """
    command = _common_command(folders)
    if command not in (ASSESSED, *MEASURED):
        raise StudyError(
            text(
                "runs of {command} cannot be put side by side; those of {commands} can",
                command=command,
                commands=quoted(["anonymise", ASSESSED, *MEASURED]),
            )
        )
    stored = stored_runs(folders)
    if len(stored) < 2:
        raise StudyError(text("name two runs or more to put side by side"))
    runs = [folder.run for folder in stored]
    if command == ASSESSED:
        return compare_assessments(runs, list(map(stored_assessment, stored)))
    return compare_figures(runs)


def _common_command(folders: Sequence[Path]) -> str:
    """Return the command that wrote all folders."""
    commands = [command_of(folder) for folder in folders]
    for folder, command in zip(folders, commands, strict=True):
        if command != commands[0]:
            raise StudyError(
                text(
                    "“{first}” is a run of {command}, “{other}” one of {another}; compare runs of the same command",
                    first=folders[0].resolve().name,
                    command=commands[0],
                    other=folder.resolve().name,
                    another=command,
                )
            )
    return commands[0]


def write_side_by_side(
    outcome: AssessedRuns | MeasuredRuns, folder: Path, *, command: str, overwrite: bool = False
) -> Path:
    """Write the figures and the report, which names the command that repeats it; return the path of the report.

    Raises:
        DataError: The folder exists (and is not to be overwritten) or cannot be written.
    """
    from glasshouse.report import Provenance

    check_place(folder, overwrite=overwrite)
    digests = {
        f"{run.name}: {name}": digest
        for run in outcome.runs
        for name, digest in run.digests.items()
    }
    manifest = {
        "glasshouse": version("glasshouse"),
        "command": "compare",
        "runs": [run.to_dict() for run in outcome.runs],
        "report": report_manifest(),
    }
    provenance = Provenance(
        version=version("glasshouse"), study="", datasets=digests, smallest_cell=smallest_cell()
    )
    with new_folder(folder, replace=overwrite) as draft:
        (draft / MANIFEST).write_text(json.dumps(manifest, indent=2) + "\n", encoding="utf-8")
        pyarrow.parquet.write_table(outcome.to_frame(), draft / RESULTS)
        write_report(lambda: _page(outcome, provenance, command), draft)
    return folder / REPORT


def _page(outcome: AssessedRuns | MeasuredRuns, provenance: Provenance, command: str) -> Page:
    """Return the report, in the language that is spoken."""
    from glasshouse.report.side_by_side.figures import measured_page
    from glasshouse.report.side_by_side.page import assessed_page

    if isinstance(outcome, AssessedRuns):
        return assessed_page(outcome, provenance=provenance, command=command)
    return measured_page(outcome, provenance=provenance, command=command)
