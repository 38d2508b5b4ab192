"""The report of a comparison: one picture of risk against what is lost, and one table."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import Any

import altair as alt

from glasshouse.errors import printable
from glasshouse.language import exactly, number, text, text_for
from glasshouse.mitigation import ComparedRelease, Comparison
from glasshouse.report.cells import NOTHING, count_cell, number_cell, percent_cell
from glasshouse.report.glossary import glossary
from glasshouse.report.lists import joined
from glasshouse.report.microdata.attacks import attack_label
from glasshouse.report.microdata.document import METHOD
from glasshouse.report.mitigation.comparisons import (
    attacks_of,
    comparison_findings,
    safest,
)
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
from glasshouse.report.theme import TARGETS, wrapped
from glasshouse.report.words import frequencies, frequency, percentage


def comparison_page(comparison: Comparison, *, provenance: Provenance, command: str) -> Page:
    """Return the report of a comparison, and the command that repeats it."""
    first = comparison.rows[0]
    return Page(
        title=text("Protected releases side by side"),
        lead=text_for(
            len(comparison.rows) - 1,
            "{count} release of {dataset}",
            "{count} releases of {dataset}",
            dataset=first.naming.datasets[0],
        ),
        findings=comparison_findings(comparison),
        figures=(
            Figure.of(
                risk_and_utility(comparison),
                label=text("Risk against utility, one point per release and attack"),
                caption=text("Down: harder to learn about somebody. Left: nearer to the truth."),
                table=_chart_table(comparison),
            ),
        ),
        sections=(Section(text("The figures"), tables=(_figures(comparison),)),),
        adversary=_adversary(comparison),
        limits=_limits(comparison),
        glossary=_glossary(comparison),
        provenance=provenance,
        command=command,
        method=METHOD,
    )


def _adversary(comparison: Comparison) -> tuple[str, ...]:
    original, *releases = comparison.rows
    grouped = [row.name for row in releases if row.grouped]
    known = text(
        "The adversary knows that the person’s record is in the release, and knows that person’s quasi-identifiers "
        "exactly: {known}.",
        known=", ".join(original.naming.quasi_identifiers),
    )
    recoded = text(
        "She knows how the quasi-identifiers were recoded, so that she finds the class that a person falls into."
    )
    if not grouped:
        return known, recoded
    apart = text(
        "In {releases} nothing is recoded: the quasi-identifiers are published as they are, and she knows which group "
        "a record is in and which sensitive values the group holds.",
        releases=joined([text("“{name}”", name=name) for name in grouped]),
    )
    if len(grouped) == len(releases):
        return known, apart
    others = [row.name for row in releases if not row.grouped]
    return (
        known,
        text(
            "In {releases} she knows how the quasi-identifiers were recoded, so that she finds the class that a person "
            "falls into.",
            releases=joined([text("“{name}”", name=name) for name in others]),
        ),
        apart,
    )


def release_name(comparison: Comparison, row: ComparedRelease) -> str:
    """Return what a release is called in the language that is spoken; the original has no name of its own."""
    return text("original") if row is comparison.rows[0] else row.name


def risk_and_utility(comparison: Comparison) -> alt.TopLevelMixin:
    """Show what is lost against what she still learns: one point per release and attack."""
    labels = (attack_label(each) for each in attacks_of(comparison.rows[0]))
    attacks = list(dict.fromkeys(labels))[: len(TARGETS)]
    rows = [
        {
            "name": printable(release_name(comparison, row)),
            "attack": label,
            "error": 100 * row.distance,
            "risk": 100 * float(attack.probabilistic.posterior),
        }
        for row in sorted(comparison.rows, key=lambda row: row.distance)
        for label, attack in zip(attacks, attacks_of(row), strict=False)
    ]
    base = alt.Chart(alt.InlineData(values=rows)).encode(
        x=alt.X("error:Q", title=_error_title(comparison)),
        y=alt.Y(
            "risk:Q", title=text("share of right guesses (%)"), scale=alt.Scale(domain=[0, 100])
        ),
    )
    colours, shapes = zip(*TARGETS[: len(attacks)], strict=True)
    colour = alt.Color("attack:N", title=None, scale=alt.Scale(domain=attacks, range=list(colours)))
    lines = base.mark_line(strokeWidth=1.5, opacity=0.5).encode(color=colour)
    points = base.mark_point(filled=True, size=120, opacity=1).encode(
        color=colour,
        shape=alt.Shape(
            "attack:N", title=None, scale=alt.Scale(domain=attacks, range=list(shapes))
        ),
    )
    return alt.layer(lines, points, *_labels(rows)).properties(
        width=620,
        height=340,
        title=alt.Title(
            wrapped(_chart_title(comparison), 85),
            subtitle=wrapped(
                text("towards the lower left is better; each column of points is a release"), 95
            ),
        ),
    )


def _chart_title(comparison: Comparison) -> str:
    original, *releases = comparison.rows
    best = safest(releases)
    before, after = (row.naming.probabilistic.posterior for row in (original, best))
    if after >= before:
        return text(
            "No release makes it harder to guess who it is: right for {before}",
            before=frequency(before),
        )
    said_before, said_after = frequencies(before, after)
    return text(
        "A guess at who it is: right for {before} in the original, for {after} in “{name}”",
        before=said_before,
        after=said_after,
        name=best.name,
    )


def _error_title(comparison: Comparison) -> str:
    if comparison.rows[0].to_dict()["pair_distance"] is None:
        return text("distance from the truth, single columns (%)")
    return text("distance from the truth, pairs of columns (%)")


def _labels(rows: Sequence[Mapping[str, Any]]) -> list[alt.Chart]:
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


def _chart_table(comparison: Comparison) -> Table:
    attacks = attacks_of(comparison.rows[0])
    columns = (
        Column(text("Release")),
        Column(text("Distance"), numeric=True),
        *(Column(attack_label(attack), numeric=True) for attack in attacks),
    )
    rows = tuple(
        (
            Cell(release_name(comparison, row)),
            percent_cell(Fraction(row.distance)),
            *(percent_cell(attack.probabilistic.posterior) for attack in attacks_of(row)),
        )
        for row in comparison.rows
    )
    return Table(columns, (Group(rows),))


def _figures(comparison: Comparison) -> Table:
    first = comparison.rows[0]
    naming, utility = text("Chance of naming"), text("Utility")
    columns = (
        Column(text("Release")),
        Column(text("records suppressed"), numeric=True),
        Column(text("classes"), numeric=True),
        Column(text("highest"), numeric=True, under=naming),
        Column(text("average"), numeric=True, under=naming),
        Column(text("certain"), numeric=True, under=naming),
        *([Column(text("alone in population"), numeric=True)] if _estimates(comparison) else []),
        *(
            Column(title, numeric=True, under=attack_label(attack))
            for attack in first.inferring
            for title in (text("certain"), text("guess"))
        ),
        Column(text("loss"), numeric=True, under=utility),
        Column(text("distance"), numeric=True, under=utility),
        Column(text("of pairs"), numeric=True, under=utility),
        Column(text("query error"), numeric=True, under=utility),
        *([Column(text("prediction"), numeric=True, under=utility)] if _told(first) else []),
    )
    rows = tuple(_cells(row, comparison) for row in comparison.rows)
    return Table(columns, (Group(rows),))


def _estimates(comparison: Comparison) -> bool:
    return any(row.to_dict()["population_uniques"] is not None for row in comparison.rows)


def _told(row: ComparedRelease) -> Mapping[str, Any] | None:
    prediction: Mapping[str, Any] | None = row.to_dict().get("prediction")
    return prediction


def _cells(row: ComparedRelease, comparison: Comparison) -> tuple[Cell, ...]:
    content = row.to_dict()
    naming, learned = row.naming, _told(row)
    inferred = [
        cell
        for attack in row.inferring
        for cell in (
            percent_cell(attack.deterministic.posterior),
            number_cell(attack.probabilistic.posterior),
        )
    ]
    return (
        Cell(release_name(comparison, row)),
        count_cell(content["suppressed"]),
        count_cell(content["classes"]),
        Cell(number(content["highest_risk"], ".4g")),
        number_cell(naming.probabilistic.posterior),
        percent_cell(naming.deterministic.posterior),
        *([_share_cell(content["population_uniques"])] if _estimates(comparison) else []),
        *inferred,
        _four_digits(content["loss"]),
        _four_digits(content["column_distance"]),
        _four_digits(content["pair_distance"]),
        _four_digits(content["query_error"]),
        *([_four_digits(learned["release"])] if learned else []),
    )


def _share_cell(share: float | None) -> Cell:
    return NOTHING if share is None else Cell(percentage(Fraction(share)))


def _four_digits(value: float | None) -> Cell:
    return NOTHING if value is None else Cell(number(value, ".4g"), exact=exactly(value))


def _limits(comparison: Comparison) -> tuple[str, ...]:
    limits = [
        text(
            "Every risk is an exact ratio of counts in each release, not an estimate. Suppressed records form no class "
            "and are left out of every risk."
        ),
        text(
            "Distances and errors take a generalised value to be spread evenly over the values that it stands for: "
            "what somebody can expect who has the release and knows nothing more."
        ),
    ]
    if _estimates(comparison):
        limits.append(
            text(
                "How many are alone in the population is an estimate from the sample, by the rule of Dankar et al. "
                "2012."
            )
        )
    return tuple(limits)


def _glossary(comparison: Comparison) -> tuple[Term, ...]:
    own = [
        Term(
            text("Highest, average"),
            text("Of the chances that the record of a person is named."),
        ),
        Term(text("Loss"), text("The share of detail that is lost: 0 nothing, 1 everything.")),
        Term(
            text("Distance, of pairs"),
            text(
                "How far the distribution of a column, or of two columns together, is from the truth on average (total "
                "variation)."
            ),
        ),
        Term(
            text("Query error"),
            text("The median relative error of 1,000 random counting questions."),
        ),
    ]
    if _estimates(comparison):
        own.append(
            Term(
                text("Alone in population"),
                text(
                    "The estimated share of people who are unlike anybody else in the whole population (Dankar et al. "
                    "2012)."
                ),
            )
        )
    told = _told(comparison.rows[0])
    if told:
        own.append(
            Term(
                text("Prediction"),
                text(
                    "How often a classifier that learned from the release tells the {target} of real records right; "
                    "always saying the most frequent value is right for {majority}.",
                    target=told["target"],
                    majority=percentage(Fraction(told["majority"])),
                ),
            )
        )
    words = ("adversary", "quasi-identifier", "class", "re-identification", "attribute inference")
    return (*own, *glossary(*words, "generalisation", "suppression"))
