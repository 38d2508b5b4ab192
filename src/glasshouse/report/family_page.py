"""The report of a family: releases side by side."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from glasshouse.microdata.family import Family
from glasshouse.report.document import METHOD
from glasshouse.report.families import (
    family_chart,
    family_rows,
    family_sentences,
    shown_parts,
    what_she_guesses,
)
from glasshouse.report.findings import SMALL_CLASS
from glasshouse.report.page import (
    Cell,
    Column,
    Figure,
    Group,
    Page,
    Provenance,
    Section,
    Table,
)
from glasshouse.report.transition import Assumptions, noted, spread
from glasshouse.report.treatment import treatment_section
from glasshouse.report.words import plural
from glasshouse.table.treatment import Step


def family_page(
    family: Family,
    *,
    subject: str,
    provenance: Provenance,
    treatment: Sequence[Step] = (),
    part: str = "part",
) -> Page:
    """Return the report of a family: sentences, a picture per target, and the parts side by side.

    Args:
        family: The releases.
        subject: What a record stands for.
        provenance: Where the figures come from.
        treatment: What was left out of the datasets.
        part: What a part is called, such as a state or a year.
    """
    shown = shown_parts(family)
    figures = [
        Figure.of(
            family_chart(family, target, part=part),
            label=f"Success of a guess, {what_she_guesses(target)}, part by part",
            caption="Before: she knows nothing of the person. Each further point is the best set of so many attributes.",
        )
        for target in (family.targets if shown.parts else ())
    ]
    sections = [
        Section(
            f"Part by part: {what_she_guesses(target)}",
            "In per cent: success before, and what the best set of so many attributes adds to it. "
            "▲ the highest of all parts, ▼ the lowest.",
            (_family_table(family, target),),
        )
        for target in (family.targets if shown.parts else ())
    ]
    sections.append(_correlations(family, part))
    done = treatment_section(treatment)
    sections += [] if done is None else [done]
    records = sum(each.records for each in family.parts)
    return Page(
        title=f"{len(family.parts):,} parts side by side",
        lead=f"{records:,} records",
        findings=noted(family_sentences(family, subject, part=part)),
        **spread(
            Assumptions(
                "Every part is a release of its own: the adversary knows to which part the person belongs, knows that the "
                "person's record is in it, and attacks that part alone. Every figure is an exact ratio of counts; "
                "correlations are over the parts, and say nothing of causes. Parts of fewer than "
                f"{SMALL_CLASS} records are left out of this report."
            )
        ),
        provenance=provenance,
        command="glasshouse assess --study study.toml",
        method="Gonze, Lemes, Almeida, Gonçalves and Alvim 2025, on the outpatient records of Brazil; the attacks: "
        + METHOD,
        figures=tuple(figures),
        sections=tuple(sections),
    )


def _family_table(family: Family, sensitive: str | None) -> Table:
    rows = family_rows(family, sensitive)
    sizes = [f"+ {cell['size']}" for cell in rows[0]["additive"]]
    columns = [Column("part"), Column("records", numeric=True), Column("before", numeric=True)]
    columns += [
        Column(size, numeric=True, under="what the best so many attributes add") for size in sizes
    ]
    return Table(
        tuple(columns),
        (
            Group(
                tuple(
                    (
                        Cell(row["part"]),
                        Cell(row["records"]),
                        *(_marked(figure) for figure in (row["prior"], *row["additive"])),
                    )
                    for row in rows
                )
            ),
        ),
    )


def _marked(figure: Mapping[str, Any]) -> Cell:
    mark = " ▲" if figure["highest"] else " ▼" if figure["lowest"] else ""
    return Cell(f"{figure['text']}{mark}")


def _correlations(family: Family, part: str) -> Section:
    """Return whether the parts that leak more are the larger ones, or those with the more uncertain secret."""

    def said(value: float | None) -> Cell:
        return Cell("–" if value is None else f"{value:+.2f}")

    groups = [
        Group(
            tuple(
                (Cell(f"{each.size}"), said(each.records), said(each.entropy))
                for each in family.correlations(target)
            ),
            title=what_she_guesses(target),
        )
        for target in family.targets
    ]
    columns = (
        Column("attributes that she knows"),
        Column("with the number of records", numeric=True),
        Column("with the entropy of the secret", numeric=True),
    )
    return Section(
        "Does size protect?",
        f"Pearson's correlation, over the {plural(part)}, of what the best attributes add: from −1 to +1; – where it "
        f"is not defined, or there are fewer than three {plural(part)}.",
        (Table(columns, tuple(groups)),),
    )
