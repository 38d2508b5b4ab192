"""Options that several commands share, in bundles that a command takes whole, and how the text of one is taken apart.

An option stands where its default would: of a parameter of a command, or of a field of a bundle, which is a frozen
dataclass. A command that has a parameter of such a class gets all of its options on the command line, and the values in
one piece: see `expanded`.
"""

from __future__ import annotations

import csv
import inspect
import re
from collections.abc import Callable, Sequence
from dataclasses import MISSING, Field, dataclass, field, fields, is_dataclass
from decimal import Decimal
from functools import partial, update_wrapper
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, TypeVar, get_args, get_origin, get_type_hints

import typer

from glasshouse.errors import StudyError
from glasshouse.language import spoken

if TYPE_CHECKING:
    from glasshouse.study import Question

    Q = TypeVar("Q", bound=Question)


def option(
    flags: str,
    shows: str | None = None,
    says: str = "",
    *,
    default: Any = None,
    panel: str | None = None,
    **more: Any,
) -> Any:
    """Return an option, as the default of a parameter or a field: see `expanded`.

    Args:
        flags: What is typed.
        shows: What its value looks like.
        says: Its help.
        default: Its value where it is not typed; ``...``: it has to be.
        panel: The panel of the help that it stands in.
        more: What else `typer.Option` takes.
    """
    typed = typer.Option(
        *flags.split(), metavar=shows, help=says or None, rich_help_panel=panel, **more
    )
    return _declared(typed, default)


def argument(shows: str, says: str, *, default: Any = None) -> Any:
    """Return an argument in the same way: what it looks like, its help, and its value where it is not typed."""
    return _declared(typer.Argument(metavar=shows, help=says), default)


def _declared(typed: Any, default: Any) -> Any:
    return field(default=MISSING if default is ... else default, metadata={"typed": typed})


adversary = partial(option, panel="The adversary")
gains = partial(option, panel="What guesses are worth to her")
records = partial(option, panel="Which records belong to it")
reading = partial(option, panel="How the file is written down")
seen = partial(option, panel="How values are seen")
protection = partial(option, panel="The protection")
Hierarchies = Annotated[
    list[str] | None,
    protection(
        "--hierarchy",
        "COL=FILE|RULE",
        "How the values of a column are generalised: a file with a row per value, or a rule such as "
        "intervals:5,10, rounding:10,100, top_bottom:20,90, prefixes:4,2, date_parts:month,year, cep or icd10. "
        "glasshouse hierarchies writes files to edit. Repeatable. \\[default: suggested]",
    ),
]
Importance = Annotated[
    list[str] | None,
    protection(
        "--importance",
        "COL=N",
        "How much the loss of a column weighs; 1 where nothing is said. Repeatable.",
    ),
]
SurveyWeight = Annotated[
    str | None,
    protection(
        "--weight",
        "COL",
        "Survey weights: how many people each record stands for. Loss counts them, and --k-map needs no register; the "
        "column is released as it is.",
    ),
]
"""An option in one of the panels that the help of several commands has."""

_KEYWORD = re.compile(r"`([a-z_]+)`")
_SPELLINGS = {
    "hierarchies": "--hierarchy",
    "known": "--know",
    "levels": "--level",
    "quasi_identifiers": "-q",
    "seconds": "--time-limit",
    "sensitive": "-s",
}
"""Keywords whose option is spelled otherwise."""


def with_options(message: str) -> str:
    """Return a message with the options of the command line where those who raised it speak of Python's keywords.

    >>> with_options("`access_cost` is -1; leave out `known`")
    '--access-cost is -1; leave out --know'
    """
    return _KEYWORD.sub(
        lambda match: _SPELLINGS.get(match[1], f"--{match[1].replace('_', '-')}"), message
    )


