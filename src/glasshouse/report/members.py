"""The report on whether one person is in a release: it is personal data itself, and says so."""

from __future__ import annotations

from collections.abc import Sequence

from glasshouse.microdata.membership import Member
from glasshouse.report.cells import guess_titles, leakage_cells, percent_cell, yes_cell
from glasshouse.report.chances import (
    Shift,
    before_and_after_columns,
    chance,
    chances,
    rest_of,
    shift_chart,
    shift_rows,
)
from glasshouse.report.document import METHOD
from glasshouse.report.lists import joined, listed
from glasshouse.report.memberships import COMMAND, MOST_PATTERNS, linking, set_label, untold
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
from glasshouse.report.targets import PERSONAL
from glasshouse.report.transition import Assumptions, noted, spread
from glasshouse.report.treatment import treatment_section
from glasshouse.report.words import counted, enumeration, short_names
from glasshouse.sources import MISSING
from glasshouse.table.treatment import Step

MOST_VALUES_LISTED = 10
"""How many possible values of a column are listed."""


def member_sentences(outcome: Member, *, subject: str = "person") -> tuple[str, ...]:
    """Return who fits what is known of one person, and how likely it is that they are in, before and after.

    Args:
        outcome: What came out.
        subject: What a record stands for.
    """
    sentences = [_candidates(outcome, subject)]
    if len(outcome.datasets) == 1:
        sentences.append(_present(outcome, subject))
    else:
        sentences += [_present_in_each(outcome, subject), _best_set(outcome, subject)]
    return (*sentences, *untold(outcome.suppressed, outcome.datasets))


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
    sections = (
        Section("The figures", tables=_tables(outcome, subject)),
        _patterns_section(outcome, subject) if len(outcome.datasets) > 1 else None,
        _known_section(outcome, subject),
        treatment_section(treatment, notes),
    )
    return Page(
        title=f"Whether one {subject} is in {listed(outcome.datasets)}",
        lead=f"One of {counted(outcome.people, subject)} in {outcome.population}. This report is personal data.",
        findings=noted(member_sentences(outcome, subject=subject)),
        figures=(_figure(outcome, subject),),
        sections=tuple(section for section in sections if section is not None),
        **spread(_assumptions(outcome, subject)),
        provenance=provenance,
        command=COMMAND,
        method=METHOD,
    )


def _candidates(outcome: Member, subject: str) -> str:
    """Say who fits what is known of one person."""
    known = f" ({enumeration(list(outcome.known))})" if outcome.known else ""
    fits = "fits" if outcome.candidates == 1 else "fit"
    people = counted(outcome.people, subject)
    sentence = (
        f"{outcome.candidates:,} of the {people} of {outcome.population} {fits} what is known of this "
        f"{subject}{known}"
    )
    if len(outcome.datasets) > 1:
        return f"{sentence}."
    records = counted(outcome.records[0], "record") if outcome.records[0] else "no record"
    return f"{sentence}, and {records} of {outcome.datasets[0]} can be theirs."


def _present(outcome: Member, subject: str) -> str:
    """Say whether the person is in the one release."""
    release, register = outcome.datasets[0], outcome.population
    before, after = outcome.present[0].prior, outcome.present[0].posterior
    this = f"this {subject} is {'in' if after else 'not in'} {release}"
    if before in (0, 1):
        return (
            f"It is certain that {this}, as {'everybody' if before else 'nobody'} of {register} is."
        )
    now, then = chances(after, before)
    general = f"of anybody in {register} it is {then}"
    if after in (0, 1):
        return f"It is certain that {this}; of anybody in {register} the chance of being in it is {chance(before)}."
    sentence = f"The chance that this {subject} is in {release} is {now}"
    if after == before:
        return f"{sentence}, the same as of anybody in {register}: nothing is learned."
    if outcome.guess.additive >= 0:
        return f"{sentence}; {general}."
    now, then = chances(outcome.guess.posterior, outcome.guess.prior)
    return (
        f"{sentence}; {general}. Whether this {subject} is in it is harder to guess than of people in general: a guess "
        f"is right with a chance of {now} instead of {then}."
    )


def _present_in_each(outcome: Member, subject: str) -> str:
    """Say in which of several releases the person is."""
    after = [present.posterior for present in outcome.present]
    said = list(zip(short_names(outcome.datasets), after, chances(*after), strict=True))
    inside = [name for name, probability, _ in said if probability == 1]
    outside = [name for name, probability, _ in said if probability == 0]
    parts = [f"certainly in {joined(inside)}"] if inside else []
    parts += [f"certainly not in {joined(outside)}"] if outside else []
    parts += [
        f"in {name} with a chance of {text}"
        for name, probability, text in said
        if 0 < probability < 1
    ]
    return f"This {subject} is {joined(parts)}."


