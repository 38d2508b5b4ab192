"""What is asked of ``anonymise``: how a release is to be protected, and how well."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction
from functools import partial
from pathlib import Path
from typing import Annotated, Any, Literal, Self
from urllib.parse import unquote

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

from glasshouse.conditions import is_number
from glasshouse.errors import ContradictionError
from glasshouse.language import either, marked, quoted, text, unknown_name
from glasshouse.study.entry import PROTECTION, entry
from glasshouse.study.question import (
    FRACTION,
    POPULATION,
    Dataset,
    Model,
    Probability,
    ReleaseStudy,
)

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
    "intervals": ("widths", "edges", "origin", "names"),
    "rounding": ("to",),
    "top_bottom": ("", "bottom", "top", "widths"),
    "prefixes": ("lengths",),
    "date_parts": ("parts", "order"),
    "suppression_only": (),
    "groups": ("",),
    **dict.fromkeys(("cep", "municipality", "state", "icd10", "cbo", "cnpj", "education"), ()),
}
"""The rules that make a hierarchy from the values of a column, and what each takes, first what needs no name."""
_EXAMPLES = {
    "intervals": "intervals:5,10, intervals:5,10:origin=3, intervals:edges=0,18,65/18",
    "rounding": "rounding:10,100",
    "top_bottom": "top_bottom:20,90, top_bottom:top=90:widths=5,10",
    "prefixes": "prefixes, prefixes:4,2",
    "date_parts": "date_parts, date_parts:month,year:order=dmy",
    "groups": "groups:coast=Lima+Rio,inland=La Paz",
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
    >>> hierarchy_rule("intervals:edges=18:names=child,")
    ('intervals', {'edges': [['18']], 'names': ['child', '']})
    >>> hierarchy_rule("groups:coast=Lima+Rio,A%2CB=La Paz")
    ('groups', {'groups': {'coast': ['Lima', 'Rio'], 'A,B': ['La Paz']}})
    """
    name, *arguments = written.split(":")
    if name not in RULES:
        if arguments and name.isidentifier() and len(name) > 1:
            raise ContradictionError(
                '"{given}" is not a rule for a hierarchy; the rules are {rules}, and a file of that name is '
                "./{given}",
                given=written,
                rules=quoted(list(RULES)),
            )
        return None
    if name == "groups":
        return name, {"groups": _named_groups(written)}
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
        elif keyword == "names":
            keywords[keyword] = [unquote(part) for part in values]
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


def _named_groups(written: str) -> dict[str, list[str]]:
    """Return the values of each group; signs that part them are written as in addresses, such as ``%2C``."""
    groups: dict[str, list[str]] = {}
    for entry_ in written.partition(":")[2].split(","):
        name, equals, values = entry_.partition("=")
        if not (equals and name.strip() and values) or unquote(name.strip()) in groups:
            raise _rule_error(written)
        groups[unquote(name.strip())] = [unquote(value.strip()) for value in values.split("+")]
    named = [value for values in groups.values() for value in values]
    if len(named) != len({*named}):
        raise _rule_error(written)
    return groups


def groups_rule(into: Mapping[str, str]) -> str:
    """Return the rule that puts values into groups; empty: it puts none into one.

    >>> groups_rule({"Lima": "coast", "A,B": "coast", "Oslo": ""})
    'groups:coast=Lima+A%2CB'
    """
    groups: dict[str, list[str]] = {}
    for value, name in into.items():
        groups.setdefault(_escaped(name), []).append(_escaped(value))
    parts = [f"{name}={'+'.join(values)}" for name, values in groups.items() if name]
    return f"groups:{','.join(parts)}" if parts else ""


def edges_rule(edges: Sequence[str], names: Sequence[str]) -> str:
    """Return the rule of the edges between intervals, and of what these are called.

    >>> edges_rule(["18", "65"], ["child", "", ""]), edges_rule(["18"], ["", ""])
    ('intervals:edges=18,65:names=child,,', 'intervals:edges=18')
    """
    rule = f"intervals:edges={','.join(edges)}"
    return f"{rule}:names={','.join(map(_escaped, names))}" if any(names) else rule


def _escaped(name: str) -> str:
    """Return a name as rules write it."""
    return "".join(f"%{ord(sign):02X}" if sign in "%:,=+/" else sign for sign in name)


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


_protection = partial(entry, panel=PROTECTION)


