"""What every question shares: its files and their dialect, whom it is about, the adversary; and its ``study.toml``.

First the parts, each a frozen model that refuses names it does not know; then `ReleaseStudy`, which the questions about
records have in common; last how a study is read from a file, checked and written.
"""

from __future__ import annotations

import json
import re
import stat
import tomllib
from collections.abc import Callable, Iterator, Mapping
from enum import StrEnum
from functools import partial
from importlib import import_module
from pathlib import Path
from typing import Annotated, Any, Self, TypeVar, cast

import tomli_w
from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    InstanceOf,
    PlainSerializer,
    SerializerFunctionWrapHandler,
    StrictBool,
    StrictFloat,
    StrictInt,
    ValidationError,
    WithJsonSchema,
    model_serializer,
    model_validator,
)
from pydantic_core import ErrorDetails

from glasshouse.conditions import parse_condition, taken_apart, without_values
from glasshouse.errors import ContradictionError, StudyError
from glasshouse.language import (
    UnknownLanguageError,
    either,
    language_called,
    marked,
    number,
    quoted,
    system_reason,
    text,
    translated,
)
from glasshouse.study.entry import ADVERSARY, GAINS, READING, RECORDS, SEEN, entry
from glasshouse.study.policy import OPEN_DATA, PolicyEntry, ReleasePolicy, policy_called
from glasshouse.views import (
    DateForm,
    cut_points,
    date_form,
    derivation,
    prefix,
    quantiles,
    with_iso_dates,
)


class Model(BaseModel):
    """Immutable, and strict about names it does not know."""

    model_config = ConfigDict(frozen=True, extra="forbid")


def _by_language(labels: dict[str, dict[str, str]]) -> dict[str, dict[str, str]]:
    """Return labels by the codes of the languages that they are in."""
    by_code: dict[str, dict[str, str]] = {}
    for language, columns in labels.items():
        try:
            by_code.setdefault(language_called(language), {}).update(columns)
        except UnknownLanguageError as error:
            raise ContradictionError(str(error)) from None
    return by_code


class Question(Model):
    """A study: everything that determines a result besides the data itself."""

    command: Any
    """The command that answers it."""
    subject: str = entry(
        "What a record stands for, in sentences.",
        "NOUN",
        unless="person",
        default="person",
        min_length=1,
    )
    policy: PolicyEntry = entry(
        "The rule that the release is judged by: open-data, research-file, internal, or your own.",
        "NAME|FILE.toml",
        unless="open-data",
        python='"research-file"',
        default=OPEN_DATA,
        label="The rule that the release is judged by",
    )
    """In a study, a name or conditions."""
    title: str | None = entry(
        "What the report is called.", "TEXT", unless="by its data", min_length=1
    )
    labels: Annotated[dict[str, dict[str, str]], AfterValidator(_by_language)] = entry(
        "What a column is called in the report, in its language.",
        "COL=TEXT",
        unless="by the labels of an SPSS, Stata or SAS file, or by its name",
        default={},
    )
    """By language: ``{en = {v12 = "Highest school"}}``."""

    def check_policy(self) -> None:
        """Make sure before a run that its policy can be held against it.

        Raises:
            StudyError: A condition is about a sensitive attribute that is none here.
        """

    def abridged(self) -> Self:
        """Return the study as a report that leaves the house should have it: no values of a person."""
        return self

    @classmethod
    def kind_of(cls, content: Mapping[str, Any]) -> type[Question]:
        """Return the kind of study that content is, of those that the command answers."""
        return cls


class ColumnType(StrEnum):
    """How the text of a column is to be understood before equal values are told apart."""

    TEXT = "text"
    """As it stands: ``01310`` and ``1310`` are two values. The default."""
    INTEGER = "integer"
    """Whole numbers: ``01310`` and ``1310`` are one value."""
    NUMBER = "number"
    """Decimal numbers: ``1.50`` and ``1.5`` are one value."""


def _tabulator(separator: object) -> object:
    return "\t" if separator in ("\\t", "tab") else separator


def _no_quote(quote: object) -> object:
    return None if quote in ("", "none") else quote


_reading, _seen = partial(entry, panel=READING), partial(entry, panel=SEEN)


