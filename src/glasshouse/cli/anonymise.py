"""``glasshouse anonymise``: a protected release, and what it still lets an adversary learn.

The words of its options stand beside its questions, in `glasshouse.study.anonymise`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

import typer

from glasshouse.cli import options
from glasshouse.cli.check import without_nobody
from glasshouse.cli.command import carry_out, question
from glasshouse.cli.options import asked
from glasshouse.errors import StudyError

_protection = partial(asked, "anonymise.Protection")
_means = partial(asked, "anonymise.Means")


@dataclass(frozen=True)
class ProtectionOptions:
    """What is promised of a release, and what may be done for it."""

    method: str | None = _protection()
    recoding: str = _protection(default="global")
    effort: str = _protection(default="good")
    k: str | None = _protection()
    l: str | None = _protection()  # noqa: E741 - the letter of l-diversity
    diversity: str = _protection(default="distinct")
    c: float | None = _protection()
    t: str | None = _protection()
    closeness: str = _protection(default="equal")
    order: list[str] | None = _protection()
    highest_risk: str | None = _protection()
    average_risk: str | None = _protection()
    inference_risk: str | None = _protection()
    beta: str | None = _protection()
    delta: str | None = _protection()
    suppression: str = _protection(default="0.0")
    household: str | None = _protection()
    hierarchies: list[str] | None = _protection()
    levels: list[str] | None = _protection()
    objective: str = _protection(default="loss")
    importance: list[str] | None = _protection()
    weight: str | None = _protection()
    time_limit: float | None = _protection()


SUPPRESSED = "--drop-suppressed/--keep-suppressed"


@dataclass(frozen=True)
class KeptOptions:
    """What else is in the file of a release, and in which order."""

    keep: list[str] | None = _means()
    keep_order: bool = _means(default=False)
    drop_suppressed: bool = _protection(flags=SUPPRESSED, default=False)
    format: str = _means(default="same")


@dataclass(frozen=True)
class SearchOptions:
    """How a rule may be met."""

    suppression: float = _means(default=0.01)
    household: str | None = _means()
    hierarchies: list[str] | None = _means()
    importance: list[str] | None = _means()
    weight: str | None = _means()
    time_limit: float | None = _means()


@dataclass(frozen=True)
class MeansOptions(KeptOptions, SearchOptions):
    """What may be done to meet a rule, and what else is in the files."""

    drop_suppressed: bool = _means(flags=SUPPRESSED, default=True)

    def content(self, columns: Sequence[str]) -> dict[str, Any]:
        """Return them as content of a study, of a release in which these columns can be known."""
        return vars(self) | {
            "hierarchies": options.hierarchies(options.in_folders(self.hierarchies, columns)),
            "importance": weights(self.importance),
            "keep": self.keep or [],
        }


@dataclass(frozen=True)
class PeopleOptions:
    """What is promised of the population behind the records."""

    k_map: str | None = _protection()
    presence: str | None = _protection()
    population_uniques: str | None = _protection()


@dataclass(frozen=True)
class ChangeOptions:
    """What is changed without generalising: numbers to means, values at random, fewer records."""

    aggregate: list[str] | None = _protection()
    grouping: str = _protection(default="mdav")
    perturb: list[str] | None = _protection()
    sample: str | None = _protection()


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
