"""A study as frozen models that read from and write to ``study.toml``.

A study holds everything that determines a result besides the data itself, so that a run can be repeated
from its study alone. The models know nothing of the data: whether a column exists is found out when the
data is read.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator
from enum import StrEnum
from itertools import combinations
from pathlib import Path
from typing import Annotated, Any, ClassVar, Literal, Self

from pydantic import (
    AfterValidator,
    BeforeValidator,
    Field,
    SerializerFunctionWrapHandler,
    StrictBool,
    StrictFloat,
    StrictInt,
    model_serializer,
    model_validator,
)

from glasshouse.errors import StudyError, near_names, quoted
from glasshouse.study.base import Model, Question
from glasshouse.study.conditions import parse_condition
from glasshouse.study.files import load_question, validated
from glasshouse.study.protection import Protection


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


class Dialect(Model):
    """How a delimited text file is written down."""

    separator: Annotated[str | None, BeforeValidator(_tabulator)] = None
    """One character between fields (``tab`` and ``\\t`` mean the tabulator); unset: detected."""
    quote: Annotated[str | None, BeforeValidator(_no_quote)] = '"'
    """The character around fields that hold a separator or a line break; ``none``: no such thing."""
    encoding: str | None = None
    """Any encoding that Python knows; unset: by byte-order mark, else UTF-8."""
    header: StrictBool = True
    """Whether the first record holds the names of the columns."""
    names: tuple[str, ...] = ()
    """Names for the columns, instead of the header's or where there is none."""
    strip: StrictBool = False
    """Whether blanks around a value are dropped."""

    @model_validator(mode="after")
    def _one_character_each(self) -> Self:
        for what, character in (("separator", self.separator), ("quote", self.quote)):
            if character is not None and len(character) != 1:
                raise ValueError(f"the {what} must be one character, not {character!r}")
            if character in ("\n", "\r", "\0"):
                raise ValueError(f"the {what} cannot be {character!r}")
        if self.separator is not None and self.separator == self.quote:
            raise ValueError("the separator and the quote must differ")
        return self

    @model_serializer(mode="wrap")
    def _with_quote(self, dump: SerializerFunctionWrapHandler) -> dict[str, Any]:
        """TOML has no null, and the default is not null: no quote is written as ``none``."""
        content: dict[str, Any] = dump(self)
        return content | {"quote": "none"} if self.quote is None else content


class Dataset(Model):
    """One file of the release and how to read it."""

    path: Path
    """The file; in ``study.toml`` relative to the folder of the study."""
    dialect: Dialect = Dialect()
    """How it is written down, where it is delimited text."""
    types: dict[str, ColumnType] = Field(default_factory=dict)
    """Columns that are to be understood as something other than text."""
    name: str | None = Field(default=None, min_length=1)
    """What results call it; unset: the file's name."""


def _is_condition(text: str) -> str:
    try:
        parse_condition(text)
    except StudyError as error:
        raise ValueError(str(error)) from None
    return text


ConditionText = Annotated[str, AfterValidator(_is_condition)]
"""A condition in the language of `glasshouse.study.conditions`."""


class Treatment(Model):
    """Which records of the datasets belong to the study."""

    where: tuple[ConditionText, ...] = ()
    """Only records that meet all of these."""
    invalid: tuple[ConditionText, ...] = ()
    """No record that meets any of these: it holds an invalid value."""
    drop_missing: StrictBool = False
    """No record with a missing value in a column that has a role."""
    drop_suppressed: StrictBool = False
    """No record whose quasi-identifiers all hold ``*``: whoever anonymised the release suppressed it."""


Worth = Annotated[StrictFloat, Field(allow_inf_nan=False)]
Probability = Annotated[StrictFloat, Field(ge=0, le=1, allow_inf_nan=False)]