class Dialect(Model):
    """How a file is written down, as far as that does not stand in it."""

    separator: Annotated[str | None, BeforeValidator(_tabulator)] = _reading(
        "The character between fields, or tab.",
        "CHAR",
        unless="detected",
        label="Sign between the fields",
    )
    quote: Annotated[str | None, BeforeValidator(_no_quote)] = _reading(
        "The character around fields, or none.", "CHAR", unless='"', default='"'
    )
    """Fields stand in it that hold a separator or a line break."""
    encoding: str | None = _reading(
        "utf-8, latin-1, cp1252, utf-16 …",
        "NAME",
        unless="by byte-order mark and letters",
        label="Encoding of the letters",
    )
    """Any encoding that Python knows."""
    header: StrictBool = _reading(
        "The first line holds the names of the columns, and is not a record.",
        default=True,
        label="The first line of the table",
    )
    names: tuple[str, ...] = _reading(
        "Names for the columns, in the order of the file.", "A,B,…", default=()
    )
    """They stand instead of the header's, or where there is none."""
    skip: StrictInt | None = _reading(
        "Lines that come before the header.",
        "N",
        unless="comments with #",
        ge=0,
        label="Lines before the names of the columns",
    )
    skip_end: StrictInt | None = _reading(
        "Lines that come after the last record, such as a source.",
        "N",
        ge=0,
        label="Lines after the last record",
    )
    """Blank ones at the very end do not count."""
    strip: StrictBool = _reading("Drop blanks around values.", default=False)
    strict: StrictBool = _reading(
        "Assume nothing: what would be concluded of the file is an error.", default=False
    )
    """The text is UTF-8 with commas and a name for each column, or it is said otherwise."""
    decimal: str = _reading(
        "The decimal sign of columns of `types` number.", "CHAR", unless=".", default="."
    )
    thousands: str | None = _reading(
        "What stands between thousands there.", "CHAR", unless="nothing"
    )
    sheet: str | None = _reading("The sheet of a workbook.", "NAME", unless="the only one")
    table: str | None = _reading("The table of a database.", "NAME", unless="the only one")
    query: str | None = _reading(
        "What to select from a PostgreSQL server, instead of `table`.", "SQL"
    )
    member: str | None = _reading("The file of an archive.", "NAME", unless="its only file")

    @model_validator(mode="after")
    def _one_character_each(self) -> Self:
        for what, character in (
            (text("the separator"), self.separator),
            (text("the quote"), self.quote),
            (text("the decimal sign"), self.decimal),
            (text("the sign of the thousands"), self.thousands),
        ):
            if character is not None and len(character) != 1:
                raise ContradictionError(
                    "{what} must be one character, not {given}", what=what, given=repr(character)
                )
            if character in ("\n", "\r", "\0"):
                raise ContradictionError(
                    "{what} cannot be {given}", what=what, given=repr(character)
                )
        if self.separator is not None and self.separator == self.quote:
            raise ContradictionError("the separator and the quote must differ")
        if self.decimal == self.thousands:
            raise ContradictionError("the signs of decimals and of thousands must differ")
        return self

    @model_serializer(mode="wrap")
    def _with_quote(self, dump: SerializerFunctionWrapHandler) -> dict[str, Any]:
        """TOML has no null, and the default is not null: no quote is written as ``none``."""
        content: dict[str, Any] = dump(self)
        return content | {"quote": "none"} if self.quote is None else content


class Address(str):
    """Where a database is, without a password: ``postgresql://user@host/base``, ``jdbc:mysql://host/base``."""

    __slots__ = ()


def address_of(written: object) -> Address | None:
    """Return the address of a database, if that is what is written; a path has lost a slash of it.

    Raises:
        ContradictionError: It holds a password, which would be seen by others and kept in the study.

    >>> address_of("postgres://ana@host/base"), address_of("people.csv")
    ('postgresql://ana@host/base', None)
    """
    match = _DATABASE.fullmatch(str(written))
    if match is None:
        return _jdbc_address(str(written))
    user, _, rest = match[2].rpartition("@")
    if user.partition(":")[2] or "password=" in rest:
        raise ContradictionError(
            "an address must hold no password, which others could see: leave it out, and set PGPASSWORD or write it to "
            "~/.pgpass"
        )
    return Address(f"postgresql://{match[2]}")


def _jdbc_address(written: str) -> Address | None:
    if not written.startswith("jdbc:"):
        return None
    if _JDBC_PASSWORD.search(written):
        raise ContradictionError(
            "an address must hold no password, which others could see: leave it out, and set JDBC_PASSWORD"
        )
    return Address(_JDBC_HOST.sub(r"\1//", written))


_DATABASE = re.compile("(postgres|postgresql):/+(.*)", re.DOTALL)
_JDBC_HOST = re.compile("^(jdbc:(?!derby|h2|sqlite|duckdb)[a-z0-9:]+:@?)/+")
_JDBC_PASSWORD = re.compile(
    r"(password|pwd|passwd)\s*=|//[^/@]*:[^/@]*@|thin:[^@/]+/[^@]+@", re.IGNORECASE
)


def _as_list(cuts: object) -> object:
    """Return cut points as they are written on the command line."""
    return ",".join(map(str, cuts)) if isinstance(cuts, list | tuple) else cuts


