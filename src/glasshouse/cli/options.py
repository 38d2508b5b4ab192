"""Options that several commands share, and how the text of one is taken apart."""

from __future__ import annotations

import csv
from pathlib import Path
from typing import Annotated, Any

import typer

from glasshouse.errors import StudyError
from glasshouse.language import text

ADVERSARY = "The adversary"
GAINS = "What guesses are worth to her"
DATA = "Which records belong to it"
READING = "How the file is written down"

QuasiIdentifiers = Annotated[
    list[str] | None,
    typer.Option(
        "-q",
        "--quasi-identifier",
        metavar="COL",
        help="A column that she can know of a person. Repeatable.",
        rich_help_panel=ADVERSARY,
    ),
]
Sensitive = Annotated[
    list[str] | None,
    typer.Option(
        "-s",
        "--sensitive",
        metavar="COL[,COL]",
        help="A column that she wants to infer, or several together. Repeatable.",
        rich_help_panel=ADVERSARY,
    ),
]
Facts = Annotated[
    list[str] | None,
    typer.Option(
        "--fact",
        metavar="NAME=COL,COL…",
        help="Columns that she knows together or not at all, such as a birth date. Repeatable.",
        rich_help_panel=ADVERSARY,
    ),
]
Identifier = Annotated[
    str | None,
    typer.Option(
        "--id",
        metavar="COL",
        help="The column that names a person: one record of each is kept, and several files are joined on it.",
        rich_help_panel=ADVERSARY,
    ),
]
Weight = Annotated[
    str | None,
    typer.Option(
        "--weight",
        metavar="COL",
        help="Record weights that shape what she believes beforehand. \\[default: all alike]",
        rich_help_panel=ADVERSARY,
    ),
]
Priors = Annotated[
    list[str] | None,
    typer.Option(
        "--prior",
        metavar="COL:VALUE=P,…",
        help='What she believes of a secret beforehand, "*" for all other values. Repeatable. '
        "\\[default: as frequent as in the release]",
        rich_help_panel=ADVERSARY,
    ),
]
Tries = Annotated[
    int | None,
    typer.Option("--tries", metavar="K", help="She may guess K times.", rich_help_panel=GAINS),
]
Worth = Annotated[
    list[str] | None,
    typer.Option(
        "--worth",
        metavar="COL:VALUE=N,…",
        help='What naming each value right is worth to her, "*" for all others. Repeatable.',
        rich_help_panel=GAINS,
    ),
]
GainMatrices = Annotated[
    list[str] | None,
    typer.Option(
        "--gain",
        metavar="COL=FILE.csv",
        help="What each action (row) earns for each value (column), losses included. Repeatable.",
        rich_help_panel=GAINS,
    ),
]
Abstain = Annotated[
    bool,
    typer.Option(
        "--abstain",
        help="With --gain: she may also do nothing, for nothing.",
        rich_help_panel=GAINS,
    ),
]
RecordWorth = Annotated[
    str | None,
    typer.Option(
        "--record-worth",
        metavar="COL",
        help="The column that says what naming each person is worth.",
        rich_help_panel=GAINS,
    ),
]
Currency = Annotated[
    str | None,
    typer.Option(
        "--currency",
        metavar="SIGN",
        help="Gains are money: print them so, as in R$ 2.00.",
        rich_help_panel=GAINS,
    ),
]
Where = Annotated[
    list[str] | None,
    typer.Option(
        "--where",
        metavar="COL=VALUE,…",
        help="Only records that meet this: COL=A,B, COL=LOW..HIGH, COL!=A. Repeatable.",
        rich_help_panel=DATA,
    ),
]
Invalid = Annotated[
    list[str] | None,
    typer.Option(
        "--invalid",
        metavar="COL=VALUE,…",
        help="Leave out records with these values, and say how many. Repeatable.",
        rich_help_panel=DATA,
    ),
]
DropMissing = Annotated[
    bool,
    typer.Option(
        "--drop-missing",
        help="Leave out records with a missing value in a column that has a role.",
        rich_help_panel=DATA,
    ),
]
DropSuppressed = Annotated[
    bool,
    typer.Option(
        "--drop-suppressed",
        help="Leave out records that hold nothing but *: they form no class. Of a run folder they are left out anyway.",
        rich_help_panel=DATA,
    ),
]
Threads = Annotated[
    int | None,
    typer.Option(
        "--threads", metavar="N", min=1, help=r"Threads to use. \[default: all processors]"
    ),
]
PerRecord = Annotated[
    Path | None,
    typer.Option(
        "--per-record",
        metavar="FILE.parquet",
        help="Also write every record's own risk, in the order of the file. It is itself personal data.",
    ),
]
Seed = Annotated[
    int,
    typer.Option(
        "--seed",
        min=0,
        metavar="N",
        help="For the choice of one record of a person who has several.",
        rich_help_panel=DATA,
    ),
]
Focal = Annotated[
    str | None,
    typer.Option(
        "--focal",
        metavar="NAME",
        help="Of several files, the one whose people she is after. \\[default: the first]",
        rich_help_panel=DATA,
    ),
]
Known = Annotated[
    list[str] | None,
    typer.Option(
        "--know",
        metavar="COL=VALUE",
        help="What is known of the person: COL=A, COL=A,B (one of them), COL=LOW..HIGH; of several files COL@FILE=A, "
        "or @FILE=absent. Repeatable.",
        rich_help_panel=ADVERSARY,
    ),
]
Population = Annotated[
    Path | None,
    typer.Option(
        "--population",
        metavar="FILE",
        help="A register of all people that the release may be about.",
        rich_help_panel=ADVERSARY,
    ),
]
Fraction = Annotated[
    float | None,
    typer.Option(
        "--fraction",
        metavar="SHARE",
        help="Without a register: the share of the population that is in the release, above 0 and at most 1.",
        rich_help_panel=ADVERSARY,
    ),
]
Subject = Annotated[
    str | None,
    typer.Option(
        "--subject",
        metavar="NOUN",
        help="What a record stands for, in sentences. \\[default: person]",
    ),
]
StudyFile = Annotated[
    Path | None,
    typer.Option("--study", metavar="STUDY.TOML", help="Run this study instead of options."),
]

