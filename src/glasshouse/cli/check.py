"""``glasshouse check``: the gate for pipelines: a verdict, its conditions, and an exit code."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import fields
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from glasshouse.cli import options
from glasshouse.cli.command import check_new_file, given_options, progress, warn
from glasshouse.cli.options import asked, option
from glasshouse.errors import StudyError, UnjudgedError
from glasshouse.language import either, quoted, text

if TYPE_CHECKING:
    from glasshouse.measures.verdict import Verdict
    from glasshouse.runs import Outcome, Run
    from glasshouse.study import Question
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
    weight: options.SampleWeight = None,
    trained_on: Path | None = asked("assess.AssessStudy"),
    holdout: Path | None = asked("assess.AssessStudy"),
    invalid: options.Invalid = None,
    drop: options.Drop = None,
    ignore: options.Ignore = None,
    baseline: Path | None = option(
        "--baseline",
        "RUN",
        "The folder of a run before: nothing may be worse than in it, and no column new.",
    ),
    after: options.LedgerOptions,
    junit: Path | None = option(
        "--junit", "FILE.xml", "Also write the verdict for a build server."
    ),
    sarif: Path | None = option("--sarif", "FILE.sarif", "Also write the verdict for a code host."),
    threads: options.Threads = None,
    output: options.OutputOptions,
    reading: options.DataOptions,
) -> None:
    """Whether a release meets a rule: a verdict, each condition with its margin, and an exit code for pipelines.

    Every column counts: what is not plainly a secret is taken for something that somebody can know, unless you say
    otherwise (-q, -s, --drop, --ignore).

    Exit codes: 0 it meets the rule · 4 it does not, or not everything was looked at · 2 the input is wrong · 3 a limit
    stopped it.

    Example: glasshouse check adult.csv --policy open-data

    A run that exists: glasshouse check run --policy rule.toml --junit verdict.xml

    A published table, after what went out before: glasshouse check table.csv --ledger released

    A synthetic file: glasshouse check made.csv --trained-on people.csv --holdout others.csv
    """
    from glasshouse.measures.verdict import verdict_on
    from glasshouse.runs.folder import (
        REPORT,
        beside,
        is_run,
        stored_coverage,
        stored_measures,
        stored_policy,
    )
    from glasshouse.study import load_policy

    if after.ledger is not None:
        raise typer.Exit(_after_others(context, path, after, output, junit, sarif))
    _refuse_without_ledger(context)
    for written in (junit, sarif):
        if written is not None:
            check_new_file(written, [path], overwrite=output.overwrite)
    rule = None if output.policy is None else load_policy(output.policy)
    roles: dict[str, Any] = {}
    taken: list[str] = []
    study: AssessStudy | None = None
    done: Run[Question, Outcome] | None = None
    if path.is_dir() and is_run(path):
        _refuse_beside_a_run(context)
        measured, coverage = stored_measures(path), stored_coverage(path)
        rule = rule or stored_policy(path)
    else:
        study, notes = _study(
            path,
            reading,
            quasi_identifiers=quasi_identifiers or (),
            sensitive=options.secrets(sensitive),
            identifier=identifier,
            invalid=invalid or (),
            drop=drop or (),
            ignore=ignore or (),
            weight=weight,
            attacker=attacker.content() | _people(reading, trained_on=trained_on, holdout=holdout),
            policy=rule,
        )
        for note in notes:
            warn(note)
        roles = roles_of(study)
        typed = {"quasi_identifiers": quasi_identifiers, "sensitive": sensitive, "id": identifier}
        done = _assessed(study, output, threads)
        taken = _sentences(roles, typed | {"invalid": invalid}, done)
        measured, coverage, rule = done.measures, done.coverage, done.question.policy
    if baseline is not None:
        measured, rule = beside(baseline, measured, coverage, rule)
    verdict = verdict_on(measured, rule, coverage)
    for note in () if study is None else _unjudged(study, verdict):
        warn(note)
    if verdict is None:
        raise UnjudgedError(
            "{name} measures nothing that the rule asks for; assess the release itself, as a whole, and with "
            "--person, --about or --within if its conditions are on several records, on what is not known "
            "exactly or on close guesses",
            name=path.name,
        )
    _write(verdict, path.name, junit, sarif)
    if output.as_json:
        print(json.dumps(_about(path, done, roles) | verdict.to_dict(), indent=2))
    else:
        _show(verdict, taken, None if output.out is None else output.out / REPORT)
    if not verdict.meets:
        raise typer.Exit(NOT_MET)


def _after_others(
    context: typer.Context,
    path: Path,
    after: options.LedgerOptions,
    output: options.OutputOptions,
    junit: Path | None,
    sarif: Path | None,
) -> int:
    """Check an output after those in a ledger and return the exit code."""
    from glasshouse.cli.ledger import check_output

    passes = check_output(
        context,
        path,
        after,
        output,
        files=(junit, sarif),
        write=lambda verdict: _write(verdict, path.name, junit, sarif),
    )
    return 0 if passes else NOT_MET


def _people(reading: options.DataOptions, **files: Path | None) -> dict[str, Any]:
    """Return the files of people beside a synthetic one, as a study has them."""
    return {word: reading.dataset(path) for word, path in files.items() if path is not None}


def _about(
    path: Path, done: Run[Question, Outcome] | None, roles: dict[str, Any]
) -> dict[str, Any]:
    """Return what was checked, and of a file what it was taken for."""
    about: dict[str, Any] = {"glasshouse": version("glasshouse"), "checked": path.name}
    if done is not None:
        weighted = getattr(done.outcome, "weighted", None)
        about |= {"records": done.records, "understood": roles}
        about |= {} if weighted is None else {"weighted": weighted.to_dict()}
    return about


def _sentences(
    understood: dict[str, Any], typed: dict[str, Any], done: Run[Question, Outcome]
) -> list[str]:
    """Return what a file was taken for, where that was not typed, and what survey weights tell of its people."""
    from glasshouse.report.survey_weights import weighted_sentence

    guessed = understood | {"invalid": understood["invalid"][len(typed["invalid"] or ()) :]}
    sentences = [
        sentence
        for role, sentence in taken_for(guessed)
        if role == "invalid" or not typed.get(role)
    ]
    weighted = getattr(done.outcome, "weighted", None)
    if weighted is not None:
        sentences.append(weighted_sentence(weighted, done.question.subject))
    return sentences


def _refuse_without_ledger(context: typer.Context) -> None:
    """Make sure that nothing is asked that only goes with a ledger."""
    bundle = {part.name for part in fields(options.LedgerOptions)}
    for name, typed in given_options(context):
        if name in bundle:
            raise StudyError("{option} needs --ledger: what went out before", option=typed)


def _refuse_beside_a_run(context: typer.Context) -> None:
    """Make sure that nothing is asked that the run has decided."""
    allowed = {"path", "policy", "baseline", "junit", "sarif", "as_json", "overwrite"}
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
        "weight": study.weight,
        "person": list(study.person),
        "invalid": list(study.treatment.invalid),
    }


def _assessed(
    study: AssessStudy, output: options.OutputOptions, threads: int | None
) -> Run[Question, Outcome]:
    """Assess a file, and keep the run where asked to."""
    from glasshouse.runs import Resources, check_place, run, write_run
    from glasshouse.study import paths_of

    if output.out is not None:
        check_place(output.out, overwrite=output.overwrite, data=paths_of(study))
    with progress() as on_progress:
        advising = output.out is not None  # a report shows it; exit code and verdict do not
        done = run(study, resources=Resources(on_progress, threads=threads), advising=advising)
        if output.out is not None:
            write_run(done, output.out, overwrite=output.overwrite)
    for warning in done.notes:
        warn(warning)
    return done


def _unjudged(study: AssessStudy, verdict: Verdict | None) -> Iterator[str]:
    """Yield what was asked that no condition of the rule judges, and the measures that would."""
    from glasshouse.study.policy import MEASURES

    judged = (
        {judgement.condition.measure for judgement in verdict.judgements}
        if verdict is not None
        else set()
    )
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
    from glasshouse.atomic import cannot_write, new_file
    from glasshouse.report.pipeline import to_junit, to_sarif

    for path, form in ((junit, to_junit), (sarif, to_sarif)):
        if path is not None:
            try:
                path.parent.mkdir(parents=True, exist_ok=True)
            except OSError as error:
                raise cannot_write(path, error) from None
            with new_file(path) as draft:
                draft.write_text(form(verdict, name), encoding="utf-8")


def _show(verdict: Verdict, taken: list[str], report: Path | None) -> None:
    """Print what was understood by itself, the conditions, and last the verdict and where the report is."""
    from glasshouse.report import terminal
    from glasshouse.report.page import Brief
    from glasshouse.report.verdict import ruling

    rule = ruling(verdict, whole=True)
    blocks = [" ".join(taken)] if taken else []
    places = () if report is None else (text("Report: {path}", path=report),)
    terminal.show(Brief((*blocks, rule.conditions), ruling=rule), places=places)


def without_nobody(dataset: dict[str, Any], invalid: list[str]) -> list[str]:
    """Return the conditions of records to leave out, with those of totals and repeated names, which are nobody.

    They are found in all columns, whichever are named, and said; nothing is with ``--strict``.
    """
    from glasshouse.runs.reading import nobody_in
    from glasshouse.study import Dataset, validated

    read = validated(Dataset, dataset, "check")
    if read.dialect.strict:
        return invalid
    nobody = [condition for condition in nobody_in(read) if condition not in invalid]
    if nobody:
        warn(_nobody_sentence(nobody))
    return [*invalid, *nobody]


def _nobody_sentence(conditions: Sequence[str]) -> str:
    return text(
        "Left out as totals or repeated names of columns, which are nobody: records with {conditions} (else say "
        "--strict).",
        conditions=quoted(conditions),
    )


def taken_for(understood: dict[str, Any]) -> Iterator[tuple[str, str]]:
    """Yield in sentences what a file was taken for, and how to say otherwise, each with the role that it is about."""
    yield (
        "quasi_identifiers",
        text(
            "What each column is was concluded from the file: it stands below the verdict (else say -q, -s, --drop or "
            "--ignore)."
        ),
    )
    if not understood["sensitive"]:
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
        yield "invalid", _nobody_sentence(understood["invalid"])
