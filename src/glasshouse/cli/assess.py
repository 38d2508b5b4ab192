"""``glasshouse assess``: collective attacks on a release of records.

The words of its options stand beside its questions, in `glasshouse.study.assess` and `.question`.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from enum import StrEnum
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from glasshouse.cli import options
from glasshouse.cli.command import carry_out, check_new_file, question, warn
from glasshouse.cli.options import asked, option
from glasshouse.errors import DataError, StudyError
from glasshouse.language import marked, text, translated

if TYPE_CHECKING:
    from glasshouse.runs.folder import StoredRelease
    from glasshouse.study.adversaries import CatalogueAdversary
    from glasshouse.study.assess import AssessStudy

WHOLE_SET = marked(
    "note: only the whole set of quasi-identifiers was assessed: subsets are assessed of at most {most} of them"
)


_asked = partial(asked, "assess.AssessStudy")


class Engine(StrEnum):
    """What works a study out."""

    LOCAL = "local"
    SPARK = "spark"


def assess(
    context: typer.Context,
    *,
    files: list[Path] | None = options.argument(
        "FILE",
        "The release: a file, or a folder of Parquet. Several files are a longitudinal collection; the first "
        "is focal.",
    ),
    quasi_identifiers: options.QuasiIdentifiers = None,
    sensitive: options.Sensitive = None,
    adversaries: list[str] | None = _asked(),
    attacker: options.AttackerOptions,
    missing_is_a_value: options.MissingIsAValue = False,
    facts: list[str] | None = asked("question.Adversary"),
    identifier: options.Identifier = None,
    subsets: list[str] | None = _asked(),
    links: list[str] | None = _asked(),
    prior_weight: options.PriorWeight = None,
    prior: list[str] | None = asked("question.Adversary"),
    gains: options.GainOptions,
    record_worth: str | None = asked("question.Gain"),
    treated: options.RecordOptions,
    weight: options.SampleWeight = None,
    suda: float | None = _asked(),
    drop: options.Drop = None,
    ignore: options.Ignore = None,
    drop_suppressed: bool | None = asked(
        "question.Treatment", flags="--drop-suppressed/--keep-suppressed"
    ),
    seed: options.Seed = 0,
    focal: options.Focal = None,
    by: str | None = _asked(),
    each: bool = _asked(default=False),
    trained_on: Path | None = _asked(),
    holdout: Path | None = _asked(),
    explain: bool = option(
        "--explain",
        says="For small data: print every table from the records to the hyper, as fractions.",
        default=False,
    ),
    advise: bool = _asked(default=False),
    subject: options.Subject = "person",
    output: options.RunOptions,
    save_table: Path | None = option(
        "--save-table",
        "FILE.arrow",
        "Also keep the encoded data (it is the data!), for later runs that skip parsing.",
    ),
    per_record: options.PerRecord = None,
    resume: options.Resume = False,
    threads: options.Threads = None,
    memory: str | None = option(
        "--memory",
        "SIZE",
        "What the process may use, such as 4G; a sweep then goes over the disk. \\[default: no limit]",
    ),
    engine: Engine = option(
        "--engine",
        says="Where it is worked out: on this machine, or on Apache Spark, for data that stay on their cluster.",
        default=Engine.LOCAL,
    ),
    master: str | None = option(
        "--master",
        "URL",
        "The cluster, such as spark://host:7077 or local\\[4]. \\[default: as Spark is set]",
    ),
    reading: options.DataOptions,
) -> None:
    """Who can be identified, and what can be inferred about them, by someone who knows a few facts.

    Example: glasshouse assess adult.csv -q age -q sex -q race -s occupation --out run

    Several years: glasshouse assess 2014.csv 2015.csv --id student -q school -q grade -s disability

    A synthetic file: glasshouse assess made.csv --trained-on people.csv --holdout others.csv -q age -q sex -s income
    """
    from glasshouse.study.assess import MOST_SWEPT, AssessStudy, with_default_subsets

    group = None

    def content() -> dict[str, Any]:
        nonlocal group
        if not files:
            raise StudyError("name the file to assess, or a study with --study")
        paths, known, secrets = files, quasi_identifiers or [], sensitive
        left_out, missing = drop_suppressed, {}
        written: dict[str, Any] = {}
        if len(files) == 1 and files[0].is_dir() and not _is_table(files[0]):
            release = _protected(files[0], names_knowledge=bool(known or facts))
            group, paths, missing = release.group, [release.path], release.missing
            written = {"dialect": release.dialect, "types": release.types}
            if left_out is None and release.group is None:
                left_out = release.suppressed > 0
            if not known and not facts:
                known = list(release.quasi_identifiers)
                secrets = secrets or [f'"{name}"' for name in release.sensitive]
        if not known and not facts and not adversaries:
            raise StudyError(
                "say what the adversary knows: -q COLUMN, once or more (glasshouse inspect {file} suggests)",
                file=paths[0],
            )
        together = _facts(facts)
        datasets = [reading.dataset(path) for path in paths]
        catalogued: tuple[CatalogueAdversary, ...] = ()
        if adversaries:
            never_known = [identifier, weight, prior_weight, attacker.household]
            catalogued = _catalogued(adversaries, datasets[0], secrets, never_known)
            columns = [
                name for one in catalogued for names in one.columns.values() for name in names
            ]
            in_facts = [name for names in together.values() for name in names]
            known = [*dict.fromkeys([*known, *(n for n in columns if n not in in_facts)])]
        return {
            "datasets": [
                entry
                | {"missing": missing | entry["missing"]}
                | {word: rules | entry[word] for word, rules in written.items()}
                for entry in datasets
            ],
            "adversary": {
                "quasi_identifiers": known,
                "facts": together,
                "sensitive": options.secrets(secrets),
                "missing_is_a_value": missing_is_a_value,
                "identifier": identifier,
                "prior_weight": prior_weight,
                "prior": options.numbers(prior, option="--prior"),
                "gain": gains.content(record_worth),
            },
            "treatment": treated.content(drop_suppressed=left_out),
            "drop": drop or [],
            "ignore": ignore or [],
            "seed": seed,
            "links": _links(links or [], paths[0], reading),
            "weight": weight,
            "suda": suda,
            "by": by,
            "each": each,
            "trained_on": trained_on and reading.dataset(trained_on),
            "holdout": holdout and reading.dataset(holdout),
            "group": group,
            "subsets": [_subset(chosen) for chosen in subsets or ["full"]],
            "subject": subject,
            "advise": advise,
            "adversaries": catalogued,
            **attacker.content(),
        }

    study = question(
        context, output, AssessStudy, content, allowed=("explain", "save_table", "engine", "master")
    )
    chosen = bool(subsets or output.study_file or links)
    if output.study_file is None and not subsets and group is None:
        study = with_default_subsets(study)
    if focal is not None:
        from glasshouse.runs.reading import focal_first

        study = focal_first(study, focal)
    if save_table is not None:
        data = [dataset.place for dataset in study.datasets]
        check_new_file(save_table, data, overwrite=output.overwrite)
    carry_out(
        study,
        output,
        resume=resume,
        threads=threads,
        memory=memory,
        per_record=per_record,
        extras={"save_table": save_table, "explain": explain},
        engine=_engine(study, engine, master),
    )
    whole = study.subsets == ("full",) and len(study.adversary.knowable) > 1
    is_of_parts = study.by or study.each or study.person or study.trained_on
    if whole and not (chosen or is_of_parts):
        warn(translated(WHOLE_SET, most=MOST_SWEPT))


def _protected(folder: Path, *, names_knowledge: bool) -> StoredRelease:
    """Return the release that `anonymise` wrote into a folder.

    Raises:
        StudyError: It goes by Anatomy, and what an adversary knows of it is named.
    """
    from glasshouse.runs import stored_release

    release = stored_release(folder)
    if release.group is not None and names_knowledge:
        raise StudyError(
            "the Anatomy release in {folder} is judged by its own quasi-identifiers and groups; leave out -q",
            folder=folder.name,
        )
    if release.method == "perturbation":
        warn(
            text(
                "note: values of {folder} may have been changed at random; this takes them for true ones, as an "
                "adversary does who does not know it, and the report of anonymise is about one who does",
                folder=folder.name,
            )
        )
    return release


def _facts(facts: list[str] | None) -> dict[str, list[str]]:
    """Return the columns that are known together, by the name of the fact."""
    assigned = options.assignments(facts, option="--fact", form="NAME=COLUMN,COLUMN", first=True)
    return {name: options.listed(columns) for name, columns in assigned.items()}


def _catalogued(
    adversaries: list[str],
    dataset: dict[str, Any],
    sensitive: list[str] | None,
    never_known: list[str | None],
) -> tuple[CatalogueAdversary, ...]:
    """Return adversaries of a catalogue with the columns that they know: neither secrets nor what is no attribute."""
    from glasshouse.runs.assess import adversaries_in
    from glasshouse.study import Dataset, attributes, validated

    secret = [
        re.split("[<>=!]", name)[0]
        for one in options.secrets(sensitive)
        for name in attributes(tuple(one) if isinstance(one, list) else one)
    ]
    return adversaries_in(
        validated(Dataset, dataset, "assess"),
        adversaries,
        without=[*secret, *filter(None, never_known)],
    )


def _engine(study: AssessStudy, engine: Engine, master: str | None) -> Callable[..., Any] | None:
    """Return what carries a study out on Spark; None: it is carried out here.

    Raises:
        StudyError: Spark is not installed, or not for this study.
    """
    if engine is not Engine.SPARK:
        if master is not None:
            raise StudyError("--master is for --engine spark")
        return None
    if study.trained_on is not None:
        raise StudyError("--trained-on is for files on this machine; leave out --engine spark")
    try:
        from glasshouse.engines.spark.files import run_on_files
    except ImportError:
        raise StudyError(
            "Spark is not installed here: {command}", command="pip install 'glasshouse[spark]'"
        ) from None
    return partial(run_on_files, master=master)


def _links(links: list[str], file: Path, reading: options.DataOptions) -> list[dict[str, Any]]:
    """Return the linking keys; ``covid-19`` is a column where the file has one of that name."""
    from glasshouse.sources import existing_data
    from glasshouse.study import Dataset, validated
    from glasshouse.study.assess import parse_link
    from glasshouse.table import available_columns

    if not links:
        return []
    content = {"path": existing_data(file), "dialect": reading.dialect()}
    dataset = validated(Dataset, content, "assess")
    columns = available_columns(dataset.path, dialect=dataset.dialect)
    return [parse_link(link, columns) for link in links]


def _subset(chosen: str) -> str | list[str]:
    from glasshouse.study.assess import SWEEP

    if chosen == "full" or SWEEP.fullmatch(chosen):
        return chosen
    if chosen.startswith("max:"):
        raise StudyError(
            'subsets "{subsets}" are neither all, nor max:K with a number K from 1 on',
            subsets=chosen,
        )
    if chosen.startswith("within:"):
        raise StudyError(
            'subsets "{subsets}" name no time; say within:SECONDS, with a whole number of seconds from 1 to 999999',
            subsets=chosen,
        )
    return options.listed(chosen)


def _is_table(folder: Path) -> bool:
    """Tell whether a folder holds the files of one table, and no run."""
    from glasshouse.runs.folder import MANIFEST
    from glasshouse.sources.files import table_files

    try:
        return bool(table_files(folder)[0]) and not (folder / MANIFEST).exists()
    except DataError:
        return False
