"""The report on whether one person is in a release: it is personal data itself, and says so.

What is known of the person is not in it, and no small number of people.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

from glasshouse.disclosure import hidden_parts, smallest_cell
from glasshouse.language import text, text_for
from glasshouse.microdata import Leakage
from glasshouse.microdata.membership import Member, Pattern
from glasshouse.report.cells import NOTHING, guess_titles, leakage_cells, percent_cell, yes_cell
from glasshouse.report.chances import before_and_after_columns, shift_chart
from glasshouse.report.discretion import Discretion, Told, personal, what_is_left_out
from glasshouse.report.glossary import glossary
from glasshouse.report.lists import listed
from glasshouse.report.microdata.document import METHOD
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
from glasshouse.report.people.member_findings import is_rough, may_be_theirs, member_findings
from glasshouse.report.people.releases import COMMAND, MOST_PATTERNS, linking, set_label
from glasshouse.report.treatment import treatment_section
from glasshouse.report.words import counted, enumeration, short_names, singular
from glasshouse.table.treatment import Step

__all__ = ["member_findings", "member_page"]

DISCREET = Discretion()
"""How a report speaks of few people."""


def member_page(
    outcome: Member,
    *,
    subject: str,
    provenance: Provenance,
    treatment: Sequence[Step] = (),
    notes: Sequence[str] = (),
) -> Page:
    """Return the report on whether one person is in one or several releases as a page.

    Args:
        outcome: What came out.
        subject: What a record stands for.
        provenance: Where the figures come from.
        treatment: The records that were left out beforehand.
        notes: What else was done to the data, in plain sentences.
    """
    told = Told(is_rough(outcome, DISCREET))
    sections = (
        Section(
            text("The attacks"), tables=(_presence_table(outcome, told), _guess(outcome, told))
        ),
        _patterns_section(outcome, told) if len(outcome.datasets) > 1 else None,
        treatment_section(treatment, notes),
    )
    return Page(
        title=text(
            "Whether one {subject} is in {datasets}",
            subject=singular(subject),
            datasets=listed(outcome.datasets),
        ),
        lead=text(
            "One of {people} in {register}. This report is personal data.",
            people=counted(outcome.people, subject),
            register=outcome.population,
        ),
        findings=member_findings(outcome, subject=subject),
        figures=(_figure(outcome, told),),
        sections=tuple(section for section in sections if section is not None),
        adversary=_adversary(outcome),
        limits=_limits(outcome),
        provenance=provenance,
        command=COMMAND,
        method=METHOD,
        glossary=(
            *_terms(),
            *glossary("adversary", "target", "membership", "release", "vulnerability", "leakage"),
        ),
    )


def _presence_table(outcome: Member, told: Told) -> Table:
    """Return how likely the person is to be in each release."""
    presence = zip(short_names(outcome.datasets), outcome.records, outcome.present, strict=True)
    discretion = DISCREET if told.rough else Discretion(exact=True)
    rows = tuple(
        (
            Cell(name),
            Cell(may_be_theirs(records, discretion)),
            percent_cell(present.prior),
            told.cell(present.posterior),
            yes_cell(present.posterior in (0, 1)),
        )
        for name, records, present in presence
    )
    being_in = text("chance of being in")
    columns = (
        Column(text("Release")),
        Column(text("May be theirs"), numeric=True),
        Column(text("before"), numeric=True, under=being_in),
        Column(text("after"), numeric=True, under=being_in),
        Column(text("Certain")),
    )
    return Table(columns, (Group(rows),), title=text("Whether the person is in"))


def _guess(outcome: Member, told: Told) -> Table:
    """Return how good a guess is."""
    label = (
        text("tell whether the person is in")
        if len(outcome.datasets) == 1
        else text("tell in exactly which releases the person is")
    )
    row = (Cell(label, mark=outcome.code), *_guess_cells(outcome.guess, told))
    titles = (Column(title, numeric=True) for title in guess_titles())
    return Table((Column(text("Attack")), *titles), (Group((row,)),), title=text("One guess"))


def _guess_cells(guess: Leakage, told: Told) -> tuple[Cell, ...]:
    if told.rough and guess.posterior < 1:
        return leakage_cells(guess)[0], Cell(told.chance(guess.posterior)), NOTHING, NOTHING
    return leakage_cells(guess)


def _patterns_section(outcome: Member, told: Told) -> Section:
    """Return how likely the person is to be in exactly which releases."""
    shown, others, rest = _shown_patterns(outcome)
    rows = [(set_label(pattern, outcome.datasets), present) for pattern, present in shown]
    if others:
        label = text_for(others, "{count} other set", "{count} other sets together")
        rows.append((label, rest))
    cells = tuple(
        (Cell(label), percent_cell(present.prior), told.cell(present.posterior))
        for label, present in rows
    )
    columns = (Column(text("In exactly")), *before_and_after_columns())
    few = text(
        "Sets that hold fewer than {smallest} people are summed up.", smallest=smallest_cell()
    )
    return Section(
        text("In which releases the person is"),
        intro=f"{linking(outcome.linked)} {few}",
        tables=(Table(columns, (Group(cells),)),),
    )


def _shown_patterns(outcome: Member) -> tuple[list[tuple[Pattern, Leakage]], int, Leakage]:
    """Return the likeliest sets of releases, how many others there are, and these together.

    A set that holds fewer people than may be told is not shown, nor are as many others as it takes to cover it.
    """
    ordered = sorted(outcome.patterns.items(), key=lambda item: -item[1].posterior)
    held = [item for item in ordered if item[1].prior]
    hidden = hidden_parts([(float(present.prior * outcome.people),) for _, present in held])
    shown = [item for place, item in enumerate(held) if place not in hidden][:MOST_PATTERNS]
    rest = Leakage(
        1 - sum((present.prior for _, present in shown), Fraction(0)),
        1 - sum((present.posterior for _, present in shown), Fraction(0)),
    )
    return shown, len(ordered) - len(shown), rest


def _figure(outcome: Member, told: Told) -> Figure:
    names = short_names(outcome.datasets)
    presence = list(zip(names, outcome.present, strict=True))
    shifts = [told.shift(name, present.prior, present.posterior) for name, present in presence]
    rows = tuple(
        (Cell(name), percent_cell(present.prior), told.cell(present.posterior))
        for name, present in presence
    )
    return Figure.of(
        shift_chart(
            shifts,
            title=_finding(outcome, told),
            subtitle=text(
                "before: as anybody in {register}; after: as those who fit what is known",
                register=outcome.population,
            ),
        ),
        label=text("How likely the person is to be in, before and after"),
        caption=text(
            "“Before”: the share of the register that is in the release. “After”: the share of those who fit what is "
            "known."
        ),
        table=Table((Column(text("Release")), *before_and_after_columns()), (Group(rows),)),
    )


def _finding(outcome: Member, told: Told) -> str:
    """Say of the release of which most is learned how likely the person is to be in it."""
    presence = zip(short_names(outcome.datasets), outcome.present, strict=True)
    name, most = max(presence, key=lambda item: abs(item[1].additive))
    now, then = told.chances(most.posterior, most.prior)
    if not most.additive:
        return text(
            "{release}: the person is in it with a chance of {then}, as anybody is",
            release=name,
            then=then,
        )
    return text(
        "{release}: the person is in it with a chance of {now}; of anybody it is {then}",
        release=name,
        now=now,
        then=then,
    )


def _adversary(outcome: Member) -> tuple[str, ...]:
    knows = text(
        "The adversary knows everybody in {register}, the whole release and, of one person, {known}. What she knows is "
        "taken to be right.",
        register=outcome.population,
        known=enumeration(list(outcome.known)) or text("nothing"),
    )
    believes = text(
        "The person is one of those in {register} who fit what is known, each as likely as the other.",
        register=outcome.population,
    )
    return knows, believes


def _limits(outcome: Member) -> tuple[str, ...]:
    return (
        personal(),
        *what_is_left_out("glasshouse membership --json"),
        text(
            "Whoever is in a release must also be in {register}, once.", register=outcome.population
        ),
        *([linking(outcome.linked)] if len(outcome.datasets) > 1 else []),
        text("The figures follow from counts; none is estimated."),
    )


def _terms() -> tuple[Term, ...]:
    return (
        Term(
            text("Chance of being in"),
            text(
                "Among those who fit, the share that is in the release; before: among everybody in the register."
            ),
        ),
        Term(text("Certain"), text("Everybody who fits is in, or nobody is.")),
        Term(
            text("Guess before, guess after"),
            text(
                "The probability that her best single guess is right, knowing the release alone, and knowing something "
                "of the person besides (prior and posterior Bayes vulnerability)."
            ),
        ),
        Term(
            text("Added, factor"),
            text(
                "After minus before, and after divided by before. For one person a guess may get worse: below 0, and a "
                "factor below 1. On average over everybody it cannot."
            ),
        ),
    )
