"""What a publisher asks about an anonymised table, as a frozen model of ``study.toml``."""

from __future__ import annotations

import re
from functools import partial
from math import isfinite
from pathlib import Path
from typing import Annotated, Any, Literal, Self

from pydantic import (
    AfterValidator,
    BeforeValidator,
    Field,
    StrictBool,
    StrictFloat,
    StrictInt,
    model_validator,
)

from glasshouse.conditions import parse_condition, without_values
from glasshouse.errors import ContradictionError
from glasshouse.study.entry import ADVERSARY, PRIOR, RELEASE, SAMPLING, entry
from glasshouse.study.question import (
    QUASI_IDENTIFIERS,
    SENSITIVE,
    ConditionText,
    Dataset,
    Model,
    Question,
    Treatment,
)


def _finite(option: str) -> AfterValidator:
    """Refuse what is infinite or no number, by the name that it has on the command line."""

    def checked(number: float) -> float:
        if not isfinite(number):
            raise ContradictionError(
                "{option} is {given}; give a finite number above 0",
                option=option,
                given=f"{number:g}",
            )
        return number

    return AfterValidator(checked)


def _above_zero(number: float) -> float:
    if not number > 0:
        raise ContradictionError(
            "{option} is {given}; give a number above 0", option="`exceeds`", given=f"{number:g}"
        )
    return number


def _is_reading(reading: Any) -> Any:
    if reading not in ("5", "6"):
        raise ContradictionError(
            "`learner` is {given}; give 5 (the ratio of expectations) or 6 (the expectation of the ratio)",
            given=str(reading),
        )
    return reading


MOST_VALUES = 1_000_000
"""A domain that is given as LOW..HIGH has so many values at most."""
_WHOLE_NUMBERS = re.compile(r"(-?[0-9]{1,18})\.\.(-?[0-9]{1,18})")


def whole_numbers(written: str) -> range | None:
    """Return the whole numbers that a text such as ``16..90`` says, both ends included; None: it is no such text.

    >>> len(whole_numbers("16..90")), whole_numbers("ages.csv")
    (75, None)
    """
    match = _WHOLE_NUMBERS.fullmatch(written)
    return None if match is None else range(int(match[1]), int(match[2]) + 1)


def _is_domain(domain: tuple[str, ...] | str) -> tuple[str, ...] | str:
    if isinstance(domain, str):
        numbers = whole_numbers(domain)
        if numbers is None or not 0 < len(numbers) <= MOST_VALUES:
            raise ContradictionError(
                'the domain "{given}" is not a list, nor whole numbers LOW..HIGH such as 16..90, at most {most}',
                given=domain,
                most=MOST_VALUES,
            )
    return domain


Domain = Annotated[tuple[str, ...] | str, AfterValidator(_is_domain)]
"""Values, or whole numbers as ``LOW..HIGH``."""


_release, _prior = partial(entry, panel=RELEASE), partial(entry, panel=PRIOR)
_sampling = partial(entry, panel=SAMPLING)


class Sampling(Model):
    """How long to sample, and for what precision; what is not given is as `glasshouse.groups.SamplingBudget` says."""

    precision: Annotated[StrictFloat, _finite("`precision`")] | None = _sampling(
        "Sample until the Monte-Carlo error of every share, and of every belief about a victim, is at most this.",
        "X",
        unless="0.002",
    )
    sweeps: StrictInt | None = _sampling(
        "Stop after this many sweeps at the latest.", "N", unless="20000"
    )
    seconds: Annotated[StrictFloat, _finite("`seconds`")] | None = _sampling(
        "Stop after so long at the latest.", "SECONDS"
    )
    chains: StrictInt | None = _sampling("How many chains run, to be compared.", "N", unless="4")
    burn_in: StrictInt | None = _sampling(
        "How many sweeps each makes before anything is recorded.", "N", unless="400"
    )
    seed: StrictInt | None = Field(default=None, ge=0, lt=1 << 63)
    """What the chains, and the points of the population, follow from; unset: the seed of the study."""


