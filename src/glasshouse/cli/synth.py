"""``glasshouse synth``: synthetic releases, calibrated to published figures."""

from __future__ import annotations

from pathlib import Path

from glasshouse.cli import options
from glasshouse.cli.command import check_new_file
from glasshouse.errors import StudyError
from glasshouse.language import text, text_for, translated


def synth(
    name: str = options.argument(
        "NAME",
        "The generator: school-census, outpatient, population, visits, trade or tables.",
        default=...,
    ),
    records: int = options.option("--records", "N", "How many records.", default=...),
    out: Path = options.option(
        "--out",
        "FILE",
        "A .parquet, .csv or .csv.gz file; of trade and tables a new folder.",
        default=...,
    ),
    of_tables: str = options.option(
        "--protection",
        "none|suppressed:N|rounding:N|random:N",
        "Of tables: whether counts from 1 to N are suppressed, or all rounded to multiples of N.",
        default="none",
    ),
    seed: int = options.option("--seed", "S", "The same seed gives the same records.", default=0),
    overwrite: bool = options.option(
        "--overwrite", says="Replace the file if it is there.", default=False
    ),
) -> None:
    """Write a synthetic release that is shaped like a published one: no record describes a person.

    Example: glasshouse synth school-census --records 1000000 --out census.parquet
    """
    from glasshouse import synthetic

    if name == synthetic.TRADE:
        plan = synthetic.write_trade_study(out, records=records, seed=seed)
        written = text(
            "{path}: a synthetic month of foreign trade, {records} transactions, seed {seed}: publications, register, "
            "plan, and the truth",
            path=out,
            records=records,
            seed=str(seed),
        )
        print(written)
        print(text("Next: {command}", command=f"glasshouse totals campaign --study {plan}"))
        return
    if name == synthetic.TABLES:
        people = synthetic.table("school-census", records=records, seed=seed)
        plan = synthetic.write_census_tables(out, people, protection=of_tables, seed=seed)
        written = text(
            "{path}: tables of a synthetic school census of {records} people, seed {seed}: the tables, the plan, and "
            "the truth",
            path=out,
            records=records,
            seed=str(seed),
        )
        print(written)
        print(text("Next: {command}", command=f"glasshouse tables --study {plan}"))
        return
    if of_tables != "none":
        raise StudyError("--protection is about tables; leave it out, or say synth tables")
    check_new_file(out, (), overwrite=overwrite)
    generator = synthetic.generator(name)
    path = synthetic.write(name, records=records, path=out, seed=seed)
    written = text_for(
        records,
        "{path}: {count} record, seed {seed}. {title}",
        "{path}: {count} records, seed {seed}. {title}",
        path=path,
        seed=str(seed),
        title=translated(generator.title),
    )
    print(written)
    known = " ".join(f"-q {column}" for column in generator.quasi_identifiers)
    secrets = " ".join(f"-s {column}" for column in generator.sensitive)
    if generator.person:
        known = f"--person {generator.person} {known}"
        secrets = " ".join(f'-s "most {column}"' for column in generator.sensitive)
    print(text("Next: {command}", command=f"glasshouse assess {path} {known} {secrets}"))