def _path_or_address(written: object) -> object:
    """Return a path, or the address of a database."""
    if written == "":
        raise ContradictionError(
            '"" names no file or folder; give a name (is a variable of the shell empty?)'
        )
    return address_of(written) or written


class Dataset(Model):
    """One file of the release, or a table of a database, and how to read it."""

    path: Annotated[
        InstanceOf[Address] | Path,
        BeforeValidator(_path_or_address),
        WithJsonSchema({"type": "string"}),
        PlainSerializer(str),
    ]
    """The file; in ``study.toml`` relative to the folder of the study. Or the address of a database."""
    dialect: Dialect = Dialect()
    """How it is written down, where it is delimited text."""
    types: dict[str, ColumnType] = _reading(
        "Read a column as integer or number, so that 01 and 1 are one value; all others are text.",
        "COL=TYPE",
        python='{"age": "integer"}',
        default={},
    )
    missing: dict[str, tuple[str, ...]] = _reading(
        "Values that stand for missing, such as race=9,99 or income=?.",
        "COL=A,B,…",
        python='{"race": ["9", "?"]}',
        default={},
    )
    date: dict[str, str] = _seen(
        "A column of dates, and how they are written: also mm/dd/yyyy, yyyymmdd, dd/mm/19yy …",
        "COL=dd/mm/yyyy",
        python='{"birth": "dd/mm/yyyy"}',
        default={},
    )
    derive: dict[str, str] = _seen(
        "A new column: completed years from a date to another, or to that of a column; year(COL), month(COL), "
        "week(COL).",
        "NAME=years(COL, DATE)",
        python='{"age": "years(birth, 2020-12-31)"}',
        default={},
    )
    bands: dict[str, Annotated[str, BeforeValidator(_as_list)]] = _seen(
        "Numbers in bands that begin at A, B …, or in N of about equally many records.",
        "COL=A,B,…|quantiles:N",
        python='{"income": [0, 1000, 5000]}; {"income": "quantiles:5"}',
        default={},
    )
    group: dict[str, str] = _seen(
        "Codes by their first N characters.",
        "COL=prefix:N",
        python='{"icd": "prefix:3"}',
        default={},
    )
    name: str | None = Field(default=None, min_length=1)
    """What results call it; unset: the file's name."""

    @property
    def place(self) -> Path:
        """The file; or what stands for a table of a database in names, which is no file."""
        if isinstance(self.path, Address):
            return Path(self.dialect.table or "query")
        return self.path

    @property
    def date_forms(self) -> dict[str, DateForm]:
        """How dates are written, by column."""
        return {column: date_form(written) for column, written in self.date.items()}

    @model_validator(mode="after")
    def _views_make_sense(self) -> Self:
        try:
            forms = self.date_forms
            for rule in self.derive.values():
                derivation(rule, forms)
            for rule in self.bands.values():
                cut_points(rule)
            for rule in self.group.values():
                prefix(rule)
        except StudyError as error:
            raise ContradictionError(str(error)) from None
        numbers = {column for column, kind in self.types.items() if kind is not ColumnType.TEXT}
        for first, second, columns in (
            ("date", "types", numbers.intersection(self.date)),
            ("date", "bands", set(self.bands).intersection(self.date)),
            ("group", "bands", set(self.bands).intersection(self.group)),
            ("derive", "date", set(self.derive).intersection(self.date)),
            ("derive", "missing", set(self.derive).intersection(self.missing)),
        ):
            if columns:
                raise ContradictionError(
                    '`{first}` and `{second}` are both given for "{column}"; leave out one of them',
                    first=first,
                    second=second,
                    column=min(columns),
                )
        return self


def _is_condition(written: str) -> str:
    try:
        parse_condition(written)
    except StudyError as error:
        raise ContradictionError(str(error)) from None
    return written


def _has_column(written: str) -> str:
    try:
        taken_apart(written)
    except StudyError as error:
        raise ContradictionError(str(error)) from None
    return written


ConditionText = Annotated[str, AfterValidator(_is_condition)]
"""A condition in the language of `glasshouse.conditions`."""
DatedCondition = Annotated[str, AfterValidator(_has_column)]
"""A condition in which a date may be written as the file writes it; the study makes it an ISO date."""


_records = partial(entry, panel=RECORDS)


class Treatment(Model):
    """Which records of the datasets belong to the study."""

    where: tuple[DatedCondition, ...] = _records(
        "Only records that meet this: COL=A,B, COL=LOW..HIGH, COL!=A, COL>=A.",
        "COL=VALUE,…",
        python='["age=18..65"]',
        default=(),
    )
    """Records must meet all of them."""
    invalid: tuple[DatedCondition, ...] = _records(
        "Leave out records with these values, and say how many.", "COL=VALUE,…", default=()
    )
    """No record meets any of them."""
    drop_missing: StrictBool = _records(
        "Leave out records with a missing value in a column that has a role.", default=False
    )
    drop_suppressed: StrictBool | None = _records(
        "Leave out records that hold nothing but *, which form no class; or take them for one.",
        unless="left out, unless several files are joined; of a run folder, what was suppressed",
    )
    """Whoever anonymised the release suppressed a record whose quasi-identifiers all hold ``*``."""

    def abridged(self) -> Self:
        """Return it without the values that decide: a report tells how many records were left out for each."""
        values = {"where": without_values(self.where), "invalid": without_values(self.invalid)}
        return self.model_copy(update=values)


