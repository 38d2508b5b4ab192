"""The one way in which a command is carried out: from what was typed to what is written and said."""

from __future__ import annotations

import json
import os
import shlex
import sys
import time
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from contextlib import contextmanager, nullcontext, suppress
from dataclasses import fields, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar, get_args

import typer

from glasshouse.cli.interrupts import interruptible
from glasshouse.cli.options import OutputOptions, RunOptions, with_options
from glasshouse.errors import DataError, StoppedError, StudyError
from glasshouse.language import marked, number, printable, spoken, text, text_for, translated
from glasshouse.progress import PROGRESS_FILE, OnProgress, Progress, Stage

if TYPE_CHECKING:
    from glasshouse.report.page import Action, Brief
    from glasshouse.runs import Outcome, Run
    from glasshouse.study import Question

    Q = TypeVar("Q", bound=Question)

RUNNING = ("resume", "threads", "memory", "per_record")
"""What may be said beside a study, with where the answer goes: nothing of it changes the figures."""
STAGES = {
    "reading": marked("reading"),
    "sweeping": marked("sweeping"),
    "searching": marked("searching"),
    "sampling": marked("sampling"),
    "solving": marked("solving"),
}
PHASES = (marked("burn-in"), marked("sampling"))
"""What a sampler says that it does."""
_PAUSE = 0.2
"""Seconds between two notes of how far a command is, in a file."""


def question(
    context: typer.Context,
    output: RunOptions,
    kind: type[Q],
    content: Callable[[], dict[str, Any]],
    *,
    allowed: Collection[str] = (),
) -> Q:
    """Return the question that is asked: by a study file, or else by options.

    Args:
        context: What was typed.
        output: The study file, if there is one, and where the answer goes.
        kind: The kind of study that the command answers.
        content: Makes the study from the options.
        allowed: What may be said beside a study file, further to how it is run.

    Raises:
        StudyError: Something is asked beside a study file, or it makes no sense.
    """
    from glasshouse.study import load_question, validated

    if output.study_file is None:
        return validated(kind, content(), str(context.info_name))
    permitted = {*(field.name for field in fields(RunOptions)), *RUNNING, *allowed}
    for name, option in given_options(context):
        if name not in permitted:
            raise StudyError(
                "--study says it all: leave out {given}, or write it into the study",
                given=option if option.startswith("-") else text("the file"),
            )
    return load_question(output.study_file, kind)


def carry_out(
    study: Question,
    output: OutputOptions,
    *,
    resume: bool = False,
    threads: int | None = None,
    memory: str | None = None,
    time_limit: float | None = None,
    per_record: Path | None = None,
    extras: Mapping[str, Any] | None = None,
    engine: Callable[..., Run[Any, Any]] | None = None,
) -> Run[Question, Outcome]:
    """Carry out a study, keep the run where asked to, and say what came out.

    Args:
        study: What is asked.
        output: Where the answer goes.
        resume: Whether to go on from what an interrupted run has kept.
        threads: How many threads to use.
        memory: What the process may use, as it was typed.
        time_limit: After how many seconds by the clock nothing more is begun, of what can be told as open.
        per_record: Where to write what is known of every record.
        extras: What else is asked for, as the command's module in ``runs`` says.
        engine: What carries it out, if not this machine.
    """
    from glasshouse.atomic import held
    from glasshouse.checkpoint import Checkpoint
    from glasshouse.cli.options import size_in_bytes
    from glasshouse.runs import Resources, check_place, checkpoint_key, run, write_run
    from glasshouse.sources import existing_data
    from glasshouse.study import load_policy, paths_of

    study = output.titled(study)
    if output.policy is not None:
        study = study.model_copy(update={"policy": load_policy(output.policy)})
    limit = size_in_bytes(memory)
    data = [path for path in paths_of(study) if not path.is_dir()]
    for path in data:
        existing_data(path)
    if per_record is not None:
        check_records_file(per_record, data, overwrite=output.overwrite, as_csv=engine is None)
        extras = {**(extras or {}), "per_record": True}
    checkpoint = None
    if output.out is not None:
        check_place(output.out, overwrite=output.overwrite, data=paths_of(study))
        key = checkpoint_key(study)
        if key is not None:
            checkpoint = Checkpoint.beside(output.out, key=key, discard=output.overwrite)
    elif resume:
        raise StudyError("--resume needs the --out of the run that was interrupted")
    place = nullcontext() if output.out is None else held(output.out)
    with place, _resumable(checkpoint), progress() as on_progress:
        resources = Resources(
            on_progress, checkpoint, resume, threads, limit, time_limit, on_note=warn
        )
        done = (engine or run)(study, resources=resources, **(extras or {}))
        report = (
            None if output.out is None else write_run(done, output.out, overwrite=output.overwrite)
        )
        if checkpoint is not None and not done.unfinished:
            checkpoint.remove()
    if checkpoint is not None and done.unfinished:
        warn(done.unfinished)
    if per_record is not None and done.per_record is not None:
        write_records(done.per_record, per_record)
    show(done, report, as_json=output.as_json)
    return done


