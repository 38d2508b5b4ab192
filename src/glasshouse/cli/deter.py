"""``glasshouse deter``: would a rational adversary attack, how far, and what would stop her."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from glasshouse.cli import options
from glasshouse.cli.command import carry_out, question
from glasshouse.cli.options import option
from glasshouse.errors import StudyError
from glasshouse.language import text

TERMS, PEOPLE = "The terms of the attack", "The people"


def _amount(name: str, meaning: str) -> Any:
    return option(name, shows="X", says=meaning, panel=TERMS)


def deter(
    context: typer.Context,
    *,
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
        option(
            "--detection",
            shows="H0 H1",
            says="The try after j others is detected with probability 1/(1+exp(-H0-H1*j)). "
            r"\[default: -4.59 0, that is 1 %]",
            panel=TERMS,
        ),
    ] = None,
    penalties: Annotated[
        str,
        option(
            "--penalties",
            shows="N|unlimited",
            says="How many penalties she pays at most.",
            panel=TERMS,
        ),
    ] = "unlimited",
    discount: Annotated[
        float | None,
        _amount("--discount", r"What a step later is worth beside now. \[default: 0.9]"),
    ] = None,
    sizes: Annotated[
        str | None,
        option(
            "--sizes",
            shows="A:B",
            says=r"The sizes of groups to show. \[default: 1:100, or to --belief]",
            panel=PEOPLE,
        ),
    ] = None,
    belief: Annotated[
        int | None,
        option(
            "--belief",
            shows="N",
            says="She does not know the size of a group, only that the register holds N people.",
            panel=PEOPLE,
        ),
    ] = None,
    protect: Annotated[
        int,
        option(
            "--protect",
            shows="SIZE",
            says="The size of the group for which deterrents are designed.",
            panel=PEOPLE,
        ),
    ] = 1,
    target: Annotated[
        float,
        option(
            "--target",
            shows="P",
            says="The risk that a deterrent is to reach.",
            panel=PEOPLE,
        ),
    ] = 0.0,
    release: Annotated[
        Path | None,
        option(
            "--release",
            shows="FILE",
            says="The de-identified records: tells the risk of each.",
            panel=PEOPLE,
        ),
    ] = None,
    register: Annotated[
        Path | None,
        option(
            "--register",
            shows="FILE",
            says="The people that they can be linked with.",
            panel=PEOPLE,
        ),
    ] = None,
    population: Annotated[
        Path | None,
        option(
            "--population",
            shows="FILE",
            says="Everybody, where she does not know the register; without --register, --belief says its size.",
            panel=PEOPLE,
        ),
    ] = None,
    quasi_identifiers: options.QuasiIdentifiers = None,
    loss: Annotated[
        float | None,
        option(
            "--loss",
            shows="X",
            says="What a re-identified record costs the publisher.",
            panel=PEOPLE,
        ),
    ] = None,
    loss_by: Annotated[
        list[str] | None,
        option(
            "--loss-by",
            shows="COL:VALUE=X,…",
            says="The same by the value of a column; other values cost what --loss says.",
            panel=PEOPLE,
        ),
    ] = None,
    per_record: options.PerRecord = None,
    currency: options.Currency = None,
    subject: options.Subject = "person",
    kept: options.RunOptions,
    reading: options.FileOptions,
) -> None:
    """Would a rational adversary attack, how far would she go, and which price, penalty or group size deters her.

    Example: glasshouse deter --gain 8000 --penalty 10000 --access-cost 100 --sizes 1:100

    Of a release: glasshouse deter --release sample.csv --register voters.csv -q age -q gender -q zip
    """
    from glasshouse.study.deter import DeterStudy

    def content() -> dict[str, Any]:
        return {
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
            "release": release and reading.dataset(release),
            "people": register and reading.dataset(register),
            "quasi_identifiers": quasi_identifiers or [],
            "population": population and reading.dataset(population),
            "loss": loss,
            "loss_by": options.numbers(loss_by, option="--loss-by"),
            "currency": currency,
            "subject": subject,
        }

    study = question(context, kept, DeterStudy, content)
    if per_record is not None and study.release is None:
        raise StudyError(
            text("--per-record is about the records of a release; give --release FILE")
        )
    carry_out(study, kept, per_record=per_record)


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