Worth = Annotated[StrictFloat, Field(allow_inf_nan=False)]
Probability = Annotated[StrictFloat, Field(ge=0, le=1, allow_inf_nan=False)]


_gains, _adversary = partial(entry, panel=GAINS), partial(entry, panel=ADVERSARY)


CURRENCY = _gains("Gains are money: print them so, as in R$ 2.00.", "SIGN", min_length=1)


class Gain(Model):
    """What a guess is worth to the adversary, beside the plain chance of a right one."""

    tries: StrictInt | None = _gains(
        "She may guess K times.", "K", ge=1, label="How many guesses she has"
    )
    """She wins if one of the values is right."""
    worth: dict[str, dict[str, Worth]] = _gains(
        'What naming each value right is worth to her, "*" for all others.',
        "COL:VALUE=N,…",
        python='{"illness": {"HIV": 5, "*": 1}}',
        default={},
    )
    matrix: dict[str, Path] = _gains(
        "What each action (row) earns for each value (column), losses included.",
        "COL=FILE.csv",
        default={},
    )
    """By secret, joint ones as ``a+b``."""
    abstain: StrictBool = _gains(
        "With `gain`: she may also do nothing, for nothing.", default=False
    )
    record_worth: str | None = _gains(
        "The column that says what naming each person is worth.", "COL"
    )
    currency: str | None = CURRENCY

    @model_validator(mode="after")
    def _one_per_secret(self) -> Self:
        if self.tries is not None and (self.worth or self.matrix or self.record_worth):
            raise ContradictionError("give the adversary tries or worth, not both")
        for name in self.worth:
            if name in self.matrix:
                raise ContradictionError(
                    '"{name}" has a worth and a gain matrix; give one of them', name=name
                )
        counted = self.tries or self.worth or self.matrix or self.record_worth
        if self.currency is not None and not counted:
            raise ContradictionError(
                "a currency needs something that is worth money: a worth or a gain"
            )
        if self.abstain and not self.matrix:
            raise ContradictionError(
                "abstaining needs a gain matrix: without losses she loses nothing"
            )
        return self


Secret = str | tuple[str, ...]
"""A sensitive attribute, or several that are inferred together."""


QUASI_IDENTIFIERS = _adversary("A column that she can know about a person.", "COL", default=())
SENSITIVE = _adversary(
    "A column that she wants to infer, or several together.", "COL[,COL]", default=()
)
POPULATION = _adversary("A register of all people that the release may be about.", "FILE")
FRACTION = _adversary(
    "Without a register: the share of the population that is in the release, above 0 and at most 1.",
    "SHARE",
)
"""Entries that several questions have."""


