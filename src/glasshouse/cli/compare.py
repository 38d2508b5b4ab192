"""``glasshouse compare``: protected releases beside the original, and runs of the same command side by side."""

from __future__ import annotations

import json
import shlex
from itertools import product
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from glasshouse.cli import asking, options
from glasshouse.cli.anonymise import PROTECTION
from glasshouse.cli.progress import progress
from glasshouse.errors import DataError, StudyError
from glasshouse.language import text

if TYPE_CHECKING:
    from glasshouse.study import Study


def compare(
    context: typer.Context,
    paths: Annotated[
        list[Path],
        typer.Argument(
            metavar="RUN",
            help="Folders of runs of the same command; or one file, protected in several ways.",
        ),
    ],
    quasi_identifiers: options.QuasiIdentifiers = None,
    sensitive: options.Sensitive = None,
    recoding: Annotated[
        str,
        typer.Option("--recoding", metavar="global|local|mondrian", rich_help_panel=PROTECTION),
    ] = "global",
    k: Annotated[
        str | None,
        typer.Option(
            "--k", metavar="N,N…", help="One release for each.", rich_help_panel=PROTECTION
        ),
    ] = None,
    l_values: Annotated[
        str | None,
        typer.Option("--l", metavar="N,N…", help="The same.", rich_help_panel=PROTECTION),
    ] = None,
    t: Annotated[
        str | None,
        typer.Option("--t", metavar="X,X…", help="The same.", rich_help_panel=PROTECTION),
    ] = None,
    suppression: Annotated[
        float, typer.Option("--suppression", metavar="SHARE", rich_help_panel=PROTECTION)
    ] = 0.0,
    hierarchies: Annotated[
        list[str] | None,
        typer.Option("--hierarchy", metavar="COL=FILE", rich_help_panel=PROTECTION),
    ] = None,
    predict: Annotated[
        str | None,
        typer.Option(
            "--predict",
            metavar="COL",
            help="Also tell how well a classifier that learned from each release predicts this column (extra learn).",
        ),
    ] = None,
    fraction: options.Fraction = None,
    subject: options.Subject = None,
    out: Annotated[
        Path | None,
        typer.Option(
            "--out",
            metavar="DIR",
            help="Write a folder: manifest.json, results.parquet, report.html.",
        ),
    ] = None,
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
    """Protected releases beside the original, or runs side by side: what got worse, what got better.

    Example: glasshouse compare adult.csv -q age -q sex -s occupation --k 2,5,10,20 --suppression 0.04

    Releases that exist (runs of anonymise): glasshouse compare protected5 protected20

    Runs of assess, threat, deter or totals, this year against last: glasshouse compare run2018 run2019 --out changes
    """
    from glasshouse.cli.protected import show_comparison
    from glasshouse.runs import Means, check_place
    from glasshouse.runs.comparing import compare_runs, compare_studies, write_comparison
    from glasshouse.sources import existing_file

    if out is not None:
        check_place(out, overwrite=overwrite)
    if len(paths) > 1:
        _check_folders(paths)
    if all(path.is_dir() for path in paths) and not _are_releases(paths):
        _put_side_by_side(context, paths, out, overwrite=overwrite, as_json=as_json)
        return
    if all(path.is_dir() for path in paths):
        _refuse_beside_folders(context, {"fraction", "predict"})
        with progress() as watch:
            run = compare_runs(paths, fraction=fraction, predict=predict, means=Means(watch))
    else:
        if len(paths) > 1:
            raise StudyError(
                text("name one file to protect in several ways, or only folders of runs")
            )
        existing_file(paths[0])
        if not quasi_identifiers:
            raise StudyError(text("say what an adversary can know: -q COLUMN, once or more"))
        dialect = options.dialect_content(separator, quote, encoding, no_header, names, strip)
        content: dict[str, Any] = {
            "command": "anonymise",
            "datasets": [asking.dataset_content(paths[0], dialect, types)],
            "adversary": asking.adversary_content(
                quasi_identifiers=quasi_identifiers, sensitive=sensitive
            ),
            "subject": "person" if subject is None else subject,
        }
        files = options.assignments(
            hierarchies, option="--hierarchy", form="COLUMN=FILE", first=True
        )
        common = {
            "recoding": recoding,
            "suppression": suppression,
            "hierarchies": {column: Path(path) for column, path in files.items()},
        }
        promised = _combinations({"k": k, "l": l_values, "t": t})
        studies = [_study(content, common | dict(parameters)) for parameters in promised]
        called = [", ".join(f"{name} = {value:.15g}" for name, value in each) for each in promised]
        with progress() as watch:
            run = compare_studies(
                studies, called, fraction=fraction, predict=predict, means=Means(watch)
            )
    asked = _asked(quasi_identifiers, sensitive, k, l_values, t)
    asked |= {"--fraction": fraction, "--predict": predict}
    if paths[0].is_file():
        places = options.assignments(
            hierarchies, option="--hierarchy", form="COLUMN=FILE", first=True
        )
        asked |= {"--recoding": recoding, "--suppression": suppression}
        asked["--hierarchy"] = [f"{column}={Path(file).name}" for column, file in places.items()]
    command = _command(paths, asked)
    report = (
        None if out is None else write_comparison(run, out, command=command, overwrite=overwrite)
    )
    if as_json:
        print(json.dumps(run.outcome.to_dict(), indent=2))
    else:
        show_comparison(run.outcome, report)


def _check_folders(paths: list[Path]) -> None:
    """Make sure that each of several is there.

    Raises:
        DataError: One is not.
    """
    for path in paths:
        if not path.exists():
            raise DataError(
                text('there is no folder "{folder}"; name the folder of a run', folder=path)
            )


def _are_releases(folders: list[Path]) -> bool:
    """Tell whether all folders are of runs that made a release.

    Raises:
        DataError: One holds no run.
    """
    from glasshouse.runs.stored import command_of

    return all(command == "anonymise" for command in [command_of(folder) for folder in folders])


def _put_side_by_side(
    context: typer.Context, folders: list[Path], out: Path | None, *, overwrite: bool, as_json: bool
) -> None:
    """Compare runs of the same command by what they found."""
    from glasshouse.cli.compared import show_side_by_side
    from glasshouse.runs.side_by_side import side_by_side, write_side_by_side

    _refuse_beside_folders(context, set())
    outcome = side_by_side(folders)
    report = None
    if out is not None:
        command = _command(folders, {})
        report = write_side_by_side(outcome, out, command=command, overwrite=overwrite)
    show_side_by_side(outcome, report, as_json=as_json)


def _refuse_beside_folders(context: typer.Context, further: set[str]) -> None:
    """Make sure that nothing is asked that the folders say.

    Args:
        context: What was typed.
        further: What may be asked besides where the outcome goes.
    """
    allowed = {"paths", "out", "overwrite", "as_json", "language", "smallest_cell", *further}
    for name, option in asking.given_options(context):
        if name not in allowed:
            raise StudyError(
                text("what was promised is in the folders; leave out {option}", option=option)
            )


def _asked(
    quasi_identifiers: list[str] | None,
    sensitive: list[str] | None,
    k: str | None,
    l_values: str | None,
    t: str | None,
) -> dict[str, Any]:
    return {"-q": quasi_identifiers, "-s": sensitive, "--k": k, "--l": l_values, "--t": t}


def _command(paths: list[Path], asked: dict[str, Any]) -> str:
    """Return the command in short, without the places of files, for a report that leaves the house."""
    parts = ["glasshouse", "compare", *(path.name for path in paths)]
    for flag, given in asked.items():
        for value in given if isinstance(given, list) else [given]:
            parts += [] if value is None else [flag, str(value)]
    return shlex.join(parts)


def _combinations(lists: dict[str, str | None]) -> list[tuple[tuple[str, float], ...]]:
    """Return every combination of the parameters that are given."""
    given = {name: _numbers(name, each) for name, each in lists.items() if each is not None}
    if not given:
        raise StudyError(
            text("say what to promise: --k, --l or --t, one number or several with commas")
        )
    return [tuple(zip(given, values, strict=True)) for values in product(*given.values())]


def _numbers(name: str, given: str) -> list[float]:
    try:
        return [float(part) if name == "t" else int(part) for part in given.split(",")]
    except ValueError:
        raise StudyError(
            text('{option} "{given}" is no list of numbers', option=f"--{name}", given=given)
        ) from None


def _study(content: dict[str, Any], protection: dict[str, Any]) -> Study:
    from glasshouse.study import make_study

    methods = {"t": "t-closeness", "l": "l-diversity", "k": "k-anonymity"}
    method = next(said for name, said in methods.items() if name in protection)
    return make_study(content | {"protection": protection | {"method": method}}, where="compare")
