"""What is asked of ``anonymise``: how a release is to be protected, and how well."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
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

from glasshouse.conditions import is_number
from glasshouse.errors import ContradictionError
from glasshouse.language import either, marked, quoted, text, unknown_name
from glasshouse.study.question import Dataset, Model, Probability, ReleaseStudy

Share = Annotated[StrictFloat, Field(ge=0, le=1, allow_inf_nan=False)]
GROUP = "group"
"""What the column of Anatomy's groups is called in a release."""
ReleaseFormat = Literal["same", "csv", "parquet", "xlsx", "sav", "dta"]


CHANGES = {"microaggregation": ("aggregate", "grouping"), "perturbation": ("perturb", "sample")}
"""What is changed without generalising, by the method that does it."""


def method_of(
    *,
    k: float | None = None,
    l: float | None = None,  # noqa: E741 - the word of the field
    t: float | None = None,
    changes: Mapping[str, object] | None = None,
) -> str:
    """Return the method that the parameters speak of, and what is changed without generalising.

    >>> method_of(k=5), method_of(k=5, t=0.3), method_of(), method_of(changes={"sample": 0.1})
    ('k-anonymity', 't-closeness', 'risk', 'perturbation')
    """
    for method, names in CHANGES.items():
        if any((changes or {}).get(name) for name in names):
            return method
    if t is not None:
        return "t-closeness"
    if l is not None:
        return "l-diversity"
    return "risk" if k is None else "k-anonymity"


RULES = {
    "intervals": ("widths", "edges", "origin"),
    "rounding": ("to",),
    "top_bottom": ("", "bottom", "top", "widths"),
    "prefixes": ("lengths",),
    "date_parts": ("parts", "order"),
    "suppression_only": (),
    **dict.fromkeys(("cep", "municipality", "state", "icd10", "cbo", "cnpj", "education"), ()),
}
"""The rules that make a hierarchy from the values of a column, and what each takes, first what needs no name."""
_EXAMPLES = {
    "intervals": "intervals:5,10, intervals:5,10:origin=3, intervals:edges=0,18,65/18",
    "rounding": "rounding:10,100",
    "top_bottom": "top_bottom:20,90, top_bottom:top=90:widths=5,10",
    "prefixes": "prefixes, prefixes:4,2",
    "date_parts": "date_parts, date_parts:month,year:order=dmy",
}
_LEVELS, _SINGLE = ("widths", "to", "lengths", "parts"), ("origin", "bottom", "top", "order")


def hierarchy_rule(written: str) -> tuple[str, dict[str, Any]] | None:
    """Return the rule for a hierarchy that a text gives, with its keywords; None: the text is the name of a file.

    Raises:
        ContradictionError: It looks like a rule, and is none.

    >>> hierarchy_rule("intervals:5,10"), hierarchy_rule("top_bottom:20,90:widths=10"), hierarchy_rule("ages.csv")
    (('intervals', {'widths': ['5', '10']}), ('top_bottom', {'bottom': '20', 'top': '90', 'widths': ['10']}), None)
    >>> hierarchy_rule("intervals:edges=0,18,65/18")
    ('intervals', {'edges': [['0', '18', '65'], ['18']]})
    """
    name, *arguments = written.split(":")
    if name not in RULES:
        if arguments and name.isidentifier() and len(name) > 1:
            raise ContradictionError(
                '"{given}" is no rule for a hierarchy; the rules are {rules}, and a file of that name is ./{given}',
                given=written,
                rules=quoted(list(RULES)),
            )
        return None
    keywords: dict[str, Any] = {}
    for place, argument in enumerate(arguments):
        keyword, equals, value = argument.rpartition("=")
        if not equals and place == 0 and RULES[name]:
            keyword = RULES[name][0]
        values = [part.strip() for part in value.split(",")]
        if keyword in keywords or keyword not in RULES[name]:
            raise _rule_error(written)
        if keyword == "edges":
            keywords[keyword] = [level.split(",") for level in value.split("/")]
        elif keyword in _LEVELS:
            keywords[keyword] = values
        elif keyword == "" and len(values) == 2:
            keywords |= {"bottom": values[0], "top": values[1]}
        elif keyword in _SINGLE and len(values) == 1:
            keywords[keyword] = values[0]
        else:
            raise _rule_error(written)
    if name == "rounding" and not keywords:
        raise _rule_error(written)
    if "lengths" in keywords:
        if not all(length.isdecimal() for length in keywords["lengths"]):
            raise _rule_error(written)
        keywords["lengths"] = [int(length) for length in keywords["lengths"]]
    return name, keywords