class Gain(Model):
    """What a guess is worth to the adversary, beside the plain chance of a right one."""

    tries: StrictInt | None = Field(default=None, ge=1)
    """She may guess so many values, and wins if one of them is right."""
    worth: dict[str, dict[str, Worth]] = Field(default_factory=dict)
    """Per sensitive attribute, what naming each value right is worth; ``*`` stands for all others."""
    matrix: dict[str, Path] = Field(default_factory=dict)
    """Per secret (joint ones as ``a+b``), a file with what each action earns for each value."""
    abstain: StrictBool = False
    """Whether she may also do nothing, for nothing, where a matrix says what actions earn."""
    record_worth: str | None = None
    """The column that says what naming each person is worth."""
    currency: str | None = Field(default=None, min_length=1)
    """What gains are counted in, where they are money: printed before each."""

    @model_validator(mode="after")
    def _one_per_secret(self) -> Self:
        if self.tries is not None and (self.worth or self.matrix or self.record_worth):
            raise ValueError("give the adversary tries or worth, not both")
        for name in self.worth:
            if name in self.matrix:
                raise ValueError(f'"{name}" has a worth and a gain matrix; give one of them')
        counted = self.tries or self.worth or self.matrix or self.record_worth
        if self.currency is not None and not counted:
            raise ValueError("a currency needs something that is worth money: a worth or a gain")
        if self.abstain and not self.matrix:
            raise ValueError("abstaining needs a gain matrix: without losses she loses nothing")
        return self


Secret = str | tuple[str, ...]
"""A sensitive attribute, or several that are inferred together."""


class Adversary(Model):
    """What the adversary knows, wants, and believes beforehand."""

    quasi_identifiers: tuple[str, ...] = ()
    """The attributes that she can know of a person from elsewhere."""
    facts: dict[str, tuple[str, ...]] = Field(default_factory=dict)
    """Attributes that she knows together or not at all, such as a birth date in three columns, under one name."""
    sensitive: tuple[Secret, ...] = ()
    """The attributes that she wants to infer; an inner list is inferred jointly."""
    identifier: str | None = None
    """The column that names a person, if there is one. It is never used to tell records apart."""
    weight: str | None = None
    """The column of record weights that shapes her prior; unset: every record is as likely."""
    prior: dict[str, dict[str, Probability]] = Field(default_factory=dict)
    """Per secret (joint ones as ``a+b``), how probable she holds each value; ``*``: all others, alike. Unset: as
    frequent as it is in the release."""
    gain: Gain = Gain()
    """What guesses are worth to her."""

    @property
    def knowable(self) -> tuple[str, ...]:
        """All that she can know of a person: the quasi-identifiers, then the facts."""
        return (*self.quasi_identifiers, *self.facts)

    @model_validator(mode="after")
    def _each_column_has_one_role(self) -> Self:
        if not self.knowable:
            raise ValueError("name at least one of the quasi_identifiers, or a fact")
        for fact, columns in self.facts.items():
            if not fact or not columns or not all(columns):
                raise ValueError(f'fact "{fact}" needs a name and at least one column')
            if fact in self.quasi_identifiers:
                raise ValueError(f'"{fact}" is a quasi-identifier and also a fact; rename the fact')
        roles: dict[str, str] = {}
        secrets = dict.fromkeys(name for secret in self.sensitive for name in attributes(secret))
        others = [(name, "the identifier") for name in (self.identifier,) if name is not None]
        others += [(name, "the weight") for name in (self.weight,) if name is not None]
        for name, role in (
            *((name, "a quasi-identifier") for name in self.quasi_identifiers),
            *((name, "a quasi-identifier") for part in self.facts.values() for name in part),
            *((name, "sensitive") for name in secrets),
            *others,
        ):
            if name in roles:
                if roles[name] == role:
                    raise ValueError(
                        f'column "{name}" is given twice; name each quasi-identifier once'
                    )
                raise ValueError(f'column "{name}" is {roles[name]} and also {role}; choose one')
            roles[name] = role
        together = [attributes(secret) for secret in self.sensitive]
        for names in together:
            if not names or not all(names) or len(set(names)) < len(names):
                raise ValueError("a secret needs at least one sensitive attribute, and each once")
        if len({frozenset(names) for names in together}) < len(together):
            raise ValueError("a sensitive attribute is given twice")
        said = {"+".join(names) for names in together}
        for what, given in (
            ("worth", self.gain.worth),
            ("a gain matrix", self.gain.matrix),
            ("a prior", self.prior),
        ):
            for name in given:
                if name not in said:
                    raise ValueError(f'{what} is given for "{name}", which is no secret of hers')
        return self


