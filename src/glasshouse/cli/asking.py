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
from glasshouse.language import text, translated

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
            raise StudyError(
                text(
                    "--study says it all: leave out {given}, or write it into the study",
                    given=option if option.startswith("-") else text("the file"),
                )
            )


def given_options(context: typer.Context) -> Iterator[tuple[str, str]]:
    """Yield what was typed on the command line: the name of each parameter, and what the user calls it.

    The options that every command has, such as ``--lang``, ask nothing of it and are left out.
    """
    for parameter in context.command.params:
        if parameter.expose_value and was_typed(context, str(parameter.name)):
            yield str(parameter.name), parameter.opts[0]


def was_typed(context: Any, name: str) -> bool:
    """Tell whether a parameter was given on the command line, after this command."""
    source = context.get_parameter_source(name)
    return source is not None and source.name == "COMMANDLINE"


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
        "sensitive": [_one_or_several(names) for names in sensitive or []],
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
                text("stopped; the same command with --resume goes on from here")
            ) from None
        raise


def check_new_file(path: Path, data: Iterable[Path], *, overwrite: bool) -> None:
    """Make sure that a file written beside a run destroys nothing.

    Raises:
        DataError: It is the data itself, or there and not to be overwritten.
    """
    if path.exists() and any(path.samefile(own) for own in data):
        raise DataError(text('"{path}" is the data itself; choose another place', path=path))
    if path.exists() and not overwrite:
        raise DataError(
            text('"{path}" exists; choose another place, or say --overwrite', path=path)
        )


def check_records_file(path: Path, data: Iterable[Path], *, overwrite: bool) -> None:
    """Make sure that a file with what is known of every record destroys nothing, and is named as what it will be.

    Raises:
        DataError: It is the data itself, or there and not to be overwritten, or named as another kind of file.
    """
    if path.suffix != ".parquet":
        raise DataError(
            text('"{path}" is written as Parquet; give a name that ends in .parquet', path=path)
        )
    check_new_file(path, data, overwrite=overwrite)


def write_records(frame: pa.Table, path: Path) -> None:
    """Write what is known of every record as Parquet, whole or not at all, and warn that it is about people."""
    import pyarrow.parquet

    from glasshouse.atomic import new_file

    with new_file(path) as draft:
        pyarrow.parquet.write_table(frame, draft)
    warn_of_people(path)


def warn_of_people(path: Path) -> None:
    """Say that a file with the risk of every record is about people."""
    from glasshouse.microdata.assessment import SENSITIVE_WARNING

    print(f"{printable(str(path))}: {translated(SENSITIVE_WARNING)}", file=sys.stderr)


def _one_or_several(listed: str) -> str | list[str]:
    names = options.listed(listed)
    return names[0] if len(names) == 1 else names


def _joint(listed: str) -> str:
    """Return the name of a secret as a study has it: ``a,b`` as ``a+b``."""
    return "+".join(options.listed(listed))


def numbers(given: list[str] | None, *, option: str) -> dict[str, dict[str, float]]:
    """Return what ``COLUMN:VALUE=NUMBER,VALUE=NUMBER`` options say."""
    form = "COLUMN:VALUE=NUMBER,VALUE=NUMBER"
    content: dict[str, dict[str, float]] = {}
    for each in given or []:
        name, colon, pairs = each.partition(":")
        if not colon:
            raise StudyError(options.not_of_the_form(each, option=option, form=form))
        numbers = options.assignments(options.listed(pairs), option=option, form=form)
        for value, number in numbers.items():
            try:
                exact = Decimal(number)
                content.setdefault(_joint(name), {})[value] = (
                    int(exact) if exact == int(exact) else float(exact)
                )
            except (ArithmeticError, ValueError):
                raise StudyError(
                    text(
                        '{option}: "{number}" of {place} is not a number',
                        option=option,
                        number=number,
                        place=f"{name}:{value}",
                    )
                ) from None
    return content