def _best_set(outcome: Member, subject: str) -> str:
    """Say which set of several releases is the best guess, before and after."""
    after, before = outcome.guess.posterior, outcome.guess.prior
    likeliest = max(outcome.patterns, key=lambda pattern: outcome.patterns[pattern].posterior)
    former = max(outcome.patterns, key=lambda pattern: outcome.patterns[pattern].prior)
    best, first = (f"in {set_label(each, outcome.datasets)}" for each in (likeliest, former))
    if before == 1:
        return f"Everybody in {outcome.population} is {first}: nothing is learned."
    right, then = chances(after, before)
    general = f"of anybody in {outcome.population} the best guess would be {first}, right with a chance of {then}"
    if after == 1:
        return f"So it is certain in which releases this {subject} is; {general}."
    now = f"the best guess at all releases together is {best}, right with a chance of {right}"
    if after < before:
        return f"Less is known of this {subject} than of people in general: {now} only; {general}."
    return f"{now[0].upper()}{now[1:]}; {general}."


def _tables(outcome: Member, subject: str) -> tuple[Table, Table]:
    """Return how likely the person is to be in each release, and how good a guess is."""
    presence = zip(short_names(outcome.datasets), outcome.records, outcome.present, strict=True)
    rows = tuple(
        (
            Cell(name),
            Cell(f"{records:,}"),
            percent_cell(present.prior),
            percent_cell(present.posterior),
            yes_cell(present.posterior in (0, 1)),
        )
        for name, records, present in presence
    )
    columns = (
        Column("Release"),
        Column("Records that can be theirs", numeric=True),
        Column("before", numeric=True, under="chance of being in"),
        Column("after", numeric=True, under="chance of being in"),
        Column("Certain"),
    )
    asked = (Cell(_asked(outcome, subject), mark=outcome.code), *leakage_cells(outcome.guess))
    titles = (Column(title, numeric=True) for title in guess_titles())
    guess = Table((Column("Attack"), *titles), (Group((asked,)),), title="One guess")
    return Table(columns, (Group(rows),), title=f"Whether this {subject} is in"), guess


def _asked(outcome: Member, subject: str) -> str:
    if len(outcome.datasets) == 1:
        return f"whether this {subject} is in"
    return f"in exactly which releases this {subject} is"


def _patterns_section(outcome: Member, subject: str) -> Section:
    """Return how likely the person is to be in exactly which releases."""
    ordered = sorted(outcome.patterns.items(), key=lambda item: -item[1].posterior)
    shifts = [
        Shift.of(set_label(pattern, outcome.datasets), present)
        for pattern, present in ordered[:MOST_PATTERNS]
    ]
    more = len(ordered) - len(shifts)
    if more:
        shifts.append(rest_of(shifts, f"… and {counted(more, 'more set')}, together"))
    columns = (Column("In exactly"), *before_and_after_columns())
    return Section(
        f"In which releases this {subject} is",
        intro=linking(outcome.linked),
        tables=(Table(columns, (Group(shift_rows(shifts)),)),),
    )


def _known_section(outcome: Member, subject: str) -> Section | None:
    """Return what is known of the person."""
    if not outcome.known:
        return None
    rows = tuple((Cell(name), Cell(_possible(values))) for name, values in outcome.known.items())
    columns = (Column("Column"), Column("Possible values"))
    return Section(f"What is known of this {subject}", tables=(Table(columns, (Group(rows),)),))


def _possible(values: Sequence[str]) -> str:
    shown = [value if value != MISSING else "(missing)" for value in values[:MOST_VALUES_LISTED]]
    more = len(values) - len(shown)
    return " or ".join(shown) + (f" or one of {more:,} more" if more else "")


def _figure(outcome: Member, subject: str) -> Figure:
    names = short_names(outcome.datasets)
    chart = shift_chart(
        list(map(Shift.of, names, outcome.present)),
        title=f"How likely this {subject} is to be in",
        subtitle=f"before: as anybody in {outcome.population}; after: as those who fit what is known",
    )
    return Figure.of(
        chart,
        label=f"How likely this {subject} is to be in, before and after; the same numbers are in a table below",
        caption="“Before”: the share of the register that is in the release. “After”: the share of those who fit what "
        "is known.",
    )


def _assumptions(outcome: Member, subject: str) -> Assumptions:
    several = f" {linking(outcome.linked)}" if len(outcome.datasets) > 1 else ""
    return Assumptions(
        text=f"{PERSONAL} The {subject} is one of those in {outcome.population} who fit what is known, each as likely "
        f"as the other; whoever is in a release is also there. Every figure is an exact ratio of counts.{several}",
        terms=(
            Term(
                "Chance of being in",
                "Among those who fit, the share that is in the release; before: among everybody in the register.",
            ),
            Term("Certain", "Everybody who fits is in, or nobody is."),
            Term(
                "Guess before, guess after",
                "The probability that her best guess is right (prior and posterior Bayes vulnerability).",
            ),
            Term(
                "Added, factor",
                f"After minus before, and after divided by before. For one {subject} a guess may get worse: below 0, "
                "and a factor below 1. On average over everybody it cannot.",
            ),
        ),
    )
