"""``glasshouse anonymise``: a protected release, and what it still lets an adversary learn."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import typer

from glasshouse.cli import options
from glasshouse.cli.check import without_nobody
from glasshouse.cli.command import carry_out, question
from glasshouse.cli.options import protection
from glasshouse.errors import StudyError


@dataclass(frozen=True)
class ProtectionOptions:
    """What is promised of a release, and what may be done for it."""

    method: str | None = protection(
        "--method",
        "k-anonymity|l-diversity|t-closeness|risk|policy|anatomy|microaggregation|perturbation",
        r"What is promised of every class; policy: that the release meets --policy. \[default: what --k, --l, --t, "
        "a risk or a change says]",
    )
    recoding: str = protection(
        "--recoding",
        "global|local|mondrian",
        "A value is generalised alike everywhere, only as far as each class needs, or by median splits.",
        default="global",
    )
    effort: str = protection(
        "--effort",
        "fast|good|best",
        "With --recoding local: how long a lower loss is looked for; seconds, a minute or two, or minutes for a "
        "million records.",
        default="good",
    )
    k: str | None = protection("--k", "N", "Records alike.")
    l: str | None = protection(  # noqa: E741 - the letter of l-diversity
        "--l", "N", "Sensitive values of a class; of entropy also a fraction."
    )
    diversity: str = protection("--diversity", "distinct|entropy|recursive", default="distinct")
    c: float | None = protection("--c", "X", "The factor of recursive (c, l)-diversity.")
    t: str | None = protection("--t", "X", "How far a class may be from all records, 0 to 1.")
    closeness: str = protection("--closeness", "equal|ordered|hierarchical", default="equal")
    order: list[str] | None = protection(
        "--order",
        "COL=A,B,…",
        "With --closeness ordered: all values of a sensitive column in order. Repeatable. \\[default: by number]",
    )
    highest_risk: str | None = protection(
        "--highest-risk", "P", "Nobody is named with a greater chance."
    )
    average_risk: str | None = protection(
        "--average-risk", "P", "People are named with no greater chance on average."
    )
    inference_risk: str | None = protection(
        "--inference-risk",
        "P",
        "No sensitive value is guessed right with a greater chance in any class.",
    )
    beta: str | None = protection(
        "--beta",
        "X",
        "No sensitive value is more frequent in a class than in all by more than this share of it.",
    )
    delta: str | None = protection(
        "--delta",
        "X",
        "Every sensitive value is in every class, and as frequent as in all up to a factor of e to this power.",
    )
    suppression: str = protection(
        "--suppression",
        "SHARE",
        "The largest share of records that may be suppressed, 0 to 1.",
        default="0.0",
    )
    hierarchies: options.Hierarchies = None
    levels: list[str] | None = protection(
        "--level",
        "COL=N",
        "With --recoding global: tell a column at level N of its hierarchy, 0 as it is. Repeatable. \\[default: the "
        "level that loses least]",
    )
    objective: str = protection(
        "--objective",
        "loss|granularity|discernibility|average_class_size|non_uniform_entropy",
        "What is kept as small as possible.",
        default="loss",
    )
    importance: options.Importance = None
    weight: options.SurveyWeight = None
    time_limit: float | None = protection(
        "--time-limit", "SECONDS", "Take the best found by then; without a proof, but with a bound."
    )


@dataclass(frozen=True)
class KeptOptions:
    """What else is in the file of a release, and in which order."""

    keep: list[str] | None = protection(
        "--keep",
        "COL",
        "Release a further column as it is; what is neither -q, -s nor kept is left out. Repeatable.",
    )
    keep_order: bool = protection(
        "--keep-order",
        says="Leave the records in the order of the file. It may tell more than they do: by default it is random.",
        default=False,
    )
    drop_suppressed: bool = protection(
        "--drop-suppressed/--keep-suppressed",
        says="Leave suppressed records out of the file; else they are in it as a class of their own.",
        default=False,
    )
    format: str = protection(
        "--format",
        "same|csv|parquet|xlsx|sav|dta",
        "The kind of file: text with the encoding, separator, quotes and line ends of the data, or one of these.",
        default="same",
    )


@dataclass(frozen=True)
class PeopleOptions:
    """What is promised of the population behind the records."""

    k_map: str | None = protection(
        "--k-map", "N", "People of --population who fit every class, however few are in the data."
    )
    presence: str | None = protection(
        "--presence",
        "LOW:HIGH",
        "Between which limits the chance lies that somebody of --population is in the release, such as 0:0.3.",
    )
    population_uniques: str | None = protection(
        "--population-uniques",
        "SHARE",
        "The largest share of records whose people are alone in --population, or are estimated to be by --fraction.",
    )


@dataclass(frozen=True)
class ChangeOptions:
    """What is changed without generalising: numbers to means, values at random, fewer records."""

    aggregate: list[str] | None = protection(
        "--aggregate",
        "COL",
        "A column whose numbers become means of groups of --k records. Repeatable. \\[default with --method "
        "microaggregation: every -q]",
    )
    grouping: str = protection(
        "--grouping",
        "mdav|univariate",
        "Whether records are grouped by all these columns together, or each column by itself.",
        default="mdav",
    )
    perturb: list[str] | None = protection(
        "--perturb",
        "COL=RULE",
        "How the values of a column are changed: pram:CHANCE (kept, else drawn anew), noise:RATIO, exchange:RECORDS "
        "(of nearly the same rank) or tails:LOW,HIGH, also in percent. Repeatable.",
    )
    sample: str | None = protection(
        "--sample", "SHARE", "Release a random sample: this share of the records."
    )


@dataclass(frozen=True)
class ReleaseOptions(ChangeOptions, PeopleOptions, KeptOptions, ProtectionOptions):
    """The protection of one release, and what else is in its file."""

    def one(self) -> dict[str, Any]:
        """Return them as content of a study of one release."""
        if any("," in (getattr(self, name) or "") for name in ("method", "recoding", *NUMBERS)):
            raise StudyError(
                "one release is made with one k, l and t; glasshouse compare takes several"
            )
        return protection_content(vars(self)) | {"keep": self.keep or []}


NUMBERS = (
    *("k", "l", "t", "highest_risk", "average_risk", "inference_risk", "beta", "delta"),
    *("k_map", "population_uniques", "suppression", "sample"),
)
"""The options of a protection that are numbers, of which compare takes several."""


def protection_content(typed: Mapping[str, Any]) -> dict[str, Any]:
    """Return the options of a protection as content of a study.

    Args:
        typed: The options by their names, as they were typed.
    """
    from glasshouse.study.anonymise import method_of

    numbers = {
        name: None
        if typed[name] is None
        else options.number(typed[name], option=f"--{name.replace('_', '-')}")
        for name in NUMBERS
    }
    changes: dict[str, Any] = {
        "aggregate": typed["aggregate"] or [],
        "perturb": options.assignments(typed["perturb"], option="--perturb", form="COLUMN=RULE"),
        "sample": numbers["sample"],
    }
    promises = {name: numbers[name] for name in ("k", "l", "t")}
    return {
        **typed,
        **numbers,
        **changes,
        "method": typed["method"] or method_of(**promises, changes=changes),
        "hierarchies": options.hierarchies(typed["hierarchies"]),
        "levels": _levels(typed["levels"]),
        "importance": weights(typed["importance"]),
        "order": _orders(typed["order"]),
        "presence": None if typed["presence"] is None else _limits(typed["presence"]),
    }


def anonymise(
    context: typer.Context,
    *,
    file: Path | None = options.argument("FILE", "The data: a file of any kind that is read."),
    adversary: options.KnowledgeOptions,
    protected: ReleaseOptions,
    population: options.Population = None,
    fraction: options.Fraction = None,
    treated: options.RecordOptions,
    ignore: options.Ignore = None,
    seed: options.Seed = 0,
    subject: options.Subject = "person",
    output: options.RunOptions,
    reading: options.DataOptions,
) -> None:
    """Protect a release: k-anonymity, l-diversity, t-closeness or Anatomy, at the least loss; then measure again.

    Example: glasshouse anonymise adult.csv -q age -q sex -s occupation --k 5 --suppression 0.04 --out protected

    The release is protected/release.csv; glasshouse assess protected assesses it.

    Judged are exact guesses at single records, each of a person of its own. Where people have several, measure them in
    the release afterwards: glasshouse assess protected --person COL, a column kept by --keep.
    """
    from glasshouse.study.anonymise import AnonymiseStudy

    def content() -> dict[str, Any]:
        if file is None:
            raise StudyError("name the file to protect, or a study with --study")
        if not adversary.quasi_identifiers:
            raise StudyError("say what an adversary can know: -q COLUMN, once or more")
        known = adversary.quasi_identifiers
        one = replace(protected, hierarchies=options.in_folders(protected.hierarchies, known)).one()
        treatment, dataset = treated.content(), reading.dataset(file)
        if population is None:
            treatment["invalid"] = without_nobody(dataset, treatment["invalid"])
        return {
            "datasets": [dataset],
            "adversary": adversary.content(),
            "treatment": treatment,
            "ignore": ignore or [],
            "seed": seed,
            "subject": subject,
            "population": population and reading.dataset(population),
            "fraction": fraction,
            "protection": one,
        }

    carry_out(question(context, output, AnonymiseStudy, content), output)


def _limits(written: str) -> list[float]:
    """Return the two limits of a chance."""
    low, colon, high = written.partition(":")
    if not colon:
        raise StudyError(
            '--presence "{given}" has one limit; write two, such as 0:0.3', given=written
        )
    return [options.number(limit, option="--presence") for limit in (low, high)]


def _orders(orders: list[str] | None) -> dict[str, list[str]]:
    """Return the values of each column in order."""
    values = options.assignments(orders, option="--order", form="COLUMN=VALUE,VALUE,…", first=True)
    return {column: options.listed(written) for column, written in values.items()}


def _levels(levels: list[str] | None) -> dict[str, float]:
    """Return at which level of its hierarchy each column is told."""
    pairs = options.assignments(levels, option="--level", form="COLUMN=NUMBER")
    return {
        column: options.number(level, option=f"--level {column}") for column, level in pairs.items()
    }


def weights(weights: list[str] | None) -> dict[str, float]:
    """Return how much each column weighs."""
    pairs = options.assignments(weights, option="--importance", form="COLUMN=NUMBER")
    return {
        column: options.number(weight, option=f"--importance {column}")
        for column, weight in pairs.items()
    }