def show(done: Run[Question, Outcome], report: Path | None, *, as_json: bool) -> None:
    """Print what a run found: as one JSON document, or as tables and sentences; and where its report is."""
    for warning in done.notes:
        warn(warning)
    from glasshouse.table import Step

    if as_json:
        print(json.dumps(done.to_dict(), indent=2))
        steps = [step for step in getattr(done.outcome, "steps", ()) if isinstance(step, Step)]
        for step in steps:
            if step.left_out:
                warn(_left_out(step))
        if any(step.view for step in steps):
            from glasshouse.report.provenance import view_notes

            for note in view_notes(steps):
                warn(note)
        return
    from glasshouse.report import terminal

    places = []
    if report is not None:
        release = done.manifest.get("release")
        if release is not None:
            places.append(text("Release: {path}", path=report.parent / release))
        places.append(text("Report: {path}", path=report))
    brief = done.brief
    terminal.show(brief, actions=_actions(brief, report), places=tuple(places))


def _actions(brief: Brief, report: Path | None) -> tuple[Action, ...]:
    """Return what the report says to do; nothing where there is none."""
    from glasshouse.runs.folder import stored_report

    if report is None or brief.ruling is None:
        return ()
    place = shlex.quote(str(report.parent / "study.toml"))  # a report stands beside its study
    return tuple(
        replace(action, command=action.command.replace("study.toml", place))
        if "--study study.toml" in action.command
        else action
        for action in stored_report(report.parent).pages[spoken()].actions
    )


def warn(sentence: str) -> None:
    """Say something on standard error."""
    print(printable(with_options(sentence)), file=sys.stderr)


def _left_out(step: Any) -> str:
    values = {
        "dataset": step.dataset,
        "left_out": step.left_out,
        "before": step.before,
        "what": translated(step.what),
    }
    if step.column is None:
        return text("note: {dataset}: {left_out} of {before} records left out: {what}", **values)
    return text(
        'note: {dataset}: {left_out} of {before} records left out: {what} in column "{column}"',
        **values,
        column=step.column,
    )


def given_options(context: typer.Context) -> Iterator[tuple[str, str]]:
    """Yield the options that were typed: the name of each parameter, and what the user calls it.

    The options that every command has, such as ``--lang``, ask nothing of it and are left out.
    """
    for parameter in context.command.params:
        if parameter.expose_value and was_typed(context, str(parameter.name)):
            yield str(parameter.name), parameter.opts[0]


def was_typed(context: Any, name: str) -> bool:
    """Tell whether a parameter was given on the command line, after this command."""
    source = context.get_parameter_source(name)
    return source is not None and source.name == "COMMANDLINE"


@contextmanager
def _resumable(checkpoint: Any) -> Iterator[None]:
    """Say how to go on where a run that keeps its steps is stopped."""
    try:
        with interruptible():
            yield
    except KeyboardInterrupt:
        if checkpoint is not None and checkpoint.folder.exists():
            raise StoppedError(
                "stopped; the same command with --resume goes on from here"
            ) from None
        raise


def check_new_file(path: Path, data: Iterable[Path], *, overwrite: bool) -> None:
    """Make sure that a file written beside a run destroys nothing.

    Raises:
        DataError: It is the data itself, or there and not to be overwritten.
    """
    if path.exists() and any(path.samefile(source) for source in data):
        raise DataError('"{path}" is the data itself; choose another place', path=path)
    if path.exists() and not overwrite:
        raise DataError('"{path}" exists; choose another place, or say --overwrite', path=path)