class Means(Model):
    """What may be done to meet a rule."""

    suppression: Share = _protection(
        "The largest share of records that a version may suppress.", "SHARE", default=0.01
    )
    household: str | None = _protection(
        "The column that says who lives together: households are suppressed as a whole, as many households as records "
        "must be alike by their members together, and the verdict judges who is identified by way of them.",
        "COL",
    )
    """It is released as it is."""
    hierarchies: dict[str, Annotated[str | Path, BeforeValidator(rule_or_path)]] = _protection(
        "How the values of a column are generalised: a file with a row per value, or a rule such as "
        "intervals:5,10, rounding:10,100, top_bottom:20,90, prefixes:4,2, date_parts:month,year, cep or icd10. "
        "glasshouse hierarchies writes files to edit.",
        "COL=FILE|RULE",
        unless="suggested",
        python='{"age": "intervals:5,10", "zip": "zip.csv"}',
        default={},
    )
    importance: dict[str, Annotated[StrictFloat, Field(gt=0, le=1e6)]] = _protection(
        "How much the loss of a column weighs; 1 where nothing is said.",
        "COL=N",
        python='{"age": 2.0}',
        default={},
    )
    weight: str | None = _protection(
        "Survey weights: how many people each record stands for. Loss counts them, and `k_map` needs no register; "
        "the column is released as it is.",
        "COL",
    )
    time_limit: StrictFloat | None = _protection(
        "Take the best versions found by then.", "SECONDS", gt=0
    )
    keep: tuple[str, ...] = _protection(
        "Release a further column as it is; what is neither `quasi_identifiers`, `sensitive` nor kept is left out.",
        "COL",
        default=(),
    )
    keep_order: StrictBool = _protection(
        "Leave the records in the order of the file. It may reveal more than they do: by default it is "
        "random.",
        default=False,
    )
    drop_suppressed: StrictBool = _protection(
        "Leave suppressed records out of the files; else they are in them as a class of their own.",
        default=True,
    )
    """In such a class there is nothing but ``*`` of what can be known."""
    format: ReleaseFormat = _protection(
        "The kind of file: text with the encoding, separator, quotes and line ends of the data, or one of these.",
        default="same",
    )


