"""Options that several commands share, in bundles that a command takes whole, and how the text of one is taken apart.

An option stands where its default would: of a parameter of a command, or of a field of a bundle, which is a frozen
dataclass. A command that has a parameter of such a class gets all of its options on the command line, and the values in
one piece: see `Expanded`. What an entry of a study is, its model says; the option is made of it (`asked`) when the
command is typed, so that no other command costs anything.
"""

from __future__ import annotations

import csv
import inspect
import re
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import MISSING, Field, dataclass, field, fields, is_dataclass
from decimal import Decimal
from functools import partial, update_wrapper
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, TypeVar, get_args, get_origin, get_type_hints

import typer

from glasshouse.errors import InternalError, StudyError
from glasshouse.language import spoken, text, translated

if TYPE_CHECKING:
    from glasshouse.study import Question
    from glasshouse.study.entry import Description

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
    """Return an option, as the default of a parameter or a field: see `Expanded`.

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


@dataclass(frozen=True)
class _Asked:
    """An option that is made of an entry of a study."""

    place: str
    name: str
    flags: str
    settings: Mapping[str, Any]

    def made(self, parameter: str) -> tuple[Any, Description]:
        """Return the option, and what is said of it.

        Raises:
            InternalError: The entry has no words.
        """
        from glasshouse.study.entry import description_of

        module, _, model = self.place.partition(".")
        name = self.name or parameter
        home = import_module(f"glasshouse.study.{module}")
        described = description_of(getattr(home, model), name)
        if described is None:
            raise InternalError(f"{self.place}.{name} has no words")
        settings = {
            "show_default": not described.unless,
            "rich_help_panel": described.panel or None,
        } | dict(self.settings)
        typed = typer.Option(
            *(self.flags or flags_of(name)).split(), metavar=described.shows or None, **settings
        )
        return typed, described


def asked(
    place: str, name: str = "", *, flags: str = "", default: Any = None, **settings: Any
) -> Any:
    """Return the option of an entry of a study, as the default of a parameter or a field: see `Expanded`.

    Args:
        place: The module and the model, such as ``question.Adversary``.
        name: The entry, if it is not called as the parameter is.
        flags: What is typed, if it does not follow from the entry.
        default: Its value where it is not typed.
        settings: What else `typer.Option` takes.
    """
    return field(default=default, metadata={"asked": _Asked(place, name, flags, settings)})


def flags_of(name: str) -> str:
    """Return what is typed for an entry of a study.

    >>> flags_of("sensitive"), flags_of("drop_missing")
    ('-s --sensitive', '--drop-missing')
    """
    return _FLAGS.get(name) or f"--{name.replace('_', '-')}"


def help_of(described: Description, *, repeatable: bool) -> str:
    """Return the help of an option that is made of an entry, in the language that is spoken."""
    sentences = [translated(described.says)]
    if repeatable:
        sentences.append(text("Repeatable."))
    if described.unless:
        sentences.append(text("[default: {value}]", value=translated(described.unless)))
    return with_options(" ".join(sentences)).replace("[", "\\[")


protection = partial(option, panel="The protection")
"""An option in the panel of what is promised."""

_KEYWORD = re.compile(r"`([a-z_]+)`")
_FLAGS = {
    "adversaries": "--adversary",
    "facts": "--fact",
    "hierarchies": "--hierarchy",
    "identifier": "--id",
    "known": "--know",
    "labels": "--label",
    "levels": "--level",
    "links": "--link",
    "matrix": "--gain",
    "quasi_identifiers": "-q --quasi-identifier",
    "seconds": "--time-limit",
    "sensitive": "-s --sensitive",
    "types": "--type",
}
"""What is typed for entries whose option is spelled otherwise."""


def with_options(message: str) -> str:
    """Return a message with the options of the command line where those who raised it speak of Python's keywords.

    >>> with_options("`access_cost` is -1; leave out `known`")
    '--access-cost is -1; leave out --know'
    """
    return _KEYWORD.sub(lambda match: flags_of(match[1]).split()[0], message)


QuasiIdentifiers = Annotated[list[str] | None, asked("question.Adversary")]
Sensitive = Annotated[list[str] | None, asked("question.Adversary")]
MissingIsAValue = Annotated[bool, asked("question.Adversary")]
Identifier = Annotated[str | None, asked("question.Adversary")]
PriorWeight = Annotated[str | None, asked("question.Adversary")]
SampleWeight = Annotated[str | None, asked("assess.AssessStudy")]
Currency = Annotated[str | None, asked("question.Gain")]
Threads = Annotated[
    int | None, option("--threads", "N", r"Threads to use. \[default: all processors]", min=1)
]
PerRecord = Annotated[
    Path | None,
    option(
        "--per-record",
        "FILE.parquet",
        "Also write every record's own risk, in the order of the file, as Parquet or CSV. It is itself personal data.",
    ),
]
Resume = Annotated[
    bool, option("--resume", says="Go on where an interrupted run with the same --out stopped.")
]
Invalid = Annotated[list[str] | None, asked("question.Treatment")]
Drop = Annotated[list[str] | None, asked("question.ReleaseStudy")]
Ignore = Annotated[list[str] | None, asked("question.ReleaseStudy")]
Seed = Annotated[int, asked("question.ReleaseStudy", min=0)]
Focal = Annotated[
    str | None,
    option(
        "--focal",
        "NAME",
        "Of several files, the one whose people she is after. \\[default: the first]",
        panel="Which records belong to it",
    ),
]
Person = Annotated[str | None, asked("assess.AssessStudy")]
Population = Annotated[Path | None, asked("target.PeopleStudy")]
Fraction = Annotated[float | None, asked("target.PeopleStudy")]
Subject = Annotated[str, asked("question.Question")]
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

    separator: str | None = asked("question.Dialect")
    quote: str | None = asked("question.Dialect")
    encoding: str | None = asked("question.Dialect")
    no_header: bool = option(
        "--no-header",
        says="The first line is a record, not names.",
        panel="How the file is written down",
        default=False,
    )
    names: str | None = asked("question.Dialect")
    skip: int | None = asked("question.Dialect", min=0)
    skip_end: int | None = asked("question.Dialect", min=0)
    strip: bool = asked("question.Dialect", default=False)
    strict: bool = asked("question.Dialect", default=False)
    sheet: str | None = asked("question.Dialect")
    table: str | None = asked("question.Dialect")
    query: str | None = asked("question.Dialect")
    member: str | None = asked("question.Dialect")
    types: list[str] | None = asked("question.Dataset")
    missing: list[str] | None = asked("question.Dataset")
    decimal: str | None = asked("question.Dialect")
    thousands: str | None = asked("question.Dialect")

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

    date: list[str] | None = asked("question.Dataset")
    derive: list[str] | None = asked("question.Dataset")
    bands: list[str] | None = asked("question.Dataset")
    group: list[str] | None = asked("question.Dataset")

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
    knows: str | None = asked("assess.AssessStudy")
    unlinked: bool = asked("assess.AssessStudy", default=False)
    within: list[str] | None = asked("assess.AssessStudy")
    about: list[str] | None = asked("assess.AssessStudy")
    likely: list[str] | None = asked("assess.AssessStudy")
    missing_as: str | None = asked("assess.AssessStudy")
    household: str | None = asked("assess.AssessStudy")
    noise: list[str] | None = asked("assess.AssessStudy")

    def content(self) -> dict[str, Any]:
        """Return them as content of a study."""
        forms = {
            "within": "COLUMN=10%, COLUMN=5",
            "about": "COLUMN=±2, COLUMN=±7d, COLUMN=90%, COLUMN=@FILE",
            "likely": "COLUMN=50%",
            "noise": "COLUMN=response:0.8, COLUMN=pram:0.8, COLUMN=swap:0.1, COLUMN=@FILE",
        }
        return {
            "person": listed(self.person) if self.person else [],
            "knows": _known_records(self.knows),
            "unlinked": self.unlinked,
            "household": self.household,
            **({} if self.missing_as is None else {"missing_as": self.missing_as}),
        } | {
            word: assignments(
                getattr(self, word), option=f"--{word}", form=form, first=word == "noise"
            )
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

    tries: int | None = asked("question.Gain")
    worth: list[str] | None = asked("question.Gain")
    matrix: list[str] | None = asked("question.Gain")
    abstain: bool = asked("question.Gain", default=False)
    currency: Currency = None

    def content(self, record_worth: str | None = None) -> dict[str, Any]:
        """Return them as content of a study."""
        matrices = paths(self.matrix, option="--gain")
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

    where: list[str] | None = asked("question.Treatment")
    invalid: Invalid = None
    drop_missing: bool = asked("question.Treatment", default=False)

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
    policy: str | None = asked("question.Question")
    title: str | None = asked("question.Question")
    labels: list[str] | None = asked("question.Question")

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


_OUTPUTS = "After what went out before"
_AFTER, _ASKED_AFTER = partial(option, panel=_OUTPUTS), partial(asked, rich_help_panel=_OUTPUTS)
"""Options in the panel of outputs that follow others."""
Who = Annotated[
    str | None,
    _AFTER("--who", "NAME", "Who asks for the output. \\[default: who is logged in]"),
]


@dataclass(frozen=True)
class PublishedOptions:
    """What an output is of, and how its tables were protected."""

    cohort: str | None = _AFTER(
        "--cohort",
        "NAME",
        "The people that it is of, if not all: in another output with the same name they are the same.",
    )
    name: str | None = _AFTER(
        "--name", "NAME", "What the output is called. \\[default: as its table or file]"
    )
    who: Who = None
    people: int | None = _ASKED_AFTER("tables.TablesStudy")
    suppressed: tuple[int, int] | None = _ASKED_AFTER("tables.PublishedTable")
    totals: str | None = _ASKED_AFTER("tables.PublishedTable")
    rare: int | None = _ASKED_AFTER("tables.TablesStudy")
    time_limit: float = _AFTER(
        "--time-limit",
        "SECONDS",
        "CPU seconds; what is not proved by then does not pass.",
        default=60.0,
        min=0.01,
    )

    def tables(self) -> dict[str, Any]:
        """Return the entries of every table of the output, as content of a study."""
        given = {"suppressed": self.suppressed, "totals": self.totals}
        return {name: value for name, value in given.items() if value is not None}

    def limits(self) -> dict[str, Any]:
        """Return how it is checked.

        Raises:
            StudyError: Nothing can be rare.
        """
        if self.rare is not None and self.rare < 1:
            raise StudyError(
                "--rare is {given}; give a number of people from 1 on", given=self.rare
            )
        return {"rare": self.rare, "seconds": self.time_limit}


@dataclass(frozen=True)
class LedgerOptions(PublishedOptions):
    """What an output is to follow, and what to do with the answer."""

    ledger: Path | None = _AFTER(
        "--ledger",
        "DIR",
        "Check a published output instead: a table, a plan or a folder of ACRO, after what is in this ledger.",
    )
    records: Path | None = _AFTER(
        "--records",
        "FILE",
        "The records behind the output, to judge threshold, zeros, dominance and p % by them (--policy acro).",
    )
    accept: bool = _AFTER(
        "--accept", says="Add the output to the ledger if it passes.", default=False
    )
    seen: list[str] | None = _AFTER(
        "--seen",
        "NAME",
        "A part that cannot be checked, such as a model or a plot, which you looked at: it no longer keeps the output "
        "from passing, and the ledger says so. Repeatable.",
    )
    reasons: Path | None = _AFTER(
        "--reasons",
        "FILE.json",
        "Also write what becomes certain, for the publisher alone. It is the disclosure itself.",
    )


class Expanded:
    """A command whose bundles are spread out into options, as the command line wants them.

    Until it is told to `spread`, and after it is told to `fold`, it has no options: what is not typed needs none.

    Args:
        command: The command.
        first: The options that its help shows unless all are asked for; none: it shows all.

    >>> def greet(name: str, reading: FileOptions) -> None:
    ...     print(name, reading.encoding)
    >>> greeting = Expanded(greet)
    >>> greeting.spread()
    >>> list(inspect.signature(greeting).parameters)[:3]
    ['name', 'separator', 'quote']
    >>> greeting(name="Ana", encoding="latin-1")
    Ana latin-1
    """

    def __init__(self, command: Callable[..., None], first: Collection[str] = ()) -> None:
        update_wrapper(
            self, command, assigned=("__module__", "__name__", "__qualname__", "__doc__")
        )
        vars(self).pop("__wrapped__")
        self._command = command
        self.first = first
        self._bundles: dict[str, type[Any]] = {}
        self.descriptions: dict[str, Description] = {}
        self._options: dict[str, inspect.Parameter] = {}
        self.fold()

    def fold(self) -> None:
        """Have no options."""
        self.__signature__ = inspect.Signature()
        self.__annotations__: dict[str, Any] = {}

    def spread(self) -> None:
        """Have all options, and know what is said of them."""
        options = self._options = self._options or self._found()
        self.__signature__ = inspect.Signature(list(options.values()))
        self.__annotations__ = {name: one.annotation for name, one in options.items()}

    def _found(self) -> dict[str, inspect.Parameter]:
        """Return the options of its bundles, by name, and note what is said of them."""
        options: dict[str, inspect.Parameter] = {}
        kinds = get_type_hints(self._command, include_extras=True)
        for name, parameter in inspect.signature(self._command).parameters.items():
            kind = kinds[name]
            if not (isinstance(kind, type) and is_dataclass(kind)):
                options[name] = self._parameter(name, kind, parameter.default)
                continue
            self._bundles[name] = kind
            hints = get_type_hints(kind, include_extras=True)
            for part in fields(kind):
                options[part.name] = self._parameter(part.name, hints[part.name], part)
        return options

    def __call__(self, **values: Any) -> None:
        """Carry it out, with its bundles made again of their options."""
        for name, kind in self._bundles.items():
            names = [part.name for part in fields(kind) if part.name in values]
            values[name] = kind(**{part: values.pop(part) for part in names})
        self._command(**values)

    def _parameter(self, name: str, kind: Any, default: Any) -> inspect.Parameter:
        """Return a parameter as the command line wants it: what is typed beside its type, and its plain default."""
        value = default.default if isinstance(default, Field) else default
        if get_origin(kind) is Annotated and isinstance(get_args(kind)[1], Field):
            kind, default = get_args(kind)  # one that several commands share
        if isinstance(default, Field) and "asked" in default.metadata:
            typed, self.descriptions[name] = default.metadata["asked"].made(name)
            kind = Annotated[kind, typed]
        elif isinstance(default, Field) and default.metadata:
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
            "{names} is not a list of names ({reason})", names=repr(names), reason=error
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
        raise StudyError(
            '{option} "{given}" is not a number', option=option, given=written
        ) from None
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
        raise StudyError('--memory "{size}" is not a size; say for example 4G or 500M', size=size)
    return count