class Adversary(Model):
    """What the adversary knows, wants, and believes beforehand."""

    quasi_identifiers: tuple[str, ...] = QUASI_IDENTIFIERS
    facts: dict[str, tuple[str, ...]] = _adversary(
        "Columns that she knows together or not at all, such as a birth date.",
        "NAME=COL,COL…",
        python='{"birth": ["day", "month", "year"]}',
        default={},
    )
    sensitive: tuple[Secret, ...] = SENSITIVE
    missing_is_a_value: StrictBool = _adversary(
        "A missing secret is one of its values, instead of left out as nothing to learn.",
        default=False,
    )
    identifier: str | None = _adversary(
        "The column that identifies a person: one record of each is kept, and several files are joined on it.",
        "COL",
    )
    """It is never used to tell records apart."""
    prior_weight: str | None = _adversary(
        "Record weights that shape what she believes beforehand; no survey weights.",
        "COL",
        unless="all alike",
    )
    prior: dict[str, dict[str, Probability]] = _adversary(
        'What she believes about a secret beforehand, "*" for all other values.',
        "COL:VALUE=P,…",
        unless="as frequent as in the release",
        python='{"illness": {"HIV": 0.01, "*": 0.99}}',
        default={},
    )
    """By secret, joint ones as ``a+b``; what ``*`` says is shared by all others, alike."""
    gain: Gain = Gain()
    """What guesses are worth to her."""

    @model_validator(mode="before")
    @classmethod
    def _weights_are_of_two_kinds(cls, content: Any) -> Any:
        if isinstance(content, dict) and "weight" in content:
            raise ContradictionError(
                'an adversary has no "weight": say "prior_weight" for record weights that shape her prior; "weight" of '
                "the study itself is for survey weights (how many people a record stands for)"
            )
        return content

    @property
    def knowable(self) -> tuple[str, ...]:
        """All that she can know of a person: the quasi-identifiers, then the facts."""
        return (*self.quasi_identifiers, *self.facts)

    @property
    def fact_columns(self) -> tuple[str, ...]:
        """The columns of all facts."""
        return tuple(column for columns in self.facts.values() for column in columns)

    @property
    def secrets(self) -> tuple[tuple[str, ...], ...]:
        """The columns of each secret, be it one attribute or several."""
        return tuple(map(attributes, self.sensitive))

    @property
    def secret_columns(self) -> tuple[str, ...]:
        """The columns that she wants to infer, each once."""
        return tuple(dict.fromkeys(column for columns in self.secrets for column in columns))

    @property
    def guesses_once(self) -> bool:
        """Whether she makes one guess at single attributes, all worth the same, and believes what the release says."""
        joint = any(len(columns) > 1 for columns in self.secrets)
        return not joint and not self.prior and self.gain == Gain()

    @model_validator(mode="after")
    def _each_column_has_one_role(self) -> Self:
        if not self.knowable:
            raise ContradictionError("name at least one of the quasi_identifiers, or a fact")
        for fact, columns in self.facts.items():
            if not fact or not columns or not all(columns):
                raise ContradictionError(
                    'fact "{fact}" needs a name and at least one column', fact=fact
                )
            if fact in self.quasi_identifiers:
                raise ContradictionError(
                    '"{fact}" is a quasi-identifier and also a fact; rename the fact', fact=fact
                )
        roles: dict[str, str] = {}
        for name, role in (
            *((name, text("a quasi-identifier")) for name in self.quasi_identifiers),
            *((name, text("a quasi-identifier")) for name in self.fact_columns),
            *((name, text("sensitive")) for name in self.secret_columns),
            (self.identifier, text("the identifier")),
            (self.prior_weight, text("the prior weight")),
        ):
            if name is None:
                continue
            if name in roles:
                if roles[name] == role:
                    raise ContradictionError(
                        'column "{name}" is given twice; name each quasi-identifier once', name=name
                    )
                raise ContradictionError(
                    'column "{name}" is {role} and also {other}; choose one',
                    name=name,
                    role=roles[name],
                    other=role,
                )
            roles[name] = role
        for names in self.secrets:
            if not names or not all(names) or len(set(names)) < len(names):
                raise ContradictionError(
                    "a secret needs at least one sensitive attribute, and each once"
                )
        if len(set(map(frozenset, self.secrets))) < len(self.secrets):
            raise ContradictionError("a sensitive attribute is given twice")
        secret_names = set(map("+".join, self.secrets))
        for what, by_secret in (
            (text("worth"), self.gain.worth),
            (text("a gain matrix"), self.gain.matrix),
            (text("a prior"), self.prior),
        ):
            for name in by_secret:
                if name not in secret_names:
                    raise ContradictionError(
                        '{what} is given for "{name}", which is not a secret of hers',
                        what=what,
                        name=name,
                    )
        return self


_DATE_LIKE = re.compile(r"[0-9]{1,4}[/.-][0-9]{1,2}[/.-][0-9]{1,4}")


def attributes(secret: Secret) -> tuple[str, ...]:
    """Return the columns of a secret, be it one attribute or several.

    >>> attributes("income"), attributes(("income", "religion"))
    (('income',), ('income', 'religion'))
    """
    return (secret,) if isinstance(secret, str) else secret


def refuse_second_role(adversary: Adversary, weight: str | None) -> None:
    """Make sure that the column of survey weights is nothing else.

    Raises:
        ContradictionError: It is.
    """
    roles: dict[str | None, str] = {
        **dict.fromkeys(adversary.quasi_identifiers, text("a quasi-identifier")),
        **dict.fromkeys(adversary.fact_columns, text("a quasi-identifier")),
        **dict.fromkeys(adversary.secret_columns, text("sensitive")),
        adversary.identifier: text("the identifier"),
        adversary.prior_weight: text("the prior weight"),
    }
    if weight is not None and weight in roles:
        raise ContradictionError(
            'column "{name}" is {role} and also {other}; choose one',
            name=weight,
            role=roles[weight],
            other=text("the survey weight"),
        )


