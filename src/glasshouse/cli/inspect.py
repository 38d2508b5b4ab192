"""``glasshouse inspect``: what a file holds, and which role each column is likely to play."""

from __future__ import annotations

import json
import shlex
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from glasshouse.cli import options
from glasshouse.cli.progress import progress
from glasshouse.language import speaking, text, text_for

if TYPE_CHECKING:
    from glasshouse.table import ColumnProfile


def inspect(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="CSV, Parquet or Arrow.")],
    as_json: options.Json = False,
    separator: options.Separator = None,
    quote: options.Quote = None,
    encoding: options.Encoding = None,
    no_header: options.NoHeader = False,
    names: options.Names = None,
    strip: options.Strip = False,
    types: options.Types = None,
) -> None:
    """What a file holds: columns, distinct and missing values, and suggested roles with the reason.

    Example: glasshouse inspect adult.csv
    """
    from glasshouse.study import make_dataset
    from glasshouse.table import profile, read

    dialect = options.dialect_content(separator, quote, encoding, no_header, names, strip)
    kinds = options.assignments(types, option="--type", form="COLUMN=TYPE")
    dataset = make_dataset({"path": file, "dialect": dialect, "types": kinds}, where="inspect")
    with progress() as watch:
        table = read(
            dataset.path, dialect=dataset.dialect, types=dataset.types, on_progress=watch.reading
        )
    if as_json:
        with speaking("en"):  # it is the same in every language
            columns = [asdict(column) for column in profile(table)]
        print(json.dumps({"records": table.records, "columns": columns}, indent=2))
    else:
        given = {
            "--separator": separator,
            "--quote": quote,
            "--encoding": encoding,
            "--names": names,
        }
        reading = [
            part for flag, value in given.items() if value is not None for part in (flag, value)
        ]
        reading += ["--no-header"] * no_header + ["--strip"] * strip
        reading += [part for kind in types or [] for part in ("--type", kind)]
        _show(profile(table), file, table.name, table.records, reading)


def _show(
    profiles: tuple[ColumnProfile, ...], file: Path, name: str, records: int, reading: list[str]
) -> None:
    from rich.console import Console

    from glasshouse.cli.tables import profile_table

    console = Console()
    title = text(
        "{name}: {records}, {columns}",
        name=name,
        records=text_for(records, "{count} record", "{count} records"),
        columns=text_for(len(profiles), "{count} column", "{count} columns"),
    )
    console.print(profile_table(profiles, title=title, width=console.width))
    console.print(
        text(
            "Roles are suggestions from names and values: an attribute is a quasi-identifier if someone could know it."
        )
    )
    command = _suggested_command(profiles, file, reading)
    if command:
        console.print(
            text("Next: {command}", command=command), markup=False, highlight=False, soft_wrap=True
        )


def _suggested_command(profiles: tuple[ColumnProfile, ...], file: Path, reading: list[str]) -> str:
    from glasshouse.table import Role

    flags = {
        Role.QUASI_IDENTIFIER: "-q",
        Role.SENSITIVE: "-s",
        Role.IDENTIFIER: "--id",
        Role.WEIGHT: "--weight",
    }
    parts = ["glasshouse", "assess", str(file)]
    seen: set[str] = set()
    for role, flag in flags.items():
        for profile in profiles:
            if profile.role is role and not (flag.startswith("--") and flag in seen):
                name = profile.name
                parts += [flag, f'"{name}"' if flag == "-s" and "," in name else name]
                seen.add(flag)
    parts += reading
    return shlex.join(parts) if "-q" in seen else ""
