"""``glasshouse demo``: the main job on an embedded synthetic census."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from glasshouse.cli import options
from glasshouse.errors import DataError
from glasshouse.language import text

DATA = "school-census.csv"
RECORDS = 100_000
SEED = 2018
KNOWN = (
    "day_of_birth",
    "month_of_birth",
    "year_of_birth",
    "gender",
    "ethnicity",
    "city_of_birth",
    "school",
)


def demo(
    out: Annotated[
        Path, typer.Option("--out", metavar="DIR", help="Where the data and the run are written.")
    ] = Path("glasshouse-demo"),
    as_json: options.Json = False,
) -> None:
    """The whole story on a synthetic school census: no data of yours, no set-up.

    Writes 100,000 synthetic students, assesses what someone who knows a student's birth date, gender and
    school can find out, and names the report.
    """
    from glasshouse import synthetic
    from glasshouse.atomic import cannot_write
    from glasshouse.cli.assess import carry_out
    from glasshouse.runs import check_place
    from glasshouse.study import make_study

    census = synthetic.generator("school-census")
    check_place(out / "run", overwrite=True)
    if (out / DATA).exists() and not (out / "run").exists():
        raise DataError(
            text(
                '"{path}" exists and is not of a demo; choose another folder with --out',
                path=out / DATA,
            )
        )
    try:
        out.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise cannot_write(out, error) from None
    data = synthetic.write(census.name, records=RECORDS, seed=SEED, path=out / DATA)
    study = make_study(
        {
            "datasets": [{"path": data}],
            "adversary": {"quasi_identifiers": KNOWN, "sensitive": census.sensitive},
            "subsets": ["all"],
            "subject": "student",
        }
    )
    carry_out(study, out=out / "run", overwrite=True, as_json=as_json)
