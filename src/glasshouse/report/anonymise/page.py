"""The report of a protected release: each attack before and after, and how the release is protected."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from fractions import Fraction
from typing import Any

import altair as alt

from glasshouse.language import exactly, number, text, text_for, translated
from glasshouse.mitigation import Anonymisation
from glasshouse.report.anonymise.findings import QUALITIES, is_anatomy, protection_findings
from glasshouse.report.attacks import METHOD, attack_label, success_steps
from glasshouse.report.cells import (
    cell_table,
    certain_cell,
    count_cell,
    number_cell,
    text_table,
    three_digits,
)
from glasshouse.report.charts import NEUTRAL, TARGETS, successes_chart, successes_table
from glasshouse.report.page import (
    Brief,
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
from glasshouse.report.provenance import treatment_blocks, treatment_section
from glasshouse.report.words import frequencies, glossary, percentage
from glasshouse.study.anonymise import AnonymiseStudy

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


def brief(outcome: Anonymisation, question: AnonymiseStudy) -> Brief:
    """Return what a terminal says of a protected release."""
    protected = text_for(
        outcome.records,
        "{dataset}: {count} record, {method}",
        "{dataset}: {count} records, {method}",
        dataset=outcome.dataset,
        method=outcome.method,
    )
    heights = outcome.heights or {}
    levels = ", ".join(f"{name} {height}" for name, height in heights.items())
    return Brief(
        (
            protected,
            *treatment_blocks(outcome.steps),
            *([text("Heights: {heights}", heights=levels)] if outcome.heights is not None else []),
            _before_and_after_table(outcome),
        ),
        protection_findings(outcome, subject=question.subject),
        notes=tuple(_review(outcome)),
    )


def _before_and_after_table(outcome: Anonymisation) -> Table:
    rows = [
        (
            f"{after.code} {attack_label(after)}",
            percentage(before.deterministic.posterior),
            percentage(after.deterministic.posterior),
            three_digits(before.probabilistic.posterior),
            three_digits(after.probabilistic.posterior),
        )
        for before, after in zip(outcome.before.attacks, outcome.after.attacks, strict=True)
    ]
    measures = (
        text("certain: before"),
        text("after"),
        text("guess right: before"),
        text("after"),
    )
    title = text("With all quasi-identifiers, before and after")
    return text_table(title, text("attack"), measures, rows)


def _review(outcome: Anonymisation) -> Iterator[str]:
    """Yield what a publisher has to review."""
    suggested = [used for used in outcome.hierarchies if used.suggested]
    levels = [used.column for used in suggested if used.height > 2]
    if levels:
        yield text(
            "suggested hierarchies: {columns}; review them, or give your own with --hierarchy",
            columns=", ".join(levels),
        )
    plain = [used.column for used in suggested if used.height <= 2]
    if plain:
        yield text(
            "told or not at all, being no numbers, dates or codes: {columns}; --hierarchy says better",
            columns=", ".join(plain),
        )
    if outcome.left_out:
        yield text(
            "columns not released: {columns}; --keep COLUMN releases one as it is",
            columns=", ".join(outcome.left_out),
        )
    if outcome.parameters.get("keep"):
        yield text(
            "released as they are, and in no figure: {columns}",
            columns=", ".join(outcome.parameters["keep"]),
        )


def page(outcome: Anonymisation, question: AnonymiseStudy, *, provenance: Provenance) -> Page:
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
        findings=protection_findings(outcome, subject=question.subject),
        adversary=(
            exact_knowledge(outcome.before.attacks[0].quasi_identifiers),
            text(
                "The quasi-identifiers are published as they are. She knows which group a record is in, and which "
                "sensitive values the group holds: both are published."
            )
            if is_anatomy(content)
            else recoding_known(),
        ),
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
                table=successes_table(_steps(outcome), _kinds()),
            ),
        ),
        sections=tuple(section for section in sections if section is not None),
    )


def exact_knowledge(names: Sequence[str]) -> str:
    """Say that the adversary knows all quasi-identifiers of the person, whose record is in the release."""
    return text(
        "The adversary knows that the person’s record is in the release, and knows that person’s quasi-identifiers "
        "exactly: {known}.",
        known=", ".join(names),
    )


def recoding_known() -> str:
    """Say that the adversary finds the class of a person."""
    return text(
        "She knows how the quasi-identifiers were recoded, so that she finds the class that a person falls into."
    )


def certainty_term() -> Term:
    """Return what the reports call known for certain."""
    return Term(
        text("Known for certain"), text("Records whose secret she infers with probability 1.")
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
    own = [certainty_term()]
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
    words = (
        *("adversary", "quasi-identifier", "sensitive attribute", "class", "re-identification"),
        *("attribute inference", "generalisation", "suppression"),
    )
    return (*own, *glossary(*words, *METHODS.get(content["method"], ())))


def protection_chart(outcome: Anonymisation) -> alt.TopLevelMixin:
    """Show each attack on the original and on the release: how often a guess is right, and who is known for certain."""
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
    return successes_chart(
        _steps(outcome),
        _kinds(),
        field="what",
        colours=[NEUTRAL, TARGETS[0][0]],
        shapes=["circle", "diamond"],
        title=title,
        subtitle=text("with all quasi-identifiers; suppressed records are left out"),
    )


def _steps(outcome: Anonymisation) -> list[tuple[str, list[Fraction]]]:
    return success_steps(zip(outcome.before.attacks, outcome.after.attacks, strict=True))


def _kinds() -> list[str]:
    return [text("original"), text("protected")]


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
            *(
                cell
                for attack in (before, after)
                for cell in (certain_cell(attack), number_cell(attack.probabilistic.posterior))
            ),
        )
        for before, after in zip(outcome.before.attacks, outcome.after.attacks, strict=True)
    )
    return Section(
        text("What an adversary learns, before and after"),
        text("With all quasi-identifiers."),
        (Table(tuple(columns), (Group(rows),)),),
    )


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
    tables = [_values(text("Protection"), rows)]
    if content.get("heights"):
        heights = [(name, count_cell(height)) for name, height in content["heights"].items()]
        tables.append(_values(text("Height"), heights))
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


def _values(title: str, rows: Sequence[tuple[str, Cell]]) -> Table:
    return cell_table(title, [text("Value")], [(Cell(name), value) for name, value in rows])
