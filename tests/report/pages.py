"""Pages for the tests of how reports are shown: small, with every kind of block, and that of 2,047 subsets."""

from __future__ import annotations

from functools import cache

import pyarrow as pa

from glasshouse import synthetic
from glasshouse.language import speaking
from glasshouse.microdata import Assessment, Sweep, assess, sweep
from glasshouse.report import Page, Provenance, vega
from glasshouse.report.assess.page import assessment_page
from glasshouse.report.charts import TARGETS, figure_of, wrapped
from glasshouse.report.inspect.page import page
from glasshouse.report.page import (
    Cell,
    Column,
    Figure,
    Finding,
    Group,
    Section,
    Severity,
    Table,
    Term,
)
from glasshouse.table import read, table_profile
from glasshouse.table.profiles import identifying

PROVENANCE = Provenance(
    version="1.2.3",
    study='command = "assess"\nsubject = "student"\n',
    datasets=("students.csv",),
    seed=7,
    libraries={"Python": "3.11", "numpy": "2.0"},
)
HOSTILE = (
    "<script>alert(1)</script>",
    '"><img src=x onerror=alert(1)>',
    "a\nb\r\nc",
    "\u202eevil\u200f",
    "{{7*7}}{% raw %}",
    "#panic(1) [b] *c* _d_ $e$ \\f `g` @h //i = j",
    "ends in \\",
    "学校 🙂 مدرسة \U000f0000",
    "'+alert(1)+'",
    "x" * 200,
)
"""Names of columns that a report must show as text."""


@cache
def small_page(language: str, column: str = "school") -> Page:
    """Return the report of a few records."""
    values = [f"school {number % 3}" for number in range(60)]
    ages = [str(10 + number % 17) for number in range(60)]
    secret = ["no" if number % 4 else "yes" for number in range(60)]
    table = read(
        pa.table({column: values, "age": ages, "disability": secret}),
        quasi_identifiers=[column, "age"],
        sensitive=["disability"],
    )
    with speaking(language):
        return assessment_page(assess(table), subject="student", provenance=PROVENANCE)


@cache
def census() -> tuple[Assessment, Sweep]:
    """Return what all 2,047 subsets of a synthetic census's quasi-identifiers give."""
    generator = synthetic.generator("school-census")
    table = read(
        pa.Table.from_batches(generator.batches(5_000, seed=1), generator.schema),
        quasi_identifiers=generator.quasi_identifiers,
        sensitive=generator.sensitive,
        name="school-census.csv",
    )
    swept = sweep(table)
    return Assessment.of_sweep(swept), swept


@cache
def census_page(language: str) -> Page:
    """Return the report of all 2,047 subsets."""
    assessment, swept = census()
    with speaking(language):
        return assessment_page(assessment, subject="student", provenance=PROVENANCE, sweep=swept)


def inspect_page(language: str, column: str = "sexo") -> Page:
    """Return the page on what a file of a few hundred people holds."""
    people = range(400)
    table = read(
        pa.table(
            {
                column: ["MF"[place % 2] for place in people],
                "idade": [str(18 + place * 7 % 60) for place in people],
                "cep": [f"{35700 + place % 89}-000" for place in people],
                "renda": [f"{place % 25},50" for place in people],
            }
        ),
        name="people.csv",
    )
    names = [column, "idade", "cep"]
    with speaking(language):
        return page(
            table_profile(table),
            identifying(table, names),
            assumptions=[f"cp1252 for {column} (--encoding)"],
            command="glasshouse inspect people.csv --out inspect.html",
            provenance=Provenance("1.2.3", "", ()),
        )


def every_block(name: str = "municipality") -> Page:
    """Return a page with every kind of block, in which a name stands wherever one can."""
    return Page(
        title=f"What {name} lets an adversary learn",
        lead=f"1,234 records of {name}",
        findings=tuple(
            Finding(
                severity,
                f"Someone who knows a person's {name} can name 23 of every 100.",
                figure=f"{name}: prior 0.001 (1/1,000), posterior 0.23 (23/100)",
                meaning=f"Whoever is named by {name} has all the rest of the record read as well.",
                remedy=f"Publish less detail of {name}.",
            )
            for severity in Severity
        ),
        adversary=(f"She knows {name} exactly.", "She knows how the release was made."),
        limits=(f"Every figure of {name} is exact.",),
        provenance=PROVENANCE,
        command=f"glasshouse assess --study study.toml --note '{name}'",
        method=f"Somebody 2022, “On {name}”",
        figures=(_figure(name),),
        sections=(_section(name),),
        glossary=(Term(name, f"What {name} means."), Term("class", "All records alike.")),
    )


def _figure(name: str) -> Figure:
    rows = [
        {"what": f"{name} {place}", "share": 12.5 * place, "kind": f"kind {place} of {name}"}
        for place in range(1, 8)
    ]
    chart = (
        vega.Chart(rows)
        .mark_point(filled=True, size=140, opacity=1)
        .encode(
            x=vega.X("share:Q", title=f"share of {name} (%)"),
            y=vega.Y("what:N", title=name),
            color=vega.Color(
                "kind:N",
                title=None,
                legend=vega.Legend(columns=3),
                scale=vega.Scale(range=[colour for colour, _ in TARGETS]),
            ),
        )
        .properties(width=600, title=vega.Title(wrapped(f"Half of {name} is told")))
    )
    table = Table(
        (Column(name), Column("share", numeric=True)),
        (Group(tuple((Cell(str(row["what"])), Cell(str(row["share"]))) for row in rows)),),
    )
    return figure_of(chart, label=f"Shares of {name}", caption=f"Each dot: {name}.", table=table)


def _section(name: str) -> Section:
    wide = Table(
        (
            Column(name),
            Column("share", numeric=True, under=f"naming by {name}"),
            Column("change", numeric=True, under=f"naming by {name}"),
            Column("share", numeric=True, under="guessing"),
            *(Column(f"measure {place}", numeric=True) for place in range(1, 6)),
        ),
        (
            Group(
                title=f"She knows {name}",
                note="5 classes, 2 unique records",
                rows=tuple(
                    (
                        Cell(f"{name}, age", mark="CRS"),
                        *(Cell(f"{place}.{row:03d}", exact="1/3") for place in range(8)),
                    )
                    for row in range(12)
                ),
            ),
        ),
    )
    plain = Table((Column("Alone"),), (Group(((Cell(name, exact=name),),)),), title=f"More {name}")
    return Section(
        f"The figures of {name}",
        intro=f"Above the tables of {name}.",
        tables=(wide, plain),
        notes=(f"Below the tables of {name}.",),
    )