class ReleaseStudy(Question):
    """One question about the records of a release, or of a collection of them."""

    datasets: tuple[Dataset, ...] = Field(min_length=1)
    """The files of the release; of several, the first is the focal one."""
    adversary: Adversary
    """Whom the release is assessed against."""
    treatment: Treatment = Treatment()
    """Which records belong to the study."""
    drop: tuple[str, ...] = _records(
        "A column that is in the file for the assessment, and will not be in the release.",
        "COL",
        default=(),
    )
    ignore: tuple[str, ...] = _records(
        "Dismiss a column: nobody could know it, and it says nothing about a person. The verdict says so.",
        "COL",
        default=(),
    )
    seed: StrictInt = _records(
        "For the choice of one record of a person who has several.",
        "N",
        default=0,
        ge=0,
        lt=1 << 63,
    )
    """And for what is random in a protected release: keep it as secret as the data."""

    @property
    def is_joined(self) -> bool:
        """Whether the datasets are joined, so that the others tell more about the people of the focal one."""
        return len(self.datasets) > 1

    def check_policy(self) -> None:
        """Make sure before a run that its policy is about sensitive attributes that the study has."""
        secrets = ["+".join(columns) for columns in self.adversary.secrets]
        for condition in self.policy.conditions:
            if condition.of is not None and condition.of not in secrets:
                raise StudyError(
                    'the rule has a condition on "{name}", which is not a sensitive attribute here; they are '
                    "{secrets}",
                    name=condition.of,
                    secrets=quoted(secrets) or text("none"),
                )

    @property
    def files(self) -> tuple[Dataset, ...]:
        """All the data that it is about, in which the same value must be called the same."""
        return self.datasets

    @model_validator(mode="after")
    def _dismissed_columns_have_no_role(self) -> Self:
        adversary = self.adversary
        measured = {
            *(*adversary.quasi_identifiers, *adversary.fact_columns, *adversary.secret_columns)
        }
        for word, names in (("drop", self.drop), ("ignore", self.ignore)):
            for name in names:
                if name in measured:
                    raise ContradictionError(
                        'column "{name}" is known or sensitive, and `{word}` takes it out; choose one',
                        name=name,
                        word=word,
                    )
        for name in self.drop:
            if name in self.ignore:
                raise ContradictionError(
                    'column "{name}" is given with `drop` and with `ignore`; choose one', name=name
                )
        return self

    @model_validator(mode="after")
    def _dates_are_iso(self) -> Self:
        treatment = self.treatment
        conditions = {
            "where": self.iso_conditions(treatment.where),
            "invalid": self.iso_conditions(treatment.invalid),
        }
        if conditions == {"where": treatment.where, "invalid": treatment.invalid}:
            return self
        return self.model_copy(update={"treatment": treatment.model_copy(update=conditions)})

    @model_validator(mode="after")
    def _bands_are_alike(self) -> Self:
        for dataset in self.files if len(self.files) > 1 else ():
            for column, rule in dataset.bands.items():
                if quantiles(rule):
                    raise ContradictionError(
                        'quantiles of "{column}" are cut elsewhere in each of several files; give the numbers at which '
                        "its bands begin, such as `bands` {column}=0,1000,5000",
                        column=column,
                    )
        return self

    def iso_conditions(self, conditions: tuple[str, ...]) -> tuple[str, ...]:
        """Return conditions with dates as ISO writes them, where they are written as in the file.

        Raises:
            ContradictionError: One is no condition, or has a date that is of no known form.
        """
        forms: dict[str, DateForm] = {}
        for dataset in reversed(self.files):
            forms |= dataset.date_forms
        dated = tuple(with_iso_dates(condition, forms) for condition in conditions)
        for condition in dated:
            try:
                parse_condition(condition)
            except StudyError as error:
                column, _, rest = taken_apart(condition)
                if column in forms or not _DATE_LIKE.search(rest):
                    raise ContradictionError(str(error)) from None
                raise ContradictionError(
                    "{fault}; if the file writes dates otherwise, say how: `date` {column}=dd/mm/yyyy",
                    fault=error,
                    column=column,
                ) from None
        return dated

    def columns_without_role(self) -> tuple[str, ...]:
        """Return the columns that the study needs without their having a role."""
        conditions = (*self.treatment.where, *self.treatment.invalid)
        columns = [taken_apart(written)[0] for written in conditions]
        if self.adversary.gain.record_worth is not None:
            columns.append(self.adversary.gain.record_worth)
        return tuple(dict.fromkeys(columns))

    def abridged(self) -> Self:
        """Return the study without values: what naming one is worth, a prior, who is left out."""
        gain = self.adversary.gain.model_copy(update={"worth": {}})
        adversary = self.adversary.model_copy(update={"gain": gain, "prior": {}})
        return self.model_copy(
            update={"adversary": adversary, "treatment": self.treatment.abridged()}
        )


M = TypeVar("M", bound=BaseModel)
Q = TypeVar("Q", bound=Question)


LONGEST_STUDY = 1 << 22
"""No study has so many bytes."""
DEEPEST_ENTRY = 100
"""No entry of a study has so many dots in its name."""
COMMANDS = (
    *("assess", "target", "membership", "protect", "anonymise"),
    *("compare", "threat", "totals", "tables", "deter"),
)
"""The commands that answer a study; each has a module here, under its own word."""