def _rule_error(written: str) -> ContradictionError:
    return ContradictionError(
        '"{given}" is not how the rule is written; write for example {example}',
        given=written,
        example=_EXAMPLES.get(name := written.partition(":")[0], name),
    )


PERTURBATIONS = {
    "pram": "pram:0.8",
    "noise": "noise:0.5, noise:0.5:step=10",
    "exchange": "exchange:20",
    "tails": "tails:1%,99%, tails:top=90, tails:bottom=5%",
}
"""The rules by which the values of a column are changed, with examples of how each is written."""


def perturbation_rule(written: str) -> tuple[str, dict[str, str]]:
    """Return the rule by which a column is changed, with its keywords.

    Raises:
        ContradictionError: It is none.

    >>> perturbation_rule("noise:0.5:step=10"), perturbation_rule("tails:1%,99%")
    (('noise', {'ratio': '0.5', 'step': '10'}), ('tails', {'bottom': '1%', 'top': '99%'}))
    """
    name, *arguments = written.split(":")
    first = {"pram": "keep", "noise": "ratio", "exchange": "window"}.get(name)
    further = {"noise": ("step",), "tails": ("bottom", "top")}.get(name, ())
    keywords: dict[str, str] = {}
    for place, argument in enumerate(arguments):
        keyword, equals, value = argument.partition("=")
        if equals and keyword in further and keyword not in keywords:
            keywords[keyword] = value
        elif not equals and place == 0 and first is not None:
            keywords[first] = argument
        elif not equals and place == 0 and argument.count(",") == 1:
            keywords |= dict(zip(further, argument.split(","), strict=True))
        else:
            keywords.clear()
            break
    if not (first in keywords if first else keywords) or not all(
        _in_range(name, keyword, value) for keyword, value in keywords.items()
    ):
        raise ContradictionError(
            '"{given}" is not how a column is changed; write for example {example}',
            given=written,
            example=PERTURBATIONS.get(name) or ", ".join(PERTURBATIONS.values()),
        )
    return name, keywords


def _in_range(rule: str, keyword: str, value: str) -> bool:
    """Tell whether a number is one that a rule takes."""
    percent = rule == "tails" and value.endswith("%")
    if not is_number(value.removesuffix("%") if percent else value):
        return False
    number = Fraction(value.removesuffix("%") if percent else value)
    if percent:
        return 0 <= number <= 100
    return {
        "keep": 0 <= number <= 1,
        "ratio": 0 < number < 1,
        "step": number > 0,
        "window": number >= 1 and number.denominator == 1,
    }.get(keyword, True)


def _checked_rule(written: str) -> str:
    perturbation_rule(written)
    return written


def rule_or_path(written: object) -> object:
    """Return what says how a column is generalised: a rule as it is, the name of a file as a path."""
    return Path(written) if isinstance(written, str) and not hierarchy_rule(written) else written


def _whole(number: object) -> object:
    """Return a number that is written with decimals and has none, such as 2.0, as a whole one."""
    return int(number) if isinstance(number, float) and number.is_integer() else number


Diversity = Annotated[
    StrictInt | StrictFloat, BeforeValidator(_whole), Field(ge=1, allow_inf_nan=False)
]


OF_PEOPLE = ("k_map", "presence", "population_uniques")
LIMITS = ("highest_risk", "average_risk", "inference_risk", "beta", "delta", *OF_PEOPLE)
"""What can be promised besides k, l and t; the last are about the population behind the records."""


