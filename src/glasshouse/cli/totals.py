"""``glasshouse totals``: who is behind each record, from published totals."""

from __future__ import annotations

import os
from pathlib import Path

import typer

from glasshouse.cli import options
from glasshouse.cli.command import (
    carry_out,
    check_new_file,
    check_records_file,
    warn,
    write_records,
)
from glasshouse.cli.options import option
from glasshouse.errors import SolverError, StudyError, UnjudgedError
from glasshouse.language import number, text, text_for

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
        "CPU seconds; then a proved superset is told, exit code 3.",
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
            "the limit was met: what is told is a proved superset; a longer --time-limit or more --memory may "
            "decide it"
        )


def campaign(
    *,
    study_file: Path = option(
        "--study", "FILE", "The plan: publications, measures, phases.", default=...
    ),
    seconds: float | None = option(
        "--seconds", "N", "How long it may take in all, instead of what the plan says."
    ),
    processes: int | None = option("--processes", "N", r"\[default: one per processor]", min=1),
    resume: bool = option(
        "--resume",
        says="Go on where an interrupted campaign with the same --out stopped.",
        default=False,
    ),
    per_record: Path | None = option(
        "--per-record",
        "FILE.parquet",
        "Also write where each record can be, and how surely. It is the disclosure itself.",
    ),
    entities: Path | None = option(
        "--entities",
        "FILE.parquet",
        "Also write who is exposed with certainty, by name. It is the disclosure itself.",
    ),
    output: options.OutputOptions,
) -> None:
    """A whole month: join publications by their keys, solve every group, and price the damage.

    Example: glasshouse totals campaign --study study.toml --seconds 600 --out run
    """
    from glasshouse.reconstruction import CampaignResult
    from glasshouse.study import load_question, paths_of
    from glasshouse.study.totals import TotalsStudy

    study = load_question(study_file, TotalsStudy)
    if seconds is not None:
        if not 0 < seconds < float("inf"):
            raise StudyError(
                "--seconds is {seconds}; give a number above 0", seconds=number(seconds, "g")
            )
        budget = study.budget.model_copy(update={"seconds": seconds})
        study = study.model_copy(update={"budget": budget})
    if entities is not None and study.entities is None:
        raise StudyError("--entities needs a register of entities; add [entities] to the plan")
    if entities and per_record and entities.absolute() == per_record.absolute():
        raise StudyError("--entities and --per-record name the same file; give each its own")
    for path in (per_record, entities):
        if path is not None:
            data = [study_file, *paths_of(study)]
            check_records_file(path, data, overwrite=output.overwrite)
    done = carry_out(study, output, resume=resume, threads=processes or os.cpu_count())
    outcome = done.outcome
    if not isinstance(outcome, CampaignResult):
        return
    if outcome.troubles and not output.as_json:
        warn(text("note: with --json there is an example of each"))
    if per_record is not None:
        write_records(
            outcome.packages_frame(),
            per_record,
            text(
                "{path}: This file tells where each record can be, and how surely who is behind it: it is the "
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
                "{path}: This file names who is behind records with certainty: it is the disclosure itself. Keep it as "
                "closely as the data that the publications were to protect, and do not publish it.",
                path=entities,
            ),
        )


app.command()(options.Expanded(init))
app.command()(options.Expanded(solve))
app.command()(options.Expanded(campaign))