QuasiIdentifiers = Annotated[
    list[str] | None,
    adversary(
        "-q --quasi-identifier", "COL", "A column that she can know of a person. Repeatable."
    ),
]
Sensitive = Annotated[
    list[str] | None,
    adversary(
        "-s --sensitive",
        "COL[,COL]",
        "A column that she wants to infer, or several together. Repeatable.",
    ),
]
MissingIsAValue = Annotated[
    bool,
    adversary(
        "--missing-is-a-value",
        says="A missing secret is one of its values, instead of left out as nothing to learn.",
    ),
]
Identifier = Annotated[
    str | None,
    adversary(
        "--id",
        "COL",
        "The column that names a person: one record of each is kept, and several files are joined on it.",
    ),
]
PriorWeight = Annotated[
    str | None,
    adversary(
        "--prior-weight",
        "COL",
        "Record weights that shape what she believes beforehand; no survey weights. \\[default: all alike]",
    ),
]
SampleWeight = Annotated[
    str | None,
    records(
        "--weight",
        "COL",
        "Survey weights: how many people of the population each record stands for. Tells also what can be done by "
        "someone who does not know who was sampled.",
    ),
]
Currency = Annotated[
    str | None, gains("--currency", "SIGN", "Gains are money: print them so, as in R$ 2.00.")
]
Threads = Annotated[
    int | None, option("--threads", "N", r"Threads to use. \[default: all processors]", min=1)
]
PerRecord = Annotated[
    Path | None,
    option(
        "--per-record",
        "FILE.parquet",
        "Also write every record's own risk, in the order of the file. It is itself personal data.",
    ),
]
Resume = Annotated[
    bool, option("--resume", says="Go on where an interrupted run with the same --out stopped.")
]
Invalid = Annotated[
    list[str] | None,
    records(
        "--invalid",
        "COL=VALUE,…",
        "Leave out records with these values, and say how many. Repeatable.",
    ),
]
Drop = Annotated[
    list[str] | None,
    records(
        "--drop",
        "COL",
        "A column that is in the file for the assessment, and will not be in the release. Repeatable.",
    ),
]
Ignore = Annotated[
    list[str] | None,
    records(
        "--ignore",
        "COL",
        "Dismiss a column: nobody could know it, and it says nothing of a person. The verdict says so. Repeatable.",
    ),
]
Seed = Annotated[
    int, records("--seed", "N", "For the choice of one record of a person who has several.", min=0)
]
Focal = Annotated[
    str | None,
    records(
        "--focal",
        "NAME",
        "Of several files, the one whose people she is after. \\[default: the first]",
    ),
]
Person = Annotated[
    str | None,
    adversary(
        "--person",
        "COL[,COL]",
        "The column that says whose a record is, where people have several: visits, purchases, trips. People are "
        "counted then. With two columns, a pseudonym that changes.",
    ),
]
Population = Annotated[
    Path | None,
    adversary("--population", "FILE", "A register of all people that the release may be about."),
]
Fraction = Annotated[
    float | None,
    adversary(
        "--fraction",
        "SHARE",
        "Without a register: the share of the population that is in the release, above 0 and at most 1.",
    ),
]
Subject = Annotated[
    str,
    option(
        "--subject",
        "NOUN",
        "What a record stands for, in sentences. \\[default: person]",
        show_default=False,
    ),
]
Json = Annotated[
    bool, option("--json", says="Print one JSON document and nothing else on standard output.")
]


_AS_THEY_ARE = (
    "separator",
    "encoding",
    "sheet",
    "table",
    "query",
    "member",
    "decimal",
    "thousands",
    "skip",
    "skip_end",
)


