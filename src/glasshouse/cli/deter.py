"""``glasshouse deter``: would a rational adversary attack, how far, and what would stop her."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Any

import typer

from glasshouse.cli import options
from glasshouse.cli.command import carry_out, question
from glasshouse.cli.options import option
from glasshouse.errors import StudyError

_term = partial(option, panel="The terms of the attack")
_people = partial(option, panel="The people")


def deter(
    context: typer.Context,
    *,
    prior: float | None = _term(
        "--prior", "X", r"The probability that the target is in the register. \[default: 0.63]"
    ),
    gain: float | None = _term(
        "--gain", "X", r"What a re-identification is worth to her. \[default: 8000]"
    ),
    penalty: float | None = _term(
        "--penalty", "X", r"What she pays when she is detected. \[default: 10000]"
    ),
    access_cost: float | None = _term(
        "--access-cost", "X", r"What access to the register costs. \[default: 100]"
    ),
    link_cost: float | None = _term(
        "--link-cost", "X", r"What linking a record costs. \[default: 0]"
    ),
    exploit_cost: float | None = _term(
        "--exploit-cost", "X", r"What it costs to try one person. \[default: 10]"
    ),
    detection: tuple[float, float] | None = _term(
        "--detection",
        "H0 H1",
        "The try after j others is detected with probability 1/(1+exp(-H0-H1*j)). "
        r"\[default: -4.59 0, that is 1%]",
    ),
    penalties: str = _term(
        "--penalties", "N|unlimited", "How many penalties she pays at most.", default="unlimited"
    ),
    discount: float | None = _term(
        "--discount", "X", r"What a step later is worth beside now. \[default: 0.9]"
    ),
    sizes: str | None = _people(
        "--sizes", "A:B", r"The sizes of groups to show. \[default: 1:100, or to --belief]"
    ),
    belief: int | None = _people(
        "--belief",
        "N",
        "She does not know the size of a group, only that the register holds N people.",
    ),
    protect: int = _people(
        "--protect", "SIZE", "The size of the group for which deterrents are designed.", default=1
    ),
    target: float = _people("--target", "P", "The risk that a deterrent is to reach.", default=0.0),
    release: Path | None = _people(
        "--release", "FILE", "The de-identified records: tells the risk of each."
    ),
    register: Path | None = _people(
        "--register", "FILE", "The people that they can be linked with."
    ),
    population: Path | None = _people(
        "--population",
        "FILE",
        "Everybody, where she does not know the register; without --register, --belief says its size.",
    ),
    quasi_identifiers: options.QuasiIdentifiers = None,
    loss: float | None = _people("--loss", "X", "What a re-identified record costs the publisher."),
    loss_by: list[str] | None = _people(
        "--loss-by",
        "COL:VALUE=X,…",
        "The same by the value of a column; other values cost what --loss says.",
    ),
    per_record: options.PerRecord = None,
    currency: options.Currency = None,
    subject: options.Subject = "person",
    output: options.RunOptions,
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

    study = question(context, output, DeterStudy, content)
    if per_record is not None and study.release is None:
        raise StudyError("--per-record is about the records of a release; give --release FILE")
    carry_out(study, output, per_record=per_record)


def _penalties(written: str) -> int | str:
    if written == "unlimited":
        return written
    try:
        return int(written)
    except ValueError:
        raise StudyError(
            '--penalties is "{given}"; give a whole number from 0 on, or "unlimited"',
            given=written,
        ) from None


def _range(written: str) -> tuple[int, int]:
    low, colon, high = written.partition(":")
    try:
        return int(low), int(high if colon else low)
    except ValueError:
        raise StudyError(
            '--sizes "{given}" is no range of sizes; say for example 1:100', given=written
        ) from None