class ThreatStudy(Question):
    """An anonymised table, what is known of its people, and the prior."""

    command: Literal["threat"] = "threat"
    """The command that answers it."""
    release: Dataset
    """The table as published: with generalised values, with a group column, Anatomy's first table, or JSON."""
    sensitive_table: Dataset | None = _release(
        "Anatomy's second table: the sensitive values of each group.", "FILE"
    )
    original: Dataset | None = _release(
        "The data behind the release: how often she is right. Of a folder it is known.", "FILE"
    )
    treatment: Treatment = Treatment()
    """Which records of the original were protected."""
    identifier: str | None = None
    """The column of the original that names a person, where somebody has several records."""
    quasi_identifiers: tuple[str, ...] = QUASI_IDENTIFIERS
    sensitive: tuple[str, ...] = SENSITIVE
    group: str | None = _release(
        "The column of group names: within a group, values and sensitive values are permuted.",
        "COL",
    )
    generalised: StrictBool = _release(
        "The groups of `group` hold generalised values instead of permuted ones.", default=False
    )
    in_order: StrictBool = _release(
        "The records of the original are in the order of the release: each is checked against its own row.",
        default=False,
    )
    shuffled: StrictBool = False
    """Whether anonymise wrote its records in random order."""
    suppressed: StrictInt = Field(default=0, ge=0)
    """How many records the publisher suppressed. Their sensitive values are published: anybody's may be among them."""
    hierarchies: dict[str, Path] = _release(
        "What the labels of a column stand for, a row per value.",
        "COL=FILE",
        python='{"age": "ages.csv"}',
        default={},
    )
    domain: Literal["observed", "released"] | None = _release(
        "Which values people can have: those of the original, or of hierarchies and release; `values` gives others.",
        unless="observed, where there is an original",
    )
    domains: dict[str, Domain] = _release(
        "The values that people can have in a column: whole numbers, or a file with a value per line; the other "
        "columns are as `domain` says.",
        "COL=LOW..HIGH|FILE",
        default={},
    )
    """In a study, a list or whole numbers ``LOW..HIGH``."""
    domain_files: dict[str, Path] = Field(default_factory=dict)
    """The same as files, with a value per line."""
    suggested: tuple[str, ...] = ()
    """Columns whose hierarchies anonymise suggested from the values of the original: those are their domain."""
    exceeds: Annotated[StrictFloat, _finite("`exceeds`"), AfterValidator(_above_zero)] = entry(
        "Show the share of records of whose truth she is more than X times as sure.",
        "X",
        unless="2",
        default=2.0,
    )
    """It is the relative threat Ti that is asked about."""
    alpha: Annotated[StrictFloat, _finite("`alpha`")] | None = _prior(
        "The Dirichlet parameter of sensitive values.", "X", unless="1"
    )
    """Or what a release in JSON says."""
    beta: Annotated[StrictFloat, _finite("`beta`")] | None = _prior(
        "The Dirichlet parameter of the values of all columns, or of one.", "X|COL=X", unless="1"
    )
    """Or what a release in JSON says; in a study, that of one attribute is one of the `betas`."""
    betas: dict[str, Annotated[StrictFloat, _finite("`beta`")]] = Field(default_factory=dict)
    """The same by attribute."""
    known: tuple[ConditionText, ...] = entry(
        "What is known about one victim: COL=A, COL=A,B (one of them), COL=LOW..HIGH.",
        "COL=VALUE",
        panel=ADVERSARY,
        python='{"age": 41}; ["age=40..45"]',
        default=(),
    )
    """Nothing: everybody in the table is one, and is known in full."""
    reading: Annotated[Literal["5", "6"], BeforeValidator(_is_reading)] = _prior(
        "The learner as the ratio of expectations (5), or as the expectation of the ratio (6).",
        default="5",
    )
    """The attacker is compared with her."""
    sampling: Sampling = Sampling()
    """How long to sample, where nothing exact is possible."""
    seed: StrictInt = entry(
        "What all random numbers follow from: of the chains, of the points of the population, and of the choice of "
        "one record of a person who has several. Of a folder, of the first two.",
        "N",
        default=0,
        ge=0,
        lt=1 << 63,
    )

    @model_validator(mode="after")
    def _question_is_complete(self) -> Self:
        if self.sensitive_table is not None and self.group is None:
            raise ContradictionError(
                "Anatomy's two tables are joined by their groups; give `group` COLUMN"
            )
        if self.sensitive_table is not None and self.generalised:
            raise ContradictionError("Anatomy generalises nothing; leave out `generalised`")
        if self.release.place.suffix.lower() == ".json":
            self._json_is_alone()
        self._group_has_one_role()
        if self.in_order and self.original is None:
            raise ContradictionError(
                "`in_order` compares the release with its original; give `original` FILE"
            )
        for name in self.hierarchies:
            if name not in self.quasi_identifiers:
                raise ContradictionError(
                    "`hierarchies` {name}: it is not a quasi-identifier; add `quasi_identifiers` {name}, or "
                    "leave it out",
                    name=name,
                )
        self._domains_are_of_columns()
        if self.domain == "observed" and self.original is None:
            raise ContradictionError(
                "the observed domain is that of the original; give `original` FILE"
            )
        for known in self.known:
            if parse_condition(known).negated:
                raise ContradictionError(
                    '`known` "{known}": say what is known, not what is not', known=known
                )
        return self

    def _json_is_alone(self) -> None:
        entries: dict[str, object] = {
            "`quasi_identifiers`": self.quasi_identifiers,
            "`sensitive`": self.sensitive,
            "`group`": self.group,
            "`sensitive_table`": self.sensitive_table,
            "`generalised`": self.generalised,
            "`in_order`": self.in_order,
            "`hierarchies`": self.hierarchies,
            "`domain`": self.domain,
            "`values`": self.domains or self.domain_files,
        }
        for option, value in entries.items():
            if value:
                raise ContradictionError(
                    "a release in JSON says what it is; leave out {option}", option=option
                )

    def _group_has_one_role(self) -> None:
        if self.group in self.quasi_identifiers:
            raise ContradictionError(
                "`group` {name}: it is a quasi-identifier too; leave out `quasi_identifiers` {name}, or "
                "name the column of groups",
                name=self.group,
            )
        if self.group in self.sensitive:
            raise ContradictionError(
                "`group` {name}: it is sensitive too, and would reveal everything; name the column of groups",
                name=self.group,
            )

    def _domains_are_of_columns(self) -> None:
        for name in (*self.domains, *self.domain_files):
            if name not in (*self.quasi_identifiers, *self.sensitive):
                raise ContradictionError(
                    "`values` {name}: it is neither a quasi-identifier nor sensitive; add `quasi_identifiers` {name}, "
                    "or leave it out",
                    name=name,
                )
            if name in self.domains and name in self.domain_files:
                raise ContradictionError(
                    "`values` {name} is given as values and as a file; give one", name=name
                )

    def abridged(self) -> Self:
        """Return the study without values: what is known of the victim, who is left out, what people can have.

        The seed may be that of the release, which is as secret as the data.
        """
        values = {
            "seed": type(self).model_fields["seed"].default,
            "known": without_values(self.known),
            "treatment": self.treatment.abridged(),
            "domains": dict.fromkeys(self.domains, ("…",)),
        }
        return self.model_copy(update=values)
