"""The report of a protected release: each attack before and after, and how the release is protected."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import Any

import altair as alt

from glasshouse.language import exactly, number, text, translated
from glasshouse.microdata import Attack
from glasshouse.mitigation import Anonymisation
from glasshouse.report.cells import count_cell, number_cell, percent_cell
from glasshouse.report.glossary import glossary
from glasshouse.report.microdata.attacks import attack_label
from glasshouse.report.microdata.document import METHOD
from glasshouse.report.mitigation.findings import (
    QUALITIES,
    is_anatomy,
    protection_findings,
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
from glasshouse.report.theme import JOINT, NEUTRAL, TARGETS, wrapped
from glasshouse.report.treatment import treatment_section
from glasshouse.report.words import frequencies, percentage

METHODS = {
    "k-anonymity": ("k-anonymity",),
    "l-diversity": ("l-diversity",),
    "t-closeness": ("t-closeness",),
    "risk": (),
    "anatomy": ("Anatomy",),
}
"""The words that each method adds to the glossary."""
_NOT_TAKEN = {"anatomy": ("recoding", "objective", "diversity"), "mondrian": ("objective",)}
"""The options that have a value but no meaning with Anatomy or a kind of recoding."""


def protection_page(
    outcome: Anonymisation, *, provenance: Provenance, subject: str = "person"
) -> Page:
    """Return the report of a protected release."""
    content = outcome.to_dict()
    sections = (_risks(outcome), _protection(content), treatment_section(outcome.steps))
    return Page(
        title=text("A protected release, and what it still tells"),
        lead=text(
            "{records} records, protected by {method}",
            records=outcome.records,
            method=content["method"],
        ),
        findings=protection_findings(outcome, subject=subject),
        adversary=_adversary(outcome),
        limits=_limits(content),
        glossary=_glossary(content),
        provenance=provenance,
        command="glasshouse anonymise --study study.toml",
        method=METHOD,
        figures=(
            Figure.of(
                protection_chart(outcome),
                label=text("Each attack on the original and on the protected release"),
                caption=text(
                    "Grey circles: the original. Orange diamonds: the protected release. Further left is safer."
                ),
                table=_chart_table(outcome),
            ),
        ),
        sections=tuple(section for section in sections if section is not None),
    )


def _adversary(outcome: Anonymisation) -> tuple[str, ...]:
    known = outcome.before.attacks[0].quasi_identifiers
    return (
        text(
            "The adversary knows that the person’s record is in the release, and knows that person’s quasi-identifiers "
            "exactly: {known}.",
            known=", ".join(known),
        ),
        text(
            "The quasi-identifiers are published as they are. She knows which group a record is in, and which "
            "sensitive values the group holds: both are published."
        )
        if is_anatomy(outcome.to_dict())
        else text(
            "She knows how the quasi-identifiers were recoded, so that she finds the class that a person falls into."
        ),
    )


def _limits(content: Mapping[str, Any]) -> tuple[str, ...]:
    limits = [
        text(
            "Every risk is an exact ratio of counts in this release, not an estimate. Suppressed records form no class "
            "and are left out of the figures after the protection."
        ),
        text(
            "A protection holds against what the adversary is assumed to know. Who knows more, or has another release "
            "of the same people, may learn more."
        ),
    ]
    if content["parameters"].get("keep"):
        limits.append(
            text(
                "Released as they are, and in no figure: {columns}.",
                columns=", ".join(content["parameters"]["keep"]),
            )
        )
    return tuple(limits)


def _glossary(content: Mapping[str, Any]) -> tuple[Term, ...]:
    own = [
        Term(
            text("Known for certain"),
            text("Records whose secret she infers with probability 1."),
        )
    ]
    if content.get("loss") is not None:
        own.append(
            Term(
                text("Loss"),
                text(
                    "The mean share of the domain that a released value stands for, per attribute, joined by a "
                    "geometric mean: 0 where nothing is generalised, 1 where everything is."
                ),
            )
        )
    if content.get("heights"):
        own.append(
            Term(
                text("Height"),
                text("How many levels of its hierarchy a column was generalised."),
            )
        )
    words = ("adversary", "quasi-identifier", "sensitive attribute", "class", "re-identification")
    return (
        *own,
        *glossary(
            *words,
            "attribute inference",
            "generalisation",
            "suppression",
            *METHODS.get(content["method"], ()),
        ),
    )


def _kinds() -> list[str]:
    return [text("original"), text("protected")]


def _steps(outcome: Anonymisation) -> list[tuple[str, Fraction, Fraction]]:
    """Return what each row of the picture is about, and the success before and after."""
    rows = []
    for before, after in zip(outcome.before.attacks, outcome.after.attacks, strict=True):
        label = attack_label(after)
        rows += [
            (
                text("{attack}: a guess", attack=label),
                before.probabilistic.posterior,
                after.probabilistic.posterior,
            ),
            (
                text("{attack}: for certain", attack=label),
                before.deterministic.posterior,
                after.deterministic.posterior,
            ),
        ]
    return rows


def protection_chart(outcome: Anonymisation) -> alt.TopLevelMixin:
    """Show each attack on the original and on the release: how often a guess is right, and who is known for certain."""
    kinds = _kinds()
    rows = [
        {"attack": label, "what": what, "success": 100 * float(success)}
        for label, *successes in _steps(outcome)
        for what, success in zip(kinds, successes, strict=True)
    ]
    order = list(dict.fromkeys(str(row["attack"]) for row in rows))
    places = alt.Chart(alt.InlineData(values=rows)).encode(
        x=alt.X(
            "success:Q",
            title=text("share of records for which the adversary succeeds (%)"),
            scale=alt.Scale(domain=[0, 100]),
        ),
        y=alt.Y("attack:N", sort=order, title=None, axis=alt.Axis(labelPadding=12, labelLimit=360)),
    )
    lines = places.mark_line(strokeWidth=3, color=JOINT).encode(detail="attack:N")
    points = places.mark_point(filled=True, size=140, opacity=1).encode(
        color=alt.Color(
            "what:N",
            title=None,
            sort=kinds,
            scale=alt.Scale(domain=kinds, range=[NEUTRAL, TARGETS[0][0]]),
        ),
        shape=alt.Shape(
            "what:N",
            title=None,
            sort=kinds,
            scale=alt.Scale(domain=kinds, range=["circle", "diamond"]),
        ),
    )
    naming, named = (
        each.attacks[0].probabilistic.posterior for each in (outcome.before, outcome.after)
    )
    before, after = frequencies(naming, named)
    title = (
        text("A guess at who it is: right for {after}, as in the original", after=after)
        if naming == named
        else text(
            "A guess at who it is: right for {before} in the original, for {after} in the protected release",
            before=before,
            after=after,
        )
    )
    return alt.layer(lines, points).properties(
        width=520,
        height=alt.Step(34),
        title=alt.Title(
            wrapped(title, 75),
            subtitle=wrapped(
                text("with all quasi-identifiers; suppressed records are left out"), 85
            ),
        ),
    )


def _chart_table(outcome: Anonymisation) -> Table:
    columns = (Column(text("Attack")), *(Column(kind, numeric=True) for kind in _kinds()))
    rows = tuple(
        (Cell(label), percent_cell(before), percent_cell(after))
        for label, before, after in _steps(outcome)
    )
    return Table(columns, (Group(rows),))


def _risks(outcome: Anonymisation) -> Section:
    columns = [Column(text("Attack"))]
    for under in (text("Before"), text("After")):
        columns += [
            Column(text("known for certain"), numeric=True, under=under),
            Column(text("guess right"), numeric=True, under=under),
        ]
    rows = tuple(
        (
            Cell(attack_label(after), mark=after.code),
            *_figures(before),
            *_figures(after),
        )
        for before, after in zip(outcome.before.attacks, outcome.after.attacks, strict=True)
    )
    return Section(
        text("What an adversary learns, before and after"),
        text("With all quasi-identifiers."),
        (Table(tuple(columns), (Group(rows),)),),
    )


def _figures(attack: Attack) -> tuple[Cell, Cell]:
    certain = f"{number(attack.certain)} ({percentage(attack.deterministic.posterior)})"
    return Cell(certain), number_cell(attack.probabilistic.posterior)


def _protection(content: Mapping[str, Any]) -> Section:
    quality = content.get("quality") or {}
    rows = [(text("method"), Cell(content["method"])), *_parameters(content)]
    rows += [
        (text("classes or groups"), count_cell(content["classes"])),
        (text("suppressed records"), count_cell(content["suppressed"])),
        *_attained(content["attained"]),
        *(
            (translated(QUALITIES[name]), Cell(number(value, ".6g"), exact=exactly(value)))
            for name, value in quality.items()
            if name in QUALITIES
        ),
    ]
    tables = [_two_columns(text("Protection"), rows)]
    if content.get("heights"):
        heights = [(name, count_cell(height)) for name, height in content["heights"].items()]
        tables.append(_two_columns(text("Height"), heights))
    return Section(text("How it is protected"), tables=tuple(tables), notes=_notes(content))


def _notes(content: Mapping[str, Any]) -> tuple[str, ...]:
    notes = []
    if content.get("suggested_hierarchies"):
        notes.append(
            text(
                "These hierarchies were suggested by the program and should be reviewed: {columns}.",
                columns=", ".join(content["suggested_hierarchies"]),
            )
        )
    if content.get("quality"):
        notes.append(
            text(
                "Of loss, 0 is best. Of granularity, non-uniform entropy, discernibility and average class size, which "
                "are scaled as ARX does, 1 is best and 0 is nothing left."
            )
        )
    if content["columns_left_out"]:
        notes.append(
            text("Not released: {columns}.", columns=", ".join(content["columns_left_out"]))
        )
    return tuple(notes)


def _attained(attained: Mapping[str, Any]) -> Sequence[tuple[str, Cell]]:
    """Return what the release has, whatever was promised of it."""
    rows = [(text("smallest class or group"), count_cell(attained["k"]))]
    for secret in attained["sensitive"]:
        name = secret["sensitive"]
        rows += [
            (
                text("fewest values of {secret} in a class (l)", secret=name),
                count_cell(secret["l"]),
            ),
            (
                text("greatest share of one value of {secret} in a class", secret=name),
                Cell(number(secret["most_frequent"], ".4g")),
            ),
            (
                text("farthest class from all records, {secret} (t)", secret=name),
                Cell(number(secret["t"], ".4g")),
            ),
        ]
    return rows


def _parameters(content: Mapping[str, Any]) -> Sequence[tuple[str, Cell]]:
    """Return what was asked of the protection, by the names of the options; not those that it does not take."""
    parameters = content["parameters"]
    about = {"diversity": "l", "closeness": "t"}
    not_taken = _NOT_TAKEN.get("anatomy" if is_anatomy(content) else parameters.get("recoding"), ())
    return [
        (f"--{name.replace('_', '-')}", Cell(_given(value)))
        for name, value in parameters.items()
        if value not in ({}, None, [], False)
        and about.get(name, name) in parameters
        and name not in not_taken
    ]


def _given(value: object) -> str:
    """Return the value of an option as it is typed."""
    if isinstance(value, Mapping):
        return ", ".join(f"{name}={weight:.15g}" for name, weight in value.items())
    if isinstance(value, list):
        return ", ".join(map(str, value))
    return "" if value is True else str(value)


def _two_columns(title: str, rows: Sequence[tuple[str, Cell]]) -> Table:
    cells = tuple((Cell(name), value) for name, value in rows)
    return Table((Column(title), Column(text("Value"), numeric=True)), (Group(cells),))