class Protection(Model):
    """How a release is to be protected, and how well."""

    method: Literal[
        "k-anonymity",
        "l-diversity",
        "t-closeness",
        "risk",
        "policy",
        "anatomy",
        "microaggregation",
        "perturbation",
    ]
    """What is promised of every class, with a policy of all of them together; with Anatomy, of every group. Or that
    numbers become means of groups, or that values change at random and records are sampled."""
    recoding: Literal["global", "local", "mondrian"] = "global"
    """Whether a value is generalised alike in all records, only as far as each class needs, or by median splits."""
    effort: Literal["fast", "good", "best"] = "good"
    """How long local recoding looks for a lower loss."""
    k: StrictInt | None = Field(default=None, ge=1)
    """The least number of records alike."""
    l: Diversity | None = None  # noqa: E741 - the word of the field
    """How diverse the sensitive values of a class are: a whole number, but for entropy."""
    diversity: Literal["distinct", "entropy", "recursive"] = "distinct"
    """What is meant by diverse."""
    c: StrictFloat | None = Field(default=None, gt=0)
    """The factor of recursive (c, l)-diversity."""
    t: Share | None = None
    """How far the sensitive values of a class may be from those of all records."""
    closeness: Literal["equal", "ordered", "hierarchical"] = "equal"
    """How far two sensitive values are from one another."""
    order: dict[str, tuple[str, ...]] = Field(default_factory=dict)
    """Per sensitive attribute, all its values in order, for ordered closeness; unset: by number."""
    highest_risk: Share | None = None
    """The chance of naming any record is at most this."""
    average_risk: Share | None = None
    """The chance of naming a record is on average at most this."""
    inference_risk: Share | None = None
    """The chance of guessing a sensitive value is in every class at most this."""
    beta: StrictFloat | None = Field(default=None, gt=0, allow_inf_nan=False)
    """By which share of it a sensitive value may be more frequent in a class than in all records."""
    delta: StrictFloat | None = Field(default=None, gt=0, allow_inf_nan=False)
    """How far the logarithm of a sensitive value's frequency in a class may be from that in all records."""
    k_map: StrictInt | None = Field(default=None, ge=1)
    """The least number of people of the population who fit a class."""
    presence: tuple[Share, Share] | None = None
    """Between which limits the chance lies that somebody of the population is in the release."""
    population_uniques: Share | None = None
    """The greatest share of records whose people are alone in the population, counted or estimated."""
    suppression: Share = 0.0
    """The largest share of records that may be suppressed."""
    hierarchies: dict[str, Annotated[str | Path, BeforeValidator(rule_or_path)]] = Field(
        default_factory=dict
    )
    """Per column, the file of its generalisation hierarchy, or a rule; of other quasi-identifiers it is suggested."""
    levels: dict[str, Annotated[StrictInt, Field(ge=0)]] = Field(default_factory=dict)
    """Per quasi-identifier, the level of its hierarchy at which it is told; those of the others are searched for."""
    objective: Literal[
        "loss", "discernibility", "average_class_size", "non_uniform_entropy", "granularity"
    ] = "loss"
    """What is kept as small as possible."""
    importance: dict[str, Annotated[StrictFloat, Field(gt=0, le=1e6)]] = Field(default_factory=dict)
    """Per quasi-identifier, how much its loss weighs; 1 where nothing is said."""
    weight: str | None = None
    """The column of survey weights: how many people of the population each record stands for."""
    time_limit: StrictFloat | None = Field(default=None, gt=0)
    """After so many seconds the best protection found so far is taken."""
    aggregate: tuple[str, ...] = ()
    """The columns of numbers that microaggregation replaces by means; none: all quasi-identifiers."""
    grouping: Literal["mdav", "univariate"] = "mdav"
    """Whether microaggregation groups records by all these columns together, or each column by itself."""
    perturb: dict[str, Annotated[str, AfterValidator(_checked_rule)]] = Field(default_factory=dict)
    """Per column, the rule by which its values are changed, one of `PERTURBATIONS`."""
    sample: Annotated[StrictFloat, Field(gt=0, le=1)] | None = None
    """The share of the records that is drawn at random before anything else is done."""
    keep: tuple[str, ...] = ()
    """Further columns that are released as they are."""
    keep_order: StrictBool = False
    """Whether the records stay in the order of the file, which may tell more than their values do."""
    drop_suppressed: StrictBool = False
    """Whether suppressed records are left out of the file."""
    format: ReleaseFormat = "same"
    """The kind of file that is written; ``same``: delimited text, written down as the data is."""

    @property
    def limits(self) -> tuple[str, ...]:
        """What is promised besides k, l and t, by the names of the entries."""
        return tuple(name for name in LIMITS if getattr(self, name) is not None)

    @property
    def of_people(self) -> tuple[str, ...]:
        """What is promised of the population behind the records."""
        return tuple(name for name in self.limits if name in OF_PEOPLE)

    @model_validator(mode="after")
    def _method_has_its_parameter(self) -> Self:
        needed = {
            "k-anonymity": ("k", self.k),
            "l-diversity": ("l", self.l),
            "t-closeness": ("t", self.t),
            "anatomy": ("l", self.l),
            "microaggregation": ("k", self.k),
        }
        if self.method in needed:
            name, value = needed[self.method]
            if value is None:
                raise ContradictionError(
                    "{method} needs {option}", method=self.method, option=f"`{name}`"
                )
        elif self.method == "policy" and self.recoding != "global":
            raise ContradictionError(
                "a policy is promised by `recoding` global; for another, promise `k`, `l` or a risk"
            )
        elif self.method == "risk" and not self.limits:
            raise ContradictionError(
                "say what to promise: `k`, `l`, `t`, `highest_risk`, `average_risk`, `inference_risk`, `beta`, "
                "`delta`, `k_map`, `presence` or `population_uniques`"
            )
        if isinstance(self.l, float) and self.diversity != "entropy":
            raise ContradictionError(
                "`l` counts values: {given} is not a whole number; only `diversity` entropy takes others",
                given=self.l,
            )
        if self.diversity == "recursive" and self.c is None:
            raise ContradictionError("recursive (c, l)-diversity needs `c`")
        if self.method == "anatomy" and (self.k is not None or self.t is not None):
            raise ContradictionError("Anatomy takes l alone; leave out k and t")
        return self

    @model_validator(mode="after")
    def _changes_are_by_themselves(self) -> Self:
        """Means and random changes recode nothing, and recoding knows neither."""
        if self.method == "perturbation" and not self.perturb and self.sample is None:
            raise ContradictionError("say what to change: `perturb` COLUMN=RULE, or `sample`")
        changes = CHANGES.get(self.method, ())
        allowed = ("method", "keep", "keep_order", "format", *changes)
        allowed += ("k",) if self.method == "microaggregation" else ()
        for name, entry in type(self).model_fields.items():
            of_change = any(name in names for names in CHANGES.values())
            if name in allowed or not (changes or of_change):
                continue
            if getattr(self, name) != entry.get_default(call_default_factory=True):
                raise ContradictionError(
                    "{method} takes no {option}; leave it out",
                    method=self.method,
                    option=f"`{name}`",
                )
        return self

    @model_validator(mode="after")
    def _nothing_is_ignored(self) -> Self:
        if self.weight is not None and (self.method == "anatomy" or self.recoding != "global"):
            raise ContradictionError(
                "survey weights are counted where all records are generalised alike; take `recoding` global, or leave "
                "out `weight`"
            )
        without = {
            ("c", "`diversity` recursive"): self.c is not None and self.diversity != "recursive",
            ("diversity", "`l`"): self.diversity != "distinct" and self.l is None,
            ("closeness", "`t`"): self.closeness != "equal" and self.t is None,
            ("order", "`closeness` ordered"): bool(self.order) and self.closeness != "ordered",
            ("effort", "`recoding` local"): self.effort != "good" and self.recoding != "local",
            ("levels", "`recoding` global"): bool(self.levels) and self.recoding != "global",
        }
        for (name, other), alone in without.items():
            if alone:
                raise ContradictionError(
                    "{option} says nothing without {other}; leave it out",
                    option=f"`{name}`",
                    other=other,
                )
        ignored = {
            "`suppression`": self.suppression > 0,
            "`objective`": self.objective != "loss",
            "`importance`": bool(self.importance),
            "`seconds`": self.time_limit is not None,
        }
        by_anatomy = {
            "`recoding`": self.recoding != "global",
            "`diversity`": self.diversity != "distinct",
            "`hierarchies`": bool(self.hierarchies),
            "`levels`": bool(self.levels),
            "`drop_suppressed`": self.drop_suppressed,
            **{f"`{name}`": True for name in self.limits},
        }
        if self.method == "anatomy":
            ignored |= by_anatomy
            says = marked("Anatomy recodes and suppresses nothing; leave out {option}")
        elif self.recoding != "global" and self.of_people:
            raise ContradictionError(
                "{option} counts people by labels that are the same in all records; take `recoding` global",
                option=f"`{self.of_people[0]}`",
            )
        elif self.recoding == "mondrian":
            says = marked("Mondrian suppresses nothing and weighs nothing; leave out {option}")
        else:
            return self
        for option, value in ignored.items():
            if value:
                raise ContradictionError(says, option=option)
        return self


