"""``glasshouse anonymise``: a protected release, and what it still lets an adversary learn."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from glasshouse.cli import options
from glasshouse.cli.command import carry_out, question
from glasshouse.cli.options import option
from glasshouse.errors import StudyError
from glasshouse.language import text


def anonymise(
    context: typer.Context,
    *,
    file: Annotated[
        Path | None, typer.Argument(metavar="FILE", help="The data: CSV, Parquet or Arrow.")
    ] = None,
    quasi_identifiers: options.QuasiIdentifiers = None,
    sensitive: options.Sensitive = None,
    identifier: options.Identifier = None,
    method: Annotated[
        str | None,
        option(
            "--method",
            shows="k-anonymity|l-diversity|t-closeness|risk|anatomy",
            says=r"What is promised of every class of the release. \[default: what --k, --l, --t or a risk says]",
            panel=options.PROTECTION,
        ),
    ] = None,
    recoding: Annotated[
        str,
        option(
            "--recoding",
            shows="global|local|mondrian",
            says="A value is generalised alike everywhere, only as far as each class needs, or by median splits.",
            panel=options.PROTECTION,
        ),
    ] = "global",
    k: Annotated[
        int | None,
        option("--k", shows="N", says="Records alike.", panel=options.PROTECTION),
    ] = None,
    l_value: Annotated[
        int | None,
        option("--l", shows="N", says="Sensitive values of a class.", panel=options.PROTECTION),
    ] = None,
    diversity: Annotated[
        str,
        option("--diversity", shows="distinct|entropy|recursive", panel=options.PROTECTION),
    ] = "distinct",
    c_value: Annotated[
        float | None,
        option(
            "--c",
            shows="X",
            says="The factor of recursive (c, l)-diversity.",
            panel=options.PROTECTION,
        ),
    ] = None,
    t: Annotated[
        float | None,
        option(
            "--t",
            shows="X",
            says="How far a class may be from all records, 0 to 1.",
            panel=options.PROTECTION,
        ),
    ] = None,
    closeness: Annotated[
        str,
        option("--closeness", shows="equal|ordered|hierarchical", panel=options.PROTECTION),
    ] = "equal",
    highest_risk: Annotated[
        float | None,
        option(
            "--highest-risk",
            shows="P",
            says="Nobody is named with a greater chance.",
            panel=options.PROTECTION,
        ),
    ] = None,
    average_risk: Annotated[
        float | None,
        option(
            "--average-risk",
            shows="P",
            says="People are named with no greater chance on average.",
            panel=options.PROTECTION,
        ),
    ] = None,
    inference_risk: Annotated[
        float | None,
        option(
            "--inference-risk",
            shows="P",
            says="No sensitive value is guessed right with a greater chance in any class.",
            panel=options.PROTECTION,
        ),
    ] = None,
    suppression: Annotated[
        float,
        option(
            "--suppression",
            shows="SHARE",
            says="The largest share of records that may be suppressed, 0 to 1.",
            panel=options.PROTECTION,
        ),
    ] = 0.0,
    hierarchies: Annotated[
        list[str] | None,
        option(
            "--hierarchy",
            shows="COL=FILE",
            says="How the values of a column are generalised, a row per value. Repeatable. \\[default: suggested]",
            panel=options.PROTECTION,
        ),
    ] = None,
    objective: Annotated[
        str,
        option(
            "--objective",
            shows="loss|granularity|discernibility|average_class_size|non_uniform_entropy",
            says="What is kept as small as possible.",
            panel=options.PROTECTION,
        ),
    ] = "loss",
    importance: Annotated[
        list[str] | None,
        option(
            "--importance",
            shows="COL=N",
            says="How much the loss of a column weighs; 1 where nothing is said. Repeatable.",
            panel=options.PROTECTION,
        ),
    ] = None,
    time_limit: Annotated[
        float | None,
        option(
            "--time-limit",
            shows="SECONDS",
            says="Take the best found by then; without a proof, but with a bound.",
            panel=options.PROTECTION,
        ),
    ] = None,
    keep: Annotated[
        list[str] | None,
        option(
            "--keep",
            shows="COL",
            says="Release a further column as it is; what is neither -q, -s nor kept is left out. Repeatable.",
            panel=options.PROTECTION,
        ),
    ] = None,
    keep_order: Annotated[
        bool,
        option(
            "--keep-order",
            says="Leave the records in the order of the file. It may tell more than they do: by default it is random.",
            panel=options.PROTECTION,
        ),
    ] = False,
    treated: options.RecordOptions,
    seed: options.Seed = 0,
    subject: options.Subject = "person",
    kept: options.RunOptions,
    reading: options.FileOptions,
) -> None:
    """Protect a release: k-anonymity, l-diversity, t-closeness or Anatomy, at the least loss; then measure again.

    Example: glasshouse anonymise adult.csv -q age -q sex -s occupation --k 5 --suppression 0.04 --out protected

    The release is protected/release.csv; glasshouse assess protected assesses it.
    """
    from glasshouse.study.anonymise import AnonymiseStudy, method_of

    def content() -> dict[str, Any]:
        if file is None:
            raise StudyError(text("name the file to protect, or a study with --study"))
        if not quasi_identifiers:
            raise StudyError(text("say what an adversary can know: -q COLUMN, once or more"))
        return {
            "datasets": [reading.dataset(file)],
            "adversary": {
                "quasi_identifiers": quasi_identifiers,
                "sensitive": options.secrets(sensitive),
                "identifier": identifier,
            },
            "treatment": treated.content(),
            "seed": seed,
            "subject": subject,
            "protection": {
                "method": method or method_of(k=k, l=l_value, t=t),
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
                "hierarchies": options.paths(hierarchies, option="--hierarchy"),
                "objective": objective,
                "importance": _weights(importance),
                "time_limit": time_limit,
                "keep": keep or [],
                "keep_order": keep_order,
            },
        }

    carry_out(question(context, kept, AnonymiseStudy, content), kept)


def _weights(weights: list[str] | None) -> dict[str, float]:
    """Return how much each column weighs."""
    numbers = {}
    for column, weight in options.assignments(
        weights, option="--importance", form="COLUMN=NUMBER"
    ).items():
        try:
            numbers[column] = float(weight)
        except ValueError:
            raise StudyError(
                text(
                    '{option}="{given}" is no number', option=f"--importance {column}", given=weight
                )
            ) from None
    return numbers
