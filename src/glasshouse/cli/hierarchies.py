"""``glasshouse hierarchies``: how the values of a file could be generalised, to see, to edit and to pass back."""

from __future__ import annotations

import json
import re
import shlex
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from glasshouse.cli import options
from glasshouse.cli.command import check_new_file, progress
from glasshouse.cli.options import option, protection
from glasshouse.errors import StudyError
from glasshouse.language import text

if TYPE_CHECKING:
    from glasshouse.study import Dataset
    from glasshouse.table import EncodedTable


def hierarchies(
    *,
    file: Annotated[
        Path, typer.Argument(metavar="FILE", help="The data: a file of any kind that is read.")
    ],
    quasi_identifiers: options.QuasiIdentifiers = None,
    rules: Annotated[
        list[str] | None,
        protection(
            "--hierarchy",
            "COL=RULE",
            "Make that of a column by a rule, such as intervals:5,10 or icd10. Repeatable. \\[default: suggested]",
        ),
    ] = None,
    out: Annotated[
        Path | None,
        option(
            "--out",
            "DIR",
            "Write them as CSV, a file per column; they hold the values of the data.",
            callback=options.at_home,
        ),
    ] = None,
    overwrite: Annotated[
        bool, option("--overwrite", says="Replace the files if they exist.")
    ] = False,
    as_json: options.Json = False,
    reading: options.DataOptions,
) -> None:
    """How the values of columns could be generalised: a suggestion for each, as files to edit and pass back.

    Example: glasshouse hierarchies people.csv -q age -q zip --out levels

    Edit levels/age.csv, and give it to glasshouse anonymise with --hierarchy age=levels/age.csv.
    """
    from glasshouse.atomic import cannot_write
    from glasshouse.mitigation.anonymisation import UsedHierarchy
    from glasshouse.runs.anonymise import hierarchies_of
    from glasshouse.study import Dataset, validated
    from glasshouse.study.anonymise import Protection

    dataset = validated(Dataset, reading.dataset(file), "hierarchies")
    content = {"method": "k-anonymity", "k": 2, "hierarchies": options.hierarchies(rules)}
    protected = validated(Protection, content, "hierarchies")
    table = _table(dataset, quasi_identifiers)
    encoding = dataset.dialect.encoding
    suggested = hierarchies_of(protected, table, encoding=encoding)
    files: dict[str, Path] = {}
    if out is not None:
        files = dict(zip(suggested, _files(out, list(suggested)), strict=True))
        for path in files.values():
            check_new_file(path, [file] if file.is_file() else [], overwrite=overwrite)
        try:
            out.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise cannot_write(out, error) from None
        for name, hierarchy in suggested.items():
            alike_together = tuple(sorted(hierarchy.rows, key=lambda row: row[::-1]))
            replace(hierarchy, rows=alike_together).save(files[name], encoding=encoding or "utf-8")
    used = [
        UsedHierarchy.of(hierarchy, table.column(name)) for name, hierarchy in suggested.items()
    ]
    if as_json:
        print(json.dumps([hierarchy.to_dict() for hierarchy in used], indent=2))
        return
    from rich.console import Console

    from glasshouse.report import terminal
    from glasshouse.report.anonymise.dictionary import suggestion_table
    from glasshouse.report.page import Brief

    words = ["glasshouse", "anonymise", str(file)]
    for name in suggested:
        words += ["-q", name]
    for name, path in files.items():
        words += ["--hierarchy", f"{name}={path}"]
    command = shlex.join([*words, *reading.typed(), "--k", "5", "--out", "protected"])
    terminal.show(
        Brief((suggestion_table(used),), ()),
        places=(
            *([text("Hierarchies: {path}", path=out)] if out else []),
            text("Next: {command}", command=command),
        ),
        console=Console(),
    )


def _table(dataset: Dataset, names: list[str] | None) -> EncodedTable:
    """Read the columns that are to be generalised: those that are named, or else what somebody could know."""
    from glasshouse.runs.reading import read_file
    from glasshouse.table import profile
    from glasshouse.table.profiles import knowable

    with progress() as on_progress:
        if names:
            return read_file(dataset, quasi_identifiers=names, on_progress=on_progress)
        table = read_file(dataset, on_progress=on_progress)
    known = knowable(profile(table))
    if not known:
        raise StudyError("say which columns are to be generalised: -q COLUMN, once or more")
    return table.with_roles(quasi_identifiers=known)


def _files(folder: Path, names: list[str]) -> list[Path]:
    """Return a file for each column, called as it is as far as files can be."""
    plain = [re.sub(r'[\\/:*?"<>|\x00-\x1f]', "_", name).strip(". ") or "column" for name in names]
    return [
        folder / (f"{name}.csv" if plain.count(name) == 1 else f"{name}_{place}.csv")
        for place, name in enumerate(plain, start=1)
    ]
