"""``glasshouse totals``: who is behind each record, from published totals."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from glasshouse.cli import options
from glasshouse.cli.command import (
    carry_out,
    check_new_file,
    check_records_file,
    warn,
    write_records,
)
from glasshouse.cli.options import OutputOptions, option
from glasshouse.errors import SolverError, StudyError, UnjudgedError
from glasshouse.language import number, text, text_for

if TYPE_CHECKING:
    from glasshouse.runs import Outcome
    from glasshouse.study.totals import TotalsStudy

app = typer.Typer(
    name="totals",
    help="Who is behind each record, from de-identified records and published totals.",
    invoke_without_command=True,
    rich_markup_mode="rich",
)


@app.callback()
def _totals(context: typer.Context) -> None:
    """Show what there is, if nothing is asked."""
    if context.invoked_subcommand is None:
        print(context.get_help())


def init(
    records: Path = options.argument(
        "RECORDS", "The records, without names: CSV or Parquet.", default=...
    ),
    totals: list[Path] = options.argument(
        "TOTALS", "Their totals by place, a file for each phase.", default=...
    ),
    out: Path = option("--out -o", "FILE", "The plan to write.", default=...),
    register: Path | None = option(
        "--register", "FILE", "Who is where: entities and their places."
    ),
    overwrite: bool = option("--overwrite", says="Replace the plan if it is there.", default=False),
) -> None:
    """Draft a plan from the files: how they are written, which columns agree, and what to check.

    Example: glasshouse totals init transactions.csv by_city.csv --register importers.csv -o plan.toml
    """
    from glasshouse.atomic import new_file
    from glasshouse.runs.plan_draft import TO_FILL, draft_plan

    data = [records, *totals, *([] if register is None else [register])]
    check_new_file(out, data, overwrite=overwrite)
    draft = draft_plan(records, totals, folder=out.absolute().parent, register=register)
    with new_file(out) as path:
        path.write_text(draft.toml, encoding="utf-8")
    print(text("{path}: a draft; check what its comments say", path=out))
    if draft.to_fill:
        warn(
            text_for(
                draft.to_fill,
                'note: {count} place is to be filled before a campaign can begin: look for "{mark}"',
                'note: {count} places are to be filled before a campaign can begin: look for "{mark}"',
                mark=TO_FILL,
            )
        )
    print(text("Next: {command}", command=f"glasshouse totals campaign --study {out}"))


def solve(
    *,
    instance: Path = options.argument(
        "INSTANCE.json", "One group: records, totals, rounding.", default=...
    ),
    time_limit: float = option(
        "--time-limit",
        "SECONDS",
        "CPU seconds; then a proved superset is shown, exit code 3.",
        default=60.0,
    ),
    memory: str = option("--memory", "SIZE", "How much lists may take, such as 2G.", default="2G"),
    output: options.OutputOptions,
) -> None:
    """In which places each record of one group can be, under every allocation that meets the totals.

    Example: glasshouse totals solve group.json --json
    """
    from glasshouse.reconstruction import Solution
    from glasshouse.study import validated
    from glasshouse.study.totals import SolveStudy

    size = options.size_in_bytes(memory) or 2 << 30
    content = {"instance": instance, "seconds": time_limit, "memory": size}
    study = validated(SolveStudy, content, "totals solve")
    solution = carry_out(study, output).outcome
    if isinstance(solution, Solution) and solution.status == "infeasible":
        raise UnjudgedError(
            "no allocation meets the totals, so that nothing was attacked and there is no verdict; see whether they "
            "are of the same records, and how they were rounded"
        )
    if isinstance(solution, Solution) and not solution.proved:
        raise SolverError(
            "the limit was met: what is shown is a proved superset; a longer --time-limit or more --memory may "
            "decide it"
        )


PerRecord = Annotated[
    Path | None,
    option(
        "--per-record",
        "FILE.parquet",
        "Also write where each record can be, and how surely. It is the disclosure itself.",
    ),
]
Entities = Annotated[
    Path | None,
    option(
        "--entities",
        "FILE.parquet",
        "Also write who is exposed with certainty, by name. It is the disclosure itself.",
    ),
]
Processes = Annotated[
    int | None, option("--processes", "N", r"\[default: one per processor]", min=1)
]
Plan = Annotated[Path, option("--study", "FILE", "The plan: publications, measures, phases.")]


def campaign(
    *,
    study_file: Plan,
    time_limit: float | None = option(
        "--time-limit",
        "SECONDS",
        "By the clock; then what is open is shown as open, exit code 3. \\[default: as long as it takes]",
    ),
    memory: str | None = option(
        "--memory",
        "SIZE",
        "What all processes may use, such as 8G; there are fewer of them then. \\[default: no limit]",
    ),
    processes: Processes = None,
    part: str | None = option(
        "--part",
        "I/N",
        "Only one of several parts, each on a machine of its own; totals merge puts them together.",
    ),
    resume: bool = option(
        "--resume",
        says="Go on where an interrupted campaign with the same --out stopped.",
        default=False,
    ),
    per_record: PerRecord = None,
    entities: Entities = None,
    output: options.OutputOptions,
) -> None:
    """A whole month: join publications by their keys, solve every group, and price the damage.

    Example: glasshouse totals campaign --study study.toml --time-limit 600 --out run
    """
    from glasshouse.study import load_question
    from glasshouse.study.totals import TotalsStudy

    study = load_question(study_file, TotalsStudy)
    if time_limit is not None and not 0 < time_limit < float("inf"):
        raise StudyError(
            "--time-limit is {seconds}; give a number above 0", seconds=number(time_limit, "g")
        )
    threads = processes or os.cpu_count() or 1
    if part is not None:
        if per_record or entities:
            raise StudyError(
                "a part shows nothing yet; give --per-record and --entities to totals merge"
            )
        _carry_out_part(study, part, output, time_limit, memory, threads, resume=resume)
        return
    _check_files(study, study_file, output, per_record, entities)
    done = carry_out(
        study, output, resume=resume, threads=threads, memory=memory, time_limit=time_limit
    )
    _tell(done.outcome, output, per_record, entities)


def merge(
    *,
    parts: list[Path] = options.argument(
        "PART", "The --out of every part, in any order.", default=...
    ),
    study_file: Plan,
    processes: Processes = None,
    per_record: PerRecord = None,
    entities: Entities = None,
    output: options.OutputOptions,
) -> None:
    """Put the parts of a campaign together: the same answer as one machine would give.

    Example: glasshouse totals merge part1 part2 --study study.toml --out run
    """
    from glasshouse.study import load_question
    from glasshouse.study.totals import TotalsStudy

    study = load_question(study_file, TotalsStudy)
    _check_files(study, study_file, output, per_record, entities)
    threads = processes or os.cpu_count() or 1
    done = carry_out(study, output, threads=threads, extras={"parts": parts})
    _tell(done.outcome, output, per_record, entities)


def _carry_out_part(
    study: TotalsStudy,
    part: str,
    output: OutputOptions,
    time_limit: float | None,
    memory: str | None,
    processes: int,
    *,
    resume: bool,
) -> None:
    """Carry out one part of a plan, and say how far it came."""
    from glasshouse.cli.command import progress
    from glasshouse.cli.interrupts import interruptible
    from glasshouse.reconstruction import CampaignPart, campaign_part

    which = CampaignPart.of_text(part)
    if output.out is None:
        raise StudyError("--part needs --out: the folder in which the part keeps what it finds")
    with interruptible(), progress() as on_progress:
        done = campaign_part(
            study,
            which,
            folder=output.out,
            processes=processes,
            resume=resume,
            overwrite=output.overwrite,
            time_limit=time_limit,
            memory=options.size_in_bytes(memory),
            on_progress=on_progress,
        )
    if output.as_json:
        print(json.dumps(done.to_dict(), indent=2))
    else:
        for phase in done.phases:
            print(
                text(
                    "{phase}: {solved} of {tried} parts of the problem solved exactly",
                    phase=phase.name,
                    solved=phase.solved,
                    tried=phase.tried,
                )
            )
        folders = " ".join(["PART"] * which.of)
        print(text("Next: {command}", command=f"glasshouse totals merge {folders} --study FILE"))
    if not done.complete:
        raise SolverError(
            "the time limit was met before part {part} was finished; the same command with --resume goes on from here",
            part=str(which),
        )


def _check_files(
    study: TotalsStudy,
    study_file: Path,
    output: OutputOptions,
    per_record: Path | None,
    entities: Path | None,
) -> None:
    """Make sure that what is to be written beside a run can be, and destroys nothing."""
    from glasshouse.study import paths_of

    if entities is not None and study.entities is None:
        raise StudyError("--entities needs a register of entities; add [entities] to the plan")
    if entities and per_record and entities.absolute() == per_record.absolute():
        raise StudyError("--entities and --per-record name the same file; give each its own")
    for path in (per_record, entities):
        if path is not None:
            data = [study_file, *paths_of(study)]
            check_records_file(path, data, overwrite=output.overwrite)


def _tell(
    outcome: Outcome, output: OutputOptions, per_record: Path | None, entities: Path | None
) -> None:
    """Write what a campaign discloses where that was asked for, and say where it was stopped."""
    from glasshouse.reconstruction import CampaignResult

    if not isinstance(outcome, CampaignResult):
        return
    if outcome.troubles and not output.as_json:
        warn(text("note: with --json there is an example of each"))
    if per_record is not None:
        write_records(
            outcome.packages_frame(),
            per_record,
            text(
                "{path}: This file shows where each record can be, and how surely who is behind it: it is the "
                "disclosure itself. Keep it as closely as the data that the publications were to protect, and do not "
                "publish it.",
                path=per_record,
            ),
        )
    if entities is not None:
        write_records(
            outcome.entities_frame(),
            entities,
            text(
                "{path}: This file says who is behind records with certainty: it is the disclosure itself. Keep it "
                "as closely as the data that the publications were to protect, and do not publish it.",
                path=entities,
            ),
        )
    if not outcome.complete:
        raise SolverError(
            "the time limit was met: what had no time is shown as open, and may be certain to others; a longer "
            "--time-limit may decide it"
        )


app.command()(options.Expanded(init))
app.command()(options.Expanded(solve))
app.command()(options.Expanded(campaign))
app.command()(options.Expanded(merge))
