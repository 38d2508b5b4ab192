"""Options that several commands share, and how their text becomes part of a study."""

from __future__ import annotations

import csv
from pathlib import Path
from typing import Annotated, Any

import typer

from glasshouse.errors import StudyError

READING = "How the file is written down"

Json = Annotated[
    bool,
    typer.Option("--json", help="Print one JSON document and nothing else on standard output."),
]
Out = Annotated[
    Path | None,
    typer.Option(
        "--out",
        metavar="DIR",
        help="Write a run folder: study.toml, manifest.json, results.parquet, report.html.",
    ),
]
Overwrite = Annotated[
    bool, typer.Option("--overwrite", help="Replace the run folder if it exists.")
]
Separator = Annotated[
    str | None,
    typer.Option(
        "--separator",
        metavar="CHAR",
        help="The character between fields, or tab. \\[default: detected]",
        rich_help_panel=READING,
    ),
]
Quote = Annotated[
    str | None,
    typer.Option(
        "--quote",
        metavar="CHAR",
        help='The character around fields, or none. \\[default: "]',
        rich_help_panel=READING,
    ),
]
Encoding = Annotated[
    str | None,
    typer.Option(
        "--encoding",
        metavar="NAME",
        help="utf-8, latin-1, cp1252, utf-16 … \\[default: by byte-order mark, else utf-8]",
        rich_help_panel=READING,
    ),
]
NoHeader = Annotated[
    bool,
    typer.Option(
        "--no-header", help="The first line is a record, not names.", rich_help_panel=READING
    ),
]
Names = Annotated[
    str | None,
    typer.Option(
        "--names",
        metavar="A,B,…",
        help="Names for the columns, in the order of the file.",
        rich_help_panel=READING,
    ),
]
Strip = Annotated[
    bool, typer.Option("--strip", help="Drop blanks around values.", rich_help_panel=READING)
]
Types = Annotated[
    list[str] | None,
    typer.Option(
        "--type",
        metavar="COL=TYPE",
        help="Read a column as integer or number, so that 01 and 1 are one value; all others are text. Repeatable.",
        rich_help_panel=READING,
    ),
]


def dialect_content(
    separator: str | None,
    quote: str | None,
    encoding: str | None,
    no_header: bool,
    names: str | None,
    strip: bool,
) -> dict[str, Any]:
    """Return the dialect that the options describe, as content of a study."""
    content: dict[str, Any] = {"header": not no_header, "strip": strip}
    if separator is not None:
        content["separator"] = separator
    if quote is not None:
        content["quote"] = quote
    if encoding is not None:
        content["encoding"] = encoding
    if names is not None:
        content["names"] = listed(names)
    return content


def listed(text: str) -> list[str]:
    """Return the names in a comma-separated list; a name with a comma stands in quotation marks.

    >>> listed('age,"income, net",sex')
    ['age', 'income, net', 'sex']
    """
    try:
        return [name.strip() for name in next(csv.reader([text], skipinitialspace=True), [])]
    except csv.Error as error:
        raise StudyError(f"{text!r} is no list of names ({error})") from None


def assignments(texts: list[str] | None, *, option: str, form: str) -> dict[str, str]:
    """Return what ``NAME=VALUE`` options say.

    Raises:
        StudyError: One has no equals sign, or names the same thing again.
    """
    content: dict[str, str] = {}
    for text in texts or []:
        name, equals, value = text.rpartition("=")
        if not equals or not name:
            raise StudyError(f'{option} "{text}" is not of the form {form}')
        if name in content:
            raise StudyError(f'{option} is given twice for "{name}"')
        content[name] = value
    return content


def size_in_bytes(text: str | None) -> int | None:
    """Return a size such as ``4G``, ``500M`` or a number of bytes.

    Raises:
        StudyError: It is none.

    >>> size_in_bytes("2G"), size_in_bytes("1.5M"), size_in_bytes(None)
    (2147483648, 1572864, None)
    """
    if text is None:
        return None
    units = {"": 0, "K": 10, "M": 20, "G": 30, "T": 40}
    number = text.upper().removesuffix("IB").removesuffix("B")
    unit = number[-1:] if number[-1:] in units else ""
    try:
        size = int(float(number.removesuffix(unit)) * (1 << units[unit]))
    except ValueError:
        size = 0
    if size <= 0:
        raise StudyError(f'--memory "{text}" is no size; say for example 4G or 500M')
    return size
