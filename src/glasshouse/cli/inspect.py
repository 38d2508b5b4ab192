"""``glasshouse inspect``: what a file holds, and which role each column is likely to play."""

from __future__ import annotations

import json
import re
import shlex
from dataclasses import asdict, replace
from pathlib import Path
from typing import TYPE_CHECKING

from glasshouse.cli import options
from glasshouse.cli.command import check_new_file, progress, warn
from glasshouse.cli.options import option, with_options
from glasshouse.errors import DataError
from glasshouse.language import speaking, text, text_for

if TYPE_CHECKING:
    from glasshouse.study import Dataset
    from glasshouse.table import EncodedTable, TableProfile

PAGE = "inspect.html"
"""What the page is called in a folder."""


def inspect(
    *,
    file: Path = options.argument(
        "FILE",
        "CSV, Excel, SPSS, Stata, SAS, DBF, Parquet, a database … or a folder of Parquet.",
        default=...,
    ),
    out: Path | None = option(
        "--out",
        "DIR|FILE.html",
        f"Also write a page: this file, or {PAGE} in this folder.",
        callback=options.at_home,
    ),
    overwrite: bool = option("--overwrite", says="Replace the page if it exists.", default=False),
    as_json: options.Json = False,
    reading: options.DataOptions,
) -> None:
    """What a file holds: columns, distinct and missing values, and suggested roles with the reason.

    Example: glasshouse inspect adult.csv --out look
    """
    from glasshouse.sources import existing_data
    from glasshouse.study import Dataset, validated
    from glasshouse.table import read, reading_note, table_profile

    dataset = validated(Dataset, reading.dataset(file), "inspect")
    place = None if out is None else out if out.suffix in (".html", ".htm") else out / PAGE
    if place is not None:
        data = [existing_data(dataset.path)] if isinstance(dataset.path, Path) else []
        check_new_file(place, data, overwrite=overwrite)
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
    if note := reading_note(table):
        warn(note)
    profile = table_profile(table)
    words = _proposal(profile, dataset, reading)
    if place is not None and profile.lacks_header and not reading.no_header:
        raise DataError(
            "{name}: its first line looks like a record, not like names, and a page would show it; say `no_header`, or "
            "`names`",
            name=table.name,
        )
    if place is not None:
        name = file.name if isinstance(dataset.path, Path) else str(dataset.path)
        repeating = _command(name, ["inspect", *reading.typed(), "--out", PAGE])
        _write_page(place, profile, table, dataset, (_command(name, words), repeating))
    command = _command(str(file), words)
    from glasshouse.report.inspect.findings import inspect_brief, known_columns

    if as_json:
        with speaking("en"):  # it is the same in every language
            columns = [asdict(column) for column in table_profile(table).columns]
        content = {
            "records": profile.records,
            "repeated": profile.repeated,
            "headers": profile.headers,
            "totals": profile.totals,
            "columns": columns,
            "adversaries": known_columns(profile),
            "next": command,
        }
        print(json.dumps(content, indent=2))
        return
    from rich.console import Console

    from glasshouse.report import terminal

    console = Console()
    terminal.show(
        inspect_brief(profile, width=console.width),
        places=(
            *([text("Page: {path}", path=place)] if place else []),
            *([text("Next: {command}", command=command)] if command else []),
        ),
        console=console,
    )


def _command(name: str, words: list[str]) -> str:
    """Return a command as it is typed; nothing if there is none."""
    return shlex.join(["glasshouse", words[0], name, *words[1:]]) if words else ""


