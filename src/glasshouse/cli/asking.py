"""From the options of a command to a study."""

from __future__ import annotations

import sys
from collections.abc import Collection, Iterable, Iterator, Sequence
from contextlib import contextmanager
from decimal import Decimal
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from glasshouse.cli import options
from glasshouse.errors import DataError, StoppedError, StudyError, printable

if TYPE_CHECKING:
    import pyarrow as pa

    from glasshouse.study import Study


def refuse_beside_study(context: typer.Context, *, allowed: Collection[str]) -> None:
    """Make sure that nothing is asked beside a study file.

    Raises:
        StudyError: An option is given that the study would have to say.
    """
    for name, option in given_options(context):
        if name not in {*allowed, "study_file"}:
            said = option if option.startswith("-") else "the file"
            raise StudyError(f"--study says it all: leave out {said}, or write it into the study")


def given_options(context: typer.Context) -> Iterator[tuple[str, str]]:
    """Yield what was typed on the command line: the name of each parameter, and what the user calls it."""
    for parameter in context.command.params:
        source = context.get_parameter_source(str(parameter.name))
        if source is not None and source.name == "COMMANDLINE":
            yield str(parameter.name), parameter.opts[0]


def study_of(path: Path, *, command: str) -> Study:
    """Read a study file for a command about microdata.

    Raises:
        StudyError: It is a study for another command.
    """
    from glasshouse.study import load_study
    from glasshouse.study.files import other_command

    study = load_study(path)
    if study.command != command:
        raise other_command(path, study.command)
    return study


def dataset_content(path: Path, dialect: dict[str, Any], types: list[str] | None) -> dict[str, Any]:
    """Return a file and how it is written down, as content of a study."""
    kinds = options.assignments(types, option="--type", form="COLUMN=TYPE")
    return {"path": path, "dialect": dialect, "types": kinds}


def adversary_content(
    *,
    quasi_identifiers: Sequence[str],
    sensitive: list[str] | None,
    facts: list[str] | None = None,
    identifier: str | None = None,
    weight: str | None = None,
    priors: list[str] | None = None,
    tries: int | None = None,
    worth: list[str] | None = None,
    matrices: list[str] | None = None,
    abstain: bool = False,
    record_worth: str | None = None,
    currency: str | None = None,
) -> dict[str, Any]:
    """Return the adversary that options describe, as content of a study."""
    named = options.assignments(facts, option="--fact", form="NAME=COLUMN,COLUMN", first=True)
    files = options.assignments(matrices, option="--gain", form="COLUMN=FILE", first=True)
    return {
        "quasi_identifiers": list(quasi_identifiers),
        "facts": {name: options.listed(columns) for name, columns in named.items()},
        "sensitive": [_one_or_several(text) for text in sensitive or []],
        "identifier": identifier,
        "weight": weight,
        "prior": numbers(priors, option="--prior"),
        "gain": {
            "tries": tries,
            "worth": numbers(worth, option="--worth"),
            "matrix": {_joint(name): Path(file) for name, file in files.items()},
            "abstain": abstain,
            "record_worth": record_worth,
            "currency": currency,
        },
    }


def treatment_content(
    where: list[str] | None,
    invalid: list[str] | None,
    drop_missing: bool,
    drop_suppressed: bool = False,
) -> dict[str, Any]:
    """Return which records belong to the study, as content of it."""
    return {
        "where": where or [],
        "invalid": invalid or [],
        "drop_missing": drop_missing,
        "drop_suppressed": drop_suppressed,
    }


@contextmanager
def resumable(kept: Path | None) -> Iterator[None]:
    """Say how to go on where a run that keeps its steps in a folder is stopped."""
    try:
        yield
    except KeyboardInterrupt:
        if kept is not None and kept.exists():
            raise StoppedError(
                "stopped; the same command with --resume goes on from here"
            ) from None
        raise


def check_new_file(path: Path, data: Iterable[Path], *, overwrite: bool) -> None:
    """Make sure that a file written beside a run destroys nothing.

    Raises:
        DataError: It is the data itself, or there and not to be overwritten.
    """
    if path.exists() and any(path.samefile(own) for own in data):
        raise DataError(f'"{path}" is the data itself; choose another place')
    if path.exists() and not overwrite:
        raise DataError(f'"{path}" exists; choose another place, or say --overwrite')


def write_records(frame: pa.Table, path: Path) -> None:
    """Write what is known of every record as Parquet, whole or not at all, and warn that it is about people."""
    import pyarrow.parquet

    from glasshouse.atomic import new_file

    with new_file(path) as draft:
        pyarrow.parquet.write_table(frame, draft)
    warn_of_people(path)


def warn_of_people(path: Path) -> None:
    """Say that a file with the risk of every record is about people."""
    from glasshouse.microdata.records import SENSITIVE_WARNING

    print(f"{printable(str(path))}: {SENSITIVE_WARNING}", file=sys.stderr)


def _one_or_several(text: str) -> str | list[str]:
    names = options.listed(text)
    return names[0] if len(names) == 1 else names


def _joint(text: str) -> str:
    """Return the name of a secret as a study has it: ``a,b`` as ``a+b``."""
    return "+".join(options.listed(text))


def numbers(texts: list[str] | None, *, option: str) -> dict[str, dict[str, float]]:
    """Return what ``COLUMN:VALUE=NUMBER,VALUE=NUMBER`` options say."""
    form = "COLUMN:VALUE=NUMBER,VALUE=NUMBER"
    content: dict[str, dict[str, float]] = {}
    for text in texts or []:
        name, colon, pairs = text.partition(":")
        if not colon:
            raise StudyError(f'{option} "{text}" is not of the form {form}')
        numbers = options.assignments(options.listed(pairs), option=option, form=form)
        for value, number in numbers.items():
            try:
                exact = Decimal(number)
                content.setdefault(_joint(name), {})[value] = (
                    int(exact) if exact == int(exact) else float(exact)
                )
            except (ArithmeticError, ValueError):
                raise StudyError(
                    f'{option}: "{number}" of {name}:{value} is not a number'
                ) from None
    return content
