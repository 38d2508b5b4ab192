"""``glasshouse threat``: what an anonymised table tells about a person, beyond the population.

The words of its options stand beside its questions, in `glasshouse.study.threat`.
"""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Any

import typer

from glasshouse.cli import options
from glasshouse.cli.command import carry_out, given_options, question, was_typed
from glasshouse.cli.options import asked
from glasshouse.errors import StudyError
from glasshouse.language import printable, text

_asked = partial(asked, "threat.ThreatStudy")
_sampling = partial(asked, "threat.Sampling")


def threat(
    context: typer.Context,
    *,
    release: Path | None = options.argument(
        "RELEASE",
        "A folder that anonymise wrote; a file with generalised values or groups; or a small example as JSON.",
    ),
    in_order: bool = _asked(default=False),
    original: Path | None = _asked(),
    quasi_identifiers: options.QuasiIdentifiers = None,
    sensitive: options.Sensitive = None,
    group: str | None = _asked(),
    sensitive_table: Path | None = _asked(),
    generalised: bool = _asked(default=False),
    hierarchies: list[str] | None = _asked(),
    domain: str | None = _asked(),
    values: list[str] | None = _asked("domains", flags="--values"),
    known: list[str] | None = _asked(),
    exceeds: float | None = _asked(),
    alpha: float | None = _asked(),
    beta: list[str] | None = _asked(),
    learner: str = _asked("reading", flags="--learner", default="5"),
    precision: float | None = _sampling(),
    sweeps: int | None = _sampling(),
    seconds: float | None = _sampling(),
    chains: int | None = _sampling(),
    burn_in: int | None = _sampling(),
    resume: options.Resume = False,
    threads: options.Threads = None,
    per_record: options.PerRecord = None,
    seed: int = _asked(min=0, default=0),
    subject: options.Subject = "person",
    output: options.RunOptions,
    reading: options.FileOptions,
) -> None:
    """What an anonymised table reveals about a person, beyond what anyone may learn about the population.

    Example: glasshouse threat protected, where protected is a folder that glasshouse anonymise wrote

    One victim: glasshouse threat groups.csv -q age -q sex -s illness --group g --know age=41 --know sex=F
    """
    from glasshouse.runs.threat import study_of_folder
    from glasshouse.study.threat import ThreatStudy

    def content() -> dict[str, Any]:
        if release is None:
            raise StudyError("name the release, or a study with --study")
        of_chains = None
        if release.is_dir():
            _refuse_beside_folder(context)
            of_release = study_of_folder(release)
            of_release |= {"subject": subject} if was_typed(context, "subject") else {}
            of_chains = seed if was_typed(context, "seed") else None
        else:
            of_release = {
                "release": reading.dataset(release),
                "original": original and reading.dataset(original),
                "sensitive_table": sensitive_table and reading.dataset(sensitive_table),
                "quasi_identifiers": quasi_identifiers or [],
                "sensitive": sensitive or [],
                "group": group,
                "generalised": generalised,
                "in_order": in_order,
                "hierarchies": options.paths(hierarchies, option="--hierarchy"),
                "seed": seed,
                "subject": subject,
            }
        overall, betas = _betas(beta)
        domains, domain_files = _domains(values)
        return of_release | {
            "domain": domain,
            "domains": domains,
            "domain_files": domain_files,
            **({} if exceeds is None else {"exceeds": exceeds}),
            "alpha": alpha,
            "beta": overall,
            "betas": betas,
            "known": known or [],
            "reading": learner,
            "sampling": {
                "precision": precision,
                "sweeps": sweeps,
                "seconds": seconds,
                "chains": chains,
                "burn_in": burn_in,
                "seed": of_chains,
            },
        }

    study = question(context, output, ThreatStudy, content)
    if per_record is not None and study.known:
        raise StudyError(
            "--per-record is about all records, and --know about one victim; leave out one"
        )
    if per_record is not None and study.original is None:
        raise StudyError("--per-record is about the records of the original; give --original FILE")
    carry_out(study, output, resume=resume, threads=threads, per_record=per_record)


def _refuse_beside_folder(context: typer.Context) -> None:
    """Make sure that nothing is asked that the folder of a release says."""
    folder_options = {
        *("original", "quasi_identifiers", "sensitive", "group", "sensitive_table", "generalised"),
        *("hierarchies", "separator", "quote", "encoding", "no_header", "names", "strip"),
        "types",
    }
    for name, typed in given_options(context):
        if name in folder_options:
            raise StudyError(
                "what the release is stands in its folder; leave out {option}", option=typed
            )


def _domains(texts: list[str] | None) -> tuple[dict[str, str], dict[str, Path]]:
    """Return the domains that are given as whole numbers, and those that are files."""
    from glasshouse.study.threat import whole_numbers

    pairs = options.assignments(
        texts, option="--values", form=text("COLUMN=LOW..HIGH or COLUMN=FILE"), first=True
    )
    ranges = {column: value for column, value in pairs.items() if whole_numbers(value) is not None}
    files = {column: Path(value) for column, value in pairs.items() if column not in ranges}
    return ranges, files


def _betas(texts: list[str] | None) -> tuple[float | None, dict[str, float]]:
    """Return the parameter of all attributes, and those of single ones."""
    overall: float | None = None
    betas: dict[str, float] = {}
    for written in texts or []:
        column, equals, number = written.rpartition("=")
        try:
            if equals:
                betas[column] = float(number)
            else:
                overall = float(number)
        except ValueError:
            raise StudyError(
                '--beta "{given}" is not a number, nor COLUMN=NUMBER', given=printable(written)
            ) from None
    return overall, betas