def _proposal(profile: TableProfile, dataset: Dataset, reading: options.FileOptions) -> list[str]:
    """Return the command that is proposed, without the file: to look again in another way, or to assess.

    Where the first lines of the file seem to be a title, or a record, that is said.
    """
    from glasshouse.sources import open_source
    from glasshouse.sources.delimited import DelimitedFile

    source = open_source(dataset.path, dialect=dataset.dialect)
    title = source.title_lines if isinstance(source, DelimitedFile) else 0
    if title and isinstance(source, DelimitedFile):
        if source.has_groups:
            warn(
                text(
                    "note: line {line} of {name} looks as if it said which columns belong together, and the next line "
                    "what each is called; if so, say --skip {line}",
                    line=str(title),
                    name=profile.name,
                )
            )
        else:
            warn(
                text_for(
                    title,
                    "note: the first line of {name} looks like a title, and the table begins behind it; if it is one, "
                    "say --skip {count}",
                    "note: the first {count} lines of {name} look like a title, and the table begins behind them; if "
                    "they are one, say --skip {count}",
                    name=profile.name,
                )
            )
        return ["inspect", *replace(reading, skip=title).typed()]
    if profile.lacks_header and not reading.no_header:
        warn(
            text(
                "note: the first line of {name} looks like a record, not like names; if it is one, say --no-header "
                "and name the columns with --names",
                name=profile.name,
            )
        )
        return ["inspect", *replace(reading, no_header=True).typed()]
    return _assessment(profile, reading)


def _assessment(profile: TableProfile, reading: options.FileOptions) -> list[str]:
    """Return the command that assesses a file by the suggested roles; nothing if nobody could know anything."""
    from glasshouse.table import Role
    from glasshouse.table.profiles import knowable, naming_column

    columns = profile.columns
    if profile.is_padded:
        reading = replace(reading, strip=True)
    names = {column.name: _typeable(column.name, reading) for column in columns}
    is_renamed = any(not name.strip().isprintable() for name in names)
    if is_renamed and reading.names is None and len(set(names.values())) == len(names):
        reading = replace(reading, names=",".join(map(_in_a_list, names.values())))
    person = naming_column(columns)
    roles = {
        "-q": knowable(columns),
        "-s": [column.name for column in columns if column.role is Role.SENSITIVE],
        "--id": [] if person is None else [person.name],
    }
    words = ["assess"]
    for flag, columns_so in roles.items():
        for name in map(names.__getitem__, columns_so):
            words += [flag, f'"{name}"' if flag == "-s" and "," in name else name]
    for name, values in profile.nobody(stripped=reading.strip):
        words += ["--invalid", f"{names[name]}={values}"]
    return [*words, *reading.typed()] if "-q" in words else []


def _in_a_list(name: str) -> str:
    """Return a name as it stands in a list with commas."""
    return '"{}"'.format(name.replace('"', '""')) if re.search('[",]', name) else name


def _typeable(name: str, reading: options.FileOptions) -> str:
    """Return the name of a column as it can be typed: without what cannot be seen, or is dropped."""
    if not name.strip().isprintable():
        name = "".join(sign if sign.isprintable() else " " for sign in name)
    return name.strip() if reading.strip or reading.names is not None else name


def _write_page(
    place: Path,
    profile: TableProfile,
    table: EncodedTable,
    dataset: Dataset,
    commands: tuple[str, str],
) -> None:
    """Write the page, whole or not at all; the commands are the one that is proposed, and the one that repeats it."""
    from importlib.metadata import version

    from glasshouse.atomic import cannot_write, new_file
    from glasshouse.disclosure import smallest_cell
    from glasshouse.report import Provenance
    from glasshouse.report.first_look import assumed_of
    from glasshouse.report.html import to_html
    from glasshouse.report.inspect.page import page
    from glasshouse.runs.reading import look_at_file
    from glasshouse.table import Role
    from glasshouse.table.profiles import identifying, people_of

    known = [c.name for c in profile.columns if c.role is Role.QUASI_IDENTIFIER]
    content = page(
        profile,
        identifying(people_of(table), known),
        assumptions=[
            *assumed_of(look_at_file(dataset)),
            *(with_options(one) for one in table.assumptions if one.endswith("(`strict`)")),
        ],
        command=commands[1],
        provenance=Provenance(version("glasshouse"), "", (), smallest_cell=smallest_cell()),
    )
    try:
        place.parent.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise cannot_write(place, error) from None
    with new_file(place) as draft:
        draft.write_text(to_html(content, proposal=commands[0]), encoding="utf-8")
