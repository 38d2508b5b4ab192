"""What is asked of ``assess``: a release or a collection of them, the adversary, and what she may know."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import partial
from itertools import combinations
from pathlib import Path
from typing import Annotated, Any, Literal, Protocol, Self

from pydantic import Field, StrictBool, StrictFloat, StrictInt, model_validator

from glasshouse.conditions import is_number, taken_apart
from glasshouse.errors import ContradictionError, StudyError
from glasshouse.language import marked, near_names, quoted, text
from glasshouse.study.adversaries import CatalogueAdversary
from glasshouse.study.column_noise import ColumnChances, parse_noise
from glasshouse.study.entry import ADVERSARY, RECORDS, SYNTHETIC, entry
from glasshouse.study.question import (
    Adversary,
    Dataset,
    Model,
    Probability,
    ReleaseStudy,
    refuse_second_role,
)

Subset = str | tuple[str, ...]
"""``full`` (the whole set), ``all`` (every subset), ``max:K`` (every one of at most K), ``within:SECONDS`` (the whole
set, and every one of at most as many as that time is enough for), or the ones named."""

WITHIN = re.compile(r"within:([1-9]\d{0,5})")
"""The word that asks for as many subsets as some seconds are enough for."""
SWEEP = re.compile(rf"all|max:([1-9]\d*)|{WITHIN.pattern}")
"""The words that ask for many subsets at once."""
LINK = re.compile(r"(?P<name>.+?)(?P<shift>[+-][0-9]{1,6})?(=(?P<persists>[0-9.eE+-]+))?")
"""How a linking key is said in short: ``nationality=0.999``, ``age+1``, ``birth_date``."""
SWEPT_BY_DEFAULT = 13
"""Up to so many quasi-identifiers every subset is assessed unless a study says otherwise."""
MOST_SWEPT = 24
"""Of so many quasi-identifiers subsets can be assessed."""
MOST_KNOWN = 20
"""Of so many records of a person the adversary knows what they say at most, unless she knows all."""
MOST_LIKELY = 13
"""Of so many attributes it can be said that she knows them only with some chance."""
DEFAULT_SECONDS = 60
"""Of more quasi-identifiers than `SWEPT_BY_DEFAULT` as many subsets are assessed as so many seconds are enough for."""


@dataclass(frozen=True)
class Tolerance:
    """How far a guess of a number may be off and still be as good as right."""

    amount: Fraction
    """By how much; of a share, how much of the true number, below 1."""
    is_share: bool
    """Whether it is a share of the true number."""


@dataclass(frozen=True)
class Precision:
    """How well an adversary knows an attribute, as `about` says it; one of the three is set."""

    off: Fraction | None = None
    """By how much the number that she holds may be off, every one so near being as likely."""
    in_days: bool = False
    """Whether that is a number of days, of dates."""
    right: Fraction | None = None
    """How probable it is that the value that she holds is right; every other one is as likely as another."""
    kernel: str = ""
    """The file that says with which chance she holds what, for each value."""


PERSON_SECRETS = ("any", "sum", "most", "count", "other")
"""How a secret of a person is made of several records: whether any meets a condition, the sum of a number, the most
frequent value, how many records there are, what another one says than those that are known."""


@dataclass(frozen=True)
class PersonSecret:
    """What an adversary wants to learn of a person who has several records."""

    how: str
    """One of `PERSON_SECRETS`; empty: a column that is the same in all records of a person."""
    column: str | None
    """The column that it is about; None: the number of records."""
    condition: str = ""
    """What one of the records meets, of ``any``."""


class Key(Model):
    """An attribute by which records of the same person are linked where there is no identifier."""

    name: str
    """The column, in the focal dataset and in every other."""
    persists: Probability = 1.0
    """How probable it is that a person keeps the value from the focal dataset to another."""
    shift: StrictInt = 0
    """By how much it grows from each dataset to the next, such as an age by the years between."""


_ONE_DATASET = marked("`{option}` is for one dataset; leave out the others")
_adversary, _records = partial(entry, panel=ADVERSARY), partial(entry, panel=RECORDS)
_synthetic = partial(entry, panel=SYNTHETIC)


PERSON = _adversary(
    "The column that says whose a record is, where people have several: visits, purchases, trips. People are counted "
    "then. With two columns, a pseudonym that changes.",
    "COL[,COL]",
    default=(),
)
WEIGHT = _records(
    "Survey weights: how many people of the population each record stands for. Also shows what someone "
    "who does not know who was sampled can do.",
    "COL",
)
"""Entries that other questions have, too."""


@dataclass(frozen=True)
class Alone:
    """A question that is not asked beside some others, nor about several datasets, and why."""

    option: str
    """Its word."""
    without: tuple[str, ...]
    """The words of the others."""
    why: str
    """What is said where one of them is asked, too."""
    single: str | None = _ONE_DATASET
    """And where there are several datasets; None: these may be."""


MATCHES = "matches"
"""The word of missing values that match every value."""
_ONE_PIECE = ("link", "by", "each", "group", "person")
_ONE_GUESS = ("prior_weight", "prior", "tries")
ALONE = (
    Alone(
        "within",
        ("prior_weight", "link", "by", "each"),
        marked("`within` counts every record of a release once; leave out `{word}` with it"),
    ),
    Alone(
        "noise",
        (*_ONE_PIECE, "trained_on"),
        marked("`noise` is about the records of one release in one piece; leave out `{word}`"),
    ),
    Alone(
        "adversary",
        _ONE_PIECE,
        marked("`adversary` is for records of a release in one piece; leave out `{word}` with it"),
        None,
    ),
    *(
        Alone(
            option,
            (*_ONE_GUESS, "link", "by", "each", "group"),
            marked(
                "`{option}` is about one guess at the records of a release, all alike; leave out `{word}` with it"
            ),
        )
        for option in ("about", "likely")
    ),
    Alone(
        "weight",
        _ONE_PIECE,
        marked(
            "survey weights say how many people stand behind the records of a release in one piece; leave out "
            "`weight`, or `{word}`"
        ),
        marked("survey weights are of one sample; leave out `weight`, or the other datasets"),
    ),
    *(
        Alone(
            option,
            _ONE_PIECE,
            marked(
                "`{option}` is about the records of a release in one piece; leave it out, or `{word}`"
            ),
        )
        for option in ("household", "suda")
    ),
    Alone(
        MATCHES,
        (*_ONE_GUESS, "within", "about", "likely", *_ONE_PIECE, "advise"),
        marked(
            "what `{word}` asks is not worked out where a missing value matches every value; leave out `{word}`, or "
            "say value or apart (`missing_as`)"
        ),
        marked(
            "`missing_as` matches is for one dataset; leave out the others, or say value or apart"
        ),
    ),
    Alone(
        "trained_on",
        (
            *(*_ONE_PIECE, "within", "about", "likely", "adversary", "weight", "advise"),
            *(*_ONE_GUESS, "household", "suda", "missing_as"),
        ),
        marked(
            "`trained_on` counts records of synthetic and of real people, all alike, and one guess; leave out "
            "`{word}` with it"
        ),
        marked("`trained_on` is for one synthetic file; leave out the others"),
    ),
)
"""What excludes what."""


class AssessStudy(ReleaseStudy):
    """Who of a release can be named, and what can be inferred about them, with which sets of quasi-identifiers."""

    command: Literal["assess"] = "assess"
    """The command that answers it."""
    links: tuple[Key, ...] = _adversary(
        "Without `id`: several files are linked by this column, which people keep with probability P and which "
        "grows by N from file to file.",
        "COL[+N][=P]",
        default=(),
    )
    by: str | None = _records(
        "Assess the records of each value of this column on their own, and compare.", "COL"
    )
    each: StrictBool = _records(
        "Assess each file on its own, such as one per year, and compare.", default=False
    )
    group: str | None = None
    """The column of Anatomy's groups: within them sensitive values are shuffled, so that what is inferred goes by the
    group, while people are named by their quasi-identifiers."""
    subsets: tuple[Subset, ...] = _adversary(
        "Which of the quasi-identifiers she knows: every subset, the whole set, every subset of at most K, the "
        "whole set and every subset of as many as S seconds are enough for, or these.",
        "all|full|max:K|within:S|COL,COL…",
        unless="all, up to 13 of them; within:60, up to 24; else full",
        python='"max:3"; [["age", "sex"], ["age"]]',
        default=("full",),
        min_length=1,
    )
    """In a study, unless it says so, the whole set. Each is assessed on its own."""
    advise: StrictBool = entry(
        "Where the rule is not met, look for the least generalisation that meets it, too. It takes longer.",
        default=False,
        label="Also look for the least change that meets the rule (it takes longer)",
    )
    person: tuple[str, ...] = PERSON
    knows: Annotated[StrictInt, Field(ge=1, le=MOST_KNOWN)] | Literal["all"] | None = _adversary(
        "With `person`: up to how many records of a person she happens to know, or all.",
        "M|all",
        unless="4",
    )
    unlinked: StrictBool = _adversary(
        "With `person`: the release keeps no pseudonym, so that only you know which records belong to one "
        "person.",
        default=False,
    )
    within: dict[str, str] = _adversary(
        "A secret that is a number, and how close a guess of it need be: 10% of the true number, or 5.",
        "COL=10%|COL=5",
        python='{"income": "10%", "hours": 5}',
        default={},
    )
    adversaries: tuple[CatalogueAdversary, ...] = _adversary(
        "Who looks for people, of the catalogue: br/voter-roll, eu/neighbour …, those of br, eu or us, all, or a "
        "catalogue of your own. What she knows is looked for in the columns, and joins `quasi_identifiers`.",
        "NAME|COUNTRY|all|FILE.toml",
        default=(),
    )
    about: dict[str, str] = _adversary(
        "What she does not know exactly, and how well: within 2 (±, or +-), of dates within 7 days, right in 90% "
        "of cases, or by the chances of a file.",
        "COL=±2|COL=±7d|COL=90%|COL=@FILE",
        python='{"age": "±2", "birth": "±7d", "postcode": "90%"}; {"age": "@chances.csv"}',
        default={},
    )
    """What is said as ``@FILE`` is one of the `kernels`."""
    kernels: dict[str, Path] = Field(default_factory=dict)
    """Quasi-identifiers that she does not know exactly, and a file with the chances of what she holds instead."""
    likely: dict[str, str] = _adversary(
        "What she knows only with some chance, and else not at all.",
        "COL=50%",
        python='{"age": "50%"}',
        default={},
    )
    noise: dict[str, str] = _adversary(
        "A secret that was released at random, and how: response:0.8 (the truth with this chance, else any other "
        "value), pram:0.8 (kept, else drawn anew), swap:0.1,within=region (with this chance exchanged for that of "
        "another record of the region), or by the chances of a file. Also shows what that noise protects.",
        "COL=response:0.8|COL=pram:0.8|COL=swap:0.1|COL=@FILE",
        python='{"ill": "response:0.8"}; {"ill": "@chances.csv"}',
        default={},
    )
    """What is said as ``@FILE`` is one of the `matrices`."""
    matrices: dict[str, Path] = Field(default_factory=dict)
    """Secrets that were released at random, and a file with the chances of what each value became."""
    weight: str | None = WEIGHT
    """What can be done by who knows that a person is in the release does not depend on it."""
    household: str | None = _adversary(
        "The column that says who lives together: also show who is identified if one member is, and which households "
        "are recognised by their members together.",
        "COL",
    )
    suda: Annotated[StrictFloat, Field(gt=0, le=1, allow_inf_nan=False)] | None = _adversary(
        "Also score special uniques (SUDA), and estimate by this share of the population in the release how likely a "
        "match is right (DIS-SUDA).",
        "SHARE",
    )
    missing_as: Literal["value", "matches", "apart"] = _adversary(
        "What a missing quasi-identifier is: a value like any other; something that matches every value, hers and the "
        "others', as in sdcMicro; or a reason to leave the record apart, and count it.",
        "value|matches|apart",
        unless="value",
        default="value",
        label="A missing value of what she knows",
    )
    trained_on: Dataset | None = _synthetic(
        "The release is synthetic, and this is the file of the people whom it was made from: shows what it remembers "
        "about them.",
        "FILE",
    )
    holdout: Dataset | None = _synthetic(
        "With `trained_on`: other people of the same population, whom it was not made from. Without them nothing is "
        "judged.",
        "FILE",
    )

    @model_validator(mode="after")
    def _datasets_belong_together(self) -> Self:
        several = len(self.datasets) > 1
        linked = self.adversary.identifier is not None or bool(self.links)
        if several and not self.each and not linked:
            raise ContradictionError(
                "several datasets need a column that identifies a person (`id`), keys to link them by (`link`), or "
                "to be assessed one by one (`each`)"
            )
        if self.links and self.adversary.identifier is not None:
            raise ContradictionError(
                "there is an identifier; linking keys are for where there is none"
            )
        if self.links and not several:
            raise ContradictionError("linking keys need a second dataset to link with")
        if self.each and not several:
            raise ContradictionError("`each` needs several datasets")
        if self.by is not None and several:
            raise ContradictionError(
                "the parts of a column (`by`) are of one dataset, not of several"
            )
        return self

    @model_validator(mode="after")
    def _nothing_is_asked_beside_what_it_excludes(self) -> Self:
        for one in ALONE:
            if not self._is_asked(one.option):
                continue
            for word in filter(self._is_asked, one.without):
                raise ContradictionError(one.why, option=one.option, word=word)
            if one.single is not None and len(self.datasets) > 1:
                raise ContradictionError(one.single, option=one.option)
        return self

    def _is_asked(self, word: str) -> bool:
        """Tell whether something is asked that is not asked by default, by its word in `ALONE`."""
        adversary = self.adversary
        asked = {
            "link": self.links,
            "adversary": self.adversaries,
            "about": self.precisions,
            "noise": self.noise or self.matrices,
            "prior": adversary.prior,
            "prior_weight": adversary.prior_weight,
            "tries": adversary.gain != type(adversary.gain)(),
            "missing_as": self.missing_as != "value",
            MATCHES: self.missing_as == "matches",
        }
        return bool(asked[word] if word in asked else getattr(self, word))

    @model_validator(mode="after")
    def _close_guesses_make_sense(self) -> Self:
        secrets = self.adversary.sensitive
        for name, written in self.within.items():
            parse_tolerance(name, written)
            if name not in secrets:
                raise ContradictionError(
                    '`within` is given for "{name}", which is not a secret of hers; they are {secrets}',
                    name=name,
                    secrets=quoted(["+".join(columns) for columns in self.adversary.secrets])
                    or text("none"),
                )
        if self.within and self.group is not None:
            raise ContradictionError(
                "what Anatomy reveals about a secret follows from its groups; leave out `within`"
            )
        return self

    @model_validator(mode="before")
    @classmethod
    def _files_of_chances(cls, content: Any) -> Any:
        for word, files_word in (("about", "kernels"), ("noise", "matrices")):
            said = content.get(word) if isinstance(content, dict) else None
            if isinstance(said, dict):
                files = {
                    name: Path(written.strip()[1:].strip())
                    for name, written in said.items()
                    if isinstance(written, str) and re.fullmatch(r"\s*@.*\S.*", written)
                }
                rest = {name: written for name, written in said.items() if name not in files}
                content |= {word: rest, files_word: {**content.get(files_word, {}), **files}}
        return content

    @property
    def precisions(self) -> dict[str, str]:
        """What she does not know exactly, and how well, with files of chances as ``@FILE``."""
        return self.about | {name: f"@{path}" for name, path in self.kernels.items()}

    @property
    def noises(self) -> dict[str, ColumnChances]:
        """The secrets that were released at random, and by which chances."""
        files = {name: f"@{path}" for name, path in self.matrices.items()}
        return {name: parse_noise(name, how) for name, how in (self.noise | files).items()}

    @model_validator(mode="after")
    def _noise_is_of_secrets(self) -> Self:
        singles = [columns[0] for columns in self.adversary.secrets if len(columns) == 1]
        for name in self.noises:
            if name not in singles:
                raise ContradictionError(
                    '`noise` is given for "{name}", which is no single column that she wants to infer (`sensitive`); '
                    "what is known and was changed at random is judged where the true values are: by anonymise, "
                    "`perturb`",
                    name=name,
                )
        for name, chances in self.noises.items():
            if not {*chances.within} <= {*self.adversary.quasi_identifiers}:
                raise ContradictionError(
                    'values of "{name}" were swapped within {columns}; name that as a quasi-identifier, too',
                    name=name,
                    columns=quoted(chances.within),
                )
            if chances.law == "swap" and name in self.adversary.prior:
                raise ContradictionError(
                    'values of "{name}" were swapped, which does not change how frequent they are; leave out `prior`',
                    name=name,
                )
        return self

    @model_validator(mode="after")
    def _adversaries_know_something(self) -> Self:
        for one in self.adversaries:
            if not self.known_by(one):
                raise ContradictionError(
                    '"{adversary}" knows none of the quasi-identifiers: no column was found for {knows}; leave her '
                    "out, or name columns in a catalogue of your own",
                    adversary=one.name,
                    knows=quoted(one.knows),
                )
        return self

    @model_validator(mode="after")
    def _inexact_knowledge_makes_sense(self) -> Self:
        known = self.adversary.knowable
        for option, names in (("about", self.precisions), ("likely", self.likely)):
            for name, written in names.items():
                if option == "about":
                    parse_precision(name, written)
                else:
                    parse_chance(name, written)
                if name not in known:
                    raise ContradictionError(
                        '`{option}` is given for "{name}", which is nothing that she knows; that is {known}',
                        option=option,
                        name=name,
                        known=quoted(known),
                    )
        if len(self.likely) > MOST_LIKELY:
            raise ContradictionError(
                "`likely` is given for {count} columns, and so for more sets of them than are worked out; at most "
                "{most}",
                count=len(self.likely),
                most=MOST_LIKELY,
            )
        return self

    @model_validator(mode="after")
    def _people_make_sense(self) -> Self:
        if not self.person:
            for word, value in (("knows", self.knows), ("unlinked", self.unlinked)):
                if value:
                    raise ContradictionError(
                        "`{word}` is about the records of one person; say with `person` which column says whose a "
                        "record is",
                        word=word,
                    )
            return self
        refuse_beside_person(
            self,
            prior=self.adversary.prior,
            within=self.within,
            about=self.precisions,
            likely=self.likely,
            link=self.links,
            by=self.by,
            each=self.each,
            group=self.group,
            advise=self.advise,
        )
        for columns in self.adversary.secrets:
            if self.unlinked and parse_person_secret(columns[0]).how:
                raise ContradictionError(
                    '"{secret}" is a secret of all records of a person, which a release without a pseudonym does not '
                    "link; name a column",
                    secret=columns[0],
                )
        return self

    @model_validator(mode="after")
    def _survey_weights_make_sense(self) -> Self:
        if self.weight is not None:
            refuse_second_role(self.adversary, self.weight)
        return self

    @model_validator(mode="after")
    def _households_have_no_other_role(self) -> Self:
        if self.household is not None and self.household in (
            *self.adversary.quasi_identifiers,
            *self.adversary.fact_columns,
            *self.adversary.secret_columns,
            self.weight,
        ):
            raise ContradictionError(
                'column "{name}" says who lives together (`household`) and has another role; choose one',
                name=self.household,
            )
        return self

    @model_validator(mode="after")
    def _synthetic_release_makes_sense(self) -> Self:
        if self.trained_on is None:
            if self.holdout is not None:
                raise ContradictionError(
                    "`holdout` is compared with the people whom a synthetic release was made from; name their file "
                    "with `trained_on`"
                )
            return self
        for columns in self.adversary.secrets:
            if len(columns) > 1:
                raise ContradictionError(
                    "a secret of a synthetic release is a single column; name {secrets} one by one",
                    secrets=quoted(columns),
                )
        return self

    @property
    def files(self) -> tuple[Dataset, ...]:
        """All the data that it is about: the releases, and of a synthetic one the people."""
        return (*super().files, *filter(None, [self.trained_on, self.holdout]))

    def of_people(self, dataset: Dataset) -> Self:
        """Return the same question of a file of people beside a synthetic one, by which that file is read."""
        return self.model_copy(update={"datasets": (dataset,)})

    @model_validator(mode="after")
    def _subsets_are_subsets(self) -> Self:
        known = self.adversary.knowable
        for subset in self.subsets:
            if isinstance(subset, str):
                if WITHIN.fullmatch(subset) and len(self.subsets) > 1:
                    raise ContradictionError(
                        '`subsets` "{subset}" chooses all of them; leave out the others',
                        subset=subset,
                    )
                if subset != "full" and not SWEEP.fullmatch(subset):
                    raise ContradictionError(
                        '"{subset}" are not subsets; say full, all, max:K, within:SECONDS or a list of names',
                        subset=subset,
                    )
                continue
            if not subset:
                raise ContradictionError("a subset needs at least one quasi-identifier")
            for name in subset:
                if name not in known:
                    raise ContradictionError(_no_quasi_identifier(name, known))
        return self

    @property
    def is_joined(self) -> bool:
        """Whether the datasets are joined, so that the others tell more about the people of the focal one."""
        return super().is_joined and not self.each

    def columns_without_role(self) -> tuple[str, ...]:
        """Return the columns that the study needs without their having a role."""
        columns = [*super().columns_without_role(), *(key.name for key in self.links)]
        named = (self.by, self.group, self.weight, self.household)
        columns += [name for name in named if name is not None]
        return columns_of_people(self, columns)

    def known_by(self, adversary: CatalogueAdversary) -> tuple[str, ...]:
        """Return what an adversary of a catalogue knows of what can be known; a fact as soon as one column of it."""
        known = {name for names in adversary.columns.values() for name in names}
        facts = self.adversary.facts
        return tuple(
            name for name in self.adversary.knowable if known.intersection(facts.get(name, (name,)))
        )

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
        """``all``, ``max:K`` or ``within:SECONDS`` where one sweep answers the study, else None.

        Subsets that are named, and records that are linked, are assessed one by one.
        """
        subset = self.subsets[0] if len(self.subsets) == 1 else None
        if not isinstance(subset, str) or not SWEEP.fullmatch(subset):
            return None
        return None if self.links else subset

    @property
    def seconds(self) -> int | None:
        """The time that the subsets are chosen for, where they are."""
        match = WITHIN.fullmatch(self.sweep or "")
        return int(match[1]) if match else None


class _OfPeople(Protocol):
    """A question that can be about people with several records."""

    @property
    def person(self) -> tuple[str, ...]: ...
    @property
    def adversary(self) -> Adversary: ...
    @property
    def datasets(self) -> tuple[Dataset, ...]: ...


def columns_of_people(study: _OfPeople, columns: Sequence[str]) -> tuple[str, ...]:
    """Return columns with those that say whose a record is and what secrets of all records of a person are about."""
    secrets = study.adversary.secret_columns if study.person else ()
    asked = [parse_person_secret(name).column for name in secrets]
    return tuple(dict.fromkeys([*columns, *study.person, *filter(None, asked)]))


def refuse_beside_person(study: _OfPeople, **excluded: object) -> None:
    """Make sure that a question about people with several records asks for nothing that is about records.

    Args:
        study: The question.
        excluded: What else must not be said, by its word.

    Raises:
        ContradictionError: It does.
    """
    adversary = study.adversary
    for name in study.person:
        if name in (*adversary.quasi_identifiers, *adversary.fact_columns):
            raise ContradictionError(
                'column "{name}" says whose a record is (`person`) and is also a quasi-identifier; choose one',
                name=name,
            )
    for word, value in {
        "prior_weight": adversary.prior_weight,
        "id": adversary.identifier,
        "tries": adversary.gain != type(adversary.gain)(),
        **excluded,
    }.items():
        if value:
            raise ContradictionError(
                "`person` counts people with several records, each as likely, and one guess; leave out `{word}`",
                word=word,
            )
    if len(study.datasets) > 1:
        raise ContradictionError("`person` is for one dataset; leave out the others")
    for columns in adversary.secrets:
        if len(columns) > 1:
            raise ContradictionError(
                "a secret of a person with several records is a single one; name {secrets} one by one",
                secrets=quoted(columns),
            )


def with_default_subsets(study: AssessStudy) -> AssessStudy:
    """Return the study with the subsets that are assessed when nobody says which: all, or as many as are quick.

    Parts are compared by the same subsets whatever their size, and of too many attributes only the whole set is left.
    """
    attributes, chosen = len(study.adversary.knowable), "all"
    if study.trained_on is not None:  # with which secrets may be known, too
        attributes += len(study.adversary.secrets)
    if study.person:  # each set is a walk of its own
        return study
    if attributes > SWEPT_BY_DEFAULT:
        if attributes > MOST_SWEPT or study.by is not None or study.each:
            return study
        chosen = f"within:{DEFAULT_SECONDS}"
    swept = study.model_copy(update={"subsets": (chosen,)})
    return swept if swept.sweep else study


def parse_tolerance(name: str, written: str) -> Tolerance:
    """Return how close a guess of a number must come, as a text says it.

    Args:
        name: The sensitive attribute, for messages.
        written: A share such as ``10%``, or an amount such as ``5``.

    Raises:
        ContradictionError: It is neither, or a share of which every guess is close.

    >>> parse_tolerance("income", "10%"), parse_tolerance("hours", "2.5").amount
    (Tolerance(amount=Fraction(1, 10), is_share=True), Fraction(5, 2))
    """
    figure = written.strip().removesuffix("%").rstrip()
    is_share = written.strip().endswith("%")
    if not is_number(figure) or Fraction(figure) < 0:
        raise ContradictionError(
            '`within` "{name}={written}" is neither a share such as {name}=10% nor an amount such as {name}=5',
            name=name,
            written=written,
        )
    amount = Fraction(figure) / (100 if is_share else 1)
    if is_share and amount >= 1:
        raise ContradictionError(
            '`within` "{name}={written}": with a tolerance of 100% or more a guess of 0 is always close; give less, or '
            "an amount such as {name}=500",
            name=name,
            written=written,
        )
    return Tolerance(amount, is_share)


def parse_precision(name: str, written: str) -> Precision:
    """Return how well an attribute is known, as a text says it.

    Args:
        name: The quasi-identifier, for messages.
        written: ``±2`` or ``+-2``, of dates ``±7d``; ``90%``, of which it is right; or ``@FILE``.

    Raises:
        ContradictionError: It is none of them.

    >>> parse_precision("age", "±2").off, parse_precision("birth", "+-7d").in_days, parse_precision("zip", "90%").right
    (Fraction(2, 1), True, Fraction(9, 10))
    """
    plain = written.strip()
    if plain.startswith("@") and plain[1:].strip():
        return Precision(kernel=plain[1:].strip())
    window = re.fullmatch(r"(?:±|\+-|\+/-)\s*(\S*?)\s*(d?)", plain)
    if window and is_number(window[1]) and Fraction(window[1]) >= 0:
        return Precision(off=Fraction(window[1]), in_days=bool(window[2]))
    if plain.endswith("%") and is_number(plain[:-1].strip()):
        return Precision(right=parse_chance(name, plain, option="about"))
    raise ContradictionError(
        '`about` "{name}={written}" is none of {name}=±2, {name}=±7d for dates, {name}=90% (how often she is right) '
        "and {name}=@FILE (chances)",
        name=name,
        written=written,
    )


def parse_chance(name: str, written: str, *, option: str = "likely") -> Fraction:
    """Return the chance that a text says: ``50%``, or a number from 0 to 1.

    Raises:
        ContradictionError: It says none.

    >>> parse_chance("age", "50%"), parse_chance("age", "0.25")
    (Fraction(1, 2), Fraction(1, 4))
    """
    figure, percent, rest = written.strip().partition("%")
    chance = Fraction(figure.strip()) if is_number(figure.strip()) and not rest else Fraction(-1)
    chance /= 100 if percent else 1
    if not 0 <= chance <= 1:
        raise ContradictionError(
            '`{option}` "{name}={written}" is not a chance; say one from 0% to 100%, such as {name}=50%',
            option=option,
            name=name,
            written=written,
        )
    return chance


def parse_person_secret(written: str) -> PersonSecret:
    """Return the secret of a person that a text says: a column, or one of `PERSON_SECRETS` with what it is about.

    Raises:
        ContradictionError: What is to be met by any record is no condition.

    >>> parse_person_secret("any icd=F*"), parse_person_secret("count").column
    (PersonSecret(how='any', column='icd', condition='icd=F*'), None)
    """
    how, _, rest = written.strip().partition(" ")
    rest = rest.strip()
    if how == "count" and not rest:
        return PersonSecret("count", None)
    if how not in PERSON_SECRETS or not rest or how == "count":
        return PersonSecret("", written)
    if how != "any":
        return PersonSecret(how, rest)
    try:
        return PersonSecret("any", taken_apart(rest, option=marked("the secret"))[0], rest)
    except StudyError as error:
        raise ContradictionError(str(error)) from None


def parse_link(link: str, columns: Collection[str] = ()) -> dict[str, Any]:
    """Return the linking key that a text says in short, as content of a study.

    A text that is the name of one of the columns, as it stands or before the last equals sign, is that column.

    >>> parse_link("age+1"), parse_link("nationality=0.999")
    ({'name': 'age', 'persists': 1.0, 'shift': 1}, {'name': 'nationality', 'persists': 0.999, 'shift': 0})
    """
    name, _, share = link.rpartition("=")
    for plain, probability in ((link, "1"), (name, share)):
        if plain in columns and _is_number(probability):
            return {"name": plain, "persists": float(probability), "shift": 0}
    match = LINK.fullmatch(link)
    try:
        persists = float(match["persists"] or 1) if match else None
    except ValueError:
        persists = None
    if match is None or persists is None:
        raise StudyError(
            '`link` "{link}" is not of the form COLUMN, COLUMN=PROBABILITY or COLUMN+YEARS',
            link=link,
        )
    return {"name": match["name"], "persists": persists, "shift": int(match["shift"] or 0)}


def _no_quasi_identifier(name: str, known: tuple[str, ...]) -> str:
    near = near_names(name, known)
    if near:
        return text(
            '"{name}" in a subset is not a quasi-identifier; did you mean {near}?',
            name=name,
            near=quoted(near),
        )
    return text(
        '"{name}" in a subset is not a quasi-identifier; they are {known}',
        name=name,
        known=quoted(known),
    )


def _is_number(written: str) -> bool:
    try:
        float(written)
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