@dataclass(frozen=True)
class FileOptions:
    """How the file is written down."""

    separator: str | None = reading(
        "--separator", "CHAR", "The character between fields, or tab. \\[default: detected]"
    )
    quote: str | None = reading(
        "--quote", "CHAR", 'The character around fields, or none. \\[default: "]'
    )
    encoding: str | None = reading(
        "--encoding",
        "NAME",
        "utf-8, latin-1, cp1252, utf-16 … \\[default: by byte-order mark and letters]",
    )
    no_header: bool = reading(
        "--no-header", says="The first line is a record, not names.", default=False
    )
    names: str | None = reading(
        "--names", "A,B,…", "Names for the columns, in the order of the file."
    )
    skip: int | None = reading(
        "--skip", "N", "Lines that come before the header. \\[default: comments with #]", min=0
    )
    skip_end: int | None = reading(
        "--skip-end", "N", "Lines that come after the last record, such as a source.", min=0
    )
    strip: bool = reading("--strip", says="Drop blanks around values.", default=False)
    strict: bool = reading(
        "--strict",
        says="Assume nothing: what would be concluded of the file is an error.",
        default=False,
    )
    sheet: str | None = reading(
        "--sheet", "NAME", "The sheet of a workbook. \\[default: the only one]"
    )
    table: str | None = reading(
        "--table", "NAME", "The table of a database. \\[default: the only one]"
    )
    query: str | None = reading(
        "--query", "SQL", "What to select from a PostgreSQL server, instead of --table."
    )
    member: str | None = reading(
        "--member", "NAME", "The file of an archive. \\[default: the only one]"
    )
    types: list[str] | None = reading(
        "--type",
        "COL=TYPE",
        "Read a column as integer or number, so that 01 and 1 are one value; all others are text. Repeatable.",
    )

    missing: list[str] | None = reading(
        "--missing",
        "COL=A,B,…",
        "Values that stand for missing, such as race=9,99 or income=?. Repeatable.",
    )
    decimal: str | None = reading(
        "--decimal", "CHAR", "The decimal sign of columns of --type number. \\[default: .]"
    )
    thousands: str | None = reading(
        "--thousands", "CHAR", "What stands between thousands there. \\[default: nothing]"
    )

    def dialect(self) -> dict[str, Any]:
        """Return how the file is written down, as content of a study."""
        content: dict[str, Any] = {
            "header": not self.no_header,
            "strip": self.strip,
            "strict": self.strict,
        }
        for name in (*_AS_THEY_ARE, "quote"):
            if getattr(self, name) is not None:
                content[name] = getattr(self, name)
        if self.names is not None:
            content["names"] = listed(self.names)
        return content

    def dataset(self, path: Path) -> dict[str, Any]:
        """Return a file and how it is written down, as content of a study."""
        kinds = assignments(self.types, option="--type", form="COLUMN=TYPE")
        codes = assignments(self.missing, option="--missing", form="COLUMN=VALUE,…")
        missing = {column: listed(values) for column, values in codes.items()}
        return {"path": path, "dialect": self.dialect(), "types": kinds, "missing": missing}

    def typed(self) -> list[str]:
        """Return the options as they would be typed again."""
        words = []
        for name in (*_AS_THEY_ARE, "quote", "names"):
            if getattr(self, name) is not None:
                words += [f"--{name.replace('_', '-')}", str(getattr(self, name))]
        words += ["--no-header"] * self.no_header + ["--strip"] * self.strip
        words += ["--strict"] * self.strict
        words += [part for kind in self.types or [] for part in ("--type", kind)]
        return words + [part for codes in self.missing or [] for part in ("--missing", codes)]


_SEEN = {
    "date": "COLUMN=dd/mm/yyyy",
    "derive": "NAME=years(COLUMN, 2020-12-31)",
    "bands": "COLUMN=0,1000,5000",
    "group": "COLUMN=prefix:3",
}
"""The options that say how values are seen, and the form of each."""


@dataclass(frozen=True)
class DataOptions(FileOptions):
    """How the file is written down, and how values are seen."""

    date: list[str] | None = seen(
        "--date",
        "COL=dd/mm/yyyy",
        "A column of dates, and how they are written: also mm/dd/yyyy, yyyymmdd, dd/mm/19yy … Repeatable.",
    )
    derive: list[str] | None = seen(
        "--derive",
        "NAME=years(COL, DATE)",
        "A new column: completed years from a date to another, or to that of a column; year(COL), month(COL), "
        "week(COL). Repeatable.",
    )
    bands: list[str] | None = seen(
        "--bands",
        "COL=A,B,…|quantiles:N",
        "Numbers in bands that begin at A, B …, or in N of about equally many records. Repeatable.",
    )
    group: list[str] | None = seen(
        "--group", "COL=prefix:N", "Codes by their first N characters. Repeatable."
    )

    def dataset(self, path: Path) -> dict[str, Any]:
        """Return a file, how it is written down and how its values are seen, as content of a study."""
        rules = {
            word: assignments(getattr(self, word), option=f"--{word}", form=form)
            for word, form in _SEEN.items()
        }
        return super().dataset(path) | rules

    def typed(self) -> list[str]:
        """Return the options as they would be typed again."""
        rules = [(f"--{word}", rule) for word in _SEEN for rule in getattr(self, word) or []]
        return [*super().typed(), *(part for pair in rules for part in pair)]


@dataclass(frozen=True)
class KnowledgeOptions:
    """What she can know of a person, and what she wants to infer."""

    quasi_identifiers: QuasiIdentifiers = None
    sensitive: Sensitive = None
    missing_is_a_value: MissingIsAValue = False
    identifier: Identifier = None

    def content(self) -> dict[str, Any]:
        """Return them as content of a study."""
        return vars(self) | {"sensitive": secrets(self.sensitive)}


