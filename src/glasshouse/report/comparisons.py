"""Releases beside the original: one table, one picture of risk against what is lost, and three sentences."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Protocol

import altair as alt

from glasshouse.microdata import Attack
from glasshouse.report.cells import number_cell
from glasshouse.report.charts import to_svg
from glasshouse.report.document import METHOD
from glasshouse.report.page import (
    Assumptions,
    Cell,
    Column,
    Figure,
    Group,
    Page,
    Provenance,
    Section,
    Table,
    Term,
)
from glasshouse.report.words import counted, percentage, share


class Row(Protocol):
    """One release in figures."""

    @property
    def name(self) -> str:
        """What it is called."""

    @property
    def naming(self) -> Attack:
        """Re-identification."""

    @property
    def inferring(self) -> tuple[Attack, ...]:
        """The inference of each sensitive attribute."""

    def to_dict(self) -> dict[str, Any]:
        """Return the figures as plain values."""


class Rows(Protocol):
    """The original and several releases."""

    @property
    def rows(self) -> Sequence[Row]:
        """The original, then each release."""

    @property
    def subject(self) -> str:
        """What a record stands for."""


def comparison_sentences(comparison: Rows) -> tuple[str, ...]:
    """Return which release protects best, which keeps most, and what none of them stops."""
    original, *releases = comparison.rows
    subject = comparison.subject
    safest = min(releases, key=lambda row: row.naming.probabilistic.posterior)
    kept = min(releases, key=lambda row: row.to_dict()["query_error"])
    sentences = [
        f"Without protection {counted(original.naming.certain, subject)} "
        f"({share(original.naming.certain, original.naming.records)}) can be named with certainty; of the releases, "
        f"“{safest.name}” makes naming hardest: a guess is right with a chance of "
        f"{percentage(safest.naming.probabilistic.posterior)}.",
        f"“{kept.name}” stays nearest to the truth: half of all counting questions are answered with an error of at "
        f"most {100 * kept.to_dict()['query_error']:.1f} %.",
    ]
    if original.inferring:
        left = min(releases, key=lambda row: max(a.certain for a in row.inferring))
        most = max(left.inferring, key=lambda attack: attack.certain)
        sentences.append(
            f"Protection against naming is not protection against inference: even in “{left.name}” the "
            f"{' and '.join(most.secret)} of {counted(most.certain, subject)} "
            f"({share(most.certain, most.records)}) is known with certainty."
            if most.certain
            else f"In “{left.name}” nobody's sensitive value is known with certainty."
        )
    return tuple(sentences)


def risk_and_utility(comparison: Rows) -> alt.TopLevelMixin:
    """Show one point per release: what is lost against the chance of naming."""
    rows = [
        {
            "name": row.name,
            "error": 100 * row.to_dict()["query_error"],
            "risk": 100 * float(row.naming.probabilistic.posterior),
        }
        for row in comparison.rows
    ]
    base = alt.Chart(alt.InlineData(values=rows)).encode(
        x=alt.X("error:Q", title="error of a counting question (median, %)"),
        y=alt.Y("risk:Q", title="chance that naming somebody succeeds (%)"),
    )
    points = base.mark_point(filled=True, size=140, color="#d55e00", opacity=1)
    labels = base.mark_text(align="left", dx=9, dy=-7, fontSize=12).encode(text="name:N")
    return alt.layer(points, labels).properties(
        width=620,
        height=340,
        title=alt.Title("Risk against utility", subtitle="towards the lower left is better"),
    )


def comparison_page(comparison: Rows, *, provenance: Provenance, command: str) -> Page:
    """Return the report of a comparison, and the command that repeats it."""
    secrets = [" and ".join(attack.secret) for attack in comparison.rows[0].inferring]
    columns = (
        Column("Release"),
        Column("records suppressed", numeric=True),
        Column("classes", numeric=True),
        Column("highest", numeric=True, under="Chance of naming"),
        Column("average", numeric=True, under="Chance of naming"),
        Column("certain", numeric=True, under="Chance of naming"),
        *(
            Column(title, numeric=True, under=f"Infer {secret}")
            for secret in secrets
            for title in ("certain", "guess")
        ),
        Column("loss", numeric=True, under="Utility"),
        Column("distance", numeric=True, under="Utility"),
        Column("query error", numeric=True, under="Utility"),
    )
    table = Table(columns, (Group(tuple(_cells(row) for row in comparison.rows)),))
    return Page(
        title="Protected releases side by side",
        lead=f"{len(comparison.rows) - 1} releases of {comparison.rows[0].naming.datasets[0]}",
        sentences=comparison_sentences(comparison),
        figures=(
            Figure(
                to_svg(risk_and_utility(comparison)),
                "Risk against utility, one point per release; the same figures are in the table",
                "Down: harder to name somebody. Left: nearer to the truth.",
            ),
        ),
        sections=(Section("The figures", tables=(table,)),),
        assumptions=Assumptions(
            "The adversary knows all quasi-identifiers of a person in the release. Suppressed records form no class "
            "and are left out of every risk.",
            (
                Term("Highest, average", "Of the chances that the record of a person is named."),
                Term("Loss", "The share of detail that is lost: 0 nothing, 1 everything."),
                Term(
                    "Distance",
                    "How far the distribution of a column is from the truth, on average over the columns (total "
                    "variation).",
                ),
                Term(
                    "Query error", "The median relative error of 1,000 random counting questions."
                ),
            ),
        ),
        provenance=provenance,
        command=command,
        method=METHOD,
    )


def _cells(row: Row) -> tuple[Cell, ...]:
    content = row.to_dict()
    naming = row.naming
    inferred = [
        cell
        for attack in row.inferring
        for cell in (
            Cell(percentage(attack.deterministic.posterior)),
            number_cell(attack.probabilistic.posterior),
        )
    ]
    return (
        Cell(row.name),
        Cell(f"{content['suppressed']:,}"),
        Cell(f"{content['classes']:,}"),
        Cell(f"{content['highest_risk']:.4g}"),
        number_cell(naming.probabilistic.posterior),
        Cell(percentage(naming.deterministic.posterior)),
        *inferred,
        Cell("–" if content["loss"] is None else f"{content['loss']:.4f}"),
        Cell(f"{content['column_distance']:.4f}"),
        Cell(f"{content['query_error']:.4f}"),
    )
