"""The reports on who is in a release, of everybody in a register.

They disclose nobody: no value of a quasi-identifier is in them, and sets of releases that hold fewer people than may be
told are summed up.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

from glasshouse.disclosure import smallest_cell
from glasshouse.language import text, text_for
from glasshouse.microdata.membership import Membership
from glasshouse.report.assess.document import METHOD
from glasshouse.report.cells import (
    count_cell,
    factor_cell,
    leakage_cells,
    percent_cell,
)
from glasshouse.report.glossary import glossary
from glasshouse.report.lists import listed
from glasshouse.report.membership.charts import presence_chart, presence_table
from glasshouse.report.membership.findings import membership_findings, shown_patterns
from glasshouse.report.membership.releases import COMMAND, linking, set_label
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
from glasshouse.report.treatment import treatment_section
from glasshouse.report.words import (
    counted,
    enumeration,
    plural,
    share,
    short_names,
)
from glasshouse.table.treatment import Step

__all__ = ["membership_findings", "membership_page", "presence_chart"]

NERGIZ = "Nergiz, Atzori and Clifton 2007, “Hiding the presence of individuals from shared databases”, SIGMOD"


def membership_page(
    outcome: Membership,
    *,
    subject: str,
    provenance: Provenance,
    treatment: Sequence[Step] = (),
    notes: Sequence[str] = (),
) -> Page:
    """Return the report on who is in one or several releases as a page.

    Args:
        outcome: What came out.
        subject: What a record stands for.
        provenance: Where the figures come from.
        treatment: The records that were left out beforehand.
        notes: What else was done to the data, in plain sentences.
    """
    sections = (
        Section(
            text("The attacks"), tables=(_success_table(outcome, subject), _risks_table(outcome))
        ),
        _patterns_section(outcome, subject) if outcome.each else None,
        treatment_section(treatment, notes),
    )
    return Page(
        title=text(
            "Who is in {datasets}: what {register} lets an adversary learn",
            datasets=listed(outcome.datasets),
            register=outcome.population,
        ),
        lead=text(
            "{people} in {register}; what is known of them: {known}",
            people=counted(outcome.people, subject),
            register=outcome.population,
            known=enumeration(outcome.quasi_identifiers),
        ),
        findings=membership_findings(outcome, subject=subject),
        figures=(_presence_figure(outcome, subject),),
        sections=tuple(section for section in sections if section is not None),
        adversary=_adversary(outcome),
        limits=_limits(outcome),
        provenance=provenance,
        command=COMMAND,
        method=f"{METHOD}; {NERGIZ}",
        glossary=(
            *_terms(outcome),
            *glossary(
                "adversary",
                "membership",
                "quasi-identifier",
                "class",
                "release",
                "vulnerability",
                "leakage",
                "capacity",
            ),
        ),
    )


def _success_table(outcome: Membership, subject: str) -> Table:
    """Return, for all releases together and for each alone, who is certain and how good a guess is."""
    names = short_names(outcome.datasets)
    rows = []
    if outcome.each:
        rows.append(_success_row(text("all together"), outcome, records=sum(outcome.members)))
    rows += [
        _success_row(name, single, records=single.members[0])
        for name, single in zip(names, outcome.each or (outcome,), strict=True)
    ]
    sure = text("{people}, for sure", people=plural(subject))
    guess = text("one guess")
    columns = (
        Column(text("Release")),
        Column(text("Records"), numeric=True),
        *(
            Column(title, numeric=True, under=sure)
            for title in (text("in"), text("out"), text("in all"))
        ),
        *(
            Column(title, numeric=True, under=guess)
            for title in (text("before"), text("after"), text("added"), text("factor"))
        ),
    )
    return Table(columns, (Group(tuple(rows)),), title=text("What she learns"))


def _success_row(label: str, outcome: Membership, *, records: int) -> tuple[Cell, ...]:
    counts = (records, outcome.certainly_in, outcome.certainly_out)
    known = f"{count_cell(outcome.certain).text} ({share(outcome.certain, outcome.people)})"
    return (
        Cell(label, mark=outcome.code),
        *map(count_cell, counts),
        Cell(known),
        *leakage_cells(outcome.probabilistic),
    )


def _risks_table(outcome: Membership) -> Table:
    """Return, for each release, the bounds of presence and what follows for its records."""
    rows = tuple(
        (
            Cell(name),
            percent_cell(single.delta_min),
            percent_cell(single.delta_max),
            factor_cell(single.capacity),
            percent_cell(single.journalist),
            percent_cell(single.marketer),
        )
        for name, single in zip(
            short_names(outcome.datasets), outcome.each or (outcome,), strict=True
        )
    )
    being_in, named = text("chance of being in"), text("chance that a record is named")
    columns = (
        Column(text("Release")),
        Column(text("lowest"), numeric=True, under=being_in),
        Column(text("highest"), numeric=True, under=being_in),
        Column(text("Worst case, at most"), numeric=True),
        Column(text("highest"), numeric=True, under=named),
        Column(text("on average"), numeric=True, under=named),
    )
    return Table(columns, (Group(rows),), title=text("Bounds and risks"))


def _patterns_section(outcome: Membership, subject: str) -> Section:
    """Return how many people are in exactly which releases."""
    shown, others, rest = shown_patterns(outcome)
    shares: list[tuple[str, Fraction]] = [
        (set_label(pattern, outcome.datasets), part) for pattern, part in shown
    ]
    if others:
        together = text_for(others, "{count} other set", "{count} other sets together")
        shares.append((together, rest))
    rows = tuple((Cell(label), percent_cell(part)) for label, part in shares)
    columns = (
        Column(text("In exactly")),
        Column(text("Share of the {people}", people=plural(subject)), numeric=True),
    )
    intro = [linking(outcome.linked)]
    if not outcome.linked:
        intro.append(text("The shares are what is to be expected."))
    intro.append(
        text(
            "Sets that hold fewer than {smallest} {people} are summed up.",
            smallest=smallest_cell(),
            people=plural(subject),
        )
    )
    return Section(
        text("In which releases people are"),
        intro=" ".join(intro),
        tables=(Table(columns, (Group(rows),)),),
    )


def _presence_figure(outcome: Membership, subject: str) -> Figure:
    return Figure.of(
        presence_chart(outcome, subject=subject),
        label=text("{people} by how likely they are to be in", people=plural(subject)),
        caption=text(
            "How likely someone is to be in: the share of the release among the people who are alike on what is known. "
            "At both ends, in colour, those of whom it is certain."
        ),
        table=presence_table(outcome, subject=subject),
    )


def _adversary(outcome: Membership) -> tuple[str, ...]:
    return (
        text(
            "The adversary knows everybody in {register} and, of each, {known}. She knows the whole release.",
            register=outcome.population,
            known=enumeration(outcome.quasi_identifiers),
        ),
        text(
            "Before the attack she takes everybody there as equally likely to be the one she is after."
        ),
    )


def _limits(outcome: Membership) -> tuple[str, ...]:
    return (
        text(
            "Whoever is in a release must also be in {register}, once.", register=outcome.population
        ),
        *([linking(outcome.linked)] if outcome.each else []),
        text("Every figure is an exact ratio of counts; none is estimated.")
        if outcome.linked or not outcome.each
        else text(
            "Every figure of one release is an exact ratio of counts. Those of all releases together are what is to be "
            "expected."
        ),
        text("Nothing here tells who the people are."),
    )


def _terms(outcome: Membership) -> list[Term]:
    return [
        Term(
            text("For sure"),
            text(
                "Everybody who is alike on what is known is in, or nobody is; of several releases: in all of them, or "
                "in none."
            )
            if outcome.each
            else text("Everybody who is alike on what is known is in, or nobody is."),
        ),
        Term(
            text("One guess, before and after"),
            text(
                "The probability that her best guess is right, knowing only how many are in, and knowing something of "
                "the person besides (prior and posterior Bayes vulnerability)."
            ),
        ),
        Term(text("Added, factor"), text("After minus before, and after divided by before.")),
        Term(
            text("Chance of being in, lowest and highest"),
            text(
                "The bounds of δ-presence (Nergiz, Atzori and Clifton 2007): for everybody the chance of being in lies "
                "between them."
            ),
        ),
        Term(
            text("Worst case"),
            text(
                "No adversary with non-negative gains, whatever she believed before and whatever a guess is worth to "
                "her, multiplies her success by more than this (multiplicative Bayes capacity)."
            ),
        ),
        Term(
            text("Chance that a record is named"),
            text(
                "If she picks somebody in the register who fits a record: the highest chance that it is theirs (the "
                "journalist’s risk), and the share of all records that she would name right (the marketer’s risk; "
                "Dankar and El Emam 2010)."
            ),
        ),
    ]