def check_records_file(
    path: Path, data: Iterable[Path], *, overwrite: bool, as_csv: bool = False
) -> None:
    """Make sure that a file with what is known of every record destroys nothing, and is named as what it will be.

    Args:
        path: Its place.
        data: What is read.
        overwrite: Whether it may be there.
        as_csv: Whether it may be CSV, too.

    Raises:
        DataError: It is the data itself, or there and not to be overwritten, or named as another kind of file.
    """
    if as_csv and path.suffix not in (".parquet", ".csv"):
        raise DataError(
            '"{path}" is written as Parquet or CSV; give a name that ends in .parquet or .csv',
            path=path,
        )
    if not as_csv and path.suffix != ".parquet":
        raise DataError(
            '"{path}" is written as Parquet; give a name that ends in .parquet', path=path
        )
    check_new_file(path, data, overwrite=overwrite)


def write_records(frame: Any, path: Path, warning: str | None = None) -> None:
    """Write what is known of every record, whole or not at all, and warn that it is about people."""
    from glasshouse.atomic import new_file
    from glasshouse.microdata.attacks import SENSITIVE_WARNING
    from glasshouse.sources.entry import is_on_spark

    if is_on_spark(frame):
        from glasshouse.engines.spark.files import write_frame

        write_frame(frame, path)
    else:
        from pyarrow import csv, parquet

        write = csv.write_csv if path.suffix == ".csv" else parquet.write_table
        with new_file(path, private=True) as draft:
            write(frame, draft)
    warn(f"{path}: {translated(SENSITIVE_WARNING)}" if warning is None else warning)


@contextmanager
def progress() -> Iterator[OnProgress | None]:
    """Show a bar for each stage that has begun; nothing when standard error is no terminal.

    Where the environment names a file for it, how far the command is is written there instead.
    """
    if place := os.environ.get(PROGRESS_FILE):
        yield _Written(Path(place))
        return
    if not sys.stderr.isatty():
        yield None
        return
    from rich.console import Console
    from rich.progress import (
        BarColumn,
        TaskProgressColumn,
        TextColumn,
        TimeRemainingColumn,
    )
    from rich.progress import Progress as Bars

    bars = Bars(
        TextColumn("{task.description}"),
        BarColumn(),
        TaskProgressColumn(),
        TextColumn("{task.fields[note]}"),
        TimeRemainingColumn(),
        console=Console(stderr=True),
        transient=True,
    )
    with bars:
        tasks = {
            stage: bars.add_task(translated(STAGES[stage]), total=None, note="", visible=False)
            for stage in get_args(Stage)
        }

        def show(now: Progress) -> None:
            bars.update(
                tasks[now.stage],
                completed=now.done,
                total=now.total,
                note=_note(now),
                visible=True,
            )

        yield show


class _Written:
    """Writes how far a command is to a file, a few times a second."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._due = 0.0

    def __call__(self, now: Progress) -> None:
        if time.monotonic() < self._due and now.share != 1:
            return
        self._due = time.monotonic() + _PAUSE
        draft = self._path.with_suffix(".new")
        with suppress(OSError):  # the figures do not depend on it
            draft.write_text(json.dumps({"stage": now.stage, "share": now.share}), encoding="utf-8")
            draft.replace(self._path)


def _note(now: Progress) -> str:
    """Return the figures so far, as they stand beside the bar."""
    figures = now.figures
    if now.stage == "sweeping" and now.note:
        return translated(now.note)
    if now.stage == "sweeping":
        visits = int(figures.get("visits", 0))
        return text_for(visits, "{count} record visited", "{count} records visited")
    if now.stage == "searching":
        return _search_note(int(now.done), figures.get("bound", 0.0), figures.get("best"))
    if now.stage == "solving" and "placed" in figures:
        return _solving_note(now.note, int(figures["placed"]), figures["seconds"])
    if now.stage != "sampling":
        return now.note
    notes = [translated(now.note)]
    if "rhat" in figures:
        notes.append(f"R-hat {number(figures['rhat'], '.3f')}")
    if "error" in figures:
        notes.append(text("error {error}", error=number(figures["error"], ".2g")))
    return ", ".join(notes)


def _solving_note(phase: str, placed: int, seconds: float) -> str:
    """Say what a campaign has found so far, and how long the phase takes about."""
    return text(
        "{phase}: {placed} records placed, about {minutes} min of this phase left",
        phase=phase,
        placed=placed,
        minutes=number(seconds / 60, ".1f"),
    )


def _search_note(done: int, bound: float, best: float | None) -> str:
    """Say how far a search for the best protection is."""
    if best is None:
        return text(
            "{count} looked at, nothing found yet, none below {bound}",
            count=done,
            bound=number(bound, ".4f"),
        )
    return text(
        "{count} looked at, best loss {best}, none below {bound}",
        count=done,
        best=number(best, ".4f"),
        bound=number(bound, ".4f"),
    )