def study_class(command: str) -> type[Question]:
    """Return the kind of study that a command answers.

    >>> study_class("deter").__name__
    'DeterStudy'
    """
    module = import_module(f"glasshouse.study.{command}")
    kind: type[Question] = getattr(module, f"{command.capitalize()}Study")
    return kind


def load_study(path: Path) -> Question:
    """Read a ``study.toml`` for any command; relative paths in it start at its own folder.

    Raises:
        StudyError: The file cannot be read, is not TOML, or is no study.
    """
    content = toml_content(path)
    command = content.get("command", COMMANDS[0])
    if command not in COMMANDS:
        raise StudyError(
            "{file}: {place}: {reason}",
            file=path.name,
            place='"command"',
            reason=text(
                "input should be {choices}", choices=either([repr(word) for word in COMMANDS])
            ),
        )
    return _located_study(path, study_class(command).kind_of(content), content)


def load_question(path: Path, kind: type[Q]) -> Q:
    """Read a ``study.toml`` of one kind; relative paths in it start at its own folder.

    Raises:
        StudyError: The file cannot be read, is not TOML, or is not such a study.
    """
    content = toml_content(path)
    expected = kind.model_fields["command"].default
    command = content.get("command", expected)
    if command != expected and command in COMMANDS:
        raise other_command(path, command)
    return _located_study(path, kind, content)


def load_policy(name: str) -> ReleasePolicy:
    """Return the policy of a name, or the one in a file whose name ends in ``.toml``.

    Raises:
        StudyError: There is none of that name, or the file is no policy.
    """
    if not name.endswith(".toml"):
        return policy_called(name)
    path = Path(name).expanduser()
    return validated(ReleasePolicy, toml_content(path), path.name).read_from(name)


def toml_content(path: Path) -> dict[str, Any]:
    """Return what a TOML file of ours holds.

    Raises:
        StudyError: It cannot be read, or is no TOML.
    """
    name = path.name or str(path)
    try:
        status = path.stat()
        if stat.S_ISFIFO(status.st_mode) or stat.S_ISCHR(status.st_mode):
            raise StudyError(
                "{file}: is not a regular file; save the study to one first", file=name
            )
        if status.st_size > LONGEST_STUDY:
            raise StudyError("{file}: is too long for a study; is it one?", file=name)
        written = path.read_text(encoding="utf-8-sig")
        deepest = max(
            (line.partition("=")[0].count(".") for line in written.splitlines()), default=0
        )
        if deepest > DEEPEST_ENTRY:
            raise StudyError("{file}: is nested too deeply for a study; is it one?", file=name)
        content = json.loads(written) if path.suffix == ".json" else tomllib.loads(written)
        if not isinstance(content, dict):
            raise StudyError("{file}: should be a table of entries", file=name)
    except OSError as error:
        raise StudyError(
            "{file}: cannot be read ({reason})", file=name, reason=system_reason(error)
        ) from None
    except UnicodeDecodeError:
        raise StudyError("{file}: is not UTF-8 text; is it a study file?", file=name) from None
    except RecursionError:
        raise StudyError(
            "{file}: is nested too deeply for a study; is it one?", file=name
        ) from None
    except ValueError as error:  # of TOML, or of a number with thousands of digits
        reason = str(error).partition(";")[0]
        form = "JSON" if path.suffix == ".json" else "TOML"
        raise StudyError(
            "{file}: is not valid {form}: {reason}", file=name, form=form, reason=reason
        ) from None
    content.pop("glasshouse", None)
    return content


def _located_study(path: Path, kind: type[Q], content: dict[str, Any]) -> Q:
    folder = path.absolute().parent
    return with_paths(validated(kind, content, path.name), lambda relative: folder / relative)


def other_command(path: Path, command: str) -> StudyError:
    """Return the error of a study that is for another command."""
    words = "totals campaign" if command == "totals" else command
    return StudyError(
        "{file}: is a study for another command; run glasshouse {command} --study {path}",
        file=path.name,
        command=words,
        path=path,
    )


def dump_study(study: Question, *, version: str) -> str:
    """Return a study as TOML that `load_question` reads back to the same study."""
    content = study.model_dump(mode="json", exclude_none=True, exclude_defaults=True)
    if "subject" in content:  # the entries of the question itself come first
        content["subject"] = content.pop("subject")
    return tomli_w.dumps({"glasshouse": version, "command": study.command, **content})


def with_paths(study: M, located: Callable[[Path], Path]) -> M:
    """Return a study with every path in it replaced."""
    return cast(M, _with_paths(study, located))