Subset = str | tuple[str, ...]
"""``full`` (the whole set), ``all`` (every subset), ``max:K`` (every one of at most K), or the ones named."""

SWEEP = re.compile(r"all|max:([1-9]\d*)")
"""The words that ask for many subsets at once."""
LINK = re.compile(r"(?P<name>.+?)(?P<shift>[+-][0-9]{1,6})?(=(?P<persists>[0-9.eE+-]+))?")
"""How a linking key is said in short: ``nationality=0.999``, ``age+1``, ``birth_date``."""
SWEPT_BY_DEFAULT = 13
"""Up to so many quasi-identifiers every subset is assessed unless a study says otherwise."""


class Key(Model):
    """An attribute by which records of the same person are linked where there is no identifier."""

    name: str
    """The column, in the focal dataset and in every other."""
    persists: Probability = 1.0
    """How probable it is that a person keeps the value from the focal dataset to another."""
    shift: StrictInt = 0
    """By how much it grows from each dataset to the next, such as an age by the years between."""


class Study(Question):
    """One question about one release, or about a collection of them."""

    commands: ClassVar[tuple[str, ...]] = ("assess", "target", "membership", "anonymise")
    command: Literal["assess", "target", "membership", "anonymise"] = "assess"
    """The command that answers it."""
    datasets: tuple[Dataset, ...] = Field(min_length=1)
    """The files of the release; of several, the first is the focal one."""
    adversary: Adversary
    """Whom the release is assessed against."""
    treatment: Treatment = Treatment()
    """Which records belong to the study."""
    seed: StrictInt = Field(default=0, ge=0, lt=1 << 63)
    """For the choice of one record per person, where somebody has several in a dataset; and for what is random in a
    protected release: keep it as secret as the data."""
    links: tuple[Key, ...] = ()
    """How records of several datasets are linked where there is no identifier."""
    by: str | None = None
    """The column whose values divide the release into parts that are assessed one by one."""
    each: StrictBool = False
    """Whether several datasets are assessed one by one, instead of together."""
    population: Dataset | None = None
    """A register of all people that the release may be about."""
    fraction: Probability | None = None
    """The share of the population that is in the release, where there is no register."""
    known: tuple[ConditionText, ...] = ()
    """What is known of one person."""
    protection: Protection | None = None
    """How the release is to be protected."""
    group: str | None = None
    """The column of Anatomy's groups: within them sensitive values are shuffled, so that what is inferred goes by the
    group, while people are named by their quasi-identifiers."""
    subsets: tuple[Subset, ...] = Field(default=("full",), min_length=1)
    """The sets of quasi-identifiers that she is assumed to know, each assessed on its own."""
    subject: str = Field(default="person", min_length=1)
    """What a record stands for, in the words of the report."""

    @model_validator(mode="after")
    def _datasets_belong_together(self) -> Self:
        several = len(self.datasets) > 1
        linked = self.adversary.identifier is not None or bool(self.links)
        if several and self.command == "target" and not linked:
            raise ValueError("several datasets need a column that names a person (--id)")
        if several and self.command != "membership" and not self.each and not linked:
            raise ValueError(
                "several datasets need a column that names a person (--id), keys to link them by (--link), or to be "
                "assessed one by one (--each)"
            )
        if self.links and self.adversary.identifier is not None:
            raise ValueError("there is an identifier; linking keys are for where there is none")
        if self.links and not several:
            raise ValueError("linking keys need a second dataset to link with")
        if self.each and not several:
            raise ValueError("--each needs several datasets")
        if self.by is not None and several:
            raise ValueError("the parts of a column (--by) are of one dataset, not of several")
        return self

    @model_validator(mode="after")
    def _question_is_complete(self) -> Self:
        if (self.command == "anonymise") != (self.protection is not None):
            raise ValueError("protection is for anonymise, and anonymise needs one")
        if self.command == "anonymise" and len(self.datasets) > 1:
            raise ValueError("one dataset is anonymised at a time; name one file")
        joint = [secret for secret in self.adversary.sensitive if len(attributes(secret)) > 1]
        if self.command == "anonymise" and joint:
            raise ValueError(
                "anonymise protects sensitive attributes one by one; give -s for each, not several together"
            )
        if self.command == "assess" and (self.known or self.population or self.fraction):
            raise ValueError(
                "what is known of one person, a population and a sampling fraction are for target and membership"
            )
        if self.command != "assess" and (
            self.by or self.each or self.links or self.adversary.prior
        ):
            raise ValueError("by, each, links and a prior are for assess; leave them out")
        if self.command == "membership" and (
            self.adversary.weight or self.adversary.gain != Gain() or self.adversary.sensitive
        ):
            raise ValueError(
                "membership is a guess at who is there; leave out weights, gains and sensitive attributes"
            )
        if self.command != "assess" and self.adversary.facts:
            raise ValueError("facts are for assess; name their columns as quasi-identifiers")
        treated = self.treatment.invalid or self.treatment.drop_missing
        if treated and (self.population is not None or self.command == "membership"):
            raise ValueError(
                "records left out as invalid or missing would be taken for people who are not there; leave out "
                "invalid and drop_missing where membership is asked"
            )
        if self.command == "target" and not self.known:
            raise ValueError("say what is known of the person: --know COLUMN=VALUE, once or more")
        if self.population is not None and self.fraction is not None:
            raise ValueError("give a population register or a sampling fraction, not both")
        if self.command == "membership" and self.population is None and self.fraction is None:
            raise ValueError(
                "membership needs the people that the release may be about: a register (--population) or a sampling "
                "fraction (--fraction)"
            )
        if self.fraction == 0:
            raise ValueError("a sampling fraction is above 0 and at most 1")
        return self

    @model_validator(mode="after")
    def _subsets_are_subsets(self) -> Self:
        known = self.adversary.knowable
        for subset in self.subsets:
            if isinstance(subset, str):
                if subset != "full" and not SWEEP.fullmatch(subset):
                    raise ValueError(
                        f'"{subset}" are no subsets; say full, all, max:K or a list of names'
                    )
                continue
            if not subset:
                raise ValueError("a subset needs at least one quasi-identifier")
            for name in subset:
                if name not in known:
                    near = near_names(name, known)
                    way_out = (
                        f"did you mean {quoted(near)}?" if near else f"they are {quoted(known)}"
                    )
                    raise ValueError(f'"{name}" in a subset is not a quasi-identifier; {way_out}')
        return self

    def abridged(self) -> Self:
        """Return the study without values of a person: what naming one is worth, a prior, what is known of one."""
        gain = self.adversary.gain.model_copy(update={"worth": {}})
        adversary = self.adversary.model_copy(update={"gain": gain, "prior": {}})
        known = tuple(f"{parse_condition(text).column}=…" for text in self.known)
        plain: dict[str, Any] = {"adversary": adversary, "known": known}
        if (
            self.protection is not None
        ):  # whoever knows it can repeat the random choices of a release
            plain["seed"] = 0
        return self.model_copy(update=plain)

    def chosen_subsets(self) -> tuple[tuple[str, ...], ...]:
        """Return the sets of quasi-identifiers to assess.

        They come by size, then in the order in which the quasi-identifiers were given; each once.
        """
        order = self.adversary.knowable
        positions = {chosen for subset in self.subsets for chosen in _positions(subset, order)}
        by_size = sorted(positions, key=lambda subset: (len(subset), subset))
        return tuple(tuple(order[i] for i in subset) for subset in by_size)

    @property
    def sweep(self) -> str | None:
        """``all`` or ``max:K`` where one sweep answers the study, else None.

        A sweep knows single secrets and one guess; anything else is assessed subset by subset.
        """
        adversary = self.adversary
        asked = self.subsets[0] if len(self.subsets) == 1 else None
        if not isinstance(asked, str) or not SWEEP.fullmatch(asked):
            return None
        joint = any(len(attributes(secret)) > 1 for secret in adversary.sensitive)
        plain = adversary.gain == Gain() and not adversary.prior and not self.links
        return asked if plain and not joint else None


