"""Releases beside the original: one table, one picture of risk against what is lost, and three sentences."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import Any, Protocol

import altair as alt

from glasshouse.microdata import Attack
from glasshouse.report.attacks import attack_label
from glasshouse.report.cells import number_cell
from glasshouse.report.document import METHOD
from glasshouse.report.page import (
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
from glasshouse.report.theme import TARGETS
from glasshouse.report.transition import Assumptions, noted, spread
from glasshouse.report.words import counted, enumeration, percentage, share


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

    @property
    def distance(self) -> float:
        """How far the release is from the truth."""

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
    kept = min(releases, key=lambda row: row.distance)
    sentences = [
        f"Without protection {counted(original.naming.certain, subject)} "
        f"({share(original.naming.certain, original.naming.records)}) can be named with certainty; of the releases, "
        f"“{safest.name}” makes naming hardest: a guess is right with a chance of "
        f"{percentage(safest.naming.probabilistic.posterior)}.",
        f"“{kept.name}” stays nearest to the truth: what it says of two columns together is wrong for "
        f"{100 * kept.distance:.1f} % of the records on average.",
    ]
    if original.inferring:
        left = min(releases, key=lambda row: max(a.certain for a in row.inferring))
        most = max(left.inferring, key=lambda attack: attack.certain)
        sentences.append(
            f"Protection against naming is not protection against inference: even in “{left.name}” the "
            f"{' and '.join(most.secret)} of {counted(most.certain, subject)} "
            f"({share(most.certain, most.records)}) is known with certainty."
            if most.certain
            else f"In {_which(releases)} nobody's sensitive value is known with certainty."
        )
    return tuple(sentences)


def _which(releases: Sequence[Row]) -> str:
    """Name the releases in which nobody's sensitive value is known with certainty."""
    safe = [row for row in releases if not any(attack.certain for attack in row.inferring)]
    if len(safe) == len(releases) > 1:
        return "all of them"
    return enumeration([f"“{row.name}”" for row in safe])


def risk_and_utility(comparison: Rows) -> alt.TopLevelMixin:
    """Show what is lost against what she still learns: one point per release and attack."""
    attacks = list(dict.fromkeys(attack_label(each) for each in _attacks_of(comparison.rows[0])))[
        : len(TARGETS)
    ]
    ordered = sorted(comparison.rows, key=lambda row: row.distance)
    rows = [
        {
            "name": row.name,
            "attack": label,
            "error": 100 * row.distance,
            "risk": 100 * float(attack.probabilistic.posterior),
        }
        for row in ordered
        for label, attack in zip(attacks, _attacks_of(row), strict=False)
    ]
    base = alt.Chart(alt.InlineData(values=rows)).encode(
        x=alt.X("error:Q", title="distance from the truth, pairs of columns (%)"),
        y=alt.Y("risk:Q", title="share of right guesses (%)", scale=alt.Scale(domain=[0, 100])),
    )
    colours, shapes = zip(*TARGETS[: len(attacks)], strict=True)
    lines = base.mark_line(strokeWidth=1.5, opacity=0.5).encode(
        color=alt.Color(
            "attack:N", title=None, scale=alt.Scale(domain=attacks, range=list(colours))
        )
    )
    points = base.mark_point(filled=True, size=120, opacity=1).encode(
        color=alt.Color("attack:N", title=None),
        shape=alt.Shape(
            "attack:N", title=None, scale=alt.Scale(domain=attacks, range=list(shapes))
        ),
    )
    return alt.layer(lines, points, *_labels(rows, attacks)).properties(
        width=620,
        height=340,
        title=alt.Title(
            "What is left of the data, and what is left to learn",
            subtitle="towards the lower left is better; each column of points is a release",
        ),
    )


def _attacks_of(row: Row) -> tuple[Attack, ...]:
    return (row.naming, *row.inferring)