def paths_of(study: Model) -> Iterator[Path]:
    """Yield the paths in a study."""
    paths: list[Path] = []

    def noted(path: Path) -> Path:
        paths.append(path)
        return path

    _with_paths(study, noted)
    yield from paths


def datasets_of(part: object) -> Iterator[Dataset]:
    """Yield the datasets in a study."""
    if isinstance(part, Dataset):
        yield part
    elif isinstance(part, Model):
        for name in type(part).model_fields:
            yield from datasets_of(getattr(part, name))
    elif isinstance(part, tuple | dict):
        for item in part.values() if isinstance(part, dict) else part:
            yield from datasets_of(item)


def _with_paths(part: Any, located: Callable[[Path], Path]) -> Any:
    if isinstance(part, Path):
        return located(part)
    if isinstance(part, Model):
        fields = {name: getattr(part, name) for name in type(part).model_fields}
        changed = {name: _with_paths(value, located) for name, value in fields.items()}
        update = {name: value for name, value in changed.items() if value is not fields[name]}
        return part.model_copy(update=update) if update else part
    if isinstance(part, tuple) and any(isinstance(item, Model | Path) for item in part):
        return tuple(_with_paths(item, located) for item in part)
    if isinstance(part, dict) and any(isinstance(item, Model | Path) for item in part.values()):
        return {name: _with_paths(item, located) for name, item in part.items()}
    return part


def validated(model: type[M], content: dict[str, Any], where: str) -> M:
    """Build a model from plain values, or say in one line what is wrong with them.

    Raises:
        StudyError: Naming the entry and the reason.
    """
    try:
        return model.model_validate(content)
    except ValidationError as error:
        raise StudyError(f"{where}: {_first_problem(error)}") from None


def _first_problem(error: ValidationError) -> str:
    problem = error.errors(include_url=False)[0]
    place = _place([part for part in problem["loc"] if not _is_kind(part)])
    kind, reason = problem["type"], str(problem["msg"]).removeprefix("Value error, ")
    if kind == "value_error":
        return reason
    if kind == "extra_forbidden":
        commands = [command for command in COMMANDS if _has_entry(command, problem["loc"])]
        if commands:
            return text(
                "{place} is an entry of a study for {commands}; leave it out here",
                place=place,
                commands=either(commands),
            )
        if "conditions" in problem["loc"] or error.title == ReleasePolicy.__name__:
            return text(
                "{place} is not an entry of a rule; remove it or correct its name", place=place
            )
        return text(
            "{place} is not an entry of a study; remove it or correct its name", place=place
        )
    if kind == "missing":
        return text("{place} is missing; add it", place=place)
    return f"{place}: {_in_plain_words(problem, reason)}"


def _has_entry(command: str, place: tuple[int | str, ...]) -> bool:
    return len(place) == 1 and place[0] in study_class(command).model_fields


def _in_plain_words(problem: ErrorDetails, reason: str) -> str:
    """Return the fault of an entry, in our words where there are any."""
    kind, context = problem["type"], problem.get("ctx", {})
    for limit, words in _LIMITS.items():
        if limit in context:
            return translated(words, limit=number(context[limit], "g"), given=problem["input"])
    if kind in ("literal_error", "enum"):
        choices = re.findall("'[^']*'", str(context["expected"]))
        return text("input should be {choices}", choices=either(choices))
    if kind in _KINDS:
        return translated(_KINDS[kind])
    return f"{reason[:1].lower()}{reason[1:]}"


_LIMITS = {
    "ge": marked("should be at least {limit}, not {given}"),
    "gt": marked("should be above {limit}, not {given}"),
    "le": marked("should be at most {limit}, not {given}"),
    "lt": marked("should be below {limit}, not {given}"),
}
_KINDS = {
    "tuple_type": marked('should be a list, such as ["age", "sex"]'),
    "too_short": marked("needs at least one entry"),
    "too_long": marked("has too many entries"),
    "string_too_short": marked("must not be empty"),
    "path_type": marked("should be text"),
    "string_type": marked("should be text"),
    "bool_type": marked("should be true or false"),
    "int_type": marked("should be a whole number"),
    "float_type": marked("should be a number"),
    "finite_number": marked("should be a number, not infinite"),
    "dict_type": marked("should be a table of entries"),
    "model_type": marked("should be a table of entries"),
}


def _is_kind(part: str | int) -> bool:
    """Tell whether a part of a place is pydantic's name for one of several types, not the user's."""
    return isinstance(part, str) and (
        part in {"str", "int", "float"} or not part.isprintable() or "[" in part
    )


def _place(keys: list[str | int]) -> str:
    """Return a place in a study as people say it: ``datasets, entry 1, path``."""
    names = [
        text("entry {place}", place=key + 1) if isinstance(key, int) else f'"{key}"' for key in keys
    ]
    return ", ".join(names) or text("the study")
