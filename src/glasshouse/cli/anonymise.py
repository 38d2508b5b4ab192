"""``glasshouse anonymise``: a protected release, and what it still lets an adversary learn."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from glasshouse.cli import asking, options
from glasshouse.cli.progress import progress
from glasshouse.errors import StudyError
from glasshouse.language import text

HOW_TO_RUN = {"out", "overwrite", "as_json"}
PROTECTION = "The protection"


def anonymise(
    context: typer.Context,
    file: Annotated[
        Path | None, typer.Argument(metavar="FILE", help="The data: CSV, Parquet or Arrow.")
    ] = None,
    quasi_identifiers: options.QuasiIdentifiers = None,
    sensitive: options.Sensitive = None,
    identifier: options.Identifier = None,
    method: Annotated[
        str | None,
        typer.Option(
            "--method",
            metavar="k-anonymity|l-diversity|t-closeness|risk|anatomy",
            help=r"What is promised of every class of the release. \[default: what --k, --l, --t or a risk says]",
            rich_help_panel=PROTECTION,
        ),
    ] = None,
    recoding: Annotated[
        str,
        typer.Option(
            "--recoding",
            metavar="global|local|mondrian",
            help="A value is generalised alike everywhere, only as far as each class needs, or by median splits.",
            rich_help_panel=PROTECTION,
        ),
    ] = "global",
    k: Annotated[
        int | None,
        typer.Option("--k", metavar="N", help="Records alike.", rich_help_panel=PROTECTION),
    ] = None,
    l_value: Annotated[
        int | None,
        typer.Option(
            "--l", metavar="N", help="Sensitive values of a class.", rich_help_panel=PROTECTION
        ),
    ] = None,
    diversity: Annotated[
        str,
        typer.Option(
            "--diversity", metavar="distinct|entropy|recursive", rich_help_panel=PROTECTION
        ),
    ] = "distinct",
    c_value: Annotated[
        float | None,
        typer.Option(
            "--c",
            metavar="X",
            help="The factor of recursive (c, l)-diversity.",
            rich_help_panel=PROTECTION,
        ),
    ] = None,
    t: Annotated[
        float | None,
        typer.Option(
            "--t",
            metavar="X",
            help="How far a class may be from all records, 0 to 1.",
            rich_help_panel=PROTECTION,
        ),
    ] = None,
    closeness: Annotated[
        str,
        typer.Option(
            "--closeness", metavar="equal|ordered|hierarchical", rich_help_panel=PROTECTION
        ),
    ] = "equal",
    highest_risk: Annotated[
        float | None,
        typer.Option(
            "--highest-risk",
            metavar="P",
            help="Nobody is named with a greater chance.",
            rich_help_panel=PROTECTION,
        ),
    ] = None,
    average_risk: Annotated[
        float | None,
        typer.Option(
            "--average-risk",
            metavar="P",
            help="People are named with no greater chance on average.",
            rich_help_panel=PROTECTION,
        ),
    ] = None,
    inference_risk: Annotated[
        float | None,
        typer.Option(
            "--inference-risk",
            metavar="P",
            help="No sensitive value is guessed right with a greater chance in any class.",
            rich_help_panel=PROTECTION,
        ),
    ] = None,
    suppression: Annotated[
        float,
        typer.Option(
            "--suppression",
            metavar="SHARE",
            help="The largest share of records that may be suppressed, 0 to 1.",
            rich_help_panel=PROTECTION,
        ),
    ] = 0.0,
    hierarchies: Annotated[
        list[str] | None,
        typer.Option(
            "--hierarchy",
            metavar="COL=FILE",
            help="How the values of a column are generalised, a row per value. Repeatable. \\[default: suggested]",
            rich_help_panel=PROTECTION,
        ),
    ] = None,
    objective: Annotated[
        str,
        typer.Option(
            "--objective",
            metavar="loss|granularity|discernibility|average_class_size|non_uniform_entropy",
            help="What is kept as small as possible.",
            rich_help_panel=PROTECTION,
        ),
    ] = "loss",
    importance: Annotated[
        list[str] | None,
        typer.Option(
            "--importance",
            metavar="COL=N",
            help="How much the loss of a column weighs; 1 where nothing is said. Repeatable.",
            rich_help_panel=PROTECTION,
        ),
    ] = None,
    time_limit: Annotated[
        float | None,
        typer.Option(
            "--time-limit",
            metavar="SECONDS",
            help="Take the best found by then; without a proof, but with a bound.",
            rich_help_panel=PROTECTION,
        ),
    ] = None,
    keep: Annotated[
        list[str] | None,
        typer.Option(
            "--keep",
            metavar="COL",
            help="Release a further column as it is; what is neither -q, -s nor kept is left out. Repeatable.",
            rich_help_panel=PROTECTION,
        ),
    ] = None,
    keep_order: Annotated[
        bool,
        typer.Option(
            "--keep-order",
            help="Leave the records in the order of the file. It may tell more than they do: by default it is random.",
            rich_help_panel=PROTECTION,
        ),
    ] = False,
    where: options.Where = None,
    invalid: options.Invalid = None,
    drop_missing: options.DropMissing = False,
    seed: options.Seed = 0,
    subject: options.Subject = None,
    study_file: options.StudyFile = None,
    out: options.Out = None,
    overwrite: options.Overwrite = False,
    as_json: options.Json = False,
    separator: options.Separator = None,
    quote: options.Quote = None,
    encoding: options.Encoding = None,
    no_header: options.NoHeader = False,
    names: options.Names = None,
    strip: options.Strip = False,
    types: options.Types = None,
) -> None:
    """Protect a release: k-anonymity, l-diversity, t-closeness or Anatomy, at the least loss; then measure again.

    Example: glasshouse anonymise adult.csv -q age -q sex -s occupation --k 5 --suppression 0.04 --out protected

    The release is protected/release.csv; glasshouse assess protected assesses it.
    """
    from glasshouse.cli.protected import show_protected
    from glasshouse.runs import Means, check_place, write_run
    from glasshouse.runs.anonymise import run_anonymise
    from glasshouse.sources import existing_file
    from glasshouse.study import make_study

    if study_file is not None:
        asking.refuse_beside_study(context, allowed=HOW_TO_RUN)
        study = asking.study_of(study_file, command="anonymise")
    else:
        if file is None:
            raise StudyError(text("name the file to protect, or a study with --study"))
        if not quasi_identifiers:
            raise StudyError(text("say what an adversary can know: -q COLUMN, once or more"))
        dialect = options.dialect_content(separator, quote, encoding, no_header, names, strip)
        files = options.assignments(
            hierarchies, option="--hierarchy", form="COLUMN=FILE", first=True
        )
        content: dict[str, Any] = {
            "command": "anonymise",
            "datasets": [asking.dataset_content(file, dialect, types)],
            "adversary": asking.adversary_content(
                quasi_identifiers=quasi_identifiers, sensitive=sensitive, identifier=identifier
            ),
            "treatment": asking.treatment_content(where, invalid, drop_missing),
            "seed": seed,
            "subject": "person" if subject is None else subject,
            "protection": {
                "method": method or _method(k, l_value, t),
                "recoding": recoding,
                "k": k,
                "l": l_value,
                "diversity": diversity,
                "c": c_value,
                "t": t,
                "closeness": closeness,
                "highest_risk": highest_risk,
                "average_risk": average_risk,
                "inference_risk": inference_risk,
                "suppression": suppression,
                "hierarchies": {column: Path(path) for column, path in files.items()},
                "objective": objective,
                "importance": _weights(importance),
                "time_limit": time_limit,
                "keep": keep or [],
                "keep_order": keep_order,
            },
        }
        study = make_study(content, where="anonymise")
    existing_file(study.datasets[0].path)
    if out is not None:
        check_place(out, overwrite=overwrite)
    with progress() as watch:
        done = run_anonymise(study, means=Means(watch))
    report = None if out is None else write_run(done, out, overwrite=overwrite)
    show_protected(done, report, as_json=as_json)


def _method(k: int | None, l_value: int | None, t: float | None) -> str:
    """Return the method that the parameters speak of."""
    if t is not None:
        return "t-closeness"
    if l_value is not None:
        return "l-diversity"
    return "risk" if k is None else "k-anonymity"


def _weights(given: list[str] | None) -> dict[str, float]:
    """Return how much each column weighs."""
    found = {}
    for column, weight in options.assignments(
        given, option="--importance", form="COLUMN=NUMBER"
    ).items():
        try:
            found[column] = float(weight)
        except ValueError:
            raise StudyError(
                text(
                    '{option}="{given}" is no number', option=f"--importance {column}", given=weight
                )
            ) from None
    return found
