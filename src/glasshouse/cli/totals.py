"""``glasshouse totals``: who is behind each record, from published totals."""

from __future__ import annotations

import json
import os
import shutil
import signal
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated

import typer

from glasshouse.cli import asking, options
from glasshouse.cli.interrupts import interrupt
from glasshouse.cli.progress import progress
from glasshouse.errors import DataError, SolverError, StudyError
from glasshouse.language import number, text

app = typer.Typer(
    name="totals",
    help="Who is behind each record, from de-identified records and published totals.",
    invoke_without_command=True,
    rich_markup_mode="rich",
)


_COUNTING = 0.4
"""The part of the time that counting the allocations of one group may take, in lists and in graphs each."""


@app.callback()
def _totals(context: typer.Context) -> None:
    """Show what there is, if nothing is asked."""
    if context.invoked_subcommand is None:
        print(context.get_help())


@app.command()
def solve(
    instance: Annotated[
        Path, typer.Argument(metavar="INSTANCE.json", help="One group: records, totals, rounding.")
    ],
    time_limit: Annotated[
        float,
        typer.Option(
            "--time-limit",
            metavar="SECONDS",
            help="CPU seconds; then a proved superset is told, exit code 3.",
        ),
    ] = 60.0,
    memory: Annotated[
        str, typer.Option("--memory", metavar="SIZE", help="How much lists may take, such as 2G.")
    ] = "2G",
    as_json: options.Json = False,
) -> None:
    """In which places each record of one group can be, under every allocation that meets the totals.

    Example: glasshouse totals solve group.json --json
    """
    from glasshouse.cli.solved import show_solution
    from glasshouse.sources import existing_file
    from glasshouse.totals import from_json, solve

    try:
        document = existing_file(instance).read_text(encoding="utf-8")
    except UnicodeDecodeError:
        raise DataError(
            text("{file}: is not UTF-8 text; give an instance as JSON", file=instance.name)
        ) from None
    found = solve(
        from_json(document),
        seconds=time_limit,
        memory=options.size_in_bytes(memory) or 2 << 30,
        counting=_COUNTING,
    )
    if as_json:
        print(json.dumps(found.to_dict(), indent=2))
    else:
        show_solution(found)
    if not found.proved:
        raise SolverError(
            text(
                "the limit was met: what is told is a proved superset; a longer --time-limit or more --memory may "
                "decide it"
            )
        )


@app.command()
def campaign(
    study_file: Annotated[
        Path,
        typer.Option("--study", metavar="FILE", help="The plan: publications, measures, phases."),
    ],
    seconds: Annotated[
        float | None,
        typer.Option(
            "--seconds",
            metavar="N",
            help="How long it may take in all, instead of what the plan says.",
        ),
    ] = None,
    processes: Annotated[
        int | None,
        typer.Option("--processes", metavar="N", min=1, help=r"\[default: one per processor]"),
    ] = None,
    resume: Annotated[
        bool,
        typer.Option(
            "--resume", help="Go on where an interrupted campaign with the same --out stopped."
        ),
    ] = False,
    per_record: Annotated[
        Path | None,
        typer.Option(
            "--per-record",
            metavar="FILE.parquet",
            help="Also write where each record can be, and how surely. It is the disclosure itself.",
        ),
    ] = None,
    entities: Annotated[
        Path | None,
        typer.Option(
            "--entities",
            metavar="FILE.parquet",
            help="Also write who is exposed with certainty, by name. It is the disclosure itself.",
        ),
    ] = None,
    out: options.Out = None,
    overwrite: options.Overwrite = False,
    as_json: options.Json = False,
) -> None:
    """A whole month: join publications by their keys, solve every group, and price the damage.

    Example: glasshouse totals campaign --study study.toml --seconds 600 --out run
    """
    from glasshouse.cli.totalled import show_campaign, write_entities, write_places
    from glasshouse.runs import Means, check_place, write_run
    from glasshouse.runs.totalling import run_totals
    from glasshouse.sources import existing_file
    from glasshouse.study import paths_of
    from glasshouse.study.files import load_question
    from glasshouse.study.totals import TotalsStudy

    study = load_question(study_file, TotalsStudy)
    if seconds is not None:
        if not 0 < seconds < float("inf"):
            raise StudyError(
                text("--seconds is {seconds}; give a number above 0", seconds=number(seconds, "g"))
            )
        budget = study.budget.model_copy(update={"seconds": seconds})
        study = study.model_copy(update={"budget": budget})
    for path in paths_of(study):
        existing_file(path)
    if entities is not None and study.entities is None:
        raise StudyError(
            text("--entities needs a register of entities; add [entities] to the plan")
        )
    if (
        entities is not None
        and per_record is not None
        and entities.absolute() == per_record.absolute()
    ):
        raise StudyError(text("--entities and --per-record name the same file; give each its own"))
    for written in (per_record, entities):
        if written is not None:
            asking.check_records_file(written, [study_file, *paths_of(study)], overwrite=overwrite)
    if out is None and resume:
        raise StudyError(text("--resume needs the --out of the campaign that was interrupted"))
    if out is not None:
        check_place(out, overwrite=overwrite)
    kept = None if out is None else out.with_name(f"{out.name}.partial")
    with asking.resumable(kept), _ended_like_interrupted(), progress() as watch:
        done = run_totals(
            study,
            means=Means(watch, threads=processes or os.cpu_count()),
            folder=kept,
            resume=resume,
        )
        report = None if out is None else write_run(done, out, overwrite=overwrite)
    if kept is not None:
        shutil.rmtree(kept, ignore_errors=True)
    if per_record is not None:
        write_places(done.result.packages_frame(), per_record)
    if entities is not None:
        write_entities(done.result.entities_frame(), entities)
    show_campaign(done, report, as_json=as_json)


@contextmanager
def _ended_like_interrupted() -> Iterator[None]:
    """Let SIGTERM, as schedulers send it, end a campaign as Ctrl-C does: what was found is kept, no process is left."""
    before = signal.signal(signal.SIGTERM, interrupt)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)
