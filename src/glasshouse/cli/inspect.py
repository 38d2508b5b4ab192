"""``glasshouse inspect``: what a file holds, and which role each column is likely to play."""

from __future__ import annotations

import json
import shlex
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from glasshouse.cli import options
from glasshouse.cli.command import progress, warn
from glasshouse.language import speaking, text

if TYPE_CHECKING:
    from glasshouse.table.profiles import ColumnProfile


def inspect(
    *,
    file: Annotated[
        Path,
        typer.Argument(
            metavar="FILE",
            help="CSV, Excel, SPSS, Stata, SAS, DBF, Parquet, a database … or a folder of Parquet.",
        ),
    ],
    as_json: options.Json = False,
    reading: options.DataOptions,
) -> None:
    """What a file holds: columns, distinct and missing values, and suggested roles with the reason.

    Example: glasshouse inspect adult.csv
    """
    from glasshouse.study import Dataset, validated
    from glasshouse.table import encoding_note, read
    from glasshouse.table.profiles import has_no_header, profile

    dataset = validated(Dataset, reading.dataset(file), "inspect")
    with progress() as on_progress:
        table = read(
            dataset.path,
            dialect=dataset.dialect,
            types=dataset.types,
            missing=dataset.missing,
            date=dataset.date,
            derive=dataset.derive,
            bands=dataset.bands,
            group=dataset.group,
            on_progress=on_progress,
        )
    if note := encoding_note(table):
        warn(note)
    if as_json:
        with speaking("en"):  # it is the same in every language
            columns = [asdict(column) for column in profile(table)]
        print(json.dumps({"records": table.records, "columns": columns}, indent=2))
        return
    from rich.console import Console

    from glasshouse.report import terminal
    from glasshouse.report.inspect import inspect_brief

    console, profiles = Console(), profile(table)
    command = _suggested_command(profiles, file, reading)
    if not reading.no_header and has_no_header(table):
        warn(
            text(
                "note: the first line of {name} looks like a record, not like names; if it is one, say --no-header "
                "and name the columns with --names",
                name=table.name,
            )
        )
        command = shlex.join(["glasshouse", "inspect", str(file), "--no-header", *reading.typed()])
    terminal.show(
        inspect_brief(profiles, table.name, table.records, width=console.width),
        places=(text("Next: {command}", command=command),) if command else (),
        console=console,
    )


def _suggested_command(
    profiles: tuple[ColumnProfile, ...], file: Path, reading: options.DataOptions
) -> str:
    from glasshouse.table import Role, suggested_roles

    flags = {
        Role.QUASI_IDENTIFIER: "-q",
        Role.SENSITIVE: "-s",
        Role.IDENTIFIER: "--id",
        Role.WEIGHT: "--weight",
    }
    roles = suggested_roles(profiles)
    if not roles[Role.QUASI_IDENTIFIER]:
        return ""
    words = ["glasshouse", "assess", str(file)]
    for role, flag in flags.items():
        for name in roles[role]:
            words += [flag, f'"{name}"' if flag == "-s" and "," in name else name]
    return shlex.join([*words, *reading.typed()])
