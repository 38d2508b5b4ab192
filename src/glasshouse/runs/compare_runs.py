"""Runs of the same command side by side: before and after a protection, this year against last.

Assessments are matched attack by attack: the same target, the same number of datasets and the same quasi-identifiers.
Of all sets that every run has, the largest is compared; besides, the best set of each size, which may be another one in
each run. Runs of other commands are compared by the main figures that they keep in their manifests.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import reduce
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

import pyarrow as pa
import pyarrow.parquet

from glasshouse.atomic import new_folder
from glasshouse.disclosure import smallest_cell
from glasshouse.errors import StudyError, quoted
from glasshouse.language import text
from glasshouse.microdata import Assessment, Attack
from glasshouse.runs.folder import (
    MANIFEST,
    REPORT,
    RESULTS,
    StoredRun,
    check_place,
    command_of,
    report_manifest,
    stored_assessment,
    stored_runs,
    write_report,
)

if TYPE_CHECKING:
    from glasshouse.report import Page, Provenance

ASSESSED, MEASURED = "assess", ("threat", "deter", "totals")
"""The commands whose runs are compared attack by attack, and by their main figures."""


@dataclass(frozen=True)
class Line:
    """One attack in every run."""

    secret: tuple[str, ...]
    """What is inferred; nothing when people are named."""
    size: int
    """How many quasi-identifiers she knows; of runs without a set in common, the fewest."""
    attacks: tuple[Attack, ...]
    """The attack, run by run."""

    @property
    def same_knowledge(self) -> bool:
        """Whether she knows the same quasi-identifiers in every run."""
        return len({frozenset(attack.quasi_identifiers) for attack in self.attacks}) == 1

    def differences(self) -> list[tuple[Fraction, Fraction | None]]:
        """Return, run by run, the change of success against the first: as a difference, and as a factor."""
        first, *others = (attack.probabilistic.posterior for attack in self.attacks)
        return [(other - first, other / first if first else None) for other in others]

    def to_dict(self) -> dict[str, Any]:
        """Return the figures as plain values."""
        return {
            "sensitive": "+".join(self.secret) or None,
            "runs": [_told(attack) for attack in self.attacks],
            "differences": [
                {"points": 100 * float(points), "factor": None if factor is None else float(factor)}
                for points, factor in self.differences()
            ],
        }


def _told(attack: Attack) -> dict[str, Any]:
    return {
        "quasi_identifiers": list(attack.quasi_identifiers),
        "datasets": list(attack.datasets),
        "records": attack.records,
        "certain": attack.certain,
        "prior": float(attack.probabilistic.prior),
        "posterior": float(attack.probabilistic.posterior),
    }


@dataclass(frozen=True)
class AssessedRuns:
    """Several assessments side by side."""

    runs: tuple[StoredRun, ...]
    """The runs, in the order given; differences are against the first."""
    assessments: tuple[Assessment, ...]
    """What came out of each."""
    largest: tuple[Line, ...]
    """Per target that all have, the largest set of quasi-identifiers that all have."""
    best: tuple[Line, ...]
    """Per target and number of quasi-identifiers, the best set of each run."""

    @property
    def subject(self) -> str:
        """What a record stands for."""
        return self.runs[0].subject

    def to_dict(self) -> dict[str, Any]:
        """Return everything as plain values."""
        return {
            "command": ASSESSED,
            "runs": [_described(run) for run in self.runs],
            "largest_common": [line.to_dict() for line in self.largest],
            "best_by_size": [{"size": line.size} | line.to_dict() for line in self.best],
        }

    def to_frame(self) -> pa.Table:
        """Return one row per run and attack compared."""
        rows = []
        for kind, lines in (("largest common", self.largest), ("best of size", self.best)):
            for line in lines:
                changes = [(None, None), *line.differences()]
                rows += [
                    {"run": run.name, "compared": kind, "size": line.size}
                    | {"sensitive": "+".join(line.secret) or None}
                    | _told(attack)
                    | {
                        "difference": None if points is None else float(points),
                        "factor": None if factor is None else float(factor),
                    }
                    for run, attack, (points, factor) in zip(
                        self.runs, line.attacks, changes, strict=True
                    )
                ]
        return pa.Table.from_pylist(rows)

    def to_page(self, provenance: Provenance, command: str) -> Page:
        """Return the report, in the language that is spoken."""
        from glasshouse.report.compare.runs import assessed_page

        return assessed_page(self, provenance=provenance, command=command)


@dataclass(frozen=True)
class MeasuredRuns:
    """Several runs side by side by their main figures."""

    runs: tuple[StoredRun, ...]
    """The runs, in the order given; differences are against the first."""

    @property
    def command(self) -> str:
        """The command that wrote them."""
        return self.runs[0].command

    @property
    def figures(self) -> tuple[str, ...]:
        """The names of the figures that all of them have."""
        return tuple(
            name for name in self.runs[0].summary if all(name in run.summary for run in self.runs)
        )

    def to_dict(self) -> dict[str, Any]:
        """Return everything as plain values."""
        return {
            "command": self.command,
            "runs": [_described(run) for run in self.runs],
            "figures": {name: [run.summary[name] for run in self.runs] for name in self.figures},
        }

    def to_frame(self) -> pa.Table:
        """Return one row per run and figure."""
        rows = [
            {"run": run.name, "figure": name, "value": run.summary[name]}
            for name in self.figures
            for run in self.runs
        ]
        kinds = [("run", pa.string()), ("figure", pa.string()), ("value", pa.float64())]
        return pa.Table.from_pylist(rows, schema=pa.schema(kinds))

    def to_page(self, provenance: Provenance, command: str) -> Page:
        """Return the report, in the language that is spoken."""
        from glasshouse.report.compare.figures import measured_page

        return measured_page(self, provenance=provenance, command=command)


class SideBySide(Protocol):
    """Runs side by side."""

    @property
    def runs(self) -> tuple[StoredRun, ...]:
        """The runs."""

    def to_dict(self) -> dict[str, Any]:
        """Return everything as plain values."""

    def to_frame(self) -> pa.Table:
        """Return the figures as a table."""

    def to_page(self, provenance: Provenance, command: str) -> Page:
        """Return the report."""


def _described(run: StoredRun) -> dict[str, Any]:
    return {"name": run.name, "records": run.records, "datasets": dict(run.digests)}


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
    runs = stored_runs(folders)
    if len(runs) < 2:
        raise StudyError(text("name two runs or more to put side by side"))
    return _assessed(runs) if command == ASSESSED else _measured(runs)


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


def _measured(runs: tuple[StoredRun, ...]) -> MeasuredRuns:
    for run in runs:
        if not run.summary:
            raise StudyError(
                text(
                    "“{name}” keeps no figures of the release as a whole; run it again, and not about one person",
                    name=run.name,
                )
            )
    return MeasuredRuns(runs)


def _assessed(runs: tuple[StoredRun, ...]) -> AssessedRuns:
    assessments = tuple(map(stored_assessment, runs))
    windows = _common_window(assessments)
    attacked = [
        [attack for attack in each.attacks if len(attack.datasets) == own]
        for each, own in zip(assessments, windows, strict=True)
    ]
    targets = _common(attacked, lambda attack: attack.secret)
    return AssessedRuns(
        runs=runs,
        assessments=assessments,
        largest=tuple(_largest(attacked, secret) for secret in targets),
        best=tuple(line for secret in targets for line in _best(attacked, secret)),
    )


def _common_window(assessments: Sequence[Assessment]) -> list[int]:
    """Return how many datasets the attacks compared use: as many as all runs have, else all that each has."""
    sizes = [{len(attack.datasets) for attack in each.attacks} for each in assessments]
    shared = set.intersection(*sizes)
    return [max(shared)] * len(sizes) if shared else [max(own) for own in sizes]


def _common(attacked: Sequence[Sequence[Attack]], key: Callable[[Attack], Any]) -> list[Any]:
    """Return what the attacks of all runs have in common, in the order of the first run."""
    sets = [{key(attack) for attack in attacks} for attacks in attacked]
    shared = reduce(lambda one, other: one & other, sets)
    return [each for each in dict.fromkeys(map(key, attacked[0])) if each in shared]


def _of_target(attacked: Sequence[Sequence[Attack]], secret: tuple[str, ...]) -> list[list[Attack]]:
    return [[attack for attack in attacks if attack.secret == secret] for attacks in attacked]


def _largest(attacked: Sequence[Sequence[Attack]], secret: tuple[str, ...]) -> Line:
    """Return an attack with the largest set that all have; where there is none, with the largest of each run."""
    own = _of_target(attacked, secret)
    shared = _common(own, lambda attack: frozenset(attack.quasi_identifiers))
    if not shared:
        widest = tuple(max(attacks, key=_width) for attacks in own)
        return Line(secret, min(len(each.quasi_identifiers) for each in widest), widest)
    candidates = [
        Line(secret, len(known), tuple(_with(attacks, known) for attacks in own))
        for known in shared
    ]
    return max(candidates, key=lambda line: _width(line.attacks[0]))


def _width(attack: Attack) -> tuple[int, Fraction]:
    return len(attack.quasi_identifiers), attack.probabilistic.posterior


def _with(attacks: Sequence[Attack], known: frozenset[str]) -> Attack:
    return next(attack for attack in attacks if frozenset(attack.quasi_identifiers) == known)


def _best(attacked: Sequence[Sequence[Attack]], secret: tuple[str, ...]) -> list[Line]:
    own = _of_target(attacked, secret)
    sizes = _common(own, lambda attack: len(attack.quasi_identifiers))
    return [
        Line(
            secret,
            size,
            tuple(
                max(
                    (attack for attack in attacks if len(attack.quasi_identifiers) == size),
                    key=lambda attack: attack.probabilistic.posterior,
                )
                for attacks in own
            ),
        )
        for size in sorted(sizes)
    ]


def write_side_by_side(
    outcome: SideBySide, folder: Path, *, command: str, overwrite: bool = False
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
        "runs": [_described(run) for run in outcome.runs],
        "report": report_manifest(),
    }
    provenance = Provenance(
        version=version("glasshouse"), study="", datasets=digests, smallest_cell=smallest_cell()
    )
    with new_folder(folder, replace=overwrite) as draft:
        (draft / MANIFEST).write_text(json.dumps(manifest, indent=2) + "\n", encoding="utf-8")
        pyarrow.parquet.write_table(outcome.to_frame(), draft / RESULTS)
        write_report(lambda: outcome.to_page(provenance, command), draft)
    return folder / REPORT