def attributes(secret: Secret) -> tuple[str, ...]:
    """Return the columns of a secret, be it one attribute or several.

    >>> attributes("income"), attributes(("income", "religion"))
    (('income',), ('income', 'religion'))
    """
    return (secret,) if isinstance(secret, str) else secret


def with_default_subsets(study: Study) -> Study:
    """Return the study with the subsets that are assessed when nobody says which: all, where that is quick.

    It is where there are not many and the records weigh the same.
    """
    swept = study.model_copy(update={"subsets": ("all",)})
    adversary = study.adversary
    quick = len(adversary.knowable) <= SWEPT_BY_DEFAULT and adversary.weight is None
    return swept if quick and swept.sweep else study


def make_study(content: dict[str, Any], *, where: str = "the study") -> Study:
    """Build a study from plain values, or say in one line what is wrong with them.

    Raises:
        StudyError: Naming the entry and the reason.
    """
    return validated(Study, content, where)


def make_dataset(content: dict[str, Any], *, where: str = "the dataset") -> Dataset:
    """Build a dataset from plain values, or say in one line what is wrong with them.

    Raises:
        StudyError: Naming the entry and the reason.
    """
    return validated(Dataset, content, where)


def load_study(path: Path) -> Study:
    """Read a ``study.toml`` about microdata; relative paths in it start at its own folder.

    Raises:
        StudyError: The file cannot be read, is not TOML, or is not such a study.
    """
    return load_question(path, Study)