Json = Annotated[
    bool,
    typer.Option("--json", help="Print one JSON document and nothing else on standard output."),
]
Out = Annotated[
    Path | None,
    typer.Option(
        "--out",
        metavar="DIR",
        help="Write a run folder: study.toml, manifest.json, results.parquet, report.html, report.json, …",
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


def listed(names: str) -> list[str]:
    """Return the names in a comma-separated list; a name with a comma stands in quotation marks.

    >>> listed('age,"income, net",sex')
    ['age', 'income, net', 'sex']
    """
    try:
        return [name.strip() for name in next(csv.reader([names], skipinitialspace=True), [])]
    except csv.Error as error:
        raise StudyError(
            text("{names} is no list of names ({reason})", names=repr(names), reason=error)
        ) from None


def assignments(
    given: list[str] | None, *, option: str, form: str, first: bool = False
) -> dict[str, str]:
    """Return what ``NAME=VALUE`` options say; the name ends at the last equals sign, or at the first.

    Raises:
        StudyError: One has no equals sign, or names the same thing again.
    """
    content: dict[str, str] = {}
    for each in given or []:
        name, equals, value = each.partition("=") if first else each.rpartition("=")
        if not equals or not name:
            raise StudyError(not_of_the_form(each, option=option, form=form))
        if name in content:
            raise StudyError(text('{option} is given twice for "{name}"', option=option, name=name))
        content[name] = value
    return content


def not_of_the_form(given: str, *, option: str, form: str) -> str:
    """Say that the value of an option is not of its form."""
    return text(
        '{option} "{given}" is not of the form {form}', option=option, given=given, form=form
    )


def size_in_bytes(size: str | None) -> int | None:
    """Return a size such as ``4G``, ``500M`` or a number of bytes.

    Raises:
        StudyError: It is none.

    >>> size_in_bytes("2G"), size_in_bytes("1.5M"), size_in_bytes(None)
    (2147483648, 1572864, None)
    """
    if size is None:
        return None
    units = {"": 0, "K": 10, "M": 20, "G": 30, "T": 40}
    number = size.upper().removesuffix("IB").removesuffix("B")
    unit = number[-1:] if number[-1:] in units else ""
    try:
        count = int(float(number.removesuffix(unit)) * (1 << units[unit]))
    except ValueError:
        count = 0
    if count <= 0:
        raise StudyError(
            text('--memory "{size}" is no size; say for example 4G or 500M', size=size)
        )
    return count