class Protection(Means):
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
    ] = _protection(
        "What is promised of every class; policy: that the release meets `policy`.",
        unless="what `k`, `l`, `t`, a risk or a change says",
        default=...,
    )
    """With Anatomy, it is promised of every group. Or numbers become means of groups, or values change at random and
    records are sampled."""
    recoding: Literal["global", "local", "mondrian"] = _protection(
        "A value is generalised alike everywhere, only as far as each class needs, or by median splits.",
        default="global",
    )
    effort: Literal["fast", "good", "best"] = _protection(
        "With `recoding` local: how long a lower loss is looked for; seconds, a minute or two, or minutes for a "
        "million records.",
        default="good",
    )
    k: StrictInt | None = _protection(
        "Records alike.", "N", ge=1, label="At least this many alike (k)"
    )
    """The least number of them in a class."""
    l: Diversity | None = _protection(  # noqa: E741 - the word of the field
        "Sensitive values of a class; of entropy also a fraction.",
        "N",
        label="Sensitive values among them (l)",
    )
    diversity: Literal["distinct", "entropy", "recursive"] = _protection(
        "What is meant by diverse.", default="distinct"
    )
    c: StrictFloat | None = _protection("The factor of recursive (c, l)-diversity.", "X", gt=0)
    t: Share | None = _protection("How far a class may be from all records, 0 to 1.", "X")
    closeness: Literal["equal", "ordered", "hierarchical"] = _protection(
        "How far two sensitive values are from one another.", default="equal"
    )
    order: dict[str, tuple[str, ...]] = _protection(
        "With `closeness` ordered: all values of a sensitive column in order.",
        "COL=A,B,…",
        unless="by number",
        python='{"salary": ["low", "middle", "high"]}',
        default={},
    )
    highest_risk: Share | None = _protection("Nobody is identified with a greater chance.", "P")
    average_risk: Share | None = _protection(
        "People are identified with no greater chance on average.", "P"
    )
    inference_risk: Share | None = _protection(
        "No sensitive value is guessed right with a greater chance in any class.", "P"
    )
    beta: StrictFloat | None = _protection(
        "No sensitive value is more frequent in a class than in all by more than this share of it.",
        "X",
        gt=0,
        allow_inf_nan=False,
    )
    delta: StrictFloat | None = _protection(
        "Every sensitive value is in every class, and as frequent as in all up to a factor of e to this power.",
        "X",
        gt=0,
        allow_inf_nan=False,
    )
    k_map: StrictInt | None = _protection(
        "People of `population` who fit every class, however few are in the data.", "N", ge=1
    )
    presence: tuple[Share, Share] | None = _protection(
        "Between which limits the chance lies that somebody of `population` is in the release, such as 0:0.3.",
        "LOW:HIGH",
        python="(0, 0.3)",
    )
    population_uniques: Share | None = _protection(
        "The largest share of records whose people are alone in `population`, or are estimated to be by `fraction`.",
        "SHARE",
    )
    suppression: Share = _protection(
        "The largest share of records that may be suppressed, 0 to 1.",
        "SHARE",
        default=0.0,
        label="Records that may be removed (%)",
    )
    levels: dict[str, Annotated[StrictInt, Field(ge=0)]] = _protection(
        "With `recoding` global: show a column at level N of its hierarchy, 0 as it is.",
        "COL=N",
        unless="the level that loses least",
        python='{"age": 2}',
        default={},
    )
    objective: Literal[
        "loss", "discernibility", "average_class_size", "non_uniform_entropy", "granularity"
    ] = _protection(
        "What is kept as small as possible.",
        "loss|granularity|discernibility|average_class_size|non_uniform_entropy",
        default="loss",
    )
    time_limit: StrictFloat | None = _protection(
        "Take the best found by then; without a proof, but with a bound.", "SECONDS", gt=0
    )
    aggregate: tuple[str, ...] = _protection(
        "A column whose numbers become means of groups of `k` records.",
        "COL",
        unless="every column of `quasi_identifiers`, with `method` microaggregation",
        default=(),
    )
    grouping: Literal["mdav", "univariate"] = _protection(
        "Whether records are grouped by all these columns together, or each column by itself.",
        default="mdav",
    )
    perturb: dict[str, Annotated[str, AfterValidator(_checked_rule)]] = _protection(
        "How the values of a column are changed: pram:CHANCE (kept, else drawn anew), noise:RATIO, "
        "exchange:RECORDS (of nearly the same rank) or tails:LOW,HIGH, also in percent.",
        "COL=RULE",
        python='{"age": "noise:0.5"}',
        default={},
    )
    sample: Annotated[StrictFloat, Field(gt=0, le=1)] | None = _protection(
        "Release a random sample: this share of the records.", "SHARE"
    )
    """It is drawn before anything else is done."""
    drop_suppressed: StrictBool = _protection(
        "Leave suppressed records out of the file; else they are in it as a class of their own.",
        default=False,
    )

    @model_serializer(mode="wrap")
    def _in_order(self, dump: SerializerFunctionWrapHandler) -> dict[str, Any]:
        """What is promised comes first, then what may be done for it."""
        content: dict[str, Any] = dump(self)
        return {name: content[name] for name in IN_ORDER if name in content}

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
                "a rule is promised by `recoding` global; for another, promise `k`, `l` or a risk"
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
        for name in IN_ORDER:
            of_change = any(name in names for names in CHANGES.values())
            if name in allowed or not (changes or of_change):
                continue
            field = type(self).model_fields[name]
            if getattr(self, name) != field.get_default(call_default_factory=True):
                raise ContradictionError(
                    "{method} takes no {option}; leave it out",
                    method=self.method,
                    option=f"`{name}`",
                )
        return self

    @model_validator(mode="after")
    def _households_are_generalised_alike(self) -> Self:
        if self.household is None:
            return self
        if self.recoding != "global" or self.method not in ("k-anonymity", "policy"):
            raise ContradictionError(
                "households are kept together where all records are generalised alike, by `k` or by a rule; take "
                "`recoding` global, or leave out `household`"
            )
        if self.weight is not None or self.limits:
            raise ContradictionError(
                "households are kept together by `k` or by a rule alone; leave out {option}, or `household`",
                option=f"`{(*self.limits, 'weight')[0]}`",
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


IN_ORDER = tuple(
    """
    method recoding effort k l diversity c t closeness order highest_risk average_risk inference_risk beta delta k_map
    presence population_uniques suppression household hierarchies levels objective importance weight time_limit
    aggregate grouping perturb sample keep keep_order drop_suppressed format
    """.split()
)
"""The entries of a protection, as a study has them."""


class AnonymiseStudy(ReleaseStudy):
    """How the records of one file are to be protected before they are released."""

    command: Literal["anonymise"] = "anonymise"
    """The command that answers it."""
    protection: Protection
    """How the release is to be protected."""
    population: Dataset | None = POPULATION
    """Everybody in the release is among them."""
    fraction: Probability | None = FRACTION

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


def release_content(question: ReleaseStudy) -> dict[str, Any]:
    """Return what studies of a protection have in common with a study: the attributes of facts stand for themselves."""
    adversary = question.adversary
    return {
        "datasets": question.datasets,
        "adversary": {
            "quasi_identifiers": (*adversary.quasi_identifiers, *adversary.fact_columns),
            "sensitive": adversary.secret_columns,
            "identifier": adversary.identifier,
            "missing_is_a_value": adversary.missing_is_a_value,
        },
        "treatment": question.treatment,
        "seed": question.seed,
        "subject": question.subject,
        "policy": question.policy,
        "labels": question.labels,
    }
