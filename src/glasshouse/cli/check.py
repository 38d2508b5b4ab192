"""``glasshouse check``: the gate for pipelines: a verdict, its conditions, and an exit code."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from glasshouse.cli import options
from glasshouse.cli.command import check_new_file, given_options, progress, warn
from glasshouse.cli.options import option
from glasshouse.errors import StudyError
from glasshouse.language import either, quoted, text

if TYPE_CHECKING:
    from glasshouse.report.verdict import Verdict
    from glasshouse.study.assess import AssessStudy

NOT_MET = 4
"""The exit code where the policy is not met."""


def check(
    context: typer.Context,
    *,
    path: Path = options.argument(
        "FILE|RUN",
        "A file, which is understood and assessed first; or the folder of a run, as --out of any command "
        "made it.",
        default=...,
    ),
    quasi_identifiers: options.QuasiIdentifiers = None,
    sensitive: options.Sensitive = None,
    identifier: options.Identifier = None,
    attacker: options.AttackerOptions,
    invalid: options.Invalid = None,
    junit: Path | None = option(
        "--junit", "FILE.xml", "Also write the verdict for a build server."
    ),
    sarif: Path | None = option("--sarif", "FILE.sarif", "Also write the verdict for a code host."),
    threads: options.Threads = None,
    output: options.OutputOptions,
    reading: options.DataOptions,
) -> None:
    """Whether a release meets a rule: a verdict, each condition with its margin, and an exit code for pipelines.

    Exit codes: 0 it meets the rule · 4 it does not · 2 the input is wrong · 3 a limit stopped it.

    Example: glasshouse check adult.csv --policy open-data

    A run that exists: glasshouse check run --policy rule.toml --junit verdict.xml
    """
    from glasshouse.report.verdict import verdict_on
    from glasshouse.runs.folder import REPORT, is_run, stored_measures, stored_policy
    from glasshouse.study import load_policy

    for written in (junit, sarif):
        if written is not None:
            check_new_file(written, [path], overwrite=output.overwrite)
    rule = None if output.policy is None else load_policy(output.policy)
    understood: dict[str, Any] = {}
    taken: list[str] = []
    if path.is_dir() and is_run(path):
        _refuse_beside_a_run(context)
        verdict = verdict_on(stored_measures(path), rule or stored_policy(path))
    else:
        study, notes = _study(
            path,
            reading,
            quasi_identifiers=quasi_identifiers or (),
            sensitive=options.secrets(sensitive),
            identifier=identifier,
            invalid=invalid or (),
            attacker=attacker.content(),
            policy=rule,
        )
        for note in notes:
            warn(note)
        understood = roles_of(study)
        typed = {"quasi_identifiers": quasi_identifiers, "sensitive": sensitive, "id": identifier}
        guessed = understood | {"invalid": understood["invalid"][len(invalid or ()) :]}
        taken = [sentence for role, sentence in taken_for(guessed) if not typed.get(role)]
        verdict = _assessed(study, output, threads)
        for note in _unjudged(study, verdict):
            warn(note)
    if verdict is None:
        raise StudyError(
            "{name} measures nothing that the policy asks for; assess the release itself, as a whole, and with "
            "--person, --about or --within if its conditions are on several records, on what is not known exactly or "
            "on close guesses",
            name=path.name,
        )
    _write(verdict, path.name, junit, sarif)
    if output.as_json:
        content = verdict.to_dict()
        print(json.dumps({"understood": understood} | content if understood else content, indent=2))
    else:
        _show(verdict, taken, None if output.out is None else output.out / REPORT)
    if verdict.failed:
        raise typer.Exit(NOT_MET)


def _refuse_beside_a_run(context: typer.Context) -> None:
    """Make sure that nothing is asked that the run has decided."""
    allowed = {"path", "policy", "junit", "sarif", "as_json", "overwrite"}
    for name, typed in given_options(context):
        if name not in allowed:
            raise StudyError(
                "what was assessed is in the folder of the run; leave out {option}", option=typed
            )


def _study(
    path: Path, reading: options.DataOptions, *, sensitive: list[str | list[str]], **said: Any
) -> tuple[AssessStudy, tuple[str, ...]]:
    """Return the study that a file suggests by itself, with what is said of it instead, and notes on it."""
    from glasshouse.runs.assess import understood
    from glasshouse.sources import existing_data
    from glasshouse.study import Dataset, address_of, validated

    if address_of(path) is None:
        existing_data(path)
    return understood(
        validated(Dataset, reading.dataset(path), "check"),
        sensitive=[name if isinstance(name, str) else tuple(name) for name in sensitive],
        **said,
    )


def roles_of(study: AssessStudy) -> dict[str, Any]:
    """Return what a file was taken for, as plain values."""
    adversary = study.adversary
    return {
        "quasi_identifiers": list(adversary.quasi_identifiers),
        "sensitive": list(map("+".join, adversary.secrets)),
        "id": adversary.identifier,
        "person": list(study.person),
        "weight": adversary.weight,
        "invalid": list(study.treatment.invalid),
    }


def _assessed(
    study: AssessStudy, output: options.OutputOptions, threads: int | None
) -> Verdict | None:
    """Assess a file, keep the run where asked to, and return the verdict."""
    from glasshouse.runs import Resources, check_place, run, write_run
    from glasshouse.study import paths_of

    if output.out is not None:
        check_place(output.out, overwrite=output.overwrite, data=paths_of(study))
    with progress() as on_progress:
        done = run(study, resources=Resources(on_progress, threads=threads))
        if output.out is not None:
            write_run(done, output.out, overwrite=output.overwrite)
    for warning in done.warnings:
        warn(warning)
    return done.verdict


def _unjudged(study: AssessStudy, verdict: Verdict | None) -> Iterator[str]:
    """Yield what was asked that no condition of the rule judges, and the measures that would."""
    from glasshouse.study.policy import MEASURES

    judged = {judgement.condition.measure for judgement in verdict.judgements} if verdict else set()
    inexact = [measure for measure in MEASURES if measure.endswith("-inexactly")]
    close = [measure for measure in MEASURES if measure.startswith("close-")]
    for word, measures in (("about", inexact), ("likely", inexact), ("within", close)):
        if getattr(study, word) and not judged & {*measures}:
            yield text(
                "note: the rule does not judge what {option} asks; a condition on {measures} would",
                option=f"--{word}",
                measures=either(measures),
            )


def _write(verdict: Verdict, name: str, junit: Path | None, sarif: Path | None) -> None:
    """Write the verdict for those who asked for it, each file whole or not at all."""
    from glasshouse.atomic import new_file
    from glasshouse.report.pipeline import to_junit, to_sarif

    for path, form in ((junit, to_junit), (sarif, to_sarif)):
        if path is not None:
            with new_file(path) as draft:
                draft.write_text(form(verdict, name), encoding="utf-8")


def _show(verdict: Verdict, taken: list[str], report: Path | None) -> None:
    """Print what was understood by itself, the conditions, and last the verdict and where the report is."""
    from glasshouse.report import terminal
    from glasshouse.report.page import Brief
    from glasshouse.report.verdict import ruling

    rule = ruling(verdict)
    blocks = [" ".join(taken)] if taken else []
    places = () if report is None else (text("Report: {path}", path=report),)
    terminal.show(Brief((*blocks, rule.conditions), ruling=rule), places=places)


def taken_for(understood: dict[str, Any]) -> Iterator[tuple[str, str]]:
    """Yield in sentences what a file was taken for, and how to say otherwise, each with the role that it is about."""
    yield (
        "quasi_identifiers",
        text(
            "Taken as what somebody could know of a person: {columns} (else say -q).",
            columns=quoted(understood["quasi_identifiers"]),
        ),
    )
    if understood["sensitive"]:
        columns = quoted(understood["sensitive"])
        yield "sensitive", text("Taken as sensitive: {columns} (else say -s).", columns=columns)
    else:
        yield "sensitive", text("No column was taken as sensitive (else say -s).")
    if understood["person"]:
        column = quoted(understood["person"])
        several = text(
            "Records with the same {column} are of one person: people are counted.", column=column
        )
        yield "person", several
    elif understood["id"] is None:
        yield (
            "id",
            text(
                "One record is taken for one person (else say --id, or --person where people have several)."
            ),
        )
    else:
        column = quoted([understood["id"]])
        same = text("Records with the same {column} are taken for one person.", column=column)
        yield "id", same
    if understood["invalid"]:
        left_out = text(
            "Left out as totals or repeated names of columns, which are nobody: records with {conditions} (else say "
            "--strict).",
            conditions=quoted(understood["invalid"]),
        )
        yield "invalid", left_out
