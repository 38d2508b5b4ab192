"""``glasshouse compare``: protected releases beside the original, and runs of the same command side by side.

The words of its options stand beside its questions, in `glasshouse.study.compare`.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import product
from pathlib import Path
from typing import Any

import typer

from glasshouse.cli import options
from glasshouse.cli.anonymise import (
    ChangeOptions,
    PeopleOptions,
    ProtectionOptions,
    protection_content,
)
from glasshouse.cli.command import carry_out, given_options
from glasshouse.cli.options import asked, protection
from glasshouse.errors import StudyError


@dataclass(frozen=True)
class ComparedOptions(ChangeOptions, PeopleOptions, ProtectionOptions):
    """The protections of several releases: one for every combination of what is given with commas."""

    method: str | None = protection(
        "--method",
        "NAME,NAME…",
        "What is promised of every class, or done, as for anonymise; one release for each.",
    )
    recoding: str = protection(
        "--recoding",
        "NAME,NAME…",
        "A value is generalised alike everywhere (global), only as far as each class needs (local), or by median "
        "splits (mondrian); one release for each.",
        default="global",
    )
    effort: str = protection(
        "--effort", "NAME,NAME…", "With --recoding local: fast, good or best.", default="good"
    )
    k: str | None = protection("--k", "N,N…", "One release for each.")
    l: str | None = protection("--l", "N,N…", "The same.")  # noqa: E741 - the letter of l-diversity
    t: str | None = protection("--t", "X,X…", "The same.")
    highest_risk: str | None = protection("--highest-risk", "P,P…", "The same.")
    average_risk: str | None = protection("--average-risk", "P,P…", "The same.")
    inference_risk: str | None = protection("--inference-risk", "P,P…", "The same.")
    beta: str | None = protection("--beta", "X,X…", "The same.")
    delta: str | None = protection("--delta", "X,X…", "The same.")
    suppression: str = protection(
        "--suppression",
        "SHARE,SHARE…",
        "The largest share of records that may be suppressed, 0 to 1; one release for each.",
        default="0.0",
    )
    k_map: str | None = protection(
        "--k-map", "N,N…", "People of --population who fit every class; one release for each."
    )
    population_uniques: str | None = protection(
        "--population-uniques",
        "SHARE,SHARE…",
        "The largest share of records whose people are alone in the population; one release for each.",
    )
    sample: str | None = protection(
        "--sample",
        "SHARE,SHARE…",
        "Release a random sample: this share of the records; one release for each.",
    )

    def versions(self) -> list[dict[str, Any]]:
        """Return them as contents of studies, one for each version.

        What says nothing to one version is left out of it, as long as it says something to another.
        """
        from glasshouse.study.compare import SEVERAL, useless

        lists = {
            name: options.listed(typed)
            for name in SEVERAL
            if (typed := getattr(self, name)) is not None
        }
        contents = [
            protection_content(vars(self) | dict(zip(lists, values, strict=True)))
            for values in product(*lists.values())
        ]
        spare = [useless(content) for content in contents]
        to_nobody = set.intersection(*spare)
        versions: list[dict[str, Any]] = []
        for content, names in zip(contents, spare, strict=True):
            version = {name: content[name] for name in content if name not in names - to_nobody}
            versions += [] if version in versions else [version]
        return versions


def compare(
    context: typer.Context,
    *,
    paths: list[Path] = options.argument(
        "RUN",
        "Folders of runs of the same command; or one file, protected in several ways.",
        default=...,
    ),
    adversary: options.KnowledgeOptions,
    protected: ComparedOptions,
    treated: options.RecordOptions,
    seed: options.Seed = 0,
    predict: str | None = asked("compare.CompareStudy"),
    population: options.Population = None,
    fraction: options.Fraction = None,
    subject: options.Subject = "person",
    output: options.OutputOptions,
    reading: options.DataOptions,
) -> None:
    """Protected releases beside the original, or runs side by side: what got worse, what got better.

    Example: glasshouse compare adult.csv -q age -q sex -s occupation --k 2,5,10,20 --suppression 0.04

    What local recoding leaves certain, and what global: glasshouse compare … --k 5 --recoding global,local

    Releases that exist (runs of anonymise): glasshouse compare protected5 protected20

    Runs of any other command, this year against last: glasshouse compare run2018 run2019 --out changes
    """
    from glasshouse.runs.folder import check_there
    from glasshouse.sources import existing_data
    from glasshouse.study import load_policy, validated
    from glasshouse.study.anonymise import AnonymiseStudy
    from glasshouse.study.compare import CompareStudy, version_names

    content: dict[str, Any] = {"subject": subject, "fraction": fraction, "predict": predict}
    for path in paths if len(paths) > 1 else ():
        check_there(path)
    if all(path.is_dir() for path in paths):
        _refuse_beside_folders(context, paths)
        content["runs"] = paths
    elif len(paths) > 1:
        raise StudyError("name one file to protect in several ways, or only folders of runs")
    else:
        existing_data(paths[0])
        if not adversary.quasi_identifiers:
            raise StudyError("say what an adversary can know: -q COLUMN, once or more")
        versions = protected.versions()
        study = {
            "datasets": [reading.dataset(paths[0])],
            "adversary": adversary.content(),
            "treatment": treated.content(),
            "seed": seed,
            "subject": subject,
            "population": population and reading.dataset(population),
            "fraction": None if protected.population_uniques is None else fraction,
        }
        if output.policy is not None:
            study["policy"] = load_policy(output.policy)
        studies = [
            validated(AnonymiseStudy, study | {"protection": version}, "compare")
            for version in versions
        ]
        names = version_names([each.protection for each in studies])
        content["protections"] = dict(zip(names, studies, strict=True))
    carry_out(validated(CompareStudy, content, "compare"), output)


def _refuse_beside_folders(context: typer.Context, folders: list[Path]) -> None:
    """Make sure that nothing is asked that the folders say."""
    from glasshouse.runs.compare import command_of

    allowed = {"policy", "paths", "out", "overwrite", "as_json", "title", "labels"}
    commands = [command_of(folder) for folder in folders]
    if set(commands) == {"anonymise"}:
        allowed |= {"fraction", "predict"}
    for name, typed in given_options(context):
        if name not in allowed:
            raise StudyError(
                "what was promised is in the folders; leave out {option}", option=typed
            )
