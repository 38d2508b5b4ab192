"""``glasshouse deter``: would a rational adversary attack, how far, and what would stop her."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from glasshouse.cli import asking, options
from glasshouse.errors import StudyError
from glasshouse.language import text

HOW_TO_RUN = {"out", "overwrite", "as_json", "per_record"}
TERMS, PEOPLE = "The terms of the attack", "The people"


def _amount(name: str, meaning: str) -> Any:
    return typer.Option(name, metavar="X", help=meaning, rich_help_panel=TERMS)


def deter(
    context: typer.Context,
    prior: Annotated[
        float | None,
        _amount("--prior", r"The probability that the target is in the register. \[default: 0.63]"),
    ] = None,
    gain: Annotated[
        float | None,
        _amount("--gain", r"What a re-identification is worth to her. \[default: 8000]"),
    ] = None,
    penalty: Annotated[
        float | None,
        _amount("--penalty", r"What she pays when she is detected. \[default: 10000]"),
    ] = None,
    access_cost: Annotated[
        float | None,
        _amount("--access-cost", r"What access to the register costs. \[default: 100]"),
    ] = None,
    link_cost: Annotated[
        float | None, _amount("--link-cost", r"What linking a record costs. \[default: 0]")
    ] = None,
    exploit_cost: Annotated[
        float | None, _amount("--exploit-cost", r"What it costs to try one person. \[default: 10]")
    ] = None,
    detection: Annotated[
        tuple[float, float] | None,
        typer.Option(
            "--detection",
            metavar="H0 H1",
            help="The try after j others is detected with probability 1/(1+exp(-H0-H1*j)). "
            r"\[default: -4.59 0, that is 1 %]",
            rich_help_panel=TERMS,
        ),
    ] = None,
    penalties: Annotated[
        str,
        typer.Option(
            "--penalties",
            metavar="N|unlimited",
            help="How many penalties she pays at most.",
            rich_help_panel=TERMS,
        ),
    ] = "unlimited",
    discount: Annotated[
        float | None,
        _amount("--discount", r"What a step later is worth beside now. \[default: 0.9]"),
    ] = None,
    sizes: Annotated[
        str | None,
        typer.Option(
            "--sizes",
            metavar="A:B",
            help=r"The sizes of groups to show. \[default: 1:100, or to --belief]",
            rich_help_panel=PEOPLE,
        ),
    ] = None,
    belief: Annotated[
        int | None,
        typer.Option(
            "--belief",
            metavar="N",
            help="She does not know the size of a group, only that the register holds N people.",
            rich_help_panel=PEOPLE,
        ),
    ] = None,
    protect: Annotated[
        int,
        typer.Option(
            "--protect",
            metavar="SIZE",
            help="The size of the group for which deterrents are designed.",
            rich_help_panel=PEOPLE,
        ),
    ] = 1,
    target: Annotated[
        float,
        typer.Option(
            "--target",
            metavar="P",
            help="The risk that a deterrent is to reach.",
            rich_help_panel=PEOPLE,
        ),
    ] = 0.0,
    release: Annotated[
        Path | None,
        typer.Option(
            "--release",
            metavar="FILE",
            help="The de-identified records: tells the risk of each.",
            rich_help_panel=PEOPLE,
        ),
    ] = None,
    register: Annotated[
        Path | None,
        typer.Option(
            "--register",
            metavar="FILE",
            help="The people that they can be linked with.",
            rich_help_panel=PEOPLE,
        ),
    ] = None,
    population: Annotated[
        Path | None,
        typer.Option(
            "--population",
            metavar="FILE",
            help="Everybody, where she does not know the register; without --register, --belief says its size.",
            rich_help_panel=PEOPLE,
        ),
    ] = None,
    quasi_identifiers: options.QuasiIdentifiers = None,
    loss: Annotated[
        float | None,
        typer.Option(
            "--loss",
            metavar="X",
            help="What a re-identified record costs the publisher.",
            rich_help_panel=PEOPLE,
        ),
    ] = None,
    loss_by: Annotated[
        list[str] | None,
        typer.Option(
            "--loss-by",
            metavar="COL:VALUE=X,…",
            help="The same by the value of a column; other values cost what --loss says.",
            rich_help_panel=PEOPLE,
        ),
    ] = None,
    per_record: options.PerRecord = None,
    currency: options.Currency = None,
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
    """Would a rational adversary attack, how far would she go, and which price, penalty or group size deters her.

    Example: glasshouse deter --gain 8000 --penalty 10000 --access-cost 100 --sizes 1:100

    Of a release: glasshouse deter --release sample.csv --register voters.csv -q age -q gender -q zip
    """
    from glasshouse.cli.deterred import show_deterred
    from glasshouse.cli.progress import progress
    from glasshouse.runs import Means, check_place, write_run
    from glasshouse.runs.deter import run_deter
    from glasshouse.sources import existing_file
    from glasshouse.study import paths_of, validated
    from glasshouse.study.deter import DeterStudy
    from glasshouse.study.files import load_question

    if study_file is not None:
        asking.refuse_beside_study(context, allowed=HOW_TO_RUN)
        study = load_question(study_file, DeterStudy)
    else:
        dialect = options.dialect_content(separator, quote, encoding, no_header, names, strip)
        study = validated(
            DeterStudy,
            {
                "prior": prior,
                "gain": gain,
                "penalty": penalty,
                "access_cost": access_cost,
                "link_cost": link_cost,
                "exploit_cost": exploit_cost,
                "detection": detection,
                "penalties": _penalties(penalties),
                "discount": discount,
                "sizes": None if sizes is None else _range(sizes),
                "belief": belief,
                "target": target,
                "protect": protect,
                "release": release and asking.dataset_content(release, dialect, types),
                "people": register and asking.dataset_content(register, dialect, types),
                "quasi_identifiers": quasi_identifiers or [],
                "population": population and asking.dataset_content(population, dialect, types),
                "loss": loss,
                "loss_by": asking.numbers(loss_by, option="--loss-by"),
                "currency": currency,
                "subject": "person" if subject is None else subject,
            },
            "deter",
        )
    for path in paths_of(study):
        existing_file(path)
    if per_record is not None and study.release is None:
        raise StudyError(
            text("--per-record is about the records of a release; give --release FILE")
        )
    if per_record is not None:
        asking.check_records_file(per_record, paths_of(study), overwrite=overwrite)
    if out is not None:
        check_place(out, overwrite=overwrite)
    with progress() as watch:
        done = run_deter(study, means=Means(watch))
    report = None if out is None else write_run(done, out, overwrite=overwrite)
    if per_record is not None and done.exposure is not None:
        asking.write_records(done.exposure.records_frame(), per_record)
    show_deterred(done, report, as_json=as_json)


def _penalties(given: str) -> int | str:
    if given == "unlimited":
        return given
    try:
        return int(given)
    except ValueError:
        raise StudyError(
            text(
                '--penalties is "{given}"; give a whole number from 0 on, or "unlimited"',
                given=given,
            )
        ) from None


def _range(given: str) -> tuple[int, int]:
    low, colon, high = given.partition(":")
    try:
        return int(low), int(high if colon else low)
    except ValueError:
        raise StudyError(
            text('--sizes "{given}" is no range of sizes; say for example 1:100', given=given)
        ) from None