def _labels(rows: Sequence[Mapping[str, Any]], attacks: Sequence[str]) -> list[alt.Chart]:
    """Name each release above its topmost point, the neighbours at different heights."""
    topmost = {
        name: max((row for row in rows if row["name"] == name), key=lambda row: row["risk"])
        for name in dict.fromkeys(row["name"] for row in rows)
    }
    return [
        alt.Chart(alt.InlineData(values=list(topmost.values())[turn::2]))
        .mark_text(align="left", dx=6, dy=dy, fontSize=12)
        .encode(x="error:Q", y="risk:Q", text="name:N")
        for turn, dy in ((0, -10), (1, -26))
        if list(topmost)[turn::2]
    ]


def comparison_page(comparison: Rows, *, provenance: Provenance, command: str) -> Page:
    """Return the report of a comparison, and the command that repeats it."""
    estimates = any(row.to_dict()["population_uniques"] is not None for row in comparison.rows)
    predicts = comparison.rows[0].to_dict().get("prediction")
    secrets = [" and ".join(attack.secret) for attack in comparison.rows[0].inferring]
    columns = (
        Column("Release"),
        Column("records suppressed", numeric=True),
        Column("classes", numeric=True),
        Column("highest", numeric=True, under="Chance of naming"),
        Column("average", numeric=True, under="Chance of naming"),
        Column("certain", numeric=True, under="Chance of naming"),
        *([Column("alone in population", numeric=True)] if estimates else []),
        *(
            Column(title, numeric=True, under=f"Infer {secret}")
            for secret in secrets
            for title in ("certain", "guess")
        ),
        Column("loss", numeric=True, under="Utility"),
        Column("distance", numeric=True, under="Utility"),
        Column("of pairs", numeric=True, under="Utility"),
        Column("query error", numeric=True, under="Utility"),
        *([Column("prediction", numeric=True, under="Utility")] if predicts else []),
    )
    table = Table(columns, (Group(tuple(_cells(row, estimates) for row in comparison.rows)),))
    return Page(
        title="Protected releases side by side",
        lead=f"{len(comparison.rows) - 1} releases of {comparison.rows[0].naming.datasets[0]}",
        findings=noted(comparison_sentences(comparison)),
        figures=(
            Figure.of(
                risk_and_utility(comparison),
                label="Risk against utility, one point per release and attack; the same figures are in the table",
                caption="Down: harder to learn about somebody. Left: nearer to the truth.",
            ),
        ),
        sections=(Section("The figures", tables=(table,)),),
        **spread(
            Assumptions(
                "The adversary knows all quasi-identifiers of a person in the release. Suppressed records form no class "
                "and are left out of every risk.",
                (
                    Term(
                        "Highest, average", "Of the chances that the record of a person is named."
                    ),
                    *(
                        [
                            Term(
                                "Alone in population",
                                "The estimated share of people who are unlike anybody else in the whole population "
                                "(Dankar et al. 2012).",
                            )
                        ]
                        if estimates
                        else []
                    ),
                    Term("Loss", "The share of detail that is lost: 0 nothing, 1 everything."),
                    Term(
                        "Distance, of pairs",
                        "How far the distribution of a column, or of two columns together, is from the truth on average "
                        "(total variation).",
                    ),
                    Term(
                        "Query error",
                        "The median relative error of 1,000 random counting questions.",
                    ),
                    *([_prediction_term(predicts)] if predicts else []),
                ),
            )
        ),
        provenance=provenance,
        command=command,
        method=METHOD,
    )


def _estimate(share: float | None) -> str:
    return "–" if share is None else percentage(Fraction(share))


def _prediction_term(told: Mapping[str, Any]) -> Term:
    return Term(
        "Prediction",
        f"How often a classifier that learned from the release tells the {told['target']} of real records; always "
        f"saying the most frequent value is right for {percentage(Fraction(told['majority']))}.",
    )


def _cells(row: Row, estimates: bool) -> tuple[Cell, ...]:
    content = row.to_dict()
    naming, learned = row.naming, content.get("prediction")
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
        *([Cell(_estimate(content["population_uniques"]))] if estimates else []),
        *inferred,
        Cell("–" if content["loss"] is None else f"{content['loss']:.4f}"),
        Cell(f"{content['column_distance']:.4f}"),
        Cell("–" if content["pair_distance"] is None else f"{content['pair_distance']:.4f}"),
        Cell(f"{content['query_error']:.4f}"),
        *([Cell(f"{learned['release']:.4f}")] if learned else []),
    )
