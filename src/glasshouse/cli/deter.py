"""``glasshouse deter``: would a rational adversary attack, how far, and what would stop her.

The words of its options stand beside its questions, in `glasshouse.study.deter`.
"""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Any

import typer

from glasshouse.cli import options
from glasshouse.cli.command import carry_out, question
from glasshouse.cli.options import asked
from glasshouse.errors import StudyError

_asked = partial(asked, "deter.DeterStudy")


def deter(
    context: typer.Context,
    *,
    prior: float | None = _asked(),
    gain: float | None = _asked(),
    penalty: float | None = _asked(),
    access_cost: float | None = _asked(),
    link_cost: float | None = _asked(),
    exploit_cost: float | None = _asked(),
    detection: tuple[float, float] | None = _asked(),
    penalties: str = _asked(default="unlimited"),
    discount: float | None = _asked(),
    sizes: str | None = _asked(),
    belief: int | None = _asked(),
    protect: int = _asked(default=1),
    target: float = _asked(default=0.0),
    release: Path | None = _asked(),
    register: Path | None = _asked("people", flags="--register"),
    population: Path | None = _asked(),
    quasi_identifiers: options.QuasiIdentifiers = None,
    loss: float | None = _asked(),
    loss_by: list[str] | None = _asked(),
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
            '--penalties is "{given}"; give a whole number from 0 on, or "unlimited"', given=written
        ) from None


def _range(written: str) -> tuple[int, int]:
    low, colon, high = written.partition(":")
    try:
        return int(low), int(high if colon else low)
    except ValueError:
        raise StudyError(
            '--sizes "{given}" is not a range of sizes; say for example 1:100', given=written
        ) from None