class AnonymiseStudy(ReleaseStudy):
    """How the records of one file are to be protected before they are released."""

    command: Literal["anonymise"] = "anonymise"
    """The command that answers it."""
    protection: Protection
    """How the release is to be protected."""
    population: Dataset | None = None
    """A register of all people that the release may be about, everybody in it among them."""
    fraction: Probability | None = None
    """The share of the population that is in the data, where there is no register."""

    @property
    def files(self) -> tuple[Dataset, ...]:
        """All the data that it is about: that to be released, and the register."""
        return (*self.datasets, *filter(None, [self.population]))

    @model_validator(mode="after")
    def _population_is_of_use(self) -> Self:
        about, weight = self.protection.of_people, self.protection.weight
        if weight is not None and (self.population is not None or self.fraction is not None):
            raise ContradictionError(
                "survey weights estimate the population by themselves; leave out `weight`, or `population` and "
                "`fraction`"
            )
        estimated = self.fraction is not None and about == ("population_uniques",)
        estimated |= weight is not None and about == ("k_map",)
        if self.population is not None and self.fraction is not None:
            raise ContradictionError("give a population register or a sampling fraction, not both")
        if about and self.population is None and not estimated:
            raise ContradictionError(
                "{option} needs a register of all people that the release may be about (`population`); population "
                "uniques alone can be estimated from a sampling fraction (`fraction`), and k-map alone from survey "
                "weights (`weight`)",
                option=f"`{about[0]}`",
            )
        if not about and (self.population is not None or self.fraction is not None):
            raise ContradictionError(
                "{option} says nothing without {other}; leave it out",
                option="`population`" if self.population is not None else "`fraction`",
                other=either([f"`{name}`" for name in OF_PEOPLE])
                if self.population is not None
                else "`population_uniques`",
            )
        if self.fraction == 0:
            raise ContradictionError("a sampling fraction is above 0 and at most 1")
        if self.population is not None and (self.treatment.invalid or self.treatment.drop_missing):
            raise ContradictionError(
                "records left out as invalid or missing would be taken for people who are not there; leave out "
                "invalid and drop_missing where there is a `population`"
            )
        return self

    @model_validator(mode="after")
    def _question_is_complete(self) -> Self:
        if len(self.datasets) > 1:
            raise ContradictionError("one dataset is anonymised at a time; name one file")
        if self.adversary.prior:
            raise ContradictionError("a prior is for assess; leave it out")
        if self.adversary.facts:
            raise ContradictionError(
                "facts are for assess; name their columns as quasi-identifiers"
            )
        if any(len(columns) > 1 for columns in self.adversary.secrets):
            raise ContradictionError(
                "anonymise protects sensitive attributes one by one; give `sensitive` for each, not several "
                "together"
            )
        secrets = self.adversary.secret_columns
        if self.protection.weight in (*self.adversary.quasi_identifiers, *secrets):
            raise ContradictionError(
                "`weight` {name} is a quasi-identifier or sensitive, and cannot be counted by as well; leave out one",
                name=self.protection.weight,
            )
        for name in self.protection.order:
            if name not in secrets:
                raise ContradictionError(
                    "`order` {name}: {fault}",
                    name=name,
                    fault=unknown_name(
                        "column", name, text("what an adversary wants to infer"), secrets
                    ),
                )
        return self

    def abridged(self) -> Self:
        """Return the study without values and seed: whoever knows it can repeat the random choices of a release."""
        order = dict.fromkeys(self.protection.order, ("…",))
        protection = self.protection.model_copy(update={"order": order})
        return super().abridged().model_copy(update={"seed": 0, "protection": protection})