@dataclass(frozen=True)
class AttackerOptions:
    """How many records of a person she knows, how well she knows what she knows, and how near a guess need be."""

    person: Person = None
    knows: str | None = adversary(
        "--knows",
        "M|all",
        "With --person: up to how many records of a person she happens to know, or all. \\[default: 4]",
    )
    unlinked: bool = adversary(
        "--unlinked",
        says="With --person: the release keeps no pseudonym, so that only you can tell which records are of one "
        "person.",
        default=False,
    )
    within: list[str] | None = adversary(
        "--within",
        "COL=10%|COL=5",
        "A secret that is a number, and how close a guess of it need be: 10% of the true number, or 5. Repeatable.",
    )
    about: list[str] | None = adversary(
        "--about",
        "COL=±2|COL=±7d|COL=90%|COL=@FILE",
        "What she does not know exactly, and how well: within 2 (±, or +-), of dates within 7 days, right in 90% of "
        "cases, or by the chances of a file. Repeatable.",
    )
    likely: list[str] | None = adversary(
        "--likely",
        "COL=50%",
        "What she knows only with some chance, and else not at all. Repeatable.",
    )

    def content(self) -> dict[str, Any]:
        """Return them as content of a study."""
        forms = {
            "within": "COLUMN=10%, COLUMN=5",
            "about": "COLUMN=±2, COLUMN=±7d, COLUMN=90%, COLUMN=@FILE",
            "likely": "COLUMN=50%",
        }
        return {
            "person": listed(self.person) if self.person else [],
            "knows": _known_records(self.knows),
            "unlinked": self.unlinked,
        } | {
            word: assignments(getattr(self, word), option=f"--{word}", form=form)
            for word, form in forms.items()
        }


def _known_records(knows: str | None) -> int | str | None:
    """Return how many records of a person she knows.

    Raises:
        StudyError: It is neither a number from 1 on nor ``all``.
    """
    from glasshouse.study.assess import MOST_KNOWN

    if knows is None or knows == "all":
        return knows
    if not knows.isdecimal() or not 1 <= int(knows) <= MOST_KNOWN:
        raise StudyError(
            '--knows "{knows}" is neither a number from 1 to {most} nor all',
            knows=knows,
            most=MOST_KNOWN,
        )
    return int(knows)


@dataclass(frozen=True)
class GainOptions:
    """What guesses are worth to her."""

    tries: int | None = gains("--tries", "K", "She may guess K times.")
    worth: list[str] | None = gains(
        "--worth",
        "COL:VALUE=N,…",
        'What naming each value right is worth to her, "*" for all others. Repeatable.',
    )
    matrices: list[str] | None = gains(
        "--gain",
        "COL=FILE.csv",
        "What each action (row) earns for each value (column), losses included. Repeatable.",
    )
    abstain: bool = gains(
        "--abstain", says="With --gain: she may also do nothing, for nothing.", default=False
    )
    currency: Currency = None

    def content(self, record_worth: str | None = None) -> dict[str, Any]:
        """Return them as content of a study."""
        matrices = paths(self.matrices, option="--gain")
        return {
            "tries": self.tries,
            "worth": numbers(self.worth, option="--worth"),
            "matrix": {joint(names): path for names, path in matrices.items()},
            "abstain": self.abstain,
            "record_worth": record_worth,
            "currency": self.currency,
        }


@dataclass(frozen=True)
class RecordOptions:
    """Which records belong to it."""

    where: list[str] | None = records(
        "--where",
        "COL=VALUE,…",
        "Only records that meet this: COL=A,B, COL=LOW..HIGH, COL!=A, COL>=A. Repeatable.",
    )
    invalid: Invalid = None
    drop_missing: bool = records(
        "--drop-missing",
        says="Leave out records with a missing value in a column that has a role.",
        default=False,
    )

    def content(self, *, drop_suppressed: bool | None = None) -> dict[str, Any]:
        """Return them as content of a study."""
        return {
            "where": self.where or [],
            "invalid": self.invalid or [],
            "drop_missing": self.drop_missing,
            "drop_suppressed": drop_suppressed,
        }


def at_home(path: Path | None) -> Path | None:
    """Return a path whose ``~`` a shell has left, as in ``--out=~/run``, as it was meant."""
    return None if path is None else path.expanduser()