def parse_link(text: str, columns: Collection[str] = ()) -> dict[str, Any]:
    """Return the linking key that a text says in short, as content of a study.

    A text that is the name of one of the columns, as it stands or before the last equals sign, is that column.

    >>> parse_link("age+1"), parse_link("nationality=0.999")
    ({'name': 'age', 'persists': 1.0, 'shift': 1}, {'name': 'nationality', 'persists': 0.999, 'shift': 0})
    """
    name, _, share = text.rpartition("=")
    for plain, probability in ((text, "1"), (name, share)):
        if plain in columns and _is_number(probability):
            return {"name": plain, "persists": float(probability), "shift": 0}
    found = LINK.fullmatch(text)
    try:
        persists = float(found["persists"] or 1) if found else None
    except ValueError:
        persists = None
    if found is None or persists is None:
        raise StudyError(
            f'--link "{text}" is not of the form COLUMN, COLUMN=PROBABILITY or COLUMN+YEARS'
        )
    return {"name": found["name"], "persists": persists, "shift": int(found["shift"] or 0)}


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True


def _positions(subset: Subset, order: tuple[str, ...]) -> Iterator[tuple[int, ...]]:
    """Yield the sets of positions that an entry of ``subsets`` stands for."""
    if not isinstance(subset, str):
        yield tuple(sorted(order.index(name) for name in set(subset)))
    elif subset == "full":
        yield tuple(range(len(order)))
    else:
        limit = subset.partition(":")[2]
        for size in range(1, min(int(limit or len(order)), len(order)) + 1):
            yield from combinations(range(len(order)), size)