@dataclass(frozen=True)
class OutputOptions:
    """Where the answer goes."""

    out: Path | None = option(
        "--out",
        "DIR",
        "Write a run folder: manifest.json, results.parquet, report.html, report.json, …",
        callback=at_home,
    )
    overwrite: bool = option(
        "--overwrite", says="Replace the run folder if it exists.", default=False
    )
    as_json: Json = False
    policy: str | None = option(
        "--policy",
        "NAME|FILE.toml",
        "The rule that the release is judged by: open-data, research-file, internal, or your own. "
        "\\[default: open-data]",
    )
    title: str | None = option(
        "--title", "TEXT", "What the report is called. \\[default: by its data]"
    )
    labels: list[str] | None = option(
        "--label",
        "COL=TEXT",
        "What a column is called in the report, in its language. Repeatable. \\[default: by the labels of an SPSS, "
        "Stata or SAS file, or by its name]",
    )

    def titled(self, study: Q) -> Q:
        """Return a study with the title of its report, and the labels in the language that is spoken, as typed."""
        form = "COLUMN=TEXT"
        typed = assignments(self.labels, option="--label", form=form, first=True)
        for column, label in typed.items():
            if not label.strip():
                raise _form_error(f"{column}={label}", option="--label", form=form)
        changed: dict[str, Any] = {}
        if self.title:
            changed["title"] = self.title
        if typed:
            language = spoken()
            changed["labels"] = study.labels | {language: study.labels.get(language, {}) | typed}
        return study.model_copy(update=changed)


@dataclass(frozen=True)
class RunOptions(OutputOptions):
    """Whether a study file asks, and where the answer goes."""

    study_file: Path | None = option("--study", "STUDY.TOML", "Run this study instead of options.")


def expanded(command: Callable[..., None]) -> Callable[..., None]:
    """Return a command whose bundles are spread out into options, as the command line wants them.

    >>> def greet(name: str, reading: FileOptions) -> None:
    ...     print(name, reading.encoding)
    >>> list(inspect.signature(expanded(greet)).parameters)[:3]
    ['name', 'separator', 'quote']
    >>> expanded(greet)(name="Ana", encoding="latin-1")
    Ana latin-1
    """
    bundles: dict[str, type[Any]] = {}
    options: dict[str, inspect.Parameter] = {}
    kinds = get_type_hints(command, include_extras=True)
    for name, parameter in inspect.signature(command).parameters.items():
        kind = kinds[name]
        if not (isinstance(kind, type) and is_dataclass(kind)):
            options[name] = _parameter(name, kind, parameter.default)
            continue
        bundles[name] = kind
        hints = get_type_hints(kind, include_extras=True)
        for part in fields(kind):
            options[part.name] = _parameter(part.name, hints[part.name], part)

    def call(**values: Any) -> None:
        for name, kind in bundles.items():
            names = [part.name for part in fields(kind) if part.name in values]
            values[name] = kind(**{part: values.pop(part) for part in names})
        command(**values)

    update_wrapper(call, command, assigned=("__module__", "__name__", "__qualname__", "__doc__"))
    del call.__wrapped__  # type: ignore[attr-defined]
    call.__signature__ = inspect.Signature(list(options.values()))  # type: ignore[attr-defined]
    call.__annotations__ = {name: parameter.annotation for name, parameter in options.items()}
    return call


def _parameter(name: str, kind: Any, default: Any) -> inspect.Parameter:
    """Return a parameter as the command line wants it: what is typed beside its type, and its plain default."""
    value = default.default if isinstance(default, Field) else default
    if get_origin(kind) is Annotated and isinstance(get_args(kind)[1], Field):
        kind, default = get_args(kind)  # one that several commands share
    if isinstance(default, Field) and default.metadata:
        kind = Annotated[kind, default.metadata["typed"]]
    return inspect.Parameter(
        name,
        inspect.Parameter.KEYWORD_ONLY,
        default=inspect.Parameter.empty if value is MISSING else value,
        annotation=kind,
    )


def listed(names: str) -> list[str]:
    """Return the names in a comma-separated list; a name with a comma stands in quotation marks.

    >>> listed('age,"income, net",sex')
    ['age', 'income, net', 'sex']
    """
    try:
        return [name.strip() for name in next(csv.reader([names], skipinitialspace=True), [])]
    except csv.Error as error:
        raise StudyError(
            "{names} is no list of names ({reason})", names=repr(names), reason=error
        ) from None


def assignments(
    texts: list[str] | None, *, option: str, form: str, first: bool = False
) -> dict[str, str]:
    """Return the values of ``NAME=VALUE`` options by name, which ends at the last equals sign, or at the first.

    Raises:
        StudyError: One has no equals sign, or names the same thing again.
    """
    content: dict[str, str] = {}
    for written in texts or []:
        name, equals, value = written.partition("=") if first else written.rpartition("=")
        if not equals or not name:
            raise _form_error(written, option=option, form=form)
        if name in content:
            raise StudyError('{option} is given twice for "{name}"', option=option, name=name)
        content[name] = value
    return content


def _form_error(written: str, *, option: str, form: str) -> StudyError:
    """Return the error of an option whose value is not of its form."""
    return StudyError(
        '{option} "{given}" is not of the form {form}', option=option, given=written, form=form
    )


def joint(names: str) -> str:
    """Return the name of a secret as a study has it: ``a,b`` as ``a+b``."""
    return "+".join(listed(names))


def secrets(sensitive: list[str] | None) -> list[str | list[str]]:
    """Return the secrets that she wants to infer, as content of a study: a column, or several together."""
    columns = [
        listed(names) if "," in names or '"' in names else [names] for names in sensitive or []
    ]
    return [names[0] if len(names) == 1 else names for names in columns]


def paths(pairs: list[str] | None, *, option: str) -> dict[str, Path]:
    """Return the paths of ``COLUMN=FILE`` options by column."""
    files = assignments(pairs, option=option, form="COLUMN=FILE", first=True)
    return {column: Path(path) for column, path in files.items()}


def in_folders(pairs: list[str] | None, columns: Sequence[str]) -> list[str]:
    """Return what ``--hierarchy`` says, with the files of each folder it names as ``COLUMN=FILE``.

    A file is of the column that it is called after, as in ``age.csv`` or ``adult_hierarchy_age.csv``; others are left.

    Raises:
        StudyError: No file of a folder is called after a column.
    """
    written: list[str] = []
    for pair in pairs or []:
        folder = Path(pair).expanduser()
        if "=" in pair or not folder.is_dir():
            written.append(pair)
            continue
        files = sorted(path for path in folder.iterdir() if path.suffix.lower() == ".csv")
        named = {
            column: path
            for column in columns
            for path in files
            if path.stem == column
            or path.stem.endswith(tuple(f"{sign}{column}" for sign in "_-. "))
        }
        if not named:
            raise StudyError(
                '--hierarchy "{folder}": no file in it is called after a column, such as {column}.csv',
                folder=pair,
                column=next(iter(columns), "age"),
            )
        written += [f"{column}={path}" for column, path in named.items()]
    return written


def hierarchies(pairs: list[str] | None) -> dict[str, str]:
    """Return the files or rules of ``COLUMN=FILE`` and ``COLUMN=RULE`` options by column."""
    form = "COLUMN=FILE, COLUMN=RULE"
    return assignments(pairs, option="--hierarchy", form=form, first=True)


def number(written: str, *, option: str) -> float:
    """Return the number that an option gives, whole where it has no decimals.

    >>> number("2", option="--k"), number("0.5", option="--t")
    (2, 0.5)
    """
    try:
        given = float(written)
    except ValueError:
        raise StudyError('{option} "{given}" is no number', option=option, given=written) from None
    return int(given) if given.is_integer() else given


def numbers(texts: list[str] | None, *, option: str) -> dict[str, dict[str, float]]:
    """Return the numbers of ``COLUMN:VALUE=NUMBER,VALUE=NUMBER`` options by column and value."""
    form = "COLUMN:VALUE=NUMBER,VALUE=NUMBER"
    content: dict[str, dict[str, float]] = {}
    for written in texts or []:
        name, colon, pairs = written.partition(":")
        if not colon:
            raise _form_error(written, option=option, form=form)
        numbers = assignments(listed(pairs), option=option, form=form)
        for value, number in numbers.items():
            try:
                exact = Decimal(number)
                content.setdefault(joint(name), {})[value] = (
                    int(exact) if exact == int(exact) else float(exact)
                )
            except (ArithmeticError, ValueError):
                raise StudyError(
                    '{option}: "{number}" of {place} is not a number',
                    option=option,
                    number=number,
                    place=f"{name}:{value}",
                ) from None
    return content


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
        raise StudyError('--memory "{size}" is no size; say for example 4G or 500M', size=size)
    return count
